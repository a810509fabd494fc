"""What a scenario study asks: every agent gets one block a scenario, one after another, in the order of the file.

The open answers are coded into themes after the round (coding.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel

from enquete.instruments.pack import NEUTRAL, Data, ForAndAgainst, Pack, Words, pack_named, pack_on
from enquete.instruments.text import Text
from enquete.methods.scenario.instrument import OPEN, ROLES, ScenarioInstrument
from enquete.respondents.ground_truth import answer_at, normal, persona_hash, pick, spread, type_of, uniform, voice
from enquete.state.asking import ATTEMPTS, Answer, Block, Item, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings, Plan, Procedure


class ScenarioRating(Procedure[ScenarioInstrument, NoSettings]):
    """One round. Units are agents."""

    def __init__(self, instrument: ScenarioInstrument, settings: NoSettings, language: Language):
        super().__init__(instrument, settings, language)
        self._asked = {
            scenario.scenario_id: (
                instrument.introduction(scenario.scenario_id, language),
                instrument.scenario_items(scenario.scenario_id, language),
            )
            for scenario in instrument.scenarios
        }  # alike for all agents

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        return [
            Block(
                key=context.key(unit, scenario), instruction=instruction, items=items, in_order=self.instrument.in_order
            )
            for scenario, (instruction, items) in self._asked.items()
        ]

    def plan(self, context: InterviewContext) -> Plan:
        """How many calls code the open answers depends on their length: at most one an answer, and a merge."""
        plan = super().plan(context)
        if self.instrument.open_question is None:
            return plan
        most = len(self.instrument.scenarios) * max(1, len(context.participants())) * ATTEMPTS * 2
        return plan.model_copy(update={"calls": {**plan.calls, "theme": (0, most)}})


# --- Synthetic respondents of the scenario study: planted positions by stakeholder type, scenario and dimension.
#
# Positions run from −1 (lowest scale point) to 1. Scenarios that a pack does not plant are drawn by name: on every
# dimension they lie apart from one another for everybody, and each type a little beside that, so every instrument has a
# ranking to be found. Every number comes from SHA-256 over the seed, the methodology, the item and the persona, so an
# item gets the same answer alone or in a block, in any order and process.

METHODOLOGY = "scenario"

UNNAMED_RANGE = 0.6  # types and dimensions that a planted scenario does not name lie within ± this
SHARED_RANGE = 0.7  # what everybody thinks of scenarios that nobody planted lies evenly between ± this
TYPE_RANGE = 0.3  # and what a type thinks lies within ± this of it
PERSON_SD = 0.25  # an agent's own deviation on an item


class PlantedScenario(Data):
    """`words` recognise the scenario in the id or name that an instrument gives it."""

    words: Words
    position: Mapping[str, tuple[float, ...]]  # by stakeholder type, in the order of the dimensions


class ScenarioTruth(Data):
    """truth/scenario.yaml."""

    dimensions: tuple[str, ...] = ()
    scenarios: Mapping[str, PlantedScenario] = {}
    reactions: Mapping[
        str, ForAndAgainst
    ] = {}  # by scenario; "any" in the neutral pack, with {about} for the scenario's name
    actions: Mapping[str, ForAndAgainst] = {}  # by stakeholder type; "any" in the neutral pack

    def position(self, scenario: str, kind: str, dimension: str) -> float:
        """Of a type on a planted scenario; what the tables do not name is drawn by its name and does not change."""
        known = self.scenarios[scenario].position.get(kind)
        if known is not None and dimension in self.dimensions:
            return known[self.dimensions.index(dimension)]
        return UNNAMED_RANGE * (2 * uniform(METHODOLOGY, "type", scenario, dimension, kind) - 1)

    def recognised(self, text: str) -> str | None:
        """The planted scenario that an id or name speaks of; None for a scenario that nobody planted."""
        text = text.replace("_", " ")
        return next((name for name, planted in self.scenarios.items() if planted.words.search(text)), None)


@dataclass(frozen=True)
class PlantedRatings:
    """The truth of one instrument, which gives names by scenario and roles by dimension."""

    labels: Mapping[str, Text]
    roles: Mapping[str, str]
    pack: Pack

    def __call__(self, who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
        """One answer per item of the block, in its order; item ids are '<scenario>/<dimension>' and
        '<scenario>/open'."""
        return tuple(self._answer(who, item, language, seed) for item in block.items)

    @cached_property
    def truth(self) -> ScenarioTruth:
        return self.pack.truth(METHODOLOGY, ScenarioTruth)

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The planted scenario that each of the instrument's is, by id; every one of them once."""
        scores: dict[str, str] = {}
        for name, label in self.labels.items():
            planted = self.truth.recognised(f"{name} {label.in_('de')} {label.in_('en')}")
            if planted and planted not in scores.values():
                scores[name] = planted
        return scores

    def centre(self, kind: str, scenario: str, dimension: str) -> float:
        """A type's position on one dimension of one scenario."""
        dimension = self.roles.get(dimension, dimension)
        if scenario in self.known:
            return self.truth.position(self.known[scenario], kind, dimension)
        order = spread([name for name in self.labels if name not in self.known], METHODOLOGY, "shared", dimension)
        shared = SHARED_RANGE * ((2 * order.index(scenario) + 1) / len(order) - 1)
        return shared + TYPE_RANGE * (2 * uniform(METHODOLOGY, "type", scenario, dimension, kind) - 1)

    def position(self, who: Participant, scenario: str, dimension: str, seed: int) -> float:
        """An agent's position on one dimension of one scenario, −1 … 1 and a little beyond: type plus own deviation."""
        noise = PERSON_SD * normal(seed, METHODOLOGY, scenario, dimension, persona_hash(who))
        return self.centre(type_of(who, self.pack), scenario, dimension) + noise

    def _answer(self, who: Participant, item: Item, language: Language, seed: int) -> Answer:
        scenario, _, dimension = item.id.rpartition("/")
        if item.kind == "text":
            return Answer(item.id, "ok", text=self._words(who, scenario, language, seed))
        here = self.position(who, scenario, dimension, seed)
        confidence = 0.5 + 0.35 * abs(here) + 0.08 * normal(seed, METHODOLOGY, "confidence", item.id, persona_hash(who))
        reason = self._words(who, scenario, language, seed) if item.reason else ""
        return answer_at(here, item, confidence=confidence, text=reason)

    def _words(self, who: Participant, scenario: str, language: Language, seed: int) -> str:
        """How the agent takes this future, what it would do in it, and sometimes something about itself.

        The side is that of the agent's own position on desirability, so words and numbers agree.
        """
        key = (seed, METHODOLOGY, scenario, OPEN, persona_hash(who))
        wished = next((name for name, role in self.roles.items() if role == "desirability"), "desirability")
        likes, kind = self.position(who, scenario, wished, seed) >= 0, type_of(who, self.pack)
        reactions, actions = self._sides(scenario, kind)
        reaction = pick(reactions.on(likes)[language], *key, "reaction")
        sentences = [
            reaction.replace("{about}", self.labels[scenario].in_(language)),
            pick(actions.on(likes)[language], *key, "action"),
        ]
        if scenario in self.known and uniform(*key, "voice") < 0.3:
            sentences.insert(1, voice(kind, self.pack, language, *key))
        return " ".join(sentences)

    def _sides(self, scenario: str, kind: str) -> tuple[ForAndAgainst, ForAndAgainst]:
        """Reactions and actions: the pack's on a scenario that it plants, else those of anybody to anything."""
        general = pack_named(NEUTRAL).truth(METHODOLOGY, ScenarioTruth)
        known, anybody = self.known.get(scenario, ""), general.actions["any"]
        if not known:
            return general.reactions["any"], anybody
        return self.truth.reactions[known], self.truth.actions.get(kind, anybody)


def planted(instrument: ScenarioInstrument, settings: BaseModel | None = None) -> PlantedRatings:
    """The truth of an instrument: its scenarios are recognised by id or name, its dimensions by role or id."""
    labels = {scenario.scenario_id: scenario.label for scenario in instrument.scenarios}
    roles = {named: str(role) for role in ROLES if (named := instrument.dimension_for(role)) is not None}
    return PlantedRatings(labels, roles, pack_on(instrument.topic))
