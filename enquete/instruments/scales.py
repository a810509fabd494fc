"""Answer scales (built-in, a file's own, plain numbers of points), and what is known of people's answers on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from enquete.instruments.text import LANGUAGES, Line, Part, Text, current, shown, suggestion, wrong
from enquete.state.asking import Language, Option

# --- Answer scales: the built-in ones, a file's own, and plain numbers of points -------------------------------------

MOST_POINTS = 11  # 0–10 is the longest rating scale in common use; beyond it an answer is a number, not a category

Ends = tuple[Text, Text]

AGREEMENT: Ends = (Text(de="lehne stark ab", en="strongly disagree"), Text(de="stimme stark zu", en="strongly agree"))
AMOUNT: Ends = (Text(de="sehr gering", en="very low"), Text(de="sehr hoch", en="very high"))


AGREE = re.compile(r"\b(agree\w*|stimm\w*|zustimm\w*)\b", re.IGNORECASE)
DISAGREE = re.compile(
    r"\b(disagree\w*|not agree|lehn\w*|ablehn\w*|nicht zu|stimm\w* (gar |überhaupt )?nicht)\b", re.IGNORECASE
)
"""Words at the ends of scales of agreement, in the languages that instruments are written in."""


def _labels_as_mapping(value: object) -> object:
    if isinstance(value, list):
        raise wrong("is a list; write one line for each labelled point, such as `1: {de: …, en: …}`")
    return value


class Scale(Part):
    """Whole numbers from `min` to `max`; both ends have a label, points between may have one."""

    min: StrictInt
    max: StrictInt
    labels: Annotated[dict[int, Text], BeforeValidator(_labels_as_mapping)]

    @model_validator(mode="after")
    def _coherent(self) -> Scale:
        if self.min >= self.max:
            raise wrong(f"min {shown(self.min)} must be smaller than max {shown(self.max)}")
        if self.max - self.min >= MOST_POINTS:
            raise wrong(f"{shown(self.max - self.min + 1)} points; a scale has 2 to {MOST_POINTS}")
        outside = ", ".join(shown(point) for point in self.labels if point not in self.points)
        bare = " and ".join(str(point) for point in (self.min, self.max) if point not in self.labels)
        problems = [f"labels for {outside}, but the scale runs from {self.min} to {self.max}"] if outside else []
        problems += [f"no label for {bare}; both ends need one"] if bare else []
        if problems:
            raise wrong("; ".join(problems))
        return self

    @property
    def points(self) -> tuple[int, ...]:
        return tuple(range(self.min, self.max + 1))

    @property
    def measures_agreement(self) -> bool:
        """Return whether more points mean more agreement, going by the words at its two ends in any language.

        Of “much worse … much better” nobody may say that somebody agrees, nor of a scale on which 1 is agreement.
        """
        low, high = self.labels[self.min], self.labels[self.max]
        spoken = [language for language in LANGUAGES if low.has(language) and high.has(language)]
        ends = [(low.in_(language), high.in_(language)) for language in spoken]
        return any(DISAGREE.search(least) and AGREE.search(most) and not DISAGREE.search(most) for least, most in ends)

    def options(self, language: Language) -> tuple[Option, ...]:
        """All points in ascending order; the label is '' where the scale has none."""
        return tuple(
            Option(value=point, label=self.labels[point].in_(language) if point in self.labels else "")
            for point in self.points
        )


def _labelled(*labels: tuple[str, str]) -> Scale:
    texts = {point: Text(de=german, en=english) for point, (german, english) in enumerate(labels, start=1)}
    return Scale(min=1, max=len(labels), labels=texts)


NAMED_SCALES: dict[str, Scale] = {
    "likert5": _labelled(
        ("lehne stark ab", "strongly disagree"),
        ("lehne eher ab", "somewhat disagree"),
        ("weder noch", "neither agree nor disagree"),
        ("stimme eher zu", "somewhat agree"),
        ("stimme stark zu", "strongly agree"),
    ),
    "likert7": _labelled(
        ("lehne stark ab", "strongly disagree"),
        ("lehne ab", "disagree"),
        ("lehne eher ab", "somewhat disagree"),
        ("weder noch", "neither agree nor disagree"),
        ("stimme eher zu", "somewhat agree"),
        ("stimme zu", "agree"),
        ("stimme stark zu", "strongly agree"),
    ),
    "importance5": _labelled(
        ("gar nicht wichtig", "not at all important"),
        ("wenig wichtig", "slightly important"),
        ("mittelmäßig wichtig", "moderately important"),
        ("ziemlich wichtig", "quite important"),
        ("sehr wichtig", "very important"),
    ),
    "plausibility5": _labelled(
        ("gar nicht plausibel", "not at all plausible"),
        ("wenig plausibel", "slightly plausible"),
        ("mittelmäßig plausibel", "moderately plausible"),
        ("ziemlich plausibel", "quite plausible"),
        ("sehr plausibel", "very plausible"),
    ),
}


def builtin_scale(name: str, ends: Ends) -> Scale | None:
    """A named built-in scale, or 1 to n with labelled `ends` where `name` is a number of points n; else None."""
    if name in NAMED_SCALES:
        return NAMED_SCALES[name]
    if name in {str(points) for points in range(2, MOST_POINTS + 1)}:
        return Scale(min=1, max=int(name), labels={1: ends[0], int(name): ends[1]})
    return None


def with_builtin_scales(scales: dict[object, object], used: Iterable[str], ends: Ends) -> dict[object, object]:
    """`scales` of a file plus the built-in ones it uses, so that the pinned instrument holds all its scales."""
    builtin = {name: builtin_scale(name, ends) for name in sorted(used) if name not in scales}
    return scales | {name: scale for name, scale in builtin.items() if scale is not None}


def _as_name(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise PydanticCustomError("scale", "should be a scale")
    return str(value)


def _known_scale(name: str) -> str:
    known = current().defined("scales")
    if known is not None and name not in known:
        names = [*known, *(scale for scale in NAMED_SCALES if scale not in known)]
        named = [scale for scale in names if not scale.isdigit()]
        raise wrong(f"{shown(name)} is no scale{suggestion(name, named)}, or 2 to {MOST_POINTS} for that many points")
    return name


ScaleName = Annotated[str, BeforeValidator(_as_name), AfterValidator(_known_scale)]
"""A scale by its name in `scales:`, a built-in name, or a number of points."""


# --- What is known of people's answers to an item: their spread or their marginals, and where that is from -----------

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
    """`sd` (n − 1, in scale points), `marginals` (share or count by point) or both, of people asked the same item."""

    source: Line
    sd: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    marginals: Annotated[dict[int, Share], AfterValidator(_coherent)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Human:
        if self.sd is None and self.marginals is None:
            raise wrong("holds neither `sd` nor `marginals`; give one of them or remove it")
        return self


def on_scale(human: Human | None, points: Points | None) -> Human | None:
    """`human`, if it can be of answers on a scale from points[0] to points[1]; None: of a scale with a problem."""
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
    """Ends of the scale of that name in the file being read; else of the file's own `scale`, else of `default`."""
    document = current().document
    scales = document.get("scales")
    name = str(scale if scale is not None else document.get("scale", default))
    known = scales if isinstance(scales, Mapping) else {}
    meant = next((scale for key, scale in known.items() if str(key) == name), None)
    low, high = (meant.get(end) if isinstance(meant, Mapping) else getattr(meant, end, None) for end in ("min", "max"))
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
