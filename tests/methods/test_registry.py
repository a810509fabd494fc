"""Methodologies of other packages: found by their entry point, and left out with a reason where they cannot be
loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from enquete.methods.registry import dotted_paths, methodologies, registry
from enquete.state.errors import SettingsError

SOUND = """
from dataclasses import replace
from enquete.methods.scenario import METHODOLOGY as SCENARIO
METHODOLOGY = replace(SCENARIO, name="{name}", order=7)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as an installer would leave it: modules, and the entry points that each test writes."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    registry.cache_clear()


def install(folder: Path, **modules: str) -> None:
    about = folder / "others-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    names = "".join(f"{name} = other_{name}:METHODOLOGY\n" for name in modules)
    (about / "entry_points.txt").write_text(f"[enquete.methodologies]\n{names}")
    for name, text in modules.items():
        (folder / f"other_{name}.py").write_text(text)
    registry.cache_clear()


def test_one_of_another_package_is_found_and_placed_by_its_order(installed: Path) -> None:
    before = list(methodologies())
    install(installed, triads=SOUND.format(name="triads"))
    assert list(methodologies()) == ["triads", *before]  # 7 comes before the first of ours, 10
    assert dotted_paths()["triads"] == "other_triads:METHODOLOGY"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("broken", "import nothing_of_this_name", "nothing_of_this_name"),
        ("wrong", "METHODOLOGY = 3", "a int, not an enquete.state Methodology"),
        ("renamed", SOUND.format(name="other"), "calls itself 'other'"),
        ("delphi", SOUND.format(name="delphi"), "enquete.methods.delphi:METHODOLOGY is a methodology of this name"),
    ],
)
def test_one_that_cannot_be_loaded_stops_nothing_but_itself(installed: Path, name: str, text: str, why: str) -> None:
    before = dotted_paths()
    install(installed, **{name: text})
    assert dotted_paths() == before
    assert why in registry().broken[name]
    if name not in before:
        with pytest.raises(SettingsError, match=f"{name} is installed but cannot be loaded"):
            dotted_paths([name])
