"""The seam of Enquete: what methodologies, respondents and stores say to one another.

Methodology code sees only a `Desk`; a respondent sees only a `Participant`, a `Block` and a `Metered` model.
Everything here is data or a protocol, so the local, the cluster and the test forms are alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    JsonValue,
    field_validator,
)

Outcome = Literal["done", "waiting", "short", "failed"]
"""How a unit, a round or a methodology ended: done, waiting (for a person or the simulation), short (of budget), failed."""

Status = Literal["ok", "repaired", "refused", "invalid", "failed"]
"""What became of an item that was asked. `not_reached` is derived at export and never stored."""

Language = Literal["de", "en"]

Asking = Literal["block", "item"]
"""What a request asks for: all items of a block, or one after another."""

ATTEMPTS: Final = 3
"""Requests in which everything that was asked must have found a readable answer."""

MORE_ATTEMPTS: Final = 2
"""Beyond those, where answers break a constraint over their block."""

InstrumentT = TypeVar("InstrumentT", bound=BaseModel)
SettingsT = TypeVar("SettingsT", bound=BaseModel)
ResultT = TypeVar("ResultT", bound=BaseModel)


class Participant(BaseModel):
    """Who answers. `id` is stable ("agent:<uuid>", "person:<id>", "expert:<id>"), never a row index."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    stakeholder_type: str
    persona: str
    digest: str | None = None  # None: no memory available (or none wanted, as at T0)
    agent_id: int | None = None  # the simulation's own index, for the export only


AS_WRITTEN = "as_written"
PRESENTATIONS = (
    "items_random",
    "items_shuffled",
    "items_shuffled_2",
    "options_random",
    "options_reversed",
    "paraphrased",
)
"""What an arm may do to a block: items in a random order of each agent's own (three draws: the main arm's and two for
probes), options in a random order, options reversed against the main arm's order, the frame of the questions in other words."""


class Arm(BaseModel):
    """One condition of answering, frozen before the first call: main, respondent B, a replicate, a probe, a placebo, humans."""

    model_config = ConfigDict(frozen=True)

    id: str = "main"
    role: Literal["main", "b", "replicate", "probe", "placebo", "human"] = "main"
    respondent: Literal["llm", "synthetic", "human", "replay"] = "synthetic"
    model: str = "synthetic"
    temperature: float = 0.7
    seed: int = 0
    persona: Literal["own", "swapped", "null"] = "own"
    digest: Literal["own", "none", "neutral"] = "own"
    presentation: str = AS_WRITTEN  # or some of PRESENTATIONS, joined by "+"
    elicitation: Literal["point", "distribution"] = "point"  # of scale and choice items outside a forced grid
    methods: tuple[str, ...] = ()  # methodologies that this arm is asked; (): all of the run
    phases: tuple[str, ...] = ()  # phases that this arm is asked in; (): all
    sample: int = 0  # agents asked, stratified by stakeholder type; 0: everybody
    draw_seed: int = 0  # of samples, orders and exchanged personas: the same in all arms of a run
    asks: Literal["instrument", "controls"] = "instrument"  # controls: neutral items in place of the instrument's
    feedback: Literal["panel", "false"] = "panel"  # false: medians that nobody gave (Delphi)

    @property
    def aside(self) -> bool:
        """Asked after the main arm and never before it: probes, placebo, replicates. They cost extra calls."""
        return self.role in ("replicate", "probe", "placebo")

    @property
    def shows(self) -> frozenset[str]:
        """What differs from the instrument as written: members of PRESENTATIONS."""
        return frozenset(self.presentation.split("+")) - {AS_WRITTEN}

    def is_asked(self, methodology: str, phase: str) -> bool:
        return (not self.methods or methodology in self.methods) and (not self.phases or phase in self.phases)

    @field_validator("presentation")
    @classmethod
    def _known(cls, given: str) -> str:
        unknown = [part for part in given.split("+") if part not in PRESENTATIONS]
        if unknown and given != AS_WRITTEN:
            raise ValueError(f"{AS_WRITTEN!r}, or some of {', '.join(PRESENTATIONS)} joined by '+'; not {unknown[0]!r}")
        return given


