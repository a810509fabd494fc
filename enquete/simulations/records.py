"""One agent as one file describes it: a profile row, a persona row or an agent_configs entry."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from enquete.simulations.database import opened
from enquete.simulations.sources import Issue, Row, read_object, read_rows
from enquete.simulations.texts import clean, clip, first, one_line, whole
from enquete.state.errors import SimulationError

NAMES = ("name", "realname", "real_name", "full_name", "entity_name", "agent_name")
USERNAMES = ("username", "user_name", "handle")
UUIDS = ("source_entity_uuid", "entity_uuid", "uuid")
TYPES = ("stakeholder_type", "entity_type", "type", "typ", "source_entity_type")
BIOS = ("bio", "description", "beschreibung")
IDS, INDEX = ("id", "participant_id"), "user_id"
PERSONAS = ("persona", "user_char", "user_profile")
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
class Record:
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


def record_of(file: str, index: int, row: Row) -> Record:
    fields = row.fields
    return Record(
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
    )


def plain_facts(fields: Mapping[str, JsonValue]) -> dict[str, str]:
    """Columns whose name can stand in a condition and that hold something short; texts that describe the agent do not."""
    texts = {*NAMES, *USERNAMES, *UUIDS, *BIOS, *PERSONAS}
    found = {name: interests(value) for name, value in fields.items() if name.isidentifier() and name not in texts}
    return {name: one_line(text) for name, text in found.items() if text and len(text) <= LONGEST_NAME}


def own_columns(fields: Mapping[str, JsonValue]) -> dict[str, str]:
    """What describes it beyond name, id, type and prose: of columns that mean the same the first that says something counts as
    such, and the others are its own."""
    groups = (NAMES, USERNAMES, UUIDS, TYPES, BIOS, PERSONAS, IDS)
    known = {next((name for name in group if clean(fields.get(name))), "") for group in groups}
    found = {name: _as_text(value) for name, value in fields.items() if name and name not in (*known, INDEX)}
    return {name: text for name, text in found.items() if text}


def _as_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | dict) else clean(value)


def persona_text(fields: Mapping[str, JsonValue]) -> str:
    """Bio, persona and a line of facts. Labels stay English in every language: the text is hashed for T0 and T1."""
    bio, persona = first(fields, BIOS), first(fields, PERSONAS)
    prose = [persona] if one_line(bio) in one_line(persona) else [bio, persona]
    return "\n\n".join(part for part in (*prose, facts_line(fields)) if part)


def facts_line(fields: Mapping[str, JsonValue]) -> str:
    """Age, country and the like. The simulator writes 30 / other / any type for institutions: these say nothing about them."""
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


def read_profiles(path: Path) -> list[Record]:
    """The rows of a profiles or personas file; `index` is the position, as OASIS builds its agents."""
    return [record_of(path.name, position, row) for position, row in enumerate(read_rows(path))]


def try_profiles(path: Path, issues: list[Issue]) -> list[Record]:
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


def from_database(path: Path, issues: list[Issue]) -> list[Record]:
    """The users of an OASIS database, for a folder without profiles; an unreadable one is an error among `issues`."""
    if not path.is_file():
        return []
    try:
        with opened(path) as connection:
            found = connection.execute(
                "SELECT user_id, agent_id, user_name, name, bio FROM user ORDER BY rowid"
            ).fetchall()
    except (sqlite3.Error, OSError) as error:
        issues.append(Issue("error", path.name, f"cannot be read as an OASIS database ({one_line(str(error))})"))
        return []
    return [
        record_of(
            path.name,
            agent_id if isinstance(agent_id, int) and agent_id >= 0 else place,
            Row(f"user {user_id}", {"name": user_name or name, "username": name or user_name, "bio": bio}),
        )
        for place, (user_id, agent_id, user_name, name, bio) in enumerate(found)
    ]


def user_id_issues(records: Sequence[Record]) -> list[Issue]:
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


def agent_configs(config: Mapping[str, JsonValue], file: str, issues: list[Issue]) -> list[Record]:
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
