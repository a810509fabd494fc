"""What a Delphi panel is asked: open questions in round 1, then ratings of the themes, from round 3 on with feedback.

The order of the steps is the panel's graph, the moderator's work between the rounds is in moderator.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, JsonValue

from enquete.analysis.group_feedback import format_feedback
from enquete.instruments.pack import NEUTRAL, Data, Lines, Pack, Words, pack_named, pack_on
from enquete.instruments.text import Text
from enquete.locale import N_, tell
from enquete.methods.delphi.instrument import NO_FEEDBACK, DelphiInstrument, DelphiSettings
from enquete.respondents.ground_truth import (
    answer_at,
    normal,
    persona_hash,
    pick,
    sample,
    side,
    type_of,
    uniform,
    voice,
)
from enquete.respondents.themes import MOST_STATEMENTS
from enquete.state.asking import ATTEMPTS, Answer, Block, Item, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan, Procedure

FIRST_REVISION = 3
FALSE_ROUND = FIRST_REVISION
"""What a panel told false medians is asked; its first ratings are the main arm's."""
HEADINGS = (N_("Anonymous feedback: how all participants rated in the last round"), N_("Your own ratings"))


class Delphi(Procedure[DelphiInstrument, DelphiSettings]):
    """Units are agents."""

    def __init__(self, instrument: DelphiInstrument, settings: DelphiSettings, language: Language):
        super().__init__(instrument, settings, language)
        self.rounds = instrument.most_rounds
        self._rated: dict[tuple[bool, tuple[tuple[str, str, str], ...]], tuple[Item, ...]] = {}  # alike for all agents

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        if context.arm.feedback == "false" and round != FALSE_ROUND:
            return []
        if context.arm.variant == NO_FEEDBACK and round < FIRST_REVISION:
            return []  # its first ratings are the main arm's
        return super().units(round, context)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        items = self._items(round, context)
        if not items:
            return []
        part = "questions" if round == 1 else "ratings"
        return [
            Block(
                key=context.key(unit, part, round=round),
                instruction=self.instrument.instruction(
                    min(round, 2) if context.arm.variant == NO_FEEDBACK else round, self.language
                ),
                items=items,
                quoted=self._quoted(unit, round, context) if round > 2 else (),
                in_order=self.instrument.in_order,
            )
        ]

    @staticmethod
    def variants(settings: DelphiSettings) -> Sequence[str]:
        return (NO_FEEDBACK,) if settings.no_feedback_arm else ()

    def plan(self, context: InterviewContext) -> Plan:
        """Ratings depend on how many themes are found: between one and the instrument's maximum; with `auto` on when it
        ends."""
        instrument, agents = self.instrument, len(context.participants())
        questions, asked = len(instrument.questions), len(instrument.dimensions)
        fewest, longest = instrument.fewest_rounds, instrument.most_rounds
        if context.arm.variant == NO_FEEDBACK:
            return self._plan_again(agents, context)
        rows = (
            agents * (questions + (fewest - 1) * asked),
            agents * (questions + (longest - 1) * asked * instrument.max_themes),
        )
        least, most = rows if context.asking == "item" else (agents * fewest, agents * longest)
        first, again = max(1, agents * questions), int(self.settings.second_coding)
        most_themes = (first * 2 + min(MOST_STATEMENTS, first) * again) * ATTEMPTS
        return Plan(calls={"answer": (least, most * ATTEMPTS), "theme": (1 + again, most_themes)}, rows=rows)

    def _plan_again(self, agents: int, context: InterviewContext) -> Plan:
        """Return what an arm asks that rates again only."""
        fewest, longest = (
            rounds + 1 - FIRST_REVISION for rounds in (self.instrument.fewest_rounds, self.instrument.most_rounds)
        )
        asked = len(self.instrument.dimensions)
        rows = (agents * fewest * asked, agents * longest * asked * self.instrument.max_themes)
        least, most = rows if context.asking == "item" else (agents * fewest, agents * longest)
        return Plan(calls={"answer": (least, most * ATTEMPTS)}, rows=rows)

    def _items(self, round: int, context: InterviewContext) -> tuple[Item, ...]:
        if round == 1:
            return self.instrument.question_items(self.language)
        themes = pinned_themes(context)
        asked = round > 2, tuple((str(t["id"]), str(t["label"]), str(t["description"])) for t in themes)
        if asked not in self._rated:
            self._rated[asked] = self.instrument.rating_items(asked[1], self.language, reason=asked[0])
        return self._rated[asked]

    def _quoted(self, unit: str, round: int, context: InterviewContext) -> tuple[tuple[str, str], ...]:
        """The panel's median and IQR of the last round, and what this participant said then."""
        if context.arm.variant == NO_FEEDBACK:
            return self._own_ratings(unit, round, context)
        is_false = context.arm.feedback == "false"
        feedback = context.pinned(f"feedback/{round - 1}", arm=context.arm.id if is_false else context.main_arm)
        panel, yours = (tell(text, self.language) for text in HEADINGS)
        lines = [format_feedback(item, values) for item, values in as_mapping(feedback).items()]
        then = context.key(unit, "ratings", round=round - 1)
        rated = context.stored(then._replace(arm=context.main_arm) if is_false else then)
        mine = [f"{item}: {answer.value:g}" for item, answer in rated.items() if answer.value is not None]
        return ((panel, "\n".join(lines)), *(((yours, "\n".join(mine)),) if mine else ()))

    def _own_ratings(self, unit: str, round: int, context: InterviewContext) -> tuple[tuple[str, str], ...]:
        """Return what a participant who sees no feedback rated last: in the main arm before the first revision."""
        before = context.key(unit, "ratings", round=round - 1)
        if round == FIRST_REVISION:
            before = before._replace(arm=context.main_arm)
        rated = context.stored(before)
        lines = [f"{item}: {answer.value:g}" for item, answer in rated.items() if answer.value is not None]
        return ((tell(HEADINGS[1], self.language), "\n".join(lines)),) if lines else ()


