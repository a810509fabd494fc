"""Roundtables as callers hold them: one discussion, begun over HTTP, gone on with over MCP, on the command line and in
Python."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from enquete.interfaces.cli import app as cli
from enquete.methods.roundtable.discussion import Discussion, Document, RoundtableSettings, RoundtableTurn, Weighed
from enquete.methods.roundtable.modes import Response
from enquete.methods.roundtable.operations import (
    MOST_CHARS,
    SYNTHESIST,
    DiscussionSaid,
    DiscussionSynthesis,
    Point,
    TurnSaid,
    claims,
    fitted,
)
from enquete.methods.roundtable.table import due
from enquete.reports.run_reading import open_run
from enquete.state.errors import EnqueteError, OverBudget
from enquete.state.untrusted_input import SOME_SYNTHETIC, SYNTHETIC
from enquete.study.method_operations import FacadePort, operate
from enquete.study.tasks import PathSandbox, Tasks
from tests.methods.roundtable.callers import QUESTION, SEATS, TABLE, http, mcp, python
from tests.support.bare_runs import results_alone, without_reports
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder

REMARK = "Please think of the apprentices, too."
ROUND_1, MODERATOR, NOW = "What was said in round 1", "What the moderator says before round 2", (
    "What has been said in this round already"
)  # fmt: skip
WITH_A_PERSON = ["synthetic", "synthetic", SOME_SYNTHETIC]
BOB = {
    "position": "Yes, we should.", "stance": "yes", "steel_man": "Regulars\nHabit\nIncome",
    "weaknesses": "Cost\nStaff\nLight",
    "reasoning": "Nobody comes.", "key_points": "Nobody comes\nEverybody is tired", "citations": "the till",
    "confidence": 0.7,
}  # fmt: skip


def terminal(root: Path, name: str, **given: Any) -> Any:
    """With the exit code as `code`."""
    words = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given.items()]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = cli.run(["roundtable", name, *words, "--root", str(root), "--json"])
    return {**json.loads(out.getvalue()), "code": code}


@dataclass(frozen=True)
class Held:
    root: Path
    steps: Mapping[str, Any]

    @property
    def run(self) -> Path:
        return self.root / "roundtables" / "monday" / "runs" / str(self.steps["ended"]["run_id"])


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Ada and Ben by program, Bob a person; two rounds, one after the other, between which a caller steers."""
    root = tmp_path_factory.mktemp("roundtables")
    (root / "simulations").mkdir()
    seats = [*SEATS, {"name": "Bob"}]
    given = {"mode": "adversarial", "private": False, "rounds": 2, "cast": "convergence", "synthetic": True}
    start = {"question": QUESTION, "personas": seats, "people": ["Bob"], "steering": True, **given}
    with without_reports():
        begun = http(root, "start_roundtable", **TABLE, **start)
        answered = mcp(root, "continue_roundtable", **TABLE, answers={"Bob": BOB})
        went_on = terminal(root, "continue_roundtable", **TABLE, remark=REMARK)
    with results_alone(exports=True):
        ended = python(root, "continue_roundtable", **TABLE, answers={"Bob": BOB})
    return Held(root, {"begun": begun, "answered": answered, "steered": went_on, "ended": ended})


def test_every_interface_goes_on_where_another_stopped(held: Held) -> None:
    begun, answered, went_on, ended = held.steps.values()
    assert (begun["status"], begun["next"]) == ("waiting", "Bob must answer: pass `answers` to continue_roundtable.")
    (form,) = begun["waiting_for"]
    assert (form["participant"], form["round"]) == ("Bob", 1)
    assert {item["item"] for item in form["items"]} == BOB.keys()
    assert (answered["status"], answered["waiting_for_word"], answered["waiting_for"]) == ("waiting", ["group_01"], [])
    assert (went_on["code"], [seat["round"] for seat in went_on["waiting_for"]]) == (4, [2])
    assert (ended["status"], ended["groups"][0]["exit_reason"], ended["groups"][0]["rounds"]) == (
        "completed", "max_rounds", 2,
    )  # fmt: skip
    assert len({step["run_id"] for step in held.steps.values()}) == 1


