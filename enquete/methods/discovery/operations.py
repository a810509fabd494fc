"""What an orchestrating model does beside a run: projects, single interviews that fill a record, and where they
stand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.instruments.load import shipped
from enquete.ledger.folders import write_atomically
from enquete.locale import N_
from enquete.methods.discovery.originals import ENDINGS
from enquete.methods.discovery.record import misfits, normalised, reduced
from enquete.methods.discovery.schema import LAYER, DiscoverySchema, given_schema, load_schema, shown_path
from enquete.respondents.person import hand_in
from enquete.runs.run_list import NamedRecords
from enquete.state.asking import Language
from enquete.state.errors import InputError, InstrumentError
from enquete.state.methodology import Operation, PersonInterviews, Port, StoppedRun
from enquete.state.request import CHOSEN_ID, ModelName, Prose
from enquete.state.untrusted_input import authorship

FOLDER, RESPONDENT = "projects", "respondent.json"

# --- on disk: what an interview asked and was told stands in its run's ledger; here is where a conversation is --------


class ProjectTurn(BaseModel):
    question: str
    answer: str
    answered_by: str
    model: str


class Conversed(BaseModel):
    """Where one conversation is with one schema. `token`: of the run that goes on; "" where none does."""

    conversation: str
    ds: str
    title: str = ""
    respondent: dict[str, JsonValue] = {}
    record: dict[str, JsonValue] = {}
    complete: bool = False
    marked: bool = False  # complete because somebody said so
    status: str = "open"
    token: str = ""
    questions: int = 0  # asked before the run that goes on; all of them where none does
    budget: str = "0"  # in questions, of the run that goes on or went last; exact, as a decimal number
    budget_left: str = "0"
    missing: list[str] = []
    answered_by: str = ""  # llm, synthetic or human, in its latest run
    model: str = ""
    turns: list[ProjectTurn] = []

    @property
    def shown_status(self) -> str:
        """What callers are told: a run that has come to its end is no record that is complete."""
        if self.marked:
            return "completed"
        return BUDGET_SPENT if self.status == "completed" and not self.complete else self.status

    @property
    def goes_on(self) -> bool:
        """Whether its run has not come to its end."""
        return bool(self.token) and self.status != "completed"

    @property
    def authorship(self) -> dict[str, str | None]:
        """Who answered, of the latest run, and of what went before it."""
        return authorship(self.answered_by, self.model, behind=[turn.answered_by for turn in self.turns])


class Project(BaseModel):
    """Interviews in the order they were begun."""

    title: str = ""
    interviews: list[Conversed] = []

    def interview(self, conversation: str, ds: str) -> Conversed | None:
        return next((talk for talk in self.interviews if (talk.conversation, talk.ds) == (conversation, ds)), None)


class Projects(NamedRecords[Project]):
    """Raises InputError for a project or conversation that there is not."""

    place, file, record = FOLDER, "project.json", Project
    kind, begun_with = "project", "start_project"

    def project(self, id: str) -> Project:
        return self.required(id, self.read)

    def interview(self, project: str, conversation: str, ds: str) -> Conversed | None:
        return self.project(project).interview(conversation, ds)

    async def begin(self, id: str, title: str) -> Project:
        """One that there is keeps its title unless another is given."""
        async with self._port.alone(str(self.folder(id))):
            project = self.read(id) or Project()
            project.title = title or project.title
            self.keep(id, project)
        return project

    async def file_interview(self, id: str, interview: Conversed) -> None:
        """Where it stands, whatever was there; the project's other interviews may be filed at the same time."""
        async with self._port.alone(str(self.folder(id))):
            project = self.project(id)
            before = project.interview(interview.conversation, interview.ds)
            if before is None:
                project.interviews.append(interview)
            else:
                project.interviews[project.interviews.index(before)] = interview
            self.keep(id, project)


class AddedSchema(BaseModel):
    content: dict[str, JsonValue]


class AddedSchemas(NamedRecords[AddedSchema]):
    place, file, record = "schemas", "schema.json", AddedSchema
    kind, begun_with = "discovery schema", "add_discovery_schema"

    def schemas(self) -> dict[str, DiscoverySchema]:
        """By id."""
        records = (self.required(name, self.read) for name in sorted(self.known()))
        return {schema.id: schema for added in records for schema in [given_schema(added.content)]}


FILES = (".yaml", *ENDINGS)
QUESTIONS = 10

Id = Annotated[str, Field(pattern=CHOSEN_ID)]
Ds = Annotated[str, Field(min_length=1, max_length=200, description="as list_discovery_schemas names it")]
Budget = Annotated[
    int | float,
    Field(ge=1, le=100, multiple_of=0.5, description="questions that this call may ask, each of which takes 1"),
]
BUDGET_SPENT = "budget_spent"
"""The status of an interview that ended without a complete record, because its budget of questions was used up."""


class Interviewee(BaseModel):
    """Who is interviewed: an agent (sim_id and name), a free persona (a surrogate expert), or a person, who answers by
    answer_interview."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["agent", "persona", "person"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    sim_id: str = Field("", max_length=200, description="of an agent: the simulation")
    persona: Prose = Field("", description="of a persona: who they are, in prose")


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InProject(_Asked):
    project_id: Annotated[Id, Field(description="of start_project")]


class Named(InProject):
    title: str = Field("", max_length=200, description="what it is about")


class InConversation(InProject):
    conversation_id: Annotated[Id, Field(description="chosen by you; one respondent each")]
    ds_id: Ds


class Asking(InConversation):
    budget: Budget = QUESTIONS
    language: Language = Field("en", description="of the interview")
    model: ModelName = Field(
        "", description="that answers, or asks and reads a person; the configured one unless named"
    )
    synthetic: bool = Field(False, description="the synthetic respondent answers: free, for trying out")


class Conducting(Asking):
    current_ascr: dict[str, JsonValue] = Field({}, description="what is known already: a record of the schema")
    respondent: Interviewee | None = Field(None, description="needed for the first interview of a conversation")
    person: str = Field("", max_length=200, description="in its place: name of a person")


class Progress(_Asked):
    project_id: str = Field("", pattern=rf"^$|{CHOSEN_ID}", description="all of them unless named")
    conversation_id: str = Field("", pattern=rf"^$|{CHOSEN_ID}", description="one of its conversations")
    ds_id: str = Field("", max_length=200, description="and the schema that it is on")


class Answering(InConversation):
    answer: Prose = Field(min_length=1, description="the person's own words")


class Querying(InProject):
    field: str = Field("", max_length=200, description="path of a field, such as stages.minutes; all unless named")
    query: str = Field("", max_length=200, description="words that messages must hold")


class Schemas(_Asked):
    project_id: str = Field("", pattern=rf"^$|{CHOSEN_ID}", description="whose state is shown, too")


class Adding(_Asked):
    definition: dict[str, JsonValue] | str = Field(
        description="the schema: an object, in this form or as other systems write it ({DS: {DS-id, …}}), or a file's "
        "text: YAML or JSON"
    )


async def add_discovery_schema(port: Port, asked: Adding) -> dict[str, JsonValue]:
    """Add a discovery schema of your own, to be named by its id from then on; one of that id is replaced."""
    schema = given_schema(asked.definition)
    if schema.id in _named(port):
        raise InputError(f"definition: {schema.id!r} is the id of a schema that is there already; choose another")
    added = AddedSchemas(port)
    async with port.alone(str(added.folder(schema.session))):
        added.keep(schema.session, AddedSchema(content=json.loads(schema.content)))
    return {
        **_described(schema.id, schema), "fields": {shown_path(node.path): node.field.type for node in schema.walk()},
        "translated": list(schema.translated or ()),
    }  # fmt: skip


def _named(port: Port) -> list[str]:
    """Those that ship, and those in the server's own folder."""
    files = [file for end in FILES for file in Path(port.own_folder, LAYER).glob(f"*{end}")] if port.own_folder else []
    return sorted({*shipped(LAYER), *(file.stem for file in files)})


