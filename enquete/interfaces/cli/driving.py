"""`enquete run` and `enquete resume`: the commands that ask."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli import progress, summary
from enquete.interfaces.cli.costs import agreed
from enquete.interfaces.cli.output import one_object, remark, result
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.requests import requested
from enquete.interfaces.cli.signals import Interrupts, Stopped
from enquete.interfaces.cli.words import say
from enquete.interfaces.service.declared import taking

if TYPE_CHECKING:
    from enquete.study.run import Run

Drive = Callable[[Callable[[dict[str, Any]], None] | None], "Run"]


@taking(o.options("study", "driving", "start"))
def run(
    sim: o.Sim,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask before a model is paid, and start although the estimate exceeds the budget or the questions "
            "are on another topic.",
        ),
    ] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    **said: Any,
) -> int:
    """Interview every agent of a simulation.

    Methodologies not named are the default ones. An unfinished run with the same settings is resumed, a finished one is
    shown without a single request, and one that differs is refused with the differences. Without a key and without
    --model the synthetic respondent answers, and every output says so. A new run is estimated first (`enquete estimate`
    shows it) and refused before its first request where the upper estimate exceeds the budget, unless --yes is given.

    \b
    Examples:
      enquete run sim_683e8059ab27 --root uploads
      enquete run personas.csv --out results --methods delphi --language en
      enquete run ./my_sim --model gpt-5-mini --budget-tokens 500000
      enquete run ./my_sim --instrument longitudinal=my.yaml --json
      enquete run ./my_sim --methods delphi --rerun --instrument delphi=edited.yaml
      enquete run ./my_sim --replay-of run_20261121T203000_a1b2c3

    \b
    Exit codes: 0 done · 1 failed · 2 wrong input · 3 paused with a token
                4 awaiting the simulation or a person · 130 stopped at once
    """
    asked = requested({**said, "confirm": yes, **({"fit": said["fit"] or "any"} if yes else {})})
    if not (yes or as_json) and sys.stdin.isatty() and sys.stderr.isatty():
        confirmed = agreed(sim, asked)
        if confirmed is None:
            remark(say("declined"))
            return 0
        asked = confirmed

    def drive(report: Callable[[dict[str, Any]], None] | None) -> Run:
        return enquete.conduct_interviews(sim, progress=report, **asked)

    place = Place(sim, said["root"], said["out"], asked.get("instruments", {}))
    return finish(drive, place, as_json, quiet)


@taking(o.options("driving", "resume"))
def resume(
    token_or_sim: Annotated[str, typer.Argument(metavar="TOKEN_OR_SIM", help="Resume token, run_id, sim_id or path.")],
    sim: Annotated[
        str | None, typer.Option("--sim", metavar="SIM", help="Where the run of a token is, if not under --root.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Walk through the whole run again; what is answered is not asked again.")
    ] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    **said: Any,
) -> int:
    """Go on with an unfinished run: after a pause, a spent budget, a kill, or when the simulation has completed.

    Named by its token or run_id, or by its simulation (then the latest unfinished run). Answers that were paid for are
    read from the run's ledger and never asked again. A cap that was named holds until another one is.

    \b
    Examples:
      enquete resume run_20261121T203000_a1b2c3.0123456789abcdef --root uploads
      enquete resume sim_683e8059ab27 --root uploads --budget-tokens 2000000
      enquete resume run_20261121T203000_a1b2c3 --root uploads --retry-failed

    \b
    Exit codes: 0 done · 1 failed · 2 wrong input · 3 paused with a token
                4 awaiting the simulation or a person · 130 stopped at once
    """
    request = requested({**said, "sim": sim, "fresh": fresh})

    def drive(report: Callable[[dict[str, Any]], None] | None) -> Run:
        return enquete.resume(token_or_sim, progress=report, **request)

    return finish(drive, Place(sim or token_or_sim, said["root"], said["out"]), as_json, quiet)


def finish(drive: Drive, place: Place, as_json: bool, quiet: bool) -> int:
    """Drive with progress and signals, then say how it ended."""
    driven = driven_to_its_stop(drive, place, quiet)
    return show(driven, place, as_json, summary.exit_code(driven))


def driven_to_its_stop(drive: Drive, place: Place, quiet: bool) -> Run:
    """Raises Stopped when told to stop for the second time, or before the first question."""
    with Interrupts() as interrupts, progress.shown(quiet) as report:
        try:
            return drive(report)
        except KeyboardInterrupt:
            begun = interrupts.count > 1
            raise Stopped(say("stopped", command=place.command("resume")) if begun else say("not_begun")) from None


def show(run: Run, place: Place, as_json: bool, code: int) -> int:
    """The run's summary on stdout; returns the exit code it was given."""
    if place.is_token:
        sim, record = run.record.simulation_of(run.folder), run.record
        name = sim.name if record.kind == "simulation" else record.sim_id
        place = replace(place, sim=name if place.root else str(sim))
    if as_json:
        one_object(summary.as_object(run, place, code))
        return code
    for line in summary.lines(run, place):
        result(line)
    return code
