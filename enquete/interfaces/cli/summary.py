"""What a run's user is told afterwards: who answered, what to beware of, where it is, and commands to go on with."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from enquete.interfaces.cli.terminal import dollars, number, one_object, result, say, table
from enquete.ledger.deviations import describe_deviations, sent_temperature
from enquete.state.request import ProbeKind

if TYPE_CHECKING:
    from enquete.ledger.record import RunRecord
    from enquete.study.run import Run, StageStatus

MOST_LINES = 8
WIDEST = 110
"""Characters of a command beside which the others' reasons are lined up."""
ENDINGS = (".yaml", ".yml", ".csv", ".tsv")
"""Of instruments that are files of one's own; importing nodes.instrument_pins for them would take seconds."""
Step = tuple[str, str]
"""(command, why)"""


@dataclass(frozen=True)
class Place:
    """Where a simulation and its results are, as the user named them, and the commands that name them again. `sim` may
    be an id under `root` or a path; `out` is where results go instead; `instruments`: files, by methodology."""

    sim: str
    root: str | None = None
    out: str | None = None
    instruments: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_token(self) -> bool:
        """Named by a run, so that the simulation is known only once the run is read."""
        return self.sim.startswith("run_") and not self.by_path

    @property
    def by_path(self) -> bool:
        return "/" in self.sim or Path(self.sim).exists()

    def command(self, verb: str, *more: str) -> str:
        """`enquete verb SIM …` with everything needed to find the simulation again."""
        options = [("--root", None if self.by_path else self.root), ("--out", self.out)]
        named = [word for option, value in options if value for word in (option, value)]
        return shlex.join(["enquete", *verb.split(), self.sim, *more, *named])

    def resume(self, token: str, *more: str) -> str:
        """A token names a run, not where it is."""
        if self.out:
            where = ["--out", self.out]
        elif self.by_path:
            where = ["--sim", self.sim]
        else:
            where = ["--root", self.root] if self.root else []
        return shlex.join(["enquete", "resume", token, *more, *where])


def show(run: Run, place: Place, as_json: bool, code: int) -> int:
    """The run's summary on stdout; returns the exit code it was given."""
    if place.is_token:
        sim, record = run.record.simulation_of(run.folder), run.record
        name = sim.name if record.kind == "simulation" else record.sim_id
        place = replace(place, sim=name if place.root else str(sim))
    if as_json:
        one_object(summary_object(run, place, code))
        return code
    for line in summary_lines(run, place):
        result(line)
    return code


def exit_code(run: Run) -> int:
    """The run's own, except that a run without one usable answer, or with a bug in it, has failed."""
    return 1 if is_invalid(run) or (run.standing.failures and run.exit_code == 0) else run.exit_code


def is_invalid(run: Run) -> bool:
    """Answers came back and none can be used."""
    answers = run.standing.answers
    return bool(answers) and not (answers.get("ok") or answers.get("repaired"))


def summary_object(run: Run, place: Place, code: int) -> dict[str, Any]:
    """For programs. `code` is the command's own exit code."""
    from enquete.interfaces.views import budget_of, stage_of, status_of  # noqa: PLC0415 - not for --help

    standing, status = run.standing, status_of(run, None)
    stages = [stage_of(run, stage, status).model_dump() for stage in run.stages]
    for stage in stages:
        stage["n_complete"] = run.complete.get((stage["methodology"], stage["phase"]), 0)
    return {
        **run.summary(),
        **({"status": "running"} if run.is_driven else {}),
        "exit_code": code,
        "valid": not is_invalid(run),
        "synthetic": run.record.main.respondent == "synthetic",
        "stages": stages,
        "budget": budget_of(run).model_dump(),
        "failed_answers": standing.failed,
        "failed_answers_closed": standing.failed_closed,
        "replay_of": run.record.replay_of or None,
        "rerun_of": run.record.rerun_of or None,
        "flags": run.flags,
        "failures": standing.failures,
        "report": report_path(run),
        "next": [command for command, _ in next_commands(run, place)],
    }


def report_path(run: Run) -> str | None:
    file = run.path / "report.md"
    return str(file) if file.is_file() else None


def summary_lines(run: Run, place: Place) -> list[str]:
    report, exports = run.path / "report.md", run.path / "exports"
    steps = next_commands(run, place)
    width = max(min(len(command), WIDEST) for command, _ in steps)
    return [
        *headline(run),
        "",
        *findings(run),
        *stage_table(run),
        *spent_lines(run),
        "",
        *warnings(run, place),
        say("report", path=from_here(report) if report.is_file() else say("no_report")),
        *([say("data", path=from_here(exports))] if exports.is_dir() else []),
        "",
        say("next"),
        *(f"  {command.ljust(width)}  # {why}" for command, why in steps),
    ]


