"""What the panel makes of its themes: ratings by round, convergence, persistent disagreement, ranked consensus.

Quartiles are of type 7. Thresholds are the instrument's (`disagreement:`). Measured by: every theme traces back to the
answers that voice it, every figure stands beside its n, and who holds out is quoted in their own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.convergence import converge, is_consensus, is_disagreement, rank_consensus
from enquete.analysis.dispersion import describe
from enquete.analysis.kendall import kendall_w
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.reports.context import AnalysisContext, counted, jsonable, responded

FIRST_RATING = 2
QUOTED = 20  # hold-outs quoted a side; all are counted, all are in the response table
STATEMENTS_LISTED = 5

Themes = list[dict[str, Any]]
Ratings = dict[int, pd.DataFrame]
"""By round: participants × item ids, NaN where there is no rating."""


def analyse(
    frame: pd.DataFrame, instrument: DelphiInstrument, settings: object, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    coded = context.frozen.get("themes")
    themes = _themes(coded, frame[frame["round"].eq(1)])
    rounds = {number: frame[frame["round"].eq(number)] for number in sorted(int(n) for n in frame["round"].unique())}
    ratings = {number: _ratings(rows) for number, rows in rounds.items() if number >= FIRST_RATING}
    last = max((number for number, wide in ratings.items() if wide.notna().to_numpy().any()), default=None)
    revised = last if last is not None and last > FIRST_RATING else None
    found = {
        "partial": context.partial,
        "outcomes": dict(context.outcomes),
        "rounds": {str(number): _round(rows) for number, rows in rounds.items()},
        "thresholds": instrument.disagreement.model_dump(),
        "dimensions": [
            {"dimension": d.dimension_id, "scale_min": instrument.scale_of(d.dimension_id).min,
             "scale_max": instrument.scale_of(d.dimension_id).max}
            for d in instrument.dimensions
        ],
        "themes": themes,
        "coding": {key: _count(coded.get(key)) for key in ("uncoded", "unknown_ids", "dropped_empty",
                   "dropped_duplicates", "dropped_over_limit")} if isinstance(coded, dict) else None,
        "ratings": _described(themes, instrument, rounds),
        "convergence": _convergence(themes, instrument, ratings, revised, context.frozen),
        "last_round": last,
        "unchanged": _unchanged(ratings, revised),
        "concordance": _concordance(themes, instrument, ratings),
        "disagreements": _disagreements(themes, instrument, rounds, ratings, revised, context.frozen),
        "consensus": _consensus(themes, instrument, rounds, last),
        "flags": [],
    }  # fmt: skip
    result = jsonable(found)
    assert isinstance(result, dict)
    return result


# --- themes and rounds -----------------------------------------------------------------------------------------------


def _count(value: JsonValue) -> int | None:
    return len(value) if isinstance(value, list) else value if isinstance(value, int) else None


def _themes(stored: JsonValue, answers: pd.DataFrame) -> Themes:
    """The frozen themes, each with the answers that voice it: ids of all, words of the first few."""
    listed = stored.get("themes") if isinstance(stored, dict) else stored
    if not isinstance(listed, list):
        return []
    columns = answers[["participant", "item_id", "agent_name", "text"]]
    words = {f"{who}|{item}": (name, text) for who, item, name, text in columns.itertuples(index=False)}
    found = []
    for theme in listed:
        if isinstance(theme, dict):
            ids = [str(one) for one in theme.get("statements") or []]  # type: ignore[union-attr]
            quoted = [{"id": one, "name": words[one][0], "text": words[one][1]} for one in ids if one in words]
            found.append(
                {"id": str(theme["id"]), "label": str(theme["label"]), "description": str(theme.get("description", "")),
                 "n_statements": len(ids), "n_agents": len({one.rpartition("|")[0] for one in ids}),
                 "statements": ids, "quoted": quoted[:STATEMENTS_LISTED]}
            )  # fmt: skip
    return found


def _round(rows: pd.DataFrame) -> dict[str, Any]:
    return {
        **counted(rows),
        "agents_responded": int(responded(rows)["participant"].nunique()),
        "agents_total": int(rows["participant"].nunique()),
    }


def _ratings(rows: pd.DataFrame) -> pd.DataFrame:
    wide = rows.pivot(index="participant", columns="item_id", values="value").astype(float)
    return wide.reindex(index=rows["participant"].unique())


def _item(theme: Mapping[str, Any], dimension: str) -> str:
    return f"theme:{theme['id']}/{dimension}"


# --- ratings ---------------------------------------------------------------------------------------------------------


def _described(
    themes: Themes, instrument: DelphiInstrument, rounds: Mapping[int, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Per theme, dimension and round of rating: n, median, IQR, mean, A, top band, label."""
    found = []
    for number, rows in rounds.items():
        by_item = dict(list(rows.groupby("item_id"))) if number >= FIRST_RATING else {}
        for theme in themes:
            for dimension in instrument.dimensions:
                item = _item(theme, dimension.dimension_id)
                if item in by_item:
                    known = {"theme": theme["id"], "dimension": dimension.dimension_id, "item": item, "round": number}
                    found.append({**known, **_rating(by_item[item], instrument, dimension.dimension_id)})
    return found


