"""SIGKILL at any point: nothing settled is paid again, nothing asked is lost, whatever became of the folder
meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from enquete.memory.recall import LocalMemory
from enquete.methods.registry import methodologies
from tests.support import killing
from tests.support.killing import KillCounts, Killer, Meddle, Study
from tests.support.populations import mirofish_folder
from tests.support.processes import Driven, ServerProcess, finish, kill_after, server_process
from tests.support.studies import call_keys, personas, results_of, rows, run_folder, stored_answers

CONCURRENCY = 16
Begin = Callable[[int], Study]
Held = Callable[[KillCounts], None]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_process(tmp_path_factory.mktemp("server"), "--latency", "0.02") as running:
        yield running


def asked(server: ServerProcess, sim: Path, **more: Any) -> dict[str, Any]:
    return {
        "sim_id": str(sim), "model": "test", "base_url": server.base_url, "concurrency": CONCURRENCY,
        "methods": ["longitudinal", "delphi"], **more,
    }  # fmt: skip


def undisturbed(server: ServerProcess, results: Path, arguments: dict[str, Any]) -> tuple[list[tuple[Any, ...]], int]:
    """The answers of a run that nobody kills, and how many requests it takes."""
    before = server.count()
    code, _ = finish(**arguments)
    assert code == 0
    return stored_answers(run_folder(results)), server.count() - before


@pytest.fixture(scope="module")
def by_item(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Begin:
    """Studies of 24 people from a file, one request an item."""
    folder = tmp_path_factory.mktemp("people")
    return studies_of_a_file(server, folder, asked(server, personas(folder, 24), asking="item"))


def studies_of_a_file(server: ServerProcess, folder: Path, arguments: dict[str, Any]) -> Begin:
    whole, requests = undisturbed(server, folder / "whole", {**arguments, "out": str(folder / "whole")})

    def begin(number: int) -> Study:
        out = folder / f"killed{len(list(folder.iterdir()))}_{number}"
        return Study({**arguments, "out": str(out)}, out, out, server, whole, requests)

    return begin


@pytest.fixture(scope="module")
def of_a_simulation(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Begin:
    """Studies whose results lie in the simulation's own folder, which is moved and copied as one."""
    folder = tmp_path_factory.mktemp("simulations")

    def begun(name: str) -> tuple[Path, dict[str, Any]]:
        home = mirofish_folder(folder / name / "sim_1", 8).parent
        return home, asked(server, home / "sim_1", asking="item", methods=["longitudinal"])

    home, arguments = begun("whole")
    whole, requests = undisturbed(server, home / "sim_1" / "interviews", arguments)

    def begin(number: int) -> Study:
        home, arguments = begun(f"killed{len(list(folder.iterdir()))}_{number}")
        return Study(arguments, home, home / "sim_1" / "interviews", server, whole, requests)

    return begin


ANN = {"kind": "persona", "name": "Ann", "persona": "A baker with four people and one oven"}
SEATS = [{"name": name, "persona": f"{name} bakes bread"} for name in ("Ada", "Ben", "Eve")]


def interview_words(number: int, questions: int) -> tuple[Path, list[str]]:
    """Where the results of an operation lie below its root, and its command."""
    words = ["project_id=p", f"conversation_id=c{number}", "ds_id=flow-shop", f"budget={questions}"]
    place = Path("projects", "p", f"c{number}")
    return place, ["discover", "conduct_interview", *words, f"respondent={json.dumps(ANN)}", "model=test"]


def roundtable_words(number: int, rounds: int) -> tuple[Path, list[str]]:
    words = [f"roundtable_id=t{number}", "question=Should we close on Mondays?", f"rounds={rounds}", "private=false"]
    place = Path("roundtables", f"t{number}")
    return place, ["roundtable", "start_roundtable", *words, f"personas={json.dumps(SEATS)}", "model=test"]


OPERATIONS = pytest.mark.parametrize("words_of", [interview_words, roundtable_words], ids=["interview", "roundtable"])


