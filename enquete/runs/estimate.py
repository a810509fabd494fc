"""What a run will cost before it starts: calls, tokens, money and time, each as a range.

From a rehearsal (runs/estimate.py), stretched to all agents. `likely`: the synthetic respondent's tokens at four bytes
each. The ends of a range cover what a rehearsal cannot know: how a tokenizer cuts this language (six to two and a half
bytes a token), how long a model's answers are (half to three times the synthetic respondent's), how often it must be
asked again (up to a third of the calls), and how many themes it finds (by the methodology's own plan).
A model that thinks before it answers may write more than that: its thoughts are counted as output by its server."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.ledger import queries
from enquete.ledger.folders import LEDGER
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord
from enquete.models.metered_model import BYTES_PER_TOKEN
from enquete.models.prices import Price, Prices, cost
from enquete.respondents.critic import STAND_IN, CriticQuestion, comparing, grading
from enquete.respondents.ledger_context import PERSON
from enquete.runs.answer_pairs import REPEATED
from enquete.runs.model_server import asked_url
from enquete.runs.planning import (
    CRITIC,
    NARRATIVE_SHARE,
    claim_name,
    load_methodology,
    planned,
    price_of,
    served_models,
)
from enquete.runs.rehearsal import RehearsalSession, rehearse_stages
from enquete.runs.run_session import Sources
from enquete.state.asking import Arm, Participant
from enquete.state.interview_context import REHEARSAL
from enquete.state.methodology import Plan
from enquete.state.request import ModelLimits
from enquete.state.settings import Machine

if TYPE_CHECKING:
    import pandas as pd

BYTES_LIKELY, BYTES_LEAST, BYTES_MOST = 4.0, 2.5, 6.0
ASKED_AGAIN = 1.34
WRITTEN_LEAST, WRITTEN_MOST = 0.5, 3.0
MARGIN = 1.02  # rounding of a sample
SECONDS_BEFORE = (0.3, 1.0, 3.0)  # until the first token: least, likely, most
TOKENS_A_SECOND = (150.0, 50.0, 15.0)  # a model's writing
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


class EstimateLine(BaseModel):
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
    lines: tuple[EstimateLine, ...]
    largest_call: int = 0
    courses: Mapping[str, tuple[float, ...]] = Field(default_factory=dict, exclude=True)
    seconds: Annotated[
        Range | None, Field(description="None for a local model: how fast this machine is only its answers tell")
    ]
    concurrency: int
    cap_tokens: int
    cap_usd: float | None = None
    notes: tuple[str, ...] = ()
    refusals: Annotated[
        tuple[str, ...], Field(description="why a run with these arguments would be refused whatever its budget")
    ] = ()

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
        """A cap that the run will not meet: the upper estimate, what its last call reserves, the narrative's share."""
        return math.ceil((self.tokens.high + self.largest_call) / (1 - 1 / NARRATIVE_SHARE))

    def by_claim(self) -> dict[str, Range]:
        """Tokens by claim on the budget: a methodology's phase, its probes, the narrative."""
        totals: dict[str, Range] = {}
        for line in self.lines:
            totals[line.claim] = totals.get(line.claim, NOTHING) + line.tokens
        return {claim: tokens.whole() for claim, tokens in totals.items()}

    def as_pinned(self) -> dict[str, JsonValue]:
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

    @property
    def table(self) -> pd.DataFrame:
        """One row per kind of call, and their total: stage, purpose, arm and model, with likely, lowest and highest
        calls, tokens and US dollars. NaN where a price is unknown."""
        import pandas as pd  # noqa: PLC0415 - an estimate for a program does without

        rows = [_row_of(line.methodology, line.phase, line.arm, line.purpose, line.model, line) for line in self.lines]
        rows.append(_row_of("total", "", "", "", "", self))
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        """Say what the run would cost, a line a kind of call."""
        named = f"Estimate of {self.sim_id}: {self.agents} agents, {self.respondent}"
        lines = [
            f"  {' '.join(filter(None, (line.methodology, line.phase, line.arm)))}: {line.purpose} by {line.model}, "
            f"{_amount(line)}"
            for line in self.lines
        ]
        exceeded = {
            "tokens": f"over the cap of {self.cap_tokens:,} tokens",
            "usd": f"over the cap of {self.cap_usd} USD",
        }
        verdict = exceeded.get(self.exceeds, f"within the cap of {self.cap_tokens:,} tokens")
        remarks = [*(f"would be refused: {why}" for why in self.refusals), *self.notes]
        return "\n".join(
            [named, *lines, f"  in all: {_amount(self)}; {verdict}", *(f"  {remark}" for remark in remarks)]
        )

    __str__ = __repr__

    def _repr_html_(self) -> str:
        shown: str = self.table.to_html(index=False, na_rep="unknown", float_format="{:,.4g}".format, border=0)
        return shown

    def as_object(self) -> dict[str, JsonValue]:
        """For programs: totals beside the lines."""
        usd = self.usd
        return {
            **self.model_dump(mode="json"),
            **{name: getattr(self, name).model_dump() for name in ("calls", "tokens", "input_tokens", "output_tokens")},
            "usd": usd.model_dump() if usd else "unknown",
            "unpriced": list(self.unpriced),
            "exceeds": self.exceeds,
            "sufficient_tokens": self.sufficient_tokens,
        }


