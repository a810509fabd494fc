"""The agents that a simulation left behind, or the personas of a file, as participants.

The sampling frame of a large personas file: everybody who can be asked, one row each, in a database of its own.

It is a temporary one, which SQLite keeps in a file (in SQLITE_TMPDIR or TMPDIR) and removes with the process; in memory
are a few pages. Rows are written as they are read, and looked at again by place or by id.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import sqlite3
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from sys import intern
from threading import RLock
from types import MappingProxyType
from typing import Any, Literal

from pydantic import JsonValue

from enquete.instruments.expressions import ColumnText, ExpressionError, expression
from enquete.instruments.text import fold, suggestion
from enquete.simulations.action_log import PLATFORMS, database_path, summarise_logs
from enquete.simulations.agents import (
    BIOS,
    CONFIG,
    FACTS,
    PERSONAS,
    REDDIT,
    TWITTER,
    Agent,
    AgentRecord,
    agent_configs,
    from_database,
    reconcile,
    stream_profiles,
    try_object,
    try_profiles,
)
from enquete.simulations.locate import (
    NO_SIMULATION,
    SimulationProgress,
    completion_from,
    count_from,
    is_simulation,
    personas_files,
)
from enquete.simulations.people_columns import Column, MissingCodes, read_column, read_missing_codes
from enquete.simulations.rows import Spellings, find_persona_column
from enquete.simulations.sources import Issue, clean, clip, one_line, refuse_errors
from enquete.state.asking import FEW, PAGE, PagedPeople, Participant
from enquete.state.errors import PopulationMismatch, SettingsError, SimulationError
from enquete.state.numbers import DecimalMark

# --- The sampling frame of a large file ------------------------------------------------------------------------------

MOST_ERRORS = 1000
"""Errors of rows, after which no more are read."""
AT_ONCE = 1000
_TABLE = """
CREATE TABLE people(place INTEGER PRIMARY KEY, id TEXT, given INTEGER, called TEXT, name TEXT, at TEXT, type TEXT,
  persona TEXT, agent_id INTEGER, facts TEXT, columns TEXT, prose INTEGER)
