"""Instrument of the scenario methodology: possible futures, each rated on the same dimensions, and one open
question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictInt, field_validator
from pydantic_core import PydanticCustomError

from enquete.instruments.instrument import Draft, RatingInstrument, in_every_language, spelled
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import AMOUNT, Human, Scale, ScaleName, on_scale, points_of
from enquete.instruments.text import (
    LANGUAGES,
    Line,
    Part,
    Text,
    current,
    identifier,
    not_empty,
    shown,
    suggestion,
    wrong,
)
from enquete.locale import N_, tell
from enquete.runs.material import RULE, Material, Slot, head, pair
from enquete.state.asking import Item, Language, Spoken, scale_item

DEFAULT_SCALE = "7"

OPEN = "open"
"""Last step of the open question's item ids, 'collapse/open'; no dimension may be called so."""

INSTRUCTION = {
    "de": "Es folgt ein Szenario: eine mögliche Zukunft, keine Vorhersage. Bitte in diese Zukunft hineindenken und sie "
    "aus der eigenen Sicht auf den vorgegebenen Skalen einschätzen.",
    "en": "What follows is a scenario: one possible future, not a forecast. Please think your way into it and rate it "
    "from your own point of view on the scales provided.",
}
"""What is said above a scenario in a file that does not say it."""
NAMES = {
    "desirability": {"de": "Wünschbarkeit", "en": "Desirability"},
    "plausibility": {"de": "Plausibilität", "en": "Plausibility"},
    "fairness": {"de": "Gerechtigkeit", "en": "Fairness"},
}
"""Of dimensions that other tools give by their question alone."""

Role = Literal["desirability", "plausibility"]
ROLES: tuple[Role, ...] = ("desirability", "plausibility")

_SCENARIO = N_("Scenario “{label}”:\n{text}")


def _not_open(value: str) -> str:
    if value == OPEN:
        raise wrong(f"'{OPEN}' is taken by the open question; choose another dimension id")
    return value


def _given_once(role: Role) -> Role:
    seen = current().seen
    if ("role", role) in seen:
        raise wrong(f"'{role}' is already the role of another dimension; give it to one only")
    seen.add(("role", role))
    return role


def _at_least_two(entries: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    if len(entries) < 2:
        raise wrong(f"has {len(entries)} entries; scenarios are compared, so at least 2 are needed")
    return entries


ScenarioId = Annotated[Line, AfterValidator(identifier("scenario"))]
DimensionId = Annotated[Line, AfterValidator(_not_open), AfterValidator(identifier("dimension"))]


def _scales_by_dimension() -> dict[str, object]:
    """As the file names them; dimensions stand after the scenarios or before."""
    listed = current().document.get("dimensions")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list | tuple) else []
    return {str(entry.get("dimension_id")): entry.get("scale") for entry in entries}


class Scenario(Part):
    """A possible future: its name, and the text that is read before it is rated."""

    scenario_id: ScenarioId
    label: Text
    description: Text
    human: dict[Line, Human] | None = None  # by dimension

    @field_validator("human")
    @classmethod
    def _on_the_dimensions(cls, human: dict[str, Human] | None) -> dict[str, Human] | None:
        scales = _scales_by_dimension()
        for dimension, answer in (human or {}).items() if scales else ():
            if dimension not in scales:
                raise wrong(f"{shown(dimension)} is no dimension{suggestion(dimension, list(scales))}")
            try:
                on_scale(answer, points_of(scales[dimension], DEFAULT_SCALE))
            except PydanticCustomError as error:
                raise wrong(f"{dimension}: {error.message()}") from None
        return human


class ScenarioDimension(Part):
    """What each scenario is rated on: a name, the question (without one the name is asked), and its scale.

    `role` says which dimension is meant where polarity is computed; without it, the ids of that name are.
    """

    dimension_id: DimensionId
    label: Text
    description: Text | None = None
    scale: ScaleName | None = None  # None: the instrument's
    role: Annotated[Role, AfterValidator(_given_once)] | None = None