def _described(name: str, schema: DiscoverySchema) -> dict[str, JsonValue]:
    return {
        "ds_id": name, "title": schema.title.in_("en"), "objective": schema.objective.in_("en"),
        "questions": schema.questions, "complete_when": schema.completion.text,
    }  # fmt: skip


async def _schema(port: Port, name: str) -> DiscoverySchema:
    """Raises InstrumentError, which lists those that there are."""
    added = AddedSchemas(port).schemas()
    if name in added:
        return added[name]
    try:
        return load_schema(name, port.own_folder)
    except InstrumentError as error:
        if not added:
            raise
        raise InstrumentError([*error.problems, f"added here: {', '.join(added)}"]) from None


async def list_discovery_schemas(port: Port, asked: Schemas) -> dict[str, JsonValue]:
    """Which discovery schemas there are, what each finds out and needs first, and what is open in a project."""
    interviews = Projects(port).project(asked.project_id).interviews if asked.project_id else []
    by_name = {name: load_schema(name, port.own_folder) for name in _named(port)} | AddedSchemas(port).schemas()
    done = {interview.ds for interview in interviews if interview.complete or interview.marked}
    open_ = {interview.ds for interview in interviews if not (interview.complete or interview.marked)}
    schemas: list[JsonValue] = []
    for name, schema in by_name.items():
        missing = [need for need in schema.needs if need not in done]
        state = "open" if name in open_ else "complete" if name in done else "not begun"
        schemas.append({**_described(name, schema), "needs_first": list(missing), "state": state})
    return {"schemas": schemas}


async def start_project(port: Port, asked: Named) -> dict[str, JsonValue]:
    """Begin a project, in which conversations and their records are kept. One that there is goes on."""
    project = await Projects(port).begin(asked.project_id, asked.title)
    return {"project_id": asked.project_id, "title": project.title, "interviews": len(project.interviews)}


async def discover_record(port: Port, asked: Conducting) -> dict[str, JsonValue]:
    """Interview one respondent until the record of a discovery schema is complete or the budget is spent, and return
    it. An interview that was begun goes on where it was. With a person it returns at once with status waiting and the
    question."""
    projects = Projects(port)
    if asked.person and asked.respondent is None:
        asked = asked.model_copy(update={"respondent": Interviewee(kind="person", name=asked.person)})
    projects.project(asked.project_id)
    schema = await _schema(port, asked.ds_id)
    asked = asked.model_copy(update={"current_ascr": normalised(schema.nodes, asked.current_ascr)})
    if wrong := list(misfits(schema.nodes, asked.current_ascr)):
        raise InputError(f"current_ascr: {'; '.join(wrong)}")
    respondent, out = _respondent(projects, asked), _folder(projects, asked)
    async with port.alone(str(out)):
        talk = projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
        if talk is None or not talk.goes_on:
            talk = await _begun(port, projects, asked, respondent, schema, talk)
    begun_with = Interviewee.model_validate(talk.respondent)
    if asked.respondent is not None and asked.respondent != begun_with:
        raise InputError(
            f"respondent: this interview goes on with {begun_with.name} ({begun_with.kind}); take another "
            f"conversation_id for {asked.respondent.name} ({asked.respondent.kind})"
        )
    stopped = await port.resume(_population(begun_with, out), talk.token, out=str(out))
    return await _kept(projects, asked, schema, talk, stopped)


async def refine_interview(port: Port, asked: Asking) -> dict[str, JsonValue]:
    """Go on with an interview whose record is incomplete: same respondent, what is known is kept, more questions."""
    talk = _required(Projects(port), asked)
    if talk.complete:
        return {**_shown(asked.project_id, talk), "summary": "The record is complete already; nobody was asked."}
    return await discover_record(port, Conducting(**asked.model_dump()))


