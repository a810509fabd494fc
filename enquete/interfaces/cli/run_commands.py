"""`enquete run`, `resume`, `estimate` and `demo`: the commands that ask, what they will cost, and their progress."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

import enquete
from enquete.instruments.pack import pack_named
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.options import facade_arguments
from enquete.interfaces.cli.summary import Place, exit_code, show
from enquete.interfaces.cli.terminal import (
    Interrupts,
    Stopped,
    answer,
    counted,
    duration,
    money,
    number,
    remark,
    say,
    short,
    spread,
    table,
    tongue,
)
from enquete.interfaces.parameters import with_parameters
from enquete.state.channels import Event, EventRow, row_of
from enquete.state.errors import SettingsError
from enquete.state.request import FRESH

if TYPE_CHECKING:
    from rich.progress import TaskID

    from enquete.runs.estimate import Estimate, EstimateLine
    from enquete.study.run import Run


Report = Callable[[Event], None] | bool
Drive = Callable[[Report], "Run"]


@with_parameters(o.options_about("study", "driving", "start"))
def run(
    sim: o.Sim,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask before a model is paid, and start although the estimate exceeds the budget or the "
            "questions are on another topic.",
        ),
    ] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    **typed: Any,
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
    asked = facade_arguments({**typed, "confirm": yes, **({"fit": typed["fit"] or "any"} if yes else {})})
    if not (yes or as_json) and sys.stdin.isatty() and sys.stderr.isatty():
        confirmed = confirmed_request(sim, asked)
        if confirmed is None:
            remark(say("declined"))
            return 0
        asked = confirmed
    place = Place(sim, typed["root"], typed["out"], asked.get("instruments", {}))
    return finish(lambda report: enquete.conduct_interviews(sim, progress=report, **asked), place, as_json, quiet)


@with_parameters(o.options_about("driving", "resume"))
def resume(
    token_or_sim: Annotated[str, typer.Argument(metavar="TOKEN_OR_SIM", help="Resume token, run_id, sim_id or path.")],
    sim: Annotated[
        str | None, typer.Option("--sim", metavar="SIM", help="Where the run of a token is, if not under --root.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=f"{FRESH[0].upper()}{FRESH[1:]}.")] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    **typed: Any,
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
    request = facade_arguments({**typed, "sim": sim, "fresh": fresh})
    place = Place(sim or token_or_sim, typed["root"], typed["out"])
    return finish(lambda report: enquete.resume(token_or_sim, progress=report, **request), place, as_json, quiet)


def finish(drive: Drive, place: Place, as_json: bool, quiet: bool) -> int:
    """Drive with progress and signals, then say how it ended."""
    driven = drive_to_stop(drive, place, quiet)
    return show(driven, place, as_json, exit_code(driven))


def drive_to_stop(drive: Drive, place: Place, quiet: bool) -> Run:
    """Raises Stopped when told to stop for the second time, or before the first question."""
    with Interrupts() as interrupts, progress_display(quiet) as report:
        try:
            return drive(report)
        except KeyboardInterrupt:
            begun = interrupts.count > 1
            raise Stopped(say("stopped", command=place.command("resume")) if begun else say("not_begun")) from None


# --- `enquete estimate`, and the question before a model is paid: what a run will cost, before its first request


@with_parameters(o.options_about("study", "driving", "start"))
def estimate(sim: o.Sim, as_json: o.Json = False, **asked: Any) -> int:
    """Say what `enquete run` with the same options would cost: requests, tokens, money and time, each as a range.

    Asks nobody and writes nothing. The prompts of up to forty agents are built and measured. Every figure is the likely
    one, with the least and the most in brackets; a price that is not known is "unknown", never 0.

    \b
    Examples:
      enquete estimate sim_683e8059ab27 --root uploads --model gpt-5-mini
      enquete estimate personas.csv --out results --methods delphi --budget-tokens 500000
      enquete estimate ./my_sim --methods delphi --rerun --json

    \b
    Exit codes: 0 shown, whether it fits the budget or not · 2 wrong input
    """
    request = facade_arguments(asked)
    if request.get("respondent") == "replay":
        raise SettingsError("--respondent replay: a replay sends no request and costs nothing, so nothing is estimated")
    expected = enquete.estimate(sim, **request)
    return answer(as_json, expected.as_object(), estimate_lines(expected))


def estimate_lines(expected: Estimate) -> list[str]:
    measured = say("measured", n=number(expected.rehearsed), agents=number(expected.agents))
    head = [say(key) for key in ("stage", "purpose", "by", "calls", "input", "output", "usd")]
    return [
        say("estimate_of", sim=expected.sim_id, agents=number(expected.agents)) + " " + measured,
        *([say("estimate_synthetic")] if expected.respondent != "llm" else []),
        "",
        *table(head, [*(_row(line) for line in expected.lines), _total(expected)]),
        "",
        *_by_model(expected),
        time_text(expected),
        verdict(expected),
        *(say("refused", why=why) for why in expected.refusals),
        *expected.notes,
    ]


def _row(line: EstimateLine) -> list[str]:
    stage = " ".join(word for word in (line.methodology, line.phase) if word)
    arm = "" if line.arm == "main" else f" ({line.arm})"
    tokens = (counted(line.input_tokens), counted(line.output_tokens))
    return [stage + arm, line.purpose, line.model, counted(line.calls), *tokens, money(line.usd)]


def _total(expected: Estimate) -> list[str]:
    tokens = (counted(expected.input_tokens), counted(expected.output_tokens))
    return [say("total"), "", "", counted(expected.calls), *tokens, money(expected.usd)]


def _by_model(expected: Estimate) -> list[str]:
    """Where more than one model answers, and where a price is unknown."""
    models = sorted({line.model for line in expected.lines if line.price_source != "no model"})
    lines = []
    for model in models if len(models) > 1 else ():
        known = [line.usd for line in expected.lines if line.model == model and line.usd is not None]
        total = None if model in expected.unpriced else sum(known[1:], start=known[0])
        lines.append(say("usd_of", model=model, usd=money(total)))
    if expected.unpriced:
        lines.append(say("unpriced", models=", ".join(expected.unpriced)))
    return lines


def time_text(expected: Estimate) -> str:
    if expected.seconds is None:
        return say("time_unknown")
    return say("time_needed", time=spread(expected.seconds, duration), concurrency=number(expected.concurrency))


def verdict(expected: Estimate) -> str:
    """Whether the upper ends fit the caps, and what would."""
    cap = say("cap_tokens", cap=number(expected.cap_tokens))
    if expected.cap_usd is not None:
        cap += f", {say('cap_usd', cap=f'{expected.cap_usd:g}')}"
    if expected.cap_usd is not None and expected.unpriced:
        return say("cap_unknowable", cap=cap)
    if not expected.exceeds:
        return say("cap_fits", cap=cap)
    from enquete.ledger.budget import rounded_up  # noqa: PLC0415 - not for --help

    usd = expected.usd
    by_money = f"--budget-usd {usd.high:.2f}" if usd else ""
    enough = f"--budget-tokens {rounded_up(expected.tokens.high)}" if expected.exceeds == "tokens" else by_money
    return say("cap_exceeded", cap=cap, enough=enough)


def confirmed_request(sim: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """Ask before a model is paid: the request to go on with, or None. Who agrees to more than the cap has confirmed it.
    Raises ModelError where a new run's server is not there.

    Nothing is asked where nothing is paid: the synthetic respondent, a replay, a run that is finished.
    """
    from enquete.methods.registry import dotted_paths  # noqa: PLC0415
    from enquete.runs.fit import told  # noqa: PLC0415
    from enquete.runs.model_server import require_server_of  # noqa: PLC0415
    from enquete.runs.run_choice import choose_run  # noqa: PLC0415
    from enquete.state.request import parse_request  # noqa: PLC0415
    from enquete.state.settings import Environment, resolve_machine  # noqa: PLC0415
    from enquete.study.background import wait  # noqa: PLC0415

    environment = Environment.read()
    asked = parse_request(sim=sim, **request)
    choice, population = choose_run(asked, environment, dotted_paths(asked.methods))
    unfit = told(choice.record.fit, tongue()) if choice.record.fit and choice.action == "new" else []
    if unfit and (asked.fit or environment.fit) == "checked":
        if not typer.confirm(say("unfit", why=" ".join(unfit)), default=False, err=True):
            return None
        request = {**request, "fit": "any"}
    main = choice.record.main
    if main.respondent != "llm" or choice.action == "finished" or choice.record.replay_of:
        return request
    who = {"sim": population.sim_id, "model": main.model, "server": choice.record.base_url or say("own")}
    who["agents"] = number(len(population.participants))
    if choice.action == "resume":
        begun = enquete.Run(choice.folder)
        spent, whole = begun.spent.get("tokens", 0), begun.standing.expected
        more = say("unknown") if whole is None else short(max(0, whole - spent))
        question = say("confirm_resume", spent=short(spent), more=more, **who)
        return request if typer.confirm(question, default=True, err=True) else None
    machine = resolve_machine(asked, environment)
    if not machine.waits_for_server:  # else the run says that it waits
        wait(require_server_of(choice.record, machine))
    expected = enquete.estimate(sim, **request)
    time = duration(expected.seconds.likely) if expected.seconds else say("time_unknown")
    costs = {"tokens": counted(expected.tokens), "usd": money(expected.usd), "time": time}
    question = say("confirm", verdict=verdict(expected), **costs, **who)
    if not typer.confirm(question, default=not expected.exceeds, err=True):
        return None
    return {**request, "confirm": True} if expected.exceeds else request


# --- Progress on stderr: a live display in a terminal, plain lines elsewhere, nothing when asked to be quiet


PLAIN_EVERY_S = 10.0
SETTLED_S = 0.2  # a speed over less than this is noise


@contextmanager
def progress_display(quiet: bool, stream: TextIO | None = None) -> Iterator[Callable[[Event], None] | bool]:
    """The façade's `progress`: a callback, or False for nothing."""
    out = stream or sys.stderr
    if quiet:
        yield False
    elif out.isatty():
        with Live(out) as live:
            yield live
    else:
        yield Plain(out)


