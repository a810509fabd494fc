"""What every methodology must do, whatever it asks. Parametrised over the registry: a new folder is tested at once.

One whole run of each is shared; what changes it works on a copy. Only calls and answers matter: no run is written up.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Arm, Run
from enquete.methods.registry import methodologies
from enquete.reports.run_reading import open_run
from enquete.study.runs import compare
from tests.support import bare_runs
from tests.support.studies import call_keys, edited, personas, results_of, rows, spent, stored_answers

NAMES = sorted(methodologies())
AGENTS, MANY = 4, 12
ENOUGH = 50_000_000
SHORT: dict[str, Any] = {
    "laddering": {"turns": 2}, "roundtable": {"rounds": 2, "least_rounds": 2}, "discovery": {"questions": 3},
}  # fmt: skip
"""Settings that make a study short: what is tested here does not depend on them, but on being of
one length for all arms."""
SHORTEST: dict[str, Any] = {
    "laddering": {"turns": 1}, "roundtable": {"rounds": 1, "least_rounds": 1}, "discovery": {"questions": 2},
}  # fmt: skip


def interview(
    sim: Path, name: str, out: Path, *, by: Callable[..., Run] = bare_runs.interview, short: Any = SHORT, **more: Any
) -> Run:
    settings = {name: short[name]} if name in short else {}
    return by(sim, **{"out": str(out), "methods": [name], "confirm": True, "budget_tokens": ENOUGH,
                      "settings": settings, **more})  # fmt: skip


@dataclass(frozen=True)
class Study:
    """Personas and results of one whole run of a methodology."""

    name: str
    sim: Path
    out: Path

    def run(self) -> Run:
        return enquete.load_run(self.sim, out=str(self.out))

    def copy(self, to: Path) -> Study:
        return Study(self.name, self.sim, Path(shutil.copytree(self.out, to / "copy")))


@pytest.fixture(scope="module", params=NAMES)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Four agents, in German; for reading. Each with its report: tests/reports, `full`."""
    base = tmp_path_factory.mktemp(request.param)
    study = Study(request.param, personas(base, AGENTS), base / "out")
    assert interview(study.sim, study.name, study.out).status == "completed"
    return study


@pytest.fixture(scope="module")
def in_english(whole: Study, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Run]:
    """In the other language: one agent with a request an item, and twelve; for reading."""
    base = tmp_path_factory.mktemp(f"{whole.name}_en")
    return {
        agents: interview(
            personas(base, agents), whole.name, base / f"out{agents}", language="en", asking=asking, short=SHORTEST
        )
        for agents, asking in ((1, "item"), (MANY, "block"))
    }


@pytest.fixture
def copied(whole: Study, tmp_path: Path) -> Study:
    """A copy to go on with."""
    return whole.copy(tmp_path)


def test_one_agent_and_twelve(whole: Study, in_english: dict[int, Run]) -> None:
    """And four, in the other language."""
    for agents, run in {AGENTS: whole.run(), **in_english}.items():
        assert (run.status, run.record.language) == ("completed", "de" if agents == AGENTS else "en")
        assert {row[5] for row in stored_answers(run.folder)} == {"ok"}
        assert len({row[3] for row in stored_answers(run.folder)}) == agents


def test_the_same_command_again_shows_the_finished_run(whole: Study) -> None:
    second = interview(whole.sim, whole.name, whole.out)
    assert second.shown
    assert second.run_id == whole.run().run_id
    assert len(list((results_of(whole.out) / "runs").iterdir())) == 1


def test_the_estimate_of_a_synthetic_run_is_what_it_costs(whole: Study, tmp_path: Path) -> None:
    """The rehearsal builds the prompts of the run itself; of four agents it rehearses all."""
    settings = {whole.name: SHORT[whole.name]} if whole.name in SHORT else {}
    expected = enquete.estimate(whole.sim, out=str(tmp_path / "out"), methods=[whole.name], settings=settings)
    run = whole.run()
    assert expected.tokens.low <= spent(run.folder) <= expected.tokens.high
    assert expected.tokens.likely == spent(run.folder) == run.standing.expected
    assert expected.calls.likely == len(call_keys(run.folder))


