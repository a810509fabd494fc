"""Whether answers hang together: coherence, likeness in the order shown, response style, answers without content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.answers import Answers, Codes, Flags, aligned, balanced_families, row_means
from enquete.analysis.diagnostics import (
    ALPHA,
    DECIMALS,
    LEAST_IN_FAMILY,
    LEAST_SHARED,
    LONGEST_RUN,
    RUN_OF_ITEMS,
    SURE_FROM,
    SURELY,
    THRESHOLDS,
    TOO_FEW,
    Detail,
    Diagnostic,
    Ruling,
    judged,
)
from enquete.analysis.estimates import MOST_AGENTS, Floats
from enquete.state.asking import RESPONDED

DRAWS = 199  # p is a multiple of .005
FITTING_STEPS = 15  # of a profile with noise
ONE_SIDED = 1.645  # standard errors: 95% one-sided


def coherence(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """√(mean r² between items over agents − the same by chance), pairs weighted by the product of their variances,
    after each agent's own level is subtracted and its answers are brought to one spread: who only says higher or lower
    or more extreme numbers than others, whatever is asked, has a style and no opinion.

    Chance is one profile that all agents share, each with a level and a width of noise of its own, answered on the
    same points (`profile_with_noise`): noise that is wide in some agents and narrow in others, and that the ends of the
    scale cut off, makes items go together, too. Dealing each item's answers to other agents, which takes an agent's
    width away, let 96 of 96 such panels of 50 pass.

    Weighted, because opinions may divide a panel on few items while all agree, but for noise, on the rest. Sees any
    other structure: types, families, orders. Keying does not matter. A gap counts as its item's mean; of forced sorts
    chance is forced, too. Of more than 1,000 agents so many are drawn by `seed`; `agents_drawn` in the detail. Two
    nulls are told apart: answers at random, to which no item is another than the next (`shared` is 0), and one profile
    with noise. Where no item varies there is one answer and no panel: bad; where fewer than five do, nothing can be
    said.

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
    if float((centred_agents(x - x.mean(axis=0)) ** 2).sum()) < 1e-9:
        return judged("coherence", 0.0, counts, ruling=Ruling("bad", "no_more_than_chance"))
    observed = mean_squared_correlation(standardised_agents(x))
    drawn = profile_with_noise(x, 4 / (answers.high - answers.low), rng, DRAWS)
    null = np.array([mean_squared_correlation(standardised_agents(panel)) for panel in drawn])
    beyond, error, p = observed - float(null.mean()), float(null.std(ddof=1)), exceeded(observed, null)
    shared, shared_error = profiles_alike(x)
    detail: Detail = {
        "mean_squared_r": observed,
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


def standardised_agents(x: Floats) -> Floats:
    """Return distances from the item's mean, less the agent's mean of them, in units of the agent's own spread.

    An agent without a spread keeps 0 everywhere. x: without gaps.
    """
    level_free = centred_agents(x - x.mean(axis=0))
    length = np.sqrt((level_free**2).mean(axis=1, keepdims=True))
    standardised: Floats = np.divide(level_free, length, out=np.zeros_like(level_free), where=length > 1e-9)
    return standardised


def profile_with_noise(x: Floats, steps: Floats, rng: np.random.Generator, draws: int) -> Iterator[Floats]:
    """Draw panels like x of one profile: agent i answers item j with p_j + b_i + w_i·ε on the points of the scale.

    p, b and w are fitted in turn: p_j the mean of x_ij − b_i weighted by 1/w_i², so that agents whose answers the ends
    of the scale cut off hardly draw the profile to the middle; b_i the agent's mean distance from p, w_i² the variance
    of what is left, less that of rounding. Where every agent's answers are an order of the same places (a sort), those
    are handed out by the order of p_j + w_i·ε.

    Args:
        x: agents × items without gaps, as distances from the midpoint, −2 … 2.
        steps: distance of two scale points, by item.
    """
    agents, items = x.shape
    rounding = float((steps**2).mean()) / 12
    level, variance = np.zeros(agents), np.ones(agents)
    profile = x.mean(axis=0)
    for _ in range(FITTING_STEPS):
        weight = 1 / variance
        profile = (weight[:, None] * (x - level[:, None])).sum(axis=0) / weight.sum()
        level = (x - profile).mean(axis=1)
        left = x - profile - level[:, None]
        variance = np.maximum((left**2).sum(axis=1) / max(items - 1, 1), rounding)
    width = np.sqrt(np.maximum(variance - rounding, rounding / 10))
    places = np.sort(x, axis=1)
    is_sort = bool((np.abs(places - places[0]) < 1e-9).all())
    for _ in range(draws):
        latent = profile + level[:, None] + width[:, None] * rng.normal(size=x.shape)
        if is_sort:
            yield np.asarray(places[0][latent.argsort(axis=1).argsort(axis=1)])
        else:
            yield np.asarray(np.clip(np.round((latent + 2) / steps) * steps - 2, -2, 2))


def mean_squared_correlation(x: Floats) -> float:
    """Σ s²ᵢⱼ/Σ s²ᵢ·s²ⱼ over pairs i ≠ j: the mean of r² weighted by s²ᵢ·s²ⱼ. x: agents × items that vary."""
    x = x - x.mean(axis=0)
    products = x.T @ x
    sizes = np.diag(products)
    return float(((products**2).sum() - (sizes**2).sum()) / (sizes.sum() ** 2 - (sizes**2).sum()))


def profiles_alike(x: Floats) -> tuple[float, float]:
    """Mean r over items of two agents' answers, items' means left in, and its SE were each in random order.

    Permuting n profiles over S items gives each of the n(n − 1)/2 pairs r of mean 0 and variance 1/(S − 1),
    uncorrelated (Pitman 1937). An agent who gives one answer to everything counts as 0.
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


def exceeded(observed: float, null: Floats) -> float:
    """Monte-Carlo p, (1 + draws at or above)/(1 + draws). Source: Davison & Hinkley 1997, ch. 4."""
    return float((1 + (null >= observed - 1e-12).sum()) / (1 + null.size))


def _floor(name: str, value: float, most: float, p: float, *, nothing: bool = False, sure: bool = True) -> Ruling:
    """Bad where the figure is surely below the floor, or there is nothing else either; no surer than chance and not
    surely below it, it says nothing: too few agents. sure: there are enough of them to call anything bad."""
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
    large = {name: items for name, items in members.items() if items.sum() >= LEAST_IN_FAMILY}
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
    """r over agents between the means of a family's forward and of its reversed items, as answered and as distances
    from the item's mean, over families keyed both ways: Σ F·R/√(ΣF²·ΣR²).

    What items say makes it negative; above 0 agents agree with an item and with its opposite, and what divides them is
    how they use the scale. The null hands all of an agent's R to another agent, so that families may go together.
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
    alphas = {name: cronbach(x[:, items]) for name, items in families.items()}
    return {name: alpha for name, alpha in alphas.items() if alpha is not None}


def cronbach(x: Floats) -> float | None:
    """α = k/(k − 1)·(1 − Σ s²ᵢ/s²_total) over agents without a gap; None if the sum does not vary (Cronbach 1951)."""
    whole = x[~np.isnan(x).any(axis=1)]
    if len(whole) < 2 or (total := float(whole.sum(axis=1).var(ddof=1))) < 1e-9:
        return None
    k = x.shape[1]
    return float(k / (k - 1) * (1 - float(whole.var(axis=0, ddof=1).sum()) / total))


# --- the same agents later -------------------------------------------------------------------------------------------


def answer_stability(before: Answers, after: Answers, *, seed: int = 0) -> Diagnostic:
    """Pearson r of an agent's answers in two waves or rounds, each as distance from its item's mean in that wave and
    without the agent's own level.

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


# --- Whether answers follow the order in which items are shown: each answer drawn towards the one before it, whatever
# is asked
# Formula, bounds and minima are those of `diagnostics.COHERENCE`.

OWN = 0.5  # share of the agents who share one order, up to which orders are the agents' own


def order_smoothness(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """r of two answers of an agent to items shown one after the other, less the same under random orders of the items.

    Taken twice, over answers as distances from the agent's own mean and as distances from the item's; the smaller r and
    the larger p count, because what items have in common is in the first, what agents have in common in the second, and
    what sticks to the answer before is in both. Pairs count as distances from the mean of all pairs in the same
    relation (of one family keyed alike, of one family keyed oppositely, of two families), so that families which stand
    together are no smoothness. Random orders give the items of a block other places in it, the same for all agents. A
    gap counts as its item's mean; of more than 1,000 agents so many are drawn by `seed`.

    Items asked one by one have no neighbours; of fewer than eight in an order of each agent's own whatever sticks is
    spread over all pairs and is lost to coherence, too: not computed, and no reason to doubt it.
    """
    kept = ~np.isnan(answers.value).all(axis=1)
    shown = in_shown_order(answers)
    if shown is None or not kept.any():
        why_not = "position_unclear" if answers.items.size and kept.any() else ""
        return judged("order_smoothness", None, {"agents": int(kept.sum()), "items": 0}, why_not=why_not)
    order, block = (codes[kept] for codes in shown)
    pairs = (block[:, 1:] == block[:, :-1]) & (block[:, 1:] >= 0)
    x = filled(answers.centred)
    counts = {"agents": len(x), "items": _most_at_once(block)}
    if not pairs.any():
        return judged("order_smoothness", None, counts, why_not="asked_one_by_one")
    if counts["items"] < THRESHOLDS["order_smoothness"].least["items"] and _own(order):
        return judged("order_smoothness", None, counts, why_not="own_orders")
    rng = np.random.default_rng(seed)
    if len(x) > MOST_AGENTS:
        drawn = rng.permutation(len(x))[:MOST_AGENTS]
        x, order, pairs = x[drawn], order[drawn], pairs[drawn]
    centred = x - x.mean(axis=1, keepdims=True), x - x.mean(axis=0)
    if min(float((e**2).sum()) for e in centred) < 1e-9:
        return judged("order_smoothness", None, counts, why_not="no_variation")
    item_blocks = answers.block.max(axis=0)
    relabelled = [np.arange(x.shape[1]), *(_within(item_blocks, rng) for _ in range(DRAWS))]
    relations = _relations(answers, item_blocks)
    smoothness = [_neighbours(e, order, pairs, relations, relabelled) for e in centred]
    value = min(float(r[0] - r[1:].mean()) for r in smoothness)
    p = max(exceeded(float(r[0]), r[1:]) for r in smoothness)
    detail: Detail = {"p": p, "own_orders": _own(order), "agents_drawn": len(x)}
    return judged("order_smoothness", value, counts, detail=detail, benchmark=0.0, ruling=_ruling(value, p, len(x)))


def _ruling(value: float, p: float, agents: int) -> Ruling:
    most = THRESHOLDS["order_smoothness"].bad[1] or 0.0
    if value <= most or p >= SURELY:
        return Ruling("fine", "")
    return Ruling("bad", "follows_the_order") if agents >= SURE_FROM else Ruling("not computed", f"{TOO_FEW}agents")


def _most_at_once(block: Codes) -> int:
    return max((n for row in block for code, n in Counter(row.tolist()).items() if code >= 0), default=0)


def _own(order: Codes) -> bool:
    """Whether no order is that of more than half of the agents."""
    return int(np.unique(order, axis=0, return_counts=True)[1].max()) <= OWN * len(order)


def _within(blocks: Codes, rng: np.random.Generator) -> Codes:
    """Another item of the same block for each."""
    drawn = np.argsort(blocks + rng.random(blocks.size), kind="stable")
    places = np.argsort(blocks, kind="stable")
    items = np.empty_like(drawn)
    items[places] = drawn
    return items


def _relations(answers: Answers, blocks: Codes) -> Codes:
    """Of two items of a block: 0 of two families, 1 of one, keyed alike, 2 of one, oppositely; −1 of two blocks."""
    family = (answers.families[:, None] == answers.families) & (answers.families != "")
    turned = answers.reverse[:, None] != answers.reverse
    related = np.where(family, np.where(turned, 2, 1), 0)
    return np.where((blocks[:, None] == blocks) & ~np.eye(blocks.size, dtype=bool), related, -1)


def _neighbours(e: Floats, order: Codes, pairs: Flags, relations: Codes, relabelled: list[Codes]) -> Floats:
    """Mean product of two neighbours, less that of all pairs in their relation, over the mean square; for each
    relabelling."""
    products = e.T @ e / len(e)
    means = {code: float(products[relations == code].mean()) for code in np.unique(relations) if code >= 0}
    expected = np.zeros(relations.shape)
    for code, mean in means.items():
        expected[relations == code] = mean
    who, at = np.nonzero(pairs)
    first, second = order[who, at], order[who, at + 1]
    size = float((e**2).mean()) * len(who)
    return np.array(
        [
            float((e[who, of[first]] * e[who, of[second]] - expected[of[first], of[second]]).sum()) / size
            for of in relabelled
        ]
    )


# --- How agents use the scale, whatever is asked: acquiescence, ends and midpoint, straight lines, places of options
# Formulas, bounds and minima are those of `diagnostics.STYLE`.

VARIED = 0.25  # share of answers under other than an item's commonest option order: below, place and content are one
MOST_STYLES_NAMED = 20  # agents listed by name in a detail
NOT_SHOWN = -2  # in place of a block


def style(answers: Answers) -> list[Diagnostic]:
    """All checks of this module, in the table's order."""
    return [
        acquiescence(answers),
        extreme_style(answers),
        midpoint_style(answers),
        straightlining(answers),
        position_share(answers),
    ]


# --- acquiescence ----------------------------------------------------------------------------------------------------


def acquiescence(answers: Answers) -> Diagnostic:
    """Mean over agents of `acquiescence_by_agent`, in points; above 0: agreeing to both sides."""
    by_agent, pairs = acquiescence_by_agent(answers)
    known = by_agent.dropna()
    bound = THRESHOLDS["acquiescence"].caution[1] or 0.0
    detail: Detail = {
        "sd_between_agents": float(known.std()) if len(known) > 1 else None,
        "share_of_agents_beyond": float(known.abs().gt(bound).mean()) if len(known) else None,
        "families": [str(name) for name in pairs],
    }
    counts = {"agents": len(known), "pairs": sum(pairs.values())}
    value = float(known.mean()) if len(known) else None
    return judged("acquiescence", value, counts, detail=detail, why_not="" if pairs else "one_keying")


def acquiescence_by_agent(answers: Answers) -> tuple[pd.Series[float], dict[str, int]]:
    """(F + R)/2 of each agent's answers as given, averaged over families by their balanced pairs; pairs by family.

    F, R: mean distance from the midpoint, in points of a five-point scale, of a family's forward and reversed items.
    Content cancels only where both are there, so a family keyed one way is left out. NaN for an agent without a family
    answered both ways. Source: Billiet & McClendon 2000 on balanced scales.
    """
    total, weights = np.zeros(len(answers.participants)), np.zeros(len(answers.participants))
    pairs: dict[str, int] = {}
    for family, (forward, turned) in balanced_families(answers).items():
        weight = pairs[family] = int(min(forward.sum(), turned.sum()))
        both = (row_means(answers.centred[:, forward]) + row_means(answers.centred[:, turned])) / 2
        known = ~np.isnan(both)
        total[known] += weight * both[known]
        weights[known] += weight
    values = np.divide(total, weights, out=np.full_like(total, np.nan), where=weights > 0)
    return pd.Series(values, index=answers.participants), pairs


# --- ends and midpoint -----------------------------------------------------------------------------------------------


def extreme_style(answers: Answers, mass: Floats | None = None) -> Diagnostic:
    """Share of answers on an end of the scale, over scales of at least five points. mass: its probability by answer."""
    ends = (answers.value == answers.low) | (answers.value == answers.high) if mass is None else mass
    return _share("extreme_style", answers, ends, answers.points >= 5, "short_scales")


def midpoint_style(answers: Answers, mass: Floats | None = None) -> Diagnostic:
    """Share of answers on the midpoint, over odd scales of at least five points. mass: its probability by answer."""
    odd = (answers.points % 2 == 1) & (answers.points >= 5)
    middle = answers.centred == 0 if mass is None else mass
    return _share("midpoint_style", answers, middle, odd, "no_midpoint")


def _share(name: str, answers: Answers, hit: Flags | Floats, fit: Flags, none_fit: str) -> Diagnostic:
    """Share of answers hit, over the items that fit. People's hardly depends on the number of points."""
    known = ~np.isnan(answers.value) & fit & ~np.isnan(hit)
    n = int(known.sum())
    counts = {"answers": n, "agents": int(known.any(axis=1).sum()), "items": int(known.any(axis=0).sum())}
    value = float(hit[known].sum() / n) if n else None
    return judged(name, value, counts, why_not="" if fit.any() or not answers.items.size else none_fit)


# --- straight lines --------------------------------------------------------------------------------------------------


def longest_allowed(n_items: int) -> float:
    """7 + ln(L/25)/ln 4: the longest run of identical answers to L items that is not flagged.

    Seven of 25 is the rule; for other lengths it moves as chance runs do, by ln L / ln(1/p), with p = ¼ that two
    neighbours agree, as in people's answers on five points. Source: Schilling 1990, The College Mathematics Journal 21.
    """
    return LONGEST_RUN + float(np.log(n_items / RUN_OF_ITEMS) / np.log(4)) if n_items else float(LONGEST_RUN)


def straightlining(answers: Answers) -> Diagnostic:
    """Share of agents with a run of identical answers longer than `longest_allowed` for what they saw at once."""
    runs = longest_runs(answers)
    why_not = "position_unclear" if runs is None and answers.items.size else ""
    least = THRESHOLDS["straightlining"].least["items"]
    agents = runs[runs["n_items"] >= least] if runs is not None else pd.DataFrame()
    counts = {"agents": len(agents), "items": int(runs["n_items"].max()) if runs is not None and len(runs) else 0}
    if why_not or not len(agents):
        short = "" if counts["items"] >= least else "too_few_items"
        return judged("straightlining", None, counts, why_not=why_not or short)
    flagged = agents[agents["run"] > agents["n_items"].map(longest_allowed)]
    detail: Detail = {
        "longest": int(agents["run"].max()),
        "mean_longest": float(agents["run"].mean()),
        "n_flagged": len(flagged),
        "agents_flagged": [str(name) for name in flagged.index[:MOST_STYLES_NAMED]],
        "limit": longest_allowed(counts["items"]),
    }
    ruling = surely_above("straightlining", len(flagged), len(agents))
    return judged("straightlining", len(flagged) / len(agents), counts, detail=detail, ruling=ruling)


def surely_above(name: str, hits: int, n: int) -> Ruling:
    """Whether a share of agents lies above the check's bounds by the exact binomial test, one-sided, p < .05."""
    rule = THRESHOLDS[name]
    for verdict, (_, most) in (("bad", rule.bad), ("caution", rule.caution)):
        if most is not None and scipy.special.bdtrc(hits - 1, n, most) < ALPHA:
            return Ruling("bad" if verdict == "bad" else "caution", "above")
    return Ruling("fine", "")


def longest_runs(answers: Answers) -> pd.DataFrame | None:
    """By agent: `run`, the longest row of identical answers in the order shown, and `n_items`, most shown at once.

    Identical is the same place where the option order is known for every answer, else the same value, on the same
    scale. A gap, another block or another scale ends a run. Agents that were shown nothing are left out. None where the
    order shown is unknown or two items have the same place (items asked one by one, several blocks without a column
    `block`).
    """
    placed = in_shown_order(answers)
    if placed is None:
        return None
    order, block = placed
    given, shown = np.take_along_axis(_given(answers), order, axis=1), block != NOT_SHOWN
    index, keep = answers.participants, shown.any(axis=1)
    table = pd.DataFrame({"run": _longest(given, block), "n_items": _longest(block.astype(float), block)}, index=index)
    return table.loc[np.asarray(keep)]


def in_shown_order(answers: Answers) -> tuple[Codes, Codes] | None:
    """By agent the columns of the items in the order shown, what was not shown last, and each block, NOT_SHOWN there.

    None where the order shown is unknown or two items have the same place.
    """
    place = np.where(np.isnan(answers.position), np.inf, answers.block * 1e6 + answers.position)
    order = np.argsort(place, axis=1, kind="stable")
    place = np.take_along_axis(place, order, axis=1)
    shown = np.isfinite(place)
    doubled = (place[:, 1:] == place[:, :-1]) & shown[:, 1:]
    if doubled.any() or not shown.any() or (~np.isnan(answers.value) & np.isnan(answers.position)).any():
        return None
    return order, np.where(shown, np.take_along_axis(answers.block, order, axis=1), NOT_SHOWN)


def _given(answers: Answers) -> Floats:
    """A code of the answer, different between scales: place among the options, else distance from the lowest point."""
    placed = not (np.isnan(answers.chosen) & ~np.isnan(answers.value)).any()
    option = answers.chosen if placed else answers.value - answers.low
    _, scale = np.unique(np.stack([answers.low, answers.high]), axis=1, return_inverse=True)
    return option + 1e4 * scale


def _longest(given: Floats, block: Codes) -> Codes:
    """Longest run of equal neighbours within a block, by row; NaN equals nothing. 0 where a row is empty."""
    run = np.zeros(given.shape, dtype=np.int64)
    known = ~np.isnan(given) & (block != NOT_SHOWN)
    run[:, :1] = known[:, :1]
    for j in range(1, given.shape[1]):
        goes_on = (given[:, j] == given[:, j - 1]) & (block[:, j] == block[:, j - 1])
        run[:, j] = known[:, j] * (1 + run[:, j - 1] * goes_on)
    longest: Codes = run.max(axis=1, initial=0)
    return longest


# --- places of options -----------------------------------------------------------------------------------------------


def position_share(answers: Answers) -> Diagnostic:
    """How far the first or the last option shown is chosen more or less often than the items' marginals account for.

    With random orders that is 1/K; where orders are reversed only, ends are first or last whatever the place does, so
    against 1/K mere avoidance of ends would pass for a preference for places. Both are in the detail.
    """
    known = ~np.isnan(answers.chosen)
    n = int(known.sum())
    counts = {"answers": n, "agents": int(known.any(axis=1).sum())}
    if not n:
        return judged("position_share", None, counts, why_not="no_option_order")
    code = answers.option_order[known]
    k = np.array([len(order) for order in answers.orders])[code]
    first, last = float((answers.chosen[known] == 0).mean()), float((answers.chosen[known] == k - 1).mean())
    expected_first, expected_last = (_expected(answers, known, end) for end in (0, -1))
    varied = _varied(answers, known)
    detail: Detail = {
        "first": first,
        "last": last,
        "expected_first": expected_first,
        "expected_last": expected_last,
        "one_in_k": float((1 / k).mean()),
        "share_in_other_orders": varied,
    }
    value = max(first - expected_first, last - expected_last, key=abs)
    why_not = "" if varied >= VARIED else "option_order_not_varied"
    return judged("position_share", value, counts, detail=detail, why_not=why_not)


def _expected(answers: Answers, known: Flags, end: int) -> float:
    """Mean, over the answers, of their item's share of the option that was shown at that end (0 first, −1 last)."""
    item = np.broadcast_to(np.arange(answers.items.size), known.shape)[known]
    most = int(answers.points.max())
    table = np.zeros((answers.items.size, most))
    np.add.at(table, (item, (answers.value[known] - answers.low[item]).astype(int)), 1)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    shown = np.array([order[end] if order else np.nan for order in answers.orders])[answers.option_order[known]]
    point = shown - answers.low[item]
    on_scale = (point >= 0) & (point < most) & (point == np.rint(point))
    return float(np.where(on_scale, shares[item, np.where(on_scale, point, 0).astype(int)], 0.0).mean())


def _varied(answers: Answers, known: Flags) -> float:
    """Share of answers under another option order than their item's commonest."""
    item = np.broadcast_to(np.arange(answers.items.size), known.shape)[known]
    pairs, n = np.unique(np.stack([item, answers.option_order[known]]), axis=1, return_counts=True)
    commonest = np.zeros(answers.items.size, dtype=np.int64)
    np.maximum.at(commonest, pairs[0], n)
    return 1 - float(commonest.sum() / n.sum())


# --- Answers that were given and say nothing: by agent, by item and by what is wrong, at any number of agents ---------
# Formula and bounds are those of `diagnostics.QUALITY`; what is a row without content says enquete/analysis/content.py.

HALF = 0.5
MOST_EMPTY_NAMED = 20  # agents and items listed by name in a detail


def contentless(frame: pd.DataFrame) -> Iterator[Diagnostic]:
    """Of agents, then of texts where there are any.

    Agents: the share who gave a row of one value, or at least half of whose answers have no content; a comment left
    empty by somebody who answered all else is no such case. Texts: the share that say nothing.

    frame: one row per answer with participant, item, status, text and content ("" where there is nothing to say).
    """
    given = frame[frame["status"].isin(RESPONDED)]
    noted = given["content"].fillna("").ne("")
    rows = given["content"].eq("one_value").groupby(given["participant"], sort=False).any()
    agents = rows | (noted.groupby(given["participant"], sort=False).mean() >= HALF)
    detail: Detail = {
        "without_content": [str(who) for who in agents.index[agents]][:MOST_EMPTY_NAMED],
        "n_answers": int(noted.sum()),
        "by_note": _counts(given.loc[noted, "content"]),
        "by_agent": _counts(given.loc[noted, "participant"]),
        "by_item": _counts(given.loc[noted, "item"]),
    }
    value = float(agents.mean()) if len(agents) else None
    yield judged("contentless", value, {"agents": len(agents)}, detail=detail)
    texts = noted[given["text"].fillna("").ne("")]
    if len(texts):
        yield judged("empty_texts", float(texts.mean()), {"texts": len(texts)})


def _counts(of: pd.Series[str]) -> Mapping[str, int]:
    """The most frequent first."""
    return {str(name): int(n) for name, n in of.value_counts().head(MOST_EMPTY_NAMED).items()}
