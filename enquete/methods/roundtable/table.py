"""The table of one group: who sits where, what each is shown before a turn, the block that it is asked with, and what
its answers are as a turn. Older rounds are told in few words, once they are longer than what is passed in full.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import BaseModel

from enquete.analysis.group_feedback import number_members
from enquete.instruments.text import Text
from enquete.locale import N_, in_language
from enquete.methods.roundtable.discussion import Discussion, RoundtableSettings, RoundtableTurn
from enquete.methods.roundtable.instrument import CONSIDERATION, PREFERENCES, RoundtableInstrument
from enquete.methods.roundtable.modes import (
    STANCES,
    CheckedResponse,
    Context,
    Mode,
    Response,
    TableSeat,
    Violation,
    Voice,
    confidence_range,
    entries,
    rendered,
    required,
)
from enquete.respondents.roles import Role, fence
from enquete.runs.conversations import Asked, Utterance
from enquete.state.asking import RESPONDED, Answer, Block, Item, Language
from enquete.state.interview_context import InterviewContext

PRIVATE = 0
"""The round before the first."""

# --- older rounds -----------------------------------------------------------------------------------------------------

BYTES_A_TOKEN = 4
"""As everywhere where nobody counts tokens."""
MOST_POINTS = 4
"""Of one participant in one round, that a summary keeps."""
_WORDS: Mapping[str, str] = {
    "task": N_("Sum up the earlier rounds of a discussion for those who go on with it."),
    "said": N_("What was said"),
    "rules": N_(
        "At most 150 words. What is agreed, what is disputed, and what is open; name speakers exactly as they are "
        "named here. Invent nothing, judge nothing, leave nobody out."
    ),
}


class RoundsSaid(BaseModel):
    """What is to be summed up, as participants were shown it."""

    text: str


class Summed(BaseModel):
    text: str


def _prompt(data: RoundsSaid, language: Language) -> str:
    words = in_language(_WORDS, language)
    return "\n\n".join([words["task"], f"{words['said']}:\n{fence('rounds', data.text)}", words["rules"]])


SUMMARISER = Role(
    "summarise",
    _prompt,
    Summed,
    rule=lambda data: Summed(text=""),  # the key points, which are kept anyway
    check=lambda data, result: result if result.text.strip() else None,
    setting="summary",
)


def tokens(shown: tuple[tuple[str, str], ...]) -> int:
    return sum(len(text.encode()) for _, text in shown) // BYTES_A_TOKEN


def older(context: Context) -> int:
    """The last round that may be summed up: all but the last that was held; 0 where there is none."""
    return sorted(context.rounds)[-2] if len(context.rounds) > 1 else 0


def key_points(context: Context, upto: int) -> str:
    """Whoever sums up, these are kept as they were said: a line for each participant and round."""
    lines = []
    for number, voices in sorted(context.rounds.items()):
        for voice in voices if number <= upto else ():
            response = voice.response
            points = "; ".join(response.key_points[:MOST_POINTS]) or " ".join(response.position.split()) or "–"
            lines.append(f"{number}. {voice.label}: {points}")
    return "\n".join(lines)


def summary_name(unit: str, round: int) -> str:
    """The name under which is pinned what older rounds come to for those who speak in this one."""
    return f"summary/{unit}/{round}"


# --- what a turn asks for ---------------------------------------------------------------------------------------------

AGAIN = "again/"
"""Before the items of a turn that is asked once more: both answers are kept."""
FIXED = ("position", "stance", "reasoning", "key_points", "citations", "confidence", "moved_by")
SURE, PERCENT = 1.0, 100.0
TWICE = 2.0
"""Confidence from which on percent were meant: nobody is twice as sure as sure."""


def public_form(
    words: RoundtableInstrument, mode: Mode, role: str, first: bool, language: Language
) -> tuple[Item, ...]:
    """Of a turn in the group: the mode's sections between the position and the reasons for it."""
    fixed = _fixed(words, language)
    stance = (fixed["stance"],) if mode.stance else ()
    rest = (fixed[name] for name in ("reasoning", "key_points", "citations", "confidence"))
    return fixed["position"], *stance, *mode.form(role, first, language), *rest


def private_form(words: RoundtableInstrument, language: Language, *, after: bool) -> tuple[Item, ...]:
    """Before and after the discussion, in every mode alike."""
    fixed = _fixed(words, language)
    names = ("position", "stance", "reasoning", *(("moved_by",) if after else ()), "confidence")
    return *(fixed[name] for name in names), *words.private_items(language)


def _fixed(words: RoundtableInstrument, language: Language) -> dict[str, Item]:
    items = {name: Item(id=name, kind="text", wording=getattr(words.items, name).in_(language)) for name in FIXED}
    options = words.stance_options(language)
    items["stance"] = items["stance"].model_copy(update={"kind": "choice", "options": options})
    items["confidence"] = items["confidence"].model_copy(update={"kind": "number"})
    return items


