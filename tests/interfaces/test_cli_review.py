"""`enquete check --instrument`: the rules' findings, and a pilot of four agents."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from enquete.interfaces.cli.app import run
from enquete.study.instruments import item_health
from tests.support.studies import personas

pytestmark = pytest.mark.usefixtures("no_figures")

ITEMS = """id,text,family,reverse
honest,The bank is honest and cheap.,trust,
fees,Many fees are hidden.,trust,
app,The app is good.,trust,
"""


@pytest.fixture
def items(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(ITEMS, "utf-8")
    return tmp_path / "items.csv"


def test_findings_without_a_simulation_and_what_is_missing_is_said(
    items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--instrument", f"longitudinal={items}"]) == 0
    printed = capsys.readouterr().out
    assert "honest (en): asks two things at once (“and”)" in printed
    assert "fees (en): is vague (“Many”)" in printed
    assert "trust: 3 of 3 items are keyed the same way" in printed
    assert run(["check"]) == 2
    assert run(["check", "--instrument", str(items), "--pilot", "4"]) == 2
    assert run(["check", "--instrument", f"nothing={items}"]) == 2
    printed = capsys.readouterr().err
    for part in (
        "name a simulation or personas file, or an instrument",
        "name whose agents",
        "no methodology 'nothing'",
    ):
        assert part in printed


def test_a_pilot_shows_its_cost_and_item_health(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sim = personas(tmp_path, 6)
    words = [
        "check", str(sim), "--instrument", str(items), "--pilot", "4", "--out", str(tmp_path / "o"), "--language", "en",
    ]  # fmt: skip
    assert run([*words, "--respondent", "synthetic", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["methodology"] == "longitudinal"
    asked = {item["item"]: item["asked"] for item in data["pilot"]["items"]}
    assert asked == {"honest": 4, "fees": 4, "app": 4}  # in the order shown to the first agent
    assert all(item["apart"] is not None for item in data["pilot"]["items"])


def test_choices_of_a_pilot_are_told_apart_by_the_option() -> None:
    """A choice has neither value nor text: all alike, or as different as the options that were chosen."""
    columns = {"phase": "T1", "arm": "main", "arm_role": "main", "status": "ok", "value": None, "text": ""}
    chosen = {"same": ["1", "1", "1"], "mixed": ["1", "2", "3"]}
    rows = [
        {**columns, "item_id": item, "participant": str(who), "choice": option}
        for item, options in chosen.items()
        for who, option in enumerate(options)
    ]
    same, mixed = item_health(SimpleNamespace(all_responses=pd.DataFrame(rows)))  # type: ignore[arg-type]
    assert (same.values, same.troubles) == (1, ("no_variance",))
    assert (mixed.values, mixed.troubles) == (3, ())