def test_calls_and_rows_lie_within_the_plan(whole: Study, in_english: dict[int, Run]) -> None:
    name = whole.name
    for run, asking in ((whole.run(), "block"), (in_english[1], "item"), (in_english[MANY], "block")):
        assert run.record.asking == asking
        (phase,) = run.record.phases
        with open_run(run.folder) as reading:
            plan = reading.procedure(name).plan(reading.interview_context(name, phase, run.record.main))
        made = dict(rows(run.folder, "SELECT purpose, count(*) FROM calls GROUP BY purpose"))
        assert made.keys() == plan.calls.keys()
        for purpose, (least, most) in plan.calls.items():
            assert least <= made[purpose] <= most, purpose
        assert plan.rows[0] <= len(stored_answers(run.folder)) <= plan.rows[1]


def test_answers_depend_on_the_seed_and_not_on_concurrency_shards_or_a_second_arm(whole: Study, tmp_path: Path) -> None:
    """The shared run asks 32 at once; here it is all at once with an arm more. (One after the other, in shards of one:
    where a budget is cut.)"""
    arms = [Arm(temperature=0, presentation="items_random"), Arm(id="b", role="b", seed=5)]
    crowded = interview(whole.sim, whole.name, tmp_path / "b", concurrency=64, shard_size=3, arms=arms)
    answers = stored_answers(whole.run().folder)
    assert stored_answers(crowded.folder) == answers
    assert len(stored_answers(crowded.folder, "b")) == len(answers)
    # Another arm's seed moves one answer in eight: of a few perhaps none, and then the run's own must.
    assert (
        stored_answers(crowded.folder, "b") != answers
        or stored_answers(interview(whole.sim, whole.name, tmp_path / "c", seed=2).folder) != answers
    )
    asked = Counter(key[2] for key in call_keys(crowded.folder) if key[3] == "answer")
    assert asked["b"] >= asked["main"] > 0  # asked for itself, whatever it answers


def test_a_finished_run_walked_again_makes_no_call(copied: Study) -> None:
    run = copied.run()
    before, answers = call_keys(run.folder), stored_answers(run.folder)
    (run.folder / "checkpoints.sqlite").unlink()
    again = bare_runs.resume(run.run_id, out=str(copied.out), fresh=True, budget_tokens=ENOUGH)
    assert again.status == "completed"
    assert call_keys(run.folder) == before
    assert stored_answers(run.folder) == answers


def test_a_replay_makes_the_same_data_from_the_ledger(copied: Study) -> None:
    run = copied.run()
    again = bare_runs.interview(copied.sim, out=str(copied.out), respondent="replay", replay_of=run.run_id)
    assert again.status == "completed"
    assert again.run_id != run.run_id
    assert stored_answers(again.folder) == stored_answers(run.folder)
    assert sorted(call_keys(again.folder)) == sorted(call_keys(run.folder))
    assert compare(run, again).identical  # whose report is whose: tests/study/test_reruns.py


def test_only_what_failed_is_asked_again(copied: Study) -> None:
    """Some stored answers and their calls of the last round are marked failed by hand, as a server's fault leaves
    them."""
    run = copied.run()
    answers, calls = stored_answers(run.folder), call_keys(run.folder)
    spoilt = spoil_last_round(run.folder, copied.name)
    assert spoilt
    again = bare_runs.resume(run.run_id, out=str(copied.out), retry_failed=True)
    assert again.status == "completed"
    assert stored_answers(again.folder) == answers
    assert sorted(call_keys(again.folder)) == sorted(calls)
    assert {row[0] for row in rows(again.folder, "SELECT subject FROM calls WHERE sends > 1")} == spoilt
    assert not copied.run().standing.failed


