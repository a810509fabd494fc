"""What a stopped run says to whoever goes on with it (an interrupt of LangGraph), and what it can be told in return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from enquete.checkpoints.forms import open_forms
from enquete.checkpoints.ledger import Ledger
from enquete.nodes.run_session import using
from enquete.respondents.person import as_shown, require_readable, submit
from enquete.state.asking import Block, Participant
from enquete.state.complaints import complaints
from enquete.state.errors import InputError, SettingsError

MOST_SHOWN = 10
"""Forms in an interrupt, which is kept with the checkpoint: a panel of people waits with hundreds."""

AWAITING_SIMULATION = "awaiting_simulation"
"""Goes on with any value, once the simulation has completed."""
GO_ON = "resume with true to look again"
LARGER_CAP = 'resume with {"budget_tokens": N}, N being the cap for the whole run, what is spent included'
ANSWERS = (
    'resume with {"answers": {NAME: {ITEM: ANSWER}}}, as waiting_for asks, of one or of several; an item that is left out counts '
    "as refused. Or answer on the run's page, and resume with true"
)


class Resumption(BaseModel):
    """A resume's value: `true` is one without fields."""

    model_config = ConfigDict(extra="forbid")

    budget_tokens: Annotated[int | None, Field(gt=0, le=10**12)] = None
    answers: dict[str, dict[str, JsonValue]] = {}


def resumption(value: object, how: str) -> Resumption:
    """`how`: what the stop says would do. Raises SettingsError, which says it again, for anything else."""
    if value is True:
        return Resumption()
    if not isinstance(value, Mapping):
        raise SettingsError(f"resume value: {value!r} cannot be read; {how}")
    try:
        return Resumption.model_validate(dict(value))
    except ValidationError as error:
        raise SettingsError(f"resume value: {complaints(error)}; {how}") from None


async def require_acceptable(run: str, value: object, stop: Mapping[str, JsonValue]) -> None:
    """`stop`: what the interrupt of this run said. Raises SettingsError, InputError, saying what would do."""
    if value is True or stop["reason"] == AWAITING_SIMULATION:
        return
    said = resumption(value, str(stop["how"]))
    async with using(run) as run_session:
        meant(run_session.ledger, run_session.population, said.answers)


def waiting_for(ledger: Ledger, population: Sequence[Participant]) -> dict[str, JsonValue]:
    """The forms that wait for people: whose they are, what is asked and shown, how many there are in all; {} where none does."""
    blocks = [form.block for form in open_forms(ledger)]
    names = {who.id: who.name for who in population}
    shown: list[JsonValue] = [
        {"participant": block.key.participant, "name": names[block.key.participant], **as_shown(block)}
        for block in blocks[:MOST_SHOWN]
    ]
    return {"waiting_for": shown, "n_waiting": len(blocks)} if blocks else {}


Answers = Mapping[str, Mapping[str, JsonValue]]
"""Name or id of a participant → item → answer."""


async def submit_answers(ledger: Ledger, population: Sequence[Participant], answers: Answers) -> None:
    """All of them or none. Raises InputError, saying what would do."""
    for block, given in meant(ledger, population, answers):
        await submit(ledger, block, given)


def meant(
    ledger: Ledger, population: Sequence[Participant], answers: Answers
) -> list[tuple[Block, Mapping[str, JsonValue]]]:
    """The forms that these answers fill in. Raises InputError where nobody waits with one, or an answer is none to its item."""
    names = {who.id: who.name for who in population}
    blocks = [form.block for form in open_forms(ledger)]
    found = [(_asked(who, given, blocks, names), given) for who, given in answers.items()]
    for block, given in found:
        require_readable(block, given)
    return found


def _asked(who: str, given: Mapping[str, JsonValue], blocks: Sequence[Block], names: Mapping[str, str]) -> Block:
    """Their oldest form that has these items."""
    theirs = [block for block in blocks if who in (block.key.participant, names[block.key.participant])]
    if not theirs:
        waited = ", ".join(dict.fromkeys(names[block.key.participant] for block in blocks))
        raise InputError(f"answers: nothing is asked of {who!r}; waited for: {waited or 'nobody'}")
    for block in theirs:
        if given.keys() <= {item.id for item in block.items}:
            return block
    asked = ", ".join(item.id for item in theirs[0].items)
    unknown = ", ".join(name for name in given if name not in asked.split(", "))
    raise InputError(f"answers: {who} is not asked for {unknown}; items are {asked}")
