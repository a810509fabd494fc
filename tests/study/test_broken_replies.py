"""Replies that break off, over real HTTP: nothing of the member that broke off is an answer, whatever the reason named.

The cases and their right values are those of public_reports (modes `cut:…`): the first reply of each agent ends inside
1500, or inside a text at "I would vote", and the next reply is whole.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Likert, Number, Open
from tests.support import bare_runs
from tests.support.breaking_server import BROKEN_TEXT, WHOLE_TEXT, BreakingServer, break_last_text
from tests.support.studies import personas, rows, stored_answers

AGENTS = 3
SHORT: dict[str, dict[str, int]] = {
    "laddering": {"turns": 3}, "discovery": {"questions": 4}, "roundtable": {"rounds": 2, "least_rounds": 2},
}  # fmt: skip
"""Conversations need not be long for a reply to break off in each of their steps."""


def whole_answers(body: dict[str, Any]) -> str:
    """What every agent says: 4, 1500 and a sentence, under the names that the questions have in the prompt."""
    asked = body["messages"][-1]["content"]
    said = {"fair": {"value": 4, "confidence": 0.5}, "How many": 1500, "Why": WHOLE_TEXT}
    names = re.findall(r"^(q\d+): (.*)$", asked, re.MULTILINE)
    return json.dumps({name: next(said[words] for words in said if words in text) for name, text in names})


def break_number(reply: str) -> str:
    members = json.loads(reply)
    name = next(name for name, value in members.items() if value == 1500)
    before = {name: value for name, value in members.items() if not isinstance(value, int | str)}
    return json.dumps({**before, name: 15})[:-1]


@pytest.mark.parametrize("finish", ["model_length", "error", "insufficient_system_resource", "stop", "length"])
def test_a_number_that_breaks_off_is_asked_again(finish: str, tmp_path: Path) -> None:
    with BreakingServer(break_number, finish) as server:
        server.script = whole_answers
        run = enquete.ask(
            personas(tmp_path, AGENTS), Likert("Fees are fair."), Number("How many boats?", 0, 20_000), Open("Why?"),
            out=tmp_path / "out", topic="Harbour", language="en", model="m", base_url=server.base_url, fit="any",
        )  # fmt: skip
        assert server.broken == AGENTS
    by_item = dict(list(run.responses.groupby("item_id")))
    assert by_item["q2"]["value"].tolist() == [1500] * AGENTS
    assert set(by_item["q2"]["status"]) == {"repaired"}
    assert by_item["q1"]["value"].tolist() == [4] * AGENTS
    assert set(by_item["q1"]["status"]) == {"ok"}  # it was complete: a comma stands behind it


@pytest.mark.parametrize("finish", ["error", "stop"])
def test_a_text_that_breaks_off_is_asked_again(finish: str, tmp_path: Path) -> None:
    with BreakingServer(break_last_text, finish) as server:
        server.script = whole_answers
        run = enquete.ask(
            personas(tmp_path, AGENTS), Likert("Fees are fair."), Open("Why?"),
            out=tmp_path / "out", topic="Harbour", language="en", model="m", base_url=server.base_url, fit="any",
        )  # fmt: skip
        assert server.broken == AGENTS
    said = run.responses.query("item_id == 'q2'")
    assert said["text"].tolist() == [WHOLE_TEXT] * AGENTS
    assert set(said["status"]) == {"repaired"}


@pytest.mark.parametrize("method", ["laddering", "discovery", "roundtable", "delphi", "scenario"])
def test_no_methodology_and_no_coding_takes_half_a_text(method: str, tmp_path: Path) -> None:
    """Every first reply that ends with a text ends in the middle of it, of agents and of the interviewer."""
    with BreakingServer(break_last_text, "stop") as server:
        run = bare_runs.interview(
            personas(tmp_path, 4), methods=[method], out=str(tmp_path / "out"), language="en", model="m",
            base_url=server.base_url, fit="any", settings={method: SHORT[method]} if method in SHORT else {},
        )  # fmt: skip
        assert run.status == "completed"
        assert server.broken > 0
    stored = json.dumps([*stored_answers(run.folder), *rows(run.folder, "SELECT value FROM frozen")])
    assert BROKEN_TEXT not in stored