class ScenarioInstrument(RatingInstrument):
    """Any number of scenarios from two on, each rated on all dimensions, in the order of the file."""

    scale_ends = AMOUNT
    questions_tested = ("highest", "groups", "further")

    instruction: Text
    scale: ScaleName = DEFAULT_SCALE
    dimensions: Annotated[tuple[ScenarioDimension, ...], AfterValidator(not_empty)]
    open_question: Text | None = None
    scenarios: Annotated[tuple[Scenario, ...], AfterValidator(_at_least_two)]
    max_themes: Annotated[StrictInt, Field(ge=1, le=50)] = 8  # in the open answers to one scenario

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """The instruction; dimensions that are a question alone get a name."""
        super().complete(draft)
        draft.add("instruction", INSTRUCTION)
        draft.rename("scenarios", "name", "label")
        draft.rename("scenarios", "text", "description")
        draft.rename("dimensions", "name", "label")
        names = {}
        for _, part in draft.parts("dimensions"):
            asked = {language: part.pop(language) for language in LANGUAGES if language in part}
            if asked and not any(f"description{end}" in part for end in ("", "_de", "_en")):
                part["description"] = asked
            elif asked:
                part.update(asked)  # twice the question: a problem, told as such
            name = part.get("dimension_id")
            if isinstance(name, str) and not any(f"label{end}" in part for end in ("", "_de", "_en")):
                part["label"] = names[name] = NAMES.get(name) or in_every_language(spelled(name))
        if names:
            draft.read_as("dimensions[].label", names)

    def scenario_items(self, scenario_id: str, language: Language) -> tuple[Item, ...]:
        """One scenario on every dimension, ids '<scenario_id>/<dimension_id>', then '<scenario_id>/open'."""
        rated = tuple(self._rating_item(scenario_id, dimension, language) for dimension in self.dimensions)
        if self.open_question is None:
            return rated
        wording = self.open_question.in_(language)
        return (*rated, Item(id=f"{scenario_id}/{OPEN}", kind="text", wording=wording))

    def human_answers(self) -> dict[str, Human]:
        """By item id, '<scenario_id>/<dimension_id>'."""
        return {
            f"{scenario.scenario_id}/{dimension}": human
            for scenario in self.scenarios
            for dimension, human in (scenario.human or {}).items()
        }

    def wordings(self) -> Iterator[ReviewedText]:
        """Scenarios are read, dimensions asked."""
        for scenario in self.scenarios:
            yield ReviewedText(f"{scenario.scenario_id}.label", scenario.label, "text")
            yield ReviewedText(scenario.scenario_id, scenario.description, "text")
        for dimension in self.dimensions:
            yield ReviewedText(dimension.dimension_id, dimension.description or dimension.label, "question")
        if self.open_question is not None:
            yield ReviewedText(OPEN, self.open_question, "question")

    def introduction(self, scenario_id: str, language: Language) -> str:
        """What stands above the questions: the instruction and the scenario's name and text."""
        scenario = self.scenario(scenario_id)
        label, text = scenario.label.in_(language), scenario.description.in_(language)
        return f"{self.instruction.in_(language)}\n\n{tell(_SCENARIO, language).format(label=label, text=text)}"

    def scenario(self, scenario_id: str) -> Scenario:
        """KeyError for an unknown id."""
        return {scenario.scenario_id: scenario for scenario in self.scenarios}[scenario_id]

    def dimension(self, dimension_id: str) -> ScenarioDimension:
        """KeyError for an unknown id."""
        return {dimension.dimension_id: dimension for dimension in self.dimensions}[dimension_id]

    def scale_of(self, dimension_id: str) -> Scale:
        return self.scales[self.dimension(dimension_id).scale or self.scale]

    def dimension_for(self, role: Role) -> str | None:
        """Id of the dimension with that role, else of that id unless it has another role; None where there is
        neither."""
        by_role = (d.dimension_id for d in self.dimensions if d.role == role)
        by_name = (d.dimension_id for d in self.dimensions if d.role is None and d.dimension_id == role)
        return next(by_role, None) or next(by_name, None)

    def _rating_item(self, scenario_id: str, dimension: ScenarioDimension, language: Language) -> Item:
        wording, scale = dimension.description or dimension.label, self.scale_of(dimension.dimension_id)
        item_id = f"{scenario_id}/{dimension.dimension_id}"
        return scale_item(item_id, wording.in_(language), scale.options(language), confidence=self.confidence)


