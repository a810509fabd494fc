"""Checks of instrument health: their words, the rows they read, those of every methodology and of probe arms.

A check that the data do not allow is "not computed" with the reason, never a pass and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from enquete.analysis.answers import Answers, read_answers
from enquete.analysis.coherence import (
    coherence,
    contentless,
    order_smoothness,
)
from enquete.analysis.diagnostics import THRESHOLDS, Basis, Diagnostic, Threshold, judged
from enquete.analysis.probes import item_order, null_persona, option_order, paraphrase, persona_swap, retest
from enquete.analysis.quality import (
    ExpectedAnswers,
    human_anchor,
    likeness,
    nonresponse,
    read_expected,
    variance_ratio,
)
from enquete.instruments.scales import Human
from enquete.locale import N_, tell
from enquete.reports.context import Found, chosen, numbered
from enquete.reports.declarations import NOT_ANALYSED, Analysis
from enquete.reports.run_reading import RunReading
from enquete.state.asking import Language
from enquete.state.methodology import Methodology

Unit = Literal["share", "points", "coefficient", "count"]

VERDICTS: Mapping[str, str] = {
    "fine": N_("fine"),
    "caution": N_("caution"),
    "bad": N_("bad"),
    "information": N_("information"),
    "not computed": N_("not computed"),
    "usable": N_("usable"),
    "usable as far as checked": N_("usable as far as checked; reliability not tested"),
    "usable with caution": N_("usable with caution"),
    "not usable": N_("not usable"),
    "cannot be judged": N_("cannot be judged"),
    "interim": N_("interim: no verdict before everything is asked"),
    "nothing to judge": N_("nothing to judge yet"),
}


CHECKS: Mapping[str, tuple[Unit, str, str]] = {
    "zero_drift": ("share", N_("Agents without any change"), N_("Memory hardly affects the answers.")),
    "direction_flips": ("share", N_("Agents that change sides of the scale on at least half of the statements"),
        N_("That much turning round speaks of noise, not of opinions.")),
    "unrevised": ("share", N_("Agents whose last ratings equal their first"),
        N_("The feedback has no effect; convergence cannot be measured.")),
    "rated_alike": ("share", N_("Agents that find all scenarios equally desirable"),
        N_("The scenarios are not told apart.")),
    "two_components": ("share", N_("Variance of the first two components"),
        N_("The answers hardly share a structure; types are doubtful.")),
    "coherence": ("coefficient", N_("Coherence beyond chance, without agents' own levels (mean r)"),
        N_("The answers hang together hardly more than random ones.")),
    "order_smoothness": ("coefficient", N_("Likeness of neighbours in the order shown, beyond other orders (r)"),
        N_("Answers repeat the one before instead of saying what is thought of the item.")),
    "answer_stability": ("coefficient", N_("Stability of the answers from wave to wave or round to round (r)"),
        N_("Who answers now this, now that has no opinion that could change.")),
    "variance_ratio": ("coefficient", N_("Spread relative to people's"),
        N_("Differences between people are understated.")),
    "refusal_rate": ("share", N_("Refused answers"), N_("What is missing is not missing at random.")),
    "contentless": ("share", N_("Agents whose answers say nothing"),
        N_("Rows of one value, and texts that repeat or are no sentences: see the column `content`.")),
    "missing_rate": ("share", N_("Invalid or failed answers"), N_("Resuming the run asks failed ones again.")),
    "human_jsd": ("coefficient", N_("Likeness to people's distribution (1 − JSD)"),
        N_("An even spread would be no further off.")),
    "human_w1": ("coefficient", N_("Likeness to people's distribution (1 − Wasserstein)"),
        N_("An even spread would be no further off.")),
    "test_retest": ("coefficient", N_("Agreement when asked again (weighted κ)"),
        N_("What a repeat does not reproduce is noise.")),
    "option_order": ("coefficient", N_("Agreement with the options reversed (weighted κ)"),
        N_("An opinion does not depend on the order.")),
    "option_order_shift": ("points", N_("Shift with the options reversed (points)"),
        N_("It shows a preference for a place.")),
    "item_order": ("coefficient", N_("Agreement over orders of the items (ICC)"), N_("Neighbouring items rub off.")),
    "paraphrase": ("share", N_("Share of variance of the wording"), N_("The wording has a say.")),
    "persona_swap": ("share", N_("Share of the agreement on retest that another's persona takes away"),
        N_("The persona is hardly heeded.")),
    "null_persona": ("share", N_("Share of the agreement on retest that is gone without a persona"),
        N_("It is rather the model that speaks than the persona.")),
    "negative_control": ("count", N_("Control items with a sure drift"),
        N_("Nothing should have moved there: a shared shock moves everything.")),
    "placebo_exposure": ("points", N_("Change under the own against a neutral memory (points)"),
        N_("The change is not surely due to what was experienced.")),
    "false_median": ("coefficient", N_("Pull of a median that nobody gave"),
        N_("It is the number that is followed, not the panel.")),
}  # fmt: skip
"""By name: unit of the value; by language what it is and what a caution means."""

BASES: Mapping[Basis, str] = {
    "people": N_("panels of people"),
    "chance": N_("a test"),
    "published": N_("a published benchmark"),
    "definition": N_("definition"),
    "proposal": N_("this project's proposal"),
}
"""What the bounds of a check rest on."""

PROBES: Mapping[str, str] = {
    "test_retest": N_("retest"),
    "option_order": N_("options reversed"),
    "item_order": N_("items shuffled"),
    "paraphrase": N_("paraphrase"),
    "persona_swap": N_("another's persona"),
    "null_persona": N_("no persona"),
    "negative_control": N_("negative control"),
    "placebo_exposure": N_("placebo"),
    "false_median": N_("false median"),
}
"""What a probe does, by the check that reads it."""

REASONS: Mapping[str, str] = {
    "above": N_("above the threshold"), "below": N_("below the threshold"),
    "cells_above": N_("surely above 5% for some items and types"),
    "no_more_than_chance": N_("no more than chance explains"),
    "suspect_caching": N_("all answers equal although the temperature is above 0: probably a cache"),
    "persona_ignored": N_("answers stay the agent's though the persona does not"),
    "control_drifted": N_("control items moved"),
    "one_run": N_("over the agents of one run, who share its shocks; does not enter the verdict"),
    "follows_any_median": N_("the bogus median pulls like the true one"),
    "no_nearer_than_even": N_("no nearer than an even spread"), "not_finished": N_("the interviews are not finished"),
    "reliability_not_tested": N_("nobody was asked again"), "checks_failed": N_("the checks themselves failed"),
    "retest_unread": N_("asked again, but nothing could be read from the answers"),
    "only_replicates": N_("asked again in replicates only, see there"), "undefined": N_("undefined"),
    "too_few_agents": N_("too few agents"), "too_few_answers": N_("too few answers"),
    "too_few_items": N_("too few items with enough answers"),
    "too_few_contrasts": N_("too few items in several wordings"),
    "position_unclear": N_("the order shown is not known"), "no_human_sd": N_("there are no data of people"),
    "no_human_marginals": N_("there are no data of people"), "no_variation": N_("too little variation"),
    "one_answer": N_("all agents give the same answers"),
    "follows_the_order": N_("surely more alike than in other orders of the items"),
    "asked_one_by_one": N_("items were asked one by one"),
    "own_orders": N_("every agent had an order of its own, and few items at once"),
    "no_pairs": N_("nobody answered both times"), "same_option_order": N_("the order of options was the same"),
    "same_item_order": N_("the order of items was the same"), "no_bogus_median": N_("no bogus median was shown"),
    "retest_is_noise": N_("asked again, the same agents agree no more than by chance"),
    "no_retest": N_("without a retest there is nothing to compare with"), "reconstructed": N_("T0 is reconstructed"),
    "one_wave": N_("there is only one wave"), "incomparable": N_("T0 and T1 cannot be compared"),
    "no_revision": N_("there is no round of revision"), "no_desirability": N_("desirability is not asked"),
}  # fmt: skip
"""Reason codes of `Diagnostic` and of an overall verdict."""


# --- Rows of the response table as the health checks want them: one arm on one occasion, the block beside each answer

READ = [
    "phase", "arm", "arm_role", "session", "round", "turn", "participant", "stakeholder_type", "item_id", "family",
    "dimension", "reverse_keyed", "scale_min", "scale_max", "status", "value", "content", "temperature", "elicitation",
    "distribution", "item_position", "option_order", "attempts", "block",
]  # fmt: skip
"""The columns that the checks in this house read."""
OF_ANSWERS = [
    "participant", "stakeholder_type", "item_id", "family", "reverse_keyed", "scale_min", "scale_max", "status",
    "value", "item_position", "option_order", "block",
]  # fmt: skip
"""Those of them that `answers` reads."""
PLACES = ("round", "turn")
KEY = ["methodology", "phase", "arm", "session", "round", "turn", "participant", "item_id"]


def with_blocks(reading: RunReading, frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `block`: the instrument part an item was shown in; "" without an answer.

    Positions count within a part, so that without it no order over several parts is known.
    """
    if "block" in frame:
        return frame
    known: dict[tuple[object, ...], str] = {}
    for name, phase in set(zip(frame["methodology"], frame["phase"], strict=True)):
        known |= {(name, phase, *place): part for *place, part in reading.parts(name, phase)}
    keys = zip(*(frame[column].tolist() for column in KEY), strict=True)
    return frame.assign(block=np.array([known.get(key, "") for key in keys], dtype=object))


