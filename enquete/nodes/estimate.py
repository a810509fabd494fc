"""What a run will cost before it starts: calls, tokens, money and time, each as a range.

From a rehearsal (nodes/rehearsal.py), stretched to all agents. `likely`: the synthetic respondent's tokens at four bytes
each. The ends of a range cover what a rehearsal cannot know: how a tokenizer cuts this language (six to two and a half
bytes a token), how long a model's answers are (half to three times the synthetic respondent's), how often it must be
asked again (up to a third of the calls), and how many themes it finds (by the methodology's own plan).
A model that thinks before it answers may write more than that: its thoughts are counted as output by its server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.checkpoints.record import RunRecord
from enquete.models.prices import Price, Prices, cost
from enquete.nodes.planning import NARRATIVE, NARRATIVE_SHARE, claim_name
from enquete.nodes.rehearsal import Rehearsal, Rehearsed
from enquete.nodes.run_session import asked_url
from enquete.state.asking import Arm
from enquete.state.methodology import Plan
from enquete.state.request import ModelLimits
from enquete.state.settings import Machine

BYTES_LIKELY, BYTES_LEAST, BYTES_MOST = 4.0, 2.5, 6.0
ASKED_AGAIN = 1.34
WRITTEN_LEAST, WRITTEN_MOST = 0.5, 3.0
MARGIN = 1.02  # rounding of a sample
SECONDS_BEFORE = (0.3, 1.0, 3.0)  # until the first token: least, likely, most
TOKENS_A_SECOND = (150.0, 50.0, 15.0)  # a model's writing
DAY = 86_400  # seconds that a batch may take
SYNTHETIC_SECONDS = 0.002  # CPU of one call without a model


class Range(BaseModel):
    """Least, likely, most."""

    model_config = ConfigDict(frozen=True)

    low: float
    likely: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, likely=self.likely + other.likely, high=self.high + other.high)

    def whole(self) -> Range:
        """For what is counted: rounded outwards."""
        return Range(low=math.floor(self.low), likely=round(self.likely), high=math.ceil(self.high))


NOTHING = Range(low=0, likely=0, high=0)


class Line(BaseModel):
    """One kind of call. usd is None where the model's price is unknown, never 0."""

    model_config = ConfigDict(frozen=True)

    methodology: str
    phase: str
    arm: str
    claim: str  # whose budget it draws on
    purpose: str
    model: str
    calls: Range
    input_tokens: Range
    output_tokens: Range
    usd: Range | None
    price_source: str = ""

    @property
    def tokens(self) -> Range:
        return self.input_tokens + self.output_tokens


class Estimate(BaseModel):
    """A run's cost. `lines` by methodology, phase, arm and purpose."""

    model_config = ConfigDict(frozen=True)

    sim_id: str
    agents: int
    rehearsed: Annotated[int, Field(description="agents whose prompts were measured")]
    respondent: str
    lines: tuple[Line, ...]
    largest_call: int = 0
    courses: Mapping[str, tuple[float, ...]] = Field(default_factory=dict, exclude=True)
    seconds: Annotated[
        Range | None, Field(description="None for a local model: how fast this machine is only its answers tell")
    ]
    concurrency: int
    batches: Annotated[int, Field(description="about so many, one after another, each of up to 24 hours; 0: none")] = 0
    cap_tokens: int
    cap_usd: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> Range:
        return _sum([line.calls for line in self.lines]).whole()

    @property
    def tokens(self) -> Range:
        return _sum([line.tokens for line in self.lines]).whole()

    @property
    def input_tokens(self) -> Range:
        return _sum([line.input_tokens for line in self.lines]).whole()

    @property
    def output_tokens(self) -> Range:
        return _sum([line.output_tokens for line in self.lines]).whole()

    @property
    def usd(self) -> Range | None:
        """None where a price is unknown."""
        known = [line.usd for line in self.lines if line.usd is not None]
        return _sum(known) if len(known) == len(self.lines) else None

    @property
    def unpriced(self) -> list[str]:
        """Models whose price nobody knows."""
        return sorted({line.model for line in self.lines if line.usd is None})

    @property
    def exceeds(self) -> str:
        """ "tokens" or "usd" where the upper estimate is above that cap, else ""."""
        if self.tokens.high > self.cap_tokens:
            return "tokens"
        usd = self.usd
        return "usd" if usd is not None and self.cap_usd is not None and usd.high > self.cap_usd else ""

    @property
    def sufficient_tokens(self) -> int:
        """A cap that the run will not meet: the upper estimate, what its last call reserves, and the narrative's share."""
        return math.ceil((self.tokens.high + self.largest_call) / (1 - 1 / NARRATIVE_SHARE))

    def by_claim(self) -> dict[str, Range]:
        """Tokens by claim on the budget: a methodology's phase, its probes, the narrative."""
        found: dict[str, Range] = {}
        for line in self.lines:
            found[line.claim] = found.get(line.claim, NOTHING) + line.tokens
        return {claim: tokens.whole() for claim, tokens in found.items()}

    def as_frozen(self) -> dict[str, JsonValue]:
        """What the run's ledger keeps: needs of the claims for the budget, and the estimate to compare with."""
        calls: dict[str, float] = {}
        for line in self.lines:
            calls[line.claim] = calls.get(line.claim, 0) + line.calls.likely
        needs: dict[str, JsonValue] = {
            claim: {
                "high": int(tokens.high), "likely": int(tokens.likely), "calls": round(calls[claim]),
                "course": list(self.courses.get(claim, ())),
            }
            for claim, tokens in self.by_claim().items()
        }  # fmt: skip
        return {"claims": needs, "estimate": self.model_dump(mode="json")}

    def as_object(self) -> dict[str, JsonValue]:
        """For programs: totals beside the lines."""
        usd = self.usd
        return {
            **self.model_dump(mode="json"),
            "calls": self.calls.model_dump(),
            "tokens": self.tokens.model_dump(),
            "input_tokens": self.input_tokens.model_dump(),
            "output_tokens": self.output_tokens.model_dump(),
            "usd": usd.model_dump() if usd else "unknown",
            "unpriced": list(self.unpriced),
            "exceeds": self.exceeds,
            "sufficient_tokens": self.sufficient_tokens,
        }


