"""Pages where nothing is to be found, and where something is: how many say something false, and how much of what is there is found.

Rows of a real synthetic run, whose values are replaced: agents keep positions of their own from question to question and from wave
to wave, with noise; they differ by no group, move nowhere, are drawn to no median, hold no view in common, and prefer no scenario.
Means of items differ and are known, so that intervals can be held against them. Analyses and findings are the product's own.

`python -m tests.bench.null AGENTS RUNS PLANTED SEED` prints the counts of one size.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import scipy
from enquete.reports.crossing.agents import agent_table
from enquete.reports.crossing.associations import associate
from enquete.reports.crossing.associations import findings as associated

from enquete.reports.context import TYPE_NAMES, AnalysisContext, chosen, jsonable
from enquete.reports.evaluation import Evaluation, evaluation
from enquete.reports.findings import _read, analysis_context
from enquete.reports.key_findings import PER_METHODOLOGY, KeyFinding, leading
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.table.rows import participants_table, responses
from tests.bench.apart import python
from tests.bench.settings import Size
from tests.support import unwritten
from tests.support.populations import mirofish_folder, set_status

METHODS = ("longitudinal", "diversity", "delphi", "scenario", "laddering", "discovery", "roundtable", "poll")
PLANTED_METHODS = ("longitudinal", "delphi", "scenario")
GROUPS: Mapping[int, tuple[int, ...]] = {10: (5, 5), 20: (8, 7, 5), 50: (15, 15, 10, 10)}
STYLE, OWN, NOISE = (
    0.4,
    0.7,
    0.6,
)  # standard deviations on five points: of an agent, of its position on an item, of an answer
SHIFT, GROUP, SCENARIO, PULL = 1.0, 1.5, 1.5, 0.4  # planted: points, points, points, share of the distance
LANGUAGE = "en"

Frames = Mapping[str, pd.DataFrame]


# --- what pages say: all that has to change where findings become rows ----------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One finding. differs: it says that there is a difference, and tested it; intervals: estimate, low, high and what of."""

    methodology: str
    id: str
    differs: bool
    page_one: bool
    text: str
    intervals: tuple[tuple[float, float, float, str], ...]


INTERVALS = (  # names of numbers, and which of the finding's items they are about
    ("change", "low", "high", 0),
    ("mean", "low", "high", 0),
    ("mean_lowest", "low_lowest", "high_lowest", 1),
    ("mean_expected", "low_expected", "high_expected", 1),
    ("share", "low", "high", 0),
)


def said(findings: Mapping[str, Sequence[KeyFinding]], across: Sequence[KeyFinding]) -> list[Said]:
    """Of every methodology, and those that join them; the first page's are marked."""
    first = {(one.methodology, one.id, one.text) for one in leading(findings, across)}
    stated = [*(one for own in findings.values() for one in own), *across]
    return [
        Said(
            one.methodology, one.id, one.kind == "difference", (one.methodology, one.id, one.text) in first, one.text,
            tuple(_intervals(one)),
        )
        for one in stated
    ]  # fmt: skip


def _intervals(one: KeyFinding) -> Iterator[tuple[float, float, float, str]]:
    if one.kind == "null":
        return
    numbers = one.numbers
    for estimate, low, high, place in INTERVALS:
        if {estimate, low, high} <= numbers.keys() and len(one.items) > place:
            what = "change" if estimate == "change" else "share" if estimate == "share" else "mean"
            yield numbers[estimate], numbers[low], numbers[high], f"{one.methodology}.{what}.{one.items[place]}"


def result(
    reading: RunReading, own: Evaluation, name: str, frame: pd.DataFrame, context: AnalysisContext
) -> Mapping[str, Any]:
    found = jsonable(own.analyse(frame, reading.instrument(name), reading.settings(name), context))
    assert isinstance(found, dict)
    return {"arms": ["main"], TYPE_NAMES: dict(reading.type_names), **found}


def page(
    reading: RunReading, own: Mapping[str, Evaluation], frames: Frames, contexts: Mapping[str, AnalysisContext],
    known: Mapping[str, Mapping[str, Any]],
) -> list[Said]:  # fmt: skip
    """Everything that would be stated of these answers. known: results of methodologies whose answers are not drawn."""
    results = {
        name: known[name] if name in known else result(reading, own[name], name, frame, contexts[name])
        for name, frame in frames.items()
    }
    findings = {
        name: [replace(one, methodology=name) for one in own[name].findings(found, LANGUAGE)][:PER_METHODOLOGY]
        for name, found in results.items()
    }
    table = pd.concat(frames.values(), ignore_index=True)
    agents = agent_table(own, results, table, next(iter(contexts.values())).participants)
    return said(findings, associated(agents, associate(agents), LANGUAGE))


# --- answers in which nothing is to be found ------------------------------------------------------------------------------


@dataclass
class Answers:
    """Frames and contexts by methodology; what the intervals are about, by its name in `Said`; what was planted."""

    frames: dict[str, pd.DataFrame]
    contexts: dict[str, AnalysisContext]
    truth: dict[str, float]
    planted: dict[str, str]  # what → a pattern of "methodology id text" that says it


@dataclass
class World:
    """Draws the answers of one page."""

    frames: Frames
    contexts: Mapping[str, AnalysisContext]
    rng: np.random.Generator
    plant: bool

    def __post_init__(self) -> None:
        people = next(iter(self.contexts.values())).participants
        self.agents = people.index
        sizes, names = GROUPS[len(people)], sorted(people["stakeholder_type"].unique())
        order = self.rng.permutation(len(people))
        self.group = pd.Series(np.repeat(np.arange(len(sizes)), sizes)[order], index=people.index)
        self.types = self.group.map(dict(enumerate(names)))
        self.made = Answers({}, {}, {}, {})

    def draw(self) -> Answers:
        for name, frame in self.frames.items():
            context = self.contexts[name]
            kinds = context.participants.assign(stakeholder_type=self.types)
            self.made.contexts[name] = replace(context, participants=kinds)
            rows = frame.assign(stakeholder_type=frame["participant"].map(self.types))
            drawn = getattr(self, f"_{name}", None)
            self.made.frames[name] = rows if drawn is None else drawn(rows)
        return self.made

    def _positions(self, rows: pd.DataFrame, mean: pd.Series) -> pd.DataFrame:
        """Agents × items, before noise."""
        shape, unit = (len(self.agents), len(mean)), self._unit(rows)
        style, own = self.rng.normal(0, STYLE, (shape[0], 1)), self.rng.normal(0, OWN, shape)
        return pd.DataFrame(mean.to_numpy() + (style + own) * unit, index=self.agents, columns=mean.index)

    def _answered(self, rows: pd.DataFrame, positions: pd.DataFrame, noise: float = NOISE) -> pd.DataFrame:
        low, high = int(rows["scale_min"].iloc[0]), int(rows["scale_max"].iloc[0])
        x = positions + self.rng.normal(0, noise * self._unit(rows), positions.shape)
        return x.round().clip(low, high)

    def _unit(self, rows: pd.DataFrame) -> float:
        return float(rows["scale_max"].iloc[0] - rows["scale_min"].iloc[0]) / 4

    def _expected(self, rows: pd.DataFrame, mean: float) -> float:
        """The mean of such answers: of a normal that is rounded and cut off."""
        points = np.arange(int(rows["scale_min"].iloc[0]), int(rows["scale_max"].iloc[0]) + 1)
        sd = self._unit(rows) * np.sqrt(STYLE**2 + OWN**2 + NOISE**2)
        below = scipy.stats.norm.cdf((points[:-1] + 0.5 - mean) / sd)
        return float(np.diff([0, *below, 1]) @ points)

    def _put(self, rows: pd.DataFrame, wide: pd.DataFrame) -> pd.DataFrame:
        """These values in the place of those that have a number."""
        long = pd.Series(wide.stack(), name="drawn")
        values = rows[["participant", "item_id"]].join(long, on=["participant", "item_id"])["drawn"]
        value = values.where(rows["value"].notna(), np.nan)
        turned = (rows["scale_min"] + rows["scale_max"]).astype(float) - value
        return rows.assign(value=value, value_rekeyed=turned.where(rows["reverse_keyed"], value))

    def _longitudinal(self, rows: pd.DataFrame) -> pd.DataFrame:
        rated = rows[rows["value"].notna()]
        mean = pd.Series({item: self.rng.uniform(2.2, 3.8) for item in sorted(rated["item_id"].unique())})
        positions, moved = self._positions(rated, mean), mean * 0
        if self.plant:
            moved.iloc[0] = SHIFT if mean.iloc[0] < 3 else -SHIFT
            self.made.planted["drift"] = rf"longitudinal drift\.{mean.index[0]} "
        self.made.truth |= {
            f"longitudinal.mean.{item}": self._expected(rated, at + moved[str(item)]) for item, at in mean.items()
        }
        self.made.truth |= {f"longitudinal.change.{item}": 0.0 for item in mean.index if not moved[item]}
        waves = []
        for wave, own in rows.groupby("phase", sort=False):
            shifted = positions + (moved if wave == "T1" else 0)
            waves.append(self._put(own, self._answered(rated, shifted)))
        return pd.concat(waves).sort_index()

    def _delphi(self, rows: pd.DataFrame) -> pd.DataFrame:
        rated = rows[rows["value"].notna()]
        mean = pd.Series({item: self.rng.uniform(2.5, 4.2) for item in sorted(rated["item_id"].unique())})
        positions = self._positions(rated, mean)
        spared: list[str] = []
        if self.plant:
            grouped, camps = [item for item in mean.index if item.endswith("/importance")][:2]
            positions[grouped] += np.where(self.group.eq(0), -GROUP, 0.0)
            sides = self.rng.permutation(len(self.agents)) % 2
            positions[camps] = np.where(sides, 4.7, 1.3) + self.rng.normal(0, 0.3, len(self.agents))
            spared = [grouped, camps]
            self.made.planted |= {
                "groups": rf"delphi groups\.{grouped} ", "camps": rf"delphi camps\.{camps} ",
                "feedback": "delphi revision .*drew the panel together",
            }  # fmt: skip
        self.made.truth |= {
            f"delphi.mean.{item}": self._expected(rated, at) for item, at in mean.items() if item not in spared
        }
        first, parts = self._answered(rated, positions), []
        median = first.median()
        for number, own in rows.groupby("round", sort=False):
            wide = first
            if number == rows["round"].max():
                wide = self._answered(rated, positions)
                if self.plant:
                    pulled = self._answered(rated, first + PULL * (median - first), NOISE / 2)
                    wide = pulled.assign(**{item: wide[item] for item in spared})
            parts.append(self._put(own, wide))
        context = self.made.contexts["delphi"]
        shown = {
            item: {"median": float(median[item]), "iqr": float(_iqr(first[item])), "n": len(first)} for item in first
        }
        self.made.contexts["delphi"] = replace(context, frozen={**context.frozen, "feedback/2": shown})
        return pd.concat(parts).sort_index()

    def _scenario(self, rows: pd.DataFrame) -> pd.DataFrame:
        rated = rows[rows["value"].notna()]
        mean = pd.Series(4.0, index=sorted(rated["item_id"].unique()))
        self.made.truth |= {f"scenario.mean.{item}": self._expected(rated, 4.0) for item in mean.index}
        if self.plant:
            best = next(item for item in mean.index if item.endswith("/desirability"))
            mean[best] += SCENARIO
            self.made.truth.pop(f"scenario.mean.{best}")
            self.made.planted["scenario"] = "scenario desirability.highest .*is highest for"
        return self._put(rows, self._answered(rated, self._positions(rated, mean)))

    def _diversity(self, rows: pd.DataFrame) -> pd.DataFrame:
        sort, value = rows["family"].eq("sort") & rows["value"].notna(), rows["value"].copy()
        for _, own in rows[sort].groupby("participant"):
            value[own.index] = self.rng.permutation(own["value"].to_numpy())
        self.made.truth |= {f"diversity.mean.{item}": 0.0 for item in rows.loc[sort, "item_id"].unique()}
        axes = rows[rows["family"].eq("axis")]
        mean = pd.Series(4.0, index=axes["item_id"].unique())
        drawn = self._put(axes, self._answered(axes, self._positions(axes, mean)))["value"]
        value[drawn.index] = drawn
        return rows.assign(value=value, value_rekeyed=value)

    def _poll(self, rows: pd.DataFrame) -> pd.DataFrame:
        parts = []
        for item, own in rows.groupby("item_id", sort=False):
            if own["choice"].ne("").any():
                drawn = self.rng.integers(1, 4, len(own)).astype(str)
                self.made.truth[f"poll.share.{item}"] = 1 / 3
                parts.append(own.assign(choice=drawn))
            elif own["scale_min"].notna().any():
                self.made.truth[f"poll.mean.{item}"] = self._expected(own, 3.0)
                parts.append(self._put(own, self._answered(own, self._positions(own, pd.Series({item: 3.0})))))
            else:
                numbers = pd.Series(self.rng.normal(50, 15, len(own)).round().clip(0, 100), index=own.index)
                self.made.truth[f"poll.mean.{item}"] = 50.0
                parts.append(own.assign(value=numbers.where(own["value"].notna())))
        return pd.concat(parts).sort_index()


def _iqr(values: pd.Series) -> float:
    return float(values.quantile(0.75) - values.quantile(0.25))


# --- counting -----------------------------------------------------------------------------------------------------------

FALSE: Mapping[
    str, str
] = {  # patterns of "methodology id text": what is false wherever nothing is planted, tested or not
    "a feedback effect": r"^delphi revision .*(drew the panel|drove the panel)",
    "camps": r"^\S+ camps\.|splits the panel",
    "divides": r"divides the (agents|groups)",
    "a common view": r"^diversity (views|largest|common)",
    "types": r"^diversity types .*fall into",
    "a change": r"^longitudinal drift\.(?!none)",
    "groups": r" groups\.(?!none)",
    "a scenario preferred or placed": r"^scenario (place\.|\S+\.highest .*(is highest for))",
    "an association": r"^ (?!$)",
}


def counts_of(agents: int, runs: int, planted: int, seed: int) -> dict[str, Any]:
    """One size: pages with each kind of false claim, covered intervals, effects found."""
    with TemporaryDirectory() as name, open_run(_run(Path(name), agents)) as reading:
        own = {method: evaluation(reading.methodology(method)) for method in METHODS}
        table = responses(reading)
        contexts = {method: analysis_context(reading, method, False, reading.record.main) for method in METHODS}
        frames = {
            method: chosen(
                table, table["methodology"].eq(method) & _read(table, reading.methodology(method).phases)
            ).reset_index(drop=True)
            for method in METHODS
        }
        contexts = {
            method: replace(one, participants=participants_table(reading.population))
            for method, one in contexts.items()
        }
        known = {
            method: result(reading, own[method], method, frames[method], contexts[method])
            for method in METHODS
            if not hasattr(World, f"_{method}")
        }
        found: Counter[str] = Counter()
        for run in range(runs):
            answers = World(frames, contexts, np.random.default_rng([seed, run]), plant=False).draw()
            _count_false(page(reading, own, answers.frames, answers.contexts, known), answers, found)
        power: Counter[str] = Counter()
        for run in range(planted):
            some = {method: frames[method] for method in PLANTED_METHODS}
            answers = World(some, contexts, np.random.default_rng([seed, run, 1]), plant=True).draw()
            stated = page(reading, own, answers.frames, answers.contexts, known)
            for what, pattern in answers.planted.items():
                power[what] += any(one.differs or what == "camps" for one in stated if re.search(pattern, _line(one)))
    return {"agents": agents, "runs": runs, "planted": planted, "found": dict(found), "power": dict(power)}


