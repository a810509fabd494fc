"""What an agent of a simulation did and saw, and whose posts those are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from enquete.instruments.text import fold
from enquete.simulations.action_log import PLATFORMS, LogLines, Platform, database_path, is_action, log_path, opened
from enquete.simulations.population import PlatformAccount, Population
from enquete.simulations.sources import Issue, clean, clip, first, one_line, whole
from enquete.state.untrusted_input import parse_json

# --- Whose memory a row or line is. It is attributed only where index and name agree or the username proves it. Where
# a shifted file makes the owner doubtful it is withheld and reported: no agent is given another one's experience.


def owners_of(
    connection: sqlite3.Connection, file: str, seats: Sequence[PlatformAccount]
) -> tuple[dict[int, str], set[str], list[Issue]]:
    """Participant id by the database's user_id, the withheld participants, and what was found.

    OASIS writes the username into user.name. It identifies; the index counts only where no name contradicts it.
    """
    by_index = {seat.index: seat for seat in seats}
    by_username = unique_usernames(seats)
    owners: dict[int, str] = {}
    doubtful: set[str] = set()
    issues = []
    users = connection.execute("SELECT user_id, agent_id, name, user_name FROM user ORDER BY rowid")
    for user_id, agent_id, name, user_name in users:
        seat = by_index.get(user_id if agent_id is None else agent_id)
        known = {fold(clean(text)) for text in (name, user_name) if isinstance(text, str)} - {""}
        owner = owner_by_name(known, seat, by_username)
        if owner and seat and owner is not seat:
            place = f"index {owner.index} of the profiles"
            message = f"user {user_id} is {name!r}, who stands at {place}: joined by username"
            issues.append(Issue("warning", file, message))
        if owner and isinstance(user_id, int):
            owners[user_id] = owner.participant
        elif seat:
            doubtful.add(seat.participant)
    withheld = doubtful - set(owners.values())
    return owners, withheld, issues + withheld_issue(file, withheld)


def owner_by_name(
    known: set[str], seat: PlatformAccount | None, by_username: Mapping[str, PlatformAccount]
) -> PlatformAccount | None:
    named = next((by_username[text] for text in sorted(known) if text in by_username), None)
    if named or seat is None:
        return named
    return seat if seat.certain or known & seat.names else None


def unique_usernames(seats: Iterable[PlatformAccount]) -> dict[str, PlatformAccount]:
    accounts: dict[str, PlatformAccount | None] = {}
    for seat in seats:
        accounts[seat.username] = None if seat.username in accounts else seat
    return {username: seat for username, seat in accounts.items() if username and seat}


class LogOwners:
    """Participant of a log line, whose name is from the configuration, and whose index is from the profiles."""

    def __init__(self, seats: Sequence[PlatformAccount]) -> None:
        self.by_index = {seat.index: seat for seat in seats}
        self.by_name: dict[str, list[PlatformAccount]] = {}
        for seat in seats:
            for name in seat.names:
                self.by_name.setdefault(name, []).append(seat)
        self.withheld: set[str] = set()

    def owner(self, line: Mapping[str, JsonValue]) -> str | None:
        """The agent at the line's index unless the line names another: then both of them are in doubt."""
        index = whole(line.get("agent_id"))
        seat = self.by_index.get(index) if index is not None else None
        name = fold(clean(line.get("agent_name")))
        if seat and (name in seat.names or (seat.certain and name not in self.by_name)):
            return seat.participant
        self.withheld |= {other.participant for other in self.by_name.get(name, ()) if seat or not other.certain}
        if seat:
            self.withheld.add(seat.participant)
        return None


def withheld_issue(file: str, withheld: set[str]) -> list[Issue]:
    if not withheld:
        return []
    shown = ", ".join(sorted(withheld)[:5])
    problem = f"index and name disagree for {len(withheld)} agents, whose memory of this platform is left out: {shown}"
    return [Issue("warning", file, problem)]


# --- One thing an agent did or was shown, and a store that keeps each agent's newest without growing with the trace.

