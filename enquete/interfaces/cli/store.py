"""`enquete list`, `enquete delete`, `enquete memory`: what is stored, deleted, and found again."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.summary import Place
from enquete.interfaces.cli.terminal import answer, number, remark, result, say, table, tongue
from enquete.interfaces.parameters import with_parameters
from enquete.state.errors import EnqueteError, SettingsError, SimulationNotFound
from enquete.state.request import DEFAULT_SYNC_PATIENCE_S, MemorySearch, parsed
from enquete.state.visible_text import warning

if TYPE_CHECKING:
    from enquete.study.deletion import Deletion
    from enquete.study.simulations import RunSummary

METHODS = ("methods", "methodologies", "instruments")
TOPIC_CHARS, MOST_TYPES, MOST_KEPT = 40, 3, 20


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
    from enquete.study.instruments import shipped_instruments  # noqa: PLC0415

    titles = enquete.list_instruments()
    asked = {instrument.methodology: instrument for instrument in shipped_instruments(tongue())}
    head = [say(key) for key in ("method", "title", "topic", "items", "phases")]
    rows = [
        [name, title[tongue()], asked[name].topic, str(asked[name].items), "T0, T1" if asked[name].needs_t0 else "T1"]
        for name, title in titles.items()
    ]
    facts = {"methods": titles, "instruments": {name: vars(instrument) for name, instrument in asked.items()}}
    return answer(as_json, facts, table(head, rows))


def list_simulations(root: str | None, as_json: bool) -> int:
    from enquete.state.settings import root_of  # noqa: PLC0415 - not for --help

    base = root_of(root)
    if not base.is_dir():
        hint = "name the one that holds simulations/ with --root or ENQUETE_ROOT"
        raise SimulationNotFound(f"{base}: no such folder; {hint}")
    runs_of = {known.sim_id: enquete.list_runs(known.path) for known in enquete.list_simulations(base)}
    if as_json or not runs_of:
        simulations = {sim_id: run_objects(runs) for sim_id, runs in runs_of.items()}
        return answer(as_json, {"root": str(base), "simulations": simulations}, [say("no_simulations", root=base)])
    head = [say(key) for key in ("simulation", "topic", "agents_all", "types", "status", "runs", "latest")]
    rows = []
    for sim_id, runs in runs_of.items():
        state = say(run_state(Place(sim_id, str(base)), runs[-1])) if runs else ""
        latest = f"{runs[-1].run_id}: {state}" if runs else say("no_runs")
        rows.append([sim_id, *simulation_words(base, sim_id), str(len(runs)), latest])
    return answer(False, {}, [say("simulations_under", root=base), *table(head, rows)])


def simulation_words(base: Path, sim_id: str) -> list[str]:
    """Topic, agents, types, completed or not; "?" where its files cannot be read."""
    from enquete.simulations.locate import locate  # noqa: PLC0415 - not for --help
    from enquete.study.simulations import simulation_facts  # noqa: PLC0415

    try:
        facts = simulation_facts(locate(sim_id, base))
    except EnqueteError:
        return ["?", "?", "?", "?"]
    topic = facts.topic if len(facts.topic) <= TOPIC_CHARS else f"{facts.topic[: TOPIC_CHARS - 1]}…"
    kinds = [f"{kind} {n}" for kind, n in facts.types.items()]
    listed = ", ".join([*kinds[:MOST_TYPES], *(["…"] if len(kinds) > MOST_TYPES else [])])
    end = say("completed") if facts.completed else say("not_completed", status=facts.status)
    return [" ".join(topic.split()), str(facts.agents), listed, end]


def run_state(place: Place, known: RunSummary) -> str:
    """What is filed, unless a process is driving it now. `started` alone was killed: it can be resumed as if paused."""
    if not known.can_go_on:
        return known.status
    from enquete.study.simulations import is_driven  # noqa: PLC0415 - not for --help

    if is_driven(place.sim, known.run_id, root=place.root, out=place.out):
        return "running"
    return "paused" if known.status == "started" else known.status


def list_runs(place: Place, as_json: bool) -> int:
    runs = enquete.list_runs(place.sim, root=place.root, out=place.out)
    if as_json or not runs:
        facts = {"sim": place.sim, "runs": run_objects(runs)}
        return answer(as_json, facts, [f"{say('no_runs')}; {say('next_run')}: {place.command('run')}"])
    head = [say(key) for key in ("runs", "status", "created", "methods", "language")]
    rows = [[r.run_id, say(run_state(place, r)), r.created_at[:19], ", ".join(r.methods), r.language] for r in runs]
    notes = [f"\n{known.run_id}: {known.note}" for known in runs if not known.is_readable]
    return answer(False, {}, [say("runs_of", sim=place.sim), *table(head, rows), *notes])


def run_objects(runs: list[RunSummary]) -> list[dict[str, Any]]:
    return [
        {**asdict(run), "methods": list(run.methods), "resume_token": run.resume_token if run.can_go_on else None}
        for run in runs
    ]


def delete(
    sim: o.Sim,
    run_id: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="run_id or resume token; all runs of SIM unless named.")
    ] = None,
    root: o.Root = None,
    out: o.Out = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    as_json: o.Json = False,
) -> int:
    """Delete one run or all runs of a simulation: answers, checkpoints, results, and what the memory holds of them.

    What goes is shown first, and you are asked. The simulation itself and every file that Enquete did not write stay. A
    run that a process is driving is not deleted, nor one that another run is measured against.

    \b
    Examples:
      enquete delete sim_683e8059ab27 run_20261121T203000_a1b2c3 --root uploads
      enquete delete personas.csv --out results --yes

    \b
    Exit codes: 0 deleted, or you said no · 1 a process is driving it · 2 no such simulation or run, or nobody could be
    asked
    """
    from enquete.study import deletion  # noqa: PLC0415 - takes seconds to import

    planned = deletion.deletion(sim, run_id, root=root, out=out)
    for line in () if as_json else deletion_lines(sim, planned):
        result(line)
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("delete: nobody can be asked here; add --yes to delete what was named")
        if not typer.confirm(say("delete_confirm"), default=False, err=True):
            remark(say("delete_declined"))
            return 0
    gone = deletion.delete(sim, run_id, root=root, out=out)
    kept = [str(file) for file in gone.kept]
    facts = {"sim": sim, "deleted": list(gone.runs), "files": len(gone.files), "bytes": gone.bytes, "kept": kept}
    return answer(as_json, facts, [say("deleted", runs=len(gone.runs))])


def deletion_lines(sim: str, planned: Deletion) -> list[str]:
    """What goes, and what stays of what lies beside it."""
    files, megabytes = number(len(planned.files)), f"{planned.bytes / 1e6:.1f}"
    told = [say("deletes", sim=sim, files=files, size=megabytes, path=planned.interviews)]
    told += [f"  {run}" for run in planned.runs]
    if planned.kept:
        told += [say("delete_keeps"), *(f"  {file}" for file in planned.kept[:MOST_KEPT])]
        told += ["  …"] if len(planned.kept) > MOST_KEPT else []
    return told + ([say("delete_graphs", graphs=", ".join(planned.graphs))] if planned.graphs else [])


memory = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@memory.callback()
def about() -> None:
    """Find interviews again, send them to a graph, see which configuration was preferred.

    Every run leaves episodes in its exports; one with --memory zep-cloud or zep sends them to that graph, too.
    docs/memory.md.
    """


@memory.command()
@with_parameters(o.options_for("agent", "limit", model=MemorySearch))
def search(
    sim: o.Sim,
    query: Annotated[str, typer.Argument(metavar="[WORDS]", help=o.help_of("query", MemorySearch))] = "",
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
    **typed: Any,
) -> int:
    """Find interviews by words and agent; the newest without words.

    \b
    Examples:
      enquete memory search ./my_sim quota
      enquete memory search ./my_sim "parking ban" --agent "Marie Holm"

    \b
    Exit codes: 0 looked · 1 the memory cannot be read · 2 no such simulation, or nobody interviewed
    """
    asked = parsed(MemorySearch, {"query": query, **typed})
    episodes = enquete.search_memory(sim, **asked.model_dump(), root=root, out=out)
    computed = warning([episode.respondent for episode in episodes], tongue())
    facts = {"sim": sim, "warning": computed, "episodes": [episode.model_dump(mode="json") for episode in episodes]}
    lines = [f"{episode.text}\n  {episode.id}" for episode in episodes] or [say("nothing_remembered")]
    return answer(as_json, facts, [f"{computed}\n", *lines] if computed else lines)


@memory.command()
def sync(
    sim: o.Sim,
    kind: Annotated[
        Literal["zep-cloud", "zep"] | None,
        typer.Option("--memory", help="Which graph; else that of the latest run that has one, else ENQUETE_MEMORY."),
    ] = None,
    patience: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="How long to wait in all for a graph that asks to be waited for."),
    ] = DEFAULT_SYNC_PATIENCE_S,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
) -> int:
    """Send the interviews that the graph has not got; each arrives once, however often this is called.

    \b
    Examples:
      enquete memory sync ./my_sim
      enquete memory sync ./my_sim --memory zep-cloud

    \b
    Exit codes: 0 all sent · 1 some are left, and listed · 2 no such simulation, or no graph
    """
    done = enquete.sync_memory(sim, memory=kind, patience_s=patience, root=root, out=out)
    left, code = [episode.id for episode in done.left], 1 if done.left else 0
    lines = [say("episodes_sent", sent=done.sent)]
    if left:
        lines += [say("episodes_left", left=len(left), why=done.why), *(f"  {episode_id}" for episode_id in left)]
    return answer(as_json, {"sim": sim, "sent": done.sent, "left": left, "why": done.why}, lines, code)


@memory.command()
def preferences(sim: o.Sim, root: o.Root = None, out: o.Out = None, as_json: o.Json = False) -> int:
    """Which configuration of a respondent won how often, by type of question and of stakeholder, over all runs.

    \b
    Examples:
      enquete memory preferences ./my_sim
      enquete memory preferences ./my_sim --json

    \b
    Exit codes: 0 shown · 1 the memory cannot be read · 2 no such simulation
    """
    standings = enquete.memory_preferences(sim, root=root, out=out)
    head = [say(key) for key in ("question_type", "stakeholder_type", "configuration", "win_rate", "wins", "ties", "n")]
    rows = [
        [s.question_type, s.stakeholder_type, s.configuration, f"{s.rate:.2f} ({s.low:.2f}–{s.high:.2f})",
         str(s.wins), str(s.ties), str(s.n)]
        for s in standings
    ]  # fmt: skip
    facts = {"sim": sim, "preferences": [asdict(s) for s in standings]}
    return answer(as_json, facts, table(head, rows) if rows else [say("no_preferences")])
