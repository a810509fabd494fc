"""What a report lacks because the code of one methodology failed.

Whoever makes a report runs each step of each methodology inside `GapLog.catch`: a bug there costs this one step, and
everything else is written. What is missing is then named on page one, in the flags and in results.json.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from enquete.ledger.connection import DatabaseError
from enquete.ledger.damage import require_sound
from enquete.ledger.ledger import Failure
from enquete.locale import N_, MarkedText, Words, marked
from enquete.state.errors import LedgerError

UNIT = "analysis"
"""The unit under which the ledger files the gaps of a methodology."""

Step = Literal[
    "items", "analysis", "agents", "associations", "finding", "correction", "flags", "health", "figure", "replicates",
    "section", "appendix", "file", "table", "episodes", "transcripts",
]  # fmt: skip

SAYS: dict[Step, str] = {
    "items": N_(
        "{title}: its items could not be described (family, scale, keying), so its answers stand in the data without, "
        "and nothing was computed of them ({error})."
    ),
    "analysis": N_("{title}: the analysis failed, so nothing was found ({error})."),
    "agents": N_("{title}: what it says of each agent is not in agents.csv ({error})."),
    "associations": N_("{title}: nothing was compared, because the comparison failed ({error})."),
    "finding": N_("{title}: the finding “{what}” could not be put into words ({error})."),
    "correction": N_("{title}: its tests could not be corrected, so none of its findings is stated ({error})."),
    "flags": N_("{title}: its warnings could not be put into words ({error})."),
    "health": N_("{title}: its instrument health could not be checked ({error})."),
    "figure": N_("{title}: the figure “{what}” could not be drawn ({error})."),
    "replicates": N_("{title}: it was not compared with the further run “{what}” ({error})."),
    "section": N_("{title}: its section of the report could not be written ({error})."),
    "appendix": N_("{title}: its part of the appendix could not be written ({error})."),
    "file": N_("{title}: the file {what} could not be written ({error})."),
    "table": N_("{title}: the data table {what} could not be written ({error})."),
    "episodes": N_("{title}: its results are not among the episodes for the memory ({error})."),
    "transcripts": N_("{title}: its conversations could not be told ({error})."),
}
"""What is missing, in a sentence for page one."""

FROM_DAMAGED_DATA = (LookupError, ValueError, TypeError, AttributeError)
"""Errors that a damaged ledger may cause as well as a bug."""


@dataclass(frozen=True)
class Gap:
    """One step of one methodology that failed. what: the figure, file or finding, "" where the step says it all."""

    methodology: str
    step: Step
    error: str
    traceback: str
    what: str = ""

    def told(self, title: Words) -> MarkedText:
        """Return the sentence that names the gap. title: of the methodology."""
        return marked(SAYS[self.step], title=title, what=self.what, error=self.error)


@dataclass
class GapLog:
    """Catches what fails while a report is made, and keeps it.

    folder: of the run, whose ledger is checked before an error is taken for a bug. raise_bugs: nothing is caught.
    """

    folder: Path
    raise_bugs: bool = False
    gaps: list[Gap] = field(default_factory=list)

    @contextmanager
    def catch(
        self, methodology: str, step: Step, what: str = "", *, but: tuple[type[Exception], ...] = ()
    ) -> Iterator[None]:
        """Run one step of one methodology; a bug in it becomes a gap.

        but: further errors that are no bug of the methodology, such as a full disk while a file is written.

        Raises:
            LedgerError: where the ledger is damaged, whatever the step made of it.
            MemoryError, DatabaseError: as they come.
        """
        try:
            yield
        except Exception as error:
            if isinstance(error, (LedgerError, DatabaseError, MemoryError, *but)):
                raise
            self.add(methodology, step, error, what)

    def add(self, methodology: str, step: Step, error: Exception, what: str = "") -> None:
        """Keep an error as a gap; the same step is kept once. Raises as `catch` does."""
        if self.raise_bugs:
            raise error
        if isinstance(error, FROM_DAMAGED_DATA):
            require_sound(self.folder)
        if any((gap.methodology, gap.step, gap.what) == (methodology, step, what) for gap in self.gaps):
            return
        trace = "".join(traceback.format_exception(error))
        self.gaps.append(Gap(methodology, step, f"{type(error).__name__}: {error}", trace, what))

    def has(self, methodology: str, *steps: Step) -> bool:
        """Return whether one of these steps of the methodology failed."""
        return any(gap.methodology == methodology and gap.step in steps for gap in self.gaps)

    def for_arm(self, arm: str) -> ArmGaps:
        """Return a log in whose gaps a further arm is not compared with the main one."""
        return ArmGaps(self, arm)


NOTHING_CAUGHT = GapLog(Path(), raise_bugs=True)
"""For callers outside a report: bugs are raised."""


class ArmGaps(GapLog):
    """What fails while a further arm is analysed costs the comparison with it, not the methodology's own results."""

    def __init__(self, log: GapLog, arm: str) -> None:
        super().__init__(log.folder, log.raise_bugs, log.gaps)
        self._arm = arm

    def add(self, methodology: str, step: Step, error: Exception, what: str = "") -> None:
        super().add(methodology, "replicates", error, self._arm)


def failures_of(gaps: Sequence[Gap], arm: str) -> list[Failure]:
    """Return the gaps as the ledger files them: one failure a methodology, since a unit has one row."""
    filed: dict[str, Failure] = {}
    for gap in gaps:
        failure = filed.get(gap.methodology)
        if failure is None:
            filed[gap.methodology] = Failure(arm, gap.methodology, "", 0, UNIT, gap.error, gap.traceback)
        else:
            error, trace = f"{failure.error}; {gap.error}", f"{failure.traceback}\n{gap.traceback}"
            filed[gap.methodology] = replace(failure, error=error, traceback=trace)
    return list(filed.values())
