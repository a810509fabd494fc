"""Progress on stderr: a live display in a terminal, plain lines elsewhere, nothing when asked to be quiet.

Events come from the façade: methodology, phase, arm, round, done, total (agents), tokens, cap, expected (tokens in the
end, or None). They may come from another thread.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from enquete.interfaces.cli.amounts import short
from enquete.interfaces.cli.output import number
from enquete.interfaces.cli.words import say

if TYPE_CHECKING:
    from rich.progress import TaskID

PLAIN_EVERY_S = 10.0
SETTLED_S = 0.2  # a speed over less than this is noise

Event = dict[str, Any]
Row = tuple[str, str, str, int]


@contextmanager
def shown(quiet: bool, stream: TextIO | None = None) -> Iterator[Callable[[Event], None] | None]:
    """The callback for the façade's `progress`."""
    out = stream or sys.stderr
    if quiet:
        yield None
    elif out.isatty():
        with Live(out) as live:
            yield live
    else:
        yield Plain(out)


@dataclass
class Pace:
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


def row_of(event: Event) -> Row:
    return (str(event["methodology"]), str(event["phase"]), str(event["arm"]), int(event["round"]))


def title(event: Event) -> str:
    if "batches" in event:
        return say("batch", number=event["round"], batches=event["batches"])
    methodology, phase, arm, number_ = row_of(event)
    words = [part for part in (methodology, phase, say("round", round=number_)) if part]  # the critic has no phase
    return " ".join(words if arm == "main" else [*words, f"({arm})"])


def pace_text(event: Event, pace: Pace, now: float) -> str:
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
        self._paces: dict[Row, Pace] = {}
        self._last: dict[Row, tuple[float, int]] = {}
        self._fault = ("", float("-inf"))  # what was said last, and when

    def __call__(self, event: Event) -> None:
        row, now = row_of(event), time.monotonic()
        pace = self._paces.setdefault(row, Pace(now, event["done"]))
        said_at, said_done = self._last.get(row, (float("-inf"), -1))
        finished = event["done"] >= event["total"]
        self._say_fault(event, now)
        if said_done == event["done"] or not (finished or now - said_at >= self._every):
            return
        self._last[row] = (now, event["done"])
        counted = {"done": number(event["done"]), "total": number(event["total"])}
        count = say("batch_done", **counted) if "batches" in event else "{done}/{total}".format(**counted)
        self._say(f"{title(event)}: {count}, {pace_text(event, pace, now)}")

    def _say_fault(self, event: Event, now: float) -> None:
        """At once, and while it lasts every so often: how long a server is still waited for changes all the time."""
        said, said_at = self._fault
        fault = event.get("fault", "")
        if not fault:
            self._fault = "", float("-inf")
        elif fault != said and now - said_at >= self._every:
            self._fault = fault, now
            self._say(f"{title(event)}: {fault}")

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
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            console=Console(file=stream, stderr=True),
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._tasks: dict[Row, TaskID] = {}
        self._paces: dict[Row, Pace] = {}

    def __enter__(self) -> Live:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        row, now = row_of(event), time.monotonic()
        pace = self._paces.setdefault(row, Pace(now, event["done"]))
        if row not in self._tasks:
            self._tasks[row] = self._bars.add_task(title(event), total=event["total"], pace="")
        text = event.get("fault") or pace_text(event, pace, now)
        self._bars.update(self._tasks[row], completed=event["done"], total=event["total"], pace=text)