def _row_of(
    methodology: str, phase: str, arm: str, purpose: str, model: str, of: EstimateLine | Estimate
) -> dict[str, str | float]:
    ranges = {"calls": of.calls, "input_tokens": of.input_tokens, "output_tokens": of.output_tokens}
    row: dict[str, str | float] = {
        "methodology": methodology, "phase": phase, "arm": arm, "purpose": purpose, "model": model
    }  # fmt: skip
    for name, amount in ranges.items():
        row |= {name: amount.likely, f"{name}_low": amount.low, f"{name}_high": amount.high}
    usd = of.usd
    row |= {
        "usd": usd.likely if usd else math.nan, "usd_low": usd.low if usd else math.nan,
        "usd_high": usd.high if usd else math.nan,
    }  # fmt: skip
    return row


def _amount(of: EstimateLine | Estimate) -> str:
    """Calls, tokens and dollars, each likely (least to most)."""
    calls, tokens, usd = of.calls, of.tokens, of.usd
    price = "price unknown" if usd is None else f"{usd.likely:.4f} USD ({usd.low:.4f} to {usd.high:.4f})"
    return (
        f"{calls.likely:,.0f} calls ({calls.low:,.0f} to {calls.high:,.0f}), "
        f"{tokens.likely:,.0f} tokens ({tokens.low:,.0f} to {tokens.high:,.0f}), {price}"
    )


def estimated(
    record: RunRecord,
    rehearsal: Rehearsal,
    prices: Prices,
    machine: Machine,
    *,
    more: Sequence[EstimateLine] = (),
    notes: Sequence[str] = (),
) -> Estimate:
    """`more`: lines of work outside the methodologies (the narrative)."""
    arms = {arm.id: arm for arm in record.arms}
    url = asked_url(record, machine)
    lines = (*(_line(record, rehearsal, kind, arms[kind.arm], prices, url) for kind in rehearsal.kinds), *more)
    return Estimate(
        sim_id=record.sim_id,
        agents=rehearsal.of,
        rehearsed=rehearsal.agents,
        respondent=record.main.respondent,
        lines=lines,
        largest_call=rehearsal.largest,
        courses={claim: tuple(course) for claim, course in rehearsal.courses.items()},
        seconds=_seconds(lines, record, machine),
        concurrency=machine.concurrency,
        cap_tokens=machine.cap_tokens or machine.default_cap_tokens,
        cap_usd=machine.cap_usd,
        notes=tuple(notes),
    )


