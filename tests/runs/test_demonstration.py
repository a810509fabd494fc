"""A graph started without a simulation: what is laid out, who answers, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.demo import demo_population
from enquete.nodes.load_population import require_blocking_allowed
from enquete.runs.studio_demo import is_studio_demo, lay_out_demo
from enquete.simulations.locate import completion
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest


def test_each_start_has_a_population_of_its_own_that_waits_and_plays(tmp_path: Path) -> None:
    first, second = (lay_out_demo(RunRequest(), tmp_path, completed=False) for _ in range(2))
    assert first.sim != second.sim
    assert first.respondent == "synthetic"
    path = Path(first.sim)
    assert is_studio_demo(path)
    assert not completion(path).completed
    demo_population(path.parent.parent, completed=True)
    assert completion(path).completed
    assert not completion(Path(second.sim)).completed


def test_each_start_has_a_population_of_its_own_that_waits_and_plays_and_no_other_is_touched(tmp_path: Path) -> None:
    assert lay_out_demo(RunRequest(model="small"), tmp_path, completed=True).respondent is None
    assert not is_studio_demo(demo_population(tmp_path, completed=False))


def test_a_server_that_forbids_file_access_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_blocking_allowed()
    monkeypatch.setenv("LANGGRAPH_ALLOW_BLOCKING", "false")
    with pytest.raises(SettingsError, match="--allow-blocking"):
        require_blocking_allowed()
