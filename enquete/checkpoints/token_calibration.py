"""What calls are really billed: how much more than its bound a reservation must hold, and how many may go before that is known.

A server that ignores the limit on replies, or counts a model's thinking beyond it, bills more than a request can reserve from
its own words. So the first calls of a model are sent alone, and what they were billed decides about the rest:

    every model             as many calls under way as the caps bear at 200 times what each reserves, and at least 2; then four
                            times as many as were measured; all of them after 8
    one that billed more    the same for each kind of work, but twice as many as were measured, and never all; every
                            reservation of that kind, of those under way too, holds the excess of the dearest call so far

Not where requests go in batches: each would take hours, so all go at once, and only the excess is held once one was measured.

Measured by: `spent` against the cap with 256 calls in flight and replies of 10 and 200 times the limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

FIRST_WAVE = 2
DEAREST = 200
"""Times its reservation that a call may be billed at, for all that is known before one was measured."""
MEASURED = 8
"""Calls from which on a model that keeps to the limit is believed to."""
WITHOUT_ANSWER = 8
"""Calls under way where none was measured yet and one got no answer: whether a server is away is told by several requests."""
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


class Kind(NamedTuple):
    """Whose calls cost alike: those of one model for one purpose."""

    model: str
    purpose: str


@dataclass
class _Kind:
    admitted: int = 0  # allowed to reserve, and not yet settled
    holding: int = 0  # reservations of those that have
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

    def __init__(self, *, at_once: bool = False) -> None:
        """`at_once`: no call waits for what others are billed."""
        self._models: dict[str, _Model] = {}
        self._at_once = at_once
        self._changed = asyncio.Event()
        self._closed = False

    async def admit(self, kind: Kind | None, borne: Callable[[], float] = lambda: 0.0) -> None:
        """Wait until one more call of this kind may be under way; `leave` behind it. None: nothing is billed. `borne`: how many
        reservations like its own the caps have room for."""
        if kind is None:
            return
        model, mine = self._of(kind)
        while not (self._at_once or self._closed or model.room(mine, borne() / DEAREST)):
            await self._changed.wait()
        mine.admitted += 1

    def leave(self, kind: Kind | None) -> None:
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

    def hold(self, kind: Kind | None, sends: int) -> None:
        """So many reservations more; negative: fewer."""
        if kind is not None:
            self._of(kind)[1].holding += sends

    def measure(self, kind: Kind | None, excess: Amount) -> None:
        """A call was answered, and billed so much beyond its bound (less: below 0)."""
        if kind is not None:
            mine = self._of(kind)[1]
            mine.measured += 1
            mine.excess = mine.excess.at_least(excess)

    def unanswered(self, kind: Kind | None) -> None:
        """A send got no answer."""
        if kind is not None:
            self._of(kind)[0].unanswered = True
            self._wake()

    def excess(self, kind: Kind | None) -> Amount:
        """What one more call of this kind should hold beyond its bound: of a kind not measured yet, as the model's dearest."""
        if kind is None or kind.model not in self._models:
            return NOTHING
        model, mine = self._of(kind)
        return (mine.excess if mine.measured else model.dearest).times(MARGIN)

    @property
    def dearest(self) -> int:
        """Tokens of the dearest call beyond its bound, of any kind."""
        return max((model.dearest.tokens for model in self._models.values()), default=0)

    @property
    def held(self) -> Amount:
        """What all calls under way should hold beyond their bounds."""
        tokens, usd = 0, 0.0
        for name, model in self._models.items():
            if model.dearest > NOTHING:
                for purpose, kind in model.kinds.items():
                    each = self.excess(Kind(name, purpose))
                    tokens, usd = tokens + kind.holding * each.tokens, usd + kind.holding * each.usd
        return Amount(tokens, usd)

    def _of(self, kind: Kind) -> tuple[_Model, _Kind]:
        model = self._models.setdefault(kind.model, _Model())
        return model, model.kinds.setdefault(kind.purpose, _Kind())
