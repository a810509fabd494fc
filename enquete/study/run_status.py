"""Where a run stands: how far each stage is, what it has cost, what is likely to come, which cap holds, what failed.

Read from the ledger at one moment, while another process may be driving the run; a price that is unknown stays unknown.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

from enquete.checkpoints.budget import Budget, Claim, rounded_up
from enquete.checkpoints.usage import usage
from enquete.models.prices import OPENAI_URL, Prices
from enquete.nodes.planning import claims, closed, largest_call, planned, rounds_owed
from enquete.nodes.run_session import spent_usd
from enquete.reports.run_reading import RunReading
from enquete.state.local_weights import LOCAL_URL
from enquete.state.request import DEFAULT_MAX_TOKENS
from enquete.state.settings import Environment

RESPONDED = """
SELECT o.methodology, o.phase, count(DISTINCT o.participant) FROM occasions o JOIN answers a ON a.occasion=o.id
WHERE o.arm=? AND a.status IN ('ok', 'repaired') GROUP BY o.methodology, o.phase
"""

ROUNDS = """
SELECT o.methodology, o.phase, o.round, count(DISTINCT o.participant) FROM occasions o
WHERE o.arm=? AND EXISTS(SELECT 1 FROM answers a WHERE a.occasion=o.id) GROUP BY o.methodology, o.phase, o.round
"""

FAILED = """
SELECT o.arm, o.methodology, o.phase, o.round, count(*) FROM occasions o JOIN answers a ON a.occasion=o.id
WHERE a.status='failed' GROUP BY o.arm, o.methodology, o.phase, o.round
"""

USABLE = """
SELECT o.session, o.round, o.turn, o.participant, a.item, a.status IN ('ok', 'repaired')
FROM occasions o JOIN answers a ON a.occasion=o.id WHERE o.arm=? AND o.methodology=? AND o.phase=?
"""


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
    rounds: Mapping[int, int] = field(
        default_factory=dict
    )  # agents of the main arm with an answer, usable or not, by round

    @property
    def answers(self) -> dict[str, int]:
        """By status (ok, repaired, refused, invalid, failed), of those that there are."""
        return answers_in(self.counts)


def answers_in(counts: Mapping[str, int]) -> dict[str, int]:
    """Answers by status, in the order of how usable they are."""
    order = ("ok", "repaired", "refused", "invalid", "failed")
    return {status: counts[f"answers_{status}"] for status in order if counts.get(f"answers_{status}")}


@dataclass(frozen=True)
class RunStanding:
    """Tokens, US dollars and answers. None: not known."""

    stages: list[StageStatus]
    counts: dict[str, int]  # tokens, calls, and answers by status, of everything
    usage: tuple[int, int]  # tokens read and written by models, without allowances for calls whose usage is unknown
    usd: float | None
    asks_model: bool  # else nothing is paid
    outlook: Mapping[str, Claim]  # by claim on the budget (docs/budget.md)
    cap_tokens: int
    cap_usd: float | None
    largest: int  # tokens that a request reserves at most, by the estimate and by those so far
    failed: int  # answers that can be asked for once more
    failed_closed: int  # in rounds whose feedback has been given since: they are not asked again
    failures: list[str]  # one line a caught bug

    @property
    def answers(self) -> dict[str, int]:
        return answers_in(self.counts)

    @property
    def spent(self) -> int:
        return self.counts.get("tokens", 0)

    @property
    def expected(self) -> int | None:
        """Tokens that the run is likely to have cost in the end; None where nothing was estimated."""
        return Budget(0, self.spent, claims=self.outlook).expected

    @property
    def paid_usd(self) -> float | None:
        """None where no model is paid, or one's price is unknown."""
        return self.usd if self.asks_model else None

    @property
    def expected_usd(self) -> float | None:
        """By what a token has cost so far."""
        if self.paid_usd is None or self.expected is None or not self.spent:
            return None
        return self.paid_usd * self.expected / self.spent

    @property
    def enough_tokens(self) -> int:
        """A cap to finish under: what is likely, by the estimate or by the calls so far, whichever is more, and room for the
        largest request, because what is reserved for one is far more than it uses."""
        expected = self.expected is not None
        likely = self.spent + (sum(claim.at_most for claim in self.outlook.values()) if expected else self.spent)
        return rounded_up((likely + self.largest) / 0.95)  # up to a twentieth is held for the narrative

    @property
    def enough_usd(self) -> float | None:
        """The same in money; half as much again, since replies cost more than questions do. None: not known."""
        if not self.paid_usd or not self.spent:
            return None
        return rounded_up(150 * self.paid_usd * self.enough_tokens / self.spent) / 100

    def remaining(self, methodology: str, phase: str) -> int | None:
        """Tokens that a stage is still likely to need, its probes included; None where nothing was estimated."""
        found = [self.outlook.get(f"{methodology}/{phase}{rest}") for rest in ("", "/probes")]
        known = [claim for claim in found if claim is not None and claim.likely]
        return sum(claim.remaining for claim in known) if known else None


