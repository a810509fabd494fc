"""Delphi as it is conducted: the second coding is the last call, may be left out, and never costs the study its
answers. With `rounds: auto` it is ended by the criteria that end a discussion, never before round 3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import enquete
from enquete.instruments.load import load_shipped
from enquete.methods.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.methods.delphi.moderator import judge_rounds
from enquete.methods.delphi.procedure import HEADINGS, Delphi
from enquete.reports.run_reading import open_run
from enquete.state.asking import ATTEMPTS
from enquete.state.errors import SettingsError
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import BareContext
from tests.support.studies import call_keys, personas, stored_answers

INSTRUMENT = load_shipped(DelphiInstrument, "delphi")
SECOND = "round 1/second/"


def interview(tmp_path: Path, **more: Any) -> enquete.Run:
    return bare_runs.interview(personas(tmp_path, 4), methods=["delphi"], **{"out": str(tmp_path / "out"), **more})


def coded_twice(run: enquete.Run) -> int:
    """Answers that the second coding was of; 0 where there is none."""
    with open_run(run.folder) as reading:
        second: Any = reading.pinned_values("main", "delphi").get("second_coding")
    return len(second["statements"]) if second else 0


def themes_called(run: enquete.Run) -> list[str]:
    return [subject for _, _, _, purpose, subject, _ in call_keys(run.folder) if purpose == "theme"]


def test_the_second_coding_comes_last_of_the_main_arm_alone_and_can_be_left_out(tmp_path: Path) -> None:
    arms = [enquete.Arm(), enquete.Arm(id="b", role="b", seed=5)]
    run = interview(tmp_path, arms=arms)
    *earlier, last = [key for key in call_keys(run.folder) if key[2] == "main"]
    assert last[4] == f"{SECOND}batch 1"
    assert not any(key[4].startswith(SECOND) for key in earlier)
    assert {key[2] for key in call_keys(run.folder) if key[4].startswith(SECOND)} == {"main"}
    assert coded_twice(run) == 16
    off = interview(
        tmp_path, arms=arms, out=str(tmp_path / "off"),
        settings={"delphi": {"second_coding": False}},
    )  # fmt: skip
    assert not any(subject.startswith(SECOND) for subject in themes_called(off))
    assert stored_answers(off.folder) == stored_answers(run.folder)


def test_a_model_codes_the_second_time_over_http(tmp_path: Path) -> None:
    with ModelServer() as server:
        run = interview(tmp_path, model="m", base_url=server.base_url)
    assert run.status == "completed"
    assert themes_called(run)[-1] == f"{SECOND}batch 1"


def test_a_second_coding_that_cannot_be_read_leaves_the_study_without_it(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str | None:
        return "no JSON today" if "assignments" in body["messages"][-1]["content"] else None

    with ModelServer(script=reply) as server:
        run = interview(tmp_path, model="m", base_url=server.base_url)
    assert run.status == "completed"
    assert coded_twice(run) == 0
    assert {row[5] for row in stored_answers(run.folder)} == {"ok"}


def test_the_plan_counts_the_second_coding_only_where_it_is_made() -> None:
    def calls(agents: int, wanted: bool) -> tuple[int, int]:
        procedure = Delphi(INSTRUMENT, DelphiSettings(second_coding=wanted), "de")
        return procedure.plan(BareContext(agents)).calls["theme"]

    on, off = calls(10, True), calls(10, False)
    # 10 agents × 4 questions; a batch holds at least one statement, a call may take 3 attempts, merges as many again
    assert off == (1, 40 * 2 * 3)
    assert on == (2, 40 * 2 * 3 + 40 * 3)
    assert calls(1000, True) == (2, 4000 * 2 * 3 + 200 * 3)


def test_an_arm_without_feedback_rates_again_and_sees_its_own_ratings_alone(tmp_path: Path) -> None:
    """Prompts as they were sent: of the last round those of the main arm show medians, and those of the arm without
    feedback the agent's own ratings and no median."""
    prompts: list[str] = []

    def listen(body: dict[str, Any]) -> None:
        prompts.append("\n".join(str(message["content"]) for message in body["messages"]))

    with ModelServer(script=listen) as server:
        run = interview(
            tmp_path, model="m", base_url=server.base_url, language="en",
            settings={"delphi": {"no_feedback_arm": True, "second_coding": False}},
        )  # fmt: skip
    again = stored_answers(run.folder, "delphi_no_feedback")
    assert {row[2] for row in again} == {3}
    assert len(again) == sum(row[2] == 3 for row in stored_answers(run.folder))
    own = [prompt for prompt in prompts if HEADINGS[1] in prompt]
    shown = [HEADINGS[0] in prompt for prompt in own]
    assert (shown.count(True), shown.count(False)) == (4, 4)
    assert ["median" in prompt for prompt in own] == shown


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="second_coding"):
        interview(tmp_path, settings={"delphi": {"second_coding": "perhaps"}})


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def auto() -> DelphiInstrument:
    return INSTRUMENT.model_copy(update={"rounds": "auto"})


