"""What the templates of the two waves cannot compute: statements beside their change, and the rows of long tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from enquete.analysis.change.effects import ONE_WAY
from enquete.analysis.means import mean_interval
from enquete.graphs.longitudinal.findings import against_placebo, changes, statements
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.key_findings import FEWEST
from enquete.state.asking import Language

STATEMENTS = 20  # of a longer instrument those in the section
GROUP_ROWS = 12
MOVERS = 10

Row = Mapping[str, Any]

REASONS: Mapping[str, str] = {
    "no agent has both scores": N_("no agent has both scores"),
    "fewer than 2 agents": N_("fewer than 2 agents at T0"),
    "fewer than 3 agents": N_("fewer than 3 agents asked twice"),
    "no variation": N_("agents do not differ"),
    "the reliability is negative": N_("r_tt is negative: scores are noise"),
    "the reliability is 1": N_("r_tt is 1: there is no noise to compare with"),
}
"""How the reasons of analysis/change/reliable.py begin, and what a report says."""

GLOSSARY: Mapping[str, str] = {
    N_("drift"): N_("change of the same agents' answers to a statement from T0 to T1"),
    N_("experience effect"): N_(
        "the same difference where T0 was asked of personas without any memory; it is not drift"
    ),
    N_("as worded, rekeyed"): N_(
        "agreement with the statement as it stands; turned round where it is keyed against its family"
    ),
    N_("family"): N_("statements on one subject, whose rekeyed answers are averaged"),
}


def shown(found: Found, language: Language) -> dict[str, Any]:
    """change: what there is of change, under whatever name; rows: of the section's table; the rest by its name."""
    change = at(found, str(found.get("kind")))
    by_group = [
        {"item": item["item"], **row} for item in listed(change, "items") for row in item["by_type"] if "p" in row
    ]
    tested = [row for row in by_group if row["p"] is not None]
    agents = [agent for agent in listed(change, "agents") if agent["n_items"]]
    return {
        "change": change, "rows": _rows(found), "scales": sorted({one.scale for one in statements(found).values()}),
        "items": {str(item["item"]): item for item in listed(found, "items")},
        "n_by_group": len(by_group), "n_tested": len(tested), "by_group": sorted(tested, key=_p)[:GROUP_ROWS],
        "n_agents": len(agents), "movers": sorted(filter(_moved, agents), key=lambda one: -one["mean_abs"])[:MOVERS],
        "labels": {str(one["family"]): str(one["label"]) for one in listed(change, "families")},
        "scores": _scores(change, language), "limits": _limits(change), "fewest": FEWEST, "one_way": ONE_WAY,
    }  # fmt: skip


def _rows(found: Found) -> list[dict[str, Any]]:
    """Statements with the means of their waves, the change and what is left of it beside a placebo; of many those that
    changed most surely, then most."""
    known = statements(found)
    moved, beyond = ({one.about.item: one for one in own(found, known)} for own in (changes, against_placebo))
    rows = []
    for item in listed(found, "items"):
        about, waves = known[str(item["item"])], list(item["waves"].values())
        last = mean_interval(waves[-1]["n_responded"], waves[-1]["mean"], waves[-1]["sd"], (about.low, about.high))
        rows.append(
            {
                "about": about,
                "waves": waves,
                "last": last,
                "moved": moved.get(about.item),
                "beyond": beyond.get(about.item),
            }
        )
    if len(rows) <= STATEMENTS:
        return rows
    return sorted(rows, key=lambda row: _sureness(row["moved"]))[:STATEMENTS]


def _sureness(moved: Any) -> tuple[float, float]:
    if moved is None:
        return 2.0, 0.0
    return 1.0 if moved.p is None else moved.p, -moved.size


def _p(row: Row) -> tuple[float, float]:
    return row["p"], -abs(row["hodges_lehmann"] or 0.0)


def _moved(agent: Row) -> bool:
    return bool(agent["mean_abs"])


def _scores(change: Any, language: Language) -> list[dict[str, Any]]:
    """Reliable change of all statements together, then by family: the difference to a placebo in points, why there is none."""
    labels = {one["family"]: one["label"] for one in listed(change, "families")}
    overall = at(change, "reliable_change", "overall")
    found = []
    for one in [overall, *listed(change, "reliable_change", "families")] if overall else ():
        difference = at(one, "placebo", "difference") or {}
        points = [None if difference.get(key) is None else 100 * difference[key] for key in ("estimate", "low", "high")]
        why = next(
            (tell(text, language) for start, text in REASONS.items() if one["reason"].startswith(start)), one["reason"]
        )
        found.append({**one, "label": labels.get(one.get("family")), "points": points, "why": why})
    return found


def _limits(change: Any) -> Sequence[float]:
    """The smallest and the largest limit of the reliable change index."""
    scales = [at(change, "reliable_change", "overall"), *listed(change, "reliable_change", "families")]
    known = sorted({round(limit, 2) for one in scales if (limit := figure(one, "limit")) is not None})
    return known[:: max(1, len(known) - 1)]
