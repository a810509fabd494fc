"""Instrument of the diversity methodology: statements sorted into a forced grid, and axes between two labelled
poles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from enquete.instruments.instrument import Draft, RatingInstrument
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import Human, on_scale
from enquete.instruments.text import LANGUAGES, Line, Part, Text, current, identifier, shown, wrong
from enquete.locale import N_
from enquete.runs.material import Material, Slot, head, pair
from enquete.simulations.sources import one_line
from enquete.state.asking import Item, Language, Option, scale_item

MOST_COLUMNS = 13  # −6 … +6, the widest grid in common use
MOST_STATEMENTS = 100
SHORT = 60  # characters of a statement's short form where the file gives none


def _new_axis(value: str) -> str:
    """Statements and axes are items of one answer table: an id stands for one of them."""
    if ("statement", value) in current().seen:
        raise wrong(f"'{value}' is already the id of a statement; every statement and axis needs its own")
    return value


StatementId = Annotated[Line, AfterValidator(identifier("statement"))]
AxisId = Annotated[Line, AfterValidator(identifier("axis")), AfterValidator(_new_axis)]


class QStatement(Part):
    """A statement of the Q-sort; `short` names it in archetypes and figures."""

    inline_text = "label"

    statement_id: StatementId
    label: Text
    short: Text | None = None

    def brief(self, language: Language) -> str:
        """The short form, or the beginning of the statement."""
        if self.short is not None:
            return self.short.in_(language)
        text = self.label.in_(language).rstrip(". ")
        return text if len(text) <= SHORT else f"{text[:SHORT].rsplit(' ', 1)[0]} …"


class Axis(Part):
    """A dimension rated between two poles; `label` names it, `low` stands at 1, `high` at the last point."""

    inline_text = "label"

    axis_id: AxisId
    label: Text
    low: Text
    high: Text
    points: Annotated[StrictInt, Field(ge=2, le=11)] = 7
    human: Human | None = None

    @field_validator("human")
    @classmethod
    def _on_the_axis(cls, human: Human | None, info: ValidationInfo) -> Human | None:
        return on_scale(human, (1, info.data["points"]) if "points" in info.data else None)

    def options(self, language: Language) -> tuple[Option, ...]:
        ends = {1: self.low.in_(language), self.points: self.high.in_(language)}
        return tuple(Option(value=point, label=ends.get(point, "")) for point in range(1, self.points + 1))


class Poles(Part):
    """What the outermost columns of the grid mean."""

    low: Text
    high: Text


class DiversityInstructions(Part):
    """What is said above the Q-sort and above the axes."""

    sort: Text
    axes: Text


def _by_column(value: object) -> object:
    """A list of an odd number of places is a grid centred on 0; a mapping names its columns."""
    if not isinstance(value, list):
        return value
    if len(value) % 2 == 0:
        raise wrong(
            f"has {len(value)} columns, so none of them is 0; name the columns, such as {{-2: 3, -1: 5, 1: 5, 2: 3}}"
            if value
            else "has no column; write one number of places for each column, such as [2, 3, 4, 6, 4, 3, 2]"
        )
    return {column - len(value) // 2: places for column, places in enumerate(value)}


def _coherent(grid: dict[int, int]) -> dict[int, int]:
    if not 2 <= len(grid) <= MOST_COLUMNS:
        raise wrong(f"has {len(grid)} columns; a grid has 2 to {MOST_COLUMNS}")
    listed = current().document.get("statements")
    places = sum(grid.values())
    if isinstance(listed, list | tuple) and listed and len(listed) != places:
        raise wrong(f"has {places} places for {len(listed)} statements; their numbers must be equal")
    return dict(sorted(grid.items()))


def _not_too_many(statements: tuple[QStatement, ...]) -> tuple[QStatement, ...]:
    if not statements:
        raise wrong("has no entry; at least 3 are needed")
    if not 3 <= len(statements) <= MOST_STATEMENTS:
        raise wrong(f"has {len(statements)} entries; a Q-sort has 3 to {MOST_STATEMENTS} statements")
    return statements


def _mapping(value: object) -> object:
    if isinstance(value, dict | list):
        return value
    raise wrong(f"is {shown(value)}; write one number of places for each column, such as [2, 3, 4, 6, 4, 3, 2]")


Places = Annotated[StrictInt, Field(ge=1, le=MOST_STATEMENTS)]
Distribution = Annotated[
    dict[int, Places], BeforeValidator(_by_column), BeforeValidator(_mapping), AfterValidator(_coherent)
]

AGREEMENT = Poles(
    low=Text(de="entspricht meiner Sicht am wenigsten", en="least like my view"),
    high=Text(de="entspricht meiner Sicht am meisten", en="most like my view"),
)


INSTRUCTIONS = {
    "sort": {
        "de": "Bitte jede Aussage einer Spalte zuordnen, je nachdem, wie sehr sie im Vergleich zu den anderen der "
        "eigenen Sicht entspricht. Es kommt auf die Rangfolge an.",
        "en": "Please put each statement into a column, according to how much it is like your own view in comparison "
        "with the others. What counts is the ranking.",
    },
    "axes": {
        "de": "Bitte angeben, wo Sie selbst zwischen den beiden Polen jeder Achse stehen. Die Zahlen dazwischen sind "
        "Abstufungen.",
        "en": "Please indicate where you yourself stand between the two poles of each axis. The numbers in between are "
        "gradations.",
    },
}
"""What is said above the sort and the axes in a file that does not say it."""
_POLES = re.compile(r"\s*(.+?)\s*(?:\(\d+\)\s*)?(?:\bvs\b\.?|\bversus\b|↔|\s[–—]\s)\s*(.+?)\s*(?:\(\d+\)\s*)?")


def poles_in(axis: Mapping[str, object]) -> tuple[dict[str, str], dict[str, str]] | None:
    """Both ends in every language of an axis' name; None where it does not name them."""
    label = axis.get("label")
    given = label if isinstance(label, Mapping) else {"de": label, "en": label} if isinstance(label, str) else {}
    low, high = dict[str, str](), dict[str, str]()
    for language in LANGUAGES:
        text = axis.get(language) or axis.get(f"label_{language}") or given.get(language)
        if isinstance(text, str):
            poles = _POLES.fullmatch(text)
            if not poles:
                return None
            low[language], high[language] = poles[1], poles[2]
    return (low, high) if low else None


