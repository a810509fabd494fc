"""A run whose agents are asked by real worker processes: the same answers, caps and stops as in one process, whatever
becomes of a worker, the scheduler or the driver."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

import enquete
from enquete.interfaces.cli import doctor
from enquete.ledger import postgres as ledger_in_postgres
from enquete.runs import executors, worker
from enquete.state.errors import InputError, RunPaused, SettingsError
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.postgres import PASSWORD, Server
from tests.support.processes import Driven, environment, kill_after, server_process
from tests.support.studies import call_keys, personas, rows, run_folder, stored_answers

# Looked for and not imported, which takes a second: every worker of a session collects every file.
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask (the extra scale) is not installed")

AGENTS = 12
METHODS = ["longitudinal", "delphi", "laddering"]
SHARDS = {"shard_size": 3, "settings": {"laddering": {"turns": 3}}}
WAIT_S = 240


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers with nannies, who know the store's password. A worker that is silent for ten seconds is lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        started = executors.start_processes(2, 4, worker_ttl="10s")
    try:
        processes(started)
        yield started
    finally:
        started.close(timeout=10)


@pytest.fixture(scope="module")
def dask(cluster: Any) -> str:
    return f"dask:{cluster.scheduler_address}"


@pytest.fixture
def nobody_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver asks no agent itself."""

    async def refuse(*_: object) -> None:
        raise AssertionError("the driver was given a shard")

    monkeypatch.setattr(executors, "run_shard", refuse)


def spent(folder: Path) -> tuple[int, int]:
    """Tokens, by the counters and by the calls."""
    ((counted,),) = rows(folder, "SELECT sum(value) FROM counters WHERE name='tokens'")
    ((called,),) = rows(folder, "SELECT sum(input_tokens + output_tokens + allowance) FROM calls")
    return int(counted), int(called)


def client_of(cluster: Any) -> Any:
    from distributed import Client

    return Client(cluster, set_as_default=False)


def processes(cluster: Any) -> dict[str, int]:
    """Worker processes, by address."""
    client = client_of(cluster)
    try:
        client.wait_for_workers(2, timeout=WAIT_S)
        pids: dict[str, int] = client.run(os.getpid)
        return pids
    finally:
        client.close()


# --- the same as in one process ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return personas(tmp_path_factory.mktemp("people"), AGENTS)


