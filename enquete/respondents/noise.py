"""What the synthetic respondent does beside answering by its planted truth: it varies a little when asked again, and it can be
given faults, so that the probes can be shown to find them.

Every draw comes from SHA-256 over a seed, the occasion, the item and the persona, like the truth itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from enquete.respondents.planted import Key, persona_hash, uniform
from enquete.state.asking import Answer, Block, Item, Participant

VARIES = 0.12
"""Share of closed answers that lie one point off when the same agent is asked the same once more."""

Answers = dict[str, Answer]


@dataclass(frozen=True, slots=True)
class Noise:
    """Faults of a respondent, each as the share of closed answers under no constraint that have it. None by default."""

    first_option: float = 0.0  # takes the option shown first
    neighbour: float = 0.0  # repeats the answer given to the item shown before
    frame: float = 0.0  # one point up where the frame is in other words
    persona_blind: float = 0.0  # answered as nobody in particular would
    follows_any_digest: bool = False  # a neutral memory moves it as one of the simulation does


SOUND = Noise()


def varied(who: Participant, block: Block, answers: Answers, seed: int) -> Answers:
    """As they come out when asked again under another seed."""
    key = (seed, "varies", block.key.methodology, block.key.phase, block.key.round, persona_hash(who))
    if block.constraint is not None:
        return _resorted(answers, key)
    return answers | {
        item.id: _moved(answers[item.id], item, 1 if uniform(*key, item.id, "up") < 0.5 else -1)
        for item in block.items
        if uniform(*key, item.id) < VARIES
    }


def _resorted(answers: Answers, key: Key) -> Answers:
    """A sort stays legal: some statements change places with one of the next higher column."""
    order = sorted(answers.values(), key=lambda answer: (answer.value or 0.0, uniform(*key, answer.item, "rank")))
    found, touched = dict(answers), set[str]()
    for place, low in enumerate(order):
        if uniform(*key, low.item) >= VARIES / 2 or low.item in touched:  # a swap moves two
            continue
        above = (a for a in order[place + 1 :] if a.item not in touched and (a.value or 0.0) > (low.value or 0.0))
        high = next(above, None)
        if high is not None:
            found[low.item], found[high.item] = replace(low, value=high.value), replace(high, value=low.value)
            touched |= {low.item, high.item}
    return found


def flawed(
    who: Participant, block: Block, answers: Answers, as_nobody: Mapping[str, Answer], flaws: Noise, seed: int
) -> Answers:
    """`answers` with the faults; `as_nobody`: what nobody in particular would answer."""
    if flaws == SOUND or block.constraint is not None:
        return answers
    found, before = dict(answers), None

    def has(share: float, name: Literal["first", "blind", "frame", "neighbour"], item: Item) -> bool:
        return uniform(seed, "flaw", name, block.key.methodology, item.id, persona_hash(who)) < share

    for item in block.in_shown_order():
        if item.kind not in ("scale", "choice"):
            continue
        if has(flaws.persona_blind, "blind", item):
            found[item.id] = as_nobody[item.id]
        if block.frame == "paraphrased" and has(flaws.frame, "frame", item):
            found[item.id] = _moved(found[item.id], item, 1)
        if before is not None and has(flaws.neighbour, "neighbour", item):
            found[item.id] = _chosen(found[item.id], item, before)
        if has(flaws.first_option, "first", item):
            found[item.id] = _chosen(found[item.id], item, item.options_in_shown_order()[0].value)
        before = _option(found[item.id], item)
    return found


def _option(answer: Answer, item: Item) -> int | str | None:
    if item.kind == "choice":
        return answer.data if isinstance(answer.data, int | str) else None
    return None if answer.value is None else int(answer.value)


def _chosen(answer: Answer, item: Item, option: int | str) -> Answer:
    """The answer with another option; unchanged where the item does not have it."""
    if option not in [known.value for known in item.options]:
        return answer
    if item.kind == "choice":
        return replace(answer, value=float(option) if isinstance(option, int) else None, data=option)
    return replace(answer, value=float(option))


def _moved(answer: Answer, item: Item, step: int) -> Answer:
    """One option further along the scale, or back where it ends. Numbers and words stay."""
    option = _option(answer, item) if item.kind in ("scale", "choice") else None
    values = _ordered(item)
    if option is None or len(values) < 2:
        return answer
    place = values.index(option)
    return _chosen(answer, item, values[place + step if 0 <= place + step < len(values) else place - step])


def _ordered(item: Item) -> Sequence[int | str]:
    values = [option.value for option in item.options]
    return sorted(values, key=lambda value: (isinstance(value, str), value)) if item.kind == "scale" else values
