"""A stored run of every released version opens, and its export is the one that was stored with it.

The table as the released code wrote it is the oracle; columns added since may be extra.
"""

from __future__ import annotations

import gzip
import io
import shutil
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from packaging.version import Version

import enquete
from enquete.checkpoints.folders import LEDGER, RECORD, read_record

STORED = Path(__file__).parent.parent / "data" / "runs"
RELEASES = sorted((path.name for path in STORED.iterdir() if path.is_dir()), key=Version)


def table(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)


@pytest.fixture(params=RELEASES)
def unpacked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path, pd.DataFrame]:
    """(personas file, results folder with the stored run, its table as it was)."""
    source = STORED / request.param
    content = gzip.decompress((source / f"{LEDGER}.gz").read_bytes())
    frame = table(gzip.decompress((source / "all_responses.csv.gz").read_bytes()))
    folder = tmp_path / "out" / "runs" / frame["run_id"].iloc[0]
    folder.mkdir(parents=True)
    (folder / LEDGER).write_bytes(content)
    shutil.copy(source / "personas.json", tmp_path / "personas.json")
    return tmp_path / "personas.json", tmp_path / "out", frame


def test_it_is_read_listed_exported_and_known_as_finished(unpacked: tuple[Path, Path, pd.DataFrame]) -> None:
    sim, out, before = unpacked
    (folder,) = (out / "runs").iterdir()
    record = read_record(folder)
    assert record.run_id == folder.name
    assert [known.status for known in enquete.list_runs(sim, out=str(out))] == ["completed"]
    run = enquete.load_run(sim, out=str(out))
    assert {stage.outcome for stage in run.stages} == {"done"}
    path = enquete.export(sim, out=str(out))
    after = table((path / "exports" / "all_responses.csv").read_bytes())
    assert set(before.columns) <= set(after.columns)
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert (folder / RECORD).is_file()  # it was not stored, and is written from the ledger
    again = enquete.resume(record.token, out=str(out))
    assert (again.status, again.shown) == ("completed", True)


def test_there_is_one_of_every_release_up_to_this_one() -> None:
    """Whoever raises the version adds a run of the one before: tests/data/runs/README.md says how."""
    assert RELEASES
    assert Version(RELEASES[0]) == Version("0.1.0")
    assert Version(RELEASES[-1]) <= Version(version("enquete"))
    assert not Version(version("enquete")).is_prerelease or len(RELEASES) >= 1
