"""Instrument of the Delphi methodology: open questions, then dimensions on which the themes found in them are rated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, model_validator

from enquete.analysis.stopping import Limits
from enquete.instruments.instrument import Draft, RatingInstrument
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import AMOUNT, Scale, ScaleName
from enquete.instruments.text import LANGUAGE_NAMES, Line, Part, Text, identifier, not_empty, suggestion, wrong
from enquete.runs.material import Material, Slot, head
from enquete.state.asking import Item, Language, scale_item

PLACEHOLDERS = ("theme", "description")
FEWEST_ROUNDS, MOST_ROUNDS = 3, 5

QuestionId = Annotated[Line, AfterValidator(identifier("question"))]
DimensionId = Annotated[Line, AfterValidator(identifier("dimension"))]


def _about_a_theme(template: Text) -> Text:
    for language, text in ((language, text) for language in LANGUAGE_NAMES if (text := getattr(template, language))):
        used = re.findall(r"\{(.*?)\}", text)
        for unknown in (name for name in used if name not in PLACEHOLDERS):
            raise wrong(f"the {LANGUAGE_NAMES[language]} text has {{{unknown}}}{suggestion(unknown, PLACEHOLDERS)}")
        if "theme" not in used:
            raise wrong(f"the {LANGUAGE_NAMES[language]} text lacks {{theme}}, the place of the theme that is rated")
    return template


class DelphiInstructions(Part):
    """What is said at the beginning of a round; `round3` also opens every later round of revision."""

    round1: Text
    round2: Text
    round3: Text


class Question(Part):
    """An open question of round 1."""

    inline_text = "wording"

    question_id: QuestionId
    wording: Text


class DelphiDimension(Part):
    """A rating of each theme. The wording holds {theme} and may hold {description}."""

    inline_text = "wording"

    dimension_id: DimensionId
    wording: Annotated[Text, AfterValidator(_about_a_theme)]
    scale: ScaleName

    def about(self, label: str, description: str, language: Language) -> str:
        """The wording for one theme. Without a description, '{description}' goes together with its brackets."""
        template = self.wording.in_(language)
        if not description:
            template = re.sub(r"\s*\(\{description\}\)|\s*\{description\}", "", template)
        # One pass, so that braces in a theme found by a model are never read as a placeholder.
        return re.sub(
            r"\{(theme|description)\}",
            lambda placeholder: label if placeholder[1] == "theme" else description,
            template,
        )


class Disagreement(Part):
    """When a theme counts as agreed or disputed; distances in scale points."""

    consensus_iqr: Annotated[StrictFloat, Field(ge=0, le=10)] = 1.0  # agreed at or below
    disagreement_iqr: Annotated[StrictFloat, Field(ge=0, le=10)] = 2.0  # disputed above
    polarised_below: Annotated[StrictFloat, Field(ge=-1, le=1)] = 0.2  # van der Eijk's A, -1 to 1

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.consensus_iqr > self.disagreement_iqr:
            raise wrong(
                f"consensus_iqr {self.consensus_iqr:g} is above disagreement_iqr {self.disagreement_iqr:g}; "
                "a theme would be agreed and disputed at once"
            )
        return self


class Ending(Part):
    """When a panel with `rounds: auto` has rated enough: by consensus, or once it keeps its ratings. Shares, 0 to 1."""

    consensus: Annotated[StrictFloat, Field(ge=0, le=1)] = (
        0.9  # of the ratings that are agreed (Disagreement.consensus_iqr)
    )
    stable: Annotated[StrictFloat, Field(ge=0, le=1)] = 0.7  # of a panelist's ratings left as they were
    stable_share: Annotated[StrictFloat, Field(ge=0, le=1)] = 0.85  # of the panelists who left as much
    stable_rounds: Annotated[StrictInt, Field(ge=1, le=3)] = 1  # of revision, on end

    @property
    def limits(self) -> Limits:
        """In rounds of rating, of which there is one fewer than of all."""
        return Limits(**self.model_dump(), least_rounds=FEWEST_ROUNDS - 1, most_rounds=MOST_ROUNDS - 1)


INSTRUCTIONS = {
    "round1": {
        "de": "Bitte jede Frage aus der eigenen Sicht in zwei bis fünf Sätzen beantworten und die Antwort begründen.",
        "en": "Please answer each question from your own point of view in two to five sentences and give reasons for "
        "your answer.",
    },
    "round2": {
        "de": "Aus den Antworten der ersten Runde wurden Themen gebildet. Bitte jedes Thema unabhängig von den anderen "
        "auf den vorgegebenen Skalen einschätzen.",
        "en": "Themes have been formed from the answers of the first round. Please rate each theme independently of "
        "the others on the scales provided.",
    },
    "round3": {
        "de": "Gezeigt werden die Ergebnisse der vorigen Runde und die eigenen bisherigen Einschätzungen. Bitte jede "
        "Einschätzung noch einmal prüfen. Sie kann ebenso gut beibehalten wie geändert werden; in beiden Fällen hilft "
        "eine kurze Begründung.",
        "en": "You will see the results of the previous round together with your own ratings. Please review each "
        "rating. You may just as well keep it as change it; in either case, a brief reason is helpful.",
    },
}
RATED = [
    {
        "dimension_id": "importance",
        "scale": "importance5",
        "de": "Thema „{theme}“ ({description}): Wie wichtig ist dieses Thema?",
        "en": "Theme “{theme}” ({description}): How important is this theme?",
    },
    {
        "dimension_id": "plausibility",
        "scale": "plausibility5",
        "de": "Thema „{theme}“ ({description}): Wie plausibel ist, was dieses Thema besagt?",
        "en": "Theme “{theme}” ({description}): How plausible is what this theme says?",
    },
]
"""What is said above each round, and what themes are rated on, in a file that says neither."""


class DelphiInstrument(RatingInstrument):
    """Three rounds or more: open questions, rating of the themes, revision after feedback; `auto`: as many as it
    takes."""

    scale_ends = AMOUNT
    listed = ("questions", "question_id")
    questions_tested = ("groups", "camps", "revision")

    instructions: DelphiInstructions
    questions: Annotated[tuple[Question, ...], AfterValidator(not_empty)]
    dimensions: Annotated[tuple[DelphiDimension, ...], AfterValidator(not_empty)]
    rounds: Annotated[StrictInt, Field(ge=FEWEST_ROUNDS, le=MOST_ROUNDS)] | Literal["auto"] = FEWEST_ROUNDS
    ending: Ending = Ending()
    max_themes: Annotated[StrictInt, Field(ge=1, le=50)] = 15
    disagreement: Disagreement = Disagreement()

    @property
    def fewest_rounds(self) -> int:
        return FEWEST_ROUNDS if self.rounds == "auto" else self.rounds

    @property
    def most_rounds(self) -> int:
        return MOST_ROUNDS if self.rounds == "auto" else self.rounds

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """Instructions, and the two usual ratings."""
        super().complete(draft)
        draft.rename("questions", "text", "wording")
        draft.add("instructions", INSTRUCTIONS)
        draft.add("dimensions", RATED)

    def instruction(self, round: int, language: Language) -> str:
        """The instruction of `round`, counted from 1."""
        texts = (self.instructions.round1, self.instructions.round2, self.instructions.round3)
        return texts[min(round, len(texts)) - 1].in_(language)

    def question_items(self, language: Language) -> tuple[Item, ...]:
        """Round 1, with the question ids as item ids."""
        return tuple(
            Item(id=question.question_id, kind="text", wording=question.wording.in_(language))
            for question in self.questions
        )

    def wordings(self) -> Iterator[ReviewedText]:
        """The open questions, and what themes are rated on."""
        for question in self.questions:
            yield ReviewedText(question.question_id, question.wording, "question")
        for dimension in self.dimensions:
            yield ReviewedText(dimension.dimension_id, dimension.wording, "text")

    def rating_items(
        self, themes: Sequence[tuple[str, str, str]], language: Language, reason: bool = False
    ) -> tuple[Item, ...]:
        """Each of `themes` (id, label, description) on each dimension, with ids 'theme:<id>/<dimension_id>'.

        `reason` also asks why, as in a round of revision.
        """
        return tuple(
            self._rating_item(theme, dimension, language, reason) for theme in themes for dimension in self.dimensions
        )

    def dimension(self, dimension_id: str) -> DelphiDimension:
        """KeyError for an unknown id."""
        return {dimension.dimension_id: dimension for dimension in self.dimensions}[dimension_id]

    def scale_of(self, dimension_id: str) -> Scale:
        return self.scales[self.dimension(dimension_id).scale]

    def _rating_item(
        self, theme: tuple[str, str, str], dimension: DelphiDimension, language: Language, reason: bool
    ) -> Item:
        theme_id, label, description = theme
        return scale_item(
            f"theme:{theme_id}/{dimension.dimension_id}", dimension.about(f"[{theme_id}]", "", language),
            self.scales[dimension.scale].options(language), about=f"[{theme_id}] {label}. {description}".strip(),
            confidence=self.confidence, reason=reason,
        )  # fmt: skip


# --- what may be set --------------------------------------------------------------------------------------------------


NO_FEEDBACK = "no_feedback"
"""Variant that rates again without being shown how the panel rated: what the effect of feedback is measured against."""


class DelphiSettings(BaseModel):
    """Rounds, themes and scales are the instrument's."""

    model_config = ConfigDict(extra="forbid")

    second_coding: bool = Field(
        True, description="code up to 200 answers of round 1 a second time, for Krippendorff's alpha"
    )
    no_feedback_arm: bool = Field(
        False,
        description="let everybody also rate again without feedback: without that, what feedback did cannot be told",
    )


