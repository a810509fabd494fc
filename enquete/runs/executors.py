"""Where a run's shards are worked on: in this process, in several on this machine, or by a Dask cluster's workers.

The driver is one process whatever is chosen: it holds the run's lock, walks the graph, closes rounds and writes up.
Workers ask (worker.py). A shard that was given to a worker that died is given to another one; the dead one's calls in
flight become allowances, everything else it had settled is found in the ledger.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from enquete.ledger.drives import store_of
from enquete.ledger.folders import LEDGER
from enquete.ledger.record import RunRecord
from enquete.ledger.workers import addresses, evict
from enquete.runs.model_server import LIMITER
from enquete.runs.planning import models_of
from enquete.runs.run_session import Progress, RunSession, ShardExecutor
from enquete.runs.worker import (
    KINDS,
    RoundProgress,
    ShardJob,
    ShardReport,
    WorkerFacts,
    close_run,
    facts,
    run_shard,
    run_shard_in_worker,
)
from enquete.state.channels import ShardSpec
from enquete.state.errors import RunPaused, SettingsError
from enquete.state.model_names import is_object
from enquete.state.request import LOCAL
from enquete.state.settings import Machine

log = logging.getLogger("enquete")

STARTED_WITHIN_S = 180.0
CONNECTED_WITHIN_S = 10.0
BACK_WITHIN_S = 60.0
"""So long a scheduler that is gone is waited for before the run pauses."""
NOBODY_WITHIN_S = 60.0
"""So long a cluster may be without a worker before the run pauses. A nanny starts one anew within seconds."""
CLOSED_WITHIN_S = 10.0
MISSED_EVERY_S = 1.0
"""Seconds between two looks for workers that are gone."""
WORKER_TTL = "60s"
"""Of a cluster of our own: a worker that is stopped or cut off for so long is taken to be lost; Dask's five minutes are
long for somebody who waits."""
MOST_LOSSES = 20
"""Workers that one shard may be given to in vain: from there on it is the shard that kills them."""
DRIVERS_SHARE = 8
"""Of the requests in flight, one in so many is the driver's own while workers are asking, and as many at most: a
driver has coding and conversations to ask, and what it leaves unused nobody else has."""


def executor_of(run_session: RunSession) -> ShardExecutor:
    """The run's, made when the first shard is asked for."""
    if run_session.executor is None:
        chosen = run_session.machine.executor
        run_session.executor = LocalExecutor() if chosen == LOCAL or not run_session.owner else DaskExecutor(chosen)
        if run_session.at_end is not None:
            run_session.at_end.push_async_callback(run_session.executor.close)
    return run_session.executor


class LocalExecutor:
    """This process: as many shards at once as keep the models busy."""

    async def run(self, run_session: RunSession, spec: ShardSpec, report: Progress) -> dict[str, int]:
        async with run_session.shard_slots:
            return await run_shard(run_session, spec, RoundProgress(run_session, spec, report).tick)

    async def close(self) -> None:
        pass


# --- What was chosen --------------------------------------------------------------------------------------------------


def processes_of(chosen: str) -> int:
    """Processes of our own; 0 where workers are another's."""
    return int(chosen.partition(":")[2]) if chosen.startswith("processes:") else 0


def require_executor(chosen: str, record: RunRecord | None, machine: Machine) -> None:
    """Before anything is begun or asked. Raises SettingsError."""
    if chosen == LOCAL:
        return
    if find_spec("distributed") is None:
        raise SettingsError(f"executor: {chosen} needs Dask: pip install 'enquete[scale]'")
    n = processes_of(chosen)
    if n > machine.concurrency:
        raise SettingsError(
            f"executor: {chosen} are more processes than requests in flight (concurrency {machine.concurrency}); "
            f"name at most processes:{machine.concurrency}, or a higher concurrency"
        )
    if not n:
        scheduler_of(chosen)
    if record is not None and any(is_object(model) for model in models_of(record)):
        raise SettingsError(
            f"executor: with {chosen} other processes would ask a chat model object that exists in this one alone: "
            "name the model (provider:name), or leave the executor out"
        )
    if record is not None and record.weights:
        raise SettingsError(
            f"executor: with {chosen} every process would start the local model for itself; start a model server of "
            "its own and name it with base_url (docs/models.md)"
        )


