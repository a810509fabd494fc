"""What a draft's requests are likely to cost, before the first of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from enquete.instruments.reading import LANGUAGES
from enquete.models.metered import estimate
from enquete.models.prices import Prices, cost
from enquete.nodes.authoring import author
from enquete.nodes.authoring.requests import BACK, STATEMENTS, TEXTS, THEMES, BackIn, Numbered
from enquete.nodes.material import Material
from enquete.nodes.standalone_context import url_of
from enquete.state.settings import Machine

TOKENS_OF_FORM = 20
"""Of JSON around a text."""
LABEL_TOKENS = 40
"""Of a theme in two languages with its posts."""


@dataclass(frozen=True)
class Expected:
    """What a draft is likely to take where all of it can be used at once. usd: None where the price is unknown."""

    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def expected(material: Material, methods: Mapping[str, str], model: str, machine: Machine) -> Expected:
    """Built from the rule's draft: what is asked is that long, and what comes back."""
    shown = author.sample(material.posts)
    candidates = author.candidates(material)
    instruments = author.slots_of(material, methods)
    slots = [slot for own in instruments.values() for slot in own]
    own = [one.text for one in material.chosen]
    prompts = [
        THEMES.prompt(author.themes_input(material, shown), "en"),
        STATEMENTS.prompt(author.statements_input(material, candidates), "en"),
        *(TEXTS.prompt(author.texts_input(material, group, shown), "en") for group in instruments.values()),
    ]
    written = [*own, *(slot.en for slot in slots), *(theme.label for theme in material.themes)]
    batches = [written[place : place + author.AT_ONCE] for place in range(0, len(written), author.AT_ONCE)]
    for batch in batches:
        lines = [Numbered(number=number, text=text) for number, text in enumerate(batch, start=1)]
        prompts.append(BACK.prompt(BackIn(texts=lines, into=LANGUAGES[0]), "en"))
    read = sum(estimate(text) for text in prompts)
    wrote = LABEL_TOKENS * (len(material.themes) + 1)
    wrote += sum(estimate(slot.de) + estimate(slot.en) + TOKENS_OF_FORM for slot in slots)
    wrote += sum(estimate(text) + TOKENS_OF_FORM for text in [*own, *written])
    price = Prices.read(machine.prices).of(model, url_of(machine))
    return Expected(len(prompts), read, wrote, cost(price, read, wrote) if price else None)
