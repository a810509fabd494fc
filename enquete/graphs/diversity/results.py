"""What the sorts give: see reports/evaluation.py."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, permutations
from operator import itemgetter
from string import ascii_uppercase
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.coherence import coherence, order_smoothness
from enquete.analysis.components import explained_by_chance, principal_components, weighted
from enquete.analysis.inference import selected_intervals
from enquete.analysis.permutation import tail_p
from enquete.analysis.qmethod import (
    ALPHA,
    Distinction,
    Extraction,
    FlagEdits,
    QAnalysis,
    agreement,
    common_sort,
    contrasts,
    group_distinctions,
    legal,
    places,
    q_analysis,
    threshold,
)
from enquete.analysis.quality import persona_flattening, two_components
from enquete.analysis.typology import (
    LEAST_EXCESS,
    UNSTABLE,
    Gap,
    TypeChoice,
    Types,
    adjusted_rand,
    agent_silhouettes,
    gap,
    memberships,
    types,
)
from enquete.graphs.diversity.instrument import DiversityInstrument, DiversitySettings, FlagChanges
from enquete.graphs.diversity.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import AnalysisContext, Files, ItemFacts, wide
from enquete.reports.declarations import Analysis, Row, WholeResults, compared, shaped
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST
from enquete.reports.health_checks import Humans, Made, answers, checkable, each, gaps, occasion, phases, scales
from enquete.reports.writing import lines
from enquete.state.asking import RESPONDED, Language

# --- What views and types there are among the agents: sorts, Q factors, clusters, components; see tables.py ----------
# Measured by: views and types that were planted are found, none is found in noise, and every figure stands beside its
# n. An agent without a complete legal sort and all axes is left out of types and counted; views need the sort alone.
# Draws are seeded: same rows, same tables. Names of types are arbitrary; `alike` gives those of another run.

SEED = 0
CHANCE_DRAWS = 100
COMPONENTS, SCORES, HEAVIEST, EIGENVALUES, EXTREMES = 8, 3, 4, 30, 3
"""Components, coordinates of an agent, items of a component, eigenvalues and statements at either end of a view that
are kept."""
DISTINGUISHING = 0.5  # least difference of a type from the rest, in SDs of the grid
SURE = 0.8
"""Probability from which an agent is counted as a member of its type."""
DIGITS = 6  # beyond them, sums depend on the machine
OTHER: Mapping[Extraction, Extraction] = {"pca": "centroid", "centroid": "pca"}


def analyse(
    frame: pd.DataFrame, instrument: DiversityInstrument, settings: DiversitySettings | None, context: AnalysisContext
) -> Analysis:
    """Tables over the main arm's rows."""
    sorts = Sorts.read(frame, instrument)
    clusters = Clusters.of(sorts)
    views = Views.of(sorts, settings or DiversitySettings())
    placed = sorts.placements(frame)
    components, component_facts, scores = _components(sorts)
    agents = _agents(sorts, clusters, views, placed, scores)
    tables: dict[str, Any] = {
        "structure": [views.counted(), clusters.counted()],
        "items": _with_verdicts(sorts.items(context.language), views.scores(), views),
        "distribution": sorts.distribution(), "participation": sorts.participation(frame),
        "left_out": [{"participant": who, "reason": why} for who, why in sorts.reason[sorts.reason.ne("")].items()],
        "grid": [{"place": place, "n": n} for place, n in instrument.distribution.items()], "agents": agents,
        **clusters.tables(agents), **views.tables(), **components,
        **compared(
            pd.concat([sorts.sort, sorts.axes], axis=1), context.groups_of(frame), "asked",
            ends={item: (low, high) for item, low, high in sorts.scales()},
        ),
    }  # fmt: skip
    both = agents["archetype"].notna() & agents["q_factor"].notna()
    grid = list(instrument.distribution)
    facts = {
        "n_statements": sorts.sort.shape[1], "n_axes": sorts.axes.shape[1], "grid_low": grid[0], "grid_high": grid[-1],
        "n": len(sorts.kept), "n_total": len(sorts.reason), **views.facts(clusters.of_all), "n_both": int(both.sum()),
        **clusters.facts, **component_facts, **_moved(placed, sorts),
    }  # fmt: skip
    return shaped(
        PRESENTATION, {name: _rounded(rows) for name, rows in tables.items()}, {n: _round(v) for n, v in facts.items()}
    )


def _round(value: Any) -> Any:
    return round(float(value), DIGITS) if isinstance(value, float | np.floating) else value


def _rounded(rows: Any) -> pd.DataFrame:
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    return frame.round(DIGITS)


