"""What a methodology is: a procedure that asks, and a declaration of all its own. A folder each under graphs/."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.state.asking import Answer, Block, Language, Outcome, Participant, ServedModel
from enquete.state.interview_context import InterviewContext

InstrumentT = TypeVar("InstrumentT", bound=BaseModel)
SettingsT = TypeVar("SettingsT", bound=BaseModel)


class Plan(BaseModel):
    """What one arm asks in one phase, for the estimate and for checking: calls by purpose, and rows, as (least, most).

    `attempts`: by part of the instrument, the requests it may take where models often miss the form asked for.
    `by_row`: purposes of which every row takes a request of its own, whatever is asked together.
    `grows`: by purpose, how many times more there may be to work on than a rehearsal, whose answers a rule reads, can
    know.
    """

    model_config = ConfigDict(frozen=True)

    calls: Mapping[str, tuple[int, int]]
    rows: tuple[int, int]
    attempts: Mapping[str, int] = {}
    by_row: frozenset[str] = frozenset()
    grows: Mapping[str, float] = {}


class NoSettings(BaseModel):
    """Nothing to set: what is asked is the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Procedure(ABC, Generic[InstrumentT, SettingsT]):
    """What a methodology asks: independent units in rounds. In which steps, its graph says.

    One round, in which everybody is asked the same, is a list of blocks; all else has its default:

        class Wave(Procedure[Survey, NoSettings]):
            def blocks(self, unit, round, context):
                items = self.instrument.items(self.language)
                return [Block(key=context.key(unit, "items"), instruction="Please answer.", items=items)]
    """

    rounds: int = 1
    """The most there may be: an arm ends where the graph closes it, a unit where `units` leaves it out."""

    carries_over: bool = False
    """Whether a question shows what its unit answered to an earlier one of the same round: then they follow one
    another.
    Else order does not matter: what is asked item by item is asked side by side."""

    seats_together: ClassVar[bool] = False
    """Whether a unit is several agents, chosen among all: a rehearsal holds some units of everybody."""

    answer_columns: ClassVar[tuple[str, ...]] = ()
    """Of the answers' data, appended to all_responses.csv."""

    def __init__(self, instrument: InstrumentT, settings: SettingsT, language: Language):
        self.instrument = instrument
        self.settings = settings
        self.language: Language = language

    @abstractmethod
    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        """The blocks this unit owes in this round: `conduct` asks them, the export expects their rows. None: not known
        yet."""

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        """Who owes something in this round, independent of one another: an agent, a conversation, a discussion."""
        return [who.id for who in context.participants()]

    def seated(self, context: InterviewContext) -> Sequence[str]:
        """Whom it asks at all: everybody, unless only some get a seat."""
        return [who.id for who in context.participants()]

    async def conduct(self, unit: str, round: int, context: InterviewContext) -> Outcome:
        """Ask once, or loop over turns. Rebuilds its state from stored rows, so it may start over at any time."""
        blocks = self.blocks(unit, round, context)
        for block in blocks:
            reply = await context.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    @staticmethod
    def variants(settings: Any) -> Sequence[str]:
        """Further ways of asking that its settings name, each an arm of its own beside the main one (`Arm.variant`)."""
        return ()

    @staticmethod
    def require_persons(settings: Any, people: Sequence[Participant], draw: int) -> None:
        """Refuse settings that seat a person who is not asked: a model would answer in that seat.

        Args:
            settings: the methodology's own.
            people: the agents that the main arm asks.
            draw: the arm's seed of draws, where seats are drawn.

        Raises:
            SettingsError: naming the setting, who has no seat, and who has.
        """

    @staticmethod
    def served(settings: Any) -> Sequence[ServedModel]:
        """Models that its settings have answer in place of an arm's, wherever these are asked (`Block.models`)."""
        return ()

    def plan(self, context: InterviewContext) -> Plan:
        """Counted from what one unit owes in each round. What depends on answers is a methodology's own to say."""
        owed = [
            (len(units), part)
            for number in range(1, self.rounds + 1)
            for units in [self.units(number, context)]
            for block in (self.blocks(units[0], number, context) if units else ())
            for part in block.parts(context.asking)
        ]
        rows = sum(n * len(part.items) for n, part in owed)
        return Plan(
            calls={"answer": (sum(n for n, _ in owed), sum(n * part.attempts for n, part in owed))},
            rows=(rows, rows),
            attempts={part.key.part: part.attempts for _, part in owed if part.constraint is not None},
        )


Truth = Callable[[Participant, Block, Language, int], Sequence[Answer]]
"""A synthetic respondent's planted truth: (who, block, language, seed) → one answer per item."""


