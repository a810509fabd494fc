"""Reading the demo's own sources. A slip in one of them becomes an error that names the file and the entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from enquete.instruments.pack import pack_named
from enquete.state.errors import SettingsError, SimulationError

T = TypeVar("T")
Platform = Literal["twitter", "reddit"]
PLATFORMS: tuple[Platform, ...] = ("twitter", "reddit")

WRITING = ("posts", "quotes", "comments")
STEP = re.compile(
    r"(?P<who>\w+) (?P<verb>posts|quotes|comments|likes_comment|likes|dislikes|reposts|follows|mutes)"
    r" (?P<targets>\w+(?:, \w+)*)(?: as (?P<label>\w+))?"
)


class DemoAgent(BaseModel):
    """One agent as the sources describe it; `key` is its name in the course of events."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    name: str
    uuid: str
    username: str
    type: str
    age: int
    gender: str
    mbti: str
    profession: str
    topics: tuple[str, ...]
    bio: str
    persona: str
    stance: str
    influence: float
    sentiment: float


class Rhythm(BaseModel):
    """How agents of a type use a platform: posts and comments an hour, active hours, delay in minutes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    activity: float
    posts: float
    comments: float
    hours: tuple[int, ...]
    delay: tuple[int, int]


class World(BaseModel):
    """What simulation_config.json and state.json say beside the agents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sim_id: str
    project_id: str
    graph_id: str
    requirement: str
    narrative_direction: str
    reasoning: str
    hot_topics: tuple[str, ...]
    minutes_per_round: int
    created_at: str
    started_at: str
    profiles_created_on: str
    rhythms: dict[str, Rhythm]


@dataclass(frozen=True)
class Step:
    """One action of one agent; `target` is a label or an agent's key, `label` what a new post or comment is called."""

    who: str
    verb: str
    target: str = ""
    label: str = ""
    text: str = ""


Rounds = tuple[tuple[Step, ...], ...]


@cache
def load_agents(pack: str = "") -> tuple[DemoAgent, ...]:
    """In the order of the files, which is their index. Raises SimulationError."""
    found: list[DemoAgent] = []
    for name in sorted(file.name for file in demo_of(pack).joinpath("agents").iterdir()):
        found += validated(TypeAdapter(list[DemoAgent]), read(pack, f"agents/{name}"), name)
    return tuple(found)


@cache
def load_world(pack: str = "") -> World:
    """Raises SimulationError."""
    return validated(TypeAdapter(World), read(pack, "population.yaml"), "population.yaml")


@cache
def load_course(platform: Platform, pack: str = "") -> Rounds:
    """The platform's rounds, the initial posts as round 0. Raises SimulationError."""
    file = f"course/{platform}.yaml"
    raw = validated(TypeAdapter(dict[Literal["rounds"], list[list[str | dict[str, str]]]]), read(pack, file), file)
    return tuple(
        tuple(step for entry in entries for step in steps_of(entry, f"{file}, round {number}"))
        for number, entries in enumerate(raw["rounds"])
    )


def demo_of(pack: str) -> Traversable:
    """The demo of a pack, the default one unless named. Raises SettingsError where there is no such pack or it has
    none."""
    found = pack_named(pack)
    if not (found.folder / "demo").is_dir():
        raise SettingsError(f"pack {found.name!r} has no demo population")
    return found.folder / "demo"


def read(pack: str, name: str) -> JsonValue:
    value: JsonValue = yaml.safe_load(demo_of(pack).joinpath(*name.split("/")).read_text("utf-8"))
    return value


def validated(kind: TypeAdapter[T], value: JsonValue, file: str) -> T:
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise SimulationError(f"demo/{file}: {error}") from error


def steps_of(entry: str | dict[str, str], where: str) -> Iterator[Step]:
    """`who verb target`, several targets with commas; words as the entry's value; `rest: who, who`."""
    head, text = next(iter(entry.items())) if isinstance(entry, dict) else (entry, "")
    if head == "rest":
        yield from (Step(who, "rests") for who in text.split(", "))
        return
    match = STEP.fullmatch(head)
    if not match or bool(text) != (match["verb"] in WRITING):
        raise SimulationError(
            f"demo/{where}: {head!r} is no action; write 'who verb target [as label]', words after ':'"
        )
    for target in match["targets"].split(", "):
        is_post = match["verb"] == "posts"
        yield Step(
            match["who"], match["verb"], "" if is_post else target, target if is_post else match["label"] or "", text
        )
