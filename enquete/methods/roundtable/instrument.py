"""Instrument of the roundtable: the question, the fixed texts around it, what is asked privately; and one drafted from
the topic and its themes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator

from enquete.instruments.instrument import Draft, Instrument
from enquete.instruments.load import OWN
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import ScaleName
from enquete.instruments.source import read_source
from enquete.instruments.text import Line, Part, Text, identifier
from enquete.runs.material import Material, Slot, head
from enquete.runs.material import identifier as theme_identifier
from enquete.state.asking import Item, Language, Option

ItemId = Annotated[Line, AfterValidator(identifier("item"))]

CONSIDERATION, PREFERENCES = "consideration", "preferences"
AROUND = ("instruction", "verification", "broken", "headings", "stances", "items")
"""What is told around the question, the same on any topic."""


class DiscussionInstructions(Part):
    """What participants are told, layer by layer. {question} stands for the question, {label} for a perspective."""

    discussion: Text
    before: Text
    after: Text
    control: Text
    structure: Text
    perspective: Text
    verification: Text
    again: Text


class Broken(Part):
    """What was asked for, by the check that a response did not pass. {part} is the part's title."""

    required: Text
    confidence: Text
    stance: Text
    at_least: Text
    questions: Text
    without: Text
    answers_all: Text
    names_role: Text


class Headings(Part):
    """Words over and in what a participant reads. {round} and {number} are filled in."""

    summary: Text
    round: Text
    now: Text
    remark: Text
    statistics: Text
    answer: Text
    number: Text
    you: Text
    stance: Text
    confidence: Text
    reasoning: Text
    key_points: Text
    citations: Text


class Stances(Part):
    yes: Text
    neutral: Text
    no: Text


class Items(Part):
    """What every turn asks for beside the sections of its mode; `moved_by` is asked in the end, `preferences`
    privately."""

    position: Text
    stance: Text
    reasoning: Text
    key_points: Text
    citations: Text
    confidence: Text
    moved_by: Text
    preferences: Text


class RoundtableInstrument(Instrument):
    """Privately, before and after, `considerations` are rated on `scale` and `preferences` ranked."""

    questions_tested = ("beyond", "groups")

    question: Text
    instruction: DiscussionInstructions
    verification: tuple[Text, ...] = ()
    broken: Broken
    headings: Headings
    stances: Stances
    items: Items
    considerations: Mapping[ItemId, Text] = {}
    preferences: Mapping[ItemId, Text] = {}
    scale: ScaleName = "likert7"

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """What a discussion is told around its question, as in the instrument that ships."""
        super().complete(draft)
        for part in AROUND:
            draft.add(part, _shipped()[part])

    def wordings(self) -> Iterator[ReviewedText]:
        """The question, what is rated and what is ranked."""
        yield ReviewedText("question", self.question, "question")
        for name, text in self.considerations.items():
            yield ReviewedText(name, text)
        for name, text in self.preferences.items():
            yield ReviewedText(name, text, "text")

    def stance_options(self, language: Language) -> tuple[Option, ...]:
        texts = (("yes", self.stances.yes), ("neutral", self.stances.neutral), ("no", self.stances.no))
        return tuple(Option(value=value, label=text.in_(language)) for value, text in texts)

    def private_items(self, language: Language) -> Iterator[Item]:
        """Considerations, then preferences, in the order of the file; nothing where there are none."""
        options = self.scales[str(self.scale)].options(language)
        for name, text in self.considerations.items():
            yield Item(id=f"{CONSIDERATION}/{name}", kind="scale", wording=text.in_(language), options=options)
        if self.preferences:
            ranked = tuple(Option(value=name, label=text.in_(language)) for name, text in self.preferences.items())
            yield Item(id=PREFERENCES, kind="ranking", wording=self.items.preferences.in_(language), options=ranked)


@cache
def _shipped() -> Mapping[Any, Any]:
    package = files(__package__ or "")
    return read_source(OWN, (package / OWN).read_bytes()).document


# --- A draft ----------------------------------------------------------------------------------------------------------


