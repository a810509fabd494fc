"""How far interviews cover the topic, what they are compared by, and whether adaptive questions found more.

Strategies ask the same agents, each in an arm of its own. Their interviews are read by one codebook, a rule's over the
concepts of all arms alike, and compared agent by agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean

import numpy as np
import pandas as pd

from enquete.analysis.estimates import mean_of
from enquete.analysis.inference import detectable_change
from enquete.methods.laddering import network
from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import Coverage, KnowledgeGraph, cover
from enquete.methods.laddering.network import Place, PooledConcept
from enquete.methods.laddering.settings import ADAPTIVE, LadderingSettings
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST

MEASURES = ("richness", "links", "coverage", "new_per_turn", "turns")
"""Of one interview, over codes: different codes; different pairs of codes that are linked; share of elements spoken of;
richness / turns; turns."""
TESTED_MEASURE = "richness"

Measures = Mapping[str, float]


def measure_coverage(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], settings: LadderingSettings
) -> dict[str, Coverage]:
    """Return how far each interview covers the topic, keyed by unit.

    An interview speaks of an element where it has a code that is about it, in whatever words.
    """
    elements = find_elements(interviews, concepts)
    coverage = {}
    for interview in interviews:
        standing = interview.graph.standing
        nodes = {
            name: node.model_copy(update={"elements": elements.get((interview.unit, name), ())})
            for name, node in standing.nodes.items()
        }
        graph = KnowledgeGraph(nodes, standing.edges)
        coverage[interview.unit] = cover(graph, settings.topic.elements, settings.method)
    return coverage


def find_elements(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept]
) -> dict[Place, tuple[str, ...]]:
    """Return, for each concept of an interview, the elements that half of the concepts of its code are linked to."""
    graphs = {interview.unit: interview.graph for interview in interviews}
    found: dict[Place, tuple[str, ...]] = {}
    for concept in concepts:
        counts = Counter(element for unit, node in concept.members for element in graphs[unit].nodes[node].elements)
        elements = tuple(element for element, n in counts.items() if 2 * n >= len(concept.members))
        found.update(dict.fromkeys(concept.members, elements))
    return found


def measure_interviews(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], coverage: Mapping[str, Coverage]
) -> dict[str, Measures]:
    """Return the measures of every interview that has a turn, keyed by unit."""
    code_of = network.homes(concepts)
    measures: dict[str, Measures] = {}
    for interview in interviews:
        codes = {code_of[interview.unit, node].id for node in interview.graph.standing.nodes}
        turns = len(interview.turns)
        measures[interview.unit] = {
            "richness": len(codes),
            "links": len(network.linked(interview, code_of)),
            "coverage": coverage[interview.unit].breadth,
            "new_per_turn": len(codes) / turns,
            "turns": turns,
        }
    return measures


def average_measures(measures: Collection[Measures]) -> dict[str, float | None]:
    """Return the mean of every measure; None where there is no interview."""
    return {name: fmean(each[name] for each in measures) if measures else None for name in MEASURES}


def compare_strategies(
    interviews: Mapping[str, Sequence[LadderingInterview]], settings: LadderingSettings
) -> dict[str, pd.DataFrame]:
    """Return the strategies side by side, and the adaptive one against each other one.

    Compared are agents whose interviews are over in all strategies. The tables are empty where there is one alone.

    Args:
        interviews: of each strategy, keyed by its name.
        settings: of the run.
    """
    if len(interviews) < 2:
        return {"strategies_compared": pd.DataFrame(), "adapting": pd.DataFrame()}
    over = [{talk.unit for talk in talks if talk.stop} for talks in interviews.values()]
    agents = sorted(set.intersection(*over))
    everybody = [
        replace(talk, unit=f"{strategy}|{talk.unit}")
        for strategy, talks in interviews.items()
        for talk in talks
        if talk.unit in agents
    ]
    concepts = network.pool(everybody)
    measures = measure_interviews(everybody, concepts, measure_coverage(everybody, concepts, settings))
    by_strategy = {strategy: [measures[f"{strategy}|{unit}"] for unit in agents] for strategy in interviews}

    means = [
        {"strategy": strategy, "n": len(agents), **average_measures(rows)} for strategy, rows in by_strategy.items()
    ]
    differences = []
    for strategy, rows in by_strategy.items():
        if strategy != ADAPTIVE:
            differences += [
                _compare_with_adaptive(strategy, measure, by_strategy[ADAPTIVE], rows) for measure in MEASURES
            ]
    return {"strategies_compared": pd.DataFrame(means), "adapting": pd.DataFrame(differences)}


def _compare_with_adaptive(strategy: str, measure: str, adaptive: Sequence[Measures], other: Sequence[Measures]) -> Row:
    """Return adaptive − other, agent by agent, with a t interval; Student's paired p of one measure alone."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    gaps = np.array([a[measure] - b[measure] for a, b in zip(adaptive, other, strict=True)], dtype=float)
    mean, p = mean_of(gaps), None
    if measure == TESTED_MEASURE and len(gaps) >= FEWEST:
        p = float(stats.ttest_1samp(gaps, 0).pvalue) if gaps.std() else float(gaps[0] == 0)
    sd = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    direction = "as_many"
    if mean.mean:
        direction = "more" if mean.mean > 0 else "fewer"
    return {
        "strategy": strategy,
        "measure": measure,
        **asdict(mean),
        "size": abs(mean.mean or 0.0),
        "direction": direction,
        "detectable": detectable_change(len(gaps), sd, dof=len(gaps) - 1),
        "p": p,
    }
