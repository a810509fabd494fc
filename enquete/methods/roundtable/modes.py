"""Modes of a discussion: how it is played, as one YAML file each (enquete/instruments/roundtable/, or any path). A
complete one:

    id: buzz
    version: "1.0"
    title: {de: Murmelrunde, en: Buzz group}
    languages: [de, en]
    order: parallel                        # or sequential: everybody sees the earlier answers of the same round
    groupthink: true                       # whether its unanimity is suspicious
    context: [anonymous, statistics]       # processors, in this order
    roles:
      member: {label: {…}, anchor: {…}}
    contract: {de: …, en: …}               # how everybody behaves
    sections:
      wish: {title: {…}, ask: {…}, rounds: first}
    verification: [{de: …, en: …}]         # asked of oneself before answering, beside the common ones
    checks: [{check: at_least, section: wish, least: 1}]

One execution plays them all, through three hooks: `transform_context`, `validate_response`, `role_of`. Checks go by
counts and words, so they see form and not quality; none changes a response. Required sections and the range of
confidence are checked in every mode.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, model_validator

from enquete.analysis.group_feedback import format_feedback, summarise_ratings
from enquete.instruments.load import LayerFile, load_layer
from enquete.instruments.text import Line, Part, Text, identifier, suggestion, wrong
from enquete.locale import N_
from enquete.methods.roundtable.instrument import RoundtableInstrument
from enquete.respondents.ground_truth import pick
from enquete.state.asking import Item, Language
from enquete.state.errors import SettingsError

Stance = Literal["yes", "no", "neutral", ""]
"""For the proposal, against it, undecided; "" where the mode asks for none or nothing was said."""

STANCES: Mapping[Stance, str] = {"yes": N_("yes"), "neutral": N_("undecided"), "no": N_("no"), "": "–"}


class Violation(BaseModel):
    """A check of the mode that a response does not pass. It is named, asked for once more, then kept and counted.
    `part`: item or section that it is about, "" for the whole."""

    model_config = ConfigDict(frozen=True)

    check: str
    expected: str
    actual: str
    part: str = ""


class Response(BaseModel):
    """In the participant's own words: nothing here was rewritten.

    `confidence`: 0 to 1, None where none was given; `raw_confidence`: as it was said, only where it lay outside;
    `sections`: section id → text, in the order of the mode's form; `violations`: of what is kept, after the second
    asking.
    """

    model_config = ConfigDict(frozen=True)

    position: str = ""
    reasoning: str = ""
    confidence: float | None = None
    raw_confidence: float | None = None
    stance: Stance = ""
    key_points: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    sections: Mapping[str, str] = {}
    violations: tuple[Violation, ...] = ()


# --- Seats: who plays which part, by the place at the table, the same in all rounds -----------------------------------


Assign = Literal["one", "alternate", "split", "perspectives"]
"""Of a mode: everybody the first role; the roles in turn; primary, opposition, evaluators; perspectives as the run sets
them."""
Perspectives = Literal["round-robin", "random", "explicit"]


@dataclass(frozen=True)
class TableSeat:
    """A participant's place among `of`. `name`: as explicit perspectives call it; `key`: of a draw."""

    participant: str
    index: int
    of: int
    name: str = ""
    perspectives: Perspectives = "round-robin"
    explicit: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str | int, ...] = ()


