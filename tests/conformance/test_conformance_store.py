"""Methodologies over PostgreSQL as over a file: the same answers and calls for the same seed, stopped by its budget and
gone on with; two of them all the way, from the question before the simulation to deleting it.

The ledger does not know a methodology, so three that between them send it all that it takes do: rounds with pinned
themes and feedback, stored turns with an interviewer's calls, groups whose members wait for one another."""

from __future__ import annotations

import csv
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

import enquete
from enquete import Arm, Run
from enquete.interfaces.web.answers import Key, requests_behind
from enquete.interfaces.web.run_pages import people, person
from enquete.ledger.folders import LEDGER
from enquete.ledger.queries import text_of
from enquete.reports.run_reading import open_run
from enquete.study.runs import delete
from tests.conformance.test_conformance import interview
from tests.support import bare_runs
from tests.support.postgres import PASSWORD, Server
from tests.support.studies import call_keys, personas, rows, spent, stored_answers

AGENTS = 2


def prompts(folder: Path) -> list[tuple[Any, ...]]:
    """Every request as it was sent, by its key."""
    sent = f"""
    SELECT methodology, phase, arm, purpose, subject, attempt, {text_of("system_hash")}, {text_of("messages_hash")}
    FROM calls WHERE status = 'settled'
    """
    return sorted(rows(folder, sent))


def test_a_driver_that_was_stopped_goes_on_with_the_same_prompts_in_both_stores(
    postgres: Server, tmp_path: Path
) -> None:
    """What a prompt quotes of earlier answers stands in one order: after a stop it is read from the store again. Items
    are asked one by one, for each agent in another order, and in that order PostgreSQL reads them from the disk once
    it has looked how few they are (by itself it looks after a minute)."""
    name = "delphi"
    sim = personas(tmp_path, AGENTS)
    asked: dict[str, Any] = {"arms": [Arm(presentation="items_random")], "asking": "item"}
    whole = interview(sim, name, tmp_path / "whole", **asked)
    cut = spent(whole.folder) * 6 // 10
    gone_on = []
    for out, store in ((tmp_path / "file", ""), (tmp_path / "store", postgres.url)):
        chosen = {"store": store} if store else {}
        stopped = interview(sim, name, out, budget_tokens=cut, **asked, **chosen)
        assert stopped.status == "paused"
        if store:
            with psycopg.connect(postgres.url, autocommit=True) as connection:
                connection.execute(f'ANALYZE "{stopped.run_id}".answers')
        gone_on.append(bare_runs.resume(stopped.run_id, out=str(out), budget_tokens=50_000_000))
        assert gone_on[-1].status == "completed"
    in_file, in_store = gone_on
    assert prompts(in_store.folder) == prompts(in_file.folder) == prompts(whole.folder)
    assert stored_answers(in_store.folder) == stored_answers(in_file.folder) == stored_answers(whole.folder)


@pytest.mark.parametrize("name", ["delphi", "laddering", "roundtable"])
def test_the_store_changes_nothing_but_where_answers_are(name: str, postgres: Server, tmp_path: Path) -> None:
    sim = personas(tmp_path, AGENTS)
    in_file = interview(sim, name, tmp_path / "file")
    cut = spent(in_file.folder) // 2
    short = interview(sim, name, tmp_path / "store", store=postgres.url, budget_tokens=cut)
    assert (short.status, spent(short.folder) <= cut) == ("paused", True)
    assert not (short.folder / LEDGER).exists()
    going_on = bare_runs.resume(short.run_id, out=str(tmp_path / "store"), budget_tokens=50_000_000)
    assert (going_on.run_id, going_on.status) == (short.run_id, "completed")
    assert stored_answers(going_on.folder) == stored_answers(in_file.folder)
    assert sorted(call_keys(going_on.folder)) == sorted(call_keys(in_file.folder))
    assert spent(going_on.folder) == spent(in_file.folder)


def schemas(postgres: Server) -> set[str]:
    with closing(psycopg.connect(postgres.url)) as connection:
        return {name for (name,) in connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'run%'")}


def exported(run: Run) -> list[dict[str, str]]:
    """Answers as exported, without the run's name and the time, in the order of the file."""
    with (run.path / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: value for name, value in row.items() if name != "asked_at"} for row in csv.DictReader(file)]
    return [{name: value.replace(run.run_id, "run") for name, value in row.items()} for row in rows]


def shown(run: Run) -> list[Any]:
    """What pages show of a run's ledger: its people, an answer and the requests behind it, every request."""
    participant = people(run.folder)[0].id
    key = Key(run.run_id, "main", "longitudinal", "T1", "", 0, 0, participant, "climate_threat")
    behind = requests_behind(run.folder, key)
    assert behind.stored is not None
    assert behind.answering
    with open_run(run.folder) as reading:
        calls = list(reading.calls("longitudinal", "T1"))
        spent = reading.spent().to_dict("records")
    for call in (behind.stored, *behind.answering, *calls):
        for name in ("asked_at", "reserved_at", "settled_at"):
            if name in call:
                assert datetime.fromisoformat(str(call[name])).tzinfo is not None
    untimed = [
        {k: v for k, v in call.items() if not k.endswith("_at") and k != "latency_ms"}
        for call in (*behind.answering, *calls)
    ]
    return [people(run.folder), person(run.folder, participant), untimed, spent]


@pytest.mark.usefixtures("no_pictures")
def test_a_whole_study_in_a_store(postgres: Server, tmp_path: Path) -> None:
    """Its report and files, listed, asked anew in part, replayed and deleted; the password stands nowhere. What is
    written of a store is compared once."""
    sim, out = personas(tmp_path, AGENTS), tmp_path / "out"
    common: dict[str, Any] = {"out": str(out), "confirm": True, "respondent": "synthetic"}
    methods = ["poll", "longitudinal"]
    there = schemas(postgres)
    run = enquete.conduct_interviews(sim, methods=methods, store=postgres.url, **common)
    in_file = enquete.conduct_interviews(sim, methods=methods, **(common | {"out": str(tmp_path / "file")}))
    assert run.status == in_file.status == "completed"
    assert exported(run) == exported(in_file)
    assert schemas(postgres) - there == {run.run_id}
    assert shown(run) == shown(in_file)
    assert [record.run_id for record in enquete.list_runs(sim, out=str(out))] == [run.run_id]
    again = bare_runs.interview(sim, methods=["poll"], rerun=True, store=postgres.url, **common)
    assert again.record.carried == {"longitudinal": run.run_id}
    assert stored_answers(again.folder) == stored_answers(in_file.folder)
    replayed = bare_runs.interview(sim, replay_of=run.run_id, **(common | {"respondent": "replay"}))
    assert not (replayed.folder / "store").exists()  # of another run's, in a file
    assert stored_answers(replayed.folder) == stored_answers(run.folder)
    for file in (file for file in tmp_path.rglob("*") if file.is_file()):
        assert PASSWORD.encode() not in file.read_bytes(), file
    deletion = delete(sim, out=str(out))
    assert set(deletion.runs) == {run.run_id, again.run_id, replayed.run_id}
    assert schemas(postgres) == there
    assert not [*out.glob("*/runs")]