def panel(*ratings: str) -> dict[str, dict[str, float]]:
    """A digit a theme, a string a panelist."""
    return {
        str(who): {str(item): float(digit) for item, digit in enumerate(digits)} for who, digits in enumerate(ratings)
    }


APART = panel("15", "15", "51", "51")  # IQR 4 on both themes: no agreement


def test_one_round_of_ratings_ends_nothing(auto: DelphiInstrument) -> None:
    assert judge_rounds([panel("33", "33")], auto).reason == ""  # round 2: agreed, but the floor is 3


def test_a_panel_that_agrees_ends_by_consensus_after_its_first_revision(auto: DelphiInstrument) -> None:
    ending = judge_rounds([APART, panel("33", "34", "33", "33")], auto)
    assert (ending.reason, ending.details["agreement"]) == ("consensus", 1)


def test_a_panel_that_keeps_its_ratings_ends_by_convergence_and_not_by_agreement(auto: DelphiInstrument) -> None:
    ending = judge_rounds([APART, APART], auto)
    assert (ending.reason, ending.details["agreement"], ending.details["stable_share"]) == ("convergence", 0, 1)
    one_moved = panel("24", "15", "51", "51")  # three of four kept theirs: .75, below .85
    assert judge_rounds([APART, one_moved], auto).reason == ""
    assert judge_rounds([APART, one_moved, one_moved], auto).reason == "convergence"


def test_a_panel_that_never_settles_ends_with_round_five(auto: DelphiInstrument) -> None:
    back = panel("51", "51", "15", "15")
    assert [judge_rounds([APART, back, APART, back][:n], auto).reason for n in range(1, 5)] == [
        "", "", "", "max_rounds",
    ]  # fmt: skip


def test_the_plan_reaches_from_three_rounds_to_five(auto: DelphiInstrument) -> None:
    plan = Delphi(auto, DelphiSettings(second_coding=False), "de").plan(BareContext(10))
    assert plan.calls["answer"] == (30, 10 * 5 * ATTEMPTS)  # 10 agents · 3 blocks; · 5 blocks


@pytest.mark.usefixtures("report_only")
def test_a_run_ends_all_its_arms_where_the_main_one_ends_and_says_why(tmp_path: Path, auto: DelphiInstrument) -> None:
    source = Path(enquete.__file__).parent / "instruments/packs/fisheries/instruments/delphi.yaml"
    wanted = yaml.safe_load(source.read_text("utf-8")) | {
        "rounds": "auto", "ending": {"consensus": 1.0, "stable": 0.0, "stable_share": 0.0, "stable_rounds": 2},
    }  # fmt: skip
    path = tmp_path / "delphi.yaml"
    path.write_text(yaml.safe_dump(wanted, allow_unicode=True), "utf-8")
    arms = [enquete.Arm(), enquete.Arm(id="b", role="replicate", seed=5)]
    run = enquete.conduct_interviews(
        personas(tmp_path, 3), methods=["delphi"], instruments={"delphi": path}, arms=arms, out=str(tmp_path / "out"),
        settings={"delphi": {"second_coding": False}}, language="en",
    )  # fmt: skip
    assert (run.results["delphi"]["ended"], run.results["delphi"]["last_round"]) == (
        "convergence",
        4,
    )  # two revisions on end
    assert run.all_responses.groupby("arm")["round"].max().to_dict() == {"main": 4, "b": 4}
    assert "because ratings had settled" in run.report