class SettingFile(NamedTuple):
    """A file that a setting names, such as a schema, and that may be named where an instrument is.

    `keys`: the keys of such a file, as a user writes them; `is_original`: whether a document is such a file of another
    program. `load` raises InstrumentError. `endings`: of files that are this one in any case.
    """

    setting: str
    keys: Callable[[], Sequence[str]]
    load: Callable[[str], BaseModel]
    endings: tuple[str, ...] = ()
    is_original: Callable[[Mapping[Any, Any]], bool] = lambda _: False


class MethodParts(NamedTuple):
    """What a methodology asks with."""

    instrument: type[Any]  # of BaseModel
    settings: type[BaseModel]  # becomes CLI flags, MCP arguments and Studio context
    procedure: type[Procedure[Any, Any]]
    synthetic: Callable[[Any, Any], Truth] | None = None
    """(instrument, settings) → the planted truth; None: respondents.synthetic.plausible."""
    files: tuple[SettingFile, ...] = ()
    """What `instruments` may name beside an instrument."""


class PersonInterviews(NamedTuple):
    """Operations by which a person is interviewed, turn by turn: what a page or a terminal leads them through.

    `start` takes what its model says (or, to go on, the name alone), `answer` an answer, all of them what names the
    interview, as `keys` call it. They give `status` and `question` (what waits for an answer), `turns` (question,
    answer) and what grows beside the conversation: `graph` (types, nodes, edges), or values under what `record` calls
    them; `show` without a name `interviews`. choices: what of `start` is chosen among those of a list: the operation
    that gives it, and what it calls it. labels: what its fields are called on a page. opens: the operation that begins
    what the first of `keys` names, which a page does for the person; one that is there goes on.
    """

    start: str
    answer: str
    end: str
    show: str
    keys: tuple[str, ...] = ("interview_id",)
    record: str = ""
    choices: Mapping[str, tuple[str, str]] = {}
    labels: Mapping[str, str] = {}
    opens: str = ""


class PairComparisons(NamedTuple):
    """Operations by which one question is asked of two respondents and one of their answers preferred: what a page or a
    terminal leads through.

    They take what names the comparison, as `key` calls it; `prefer` takes a `verdict`, too. They give `pairs`, and
    `to_prefer`: the next pair (question, response_a, response_b); `show` without a name gives `comparisons`.
    labels: what the fields of `ask` are called on a page.
    """

    ask: str
    prefer: str
    judge: str
    show: str
    key: str = "comparison_id"
    labels: Mapping[str, str] = {}


class Offer(NamedTuple):
    """What a methodology offers beside a run (state/methodology.py)."""

    command: str  # of the command line, that carries these out
    taken_for: str  # what a caller takes them for, and when, in English: MCP's instructions tell it
    operations: Callable[[], Sequence[Any]]  # of Operation
    persons: Callable[[], PersonInterviews] | None = None
    pairs: Callable[[], PairComparisons] | None = None


PROBES_OF_CLOSED = ("retest", "options_reversed", "items_shuffled", "paraphrase", "persona_swapped", "persona_null")
"""Probes that make sense for closed questions that are the same for everybody."""


@dataclass(frozen=True, kw_only=True)
class Methodology:
    """Data, not behaviour: each slot is a function or a type, testable alone. One per folder under graphs/.

    What is heavy is given by a function that imports it, so that all methodologies can be listed without importing one.
    """

    name: str
    title: str  # marked for the catalogues
    default: bool  # part of a run that names no methods
    order: int  # place in a run that names no methods
    phases: tuple[str, ...]
    asks: Callable[[], MethodParts]
    graph: Callable[[], Any]  # its compiled graph: in which steps it asks
    evaluation: Callable[[], Any]  # its Evaluation (reports/evaluation.py), all that reads answers: imports pandas
    probes: tuple[str, ...] = PROBES_OF_CLOSED  # kinds that make sense for it: see runs/arms.py
    drafts: Callable[[Any], Mapping[str, str]] | None = None  # files from a discourse: see runs/material.py
    offers: Offer | None = None

    @cached_property
    def _asking(self) -> MethodParts:
        return self.asks()

    @property
    def instrument(self) -> type[Any]:
        return self._asking.instrument

    @property
    def settings(self) -> type[BaseModel]:
        return self._asking.settings

    @property
    def setting_files(self) -> tuple[SettingFile, ...]:
        return self._asking.files

    @property
    def procedure(self) -> type[Procedure[Any, Any]]:
        return self._asking.procedure

    @property
    def synthetic(self) -> Callable[[Any, Any], Truth] | None:
        return self._asking.synthetic


# --- Work done side by side, none of which goes on once one of it has failed -----------------------------------------

T = TypeVar("T")


