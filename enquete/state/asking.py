"""What is asked of whom, and what came back: participants, arms, keys, items, blocks, answers. Data alone.

The agents of a large population: read some at a time where they are kept, never all in memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Final, Literal, NamedTuple, overload

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from enquete.state.model_names import ModelLabel

Outcome = Literal["done", "waiting", "short", "failed"]
"""How a unit, round or methodology ended: done, waiting (for a person, the simulation), short (of budget), failed."""

Status = Literal["ok", "repaired", "refused", "invalid", "failed"]
"""What became of an item that was asked. `not_reached` is derived at export and never stored."""
RESPONDED: tuple[Status, ...] = ("ok", "repaired")
"""Statuses that carry an answer; every other is a typed gap: a missing value."""

Language = str
"""Of what is read: any that there is a catalogue of, see enquete.locale."""

Spoken = Literal["de", "en"]
"""Of interviews: what instruments and packs can be written in."""

Asking = Literal["block", "item"]
"""What a request asks for: all items of a block, or one alone."""

ATTEMPTS: Final = 3
"""Requests in which everything that was asked must have found a readable answer."""

MORE_ATTEMPTS: Final = 2
"""Beyond those, where answers break a constraint over their block."""

MOST_ATTEMPTS: Final = ATTEMPTS + MORE_ATTEMPTS
"""Of one model at one block: the attempts of the next one, where a block names several, are numbered from there."""


@dataclass(frozen=True, slots=True)
class Participant:
    """Who answers. `id` is stable ("agent:<uuid>", "person:<id>", "expert:<id>"), never a row index. Slots: there may
    be 50,000."""

    id: str
    name: str
    stakeholder_type: str
    persona: str
    digest: str | None = None  # None: no memory available (or none wanted, as at T0)
    agent_id: int | None = None  # the simulation's own index, for the export only

    def remembering(self, digest: str | None) -> Participant:
        """The same agent with this memory; most have none, and are not held twice."""
        return self if digest == self.digest else replace(self, digest=digest)


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
probes), options in a random order, options reversed against the main arm's order, the frame of the questions in other
words."""


@lru_cache(maxsize=64)
def _shows(presentation: str) -> frozenset[str]:
    """Asked again for every item of every agent."""
    return frozenset(presentation.split("+")) - {AS_WRITTEN}


class Arm(BaseModel):
    """One condition of answering, pinned before the first call: main, respondent B, a replicate, a probe, a placebo, a
    methodology's other way of asking, humans."""

    model_config = ConfigDict(frozen=True)

    id: str = "main"
    role: Literal["main", "b", "replicate", "probe", "placebo", "variant", "human"] = "main"
    respondent: Literal["llm", "synthetic", "human", "replay"] = "synthetic"
    model: ModelLabel = "synthetic"
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
    variant: str = Field(default="", exclude_if=lambda name: not name)  # a way of asking, as the methodology calls it

    @property
    def aside(self) -> bool:
        """Asked after the main arm and never before it: all but people. They cost extra calls."""
        return self.role not in ("main", "human")

    @property
    def shows(self) -> frozenset[str]:
        """What differs from the instrument as written: members of PRESENTATIONS."""
        return _shows(self.presentation)

    def is_asked(self, methodology: str, phase: str) -> bool:
        return (not self.methods or methodology in self.methods) and (not self.phases or phase in self.phases)

    @field_validator("presentation")
    @classmethod
    def _known(cls, given: str) -> str:
        unknown = [part for part in given.split("+") if part not in PRESENTATIONS]
        if unknown and given != AS_WRITTEN:
            raise ValueError(f"{AS_WRITTEN!r}, or some of {', '.join(PRESENTATIONS)} joined by '+'; not {unknown[0]!r}")
        return given


class ServedModel(BaseModel):
    """A model that answers in place of the arm's, and where it is asked. model "": the arm's; base_url "": the run's
    own server; key_variable: the environment variable that holds the key of that server, never the key; "": the run's
    key at the run's server, none at another; temperature None: the arm's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelLabel = ""
    base_url: str = ""
    key_variable: str = ""
    temperature: float | None = None

    def label(self, model: str) -> str:
        """As which its calls are filed and told; with its server where that is another one. `model`: the arm's."""
        host = self.base_url.partition("://")[2].rpartition("@")[2].removesuffix("/v1")
        return f"{self.model or model} ({host})" if host else self.model or model


class BlockKey(NamedTuple):
    """One occasion of asking: '' or 0 where a field is unused. The key of an answer is this without `part`, plus the
    item."""

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

    @property
    def whose(self) -> str:
        """The participant it is about; else what it is about."""
        return self.subject.partition("|")[0]


