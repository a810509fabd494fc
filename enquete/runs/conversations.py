"""Conversations: units that are asked turn by turn, each at its own pace, with their stored turns as the checkpoint.

A unit is one participant (an interview) or several (a discussion). What an answer means, and what is asked next, is the
methodology's; asking, storing, going on after a kill, asking again what failed and what is owed stands here. A complete
one, which asks everybody twice, and sums up by a role (respondents/roles.py):

    class NotedState(TurnOutcome, total=False):
        talk: Conversation[Noted]

    async def ask_and_note(state: NotedState, runtime: Runtime[Noting]) -> NotedState:
        survey, context, talk = runtime.context.survey, runtime.context.interview_context, state["talk"]
        (asked,) = survey.due(talk, context)
        heard = await hear(context, [survey.block(talk, asked, context)])
        if isinstance(heard, str):
            return {"outcome": heard}  # short, waiting or failed: everything so far is found again
        done = await GIST.work(context, survey.settings, subject(talk.unit, asked.turn), Said(text=heard[0].text))
        if done == "short":
            return {"outcome": "short"}
        note = Noted(**asked.model_dump(), **heard[0].kept, gist=done[0].text, by={"gist": done[1]})
        return {"talk": talk.after(await keep(context, talk.unit, note))}

    async def choose_next(state: NotedState) -> Literal["again", "end"]:
        return "end" if state.get("outcome") or state["talk"].number > 2 else "again"

    builder = StateGraph(NotedState, context_schema=Noting)
    builder.add_node("ask_and_note", ask_and_note)
    builder.add_edge(START, "ask_and_note")
    builder.add_conditional_edges("ask_and_note", choose_next, {"again": "ask_and_note", "end": END})
    interview = builder.compile()

    class TwoQuestions(Conversations[Survey, NoSettings, Noted, Conversation[Noted]]):
        turn, roles, most_turns = Noted, (GIST,), 2

        def begun(self, unit, context):
            return Conversation(unit)

        def due(self, talk, context):
            if talk.number > self.most_turns:
                return []
            return [Asked(turn=talk.number, question=QUESTIONS[talk.number - 1])]

        def block(self, talk, asked, context):
            said = transcript(talk.turns, context.language)
            return turn_block(context, talk.unit, asked, "Please answer.", heading="The interview so far", said=said)

        async def hold(self, talk, context):
            return await run_conversation(interview, {"talk": talk}, max_steps=4, context=Noting(context, self))

A discussion answers with `participant` and `round` in what it asks, hears all blocks of a round at once where its
participants do not see one another's answers of that round, and keeps a turn each
(tests/support/conversation_methods.py has both).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue
from typing_extensions import TypedDict

from enquete.locale import N_, tell
from enquete.respondents.roles import Role
from enquete.state.asking import ATTEMPTS, RESPONDED, Answer, Block, Item, Language, Outcome, Status
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import InstrumentT, Plan, Procedure, SettingsT, gather

LABELS = (N_("Question"), N_("Answer"))
ANSWERED = "answer"
"""Work of `Turn.by`: to have answered."""


class Asked(BaseModel):
    """Whose turn it is, and with which question. `turn`: from 1, counted over the whole conversation; `participant`: ""
    where the unit itself is the only one; `round`: of a discussion, in which everybody has a turn."""

    model_config = ConfigDict(frozen=True)

    turn: int
    question: str = ""
    participant: str = ""
    round: int = 0


class Turn(Asked):
    """A turn as it is pinned. A methodology adds what its conversation is rebuilt from, never what follows from that.

    `answer`: "" where nothing was said; `stop`: why the conversation is over with this turn; `by`: work → who did it, a
    model, RULE, or "" where there was nothing to do.
    """

    status: Status
    answer: str = ""
    stop: str = ""
    by: Mapping[str, str] = {}


TurnT = TypeVar("TurnT", bound=Turn)


@dataclass(frozen=True)
class Conversation(Generic[TurnT]):
    """What a unit's turns so far add up to. A methodology adds what it reduces from them (a graph, a record) in
    `after`, the one way at work as in reading back: what goes on after a kill is the conversation that was begun."""

    unit: str
    turns: tuple[TurnT, ...] = ()

    @property
    def number(self) -> int:
        """Of the turn that is next, from 1."""
        return len(self.turns) + 1

    @property
    def stop(self) -> str:
        """Why it is over, "" while it goes on."""
        return self.turns[-1].stop if self.turns else ""

    def after(self, turn: TurnT) -> Self:
        """With one turn more."""
        return replace(self, turns=(*self.turns, turn))


TalkT = TypeVar("TalkT", bound=Conversation[Any])


class Conversations(Procedure[InstrumentT, SettingsT], Generic[InstrumentT, SettingsT, TurnT, TalkT]):
    """A procedure (state/methodology.py) of one round, in which every unit's conversation is held to its end.

    A unit may be started over at any time: what was kept is read back, what was answered or worked out since is found
    by the context. Every arm holds its own conversations.
    """

    carries_over = True
    turn: type[TurnT]
    roles: tuple[Role[Any, Any], ...] = ()
    """What every turn may need of the interviewer."""

    @property
    @abstractmethod
    def most_turns(self) -> int:
        """Of one unit."""

    @abstractmethod
    def begun(self, unit: str, context: InterviewContext) -> TalkT:
        """The conversation before its first turn."""

    @abstractmethod
    def due(self, talk: TalkT, context: InterviewContext) -> Sequence[Asked]:
        """Turns that are certain to come next: the next one, or the rest of a round; none once it is over."""

    @abstractmethod
    def block(self, talk: TalkT, asked: Asked, context: InterviewContext) -> Block:
        """What a turn is asked with, from those before it (fewer of them, say those of earlier rounds)."""

    def asked_with(self, talk: TalkT, turn: TurnT, context: InterviewContext) -> Sequence[Block]:
        """What a stored turn was asked with: its block, or several where it took more than one to have the answer."""
        return [self.block(talk, turn, context)]

    @abstractmethod
    async def hold(self, talk: TalkT, context: InterviewContext) -> Outcome:
        """Go on with a conversation to its end, by its graph: see `run_conversation`.

        Returns:
            "done", or why it cannot go on now: short, waiting or failed. Everything so far is found again.
        """

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        """The turns so far, and what is due: how many follow is not known before."""
        talk, blocks = self.begun(unit, context), list[Block]()
        for turn in self.stored(unit, context):
            blocks.extend(self.asked_with(talk, turn, context))
            talk = talk.after(turn)
        due = () if talk.stop else self.due(talk, context)
        return [*blocks, *(self.block(talk, asked, context) for asked in due)]

    async def conduct(self, unit: str, round: int, context: InterviewContext) -> Outcome:
        """From the last stored turn to the end, or to where budget or answers are missing."""
        talk = await self.read_back(unit, context)
        if not isinstance(talk, Conversation):
            return talk
        if talk.stop or not self.due(talk, context):
            return "done"
        return await self.hold(talk, context)

    async def read_back(self, unit: str, context: InterviewContext) -> TalkT | Outcome:
        """Return a conversation as far as it was held. Answers that failed are asked for again where that is wanted."""
        talk = self.begun(unit, context)
        for turn in self.stored(unit, context):
            for block in self.asked_with(talk, turn, context):
                retried = await _ask_again(block, context)
                if retried != "done":
                    return retried
            talk = talk.after(turn)
        return talk

    def plan(self, context: InterviewContext) -> Plan:
        """At least one turn a unit, at most all with the work of every role; all turns ask as much as the first."""
        units = self.units(1, context)
        first = [block for unit in units[:1] for block in self.blocks(unit, 1, context)[:1]]
        items = sum(len(block.items) for block in first)
        requests = sum(len(block.parts(context.asking)) for block in first)
        most = len(units) * self.most_turns
        calls = {"answer": (len(units) * requests, most * requests * ATTEMPTS)}
        calls |= {role.purpose: (len(units) * role.opens, role.most_calls(self.settings, most)) for role in self.roles}
        return Plan(calls=calls, rows=(len(units) * items, most * items), by_row=frozenset(calls))

    def stored(self, unit: str, context: InterviewContext) -> Iterator[TurnT]:
        return stored_turns(context.pinned, unit, self.turn)


async def _ask_again(block: Block, context: InterviewContext) -> Outcome:
    """A stored turn whose answer failed: the context asks it anew where that is wanted. What followed stays."""
    failed = any(answer.status == "failed" for answer in context.stored(block.key).values())
    return (await context.ask(block)).state if failed else "done"


# --- a turn -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Utterance:
    """What was said in a turn: the words of all its items that were answered, "" where none was."""

    text: str
    status: Status
    answers: tuple[Answer, ...] = ()
    by: str = ""

    @property
    def kept(self) -> dict[str, Any]:
        """As the fields of a turn; with the model that answered, where its block names its own."""
        return {"answer": self.text, "status": self.status, **({"by": {ANSWERED: self.by}} if self.by else {})}


async def hear(context: InterviewContext, blocks: Sequence[Block]) -> Sequence[Utterance] | Outcome:
    """The answers to blocks that are asked at once, in their order; or how they could not be had (the budget is short,
    a person may take their time). Those that were had are then found again."""
    replies = await gather(context.ask(block) for block in blocks)
    unfinished = {reply.state for reply in replies} - {"done"}
    if unfinished:
        return min(unfinished, key=("failed", "short", "waiting").index)
    return [_uttered(reply.answers, reply.by) for reply in replies]


def _uttered(answers: Sequence[Answer], by: str) -> Utterance:
    texts = [answer.text for answer in answers if answer.status in RESPONDED and answer.text]
    return Utterance("\n".join(texts), answers[0].status, tuple(answers), by)


async def keep(context: InterviewContext, unit: str, turn: TurnT) -> TurnT:
    """Pin a turn, and give it as it is stored: from here on the conversation is rebuilt from it."""
    kept = turn.model_dump(mode="json", exclude_defaults=True)
    return type(turn).model_validate(await context.pin(turn_name(unit, turn.turn), kept))


def stored_turns(pinned: Callable[[str], JsonValue], unit: str, kind: type[TurnT]) -> Iterator[TurnT]:
    """The turns of a unit that were pinned, in order. `pinned`: a context’s, or an analysis's `context.pinned.get`."""
    for number in count(1):
        stored = pinned(turn_name(unit, number))
        if stored is None:
            return
        yield kind.model_validate(stored)


