"""What a run's probe arms say about its main arm. Arms are known by role and id; a probe may cover a sample of agents.

Each comparison is of the same agents and items; formulas and bounds are those of `health_thresholds.PROBES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from enquete.analysis.answers import Answers
from enquete.analysis.health.diagnostics import Diagnostic
from enquete.analysis.health.expected import likeness
from enquete.analysis.health.repeats import item_order, null_persona, option_order, paraphrase, persona_swap, retest
from enquete.reports.context import Found, chosen
from enquete.reports.declarations import NOT_ANALYSED, Analysis
from enquete.reports.health.checks import Check, Made, missing
from enquete.reports.health.occasions import answers, closed, expected, occasion, phases, rounds
from enquete.state.methodology import Methodology

RETEST, PLACEBO = "retest", "placebo"
TWO_WAVES = ("T0", "T1")

READ_BY: Mapping[str, str] = {
    "retest": "test_retest",
    "options_reversed": "option_order",
    "items_shuffled": "item_order",
    "items_shuffled_2": "item_order",
    "paraphrase": "paraphrase",
    "persona_swapped": "persona_swap",
    "persona_null": "null_persona",
    "negative_control": "negative_control",
    PLACEBO: "placebo_exposure",
    "false_median": "false_median",
}
"""By arm, the check that reads it; docs/probes.md."""
OF_CHANGE = ("negative_control", "placebo_exposure")


def possible(methodology: Methodology) -> tuple[str, ...]:
    """Probes that make sense for it, by the check that reads them."""
    placebo = (PLACEBO,) if set(TWO_WAVES) <= set(methodology.phases) else ()
    return tuple(dict.fromkeys(READ_BY[kind] for kind in (*methodology.probes, *placebo)))


def not_read(checks: Iterable[Check], asked: Iterable[str]) -> tuple[str, ...]:
    """Probes that were asked, and paid, and that no check could be made of."""
    read = {one.found.name for one in checks if one.probe}
    return tuple(dict.fromkeys(READ_BY[arm] for arm in asked if arm in READ_BY and READ_BY[arm] not in read))


def not_taken(likely: Iterable[str], checks: Iterable[Check], asked: Iterable[str], *, waves: int) -> tuple[str, ...]:
    """Of the probes that were possible those that were not asked; those of change only where there are two waves."""
    taken = {one.found.name for one in checks if one.probe} | {READ_BY.get(arm, arm) for arm in asked}
    return tuple(one for one in likely if one not in taken and (waves > 1 or one not in OF_CHANGE))


def nothing_frozen(arm: str) -> Found:
    return {}


@dataclass(frozen=True)
class Probed:
    """One occasion: the main arm's answers, and those of the probe arms by arm id."""

    main: Answers
    arms: Mapping[str, Answers]
    temperature: float = 0.0  # of the retest
    likeness: tuple[float | None, int] | None = None  # of main arm and retest, where probabilities were given


@dataclass(frozen=True)
class Arms:
    """Rows of one methodology, of the main arm and of each arm that probes it and was asked."""

    main: pd.DataFrame
    asked: Mapping[str, pd.DataFrame]
    analysis: Analysis = NOT_ANALYSED
    frozen: Callable[[str], Found] = nothing_frozen  # what the methodology froze for an arm, by name

    @property
    def others(self) -> dict[str, pd.DataFrame]:
        """Arms with answers to closed items."""
        return {arm: own for arm, own in self.asked.items() if closed(own)["value"].notna().any()}


def probing(rows: pd.DataFrame, analysis: Analysis, frozen: Callable[[str], Found]) -> Arms:
    """rows: of all arms of one methodology, with `block`."""
    aside = rows[rows["arm_role"].isin(["probe", "placebo"])].groupby("arm", sort=False)
    asked = {str(arm): own for arm, own in aside if own["status"].ne("not_reached").any()}
    return Arms(chosen(rows, rows["arm_role"].eq("main")), asked, analysis, frozen)


def repeated(arms: Arms) -> Made:
    """Comparisons of one occasion with itself: T0 and T1 each, ratings before any feedback."""
    others = arms.others
    if not others:
        return
    why = "retest_unread" if RETEST in arms.asked else "no_retest"
    for phase in phases(arms.main):
        main = closed(occasion(arms.main, phase))
        first = rounds(main)[:1]
        if not first:
            continue
        own = {arm: closed(occasion(rows, phase, first[0])) for arm, rows in others.items()}
        tables = {arm: answers(rows) for arm, rows in own.items() if len(rows)}
        temperatures = own[RETEST]["temperature"].dropna() if RETEST in tables else pd.Series(dtype=float)
        warm = float(temperatures.max()) if len(temperatures) else 0.0
        own_main = occasion(main, phase, first[0])
        alike = like(own_main, own[RETEST]) if RETEST in tables else None
        probed = Probed(answers(own_main), tables, warm, alike)
        yield from ((phase, found) for found in compared(probed, why))


def like(main: pd.DataFrame, again: pd.DataFrame) -> tuple[float | None, int] | None:
    """1 − JSD of the probabilities of both, and over how many answers; None where either gave single answers."""
    first, second = expected(main), expected(again)
    return likeness(first, second) if first and second else None


def compared(probed: Probed, no_retest: str = "no_retest") -> Iterator[Diagnostic]:
    """The probes that repeat one occasion, in the table's order. no_retest: why there is none to compare personas with."""
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
            yield judge(main, arms[arm], arms[RETEST]) if RETEST in arms else missing(name, no_retest)


_PERSONAS: Iterable[tuple[str, str, Callable[[Answers, Answers, Answers], Diagnostic]]] = (
    ("persona_swapped", "persona_swap", persona_swap),
    ("persona_null", "null_persona", null_persona),
)
