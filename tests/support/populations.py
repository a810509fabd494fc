"""Populations of any size: participants, personas files, MiroFish folders that run or have completed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from enquete.state.asking import Arm, Asking, BlockKey, Participant

TYPES = ("Fischer", "Behörde", "Umweltverband", "Handel", "Anwohner")


def participants(number: int, *, digest: str | None = None) -> list[Participant]:
    """`number` agents with stable ids and personas of their own."""
    return [
        Participant(
            id=f"agent:uuid-{i:04d}",
            name=f"Agent {i}",
            stakeholder_type=TYPES[i % len(TYPES)],
            persona=f"Agent {i} lebt an der Küste und denkt an die Fischbestände. Kennzahl {i * 7919}.",
            digest=digest,
            agent_id=i,
        )
        for i in range(number)
    ]


@dataclass
class BareContext:
    """All that a plan needs of a context: whom it asks, and how; nothing was asked yet."""

    agents: int
    asking: Asking = "block"
    arm: Arm = field(default_factory=Arm)

    def participants(self) -> list[Participant]:
        return participants(self.agents)

    def key(self, participant: str, part: str, *, round: int = 0) -> BlockKey:
        return BlockKey("run", self.arm.id, "m", "T1", "", round, 0, participant, part)


def personas_file(path: Path, number: int) -> Path:
    """A plain personas file: a list of name, persona and type."""
    people = [{"name": p.name, "persona": p.persona, "type": p.stakeholder_type} for p in participants(number)]
    path.write_text(json.dumps(people, ensure_ascii=False), "utf-8")
    return path


def mirofish_folder(folder: Path, number: int, *, status: Literal["completed", "running"] = "completed") -> Path:
    """A MiroFish folder with `number` agents, each of whom has posted once."""
    people = participants(number)
    folder.mkdir(parents=True, exist_ok=True)
    entries = [
        {
            "agent_id": p.agent_id,
            "entity_uuid": p.id.removeprefix("agent:"),
            "entity_name": p.name,
            "entity_type": p.stakeholder_type,
        }
        for p in people
    ]
    profiles = [
        {"user_id": p.agent_id, "username": f"agent_{p.agent_id}", "name": p.name, "bio": "", "persona": p.persona}
        for p in people
    ]
    _write(folder / "simulation_config.json", {"simulation_id": folder.name, "agent_configs": entries})
    _write(folder / "reddit_profiles.json", profiles)
    _write(folder / "state.json", {"simulation_id": folder.name, "status": "running", "enable_reddit": True})
    set_status(folder, status)
    posts = [
        {
            "round": 1,
            "timestamp": "2026-01-01T00:00:00",
            "agent_id": p.agent_id,
            "agent_name": p.name,
            "action_type": "CREATE_POST",
            "action_args": {"content": f"{p.name} hat am Hafen etwas beobachtet.", "post_id": p.agent_id},
            "success": True,
        }
        for p in people
    ]
    (folder / "reddit").mkdir(exist_ok=True)
    lines = [json.dumps(post, ensure_ascii=False) + "\n" for post in posts]
    (folder / "reddit" / "actions.jsonl").write_text("".join(lines), "utf-8")
    return folder


def set_status(folder: Path, status: str) -> None:
    """What run_state.json says: the simulation's own word for whether it has completed. If so, it went on until
    then."""
    _write(folder / "run_state.json", {"simulation_id": folder.name, "runner_status": status})
    if status == "completed":
        go_on(folder)


def go_on(folder: Path) -> None:
    """One more action in the log, where there is one."""
    log = folder / "reddit" / "actions.jsonl"
    if log.exists():
        posts = (json.loads(line) for line in log.read_text("utf-8").splitlines())
        last = [post for post in posts if "action_type" in post][-1]
        with log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**last, "round": last["round"] + 1}, ensure_ascii=False) + "\n")


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
