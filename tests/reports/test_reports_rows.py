"""The response table: rows equal the plan, whatever was answered; keys, scales, tokens and memory where they belong."""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import pytest

from enquete.instruments.load import load_shipped
from enquete.ledger.ledger import Usage
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.reports.writing import COLUMNS, ResponseRow, lines, records
from enquete.runs.run_session import RunSession
from enquete.state.asking import Answer, Arm, CallKey
from enquete.state.interview_context import Completion, Prompt
from tests.reports.conftest import ALL, AVAILABLE


@pytest.fixture
def make(make):
    """Runs whose table is read: no report is written."""
    return partial(make, write=False)


KEY = ["run_id", "arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id"]


def expected_rows(agents: int, themes: int) -> dict[tuple[str, str, int], int]:
    """By hand from the shipped instruments: 14 items and a comment a wave; 24 statements and 6 axes; 4 open questions,
    then each theme on 2 dimensions, twice; 4 scenarios on 4 dimensions and an open question each."""
    return {
        ("longitudinal", "T0", 0): agents * 15, ("longitudinal", "T1", 0): agents * 15,
        ("diversity", "T1", 0): agents * 30, ("delphi", "T1", 1): agents * 4, ("delphi", "T1", 2): agents * themes * 2,
        ("delphi", "T1", 3): agents * themes * 2, ("scenario", "T1", 0): agents * 20,
    }  # fmt: skip


@pytest.mark.parametrize(("run", "agents"), [("whole", 7), ("full", 12)])
def test_rows_equal_the_plan_and_none_stands_twice(run, agents, request):
    """Of both stored simulations, one in each language: everybody is asked everything once."""
    made = request.getfixturevalue(run)
    table, themes = made.table(), len(made.results()["delphi"]["themes"])
    assert 1 <= themes <= 15
    counts = table.groupby(["methodology", "phase", "round"]).size().to_dict()
    known = {key: n for key, n in expected_rows(agents, themes).items() if run == "full" or key[0] in AVAILABLE}
    assert known.items() <= counts.items()
    assert set(table["methodology"]) == set(ALL if run == "full" else AVAILABLE)
    assert not table.duplicated(KEY).any()
    extras = {"placed", "notes"} if run == "full" else set()  # a methodology's own columns
    assert tuple(column for column in table.columns if column not in extras) == COLUMNS
    assert set(table["status"]) == {"ok"}
    assert table["participant"].nunique() == agents
    assert table[table["phase"].eq("T1")]["memory_available"].all()
    assert not table[table["phase"].eq("T0")]["memory_available"].any()


def test_rounds_two_and_three_of_a_delphi_do_not_collide(whole):
    delphi = whole.table()[lambda rows: rows["methodology"].eq("delphi")]
    second, third = (delphi[delphi["round"].eq(n)] for n in (2, 3))
    assert len(second) == len(third) > 0
    assert list(second["item_id"]) == list(third["item_id"])
    assert third["text"].ne("").all()  # round 3's reason is the text of its rows
    assert second["text"].eq("").all()


def test_what_is_planned_but_unanswered_is_not_reached_and_stands_where_it_would(make, personas):
    asked = personas(6)
    table = make(**asked, methods=["longitudinal"], agents=[3, 0], partial=True).table()
    assert len(table) == 6 * 15
    assert table["status"].value_counts().to_dict() == {"not_reached": 4 * 15, "ok": 2 * 15}
    missing = table[table["status"].eq("not_reached")]
    assert missing[["value", "confidence", "item_position"]].isna().all().all()
    assert missing["agent_name"].ne("").all()
    assert missing.loc[missing["item_id"].eq("stock_closures"), "scale_max"].eq(5).all()
    everybody = make(**asked, methods=["longitudinal"]).table()
    assert everybody[["participant", "item_id"]].equals(table[["participant", "item_id"]])


def test_ratings_do_not_exist_before_there_are_themes(make, personas):
    table = make(**personas(3), methods=["delphi"], stages=[], partial=True).table()
    assert table[["round", "status"]].value_counts().to_dict() == {(1, "not_reached"): 3 * 4}


