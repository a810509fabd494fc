"""What a run's probe arms say about its main arm. Arms are known by role and id; a probe may cover a sample of agents.

Each comparison is of the same agents and items; formulas and bounds are those of `health_thresholds.PROBES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from enquete.analysis.answer_table import Answers
from enquete.analysis.health.diagnostics import Diagnostic
from enquete.analysis.health.expected import likeness
from enquete.analysis.health.exposure import Exposure, false_median, negative_control, placebo_exposure
from enquete.analysis.health.repeats import item_order, null_persona, option_order, paraphrase, persona_swap, retest
from enquete.reports.health.checks import Check, Findings, missing, no_drift
from enquete.reports.health.occasions import answers, closed, expected, occasion, phases, rounds

RETEST, CONTROL, FALSE_MEDIAN, PLACEBO = "retest", "negative_control", "false_median", "placebo"

_CLOSED = ("test_retest", "option_order", "item_order", "paraphrase", "persona_swap", "null_persona")
POSSIBLE: Mapping[str, Sequence[str]] = {
    "longitudinal": (*_CLOSED, "negative_control", "placebo_exposure"),
    "diversity": _CLOSED,
    "delphi": (*_CLOSED, "false_median"),
    "scenario": _CLOSED,
}
"""Probes that make sense for a methodology, by the check that reads them; docs/probes.md."""


OF_CHANGE = ("negative_control", "placebo_exposure")


def not_taken(name: str, checks: Iterable[Check], *, waves: int) -> tuple[str, ...]:
    """Probes that a methodology could have had and has not; those of change only where there are two waves."""
    taken = {one.found.name for one in checks if one.probe}
    left = [probe for probe in POSSIBLE.get(name, ()) if probe not in taken]
    return tuple(probe for probe in left if waves > 1 or probe not in OF_CHANGE)


Medians = Mapping[str, Mapping[str, float]]
"""Arm → item → median that the panel was shown before its last revision."""


@dataclass(frozen=True)
class Probed:
    """One occasion: the main arm's answers, and those of the probe arms by arm id."""

    main: Answers
    arms: Mapping[str, Answers]
    temperature: float = 0.0  # of the retest
    likeness: tuple[float | None, int] | None = None  # of main arm and retest, where probabilities were given


@dataclass(frozen=True)
class Arms:
    """Rows of one methodology, of the main arm and of each arm that probes it."""

    main: pd.DataFrame
    others: Mapping[str, pd.DataFrame]
    findings: Findings = field(default_factory=dict)
    medians: Medians = field(default_factory=dict)


def probe_checks(name: str, findings: Findings, rows: pd.DataFrame, medians: Medians | None = None) -> list[Check]:
    """All probes of this methodology. rows: of all its arms, with `block`; [] where there are none or no closed items."""
    aside = rows[rows["arm_role"].isin(["probe", "placebo"])]
    others = {str(arm): own for arm, own in aside.groupby("arm", sort=False) if closed(own)["value"].notna().any()}
    main = rows[rows["arm_role"].eq("main")]
    if not others:
        return []
    arms = Arms(main, others, findings, medians or {})
    made = [*_repeated(arms), *_controlled(arms), *_placebo(arms), *_false_median(arms)]
    return [Check(name, phase, found, probe=True) for phase, found in made]


Made = Iterator[tuple[str, Diagnostic]]


def _repeated(arms: Arms) -> Made:
    """Comparisons of one occasion with itself: T0 and T1 each, ratings before any feedback."""
    for phase in phases(arms.main):
        main = closed(occasion(arms.main, phase))
        first = rounds(main)[:1]
        if not first:
            continue
        own = {arm: closed(occasion(rows, phase, first[0])) for arm, rows in arms.others.items()}
        tables = {arm: answers(rows) for arm, rows in own.items() if len(rows)}
        temperatures = own[RETEST]["temperature"].dropna() if RETEST in tables else pd.Series(dtype=float)
        warm = float(temperatures.max()) if len(temperatures) else 0.0
        own_main = occasion(main, phase, first[0])
        alike = like(own_main, own[RETEST]) if RETEST in tables else None
        probed = Probed(answers(own_main), tables, warm, alike)
        yield from ((phase, found) for found in compared(probed))


