"""Delphi with `rounds: auto`: ended by the criteria that end a discussion, never before round 3. Numbers by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import enquete
from enquete.graphs.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.graphs.delphi.procedure import Delphi, rated_enough
from enquete.instruments.load import load_shipped
from enquete.state.asking import ATTEMPTS
from tests.support.populations import BareDesk
from tests.support.studies import personas


@pytest.fixture(scope="module")
def auto() -> DelphiInstrument:
    return load_shipped(DelphiInstrument, "delphi").model_copy(update={"rounds": "auto"})


def panel(*ratings: str) -> dict[str, dict[str, float]]:
    """A digit a theme, a string a panelist."""
    return {str(who): {str(item): float(digit) for item, digit in enumerate(own)} for who, own in enumerate(ratings)}


APART = panel("15", "15", "51", "51")  # IQR 4 on both themes: no agreement


def test_one_round_of_ratings_ends_nothing(auto: DelphiInstrument) -> None:
    assert rated_enough([panel("33", "33")], auto).reason == ""  # round 2: agreed, but the floor is 3


def test_a_panel_that_agrees_ends_by_consensus_after_its_first_revision(auto: DelphiInstrument) -> None:
    found = rated_enough([APART, panel("33", "34", "33", "33")], auto)
    assert (found.reason, found.details["agreement"]) == ("consensus", 1)


def test_a_panel_that_keeps_its_ratings_ends_by_convergence_and_not_by_agreement(auto: DelphiInstrument) -> None:
    found = rated_enough([APART, APART], auto)
    assert (found.reason, found.details["agreement"], found.details["stable_share"]) == ("convergence", 0, 1)
    one_moved = panel("24", "15", "51", "51")  # three of four kept theirs: .75, below .85
    assert rated_enough([APART, one_moved], auto).reason == ""
    assert rated_enough([APART, one_moved, one_moved], auto).reason == "convergence"


def test_a_panel_that_never_settles_ends_with_round_five(auto: DelphiInstrument) -> None:
    back = panel("51", "51", "15", "15")
    assert [rated_enough([APART, back, APART, back][:n], auto).reason for n in range(1, 5)] == [
        "",
        "",
        "",
        "max_rounds",
    ]


def test_the_plan_reaches_from_three_rounds_to_five(auto: DelphiInstrument) -> None:
    plan = Delphi(auto, DelphiSettings(second_coding=False), "de").plan(BareDesk(10))  # type: ignore[arg-type]
    assert plan.calls["answer"] == (30, 10 * 5 * ATTEMPTS)  # 10 agents · 3 blocks; · 5 blocks


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
    assert run.responses.groupby("arm")["round"].max().to_dict() == {"main": 4, "b": 4}
    assert "because ratings had settled" in run.report
