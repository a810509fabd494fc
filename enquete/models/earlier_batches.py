"""Calls that an earlier session of a run ordered in a batch: settled as their replies come, whether or not anybody asks for them yet."""

from __future__ import annotations

import json
from collections.abc import Callable

from enquete.checkpoints.batch_jobs import InFlight
from enquete.checkpoints.budget import Budget
from enquete.checkpoints.ledger import Ledger
from enquete.models.batch_replies import Came, read
from enquete.models.dialect import Form, Rung
from enquete.models.faults import Refused, Tally, Trouble
from enquete.models.metered import Hold, Terms, usage_of
from enquete.state.asking import CallKey
from enquete.state.errors import ModelError
from enquete.state.interview_context import Completion, Prompt

FORM = Form(Rung.JSON_SCHEMA, frozenset())


class EarlierBatches:
    """What they hold of the budget, and how they are settled."""

    def __init__(self, ledger: Ledger, budget: Budget, terms: Callable[[CallKey, str], Terms], key: str):
        """`terms`: on which a model is used for a call. `key`: the server's, to be masked."""
        self._ledger = ledger
        self._budget = budget
        self._terms = terms
        self._key = key
        self._holds: dict[int, Hold] = {}

    def take(self, call: InFlight, longest: int) -> None:
        """`longest`: tokens of the longest reply."""
        terms, read_ = self._terms(call.key, call.model), call.tokens - longest
        hold = Hold(self._budget, read_, call.tokens, terms.cost(read_, longest), terms.claim, None)
        hold.take()
        self._holds[call.id] = hold

    async def settle(self, call: InFlight, longest: int, came: Came) -> None:
        """A reply is filed as it would have been; whatever else came leaves the call to be asked again."""
        hold, tally = self._holds.pop(call.id), Tally()
        prompt = Prompt(call.system, tuple(json.loads(call.messages)), "", longest)
        completion = None
        try:
            response = read(came, prompt, call.model, FORM, tally, self._key)
            completion, usage = Completion(response.text, response.finish), usage_of(response, prompt, hold)
            await self._ledger.settle(call.key, completion, usage)
        except (Refused, Trouble, ModelError) as error:
            usage = hold.lost(tally.broken, tally.sends)
            await self._ledger.fail(call.key, str(error), usage)
        await hold.settle(usage, self._terms(call.key, call.model), answered=completion is not None)
