"""How many calls a second a run makes, as its page says while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.ledger.entries import Usage
from enquete.ledger.ledger import Ledger
from enquete.state.interview_context import Completion
from enquete.study import run
from tests.support.ledgers import call, prompt, with_ledger


def test_calls_a_second_are_those_of_late_and_fall_while_nothing_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(ledger: Ledger) -> None:
        assert run.calls_per_s(ledger.read, 0.0) is None
        for n in range(6):
            await ledger.reserve(call(f"agent:{n}"), prompt(), "m", 500)
            if n < 5:
                await ledger.settle(call(f"agent:{n}"), Completion("."), Usage(1, 1))
        times = [at / 1000 for (at,) in ledger.read("SELECT settled_at FROM calls WHERE status='settled' ORDER BY id")]
        assert run.calls_per_s(ledger.read, min(times) + 1.9) is None  # too early to say
        assert run.calls_per_s(ledger.read, min(times) + 8) == pytest.approx(4 / 8)
        monkeypatch.setattr(run, "LATEST_CALLS", 3)
        assert run.calls_per_s(ledger.read, times[2] + 8) == pytest.approx(2 / 8)

    with_ledger(tmp_path, work)
