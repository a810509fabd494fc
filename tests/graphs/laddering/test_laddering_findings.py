"""Findings of the interviews: shares of interviews with Wilson's interval, and none where a rule read the answers."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats

from enquete.graphs.laddering.findings import findings
from enquete.reports.key_findings import FEWEST


def found(interviews: int = 20, by_rule: int = 0) -> dict[str, Any]:
    """Quiet (attribute) leads to calm (a value) in 8 interviews; calm is named in 12."""
    concepts = [
        {"id": "c1", "label": "calm", "type": "value", "agents": 12, "members": [["a", "n2"]]},
        {"id": "c2", "label": "quiet", "type": "attribute", "agents": 9, "members": [["a", "n1"]]},
    ]
    nodes = [{"id": "n1", "sources": [{"utterance": "a#1"}]}, {"id": "n2", "sources": [{"utterance": "a#12"}]}]
    return {
        "interviews": {"begun": interviews, "total": 22}, "models": {"extract": {"m": 100 - by_rule, "rule": by_rule}},
        "types": {"attribute": "attribute", "value": "value"}, "ladder": ["attribute", "value"], "concepts": concepts,
        "implications": [{"source": "c2", "target": "c1", "direct": 8, "indirect": 0, "relation": "leads_to"}],
        "relations": {"leads_to": "leads to"},
        "graphs": [{"participant": "a", "nodes": nodes}],
        "saturation": [{"interviews": i, "new": 1 if i in (1, 19) else 0, "concepts": 1 + (i > 18)} for i in range(1, 21)],
    }  # fmt: skip


def test_what_leads_to_what_is_a_share_of_interviews() -> None:
    link, end, concept, saturation = findings(found(), "en")
    low, high = stats.binomtest(8, 20).proportion_ci(method="wilson")
    assert link.numbers == pytest.approx({"share": 0.4, "low": low, "high": high, "agents": 8, "n": 20})
    assert link.text == "“quiet” leads to “calm” in 8 interviews (40%, 95% interval 22% to 61%; n = 20/22)."
    assert (link.items, link.kind, link.size) == (("turn_01", "turn_12"), "position", 0.4)
    assert (end.numbers["agents"], concept.numbers["agents"]) == (12, 12)
    assert saturation.numbers == {"new": 1, "concepts": 2, "n": 20}  # interviews 16 to 20 brought one


@pytest.mark.parametrize(("by_rule", "kinds"), [(10, {"position"}), (11, {"null"})])
def test_where_a_rule_read_the_answers_that_is_all_there_is_to_say(by_rule: int, kinds: set[str]) -> None:
    stated = list(findings(found(by_rule=by_rule), "en"))
    assert {one.kind for one in stated} == kinds
    if "null" in kinds:
        assert "a rule stood in for the model and read 11 of 100 answers" in stated[0].text


def test_no_concept_is_said_and_few_interviews_say_nothing() -> None:
    (none,) = findings({**found(), "concepts": [], "implications": []}, "en")
    assert none.kind == "null"
    assert not list(findings(found(interviews=FEWEST - 1), "en"))
