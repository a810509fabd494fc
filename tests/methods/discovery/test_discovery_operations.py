"""Projects and single interviews, as an orchestrating model runs them: in Python, over HTTP and over MCP alike."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from enquete.methods.discovery.operations import Projects
from enquete.state.errors import EnqueteError, InputError, SettingsError
from enquete.state.untrusted_input import SOME_SYNTHETIC, SYNTHETIC
from enquete.study.method_operations import FacadePort, operate, operations
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import call_keys, run_folder

pytestmark = pytest.mark.usefixtures("results_only")

ANN = {"kind": "persona", "name": "Ann", "persona": "A baker with four people and one oven"}
C = {"project_id": "p", "conversation_id": "c"}
N = {"project_id": "p", "conversation_id": "n", "ds_id": "orm"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("projects")
    (root / "simulations").mkdir()
    do(root, "start_project", project_id="p", title="Bakery")
    return root


def do(root: Path, name: str, own_folder: str | None = None, /, **given: Any) -> Any:
    return asyncio.run(operate(name, given, root, own_folder))


def test_a_project_of_three_schemas_one_of_them_refined(root: Path) -> None:
    """A record that the budget cuts short goes on where it was, with more."""
    warm = do(root, "conduct_interview", **C, ds_id="warm-up-with-challenges", respondent=ANN, synthetic=True)
    assert (warm["status"], warm["complete"], warm["missing"], warm["budget_remaining"]) == ("completed", True, [], 7)
    assert warm["message_count"] == 6
    kind = do(root, "conduct_interview", **C, ds_id="scheduling-problem-type", synthetic=True)  # the same respondent
    assert kind["complete"]
    short = do(root, "conduct_interview", **C, ds_id="flow-shop", budget=3, synthetic=True)
    assert (short["status"], short["complete"], short["budget_remaining"]) == ("budget_spent", False, 0)
    assert "Still missing: " in short["summary"]
    whole = do(root, "refine_interview", **C, ds_id="flow-shop", synthetic=True)
    assert whole["complete"]
    assert (
        whole["ascr"].items()
        >= {key: value for key, value in short["ascr"].items() if not isinstance(value, list)}.items()
    )
    assert whole["message_count"] > short["message_count"]
    again = do(root, "refine_interview", **C, ds_id="flow-shop", synthetic=True)
    assert again["summary"] == "The record is complete already; nobody was asked."

    progress = do(root, "project_progress", project_id="p")["interviews"]
    assert [(entry["ds_id"], entry["complete"]) for entry in progress if entry["conversation_id"] == "c"] == [
        ("warm-up-with-challenges", True), ("scheduling-problem-type", True), ("flow-shop", True),
    ]  # fmt: skip
    schemas = {schema["ds_id"]: schema for schema in do(root, "list_discovery_schemas", project_id="p")["schemas"]}
    assert (schemas["flow-shop"]["state"], schemas["flow-shop"]["needs_first"]) == ("complete", [])
    assert (schemas["orm"]["state"], schemas["orm"]["needs_first"]) == ("not begun", ["areas-of-inquiry"])
    answer = do(root, "query_project", project_id="p", field="subprocesses.duration", query="what can you tell me")
    assert len(answer["values"][0]["value"]) == 2
    assert {message["ds"] for message in answer["messages"]} == {"flow-shop"}


def test_a_budget_may_have_a_half(root: Path) -> None:
    """By hand: 2.5 questions pay for two, each of which takes 1, and half a one is left."""
    place = {"project_id": "p", "conversation_id": "half", "ds_id": "flow-shop"}
    told = do(root, "conduct_interview", **place, budget=2.5, synthetic=True, respondent=ANN)
    assert (told["message_count"], told["budget_remaining"], told["status"]) == (4, 0.5, "budget_spent")
    listed = do(root, "project_progress", **place)
    assert (listed["budget_remaining"], listed["status"]) == (0.5, "budget_spent")
    with pytest.raises(SettingsError, match=r"budget: 2\.3"):
        do(root, "conduct_interview", **place, budget=2.3, synthetic=True)


@pytest.mark.parametrize("who", [{"person": "Bob"}, {"respondent": ANN}])
def test_a_project_that_was_never_begun_is_refused(root: Path, who: dict[str, Any]) -> None:
    place = {"project_id": "nowhere", "conversation_id": "c", "ds_id": "flow-shop"}
    with pytest.raises(InputError, match="start_project"):
        do(root, "conduct_interview", **place, **who, synthetic=True)
    assert not (root / "projects" / "nowhere").exists()


def test_every_reply_says_who_answered(root: Path) -> None:
    """A record that two respondents filled is not the one's, nor the other's."""
    place = {"project_id": "p", "conversation_id": "told", "ds_id": "stakeholder-profile"}
    first = do(root, "conduct_interview", **place, budget=1, synthetic=True, respondent=ANN)
    with ModelServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_BASE_URL", server.base_url)
        second = do(root, "refine_interview", **place, budget=1, model="test")
    told = [{key: result[key] for key in ("respondent", "model", "warning")} for result in (first, second)]
    assert told == [
        {"respondent": "synthetic", "model": "synthetic", "warning": SYNTHETIC},
        {"respondent": "llm", "model": "test", "warning": SOME_SYNTHETIC},
    ]
    progress = do(root, "project_progress", project_id="p")["interviews"]
    marked = do(root, "mark_complete", **place)
    (row,) = [
        value for value in do(root, "query_project", project_id="p")["values"] if value["conversation_id"] == "told"
    ]
    for part in (next(entry for entry in progress if entry["conversation_id"] == "told"), marked, row):
        assert told[1].items() <= part.items()
    messages = do(root, "query_project", project_id="p", query=" ")["messages"]
    assert [message["respondent"] for message in messages if message["conversation"] == "told"] == ["synthetic", "llm"]
    schemas = {schema["ds_id"]: schema for schema in do(root, "list_discovery_schemas", project_id="p")["schemas"]}
    assert (marked["marked"], schemas["stakeholder-profile"]["state"]) == (True, "complete")  # it is no longer open
    assert schemas["conflict-and-interests"]["needs_first"] == []


def test_equal_calls_at_once_are_one_interview(tmp_path: Path) -> None:
    """In one loop: whoever comes second is given the first one's answers, which were paid once."""
    (tmp_path / "simulations").mkdir()
    do(tmp_path, "start_project", project_id="p")
    given = {**N, "budget": 1, "model": "test", "respondent": ANN}
    other = {**given, "respondent": {**ANN, "name": "Bea"}}

    async def at_once() -> list[Any]:
        calls = (operate("conduct_interview", request, tmp_path) for request in (given, given, other))
        return await asyncio.gather(*calls, return_exceptions=True)

    with ModelServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_BASE_URL", server.base_url)
        *answers, refused = asyncio.run(at_once())
    assert answers[0] == answers[1]
    assert answers[0]["status"] == "budget_spent"
    assert "this interview goes on with Ann (persona); take another conversation_id for Bea" in str(refused)
    assert len(server.requests) == len(call_keys(run_folder(tmp_path / "projects" / "p" / "n")))


