"""What a kind of question is: how it is put, how a reply to it is read, what the synthetic respondent answers, and how an
answer stands in the table. Most kinds take one of the item's options, which is what stands here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import JsonValue

from enquete.respondents.kinds.numerals import DECIMAL, parse_number
from enquete.respondents.wording import Wording
from enquete.state.asking import Answer, Item, Option

# --- A verbalised distribution over an item's options: how it is asked for, and becomes an answer --------------------
# value is the median on a scale (a point of it, as statistics of ordered categories want), None for a choice; data holds
# `distribution` (option → p, in the order written) and the mean Σ k·p(k) of a scale as `mean` or a choice's `mode`.
# An option that is not named has p = 0. A sum within .1 of 1 is normalised, and noted; 90 to 110 is read as per cent.
# Anything else, a negative probability or a bare point answer is no distribution and is asked for again.

TOLERANCE = 0.1
ROUNDING = 1e-6  # of a sum that needs no note
DIGITS = 6

CONFIDENT = 0.7
"""Of a synthetic respondent's distribution on the answer itself; the rest goes to its neighbours in equal parts."""

Shares = dict[str, float]


def distribution_schema(item: Item) -> JsonValue:
    """One probability an option, in the order shown; that they sum to 1 no schema can say."""
    share: JsonValue = {"type": "number", "minimum": 0, "maximum": 1}
    names = [str(option.value) for option in item.options_in_shown_order()]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, share),
        "required": list(names),
        "additionalProperties": False,
    }


def probabilities(item: Item, value: JsonValue) -> Shares:
    """CONFIDENT on the answer, the rest on the options beside it; at an end its one neighbour gets all of that."""
    options = [option.value for option in item.options]
    place = options.index(int(value) if isinstance(value, float) else value)  # type: ignore[arg-type]  # its own option
    beside = [near for near in (place - 1, place + 1) if 0 <= near < len(options)]
    shares = dict.fromkeys(map(str, options), 0.0)
    shares[str(options[place])] = CONFIDENT if beside else 1.0
    for near in beside:
        shares[str(options[near])] = round((1 - CONFIDENT) / len(beside), 6)
    return shares


def read_distribution(item: Item, given: JsonValue, *, has_steps: bool) -> Answer | None:
    """The answer without confidence and reason; None where nothing that can be taken was given."""
    shares = _shares(item, given)
    if shares is None:
        return None
    total = sum(shares.values())
    notes: tuple[str, ...] = ()
    if abs(total / 100 - 1) <= TOLERANCE:
        shares, notes = {name: p / 100 for name, p in shares.items()}, (f"sum {total:g} read as per cent",)
        total /= 100
    if abs(total - 1) > TOLERANCE + ROUNDING:
        return None
    if abs(total - 1) > ROUNDING:
        notes = (*notes, f"sum {_plain(total)} normalised")
    return _answer(item, {name: p / total for name, p in shares.items()}, notes, has_steps)


def _shares(item: Item, given: JsonValue) -> Shares | None:
    """What was given by option, zeros included; None for anything that is not one non-negative number an option."""
    if not isinstance(given, dict):
        return None
    by_name = {name.strip(): value for name, value in given.items()}
    names = [str(option.value) for option in item.options]
    if not by_name.keys() <= set(names):
        return None
    found = {name: parse_number(by_name.get(name, 0), DECIMAL) for name in names}
    shares = {name: p for name, p in found.items() if p is not None and p >= 0}
    return shares if len(shares) == len(names) else None


def _answer(item: Item, shares: Shares, notes: tuple[str, ...], has_steps: bool) -> Answer:
    data: dict[str, JsonValue] = {"distribution": {name: round(p, DIGITS) for name, p in shares.items()}}
    if not has_steps:
        best = max(item.options, key=lambda option: shares[str(option.value)])
        return Answer(item.id, "ok", data={**data, "mode": best.value}, notes=notes)
    mean = sum(float(option.value) * shares[str(option.value)] for option in item.options)
    data["mean"] = round(mean, DIGITS)
    return Answer(item.id, "ok", value=_median(item, shares), data=data, notes=notes)


def _median(item: Item, shares: Shares) -> float:
    """The lowest point of the scale that at least half of the distribution does not exceed."""
    below = 0.0
    points = sorted((float(option.value), shares[str(option.value)]) for option in item.options)
    for point, p in points:
        below += p
        if below >= 0.5 - ROUNDING:
            return point
    return points[-1][0]


def _plain(total: float) -> str:
    """.9, 1.05: as a reader would write it."""
    return f"{total:.3g}".removeprefix("0")


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
