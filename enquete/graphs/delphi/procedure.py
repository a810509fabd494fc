"""How a Delphi is conducted: open answers → themes → ratings → anonymous feedback → revision with a reason.

Other arms than the main one are asked the same questions: about the main arm's themes, with the main arm's feedback.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.analysis.dispersion import iqr
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.synthetic import answer
from enquete.respondents.themes.coding import code_themes
from enquete.respondents.themes.types import Statement
from enquete.state.seam import Block, Desk, Item, Language, Outcome, Plan, Truth

ATTEMPTS = 3
HEADINGS: dict[Language, tuple[str, str]] = {
    "de": ("Anonyme Rückmeldung: die Bewertungen aller Teilnehmenden in der letzten Runde", "Ihre eigenen Bewertungen"),
    "en": ("Anonymous feedback: how all participants rated in the last round", "Your own ratings"),
}


class DelphiSettings(BaseModel):
    """Nothing to set: rounds, themes and scales are the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Delphi:
    """One panel. Units are agents; the barrier after a round codes themes or freezes the feedback."""

    def __init__(self, instrument: DelphiInstrument, language: Language):
        self._instrument = instrument
        self._language = language
        self.rounds = instrument.rounds

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        return [who.id for who in desk.participants()]

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        items = self._items(round, desk)
        if not items:
            return []
        part = "questions" if round == 1 else "ratings"
        return [
            Block(
                key=desk.key(unit, part, round=round),
                instruction=self._instrument.instruction(round, self._language),
                items=items,
                quoted=self._quoted(unit, round, desk) if round > 2 else (),
            )
        ]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        for block in self.blocks(unit, round, desk):
            reply = await desk.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["next", "end", "waiting", "short", "failed"]:
        """Only the main arm codes and feeds back. Without a single theme there is nothing to rate: failed."""
        if round == self.rounds:
            return "end"
        if desk.arm.id != desk.main_arm:
            return "next"
        if round == 1:
            return await self._code(desk)
        await desk.freeze(f"feedback/{round}", await self._feedback(round, desk))
        return "next"

    async def _code(self, desk: Desk) -> Literal["next", "short", "failed"]:
        """Themes from the answers of round 1, frozen before anybody rates them."""
        statements = [
            Statement(id=f"{key.participant}|{given.item}", text=given.text)
            async for key, given in desk.answers(arm=desk.main_arm, round=1)
            if given.text
        ]
        topic = self._instrument.topic.in_(self._language)
        coded = await code_themes(desk.work, topic, statements, self._instrument.max_themes, label="round 1")
        if isinstance(coded, str):
            return coded
        await desk.freeze("themes", coded.model_dump(mode="json"))
        return "next" if coded.themes else "failed"

    def _items(self, round: int, desk: Desk) -> tuple[Item, ...]:
        if round == 1:
            return self._instrument.question_items(self._language)
        themes = frozen_themes(desk)
        triples = [(str(t["id"]), str(t["label"]), str(t["description"])) for t in themes]
        return self._instrument.rating_items(triples, self._language, reason=round > 2)

    def _quoted(self, unit: str, round: int, desk: Desk) -> tuple[tuple[str, str], ...]:
        """The panel's median and IQR of the last round, and what this participant said then."""
        feedback = desk.frozen(f"feedback/{round - 1}", arm=desk.main_arm)
        panel, own = HEADINGS[self._language]
        lines = [_feedback_line(item, values) for item, values in _mapping(feedback).items()]
        said = desk.stored(desk.key(unit, "ratings", round=round - 1))
        mine = [f"{item}: {answer.value:g}" for item, answer in said.items() if answer.value is not None]
        return ((panel, "\n".join(lines)), *(((own, "\n".join(mine)),) if mine else ()))

    async def _feedback(self, round: int, desk: Desk) -> dict[str, JsonValue]:
        """item → median, IQR (type 7) and n over everyone who gave a rating."""
        ratings: dict[str, list[float]] = {}
        async for _, given in desk.answers(arm=desk.main_arm, round=round):
            if given.value is not None:
                ratings.setdefault(given.item, []).append(given.value)
        return {item: summary(values) for item, values in sorted(ratings.items())}


def summary(values: Sequence[float]) -> dict[str, JsonValue]:
    return {"median": statistics.median(values), "iqr": iqr(values), "n": len(values)}


def _feedback_line(item: str, values: JsonValue) -> str:
    numbers = _mapping(values)
    return f"{item}: median {numbers['median']:g}, IQR {numbers['iqr']:g}, n {numbers['n']}"


def _mapping(value: JsonValue) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def frozen_themes(desk: Desk) -> list[Mapping[str, Any]]:
    """The themes that everyone rates; empty until round 1 is coded."""
    stored = _mapping(desk.frozen("themes", arm=desk.main_arm)).get("themes")
    return [_mapping(theme) for theme in stored] if isinstance(stored, list) else []


def readout(desk: Desk, round: int) -> dict[str, Any]:
    """What a reader of Studio sees: labels of the themes, medians of the round."""
    feedback = _mapping(desk.frozen(f"feedback/{round}"))
    medians = {item: values["median"] for item, values in feedback.items()}
    themes = {str(theme["id"]): str(theme["label"]) for theme in frozen_themes(desk)}
    return {"themes": themes, "feedback": {f"round {round}": medians} if medians else {}}


def procedure(instrument: DelphiInstrument, settings: DelphiSettings, language: Language) -> Delphi:
    return Delphi(instrument, language)


def plan(instrument: DelphiInstrument, settings: DelphiSettings, agents: int, asking: str) -> Plan:
    """Ratings depend on how many themes are found: between one and the instrument's maximum."""
    questions, dimensions = len(instrument.questions), len(instrument.dimensions)
    most_ratings = dimensions * instrument.max_themes
    rounds = instrument.rounds - 1
    least = agents * ((questions + rounds * dimensions) if asking == "item" else instrument.rounds)
    most = agents * ((questions + rounds * most_ratings) if asking == "item" else instrument.rounds)
    rows = {f"round {n}": (agents * dimensions, agents * most_ratings) for n in range(2, instrument.rounds + 1)}
    themes = max(1, agents * questions)
    return Plan(
        calls={"answer": (least, most * ATTEMPTS), "theme": (1, themes * ATTEMPTS * 2)},
        rows={"round 1": (agents * questions, agents * questions), **rows},
    )


def planted(instrument: DelphiInstrument) -> Truth:
    """The synthetic respondent's truth."""
    return answer
