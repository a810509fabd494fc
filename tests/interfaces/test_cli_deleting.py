"""`enquete delete`: what goes is shown, nobody's own files go, and a run that is needed or driven stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import enquete
from enquete.ledger.folders import held
from enquete.memory.recall import LocalMemory, episodes
from tests.interfaces.conftest import Command
from tests.support.studies import personas, results_of

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    asked = {"methods": ["poll"], "respondent": "synthetic", "language": "en"}
    for seed in (1, 2):
        enquete.conduct_interviews(personas(folder, 3), out=folder / "out", seed=seed, **asked)
    return folder


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Results of two runs on the same three people; each test its own copy."""
    return Path(shutil.copytree(made, tmp_path / "study")) / "out"


def test_a_run_and_then_all_that_enquete_wrote_and_nothing_else(command: Command, out: Path) -> None:
    first, second = (run.run_id for run in enquete.list_runs(out.parent / "personas_3.json", out=str(out)))
    mine = results_of(out) / "synthesis" / first / "my-notes.md"
    mine.write_text("what I think of it", "utf-8")
    words = ("delete", out.parent / "personas_3.json", "--out", out)

    asked = command(*words, first)
    assert asked.code == 2
    assert first in asked.out
    assert str(mine) in asked.out
    assert "--yes" in asked.err
    assert "no run 'run_none'" in command(*words, "run_none", "--yes").err
    with held(results_of(out) / "runs" / first):
        assert command(*words, first, "--yes").code == 1  # a process drives it

    deleted = command(*words, first, "--yes", "--json").object
    assert (deleted["run_ids"], deleted["kept"]) == ([first], [str(mine)])
    assert [run.run_id for run in enquete.list_runs(out.parent / "personas_3.json", out=str(out))] == [second]
    assert [path for path in out.rglob("*") if first in str(path) and path.is_file()] == [mine]
    assert set(json.loads((results_of(out) / "latest.json").read_text("utf-8")).values()) == {second}
    assert {record.run_id for record in episodes(results_of(out))} == {second}
    with LocalMemory.opened(results_of(out)):
        pass  # whatever is noted there goes with the last run

    assert command(*words, "--yes").code == 0
    assert [path for path in out.rglob("*") if path.is_file()] == [mine]


def test_a_line_that_leads_out_of_the_results_is_passed_over(command: Command, out: Path) -> None:
    """The list of a run's files could have been written by anybody."""
    run = enquete.list_runs(out.parent / "personas_3.json", out=str(out))[0].run_id
    with (results_of(out) / "runs" / run / "files").open("a", encoding="utf-8") as file:
        file.write("../personas_3.json\n/etc/hostname\n")
    assert command("delete", out.parent / "personas_3.json", run, "--out", out, "--yes").code == 0
    assert (out.parent / "personas_3.json").is_file()
    assert Path("/etc/hostname").is_file()