def of_operations(
    server: ServerProcess, root: Path, words_of: Callable[[int, int], tuple[Path, list[str]]], size: int
) -> Begin:
    """Operations whose call is killed and made again in the same words."""
    environment = {"LLM_BASE_URL": server.base_url}

    def called(*words: str) -> dict[str, Any]:
        return {"command": [*words, "--root", str(root), "--json"], "environment": environment}

    def begun(number: int) -> tuple[Path, dict[str, Any]]:
        place, words = words_of(number, size)
        return root / place, called(*words)

    (root / "simulations").mkdir()
    if words_of is interview_words:
        assert finish(**called("discover", "start_project", "project_id=p"))[0] == 0
    results, arguments = begun(0)
    whole, requests = undisturbed(server, results, arguments)

    def begin(number: int) -> Study:
        results, arguments = begun(number)
        return Study(arguments, results, results, server, whole, requests)

    return begin


@pytest.fixture
def held(record_property: Callable[[str, object], None]) -> Held:
    """Nothing differs and nothing was paid twice; what was counted is said at the end of the session (conftest.py)."""

    def check(counts: KillCounts) -> None:
        record_property("kills", asdict(counts))
        assert not counts.faults

    return check


def test_a_few_of_all_kills(of_a_simulation: Begin, held: Held) -> None:
    """The sample of `make chaos` that every change goes through."""
    counts = Killer(of_a_simulation, 1).while_asking(
        6, killing.move, killing.delete, killing.copy, killing.truncate, killing.nothing, killing.zero_a_page
    )
    held(counts)


@OPERATIONS
def test_an_operation_that_was_killed_goes_on_by_the_same_call(
    server: ServerProcess, tmp_path: Path, words_of: Callable[[int, int], tuple[Path, list[str]]], held: Held
) -> None:
    held(Killer(of_operations(server, tmp_path, words_of, 1), 7).while_asking(1, killing.nothing))


def test_after_a_kill_without_checkpoints_exactly_the_unsettled_calls_are_made(
    tmp_path: Path, server: ServerProcess
) -> None:
    arguments = asked(server, personas(tmp_path, 24), out=str(tmp_path / "out"))
    assert kill_after(Driven(arguments), server.count, 40)
    folder = run_folder(tmp_path / "out")
    settled = set(call_keys(folder))
    assert settled
    (folder / "checkpoints.sqlite").unlink()
    before = -1
    while before != (before := server.count()):  # what was on its way at the kill has arrived
        time.sleep(0.2)
    code, _ = finish(**arguments)
    assert code == 0
    made = set(call_keys(folder))
    assert settled < made
    assert server.count() - before == len(made - settled)


def test_a_kill_between_an_answer_and_its_annotation_loses_nothing(tmp_path: Path, server: ServerProcess) -> None:
    out, pairs = tmp_path / "out", 12
    arguments = asked(
        server, personas(tmp_path, 2), out=str(out), methods=["scenario"], respondent_b=True, model_b="test@b",
        critic_pairs=pairs
    )  # fmt: skip
    critics = "SELECT subject FROM calls WHERE methodology='critic' AND status='settled'"

    def judged() -> int:
        folders = [*out.glob("*/runs/*/instruments_used.json")]
        return len(rows(folders[0].parent, critics)) if folders else 0

    before = server.count()
    assert kill_after(Driven(arguments), judged, 6)
    folder = run_folder(out)
    settled, lost = set(call_keys(folder)), len(call_keys(folder, "reserved"))
    assert not rows(folder, "SELECT 1 FROM frozen WHERE name LIKE 'annotated/%'")
    code, _ = finish(**arguments)
    made = set(call_keys(folder))
    assert (code, settled <= made) == (0, True)
    assert len(made) <= server.count() - before <= len(made) + lost
    compared = [json.loads(value) for (value,) in rows(folder, "SELECT value FROM frozen WHERE name LIKE 'pair/%'")]
    assert len(compared) == len(rows(folder, "SELECT 1 FROM frozen WHERE name LIKE 'annotated/%'")) == pairs
    with LocalMemory.opened(results_of(out), read_only=True) as memory:
        for pair in compared:
            for side, arm in (("a", "main"), ("b", "b")):
                known = memory.record(pair[f"answer_id_{side}"])
                assert (known.model_extra or {})["respondent_id"] == arm
                assert (known.model_extra or {})["critic_score"] == pair[f"score_{side}"]


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("kills", "meddle"),
    [
        pytest.param(60, killing.nothing, id="asking"),
        pytest.param(50, killing.delete, id="checkpoints-deleted"),
        pytest.param(50, killing.truncate, id="checkpoints-truncated"),
        pytest.param(30, killing.zero_a_page, id="page-of-checkpoints-zeroed"),
        pytest.param(20, killing.part_from_journal, id="journals-of-checkpoints-deleted"),
    ],
)
def test_kill_while_asking(by_item: Begin, kills: int, meddle: Meddle, held: Held) -> None:
    held(Killer(by_item, kills).while_asking(kills, meddle))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