@pytest.fixture(scope="module")
def alone(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthetic respondent's answers, in one process."""
    out = tmp_path_factory.mktemp("alone")
    bare_runs.interview(people, out=str(out), methods=METHODS, **SHARDS)
    return run_folder(out)


@pytest.mark.usefixtures("nobody_here")
def test_two_processes_give_the_answers_of_one(people: Path, alone: Path, tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    run = bare_runs.interview(
        people, out=str(tmp_path), methods=METHODS, executor="processes:2", progress=events.append, **SHARDS
    )
    folder = run_folder(tmp_path)
    assert not opened(folder)  # nobody has the ledger open any more
    assert run.status == "completed"
    assert stored_answers(folder) == stored_answers(alone)
    assert sorted(call_keys(folder)) == sorted(call_keys(alone))
    assert spent(folder) == spent(alone)
    assert rows(folder, "SELECT count(*) FROM worker_calls") == rows(folder, "SELECT count(*) FROM shards") == [(0,)]
    last = {(event["methodology"], event["round"]): (event["done"], event["total"]) for event in events}
    assert set(last.values()) == {(AGENTS, AGENTS)}  # every round is told to its end
    assert len(last) == 1 + 3 + 1


# --- caps and stops ---------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.02) as running:
        yield running


def asked(server: Any, out: Path, **more: Any) -> dict[str, Any]:
    """One request an item, so that there is something to cut."""
    given = {"methods": ["longitudinal"], "asking": "item", "shard_size": 3, "concurrency": 8}
    return {"out": str(out), "model": "test", "base_url": server.base_url, **given, **more}


@pytest.fixture(scope="module")
def by_item(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in one process."""
    out = tmp_path_factory.mktemp("by_item")
    with ModelServer() as server:
        bare_runs.interview(people, **asked(server, out))
    return run_folder(out)


@pytest.mark.usefixtures("nobody_here")
def test_a_cap_holds_over_all_workers_and_a_larger_one_goes_on(
    server: ModelServer, people: Path, by_item: Path, dask: str, tmp_path: Path
) -> None:
    total, _ = spent(by_item)
    cap = total // 2
    run = bare_runs.interview(people, **asked(server, tmp_path / "out", executor=dask, budget_tokens=cap, confirm=True))
    folder = run_folder(tmp_path / "out")
    assert run.status == "paused"
    assert "token budget used up" in run.note
    counted, called = spent(folder)
    assert counted == called <= cap
    assert counted > 0.8 * cap  # a tenth is held back for the narrative
    assert rows(folder, "SELECT count(*) FROM calls WHERE status<>'settled'") == [(0,)]
    done = bare_runs.resume(
        run.resume_token, out=str(tmp_path / "out"), base_url=server.base_url, executor=dask, budget_tokens=10 * total
    )
    assert done.status == "completed"
    assert stored_answers(folder) == stored_answers(by_item)
    assert server.count() == len(call_keys(folder))  # nothing twice


@pytest.mark.usefixtures("nobody_here")
def test_requests_a_minute_and_in_flight_are_those_of_all_workers_together(
    server: ModelServer, people: Path, dask: str, tmp_path: Path
) -> None:
    """3,000 a minute are 50 a second: the 180 requests take 3.6 s, less the last block."""
    limits = {"test": {"requests_per_minute": 3000}}
    bare_runs.interview(people, **asked(server, tmp_path, executor=dask, limits=limits))
    sent = sorted(request.time for request in server.requests)
    most = max(sum(1 for other in sent if moment <= other < moment + 1) for moment in sent)
    assert len(sent) == AGENTS * 15
    assert most <= 50 + 8  # and those that were sent before and arrived late
    assert server.max_in_flight <= 8


@pytest.mark.usefixtures("nobody_here")
def test_a_pause_is_heard_by_every_worker(server: ModelServer, people: Path, dask: str, tmp_path: Path) -> None:
    from enquete.state.request import parse_request
    from enquete.study.start import Driver, choose_start

    start = choose_start(parse_request(sim=str(people), **asked(server, tmp_path, executor=dask)))

    async def paused() -> None:
        await start.begin()
        driver = Driver(start.machine, synthesise=bare_runs.unwritten)
        driving = asyncio.create_task(driver.drive(start.folder))
        await asyncio.to_thread(server.wait_for, 20, WAIT_S)
        driver.pause()
        await driving

    asyncio.run(paused())
    folder = run_folder(tmp_path)
    run = enquete.load_run(people, out=tmp_path)
    assert (run.status, len(call_keys(folder))) == ("paused", server.count())
    assert len(call_keys(folder)) < AGENTS * 15
    done = bare_runs.resume(run.resume_token, out=str(tmp_path), base_url=server.base_url, executor=dask)
    assert (done.status, server.count()) == ("completed", AGENTS * 15)


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(people: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The answers of a model server, in one process."""
    out = tmp_path_factory.mktemp("undisturbed")
    with ModelServer() as server:
        bare_runs.interview(people, **asked(server, out, methods=["delphi"]))
    return stored_answers(run_folder(out))


def struck(server: ModelServer, requests: int, strike: Callable[[], None]) -> threading.Thread:
    """`strike` is done once so many requests have arrived."""

    def wait() -> None:
        server.wait_for(requests, WAIT_S)
        strike()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.usefixtures("nobody_here")
@pytest.mark.parametrize("store", ["file", "postgresql"])
def test_a_killed_worker_costs_the_calls_it_had_in_flight(
    request: pytest.FixtureRequest, server: ModelServer, people: Path, cluster: Any, dask: str,
    undisturbed: list[tuple[Any, ...]], tmp_path: Path, store: str,
) -> None:  # fmt: skip
    """Over a file that the workers share, and over a database, of whose run a worker needs no folder."""
    more = {} if store == "file" else {"store": request.getfixturevalue("postgres").url}
    victim = next(iter(processes(cluster).values()))
    killing = struck(server, 30, lambda: os.kill(victim, signal.SIGKILL))
    run = bare_runs.interview(people, **asked(server, tmp_path, executor=dask, methods=["delphi"], **more))
    killing.join()
    folder = run_folder(tmp_path)
    assert run.status == "completed"
    assert stored_answers(folder) == undisturbed
    ((lost,),) = rows(folder, "SELECT coalesce(sum(value), 0) FROM counters WHERE name='lost'")
    assert server.count() - len(call_keys(folder)) <= lost <= 4  # a half of eight in flight
    counted, called = spent(folder)
    assert counted == called
    ((allowed,),) = rows(folder, "SELECT count(*) FROM calls WHERE allowance > 0")
    assert allowed == lost


@pytest.mark.usefixtures("nobody_here")
def test_a_store_that_crashes_while_workers_write(
    server: ModelServer, people: Path, dask: str, by_item: Path, postgres: Server, tmp_path: Path
) -> None:
    """Replies are kept until they are stored: none is asked for again."""
    crashed = []

    def strike() -> None:
        postgres.stop("immediate")
        postgres.start()
        crashed.append(True)

    striking = struck(server, 30, strike)
    run = bare_runs.interview(people, **asked(server, tmp_path, executor=dask, store=postgres.url))
    striking.join()
    folder = run_folder(tmp_path)
    assert (run.status, crashed) == ("completed", [True])
    assert stored_answers(folder) == stored_answers(by_item)
    assert server.count() == len(call_keys(folder))
    assert rows(folder, "SELECT count(*) FROM calls WHERE allowance > 0 OR status<>'settled'") == [(0,)]
    assert rows(folder, "SELECT coalesce(sum(value), 0) FROM counters WHERE name='lost'") == [(0,)]
    counted, called = spent(folder)
    assert counted == called


@pytest.mark.parametrize("executor", ["local", "dask"])
def test_a_store_that_is_gone_for_good_pauses_the_run(
    server: ModelServer, people: Path, by_item: Path, postgres: Server, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, executor: str,
) -> None:  # fmt: skip
    """With the exit code of a pause, and the command that goes on once the database is back."""
    monkeypatch.setattr(ledger_in_postgres, "PATIENCE_S", 2.0)
    chosen = {"executor": request.getfixturevalue("dask")} if executor == "dask" else {}
    striking = struck(server, 30, lambda: postgres.stop("immediate"))
    try:
        with pytest.raises(RunPaused, match=r"paused: .*Once the database answers: enquete resume run_") as paused:
            bare_runs.interview(people, **asked(server, tmp_path, store=postgres.url, **chosen))
        striking.join()
    finally:
        postgres.start_again()
    assert paused.value.exit_code == 3
    folder = run_folder(tmp_path)
    run = bare_runs.resume(folder.name, out=str(tmp_path), base_url=server.base_url, executor="local")
    assert run.status == "completed"
    assert stored_answers(folder) == stored_answers(by_item)


def test_without_a_worker_the_run_pauses(
    server: ModelServer, people: Path, by_item: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nannies and all: nobody starts another."""
    monkeypatch.setattr(executors, "NOBODY_WITHIN_S", 2.0)
    others = set(psutil.Process().children())  # those of the cluster that the other tests here use
    started = executors.start_processes(2, 4)
    try:
        processes(started)
        striking = struck(server, 30, lambda: kill_all_below(os.getpid(), "dask", spare=others))
        address = f"dask:{started.scheduler_address}"
        with pytest.raises(RunPaused, match="no worker has been there for 2 s") as paused:
            bare_runs.interview(people, **asked(server, tmp_path, executor=address))
        striking.join()
    finally:
        started.close(timeout=10)
    assert paused.value.exit_code == 3
    folder = run_folder(tmp_path)
    assert enquete.load_run(people, out=tmp_path).status == "paused"
    run = bare_runs.resume(folder.name, out=str(tmp_path), base_url=server.base_url, executor="local")
    assert run.status == "completed"
    assert stored_answers(folder) == stored_answers(by_item)


def kill_all_below(process: int, named: str, spare: Collection[psutil.Process] = ()) -> None:
    """Kill this process's children whose command names something, with all that they began; but those to spare."""
    below_it = [child for child in psutil.Process(process).children() if child not in spare]
    children = [child for child in below_it if named in " ".join(child.cmdline())]
    for each in [*children, *(below for child in children for below in child.children(recursive=True))]:
        with suppress(psutil.NoSuchProcess):
            each.kill()


@pytest.mark.parametrize("executor", ["processes:2"])
def test_a_second_interrupt_ends_a_run_whose_workers_are_gone(people: Path, tmp_path: Path, executor: str) -> None:
    """Within five seconds, whatever it waits for."""
    with server_process(tmp_path, "--latency", "0.05") as server:
        words = [
            "run", people, "--out", tmp_path / "out", "--methods", "longitudinal", "--asking", "item", "--model",
            "test", "--base-url", server.base_url, "--executor", executor, "--concurrency", "8", "--yes",
        ]  # fmt: skip
        driver = subprocess.Popen(
            [sys.executable, "-m", "enquete", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment(),
        )  # fmt: skip
        try:
            while server.count() < 20:
                assert driver.poll() is None, driver.stderr.read()  # type: ignore[union-attr]
                time.sleep(0.05)
            kill_all_below(driver.pid, "dask")
            driver.send_signal(signal.SIGINT)
            while b"pausing" not in (driver.stderr.readline().lower()):  # type: ignore[union-attr]
                assert driver.poll() is None
            driver.send_signal(signal.SIGINT)
            assert driver.wait(timeout=5) == 130
        finally:
            driver.kill()
            driver.communicate()


@pytest.mark.soak
@pytest.mark.usefixtures("nobody_here")
def test_a_worker_that_sleeps_too_long_is_struck_off(
    server: ModelServer, people: Path, cluster: Any, dask: str, undisturbed: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    sleeper = next(iter(processes(cluster).values()))
    stopping = struck(server, 30, lambda: os.kill(sleeper, signal.SIGSTOP))
    run = bare_runs.interview(people, **asked(server, tmp_path, executor=dask, methods=["delphi"]))
    stopping.join()
    with suppress(ProcessLookupError):  # where its nanny has not killed it
        os.kill(sleeper, signal.SIGCONT)
    folder = run_folder(tmp_path)
    assert run.status == "completed"
    assert stored_answers(folder) == undisturbed
    counted, called = spent(folder)
    assert counted == called
    assert rows(folder, "SELECT count(*) FROM calls WHERE status='reserved'") == [(0,)]


@pytest.mark.soak
def test_a_driver_killed_in_any_round_is_gone_on_with_and_leaves_no_process(
    people: Path, undisturbed: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    with server_process(tmp_path, "--latency", "0.02") as server:
        arguments = asked(server, tmp_path / "out", methods=["delphi"], executor="processes:2")
        first = Driven({"sim_id": str(people), **arguments})
        while not server.count():  # processes that import everything anew take their time on a busy machine
            assert not first.is_over()
            time.sleep(0.05)
        assert kill_after(first, server.count, 40)
        folder = run_folder(tmp_path / "out")
        in_flight = len(call_keys(folder, "reserved"))
        gone_by = time.monotonic() + WAIT_S
        while list(folder.glob("*-wal")) and opened(folder) and time.monotonic() < gone_by:
            time.sleep(0.1)
        assert not opened(folder)
        run = bare_runs.resume(str(people), out=str(tmp_path / "out"), base_url=server.base_url, executor="processes:2")
        assert run.status == "completed"
        assert stored_answers(folder) == undisturbed
        assert server.count() - len(call_keys(folder)) <= max(in_flight, 8)
        counted, called = spent(folder)
        assert counted == called


def opened(folder: Path) -> list[int]:
    """Processes that have a file of this folder open."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            files = [str(link.readlink()) for link in (process / "fd").iterdir()]
        except OSError:
            continue
        if any(file.startswith(str(folder)) for file in files):
            pids.append(int(process.name))
    return pids


# --- before a run -----------------------------------------------------------------------------------------------------


def test_doctor_looks_at_every_worker(dask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(executor: str) -> list[tuple[str, str]]:
        checks = doctor.examine(str(tmp_path), str(tmp_path), executor=executor)
        return [(check.verdict, check.text) for check in checks if check.name in ("worker", "executor")]

    for _ in range(60):  # one that a test has killed is being started again
        if len(workers := told(dask)) == 2:
            break
        time.sleep(0.5)
    assert [verdict for verdict, _ in workers] == ["ok", "ok"]
    assert all(f"Enquete {version('enquete')}" in text for _, text in workers)
    monkeypatch.setenv("LLM_API_KEY", "only-here")
    assert [(verdict, "no LLM_API_KEY" in text) for verdict, text in told(dask)] == [("missing", True)] * 2
    monkeypatch.setattr(executors, "CONNECTED_WITHIN_S", 0.5)
    ((verdict, text),) = told("dask:tcp://127.0.0.1:9")
    assert (verdict, "the Dask scheduler tcp://127.0.0.1:9 cannot be reached" in text) == ("missing", True)
    assert [verdict for verdict, _ in told("processes:2")] == ["ok"]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"executor": "processes"}, "write local, processes:N"),
        ({"executor": "processes:1"}, "N from 2 to 256"),
        ({"executor": "processes:8", "concurrency": 4}, "name at most processes:4"),
        ({"executor": "dask:nowhere.json"}, "No such file or directory; name the file that `dask scheduler"),
    ],
)
def test_an_executor_that_cannot_be_is_refused_before_anything_is_asked(
    server: ModelServer, people: Path, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        bare_runs.interview(people, **{**asked(server, tmp_path), **more})
    assert not [*tmp_path.rglob("runs")]
    assert server.count() == 0


def test_workers_that_do_not_see_the_ledger_are_told_of_postgresql(alone: Path) -> None:
    here = worker.facts(str(alone / "ledger.sqlite"))
    executors.require_workers({"tcp://there:1": here}, "tcp://s:1", here)
    for other in ({"boot": "another"}, {"ledger": []}):
        with pytest.raises(SettingsError, match=r"--store postgresql://.*--executor processes:N"):
            executors.require_workers({"tcp://there:1": {**here, **other}}, "tcp://s:1", here)  # type: ignore[typeddict-item]
    with pytest.raises(SettingsError, match=r"the worker tcp://there:1 has Enquete 0\.0, here is"):
        executors.require_workers({"tcp://there:1": {**here, "enquete": "0.0"}}, "tcp://s:1", here)
    with pytest.raises(SettingsError, match="has no workers with Enquete"):
        executors.require_workers({}, "tcp://s:1", here)
