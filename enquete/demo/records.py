"""The simulator's own files about the demo: profiles, configuration, state."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from enquete.demo.sources import PLATFORMS, DemoAgent, Platform, Step, World

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


def config(world: World, agents: Sequence[DemoAgent], rounds: int, initial: Initial) -> dict[str, JsonValue]:
    """simulation_config.json."""
    return {
        "simulation_id": world.sim_id,
        "project_id": world.project_id,
        "graph_id": world.graph_id,
        "simulation_requirement": world.requirement,
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
