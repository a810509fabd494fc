"""Interviews by their codes: how far each covers the topic, what strategies are compared by, and whether adapting helped.

Strategies ask the same agents, each in an arm of its own. Their interviews are read by one codebook, a rule's over the concepts
of all arms alike, and compared agent by agent. Measured by: a comparison by hand (tests/graphs/laddering/test_laddering_comparing.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from enquete.analysis.change.paired import holm
from enquete.analysis.means import mean_of
from enquete.graphs.laddering.coverage import Coverage, cover
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.network import PooledConcept, linked, pool
from enquete.graphs.laddering.settings import ADAPTIVE, LadderingSettings
from enquete.locale import N_, tell
from enquete.reports.key_findings import FEWEST, LEVEL, sentence
from enquete.reports.markdown import number
from enquete.state.asking import Language

STRATEGIES: Mapping[str, str] = {
    "scored": N_("adaptive questions"), "random": N_("random questions"), "static": N_("a fixed script"),
}  # fmt: skip
VERDICTS: Mapping[str, str] = {
    "more": N_(
        "Adapting helped: adaptive questions found {difference} more concepts an interview than {other} (95% interval {low} to "
        "{high}; n = {n}/{total})."
    ),
    "fewer": N_(
        "Adapting did not help: adaptive questions found {difference} fewer concepts an interview than {other} (95% interval "
        "{low} to {high}; n = {n}/{total})."
    ),
    "alike": N_(
        "Whether adapting helped is not certain: adaptive questions found {difference} more concepts an interview than {other} "
        "(95% interval {low} to {high}; n = {n}/{total})."
    ),
    "few": N_("Whether adapting helped cannot be said of {n} agents: it takes {least} interviewed by both strategies."),
}


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


def _about(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept]
) -> Mapping[tuple[str, str], tuple[str, ...]]:
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
    belongs = {place: concept.id for concept in concepts for place in concept.members}
    found = {}
    for one in interviews:
        codes = {belongs[one.unit, node] for node in one.graph.standing.nodes}
        turns, links = len(one.turns), len(linked(one, belongs))
        found[one.unit] = Measures(len(codes), links, coverage[one.unit].breadth, len(codes) / turns, turns)
    return found


def averaged(measures: Sequence[Measures]) -> dict[str, float | None]:
    """Over interviews; None without one."""
    return {name: float(np.mean([getattr(one, name) for one in measures])) if measures else None for name in MEASURES}


def compared(interviews: Mapping[str, Sequence[Interview]], settings: LadderingSettings) -> dict[str, Any]:
    """strategy → its interviews, side by side: of agents whose interviews are over in all. {} where there is one strategy alone.

    `differences`: adaptive − other of every measure, agent by agent, with t intervals; p of richness, by Holm.
    """
    if len(interviews) < 2:
        return {}
    over = [{one.unit for one in each if one.stop} for each in interviews.values()]
    agents = sorted(set.intersection(*over))
    named = {
        strategy: [replace(one, unit=f"{strategy}|{one.unit}") for one in each if one.unit in agents]
        for strategy, each in interviews.items()
    }
    everybody = [one for each in named.values() for one in each]
    concepts = pool(everybody)
    found = measured(everybody, concepts, covered(everybody, concepts, settings))
    by = {strategy: [found[f"{strategy}|{unit}"] for unit in agents] for strategy in interviews}
    others = [strategy for strategy in by if strategy != ADAPTIVE]
    differences = [_difference(one, by[ADAPTIVE], by[one]) for one in others]
    adjusted = [1.0 if p is None else p for p in holm([one["p"] for one in differences])]
    return {
        "codes": len(concepts),
        "strategies": [{"strategy": one, "n": len(agents), **averaged(by[one])} for one in by],
        "differences": [
            {**one, "p": p, "verdict": _verdict(one, p)}
            for one, p in zip(differences, adjusted, strict=True)
        ],
        "interviews": [
            {"participant": unit, "strategy": strategy, **asdict(found[f"{strategy}|{unit}"])}
            for unit in agents for strategy in by
        ],
    }  # fmt: skip


def _difference(strategy: str, adaptive: Sequence[Measures], other: Sequence[Measures]) -> dict[str, Any]:
    values = {
        name: np.array([getattr(a, name) - getattr(b, name) for a, b in zip(adaptive, other, strict=True)], dtype=float)
        for name in MEASURES
    }
    means = {name: asdict(mean_of(each)) for name, each in values.items()}
    return {"strategy": strategy, "n": len(adaptive), **means, "p": _p(values["richness"])}


def _p(differences: np.ndarray[Any, Any]) -> float:
    """Student's two-sided p that their mean is 0 (one sample, n − 1 degrees of freedom); 1 where there is nothing to test."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    n = len(differences)
    mean, sd = (float(differences.mean()), float(differences.std(ddof=1))) if n > 1 else (0.0, 0.0)
    if not sd:
        return float(mean == 0)
    return float(2 * stats.t.sf(abs(mean) * n**0.5 / sd, n - 1))


def _verdict(difference: Mapping[str, Any], p: float) -> str:
    if difference["n"] < FEWEST:
        return "few"
    if p >= LEVEL:
        return "alike"
    return "more" if difference["richness"]["mean"] > 0 else "fewer"


def told(comparison: Mapping[str, Any], total: int, language: Language) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each difference, and the sentence that says whether adapting helped."""
    for one in comparison.get("differences", ()):
        mean, low, high = (one["richness"][key] for key in ("mean", "low", "high"))
        if one["verdict"] == "fewer":
            mean, low, high = -mean, -high, -low
        shown = {key: number(value, language, 1) for key, value in (("difference", mean), ("low", low), ("high", high))}
        other = tell(STRATEGIES[one["strategy"]], language)
        yield (
            one,
            sentence(VERDICTS[one["verdict"]], language, other=other, n=one["n"], total=total, least=FEWEST, **shown),
        )
