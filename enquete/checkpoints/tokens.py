"""Resume tokens: a run's id and the fingerprint of its settings, as `RunRecord.token` writes them.

A token of another run, or of the same run with other settings, is refused; the run's id alone is taken as well.
"""

from __future__ import annotations

from pathlib import Path

from enquete.ledger.folders import read_record, run_folders
from enquete.state.errors import RunNotFound


def find_run(interviews: Path, token: str) -> Path:
    """Return the folder of the run that a resume token or run_id names.

    Raises:
        RunNotFound: There is no such run, or it has other settings than the token was given for. Names the known runs.
    """
    run_id, _, fingerprint = token.partition(".")
    folders = {folder.name: folder for folder in run_folders(interviews)}
    folder = folders.get(run_id)
    if folder is None:
        names = ", ".join(folders) or "none"
        raise RunNotFound(f"no run {run_id!r} in {interviews} (runs there: {names})")
    if fingerprint and read_record(folder).fingerprint != fingerprint:
        raise RunNotFound(f"token {token!r}: run {run_id} has other settings than this token was given for")
    return folder
