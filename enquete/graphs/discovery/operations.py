"""What an orchestrating model does beside a run: projects, single interviews that fill a record, and where they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.graphs.discovery.annotated import load_schema
from enquete.graphs.discovery.projects import Conversed, Projects
from enquete.graphs.discovery.record import misfits, reduced
from enquete.graphs.discovery.schema import DiscoverySchema, shown_path
from enquete.instruments.layers import shipped
from enquete.state.asking import Language
from enquete.state.errors import InputError
from enquete.state.operations import Operation, Port, Stopped

FOLDER = "projects"
QUESTIONS = 10
ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

Id = Annotated[str, Field(pattern=ID)]
Ds = Annotated[
    str, Field(min_length=1, max_length=200, description="discovery schema, as list_discovery_schemas names it")
]
Budget = Annotated[int, Field(ge=1, le=100, description="questions that this call may ask")]


class Respondent(BaseModel):
    """Who is interviewed: an agent (sim_id and name), a free persona (a surrogate expert), or a person, who answers by
    answer_interview."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["agent", "persona", "person"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    sim_id: Annotated[str, Field(max_length=200, description="of an agent: the simulation")] = ""
    persona: Annotated[str, Field(max_length=20_000, description="of a persona: who they are, in prose")] = ""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InProject(_Asked):
    project_id: Annotated[Id, Field(description="of start_project")]


class Named(InProject):
    title: Annotated[str, Field(max_length=200, description="what it is about")] = ""


class InConversation(InProject):
    conversation_id: Annotated[Id, Field(description="chosen by you; one respondent each")]
    ds_id: Ds


class Asking(InConversation):
    budget: Budget = QUESTIONS
    language: Annotated[Language, Field(description="of the interview")] = "en"
    model: Annotated[str, Field(max_length=200, description="that answers; the configured one unless named")] = ""
    synthetic: Annotated[bool, Field(description="the built-in synthetic respondent answers: free, for trying out")] = (
        False
    )


class Conducting(Asking):
    current_ascr: Annotated[
        dict[str, JsonValue], Field(description="what is known already: a record of the schema")
    ] = {}
    respondent: Annotated[Respondent | None, Field(description="needed for the first interview of a conversation")] = (
        None
    )


class Answering(InConversation):
    answer: Annotated[str, Field(min_length=1, max_length=20_000, description="the person's own words")]


class Querying(InProject):
    field: Annotated[
        str, Field(max_length=200, description="path of a field, such as stages.minutes; all unless named")
    ] = ""
    query: Annotated[str, Field(max_length=200, description="words that messages must hold")] = ""


class Schemas(_Asked):
    project_id: Annotated[str, Field(pattern=rf"^$|{ID}", description="whose state is shown, too")] = ""


async def list_discovery_schemas(port: Port, asked: Schemas) -> dict[str, JsonValue]:
    """Which discovery schemas there are, what each finds out and needs first, and what is open in a project."""
    held = Projects(port.root).interviews(asked.project_id) if asked.project_id else []
    names = (
        sorted({*shipped("discovery"), *(file.stem for file in Path(port.shelf, "discovery").glob("*.yaml"))})
        if port.shelf
        else shipped("discovery")
    )
    done = {one.ds for one in held if one.complete or one.marked}
    found: list[JsonValue] = []
    for name in names:
        schema = load_schema(name, port.shelf)
        missing = [need for need in schema.needs if need not in done]
        state = _state([one for one in held if one.ds == name])
        found.append({
            "ds_id": name, "title": schema.title.in_("en"), "objective": schema.objective.in_("en"), "questions": schema.questions,
            "complete_when": schema.completion.text, "needs_first": list(missing), "state": state,
        })  # fmt: skip
    return {"schemas": found}


def _state(held: Sequence[Conversed]) -> str:
    if not held:
        return "not begun"
    return "complete" if all(one.complete or one.marked for one in held) else "open"


async def start_project(port: Port, asked: Named) -> dict[str, JsonValue]:
    """Begin a project, in which conversations and their records are kept. One that there is goes on."""
    projects = Projects(port.root)
    projects.begin(asked.project_id, asked.title)
    return {
        "project_id": asked.project_id,
        "title": projects.projects()[asked.project_id],
        "interviews": len(projects.interviews(asked.project_id)),
    }


