"""The synthetic respondent: answers from the planted truth of each methodology, without a model.

Deterministic: keyed by seed, methodology, item and persona, so concurrency and order do not matter. It goes through the
same prompt, ledger, budget and reader as a model would, so that what holds for it holds for a paid run.
"""

from __future__ import annotations

import json

from pydantic import JsonValue

from enquete.respondents.llm import interview
from enquete.state.seam import Answer, Block, Item, Language, Metered, Participant, Reply, Truth


class SyntheticRespondent:
    """Answers by a planted truth."""

    def __init__(self, truth: Truth, language: Language, seed: int):
        self._truth = truth
        self._language = language
        self._seed = seed

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`. Never fails; short when the budget is."""
        return await interview(who, block, model, self._language, offline=lambda: self._reply(who, block))

    def _reply(self, who: Participant, block: Block) -> str:
        answers = {answer.item: answer for answer in self._truth(who, block, self._language, self._seed)}
        return json.dumps({item.id: _members(item, answers[item.id]) for item in block.items}, ensure_ascii=False)


def _members(item: Item, answer: Answer) -> dict[str, JsonValue]:
    """An answer in the form that a model would give it."""
    if item.kind == "text":
        return {"text": answer.text}
    members: dict[str, JsonValue] = {"value": answer.data if item.kind == "choice" else answer.value}
    if item.confidence:
        members["confidence"] = answer.confidence
    if item.reason:
        members["reason"] = answer.text
    return members
