"""Instrument health: checks that tell whether a run's answers can be used, each with its value, threshold and verdict.

A check that the data do not allow is "not computable" with the reason, never a pass. Thresholds are proposals; human
benchmarks are those of facts about surveys of people (share of endpoints .29, of the middle .32).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.reports.context import RESPONDED

Verdict = Literal["ok", "flagged", "not_computable"]
Results = Mapping[str, Mapping[str, JsonValue]]

MOST_STILL = 0.80  # share of agents without any change, or turning round: flagged above
LEAST_VARIANCE = 0.30  # of the first two components: flagged below
MOST_UNREVISED = 0.90  # share of panelists whose last ratings equal their first: flagged above
BELOW_ALL = float(np.nextafter(1.0, 0.0))  # flagged if it is all of them
MOST_FLAT = 0.20  # share of items with entropy below LEAST_ENTROPY: flagged above
MOST_GAPS = 0.05  # refused, repaired, invalid, failed: flagged above
MOST_ACQUIESCENCE = 0.5  # scale points: flagged above
LEAST_ENTROPY = 0.5  # normalised: flagged below
ENDS, MIDPOINT = (0.145, 0.58), (0.16, 0.64)  # half and twice the human .29 and .32: flagged outside
ANSWERS_A_POINT = 2  # with fewer answers a scale point, entropy is low by itself
GAPS = ("repaired", "refused", "invalid", "failed")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One check. `threshold` as (lowest, highest) that is still fine, None where there is no such end."""

    id: str
    methodology: str
    value: float | None
    n: int
    n_total: int
    threshold: tuple[float | None, float | None]
    verdict: Verdict
    why: str = ""  # key of health_text.WHY where it is not computable
    phase: str = ""
    shown: Literal["share", "mean"] = "share"


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


@dataclass(frozen=True)
class Health:
    """All checks, and the distribution shape of every closed item."""

    diagnostics: tuple[Diagnostic, ...] = ()
    shapes: tuple[Shape, ...] = ()

    @property
    def flagged(self) -> list[Diagnostic]:
        return [one for one in self.diagnostics if one.verdict == "flagged"]


def examine(results: Results, frame: pd.DataFrame) -> Health:
    """frame: the response table of the run; only rows of the main arm are read."""
    rows = frame[frame["arm_role"].eq("main")]
    found = tuple(shapes(rows))
    asked = list(dict.fromkeys(rows["methodology"]))
    diagnostics: list[Diagnostic] = []
    for name in asked:
        if name in _OWN:
            diagnostics += _OWN[name](results.get(name, {}), rows[rows["methodology"].eq(name)])
        diagnostics += gaps(name, rows[rows["methodology"].eq(name)])
        diagnostics += style(name, [shape for shape in found if shape.methodology == name])
    return Health(tuple(diagnostics), found)


