"""What a roundtable asks: many groups at the same time, each at its own pace, turn by turn or round by round.

Those who only read are asked after them. Every arm holds its own discussions. The steps of a discussion are the
methodology's graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, pairwise, zip_longest
from math import ceil
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from enquete.graphs.roundtable import discussion, reading
from enquete.instruments.pack import NEUTRAL, Data, Lines, pack_named
from enquete.methods.roundtable.agreement import (
    ANALYST,
    GROUPER,
)
from enquete.methods.roundtable.discussion import (
    LEAST_SIZE,
    MOST_SIZE,
    Discussion,
    RoundtableSettings,
    RoundtableTurn,
)
from enquete.methods.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.methods.roundtable.modes import ModeRole
from enquete.methods.roundtable.table import (
    AGAIN,
    SUMMARISER,
    DiscussionContext,
    due,
    private_form,
    public_form,
)
from enquete.respondents.ground_truth import answer_at, normal, persona_hash, pick, sample, uniform
from enquete.respondents.person import require_asked
from enquete.respondents.roles import Role
from enquete.respondents.rule_coder import Statement
from enquete.respondents.themes import code_themes
from enquete.runs.conversations import Asked, Conversations, keep, run_conversation, utterance_id
from enquete.state.asking import ATTEMPTS, Answer, Block, Item, Language, Outcome, Participant, ServedModel
from enquete.state.errors import SettingsError
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan, Truth

NODES_A_TURN = 5
"""Nodes that a turn passes at most."""
MOST_NAMED = 20

# --- who sits together: the same agents and the same draw give the same groups in every process -----------------------


class SilentReader(BaseModel):
    """An agent who only reads: what `reads` said, "" where there is nobody to read."""

    model_config = ConfigDict(frozen=True)

    participant: str
    reads: str


class Seating(BaseModel):
    """groups and controls by unit; unseated: agents whom no group took; unknown: names by hand that nobody has."""

    model_config = ConfigDict(frozen=True)

    groups: Mapping[str, tuple[str, ...]] = {}
    controls: Mapping[str, SilentReader] = {}
    alone: Mapping[str, str] = {}
    unseated: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def seated(people: Sequence[Participant], settings: RoundtableSettings, draw: int) -> Seating:
    """Groups by hand, of one type, mixed across types, or of most different views."""
    if len(people) == 1:  # nobody to talk to: asked privately, so that a study of one says what it can
        return Seating(alone={"alone_01": people[0].id})
    known = {who.name: who.id for who in people} | {who.id: who.id for who in people}
    unknown = tuple(name for group in settings.by_hand for name in group if name not in known)
    if settings.compose == "hand":  # a group that too few of are in the population is left out
        groups = [tuple(dict.fromkeys(known[name] for name in group if name in known)) for group in settings.by_hand]
        groups = [group for group in groups if len(group) >= LEAST_SIZE]
    else:
        groups = _dealt(people, settings, draw)
    named = {f"group_{number:02d}": group for number, group in enumerate(groups, start=1)}
    taken = set(chain.from_iterable(groups))
    rest = sorted((who.id for who in people if who.id not in taken), key=lambda who: uniform(draw, "control", who))
    reading, units = rest[: settings.controls] if named else [], list(named)
    controls = {
        f"control_{number:02d}": SilentReader(participant=who, reads=units[(number - 1) % len(units)])
        for number, who in enumerate(reading, start=1)
    }
    unseated = tuple(sorted(rest[len(reading) :]))
    return Seating(groups=named, controls=controls, unseated=unseated, unknown=unknown)


def _dealt(people: Sequence[Participant], settings: RoundtableSettings, draw: int) -> list[tuple[str, ...]]:
    """Groups of `size`, or of nearly that where it does not go up: everybody has a seat unless `groups` says how
    many."""
    drawn = sorted(people, key=lambda who: uniform(draw, "seat", who.id))
    if settings.compose == "views":
        drawn = [who for who in drawn if who.id in settings.played.views]
    seats = max(len(drawn) - settings.controls, min(len(drawn), LEAST_SIZE))
    if settings.compose == "type":
        dealt = [group for pool in _pools(drawn[:seats]) for group in _cut(pool, _number(len(pool), settings.size))]
        return dealt[: settings.groups or None]
    seats = min(seats, settings.groups * settings.size) if settings.groups else seats
    number = settings.groups or _number(seats, settings.size)
    if settings.compose == "views":
        return _apart([who.id for who in drawn], settings.played.views, seats, min(number, seats // LEAST_SIZE))
    in_turn = [who for turn in zip_longest(*_pools(drawn)) for who in turn if who is not None]  # neighbours differ
    return _cut(in_turn[:seats], number)


def _pools(people: Sequence[Participant]) -> list[list[str]]:
    """By type, the largest first."""
    kinds = [who.stakeholder_type for who in people]
    ordered = sorted(set(kinds), key=lambda kind: (-kinds.count(kind), kind))
    return [[who.id for who in people if who.stakeholder_type == kind] for kind in ordered]


def _number(n: int, size: int) -> int:
    """Groups of nearly `size` for n, none smaller than two."""
    return max(min(ceil(n / size), n // LEAST_SIZE), 1 if n >= LEAST_SIZE else 0)


def _cut(order: Sequence[str], number: int) -> list[tuple[str, ...]]:
    """In neighbouring stretches whose lengths differ by one at most; fewer groups where two each are not to be had."""
    number = min(number, len(order) // LEAST_SIZE)
    ends = [len(order) * place // number for place in range(number + 1)] if number else [0]
    return [tuple(order[lo:hi])[:MOST_SIZE] for lo, hi in pairwise(ends)]


def _apart(
    order: Sequence[str], views: Mapping[str, Sequence[float]], seats: int, number: int
) -> list[tuple[str, ...]]:
    """Each group in turn takes whoever is farthest, in loadings, from the nearest of those it has, the strongest view
    first: maximin, greedily."""
    points = np.array([views[who] for who in order], dtype=float)
    free, groups = np.ones(len(order), dtype=bool), [list[int]() for _ in range(number)]
    for seat in range(seats if number else 0):
        group = groups[seat % number]
        distances = np.linalg.norm(points[:, None, :] - points[None, group, :], axis=2)
        apart = distances.min(axis=1) if group else np.abs(points).max(axis=1)
        group.append(int(np.argmax(np.where(free, apart, -1.0))))
        free[group[-1]] = False
    return [tuple(order[place] for place in group) for group in groups]


# --- the discussions --------------------------------------------------------------------------------------------------


def statements(discussions: Iterable[Discussion]) -> list[Statement]:
    """What is coded: each key point of what was said to a group, the position where there is none.

    id: "<participant>|<group>#<turn>.<number>"; only groups that discussed, a control says nothing to anybody.
    """
    return [
        Statement(id=f"{turn.participant}|{utterance_id(talk.unit, turn.turn)}.{number}", text=text)
        for talk in discussions
        for turn in talk.public
        for number, text in enumerate(turn.response.key_points or [turn.response.position], 1)
        if text.strip()
    ]


GROUPS, CONTROLS = 1, 2
"""What the procedure's rounds ask, which are no rounds of a discussion: those who only read wait for what there is to
read."""


class Roundtable(Conversations[RoundtableInstrument, RoundtableSettings, RoundtableTurn, Discussion]):
    """Units are groups, then controls."""

    turn = RoundtableTurn
    seats_together = True

    def __init__(self, instrument: RoundtableInstrument, settings: RoundtableSettings, language: Language):
        super().__init__(instrument, settings, language)
        chosen: dict[Role[Any, Any], str] = {SUMMARISER: settings.summaries, ANALYST: settings.analyses}
        if settings.agreement == "meaning" and not settings.played.mode.assigns_stances:
            chosen[GROUPER] = "model"
        self.roles = tuple(role for role, worker in chosen.items() if worker == "model")
        self.rounds = CONTROLS if settings.controls else GROUPS
        self._seatings: dict[tuple[str, ...], Seating] = {}

    @staticmethod
    def served(settings: RoundtableSettings) -> Sequence[ServedModel]:
        return [model for seat in settings.seats for model in seat.in_order]

    @property
    def most_turns(self) -> int:
        """Of the largest group: every round, and privately before and after."""
        return self.settings.size * (self.settings.rounds + 2 * self.settings.private)

    @staticmethod
    def require_persons(settings: RoundtableSettings, people: Sequence[Participant], draw: int) -> None:
        """A person needs a place at a table: to be an agent is not enough where not everybody sits."""
        require_asked(settings.people, people)
        seating = seated(people, settings, draw)
        at_table = {*chain.from_iterable(seating.groups.values()), *seating.alone.values()}
        sitting = [who for who in people if who.id in at_table]
        require_asked(settings.people, sitting, why="has no seat at a table (members, groups and size say who has)")

    def seating(self, context: InterviewContext) -> Seating:
        people = context.participants()
        key = (context.run, context.arm.id, context.phase, str(len(people)))
        if key not in self._seatings:
            self._seatings[key] = seated(people, self.settings, context.arm.draw_seed)
        return self._seatings[key]

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        seating = self.seating(context)
        return list(seating.controls) if round == CONTROLS else [*seating.groups, *seating.alone]

    def seated(self, context: InterviewContext) -> Sequence[str]:
        seating = self.seating(context)
        controls = (reader.participant for reader in seating.controls.values())
        return [*chain.from_iterable(seating.groups.values()), *seating.alone.values(), *controls]

    def begun(self, unit: str, context: InterviewContext) -> Discussion:
        seating, mode = self.seating(context), self.settings.played.mode.id
        if unit in seating.groups:
            return Discussion(unit, participants=seating.groups[unit], mode=mode)
        if unit in seating.controls:
            control = seating.controls[unit]
            return Discussion(unit, participants=(control.participant,), mode=mode, reads=control.reads)
        return Discussion(unit, participants=(seating.alone[unit],), mode=mode)

    def due(self, talk: Discussion, context: InterviewContext) -> Sequence[Asked]:
        return due(talk, self.settings)

    def block(self, talk: Discussion, asked: Asked, context: InterviewContext) -> Block:
        return self._context(talk, context).table(talk).block(asked)

    def asked_with(self, talk: Discussion, turn: RoundtableTurn, context: InterviewContext) -> Sequence[Block]:
        """Who did not keep to the mode was asked once more; nobody is asked for a remark, or for what an earlier run
        asked."""
        if not turn.asked_here:
            return []
        table = self._context(talk, context).table(talk)
        first = table.block(turn)
        return [first, table.again(first, "", turn.slips)] if turn.retried else [first]

    async def conduct(self, unit: str, round: int, context: InterviewContext) -> Outcome:
        if context.pinned("groups") is None:
            seating = self.seating(context).model_dump(mode="json")
            await context.pin("groups", {"compose": self.settings.compose, **seating})  # who sat where, for the results
        for turn in self._earlier(self.begun(unit, context)):
            await keep(context, unit, turn.model_copy(update={"earlier": True}))
        return await super().conduct(unit, round, context)

    async def hold(self, talk: Discussion, context: InterviewContext) -> Outcome:
        steps = (self.settings.rounds * max(len(talk.participants), 1) + 2) * NODES_A_TURN + 2
        graph = reading if talk.reads else discussion
        return await run_conversation(graph, {"talk": talk}, max_steps=steps, context=self._context(talk, context))

    async def code_arguments(self, context: InterviewContext) -> Literal["next", "end", "short"]:
        """Code the main arm's arguments. A coding that failed leaves the study without it.

        Returns:
            "next" where somebody only reads, and is asked now; "short" without budget for the coding.
        """
        if context.arm.id == context.main_arm and await self._code(context) == "short":
            return "short"
        return "next" if self.seating(context).controls else "end"

    def argument_labels(self, context: InterviewContext) -> dict[str, str]:
        """Return the coded arguments: id → label."""
        stored: Any = context.pinned("arguments", arm=context.main_arm) or {}
        return {str(theme["id"]): str(theme["label"]) for theme in stored.get("themes", ())}

    async def _code(self, context: InterviewContext) -> Literal["done", "short"]:
        if context.pinned("arguments") is not None:
            return "done"
        discussions = [self._so_far(unit, context) for unit in self.seating(context).groups]
        question = self.settings.question or self.instrument.question.in_(self.language)
        coded = await code_themes(
            context.work, question, statements(discussions), self.settings.arguments, label="arguments"
        )
        if coded == "short":
            return coded
        if not isinstance(coded, str):
            await context.pin("arguments", coded.model_dump(mode="json"))
        return "done"

    def _so_far(self, unit: str, context: InterviewContext) -> Discussion:
        """A group's discussion as it is stored."""
        return reduce(Discussion.after, self.stored(unit, context), self.begun(unit, context))

    def plan(self, context: InterviewContext) -> Plan:
        """A group holds at least `least_rounds`, at most all its rounds; every turn may be asked once more. A person's
        answers are rows, and no calls."""
        seating, times = self.seating(context), len(self.seating(context).groups)
        self._require_known_seats(context)
        units = (*seating.groups, *seating.alone, *seating.controls)
        discussions = [
            reduce(Discussion.after, self._earlier(talk), talk)
            for talk in (self.begun(unit, context) for unit in units)
        ]
        persons = {who.id for who in context.participants() if self.settings.seats_person(who)}
        least = [turn for talk in discussions for turn in self._asked_of(talk, context, self.settings.least_rounds)]
        most = [turn for talk in discussions for turn in self._asked_of(talk, context, self.settings.rounds)] * 2
        requests, at_most = (
            sum(1 if context.asking == "block" else n for who, n in asked if who not in persons)
            for asked in (least, most)
        )
        calls = {"answer": (requests, at_most * ATTEMPTS)}
        for role in self.roles:
            opens = times * self.settings.least_rounds if role in (ANALYST, GROUPER) else 0
            calls[role.purpose] = (opens, role.most_calls(self.settings, times * (self.settings.rounds + 1)))
        by_row = frozenset(calls)
        if seating.groups and context.arm.id == context.main_arm:
            turns = sum(len(group) for group in seating.groups.values()) * self.settings.rounds
            calls["theme"] = (1, 2 * turns * ATTEMPTS)
        rows = tuple(sum(n for _, n in asked) for asked in (least, most))
        return Plan(calls=calls, rows=(rows[0], rows[1]), by_row=by_row)

    def _require_known_seats(self, context: InterviewContext) -> None:
        """Raises SettingsError: a model that nobody speaks with would go unnoticed."""
        known = {name for who in context.participants() for name in (who.id, who.name)}
        unknown = [seat.name for seat in self.settings.seats if seat.name not in known]
        if unknown and context.arm.id == context.main_arm:
            there = ", ".join(who.name for who in context.participants()[:MOST_NAMED])
            raise SettingsError(f"seats: nobody is called {unknown[0]!r}; there are {there}")

    def _earlier(self, talk: Discussion) -> Sequence[RoundtableTurn]:
        """What the run before held; nothing where not all of them sit here, as in a rehearsal with some of the
        agents."""
        held = self.settings.earlier.get(talk.unit, ())
        return held if {turn.participant for turn in held} <= {"", *talk.participants} else ()

    def _asked_of(self, talk: Discussion, context: InterviewContext, rounds: int) -> Iterator[tuple[str, int]]:
        """(participant, items) of each turn that is left of a discussion of so many rounds."""
        words, language = self.instrument, self.language
        if self.settings.private or not talk.seated:
            sides = (False,) * (not talk.before) + (True,) * bool(talk.seated or talk.reads)
            for after in sides:
                yield from ((who, len(private_form(words, language, after=after))) for who in talk.participants)
        if talk.seated:
            mode, roles = self.settings.played.mode, self._context(talk, context).table(talk).roles
            for round in range(talk.held, max(rounds, talk.held + bool(talk.turns))):
                yield from (
                    (who, len(public_form(words, mode, role, round == 0, language))) for who, role in roles.items()
                )

    def _context(self, talk: Discussion, context: InterviewContext) -> DiscussionContext:
        shown = self._so_far(talk.reads, context) if talk.reads else None
        return DiscussionContext(context, self.instrument, self.settings, shown)


