"""What a run of roundtables shows: two groups of three in which everybody is sure of the same (the cast groupthink),
and two agents who only read. What must come out is planted in truth/roundtable.yaml, and said beside each
expectation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import enquete
from enquete.methods.roundtable.evaluation import PRESENTATION
from enquete.methods.roundtable.findings import settle_verdicts
from enquete.reports.analyses import find, headlines, read_results
from enquete.reports.charts import drawn
from enquete.reports.declarations import Analysis, shaped
from enquete.reports.findings import stated_of
from enquete.reports.responses import responses
from enquete.reports.result_tables import ResultTables
from enquete.reports.run_reading import open_run
from tests.reports.conftest import SHORT, made, people_file
from tests.support.studies import personas
from tests.support.tables import results as read_in


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
    results = run.results["roundtable"]
    assert [results[name] for name in ("begun", "over", "planned", "n", "people", "readers", "unseated")] == [
        2, 2, 2, 6, 0, 2, 0,
    ]  # fmt: skip
    assert [discussion["signs"] for discussion in results["discussions"]] == [
        ["all_sure", "one_side", "same_words"]
    ] * 2
    assert {discussion["exit"] for discussion in results["discussions"]} == {
        "consensus"
    }  # one position in the same words from the first round on
    assert "2 of 2 groups show signs of groupthink" in run.report


def test_nobody_moves_where_all_are_stubborn(run: enquete.Run) -> None:
    data = run.results["roundtable"]
    assert {row["side"]: (row["n"], row["moved"]) for row in data["movement"]} == {"discussed": (6, 0), "read": (2, 0)}
    (beyond,) = data["beyond_reading"]
    assert (beyond["difference"], beyond["verdict"], beyond["p"]) == (
        0,
        "unclear",
        1,
    )  # no difference found is what page one says
    texts = {headline.id: headline.said for headline in headlines(read_results("roundtable", PRESENTATION, data, "en"))}
    assert texts["roundtable.beyond_reading.verdict.unclear"] == "unclear"  # on which replicates are compared
    assert data["held_after"] == "yes"  # the cast says yes


def test_tables_and_files_have_every_stage_argument_and_decision(run: enquete.Run) -> None:
    """Six participants privately before, in one round, privately after, and two readers before and after: 6 · 3 + 2 ·
    2."""
    assert len(table(run, "positions.csv")) == 22
    assert len(table(run, "moves.csv")) == 8
    agreement = table(run, "rounds.csv")
    assert agreement["round"].tolist() == [1, 1]
    assert agreement["agreement"].ge(0.9).all()
    assert set(table(run, "arguments.csv")["id"]) == {
        argument["id"] for argument in run.results["roundtable"]["arguments"]
    }
    results = run.results["roundtable"]
    members: dict[str, set[str]] = {}
    for turn in results["turns"]:
        members.setdefault(turn["group"], set()).add(turn["participant"])
    assert results["arguments"]
    for seat in results["arguments"]:
        assert set(seat["raised"]) <= members[seat["group"]]
        assert seat["answered"] == 0  # all spoke at once, in the only round
    (path,) = Path(run.path).parents[1].glob("T1/roundtable/*/decisions.json")
    layers = json.loads(path.read_text("utf-8"))
    assert {name: layer["decision"]["consensus_level"] for name, layer in layers.items()} == {
        "group_01": "high", "group_02": "high",
    }  # fmt: skip
    assert {layer["decision"]["action"] for layer in layers.values()} == {"verify"}  # they are warned of
    assert all(len(layer["decision"]["held_by"]) == 3 for layer in layers.values())
    assert all(layer["evidence"]["groupthink_warning"] for layer in layers.values())


def test_charts_are_drawn_and_one_without_data_is_left_out(run: enquete.Run) -> None:
    told = read_results("roundtable", PRESENTATION, run.results["roundtable"], "de")
    pictures = drawn(told, footer="")
    assert [picture.name for picture in pictures] == [
        "roundtable/agreement",
        "roundtable/positions",
    ]
    assert all("<svg" in picture.svg() for picture in pictures)
    assert drawn(read_results("roundtable", PRESENTATION, {}, "de"), footer="") == []


def test_findings_name_numbers_and_a_run_without_discussions_has_none(run: enquete.Run) -> None:
    told = read_results("roundtable", PRESENTATION, run.results["roundtable"], "de")
    named = {statement.id.split(".")[0]: statement for statement in stated_of(told)}
    assert {"moved", "agreement", "groupthink", "beyond"} <= set(named)
    assert (named["moved"].n, named["moved"].n_total, named["moved"].size) == (6, 6, 0)
    assert named["beyond"].kind == "null"
    assert list(stated_of(read_results("roundtable", PRESENTATION, {}, "de"))) == []


def test_agents_have_columns_and_health_sees_groups_that_agree_like_one(run: enquete.Run) -> None:
    agents = pd.read_csv(Path(run.path) / "exports/agents.csv")
    assert agents["roundtable_before"].value_counts().to_dict() == {"yes": 6}  # not the two who read
    assert agents["roundtable_moved"].sum() == 0
    health = (Path(run.path) / "health.json").read_text("utf-8")
    assert all(check in health for check in ("groups_with_groupthink", "turns_against_the_mode"))


# --- what is read of the tables ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def analysed(run: enquete.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Analysis]:
    """The analyses of a run that never began, of one that reached two agents of seven, and of one that is whole."""
    partial = made(
        **people_file(tmp_path_factory.mktemp("partial"), 7), methods=["roundtable"],
        available={"roundtable": "enquete.methods.roundtable:METHODOLOGY"},
        settings={"roundtable": SHORT["roundtable"]}, language="en", write=False, agents=(0, 1),
    )  # fmt: skip
    analyses = {"empty": shaped(PRESENTATION, {}, {})}
    for kind, folder in (("partial", partial.folder), ("small", run.folder)):
        with open_run(Path(folder)) as reading:
            analyses[kind] = find(reading, responses(reading, plain=True)).analyses["roundtable"]
    return analyses


@pytest.mark.parametrize("kind", ["empty", "partial", "small"])
def test_section_appendix_and_findings_of_any_run_can_be_told_in_both_languages(
    analysed: dict[str, Analysis], kind: str
) -> None:
    """Templates are strict: a name that is not there is an error."""
    told = {language: read_in(PRESENTATION, analysed[kind], language) for language in ("en", "de")}
    for read in told.values():
        texts = [read.at("section"), read.at("appendix"), *(finding.text for finding in stated_of(read))]
        assert not [text for text in texts if "{" in text]
        assert not {"None", "nan", "<NA>"} & set(" ".join(texts).replace("|", " ").split())
        assert list(read.digest()["tables"]) == [
            "discussions", "movement", "arguments", "group_tests", "speaking_models", "between_models",
        ]  # fmt: skip
    english, german = ([read.at(place).splitlines() for place in ("section", "appendix")] for read in told.values())
    assert [len(lines) for lines in english] == [len(lines) for lines in german]
    assert english[0] != german[0]
    assert ("No group has discussed yet." in english[0]) == (kind == "empty")


def test_a_direction_that_the_corrected_test_does_not_bear_out_is_unclear(analysed: dict[str, Analysis]) -> None:
    """Adjusted p by hand, on either side of the level."""
    beyond = analysed["small"].tables["beyond_reading"]
    for p, verdict in ((0.05, "unclear"), (0.04, "more")):
        tables = {**analysed["small"].tables, "beyond_reading": beyond.assign(verdict="more", p_adjusted=p)}
        settled = settle_verdicts(ResultTables(PRESENTATION, replace(analysed["small"], tables=tables)))
        assert settled["beyond_reading"]["verdict"].tolist() == [verdict]
