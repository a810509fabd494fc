"""Every fault of a model server, over real HTTP: agents get their answers, the rest is typed, counts add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Run
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import call_keys, personas, rows, spent, stored_answers

RATE = 0.2
REFUSALS = ("refusal", "refusal_prose", "content_filter")
ON_THE_WAY = (
    "timeout", "disconnect", "cut_body", "http_500", "http_503_retry_after", "http_429", "http_429_text", "empty_body",
    "html_body", "no_choices", "slow", "missing_usage", "odd_usage", "garbled", "big_body", "redirect",
)  # fmt: skip
IN_THE_REPLY = (
    "wrong_keys", "missing_items", "out_of_range", "wrong_types", "control_chars", "bad_json", "code_fence", "think",
    "trailing_prose", "length_stop", *REFUSALS,
)  # fmt: skip
PASSING = (*ON_THE_WAY, *IN_THE_REPLY)
AS_SENT = (
    "disconnect",
    "http_500",
    "http_503_retry_after",
    "http_429",
    "http_429_text",
    "html_body",
    "no_choices",
    "slow",
)
"""Alone: tests/models/test_models_transport.py and test_models_outage.py."""
AS_READ = ("refusal_prose", "content_filter", "code_fence", "think", "trailing_prose")
"""Alone: tests/models/test_models_parsing.py and test_models_transport.py;
tests/respondents/test_respondents_llm.py."""
"""Faults that come and go. Those that say "never again" (a key, a model's name) have tests of their own below."""

AGENTS, ALONE = 12, 10
ATTEMPTS = 3
APART = tuple(fault for fault in PASSING if fault not in (*AS_SENT, *AS_READ))
METHODS = ["longitudinal", "delphi"]
"""All transport, metering and reading is shared; tests/conformance runs over every methodology. A fault alone is the
same for whatever is asked: a questionnaire does."""

SEEDS = {"cut_body": 5, "big_body": 7, "bad_json": 1}
"""Where the usual 3 draws a fault three times running for one request, or never."""


def interview(
    tmp_path: Path,
    server: ModelServer,
    agents: int = AGENTS,
    *,
    by: Callable[..., Run] = bare_runs.interview,
    **more: Any,
) -> Run:
    return by(
        more.pop("sim", None) or personas(tmp_path, agents), model="test", base_url=server.base_url,
        **{"methods": METHODS, "out": str(tmp_path / "out"), "concurrency": 64, "timeout_s": 1.5, **more},
    )  # fmt: skip


def shares(run: Run) -> Counter[str]:
    return Counter(row[5] for row in stored_answers(run.folder))


def assert_everybody_was_asked_once(run: Run, agents: int = AGENTS) -> None:
    """Rows are the plan's: 15 items an agent, and in a Delphi 4 questions, and two ratings of every theme twice."""
    answers = stored_answers(run.folder)
    themes = {row[4].split("/")[0] for row in answers if row[4].startswith("theme:")}
    panel = "delphi" in run.record.methods
    assert bool(themes) == panel
    assert len(answers) == agents * (15 + 4 * panel + 2 * 2 * len(themes))
    assert len({row[:5] for row in answers}) == len(answers)


def assert_nearly_all_answered(run: Run) -> None:
    counted = shares(run)
    assert set(counted) <= {"ok", "repaired", "refused", "invalid", "failed"}
    asked = sum(counted.values()) - counted["refused"]
    assert (counted["ok"] + counted["repaired"]) / asked >= 0.98, counted


AT_ONCE = 6
"""Runs side by side: most of their time is waiting."""

Awaited = Callable[[str], tuple[Run, int]]
Waiting = Callable[[Path], None]


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(AT_ONCE) as made:
        yield made


@pytest.fixture(scope="module")
def waited_for(
    pool: ThreadPoolExecutor, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Waiting], None]]:
    """What a server that is away keeps waiting, begun before all else: the tests of these take what became of it."""
    with bare_runs.results_alone(report=True):
        begun = {check: pool.submit(check, tmp_path_factory.mktemp("away")) for check in WAITING}
        yield lambda check: begun[check].result()


