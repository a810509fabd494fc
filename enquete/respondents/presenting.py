"""How an arm shows a block, whom it asks, and as whom they answer: the one place where conditions of answering are applied.

Everything drawn is drawn by SHA-256 from the arm's seed, the agent and the block, so a resumed run, a report and another
process find the same. An order is an agent's own, and the same in both phases and in all rounds: drift and revision are
not mixed up with it. Never touched: questions in words, which keep their place; and the columns of a forced sort.
Items get such an order unless the run or the instrument says otherwise, as cards of a sort are shuffled and batteries
rotated: what sticks to the answer before is then noise, and never passes for structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import groupby

from enquete.respondents.kinds import kind_of
from enquete.respondents.neutral import control_block, neutral_digest, nobody
from enquete.respondents.planted import Key, pick, uniform
from enquete.state.asking import Arm, Block, Item, Language, Participant

TRIES = 64  # draws for a partner of another type before all agents are gone through


# --- whom --------------------------------------------------------------------------------------------------------------


def asked(arm: Arm, methodology: str, phase: str, population: Sequence[Participant]) -> Sequence[Participant]:
    """The agents that this arm asks, in the population's order."""
    if not arm.is_asked(methodology, phase):
        return ()
    return sampled(population, arm.sample, arm.draw_seed) if 0 < arm.sample < len(population) else population


def sampled(population: Sequence[Participant], size: int, seed: int) -> list[Participant]:
    """`size` of them, stratified by stakeholder type in proportion (Sainte-Laguë), every type at least once if that fits."""
    strata: dict[str, list[Participant]] = {}
    for who in population:
        strata.setdefault(who.stakeholder_type, []).append(who)
    seats = dict.fromkeys(strata, 1 if size >= len(strata) else 0)
    while sum(seats.values()) < size:
        unfilled = [name for name in seats if seats[name] < len(strata[name])]
        seats[max(unfilled, key=lambda name: len(strata[name]) / (2 * seats[name] + 1))] += 1
    chosen = {
        who.id
        for name, people in strata.items()
        for who in nsmallest(seats[name], people, key=lambda who: uniform(seed, "sample", who.id))
    }
    return [who for who in population if who.id in chosen]


def answering(who: Participant, arm: Arm, population: Sequence[Participant], language: Language) -> Participant:
    """As whom, and with which memory, `who` answers in this arm. The id stays: answers are filed under the same agent."""
    if arm.digest == "neutral":
        who = who.remembering(neutral_digest(who, language, arm.draw_seed))
    if arm.persona == "null":
        return nobody(who, language)
    if arm.persona == "swapped":
        other = partner(who, population, arm.draw_seed)
        return replace(who, name=other.name, stakeholder_type=other.stakeholder_type, persona=other.persona)
    return who


def partner(who: Participant, population: Sequence[Participant], seed: int) -> Participant:
    """Whose persona `who` gets: somebody of another type, else somebody else; oneself only where nobody else is there."""
    for attempt in range(TRIES):
        found = pick(population, seed, "partner", who.id, attempt)
        if found.stakeholder_type != who.stakeholder_type:
            return found
    others = [other for other in population if other.id != who.id]
    rest = [other for other in others if other.stakeholder_type != who.stakeholder_type] or others or [who]
    return pick(rest, seed, "partner", who.id)


# --- how ---------------------------------------------------------------------------------------------------------------


def present(block: Block, arm: Arm, language: Language) -> Block:
    """The block as this arm shows it. Orders stand in `shown`; items and options themselves stay as they were."""
    if arm.asks == "controls":
        block = control_block(block, language)
    if not arm.shows and arm.elicitation == "point":
        return block
    items = tuple(_item(item, block, arm) for item in block.items)
    return block.model_copy(
        update={
            "items": items,
            "shown": _item_order(block, arm) or block.shown,
            "frame": "paraphrased" if "paraphrased" in arm.shows else "as_written",
        }
    )


def _item(item: Item, block: Block, arm: Arm) -> Item:
    changes: dict[str, object] = {}
    if "paraphrased" in arm.shows and item.paraphrase:
        changes["wording"] = item.paraphrase
    if block.constraint is None and item.options:
        if order := _option_order(item, block, arm):
            changes["shown"] = order
        if arm.elicitation != item.elicitation and kind_of(item).distributes:
            changes["elicitation"] = arm.elicitation
    return item.model_copy(update=changes) if changes else item


def _key(block: Block, arm: Arm, name: str) -> Key:
    return arm.draw_seed, name, block.key.methodology, block.key.participant, block.key.part


def _option_order(item: Item, block: Block, arm: Arm) -> tuple[int | str, ...]:
    """Options get any order, those of a scale their own or the reverse: scrambled points could not be read.

    All scales of a block run the same way. Empty: as written.
    """
    if not arm.shows & {"options_random", "options_reversed"}:
        return ()
    values = [option.value for option in item.options_in_shown_order()]
    if "options_random" in arm.shows:
        key = _key(block, arm, "options_random")
        if not kind_of(item).has_steps:
            values.sort(key=lambda value: uniform(*key, item.id, str(value)))
        elif uniform(*key) < 0.5:
            values.reverse()
    if "options_reversed" in arm.shows:
        values.reverse()
    return () if values == [option.value for option in item.options] else tuple(values)


def _item_order(block: Block, arm: Arm) -> tuple[str, ...]:
    """Items change places with those of their kind. What is about the same words stays together, in its order; questions in
    words stay where they are. An instrument's own order gives way to probes of order alone."""
    names = (
        ("items_shuffled", "items_shuffled_2")
        if block.in_order
        else ("items_shuffled", "items_shuffled_2", "items_random")
    )
    name = next((n for n in names if n in arm.shows), "")
    if not name:
        return ()
    groups = _groups(block.in_shown_order())
    key = _key(block, arm, name)
    drawn = {
        kind: iter(sorted((one for one in groups if one[0].kind == kind), key=lambda one: uniform(*key, one[0].id)))
        for kind in {one[0].kind for one in groups} - {"text"}
    }
    return tuple(item.id for group in groups for item in next(drawn.get(group[0].kind, iter([group]))))


def _groups(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    def about(item: Item) -> tuple[bool, str]:
        return item.kind == "text", item.about or item.id

    return [tuple(group) for _, group in groupby(items, about)]