# --- Synthetic participants of a roundtable: a planted stance and stubbornness, in the words of truth/roundtable.yaml.
#
# They see the block alone. Whoever is not stubborn goes over to the majority of what was said last; what they say
# depends on the stance and the persona and not on the round, so that who did not move says the same again.

METHODOLOGY = "roundtable"
STANCES = {"no": -1.0, "neutral": 0.0, "yes": 1.0}
NOISE = 0.25
POINTS = 2
ALL = ("problems", "questions")  # sections of which a whole list is asked for


class PlantedCast(Data):
    """A cast: see truth/roundtable.yaml."""

    stances: tuple[str, ...]
    stubborn: float
    sure: tuple[float, float]
    same_words: bool = False
    slips: float = 0.0


class RoundtableManner(Data):
    """truth/roundtable.yaml."""

    casts: Mapping[str, PlantedCast]
    position: Mapping[str, Mapping[Language, str]]
    why: Lines
    reasoning: Mapping[str, Lines]
    points: Lines
    citations: Lines
    moved_by: Lines
    sections: Mapping[str, Lines]
    perspective: Mapping[Language, str]
    considerations: Mapping[str, float]


def planted(instrument: RoundtableInstrument, settings: RoundtableSettings) -> Truth:
    return partial(answer, instrument=instrument, settings=settings)


