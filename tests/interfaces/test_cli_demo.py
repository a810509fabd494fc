"""The demo, end to end, and its population through the ordinary commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enquete.demo import demo_population
from enquete.interfaces.cli.run_commands import MARKER, prepared
from enquete.state.errors import SettingsError
from tests.interfaces.conftest import Command
from tests.interfaces.readme_blocks import FIGURE, blocks, drawn, stale
from tests.support.bare_runs import without_partial_reports


def test_it_interviews_before_and_after_and_says_what_happens(command: Command) -> None:
    with without_partial_reports():
        result = command("demo", "--language", "en")
    assert result.code == 0, result.out + result.err
    assert stale(blocks()[0], lambda _: (result.code, result.err + result.out)) == [], "make readme"
    assert drawn(Path("demo-out")).read_text("utf-8") == FIGURE.read_text("utf-8"), "make readme"
    for step in ("1.", "2. T0", "3. The run has stopped by itself", "4. The simulation runs", "5. Resumed: T1"):
        assert step in result.err
    assert "50 agents, 0 actions so far" in result.err
    assert "ANSWERED BY THE SYNTHETIC RESPONDENT" in result.out
    asked = re.search(r"Asked: (.*?); 50 agents", result.out)
    assert asked
    assert len(re.findall(r"50/50 +50/50", result.out)) == len(asked[1].split(", ")) >= 3, (
        "all agents, completely, in every stage"
    )
    (report,) = Path("demo-out").rglob("report.md")
    assert str(report) in result.out

    prepared(Path("demo-out"))  # what a second demo does first
    assert [path.name for path in Path("demo-out").iterdir()] == [MARKER]


def test_it_touches_no_folder_but_its_own(command: Command) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work", "utf-8")
    refused = command("demo", "--out", "mine")
    assert refused.code == 2
    assert "'mine'" in refused.err
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(SettingsError, match="is a file"):
        prepared(Path("mine/thesis.txt"))
    assert command("demo", "--language", "fr", "--out", "new").code == 2


def test_check_has_nothing_to_complain_about_in_either_state(command: Command) -> None:
    folder = demo_population(Path("uploads"), completed=False)
    early = command("check", folder, "--json").object
    assert (early["agents"], early["actions"], early["completed"], early["issues"]) == (50, 0, False, [])
    assert (early["status"], early["agents_with_memory"]) == ("running", 0)

    demo_population(Path("uploads"), completed=True)
    late = command("check", folder, "--json").object
    assert (late["agents_with_memory"], late["completed"], late["issues"], late["missing"]) == (50, True, [], [])
    assert all(memory["source"] == "database" and memory["exposure"] for memory in late["memory"])
    assert sum(late["types"].values()) == 50
