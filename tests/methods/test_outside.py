"""Methodologies of other packages, installed as a user installs them: the example, and what `enquete new-method` lays
out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from enquete.interfaces.cli import app as cli

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "best-worst"


def test_both_are_installed_found_and_pass_their_own_tests(tmp_path: Path) -> None:
    """Their tests run a study each: rows, section, figure, health check, probe, finding per agent and headline
    included."""
    assert cli.run(["new-method", "paired_talk", "--into", str(tmp_path)]) == 0
    laid_out = tmp_path / "enquete-paired-talk"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path / "site", EXAMPLE, laid_out], check=True, cwd=tmp_path)
    path = os.pathsep.join([str(tmp_path / "site"), str(REPOSITORY)])
    tests = [EXAMPLE / "tests", laid_out / "tests"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path,
            *tests],
        env=os.environ | {"PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout


def test_the_example_touches_nothing_outside_its_folder() -> None:
    """Counted over all that is tracked: beside its folder only the page that walks through it, and this test, know
    it."""
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    others = [name for name in listed.splitlines() if not name.startswith("examples/best-worst/")]
    naming = [name for name in others if b"enquete_best_worst" in (REPOSITORY / name).read_bytes()]
    assert naming == ["docs/adding-a-methodology.md", "tests/methods/test_outside.py"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("Delphi", "cannot name a methodology"), ("class", "cannot name a methodology"),
        ("delphi", "there is a methodology")],
)  # fmt: skip
def test_a_name_that_cannot_be_used_lays_nothing_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    assert cli.run(["new-method", name, "--into", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "enquete-triads").mkdir()
    assert cli.run(["new-method", "triads", "--into", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
