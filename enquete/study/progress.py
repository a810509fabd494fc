"""Progress of a run for whoever waits for it: tqdm's bars, one a methodology, phase, arm and round.

Events may come from another thread, so nothing here touches the caller's loop.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from enquete.runs.run_session import Progress
from enquete.state.channels import Event, EventRow, row_of
from enquete.study.run import in_notebook

if TYPE_CHECKING:
    from tqdm.auto import tqdm


class Bars:
    """Bars with agents answered of agents asked; a bar is closed when its round is complete, the others by `close`."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm  # noqa: PLC0415 - of the extra "notebook": who lacks it is told before a run begins

        self._new_bar = tqdm
        self._bars: dict[EventRow, tqdm[Any]] = {}

    def __call__(self, event: Event) -> None:
        row = row_of(event)
        if row not in self._bars:
            self._bars[row] = self._new_bar(total=int(event["total"]), initial=0, desc=_title(row), unit="agent")
        bar = self._bars[row]
        if bar.disable:  # closed: the round was complete
            return
        bar.set_postfix_str(event.get("fault") or f"{event['tokens']:,} tokens", refresh=False)
        bar.update(int(event["done"]) - bar.n)
        bar.refresh()
        if event["done"] >= event["total"]:
            bar.close()

    def close(self) -> None:
        """Let go of the bars of rounds that were not finished (the run paused)."""
        for bar in self._bars.values():
            bar.close()


def _title(row: EventRow) -> str:
    methodology, phase, arm, number = row
    return f"{methodology} {phase} round {number}" + ("" if arm == "main" else f" ({arm})")


@contextmanager
def shown_progress(wanted: Progress | bool | None) -> Iterator[Progress | None]:
    """Yield what is told of a run's progress, and close bars at the end.

    Args:
        wanted: a callback; True for bars, False for nothing. None shows bars where somebody looks on, in a notebook or
            a terminal, and where tqdm is installed.
    """
    if wanted is None:
        wanted = (in_notebook() or sys.stderr.isatty()) and find_spec("tqdm") is not None
    if not isinstance(wanted, bool):
        yield wanted
        return
    if not wanted:
        yield None
        return
    bars = Bars()
    try:
        yield bars
    finally:
        bars.close()