def as_mapping(value: JsonValue) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def pinned_themes(context: InterviewContext) -> list[Mapping[str, Any]]:
    """The themes that everyone rates; empty until round 1 is coded."""
    stored = as_mapping(context.pinned("themes", arm=context.main_arm)).get("themes")
    return [as_mapping(theme) for theme in stored] if isinstance(stored, list) else []


# --- Synthetic Delphi panel: planted themes voiced in round 1, rated in round 2, revised in round 3.
#
# Every choice comes from SHA-256 over the seed, the methodology, the item and the persona, so an item gets the same
# answer alone or in a block, in any order and process; round 3 recomputes round 2's rating and reads the median from
# the feedback.

# --- What is planted in the synthetic Delphi panel: themes, who voices them, how they are rated (truth/delphi.yaml of
# a pack)
# Positions run from −1 (lowest scale point) to 1. docs/synthetic-respondent.md explains it.

CONSENSUAL_SD = 0.28


class PlantedRating(Data):
    """Consensual: all near `low` (= `high`). Polarised: the theme's camp near `high`, everybody else near `low`."""

    low: float
    high: float
    sd: float = CONSENSUAL_SD
    outward: float = 0.0  # share of raters that choose the end of the scale beyond their camp's position

    @property
    def polarised(self) -> bool:
        return self.low != self.high


def _shared(given: object) -> object:
    return {"low": given, "high": given} if isinstance(given, int | float) else given


Rated = Annotated[PlantedRating, BeforeValidator(_shared)]
"""A number stands for a position that all share."""


class PlantedTheme(Data):
    """`words` recognise the theme in a coded label or description; {topic} in a claim is the instrument's.

    camp: types that rate a polarised theme high; torn: types of which half do.
    """

    words: Words
    favoured_by: frozenset[str] = frozenset()
    importance: Rated
    plausibility: Rated
    camp: frozenset[str] = frozenset()
    torn: frozenset[str] = frozenset()
    claims: Lines

    @property
    def polarised(self) -> bool:
        return self.importance.polarised

    def rating(self, dimension: str) -> PlantedRating:
        """The planted rating; a dimension of one's own instrument is rated like importance."""
        return self.plausibility if dimension == "plausibility" else self.importance


