"""The kinds of questions there are, each in a file of its own; a new one is a file and a line here (and in `Item.kind`)."""

from __future__ import annotations

from enquete.respondents.kinds.best_worst import BestWorst
from enquete.respondents.kinds.choice import Choice
from enquete.respondents.kinds.kind import Kind
from enquete.respondents.kinds.number import Number
from enquete.respondents.kinds.ranking import Ranking
from enquete.respondents.kinds.scale import Scale
from enquete.respondents.kinds.text import FreeText
from enquete.state.asking import Item

KINDS: dict[str, Kind] = {
    "scale": Scale(),
    "choice": Choice(),
    "number": Number(),
    "text": FreeText(),
    "ranking": Ranking(),
    "best_worst": BestWorst(),
}


def kind_of(item: Item) -> Kind:
    return KINDS[item.kind]


def require_answerable(items: tuple[Item, ...]) -> None:
    """Raises ValueError for the first item that nobody could answer."""
    for item in items:
        wrong = kind_of(item).problem(item)
        if wrong:
            raise ValueError(f"item {item.id!r} of kind {item.kind!r} {wrong}")
