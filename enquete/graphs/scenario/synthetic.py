"""Synthetic respondents of the scenario study: planted positions by stakeholder type, scenario and dimension.

Every number comes from SHA-256 over the seed, the methodology, the item and the persona, so an item gets the same answer
alone or in a block, in any order and process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from enquete.graphs.scenario.instrument import OPEN, ROLES, ScenarioInstrument
from enquete.graphs.scenario.truth import TRUTH, recognise
from enquete.graphs.scenario.voices import ACTIONS, NEUTRAL_ACTIONS, NEUTRAL_REACTIONS, REACTIONS
from enquete.respondents.planted import answer_at, normal, persona_hash, pick, uniform
from enquete.respondents.stakeholders import type_of, voice
from enquete.state.seam import Answer, Block, Item, Language, Participant, Truth

__all__ = ["TRUTH", "Planted", "answer", "answers_of", "position"]

METHODOLOGY = "scenario"


@dataclass(frozen=True)
class Planted:
    """What the scenarios and dimensions of an instrument are in the terms of the truth; by their ids."""

    scenarios: Mapping[str, str]
    dimensions: Mapping[str, str]


def answers_of(instrument: ScenarioInstrument) -> Truth:
    """The truth for an instrument: its scenarios are recognised by id or name, its dimensions by role or id."""
    scenarios: dict[str, str] = {}
    for scenario in instrument.scenarios:
        names = " ".join(scenario.label.in_(language) for language in ("de", "en"))
        found = recognise(scenario.scenario_id, names)
        if found and found not in scenarios.values():
            scenarios[scenario.scenario_id] = found
    roles = {named: role for role in ROLES if (named := instrument.dimension_for(role)) is not None}
    return partial(answer, planted=Planted(scenarios, roles))


def answer(
    who: Participant,
    block: Block,
    language: Language,
    seed: int,
    *,
    planted: Planted | None = None,
) -> tuple[Answer, ...]:
    """One answer per item of the block, in its order; item ids are '<scenario>/<dimension>' and '<scenario>/open'.

    planted: without it, ids are taken for what they say. Raises ValueError for a closed item without options.
    """
    known = planted or Planted({key.key: key.key for key in TRUTH.scenarios}, {})
    return tuple(_answer_item(who, item, language, seed, known) for item in block.items)


def position(who: Participant, scenario: str, dimension: str, seed: int, planted: Planted) -> float:
    """An agent's position on one dimension of one scenario, −1 … 1 and a little beyond: type plus own deviation."""
    centre = TRUTH.position(
        planted.scenarios.get(scenario, scenario), type_of(who), planted.dimensions.get(dimension, dimension)
    )
    return centre + TRUTH.person_sd * normal(seed, METHODOLOGY, scenario, dimension, persona_hash(who))


def _answer_item(who: Participant, item: Item, language: Language, seed: int, planted: Planted) -> Answer:
    scenario, _, dimension = item.id.rpartition("/")
    if item.kind == "text":
        return Answer(item.id, "ok", text=_words(who, scenario, language, seed, planted))
    here = position(who, scenario, dimension, seed, planted)
    confidence = 0.5 + 0.35 * abs(here) + 0.08 * normal(seed, METHODOLOGY, "confidence", item.id, persona_hash(who))
    reason = _words(who, scenario, language, seed, planted) if item.reason else ""
    return answer_at(here, item, confidence=confidence, text=reason)


def _words(who: Participant, scenario: str, language: Language, seed: int, planted: Planted) -> str:
    """How the agent takes this future, what it would do in it, and sometimes something about itself.

    The side is that of the agent's own position on desirability, so words and numbers agree.
    """
    key = (seed, METHODOLOGY, scenario, OPEN, persona_hash(who))
    wished = next((name for name, role in planted.dimensions.items() if role == "desirability"), "desirability")
    likes = position(who, scenario, wished, seed, planted) >= 0
    theme = planted.scenarios.get(scenario)
    kind = type_of(who)
    reactions = REACTIONS[language][theme] if theme else NEUTRAL_REACTIONS[language]
    actions = ACTIONS[language].get(kind, NEUTRAL_ACTIONS[language]) if theme else NEUTRAL_ACTIONS[language]
    sentences = [pick(reactions[likes], *key, "reaction"), pick(actions[likes], *key, "action")]
    if uniform(*key, "voice") < 0.3 and theme:
        sentences.insert(1, voice(kind, language, *key))
    return " ".join(sentences)