def answer(
    who: Participant,
    block: Block,
    language: Language,
    seed: int,
    *,
    instrument: RoundtableInstrument,
    settings: RoundtableSettings,
) -> tuple[Answer, ...]:
    """One answer per item of the block."""
    speaker = _Debater(who, block, language, seed, instrument, settings)
    return tuple(speaker.answered(item) for item in block.items)


def stance_of(who: Participant, cast: str, seed: int) -> str:
    """Where an agent begins."""
    return pick(_manner().casts[cast].stances, seed, METHODOLOGY, persona_hash(who), "stance")


def is_stubborn(who: Participant, cast: str, seed: int) -> bool:
    return uniform(seed, METHODOLOGY, persona_hash(who), "stubborn") < _manner().casts[cast].stubborn


def _manner() -> RoundtableManner:
    return pack_named(NEUTRAL).truth(METHODOLOGY, RoundtableManner)


class _Debater:
    """An agent before one turn."""

    def __init__(
        self, who: Participant, block: Block, language: Language, seed: int,
        instrument: RoundtableInstrument, settings: RoundtableSettings,
    ):  # fmt: skip
        self._manner, self._language = _manner(), language
        self._cast = self._manner.casts[settings.cast]
        self._key: tuple[str | int, ...] = (seed, METHODOLOGY, persona_hash(who))
        self._heard = [text for _, text in block.quoted]
        self._role = _role(block, settings, language)
        self._perspective = (
            instrument.instruction.perspective.in_(language).partition("{label}")[0] in block.instruction
        )
        self._again = block.items[0].id.startswith(AGAIN)
        self._slips = not self._again and uniform(*self._key, "slips", block.key.round) < self._cast.slips
        stance, stubborn = stance_of(who, settings.cast, seed), is_stubborn(who, settings.cast, seed)
        self._own = stance if stubborn else self._majority() or stance

    @property
    def _stance(self) -> str:
        """The one that the role asks for, else its own."""
        role = self._role.stance if self._role else ""
        return self._own if not role or self._slips else role

    def _majority(self) -> str:
        """Of the last round, or what was said in this one; yes before no before undecided where they are as many."""
        for text in reversed(self._heard):
            counts = {
                stance: text.count(self._manner.position[stance][self._language]) for stance in ("yes", "no", "neutral")
            }
            if any(counts.values()):
                return max(counts, key=lambda stance: counts[stance])
        return ""

    def answered(self, item: Item) -> Answer:
        name = item.id.removeprefix(AGAIN)
        if item.kind == "text":
            return Answer(item.id, "ok", text=self._says(name))
        if item.kind == "number":
            low, high = self._cast.sure
            return Answer(item.id, "ok", value=round(low + (high - low) * uniform(*self._key, "sure"), 2))
        if item.kind == "choice":
            return Answer(item.id, "ok", data=self._stance)
        family, _, about = name.partition("/")
        way = self._manner.considerations.get(about, 0.0) if family == CONSIDERATION else 1.0
        noise = NOISE * normal(*self._key, name)
        return answer_at(way * 0.7 * STANCES[self._own] + noise, item, confidence=0.5)

    def _says(self, name: str) -> str:
        lines = {
            "key_points": self._manner.points,
            "citations": self._manner.citations,
            "moved_by": self._manner.moved_by,
        }
        if name == "position":
            return f"{self._manner.position[self._stance][self._language]}, {self._why()}."
        if name == "reasoning":
            return pick(self._manner.reasoning[self._stance][self._language], *self._key, name)
        if name in lines:
            return self._some(lines[name][self._language], POINTS if name == "key_points" else 1, name)
        return self._section(name)

    def _why(self) -> str:
        whys = self._manner.why[self._language]
        common = list(STANCES).index(self._stance)  # each side has its own reason
        return whys[common] if self._cast.same_words else pick(whys, *self._key, "why")

    def _section(self, name: str) -> str:
        lines = self._manner.sections.get(name, self._manner.sections["any"])[self._language]
        if name == "summary" and self._perspective and self._role is not None and not self._slips:
            return self._manner.perspective[self._language].replace("{label}", self._role.label.in_(self._language))
        if name == "answers":
            return "\n".join(lines * max(self._attacks(), 1))
        n = 1 if self._slips else 5 if name in ALL else 3
        return self._some(lines, n, name)

    def _attacks(self) -> int:
        """Problems that were named in the last round."""
        problems = self._manner.sections["problems"][self._language]
        last = self._heard[-1] if self._heard else ""
        return sum(last.count(problem) for problem in problems)

    def _some(self, lines: Sequence[str], n: int, name: str) -> str:
        return "\n".join(sample([(line, 1.0) for line in lines], min(n, len(lines)), *self._key, name))


def _role(block: Block, settings: RoundtableSettings, language: Language) -> ModeRole | None:
    roles = settings.played.mode.roles.values()
    return next((role for role in roles if role.anchor.in_(language) in block.instruction), None)
