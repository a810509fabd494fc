"""Pages where nothing is to be found, and where something is: how many say something false, and how much of what is
there is found.

Rows of a real synthetic run, whose values are replaced: agents keep positions of their own from question to question
and from wave to wave, with noise; they differ by no group, move nowhere, are drawn to no median, hold no view in
common, and prefer no scenario. Interviews and discussions are handed round: each agent gets another one's, so that
neither its group nor what it answered elsewhere has to do with them. Means of items differ and are known, so that
intervals can be held against them. Analyses, correction and findings are the product's own.

`python -m tests.bench.null AGENTS RUNS PLANTED SEED` prints the counts of one size.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import scipy

from enquete.reports.analyses import (
    ACROSS,
    BETWEEN,
    AgentColumn,
    agent_columns,
    agent_table,
    analysis_context,
    rows_read,
)
from enquete.reports.context import AnalysisContext, chosen
from enquete.reports.declarations import Analysis, Presentation
from enquete.reports.evaluation import Evaluation, evaluation
from enquete.reports.findings import PER_METHODOLOGY, KeyFinding, Kind, corrected, leading, stated_of
from enquete.reports.responses import participants_table, responses
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.views import Names, Results
from enquete.respondents.roles import RULE
from tests.bench.child_process import python
from tests.bench.settings import Size
from tests.support import bare_runs
from tests.support.populations import mirofish_folder, set_status

METHODS = ("longitudinal", "diversity", "delphi", "scenario", "laddering", "discovery", "roundtable", "poll")
PLANTED_METHODS = ("longitudinal", "delphi", "scenario")
GROUPS: Mapping[int, tuple[int, ...]] = {10: (5, 5), 20: (8, 7, 5), 50: (15, 15, 10, 10)}
STYLE, OWN, NOISE = 0.4, 0.7, 0.6  # standard deviations on five points: of an agent, its position on an item, an answer
SHIFT, GROUP, SCENARIO, PULL = 1.0, 1.5, 1.5, 0.4  # planted: points, points, points, share of the distance
LANGUAGE = "en"

Frames = Mapping[str, pd.DataFrame]


# --- what pages say ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One finding. intervals: low, high and what of."""

    methodology: str
    name: str  # of the declared finding
    id: str
    kind: Kind
    page_one: bool
    text: str
    intervals: tuple[tuple[float, float, str], ...]


INTERVALS: Mapping[tuple[str, str], str] = {  # finding → what its interval is of, of the first of its items
    ("longitudinal", "drift"): "change",
    ("longitudinal", "highest"): "mean",
    ("longitudinal", "lowest"): "mean",
    ("delphi", "highest"): "mean",
    ("diversity", "divides"): "mean",
    ("diversity", "common"): "mean",
    ("scenario", "place"): "mean",
    ("poll", "chosen"): "share",
    ("poll", "mean"): "mean",
}
SECOND: Mapping[tuple[str, str], tuple[str, str]] = {("scenario", "place"): ("expectation_low", "expectation_high")}
"""Intervals of the second of its items."""


def said(findings: Mapping[str, Sequence[KeyFinding]]) -> list[Said]:
    """Of every methodology, and those that join them; the first page's are marked."""
    own = {name: found for name, found in findings.items() if name != ACROSS}
    first = {(one.methodology, one.id, one.text) for one in leading(own, findings.get(ACROSS, ()))}
    return [
        Said(
            one.methodology, one.id.partition(".")[0], one.id, one.kind, (one.methodology, one.id, one.text) in first,
            one.text, tuple(_intervals(one)),
        )
        for each in findings.values()
        for one in each
    ]  # fmt: skip


def _intervals(one: KeyFinding) -> Iterator[tuple[float, float, str]]:
    """Those that are shown, of what has a known value."""
    key = (one.methodology, one.id.partition(".")[0])
    if one.kind == "null" or key not in INTERVALS or not one.items:
        return
    if one.low is not None and one.high is not None:
        yield one.low, one.high, f"{one.methodology}.{INTERVALS[key]}.{one.items[0]}"
    if key in SECOND and len(one.items) > 1:
        low, high = (one.numbers[end] for end in SECOND[key])
        yield low, high, f"{one.methodology}.mean.{one.items[1]}"


