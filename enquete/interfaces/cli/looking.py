"""`status`, `check`, `report`, `export`: commands that ask nobody anything."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli import summary
from enquete.interfaces.cli.costs import lines
from enquete.interfaces.cli.driving import show
from enquete.interfaces.cli.inventory import run_objects
from enquete.interfaces.cli.output import one_object, remark, result, table
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.requests import requested
from enquete.interfaces.cli.words import say, tongue
from enquete.interfaces.service.declared import taking
from enquete.state.errors import RunNotFound, SettingsError

if TYPE_CHECKING:
    from enquete.study.run import Run


# --- `enquete check --instrument FILE [--pilot N]`: an instrument read by the rules, and tried on a few agents -------


def check_instrument(
    sim: str | None, given: str, pilot: int | None, yes: bool, as_json: bool, request: dict[str, Any]
) -> int:
    """Prints what was found; exit code 0 whatever it is, because a finding is advice."""
    from enquete.study.reviewing import reviewed  # noqa: PLC0415 - takes seconds to import

    name, equals, file = given.rpartition("=")
    about = reviewed(file, name if equals else "")
    found = {
        "methodology": about.methodology,
        "notes": [note.told(tongue()) for note in about.notes],
        "findings": [
            {"rule": one.rule, "where": one.where, "language": one.language, "text": one.told(tongue())}
            for one in about.findings
        ],
    }
    if not as_json:
        result(say("reviewed", file=file, method=about.methodology))
        for note in about.notes:
            result(f"  {note.told(tongue())}")
        for one in about.findings:
            result(f"- {one.told(tongue())}")
        result(say("review_ok") if not about.findings else say("review_found", n=len(about.findings)))
    items = _piloted(sim, about, file, pilot, yes, as_json, request) if pilot else None
    if as_json:
        one_object({"instrument": file, **found, **({"pilot": items} if items is not None else {}), "exit_code": 0})
    return 0


def _piloted(
    sim: str | None, about: Any, file: str, agents: int, yes: bool, as_json: bool, request: dict[str, Any]
) -> Any:
    """Item health, after its cost was shown and agreed to."""
    from enquete.study.reviewing import item_health, pilot_request  # noqa: PLC0415

    if sim is None:
        raise SettingsError(
            "--pilot: name whose agents are to be asked, such as: enquete check SIM --instrument FILE --pilot 8"
        )
    asked = pilot_request(about, file, agents, **request)
    asked["out"] = request.get("out") or tempfile.mkdtemp(prefix="enquete-pilot-")
    expected = enquete.estimate(sim, **asked)
    if not as_json:
        result("")
        for line in lines(expected):
            result(line)
    paid = expected.respondent == "llm"
    if paid and not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("--pilot: a model would be paid as estimated; add --yes to agree")
        if not typer.confirm(say("pilot_confirm"), default=not expected.exceeds, err=True):
            remark(say("declined"))
            return None
    run = enquete.conduct_interviews(sim, **asked, confirm=True)
    items = item_health(run)
    if not as_json:
        _show(run, items)
    return {
        "run_id": run.run_id,
        "path": str(run.folder),
        "items": [{**vars(one), "troubles": list(one.troubles)} for one in items],
    }


def _show(run: Any, items: list[Any]) -> None:
    words = [say(f"pilot_{key}") for key in ("item", "answers", "values", "apart", "told")]
    head = [*words[:3], "SD", *words[3:]]
    rows = [
        [
            one.item,
            f"{one.answered}/{one.asked}",
            str(one.values),
            "" if one.sd is None else f"{one.sd:.2f}",
            "" if one.apart is None else f"{one.apart:.2f}",
            ", ".join(say(f"pilot_{trouble}") for trouble in one.troubles),
        ]
        for one in items
    ]
    result("")
    if run.record.main.respondent == "synthetic":
        result(say("synthetic"))
    for line in table(head, rows):
        result(line)
    result(say("pilot_kept", path=run.folder))


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
    from enquete.study.run_store import current_run  # noqa: PLC0415 - takes seconds to import

    named = run_id is not None
    run = enquete.load_run(sim, run_id, root=root, out=out) if named else current_run(sim, root=root, out=out)
    run.shown = False  # nothing was asked for, so nothing needs explaining
    return run


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

    if instrument is not None:
        request = requested({**said, "root": root, "out": out})
        return check_instrument(sim, instrument, pilot, yes, as_json, request)
    if sim is None or pilot is not None:
        raise SettingsError("check: name a simulation or personas file, or an instrument with --instrument FILE")
    report = enquete.check(sim, root=root)
    code = 0 if report.ok else 2
    runs = enquete.list_runs(sim, root=root, out=out) if out or report.kind == "simulation" else []
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


Formats: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="A,B",
        help="Write the data in these formats instead: csv, parquet (R, Python, DuckDB), sav (SPSS, jamovi, R's haven; with "
        "labels and missing codes), xlsx (one workbook, a sheet a table, a codebook).",
    ),
]
To: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where a folder a format is made; exports/ of the run unless named.")
]
Wide: TypeAlias = Annotated[
    bool,
    typer.Option("--wide", help="Answers with a row an agent and a column an item, alone; both ways unless named."),
]
Long: TypeAlias = Annotated[bool, typer.Option("--long", help="Answers with a row an answer, alone.")]
Bom: TypeAlias = Annotated[bool, typer.Option("--bom", help="CSV with the mark by which Excel knows UTF-8.")]
Language: TypeAlias = Annotated[
    str, typer.Option(metavar="LANG", help="Language of report and figures, where it is not that of the interviews.")
]
By: TypeAlias = Annotated[
    str,
    typer.Option(
        "--by", metavar="COLUMN", help="Persona column that agents are compared by; stakeholder types unless named."
    ),
]
Figures: TypeAlias = Annotated[
    Literal["svg", "png", "pdf"],
    typer.Option(
        "--figures",
        help="Figures as files of this kind, too; svg is always written.",
    ),
]


def export(
    sim: o.Sim,
    run_id: o.RunId = None,
    root: o.Root = None,
    out: o.Out = None,
    format_: Formats = "",
    to: To = None,
    wide: Wide = False,
    long: Long = False,
    bom: Bom = False,
    figures: Figures = "svg",
    language: Language = "",
    by: By = "",
    as_json: o.Json = False,
) -> int:
    """Write a run's report, figures and data files again from its ledger, or its data in other formats; nobody is asked.

    Without --format everything is written again, so that the files agree with one another: after files were deleted or
    edited, and after an update of Enquete.

    With --format only the data are written, a folder a format: all_responses (a row an answer, with its status), agents,
    items, and for every methodology its tables and its answers, long and wide (a row an agent, a column an item). What every
    column, code and missing value means stands beside them in datapackage.json. In .sav files a refused, invalid, failed or
    unreached answer has a user-missing code. Such a folder goes when the run is written again, since it no longer agrees.

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
    formats = [one.strip() for one in format_.split(",") if one.strip()]
    if formats:
        if figures != "svg":
            raise SettingsError("--figures belongs to an export without --format, which writes data alone")
        layout = "wide" if wide and not long else "long" if long and not wide else "both"
        run = enquete.load_run(sim, run_id, root=root, out=out)
        path = to or run.path / "exports"
        written = run.export(*formats, to=to, layout=layout, bom=bom, language=language, by=by)  # type: ignore[arg-type]  # checked there
        files = [Path(os.path.relpath(file, path)).as_posix() for file in written]
    else:
        given = {"--to": to, "--wide": wide, "--long": long, "--bom": bom}
        if lonely := next((name for name, value in given.items() if value), ""):
            raise SettingsError(f"{lonely} says how data are written: name formats, too, as --format xlsx")
        path = enquete.export(sim, run_id, root=root, out=out, figures=figures, language=language, by=by)
        files = exported(path)
    if as_json:
        one_object({"path": str(path), "formats": formats, "files": files, "exit_code": 0})
        return 0
    result(say("exported", path=path))
    for file in files:
        result(f"  {file}")
    return 0


def exported(path: Path) -> list[str]:
    """The run's files, relative to its synthesis folder; rows by phase stand beside it (../../T1/…)."""
    interviews, run_id = path.parent.parent, path.name
    stages = sorted(file for file in interviews.glob(f"T[01]/*/{run_id}/*") if file.is_file())
    own = sorted(file for file in path.rglob("*") if file.is_file())
    return [Path(os.path.relpath(file, path)).as_posix() for file in (*own, *stages)]
