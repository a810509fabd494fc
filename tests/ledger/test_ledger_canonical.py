"""latest.json and instruments_used.json: torn ones are named, and rebuilt from the ledgers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import enquete
from enquete.ledger.canonical import NAME, latest, mend_latest, move_latest, rebuilt
from enquete.ledger.folders import LEDGER, RECORD, write_atomically
from enquete.state.errors import LedgerError
from tests.support.studies import personas, run_folder

TORN = ["", "{", '{"synthesis": "run_1', "[1]", "null", "\ufffd"]


@pytest.fixture(scope="module")
def interviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, the first of diversity and scenario, the second of scenario only."""
    base = tmp_path_factory.mktemp("two")
    for methods in (["diversity", "scenario"], ["scenario"]):
        run = enquete.conduct_interviews(
            personas(base, 3), out=str(base / "out"), respondent="synthetic", methods=methods, new=True
        )
        assert run.status == "completed"
    return base / "out"


def test_what_is_rebuilt_is_what_was_there(interviews: Path) -> None:
    """The file as the runs themselves wrote it is the oracle."""
    there = json.loads((interviews / NAME).read_text("utf-8"))
    assert set(there) == {"T1/diversity", "T1/scenario", "synthesis"}
    assert there["T1/diversity"] != there["T1/scenario"] == there["synthesis"]
    assert rebuilt(interviews) == there


def test_a_replay_is_canonical_of_nothing_and_what_was_taken_over_of_who_asked_it(tmp_path: Path) -> None:
    sim, out = personas(tmp_path, 3), tmp_path / "out"
    asked = {"out": str(out), "respondent": "synthetic"}
    base = enquete.conduct_interviews(sim, methods=["diversity", "scenario"], **asked)
    again = enquete.conduct_interviews(sim, methods=["scenario"], rerun=True, **asked)
    replay = enquete.conduct_interviews(sim, out=str(out), respondent="replay")
    assert replay.status == "completed"
    there = {"T1/diversity": base.run_id, "T1/scenario": again.run_id, "synthesis": again.run_id}
    assert json.loads((out / NAME).read_text("utf-8")) == there  # as the runs themselves wrote it
    assert rebuilt(out) == there
    (base.folder / LEDGER).write_bytes(b"")
    assert rebuilt(out) == there  # the re-run knows who asked
    shutil.rmtree(base.folder)
    assert rebuilt(out) == {key: run for key, run in there.items() if run != base.run_id}


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
    move_latest(interviews, {"T1/poll": "run_x"})
    assert latest(interviews) == whole | {"T1/poll": "run_x"}
    path.write_text(json.dumps(whole, indent=2) + "\n", "utf-8")


def test_an_export_of_a_named_run_mends_a_torn_one(interviews: Path, tmp_path: Path) -> None:
    path = interviews / NAME
    whole = json.loads(path.read_text("utf-8"))
    path.write_text('{"synth', "utf-8")
    enquete.export(personas(tmp_path, 3), whole["synthesis"], out=str(interviews))
    assert latest(interviews) == whole


def test_a_torn_record_is_written_again_from_the_ledger(tmp_path: Path) -> None:
    sim = personas(tmp_path, 2)
    enquete.conduct_interviews(sim, out=str(tmp_path / "out"), respondent="synthetic", methods=["longitudinal"])
    path = run_folder(tmp_path / "out") / RECORD
    whole = path.read_bytes()
    for content in (None, b'{"run_id": "x"'):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        enquete.export(sim, out=str(tmp_path / "out"))
        assert json.loads(path.read_bytes()) == json.loads(whole)


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    """A draft of a process that lives stays: it may be about to replace the file as well."""
    dead, alive = tmp_path / ".report.md.99999999.tmp", tmp_path / f".report.md.{os.getppid()}.tmp"
    for draft in (dead, alive, tmp_path / ".other.md.99999999.tmp"):
        draft.touch()
    write_atomically(tmp_path / "report.md", "new")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".other.md.99999999.tmp", alive.name, "report.md"]
