"""The agents of a simulation, from the records that its files hold."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from pydantic import JsonValue

from enquete.instruments.text import fold
from enquete.simulations.action_log import opened
from enquete.simulations.rows import is_import_row, why_no_person, why_persona_is_no_text
from enquete.simulations.sources import (
    NAMES,
    USERNAMES,
    Issue,
    Row,
    clean,
    clean_number,
    clip,
    first,
    one_line,
    read_object,
    read_rows,
    stream_rows,
    whole,
)
from enquete.state.errors import SimulationError
from enquete.state.numbers import has_two_meanings

# --- One agent as one file describes it: a profile row, a persona row or an agent_configs entry.

UUIDS = ("source_entity_uuid", "entity_uuid", "uuid")
TYPES = ("stakeholder_type", "entity_type", "type", "typ", "source_entity_type")
BIOS = ("bio", "description", "beschreibung")
IDS, INDEX = ("id", "participant_id"), "user_id"
PERSONAS = ("persona", "user_char", "user_profile")
_TEXTS = {*NAMES, *USERNAMES, *UUIDS, *BIOS, *PERSONAS}
LONGEST_NAME = 200
"""Characters. A name stands in every row, figure and sentence; one of a megabyte is an accident or an attack."""
FACTS = (
    ("age", "Age"),
    ("gender", "Gender"),
    ("mbti", "MBTI"),
    ("country", "Country"),
    ("profession", "Profession"),
    ("interested_topics", "Interests"),
)


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """`index` is what OASIS counts agents by: the row's position, or an entry's agent_id in the configuration."""

    file: str
    where: str
    index: int
    name: str
    username: str = ""
    uuid: str = ""
    type: str = ""
    persona: str = ""
    profession: str = ""
    stance: str = ""
    user_id: int | None = None
    id: str = ""
    has_prose: bool = True
    """Whether there is a bio or a persona."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Its other columns, in small letters, as far as a condition can name them."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """All of them but those that say who it is, by name, in small letters."""
    no_person: str = ""
    """Why the row is no person, such as one of totals."""
    problem: str = ""
    """What is wrong with a field that should be a text."""


def record_of(file: str, index: int, row: Row) -> AgentRecord:
    fields = row.fields
    prose = first(fields, PERSONAS) or first(fields, BIOS)
    return AgentRecord(
        file=file,
        where=row.where,
        index=index,
        name=clip(one_line(first(fields, NAMES)), LONGEST_NAME),
        username=clip(one_line(first(fields, USERNAMES)), LONGEST_NAME),
        uuid=clip(first(fields, UUIDS), LONGEST_NAME),
        type=clip(one_line(first(fields, TYPES)), 80),
        persona=persona_text(fields),
        profession=clip(one_line(clean(fields.get("profession"))), 80),
        stance=clip(one_line(clean(fields.get("stance"))), LONGEST_NAME),
        user_id=whole(fields.get(INDEX)),
        id=clip(first(fields, IDS), LONGEST_NAME),
        has_prose=bool(first(fields, BIOS) or first(fields, PERSONAS)),
        facts=plain_facts(fields),
        columns=own_columns(fields),
        no_person=why_no_person(fields, first(fields, NAMES) or first(fields, USERNAMES), prose),
        problem=why_persona_is_no_text(fields, PERSONAS),
    )


def plain_facts(fields: Mapping[str, JsonValue]) -> dict[str, str]:
    """Columns whose name can stand in a condition and that hold something short, as descriptions of agents do not."""
    named = {name: value for name, value in fields.items() if name.isidentifier() and name not in _TEXTS}
    facts = {name: _clear_number(value) or interests(value) for name, value in named.items()}
    return {name: one_line(text) for name, text in facts.items() if text and len(text) <= LONGEST_NAME}


def _clear_number(value: JsonValue) -> str:
    """Return a number that its file holds as one, in a form that nobody can take for thousands: 1.125 as 1.1250."""
    text = clean_number(value) if isinstance(value, float) else ""
    return f"{text}0" if has_two_meanings(text) else text


def own_columns(fields: Mapping[str, JsonValue]) -> dict[str, str]:
    """What describes it beyond name, id, type and prose: of columns that mean the same the first that says something
    counts as such, and the others are its own."""
    groups = (NAMES, USERNAMES, UUIDS, TYPES, BIOS, PERSONAS, IDS)
    known = {next((name for name in group if clean(fields.get(name))), "") for group in groups}
    facts = {name: _as_text(value) for name, value in fields.items() if name and name not in (*known, INDEX)}
    return {name: text for name, text in facts.items() if text}


def _as_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | dict) else clean(value)