class BlockKey(NamedTuple):
    """One occasion of asking: '' or 0 where a field is unused. The key of an answer is this without `part`, plus the item."""

    run: str
    arm: str
    methodology: str
    phase: str
    session: str  # a discussion or conversation
    round: int  # barrier index (Delphi, roundtable)
    turn: int  # order within a session and round
    participant: str
    part: str  # instrument part, or the single item when items are asked one by one

    @property
    def subject(self) -> str:
        """The block's name within its run, arm, methodology and phase: what a call about it is filed under."""
        return f"{self.participant}|{self.session}|{self.round}|{self.turn}|{self.part}"


class CallKey(NamedTuple):
    """Any paid request, the respondent's or the interviewer's. Looked up before a prompt is even built."""

    run: str
    arm: str
    methodology: str
    phase: str
    purpose: str  # answer, theme, extract, signal, question, critic, narrative
    subject: str  # BlockKey.subject, "round 1/batch 3", a pair, a report section
    attempt: int


class Option(BaseModel):
    """One answer option of a closed question."""

    model_config = ConfigDict(frozen=True)

    value: int | str
    label: str


class Item(BaseModel):
    """One question. `id` is a path unique in the frozen instrument: 'recovery/fairness', 'theme:9f3a/importance'.

    scale and choice take one of `options`, ranking puts all of them in order, best_worst names two; number lies in
    [minimum, maximum]; text is free.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    kind: Literal["scale", "choice", "number", "text", "ranking", "best_worst"]  # see respondents/kinds
    wording: str
    about: str = ""  # other people's words that the question is about: shown fenced, as data
    options: tuple[Option, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    confidence: bool = False  # also ask for a self-reported confidence, 0–1
    reason: bool = False  # also ask for a reason, stored as the answer's text
    shown: tuple[int | str, ...] = ()  # option values in the order shown; empty: as in `options`
    elicitation: Literal["point", "distribution"] = "point"
    paraphrase: str = ""  # the same question in other words, where the instrument has them

    def options_in_shown_order(self) -> tuple[Option, ...]:
        if not self.shown:
            return self.options
        by_value = {option.value: option for option in self.options}
        return tuple(by_value[value] for value in self.shown)


class Block(BaseModel):
    """What is asked at once: one prompt, one human form, one retry scope."""

    model_config = ConfigDict(frozen=True)

    key: BlockKey
    instruction: str
    items: tuple[Item, ...]
    constraint: JsonValue = None  # over all items, such as a forced grid
    shown: tuple[str, ...] = ()  # item ids in the order shown; empty: as in `items`
    quoted: tuple[tuple[str, str], ...] = ()  # (heading, text): feedback, transcript; fenced as untrusted data
    frame: Literal["as_written", "paraphrased"] = "as_written"  # the respondent's own words around the questions

    @property
    def attempts(self) -> int:
        """Requests that it may take."""
        return ATTEMPTS if self.constraint is None else ATTEMPTS + MORE_ATTEMPTS

    def parts(self, asking: Asking) -> list[Block]:
        """As it is asked: whole, or one item at a time. A constraint over all items keeps it whole."""
        if asking == "block" or self.constraint is not None or len(self.items) == 1:
            return [self]
        return [
            self.model_copy(update={"key": self.key._replace(part=item.id), "items": (item,), "shown": ()})
            for item in self.in_shown_order()
        ]

    def in_shown_order(self) -> tuple[Item, ...]:
        if not self.shown:
            return self.items
        by_id = {item.id: item for item in self.items}
        return tuple(by_id[item_id] for item_id in self.shown)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one item of a block got. `value` is the raw number; rekeying is analysis."""

    item: str
    status: Status
    value: float | None = None
    text: str = ""
    confidence: float | None = None
    data: JsonValue = None  # a choice, a distribution, anything that is no number
    notes: tuple[str, ...] = ()  # "confidence 80 read as 0.8", "late"
    position: int = 0  # 1-based position in the order shown
    options_shown: tuple[int | str, ...] = ()  # option values in the order shown


