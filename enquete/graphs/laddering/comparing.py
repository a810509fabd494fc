"""Interviews by their codes: how far each covers the topic, what strategies are compared by, and whether adapting helped.

Strategies ask the same agents, each in an arm of its own. Their interviews are read by one codebook, a rule's over the
concepts of all arms alike, and compared agent by agent. Measured by: a comparison by hand
(tests/graphs/laddering/test_laddering_comparing.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import fmean
from typing import Any

import numpy as np

from enquete.analysis.inference import QUESTIONS, detectable_change
from enquete.analysis.means import mean_of
from enquete.graphs.laddering.coverage import Coverage, cover
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.network import Place, PooledConcept, Row, homes, linked, pool
from enquete.graphs.laddering.settings import ADAPTIVE, LadderingSettings
from enquete.reports.key_findings import FEWEST


@dataclass(frozen=True)
class Measures:
    """Of one interview, over codes. richness: different codes; links: different pairs of codes that are linked; coverage: share
    of elements spoken of; new_per_turn: richness / turns."""

    richness: float
    links: float
    coverage: float
    new_per_turn: float
    turns: float


MEASURES = tuple(one.name for one in fields(Measures))


def covered(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], settings: LadderingSettings
) -> dict[str, Coverage]:
    """Unit → coverage over codes: an interview speaks of an element where it has a code that is about it, in whatever words."""
    about = _about(interviews, concepts)
    found = {}
    for one in interviews:
        standing = one.graph.standing
        nodes = {
            name: node.model_copy(update={"elements": about.get((one.unit, name), ())})
            for name, node in standing.nodes.items()
        }
        found[one.unit] = cover(KnowledgeGraph(nodes, standing.edges), settings.topic, settings.method)
    return found


def _about(interviews: Sequence[Interview], concepts: Sequence[PooledConcept]) -> Mapping[Place, tuple[str, ...]]:
    """Place → elements of its code: those that half of the concepts of this code at least are linked to."""
    graphs = {one.unit: one.graph for one in interviews}
    found = {}
    for concept in concepts:
        named = Counter(element for unit, node in concept.members for element in graphs[unit].nodes[node].elements)
        elements = tuple(element for element, n in named.items() if 2 * n >= len(concept.members))
        found.update(dict.fromkeys(concept.members, elements))
    return found


def measured(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], coverage: Mapping[str, Coverage]
) -> dict[str, Measures]:
    """Unit → its interview's measures, of interviews with a turn."""
    belongs = homes(concepts)
    found = {}
    for one in interviews:
        codes = {belongs[one.unit, node].id for node in one.graph.standing.nodes}
        turns, links = len(one.turns), len(linked(one, belongs))
        found[one.unit] = Measures(len(codes), links, coverage[one.unit].breadth, len(codes) / turns, turns)
    return found


def compared(interviews: Mapping[str, Sequence[Interview]], settings: LadderingSettings) -> dict[str, list[Row]]:
    """strategy → its interviews, side by side: of agents whose interviews are over in all. {} where there is one strategy alone."""
    if len(interviews) < 2:
        return {}
    over = [{one.unit for one in each if one.stop} for each in interviews.values()]
    agents = sorted(set.intersection(*over))
    everybody = [
        replace(one, unit=f"{strategy}|{one.unit}")
        for strategy, each in interviews.items() for one in each if one.unit in agents
    ]  # fmt: skip
    concepts = pool(everybody)
    found = measured(everybody, concepts, covered(everybody, concepts, settings))
    by = {strategy: [asdict(found[f"{strategy}|{unit}"]) for unit in agents] for strategy in interviews}
    return {
        "strategies_compared": [
            {"strategy": name, "n": len(agents), **{m: fmean(one[m] for one in own) if own else None for m in MEASURES}}
            for name, own in by.items()
        ],
        "adapting": [row for name in by if name != ADAPTIVE for row in _differences(name, by[ADAPTIVE], by[name])],
        "interviews_compared": [
            {"participant": unit, "strategy": name, **own[place]} for place, unit in enumerate(agents) for name,
                own in by.items()
        ],
    }  # fmt: skip


def _differences(strategy: str, adaptive: Sequence[Row], other: Sequence[Row]) -> Iterator[Row]:
    """adaptive − other of every measure, agent by agent, with t intervals; p (Student's, paired) of richness alone."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    for name in MEASURES:
        gaps = np.array([a[name] - b[name] for a, b in zip(adaptive, other, strict=True)], dtype=float)
        mean, p = mean_of(gaps), None
        if name == "richness" and len(gaps) >= FEWEST:
            p = float(stats.ttest_1samp(gaps, 0).pvalue) if gaps.std() else float(gaps[0] == 0)
        sd = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
        row: dict[str, Any] = {"strategy": strategy, "measure": name, **asdict(mean), "p": p}
        larger = "more" if mean.mean and mean.mean > 0 else "fewer" if mean.mean else "as_many"
        yield {
            **row,
            "direction": larger,
            "size": abs(mean.mean or 0.0),
            "detectable": detectable_change(len(gaps), sd, tests=QUESTIONS),
        }
