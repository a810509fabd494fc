"""What a run's replicates say: where its answers vary, and which claims across methods hold when all is asked again.

A replicate is an arm that was asked everything again under another seed or by another model. Each claim is made anew from
every replicate alone, with that arm in the main arm's place, and judged by `judge_claim`. Measured by: a claim whose
contrast turns round in one of three replicates is fragile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd
from pydantic import JsonValue
from scipy.optimize import linear_sum_assignment

from enquete.analysis.components_of_variance import VarianceComponents, variance_components
from enquete.analysis.replicates import FEWEST, Replicated, judge_claim
from enquete.checkpoints.ledger import Failure
from enquete.reports.claims import DIGITS, Claim
from enquete.reports.context import jsonable
from enquete.reports.crossing import cross
from enquete.reports.crossing_inputs import Missing, Results, archetypes
from enquete.reports.findings import find
from enquete.reports.health_answers import rounds
from enquete.reports.reading import RunReading

ROLES = ("main", "replicate")


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance components of the closed answers of one methodology and phase, before any feedback."""

    methodology: str
    phase: str
    found: VarianceComponents


@dataclass(frozen=True)
class Replicates:
    """arms: the main arm first. claims: by claim id, empty where the run has no replicate."""

    arms: tuple[str, ...] = ()
    claims: Mapping[str, Replicated] = field(default_factory=dict)
    spread: tuple[Spread, ...] = ()
    bugs: tuple[Failure, ...] = ()

    def as_json(self) -> JsonValue:
        return jsonable(
            {"arms": list(self.arms), "fewest": FEWEST, "claims": {name: asdict(one) for name, one in self.claims.items()},
             "variance_components": [asdict(one) for one in self.spread]}
        )  # fmt: skip


def replicate(reading: RunReading, frame: pd.DataFrame, results: Results, claims: Sequence[Claim]) -> Replicates:
    """Claims over the replicates of a run, and where its answers vary; empty without replicates. frame: all arms."""
    arms = [arm for arm in reading.record.arms if arm.role == "replicate"]
    if not arms:
        return Replicates()
    earlier = frame[frame["arm_role"].eq("main") & ~frame["run_id"].isin(reading.own_runs)]
    again: list[dict[str, Claim]] = []
    bugs: list[Failure] = []
    for arm in arms:
        rows = standing_in(frame, arm.id, earlier)
        found = find(reading, rows, arm=arm)
        bugs += found.bugs
        again.append(of(cross(named_alike(found.results, results), rows).claims))
    return Replicates(
        (reading.record.main.id, *(arm.id for arm in arms)), judged(claims, again), tuple(spreads(frame)), tuple(bugs)
    )


def of(claims: Sequence[Claim]) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims}


def standing_in(frame: pd.DataFrame, arm: str, earlier: pd.DataFrame) -> pd.DataFrame:
    """The rows of one arm as if it were the main one; a T0 that an earlier run measured is everybody's."""
    own = frame[frame["arm"].eq(arm)]
    return pd.concat([earlier, own], ignore_index=True).assign(arm_role="main")


def named_alike(found: Results, main: Results) -> Results:
    """Findings whose archetypes bear the names of the main arm's that they share most members with.

    Names are arbitrary; each is matched at most once (Kuhn 1955), an archetype without a match keeps a name of its own.
    """
    labels, theirs = archetypes(main), archetypes(found)
    if isinstance(labels, Missing) or isinstance(theirs, Missing):
        return found
    both = pd.crosstab(theirs, labels.reindex(theirs.index))
    rows, columns = linear_sum_assignment(-both.to_numpy())
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    names = {_bare(str(both.index[r])): _bare(str(both.columns[c])) for r, c in pairs if both.iat[r, c]}
    renamed = {**found["diversity"]}
    for part in ("archetypes", "members"):
        renamed[part] = [_named(one, names) for one in _listed(renamed.get(part))]
    return {**found, "diversity": renamed}


def _bare(group: str) -> str:
    return group.partition(":")[2]


def _named(one: Mapping[str, JsonValue], names: Mapping[str, str]) -> dict[str, JsonValue]:
    name = one.get("archetype")
    return {**one, "archetype": names.get(str(name), f"{name}′")} if name is not None else {**one}


def _listed(value: JsonValue) -> list[Mapping[str, JsonValue]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


# --- claims ----------------------------------------------------------------------------------------------------------


def judged(claims: Sequence[Claim], again: Sequence[Mapping[str, Claim]]) -> dict[str, Replicated]:
    """Each claim over the main arm and the replicates."""
    return {
        claim.id: judge_claim([contrast(claim, claim), *(contrast(claim, made.get(claim.id)) for made in again)])
        for claim in claims
    }


def contrast(claim: Claim, made: Claim | None) -> float | None:
    """The claim's figure in a replicate: its largest group minus its smallest, the groups as the claim names them.

    0 where both print alike, or where the replicate says it of another scenario: another side, not another size. None
    where the replicate does not make the claim or lacks a group.
    """
    if made is None:
        return None
    if made.terms.get("scenario") != claim.terms.get("scenario"):
        return 0.0
    values = {group.group: group.value for group in made.groups}
    high, low = (values.get(claim.groups[place].group) for place in (0, -1))
    if high is None or low is None:
        return None
    digits = DIGITS["mean"]
    return 0.0 if f"{high:.{digits}f}" == f"{low:.{digits}f}" else high - low


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