QUESTION = (
    "The question of a roundtable that can be answered yes or no, on what is disputed most about “{about}”, without "
    "taking a side.",
    {
        True: ("Es geht um: „{de}“. Ist das der richtige Weg?", "This is about: “{en}”. Is this the right way to go?"),
        False: (
            "Es geht um: „{de}“. Geht es dabei in die richtige Richtung?",
            "This is about: “{en}”. Are things going the right way?",
        ),
    },
)
WIDEST = 3
CONSIDERATIONS = {
    True: (
        ("gain", "for it: things get better there",
         "Das Vorhaben bringt beim Thema {de} Fortschritt.", "The plan means progress for {en}."),
        ("cost", "against it: things get worse there",
         "Beim Thema {de} ist das Vorhaben ein Schritt zurück.",
         "When it comes to {en}, the plan is a step backwards."),
        ("needed", "for it: something has to change there",
         "Beim Thema {de} muss sich etwas ändern.", "When it comes to {en}, something has to change."),
        ("wrong", "against it: the wrong people pay there",
         "Beim Thema {de} zahlen die Falschen für das Vorhaben.",
         "When it comes to {en}, the wrong people pay for the plan."),
        ("benefit", "for it: its benefit outweighs its harm there",
         "Beim Thema {de} wiegt der Nutzen schwerer als der Schaden.",
         "When it comes to {en}, the benefit outweighs the harm."),
        ("other", "against it: there is a better way",
         "Beim Thema {de} gibt es einen besseren Weg.", "When it comes to {en}, there is a better way."),
    ),
    False: (
        ("gain", "content: things get better there",
         "Beim Thema {de} geht es aufwärts.", "Things are looking up for {en}."),
        ("cost", "discontent: things get worse there",
         "Mit dem Thema {de} geht es bergab.", "We are going downhill with {en}."),
        ("enough", "content: what is done there suffices",
         "Was beim Thema {de} getan wird, genügt.", "What is being done about {en} is sufficient."),
        ("needed", "discontent: something has to change there",
         "Beim Thema {de} muss sich etwas ändern.", "When it comes to {en}, something has to change."),
        ("fair", "content: burdens are shared fairly there",
         "Beim Thema {de} sind die Lasten gerecht verteilt.", "When it comes to {en}, the burdens are shared fairly."),
        ("wrong", "discontent: the wrong people pay there",
         "Beim Thema {de} zahlen die Falschen.", "When it comes to {en}, the wrong people pay."),
    ),
}  # fmt: skip
"""By whether something is planned: three for and three against, in turn, on the widest themes. Written as pairs."""
COURSES = {
    True: (
        ("planned", "doing what is planned", "Das Vorhaben wird umgesetzt wie geplant.",
            "The plan is carried out as it stands."),
        ("changed", "doing it with changes", "Das Vorhaben wird mit Änderungen umgesetzt.",
            "The plan is carried out with changes."),
        ("postponed", "putting it off", "Das Vorhaben wird verschoben.", "The plan is postponed."),
        ("dropped", "not doing it", "Das Vorhaben wird aufgegeben.", "The plan is dropped."),
    ),
    False: (
        ("keep", "leaving things as they are", "Alles bleibt, wie es ist.", "Everything stays as it is."),
        ("more", "doing more of what is done", "Was getan wird, wird ausgebaut.", "What is being done is extended."),
        ("other", "doing something else", "Es wird ein anderer Weg versucht.", "Another way is tried."),
        ("local", "leaving it to those affected", "Die Betroffenen entscheiden selbst.",
            "Those affected decide for themselves."),
    ),
}  # fmt: skip


def draft(material: Material) -> Mapping[str, str]:
    """What a discussion is told around these is Enquete's own wherever the file does not say it."""
    told = {"de": material.topic_in("de"), "en": material.topic_in("en")}
    wanted, (german, english) = QUESTION[0], QUESTION[1][material.plan]
    asked = material.write(
        Slot(
            "roundtable/question", wanted.format(about=material.topic), german.format(**told), english.format(**told),
            "question",
        ),
    )  # fmt: skip
    text = head(material, "roundtable", "Gesprächsrunde", "Roundtable")
    return {
        "roundtable.yaml": f"{text}# from: {asked.source}\nquestion: "
        f"{asked.inline}\nconsiderations:\n{_considerations(material)}"
        f"preferences:\n{_preferences(material)}scale: likert7\n"
    }


def _considerations(material: Material) -> str:
    lines = []
    for place, (name, what, german, english) in enumerate(CONSIDERATIONS[material.plan]):
        theme = material.themes[place % min(len(material.themes), WIDEST)]
        told = {"de": theme.in_("de"), "en": theme.in_("en")}
        wanted = f"A consideration that is rated on seven points, on {theme.label}: {what}."
        slot = Slot(
            f"roundtable/{theme_identifier(theme, place)}_{name}", wanted, german.format(**told),
            english.format(**told), about=theme,
        )  # fmt: skip
        question = material.write(slot)
        lines.append(f"  # from: {question.source}\n  {theme_identifier(theme, place)}_{name}: {question.inline}\n")
    return "".join(lines)


def _preferences(material: Material) -> str:
    lines = []
    for name, what, german, english in COURSES[material.plan]:
        wanted = (
            f"A course of action on “{material.topic}” that is ranked among others, in at most twelve words: {what}."
        )
        entry = material.write(Slot(f"roundtable/{name}", wanted, german, english, "text"))
        lines.append(f"  # from: {entry.source}\n  {name}: {entry.inline}\n")
    return "".join(lines)
