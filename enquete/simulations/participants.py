"""Agents and persona rows as participants, and why some of them cannot be."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from enquete.simulations.agents import Agent
from enquete.simulations.records import FACTS, Record
from enquete.simulations.sources import Issue
from enquete.simulations.texts import clip, fold, one_line
from enquete.state.asking import Participant

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


def without_prose(records: Sequence[Record]) -> list[Issue]:
    """Rows with neither bio nor persona: asked from what there is, and told with their number."""
    found = [record for record in records if not record.has_prose]
    if not found:
        return []
    names = ", ".join(record.name or record.username for record in found[:5])
    message = (
        f"{len(found)} of {len(records)} agents have neither bio nor persona and are asked from what else is known of them: {names}"
        f"{' …' if len(found) > 5 else ''}; --skip-incomplete leaves them out"
    )
    return [Issue("warning", found[0].file, message)]


def unused_columns(records: Sequence[Record]) -> list[Issue]:
    """Columns of which interviews make nothing: neither prompts nor groups show them."""
    told = {name for name, _ in FACTS}
    unused = dict.fromkeys(name for record in records for name in record.columns if name not in told)
    if not unused:
        return []
    message = f"columns that no interview uses: {', '.join(clip(one_line(name), 60) for name in unused)}; agents.csv has them all"
    return [Issue("info", records[0].file, message)]


def namesakes(named: Sequence[tuple[str, Record]]) -> list[Issue]:
    """Agents of one name: tables and reports cannot tell them apart, and --agents NAME means all of them."""
    by_name: dict[str, list[Record]] = {}
    for name, record in named:
        by_name.setdefault(fold(name), []).append(record)
    return [
        Issue(
            "warning",
            records[0].file,
            f"{len(records)} agents are called {records[0].name or records[0].username!r} "
            f"({', '.join(record.where for record in records[:5])}): told apart by their ids alone",
        )
        for records in by_name.values()
        if len(records) > 1
    ]


def described(record: Record, kind: str) -> str:
    """The persona; where there is neither bio nor persona, the type and what facts there are."""
    if record.has_prose or kind == "unknown":
        return record.persona
    return " · ".join(part for part in (f"Type: {kind}", record.persona) if part)


def agent_key(agent: Agent) -> str:
    return f"agent:{agent.uuid}" if agent.uuid else name_id(agent.name, agent.profile.persona)


def participant_of(agent: Agent, participant_id: str) -> Participant:
    return Participant(
        id=participant_id,
        name=agent.name,
        stakeholder_type=agent.type,
        persona=described(agent.profile, agent.type),
        agent_id=agent.profile.index,
    )


def usable_persona(record: Record, issues: list[Issue]) -> bool:
    """A row needs a name, and an id that can stand in keys."""
    problems = []
    if not (record.name or record.username):
        problems.append("field 'name' (or 'realname', 'username') is missing or empty")
    if UNFIT_FOR_ID.search(record.id or record.uuid):
        problems.append(f"field 'id': {clip(record.id or record.uuid, 60)!r} holds spaces, '|' or slashes")
    issues.extend(Issue("error", record.file, f"{record.where}: {problem}") for problem in problems)
    return not problems


def repeated_ids(records: Sequence[Record]) -> list[Issue]:
    seen: dict[str, Record] = {}
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


def persona_key(record: Record) -> str:
    identity = record.id or record.uuid
    if not identity:
        return name_id(record.name or record.username, record.persona)
    return identity if identity.startswith("agent:") else f"agent:{identity}"


def persona_participant(record: Record, participant_id: str) -> Participant:
    return Participant(
        id=participant_id,
        name=record.name or record.username,
        stakeholder_type=(kind := record.type or record.profession or "unknown"),
        persona=described(record, kind),
        agent_id=record.index,
    )


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
