"""Panels of people before and after deliberation (tests/data/humans), what health says of them, and of panels in their
shape without any opinion: what tests/reports/README.md prints and the test beside it holds it to.

People's smaller panels are drawn from theirs without replacement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from enquete.analysis.answers import Answers
from enquete.analysis.coherence import answer_stability, coherence, order_smoothness
from enquete.analysis.coherence import contentless as empty_answers
from enquete.analysis.content import one_valued
from enquete.analysis.diagnostics import Diagnostic, Standing, overall
from enquete.analysis.quality import direction_flips, unrevised, zero_drift

FILE = Path(__file__).parents[1] / "data" / "humans" / "answers.csv"
SIZES = (10, 20, 50)
FEW = 9
FAULTY_SIZE = 20
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panel:
    """People × items on one occasion, in scale points from `low` to `high`. sort: every row is an order of the same
    places. Each is itself alone, so that what is found of it can be kept."""

    name: str
    low: int
    high: int
    sort: bool
    x: Matrix

    def of(self, x: Matrix) -> Answers:
        """These answers to the same items, shown in the same order to all."""
        n, m = x.shape
        return Answers(
            participants=pd.Index([f"p{a:02}" for a in range(n)]),
            items=pd.Index([f"i{i:02}" for i in range(m)]),
            types=np.full(n, "people", dtype=object),
            families=np.full(m, "", dtype=object),
            low=np.full(m, float(self.low)),
            high=np.full(m, float(self.high)),
            reverse=np.zeros(m, dtype=bool),
            value=x,
            position=np.tile(np.arange(1.0, m + 1), (n, 1)),
            block=np.zeros((n, m), dtype=np.int64),
            option_order=np.full((n, m), -1),
            chosen=np.full((n, m), np.nan),
            orders=(),
        )


@cache
def groups() -> tuple[tuple[Panel, Panel], ...]:
    """The 13 groups of people, before and after: 26 panels of 9 to 63 people and 16 to 49 items."""
    rows = pd.read_csv(FILE, dtype={"answers": str}).sort_values(["survey", "case", "stage", "person"])
    return tuple(tuple(_panel(str(case), wave) for _, wave in of_case.groupby("stage"))  # type: ignore[misc]
                 for (_, case), of_case in rows.groupby(["survey", "case"]))  # fmt: skip


def _panel(name: str, rows: pd.DataFrame) -> Panel:
    low, high, sort = (int(rows[column].iloc[0]) for column in ("low", "high", "sort"))
    x = np.array([[low + int(place, 16) for place in line] for line in rows["answers"]], dtype=float)
    return Panel(name, low, high, bool(sort), x)


def panels(*, ratings: bool = False) -> list[Panel]:
    return [wave for group in groups() for wave in group if not (ratings and wave.sort)]


# --- panels without opinions -----------------------------------------------------------------------------------------


def at_random(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    return rng.integers(like.low, like.high + 1, (n, like.x.shape[1])).astype(float)


def straight_lines(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """Each agent one answer of its own, but for every twentieth answer."""
    lines = np.tile(rng.integers(like.low, like.high + 1, (n, 1)), like.x.shape[1]).astype(float)
    return np.where(rng.random(lines.shape) < 0.05, at_random(like, n, rng), lines)


def one_profile(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """Everybody people's mean on each item, with noise as large as people's spread."""
    return _noisy(like, n, rng, 1.0)


def one_clear_profile(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """The same with noise a third as large."""
    return _noisy(like, n, rng, 1 / 3)


def _noisy(like: Panel, n: int, rng: np.random.Generator, share: float) -> Matrix:
    noise = rng.normal(0, share * like.x.std(axis=0), (n, like.x.shape[1]))
    return np.clip(np.rint(like.x.mean(axis=0) + noise), like.low, like.high)


def uneven_noise(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """People's mean on each item, with noise from a third of people's spread to twice as wide, an agent's own."""
    widths = np.exp(rng.uniform(np.log(1 / 3), np.log(2), (n, 1)))
    noise = rng.normal(0, 1, (n, like.x.shape[1])) * like.x.std(axis=0).mean() * widths
    return np.clip(np.rint(like.x.mean(axis=0) + noise), like.low, like.high)


