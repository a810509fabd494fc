"""Axes of a figure: their range, their ticks, and where a value lies between the two ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Spec = Mapping[str, Any]
"""A trace, a layout or a whole figure, as Plotly's JSON has it."""

TICKS = 5  # about so many where an axis does not say


@dataclass(frozen=True)
class Axis:
    """`places`: of categories, where the axis has any. `ticks`: value and label."""

    name: str  # x, y2, …
    spec: Spec
    low: float
    high: float
    places: Mapping[str, int]
    ticks: tuple[tuple[float, str], ...]

    @property
    def domain(self) -> tuple[float, float]:
        start, end = self.spec.get("domain", (0.0, 1.0))
        return float(start), float(end)

    @property
    def is_shown(self) -> bool:
        return bool(self.spec.get("visible", True))

    @property
    def is_labelled(self) -> bool:
        return self.is_shown and bool(self.spec.get("showticklabels", True))

    @property
    def title(self) -> str:
        return str(self.spec.get("title", {}).get("text", "")) if self.is_shown else ""

    def place(self, value: Any) -> float:
        return float(self.places[value]) if isinstance(value, str) else float(value)

    def share(self, value: Any) -> float:
        """Where a value lies between the left or lower end of the whole plot, 0, and the other, 1."""
        start, end = self.domain
        return start + (self.place(value) - self.low) / (self.high - self.low) * (end - start)


def axes(spec: Spec) -> dict[str, Axis]:
    """All axes of a figure by the name that traces call them."""
    layout = spec.get("layout", {})
    named = {key.replace("axis", ""): own for key, own in layout.items() if key[1:5] == "axis" and key[0] in "xy"}
    separators = str(layout.get("separators", ".,"))
    return {
        name: _axis(name, {"x": {}, "y": {}, **named}[name], spec, separators) for name in {"x": {}, "y": {}, **named}
    }


def _axis(name: str, own: Spec, spec: Spec, separators: str) -> Axis:
    values = list(_values(spec, name))
    places = {text: place for place, text in enumerate(dict.fromkeys(v for v in values if isinstance(v, str)))}
    low, high = _range(own, [places.get(value, value) for value in values], bool(places))
    if "tickvals" in own:
        known = [places.get(value, value) for value in own["tickvals"]]
        return Axis(name, own, low, high, places, tuple(zip(known, map(str, own["ticktext"]), strict=True)))
    if places:
        return Axis(name, own, low, high, places, tuple((place, text) for text, place in places.items()))
    return Axis(name, own, low, high, places, tuple(_round(low, high, own.get("dtick"), separators)))


def _range(own: Spec, values: Sequence[Any], categories: bool) -> tuple[float, float]:
    if "range" in own:
        low, high = map(float, own["range"])
        return low, high
    known = [float(value) for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = 0.5 if categories else (high - low or 1.0) * 0.05
    ends = (low - room, high + room)
    return ends[::-1] if own.get("autorange") == "reversed" else ends


def _values(spec: Spec, name: str) -> Iterator[Any]:
    """Everything that must lie on this axis."""
    letter = name[0]
    for trace in spec.get("data", ()):
        if trace.get(f"{letter}axis", letter) != name:
            continue
        own = trace.get(letter, ())
        yield from own
        if trace["type"] == "bar" and (letter == "x") == (trace.get("orientation") == "h"):
            base = trace.get("base") or [0] * len(own)
            yield from base
            yield from (start + value for start, value in zip(base, own, strict=True) if value is not None)
        if reach := trace.get(f"error_{letter}"):
            yield from _reached(own, reach)


def _reached(values: Iterable[Any], reach: Spec) -> Iterator[float]:
    down = reach.get("arrayminus", reach["array"])
    for value, more, less in zip(values, reach["array"], down, strict=True):
        if not isinstance(value, str) and value is not None:
            yield from (value + (more or 0), value - (less or 0))


def _round(low: float, high: float, step: float | None, separators: str) -> Iterator[tuple[float, str]]:
    """Round values between the ends; `step` or 1, 2 or 5 times a power of ten."""
    low, high = min(low, high), max(low, high)
    if step is None:
        rough = (high - low) / TICKS
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step % 1 else 0
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        text = f"{abs(k * step):,.{digits}f}".translate({ord("."): separators[0], ord(","): separators[1:] or ""})
        yield k * step, f"−{text}" if k < 0 else text
