"""Whether answers hang together more than answers given at random: the floor below which nothing else can be trusted.

Each figure has its null from the data themselves: the same answers dealt to other agents, so that items keep their
spread and only what ties an agent's answers to each other is lost. Formulas, bounds and minima are those of
`health_thresholds.COHERENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from enquete.analysis.answers import Answers, Flags, Floats, aligned, balanced_families, row_means
from enquete.analysis.health.diagnostics import DECIMALS, TOO_FEW, Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.thresholds import ALPHA, LEAST_IN_FAMILY, LEAST_SHARED, SURE_FROM, SURELY, THRESHOLDS
from enquete.analysis.typology.components import permuted

DRAWS = 199  # p is a multiple of .005
MOST_AGENTS = 1_000  # of more, so many drawn by seed: chance then gives r of .03, and more would cost minutes
ONE_SIDED = 1.645  # standard errors: 95% one-sided


def coherence(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """√(mean r² between items over agents − the same by chance), pairs weighted by the product of their variances, after each
    agent's own level is subtracted: who only says higher or lower numbers than others, whatever is asked, has a style and no
    opinion.

    Weighted, because opinions may divide a panel on few items while all agree, but for noise, on the rest. Sees any
    other structure: types, families, orders. Keying does not matter. A gap counts as its item's mean; forced sorts stay forced
    when dealt. Of more than 1,000 agents so many are drawn by `seed`; `agents_drawn` in the detail. Two nulls are told
    apart: answers at random, to which no item is another than the next (`shared` is 0), and one profile with noise. Where no
    item varies there is one answer and no panel: bad; where fewer than five do, nothing can be said.

    People's panels and answers with nothing in them: tests/reports/README.md.
    """
    x = filled(answers.centred)
    varies = int((x.std(axis=0) > 1e-9).sum()) if len(x) else 0
    counts = {"agents": len(x), "items": answers.items.size}
    if why_not := _short("coherence", counts):
        return judged("coherence", None, counts, why_not=why_not)
    if not varies:
        return judged("coherence", 0.0, counts, ruling=Ruling("bad", "one_answer"))
    if varies < THRESHOLDS["coherence"].least["items"]:
        return judged("coherence", None, counts, why_not="no_variation")
    rng = np.random.default_rng(seed)
    x = x if len(x) <= MOST_AGENTS else rng.permutation(x)[:MOST_AGENTS]
    level_free = centred_agents(x - x.mean(axis=0))
    if float((level_free**2).sum()) < 1e-9:
        return judged("coherence", 0.0, counts, ruling=Ruling("bad", "no_more_than_chance"))
    found = mean_squared_correlation(level_free)
    null = np.array([mean_squared_correlation(centred_agents(permuted(level_free, rng))) for _ in range(DRAWS)])
    beyond, error, p = found - float(null.mean()), float(null.std(ddof=1)), exceeded(found, null)
    shared, shared_error = profiles_alike(x)
    detail: Detail = {
        "mean_squared_r": found,
        "by_chance": float(null.mean()),
        "p": p,
        "agents_drawn": len(x),
        "shared": shared,
    }
    value, most = _root(beyond), _root(beyond + ONE_SIDED * error)
    nothing = shared + ONE_SIDED * shared_error < LEAST_SHARED
    ruling = _floor("coherence", value, most, p, nothing=nothing, sure=len(x) >= SURE_FROM)
    return judged("coherence", value, counts, detail=detail, benchmark=0.0, ruling=ruling)


def _root(x: float) -> float:
    return float(np.sqrt(max(x, 0.0)))


def filled(x: Floats) -> Floats:
    """Gaps as their item's mean; without the agents who answered nothing."""
    return np.where(np.isnan(x), _means(x), x)[~np.isnan(x).all(axis=1)]


def _means(x: Floats) -> Floats:
    known = ~np.isnan(x)
    return np.asarray(np.where(known, x, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), dtype=float)


def centred_items(x: Floats) -> Floats:
    """Distance from the item's mean over agents; NaN stays."""
    return np.asarray(x - _means(x), dtype=float)


def _level_free(x: Floats) -> Floats:
    """Distances from the item's mean, less the agent's mean of them; 0 where there is no answer."""
    x = centred_items(x)
    return np.nan_to_num(x - row_means(x)[:, None])


def centred_agents(x: Floats) -> Floats:
    """Distance from the agent's own mean over items. x: without gaps."""
    return np.asarray(x - x.mean(axis=1, keepdims=True), dtype=float)


