"""Progress in a notebook: tqdm's bars, one a methodology, phase, arm and round.

    run = enquete.conduct_interviews(sim, progress=Bars())

A callback for the façade's `progress`. Events may come from another thread, so nothing here touches the caller's loop.
"""

from __future__ import annotations

from typing import Any

from tqdm.auto import tqdm

from enquete.state.channels import Event, EventRow, row_of


class Bars:
    """Bars with agents answered of agents asked; a bar is closed when its round is complete, the others by `close`."""

    def __init__(self) -> None:
        self._bars: dict[EventRow, tqdm[Any]] = {}

    def __call__(self, event: Event) -> None:
        row = row_of(event)
        if row not in self._bars:
            unit = "request" if "batches" in event else "agent"
            self._bars[row] = tqdm(total=int(event["total"]), initial=0, desc=_title(row), unit=unit)
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
    if methodology == "batch":
        return f"batch {number}"
    return f"{methodology} {phase} round {number}" + ("" if arm == "main" else f" ({arm})")