def test_a_remark_is_seen_by_everybody_in_the_next_round_and_by_nobody_before(held: Held) -> None:
    """The exact headings of what each was shown, and the remark word by word; kept as a turn of its own."""
    with open_run(held.run) as reading:
        context = reading.interview_context("roundtable", "T1", reading.record.main)
        blocks = reading.procedure("roundtable").blocks("group_01", 1, context)
        names = {who.id: who.name for who in reading.population}
        turn = reading.pinned_values("main", "roundtable")["turn/group_01/04"]
    shown = {
        (names[block.key.participant], block.key.round): dict(block.quoted)
        for block in blocks
        if block.key.part == "turn"
    }
    assert {key: list(quotes) for key, quotes in shown.items()} == {
        ("Ada", 1): [], ("Ben", 1): [NOW], ("Bob", 1): [NOW],
        ("Ada", 2): [ROUND_1, MODERATOR], ("Ben", 2): [ROUND_1, MODERATOR, NOW], ("Bob", 2): [ROUND_1, MODERATOR, NOW],
    }  # fmt: skip
    assert {quotes[MODERATOR] for (_, round), quotes in shown.items() if round == 2} == {REMARK}
    assert turn == {"turn": 4, "round": 2, "status": "ok", "kind": "steer", "answer": REMARK}
    form = held.steps["steered"]["waiting_for"][0]
    assert {section["heading"]: section["text"] for section in form["shown"]} == shown["Bob", 2]


def test_a_persons_answers_are_theirs_and_cost_no_call(held: Held) -> None:
    table = pd.read_csv(
        held.run.parents[1] / "synthesis" / held.run.name / "exports" / "all_responses.csv", encoding="utf-8-sig"
    )
    assert set(table.groupby("agent_name")["respondent"].unique().map(tuple).items()) == {
        ("Ada", ("synthetic",)), ("Ben", ("synthetic",)), ("Bob", ("human",)),
    }  # fmt: skip
    with open_run(held.run) as reading:
        subjects = [call["subject"] for call in reading.calls("roundtable", "T1") if call["purpose"] == "answer"]
    assert len(subjects) == 4  # Ada and Ben in two rounds
    assert not [subject for subject in subjects if "bob" in subject]


@pytest.mark.usefixtures("unreported")
def test_a_call_that_was_cut_short_is_made_again_in_the_same_words(tmp_path: Path) -> None:
    """Cut off once the answers, and then the remark, were filed, before anybody was asked."""
    seats = [{"name": "Bob"}, {"name": "Ada", "persona": "Bakes"}]
    given = {"mode": "adversarial", "private": False, "rounds": 2, "steering": True, "synthetic": True}
    begun = python(tmp_path, "start_roundtable", **TABLE, question=QUESTION, personas=seats, people=["Bob"], **given)
    folder, run = tmp_path / "roundtables" / "monday", begun["run_id"]
    port = FacadePort(tmp_path, None, "roundtable")
    place: Any = {"out": str(folder)}
    asyncio.run(port.submit(folder / "participants.json", run, BOB, **place))
    answered = python(tmp_path, "continue_roundtable", **TABLE, answers={"Bob": BOB})
    assert answered["waiting_for_word"] == ["group_01"]
    asyncio.run(port.pin(folder / "participants.json", run, "word/group_01/2", REMARK, **place))
    with pytest.raises(EnqueteError, match="not between two rounds"):
        python(tmp_path, "continue_roundtable", **TABLE, remark="Another.")
    went_on = python(tmp_path, "continue_roundtable", **TABLE, remark=REMARK)
    assert [seat["round"] for seat in went_on["waiting_for"]] == [2]
    ended = python(tmp_path, "continue_roundtable", **TABLE, answers={"Bob": BOB})  # to the next form, though the same
    assert (ended["status"], ended["groups"][0]["rounds"], ended["run_id"]) == ("completed", 2, run)