def plain(item: str) -> str:
    """The id of an item, asked once more or not."""
    return item.removeprefix(AGAIN)


def _response(heard: Mapping[str, Answer]) -> Response:
    """As it was said; only a confidence outside 0 to 1 is brought into it, with what was said kept: 80 is read as
    percent, 1.3 and -0.2 are clamped."""
    text = {name: answer.text for name, answer in heard.items() if answer.text}
    raw = heard["confidence"].value if "confidence" in heard else None
    outside = raw is not None and not 0 <= raw <= SURE
    confidence = raw
    if raw is not None and outside:
        confidence = raw / PERCENT if TWICE < raw <= PERCENT else min(max(raw, 0.0), SURE)
    stance = heard["stance"].data if "stance" in heard else ""
    stance = stance.get("mode") if isinstance(stance, dict) else stance
    points, citations = (tuple(entries(text.get(name, ""))) for name in ("key_points", "citations"))
    return Response(
        position=text.get("position", ""), reasoning=text.get("reasoning", ""), confidence=confidence,
        raw_confidence=raw if outside else None, stance=next((known for known in STANCES if known == stance), ""),
        key_points=points, citations=citations,
        sections={name: words for name, words in text.items() if name not in FIXED or name == "moved_by"},
    )  # fmt: skip


@dataclass(frozen=True)
class DiscussionTable:
    """`shown`: the discussion whose words are shown, for a control another one than its own, `talk`."""

    interview_context: InterviewContext
    instrument: RoundtableInstrument
    settings: RoundtableSettings
    talk: Discussion
    shown: Discussion

    @property
    def mode(self) -> Mode:
        return self.settings.played.mode

    @property
    def question(self) -> str:
        return self.settings.question or self.instrument.question.in_(self.language)

    @property
    def language(self) -> Language:
        return self.interview_context.language

    def _name(self, who: str) -> str:
        return self.interview_context.participant(who).name

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """participant → the one number under which an anonymous group knows it."""
        return number_members(self.shown.unit, self.shown.participants)

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """participant → the role that it plays in all rounds."""
        people, key = self.shown.participants, (self.interview_context.arm.draw_seed, self.shown.unit)
        perspectives = self.settings.perspectives, self.settings.explicit
        seats = (TableSeat(who, at, len(people), self._name(who), *perspectives, key) for at, who in enumerate(people))
        return {seat.participant: self.mode.role_of(seat) for seat in seats}

    # --- what is shown -----------------------------------------------------------------------------------------------

    def context(self, asked: Asked) -> Context:
        """What the participant is shown before this turn: nothing privately before, else the rounds before, and where
        the mode goes one after the other also what was said in this one."""
        private = is_private(asked, self.talk)
        listens = not private or asked.round > PRIVATE
        seen = self.shown.public if listens else []
        told = [turn for turn in self.shown.remarks if turn.turn < asked.turn or self.talk.reads] if listens else []
        rounds = dict[int, tuple[Voice, ...]]()
        now: list[Voice] = []
        for turn in seen:
            if private or turn.round < asked.round:
                rounds[turn.round] = (*rounds.get(turn.round, ()), self._voice(turn))
            elif self.mode.order == "sequential" and turn.round == asked.round and turn.turn < asked.turn:
                now.append(self._voice(turn))
        known = Context(
            asked.participant, self.roles.get(asked.participant, ""), self.language, self.instrument, rounds,
            tuple(now), {turn.round: turn.answer for turn in told},
        )  # fmt: skip
        shown = self.mode.transform_context(known)
        summary = summary_name(self.shown.unit, self.shown.held + 1 if self.talk.reads else asked.round)
        stored = self.interview_context.pinned(summary)
        if not isinstance(stored, dict) or not shown.rounds:
            return shown
        return replace(shown, summary=str(stored["text"]), summarised=int(str(stored["upto"])))

    def overheard(self, round: int) -> Context:
        """The rounds before this one as nobody in particular is shown them, for a summary."""
        return replace(self.context(Asked(turn=self.talk.number, round=round)), remarks={})

    def _voice(self, turn: RoundtableTurn) -> Voice:
        role = self.mode.roles.get(turn.role)
        title = role.label.in_(self.language) if role and len(self.mode.roles) > 1 else ""
        return Voice(turn.participant, turn.number, turn.role, turn.response, self._name(turn.participant), title)

    def rendered(self, context: Context) -> tuple[tuple[str, str], ...]:
        return rendered(context, self.mode.titles(self.language))

    # --- what is asked -----------------------------------------------------------------------------------------------

    def block(self, asked: Asked) -> Block:
        language, words, private = self.language, self.instrument, is_private(asked, self.talk)
        context, who = self.context(asked), self.interview_context.participant(asked.participant)
        if private:
            told = words.instruction
            text = told.before if asked.round == PRIVATE else told.control if self.talk.reads else told.after
            question = text.in_(language).replace("{question}", self.question)
            instruction = f"{question}\n\n{told.structure.in_(language)}"
            items = private_form(words, language, after=asked.round > PRIVATE)
        else:
            instruction = self.mode.told(context, self.question)
            items = public_form(words, self.mode, self.roles[asked.participant], asked.round == 1, language)
        return Block(
            key=self.interview_context.key(who.id, "turn", session=self.talk.unit, round=asked.round, turn=asked.turn),
            instruction=instruction,
            items=items,
            quoted=(*((d.title, d.text) for d in self.settings.documents), *self.rendered(context)),
            in_order=words.in_order or not private,
            by_person=self.settings.seats_person(who),
            models=self.settings.models_of(who),
        )

    def again(self, block: Block, answer: str, violations: Sequence[Violation]) -> Block:
        """The same turn once more, with what was expected and what was found in one's own answer."""
        words, language = self.instrument, self.language
        wanted = "\n".join(f"- {self._wanted(violation)}" for violation in violations)
        return block.model_copy(
            update={
                "key": block.key._replace(part="again"),
                "instruction": f"{block.instruction}\n\n{words.instruction.again.in_(language)}\n{wanted}",
                "items": tuple(item.model_copy(update={"id": AGAIN + item.id}) for item in block.items),
                "quoted": (*block.quoted, *(((words.headings.answer.in_(language), answer),) if answer else ())),
            }
        )

    def _wanted(self, violation: Violation) -> str:
        words, language = self.instrument, self.language
        labels = {name: text.in_(language) for name, text in words.items if isinstance(text, Text)}
        part = {**labels, **self.mode.titles(language)}.get(violation.part, violation.part)
        stances = {str(option.value): option.label for option in words.stance_options(language)}
        expected, actual = (stances.get(stance, stance) for stance in (violation.expected, violation.actual))
        text: str = getattr(words.broken, violation.check).in_(language)
        return text.replace("{part}", part).replace("{expected}", expected).replace("{actual}", actual or "–")

    # --- what was answered -------------------------------------------------------------------------------------------

    def turn(self, asked: Asked, utterance: Utterance) -> RoundtableTurn:
        """An answer as a turn, with what it does not keep to."""
        private, context = is_private(asked, self.talk), self.context(asked)
        heard = {plain(answer.item): answer for answer in utterance.answers if answer.status in RESPONDED}
        missing = tuple(plain(answer.item) for answer in utterance.answers if answer.status not in RESPONDED)
        response, violations = _response(heard), tuple[Violation, ...]()
        if utterance.text and private:
            held = CheckedResponse(response, context, "", (), missing, first=True)
            violations = (*required(held), *confidence_range(held))
        elif utterance.text:  # a refusal or a fault is a gap of its own, and breaks no rule of the mode
            violations = self.mode.validate_response(response, context, missing)
        rated = {
            item.removeprefix(f"{CONSIDERATION}/"): answer.value
            for item, answer in heard.items()
            if item.startswith(f"{CONSIDERATION}/") and answer.value is not None
        }
        ranked = heard[PREFERENCES].data if PREFERENCES in heard else None
        return RoundtableTurn(
            turn=asked.turn, participant=asked.participant, round=asked.round, **utterance.kept,
            role=self.roles.get(asked.participant, ""), number=self.numbers.get(asked.participant, 0), private=private,
            response=response.model_copy(update={"violations": violations}), ratings=rated,
            ranking=tuple(map(str, ranked)) if isinstance(ranked, list) else (),
        )  # fmt: skip


