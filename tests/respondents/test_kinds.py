"""Every kind of question from the prompt to the table; rankings and best–worst as models may give them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.reports.files import descriptor, markdown
from enquete.reports.responses import items, responses
from enquete.reports.run_reading import open_run
from enquete.respondents.ground_truth import answer_at
from enquete.respondents.kinds import KINDS, kind_of, require_answerable, worded
from enquete.respondents.llm import compose
from enquete.respondents.questions import names_of, read_answer, reply_schema
from enquete.runs.run_session import using
from enquete.state.asking import Block, BlockKey, Item, Option
from enquete.state.request import RunRequest
from tests.support.choosing import ITEMS, OPTIONS, item
from tests.support.new_runs import begin_run
from tests.support.one_round import one_round
from tests.support.populations import participants

RANKING, BEST_WORST = item("ranking"), item("best_worst")


def test_the_registry_and_the_item_know_the_same_kinds() -> None:
    assert tuple(KINDS) == get_args(Item.model_fields["kind"].annotation)


@pytest.mark.parametrize(
    ("given", "order", "notes"),
    [
        (["town", 3, "sea", "field"], ["town", 3, "sea", "field"], ()),
        (["town", "3", "sea", "field"], ["town", 3, "sea", "field"], ()),
        ("town > 3 > sea > field", ["town", 3, "sea", "field"], ()),
        (["town", 3, "town", "sea", "field"], ["town", 3, "sea", "field"], ("town named twice",)),
        (["town", 3, "sea"], ["town", 3, "sea", "field"], ("field left out, ranked last",)),
    ],
)
def test_a_ranking(given: Any, order: list[Any], notes: tuple[str, ...]) -> None:
    answer = read_answer(RANKING, {"value": given})
    assert answer is not None
    assert (answer.data, answer.notes) == (order, notes)
    assert answer.status == ("repaired" if notes else "ok")


def test_best_and_worst_and_what_is_neither_that_nor_a_ranking() -> None:
    for given_answer in (
        {"best": "sea", "worst": 3},
        {"value": {"best": " sea ", "worst": "3"}},
        {"best": "sea", "worst": 3.0},
    ):
        answer = read_answer(BEST_WORST, given_answer)
        assert answer is not None
        assert answer.data == {"best": "sea", "worst": 3}
    same, one, other = {"best": "sea", "worst": "sea"}, {"best": "sea"}, {"best": "sea", "worst": "lake"}
    assert [read_answer(BEST_WORST, none) for none in (same, one, other, "sea", ["sea", 3], None)] == [None] * 6
    none = [["town", "sea"], ["town", 3, "sea", "lake"], [], "town", 3, None, {"town": 1}, [True, 3]]
    assert [read_answer(RANKING, {"value": each}) for each in none] == [None] * 8


@given(st.floats(-1, 1), st.sampled_from(["scale", "choice", "number", "ranking", "best_worst"]))
def test_what_the_synthetic_respondent_writes_is_read_as_it_was_meant(position: float, kind: Any) -> None:
    options = tuple(Option(value=n, label="") for n in range(1, 6)) if kind == "scale" else OPTIONS
    asked = Item(id="i", kind=kind, wording="?", options=() if kind == "number" else options)
    meant = answer_at(position, asked, confidence=0.5)
    read = read_answer(asked, json.loads(json.dumps(kind_of(asked).written(asked, meant))))
    assert read is not None
    assert read.data == meant.data
    assert read.value == (None if kind == "choice" else meant.value)  # an option that is a number is an option


@pytest.mark.parametrize("frame", ["as_written", "paraphrased"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_the_prompt_says_what_is_wanted_and_the_schema_holds_it(frame: Any, language: Any) -> None:
    key = BlockKey("r", "main", "m", "T1", "", 0, 0, "p", "items")
    block = Block(key=key, instruction="?", items=ITEMS, frame=frame)
    prompt = compose(participants(1)[0], block, ITEMS, language, "", 0)
    text = prompt.messages[0]["content"]
    assert '"best": …, "worst": …' in text
    names = names_of(block)
    words = worded(frame, language)
    assert words.ranking in text
    assert words.best_worst in text
    schema: Any = reply_schema(ITEMS, names)["properties"]
    assert schema[names["ranking"]]["minItems"] == 4
    assert schema[names["best_worst"]]["required"] == ["best", "worst"]


@pytest.mark.parametrize(
    ("broken", "wrong"),
    [
        (Item(id="i", kind="ranking", wording="?"), "has no options"),
        (Item(id="i", kind="choice", wording="?", options=(OPTIONS[0], OPTIONS[0])), "has option sea twice"),
        (Item(id="i", kind="best_worst", wording="?", options=OPTIONS[:1]), "has one option"),
        (Item(id="i", kind="number", wording="?", minimum=3, maximum=2), "has nothing between 3 and 2"),
        (Item(id="i", kind="text", wording="?", options=OPTIONS), "has options"),
    ],
)
def test_an_item_that_nobody_could_answer_is_named(broken: Item, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"item 'i' of kind '{broken.kind}' {wrong}"):
        require_answerable((broken,))


def test_choices_stand_in_the_table_and_the_codebook(tmp_path: Path) -> None:
    run = begin_run(tmp_path / "run_test", 4, method="choosing")

    async def go() -> None:
        async with using(str(run)):
            start = {"run": str(run), "methodology": "choosing", "phase": "T1"}
            await one_round().ainvoke(start, context=RunRequest())

    asyncio.run(go())
    with open_run(run) as reading:
        table = responses(reading)
        book = descriptor(reading, items(reading, table), [])
    labels = {"sea": "The sea", "town": "The town", 3: "3", "field": "The field"}
    assert set(table["status"]) == {"ok"}
    for row in table.itertuples():
        if row.item_id == "choice":
            assert row.chosen in labels.values()
            assert row.choice in {str(value) for value in labels}
        elif row.item_id == "ranking":
            assert row.chosen == " > ".join(labels[value] for value in json.loads(row.choice))
        elif row.item_id == "best_worst":
            both = json.loads(row.choice)
            assert row.chosen == f"+ {labels[both['best']]}, − {labels[both['worst']]}"
        else:
            assert (row.choice, row.chosen, row.text) == ("", "", "So.")
    by_id = {entry["item_id"]: entry for entry in book["items"]}
    assert by_id["ranking"]["options"]["en"]["sea"] == "The sea"
    assert "| `best_worst` | Where? |  | best and worst | sea The sea; town The town; field The field |" in markdown(
        book, "en"
    )
