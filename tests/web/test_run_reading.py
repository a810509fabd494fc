"""What pages of a run are made of: choosing, searching, parts of a report, what a figure says, what is kept. By
hand."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from enquete.interfaces.web.answers import COLUMNS, NUMBERS, AnswerTable, Key, Where, as_written, marked, phrases
from enquete.interfaces.web.run_pages import named, others, untitled, with_links
from enquete.state.untrusted_input import FileCache

REPORT = "# T\n\nfirst\n\n## A \\| B\n\n- said so\n\n## C\n\nlast"


def table(*texts: str) -> AnswerTable:
    frame = pd.DataFrame({name: [0.0 if name in NUMBERS else ""] * len(texts) for name in COLUMNS})
    return AnswerTable(
        frame.assign(text=list(texts), status="ok", arm_role="main", participant=[f"p{n}" for n in range(len(texts))])
    )


def test_words_are_found_marked_and_ids_read_back() -> None:
    hits = table("The Cod is back", "no fish", "", "cod\0and Cod", "Straße")
    for words, places in (
        ("cod", [0, 3]),
        ('"cod is"', [0]),
        ("back cod", [0]),
        ("k no", []),
        ("STRASSE", [4]),
        ("fish", [1]),
    ):
        assert hits.places(Where(words=words)).tolist() == places, words
    assert phrases('Cod "two words"') == ["cod", "two words"]
    assert marked("A cod, Cod", ["cod"]) == [("A ", False), ("cod", True), (", ", False), ("Cod", True)]
    text = "run_1/main/m/T1//2/0/agent:x/theme:1/importance"
    key = Key.parse(text)
    assert (key.session, key.round, key.participant, key.item) == ("", 2, "agent:x", "theme:1/importance")
    assert str(key) == text


def test_an_address_chooses_and_a_mark_stands_for_more_people_than_it_holds() -> None:
    where = Where.of(
        [("methodology", "m"), ("item_id", "a"), ("item_id", "b,c"), ("q", " x "), ("nothing", "1"), ("phase", "")]
    )
    assert where.chosen == {"methodology": ("m",), "item_id": ("a", "b,c")}
    assert where.query(page=2) == "methodology=m&item_id=a&item_id=b%2Cc&q=x&page=2"
    assert (where.only("methodology"), where.only("item_id")) == ("m", "")
    where = Where.of([("mark", "12"), ("status", "any")], {"12": "m?participant=p1%2Cp2"})
    assert table("a", "b", "c").places(Where(behind={"participant": ("p1", "p2")})).tolist() == [1, 2]
    assert where.behind == {"methodology": ("m",), "participant": ("p1", "p2")}
    assert where.query() == "status=any&mark=12"
    assert Where.of([("mark", "13")], {"12": "m"}).mark == ""


@pytest.mark.parametrize(("cell", "text"), [("'=1+1", "=1+1"), ("'tis", "'tis"), ("a'=", "a'="), ("'-", "-")])
def test_a_cell_is_read_as_it_was_written(cell: str, text: str) -> None:
    assert as_written(cell) == text


def test_a_report_is_parted_by_its_chapters() -> None:
    assert named(REPORT, "A | B") == "- said so"
    assert [section.heading for section in others(REPORT, ["C"])] == ["A \\| B"]
    assert untitled(REPORT).startswith("\nfirst")
    behind = {"said so": "", "more": "/x"}
    linked = with_links(
        "- said so\n- more", [{"text": text} for text in behind], lambda item: behind[item["text"]], "see"
    )
    assert linked == "- said so\n- more [see](/x)"


def test_what_is_kept_is_made_again_when_its_file_changes(tmp_path: Path) -> None:
    file, made = tmp_path / "a", []
    kept: FileCache[int] = FileCache(1)

    def make() -> int:
        made.append(1)
        return len(made)

    assert [kept.get("k", [file], make) for _ in range(2)] == [1, 1]
    file.write_text("x")
    assert kept.get("k", [file], make) == 2
    os.utime(file, ns=(1, 1))
    assert kept.get("k", [file], make) == 3
    kept.get("other", [], make)
    assert kept.get("k", [file], make) == 5
