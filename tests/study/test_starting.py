"""The same request several times at once, in one loop and in several processes: one run, driven once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import enquete
from enquete.ledger.drives import START_LOCK, alone
from enquete.state.errors import Busy, RunMismatch
from tests.support.model_server import ModelServer
from tests.support.processes import Forked
from tests.support.studies import call_keys, personas, run_folder

pytestmark = pytest.mark.usefixtures("no_reports")

ASKED = {"respondent": "synthetic", "methods": ["scenario"], "language": "en", "fit": "any"}


def test_equal_requests_in_one_loop_are_one_run_that_all_wait_for(tmp_path: Path) -> None:
    sim, out = personas(tmp_path, 2), tmp_path / "out"

    async def at_once(base_url: str) -> list[enquete.Run]:
        asked = {**ASKED, "respondent": "llm", "model": "test", "base_url": base_url, "out": str(out)}
        return await asyncio.gather(*(enquete.aconduct_interviews(sim, **asked) for _ in range(3)))

    with ModelServer() as server:
        runs = asyncio.run(at_once(server.base_url))
    assert {(run.folder, run.status) for run in runs} == {(run_folder(out), "completed")}
    assert [run.resumed or run.shown for run in runs].count(False) == 1
    assert len(server.requests) == len(call_keys(run_folder(out)))


def test_a_request_that_differs_from_one_begun_at_the_same_time_is_refused_as_ever(tmp_path: Path) -> None:
    sim, out = personas(tmp_path, 3), tmp_path / "out"

    async def at_once() -> list[enquete.Run | BaseException]:
        asked = (enquete.aconduct_interviews(sim, out=str(out), seed=seed, **ASKED) for seed in (1, 2))
        return await asyncio.gather(*asked, return_exceptions=True)

    outcomes = asyncio.run(at_once())
    assert {type(outcome) for outcome in outcomes} == {enquete.Run, RunMismatch}
    assert run_folder(out)


def test_three_commands_at_once_are_one_run_and_who_does_not_drive_it_is_told_which(tmp_path: Path) -> None:
    sim, out = personas(tmp_path, 2), tmp_path / "out"
    words = [
        "run", sim, "--out", out, "--respondent", "synthetic", "--methods", "scenario", "--language", "en", "--yes",
    ]  # fmt: skip
    ended = [process.ended() for process in [Forked([*words, "--json"]) for _ in range(3)]]
    run_id = run_folder(out).name
    for code, output, _ in ended:
        told = json.loads(output)
        if code == 0:
            assert told["run_id"] == run_id
        else:
            assert (code, told["error"]["type"]) == (1, "RunLocked")
            assert run_id in told["error"]["message"]
            assert "enquete status" in told["error"]["message"]
    assert 0 in [code for code, *_ in ended]


def test_who_comes_second_waits_without_blocking_the_loop_and_is_told_after_a_while(tmp_path: Path) -> None:
    async def twice() -> list[str]:
        events: list[str] = []

        async def hold(name: str, file: Path) -> None:
            async with alone(file):
                events.append(f"{name} begins")
                await asyncio.sleep(0.05)
                events.append(f"{name} ends")

        await asyncio.gather(hold("a", tmp_path / "out" / START_LOCK), hold("b", tmp_path / "out" / START_LOCK))
        async with alone(tmp_path / "out" / START_LOCK), alone(tmp_path / "other" / START_LOCK):
            with pytest.raises(Busy, match="out: another request has been beginning something"):
                async with alone(tmp_path / "out" / START_LOCK, longest_s=0.05):
                    pass
        return events

    lines = asyncio.run(twice())
    assert [line[2:] for line in lines] == ["begins", "ends"] * 2
