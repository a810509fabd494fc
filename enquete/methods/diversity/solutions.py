"""What the result tables are made of: the sorts of all agents, the views they share, and the types they fall into.

A shared view is a Q factor: agents hold it, or its reverse. A type is a cluster: an agent belongs to one. Views are
counted by parallel analysis, types by a test and resampling. An agent without a complete sort that fits the grid and
all axes is left out of types and counted; views need the sort alone. Draws are seeded: same rows, same solutions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.components import Components, explained_by_chance, principal_components, weighted
from enquete.analysis.qmethod import FlagEdits, QAnalysis, legal, q_analysis
from enquete.analysis.typology import TypeChoice, Types, agent_silhouettes, memberships, types
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings, FlagChanges
from enquete.reports.context import wide
from enquete.reports.declarations import Row

SEED = 0
CHANCE_DRAWS = 100
"""Data sets with permuted columns that components are compared with."""
MAX_SCORES = 3
"""Components on which every agent has coordinates."""


@dataclass(frozen=True)
class SortData:
    """The answers of all agents, in the population's order.

    Attributes:
        instrument: what was asked.
        sort, axes: agents × items in the instrument's order, NaN where there is no answer.
        reason: why an agent is left out of types, "" where it is not.
        stakeholder_types: by agent.
        groups: by agent, what agents are compared by.
    """

    instrument: DiversityInstrument
    sort: pd.DataFrame
    axes: pd.DataFrame
    reason: pd.Series[str]
    stakeholder_types: pd.Series[str]
    groups: pd.Series[str]

    @classmethod
    def prepare(cls, frame: pd.DataFrame, instrument: DiversityInstrument, groups: pd.Series[str]) -> SortData:
        everybody = frame["participant"].unique()
        sort = wide(frame, [statement.statement_id for statement in instrument.statements], people=everybody)
        axes = wide(frame, [axis.axis_id for axis in instrument.likert_axes], people=everybody)

        has_gaps = sort.isna().any(axis=1)
        reason = pd.Series("", index=sort.index, dtype="str")
        reason[axes.isna().any(axis=1)] = "axes_incomplete"
        reason[~has_gaps & ~legal(sort.to_numpy(), instrument.distribution)] = "off_grid"
        reason[has_gaps] = "sort_incomplete"

        stakeholder_types = frame.groupby("participant", sort=False)["stakeholder_type"].first()
        return cls(instrument, sort, axes, reason, stakeholder_types, groups)

    @property
    def grid(self) -> Mapping[int, int]:
        """How many statements each place of the grid takes."""
        return self.instrument.distribution

    @cached_property
    def kept(self) -> pd.Index[Any]:
        """The agents with a complete sort that fits the grid, and all axes."""
        return self.reason.index[self.reason.eq("")]

    @cached_property
    def blocks(self) -> list[np.ndarray[Any, Any]]:
        """Sort and axes of the agents that are kept."""
        both = (self.sort.loc[self.kept], self.axes.loc[self.kept])
        return [block.to_numpy() for block in both if block.shape[1]]

    @property
    def items(self) -> list[str]:
        """Ids of statements and axes."""
        return [*map(str, self.sort.columns), *map(str, self.axes.columns)]

    def scales(self) -> dict[str, tuple[int, int]]:
        """Return the lowest and the highest value of every statement and axis."""
        places = list(self.grid)
        statements = {each.statement_id: (places[0], places[-1]) for each in self.instrument.statements}
        axes = {each.axis_id: (1, each.points) for each in self.instrument.likert_axes}
        return {**statements, **axes}


def count_placements(frame: pd.DataFrame, sorts: SortData) -> pd.DataFrame:
    """Return by agent with a complete sort how many placements were moved, and how many it changed itself.

    The column `placed` of the answers holds an agent's own placements; where the last of them is not the value, the
    statement was moved to fit the grid. More than one: the agent was asked again and placed it anew.
    """
    complete = sorts.sort.index[sorts.sort.notna().all(axis=1)]
    is_placement = frame["item_id"].isin(sorts.sort.columns) & frame["participant"].isin(complete)
    rows = frame[is_placement]
    own: list[list[int]] = [[]] * len(rows)
    if "placed" in rows:
        own = [_read_placements(text) for text in rows["placed"]]

    is_moved = [bool(places) and places[-1] != value for places, value in zip(own, rows["value"], strict=True)]
    is_again = [len(places) > 1 for places in own]
    counts = pd.DataFrame({"moved": is_moved, "again": is_again}, index=rows.index)
    by_agent = counts.groupby(rows["participant"], sort=False).sum()
    return by_agent.reindex(complete, fill_value=0).astype(int)


def _read_placements(text: object) -> list[int]:
    places: object = json.loads(text) if isinstance(text, str) and text else None
    return [int(place) for place in places] if isinstance(places, list) else []


@dataclass(frozen=True)
class ComponentSolution:
    """Principal components of sorts and axes, which count alike.

    Attributes:
        items: ids of the columns.
        agents: of the rows.
        weights: what sort and axes were divided by.
        components: with what they explain, or None where agents are too few or do not differ.
        by_chance: the share that each component explains by chance (95%).
    """

    items: list[str]
    agents: pd.Index[Any]
    weights: list[float]
    components: Components | None
    by_chance: np.ndarray[Any, Any]

    @classmethod
    def solve(cls, sorts: SortData) -> ComponentSolution:
        columns, weights = weighted(sorts.blocks)
        components = principal_components(columns) if len(sorts.kept) > 1 else None
        if components is None or not len(components.explained):
            return cls(sorts.items, sorts.kept, weights, None, np.empty(0))
        by_chance = explained_by_chance(sorts.blocks, CHANCE_DRAWS, SEED)[: len(components.explained)]
        return cls(sorts.items, sorts.kept, weights, components, by_chance)

    @property
    def is_above_chance(self) -> np.ndarray[Any, Any]:
        """Of every component, whether it explains more than chance."""
        if self.components is None:
            return np.empty(0, dtype=bool)
        return np.asarray(self.components.explained > self.by_chance)

    def scores(self) -> pd.DataFrame:
        """Return the coordinates of the agents: pc1, pc2, pc3."""
        names = [f"pc{number}" for number in range(1, MAX_SCORES + 1)]
        if self.components is None:
            return pd.DataFrame(columns=names)
        scores = pd.DataFrame(self.components.scores[:, :MAX_SCORES], index=self.agents)
        return scores.reindex(columns=range(MAX_SCORES)).set_axis(names, axis=1)


@dataclass(frozen=True)
class TypeSolution:
    """Types of the agents that are kept, or why there are none. A is the largest."""

    sorts: SortData
    typology: Types

    @classmethod
    def solve(cls, sorts: SortData) -> TypeSolution:
        if not len(sorts.kept):
            return cls(sorts, Types(TypeChoice(1, "few")))
        return cls(sorts, types(sorts.blocks, SEED))

    @property
    def n_types(self) -> int:
        return 0 if self.typology.choice.k == 1 else self.typology.choice.k

    @cached_property
    def letters(self) -> pd.Series[str]:
        """The type of every agent that is kept; empty without types."""
        labels = self.typology.labels
        if labels is None:
            return pd.Series([], dtype=object, index=self.sorts.kept[:0])
        return pd.Series([ascii_uppercase[label] for label in labels], dtype=object, index=self.sorts.kept)

    @cached_property
    def numbers(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The number of the type of every agent there is, −1 where it has none."""
        numbers = np.full(len(self.sorts.reason), -1, dtype=np.int64)
        if self.typology.labels is not None:
            numbers[self.sorts.reason.eq("").to_numpy()] = self.typology.labels
        return numbers

    @cached_property
    def probabilities(self) -> pd.DataFrame | None:
        """Probabilities of membership, agents × types; None without types or where the mixture gives none."""
        labels = self.typology.labels
        if labels is None:
            return None
        shares = memberships(weighted(self.sorts.blocks)[0], labels).probabilities
        if shares is None:
            return None
        return pd.DataFrame(shares, index=self.sorts.kept, columns=list(ascii_uppercase[: shares.shape[1]]))

    def own_probabilities(self) -> pd.Series[float] | None:
        """Return each agent's probability of the type that it was given."""
        if self.probabilities is None:
            return None
        rows = np.arange(len(self.probabilities))
        own = self.probabilities.to_numpy()[rows, self.typology.labels]
        return pd.Series(own, index=self.probabilities.index)

    def silhouettes(self) -> pd.Series[float]:
        """Return how well each agent sits in its type."""
        labels = self.typology.labels
        if labels is None:
            return pd.Series(dtype=float)
        silhouettes = agent_silhouettes(weighted(self.sorts.blocks)[0], labels, SEED)
        return pd.Series(silhouettes, index=self.sorts.kept)


