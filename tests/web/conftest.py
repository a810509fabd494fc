"""Studies that pages show: made once for all who only look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import enquete
from tests.support.populations import mirofish_folder
from tests.support.shared_fixtures import made_once

HOSTILE = "<img src=x onerror=alert(1)> \u202e\x1b[31m"
ASKED = {"respondent": "synthetic", "language": "en", "new": True}
SHORT = {"laddering": {"turns": 5}}


@pytest.fixture(scope="session")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with two runs of sim_r, three agents of whom one has a hostile persona; the second asks the questionnaire
    alone, with another seed."""
    return made_once(tmp_path_factory, "studied", _study)


def _study(root: Path) -> Path:
    folder = mirofish_folder(root / "simulations" / "sim_r", 3, status="completed")
    profiles = folder / "reddit_profiles.json"
    people = json.loads(profiles.read_text())
    people[0]["persona"] += HOSTILE
    profiles.write_text(json.dumps(people))
    first = {"methods": ["longitudinal", "laddering"], "seed": "1", "settings": SHORT}
    enquete.conduct_interviews("sim_r", root=str(root), **first, **ASKED)
    enquete.conduct_interviews("sim_r", root=str(root), methods=["longitudinal"], seed="2", **ASKED)
    return root
