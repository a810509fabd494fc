"""Instrument of the longitudinal methodology: closed items in families, and one open comment per wave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, ValidationInfo, field_validator

from enquete.instruments.instrument import Draft, RatingInstrument, in_every_language, slug, spelled
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import Human, Scale, ScaleName, on_scale, points_of
from enquete.instruments.text import Line, Part, Text, identifier, not_empty, reference
from enquete.runs.material import Material, Slot, head, pair
from enquete.runs.material import identifier as theme_identifier
from enquete.simulations.discourse import DiscourseTheme
from enquete.state.asking import Item, Language, Spoken, scale_item

DEFAULT_SCALE = "likert5"

INSTRUCTION = {
    "de": "Es folgen Aussagen. Bitte zu jeder Aussage angeben, wie stark die eigene Zustimmung oder Ablehnung ist. "
    "Gefragt ist die persönliche Sicht zum jetzigen Zeitpunkt.",
    "en": "Statements follow. For each of them, please indicate how strongly you agree or disagree. What counts is "
    "your personal view at this point in time.",
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


class LongitudinalInstrument(RatingInstrument):
    """What is asked, word for word, in every wave."""

    listed = ("items", "item_id")
    questions_tested = ("drift", "beyond", "groups", "change_groups")

    instruction: Text
    scale: ScaleName = DEFAULT_SCALE
    families: Annotated[dict[FamilyId, Family], AfterValidator(not_empty)]
    items: Annotated[tuple[LongitudinalItem, ...], AfterValidator(not_empty)]
    comment: Comment | None = None
    confidence: StrictBool = Field(default=True, exclude_if=lambda asked: asked)

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
        families = {slug(name): in_every_language(spelled(name)) for name in named}
        draft.take("families", families, "items[].family")

    def block_items(self, language: Language) -> tuple[Item, ...]:
        """One wave: the scale items in the file's order, each with a confidence where it is asked, then the comment."""
        closed = (self._scale_item(item, language) for item in self.items)
        if self.comment is None:
            return tuple(closed)
        return (*closed, Item(id=self.comment.item_id, kind="text", wording=self.comment.wording.in_(language)))

    def human_answers(self) -> dict[str, Human]:
        """By item id."""
        return {item.item_id: item.human for item in self.items if item.human is not None}

    def wordings(self) -> Iterator[ReviewedText]:
        """Items with their keying; a control is nobody's family."""
        for item in self.items:
            yield ReviewedText(
                item.item_id, item.wording, "item", "" if item.control else item.family, item.reverse_coded
            )
        if self.comment is not None:
            yield ReviewedText(self.comment.item_id, self.comment.wording, "question")

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
        options = self.scale_of(item.item_id).options(language)
        return scale_item(item.item_id, item.wording.in_(language), options, confidence=self.confidence)


# --- a draft ----------------------------------------------------------------------------------------------------------


