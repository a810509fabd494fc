"""Probes of the instrument: the same agents asked again, in another order, in other words, or under another persona.

Each takes the answers of the main arm and of the probe's; formulas, bounds and minima are those of
`health_thresholds.PROBES`. Only answers that all arms hold are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from enquete.analysis.agreement.kappa import components, stratified_kappa, weighted_kappa
from enquete.analysis.answers import Aligned, Answers, Flags, aligned
from enquete.analysis.health.diagnostics import Detail, Diagnostic, Ruling, compared, judged
from enquete.analysis.health.thresholds import LEAST_RETEST_CHANGE, THRESHOLDS

CLEARLY, BARELY = 2.0, 1.5  # times the retest's change that a persona must change: caution and bad below


def retest(main: Answers, again: Answers, *, temperature: float) -> Diagnostic:
    """Agreement with a fresh repeat. All equal at a temperature above 0: "suspect_caching", no retest at all."""
    both = aligned([main, again])
    value, ruling = _kappa(both), None
    if value is not None:
        ruling = compared(value, THRESHOLDS["test_retest"].caution, THRESHOLDS["test_retest"].bad)
        if temperature > 0 and _changed(both) == 0:
            ruling = Ruling("caution", "suspect_caching")
    detail = {**_comparison(both), "temperature": temperature}
    return judged("test_retest", value, both.counts, detail=detail, why_not=_unvaried(both), ruling=ruling)


def option_order(main: Answers, reversed_: Answers) -> list[Diagnostic]:
    """Agreement, and mean shift, between the options as written and reversed, where the order shown did differ."""
    both = aligned([main, reversed_])
    both = both.keeping(_other_order(main, reversed_, both))
    why_not = "" if both.counts["answers"] else "same_option_order"
    x, y = both.values
    shift = float(np.nanmean(y - x)) if not why_not else None
    detail = _comparison(both)
    kappa = judged("option_order", _kappa(both), both.counts, detail=detail, why_not=why_not or _unvaried(both))
    return [kappa, judged("option_order_shift", shift, both.counts, detail=detail, why_not=why_not)]


def _other_order(main: Answers, probe: Answers, both: Aligned) -> Flags:
    """Where both option orders are known and differ."""
    names = {order: code for code, order in enumerate(dict.fromkeys([*main.orders, *probe.orders]))}
    one, other = (np.array([*(names[order] for order in table.orders), -1]) for table in (main, probe))
    first, second = both.part([one[main.option_order].astype(float), other[probe.option_order].astype(float)])
    differs: Flags = (first != second) & (first >= 0) & (second >= 0)
    return differs


def item_order(orders: Sequence[Answers]) -> Diagnostic:
    """ICC(A,1) over two or more orders of the items, among agents to whom the order did differ.

    Raises ValueError for fewer than two arms.
    """
    both = aligned(_several(orders, "item_order"))
    places = both.part([table.position for table in orders])
    differs = np.logical_or.reduce([place != places[0] for place in places[1:]])
    known = ~np.isnan(np.stack([*places, *both.values])).any(axis=0)
    both = both.keeping((differs & known).any(axis=1)[:, None])
    found = components(both.values)
    value = found.icc if found else None
    why_not = "" if both.counts["answers"] else "same_item_order"
    return judged("item_order", value, both.counts, detail={"n_orders": len(orders)}, why_not=why_not)


def paraphrase(wordings: Sequence[Answers]) -> Diagnostic:
    """Share of variance between two or more wordings of the same items. Raises ValueError for fewer than two arms."""
    both = aligned(_several(wordings, "paraphrase"))
    found = components(both.values)
    counts = {**both.counts, "contrasts": found.n_items * (found.n_arms - 1) if found else 0}
    detail: Detail = {"n_wordings": len(wordings)}
    if found:
        parts = {"between_agents": found.between_agents, "between_wordings": found.between_arms, "error": found.error}
        detail = {**detail, **parts}
    return judged("paraphrase", found.share_of_arms if found else None, counts, detail=detail)


def _several(tables: Sequence[Answers], name: str) -> Sequence[Answers]:
    if len(tables) < 2:
        raise ValueError(f"{name} compares at least two arms; {len(tables)} was given")
    return tables


def persona_swap(main: Answers, swapped: Answers, again: Answers) -> Diagnostic:
    """Share of answers that change under another agent's persona, against those that change in a retest."""
    return _persona("persona_swap", main, swapped, again)


def null_persona(main: Answers, null: Answers, again: Answers) -> Diagnostic:
    """Share of answers that change without any persona, against those that change in a retest."""
    return _persona("null_persona", main, null, again)


def _persona(name: str, main: Answers, probe: Answers, again: Answers) -> Diagnostic:
    """All three over the same answers. A retest without any change counts as .05, or anything at all would be enough."""
    three = aligned([main, probe, again])
    x, other, repeat = three.values
    known = ~np.isnan(x)
    if not known.any():
        return judged(name, None, three.counts, why_not="no_pairs")
    changed, noise = float((x != other)[known].mean()), float((x != repeat)[known].mean())
    reference = max(noise, LEAST_RETEST_CHANGE)
    detail: Detail = {
        "retest_change": noise,
        "ratio": changed / reference,
        "mean_distance": float(np.abs(x - other)[known].mean()),
        "retest_distance": float(np.abs(x - repeat)[known].mean()),
    }
    caution, bad = (CLEARLY * reference, None), (BARELY * reference, None)
    ruling = compared(changed, caution, bad)
    ruling = Ruling(ruling.verdict, "persona_ignored") if ruling.verdict != "fine" else ruling
    return judged(name, changed, three.counts, detail=detail, caution=caution, benchmark=noise, ruling=ruling)


def _kappa(both: Aligned) -> float | None:
    return stratified_kappa(both.values[0], both.values[1])


def _unvaried(both: Aligned) -> str:
    return "no_variation" if both.counts["answers"] and _kappa(both) is None else ""


def _changed(both: Aligned) -> float | None:
    x, y = both.values
    known = ~np.isnan(x)
    return float((x != y)[known].mean()) if known.any() else None


def _comparison(both: Aligned) -> Detail:
    """Beside κ_w: exact share, κ over all items in one table (which counts the items' own differences), mean shift."""
    x, y = both.values
    known, changed = ~np.isnan(x), _changed(both)
    return {
        "exact_share": None if changed is None else 1 - changed,
        "kappa_all_items": weighted_kappa(x[known], y[known]).kappa,
        "mean_shift": float((y - x)[known].mean()) if known.any() else None,
        "mean_distance": float(np.abs(y - x)[known].mean()) if known.any() else None,
    }
