"""`status`, `list`, `check`, `report`, `export`: commands that ask nobody anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli import summary
from enquete.interfaces.cli.driving import show
from enquete.interfaces.cli.instrument_check import check_instrument
from enquete.interfaces.cli.output import one_object, result, table
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.requests import requested
from enquete.interfaces.cli.words import say, tongue
from enquete.interfaces.service.declared import taking
from enquete.state.errors import EnqueteError, RunNotFound, SettingsError, SimulationNotFound

if TYPE_CHECKING:
    from enquete.study import Run, RunSummary

UNREADABLE = ("damaged", "newer")
METHODS = ("methods", "methodologies", "instruments")


def status(sim: o.Sim, run_id: o.RunId = None, root: o.Root = None, out: o.Out = None, as_json: o.Json = False) -> int:
    """How far a run is: per methodology and phase its state, agents, answers by status, tokens spent and likely to come.

    Agents answered: with at least one usable answer; complete: with every answer usable. Also what the run has cost, which
    cap holds, whether a process is driving it, and what to do next.
    Without RUN the latest unfinished run of the simulation, else its canonical one. Works while the run is going on.

    \b
    Example:
      enquete status sim_683e8059ab27 --root uploads

    \b
    Exit codes: 0 shown, whatever the run's state · 1 its ledger cannot be read · 2 no such simulation or run
    """
    return show(chosen_run(sim, run_id, root, out), Place(sim, root, out), as_json, 0)


def chosen_run(sim: str, run_id: str | None, root: str | None, out: str | None) -> Run:
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    named = run_id is not None
    run = study.load_run(sim, run_id, root=root, out=out) if named else study.current_run(sim, root=root, out=out)
    run.shown = False  # nothing was asked for, so nothing needs explaining
    return run


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
    from enquete import study  # noqa: PLC0415 - takes seconds to import
    from enquete.study.listing import shipped_instruments  # noqa: PLC0415

    known = study.list_instruments()
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
    from enquete import study  # noqa: PLC0415 - takes seconds to import
    from enquete.state.request import RunRequest  # noqa: PLC0415 - not for --help
    from enquete.state.settings import Environment, resolve_root  # noqa: PLC0415 - not for --help

    base = resolve_root(RunRequest(root=root), Environment.read())
    if not base.is_dir():
        raise SimulationNotFound(
            f"{base}: no such folder; name the one that holds simulations/ with --root or ENQUETE_ROOT"
        )
    found = {known.sim_id: study.list_runs(known.path) for known in study.list_simulations(base)}
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
    from enquete.study.listing import simulation_facts  # noqa: PLC0415

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
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    if known.status in ("completed", *UNREADABLE):
        return known.status
    run = study.load_run(place.sim, known.run_id, root=place.root, out=place.out)
    return "running" if run.is_driven else run.status


def list_runs(place: Place, as_json: bool) -> int:
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    runs = study.list_runs(place.sim, root=place.root, out=place.out)
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


@taking(o.some("model", "base_url", "respondent", "language", "types", "where", "seed", "budget_tokens"))
def check(
    sim: Annotated[
        str | None, typer.Argument(metavar="[SIM]", help="As for run; may be left out with --instrument.")
    ] = None,
    instrument: Annotated[
        str | None,
        typer.Option("--instrument", metavar="[METHOD=]FILE", help="Read this instrument's items by the rules."),
    ] = None,
    pilot: Annotated[
        int | None,
        typer.Option(
            "--pilot", metavar="N", min=1, max=100, help="Try it on so many agents of SIM; costs are shown before."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a pilot is paid.")] = False,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
    **said: Any,
) -> int:
    """Say what a simulation or personas file holds, what is missing and what does not match. Creates and asks nothing.

    With --out also which runs are there. With --instrument an instrument instead: what is derived, and items that are
    double-barrelled, leading, negated, vague, too long, keyed one way, translated otherwise or said twice. --pilot asks a few
    agents, once more in another order of the items, and says which items nobody differs in, are not read, or depend on the order.

    \b
    Examples:
      enquete check sim_683e8059ab27 --root uploads
      enquete check personas.csv --out results
      enquete check --instrument my.yaml
      enquete check ./my_sim --instrument longitudinal=my.csv --pilot 8

    \b
    Exit codes: 0 can be interviewed · 2 not before the errors shown are put right, or no such simulation
    """
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    if instrument is not None:
        request = requested({**said, "root": root, "out": out})
        return check_instrument(sim, instrument, pilot, yes, as_json, request)
    if sim is None or pilot is not None:
        raise SettingsError("check: name a simulation or personas file, or an instrument with --instrument FILE")
    report = study.check(sim, root=root)
    code = 0 if report.ok else 2
    runs = study.list_runs(sim, root=root, out=out) if out or report.kind == "simulation" else []
    if as_json:
        one_object({**report.model_dump(mode="json"), "ok": report.ok, "runs": run_objects(runs), "exit_code": code})
    else:
        result(report.render(tongue()))
        if out or runs:
            result(f"{say('runs')}: {', '.join(run.run_id for run in runs) or say('no_runs')}")
    return code


Brief: TypeAlias = Annotated[
    bool, typer.Option("--brief", help="Page one alone: what was found, and whether it can be used.")
]


def report(
    sim: o.Sim,
    run_id: o.RunId = None,
    root: o.Root = None,
    out: o.Out = None,
    brief: Brief = False,
    as_json: o.Json = False,
) -> int:
    """Print a run's report: formatted in a terminal, Markdown anywhere else.

    \b
    Examples:
      enquete report sim_683e8059ab27 --root uploads
      enquete report ./my_sim --brief
      enquete report ./my_sim > report.md

    \b
    Exit codes: 0 printed · 1 its ledger cannot be read · 2 no such simulation or run, or no report yet
    """
    run = chosen_run(sim, run_id, root, out)
    if not run.report:
        command = Place(sim, root, out).command("export", run.run_id)
        raise RunNotFound(f"run {run.run_id} has no report; write it from the ledger with: {command}")
    if as_json:
        told = {"page_one": run.page_one} if brief else {"page_one": run.page_one, "markdown": run.report}
        one_object({"run_id": run.run_id, "report": summary.report_path(run), **told, "exit_code": 0})
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - not for --help
        from rich.markdown import Markdown  # noqa: PLC0415

        Console().print(Markdown(run.brief if brief else run.report))
    else:
        result(run.brief if brief else run.report)
    return 0


Format: TypeAlias = Annotated[
    Literal["csv", "jsonl", "codebook", "figures", "all"],
    typer.Option(
        "--format",
        help="Which files to name: csv (all_responses.csv), jsonl (rows by methodology and phase, audits, episodes), "
        "codebook (JSON and Markdown), figures, all.",
    ),
]


Language: TypeAlias = Annotated[
    str, typer.Option(metavar="LANG", help="Language of report and figures, where it is not that of the interviews.")
]
Figures: TypeAlias = Annotated[
    Literal["svg", "png", "pdf"],
    typer.Option(
        "--figures",
        help="Figures as files of this kind, too; svg is always written, png and pdf need the extra figures.",
    ),
]


def export(
    sim: o.Sim,
    run_id: o.RunId = None,
    root: o.Root = None,
    out: o.Out = None,
    format_: Format = "all",
    figures: Figures = "svg",
    language: Language = "",
    as_json: o.Json = False,
) -> int:
    """Write a run's report, figures and data files again from its ledger, and say where they are; nobody is asked.

    For files that were deleted or edited, and after an update of Enquete. Always writes all of them, so that they agree
    with one another; --format chooses which are named.

    \b
    Examples:
      enquete export sim_683e8059ab27 --root uploads
      enquete export ./my_sim --format csv
      enquete export ./my_sim --figures png
      enquete export ./my_sim --language en

    \b
    Exit codes: 0 written · 1 the ledger is damaged · 2 no such simulation or run
    """
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    path = study.export(sim, run_id, root=root, out=out, figures=figures, language=language)
    files = exported(path, format_)
    if as_json:
        one_object({"path": str(path), "format": format_, "files": files, "exit_code": 0})
        return 0
    result(say("exported", path=path))
    for file in files:
        result(f"  {file}")
    return 0


def exported(path: Path, format_: str) -> list[str]:
    """The run's files of this format, relative to its synthesis folder; rows by phase stand beside it (../../T1/…)."""
    interviews, run_id = path.parent.parent, path.name
    stages = sorted(file for file in interviews.glob(f"T[01]/*/{run_id}/*") if file.is_file())
    own = sorted(file for file in path.rglob("*") if file.is_file())
    wanted = {
        "csv": [file for file in own if file.suffix == ".csv"],
        "jsonl": [file for file in (*own, *stages) if file.suffix == ".jsonl"],
        "codebook": [file for file in own if file.stem == "codebook"],
        "figures": [file for file in own if file.parent.name == "figures"],
        "all": [*own, *stages],
    }
    return [Path(os.path.relpath(file, path)).as_posix() for file in wanted[format_]]
