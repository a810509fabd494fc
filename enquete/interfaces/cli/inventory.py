"""`enquete list`: simulations, their runs, methodologies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import one_object, result, table
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.words import say, tongue
from enquete.state.errors import EnqueteError, SimulationNotFound

if TYPE_CHECKING:
    from enquete.study.simulation_list import RunSummary

UNREADABLE = ("damaged", "newer")
METHODS = ("methods", "methodologies", "instruments")


def list_(
    what: Annotated[
        str | None, typer.Argument(metavar="[SIM|methods]", help="A simulation, or the word methods.")
    ] = None,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
) -> int:
    """What there is: the simulations under --root, the runs of one simulation or in one --out, or the methodologies.

    \b
    Examples:
      enquete list --root uploads            simulations and their runs
      enquete list --out results             the runs there
      enquete list sim_683e8059ab27 --root uploads
      enquete list methods                   methodologies with a shipped instrument

    \b
    Exit codes: 0 listed · 2 no such simulation
    """
    if what in METHODS:
        return list_methods(as_json)
    if what is None and out is not None:
        if not Path(out).expanduser().is_dir():
            raise SimulationNotFound(f"{out}: no such folder; name the one that results were written to with --out")
        return list_runs(Place(out, root, out), as_json)
    return list_simulations(root, as_json) if what is None else list_runs(Place(what, root, out), as_json)


def list_methods(as_json: bool) -> int:
    from enquete.study.listing import shipped_instruments  # noqa: PLC0415

    known = enquete.list_instruments()
    asked = {one.methodology: one for one in shipped_instruments(tongue())}
    if as_json:
        one_object({"methods": known, "instruments": {name: vars(one) for name, one in asked.items()}, "exit_code": 0})
        return 0
    rows = [
        [name, titles[tongue()], asked[name].topic, str(asked[name].items), "T0, T1" if asked[name].needs_t0 else "T1"]
        for name, titles in known.items()
    ]
    for line in table([say("method"), say("title"), say("topic"), say("items"), say("phases")], rows):
        result(line)
    return 0


def list_simulations(root: str | None, as_json: bool) -> int:
    from enquete.state.request import RunRequest  # noqa: PLC0415 - not for --help
    from enquete.state.settings import Environment, resolve_root  # noqa: PLC0415 - not for --help

    base = resolve_root(RunRequest(root=root), Environment.read())
    if not base.is_dir():
        raise SimulationNotFound(
            f"{base}: no such folder; name the one that holds simulations/ with --root or ENQUETE_ROOT"
        )
    found = {known.sim_id: enquete.list_runs(known.path) for known in enquete.list_simulations(base)}
    if as_json:
        one_object(
            {"root": str(base), "simulations": {s: run_objects(runs) for s, runs in found.items()}, "exit_code": 0}
        )
        return 0
    if not found:
        result(say("no_simulations", root=base))
        return 0
    rows = [
        [sim_id, *simulation_words(base, sim_id), str(len(runs)), latest_text(Place(sim_id, str(base)), runs)]
        for sim_id, runs in found.items()
    ]
    result(say("simulations_under", root=base))
    head = [say(key) for key in ("simulation", "topic", "agents_all", "types", "status", "runs", "latest")]
    for line in table(head, rows):
        result(line)
    return 0


TOPIC_CHARS, MOST_TYPES = 40, 3


def simulation_words(base: Path, sim_id: str) -> list[str]:
    """Topic, agents, types, completed or not; "?" where its files cannot be read."""
    from enquete.simulations.locate import locate  # noqa: PLC0415 - not for --help
    from enquete.study.simulation_list import simulation_facts  # noqa: PLC0415

    try:
        facts = simulation_facts(locate(sim_id, base))
    except EnqueteError:
        return ["?", "?", "?", "?"]
    topic = facts.topic if len(facts.topic) <= TOPIC_CHARS else f"{facts.topic[: TOPIC_CHARS - 1]}…"
    kinds = [f"{kind} {n}" for kind, n in facts.types.items()]
    listed = ", ".join([*kinds[:MOST_TYPES], *(["…"] if len(kinds) > MOST_TYPES else [])])
    return [
        " ".join(topic.split()),
        str(facts.agents),
        listed,
        say("completed") if facts.completed else say("not_completed", status=facts.status),
    ]


def latest_text(place: Place, runs: list[RunSummary]) -> str:
    return f"{runs[-1].run_id}: {say(state(place, runs[-1]))}" if runs else say("no_runs")


def state(place: Place, known: RunSummary) -> str:
    """What is filed, unless a process is driving it now. `started` alone was killed: it can be resumed like a paused one."""
    if known.status in ("completed", *UNREADABLE):
        return known.status
    from enquete.study.simulation_list import is_driven  # noqa: PLC0415 - not for --help

    if is_driven(place.sim, known.run_id, root=place.root, out=place.out):
        return "running"
    return "paused" if known.status == "started" else known.status


def list_runs(place: Place, as_json: bool) -> int:
    runs = enquete.list_runs(place.sim, root=place.root, out=place.out)
    if as_json:
        one_object({"sim": place.sim, "runs": run_objects(runs), "exit_code": 0})
        return 0
    if not runs:
        result(f"{say('no_runs')}; {say('next_run')}: {place.command('run')}")
        return 0
    head = [say("runs"), say("status"), say("created"), say("methods"), say("language")]
    rows = [[r.run_id, say(state(place, r)), r.created_at[:19], ", ".join(r.methods), r.language] for r in runs]
    result(say("runs_of", sim=place.sim))
    for line in table(head, rows):
        result(line)
    for known in runs:
        if known.status in UNREADABLE:
            result(f"\n{known.run_id}: {known.note}")
    return 0


def run_objects(runs: list[RunSummary]) -> list[dict[str, Any]]:
    return [
        {
            "run_id": run.run_id,
            "status": run.status,
            "note": run.note,
            "created_at": run.created_at,
            "methods": list(run.methods),
            "language": run.language,
            "resume_token": None if run.status in ("completed", *UNREADABLE) else run.resume_token,
        }
        for run in runs
    ]
