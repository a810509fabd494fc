"""Writes that a ledger lost with its write-ahead log: no position from after them is followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from enquete.ledger.folders import CHECKPOINTS, LEDGER
from tests.support import bare_runs
from tests.support.interruption import Interrupted, interrupted
from tests.support.studies import rows, stored_answers


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """Killed within T1: all of it so far stands in the log alone."""
    return interrupted(tmp_path_factory.mktemp("study"), 4, lambda event: event.get("phase") == "T1")


def deleted(log: Path) -> None:
    log.unlink()


def cut(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def flipped(log: Path) -> None:
    """SQLite drops whatever follows a frame whose checksum is wrong."""
    content = bytearray(log.read_bytes())
    content[len(content) // 3] ^= 4
    log.write_bytes(content)


@pytest.mark.parametrize("harm", [deleted, cut, flipped])
@pytest.mark.parametrize("checkpoints", ["kept", "gone"])
def test_what_was_lost_is_asked_again_in_its_turn_and_with_memory(
    study: Interrupted, tmp_path: Path, checkpoints: str, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    folder = study.copied(tmp_path / "out")
    harm(folder / f"{LEDGER}-wal")
    if checkpoints == "gone":
        for file in folder.glob(f"{CHECKPOINTS}*"):
            file.unlink()
    run = bare_runs.resume(folder.name, out=str(tmp_path / "out"))
    assert run.status == "completed"
    assert stored_answers(folder) == study.whole
    first = "SELECT phase, min(id) AS first FROM calls WHERE methodology='longitudinal' GROUP BY phase ORDER BY first"
    assert [phase for phase, _ in rows(folder, first)] == ["T0", "T1"]
    longest = "SELECT max(length(text)) FROM texts JOIN calls ON hash=system_hash WHERE phase='T1'"
    assert rows(folder, longest) == rows(study.done, longest)
    assert (folder / f"{CHECKPOINTS}.damaged").exists() == (checkpoints == "kept")
    assert ("set aside" in caplog.text) == (checkpoints == "kept")


def test_ledger_that_the_ledger_has_caught_up_with_are_followed(study: Interrupted, tmp_path: Path) -> None:
    folder = study.copied(tmp_path / "out")
    assert bare_runs.resume(folder.name, out=str(tmp_path / "out")).status == "completed"
    assert stored_answers(folder) == study.whole
    assert not (folder / f"{CHECKPOINTS}.damaged").exists()
