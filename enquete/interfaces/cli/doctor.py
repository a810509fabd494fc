"""`doctor`: whether Enquete can work here, and what is missing, in plain words. Asks no model but for its list.

Measured by: no key is shown, nothing is left behind, the exit code is 1 exactly when something needed is missing.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.terminal import answer, tongue
from enquete.locale import N_, in_language
from enquete.state.errors import EnqueteError, RunNotFound, SimulationNotFound
from enquete.state.request import parse_request
from enquete.state.settings import SECRETS, Environment, in_dotenv

# --- `enquete doctor --repair RUN`: the backup copy put in place of a damaged ledger ---------------------------------


def repair(name: str, root: str | None, out: str | None, as_json: bool) -> int:
    """Raises RunNotFound, RunLocked, LedgerError (nothing was changed then)."""
    from enquete.ledger.repair import restore  # noqa: PLC0415 - not for --help

    folder = named_folder(name, root, out)
    report = restore(folder)
    kept = None if report.kept is None else str(report.kept)
    facts = {
        "ledger": str(report.ledger), "kept": kept, "restored": report.was_damaged, "copied_at": report.at,
        "settled": report.settled, "asked_again": report.again, "damage": str(report.damage),
        "rows_replaced": report.replaced, "rows_dropped": report.dropped,
    }  # fmt: skip
    return answer(as_json, facts, report.lines())


def named_folder(name: str, root: str | None, out: str | None) -> Path:
    """The run's folder or its ledger as a path; else its run_id or token under --root, --out, or its simulation."""
    from enquete.ledger.drives import LEDGER, has_ledger  # noqa: PLC0415 - not for --help
    from enquete.study.start import damaged_run  # noqa: PLC0415

    path = Path(name).expanduser()
    if path.name == LEDGER and path.parent.is_dir():
        return path.parent
    if path.is_dir() and (path.name.startswith("run_") or has_ledger(path)):
        return path
    try:
        return damaged_run(name, root=root, out=out)
    except SimulationNotFound as error:
        raise RunNotFound(
            f"--repair {name!r}: no such folder, run or simulation; name the run's folder, such as "
            "SIM/interviews/runs/run_…, its run_id with --root or --out, or its simulation"
        ) from error


TIMEOUT_S = 5.0
FARTHEST_S = 2.0
LEAST_PYTHON = (3, 11)
LEAST_SQLITE = (3, 37)  # STRICT tables
PACKAGES = ("enquete", "langgraph", "langgraph-checkpoint-sqlite", "langchain-openai", "openai", "pydantic", "pandas",
            "scipy", "scikit-learn", "typer", "rich", "jinja2", "cmarkgfm")  # fmt: skip

Verdict = Literal["ok", "info", "missing"]