async def answer_interview(port: Port, asked: Answering) -> dict[str, JsonValue]:
    """A person's answer to the question that their interview waits with; the interview then goes on to its next
    question."""
    projects = Projects(port)
    talk = _required(projects, asked)
    if talk.status != "waiting" or talk.marked:
        stands = "marked complete" if talk.marked else talk.shown_status
        raise InputError(f"{asked.conversation_id}: this interview waits for nobody's answer (it is {stands})")
    if not asked.answer.strip():
        raise InputError("answer: is empty; say something, or end the interview with mark_complete")
    respondent = Interviewee.model_validate(talk.respondent)
    out = _folder(projects, asked)
    async with port.alone(str(out)):
        await hand_in(port, _population(respondent, out), talk.token, asked.answer, out=str(out))
    return await discover_record(port, Conducting(**asked.model_dump(exclude={"answer"})))


async def project_progress(port: Port, asked: Progress) -> dict[str, JsonValue]:
    """How far every interview of a project, or of all, is: complete or not, what is missing, questions asked. One of
    them, named by conversation and schema: also its questions and answers, and the question that waits."""
    projects = Projects(port)
    if asked.conversation_id or asked.ds_id:
        if not (asked.project_id and asked.conversation_id and asked.ds_id):
            raise InputError("one interview is named by project_id, conversation_id and ds_id together")
        return _told(port, projects, InConversation.model_validate(asked.model_dump()))
    interviews: list[JsonValue] = []
    for name in [asked.project_id] if asked.project_id else projects.known():
        try:
            interviews += [_shown(name, interview) for interview in projects.project(name).interviews]
        except InputError as error:  # the others are there all the same
            if asked.project_id:
                raise
            interviews.append({"project_id": name, "status": f"unreadable: {error.fact}"})
    return {"project_id": asked.project_id, "interviews": interviews}


def _told(port: Port, projects: Projects, asked: InConversation) -> dict[str, JsonValue]:
    talk, out = _required(projects, asked), _folder(projects, asked)
    run = port.look(str(out), talk.token.partition(".")[0])
    waits = run.forms[0].items[0].wording if run.forms and not talk.marked else None
    turns: list[JsonValue] = [{"question": turn.question, "answer": turn.answer} for turn in talk.turns]
    return {**_shown(asked.project_id, talk), "question": waits, "turns": turns, "note": run.note}


async def mark_complete(port: Port, asked: InConversation) -> dict[str, JsonValue]:
    """Call an interview done although its record is not complete: it is no longer open, and nobody is asked."""
    projects = Projects(port)
    talk = _required(projects, asked).model_copy(update={"marked": True})
    await projects.file_interview(asked.project_id, talk)
    return _shown(asked.project_id, talk)


async def query_project(port: Port, asked: Querying) -> dict[str, JsonValue]:
    """What a project knows: the values of a field over all its records, and messages that hold certain words."""
    interviews, words = Projects(port).project(asked.project_id).interviews, asked.query.casefold()
    values: list[JsonValue] = [
        {"conversation_id": interview.conversation, "ds_id": interview.ds, "value": value, **interview.authorship}
        for interview in interviews
        if (value := _at(interview.record, asked.field)) is not None
    ]
    messages: list[JsonValue] = [
        {"conversation": interview.conversation, "ds": interview.ds, "turn": number, "question": turn.question,
         "answer": turn.answer, **authorship(turn.answered_by, turn.model)}
        for interview in interviews
        for number, turn in enumerate(interview.turns, 1)
        if words and words in f"{turn.question} {turn.answer}".casefold()
    ]  # fmt: skip
    return {"project_id": asked.project_id, "values": values, "messages": messages}


def _at(record: Any, field: str) -> Any:
    """Lists on the way give a list of what their entries have."""
    for step in field.split(".") if field else ():
        if isinstance(record, list):
            record = [each[step] for each in record if isinstance(each, Mapping) and step in each] or None
        else:
            record = record.get(step) if isinstance(record, Mapping) else None
    return record


# --- one interview ----------------------------------------------------------------------------------------------------


