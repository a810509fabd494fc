"""Questions drafted by a model over MCP: on the topic that was given, the same when asked again, none in another's
way."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client
from mcp_served import Served, serving, text_of

import enquete
from tests.support.drafter import TOPIC, Drafter
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("no_reports")

BANK = Path(__file__).parents[1] / "data" / "sim_683e8059ab27"


class DrafterAndJudge(Drafter):
    """Also says, asked whether questionnaires fit a simulation, that none does."""

    def __call__(self, body: dict[str, Any]) -> str:
        prompt = str(body["messages"][-1]["content"])
        if "These questionnaires are to be put to them" in prompt:
            names = re.findall(r'"name": "(\w+)"', prompt.partition("These questionnaires")[2])
            return json.dumps({"verdicts": [{"name": name, "fits": False} for name in names]})
        return super().__call__(body)


@dataclass
class Drafted:
    """Two servers on one folder, as two agents have; and the model that drafts for both."""

    servers: tuple[Served, Served]
    script: Drafter

    @property
    def first(self) -> Served:
        return self.servers[0]


@pytest.fixture
def drafted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drafted]:
    shutil.copytree(BANK, tmp_path / "simulations" / BANK.name)
    script = DrafterAndJudge()
    monkeypatch.delenv("ENQUETE_FIT")
    with ModelServer(script=script) as model, serving(tmp_path) as one, serving(tmp_path) as two:
        monkeypatch.setenv("LLM_BASE_URL", model.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "able")
        servers = [Served(url, tmp_path, "", "", BANK.name, "") for url in (one, two)]
        yield Drafted((servers[0], servers[1]), script)


def draft(server: Served, **wishes: Any) -> dict[str, Any]:
    result = server.call("draft_questions", sim_id=BANK.name, wait_seconds=200, **wishes)
    assert not result.is_error, text_of(result)
    return dict(result.structured_content)


def test_a_draft_keeps_the_topic_that_it_is_given_and_asking_again_gives_the_same(drafted: Drafted) -> None:
    """The drafting model proposes another topic (TOPIC), which it does for every draft."""
    made = draft(drafted.first, topic="Digital banking")
    assert (made["status"], made["topic"], made["drafted_by"]) == ("drafted", "Digital banking", "able")
    requests = len(drafted.script.asked)
    for server in drafted.servers:
        assert draft(server, topic="Digital banking") == made
    assert len(drafted.script.asked) == requests
    for file in made["files"]:
        uri = file["resource_uri"]
        read = drafted.first.session(lambda client, uri=uri: client.read_resource(uri))
        document = yaml.safe_load(read.contents[0].text)
        assert document["topic"]["en"] == "Digital banking"
        assert file["questions"]
    assert draft(drafted.first)["topic"] == TOPIC["en"]


def test_two_drafts_at_once_do_not_collide_and_the_same_one_is_written_once(drafted: Drafted) -> None:
    async def ask(server: Served, topic: str) -> Any:
        async with Client(server.url) as client:
            wishes = {"sim_id": BANK.name, "topic": topic, "wait_seconds": 200}
            return (await client.call_tool("draft_questions", wishes)).structured_content

    async def all_at_once() -> list[Any]:
        first, second = drafted.servers
        return await asyncio.gather(ask(first, "Cashback"), ask(second, "Bank fees"), ask(second, "Cashback"))

    cashback, fees, again = asyncio.run(all_at_once())
    assert [made["status"] for made in (cashback, fees, again)] == ["drafted"] * 3
    assert (cashback["topic"], fees["topic"]) == ("Cashback", "Bank fees")
    assert cashback == again
    assert {file["name"] for file in cashback["files"]}.isdisjoint(file["name"] for file in fees["files"])
    assert drafted.script.asked.count("A study is prepared") == 2


def test_a_simulation_by_its_id_alone_gets_drafted_questions_and_the_call_that_asks_them(drafted: Drafted) -> None:
    state = drafted.first.call("conduct_interviews", sim_id=BANK.name, wait_seconds=200).structured_content
    assert state["status"] == "questions_do_not_fit"
    assert state["note"].startswith(
        "As able judges, the questions (longitudinal, diversity, delphi, scenario) are about"
    )
    assert {file["methodology"] for file in state["drafts"]} >= {"longitudinal", "delphi"}
    call = re.search(r"conduct_interviews\(sim_id=\"(\w+)\", instruments=(\{.*?\})\)", state["next"])
    assert call is not None, state["next"]
    asked = {"sim_id": call[1], "instruments": json.loads(call[2]), "respondent": "synthetic"}
    estimate = drafted.first.call("conduct_interviews", **asked, dry_run=True).structured_content["estimate"]
    assert estimate["refused"] == []
    run = drafted.first.call("conduct_interviews", **asked, phase="T1", wait_seconds=200).structured_content
    assert (run["status"], run["language"]) == ("completed", "en")
    assert len(enquete.list_runs(BANK.name, root=str(drafted.first.root))) == 1