"""
_ADD = "INSERT INTO people VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"
_PEOPLE = "SELECT id, agent_id, name, type, persona FROM people"
_DROP_TWINS = """
DELETE FROM people WHERE place NOT IN (SELECT min(place) FROM people GROUP BY id);
CREATE TEMP TABLE places AS SELECT place AS old, row_number() OVER (ORDER BY place) - 1 AS new FROM people;
UPDATE people SET place = -1 - new FROM places WHERE old = place;
UPDATE people SET place = -1 - place;
DROP TABLE places;
"""
"""Of rows with one id the first stays; places are counted anew, without gaps."""

Usable = Callable[[AgentRecord, list[Issue]], bool]


class SamplingFrame:
    """`people` are all of them; `facts` and `columns` what else is known of each, by id; `issues` what was wrong."""

    def __init__(
        self,
        records: Iterable[AgentRecord],
        usable: Usable,
        key_of: Callable[[AgentRecord], str],
        participant_of: Callable[[AgentRecord, str], Participant],
        *,
        skip_non_people: bool = False,
    ) -> None:
        """Reads all records. `usable` adds to the issues what is wrong with one that it refuses.

        `skip_non_people`: duplicates are left out; else they are errors.
        """
        self._skip_non_people = skip_non_people
        self._spellings = Spellings()
        self.rows_left_out = 0
        self.issues: list[Issue] = []
        self.column_names: dict[str, None] = {}
        self._key_of, self._participant_of = key_of, participant_of
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._lock = RLock()
        self._page: tuple[int, dict[str, tuple[str, str]]] = -1, {}  # facts and columns of the page last read
        self._database.execute("PRAGMA journal_mode=OFF")
        self._database.execute(_TABLE)
        self._fill(records, usable)
        self._file = self._value("SELECT at FROM people ORDER BY place LIMIT 1").partition(", ")[0] if len(self) else ""
        self._database.execute("CREATE INDEX by_id ON people(id)")
        self._look_for_twins()
        self._look_for_gaps()
        self.people = self.among(None)

    def __len__(self) -> int:
        return int(self._value("SELECT count(*) FROM people"))

    def _fill(self, records: Iterable[AgentRecord], usable: Usable) -> None:
        rows = self._rows_of(records, usable)
        while some := list(islice(rows, AT_ONCE)):
            self._database.execute("BEGIN")
            self._database.executemany(_ADD, some)
            self._database.execute("COMMIT")

    def _rows_of(self, records: Iterable[AgentRecord], usable: Usable) -> Iterator[tuple[Any, ...]]:
        place = 0
        for record in records:
            if not usable(record, self.issues):
                self.rows_left_out += self._skip_non_people and bool(record.no_person)
                if len(self.issues) >= MOST_ERRORS:
                    self.issues.append(Issue("error", record.file, f"{record.where}: nothing after it was read"))
                    return
                continue
            key = self._key_of(record)
            who = self._participant_of(record, key)
            self.column_names.update(dict.fromkeys(record.columns))
            self._spellings.add(record.columns)
            yield (
                place, key, bool(record.id or record.uuid), fold(who.name), who.name, f"{record.file}, {record.where}",
                who.stakeholder_type, who.persona, who.agent_id, json.dumps(dict(record.facts), ensure_ascii=False),
                json.dumps(dict(record.columns), ensure_ascii=False), record.has_prose,
            )  # fmt: skip
            place += 1

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:
        rows = self._all(sql, values)
        return rows[0][0] if rows else None

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            return self._database.execute(sql, values).fetchall()

    # --- what is wrong with rows, seen together -----------------------------------------------------------------------

    def _look_for_twins(self) -> None:
        """An id that was given belongs to one row; equal names with equal personas are duplicates."""
        again = self._all(
            "SELECT p.at, p.id, first.at, first.name FROM people p JOIN (SELECT id, min(place) AS place FROM people "
            "GROUP BY id HAVING count(*) > 1) twin ON twin.id = p.id AND twin.place < p.place JOIN people first "
            f"ON first.place = twin.place WHERE p.given ORDER BY p.place LIMIT {MOST_ERRORS}"
        )
        for at, identity, first, name in again:
            file, _, where = at.partition(", ")
            known = first.removeprefix(f"{file}, ")
            message = f"{where}: id {identity.removeprefix('agent:')!r} is already that of {known} ({name})"
            self.issues.append(Issue("error", file, message))
        twins = self._all(
            "SELECT p.at, first.at, first.name FROM people p JOIN (SELECT id, min(place) AS place FROM people "
            "GROUP BY id HAVING count(*) > 1) twin ON twin.id = p.id AND twin.place < p.place JOIN people first "
            f"ON first.place = twin.place WHERE NOT p.given ORDER BY p.place LIMIT {MOST_ERRORS}"
        )
        if not twins:
            return
        if self._skip_non_people:
            number = self._value("SELECT count(*) - count(DISTINCT id) FROM people")
            self.rows_left_out += number
            self.issues.append(left_out_twins(number, [at for at, _, _ in twins], self._file))
        else:
            for at, first, name in twins:
                file, _, where = at.partition(", ")
                self.issues.append(twin_issue(file, where, first, name))
        self._database.executescript(_DROP_TWINS)

    def _look_for_gaps(self) -> None:
        bare = self._all("SELECT name FROM people WHERE NOT prose ORDER BY place LIMIT 6")
        if bare:
            number = self._value("SELECT count(*) FROM people WHERE NOT prose")
            names = [name for (name,) in bare]
            sample = [(p, json.loads(c)) for p, c in self._all("SELECT persona, columns FROM people LIMIT 100")]
            self.issues.append(
                (number == len(self) and no_persona_column(sample, self._file))
                or without_prose(number, len(self), names, self._file)
            )
        shared, most = self._all(
            "SELECT count(*), coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM people GROUP BY called HAVING n > 1)"
        )[0]
        if shared:
            message = f"{most} agents share {shared} names: told apart by their ids alone"
            self.issues.append(Issue("warning", self._file, message))
        told = {name for name, _ in FACTS}
        unused = [clip(one_line(name), 60) for name in self.column_names if name not in told]
        if unused:
            self.issues.append(unused_columns(unused, self._file))
        self.spellings = self._spellings.notes()
        self.issues += [Issue("info", self._file, note) for note in self.spellings.values()]

    # --- rows, again --------------------------------------------------------------------------------------------------

    def among(self, places: Sequence[int] | None) -> PagedPeople:
        """Those at these places, in their order; None: everybody."""
        if places is None:
            return PagedPeople(len(self), self._between, self._with_id)

        def read(low: int, high: int) -> list[Participant]:
            wanted = json.dumps(list(places[low:high]))
            rows = self._all(f"{_PEOPLE} WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place", (wanted,))
            return [_participant(row) for row in rows]

        return PagedPeople(len(places), read, self._with_id)

    def _between(self, low: int, high: int) -> list[Participant]:
        return [
            _participant(row)
            for row in self._all(f"{_PEOPLE} WHERE place >= ? AND place < ? ORDER BY place", (low, high))
        ]

    def _with_id(self, participant: str) -> Participant | None:
        rows = self._all(f"{_PEOPLE} WHERE id = ?", (participant,))
        return _participant(rows[0]) if rows else None

    def places_of(self, ids: Collection[str]) -> Iterator[tuple[int, bool]]:
        """Every place, and whether whoever has it is among these."""
        return ((place, identity in ids) for place, identity in self._paged("place, id"))

    def _paged(self, columns: str) -> Iterator[Any]:
        for low in range(0, len(self), PAGE):
            page = f"SELECT {columns} FROM people WHERE place >= ? AND place < ? ORDER BY place"
            yield from self._all(page, (low, low + PAGE))

    @property
    def facts(self) -> Mapping[str, Mapping[str, str]]:
        return _ByParticipant(self, 0)

    @property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        return _ByParticipant(self, 1)

    @property
    def incomplete(self) -> frozenset[str]:
        return frozenset(identity for (identity,) in self._all("SELECT id FROM people WHERE NOT prose ORDER BY place"))

    def known_of(self, participant: str) -> tuple[str, str]:
        """Facts and columns, as JSON. Raises KeyError."""
        with self._lock:
            if participant not in self._page[1]:
                place = self._value("SELECT place FROM people WHERE id = ?", (participant,))
                if place is None:
                    raise KeyError(participant)
                low = place // PAGE * PAGE
                query = "SELECT id, facts, columns FROM people WHERE place >= ? AND place < ? ORDER BY place"
                rows = self._all(query, (low, low + PAGE))
                self._page = low, {identity: (facts, columns) for identity, facts, columns in rows}
            return self._page[1][participant]

    def ids(self) -> Iterator[str]:
        return (identity for (identity,) in self._paged("id"))


def _participant(row: Sequence[Any]) -> Participant:
    identity, number, name, kind, persona = row
    return Participant(identity, name, intern(kind), persona, agent_id=number)


class _ByParticipant(Mapping[str, Mapping[str, str]]):
    """Facts or columns by participant id, read as they are asked for."""

    def __init__(self, frame: SamplingFrame, which: int) -> None:
        self._frame, self._which = frame, which

    def __getitem__(self, participant: str) -> Mapping[str, str]:
        facts: dict[str, str] = json.loads(self._frame.known_of(participant)[self._which])
        return facts

    def __iter__(self) -> Iterator[str]:
        return self._frame.ids()

    def __len__(self) -> int:
        return len(self._frame)


def without_prose(number: int, of: int, names: Sequence[str], file: str) -> Issue:
    """Rows with neither bio nor persona: asked from what there is, and told with their number."""
    message = (
        f"{number} of {of} agents have neither bio nor persona and are asked from what else is known of them: "
        f"{', '.join(names[:5])}{' …' if number > 5 else ''}; --skip-incomplete leaves them out"
    )
    return Issue("warning", file, message)


def no_persona_column(sample: Sequence[tuple[str, Mapping[str, str]]], file: str) -> Issue | None:
    """Return the error of a file in which no row has a bio or a persona, where that cannot be meant.

    It can be meant where further columns describe the agents and none of them looks like a persona.

    Args:
        sample: (what is told of an agent, its further columns) of some agents.
        file: the file's name.
    """
    told = {name for name, _ in FACTS}
    others = [{name: text for name, text in columns.items() if name not in told} for _, columns in sample]
    meant = find_persona_column(others)
    wanted = f"call the column of the persona one of {', '.join((*PERSONAS, *BIOS))}"
    if meant:
        return Issue("error", file, f"nobody has a persona; column {meant!r} looks like one: {wanted}")
    if not any(text for text, _ in sample):
        return Issue("error", file, f"nobody has a persona, nor anything else that describes people: {wanted}")
    return None


REMEDY = "remove the row, or leave out rows that are no people: --skip-non-people"
DUPLICATE = "has the same name and persona as"


def twin_issue(file: str, where: str, first: str, name: str) -> Issue:
    """Return the error of a row that stands in the file twice."""
    return Issue("error", file, f"{where}: {DUPLICATE} {first.removeprefix(f'{file}, ')} ({name}); {REMEDY}")


def left_out_twins(number: int, places: Sequence[str], file: str) -> Issue:
    listed = ", ".join(place.removeprefix(f"{file}, ") for place in places[:MOST_WITHOUT])
    more = " …" if number > MOST_WITHOUT else ""
    return Issue("warning", file, f"{number} rows left out that stand in the file already: {listed}{more}")


def unused_columns(names: Sequence[str], file: str) -> Issue:
    """Columns of which interviews make nothing: neither prompts nor groups show them."""
    message = f"columns that no interview uses: {', '.join(names)}; agents.csv has them all"
    return Issue("info", file, message)


# --- Agents and persona rows as participants, and why some of them cannot be -----------------------------------------

UNFIT_FOR_ID = re.compile(r"[\s|/\\\x00-\x1f]")


def usable_agent(agent: Agent, issues: list[Issue]) -> bool:
    """An agent needs a name and a uuid that can stand in keys; one without a persona is interviewed, with a warning."""
    where = f"{agent.profile.where}: "
    if not agent.name:
        issues.append(Issue("error", agent.profile.file, where + "neither name nor username"))
    elif UNFIT_FOR_ID.search(agent.uuid):
        message = f"uuid {clip(agent.uuid, 60)!r} of {agent.name!r} holds spaces, '|' or slashes"
        issues.append(Issue("error", agent.profile.file, where + message))
    else:
        return True
    return False


def gaps(records: Sequence[AgentRecord]) -> list[Issue]:
    """Those with neither bio nor persona."""
    bare = [record.name or record.username for record in records if not record.has_prose]
    return [without_prose(len(bare), len(records), bare, records[0].file)] if bare else []


def namesakes(named: Sequence[tuple[str, AgentRecord]]) -> list[Issue]:
    """Agents of one name: tables and reports cannot tell them apart, and --agents NAME means all of them."""
    by_name: dict[str, list[AgentRecord]] = {}
    for name, record in named:
        by_name.setdefault(fold(name), []).append(record)
    issues = []
    for records in by_name.values():
        if len(records) > 1:
            name, where = records[0].name or records[0].username, ", ".join(record.where for record in records[:5])
            message = f"{len(records)} agents are called {name!r} ({where}): told apart by their ids alone"
            issues.append(Issue("warning", records[0].file, message))
    return issues


def described(record: AgentRecord, kind: str) -> str:
    """The persona; where there is neither bio nor persona, the type and what facts there are."""
    if record.has_prose or kind == "unknown":
        return record.persona
    return " · ".join(part for part in (f"Type: {kind}", record.persona) if part)


def agent_key(agent: Agent) -> str:
    return f"agent:{agent.uuid}" if agent.uuid else name_id(agent.name, agent.profile.persona)


def participant_of(agent: Agent, participant_id: str) -> Participant:
    persona = described(agent.profile, agent.type)
    return Participant(participant_id, agent.name, agent.type, persona, agent_id=agent.profile.index)


def usable_persona(record: AgentRecord, issues: list[Issue], *, skip_non_people: bool = False) -> bool:
    """A row needs a person in it, a name, and an id that can stand in keys."""
    if record.no_person:
        if skip_non_people:
            issues.append(Issue("warning", record.file, f"{record.where} left out: {record.no_person}"))
        else:
            issues.append(Issue("error", record.file, f"{record.where} is no person: {record.no_person}; {REMEDY}"))
        return False
    problems = [record.problem] if record.problem else []
    if not (record.name or record.username) and not record.problem:
        problems.append("field 'name' (or 'realname', 'username') is missing or empty")
    if UNFIT_FOR_ID.search(record.id or record.uuid):
        problems.append(f"field 'id': {clip(record.id or record.uuid, 60)!r} holds spaces, '|' or slashes")
    issues.extend(Issue("error", record.file, f"{record.where}: {problem}") for problem in problems)
    return not problems


def repeated_ids(records: Sequence[AgentRecord]) -> list[Issue]:
    seen: dict[str, AgentRecord] = {}
    issues = []
    for record in records:
        if not (record.id or record.uuid):
            continue
        key = persona_key(record)
        if key in seen:
            first = f"{seen[key].where} ({seen[key].name})"
            message = f"{record.where}: id {record.id or record.uuid!r} is already that of {first}"
            issues.append(Issue("error", record.file, message))
        seen.setdefault(key, record)
    return issues


def persona_key(record: AgentRecord) -> str:
    identity = record.id or record.uuid
    if not identity:
        return name_id(record.name or record.username, record.persona)
    return identity if identity.startswith("agent:") else f"agent:{identity}"


def persona_participant(record: AgentRecord, participant_id: str) -> Participant:
    name, kind = record.name or record.username, record.type or record.profession or "unknown"
    return Participant(participant_id, name, kind, described(record, kind), agent_id=record.index)


def name_id(name: str, persona: str) -> str:
    """A stable id where there is no uuid: readable name and 8 hex digits over name and persona."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40] or "unnamed"
    digest = hashlib.sha256(f"{fold(name)}\n{persona}".encode()).hexdigest()
    return f"agent:name:{slug}-{digest[:8]}"


