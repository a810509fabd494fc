"""A command line in a process of its own: what it said, how long it took, how much memory it had at its peak."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
COMMAND = """
from enquete.interfaces.cli.app import main
main()
"""
AND_PEAK = """
import pathlib, sys
try:
    exec({code!r})
finally:  # what the system says afterwards counts the memory of whoever began the process as well
    own = pathlib.Path("/proc/self/status")
    peak = [line.split()[1] for line in own.read_text().splitlines() if line.startswith("VmHWM")] if own.exists() else []
    print("\\npeak", *peak, file=sys.stderr, flush=True)
"""


@dataclass(frozen=True)
class Measured:
    """`seconds` of the processor, `megabytes` resident at the peak (0 where the system does not say). One that had to
    be ended has code -9."""

    code: int
    said: str
    seconds: float
    megabytes: float


def measured(*words: object, patience_s: float = 60, code: str = COMMAND) -> Measured:
    """`enquete WORDS`, or other `code` with these, ended after `patience_s` of the wall."""
    with tempfile.TemporaryFile() as output:
        arguments = [sys.executable, "-c", AND_PEAK.format(code=code), *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"}
        streams = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
        pid = os.posix_spawn(sys.executable, arguments, environment, file_actions=streams)
        ended = threading.Timer(patience_s, os.kill, (pid, 9))
        ended.start()
        try:
            _, status, used = os.wait4(pid, 0)
        finally:
            ended.cancel()
        output.seek(0)
        printed, _, peak = output.read().decode("utf-8", "replace").rpartition("\npeak")
    megabytes = int(peak or 0) * 1024 / 1e6
    return Measured(os.waitstatus_to_exitcode(status), printed, used.ru_utime + used.ru_stime, megabytes)
