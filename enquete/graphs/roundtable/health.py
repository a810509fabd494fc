"""Health of discussions: a mode that was not played, groups that agree like one, and a spread that talking took away."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.diagnostics import FREE, Diagnostic, Threshold, judged
from enquete.locale import N_
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other

UNPLAYED, GROUPTHINK, SPREAD, SILENT = (
    "turns_against_the_mode",
    "groups_with_groupthink",
    "spread_after_talking",
    "silent_turns",
)

CHECKS = {
    UNPLAYED: OwnCheck(
        Threshold(
            "share of what was said to a group that does not keep to the mode, after it was asked for once more",
            (None, 0.10), FREE, {"turns": 10}, "with 10 turns one moves the share by .10",
            "proposal", "no benchmark was found", "results of a mode that was not played are not that mode's",
        ),
        "share",
        (N_("Answers that do not keep to the mode"), N_("They are kept as they are; the mode was not played as it is meant.")),
        {"too_few_turns": N_("too little was said")},
    ),
    GROUPTHINK: OwnCheck(
        Threshold(
            "share of groups with at least two of three signs of groupthink in their last round",
            (None, 0.50), FREE, {"groups": 2}, "one group is no pattern",
            "proposal", "no benchmark was found", "models agree more easily than people; their agreement is weak evidence",
        ),
        "share",
        (N_("Groups with signs of groupthink"), N_("They may agree because a model agrees with itself.")),
        {"too_few_groups": N_("fewer than two groups were judged"), "not_judged": N_("unanimity is no sign in this mode")},
    ),
    SPREAD: OwnCheck(
        Threshold(
            "mean SD of the rated considerations after the discussion over that before",
            (0.80, None), FREE, {"participants": 10}, "SE of a ratio of SDs of 10 people ≈ .3; over several considerations less",
            "people", "13 groups of people had .84 to 1.13 [deliberr]",
            "people keep their differences when they deliberate; who loses them conforms",
        ),
        "coefficient",
        (N_("Spread of ratings after ÷ before"), N_("Participants conformed more than people do.")),
        {"too_few_participants": N_("too few rated the considerations both times")},
    ),
    SILENT: OwnCheck(
        Threshold(
            "share of turns of a discussion in which no position was taken",
            (None, 0.10), FREE, {"turns": 10}, "with 10 turns one moves the share by .10",
            "proposal", "no benchmark was found", "a group with silent members is a smaller one",
        ),
        "share",
        (N_("Turns in which no position was taken"), N_("Agreement is that of those who spoke.")),
        {"too_few_turns": N_("too little was said")},
    ),
}  # fmt: skip


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    yield "", _unplayed(analysis)
    yield "", _groupthink(analysis)
    yield "", _spread(analysis)
    yield "", _silent(analysis)
    yield from any_other(analysis, rows, humans)


def _unplayed(analysis: Analysis) -> Diagnostic:
    turns, kept = (analysis.count(name) for name in ("public_turns", "not_kept"))
    return judged(UNPLAYED, kept / turns if turns else None, {"turns": turns}, rule=CHECKS[UNPLAYED].rule)


def _groupthink(analysis: Analysis) -> Diagnostic:
    judged_, flagged = (analysis.count(name) for name in ("judged_groups", "groupthink_groups"))
    why_not = "" if analysis.facts.get("judges_groupthink") else "not_judged"
    value = flagged / judged_ if judged_ else None
    return judged(GROUPTHINK, value, {"groups": judged_}, why_not=why_not, rule=CHECKS[GROUPTHINK].rule)


def _spread(analysis: Analysis) -> Diagnostic:
    n = analysis.count("spread_n")
    return judged(SPREAD, analysis.figure("spread"), {"participants": n}, rule=CHECKS[SPREAD].rule)


def _silent(analysis: Analysis) -> Diagnostic:
    said, silent = (analysis.count(name) for name in ("said", "silent"))
    return judged(SILENT, silent / said if said else None, {"turns": said}, rule=CHECKS[SILENT].rule)
