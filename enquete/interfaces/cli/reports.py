"""`enquete status`, `report`, `export`: how far a run is, and what it found. They ask nobody anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.summary import Place, report_path, show
from enquete.interfaces.cli.terminal import answer, say
from enquete.state.data_formats import BOM, FigureFormat
from enquete.state.errors import RunNotFound, SettingsError

if TYPE_CHECKING:
    from enquete.study.run import Run


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
    Exit codes: 0 written · 1 the ledger is damaged · 2 no such simulation, run or format
    """
    formats = [name.strip() for name in format_.split(",") if name.strip()]
    if formats:
        if figures != "svg":
            raise SettingsError("--figures belongs to an export without --format, which writes data alone")
        layout = "wide" if wide and not long else "long" if long and not wide else "both"
        run = enquete.load_run(sim, run_id, root=root, out=out)
        path = to or run.path / "exports"
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
        path = enquete.export(sim, run_id, root=root, out=out, figures=figures, language=language, by=by)
        # The synthesis folder, and rows by phase, which stand beside it (../../T1/…).
        stages = path.parent.parent.glob(f"T[01]/*/{path.name}/*")
        written = [file for paths in (path.rglob("*"), stages) for file in sorted(paths) if file.is_file()]
    names = [Path(os.path.relpath(file, path)).as_posix() for file in written]
    facts = {"path": str(path), "formats": formats, "files": names}
    return answer(as_json, facts, [say("exported", path=path), *(f"  {name}" for name in names)])
