"""Where a run stands: what it has cost, what is likely to come, which cap holds, which agents are complete.

Read from the ledger while another process may be driving the run; a price that is unknown stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enquete.interfaces.cli.amounts import rounded_up
from enquete.state.settings import Environment

if TYPE_CHECKING:
    from enquete.study import Run

USABLE = ("ok", "repaired")


@dataclass(frozen=True)
class Standing:
    """Tokens, and US dollars where a model answers at known prices. None: not known."""

    spent: int
    expected: int | None  # in the end
    cap_tokens: int
    cap_usd: float | None
    usd: float | None
    largest: int  # tokens that the largest request so far reserved, or wanted to

    @property
    def expected_usd(self) -> float | None:
        """By what a token has cost so far."""
        if self.usd is None or self.expected is None or not self.spent:
            return None
        return self.usd * self.expected / self.spent

    @property
    def enough_tokens(self) -> int:
        """A cap to finish under: what is likely, and room for two of the largest requests, because what is reserved for
        a request is far more than it uses, and later requests may be larger."""
        likely = 2 * self.spent if self.expected is None else self.expected
        return rounded_up((likely + 2 * self.largest) / 0.95)  # up to a twentieth is held for the narrative

    @property
    def enough_usd(self) -> float | None:
        """The same in money; half as much again, since replies cost more than questions do. None: not known."""
        if not self.usd or not self.spent:
            return None
        return rounded_up(150 * self.usd * self.enough_tokens / self.spent) / 100

    def enough(self) -> tuple[str, ...]:
        """Options of `enquete resume` that name sufficient caps, where those that hold are not."""
        words = ["--budget-tokens", str(self.enough_tokens)] if self.enough_tokens > self.cap_tokens else []
        if self.cap_usd is not None and self.enough_usd is not None and self.enough_usd > self.cap_usd:
            words += ["--budget-usd", f"{self.enough_usd:g}"]
        return tuple(words)


def standing(run: Run) -> Standing:
    """Raises LedgerError where the ledger cannot be read."""
    from enquete.checkpoints.folders import LEDGER  # noqa: PLC0415 - not for --help
    from enquete.checkpoints.ledger import Ledger  # noqa: PLC0415

    environment = Environment.read()
    ledger = Ledger.reading(run.folder / LEDGER, run.run_id)
    try:
        cap, cap_usd = ledger.noted("cap_tokens"), ledger.noted("cap_usd")
        (largest,) = ledger.read("SELECT coalesce(max(reserved), 0) FROM calls").fetchone()
    finally:
        ledger.close_reading()
    return Standing(
        spent=run.spent.get("tokens", 0),
        expected=run.expected_tokens,
        cap_tokens=int(cap) if cap else environment.max_tokens,
        cap_usd=float(cap_usd) if cap_usd else None,
        usd=_paid(run),
        largest=max(int(largest), run.refused_tokens),
    )


def _paid(run: Run) -> float | None:
    """None where no model is paid, or one's price is unknown."""
    if run.record.replay_of or not any(arm.respondent == "llm" for arm in run.record.arms):
        return None
    return run.spent_usd


def remaining(run: Run, methodology: str, phase: str) -> int | None:
    """Tokens that a stage is still likely to need, its probes included; None where nothing was estimated."""
    claims = [run.outlook.get(f"{methodology}/{phase}{rest}") for rest in ("", "/probes")]
    known = [claim for claim in claims if claim is not None and claim.likely]
    return sum(claim.remaining for claim in known) if known else None


def complete(run: Run) -> dict[tuple[str, str], int]:
    """Agents of the main arm who owe nothing more and whose every answer is usable, by (methodology, phase)."""
    from enquete.reports.reading import open_run  # noqa: PLC0415 - takes seconds to import
    from enquete.reports.table.rows import undetermined  # noqa: PLC0415

    rows = run.responses
    rows = rows[rows["arm_role"] == "main"]
    found = {}
    with open_run(run.folder) as reading:
        for (name, phase), own in rows.groupby(["methodology", "phase"]):
            whole = own["status"].isin(USABLE).groupby(own["participant"]).all()
            found[str(name), str(phase)] = len(set(whole[whole].index) - undetermined(reading, str(name), str(phase)))
    return found
