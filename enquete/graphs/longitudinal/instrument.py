"""Instrument of the longitudinal methodology: closed items in families, and one open comment per wave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, StrictBool, ValidationInfo, field_validator

from enquete.instruments.derived import Draft, in_every_language, slug, spelled
from enquete.instruments.instrument import Instrument
from enquete.instruments.reading import Line, identifier, not_empty, reference
from enquete.instruments.review import Wording
from enquete.instruments.scales import Human, Scale, ScaleName, on_scale, points_of
from enquete.instruments.text import Part, Text
from enquete.state.asking import Item, Language

DEFAULT_SCALE = "likert5"

INSTRUCTION = {
    "de": "Es folgen Aussagen. Bitte zu jeder Aussage angeben, wie stark die eigene Zustimmung oder Ablehnung ist. Gefragt ist die "
    "persönliche Sicht zum jetzigen Zeitpunkt.",
    "en": "Statements follow. For each of them, please indicate how strongly you agree or disagree. What counts is your personal "
    "view at this point in time.",
}
ALL = {"de": "Alle Aussagen", "en": "All statements"}
"""What is said above the items, and the one family there is, in a file that says neither."""

ItemId = Annotated[Line, AfterValidator(identifier("item"))]
FamilyId = Annotated[Line, AfterValidator(identifier("family", used_as="family"))]
FamilyName = Annotated[Line, AfterValidator(reference("family", "families"))]


class Family(Part):
    """Items that are read together. All are worded, or reverse-coded, towards the same side of the family."""

    inline_text = "label"

    label: Text


class LongitudinalItem(Part):
    """A statement rated on a scale; `control` marks one that the simulation should leave unmoved."""

    inline_text = "wording"

    item_id: ItemId
    wording: Text
    family: FamilyName
    scale: ScaleName | None = None  # None: the instrument's
    reverse_coded: StrictBool = False
    control: StrictBool = False
    human: Human | None = None

    @field_validator("human")
    @classmethod
    def _on_the_items_scale(cls, human: Human | None, info: ValidationInfo) -> Human | None:
        return on_scale(human, points_of(info.data["scale"], DEFAULT_SCALE) if "scale" in info.data else None)


class Comment(Part):
    """The open question of a wave."""

    inline_text = "wording"

    item_id: ItemId
    wording: Text


class LongitudinalInstrument(Instrument):
    """What is asked, word for word, in every wave."""

    listed = ("items", "item_id")

    instruction: Text
    scale: ScaleName = DEFAULT_SCALE
    families: Annotated[dict[FamilyId, Family], AfterValidator(not_empty)]
    items: Annotated[tuple[LongitudinalItem, ...], AfterValidator(not_empty)]
    comment: Comment | None = None

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """The instruction, and families where only the items name them."""
        super().complete(draft)
        draft.add("instruction", INSTRUCTION)
        draft.rename("items", "text", "wording")
        if draft.has("families"):
            return
        items = [part for _, part in draft.parts("items")]
        if items and not any("family" in part for part in items):
            for part in items:
                part["family"] = "all"
            draft.add("families", {"all": ALL})
        if not items or any("family" not in part for part in items):
            return
        named = dict.fromkeys(str(part["family"]) for part in items)
        for part in items:
            part["family"] = slug(str(part["family"]))
        own = {slug(name): in_every_language(spelled(name)) for name in named}
        draft.take("families", own, "items[].family")

    def block_items(self, language: Language) -> tuple[Item, ...]:
        """One wave: the scale items in the file's order, each with a confidence, then the comment."""
        closed = (self._scale_item(item, language) for item in self.items)
        if self.comment is None:
            return tuple(closed)
        return (*closed, Item(id=self.comment.item_id, kind="text", wording=self.comment.wording.in_(language)))

    def human_answers(self) -> dict[str, Human]:
        """By item id."""
        return {item.item_id: item.human for item in self.items if item.human is not None}

    def wordings(self) -> Iterator[Wording]:
        """Items with their keying; a control is nobody's family."""
        for item in self.items:
            yield Wording(item.item_id, item.wording, "item", "" if item.control else item.family, item.reverse_coded)
        if self.comment is not None:
            yield Wording(self.comment.item_id, self.comment.wording, "question")

    def item(self, item_id: str) -> LongitudinalItem:
        """The closed item of that id; KeyError for the comment and for unknown ids."""
        return {item.item_id: item for item in self.items}[item_id]

    def scale_of(self, item_id: str) -> Scale:
        return self.scales[self.item(item_id).scale or self.scale]

    def family_of(self, item_id: str) -> str:
        return self.item(item_id).family

    def reverse_coded(self, item_id: str) -> bool:
        """Whether agreement speaks against the family's direction. Answers stay raw; analysis rekeys with this."""
        return self.item(item_id).reverse_coded

    def _scale_item(self, item: LongitudinalItem, language: Language) -> Item:
        scale = self.scale_of(item.item_id)
        return Item(
            id=item.item_id,
            kind="scale",
            wording=item.wording.in_(language),
            options=scale.options(language),
            minimum=scale.min,
            maximum=scale.max,
            confidence=True,
        )