def role_of(assign: Assign, roles: Sequence[str], seat: TableSeat) -> str:
    """Split: two have one each of the first two roles; from three on the third has one of an odd number and two of an
    even one, and the first two share the rest evenly, in this order. Perspectives: who is not named goes round. Raises
    SettingsError."""
    if assign == "one":
        return roles[0]
    if assign == "split":
        third = 0 if seat.of <= 2 else 1 if seat.of % 2 else 2
        return roles[min(int(seat.index // ((seat.of - third) / 2)), 2)]
    if assign == "perspectives" and seat.perspectives == "random":
        return pick(roles, *seat.key, "perspective", seat.participant)
    named = seat.explicit.get(seat.participant) or seat.explicit.get(seat.name)
    if assign == "alternate" or seat.perspectives == "round-robin" or named is None:
        return roles[seat.index % len(roles)]
    if named not in roles:
        raise SettingsError(f"perspective_of: {named!r} is no perspective of this mode; there are {', '.join(roles)}")
    return named


# --- What a participant is shown before it speaks; a mode passes it through the processors that it names --------------


@dataclass(frozen=True)
class Voice:
    """Who said what in one round. `label` and `title`: the name and role under which the others know the speaker;
    `number`: its anonymous one."""

    speaker: str
    number: int
    role: str
    response: Response
    label: str = ""
    title: str = ""


@dataclass(frozen=True)
class Context:
    """One participant before one turn. `rounds`: those before, by number; `now`: what was said in this one already;
    `remarks`: of whoever leads the discussion, by the round that they open, which everybody sees in every round from
    then on.

    `summary` stands for rounds 1 to `summarised`, which are then left out; `counted`: lines on the whole group; `told`:
    what a processor adds to what the participant is told.
    """

    participant: str
    role: str
    language: Language
    instrument: RoundtableInstrument
    rounds: Mapping[int, tuple[Voice, ...]] = field(default_factory=dict)
    now: tuple[Voice, ...] = ()
    remarks: Mapping[int, str] = field(default_factory=dict)
    summary: str = ""
    summarised: int = 0
    counted: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


Processor = Callable[[Context, "ModeRole | None"], Context]
"""From what is known, and the participant's role, to what is shown."""


def anonymous(context: Context, role: ModeRole | None) -> Context:
    """Nobody is known by name or role, but each by one number in all rounds."""
    name = context.instrument.headings.number.in_(context.language)

    def hidden(voice: Voice) -> Voice:
        return replace(voice, label=name.replace("{number}", str(voice.number)), title="")

    rounds = {number: tuple(map(hidden, voices)) for number, voices in context.rounds.items()}
    return replace(context, rounds=rounds, now=tuple(map(hidden, context.now)))


def statistics(context: Context, role: ModeRole | None) -> Context:
    """Stances counted, confidence summed up: of the last round and of no other."""
    if not context.rounds:
        return context
    responses = [voice.response for voice in context.rounds[max(context.rounds)]]
    words, language = context.instrument, context.language
    stances = Counter(response.stance for response in responses if response.stance)
    sure = [response.confidence for response in responses if response.confidence is not None]
    lines = []
    if stances:
        each = ", ".join(
            f"{option.label} {stances[option.value]}"  # type: ignore[index]
            for option in words.stance_options(language)
            if stances[option.value]  # type: ignore[index]
        )
        lines.append(f"{words.headings.stance.in_(language)}: {each}")
    if sure:
        lines.append(format_feedback(words.headings.confidence.in_(language), summarise_ratings(sure)))
    return replace(context, counted=(*context.counted, *lines))


def perspective(context: Context, role: ModeRole | None) -> Context:
    """The participant is told to look at the matter through its role's perspective."""
    if role is None:
        return context
    text = context.instrument.instruction.perspective.in_(context.language)
    return replace(context, told=(*context.told, text.replace("{label}", role.label.in_(context.language))))


PROCESSORS: Mapping[str, Processor] = {"anonymous": anonymous, "statistics": statistics, "perspective": perspective}


# --- as it is read ----------------------------------------------------------------------------------------------------


def rendered(context: Context, titles: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(heading, text) of what is shown. `titles`: of sections, by id."""
    headings, language = context.instrument.headings, context.language
    parts = []
    if context.summary:
        parts.append((headings.summary.in_(language).replace("{round}", str(context.summarised)), context.summary))
    for number in sorted({*context.rounds, *context.remarks}):
        voices = context.rounds.get(number, ())
        if number in context.remarks:
            heading = headings.remark.in_(language).replace("{round}", str(number))
            parts.append((heading, context.remarks[number]))
        if number > context.summarised:
            text = "\n\n".join(spoken(voice, context, titles) for voice in voices)
            parts.append((headings.round.in_(language).replace("{round}", str(number)), text))
    if context.now:
        text = "\n\n".join(spoken(voice, context, titles) for voice in context.now)
        parts.append((headings.now.in_(language), text))
    if context.counted:
        parts.append((headings.statistics.in_(language), "\n".join(context.counted)))
    return tuple((heading, text) for heading, text in parts if text)


def spoken(voice: Voice, context: Context, titles: Mapping[str, str]) -> str:
    """What one participant said in one round: its name, position and stance, then the rest, lines of a
    list set in: nobody can break a line, and go on as somebody else."""
    words, language, response = context.instrument, context.language, voice.response
    lines = [f"{_named(voice, context)}: {' '.join(response.position.split()) or '–'}"]
    lines += [f"{titles.get(name, name)}: {_set_in(text)}" for name, text in response.sections.items()]
    rest = {
        words.headings.reasoning: response.reasoning,
        words.headings.key_points: "; ".join(response.key_points),
        words.headings.citations: "; ".join(response.citations),
    }
    lines += [f"{heading.in_(language)}: {_set_in(text)}" for heading, text in rest.items() if text]
    return "\n".join(lines)


def _set_in(text: str) -> str:
    return "\n  ".join(line.strip() for line in text.splitlines() if line.strip())


def _named(voice: Voice, context: Context) -> str:
    """Participant 3 (you, stance: yes, confidence: 0.8)."""
    words, language = context.instrument, context.language
    named = {option.value: option.label for option in words.stance_options(language)}
    more = [words.headings.you.in_(language)] if voice.speaker == context.participant else []
    more += [voice.title] if voice.title else []
    if voice.response.stance:
        more.append(f"{words.headings.stance.in_(language)}: {named[voice.response.stance]}")
    if voice.response.confidence is not None:
        more.append(f"{words.headings.confidence.in_(language)}: {voice.response.confidence:g}")
    return f"{voice.label} ({', '.join(more)})" if more else voice.label


# --- Checks: what a response is held to -------------------------------------------------------------------------------


Rounds = Literal["all", "first", "later"]

_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):]|\(?[a-z][.)])\s*", re.IGNORECASE)
_INLINE = re.compile(r"\s*(?:;|(?<!\S)\(?\d{1,2}[.)](?=\s))\s*")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"”“)]+(?=\S)")
NOTHING = re.compile(r"(?:nothing|none|n/a|nichts|keine?[rs]?|entfällt|–|-)[.!]?", re.IGNORECASE)
"""How a part is left empty: the structure layer asks for the word."""


@dataclass(frozen=True)
class CheckedResponse:
    """A response with what it is held to: `role_stance` is its role's."""

    response: Response
    context: Context
    role_stance: Stance
    marks: tuple[str, ...]  # words by which its role's perspective is known
    missing: tuple[str, ...]  # items that got no answer
    first: bool


class ForbiddenWords(Part):
    """Beginnings of words that must not occur, in each language."""

    de: tuple[Line, ...] = ()
    en: tuple[Line, ...] = ()


def _known(name: str) -> str:
    if name not in CHECKS:
        raise wrong(f"'{name}' is no check{suggestion(name, tuple(CHECKS))}")
    return name


class ModeCheck(Part):
    """A validator of a mode. `least`: entries or questions; `of`: section of the last round, all of whose entries by
    `by` are to be answered; `roles` and `rounds`: whose and when, everybody's and always unless named."""

    check: Annotated[Line, AfterValidator(_known)]
    section: str = ""
    least: Annotated[StrictInt, Field(ge=0, le=20)] = 0
    of: str = ""
    by: str = ""
    words: ForbiddenWords = ForbiddenWords()
    roles: tuple[Line, ...] = ()
    rounds: Rounds = "all"

    def applies(self, held: CheckedResponse) -> bool:
        return (not self.roles or held.context.role in self.roles) and in_round(self.rounds, held.first)


def in_round(rounds: Rounds, first: bool) -> bool:
    return rounds == "all" or (rounds == "first") == first


def entries(text: str) -> list[str]:
    """What a list in words holds: its lines without their marks; of a single line what stands between semicolons or
    numbers, else its sentences."""
    if NOTHING.fullmatch(text.strip()):
        return []
    lines = [_MARK.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) == 1:
        parts = [part for part in _INLINE.split(lines[0]) if part]
        lines = parts if len(parts) > 1 else _SENTENCE.split(lines[0])
    return lines


# --- of every mode ----------------------------------------------------------------------------------------------------


def required(held: CheckedResponse) -> Iterator[Violation]:
    """Every part that was asked for says something."""
    for name in held.missing:
        yield Violation(check="required", expected="1", actual="0", part=name)


def confidence_range(held: CheckedResponse) -> Iterator[Violation]:
    """Said between 0 and 1."""
    raw = held.response.raw_confidence
    if raw is not None:
        yield Violation(check="confidence", expected="0–1", actual=f"{raw:g}", part="confidence")


# --- that a mode may name ---------------------------------------------------------------------------------------------


def stance(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """The role's own, where it has one."""
    if not held.role_stance or held.response.stance == held.role_stance:
        return None
    return Violation(check="stance", expected=held.role_stance, actual=held.response.stance, part="stance")


def at_least(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """Entries in a section."""
    n = len(entries(held.response.sections.get(check.section, "")))
    return None if n >= check.least else _few(check, check.least, n)


def questions(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """Enough questions, and more of them than statements, in everything that was said apart from the lists."""
    response = held.response
    texts = (response.position, *response.sections.values(), response.reasoning)
    sentences = [sentence for text in texts for sentence in _sentences(text)]
    asked = sum(sentence.rstrip('"”“»)').endswith("?") for sentence in sentences)
    stated = len(sentences) - asked
    if asked >= check.least and asked > stated:
        return None
    return Violation(check=check.check, expected=f"≥ {max(check.least, stated + 1)} ?", actual=f"{asked} ?, {stated} .")


def without(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """None of these words."""
    response, words = held.response, getattr(check.words, held.context.language)
    text = " ".join((response.position, response.reasoning, *response.sections.values()))
    if check.section:
        text = response.sections.get(check.section, "")
    hits = [word for word in words if re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE)]
    return Violation(check=check.check, expected="–", actual=", ".join(hits), part=check.section) if hits else None


def answers_all(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """As many entries as the others made in the round before."""
    rounds = held.context.rounds
    last = rounds[max(rounds)] if rounds else ()
    due = sum(len(entries(voice.response.sections.get(check.of, ""))) for voice in last if voice.role == check.by)
    n = len(entries(held.response.sections.get(check.section, "")))
    return None if n >= due else _few(check, due, n)


def names_role(held: CheckedResponse, check: ModeCheck) -> Violation | None:
    """The section shows the role's perspective: by its name or one of its words."""
    text = held.response.sections.get(check.section, "")
    if any(mark.casefold() in text.casefold() for mark in held.marks):
        return None
    return Violation(check=check.check, expected=", ".join(held.marks), actual=text[:120], part=check.section)


def _few(check: ModeCheck, least: int, n: int) -> Violation:
    return Violation(check=check.check, expected=str(least), actual=str(n), part=check.section)


def _sentences(text: str) -> list[str]:
    return [
        sentence
        for line in text.splitlines()
        for sentence in _SENTENCE.split(_MARK.sub("", line).strip())
        if any(map(str.isalnum, sentence))
    ]


CHECKS: Mapping[str, Callable[[CheckedResponse, ModeCheck], Violation | None]] = {
    "stance": stance,
    "at_least": at_least,
    "questions": questions,
    "without": without,
    "answers_all": answers_all,
    "names_role": names_role,
}


# --- Modes ------------------------------------------------------------------------------------------------------------


LAYER = "roundtable"
SPLIT_ROLES = 3

RoleId = Annotated[Line, AfterValidator(identifier("role"))]
SectionId = Annotated[Line, AfterValidator(identifier("section"))]


def _processor(name: str) -> str:
    if name not in PROCESSORS:
        raise wrong(f"'{name}' is no context processor{suggestion(name, tuple(PROCESSORS))}")
    return name


class ModeRole(Part):
    """A part somebody plays. anchor: who they are in this group; stance: which they argue for, "" for their own; marks:
    words by which its perspective is known beside its label."""

    label: Text
    anchor: Text
    stance: Stance = ""
    marks: Text | None = None

    def known_by(self, language: Language) -> tuple[str, ...]:
        more = self.marks.in_(language).split(",") if self.marks else []
        return tuple(word.strip() for word in (self.label.in_(language), *more) if word.strip())


class Section(Part):
    """A part of the answer. Asked of these roles in these rounds; of everybody, always, unless named."""

    title: Text
    ask: Text
    rounds: Rounds = "all"
    roles: tuple[Line, ...] = ()

    def is_asked(self, role: str, first: bool) -> bool:
        return (not self.roles or role in self.roles) and in_round(self.rounds, first)


class Mode(LayerFile):
    order: Literal["parallel", "sequential"]
    groupthink: bool
    stance: bool = True
    context: tuple[Annotated[Line, AfterValidator(_processor)], ...] = ()
    assign: Assign = "one"
    roles: Mapping[RoleId, ModeRole]
    contract: Text
    sections: Mapping[SectionId, Section] = {}
    verification: tuple[Text, ...] = ()
    checks: tuple[ModeCheck, ...] = ()

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        for place, names, known in self._references():
            for unknown in [name for name in names if name and name not in known]:
                raise wrong(f"{place}: {unknown!r} is not defined here{suggestion(unknown, tuple(known))}")
        if not self.roles:
            raise wrong("roles: names none; a mode has at least one")
        if self.assign == "split" and len(self.roles) < SPLIT_ROLES:
            raise wrong(f"roles: names {len(self.roles)}; to split a group takes {SPLIT_ROLES}: for, against, weighing")
        return self

    def _references(self) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, object]]]:
        for name, section in self.sections.items():
            yield f"sections.{name}.roles", section.roles, self.roles
        for check in self.checks:
            yield "checks.roles", (*check.roles, check.by), self.roles
            yield "checks.section", (check.section, check.of), self.sections

    @property
    def assigns_stances(self) -> bool:
        """Whether what is said to the group is a part's stance, not the participant's own."""
        return any(role.stance for role in self.roles.values())

    # --- hooks -------------------------------------------------------------------------------------------------------

    def role_of(self, seat: TableSeat) -> str:
        """Which part the participant in this seat plays, in every round."""
        return role_of(self.assign, tuple(self.roles), seat)

    def transform_context(self, context: Context) -> Context:
        """What is shown of what is known."""
        for name in self.context:
            context = PROCESSORS[name](context, self.roles.get(context.role))
        return context

    def validate_response(
        self, response: Response, context: Context, missing: tuple[str, ...]
    ) -> tuple[Violation, ...]:
        """What it does not keep to. The response is never changed. missing: parts that got no answer."""
        role, first = self.roles[context.role], not context.rounds
        held = CheckedResponse(response, context, role.stance, role.known_by(context.language), missing, first)
        violations = (CHECKS[check.check](held, check) for check in self.checks if check.applies(held))
        return (*required(held), *confidence_range(held), *filter(None, violations))

    # --- layers ------------------------------------------------------------------------------------------------------

    def told(self, context: Context, question: str) -> str:
        """The layers of the prompt: role anchor, behavioural contract, structure, verification loop."""
        words, language = context.instrument, context.language
        checks = "\n".join(f"- {text.in_(language)}" for text in (*words.verification, *self.verification))
        layers = (
            words.instruction.discussion.in_(language).replace("{question}", question),
            self.roles[context.role].anchor.in_(language),
            *context.told,
            self.contract.in_(language),
            words.instruction.structure.in_(language),
            f"{words.instruction.verification.in_(language)}\n{checks}",
        )
        return "\n\n".join(layers)

    def form(self, role: str, first: bool, language: Language) -> tuple[Item, ...]:
        """The mode's own parts of the answer."""
        return tuple(
            Item(id=name, kind="text", wording=f"{section.title.in_(language)}: {section.ask.in_(language)}")
            for name, section in self.sections.items()
            if section.is_asked(role, first)
        )

    def titles(self, language: Language) -> dict[str, str]:
        return {name: section.title.in_(language) for name, section in self.sections.items()}


def load_mode(name: str, own_folder: str | None = None) -> Mode:
    """A shipped mode, else a file. Raises InstrumentError."""
    return load_layer(Mode, LAYER, name, own_folder)
