"""What every methodology must do, whatever it asks. Parametrised over the registry: a new folder is tested at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Arm, Run
from enquete.graphs.registry import methodologies
from enquete.study.comparing import compare
from tests.support.studies import call_keys, personas, rows, spent, stored_answers

NAMES = sorted(methodologies())
ENOUGH = 50_000_000
SHORT: dict[str, Any] = {"laddering": {"turns": 5}}
"""Settings that make a study short: what is tested here does not depend on them."""


def interview(tmp_path: Path, name: str, agents: int = 5, *, out: str = "out", **more: Any) -> Run:
    return enquete.conduct_interviews(
        personas(tmp_path, agents), out=str(tmp_path / out), methods=[name], confirm=True,
        **{"budget_tokens": ENOUGH, "settings": {name: SHORT[name]} if name in SHORT else {}, **more},
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["de", "en"])
def test_asks_everybody_in_both_languages(tmp_path: Path, name: str, language: str) -> None:
    run = interview(tmp_path, name, language=language)
    assert run.status == "completed"
    assert {row[5] for row in stored_answers(run.folder)} == {"ok"}
    assert len({row[3] for row in stored_answers(run.folder)}) == 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("agents", [1, 50])
def test_one_agent_and_fifty(tmp_path: Path, name: str, agents: int) -> None:
    run = interview(tmp_path, name, agents)
    assert run.status == "completed"
    assert len({row[3] for row in stored_answers(run.folder)}) == agents


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asking", ["block", "item"])
def test_calls_and_rows_lie_within_the_plan(tmp_path: Path, name: str, asking: str) -> None:
    run = interview(tmp_path, name, 6, asking=asking)
    methodology = methodologies()[name]
    used = run.record.instruments[name]
    plan = methodology.plan(
        methodology.instrument.model_validate(used.content),
        methodology.settings.model_validate(run.record.settings[name]),
        6,
        asking,
    )
    made = dict(rows(run.folder, "SELECT purpose, count(*) FROM calls GROUP BY purpose"))
    assert made.keys() == plan.calls.keys()
    for purpose, (least, most) in plan.calls.items():
        assert least <= made[purpose] <= most, purpose
    phases = [phase for phase in methodology.phases if phase in run.record.phases]
    planned = {key: value for key, value in plan.rows.items() if not key.startswith("T") or key in phases}
    least, most = (sum(bounds[i] for bounds in planned.values()) for i in (0, 1))
    assert least <= len(stored_answers(run.folder)) <= most


@pytest.mark.parametrize("name", NAMES)
def test_answers_do_not_depend_on_concurrency_shards_or_a_second_arm(tmp_path: Path, name: str) -> None:
    alone = interview(tmp_path, name, 7, out="a", concurrency=1, shard_size=1)
    crowded = interview(
        tmp_path,
        name,
        7,
        out="b",
        concurrency=64,
        shard_size=3,
        arms=[Arm(temperature=0), Arm(id="b", role="b", seed=5)],
    )
    assert stored_answers(alone.folder) == stored_answers(crowded.folder)
    assert len(stored_answers(crowded.folder, "b")) == len(stored_answers(crowded.folder))
    assert stored_answers(crowded.folder, "b") != stored_answers(crowded.folder)


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_other_answers(tmp_path: Path, name: str) -> None:
    one, other = (interview(tmp_path, name, out=str(seed), seed=seed) for seed in (1, 2))
    assert stored_answers(one.folder) != stored_answers(other.folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_run_walked_again_makes_no_call(tmp_path: Path, name: str) -> None:
    run = interview(tmp_path, name)
    before, answers = call_keys(run.folder), stored_answers(run.folder)
    (run.folder / "checkpoints.sqlite").unlink()
    again = enquete.resume(run.run_id, out=str(tmp_path / "out"), fresh=True, budget_tokens=ENOUGH)
    assert again.status == "completed"
    assert call_keys(run.folder) == before
    assert stored_answers(run.folder) == answers


@pytest.mark.parametrize("name", NAMES)
def test_the_same_command_again_shows_the_finished_run(tmp_path: Path, name: str) -> None:
    first = interview(tmp_path, name)
    second = interview(tmp_path, name)
    assert second.shown
    assert second.run_id == first.run_id
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 1


def cuts(folder: Path) -> dict[str, int]:
    """For each round and purpose: what had been spent when half of its calls were made."""
    found: dict[str, list[int]] = {}
    total = 0
    for purpose, subject, tokens in rows(
        folder, "SELECT purpose, subject, input_tokens + output_tokens FROM calls ORDER BY id"
    ):
        parts = subject.split("|")
        found.setdefault(f"{purpose} {parts[2] if purpose == 'answer' else ''}", []).append(total)
        total += tokens
    return {label: before[len(before) // 2] for label, before in found.items()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("concurrency", [1, 64, 256])
def test_a_budget_cut_anywhere_pauses_and_resumes_without_paying_twice(
    tmp_path: Path, name: str, concurrency: int
) -> None:
    """In each round and at each purpose; first with too little to go on, then with enough."""
    whole = interview(tmp_path, name, out="whole", concurrency=concurrency)
    answers, paid = stored_answers(whole.folder), spent(whole.folder)
    for number, (label, at) in enumerate(cuts(whole.folder).items()):
        # A call is let through only if its upper bound fits, so the run stops at or before this point.
        cap = max(at, 1)
        run = interview(tmp_path, name, out=f"cut{number}", concurrency=concurrency, budget_tokens=cap)
        assert run.status == "paused", label
        assert run.exit_code == 3
        assert spent(run.folder) <= cap, label
        settled = call_keys(run.folder)
        short = enquete.resume(run.resume_token, out=str(tmp_path / f"cut{number}"), budget_tokens=cap + 1)
        assert short.status == "paused", label
        assert spent(short.folder) <= cap + 1, label
        settled = call_keys(run.folder)
        done = enquete.resume(run.resume_token, out=str(tmp_path / f"cut{number}"), budget_tokens=ENOUGH)
        assert done.status == "completed", label
        assert call_keys(done.folder)[: len(settled)] == settled
        assert stored_answers(done.folder) == answers, label
        assert spent(done.folder) == paid, label


@pytest.mark.parametrize("name", NAMES)
def test_checkpoints_deleted_after_a_pause_cost_nothing(tmp_path: Path, name: str) -> None:
    whole = interview(tmp_path, name, out="whole")
    run = interview(tmp_path, name, out="cut", budget_tokens=spent(whole.folder) // 2 + 5000)
    assert run.status == "paused"
    (run.folder / "checkpoints.sqlite").unlink()
    unsettled = set(call_keys(whole.folder)) - set(call_keys(run.folder))
    before = set(call_keys(run.folder))
    done = enquete.resume(run.resume_token, out=str(tmp_path / "cut"), budget_tokens=ENOUGH)
    assert set(call_keys(done.folder)) - before == unsettled
    assert stored_answers(done.folder) == stored_answers(whole.folder)


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_of_a_synthetic_run_contains_what_it_costs(tmp_path: Path, name: str) -> None:
    """The rehearsal builds the prompts of the run itself; of five agents it rehearses all."""
    expected = enquete.estimate(
        personas(tmp_path, 5), out=str(tmp_path / "out"), methods=[name],
        settings={name: SHORT[name]} if name in SHORT else {},
    )  # fmt: skip
    run = interview(tmp_path, name)
    assert expected.tokens.low <= spent(run.folder) <= expected.tokens.high
    assert expected.tokens.likely == spent(run.folder)
    assert expected.calls.likely == len(call_keys(run.folder))
    assert run.expected_tokens == spent(run.folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_makes_the_same_data_from_the_ledger(tmp_path: Path, name: str) -> None:
    run = interview(tmp_path, name, 7)
    again = enquete.conduct_interviews(personas(tmp_path, 7), out=str(tmp_path / "out"), respondent="replay")
    assert again.status == "completed"
    assert again.run_id != run.run_id
    assert stored_answers(again.folder) == stored_answers(run.folder)
    assert sorted(call_keys(again.folder)) == sorted(call_keys(run.folder))
    assert compare(run, again).identical
    assert (
        enquete.load_run(personas(tmp_path, 7), out=str(tmp_path / "out")).run_id == run.run_id
    )  # still the canonical one


@pytest.mark.parametrize("name", NAMES)
def test_only_what_failed_is_asked_again(tmp_path: Path, name: str) -> None:
    """Some stored answers and their calls of the last round are marked failed by hand, as a server's fault leaves them."""
    run = interview(tmp_path, name, 7)
    answers, calls = stored_answers(run.folder), call_keys(run.folder)
    spoilt = spoil_last_round(run.folder, name)
    assert spoilt
    assert run.status == "completed"
    again = enquete.resume(run.run_id, out=str(tmp_path / "out"), retry_failed=True)
    assert again.status == "completed"
    assert stored_answers(again.folder) == answers
    assert sorted(call_keys(again.folder)) == sorted(calls)
    assert {row[0] for row in rows(again.folder, "SELECT subject FROM calls WHERE sends > 1")} == spoilt
    assert not enquete.load_run(personas(tmp_path, 7), run.run_id, out=str(tmp_path / "out")).failed_answers