def page(reading: RunReading, own: Mapping[str, Evaluation], answers: Answers) -> list[Said]:
    """Everything that would be stated of these answers."""
    declared: dict[str, tuple[Presentation, Analysis]] = {}
    columns: list[AgentColumn] = []
    for name, frame in answers.frames.items():
        presentation = own[name].presentation
        found = own[name].analyse(frame, reading.instrument(name), reading.settings(name), answers.contexts[name])
        assert presentation is not None
        assert isinstance(found, Analysis)
        declared[name] = (presentation, found)
        called = {column.name: column.label for _, column in presentation.agent_columns}
        columns += [
            replace(one, values=one.values.rename(index=answers.handed.get(name)))
            for one in agent_columns(presentation, found, name, called)
        ]
    table = pd.concat(answers.frames.values(), ignore_index=True)
    people = next(iter(answers.contexts.values())).participants
    agents = agent_table(columns, table, people, people["stakeholder_type"], "stakeholder type")
    declared[ACROSS] = (BETWEEN, agents.associations())
    names = Names(groups=reading.type_names)
    return said({
        name: list(stated_of(Results(name, declared[name][0], final, names, LANGUAGE)))[:PER_METHODOLOGY]
        for name, final in corrected(declared).items()
    })  # fmt: skip


# --- answers in which nothing is to be found --------------------------------------------------------------------------


@dataclass
class Answers:
    """Frames and contexts by methodology; what the intervals are about, by its name in `Said`; what was planted."""

    frames: dict[str, pd.DataFrame]
    contexts: dict[str, AnalysisContext]
    truth: dict[str, float]
    planted: dict[str, str]  # what → a pattern of "methodology id text" that says it
    handed: dict[
        str, dict[str, str]
    ]  # of methodologies whose answers are handed round: whose they were → whose they are


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
        self.made = Answers({}, {}, {}, {}, {})

    def draw(self) -> Answers:
        for name, frame in self.frames.items():
            context = self.contexts[name]
            kinds = context.participants.assign(stakeholder_type=self.types)
            self.made.contexts[name] = replace(context, participants=kinds)
            drawn = getattr(self, f"_{name}", self._handed_round)
            self.made.frames[name] = drawn(frame.assign(stakeholder_type=frame["participant"].map(self.types)))
        return self.made

    def _handed_round(self, rows: pd.DataFrame) -> pd.DataFrame:
        """What was said stays, with the type of whom it is handed to."""
        order = dict(zip(self.agents, self.rng.permutation(self.agents), strict=True))
        self.made.handed[str(rows["methodology"].iloc[0])] = order
        return rows.assign(stakeholder_type=rows["participant"].map(order).map(self.types))

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
                "groups": rf"delphi groups\.{_theme(grouped)} ", "camps": rf"delphi camps\.{_theme(camps)}/",
                "feedback": r"delphi revision\S* .*drew the panel together",
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
        self.made.contexts["delphi"] = replace(context, pinned={**context.pinned, "feedback/2": shown})
        return pd.concat(parts).sort_index()

    def _scenario(self, rows: pd.DataFrame) -> pd.DataFrame:
        rated = rows[rows["value"].notna()]
        mean = pd.Series(4.0, index=sorted(rated["item_id"].unique()))
        self.made.truth |= {f"scenario.mean.{item}": self._expected(rated, 4.0) for item in mean.index}
        if self.plant:
            best = next(item for item in mean.index if item.endswith("/desirability"))
            mean[best] += SCENARIO
            self.made.truth.pop(f"scenario.mean.{best}")
            self.made.planted["scenario"] = "scenario highest.desirability .*is highest for"
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


def _theme(item: str) -> str:
    return item.partition(":")[2].partition("/")[0]


def _iqr(values: pd.Series) -> float:
    return float(values.quantile(0.75) - values.quantile(0.25))


# --- counting ---------------------------------------------------------------------------------------------------------

# "methodology finding" that is false wherever nothing is planted, tested or not
FALSE: Mapping[str, tuple[str, ...]] = {
    "feedback effect": ("delphi revision",),
    "camps": ("delphi camps",),
    "a common view": ("diversity views", "diversity views_set", "diversity largest", "diversity divides",
        "diversity common"),
    "types": ("diversity types",),
    "a change": ("longitudinal drift", "longitudinal beyond"),
    "groups": (
        *(f"{name} groups" for name in METHODS), "longitudinal change_groups",
    ),
    "a scenario preferred": ("scenario highest", "scenario further", "scenario place"),
    "discussion": ("roundtable beyond",),
    "an association": (f"{ACROSS} together",),
}  # fmt: skip