def turn_name(unit: str, turn: int) -> str:
    """The name under which a turn is pinned."""
    return f"turn/{unit}/{turn:02d}"


def utterance_id(unit: str, turn: int) -> str:
    """The name under which findings give what was said in a turn as their source."""
    return f"{unit}#{turn}"


def subject(unit: str, turn: int) -> str:
    """What the interviewer's work on a turn is filed under."""
    return f"{unit}|turn {turn}"


def turn_block(
    context: InterviewContext,
    unit: str,
    asked: Asked,
    instruction: str,
    *,
    heading: str,
    said: str,
    session: str = "",
    items: Sequence[Item] = (),
) -> Block:
    """What a turn is asked with: its question in words (or `items`), and, fenced, what was `said` before."""
    question = Item(id=f"turn_{asked.turn:02d}", kind="text", wording=asked.question)
    return Block(
        key=context.key(asked.participant or unit, "turn", session=session, round=asked.round, turn=asked.turn),
        instruction=instruction,
        items=tuple(items) or (question,),
        quoted=((heading, said),) if said else (),
    )


def transcript(turns: Sequence[Turn], language: Language, speaker: Callable[[Turn], str] | None = None) -> str:
    """The conversation as its participants read it: questions and answers, or, with a name for each turn's speaker, who
    said what. Each on a line of its own."""
    if speaker is not None:
        return "\n".join(_line(speaker(turn), turn.answer) for turn in turns)
    return dialogue(((turn.question, turn.answer) for turn in turns), language)


