"""A process of its own, measured from outside: its CPU with that of all it began, its wall, its peak of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.measurement import measured
from tests.support.processes import environment

REPOSITORY = Path(__file__).parents[2]
PATIENCE_S = 4 * 3600


@dataclass(frozen=True)
class Spent:
    """Of one process. `found`: the object that it printed, where it prints one."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    found: dict[str, Any]


def enquete(*words: object) -> Spent:
    """`enquete WORDS`, from nothing to its end. Raises RuntimeError where it does not end in 0."""
    began = time.perf_counter()
    done = measured(*words, patience_s=PATIENCE_S)
    wall = time.perf_counter() - began
    if done.code:
        raise RuntimeError(f"enquete {' '.join(map(str, words))} ended with {done.code}: {done.said[-2000:]}")
    objects = [line for line in done.said.splitlines() if line.startswith("{")]
    return Spent(done.seconds, wall, done.megabytes, json.loads(objects[-1]) if "--json" in words else {})


def python(*words: object, interpreter: Path | str = sys.executable) -> dict[str, Any]:
    """The object that `python WORDS` prints last. Raises RuntimeError where it fails."""
    done = subprocess.run(
        [interpreter, *map(str, words)], capture_output=True, text=True, check=False, env=ours(), cwd=REPOSITORY
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(map(str, words))}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def ours() -> dict[str, str]:
    """The machine's own keys and settings stay out."""
    return {**environment(), "PYTHONPATH": str(REPOSITORY)}


def rusage_of(command: Sequence[str]) -> float:
    """Seconds of the processor from its start to its end."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    pid = os.posix_spawn(command[0], command, ours(), file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime
