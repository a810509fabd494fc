"""The demo, end to end, and the population that it ships."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from enquete.interfaces.demo import FIRST_ROUNDS, MARKER, SIM_ID, lay_out, run_until
from tests.interfaces.conftest import Command


def test_it_interviews_before_and_after_and_says_what_happens(command: Command) -> None:
    said = command("demo", "--out", "played")
    assert said.code == 0, said.out + said.err
    for step in ("1.", "2. T0", "3. The run has stopped by itself", "4. The simulation goes on", "5. Resumed: T1"):
        assert step in said.err
    assert "ANSWERED BY THE SYNTHETIC RESPONDENT" in said.out
    assert "12/12" in said.out
    assert list(Path("played").rglob("report.md"))

    again = command("demo", "--out", "played", "--language", "en", "--json", "--quiet")
    assert (again.code, again.err) == (0, "")
    assert again.object["language"] == "en"
    assert {stage["n_responded"] for stage in again.object["stages"]} == {12}
    assert len(list(Path("played").rglob("ledger.sqlite"))) == 1, "the first demo's run is gone"


def test_it_touches_no_folder_but_its_own(command: Command) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work", "utf-8")
    refused = command("demo", "--out", "mine")
    assert refused.code == 2
    assert "'mine'" in refused.err
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]
    assert command("demo", "--out", "mine/thesis.txt").code == 2
    assert command("demo", "--language", "fr", "--out", "new").code == 2


def test_the_simulation_is_first_unfinished_then_as_bundled(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "out")
    assert (tmp_path / "out" / MARKER).is_file()
    bundled = Path(str(resources.files("enquete") / "demo" / SIM_ID))
    early = run_until(folder, FIRST_ROUNDS)
    state = json.loads((folder / "run_state.json").read_text("utf-8"))
    assert (state["runner_status"], state["total_actions_count"]) == ("running", early)
    assert "simulation_end" not in (folder / "reddit" / "actions.jsonl").read_text("utf-8")
    late = run_until(folder, None)
    assert 0 < early < late
    for file in bundled.rglob("*.json*"):
        copied = folder / file.relative_to(bundled)
        assert copied.read_text("utf-8").split() == file.read_text("utf-8").split(), file.name


def test_the_population_reads_without_a_complaint(command: Command, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "out")
    found = command("check", folder, "--json").object
    assert (found["agents"], found["agents_with_memory"], found["issues"]) == (12, 12, [])
    assert len(found["types"]) == 12
