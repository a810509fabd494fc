"""What the tools refuse, and in whose words: the calling model's, and its user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult
from mcp_served import METHOD, QUICK, Served, simulation, text_of

import enquete
from enquete.interfaces.mcp.server_context import error_words
from enquete.interfaces.server_state import mask_of
from enquete.state.errors import OverBudget, RunMismatch


def test_no_tool_takes_what_it_does_not_name(served: Served) -> None:
    tools = served.session(lambda client: client.list_tools()).tools
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    for given, message in (
        ({"budget_token": 5}, "no argument 'budget_token' (did you mean budget_tokens?); it takes sim_id, "),
        ({"bogus": 1}, "no argument 'bogus'; it takes"),
        ({"begun": {"task": 1}}, "no argument 'begun'"),
    ):
        refused = served.call("conduct_interviews", sim_id=served.untouched, **given)
        assert refused.is_error
        assert message in text_of(refused)
    assert not enquete.list_runs(served.untouched, root=str(served.root))


def test_wrong_values_are_told_in_words_of_their_own_and_advice_fits(served: Served) -> None:
    text = text_of(served.call("conduct_interviews", sim_id=served.untouched, budget_tokens=-5, wait_seconds="soon"))
    assert "budget_tokens: -5 is not taken; write a number above 0" in text
    assert "wait_seconds: " in text
    assert "pydantic" not in text
    missing = text_of(served.call("interview_status"))
    assert missing == "interview_status: sim_id: is missing."
    page = text_of(served.call("read_results", sim_id=served.finished, methodology=METHOD, page=9))
    assert page.endswith("page: 9 is none; there is only page 1.")
    untouched = text_of(served.call("interview_status", sim_id=served.untouched))
    assert untouched.endswith("nobody has been interviewed yet. conduct_interviews begins a run.")


def test_a_simulation_that_links_out_of_the_root_is_neither_read_nor_written(served: Served, tmp_path: Path) -> None:
    name = simulation(served.root, "sim_links")
    folder = served.root / "simulations" / name
    (folder / "interviews").mkdir()
    (folder / "interviews" / "synthesis").symlink_to(tmp_path)
    for tool, more in (
        ("conduct_interviews", {}), ("conduct_interviews", {"dry_run": True}), ("interview_status", {}),
        ("draft_questions", {}), ("read_answers", {}),
    ):  # fmt: skip
        refused = served.call(tool, sim_id=name, **more)
        assert "'interviews/synthesis' is a symbolic link out of this server's root" in text_of(refused), tool
        assert str(tmp_path) not in text_of(refused)
    listed = served.call("list_simulations").structured_content["simulations"]
    assert "symbolic link" in next(listed_one for listed_one in listed if listed_one["sim_id"] == name)["problem"]
    assert not list(tmp_path.iterdir())
    (folder / "interviews" / "synthesis").unlink()


def test_the_prompt_does_without_a_topic(served: Served) -> None:
    prompt = served.session(lambda client: client.get_prompt("run_a_study", {}))
    assert "Ask me first what is to be found out" in prompt.messages[0].content.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"go_ahead": True, "budget_tokens": -5}, "the user's budget_tokens: -5 is not above 0"),
        ({"go_ahead": "perhaps"}, "go_ahead is true or false"),
    ],
)
def test_the_user_is_asked_in_a_users_words_and_a_wrong_reply_is_told(
    served: Served, content: dict[str, Any], message: str
) -> None:
    questions: list[str] = []

    async def reply(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content=content)

    async def work(client: Client) -> Any:
        asked = {"sim_id": served.untouched, "methods": [QUICK], "budget_tokens": 100}
        return await client.call_tool("conduct_interviews", asked)

    refused = served.session(work, elicitation_callback=reply)
    assert refused.is_error
    assert message in text_of(refused)
    assert "esolver" not in text_of(refused)
    assert "Begin all the same?" in questions[0]
    for word in ("confirm", "budget_tokens", "conduct_interviews"):
        assert word not in questions[0]


def test_another_study_is_told_apart_without_hashes_and_without_commands(tmp_path: Path) -> None:
    """`differences` names a methodology that only one run asks among the methods; its instrument and settings go
    without saying."""
    (tmp_path / "simulations").mkdir()
    name = simulation(tmp_path, "sim_other")
    asked: dict[str, Any] = {"root": str(tmp_path), "respondent": "synthetic"}
    with pytest.raises(OverBudget) as over:
        enquete.conduct_interviews(name, **asked, methods=["poll"], budget_tokens=100)
    assert "--" not in error_words(over.value, mask_of(tmp_path))
    enquete.conduct_interviews(name, **asked, methods=["poll"], confirm=True, budget_tokens=100)
    with pytest.raises(RunMismatch) as refused:
        enquete.conduct_interviews(name, **asked, methods=["delphi"], budget_tokens=10_000_000)
    assert '\n  methods: ["poll"] → ["delphi"]\nGo on with it: enquete.resume(\'run_' in str(refused.value)
    told = error_words(refused.value, mask_of(tmp_path))
    assert "enquete.resume" not in told
    assert '["delphi"]. Go on with the unfinished run by control_interviews' in told
