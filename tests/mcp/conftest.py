"""A server on three simulations with one finished run; clients speak to it as anybody would."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcp_served import AGENTS, METHOD, Served, serving, simulation

import enquete
from tests.support.bare_runs import without_figures


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, _away_from_the_machine: None) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("mcp")
    (root / "simulations").mkdir()
    finished = simulation(root, "sim_finished", agents=AGENTS)
    untouched = simulation(root, "sim_untouched")
    started = simulation(root, "sim_started", status="running")
    with without_figures():
        run = enquete.conduct_interviews(finished, root=str(root), methods=[METHOD], language="en")
    assert run.status == "completed"
    with serving(root) as url:
        yield Served(url, root, finished, run.run_id, untouched, started)
