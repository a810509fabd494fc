"""Primary questions of a study, from the request to page one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from enquete import conduct_interviews
from enquete.state.errors import SettingsError
from enquete.state.request import EVERYWHERE, mark_of
from enquete.study.run import Run
from tests.support.studies import personas


def test_what_is_named_is_pinned_stated_on_page_one_and_cannot_be_changed(tmp_path: Path) -> None:
    """Two methodologies, parts 3 and 1 of 5%: 3.75% and 1.25%. Where nobody names any, each has its own half."""
    file, out = personas(tmp_path, 30), str(tmp_path / "out")
    common = {"respondent": "synthetic", "language": "en", "methods": ["poll", "scenario"], "out": out}
    named = conduct_interviews(file, **common, primary=["poll.groups=3", "scenario.groups"])
    assert named.record.primary == {"poll": {"groups": 3.0}, "scenario": {"groups": 1.0}}
    said = json.loads((named.path / "page_one.json").read_text("utf-8"))["primary"]
    assert said == (
        "Primary questions share an error rate of 5%: Poll: Mean answers by group (3.75%); Scenarios: Where groups "
        "differ (1.25%). Other tests are exploratory (together 1%)."
    )
    tested = [one for one in findings(named) if one["p"] is not None]
    assert [one["exploratory"] for one in tested] == [one["text"].startswith("Exploratory: ") for one in tested]
    assert {one["id"].partition(".")[0] for one in tested if not one["exploratory"]} == {"groups"}
    with pytest.raises(SettingsError, match=r"primary: run \S+ was begun with poll.groups=3, scenario.groups=1"):
        conduct_interviews(file, **common, primary=["scenario.highest"])
    usual = conduct_interviews(file, **common, new=True)
    assert "(2.5%); Scenarios" in json.loads((usual.path / "page_one.json").read_text("utf-8"))["primary"]
    with pytest.raises(SettingsError, match="was begun with the usual primary questions"):
        conduct_interviews(file, **common, primary=["scenario.highest"])


def findings(run: Run) -> list[dict[str, Any]]:
    """Of all methodologies, as page one lists them."""
    page = json.loads((run.path / "page_one.json").read_text("utf-8"))
    return [finding for methodology in page["methodologies"] for finding in methodology["findings"]]


def test_every_interface_takes_them() -> None:
    assert set(mark_of("primary").at) == set(EVERYWHERE)


def test_a_named_question_that_cannot_be_tested_leaves_the_others_exploratory(tmp_path: Path) -> None:
    """Five types of three agents each: no group is compared."""
    run = conduct_interviews(
        personas(tmp_path, 15), respondent="synthetic", language="en", methods=["scenario"],
        out=str(tmp_path / "out"), primary=["scenario.groups"],
    )  # fmt: skip
    said = json.loads((run.path / "page_one.json").read_text("utf-8"))["primary"]
    assert "Where groups differ (nothing to test)" in said
    assert {one["exploratory"] for one in findings(run) if one["p"] is not None} == {True}
