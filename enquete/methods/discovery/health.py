"""Instrument health of discovery interviews: records without values, readings that nobody said, a rule that read."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.diagnostics import FREE, Threshold, judged
from enquete.locale import N_
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other

EMPTY, UNSAID, BY_RULE = "records_without_values", "readings_nobody_said", "answers_read_by_rule"

CHECKS = {
    EMPTY: OwnCheck(
        Threshold(
            "share of interviews with an answer whose record stayed empty; bad if all", (None, 0.20), (None, 0.99),
            {"interviews": 1}, "one interview that gave nothing has nothing to show", "definition",
            "an empty record cannot be interpreted; the bound of a caution is this project's proposal",
            "an interview that gives nothing is a gap that no status shows", decisive=True,
        ),
        "share", (N_("Interviews whose record stayed empty"), N_("What was said there is in no table.")),
        {"too_few_interviews": N_("no interview has an answer")},
    ),
    UNSAID: OwnCheck(
        Threshold(
            "values that were read without words in the answer, as a share of all that were read; they are left out",
            (None, 0.10), FREE, {"values": 1}, "every value is checked against its answer", "proposal",
            "no benchmark was found", "a model that fills in what nobody said reads what it expects",
        ),
        "share",
        (
            N_("Values that a model read though nobody said them"),
            N_("They were left out; the model fills in what it expects."),
        ),
        {"too_few_values": N_("nothing was read")},
    ),
    BY_RULE: OwnCheck(
        Threshold(
            "share of the answers that a rule read in the model's place", (None, 0.05), FREE, {"answers": 1},
            "every answer is read once", "proposal", "no benchmark was found", "a rule reads words, not what was meant",
        ),
        "share", (N_("Answers that a rule read"), N_("A rule finds words, not what was meant.")),
        {"no_model": N_("no model was to do it"), "too_few_answers": N_("no interview has an answer")},
    ),
}  # fmt: skip


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Yield empty records, readings that nobody said, and what a rule read.

    A synthetic run has no model to read; any other is meant to have one.
    """
    empty = [not record for record in analysis.column("records", "record")]
    unsaid, rule, answers = (analysis.count(name) for name in ("not_said", "read_by_rule", "answers_read"))
    read = unsaid + analysis.count("values")
    shares = {
        EMPTY: (sum(empty), "interviews", len(empty)),
        UNSAID: (unsaid, "values", read),
        BY_RULE: (rule, "answers", answers),
    }
    for name, (count, of, n) in shares.items():
        why_not = "no_model" if name == BY_RULE and rows["respondent"].eq("synthetic").all() else ""
        yield "", judged(name, count / n if n else None, {of: n}, why_not=why_not, rule=CHECKS[name].rule)
    yield from any_other(analysis, rows, humans)
