"""latest.json and instruments_used.json: torn ones are named, and rebuilt from the ledgers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import enquete
from enquete import Run
from enquete.ledger.folders import LEDGER, NAME, RECORD, latest, mend_latest, move_latest, rebuilt, write_atomically
from enquete.state.errors import LedgerError
from tests.support.bare_runs import results_alone
from tests.support.studies import personas

TORN = ["", "{", '{"synthesis": "run_1', "[1]", "null", "\ufffd"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """One of poll and longitudinal, one that asked the latter anew, and a replay of that."""
    base = tmp_path_factory.mktemp("runs")
    sim, out = personas(base, 3), str(base / "out")
    with results_alone():
        made = [
            enquete.conduct_interviews(sim, out=out, **more)
            for more in ({"methods": ["poll", "longitudinal"], "respondent": "synthetic"},
                         {"methods": ["longitudinal"], "rerun": True, "respondent": "synthetic"},
                         {"respondent": "replay"})
        ]  # fmt: skip
    assert {run.status for run in made} == {"completed"}
    return made


@pytest.fixture
def interviews(runs: list[Run], tmp_path: Path) -> Path:
    """Their results; each test its own copy."""
    return Path(shutil.copytree(runs[0].folder.parents[1], tmp_path / "out"))


def test_a_replay_is_canonical_of_nothing_and_what_was_taken_over_of_who_asked_it(
    runs: list[Run], interviews: Path
) -> None:
    base, again, _ = (run.run_id for run in runs)
    there = {"T1/poll": base, "T1/longitudinal": again, "synthesis": again}
    assert json.loads((interviews / NAME).read_text("utf-8")) == there  # as the runs themselves wrote it: the oracle
    assert rebuilt(interviews) == there
    (interviews / "runs" / base / LEDGER).write_bytes(b"")
    assert rebuilt(interviews) == there  # the re-run knows who asked
    shutil.rmtree(interviews / "runs" / base)
    assert rebuilt(interviews) == {key: run for key, run in there.items() if run != base}


@pytest.mark.parametrize("content", TORN)
def test_a_torn_one_is_named_and_mended(interviews: Path, content: str) -> None:
    path = interviews / NAME
    whole = path.read_text("utf-8")
    path.write_text(content, "utf-8")
    with pytest.raises(LedgerError, match=r"latest\.json: not readable.*enquete export"):
        latest(interviews)
    notice = mend_latest(interviews)
    assert notice is not None
    assert "rebuilt from the ledgers" in notice
    assert path.read_text("utf-8") == whole
    assert mend_latest(interviews) is None


def test_moving_a_torn_one_keeps_what_other_runs_are_canonical_of(interviews: Path) -> None:
    path = interviews / NAME
    whole = json.loads(path.read_text("utf-8"))
    path.write_text("{", "utf-8")
    move_latest(interviews, {"T1/delphi": "run_x"})
    assert latest(interviews) == whole | {"T1/delphi": "run_x"}


@pytest.mark.usefixtures("results_only")
def test_an_export_of_a_named_run_mends_a_torn_one(runs: list[Run], interviews: Path) -> None:
    path = interviews / NAME
    whole = json.loads(path.read_text("utf-8"))
    path.write_text('{"synth', "utf-8")
    enquete.export(personas(runs[0].folder.parents[3], 3), whole["synthesis"], out=str(interviews))
    assert latest(interviews) == whole


@pytest.mark.usefixtures("results_only")
def test_a_torn_record_is_written_again_from_the_ledger(runs: list[Run], interviews: Path) -> None:
    path = interviews / "runs" / runs[0].run_id / RECORD
    whole = path.read_bytes()
    for content in (None, b'{"run_id": "x"'):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        enquete.export(personas(runs[0].folder.parents[3], 3), runs[0].run_id, out=str(interviews))
        assert json.loads(path.read_bytes()) == json.loads(whole)


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    """A draft of a process that lives stays: it may be about to replace the file as well."""
    dead, alive = tmp_path / ".report.md.99999999.tmp", tmp_path / f".report.md.{os.getppid()}.tmp"
    for draft in (dead, alive, tmp_path / ".other.md.99999999.tmp"):
        draft.touch()
    write_atomically(tmp_path / "report.md", "new")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".other.md.99999999.tmp", alive.name, "report.md"]