def grid_for(statements: int) -> dict[int, int]:
    """A forced grid, bell-shaped and symmetric: 7 columns up to 24 statements, 9 up to 48, 11 beyond; the middle takes
    the rest."""
    reach = min((statements - 1) // 2, 3 if statements <= 24 else 4 if statements <= 48 else 5)
    weight = {column: math.exp(-((column / (0.75 * reach)) ** 2) / 2) for column in range(1, reach + 1)}
    ideal = {column: statements * density / (1 + 2 * sum(weight.values())) for column, density in weight.items()}
    side = {column: max(1, math.floor(places)) for column, places in ideal.items()}
    while (middle := statements - 2 * sum(side.values())) >= max(side.values()) + 3:
        side[max(side, key=lambda column: ideal[column] - side[column])] += 1
    return {column: side[abs(column)] if column else middle for column in range(-reach, reach + 1)}


class DiversityInstrument(RatingInstrument):
    """A Q-sort, and axes where there are any: one vector of numbers an agent.

    `confidence` is asked of the axes: a Q-sort is one ranking, of which no statement is rated by itself.
    """

    listed = ("statements", "statement_id")
    questions_tested = ("views", "types", "groups")

    instructions: DiversityInstructions
    distribution: Distribution
    poles: Poles = AGREEMENT
    statements: Annotated[tuple[QStatement, ...], AfterValidator(_not_too_many)]
    likert_axes: tuple[Axis, ...] = ()

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """Instructions, a grid for the statements there are, and poles that an axis' name says: "Market (1) vs. rules
        (7)"."""
        super().complete(draft)
        draft.add("instructions", INSTRUCTIONS)
        for old in ("name", "text"):
            draft.rename("statements", old, "label")
        draft.rename("likert_axes", "name", "label")
        statements = draft.values.get("statements")
        if isinstance(statements, list) and 3 <= len(statements) <= MOST_STATEMENTS:
            draft.take("distribution", grid_for(len(statements)), N_("the number of statements"))
        for where, part in draft.parts("likert_axes"):
            if "points" not in part and isinstance(part.get("scale"), int):
                part["points"] = part.pop("scale")
            if not any(key.startswith(("low", "high")) for key in map(str, part)) and (ends := poles_in(part)):
                part["low"], part["high"] = ends
                draft.read_as(f"{where}.low, {where}.high", ends)

    def sort_items(self, language: Language) -> tuple[Item, ...]:
        """The statements in the file's order, with the grid's columns as options; only the outermost are labelled."""
        columns = list(self.distribution)
        ends = {columns[0]: self.poles.low.in_(language), columns[-1]: self.poles.high.in_(language)}
        options = tuple(Option(value=column, label=ends.get(column, "")) for column in columns)
        return tuple(
            scale_item(statement.statement_id, statement.label.in_(language), options) for statement in self.statements
        )

    def axis_items(self, language: Language) -> tuple[Item, ...]:
        """The axes in the file's order."""
        return tuple(
            scale_item(axis.axis_id, axis.label.in_(language), axis.options(language), confidence=self.confidence)
            for axis in self.likert_axes
        )

    def wordings(self) -> Iterator[ReviewedText]:
        """Statements, and the axes with their poles."""
        for statement in self.statements:
            yield ReviewedText(statement.statement_id, statement.label, "statement")
        for axis in self.likert_axes:
            for part, text in (("", axis.label), (".low", axis.low), (".high", axis.high)):
                yield ReviewedText(f"{axis.axis_id}{part}", text, "text")

    def human_answers(self) -> dict[str, Human]:
        """By axis; places in a forced sort have no marginals of their own."""
        return {axis.axis_id: axis.human for axis in self.likert_axes if axis.human is not None}

    def statement(self, statement_id: str) -> QStatement:
        """KeyError for an unknown id."""
        return {statement.statement_id: statement for statement in self.statements}[statement_id]

    def axis(self, axis_id: str) -> Axis:
        """KeyError for an unknown id."""
        return {axis.axis_id: axis for axis in self.likert_axes}[axis_id]


# --- what may be set --------------------------------------------------------------------------------------------------


MOST_FACTORS = 16  # twice as many as Q software extracts
Factors = tuple[Annotated[int, Field(ge=1)], ...]


class FlagChanges(BaseModel):
    """Changes by hand to which sorts define a Q factor: factors as the report numbers them, by participant id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    add: dict[str, Factors] = {}
    remove: dict[str, Factors] = {}

    @model_validator(mode="after")
    def _once(self) -> FlagChanges:
        for who in sorted(self.add.keys() & self.remove.keys()):
            both = sorted(set(self.add[who]) & set(self.remove[who]))
            if both:
                raise ValueError(f"factor {both[0]} of {who!r} is to be added and removed; name it once")
        return self


class DiversitySettings(BaseModel):
    """How the sorts are analysed; statements, grid and axes are the instrument's."""

    model_config = ConfigDict(extra="forbid")

    n_factors: int | None = Field(
        None,
        ge=1,
        le=MOST_FACTORS,
        description="number of Q factors; as many as parallel analysis finds where none is named",
    )
    flags: FlagChanges = Field(
        FlagChanges(),
        description='changes to the sorts that define a Q factor, such as {"remove": {"agent:7": [1]}}',
    )


# --- a draft ----------------------------------------------------------------------------------------------------------


FEWEST, DESCRIBED = 3, 18
"""Statements: of posts; and of descriptions, to which the claims below are added up to so many."""
WANTED = "A statement of a Q-sort, as somebody whom it concerns would say it aloud, on {about}: {what}."
CLAIMS = (
    ("say", "those affected should have a say",
     "Beim Thema {de} sollten alle mitreden, die es betrifft.", "Everybody affected should have a say on {en}."),
    ("talk", "there is more talk than action",
     "Beim Thema {de} wird zu viel geredet und zu wenig getan.",
     "There is too much talk about {en} and too little action."),
    ("stay", "it should stay as it is",
     "Beim Thema {de} soll alles bleiben, wie es ist.", "When it comes to {en}, everything should stay as it is."),
    ("pay", "the wrong people pay",
     "Beim Thema {de} zahlen am Ende die Falschen.", "When it comes to {en}, the wrong people end up paying."),
    ("strict", "stricter rules are needed",
     "Zum Thema {de} braucht es strengere Regeln.", "Stricter rules on {en} are needed."),
    ("state", "the state should keep out of it",
     "Aus dem Thema {de} sollte sich der Staat heraushalten.", "The state should keep out of {en}."),
    ("money", "its budget is too small",
     "Der Etat für das Thema {de} ist zu klein.", "The budget for {en} is too small."),
    ("experts", "experts should decide",
     "Beim Thema {de} sollten Fachleute entscheiden.", "It is for experts to decide on {en}."),
    ("local", "those on the spot should decide",
     "Über das Thema {de} weiß man vor Ort am besten Bescheid.", "People on the spot know best about {en}."),
    ("children", "the next generation bears the consequences",
     "Die Folgen beim Thema {de} tragen einmal unsere Kinder.", "Our children will bear the consequences of {en}."),
    ("wait", "it is better to wait",
     "Beim Thema {de} ist Abwarten das Klügste.", "With {en}, waiting is the wisest course."),
    ("hurry", "time is running out",
     "Beim Thema {de} läuft uns die Zeit davon.", "We are running out of time on {en}."),
    ("fuss", "too much is made of it",
     "Um das Thema {de} wird zu viel Aufhebens gemacht.", "People make too much fuss about {en}."),
    ("daily", "it is felt in daily life",
     "Was beim Thema {de} geschieht, spürt man jeden Tag.", "What happens to {en} is felt every day."),
    ("loud", "the loudest get their way",
     "Beim Thema {de} setzen sich die Lautesten durch.", "On {en}, whoever shouts loudest wins."),
    ("share", "everybody has to give something up",
     "Beim Thema {de} müssen alle Abstriche machen.", "For {en}, everybody has to give something up."),
    ("facts", "reliable figures are lacking",
     "Zum Thema {de} fehlen verlässliche Zahlen.", "Reliable figures on {en} are lacking."),
    ("trust", "those responsible can be trusted",
     "Wer für das Thema {de} zuständig ist, verdient Vertrauen.", "Those in charge of {en} deserve trust."),
)  # fmt: skip
"""Of any matter, each once, on the themes in turn. Written as pairs."""


def draft(material: Material) -> Mapping[str, str]:
    """No file where too few sentences can stand alone."""
    chosen = material.chosen
    claims = _claims(material, DESCRIBED - len(chosen)) if material.described else []
    if len(chosen) + len(claims) < FEWEST:
        return {}
    lines = []
    for place, sentence in enumerate(chosen, start=1):
        theme = one_line(material.theme_of(sentence))
        about = f"theme “{theme}”" if theme else "no theme"
        lines.append(
            f"  # from: {sentence.post.name} ({sentence.post.kind}), {sentence.post.source}; "
            f"{about}{material.doubt(f's{place:02d}')}\n"
            f"  - {{statement_id: s{place:02d}, label: {pair(material.in_languages(sentence))}}}\n"
        )
    both = material.bilingual and all(sentence.other for sentence in chosen)
    text = head(material, "diversity", "Sichtweisen", "Views", bilingual=both)
    told = "".join((*lines, *claims))
    return {"diversity.yaml": f"{text}# What was left out, and why: concourse.csv\nstatements:\n{told}"}


def _claims(material: Material, number: int) -> list[str]:
    lines = []
    for place, (name, what, german, english) in enumerate(CLAIMS[: max(0, number)]):
        theme = material.themes[place % len(material.themes)]
        told = {"de": theme.in_("de"), "en": theme.in_("en")}
        slot = Slot(
            f"diversity/{name}", WANTED.format(about=theme.label, what=what), german.format(**told),
            english.format(**told), "statement", theme,
        )  # fmt: skip
        statement = material.write(slot)
        lines.append(f"  # from: {statement.source}\n  - {{statement_id: {name}, label: {statement.inline}}}\n")
    return lines