@pytest.fixture(scope="module")
def with_fault(waited_for: object, pool: ThreadPoolExecutor, tmp_path_factory: pytest.TempPathFactory) -> Awaited:
    """The run that met a fault, all of them having begun at once; and how many requests met it as often as they are
    sent."""

    def run(fault: str) -> tuple[Run, int]:
        with ModelServer(faults={fault: RATE}, seed=SEEDS.get(fault, 3), slow_s=0.2, retry_after="0.05") as server:
            # Long where time is not the fault: on a busy machine a short one would add time-outs of its own.
            patience = 2 if fault == "timeout" else 20
            folder = tmp_path_factory.mktemp(fault)
            made = interview(folder, server, ALONE, methods=METHODS[:1], timeout_s=patience)
            assert server.count(fault) > 0
            refused = Counter(request.key for request in server.requests if request.faults)
        return made, sum(times >= ATTEMPTS for times in refused.values())

    begun = {name: pool.submit(run, name) for name in APART}
    wait(begun.values())  # pytest takes its variable out of the environment after a test, which clients look through
    return lambda name: begun[name].result()


@pytest.mark.parametrize("fault", APART)
def test_each_fault_alone_at_a_fifth(with_fault: Awaited, fault: str) -> None:
    run, lost = with_fault(fault)
    assert run.status == "completed"
    assert_everybody_was_asked_once(run, ALONE)
    if fault in ON_THE_WAY:
        assert shares(run)["ok"] >= 15 * (ALONE - lost)
    else:
        assert_nearly_all_answered(run)
    if fault in ("bad_json", "wrong_keys", "missing_items"):
        assert shares(run)["repaired"] > 0


def test_all_faults_together_summing_to_a_fifth(tmp_path: Path) -> None:
    rates = {fault: RATE / len(PASSING) for fault in PASSING}
    with ModelServer(faults=rates, seed=5, slow_s=0.2, retry_after="0.05") as server:
        run = interview(tmp_path, server, 40)
        assert sum(server.count(fault) for fault in PASSING) > 20
    assert run.status == "completed"
    assert_everybody_was_asked_once(run, 40)
    assert_nearly_all_answered(run)
    counted = {name.removeprefix("answers_"): n for name, n in run.spent.items() if name.startswith("answers_")}
    assert counted == shares(run)
    assert Counter(run.responses["status"]) == shares(run)


def test_a_server_that_never_takes_some_parameters_is_asked_without_them(tmp_path: Path) -> None:
    """Each alone: tests/models/test_models_chat_completions.py."""
    refused = ("no_json_schema", "reject_max_completion_tokens", "reject_temperature", "reject_seed")
    with ModelServer(faults=dict.fromkeys(refused, 1.0)) as server:
        run = interview(tmp_path, server, 3)
    assert run.status == "completed"
    assert set(shares(run)) == {"ok"}


def test_a_rejected_key_stops_the_run_without_failed_answers(tmp_path: Path) -> None:
    with ModelServer(faults={"http_401": 1.0}) as server:
        run = interview(tmp_path, server, methods=METHODS[:1])
        assert (run.status, run.exit_code) == ("failed", 1)
        assert "LLM_API_KEY" in run.note
        assert len(server.requests) <= 64
        assert stored_answers(run.folder) == []
        server.faults = {}
        done = bare_runs.resume(run.resume_token, out=str(tmp_path / "out"), base_url=server.base_url, concurrency=64)
    assert done.status == "completed"
    assert set(shares(done)) == {"ok"}


def stays_away(tmp_path: Path) -> None:
    with ModelServer(latency=0.02) as server:
        server.vanish(None, after=12)
        patience: dict[str, Any] = {"methods": METHODS[:1], "patience_s": 1.5, "timeout_s": 20}
        run = interview(tmp_path, server, 24, by=enquete.conduct_interviews, **patience)
        assert (run.status, run.exit_code) == ("paused", 3)
        assert server.base_url in run.note
        assert set(shares(run)) <= {"ok"}
        assert not run.standing.failed
        assert "zwischenstand" in run.report.lower()
        kept = call_keys(run.folder)
        server.come_back()
        done = bare_runs.resume(run.resume_token, out=str(tmp_path / "out"), concurrency=64, timeout_s=20)
    assert done.status == "completed"
    assert set(shares(done)) == {"ok"}
    assert set(kept) <= set(call_keys(done.folder))  # those that were in flight keep their earlier places


def refuses_one_agent(tmp_path: Path) -> None:
    """One agent's prompt is answered 500 every time: it fails alone, and is made up for once the server is mended."""
    with ModelServer() as server:
        server.poison = "Nr. 7,"
        run = interview(tmp_path, server, 12, timeout_s=20)
        assert run.status == "completed"
        failed = {row[3] for row in stored_answers(run.folder) if row[5] == "failed"}
        assert len(failed) == 1
        assert run.standing.failed
        assert (
            run.standing.failed_closed
        )  # rounds 1 and 2 of the Delphi: the others have seen feedback without this agent
        server.poison = ""
        before = len(server.requests)
        again = bare_runs.resume(run.run_id, out=str(tmp_path / "out"), retry_failed=True, base_url=server.base_url)
        asked = server.requests[before:]
        assert len(asked) == 2  # its questionnaire and its last Delphi round
    assert again.status == "completed"
    assert not again.standing.failed
    assert again.standing.failed_closed == run.standing.failed_closed


