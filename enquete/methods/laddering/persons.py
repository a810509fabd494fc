"""A person interviewed by laddering, turn by turn: begun, answered, ended, gone on with, looked at.

Each is a folder under the root with its run. A person is asked in a form like any other (`Block.by_person`): the
questions are chosen, answers read and codes made as with agents, by the configured model where there is one. What was
said stands in the ledger of the run: a call that was cut short by a kill is made again, and nothing is asked twice.

Measured by: an interview whose process is killed at any answer goes on at the same question, with the same graph
(tests/methods/laddering/test_laddering_persons.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.ledger.folders import NeverStarted, write_atomically
from enquete.locale import N_, tell
from enquete.methods.laddering.files import FOLDER as RESULTS
from enquete.methods.laddering.files import INTERVIEWS
from enquete.methods.laddering.interview import LadderingInterview, TurnRecord, end_name, stored_interview
from enquete.methods.laddering.settings import LadderingSettings
from enquete.reports.columns import Glossary
from enquete.respondents.person import hand_in
from enquete.respondents.roles import RULE
from enquete.runs.run_list import NamedRecords
from enquete.state.asking import Language, Spoken
from enquete.state.errors import EnqueteError, InputError
from enquete.state.methodology import Operation, PersonInterviews, Port, RunSnapshot
from enquete.state.request import CHOSEN_ID, ModelName, Prose, TokenCap
from enquete.state.untrusted_input import authorship

FOLDER, FILE, PERSON = INTERVIEWS, "interview.json", "person.json"
LISTED = 100

# --- what is asked ----------------------------------------------------------------------------------------------------


class OfInterview(BaseModel):
    model_config = ConfigDict(extra="forbid")

    interview_id: str = Field(pattern=CHOSEN_ID, description="chosen by you when it is begun")


class Beginning(OfInterview):
    name: str = Field("", max_length=200, description="of the person; left out to go on with an interview")
    concept: str = Field(
        "", max_length=1000, description="what is asked about, as laddering.concept; the instrument's unless named"
    )
    methodology: str = Field(
        "", max_length=1000, description="how is asked, as laddering.methodology; the concept's own unless named"
    )
    turns: int = Field(15, ge=1, le=60, description="questions at most")
    language: Spoken = Field("en", description="of the interview")
    model: ModelName = Field("", description="that chooses words and reads answers; the configured one unless named")
    synthetic: bool = Field(False, description="rules word questions and read answers, no model: free")
    budget_tokens: TokenCap = Field(None, description="cap; the configured one unless named")
    confirm: bool = Field(False, description="begin although the estimate exceeds the budget")


class Answered(OfInterview):
    answer: Prose = Field(min_length=1, description="the person's own words")


class InterviewQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    interview_id: str = Field("", pattern=rf"^$|{CHOSEN_ID}", description="all of them unless named")


# --- on disk ----------------------------------------------------------------------------------------------------------


class InterviewRecord(BaseModel):
    """What is known of an interview beside its run: what it was begun with, and the run's token once there is one."""

    asked: dict[str, JsonValue]
    token: str = ""


def name_stop(stop: str, language: Language) -> str:
    """Return why an interview is over, in words; "" where it is not."""
    levels = Glossary("laddering").column("stop").levels or {}
    return tell(levels.get(stop, stop), language) if stop else ""


@dataclass(frozen=True)
class OpenInterview:
    """An interview whose run is there."""

    id: str
    kept: InterviewRecord
    folder: Path
    run: RunSnapshot

    @property
    def who(self) -> str:
        """The person's id."""
        return next(iter(self.run.names))

    @property
    def question(self) -> str:
        """What waits for an answer; "" where nothing does."""
        return self.run.forms[0].items[0].wording if self.run.forms else ""

    @property
    def talk(self) -> LadderingInterview:
        return stored_interview(self.who, self.run.pinned)

    def told(self) -> dict[str, JsonValue]:
        """Where it stands: the question, what was said, and the graph that grew from it."""
        talk, language = self.talk, self.run.language
        settings: LadderingSettings = self.run.settings
        turns: list[JsonValue] = [self._turn(turn) for turn in talk.turns]
        return {
            "interview_id": self.id, "name": self.run.names[self.who], "status": self.run.status,
            "note": self.run.note if self.run.status != "completed" else "", "run_id": self.run.run,
            "question": self.question or None, "topic": settings.topic.topic.in_(language),
            "turns_left": max(0, settings.turns - len(talk.turns)), "turns": turns,
            "stop": talk.stop, "end": name_stop(talk.stop, language),
            "graph": {
                "types": [
                    {"type": kind, "label": settings.method.node_types[kind].label.in_(language)}
                    for kind in settings.method.kinds
                ],
                "nodes": [
                    {"id": node.id, "text": node.text, "type": node.type, "turn": node.turn,
                     "retracted": node.id in talk.graph.retracted}
                    for node in talk.graph.nodes.values()
                ],
                "edges": [
                    {"source": edge.source, "target": edge.target, "label": self._relation(edge.type),
                        "turn": edge.turn}
                    for edge in talk.graph.edges.values()
                ],
            },
            "interviewer": RULE if self.run.respondent == "synthetic" else self.run.model,
            **authorship("human", "person", language),
        }  # fmt: skip

    def _relation(self, kind: str) -> str:
        label = self.run.settings.method.edge_types[kind].label
        return label.in_(self.run.language) if label else kind.replace("_", " ")

    @staticmethod
    def _turn(turn: TurnRecord) -> dict[str, JsonValue]:
        new: list[JsonValue] = [node.text for node in turn.changes.nodes if node.turn == turn.turn]
        return {"turn": turn.turn, "question": turn.question, "answer": turn.answer, "concepts": new}


