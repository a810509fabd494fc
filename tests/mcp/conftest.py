"""A server on the demo population with one finished run; clients speak to it as anybody would."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcp_served import METHOD, Served, demo, serving, simulation

import enquete


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, _away_from_the_machine: None) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("mcp")
    (root / "simulations").mkdir()
    finished = demo(root, "sim_finished", completed=True)
    untouched = simulation(root, "sim_untouched")
    started = demo(root, "sim_started", completed=False)
    run = enquete.conduct_interviews(finished, root=str(root), methods=[METHOD], language="en")
    assert run.status == "completed"
    with serving(root) as url:
        yield Served(url, root, finished, run.run_id, untouched, started)