def dialogue(turns: Iterable[tuple[str, str]], language: Language) -> str:
    """Questions and answers, also such as no turn of this conversation holds."""
    asked, answered = (tell(label, language) for label in LABELS)
    return "\n".join(f"{asked}: {question}\n{_line(answered, answer)}" for question, answer in turns)


def _line(name: str, text: str) -> str:
    return f"{name}: {' '.join(text.split()) or '–'}"


# --- a conversation's graph


class TurnOutcome(TypedDict, total=False):
    """Channel of a conversation's graph: set where a turn cannot be held now."""

    outcome: Outcome


async def stopped(state: TurnOutcome) -> Literal["on", "out"]:
    """Leave the graph where the budget is short or a person has yet to answer; the turn begins again later.

    It is async because LangGraph sends a plain function to a thread.
    """
    return "out" if state.get("outcome") else "on"


async def run_conversation(graph: Any, start: Mapping[str, Any], *, max_steps: int, context: Any) -> Outcome:
    """Run a conversation's graph to its end.

    Args:
        graph: Compiled; it ends once the conversation is over, or with `outcome` where it cannot go on now.
        start: Its input.
        max_steps: Nodes that it may pass. One that passes more would not come to an end: that is a bug, which raises.
        context: Its context.

    Returns:
        "done", or the graph's `outcome`.
    """
    ended = await without_checkpoints(graph).ainvoke(start, {"recursion_limit": max_steps}, context=context)
    outcome: Outcome = (ended or {}).get("outcome", "done")
    return outcome


@cache
def without_checkpoints(graph: Any) -> Any:
    """Return the same graph without checkpoints, which stored turns are; those of the parent cost 5 times the CPU.

    It is drawn as it was compiled, because LangGraph draws none that has switched its checkpoints off.
    """
    return graph.copy({"checkpointer": False})
