"""What is read while a run is written by another thread or process: a file may be replaced, or not be there yet, between two looks."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from enquete.checkpoints.folders import NeverStarted
from enquete.state.errors import LedgerError, RunNotFound

T = TypeVar("T")
LOOKS = 4
APART_S = 0.05


def retry_read(read: Callable[[], T]) -> T:
    """What `read` gives. What fails is looked at again: damage is still there then, a change under the reader is not."""
    for look in range(LOOKS):
        try:
            return read()
        except NeverStarted as error:
            if look == LOOKS - 1:
                raise RunNotFound(
                    "the run is only just being begun, or was broken off before its first question"
                ) from error
        except (LedgerError, OSError, ValueError, sqlite3.Error):
            if look == LOOKS - 1:
                raise
        time.sleep(APART_S * 2**look)
    raise AssertionError("unreachable")