@pytest.mark.parametrize("asking", ["block", "item"])
def test_tokens_of_the_table_sum_to_what_answer_calls_spent(make, personas, asking):
    spent = {}

    async def remember(run_session: RunSession) -> None:
        spent["tokens"] = run_session.ledger.total("tokens")

    table = make(**personas(3), methods=["longitudinal"], asking=asking, prepare=remember).table()
    assert table["input_tokens"].sum() + table["output_tokens"].sum() == spent["tokens"] > 0
    per_block = 15 if asking == "block" else 1
    assert table["input_tokens"].notna().sum() == len(table) / per_block
    assert table.loc[table["input_tokens"].notna(), "item_position"].eq(1).all() == (asking == "block")
    assert (table["attempts"] == 1).all()
    assert table["prompt_hash"].str.len().eq(16).all()


def test_a_block_that_was_paid_but_not_answered_keeps_its_tokens(make, personas):
    async def pay(run_session: RunSession) -> None:
        who = run_session.population[0].id
        key = run_session.context("longitudinal", "T1").key(who, "items")
        for attempt in range(2):
            call = CallKey(key.run, "main", "longitudinal", "T1", "answer", key.subject, attempt)
            await run_session.ledger.reserve(
                call, Prompt("s", ({"role": "user", "content": str(attempt)},), "", 9), "m", 99
            )
            await run_session.ledger.settle(call, Completion("{}"), Usage(10, 5, latency_ms=7))

    table = make(**personas(2), methods=["longitudinal"], stages=[], partial=True, prepare=pay).table()
    first = table.iloc[0]
    assert (first["status"], first["attempts"], first["latency_ms"]) == ("not_reached", 2, 14)
    assert (table["input_tokens"].sum(), table["output_tokens"].sum()) == (20, 10)


def longitudinal(run):
    return run.table()[lambda rows: rows["methodology"].eq("longitudinal")]


def test_reverse_coded_items_are_rekeyed_and_the_raw_value_stays(whole):
    table = longitudinal(whole)
    instrument = load_shipped(LongitudinalInstrument, "longitudinal")
    reverse = [item.item_id for item in instrument.items if item.reverse_coded]
    turned = table[table["item_id"].isin(reverse)]
    straight = table[table["value"].notna() & ~table["item_id"].isin(reverse)]
    assert turned["reverse_keyed"].all()
    assert turned["value_rekeyed"].equals(6 - turned["value"])  # 1–5: min + max = 6
    assert straight["value_rekeyed"].equals(straight["value"])
    assert not straight["reverse_keyed"].any()


SCALES = """
instrument_id: scales
version: "1"
title: Skalen
topic: Skalen
language_default: de
instruction: Bitte antworten.
families: {one: {label: Eins}}
items:
  - {item_id: three, family: one, scale: 3, wording: Drei Punkte.}
  - {item_id: seven, family: one, scale: 7, wording: Sieben Punkte., reverse_coded: true}
"""


def test_three_and_seven_point_scales_keep_their_range(make, personas, tmp_path):
    file = tmp_path / "scales.yaml"
    file.write_text(SCALES, "utf-8")
    made = make(**personas(12), methods=["longitudinal"], instruments={"longitudinal": str(file)})
    by_item = dict(list(made.table().groupby("item_id")))
    assert set(by_item["three"]["scale_max"]) == {3}
    assert by_item["three"]["value"].between(1, 3).all()
    assert set(by_item["seven"]["scale_max"]) == {7}
    assert by_item["seven"]["value"].max() > 3
    assert by_item["seven"]["value_rekeyed"].equals(8 - by_item["seven"]["value"])  # 1–7: min + max = 8
    points = [(row["item"], row["value"]) for row in made.computed()["longitudinal"]["distribution"]]
    assert [value for item, value in points if item == "three"] == [1, 2, 3]
    assert [value for item, value in points if item == "seven"] == [*range(1, 8)]


def test_baselines_are_named_where_there_is_one(whole):
    baselines = longitudinal(whole).groupby("phase")["baseline"].agg(set).to_dict()
    assert baselines == {"T0": {"reconstructed"}, "T1": {""}}