def test_what_was_said_is_read_from_every_interface(held: Held) -> None:
    """Each reply fits; the decision stands before who said what."""
    decided = http(held.root, "get_consensus", **TABLE)
    assert list(decided)[7:11] == ["decision", "agent_responses", "evidence", "metadata"]
    assert [response["name"] for response in decided["agent_responses"]] == ["Ada", "Ben", "Bob"]
    assert decided["metadata"]["rounds"] == 2
    made = python(held.root, "synthesize_roundtable", **TABLE)  # without a model, of what the decision holds
    assert (made["synthesized_by"], made["confidence"], made["warning"]) == ("rule", None, SOME_SYNTHETIC)
    assert made["conclusion"] == decided["evidence"]["consensus_summary"]
    second = mcp(held.root, "get_round_details", **TABLE)
    assert (second["round"], second["remark"], second["weighed"]["reason"]) == (2, REMARK, "max_rounds")
    first = terminal(held.root, "get_round_details", **TABLE, round=1)
    assert (first["round"], first["remark"], [response["name"] for response in first["responses"]]) == (
        1, "", ["Ada", "Ben", "Bob"],
    )  # fmt: skip
    detail = python(held.root, "get_response_detail", **TABLE, agent="Bob", round=2)
    assert (detail["answered_by"], detail["sections"]["weaknesses"], detail["confidence"]) == (
        "person", "Cost\nStaff\nLight", 0.7,
    )  # fmt: skip
    other = mcp(held.root, "get_response_detail", **TABLE, agent="Ada", round=2)
    for answer, by in (
        *((step, WITH_A_PERSON) for step in (decided, second, first, *held.steps.values())),
        (detail, ["human", "person", None]),
        (other, ["synthetic", "synthetic", SYNTHETIC]),
    ):
        assert [answer[key] for key in ("respondent", "model", "warning")] == by
    assert detail == python(held.root, "get_response_detail", **TABLE, agent=str(detail["number"]))
    listed = http(held.root, "list_roundtables", query="mondays")
    assert [(table["roundtable_id"], table["question"]) for table in listed["roundtables"]] == [("monday", QUESTION)]
    assert all(len(json.dumps(output)) <= MOST_CHARS for output in (decided, second, first, detail, listed))


def test_all_of_it_is_written_to_a_file_and_read_page_by_page(held: Held) -> None:
    told = http(held.root, "export_roundtable", **TABLE)
    text = (held.root / told["file"]).read_text("utf-8")
    assert (told["characters"], text.startswith(told["text"])) == (len(text), True)
    assert text.startswith(f"# {QUESTION}")
    assert all(words in text for words in (REMARK, "**Bob** (critic, yes, 0.70, a person)", "### Round 2"))
    rest = mcp(held.root, "export_roundtable", **TABLE, format="json", offset=100)
    whole = json.loads((held.root / rest["file"]).read_text("utf-8"))
    assert [entry["round"] for entry in whole["groups"][0]["rounds"]] == [1, 2]
    assert whole["groups"][0]["rounds"][1]["turns"][2]["reasoning"] == "Nobody comes."


@pytest.mark.usefixtures("unreported")
def test_one_that_is_over_goes_on_and_only_what_is_new_is_asked(tmp_path: Path) -> None:
    """Privately asked before and after: before once, after again. A budget that is short pauses it, a larger one does
    not ask anything twice."""
    mirofish_folder(tmp_path / "simulations" / "sim_x", 3)
    profiles = json.loads((tmp_path / "simulations" / "sim_x" / "reddit_profiles.json").read_text())
    agents = [profiles[1]["name"], profiles[0]["name"]]
    given = {"question": QUESTION, "sim_id": "sim_x", "agents": agents, "rounds": 1, "synthetic": True}
    paused = python(tmp_path, "start_roundtable", **TABLE, **given, budget_tokens=3000, confirm=True)
    assert paused["status"] == "paused"
    done = python(tmp_path, "continue_roundtable", **TABLE, budget_tokens=1_000_000)
    assert (done["status"], done["run_id"], done["groups"][0]["participants"]) == (
        "completed", paused["run_id"], agents,
    )  # fmt: skip
    more = python(tmp_path, "continue_roundtable", **TABLE, remark=REMARK)
    assert (more["status"], more["groups"][0]["rounds"]) == ("completed", 2)
    runs = tmp_path / "roundtables" / "monday" / "runs"
    asked = {}
    for run in (done["run_id"], more["run_id"]):
        with open_run(runs / run) as reading:
            calls = [
                call["subject"].split("|") for call in reading.calls("roundtable", "T1") if call["purpose"] == "answer"
            ]
        asked[run] = sorted(round for _, _, round, _, part in calls if part == "turn")
    assert list(asked.values()) == [["0", "0", "1", "1", "2", "2"], ["2", "2", "3", "3"]]
    details = python(tmp_path, "get_round_details", **TABLE, round=2)
    assert (details["remark"], details["rounds"]) == (REMARK, ["before", 1, 2, "after"])
    same = python(tmp_path, "start_roundtable", **TABLE, **given)  # it is there: shown, not begun again
    assert same["run_id"] == more["run_id"]
    with pytest.raises(EnqueteError, match="choose another roundtable_id"):
        python(tmp_path, "start_roundtable", **TABLE, **{**given, "question": "Another?"})


