"""What a run's user is told afterwards: who answered, how many, what to beware of, where it is, what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enquete.interfaces.cli.advice import next_commands, next_lines, retry, server
from enquete.interfaces.cli.amounts import dollars
from enquete.interfaces.cli.output import number, table
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.words import say

if TYPE_CHECKING:
    from enquete.interfaces.service.status import StatusWord
    from enquete.study.run import Run
    from enquete.study.run_status import StageStatus

MOST_LINES = 8


def exit_code(run: Run) -> int:
    """The run's own, except that a run without one usable answer, or with a bug in it, has failed."""
    return 1 if is_invalid(run) or (run.failures and run.exit_code == 0) else run.exit_code


def is_invalid(run: Run) -> bool:
    """Answers came back and none can be used."""
    answers = run.standing.answers
    return bool(answers) and not (answers.get("ok") or answers.get("repaired"))


def as_object(run: Run, place: Place, code: int) -> dict[str, Any]:
    """The same for programs. `code` is the command's own exit code."""
    from enquete.interfaces.service.status import budget_of, status_of  # noqa: PLC0415 - not for --help

    stands, driven = run.standing, run.is_driven
    return {
        **run.summary(),
        **({"status": "running"} if driven else {}),
        "exit_code": code,
        "valid": not is_invalid(run),
        "synthetic": run.record.main.respondent == "synthetic",
        "stages": [stage_object(run, stage, status_of(run, None)) for stage in run.stages],
        "budget": budget_of(run).model_dump(),
        "failed_answers": run.failed_answers,
        "failed_answers_closed": stands.failed_closed,
        "replay_of": run.record.replay_of or None,
        "rerun_of": run.record.rerun_of or None,
        "flags": run.flags,
        "failures": run.failures,
        "report": report_path(run),
        "next": [command for command, _ in next_commands(run, place)],
    }


def stage_object(run: Run, stage: StageStatus, status: StatusWord) -> dict[str, Any]:
    from enquete.interfaces.service.status import stage_of  # noqa: PLC0415 - not for --help

    complete = run.complete.get((stage.methodology, stage.phase), 0)
    return {**stage_of(run, stage, status).model_dump(), "n_complete": complete}


def findings(run: Run) -> list[str]:
    """Page one's sentences, which are in the language of the interviews; none while the run goes on."""
    if run.is_driven:
        return []
    page = run.page_one
    stated = [f"{place}. {one['text']}" for place, one in enumerate(page.get("findings", ()), start=1)]
    return [*page.get("notices", ()), say("found"), *stated, ""] if stated else []


def report_path(run: Run) -> str | None:
    file = run.path / "report.md"
    return str(file) if file.is_file() else None


def lines(run: Run, place: Place) -> list[str]:
    """The whole summary as text."""
    return [
        *headline(run),
        "",
        *findings(run),
        *stage_table(run),
        *spent_lines(run),
        "",
        *warnings(run, place),
        *whereabouts(run),
        "",
        say("next"),
        *next_lines(run, place),
    ]


def headline(run: Run) -> list[str]:
    driven = run.is_driven
    status = say("running" if driven else run.status)
    found = [say("run", run_id=run.run_id, sim_id=run.record.sim_id, status=status)]
    if driven:
        found.append(say("driven"))
        if run.waits_for:
            found.append(say("waits_for", batches=run.waits_for))
    elif run.note:
        found.append(say("note", note=run.note))
    elif run.status == "paused":
        found.append(say("note", note=say("killed")))
    if run.shown:
        found.append(say("shown"))
    elif run.resumed:
        found.append(say("resumed"))
    agents = max((stage.total for stage in run.stages), default=0)
    asked = ", ".join(f"{stage.methodology} {stage.phase}" for stage in run.stages)
    language = say(f"language_{run.record.language}")
    return [
        *found,
        say("asked", methods=asked, agents=number(agents), language=language),
        *whence(run),
        who_answered(run),
    ]


