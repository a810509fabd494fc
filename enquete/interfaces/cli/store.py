"""`enquete list`, `enquete delete`, `enquete memory`: what is stored, deleted, and found again.

`enquete status`, `report`, `export`: how far a run is, and what it found. They ask nobody anything.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.summary import Place, report_path, show
from enquete.interfaces.cli.terminal import answer, number, remark, result, say, table, tongue
from enquete.interfaces.parameters import with_parameters
from enquete.state.errors import EnqueteError, RunNotFound, SettingsError, SimulationNotFound
from enquete.state.request import BOM, DEFAULT_SYNC_PATIENCE_S, FigureFormat, MemorySearch, parsed
from enquete.state.untrusted_input import warning

if TYPE_CHECKING:
    from enquete.study.run import Run
    from enquete.study.runs import Deletion
    from enquete.study.simulations import RunSummary


# --- status, report, export ------------------------------------------------------------------------------------------


def status(sim: o.Sim, run_id: o.RunId = None, root: o.Root = None, out: o.Out = None, as_json: o.Json = False) -> int:
    """How far a run is: per methodology and phase its state, agents, answers by status, tokens spent and likely to
    come.

    Agents answered: with at least one usable answer; complete: with every answer usable. Also what the run has cost,
    which cap holds, whether a process is driving it, and what to do next. Without RUN the latest unfinished run of the
    simulation, else its canonical one. Works while the run is going on.

    \b
    Example:
      enquete status sim_683e8059ab27 --root uploads

    \b
    Exit codes: 0 shown, whatever the run's state · 1 its ledger cannot be read · 2 no such simulation or run
    """
    return show(find_run(sim, run_id, root, out), Place(sim, root, out), as_json, 0)


def find_run(sim: str, run_id: str | None, root: str | None, out: str | None) -> Run:
    from enquete.study.runs import current_run  # noqa: PLC0415 - takes seconds to import

    run = current_run(sim, root=root, out=out) if run_id is None else enquete.load_run(sim, run_id, root=root, out=out)
    run.shown = False  # nothing was asked for, so nothing needs explaining
    return run


def report(
    sim: o.Sim,
    run_id: o.RunId = None,
    root: o.Root = None,
    out: o.Out = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Page one alone: what was found, and whether it can be used.")
    ] = False,
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
    run = find_run(sim, run_id, root, out)
    if not run.report:
        command = Place(sim, root, out).command("export", run.run_id)
        raise RunNotFound(f"run {run.run_id} has no report; write it from the ledger with: {command}")
    text = run.brief if brief else run.report
    if sys.stdout.isatty() and not as_json:
        from rich.console import Console  # noqa: PLC0415 - not for --help
        from rich.markdown import Markdown  # noqa: PLC0415

        Console().print(Markdown(text))
        return 0
    facts = {"run_id": run.run_id, "report": report_path(run), "page_one": run.page_one}
    return answer(as_json, facts if brief else {**facts, "markdown": run.report}, [text])


def export(
    sim: o.Sim,
    run_id: o.RunId = None,
    root: o.Root = None,
    out: o.Out = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="A,B",
            help="Write the data in these formats instead: csv, parquet (R, Python, DuckDB), sav (SPSS, jamovi, R's "
            "haven; with labels and missing codes), xlsx (one workbook, a sheet a table, a codebook).",
        ),
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where a folder a format is made; exports/ of the run unless named."),
    ] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Answers with a row an agent and a column an item, alone; both ways unless named."),
    ] = False,
    long: Annotated[bool, typer.Option("--long", help="Answers with a row an answer, alone.")] = False,
    bom: Annotated[bool, typer.Option("--bom", help=f"{BOM}.")] = False,
    figures: Annotated[
        FigureFormat,
        typer.Option("--figures", help="Figures as files of this kind, too; svg is always written."),
    ] = "svg",
    language: Annotated[
        str,
        typer.Option(metavar="LANG", help="Language of report and figures, where it is not that of the interviews."),
    ] = "",
    by: Annotated[str, o.option_of("by")] = "",
    as_json: o.Json = False,
) -> int:
    """Write a run's report, figures and data files again from its ledger, or its data in other formats; nobody is
    asked.

    Without --format everything is written again, so that the files agree with one another: after files were deleted or
    edited, and after an update of Enquete.

    With --format only the data are written, a folder a format: all_responses (a row an answer, with its status),
    agents, items, and for every methodology its tables and its answers, long and wide (a row an agent, a column an
    item). What every column, code and missing value means stands beside them in datapackage.json. In .sav files a
    refused, invalid, failed or unreached answer has a user-missing code. Such a folder goes when the run is written
    again, since it no longer agrees.

    \b
    Examples:
      enquete export sim_683e8059ab27 --root uploads
      enquete export ./my_sim --format xlsx --to ~/Documents
      enquete export ./my_sim --format sav,parquet --wide
      enquete export ./my_sim --format csv --bom
      enquete export ./my_sim --figures png --language en
      enquete export personas.csv --out results --by region

    \b
    Exit codes: 0 written · 1 a methodology's code failed (all else is written), or the ledger is damaged
    2 no such simulation, run or format
    """
    formats = [name.strip() for name in format_.split(",") if name.strip()]
    if formats:
        if figures != "svg":
            raise SettingsError("--figures belongs to an export without --format, which writes data alone")
        layout = "wide" if wide and not long else "long" if long and not wide else "both"
        run = enquete.load_run(sim, run_id, root=root, out=out)
        path = to or run.path / "exports"
        with _gaps_caught() as gaps:
            # Checked there.
            written = run.export(
                *formats,  # type: ignore[arg-type]
                to=to,
                layout=layout,  # type: ignore[arg-type]
                bom=bom,
                language=language,
                by=by,
            )
    else:
        given = {"--to": to, "--wide": wide, "--long": long, "--bom": bom}
        if lonely := next((name for name, value in given.items() if value), ""):
            raise SettingsError(f"{lonely} says how data are written: name formats, too, as --format xlsx")
        with _gaps_caught() as gaps:
            path = enquete.export(sim, run_id, root=root, out=out, figures=figures, language=language, by=by)
        # The synthesis folder, and rows by phase, which stand beside it (../../T1/…).
        stages = path.parent.parent.glob(f"T[01]/*/{path.name}/*")
        written = [file for paths in (path.rglob("*"), stages) for file in sorted(paths) if file.is_file()]
    names = [Path(os.path.relpath(file, path)).as_posix() for file in written]
    facts = {"path": str(path), "formats": formats, "files": names, "missing": gaps}
    lines = [say("exported", path=path), *(f"  {name}" for name in names)]
    if gaps:
        lines += [say("gaps"), *(f"  {gap}" for gap in gaps)]
    return answer(as_json, facts, lines, 1 if gaps else 0)


@contextmanager
def _gaps_caught() -> Iterator[list[str]]:
    """What the export inside warns of: sentences that name what is missing of a methodology whose code failed."""
    from enquete.study.run import IncompleteExportWarning  # noqa: PLC0415 - not for --help

    gaps: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IncompleteExportWarning)
        yield gaps
    for each in caught:
        if issubclass(each.category, IncompleteExportWarning):
            gaps.append(str(each.message))
        else:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)


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
    from enquete.study import runs  # noqa: PLC0415 - takes seconds to import

    planned = runs.deletion(sim, run_id, root=root, out=out)
    for line in () if as_json else deletion_lines(sim, planned):
        result(line)
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("delete: nobody can be asked here; add --yes to delete what was named")
        if not typer.confirm(say("delete_confirm"), default=False, err=True):
            remark(say("delete_declined"))
            return 0
    gone = runs.delete(sim, run_id, root=root, out=out)
    kept = [str(file) for file in gone.kept]
    facts = {"sim": sim, "run_ids": list(gone.runs), "files": len(gone.files), "bytes": gone.bytes, "kept": kept}
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
@with_parameters(o.options_for("agent", "run_id", "limit", model=MemorySearch))
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
    from enquete.study.runs import count_compared  # noqa: PLC0415 - not for --help

    standings = enquete.memory_preferences(sim, root=root, out=out)
    head = [say(key) for key in ("question_type", "stakeholder_type", "configuration", "win_rate", "wins", "ties", "n")]
    rows = [
        [s.question_type, s.stakeholder_type, s.configuration, f"{s.rate:.2f} ({s.low:.2f}–{s.high:.2f})",
         str(s.wins), str(s.ties), str(s.n)]
        for s in standings
    ]  # fmt: skip
    compared = count_compared(sim, root=root, out=out)
    facts = {"sim": sim, "compared": compared, "preferences": [asdict(s) for s in standings]}
    none = say("no_preference_follows", n=number(compared)) if compared else say("no_preferences")
    return answer(as_json, facts, table(head, rows) if rows else [none])