def test_every_arm_has_its_rows_and_says_which_it_is(make, personas):
    arms = [Arm(temperature=0), Arm(id="b", role="b", temperature=0, seed=7)]
    made = make(**personas(3), methods=["delphi"], arms=arms, respondent=None)
    table = made.table()
    assert table["arm_role"].value_counts().nunique() == 1  # both arms owe the same rows
    assert not table.duplicated(KEY).any()
    data = made.computed()["delphi"]
    assert data["arms"] == ["main"]
    assert data["rounds"][0]["n_planned"] == 3 * 4  # arm b never leaks into a finding


def test_every_row_is_what_the_row_model_says(whole):
    for row in records(whole.table()):
        ResponseRow.model_validate(row)


def test_a_line_of_jsonl_is_what_was_asked_at_once_and_has_every_answer(whole):
    wave = longitudinal(whole)[lambda rows: rows["phase"].eq("T1")]
    written = list(lines(wave))
    assert len(written) == 7  # agents, each asked in one block
    assert sum(line["input_tokens"] for line in written) == wave["input_tokens"].sum()
    answers = {(line["participant"], item): reply for line in written for item, reply in line["answers"].items()}
    assert len(answers) == len(wave)
    places = {(line["participant"], item): n for line in written for n, item in enumerate(line["answers"], start=1)}
    for row in records(wave):
        answer = answers[row["participant"], row["item_id"]]
        assert (answer.get("value"), answer.get("confidence")) == (row["value"], row["confidence"])
        assert (answer.get("text", ""), answer.get("content", "")) == (row["text"], row["content"])
        place = places[row["participant"], row["item_id"]]
        assert answer.get("item_position", place) == row["item_position"]


def test_a_failed_answer_has_its_status_and_no_value(make, personas):
    async def fail(run_session: RunSession) -> None:
        context = run_session.context("longitudinal", "T1")
        items = run_session.procedure("longitudinal").blocks(run_session.population[0].id, 1, context)[0].items
        await run_session.ledger.store(
            context.key(run_session.population[0].id, "items"),
            [Answer(item.id, "refused" if i else "failed", position=i + 1) for i, item in enumerate(items)],
        )

    table = make(**personas(1), methods=["longitudinal"], stages=[], prepare=fail).table()
    assert table["status"].value_counts().to_dict() == {"refused": 14, "failed": 1}
    assert table["value"].isna().all()


def test_no_rows_at_all_is_an_empty_table_with_all_columns(whole):
    with open_run(whole.folder) as reading:
        table = responses(reading, [])
    assert tuple(table.columns) == COLUMNS
    assert table.empty
    assert table["value"].dtype == float
    assert isinstance(table, pd.DataFrame)


def test_probabilities_are_exported_whole_and_the_report_says_so(make, personas):
    """The synthetic respondent puts .7 on its answer: the median of every distribution is `value`."""
    made = make(**personas(3), methods=["longitudinal"], elicitation="distribution", language="en", write=True)
    table = made.table()
    closed = table[table["scale_min"].notna()]
    for shares, value in zip(closed["distribution"], closed["value"], strict=True):
        assert json.loads(shares)[f"{value:g}"] == pytest.approx(0.7)
    assert set(table.loc[table["scale_min"].isna(), "distribution"].fillna("")) == {""}
    assert "Closed questions asked for the probability of every option" in made.report()
    assert "*Asked for was the probability of every option; values are the medians" in made.report()
    book = json.loads((made.synthesis / "exports" / "codebook.json").read_text("utf-8"))
    (answers,) = (resource for resource in book["resources"] if resource["name"] == "all_responses")
    (column,) = (field for field in answers["schema"]["fields"] if field["name"] == "distribution")
    assert column["type"] == "string"
    assert "value then is the median" in column["description"]


def test_point_answers_have_no_distribution(whole):
    assert set(whole.table()["distribution"].fillna("")) == {""}
    assert "Every closed question asked for one answer." in whole.report()
