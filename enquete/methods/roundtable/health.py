"""Instrument health of a roundtable: a mode that was not played, groups that agree like one, silence."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.diagnostics import FREE, Threshold, judged
from enquete.locale import N_
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other

UNPLAYED, GROUPTHINK = "turns_against_the_mode", "groups_with_groupthink"
SILENT = "silent_turns"

CHECKS = {
    UNPLAYED: OwnCheck(
        Threshold(
            "share of what was said to a group that does not keep to the mode, after it was asked for once more",
            (None, 0.10), FREE, {"turns": 10}, "with 10 turns one moves the share by .10",
            "proposal", "no benchmark was found", "results of a mode that was not played are not that mode's",
        ),
        "share",
        (N_("Answers that do not keep to the mode"),
            N_("They are kept as they are; the mode was not played as it is meant.")),
        {"too_few_turns": N_("too little was said")},
    ),
    GROUPTHINK: OwnCheck(
        Threshold(
            "share of groups with at least two of three signs of groupthink in their last round",
            (None, 0.50), FREE, {"groups": 2}, "one group is no pattern",
            "proposal", "no benchmark was found", "models agree more easily than people; their agreement is weak "
                "evidence",
        ),
        "share",
        (N_("Groups with signs of groupthink"), N_("They may agree because a model agrees with itself.")),
        {"too_few_groups": N_("fewer than two groups were judged"),
            "not_judged": N_("unanimity is no sign in this mode")},
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
    """Yield whether the mode was played, groups that agree like one, and silence."""

    def share(count: str, of: str) -> float | None:
        return analysis.count(count) / analysis.count(of) if analysis.count(of) else None

    checks = {
        UNPLAYED: (share("not_kept", "public_turns"), {"turns": analysis.count("public_turns")}),
        GROUPTHINK: (share("groupthink_groups", "judged_groups"), {"groups": analysis.count("judged_groups")}),
        SILENT: (share("silent", "said"), {"turns": analysis.count("said")}),
    }
    for name, (value, n) in checks.items():
        why_not = "not_judged" if name == GROUPTHINK and not analysis.facts.get("judges_groupthink") else ""
        yield "", judged(name, value, n, why_not=why_not, rule=CHECKS[name].rule)
    yield from any_other(analysis, rows, humans)
