"""Respondent A against respondent B, from the pairs that the critic judged: how often which wins and at what cost, how far
their closed answers agree, and whether the critic can be believed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement.kappa import Kappa, stratified_kappa, weighted_kappa
from enquete.analysis.preference import PositionBias, WinRate, position_bias, win_rate
from enquete.nodes.critic.annotating import UNTOLD
from enquete.nodes.critic.outcome import COSTS, PairRecord, pair_records
from enquete.nodes.planning import CRITIC
from enquete.reports.context import jsonable
from enquete.reports.run_reading import RunReading
from enquete.respondents.critic import STAND_IN
from enquete.state.asking import Arm

FILE, PAIRS = "preference.json", "pairs.csv"
POINTS: Final[Mapping[str, float]] = {"A": 0.0, "tie": 0.5, "B": 1.0}


@dataclass(frozen=True, slots=True)
class Rate:
    """Of the pairs of one methodology and kind of question ("" for all) that say different things; `alike`: the others."""

    methodology: str
    question_type: str
    found: WinRate
    alike: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the closed answers of one methodology: κ within items, quadratic weights."""

    methodology: str
    n: int
    kappa: float | None
    exact_share: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a respondent's answers cost in all, and for each pair that it won; None where it won none, or a price is unknown."""

    side: Literal["A", "B"]
    model: str
    temperature: float
    wins: int
    score: float | None  # mean grade
    n_scores: int
    tokens: int
    usd: float | None

    @property
    def tokens_a_win(self) -> float | None:
        return self.tokens / self.wins if self.wins else None

    @property
    def usd_a_win(self) -> float | None:
        return self.usd / self.wins if self.wins and self.usd is not None else None


@dataclass(frozen=True)
class Preference:
    """rates: all pairs first. again: the critic's first verdict against its second, of the same pairs in the same order."""

    critic: str
    rubric: str
    stand_in: bool
    pairs: Sequence[PairRecord]
    rates: Sequence[Rate]
    agreements: Sequence[Agreement]
    costs: Sequence[Cost]
    bias: PositionBias
    again: Kappa
    unread: int  # pairs without a verdict in one of the orders
    stopped: str  # by which bug; "" where the critic came to its end
    unannotated: int  # pairs of which the memory has no record

    @property
    def usable(self) -> bool:
        """Whether win rates may be read."""
        return self.bias.verdict != "unusable"

    def as_json(self) -> JsonValue:
        costs = [{**asdict(one), "tokens_a_win": one.tokens_a_win, "usd_a_win": one.usd_a_win} for one in self.costs]
        return jsonable(
            {"critic": self.critic, "rubric": self.rubric, "stand_in": self.stand_in, "usable": self.usable,
             "pairs": len(self.pairs), "stopped": self.stopped, "unread": self.unread, "unannotated": self.unannotated,
             "win_rates": [asdict(one) for one in self.rates], "agreement": [asdict(one) for one in self.agreements],
             "costs": costs, "position_bias": asdict(self.bias), "repeat": asdict(self.again)}
        )  # fmt: skip


def preferences(reading: RunReading) -> Preference | None:
    """None in a run without a second respondent."""
    record, second = reading.record, reading.record.second
    if second is None or record.critic is None:
        return None
    pairs = list(pair_records(reading.ledger, second.id))
    noted = json.loads(reading.ledger.noted(f"{CRITIC}_{COSTS}") or "{}")
    first = [(one.forward, one.again) for one in pairs if one.forward and one.again]
    return Preference(
        critic=record.critic_model or STAND_IN,
        rubric=record.critic.rubric,
        stand_in=not record.critic_has_model,
        pairs=pairs,
        rates=list(_rates(pairs)),
        agreements=list(_agreements(pairs, record.methods)),
        costs=[_cost(side, arm, pairs, noted) for side, arm in (("A", record.main), ("B", second))],
        bias=position_bias([one.forward for one in pairs], [one.backward for one in pairs]),
        again=weighted_kappa([float(a == "A") for a, _ in first], [float(b == "A") for _, b in first]),
        stopped=stage.note
        if (stage := reading.ledger.stages().get(("", CRITIC))) and stage.outcome == "failed"
        else "",
        unread=sum(not one.winner for one in pairs),
        unannotated=int(reading.ledger.noted(UNTOLD) or 0),
    )


def _rates(pairs: Sequence[PairRecord]) -> Iterator[Rate]:
    yield _rate("", "", pairs)
    cells = dict.fromkeys((one.methodology, one.question_type) for one in pairs)
    for name, kind in cells:
        yield _rate(name, kind, [one for one in pairs if (one.methodology, one.question_type) == (name, kind)])


def _rate(name: str, kind: str, pairs: Sequence[PairRecord]) -> Rate:
    judged = [one for one in pairs if one.winner and not one.alike]
    found = win_rate([POINTS[one.winner] for one in judged], [one.participant for one in judged])
    return Rate(name, kind, found, sum(one.alike for one in pairs))


def _agreements(pairs: Sequence[PairRecord], methods: Iterable[str]) -> Iterator[Agreement]:
    """Of scales alone, each as a share of its width."""
    for name in methods:
        rows = [
            one for one in pairs if one.methodology == name and one.width and None not in (one.value_a, one.value_b)
        ]
        if not rows:
            continue
        item = [one.question_id.replace(f"/{one.participant}/", "/*/", 1) for one in rows]
        table = pd.DataFrame(
            {
                "item": item,
                "agent": [one.participant for one in rows],
                "a": [(one.value_a or 0.0) / (one.width or 1.0) for one in rows],
                "b": [(one.value_b or 0.0) / (one.width or 1.0) for one in rows],
            }
        )
        wide = {side: table.pivot_table(index="agent", columns="item", values=side).to_numpy() for side in ("a", "b")}
        exact = float(np.isclose(table["a"], table["b"]).mean())
        yield Agreement(name, len(rows), stratified_kappa(wide["a"], wide["b"]), exact)


def _cost(side: str, arm: Arm, pairs: Sequence[PairRecord], noted: Any) -> Cost:
    own = noted.get(side.lower(), {})
    scores = [score for one in pairs if (score := one.score_a if side == "A" else one.score_b) is not None]
    wins = Counter(one.winner for one in pairs)
    return Cost(
        "A" if side == "A" else "B", arm.model, arm.temperature, wins["A" if side == "A" else "B"],
        sum(scores) / len(scores) if scores else None, len(scores), int(own.get("tokens", 0)), own.get("usd"),
    )  # fmt: skip


def as_frame(pairs: Sequence[PairRecord]) -> pd.DataFrame:
    """A row a pair, for pairs.csv."""
    return pd.DataFrame([one.model_dump() for one in pairs], columns=list(PairRecord.model_fields))
