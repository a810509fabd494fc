"""Copies of the real inputs, and small MiroFish folders whose every value is known."""

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
OASIS_RUN = "sim_oasisreal0001"


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture
def oasis_run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / OASIS_RUN, tmp_path / OASIS_RUN))


def profile(name: str, index: int, **more: object) -> dict[str, object]:
    username = f"{name.lower()}_{index}"
    return {"user_id": index, "name": name, "username": username, "bio": "", "persona": f"Persona of {name}.", **more}


def write_folder(
    folder: Path,
    config: Sequence[str] | None = None,
    reddit: Sequence[str | dict[str, object]] | None = None,
    twitter: Sequence[str] | None = None,
) -> Path:
    """A MiroFish folder from names in file order. The uuid of "Ann" is "uuid-ann" wherever she stands."""
    folder.mkdir(parents=True, exist_ok=True)
    if config is not None:
        entries = [
            {"agent_id": i, "entity_uuid": f"uuid-{name.lower()}", "entity_name": name, "entity_type": "Citizen"}
            for i, name in enumerate(config)
        ]
        (folder / "simulation_config.json").write_text(json.dumps({"agent_configs": entries}))
    if reddit is not None:
        rows = [profile(row, i) if isinstance(row, str) else row for i, row in enumerate(reddit)]
        (folder / "reddit_profiles.json").write_text(json.dumps(rows))
    if twitter is not None:
        with (folder / "twitter_profiles.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["user_id", "name", "username", "user_char", "description"])
            writer.writerows(
                [i, name, f"{name.lower()}_{i}", f"Persona of {name}.", ""] for i, name in enumerate(twitter)
            )
    return folder


def write_log(folder: Path, platform: str, actions: Sequence[dict[str, object]], tail: str = "") -> Path:
    path = folder / platform / "actions.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(action) + "\n" for action in actions) + tail)
    return path


def post(agent_id: int, name: str, content: str, **more: object) -> dict[str, object]:
    args = {"content": content, **more}
    return {"round": 1, "agent_id": agent_id, "agent_name": name, "action_type": "CREATE_POST", "action_args": args}


Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    def make(**files: Sequence[str] | None) -> Path:
        return write_folder(tmp_path / "sim_made", **files)

    return make
