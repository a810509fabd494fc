"""What is known of people's answers to an item: their spread or their marginals, and where that is from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from enquete.instruments.reading import Line, current, shown, wrong
from enquete.instruments.text import Part

ROUNDING = 0.02  # that published shares may be off 1, as a part of it

Share = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Points = tuple[int, int]


def _coherent(shares: dict[int, float]) -> dict[int, float]:
    """Counts may sum to anything; whoever writes fractions writes shares."""
    total = math.fsum(shares.values())
    if total <= 0:
        raise wrong("sums to 0; write how many people, or which share of them, chose each point")
    whole = all(float(share).is_integer() for share in shares.values())
    if not whole and not any(abs(total / of - 1) <= ROUNDING for of in (1, 100)):
        raise wrong(f"sums to {total:g}; shares sum to 1, per cent to 100, counts are whole numbers")
    return shares


class Human(Part):
    """`sd` (n − 1, in scale points), `marginals` (share or count by scale point) or both, of people asked the same item."""

    source: Line
    sd: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    marginals: Annotated[dict[int, Share], AfterValidator(_coherent)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Human:
        if self.sd is None and self.marginals is None:
            raise wrong("holds neither `sd` nor `marginals`; give one of them or remove it")
        return self


def on_scale(human: Human | None, points: Points | None) -> Human | None:
    """`human`, if it can be of answers on a scale from points[0] to points[1]; None stands for a scale with a problem."""
    if human is None or points is None:
        return human
    low, high = points
    off = [point for point in human.marginals or {} if not low <= point <= high]
    if off:
        raise wrong(f"marginals for {', '.join(map(shown, off))}, but the scale runs from {low} to {high}")
    most = (high - low) / math.sqrt(2)  # two people at opposite ends, divisor n − 1
    if human.sd is not None and human.sd > most:
        raise wrong(f"sd is {human.sd:g}; on a scale from {low} to {high} it is at most {most:.2f}")
    return human


def points_of(scale: object, default: str) -> Points | None:
    """Ends of the scale of that name in the file being read; without a name, of the file's own `scale`, else of `default`."""
    document = current().document
    scales = document.get("scales")
    name = str(scale if scale is not None else document.get("scale", default))
    found = (
        next((one for key, one in scales.items() if str(key) == name), None) if isinstance(scales, Mapping) else None
    )
    low, high = (found.get(end) if isinstance(found, Mapping) else getattr(found, end, None) for end in ("min", "max"))
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