Kind = Literal["own", "reaction", "shown"]
KINDS: tuple[Kind, ...] = ("own", "reaction", "shown")
LONGEST_OTHER = 240


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """`text`: the agent's own words, or what it reacted to; `about`: what its words answer, or whose post it was.

    `source`: which post or comment it is ("post 12"), else which row or line. `place`: rowid or line number, which
    order entries; created_at does not (steps on one platform, dates on the other).
    """

    verb: str
    text: str
    about: str = ""
    place: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class ActionForm:
    """How an action becomes an entry: its kind, and which arguments hold the text, what it is about, and its id."""

    kind: Kind
    verb: str
    text: tuple[str, ...]
    about: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


POST, COMMENT = ("post_content", "content"), ("comment_content", "content")
POST_ID, COMMENT_ID, MESSAGE_ID = ("post_id",), ("comment_id",), ("message_id",)
SOURCE_KINDS: Mapping[tuple[str, ...], str] = {COMMENT_ID: "comment", MESSAGE_ID: "group message"}
"""What a number is the id of, by the arguments that hold it; of all others a post."""
AUTHOR, COMMENTER, TARGET = ("post_author_name",), ("comment_author_name",), ("target_user_name",)
READINGS = {
    "create_post": ActionForm("own", "post", ("content",), (), POST_ID),
    "create_comment": ActionForm("own", "comment", ("content",), ("parent_content",), COMMENT_ID),
    "quote_post": ActionForm("own", "quote", ("quote_content",), ("original_content",), ("new_post_id",)),
    "send_to_group": ActionForm("own", "message", ("message", "content"), (), MESSAGE_ID),
    "repost": ActionForm(
        "reaction", "repost", ("original_content", "content"), (), ("reposted_id", "original_post_id")
    ),
    "like_post": ActionForm("reaction", "like", POST, AUTHOR, POST_ID),
    "dislike_post": ActionForm("reaction", "dislike", POST, AUTHOR, POST_ID),
    "report_post": ActionForm("reaction", "report", POST, AUTHOR, POST_ID),
    "like_comment": ActionForm("reaction", "like", COMMENT, COMMENTER, COMMENT_ID),
    "dislike_comment": ActionForm("reaction", "dislike", COMMENT, COMMENTER, COMMENT_ID),
    "follow": ActionForm("reaction", "follow", TARGET),
    "unfollow": ActionForm("reaction", "unfollow", TARGET),
    "mute": ActionForm("reaction", "mute", TARGET),
    "unmute": ActionForm("reaction", "unmute", TARGET),
    "search_posts": ActionForm("reaction", "search", ("query",)),
    "search_user": ActionForm("reaction", "search", ("query",)),
}


def interpret(action: str, args: Mapping[str, JsonValue], place: float) -> tuple[Kind, MemoryEntry] | None:
    """An action with its arguments (as the action log names them) as an entry; None where there is nothing to tell."""
    reading = READINGS.get(action.lower())
    text = one_line(first(args, reading.text)) if reading else ""
    if reading is None or not text:
        return None
    about = clip(one_line(first(args, reading.about)), LONGEST_OTHER)
    shown_text = text if reading.kind == "own" else clip(text, LONGEST_OTHER)
    return reading.kind, MemoryEntry(reading.verb, shown_text, about, place, source_of(args, reading.source, place))


def source_of(args: Mapping[str, JsonValue], names: tuple[str, ...], place: float) -> str:
    """Where the words themselves stand: a post, a comment, else the row or line of the action."""
    for name in names:
        if isinstance(number := args.get(name), int) and not isinstance(number, bool):
            return f"{SOURCE_KINDS.get(names, 'post')} {number}"
    return f"row {place:.0f}"


def shown_entry(post: Mapping[str, JsonValue], author: str, place: float) -> MemoryEntry | None:
    text = clip(one_line(clean(post.get("content"))), LONGEST_OTHER)
    return MemoryEntry("shown", text, author, place, source_of(post, POST_ID, place)) if text else None


