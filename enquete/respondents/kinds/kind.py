"""What a kind of question is: how it is put, how a reply to it is read, what the synthetic respondent answers, and how an
answer stands in the table. Most kinds take one of the item's options, which is what stands here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import JsonValue

from enquete.respondents.kinds.distributions import distribution_schema, probabilities, read_distribution
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item, Option

Members = dict[str, JsonValue]

ROOM, ROOM_PER_OPTION, ROOM_IN_WORDS = 48, 12, 400
"""Output tokens: of a closed answer, of every option that is written down, of an answer in words."""


class Kind(ABC):
    """`label`: in the codebook. `has_steps`: its options stand in an order, which may be shown reversed but not scrambled.
    `distributes`: instead of one option, the probability of each may be asked for."""

    label: ClassVar[str]
    has_steps: ClassVar[bool] = False
    distributes: ClassVar[bool] = False

    def problem(self, item: Item) -> str:
        """Why nobody could answer this item; "" where it is sound."""
        values = [str(option.value) for option in item.options]
        twice = [value for value in values if values.count(value) > 1]
        return f"has option {twice[0]} twice" if twice else "" if values else "has no options to choose from"

    # --- how it is put ---

    def lines(self, item: Item, words: Wording) -> list[str]:
        """What stands below the question."""
        shown = item.options_in_shown_order()
        options = "; ".join(f"{one.value} = {one.label}" if one.label else str(one.value) for one in shown)
        return [f"{words.options}: {options}"]

    def wanted(self, item: Item, words: Wording) -> str:
        """In which form the answer is wanted, where options alone do not say it."""
        return words.distribution if item.elicitation == "distribution" else ""

    def schema(self, item: Item) -> Members:
        """JSON schema of the answer, by property; confidence and reason apart."""
        if item.elicitation == "distribution":
            return {"probabilities": distribution_schema(item)}
        return {"value": self._value_schema(item)}

    def _value_schema(self, item: Item) -> JsonValue:
        return option_schema(item)

    def form(self, item: Item) -> list[str]:
        """The same by example, for servers without schema support."""
        if item.elicitation == "distribution":
            shares = ", ".join(f'"{option.value}": 0.…' for option in item.options_in_shown_order())
            return [f'"probabilities": {{{shares}}}']
        return ['"value": …']

    def room(self, item: Item) -> int:
        return ROOM + (ROOM_PER_OPTION * len(item.options) if item.elicitation == "distribution" else 0)

    # --- how it is answered ---

    def read(self, item: Item, members: Members, given: JsonValue) -> Answer | None:
        """From the members of a reply, or from all that was `given`; None where that is no answer to the item."""
        if item.elicitation == "distribution":
            return read_distribution(item, members.get("probabilities", given), has_steps=self.has_steps)
        return self._read(item, members)

    @abstractmethod
    def _read(self, item: Item, members: Members) -> Answer | None: ...

    def written(self, item: Item, answer: Answer) -> Members:
        """An answer in the form in which a model would give it."""
        given = answer.value if answer.data is None else answer.data
        if item.elicitation == "distribution":
            return {"probabilities": dict(probabilities(item, given))}
        return {"value": given}

    @abstractmethod
    def at(self, position: float, item: Item) -> tuple[float | None, JsonValue]:
        """(value, data) of whoever stands at a latent position from −1, the first option, to 1, the last."""

    # --- how it stands in the table ---

    def choice(self, data: JsonValue) -> str:
        """Which options were chosen, by their values: for programs."""
        return ""

    def chosen(self, item: Item, data: JsonValue) -> str:
        """The same by their labels: for readers."""
        return ""


def option_schema(item: Item) -> JsonValue:
    """One of the options, by value; their labels stand in the prompt."""
    return {"type": "string", "enum": [str(option.value) for option in item.options_in_shown_order()]}


def option_given(item: Item, given: JsonValue) -> int | str | None:
    """The value of the option that was named; None for anything else."""
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    for option in item.options:
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip() == str(option.value):
            return option.value
    return None


def label_of(item: Item, value: JsonValue) -> str:
    """The option's label, or its value where it has none."""
    return next((option.label for option in item.options if option.value == value and option.label), str(value))


def by_nearness(position: float, options: Sequence[Option]) -> list[int | str]:
    """Values of the options, the one nearest to a latent position first, as unfolding has it (Coombs 1964)."""
    last = max(1, len(options) - 1)
    places = sorted(range(len(options)), key=lambda place: (abs(2 * place / last - 1 - position), place))
    return [options[place].value for place in places]