# --- whose sorts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sorts:
    """sort, axes: agents × items in the instrument's order, NaN where there is no answer; all agents, in the
    population's order. reason: why an agent is left out of types, "" where it is not. kinds: stakeholder types."""

    instrument: DiversityInstrument
    sort: pd.DataFrame
    axes: pd.DataFrame
    reason: pd.Series[str]
    kinds: pd.Series[str]

    @classmethod
    def read(cls, frame: pd.DataFrame, instrument: DiversityInstrument) -> Sorts:
        everybody = frame["participant"].unique()
        sort = wide(frame, [statement.statement_id for statement in instrument.statements], people=everybody)
        axes = wide(frame, [axis.axis_id for axis in instrument.likert_axes], people=everybody)
        missing = sort.isna().any(axis=1)
        reason = pd.Series("", index=sort.index, dtype="str")
        reason[axes.isna().any(axis=1)] = "axes_incomplete"
        reason[~missing & ~legal(sort.to_numpy(), instrument.distribution)] = "off_grid"
        reason[missing] = "sort_incomplete"
        return cls(instrument, sort, axes, reason, frame.groupby("participant", sort=False)["stakeholder_type"].first())

    @property
    def grid(self) -> Mapping[int, int]:
        return self.instrument.distribution

    @cached_property
    def kept(self) -> pd.Index[Any]:
        return self.reason.index[self.reason.eq("")]

    @cached_property
    def blocks(self) -> list[np.ndarray[Any, Any]]:
        """Sort and axes of the agents that have both, complete and legal."""
        both = (self.sort.loc[self.kept], self.axes.loc[self.kept])
        return [block.to_numpy() for block in both if block.shape[1]]

    def participation(self, frame: pd.DataFrame) -> Iterator[Row]:
        answered, statements = frame["status"].isin(RESPONDED), frame["item_id"].isin(self.sort.columns)
        for part, rows, given in (("sort", statements, self.sort), ("axes", ~statements, self.axes)):
            if given.shape[1]:
                yield {"part": part, "n_responded": int((answered & rows).sum()), "n_planned": int(rows.sum()),
                       "n_complete": int(given.notna().all(axis=1).sum()), "n_total": len(given)}  # fmt: skip

    def placements(self, frame: pd.DataFrame) -> pd.DataFrame:
        """By agent with a complete sort, how many placements were moved to fit the grid, or placed again by the agent
        when asked.

        Column `placed` of the rows holds an agent's own placements; where the last of them is not the value, the
        statement was moved.
        """
        complete = self.sort.index[self.sort.notna().all(axis=1)]
        rows = frame[frame["item_id"].isin(self.sort.columns) & frame["participant"].isin(complete)]
        placements = [_placements(text) for text in rows["placed"]] if "placed" in rows else [[]] * len(rows)
        moved = [bool(p) and p[-1] != value for p, value in zip(placements, rows["value"], strict=True)]
        counts = pd.DataFrame({"moved": moved, "again": [len(p) > 1 for p in placements]}, index=rows.index)
        by_agent = counts.groupby(rows["participant"], sort=False).sum()
        return by_agent.reindex(complete, fill_value=0).astype(int)

    def distribution(self) -> Iterator[Row]:
        for item, low, high in self.scales():
            known = (self.sort if item in self.sort else self.axes)[item].dropna()
            for value in range(low, high + 1):
                n = int(known.eq(value).sum())
                yield {"item": item, "value": value, "n": n, "share": n / len(known) if len(known) else None}

    def scales(self) -> Iterator[tuple[str, int, int]]:
        """Every statement and axis with its lowest and highest value."""
        columns = list(self.grid)
        yield from ((s.statement_id, columns[0], columns[-1]) for s in self.instrument.statements)
        yield from ((a.axis_id, 1, a.points) for a in self.instrument.likert_axes)

    def items(self, language: Language) -> pd.DataFrame:
        """Every statement and axis; of all answers there are."""
        words: list[tuple[str | None, ...]] = [
            ("sort", s.brief(language), s.label.in_(language), None, None) for s in self.instrument.statements
        ]
        words += [
            ("axes", a.label.in_(language), a.label.in_(language), a.low.in_(language), a.high.in_(language))
            for a in self.instrument.likert_axes
        ]
        items = pd.DataFrame(words, columns=["part", "label", "wording", "low_end", "high_end"])
        items[["item", "scale_min", "scale_max"]] = pd.DataFrame(list(self.scales()))
        values = pd.concat([self.sort, self.axes], axis=1)
        items = items.assign(
            n=values.notna().sum().to_numpy(), n_total=len(values), mean=values.mean().to_numpy(),
            sd=values.std().to_numpy(), n_above=values.gt(0).sum().to_numpy(), n_below=values.lt(0).sum().to_numpy(),
        )  # fmt: skip
        for _, part in items.groupby("part", sort=False):
            ends = (float(part["scale_min"].iloc[0]), float(part["scale_max"].max()))
            made = selected_intervals(part["n"], part["mean"], part["sd"], ends=ends)
            items.loc[part.index, ["low", "high"]] = made[["low", "high"]].to_numpy()
        axes = items["part"].eq("axes")
        return items.assign(**{name: items[name].mask(axes) for name in ("n_above", "n_below")})


def _placements(text: object) -> list[int]:
    columns: object = json.loads(text) if isinstance(text, str) and text else None
    return [int(column) for column in columns] if isinstance(columns, list) else []