@dataclass(frozen=True)
class ViewSolution:
    """The Q factors of the sorts, numbered from 1.

    A pole is a factor, or one side of a bipolar one: "2", or "1+" and "1-", which sort alike with opposite signs.

    Attributes:
        sorts: of all agents.
        settings: of the run.
        q: the factors with their loadings, flags and scores.
        refused: settings that do not fit these sorts; the automatic solution stands then.
        changes: flags that were changed by hand.
    """

    sorts: SortData
    settings: DiversitySettings
    q: QAnalysis
    refused: tuple[Row, ...]
    changes: FlagChanges

    @classmethod
    def solve(cls, sorts: SortData, settings: DiversitySettings) -> ViewSolution:
        """Return the solution; flags by hand are checked against the automatic ones before any is changed."""
        x, grid, n_factors = sorts.sort.to_numpy(), sorts.grid, settings.n_factors
        refused: list[Row] = []
        try:
            q = q_analysis(x, grid, n_factors=n_factors, seed=SEED)
        except ValueError:
            if n_factors is None:
                raise
            refused.append({"why": "fewer", "who": None, "view": n_factors, "n": len(x)})
            n_factors = None
            q = q_analysis(x, grid, seed=SEED)

        changes = settings.flags
        problems = list(_find_wrong_flags(q, changes, sorts.sort.index))
        if problems or changes == FlagChanges():
            return cls(sorts, settings, q, (*refused, *problems), FlagChanges())
        edits = FlagEdits(
            add=_locate_flags(changes.add, sorts.sort.index), remove=_locate_flags(changes.remove, sorts.sort.index)
        )
        edited = q_analysis(x, grid, n_factors=n_factors, flags=edits, seed=SEED)
        return cls(sorts, settings, edited, tuple(refused), changes)

    @property
    def is_asked_for(self) -> bool:
        """Whether the number of views was set by hand, and these sorts gave as many."""
        return self.settings.n_factors is not None and self.settings.n_factors == self.q.loadings.shape[1]

    @cached_property
    def items(self) -> list[str]:
        """Ids of the statements."""
        return [str(item) for item in self.sorts.sort.columns]

    @cached_property
    def names(self) -> list[str]:
        """Names of the views: "1", "2"."""
        return [str(factor.number + 1) for factor in self.q.factors]

    @cached_property
    def _is_bipolar(self) -> dict[int, bool]:
        return {factor.number: factor.bipolar for factor in self.q.factors}

    def name_pole(self, number: int, is_negative: bool) -> str:
        """Return "2", "1+" or "1-"."""
        if not self._is_bipolar[number]:
            return f"{number + 1}{'-' if is_negative else ''}"
        return f"{number + 1}{'-' if is_negative else '+'}"

    @cached_property
    def poles(self) -> pd.Series[str]:
        """By agent the pole that its sort defines; those who define none, or several, are not in it."""
        groups = pd.Series(self.q.groups(), index=self.sorts.sort.index)
        known = groups[groups.floordiv(2).isin(list(self._is_bipolar))]
        return known.map(lambda group: self.name_pole(group // 2, bool(group % 2))).astype(object)

    def order_statements(self, z: np.ndarray[Any, Any]) -> list[int]:
        """Return the places of the statements, the highest score first, equal ones by their id."""
        return sorted(range(len(z)), key=lambda place: (-z[place], self.items[place]))


def _locate_flags(changes: Mapping[str, Sequence[int]], people: pd.Index[Any]) -> list[tuple[int, int]]:
    """Return changes of flags as pairs of row and factor, both from 0."""
    rows = {str(who): row for row, who in enumerate(people)}
    return [(rows[who], factor - 1) for who, factors in changes.items() for factor in factors]


def _find_wrong_flags(q: QAnalysis, changes: FlagChanges, people: pd.Index[Any]) -> Iterator[Row]:
    """Yield the changes of flags that do not fit: why, who, which view."""
    n_factors = q.loadings.shape[1]
    places = {str(people[row]): place for place, row in enumerate(q.rows)}
    if not n_factors:
        if changes != FlagChanges():
            yield {"why": "no_factors", "who": None, "view": None, "n": len(places)}
        return

    for name, wanted, should_be_flagged in (("add", changes.add, False), ("remove", changes.remove, True)):
        for who, factors in wanted.items():
            about: Row = {"who": f"{name}.{who}", "view": None, "n": len(places)}
            if who not in places:
                yield {"why": "no_sort", **about}
                continue
            for factor in factors:
                if factor > n_factors:
                    yield {"why": "no_factor", **about, "view": factor, "n": n_factors}
                elif bool(q.flags[places[who], factor - 1]) != should_be_flagged:
                    why = "not_flagged" if should_be_flagged else "flagged"
                    yield {"why": why, **about, "view": factor}
