"""The forces of progress in jobs to be done (Moesta; Christensen et al. 2016): push and pull speak for a change, anxiety and habit
against it. A concept counts once an agent; an agent's balance says which side is named more.

Measured by: counts worked out by hand (tests/graphs/laddering/test_laddering_patterns.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.means import mean_of, share_interval
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.graphs.laddering.network import PooledConcept
from enquete.graphs.laddering.ontology import Force
from enquete.locale import N_, in_language
from enquete.reports.figures.canvas import Canvas, Figure, answers, rows, titled
from enquete.reports.figures.palette import COLOURS, MUTED
from enquete.reports.figures.text import escaped
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence
from enquete.reports.markdown import number, share
from enquete.state.asking import Language

ROW = 52  # px

WORDS = {
    "title": N_("Forces: what speaks for a change and what against it"),
    "axis": N_("agents who name it: against a change to the left, for one to the right"),
    "bar": N_("{force}: {agents} of {asked} agents asked, {codes} different concepts"),
    "alt": N_("Agents who name each force, of {n}: {forces}."),
    "said": N_("{force} {agents}"),
    "finding": N_(
        "More speaks for a change than against it in {agents} interviews ({shown_share}, 95% interval {low} to {high}; "
        "n = {n}/{total}); mean balance {mean}."
    ),
}


def summed_up(
    interviews: Sequence[Interview],
    concepts: Sequence[PooledConcept],
    declared: Sequence[Force],
    method: InterviewMethod,
    language: Language,
) -> dict[str, Any]:
    """forces: of each, the agents who name it, those who were asked for it, its codes, the one named most; agents: counts and
    balance of each; balance: over the agents who name any force."""
    named = [[_named(interview, force) for force in declared] for interview in interviews]
    balances = [_balance(counts, declared) for counts in named]
    known = [one for one in balances if one is not None]
    return {
        "forces": [
            {
                "label": force.label.in_(language),
                "for_change": force.for_change,
                "agents": sum(counts[place] > 0 for counts in named),
                "asked": sum(_asked(interview, force, method) for interview in interviews),
                "concepts": sum(counts[place] for counts in named),
                **_codes(concepts, force),
            }
            for place, force in enumerate(declared)
        ],
        "agents": [
            {"participant": interview.unit, "named": counts, "balance": balance}
            for interview, counts, balance in zip(interviews, named, balances, strict=True)
        ],
        "balance": {
            "n": len(known),
            "towards": sum(one > 0 for one in known),
            "even": sum(one == 0 for one in known),
            "against": sum(one < 0 for one in known),
            "mean": mean_of(known).mean,
        },
    }


def _named(interview: Interview, force: Force) -> int:
    return sum(node.type in force.types for node in interview.graph.standing.nodes.values())


def _balance(counts: Sequence[int], declared: Sequence[Force]) -> float | None:
    """(Σ for − Σ against) / Σ, from −1 (all against a change) to 1; None where no force is named."""
    total = sum(counts)
    for_change = sum(count for count, force in zip(counts, declared, strict=True) if force.for_change)
    return (2 * for_change - total) / total if total else None


def _asked(interview: Interview, force: Force, method: InterviewMethod) -> bool:
    """Whether a question aimed at it: a force nobody asked for is not missing."""
    return any(
        technique.id == turn.choice.technique and technique.elicits in force.types
        for turn in interview.turns
        if turn.choice
        for technique in method.strategies[turn.choice.strategy].techniques
    )


def _codes(concepts: Sequence[PooledConcept], force: Force) -> dict[str, Any]:
    own = sorted((one for one in concepts if one.type in force.types), key=lambda one: -one.agents)
    first = {"label": own[0].label, "agents": own[0].agents} if own else None
    return {"codes": len(own), "first": first}


def figures(own: Mapping[str, Any], note: str, language: Language) -> Iterator[Figure]:
    """A bar a force, as long as the number of agents who name it: to the right for a change, to the left against it."""
    words = in_language(WORDS, language)
    forces = list(own["forces"])
    if not any(one["agents"] for one in forces):
        return
    labels = [escaped(one["label"]) for one in forces]
    lengths = [one["agents"] * (1 if one["for_change"] else -1) for one in forces]
    said = [
        words["bar"].format(force=label, **{key: one[key] for key in ("agents", "asked", "codes")})
        for label, one in zip(labels, forces, strict=True)
    ]
    most = max(map(abs, lengths))
    canvas = Canvas(words["title"], note, language, ROW * len(forces))
    canvas.data.append({
        "type": "bar", "orientation": "h", "x": lengths, "y": list(range(len(forces))), "width": [0.55] * len(forces),
        "marker": {"color": [COLOURS[0] if one["for_change"] else COLOURS[1] for one in forces]},
        "text": [str(one["agents"]) for one in forces], "textposition": "outside", "textfont": {"color": MUTED},
        "hoverinfo": "text", "hovertext": said, "meta": {"links": [answers("laddering")] * len(forces)},
    })  # fmt: skip
    step = max(1, -(-most // 4))
    ticks = list(range(-(most // step) * step, most + 1, step))
    canvas.layout.update(
        showlegend=False,
        xaxis=titled(words["axis"], range=[-most * 1.15, most * 1.15], zeroline=True, tickvals=ticks,
                     ticktext=[str(abs(tick)) for tick in ticks]),
        yaxis=rows(labels),
    )  # fmt: skip
    told = ", ".join(
        words["said"].format(force=label, agents=one["agents"]) for label, one in zip(labels, forces, strict=True)
    )
    yield canvas.figure("forces", words["alt"].format(n=len(own["agents"]), forces=told), lead=True)


def findings(own: Mapping[str, Any], n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    """How many agents name more for a change than against it."""
    balance = own["balance"]
    if balance["n"] < FEWEST:
        return
    numbers = share_interval(balance["towards"], balance["n"])
    shown = {key: share(value, language) for key, value in numbers.items()}
    text = sentence(
        WORDS["finding"], language, agents=balance["towards"], n=balance["n"], total=total, shown_share=shown.pop("share"),
        mean=number(balance["mean"], language), **shown,
    )  # fmt: skip
    yield KeyFinding(
        "forces", text, "position", balance["towards"] / balance["n"], balance["n"], total, None, (), "forces",
        {**numbers, "agents": balance["towards"], "n": balance["n"], "mean": balance["mean"]},
    )  # fmt: skip
