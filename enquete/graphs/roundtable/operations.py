"""What a caller does with roundtables beside a run: begin one, go on with it, look at it; reading.py has what was said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

from enquete.checkpoints.folders import write_atomically
from enquete.graphs.roundtable.answering import plain
from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.graphs.roundtable.measures.clusters import agreement, clusters
from enquete.graphs.roundtable.presentation import ACTIONS, EXITS, LEVELS, ROUND, STAGES
from enquete.graphs.roundtable.responses import STANCES
from enquete.graphs.roundtable.settings import LEAST_SIZE, MOST_ROUNDS, MOST_SIZE, Cast
from enquete.graphs.roundtable.steering import steered, word_name
from enquete.graphs.roundtable.tables import PEOPLE, Kept, OpenTable, Tables
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
    told,
    wordless,
)
from enquete.locale import tell
from enquete.reports.views import render
from enquete.state.asking import Spoken
from enquete.state.errors import EnqueteError, InputError
from enquete.state.operations import Operation, Port

# --- What was said at a roundtable, from its stored turns: the decision, a round, one answer, all of it as a file ----

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


SEPARATORS = ",;:"
"""What joins names in the settings: a name that holds one is given by its id."""
STARTED = "started"
"""Of a run that has not stopped yet: begun just now, by an equal call at the same time, or cut off by a kill."""
LISTED = 50
MOST_TOKENS = 1_000_000_000_000

Name = Annotated[str, Field(min_length=1, max_length=200)]
Cap = Annotated[int | None, Field(gt=0, le=MOST_TOKENS, description="cap on tokens; the configured one unless named")]
Sure = Annotated[bool, Field(description="go on although the estimate exceeds the budget: it then pauses at the cap")]


class Guest(BaseModel):
    """Somebody who is no agent of a simulation: a free persona, or a person (named in `people`, too)."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    persona: Annotated[str, Field(max_length=20_000, description="who they are, in prose")] = ""
    type: Annotated[str, Field(max_length=200, description="stakeholder type")] = "guest"


class Starting(InTable):
    question: Annotated[
        str, Field(min_length=1, max_length=2000, description="what is discussed; one that yes or no can answer")
    ]
    mode: Annotated[str, Field(max_length=200, description="how is discussed, as docs/roundtable.md names them")] = (
        "collaborative"
    )
    sim_id: Annotated[str, Field(max_length=200, description="simulation whose agents discuss")] = ""
    agents: Annotated[
        tuple[Name, ...],
        Field(
            max_length=MOST_SIZE, description="of the simulation: those who form one group, in the order of speaking"
        ),
    ] = ()
    personas: Annotated[
        tuple[Guest, ...],
        Field(max_length=MOST_SIZE, description="one group of free personas, in place of a simulation"),
    ] = ()
    people: Annotated[
        tuple[Name, ...],
        Field(
            max_length=MOST_SIZE,
            description="of those two: whose seat a person takes, who answers by continue_roundtable",
        ),
    ] = ()
    groups: Annotated[
        int, Field(ge=1, le=100, description="groups of a simulation's agents, where nobody is named")
    ] = 1
    size: Annotated[int, Field(ge=LEAST_SIZE, le=MOST_SIZE, description="participants of such a group")] = 5
    compose: Annotated[Literal["mixed", "type"], Field(description="such groups: across types, or of one type")] = (
        "mixed"
    )
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS, description="rounds at most")] = 3
    private: Annotated[bool, Field(description="ask everybody alone before and after")] = True
    steering: Annotated[
        bool, Field(description="wait after every round for continue_roundtable, with a remark or without")
    ] = False
    language: Annotated[Spoken, Field(description="of the discussion")] = "en"
    model: Annotated[str, Field(max_length=200, description="that answers; the configured one unless named")] = ""
    synthetic: Annotated[bool, Field(description="the built-in synthetic participants: free, for trying out")] = False
    cast: Annotated[Cast, Field(description="what is planted in synthetic participants")] = "mixed"
    budget_tokens: Cap = None
    confirm: Sure = False


