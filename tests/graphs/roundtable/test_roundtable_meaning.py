"""Positions grouped by what they mean: a model decides, the rule is a check, and where no model answers nothing is
decided. The positions are those by which ai-roundtable explains why words are not enough. Expected numbers by hand."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from enquete.graphs.roundtable.agreement import four_layers
from enquete.graphs.roundtable.discussion import RoundtableSettings
from enquete.graphs.roundtable.grouping import GROUPER, PositionGroups, PositionsSaid, is_quoted, readings
from enquete.graphs.roundtable.modes import Response
from enquete.locale import in_language
from enquete.study.method_operations import operate
from tests.graphs.roundtable.tables import hold
from tests.support.model_server import ModelServer

SAYS = {
    "Ada": "Developers need better tools.",
    "Ben": "Software engineers require improved tooling!",  # the same, in other words
    "Cleo": "Developers need no better tools.",  # the opposite, in the same words
}


def says(name: str, round: int, item: str, again: bool) -> object:
    if item == "stance":
        return "no" if name == "Cleo" else "yes"
    return SAYS[name] if item == "position" else 0.9 if item == "confidence" else None


def grouped(*groups: int, unmoved: bool = True) -> Any:
    """What a model replies: the groups of numbers 1 to 3; it quotes the position, and one that nobody said."""

    def work(task: Any) -> Any:
        if not isinstance(task.data, PositionsSaid):
            return task.rule(task.data)
        numbers = list(task.data.said)
        names = {
            number: next(n for n, text in SAYS.items() if text == one.position)
            for number, one in task.data.said.items()
        }
        place = dict(zip(SAYS, groups, strict=True))
        return PositionGroups(
            group_of={number: place[names[number]] for number in numbers}, says={"1": "Better tools", "9": "nobody's"},
            quote_of={
                n: task.data.said[n].position if names[n] != "Cleo" else "I never said that at all" for n in numbers
            },
            unmoved=dict.fromkeys(task.data.before, unmoved), conflicts=["whether tools are needed"],
        )  # fmt: skip

    return work


def test_the_models_groups_decide_and_the_rule_stands_beside_them() -> None:
    """All are one to the model: 1 · .7 + 1 · .3, and it is over after one round. By words Ben shares nothing with the
    others, and Cleo is on the other side: three positions, 0 · .7 + .3, three of three pairs otherwise."""
    table = hold("collaborative", 3, says, works=grouped(1, 1, 1), by="judge", agreement="meaning")
    (read,) = readings(table.talk)
    assert (table.talk.exit.reason, read["by"], read["agreement"]) == ("consensus", "judge", 1.0)
    assert read["rule"]["agreement"] == pytest.approx(0.3)
    assert (len(set(read["rule"]["camp_of"].values())), read["rule"]["differs"]) == (3, 1.0)
    decision = four_layers(table.talk, "en", table.procedure.settings.played.mode)
    assert (decision.decision.basis, decision.decision.consensus_level, len(decision.decision.held_by)) == (
        "model", "high", 3,
    )  # fmt: skip
    assert any("100% of the pairs" in hint for hint in decision.metadata.verification_hints)
    assert set(read["says"]) == {"1"}  # of groups that there are
    assert read["unquoted"] == [str(table.turn("Cleo", 1).number)]  # nobody said it
    assert len(read["quotes"]) == 2


def test_two_groups_go_on_and_end_once_nobody_moves_in_what_they_mean() -> None:
    """Two of three: ⅔ · .7 + .3 = .77 with everybody sure at .9: that is `confidence` (agreement from .7); asked to be
    surer, they stay for two rounds, as the model says, and end in the third."""
    two = hold("collaborative", 3, says, works=grouped(1, 1, 2), by="judge", agreement="meaning", rounds=5)
    assert (two.talk.exit.reason, two.talk.held) == ("confidence", 1)
    given = {"agreement": "meaning", "rounds": 5, "confident": 0.95}
    stay = hold("collaborative", 3, says, works=grouped(1, 1, 2), by="judge", **given)
    moving = hold("collaborative", 3, says, works=grouped(1, 1, 2, unmoved=False), by="judge", **given)
    assert (stay.talk.exit.reason, stay.talk.held) == ("convergence", 3)
    assert (moving.talk.exit.reason, moving.talk.held) == ("max_rounds", 5)  # though every word is the same


def test_offline_the_rule_neither_ends_a_discussion_nor_decides_an_action() -> None:
    """Everybody says the same words and is sure: by words it would be over at once, and is, where words decide."""

    def same(name: str, round: int, item: str, again: bool) -> object:
        return {"position": "Keep the levy for good", "confidence": 0.95}.get(item)

    by_words = hold("collaborative", 3, same, rounds=3)
    offline = hold("collaborative", 3, same, rounds=3, agreement="meaning")
    assert (by_words.talk.exit.reason, by_words.talk.held) == ("consensus", 1)
    assert (offline.talk.exit.reason, offline.talk.held) == ("max_rounds", 3)
    assert [(one["by"], one["agreement"], one["rule"]["agreement"]) for one in readings(offline.talk)] == [
        ("rule", None, 1.0)
    ] * 3
    found = four_layers(offline.talk, "en", offline.procedure.settings.played.mode)
    assert found.decision.action == "query_detail"
    assert any("No model has read what the positions mean" in hint for hint in found.metadata.verification_hints)


def test_a_reply_that_leaves_somebody_out_is_not_used() -> None:
    data = PositionsSaid(
        topic="x", said={"1": Response(position="a b c d"), "2": Response(position="e")}, before={"1": "a"}
    )
    assert GROUPER.check(data, PositionGroups(group_of={"1": 1})) is None
    assert GROUPER.check(data, PositionGroups(group_of={"1": 1, "2": 2})) is None  # nor one that does not say who moved
    used = GROUPER.check(
        data, PositionGroups(group_of={"1": 1, "2": 2}, unmoved={"1": True}, quote_of={"1": "“B c d.”", "2": "z"})
    )
    assert used.quote_of == {"1": "“B c d.”"}
    assert not is_quoted("a b", data.said["1"])  # two words are found in anything
    assert is_quoted("e", data.said["2"])  # unless that is all there is
    for language in ("de", "en"):
        assert "a b c d" in GROUPER.prompt(data, language)


def test_what_does_not_go_together_is_said() -> None:
    with pytest.raises(ValidationError, match="leave analyses out"):
        RoundtableSettings(agreement="meaning", analyses="model")
    with pytest.raises(ValidationError, match="set agreement to meaning"):
        RoundtableSettings(group_model="m")
    assert (
        not {"agreement", "group_model", "seats"} & RoundtableSettings().model_dump().keys()
    )  # records stay as they were


def test_a_caller_gets_both_readings_with_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over HTTP, from a model at temperature 0 that finds everybody of one mind and quotes four words of each."""

    def script(body: dict[str, Any]) -> str | None:
        text = body["messages"][-1]["content"]
        if "Group the positions" not in text:
            return None
        said = dict(
            re.findall(
                r"^\[(\d+)\] (\S+ \S+ \S+ \S+)", text.partition("Their positions of the round before")[0], re.MULTILINE
            )
        )
        numbers = dict.fromkeys(said, True)
        reply = {"group_of": dict.fromkeys(said, 1), "says": {"1": "One mind"}, "quote_of": said, "unmoved": numbers}
        return json.dumps({**reply, "conflicts": [], "groupthink": False})

    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        seats = [{"name": "Ada", "persona": "Bakes"}, {"name": "Ben", "persona": "Sells"}]
        given = {
            "roundtable_id": "meaning", "question": "Why?", "personas": seats, "model": "m", "private": False,
            "rounds": 1,
        }  # fmt: skip
        done = asyncio.run(operate("start_roundtable", {**given, "agreement": "meaning"}, tmp_path))
        asked = [one.body for one in server.requests if "Group the positions" in str(one.body)]
    assert [body["temperature"] for body in asked] == [0]
    assert (done["groups"][0]["basis"], len(done["groups"][0]["held_by"])) == ("model", 2)
    details = asyncio.run(operate("get_round_details", {"roundtable_id": "meaning"}, tmp_path))
    meaning = details["by_meaning"]
    assert (meaning["by"], [one["position"] for one in meaning["groups"]]) == ("m", ["One mind"])
    positions = {one["name"]: one["position"] for one in details["responses"]}
    assert all(positions[name].startswith(quote) for name, quote in meaning["groups"][0]["quotes"].items())
    assert set(meaning["groups"][0]["quotes"]) == {"Ada", "Ben"}
    assert (meaning["rule"]["positions"], meaning["rule"]["differs"]) == (2, 1.0)
    report = next((tmp_path / "roundtables/meaning/synthesis").glob("*/report.md")).read_text("utf-8")
    assert "Positions grouped by what they mean" in report
    appendix = next((tmp_path / "roundtables/meaning/synthesis").glob("*/appendix.md")).read_text("utf-8")
    assert in_language({"x": "What positions mean, as a model reads them, decides"}, "en")["x"] in appendix
