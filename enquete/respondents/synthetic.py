"""The synthetic respondent: answers from the planted truth of each methodology, without a model.

Deterministic: keyed by seed, methodology, item and persona, so concurrency and order do not matter. It goes through the
same prompt, ledger, budget and reader as a model would, so that what holds for it holds for a paid run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue

from enquete.instruments.instrument import Instrument
from enquete.instruments.pack import pack_on
from enquete.respondents.kinds import kind_of
from enquete.respondents.llm import interview
from enquete.respondents.neutral import nobody
from enquete.respondents.noise import SOUND, Noise, flawed, varied
from enquete.respondents.planted import Occasional, answer_at, normal, persona_hash
from enquete.respondents.questions import names_of
from enquete.respondents.stakeholders import type_of, voice
from enquete.state.asking import Answer, Block, Item, Language, Participant, Reply
from enquete.state.interview_context import Metered
from enquete.state.methodology import Truth


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
        flaws: Noise = SOUND,
    ):
        """`again`: seed of another asking of the same agents: a truth that has noise of its own draws it anew, the answers
        of any other vary a little (see flaws.py). `unmoved`: what they are shown as a memory is none of the simulation."""
        repeat = None if again == seed else again
        occasional = isinstance(truth, Occasional)
        self._truth = truth.again(repeat) if repeat is not None and isinstance(truth, Occasional) else truth
        self._varies = None if occasional else repeat
        self._language = language
        self._seed = seed
        self._unmoved = unmoved and not flaws.follows_any_digest
        self._flaws = flaws

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`. Never fails; short when the budget is."""
        return await interview(who, block, model, self._language, offline=lambda: self._reply(who, block))

    def _reply(self, who: Participant, block: Block) -> str:
        who = who.remembering(None) if self._unmoved else who
        answers = self._true(who, block)
        if self._varies is not None:
            answers = varied(who, block, answers, self._varies)
        if self._flaws != SOUND:
            as_nobody = self._true(nobody(who, self._language), block)
            answers = flawed(who, block, answers, as_nobody, self._flaws, self._seed)
        names = names_of(block)
        return json.dumps(
            {names[item.id]: _written(item, answers[item.id]) for item in block.items}, ensure_ascii=False
        )

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
    """The truth of a methodology that plants none: types that differ item by item, and agents that differ within a type.

    Answers in words name the topic, in the voice of the pack that knows it.
    """
    pack = pack_on(instrument.topic)

    def answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        kind, me = type_of(who, pack), persona_hash(who)

        def answer(item: Item) -> Answer:
            key = (seed, block.key.methodology, item.id)
            said = f"{instrument.topic.in_(language)}: {voice(kind, pack, language, *key, me)}"
            if item.kind == "text":
                return Answer(item.id, "ok", text=said)
            position = SHARED * normal(*key, kind) + OWN * normal(*key, me)
            return answer_at(position, item, confidence=0.5 + 0.3 * abs(position), text=said if item.reason else "")

        return [answer(item) for item in block.items]

    return answers