class Continuing(InTable):
    remark: Annotated[
        str,
        Field(
            max_length=4000, description="of whoever leads the discussion, between two rounds: all participants see it"
        ),
    ] = ""
    answers: Annotated[
        Mapping[str, dict[str, JsonValue]],
        Field(description="of persons at the table, as `waiting_for` asks: name → item → answer"),
    ] = {}
    rounds: Annotated[int, Field(ge=0, le=MOST_ROUNDS, description="further rounds, once it is over; 0: one")] = 0
    budget_tokens: Cap = None
    confirm: Sure = False


class Listing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(max_length=200, description="only those whose name or question holds it")] = ""


async def start_roundtable(port: Port, asked: Starting) -> dict[str, JsonValue]:
    """Let participants discuss a question, and return each group's decision and what to do next. The participants are agents
    of a simulation, free personas, or persons: then it returns at once with status waiting and what they are asked."""
    tables = Tables(port)
    _require_seats(asked)
    async with port.alone(str(tables.folder(asked.roundtable_id))):
        table = await _started(port, tables, asked)
    if table.held.status == STARTED:
        await _drive(port, table, asked)
    return told(tables.table(asked.roundtable_id))


async def _started(port: Port, tables: Tables, asked: Starting) -> OpenTable:
    """The roundtable of this name, with a run; begun where there is none. Raises InputError where it is another one."""
    found = tables.find(asked.roundtable_id)
    given = asked.model_dump(mode="json", exclude={"roundtable_id", "budget_tokens", "confirm"})
    if found is not None and found.kept.asked != given:
        raise InputError(
            f"{asked.roundtable_id}: there is one on other terms; choose another roundtable_id, or go on with it by continue_roundtable"
        )
    if found is not None and found.standing is not None:
        return found
    tables.keep(
        Kept(id=asked.roundtable_id, question=asked.question, mode=asked.mode, begun_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
             sim_id=asked.sim_id, language=asked.language, asked=given)
    )  # fmt: skip
    folder = tables.folder(asked.roundtable_id)
    try:
        await _begin(port, asked, folder, _seating(asked, folder), asked.budget_tokens, asked.confirm)
    except EnqueteError:  # nobody was asked: it may be begun otherwise
        tables.drop(asked.roundtable_id)
        raise
    return tables.table(asked.roundtable_id)


def _require_seats(asked: Starting) -> None:
    """Raises InputError, saying what would do."""
    if bool(asked.sim_id) == bool(asked.personas):
        raise InputError("who discusses? Name either sim_id (its agents) or personas")
    if asked.personas and asked.agents:
        raise InputError("agents: they are a simulation's; personas are seated as they are listed")
    named = [one.name for one in asked.personas] or list(asked.agents)
    if named and len(set(named)) < max(LEAST_SIZE, len(named)):
        raise InputError(
            f"a group has {LEAST_SIZE} to {MOST_SIZE} participants of different names; got {', '.join(named)}"
        )
    if unknown := [name for name in asked.people if name not in named]:
        raise InputError(f"people: {', '.join(unknown)} not among agents or personas; name them there, too")
    unfit = [name for name in (*asked.agents, *(one.name for one in asked.personas)) if not _fits(name)]
    if unfit:
        raise InputError(f"{unfit[0]!r}: a name without commas, semicolons and (but in ids, agent:…) colons, please")
    for one in asked.personas:
        if not one.persona and one.name not in asked.people:
            raise InputError(f"personas: say in prose who {one.name} is, or name them in people")


def _fits(name: str) -> bool:
    return not any(sign in name for sign in SEPARATORS[: 2 if name.startswith("agent:") else 3])


