"""`enquete view`: which folder is served, which page is opened, and whether a server of that folder is there
already."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.interfaces.cli import serve_commands
from enquete.state.errors import RunNotFound, SimulationNotFound
from tests.http.conftest import serving
from tests.support.populations import mirofish_folder


def test_a_simulation_is_named_by_id_or_by_path(tmp_path: Path) -> None:
    inside = mirofish_folder(tmp_path / "simulations" / "sim_a", 2)
    beside = mirofish_folder(tmp_path / "elsewhere" / "sim b", 2)
    root = str(tmp_path / "simulations")
    assert serve_commands.page_of(None, None, str(tmp_path)) == (tmp_path, "/")
    assert serve_commands.page_of("sim_a", None, str(tmp_path)) == (tmp_path, "/simulations/sim_a/")
    assert serve_commands.page_of(str(inside), None, str(tmp_path / "elsewhere")) == (tmp_path, "/simulations/sim_a/")
    assert serve_commands.page_of(str(beside), None, root) == (tmp_path / "elsewhere", "/simulations/sim%20b/")
    with pytest.raises(SimulationNotFound):
        serve_commands.page_of("sim_b", None, root)
    with pytest.raises(RunNotFound):
        serve_commands.page_of("sim_a", "run_x", str(tmp_path))


def test_a_server_of_the_same_folder_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "simulations").mkdir()
    with serving(tmp_path) as client:
        assert serve_commands.is_served(str(client.base_url).rstrip("/"), tmp_path)
        assert not serve_commands.is_served(str(client.base_url).rstrip("/"), tmp_path.parent)
        port = client.base_url.port or 0
        assert serve_commands.view(root=str(tmp_path), port=port, browser=False) == 0
        assert f"http://127.0.0.1:{port}/" in capsys.readouterr().err
    assert not serve_commands.is_served(f"http://127.0.0.1:{port}", tmp_path)
