"""Whether answers follow the order in which items are shown: each answer drawn towards the one before it, whatever is asked.

Formula, bounds and minima are those of `health_thresholds.COHERENCE`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from enquete.analysis.answers import Answers, Codes, Flags, Floats
from enquete.analysis.health.coherence import DRAWS, MOST_AGENTS, exceeded, filled
from enquete.analysis.health.diagnostics import TOO_FEW, Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.style import in_shown_order
from enquete.analysis.health.thresholds import SURE_FROM, SURELY, THRESHOLDS

OWN = 0.5  # share of the agents who share one order, up to which orders are the agents' own


def order_smoothness(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """r of two answers of an agent to items shown one after the other, less the same under random orders of the items.

    Taken twice, over answers as distances from the agent's own mean and as distances from the item's; the smaller r and the
    larger p count, because what items have in common is in the first, what agents have in common in the second, and what
    sticks to the answer before is in both. Pairs count as distances from the mean of all pairs in the same relation (of one
    family keyed alike, of one family keyed oppositely, of two families), so that families which stand together are no
    smoothness. Random orders give the items of a block other places in it, the same for all agents. A gap counts as its
    item's mean; of more than 1,000 agents so many are drawn by `seed`.

    Items asked one by one have no neighbours; of fewer than eight in an order of each agent's own whatever sticks is spread
    over all pairs and is lost to coherence, too: not computed, and no reason to doubt it.
    """
    kept = ~np.isnan(answers.value).all(axis=1)
    shown = in_shown_order(answers)
    if shown is None or not kept.any():
        why_not = "position_unclear" if answers.items.size and kept.any() else ""
        return judged("order_smoothness", None, {"agents": int(kept.sum()), "items": 0}, why_not=why_not)
    order, block = (one[kept] for one in shown)
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
    if min(float((one**2).sum()) for one in centred) < 1e-9:
        return judged("order_smoothness", None, counts, why_not="no_variation")
    item_blocks = answers.block.max(axis=0)
    relabelled = [np.arange(x.shape[1]), *(_within(item_blocks, rng) for _ in range(DRAWS))]
    relations = _relations(answers, item_blocks)
    found = [_neighbours(one, order, pairs, relations, relabelled) for one in centred]
    value = min(float(one[0] - one[1:].mean()) for one in found)
    p = max(exceeded(float(one[0]), one[1:]) for one in found)
    detail: Detail = {"p": p, "own_orders": _own(order), "agents_drawn": len(x)}
    return judged("order_smoothness", value, counts, detail=detail, benchmark=0.0, ruling=_ruling(value, p, len(x)))


def _ruling(value: float, p: float, agents: int) -> Ruling:
    most = THRESHOLDS["order_smoothness"].bad[1] or 0.0
    if value <= most or p >= SURELY:
        return Ruling("fine", "")
    return Ruling("bad", "follows_the_order") if agents >= SURE_FROM else Ruling("not computed", f"{TOO_FEW}agents")


def _most_at_once(block: Codes) -> int:
    return max((n for row in block for one, n in Counter(row.tolist()).items() if one >= 0), default=0)


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
    """Of two items of a block: 0 of two families, 1 of one and keyed alike, 2 of one and keyed oppositely; −1 of two blocks."""
    family = (answers.families[:, None] == answers.families) & (answers.families != "")
    turned = answers.reverse[:, None] != answers.reverse
    related = np.where(family, np.where(turned, 2, 1), 0)
    return np.where((blocks[:, None] == blocks) & ~np.eye(blocks.size, dtype=bool), related, -1)


def _neighbours(e: Floats, order: Codes, pairs: Flags, relations: Codes, relabelled: list[Codes]) -> Floats:
    """Mean product of two neighbours, less that of all pairs in their relation, over the mean square; for each relabelling."""
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
