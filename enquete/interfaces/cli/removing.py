"""`enquete delete`: runs deleted, after what goes was shown and agreed to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import number, one_object, remark, result
from enquete.interfaces.cli.words import say
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.study.deleting import Deletion

MOST_KEPT = 20


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

    What goes is shown first, and you are asked. The simulation itself and every file that Enquete did not write stay. A run
    that a process is driving is not deleted, nor one that another run is measured against.

    \b
    Examples:
      enquete delete sim_683e8059ab27 run_20261121T203000_a1b2c3 --root uploads
      enquete delete personas.csv --out results --yes

    \b
    Exit codes: 0 deleted, or you said no · 1 a process is driving it · 2 no such simulation or run, or nobody could be asked
    """
    from enquete.study import deleting  # noqa: PLC0415 - takes seconds to import

    planned = deleting.deletion(sim, run_id, root=root, out=out)
    if not as_json:
        for line in lines(sim, planned):
            result(line)
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("delete: nobody can be asked here; add --yes to delete what was named")
        if not typer.confirm(say("delete_confirm"), default=False, err=True):
            remark(say("delete_declined"))
            return 0
    gone = deleting.delete(sim, run_id, root=root, out=out)
    one_object(as_object(sim, gone)) if as_json else result(say("deleted", runs=len(gone.runs)))
    return 0


def lines(sim: str, planned: Deletion) -> list[str]:
    """What goes, and what stays of what lies beside it."""
    files, megabytes = number(len(planned.files)), f"{planned.bytes / 1e6:.1f}"
    told = [say("deletes", sim=sim, files=files, size=megabytes, path=planned.interviews)]
    told += [f"  {run}" for run in planned.runs]
    if planned.kept:
        told.append(say("delete_keeps"))
        told += [f"  {file}" for file in planned.kept[:MOST_KEPT]]
        told += ["  …"] if len(planned.kept) > MOST_KEPT else []
    return told + ([say("delete_graphs", graphs=", ".join(planned.graphs))] if planned.graphs else [])


def as_object(sim: str, gone: Deletion) -> dict[str, Any]:
    return {
        "sim": sim,
        "deleted": list(gone.runs),
        "files": len(gone.files),
        "bytes": gone.bytes,
        "kept": [str(file) for file in gone.kept],
        "exit_code": 0,
    }