def spoil_last_round(folder: Path, name: str) -> set[str]:
    """Fail every second block of the main arm's last round. Returns the subjects of their calls."""
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        last = connection.execute("SELECT max(round), max(turn) FROM occasions WHERE methodology=?", (name,)).fetchone()
        occasions = connection.execute(
            "SELECT id, participant, phase FROM occasions WHERE methodology=? AND round=? AND turn=? ORDER BY id",
            (name, *last),
        ).fetchall()[::2]
        subjects = set()
        for occasion, who, phase in occasions:
            n = connection.execute(
                "UPDATE answers SET status='failed', value=NULL, text='', confidence=NULL, data='' WHERE occasion=?",
                (occasion,),
            ).rowcount
            subjects |= set(connection.execute(
                "UPDATE calls SET status='failed', response='', error='HTTP 500' WHERE purpose='answer' AND methodology=?"
                " AND phase=? AND subject LIKE ? RETURNING subject", (name, phase, f"{who}|%|{last[0]}|{last[1]}|%")
            ).fetchall())  # fmt: skip
            for counter, change in (("answers_failed", n), ("answers_ok", -n)):
                connection.execute(
                    "INSERT INTO counters VALUES('main',?,?,?,?,?) ON CONFLICT DO UPDATE SET value=value+excluded.value",
                    (name, phase, last[0], counter, change),
                )
        connection.commit()
    return {subject for (subject,) in subjects}
