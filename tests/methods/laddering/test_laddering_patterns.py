"""What interviews without a ladder are summed up by: forces, journey, incidents, each from graphs written down by
hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scipy import stats

from enquete.methods.laddering.interview import LadderingInterview, TurnRecord
from enquete.methods.laddering.knowledge import ConceptNode, ConceptSource, Edge, KnowledgeGraph
from enquete.methods.laddering.network import PooledConcept, pattern
from enquete.methods.laddering.settings import LadderingSettings
from enquete.methods.laddering.signals import AnswerRating, Readings
from enquete.methods.laddering.tables import PRESENTATION
from tests.support.charts import results
from tests.support.tables import findings


def interview(
    unit: str, kinds: Mapping[str, str], links: Sequence[str] = (), valence: Mapping[str, int] | None = None,
    by: str = "model",
) -> LadderingInterview:  # fmt: skip
    """Concepts by name with their types, each told in a turn of its own, in this order; links as "a>b"; valence of the
    turn that told a concept, as `by` rated it."""
    nodes, turns = {}, []
    for number, (name, kind) in enumerate(kinds.items(), start=1):
        source = ConceptSource(utterance=f"{unit}#{number}", quote=name)
        nodes[name] = ConceptNode(id=name, text=name, type=kind, confidence=1, turn=number, sources=(source,))
        rated = AnswerRating(rating=valence[name]) if valence and name in valence else None
        turns.append(
            TurnRecord.model_construct(turn=number, choice=None, readings=Readings(valence=rated), by={"signal": by})
        )
    edges = [Edge(source=a, target=b, type="x", confidence=1, turn=1, sources=nodes[a].sources)
             for a, b in (link.split(">") for link in links)]  # fmt: skip
    return LadderingInterview(unit, turns=tuple(turns), graph=KnowledgeGraph(nodes, {edge.key: edge for edge in edges}))


def pooled(interviews: Sequence[LadderingInterview]) -> list[PooledConcept]:
    """One code a name, the most widespread first."""
    named: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for held in interviews:
        for node in held.graph.nodes.values():
            named.setdefault((node.type, node.text), []).append((held.unit, node.id))
    ordered = sorted(named.items(), key=lambda pair: -len(pair[1]))
    return [PooledConcept(f"c{n}", text, kind, tuple(at)) for n, ((kind, text), at) in enumerate(ordered)]


def tables_of(methodology: str, interviews: Sequence[LadderingInterview]) -> dict[str, Any]:
    """The pattern's tables, with the codes that they name."""
    method, codes = LadderingSettings(methodology=methodology).method, pooled(interviews)
    concepts = [{"concept": code.id, "label": code.label, "type": code.type, "agents": code.agents} for code in codes]
    tables = pattern(interviews, codes, method, "en")
    for beside in ("balances", "whole"):  # of agents, and facts
        tables.pop(beside, None)
    return {"concepts": concepts, **tables}


def label(tables: Mapping[str, Any], code: str | None) -> str | None:
    return next((concept["label"] for concept in tables["concepts"] if concept["concept"] == code), None)


FORCES = [
    interview("a", {"j": "job_statement", "p": "pain_point", "g": "gain_point", "h": "habit"}),  # 2 for, 1 against: 1/3
    interview("b", {"j": "job_statement", "w": "anxiety", "h": "habit", "t": "job_trigger"}),  # 1 for, 2 against: −1/3
    interview("c", {"j": "job_statement", "e": "emotional_job"}),  # 1
    interview("d", {"j": "job_statement", "p": "pain_point", "w": "anxiety"}),  # 0
    interview("e", {"j": "job_statement"}),  # no force
    interview("f", {"s": "social_job"}),  # 1
]


def test_forces_count_agents_and_weigh_each_agents_own() -> None:
    tables = tables_of("jobs_to_be_done", FORCES)
    assert [(force["agents"], force["codes"], label(tables, force["first"])) for force in tables["forces"]] == [
        (3, 2, "p"), (3, 3, "g"), (2, 1, "w"), (2, 1, "h"),
    ]  # fmt: skip
    by_agent = pattern(FORCES, pooled(FORCES), LadderingSettings(methodology="jobs_to_be_done").method, "en")[
        "balances"
    ]
    assert list(by_agent.values()) == pytest.approx([1 / 3, -1 / 3, 1, 0, None, 1])
    (balance,) = tables["balance"]
    assert [balance[key] for key in ("n", "towards", "even", "against", "decided", "mean")] == pytest.approx(
        [5, 3, 1, 1, 4, 0.4]
    )
    assert (balance["direction"], balance["p"]) == ("towards", None)  # four are too few to be tested
    (more,) = tables_of(
        "jobs_to_be_done", [replace(incident, unit=f"{incident.unit}{n}") for n in range(3) for incident in FORCES]
    )["balance"]
    assert more["p"] == pytest.approx(stats.binomtest(9, 12).pvalue)


