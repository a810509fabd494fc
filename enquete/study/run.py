"""A run as its user holds it: status, data, results, report. Read from the ledger; nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from enquete.checkpoints.budget import Budget, Claim
from enquete.checkpoints.folders import LEDGER, is_held, read_record
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.checkpoints.usage import usage
from enquete.models.prices import Prices
from enquete.nodes.planning import claims, closed, planned
from enquete.nodes.survey import run_status
from enquete.nodes.workplace import OPENAI_URL, spent_usd
from enquete.reports.figures import draw
from enquete.reports.reading import open_run
from enquete.reports.synthesis import load_results
from enquete.reports.table.rows import responses
from enquete.state.settings import DEFAULT_MAX_TOKENS, Environment
from enquete.study.display import show, table

if TYPE_CHECKING:
    import plotly.graph_objects as go

Status = Literal["completed", "awaiting_simulation", "waiting", "paused", "failed"]


def _summed(ledger: Ledger, wanted: Callable[[str, str], bool]) -> dict[str, int]:
    """Counters by name, over everything wanted."""
    names: dict[str, int] = {}
    for (_, methodology, phase, _, name), value in ledger.counters().items():
        if wanted(methodology, phase):
            names[name] = names.get(name, 0) + value
    return names


def _outcome(filed: str, counts: Mapping[str, int], driven: bool) -> str:
    """As filed at its end. What has begun without one is under way, or was broken off with the process that drove it."""
    if driven and filed in ("", "short") and counts.get("calls"):
        return "running"
    return filed or ("short" if counts.get("calls") else "not started")


EXIT_CODES: Mapping[str, int] = {"completed": 0, "failed": 1, "paused": 3, "awaiting_simulation": 4, "waiting": 4}


@dataclass(frozen=True)
class RunSummary:
    """One line of a list of runs. `status` is `damaged` or `newer` where the ledger cannot be read: see `note`."""

    run_id: str
    status: str
    note: str
    created_at: str
    methods: tuple[str, ...]
    language: str
    resume_token: str


@dataclass(frozen=True)
class StageStatus:
    """How far one methodology got in one phase. `counts`: calls, tokens, answers_ok, … over all arms and rounds."""

    methodology: str
    phase: str
    outcome: str  # done, short, waiting, failed, running or not started
    note: str
    counts: Mapping[str, int]
    responded: int  # agents of the main arm with at least one usable answer
    total: int


class Run:
    """A run that was driven to its end or its next stop."""

    def __init__(self, folder: Path, *, resumed: bool = False, shown: bool = False):
        """`resumed`: an unfinished run was gone on with; `shown`: a finished one was found, no call was made."""
        self.folder = folder
        self.resumed = resumed
        self.shown = shown
        self.record: RunRecord = read_record(folder)
        status, self.note = run_status(folder)
        self.status: Status = status if status in EXIT_CODES else "paused"  # type: ignore[assignment]  # checked

    @property
    def run_id(self) -> str:
        return self.record.run_id

    @property
    def resume_token(self) -> str | None:
        """Give it to `resume`; None once the run is completed."""
        return None if self.status == "completed" else self.record.token

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.status]

    @property
    def path(self) -> Path:
        """The folder with report.md and exports/."""
        return self.folder.parent.parent / "synthesis" / self.run_id

    @cached_property
    def responses(self) -> pd.DataFrame:
        """One row per answer, columns as in all_responses.csv."""
        with open_run(self.folder) as reading:
            return responses(reading, planned(self.record))

    @cached_property
    def results(self) -> dict[str, Any]:
        """Findings by methodology."""
        return load_results(self.folder)

    @property
    def flags(self) -> list[str]:
        """What a reader must know before using the data."""
        found = list(self.record.notices)
        for findings in self.results.values():
            if isinstance(findings, dict):
                found += [str(flag) for flag in findings.get("flags", [])]
        return found

    @property
    def report(self) -> str:
        file = self.path / "report.md"
        return file.read_text("utf-8") if file.is_file() else ""

    @cached_property
    def spent(self) -> dict[str, int]:
        """Tokens, settled calls, and answers by status."""
        with self._ledger() as ledger:
            return _summed(ledger, lambda methodology, phase: True)

    @cached_property
    def usage(self) -> tuple[int, int]:
        """Tokens read and written by models, without allowances for calls whose usage is unknown."""
        with self._ledger() as ledger:
            used = usage(ledger.read, set(self.record.carried)).values()
        return sum(one.read for one in used), sum(one.written for one in used)

    @cached_property
    def spent_usd(self) -> float | None:
        """US dollars by today's prices; None where a price is unknown."""
        with self._ledger() as ledger:
            environment = Environment.read()
            url = self.record.base_url or environment.base_url or OPENAI_URL
            return spent_usd(ledger, self.record, Prices.read(environment.prices), url)

    @cached_property
    def outlook(self) -> dict[str, Claim]:
        """What each part of the run has cost, and is still likely to cost: by claim on the budget (docs/budget.md)."""
        with self._ledger() as ledger:
            return claims(self.record, ledger, int(ledger.noted("cap_tokens") or DEFAULT_MAX_TOKENS))

    @property
    def expected_tokens(self) -> int | None:
        """What the run is likely to have cost in the end; None where nothing was estimated."""
        budget = Budget(0, self.spent.get("tokens", 0), claims=self.outlook)
        return budget.expected

    @cached_property
    def refused_tokens(self) -> int:
        """What the largest call that did not fit into the budget would have reserved."""
        with self._ledger() as ledger:
            return int(ledger.noted("refused") or 0)

    @cached_property
    def failed_answers(self) -> int:
        """Answers that failed and can be asked for once more."""
        return self._failed()[0]

    @cached_property
    def closed_failed(self) -> int:
        """Answers that failed in rounds whose feedback has been given since: they are not asked again."""
        return self._failed()[1]

    def _failed(self) -> tuple[int, int]:
        open_, over = 0, 0
        with self._ledger() as ledger:
            rows = ledger.read(
                "SELECT o.arm, o.methodology, o.phase, o.round, count(*) FROM occasions o JOIN answers a"
                " ON a.occasion=o.id WHERE a.status='failed' GROUP BY o.arm, o.methodology, o.phase, o.round"
            ).fetchall()
            for arm, methodology, phase, number, n in rows:
                is_over = ledger.frozen(arm, methodology, phase, closed(number)) == "next"
                open_, over = (open_, over + n) if is_over else (open_ + n, over)
        return open_, over

    @property
    def is_driven(self) -> bool:
        """Whether a process is driving this run right now."""
        return is_held(self.folder)

    @cached_property
    def stages(self) -> list[StageStatus]:
        """Every planned methodology and phase; readable while another process drives the run."""
        driven = self.is_driven
        with self._ledger() as ledger:
            return [self._stage(ledger, *stage, driven) for stage in planned(self.record)]

    def _stage(self, ledger: Ledger, methodology: str, phase: str, driven: bool) -> StageStatus:
        filed = ledger.stages().get((methodology, phase))
        counts = _summed(
            ledger, lambda its_methodology, its_phase: (its_methodology, its_phase) == (methodology, phase)
        )
        outcome = _outcome(filed.outcome if filed else "", counts, driven)
        responded = ledger.read(
            "SELECT count(DISTINCT o.participant) FROM occasions o JOIN answers a ON a.occasion=o.id"
            " WHERE o.arm=? AND o.methodology=? AND o.phase=? AND a.status IN ('ok', 'repaired')",
            (self.record.main.id, methodology, phase),
        ).fetchone()[0]
        return StageStatus(
            methodology,
            phase,
            outcome,
            filed.note if filed and outcome != "running" else "",
            counts,
            responded,
            ledger.read("SELECT count(*) FROM participants").fetchone()[0],
        )

    @cached_property
    def failures(self) -> list[str]:
        """One line a caught bug."""
        with self._ledger() as ledger:
            return [f"{f.methodology} {f.phase} round {f.round} {f.unit}: {f.error}" for f in ledger.failures()]

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        ledger = Ledger.reading(self.folder / LEDGER, self.run_id)
        try:
            yield ledger
        finally:
            ledger.close_reading()

    def summary(self) -> dict[str, Any]:
        """One JSON object: what --json prints."""
        return {
            "run_id": self.run_id,
            "sim_id": self.record.sim_id,
            "status": self.status,
            "note": self.note,
            "resumed": self.resumed,
            "shown": self.shown,
            "resume_token": self.resume_token,
            "methods": list(self.record.methods),
            "respondent": self.record.main.respondent,
            "model": self.record.main.model,
            "language": self.record.language,
            "counts": self.spent,
            "path": str(self.path),
        }

    def __repr__(self) -> str:
        return f"Run({self.run_id}, {self.status}, {self.spent.get('calls', 0)} calls, {self.path})"

    def figure(self, name: str) -> go.Figure:
        """The interactive figure of a methodology. Raises InputError where there is none or nothing to draw yet."""
        return draw(name, self.results, self.record.language)

    def _repr_html_(self) -> str:
        return table(self)

    def _ipython_display_(self) -> None:
        show(self)
