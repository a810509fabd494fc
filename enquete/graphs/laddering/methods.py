"""The second layer, how is interviewed: an ontology with its strategies, their weights and techniques, and the phases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, StrictFloat, StrictInt, model_validator

from enquete.graphs.laddering.ontology import Ontology, TypeName
from enquete.graphs.laddering.signals.registry import checked_key
from enquete.instruments.reading import Line, current, identifier, not_empty, reference, suggestion, wrong
from enquete.instruments.text import LANGUAGE_NAMES, Part, Text
from enquete.state.asking import Spoken

PHASES = ("early", "mid", "late")
FOCUS, SECOND, THIRD = "{focus}", "{second}", "{third}"
MOST_WORDS = 14  # of a question: under fifteen
MOST_FOCUS_WORDS = 5  # of the respondent's own words for which every question has room
RELATIVE = ("next", "same", "first", "none")

Phase = Literal["early", "mid", "late"]
StrategyId = Annotated[Line, AfterValidator(identifier("strategy"))]
StrategyName = Annotated[Line, AfterValidator(reference("strategy", "strategies"))]
TechniqueId = Line
WeightKey = Annotated[Line, AfterValidator(checked_key)]
Weight = Annotated[StrictFloat | StrictInt, Field(ge=-20, le=20)]
Multiplier = Annotated[StrictFloat | StrictInt, Field(gt=0, le=10)]


def most_words(compares: bool) -> int:
    """A question that compares names two concepts more."""
    return MOST_WORDS + 2 * MOST_FOCUS_WORDS * compares


def _short_enough(question: Text) -> Text:
    for language in get_args(Spoken):
        text = getattr(question, language)
        if text is None:
            continue
        quoted = " ".join("x" * MOST_FOCUS_WORDS)
        words, most = len(re.sub(r"\{(focus|second|third)\}", quoted, text).split()), most_words(SECOND in text)
        if words > most:
            raise wrong(
                f"the {LANGUAGE_NAMES[language]} text has up to {words} words with a concept quoted; at most {most}"
            )
        if text.count("?") > 1 or text.count(FOCUS) > 1:
            raise wrong(f"the {LANGUAGE_NAMES[language]} text asks or quotes more than once; one question, one {FOCUS}")
    return question


def _known_aim(aim: str) -> str:
    types = current().defined("node_types")
    if types is not None and aim not in (*RELATIVE, *types):
        raise wrong(f"'{aim}' is no node type{suggestion(aim, (*RELATIVE, *types))}")
    return aim


Question = Annotated[Text, AfterValidator(_short_enough)]
Aim = Annotated[Line, AfterValidator(_known_aim)]
"""What an answer will bring: a node type; next: the rung above the focus; same: more on the focus itself; first: the
ontology's first type; none: nothing new."""


class Technique(Part):
    """One way to carry out a strategy. `questions` are what the rule-based interviewer asks; a model gets the description.

    `suits`: node types about which it makes sense to be asked; every type its answer could be linked with where none is named.
    `triad`: it names two more concepts of the focus' type, {second} and {third} (Kelly 1955), and comes before others.
    """

    id: TechniqueId
    description: Text
    elicits: Aim
    suits: tuple[TypeName, ...] = ()
    triad: bool = False
    questions: Annotated[tuple[Question, ...], AfterValidator(not_empty)]


def _no_id_twice(techniques: tuple[Technique, ...]) -> tuple[Technique, ...]:
    """A technique is consumed by its id."""
    ids = [technique.id for technique in techniques]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise wrong(
            f"the technique {', '.join(twice)} stands there twice; every technique of a strategy needs its own id"
        )
    return techniques


class Strategy(Part):
    """`focus`: it asks about a concept said before. `closing`: the interview ends with the answer to it."""

    label: Text
    description: Text
    goal: Text
    focus: bool = True
    closing: bool = False
    weights: Annotated[dict[WeightKey, Weight], AfterValidator(not_empty)]
    techniques: Annotated[tuple[Technique, ...], AfterValidator(not_empty), AfterValidator(_no_id_twice)]

    @model_validator(mode="after")
    def _questions_quote_the_focus(self) -> Self:
        for technique in self.techniques:
            if technique.suits and not self.focus:
                raise wrong(
                    f"technique '{technique.id}': `suits` names node types, but the strategy says `focus: false`"
                )
            for question in technique.questions:
                texts = [text for language in get_args(Spoken) if (text := getattr(question, language))]
                if any((name in text) != technique.triad for name in (SECOND, THIRD) for text in texts):
                    raise wrong(
                        f"technique '{technique.id}': {SECOND} and {THIRD} stand in the questions of a triad alone"
                    )
                if self.focus and any(FOCUS not in text for text in texts):
                    raise wrong(
                        f"technique '{technique.id}': a question lacks {FOCUS}, the place of the concept asked about"
                    )
                if not self.focus and any(FOCUS in text for text in texts):
                    raise wrong(
                        f"technique '{technique.id}': a question has {FOCUS}, but the strategy says `focus: false`"
                    )
        return self


class Opening(Part):
    """The first question: warm and open."""

    goal: Text
    elicits: Aim
    questions: Annotated[tuple[Question, ...], AfterValidator(not_empty)]


class InterviewMethod(Ontology):
    """A methodology file, whole."""

    goal: Text
    opening: Opening
    strategies: Annotated[dict[StrategyId, Strategy], AfterValidator(not_empty)]
    phases: dict[Phase, dict[StrategyName, Multiplier]]

    @model_validator(mode="after")
    def _has_all_phases(self) -> Self:
        missing = [phase for phase in PHASES if phase not in self.phases]
        if missing:
            raise wrong(f"phases: {', '.join(missing)} missing; there are {', '.join(PHASES)}")
        return self

    def multiplier(self, phase: str, strategy: str) -> float:
        """1 for a strategy that the phase does not name."""
        by_phase: Mapping[str, Mapping[str, float]] = {str(name): found for name, found in self.phases.items()}
        return float(by_phase.get(phase, {}).get(strategy, 1.0))

    @cached_property
    def asks(self) -> Mapping[str, frozenset[str]]:
        """Strategy → the kinds of concepts that its techniques ask for by name."""
        return {
            name: frozenset(technique.elicits for technique in one.techniques) & self.node_types.keys()
            for name, one in self.strategies.items()
        }

    def aim(self, elicits: str, focus_type: str) -> str | None:
        """The node type that a technique brings when it asks about a concept of `focus_type` ("" without one).

        None where it brings nothing: at the top of the ladder, or by design.
        """
        if elicits == "none":
            return None
        if elicits == "first":
            return self.first_type
        if elicits == "same":
            return focus_type or None
        return self.next_type(focus_type) if elicits == "next" else elicits

    def applicable(self, technique: Technique, focus_type: str) -> bool:
        """Whether it suits the focus, and what it brings can hang together with it at all."""
        if technique.suits and focus_type not in technique.suits:
            return False
        if not focus_type or technique.elicits in ("same", "none"):
            return True
        aim = self.aim(technique.elicits, focus_type)
        return aim is not None and self.linkable(focus_type, aim)
