"""How a Delphi is conducted: open answers → themes → ratings → anonymous feedback → revision with a reason.

Other arms than the main one are asked the same questions: about the main arm's themes, with the main arm's feedback.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, JsonValue

from enquete.analysis.stopping import Exit, RoundStanding, exit_after
from enquete.graphs.delphi.instrument import NO_FEEDBACK, DelphiInstrument, DelphiSettings
from enquete.instruments.pack import NEUTRAL, Data, Lines, Pack, Words, pack_named, pack_on
from enquete.instruments.text import Text
from enquete.locale import N_, tell
from enquete.nodes.rounds import feedback_line, summary
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
from enquete.respondents.rule_coder import Statement, ThemeBrief
from enquete.respondents.themes import MOST_STATEMENTS, assign_themes, code_themes
from enquete.state.asking import ATTEMPTS, Answer, Block, Item, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Plan, Procedure

# --- When a panel with `rounds: auto` has rated enough, by the criteria that end a discussion
# (analysis/stopping.py)

Ratings = Mapping[str, Mapping[str, float]]
"""panelist → item → rating, of one round."""


def rated_enough(rounds: Sequence[Ratings], instrument: DelphiInstrument) -> Exit:
    """rounds: of ratings, from the first one on."""
    agreed_at = instrument.disagreement.consensus_iqr
    pairs = zip(rounds, [{}, *rounds], strict=False)
    return exit_after([_standing(now, before, agreed_at) for now, before in pairs], instrument.ending.limits)


def _standing(now: Ratings, before: Ratings, agreed_at: float) -> RoundStanding:
    """The share of items on which the panel agrees, and what each panelist left of its ratings as it was."""
    from enquete.analysis.panel import iqr  # noqa: PLC0415 - no question waits for pandas

    items = {item for ratings in now.values() for item in ratings}
    spread = [iqr([ratings[item] for ratings in now.values() if item in ratings]) for item in items]
    kept = {
        who: fmean(ratings[item] == before[who][item] for item in both)
        for who, ratings in now.items()
        if (both := ratings.keys() & before.get(who, {}).keys())
    }
    agreed = [width <= agreed_at for width in spread if width is not None]
    return RoundStanding(fmean(agreed) if agreed else None, len(now), kept)


FIRST_REVISION = 3
FALSE_ROUND = FIRST_REVISION
"""What a panel told false medians is asked; its first ratings are the main arm's."""
HEADINGS = (N_("Anonymous feedback: how all participants rated in the last round"), N_("Your own ratings"))