def whence(run: Run) -> list[str]:
    """Which other run's answers are in this one."""
    record = run.record
    found = [say("replay", run=record.replay_of)] if record.replay_of else []
    if record.rerun_of:
        anew = ", ".join(name for name in record.methods if name not in record.carried)
        found.append(say("rerun", run=record.rerun_of, methods=anew, carried=", ".join(record.carried) or say("none")))
    return found


def who_answered(run: Run) -> str:
    main = run.record.main
    if main.respondent == "synthetic":
        return say("synthetic")
    return say("model", model=main.model, temperature=main.temperature)


def stage_table(run: Run) -> list[str]:
    """What is to come has its column while anything is."""
    head = [say(key) for key in ("stage", "state", "agents", "complete", "answers", "tokens", "to_come")]
    rows = [stage_row(run, stage) for stage in run.stages]
    columns = len(head) if run.status != "completed" else len(head) - 1
    return table(head[:columns], [row[:columns] for row in rows])


def stage_row(run: Run, stage: StageStatus) -> list[str]:
    state, name = say(stage.outcome), (stage.methodology, stage.phase)
    more = run.standing.remaining(*name)
    spent = stage.counts.get("tokens", 0)
    return [
        " ".join(name),
        f"{state} ({stage.note})" if stage.note and stage.outcome not in ("done", "not started") else state,
        f"{number(stage.responded)}/{number(stage.total)}",
        f"{number(run.complete.get(name, 0))}/{number(stage.total)}",
        answers_text(stage.answers),
        say("of_expected", spent=number(spent), expected=number(spent + more)) if more else number(spent),
        "" if more is None else number(more),
    ]


def spent_lines(run: Run) -> list[str]:
    """Tokens and money of the whole run: so far, in the end, and where it stops."""
    stands = run.standing
    found = [say("tokens_spent", spent=number(stands.spent), cap=number(stands.cap_tokens))]
    if run.status != "completed" and stands.expected is not None:
        found.append(say("in_the_end", tokens=number(stands.expected)))
    if stands.paid_usd is not None:
        found.append(say("usd_spent", usd=dollars(stands.paid_usd)))
        if run.status != "completed" and stands.expected_usd is not None:
            found.append(say("usd_in_the_end", usd=dollars(stands.expected_usd)))
        if stands.cap_usd is not None:
            found.append(say("cap_usd", cap=f"{stands.cap_usd:g}"))
    return ["", "  " + ", ".join(found)]


def answers_text(answers: Mapping[str, int]) -> str:
    """`101 ok, 4 repaired`."""
    parts = [f"{number(n)} {say(f'answers_{status}')}" for status, n in answers.items()]
    return ", ".join(parts) or say("none")


def warnings(run: Run, place: Place) -> list[str]:
    found: list[str] = []
    if is_invalid(run) and not run.is_driven:
        again = place.resume(run.resume_token, server(run)) if run.resume_token else place.command("run", "--new")
        command = retry(run, place) if run.failed_answers else again
        found += [say("invalid", answers=answers_text(run.standing.answers), command=command), ""]
    if run.failed_answers or run.standing.failed_closed:
        found += [*failed_lines(run, place), ""]
    if run.failures:
        where = run.folder / "ledger.sqlite"
        found += [say("bugs", count=len(run.failures), path=where), *shortened(grouped(run.failures)), ""]
    left, why = run.unsent
    if why:
        found += [say("unsent", count=number(left), why=why, command=place.command("memory sync")), ""]
    if run.flags:
        found += [say("flags"), *shortened(run.flags), ""]
    return found


def failed_lines(run: Run, place: Place) -> list[str]:
    """How many answers failed, and what can be done about it: nothing as long as a process holds the run."""
    found = []
    if run.failed_answers and run.is_driven:
        found.append(say("failed_so_far", count=number(run.failed_answers)))
    elif run.failed_answers:
        found.append(say("failed_answers", count=number(run.failed_answers), command=retry(run, place)))
    if run.standing.failed_closed:
        found.append(say("failed_closed", count=number(run.standing.failed_closed)))
    return found


def grouped(failures: Sequence[str]) -> list[str]:
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
