"""Whether answers hang together more than answers given at random: the floor below which nothing else can be trusted.

Each figure has its null from the data themselves: the same answers dealt to other agents, so that items keep their
spread and only what ties an agent's answers to each other is lost. Formulas, bounds and minima are those of
`health_thresholds.COHERENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from enquete.analysis.answers import Answers, Flags, Floats, aligned
from enquete.analysis.health.diagnostics import DECIMALS, Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.thresholds import ALPHA, LEAST_IN_FAMILY, THRESHOLDS

DRAWS = 199  # p is a multiple of .005
MOST_AGENTS = 1_000  # of more, so many drawn by seed: chance then gives r of .03, and more would cost minutes
ONE_SIDED = 1.645  # standard errors: 95% one-sided


def coherence(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """√(mean r² between items over agents − the same by chance), pairs weighted by the product of their variances.

    Weighted, because opinions may divide a panel on few items while all agree, but for noise, on the rest. Sees any
    structure: types, families, styles. Keying does not matter. A gap counts as its item's mean. Of more than 1,000 agents
    so many are drawn by `seed`; `agents_drawn` in the detail.
    """
    x = np.nan_to_num(centred_items(answers.centred))
    x = x[:, (x**2).sum(axis=0) > 1e-9]
    counts = {"agents": int((~np.isnan(answers.value)).any(axis=1).sum()), "items": x.shape[1]}
    if why_not := _none_varies(answers, x) or _short("coherence", counts):
        return judged("coherence", None, counts, why_not=why_not)
    rng = np.random.default_rng(seed)
    x = x if len(x) <= MOST_AGENTS else rng.permutation(x)[:MOST_AGENTS]
    found = mean_squared_correlation(x)
    null = np.array([mean_squared_correlation(rng.permuted(x, axis=0)) for _ in range(DRAWS)])
    beyond, error = found - float(null.mean()), float(null.std(ddof=1))
    detail: Detail = {
        "mean_squared_r": found,
        "by_chance": float(null.mean()),
        "p": exceeded(found, null),
        "agents_drawn": len(x),
    }
    value, most = _root(beyond), _root(beyond + ONE_SIDED * error)
    ruling = _floor("coherence", value, most, exceeded(found, null))
    return judged("coherence", value, counts, detail=detail, benchmark=0.0, ruling=ruling)


def _root(x: float) -> float:
    return float(np.sqrt(max(x, 0.0)))


def mean_squared_correlation(x: Floats) -> float:
    """Σ s²ᵢⱼ/Σ s²ᵢ·s²ⱼ over pairs i ≠ j: the mean of r² weighted by s²ᵢ·s²ⱼ. x: agents × items, each of mean 0 and varying."""
    products = x.T @ x
    sizes = np.diag(products)
    return float(((products**2).sum() - (sizes**2).sum()) / (sizes.sum() ** 2 - (sizes**2).sum()))


def centred_items(x: Floats) -> Floats:
    """Distance from the item's mean over agents; NaN stays."""
    known = ~np.isnan(x)
    means = np.where(known, x, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(x - means, dtype=float)


def _none_varies(answers: Answers, varying: Floats) -> str:
    return "no_variation" if answers.items.size >= THRESHOLDS["coherence"].least["items"] > varying.shape[1] else ""


def _short(name: str, counts: Mapping[str, int]) -> str:
    return next((f"too_few_{unit}" for unit, least in THRESHOLDS[name].least.items() if counts[unit] < least), "")


def exceeded(found: float, null: Floats) -> float:
    """Monte-Carlo p, (1 + draws at or above)/(1 + draws). Source: Davison & Hinkley 1997, ch. 4."""
    return float((1 + (null >= found).sum()) / (1 + null.size))


def _floor(name: str, value: float, most: float, p: float) -> Ruling:
    """Bad only where the figure is surely below the floor and no surer than chance; few agents prove nothing either way."""
    floor = THRESHOLDS[name].caution[0] or 0.0
    if p >= ALPHA:
        return Ruling("bad" if round(most - floor, DECIMALS) < 0 else "caution", "no_more_than_chance")
    return Ruling("caution", "below") if round(value - floor, DECIMALS) < 0 else Ruling("fine", "")


# --- families --------------------------------------------------------------------------------------------------------


def family_alpha(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """Median over families of Cronbach's α of their rekeyed items; families of fewer than three items are left out."""
    members = {str(name): answers.families == name for name in sorted(set(answers.families)) if name}
    large = {name: own for name, own in members.items() if own.sum() >= LEAST_IN_FAMILY}
    x = answers.rekeyed
    alphas = _alphas(x, large)
    counts = {"agents": int((~np.isnan(x)).any(axis=1).sum()), "families": len(alphas)}
    if not large or not alphas or _short("family_alpha", counts):
        return judged("family_alpha", None, counts, why_not="" if large else "small_families")
    value, rng = float(np.median(list(alphas.values()))), np.random.default_rng(seed)
    null = np.array([np.median(list(_alphas(rng.permuted(x, axis=0), large).values())) for _ in range(DRAWS)])
    p = exceeded(value, null)
    ruling = Ruling("fine", "") if p < ALPHA else Ruling("caution", "no_more_than_chance")
    detail: Detail = {"by_family": alphas, "p": p}
    return judged("family_alpha", value, counts, detail=detail, benchmark=float(np.median(null)), ruling=ruling)


def _alphas(x: Floats, families: Mapping[str, Flags]) -> dict[str, float]:
    found = {name: cronbach(x[:, own]) for name, own in families.items()}
    return {name: alpha for name, alpha in found.items() if alpha is not None}


def cronbach(x: Floats) -> float | None:
    """α = k/(k − 1)·(1 − Σ s²ᵢ/s²_total) over agents without a gap; None where the sum does not vary (Cronbach 1951)."""
    whole = x[~np.isnan(x).any(axis=1)]
    if len(whole) < 2 or (total := float(whole.sum(axis=1).var(ddof=1))) < 1e-9:
        return None
    k = x.shape[1]
    return float(k / (k - 1) * (1 - float(whole.var(axis=0, ddof=1).sum()) / total))


# --- the same agents later -------------------------------------------------------------------------------------------


def answer_stability(before: Answers, after: Answers, *, seed: int = 0) -> Diagnostic:
    """Pearson r of an agent's answers in two waves or rounds, each as distance from its item's mean in that wave.

    A shift of all agents, such as drift, leaves it alone; so do items that everybody rates high. The null hands whole
    second waves to other agents.
    """
    both = aligned([before, after])
    x, y = (np.nan_to_num(centred_items(wave)) for wave in both.values)
    short = _short("answer_stability", both.counts)
    size = float(np.sqrt((x**2).sum() * (y**2).sum()))
    if not both.counts["answers"] or short or size < 1e-9:
        why_not = short or ("no_variation" if both.counts["answers"] else "no_pairs")
        return judged("answer_stability", None, both.counts, why_not=why_not)
    value, rng = float((x * y).sum()) / size, np.random.default_rng(seed)
    null = np.array([(x * rng.permutation(y)).sum() for _ in range(DRAWS)]) / size
    p = exceeded(value, null)
    detail: Detail = {"p": p, "se_by_chance": float(null.std(ddof=1))}
    ruling = _floor("answer_stability", value, value + ONE_SIDED * float(null.std(ddof=1)), p)
    return judged("answer_stability", value, both.counts, detail=detail, benchmark=0.0, ruling=ruling)
