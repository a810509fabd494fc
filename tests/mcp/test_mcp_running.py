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
import yaml
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult
from mcp_served import QUICK, Served, serving, simulation, text_of

import enquete
from enquete.demo import demo_population
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


def test_a_run_reports_progress_of_the_whole_that_only_grows_and_ends_completed(fresh: Served) -> None:
    """In tokens: the last report is what the run has cost, and its total what the whole was expected to."""
    heard: list[tuple[float, float, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert total is not None
        heard.append((done, total, message or ""))

    async def work(client: Client) -> Any:
        arguments = {"sim_id": fresh.untouched, "methods": [QUICK], "language": "en", "wait_seconds": 120}
        return await client.call_tool("conduct_interviews", arguments, progress_callback=progress)

    result = fresh.session(work)
    assert not result.is_error, text_of(result)
    state = result.structured_content
    assert state["status"] == "completed"
    assert heard
    counts = [done for done, _, _ in heard]
    assert counts == sorted(set(counts))
    assert all(done <= total for done, total, _ in heard)
    last, total, message = heard[-1]
    assert (last, total) == (state["tokens"], max(state["tokens"], state["expected_tokens"]))
    assert message.startswith(f"{QUICK} T1 round 1: 4/4 agents")
    again = fresh.session(work)
    assert again.structured_content["run_id"] == state["run_id"]
    assert "nobody was asked" in text_of(again)


QUESTIONS = [
    {"wording": "Fees are fair."},
    {"wording": "Who should decide?", "options": ["the bank", "the state"]},
    {"wording": "Why?"},
]
"""A statement, a choice and an open question, told apart by what they have."""


def test_questions_of_ones_own_are_asked_at_once_and_their_answers_can_be_quoted(fresh: Served) -> None:
    asked = {"sim_id": fresh.untouched, "questions": QUESTIONS, "language": "en", "wait_seconds": 120}
    state = fresh.call("conduct_interviews", **asked).structured_content
    assert (state["status"], state["asked"]) == ("completed", [QUICK])
    (stage,) = state["stages"]
    assert stage["answers"] == {"ok": 12}  # 4 agents, 3 questions
    frame = enquete.load_run(fresh.untouched, root=str(fresh.root)).responses
    spoken = frame[frame["item_id"] == "q3"]
    words = str(spoken.iloc[0]["text"])
    found = fresh.call("read_answers", sim_id=fresh.untouched, words=f'"{words}"').structured_content
    assert found["matching"] == (spoken["text"] == words).sum()
    assert {row["words"] for row in found["answers"]} == {words}
    chosen = fresh.call("read_answers", sim_id=fresh.untouched, item="q2").structured_content
    assert [row["choice"] for row in chosen["answers"]] == list(frame[frame["item_id"] == "q2"]["chosen"])


def test_saved_questions_are_checked_kept_and_asked_by_name(fresh: Served) -> None:
    saved = fresh.call("save_questions", name="fees", topic="Bank fees", questions=QUESTIONS)
    state = saved.structured_content
    assert (state["name"], state["methodology"], state["topic"]) == ("fees", QUICK, "Bank fees")
    assert state["items"] == 5  # three questions and two options
    assert fresh.call("save_questions", name="fees", topic="Bank fees", questions=QUESTIONS).structured_content == state
    other = fresh.call("save_questions", name="fees", topic="Fees", questions=QUESTIONS)
    assert "'fees' is the name of other questions on this server already" in text_of(other)
    assert not fresh.call("save_questions", name="fees", topic="Fees", questions=QUESTIONS, replace=True).is_error
    text = fresh.session(lambda client: client.read_resource("enquete://questions/fees")).contents[0].text
    assert yaml.safe_load(text)["topic"] == "Fees"
    listed = json.loads(fresh.session(lambda client: client.read_resource("enquete://methodologies")).contents[0].text)
    assert {"fees"} <= {row.get("file") for row in listed}
    asked = {"sim_id": fresh.untouched, "instruments": {QUICK: "fees"}, "language": "en"}
    estimated = fresh.call("conduct_interviews", **asked, dry_run=True)
    assert not estimated.is_error, text_of(estimated)
    refused = fresh.call("conduct_interviews", **{**asked, "instruments": {QUICK: "nobody"}})
    assert "is no file of this server" in text_of(refused)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ("a: [b", "own.yaml:1: "),
        ("questions:\n- question_id: q1\n  wording: Which?\n  kind: choice\n", "needs at least 2"),
        ([], "the list is empty"),
        ([{"wording": "Which?", "options": ["one"]}], "needs at least 2"),
        ([{"wording": "Which?", "kind": "essay"}], "kind: "),
        ([{"word": "Which?"}], "wording: is missing"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused_with_their_place(
    served: Served, questions: Any, message: str
) -> None:
    refused = served.call("save_questions", name="own", questions=questions)
    assert refused.is_error
    assert message in text_of(refused)
    assert str(served.root) not in text_of(refused)
    assert not (served.root / "instruments" / "own.yaml").exists()


@pytest.fixture
def bank(served: Served, monkeypatch: pytest.MonkeyPatch) -> str:
    """A simulation in English about a bank, which no shipped pack is about."""
    monkeypatch.delenv("ENQUETE_FIT")
    source = DATA / "sim_683e8059ab27"
    shutil.copytree(source, served.root / "simulations" / source.name, dirs_exist_ok=True)
    return source.name


def test_a_simulation_by_its_id_alone_is_told_that_the_shipped_questions_do_not_fit(served: Served, bank: str) -> None:
    """No model is set up: nothing is drafted, and the call is named that asks questions of one's own."""
    state = served.call("conduct_interviews", sim_id=bank).structured_content
    assert (state["status"], state["run_id"], state["drafts"]) == ("questions_do_not_fit", "", [])
    assert "“The future of German fisheries”; nothing of that occurs in the simulation" in state["note"]
    assert f'conduct_interviews(sim_id="{bank}", questions=[' in state["next"]
    estimate = served.call("conduct_interviews", sim_id=bank, dry_run=True).structured_content["estimate"]
    assert any("nothing of that occurs in the simulation" in why for why in estimate["refused"])
    drafts = served.call("draft_questions", sim_id=bank).structured_content
    assert (drafts["status"], drafts["themes"]) == ("templates", [])
    assert {"resource_uri": f"enquete://instruments/{QUICK}", "methodology": QUICK}.items() <= drafts["files"][
        -1
    ].items()
    assert not enquete.list_runs(bank, root=str(served.root))
    trial = {"sim_id": bank, "questions": QUESTIONS, "respondent": "synthetic", "wait_seconds": 120}
    run = served.call("conduct_interviews", **trial).structured_content
    assert (run["status"], run["language"]) == ("completed", "en")  # the simulation's own


def test_a_simulation_on_a_packs_topic_is_asked_by_its_id_alone(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demo of the pack on a high street: nobody names the pack, and its questions fit."""
    monkeypatch.delenv("ENQUETE_FIT")
    sim = demo_population(served.root, completed=True, pack="high_street")
    state = served.call("conduct_interviews", sim_id=sim.name, dry_run=True).structured_content
    assert (state["status"], state["estimate"]["refused"]) == ("estimate", [])
    shutil.rmtree(sim)


def test_with_several_runs_every_tool_wants_to_know_which(served: Served) -> None:
    name = simulation(served.root, "sim_two_agents")
    asked = {"sim_id": name, "methods": [QUICK], "wait_seconds": 120}
    first = served.call("conduct_interviews", **asked).structured_content
    assert served.call("interview_status", sim_id=name).structured_content["run_id"] == first["run_id"]
    second = served.call("conduct_interviews", **asked, options={"seed": 1}).structured_content
    assert first["run_id"] != second["run_id"]
    for tool in ("interview_status", "read_report", "read_results", "read_answers"):
        refused = text_of(served.call(tool, sim_id=name))
        assert f"{name} has 2 runs, so say which, the latest first: {second['run_id']} (poll: completed)" in refused
    refused = text_of(served.call("control_interviews", sim_id=name, action="resume"))
    assert "so say which" in refused
    for run in (first, second):
        answers = served.call("read_answers", sim_id=name, run_id=run["run_id"]).structured_content
        assert answers["run_id"] == run["run_id"]
        assert all(row["answer_id"].startswith(f"{run['run_id']}/") for row in answers["answers"])


def test_two_agents_at_once_on_one_folder_share_one_run(tmp_path: Path) -> None:
    """Two servers, as two agents have over stdio: both ask the same and get the same run, whose questions are asked
    once; and both read it."""
    (tmp_path / "simulations").mkdir()
    sim = simulation(tmp_path, "sim_shared")

    async def ask(url: str) -> Any:
        async with Client(url) as client:
            asked = {"sim_id": sim, "questions": QUESTIONS, "wait_seconds": 120}
            return await client.call_tool("conduct_interviews", asked)

    async def both(*urls: str) -> list[Any]:
        return await asyncio.gather(*(ask(url) for url in urls))

    with serving(tmp_path) as first, serving(tmp_path) as second:
        results = asyncio.run(both(first, second))
        assert not [text_of(result) for result in results if result.is_error]
        (run,) = enquete.list_runs(sim, root=str(tmp_path))
        assert {result.structured_content["run_id"] for result in results} == {run.run_id}
        answers = Served(second, tmp_path, "", "", sim, "").call("read_answers", sim_id=sim).structured_content
    assert answers["matching"] == 12  # 4 agents, 3 questions


def test_a_long_run_goes_on_in_the_background_is_not_begun_twice_and_is_controlled(slow: Served) -> None:
    async def work(client: Client) -> None:
        arguments = {"sim_id": slow.untouched, "methods": LONG, "wait_seconds": 0}
        first = (await client.call_tool("conduct_interviews", arguments)).structured_content
        assert first["status"] == "running"
        assert "interview_status" in first["next"]
        second = (await client.call_tool("conduct_interviews", arguments)).structured_content
        assert second["run_id"] == first["run_id"]
        which = {"sim_id": slow.untouched, "run_id": first["run_id"]}

        async def control(action: str, **more: Any) -> dict[str, Any]:
            result = await client.call_tool("control_interviews", {**which, "action": action, **more})
            assert not result.is_error, text_of(result)
            return dict(result.structured_content)

        paused = await control("pause")
        assert (paused["status"], paused["note"][:17]) == ("paused", "paused on request")
        resumed = await control("resume", wait_seconds=0)
        assert (resumed["run_id"], resumed["status"]) == (first["run_id"], "running")
        larger = await control("set_budget", budget_tokens=9_000_000, wait_seconds=0)
        assert (larger["status"], larger["cap_tokens"]) == ("running", 9_000_000)
        await control("pause")

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
    assert 'action="resume"' in state["next"]


def test_t0_waits_for_the_simulation_and_says_so(served: Served) -> None:
    arguments = {"sim_id": served.started, "methods": ["longitudinal"], "wait_seconds": 120}
    state = served.call("conduct_interviews", **arguments).structured_content
    assert state["status"] == "awaiting_simulation"
    assert f'run_id="{state["run_id"]}", action="resume"' in state["next"]


def test_over_budget_gives_the_estimate_and_the_arguments_that_would_do(fresh: Served) -> None:
    asked = {"sim_id": fresh.untouched, "methods": [QUICK], "budget_tokens": 100, "wait_seconds": 120}
    refused = fresh.call("conduct_interviews", **asked)
    expected = enquete.estimate(fresh.untouched, root=str(fresh.root), methods=[QUICK])
    assert refused.is_error
    for text in ('options={"confirm": true}', f"budget_tokens={expected.sufficient_tokens}", "The cap is 100 tokens"):
        assert text in text_of(refused)
    assert not enquete.list_runs(fresh.untouched, root=str(fresh.root))
    confirmed = fresh.call("conduct_interviews", **asked, options={"confirm": True}).structured_content
    assert confirmed["status"] == "paused"
    assert "budget" in confirmed["note"]
    which = {"sim_id": fresh.untouched, "run_id": confirmed["run_id"]}
    resumed = fresh.call("control_interviews", **which, action="set_budget", budget_tokens=5_000_000, wait_seconds=120)
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
        resume = {"sim_id": sim, "run_id": status["run_id"], "action": "resume", "wait_seconds": 120}
        ended = restarted.call("control_interviews", **resume).structured_content
        assert (ended["run_id"], ended["status"]) == (first["run_id"], "completed")
        results = restarted.call("read_results", sim_id=sim, methodology=QUICK).structured_content
        assert results["run_id"] == first["run_id"]


def test_a_larger_budget_for_a_run_that_goes_on_is_refused_and_not_ignored(slow: Served) -> None:
    """By a resume while a resume is running; the same budget once more is answered as ever."""

    async def work(client: Client) -> None:
        asked = {"sim_id": slow.untouched, "methods": LONG, "budget_tokens": 200_000, "wait_seconds": 0}
        begun = (await client.call_tool("conduct_interviews", asked)).structured_content
        assert begun["status"] == "running"
        run_id = begun["run_id"]
        again = {"sim_id": slow.untouched, "run_id": run_id, "action": "resume", "wait_seconds": 0}
        refused = await client.call_tool("control_interviews", {**again, "budget_tokens": 400_000})
        assert refused.is_error
        assert "goes on under budget_tokens 200,000, so 400,000 is not taken now" in text_of(refused)
        same = await client.call_tool("control_interviews", {**again, "budget_tokens": 200_000})
        assert not same.is_error, text_of(same)
        assert same.structured_content["status"] == "running"

    slow.session(work)
