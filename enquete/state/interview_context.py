"""What methodology code may touch (`InterviewContext`), and behind it, as protocols, metered model and respondent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from enquete.state.asking import Answer, Arm, Asking, Block, BlockKey, CallKey, Language, Participant, Reply

ResultT = TypeVar("ResultT", bound=BaseModel)

REHEARSAL = "rehearsal"
"""The run of a rehearsal, in which nobody waits for a person."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as it will be sent. `system` is byte-identical for one agent within a methodology, arm and phase."""

    system: str
    messages: tuple[Mapping[str, str], ...]  # role and content, after the system message
    schema: str  # of the reply, as compact JSON: thousands of prompts share one; "": free text
    max_output_tokens: int
    shortens: tuple[str, ...] = ()  # passages of `system` that give way where the context is too small, in this order
    says_form: bool = False  # the form of the reply is in the messages too: who sends the schema need not write it out


@dataclass(frozen=True, slots=True)
class Completion:
    """A settled call: what came back, parsed by nobody yet."""

    text: str
    finish: str = "stop"  # stop, length, content_filter, refusal, other
    model: str = field(default="", compare=False)  # that was asked


class Metered(Protocol):
    """The model client as respondents and interviewers see it: reserves before a request, settles after it, keeps the
    raw response."""

    async def request(
        self,
        key: CallKey,
        compose: Callable[[], Prompt],
        offline: Callable[[], str] | None = None,
        *,
        has_standby: bool = False,
    ) -> Completion | Literal["short", "failed"]:
        """A settled response to `key` if there is one; else compose, reserve, send, settle.

        `offline` answers without a network (synthetic respondent, rule-based interviewer) and is metered by estimate.
        `has_standby`: another model is asked where this one fails, so that it stops no run, not even where the server
        does not have it.
        """


class Respondent(Protocol):
    """How an answer is made: llm, synthetic, human, replay.

    A complete one, which refuses everything:

        class Refuser:
            async def ask(self, who, block, model):
                return Reply("done", tuple(Answer(item.id, "refused") for item in block.items))
    """

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """Exactly one Answer per item when done. Model faults are statuses, bugs raise."""


@dataclass(frozen=True)
class InterviewerTask(Generic[ResultT]):
    """The interviewer's own work: input, the prompt built from it, the result's type, and a rule that does it without a
    model."""

    purpose: str
    subject: str
    data: BaseModel
    prompt: Callable[[Any, Language], str]
    result: type[ResultT]
    rule: Callable[[Any], ResultT]
    max_output_tokens: int = 2000
    schema: Callable[[Any], Mapping[str, JsonValue]] | None = None  # narrower than the result's own, from the data
    model: str = ""  # of this role; "": the main arm's
    fallback: str = ""  # asked when `model` gave nothing, or nothing that can be read; "": nobody
    quick: bool = False  # its rule takes less than a thread for it would


class InterviewContext(Protocol):
    """All that methodology code may touch, bound to run, arm, methodology and phase. It may be begun anew any time."""

    run: str
    arm: Arm
    main_arm: str  # whose themes and feedback the other arms answer about
    methodology: str
    phase: str
    language: Language
    asking: Asking
    by_model: bool
    """Whether a model does the interviewer's work, not its rules; in a rehearsal: whether one will."""

    def participants(self) -> Sequence[Participant]:
        """Whom this arm asks, in the population's stable order; persona and digest as this arm and phase have them."""

    def participant(self, participant_id: str) -> Participant: ...

    def key(self, participant: str, part: str, *, session: str = "", round: int = 0, turn: int = 0) -> BlockKey: ...

    def stored(self, key: BlockKey) -> Mapping[str, Answer]:
        """Stored answers of that occasion by item: what a participant said before, to rebuild a conversation from."""

    async def ask(self, block: Block) -> Reply:
        """Look up, else ask, then commit answers and counters in one transaction. Splits the block when items are asked
        one by one."""

    async def work(self, task: InterviewerTask[ResultT]) -> ResultT | Literal["short", "failed"]:
        """The interviewer's own work, by a model through the same ledger, or by its rule without one."""

    async def worked(self, task: InterviewerTask[ResultT]) -> tuple[ResultT, str] | Literal["short", "failed"]:
        """The same, and which model did it ("rule" without one)."""

    async def pin(self, name: str, value: JsonValue) -> JsonValue:
        """First writer wins: themes, feedback, round closed. Returns what is stored."""

    def pinned(self, name: str, *, arm: str | None = None) -> JsonValue:
        """A pinned value of this methodology and phase (of this arm unless named), or None."""

    def answers(
        self, *, arm: str, phase: str | None = None, round: int | None = None
    ) -> AsyncIterator[tuple[BlockKey, Answer]]:
        """Stored answers of this methodology, in a stable order. The arm is named, so that none leaks."""
