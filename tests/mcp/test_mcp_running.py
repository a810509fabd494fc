"""Runs by the official client: progress, waiting, cancellation, resuming, over budget with and without a user to
ask."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult
from mcp_served import QUICK, Served, serving, simulation, text_of

import enquete
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("no_reports")

DATA = Path(__file__).parents[1] / "data"
LONG = ["longitudinal"]


@pytest.fixture
def fresh(served: Served) -> Served:
    """A simulation of its own that has completed."""
    name = f"sim_fresh_{len(list((served.root / 'simulations').iterdir()))}"
    simulation(served.root, name)
    return Served(served.url, served.root, served.finished, served.run_id, name, served.started)


@pytest.fixture
def slow(fresh: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """As `fresh`, with a model that takes its time, one request after the other: four agents twice take some seconds
    anywhere."""
    with ModelServer(latency=0.8) as model:
        monkeypatch.setenv("LLM_BASE_URL", model.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "test")
        monkeypatch.setenv("ENQUETE_CONCURRENCY", "1")
        yield fresh


async def until(client: Client, sim_id: str, *statuses: str) -> dict[str, Any]:
    """Poll as a model would, only faster."""
    deadline = time.monotonic() + 60
    while True:
        state = (await client.call_tool("interview_status", {"sim_id": sim_id})).structured_content
        if state["status"] in statuses or time.monotonic() > deadline:
            assert state["status"] in statuses, state
            return dict(state)
        await asyncio.sleep(0.1)


def test_a_run_reports_progress_that_only_grows_and_ends_completed(fresh: Served) -> None:
    heard: list[tuple[float, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert total is None
        heard.append((done, message or ""))

    async def work(client: Client) -> Any:
        arguments = {"sim_id": fresh.untouched, "methods": [QUICK], "language": "en", "wait_seconds": 120}
        return await client.call_tool("conduct_interviews", arguments, progress_callback=progress)

    result = fresh.session(work)
    assert not result.is_error, text_of(result)
    assert result.structured_content["status"] == "completed"
    counts = [done for done, _ in heard]
    assert counts
    assert counts == sorted(set(counts))
    assert heard[-1][1].startswith(f"{QUICK} T1 round 1: 4/4 agents")
    again = fresh.session(work)
    assert again.structured_content["shown"]
    assert "nobody was asked" in text_of(again)


def test_an_instrument_of_the_servers_folder_is_drafted_listed_and_asked_by_name(served: Served) -> None:
    bank, own_folder = DATA / "sim_683e8059ab27", served.root / "instruments"
    shutil.copytree(bank, served.root / "simulations" / bank.name)
    drafts = served.call("draft_instruments", sim_id=bank.name, into="bank").structured_content
    by_methodology = {file["methodology"]: file for file in drafts["files"]}
    named = by_methodology["diversity"]["name"]
    assert (named, f'"{by_methodology["longitudinal"]["name"]}"' in drafts["next"]) == ("bank/diversity", True)
    read = served.session(lambda client: client.read_resource(by_methodology["diversity"]["resource_uri"]))
    assert "# DRAFT, by rule from what the agents of sim_683e8059ab27 wrote" in read.contents[0].text
    again = text_of(served.call("draft_instruments", sim_id=bank.name, into="bank"))
    assert "is there already; name another folder" in again
    assert str(served.root) not in again
    drafted = served.call("draft_instruments", sim_id=bank.name, into="own", topic="Banks", themes=["cashback", "fees"])
    assert drafted.structured_content["themes"] == ["cashback", "fees"]
    shutil.rmtree(own_folder / "own")
    refused = served.call("draft_instruments", sim_id=bank.name, themes=["x"] * 9)
    assert text_of(refused).startswith("draft_instruments: themes: ")
    (own_folder / "bank" / "longitudinal.yaml").rename(own_folder / "cashback.yaml")
    instruments = served.call("list_instruments").structured_content["instruments"]
    listed = {instrument["file"] for instrument in instruments if instrument["file"]}
    assert listed == {"cashback", named, "bank/delphi", "bank/scenario", "bank/roundtable"}
    weighed = served.call("estimate_interviews", sim_id=bank.name, instruments={"diversity": named}, language="en")
    assert not weighed.is_error, text_of(weighed)
    asked = {"sim_id": bank.name, "methods": ["longitudinal"], "phase": "T1", "language": "en", "wait_seconds": 120}
    result = served.call("conduct_interviews", **asked, instruments={"longitudinal": "cashback"}, fit="checked")
    assert not result.is_error, text_of(result)
    assert result.structured_content["status"] == "completed"
    results = served.call("get_interview_results", sim_id=bank.name, methodology="longitudinal").structured_content
    assert any(theme in json.dumps(results, ensure_ascii=False) for theme in drafts["themes"])
    refused = served.call("conduct_interviews", **asked, instruments={"longitudinal": "nobody"})
    assert "is no file of this server" in text_of(refused)


def test_a_long_run_goes_on_in_the_background_is_not_begun_twice_and_can_be_paused_and_resumed(slow: Served) -> None:
    async def work(client: Client) -> None:
        arguments = {"sim_id": slow.untouched, "methods": LONG, "wait_seconds": 0}
        first = (await client.call_tool("conduct_interviews", arguments)).structured_content
        assert first["status"] == "running"
        assert "interview_status" in first["next"]
        second = (await client.call_tool("conduct_interviews", arguments)).structured_content
        assert second["run_id"] == first["run_id"]
        paused = (await client.call_tool("pause_interviews", {"run_id": first["run_id"]})).structured_content
        assert (paused["status"], paused["note"][:17]) == ("paused", "paused on request")
        token = paused["resume_token"]
        resumed = (
            await client.call_tool("resume_interviews", {"resume_token": token, "wait_seconds": 0})
        ).structured_content
        assert (resumed["run_id"], resumed["status"]) == (first["run_id"], "running")
        await client.call_tool("pause_interviews", {"run_id": first["run_id"]})

    slow.session(work)
    assert len(enquete.list_runs(slow.untouched, root=str(slow.root))) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_cancelling_the_request_pauses_the_run_cleanly(slow: Served, mode: str) -> None:
    async def work(client: Client) -> dict[str, Any]:
        begun = asyncio.Event()

        async def progress(*_: Any) -> None:
            begun.set()

        arguments = {"sim_id": slow.untouched, "methods": LONG, "wait_seconds": 300}
        request = asyncio.create_task(client.call_tool("conduct_interviews", arguments, progress_callback=progress))
        await asyncio.wait_for(begun.wait(), 240)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        return await until(client, slow.untouched, "paused", "completed")

    state = slow.session(work, mode=mode)
    assert state["status"] == "paused"
    assert state["note"].startswith("paused on request")
    assert state["resume_token"]


def test_t0_waits_for_the_simulation_and_says_so(served: Served) -> None:
    arguments = {"sim_id": served.started, "methods": ["longitudinal"], "wait_seconds": 120}
    state = served.call("conduct_interviews", **arguments).structured_content
    assert state["status"] == "awaiting_simulation"
    assert state["resume_token"] in state["next"]


def test_over_budget_gives_the_estimate_and_the_arguments_that_would_do(fresh: Served) -> None:
    asked = {"sim_id": fresh.untouched, "methods": [QUICK], "budget_tokens": 100, "wait_seconds": 120}
    refused = fresh.call("conduct_interviews", **asked)
    expected = enquete.estimate(fresh.untouched, root=str(fresh.root), methods=[QUICK])
    assert refused.is_error
    for text in ("confirm=true", f"budget_tokens={expected.sufficient_tokens}", "The cap is 100 tokens"):
        assert text in text_of(refused)
    assert not enquete.list_runs(fresh.untouched, root=str(fresh.root))
    confirmed = fresh.call("conduct_interviews", **asked, confirm=True).structured_content
    assert confirmed["status"] == "paused"
    assert "budget" in confirmed["note"]
    resumed = fresh.call(
        "resume_interviews", resume_token=confirmed["resume_token"], budget_tokens=5_000_000, wait_seconds=120
    )
    assert resumed.structured_content["status"] == "completed"


async def ask_over_budget(client: Client, sim_id: str) -> Any:
    arguments = {"sim_id": sim_id, "methods": [QUICK], "budget_tokens": 100, "wait_seconds": 120}
    return await client.call_tool("conduct_interviews", arguments)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_where_the_client_can_the_user_is_asked_and_may_allow_more(fresh: Served, mode: str) -> None:
    questions: list[str] = []

    async def allow(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"go_ahead": True, "budget_tokens": 5_000_000})

    result = fresh.session(lambda c: ask_over_budget(c, fresh.untouched), elicitation_callback=allow, mode=mode)
    (question,) = questions
    assert "over the budget" in question
    assert result.structured_content["status"] == "completed", text_of(result)


@pytest.mark.parametrize(
    ("mode", "reply"),
    [("auto", ElicitResult(action="accept", content={"go_ahead": False})), ("legacy", ElicitResult(action="decline"))],
)
def test_a_user_who_does_not_allow_it_is_heard(served: Served, mode: str, reply: ElicitResult) -> None:
    async def refuse(context: Any, params: ElicitRequestParams) -> ElicitResult:
        return reply

    result = served.session(lambda c: ask_over_budget(c, served.untouched), elicitation_callback=refuse, mode=mode)
    assert result.is_error
    assert "nothing was asked" in text_of(result)
    assert not enquete.list_runs(served.untouched, root=str(served.root))


def test_a_restarted_server_finds_the_run_and_goes_on(tmp_path: Path) -> None:
    """From files; from PostgreSQL: the same over HTTP."""
    (tmp_path / "simulations").mkdir()
    sim = simulation(tmp_path, "sim_moved")
    arguments = {"sim_id": sim, "methods": [QUICK], "wait_seconds": 0}
    with serving(tmp_path) as url:
        first = Served(url, tmp_path, "", "", sim, "").call("conduct_interviews", **arguments).structured_content
    with serving(tmp_path) as url:
        restarted = Served(url, tmp_path, "", "", sim, "")
        status = restarted.call("interview_status", sim_id=sim, run_id=first["run_id"]).structured_content
        assert status["status"] in ("paused", "completed")  # closing the server paused it, unless it was done by then
        token = status["resume_token"] or status["run_id"]
        ended = restarted.call("resume_interviews", resume_token=token, wait_seconds=120).structured_content
        assert (ended["run_id"], ended["status"]) == (first["run_id"], "completed")
        results = restarted.call("get_interview_results", sim_id=sim, methodology=QUICK).structured_content
        assert results["run_id"] == first["run_id"]


def test_a_larger_budget_for_a_run_that_goes_on_is_refused_and_not_ignored(slow: Served) -> None:
    """By a resume while a resume is running; the same budget once more is answered as ever."""

    async def work(client: Client) -> None:
        asked = {"sim_id": slow.untouched, "methods": LONG, "budget_tokens": 200_000, "wait_seconds": 0}
        begun = (await client.call_tool("conduct_interviews", asked)).structured_content
        assert begun["status"] == "running"
        again = {"resume_token": begun["resume_token"], "wait_seconds": 0}
        refused = await client.call_tool("resume_interviews", {**again, "budget_tokens": 400_000})
        assert refused.is_error
        assert "goes on under budget_tokens 200,000, so 400,000 is not taken now" in text_of(refused)
        same = await client.call_tool("resume_interviews", {**again, "budget_tokens": 200_000})
        assert not same.is_error, text_of(same)
        assert same.structured_content["status"] == "running"

    slow.session(work)