class DelphiTruth(Data):
    """`loyalty`: share of an unnamed type's agents who are in their type's camp; the others are in any."""

    themes: Mapping[str, PlantedTheme] = {}
    loyalty: float = 1.0
    openings: Lines = Field({})  # before a claim
    reasons: Mapping[
        str, Lines
    ] = {}  # of a rating that moved toward the median, was held against it, was there already

    @cached_property
    def _known(self) -> dict[str, str | None]:
        """The theme by wording: every agent rates the same ones."""
        return {}

    def in_camp(self, theme: str, kind: str, persona: str) -> bool:
        """Whether an agent of this type and persona hash rates a polarised theme high."""
        planted, key = self.themes[theme], ("delphi", "camp", theme)
        if kind.startswith("other:"):
            return side((True, False), kind, persona, self.loyalty, *key)
        return side((True, False), persona, persona, 1, *key) if kind in planted.torn else kind in planted.camp

    def recognised(self, wording: str) -> str | None:
        """The theme whose words occur most often in a coded theme's wording; None if none occurs."""
        if wording not in self._known:
            hits = {name: len(theme.words.findall(wording)) for name, theme in self.themes.items()}
            best = max(hits, key=hits.__getitem__, default=None)
            self._known[wording] = best if best is not None and hits[best] else None
        return self._known[wording]


METHODOLOGY = "delphi"

