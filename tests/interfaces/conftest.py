"""Command lines, in this process or in one of their own; a copy of a real simulation; a personas file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.interfaces.cli import app as cli
from tests.support.bare_runs import without_figures
from tests.support.shared_fixtures import made_once

DATA = Path(__file__).parents[1] / "data"
REPOSITORY = Path(__file__).parents[2]
SIM_ID = "sim_683e8059ab27"
SETTINGS = ("LLM_API_KEY", "OPENAI_API_KEY", "LLM_BASE_URL", "LLM_MODEL_NAME", "ENQUETE_ROOT", "ENQUETE_LANGUAGE")
MORE_SETTINGS = ("ENQUETE_RESPONDENT", "ENQUETE_DEBUG", "ENQUETE_MAX_TOKENS_PER_RUN", "ENQUETE_CONCURRENCY")


@dataclass(frozen=True)
class Said:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object on stdout; fails if there is anything else."""
        data: dict[str, Any] = json.loads(self.out)
        return data


Command = Callable[..., Said]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's machine, no .env, English words."""
    for name in (*SETTINGS, *MORE_SETTINGS, "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """A command line in this process."""

    def run(*words: object) -> Said:
        capsys.readouterr()
        code = cli.run([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return run


def start(*words: object, **options: Any) -> subprocess.Popen[str]:
    """A command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from enquete.interfaces.cli.app import main; main()", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        **options,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], seconds: float = 60) -> Said:
    out, err = process.communicate(timeout=seconds)
    return Said(process.returncode, out, err)


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    """A root with the real simulation in it."""
    root = tmp_path / "uploads"
    shutil.copytree(DATA / SIM_ID, root / "simulations" / SIM_ID)
    return root


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(root: Path) -> Path:
        shutil.copytree(DATA / SIM_ID, root / "simulations" / SIM_ID)
        with without_figures():
            enquete.conduct_interviews(SIM_ID, root=str(root), methods=["poll"], respondent="synthetic")
        return root

    return made_once(tmp_path_factory, "finished_uploads", make)


@pytest.fixture
def finished(_finished: Path, tmp_path: Path) -> Path:
    """The same with a finished run of the poll; each test its own copy."""
    return Path(shutil.copytree(_finished, tmp_path / "uploads"))


@pytest.fixture
def running_uploads(uploads: Path) -> Path:
    """The same, but the simulation still runs."""
    set_status(uploads, "running")
    return uploads


def set_status(root: Path, status: str) -> None:
    file = root / "simulations" / SIM_ID / "run_state.json"
    over = {f"{platform}_completed": status == "completed" for platform in ("twitter", "reddit")}
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **over, "runner_status": status}), "utf-8")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Forty personas with names as they are."""
    names = ["Jürgen Thießen", "Åsa Ö", "Kerem Yıldız", "Łucja Żak"]
    rows = [
        {"name": f"{names[i % 4]} {i}", "persona": f"Fährt seit {i + 1} Jahren auf die Ostsee.", "type": "Fischer"}
        for i in range(40)
    ]
    file = tmp_path / "personas.json"
    file.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return file
