"""A rehearsal: the whole study with the synthetic respondent over a sample of the agents, in a ledger that is thrown away.

It builds the very prompts that a run would send, from the same personas and memories, so that an estimate measures them
instead of guessing. No request is made.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby
from pathlib import Path

from enquete.checkpoints.folders import LEDGER
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.nodes.planning import claim_name, load_methodology, planned
from enquete.nodes.run_session import RunSession, Sources
from enquete.respondents.ledger_context import PERSON
from enquete.state.asking import ATTEMPTS, Arm, Participant
from enquete.state.interview_context import REHEARSAL
from enquete.state.methodology import Plan
from enquete.state.settings import Machine

STEPS = 20
MOST_AGENTS = 40
"""Of a larger population every so many-th agent rehearses: enough for whole batches of statements to be coded."""
MOST_CALLS = 300
"""Of a methodology's conversations in an arm (`Plan.by_row`), as long as they may become; at least FEWEST_UNITS are held."""
FEWEST_UNITS = 4
MOST_UNPAID = 6
"""Where no model answers: nothing is paid, and a rehearsal of forty would take as long as the run."""

REHEARSED = """
SELECT methodology, phase, arm, purpose, subject, input_tokens, output_tokens FROM calls
ORDER BY methodology, phase, arm, purpose, id
"""


FOLLOWED = """
SELECT methodology, phase, count(DISTINCT round || '/' || turn) FROM occasions WHERE arm=? GROUP BY methodology, phase
"""

BY_PERSONS = """
SELECT DISTINCT o.methodology, o.phase FROM answers a JOIN occasions o ON o.id=a.occasion WHERE a.notes LIKE ?
"""


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