THEMES_PER_ANSWER = (1, 3)
STEP = 0.6  # a mover goes this share of the way to the median in round 3
MOVERS_CONSENSUAL = 0.75  # share of agents off the median who move
MOVERS_POLARISED = 0.08
CENTRE_RANGE = 0.5  # consensual centres of themes that nobody planted lie within ± this
UNPLANTED_SD = 0.35
_MEDIAN = re.compile(r"^[^\w\n]*(\S+?):[ \t].*?\bmedian\b[^\d\n-]*(-?\d+(?:[.,]\d+)?)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class PlantedPanel:
    """The truth of one instrument: the themes of the pack that knows its topic, else those that any topic has."""

    topic: Text
    pack: Pack

    def __call__(self, who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
        """One answer per item of the block, in its order.

        Text items voice planted themes; closed items rate the theme that the wording speaks of; from round 3 on the
        ratings revise the first ones in the light of the medians quoted in the block.
        """
        medians = _medians(block)
        return tuple(
            Answer(item.id, "ok", text=self._opinion(who, item.id, language, seed))
            if item.kind == "text"
            else self._rated(who, item, block.key.round, medians.get(item.id), language, seed)
            for item in block.items
        )

    @cached_property
    def truth(self) -> DelphiTruth:
        return self.pack.truth(METHODOLOGY, DelphiTruth)

    def voiced(self, who: Participant, question: str, seed: int) -> tuple[str, ...]:
        """The planted themes (1–3 keys) that this agent's answer to an open question voices: the truth behind round
        1."""
        key = (seed, METHODOLOGY, "voiced", question, persona_hash(who))
        least, most = THEMES_PER_ANSWER
        n = least + int(uniform(*key, "n") * (most - least + 1))
        kind = type_of(who, self.pack)
        weights = [
            (theme, self._affinity(theme, kind)) for theme in self.truth.themes if self._voices(theme, who, kind)
        ]
        return tuple(sample(weights, n, *key))

    def _voices(self, theme: str, who: Participant, kind: str) -> bool:
        """Nobody speaks up for what they rate as unimportant."""
        return not self.truth.themes[theme].polarised or self.truth.in_camp(theme, kind, persona_hash(who))

    def _affinity(self, theme: str, kind: str) -> float:
        if kind.startswith("other:"):
            return 1 + 2 * uniform(METHODOLOGY, "affinity", theme, kind)
        return 3.0 if kind in self.truth.themes[theme].favoured_by else 1.0

    def _opinion(self, who: Participant, question: str, language: Language, seed: int) -> str:
        """One sentence per voiced theme, sometimes one about oneself."""
        key = (seed, METHODOLOGY, question, persona_hash(who))
        sentences = [self._claim(theme, language, *key, theme) for theme in self.voiced(who, question, seed)]
        if uniform(*key, "voice") < 0.3:
            sentences.insert(0, voice(type_of(who, self.pack), self.pack, language, *key))
        return " ".join(sentences)

    def _claim(self, theme: str, language: Language, *key: str | int) -> str:
        opening = pick(_general().openings[language], *key, "opening")
        claim = pick(self.truth.themes[theme].claims[language], *key, "claim")
        claim = claim.replace("{topic}", self.topic.in_(language))
        if opening.endswith(": "):  # German writes a whole sentence after a colon with a capital
            claim = claim[0].upper() + claim[1:]
        sentence = f"{opening}{claim}."
        return sentence[0].upper() + sentence[1:]

    def _rated(
        self, who: Participant, item: Item, round_: int, median: float | None, language: Language, seed: int
    ) -> Answer:
        theme = self.truth.recognised(item.about or item.wording)
        first = self._first(who, item, theme, seed)
        revised = self._revised(who, item, theme, first, median, seed) if round_ >= 3 else first
        key = (seed, METHODOLOGY, item.id, persona_hash(who))
        confidence = 0.55 + 0.3 * abs(revised) + 0.08 * normal(*key, "confidence")
        answer = answer_at(revised, item, confidence=confidence)
        if item.reason:
            before = answer_at(first, item, confidence=confidence).value
            answer.text = self._reason(who, item.id, before, answer.value, median, language, seed)
        return answer

    def _first(self, who: Participant, item: Item, theme: str | None, seed: int) -> float:
        """Position of round 2's rating, −1 … 1."""
        topic, _, dimension = item.id.rpartition("/")
        key = (seed, METHODOLOGY, "rating", item.id, persona_hash(who))
        rating = self.truth.themes[theme].rating(dimension) if theme else _unplanted(topic or item.id, dimension)
        high = rating.polarised and theme is not None and self._voices(theme, who, type_of(who, self.pack))
        centre = rating.high if high else rating.low
        if rating.outward and uniform(*key, "outward") < rating.outward:
            return 1.0 if high else -1.0
        return min(max(centre + rating.sd * normal(*key), -1.0), 1.0)

    def _revised(
        self, who: Participant, item: Item, theme: str | None, first: float, median: float | None, seed: int
    ) -> float:
        target = _position_of(median, item)
        if target is None:
            return first
        polarised = theme is not None and self.truth.themes[theme].rating(item.id.rpartition("/")[2]).polarised
        movers = MOVERS_POLARISED if polarised else MOVERS_CONSENSUAL
        moves = uniform(seed, METHODOLOGY, "moves", item.id, persona_hash(who)) < movers
        return first + STEP * (target - first) if moves else first

    def _reason(
        self,
        who: Participant,
        item: str,
        before: float | None,
        after: float | None,
        median: float | None,
        language: Language,
        seed: int,
    ) -> str:
        key = (seed, METHODOLOGY, "reason", item, persona_hash(who))
        held = median is not None and after is not None and abs(after - median) >= 1
        outcome = "moved" if before != after else "held" if held else "agreed"
        reason = pick(_general().reasons[outcome][language], *key)
        if outcome == "held" or uniform(*key, "voice") < 0.2:
            return f"{reason} {voice(type_of(who, self.pack), self.pack, language, *key)}"
        return reason


def _general() -> DelphiTruth:
    """What any panel says around its claims."""
    return pack_named(NEUTRAL).truth(METHODOLOGY, DelphiTruth)


def _unplanted(topic: str, dimension: str) -> PlantedRating:
    centre = CENTRE_RANGE * (2 * uniform(METHODOLOGY, "unplanted", topic, dimension) - 1)
    return PlantedRating(low=centre, high=centre, sd=UNPLANTED_SD)


def _position_of(median: float | None, item: Item) -> float | None:
    values = [option.value for option in item.options if isinstance(option.value, int)]
    if median is None or len(values) < 2:
        return None
    low, high = min(values), max(values)
    return 2 * (median - low) / (high - low) - 1


def _medians(block: Block) -> dict[str, float]:
    """Medians by item id from feedback lines such as "theme:9f3a/importance: median 4, IQR 1, n 48"."""
    matches = (match for _, text in block.quoted for match in _MEDIAN.finditer(text))
    return {match[1]: float(match[2].replace(",", ".")) for match in matches}


def planted(instrument: DelphiInstrument, settings: BaseModel | None = None) -> PlantedPanel:
    """The truth of an instrument, by the pack that knows its topic."""
    return PlantedPanel(instrument.topic, pack_on(instrument.topic))