def test_kill_in_the_first_second_of_a_resume(by_item: Begin, held: Held) -> None:
    held(Killer(by_item, 3).while_starting(40))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
def test_kill_while_the_report_is_written(by_item: Begin, held: Held) -> None:
    held(Killer(by_item, 4).while_writing(30))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("meddle", [killing.move, killing.copy], ids=["moved", "copied"])
def test_kill_and_go_on_in_another_place(of_a_simulation: Begin, meddle: Meddle, held: Held) -> None:
    held(Killer(of_a_simulation, 5).while_asking(30, meddle))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
def test_kill_in_every_methodology(server: ServerProcess, tmp_path: Path, held: Held) -> None:
    arguments = asked(
        server, personas(tmp_path, 8), asking="item", methods=sorted(methodologies()), budget_tokens=10**9,
        confirm=True, settings={"laddering": {"turns": 8}, "roundtable": {"size": 4}},
    )  # fmt: skip
    held(Killer(studies_of_a_file(server, tmp_path, arguments), 6).while_asking(60, killing.nothing))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@OPERATIONS
def test_kill_operations(
    server: ServerProcess, tmp_path: Path, words_of: Callable[[int, int], tuple[Path, list[str]]], held: Held
) -> None:
    held(Killer(of_operations(server, tmp_path, words_of, 5), 8).while_asking(30, killing.nothing))


@pytest.mark.chaos
@pytest.mark.timeout(3600)
def test_kill_interviews_among_faults(tmp_path: Path) -> None:
    """Fifty interviews that fill a record; a fifth of the replies is faulty. What was settled at a kill stays settled,
    no turn is held twice or left out, and every interview comes to its end."""
    faults = json.dumps(dict.fromkeys(("http_500", "http_429", "bad_json", "length_stop", "refusal"), 0.04))
    with server_process(tmp_path, "--latency", "0.02", "--faults", faults) as faulty:
        arguments = asked(faulty, personas(tmp_path, 50), methods=["discovery"], out=str(tmp_path / "out"))
        settled = set[tuple[Any, ...]]()
        for requests in (250, 400):
            assert kill_after(Driven(arguments), faulty.count, requests)
            now = call_keys(run_folder(tmp_path / "out"))
            assert settled < set(now)
            assert len(set(now)) == len(now)
            settled = set(now)
        code, summary = finish(**arguments)
    folder = run_folder(tmp_path / "out")
    assert (code, summary["status"]) == (0, "completed")
    assert settled < set(call_keys(folder))
    turns = rows(folder, "SELECT name, value FROM frozen WHERE name LIKE 'turn/%' ORDER BY name")
    stops = dict[str, list[str]]()
    for name, value in turns:
        stops.setdefault(name.rpartition("/")[0], []).append(json.loads(value).get("stop", ""))
    assert len(stops) == 50
    assert all(stop[-1] and not any(stop[:-1]) for stop in stops.values())
    asked_for = [int(name.rpartition("/")[2]) for name, _ in turns]
    assert sum(number == 1 for number in asked_for) == 50
    assert sum(asked_for) == sum(sum(range(1, len(stop) + 1)) for stop in stops.values())
