"""Persons: a block becomes a form that waits, and is answered once it is submitted. Nothing is paid for and nothing is assumed.

Measured by: a form is filed once however often it is asked for, and what is entered comes back as it was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from enquete.checkpoints.forms import file_form, form
from enquete.checkpoints.ledger import Ledger
from enquete.respondents.replies import read_answer
from enquete.state.asking import Answer, Block, CallKey, Participant, Reply
from enquete.state.desk import Completion, Metered, Prompt


@dataclass(frozen=True)
class HumanRespondent:
    """Of one run's ledger."""

    ledger: Ledger

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """Waiting, until somebody has submitted the form; an item left empty or withdrawn is refused."""
        found = form(self.ledger, block.key)
        if found is None or found.state == "open":
            await file_form(self.ledger, block)
            return Reply("waiting")
        entered = found.draft if found.state == "submitted" else {}
        return Reply("done", tuple(read_answer(i, entered.get(i.id)) or Answer(i.id, "refused") for i in block.items))


class Unpaid:
    """In place of the model in a rehearsal, where a person's answers are made up: they are no calls and cost nothing."""

    async def request(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None = None
    ) -> Completion:
        if offline is None:
            raise ValueError(f"{key.subject}: nobody to ask in a rehearsal")
        return Completion(offline())


UNPAID = Unpaid()