@pytest.mark.usefixtures("unreported")
def test_several_groups_wait_go_on_and_end_together_without_private_answers(tmp_path: Path) -> None:
    """More agents than an unpaid rehearsal plays with: what they said before is not known to all who rehearse."""
    mirofish_folder(tmp_path / "simulations" / "sim_x", 8)
    given = {"sim_id": "sim_x", "groups": 2, "size": 4, "rounds": 3, "private": False, "steering": True}
    begun = python(tmp_path, "start_roundtable", **TABLE, question=QUESTION, mode="delphi", synthetic=True, **given)
    assert begun["waiting_for_word"] == ["group_01", "group_02"]
    for wrong, says in (
        ({"action": "ask"}, "ask needs one"), ({"action": "end", "question": "Why?"}, "it goes with action ask"),
    ):  # fmt: skip
        with pytest.raises(EnqueteError, match=says):
            python(tmp_path, "control_roundtable", **TABLE, **wrong)
    went_on = python(tmp_path, "continue_roundtable", **TABLE)
    ended = python(tmp_path, "control_roundtable", **TABLE, action="end")
    more = python(tmp_path, "continue_roundtable", **TABLE, remark=REMARK)  # closed ones may be opened again
    assert [step["status"] for step in (went_on, ended, more)] == ["waiting", "completed", "completed"]
    # one of them had ended by itself
    assert [(group["exit_reason"], group["rounds"]) for group in ended["groups"]] == [("consensus", 2), ("closed", 2)]
    groups = [
        [(group["group"], group["participants"], group["rounds"]) for group in step["groups"]] for step in (ended, more)
    ]
    assert groups[1] == [(group, people, rounds + 1) for group, people, rounds in groups[0]]
    second = python(tmp_path, "get_consensus", **TABLE, group="group_02")
    assert (second["group"], [group["group"] for group in second["other_groups"]]) == ("group_02", ["group_01"])
    told = [*second["decision"]["held_by"], *second["decision"]["not_held_by"]]
    assert sorted(told) == sorted(response["name"] for response in second["agent_responses"])


def test_a_discussion_that_was_over_is_open_again_after_a_remark() -> None:
    """By hand: before, one round that ended it, after; the remark takes the end back, and what was said after it."""
    response = Response(position="No.", stance="no", confidence=0.5)
    talk = Discussion("group_01", participants=("a", "b"), mode="collaborative")
    for turn, (round, private) in enumerate([(0, True), (0, True), (1, False), (1, False), (2, True), (2, True)], 1):
        ends = Weighed(should_exit=True, reason="max_rounds") if turn == 4 else None
        talk = talk.after(
            RoundtableTurn(turn=turn, participant="ab"[turn % 2 - 1], round=round, private=private, status="ok",
                           response=response, weighed=ends, stop="max_rounds" if turn == 6 else "")
        )  # fmt: skip
    settings = RoundtableSettings(rounds=2)
    assert (talk.over, due(talk, settings)) == (True, [])
    again = talk.after(talk.steered(""))
    assert (again.over, again.stop, again.afterwards, len(again.before), again.held) == (False, "", {}, 2, 1)
    assert [(slot.turn, slot.participant, slot.round) for slot in due(again, settings)] == [(8, "a", 2), (9, "b", 2)]