def _line(record: RunRecord, rehearsal: Rehearsal, kind: Rehearsed, arm: Arm, prices: Prices, url: str) -> EstimateLine:
    """An answer's calls grow with the agents; the interviewer's too, but in whole batches where not by the row."""
    answers = kind.purpose == "answer"
    asks = arm if answers else record.main
    has_model = asks.respondent == "llm" if answers else bool(record.interviewer_model)
    scale = rehearsal.scale(kind.methodology)
    plan = rehearsal.plans[kind.methodology, kind.phase]
    fewest, most = _rows(plan, rehearsal, kind)
    by_row = kind.purpose in plan.by_row or (answers and record.asking == "item")
    again = [_repeats(plan, kind, place) if has_model else MARGIN for place in range(3)]
    grows = plan.grows.get(kind.purpose, 1.0)
    batches = 0.0 if answers or by_row else max(2.0, grows)
    calls = kind.calls * scale
    most *= grows if by_row else 1.0
    least_calls = calls * (fewest if by_row else 1.0) / MARGIN
    if not answers:
        least_calls = min(1.0, least_calls)
    most_calls = calls * again[0] * (most if by_row else grows) + batches
    by_person = not has_model or record.main.respondent == "human"
    persons = by_person and (kind.methodology, kind.phase) in rehearsal.by_persons
    least, long = (fewest * WRITTEN_LEAST, most * WRITTEN_MOST) if persons else (fewest, most)
    answering = asks.model if answers else record.interviewer_model
    model = kind.model or (answering if has_model else "synthetic" if answers else "rule")
    return priced_line(
        methodology=kind.methodology,
        phase=kind.phase,
        arm=arm.id,
        claim=claim_name(kind.methodology, kind.phase, arm),
        purpose=kind.purpose,
        model=model,
        calls=Range(low=least_calls, likely=calls, high=most_calls).whole(),
        input_tokens=_tokens(kind.input_tokens * scale, least, long * again[1], batches, has_model),
        output_tokens=_tokens(kind.output_tokens * scale, least, long * again[2], batches, has_model, written=True),
        price=price_of(record, prices, url)(model),
    )


def priced_line(*, price: Price | None, input_tokens: Range, output_tokens: Range, **known: object) -> EstimateLine:
    """A line with its cost. The ends of the two token ranges belong together."""
    usd = None
    if price is not None:
        pairs = zip(input_tokens, output_tokens, strict=True)
        usd = Range(**{end: cost(price, int(read), int(written)) for (end, read), (_, written) in pairs})
    source = price.source if price else ""
    return EstimateLine.model_validate(
        {**known, "input_tokens": input_tokens, "output_tokens": output_tokens, "usd": usd, "price_source": source}
    )


def _rows(plan: Plan, rehearsal: Rehearsal, kind: Rehearsed) -> tuple[float, float]:
    """How many rows there may be against those rehearsed, by the methodology's plan: fewest and most, around 1."""
    here = rehearsal.rows.get((kind.methodology, kind.phase), 0)
    return (min(1.0, plan.rows[0] / here), max(1.0, plan.rows[1] / here)) if here else (1.0, 1.0)


def _repeats(plan: Plan, kind: Rehearsed, place: int) -> float:
    """How many times what was rehearsed calls (place 0), input (1) and output (2) may come to, by how much is in which
    part: a sort on a forced grid, which models often break, may be asked for until its attempts are used up."""
    total = sum(sums[place] for sums in kind.parts.values())
    most = sum(sums[place] * plan.attempts.get(part, ASKED_AGAIN) for part, sums in kind.parts.items())
    return most / total if total else ASKED_AGAIN


def _tokens(
    likely: float, fewest: float, most: float, batches: float, has_model: bool, *, written: bool = False
) -> Range:
    """`batches`: how much an interviewer's batches may grow; 0 for answers."""
    low, high = likely * fewest, likely * most * max(1.0, batches)
    if not has_model:
        return Range(low=low / MARGIN, likely=likely, high=high).whole()
    low = (low * WRITTEN_LEAST if written else low) * BYTES_LIKELY / BYTES_MOST
    high = high * WRITTEN_MOST if written else high * BYTES_LIKELY / BYTES_LEAST
    return Range(low=low, likely=likely, high=high).whole()


def _seconds(lines: Sequence[EstimateLine], record: RunRecord, machine: Machine) -> Range | None:
    """Calls in lanes, as many as may be in flight; no faster than the model's limits allow."""
    if record.weights:
        return None
    paid = {arm.model for arm in record.arms if arm.respondent == "llm"} | {record.interviewer_model}
    paid |= {served.label(model) for served in served_models(record) for model in tuple(paid)}
    ends = []
    for place, end in enumerate(("low", "likely", "high")):
        busy = waiting = 0.0
        for line in lines:
            calls, written = getattr(line.calls, end), getattr(line.output_tokens, end)
            if line.model not in paid:
                busy += calls * SYNTHETIC_SECONDS * machine.concurrency
                continue
            busy += calls * SECONDS_BEFORE[place] + written / TOKENS_A_SECOND[place]
            limits = machine.limits.get(line.model) or machine.limits.get(line.model.partition(" (")[0])
            waiting = max(waiting, _limited(line, lines, end, limits))
        ends.append(max(busy / machine.concurrency, waiting))
    return Range(low=ends[0], likely=ends[1], high=ends[2])


