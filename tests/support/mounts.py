"""Small and read-only disks for tests, in a mount namespace of their own: nothing of them is left behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def in_namespace(script: str, *, timeout: int = 60) -> subprocess.CompletedProcess[str]:
    """Run a shell script that may mount; as root, or as root of a user namespace where that is permitted.

    Skips the test, with the reason, where the machine permits neither.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare on this machine: nothing can be mounted")
    for options in (["-m"], ["-r", "-m"]):
        allowed = subprocess.run(
            [unshare, *options, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True
        )
        if allowed.returncode == 0:
            command = [unshare, *options, "sh", "-e", "-c", script]
            return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=ROOT)
    pytest.skip(f"nothing can be mounted here: {allowed.stderr.strip()}")


def python(*arguments: object) -> str:
    """A command line that runs this Python; for scripts of `in_namespace`."""
    return " ".join([sys.executable, *(str(argument) for argument in arguments)])