def test_a_person_is_asked_question_by_question_and_nothing_waits_in_the_call(root: Path) -> None:
    place = {"project_id": "p", "conversation_id": "bob", "ds_id": "warm-up-with-challenges"}
    known = {"one-more-thing": "closed in August"}
    first = do(root, "conduct_interview", **place, respondent={"kind": "person", "name": "Bob"}, current_ascr=known)
    assert (first["status"], first["question"]) == ("waiting", "What does your business make, or what does it offer?")
    same = do(root, "conduct_interview", **place)
    assert same["question"] == first["question"]  # asked once, however often one looks
    filed = Projects(FacadePort(root, None, "discovery")).interview("p", "bob", "warm-up-with-challenges")
    folder = root / "projects" / "p" / "bob"
    cut_short = FacadePort(root, None, "discovery").submit(
        folder / "respondent.json", filed.token, "Soup in jars.", out=str(folder)
    )
    asyncio.run(cut_short)  # by a kill, once the answer was filed
    second = do(root, "answer_interview", **place, answer="Soup in jars.")
    assert (second["status"], second["question"]) == ("waiting", "What keeps upsetting your schedule?")
    assert second["ascr"] == {"product-or-service-name": "Soup in jars", **known}
    with pytest.raises(InputError, match="answer: is empty"):
        do(root, "answer_interview", **place, answer=" ")
    assert do(root, "mark_complete", **place)["status"] == "completed"  # it may be ended, and gone on with later
    with pytest.raises(InputError, match="marked complete"):
        do(root, "answer_interview", **place, answer="The oven is a bottleneck.")
    shown = do(root, "project_progress", **place)
    assert (shown["question"], shown["turns"]) == (
        None, [{"question": first["question"], "answer": "Soup in jars."}],
    )  # fmt: skip
    do(root, "conduct_interview", **place)
    assert do(root, "project_progress", **place)["question"] == second["question"]
    last = do(root, "answer_interview", **place, answer="The oven is a bottleneck.")
    assert "tokens" not in last["summary"]  # rules asked and read
    assert call_keys(run_folder(folder)) == []
    assert (last["status"], last["complete"], last["question"]) == ("completed", True, None)
    with pytest.raises(InputError, match="waits for nobody"):
        do(root, "answer_interview", **place, answer="More.")