def complete(run: RunReading, name: str, phase: str) -> int:
    """Agents of the main arm who owe nothing more and whose every answer is usable."""
    from enquete.reports.responses import undetermined  # noqa: PLC0415 - tables are slow to import

    main, procedure = run.record.main.id, run.procedure(name)
    usable = array("q")  # keys by their hashes: those of a large study would fill the memory
    agents, lacking = set[str](), undetermined(run, name, phase)
    for *key, is_usable in run.ledger.rows(USABLE, (main, name, phase)):
        agents.add(key[3])
        if is_usable:
            usable.append(hash(tuple(key)))
        else:
            lacking.add(key[3])
    usable = array("q", sorted(usable))
    desk = run.desk(name, phase, run.record.main)
    for number in rounds_owed(procedure.rounds, desk):
        for unit in procedure.units(number, desk):
            has_bug = (main, name, phase, number, unit) in run.failed_units
            with suppress(Exception) if has_bug else nullcontext():  # which may keep it from saying what it owes
                for block in procedure.blocks(unit, number, desk):
                    k = block.key
                    agents.add(k.participant)
                    keys = (hash((k.session, k.round, k.turn, k.participant, item.id)) for item in block.items)
                    if not all(_holds(usable, key) for key in keys):
                        lacking.add(k.participant)
    return len(agents - lacking)


def _holds(ordered: Sequence[int], number: int) -> bool:
    place = bisect_left(ordered, number)
    return place < len(ordered) and ordered[place] == number


def stand(run: RunReading, *, driven: bool) -> RunStanding:
    """`driven`: whether a process drives it right now."""
    record, ledger, environment = run.record, run.ledger, Environment.read()
    used = usage(ledger.read, set(record.carried)).values()
    noted, noted_usd = ledger.noted("cap_tokens"), ledger.noted("cap_usd")
    (largest,) = ledger.read("SELECT coalesce(max(reserved), 0) FROM calls").fetchone()
    url = LOCAL_URL if record.weights else record.base_url or environment.base_url or OPENAI_URL
    failed, failed_closed = _failed(run)
    return RunStanding(
        stages=_stages(run, driven),
        counts=_summed(run, lambda methodology, phase: True),
        usage=(sum(one.read for one in used), sum(one.written for one in used)),
        usd=spent_usd(ledger, record, Prices.read(environment.prices, batch=record.batch), url),
        asks_model=not record.replay_of and any(arm.respondent == "llm" for arm in record.arms),
        outlook=claims(record, ledger, int(noted or DEFAULT_MAX_TOKENS)),
        cap_tokens=int(noted) if noted else environment.max_tokens,
        cap_usd=float(noted_usd) if noted_usd else None,
        largest=max(int(largest), int(ledger.noted("refused") or 0), largest_call(ledger)),
        failed=failed,
        failed_closed=failed_closed,
        failures=[f"{f.methodology} {f.phase} round {f.round} {f.unit}: {f.error}" for f in ledger.failures()],
    )


def _stages(run: RunReading, driven: bool) -> list[StageStatus]:
    """Every planned methodology and phase."""
    stages = run.ledger.stages()
    rows = run.ledger.read(RESPONDED, (run.record.main.id,)).fetchall()
    responded = {(methodology, phase): n for methodology, phase, n in rows}
    rounds: dict[tuple[str, str], dict[int, int]] = {}
    for methodology, phase, number, n in run.ledger.read(ROUNDS, (run.record.main.id,)).fetchall():
        rounds.setdefault((methodology, phase), {})[number] = n
    found = []
    for stage in planned(run.record):
        counts = _summed(run, lambda *its, stage=stage: its == stage)
        filed = stages.get(stage)
        outcome = _outcome(filed.outcome if filed else "", counts, driven)
        note = filed.note if filed and outcome != "running" else ""
        there = dict(sorted(rounds.get(stage, {}).items()))
        found.append(StageStatus(*stage, outcome, note, counts, responded.get(stage, 0), _seats(run, *stage), there))
    return found


def _seats(run: RunReading, methodology: str, phase: str) -> int:
    """Whom the main arm asks. Everybody, without looking, unless agents are seated together."""
    if not run.methodology(methodology).procedure.seats_together:
        return len(run.population)
    return len(run.procedure(methodology).seated(run.desk(methodology, phase, run.record.main)))


def _outcome(filed: str, counts: Mapping[str, int], driven: bool) -> str:
    """As filed at its end. What has begun without one is under way, or was broken off with the process that drove it."""
    if driven and filed in ("", "short") and counts.get("calls"):
        return "running"
    return filed or ("short" if counts.get("calls") else "not started")


def _summed(run: RunReading, wanted: Callable[[str, str], bool]) -> dict[str, int]:
    """Counters by name, over everything wanted."""
    names: dict[str, int] = {}
    for (_, methodology, phase, _, name), value in run.ledger.counters().items():
        if wanted(methodology, phase):
            names[name] = names.get(name, 0) + value
    return names


def _failed(run: RunReading) -> tuple[int, int]:
    """Failed answers of rounds that are open, and of rounds that are not any more."""
    still, over = 0, 0
    for arm, methodology, phase, number, n in run.ledger.read(FAILED).fetchall():
        is_over = run.ledger.frozen(arm, methodology, phase, closed(number)) == "next"
        still, over = (still, over + n) if is_over else (still + n, over)
    return still, over