def judged(
    name: str,
    methodology: str,
    value: float | None,
    n: int,
    n_total: int,
    *,
    least: float | None = None,
    most: float | None = None,
    why: str = "",
    phase: str = "",
    shown: Literal["share", "mean"] = "share",
) -> Diagnostic:
    """A check with its verdict: exactly on a threshold is still fine."""
    verdict: Verdict = "ok"
    if value is None:
        verdict = "not_computable"
    elif (least is not None and value < least) or (most is not None and value > most):
        verdict = "flagged"
    return Diagnostic(
        name, methodology, value, n, n_total, (least, most), verdict, why if value is None else "", phase, shown
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# --- longitudinal ----------------------------------------------------------------------------------------------------


def longitudinal(found: Mapping[str, JsonValue], rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Agents that never move, and agents that turn round; only where T0 was measured."""
    pairs = _pairs(rows)
    n_total = int(rows["participant"].nunique())
    why = _no_drift(found, pairs)
    agents = pairs.groupby("participant") if not why else None
    still = agents["moved"].max().eq(0) if agents is not None else None
    turned = agents["turned"].mean().ge(0.5) if agents is not None else None
    for name, share in (("zero_drift", still), ("flipping", turned)):
        value = None if share is None else float(share.mean())
        n = 0 if share is None else len(share)
        yield judged(name, "longitudinal", value, n, n_total, most=MOST_STILL, why=why)
    yield from _acquiescence(rows)


def _no_drift(found: Mapping[str, JsonValue], pairs: pd.DataFrame) -> str:
    """Why there is no drift to look at; "" where there is."""
    kind = found.get("kind")
    if kind == "experience_effect":
        return "reconstructed"
    if kind != "drift":
        return "one_wave"
    if _mapping(found.get("drift")).get("interpretable") is False:
        return "incomparable"
    return "" if len(pairs) else "no_pairs"


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Closed answers given in both waves: whether they moved, and whether they crossed the middle of the scale."""
    closed = rows[rows["value"].notna() & rows["scale_min"].notna()]
    waves = {w: closed[closed["phase"].eq(w)] for w in ("T0", "T1")}
    keys = ["participant", "item_id"]
    scale = ["scale_min", "scale_max"]
    both = waves["T0"][[*keys, *scale, "value"]].merge(waves["T1"][[*keys, "value"]], on=keys, suffixes=("_0", "_1"))
    middle = (both["scale_min"].astype(float) + both["scale_max"].astype(float)) / 2
    before, after = both["value_0"] - middle, both["value_1"] - middle
    return both.assign(moved=before.ne(after).astype(int), turned=(before * after).lt(0).astype(int))


def _acquiescence(rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """(mean of forward-keyed + mean of reverse-keyed items)/2 − midpoint, on raw answers: agreeing to both sides.

    Rests on items of the most frequent scale, because points of different scales are not comparable.
    """
    for phase, wave in rows.groupby("phase"):
        closed = wave[wave["scale_min"].notna()]
        scales = closed.groupby(["scale_min", "scale_max"]).size()
        if scales.empty:
            continue
        low, high = max(scales.index.tolist(), key=lambda scale: int(scales[scale]))
        own = closed[closed["scale_min"].eq(low) & closed["scale_max"].eq(high)]
        means = own.dropna(subset=["value"]).groupby("reverse_keyed")["value"].mean()
        known = len(means) == 2 and means.notna().all()
        value = float(means.mean() - (low + high) / 2) if known else None
        why = "" if known else "no_answers" if means.empty else "one_keying"
        n = int(own["value"].notna().sum())
        yield judged(
            "acquiescence", "longitudinal", value, n, len(own), least=-MOST_ACQUIESCENCE, most=MOST_ACQUIESCENCE,
            why=why, phase=str(phase), shown="mean",
        )  # fmt: skip


# --- the other methodologies -----------------------------------------------------------------------------------------


def diversity(found: Mapping[str, JsonValue], rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Variance of the first two principal components, as the analysis found it."""
    pca = _mapping(found.get("pca"))
    first_two, n = pca.get("first_two"), pca.get("n_agents")
    value = float(first_two) if isinstance(first_two, int | float) else None
    n_total = int(rows["participant"].nunique())
    why = "alike" if pca.get("reason") == "alike" else "no_pca"
    n = n if isinstance(n, int) else 0
    yield judged("two_components", "diversity", value, n, n_total, least=LEAST_VARIANCE, why=why)


def delphi(found: Mapping[str, JsonValue], rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Panelists whose last revision left every rating as it first was."""
    same = _mapping(found.get("unchanged"))
    n, paired, total = (same.get(key) for key in ("n_agents", "n_agents_paired", "n_agents_total"))
    value = float(n) / paired if isinstance(n, int) and isinstance(paired, int) and paired else None
    yield judged(
        "unrevised", "delphi", value, paired or 0, total or int(rows["participant"].nunique()), most=MOST_UNREVISED,
        why="no_revision",
    )  # fmt: skip


def scenario(found: Mapping[str, JsonValue], rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Agents that find every scenario equally desirable: flagged if all do."""
    wanted = _mapping(found.get("polarity")).get("desirability")
    listed = found.get("alike")
    alike = next((a for a in listed if _mapping(a).get("dimension") == wanted), {}) if isinstance(listed, list) else {}
    share, n = _mapping(alike).get("share"), _mapping(alike).get("n_complete")
    value = float(share) if isinstance(share, int | float) else None
    why = "no_desirability" if wanted is None else "no_complete"
    total = int(rows["participant"].nunique())
    yield judged("alike", "scenario", value, n if isinstance(n, int) else 0, total, most=BELOW_ALL, why=why)


_OWN = {"longitudinal": longitudinal, "diversity": diversity, "delphi": delphi, "scenario": scenario}


# --- every methodology -----------------------------------------------------------------------------------------------


def gaps(name: str, rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Shares of answers that were repaired, refused, invalid or failed, of those that were asked."""
    asked = rows[rows["status"].ne("not_reached")]
    for status in GAPS:
        value = float(asked["status"].eq(status).mean()) if len(asked) else None
        yield judged(status, name, value, len(asked), len(rows), most=MOST_GAPS, why="no_answers")


def style(name: str, found: list[Shape]) -> Iterator[Diagnostic]:
    """Shares of endpoints and of midpoints over all closed answers, and of items that hardly vary. A forced grid has none."""
    if name == "diversity":
        found = [shape for shape in found if shape.scale_min > 0]  # places of a sort are given by its grid
    first = {shape.item: shape.round for shape in reversed(found)}
    found = [shape for shape in found if shape.round == first[shape.item]]  # a revision after feedback is no style
    if not found:
        return
    n_total = sum(shape.n_total for shape in found)
    for key, bounds in (("ends", ENDS), ("midpoint", MIDPOINT)):
        known = [(getattr(shape, key), shape.n) for shape in found if getattr(shape, key) is not None]
        n = sum(weight for _, weight in known)
        value = float(sum(share * weight for share, weight in known) / n) if n else None
        why = "no_midpoint" if any(shape.n for shape in found) else "no_answers"
        yield judged(f"style_{key}", name, value, n, n_total, least=bounds[0], most=bounds[1], why=why)
    enough = [shape for shape in found if shape.n >= ANSWERS_A_POINT * (shape.scale_max - shape.scale_min + 1)]
    known_items = [shape.entropy for shape in enough if shape.entropy is not None]
    flat = float(np.mean([one < LEAST_ENTROPY for one in known_items])) if known_items else None
    yield judged("flat_items", name, flat, len(known_items), len(found), most=MOST_FLAT, why="few_answers")


def shapes(rows: pd.DataFrame) -> Iterator[Shape]:
    """Every closed item by phase and round, in the table's order."""
    closed = rows[rows["scale_min"].notna()]
    keys = ["methodology", "phase", "round", "item_id"]
    for _, group in closed.groupby(keys, sort=False):
        name, phase, number, item = group[keys].iloc[0].tolist()
        yield _shape((str(name), str(phase), int(number), str(item)), group)


def _shape(key: tuple[str, str, int, str], rows: pd.DataFrame) -> Shape:
    low, high = int(rows["scale_min"].iloc[0]), int(rows["scale_max"].iloc[0])
    values = rows.loc[rows["status"].isin(RESPONDED), "value"].dropna().to_numpy(dtype=float)
    n, middle = len(values), (low + high) / 2
    return Shape(
        *key, low, high, n, len(rows),
        mean=float(values.mean()) if n else None,
        midpoint=float((values == middle).mean()) if n and middle.is_integer() else None,
        ends=float(np.isin(values, (low, high)).mean()) if n else None,
        entropy=entropy(values, high - low + 1),
    )  # fmt: skip


def entropy(values: np.ndarray, points: int) -> float | None:
    """H / log K = −Σ pₖ log pₖ / log K over the K points of the scale; None for fewer than two answers (Shannon 1948)."""
    if len(values) < 2:
        return None
    _, counts = np.unique(values, return_counts=True)
    p = counts / counts.sum()
    return abs(float(-(p * np.log(p)).sum() / np.log(points)))
