"""Persons: a block becomes a form that waits, and is answered once it is submitted. Nothing is paid for and nothing is
assumed.

Measured by: a form is filed once however often it is asked for, and what is entered comes back as it was typed, or is
refused with what would do before it is filed.

Forms: blocks that wait for a person. A draft is saved on every change; submitting closes the form once and for all.

The answers of a submitted form are committed by the context like any other; the form keeps what was shown.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from enquete.ledger import queries
from enquete.ledger.checksums import checksum_of, seal
from enquete.ledger.connection import WriteConnection, explained
from enquete.ledger.ledger import Ledger, now
from enquete.respondents.questions import is_nothing_said, read_answer
from enquete.state.asking import Answer, Block, BlockKey, CallKey, Item, Participant, Reply
from enquete.state.errors import InputError, SettingsError
from enquete.state.interview_context import Completion, Metered, Prompt

if TYPE_CHECKING:
    from enquete.state.methodology import Port


@dataclass(frozen=True)
class Form:
    """A form as it stands. `draft`: item id → what was entered."""

    state: Literal["open", "submitted", "withdrawn"]
    block: Block
    draft: dict[str, JsonValue]
    opened_at: str
    changed_at: str


async def file_form(ledger: Ledger, block: Block) -> None:
    """Open a form for this block; filing it again changes nothing."""
    opened = now()
    row = seal((*block.key[1:], "open", block.model_dump_json(), "{}", opened, opened))
    await ledger.write(lambda connection: connection.execute(queries.FILE_FORM, row))


async def save_draft(ledger: Ledger, key: BlockKey, draft: dict[str, JsonValue]) -> bool:
    """Replace the draft; False where there is no open form (never filed, submitted, withdrawn)."""
    return await _change(ledger, key, queries.SAVE_DRAFT, json.dumps(draft, ensure_ascii=False))


async def close_form(ledger: Ledger, key: BlockKey, state: Literal["submitted", "withdrawn"]) -> bool:
    """Submit or withdraw an open form; False where there is none."""
    return await _change(ledger, key, queries.CLOSE_FORM, state)


async def _change(ledger: Ledger, key: BlockKey, sql: str, value: str) -> bool:
    values = (value, now(), *key[1:])

    def change(connection: WriteConnection) -> bool:
        if connection.execute(sql, values).rowcount != 1:
            return False
        number, *form = connection.execute(queries.WHOLE_FORM, key[1:]).fetchone()
        connection.execute(queries.SEAL_FORM, (checksum_of(tuple(form)), number))
        return True

    return await ledger.write(change)


def form(ledger: Ledger, key: BlockKey) -> Form | None:
    """The form of this block, or None."""
    return next(iter(_forms(ledger, queries.FORM_OF, key[1:])), None)


def open_forms(ledger: Ledger) -> list[Form]:
    """Everything that waits for a person, oldest first."""
    return _forms(ledger, queries.FORMS_IN, ("open",))


def last_submitted(ledger: Ledger) -> dict[str, dict[str, JsonValue]]:
    """What each person of whom nothing is asked now entered in the last form that they submitted, by participant."""
    asked = {form.block.key.participant for form in open_forms(ledger)}
    entered = {form.block.key.participant: form.draft for form in _forms(ledger, queries.FORMS_IN, ("submitted",))}
    return {who: draft for who, draft in entered.items() if who not in asked}


def answered_items(ledger: Ledger) -> dict[str, set[str]]:
    """Return the items of all forms that were submitted, by participant."""
    items: dict[str, set[str]] = {}
    for form in _forms(ledger, queries.FORMS_IN, ("submitted",)):
        items.setdefault(form.block.key.participant, set()).update(item.id for item in form.block.items)
    return items


def _forms(ledger: Ledger, sql: str, values: Sequence[object]) -> list[Form]:
    """Raises LedgerError where one is not readable."""
    with explained(ledger.path):
        rows = ledger.read(sql, values).fetchall()
        return [Form(r[0], Block.model_validate_json(r[1]), json.loads(r[2]), r[3], r[4]) for r in rows]


def persons(ledger: Ledger) -> list[str]:
    """Everybody who has been given a form, answered or not, the first one first."""
    return [who for (who,) in ledger.read(queries.PERSONS)]


@dataclass(frozen=True)
class HumanRespondent:
    """Of one run's ledger."""

    ledger: Ledger

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """Waiting, until somebody has submitted the form; an item left empty or withdrawn is refused."""
        filed = form(self.ledger, block.key)
        if filed is None or filed.state == "open":
            await file_form(self.ledger, block)
            return Reply("waiting")
        entered = filed.draft if filed.state == "submitted" else {}
        return Reply("done", tuple(read_answer(i, entered.get(i.id)) or Answer(i.id, "refused") for i in block.items))


