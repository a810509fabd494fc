"""What a run's user is told afterwards: who answered, how many, what to beware of, where it is, what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enquete.interfaces.output import number, table
from enquete.interfaces.place import Place
from enquete.interfaces.words import say

if TYPE_CHECKING:
    from enquete.study import Run, StageStatus

STATUSES = ("answers_ok", "answers_repaired", "answers_refused", "answers_invalid", "answers_failed")
USABLE = STATUSES[:2]
MOST_LINES = 8


def exit_code(run: Run) -> int:
    """The run's own, except that a run without one usable answer, or with a bug in it, has failed."""
    return 1 if is_invalid(run) or (run.failures and run.exit_code == 0) else run.exit_code


def is_invalid(run: Run) -> bool:
    """Answers came back and none can be used."""
    counts = answer_counts(run.spent)
    return bool(counts) and not any(counts.get(name) for name in USABLE)


def answer_counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in STATUSES if counts.get(name)}


def as_object(run: Run, place: Place, code: int) -> dict[str, Any]:
    """The same for programs. `code` is the command's own exit code."""
    return {
        **run.summary(),
        "exit_code": code,
        "valid": not is_invalid(run),
        "synthetic": run.record.main.respondent == "synthetic",
        "stages": [stage_object(stage) for stage in run.stages],
        "flags": run.flags,
        "failures": run.failures,
        "report": report_path(run),
        "next": [command for command, _ in next_commands(run, place)],
    }


def stage_object(stage: StageStatus) -> dict[str, Any]:
    return {
        "methodology": stage.methodology,
        "phase": stage.phase,
        "outcome": stage.outcome,
        "note": stage.note,
        "n_responded": stage.responded,
        "n_total": stage.total,
        "answers": {name.removeprefix("answers_"): n for name, n in answer_counts(stage.counts).items()},
        "calls": stage.counts.get("calls", 0),
        "tokens": stage.counts.get("tokens", 0),
    }


def report_path(run: Run) -> str | None:
    file = run.path / "report.md"
    return str(file) if file.is_file() else None


def lines(run: Run, place: Place) -> list[str]:
    """The whole summary as text."""
    return [
        *headline(run),
        "",
        *stage_table(run),
        "",
        *warnings(run, place),
        *whereabouts(run),
        "",
        say("next"),
        *next_lines(run, place),
    ]


def headline(run: Run) -> list[str]:
    found = [say("run", run_id=run.run_id, sim_id=run.record.sim_id, status=say(run.status))]
    if run.note:
        found.append(say("note", note=run.note))
    elif run.status == "paused":
        found.append(say("note", note=say("driven")))
    if run.shown:
        found.append(say("shown"))
    elif run.resumed:
        found.append(say("resumed"))
    agents = max((stage.total for stage in run.stages), default=0)
    asked = ", ".join(f"{stage.methodology} {stage.phase}" for stage in run.stages)
    language = say(f"language_{run.record.language}")
    return [*found, say("asked", methods=asked, agents=number(agents), language=language), who_answered(run)]


def who_answered(run: Run) -> str:
    main = run.record.main
    if main.respondent == "synthetic":
        return say("synthetic")
    return say("model", model=main.model, temperature=main.temperature)


def stage_table(run: Run) -> list[str]:
    head = [say("stage"), say("state"), say("agents"), say("answers"), say("tokens")]
    return table(head, [stage_row(stage) for stage in run.stages])


def stage_row(stage: StageStatus) -> list[str]:
    state = say(stage.outcome)
    return [
        f"{stage.methodology} {stage.phase}",
        f"{state} ({stage.note})" if stage.note and stage.outcome not in ("done", "not started") else state,
        f"{number(stage.responded)}/{number(stage.total)}",
        answers_text(stage.counts),
        number(stage.counts.get("tokens", 0)),
    ]


def answers_text(counts: Mapping[str, int]) -> str:
    """`101 ok, 4 repaired`."""
    parts = [f"{number(n)} {say(name)}" for name, n in answer_counts(counts).items()]
    return ", ".join(parts) or say("none")


def warnings(run: Run, place: Place) -> list[str]:
    found: list[str] = []
    if is_invalid(run):
        command = place.resume(run.resume_token, server(run)) if run.resume_token else place.command("run", "--new")
        found += [say("invalid", answers=answers_text(run.spent), command=command), ""]
    if run.failures:
        where = run.folder / "ledger.sqlite"
        found += [say("bugs", count=len(run.failures), path=where), *shortened(grouped(run.failures)), ""]
    if run.flags:
        found += [say("flags"), *shortened(run.flags), ""]
    return found


def grouped(failures: list[str]) -> list[str]:
    """One line an error, with the first place where it happened and how often it did."""
    first: dict[str, str] = {}
    times = Counter(failure.partition(": ")[2] for failure in failures)
    for failure in failures:
        first.setdefault(failure.partition(": ")[2], failure)
    return [f"{text} (×{times[error]})" if times[error] > 1 else text for error, text in first.items()]


def shortened(texts: list[str]) -> list[str]:
    more = len(texts) - MOST_LINES
    return [*(f"  - {text}" for text in texts[:MOST_LINES]), *([f"  {say('more', count=more)}"] if more > 0 else [])]


def whereabouts(run: Run) -> list[str]:
    file, exports = run.path / "report.md", run.path / "exports"
    found = [say("report", path=from_here(file) if file.is_file() else say("no_report"))]
    return [*found, say("data", path=from_here(exports))] if exports.is_dir() else found


def from_here(path: Path) -> Path:
    """Relative to the present folder where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def next_lines(run: Run, place: Place) -> list[str]:
    steps = next_commands(run, place)
    width = max(len(command) for command, _ in steps)
    return [f"  {command.ljust(width)}  # {why}" for command, why in steps]


def server(run: Run) -> str:
    """The model server, where one is asked."""
    return run.record.base_url if run.record.main.respondent == "llm" else ""


def why_resume(run: Run) -> str:
    if run.status == "paused" and any(stage.outcome == "short" for stage in run.stages) and "budget" in run.note:
        return "next_resume_budget"
    whys = {"awaiting_simulation": "next_resume_simulation", "failed": "next_resume_failed"}
    return whys.get(run.status, "next_resume")


def next_commands(run: Run, place: Place) -> list[tuple[str, str]]:
    """(command, why), the most useful one first."""
    steps = []
    if run.resume_token:
        steps.append((place.resume(run.resume_token, server(run)), say(why_resume(run))))
    if report_path(run):
        steps.append((place.command("report", run.run_id), say("next_report")))
    steps.append((place.command("status", run.run_id), say("next_status")))
    if run.status == "completed" and run.record.main.respondent == "synthetic":
        own_t0 = (
            () if run.record.baseline == "none" else ("--baseline", "reconstructed")
        )  # a synthetic T0 is none for a model
        steps.append((place.command("run", "--model", "NAME", *own_t0), say("next_model")))
    return steps