START = {"roundtable_id": "new", "question": "Why?"}


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("start_roundtable", {**START}, "Name either sim_id (its agents) or personas"),
        ("start_roundtable", {**START, "personas": SEATS[:1]}, "a group has 2 to 10 participants"),
        ("start_roundtable", {**START, "personas": [SEATS[0], SEATS[0]]}, "of different names"),
        ("start_roundtable", {**START, "personas": [SEATS[0], {"name": "Bob"}]}, "say in prose who Bob is"),
        ("start_roundtable", {**START, "personas": SEATS, "people": ["Bob"]}, "Bob not among agents"),
        ("start_roundtable", {**START, "personas": [SEATS[0], {"name": "B, C", "persona": "z"}]}, "without commas"),
        ("start_roundtable", {**START, "personas": SEATS, "mode": "adversarail"}, "did you mean 'adversarial'?"),
        ("start_roundtable", {**START, "personas": SEATS, "mode": "/etc/x.yaml"}, "nothing else can be named here"),
        ("start_roundtable", {**START, "sim_id": "sim_none"}, "no simulation 'sim_none'"),
        ("start_roundtable", {**START, "roundtable_id": "../x"},
            "roundtable_id: '../x' is not taken; write a text of the form"),
        ("continue_roundtable", {"roundtable_id": "new"}, "Begin it with start_roundtable"),
        ("continue_roundtable", {**TABLE, "answers": {"Bob": BOB}}, "waits for nobody"),
        ("continue_roundtable", {**TABLE, "rounds": 12}, "at most 12, of which 2 were held"),
        ("get_consensus", {**TABLE, "group": "group_07"}, "there are group_01"),
        ("get_round_details", {**TABLE, "round": 5}, "rounds there are: 1, 2"),
        ("get_response_detail", {**TABLE, "agent": "Zoe"}, "who did: Ada"),
        ("export_roundtable", {**TABLE, "offset": 10**8}, "lies beyond the end"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_what_to_do(held: Held, name: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(EnqueteError, match=re.escape(says)):
        python(held.root, name, **given)
    assert not (held.root / "roundtables" / "new" / "roundtable.json").exists()


@pytest.mark.usefixtures("unreported")
def test_over_budget_names_the_roundtables_own_calls(tmp_path: Path) -> None:
    """In every interface; and what is named then does begin it."""
    asked = {**START, "personas": SEATS, "rounds": 1, "synthetic": True, "budget_tokens": 1000}
    message = "start_roundtable with budget_tokens="
    for refusal in (str(http(tmp_path, "start_roundtable", **asked)), mcp(tmp_path, "start_roundtable", **asked)):
        assert message in refusal
        assert "continue_roundtable goes on with it" in refusal
        assert not re.search("_interviews|methods|digest_chars", refusal.partition("By part")[2] or refusal)
    with pytest.raises(OverBudget, match=message) as over:
        python(tmp_path, "start_roundtable", **asked)
    enough = int(str(over.value).partition(message)[2].partition(";")[0])
    assert python(tmp_path, "start_roundtable", **{**asked, "budget_tokens": enough})["status"] == "completed"


def test_a_reply_that_is_too_long_is_cut_and_says_so() -> None:
    texts = {"digest": "short", "said": [{"text": "word " * 800} for _ in range(30)]}
    cut = fitted(texts)
    assert (len(json.dumps(cut)) <= MOST_CHARS, cut["digest"]) == (True, "short")
    assert "export_roundtable everything" in str(cut["shortened"])
    assert fitted({"a": "b"}) == {"a": "b"}


# --- thoughts, citations, syntheses and control, as ai-roundtable has them -------------------------------------------


TILL = {
    "title": "Till report",
    "text": "On Mondays the till took a third of what it takes on Fridays. Rent is due monthly.",
}


def script(body: dict[str, Any]) -> str | None:
    """A synthesis that names two turns that there are, and one point that rests on none."""
    text = body["messages"][-1]["content"]
    if "Sum up a discussion" not in text:
        return None
    turns = [int(number) for number in re.findall(r"^\[(\d+)\]", text, re.MULTILINE)]
    made = {
        "common_ground": [{"text": "Mondays are slow.", "turns": turns[:2]},
            {"text": "Everybody is happy.", "turns": [999]}],
        "differences": [{"text": "Who bears the loss.", "turns": turns[-1:]}], "evolution": "Ben moved.",
        "conclusion": "Close for a trial.", "recommendation": "Try it for three months.", "confidence": 0.6,
    }  # fmt: skip
    return json.dumps(made)


@dataclass(frozen=True)
class Led:
    root: Path
    server: ModelServer


@pytest.fixture(scope="module")
def led(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Led]:
    """Two rounds, one after the other, with a document given."""
    root = tmp_path_factory.mktemp("led")
    (root / "simulations").mkdir()
    with ModelServer(script=script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_BASE_URL", server.base_url)
        patch.setenv("LLM_MODEL_NAME", "m")
        given = {"mode": "adversarial", "rounds": 2, "personas": SEATS, "documents": [TILL]}
        with without_reports():
            done = python(root, "start_roundtable", **TABLE, question=QUESTION, **given)
        assert done["status"] == "completed"
        yield Led(root, server)


def test_documents_are_shown_to_everybody_as_data(led: Led) -> None:
    asked = [
        request.body["messages"][-1]["content"] for request in led.server.requests if QUESTION in str(request.body)
    ]
    turns = [text for text in asked if "Your position, in one to three sentences" in text]
    assert len(turns) >= 8  # before, two rounds, after; two seats
    assert all("Till report:" in text and TILL["text"] in text for text in turns)


def test_one_participants_thoughts_from_round_to_round(led: Led) -> None:
    told = mcp(led.root, "get_thoughts", **TABLE, agent="Ben")
    assert [thought["round"] for thought in told["thoughts"]] == ["before", 1, 2, "after"]
    assert list(told["confidence"]) == ["before", "1", "2", "after"]
    assert (told["name"], told["respondent"], told["thoughts"][0]["likeness_to_own_last"]) == ("Ben", "llm", None)
    assert told["thoughts"][2]["likeness_to_own_last"] == 1.0  # the stand-in says the same in every round
    assert told["moved_by"]
    with pytest.raises(EnqueteError, match="nobody called 'Zoe' has spoken in group_01; who sits there: Ada, Ben"):
        python(led.root, "get_thoughts", **TABLE, agent="Zoe")


def test_a_synthesis_is_bought_once_and_rests_on_turns_that_there_were(led: Led) -> None:
    def bought() -> int:
        return sum("Sum up a discussion" in str(sent.body) for sent in led.server.requests)

    made = http(led.root, "synthesize_roundtable", **TABLE)
    assert (made["synthesized_by"], made["conclusion"], made["confidence"]) == ("m", "Close for a trial.", 0.6)
    # nobody's happiness was turn 999
    assert [statement["text"] for statement in made["common_ground"]] == ["Mondays are slow."]
    assert set(made["turns"].values()) == {"Ada", "Ben"}
    assert mcp(led.root, "synthesize_roundtable", **TABLE) == made
    assert bought() == 1
    (request,) = (sent for sent in led.server.requests if "Sum up a discussion" in str(sent.body))
    assert request.body["temperature"] == 0
    (run,) = (led.root / "roundtables/monday/runs").iterdir()
    with open_run(run) as reading:
        calls = [call for call in reading.calls("roundtable", "T1") if call["purpose"] == "synthesis"]
    assert [(call["status"], call["input_tokens"] > 0) for call in calls] == [("settled", True)]


def test_citations_over_http_say_by_what_they_were_matched(led: Led) -> None:
    told = http(led.root, "get_citations", **TABLE, round=1, agent="Ada")
    assert (told["matched_by"], {basis["name"] for basis in told["rests_on"]}) == ("words", {"Ada"})
    assert told["claims"] == len(told["rests_on"]) > 0
    assert {basis["round"] for basis in told["rests_on"]} == {1}


def test_what_a_claim_rests_on() -> None:
    """By hand: a post that Ada remembers, the document by its title, Ben's turn by his name, a URL, and nothing."""
    points = ("Mondays bring few customers to the shop", "We owe the apprentices their rest")
    talk = Discussion("group_01", participants=("b", "a"))
    responses = [
        ("b", Response(position="Apprentices need their rest after weekends", key_points=(),
            citations=("Nobody knows",))),
        ("a", Response(position="x", key_points=points,
            citations=("Till report, first line", "as Ben says", "https://bakers.example/x"))),
        ("b", Response(position="Something else entirely", citations=())),
    ]  # fmt: skip
    for turn, (who, response) in enumerate(responses, 1):
        entry = RoundtableTurn(turn=turn, participant=who, round=1, status="ok", response=response, number=1)
        talk = talk.after(entry)
    memory = "What you did:\n- [P1] Few customers came to the shop on Mondays again."
    first, second, third, last = claims(talk, {"a": "Ada", "b": "Ben"}, {"a": memory}, [Document(**TILL)])
    assert [(basis.kind, basis.said) for basis in first.rests_on] == [("source", "Nobody knows")]
    kinds = {(basis.kind, basis.where) for basis in second.rests_on}
    assert kinds == {("document", "Till report"), ("turn", "1"), ("source", "https://bakers.example/x"), ("post", "")}
    assert (
        next(basis.text for basis in second.rests_on if basis.kind == "post")
        == "Few customers came to the shop on Mondays again."
    )
    assert ("turn", "") in {(basis.kind, basis.said) for basis in third.rests_on}  # by the words of the claim itself
    assert last.rests_on == ()


def test_a_synthesis_without_a_conclusion_is_not_used() -> None:
    data = DiscussionSaid(
        topic="x", turns=(TurnSaid(turn=3, round=1, who="Ada", position="p"),),
        by_rule=DiscussionSynthesis(conclusion="by rule"))  # fmt: skip
    assert SYNTHESIST.check(data, DiscussionSynthesis(common_ground=[Point(text="a", turns=[3])])) is None
    assert SYNTHESIST.rule(data).conclusion == "by rule"
    used = SYNTHESIST.check(
        data, DiscussionSynthesis(conclusion="c", differences=[Point(text="a", turns=[3, 4]), Point(text="b")])
    )
    assert [(difference.text, difference.turns) for difference in used.differences] == [("a", [3])]


@pytest.mark.usefixtures("unreported")
def test_a_discussion_that_goes_on_is_paused_asked_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one server's loop: the call that drives it returns paused; a question stands before the next round; the end
    comes before the rounds are over, with the private answers after it. No request is made twice."""
    asked = "What if only the shop closes?"

    async def lead(server: ModelServer) -> tuple[Any, ...]:
        tasks, own_folder = Tasks(PathSandbox(tmp_path)), str(tmp_path / "own_folder")

        async def call(name: str, **given: Any) -> Any:
            return await operate(name, {**TABLE, **given}, tmp_path, own_folder, tasks)

        start = {"question": QUESTION, "mode": "adversarial", "rounds": 12, "personas": SEATS}
        driving = asyncio.create_task(call("start_roundtable", **start))
        await asyncio.to_thread(server.wait_for, 4)  # both privately, the first round under way
        paused = await call("control_roundtable", action="pause")
        begun = await driving
        with pytest.raises(EnqueteError, match="nothing goes on that could be paused"):
            await call("control_roundtable", action="pause")
        going = asyncio.create_task(call("control_roundtable", action="ask", question=asked))
        n = len(server.requests)
        while not any(asked in str(request.body) for request in list(server.requests)[n:]):
            await asyncio.to_thread(server.wait_for, len(server.requests) + 1)
        ended = await call("control_roundtable", action="end")
        return begun, paused, await going, ended

    (tmp_path / "simulations").mkdir()
    with ModelServer(latency=0.05) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "m")
        begun, paused, asking, ended = asyncio.run(lead(server))
        (run,) = (tmp_path / "roundtables/monday/runs").iterdir()
        with open_run(run) as reading:
            (sent,) = reading.ledger.read("SELECT sum(sends) FROM calls").fetchone()
        assert len(server.requests) == sent
    assert [step["status"] for step in (begun, paused, asking, ended)] == ["paused", "paused", "paused", "completed"]
    (group,) = ended["groups"]
    assert (group["exit_reason"], group["over"]) == ("closed", True)
    assert group["rounds"] < 12
    assert python(tmp_path, "get_thoughts", **TABLE, agent="Ada")["thoughts"][-1]["round"] == "after"
    remarks = json.loads(
        (tmp_path / python(tmp_path, "export_roundtable", **TABLE, format="json")["file"]).read_text("utf-8")
    )
    assert asked in [entry["remark"] for entry in remarks["groups"][0]["rounds"]]
    with pytest.raises(EnqueteError, match="the discussion is over"):
        python(tmp_path, "control_roundtable", **TABLE, action="end")