@dataclass
class NewestEntries:
    """One agent's entries of one kind, as many of the newest as fill `budget` characters.

    Each text stands once: The simulator logs initial posts twice (round 0 without post_id, round 1 with it), and models
    repeat themselves word for word.
    """

    budget: int
    entries: dict[str, MemoryEntry] = field(default_factory=dict)
    length: int = 0

    @property
    def full(self) -> bool:
        return self.length >= self.budget

    def add_older(self, entry: MemoryEntry) -> None:
        """For sources read backwards."""
        if not self.full and entry.text not in self.entries:
            self.put(entry)

    def add_newer(self, entry: MemoryEntry) -> None:
        """For sources read forwards: a repeated text moves to its latest place, the oldest make room."""
        self.drop(entry.text)
        self.put(entry)
        while len(self.entries) > 1 and self.length - len(oldest := next(iter(self.entries))) >= self.budget:
            self.drop(oldest)

    def put(self, entry: MemoryEntry) -> None:
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
        self.newest: dict[Kind, NewestEntries] = {kind: NewestEntries(self.budget) for kind in KINDS}


# --- What happened on each platform, from the OASIS database where it can be read, else from the action log.
# Memories from an OASIS database: its trace read backwards, so that only the newest of each agent is ever held ---

SHOWN = ("refresh", "trend")
Args = dict[str, JsonValue]


@dataclass(frozen=True)
class Trace:
    """Memories by participant, whether exposure is recorded at all, and the last rowid."""

    memories: dict[str, Memory]
    exposure: bool
    length: int


def read_trace(
    connection: sqlite3.Connection, owners: Mapping[int, str], names: Mapping[str, str], budget: int
) -> Trace:
    """`owners`: participant id by user_id; `names`: name by participant id. Raises sqlite3.Error on a damaged file.

    Ordered by rowid. Interviews are no experience and are left out, as is everything that has no text.
    """
    authors = {user_id: names[participant] for user_id, participant in owners.items()}
    tables = Tables(connection, authors)
    memories = {participant: Memory(budget) for participant in owners.values()}
    groups = read_groups(connection, owners, authors)
    exposure, length = bool(groups.messages), 0
    newest_first = "SELECT rowid, user_id, action, info, created_at FROM trace ORDER BY rowid DESC"
    for rowid, user_id, action, info, created_at in connection.execute(newest_first):
        length = max(length, rowid)
        exposure = exposure or action in SHOWN
        groups.show_until(created_at, rowid, memories)
        if not isinstance(action, str):
            continue
        if action in GROUP_ACTIONS:
            groups.follow(action, user_id, arguments(info), rowid, memories)
        if (owner := owners.get(user_id)) is None:
            continue
        if action in SHOWN:
            remember_shown(memories[owner], user_id, info, authors, rowid)
        elif action != "interview" and (told := interpret(action, tables.args(action, arguments(info)), float(rowid))):
            kind, entry = told
            memories[owner].newest[kind].add_older(entry)
    groups.show_rest(memories)
    return Trace(memories, exposure, length)


# --- Chat groups of OASIS. Whatever is said in a group is shown to its members with their next prompt
# (`listen_from_group`), which the trace does not record: the tables of groups do.

GROUP_ACTIONS = ("send_to_group", "leave_group")
LONGEST_GROUP_NAME = 60
GROUP_TABLES = ("chat_group", "group_members", "group_messages")


@dataclass(frozen=True, slots=True)
class GroupMessage:
    """One message in a chat group. `sent_at`: a step on one platform, a date on the other, as `trace.created_at` is."""

    id: int
    group: int
    sender: int
    text: str
    sent_at: object