def checkable(rows: pd.DataFrame) -> pd.DataFrame:
    """What the checks read of the table: choosing rows of it costs a fraction."""
    return rows[rows.columns.intersection(READ)]


def answers(rows: pd.DataFrame) -> Answers:
    """Closed items of one arm, methodology, phase and round. An item asked again later counts as first asked."""
    return read_answers(_once(rows, OF_ANSWERS))


def expected(rows: pd.DataFrame) -> ExpectedAnswers | None:
    """The probabilities behind `answers`; None where single answers were asked for."""
    if "distribution" not in rows or not rows.loc[rows["scale_min"].notna(), "distribution"].fillna("").ne("").any():
        return None
    once = _once(rows, [*OF_ANSWERS, "distribution"])
    return read_expected(read_answers(once), once)


def _once(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """These columns alone; read_answers leaves out what has no scale."""
    table = rows[rows.columns.intersection(columns)]
    if any(rows[place].nunique() > 1 for place in ("session", "turn") if place in rows):
        table = table[~table.duplicated(["participant", "item_id"])]
    return table.rename(columns={"item_id": "item"})


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows for `nonresponse`: an item that is asked in several rounds or turns is several items."""
    places = [place for place in ("session", *PLACES) if rows[place].nunique() > 1]
    groups = numbered(rows, [*places, "item_id"])  # a name is made once: of every row it would take more than the row
    firsts = np.unique(groups, return_index=True)[1]
    names = np.empty(len(firsts), dtype=object)
    names[:] = [
        "".join(f"{place} {value}/" for place, value in zip(places, at, strict=True)) + str(item)
        for *at, item in rows[[*places, "item_id"]].iloc[firsts].itertuples(index=False)
    ]
    return rows.assign(item=names[groups])


def occasion(rows: pd.DataFrame, phase: str, number: int | None = None) -> pd.DataFrame:
    """Rows of one phase, and of one round where it is named."""
    of_phase = chosen(rows, rows["phase"].eq(phase))
    return of_phase if number is None else chosen(of_phase, of_phase["round"].eq(number))


def closed(rows: pd.DataFrame) -> pd.DataFrame:
    return chosen(rows, rows["scale_min"].notna())


def rounds(rows: pd.DataFrame) -> list[int]:
    """Rounds with closed items that somebody answered, in order."""
    return sorted(map(int, rows.loc[rows["scale_min"].notna() & rows["value"].notna(), "round"].unique()))


def phases(rows: pd.DataFrame) -> list[str]:
    return sorted(str(phase) for phase in rows["phase"].unique())


# --- The checks of instrument health that every methodology gets, and how one declares others of its own --------------

Humans = Mapping[str, Human]
"""What the instrument says of people's answers, by item."""


@dataclass(frozen=True)
class OwnCheck:
    """A check that one methodology alone has: its rule, and its words. `judged(name, …, rule=rule)` makes one."""

    rule: Threshold
    unit: Unit  # of the value
    words: tuple[str, str]  # what it is, and what a caution means
    reasons: Mapping[str, str] = field(default_factory=dict)  # of its own codes


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One diagnostic of a methodology: where it was taken, and whether a probe gave it."""

    methodology: str
    phase: str  # "" where it spans phases
    found: Diagnostic
    probe: bool = False
    own: OwnCheck | None = None

    def what(self, language: Language) -> str:
        return tell(self.own.words[0] if self.own else CHECKS[self.found.name][1], language)

    @property
    def rule(self) -> Threshold:
        return self.own.rule if self.own else THRESHOLDS[self.found.name]

    @property
    def unit(self) -> Unit:
        return self.own.unit if self.own else CHECKS[self.found.name][0]


Made = Iterator[tuple[str, Diagnostic]]
"""Checks, each with the phase it was taken in; "" where it spans phases."""


def missing(name: str, why: str, *, rule: Threshold | None = None) -> Diagnostic:
    """The check as not computed. rule: of a methodology's own."""
    return judged(name, None, dict.fromkeys((rule or THRESHOLDS[name]).least, 0), why_not=why, rule=rule)


def each(phase: str, diagnostics: Iterable[Diagnostic]) -> Made:
    yield from ((phase, diagnostic) for diagnostic in diagnostics)


# --- what every methodology gets -------------------------------------------------------------------------------------


def scales(rows: pd.DataFrame, humans: Humans) -> Iterator[Diagnostic]:
    """Coherence of the closed items of one occasion, and their likeness to people's, in the table's order.

    Not meant for revisions: agreement after feedback is wanted.
    """
    has_scale = rows["scale_min"].notna()
    if has_scale.any():
        table, given = answers(rows), expected(rows)
        yield coherence(table)
        yield order_smoothness(table)
        known = {item: human for item, human in humans.items() if item in table.items}
        tables = given.tables if given else None
        sds = {item: human.sd for item, human in known.items() if human.sd is not None}
        yield sourced(variance_ratio(table, sds, tables=tables), known)
        marginals = {item: human.marginals for item, human in known.items() if human.marginals}
        yield from (sourced(diagnostic, known) for diagnostic in human_anchor(table, marginals, tables=tables))


def sourced(diagnostic: Diagnostic, humans: Humans) -> Diagnostic:
    """With where the data of people are from."""
    sources = list(dict.fromkeys(human.source for human in humans.values()))
    return replace(diagnostic, detail={**diagnostic.detail, "sources": sources}) if sources else diagnostic


def gaps(rows: pd.DataFrame) -> Made:
    """Refused and missing answers of each phase, open questions included."""
    for phase in phases(rows):
        yield from each(phase, nonresponse(asked(occasion(rows, phase))))


def contents(rows: pd.DataFrame) -> Made:
    """Answers without content of each phase, of whatever methodology; nothing of tables without the column."""
    for phase in phases(rows) if "content" in rows else ():
        yield phase, contentless(asked(occasion(rows, phase)))


def any_other(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """A methodology without plausibility checks of its own: closed items of each phase as first asked, and gaps."""
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        first = rounds(of_phase)[:1]
        yield from each(phase, scales(occasion(of_phase, phase, first[0]) if first else of_phase.iloc[:0], humans))
    yield from gaps(rows)


# --- What a run's probe arms say about its main arm. Arms are known by role and id; a probe may cover a sample of
# agents
# Each comparison is of the same agents and items; formulas and bounds are those of `diagnostics.PROBES`.

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


def not_read(checks: Iterable[HealthCheck], asked: Iterable[str]) -> tuple[str, ...]:
    """Probes that were asked, and paid, and that no check could be made of."""
    read = {check.found.name for check in checks if check.probe}
    return tuple(dict.fromkeys(READ_BY[arm] for arm in asked if arm in READ_BY and READ_BY[arm] not in read))


def not_taken(
    likely: Iterable[str], checks: Iterable[HealthCheck], asked: Iterable[str], *, waves: int
) -> tuple[str, ...]:
    """Of the probes that were possible those that were not asked; those of change only where there are two waves."""
    taken = {check.found.name for check in checks if check.probe} | {READ_BY.get(arm, arm) for arm in asked}
    return tuple(probe for probe in likely if probe not in taken and (waves > 1 or probe not in OF_CHANGE))


def nothing_pinned(arm: str) -> Found:
    return {}


@dataclass(frozen=True)
class Arms:
    """Rows of one methodology, of the main arm and of each arm that probes it and was asked."""

    main: pd.DataFrame
    asked: Mapping[str, pd.DataFrame]
    analysis: Analysis = NOT_ANALYSED
    pinned: Callable[[str], Found] = nothing_pinned  # what the methodology pinned for an arm, by name

    @property
    def others(self) -> dict[str, pd.DataFrame]:
        """Arms with answers to closed items."""
        return {arm: rows for arm, rows in self.asked.items() if closed(rows)["value"].notna().any()}


def probing(rows: pd.DataFrame, analysis: Analysis, pinned: Callable[[str], Found]) -> Arms:
    """rows: of all arms of one methodology, with `block`."""
    aside = rows[rows["arm_role"].isin(["probe", "placebo"])].groupby("arm", sort=False)
    asked = {str(arm): rows for arm, rows in aside if rows["status"].ne("not_reached").any()}
    return Arms(chosen(rows, rows["arm_role"].eq("main")), asked, analysis, pinned)


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
        by_arm = {arm: closed(occasion(rows, phase, first[0])) for arm, rows in others.items()}
        tables = {arm: answers(rows) for arm, rows in by_arm.items() if len(rows)}
        as_first = occasion(main, phase, first[0])
        if RETEST in tables:
            yield phase, retested(as_first, by_arm[RETEST])
        yield from each(phase, compared(answers(as_first), tables, why))


def retested(main: pd.DataFrame, again: pd.DataFrame) -> Diagnostic:
    """With 1 − JSD of the probabilities of both, and over how many answers, unless either gave single answers."""
    temperatures = again["temperature"].dropna()
    warm = float(temperatures.max()) if len(temperatures) else 0.0
    diagnostic = retest(answers(main), answers(again), temperature=warm)
    first, second = expected(main), expected(again)
    if not first or not second:
        return diagnostic
    value, n = likeness(first, second)
    return replace(diagnostic, detail={**diagnostic.detail, "likeness_of_distributions": value, "n_distributions": n})


def compared(main: Answers, arms: Mapping[str, Answers], no_retest: str) -> Iterator[Diagnostic]:
    """The other probes that repeat one occasion, in the table's order. no_retest: why there is none."""
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