class InterviewStore(NamedRecords[InterviewRecord]):
    """Raises InputError for an interview that there is not."""

    place, file, record = FOLDER, FILE, InterviewRecord
    kind, begun_with = "interview", "start_laddering_interview"

    def find(self, id: str) -> OpenInterview | None:
        """None before its run was begun."""
        record = self.read(id)
        if record is None or not record.token:
            return None
        folder = self.folder(id)
        try:
            run = self._port.look(str(folder), record.token.partition(".")[0])
        except NeverStarted:
            return None
        return OpenInterview(id, record, folder, run)

    def interview(self, id: str) -> OpenInterview:
        return self.required(id, self.find)


# --- beginning, answering, ending -------------------------------------------------------------------------------------


async def start_laddering_interview(port: Port, asked: Beginning) -> dict[str, JsonValue]:
    """Begin a laddering interview with a person, and return its first question; one that was begun goes on where it
    was, whatever cut it short. Answer with answer_laddering_interview."""
    store = InterviewStore(port)
    async with port.alone(str(store.folder(asked.interview_id))):
        await _begun(port, store, asked)
    return await _driven(port, store, asked.interview_id, asked.budget_tokens)


async def _begun(port: Port, store: InterviewStore, asked: Beginning) -> None:
    """A run that nobody was asked in yet, filed. Raises InputError where there is another interview of this name."""
    terms = asked.model_dump(mode="json", exclude={"interview_id", "budget_tokens", "confirm"})
    record = store.read(asked.interview_id)
    if not asked.name:
        store.interview(asked.interview_id)
        return
    if record is not None and record.asked != terms:
        raise InputError(
            f"{asked.interview_id}: there is an interview on other terms; choose another interview_id, or name it "
            "alone to go on with it"
        )
    if store.find(asked.interview_id) is not None:
        return
    folder = store.folder(asked.interview_id)
    person = {"name": asked.name, "persona": "–", "type": "person"}
    write_atomically(folder / PERSON, json.dumps([person], ensure_ascii=False))
    store.keep(asked.interview_id, InterviewRecord(asked=terms))
    layers = {key: value for key in ("concept", "methodology") if (value := getattr(asked, key))}
    settings = {__package__.rpartition(".")[2]: {**layers, "turns": asked.turns, "people": asked.name}}
    request: dict[str, Any] = {"settings": settings, "language": asked.language}
    if asked.synthetic:
        request["respondent"] = "synthetic"
    elif asked.model:
        request["model"] = asked.model
    try:
        run = await port.begin(
            folder / PERSON, out=str(folder), budget_tokens=asked.budget_tokens, confirm=asked.confirm, **request
        )
    except EnqueteError:  # nobody was asked: it may be begun otherwise
        store.drop(asked.interview_id)
        raise
    store.keep(asked.interview_id, InterviewRecord(asked=terms, token=run.token))


async def answer_laddering_interview(port: Port, asked: Answered) -> dict[str, JsonValue]:
    """A person's answer to the question that their interview waits with; returns the next question and the graph."""
    store = InterviewStore(port)
    interview = store.interview(asked.interview_id)
    if interview.run.status == "completed":
        raise InputError(f"{asked.interview_id}: this interview is over")
    if not asked.answer.strip():
        raise InputError("answer: is empty; say something, or end the interview with end_laddering_interview")
    async with port.alone(str(interview.folder)):
        await hand_in(port, interview.folder / PERSON, interview.kept.token, asked.answer, out=str(interview.folder))
    return await _driven(port, store, asked.interview_id)


