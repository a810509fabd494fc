"""The simulator's action log of a platform, derived from its database as the simulator derives it, quirks included."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from enquete.demo.sources import Agent, Platform, Step, World

Line = dict[str, JsonValue]
UNLOGGED = ("sign_up", "refresh")
PAUSE = timedelta(milliseconds=431)


class ActionLog:
    """Initial posts stand in it twice: in round 0 as they were ordered, in round 1 as they were found in the trace."""

    def __init__(
        self, connection: sqlite3.Connection, platform: Platform, agents: Sequence[Agent], world: World
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