async def conduct_interview(port: Port, asked: Conducting) -> dict[str, JsonValue]:
    """Interview one respondent until the record of a discovery schema is complete or the budget is spent, and return it.
    An interview that was begun goes on where it was. With a person it returns at once with status waiting and the question."""
    projects = Projects(port.root)
    projects.require(asked.project_id)
    schema = load_schema(asked.ds_id, port.shelf)
    if wrong := list(misfits(schema.nodes, asked.current_ascr)):
        raise InputError(f"current_ascr: {'; '.join(wrong)}")
    held = projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
    respondent = asked.respondent or (Respondent.model_validate(held.respondent) if held and held.respondent else None)
    respondent = respondent or _of_conversation(projects, asked)
    if respondent is None:
        raise InputError("respondent: say who is interviewed; this conversation has had nobody yet")
    place = _Place(port, asked.project_id, asked.conversation_id, respondent)
    if held is not None and held.token and held.status != "completed":
        stopped = await port.resume(place.sim, held.token, out=place.out)
        before = _earlier(projects, asked)[: held.questions]
    else:
        before = _earlier(projects, asked)
        known = reduced(schema.nodes, held.record if held else {}, asked.current_ascr)
        stopped = await port.conduct(
            place.sim, out=place.out, new=True, language=asked.language, **place.request(asked, schema, known, before)
        )
    return _kept(projects, asked, schema, respondent, stopped, before, held, asked.current_ascr)


async def refine_interview(port: Port, asked: Asking) -> dict[str, JsonValue]:
    """Go on with an interview whose record is incomplete: same respondent, what is known is kept, more questions."""
    held = _required(Projects(port.root), asked)
    if held.complete:
        return {**_shown(held), "summary": "The record is complete already; nobody was asked."}
    return await conduct_interview(port, Conducting(**asked.model_dump()))


async def answer_interview(port: Port, asked: Answering) -> dict[str, JsonValue]:
    """A person's answer to the question that their interview waits with; the interview then goes on to its next question."""
    projects = Projects(port.root)
    held = _required(projects, asked)
    if held.status != "waiting":
        raise InputError(f"{asked.conversation_id}: this interview waits for nobody's answer (it is {held.status})")
    respondent = Respondent.model_validate(held.respondent)
    place = _Place(port, asked.project_id, asked.conversation_id, respondent)
    await port.submit(place.sim, held.token, asked.answer, out=place.out)
    return await conduct_interview(port, Conducting(**asked.model_dump(exclude={"answer"})))


async def project_progress(port: Port, asked: InProject) -> dict[str, JsonValue]:
    """How far every interview of a project is: complete or not, what is missing, questions asked."""
    held = Projects(port.root).interviews(asked.project_id)
    return {"project_id": asked.project_id, "interviews": [_shown(one) for one in held]}


async def mark_complete(port: Port, asked: InConversation) -> dict[str, JsonValue]:
    """Call an interview done although its record is not complete: it is no longer open in the project."""
    projects = Projects(port.root)
    held = _required(projects, asked).model_copy(update={"marked": True})
    projects.keep(held, [])
    return _shown(held)


async def query_project(port: Port, asked: Querying) -> dict[str, JsonValue]:
    """What a project knows: the values of a field over all its records, and messages that hold certain words."""
    projects = Projects(port.root)
    found: list[JsonValue] = [
        {"conversation_id": one.conversation, "ds_id": one.ds, "value": _at(one.record, asked.field)}
        for one in projects.interviews(asked.project_id)
        if _at(one.record, asked.field) is not None
    ]
    said = projects.messages(asked.project_id, text=asked.query) if asked.query else []
    return {"project_id": asked.project_id, "values": found, "messages": [dict(one) for one in said]}


def _at(record: Any, field: str) -> Any:
    """Lists on the way give a list of what their entries have."""
    for step in field.split(".") if field else ():
        if isinstance(record, list):
            record = [each[step] for each in record if isinstance(each, Mapping) and step in each] or None
        else:
            record = record.get(step) if isinstance(record, Mapping) else None
    return record


# --- one interview -------------------------------------------------------------------------------------------------------