async def end_laddering_interview(port: Port, asked: OfInterview) -> dict[str, JsonValue]:
    """End an interview at the person's wish: the question that waits stays unanswered; codes and map are made of what
    was said."""
    store = InterviewStore(port)
    interview = store.interview(asked.interview_id)
    place = {"out": str(interview.folder)}
    person, token = interview.folder / PERSON, interview.kept.token
    async with port.alone(str(interview.folder)):
        await port.pin(person, token, end_name(interview.who), True, **place)
    for _ in range(2):  # a call that was cut short may have had its next question yet to ask
        waiting = store.interview(asked.interview_id)
        if not waiting.question:
            await _driven(port, store, asked.interview_id)
            waiting = store.interview(asked.interview_id)
        if waiting.question:
            async with port.alone(str(waiting.folder)):
                await port.submit(person, token, {}, **place)
    return await _driven(port, store, asked.interview_id)


async def show_laddering_interview(port: Port, asked: InterviewQuery) -> dict[str, JsonValue]:
    """One person's interview as it stands: question, turns, graph, and once it is over its codes and the value map; or
    all interviews, the latest first."""
    store, interviews = InterviewStore(port), list[JsonValue]()
    if asked.interview_id:
        return _told(store.interview(asked.interview_id))
    for name in store.known()[:LISTED]:
        try:
            interview = store.find(name)
        except EnqueteError as error:  # the others are there all the same
            interviews.append({"interview_id": name, "status": f"unreadable: {error.fact}"})
            continue
        account = interview.told() if interview else {"status": "not begun"}
        shown = ("name", "status", "topic", "question", "end")
        interviews.append({"interview_id": name, **{key: account[key] for key in shown if key in account}})
    return {"interviews": interviews}


async def _driven(port: Port, store: InterviewStore, id: str, budget_tokens: int | None = None) -> dict[str, JsonValue]:
    """To the next question or the end."""
    interview = store.interview(id)
    if interview.run.status != "completed":
        more = {} if budget_tokens is None else {"budget_tokens": budget_tokens}
        await port.resume(
            interview.folder / PERSON, interview.kept.token, out=str(interview.folder),
            in_talk=True, retry_failed=interview.run.status == "failed", **more,
        )  # fmt: skip
    return _told(store.interview(id))


def _told(interview: OpenInterview) -> dict[str, JsonValue]:
    """With what was made of it, once it is over."""
    return {**interview.told(), **(_results(interview) if interview.run.status == "completed" else {})}


def _results(interview: OpenInterview) -> dict[str, JsonValue]:
    folder = interview.folder / RESULTS / interview.run.run
    try:
        codes = json.loads((folder / "pooled_graph.json").read_text("utf-8"))["concepts"]
        links = json.loads((folder / "value_map.json").read_text("utf-8"))["links"]
    except (OSError, ValueError, KeyError):
        return {}
    label: Mapping[str, str] = {code["concept"]: code["label"] for code in codes}
    return {
        "codes": [{"label": code["label"], "type": code["type"], "wordings": code["wordings"]} for code in codes],
        "map": [{"source": label[link["source"]], "target": label[link["target"]]} for link in links],
    }


CHEAPER = "with fewer turns, or with confirm=true: it then pauses at the cap, and goes on when it is named again"
CONVERSED = partial(Operation, answered_by="answer_laddering_interview", ended_by="end_laddering_interview")
PERSON_OPERATIONS = (
    CONVERSED(start_laddering_interview, Beginning, "Begin an interview with a person", over_budget=CHEAPER),
    CONVERSED(answer_laddering_interview, Answered, "Answer in an interview"),
    Operation(end_laddering_interview, OfInterview, "End an interview"),
    Operation(show_laddering_interview, InterviewQuery, "Interviews with persons", reads=True),
)
PERSONS = PersonInterviews(
    start="start_laddering_interview", answer="answer_laddering_interview", end="end_laddering_interview",
    show="show_laddering_interview",
    labels={
        "interview_id": N_("Interview"), "name": N_("Name of a person"), "concept": N_("Concept"),
        "methodology": N_("Way of asking"), "turns": N_("Questions at most"), "language": N_("Language"),
        "model": N_("Model"), "synthetic": N_("Without a model"), "budget_tokens": N_("Cap on tokens"),
        "confirm": N_("Begin although it may cost more than the cap"),
    },
)  # fmt: skip
