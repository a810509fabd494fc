"""Synthetic participants of a roundtable: a planted stance and stubbornness, in the words of truth/roundtable.yaml.

They see the block alone. Whoever is not stubborn goes over to the majority of what was said last; what they say depends
on the stance and the persona and not on the round, so that who did not move says the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from enquete.graphs.roundtable.discussion import RoundtableSettings
from enquete.graphs.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.graphs.roundtable.modes import ModeRole
from enquete.graphs.roundtable.table import AGAIN
from enquete.instruments.pack import NEUTRAL, Data, Lines, pack_named
from enquete.respondents.planted import answer_at, normal, persona_hash, pick, sample, uniform
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.methodology import Truth

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
        own, stubborn = stance_of(who, settings.cast, seed), is_stubborn(who, settings.cast, seed)
        self._own = own if stubborn else self._majority() or own

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
