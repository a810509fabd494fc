"""A cluster as docs/scale.md tells to start one, over PostgreSQL, whose parts stop, die and lose each other: every
answer stands once, no more is asked again than was in flight, and what is booked is what the rows say.

A killed or sleeping worker, a killed driver, a store that crashes: test_executors.py. A store that restarts under
one process: tests/ledger/test_ledger_postgres.py.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from enquete.state.errors import RunLocked
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.network import Cable, Relay, namespace
from tests.support.postgres import PASSWORD, Server
from tests.support.processes import ROOT, Driven, environment, server_process
from tests.support.studies import call_keys, personas, rows, run_folder, stored_answers

pytest.importorskip("distributed", reason="Dask (the extra scale) is not installed")

from enquete.runs import executors

AGENTS, IN_FLIGHT, WAIT_S = 12, 8, 240
WORKER_TTL_S = 8
STOPPED_S = 10.0


class Cluster:
    """A scheduler and workers with their nannies, each begun by a command line."""

    def __init__(self, host: str = "127.0.0.1"):
        self.host = host
        with socket.socket() as free:
            free.bind((host, 0))
            self.address = f"tcp://{host}:{free.getsockname()[1]}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, spaces: tuple[str, ...] = ("", "")) -> None:
        """spaces: the network namespace of each worker; "": ours."""
        host, port = self.address.removeprefix("tcp://").split(":")
        self.scheduler = self._begun("", "scheduler", "--host", host, "--port", port, "--no-dashboard")
        self.workers.clear()
        for number, space in enumerate(spaces):
            at = () if space else ("--host", self.host)
            self.workers.append(
                self._begun(space, "worker", self.address, "--nthreads", "4", "--memory-limit", "0", "--preload",
                            "enquete.runs.worker", "--no-dashboard", "--name", f"w{number}", "--death-timeout", "30",
                            *at)
            )  # fmt: skip
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=WAIT_S) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(len(spaces), timeout=WAIT_S)

    def _begun(self, space: str, *words: str) -> subprocess.Popen[bytes]:
        within = ["ip", "netns", "exec", space] if space else []
        return subprocess.Popen(
            [*within, sys.executable, "-m", "dask", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment() | {
                "PGPASSWORD": PASSWORD, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
                "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{WORKER_TTL_S}s",
                "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000",
            },
        )  # fmt: skip

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.terminate()
                process.wait(WAIT_S)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = Cluster()
    try:
        started.start()
        yield started
    finally:
        started.end()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return personas(tmp_path_factory.mktemp("people"), AGENTS)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.02) as running:
        yield running


def asked(base_url: str, out: Path, **more: Any) -> dict[str, Any]:
    return {
        "methods": ["longitudinal"], "asking": "item", "shard_size": 3, "concurrency": IN_FLIGHT, "out": str(out),
        "model": "test", "base_url": base_url, **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(people: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    out = tmp_path_factory.mktemp("undisturbed")
    with ModelServer() as server:
        bare_runs.interview(people, **asked(server.base_url, out))
    return stored_answers(run_folder(out))


@contextmanager
def after(server: Any, requests: int, strike: Callable[[], None]) -> Iterator[None]:
    """`strike` is done once so many requests have arrived; the block ends when it is over."""
    faults: list[BaseException] = []

    def wait() -> None:
        try:
            server.wait_for(requests, WAIT_S)
            strike()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()
    assert not faults


def for_a_while(process: subprocess.Popen[bytes] | None, seconds: float = STOPPED_S) -> Callable[[], None]:
    def strike() -> None:
        assert process is not None
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    return strike


def require_intact(folder: Path, sent: int, answers: list[tuple[Any, ...]], again: int = IN_FLIGHT) -> None:
    """again: calls that may have been made twice, each of which stands as an allowance."""
    assert stored_answers(folder) == answers
    ((repeated, counted, booked, lost, open_calls),) = rows(
        folder,
        "SELECT (SELECT count(*) FROM calls WHERE allowance > 0), "
        "(SELECT sum(value) FROM counters WHERE name='tokens'), "
        "(SELECT sum(input_tokens + output_tokens + allowance) FROM calls), "
        "(SELECT coalesce(sum(value), 0) FROM counters WHERE name='lost'), "
        "(SELECT count(*) FROM calls WHERE status='reserved')",
    )
    assert open_calls == 0
    assert sent - len(call_keys(folder)) <= repeated == lost <= again
    assert counted == booked


def outlasts(
    strike: Callable[[], None], server: ModelServer, people: Path, out: Path, answers: list[tuple[Any, ...]],
    again: int = IN_FLIGHT, **given: Any,
) -> None:  # fmt: skip
    """A study that `strike` hits after thirty requests is completed, and nothing of it is lost."""
    with after(server, 30, strike):
        run = bare_runs.interview(people, **asked(given.pop("base_url", server.base_url), out, **given))
    assert run.status == "completed"
    require_intact(run_folder(out), server.count(), answers, again)


Outlasts = Callable[..., None]


@pytest.fixture
def study_outlasts(
    server: ModelServer, people: Path, cluster: Cluster, postgres: Server, undisturbed: list[tuple[Any, ...]],
    tmp_path: Path,
) -> Outlasts:  # fmt: skip
    """`outlasts` for a study that the cluster asks and the store keeps: of what strikes it, and `again`."""
    return partial(
        outlasts, server=server, people=people, out=tmp_path, answers=undisturbed,
        executor=f"dask:{cluster.address}", store=postgres.url,
    )  # fmt: skip


# --- the scheduler ----------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_a_scheduler_that_slept_longer_than_it_waits_for_workers(study_outlasts: Outlasts, cluster: Cluster) -> None:
    """When it wakes it may take the workers to be lost before it hears from them."""
    study_outlasts(for_a_while(cluster.scheduler))


@pytest.mark.soak
def test_a_killed_scheduler_is_waited_for(
    study_outlasts: Outlasts, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "BACK_WITHIN_S", WAIT_S)  # a busy machine starts workers slowly
    monkeypatch.setattr(executors, "STARTED_WITHIN_S", WAIT_S)

    def strike() -> None:
        assert cluster.scheduler is not None
        cluster.scheduler.kill()
        cluster.scheduler.wait(WAIT_S)
        for worker in cluster.workers:
            worker.wait(WAIT_S)  # without a scheduler they end by themselves
        cluster.start()

    study_outlasts(strike)


# --- the driver -------------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_a_driver_that_slept_keeps_its_run_and_goes_on(
    people: Path, cluster: Cluster, postgres: Server, undisturbed: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    """While it sleeps it holds the run's lock: nobody else takes over."""
    with server_process(tmp_path, "--latency", "0.02") as server:
        given = asked(server.base_url, tmp_path / "out", executor=f"dask:{cluster.address}", store=postgres.url)
        driver = Driven({"sim_id": str(people), **given})
        until = time.monotonic() + WAIT_S
        while server.count() < 30 and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(driver.process_id, signal.SIGSTOP)
        try:
            with pytest.raises(RunLocked, match="driven by another process"):
                bare_runs.resume(str(people), out=str(tmp_path / "out"), base_url=server.base_url)
            time.sleep(STOPPED_S)
        finally:
            os.kill(driver.process_id, signal.SIGCONT)
        assert driver.finish()[1]["status"] == "completed"
        require_intact(run_folder(tmp_path / "out"), server.count(), undisturbed, again=0)


# --- the network ------------------------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("cut_s", [3, 50])
def test_a_worker_cut_off_from_the_store(
    server: ModelServer, people: Path, postgres: Server, undisturbed: list[tuple[Any, ...]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, cut_s: float,
) -> None:  # fmt: skip
    """One of two, in a network namespace of its own: it still hears the scheduler and the model server. For longer than
    a lost connection is made again, too."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with ExitStack() as stack:
        space = stack.enter_context(namespace())
        plain, to_store = Cable(space, 1), Cable(space, 2)
        stack.enter_context(Relay(to_store.here, postgres.port))
        stack.enter_context(Relay(plain.here, int(server.base_url.split(":")[2].split("/")[0])))
        cluster = Cluster(plain.here)
        stack.callback(cluster.end)
        cluster.start((space, ""))

        def strike() -> None:
            to_store.pull()
            time.sleep(cut_s)
            to_store.plug()

        outlasts(
            strike, server, people, tmp_path, undisturbed, base_url=server.base_url.replace("127.0.0.1", plain.here),
            executor=f"dask:{cluster.address}", store=postgres.url.replace("127.0.0.1", to_store.here),
        )  # fmt: skip
