"""One question to A and B, live: pairs without names, order balanced, a buffer of answers that wait, verdicts by a
person or a model, at once or later."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from enquete.methods.poll.comparison import Comparison, HeldAnswer
from enquete.runs.answer_pairs import SIZE
from enquete.state.errors import InputError
from enquete.study.method_operations import operate
from tests.http.conftest import serving
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder

ANN = {"name": "Ann", "persona": "A baker with four people and one oven"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "simulations").mkdir()
    return tmp_path


def do(root: Path, name: str, /, **given: Any) -> Any:
    return asyncio.run(operate(name, {"comparison_id": "c", **given}, root))


def offer(root: Path, question: str, side: str, answer: str) -> Any:
    return do(root, "offer_answer", question_id=question, side=side, answer=answer, question="Why?")


def test_answers_wait_for_one_another_in_whatever_order_they_come(root: Path) -> None:
    first = offer(root, "q1", "b", "Because it is late.")
    assert first["pairs"] == []
    assert first["waiting"] == [{"question_id": "q1", "side": "b", "why": "waits for respondent A"}]
    offer(root, "q2", "a", "Because it is early.")
    both = offer(root, "q1", "a", "Because of the tide.")
    assert [answer["question_id"] for answer in both["waiting"]] == ["q2"]
    (pair,) = both["pairs"]
    assert {pair["response_a"], pair["response_b"]} == {"Because it is late.", "Because of the tide."}
    assert "respondents" not in pair  # who is who is said once a person has preferred
    assert offer(root, "q1", "a", "Something else.")["pairs"] == [pair]  # a pair stays what it was judged as
    with pytest.raises(InputError, match="waits for the other"):
        do(root, "prefer", verdict="A", question_id="q2")


def test_the_buffer_keeps_the_latest_and_the_order_is_balanced() -> None:
    answers = [HeldAnswer(question_id=f"q{n}", question="Why?", answer="So.") for n in range(SIZE + 3)]
    comparison = Comparison().offered("a", answers)
    assert (len(comparison.waiting), comparison.evicted, comparison.waiting[0].answer.question_id) == (SIZE, 3, "q3")
    answers = [HeldAnswer(question_id=f"q{n:02d}", question="Why?", answer="So.") for n in range(40)]
    pairs = Comparison().offered("a", answers).offered("b", answers).pairs
    firsts = [pair.a_first for pair in pairs]
    assert all(sum(firsts[n : n + 2]) == 1 for n in range(0, 40, 2))  # of two that follow one another, one each
    assert len(set(firsts[::2])) == 2  # in which of the two is drawn


@pytest.mark.parametrize(
    "verdict", ["A", "A because it is concrete.", "[Response A]", "I like the detail. [RESULT] A", "Response A"]
)
def test_a_persons_verdict_is_about_the_pair_as_it_is_shown(root: Path, verdict: str) -> None:
    for side in ("a", "b"):
        shown = offer(root, "q1", side, f"From {side}.")
    before = shown["to_prefer"]
    state = do(root, "prefer", verdict=verdict)
    (pair,) = state["pairs"]
    author = before["response_a"].removeprefix("From ").removesuffix(".")
    assert pair["preferred_by_person"]["winner"] == "response_a"  # the letter that was said
    assert pair["respondents"]["response_a"] == f"respondent {author.upper()}"
    assert (state["to_prefer"], state["by_person"]["n"], state["by_person"][f"respondent_{author}"]) == (None, 1, 1)
    assert state["by_person"]["first_shown_won"] == 1
    with pytest.raises(InputError, match="without a person's verdict"):
        do(root, "prefer", verdict="B")
    changed = do(root, "prefer", verdict="B, because it is kinder", question_id="q1")["pairs"][0]
    assert changed["preferred_by_person"] == {"winner": "response_b", "said": "it is kinder"}
    with pytest.raises(InputError, match="names neither"):
        do(root, "prefer", verdict="I select Response B.", question_id="q1")


@pytest.mark.usefixtures("results_only")
def test_one_question_to_two_models_is_judged_by_a_third_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The critic chooses the first place always: a split in both orders is a tie, and the same call pays nothing
    twice."""

    def script(body: dict[str, Any]) -> str | None:
        if body["model"] == "critic":
            return "Feedback: first. [RESULT] A"
        asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        return json.dumps({name: {"text": f"Because of {body['model']}."} for name in asked})

    asked = {"question": "Why do you bake?", **ANN, "model": "one", "model_b": "two"}
    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        comparison = do(root, "ask_both", **asked)
        assert do(root, "ask_both", **asked) == comparison  # nobody is asked again
        models = [request.model for request in server.requests if request.model != "critic"]
        assert {models.count("one"), models.count("two")} == {1}
        (pair,) = comparison["pairs"]
        assert pair["question"] == "Why do you bake?"
        judged = do(root, "judge_pairs", critic_model="critic", reveal=True)
        assert judged["pairs"][0]["preferred_by_model"] == {
            "winner": "tie", "by": "critic", "said": "first.", "in_this_order": "response_a",
            "in_the_other_order": "response_b",
        }  # fmt: skip
        assert judged["by_model"]["order_decided"] == 1
        again = len(server.requests)
        do(root, "judge_pairs", critic_model="critic")
        assert len(server.requests) == again
        mine = do(root, "prefer", verdict="A")
        assert {*mine["pairs"][0]["respondents"].values()} == {"respondent A (one)", "respondent B (two)"}