class _Fixed(BaseModel):
    """Compared for each question of each prompt, as what was written of it is kept by it: pydantic's own comparison
    takes four times as long."""

    model_config = ConfigDict(frozen=True)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))


class Option(_Fixed):
    """One answer option of a closed question."""

    value: int | str
    label: str


class Item(_Fixed):
    """One question. `id` is a path unique in the pinned instrument: 'recovery/fairness', 'theme:9f3a/importance'.

    scale and choice take one of `options`, ranking puts all of them in order, best_worst names two; number lies in
    [minimum, maximum]; text is free.
    """

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

    def __hash__(self) -> int:  # of all its parts it would take ten times as long, for each question of each prompt
        return hash((self.id, self.wording))

    def options_in_shown_order(self) -> tuple[Option, ...]:
        if not self.shown:
            return self.options
        by_value = {option.value: option for option in self.options}
        return tuple(by_value[value] for value in self.shown)


def scale_item(
    id: str,
    wording: str,
    options: tuple[Option, ...],
    *,
    about: str = "",
    confidence: bool = False,
    reason: bool = False,
) -> Item:
    """A rating. `options`: the points, ascending."""
    low, high = float(options[0].value), float(options[-1].value)
    return Item(
        id=id, kind="scale", wording=wording, about=about, options=options, minimum=low, maximum=high,
        confidence=confidence, reason=reason,
    )  # fmt: skip


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
    in_order: bool = False  # the items have an order of their own: later ones lead on from earlier ones
    by_person: bool = False  # whoever answers the arm's other blocks, this one is a person's: a form
    models: tuple[ServedModel, ...] = Field(default=(), exclude_if=lambda models: not models)
    """Where the arm's answers are a model's, the ones that are asked this, the next where one cannot be had."""

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


@dataclass(slots=True)
class Answer:
    """What one item of a block got. `value` is the raw number; rekeying is analysis.

    Filled in step by step by who makes it, then left alone: made anew at each step it took a twentieth of a call's CPU.
    """

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
    """'waiting': a form was filed for a person; 'short': no budget. Neither stores answers; both are asked again
    later."""

    state: Outcome
    answers: tuple[Answer, ...] = ()
    by: str = ""  # the model that answered, where the block names its own


# --- Large populations -----------------------------------------------------------------------------------------------

FEW = 5000
"""Agents that are held in memory, as a list; of more than these none is held for long."""
PAGE = 250
"""Agents that are read together."""
MOST_PAGES = 8

Change = Callable[[Sequence[Participant]], Sequence[Participant]]
"""Of a page: the same agents, as somebody else sees them (with a memory, with another persona)."""


class PagedPeople(Sequence[Participant]):
    """Agents in their order. `read` gives those at places from `low` below `high`, `find` one by id: None where there
    is none. Safe between threads where these are."""

    def __init__(
        self,
        length: int,
        read: Callable[[int, int], Sequence[Participant]],
        find: Callable[[str], Participant | None],
    ) -> None:
        self._length, self._read, self._find = length, read, find
        self._pages: OrderedDict[int, Sequence[Participant]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Participant: ...
    @overload
    def __getitem__(self, place: slice) -> list[Participant]: ...
    def __getitem__(self, place: int | slice) -> Participant | list[Participant]:
        if isinstance(place, slice):
            low, high, step = place.indices(self._length)
            if step == 1:
                return list(self._read(low, high)) if high > low else []
            return [self[each] for each in range(low, high, step)]
        number = place + self._length if place < 0 else place
        if not 0 <= number < self._length:
            raise IndexError(f"there are {self._length} agents, none at {place}")
        return self._page(number // PAGE)[number % PAGE]

    def __iter__(self) -> Iterator[Participant]:
        for low in range(0, self._length, PAGE):
            yield from self._read(low, min(low + PAGE, self._length))

    def _page(self, number: int) -> Sequence[Participant]:
        with self._lock:
            page = self._pages.get(number)
            if page is None:
                page = self._read(number * PAGE, min((number + 1) * PAGE, self._length))
                self._pages[number] = page
                if len(self._pages) > MOST_PAGES:
                    self._pages.popitem(last=False)
            return page

    def with_id(self, participant_id: str) -> Participant:
        """Raises KeyError."""
        who = self._find(participant_id)
        if who is None:
            raise KeyError(participant_id)
        return who

    def changed(self, change: Change) -> PagedPeople:
        """The same agents, each page changed when it is read."""

        def find(participant_id: str) -> Participant | None:
            who = self._find(participant_id)
            return None if who is None else change([who])[0]

        return PagedPeople(self._length, lambda low, high: change(self._read(low, high)), find)