def like(main: pd.DataFrame, again: pd.DataFrame) -> tuple[float | None, int] | None:
    """1 − JSD of the probabilities of both, and over how many answers; None where either gave single answers."""
    first, second = expected(main), expected(again)
    return likeness(first, second) if first and second else None


def compared(probed: Probed) -> Iterator[Diagnostic]:
    """The probes that repeat one occasion, in the table's order."""
    main, arms = probed.main, probed.arms
    if RETEST in arms:
        found = retest(main, arms[RETEST], temperature=probed.temperature)
        if probed.likeness:
            value, n = probed.likeness
            found = replace(found, detail={**found.detail, "likeness_of_distributions": value, "n_distributions": n})
        yield found
    if "options_reversed" in arms:
        yield from option_order(main, arms["options_reversed"])
    shuffled = [table for arm, table in arms.items() if arm.startswith("items_shuffled")]
    if shuffled:
        yield item_order([main, *shuffled])
    worded = [table for arm, table in arms.items() if arm.startswith("paraphrase")]
    if worded:
        yield paraphrase([main, *worded])
    for arm, name, judge in _PERSONAS:
        if arm in arms:
            yield judge(main, arms[arm], arms[RETEST]) if RETEST in arms else missing(name, "no_retest")


_PERSONAS: Iterable[tuple[str, str, Callable[[Answers, Answers, Answers], Diagnostic]]] = (
    ("persona_swapped", "persona_swap", persona_swap),
    ("persona_null", "null_persona", null_persona),
)


def _waves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return closed(occasion(rows, "T0")), closed(occasion(rows, "T1"))


def _controlled(arms: Arms) -> Made:
    """Drift of the control items, all items that the probe arm asks and the main arm does not."""
    if CONTROL not in arms.others:
        return
    before, after = _waves(arms.others[CONTROL])
    own = set(before["item_id"]) & set(after["item_id"])
    items = sorted(own - set(arms.main["item_id"])) or sorted(own)
    if items:
        yield "", negative_control(answers(before), answers(after), items)
    else:
        yield "", missing("negative_control", "one_wave")


def _placebo(arms: Arms) -> Made:
    """Drift under the real digest minus drift under a neutral one; T0 is the main arm's where the placebo was not asked then."""
    if PLACEBO not in arms.others:
        return
    before, after = _waves(arms.main)
    placebo_before, placebo_after = _waves(arms.others[PLACEBO])
    why = no_drift(arms.findings) or ("" if len(placebo_after) else "one_wave")
    if why:
        yield "", missing("placebo_exposure", why)
        return
    neutral = placebo_before if len(placebo_before) else before
    yield "", placebo_exposure([Exposure(*map(answers, (before, after, neutral, placebo_after)))])


def _false_median(arms: Arms) -> Made:
    """The pull of a median that nobody gave, against that of the panel's own."""
    if FALSE_MEDIAN not in arms.others:
        return
    bogus, main = arms.others[FALSE_MEDIAN], str(arms.main["arm"].iloc[0])
    for phase in phases(bogus):
        told = rounds(occasion(bogus, phase))[-1]
        rated = [number for number in rounds(occasion(arms.main, phase)) if number <= told]
        if len(rated) < 2 or rated[-1] != told:
            yield phase, missing("false_median", "no_revision")
            continue
        first, last = (answers(closed(occasion(arms.main, phase, number))) for number in rated[-2:])
        true, false = (arms.medians.get(arm, {}) for arm in (main, FALSE_MEDIAN))
        followed = answers(closed(occasion(bogus, phase, told)))
        yield phase, false_median(first, last, followed, true_median=true, bogus_median=false)