def test_an_agent_of_a_simulation_answers_with_its_own_persona(root: Path) -> None:
    folder = mirofish_folder(root / "simulations" / "sim_x", 3)
    name = json.loads((folder / "reddit_profiles.json").read_text())[1]["name"]
    place = {"project_id": "p", "conversation_id": "agent", "ds_id": "areas-of-inquiry", "synthetic": True}
    interview = do(
        root, "conduct_interview", str(root / "own_folder"), **place,
        respondent={"kind": "agent", "sim_id": "sim_x", "name": name},
    )  # fmt: skip
    assert (interview["status"], interview["complete"]) == ("completed", True)
    with pytest.raises(SettingsError, match="is no agent of sim_x"):
        do(
            root, "conduct_interview", **{**place, "conversation_id": "y"},
            respondent={"kind": "agent", "sim_id": "sim_x", "name": "Nobody"},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("conduct_interviev", {}, "no operation"),
        ("conduct_interview", {**C}, "ds_id: is missing"),
        ("conduct_interview", {**C, "ds_id": "orm", "budgt": 3}, "budgt: there is no such field"),
        ("conduct_interview", {**C, "ds_id": "orm", "budget": 0}, "budget: 0 is not taken; write a number"),
        ("conduct_interview", {**C, "project_id": "../etc", "ds_id": "orm"},
            "project_id: '../etc' is not taken; write a text of the form"),
        ("conduct_interview", {**C, "conversation_id": "a/b", "ds_id": "orm"},
            "conversation_id: 'a/b' is not taken; write"),
        ("conduct_interview", {**C, "project_id": "q", "ds_id": "orm"}, "no project 'q'; known: p"),
        ("conduct_interview", {**C, "conversation_id": "new", "ds_id": "orm"}, "say who is interviewed"),
        ("conduct_interview", {**C, "ds_id": "flowshop", "respondent": ANN}, "did you mean 'flow-shop'?"),
        ("conduct_interview", {**C, "ds_id": "/etc/passwd.yaml", "respondent": ANN}, "nothing else can be named here"),
        ("conduct_interview", {**N, "respondent": {"kind": "persona", "name": "X"}}, "say in prose"),
        ("conduct_interview", {**N, "respondent": ANN, "current_ascr": {"nme": "soup"}}, "nme is no field"),
        ("conduct_interview", {**N, "respondent": {"kind": "agent", "name": "X", "sim_id": "../x"}}, "no simulation"),
        ("refine_interview", {**C, "ds_id": "orm"}, "no interview on orm yet"),
        ("project_progress", {"project_id": "q"}, "no project 'q'"),
        ("project_progress", {**C}, "project_id, conversation_id and ds_id together"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anybody_is_asked(root: Path, name: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(EnqueteError, match=re.escape(says)):
        do(root, name, str(root / "own_folder"), **given)


def test_a_project_that_cannot_be_read_is_named_and_the_others_stay(tmp_path: Path) -> None:
    do(tmp_path, "start_project", project_id="p")
    (tmp_path / "projects" / "q").mkdir()
    (tmp_path / "projects" / "q" / Projects.file).write_bytes(b"no JSON")
    (tmp_path / "projects" / "r").symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"projects/q/project\.json: cannot be read"):
        do(tmp_path, "project_progress", project_id="q")
    with pytest.raises(InputError, match="symbolic link"):
        do(tmp_path, "start_project", project_id="r")
    (told,) = do(tmp_path, "project_progress")["interviews"]
    assert told["status"].startswith("unreadable: projects/q")


def test_interviews_of_one_project_are_filed_at_the_same_time(tmp_path: Path) -> None:
    do(tmp_path, "start_project", project_id="p")
    given = {"project_id": "p", "ds_id": "orm", "respondent": {"kind": "person", "name": "Eva"}}

    async def at_once() -> None:
        await asyncio.gather(
            *(operate("conduct_interview", {**given, "conversation_id": f"c{n}"}, tmp_path) for n in range(2))
        )

    asyncio.run(at_once())
    assert len(do(tmp_path, "project_progress", project_id="p")["interviews"]) == 2


def test_every_operation_says_what_it_does_and_what_its_arguments_mean() -> None:
    for name, (_, operation) in operations().items():
        assert operation.meaning.endswith("."), name
        for field, info in operation.takes.model_fields.items():
            assert info.description, f"{name}.{field}"