def headline(run: Run) -> list[str]:
    driven, record, main = run.is_driven, run.record, run.record.main
    lines = [say("run", run_id=run.run_id, sim_id=record.sim_id, status=say("running" if driven else run.status))]
    if driven:
        lines.append(say("driven"))
    elif run.note:
        lines.append(say("note", note=run.note))
    elif run.status == "paused":
        lines.append(say("note", note=say("killed")))
    if run.shown:
        lines.append(say("shown"))
    elif run.resumed:
        lines.append(say("resumed"))
    agents = max((stage.total for stage in run.stages), default=0)
    asked = ", ".join(f"{stage.methodology} {stage.phase}" for stage in run.stages)
    lines.append(say("asked", methods=asked, agents=number(agents), language=say(f"language_{record.language}")))
    if record.replay_of:
        lines.append(say("replay", run=record.replay_of))
    if record.rerun_of:
        anew = ", ".join(name for name in record.methods if name not in record.carried)
        lines.append(say("rerun", run=record.rerun_of, methods=anew, carried=", ".join(record.carried) or say("none")))
    is_synthetic = main.respondent == "synthetic"
    from enquete.runs.planning import served_models  # noqa: PLC0415 - slow, and not needed for a run that is not there

    models = ", ".join(dict.fromkeys([main.model, *(server.label(main.model) for server in served_models(record))]))
    if is_synthetic:
        return [*lines, say("synthetic")]
    lines.append(_answered_by(run, models))
    others = {model: sent for model, sent in run.sent_otherwise.items() if sent.keys() - {"temperature"}}
    lines.extend(say("sent_otherwise", model=model, sent=describe_deviations(sent)) for model, sent in others.items())
    return lines


def _answered_by(run: Run, models: str) -> str:
    """The models, and the temperature that was really sent."""
    main = run.record.main
    sent = sent_temperature(run.sent_otherwise, main.model, main.temperature)
    if sent is None:
        return say("model_default", model=models, temperature=main.temperature)
    return say("model", model=models, temperature=sent)


def findings(run: Run) -> list[str]:
    """Page one's sentences, which are in the language of the interviews; none while the run goes on."""
    page = {} if run.is_driven else run.page_one
    stated = [f"{place}. {finding['text']}" for place, finding in enumerate(page.get("findings", ()), start=1)]
    return [*page.get("notices", ()), say("found"), *stated, ""] if stated else []


def stage_table(run: Run) -> list[str]:
    """What is to come has its column while anything is."""
    head = [say(key) for key in ("stage", "state", "agents", "complete", "answers", "tokens", "to_come")]
    columns = len(head) if run.status != "completed" else len(head) - 1
    return table(head[:columns], [stage_row(run, stage)[:columns] for stage in run.stages])


def stage_row(run: Run, stage: StageStatus) -> list[str]:
    state, name = say(stage.outcome), (stage.methodology, stage.phase)
    more, spent = run.standing.remaining(*name), stage.counts.get("tokens", 0)
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
    standing, is_open = run.standing, run.status != "completed"
    parts = [say("tokens_spent", spent=number(standing.spent), cap=number(standing.cap_tokens))]
    if is_open and standing.expected is not None:
        parts.append(say("in_the_end", tokens=number(standing.expected)))
    if standing.paid_usd is not None:
        parts.append(say("usd_spent", usd=dollars(standing.paid_usd)))
        if is_open and standing.expected_usd is not None:
            parts.append(say("usd_in_the_end", usd=dollars(standing.expected_usd)))
        if standing.cap_usd is not None:
            parts.append(say("cap_usd", cap=f"{standing.cap_usd:g}"))
    return ["", "  " + ", ".join(parts)]


def answers_text(answers: Mapping[str, int]) -> str:
    """`101 ok, 4 repaired`."""
    return ", ".join(f"{number(n)} {say(f'answers_{status}')}" for status, n in answers.items()) or say("none")


def warnings(run: Run, place: Place) -> list[str]:
    lines: list[str] = []
    standing, retry = run.standing, resume_command(run, place, "--retry-failed")
    if is_invalid(run) and not run.is_driven:
        again = resume_command(run, place) if run.resume_token else place.command("run", "--new")
        command = retry if standing.failed else again
        lines += [say("invalid", answers=answers_text(standing.answers), command=command), ""]
    if standing.failed:  # nothing can be done about it as long as a process holds the run
        key = "failed_so_far" if run.is_driven else "failed_answers"
        lines.append(say(key, count=number(standing.failed), command=retry))
    if standing.failed_closed:
        lines.append(say("failed_closed", count=number(standing.failed_closed)))
    lines += [""] if standing.failed or standing.failed_closed else []
    if failures := standing.failures:
        bugs = say("bugs", count=len(failures), path=run.folder / "ledger.sqlite")
        lines += [bugs, *shortened(grouped(failures)), ""]
    left, why = run.unsent
    if why:
        lines += [say("unsent", count=number(left), why=why, command=place.command("memory sync")), ""]
    if run.flags:
        lines += [say("flags"), *shortened(run.flags), ""]
    return lines


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


