"""A run's budget, and how what models really bill corrects it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import takewhile
from typing import Literal, NamedTuple

# --- What calls are really billed: how much more than its bound a reservation must hold, and how many may go before
# that is known. A server that ignores the limit on replies, or counts a model's thinking beyond it, bills more than a
# request can reserve from its own words. So the first calls of a model are sent alone, and what they were billed
# decides about the rest. Of every model as many calls go at once as the caps bear at 200 times what each reserves, and
# at least 2; then four times as many as were measured; all of them after 8. Of one that billed more it is the same for
# each kind of work, but twice as many as were measured, and never all; and every reservation of that kind, of those
# under way too, holds the excess of the dearest call so far. Measured by: `spent` against the cap with 256
# calls in flight and replies of 10 and 200 times the limit.

FIRST_WAVE = 2
DEAREST = 200
"""Times its reservation that a call may be billed at, for all that is known before one was measured."""
MEASURED = 8
"""Calls from which on a model that keeps to the limit is believed to."""
WITHOUT_ANSWER = 8
"""Calls under way where none was measured yet and one got no answer: several tell whether a server is away."""
GROWTH = 4
CAREFUL_GROWTH = 2
MARGIN = 1.25
"""The next call may be dearer than the dearest so far."""


class Amount(NamedTuple):
    """Tokens and what they cost in US dollars."""

    tokens: int
    usd: float

    def times(self, factor: float) -> Amount:
        return Amount(round(self.tokens * factor), self.usd * factor)

    def at_least(self, other: Amount) -> Amount:
        """The larger of each: replies may be dearer than the question that made room for their tokens."""
        return Amount(max(self.tokens, other.tokens), max(self.usd, other.usd))


NOTHING = Amount(0, 0.0)


class CostKind(NamedTuple):
    """Whose calls cost alike: those of one model for one purpose."""

    model: str
    purpose: str


@dataclass
class _Kind:
    admitted: int = 0  # allowed to reserve, and not yet settled
    reserved: int = 0  # reservations of those that have
    measured: int = 0
    excess: Amount = NOTHING  # of the dearest call, beyond its bound


@dataclass
class _Model:
    kinds: dict[str, _Kind] = field(default_factory=dict)
    unanswered: bool = False

    @property
    def measured(self) -> int:
        return sum(kind.measured for kind in self.kinds.values())

    @property
    def dearest(self) -> Amount:
        return reduce(Amount.at_least, (kind.excess for kind in self.kinds.values()), NOTHING)

    def room(self, kind: _Kind, borne: float) -> bool:
        measured, growth, admitted = kind.measured, CAREFUL_GROWTH, kind.admitted
        if self.dearest == NOTHING:
            measured, growth, admitted = self.measured, GROWTH, sum(kind.admitted for kind in self.kinds.values())
            if measured >= MEASURED or admitted < borne:
                return True
        first = WITHOUT_ANSWER if self.unanswered else FIRST_WAVE
        return admitted < max(first, growth * measured)


class TokenCalibration:
    """Of one run. For one event loop."""

    def __init__(self) -> None:
        self._models: dict[str, _Model] = {}
        self._changed = asyncio.Event()
        self._closed = False

    async def admit(self, kind: CostKind | None, borne: Callable[[], float] = lambda: 0.0) -> None:
        """Wait until one more call of this kind may be under way; `leave` behind it. None: nothing is billed. `borne`:
        how many reservations like its own the caps have room for."""
        if kind is None:
            return
        model, mine = self._of(kind)
        while not (self._closed or model.room(mine, borne() / DEAREST)):
            await self._changed.wait()
        mine.admitted += 1

    def leave(self, kind: CostKind | None) -> None:
        if kind is not None:
            self._of(kind)[1].admitted -= 1
            self._wake()

    def close(self) -> None:
        """Nobody waits any longer: no further call is launched."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def reserve(self, kind: CostKind | None, sends: int) -> None:
        """So many reservations more; negative: fewer."""
        if kind is not None:
            self._of(kind)[1].reserved += sends

    def measure(self, kind: CostKind | None, excess: Amount) -> None:
        """A call was answered, and billed so much beyond its bound (less: below 0)."""
        if kind is not None:
            mine = self._of(kind)[1]
            mine.measured += 1
            mine.excess = mine.excess.at_least(excess)

    def unanswered(self, kind: CostKind | None) -> None:
        """A send got no answer."""
        if kind is not None:
            self._of(kind)[0].unanswered = True
            self._wake()

    def excess(self, kind: CostKind | None) -> Amount:
        """What one more call of this kind should hold beyond its bound: if not measured yet, the model's dearest."""
        if kind is None or kind.model not in self._models:
            return NOTHING
        model, mine = self._of(kind)
        return (mine.excess if mine.measured else model.dearest).times(MARGIN)

    @property
    def dearest(self) -> int:
        """Tokens of the dearest call beyond its bound, of any kind."""
        return max((model.dearest.tokens for model in self._models.values()), default=0)

    @property
    def reserved_excess(self) -> Amount:
        """What all calls under way should hold beyond their bounds."""
        tokens, usd = 0, 0.0
        for name, model in self._models.items():
            if model.dearest > NOTHING:
                for purpose, kind in model.kinds.items():
                    each = self.excess(CostKind(name, purpose))
                    tokens, usd = tokens + kind.reserved * each.tokens, usd + kind.reserved * each.usd
        return Amount(tokens, usd)

    def _of(self, kind: CostKind) -> tuple[_Model, _Kind]:
        model = self._models.setdefault(kind.model, _Model())
        return model, model.kinds.setdefault(kind.purpose, _Kind())