TEXTS: Mapping[str, str] = {
    "python": N_("Python {version} on {system}"),
    "python_old": N_("Python {version}: 3.11 or newer is needed"),
    "package": N_("{name} {version}"),
    "package_missing": N_("{name} is not installed: install Enquete again (pip install enquete)"),
    "methodology": N_("methodology {name} of another package ({value})"),
    "methodology_broken": N_("methodology {name} of another package cannot be loaded: {why}"),
    "set": N_("{name}: set, from {where}"),
    "shown": N_("{name} = {value}, from {where}"),
    "unset": N_("not set: {names}"),
    "environment": N_("the environment"),
    "fault": N_("{error}"),
    "offline": N_(
        "no key and no server: the synthetic respondent answers; set LLM_API_KEY or LLM_BASE_URL for a model"
    ),
    "no_model": N_("a server but no model is named: set LLM_MODEL_NAME or give --model"),
    "root": N_("{path}: readable, {n} simulations"),
    "root_missing": N_("{path}: no such folder; name another with --root or ENQUETE_ROOT"),
    "root_unreadable": N_("{path}: {error}"),
    "sqlite": N_("SQLite {version}"),
    "sqlite_old": N_("SQLite {version}: 3.37 or newer is needed"),
    "wal": N_("{path}: results can be written, SQLite keeps its write-ahead log there"),
    "wal_missing": N_(
        "{path}: SQLite gives journal mode {mode} instead of WAL (a network drive?); name a local folder with --out"
    ),
    "unwritable": N_("{path}: {error}; name another folder for the results with --out"),
    "store": N_("{url}: PostgreSQL {version}, runs can be kept there"),
    "store_old": N_("{url}: PostgreSQL {version}; 13 or newer is needed"),
    "store_clock": N_("{url}: its clock is {seconds:.0f} s away from this machine's; set both by NTP"),
    "server": N_("{url}: reachable, {n} models"),
    "server_knows": N_("{url}: reachable, knows {model}"),
    "server_unknown": N_("{url}: reachable, but its list of {n} models does not hold {model}"),
    "server_unlisted": N_("{url}: reachable; it lists no models (HTTP {status})"),
    "server_key": N_("{url}: refuses the key (HTTP {status}); look at LLM_API_KEY"),
    "server_down": N_("{url}: not reachable ({error}); look at LLM_BASE_URL"),
    "processes": N_("{n} processes by Dask {dask}, on {cpus} processors"),
    "no_workers": N_("{chosen}: the scheduler answers, but has no workers with Enquete; start some with `dask worker`"),
    "worker": N_("worker {where} on {host}: Enquete {version}, Python {python}"),
    "worker_version": N_("worker {where} on {host}: Enquete {version}, here is {here}; install the same there"),
    "worker_elsewhere": N_(
        "worker {where} on {host}: on another machine, which a ledger in a file cannot be shared with; name --store"
    ),
    "worker_store": N_(
        "worker {where} on {host}: {error}; a password is not sent, set PGPASSWORD or ENQUETE_STORE where it is started"
    ),
    "worker_key": N_("worker {where} on {host}: no LLM_API_KEY; keys are not sent, set it where it is started"),
    "worker_clock": N_("worker {where} on {host}: its clock is off by {late} s; set it by a time server"),
    "fine": N_("Everything needed is there."),
    "ill": N_("Missing: {n}. The lines with ✗ say what to do."),
}
_MARKS: Mapping[Verdict, str] = {"ok": "✓", "info": "·", "missing": "✗"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    verdict: Verdict
    text: str


def _check(name: str, verdict: Verdict, key: str, /, **values: object) -> Check:
    return Check(name, verdict, _told(key, **values))


def _told(key: str, /, **values: object) -> str:
    return in_language(TEXTS, tongue())[key].format(**values)


def doctor(
    root: o.Root = None,
    out: o.Out = None,
    store: o.Store = None,
    executor: Annotated[str | None, o.option_of("executor")] = None,
    repair_: Annotated[
        str | None,
        typer.Option(
            "--repair",
            metavar="RUN",
            help="Run whose ledger is damaged: put its backup copy in place. Its run_id or folder, or its simulation.",
        ),
    ] = None,
    as_json: o.Json = False,
) -> int:
    """Look whether everything needed is here: Python, packages, settings, folders, SQLite, the store, the model server.

    Keys are never shown. The server, if one is set, is asked for its list of models and nothing else; a cluster's
    workers are looked at where --executor names it.

    \b
    Examples:
      enquete doctor
      enquete doctor --root uploads
      enquete doctor --store postgresql://ada@db.example/enquete
      enquete doctor --executor dask:tcp://host:8786 --store postgresql://ada@db.example/enquete
      enquete doctor --repair run_20261121T203000_a1b2c3 --root uploads
      enquete doctor --repair ./my_sim/interviews/runs/run_20261121T203000_a1b2c3

    \b
    Exit codes: 0 everything needed is there, or repaired · 1 something is missing, or beyond repair · 2 no such run
    """
    if repair_ is not None:
        return repair(repair_, root, out, as_json)
    checks = list(examine(root, out, parse_request(sim="", store=store).store if store else None, executor))
    missing = sum(check.verdict == "missing" for check in checks)
    lines = [f"{_MARKS[check.verdict]} {check.text}" for check in checks]
    lines += ["", _told("ill", n=missing) if missing else _told("fine")]
    facts = {"checks": [asdict(check) for check in checks], "ok": not missing}
    return answer(as_json, facts, lines, 1 if missing else 0)


def examine(
    root: str | None, out: str | None, store: str | None = None, executor: str | None = None
) -> Iterator[Check]:
    """All checks, in the order in which a missing thing explains the next."""
    yield from _python()
    yield from _methodologies()
    yield from _settings()
    try:
        environment = Environment.read()
    except EnqueteError as error:
        yield _check("settings", "missing", "fault", error=error)
        environment = Environment.model_construct()
    base = Path(root or environment.root or ".").expanduser()
    yield from _root(base)
    yield from _sqlite(Path(out).expanduser() if out else base)
    yield from _store(store or environment.store or "")
    yield from _servers(environment)
    yield from _workers(executor, store, environment)


def _python() -> Iterator[Check]:
    fine = sys.version_info >= LEAST_PYTHON
    yield _check(
        "python", "ok" if fine else "missing", "python" if fine else "python_old", version=platform.python_version(),
        system=platform.system(),
    )  # fmt: skip
    for name in PACKAGES:
        try:
            yield _check(name, "ok", "package", name=name, version=version(name))
        except PackageNotFoundError:
            yield _check(name, "missing", "package_missing", name=name)


def _methodologies() -> Iterator[Check]:
    """Those of other packages; Enquete's own are always there."""
    from enquete.methods.registry import entries, registry  # noqa: PLC0415 - loads every methodology

    for entry in entries():
        why = registry().broken.get(entry.name)
        key = "methodology_broken" if why else "methodology"
        yield _check("methodology", "missing" if why else "ok", key, name=entry.name, value=entry.value, why=why)


def _settings() -> Iterator[Check]:
    """What is set and where; an environment variable beats .env, an empty one counts as not set."""
    file = in_dotenv()
    unset = []
    for name in Environment.variables():
        where = _told("environment") if os.environ.get(name) else ".env" if file.get(name) else ""
        value = os.environ.get(name) or file.get(name) or ""
        if not where:
            unset.append(name)
        elif name in SECRETS:
            yield _check(name, "ok", "set", name=name, where=where)
        else:
            shown = shown_server(value) if name == "LLM_BASE_URL" else value
            yield _check(name, "ok", "shown", name=name, value=shown, where=where)
    if unset:
        yield _check("unset", "info", "unset", names=", ".join(unset))


def shown_server(url: str) -> str:
    """Without user, password and query."""
    from enquete.models.faults import shown_url  # noqa: PLC0415 - not for --help

    return shown_url(url)


def _root(base: Path) -> Iterator[Check]:
    if not base.is_dir():
        yield _check("root", "missing", "root_missing", path=base)
        return
    folder = base / "simulations" if (base / "simulations").is_dir() else base
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        yield _check("root", "missing", "root_unreadable", path=base, error=error.strerror or error)
        return
    n = sum(entry.is_dir() for entry in entries) if folder != base else 0
    yield _check("root", "ok", "root", path=base, n=n)


def _sqlite(folder: Path) -> Iterator[Check]:
    """SQLite's version, and whether it keeps a write-ahead log in the results folder, or where that would be made."""
    from enquete.ledger.connection import DatabaseError, journal_mode, sqlite_version  # noqa: PLC0415 - not for --help

    version = sqlite_version()
    fine = tuple(map(int, version.split("."))) >= LEAST_SQLITE
    yield _check("sqlite", "ok" if fine else "missing", "sqlite" if fine else "sqlite_old", version=version)
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir())
    try:
        mode = journal_mode(place)
    except (OSError, DatabaseError) as error:
        why = getattr(error, "strerror", None) or error
        yield _check("results", "missing", "unwritable", path=place, error=why)
        return
    if mode == "wal":
        yield _check("results", "ok", "wal", path=place)
    else:
        yield _check("results", "missing", "wal_missing", path=place, mode=mode)


