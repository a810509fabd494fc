"""latest.json: which run is the canonical one of each phase and methodology, and of the synthesis.

It can be rebuilt: every run's ledger says which stages are done, which have answers, and when the run ended.
"""

from __future__ import annotations

import json
from pathlib import Path

from enquete.ledger import queries
from enquete.ledger.folders import read_record, reading, run_folders, set_aside, write_atomically
from enquete.state.errors import LedgerError
from enquete.state.regular_files import parse_json, read_regular

NAME = "latest.json"


def latest(interviews: Path) -> dict[str, str]:
    """The canonical run of each "phase/methodology" and of "synthesis". Raises LedgerError where it cannot be read."""
    path = interviews / NAME
    if not path.is_file():
        return {}
    try:
        return _entries(read_regular(path).decode())
    except (ValueError, OSError) as error:
        raise LedgerError(
            f"{path}: not readable ({error}). `enquete export` of any run in that folder rebuilds it from the ledgers"
        ) from error


def _entries(text: str) -> dict[str, str]:
    if not text.strip():
        raise ValueError("the file is empty")
    entries = parse_json(text)
    if not isinstance(entries, dict):
        raise ValueError(f"an object is expected, not {type(entries).__name__}")
    return {str(key): str(value) for key, value in entries.items()}


def move_latest(interviews: Path, changes: dict[str, str]) -> None:
    """A file that cannot be read is rebuilt first: what other runs are canonical of must not be lost."""
    mend_latest(interviews)
    _write(interviews, latest(interviews) | changes)


def rebuild_latest(interviews: Path) -> None:
    """After runs were deleted: what the ledgers that are left say, no file where they say nothing."""
    if entries := rebuilt(interviews):
        _write(interviews, entries)
    else:
        (interviews / NAME).unlink(missing_ok=True)


def mend_latest(interviews: Path) -> str | None:
    """Rebuild latest.json where it cannot be read, and keep the old one beside it; what was wrong, or None."""
    try:
        latest(interviews)
        return None
    except LedgerError as error:
        kept = set_aside(interviews / NAME)
        _write(interviews, rebuilt(interviews))
        return f"{error.__cause__}: {interviews / NAME} was rebuilt from the ledgers; the old file is {kept.name}"


def rebuilt(interviews: Path) -> dict[str, str]:
    """What latest.json must say by the ledgers: of runs that came to their end, the last one to end wins.

    A run whose ledger cannot be read counts only for what a re-run has taken over from it.
    """
    ended = []
    for folder in run_folders(interviews):
        try:
            ended.append((*_canonical(folder), folder.name))
        except LedgerError:
            continue
    entries: dict[str, str] = {}
    for at, asked, carried, run in sorted(ended, key=lambda run: (run[0], run[-1])):
        if at:
            entries = carried | entries | dict.fromkeys(asked, run) | {"synthesis": run}
    return entries


def _canonical(folder: Path) -> tuple[str, list[str], dict[str, str]]:
    """When the run ended ("" if it has not), the stages it asked itself, and those it took over with who asked them.

    A T0 counts only if it was measured, a replay not at all: it is a check of a run, not another one.
    """
    record = read_record(folder)
    with reading(folder) as connection:
        ended = connection.execute(queries.ENDED).fetchone()
        if record.replay_of or ended is None or connection.execute(queries.SYNTHESISED).fetchone() is None:
            return "", [], {}
        done = [
            (phase, name)
            for phase, name in connection.execute(queries.DONE)
            if phase != "T0" or record.baseline != "reconstructed"
        ]
    asked = [f"{phase}/{name}" for phase, name in done if name not in record.carried]
    there = {name: run for name, run in record.carried.items() if (folder.parent / run).is_dir()}
    return str(ended[0]), asked, {f"{phase}/{name}": there[name] for phase, name in done if name in there}


def _write(interviews: Path, entries: dict[str, str]) -> None:
    write_atomically(interviews / NAME, json.dumps(entries, indent=2) + "\n")
