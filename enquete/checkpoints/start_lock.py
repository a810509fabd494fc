"""Who looks which run there is and then begins one does so alone, among tasks, threads and processes: two that decide from the
same state would begin two runs, and pay for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from enquete.checkpoints.disk_reserve import disk_fault
from enquete.checkpoints.drives import require_local, require_writable
from enquete.state.errors import Busy

NAME = "start.lock"
"""In a folder of results: held while a run is being begun there."""
LONGEST_S = 300.0
"""Beginning may ask a model whether the questions fit, and wait for it."""
LOOKED_S = 0.02


@asynccontextmanager
async def alone(file: Path, *, longest_s: float = LONGEST_S) -> AsyncIterator[None]:
    """Within, nobody else is within who names the same file, in this process or another; who comes waits without blocking
    the loop. The system frees it when a process dies.

    Raises SettingsError where nothing can be kept beside the file, Busy after `longest_s`, DiskFull.
    """
    require_local(file.parent)
    require_writable(file.parent)
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    try:
        async with asyncio.timeout(longest_s):
            while not _acquired(lock):  # noqa: ASYNC110 - no event reaches another process
                await asyncio.sleep(LOOKED_S)
    except TimeoutError:
        raise Busy(
            f"{file.parent.name}: another request has been beginning something there for {longest_s:g} s, and has not come to "
            "an end; ask again later"
        ) from None
    except OSError as error:
        raise disk_fault(error, file) or error from error
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: FileLock) -> bool:
    with suppress(Timeout):
        lock.acquire(blocking=False)
        return True
    return False