def as_shown(block: Block) -> dict[str, JsonValue]:
    """What a person is asked and shown, as JSON."""
    return {
        "round": block.key.round,
        "instruction": block.instruction,
        "shown": [{"heading": heading, "text": text} for heading, text in block.quoted],
        "items": [
            {
                "item": item.id,
                "question": item.wording,
                "kind": item.kind,
                **({"options": {str(option.value): option.label for option in item.options}} if item.options else {}),
            }
            for item in block.items
        ],
    }


def require_readable(block: Block, given: Mapping[str, JsonValue]) -> None:
    """Raises InputError, saying what would do, where something was said that is no answer to its item."""
    for item in block.items:
        entered = given.get(item.id)
        is_left_out = entered == "" or is_nothing_said(item, entered)
        if not is_left_out and read_answer(item, entered) is None:
            raise InputError(f"{item.id}: {entered!r} is no answer; it takes {_taken(item)}")


def require_some_answer(block: Block, given: Mapping[str, JsonValue], refusal: str) -> None:
    """Raises InputError where nothing at all was entered: an empty form is no refusal that anybody gave.

    refusal: what says that everything is refused.
    """
    if all(entered in (None, "", [], {}) or str(entered).isspace() for entered in given.values()):
        items = ", ".join(item.id for item in block.items)
        raise InputError(f"the form is empty; answer at least one of {items}, or refuse them all with {refusal}")


def _taken(item: Item) -> str:
    options = ", ".join(f"{option.value} ({option.label})" for option in item.options)
    bounded = item.minimum is not None and item.maximum is not None
    span = f" from {item.minimum:g} to {item.maximum:g}" if bounded else ""
    form = ", with digits alone and a point before decimals, such as 1500 or 1.5" if item.kind == "number" else ""
    return f"{item.kind}{span}{form}{': ' + options if options else ''}"


def persons_named(people: str) -> frozenset[str]:
    """Names or ids, as a setting has them: 'Ada; Ben'."""
    return frozenset(name.strip() for name in people.split(";") if name.strip())


MAX_NAMES_LISTED = 20


def require_asked(people: str, asked: Sequence[Participant], *, why: str = "is not among those who are asked") -> None:
    """Refuse a setting `people` that names somebody who is not asked: a model would answer in their place.

    Args:
        people: the setting, names or ids.
        asked: who has a seat.
        why: what is wrong with who is not among them.

    Raises:
        SettingsError: with who is not asked, and who is.
    """
    known = {name for who in asked for name in (who.id, who.name)}
    missing = sorted(persons_named(people) - known)
    if not missing:
        return
    names = [who.name for who in asked]
    close = difflib.get_close_matches(missing[0][:100], names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    more = f" and {len(names) - MAX_NAMES_LISTED} more" if len(names) > MAX_NAMES_LISTED else ""
    listed = ", ".join(names[:MAX_NAMES_LISTED]) + more
    raise SettingsError(f"people: {missing[0]!r} {why}{hint}; a seat may be taken of {listed or 'nobody'}")


async def hand_in(port: Port, sim: str | Path, token: str, answer: str, *, out: str) -> None:
    """A person's answer to what their run waits with, unless it is in already: a call that is made again was cut short
    by a kill. Raises InputError where nothing waits for an answer."""
    submitted = port.look(out, token.partition(".")[0]).submitted
    if not any(answer in given.values() for given in submitted.values()):
        await port.submit(sim, token, answer, out=out)


async def submit(ledger: Ledger, block: Block, given: Mapping[str, JsonValue]) -> None:
    """Fill in and close the block's form. What is left out counts as refused."""
    await save_draft(ledger, block.key, dict(given))
    await close_form(ledger, block.key, "submitted")


class Unpaid:
    """In place of the model in a rehearsal, where a person's answers are made up: no calls, no cost."""

    async def request(
        self,
        key: CallKey,
        compose: Callable[[], Prompt],
        offline: Callable[[], str] | None = None,
        *,
        has_standby: bool = False,
    ) -> Completion:
        if offline is None:
            raise ValueError(f"{key.subject}: nobody to ask in a rehearsal")
        return Completion(offline())


UNPAID = Unpaid()