@dataclass(frozen=True, slots=True)
class Reply:
    """'waiting': a form was filed for a person; 'short': no budget. Neither stores answers; both are asked again later."""

    state: Outcome
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as it will be sent. `system` is byte-identical for one agent within a methodology, arm and phase."""

    system: str
    messages: tuple[Mapping[str, str], ...]  # role and content, after the system message
    schema: Mapping[str, JsonValue]
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A settled call: what came back, parsed by nobody yet."""

    text: str
    finish: str = "stop"  # stop, length, content_filter, refusal


class Metered(Protocol):
    """The model client as respondents and interviewers see it: reserves before a request, settles after it, keeps the raw response."""

    async def request(
        self, key: CallKey, compose: Callable[[], Prompt], offline: Callable[[], str] | None = None
    ) -> Completion | Literal["short", "failed"]:
        """A settled response to `key` if there is one; else compose, reserve, send, settle.

        `offline` answers without a network (synthetic respondent, rule-based interviewer) and is metered by estimate.
        """
        ...


class Respondent(Protocol):
    """How an answer is made: llm, synthetic, human, replay.

    A complete one, which refuses everything:

        class Refuser:
            async def ask(self, who, block, model):
                return Reply("done", tuple(Answer(item.id, "refused") for item in block.items))
    """

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """Exactly one Answer per item when done. Model faults are statuses, bugs raise."""
        ...


@dataclass(frozen=True)
class InterviewerTask(Generic[ResultT]):
    """The interviewer's own work: input, the prompt built from it, the result's type, and a rule that does it without a model."""

    purpose: str
    subject: str
    data: BaseModel
    prompt: Callable[[Any, Language], str]
    result: type[ResultT]
    rule: Callable[[Any], ResultT]
    max_output_tokens: int = 2000
    schema: Callable[[Any], Mapping[str, JsonValue]] | None = None  # narrower than the result's own, from the data
    model: str = ""  # of this role; "": the main arm's
    fallback: str = ""  # asked when `model` gave nothing that can be read; "": nobody


class Desk(Protocol):
    """All that methodology code may touch, bound to run, arm, methodology and phase. It may be started over at any time."""

    run: str
    arm: Arm
    main_arm: str  # whose themes and feedback the other arms answer about
    methodology: str
    phase: str
    language: Language
    asking: Asking

    def participants(self) -> Sequence[Participant]:
        """Whom this arm asks, in the population's stable order; persona and digest as this arm and phase have them."""
        ...

    def participant(self, participant_id: str) -> Participant: ...

    def key(self, participant: str, part: str, *, session: str = "", round: int = 0, turn: int = 0) -> BlockKey: ...

    def stored(self, key: BlockKey) -> Mapping[str, Answer]:
        """Stored answers of that occasion by item: what a participant said before, to rebuild a conversation from."""
        ...

    async def ask(self, block: Block) -> Reply:
        """Look up, else ask, then commit answers and counters in one transaction. Splits the block when items are asked one by one."""
        ...

    async def work(self, task: InterviewerTask[ResultT]) -> ResultT | Literal["short", "failed"]:
        """The interviewer's own work, by a model through the same ledger, or by its rule without one."""
        ...

    def answered_by(self, task: InterviewerTask[ResultT]) -> str:
        """Which model did this work ("rule" without one); "" before it is done."""
        ...

    async def freeze(self, name: str, value: JsonValue) -> JsonValue:
        """First writer wins: themes, feedback, round closed. Returns what is stored."""
        ...

    def frozen(self, name: str, *, arm: str | None = None) -> JsonValue:
        """A frozen value of this methodology and phase (of this arm unless named), or None."""
        ...

    def answers(
        self, *, arm: str, phase: str | None = None, round: int | None = None
    ) -> AsyncIterator[tuple[BlockKey, Answer]]:
        """Stored answers of this methodology, in a stable order. The arm must be named, so that none leaks into a result."""
        ...


class Plan(BaseModel):
    """What one arm asks in one phase, for the estimate and for checking: calls by purpose, and rows, as (least, most).

    `attempts`: by part of the instrument, the requests it may take where models often miss the form asked for.
    `by_row`: purposes of which every row takes a request of its own, whatever is asked together.
    """

    model_config = ConfigDict(frozen=True)

    calls: Mapping[str, tuple[int, int]]
    rows: tuple[int, int]
    attempts: Mapping[str, int] = {}
    by_row: frozenset[str] = frozenset()