class Delphi(Procedure[DelphiInstrument, DelphiSettings]):
    """One panel. Units are agents; the barrier after a round codes themes or pins the feedback."""

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

    async def between(
        self, round: int, context: InterviewContext
    ) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Only the main arm codes, feeds back and says when it is enough. Without a single theme there is nothing to
        rate: failed."""
        is_main = context.arm.id == context.main_arm
        if round == self.rounds or await self._has_rated_enough(round, context):
            return await self._code_again(context) if is_main and self.settings.second_coding else "end"
        if not is_main:
            await self._mislead(round, context)
            return "next"
        if round == 1:
            return await self._code(context)
        await context.pin(f"feedback/{round}", await self._feedback(round, context))
        return "next"

    def readout(self, context: InterviewContext, round: int) -> dict[str, Any]:
        """What a reader of Studio sees: labels of the themes, medians of the round."""
        feedback = _mapping(context.pinned(f"feedback/{round}"))
        medians = {item: values["median"] for item, values in feedback.items()}
        themes = {str(theme["id"]): str(theme["label"]) for theme in pinned_themes(context)}
        return {"themes": themes, "feedback": {f"round {round}": medians} if medians else {}}

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
        fewest, longest = (rounds + 1 - FIRST_REVISION for rounds in (self.instrument.fewest_rounds, self.rounds))
        asked = len(self.instrument.dimensions)
        rows = (agents * fewest * asked, agents * longest * asked * self.instrument.max_themes)
        least, most = rows if context.asking == "item" else (agents * fewest, agents * longest)
        return Plan(calls={"answer": (least, most * ATTEMPTS)}, rows=rows)

    async def _has_rated_enough(self, round: int, context: InterviewContext) -> bool:
        """The main arm's verdict after a round of revision, pinned once: late answers do not reopen a panel that was
        closed."""
        if self.instrument.rounds != "auto" or round < FIRST_REVISION:
            return False
        verdict = context.pinned(f"exit/{round}", arm=context.main_arm)
        if verdict is None and context.arm.id == context.main_arm:
            rated = [await self._ratings(each, context) for each in range(2, round + 1)]
            ended = rated_enough(rated, self.instrument)
            verdict = await context.pin(f"exit/{round}", ended.model_dump(mode="json"))
        return bool(_mapping(verdict).get("should_exit"))

    async def _ratings(self, round: int, context: InterviewContext) -> dict[str, dict[str, float]]:
        """Panelist → item → rating, of one round."""
        ratings: dict[str, dict[str, float]] = {}
        async for key, given in context.answers(arm=context.main_arm, round=round):
            if given.value is not None:
                ratings.setdefault(key.participant, {})[given.item] = given.value
        return ratings

    async def _code(self, context: InterviewContext) -> Literal["next", "short", "failed"]:
        """Themes from the answers of round 1, pinned before anybody rates them."""
        topic, statements = self.instrument.topic.in_(self.language), await _statements(context)
        coded = await code_themes(context.work, topic, statements, self.instrument.max_themes, label="round 1")
        if isinstance(coded, str):
            return coded
        await context.pin("themes", coded.model_dump(mode="json"))
        return "next" if coded.themes else "failed"

    async def _code_again(self, context: InterviewContext) -> Literal["end", "short"]:
        """The second coding, last of all: no answer waits for it. One that failed leaves the study without it; it is
        tried once more whenever failed answers are."""
        if context.pinned("second_coding") is None:
            briefs = [
                ThemeBrief(id=str(t["id"]), label=str(t["label"]), description=str(t["description"]))
                for t in pinned_themes(context)
            ]
            topic, statements = self.instrument.topic.in_(self.language), await _statements(context)
            again = await assign_themes(context.work, topic, briefs, statements, label="round 1/second")
            if again == "short":
                return again
            if not isinstance(again, str):
                await context.pin("second_coding", again.model_dump(mode="json"))
        return "end"

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
        lines = [feedback_line(item, values) for item, values in _mapping(feedback).items()]
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

    async def _mislead(self, round: int, context: InterviewContext) -> None:
        """Probe: medians that nobody gave, half the scale off the real ones, pinned in the form of the real
        feedback."""
        if context.arm.feedback == "false" and round == FALSE_ROUND - 1:
            real = _mapping(context.pinned(f"feedback/{round}", arm=context.main_arm))
            false: dict[str, JsonValue] = {item: self._falsified(item, values) for item, values in real.items()}
            await context.pin(f"feedback/{round}", false)

    def _falsified(self, item: str, values: Mapping[str, Any]) -> dict[str, JsonValue]:
        """Towards the farther end; from the midpoint up or down by the item's id."""
        scale = self.instrument.scale_of(item.rpartition("/")[2])
        half, median = (scale.max - scale.min) / 2, float(values["median"])
        middle = scale.min + half
        up = median < middle or (median == middle and zlib.crc32(item.encode()) % 2 == 0)
        return {**values, "median": median + half if up else median - half}

    async def _feedback(self, round: int, context: InterviewContext) -> dict[str, JsonValue]:
        """item → median, IQR (type 7) and n over everyone who gave a rating."""
        ratings: dict[str, list[float]] = {}
        async for _, given in context.answers(arm=context.main_arm, round=round):
            if given.value is not None:
                ratings.setdefault(given.item, []).append(given.value)
        return {item: summary(values) for item, values in sorted(ratings.items())}


async def _statements(context: InterviewContext) -> list[Statement]:
    """What the main arm said in round 1, by participant and question."""
    return [
        Statement(id=f"{key.participant}|{given.item}", text=given.text)
        async for key, given in context.answers(arm=context.main_arm, round=1)
        if given.text
    ]


def _mapping(value: JsonValue) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def pinned_themes(context: InterviewContext) -> list[Mapping[str, Any]]:
    """The themes that everyone rates; empty until round 1 is coded."""
    stored = _mapping(context.pinned("themes", arm=context.main_arm)).get("themes")
    return [_mapping(theme) for theme in stored] if isinstance(stored, list) else []


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