MOST_FAMILIES = 3
"""On themes: the widest."""
WANTED = (
    "A statement that everybody asked can agree or disagree with on five points, as somebody would say it. {which} It "
    "is about {about}: {what}."
)
KEYED = {
    (True, False): "Agreeing means favouring what is planned.",
    (True, True): "Agreeing means disfavouring what is planned.",
    (False, False): "Agreeing means being content with how things are.",
    (False, True): "Agreeing means being discontent with how things are.",
}
"""By whether something is planned, and whether the item is reverse-keyed."""
ITEMS = {
    True: (
        (False, "better", "whether what is planned makes it better",
         "Beim Thema {de} wird das Vorhaben mehr nützen als schaden.",
         "The plan will do more good than harm when it comes to {en}."),
        (False, "fair", "whether what is planned is fair in this respect",
         "Beim Thema {de} werden alle gerecht behandelt.",
         "Everybody is treated fairly when it comes to {en}."),
        (True, "harm", "whether what is planned will be regretted in this respect",
         "Was da auf das Thema {de} zukommt, wird man noch bereuen.",
         "People will come to regret what is in store for {en}."),
        (True, "burden", "whether the wrong people pay for what is planned",
         "Beim Thema {de} zahlen am Ende die Falschen.",
         "With {en}, it is the wrong people who end up paying."),
    ),
    False: (
        (False, "better", "whether things are going the right way",
         "Beim Thema {de} sind wir auf dem richtigen Weg.", "We are on the right track with {en}."),
        (False, "fair", "whether people are treated fairly in this respect",
         "Beim Thema {de} werden alle gerecht behandelt.", "Everybody is treated fairly when it comes to {en}."),
        (True, "worse", "whether things will get worse within the time that the study looks ahead",
         "Die Lage beim Thema {de} wird sich {de_until} verschlechtern.",
         "Things will get worse with {en} {en_until}."),
        (True, "burden", "whether the wrong people pay",
         "Beim Thema {de} zahlen am Ende die Falschen.",
         "With {en}, it is the wrong people who end up paying."),
    ),
}  # fmt: skip
"""By whether something is planned; the same in every family, so that families can be compared. Written as pairs;
persons and institutions can answer them."""
PLAN = "plan"
PLAN_LABEL: Mapping[Spoken, str] = {"de": "Wie entschieden wird", "en": "How it is decided"}
ON_THE_PLAN = {
    True: (
        (False, "trust", "trust in those who decide on it",
         "Wer über das Vorhaben entscheidet, hat mein Vertrauen.", "Those who decide on the plan have my trust."),
        (False, "rules", "whether the rules that there are suffice for it",
         "Die bestehenden Regeln genügen für das Vorhaben.", "The existing rules are sufficient for the plan."),
        (True, "haste", "how fast it is decided",
         "Über das Vorhaben wird zu schnell entschieden.", "The plan is being decided on too fast."),
        (True, "open", "openness of those who know",
         "Über das Vorhaben wird zu wenig offengelegt.", "Too little is disclosed about the plan."),
    ),
    False: (
        (False, "trust", "trust in those who decide",
         "Wer in dieser Sache entscheidet, hat mein Vertrauen.", "Those who decide on this matter have my trust."),
        (False, "rules", "whether the rules that there are suffice",
         "Die bestehenden Regeln genügen für diese Sache.", "The existing rules are sufficient for this matter."),
        (True, "haste", "how fast is decided",
         "In dieser Sache wird zu schnell entschieden.", "This matter is being decided on too fast."),
        (True, "open", "openness of those who know",
         "In dieser Sache wird zu wenig offengelegt.", "Too little is disclosed on this matter."),
    ),
}  # fmt: skip
"""Whoever wants stricter rules need not be against a plan: no item says so."""
ABOUT: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "Es geht um das Vorhaben: „{t}“. ", "en": "This is about the plan: “{t}”. "},
    False: {"de": "Es geht um: „{t}“. ", "en": "This is about: “{t}”. "},
}


def draft(material: Material) -> Mapping[str, str]:
    families: list[str] = []
    items: list[str] = []
    for place, theme in enumerate(material.themes[:MOST_FAMILIES]):
        families.append(f"  {_family(theme, place)}: {pair(material.labels(theme))}\n")
        items += _items(material, _family(theme, place), theme)
    families.append(f"  {PLAN}: {pair(PLAN_LABEL)}\n")
    items += _items(material, PLAN)
    told = {
        language: ABOUT[material.plan][language].format(t=topic) + INSTRUCTION[language]
        for language, topic in material.topics.items()
    }
    text = head(material, "longitudinal", "Stimmungsbild", "Views")
    return {
        "longitudinal.yaml": f"{text}instruction: {pair(told)}\nscale: likert5\n\n"
        f"families:\n{''.join(families)}\nitems:\n{''.join(items)}"
    }


def _family(theme: DiscourseTheme, place: int) -> str:
    name = theme_identifier(theme, place)
    return name if name != PLAN else f"theme-{place + 1}"


def _items(material: Material, family: str, theme: DiscourseTheme | None = None) -> Iterator[str]:
    told = {"de_until": material.horizon.until("de"), "en_until": material.horizon.until("en")}
    told |= {"de": theme.in_("de"), "en": theme.in_("en")} if theme else {}
    about = theme.label if theme else "the plan" if material.plan else material.topic
    for reverse, name, what, german, english in (ITEMS if theme else ON_THE_PLAN)[material.plan]:
        wanted = WANTED.format(which=KEYED[material.plan, reverse], about=about, what=what)
        item = material.write(
            Slot(
                f"longitudinal/{family}_{name}", wanted, german.format(**told), english.format(**told), about=theme,
                family=family, reverse=reverse,
            ),
        )  # fmt: skip
        keyed = "    reverse_coded: true\n" if reverse else ""
        yield (
            f"  # from: {item.source}\n  - item_id: {family}_{name}\n    family: {family}\n{keyed}{item.lines('    ')}"
        )
