"""Read-only folders: one clear error before anything begins, and everything that only reads still works.

As root only a read-only mount refuses writes, so that is used where it may be; else permissions.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import enquete
from enquete.ledger.connection import connect
from enquete.ledger.drives import require_writable
from enquete.ledger.folders import LEDGER, held, make_run_folder
from enquete.state.errors import LedgerError, SettingsError
from tests.support.mounts import in_namespace, python
from tests.support.studies import personas, reseal, run_folder

CHECKS = """
import sys
from pathlib import Path
import enquete
from enquete.ledger.connection import connect
from enquete.ledger.folders import LEDGER, held, is_held, make_run_folder
from enquete.interfaces.cli import app as cli
from enquete.state.errors import EnqueteError

sim, run_id = sys.argv[1:3]
out = Path(sys.argv[3])
(folder,) = out.glob(f"*/runs/{run_id}")
for act in (lambda: make_run_folder(folder.parent / "run_new"), lambda: connect(folder / LEDGER),
            lambda: held(folder).__enter__(), lambda: enquete.export(sim, out=str(out))):
    try:
        act()
    except EnqueteError as error:
        print(type(error).__name__, error)
run = enquete.load_run(sim, out=str(out))
print(run.status, len(run.responses), len(run.report) > 1000, [known.status for known in enquete.list_runs(sim, out=str(out))])
print(sorted(p.name for p in folder.iterdir()))
print(cli.run(["status", sim, "--out", str(out)]), is_held(folder))
left = Path(sys.argv[4])
print(enquete.load_run(sim, out=str(left)).status, sorted(p.name for p in next(left.glob(f"*/runs/{run_id}")).iterdir()))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(a personas file, results of a finished run of it)."""
    base = tmp_path_factory.mktemp("ro")
    sim = personas(base, 2)
    enquete.conduct_interviews(sim, out=str(base / "out"), respondent="synthetic", methods=["longitudinal"])
    return sim, base / "out"


def test_a_read_only_mount(made: tuple[Path, Path], tmp_path: Path) -> None:
    """With a write-ahead log that a killed run left, too: without it the last answers would be missing."""
    sim, out = made
    run_id, mount, script = run_folder(out).name, tmp_path / "mount", tmp_path / "checks.py"
    mount.mkdir()
    shutil.copytree(out, tmp_path / "left")
    leave_log(run_folder(tmp_path / "left") / LEDGER)
    script.write_text(CHECKS, "utf-8")
    done = in_namespace(
        f"mount -t tmpfs none {mount}; cp -r {out} {mount}/out; cp -r {tmp_path}/left {mount}/left; "
        f"mount -o remount,ro {mount}; PYTHONPATH=. " + python(script, sim, run_id, mount / "out", mount / "left")
    )
    assert done.returncode == 0, done.stderr
    new, driving, lock, exporting, read, files, *status_lines, told, left = done.stdout.splitlines()
    assert (told, status_lines[0].endswith("completed")) == ("0 False", True)
    folder = mount / run_folder(out).parent.relative_to(out.parent)
    assert new.startswith(f"SettingsError {folder}/run_new: results cannot be written there")
    assert "mounted read-only" in new
    assert driving.startswith(f"LedgerError {folder}/{run_id}/{LEDGER}: cannot be written")
    assert "status, report and list still work" in driving
    assert lock.startswith(f"LedgerError {folder}/{run_id}: cannot be written (Read-only file system)")
    assert f"copy {folder.parent}, and export the copy with out=COPY" in exporting
    status, rows, report, runs = read.split(maxsplit=3)
    assert (status, int(rows) > 10, report, runs) == ("completed", True, "True", "['completed']")
    assert f"{LEDGER}-" not in files
    assert left.startswith("paused")
    assert f"{LEDGER}-shm" not in left


def test_a_run_driven_by_another_mount_is_held_on_the_read_only_one(made: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(made[1], tmp_path / "out")
    folder, mount, script = run_folder(tmp_path / "out"), tmp_path / "mount", tmp_path / "looks.py"
    mount.mkdir()
    script.write_text(
        "import sys; from pathlib import Path; from enquete.ledger.folders import is_held; "
        "print(is_held(Path(sys.argv[1])))",
        "utf-8",
    )
    look = f"mount --bind {tmp_path}/out {mount}; mount -o remount,bind,ro {mount}; PYTHONPATH=. " + python(
        script, mount / folder.relative_to(tmp_path / "out")
    )
    with held(folder):
        driven = in_namespace(look)
    assert (driven.stdout, in_namespace(look).stdout) == ("True\n", "False\n"), driven.stderr


def leave_log(ledger: Path) -> None:
    """As a kill would: a commit that is only in the write-ahead log. `paused` is its trace."""
    kept = ledger.with_name("kept")
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("UPDATE stages SET outcome='paused' WHERE methodology='' AND phase=''")
        reseal(connection)
        shutil.copy(f"{ledger}-wal", kept)
        shutil.copy(ledger, f"{kept}.main")
    shutil.move(f"{kept}.main", ledger)
    shutil.move(kept, f"{ledger}-wal")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; the mount above is for root")
def test_a_folder_without_permission(made: tuple[Path, Path], tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    try:
        with pytest.raises(SettingsError, match=r"cannot be written there \(Permission denied\).*out=DIR"):
            make_run_folder(closed / "runs" / "run_1")
        with pytest.raises(LedgerError, match="cannot be written"), held(closed):
            pass
    finally:
        closed.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; the mount above is for root")
def test_a_ledger_without_permission(made: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(made[1], tmp_path / "out")
    ledger = run_folder(tmp_path / "out") / LEDGER
    ledger.chmod(0o400)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite: cannot be written"):
        connect(ledger)
    with closing(connect(ledger, read_only=True)) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM answers").fetchone() == (1,)


def test_nothing_is_made_while_a_folder_is_tried(tmp_path: Path) -> None:
    make_run_folder(tmp_path / "out" / "runs" / "run_1")
    assert [p.name for p in (tmp_path / "out" / "runs").iterdir()] == ["run_1"]
    require_writable(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
