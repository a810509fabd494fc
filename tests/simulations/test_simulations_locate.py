from pathlib import Path

import pytest

from enquete.simulations.locate import list_simulations, locate
from enquete.state.errors import SimulationNotFound
from tests.simulations.conftest import write_folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_folder(tmp_path / "root" / "simulations" / "sim_aaa", reddit=["Ann"])
    write_folder(tmp_path / "root" / "sim_bbb", reddit=["Ann"])
    write_folder(tmp_path / "outside", reddit=["Ann"])
    return tmp_path / "root"


def everything(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


def test_an_id_is_found_below_simulations_and_below_the_root(root: Path) -> None:
    assert locate("sim_aaa", root) == (root / "simulations" / "sim_aaa").resolve()
    assert locate("sim_bbb", root) == (root / "sim_bbb").resolve()
    assert [known.sim_id for known in list_simulations(root)] == ["sim_aaa", "sim_bbb"]


def test_a_path_to_a_folder_or_a_personas_file_is_taken(root: Path, data: Path) -> None:
    outside = root.parent / "outside"
    assert locate(outside, root) == outside.resolve()
    assert locate(str(outside), None) == outside.resolve()
    assert locate(data / "oasis_user_data_36.json").name == "oasis_user_data_36.json"


@pytest.mark.parametrize(
    "sim", ["../outside", "..", ".", "", " ", "simulations/../../outside", "..\\outside", "a\0b", "x" * 5000, "sim_\n"]
)
def test_an_id_cannot_leave_the_root(root: Path, sim: str) -> None:
    before = everything(root.parent)
    with pytest.raises(SimulationNotFound):
        locate(sim, root)
    assert everything(root.parent) == before


def test_servers_refuse_paths_given_as_text(root: Path) -> None:
    with pytest.raises(SimulationNotFound):
        locate(str(root.parent / "outside"), root, paths=False)


def test_a_symlink_out_of_the_root_is_no_simulation(root: Path) -> None:
    (root / "sim_link").symlink_to(root.parent / "outside")
    with pytest.raises(SimulationNotFound):
        locate("sim_link", root)
    assert "sim_link" not in [known.sim_id for known in list_simulations(root)]


def test_an_unknown_id_lists_the_known_ones_nearest_first_and_creates_nothing(root: Path) -> None:
    before = everything(root)
    with pytest.raises(SimulationNotFound, match="nearest first: sim_bbb, sim_aaa"):
        locate("sim_bbc", root)
    assert everything(root) == before


def test_a_missing_root_holds_nothing(tmp_path: Path) -> None:
    assert list_simulations(tmp_path / "nowhere") == []
    with pytest.raises(SimulationNotFound, match="there are none under"):
        locate("sim_aaa", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_without_simulation_files_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(SimulationNotFound, match=r"reddit_profiles\.json"):
        locate(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(SimulationNotFound, match=r"\.csv"):
        locate(tmp_path / "notes.txt")
