"""Synthetic respondents of the longitudinal study: planted positions by type and family, planted drift from T0 to T1.

Every number comes from SHA-256 over the seed, the methodology, the item and the persona (and the wave, for what varies
between waves), so an item gets the same answer alone or in a block, in any order and process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from enquete.graphs.longitudinal.comments import EXPERIENCE, NEUTRAL, VIEWS
from enquete.graphs.longitudinal.truth import FAMILIES, TRUTH
from enquete.respondents.planted import answer_at, normal, persona_hash, pick, uniform
from enquete.respondents.stakeholders import type_of, voice
from enquete.state.seam import Answer, Block, Item, Language, Participant

__all__ = ["FAMILIES", "TRUTH", "Planted", "answer", "latent"]

METHODOLOGY = "longitudinal"
Keys = Mapping[str, tuple[str, bool]]
"""Family and whether it is reverse-keyed, by item id."""


@dataclass(frozen=True)
class Planted:
    """`answer` for one instrument; see `respondents.planted.Occasional`."""

    keys: Keys
    asking: int | None = None

    def __call__(self, who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
        return answer(who, block, language, seed, keys=self.keys, asking=self.asking)

    def again(self, asking: int) -> Planted:
        return replace(self, asking=asking)


def answer(
    who: Participant,
    block: Block,
    language: Language,
    seed: int,
    *,
    keys: Keys | None = None,
    noise: float = TRUTH.noise,
    asking: int | None = None,
) -> tuple[Answer, ...]:
    """One answer per item of the block, in its order.

    keys: family and reverse key by item id, as the instrument has them; an item that is not in there belongs to the
    family its id hashes to and is not reversed. noise: sd of what varies from occasion to occasion, in units of half the
    scale, drawn per agent, item and occasion: each wave is one, and so is each repeat of a wave, which `asking` names.
    Raises ValueError for a closed item without options.
    """
    keys = keys or {}
    return tuple(_answer_item(who, block, item, language, seed, keys, noise, asking) for item in block.items)


def latent(who: Participant, family: str, phase: str, seed: int) -> float:
    """An agent's planted position in a family at a wave, before item and noise: about −1 … 1.

    The experience effect is there at T1 alone, and only for agents whose memory digest holds something.
    """
    kind, persona = type_of(who), persona_hash(who)
    deviation = TRUTH.person_sd * normal(seed, METHODOLOGY, "person", family, persona)
    shift = TRUTH.position_shift(kind, family) if phase == "T1" and who.digest else 0.0
    return _type_position(kind, family) + deviation + shift


def _type_position(kind: str, family: str) -> float:
    if kind in TRUTH.position and family in FAMILIES:
        return TRUTH.position[kind][FAMILIES.index(family)]
    return TRUTH.other_range * (2 * uniform(METHODOLOGY, "type", kind, family) - 1)


def _answer_item(
    who: Participant,
    block: Block,
    item: Item,
    language: Language,
    seed: int,
    keys: Keys,
    noise: float,
    asking: int | None,
) -> Answer:
    if item.kind == "text":
        return Answer(item.id, "ok", text=_comment(who, block.key.phase, item.id, language, seed, keys))
    family, is_reversed = keys.get(item.id) or (_family_by_hash(item.id), False)
    position = _position(who, item, family, block.key.phase, seed) + noise * _occasion(who, item, block, seed, asking)
    confidence = 0.5 + 0.35 * abs(position) + 0.08 * normal(seed, METHODOLOGY, "confidence", item.id, persona_hash(who))
    reason = _view(position, family, item.id, who, language, seed, keys) if item.reason else ""
    return answer_at(-position if is_reversed else position, item, confidence=confidence, text=reason)


def _position(who: Participant, item: Item, family: str, phase: str, seed: int) -> float:
    """What an agent means at a wave, before the noise of the occasion."""
    persona = persona_hash(who)
    least, most = TRUTH.loading
    loading = least + (most - least) * uniform(METHODOLOGY, "loading", item.id)
    intercept = TRUTH.intercept * (2 * uniform(METHODOLOGY, "intercept", item.id) - 1)
    own = TRUTH.item_sd * normal(seed, METHODOLOGY, "item", item.id, persona)
    return loading * latent(who, family, phase, seed) + intercept + own


def _occasion(who: Participant, item: Item, block: Block, seed: int, asking: int | None) -> float:
    """Standard normal, drawn for this agent, item and occasion; a repeat of a wave is an occasion of its own."""
    repeat = () if asking is None else (asking,)
    return normal(seed, METHODOLOGY, "occasion", block.key.phase, item.id, persona_hash(who), *repeat)


def _family_by_hash(item_id: str) -> str:
    return pick(FAMILIES, METHODOLOGY, "family", item_id)


def _comment(who: Participant, phase: str, item_id: str, language: Language, seed: int, keys: Keys) -> str:
    """Two to four sentences on the family the agent feels strongest about."""
    key = (seed, METHODOLOGY, phase, item_id, persona_hash(who))
    families = sorted({family for family, _ in keys.values()} & set(FAMILIES)) or list(FAMILIES)
    position = {family: latent(who, family, phase, seed) for family in families}
    strongest = max(families, key=lambda family: (abs(position[family]), family))
    sentences = [
        _view(position[strongest], strongest, item_id, who, language, seed, keys),
        voice(type_of(who), language, *key),
    ]
    if uniform(*key, "order") < 0.5:
        sentences.reverse()
    if phase == "T1" and who.digest:
        sentences.append(pick(EXPERIENCE[language], *key, "experience"))
    return " ".join(sentences)


def _view(
    position: float, family: str, item_id: str, who: Participant, language: Language, seed: int, keys: Keys
) -> str:
    """A sentence that fits the position; neutral in topic where the instrument is not about the planted families."""
    about_fisheries = any(known in FAMILIES for known, _ in keys.values())
    views = VIEWS[language][family] if about_fisheries and family in FAMILIES else NEUTRAL[language]
    return pick(views[position >= 0], seed, METHODOLOGY, "view", item_id, persona_hash(who))
