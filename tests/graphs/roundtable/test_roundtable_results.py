"""What a run of roundtables shows: two groups of three in which everybody is sure of the same (the cast groupthink), and two
agents who only read. What must come out is planted in truth/roundtable.yaml, and said beside each expectation."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import enquete
from enquete.graphs.roundtable.figures import figures
from enquete.graphs.roundtable.results import EVALUATION
from tests.support.studies import personas


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    folder = tmp_path_factory.mktemp("roundtable")
    chosen = {"cast": "groupthink", "size": 3, "controls": 2}
    return enquete.conduct_interviews(
        personas(folder, 8), methods=["roundtable"], settings={"roundtable": chosen}, language="en",
        out=str(folder / "out"),
    )  # fmt: skip


def table(run: enquete.Run, name: str) -> pd.DataFrame:
    (path,) = Path(run.path).parents[1].glob(f"T1/roundtable/*/{name}")
    return pd.read_csv(path)


def test_the_like_minded_are_flagged_in_every_group_and_the_page_says_so(run: enquete.Run) -> None:
    found = run.results["roundtable"]
    assert found["seats"] | {"unknown": []} == {
        "begun": 2, "over": 2, "total": 2, "participants": 6, "people": 0, "readers": 2, "unseated": 0, "unknown": [],
    }  # fmt: skip
    assert [one["groupthink"]["indicators"] for one in found["groups"]] == [["all_sure", "one_side", "same_words"]] * 2
    assert found["exits"] == {"consensus": 2}  # one position in the same words from the first round on
    assert "2 of 2 groups show signs of groupthink" in run.report
    assert "weak evidence" in run.report


def test_nobody_moves_where_all_are_stubborn_and_nobody_persuades(run: enquete.Run) -> None:
    found = run.results["roundtable"]
    assert (found["movement"]["groups"]["n"], found["movement"]["groups"]["moved"]) == (6, 0)
    assert found["movement"]["control"]["n"] == 2
    assert found["movement"]["beyond_control"] == 0
    assert found["persuasion"] == []
    assert found["reason"]["groups"] == 2


def test_tables_have_every_stage_of_everybody(run: enquete.Run) -> None:
    """Six participants privately before, in one round, privately after, and two readers before and after: 6 · 3 + 2 · 2."""
    assert len(table(run, "positions.csv")) == 22
    assert len(table(run, "moves.csv")) == 8
    agreement = table(run, "agreement.csv")
    assert agreement["round"].tolist() == [1, 1]
    assert agreement["agreement"].ge(0.9).all()
    assert agreement["exit_reason"].eq("consensus").all()
    assert set(table(run, "arguments.csv")["id"]) == {one["id"] for one in run.results["roundtable"]["arguments"]}


def test_every_argument_is_raised_by_somebody_of_its_group(run: enquete.Run) -> None:
    found = run.results["roundtable"]
    members = {one["group"]: {each["participant"] for each in one["participants"]} for one in found["groups"]}
    assert found["arguments"]
    for one in found["arguments"]:
        assert set(one["raised"]) <= members[one["group"]]
        assert one["answered"] == []  # all spoke at once, in the only round


def test_the_answer_in_four_layers_stands_in_a_file(run: enquete.Run) -> None:
    (path,) = Path(run.path).parents[1].glob("T1/roundtable/*/decisions.json")
    layers = json.loads(path.read_text("utf-8"))
    assert {name: one["decision"]["consensus_level"] for name, one in layers.items()} == {
        "group_01": "high", "group_02": "high",
    }  # fmt: skip
    assert {one["decision"]["action"] for one in layers.values()} == {"verify"}  # they are warned of
    assert all(len(one["decision"]["held_by"]) == 3 for one in layers.values())
    assert all(one["evidence"]["groupthink_warning"] for one in layers.values())


def test_figures_are_drawn_and_one_without_data_is_left_out(run: enquete.Run) -> None:
    drawn = [one.name for one in figures(run.results["roundtable"], "de")]
    assert drawn == ["agreement", "positions"]  # nobody moved: no network
    assert list(figures({}, "de")) == []


def test_the_network_shows_people_where_they_fit_and_types_where_they_do_not() -> None:
    def moved(number: int) -> dict[str, object]:
        ends = {"mover": f"m{number}", "mover_name": f"Mover {number}", "mover_type": "angler"}
        return {**ends, "toward": "t", "toward_name": "Tess", "toward_type": "trader", "weight": 1.0}

    def names(n: int) -> str:
        (network,) = figures({"persuasion": [moved(number) for number in range(n)]}, "en")
        return " ".join(str(one["text"]) for one in network.spec["layout"]["annotations"])

    assert "Mover 1" in names(2)
    assert "Mover 1" not in names(13)  # of more than twelve only the types
    assert "trader" in names(13)


def test_findings_name_numbers_and_a_run_without_discussions_has_none(run: enquete.Run) -> None:
    named = {one.id.split(".")[0]: one for one in EVALUATION.findings(run.results["roundtable"], "de")}
    assert {"moved", "agreement", "groupthink", "reason"} <= set(named)
    assert (named["moved"].n, named["moved"].n_total, named["moved"].size) == (6, 6, 0)
    assert list(EVALUATION.findings({}, "de")) == []


def test_headlines_are_signs_that_a_further_run_can_confirm(run: enquete.Run) -> None:
    said = {one.id: one.said for one in EVALUATION.headlines(run.results["roundtable"], "en")}
    assert (said["roundtable.stance"], said["roundtable.beyond_control"]) == (
        "yes",
        0,
    )  # the cast says yes, and nobody moves
    nothing = list(EVALUATION.headlines({}, "en"))
    assert all(one.said is None and not one.leads for one in nothing)


def test_agents_have_a_column_of_where_they_began_and_whether_they_moved(run: enquete.Run) -> None:
    table = pd.read_csv(Path(run.path) / "exports/agents.csv")
    assert table["roundtable_before"].value_counts().to_dict() == {"yes": 6}  # not the two who read
    assert table["roundtable_moved"].sum() == 0


def test_health_sees_groups_that_agree_like_one(run: enquete.Run) -> None:
    health = json.loads((Path(run.path) / "health.json").read_text("utf-8"))
    told = json.dumps(health)
    assert "groups_with_groupthink" in told
    assert "turns_against_the_mode" in told