@dataclass
class ChatGroups:
    """Who belongs to which group, and what was said there; shown to the members while the trace is read backwards.

    members: user ids by group, as they are now; whoever leaves is a member from that row of the trace backwards.
    OASIS shows newcomers everything that was said in the group before, so the time of joining plays no part.
    """

    names: dict[int, str]
    members: dict[int, set[int]]
    messages: dict[int, GroupMessage]
    owners: Mapping[int, str]
    authors: Mapping[int, str]
    untraced: list[GroupMessage] = field(default_factory=list)
    """Messages without a row of their own in the trace, the newest last."""

    def follow(self, action: str, user_id: int, info: Args, rowid: int, memories: Mapping[str, Memory]) -> None:
        """Take up one row of the trace: a message is shown to who was a member then, leaving undoes itself."""
        group, message = whole(info.get("group_id")), whole(info.get("message_id"))
        if action == "leave_group" and group is not None and isinstance(user_id, int):
            self.members.setdefault(group, set()).add(user_id)
        elif message in self.messages:
            self._show(self.messages.pop(message), rowid, memories)

    def show_until(self, created_at: object, rowid: int, memories: Mapping[str, Memory]) -> None:
        """Show messages that have no row in the trace, and were sent when this row was written or later."""
        while self.untraced and is_not_earlier(self.untraced[-1].sent_at, created_at):
            self._show(self.untraced.pop(), rowid, memories)

    def show_rest(self, memories: Mapping[str, Memory]) -> None:
        """Show what was said before everything that the trace tells."""
        while self.untraced:
            self._show(self.untraced.pop(), 0, memories)

    def _show(self, message: GroupMessage, rowid: int, memories: Mapping[str, Memory]) -> None:
        text = clip(one_line(message.text), LONGEST_OTHER)
        if not text:
            return
        author, group = author_of(message.sender, self.authors), self.names.get(message.group, "")
        about = f"{author} ({group})" if author and group else author or group
        entry = MemoryEntry("shown", text, about, float(rowid), f"group message {message.id}")
        for user_id in sorted(self.members.get(message.group, ())):
            owner = self.owners.get(user_id)
            if owner is not None and user_id != message.sender:
                memories[owner].newest["shown"].add_older(entry)


def read_groups(connection: sqlite3.Connection, owners: Mapping[int, str], authors: Mapping[int, str]) -> ChatGroups:
    """Read the chat groups of a database; older versions of OASIS have none. Raises sqlite3.Error."""
    groups = ChatGroups({}, {}, {}, owners, authors)
    marks = ", ".join("?" * len(GROUP_TABLES))
    there = {
        name
        for (name,) in connection.execute(
            f"SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ({marks})", GROUP_TABLES
        )
    }
    if not {"group_members", "group_messages"} <= there:
        return groups

    user_of_agent: dict[int, int] = {}
    for user_id, agent_id in connection.execute("SELECT user_id, agent_id FROM user ORDER BY user_id"):
        if isinstance(agent_id, int) and isinstance(user_id, int):
            user_of_agent[agent_id] = user_id
    if "chat_group" in there:
        for group, name in connection.execute("SELECT group_id, name FROM chat_group ORDER BY group_id"):
            groups.names[group] = clip(one_line(clean(name)), LONGEST_GROUP_NAME)
    for group, agent in connection.execute("SELECT group_id, agent_id FROM group_members ORDER BY group_id, agent_id"):
        if isinstance(group, int) and isinstance(agent, int):
            groups.members.setdefault(group, set()).add(user_of_agent.get(agent, agent))
    said = connection.execute(
        "SELECT message_id, group_id, sender_id, content, sent_at FROM group_messages ORDER BY message_id"
    )
    for number, group, agent, content, sent_at in said:
        if isinstance(group, int) and isinstance(agent, int) and isinstance(content, str):
            sender = user_of_agent.get(agent, agent)
            groups.messages[number] = GroupMessage(number, group, sender, content, sent_at)
    if groups.messages:
        traced = connection.execute("SELECT info FROM trace WHERE action = 'send_to_group' ORDER BY rowid")
        numbers = {whole(arguments(info).get("message_id")) for (info,) in traced}
        groups.untraced = [message for number, message in groups.messages.items() if number not in numbers]
    return groups


def is_not_earlier(sent_at: object, created_at: object) -> bool:
    """Compare two moments of one platform's clock: steps, or dates as text; False where they are of different kinds."""
    if isinstance(sent_at, int | float) and isinstance(created_at, int | float):
        return sent_at >= created_at
    return isinstance(sent_at, str) and isinstance(created_at, str) and sent_at >= created_at


def remember_shown(memory: Memory, user_id: int, info: object, authors: Mapping[int, str], rowid: int) -> None:
    """What others wrote and the agent was shown."""
    newest = memory.newest["shown"]
    if newest.full:
        return
    posts = arguments(info).get("posts")
    for post in posts if isinstance(posts, list) else ():
        if not isinstance(post, dict) or post.get("user_id") == user_id:
            continue
        if entry := shown_entry(post, author_of(post.get("user_id"), authors), float(rowid)):
            newest.add_older(entry)


