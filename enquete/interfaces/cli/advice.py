"""What to do next with a run: commands that work as printed, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from enquete.instruments.pack import packs
from enquete.interfaces.cli.output import number
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.words import say

if TYPE_CHECKING:
    from enquete.study.run import Run
    from enquete.study.run_status import RunStanding

ENDINGS = (".yaml", ".yml", ".csv", ".tsv")
"""Of instruments that are files of one's own; importing nodes.freezing for them would take seconds."""
Step = tuple[str, str]
"""(command, why)"""


def next_commands(run: Run, place: Place) -> list[Step]:
    """The most useful one first."""
    report = [(place.command("report", run.run_id), say("next_report"))] if (run.path / "report.md").is_file() else []
    status = (place.command("status", run.run_id), say("next_status"))
    if run.is_driven:
        return [status, *report]
    return [*_going_on(run, place), *_retrying(run, place), *report, status, *_asking_a_model(run, place)]


def next_lines(run: Run, place: Place) -> list[str]:
    steps = next_commands(run, place)
    width = max(len(command) for command, _ in steps)
    return [f"  {command.ljust(width)}  # {why}" for command, why in steps]


def _going_on(run: Run, place: Place) -> list[Step]:
    if not run.resume_token:
        return []
    from enquete.interfaces.service.status import ran_short  # noqa: PLC0415 - not for --help

    if not ran_short(run):
        whys = {"awaiting_simulation": "next_resume_simulation", "failed": "next_resume_failed"}
        return [(place.resume(run.resume_token, server(run)), say(whys.get(run.status, "next_resume")))]
    enough = _larger_caps(run.standing)
    why = say("next_resume_budget", spent=number(run.standing.spent)) if enough else say("next_resume")
    return [(place.resume(run.resume_token, server(run), *enough), why)]


def _larger_caps(stands: RunStanding) -> tuple[str, ...]:
    """Options that name sufficient caps, where those that hold are not."""
    words = ["--budget-tokens", str(stands.enough_tokens)] if stands.enough_tokens > stands.cap_tokens else []
    if stands.cap_usd is not None and stands.enough_usd is not None and stands.enough_usd > stands.cap_usd:
        words += ["--budget-usd", f"{stands.enough_usd:g}"]
    return tuple(words)


def _retrying(run: Run, place: Place) -> list[Step]:
    if not run.failed_answers:
        return []
    return [(retry(run, place), say("next_retry", count=number(run.failed_answers)))]


def retry(run: Run, place: Place) -> str:
    """The command that asks once more for what failed."""
    return place.resume(run.resume_token or run.run_id, server(run), "--retry-failed")


def _asking_a_model(run: Run, place: Place) -> list[Step]:
    if run.status != "completed" or run.record.main.respondent != "synthetic":
        return []
    # A synthetic T0 is none for a model.
    own_t0 = () if run.record.baseline == "none" else ("--baseline", "reconstructed")
    asked = ("--language", run.record.language, *_same_questions(run, place))
    return [(place.command("run", "--model", "NAME", *asked, *own_t0), say("next_model"))]


def _same_questions(run: Run, place: Place) -> Iterator[str]:
    """Options by which another run asks what this one asked. Where a file was named some time ago its name is all that is known."""
    from enquete.graphs.registry import methodologies  # noqa: PLC0415 - not for --help

    sources = {name: used.source for name, used in run.record.instruments.items()}
    files = {name: source for name, source in sources.items() if Path(source).suffix in ENDINGS}
    usual = list(files) or [name for name, one in methodologies().items() if one.default]
    if set(run.record.methods) != set(usual):
        yield from ("--methods", ",".join(run.record.methods))
    # One of the default pack is "shipped", one of any other says which.
    if named := sorted(set(sources.values()) & set(packs())):
        yield from ("--pack", named[0])
    for name, source in files.items():
        yield from ("--instrument", f"{name}={place.instruments.get(name, source)}")


def server(run: Run) -> str:
    """The model server, where one is asked."""
    return run.record.base_url if run.record.main.respondent == "llm" and not run.record.replay_of else ""