def _line(one: Said) -> str:
    return f"{one.methodology} {one.id} {one.text}"


def _count_false(stated: Sequence[Said], answers: Answers, found: Counter[str]) -> None:
    claims = {
        name: [one for one in stated if re.search(pattern, _line(one)) and not _null(one)]
        for name, pattern in FALSE.items()
    }
    first = {name: any(one.page_one for one in own) for name, own in claims.items()}
    found.update(f"page one: {name}" for name, holds in first.items() if holds)
    found.update(f"anywhere: {name}" for name, own in claims.items() if own)
    found["page one: tested"] += any(one.differs and one.page_one for one in stated)
    found["page one: any"] += any(first.values()) or any(one.differs and one.page_one for one in stated)
    found["anywhere: any"] += any(claims.values()) or any(one.differs for one in stated)
    for one in stated:
        for _, low, high, what in one.intervals:
            if what in answers.truth:
                covered = low - 1e-9 <= answers.truth[what] <= high + 1e-9
                found["intervals"] += 1
                found["covered"] += covered
                found["page one: intervals"] += one.page_one
                found["page one: covered"] += one.page_one and covered


def _null(one: Said) -> bool:
    return bool(re.search(r"differently|no scenario differs|did not move|share no view|none of", one.text))


def _run(folder: Path, agents: int) -> Path:
    """A synthetic study of all methodologies, two waves, without report."""
    sim = mirofish_folder(folder / f"sim_{agents}", agents, status="running")
    out = str(folder / "out")
    waiting = unwritten.interview(
        sim, out=out, methods=list(METHODS), language=LANGUAGE, respondent="synthetic", budget_tokens=10**10, confirm=True,
        new=True,
    )  # fmt: skip
    set_status(sim, "completed")
    return unwritten.resume(str(waiting.resume_token), out=out).folder


# --- the part of the bench ------------------------------------------------------------------------------------------------

AT_ONCE, CHUNK = 2, 25  # processes, pages of each


def null(size: Size) -> dict[str, Any]:
    """`size.null` pages at each of 10, 20 and 50 agents, and a quarter as many with something planted, by two processes."""
    wanted = [
        (agents, min(CHUNK, size.null - start), max(1, min(CHUNK, size.null - start) // 4), start)
        for agents in reversed(GROUPS)
        for start in range(0, size.null, CHUNK)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = list(pool.map(lambda each: python("-m", "tests.bench.null", *each), wanted))
    joined = []
    for agents in GROUPS:
        own = [one for one in parts if one["agents"] == agents]
        joined.append({
            "agents": agents, **{key: sum(one[key] for one in own) for key in ("runs", "planted")},
            **{key: dict(sum((Counter(one[key]) for one in own), Counter())) for key in ("found", "power")},
        })  # fmt: skip
    return {"sizes": joined}


def main() -> None:
    print(json.dumps(counts_of(*map(int, sys.argv[1:5]))))


if __name__ == "__main__":
    main()