JOURNEY = [
    interview("a", {"start": "stage", "end": "stage", "desk": "touchpoint", "queue": "friction", "rage": "state"},
              ["start>desk", "desk>queue", "queue>rage"], {"rage": 1}),
    interview("b", {"start": "stage", "desk": "touchpoint", "end": "stage", "rage": "state", "calm": "state"},
              ["start>desk", "desk>rage", "desk>calm"], {"rage": 2, "calm": 4}),
    interview("c", {"end": "stage", "start": "stage", "calm": "state"}, ["end>calm"], {"calm": 5}),
    interview("d", {"end": "stage", "calm": "state"}, ["end>calm"], {"calm": 3}, by="rule"),
        # a rule that found no feeling
]  # fmt: skip


def test_a_journey_is_told_stage_by_stage_with_the_feeling_of_each_step() -> None:
    """start before end with two of three agents who told both; desk belongs to start. Valence at the desk: a 1 (by way
    of the friction), b (2 + 4) / 2 = 3, so 2 on average of two agents."""
    tables = tables_of("customer_journey", JOURNEY)
    start, desk, end = tables["steps"]
    assert [label(tables, step["step"]) for step in (start, desk, end)] == ["start", "desk", "end"]
    assert (desk["n"], desk["mean"], desk["agents"]) == (2, 2.0, 2)
    assert (label(tables, desk["feeling"]), label(tables, desk["friction"])) == ("rage", "queue")
    assert (start["n"], start["mean"]) == (0, None)
    assert (end["n"], end["mean"], end["lowest"]) == (1, 5.0, False)


INCIDENTS = [
    interview("a", {"storm": "incident", "fog": "situation", "flee": "action", "loss": "outcome", "care": "learning"},
              ["storm>fog", "storm>flee", "flee>loss", "loss>care"]),
    interview("b", {"storm": "incident", "fire": "incident", "flee": "action", "fear": "emotion"},
              ["storm>flee", "storm>fire", "fire>fear"]),
]  # fmt: skip


def test_an_incident_has_its_own_chain_and_not_that_of_another() -> None:
    tables = tables_of("critical_incident", INCIDENTS)
    assert [(part["told"], part["tellings"]) for part in tables["parts"]] == [(1, 3), (3, 3), (2, 3), (2, 3), (1, 3)]
    storm, fire = tables["incidents"][:5], tables["incidents"][5:]
    assert [part["agents"] for part in storm] == [1, 2, 2, 1, 1]
    assert [label(tables, part["first"]) for part in fire] == [None, "fire", None, "fear", None]
    assert [part["centre"] for part in fire] == [False, True, False, False, False]
    whole = pattern(INCIDENTS, pooled(INCIDENTS), LadderingSettings(methodology="critical_incident").method, "en")[
        "whole"
    ]
    assert (whole["n_whole"], whole["n_told"]) == (1, 2)  # a's storm, of two agents who told any


def again(interviews: Sequence[LadderingInterview], times: int) -> list[LadderingInterview]:
    """The same interviews of as many agents more."""
    more = []
    for copy in [replace(held, unit=f"{held.unit}{n}") for n in range(times) for held in interviews]:
        told = {name: node.model_copy(update={"sources": tuple(
            s.model_copy(update={"utterance": f"{copy.unit}#{s.utterance.partition('#')[2]}"}) for s in node.sources)})
            for name, node in copy.graph.nodes.items()}  # fmt: skip
        more.append(replace(copy, graph=KnowledgeGraph(told, copy.graph.edges)))
    return more


@pytest.mark.parametrize(
    ("methodology", "interviews", "message"),
    [
        ("jobs_to_be_done", again(FORCES, 6), "18 of 24 agents name more for a change than against it (75%, 95% "
                                              "interval 55% to 88%, adjusted p = 0.02"),
        ("customer_journey", again(JOURNEY, 5),
            "“desk”, where answers about feelings have a mean valence of 2.00 of 5"),
        ("critical_incident", again(INCIDENTS, 3), "3 of 6 agents who told an incident told one from what led to it "
                                                   "to what stays"),
    ],
)  # fmt: skip
def test_each_has_a_finding_of_its_own_and_no_ladder(
    methodology: str, interviews: Sequence[LadderingInterview], message: str
) -> None:
    """Wilson's interval of 18 of 24: [.551, .880]; the sign test's p: 2·P(X ≤ 6) of 24 = .0227 (R binom.test)."""
    assert not LadderingSettings(methodology=methodology).method.climbs
    tables = tables_of(methodology, interviews)
    facts = {"n": len(interviews), "n_total": len(interviews), "climbs": False, "by_rule": False}
    method = LadderingSettings(methodology=methodology).method
    facts |= pattern(interviews, pooled(interviews), method, "en").get("whole", {})
    told = [finding.text for finding in findings(PRESENTATION, results(PRESENTATION, tables, facts).analysis).values()]
    assert any(message in text for text in told), told
    assert not any("leads to" in text for text in told)