def author_of(user_id: JsonValue, authors: Mapping[int, str]) -> str:
    return authors.get(user_id, "") if isinstance(user_id, int) else ""


def arguments(info: object) -> Args:
    """A trace row's JSON; empty where it is torn or no object."""
    try:
        value = parse_json(info) if isinstance(info, (str, bytes)) else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Tables:
    """Completes a trace row's ids with what they stand for, in the words of the action log."""

    def __init__(self, connection: sqlite3.Connection, authors: Mapping[int, str]) -> None:
        self.connection = connection
        self.authors = authors
        self.row = lru_cache(maxsize=20_000)(self.fetch)
        self.completions: dict[str, Callable[[Args], Args]] = {
            "create_post": self.created,
            "create_comment": self.commented,
            "quote_post": self.quoted,
            "repost": self.reposted,
            **dict.fromkeys(("like_post", "dislike_post", "report_post"), self.post_named),
            **dict.fromkeys(("like_comment", "dislike_comment"), self.comment_named),
            **dict.fromkeys(("follow", "unfollow"), self.followed),
            **dict.fromkeys(("mute", "unmute"), self.muted),
        }

    def args(self, action: str, info: Args) -> Args:
        complete = self.completions.get(action)
        return {**info, **complete(info)} if complete else info

    def fetch(self, query: str, key: int) -> tuple[object, ...]:
        row: tuple[object, ...] | None = self.connection.execute(query, (key,)).fetchone()
        return row or (None, None, None)

    def find(self, query: str, key: JsonValue) -> tuple[str, int | None, int | None]:
        """(text, user_id, related id) of one row; empty where the id is no usable number."""
        if not isinstance(key, int) or abs(key) >= 2**63:
            return "", None, None
        text, user_id, related = self.row(query, key)
        return (
            text if isinstance(text, str) else "",
            user_id if isinstance(user_id, int) else None,
            related if isinstance(related, int) else None,
        )

    def name(self, user_id: JsonValue) -> str:
        return author_of(user_id, self.authors)

    def post(self, post_id: JsonValue) -> tuple[str, int | None]:
        """Text and author of a post; a repost has no text of its own and shows the original's."""
        text, user_id, original = self.find(POST_SQL, post_id)
        if not text and original is not None:
            text, user_id, _ = self.find(POST_SQL, original)
        return text, user_id

    def created(self, info: Args) -> Args:
        return {} if info.get("content") else {"content": self.post(info.get("post_id"))[0]}

    def commented(self, info: Args) -> Args:
        text, _, parent = self.find(COMMENT_SQL, info.get("comment_id"))
        return {"content": info.get("content") or text, "parent_content": self.post(parent)[0]}

    def quoted(self, info: Args) -> Args:
        words, _, original = self.find(QUOTE, info.get("new_post_id"))
        return {"quote_content": words, "original_content": self.post(original or info.get("quoted_id"))[0]}

    def reposted(self, info: Args) -> Args:
        return {"original_content": self.post(info.get("reposted_id"))[0]}

    def post_named(self, info: Args) -> Args:
        text, user_id = self.post(info.get("post_id"))
        return {"post_content": text, "post_author_name": self.name(user_id)}

    def comment_named(self, info: Args) -> Args:
        text, user_id, _ = self.find(COMMENT_SQL, info.get("comment_id"))
        return {"comment_content": text, "comment_author_name": self.name(user_id)}

    def followed(self, info: Args) -> Args:
        followee = self.find(FOLLOW, info.get("follow_id"))[1]
        return {"target_user_name": self.name(info.get("followee_id") if followee is None else followee)}

    def muted(self, info: Args) -> Args:
        return {"target_user_name": self.name(info.get("mutee_id"))}


# A quoting post shows its author's words; its content column repeats the quoted post.
POST_SQL = "SELECT COALESCE(NULLIF(quote_content, ''), content), user_id, original_post_id FROM post WHERE post_id = ?"
QUOTE = "SELECT quote_content, user_id, original_post_id FROM post WHERE post_id = ?"
COMMENT_SQL = "SELECT content, user_id, post_id FROM comment WHERE comment_id = ?"
FOLLOW = "SELECT NULL, followee_id, NULL FROM follow WHERE follow_id = ?"


