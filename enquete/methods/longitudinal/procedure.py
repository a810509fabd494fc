"""How a wave is taken: every agent gets one block with all items, or one item at a time with --asking item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pydantic import BaseModel, Field

from enquete.instruments.pack import NEUTRAL, Data, ForAndAgainst, Lines, Pack, pack_named, pack_on
from enquete.instruments.text import Text
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.respondents.ground_truth import answer_at, normal, persona_hash, pick, spread, type_of, uniform, voice
from enquete.simulations.digest import MARKED
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings, Procedure

PART = "items"


class Wave(Procedure[LongitudinalInstrument, NoSettings]):
    """One wave. T0 and T1 differ only in the context: its phase, and what the agents remember."""

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return self.instrument.block_items(self.language)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        instruction, in_order = self.instrument.instruction.in_(self.language), self.instrument.in_order
        return [Block(key=context.key(unit, PART), instruction=instruction, items=self._items, in_order=in_order)]


# --- Synthetic respondents of the longitudinal study: planted positions by type and family, planted drift from T0 to
# T1.
#
# Positions run from −1 (rejects the family's positively keyed items) to 1. What a pack does not plant is drawn by name,
# so every instrument has types that differ, families that drift and families that do not. Every number comes from
# SHA-256 over the seed, the methodology, the item and the persona (and the wave, for what varies between waves), so an
# item gets the same answer alone or in a block, in any order and process.

METHODOLOGY = "longitudinal"

UNNAMED_RANGE = 0.6  # types and families that a pack does not name lie within ± this, drawn by name
CHANGE = 0.3  # of a drifting family, up or down, where the pack plants no drift of its own
PERSON_SD = 0.22  # an agent's own deviation per family, the same at both waves
ITEM_SD = 0.15  # an agent's own deviation per item, the same at both waves
NOISE = 0.15  # drawn anew on each occasion: at each wave, and whenever a wave is asked once more
LOADING = (0.75, 1.0)  # items load between these
INTERCEPT = 0.12  # items lie within ± this


class LongitudinalTruth(Data):
    """truth/longitudinal.yaml. `change` is added at T1 in agents with a memory, never in others; "other": unnamed
    types."""

    position: Mapping[str, Mapping[str, float]] = {}  # by type and family
    change: Mapping[str, Mapping[str, float]] = {}
    views: Mapping[str, ForAndAgainst] = {}  # by family; "any" in the neutral pack
    experience: Lines = Field({})


class Keyed(NamedTuple):
    """How an item hangs on its family."""

    family: str
    is_reversed: bool = False
    is_control: bool = False  # the simulation has no reason to move it


@dataclass(frozen=True)
class PlantedWaves:
    """The truth of one instrument, on one occasion of asking; see `respondents.planted.Occasional`.

    `labels`: of families, shown where no pack has words for them. `asking` names an occasion beside the waves.
    """

    items: Mapping[str, Keyed]
    labels: Mapping[str, Text]
    pack: Pack
    noise: float = NOISE
    asking: int | None = None

    def __call__(self, who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
        """One answer per item of the block, in its order."""
        return tuple(self._answer(who, block, item, language, seed) for item in block.items)

    def again(self, asking: int) -> PlantedWaves:
        return replace(self, asking=asking)

    @cached_property
    def truth(self) -> LongitudinalTruth:
        return self.pack.truth(METHODOLOGY, LongitudinalTruth)

    @cached_property
    def families(self) -> list[str]:
        return list(dict.fromkeys(item.family for item in self.items.values()))

    @cached_property
    def drawn_changes(self) -> Mapping[str, float]:
        """Half of the families drift, by turns down and up; which ones is drawn by name."""
        order = spread(self.families, METHODOLOGY, "drifts")
        return {family: CHANGE * (-1, 1)[place % 2] for place, family in enumerate(order[: (len(order) + 1) // 2])}

    def position(self, kind: str, family: str) -> float:
        """Of a type in a family at T0."""
        known = self.truth.position.get(kind, {}).get(family)
        return UNNAMED_RANGE * (2 * uniform(METHODOLOGY, "type", kind, family) - 1) if known is None else known

    def change(self, kind: str, family: str) -> float:
        """From T0 to T1, of an agent with a memory."""
        planted = self.truth.change
        return (planted.get(kind, planted.get("other", {})) if planted else self.drawn_changes).get(family, 0.0)

    def latent(self, who: Participant, family: str, phase: str, seed: int) -> float:
        """An agent's planted position in a family at a wave, before item and noise: about −1 … 1."""
        kind, persona = type_of(who, self.pack), persona_hash(who)
        deviation = PERSON_SD * normal(seed, METHODOLOGY, "person", family, persona)
        change = self.change(kind, family) if phase == "T1" and who.digest else 0.0
        return self.position(kind, family) + deviation + change

    def _answer(self, who: Participant, block: Block, item: Item, language: Language, seed: int) -> Answer:
        phase = block.key.phase
        if item.kind == "text":
            return Answer(item.id, "ok", text=self._comment(who, phase, item.id, language, seed))
        key = self.items.get(item.id) or Keyed(item.id)
        position = self._meant(who, item.id, key, phase, seed) + self.noise * self._occasion(who, item, phase, seed)
        noise = 0.08 * normal(seed, METHODOLOGY, "confidence", item.id, persona_hash(who))
        reason = self._view(position, key.family, item.id, who, language, seed) if item.reason else ""
        turned = -position if key.is_reversed else position
        return answer_at(turned, item, confidence=0.5 + 0.35 * abs(position) + noise, text=reason)

    def _meant(self, who: Participant, item: str, key: Keyed, phase: str, seed: int) -> float:
        """What an agent means at a wave, before the noise of the occasion."""
        least, most = LOADING
        loading = least + (most - least) * uniform(METHODOLOGY, "loading", item)
        intercept = INTERCEPT * (2 * uniform(METHODOLOGY, "intercept", item) - 1)
        noise = ITEM_SD * normal(seed, METHODOLOGY, "item", item, persona_hash(who))
        return loading * self.latent(who, key.family, "T0" if key.is_control else phase, seed) + intercept + noise

    def _occasion(self, who: Participant, item: Item, phase: str, seed: int) -> float:
        """Standard normal, drawn for this agent, item and occasion; a repeat of a wave is an occasion of its own."""
        repeat = () if self.asking is None else (self.asking,)
        return normal(seed, METHODOLOGY, "occasion", phase, item.id, persona_hash(who), *repeat)

    def _comment(self, who: Participant, phase: str, item: str, language: Language, seed: int) -> str:
        """Two or three sentences on the family the agent feels strongest about."""
        key = (seed, METHODOLOGY, phase, item, persona_hash(who))
        position = {family: self.latent(who, family, phase, seed) for family in self.families}
        strongest = max(position, key=lambda family: (abs(position[family]), family))
        sentences = [
            self._view(position[strongest], strongest, item, who, language, seed),
            voice(type_of(who, self.pack), self.pack, language, *key),
        ]
        if uniform(*key, "order") < 0.5:
            sentences.reverse()
        if phase == "T1" and who.digest:
            felt = pick(_general().experience[language], *key, "experience")
            sentences.append(felt + "".join(f" [{letter}{n}]" for letter, n in MARKED.findall(who.digest)[:1]))
        return " ".join(sentences)

    def _view(self, position: float, family: str, item: str, who: Participant, language: Language, seed: int) -> str:
        """A sentence that fits the position; without words of the pack's about the family, one that names it."""
        lines = self.truth.views.get(family, _general().views["any"]).on(position >= 0)[language]
        label = self.labels[family].in_(language) if family in self.labels else family
        return pick(lines, seed, METHODOLOGY, "view", item, persona_hash(who)).replace("{about}", label)


def _general() -> LongitudinalTruth:
    """What anybody may say about anything."""
    return pack_named(NEUTRAL).truth(METHODOLOGY, LongitudinalTruth)


def planted(instrument: LongitudinalInstrument, settings: BaseModel | None = None) -> PlantedWaves:
    """The truth of an instrument: its families, their labels, its keys, and the pack that knows its topic."""
    items = {item.item_id: Keyed(item.family, item.reverse_coded, item.control) for item in instrument.items}
    labels = {name: family.label for name, family in instrument.families.items()}
    return PlantedWaves(items, labels, pack_on(instrument.topic))