def unique_ids(keys: Sequence[str], issues: list[Issue]) -> list[str]:
    """Identical name and persona twice: the later ones get -2, -3, ... in file order."""
    taken: dict[str, int] = {}
    ids = []
    for key in keys:
        taken[key] = taken.get(key, 0) + 1
        ids.append(key if taken[key] == 1 else f"{key}-{taken[key]}")
    twins = [key for key, count in taken.items() if count > 1]
    if twins:
        message = f"{len(twins)} agents appear more than once with the same name and persona, e.g. {twins[0]}"
        issues.append(Issue("warning", "", message))
    return ids


GUEST = "expert:"
"""Begins the id of somebody who takes part in interviews, but not in the simulation."""
MOST_POSTS = 200
LONGEST_TOPIC = 4000  # characters; a requirement is a paragraph or two
__all__ = ["Issue", "PlatformAccount", "Population", "load_population"]


@dataclass(frozen=True)
class PlatformAccount:
    """Where a participant sits on a platform. `names` are folded; `certain`: every file agrees on the index."""

    platform: Literal["twitter", "reddit"]
    index: int
    participant: str
    names: frozenset[str]
    username: str
    certain: bool


@dataclass(frozen=True)
class Population:
    """Participants in their stable order, without memory (see digest.py), and what was found wrong while reading."""

    sim_id: str
    path: Path
    kind: Literal["simulation", "personas"]
    participants: Sequence[Participant]
    completion: SimulationProgress
    actions: int
    issues: tuple[Issue, ...]
    topic: str = ""
    seats: tuple[PlatformAccount, ...] = ()
    stances: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # other columns of an agent's rows, by its id
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of a personas file all, for agents.csv
    incomplete: frozenset[str] = frozenset()  # ids of those with neither bio nor persona
    discourse: tuple[str, ...] = ()  # what the simulation was begun with: hot topics, first posts
    left_out: Sequence[Participant] = ()  # those of the simulation that are not to be asked
    rows_left_out: int = 0  # of a personas file: rows that are no people
    spellings: Mapping[str, str] = field(default_factory=dict)  # what is to be said of columns' values, by column
    frame: SamplingFrame | None = field(default=None, repr=False)  # of more than FEW personas: where all of this is

    def require_column(self, name: str) -> str:
        """The name of a column that agents may be compared by, "" for none. Raises SettingsError naming those known."""
        if not name:
            return ""
        known = sorted(self.frame.column_names if self.frame else set(chain.from_iterable(self.columns.values())))
        if name not in known:
            none = "this population has none: they come with a personas file"
            there = f"there are {', '.join(known)}" if known else none
            raise SettingsError(f"by: no persona column {name!r}; {there}")
        return name

    def only(self, ids: Collection[str]) -> Population:
        """Those alone, in the population's order; the others are left out."""
        if self.frame is not None:
            kept_places, gone_places = array("q"), array("q")
            for place, is_kept in self.frame.places_of(ids):
                (kept_places if is_kept else gone_places).append(place)
            return replace(self, participants=self.frame.among(kept_places), left_out=self.frame.among(gone_places))
        gone = tuple(who for who in self.participants if who.id not in ids)
        kept = tuple(who for who in self.participants if who.id in ids)
        return replace(self, participants=kept, left_out=(*self.left_out, *gone))

    def joined_by(self, guests: Sequence[Mapping[str, str]]) -> Population:
        """With others beside its agents: name, persona and type each. They have no part in the simulation, and no
        memory of it."""
        if not guests:
            return self
        added = tuple(
            Participant(name_id(guest["name"], guest.get("persona", "")).replace("agent:name:", GUEST), guest["name"],
                        guest.get("type", "guest"), guest.get("persona", ""))
            for guest in guests
        )  # fmt: skip
        return replace(self, participants=(*self.participants, *added))

    @property
    def has_simulation(self) -> bool:
        return self.kind == "simulation"

    @property
    def hash(self) -> str:
        """Return what says which population this is: those who are asked, with all that their file says of them."""
        return population_hash(self.participants, self.columns)