# --- a draft ----------------------------------------------------------------------------------------------------------


FUTURES = ((True, True), (True, False), (False, True), (False, False))
PLAN: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "läuft", "en": "is going ahead"},
    False: {"de": "ist aufgegeben", "en": "has been dropped"},
}
THEME: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "besser", "en": "better"},
    False: {"de": "schlechter", "en": "worse"},
}
TOLD: Mapping[bool, Mapping[Spoken, str]] = {
    True: {
        "de": "{when}: Das Vorhaben {first}. Beim Thema {theme} ist die Lage {how} als heute.",
        "en": "{when}: the plan {first}. When it comes to {theme}, things are {how} than today.",
    },
    False: {
        "de": "{when}: Beim Thema {axis} ist die Lage {first} als heute. Beim Thema {theme} ist sie {how}.",
        "en": "{when}: when it comes to {axis}, things are {first} than today. When it comes to {theme}, they are "
        "{how}.",
    },
}
LABEL: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "Vorhaben {first}, {theme}: {how}", "en": "Plan {first}, {theme}: {how}"},
    False: {"de": "{axis}: {first}, {theme}: {how}", "en": "{axis}: {first}, {theme}: {how}"},
}
"""By whether something is planned: the axes are the plan and the widest theme, or the two widest themes."""
WANTED = (
    "A future in two or three sentences, without judging it, as long from now as Enquete's own says: the same holds in "
    "it. Say what it means in daily life."
)
RATED = """dimensions:
  - {dimension_id: desirability, scale: 7, de: "Wie wünschenswert ist diese Zukunft?",
    en: "How desirable is this future?"}
  - {dimension_id: plausibility, scale: 7, de: "Wie plausibel ist diese Zukunft?", en: "How plausible is this future?"}
open_question: {de: "Was würden Sie in dieser Zukunft als Erstes tun?", en: "What would you do first in this future?"}
"""


def draft(material: Material) -> Mapping[str, str]:
    axis, theme = (None, material.themes[0]) if material.plan else material.themes[:2]
    lines = []
    for place, (first, better) in enumerate(FUTURES, start=1):
        words: dict[Spoken, dict[str, str]] = {
            language: {
                "when": material.horizon.then(language), "axis": axis.in_(language) if axis else "",
                "first": (THEME if axis else PLAN)[first][language], "theme": theme.in_(language),
                "how": THEME[better][language],
            }
            for language in LANGUAGES
        }  # fmt: skip
        told = {language: TOLD[material.plan][language].format(**words[language]) for language in LANGUAGES}
        slot = Slot(f"scenario/s{place}", WANTED, told["de"], told["en"], "text", theme)
        scenario = material.write(slot)
        labels = material.labels(theme).keys() & (material.labels(axis) if axis else material.labels(theme)).keys()
        label = pair({language: LABEL[material.plan][language].format(**words[language]) for language in labels})
        more = "; say what it means for those asked" if material.author == RULE else ""
        axes = f"“{axis.label}”" if axis else "the plan"
        lines.append(
            f"  # from: axes {axes} and “{theme.label}”; {scenario.source}{more}\n"
            f"  - scenario_id: s{place}\n    label: {label}\n    description: {scenario.inline}\n"
        )
    text = head(material, "scenario", "Szenarien", "Scenarios")
    return {"scenario.yaml": f"{text}scenarios:\n{''.join(lines)}\n{RATED}"}
