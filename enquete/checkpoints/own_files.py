"""Which files of a run Enquete wrote: a line each in the run's folder, so that deleting the run takes nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from enquete.state.regular_files import read_regular

NAME = "files"
MOST_BYTES = 10_000_000
BESIDE_LEDGER = ("ledger.sqlite*", "checkpoints.sqlite*", "writes", "reserve", "lock", NAME)
"""What is made in a run's folder by other means than replacing a file as a whole: databases with their journals, locks."""
_PHASES = ("T0", "T1")


def interviews_around(path: Path) -> tuple[Path, str] | None:
    """(interviews folder, run_id) of a file that belongs to one run: in runs/, synthesis/ or T0|T1/methodology/."""
    folder = next((one for one in path.parents if one.name.startswith("run_")), None)
    if folder is None:
        return None
    up = folder.parent.parent
    return (up.parent if up.name in _PHASES else up), folder.name


@lru_cache(maxsize=10_000)
def note(path: Path) -> None:
    """Once for each file of a process. Where it cannot be noted, deleting leaves the file where it is."""
    found = interviews_around(path)
    if found is None or not (run := found[0] / "runs" / found[1]).is_dir():
        return
    with suppress(OSError, ValueError), (run / NAME).open("a", encoding="utf-8") as file:
        file.write(f"{path.relative_to(found[0]).as_posix()}\n")


def own_files(run: Path) -> Iterator[Path]:
    """Those that are there. A line that leads out of the interviews folder, by .. or through a link, is passed over."""
    interviews = run.parent.parent
    for pattern in BESIDE_LEDGER:
        yield from (file for file in run.glob(pattern) if file.is_file())
    with suppress(OSError):
        inside = interviews.resolve()
        for line in dict.fromkeys(read_regular(run / NAME, MOST_BYTES).decode("utf-8", "replace").splitlines()):
            file = interviews / line
            if (file.is_file() or file.is_symlink()) and file.parent.resolve().is_relative_to(inside):
                yield file


def result_folders(run: Path) -> list[Path]:
    """Every folder that is this run's alone, its own last."""
    interviews = run.parent.parent
    phases = [folder for phase in _PHASES for folder in sorted((interviews / phase).glob(f"*/{run.name}"))]
    return [folder for folder in (*phases, interviews / "synthesis" / run.name, run) if folder.is_dir()]
