"""What an orchestrating model does beside a run: projects, single interviews that fill a record, and where they
stand."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.graphs.discovery.originals import ENDINGS
from enquete.graphs.discovery.record import misfits, normalised, reduced
from enquete.graphs.discovery.schema import LAYER, DiscoverySchema, given_schema, load_schema, shown_path
from enquete.instruments.load import shipped
from enquete.ledger.connection import is_locked
from enquete.ledger.folders import write_atomically
from enquete.respondents.person import hand_in
from enquete.state.asking import Language
from enquete.state.errors import Busy, InputError, InstrumentError
from enquete.state.methodology import Operation, Port, StoppedRun
from enquete.state.visible_text import authorship

# --- The project store: a SQLite file beside the simulations, with projects, conversations, the state of their
# schemas, records
# and messages. What an interview asked and was told stands in its run's ledger; here is where a conversation is.

FILE = "projects.sqlite"
WRITE = "BEGIN IMMEDIATE"
"""A transaction that reads before it writes fails "locked" at once."""
PATIENCE_S, LOOKED_S = 10.0, 0.05

SCHEMA = """
CREATE TABLE IF NOT EXISTS projects(id TEXT PRIMARY KEY, title TEXT NOT NULL, begun_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS interviews(
    project TEXT NOT NULL REFERENCES projects(id), conversation TEXT NOT NULL, ds TEXT NOT NULL,
    respondent TEXT NOT NULL,
    record TEXT NOT NULL, complete INTEGER NOT NULL, marked INTEGER NOT NULL, status TEXT NOT NULL, token TEXT NOT NULL,
    questions INTEGER NOT NULL, budget_left TEXT NOT NULL, missing TEXT NOT NULL, answered_by TEXT NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY(project, conversation, ds)) STRICT;
CREATE TABLE IF NOT EXISTS messages(
    id INTEGER PRIMARY KEY, project TEXT NOT NULL, conversation TEXT NOT NULL, ds TEXT NOT NULL, turn INTEGER NOT NULL,
    question TEXT NOT NULL, answer TEXT NOT NULL, answered_by TEXT NOT NULL,
    model TEXT NOT NULL,
    UNIQUE(project, conversation, ds, turn)) STRICT;
CREATE TABLE IF NOT EXISTS schemas(id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
"""


class Conversed(BaseModel):
    """Where one conversation is with one schema. `token`: of the run that goes on; "" where none does."""

    project: str
    conversation: str
    ds: str
    respondent: dict[str, JsonValue] = {}
    record: dict[str, JsonValue] = {}
    complete: bool = False
    marked: bool = False  # complete because somebody said so
    status: str = "open"
    token: str = ""
    questions: int = 0  # asked before the run that goes on; all of them where none does
    budget_left: str = "0"
    missing: list[str] = []
    answered_by: str = ""  # llm, synthetic or human, in its latest run
    model: str = ""

    @property
    def goes_on(self) -> bool:
        """Whether its run has not come to its end."""
        return bool(self.token) and self.status != "completed"


class ProjectTurn(NamedTuple):
    question: str
    answer: str
    answered_by: str
    model: str


class Projects:
    """Raises InputError for a project or conversation that there is not, Busy where another process holds the store."""

    def __init__(self, root: Path, *, patience_s: float = PATIENCE_S):
        """patience_s: how long another process is waited for."""
        self._file, self._patience_s = root / FILE, patience_s
        if self._file.is_symlink():
            raise InputError(f"{FILE}: a symbolic link; the project store must be a file of its own")

    @asynccontextmanager
    async def _open(self, begin: str = "BEGIN") -> AsyncIterator[sqlite3.Connection]:
        """In a transaction. Another process may be at the store: that is waited for without blocking the loop."""
        connection = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        try:
            await self._begun(connection, begin)
            with connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if is_locked(error):
                raise Busy(
                    f"{FILE}: another process has held the project store for {self._patience_s:g} s; ask again later"
                ) from error
            raise InputError(f"{FILE}: cannot be used ({error}); move it aside, runs are not affected") from error
        finally:
            connection.close()

    async def _begun(self, connection: sqlite3.Connection, begin: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience_s
        while True:
            try:
                connection.executescript(f"PRAGMA journal_mode=WAL;{SCHEMA}")
                connection.execute(begin)
                return
            except sqlite3.OperationalError as error:
                if not is_locked(error) or loop.time() >= deadline:
                    raise
            await asyncio.sleep(LOOKED_S)

    async def begin(self, project: str, title: str) -> None:
        """A project; one that there is keeps its title unless another is given."""
        async with self._open(WRITE) as connection:
            connection.execute(
                "INSERT INTO projects VALUES(?, ?, datetime('now')) ON CONFLICT(id) DO UPDATE SET title=excluded.title"
                " WHERE excluded.title != ''",
                (project, title),
            )

    async def projects(self) -> dict[str, str]:
        """Titles by id."""
        async with self._open() as connection:
            return dict(connection.execute("SELECT id, title FROM projects ORDER BY begun_at, id"))

    async def add(self, schema: DiscoverySchema) -> None:
        """In the place of one of that id; interviews that were begun keep theirs."""
        async with self._open(WRITE) as connection:
            connection.execute("INSERT OR REPLACE INTO schemas VALUES(?, ?)", (schema.id, schema.content))

    async def schemas(self) -> dict[str, DiscoverySchema]:
        """That were added, by id."""
        if not self._file.is_file():
            return {}
        async with self._open() as connection:
            found = connection.execute("SELECT id, content FROM schemas ORDER BY id").fetchall()
        return {name: given_schema(json.loads(content)) for name, content in found}

    async def require(self, project: str) -> None:
        known = await self.projects()
        if project not in known:
            raise InputError(
                f"no project {project!r}; known: {', '.join(known) or 'none'}. Begin it with start_project"
            )

    async def interviews(self, project: str) -> list[Conversed]:
        """In the order they were begun."""
        await self.require(project)
        async with self._open() as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM interviews WHERE project=? ORDER BY rowid", (project,)).fetchall()
        return [_read(row) for row in rows]

    async def interview(self, project: str, conversation: str, ds: str) -> Conversed | None:
        found = [one for one in await self.interviews(project) if (one.conversation, one.ds) == (conversation, ds)]
        return found[0] if found else None

    async def keep(self, interview: Conversed, turns: Sequence[ProjectTurn] = ()) -> None:
        """The state, and the conversation's turns so far: both at once, whatever was there."""
        row = interview.model_dump()
        for name in ("respondent", "record", "missing"):
            row[name] = json.dumps(row[name], ensure_ascii=False)
        place = (interview.project, interview.conversation, interview.ds)
        async with self._open(WRITE) as connection:
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            updates = ", ".join(f"{name}=excluded.{name}" for name in row)
            connection.execute(
                f"INSERT INTO interviews({names}) VALUES({marks}) ON CONFLICT(project, conversation, ds) DO UPDATE SET "
                f"{updates}",
                row,
            )
            connection.executemany(
                "INSERT OR REPLACE INTO messages(project, conversation, ds, turn, question, answer, answered_by, model)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                [(*place, number, *turn) for number, turn in enumerate(turns, 1)],
            )

    async def messages(self, project: str, conversation: str = "", text: str = "") -> list[dict[str, Any]]:
        """Turns, of one conversation or all, that hold a text."""
        await self.require(project)
        async with self._open() as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute(
                "SELECT conversation, ds, turn, question, answer, answered_by, model FROM messages WHERE project=?"
                " AND (?='' OR conversation=?)"
                " AND (?='' OR instr(lower(question || ' ' || answer), lower(?))) ORDER BY id",
                (project, conversation, conversation, text, text),
            ).fetchall()
        return [dict(row) for row in rows]


def _read(row: sqlite3.Row) -> Conversed:
    found = dict(row)
    for name in ("respondent", "record", "missing"):
        found[name] = json.loads(found[name])
    return Conversed.model_validate(found)


FILES = (".yaml", *ENDINGS)
FOLDER, RESPONDENT = "projects", "respondent.json"
QUESTIONS = 10
SAID = ("conversation", "ds", "turn", "question", "answer")
ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

Id = Annotated[str, Field(pattern=ID)]
Ds = Annotated[
    str, Field(min_length=1, max_length=200, description="discovery schema, as list_discovery_schemas names it")
]
Budget = Annotated[int, Field(ge=1, le=100, description="questions that this call may ask")]


Behind: TypeAlias = dict[tuple[str, str], list[str]]
"""By conversation and schema: who gave each of its answers."""


class Interviewee(BaseModel):
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
    model: Annotated[
        str,
        Field(max_length=200, description="that answers, or asks and reads a person; the configured one unless named"),
    ] = ""
    synthetic: Annotated[bool, Field(description="the built-in synthetic respondent answers: free, for trying out")] = (
        False
    )


class Conducting(Asking):
    current_ascr: Annotated[
        dict[str, JsonValue], Field(description="what is known already: a record of the schema")
    ] = {}
    respondent: Annotated[Interviewee | None, Field(description="needed for the first interview of a conversation")] = (
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


class Adding(_Asked):
    definition: Annotated[
        dict[str, JsonValue] | str,
        Field(
            description="the schema: an object, in this form or as other systems write it ({DS: {DS-id, …}}), or a "
            "file's text: YAML, JSON, EDN or Clojure"
        ),
    ]


async def add_discovery_schema(port: Port, asked: Adding) -> dict[str, JsonValue]:
    """Add a discovery schema of your own, to be named by its id from then on; one of that id is replaced."""
    schema = given_schema(asked.definition)
    if schema.id in _named(port):
        raise InputError(f"definition: {schema.id!r} is the id of a schema that is there already; choose another")
    await Projects(port.root).add(schema)
    return {
        **_described(schema.id, schema), "fields": {shown_path(node.path): node.field.type for node in schema.walk()},
        "translated": list(schema.translated or ()),
    }  # fmt: skip


def _named(port: Port) -> list[str]:
    """Those that ship, and those on the shelf."""
    files = [file for end in FILES for file in Path(port.shelf, LAYER).glob(f"*{end}")] if port.shelf else []
    return sorted({*shipped(LAYER), *(file.stem for file in files)})


def _described(name: str, schema: DiscoverySchema) -> dict[str, JsonValue]:
    return {
        "ds_id": name, "title": schema.title.in_("en"), "objective": schema.objective.in_("en"),
        "questions": schema.questions, "complete_when": schema.completion.text,
    }  # fmt: skip


async def _schema(port: Port, name: str) -> DiscoverySchema:
    """Raises InstrumentError, which lists those that there are."""
    added = await Projects(port.root).schemas()
    if name in added:
        return added[name]
    try:
        return load_schema(name, port.shelf)
    except InstrumentError as error:
        if not added:
            raise
        raise InstrumentError([*error.problems, f"added here: {', '.join(added)}"]) from None


async def list_discovery_schemas(port: Port, asked: Schemas) -> dict[str, JsonValue]:
    """Which discovery schemas there are, what each finds out and needs first, and what is open in a project."""
    held = await Projects(port.root).interviews(asked.project_id) if asked.project_id else []
    known = {name: load_schema(name, port.shelf) for name in _named(port)} | await Projects(port.root).schemas()
    done = {one.ds for one in held if one.complete or one.marked}
    found: list[JsonValue] = []
    for name, schema in known.items():
        missing = [need for need in schema.needs if need not in done]
        state = _state([one for one in held if one.ds == name])
        found.append({**_described(name, schema), "needs_first": list(missing), "state": state})
    return {"schemas": found}


def _state(held: Sequence[Conversed]) -> str:
    if not held:
        return "not begun"
    return "complete" if all(one.complete or one.marked for one in held) else "open"


async def start_project(port: Port, asked: Named) -> dict[str, JsonValue]:
    """Begin a project, in which conversations and their records are kept. One that there is goes on."""
    projects = Projects(port.root)
    await projects.begin(asked.project_id, asked.title)
    return {
        "project_id": asked.project_id,
        "title": (await projects.projects())[asked.project_id],
        "interviews": len(await projects.interviews(asked.project_id)),
    }


async def conduct_interview(port: Port, asked: Conducting) -> dict[str, JsonValue]:
    """Interview one respondent until the record of a discovery schema is complete or the budget is spent, and return
    it. An interview that was begun goes on where it was. With a person it returns at once with status waiting and the
    question."""
    projects = Projects(port.root)
    await projects.require(asked.project_id)
    schema = await _schema(port, asked.ds_id)
    asked = asked.model_copy(update={"current_ascr": normalised(schema.nodes, asked.current_ascr)})
    if wrong := list(misfits(schema.nodes, asked.current_ascr)):
        raise InputError(f"current_ascr: {'; '.join(wrong)}")
    respondent, out = await _respondent(projects, asked), _folder(port, asked)
    async with port.alone(str(out)):
        held = await projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
        if held is None or not held.goes_on:
            held = await _begun(port, projects, asked, respondent, schema, held)
    begun_with = Interviewee.model_validate(held.respondent)
    if asked.respondent is not None and asked.respondent != begun_with:
        raise InputError(
            f"respondent: this interview goes on with {begun_with.name} ({begun_with.kind}); take another "
            f"conversation_id for {asked.respondent.name} ({asked.respondent.kind})"
        )
    stopped = await port.resume(_population(begun_with, out), held.token, out=str(out))
    return await _kept(projects, asked, schema, held, stopped)


async def refine_interview(port: Port, asked: Asking) -> dict[str, JsonValue]:
    """Go on with an interview whose record is incomplete: same respondent, what is known is kept, more questions."""
    projects = Projects(port.root)
    held = await _required(projects, asked)
    if held.complete:
        shown = _shown(held, await _behind(projects, asked.project_id))
        return {**shown, "summary": "The record is complete already; nobody was asked."}
    return await conduct_interview(port, Conducting(**asked.model_dump()))


async def answer_interview(port: Port, asked: Answering) -> dict[str, JsonValue]:
    """A person's answer to the question that their interview waits with; the interview then goes on to its next
    question."""
    projects = Projects(port.root)
    held = await _required(projects, asked)
    if held.status != "waiting":
        raise InputError(f"{asked.conversation_id}: this interview waits for nobody's answer (it is {held.status})")
    respondent = Interviewee.model_validate(held.respondent)
    out = _folder(port, asked)
    async with port.alone(str(out)):
        await hand_in(port, _population(respondent, out), held.token, asked.answer, out=str(out))
    return await conduct_interview(port, Conducting(**asked.model_dump(exclude={"answer"})))


async def project_progress(port: Port, asked: InProject) -> dict[str, JsonValue]:
    """How far every interview of a project is: complete or not, what is missing, questions asked."""
    projects = Projects(port.root)
    held, behind = await projects.interviews(asked.project_id), await _behind(projects, asked.project_id)
    return {"project_id": asked.project_id, "interviews": [_shown(one, behind) for one in held]}


async def mark_complete(port: Port, asked: InConversation) -> dict[str, JsonValue]:
    """Call an interview done although its record is not complete: it is no longer open in the project."""
    projects = Projects(port.root)
    held = (await _required(projects, asked)).model_copy(update={"marked": True})
    await projects.keep(held)
    return _shown(held, await _behind(projects, asked.project_id))


async def query_project(port: Port, asked: Querying) -> dict[str, JsonValue]:
    """What a project knows: the values of a field over all its records, and messages that hold certain words."""
    projects = Projects(port.root)
    behind = await _behind(projects, asked.project_id)
    found: list[JsonValue] = [
        {
            "conversation_id": one.conversation,
            "ds_id": one.ds,
            "value": _at(one.record, asked.field),
            **authorship(one.answered_by, one.model, behind=behind.get((one.conversation, one.ds), ())),
        }
        for one in await projects.interviews(asked.project_id)
        if _at(one.record, asked.field) is not None
    ]
    said = await projects.messages(asked.project_id, text=asked.query) if asked.query else []
    told: list[JsonValue] = [
        {**{name: one[name] for name in SAID}, **authorship(one["answered_by"], one["model"])} for one in said
    ]
    return {"project_id": asked.project_id, "values": found, "messages": told}


def _at(record: Any, field: str) -> Any:
    """Lists on the way give a list of what their entries have."""
    for step in field.split(".") if field else ():
        if isinstance(record, list):
            record = [each[step] for each in record if isinstance(each, Mapping) and step in each] or None
        else:
            record = record.get(step) if isinstance(record, Mapping) else None
    return record


# --- one interview ----------------------------------------------------------------------------------------------------


def _folder(port: Port, asked: InConversation) -> Path:
    """Where the runs of a conversation lie."""
    place = Path(FOLDER, asked.project_id, asked.conversation_id)
    if (port.root / place).resolve() != port.root.resolve() / place:
        raise InputError(f"{place.as_posix()}: a symbolic link leads out of the root")
    return port.root / place


def _population(respondent: Interviewee, out: Path) -> str | Path:
    """The simulation of an agent, else the file that holds the respondent."""
    return respondent.sim_id if respondent.kind == "agent" else out / RESPONDENT


async def _begun(
    port: Port,
    projects: Projects,
    asked: Conducting,
    respondent: Interviewee,
    schema: DiscoverySchema,
    held: Conversed | None,
) -> Conversed:
    """A run that nobody has been asked in yet, filed: whoever calls again after a kill goes on with it."""
    before, out = await _earlier(projects, asked), _folder(port, asked)
    known = reduced(schema.nodes, held.record if held else {}, asked.current_ascr)
    if respondent.kind != "agent":
        one = {"name": respondent.name, "persona": respondent.persona or "–", "type": respondent.kind}
        write_atomically(out / RESPONDENT, json.dumps([one], ensure_ascii=False))
    request = _request(asked, respondent, schema, known, before, asked.model or port.model())
    run = await port.begin(_population(respondent, out), out=str(out), language=asked.language, **request)
    begun = _conversed(asked, schema, known, held).model_copy(
        update={
            "respondent": respondent.model_dump(), "status": "started", "token": run.token, "questions": len(before),
            "budget_left": str(asked.budget), "answered_by": run.respondent, "model": run.model,
        },
    )  # fmt: skip
    await projects.keep(begun)
    return begun


def _request(
    asked: Asking,
    respondent: Interviewee,
    schema: DiscoverySchema,
    known: Mapping[str, Any],
    before: Sequence[ProjectTurn],
    model: str,
) -> dict[str, Any]:
    """model: that there is, to answer; with a person to ask and to read what they say."""
    settings: dict[str, Any] = {
        "ds": schema.id,
        "read": schema.model_dump(mode="json"),
        "questions": asked.budget,
        "current": dict(known),
        "earlier": [{"question": turn.question, "answer": turn.answer} for turn in before],
    }
    made: dict[str, Any] = {"settings": {__package__.rpartition(".")[2]: settings}}
    if respondent.kind == "agent":
        made["agents"] = [respondent.name]
    if respondent.kind == "person":
        made["arms"] = [{"respondent": "human", "model": "person"}]
        has_model = model and not asked.synthetic
        settings |= (
            {"question_model": model, "interpret_model": model} if has_model else {"asks": "rule", "reads": "rule"}
        )
    elif asked.synthetic:
        made["respondent"] = "synthetic"
    elif asked.model:
        made["model"] = asked.model
    return made


async def _respondent(projects: Projects, asked: Conducting) -> Interviewee:
    """Who is named, else who has been interviewed in this conversation, with this schema or another. Raises
    InputError."""
    known = [
        one.respondent
        for one in sorted(await projects.interviews(asked.project_id), key=lambda one: one.ds != asked.ds_id)
        if one.conversation == asked.conversation_id and one.respondent
    ]
    found = asked.respondent or (Interviewee.model_validate(known[0]) if known else None)
    if found is None:
        raise InputError("respondent: say who is interviewed; this conversation has had nobody yet")
    if found.kind == "persona" and not found.persona:
        raise InputError("respondent.persona: say in prose who they are")
    return found


async def _earlier(projects: Projects, asked: InConversation) -> list[ProjectTurn]:
    turns = await projects.messages(asked.project_id, asked.conversation_id)
    return [ProjectTurn(*(one[name] for name in ProjectTurn._fields)) for one in turns if one["ds"] == asked.ds_id]


async def _behind(projects: Projects, project: str) -> Behind:
    """Who answered, turn by turn."""
    found: Behind = {}
    for one in await projects.messages(project):
        found.setdefault((one["conversation"], one["ds"]), []).append(one["answered_by"])
    return found


async def _required(projects: Projects, asked: InConversation) -> Conversed:
    held = await projects.interview(asked.project_id, asked.conversation_id, asked.ds_id)
    if held is None:
        raise InputError(f"{asked.conversation_id}: no interview on {asked.ds_id} yet; begin it with conduct_interview")
    return held


def _conversed(
    asked: InConversation, schema: DiscoverySchema, record: Mapping[str, Any], held: Conversed | None
) -> Conversed:
    """The account with this record."""
    account = held or Conversed(project=asked.project_id, conversation=asked.conversation_id, ds=asked.ds_id)
    missing = [shown_path(path) for path in schema.completion.lacking(record)]
    return account.model_copy(
        update={"record": dict(record), "complete": schema.completion.holds(record), "missing": missing}
    )


async def _kept(
    projects: Projects, asked: InConversation, schema: DiscoverySchema, held: Conversed, stopped: StoppedRun
) -> dict[str, JsonValue]:
    """The project's own account of it, and the answer to the caller. held: as it was filed when the run was begun."""
    found: Mapping[str, Any] = next(iter(stopped.findings.get("records") or []), {})
    turns = [
        ProjectTurn(str(one["question"]), str(one["answer"]), held.answered_by, held.model)
        for one in stopped.findings.get("turns") or []
    ]
    before = (await _earlier(projects, asked))[: held.questions]
    whole, budget = [*before, *turns], int(stopped.findings.get("budget") or 0)
    kept = _conversed(asked, schema, found.get("record") or held.record, held).model_copy(
        update={
            "status": stopped.status, "questions": len(whole if stopped.status == "completed" else before),
            "budget_left": str(max(0, budget - len(turns))),
        },
    )  # fmt: skip
    await projects.keep(kept, whole)
    told = {
        "message_count": 2 * len(whole),
        "question": stopped.waits_with or None,
        "summary": _summary(kept, len(turns), stopped),
    }
    return {**_shown(kept, await _behind(projects, asked.project_id)), **told}


def _shown(one: Conversed, behind: Behind) -> dict[str, JsonValue]:
    return {
        "conversation_id": one.conversation, "ds_id": one.ds, "status": one.status, "complete": one.complete,
        "marked": one.marked, "ascr": one.record, "missing": list(one.missing), "budget_remaining": one.budget_left,
        **authorship(one.answered_by, one.model, behind=behind.get((one.conversation, one.ds), ())),
    }  # fmt: skip


def _summary(one: Conversed, asked: int, stopped: StoppedRun) -> str:
    how = "The record is complete." if one.complete else f"Still missing: {', '.join(one.missing)}."
    note = f" {stopped.note}" if stopped.note and stopped.status != "completed" else ""
    return f"{asked} questions were asked. {how}{note}"


FEWER = "with a smaller budget of questions; the cap on tokens is the server's own, ENQUETE_MAX_TOKENS_PER_RUN"
OPERATIONS = (
    Operation(list_discovery_schemas, Schemas, "List discovery schemas", reads=True),
    Operation(add_discovery_schema, Adding, "Add a discovery schema"),
    Operation(start_project, Named, "Start a project"),
    Operation(
        conduct_interview, Conducting, "Conduct one interview", over_budget=FEWER, answered_by="answer_interview"
    ),
    Operation(
        refine_interview, Asking, "Refine an incomplete record", over_budget=FEWER, answered_by="answer_interview"
    ),
    Operation(answer_interview, Answering, "Answer for a person", answered_by="answer_interview"),
    Operation(project_progress, InProject, "Progress of a project", reads=True),
    Operation(mark_complete, InConversation, "Mark an interview complete"),
    Operation(query_project, Querying, "Query a project", reads=True),
)
