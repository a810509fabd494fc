"""Both stored simulations, one in each language, every methodology: all agents, exactly the expected rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.unwritten import interview

SIMULATIONS = {"sim_683e8059ab27": 7, "sim_oasisreal0001": 12}


def expected_rows(agents: int, themes: int) -> dict[tuple[str, str, int], int]:
    """By hand from the shipped instruments: 14 items and a comment a wave; 24 statements and 6 axes; 4 open questions,
    then each theme on 2 dimensions, twice; 4 scenarios on 4 dimensions and an open question each."""
    return {
        ("longitudinal", "T0", 0): agents * 15, ("longitudinal", "T1", 0): agents * 15,
        ("diversity", "T1", 0): agents * 30, ("delphi", "T1", 1): agents * 4, ("delphi", "T1", 2): agents * themes * 2,
        ("delphi", "T1", 3): agents * themes * 2, ("scenario", "T1", 0): agents * 20,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "language"), [("sim_683e8059ab27", "de"), ("sim_oasisreal0001", "en")])
def test_everybody_is_asked_everything_once(tmp_path: Path, root: Path, name: str, language: str) -> None:
    sim = tmp_path / name
    shutil.copytree(root / "tests" / "data" / name, sim)
    run = interview(sim, language=language)
    assert run.status == "completed"
    table = run.responses
    themes = table[table["round"].eq(2) & table["methodology"].eq("delphi")]["item_id"].str.split("/").str[0].nunique()
    assert 1 <= themes <= 15
    found = table.groupby(["methodology", "phase", "round"]).size().to_dict()
    assert found == expected_rows(SIMULATIONS[name], themes)
    assert table["status"].eq("ok").all()
    assert table["participant"].nunique() == SIMULATIONS[name]
    assert not table.duplicated(["methodology", "phase", "round", "participant", "item_id"]).any()
    assert table[table["phase"].eq("T1")]["memory_available"].all()
    assert not table[table["phase"].eq("T0")]["memory_available"].any()
