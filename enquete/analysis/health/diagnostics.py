"""One instrument-health check, how its value becomes a verdict, and how verdicts become one over all checks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from enquete.analysis.health.thresholds import THRESHOLDS, Bounds, Threshold

Verdict = Literal["fine", "caution", "bad", "information", "not computed"]
Standing = Literal[
    "usable",
    "usable as far as checked",
    "usable with caution",
    "not usable",
    "cannot be judged",
    "interim",
    "nothing to judge",
]
Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json] | None"
Detail: TypeAlias = Mapping[str, Json]

DECIMALS = 12  # values are compared to this many: 3/10 computed as 0.30000000000000004 lies on the threshold
MOST_BAD = 1  # bad checks, none of them decisive, that still leave the data usable with caution
TOO_FEW = "too_few_"
NO_VARIATION = "no_variation"  # with it a lack of data; other reasons lie in the design, such as items keyed one way
DISTRIBUTION = "distribution"
COHERENT, BESIDES = "coherence", "order_smoothness"  # a pass of the first counts only with the second
RELIABILITY = "test_retest"  # the check without which noise and opinion cannot be told apart
NOT_TESTED = "reliability_not_tested"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One check. Wording is presentation's: names and reason codes are keys."""

    name: str  # key of THRESHOLDS
    value: float | None
    n: int  # in the first unit of the check's `least`
    benchmark: float | None  # what people show, or chance gives
    threshold: Bounds  # lowest and highest value that is still fine
    verdict: Verdict
    reason_code: str  # "" where fine
    detail: Detail = field(default_factory=dict)


class Ruling(NamedTuple):
    """A verdict that rests on more than the value, such as a test."""

    verdict: Verdict
    reason_code: str


@dataclass(frozen=True, slots=True)
class Overall:
    """The standing of the data; reasons as "name:reason_code", the weightiest first."""

    verdict: Standing
    reasons: tuple[str, ...] = ()


NOTHING = Overall("nothing to judge")
NOT_USABLE: Standing = "not usable"
INTERIM = Overall("interim", ("not_finished",))


def judged(
    name: str,
    value: float | None,
    counts: Mapping[str, int],
    *,
    detail: Detail | None = None,
    caution: Bounds | None = None,
    bad: Bounds | None = None,
    benchmark: float | None = None,
    why_not: str = "",
    ruling: Ruling | None = None,
    rule: Threshold | None = None,
) -> Diagnostic:
    """The check `name` with its verdict; exactly on a threshold is still fine.

    counts: how much there was to go by, in every unit of the check's `least`. Below a minimum the check is not computed
    ("too_few_<unit>"), nor where `why_not` is given or the value is None ("undefined"). caution, bad, benchmark replace
    the table's where they depend on the data; `ruling` replaces the comparison. rule: of a check that is not in the table.
    What rests on a proposal alone is never worse than a caution.
    """
    rule = rule or THRESHOLDS[name]
    caution, bad = caution or rule.caution, bad or rule.bad
    benchmark = rule.benchmark if benchmark is None else benchmark
    found: dict[str, Json] = {**counts, **(detail or {})}
    short = next((f"{TOO_FEW}{unit}" for unit, least in rule.least.items() if counts[unit] < least), "")
    n = counts[next(iter(rule.least))]
    if why_not or short or value is None or not math.isfinite(value):
        return Diagnostic(name, None, n, benchmark, caution, "not computed", why_not or short or "undefined", found)
    verdict, code = ruling or compared(value, caution, bad)
    if verdict == "bad" and rule.basis == "proposal":
        verdict = "caution"
    return Diagnostic(name, value, n, benchmark, caution, verdict, code, found)


def compared(value: float, caution: Bounds, bad: Bounds) -> Ruling:
    """Bad outside `bad`, caution outside `caution`, with the code "below" or "above"."""
    for verdict, bounds in (("bad", bad), ("caution", caution)):
        if side := _side(value, bounds):
            return Ruling("bad" if verdict == "bad" else "caution", side)
    return Ruling("fine", "")


def _side(value: float, bounds: Bounds) -> str:
    low, high = bounds
    if low is not None and round(value - low, DECIMALS) < 0:
        return "below"
    if high is not None and round(value - high, DECIMALS) > 0:
        return "above"
    return ""


def overall(
    diagnostics: Iterable[Diagnostic], own: Mapping[str, Threshold] | None = None, not_tested: str = NOT_TESTED
) -> Overall:
    """What a set of checks, such as a methodology's, says about the data.

    Nothing to judge: no check was computed. Not usable: a decisive check is bad, or two or more others are, or of the checks
    that tell answers from chance (`Threshold.floor`) one is bad and none is passed. Cannot be judged: such a check, or the one
    that coherence counts only with, lacks agents, answers or variation, and none is passed. Usable with caution: a check is bad
    or calls for caution. Usable as far as checked: nothing of this, but no retest was computed. Usable: otherwise. A check that
    was not computed is never a pass and never a failure; nor is one that gives information only. own: rules of checks that are
    not in THRESHOLDS; not_tested: why there is no retest. Raises ValueError for a name that is in neither.
    """
    given, rules = list(diagnostics), {**THRESHOLDS, **(own or {})}
    for one in given:
        if one.name not in rules:
            raise ValueError(f"no such diagnostic: {one.name!r}; known are {', '.join(sorted(rules))}")
    bad = sorted((one for one in given if one.verdict == "bad"), key=lambda one: not rules[one.name].decisive)
    cautions = [one for one in given if one.verdict == "caution"]
    reasons = tuple(f"{one.name}:{one.reason_code}" for one in (*bad, *cautions))
    floors = [one for one in given if rules[one.name].floor]
    unsure = [one for one in given if one.name == BESIDES and _lacks_data(one)]
    lacking = [one for one in floors if _lacks_data(one)] or unsure
    passed = any(_passed(one) and not (unsure and one.name == COHERENT) for one in floors)
    fell = any(one.verdict == "bad" for one in floors) and not passed
    if fell or len(bad) > MOST_BAD or any(rules[one.name].decisive for one in bad):
        return Overall("not usable", reasons)
    if lacking and not passed:
        return Overall("cannot be judged", (*(f"{one.name}:{one.reason_code}" for one in lacking), *reasons))
    if not any(one.verdict in ("fine", "caution", "bad") for one in given):
        return NOTHING
    if reasons:
        return Overall("usable with caution", reasons)
    tested = any(one.name == RELIABILITY and one.verdict == "fine" for one in given)
    return Overall("usable") if tested else Overall("usable as far as checked", (not_tested,))


def _lacks_data(one: Diagnostic) -> bool:
    return one.reason_code.startswith(TOO_FEW) or (one.verdict, one.reason_code) == ("not computed", NO_VARIATION)


def _passed(floor: Diagnostic) -> bool:
    """Told from chance, be it by little."""
    return floor.verdict == "fine" or (floor.verdict, floor.reason_code) == ("caution", "below")