def from_here(path: Path) -> Path:
    """Relative to the present folder where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# --- What to do next with a run: commands that work as printed, and why ----------------------------------------------


def next_commands(run: Run, place: Place) -> list[Step]:
    """The most useful one first."""
    report = [(place.command("report", run.run_id), say("next_report"))] if report_path(run) else []
    status = (place.command("status", run.run_id), say("next_status"))
    if run.is_driven:
        return [status, *report]
    steps = going_on(run, place) if run.resume_token else []
    if run.standing.failed:
        why = say("next_retry", count=number(run.standing.failed))
        steps.append((resume_command(run, place, "--retry-failed"), why))
    steps += [*report, status]
    if run.status == "completed" and run.record.main.respondent == "synthetic":
        # A synthetic T0 is none for a model.
        own_t0 = () if run.record.baseline == "none" else ("--baseline", "reconstructed")
        asked = ("--language", run.record.language, *same_questions(run, place))
        steps.append((place.command("run", "--model", "NAME", *asked, *own_t0), say("next_model")))
    return steps


def resume_command(run: Run, place: Place, *more: str) -> str:
    """How the run is driven, and at which server, stands in its ledger."""
    return place.resume(run.resume_token or run.run_id, *more)


def going_on(run: Run, place: Place) -> list[Step]:
    from enquete.interfaces.views import ran_short  # noqa: PLC0415 - not for --help

    if not ran_short(run):
        whys = {"awaiting_simulation": "next_resume_simulation", "failed": "next_resume_failed"}
        return [(resume_command(run, place), say(whys.get(run.status, "next_resume")))]
    standing, larger = run.standing, []  # caps that are sufficient, where those that hold are not
    if standing.enough_tokens > standing.cap_tokens:
        larger = ["--budget-tokens", str(standing.enough_tokens)]
    if standing.cap_usd is not None and standing.enough_usd is not None and standing.enough_usd > standing.cap_usd:
        larger += ["--budget-usd", f"{standing.enough_usd:g}"]
    why = say("next_resume_budget", spent=number(standing.spent)) if larger else say("next_resume")
    return [(resume_command(run, place, *larger), why)]


def same_questions(run: Run, place: Place) -> Iterator[str]:
    """Options by which another run asks whom and what this one asked. Of a file named some time ago only the name is
    known."""
    from enquete.instruments.pack import packs  # noqa: PLC0415 - reads YAML
    from enquete.methods.registry import methodologies  # noqa: PLC0415 - not for --help

    sources = {name: used.source for name, used in run.record.instruments.items()}
    files = {name: source for name, source in sources.items() if Path(source).suffix in ENDINGS}
    usual = list(files) or [name for name, method in methodologies().items() if method.default]
    if set(run.record.methods) != set(usual):
        yield from ("--methods", ",".join(run.record.methods))
    # One of the default pack is "shipped", one of any other says which.
    if named := sorted(set(sources.values()) & set(packs())):
        yield from ("--pack", named[0])
    for name, source in files.items():
        yield from ("--instrument", f"{name}={place.instruments.get(name, source)}")
    yield from _same_agents_and_arms(run.record)


def _same_agents_and_arms(record: RunRecord) -> Iterator[str]:
    for name, value in (record.chosen.by if record.chosen else {}).items():
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if record.by:
        yield from ("--by", record.by)
    if named := [f"{name}.{one}={part:g}" for name, own in record.primary.items() for one, part in own.items()]:
        yield from ("--primary", ",".join(named))
    if record.baseline == "none" and len(record.phases) == 1:
        yield from ("--phase", *record.phases)
    if record.asking == "item":
        yield from ("--asking", "item")
    if record.main.elicitation == "distribution":
        yield from ("--elicitation", "distribution")
    arms = Counter(arm.role for arm in record.arms)
    if probes := [arm.id for arm in record.arms if arm.id in get_args(ProbeKind)]:
        yield from ("--probes", ",".join(probes))
    if arms["replicate"]:
        yield from ("--replicates", str(1 + arms["replicate"]))
    if arms["placebo"]:
        yield "--placebo"
    if arms["b"]:
        yield "--respondent-b"
