"""How a Delphi is conducted: open answers → themes → ratings → anonymous feedback → revision with a reason.

Other arms than the main one are asked the same questions: about the main arm's themes, with the main arm's feedback.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import JsonValue

from enquete.analysis.stopping import Exit, RoundStanding, exit_after
from enquete.graphs.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.locale import N_, tell
from enquete.nodes.feedback_lines import feedback_line, summary
from enquete.respondents.rule_coder import Statement, ThemeBrief
from enquete.respondents.themes import MOST_STATEMENTS, assign_themes, code_themes
from enquete.state.asking import ATTEMPTS, Block, Item, Language
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

    items = {item for own in now.values() for item in own}
    spread = [iqr([own[item] for own in now.values() if item in own]) for item in items]
    kept = {
        who: fmean(own[item] == before[who][item] for item in both)
        for who, own in now.items()
        if (both := own.keys() & before.get(who, {}).keys())
    }
    agreed = [one <= agreed_at for one in spread if one is not None]
    return RoundStanding(fmean(agreed) if agreed else None, len(now), kept)


FIRST_REVISION = 3
FALSE_ROUND = (
    FIRST_REVISION  # what a panel told false medians is asked: the first revision; its first ratings are the main arm's
)
HEADINGS = (
    N_("Anonymous feedback: how all participants rated in the last round"),
    N_("Your own ratings"),
)


class Delphi(Procedure[DelphiInstrument, DelphiSettings]):
    """One panel. Units are agents; the barrier after a round codes themes or freezes the feedback."""

    def __init__(self, instrument: DelphiInstrument, settings: DelphiSettings, language: Language):
        super().__init__(instrument, settings, language)
        self.rounds = instrument.most_rounds
        self._rated: dict[tuple[bool, tuple[tuple[str, str, str], ...]], tuple[Item, ...]] = {}  # alike for all agents

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        if context.arm.feedback == "false" and round != FALSE_ROUND:
            return []
        return super().units(round, context)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        items = self._items(round, context)
        if not items:
            return []
        part = "questions" if round == 1 else "ratings"
        return [
            Block(
                key=context.key(unit, part, round=round),
                instruction=self.instrument.instruction(round, self.language),
                items=items,
                quoted=self._quoted(unit, round, context) if round > 2 else (),
                in_order=self.instrument.in_order,
            )
        ]

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
        await context.freeze(f"feedback/{round}", await self._feedback(round, context))
        return "next"

    def readout(self, context: InterviewContext, round: int) -> dict[str, Any]:
        """What a reader of Studio sees: labels of the themes, medians of the round."""
        feedback = _mapping(context.frozen(f"feedback/{round}"))
        medians = {item: values["median"] for item, values in feedback.items()}
        themes = {str(theme["id"]): str(theme["label"]) for theme in frozen_themes(context)}
        return {"themes": themes, "feedback": {f"round {round}": medians} if medians else {}}

    def plan(self, context: InterviewContext) -> Plan:
        """Ratings depend on how many themes are found: between one and the instrument's maximum; with `auto` on when it
        ends."""
        one, agents = self.instrument, len(context.participants())
        questions, asked = len(one.questions), len(one.dimensions)
        fewest, longest = one.fewest_rounds, one.most_rounds
        rows = (
            agents * (questions + (fewest - 1) * asked),
            agents * (questions + (longest - 1) * asked * one.max_themes),
        )
        least, most = rows if context.asking == "item" else (agents * fewest, agents * longest)
        first, again = max(1, agents * questions), int(self.settings.second_coding)
        most_themes = (first * 2 + min(MOST_STATEMENTS, first) * again) * ATTEMPTS
        return Plan(calls={"answer": (least, most * ATTEMPTS), "theme": (1 + again, most_themes)}, rows=rows)

    async def _has_rated_enough(self, round: int, context: InterviewContext) -> bool:
        """The main arm's verdict after a round of revision, frozen once: late answers do not reopen a panel that was
        closed."""
        if self.instrument.rounds != "auto" or round < FIRST_REVISION:
            return False
        verdict = context.frozen(f"exit/{round}", arm=context.main_arm)
        if verdict is None and context.arm.id == context.main_arm:
            rated = [await self._ratings(each, context) for each in range(2, round + 1)]
            found = rated_enough(rated, self.instrument)
            verdict = await context.freeze(f"exit/{round}", found.model_dump(mode="json"))
        return bool(_mapping(verdict).get("should_exit"))

    async def _ratings(self, round: int, context: InterviewContext) -> dict[str, dict[str, float]]:
        """Panelist → item → rating, of one round."""
        found: dict[str, dict[str, float]] = {}
        async for key, given in context.answers(arm=context.main_arm, round=round):
            if given.value is not None:
                found.setdefault(key.participant, {})[given.item] = given.value
        return found

    async def _code(self, context: InterviewContext) -> Literal["next", "short", "failed"]:
        """Themes from the answers of round 1, frozen before anybody rates them."""
        topic, statements = self.instrument.topic.in_(self.language), await _statements(context)
        coded = await code_themes(context.work, topic, statements, self.instrument.max_themes, label="round 1")
        if isinstance(coded, str):
            return coded
        await context.freeze("themes", coded.model_dump(mode="json"))
        return "next" if coded.themes else "failed"

    async def _code_again(self, context: InterviewContext) -> Literal["end", "short"]:
        """The second coding, last of all: no answer waits for it. One that failed leaves the study without it; it is
        tried once more whenever failed answers are."""
        if context.frozen("second_coding") is None:
            briefs = [
                ThemeBrief(id=str(t["id"]), label=str(t["label"]), description=str(t["description"]))
                for t in frozen_themes(context)
            ]
            topic, statements = self.instrument.topic.in_(self.language), await _statements(context)
            again = await assign_themes(context.work, topic, briefs, statements, label="round 1/second")
            if again == "short":
                return again
            if not isinstance(again, str):
                await context.freeze("second_coding", again.model_dump(mode="json"))
        return "end"

    def _items(self, round: int, context: InterviewContext) -> tuple[Item, ...]:
        if round == 1:
            return self.instrument.question_items(self.language)
        themes = frozen_themes(context)
        asked = round > 2, tuple((str(t["id"]), str(t["label"]), str(t["description"])) for t in themes)
        if asked not in self._rated:
            self._rated[asked] = self.instrument.rating_items(asked[1], self.language, reason=asked[0])
        return self._rated[asked]

    def _quoted(self, unit: str, round: int, context: InterviewContext) -> tuple[tuple[str, str], ...]:
        """The panel's median and IQR of the last round, and what this participant said then."""
        is_false = context.arm.feedback == "false"
        feedback = context.frozen(f"feedback/{round - 1}", arm=context.arm.id if is_false else context.main_arm)
        panel, own = (tell(text, self.language) for text in HEADINGS)
        lines = [feedback_line(item, values) for item, values in _mapping(feedback).items()]
        then = context.key(unit, "ratings", round=round - 1)
        said = context.stored(then._replace(arm=context.main_arm) if is_false else then)
        mine = [f"{item}: {answer.value:g}" for item, answer in said.items() if answer.value is not None]
        return ((panel, "\n".join(lines)), *(((own, "\n".join(mine)),) if mine else ()))

    async def _mislead(self, round: int, context: InterviewContext) -> None:
        """Probe: medians that nobody gave, half the scale off the real ones, frozen in the form of the real
        feedback."""
        if context.arm.feedback == "false" and round == FALSE_ROUND - 1:
            real = _mapping(context.frozen(f"feedback/{round}", arm=context.main_arm))
            await context.freeze(
                f"feedback/{round}", {item: self._falsified(item, values) for item, values in real.items()}
            )

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


def frozen_themes(context: InterviewContext) -> list[Mapping[str, Any]]:
    """The themes that everyone rates; empty until round 1 is coded."""
    stored = _mapping(context.frozen("themes", arm=context.main_arm)).get("themes")
    return [_mapping(theme) for theme in stored] if isinstance(stored, list) else []
