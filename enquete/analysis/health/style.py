"""How agents use the scale, whatever is asked: acquiescence, ends and midpoint, straight lines, places of options.

Formulas, bounds and minima are those of `health_thresholds.STYLE`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.answers import Answers, Codes, Flags, Floats, balanced_families, row_means
from enquete.analysis.health.diagnostics import Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.thresholds import ALPHA, LONGEST_RUN, RUN_OF_ITEMS, THRESHOLDS

VARIED = 0.25  # share of answers under other than an item's commonest option order: below, place and content are one
MOST_NAMED = 20  # agents listed by name in a detail
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
    """(F + R)/2 of each agent's answers as given, averaged over families by their balanced pairs; and those pairs by family.

    F, R: mean distance from the midpoint, in points of a five-point scale, of a family's forward and reversed items. Content
    cancels only where both are there, so a family keyed one way is left out. NaN for an agent without a family answered both
    ways. Source: Billiet & McClendon 2000 on balanced scales.
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

    Seven of 25 is the rule; for other lengths it moves as chance runs do, by ln L / ln(1/p), with p = ¼ that two neighbours
    agree, as in people's answers on five points. Source: Schilling 1990, The College Mathematics Journal 21.
    """
    return LONGEST_RUN + float(np.log(n_items / RUN_OF_ITEMS) / np.log(4)) if n_items else float(LONGEST_RUN)


def straightlining(answers: Answers) -> Diagnostic:
    """Share of agents with a run of identical answers longer than `longest_allowed` for what they were shown at once."""
    runs = longest_runs(answers)
    why_not = "position_unclear" if runs is None and answers.items.size else ""
    found = runs[runs["n_items"] >= THRESHOLDS["straightlining"].least["items"]] if runs is not None else pd.DataFrame()
    counts = {"agents": len(found), "items": int(runs["n_items"].max()) if runs is not None and len(runs) else 0}
    if why_not or not len(found):
        short = "" if counts["items"] >= THRESHOLDS["straightlining"].least["items"] else "too_few_items"
        return judged("straightlining", None, counts, why_not=why_not or short)
    flagged = found[found["run"] > found["n_items"].map(longest_allowed)]
    detail: Detail = {
        "longest": int(found["run"].max()),
        "mean_longest": float(found["run"].mean()),
        "n_flagged": len(flagged),
        "agents_flagged": [str(name) for name in flagged.index[:MOST_NAMED]],
        "limit": longest_allowed(counts["items"]),
    }
    ruling = surely_above("straightlining", len(flagged), len(found))
    return judged("straightlining", len(flagged) / len(found), counts, detail=detail, ruling=ruling)


def surely_above(name: str, hits: int, n: int) -> Ruling:
    """Whether a share of agents lies above the check's bounds by the exact binomial test, one-sided, p < .05."""
    rule = THRESHOLDS[name]
    for verdict, (_, most) in (("bad", rule.bad), ("caution", rule.caution)):
        if most is not None and scipy.special.bdtrc(hits - 1, n, most) < ALPHA:
            return Ruling("bad" if verdict == "bad" else "caution", "above")
    return Ruling("fine", "")


def longest_runs(answers: Answers) -> pd.DataFrame | None:
    """By agent: `run`, the longest row of identical answers in the order shown, and `n_items`, most items shown at once.

    Identical is the same place where the option order is known for every answer, else the same value, on the same scale. A
    gap, another block or another scale ends a run. Agents that were shown nothing are left out. None where the order shown
    is unknown or two items have the same place (items asked one by one, several blocks without a column `block`).
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
    """By agent the columns of the items in the order shown, what was not shown last, and the block of each, NOT_SHOWN there.

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