Source = Literal["database", "log", "none"]


@dataclass
class Experience:
    """One platform's record: memories by participant id.

    `withheld`: participants whose entries cannot be told from another's. `exposure`: whether it is recorded what
    agents were shown (only databases do). `length`: rows or lines, to compare places across platforms.
    """

    platform: Platform
    source: Source = "none"
    memories: dict[str, Memory] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    exposure: bool = False
    length: int = 1


def read_experience(population: Population, budget: int) -> tuple[list[Experience], list[Issue]]:
    """The platforms' records, about `budget` characters per agent, platform and kind.

    Damaged files never raise: a database that cannot be read gives way to the log, and an unreadable log to nothing
    (source "none"), each with an Issue.
    """
    issues: list[Issue] = []
    experiences: list[Experience] = []
    if not population.seats:  # of a million personas not even their names
        return experiences, issues
    names = {who.id: who.name for who in (*population.participants, *population.left_out)}
    for platform in PLATFORMS:
        seats = [seat for seat in population.seats if seat.platform == platform]
        if seats:
            actions = from_database(population.path, platform, seats, names, budget, issues)
            experiences.append(actions or from_log(population.path, platform, seats, budget, issues))
    return experiences, issues


def from_database(
    folder: Path,
    platform: Platform,
    seats: Sequence[PlatformAccount],
    names: dict[str, str],
    budget: int,
    issues: list[Issue],
) -> Experience | None:
    path = database_path(folder, platform)
    if not path.exists():
        return None
    try:
        with opened(path) as connection:
            owners, withheld, accounts = owners_of(connection, path.name, seats)
            trace = read_trace(connection, owners, names, budget)
    except (sqlite3.Error, OSError) as error:
        why = one_line(str(getattr(error, "strerror", None) or error))
        problem = f"cannot be read as an OASIS database ({why}); the action log is used instead"
        issues.append(Issue("warning", path.name, problem))
        return None
    issues.extend(accounts)
    return Experience(platform, "database", trace.memories, withheld, trace.exposure, trace.length)


def from_log(
    folder: Path, platform: Platform, seats: Sequence[PlatformAccount], budget: int, issues: list[Issue]
) -> Experience:
    path = log_path(folder, platform)
    if not path.exists():
        return Experience(platform)
    lines, owners = LogLines(path), LogOwners(seats)
    memories: dict[str, Memory] = {}
    try:
        understood = read_lines(lines, owners, memories, budget)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error}): no memory from it"
        issues.append(Issue("warning", f"{platform}/{path.name}", problem))
        return Experience(platform)
    issues.extend(line_issues(f"{platform}/{path.name}", lines, understood))
    issues.extend(withheld_issue(f"{platform}/{path.name}", owners.withheld))
    source: Source = "log" if understood or not lines.broken else "none"
    return Experience(platform, source, memories, owners.withheld, length=max(lines.lines, 1))


def read_lines(lines: LogLines, owners: LogOwners, memories: dict[str, Memory], budget: int) -> int:
    """Fills `memories`, oldest first. Returns the number of lines understood; failed actions are no experience."""
    understood = 0
    for number, line in lines:
        understood += 1
        args = line.get("action_args")
        if not is_action(line) or line.get("success") is False or not isinstance(args, dict):
            continue
        owner = owners.owner(line)
        told = interpret(clean(line.get("action_type")), args, float(number)) if owner else None
        if owner and told:
            memory = memories.setdefault(owner, Memory(budget))
            memory.newest[told[0]].add_newer(told[1])
    return understood


def line_issues(file: str, lines: LogLines, understood: int) -> list[Issue]:
    issues = []
    if lines.torn:
        issues.append(Issue("warning", file, f"line {lines.lines} is torn, as after a kill, and is left out"))
    if lines.broken:
        numbers = ", ".join(map(str, lines.broken[:5]))
        rest = "" if understood else "; nothing in it can be read"
        message = f"{len(lines.broken)} lines are no JSON objects and are left out: line {numbers}{rest}"
        issues.append(Issue("warning", file, message))
    return issues
