"""What an arm shows in place of persona, memory or instrument: everyday matters without any policy (neutral.yaml)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import cycle

from pydantic import BaseModel, ConfigDict, model_validator

from enquete.instruments.pack import read_yaml
from enquete.locale import in_language, tell
from enquete.respondents.ground_truth import answer_at, normal, persona_hash, uniform
from enquete.simulations.digest import HEADINGS, NOTHING
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant, scale_item

ITEM_SD, OCCASION_SD = 0.5, 0.1
"""The synthetic respondent's on control items, in half scales: the agent's own taste, and every occasion's."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Nobody(_Part):
    """The persona of nobody in particular."""

    name: str
    text: str


class NeutralText(_Part):
    """One text in every language of the interviews."""

    de: str
    en: str

    def in_(self, language: Language) -> str:
        return self.de if language == "de" else self.en


class ScalePoint(NeutralText):
    value: int


class Control(NeutralText):
    id: str


class Controls(_Part):
    """Items that nothing in a simulation touches, on a scale of their own."""

    instruction: NeutralText
    scale: tuple[ScalePoint, ...]
    items: tuple[Control, ...]


class Neutral(_Part):
    """neutral.yaml."""

    persona: dict[Language, Nobody]
    digest: dict[Language, tuple[str, ...]]
    controls: Controls

    @model_validator(mode="after")
    def _complete(self) -> Neutral:
        for name in ("persona", "digest"):
            if set(getattr(self, name)) != {"de", "en"}:
                raise ValueError(f"{name} needs both languages, de and en")
        return self


@cache
def neutral() -> Neutral:
    """The file, validated."""
    return Neutral.model_validate(read_yaml(files(__package__) / "neutral.yaml"))


def nobody(who: Participant, language: Language) -> Participant:
    """`who` without a persona, a name or a type; the id stays, so that answers are filed under the same agent."""
    persona = neutral().persona[language]
    return replace(who, name=persona.name, stakeholder_type="", persona=persona.text)


def neutral_digest(who: Participant, language: Language, seed: int) -> str | None:
    """In place of a memory one of everyday matters: in the same form and about as long, the lines drawn for each agent.

    Whoever has no memory, or one in which nothing happened, keeps that.
    """
    if not who.digest or who.digest == tell(NOTHING, language):
        return who.digest
    lines = neutral().digest[language]
    drawn = cycle(sorted(lines, key=lambda line: uniform(seed, "neutral digest", who.id, line)))
    text = f"{in_language(HEADINGS, language)['own']}\n- [P1] {next(drawn)}"
    for number, line in enumerate(drawn, start=2):
        if len(text) + len(line) / 2 > len(who.digest):
            return text
        text += f"\n- [P{number}] {line}"
    return text


def control_items(language: Language) -> tuple[Item, ...]:
    """The control items, on a scale of their own."""
    controls = neutral().controls
    options = tuple(Option(value=point.value, label=point.in_(language)) for point in controls.scale)
    return tuple(scale_item(control.id, control.in_(language), options) for control in controls.items)


def control_block(block: Block, language: Language) -> Block:
    """The control items, asked on the occasion of `block` and filed under it."""
    return Block(key=block.key, instruction=neutral().controls.instruction.in_(language), items=control_items(language))


def control_scale(item_id: str) -> tuple[int, int] | None:
    """Lowest and highest point of a control item's scale; None for any other item."""
    controls = neutral().controls
    if item_id not in {item.id for item in controls.items}:
        return None
    return controls.scale[0].value, controls.scale[-1].value


def control_answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
    """The synthetic respondent's truth on control items: a taste of its own, a little noise, no drift."""
    persona = persona_hash(who)
    answers = []
    for item in block.items:
        taste = ITEM_SD * normal(seed, "controls", item.id, persona)
        position = taste + OCCASION_SD * normal(seed, "controls", block.key.phase, item.id, persona)
        answers.append(answer_at(position, item, confidence=0.5))
    return answers