def two_widths(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """The same, half of the agents with noise of a fifth of people's spread and half with more than one and a half
    times as much."""
    widths = np.where(rng.permutation(n) % 2, 0.2, 1.6)[:, None]
    noise = rng.normal(0, 1, (n, like.x.shape[1])) * like.x.std(axis=0).mean() * widths
    return np.clip(np.rint(like.x.mean(axis=0) + noise), like.low, like.high)


def one_answer(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """Everybody the same to everything."""
    return np.full((n, like.x.shape[1]), float(rng.integers(like.low, like.high + 1)))


def own_levels(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """People's mean on each item, the level of one of them, and noise as wide as what is left of their spread."""
    spread = like.x - like.x.mean(axis=1, keepdims=True)
    levels = rng.choice(like.x.mean(axis=1) - like.x.mean(), n)[:, None]
    noise = rng.normal(0, spread.std(axis=0), (n, like.x.shape[1]))
    return np.clip(np.rint(like.x.mean(axis=0) + levels + noise), like.low, like.high)


def sticking(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """People's answers, drawn with replacement, of which four in ten repeat the one before."""
    return _repeating(like.x[rng.integers(0, len(like.x), n)], rng)


def sticking_at_random(like: Panel, n: int, rng: np.random.Generator) -> Matrix:
    """The same of answers at random."""
    return _repeating(at_random(like, n, rng), rng)


def _repeating(x: Matrix, rng: np.random.Generator) -> Matrix:
    x = x.copy()
    for item in range(1, x.shape[1]):
        repeats = rng.random(len(x)) < 0.4
        x[repeats, item] = x[repeats, item - 1]
    return x


Faulty = Callable[[Panel, int, np.random.Generator], Matrix]
FAULTY: Mapping[str, Faulty] = {
    "answers at random": at_random,
    "straight lines": straight_lines,
    "one profile, noise as wide as people's spread": one_profile,
    "one profile, noise a third as wide": one_clear_profile,
    "one profile, noise whose width differs by agent": uneven_noise,
    "one answer to everything": one_answer,
    "levels of their own and noise": own_levels,
    "people's, four in ten repeat the one before": sticking,
    "at random, four in ten repeat the one before": sticking_at_random,
}


# --- what health says ------------------------------------------------------------------------------------------------


def contentless(given: Answers) -> Diagnostic:
    """As over a table of these answers."""
    n, m = given.value.shape
    empty = np.repeat([one_valued(row) for row in given.value], m)
    frame = pd.DataFrame({"participant": np.repeat(given.participants, m), "item": np.tile(given.items, n),
        "status": "ok",
                          "text": "", "content": np.where(empty, "one_value", "")})  # fmt: skip
    return empty_answers(frame)


ON_RATINGS = (coherence, order_smoothness, contentless)
BETWEEN = (zero_drift, direction_flips, unrevised, answer_stability)


@cache
def checked(panel: Panel) -> Sequence[Diagnostic]:
    """The checks that apply to one occasion; of a sort those that its grid leaves open."""
    return _checks(panel, panel.x)


def _checks(panel: Panel, x: Matrix) -> Sequence[Diagnostic]:
    """The same of these answers to its items."""
    answers = panel.of(x)
    return [check(answers) for check in (ON_RATINGS[:2] if panel.sort else ON_RATINGS)]


@cache
def checked_twice(before: Panel, after: Panel) -> Sequence[Diagnostic]:
    """The checks of each occasion and of both."""
    both = before.of(before.x), after.of(after.x)
    return [*checked(before), *checked(after), *(check(*both) for check in BETWEEN)]


def standings(of: Iterable[Sequence[Diagnostic]]) -> Counter[Standing]:
    return Counter(overall(checks).verdict for checks in of)


@cache
def people(n: int, seed: int = 0) -> Counter[Standing]:
    """Panels of so many people, one from each that is as large."""
    rng = np.random.default_rng(seed)
    return standings(_checks(panel, rng.permutation(panel.x)[:n]) for panel in panels() if len(panel.x) >= n)


@cache
def faulty(make: Faulty, n: int, seed: int = 0) -> Counter[Standing]:
    """One panel of so many agents in the shape of each of people's ratings."""
    rng = np.random.default_rng(seed)
    return standings(_checks(panel, make(panel, n, rng)) for panel in panels(ratings=True))