@pytest.mark.usefixtures("results_only")
@pytest.mark.parametrize("questions", [1, 2])
def test_a_model_s_words_and_winner_mean_the_responses_as_they_are_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    """The critic prefers what model two says, and says by which letter it found it. Of two questions one shows each
    respondent first."""

    def script(body: dict[str, Any]) -> str | None:
        if body["model"] == "critic":
            text = body["messages"][-1]["content"]
            letter = "A" if text.index("because of two") < text.index("because of one") else "B"
            return f"{letter}\nResponse {letter} names two."
        asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        return json.dumps({name: {"text": f"It is because of {body['model']}."} for name in asked})

    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        for number in range(questions):
            asked = {"question": f"Why {number}?", **ANN, "model": "one", "model_b": "two"}
            state = do(root, "ask_both", **asked, judged_by="model", critic_model="critic")
    pair = state["pairs"][-1]
    assert pair["judged_by_model"]
    assert (pair["preferred_by_model"], state["by_model"]["n"]) == (None, 0)  # a person is asked first
    assert "respondents" not in pair
    assert state["unseen_preferences"] == questions
    assert "reveal=true" in state["next"]

    shown = do(root, "show_comparison", reveal=True)
    assert shown["by_model"]["respondent_b"] == questions
    for pair in shown["pairs"]:
        winner = "response_a" if "two" in pair["response_a"] else "response_b"
        assert pair["preferred_by_model"] == {
            "winner": winner, "by": "critic", "said": f"Response {winner[-1].upper()} names two.",
            "in_this_order": winner, "in_the_other_order": winner,
        }  # fmt: skip
        assert pair["respondents"][winner] == "respondent B (two)"
    preferred = do(root, "prefer", verdict="A", question_id=pair["question_id"])["pairs"][-1]
    assert preferred["preferred_by_model"]["winner"] == winner
    assert preferred["preferred_by_person"]["winner"] == "response_a"


def test_an_answer_that_waits_because_the_other_is_a_tool_call_says_so(root: Path) -> None:
    offer(root, "q1", "a", "Because of the tide.")
    state = offer(root, "q1", "b", '<tool_call>{"name": "look_up"}</tool_call>')
    assert state["pairs"] == []
    (waiting,) = state["waiting"]
    assert (waiting["question_id"], waiting["side"]) == ("q1", "a")
    assert waiting["why"].startswith("waits for respondent B, whose reply is a tool call, which is no answer")
    state = offer(root, "q2", "a", '{"tool_calls": []}')
    assert state["waiting"][1]["why"].startswith("the reply of respondent A is a tool call")
    state = offer(root, "q1", "b", "Because it is late.")
    assert len(state["pairs"]) == 1
    assert [due["question_id"] for due in state["waiting"]] == ["q2"]


@pytest.mark.usefixtures("results_only")
def test_a_model_that_calls_a_tool_leaves_the_other_s_answer_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict[str, Any]) -> str | None:
        said = '<tool_call>{"name": "look_up"}</tool_call>' if body["model"] == "two" else "It is late."
        asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        return json.dumps({name: {"text": said} for name in asked})

    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        state = do(root, "ask_both", question="Why?", **ANN, model="one", model_b="two")
    assert state["pairs"] == []
    (waiting,) = state["waiting"]
    assert waiting["side"] == "a"
    assert "respondent B, whose reply is a tool call" in waiting["why"]


@pytest.mark.usefixtures("results_only")
def test_agents_of_a_simulation_are_asked_and_judged_at_once(root: Path) -> None:
    mirofish_folder(root / "simulations" / "sim_r", 3, status="completed")
    comparison = do(
        root, "ask_both", question="What should change?", sim_id="sim_r", synthetic=True, judged_by="model", reveal=True
    )
    assert len(comparison["pairs"]) == 3
    assert (
        comparison["by_model"]["n"] + sum(not pair["preferred_by_model"]["winner"] for pair in comparison["pairs"]) == 3
    )
    assert comparison["warning"]  # a stand-in preferred
    with pytest.raises(InputError, match="who answers"):
        do(root, "ask_both", question="What?")


def test_pairs_on_the_page(root: Path) -> None:
    for question in ("q1", "q2"):
        for side in ("a", "b"):
            offer(root, question, side, f"From {side}.")
    with serving(root) as client:
        client.headers["Origin"] = str(client.base_url).rstrip("/")
        assert 'href="/comparisons/c"' in client.get("/comparisons").text
        shown = client.get("/comparisons/c").text
        assert "From a." in shown
        (question,) = re.findall(r'name="question_id" value="([^"]+)"', shown)
        given = {"question_id": question, "verdict": "B", "why": "<b>it is</b> concrete"}
        page = client.post("/comparisons/c/prefer", data=given, follow_redirects=True).text
        assert "<b>it is" not in page
        assert "it is&lt;/b&gt; concrete" in page
        refused = client.post("/comparisons/c/prefer", data={"question_id": "q2", "why": "hard to say"})
        assert refused.status_code == 400
        assert "hard to say" in refused.text
        judged = client.post("/comparisons/c/judge", follow_redirects=True).text
        assert "By a model" in judged
        missing = client.post("/comparisons", data={"comparison_id": "d", "question": "Why?"})
        assert missing.status_code == 400
        assert "who answers" in missing.text
