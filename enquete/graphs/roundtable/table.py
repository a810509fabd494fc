"""The table of one group: who sits where, what each is shown before a turn, and the block that it is asked with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from enquete.graphs.roundtable.answering import once_more, private_form, public_form
from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.graphs.roundtable.instrument import RoundtableInstrument
from enquete.graphs.roundtable.modes.context import Context, Voice, rendered
from enquete.graphs.roundtable.modes.mode import Mode
from enquete.graphs.roundtable.modes.seats import Seat
from enquete.graphs.roundtable.responses import Violation
from enquete.graphs.roundtable.settings import RoundtableSettings
from enquete.instruments.text import Text
from enquete.nodes.conversations import Asked
from enquete.nodes.feedback import anonymous_numbers
from enquete.state.asking import Block, Item
from enquete.state.interview_context import InterviewContext

PRIVATE = 0
"""The round before the first."""


def summary_name(unit: str, round: int) -> str:
    """The name under which is frozen what older rounds come to for those who speak in this one."""
    return f"summary/{unit}/{round}"


@dataclass(frozen=True)
class Table:
    """`talk`: of the group whose words are shown, for a control another one than its own."""

    desk: InterviewContext
    instrument: RoundtableInstrument
    settings: RoundtableSettings
    talk: Discussion
    shown: Discussion
    numbers: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    @property
    def mode(self) -> Mode:
        return self.settings.played.mode

    @property
    def question(self) -> str:
        return self.settings.question or self.instrument.question.in_(self.desk.language)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def context(self, asked: Asked) -> Context:
        """What the participant is shown before this turn: nothing privately before, else the rounds before, and where the
        mode goes one after the other also what was said in this one."""
        private = is_private(asked, self.talk)
        listens = not private or asked.round > PRIVATE
        seen = [turn for turn in self.shown.spoken if not turn.private] if listens else []
        told = [turn for turn in self.shown.remarks if turn.turn < asked.turn or self.talk.reads] if listens else []
        rounds = dict[int, tuple[Voice, ...]]()
        now: list[Voice] = []
        for turn in seen:
            if private or turn.round < asked.round:
                rounds[turn.round] = (*rounds.get(turn.round, ()), self._voice(turn))
            elif self.mode.order == "sequential" and turn.round == asked.round and turn.turn < asked.turn:
                now.append(self._voice(turn))
        known = Context(
            asked.participant,
            self.roles.get(asked.participant, ""),
            self.desk.language,
            self.instrument,
            rounds,
            tuple(now),
            {turn.round: turn.answer for turn in told},
        )
        return self._condensed(self.mode.transform_context(known), asked)

    def overheard(self, round: int) -> Context:
        """The rounds before this one as nobody in particular is shown them, for a summary."""
        return replace(self.context(Asked(turn=self.talk.number, round=round)), remarks={})

    def _condensed(self, context: Context, asked: Asked) -> Context:
        unit = self.shown.unit
        stored = self.desk.frozen(summary_name(unit, self.shown.held + 1 if self.talk.reads else asked.round))
        if not isinstance(stored, dict) or not context.rounds:
            return context
        return replace(context, summary=str(stored["text"]), summarised=int(str(stored["upto"])))

    def _voice(self, turn: RoundtableTurn) -> Voice:
        role = self.mode.roles.get(turn.role)
        title = role.label.in_(self.desk.language) if role and len(self.mode.roles) > 1 else ""
        name = self.desk.participant(turn.participant).name
        return Voice(turn.participant, turn.number, turn.role, turn.response, name, title)

    def rendered(self, context: Context) -> tuple[tuple[str, str], ...]:
        return rendered(context, self.mode.titles(self.desk.language))

    # --- what is asked -----------------------------------------------------------------------------------------------

    def block(self, asked: Asked) -> Block:
        context = self.context(asked)
        return Block(
            key=self.desk.key(asked.participant, "turn", session=self.talk.unit, round=asked.round, turn=asked.turn),
            instruction=self._instruction(asked, context),
            items=self._items(asked),
            quoted=self.rendered(context),
            in_order=self.instrument.in_order or not is_private(asked, self.talk),
            by_person=self.settings.seats_person(self.desk.participant(asked.participant)),
        )

    def again(self, block: Block, said: str, violations: Sequence[Violation]) -> Block:
        """The same turn once more, with what was expected and what was found in one's own answer."""
        words, language = self.instrument, self.desk.language
        wanted = "\n".join(f"- {self._wanted(one)}" for one in violations)
        return block.model_copy(
            update={
                "key": block.key._replace(part="again"),
                "instruction": f"{block.instruction}\n\n{words.instruction.again.in_(language)}\n{wanted}",
                "items": once_more(block.items),
                "quoted": (*block.quoted, *(((words.headings.answer.in_(language), said),) if said else ())),
            }
        )

    def _wanted(self, one: Violation) -> str:
        words, language = self.instrument, self.desk.language
        own = {name: text.in_(language) for name, text in words.items if isinstance(text, Text)}
        part = {**own, **self.mode.titles(language)}.get(one.part, one.part)
        stances = {str(option.value): option.label for option in words.stance_options(language)}
        expected, actual = (stances.get(said, said) for said in (one.expected, one.actual))
        text: str = getattr(words.broken, one.check).in_(language)
        return text.replace("{part}", part).replace("{expected}", expected).replace("{actual}", actual or "–")

    def _instruction(self, asked: Asked, context: Context) -> str:
        if not is_private(asked, self.talk):
            return self.mode.told(context, self.question)
        told, language = self.instrument.instruction, self.desk.language
        text = told.before if asked.round == PRIVATE else told.control if self.talk.reads else told.after
        return f"{text.in_(language).replace('{question}', self.question)}\n\n{told.structure.in_(language)}"

    def _items(self, asked: Asked) -> tuple[Item, ...]:
        language = self.desk.language
        if is_private(asked, self.talk):
            return private_form(self.instrument, language, after=asked.round > PRIVATE)
        return public_form(self.instrument, self.mode, self.roles[asked.participant], asked.round == 1, language)


def is_private(asked: Asked, talk: Discussion) -> bool:
    """Before the first round, or after the last."""
    if isinstance(asked, RoundtableTurn):
        return asked.private
    return asked.round == PRIVATE or not talk.seated or (talk.over and asked.round > talk.held)


def laid(
    desk: InterviewContext,
    instrument: RoundtableInstrument,
    settings: RoundtableSettings,
    talk: Discussion,
    shown: Discussion,
) -> Table:
    """With everybody's number and role, which are the same in all rounds."""
    numbers = anonymous_numbers(shown.unit, shown.participants)
    roles = {
        who: settings.played.mode.role_of(
            Seat(
                who, place, len(shown.participants), desk.participant(who).name, settings.perspectives,
                settings.explicit, (desk.arm.draw_seed, shown.unit),
            ),
        )
        for place, who in enumerate(shown.participants)
    }  # fmt: skip
    return Table(desk, instrument, settings, talk, shown, numbers, roles)
