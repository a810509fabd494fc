"""What a run's replicates say: where its answers vary, and which findings hold when all is asked again.

A replicate is an arm that was asked everything again under another seed or by another model. The
methodologies' verdicts are made anew from every replicate alone, with that arm in the main arm's place. The main
arm chose what to claim and is no witness of it: `judge_claim` counts the replicates only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement.held import ALPHA, Replicated, fewest, judge_claim
from enquete.analysis.agreement.variance import VarianceComponents, variance_components
from enquete.checkpoints.ledger import Failure
from enquete.reports.context import Found, jsonable
from enquete.reports.evaluation import Evaluation, Headline, Shown, evaluations
from enquete.reports.findings import Findings, find
from enquete.reports.health.occasions import rounds
from enquete.reports.results import headlines as declared_headlines
from enquete.reports.results import read_results
from enquete.reports.run_reading import RunReading
from enquete.state.asking import Language

Results = Mapping[str, Found]

ROLES = ("main", "replicate")


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance components of the closed answers of one methodology and phase, before any feedback."""

    methodology: str
    phase: str
    found: VarianceComponents


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding of the main arm with its figure in each run, and what the replicates make of it."""

    main: Shown
    further: tuple[Shown, ...]  # by replicate, in their order
    held: Replicated
    agreeing: tuple[bool | None, ...] = ()  # by replicate; None where it does not measure it

    def as_json(self) -> dict[str, JsonValue]:
        return {**asdict(self.held), "main": self.main, "further": list(self.further), "agreeing": list(self.agreeing)}


@dataclass(frozen=True)
class Replicates:
    """arms: the main arm first; empty where the run has no replicate."""

    arms: tuple[str, ...] = ()
    headlines: Sequence[tuple[Headline, Judged]] = ()
    shared_t0: bool = False  # an earlier run's T0 is that of all arms
    spread: tuple[Spread, ...] = ()
    bugs: tuple[Failure, ...] = ()

    @property
    def judged(self) -> list[Judged]:
        return [found for _, found in self.headlines]

    def as_json(self) -> JsonValue:
        listed = {
            one.id: {"methodology": one.methodology, "kind": one.kind, "about": list(one.about), **found.as_json()}
            for one, found in self.headlines
        }
        return jsonable(
            {"arms": list(self.arms), "alpha": ALPHA, "fewest": fewest(), "shared_t0": self.shared_t0,  "headlines": listed,
             "variance_components": [asdict(one) for one in self.spread]}
        )  # fmt: skip


def replicate(reading: RunReading, frame: pd.DataFrame, main: Findings) -> Replicates:
    """Findings over the replicates of a run, and where its answers vary; empty without replicates. frame: all arms."""
    arms = [arm for arm in reading.record.arms if arm.role == "replicate"]
    if not arms:
        return Replicates()
    earlier, own = taken_over(frame, reading.own_runs), evaluations(reading.record.methods)
    again: list[Results] = []
    bugs: list[Failure] = []
    for arm in arms:
        rows = standing_in(frame, arm.id, earlier)
        found = find(reading, rows, arm=arm)
        bugs += found.bugs
        again.append(alike(own, found, main))
    language, shared_t0 = reading.language, frozenset(earlier.loc[earlier["phase"].eq("T0"), "methodology"])
    said = headlines(own, main.results, language)
    others = [headlines(own, one, language) for one in again]
    return Replicates(
        (reading.record.main.id, *(arm.id for arm in arms)),
        judged_headlines(said, others, shared_t0),
        bool(shared_t0),
        tuple(spreads(frame)),
        tuple(bugs),
    )


def alike(own: Mapping[str, Evaluation], found: Findings, main: Findings) -> Results:
    """A replicate's findings, with arbitrary names (of groups, say) as in the main arm's."""
    results = dict(found.results)
    for name in found.analyses.keys() & main.analyses.keys():
        if (rename := own[name].alike) is not None:
            renamed = rename(found.analyses[name], main.analyses[name])
            results[name] = {**results[name], **renamed.as_json(own[name].presentation)}
    return results


def headlines(own: Mapping[str, Evaluation], results: Results, language: Language) -> dict[str, Headline]:
    """All that a run measures, by id; the main arm's results decide which of them are headlines (`leads`)."""
    made = (
        replace(one, methodology=name)
        for name, found in results.items()
        if (presentation := own[name].presentation) is not None
        for one in declared_headlines(read_results(name, presentation, found, language))
    )
    return {one.id: one for one in made}


def taken_over(frame: pd.DataFrame, own_runs: Iterable[str]) -> pd.DataFrame:
    """Rows of the main arm that an earlier run measured; a T0 among them is that of every arm."""
    return frame[frame["arm_role"].eq("main") & ~frame["run_id"].isin(list(own_runs))]


def standing_in(frame: pd.DataFrame, arm: str, earlier: pd.DataFrame) -> pd.DataFrame:
    """The rows of one arm as if it were the main one; a T0 that an earlier run measured is everybody's."""
    own = frame[frame["arm"].eq(arm)]
    return pd.concat([earlier, own], ignore_index=True).assign(arm_role="main")


# --- findings --------------------------------------------------------------------------------------------------------


def judged_headlines(
    main: Mapping[str, Headline], again: Sequence[Mapping[str, Headline]], shared_t0: Collection[str] = ()
) -> list[tuple[Headline, Judged]]:
    """Each headline of the main arm by the replicates; one that a replicate does not measure is missing there."""
    found = []
    for name, one in main.items():
        if one.leads:
            others = [made.get(name) for made in again]
            said = [other.said if other else None for other in others]
            held = judge_claim(one.said, said, independent=_apart((one.methodology,), shared_t0))
            shown = tuple(other.shown if other else None for other in others)
            agreeing = tuple(None if each is None else each == one.said for each in said)
            found.append((one, Judged(one.shown, shown, held, agreeing)))
    return found


def _apart(methods: Sequence[str], shared_t0: Collection[str]) -> bool:
    """Whether the runs measure apart what the finding rests on: not where all measure change from the same T0. shared_t0:
    methodologies that do."""
    return not set(methods) & set(shared_t0)


# --- where answers vary ----------------------------------------------------------------------------------------------


def spreads(frame: pd.DataFrame) -> Iterator[Spread]:
    """Closed answers of main arm and replicates as shares of the scale's width, rekeyed, by methodology and phase."""
    rows = frame[frame["arm_role"].isin(ROLES) & frame["scale_min"].notna()]
    for (name, phase), own in rows.groupby(["methodology", "phase"], sort=False):
        first = rounds(own)[:1]
        before = own[own["round"].isin(first)]
        if before["arm"].nunique() > 1:
            yield Spread(str(name), str(phase), variance_components(_values(before)))


def _values(rows: pd.DataFrame) -> pd.DataFrame:
    low, high = (rows[end].astype(float) for end in ("scale_min", "scale_max"))
    value = np.asarray((rows["value_rekeyed"].astype(float) - low) / (high - low))
    renamed = rows.rename(columns={"participant": "agent", "item_id": "item", "arm": "replicate"})
    return renamed[["agent", "item", "model", "replicate"]].assign(value=value)