def is_private(asked: Asked, talk: Discussion) -> bool:
    """Before the first round, or after the last."""
    if isinstance(asked, RoundtableTurn):
        return asked.private
    return asked.round == PRIVATE or not talk.seated or (talk.over and asked.round > talk.held)


@dataclass(frozen=True)
class DiscussionContext:
    """What every step of a discussion may use. `shown`: whose words a control reads, as the conversation stands
    then."""

    interview_context: InterviewContext
    instrument: RoundtableInstrument
    settings: RoundtableSettings
    shown: Discussion | None = None

    def table(self, talk: Discussion) -> DiscussionTable:
        return DiscussionTable(self.interview_context, self.instrument, self.settings, talk, self.shown or talk)


def due(talk: Discussion, settings: RoundtableSettings) -> list[Asked]:
    """The rest of what is being asked: everybody before, a round, everybody after."""
    if talk.stop:
        return []
    private = settings.private or not talk.seated
    if private and len(talk.before) < len(talk.participants):
        return _rest(talk, PRIVATE, talk.before)
    if talk.seated and not talk.over:
        rounds = talk.rounds()
        return _rest(talk, talk.held + 1, rounds[talk.held] if len(rounds) > talk.held else ())
    return _rest(talk, talk.held + 1, talk.afterwards) if private and (talk.seated or talk.reads) else []


def _rest(talk: Discussion, round: int, spoken: Container[str]) -> list[Asked]:
    left = [who for who in talk.participants if who not in spoken]
    return [Asked(turn=talk.number + place, participant=who, round=round) for place, who in enumerate(left)]