def counts_of(agents: int, runs: int, planted: int, seed: int) -> dict[str, Any]:
    """One size: pages with each kind of false claim, covered intervals, effects found."""
    with TemporaryDirectory() as name, open_run(_run(Path(name), agents)) as reading:
        own = {method: evaluation(reading.methodology(method)) for method in METHODS}
        frames, contexts = rows_of(reading)
        found: Counter[str] = Counter()
        for run in range(runs):
            answers = World(frames, contexts, np.random.default_rng([seed, run]), plant=False).draw()
            _count_false(page(reading, own, answers), answers, found)
        power: Counter[str] = Counter()
        for run in range(planted):
            some = {method: frames[method] for method in PLANTED_METHODS}
            answers = World(some, contexts, np.random.default_rng([seed, run, 1]), plant=True).draw()
            told = page(reading, own, answers)
            for what, pattern in answers.planted.items():
                power[what] += any(one.kind == "difference" for one in told if re.search(pattern, _line(one)))
            power[BESIDE] += any(_is_beside(one, answers) for one in told)
    return {"agents": agents, "runs": runs, "planted": planted, "found": dict(found), "power": dict(power)}


BESIDE = "a difference beside what was planted"


def _is_beside(one: Said, answers: Answers) -> bool:
    """What was planted may show between methodologies, too."""
    planted = any(re.search(pattern, _line(one)) for pattern in answers.planted.values())
    return one.kind == "difference" and one.methodology != ACROSS and not planted


def rows_of(reading: RunReading) -> tuple[Frames, dict[str, AnalysisContext]]:
    """What each methodology's analysis is given of the run, as if a model had read the answers of its interviews."""
    table = responses(reading)
    frames, contexts = {}, {}
    for method in METHODS:
        mine = table["methodology"].eq(method) & rows_read(table, reading.methodology(method))
        frames[method] = chosen(table, mine).reset_index(drop=True)
        context = analysis_context(reading, method, False, reading.record.main)
        pinned = {name: _read_by_a_model(value) for name, value in context.pinned.items()}
        contexts[method] = replace(context, participants=participants_table(reading.population), pinned=pinned)
    return frames, contexts


def _read_by_a_model(value: Any) -> Any:
    """Of what a rule read, no content is told: of a synthetic run nothing would be."""
    if isinstance(value, dict):
        return {
            key: {role: "a model" if who == RULE else who for role, who in one.items()}
            if key == "by" and isinstance(one, dict)
            else _read_by_a_model(one)
            for key, one in value.items()
        }
    return [_read_by_a_model(one) for one in value] if isinstance(value, list) else value


def _line(one: Said) -> str:
    return f"{one.methodology} {one.id} {one.text}"


def _count_false(told: Sequence[Said], answers: Answers, found: Counter[str]) -> None:
    claims = {
        kind: [one for one in told if f"{one.methodology} {one.name}" in false and one.kind != "null"]
        for kind, false in FALSE.items()
    }
    claims["another test"] = [
        one for one in told if one.kind == "difference" and not any(one in own for own in claims.values())
    ]
    first = {kind: any(one.page_one for one in own) for kind, own in claims.items()}
    found.update(f"page one: {kind}" for kind, holds in first.items() if holds)
    found.update(f"anywhere: {kind}" for kind, own in claims.items() if own)
    found["page one: any"] += any(first.values())
    found["anywhere: any"] += any(claims.values())
    for one in told:
        for low, high, what in one.intervals:
            if what in answers.truth:
                covered = low - 1e-9 <= answers.truth[what] <= high + 1e-9
                found["intervals"] += 1
                found["covered"] += covered
                found["page one: intervals"] += one.page_one
                found["page one: covered"] += one.page_one and covered


def _run(folder: Path, agents: int) -> Path:
    """A synthetic study of all methodologies, two waves, without report."""
    sim = mirofish_folder(folder / f"sim_{agents}", agents, status="running")
    out = str(folder / "out")
    waiting = bare_runs.interview(
        sim, out=out, methods=list(METHODS), language=LANGUAGE, respondent="synthetic", budget_tokens=10**10,
        confirm=True, new=True,
    )  # fmt: skip
    set_status(sim, "completed")
    return bare_runs.resume(str(waiting.resume_token), out=out).folder


# --- the part of the bench --------------------------------------------------------------------------------------------

CHUNK = 50  # pages of a process


def null(size: Size) -> dict[str, Any]:
    """`size.null` pages at each of 10, 20 and 50 agents, and a quarter as many with something planted, one process
    after another."""
    wanted = [
        (agents, min(CHUNK, size.null - start), max(1, min(CHUNK, size.null - start) // 4), start)
        for agents in reversed(GROUPS)
        for start in range(0, size.null, CHUNK)
    ]
    parts = [python("-m", "tests.bench.null", *each) for each in wanted]
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