def _moved(placed: pd.DataFrame, sorts: Sorts) -> Row:
    total = int(len(placed) * sorts.sort.shape[1])
    return {
        "placements": total, "n_moved": int(placed["moved"].sum()),
        "share_moved": float(placed["moved"].sum() / total) if total else None,
        "agents_moved": int(placed["moved"].gt(0).sum()), "n_again": int(placed["again"].sum()),
        "agents_again": int(placed["again"].gt(0).sum()), "agents_complete": len(placed),
    }  # fmt: skip


def _with_verdicts(items: pd.DataFrame, scores: pd.DataFrame, views: Views) -> pd.DataFrame:
    """With what the views say of each statement. Without two views there is nothing to set apart."""
    q, part = views.q, items["part"].eq("sort")
    several = len(q.factors) > 1
    consensus = [str(items["item"][s]) for s in q.consensus]
    apart = set(scores.loc[scores["level"].le(0.05) & scores["p"].lt(0.05), "item"]) if several else set()
    spread = scores.groupby("item")["z"].var(ddof=0) if several else pd.Series(dtype=float)
    verdict = np.where(
        items["item"].isin(consensus), "consensus", np.where(items["item"].isin(list(apart)), "apart", "open")
    )
    clear = items["low"].gt(0) | items["high"].lt(0)
    common = part & clear & items["n"].ge(FEWEST) & (items["item"].isin(consensus) if several else bool(q.factors))
    rank = (items["mean"].abs() / items["sd"]).where(common).rank(ascending=False, method="first")
    return items.assign(
        apart=items["item"].map(spread), verdict=pd.Series(verdict, dtype=object).where(part & several, None),
        common_rank=rank,
        both_sides=(items[["n_above", "n_below"]].min(axis=1) >= FEWEST).astype(object).where(part, None),
    )  # fmt: skip


# --- components -------------------------------------------------------------------------------------------------------


def _components(sorts: Sorts) -> tuple[dict[str, Any], Row, pd.DataFrame]:
    """Components with what chance explains, loadings by item, scores by agent; empty where agents do not differ."""
    columns, firsts = weighted(sorts.blocks)
    names = [*map(str, sorts.sort.columns), *map(str, sorts.axes.columns)]
    pca = principal_components(columns) if len(sorts.kept) > 1 else None
    kept = len(pca.explained) if pca else 0
    facts: Row = {
        "n_components": 0, "first_two": None, "sort_weight": firsts[0],
        "axes_weight": firsts[1] if len(firsts) > 1 else None, "alike": len(sorts.kept) > 1 and not kept,
    }  # fmt: skip
    if pca is None or not kept:
        return {}, facts, pd.DataFrame(columns=["pc1", "pc2", "pc3"])
    chance = explained_by_chance(sorts.blocks, CHANCE_DRAWS, SEED)
    above = pca.explained > chance[:kept]
    listed = range(min(COMPONENTS, kept))
    components = [
        {"component": i + 1, "explained": pca.explained[i], "by_chance": chance[i], "above_chance": bool(above[i]),
         "heaviest": [names[j] for j in np.argsort(-np.abs(pca.loadings[:, i]), kind="stable")[:HEAVIEST]]}
        for i in listed
    ]  # fmt: skip
    loadings = pd.DataFrame(pca.loadings[:, listed], columns=[i + 1 for i in listed]).assign(item=names)
    loadings = loadings.melt("item", var_name="component", value_name="loading")
    scores = pd.DataFrame(pca.scores[:, :SCORES], index=sorts.kept).reindex(columns=range(SCORES))
    first_two, n_above = float(pca.explained[:2].sum()), int(np.logical_and.accumulate(above).sum())
    facts |= {"n_components": n_above, "first_two": first_two}
    tables = {"components": components, "component_loadings": loadings}
    return tables, facts, scores.set_axis(["pc1", "pc2", "pc3"], axis=1)