def _seating(asked: Starting, folder: Path) -> dict[str, Any]:
    """The settings that say who sits where; personas are filed as a population."""
    if asked.personas:
        people = [{"name": one.name, "persona": one.persona or "–", "type": one.type} for one in asked.personas]
        (folder / PEOPLE).write_text(json.dumps(people, ensure_ascii=False), "utf-8")
    named = [one.name for one in asked.personas] or list(asked.agents)
    if named:
        return {"compose": "hand", "members": ", ".join(named), "size": len(named)}
    return {"compose": asked.compose, "groups": asked.groups, "size": asked.size}


async def _begin(
    port: Port, asked: Starting, folder: Path, settings: dict[str, Any], budget: int | None, confirm: bool
) -> None:
    own = {
        "mode": asked.mode, "question": asked.question, "rounds": asked.rounds, "private": asked.private,
        "steering": asked.steering, "people": "; ".join(asked.people), "cast": asked.cast, **settings,
    }  # fmt: skip
    given: dict[str, Any] = {"settings": {__package__.rpartition(".")[2]: own}, "language": asked.language}
    if asked.agents:
        given["agents"] = list(asked.agents)
    if asked.synthetic:
        given["respondent"] = "synthetic"
    elif asked.model:
        given["model"] = asked.model
    sim: str | Path = asked.sim_id or folder / PEOPLE
    await port.begin(sim, out=str(folder), budget_tokens=budget, confirm=confirm, **given)


async def _drive(port: Port, table: OpenTable, asked: Starting | Continuing) -> None:
    run = table.held
    await port.resume(
        table.sim, run.run, out=str(table.folder), budget_tokens=asked.budget_tokens, confirm=asked.confirm,
        retry_failed=run.status == "failed",
    )  # fmt: skip


async def continue_roundtable(port: Port, asked: Continuing) -> dict[str, JsonValue]:
    """Go on with a roundtable: persons' answers, a remark between two rounds that all participants see, a larger budget, or
    further rounds once it is over. Nothing is asked or paid for twice."""
    tables = Tables(port)
    tables.table(asked.roundtable_id)
    async with port.alone(str(tables.folder(asked.roundtable_id))):
        table = tables.table(asked.roundtable_id)
        if table.held.status == "completed":
            await _begin_further(port, tables, table, asked)
        elif not (table.held.status == STARTED and table.settings.earlier):
            await _answered(port, table, asked)
    await _drive(port, tables.table(asked.roundtable_id), asked)
    return told(tables.table(asked.roundtable_id))


async def _answered(port: Port, table: OpenTable, asked: Continuing) -> None:
    """What a discussion that is not over has waited for. Raises InputError."""
    run, place = table.held, {"out": str(table.folder)}
    if asked.rounds:
        raise InputError("rounds: the discussion is not over yet; go on without them, and ask for further ones then")
    for name, answers in asked.answers.items():
        submitted = [given for who, given in run.submitted.items() if table.name(who) == name]
        if answers not in [{plain(item): one for item, one in given.items()} for given in submitted]:
            await port.submit(table.sim, run.run, _by_item(table, name, answers), who=_waiting(table, name), **place)
    due = wordless(table)
    if asked.remark and any(run.frozen.get(word_name(talk)) == asked.remark for talk in table.groups):
        return  # the round that it precedes is going on: the call is made again after it was cut short
    if asked.remark and not due:
        raise InputError(
            "remark: the discussion is not between two rounds. Start with steering=true to have it wait there, or give the remark "
            "once it is over, with further rounds"
        )
    for talk in due:
        await port.freeze(table.sim, run.run, word_name(talk), asked.remark, **place)


def _waiting(table: OpenTable, name: str) -> str:
    """The id of a person of whom something is asked. Raises InputError."""
    waited = {table.name(block.key.participant): block.key.participant for block in table.held.forms}
    if name not in waited:
        raise InputError(f"answers: nothing is asked of {name!r}; waited for: {', '.join(waited) or 'nobody'}")
    return waited[name]


