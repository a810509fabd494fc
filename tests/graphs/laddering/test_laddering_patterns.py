"""What interviews without a ladder are summed up by: forces, journey, incidents, each from graphs written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from enquete.graphs.laddering.figures import figures
from enquete.graphs.laddering.findings import findings
from enquete.graphs.laddering.interview import Interview, TurnRecord
from enquete.graphs.laddering.knowledge import Edge, KnowledgeGraph, Node, Source
from enquete.graphs.laddering.network import PooledConcept
from enquete.graphs.laddering.patterns import summed_up
from enquete.graphs.laddering.readings import Rating, Readings
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.reports.figures.svg import svg
from tests.support.pictures import overlapping


def interview(
    unit: str, kinds: Mapping[str, str], links: Sequence[str] = (), valence: Mapping[str, int] | None = None,
    by: str = "model",
) -> Interview:  # fmt: skip
    """Concepts by name with their types, each told in a turn of its own, in this order; links as "a>b"; valence of the turn that
    told a concept, as `by` rated it."""
    nodes, turns = {}, []
    for number, (name, kind) in enumerate(kinds.items(), start=1):
        said = Source(utterance=f"{unit}#{number}", quote=name)
        nodes[name] = Node(id=name, text=name, type=kind, confidence=1, turn=number, sources=(said,))
        rated = Rating(rating=valence[name]) if valence and name in valence else None
        turns.append(
            TurnRecord.model_construct(turn=number, choice=None, readings=Readings(valence=rated), by={"signal": by})
        )
    edges = [Edge(source=a, target=b, type="x", confidence=1, turn=1, sources=nodes[a].sources)
             for a, b in (link.split(">") for link in links)]  # fmt: skip
    return Interview(unit, turns=tuple(turns), graph=KnowledgeGraph(nodes, {edge.key: edge for edge in edges}))


def pooled(interviews: Sequence[Interview]) -> list[PooledConcept]:
    """One code a name, the most widespread first."""
    named: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one in interviews:
        for node in one.graph.nodes.values():
            named.setdefault((node.type, node.text), []).append((one.unit, node.id))
    ordered = sorted(named.items(), key=lambda pair: -len(pair[1]))
    return [PooledConcept(f"c{n}", text, kind, tuple(at)) for n, ((kind, text), at) in enumerate(ordered)]


def found(methodology: str, interviews: Sequence[Interview]) -> dict[str, Any]:
    method = LadderingSettings(methodology=methodology).method
    pattern = summed_up(interviews, pooled(interviews), method, "en")
    n = {"begun": len(interviews), "total": len(interviews)}
    concepts = [{"id": "c0", "label": "x", "type": "x", "agents": 1, "members": []}]
    return {"pattern": pattern, "interviews": n, "ladder": [], "types": {"x": "x"}, "concepts": concepts, "graphs": [],
            "saturation": [{"interviews": 1, "new": 1, "concepts": 1}], "models": {"extract": {"m": 9}}}  # fmt: skip


FORCES = [
    interview("a", {"j": "job_statement", "p": "pain_point", "g": "gain_point", "h": "habit"}),  # 2 for, 1 against: 1/3
    interview("b", {"j": "job_statement", "w": "anxiety", "h": "habit", "t": "job_trigger"}),  # 1 for, 2 against: −1/3
    interview("c", {"j": "job_statement", "e": "emotional_job"}),  # 1
    interview("d", {"j": "job_statement", "p": "pain_point", "w": "anxiety"}),  # 0
    interview("e", {"j": "job_statement"}),  # no force
    interview("f", {"s": "social_job"}),  # 1
]


def test_forces_count_agents_and_weigh_each_agents_own() -> None:
    own = found("jobs_to_be_done", FORCES)["pattern"]["forces"]
    assert [(one["agents"], one["codes"], one["concepts"]) for one in own["forces"]] == [
        (3, 2, 3),
        (3, 3, 3),
        (2, 1, 2),
        (2, 1, 2),
    ]
    assert [one["first"]["label"] for one in own["forces"]] == ["p", "g", "w", "h"]
    assert [one["balance"] for one in own["agents"]] == pytest.approx([1 / 3, -1 / 3, 1, 0, None, 1])
    assert own["balance"] == pytest.approx({"n": 5, "towards": 3, "even": 1, "against": 1, "mean": 0.4})


JOURNEY = [
    interview("a", {"start": "stage", "end": "stage", "desk": "touchpoint", "queue": "friction", "rage": "state"},
              ["start>desk", "desk>queue", "queue>rage"], {"rage": 1}),
    interview("b", {"start": "stage", "desk": "touchpoint", "end": "stage", "rage": "state", "calm": "state"},
              ["start>desk", "desk>rage", "desk>calm"], {"rage": 2, "calm": 4}),
    interview("c", {"end": "stage", "start": "stage", "calm": "state"}, ["end>calm"], {"calm": 5}),
    interview("d", {"end": "stage", "calm": "state"}, ["end>calm"], {"calm": 3}, by="rule"),  # a rule that found no feeling
]  # fmt: skip


def test_a_journey_is_told_stage_by_stage_with_the_feeling_of_each_step() -> None:
    """start before end with two of three agents who told both; desk belongs to start. Valence at the desk: a 1 (by way of the
    friction), b (2 + 4) / 2 = 3, so 2 on average of two agents."""
    start, desk, end = found("customer_journey", JOURNEY)["pattern"]["journey"]["steps"]
    assert [one["label"] for one in (start, desk, end)] == ["start", "desk", "end"]
    assert (desk["valence"]["n"], desk["valence"]["mean"]) == (2, 2.0)
    assert (desk["feeling"], desk["friction"], desk["agents"]) == ("rage", "queue", 2)
    assert (start["valence"]["n"], start["valence"]["mean"]) == (0, None)
    assert (end["valence"]["n"], end["valence"]["mean"]) == (1, 5.0)


INCIDENTS = [
    interview("a", {"storm": "incident", "fog": "situation", "flee": "action", "loss": "outcome", "care": "learning"},
              ["storm>fog", "storm>flee", "flee>loss", "loss>care"]),
    interview("b", {"storm": "incident", "fire": "incident", "flee": "action", "fear": "emotion"},
              ["storm>flee", "storm>fire", "fire>fear"]),
]  # fmt: skip


def test_an_incident_has_its_own_chain_and_not_that_of_another() -> None:
    own = found("critical_incident", INCIDENTS)["pattern"]["incidents"]
    assert (own["told"], own["whole"]) == (3, 1)
    assert [one["told"] for one in own["parts"]] == [1, 3, 2, 2, 1]  # before, itself, coping, consequence, what stays
    storm, fire = own["incidents"]
    assert [one["agents"] for one in storm["parts"]] == [1, 2, 2, 1, 1]
    assert [one["first"] for one in fire["parts"]] == ["", "fire", "", "fear", ""]


@pytest.mark.parametrize(
    ("methodology", "interviews", "figure", "said"),
    [
        (
            "jobs_to_be_done",
            FORCES,
            "forces",
            "3 interviews (60%, 95% interval 23% to 88%; n = 5/6); mean balance 0.40",
        ),
        (
            "customer_journey",
            [*JOURNEY * 5],
            "journey",
            "“desk”, where answers about feelings have a mean valence of 2.00 of 5",
        ),
        ("critical_incident", INCIDENTS * 3, "incidents", "Of 9 incidents told, 3 are told from what led to them"),
    ],
)
def test_each_has_a_finding_and_a_figure_of_its_own_and_no_ladder(
    methodology: str, interviews: Sequence[Interview], figure: str, said: str
) -> None:
    """Shares and intervals: tests/graphs/laddering/test_laddering_findings.py."""
    own = found(methodology, interviews)
    assert not LadderingSettings(methodology=methodology).method.climbs
    stated = list(findings(own, "en"))
    assert said in stated[0].text
    assert not any("leads to" in one.text for one in stated)
    drawn = next(iter(figures(own, "en")))
    assert drawn.name == figure
    assert overlapping(svg(drawn.spec, drawn.alt)) == []