def _limited(line: EstimateLine, lines: Sequence[EstimateLine], end: str, limits: ModelLimits | None) -> float:
    """Seconds that the limits a minute of this line's model take for all of its calls. A model at another server has
    those of its own name."""
    if limits is None:
        return 0.0
    same_model = [other for other in lines if other.model == line.model]
    requests = sum(getattr(other.calls, end) for other in same_model)
    tokens = sum(getattr(other.tokens, end) for other in same_model)
    by_requests = 60 * requests / limits.requests_per_minute if limits.requests_per_minute else 0.0
    return float(max(by_requests, 60 * tokens / limits.tokens_per_minute if limits.tokens_per_minute else 0.0))


def _sum(ranges: Sequence[Range]) -> Range:
    return reduce(Range.__add__, ranges, NOTHING)


# --- A rehearsal: the whole study with the synthetic respondent over a sample of the agents, in a ledger that is thrown
# away It builds the very prompts that a run would send, from the same personas and memories, so that an estimate
# measures them instead of guessing. No request is made.

STEPS = 20
MOST_AGENTS = 40
"""Of a larger population every so many-th agent rehearses: enough for whole batches of statements to be coded."""
MOST_UNPAID = 6
"""Where no model answers: nothing is paid, and a rehearsal of forty would take as long as the run."""


@dataclass(frozen=True)
class Rehearsed:
    """What one kind of call came to. Tokens are bytes / 4, as for every answer made without a model.

    All three stand for `Rehearsal.agents` agents: where an arm asks a sample of them, they are fitted to that.
    `parts`: of answers, the same three by part of the instrument, not fitted.
    """

    methodology: str
    phase: str
    arm: str
    purpose: str
    calls: float
    input_tokens: float
    output_tokens: float
    parts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    model: str = ""  # of answers, where it is not the arm's

    def times(self, calls: float, tokens: float) -> Rehearsed:
        read, written = self.input_tokens * tokens, self.output_tokens * tokens
        return replace(self, calls=self.calls * calls, input_tokens=read, output_tokens=written)


@dataclass(frozen=True)
class Rehearsal:
    """Sums over `agents` of the run's `of` agents, how many answers each stage gave in the main arm, and may give.
    `together`: methodologies that seat agents together; theirs stand for everybody."""

    agents: int
    of: int
    kinds: tuple[Rehearsed, ...]
    rows: Mapping[tuple[str, str], int]
    plans: Mapping[tuple[str, str], Plan]
    courses: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by claim, see budget.Claim
    largest: int = 0  # tokens that one call reserves at most: so much must be left for the last one
    together: frozenset[str] = frozenset()
    by_persons: frozenset[tuple[str, str]] = frozenset()  # stages in which persons answer: how long, nobody knows

    def scale(self, methodology: str) -> float:
        """From what was rehearsed of a methodology to the run."""
        return self.of / self.agents if self.agents and methodology not in self.together else 1.0