def load_population(
    path: Path, *, assume_completed: bool = False, strict: bool = True, skip_non_people: bool = False
) -> Population:
    """Read an OASIS simulation folder or a personas file (.json, .jsonl, .csv, .parquet, .toml for a database's table),
    or the personas files of a folder. Of more than FEW personas none is held in memory.

    Raises SimulationError with all errors found, each naming file, row and value. With strict=False errors stay among
    the issues and the agents concerned are left out or left unjoined: for `check`, never for interviewing.
    `skip_non_people`: rows of a personas file that are no people are left out, with a warning each, instead of errors.
    """
    if path.is_dir() and not (personas_files(path) and not is_simulation(path)):
        return load_simulation(path, assume_completed, strict)
    return load_personas(path, strict, skip_non_people=skip_non_people)


def load_simulation(path: Path, assume_completed: bool, strict: bool) -> Population:
    if not is_simulation(path):
        raise SimulationError(f"{path.name}: no simulation folder; {REDDIT} or {TWITTER} is expected in it")
    issues: list[Issue] = []
    config = try_object(path / CONFIG, issues)
    agents = read_agents(path, config, issues)
    ids = unique_ids([agent_key(agent) for agent in agents], issues)
    if strict:
        refuse_errors(issues)
    logs = summarise_logs(path)
    progress = completion_from(path, logs, assume_completed)
    if progress.note:
        issues.append(Issue("warning", "run_state.json", progress.note))
    return Population(
        sim_id=path.resolve().name,
        path=path,
        kind="simulation",
        participants=tuple(map(participant_of, agents, ids)),
        completion=progress,
        actions=count_from(path, logs),
        issues=tuple(issues),
        topic=clip(clean(config.get("simulation_requirement")), LONGEST_TOPIC),
        seats=tuple(seat for agent, identity in zip(agents, ids, strict=True) for seat in seats_of(agent, identity)),
        stances={i: agent.config.stance for agent, i in zip(agents, ids, strict=True) if agent.config},
        discourse=begun_with(config),
        facts={i: agent.facts for agent, i in zip(agents, ids, strict=True)},
        incomplete=frozenset(i for agent, i in zip(agents, ids, strict=True) if not agent.profile.has_prose),
    )