def _store(url: str) -> Iterator[Check]:
    """Whether a run could make its schema there. Leaves nothing."""
    if not url:
        return
    from enquete.ledger.postgres import LEAST_SERVER, examined  # noqa: PLC0415 - not for --help

    try:
        version, apart_s = examined(url)
    except EnqueteError as error:
        yield _check("store", "missing", "fault", error=error)
        return
    old = version < LEAST_SERVER
    shown = f"{version // 10000}.{version % 10000}"
    yield _check("store", "missing" if old else "ok", "store_old" if old else "store", url=url, version=shown)
    if abs(apart_s) > FARTHEST_S:
        yield _check("store", "info", "store_clock", url=url, seconds=abs(apart_s))


# --- the workers -----------------------------------------------------------------------------------------------------

MOST_LATE_S = 5.0
"""By which a worker's clock may be off: its answers would be filed under a wrong time."""


def _workers(executor: str | None, store: str | None, environment: Environment) -> Iterator[Check]:
    """What a run by several processes needs of each: the same Enquete, a key, the database, the time of day."""
    from enquete.runs import executors, worker  # noqa: PLC0415 - not for --help
    from enquete.state.request import LOCAL  # noqa: PLC0415
    from enquete.state.settings import resolve_machine  # noqa: PLC0415

    try:
        machine = resolve_machine(parse_request(executor=executor), environment)
        chosen = machine.executor
        if chosen == LOCAL:
            return
        executors.require_executor(chosen, None, machine)
        n = executors.processes_of(chosen)
        if n:
            yield _check("executor", "ok", "processes", n=n, dask=version("distributed"), cpus=os.cpu_count())
            return
        url = store or environment.store or ""
        workers, late = executors.look_at_workers(chosen, url)
    except EnqueteError as error:
        yield _check("executor", "missing", "fault", error=error)
        return
    if not workers:
        yield _check("executor", "missing", "no_workers", chosen=chosen)
    here, boot = version("enquete"), worker.facts()["boot"]
    for where, state in workers.items():
        faults = {
            "worker_version": state["enquete"] != here,
            "worker_elsewhere": not url and state["boot"] != boot,
            "worker_store": state["store"],
            "worker_key": environment.api_key is not None and not state["has_key"],
            "worker_clock": late[where] > MOST_LATE_S,
        }
        fault = next((key for key, is_so in faults.items() if is_so), "")
        yield _check(
            "worker", "missing" if fault else "ok", fault or "worker", where=where, host=state["host"], here=here,
            version=state["enquete"], python=state["python"], error=state["store"], late=round(late[where]),
        )  # fmt: skip