def _by_item(table: OpenTable, name: str, answers: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """By the ids of the form; an item that is left out counts as refused. Raises InputError."""
    who = _waiting(table, name)
    block = next(block for block in table.held.forms if block.key.participant == who)
    items = {plain(item.id): item.id for item in block.items}
    if unknown := [item for item in answers if item not in items]:
        raise InputError(f"answers: {name} is not asked for {', '.join(unknown)}; items are {', '.join(items)}")
    return {items[item]: given for item, given in answers.items()}


async def _begin_further(port: Port, tables: Tables, table: OpenTable, asked: Continuing) -> None:
    """A run of its own, which begins with what was said so far and the remark. Raises InputError."""
    if asked.answers:
        raise InputError(f"{asked.roundtable_id}: the discussion is over and waits for nobody; leave answers out")
    earlier = {talk.unit: _reopened(talk, asked.remark) for talk in table.groups}
    if not earlier:
        raise InputError(f"{asked.roundtable_id}: no group has discussed; there is nothing to go on with")
    rounds = max(talk.held for talk in table.groups) + (asked.rounds or 1)
    if rounds > MOST_ROUNDS:
        raise InputError(
            f"rounds: a discussion has at most {MOST_ROUNDS}, of which {rounds - (asked.rounds or 1)} were held"
        )
    started = Starting.model_validate({**table.kept.asked, "roundtable_id": asked.roundtable_id, "rounds": rounds})
    settings = {
        "compose": "hand", "size": max(len(talk.participants) for talk in table.groups),
        "members": "; ".join(", ".join(talk.participants) for talk in table.groups), "earlier": earlier,
    }  # fmt: skip
    tables.keep(table.kept.model_copy(update={"replaced": [*table.kept.replaced, table.held.run]}))
    try:
        await _begin(port, started, table.folder, settings, asked.budget_tokens, asked.confirm)
    except EnqueteError:
        tables.keep(table.kept)
        raise


def _reopened(talk: Discussion, remark: str) -> Sequence[dict[str, JsonValue]]:
    turns: tuple[RoundtableTurn, ...] = (*talk.turns, steered(talk, remark))
    return [turn.model_dump(mode="json", exclude_defaults=True) for turn in turns]


async def list_roundtables(port: Port, asked: Listing) -> dict[str, JsonValue]:
    """Which roundtables there are, the latest change first: question, status, and each one's first decision."""
    tables = Tables(port)
    found: list[JsonValue] = []
    known = list(reversed(tables.known()))
    for name in known:
        try:
            table = tables.find(name)
        except EnqueteError:  # the others are there all the same
            found.append({"roundtable_id": name, "status": "unreadable; get_consensus says why"})
            continue
        if table is None or asked.query.lower() not in f"{name} {table.kept.question}".lower():
            continue
        groups = table.groups if table.standing else []
        found.append({
            "roundtable_id": name, "question": table.kept.question, "mode": table.kept.mode, "begun_at": table.kept.begun_at,
            "status": table.standing.status if table.standing else "not begun", "groups": len(groups),
            "first": digest(table, groups[0]) if groups else None, **(table.authorship if table.standing else {}),
        })  # fmt: skip
        if len(found) == LISTED:
            break
    return fitted({"roundtables": found, "known": len(known)})


AT_THE_CAP = "or with confirm=true: it then pauses at the cap, and continue_roundtable goes on with it"
OPERATIONS = (
    Operation(
        start_roundtable,
        Starting,
        "Start a roundtable",
        over_budget=f"with fewer rounds, groups or agents; {AT_THE_CAP}",
    ),
    Operation(continue_roundtable, Continuing, "Continue a roundtable", over_budget=f"with fewer rounds; {AT_THE_CAP}"),
    Operation(get_consensus, Counselled, "What a roundtable decided", reads=True),
    Operation(get_round_details, Rounded, "One round of a roundtable", reads=True),
    Operation(get_response_detail, Detailed, "One answer at a roundtable", reads=True),
    Operation(list_roundtables, Listing, "List roundtables", reads=True),
    Operation(export_roundtable, Exported, "Write a roundtable to a file"),
)
