"""Forms that wait for a person: filed once, drafted often, closed for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.respondents.person import close_form, file_form, form, open_forms, save_draft
from enquete.state.asking import Block, Item
from enquete.state.errors import LedgerError
from tests.support.ledgers import block_key, opened

pytestmark = pytest.mark.anyio

BLOCK = Block(key=block_key(), instruction="Bitte ausfüllen.", items=(Item(id="x", kind="text", wording="Warum?"),))


async def test_a_form_is_filed_once_drafted_and_submitted_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        assert form(ledger, BLOCK.key) is None
        await file_form(ledger, BLOCK)
        await save_draft(ledger, BLOCK.key, {"x": "Weil"})
        await file_form(ledger, BLOCK)  # asking again, after a restart, loses no draft
        saved = form(ledger, BLOCK.key)
        assert saved is not None
        assert (saved.state, saved.draft, saved.block) == ("open", {"x": "Weil"}, BLOCK)
        assert [each.block.key for each in open_forms(ledger)] == [BLOCK.key]
        assert await close_form(ledger, BLOCK.key, "submitted")
        assert not await close_form(ledger, BLOCK.key, "withdrawn")
        assert not await save_draft(ledger, BLOCK.key, {"x": "zu spät"})
        closed = form(ledger, BLOCK.key)
        assert closed is not None
        assert (closed.state, closed.draft) == ("submitted", {"x": "Weil"})
        assert open_forms(ledger) == []


@pytest.mark.parametrize("column", ["block", "draft"])
async def test_one_that_is_no_json_is_damage(tmp_path: Path, column: str) -> None:
    async with opened(tmp_path) as ledger:
        await file_form(ledger, BLOCK)
        await ledger.write(lambda connection: connection.execute(f"UPDATE forms SET {column}='{{'"))
        for act in (lambda: form(ledger, BLOCK.key), lambda: open_forms(ledger)):
            with pytest.raises(LedgerError, match="doctor --repair"):
                act()


async def test_a_form_that_was_never_filed_cannot_be_drafted_or_closed(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        assert not await save_draft(ledger, BLOCK.key, {})
        assert not await close_form(ledger, BLOCK.key, "submitted")