def persona_text(fields: Mapping[str, JsonValue]) -> str:
    """Bio, persona and a line of facts. Labels stay English in every language: the text is hashed for T0 and T1."""
    bio, persona = first(fields, BIOS), first(fields, PERSONAS)
    prose = [persona] if one_line(bio) in one_line(persona) else [bio, persona]
    return "\n\n".join(part for part in (*prose, facts_line(fields)) if part)


def facts_line(fields: Mapping[str, JsonValue]) -> str:
    """Age, country and the like. The simulator writes 30 / other / any type for institutions: this says nothing."""
    institution = whole(fields.get("age")) == 30 and clean(fields.get("gender")).casefold() == "other"
    left_out = ("age", "gender", "mbti") if institution else ()
    facts = [(label, one_line(interests(fields.get(key)))) for key, label in FACTS if key not in left_out]
    return " · ".join(f"{label}: {text}" for label, text in facts if text)


def interests(value: JsonValue) -> str:
    """A fact as text; lists that a CSV holds as "['A', 'B']" lose their brackets."""
    text = clean(value)
    if text.startswith("[") and text.endswith("]"):
        return ", ".join(part.strip().strip("'\"") for part in text[1:-1].split(","))
    return text


def read_profiles(path: Path) -> list[AgentRecord]:
    """The rows of a profiles or personas file; `index` is the position, as OASIS builds its agents."""
    return [record_of(path.name, position, row) for position, row in enumerate(read_rows(path))]


def stream_profiles(path: Path, files: Sequence[Path] = ()) -> Iterator[AgentRecord]:
    """The rows of a personas file, or of the files of its folder, one after another; `index` counts over them all."""
    position = 0
    for file in files or (path,):
        rows = stream_rows(file)
        head = list(islice(rows, 2))
        for place, row in enumerate(chain(head, rows)):
            record = record_of(file.name, position, row)
            # Qualtrics writes the question texts into the row before that of its ids.
            if place == 0 and len(head) == 2 and is_import_row(head[1].fields):
                record = replace(record, no_person="a header row of Qualtrics (question texts)")
            yield record
            position += 1


def try_profiles(path: Path, issues: list[Issue]) -> list[AgentRecord]:
    """As read_profiles; a missing file is empty, an unreadable one is an error among `issues`."""
    if not path.exists():
        return []
    try:
        records = read_profiles(path)
    except SimulationError as error:
        issues.append(Issue("error", path.name, without_file(path, error)))
        return []
    issues.extend(user_id_issues(records))
    return records


def from_database(path: Path, issues: list[Issue]) -> list[AgentRecord]:
    """The users of an OASIS database, for a folder without profiles; an unreadable one is an error among `issues`."""
    if not path.is_file():
        return []
    try:
        with opened(path) as connection:
            users = "SELECT user_id, agent_id, user_name, name, bio FROM user ORDER BY rowid"
            rows = connection.execute(users).fetchall()
    except (sqlite3.Error, OSError) as error:
        issues.append(Issue("error", path.name, f"cannot be read as an OASIS database ({one_line(str(error))})"))
        return []
    return [
        record_of(
            path.name,
            agent_id if isinstance(agent_id, int) and agent_id >= 0 else place,
            Row(f"user {user_id}", {"name": user_name or name, "username": name or user_name, "bio": bio}),
        )
        for place, (user_id, agent_id, user_name, name, bio) in enumerate(rows)
    ]


def user_id_issues(records: Sequence[AgentRecord]) -> list[Issue]:
    """OASIS numbers agents by position whatever user_id says, so a gap in user_id is the trace of an omitted entity."""
    off = [record for record in records if record.user_id is not None and record.user_id != record.index]
    if not off:
        return []
    example = f"{off[0].where} ({off[0].name}) is row {off[0].index} but says user_id {off[0].user_id}"
    return [Issue("warning", off[0].file, f"user_id differs from the row's position in {len(off)} rows: {example}")]


def try_object(path: Path, issues: list[Issue]) -> dict[str, JsonValue]:
    """A file with one JSON object; missing is empty, unreadable is an error among `issues`."""
    if not path.exists():
        return {}
    try:
        return read_object(path)
    except SimulationError as error:
        issues.append(Issue("error", path.name, without_file(path, error)))
        return {}


def agent_configs(config: Mapping[str, JsonValue], file: str, issues: list[Issue]) -> list[AgentRecord]:
    """The agents of simulation_config.json; an entry that cannot be used is an error among `issues`."""
    entries = config.get("agent_configs")
    if entries is None:
        return []
    if not isinstance(entries, list):
        issues.append(Issue("error", file, "agent_configs: a list is expected"))
        return []
    records = []
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            issues.append(Issue("error", file, f"agent_configs[{position}]: an object is expected"))
            continue
        agent_id = whole(entry.get("agent_id"))
        row = Row(f"agent_configs[{position}]", {**entry, "name": entry.get("entity_name")})
        records.append(record_of(file, position if agent_id is None else agent_id, row))
    return records