# --- a draft ----------------------------------------------------------------------------------------------------------


WANTED = "An open question to a panel of those concerned, answered in some sentences, on {about}: {what}."
QUESTIONS = (
    ("drivers", "which developments will be decisive {en_until}",
     "Es geht um: „{de}“. Welche Entwicklungen werden dabei {de_until} den Ausschlag geben?",
     "This is about: “{en}”. Which developments will be decisive {en_until}?"),
    ("outlook", "which risks and which opportunities there are",
     "Welche Risiken und welche Chancen sehen Sie beim Thema {de}?",
     "Which risks and which opportunities do you see when it comes to {en}?"),
    ("measures", "what should happen next, and why",
     "Was sollte beim Thema {de} als Nächstes geschehen, und warum?", "What should happen next on {en}, and why?"),
    ("responsibility", "who should decide", "Wer sollte beim Thema {de} entscheiden, und warum?",
     "Who should decide on {en}, and why?"),
)  # fmt: skip
"""The first on the topic, the others on themes in turn. Written as pairs."""


def draft(material: Material) -> Mapping[str, str]:
    lines = []
    for place, (name, what, german, english) in enumerate(QUESTIONS):
        theme = material.themes[(place - 1) % len(material.themes)] if place else None
        told = {
            "de": theme.in_("de") if theme else material.topic_in("de"),
            "en": theme.in_("en") if theme else material.topic_in("en"),
            "de_until": material.horizon.until("de"),
            "en_until": material.horizon.until("en"),
        }
        wanted = WANTED.format(about=theme.label if theme else material.topic, what=what.format(**told))
        question = material.write(
            Slot(f"delphi/{name}", wanted, german.format(**told), english.format(**told), "question", theme)
        )
        lines.append(f"  # from: {question.source}\n  - question_id: {name}\n{question.lines('    ')}")
    return {"delphi.yaml": f"{head(material, 'delphi', 'Delphi', 'Delphi')}questions:\n{''.join(lines)}"}