def scheduler_of(chosen: str) -> str:
    """The address of the scheduler, from its file where one is named. Raises SettingsError."""
    named = chosen.partition(":")[2]
    if "://" in named:
        return named
    path = Path(named).expanduser()
    try:
        address = json.loads(path.read_text("utf-8"))["address"]
    except OSError as error:
        raise SettingsError(
            f"executor: {named}: {error.strerror or error}; name the file that `dask scheduler --scheduler-file` "
            "writes, or an address such as dask:tcp://host:8786"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SettingsError(f"executor: {named} is no scheduler file: there is no address in it") from None
    return str(address)


# --- Dask -------------------------------------------------------------------------------------------------------------


class WorkersLost(RunPaused):
    """The cluster is gone, or its workers die of this run. Nothing is lost: the run can be resumed."""


class DaskExecutor:
    """Workers of our own on this machine, or those of a cluster. For one run and one event loop."""

    def __init__(self, chosen: str):
        self._chosen = chosen
        self._opening = asyncio.Lock()
        self._client: Any = None
        self._cluster: Any = None
        self._processes = max(1, processes_of(chosen))
        self._numbers = count()
        self._shards: dict[str, _ShardCount] = {}
        self._missing: asyncio.Task[None] | None = None
        self._nobody = asyncio.Event()
        self._run_session: RunSession | None = None
        self._topic = ""

    async def run(self, run_session: RunSession, spec: ShardSpec, report: Progress) -> dict[str, int]:
        shard = "/".join(str(spec[name]) for name in ("methodology", "phase", "arm", "round", "lo"))
        mine = self._shards[shard] = _ShardCount(lambda: RoundProgress(run_session, spec, report).tick)
        self._share(run_session)
        try:
            for _ in range(MOST_LOSSES):
                client = await self._opened(run_session)
                done = await self._asked(client, self._job(run_session, spec, shard))
                if done is None or done.get("error") in ("Evicted", "CancelledError"):
                    continue  # its worker is gone, or the scheduler
                if "error" in done:
                    raise _error_of(done)
                await self._heed(run_session, done)
                mine.reached(done["counts"].get("done", 0))
                return done["counts"]
        finally:
            del self._shards[shard]
            self._share(run_session)
        raise WorkersLost(
            f"{MOST_LOSSES} workers were lost while they asked {shard}. Look at their logs; with too little memory, "
            "name fewer processes or a smaller concurrency. Nothing is lost: resume goes on from here"
        )

    async def close(self) -> None:
        if self._missing is not None:
            self._missing.cancel()
            with suppress(asyncio.CancelledError):
                await self._missing
        client, cluster, run_session = self._client, self._cluster, self._run_session
        if client is not None and run_session is not None:
            with suppress(Exception):  # whoever cannot be told any more is fenced off below
                await asyncio.wait_for(_in_thread(lambda: client.run(close_run, run_session.owner)), CLOSED_WITHIN_S)
            for owner in run_session.ledger.look(addresses):
                await self._evict(run_session, owner)
        for handle in (client, cluster):
            if handle is not None:
                with suppress(Exception):
                    await _in_thread(partial(handle.close, timeout=CLOSED_WITHIN_S))
        self._client = self._cluster = None

    # --- a shard's way ---

    def _job(self, run_session: RunSession, spec: ShardSpec, shard: str) -> ShardJob:
        machine, budget = run_session.machine, run_session.budget
        share = max(1, (machine.concurrency - self._drivers(machine)) // self._processes)
        limits = {
            name: limit.model_copy(update={"concurrency": max(1, limit.concurrency // self._processes)})
            if limit.concurrency
            else limit
            for name, limit in machine.limits.items()
        }
        settings = machine.model_copy(update={"concurrency": share, "limits": limits})
        return ShardJob(
            spec=spec,
            shard=shard,
            run_id=run_session.record.run_id,
            folder=str(run_session.folder.absolute()),
            store=store_of(run_session.folder),
            driver=run_session.owner,
            enquete=version("enquete"),
            machine=settings.model_dump(mode="json", exclude={"api_key", "zep_api_key"}),
            has_key=machine.api_key is not None,
            concurrency=share,
            cap=budget.cap,
            cap_usd=budget.cap_usd,
            closed=[name for name, claim in budget.claims.items() if claim.closed],
            memories=run_session.memories,
            topic=self._topic,
        )

    async def _asked(self, client: Any, job: ShardJob) -> ShardReport | None:
        """What the worker reported; None where it was lost, or the scheduler."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        key = f"enquete-{job['run_id']}-{job['shard']}-{next(self._numbers)}"
        future = None
        try:
            future = client.submit(run_shard_in_worker, job, key=key, pure=False)
            future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
            await _first_of(ended, self._nobody)
            if self._nobody.is_set():
                raise WorkersLost(
                    f"{self._chosen}: no worker has been there for {NOBODY_WITHIN_S:g} s. Look at their logs, and "
                    "start some; nothing is lost: resume goes on from here"
                )
            if future.status == "finished":
                report: ShardReport = await _in_thread(future.result)
                return report
            if future.status == "error":
                error = await _in_thread(future.exception)
                if type(error).__name__ != "KilledWorker":
                    raise WorkersLost(f"a worker could not begin: {type(error).__name__}: {error}")
            else:
                await self._drop(client)
            return None
        finally:
            if future is not None:
                with suppress(Exception):
                    future.release() if future.done() else future.cancel()

    async def _heed(self, run_session: RunSession, done: ShardReport) -> None:
        """How the worker's budget stands is the run's affair."""
        budget = run_session.budget
        budget.ran_short |= done["ran_short"]
        budget.deferred |= done["deferred"]
        budget.refused = max(budget.refused, done["refused"])
        budget.refused_usd = max(budget.refused_usd, done["refused_usd"])
        budget.short_of = done["short_of"] or budget.short_of  # type: ignore[assignment]  # a Cap, by way of JSON
        if done["stopped"] and not budget.stopped:
            await budget.stop(done["stopped"], failed=done["failed"])

    def _share(self, run_session: RunSession) -> None:
        """The driver's own requests have all slots while no worker asks."""
        machine = run_session.machine
        LIMITER.resize(self._drivers(machine) if self._shards else machine.concurrency)

    def _drivers(self, machine: Machine) -> int:
        return max(1, min(DRIVERS_SHARE, machine.concurrency // DRIVERS_SHARE))

    # --- the cluster ---

    async def _opened(self, run_session: RunSession) -> Any:
        async with self._opening:
            if self._client is None:
                self._run_session = run_session
                self._topic = f"enquete-{run_session.owner}"
                self._client = await self._connected(run_session)
                loop = asyncio.get_running_loop()
                await _in_thread(
                    lambda: self._client.subscribe_topic(
                        self._topic, lambda event: loop.call_soon_threadsafe(self._tick, event[1])
                    )
                )
                self._missing = self._missing or asyncio.create_task(self._evict_missing(run_session))
        return self._client

    async def _connected(self, run_session: RunSession) -> Any:
        n = processes_of(self._chosen)
        if n:
            per_process = max(1, run_session.machine.concurrency // n)
            threads = max(2, -(-4 * per_process // run_session.machine.shard_size))
            self._cluster = self._cluster or await _in_thread(lambda: start_processes(n, threads))
            return await _in_thread(lambda: _client_of(self._cluster))
        address = scheduler_of(self._chosen)
        client = await _reached(address, BACK_WITHIN_S if self._missing is not None else 0.0)
        ledger, store = str((run_session.folder / LEDGER).absolute()), store_of(run_session.folder)
        try:
            workers = await _in_thread(lambda: worker_facts(client, ledger, store))
            require_workers(workers, address, facts(ledger), store=store)
        except BaseException:
            await _in_thread(client.close)
            raise
        self._processes = len(workers)
        return client

    async def _drop(self, client: Any) -> None:
        """The scheduler is gone, and with it every future: the next shard connects anew."""
        async with self._opening:
            if self._client is client:
                self._client = None
                with suppress(Exception):
                    await asyncio.wait_for(_in_thread(lambda: client.close(timeout=1)), CLOSED_WITHIN_S)

    def _tick(self, event: dict[str, Any]) -> None:
        mine = self._shards.get(event["shard"])
        if mine is not None:
            mine.reached(event["done"])

    async def _evict_missing(self, run_session: RunSession) -> None:
        """A lost worker holds a part of the budget, which the others may be waiting for. Where none is left, and none
        comes back, whoever waits for one is told."""
        clock = asyncio.get_running_loop().time
        seen_at = clock()
        while True:
            await asyncio.sleep(MISSED_EVERY_S)
            client = self._client
            if client is None:  # whoever connects anew has patience of its own
                seen_at = clock()
                continue
            try:
                there = await asyncio.wait_for(_in_thread(client.nthreads), CONNECTED_WITHIN_S)
            except Exception as error:
                log.debug("%s: %s", self._chosen, error)
                there = {}
            if there:
                seen_at = clock()
            elif clock() - seen_at >= NOBODY_WITHIN_S:
                self._nobody.set()
                return
            else:
                continue
            working = run_session.ledger.look(addresses)
            self._processes = processes_of(self._chosen) or max(1, len(there))
            for owner, address in working.items():
                if address not in there:
                    log.warning("%s: the worker %s is gone; others do its work", run_session.record.run_id, address)
                    await self._evict(run_session, owner)

    async def _evict(self, run_session: RunSession, owner: str) -> None:
        ledger = run_session.ledger
        await ledger.write(lambda connection: evict(connection, owner, ledger.run))


class _ShardCount:
    """Units of a shard that are done, as told; a second worker begins with those of the first, found answered."""

    def __init__(self, begin: Callable[[], Callable[[Any], None]]):
        self._begin = begin
        self._tick: Callable[[Any], None] | None = None
        self._done = 0

    def reached(self, done: int) -> None:
        if self._tick is None:
            self._tick = self._begin()
        for _ in range(self._done, done):
            self._tick("done")
        self._done = max(self._done, done)


def _error_of(done: ShardReport) -> Exception:
    for kind in KINDS:
        if kind.__name__ == done["error"]:
            return kind(done["words"])
    return RuntimeError(f"in a worker: {done['words']}\n{done['traceback']}")


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of these is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


async def _in_thread(act: Callable[[], Any]) -> Any:
    """Dask's own calls block."""
    return await asyncio.to_thread(act)


def start_processes(n: int, threads: int, worker_ttl: str = WORKER_TTL) -> Any:
    """Workers of our own, each with a nanny that starts it again. They end with this process, whatever ends it. Not
    Dask's LocalCluster: its workers run the script again that called us."""
    from distributed import Scheduler  # noqa: PLC0415 - of the extra `scale`
    from distributed.deploy import spec  # noqa: PLC0415
    from distributed.deploy.subprocess import SubprocessWorker  # noqa: PLC0415

    class Process(SubprocessWorker):
        """It imports from where this process does."""

        async def _start(self) -> None:
            nanny = json.dumps({"cls": "distributed.Nanny", "opts": self.worker_kwargs})
            command = (sys.executable, "-m", "dask", "spec", self.scheduler, "--spec", nanny)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
            self.process = await asyncio.create_subprocess_exec(*command, env=environment)

    options = {
        "host": "127.0.0.1", "nthreads": threads, "memory_limit": 0, "silence_logs": logging.ERROR,
        "death_timeout": f"{STARTED_WITHIN_S:g}s",  # without a scheduler
        "preload": ["enquete.runs.worker"],  # an import holds up heartbeats, once there is work
    }  # fmt: skip
    worker = {"cls": Process, "options": {"worker_kwargs": options}}
    scheduler = {
        "cls": Scheduler,
        "options": {
            "host": "127.0.0.1", "port": 0, "dashboard": False, "dashboard_address": "127.0.0.1:0",
            "worker_ttl": worker_ttl, "allowed_failures": 10**6,
        },
    }  # fmt: skip
    make: Any = spec.SpecCluster  # without types
    return make(workers=dict.fromkeys(range(n), worker), scheduler=scheduler, worker=worker, silence_logs=logging.ERROR)


def _dask() -> Any:
    """Of the extra `scale`, and without types."""
    return import_module("distributed")


def _client_of(cluster: Any) -> Any:
    client = _dask().Client(cluster, set_as_default=False, timeout=CONNECTED_WITHIN_S)
    try:
        client.wait_for_workers(len(cluster.workers), timeout=STARTED_WITHIN_S)
    except TimeoutError:
        client.close()
        raise WorkersLost(f"no processes came up within {STARTED_WITHIN_S:g} s. Nothing is lost: try again") from None
    return client


async def _reached(address: str, patience_s: float) -> Any:
    until = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            return await _in_thread(lambda: _dask().Client(address, set_as_default=False, timeout=CONNECTED_WITHIN_S))
        except OSError as error:
            if asyncio.get_running_loop().time() >= until:
                raise WorkersLost(
                    f"the Dask scheduler {address} cannot be reached ({error}). Start it, or name another with "
                    "executor; nothing is lost"
                ) from None
        await asyncio.sleep(1)


def worker_facts(client: Any, ledger: str = "", store: str = "") -> dict[str, WorkerFacts]:
    """Of every worker, by address; {} where none came within STARTED_WITHIN_S, or Enquete is not installed there."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=STARTED_WITHIN_S)
    workers: dict[str, WorkerFacts] = client.run(facts, ledger, store, on_error="ignore")
    return workers


def look_at_workers(chosen: str, store: str = "") -> tuple[dict[str, WorkerFacts], dict[str, float]]:
    """Of a cluster's workers, before a run: what they say of themselves, and by how many seconds at least their clocks
    are off ours. Raises SettingsError, WorkersLost."""
    client = asyncio.run(_reached(scheduler_of(chosen), 0.0))
    try:
        before = time.time()
        workers = worker_facts(client, "", store)
        after = time.time()
    finally:
        client.close()
    late = {where: max(before - worker["clock"], worker["clock"] - after, 0.0) for where, worker in workers.items()}
    return workers, late


def require_workers(workers: dict[str, WorkerFacts], address: str, here: WorkerFacts, *, store: str = "") -> None:
    """Raises SettingsError where these workers cannot work on a run whose ledger lies here, or in the `store`."""
    if not workers:
        raise SettingsError(
            f"the Dask scheduler {address} has no workers with Enquete {here['enquete']}; start some with `dask worker`"
        )
    for where, there in workers.items():
        if there["enquete"] != here["enquete"]:
            raise SettingsError(
                f"the worker {where} has Enquete {there['enquete']}, here is {here['enquete']}: install the same there"
            )
        if there["store"]:
            raise SettingsError(
                f"the worker {where} on {there['host']} does not reach the run's ledger: {there['store']}. A password "
                "is not sent: set PGPASSWORD or ENQUETE_STORE where the workers are started"
            )
        if not store and (there["boot"], there["ledger"]) != (here["boot"], here["ledger"]):
            raise SettingsError(
                f"the worker {where} on {there['host']} does not see this run's ledger, a SQLite file, which one "
                "machine alone can work on. Begin the run with --store postgresql://…, which all machines reach, or "
                "use --executor processes:N on this one"
            )
