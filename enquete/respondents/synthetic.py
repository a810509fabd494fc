"""The synthetic respondent: answers from the planted truth of each methodology, without a model.

Deterministic: keyed by seed, methodology, item and persona, so concurrency and order do not matter. It goes through the
same prompt, ledger, budget and reader as a model would, so that what holds for it holds for a paid run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from enquete.instruments.instrument import Instrument
from enquete.instruments.pack import pack_on
from enquete.respondents.ground_truth import Key, Occasional, answer_at, normal, persona_hash, type_of, uniform, voice
from enquete.respondents.kinds import kind_of
from enquete.respondents.llm import interview
from enquete.respondents.neutral import nobody
from enquete.respondents.questions import names_of
from enquete.state.asking import Answer, Block, Item, Language, Participant, Reply
from enquete.state.interview_context import Metered
from enquete.state.methodology import Truth

# --- What the synthetic respondent does beside answering by its planted truth: it varies a little when asked again, and
# it can be given faults, so that the probes can be shown to find them.
#
# Every draw comes from SHA-256 over a seed, the occasion, the item and the persona, like the truth itself.

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
    swapped, touched = dict(answers), set[str]()
    for place, low in enumerate(order):
        if uniform(*key, low.item) >= VARIES / 2 or low.item in touched:  # a swap moves two
            continue
        above = (a for a in order[place + 1 :] if a.item not in touched and (a.value or 0.0) > (low.value or 0.0))
        high = next(above, None)
        if high is not None:
            swapped[low.item], swapped[high.item] = replace(low, value=high.value), replace(high, value=low.value)
            touched |= {low.item, high.item}
    return swapped


def flawed(
    who: Participant, block: Block, answers: Answers, as_nobody: Mapping[str, Answer], noise: Noise, seed: int
) -> Answers:
    """`answers` with the faults; `as_nobody`: what nobody in particular would answer."""
    if noise == SOUND or block.constraint is not None:
        return answers
    changed, before = dict(answers), None

    def has(share: float, name: Literal["first", "blind", "frame", "neighbour"], item: Item) -> bool:
        return uniform(seed, "flaw", name, block.key.methodology, item.id, persona_hash(who)) < share

    for item in block.in_shown_order():
        if item.kind not in ("scale", "choice"):
            continue
        if has(noise.persona_blind, "blind", item):
            changed[item.id] = as_nobody[item.id]
        if block.frame == "paraphrased" and has(noise.frame, "frame", item):
            changed[item.id] = _moved(changed[item.id], item, 1)
        if before is not None and has(noise.neighbour, "neighbour", item):
            changed[item.id] = _chosen(changed[item.id], item, before)
        if has(noise.first_option, "first", item):
            changed[item.id] = _chosen(changed[item.id], item, item.options_in_shown_order()[0].value)
        before = _option(changed[item.id], item)
    return changed


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


class SyntheticRespondent:
    """Answers by a planted truth."""

    def __init__(
        self,
        truth: Truth,
        language: Language,
        seed: int,
        *,
        again: int | None = None,
        unmoved: bool = False,
        noise: Noise = SOUND,
    ):
        """`again`: seed of another asking of the same agents: a truth that has noise of its own draws it anew, the
        answers of any other vary a little (see `flawed`). `unmoved`: what they are shown as a memory is none of the
        simulation."""
        repeat = None if again == seed else again
        occasional = isinstance(truth, Occasional)
        self._truth = truth.again(repeat) if repeat is not None and isinstance(truth, Occasional) else truth
        self._varies = None if occasional else repeat
        self._language = language
        self._seed = seed
        self._unmoved = unmoved and not noise.follows_any_digest
        self._noise = noise

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`. Never fails; short when the budget is."""
        return await interview(who, block, model, self._language, offline=lambda: self._reply(who, block))

    def _reply(self, who: Participant, block: Block) -> str:
        who = who.remembering(None) if self._unmoved else who
        answers = self._true(who, block)
        if self._varies is not None:
            answers = varied(who, block, answers, self._varies)
        if self._noise != SOUND:
            as_nobody = self._true(nobody(who, self._language), block)
            answers = flawed(who, block, answers, as_nobody, self._noise, self._seed)
        names = names_of(block)
        reply = {names[item.id]: _written(item, answers[item.id]) for item in block.items}
        return json.dumps(reply, ensure_ascii=False)

    def _true(self, who: Participant, block: Block) -> dict[str, Answer]:
        return {answer.item: answer for answer in self._truth(who, block, self._language, self._seed)}


def _written(item: Item, answer: Answer) -> dict[str, JsonValue]:
    """An answer in the form in which a model would give it."""
    members = kind_of(item).written(item, answer)
    members |= {"confidence": answer.confidence} if item.confidence else {}
    return members | ({"reason": answer.text} if item.reason else {})


SHARED, OWN = 0.5, 0.3
"""SD of what agents of a stakeholder type share in an item, and of what an agent adds of its own."""


def plausible(instrument: Instrument) -> Truth:
    """The truth of a methodology that plants none: types that differ item by item, and agents that differ within a
    type.

    Answers in words name the topic, in the voice of the pack that knows it.
    """
    pack = pack_on(instrument.topic)

    def answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        kind, me = type_of(who, pack), persona_hash(who)

        def answer(item: Item) -> Answer:
            key = (seed, block.key.methodology, item.id)
            words = f"{instrument.topic.in_(language)}: {voice(kind, pack, language, *key, me)}"
            if item.kind == "text":
                return Answer(item.id, "ok", text=words)
            position = SHARED * normal(*key, kind) + OWN * normal(*key, me)
            return answer_at(position, item, confidence=0.5 + 0.3 * abs(position), text=words if item.reason else "")

        return [answer(item) for item in block.items]

    return answers
