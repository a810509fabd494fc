"""Conversations: units that are asked turn by turn, each at its own pace, with their stored turns as the checkpoint.

A unit is one participant (an interview) or several (a discussion). What an answer means, and what is asked next, is the
methodology's; asking, storing, going on after a kill, asking again what failed and what is owed stands here. A complete
one, which asks everybody twice and sums up by a role (respondents/roles.py):

    class Noted(Turn):
        gist: str = ""

    class TwoQuestions(Conversations[Survey, NoSettings, Noted, Conversation[Noted]]):
        turn, roles, most_turns = Noted, (GIST,), 2

        def begun(self, unit, context):
            return Conversation(unit)

        def due(self, talk, context):
            return [] if talk.number > self.most_turns else [Asked(turn=talk.number, question=QUESTIONS[talk.number -
            1])]

        def block(self, talk, asked, context):
            said = transcript(talk.turns, context.language)
            return turn_block(context, talk.unit, asked, "Please answer.", heading="The interview so far", said=said)

        async def advance(self, talk, context):
            (asked,) = self.due(talk, context)
            heard = await hear(context, [self.block(talk, asked, context)])
            if isinstance(heard, str):
                return heard  # short, waiting or failed: everything so far is found again
            done = await GIST.work(context, self.settings, subject(talk.unit, asked.turn), Said(text=heard[0].text))
            if done == "short":
                return done
            note = Noted(**asked.model_dump(), **heard[0].kept, gist=done[0].text, by={"gist": done[1]})
            return talk.after(await keep(context, talk.unit, note))

A discussion answers with `participant` and `round` in what it asks, hears all blocks of a round at once where its
participants do not see one another's answers of that round, and keeps a turn each
(tests/support/conversation_methods.py has both).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue
from typing_extensions import TypedDict

from enquete.locale import N_, tell
from enquete.respondents.roles import Role
from enquete.state.asking import ATTEMPTS, RESPONDED, Answer, Block, Item, Language, Outcome, Status
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import InstrumentT, Plan, Procedure, SettingsT, gather

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

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
StateT = TypeVar("StateT", bound="TurnOutcome")


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
    async def advance(self, talk: TalkT, context: InterviewContext) -> TalkT | Outcome:
        """Hold the next turn or round: `hear`, work, `keep`. Or how it could not be: short, waiting, failed."""

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
        talk = self.begun(unit, context)
        for turn in self.stored(unit, context):
            for block in self.asked_with(talk, turn, context):
                retried = await _ask_again(block, context)
                if retried != "done":
                    return retried
            talk = talk.after(turn)
        while not talk.stop and self.due(talk, context):
            ahead = await self.advance(talk, context)
            if isinstance(ahead, str):
                return ahead
            if ahead.number == talk.number:  # it would be advanced, and paid for, for ever
                raise RuntimeError(f"{unit}: turn {talk.number} is due, but was not held")
            talk = ahead
        return "done"

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


# --- a turn in stages -------------------------------------------------------------------------------------------------


class TurnOutcome(TypedDict, total=False):
    """Channel of a turn's graph: set once the turn is kept (done), or cannot be held now."""

    outcome: Outcome


async def stopped(state: TurnOutcome) -> Literal["on", "out"]:
    """Edge of a turn's graph: out where the budget is short or a person has yet to answer; the turn begins again later.
    (Async: LangGraph sends a plain function to a thread.)"""
    return "out" if state.get("outcome") else "on"


class TurnStage(Protocol):
    """A node of a turn's graph: returns only what it writes, and changes nothing it was given."""

    __name__: str

    async def __call__(self, state: Any, runtime: Any) -> Any: ...


Routes = Mapping[TurnStage, TurnStage | tuple[Callable[[Any], Awaitable[str]], Mapping[str, TurnStage | None]] | None]
"""The stages of a turn in their order, and where each leads: to another one, to one of several by an edge's answer, or
(None) to the end. `walk` goes that way; `draw` makes the graph of it that Studio shows."""


async def walk(routes: Routes, state: StateT, context: Any) -> StateT:
    """The state at the end of a turn, held without LangGraph's step a stage, which takes two fifths of a run's CPU."""
    from langgraph.runtime import Runtime  # noqa: PLC0415 - LangGraph is slow to import

    runtime, stage = Runtime(context=context), next(iter(routes), None)
    while stage is not None:
        state.update(await stage(state, runtime))
        way = routes[stage]
        stage = way[1][await way[0](state)] if isinstance(way, tuple) else way
    return state


def draw(
    routes: Routes, name: str, state: Any, context: Any, given: Any, result: Any
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph of a turn; no checkpointer: stored turns are the checkpoint. given, result: channels in and out."""
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415

    builder = StateGraph(state, context_schema=context, input_schema=given, output_schema=result)
    names = {stage: stage.__name__ for stage in routes} | {None: END}
    for stage in routes:
        builder.add_node(names[stage], stage)
    builder.add_edge(START, names[next(iter(routes))])
    for stage, way in routes.items():
        if isinstance(way, tuple):
            builder.add_conditional_edges(names[stage], way[0], {answer: names[to] for answer, to in way[1].items()})
        else:
            builder.add_edge(names[stage], names[way])
    return builder.compile(checkpointer=False, name=name)
