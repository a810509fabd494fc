"""Answer scales: the built-in ones, a file's own, and plain numbers of points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from enquete.instruments.reading import current, shown, suggestion, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language, Option

MOST_POINTS = 11  # 0–10 is the longest rating scale in common use; beyond it an answer is a number, not a category

Ends = tuple[Text, Text]

AGREEMENT: Ends = (Text(de="lehne stark ab", en="strongly disagree"), Text(de="stimme stark zu", en="strongly agree"))
AMOUNT: Ends = (Text(de="sehr gering", en="very low"), Text(de="sehr hoch", en="very high"))


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
        problems = [*self._labels_outside(), *self._ends_without_label()]
        if problems:
            raise wrong("; ".join(problems))
        return self

    @property
    def points(self) -> tuple[int, ...]:
        return tuple(range(self.min, self.max + 1))

    def options(self, language: Language) -> tuple[Option, ...]:
        """All points in ascending order; the label is '' where the scale has none."""
        return tuple(
            Option(value=point, label=self.labels[point].in_(language) if point in self.labels else "")
            for point in self.points
        )

    def _labels_outside(self) -> list[str]:
        outside = ", ".join(shown(point) for point in self.labels if point not in self.points)
        return [f"labels for {outside}, but the scale runs from {self.min} to {self.max}"] if outside else []

    def _ends_without_label(self) -> list[str]:
        bare = " and ".join(str(point) for point in (self.min, self.max) if point not in self.labels)
        return [f"no label for {bare}; both ends need one"] if bare else []


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


def with_builtin_scales(own: dict[object, object], used: Iterable[str], ends: Ends) -> dict[object, object]:
    """`own` scales of a file plus the built-in ones it uses, so that the frozen instrument holds all its scales."""
    builtin = {name: builtin_scale(name, ends) for name in sorted(used) if name not in own}
    return own | {name: scale for name, scale in builtin.items() if scale is not None}


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