async def gather(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in their order. Where one raises, the others are ended first: they must not go on paying, or write
    to a ledger that is closed meanwhile."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Within, this goes on; it ends with it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# --- What a methodology offers beside a run: operations that MCP, HTTP, Python and the command line all have, by the
# same name A methodology gives a tuple of them in `Methodology.offers`. A complete one:
#
#     class Asked(BaseModel):
#         name: Annotated[str, Field(description="whom to greet")]
#
#     async def greet(port: Port, asked: Asked) -> dict[str, JsonValue]:
#         '''Say hello.'''
#         return {"said": f"Hello, {asked.name}"}
#
#     OPERATIONS = (Operation(greet, Asked, "Greet", reads=True),)


@dataclass(frozen=True)
class BegunRun:
    """A run that nobody has been asked in yet. respondent, model: who will answer."""

    token: str
    respondent: str
    model: str


@dataclass(frozen=True)
class StoppedRun:
    """A run at its end or next stop. findings: of the methodology that asked for it; {} before there are any."""

    token: str
    status: str
    note: str
    findings: Mapping[str, Any]
    waits_with: str = ""  # the question that a person has yet to answer


@dataclass(frozen=True)
class RunSnapshot:
    """A run as it stands, whoever drives it. respondent, model: who answers in the main arm; settings: the
    methodology's own;
    pinned: its pinned values in the main arm; names: of participants, by id; forms: what waits for a person; submitted:
    what a person of whom nothing is asked now entered last, by participant: a call that gives it again was cut short by
    a kill."""

    run: str
    status: str
    note: str
    language: Language
    respondent: str
    model: str
    settings: Any
    pinned: Mapping[str, JsonValue]
    names: Mapping[str, str]
    forms: Sequence[Block]
    submitted: Mapping[str, Mapping[str, JsonValue]]
    memories: Mapping[str, str | None] = field(default_factory=dict)


class Worker(Protocol):
    """A role of the interviewer (respondents/roles.py)."""

    async def work(
        self, context: InterviewContext, settings: Any, subject: str, data: Any
    ) -> tuple[Any, str] | Literal["short"]: ...


class Port(Protocol):
    """What an operation may touch: files under a root, and runs that the façade drives."""

    @property
    def root(self) -> Path: ...

    @property
    def own_folder(self) -> str | None:
        """Where files lie that callers may name; None: they may name any."""

    def model(self) -> str:
        """Of the environment, that would answer where no respondent is named; "" where none would."""

    def alone(self, out: str) -> AbstractAsyncContextManager[None]:
        """Within, nobody else is within for this folder: what is looked up holds when a run is begun. Raises Busy."""

    async def begin(self, sim: str | Path, **request: Any) -> BegunRun:
        """Write a new run of this methodology alone, as `conduct_interviews` takes it. File its token before
        `resume` asks anybody, so that a call that is killed is gone on with. `sim`: an id under the root, or a file
        that the operation wrote. Raises InputError."""

    async def resume(self, sim: str | Path, token: str, *, in_talk: bool = False, **request: Any) -> StoppedRun:
        """Drive a run to its end or next stop; one driven already, here or elsewhere, is waited for. Raises InputError.
        in_talk: a person answers question after question; nothing is written up while it waits for the next."""

    async def submit(
        self, sim: str | Path, token: str, answers: str | Mapping[str, JsonValue], *, who: str = "", **request: Any
    ) -> None:
        """A person's answers to the form that the run waits with (a participant's, if `who` is named), by item; a text
        is that to all of them. Raises InputError where it waits for none, or an answer is none to its item."""

    async def pin(self, sim: str | Path, token: str, name: str, value: JsonValue, **request: Any) -> None:
        """Pin a value of the methodology for the main arm, as its interview context would."""

    async def work(
        self, sim: str | Path, token: str, name: str, role: Worker, subject: str, data: BaseModel, **request: Any
    ) -> dict[str, JsonValue]:
        """The interviewer's work on what a run holds, by its model through its ledger and budget, or by the role's
        rule; pinned under `name`, with `by`, and not done again. Raises InputError where the budget is short."""

    async def pause(self, out: str, run: str) -> bool:
        """Whether this process drives the run; then it is told to launch nothing more, and waited for. Raises
        InputError where another process drives it."""

    def runs(self, out: str) -> Sequence[str]:
        """The runs of a folder, by name."""

    def look(self, out: str, run: str) -> RunSnapshot:
        """Reads, and touches nothing. Raises LedgerError where the run cannot be read."""


@dataclass(frozen=True)
class Operation:
    """One of them. Its name and its meaning are the function's own; `reads`: it asks nobody and changes nothing.

    over_budget: of one that asks a model, what would let it begin besides a larger `budget_tokens`, where it takes
    that. answered_by: where its reply may wait with a `question` for a person, the operation that takes their `answer`,
    and what else both take; ended_by: the one that ends it at their wish."""

    does: Callable[[Port, Any], Awaitable[dict[str, JsonValue]]]
    takes: type[BaseModel]
    title: str
    reads: bool = False
    over_budget: str = ""
    answered_by: str = ""
    ended_by: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.does.__name__

    @property
    def meaning(self) -> str:
        return " ".join((self.does.__doc__ or "").split())