# --- The cap on tokens and on money, with calls in flight counted, and who may draw on it before whom. Every request
# reserves an upper bound before it is sent and settles what was really used; where a server bills more than that, the
# bound follows (`TokenCalibration`). A request that does not fit waits while others are in flight (they usually use
# less than they reserved) and is short only when nothing is. A run's work is divided into claims, in the order in which
# they get budget: the narrative's small reserve, the main arm of each methodology as asked for, then probes and
# replicates. What a claim is still expected to need is held for it against every later one, so that neither a probe
# nor the second methodology can starve the first.

ENOUGH_CALLS = 20
"""From so many calls on, what they really cost says more about the rest than the estimate does."""


Cap = Literal["", "tokens", "usd"]


@dataclass
class Claim:
    """Work that is to be paid for. `need`: expected tokens, upper estimate; `likely` and `likely_calls`: the middle
    one.

    All are 0 where nobody estimated. `course`: the share of the tokens that the first 0, 1/n, 2/n, … n/n of the calls
    cost in the rehearsal: a Delphi's last rounds are far dearer than its first. Empty: every call costs the same.
    `unanswered`: what of `spent` are allowances for requests that were never answered: no work done, so they say
    nothing about the rest. `need_usd` is `need` in US dollars, 0 where a price is unknown or no cap on money holds."""

    need: int
    likely: int = 0
    likely_calls: int = 0
    course: Sequence[float] = ()
    spent: int = 0
    calls: int = 0
    reserved: int = 0
    closed: bool = False
    unanswered: int = 0
    need_usd: float = 0.0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    unanswered_usd: float = 0.0

    @property
    def answered(self) -> int:
        """Tokens of the calls that were answered."""
        return self.spent - self.unanswered

    @property
    def remaining(self) -> int:
        """Tokens that are still likely to be needed: by how dear the calls so far were against what was expected of
        them, as soon as there are enough of them."""
        if self.closed:
            return 0
        so_far = self.likely * self._share_so_far
        if self.calls < ENOUGH_CALLS or not so_far:
            return self._unspent
        return round((self.likely - so_far) * self.answered / so_far)

    @property
    def at_most(self) -> int:
        """`remaining`, no less than was estimated: a first round's short replies say little about the last one's."""
        return 0 if self.closed else max(self.remaining, self._unspent)

    @property
    def _unspent(self) -> int:
        return max(0, self.likely - self.answered)

    @property
    def _share_so_far(self) -> float:
        """Of the likely tokens, by the number of calls made."""
        done = min(1.0, self.calls / self.likely_calls) if self.likely_calls else 0.0
        steps = len(self.course) - 1
        if steps < 1:
            return done
        step = min(int(done * steps), steps - 1)
        return self.course[step] + (self.course[step + 1] - self.course[step]) * (done * steps - step)

    @property
    def to_come(self) -> Amount:
        """Still expected beyond what was answered."""
        if self.closed:
            return NOTHING
        return Amount(max(0, self.need - self.answered), max(0.0, self.need_usd - self.spent_usd + self.unanswered_usd))

    @property
    def outstanding(self) -> Amount:
        """Still expected beyond what was answered and is in flight."""
        rest = self.to_come
        return Amount(max(0, rest.tokens - self.reserved), max(0.0, rest.usd - self.reserved_usd))