# --- the server ------------------------------------------------------------------------------------------------------


def _servers(environment: Environment) -> Iterator[Check]:
    from enquete.models.faults import checked_url  # noqa: PLC0415 - not for --help

    if not environment.base_url:
        if environment.api_key is None:
            yield _check("server", "info", "offline")
        return
    if not environment.model:
        yield _check("model", "info", "no_model")
    key = environment.api_key.get_secret_value() if environment.api_key else ""
    if "," in environment.base_url:
        try:
            checked_url(environment.base_url)
        except EnqueteError as error:
            yield _check("server", "missing", "fault", error=error)
        return
    yield from _server(shown_server(environment.base_url), key, environment.model)


def _server(url: str, key: str, model: str | None) -> Iterator[Check]:
    try:
        models = listed(url, key)
    except urllib.error.HTTPError as error:
        error.close()
        refused = error.code in (401, 403)
        which = "server_key" if refused else "server_unlisted"
        yield _check("server", "missing" if refused else "info", which, url=url, status=error.code)
        return
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        text = str(getattr(reason, "strerror", None) or reason)
        yield _check("server", "missing", "server_down", url=url, error=text.replace(key, "…") if key else text)
        return
    facts = {"url": url, "model": model, "n": len(models)}
    if model and models and model not in models:
        yield _check("server", "info", "server_unknown", **facts)
    else:
        yield _check("server", "ok", "server_knows" if model and models else "server", **facts)


def listed(base_url: str, key: str) -> list[str]:
    """Ids of GET {base_url}/models; [] where the answer is no list.

    Raises HTTPError, OSError (no connection within TIMEOUT_S), ValueError (no URL).
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"{base_url.rstrip('/')}/models", headers=headers)
    if request.type not in ("http", "https"):
        raise ValueError(f"{request.type} is not http or https")
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        text = answer.read(1_000_000)
    try:
        content = json.loads(text)
    except ValueError:
        return []
    data = content.get("data") if isinstance(content, dict) else None
    entries = data if isinstance(data, list) else []
    return [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]
