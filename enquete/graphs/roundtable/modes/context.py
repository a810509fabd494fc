"""What a participant is shown of the discussion before it speaks, and the shared processors that a mode passes it through.

A processor takes what is known and gives what is shown; a mode names those that it wants, and they are applied in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from enquete.graphs.roundtable.instrument import RoundtableInstrument
from enquete.graphs.roundtable.responses import Response
from enquete.instruments.text import Text
from enquete.nodes.feedback import feedback_line, summary
from enquete.state.asking import Language

STANCES = ("yes", "neutral", "no")


@dataclass(frozen=True)
class Voice:
    """Who said what in one round. `label` and `title`: the name and role under which the others know the speaker; `number`:
    its anonymous one."""

    speaker: str
    number: int
    role: str
    response: Response
    label: str = ""
    title: str = ""


@dataclass(frozen=True)
class Context:
    """One participant before one turn. `rounds`: those before, by number; `now`: what was said in this one already;
    `remarks`: of whoever leads the discussion, by the round that they open, which everybody sees in every round from then on.

    `summary` stands for rounds 1 to `summarised`, which are then left out; `counted`: lines on the whole group; `told`: what a
    processor adds to what the participant is told.
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


class Player(Protocol):
    """What a processor may know of a role."""

    @property
    def label(self) -> Text: ...


Processor = Callable[[Context, Player | None], Context]


def anonymous(context: Context, player: Player | None) -> Context:
    """Nobody is known by name or role, but each by one number in all rounds."""
    name = context.instrument.headings.number.in_(context.language)

    def hidden(voice: Voice) -> Voice:
        return replace(voice, label=name.replace("{number}", str(voice.number)), title="")

    rounds = {number: tuple(map(hidden, said)) for number, said in context.rounds.items()}
    return replace(context, rounds=rounds, now=tuple(map(hidden, context.now)))


def statistics(context: Context, player: Player | None) -> Context:
    """Stances counted, confidence summed up: of the last round and of no other."""
    if not context.rounds:
        return context
    said = [voice.response for voice in context.rounds[max(context.rounds)]]
    return replace(context, counted=(*context.counted, *_counted(said, context)))


def _counted(said: Sequence[Response], context: Context) -> list[str]:
    words, language = context.instrument, context.language
    stances = Counter(one.stance for one in said if one.stance)
    sure = [one.confidence for one in said if one.confidence is not None]
    lines = []
    if stances:
        named = {option.value: option.label for option in words.stance_options(language)}
        each = ", ".join(f"{named[stance]} {stances[stance]}" for stance in STANCES if stances[stance])  # type: ignore[index]
        lines.append(f"{words.headings.stance.in_(language)}: {each}")
    if sure:
        lines.append(feedback_line(words.headings.confidence.in_(language), summary(sure)))
    return lines


def perspective(context: Context, player: Player | None) -> Context:
    """The participant is told to look at the matter through its role's perspective."""
    if player is None:
        return context
    text = context.instrument.instruction.perspective.in_(context.language)
    return replace(context, told=(*context.told, text.replace("{label}", player.label.in_(context.language))))


PROCESSORS: Mapping[str, Processor] = {
    "anonymous": anonymous,
    "statistics": statistics,
    "perspective": perspective,
}


# --- as it is read -------------------------------------------------------------------------------------------------------


def rendered(context: Context, titles: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(heading, text) of what is shown. `titles`: of sections, by id."""
    headings, language = context.instrument.headings, context.language
    found = []
    if context.summary:
        found.append((headings.summary.in_(language).replace("{round}", str(context.summarised)), context.summary))
    for number in sorted({*context.rounds, *context.remarks}):
        said = context.rounds.get(number, ())
        if number in context.remarks:
            heading = headings.remark.in_(language).replace("{round}", str(number))
            found.append((heading, context.remarks[number]))
        if number > context.summarised:
            text = "\n\n".join(spoken(voice, context, titles) for voice in said)
            found.append((headings.round.in_(language).replace("{round}", str(number)), text))
    if context.now:
        text = "\n\n".join(spoken(voice, context, titles) for voice in context.now)
        found.append((headings.now.in_(language), text))
    if context.counted:
        found.append((headings.statistics.in_(language), "\n".join(context.counted)))
    return tuple((heading, text) for heading, text in found if text)


def spoken(voice: Voice, context: Context, titles: Mapping[str, str]) -> str:
    """What one participant said in one round: its name, position and stance, then the rest, lines of a
    list set in: nobody can break a line, and go on as somebody else."""
    words, language, said = context.instrument, context.language, voice.response
    lines = [f"{_named(voice, context)}: {' '.join(said.position.split()) or '–'}"]
    lines += [f"{titles.get(name, name)}: {_set_in(text)}" for name, text in said.sections.items()]
    rest = {
        words.headings.reasoning: said.reasoning,
        words.headings.key_points: "; ".join(said.key_points),
        words.headings.citations: "; ".join(said.citations),
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