@dataclass
class AgentsPerSecond:
    """Agents a second since this process began the round; those found answered in the ledger do not count."""

    started: float = field(default_factory=time.monotonic)
    first: int = 0

    def rate(self, done: int, now: float) -> float:
        """0 while it is too early to say."""
        elapsed = now - self.started
        return (done - self.first) / elapsed if elapsed >= SETTLED_S else 0.0

    def left(self, done: int, total: int, now: float) -> float | None:
        """Seconds, or None while nothing is known."""
        rate = self.rate(done, now)
        return (total - done) / rate if rate > 0 else None


def round_title(event: Event) -> str:
    methodology, phase, arm, number_ = row_of(event)
    words = [part for part in (methodology, phase, say("round", round=number_)) if part]  # the critic has no phase
    return " ".join(words if arm == "main" else [*words, f"({arm})"])


def pace_text(event: Event, pace: AgentsPerSecond, now: float) -> str:
    """Speed, tokens so far and in the end, time left; no speed before there is one."""
    left = pace.left(event["done"], event["total"], now)
    capped = event["cap"] < sys.maxsize  # a replay has no cap
    spent = {"spent": number(event["tokens"]), "cap": number(event["cap"])}
    parts = [say("tokens_spent", **spent) if capped else say("tokens_uncapped", **spent)]
    if event.get("expected") is not None:
        parts.append(say("in_the_end", tokens=short(event["expected"])))
    if left is not None:
        parts.insert(0, f"{pace.rate(event['done'], now):.1f}/s")
    if left is not None and event["done"] < event["total"]:
        parts.append(say("left", time=clock(left)))
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """1:05 or 2:03:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Plain:
    """A line when a round begins and ends, and every PLAIN_EVERY_S between."""

    def __init__(self, stream: TextIO, every: float = PLAIN_EVERY_S):
        self._stream = stream
        self._every = every
        self._paces: dict[EventRow, AgentsPerSecond] = {}
        self._last: dict[EventRow, tuple[float, int]] = {}
        self._fault = ("", float("-inf"))  # what was said last, and when

    def __call__(self, event: Event) -> None:
        row, now = row_of(event), time.monotonic()
        pace = self._paces.setdefault(row, AgentsPerSecond(now, event["done"]))
        said_at, said_done = self._last.get(row, (float("-inf"), -1))
        finished = event["done"] >= event["total"]
        self._say_fault(event, now)
        if said_done == event["done"] or not (finished or now - said_at >= self._every):
            return
        self._last[row] = (now, event["done"])
        count = f"{number(event['done'])}/{number(event['total'])}"
        self._say(f"{round_title(event)}: {count}, {pace_text(event, pace, now)}")

    def _say_fault(self, event: Event, now: float) -> None:
        """At once, and while it lasts every so often: how long a server is still waited for changes all the time."""
        last, said_at = self._fault
        fault = event.get("fault", "")
        if not fault:
            self._fault = "", float("-inf")
        elif fault != last and now - said_at >= self._every:
            self._fault = fault, now
            self._say(f"{round_title(event)}: {fault}")

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a log that is gone must not stop the interviews
            self._stream.write(f"{text}\n")
            self._stream.flush()


class Live:
    """One bar a methodology, phase and round, redrawn in place."""

    def __init__(self, stream: TextIO):
        from rich.console import Console  # noqa: PLC0415 - logs and --help do without
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"), console=Console(file=stream, stderr=True), redirect_stdout=False,
            redirect_stderr=False,
        )  # fmt: skip
        self._tasks: dict[EventRow, TaskID] = {}
        self._paces: dict[EventRow, AgentsPerSecond] = {}

    def __enter__(self) -> Live:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        row, now = row_of(event), time.monotonic()
        pace = self._paces.setdefault(row, AgentsPerSecond(now, event["done"]))
        if row not in self._tasks:
            self._tasks[row] = self._bars.add_task(round_title(event), total=event["total"], pace="")
        text = event.get("fault") or pace_text(event, pace, now)
        self._bars.update(self._tasks[row], completed=event["done"], total=event["total"], pace=text)


# --- `enquete demo`: a bundled population, visibly through T0, the pause and T1, without a key


MARKER = ".enquete-demo"


def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder to work in; must be new, empty or an earlier demo.")
    ] = ("demo-out"),
    language: Annotated[str, typer.Option(metavar="de|en", help="Language of the interviews.")] = "de",
    pack: Annotated[str | None, o.option_of("pack")] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Of the synthetic respondent.")] = "0",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:
    """Interview a bundled population, before and after its simulation, without a key. Takes seconds.

    Lays out the invented stakeholders of a pack as a simulation that has just started, takes T0, stops, completes the
    simulation, resumes, and shows where the report is. Run again, it starts over.

    \b
    Examples:
      enquete demo
      enquete demo --pack high_street --out /tmp/demo --language en

    \b
    Exit codes: as of `enquete run`; 2 if DIR holds anything that is no demo
    """
    root = prepared(Path(out).expanduser())

    def narrate(key: str, **values: Any) -> None:
        if not as_json:
            remark(say(key, **values))

    chosen = pack_named(pack or "")
    narrate("demo_start", topic=chosen.topic[tongue()], language=say(f"language_{'en' if language == 'en' else 'de'}"))
    folder, counts = simulate(root, chosen.name, language, completed=False)
    narrate("demo_copied", path=folder, **counts)
    narrate("demo_t0")
    place = Place(folder.name, out)
    asked: dict[str, Any] = {"language": language, "seed": seed, "pack": chosen.name}  # text as it was typed

    begin = partial(enquete.conduct_interviews, place.sim, root=out, respondent="synthetic", fit="any", **asked)
    taken = drive_to_stop(lambda report: begin(progress=report), place, quiet)
    if taken.status != "awaiting_simulation":
        return show(taken, place, as_json, exit_code(taken))
    narrate("demo_paused", token=taken.resume_token)
    narrate("demo_completed", **simulate(root, chosen.name, language, completed=True)[1])
    narrate("demo_t1", methods=once_asked(taken))
    go_on = partial(enquete.resume, str(taken.resume_token), root=out)
    ended = drive_to_stop(lambda report: go_on(progress=report), place, quiet)
    ended.resumed = False  # the demo itself resumed it and has said so
    narrate("demo_end")
    return show(ended, place, as_json, exit_code(ended))


def simulate(root: Path, pack: str, language: str, *, completed: bool) -> tuple[Path, dict[str, int]]:
    """The simulation's folder, agents and actions."""
    from enquete.demo import demo_population  # noqa: PLC0415 - for the demo alone

    folder = demo_population(root, completed=completed, pack=pack, language=language)
    population = enquete.load_population(folder)
    return folder, {"agents": len(population.participants), "actions": population.actions}


def once_asked(run: Run) -> str:
    """Titles of the methodologies that have no T0, in the terminal's language."""
    waves = {stage.methodology for stage in run.stages if stage.phase == "T0"}
    titles = enquete.list_instruments()
    return ", ".join(titles[stage.methodology][tongue()] for stage in run.stages if stage.methodology not in waves)


def prepared(out: Path) -> Path:
    """`out` as a folder for the demo, without any earlier run. Only a demo's own folder is emptied."""
    if out.exists() and not out.is_dir():
        raise SettingsError(f"--out {str(out)!r} is a file; name a folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise SettingsError(f"--out {str(out)!r} is not empty and no earlier demo; name another folder with --out")
        shutil.rmtree(out / "simulations", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("`enquete demo` made this folder and will overwrite it.\n", "utf-8")
    return out
