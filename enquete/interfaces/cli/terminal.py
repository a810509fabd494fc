"""What a terminal is told: results on stdout, everything else on stderr, with --json exactly one object on stdout;
amounts, the words of the person typing, and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from enquete.locale import N_, SOURCE, in_language, languages
from enquete.state.untrusted_input import SYNTHETIC

if TYPE_CHECKING:
    from enquete.runs.estimate import Range


def prepare_streams() -> None:
    """A terminal that cannot show an umlaut gets an escape, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def result(text: str) -> None:
    """A line of the result, for stdout."""
    sys.stdout.write(printable(text) + "\n")


def remark(text: str) -> None:
    """A line about the work, for stderr."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def printable(text: str) -> str:
    """Control characters written out: names and notes come from files, and a terminal obeys escape sequences."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def one_object(value: dict[str, Any]) -> None:
    """The one JSON object of --json. NaN and infinities become null: they are not JSON."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(finite(value), ensure_ascii=plain, indent=2, default=str, allow_nan=False) + "\n")
    sys.stdout.flush()


def answer(as_json: bool, facts: dict[str, Any], lines: Iterable[str], code: int = 0) -> int:
    """The result of a command: one object, or lines. Returns the exit code."""
    if as_json:
        one_object({**facts, "exit_code": code})
        return code
    for line in lines:
        result(line)
    return code


def finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Columns aligned to the left, two spaces apart: readable in a terminal, a log and a mail."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    return ["  " + line.rstrip() for line in lines]


def number(value: int) -> str:
    return f"{value:,}"


# --- Ranges, amounts of money and times, short enough for a column


UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def short(value: float) -> str:
    """999, 1.2k, 12k, 3.4M: two or three digits that count."""
    for size, unit in UNITS:
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def spread(value: Range, words: Callable[[float], str]) -> str:
    """`123k (31k–129k)`: likely, and from least to most."""
    low, likely, high = words(value.low), words(value.likely), words(value.high)
    ends = low if low == high else f"{low}–{high}"
    return likely if ends == likely else f"{likely} ({ends})"


def counted(value: Range) -> str:
    return spread(value, short)


def dollars(amount: float) -> str:
    """To the cent from one dollar on, below that two digits that count."""
    if amount == 0 or amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{min(8, 1 - math.floor(math.log10(amount)))}f}"


def money(value: Range | None) -> str:
    """None: no price is known."""
    return say("unknown") if value is None else spread(value, dollars)


def duration(seconds: float) -> str:
    """40 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    hours, rest = divmod(round(seconds / 60), 60)
    if not hours:
        return f"{rest} min"
    return f"{number(hours)} h {rest} min" if rest else f"{number(hours)} h"


# --- Ctrl-C and SIGTERM alike: the first one pauses, the second stops at once, a third leaves without a word


SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED = 130
LEAVES_WITHIN_S = 4.0
"""After the second signal, whatever the process is waiting for: five seconds with what the system needs."""


class Stopped(Exception):
    """Stopped at once, by a second signal or before the first question. The message says which."""


class Interrupts:
    """While entered, both signals raise KeyboardInterrupt, which the façade takes for pause, then for stop."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}
        self._told = -1  # where the system writes which signals came, or none
        self._told_before = -1

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._handle) for each in SIGNALS}
            self._watch()
        return self

    def _watch(self) -> None:
        """Let a thread end the process after the second signal, also where this one waits for something that never
        comes and so never gets to `_handle`: the system writes each signal into a pipe at once."""
        read, self._told = os.pipe()
        os.set_blocking(self._told, False)
        self._told_before = signal.set_wakeup_fd(self._told, warn_on_full_buffer=False)

        def leave_after_second() -> None:
            signals = 0
            while signals < 2:
                number = os.read(read, 1)
                if not number:  # nobody is to be watched any more
                    os.close(read)
                    return
                signals += number[0] in SIGNALS
            time.sleep(LEAVES_WITHIN_S)
            os._exit(STOPPED)

        threading.Thread(target=leave_after_second, name="enquete-signals", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        """After a stop the handlers stay: one more signal must not end in a traceback while the process leaves."""
        if self.count < 2:
            for each, handler in self._before.items():
                signal.signal(each, handler)
            if self._told >= 0:
                signal.set_wakeup_fd(self._told_before)
                os.close(self._told)
                self._told = -1

    def _handle(self, _signum: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1:
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, f"\n{say('pausing')}\n".encode())
        if self.count > 2:
            os._exit(STOPPED)
        raise KeyboardInterrupt


# --- The terminal's own words. Interviews have their own language; this is that of the person typing


def tongue(environment: Mapping[str, str] = os.environ) -> str:
    """The locale's language (of LC_ALL, LC_MESSAGES, LANG, the first set) if there is a catalogue, else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            named = re.split(r"[_.@]", environment[name].lower())[0]
            return named if named in languages() else SOURCE
    return SOURCE


