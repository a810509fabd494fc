"""Persons at a run that waits: every form is filled in as its kind asks, until the run waits for nobody any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from enquete import Run
from enquete.ledger.folders import LEDGER
from enquete.ledger.ledger import Ledger
from enquete.respondents.person import close_form, open_forms, save_draft
from enquete.state.asking import Item
from tests.support.bare_runs import resume


def answered(run: Run, *, by: Callable[..., Run] = resume, **request: Any) -> Run:
    """The run once all persons have answered whatever they were asked. by: what goes on with it; request: where it
    is."""
    while run.status == "waiting":
        asyncio.run(_fill_in(run.folder))
        run = by(run.folder.name, **request)
    return run


async def _fill_in(folder: Path) -> None:
    ledger = Ledger(folder / LEDGER)
    try:
        forms = open_forms(ledger)
        assert forms, "the run waits, and for nobody"
        for form in forms:
            await save_draft(ledger, form.block.key, {item.id: _entry(item) for item in form.block.items})
            await close_form(ledger, form.block.key, "submitted")
    finally:
        await ledger.close()


def _entry(item: Item) -> Any:
    values = [option.value for option in item.options]
    if item.kind == "ranking":
        return values
    if item.kind == "best_worst":
        return {"best": values[0], "worst": values[-1]}
    if values:
        return values[0]
    return 1 if item.kind == "number" else "Ja, weil der Hafen davon lebt."
