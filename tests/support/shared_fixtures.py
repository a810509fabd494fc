"""What takes seconds to make and is only read: made once for all workers of a test session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """What `make` gave for an empty folder: in this worker or, before, in another one, which is waited for."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    where = shared / f"{name}.path"
    with FileLock(shared / f"{name}.lock"):
        if not where.exists():
            folder = shared / name
            folder.mkdir()
            where.write_text(str(make(folder)), "utf-8")
    return Path(where.read_text("utf-8"))