def estimated(
    record: RunRecord,
    rehearsal: Rehearsal,
    prices: Prices,
    machine: Machine,
    *,
    more: Sequence[Line] = (),
    notes: Sequence[str] = (),
) -> Estimate:
    """`more`: lines of work outside the methodologies (the narrative)."""
    arms = {arm.id: arm for arm in record.arms}
    url = asked_url(record, machine)
    lines = (*(_line(record, rehearsal, kind, arms[kind.arm], prices, url) for kind in rehearsal.kinds), *more)
    batches = _batches(record, rehearsal) if record.batch else 0
    return Estimate(
        sim_id=record.sim_id,
        agents=rehearsal.of,
        rehearsed=rehearsal.agents,
        respondent=record.main.respondent,
        lines=lines,
        largest_call=rehearsal.largest,
        courses={claim: tuple(course) for claim, course in rehearsal.courses.items()},
        seconds=_seconds(lines, record, machine, batches),
        concurrency=machine.concurrency,
        batches=batches,
        cap_tokens=machine.cap_tokens or machine.default_cap_tokens,
        cap_usd=machine.cap_usd,
        notes=tuple(notes),
    )


def _batches(record: RunRecord, rehearsal: Rehearsal) -> int:
    """One after another: rounds and turns, what the interviewer works out between them, probes behind the main arm, then the critic
    and the narrative. Methodologies of a phase share theirs."""
    longest: dict[str, int] = {}
    for (name, phase), steps in rehearsal.steps.items():
        works = {kind.purpose for kind in rehearsal.kinds if (kind.methodology, kind.phase) == (name, phase)} - {
            "answer"
        }
        by_row = rehearsal.plans[name, phase].by_row
        needed = steps + sum(steps if work in by_row else 1 for work in works)
        longest[phase] = max(longest.get(phase, 0), needed)
    asides = 1 + any(arm.aside for arm in record.arms)
    return asides * sum(longest.values()) + (record.critic is not None) + 1


def _line(record: RunRecord, rehearsal: Rehearsal, kind: Rehearsed, arm: Arm, prices: Prices, url: str) -> Line:
    """An answer's calls grow with the agents; the interviewer's too, but in whole batches where not by the row."""
    answers = kind.purpose == "answer"
    asks = arm if answers else record.main
    has_model = asks.respondent == "llm"
    scale = rehearsal.scale(kind.methodology)
    plan = rehearsal.plans[kind.methodology, kind.phase]
    fewest, most = _rows(plan, rehearsal, kind)
    by_row = kind.purpose in plan.by_row or (answers and record.asking == "item")
    again = _asked_again(plan, kind) if has_model else (MARGIN, MARGIN, MARGIN)
    grows = plan.grows.get(kind.purpose, 1.0)
    batches = 0.0 if answers or by_row else max(2.0, grows)
    calls = kind.calls * scale
    most *= grows if by_row else 1.0
    least_calls = calls * (fewest if by_row else 1.0) / MARGIN
    if not answers:
        least_calls = min(1.0, least_calls)
    most_calls = calls * again[0] * (most if by_row else grows) + batches
    persons = not has_model and (kind.methodology, kind.phase) in rehearsal.by_persons
    brief, long = (WRITTEN_LEAST, WRITTEN_MOST) if persons else (1.0, 1.0)
    model = asks.model if has_model else "synthetic" if answers else "rule"
    return priced_line(
        methodology=kind.methodology,
        phase=kind.phase,
        arm=arm.id,
        claim=claim_name(kind.methodology, kind.phase, arm),
        purpose=kind.purpose,
        model=model,
        calls=Range(low=least_calls, likely=calls, high=most_calls).whole(),
        input_tokens=_tokens(kind.input_tokens * scale, fewest * brief, most * long * again[1], has_model, batches),
        output_tokens=_written(kind.output_tokens * scale, fewest * brief, most * long * again[2], has_model, batches),
        price=prices.of(model, url),
    )


