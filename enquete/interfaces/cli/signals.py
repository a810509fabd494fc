"""Ctrl-C and SIGTERM alike: the first one pauses, the second stops at once, a third leaves without a word."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType
from typing import Any

from enquete.interfaces.cli.words import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED = 130


class Stopped(Exception):
    """Stopped at once, by a second signal or before the first question. The message says which."""


class Interrupts:
    """While entered, both signals raise KeyboardInterrupt, which the façade takes for pause, then for stop."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._handle) for each in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        """After a stop the handlers stay: one more signal must not end in a traceback while the process leaves."""
        if self.count < 2:
            for each, handler in self._before.items():
                signal.signal(each, handler)

    def _handle(self, _signum: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1:
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, f"\n{say('pausing')}\n".encode())
        if self.count > 2:
            os._exit(STOPPED)
        raise KeyboardInterrupt