def _rating(rows: pd.DataFrame, instrument: DelphiInstrument, dimension: str) -> dict[str, Any]:
    scale = instrument.scale_of(dimension)
    measured = asdict(describe(rows["value"].to_numpy(dtype=float), scale.min, scale.max))
    n = measured.pop("n")
    del measured["n_missing"]
    return {
        "n_responded": n,
        "n_total": len(rows),
        **measured,
        "label": _label(n, measured["iqr"], measured["agreement"], instrument),
    }


def _label(n: int, iqr: float | None, agreement: float | None, instrument: DelphiInstrument) -> str | None:
    """disagreement, consensus, or open in between. Two camps are never a consensus; fewer than two raters are neither."""
    limits = instrument.disagreement
    if iqr is None or n < 2:
        return None
    if is_disagreement(iqr, agreement, iqr_above=limits.disagreement_iqr, agreement_below=limits.polarised_below):
        return "disagreement"
    return "consensus" if is_consensus(iqr, at_most=limits.consensus_iqr) else "open"


def _fed_back(frozen: Mapping[str, JsonValue], number: int, item: str) -> float | None:
    """The median that the panel was shown; late answers have not changed it."""
    feedback = frozen.get(f"feedback/{number}")
    shown = feedback.get(item) if isinstance(feedback, dict) else None
    median = shown.get("median") if isinstance(shown, dict) else None
    return float(median) if isinstance(median, int | float) else None


def _convergence(
    themes: Themes,
    instrument: DelphiInstrument,
    ratings: Ratings,
    revised: int | None,
    frozen: Mapping[str, JsonValue],
) -> list[dict[str, Any]]:
    """From the first rating to the last revision, over the panelists who gave both."""
    if revised is None or FIRST_RATING not in ratings:
        return []
    found = []
    for theme in themes:
        for dimension in instrument.dimensions:
            item = _item(theme, dimension.dimension_id)
            first, second = (_column(ratings[number], item) for number in (FIRST_RATING, revised))
            figures = asdict(converge(first, second, median=_fed_back(frozen, FIRST_RATING, item)))
            known = {"theme": theme["id"], "dimension": dimension.dimension_id, "item": item}
            found.append({**known, "from_round": FIRST_RATING, "to_round": revised, **figures, "n_total": len(second)})
    return found


def _column(wide: pd.DataFrame, item: str) -> pd.Series[float]:
    return wide[item] if item in wide else pd.Series(np.nan, index=wide.index)


def _unchanged(ratings: Ratings, revised: int | None) -> dict[str, Any] | None:
    """Panelists, and single ratings, that the last revision left as they first were."""
    if revised is None or FIRST_RATING not in ratings:
        return None
    first, second = ratings[FIRST_RATING].align(ratings[revised], join="outer")
    paired, same = first.notna() & second.notna(), first.eq(second)
    agents = paired.any(axis=1)
    return {
        "n_agents": int((agents & ~(paired & ~same).any(axis=1)).sum()),
        "n_agents_paired": int(agents.sum()),
        "n_agents_total": len(agents),
        "n_ratings": int((paired & same).to_numpy().sum()),
        "n_ratings_paired": int(paired.to_numpy().sum()),
    }


