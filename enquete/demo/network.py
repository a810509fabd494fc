"""One platform of the demo: its course of events played into an OASIS database, feeds included."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files

from pydantic import JsonValue

from enquete.demo.sources import Agent, Platform, Rounds, Step
from enquete.state.errors import SimulationError

FEED = 5  # posts shown at a refresh
RECOMMENDED = 2  # of them from outside the agents one follows, where follows count
TICK = timedelta(seconds=11, microseconds=370_211)


@dataclass(frozen=True)
class Post:
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

    def __init__(self, connection: sqlite3.Connection, platform: Platform, agents: Sequence[Agent], start: str) -> None:
        self.db = connection
        self.platform = platform
        self.index = {agent.key: number for number, agent in enumerate(agents)}
        self.posts: dict[str, Post] = {}
        self.comments: dict[str, tuple[int, str]] = {}  # id, label of the post
        self.round = 0
        self.clock = datetime.fromisoformat(start)
        self.acts: dict[str, Callable[[int, Step], dict[str, JsonValue]]] = {
            "posts": self.create_post,
            "quotes": self.quote_post,
            "reposts": self.repost,
            "comments": self.create_comment,
            "likes": self.like_post,
            "dislikes": self.dislike_post,
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

    def sign_up(self, agents: Sequence[Agent]) -> None:
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
        self.posts[step.label] = Post(new, who, new, self.round)
        return {"content": step.text, "post_id": new}

    def quote_post(self, who: int, step: Step) -> dict[str, JsonValue]:
        quoted = self.posts[step.target]
        original = self.content(quoted.root)
        new = self.insert("post", user_id=who, original_post_id=quoted.root, content=original, quote_content=step.text)
        self.posts[step.label] = Post(new, who, quoted.root, self.round)
        self.count("post", "num_shares", quoted.root)
        return {"quoted_id": quoted.id, "new_post_id": new}

    def repost(self, who: int, step: Step) -> dict[str, JsonValue]:
        original = self.posts[step.target]
        new = self.insert("post", user_id=who, original_post_id=original.root)
        self.posts[f"{step.who} {step.target}"] = Post(new, who, original.root, self.round, is_repost=True)
        self.count("post", "num_shares", original.root)
        return {"reposted_id": original.id, "new_post_id": new}

    def create_comment(self, who: int, step: Step) -> dict[str, JsonValue]:
        new = self.insert("comment", post_id=self.posts[step.target].id, user_id=who, content=step.text)
        self.comments[step.label] = (new, step.target)
        return {"content": step.text, "comment_id": new}

    def like_post(self, who: int, step: Step) -> dict[str, JsonValue]:
        post = self.posts[step.target].id
        self.count("post", "num_likes", post)
        return {"post_id": post, "like_id": self.insert("like", user_id=who, post_id=post)}

    def dislike_post(self, who: int, step: Step) -> dict[str, JsonValue]:
        post = self.posts[step.target].id
        self.count("post", "num_dislikes", post)
        return {"post_id": post, "dislike_id": self.insert("dislike", user_id=who, post_id=post)}

    def like_comment(self, who: int, step: Step) -> dict[str, JsonValue]:
        comment, _ = self.comments[step.target]
        self.count("comment", "num_likes", comment)
        return {
            "comment_id": comment,
            "comment_like_id": self.insert("comment_like", user_id=who, comment_id=comment),
        }

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

    def feed(self, who: int) -> list[Post]:
        """Posts of earlier rounds by others: followed agents' newest first on Twitter, then a share that differs by agent."""
        earlier = [post for post in self.posts.values() if post.round < self.round and post.author != who]
        if self.platform == "reddit":
            return rotated(earlier, who)[:FEED]
        followees = {row[0] for row in self.db.execute("SELECT followee_id FROM follow WHERE follower_id = ?", (who,))}
        followed = [post for post in reversed(earlier) if post.author in followees]
        return [*followed[: FEED - RECOMMENDED], *self.recommended(who)]

    def recommended(self, who: int) -> list[Post]:
        recent = [
            post
            for post in self.posts.values()
            if self.round - 3 <= post.round < self.round and post.author != who and not post.is_repost
        ]
        return rotated(recent, who)[:RECOMMENDED]

    def recommend(self) -> None:
        """The table of recommendations as the last round left it: all posts on Reddit, a few for each agent on Twitter."""
        for who in self.index.values():
            posts = list(self.posts.values()) if self.platform == "reddit" else self.recommended(who)
            rows = [(who, post.id) for post in posts if post.round < self.round]
            self.db.executemany("INSERT INTO rec (user_id, post_id) VALUES (?, ?)", rows)

    def content(self, post_id: int) -> str:
        return str(self.db.execute("SELECT content FROM post WHERE post_id = ?", (post_id,)).fetchone()[0])

    def as_shown(self, post: Post) -> JsonValue:
        row = self.db.execute(
            "SELECT content, quote_content, created_at, num_likes, num_dislikes, num_shares, num_reports"
            " FROM post WHERE post_id = ?",
            (post.id,),
        ).fetchone()
        content, quote, created_at, likes, dislikes, shares, reports = row
        if post.root != post.id:
            author = self.db.execute("SELECT user_id FROM post WHERE post_id = ?", (post.root,)).fetchone()[0]
            content = as_shared(post, author, self.content(post.root), quote)
        scores = (
            {"num_likes": likes, "num_dislikes": dislikes}
            if self.platform == "twitter"
            else {"score": likes - dislikes}
        )
        return {
            "post_id": post.id,
            "user_id": post.author,
            "content": content,
            "created_at": created_at,
            **scores,
            "num_shares": shares,
            "num_reports": reports,
            "comments": self.comments_on(post.id),
        }

    def comments_on(self, post_id: int) -> list[JsonValue]:
        rows = self.db.execute(
            "SELECT comment_id, post_id, user_id, content, created_at, num_likes - num_dislikes AS score"
            " FROM comment WHERE post_id = ?",
            (post_id,),
        )
        names = [column[0] for column in rows.description]
        return [dict(zip(names, row, strict=True)) for row in rows]


def as_shared(post: Post, author: int, original: str, quote: str | None) -> str:
    """How OASIS words a repost or quote in a feed."""
    if post.is_repost:
        return f"User {post.author} reposted a post from User {author}. Repost content: {original}. "
    return f"User {post.author} quoted a post from User {author}. Quote content: {quote}. Original Content: {original}"


def rotated(posts: Sequence[Post], who: int) -> list[Post]:
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