def _folder(projects: Projects, asked: InConversation) -> Path:
    """Where the runs of a conversation lie."""
    return projects.folder(f"{asked.project_id}/{asked.conversation_id}")


def _population(respondent: Interviewee, out: Path) -> str | Path:
    """The simulation of an agent, else the file that holds the respondent."""
    return respondent.sim_id if respondent.kind == "agent" else out / RESPONDENT


async def _begun(
    port: Port,
    projects: Projects,
    asked: Conducting,
    respondent: Interviewee,
    schema: DiscoverySchema,
    talk: Conversed | None,
) -> Conversed:
    """A run that nobody has been asked in yet, filed: whoever calls again after a kill goes on with it."""
    before, out = talk.turns if talk else [], _folder(projects, asked)
    record = reduced(schema.nodes, talk.record if talk else {}, asked.current_ascr)
    if respondent.kind != "agent":
        member = {"name": respondent.name, "persona": respondent.persona or "–", "type": respondent.kind}
        write_atomically(out / RESPONDENT, json.dumps([member], ensure_ascii=False))
    request = _request(asked, respondent, schema, record, before, asked.model or port.model())
    run = await port.begin(_population(respondent, out), out=str(out), language=asked.language, **request)
    begun = _conversed(asked, schema, record, talk).model_copy(
        update={
            "respondent": respondent.model_dump(), "status": "started", "token": run.token, "questions": len(before),
            "budget": str(asked.budget), "budget_left": str(asked.budget), "answered_by": run.respondent,
            "model": run.model,
        },
    )  # fmt: skip
    await projects.file_interview(asked.project_id, begun)
    return begun


def _request(
    asked: Asking,
    respondent: Interviewee,
    schema: DiscoverySchema,
    record: Mapping[str, Any],
    before: Sequence[ProjectTurn],
    model: str,
) -> dict[str, Any]:
    """model: that there is, to answer; with a person to ask and to read what they say."""
    settings: dict[str, Any] = {
        "ds": schema.id, "read": schema.model_dump(mode="json"), "questions": asked.budget, "current": dict(record),
        "earlier": [{"question": turn.question, "answer": turn.answer} for turn in before],
    }  # fmt: skip
    request: dict[str, Any] = {"settings": {__package__.rpartition(".")[2]: settings}}
    if respondent.kind == "agent":
        request["agents"] = [respondent.name]
    if respondent.kind == "person":
        request["arms"] = [{"respondent": "human", "model": "person"}]
        has_model = model and not asked.synthetic
        models = {"question_model": model, "interpret_model": model}
        settings |= models if has_model else {"asks": "rule", "reads": "rule"}
    elif asked.synthetic:
        request["respondent"] = "synthetic"
    elif asked.model:
        request["model"] = asked.model
    return request


def _respondent(projects: Projects, asked: Conducting) -> Interviewee:
    """Who is named, else who has been interviewed in this conversation, with this schema or another. Raises
    InputError."""
    earlier = [
        talk.respondent
        for talk in sorted(projects.project(asked.project_id).interviews, key=lambda talk: talk.ds != asked.ds_id)
        if talk.conversation == asked.conversation_id and talk.respondent
    ]
    respondent = asked.respondent or (Interviewee.model_validate(earlier[0]) if earlier else None)
    if respondent is None:
        raise InputError("respondent: say who is interviewed; this conversation has had nobody yet")
    if respondent.kind == "persona" and not respondent.persona:
        raise InputError("respondent.persona: say in prose who they are")
    return respondent


def _required(projects: Projects, asked: InConversation) -> Conversed:
    talk = projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
    if talk is None:
        raise InputError(f"{asked.conversation_id}: no interview on {asked.ds_id} yet; begin it with discover_record")
    return talk


def _conversed(
    asked: InConversation, schema: DiscoverySchema, record: Mapping[str, Any], talk: Conversed | None
) -> Conversed:
    """The account with this record."""
    account = talk or Conversed(conversation=asked.conversation_id, ds=asked.ds_id, title=schema.title.in_("en"))
    missing = [shown_path(path) for path in schema.completion.lacking(record)]
    return account.model_copy(
        update={"record": dict(record), "complete": schema.completion.holds(record), "missing": missing}
    )