def mean_squared_correlation(x: Floats) -> float:
    """Σ s²ᵢⱼ/Σ s²ᵢ·s²ⱼ over pairs i ≠ j: the mean of r² weighted by s²ᵢ·s²ⱼ. x: agents × items, each of which varies."""
    x = x - x.mean(axis=0)
    products = x.T @ x
    sizes = np.diag(products)
    return float(((products**2).sum() - (sizes**2).sum()) / (sizes.sum() ** 2 - (sizes**2).sum()))


def profiles_alike(x: Floats) -> tuple[float, float]:
    """Mean r over items of two agents' answers, items' means left in, and its SE where each agent's answers are in random order.

    Permuting n profiles over S items gives each of the n(n − 1)/2 pairs r of mean 0 and variance 1/(S − 1), uncorrelated
    (Pitman 1937). An agent who gives one answer to everything counts as 0.
    """
    n, size = x.shape
    rows = x - x.mean(axis=1, keepdims=True)
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-9)
    pairs = n * (n - 1) / 2
    total = float((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) / 2
    return total / pairs, float(1 / np.sqrt((size - 1) * pairs))


def _short(name: str, counts: Mapping[str, int]) -> str:
    return next((f"{TOO_FEW}{unit}" for unit, least in THRESHOLDS[name].least.items() if counts[unit] < least), "")


def exceeded(found: float, null: Floats) -> float:
    """Monte-Carlo p, (1 + draws at or above)/(1 + draws). Source: Davison & Hinkley 1997, ch. 4."""
    return float((1 + (null >= found - 1e-12).sum()) / (1 + null.size))


def _floor(name: str, value: float, most: float, p: float, *, nothing: bool = False, sure: bool = True) -> Ruling:
    """Bad where the figure is surely below the floor, or there is nothing else either; no surer than chance and not surely
    below it, it says nothing: too few agents. sure: there are enough of them to call anything bad."""
    floor = THRESHOLDS[name].caution[0] or 0.0
    if sure and (round(most - floor, DECIMALS) < 0 or (nothing and p >= ALPHA)):
        return Ruling("bad", "no_more_than_chance")
    if p >= ALPHA:
        return Ruling("not computed", f"{TOO_FEW}agents")
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
    draws = (_alphas(rng.permuted(x, axis=0), large) for _ in range(DRAWS))
    null = np.array([np.median(list(drawn.values())) for drawn in draws if drawn])
    if not null.size:  # too few agents without a gap for any of them to vary
        return judged("family_alpha", None, counts)
    p = exceeded(value, null)
    ruling = Ruling("fine", "") if p < ALPHA else Ruling("caution", "no_more_than_chance")
    detail: Detail = {"by_family": alphas, "p": p}
    return judged("family_alpha", value, counts, detail=detail, benchmark=float(np.median(null)), ruling=ruling)


def reversed_items(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """r over agents between the means of a family's forward and of its reversed items, as answered and as distances from the
    item's mean, over families keyed both ways: Σ F·R/√(ΣF²·ΣR²).

    What items say makes it negative; above 0 agents agree with an item and with its opposite, and what divides them is how they
    use the scale. The null hands all of an agent's R to another agent, so that families may go together.
    """
    balanced = balanced_families(answers)
    pairs = sum(min(int(forward.sum()), int(turned.sum())) for forward, turned in balanced.values())
    x = centred_items(answers.centred)
    sides = [[np.nan_to_num(row_means(x[:, side[i]])) for side in balanced.values()] for i in (0, 1)]
    counts = {"agents": int((~np.isnan(x)).any(axis=1).sum()), "pairs": pairs}
    if not balanced or _short("reversed_items", counts):
        return judged("reversed_items", None, counts, why_not="" if balanced else "one_keying")
    forward, turned = (np.stack(side, axis=1) for side in sides)
    size, rng = float(np.sqrt((forward**2).sum() * (turned**2).sum())), np.random.default_rng(seed)
    if size < 1e-9:
        return judged("reversed_items", None, counts, why_not="no_variation")
    value = float((forward * turned).sum()) / size
    null = np.array([(forward * rng.permutation(turned)).sum() for _ in range(DRAWS)]) / size
    p = exceeded(value, null)
    ruling = Ruling("bad", "agrees_with_both") if p < SURELY else Ruling("fine", "")
    detail: Detail = {"p": p, "families": [*balanced]}
    return judged("reversed_items", value, counts, detail=detail, ruling=ruling)


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
    """Pearson r of an agent's answers in two waves or rounds, each as distance from its item's mean in that wave and without
    the agent's own level.

    A shift of all agents, such as drift, leaves it alone; so do items that everybody rates high, and agents who rate
    everything high, both times. The null hands whole second waves to other agents.
    """
    both = aligned([before, after])
    x, y = (_level_free(wave) for wave in both.values)
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
