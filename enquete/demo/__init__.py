"""The demo's population: fifty invented stakeholders, written out as the simulator and OASIS would leave them when they
have just started, or when they have ended.

The texts are sources: `agents/*.yaml` (who), `course/*.yaml` (what happens, round by round), `population.yaml` (the
rest of the configuration). `demo_population` builds the simulation folder from them, the same bytes each time.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from enquete.instruments.pack import pack_named
from enquete.instruments.text import Text
from enquete.state.asking import Language
from enquete.state.errors import SettingsError, SimulationError

# --- Reading the demo's own sources. A slip in one of them becomes an error that names the file and the entry.

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
    requirement: Text
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
    agents: list[DemoAgent] = []
    for name in sorted(file.name for file in demo_of(pack).joinpath("agents").iterdir()):
        agents += validated(TypeAdapter(list[DemoAgent]), read(pack, f"agents/{name}"), name)
    return tuple(agents)


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
    """The demo of a pack, the default one unless named. Raises SettingsError where there is none."""
    chosen = pack_named(pack)
    if not (chosen.folder / "demo").is_dir():
        raise SettingsError(f"pack {chosen.name!r} has no demo population")
    return chosen.folder / "demo"


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
        right = "write 'who verb target [as label]', words after ':'"
        raise SimulationError(f"demo/{where}: {head!r} is no action; {right}")
    for named in match["targets"].split(", "):
        target, label = ("", named) if match["verb"] == "posts" else (named, match["label"] or "")
        yield Step(match["who"], match["verb"], target, label, text)


# --- The simulator's own files about the demo: profiles, configuration, state.

Logs = Mapping[Platform, Sequence[Mapping[str, JsonValue]]]
Initial = Mapping[Platform, Sequence[Step]]
NEWEST = 20


def write_profiles(path: Path, agents: Sequence[DemoAgent], world: World) -> None:
    """reddit_profiles.json and twitter_profiles.csv; an agent's index is its place in both."""
    profiles = [profile(number, agent, world) for number, agent in enumerate(agents)]
    text = json.dumps(profiles, ensure_ascii=False, indent=2) + "\n"
    (path / "reddit_profiles.json").write_text(text, "utf-8", newline="\n")
    with (path / "twitter_profiles.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("user_id", "name", "username", "user_char", "description"))
        for number, agent in enumerate(agents):
            table.writerow((number, agent.name, agent.username, f"{agent.bio} {agent.persona}", agent.bio))


def profile(number: int, agent: DemoAgent, world: World) -> dict[str, JsonValue]:
    return {
        "user_id": number,
        "username": agent.username,
        "name": agent.name,
        "bio": agent.bio,
        "persona": agent.persona,
        "karma": 1000 + round(100 * agent.influence),
        "created_at": world.profiles_created_on,
        "age": agent.age,
        "gender": agent.gender,
        "mbti": agent.mbti,
        "country": "DE",
        "profession": agent.profession,
        "interested_topics": list(agent.topics),
    }


def config(
    world: World, agents: Sequence[DemoAgent], rounds: int, initial: Initial, language: Language
) -> dict[str, JsonValue]:
    """simulation_config.json. language: of its question, which a report begins with."""
    return {
        "simulation_id": world.sim_id,
        "project_id": world.project_id,
        "graph_id": world.graph_id,
        "simulation_requirement": world.requirement.in_(language),
        "time_config": {
            "total_simulation_hours": rounds * world.minutes_per_round // 60,
            "minutes_per_round": world.minutes_per_round,
            "agents_per_hour_min": 8,
            "agents_per_hour_max": 16,
        },
        "agent_configs": [agent_config(number, agent, world) for number, agent in enumerate(agents)],
        "event_config": {
            "initial_posts": initial_posts(agents, initial),
            "scheduled_events": [],
            "hot_topics": list(world.hot_topics),
            "narrative_direction": world.narrative_direction,
        },
        "twitter_config": {"platform": "twitter", "recency_weight": 0.4, "popularity_weight": 0.3},
        "reddit_config": {"platform": "reddit", "recency_weight": 0.3, "popularity_weight": 0.4},
        "llm_model": "none (written by hand)",
        "llm_base_url": "",
        "generated_at": world.created_at,
        "generation_reasoning": world.reasoning,
    }


def agent_config(number: int, agent: DemoAgent, world: World) -> dict[str, JsonValue]:
    rhythm = world.rhythms[agent.type]
    return {
        "agent_id": number,
        "entity_uuid": agent.uuid,
        "entity_name": agent.name,
        "entity_type": agent.type,
        "activity_level": 0.1 if agent.stance == "observer" else rhythm.activity,
        "posts_per_hour": rhythm.posts,
        "comments_per_hour": rhythm.comments,
        "active_hours": list(rhythm.hours),
        "response_delay_min": rhythm.delay[0],
        "response_delay_max": rhythm.delay[1],
        "sentiment_bias": agent.sentiment,
        "stance": agent.stance,
        "influence_weight": agent.influence,
    }


def initial_posts(agents: Sequence[DemoAgent], initial: Initial) -> list[JsonValue]:
    index = {agent.key: number for number, agent in enumerate(agents)}
    return [
        {"content": step.text, "poster_type": agents[index[step.who]].type, "poster_agent_id": index[step.who]}
        for steps in initial.values()
        for step in steps
    ]


def state(world: World, agents: Sequence[DemoAgent]) -> dict[str, JsonValue]:
    """state.json, which the simulator leaves at running whatever happens afterwards."""
    return {
        "simulation_id": world.sim_id,
        "project_id": world.project_id,
        "graph_id": world.graph_id,
        "enable_twitter": True,
        "enable_reddit": True,
        "status": "running",
        "entities_count": len(agents),
        "profiles_count": len(agents),
        "entity_types": list(dict.fromkeys(agent.type for agent in agents)),
        "config_generated": True,
        "config_reasoning": world.reasoning,
        "current_round": 0,
        "twitter_status": "not_started",
        "reddit_status": "not_started",
        "created_at": world.created_at,
        "updated_at": world.started_at,
        "error": None,
    }


def run_state(world: World, rounds: int, logs: Logs) -> dict[str, JsonValue]:
    """run_state.json of a simulation that has just started (no logs) or has ended."""
    ended = bool(logs)
    counts = {platform: len(actions(logs.get(platform, ()))) for platform in PLATFORMS}
    finished_at = max((str(lines[-1]["timestamp"]) for lines in logs.values()), default=None)
    per_platform: dict[str, JsonValue] = {}
    for platform in PLATFORMS:
        per_platform[f"{platform}_current_round"] = rounds if ended else 0
        per_platform[f"{platform}_simulated_hours"] = 0
        per_platform[f"{platform}_running"] = not ended
        per_platform[f"{platform}_completed"] = ended
        per_platform[f"{platform}_actions_count"] = counts[platform]
    return {
        "simulation_id": world.sim_id,
        "runner_status": "completed" if ended else "running",
        "current_round": rounds if ended else 0,
        "total_rounds": rounds,
        "simulated_hours": 0,
        "total_simulation_hours": rounds * world.minutes_per_round // 60,
        "progress_percent": 100.0 if ended else 0.0,
        **per_platform,
        "total_actions_count": sum(counts.values()),
        "started_at": world.started_at,
        "updated_at": finished_at or world.started_at,
        "completed_at": finished_at,
        "error": None,
        "process_pid": None,
        "recent_actions": recent(logs),
    }


def actions(lines: Sequence[Mapping[str, JsonValue]]) -> list[Mapping[str, JsonValue]]:
    return [line for line in lines if "action_type" in line]


def recent(logs: Logs) -> list[JsonValue]:
    """The newest actions first, as the monitor shows them."""
    both = [(platform, line) for platform, lines in logs.items() for line in actions(lines)]
    newest = sorted(both, key=lambda pair: str(pair[1]["timestamp"]), reverse=True)[:NEWEST]
    return [
        {"round_num": line["round"], "platform": platform, **{k: v for k, v in line.items() if k != "round"}}
        for platform, line in newest
    ]


def env_status(logs: Logs) -> dict[str, JsonValue]:
    ended = max(str(lines[-1]["timestamp"]) for lines in logs.values())
    return {"status": "stopped", "twitter_available": True, "reddit_available": True, "timestamp": ended}


# --- One platform of the demo: its course of events played into an OASIS database, feeds included --------------------

FEED = 5  # posts shown at a refresh
RECOMMENDED = 2  # of them from outside the agents one follows, where follows count
TICK = timedelta(seconds=11, microseconds=370_211)


@dataclass(frozen=True)
class DemoPost:
    """`root`: the original of a quote or repost, else the post itself. `round` when it appeared."""

    id: int
    author: int
    root: int
    round: int
    is_repost: bool = False


class Network:
    """Rows are written as OASIS writes them: a refresh with what was shown, then the actions, counters kept in step.

    Twitter counts time in rounds, Reddit in dates. Nobody acts on a post that the refresh before did not show.
    """

    def __init__(
        self, connection: sqlite3.Connection, platform: Platform, agents: Sequence[DemoAgent], start: str
    ) -> None:
        self.db = connection
        self.platform = platform
        self.index = {agent.key: number for number, agent in enumerate(agents)}
        self.posts: dict[str, DemoPost] = {}
        self.comments: dict[str, tuple[int, str]] = {}  # id, label of the post
        self.round = 0
        self.clock = datetime.fromisoformat(start)
        self.acts: dict[str, Callable[[int, Step], dict[str, JsonValue]]] = {
            "posts": self.create_post,
            "quotes": self.quote_post,
            "reposts": self.repost,
            "comments": self.create_comment,
            "likes": partial(self.rate_post, "like"),
            "dislikes": partial(self.rate_post, "dislike"),
            "likes_comment": self.like_comment,
            "follows": self.follow,
            "mutes": self.mute,
            "rests": lambda who, step: {},
        }

    def now(self) -> int | str:
        if self.platform == "twitter":
            return self.round
        self.clock += TICK
        return self.clock.isoformat(" ", "microseconds")

    def sign_up(self, agents: Sequence[DemoAgent]) -> None:
        self.db.executescript((files("enquete.demo") / "schema.sql").read_text("utf-8"))
        for number, agent in enumerate(agents):
            row = (number, number, agent.username, agent.bio, self.now())
            self.db.execute("INSERT INTO user (user_id, agent_id, name, bio, created_at) VALUES (?, ?, ?, ?, ?)", row)
            self.note(number, "sign_up", {"name": agent.username, "user_name": None, "bio": agent.bio})

    def play(self, rounds: Rounds) -> list[int]:
        """The trace's last rowid after each round. Raises SimulationError for a course that cannot have happened."""
        ends = []
        for self.round, steps in enumerate(rounds):
            seen: set[str] = set()
            for step in steps:
                try:
                    if self.round and step.who not in seen:
                        self.refresh(step.who, [other for other in steps if other.who == step.who])
                    self.act(step)
                except KeyError as missing:
                    raise self.fault(step, f"no agent, post or comment is called {missing} so far") from missing
                seen.add(step.who)
            ends.append(int(self.db.execute("SELECT max(rowid) FROM trace").fetchone()[0]))
        self.recommend()
        return ends

    def act(self, step: Step) -> None:
        who = self.index[step.who]
        self.note(who, ACTIONS[step.verb], self.acts[step.verb](who, step))

    def fault(self, step: Step, problem: str) -> SimulationError:
        where = f"demo/course/{self.platform}.yaml, round {self.round}"
        return SimulationError(f"{where}: {step.who} {step.verb} {step.target}: {problem}")

    def note(self, who: int, action: str, info: dict[str, JsonValue]) -> None:
        row = (who, self.now(), action, json.dumps(info, ensure_ascii=False))
        self.db.execute("INSERT INTO trace (user_id, created_at, action, info) VALUES (?, ?, ?, ?)", row)

    def insert(self, table: str, **values: int | str | None) -> int:
        columns, marks = ", ".join([*values, "created_at"]), ", ".join("?" * (len(values) + 1))
        row = (*values.values(), self.now())
        return int(self.db.execute(f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', row).lastrowid or 0)

    def count(self, table: str, column: str, key: int) -> None:
        self.db.execute(f"UPDATE {table} SET {column} = {column} + 1 WHERE {table}_id = ?", (key,))

    # --- actions: each writes its rows and returns the info of its trace row

    def create_post(self, who: int, step: Step) -> dict[str, JsonValue]:
        new = self.insert("post", user_id=who, content=step.text)
        self.posts[step.label] = DemoPost(new, who, new, self.round)
        return {"content": step.text, "post_id": new}

    def quote_post(self, who: int, step: Step) -> dict[str, JsonValue]:
        quoted = self.posts[step.target]
        original = self.content(quoted.root)
        new = self.insert("post", user_id=who, original_post_id=quoted.root, content=original, quote_content=step.text)
        self.posts[step.label] = DemoPost(new, who, quoted.root, self.round)
        self.count("post", "num_shares", quoted.root)
        return {"quoted_id": quoted.id, "new_post_id": new}

    def repost(self, who: int, step: Step) -> dict[str, JsonValue]:
        original = self.posts[step.target]
        new = self.insert("post", user_id=who, original_post_id=original.root)
        self.posts[f"{step.who} {step.target}"] = DemoPost(new, who, original.root, self.round, is_repost=True)
        self.count("post", "num_shares", original.root)
        return {"reposted_id": original.id, "new_post_id": new}

    def create_comment(self, who: int, step: Step) -> dict[str, JsonValue]:
        new = self.insert("comment", post_id=self.posts[step.target].id, user_id=who, content=step.text)
        self.comments[step.label] = (new, step.target)
        return {"content": step.text, "comment_id": new}

    def rate_post(self, rating: Literal["like", "dislike"], who: int, step: Step) -> dict[str, JsonValue]:
        post = self.posts[step.target].id
        self.count("post", f"num_{rating}s", post)
        return {"post_id": post, f"{rating}_id": self.insert(rating, user_id=who, post_id=post)}

    def like_comment(self, who: int, step: Step) -> dict[str, JsonValue]:
        comment, _ = self.comments[step.target]
        self.count("comment", "num_likes", comment)
        return {"comment_id": comment, "comment_like_id": self.insert("comment_like", user_id=who, comment_id=comment)}

    def follow(self, who: int, step: Step) -> dict[str, JsonValue]:
        followee = self.index[step.target]
        self.count("user", "num_followings", who)
        self.count("user", "num_followers", followee)
        return {"follow_id": self.insert("follow", follower_id=who, followee_id=followee)}

    def mute(self, who: int, step: Step) -> dict[str, JsonValue]:
        self.insert("mute", muter_id=who, mutee_id=self.index[step.target])
        return {"mutee_id": self.index[step.target]}

    # --- what an agent is shown

    def refresh(self, key: str, steps: Sequence[Step]) -> None:
        who = self.index[key]
        needed = []
        for step in steps:
            if label := self.acted_on(step):
                needed.append(self.posts[label])
                if needed[-1].round >= self.round:
                    raise self.fault(step, "a post can be answered only from the round after it")
        chosen = list(dict.fromkeys([*needed, *self.feed(who)]))[: max(FEED, len(needed))]
        shown: list[JsonValue] = [self.as_shown(post) for post in sorted(chosen, key=lambda post: post.id)]
        self.note(who, "refresh", {"posts": shown})

    def acted_on(self, step: Step) -> str:
        """Label of the post that must have been shown for this step."""
        if step.verb in ("quotes", "reposts", "comments", "likes", "dislikes"):
            return step.target
        return self.comments[step.target][1] if step.verb == "likes_comment" and step.target in self.comments else ""

    def feed(self, who: int) -> list[DemoPost]:
        """Posts of earlier rounds by others: followed agents' newest first on Twitter, then a share of the agent's."""
        earlier = [post for post in self.posts.values() if post.round < self.round and post.author != who]
        if self.platform == "reddit":
            return rotated(earlier, who)[:FEED]
        follows = "SELECT followee_id FROM follow WHERE follower_id = ? ORDER BY followee_id"
        followees = {row[0] for row in self.db.execute(follows, (who,))}
        followed = [post for post in reversed(earlier) if post.author in followees]
        return [*followed[: FEED - RECOMMENDED], *self.recommended(who)]

    def recommended(self, who: int) -> list[DemoPost]:
        recent = [
            post
            for post in self.posts.values()
            if self.round - 3 <= post.round < self.round and post.author != who and not post.is_repost
        ]
        return rotated(recent, who)[:RECOMMENDED]

    def recommend(self) -> None:
        """The table of recommendations as the last round left it: all posts on Reddit, a few an agent on Twitter."""
        for who in self.index.values():
            posts = list(self.posts.values()) if self.platform == "reddit" else self.recommended(who)
            rows = [(who, post.id) for post in posts if post.round < self.round]
            self.db.executemany("INSERT INTO rec (user_id, post_id) VALUES (?, ?)", rows)

    def content(self, post_id: int) -> str:
        return str(self.db.execute("SELECT content FROM post WHERE post_id = ?", (post_id,)).fetchone()[0])

    def as_shown(self, post: DemoPost) -> JsonValue:
        columns = "content, quote_content, created_at, num_likes, num_dislikes, num_shares, num_reports"
        row = self.db.execute(f"SELECT {columns} FROM post WHERE post_id = ?", (post.id,)).fetchone()
        content, quote, created_at, likes, dislikes, shares, reports = row
        if post.root != post.id:
            author = self.db.execute("SELECT user_id FROM post WHERE post_id = ?", (post.root,)).fetchone()[0]
            content = as_shared(post, author, self.content(post.root), quote)
        both, balance = {"num_likes": likes, "num_dislikes": dislikes}, {"score": likes - dislikes}
        return {
            "post_id": post.id, "user_id": post.author, "content": content, "created_at": created_at,
            **(both if self.platform == "twitter" else balance), "num_shares": shares, "num_reports": reports,
            "comments": self.comments_on(post.id),
        }  # fmt: skip

    def comments_on(self, post_id: int) -> list[JsonValue]:
        columns = "comment_id, post_id, user_id, content, created_at, num_likes - num_dislikes AS score"
        rows = self.db.execute(f"SELECT {columns} FROM comment WHERE post_id = ? ORDER BY comment_id", (post_id,))
        names = [column[0] for column in rows.description]
        return [dict(zip(names, row, strict=True)) for row in rows]


def as_shared(post: DemoPost, author: int, original: str, quote: str | None) -> str:
    """How OASIS words a repost or quote in a feed."""
    if post.is_repost:
        return f"User {post.author} reposted a post from User {author}. Repost content: {original}. "
    return f"User {post.author} quoted a post from User {author}. Quote content: {quote}. Original Content: {original}"


def rotated(posts: Sequence[DemoPost], who: int) -> list[DemoPost]:
    """Newest first, begun at a place of the agent's own, so that not all see the same."""
    newest = list(reversed(posts))
    start = (who * 3) % len(newest) if newest else 0
    return newest[start:] + newest[:start]


ACTIONS = {
    "posts": "create_post",
    "quotes": "quote_post",
    "reposts": "repost",
    "comments": "create_comment",
    "likes": "like_post",
    "dislikes": "dislike_post",
    "likes_comment": "like_comment",
    "follows": "follow",
    "mutes": "mute",
    "rests": "do_nothing",
}


# --- The simulator's action log of a platform, derived from its database as the simulator derives it, quirks included

Line = dict[str, JsonValue]
UNLOGGED = ("sign_up", "refresh")
PAUSE = timedelta(milliseconds=431)


class ActionLog:
    """Initial posts stand in it twice: in round 0 as they were ordered, in round 1 as they were found in the trace."""

    def __init__(
        self, connection: sqlite3.Connection, platform: Platform, agents: Sequence[DemoAgent], world: World
    ) -> None:
        self.db = connection
        self.platform = platform
        self.names = [agent.name for agent in agents]
        self.index = {agent.key: number for number, agent in enumerate(agents)}
        self.clock = datetime.fromisoformat(world.started_at) + timedelta(seconds=PAUSES_BEFORE[platform])
        self.minutes = world.minutes_per_round
        self.actions: list[Line] = []

    def now(self) -> str:
        self.clock += PAUSE
        return self.clock.isoformat(timespec="microseconds")

    def write(self, initial: Sequence[Step], ends: Sequence[int]) -> list[Line]:
        """The whole log. `ends`: the trace's last rowid after each round, round 0 first."""
        last = len(ends) - 1
        lines = [self.event("simulation_start", total_rounds=last, agents_count=len(self.names))]
        lines += self.round(0, 0, [self.ordered(step) for step in initial])
        for number in range(1, last + 1):
            after = 0 if number == 1 else ends[number - 1]
            lines += self.round(number, self.hour(number), list(self.traced(number, after, ends[number])))
        return [*lines, self.event("simulation_end", total_rounds=last, total_actions=len(self.actions))]

    def event(self, kind: str, **values: int) -> Line:
        return {"timestamp": self.now(), "event_type": kind, "platform": self.platform, **values}

    def hour(self, number: int) -> int:
        return (number - 1) * self.minutes // 60 % 24

    def round(self, number: int, hour: int, actions: Sequence[Line]) -> Iterator[Line]:
        yield {"round": number, "timestamp": self.now(), "event_type": "round_start", "simulated_hour": hour}
        for action in actions:
            self.actions.append(action)
            yield {**action, "timestamp": self.now()}
        yield {"round": number, "timestamp": self.now(), "event_type": "round_end", "actions_count": len(actions)}

    def ordered(self, step: Step) -> Line:
        return self.action(0, self.index[step.who], "create_post", {"content": step.text})

    def traced(self, number: int, after: int, upto: int) -> Iterator[Line]:
        query = "SELECT user_id, action, info FROM trace WHERE rowid > ? AND rowid <= ? ORDER BY rowid"
        for who, action, info in self.db.execute(query, (after, upto)).fetchall():
            if action not in UNLOGGED:
                yield self.action(number, who, action, self.args(action, json.loads(info)))

    def action(self, number: int, who: int, action: str, args: Mapping[str, JsonValue]) -> Line:
        return {
            "round": number,
            "timestamp": "",
            "agent_id": who,
            "agent_name": self.names[who],
            "action_type": action.upper(),
            "action_args": dict(args),
            "result": None,
            "success": True,
        }

    def args(self, action: str, info: Line) -> Line:
        """A trace row's info with the texts and names that the simulator adds, and without what it leaves out."""
        if action in ("like_post", "dislike_post"):
            content, author = self.row("SELECT content, user_id FROM post WHERE post_id = ?", info["post_id"])
            return {**info, "post_content": content, "post_author_name": self.names[author]}
        if action in ("repost", "quote_post"):
            return self.shared(info)
        if action == "like_comment":
            comment = info["comment_id"]
            content, author = self.row("SELECT content, user_id FROM comment WHERE comment_id = ?", comment)
            return {"comment_id": comment, "comment_content": content, "comment_author_name": self.names[author]}
        if action == "follow":
            _, followee = self.row("SELECT '', followee_id FROM follow WHERE follow_id = ?", info["follow_id"])
            return {**info, "target_user_name": self.names[followee]}
        return {} if action == "mute" else info

    def shared(self, info: Line) -> Line:
        query = "SELECT content, user_id FROM post WHERE post_id = ?"
        content, author = self.row(query, info.get("quoted_id") or info["reposted_id"])
        new: Line = {"new_post_id": info["new_post_id"], "original_content": content}
        new["original_author_name"] = self.names[author]
        if "quoted_id" not in info:
            return new
        words, _ = self.row("SELECT quote_content, user_id FROM post WHERE post_id = ?", info["new_post_id"])
        return {"quoted_id": info["quoted_id"], **new, "quote_content": words}

    def row(self, query: str, key: JsonValue) -> tuple[str, int]:
        text, number = self.db.execute(query, (key,)).fetchone()
        return str(text), int(number)


PAUSES_BEFORE: Mapping[Platform, int] = {"twitter": 2, "reddit": 3}


def demo_population(folder: Path, *, completed: bool, pack: str = "", language: Language = "de") -> Path:
    """Write the simulation of a pack's demo (the default pack's unless named) into `folder`/simulations/{sim_id} and
    return that path.

    completed=False: profiles and configuration are there, run_state says running, and nothing has happened yet.
    completed=True: the same with OASIS databases and action logs of eight rounds, and run_state says completed.
    language: of the question that the simulation was set. Only the simulation's own files are written; interviews
    beside them stay. The same bytes each time.
    """
    world, agents = load_world(pack), load_agents(pack)
    path = folder / "simulations" / world.sim_id
    path.mkdir(parents=True, exist_ok=True)
    clear(path)
    initial = {platform: load_course(platform, pack)[0] for platform in PLATFORMS}
    rounds = len(load_course("twitter", pack)) - 1
    write_profiles(path, agents, world)
    write_json(path / "simulation_config.json", config(world, agents, rounds, initial, language))
    write_json(path / "state.json", state(world, agents))
    logs = {platform: simulate(path, platform, pack) for platform in PLATFORMS} if completed else {}
    write_json(path / "run_state.json", run_state(world, rounds, logs))
    if completed:
        write_json(path / "env_status.json", env_status(logs))
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