def cuts(folder: Path) -> dict[str, int]:
    """For each round and purpose: what had been spent when half of its calls were made."""
    sizes: dict[str, list[int]] = {}
    total = 0
    for purpose, subject, tokens in rows(
        folder, "SELECT purpose, subject, input_tokens + output_tokens FROM calls ORDER BY id"
    ):
        parts = subject.split("|")
        sizes.setdefault(f"{purpose} {parts[2] if purpose == 'answer' else ''}", []).append(total)
        total += tokens
    return {label: before[len(before) // 2] for label, before in sizes.items()}


def test_a_budget_cut_anywhere_pauses_and_resumes_without_paying_twice(whole: Study, tmp_path: Path) -> None:
    """In each round and at each purpose: one after the other in shards of one and 64 at once by turns, and by turns
    with too little to go on first and without the checkpoints, which cost nothing."""
    kept = whole.run().folder
    answers, paid, calls = stored_answers(kept), spent(kept), set(call_keys(kept))
    for number, (label, at) in enumerate(cuts(kept).items()):
        # A call is let through only if its upper bound fits, so the run stops at or before this point.
        cap, out = max(at, 1), tmp_path / f"cut{number}"
        speed = {"concurrency": 64} if number % 2 else {"concurrency": 1, "shard_size": 1}
        run = interview(whole.sim, whole.name, out, budget_tokens=cap, **speed)
        assert (run.status, run.exit_code) == ("paused", 3), label
        assert spent(run.folder) <= cap, label
        if (number // 2 + NAMES.index(whole.name)) % 2:
            (run.folder / "checkpoints.sqlite").unlink()
        else:
            short = bare_runs.resume(run.resume_token, out=str(out), budget_tokens=cap + 1)
            assert short.status == "paused", label
            assert spent(short.folder) <= cap + 1, label
        settled = call_keys(run.folder)
        done = bare_runs.resume(run.resume_token, out=str(out), budget_tokens=ENOUGH)
        assert done.status == "completed", label
        assert call_keys(done.folder)[: len(settled)] == settled
        assert set(call_keys(done.folder)) == calls
        assert stored_answers(done.folder) == answers, label
        assert spent(done.folder) == paid, label


def spoil_last_round(folder: Path, name: str) -> set[str]:
    """Fail every second block of the main arm's last round. Returns the subjects of their calls."""
    with edited(folder) as connection:
        last = connection.execute("SELECT max(round), max(turn) FROM occasions WHERE methodology=?", (name,)).fetchone()
        occasions = connection.execute(
            "SELECT id, participant, phase FROM occasions WHERE methodology=? AND round=? AND turn=? ORDER BY id",
            (name, *last),
        ).fetchall()[::2]
        subjects = set()
        for occasion, who, phase in occasions:
            before = connection.execute(
                "SELECT 'answers_' || status, -count(*) FROM answers WHERE occasion=? GROUP BY 1", (occasion,)
            ).fetchall()
            n = connection.execute(
                "UPDATE answers SET status='failed', value=NULL, text='', confidence=NULL, data='' WHERE occasion=?",
                (occasion,),
            ).rowcount
            calls = (
                "purpose='answer' AND methodology=? AND phase=? AND subject LIKE ?",
                (name, phase, f"{who}|%|{last[0]}|{last[1]}|%"),
            )
            (tokens,) = connection.execute(
                f"SELECT sum(input_tokens + output_tokens) FROM calls WHERE {calls[0]}", calls[1]
            ).fetchone()
            spoiled = connection.execute(
                "UPDATE calls SET status='failed', response='', error='HTTP 500', input_tokens=0, output_tokens=0"
                f" WHERE {calls[0]} RETURNING subject",
                calls[1],
            ).fetchall()
            subjects |= {*spoiled}
            for counter, change in (
                *before,
                ("answers_failed", n),
                ("calls", -len(spoiled)),
                ("tokens", -(tokens or 0)),
            ):
                connection.execute(
                    "INSERT INTO counters VALUES('main',?,?,?,?,?,0) ON CONFLICT DO UPDATE "
                    "SET value=value+excluded.value",
                    (name, phase, last[0] if counter.startswith("answers") else 0, counter, change),
                )
    return {subject for (subject,) in subjects}