class _Place:
    """Where the runs of a conversation lie, and what they ask."""

    def __init__(self, port: Port, project: str, conversation: str, respondent: Respondent):
        self._port, self._who = port, respondent
        folder = port.root / FOLDER / project / conversation
        if folder.resolve() != (port.root.resolve() / FOLDER / project / conversation):
            raise InputError(f"{FOLDER}/{project}/{conversation}: a symbolic link leads out of the root")
        self.out = str(folder)
        self.sim: str | Path = respondent.sim_id if respondent.kind == "agent" else self._file(folder)

    def _file(self, folder: Path) -> Path:
        """A population of one."""
        if self._who.kind == "persona" and not self._who.persona:
            raise InputError("respondent.persona: say in prose who they are")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "respondent.json"
        one = {"name": self._who.name, "persona": self._who.persona or "–", "type": self._who.kind}
        file.write_text(json.dumps([one], ensure_ascii=False), "utf-8")
        return file

    def request(
        self, asked: Asking, schema: DiscoverySchema, known: Mapping[str, Any], before: Sequence[tuple[str, str]]
    ) -> dict[str, Any]:
        earlier = [{"question": question, "answer": answer} for question, answer in before]
        settings = {
            "ds": schema.id,
            "read": schema.model_dump(mode="json"),
            "questions": asked.budget,
            "current": dict(known),
            "earlier": earlier,
        }
        made: dict[str, Any] = {"settings": {self._methodology: settings}}
        if self._who.kind == "agent":
            made["agents"] = [self._who.name]
        if self._who.kind == "person":
            made["arms"] = [{"respondent": "human", "model": "person"}]
        elif asked.synthetic:
            made["respondent"] = "synthetic"
        elif asked.model:
            made["model"] = asked.model
        return made

    @property
    def _methodology(self) -> str:
        return __package__.rpartition(".")[2]


def _of_conversation(projects: Projects, asked: InConversation) -> Respondent | None:
    """Who has been interviewed in this conversation with another schema."""
    known = [
        one.respondent for one in projects.interviews(asked.project_id) if one.conversation == asked.conversation_id
    ]
    return Respondent.model_validate(known[0]) if known and known[0] else None


def _earlier(projects: Projects, asked: InConversation) -> list[tuple[str, str]]:
    turns = projects.messages(asked.project_id, asked.conversation_id)
    return [(one["question"], one["answer"]) for one in turns if one["ds"] == asked.ds_id]


def _required(projects: Projects, asked: InConversation) -> Conversed:
    held = projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
    if held is None:
        raise InputError(f"{asked.conversation_id}: no interview on {asked.ds_id} yet; begin it with conduct_interview")
    return held


def _kept(
    projects: Projects, asked: InConversation, schema: DiscoverySchema, respondent: Respondent, stopped: Stopped,
    before: Sequence[tuple[str, str]], held: Conversed | None, current: Mapping[str, Any],
) -> dict[str, JsonValue]:  # fmt: skip
    """The project's own account of it, and the answer to the caller."""
    found: Mapping[str, Any] = next(iter(stopped.findings.get("records") or []), {})
    turns = [(str(one["question"]), str(one["answer"])) for one in stopped.findings.get("turns") or []]
    record = found.get("record") or reduced(schema.nodes, held.record if held else {}, current)
    whole, budget = [*before, *turns], int(stopped.findings.get("budget") or 0)
    kept = Conversed(
        project=asked.project_id, conversation=asked.conversation_id, ds=asked.ds_id, respondent=respondent.model_dump(), record=record,
        complete=schema.completion.holds(record), marked=bool(held and held.marked), status=stopped.status, token=stopped.token,
        questions=len(whole if stopped.status == "completed" else before), budget_left=str(max(0, budget - len(turns))),
        missing=[shown_path(path) for path in schema.completion.lacking(record)],
    )  # fmt: skip
    projects.keep(kept, whole)
    told = {
        "message_count": 2 * len(whole),
        "question": stopped.waits_with or None,
        "summary": _summary(kept, len(turns), stopped),
    }
    return {**_shown(kept), **told}


def _shown(one: Conversed) -> dict[str, JsonValue]:
    return {
        "conversation_id": one.conversation, "ds_id": one.ds, "status": one.status, "complete": one.complete, "marked": one.marked,
        "ascr": one.record, "missing": list(one.missing), "budget_remaining": one.budget_left,
    }  # fmt: skip


def _summary(one: Conversed, asked: int, stopped: Stopped) -> str:
    how = "The record is complete." if one.complete else f"Still missing: {', '.join(one.missing)}."
    note = f" {stopped.note}" if stopped.note and stopped.status != "completed" else ""
    return f"{asked} questions were asked. {how}{note}"


FEWER = "with a smaller budget of questions; the cap on tokens is the server's own, ENQUETE_MAX_TOKENS_PER_RUN"
OPERATIONS = (
    Operation(list_discovery_schemas, Schemas, "List discovery schemas", reads=True),
    Operation(start_project, Named, "Start a project"),
    Operation(conduct_interview, Conducting, "Conduct one interview", over_budget=FEWER),
    Operation(refine_interview, Asking, "Refine an incomplete record", over_budget=FEWER),
    Operation(answer_interview, Answering, "Answer for a person"),
    Operation(project_progress, InProject, "Progress of a project", reads=True),
    Operation(mark_complete, InConversation, "Mark an interview complete"),
    Operation(query_project, Querying, "Query a project", reads=True),
)
