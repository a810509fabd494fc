"""A run's folder that is deleted or moved while the run goes on: the open file could be written to, and everybody would
be asked for nothing."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path

import pytest

from enquete.interfaces.cli.options import explain
from enquete.ledger.connection import explained
from enquete.ledger.writer import FolderGone
from enquete.state.errors import LedgerError
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.studies import personas, run_folder

AGENTS, IN_FLIGHT = 40, 2


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_run_whose_folder_is_gone_stops_at_once(tmp_path: Path, how: str) -> None:
    """Of 40 agents with 15 questions each, 600 requests: what is in flight is the last that is asked."""
    with ModelServer(latency=0.05) as server:
        struck_at: list[int] = []

        def strike() -> None:
            server.wait_for(10, 60)
            folder = run_folder(tmp_path / "out")
            if how == "deleted":
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.rename(tmp_path / "elsewhere")
            struck_at.append(server.count())

        striking = threading.Thread(target=strike)
        striking.start()
        with pytest.raises(FolderGone, match="was deleted or moved while the run went on: nothing more is asked"):
            bare_runs.interview(
                personas(tmp_path, AGENTS), out=str(tmp_path / "out"), model="test", base_url=server.base_url,
                methods=["longitudinal"], asking="item", concurrency=IN_FLIGHT, confirm=True,
            )  # fmt: skip
        striking.join()
        assert server.count() <= struck_at[0] + 4 * IN_FLIGHT


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
            "Too many open files: close some, or allow more with ulimit",
        ),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), "ulimit -n"),
        (MemoryError(), "out of memory: end other programs, or ask fewer at once with --concurrency"),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), "out of memory"),
    ],
)
def test_a_machine_that_is_used_up_is_said_to_be(tmp_path: Path, error: Exception, says: str) -> None:
    """On the command line, and by whoever reads a ledger: no internal error, and nothing to be repaired."""
    code, text = explain(error)
    assert (code, says in text, "internal error" in text) == (1, True, False), text
    with pytest.raises(LedgerError) as refused, explained(tmp_path / "ledger.sqlite"):
        raise error
    assert says in str(refused.value)
    assert "--repair" not in str(refused.value)