# --- types ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clusters:
    """Types of the agents analysed, or why there are none. A is the largest."""

    sorts: Sorts
    typology: Types
    gap: Gap

    @classmethod
    def of(cls, sorts: Sorts) -> Clusters:
        n = len(sorts.kept)
        typology = types(sorts.blocks, SEED) if n else Types(TypeChoice(1, "few"))
        return cls(sorts, typology, gap(sorts.blocks, SEED) if n > 1 else Gap((), (), None, n))

    @cached_property
    def letters(self) -> pd.Series[str]:
        """Type by participant; empty without types."""
        labels = self.typology.labels
        return pd.Series([] if labels is None else [ascii_uppercase[label] for label in labels], dtype=object,
                         index=self.sorts.kept[: 0 if labels is None else None])  # fmt: skip

    @cached_property
    def of_all(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The type's number of every agent with a sort or without, −1 for none."""
        labels = np.full(len(self.sorts.reason), -1, dtype=np.int64)
        if self.typology.labels is not None:
            labels[self.sorts.reason.eq("").to_numpy()] = self.typology.labels
        return labels

    @property
    def k(self) -> int:
        return 0 if self.typology.choice.k == 1 else self.typology.choice.k

    def counted(self) -> Row:
        choice, continuity = self.typology.choice, self.typology.choice.continuity
        largest = int(self.letters.value_counts().max()) if len(self.letters) else None
        n = len(self.sorts.kept)
        p = max(tail_p(max(choice.silhouettes.values()), choice.null), continuity.tail) if continuity else choice.p
        return {
            "what": "types", "found": self.k, "outcome": "types" if choice.reason == "typology" else choice.reason,
            "n": n, "n_total": len(self.sorts.reason), "explained": None, "largest": largest,
            "beyond": 1 - largest / n if largest else None, "p": p,
        }  # fmt: skip

    @cached_property
    def facts(self) -> Row:
        choice, continuity, firm = self.typology.choice, self.typology.choice.continuity, self.typology.stability
        jaccard = getattr(firm, "jaccard", None)
        return {
            "n_types": self.k, "p_chance": choice.p, "null_best": max(choice.null, default=None),
            "chance_draws": len(choice.null), "p_continuum": getattr(continuity, "p", None),
            "continuum_draws": getattr(continuity, "draws", None),
            "excess": max(continuity.excess.values()) if continuity else None, "least_excess": LEAST_EXCESS,
            "ari": getattr(firm, "ari", None), "required_jaccard": UNSTABLE,
            "least_jaccard": min(jaccard) if jaccard else None, "gap_k": self.gap.k, "at_edge": choice.at_the_edge,
            "gap_differs": choice.k > 1 and self.gap.k != choice.k, "sure": SURE,
            "n_sure": None if self.sure is None else int(self.sure.max(axis=1).ge(SURE).sum()),
        }  # fmt: skip

    @cached_property
    def sure(self) -> pd.DataFrame | None:
        """Probabilities, agents × types; None without types or where the mixture gives none."""
        labels = self.typology.labels
        shares = None if labels is None else memberships(weighted(self.sorts.blocks)[0], labels).probabilities
        if shares is None:
            return None
        return pd.DataFrame(shares, index=self.sorts.kept, columns=list(ascii_uppercase[: shares.shape[1]]))

    def fits(self) -> pd.Series[float]:
        labels = self.typology.labels
        if labels is None:
            return pd.Series(dtype=float)
        return pd.Series(agent_silhouettes(weighted(self.sorts.blocks)[0], labels, SEED), index=self.sorts.kept)

    def tables(self, agents: pd.DataFrame) -> dict[str, Any]:
        choice, continuity = self.typology.choice, self.typology.choice.continuity
        numbers = pd.RangeIndex(1, len(self.gap.gaps) + 1)
        tried = pd.DataFrame({
            "silhouette": pd.Series(choice.silhouettes), "expected": pd.Series(getattr(continuity, "expected", {})),
            "excess": pd.Series(getattr(continuity, "excess", {})), "gap": pd.Series(self.gap.gaps, numbers),
            "gap_se": pd.Series(self.gap.errors, numbers),
        }, dtype=float)  # fmt: skip
        sure = pd.DataFrame() if self.sure is None else self.sure.rename_axis("participant").reset_index()
        apart = list(self._apart())
        return {
            "types_tried": tried.sort_index().rename_axis("k").reset_index(), "type_items": apart,
            "membership": sure.melt("participant", var_name="type", value_name="probability") if len(sure) else sure,
            "types": [self._type(letter, apart, agents) for letter in sorted(set(self.letters))],
            "type_groups": grouped(self.letters, self.sorts.kinds, "type"),
        }  # fmt: skip

    def _apart(self) -> Iterator[Row]:
        """By type of FEWEST agents at least, statements as the type differs most in them, then axes."""
        labels, grid = self.typology.labels, self.sorts.grid
        if labels is None:
            return
        sort, axes = self.sorts.sort.loc[self.sorts.kept], self.sorts.axes.loc[self.sorts.kept]
        for label, distinctions in enumerate(group_distinctions(sort.to_numpy(), labels, grid, SEED)):
            inside, distinct = np.asarray(labels == label), {d.statement: d for d in distinctions}
            if inside.sum() < FEWEST:
                continue
            common = common_sort(sort.to_numpy()[inside].mean(axis=0), grid)
            for contrast in contrasts(sort.to_numpy(), inside, grid):
                yield {
                    "type": ascii_uppercase[label], "item": sort.columns[contrast.statement], "part": "sort",
                    "mean": contrast.mean, "mean_rest": contrast.mean_rest, "difference": contrast.difference,
                    "place": int(common[contrast.statement]), **told_of(distinct.get(contrast.statement)),
                }  # fmt: skip
            for item, mean, rest in zip(axes.columns, axes[inside].mean(), axes[~inside].mean(), strict=True):
                yield {
                    "type": ascii_uppercase[label], "item": item, "part": "axes", "mean": mean, "mean_rest": rest,
                    "difference": None, "place": None, **told_of(None),
                }  # fmt: skip

    def _type(self, letter: str, apart: Sequence[Row], agents: pd.DataFrame) -> Row:
        """For and against: the first that it places above (below) the middle and the others; what sets it apart goes
        before."""
        rows = [row for row in apart if row["type"] == letter and row["part"] == "sort"]
        rows.sort(key=lambda row: row["level"] is None or abs(row["difference"]) < DISTINGUISHING)
        middle = float(np.average(list(self.sorts.grid), weights=list(self.sorts.grid.values())))
        pro, con = (
            next((row["item"] for row in rows if s * row["difference"] > 0 and s * (row["mean"] - middle) > 0), None)
            for s in (1, -1)
        )
        members = self.letters.index[self.letters.eq(letter)]
        poles = Counter(agents.set_index("participant").loc[members, "q_factor"].dropna()).most_common(1)
        pole, n_pole = poles[0] if poles else (None, None)
        firm = self.typology.stability
        return {
            "type": letter, "n": len(members), "n_total": len(self.letters),
            "jaccard": firm.jaccard[ascii_uppercase.index(letter)] if firm else None, "pro": pro, "con": con,
            "pole": pole, "n_pole": n_pole, "members": [str(who) for who in members],
        }  # fmt: skip


def told_of(distinction: Distinction | None) -> Row:
    """What sets something apart in a statement, missing where it does not."""
    return {name: getattr(distinction, name, None) for name in ("direction", "level", "p")}


def grouped(of: pd.Series[str], kinds: pd.Series[str], name: str) -> pd.DataFrame:
    """How many agents of each stakeholder type are of each kind in `of`, zeros too."""
    if of.empty:
        return pd.DataFrame()
    wide_counts = pd.crosstab(kinds.reindex(of.index), of).rename_axis("stakeholder_type").reset_index()
    counts = wide_counts.melt("stakeholder_type", var_name=name, value_name="n")
    total = counts["stakeholder_type"].map(kinds.value_counts())
    counts = counts.assign(n_group=total, share=counts["n"] / total)
    return counts.sort_values([name, "n"], ascending=[True, False], kind="stable")


# --- shared views -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Views:
    """Q factors, numbered from 1. A pole is a factor, or one side of a bipolar one: "2", or "1+" and "1-", which sort
    alike with opposite signs. refused: what was set and does not fit these sorts; the automatic solution stands
    then."""

    sorts: Sorts
    settings: DiversitySettings
    q: QAnalysis
    refused: tuple[Row, ...]
    changes: FlagChanges

    @classmethod
    def of(cls, sorts: Sorts, settings: DiversitySettings) -> Views:
        """Flags by hand are checked against the automatic ones before any is changed."""
        x, grid, n_factors = sorts.sort.to_numpy(), sorts.grid, settings.n_factors
        refused: list[Row] = []
        try:
            q = q_analysis(x, grid, extraction=settings.extraction, n_factors=n_factors, seed=SEED)
        except ValueError:
            if n_factors is None:
                raise
            refused, n_factors = [{"why": "fewer", "who": None, "view": n_factors, "n": len(x)}], None
            q = q_analysis(x, grid, extraction=settings.extraction, seed=SEED)
        changes = settings.flags
        problems = list(_problems(q, changes, sorts.sort.index))
        if problems or changes == FlagChanges():
            return cls(sorts, settings, q, (*refused, *problems), FlagChanges())
        edits = FlagEdits(*(_pairs(change, sorts.sort.index) for change in (changes.add, changes.remove)))
        edited = q_analysis(x, grid, extraction=settings.extraction, n_factors=n_factors, flags=edits, seed=SEED)
        return cls(sorts, settings, edited, tuple(refused), changes)

    @cached_property
    def other(self) -> QAnalysis:
        """The other extraction, with automatic flags."""
        return q_analysis(
            self.sorts.sort.to_numpy(), self.sorts.grid, extraction=OTHER[self.settings.extraction],
            number=self.q.number, seed=SEED,
        )  # fmt: skip

    @cached_property
    def bipolar(self) -> dict[int, bool]:
        return {factor.number: factor.bipolar for factor in self.q.factors}

    @cached_property
    def poles(self) -> pd.Series[str]:
        """By participant the pole that its sort defines; those who define none, or several, are not in it."""
        groups = pd.Series(self.q.groups(), index=self.sorts.sort.index)
        known = groups[groups.floordiv(2).isin(list(self.bipolar))]
        return known.map(lambda group: self._pole(group // 2, bool(group % 2))).astype(object)

    def _pole(self, number: int, negative: bool) -> str:
        return f"{number + 1}{'-' if negative else '+' if self.bipolar[number] else ''}"

    @property
    def asked(self) -> bool:
        return self.settings.n_factors is not None and self.settings.n_factors == self.q.loadings.shape[1]

    def counted(self) -> Row:
        q, used = self.q, self.q.loadings.shape[1]
        shared = "views" if len(q.factors) > 1 else "one_view"
        outcome = {"chance": "no_views", "factors": "asked" if self.asked else shared}.get(q.reason, q.reason)
        explained = sum(factor.explained for factor in q.factors) if q.factors else None
        tail = q.number.tail if q.number is not None else np.empty(0)
        return {
            "what": "views", "found": len(q.factors), "outcome": outcome, "n": len(q.rows), "n_total": q.n_total,
            "explained": explained, "largest": int(self.poles.value_counts().max()) if len(self.poles) else None,
            "beyond": explained, "p": float(tail[: max(1, used)].max()) if len(tail) and not self.asked else None,
        }  # fmt: skip

    def facts(self, clusters: np.ndarray[Any, np.dtype[np.int64]]) -> Row:
        q, other, changes, mine, theirs = self.q, self.other, self.changes, self.q.groups(), self.other.groups()
        both = (mine >= 0) & (theirs >= 0)
        counted = {name: getattr(q.number, name, None) for name in ("draws", "kaiser", "two_loaders")}
        return {
            "n_sorts": len(q.rows), "n_views": len(q.factors), "n_defining": len(self.poles),
            "n_dropped": len(q.dropped), "asked": self.settings.n_factors, "extraction": q.extraction,
            "threshold": threshold(len(self._items)), "alpha": ALPHA,
            "parallel_views": getattr(q.number, "parallel", None), **counted,
            "flags_added": sum(map(len, changes.add.values())), "flags_removed": sum(map(len, changes.remove.values())),
            "other_extraction": other.extraction, "other_views": len(other.factors), "other_n": int(both.sum()),
            "other_ari": adjusted_rand(mine[both], theirs[both]) if both.sum() > 1 else None,
            "ari_types": agreement(mine, clusters).ari,
        }  # fmt: skip

    @cached_property
    def _items(self) -> list[str]:
        return [str(item) for item in self.sorts.sort.columns]

    @cached_property
    def _names(self) -> list[str]:
        return [str(factor.number + 1) for factor in self.q.factors]

    def scores(self) -> pd.DataFrame:
        rows = [
            {"view": view, "item": item, "z": factor.z[s], "place": int(factor.array[s]), **told_of(distinct.get(s))}
            for view, factor in zip(self._names, self.q.factors, strict=True)
            for distinct in [{d.statement: d for d in factor.distinguishing}]
            for s, item in enumerate(self._items)
        ]
        frame = pd.DataFrame(rows, columns=["view", "item", "z", "place", "direction", "level", "p"])
        return frame.astype({"level": float, "p": float})

    def tables(self) -> dict[str, Any]:
        q = self.q
        pairs = list(permutations(range(len(self._names)), 2))
        correlations = [
            {"first": self._names[i], "second": self._names[j], "r": q.correlations[i, j], "sed": q.sed[i, j]}
            for i, j in pairs
        ]  # fmt: skip
        differences = [
            pd.DataFrame({
                "first": self._names[c.first], "second": self._names[c.second], "item": self._items,
                "difference": c.difference, "level": c.level, "p": c.p, "chance_95": c.chance,
            })
            for c in q.comparisons
        ]  # fmt: skip
        return {
            "parallel": self._parallel(), "views": map(self._view, q.factors), "scores": self.scores(),
            "poles": self._poles(), "other_extraction": self._matches(),
            "holders": grouped(self.poles, self.sorts.kinds, "pole"),
            "not_done": [{"place": i, **refusal} for i, refusal in enumerate(self.refused, start=1)],
            "loadings": self._loadings(), "correlations": correlations,
            "differences": pd.concat(differences) if differences else [],
        }  # fmt: skip

    def _parallel(self) -> pd.DataFrame:
        number = self.q.number
        if number is None:
            return pd.DataFrame()
        spectrum = {name: getattr(number, name) for name in ("eigenvalues", "chance_mean", "chance_95", "p")}
        frame = pd.DataFrame(spectrum).rename(columns={"eigenvalues": "eigenvalue"}).head(EIGENVALUES)
        return frame.assign(rank=frame.index + 1, above=frame.index < number.parallel)

    def _loadings(self) -> pd.DataFrame:
        q = self.q
        n, k = q.loadings.shape
        who = self.sorts.sort.index[list(q.rows)] if k else self.sorts.sort.index[:0]
        views = [str(f + 1) for f in range(k)] * (n if k else 0)
        return pd.DataFrame(
            {"participant": np.repeat(who, k), "view": views, "loading": q.loadings.ravel(), "defines": q.flags.ravel()}
        )

    def _ordered(self, z: np.ndarray[Any, Any]) -> list[int]:
        return sorted(range(len(z)), key=lambda s: (-z[s], self._items[s]))

    def _view(self, factor: Any) -> Row:
        ordered = [self._items[s] for s in self._ordered(factor.z)]
        return {
            "view": str(factor.number + 1), "n_held": len(factor.flagged) - len(factor.negative),
            "n_reversed": len(factor.negative), "eigenvalue": factor.eigenvalue, "explained": factor.explained,
            "reliability": factor.reliability, "se": factor.se, "n_capped": factor.capped,
            "n_apart": len(factor.distinguishing), "top": ordered[:EXTREMES], "bottom": ordered[::-1][:EXTREMES],
        }  # fmt: skip

    def _poles(self) -> Iterator[Row]:
        """Who defines each pole, and what it puts where, seen from its side."""
        both = [(f, {1: len(f.flagged) - len(f.negative), -1: len(f.negative)}) for f in self.q.factors]
        sides = [(factor, sign, n) for factor, counts in both for sign, n in counts.items() if n]
        most = max((n for *_, n in sides), default=0)
        tied = sum(n == most for *_, n in sides)
        for factor, sign, n in sides:
            top, *_, bottom = self._ordered(factor.z)[::sign]
            opposed = len(factor.flagged) - n
            largest = "largest_opposed" if opposed else "only" if len(self.q.factors) == 1 else "largest"
            yield {
                "pole": self._pole(factor.number, sign < 0), "view": str(factor.number + 1), "holders": n,
                "opposed": opposed, "n": len(self.q.rows), "n_total": self.q.n_total,
                "standing": "smaller" if n < most else "tied" if tied > 1 else largest,
                "tied": tied if n == most else None, "top": self._items[top], "bottom": self._items[bottom],
                "top_place": sign * int(factor.array[top]), "bottom_place": sign * int(factor.array[bottom]),
            }  # fmt: skip

    def _matches(self) -> Iterator[Row]:
        """For each view the one of the other extraction whose z-scores correlate with it most, sign aside."""
        theirs = np.array([other.z for other in self.other.factors])
        for factor in self.q.factors if len(theirs) else ():
            r = np.corrcoef(factor.z, theirs)[0, 1:]
            best = int(np.abs(r).argmax())
            yield {"view": str(factor.number + 1), "other": str(self.other.factors[best].number + 1), "r": r[best]}


def _pairs(changes: Mapping[str, Sequence[int]], people: pd.Index[Any]) -> list[tuple[int, int]]:
    rows = {str(who): row for row, who in enumerate(people)}
    return [(rows[who], factor - 1) for who, factors in changes.items() for factor in factors]


def _problems(q: QAnalysis, changes: FlagChanges, people: pd.Index[Any]) -> Iterator[Row]:
    """Flags by hand that do not fit: why, who, which view."""
    k, places = q.loadings.shape[1], {str(people[row]): place for place, row in enumerate(q.rows)}
    if not k and changes != FlagChanges():
        yield {"why": "no_factors", "who": None, "view": None, "n": len(places)}
        return
    for name, flagged in (("add", False), ("remove", True)):
        for who, factors in getattr(changes, name).items():
            about: Row = {"who": f"{name}.{who}", "view": None, "n": len(places)}
            if who not in places:
                yield {"why": "no_sort", **about}
                continue
            for factor in factors:
                if factor > k:
                    yield {"why": "no_factor", **about, "view": factor, "n": k}
                elif bool(q.flags[places[who], factor - 1]) != flagged:
                    yield {"why": "not_flagged" if flagged else "flagged", **about, "view": factor}


# --- agents -----------------------------------------------------------------------------------------------------------


def _agents(sorts: Sorts, clusters: Clusters, views: Views, placed: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    sure = clusters.sure
    columns = {
        "stakeholder_type": sorts.kinds, "archetype": clusters.letters, "q_factor": views.poles,
        "probability": None if sure is None else pd.Series(
            sure.to_numpy()[np.arange(len(sure)), clusters.typology.labels], index=sure.index),
        "silhouette": clusters.fits(), "left_out": sorts.reason.where(sorts.reason.ne("")), **placed, **scores,
    }  # fmt: skip
    return pd.DataFrame(columns, index=sorts.reason.index).rename_axis("participant").reset_index()


def alike(analysis: Analysis, main: Analysis) -> Analysis:
    """Tables whose types bear the names of the main arm's that they share most members with.

    Each is matched at most once (Kuhn 1955); a type without a match keeps a name of its own.
    """
    theirs, mains = (arm.tables["agents"].set_index("participant")["archetype"].dropna() for arm in (analysis, main))
    if theirs.empty or mains.empty:
        return analysis
    both = pd.crosstab(theirs, mains.reindex(theirs.index))
    rows, columns = scipy.optimize.linear_sum_assignment(-both.to_numpy())
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    names = {str(name): f"{name}′" for name in analysis.tables["types"]["type"]}
    names |= {str(both.index[r]): str(both.columns[c]) for r, c in pairs if both.iat[r, c]}
    tables = dict(analysis.tables)
    for name in ("types", "type_items", "type_groups", "membership", "agents"):
        column = "archetype" if name == "agents" else "type"
        renamed = [names.get(letter, letter) for letter in tables[name][column]]
        tables[name] = tables[name].assign(**{column: pd.Series(renamed, tables[name].index, dtype=object)})
    return replace(analysis, tables=tables)


# --- The sorts for other Q software: PQMethod's .dat and a plain table of statements × sorts -------------------------

MOST_SORTS = 999  # PQMethod keeps their number in three characters
TITLE = 60


def complete_sorts(frame: pd.DataFrame, grid: Mapping[int, int], statements: list[str]) -> pd.DataFrame:
    """Participants × statements: the complete legal sorts among rows of one arm, in their order."""
    sort = wide(frame, statements)
    return sort[legal(sort.to_numpy(), grid)].astype(int)


def sorts_csv(sort: pd.DataFrame) -> str:
    """Statements in lines, sorts in columns, named by participant: what KADE and R's qmethod read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["statement", *sort.index])
    writer.writerows([item, *column] for item, column in zip(sort.columns, sort.T.to_numpy().tolist(), strict=True))
    return text.getvalue()


def pqmethod_dat(sort: pd.DataFrame, grid: Mapping[int, int], title: str) -> str | None:
    """PQMethod's fixed columns, or None for more than 999 sorts.

    First line: three characters each for 0, the number of sorts, the number of statements, and a title. Second: lowest
    and highest column and how many statements each column takes. Then a line a sort: ten characters of name (its
    number, in the order of `sorts_csv`), two characters a statement. A column that no statement may take counts 0.
    """
    if len(sort) > MOST_SORTS:
        return None
    low, high = int(places(grid)[0]), int(places(grid)[-1])
    counts = [grid.get(column, 0) for column in range(low, high + 1)]
    plain = " ".join(title.encode("ascii", "replace").decode("ascii").split())[:TITLE]
    lines = [f"{0:3d}{len(sort):3d}{sort.shape[1]:3d} {plain}", "".join(f"{n:3d}" for n in (low, high, *counts))]
    rows = sort.to_numpy().tolist()
    lines += [f"{f'sort{i:03d}':<10}" + "".join(f"{place:2d}" for place in row) for i, row in enumerate(rows, 1)]
    return "\n".join(lines) + "\n"


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


OF_SORTS = (coherence, order_smoothness, persona_flattening)
"""Checks that a grid leaves open."""


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Structure; coherence, order and profiles of the sorts, whose grid settles style and entropy; the ratings beside
    them as anywhere."""
    rows = checkable(rows)
    n, beyond = (analysis.count(key) for key in ("n", "n_components"))
    yield "", two_components(analysis.figure("first_two"), n, beyond)
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        sorts, ratings = of_phase[forced(of_phase)], of_phase[~forced(of_phase)]
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in OF_SORTS))
        of_sorts = [check.__name__ for check in OF_SORTS] if len(sorts) else ()
        yield from each(phase, (check for check in scales(ratings, humans) if check.name not in of_sorts))
    yield from gaps(rows)


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """A statement belongs to the sort and has the grid's columns; an axis has its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        columns = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=columns[0], scale_max=columns[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


TYPOLOGY = (
    "arms", "partial", "participation", "left_out", "grid", "items", "distribution", "types_tried", "type_items",
    "type_groups", "agents", "membership",
)  # fmt: skip
Q = (
    "arms", "items", "parallel", "views", "scores", "poles", "holders", "differences", "correlations",
    "other_extraction", "not_done",
)  # fmt: skip
PCA = ("arms", "components", "component_loadings")
"""What is in typology.json, qmethod.json and pca.json beside the facts."""


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """The rows, the typology with everything it rests on, the components, and the Q analysis."""

    def tables(names: Iterable[str], **more: Any) -> Row:
        return {name: results[name] for name in (*PRESENTATION.facts, *names)} | more

    agents = {row["participant"]: row for row in results.rows("agents")}
    coordinates = [
        {name: row[name] for name in ("participant", "pc1", "pc2", "pc3")}
        for row in agents.values()
        if row["pc1"] is not None
    ]
    return {
        "responses.jsonl": lines(frame),
        **_for_other_software(results, frame),
        "typology.json": tables(TYPOLOGY, archetypes=results["types"]),
        "pca.json": tables(PCA, scores=coordinates),
        "qmethod.json": tables(Q, members=list(_members(results.rows("loadings"), agents))),
    }


def _members(loadings: Iterable[Mapping[str, Any]], agents: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    """A row a sort: loadings in the order of the views, the views that it defines, and what the agent is beside."""
    for who, group in groupby(loadings, key=itemgetter("participant")):
        rows, agent = list(group), agents[who]
        yield {
            "participant": who, "factor": agent["q_factor"], "flagged": [row["view"] for row in rows if row["defines"]],
            "loadings": [row["loading"] for row in rows], "archetype": agent["archetype"],
            "membership": agent["probability"],
        }  # fmt: skip


def _for_other_software(results: WholeResults, frame: pd.DataFrame) -> dict[str, str]:
    """The sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(row["place"]): int(row["n"]) for row in results.rows("grid")}
    main = frame[frame["arm"].isin(cast("list[str]", results["arms"]))] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, [str(row["item"]) for row in results.rows("items") if row["part"] == "sort"])
    if sorts.empty:
        return {}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return {"sorts.csv": sorts_csv(sorts), **({"pqmethod.dat": dat} if dat else {})}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    alike=alike,
)
