"""Questions as Python objects: one run of three agents, without a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import enquete
from enquete import Choice, Likert, Number, Open, Run
from enquete.state.errors import InstrumentError, SettingsError
from tests.support.studies import personas

QUESTIONS = (
    Likert("Quotas are fair."),
    Likert({"de": "Die Stadt ist ehrlich.", "en": "The town is honest."}, scale=7, id="town"),
    Choice("Who should decide?", "the state", "the market", "everybody"),
    Number("How many are needed?", 0, 20),
    Open("Why do you think so?"),
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    base = tmp_path_factory.mktemp("ask")
    return enquete.ask(personas(base, 6), *QUESTIONS, out=base / "out", topic="Fair quotas", language="en")


def test_ask_gives_a_run_with_table_and_report(asked: Run) -> None:
    assert asked.status == "completed"
    rows = asked.responses
    assert set(rows["item_id"]) == {"q1", "town", "q3", "q4", "q5"}
    assert set(rows["status"]) == {"ok"}
    assert len(rows) == 5 * 6
    assert rows.groupby("item_id")["item_position"].unique().map(list).to_dict() == {
        "q1": [1],
        "town": [2],
        "q3": [3],
        "q4": [4],
        "q5": [5],  # as written: a poll has an order of its own
    }
    scales = rows.drop_duplicates("item_id").set_index("item_id")[["scale_min", "scale_max"]]
    assert list(scales.loc["town"]) == [1, 7]
    assert "## Poll" in asked.report
    assert "Who should decide?" in asked.report


def test_figures_of_the_findings_are_those_of_the_table(asked: Run) -> None:
    """Recounted from the rows: means, shares, and every text that was said."""
    poll = asked.results["poll"]
    by_item = dict(list(asked.responses.groupby("item_id")))
    (q1,) = [mean for mean in poll["means"] if mean["item"] == "q1"]
    assert q1["mean"] == pytest.approx(by_item["q1"]["value"].mean())
    assert q1["low"] < q1["mean"] < q1["high"]
    counts = {option["option"]: option["count"] for option in poll["options"] if option["item"] == "q3"}
    assert sum(counts.values()) == 6
    chosen = by_item["q3"]["choice"].astype(str).value_counts()
    assert {option: n for option, n in counts.items() if n} == dict(chosen)
    first = {option["option"] for option in poll["options"] if option["item"] == "q3" and option["first"]}
    assert first == set(chosen.index[chosen.eq(chosen.max())])
    appendix = (asked.path / "appendix.md").read_text("utf-8")
    assert all(text in appendix for text in by_item["q5"]["text"])


def test_the_language_of_plain_texts_is_told_by_their_words(asked: Run) -> None:
    content = asked.record.instruments["poll"].content
    assert content["language_default"] == "en"
    assert content["topic"]["en"] == "Fair quotas"


def test_what_cannot_be_asked_is_told_together(tmp_path: Path) -> None:
    sim = personas(tmp_path, 3)
    with pytest.raises(SettingsError, match="name at least one question"):
        enquete.ask(sim, out=tmp_path / "o")
    with pytest.raises(SettingsError, match="str is no question"):
        enquete.ask(sim, "Why?", out=tmp_path / "o")  # type: ignore[arg-type]
    with pytest.raises(InstrumentError) as caught:
        enquete.ask(sim, Choice("Who?", "only one"), Likert("Good.", scale="nope"), out=tmp_path / "o")
    assert "has 1 options; a choice needs at least 2" in str(caught.value)
    assert "'nope' is no scale" in str(caught.value)
