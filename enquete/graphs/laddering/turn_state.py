"""What the ten nodes of a turn read and write, typed. LangGraph hands a node the keys of its own input alone; the contract
test holds it to its output (tests/graphs/laddering)."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict

from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.extraction import Extraction, Known
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import Changes, KnowledgeGraph
from enquete.graphs.laddering.nodestate import Depth, States
from enquete.graphs.laddering.readings import Readings
from enquete.graphs.laddering.scoring import Candidate, Choice
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.signals.base import Past
from enquete.graphs.laddering.signals.registry import Detected
from enquete.graphs.laddering.stopping import Reason
from enquete.state.seam import Desk, Outcome, Status


@dataclass(frozen=True)
class TurnContext:
    """What every node may use beside its input."""

    desk: Desk
    instrument: LadderingInstrument
    settings: LadderingSettings


@dataclass(frozen=True)
class Utterance:
    """What was said in a turn, "" where nothing was."""

    id: str
    text: str
    status: Status


class TurnInput(TypedDict):
    interview: Interview


class TurnOutput(TypedDict, total=False):
    outcome: Outcome
    result: Interview


class Context(TypedDict):
    known: list[Known]
    focus: Known | None
    aims: list[str]
    transcript: list[tuple[str, str]]


class UtteranceReads(TypedDict):
    interview: Interview


class UtteranceWrites(TypedDict, total=False):
    outcome: Outcome
    utterance: Utterance


class ExtractionReads(TypedDict):
    interview: Interview
    utterance: Utterance
    known: list[Known]
    focus: Known | None
    aims: list[str]


class ExtractionWrites(TypedDict, total=False):
    outcome: Outcome
    extraction: Extraction
    extracted_by: str


class GraphReads(TypedDict):
    interview: Interview
    utterance: Utterance
    extraction: Extraction


class GraphWrites(TypedDict):
    graph: KnowledgeGraph
    changes: Changes


class ComputationReads(TypedDict):
    interview: Interview
    utterance: Utterance
    graph: KnowledgeGraph
    changes: Changes


class ComputationWrites(TypedDict, total=False):
    outcome: Outcome
    readings: Readings
    judged_by: str
    depth: Depth
    chain: int
    states: States
    coverage: Coverage
    past: list[Past]
    detected: Detected


class SelectionReads(TypedDict):
    interview: Interview
    graph: KnowledgeGraph
    past: list[Past]
    detected: Detected


class SelectionWrites(TypedDict):
    candidates: list[Candidate]
    choice: Choice | None


class ContinuationReads(TypedDict):
    interview: Interview
    past: list[Past]
    states: States
    detected: Detected
    candidates: list[Candidate]
    choice: Choice | None


class ContinuationWrites(TypedDict):
    stop: Reason
    choice: Choice | None  # a closing question in place of the one that was chosen


class QuestionReads(TypedDict):
    interview: Interview
    utterance: Utterance
    graph: KnowledgeGraph
    detected: Detected
    choice: Choice | None
    transcript: list[tuple[str, str]]


class QuestionWrites(TypedDict, total=False):
    outcome: Outcome
    question: str
    worded_by: str


class ResponseReads(TypedDict):
    states: States
    choice: Choice | None


class ResponseWrites(TypedDict):
    states: States


class PersistenceReads(TypedDict, total=False):
    interview: Interview
    utterance: Utterance
    extracted_by: str
    judged_by: str
    worded_by: str
    changes: Changes
    readings: Readings
    depth: Depth
    chain: int
    states: States
    coverage: Coverage
    detected: Detected
    choice: Choice | None
    stop: Reason
    question: str


class PersistenceWrites(TypedDict):
    outcome: Outcome
    result: Interview


class TurnState(TypedDict, total=False):
    """All channels of a turn; each has one writer, but for outcome (who stops) and states (answer, then choice)."""

    interview: Interview
    known: list[Known]
    focus: Known | None
    aims: list[str]
    transcript: list[tuple[str, str]]
    outcome: Outcome
    utterance: Utterance
    extraction: Extraction
    extracted_by: str
    graph: KnowledgeGraph
    changes: Changes
    readings: Readings
    judged_by: str
    depth: Depth
    chain: int
    states: States
    coverage: Coverage
    past: list[Past]
    detected: Detected
    candidates: list[Candidate]
    choice: Choice | None
    stop: Reason
    question: str
    worded_by: str
    result: Interview