class Budget:
    """Tokens (and US dollars) of one run. `spent` includes allowances for calls whose usage is unknown."""

    def __init__(
        self,
        cap: int,
        spent: int = 0,
        *,
        cap_usd: float | None = None,
        spent_usd: float = 0.0,
        claims: Mapping[str, Claim] | None = None,
    ):
        """`claims`: by name, in the order in which they get budget. A call under no or an unknown name comes last."""
        self.cap = cap
        self.spent = spent
        self.reserved = 0
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd
        self.reserved_usd = 0.0
        self.claims = dict(claims or {})
        self.stopped = ""  # why no further call may start: "interrupted", a rejected key, …
        self.failed = False  # stopped for something that must be changed before anything works
        self.ran_short = False
        self.deferred = False  # somebody was refused only for what is held for claims before theirs
        self.refused = 0  # the largest reservation that did not fit
        self.refused_usd = 0.0
        self.short_of: Cap = ""  # the cap that the last one refused did not fit under
        self.when_stopped: Callable[[], None] = lambda: None  # tells those who wait for a server rather than for budget
        self.calibration = TokenCalibration()
        self._changed = asyncio.Condition()

    async def reserve(self, tokens: int, usd: float = 0.0, claim: str = "", kind: CostKind | None = None) -> bool:
        """True when the amount is reserved with what is billed beyond it; False when this claim must stop launching."""
        await self.calibration.admit(kind, lambda: self._borne(tokens, usd))
        granted = False
        try:
            granted = await self._reserve(tokens, usd, claim, kind)
        finally:
            if not granted:
                self.calibration.leave(kind)
        return granted

    async def _reserve(self, tokens: int, usd: float, claim: str, kind: CostKind | None) -> bool:
        async with self._changed:
            while not self.stopped:
                need = self._needed(tokens, usd, kind)
                lacking = self._lacking(*need, self._held_before(claim))
                if not lacking:
                    self._take(tokens, usd, claim, kind)
                    return True
                deferred = self._is_deferred(*need, claim)
                if self.reserved == 0 or deferred:
                    self.ran_short = True
                    # what is in flight will be settled by the time claims before this one are over
                    self.deferred = self.deferred or (deferred and self.reserved > 0) or not self._lacking(*need)
                    self._refuse(*need, lacking)
                    return False
                await self._changed.wait()
            return False

    def try_reserve(self, tokens: int, usd: float = 0.0, claim: str = "", kind: CostKind | None = None) -> bool:
        """Reserve at once or not at all, for another send of one that got no answer: it already holds a reservation,
        and must not wait for others like it."""
        self.calibration.unanswered(kind)
        need = self._needed(tokens, usd, kind)
        lacking = self._lacking(*self._needed_at_once(need), self._held_before(claim))
        if self.stopped or lacking:
            self._refuse(*need, lacking)
            return False
        self._take(tokens, usd, claim, kind)
        return True

    def _needed_at_once(self, need: Amount) -> Amount:
        """For what cannot wait; more for a budget that is one process's part of a larger one."""
        return need

    async def settle(
        self,
        reserved: int,
        used: int,
        reserved_usd: float = 0.0,
        used_usd: float = 0.0,
        claim: str = "",
        *,
        unanswered: tuple[int, float] = (0, 0.0),
        answered: bool = True,
        kind: CostKind | None = None,
        sends: int = 1,
    ) -> None:
        """Replace a reservation by what was used; `unanswered`: tokens and dollars of that for sends without an answer.
        `sends`: reservations that the call held of `reserved` in all."""
        async with self._changed:
            self.calibration.reserve(kind, -sends)
            billed = Amount(used - unanswered[0], used_usd - unanswered[1])
            if answered and billed.tokens:
                self.calibration.measure(
                    kind, Amount(billed.tokens - reserved // sends, billed.usd - reserved_usd / sends)
                )
            elif not answered:
                self.calibration.unanswered(kind)
            self.calibration.leave(kind)
            self.reserved -= reserved
            self.spent += used
            self.reserved_usd -= reserved_usd
            self.spent_usd += used_usd
            self._paid(used, used_usd)
            if claim in self.claims:
                drawn = self.claims[claim]
                drawn.reserved -= reserved
                drawn.reserved_usd -= reserved_usd
                drawn.spent += used
                drawn.spent_usd += used_usd
                drawn.unanswered += unanswered[0]
                drawn.unanswered_usd += unanswered[1]
                drawn.calls += answered
            self._changed.notify_all()

    def _paid(self, tokens: int, usd: float) -> None:
        """A call was settled at this; for a budget that is one process's part of a larger one."""

    async def close(self, claim: str) -> None:
        """This work is over: what it did not use is for the others."""
        async with self._changed:
            if claim in self.claims:
                self.claims[claim].closed = True
            self._changed.notify_all()

    async def stop(self, reason: str, *, failed: bool = False) -> None:
        """Launch nothing more; calls in flight may finish. `failed`: going on unchanged would stop again."""
        async with self._changed:
            self.failed = self.failed or (failed and not self.stopped)
            self.stopped = self.stopped or reason
            self.calibration.close()
            self._changed.notify_all()
        self.when_stopped()

    @property
    def expected(self) -> int | None:
        """Tokens that the run is likely to have cost in the end; None where nothing was estimated."""
        if not any(claim.likely for claim in self.claims.values()):
            return None
        return self.spent + sum(claim.remaining for claim in self.claims.values())

    @property
    def closed(self) -> int:
        """Claims that are over."""
        return sum(claim.closed for claim in self.claims.values())

    def _borne(self, tokens: int, usd: float) -> float:
        """How many reservations of this size the caps have room for beside what is spent."""
        by_tokens = (self.cap - self.spent) / max(1, tokens)
        if self.cap_usd is None or usd <= 0:
            return by_tokens
        return min(by_tokens, (self.cap_usd - self.spent_usd) / usd)

    def _needed(self, tokens: int, usd: float, kind: CostKind | None) -> Amount:
        excess = self.calibration.excess(kind)
        return Amount(tokens + excess.tokens, usd + excess.usd)

    def _take(self, tokens: int, usd: float, claim: str, kind: CostKind | None) -> None:
        self.calibration.reserve(kind, 1)
        self.reserved += tokens
        self.reserved_usd += usd
        if claim in self.claims:
            self.claims[claim].reserved += tokens
            self.claims[claim].reserved_usd += usd

    def _refuse(self, tokens: int, usd: float, lacking: Cap) -> None:
        self.refused = max(self.refused, tokens)
        self.refused_usd = max(self.refused_usd, usd)
        self.short_of = lacking or self.short_of

    def _lacking(self, tokens: int, usd: float, held: Amount = NOTHING) -> Cap:
        """The cap under which this does not fit beside what is spent, in flight and held; "" where it fits."""
        excess = self.calibration.reserved_excess
        if self.spent + self.reserved + excess.tokens + held.tokens + tokens > self.cap:
            return "tokens"
        in_use = self.spent_usd + self.reserved_usd + excess.usd
        return "usd" if self.cap_usd is not None and in_use + held.usd + usd > self.cap_usd else ""

    def _before(self, claim: str) -> Iterator[Claim]:
        """Claims that get budget before this one; all of them where it is unknown."""
        return (self.claims[name] for name in takewhile(lambda name: name != claim, self.claims))

    def _held_before(self, claim: str) -> Amount:
        return _sum(other.outstanding for other in self._before(claim))

    def _is_deferred(self, tokens: int, usd: float, claim: str) -> bool:
        """Even if everything in flight cost nothing more than expected, what is held would leave no room."""
        held = _sum(other.to_come for other in self._before(claim))
        if held.tokens > 0 and self.spent + held.tokens + tokens > self.cap:
            return True
        return self.cap_usd is not None and held.usd > 0 and self.spent_usd + held.usd + usd > self.cap_usd


def _sum(amounts: Iterable[Amount]) -> Amount:
    listed = list(amounts)
    return Amount(sum(amount.tokens for amount in listed), sum(amount.usd for amount in listed))


def rounded_up(value: float) -> int:
    """A cap that people can type: two digits that count, and never less: 158,783 → 160,000."""
    whole = math.ceil(value)
    step = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // step) * step