class NoSettings(BaseModel):
    """Nothing to set: what is asked is the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Procedure(ABC, Generic[InstrumentT, SettingsT]):
    """How a methodology interviews: independent units in rounds, with a barrier after each.

    One round, in which everybody is asked the same, is a list of blocks; all else has its default:

        class Wave(Procedure[Survey, NoSettings]):
            def blocks(self, unit, round, desk):
                items = self.instrument.items(self.language)
                return [Block(key=desk.key(unit, "items"), instruction="Please answer.", items=items)]
    """

    rounds: int = 1
    """The most there may be: an arm ends where `between` says so, a unit where `units` leaves it out."""

    def __init__(self, instrument: InstrumentT, settings: SettingsT, language: Language):
        self.instrument = instrument
        self.settings = settings
        self.language: Language = language

    @abstractmethod
    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        """The blocks this unit owes in this round: `conduct` asks them, the export expects their rows. None: not known yet."""

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        """Who owes something in this round: an agent, a conversation or a whole discussion, independent of one another."""
        return [who.id for who in desk.participants()]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        """Ask once, or loop over turns. Rebuilds its state from stored rows, so it may start over at any time."""
        for block in self.blocks(unit, round, desk):
            reply = await desk.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["next", "end", "waiting", "short", "failed"]:
        """After the barrier: code themes, freeze medians, test exit criteria. Each arm goes by its own verdict."""
        return "end"

    def plan(self, desk: Desk) -> Plan:
        """Counted from what one unit owes in each round. What depends on answers is a methodology's own to say."""
        owed = [
            (len(units), part)
            for number in range(1, self.rounds + 1)
            for units in [self.units(number, desk)]
            for block in (self.blocks(units[0], number, desk) if units else ())
            for part in block.parts(desk.asking)
        ]
        rows = sum(n * len(part.items) for n, part in owed)
        return Plan(
            calls={"answer": (sum(n for n, _ in owed), sum(n * part.attempts for n, part in owed))},
            rows=(rows, rows),
            attempts={part.key.part: part.attempts for _, part in owed if part.constraint is not None},
        )


Truth = Callable[[Participant, Block, Language, int], Sequence[Answer]]
"""A synthetic respondent's planted truth: (who, block, language, seed) → one answer per item."""


Readout = Callable[[Desk, int], Mapping[str, Mapping[str, object]]]
"""Channels that a reader of Studio wants to see after a round: (desk of the main arm, round) → updates."""


@dataclass(frozen=True)
class Steps:
    """What a reader of Studio calls the steps of a methodology's graph (nodes/rounds.py), and sees after a round."""

    open: str = "open_round"
    ask: str = "ask"
    close: str = "close_round"
    readout: Readout | None = None


PROBES_OF_CLOSED = ("retest", "options_reversed", "items_shuffled", "paraphrase", "persona_swapped", "persona_null")
"""Probes that make sense for closed questions that are the same for everybody."""


@dataclass(frozen=True)
class Methodology(Generic[InstrumentT, SettingsT]):
    """Data, not behaviour: each slot is a function or a type, testable alone. One per folder under graphs/."""

    name: str
    title: Mapping[str, str]  # by language
    default: bool  # part of a run that names no methods
    order: int  # place in a run that names no methods
    phases: tuple[str, ...]
    instrument: type[InstrumentT]
    settings: type[SettingsT]  # becomes CLI flags, MCP arguments and Studio context
    procedure: Callable[[InstrumentT, SettingsT, Language], Procedure[Any, Any]]
    results: str  # dotted path of its Evaluation (reports/evaluation.py), all that reads answers; imported on first use
    synthetic: Callable[[InstrumentT, SettingsT], Truth] | None = (
        None  # the planted truth; None: respondents.synthetic.plausible
    )
    steps: Steps = field(default=Steps())  # of its graph
    answer_columns: tuple[str, ...] = field(default=())  # appended to all_responses.csv
    probes: tuple[str, ...] = field(default=PROBES_OF_CLOSED)  # kinds that make sense for it: see nodes/arms.py
