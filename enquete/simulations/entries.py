"""One thing an agent did or was shown, and a store that keeps each agent's newest without growing with the trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from enquete.simulations.texts import clean, clip, first, one_line

Kind = Literal["own", "reaction", "shown"]
KINDS: tuple[Kind, ...] = ("own", "reaction", "shown")
LONGEST_OTHER = 240


@dataclass(frozen=True, slots=True)
class Entry:
    """`text`: the agent's own words, or what it reacted to; `about`: what its words answer, or whose post it was.

    `source`: which post or comment it is ("post 12"), else which row or line. `place`: rowid or line number, which order
    entries; created_at does not (steps on one platform, dates on the other).
    """

    verb: str
    text: str
    about: str = ""
    place: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """How an action becomes an entry: its kind, which arguments hold the text and what it is about, and the post's or
    comment's id."""

    kind: Kind
    verb: str
    text: tuple[str, ...]
    about: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


POST, COMMENT = ("post_content", "content"), ("comment_content", "content")
POST_ID, COMMENT_ID = ("post_id",), ("comment_id",)
AUTHOR, COMMENTER, TARGET = ("post_author_name",), ("comment_author_name",), ("target_user_name",)
READINGS = {
    "create_post": Reading("own", "post", ("content",), (), POST_ID),
    "create_comment": Reading("own", "comment", ("content",), ("parent_content",), COMMENT_ID),
    "quote_post": Reading("own", "quote", ("quote_content",), ("original_content",), ("new_post_id",)),
    "send_to_group": Reading("own", "message", ("message", "content")),
    "repost": Reading("reaction", "repost", ("original_content", "content"), (), ("reposted_id", "original_post_id")),
    "like_post": Reading("reaction", "like", POST, AUTHOR, POST_ID),
    "dislike_post": Reading("reaction", "dislike", POST, AUTHOR, POST_ID),
    "report_post": Reading("reaction", "report", POST, AUTHOR, POST_ID),
    "like_comment": Reading("reaction", "like", COMMENT, COMMENTER, COMMENT_ID),
    "dislike_comment": Reading("reaction", "dislike", COMMENT, COMMENTER, COMMENT_ID),
    "follow": Reading("reaction", "follow", TARGET),
    "unfollow": Reading("reaction", "unfollow", TARGET),
    "mute": Reading("reaction", "mute", TARGET),
    "unmute": Reading("reaction", "unmute", TARGET),
    "search_posts": Reading("reaction", "search", ("query",)),
    "search_user": Reading("reaction", "search", ("query",)),
}


def interpret(action: str, args: Mapping[str, JsonValue], place: float) -> tuple[Kind, Entry] | None:
    """An action with its arguments (as the action log names them) as an entry; None where there is nothing to tell."""
    reading = READINGS.get(action.lower())
    text = one_line(first(args, reading.text)) if reading else ""
    if reading is None or not text:
        return None
    about = clip(one_line(first(args, reading.about)), LONGEST_OTHER)
    shown_text = text if reading.kind == "own" else clip(text, LONGEST_OTHER)
    return reading.kind, Entry(reading.verb, shown_text, about, place, source_of(args, reading.source, place))


def source_of(args: Mapping[str, JsonValue], names: tuple[str, ...], place: float) -> str:
    """Where the words themselves stand: a post, a comment, else the row or line of the action."""
    for name in names:
        if isinstance(number := args.get(name), int) and not isinstance(number, bool):
            return f"{'comment' if names == COMMENT_ID else 'post'} {number}"
    return f"row {place:.0f}"


def shown_entry(post: Mapping[str, JsonValue], author: str, place: float) -> Entry | None:
    text = clip(one_line(clean(post.get("content"))), LONGEST_OTHER)
    return Entry("shown", text, author, place, source_of(post, POST_ID, place)) if text else None


@dataclass
class Shelf:
    """One agent's entries of one kind, as many of the newest as fill `budget` characters.

    Each text stands once: The simulator logs initial posts twice (round 0 without post_id, round 1 with it), and models
    repeat themselves word for word.
    """

    budget: int
    entries: dict[str, Entry] = field(default_factory=dict)
    length: int = 0

    @property
    def full(self) -> bool:
        return self.length >= self.budget

    def add_older(self, entry: Entry) -> None:
        """For sources read backwards."""
        if not self.full and entry.text not in self.entries:
            self.put(entry)

    def add_newer(self, entry: Entry) -> None:
        """For sources read forwards: a repeated text moves to its latest place, the oldest make room."""
        self.drop(entry.text)
        self.put(entry)
        while len(self.entries) > 1 and self.length - len(oldest := next(iter(self.entries))) >= self.budget:
            self.drop(oldest)

    def put(self, entry: Entry) -> None:
        self.entries[entry.text] = entry
        self.length += len(entry.text)

    def drop(self, text: str) -> None:
        if self.entries.pop(text, None) is not None:
            self.length -= len(text)


@dataclass
class Memory:
    """What one agent did and saw on one platform."""

    budget: int

    def __post_init__(self) -> None:
        self.shelves: dict[Kind, Shelf] = {kind: Shelf(self.budget) for kind in KINDS}
