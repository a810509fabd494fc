"""Studies whose requests go in batches: the same answers as without, at half the price, through a pause and through
kills."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.interfaces.cli.run_commands import round_title, time_text
from enquete.interfaces.cli.summary import headline
from enquete.interfaces.views import note_of
from enquete.ledger.folders import read_record
from enquete.runs.run_choice import require_as_begun
from enquete.state.errors import SettingsError
from enquete.state.request import parse_request
from enquete.study.start import choose_start
from tests.support.bare_runs import interview
from tests.support.model_server import ModelServer
from tests.support.processes import Driven, finish
from tests.support.studies import call_keys, personas, rows, run_folder, spent, stored_answers

pytestmark = pytest.mark.usefixtures("no_reports", "no_figures")

AGENTS = 6
MODEL = "gpt-4o-mini"
METHODS = ["longitudinal", "diversity"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return personas(tmp_path_factory.mktemp("people"), AGENTS)


@pytest.fixture(scope="module")
def singly(people: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The answers of a run whose requests go one by one."""
    out = tmp_path_factory.mktemp("singly")
    with ModelServer() as running:
        interview(people, out=out, **asked(running))
    return stored_answers(run_folder(out))


def asked(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "base_url": server.base_url, "methods": METHODS, "language": "en", "fit": "any", **more}


def priced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dollar a million tokens, read or written, wherever it is asked."""
    file = folder / "prices.yaml"
    file.write_text(f"models:\n  {MODEL}: {{input: 1, output: 1}}\n", "utf-8")
    monkeypatch.setenv("ENQUETE_PRICES", str(file))


def test_a_paused_and_resumed_run_in_batches_has_the_same_answers_at_half_the_price(
    server: ModelServer, people: Path, singly: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paused while its first batch stands, which holds six questionnaires (the two waves go first): that one is not
    ordered again."""
    priced(tmp_path, monkeypatch)
    events: list[dict[str, Any]] = []
    server.batches.held = True
    start = choose_start(parse_request(sim=str(people), out=str(tmp_path / "out"), **asked(server, batch=True)))

    async def until_it_stands() -> None:
        await start.begin()
        driver = start.driver(events.append)
        driving = asyncio.create_task(driver.drive(start.folder))
        for _ in range(6000):
            if server.batches.polls or driving.done():
                break
            await asyncio.sleep(0.01)
        while_driven = enquete.load_run(people, out=tmp_path / "out")
        assert note_of(while_driven, "running", None) == "batch 1 of 1: 0 of 6 done"
        assert "It waits for the model server: batch 1 of 1: 0 of 6 done" in headline(while_driven)
        driver.pause()
        await driving
        assert enquete.load_run(people, out=tmp_path / "out").status == "paused"

    asyncio.run(until_it_stands())
    folder = run_folder(tmp_path / "out")
    waits = enquete.load_run(people, out=tmp_path / "out")
    assert waits.note.endswith("at the provider: batch 1 of 1: 0 of 6 done")
    assert (len(call_keys(folder, "reserved")), spent(folder), server.count()) == (6, 0, 0)
    assert [(round_title(event), event["done"], event["total"]) for event in events if "batches" in event][:1] == [
        ("batch 1 of 1", 0, 6)
    ]

    enquete.export(people, out=tmp_path / "out")  # opens the run, and leaves what stands alone
    server.batches.held = False
    run = enquete.resume(read_record(folder).token, out=tmp_path / "out", base_url=server.base_url)
    assert (run.status, run.waits_for) == ("completed", "")
    assert stored_answers(folder) == singly
    assert server.count() == len(call_keys(folder))
    assert run.spent_usd == pytest.approx(spent(folder) / 2e6)
    assert rows(folder, "SELECT count(*) FROM meta WHERE key LIKE 'batch/%' AND value <> ''") == [(0,)]


def test_the_estimate_says_half_the_price_and_how_long_a_batch_may_take(
    server: ModelServer, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced(tmp_path, monkeypatch)
    at_once, in_batches = (
        enquete.estimate(people, out=tmp_path, **asked(server, batch=batch, fit="any")) for batch in (False, True)
    )
    assert at_once.usd is not None
    assert in_batches.usd is not None
    assert in_batches.usd.likely == pytest.approx(at_once.usd.likely / 2)
    assert time_text(in_batches).startswith("Time: in batches of up to 24 hours, at half the price; about 2 of them")
    assert (at_once.batches, in_batches.seconds.high) == (0, 2 * 24 * 3600)


def test_batches_need_a_server_and_a_run_keeps_to_them(server: ModelServer, people: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="batch: no model answers, so there is no Batch API"):
        enquete.conduct_interviews(people, out=tmp_path, respondent="synthetic", batch=True)
    batch, singly = (
        choose_start(parse_request(sim=str(people), out=str(tmp_path), **asked(server, batch=batch))).to_begin
        for batch in (True, False)
    )
    assert batch is not None
    assert singly is not None
    assert (batch.record.batch, singly.record.batch) == (True, False)
    assert batch.record.fingerprint == singly.record.fingerprint
    with pytest.raises(SettingsError, match="was begun without batches, so it goes on without"):
        require_as_begun(parse_request(batch=True), singly.record)


def test_kills_at_every_step_of_an_order_buy_nothing_twice(server: ModelServer, people: Path, tmp_path: Path) -> None:
    """One study, killed while the provider is at each step. `create`: it never takes the order, which nobody can know,
    so what it asked counts as paid; `created`: it has taken it and not said so; from there on it is that one batch."""
    arguments = {
        "sim_id": str(people), "out": str(tmp_path / "out"), **asked(server, batch=True, methods=["longitudinal"]),
    }  # fmt: skip
    for step in ("upload", "create", "created", "poll", "content"):
        server.batches.stop_at(step)
        driven = Driven(arguments)
        while not server.batches.stopped.wait(0.1):
            assert not driven.is_over(), step
        assert driven.kill()
        assert server.batches.left.wait(60), f"{step}: a dead client's request was gone on with"
        server.batches.go_on()
    code, summary = finish(**arguments)
    folder = run_folder(tmp_path / "out")
    assert (code, summary["status"]) == (0, "completed")
    assert (server.count(), server.repeated()) == (len(call_keys(folder)), {})
    assert next(job.shown["request_counts"]["total"] for job in server.batches.jobs.values()) == AGENTS
    assert rows(folder, "SELECT count(*) FROM calls WHERE allowance > 0 AND methodology != 'synthesis'") == [(AGENTS,)]