WAITING: tuple[Waiting, ...] = (refuses_one_agent, stays_away)


def test_a_server_that_stays_away_pauses_the_run_with_what_it_has(waited_for: Callable[[Waiting], None]) -> None:
    waited_for(stays_away)


def test_what_failed_is_asked_again_and_nothing_else(waited_for: Callable[[Waiting], None]) -> None:
    waited_for(refuses_one_agent)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_budget_cut_in_any_round_holds_with_256_calls_in_flight(tmp_path: Path) -> None:
    """The server reports fewer tokens than the reserved upper bound, so the cap holds exactly. (Without a server:
    tests/models/test_metered_model.py; at any point with 64 in flight: tests/conformance.)"""
    waves = ["longitudinal T0 answer 0", "longitudinal T1 answer 0"]
    delphi = ["delphi T1 answer 1", "delphi T1 theme", "delphi T1 answer 2", "delphi T1 answer 3"]
    arguments = {"sim": mirofish_folder(tmp_path / "sim_1", 260)}
    enough = 500_000_000
    common = {"concurrency": 256, "timeout_s": 60}
    with ModelServer(latency=0.6) as server:
        whole = interview(tmp_path, server, 260, budget_tokens=enough, **common, **arguments)
        assert whole.status == "completed"
        assert server.max_in_flight > 60  # as many as this machine can both send and take back within the latency
        expected, caps = stored_answers(whole.folder), stages(whole.folder)
        assert caps.keys() == {*waves, *delphi}
        for number, (mark, cap) in enumerate(caps.items()):
            out = str(tmp_path / f"cut{number}")
            run = interview(
                tmp_path, server, 260, budget_tokens=cap, confirm=True, **{**common, **arguments, "out": out}
            )
            assert (run.status, run.exit_code) == ("paused", 3), mark
            assert spent(run.folder) <= cap, mark
            settled = call_keys(run.folder)
            done = bare_runs.resume(run.resume_token, budget_tokens=enough, out=out, **common)
            assert done.status == "completed", mark
            assert stored_answers(done.folder) == expected, mark
            assert len(call_keys(done.folder)) == len(call_keys(whole.folder)), mark
            assert set(settled) <= set(call_keys(done.folder)), mark


def stages(folder: Path) -> dict[str, int]:
    """For each wave, round and theme coding: a cap that runs out in the middle of it."""
    sizes: dict[str, list[int]] = {}
    total = 0
    for methodology, phase, purpose, subject, tokens in rows(
        folder, "SELECT methodology, phase, purpose, subject, input_tokens + output_tokens FROM calls ORDER BY id"
    ):
        total += tokens
        number = f" {subject.split('|')[2]}" if purpose == "answer" else ""
        sizes.setdefault(f"{methodology} {phase} {purpose}{number}", []).append(total)
    return {mark: sums[len(sums) // 2] for mark, sums in sizes.items()}


@pytest.mark.usefixtures("report_only")
@pytest.mark.parametrize("factor", [60, pytest.param(200, marks=pytest.mark.chaos)])
def test_the_cap_holds_where_a_server_bills_many_times_the_limit(tmp_path: Path, factor: int) -> None:
    """256 in flight; a cap for some 20 calls as they are billed. What stops the run is said there and in the report.
    (Ten times is within what a reply of 15 items may have.)"""
    with ModelServer(latency=0.02) as server:
        server.calibration = factor
        cap = 24 * (1500 + 250 * factor)  # question and reply
        run = interview(
            tmp_path, server, 60, concurrency=256, budget_tokens=cap, confirm=True, timeout_s=20,
            by=enquete.conduct_interviews, methods=["longitudinal"],
        )  # fmt: skip
    assert run.status == "paused"
    assert 0.6 * cap < spent(run.folder) <= 1.05 * cap
    assert "the server ignores the limit on replies" in run.note
    assert "hält sich nicht an die Höchstlänge von Antworten" in (run.path / "appendix.md").read_text("utf-8")
    print(f"{factor} times the limit: {spent(run.folder) / cap:.1%} of the cap spent")
