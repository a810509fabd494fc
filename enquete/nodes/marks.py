"""Which files are drafts as they were written: `drafts.json` beside them holds their hashes. An edit or `accept` ends that."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from enquete.state.errors import SettingsError

MARKS = "drafts.json"


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def is_draft(file: Path) -> bool:
    """Whether these are the bytes that a draft was written with, and nobody accepted them."""
    marks = _marks(file.parent)
    try:
        return file.name in marks and marks[file.name] == digest(file.read_bytes())
    except OSError:
        return False


def accept(folder: Path) -> list[str]:
    """The drafts in a folder are instruments from now on; their names. Raises SettingsError where there are none."""
    marks = _marks(folder)
    if not marks:
        raise SettingsError(f"{folder}: there are no drafts to accept; `enquete draft SIM --into {folder}` writes some")
    (folder / MARKS).unlink()
    return sorted(marks)


def _marks(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / MARKS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
