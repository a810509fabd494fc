"""Best-minus-worst scores: how much each object matters, to all and to every agent.

score = (times best − times worst) / times shown, −1 … 1 (the counts of Marley & Louviere 2005); intervals by bootstrap over
agents. firmness = (Σ(best − worst)² − r) / (f − r) over an agent's objects, r what choices at random give, f what one firm
order does: 0 … 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.bootstrap import DRAWS, FEWEST, Floats, bca, left_out, resampled_counts
from enquete.reports.context import AnalysisContext, counted
from enquete.state.methodology import NoSettings
from enquete_best_worst.instrument import BestWorstInstrument

ORDERS = 200  # firm orders, drawn by seed, that firmness is measured against


def analyse(
    frame: pd.DataFrame, instrument: BestWorstInstrument, settings: NoSettings, context: AnalysisContext
) -> Mapping[str, Any]:
    """See reports/findings.py for the contract. An agent enters with the sets that it answered."""
    chosen = choices(frame)
    scores, net = scored(chosen, instrument)
    names = frame.drop_duplicates("participant").set_index("participant")["agent_name"]
    firm = firmness(net, instrument)
    return {
        "asked": counted(frame),
        "agents_responded": len(scores),
        "agents_total": int(frame["participant"].nunique()),
        "objects": [_object(name, scores[name], chosen, instrument, context) for name in instrument.objects],
        "agents": [
            {"participant": who, "name": names[who], "firmness": firm[who], "scores": dict(own)}
            for who, own in scores.iterrows()
        ],
    }


def choices(frame: pd.DataFrame) -> pd.DataFrame:
    """One row an answered set: participant, item_id, best and worst (object ids)."""
    answered = frame[frame["choice"].ne("")]
    both = [json.loads(choice) for choice in answered["choice"]]
    named = {end: [one[end] for one in both] for end in ("best", "worst")}
    return answered[["participant", "item_id"]].assign(**named)


def scored(chosen: pd.DataFrame, instrument: BestWorstInstrument) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores, and best − worst counts: participants × objects; NaN for an object that an agent answered no set of."""
    sets = {f"set_{number}": shown for number, shown in enumerate(instrument.sets, start=1)}
    objects, shape = list(instrument.objects), ["participant", "object"]
    met = pd.DataFrame(
        [(row.participant, name) for row in chosen.itertuples() for name in sets[str(row.item_id)]], columns=shape
    )
    times = pd.crosstab(met["participant"], met["object"]).reindex(columns=objects, fill_value=0)
    best, worst = (
        pd.crosstab(chosen["participant"], chosen[end]).reindex(index=times.index, columns=objects, fill_value=0)
        for end in ("best", "worst")
    )
    net = best - worst
    return net.div(times.where(times > 0)), net


def firmness(net: pd.DataFrame, instrument: BestWorstInstrument) -> pd.Series[float]:
    """By participant, of those who answered every set; NaN for the others."""
    at_random = 2.0 * len(instrument.sets)  # each set adds 1 to best and 1 to worst, of objects drawn at random
    firm = firm_order(list(instrument.objects), instrument.sets)
    whole = net.abs().sum(axis=1).notna()
    return ((net**2).sum(axis=1) - at_random).div(firm - at_random).where(whole)


def firm_order(objects: Sequence[str], sets: Sequence[Sequence[str]]) -> float:
    """Mean Σ(best − worst)² of respondents who choose by one order of the objects."""
    rng, found = np.random.default_rng(0), []
    for _ in range(ORDERS):
        rank = dict(zip(objects, rng.permutation(len(objects)), strict=True))
        net = dict.fromkeys(objects, 0)
        for shown in sets:
            net[max(shown, key=lambda name: rank[name])] += 1
            net[min(shown, key=lambda name: rank[name])] -= 1
        found.append(sum(value**2 for value in net.values()))
    return float(np.mean(found))


def _object(
    name: str, scores: pd.Series[float], chosen: pd.DataFrame, instrument: BestWorstInstrument, context: AnalysisContext
) -> dict[str, Any]:
    known = scores.dropna().round(9)
    values, agents = np.unique(known, return_counts=True)

    def mean(counts: Floats) -> Floats:
        return np.asarray(counts @ values / counts.sum(axis=1))

    score = float(known.mean()) if len(known) else None
    interval = None
    if score is not None and len(known) >= FEWEST:
        drawn = resampled_counts(agents, DRAWS, np.random.default_rng(0))
        interval = bca(score, mean(drawn), mean(left_out(agents)), weight=agents)
    return {
        "object": name,
        "label": instrument.objects[name].in_(context.language),
        "best": int(chosen["best"].eq(name).sum()),
        "worst": int(chosen["worst"].eq(name).sum()),
        "n_responded": len(known),
        "score": score,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }
