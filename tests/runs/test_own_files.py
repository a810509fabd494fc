"""Files of one's own: `check` and `run` take the same ones, and for which methodology a file is, is never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.instruments.load import shipped_file
from enquete.methods.registry import methodologies
from enquete.runs.own_files import find_methodology, read_own_file
from enquete.state.errors import InstrumentError, SettingsError
from enquete.study.instruments import review_file
from tests.methods.discovery.originals import PROCESS
from tests.support import bare_runs
from tests.support.studies import personas

MULTI = """
title: S
topic: Harbour
languages: [en]
questions:
  - {question_id: use, kind: multi, en: "What for?", options: [{en: fishing}, {en: sailing}]}
  - {question_id: rank, kind: ranking, en: "Order these.", options: [{en: fishing}, {en: sailing}]}
"""
SKIP = """
title: S
topic: Harbour
languages: [en]
questions:
  - {question_id: own, kind: choice, en: "Do you own a boat?", options: [{en: "yes"}, {en: "no"}]}
  - {question_id: len, kind: number, minimum: 1, maximum: 60, en: "How long is it?", relevant: "own == 1"}
"""
SCHEMA = """
id: quay
version: "1"
title: Quay
languages: [en]
language_default: en
objective: Learn how the quay is used.
fields:
  use: {type: text, required: true, label: {en: use}, question: {en: "What is the quay used for?"}}
"""
CONCEPT = """
id: quay
version: "1"
title: {de: Kai, en: Quay}
topic: {de: Der Kai, en: The quay}
objective: {de: Wozu der Kai dient, en: What the quay is for}
elements:
  fees: {type: attribute, label: {de: Gebühren, en: fees}, aliases: {de: [Gebühr], en: [fee]}}
"""


def write(folder: Path, content: str | dict[str, Any], name: str) -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (MULTI, ["questions[0].kind: is 'multi'; write 'likert'", "questions[1].kind: is 'ranking'; write"]),
        (SKIP, ["questions[1].relevant: is no known key"]),
    ],
)
def test_the_problems_of_a_poll_are_those_of_a_poll(tmp_path: Path, content: str, says: list[str]) -> None:
    """public_reports, q_multi.yaml and q_skip.yaml: the errors of a poll, not those of a Delphi."""
    file = write(tmp_path, content, "q.yaml")
    with pytest.raises(InstrumentError) as refused:
        review_file(file)
    head, *problems = refused.value.problems
    assert head == f"{file}: no methodology can read it; it is nearest to poll"
    assert [problem.startswith("poll: ") for problem in problems] == [True] * len(says)
    assert [says[n] in problem for n, problem in enumerate(problems)] == [True] * len(says)


def test_where_it_could_be_several_the_errors_of_each_nearest_are_told(tmp_path: Path) -> None:
    file = write(tmp_path, "title: S\ntopic: Harbour\nquestions:\n  - {question_id: q1, wrong: x}\n", "q.yaml")
    with pytest.raises(InstrumentError) as refused:
        review_file(file)
    head, *problems = refused.value.problems
    assert head == f"{file}: no methodology can read it; it is nearest to delphi or poll"
    assert {problem.partition(":")[0] for problem in problems} == {"delphi", "poll"}


def test_a_file_that_several_can_read_is_not_guessed_at(tmp_path: Path) -> None:
    file = write(tmp_path, "text\nHarbour fees are fair.\nThe harbour is needed.\n", "q.csv")
    with pytest.raises(InstrumentError, match=r"may be for longitudinal, delphi or poll; say for which, such as"):
        review_file(file)
    assert review_file(file, "poll").methodology == "poll"
    families = write(tmp_path, "text,family\nHarbour fees are fair.,a\nThe harbour is needed.,a\n", "f.csv")
    assert review_file(families).methodology == "longitudinal"  # no other reads that column


def test_shipped_instruments_are_read_for_what_they_are(tmp_path: Path) -> None:
    for name, methodology in methodologies().items():
        shipped = shipped_file(methodology.instrument, name)
        if shipped is not None:
            file = write(tmp_path, shipped.read_text("utf-8"), f"{name}.yaml")
            assert find_methodology(methodologies(), file).methodology == name


@pytest.mark.parametrize(
    ("method", "name", "content", "setting"),
    [
        ("discovery", "quay.yaml", SCHEMA, "ds"), ("discovery", "bakery.json", PROCESS, "ds"),
        ("laddering", "quay.yaml", CONCEPT, "concept"),
    ],
)  # fmt: skip
def test_a_file_of_a_setting_may_be_named_where_an_instrument_is(
    tmp_path: Path, method: str, name: str, content: str | dict[str, Any], setting: str
) -> None:
    file = write(tmp_path, content, name)
    assert read_own_file(methodologies()[method], file).setting == setting
    for reviewed in (review_file(file), review_file(file, method)):
        assert (reviewed.methodology, reviewed.setting) == (method, setting)
    people = personas(tmp_path, 2)
    asked: dict[str, Any] = {"language": "en", "fit": "any", "respondent": "synthetic"}
    run = bare_runs.interview(people, instruments={method: file}, out=str(tmp_path / "a"), **asked)
    by_setting = bare_runs.interview(
        people, methods=[method], settings={method: {setting: file}}, out=str(tmp_path / "b"), **asked
    )
    assert run.status == "completed"
    assert run.record.settings == by_setting.record.settings
    assert run.record.settings[method][setting]
    with pytest.raises(SettingsError, match=f"is for the setting {method}.{setting}, which is named, too"):
        enquete.estimate(
            people, instruments={method: file}, settings={method: {setting: "x"}}, out=str(tmp_path / "c"), **asked
        )


def test_a_schema_with_a_fault_names_it_in_check_and_run(tmp_path: Path) -> None:
    file = write(tmp_path, SCHEMA.replace("objective:", "objectives:"), "quay.yaml")
    with pytest.raises(InstrumentError) as checked:
        review_file(file, "discovery")
    with pytest.raises(InstrumentError) as begun:
        enquete.estimate(personas(tmp_path, 2), instruments={"discovery": file}, out=str(tmp_path / "o"))
    assert checked.value.problems == begun.value.problems
    assert any("objectives: is no known key" in problem for problem in checked.value.problems)