def say(key: str, /, **values: object) -> str:
    """The text of this key in the terminal's language."""
    return in_language(TEXTS, tongue())[key].format(**values)


TEXTS: Mapping[str, str] = {
    "topic": N_("Topic"),
    "items": N_("Items"),
    "phases": N_("Phases"),
    "agents_all": N_("Agents"),
    "types": N_("Stakeholder types"),
    "not_completed": N_("not completed ({status})"),
    "drafted": N_("Drafts in {folder}, on: {themes}"),
    "draft_cost": N_(
        "{model} will be asked about {requests} times: likely {tokens} tokens ({usd} USD), more where something is "
        "asked for again."
    ),
    "draft_confirm": N_("Ask it?"),
    "draft_spent": N_("The model took {tokens} tokens."),
    "draft_next": N_("Read them, edit them, try them: enquete check SIM --instrument {folder}/FILE --pilot 8"),
    "deletes": N_("To be deleted for good: what Enquete wrote of {sim} in {path} ({files} files, {size} MB), the runs"),
    "delete_keeps": N_("Kept, because Enquete did not write it:"),
    "delete_graphs": N_("What was sent to {graphs} stays there."),
    "delete_confirm": N_("Delete?"),
    "delete_declined": N_("nothing was deleted"),
    "deleted": N_("Deleted: {runs} runs"),
    "accepted": N_("No drafts any more: {names}"),
    "refused": N_("A run with these options would be refused: {why}"),
    "unfit": N_("{why} Ask nevertheless?"),
    "reviewed": N_("{file}: read as an instrument for {method}"),
    "review_ok": N_("The rules find nothing to change in its items."),
    "review_found": N_("{n} remarks on its items. They are advice: rules know words, not what you mean."),
    "pilot_confirm": N_("Ask these agents?"),
    "pilot_item": N_("Item"),
    "pilot_answers": N_("answers"),
    "pilot_values": N_("different"),
    "pilot_apart": N_("other order"),
    "pilot_told": N_("remarks"),
    "pilot_unread": N_("not everybody's answer could be read"),
    "pilot_no_variance": N_("everybody says the same"),
    "pilot_order_effect": N_("answered otherwise in another order"),
    "pilot_kept": N_("The pilot's run is in {path}."),
    "completed": N_("completed"),
    "awaiting_simulation": N_("awaiting the simulation"),
    "waiting": N_("waiting for a person"),
    "paused": N_("paused"),
    "damaged": N_("damaged"),
    "newer": N_("of a newer version"),
    "failed": N_("failed"),
    "page_at": N_("The page is at {address}"),
    "done": N_("done"),
    "short": N_("stopped early"),
    "not started": N_("not started"),
    "run": N_("Run {run_id} of {sim_id}: {status}"),
    "note": N_("Why: {note}"),
    "resumed": N_("The run was unfinished and has been resumed; what had been answered was not asked again."),
    "shown": N_("This run is finished already; nothing was asked. Add --new for another one."),
    "synthetic": SYNTHETIC,
    "model": N_("Answered by {model}, temperature {temperature:g}."),
    "model_default": N_(
        "Answered by {model}, at its server's default temperature: the model does not take {temperature:g}."
    ),
    "sent_otherwise": N_("What {model} did not take as asked for: {sent}"),
    "asked": N_("Asked: {methods}; {agents} agents, in {language}."),
    "language_de": N_("German"),
    "language_en": N_("English"),
    "stage": N_("Stage"),
    "state": N_("State"),
    "agents": N_("Answered"),
    "complete": N_("Complete"),
    "answers": N_("Answers"),
    "tokens": N_("Tokens"),
    "to_come": N_("Likely more"),
    "of_expected": N_("{spent} of {expected}"),
    "tokens_uncapped": N_("{spent} tokens"),
    "in_the_end": N_("likely {tokens} in the end"),
    "usd_spent": N_("{usd} USD"),
    "usd_in_the_end": N_("likely {usd} USD in the end"),
    "running": N_("running"),
    "replay": N_("A replay of {run}: its ledger answered, nothing was sent and nothing paid."),
    "rerun": N_("A re-run of {run}: asked anew: {methods}; taken over: {carried}."),
    "failed_answers": N_("{count} answers failed. Ask once more for those, and only for those: {command}"),
    "failed_so_far": N_(
        "{count} answers have failed so far; once the run has stopped, they can be asked for once more."
    ),
    "failed_closed": N_(
        "{count} answers failed in rounds whose feedback has been given since: they are not asked again."
    ),
    "estimate_of": N_("Estimate for {agents} agents of {sim}: likely (least–most)."),
    "measured": N_("Measured on the prompts of {n} of {agents} agents."),
    "estimate_synthetic": N_(
        "The synthetic respondent answers: tokens are estimates, nothing is sent and nothing costs."
    ),
    "purpose": N_("Purpose"),
    "by": N_("Model"),
    "calls": N_("Calls"),
    "input": N_("Input tokens"),
    "output": N_("Output tokens"),
    "usd": N_("USD"),
    "total": N_("Total"),
    "unknown": N_("unknown"),
    "usd_of": N_("USD for {model}: {usd}"),
    "unpriced": N_("The price of {models} is unknown: name it in a price file (docs/budget.md)."),
    "time_needed": N_("Time: about {time} with {concurrency} requests in flight."),
    "time_unknown": N_("time unknown: how fast a model on this machine is, its answers tell while it runs"),
    "cap_tokens": N_("cap {cap} tokens"),
    "cap_usd": N_("cap {cap} USD"),
    "cap_fits": N_("It fits the budget ({cap})."),
    "converse": N_("Answer and press Enter; Ctrl-D leaves the interview, and what was answered is kept."),
    "converse_end": N_(
        "Answer and press Enter; {end} ends the interview, Ctrl-D leaves it, and what was answered is kept."
    ),
    "laid_out": N_(
        "Laid out in {folder}: a methodology that works.\nNext:\n  pip install -e {folder}\n  pytest {folder}"
    ),
    "cap_exceeded": N_(
        "The upper estimate exceeds the budget ({cap}); {enough} would do. Without it nothing is asked unless "
        "--yes is given: the run then pauses at the cap and can be resumed."
    ),
    "cap_unknowable": N_("The budget ({cap}) cannot be held, because a price is unknown."),
    "answers_ok": N_("ok"),
    "answers_repaired": N_("repaired"),
    "answers_refused": N_("refused"),
    "answers_invalid": N_("invalid"),
    "answers_failed": N_("failed"),
    "none": N_("none"),
    "invalid": N_(
        "RUN INVALID: not one usable answer came back ({answers}). Nothing in the report can be used. Look at "
        "the key, the model name and the server, then: {command}"
    ),
    "bugs": N_(
        "{count} units of work broke on an error in Enquete and are without answers (tracebacks: table failures "
        "in {path}):"
    ),
    "flags": N_("Before you use the data:"),
    "more": N_("… and {count} more in the report"),
    "report": N_("Report: {path}"),
    "no_report": N_("no report yet"),
    "data": N_("Data: {path}"),
    "next": N_("Next:"),
    "next_report": N_("read the report"),
    "next_status": N_("see how far it is"),
    "next_resume": N_("go on"),
    "next_resume_budget": N_("go on with a cap that is likely to be enough ({spent} are spent)"),
    "next_retry": N_("ask once more for the {count} answers that failed"),
    "next_resume_simulation": N_("go on once the simulation has completed"),
    "next_resume_failed": N_("try again what failed, once the cause is removed"),
    "next_model": N_("ask a model instead"),
    "next_run": N_("interview it"),
    "tokens_spent": N_("{spent} of {cap} tokens"),
    "left": N_("{time} left"),
    "round": N_("round {round}"),
    "pausing": N_("pausing: calls in flight finish; once more to stop at once"),
    "stopped": N_(
        "stopped at once: what had been answered is in the ledger, only calls in flight are lost. Go on with: {command}"
    ),
    "not_begun": N_("stopped before the first question; nothing was asked"),
    "confirm": N_(
        "{agents} agents of {sim} will be interviewed by {model} at {server}.\nEstimate: {tokens} tokens, {usd} "
        "USD, {time}. {verdict}\nGo on?"
    ),
    "confirm_resume": N_(
        "The run on {agents} agents of {sim} is unfinished: {model} at {server} will be asked for the rest, "
        "likely {more} tokens ({spent} are spent). Go on?"
    ),
    "declined": N_("nothing was asked"),
    "no_simulations": N_("no simulation under {root}"),
    "no_runs": N_("no runs"),
    "runs_of": N_("Runs of {sim}"),
    "simulations_under": N_("Simulations under {root}"),
    "simulation": N_("Simulation"),
    "runs": N_("Runs"),
    "latest": N_("Latest"),
    "methods": N_("Methodologies"),
    "method": N_("Methodology"),
    "title": N_("Title"),
    "status": N_("Status"),
    "created": N_("Started"),
    "language": N_("Language"),
    "gaps": N_("Everything else was written, but this is missing:"),
    "exported": N_("Written again from the ledger: {path}"),
    "own": N_("default server"),
    "driven": N_("A process is driving it right now; the figures are those of this moment."),
    "killed": N_("no end is filed: its process was killed. Nothing is lost; resume it"),
    "found": N_("What was found:"),
    "nothing_remembered": N_("Nothing that was said fits."),
    "episodes_sent": N_("Sent: {sent} episodes"),
    "episodes_left": N_("{left} could not be sent ({why}); to try again, call this once more:"),
    "unsent": N_("The memory was not told everything ({why}); episodes to be sent: {count}. Send them with: {command}"),
    "no_preference_follows": N_(
        "Pairs of answers that were compared: {n}. No preference follows from them: the critic "
        "went by the place of an answer, both answers were alike, or both came from the same "
        "configuration."
    ),
    "no_preferences": N_("No answers have been compared yet (a run with --respondent-b compares them)."),
    "question_type": N_("Question"),
    "stakeholder_type": N_("Stakeholders"),
    "configuration": N_("Configuration"),
    "win_rate": N_("Win rate (95% interval)"),
    "wins": N_("Wins"),
    "ties": N_("Ties"),
    "n": N_("n"),
    "demo_start": N_(
        "The demo interviews invented stakeholders of {topic}, before and after a simulation. No key is needed: "
        "the built-in synthetic respondent answers, in {language}."
    ),
    "demo_copied": N_(
        "1. A simulation that has just started was laid out in {path} ({agents} agents, {actions} actions so far)."
    ),
    "demo_t0": N_("2. T0, before the simulation: every agent gets the questionnaire and has no memories yet."),
    "demo_paused": N_(
        "3. The run has stopped by itself and waits for the simulation (a program would see exit code 4). Its "
        "token: {token}"
    ),
    "demo_completed": N_(
        "4. The simulation runs to its end: {actions} actions in two OASIS databases, run_state.json now says "
        "completed."
    ),
    "demo_t1": N_(
        "5. Resumed: T1, the same questionnaire to the same agents, who now remember what they did and saw. "
        "Then: {methods}."
    ),
    "demo_end": N_("That was the demo.\n"),
}
