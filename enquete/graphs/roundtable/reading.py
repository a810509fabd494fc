"""What was said at a roundtable, from its stored turns: the decision, a round, one answer, all of it as a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

from enquete.checkpoints.folders import write_atomically
from enquete.graphs.roundtable.discussion import Discussion
from enquete.graphs.roundtable.measures.clusters import agreement, clusters
from enquete.graphs.roundtable.presentation import ACTIONS, EXITS, LEVELS, ROUND, STAGES
from enquete.graphs.roundtable.responses import STANCES
from enquete.graphs.roundtable.settings import MOST_ROUNDS
from enquete.graphs.roundtable.tables import OpenTable, Tables
from enquete.graphs.roundtable.telling import (
    Stage,
    brief,
    decision_of,
    detail,
    digest,
    fitted,
    held_in,
    latest,
    layered,
    remark_of,
    said_in,
    stages,
)
from enquete.locale import tell
from enquete.reports.templates import render
from enquete.state.errors import InputError
from enquete.state.operations import Port

ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
PAGE = 8000
"""Characters of an export that one reply holds."""


class InTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roundtable_id: Annotated[str, Field(pattern=ID, description="chosen by you with start_roundtable")]


class Counselled(InTable):
    group: Annotated[str, Field(max_length=64, description="such as group_02; the first unless named")] = ""


class Rounded(Counselled):
    round: Annotated[
        Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | Literal["before", "after"] | None,
        Field(description="its number, or before or after: what was said privately; the last round unless named"),
    ] = None


class Detailed(Rounded):
    agent: Annotated[
        str, Field(min_length=1, max_length=200, description="who answered: name, id, or number within the group")
    ]


class Exported(InTable):
    format: Annotated[Literal["markdown", "json"], Field(description="of the file")] = "markdown"
    offset: Annotated[int, Field(ge=0, le=10**9, description="where the text that is returned begins")] = 0


async def get_consensus(port: Port, asked: Counselled) -> dict[str, JsonValue]:
    """What a roundtable came to, in four layers: the decision and how to take it, each participant's answer in brief, on what
    it rests (conflicts, citations, groupthink), and how it came about."""
    table = Tables(port).table(asked.roundtable_id)
    talk = table.group(asked.group)
    layers = _named(table, talk)
    others: list[JsonValue] = [digest(table, each) for each in table.groups if each.unit != talk.unit]
    return fitted({
        "roundtable_id": table.kept.id, "status": table.held.status, "question": table.kept.question, "group": talk.unit,
        **table.authorship, **layers, "other_groups": others,
    })  # fmt: skip


def _named(table: OpenTable, talk: Discussion) -> dict[str, Any]:
    """The four layers, with the names of participants."""
    found = layered(table, talk)
    layers: dict[str, Any] = {**found.model_dump(mode="json"), "decision": decision_of(table, found)}
    for one in layers["agent_responses"]:
        one["name"] = table.name(one["participant"])
    return layers


async def get_round_details(port: Port, asked: Rounded) -> dict[str, JsonValue]:
    """One round of a group: how far it agreed, why it ended there, the remark before it, and everybody's answer in brief."""
    table = Tables(port).table(asked.roundtable_id)
    talk = table.group(asked.group)
    stage = latest(talk) if asked.round is None else asked.round
    turns = said_in(talk, stage)
    weighed = next((turn.weighed for turn in turns if turn.weighed is not None), None)
    responses = {turn.participant: turn.response for turn in turns}
    return fitted({
        "roundtable_id": table.kept.id, "group": talk.unit, "round": stage, "rounds": list(stages(talk)), **table.authorship,
        "agreement": agreement(responses), "positions": len(clusters(responses)), "remark": remark_of(talk, stage),
        "weighed": weighed.model_dump(mode="json") if weighed else None,
        "missing": [table.name(who) for who in talk.participants if who not in responses],
        "responses": [brief(table, turn) for turn in turns],
    })  # fmt: skip


async def get_response_detail(port: Port, asked: Detailed) -> dict[str, JsonValue]:
    """One participant's answer in one round in full: reasoning, the mode's own parts, citations, and what it did not keep to."""
    table = Tables(port).table(asked.roundtable_id)
    talk = table.group(asked.group)
    stage = latest(talk) if asked.round is None else asked.round
    turns = said_in(talk, stage)
    for turn in turns:
        if asked.agent in (turn.participant, table.name(turn.participant), str(turn.number)):
            said = detail(table, turn)
            by = table.authorship_of(person=said["answered_by"] == "person")
            return fitted({"roundtable_id": table.kept.id, "group": talk.unit, **by, **said})
    names = ", ".join(f"{table.name(turn.participant)} ({turn.number})" for turn in turns)
    raise InputError(f"nobody called {asked.agent!r} spoke in round {stage} of {talk.unit}; who did: {names}")


async def export_roundtable(port: Port, asked: Exported) -> dict[str, JsonValue]:
    """Write everything that was said, with the decisions, to a Markdown or JSON file beside the runs, and return its beginning
    (offset: where to read on)."""
    table = Tables(port).table(asked.roundtable_id)
    whole = _whole(table)
    markdown = asked.format == "markdown"
    text = _markdown(table, whole) if markdown else to_json(whole, indent=1).decode() + "\n"
    file = table.folder / "exports" / f"{table.kept.id}.{'md' if markdown else 'json'}"
    write_atomically(file, text)
    if asked.offset > len(text):
        raise InputError(f"offset: {asked.offset} lies beyond the end; the text has {len(text)} characters")
    end = min(asked.offset + PAGE, len(text))
    return {
        "roundtable_id": table.kept.id, "file": file.relative_to(port.root).as_posix(), "characters": len(text),
        **table.authorship, "text": text[asked.offset : end], "next_offset": end if end < len(text) else None,
    }  # fmt: skip


def _whole(table: OpenTable) -> dict[str, Any]:
    return {
        "roundtable_id": table.kept.id, "question": table.kept.question, "mode": table.settings.mode,
        "language": table.held.language, "begun_at": table.kept.begun_at, "status": table.held.status,
        **table.authorship, "runs": [*(one for one in table.kept.replaced if one != table.held.run), table.held.run],
        "groups": [_group(table, talk) for talk in table.groups],
    }  # fmt: skip


def _group(table: OpenTable, talk: Discussion) -> dict[str, Any]:
    return {
        "group": talk.unit,
        "participants": [{"participant": who, "name": table.name(who)} for who in talk.participants],
        "consensus": _named(table, talk),
        "rounds": [held_in(table, talk, stage) for stage in stages(talk)],
    }


def _markdown(table: OpenTable, whole: dict[str, Any]) -> str:
    language, mode = table.held.language, table.settings.played.mode

    def label(stage: Stage) -> str:
        return tell(ROUND if isinstance(stage, int) else STAGES[stage], language).format(round=stage)

    labelled = [
        {**group, "rounds": [{**one, "label": label(one["round"])} for one in group["rounds"]]}
        for group in whole["groups"]
    ]
    return render(
        "enquete.graphs.roundtable:export.md.j2", language, **{**whole, "groups": labelled},
        mode_title=mode.title.in_(language), titles=mode.titles(language), exits=EXITS, levels=LEVELS, actions=ACTIONS,
        stances=STANCES,
    )  # fmt: skip
