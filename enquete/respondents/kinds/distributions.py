"""A verbalised distribution over an item's options: how it is asked for, and becomes an answer.

value is the median on a scale (a point of it, as statistics of ordered categories want), None for a choice; data holds
`distribution` (option → p, in the order written) and the mean Σ k·p(k) of a scale as `mean` or a choice's `mode`.
An option that is not named has p = 0. A sum within .1 of 1 is normalised, and noted; 90 to 110 is read as per cent.
Anything else, a negative probability or a bare point answer is no distribution and is asked for again.
"""

from __future__ import annotations

from pydantic import JsonValue

from enquete.respondents.kinds.numerals import DECIMAL, parse_number
from enquete.state.asking import Answer, Item

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