def without_file(path: Path, error: SimulationError) -> str:
    """The message without the file name that an Issue already carries."""
    return str(error).removeprefix(f"{path.name}: ").removeprefix(f"{path.name}, ")


# --- The agents of a simulation folder, joined over its files, with every disagreement between the files reported. A
# run in which one file omits an entity shifts every later index of that file. Joining by index would then interview
# one agent as another, so names and uuids join, indices are only checked.

# --- Which record of one file is the same agent as which record of another, without ever trusting the index alone ----

Key = Callable[[AgentRecord], Hashable | None]


@dataclass
class Pairing:
    """Positions into `left` and `right`: `pairs` left -> right, and what stayed alone on either side."""

    left: Sequence[AgentRecord]
    right: Sequence[AgentRecord]
    pairs: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left_alone: dict[int, AgentRecord] = dict(enumerate(self.left))
        self.right_alone: dict[int, AgentRecord] = dict(enumerate(self.right))

    @property
    def shifted(self) -> bool:
        return any(self.left[a].index != self.right[b].index for a, b in self.pairs.items())

    def join(self, a: int, b: int) -> None:
        self.pairs[a] = b
        del self.left_alone[a], self.right_alone[b]

    def doubtful(self) -> list[tuple[AgentRecord, AgentRecord]]:
        """Records that stayed alone although the other side has a candidate: same name several times, or same index."""
        by_name = {fold(record.name): record for record in self.right_alone.values() if record.name}
        by_index = {record.index: record for record in self.right_alone.values()}
        candidates = [(r, by_name.get(fold(r.name)) or by_index.get(r.index)) for r in self.left_alone.values()]
        return [(record, other) for record, other in candidates if other is not None]


def pair(left: Sequence[AgentRecord], right: Sequence[AgentRecord]) -> Pairing:
    """Join by uuid, then by name and username, then by a name unique on both sides; by position only within equal
    names.

    Two agents may bear the same name: they are told apart by uuid or username, and by position only as long as
    nothing else is shifted, because a shift would silently swap them.
    """
    pairing = Pairing(left, right)
    join_unique(pairing, lambda record: record.uuid or None)
    join_unique(pairing, lambda record: (fold(record.name), fold(record.username)) if record.username else None)
    join_unique(pairing, lambda record: fold(record.name) or None)
    if any_nameless((*left, *right)):  # some twitter CSVs carry no name column: there the username identifies
        join_unique(pairing, lambda record: fold(record.username) or None)
    if not pairing.shifted:
        join_positions(pairing)
    return pairing


def join_unique(pairing: Pairing, key: Key) -> None:
    right = unique(pairing.right_alone, key)
    for value, a in unique(pairing.left_alone, key).items():
        if value in right and compatible(pairing.left[a], pairing.right[right[value]]):
            pairing.join(a, right[value])


def unique(records: Mapping[int, AgentRecord], key: Key) -> dict[Hashable, int]:
    keys = {position: value for position, record in records.items() if (value := key(record)) is not None}
    counts = Counter(keys.values())
    return {value: position for position, value in keys.items() if counts[value] == 1}


def any_nameless(records: Iterable[AgentRecord]) -> bool:
    return any(not record.name for record in records)


def join_positions(pairing: Pairing) -> None:
    """Same index and the same name (equally often on both sides); or no names on one side of equally long files."""
    left = Counter(fold(record.name) for record in pairing.left_alone.values())
    right = Counter(fold(record.name) for record in pairing.right_alone.values())
    by_index = {record.index: b for b, record in pairing.right_alone.items()}
    for a, mine in list(pairing.left_alone.items()):
        b = by_index.get(mine.index)
        if b is None or b not in pairing.right_alone or not compatible(mine, pairing.right[b]):
            continue
        name, other = fold(mine.name), fold(pairing.right[b].name)
        same_name = name == other and left[name] == right[name]
        no_name = not (name and other) and len(pairing.left) == len(pairing.right)
        if same_name or no_name:
            pairing.join(a, b)


def compatible(a: AgentRecord, b: AgentRecord) -> bool:
    """Two different uuids are two entities, whatever their names."""
    return not (a.uuid and b.uuid) or a.uuid == b.uuid


CONFIG = "simulation_config.json"
REDDIT, TWITTER = "reddit_profiles.json", "twitter_profiles.csv"