def priced_line(*, price: Price | None, input_tokens: Range, output_tokens: Range, **known: object) -> Line:
    """A line with its cost. The ends of the two token ranges belong together."""
    usd = None
    if price is not None:
        ends = {
            end: cost(price, int(getattr(input_tokens, end)), int(getattr(output_tokens, end)))
            for end in Range.model_fields
        }
        usd = Range(**ends)
    source = price.source if price else ""
    return Line.model_validate(
        {**known, "input_tokens": input_tokens, "output_tokens": output_tokens, "usd": usd, "price_source": source}
    )


def _rows(plan: Plan, rehearsal: Rehearsal, kind: Rehearsed) -> tuple[float, float]:
    """How many rows there may be against those rehearsed, by the methodology's plan: fewest and most, around 1."""
    here = rehearsal.rows.get((kind.methodology, kind.phase), 0)
    return (min(1.0, plan.rows[0] / here), max(1.0, plan.rows[1] / here)) if here else (1.0, 1.0)


def _asked_again(plan: Plan, kind: Rehearsed) -> tuple[float, float, float]:
    """How many times what was rehearsed calls, input and output may come to, by how much of them is in which part: a sort
    on a forced grid may be asked for until its attempts are used up, because models often break the grid."""
    calls, read, written = (_repeats(plan, kind, place) for place in range(3))
    return calls, read, written


def _repeats(plan: Plan, kind: Rehearsed, place: int) -> float:
    total = sum(sums[place] for sums in kind.parts.values())
    most = sum(sums[place] * plan.attempts.get(part, ASKED_AGAIN) for part, sums in kind.parts.items())
    return most / total if total else ASKED_AGAIN


def _tokens(likely: float, fewest: float, most: float, has_model: bool, batches: float) -> Range:
    """`batches`: how much an interviewer's batches may grow; 0 for answers."""
    if not has_model:
        return Range(low=likely * fewest / MARGIN, likely=likely, high=likely * most * max(1.0, batches)).whole()
    high = likely * most * max(1.0, batches) * BYTES_LIKELY / BYTES_LEAST
    return Range(low=likely * fewest * BYTES_LIKELY / BYTES_MOST, likely=likely, high=high).whole()


def _written(likely: float, fewest: float, most: float, has_model: bool, batches: float) -> Range:
    if not has_model:
        return _tokens(likely, fewest, most, has_model, batches)
    high = likely * most * max(1.0, batches) * WRITTEN_MOST
    return Range(low=likely * fewest * WRITTEN_LEAST * BYTES_LIKELY / BYTES_MOST, likely=likely, high=high).whole()


def _seconds(lines: Sequence[Line], record: RunRecord, machine: Machine, batches: int) -> Range | None:
    """Calls in lanes, as many as may be in flight; no faster than the model's limits allow. Of batches what is promised at most."""
    if record.weights:
        return None
    if batches:
        return Range(low=0, likely=batches * DAY, high=batches * DAY)
    paid = {arm.model for arm in record.arms if arm.respondent == "llm"}
    ends = []
    for place, end in enumerate(("low", "likely", "high")):
        busy = waiting = 0.0
        for line in lines:
            calls, written = getattr(line.calls, end), getattr(line.output_tokens, end)
            if line.model not in paid:
                busy += calls * SYNTHETIC_SECONDS * machine.concurrency
                continue
            busy += calls * SECONDS_BEFORE[place] + written / TOKENS_A_SECOND[place]
            waiting = max(waiting, _limited(line, lines, end, machine.limits.get(line.model)))
        ends.append(max(busy / machine.concurrency, waiting))
    return Range(low=ends[0], likely=ends[1], high=ends[2])


def _limited(line: Line, lines: Sequence[Line], end: str, limits: ModelLimits | None) -> float:
    """Seconds that the limits a minute of this line's model take for all of its calls."""
    if limits is None:
        return 0.0
    own = [other for other in lines if other.model == line.model]
    requests = sum(getattr(other.calls, end) for other in own)
    tokens = sum(getattr(other.tokens, end) for other in own)
    by_requests = 60 * requests / limits.requests_per_minute if limits.requests_per_minute else 0.0
    return float(max(by_requests, 60 * tokens / limits.tokens_per_minute if limits.tokens_per_minute else 0.0))


def _sum(ranges: Sequence[Range]) -> Range:
    return reduce(Range.__add__, ranges, NOTHING)


__all__ = ["NARRATIVE", "Estimate", "Line", "Range", "estimated", "priced_line"]