def sample(record: RunRecord, people: Sequence[Participant]) -> list[Participant]:
    """Evenly spread over the population's order, in which stakeholder types stand together or mixed."""
    most = MOST_AGENTS if any(arm.respondent == "llm" for arm in record.arms) else MOST_UNPAID
    if len(people) <= most:
        return list(people)
    return [people[place * len(people) // most] for place in range(most)]


async def rehearse(record: RunRecord, people: Sequence[Participant], memories: Mapping[str, str | None]) -> Rehearsal:
    """`memories`: what agents are expected to remember at T1. Stages that were taken over are not rehearsed."""
    chosen = sample(record, people)
    seating = {name for name, dotted in record.methods.items() if load_methodology(dotted).procedure.seats_together}
    if len(chosen) == len(people):
        seating = set()
    alone = [name for name in record.methods if name not in seating]
    rehearsed = await _rehearsed(_of(record, alone), chosen, len(people), memories)
    if not seating:
        return rehearsed
    seated = await _rehearsed(_of(record, seating), people, len(people), memories)
    return replace(
        rehearsed, kinds=(*rehearsed.kinds, *seated.kinds), rows={**rehearsed.rows, **seated.rows},
        plans={**rehearsed.plans, **seated.plans}, courses={**rehearsed.courses, **seated.courses},
        largest=max(rehearsed.largest, seated.largest),
        together=frozenset(seating), by_persons=rehearsed.by_persons | seated.by_persons,
    )  # fmt: skip


def _of(record: RunRecord, names: Collection[str]) -> RunRecord:
    """As far as it asks these methodologies."""
    return record.model_copy(
        update={"methods": {name: record.methods[name] for name in record.methods if name in names}}
    )


async def _rehearsed(
    record: RunRecord, chosen: Sequence[Participant], of: int, memories: Mapping[str, str | None]
) -> Rehearsal:
    acted = record.model_copy(
        update={"run_id": REHEARSAL, "arms": [_acted(arm) for arm in record.arms], "replay_of": ""}
    )
    with tempfile.TemporaryDirectory(prefix="enquete-rehearsal-") as name:
        ledger = Ledger(Path(name) / LEDGER, acted.run_id, create=True)
        try:
            await ledger.store_population(chosen)
            await ledger.store_digests("T1", {who.id: memories.get(who.id) for who in chosen})
            run_session = RehearsalSession(Path(name), acted, ledger, Machine(cap_tokens=10**15), Sources())
            run_session.by_model = bool(record.interviewer_model)
            run_session.plans = plans = {
                (method, phase): run_session.procedure(method).plan(run_session.context(method, phase, acted.main.id))
                for method, phase in planned(acted)
            }
            await rehearse_stages(run_session)
            held = run_session.shares
            called = _called(ledger, {arm.id: arm.model for arm in record.arms})
            kinds = tuple(_of_all(kind, record, len(chosen), of, plans, held) for kind in called)
            answered = ledger.read(queries.ANSWERED_ROWS, (acted.main.id,))
            rows = {(name, phase): round(n / held[name, phase, acted.main.id]) for name, phase, n in answered}
            largest = ledger.read(queries.LARGEST).fetchone()[0]
            seats = ledger.read(queries.NOTED_IN, (f'%"{PERSON}"%',)).fetchall()
            by_persons = frozenset(plans if record.main.respondent == "human" else seats)
            return Rehearsal(
                len(chosen), of, kinds, rows, plans, _courses(ledger, acted), largest, by_persons=by_persons
            )
        finally:
            await ledger.close()


def _called(ledger: Ledger, models: Mapping[str, str]) -> Iterator[Rehearsed]:
    """Every kind of call, summed. `models`: of the arms."""
    for (name, phase, arm, purpose, by), rows in groupby(
        ledger.read(queries.REHEARSED).fetchall(), key=lambda row: row[:5]
    ):
        parts: dict[str, list[int]] = {}
        for *_, subject, read, written in rows:
            sums = parts.setdefault(subject.rpartition("|")[2] if purpose == "answer" else "", [0, 0, 0])
            sums[:] = [sums[0] + 1, sums[1] + read, sums[2] + written]
        calls, read_in, written_out = (float(sum(each)) for each in zip(*parts.values(), strict=True))
        model = "" if by == models[arm] else by
        yield Rehearsed(name, phase, arm, purpose, calls, read_in, written_out, parts, model)


def _of_all(
    kind: Rehearsed,
    record: RunRecord,
    agents: int,
    of: int,
    plans: Mapping[tuple[str, str], Plan],
    held: Mapping[tuple[str, str, str], float],
) -> Rehearsed:
    """From the conversations that were held to all; what is done of all at once has larger batches then, hardly more of
    them.

    An arm that asks a sample of n costs n agents, however many the run has: once everything is stretched from those
    that rehearsed to all, that is what comes out."""
    sample = next(arm for arm in record.arms if arm.id == kind.arm).sample
    if 0 < sample < of:
        fit = min(sample, of) / min(sample, agents) * agents / of
        kind = kind.times(fit, fit)
    more = 1 / held.get((kind.methodology, kind.phase, kind.arm), 1.0)
    return kind.times(more if kind.purpose in plans[kind.methodology, kind.phase].by_row else 1.0, more)


def _acted(arm: Arm) -> Arm:
    """Persons stay persons: what they answer costs nothing (see LedgerContext)."""
    return arm if arm.respondent == "human" else arm.model_copy(update={"respondent": "synthetic"})


def _courses(ledger: Ledger, record: RunRecord) -> dict[str, list[float]]:
    """For each claim the share of its tokens after every twentieth of its calls, in the order they were made."""
    arms = {arm.id: arm for arm in record.arms}
    tokens: dict[str, list[int]] = {}
    for name, phase, arm, used in ledger.read(queries.TOKENS_IN_ORDER):
        tokens.setdefault(claim_name(name, phase, arms[arm]), []).append(used)
    return {claim: _course(each) for claim, each in tokens.items() if sum(each)}


def _course(tokens: Sequence[int]) -> list[float]:
    sums = [0, *accumulate(tokens)]
    places = (step * len(tokens) / STEPS for step in range(STEPS + 1))
    return [round(sums[int(place)] / sums[-1], 4) for place in places]


# --- What the critic will cost: each answer is graded, each pair compared twice, some pairs once more

PERSONA, QUESTION, ANSWER = 800, 500, 200
"""Bytes beside the critic's own words, in the middle; twice as many at most, nothing at least."""
WRITTEN, BY_STAND_IN = (10, 60, 180), (10, 15, 20)
"""Tokens of a reply, least, likely, most: a sentence or two, and the result; the stand-in always writes the same."""
ANSWERED = 0.5
"""Share of questions that both answer, at least. What both say alike is graded once and not compared; in the middle,
half."""


def critic_lines(record: RunRecord, rehearsal: Rehearsal, prices: Prices, url: str) -> list[EstimateLine]:
    """None in a run without a second respondent."""
    second, how = record.second, record.critic
    if second is None or how is None:
        return []
    has_model = record.critic_has_model
    model = record.critic_model or STAND_IN
    people = rehearsal.of
    both = min(second.sample, people) / people if 0 < second.sample < people else 1.0
    stages = [
        (stage, (both * rows * scale, both * rehearsal.plans[stage].rows[1] * scale))
        for stage, rows in rehearsal.rows.items()
        if stage[0] not in record.carried
        for scale in [rehearsal.scale(stage[0])]
    ]
    likely, most = (sum(min(each[end], how.pairs or each[end]) for _, each in stages) for end in (0, 1))
    least = sum(ANSWERED * min(rows, how.pairs or rows) for stage, (rows, _) in stages if not _strays(rehearsal, stage))
    written, asked = WRITTEN if has_model else BY_STAND_IN, CriticQuestion("", "")
    graded = grading(asked, "", how.rubric, record.language)
    compared = comparing(asked, "", "", how.rubric, record.language)
    prompts = {
        "grade": (graded, 1, (least, 1.5 * likely, 2 * most)),
        "compare": (compared, 2, (0, likely, 2 * most)),
        "again": (compared, 2, (0, min(likely, REPEATED), min(most, REPEATED))),
    }
    lines = []
    for purpose, (prompt, answers, (low, middle, high)) in prompts.items():
        frame = len(prompt.system.encode()) + len(prompt.messages[0]["content"].encode())
        data = PERSONA + QUESTION + answers * ANSWER
        lines.append(
            priced_line(
                methodology=CRITIC,
                phase="",
                arm=second.id,
                claim=CRITIC,
                purpose=purpose,
                model=model,
                calls=Range(low=low, likely=middle, high=high).whole(),
                input_tokens=Range(
                    low=low * frame / BYTES_MOST,
                    likely=middle * (frame + data) / BYTES_PER_TOKEN,
                    high=high * (frame + 2 * data) / (BYTES_LEAST if has_model else BYTES_PER_TOKEN),
                ).whole(),
                output_tokens=Range(low=low * written[0], likely=middle * written[1], high=high * written[2]).whole(),
                price=prices.of(model, url),
            )
        )
    return lines


def _strays(rehearsal: Rehearsal, stage: tuple[str, str]) -> bool:
    """Whether two respondents may be asked something else each, as conversations go: then nothing need be compared."""
    return "answer" in rehearsal.plans[stage].by_row