async def _kept(
    projects: Projects, asked: InConversation, schema: DiscoverySchema, talk: Conversed, stopped: StoppedRun
) -> dict[str, JsonValue]:
    """The project's own account of it, and the answer to the caller. held: as it was filed when the run was begun."""
    record: Mapping[str, Any] = next(iter(stopped.findings.get("records") or []), {})
    by = {"answered_by": talk.answered_by, "model": talk.model}
    turns = [
        ProjectTurn(question=str(turn["question"]), answer=str(turn["answer"]), **by)
        for turn in stopped.findings.get("turns") or []
    ]
    before = talk.turns[: talk.questions]
    whole, budget = [*before, *turns], Decimal(talk.budget)
    account = _conversed(asked, schema, record.get("record") or talk.record, talk).model_copy(
        update={
            "status": stopped.status, "questions": len(whole if stopped.status == "completed" else before),
            "budget_left": str(max(0, budget - len(turns))), "marked": False, "turns": whole,
        },
    )  # fmt: skip
    await projects.file_interview(asked.project_id, account)
    summary = _summary(account, len(turns), stopped)
    more = {"message_count": 2 * len(whole), "question": stopped.waits_with or None, "summary": summary}
    return {**_shown(asked.project_id, account), **more}


def _shown(project: str, talk: Conversed) -> dict[str, JsonValue]:
    return {
        "project_id": project, "conversation_id": talk.conversation, "ds_id": talk.ds, "topic": talk.title,
        "name": talk.respondent.get("name", ""), "status": talk.shown_status,
        "complete": talk.complete, "marked": talk.marked,
        "ascr": talk.record, "missing": list(talk.missing), "budget_remaining": _as_number(talk.budget_left),
        **talk.authorship,
    }  # fmt: skip


def _as_number(budget: str) -> int | float:
    exact = Decimal(budget)
    return int(exact) if exact == int(exact) else float(exact)


def _summary(talk: Conversed, asked: int, stopped: StoppedRun) -> str:
    how = "The record is complete." if talk.complete else f"Still missing: {', '.join(talk.missing)}."
    note = f" {stopped.note}" if stopped.note and stopped.status != "completed" else ""
    return f"{asked} questions were asked. {how}{note}"


FEWER = "with a smaller budget of questions; the cap on tokens is the server's own, ENQUETE_MAX_TOKENS_PER_RUN"
OPERATIONS = (
    Operation(list_discovery_schemas, Schemas, "List discovery schemas", reads=True),
    Operation(add_discovery_schema, Adding, "Add a discovery schema"),
    Operation(start_project, Named, "Start a project"),
    Operation(
        discover_record,
        Conducting,
        "Fill a record by an interview",
        over_budget=FEWER,
        answered_by="answer_interview",
        aliases=("conduct_interview",),
    ),
    Operation(
        refine_interview, Asking, "Refine an incomplete record", over_budget=FEWER, answered_by="answer_interview"
    ),
    Operation(answer_interview, Answering, "Answer for a person", answered_by="answer_interview"),
    Operation(project_progress, Progress, "Progress of projects", reads=True),
    Operation(mark_complete, InConversation, "Mark an interview complete"),
    Operation(query_project, Querying, "Query a project", reads=True),
)
PERSONS = PersonInterviews(
    start="discover_record", answer="answer_interview", end="mark_complete", show="project_progress",
    keys=("project_id", "conversation_id", "ds_id"), record="ascr", opens="start_project",
    choices={"ds_id": ("list_discovery_schemas", "schemas")},
    labels={
        "project_id": N_("Project"), "conversation_id": N_("Interview"), "ds_id": N_("Schema"),
        "budget": N_("Questions at most"), "language": N_("Language"), "model": N_("Model"),
        "synthetic": N_("Without a model"), "person": N_("Name of a person"),
    },
)  # fmt: skip
