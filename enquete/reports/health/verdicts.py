"""Instrument health: whether a run's answers can be used, by methodology, with every check that this rests on.

The checks, their thresholds, minima and benchmarks are those of enquete/analysis (docs/health.md). The main arm is what is
judged, by its own answers and by what probe arms, where there are any, show about them. What is simulated stays simulated:
a verdict is about the procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.answers import Floats
from enquete.analysis.health.diagnostics import INTERIM, NOT_TESTED, NOT_USABLE, NOTHING, Overall, Verdict, overall
from enquete.instruments.instrument import Instrument
from enquete.reports.context import Found, chosen, jsonable, numbered, shallow
from enquete.reports.declarations import NOT_ANALYSED, Analysis
from enquete.reports.evaluation import evaluation
from enquete.reports.health.checks import Check, Humans, contents
from enquete.reports.health.occasions import phases, with_blocks
from enquete.reports.health.probes import RETEST, Arms, not_read, not_taken, possible, probing
from enquete.reports.run_reading import RunReading
from enquete.state.asking import RESPONDED
from enquete.state.methodology import Methodology

# --- How the answers to every closed item are spread: shares at midpoint and ends, mean, entropy. Measured by hand
# counts


@dataclass(frozen=True, slots=True)
class Shape:
    """Distribution of a closed item: shares at the midpoint (None where there is none) and the ends, mean, entropy."""

    methodology: str
    phase: str
    round: int
    item: str
    scale_min: int
    scale_max: int
    n: int
    n_total: int
    mean: float | None
    midpoint: float | None
    ends: float | None
    entropy: float | None  # H / log K, K points


def shapes(rows: pd.DataFrame) -> Iterator[Shape]:
    """Every closed item by phase and round, in the table's order. rows: of one arm."""
    keys = ["methodology", "phase", "round", "item_id"]
    closed = rows[[*keys, "value", "status", "scale_min", "scale_max"]][rows["scale_min"].notna()]
    answered = closed["value"].where(closed["status"].isin(RESPONDED)).to_numpy(dtype=float)
    low, high = (closed[end].to_numpy(dtype=float) for end in ("scale_min", "scale_max"))
    group = numbered(closed, keys)
    order = np.argsort(group, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
        name, phase, number, item = closed[keys].iloc[at[0]]
        yield _shape((str(name), str(phase), int(number), str(item)), int(low[at[0]]), int(high[at[0]]), answered[at])


def _shape(key: tuple[str, str, int, str], low: int, high: int, given: Floats) -> Shape:
    values = given[~np.isnan(given)]
    n, middle = len(values), (low + high) / 2
    return Shape(
        *key, low, high, n, given.size, mean=float(values.mean()) if n else None,
        midpoint=float((values == middle).mean()) if n and middle.is_integer() else None,
        ends=float(np.isin(values, (low, high)).mean()) if n else None, entropy=entropy(values, high - low + 1),
    )  # fmt: skip


def entropy(values: Floats, points: int) -> float | None:
    """H / log K = −Σ pₖ log pₖ / log K over the K points of the scale; None for fewer than two answers (Shannon 1948)."""
    if len(values) < 2:
        return None
    counts = np.unique(values, return_counts=True)[1]
    share = counts / len(values)
    return float(share @ -np.log(share) / np.log(points)) + 0.0


OnBug = Callable[[str, Exception], None]

ENDED = ("done", "failed")
"""Outcomes of a stage after which no answer comes."""
_WORST: Mapping[Verdict, int] = {"bad": 0, "caution": 1, "fine": 2, "information": 3, "not computed": 4}


@dataclass(frozen=True)
class Probes:
    """Of one methodology, by the check that reads them: whether any is possible, those not asked, those asked that gave no check."""

    any: bool = False
    not_taken: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Health:
    """All checks, the verdict by methodology, and the distribution shape of every closed item."""

    checks: tuple[Check, ...] = ()
    verdicts: Mapping[str, Overall] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ()
    synthetic: bool = False  # a program answered, no model
    probes: Mapping[str, Probes] = field(default_factory=dict)  # by methodology

    def of(self, methodology: str) -> list[Check]:
        return [one for one in self.checks if one.methodology == methodology]

    def behind(self, methodology: str, reason: str) -> Check | None:
        """The check that gave a verdict's reason, the worst of its name."""
        name = reason.rpartition(":")[0]
        own = [one for one in self.of(methodology) if one.found.name == name]
        return min(own, key=lambda one: _WORST[one.found.verdict], default=None)

    @property
    def flagged(self) -> list[Check]:
        return [one for one in self.checks if one.found.verdict in ("caution", "bad")]

    def as_json(self) -> JsonValue:
        """health.json: verdicts, then checks with everything that they rest on, then shapes."""
        checks = [
            {"methodology": one.methodology, "phase": one.phase, "probe": one.probe, **shallow(one.found)}
            for one in self.checks
        ]
        verdicts = {name: {**shallow(one), **self._of_probes(name)} for name, one in self.verdicts.items()}
        return jsonable(
            {"synthetic": self.synthetic, "unit_of_inference": "run", "verdicts": verdicts, "diagnostics": checks,
             "shapes": [shallow(shape) for shape in self.shapes]}
        )  # fmt: skip

    def _of_probes(self, name: str) -> dict[str, tuple[str, ...]]:
        probes = self.probes.get(name, Probes())
        return {"probes_not_taken": probes.not_taken} | (
            {"probes_not_read": probes.not_read} if probes.not_read else {}
        )


def examine(
    reading: RunReading, analyses: Mapping[str, Analysis], frame: pd.DataFrame, on_bug: OnBug | None = None
) -> Health:
    """Health of a run. frame: its response table. A bug in the checks of one methodology goes to `on_bug`, else is raised."""
    methodologies = {name: reading.methodology(name) for name in reading.record.methods}
    instruments = {name: reading.instrument(name) for name in methodologies}
    humans = {name: one.human_answers() for name, one in instruments.items() if isinstance(one, Instrument)}
    synthetic = reading.record.main.respondent == "synthetic"

    def frozen(name: str, arm: str) -> Found:
        return reading.frozen_values(arm, name)

    table = with_blocks(reading, over(reading, frame))
    found = judge(methodologies, analyses, table, frozen, humans, synthetic=synthetic, on_bug=on_bug)
    planned = dict.fromkeys(map(str, frame.loc[frame["arm_role"].eq("main"), "methodology"]), NOTHING)
    going_on = unfinished(reading, frame)
    verdicts = {
        name: INTERIM if name in going_on and one.verdict not in (NOT_USABLE, NOTHING.verdict) else one
        for name, one in found.verdicts.items()
    }
    return replace(found, verdicts={**planned, **verdicts})


def unfinished(reading: RunReading, frame: pd.DataFrame) -> set[str]:
    """Methodologies of which a stage is yet to be asked, or to the end: what is missing may still come."""
    own = chosen(frame, frame["run_id"].eq(reading.run) & frame["arm_role"].eq("main"))
    stages = set(zip(own["methodology"], own["phase"], strict=True))
    return {str(name) for name, phase in stages if reading.stages.get((name, phase), "") not in ENDED}


def over(reading: RunReading, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of stages that are no longer asked: while a wave is being asked there is nothing to judge in it."""
    stages = zip(frame["methodology"], frame["phase"], strict=True)
    asked = np.fromiter((stage in reading.stages for stage in stages), dtype=bool, count=len(frame))
    return chosen(frame, asked | frame["run_id"].ne(reading.run))


def judge(
    methodologies: Mapping[str, Methodology],
    analyses: Mapping[str, Analysis],
    frame: pd.DataFrame,
    frozen: Callable[[str, str], Found] = lambda name, arm: {},
    humans: Mapping[str, Humans] | None = None,
    *,
    synthetic: bool = False,
    on_bug: OnBug | None = None,
) -> Health:
    """The same from tables alone. frame: rows of all arms, with `block`. frozen: values of (methodology, arm) by name;
    humans: what a methodology's instrument says of people's answers.
    """
    checks: list[Check] = []
    verdicts: dict[str, Overall] = {}
    probes: dict[str, Probes] = {}
    for name in map(str, dict.fromkeys(frame.loc[frame["arm_role"].eq("main"), "methodology"])):
        rows = chosen(frame, frame["methodology"].eq(name))
        one = Judged(methodologies[name], probing(rows, analyses.get(name, NOT_ANALYSED), partial(frozen, name)))
        try:
            one.check((humans or {}).get(name, {}))
        except Exception as error:
            if on_bug is None:
                raise
            on_bug(name, error)
        if one.checks:
            checks += one.checks
            verdicts[name], probes[name] = one.overall(rows), one.probes()
    found = tuple(shapes(chosen(frame, frame["arm_role"].eq("main"))))
    return Health(tuple(checks), verdicts, found, synthetic, probes)


@dataclass
class Judged:
    """One methodology while it is judged."""

    methodology: Methodology
    arms: Arms
    checks: list[Check] = field(default_factory=list)

    def check(self, humans: Humans) -> None:
        """Checks of its main arm, those of its own plausibility first, then of its probes."""
        own, name = evaluation(self.methodology), self.methodology.name
        made = chain(own.health(self.arms.analysis, self.arms.main, humans), contents(self.arms.main))
        self.checks += [Check(name, phase, one, own=own.checks.get(one.name)) for phase, one in made]
        if self.arms.asked:
            probed = own.probed(self.arms)
            self.checks += [Check(name, phase, one, True, own.checks.get(one.name)) for phase, one in probed]

    def probes(self) -> Probes:
        likely, asked = possible(self.methodology), self.arms.asked
        left = not_taken(likely, self.checks, asked, waves=len(phases(self.arms.main)))
        return Probes(bool(likely), left, not_read(self.checks, asked))

    def overall(self, rows: pd.DataFrame) -> Overall:
        """A check taken in both waves counts once, by its worse outcome: one fault is not two. rows: of all arms."""
        worst: dict[str, Check] = {}
        for one in sorted(self.checks, key=lambda one: _WORST[one.found.verdict]):
            worst.setdefault(one.found.name, one)
        rules = {name: one.rule for name, one in evaluation(self.methodology).checks.items()}
        return overall((one.found for one in worst.values()), rules, self.not_tested(rows))

    def not_tested(self, rows: pd.DataFrame) -> str:
        """Why no retest says whether the same agents would answer so again."""
        if RETEST in self.arms.asked:
            return "retest_unread"
        again = rows["arm_role"].eq("replicate") & rows["status"].ne("not_reached")
        return "only_replicates" if again.any() else NOT_TESTED
