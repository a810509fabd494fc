"""Whether answers hang together: coherence, likeness in the order shown, answers without content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from enquete.analysis.answers import Answers, Codes, Flags, aligned, row_means
from enquete.analysis.diagnostics import (
    ALPHA,
    DECIMALS,
    LEAST_SHARED,
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


NOT_SHOWN = -2  # in place of a block


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


# --- Answers that were given and say nothing: by agent, by item and by what is wrong, at any number of agents ---------
# Formula and bounds are those of `diagnostics.QUALITY`; what is a row without content says enquete/analysis/content.py.

HALF = 0.5
MOST_EMPTY_NAMED = 20  # agents and items listed by name in a detail


def contentless(frame: pd.DataFrame) -> Diagnostic:
    """Return the share of agents who gave a row of one value, or at least half of whose answers have no content.

    A comment left empty by somebody who answered all else is no such case.

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
    return judged("contentless", value, {"agents": len(agents)}, detail=detail)


def _counts(of: pd.Series[str]) -> Mapping[str, int]:
    """The most frequent first."""
    return {str(name): int(n) for name, n in of.value_counts().head(MOST_EMPTY_NAMED).items()}