def begun_with(config: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Hot topics and first posts of a configuration, in as far as it has them."""
    events = config.get("event_config")
    if not isinstance(events, dict):
        return ()
    posts, topics = events.get("initial_posts"), clean(events.get("hot_topics"))
    texts = [clean(post.get("content")) for post in posts if isinstance(post, dict)] if isinstance(posts, list) else []
    return tuple(clip(text, LONGEST_TOPIC) for text in (topics, *texts[:MOST_POSTS]) if text)


def read_agents(path: Path, config: Mapping[str, JsonValue], issues: list[Issue]) -> list[Agent]:
    """The agents that can be interviewed, joined over the folder's files."""
    configs = agent_configs(config, CONFIG, issues)
    reddit, twitter = try_profiles(path / REDDIT, issues), try_profiles(path / TWITTER, issues)
    if not any((path / file).exists() for file in (REDDIT, TWITTER)):
        reddit, twitter = (from_database(database_path(path, platform), issues) for platform in ("reddit", "twitter"))
        held = ", ".join(sorted({record.file for record in (*reddit, *twitter)}))
        issues.extend([Issue("info", held, "no profiles: agents are its users, with their bios")] if held else [])
    agents, disagreements = reconcile(reddit, twitter, configs)
    issues.extend(disagreements)
    nameless = sum(not agent.uuid for agent in agents)
    if nameless and not (path / CONFIG).exists():
        why = "agents have no entity uuid, their ids come from name and persona"
        message = f"missing: {nameless} of {len(agents)} {why}"
        issues.append(Issue("warning", CONFIG, message))
    if not agents:
        issues.append(Issue("error", REDDIT, f"no agents found in {REDDIT} or {TWITTER}"))
    usable = [agent for agent in agents if usable_agent(agent, issues)]
    issues += gaps([agent.profile for agent in usable])
    issues += namesakes([(agent.name, agent.profile) for agent in usable])
    return usable


def seats_of(agent: Agent, participant_id: str) -> list[PlatformAccount]:
    names = {fold(record.name) for record in agent.sources()} | {fold(r.username) for r in agent.platforms.values()}
    known = frozenset(names - {""})
    return [
        PlatformAccount(platform, record.index, participant_id, known, fold(record.username), agent.aligned)
        for platform in PLATFORMS
        if (record := agent.platforms.get(platform))
    ]


def load_personas(path: Path, strict: bool, *, skip_non_people: bool = False) -> Population:
    issues: list[Issue] = []
    streamed = stream_profiles(path, personas_files(path) if path.is_dir() else ())
    records = list(islice(streamed, FEW + 1))
    if len(records) > FEW:
        return load_frame(path, chain(records, streamed), strict, skip_non_people=skip_non_people)
    usable = [record for record in records if usable_persona(record, issues, skip_non_people=skip_non_people)]
    issues.extend(repeated_ids(usable))
    usable = _without_twins(usable, issues, skip_non_people=skip_non_people)
    issues.extend((*_persona_gaps(usable), *namesakes([(r.name or r.username, r) for r in usable])))
    if not records:
        issues.append(Issue("error", path.name, "no personas in it"))
    told = {name for name, _ in FACTS}
    unused = list(dict.fromkeys(name for record in usable for name in record.columns if name not in told))
    if unused:
        issues.append(unused_columns([clip(one_line(name), 60) for name in unused], usable[0].file))
    spellings = Spellings()
    for record in usable:
        spellings.add(record.columns)
    notes = spellings.notes()
    issues.extend(Issue("info", path.name, note) for note in notes.values())
    if strict:
        refuse_errors(issues)
    ids = unique_ids([persona_key(record) for record in usable], issues)
    return Population(
        rows_left_out=len(records) - len(usable) if skip_non_people else 0,
        spellings=notes,
        sim_id=path.stem,
        path=path,
        kind="personas",
        participants=tuple(map(persona_participant, usable, ids)),
        completion=NO_SIMULATION,
        actions=0,
        issues=tuple(issues),
        facts={i: record.facts for record, i in zip(usable, ids, strict=True)},
        columns={i: record.columns for record, i in zip(usable, ids, strict=True)},
        incomplete=frozenset(i for record, i in zip(usable, ids, strict=True) if not record.has_prose),
    )


def _without_twins(records: Sequence[AgentRecord], issues: list[Issue], *, skip_non_people: bool) -> list[AgentRecord]:
    """Return the records without those of the same name and persona; unless they are to be skipped, each is an error.

    A given id tells two rows apart, whatever else they have in common.
    """
    first: dict[str, AgentRecord] = {}
    kept, twins = [], []
    for record in records:
        key = persona_key(record)
        if key in first and not (record.id or record.uuid):
            twins.append((record, first[key]))
            continue
        first.setdefault(key, record)
        kept.append(record)
    if twins and skip_non_people:
        issues.append(left_out_twins(len(twins), [twin.where for twin, _ in twins], twins[0][0].file))
    elif twins:
        issues.extend(twin_issue(twin.file, twin.where, known.where, known.name) for twin, known in twins)
    return kept


def _persona_gaps(records: Sequence[AgentRecord]) -> list[Issue]:
    """Say who has neither bio nor persona; nobody having one is an error unless other columns describe people."""
    if records and not any(record.has_prose for record in records):
        error = no_persona_column([(record.persona, record.columns) for record in records], records[0].file)
        if error:
            return [error]
    return gaps(records)


def load_frame(path: Path, records: Iterable[AgentRecord], strict: bool, *, skip_non_people: bool) -> Population:
    """Many personas: read once, and from then on where they are kept."""
    usable = partial(usable_persona, skip_non_people=skip_non_people)
    frame = SamplingFrame(records, usable, persona_key, persona_participant, skip_non_people=skip_non_people)
    if strict:
        refuse_errors(frame.issues)
    return Population(
        sim_id=path.stem,
        path=path,
        kind="personas",
        participants=frame.people,
        completion=NO_SIMULATION,
        actions=0,
        issues=tuple(frame.issues),
        facts=frame.facts,
        columns=frame.columns,
        incomplete=frame.incomplete,
        frame=frame,
        spellings=frame.spellings,
        rows_left_out=frame.rows_left_out,
    )


# --- Who of a population is asked: by name, by stakeholder type, by a condition, only those with a persona.


def among(
    population: Population,
    agents: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    where: str = "",
    *,
    complete: bool = False,
    missing_codes: Sequence[str] = (),
    decimal_mark: DecimalMark | None = None,
) -> Population:
    """The population with only those whom all of these leave, in its own order; `complete`: with a bio or persona.

    `missing_codes`, `decimal_mark`: how columns that a condition compares with numbers are to be read. Whom a
    comparison could not use is said among the issues. Raises SettingsError for a name, type or field that it has not,
    for a column that is no column of numbers, and where nobody is left.
    """
    missing = read_missing_codes(missing_codes)
    if not (agents or types or where or complete):
        return population
    kept: Collection[str] = {who.id for who in population.participants}
    if agents:
        kept = _named(population, agents)
    if types:
        kept = _of_types(population, types).intersection(kept)
    if where:
        condition = _Condition(population, where, missing, decimal_mark)
        population = replace(population, issues=(*population.issues, *condition.unusable(kept)))
        kept = {who.id for who in population.participants if who.id in kept and condition.holds(who)}
    if complete:
        kept = {who for who in kept if who not in population.incomplete}
    if population.participants and not kept:
        raise SettingsError(f"{population.sim_id}: nobody is left to ask")
    return population.only(kept)


def _named(population: Population, names: Sequence[str]) -> set[str]:
    wanted = {key for name in names for key in (name, fold(name))}
    kept: set[str] = set()
    there: set[str] = set()
    for who in population.participants:
        known = {who.id, fold(who.name)} & wanted
        if known:
            kept.add(who.id)
            there |= known
    for name in names:
        if not {name, fold(name)} & there:
            near = difflib.get_close_matches(name, [who.name for who in population.participants], n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"agents: {name!r} is no agent of {population.sim_id}{meant}")
    return kept


def _of_types(population: Population, types: Sequence[str]) -> set[str]:
    there = Counter(who.stakeholder_type for who in population.participants)
    known = {fold(kind): kind for kind in there}
    for kind in types:
        if fold(kind) not in known:
            listed = ", ".join(f"{name} ({n})" for name, n in there.most_common(20))
            raise SettingsError(f"types: {kind!r} is no stakeholder type of {population.sim_id}; there are {listed}")
    wanted = {fold(kind) for kind in types}
    return {who.id for who in population.participants if fold(who.stakeholder_type) in wanted}


class _Condition:
    """A condition on what is known of agents; the columns that it compares with numbers are read as a whole."""

    def __init__(self, population: Population, text: str, missing: MissingCodes, mark: DecimalMark | None) -> None:
        """Raises SettingsError, also for a field that no agent has and for a column that cannot be compared."""
        self._population = population
        try:
            self._expression = expression(text)
        except ExpressionError as error:
            raise SettingsError(f"where: {error}") from None
        known = sorted({name for who in population.participants for name in _facts(population, who) if "." not in name})
        for name in sorted({".".join(path) for path in self._expression.names} - set(known)):
            raise SettingsError(f"where: {name!r} is known of no agent here{suggestion(name, known)}")
        missing.require_known(known)
        self._missing = missing
        ordered = self._expression.fields_compared_with_numbers(in_order=True)
        self._columns: list[Column] = []
        for name in sorted(self._expression.fields_compared_with_numbers(in_order=False)):
            column = self._read(name, mark)
            if column.is_numeric:
                self._columns.append(column)
            elif name in ordered:
                raise SettingsError(
                    f"where: column {name!r} is text, so that < and > mean nothing: {column.why_text}; declare what "
                    f"says “not known”: --missing-codes {name}=…"
                )

    def _read(self, name: str, mark: DecimalMark | None) -> Column:
        people = self._population.participants
        values = ((who.name, _facts(self._population, who).get(name, "")) for who in people)
        try:
            return read_column(name, values, self._missing, mark)
        except SettingsError as error:
            raise SettingsError(f"where: {error}") from None

    def holds(self, who: Participant) -> bool:
        facts: dict[str, str] = _facts(self._population, who)
        for column in self._columns:
            facts[column.name] = self._value(facts, column)
        return self._expression.holds(facts)

    def _value(self, facts: Mapping[str, str], column: Column) -> ColumnText:
        text = facts.get(column.name, "")
        said = "" if self._missing.includes(column.name, text) else text
        return ColumnText(said, column.number(said))

    def unusable(self, among: Collection[str]) -> list[Issue]:
        """Say of whom a compared column holds no number."""
        issues = []
        for column in self._columns:
            people = (who for who in self._population.participants if who.id in among)
            without = [who.name for who in people if self._value(_facts(self._population, who), column).number is None]
            if without:
                named = f"{', '.join(without[:MOST_WITHOUT])}{' …' if len(without) > MOST_WITHOUT else ''}"
                message = f"{column.name!r} is not known of {len(without)} of {len(among)} agents"
                issues.append(Issue("warning", "where", f"{message}, whom no comparison fits: {named}"))
        return issues


MOST_WITHOUT = 20
"""Names in the sentence on those of whom a compared column says nothing."""


def _facts(population: Population, who: Participant) -> dict[str, str]:
    """What the files say of an agent, by column; and what Enquete calls it."""
    fixed = {"id": who.id, "name": who.name, "stakeholder_type": who.stakeholder_type, "type": who.stakeholder_type}
    more = {"persona": who.persona, "agent_id": "" if who.agent_id is None else str(who.agent_id)}
    stance = population.stances.get(who.id, "")
    return {**population.facts.get(who.id, {}), **({"stance": stance} if stance else {}), **fixed, **more}


# --- Joining T1's agents to T0's, and the hashes that say whether a population is still the same.


@dataclass(frozen=True)
class Join:
    """How two populations correspond, by participant id.

    matched: (baseline id, current id); changed: those of them whose persona differs, by current id;
    renamed: (id, name at baseline, name now) of matched ids whose name differs: most likely another agent.
    """

    matched: tuple[tuple[str, str], ...]
    lost: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    renamed: tuple[tuple[str, str, str], ...]


def persona_hash(participant: Participant) -> str:
    """SHA-256 (hex) over name and persona: what makes an agent that agent where no uuid does."""
    return hashlib.sha256(as_json([participant.name, participant.persona])).hexdigest()


Covariates = Mapping[str, Mapping[str, Any]]
"""What a personas file says of its people beyond who they are, by participant id."""


def participant_digest(who: Participant, covariates: Mapping[str, Any] | None) -> bytes:
    """Return the SHA-256 of everything that a population file says of somebody; memory is no part of it."""
    known = sorted((covariates or {}).items())
    return hashlib.sha256(as_json([who.id, who.name, who.stakeholder_type, who.persona, known])).digest()


def population_hash(participants: Iterable[Participant], covariates: Covariates = MappingProxyType({})) -> str:
    """Return 64 hex digits that say who a population is: its people with all that their file says of them.

    The sum, modulo 2**256, of the participants' digests: a file that was only sorted anew holds the same people.
    """
    total, number = 0, 0
    for who in participants:
        total += int.from_bytes(participant_digest(who, covariates.get(who.id)), "big")
        number += 1
    return hashlib.sha256(as_json([number, total % 2**256])).hexdigest()


MAX_CHANGED_NAMED = 5


@dataclass(frozen=True)
class PopulationChange:
    """Who differs between two populations, by name in their order."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]

    def __str__(self) -> str:
        groups = (("added", self.added), ("removed", self.removed), ("edited", self.edited))
        return ", ".join(f"{len(names)} {word}{_some_names(names)}" for word, names in groups)


def _some_names(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = ", …" if len(names) > MAX_CHANGED_NAMED else ""
    return f" ({', '.join(clip(one_line(name), 60) for name in names[:MAX_CHANGED_NAMED])}{more})"


def compare_populations(
    before: Iterable[tuple[Participant, Mapping[str, Any] | None]],
    now: Iterable[tuple[Participant, Mapping[str, Any] | None]],
) -> PopulationChange:
    """Say who was added, removed and edited, by id; where ids come from the persona itself, by a name that occurs once.

    Args:
        before, now: participants, and what their file says of them beyond who they are.
    """
    former = {who.id: (who.name, participant_digest(who, known)) for who, known in before}
    added: dict[str, str] = {}
    edited: list[str] = []
    kept: set[str] = set()
    for who, known in now:
        if who.id not in former:
            added[who.id] = who.name
            continue
        kept.add(who.id)
        if participant_digest(who, known) != former[who.id][1]:
            edited.append(who.name)
    removed = {identity: name for identity, (name, _) in former.items() if identity not in kept}

    gone, come = Counter(map(fold, removed.values())), Counter(map(fold, added.values()))
    same = {name for name, times in come.items() if times == 1 and gone[name] == 1}
    edited += [name for name in added.values() if fold(name) in same]
    return PopulationChange(
        added=tuple(name for name in added.values() if fold(name) not in same),
        removed=tuple(name for name in removed.values() if fold(name) not in same),
        edited=tuple(edited),
    )


def as_json(value: Sequence[object]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def join(baseline: Sequence[Participant], current: Sequence[Participant]) -> Join:
    """Match by id (the entity's uuid), then what is left by name and persona hash where unique on both sides."""
    before, after = {p.id: p for p in baseline}, {p.id: p for p in current}
    partner = {identity: identity for identity in before if identity in after}
    lost = [p for p in baseline if p.id not in after]
    new = unique_hashes([p for p in current if p.id not in before])
    for persona, participant_id in unique_hashes(lost).items():
        if persona in new:
            partner[participant_id] = new[persona]
    matched = tuple((p.id, partner[p.id]) for p in before.values() if p.id in partner)
    taken = {now for _, now in matched}
    return Join(
        matched=matched,
        lost=tuple(identity for identity in before if identity not in partner),
        new=tuple(identity for identity in after if identity not in taken),
        changed=tuple(now for then, now in matched if persona_hash(before[then]) != persona_hash(after[now])),
        renamed=tuple(
            (now, before[then].name, after[now].name)
            for then, now in matched
            if fold(before[then].name) != fold(after[now].name)
        ),
    )


def unique_hashes(participants: Sequence[Participant]) -> dict[str, str]:
    """Participant id by persona hash, of hashes that occur once: twins cannot be told apart."""
    hashes = [(persona_hash(p), p.id) for p in participants]
    counts = Counter(value for value, _ in hashes)
    return {value: participant_id for value, participant_id in hashes if counts[value] == 1}


def require_joinable(result: Join) -> None:
    """Raise PopulationMismatch if nothing matches, or if a matched uuid now carries another name (the wrong agent)."""
    if not result.matched:
        problem = f"none of the {len(result.lost)} agents at T0 is among the {len(result.new)} at T1"
        fact = f"{problem}. T1 has to read the simulation that T0 was taken from"
        raise PopulationMismatch(f"{fact}; with new=True a new baseline is taken", fact=fact)
    if result.renamed:
        shown = "; ".join(f"{identity} was {then!r}, is {now!r}" for identity, then, now in result.renamed[:5])
        problem = f"{len(result.renamed)} agents carry another name than at T0: {shown}"
        remedy = "Check the order of agents in simulation_config.json and the profile files"
        raise PopulationMismatch(f"{problem}. {remedy}")
