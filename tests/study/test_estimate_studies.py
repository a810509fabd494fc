"""Estimate against actual in forty small studies of every methodology: with persons, with some of the agents, in groups
by hand and of unequal sizes. What a run really cost lies in the range that was said before.

A handful runs always; all of them in `make soak`. A study that leaves its range is a failure: 40 of 40 are asked for,
more than the 95 % that were promised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Arm
from tests.support.bare_runs import interview
from tests.support.filling import answered
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys, personas, spent

Study = tuple[int, dict[str, Any]]
"""(agents of the population, request)."""


def table(agents: int, **settings: Any) -> Study:
    return agents, {"methods": ["roundtable"], "settings": {"roundtable": settings}}


def by_hand(agents: int, members: str, **settings: Any) -> Study:
    """members: numbers of persons, "3 17 41; 5 6"."""
    groups = "; ".join(", ".join(f"Person {number}" for number in group.split()) for group in members.split(";"))
    return table(agents, compose="hand", members=groups, **settings)


def some(*numbers: int) -> list[str]:
    return [f"Person {number}" for number in numbers]


def asked(of: int, *methods: str, **request: Any) -> Study:
    return of, {"methods": list(methods), **request}


TURNS = {"laddering": {"turns": 5}}
PERSONS: dict[str, Any] = {"arms": [Arm(respondent="human")]}
BOTH: dict[str, Any] = {
    "arms": [Arm(respondent="llm", model="m"), Arm(id="people", role="b", respondent="human", sample=2)]
}
HALF: dict[str, Any] = {
    "arms": [Arm(respondent="llm", model="m"), Arm(id="b", role="b", respondent="llm", model="other", sample=4, seed=2)]
}

FEW: dict[str, Study] = {
    "three by hand of fifty": by_hand(50, "3 17 41", rounds=2),
    "one group of four of fifty": table(50, groups=1, size=4, rounds=2),
    "one of three seats a person's": by_hand(9, "1 4 7", people="Person 4", rounds=1),
    "persons answer all": asked(3, "longitudinal", **PERSONS),
    "keyless, one group of three of thirty": (
        30,
        {**table(30, groups=1, size=3, rounds=1)[1], "respondent": "synthetic"},
    ),
    "a roundtable of two arms": (8, {**table(8, size=4, rounds=1, private=False)[1], **HALF}),
}
MORE: dict[str, Study] = {
    "groups of two, six and three": by_hand(12, "0 1; 2 3 4 5 6 7; 8 9 10"),
    "groups of two and ten of sixty": by_hand(60, "0 59; 10 11 12 13 14 15 16 17 18 19", rounds=2),
    "groups of one type": table(23, compose="type", size=4),
    "readers": table(30, groups=2, size=4, controls=3, rounds=2),
    "more groups than rehearse": table(60, size=4, rounds=2),
    "nobody asked privately": table(12, size=3, private=False),
    "assigned stances": table(11, mode="devils-advocate", size=4),
    "perspectives": table(9, mode="expert-panel", size=4),
    "red and blue": table(8, mode="red-team-blue-team", size=4, rounds=2),
    "a delphi in groups": table(10, mode="delphi", size=5),
    "two of four seats persons'": by_hand(20, "1 4 7 11", people="Person 4; Person 11", rounds=2),
    "a person in each of two groups": by_hand(20, "1 4; 7 11 12", people="Person 4; Person 11", rounds=1),
    "read by a model": table(8, size=4, analyses="model", summaries="model", context_tokens=200),
    "a roundtable of some of the agents": (40, {**table(40, size=3)[1], "agents": some(1, 5, 9, 13, 17, 21, 25)}),
    "a roundtable item by item": (6, {**table(6, size=3, rounds=1)[1], "asking": "item"}),
    "a keyless roundtable": (33, {**table(33, size=4, rounds=2)[1], "respondent": "synthetic"}),
    "waves of some": asked(30, "longitudinal", agents=some(2, 3, 29)),
    "waves of two arms": asked(9, "longitudinal", **HALF), "waves, persons beside": asked(5, "longitudinal", **BOTH),
    "a Delphi of some": asked(30, "delphi", agents=some(0, 7, 14, 21, 28)),
    "a Delphi of persons": asked(3, "delphi", **PERSONS), "a Delphi, persons beside": asked(5, "delphi", **BOTH),
    "sorts of some": asked(30, "diversity", agents=some(4, 8, 12, 16)),
    "sorts of persons": asked(3, "diversity", **PERSONS),
    "scenarios of some": asked(30, "scenario", agents=some(1, 2)),
    "scenarios of persons": asked(3, "scenario", **PERSONS),
    "ladders of some": asked(30, "laddering", agents=some(1, 2, 3), settings=TURNS),
    "ladders of persons": asked(2, "laddering", settings=TURNS, **PERSONS),
    "a discovery of some": asked(30, "discovery", agents=some(1, 2, 3)),
    "a discovery of persons": asked(2, "discovery", **PERSONS),
    "a poll of some": asked(30, "poll", agents=some(6, 7, 8)), "a poll of persons": asked(3, "poll", **PERSONS),
    "a poll of fifty": asked(50, "poll"),
    "all of some": asked(20, "longitudinal", "delphi", "diversity", "scenario", agents=some(3, 6, 9)),
}  # fmt: skip


@pytest.mark.parametrize("study", [*FEW, *(pytest.param(name, marks=pytest.mark.soak) for name in MORE)])
def test_what_a_study_cost_lies_in_the_range_said_before(tmp_path: Path, study: str) -> None:
    agents, request = {**FEW, **MORE}[study]
    named = "arms" in request or "respondent" in request
    with ModelServer() as server:
        common = {
            "out": str(tmp_path / "out"), "base_url": server.base_url, **({} if named else {"model": "m"}), **request,
        }  # fmt: skip
        expected = enquete.estimate(personas(tmp_path, agents), **common)
        assert not server.requests
        where = {"sim": str(personas(tmp_path, agents)), "out": common["out"], "base_url": server.base_url}
        run = answered(interview(personas(tmp_path, agents), **common), **where)
    assert run.status == "completed"
    calls, tokens = len(call_keys(run.folder)), spent(run.folder)
    print(f"\n{study}: calls {calls} in {expected.calls}, tokens {tokens} in {expected.tokens}")
    assert expected.calls.low <= calls <= expected.calls.high
    assert expected.tokens.low <= tokens <= expected.tokens.high