@dataclass
class Agent:
    """One agent: its richest profile, its index on each platform, its entry in the configuration."""

    profile: AgentRecord
    platforms: dict[str, AgentRecord] = field(default_factory=dict)
    config: AgentRecord | None = None

    @property
    def name(self) -> str:
        named = (self.profile.name, *(record.name for record in self.platforms.values()))
        return next(filter(None, (*named, self.config.name if self.config else "", self.profile.username)), "")

    @property
    def uuid(self) -> str:
        known = (self.config, self.profile, *self.platforms.values())
        return next((record.uuid for record in known if record and record.uuid), "")

    @property
    def type(self) -> str:
        return (self.config.type if self.config else "") or self.profile.type or self.profile.profession or "unknown"

    @property
    def facts(self) -> dict[str, str]:
        """Its other columns over all files; the richest profile's win."""
        known = [*(record.facts for record in self.sources()), self.profile.facts]
        return {name: text for facts in known for name, text in facts.items()}

    @property
    def aligned(self) -> bool:
        """Whether every file has the agent at the same index."""
        return len({record.index for record in self.sources()}) == 1

    def sources(self) -> list[AgentRecord]:
        return [*self.platforms.values(), *([self.config] if self.config else [])]


def reconcile(
    reddit: Sequence[AgentRecord], twitter: Sequence[AgentRecord], configs: Sequence[AgentRecord]
) -> tuple[list[Agent], list[Issue]]:
    """Reddit's agents in their order, then twitter's own; each with its configuration where it has one."""
    issues: list[Issue] = []
    agents = join_platforms(reddit, twitter, {fold(record.name) for record in configs}, issues)
    join_configs(agents, configs, issues)
    issues.extend(shift_warning(agent) for agent in agents if not agent.aligned)
    issues.extend(repeated_uuids(agents))
    return agents, issues


def join_platforms(
    reddit: Sequence[AgentRecord], twitter: Sequence[AgentRecord], known: Set[str], issues: list[Issue]
) -> list[Agent]:
    """`known`: folded names of the configuration, where two names at one index are simply two entities."""
    pairing = pair(reddit, twitter)
    agents = [Agent(record, {"reddit": record}) for record in reddit]
    for a, b in pairing.pairs.items():
        agents[a].platforms["twitter"] = twitter[b]
    for mine, other in pairing.doubtful():
        mine_known, other_known = fold(mine.name) in known, fold(other.name) in known
        if fold(mine.name) == fold(other.name) or not (mine_known and other_known):
            issues.append(doubt(mine, other))
    alone = list(pairing.right_alone.values())
    if reddit and alone:
        names = ", ".join(record.name or record.username for record in alone[:5])
        issues.append(Issue("info", TWITTER, f"{len(alone)} agents are not in {REDDIT} and were appended: {names}"))
    return agents + [Agent(record, {"twitter": record}) for record in alone]


def join_configs(agents: Sequence[Agent], configs: Sequence[AgentRecord], issues: list[Issue]) -> None:
    if not configs:
        return
    pairing = pair([agent.profile for agent in agents], configs)
    for a, b in pairing.pairs.items():
        agents[a].config = configs[b]
    doubtful = pairing.doubtful()
    issues.extend(doubt(mine, other) for mine, other in doubtful)
    doubted = {id(mine) for mine, _ in doubtful} | {id(other) for _, other in doubtful}
    for record in pairing.left_alone.values():
        if id(record) not in doubted:
            message = f"{record.where}: {record.name!r} is not in {CONFIG}: no entity type"
            issues.append(Issue("warning", record.file, message))
    for record in pairing.right_alone.values():
        if id(record) not in doubted:
            message = f"{record.where}: {record.name!r} has no profile and is not interviewed"
            issues.append(Issue("warning", record.file, message))


def doubt(mine: AgentRecord, other: AgentRecord) -> Issue:
    """Nothing tells who is who: the person who ran the simulation has to."""
    same = fold(mine.name) == fold(other.name)
    reason = "several agents of this name, and the files are shifted" if same else "the names differ at the same index"
    here = f"{mine.where} (index {mine.index}) is {mine.name or mine.username!r}"
    there = f"{other.file}, {other.where} (index {other.index}) is {other.name or other.username!r}"
    remedy = "give both records the same name, or the entity's uuid in source_entity_uuid"
    return Issue("error", mine.file, f"{here}, {there}: {reason}. Not joined; {remedy}")


def shift_warning(agent: Agent) -> Issue:
    places = ", ".join(f"{record.file} {record.index}" for record in agent.sources())
    message = f"index shift: {agent.name!r} stands at different indices ({places}); joined by name, not by index"
    return Issue("warning", agent.profile.file, message)


def repeated_uuids(agents: Sequence[Agent]) -> list[Issue]:
    names: dict[str, list[str]] = {}
    for agent in agents:
        names.setdefault(agent.uuid, []).append(agent.name)
    return [
        Issue("error", CONFIG, f"entity_uuid {uuid!r} belongs to several agents: {', '.join(called[:5])}")
        for uuid, called in names.items()
        if uuid and len(called) > 1
    ]