@dataclass(frozen=True)
class Rehearsal:
    """Sums over `agents` of the run's `of` agents, how many answers each stage gave in the main arm, and may give. `together`:
    methodologies that seat agents together; theirs stand for everybody."""

    agents: int
    of: int
    kinds: tuple[Rehearsed, ...]
    rows: Mapping[tuple[str, str], int]
    plans: Mapping[tuple[str, str], Plan]
    courses: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by claim, see budget.Claim
    steps: Mapping[tuple[str, str], int] = field(default_factory=dict)  # rounds and turns, one after another
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
    seating = {name for name, dotted in record.methods.items() if load_methodology(dotted).seats_together}
    if len(chosen) == len(people):
        seating = set()
    alone = [name for name in record.methods if name not in seating]
    found = await _rehearsed(_of(record, alone), chosen, len(people), memories)
    if not seating:
        return found
    seated = await _rehearsed(_of(record, seating), people, len(people), memories)
    return replace(
        found, kinds=(*found.kinds, *seated.kinds), rows={**found.rows, **seated.rows},
        plans={**found.plans, **seated.plans}, courses={**found.courses, **seated.courses},
        steps={**found.steps, **seated.steps}, largest=max(found.largest, seated.largest), together=frozenset(seating),
        by_persons=found.by_persons | seated.by_persons,
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
            run_session = RunSession(Path(name), acted, ledger, Machine(cap_tokens=10**15), Sources())
            run_session.by_model = record.main.respondent == "llm"
            plans = {
                (method, phase): run_session.procedure(method).plan(run_session.desk(method, phase, acted.main.id))
                for method, phase in planned(acted)
            }
            held = await _play(run_session, plans)
            kinds = tuple(_stretched(_fitted(kind, record, len(chosen), of), plans, held) for kind in _called(ledger))
            rows = {stage: round(n / held[*stage, acted.main.id]) for stage, n in _rows(ledger, acted).items()}
            largest = ledger.read("SELECT coalesce(max(reserved), 0) FROM calls").fetchone()[0]
            followed = ledger.read(FOLLOWED, (acted.main.id,)).fetchall()
            steps = {(name, phase): int(n) for name, phase, n in followed}
            seats = ledger.read(BY_PERSONS, (f'%"{PERSON}"%',)).fetchall()
            by_persons = frozenset(plans if record.main.respondent == "human" else seats)
            return Rehearsal(
                len(chosen), of, kinds, rows, plans, _courses(ledger, acted), steps, largest, by_persons=by_persons
            )
        finally:
            await ledger.close()


def _called(ledger: Ledger) -> Iterator[Rehearsed]:
    """Every kind of call, summed."""
    for (name, phase, arm, purpose), rows in groupby(ledger.read(REHEARSED).fetchall(), key=lambda row: row[:4]):
        parts: dict[str, list[int]] = {}
        for *_, subject, read, written in rows:
            sums = parts.setdefault(subject.rpartition("|")[2] if purpose == "answer" else "", [0, 0, 0])
            sums[:] = [sums[0] + 1, sums[1] + read, sums[2] + written]
        calls, read_in, written_out = (float(sum(each)) for each in zip(*parts.values(), strict=True))
        yield Rehearsed(name, phase, arm, purpose, calls, read_in, written_out, parts)


def _fitted(kind: Rehearsed, record: RunRecord, agents: int, of: int) -> Rehearsed:
    """An arm that asks a sample of n costs n agents, however many the run has: once everything is stretched from those
    that rehearsed to all, that is what comes out."""
    sample = next(arm for arm in record.arms if arm.id == kind.arm).sample
    if not 0 < sample < of:
        return kind
    fit = min(sample, of) / min(sample, agents) * agents / of
    return replace(
        kind, calls=kind.calls * fit, input_tokens=kind.input_tokens * fit, output_tokens=kind.output_tokens * fit
    )


def _stretched(
    kind: Rehearsed, plans: Mapping[tuple[str, str], Plan], held: Mapping[tuple[str, str, str], float]
) -> Rehearsed:
    """From the conversations that were held to all. What is done of all at once has larger batches then, hardly more of them."""
    more = 1 / held.get((kind.methodology, kind.phase, kind.arm), 1.0)
    calls = kind.calls * (more if kind.purpose in plans[kind.methodology, kind.phase].by_row else 1.0)
    return replace(kind, calls=calls, input_tokens=kind.input_tokens * more, output_tokens=kind.output_tokens * more)


def _acted(arm: Arm) -> Arm:
    """Persons stay persons: what they answer costs nothing (see LedgerContext)."""
    return arm if arm.respondent == "human" else arm.model_copy(update={"respondent": "synthetic"})


async def _play(run_session: RunSession, plans: Mapping[tuple[str, str], Plan]) -> dict[tuple[str, str, str], float]:
    """Every stage, all arms, round by round, as the graphs would. Gives the share of its units that each has held."""
    record, held = run_session.record, dict[tuple[str, str, str], float]()
    arms = sorted(record.arms, key=lambda arm: (arm.aside, arm.role != "main"))
    for name, phase in planned(record):
        if name in record.carried:
            continue
        procedure = run_session.procedure(name)
        for arm in arms:
            desk = run_session.desk(name, phase, arm.id)
            for number in range(1, procedure.rounds + 1):
                every = run_session.units(name, phase, number, arm.id)
                share = held.get((name, phase, arm.id))
                units = _few(every, plans[name, phase]) if share is None else _spread(every, round(len(every) * share))
                held.setdefault((name, phase, arm.id), len(units) / len(every) if every else 1.0)
                await asyncio.gather(*(procedure.conduct(unit, number, desk) for unit in units))
                if await procedure.between(number, desk) != "next":
                    break
    return held


def _few(units: Sequence[str], plan: Plan) -> Sequence[str]:
    """So many conversations, spread evenly, that they come to MOST_CALLS; all of what is asked in rounds."""
    longest = sum(plan.calls[purpose][1] for purpose in plan.by_row) / ATTEMPTS / max(1, len(units))
    most = max(FEWEST_UNITS, int(MOST_CALLS / longest)) if longest else len(units)
    return _spread(units, most)


def _spread(units: Sequence[str], n: int) -> Sequence[str]:
    """So many of them, evenly, and one at least."""
    n = max(1, n)
    return units if len(units) <= n else [units[place * len(units) // n] for place in range(n)]


def _courses(ledger: Ledger, record: RunRecord) -> dict[str, list[float]]:
    """For each claim the share of its tokens after every twentieth of its calls, in the order in which they were made."""
    arms = {arm.id: arm for arm in record.arms}
    tokens: dict[str, list[int]] = {}
    for name, phase, arm, used in ledger.read(
        "SELECT methodology, phase, arm, input_tokens + output_tokens FROM calls WHERE phase <> '' ORDER BY id"
    ):
        tokens.setdefault(claim_name(name, phase, arms[arm]), []).append(used)
    return {claim: _course(each) for claim, each in tokens.items() if sum(each)}


def _course(tokens: Sequence[int]) -> list[float]:
    sums = [0, *accumulate(tokens)]
    places = (step * len(tokens) / STEPS for step in range(STEPS + 1))
    return [round(sums[int(place)] / sums[-1], 4) for place in places]


def _rows(ledger: Ledger, record: RunRecord) -> dict[tuple[str, str], int]:
    found = ledger.read(
        "SELECT o.methodology, o.phase, count(*) FROM occasions o JOIN answers a ON a.occasion=o.id WHERE o.arm=?"
        " GROUP BY o.methodology, o.phase",
        (record.main.id,),
    ).fetchall()
    return {(row[0], row[1]): row[2] for row in found}
