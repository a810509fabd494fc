"""The course of a discussion: rounds and their end, what is private, who only reads, what is summed up, and going
on."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from enquete.locale import in_language
from enquete.methods.roundtable.agreement import (
    GROUPER,
    Analysed,
    PositionGroups,
    PositionsSaid,
    four_layers,
    is_quoted,
    readings,
)
from enquete.methods.roundtable.discussion import Discussion, RoundtableSettings, RoundtableTurn, Weighed
from enquete.methods.roundtable.modes import Response
from enquete.methods.roundtable.procedure import planted
from enquete.methods.roundtable.table import Summed
from enquete.runs.conversations import turn_name
from enquete.state.asking import Block, Participant, Reply
from enquete.state.interview_context import InterviewerTask
from enquete.study.method_operations import operate
from tests.methods.roundtable.tables import INSTRUMENT, Table, TableContext, hold, people, plainly, stored
from tests.support.model_server import ModelServer


class SyntheticContext(TableContext):
    """Answered by the planted truth."""

    def __init__(self, sitting: list[Participant], settings: RoundtableSettings, seed: int):
        super().__init__(sitting, lambda *_: None, "en")
        self._truth, self._seed = planted(INSTRUMENT, settings), seed

    async def ask(self, block: Block) -> Reply:
        if block.key not in self.answers_by_key:
            self.blocks.append(block)
            answers = self._truth(self.participant(block.key.participant), block, "en", self._seed)
            self.answers_by_key[block.key] = {answer.item: answer for answer in answers}
        return Reply("done", tuple(self.answers_by_key[block.key].values()))


def cast(name: str, n: int = 5, seed: int = 0, **given: Any) -> Table:
    from enquete.methods.roundtable.procedure import Roundtable

    settings = RoundtableSettings.model_validate({"cast": name, "rounds": 5, **given})
    context, procedure = SyntheticContext(people(n), settings, seed), Roundtable(INSTRUMENT, settings, "en")
    assert asyncio.run(procedure.conduct("group_01", 1, context)) == "done"
    return Table(context, procedure, stored(procedure, context, "group_01"))


def ended(table: Table) -> tuple[int, str]:
    return table.talk.held, table.talk.exit.reason


# --- rounds -----------------------------------------------------------------------------------------------------------


def turn_of(turn: int, round: int, who: str, position: str, **more: object) -> RoundtableTurn:
    return RoundtableTurn.model_validate(
        {"turn": turn, "round": round, "participant": who, "status": "ok", "response": Response(position=position),
            **more}
    )  # fmt: skip


def test_rounds_are_public_and_the_exit_is_that_of_the_last_complete_round() -> None:
    talk = Discussion("group_01", participants=("a", "b"), mode="collaborative")
    for turn in (
        turn_of(1, 0, "a", "before", private=True),
        turn_of(2, 0, "b", "before too", private=True),
        turn_of(3, 1, "a", "one"),
        turn_of(4, 1, "b", "one too", weighed=Weighed(should_exit=False, reason="open")),
        turn_of(5, 2, "a", "two"),
    ):
        talk = talk.after(turn)
    assert [{who: heard.position for who, heard in held.items()} for held in talk.rounds()] == [
        {"a": "one", "b": "one too"}, {"a": "two"}]  # fmt: skip
    assert {who: heard.position for who, heard in talk.before.items()} == {"a": "before", "b": "before too"}
    assert talk.afterwards == {}
    assert talk.exit.reason == "open"


# --- the end ----------------------------------------------------------------------------------------------------------


def test_planted_casts_end_as_planted() -> None:
    """Who is not stubborn has gone over to the majority by round 2. Who never moves has been unmoved for two rounds
    after round 3. One mind from the beginning needs one round."""
    assert ended(cast("consensus")) == (2, "consensus")
    assert ended(cast("convergence")) == (3, "convergence")
    assert ended(cast("groupthink")) == (1, "consensus")


def test_who_slips_is_asked_once_more_and_then_keeps_to_the_mode() -> None:
    table = cast("unruly", mode="devils-advocate", rounds=2)
    again = [turn for turn in table.talk.turns if turn.retried]
    assert again
    assert all(turn.slips and not turn.response.violations for turn in again)


def test_a_model_reads_agreement_beside_the_rule_and_does_not_decide() -> None:
    def works(task: InterviewerTask[Any]) -> object:
        numbers = list(task.data.said)
        return Analysed(agreement=1.0, camps=[numbers], conflicts=["Money."])

    table = hold("collaborative", 3, works=works, analyses="model")
    exits = [turn.weighed for turn in table.talk.turns if turn.weighed]
    assert [(ending.reason, ending.analysed["agreement"]) for ending in exits] == [("", 1.0), ("max_rounds", 1.0)]
    assert exits[0].details["agreement"] == 0.3  # by the rule: three say three things, equally sure: .7 × 0 + .3 × 1
    assert [task.subject for task in table.interview_context.tasks.values()] == ["group_01|round 1", "group_01|round 2"]


# --- private ----------------------------------------------------------------------------------------------------------


def test_everybody_is_asked_alone_before_and_after() -> None:
    table = hold("delphi", 2, private=True)
    assert [(turn.round, turn.private) for turn in table.talk.turns] == [
        *[(0, True)] * 2, *[(1, False)] * 2, *[(2, False)] * 2, *[(3, True)] * 2,
    ]  # fmt: skip
    assert table.shown("Ada", 0) == {}
    assert list(table.shown("Ada", 3)) == [
        "What was said in round 1", "What was said in round 2", "How the group stood in the last round",
    ]  # fmt: skip
    assert table.asked("Ada", 3) == [
        "position", "stance", "reasoning", "moved_by", "confidence",
        *(f"consideration/{name}" for name in INSTRUMENT.considerations), "preferences"]  # fmt: skip
    assert "Adatopic0." not in "".join(text for block in table.interview_context.blocks for _, text in block.quoted)
    last = table.turn("Ada", 3)
    assert (dict(last.ratings), last.ranking) == (
        dict.fromkeys(INSTRUMENT.considerations, 4.0), ("keep", "adjust", "local", "change"))  # fmt: skip
    assert [turn.stop for turn in table.talk.turns if turn.stop] == ["max_rounds"]


def test_controls_read_all_of_one_group_and_are_asked_before_and_after() -> None:
    table = hold("delphi", 2, private=True, controls=1, sitting=people(3))
    control = stored(table.procedure, table.interview_context, "control_01")
    assert (control.participants, control.reads) == (("agent:cleo",), "group_01")
    assert [(turn.round, turn.private) for turn in control.turns] == [(0, True), (1, True)]
    before, after = (block for block in table.interview_context.blocks if block.key.session == "control_01")
    assert before.quoted == ()
    assert [text.replace("you, ", "") for _, text in after.quoted] == [
        text.replace("you, ", "") for text in table.shown("Ada", 3).values()
    ]
    assert after.instruction.startswith("You did not take part in the roundtable")
    assert dict(control.afterwards).keys() == {"agent:cleo"}


# --- long discussions -------------------------------------------------------------------------------------------------


def test_older_rounds_are_summed_up_beyond_the_limit_and_key_points_are_kept() -> None:
    full = hold("delphi", 2, rounds=4, least_rounds=4)
    short = hold("delphi", 2, rounds=4, least_rounds=4, context_tokens=100)
    headings = [f"What was said in round {n}" for n in (1, 2, 3)]
    counted = "How the group stood in the last round"
    assert list(full.shown("Ada", 4)) == [*headings, counted]
    assert list(short.shown("Ada", 2)) == [headings[0], counted]  # nothing is older than the last round
    shown = short.shown("Ada", 4)
    summary = "What was said so far, in summary (rounds 1 to 2)"
    assert list(shown) == [summary, headings[2], counted]
    numbers = {turn.participant: turn.number for turn in short.talk.turns}
    assert shown[summary] == "\n".join(
        f"{n}. Participant {numbers[f'agent:{name.lower()}']}: {plainly(name, n, 'key_points')}"
        for n in (1, 2)
        for name in ("Ada", "Ben")
    )
    assert {heading: shown[heading] for heading in headings[2:]} == {headings[2]: full.shown("Ada", 4)[headings[2]]}


def test_a_model_may_sum_up_and_key_points_are_kept_all_the_same() -> None:
    table = hold(
        "collaborative", 2, rounds=3, context_tokens=100, summaries="model",
        works=lambda task: Summed(text="Two views."),
    )  # fmt: skip
    told = next(iter(table.shown("Ben", 3).values()))
    assert told == "Two views.\n\n1. Ada: Adakey_points1.\n1. Ben: Benkey_points1."
    (task,) = table.interview_context.tasks.values()
    assert task.subject == "group_01|round 3"
    assert "(you" not in task.data.text
    assert "topic1" in task.data.text
    assert "topic2" not in task.data.text  # the last round is passed in full


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["collaborative", "adversarial"])
def test_from_whatever_was_kept_it_goes_on_and_asks_nobody_twice(mode: str) -> None:
    """As after a kill between any two turns: the turns after it are not pinned, their answers may be stored."""
    whole = hold(mode, 2, private=True)
    for kept in range(len(whole.talk.turns)):
        context, procedure = whole.interview_context, whole.procedure
        values = dict(context.values)
        context.values = {
            name: value for name, value in values.items()
            if not name.startswith("turn/") or name in {turn_name("group_01", n) for n in range(1, kept + 1)}
        }  # fmt: skip
        asked = len(context.blocks)
        assert asyncio.run(procedure.conduct("group_01", 1, context)) == "done"
        assert context.values == values
        assert len(context.blocks) == asked


# --- positions grouped by what they mean -----------------------------------------------------------------------------


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
            number: next(n for n, text in SAYS.items() if text == response.position)
            for number, response in task.data.said.items()
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
    assert [
        (reading["by"], reading["agreement"], reading["rule"]["agreement"]) for reading in readings(offline.talk)
    ] == [("rule", None, 1.0)] * 3
    layers = four_layers(offline.talk, "en", offline.procedure.settings.played.mode)
    assert layers.decision.action == "query_detail"
    assert any("No model has read what the positions mean" in hint for hint in layers.metadata.verification_hints)


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


@pytest.mark.usefixtures("report_only")
def test_a_caller_gets_both_readings_with_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over HTTP, from a model at temperature 0 that finds everybody of one mind and quotes four words of each."""

    def script(body: dict[str, Any]) -> str | None:
        text = body["messages"][-1]["content"]
        if "Group the positions" not in text:
            return None
        ids = dict(
            re.findall(
                r"^\[(\d+)\] (\S+ \S+ \S+ \S+)", text.partition("Their positions of the round before")[0], re.MULTILINE
            )
        )
        numbers = dict.fromkeys(ids, True)
        reply = {"group_of": dict.fromkeys(ids, 1), "says": {"1": "One mind"}, "quote_of": ids, "unmoved": numbers}
        return json.dumps({**reply, "conflicts": [], "groupthink": False})

    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        seats = [{"name": "Ada", "persona": "Bakes"}, {"name": "Ben", "persona": "Sells"}]
        given = {
            "roundtable_id": "meaning", "question": "Why?", "personas": seats, "model": "m", "private": False,
            "rounds": 1,
        }  # fmt: skip
        done = asyncio.run(operate("start_roundtable", {**given, "agreement": "meaning"}, tmp_path))
        asked = [request.body for request in server.requests if "Group the positions" in str(request.body)]
    assert [body["temperature"] for body in asked] == [0]
    assert (done["groups"][0]["basis"], len(done["groups"][0]["held_by"])) == ("model", 2)
    details = asyncio.run(operate("get_round_details", {"roundtable_id": "meaning"}, tmp_path))
    meaning = details["by_meaning"]
    assert (meaning["by"], [group["position"] for group in meaning["groups"]]) == ("m", ["One mind"])
    positions = {response["name"]: response["position"] for response in details["responses"]}
    assert all(positions[name].startswith(quote) for name, quote in meaning["groups"][0]["quotes"].items())
    assert set(meaning["groups"][0]["quotes"]) == {"Ada", "Ben"}
    assert (meaning["rule"]["positions"], meaning["rule"]["differs"]) == (2, 1.0)
    report = next((tmp_path / "roundtables/meaning/synthesis").glob("*/report.md")).read_text("utf-8")
    assert "Positions grouped by what they mean" in report
    appendix = next((tmp_path / "roundtables/meaning/synthesis").glob("*/appendix.md")).read_text("utf-8")
    assert in_language({"x": "What positions mean, as a model reads them, decides"}, "en")["x"] in appendix
