"""Writes the demo's simulation folder: as the simulator leaves it when it has just started, or when it has ended."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from pydantic import JsonValue

from enquete.demo import records
from enquete.demo.action_log import ActionLog, Line
from enquete.demo.network import Network
from enquete.demo.sources import PLATFORMS, Platform, load_agents, load_course, load_world


def demo_population(folder: Path, *, completed: bool, pack: str = "") -> Path:
    """Write the simulation of a pack's demo (the default pack's unless named) into `folder`/simulations/{sim_id} and return that path.

    completed=False: profiles and configuration are there, run_state says running, and nothing has happened yet.
    completed=True: the same with OASIS databases and action logs of eight rounds, and run_state says completed.
    Only the simulation's own files are written; interviews beside them stay. The same bytes each time.
    """
    world, agents = load_world(pack), load_agents(pack)
    path = folder / "simulations" / world.sim_id
    path.mkdir(parents=True, exist_ok=True)
    clear(path)
    initial = {platform: load_course(platform, pack)[0] for platform in PLATFORMS}
    rounds = len(load_course("twitter", pack)) - 1
    records.write_profiles(path, agents, world)
    write_json(path / "simulation_config.json", records.config(world, agents, rounds, initial))
    write_json(path / "state.json", records.state(world, agents))
    logs = {platform: simulate(path, platform, pack) for platform in PLATFORMS} if completed else {}
    write_json(path / "run_state.json", records.run_state(world, rounds, logs))
    if completed:
        write_json(path / "env_status.json", records.env_status(logs))
    return path


def clear(path: Path) -> None:
    """Takes back what a completed simulation has and a fresh one has not."""
    for platform in PLATFORMS:
        (path / f"{platform}_simulation.db").unlink(missing_ok=True)
        (path / platform / "actions.jsonl").unlink(missing_ok=True)
        (path / platform).mkdir(exist_ok=True)
    (path / "env_status.json").unlink(missing_ok=True)


def simulate(path: Path, platform: Platform, pack: str) -> list[Line]:
    """Plays the course into the platform's database and writes its action log."""
    world, agents, rounds = load_world(pack), load_agents(pack), load_course(platform, pack)
    with closing(sqlite3.connect(path / f"{platform}_simulation.db")) as connection:
        network = Network(connection, platform, agents, world.started_at)
        network.sign_up(agents)
        ends = network.play(rounds)
        connection.commit()
        lines = ActionLog(connection, platform, agents, world).write(rounds[0], ends)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (path / platform / "actions.jsonl").write_text(text, "utf-8", newline="\n")
    return lines


def write_json(file: Path, value: JsonValue) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