def _concordance(themes: Themes, instrument: DelphiInstrument, ratings: Ratings) -> list[dict[str, Any]]:
    """Kendall's W over the themes, per dimension and round; raters with a gap are left out and counted."""
    found = []
    for number, wide in ratings.items():
        for dimension in instrument.dimensions:
            items = [_item(theme, dimension.dimension_id) for theme in themes]
            figures = asdict(kendall_w(wide.reindex(columns=items).to_numpy(dtype=float)))
            found.append({"round": number, "dimension": dimension.dimension_id, **figures})
    return found


# --- dissent and consensus -------------------------------------------------------------------------------------------


def _disagreements(
    themes: Themes,
    instrument: DelphiInstrument,
    rounds: Mapping[int, pd.DataFrame],
    ratings: Ratings,
    revised: int | None,
    frozen: Mapping[str, JsonValue],
) -> list[dict[str, Any]]:
    """What the last revision still leaves disputed: IQR or A beyond the instrument's limits. None before a revision."""
    if revised is None:
        return []
    by_item = dict(list(rounds[revised].groupby("item_id")))
    found = []
    for rating in _described(themes, instrument, {revised: rounds[revised]}):
        if rating["label"] == "disagreement":
            item = rating["item"]
            median = _fed_back(frozen, revised - 1, item)
            before = _column(ratings[revised - 1], item) if revised - 1 in ratings else pd.Series(dtype=float)
            camps = _camps(by_item[item], before, rating["median"] if median is None else median)
            found.append({**rating, "median_shown": median, **camps})
    return found


def _camps(rows: pd.DataFrame, before: pd.Series[float], median: float) -> dict[str, Any]:
    """Who holds out: at least one point off the median they were shown, and no closer to it than before."""
    rated = rows[rows["value"].notna()]
    gap = (rated["value"] - median).abs()
    gap_before = (rated["participant"].map(before) - median).abs()
    out = rated[(gap >= 1) & ~(gap < gap_before)]
    return {
        "n_holding_out": len(out),
        "below": _camp(out[out["value"] < median]),
        "above": _camp(out[out["value"] > median]),
    }


def _camp(rows: pd.DataFrame) -> dict[str, Any]:
    columns = {"participant": "participant", "agent_name": "name", "stakeholder_type": "stakeholder_type"}
    quoted = rows.sort_values("text", key=lambda text: text.eq(""), kind="stable").head(QUOTED)
    records = quoted.rename(columns={**columns, "text": "reason"})[[*columns.values(), "value", "reason"]]
    types = rows["stakeholder_type"].value_counts()
    by_type = sorted(types.items(), key=lambda pair: (-int(pair[1]), str(pair[0])))
    return {
        "n": len(rows),
        "by_type": {str(kind): int(n) for kind, n in by_type},
        "participants": [str(who) for who in rows["participant"]],
        "quoted": records.to_dict("records"),
    }


def _consensus(
    themes: Themes, instrument: DelphiInstrument, rounds: Mapping[int, pd.DataFrame], last: int | None
) -> list[dict[str, Any]]:
    """Themes agreed upon in importance (else the first dimension), by IQR, then median; of the last round rated."""
    if last is None:
        return []
    dimension = main_dimension([d.dimension_id for d in instrument.dimensions])
    rated = {
        rating["theme"]: rating
        for rating in _described(themes, instrument, {last: rounds[last]})
        if rating["dimension"] == dimension and rating["label"] == "consensus"
    }
    if not rated:
        return []
    frame = pd.DataFrame.from_dict(rated, orient="index")[["iqr", "median"]].astype(float)
    ranked = rank_consensus(frame, at_most=instrument.disagreement.consensus_iqr)
    labels = {theme["id"]: theme["label"] for theme in themes}
    return [{"rank": int(n), "label_of_theme": labels[theme], **rated[theme]} for theme, n in ranked["rank"].items()]


def main_dimension(dimensions: Sequence[str]) -> str:
    """Consensus is ranked by importance where it is asked."""
    return "importance" if "importance" in dimensions else dimensions[0]
