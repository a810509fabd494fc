"""Instrument health of laddering: whether interviews gave concepts, who read and asked, and how answers were read."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from enquete.analysis.diagnostics import FREE, Diagnostic, Threshold, judged
from enquete.locale import N_
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other

BARREN, BY_RULE = "interviews_without_concepts", "work_by_rule"
EMPTY, INVENTED, UNREAD = "answers_without_concepts", "concepts_nobody_said", "answers_nobody_read"

CHECKS = {
    BARREN: OwnCheck(
        Threshold(
            "share of interviews with an answer of which no concept was read; bad if all", (None, 0.20), (None, 0.99),
            {"interviews": 1}, "one interview without any concept has nothing to show", "definition",
            "without concepts there is nothing to interpret; the bound of a caution is this project's proposal",
            "an interview that gives nothing is a gap that no status shows", decisive=True,
        ), "share", (N_("Interviews that gave no concept"), N_("What was said there is not in any map.")),
        {"too_few_interviews": N_("no interview has an answer")},
    ),
    BY_RULE: OwnCheck(
        Threshold(
            "share of the model's work (reading, judging, asking; a turn each) that a rule did", (None, 0.05), FREE,
            {"turns": 1}, "one turn is three pieces of work", "proposal", "no benchmark was found",
            "a rule reads connectives and keywords, not what was meant",
        ), "share",
        (N_("Work of the model that a rule did"), N_("A rule finds what connectives tell, not what was meant.")),
        {"no_model": N_("no model was to do it"), "too_few_turns": N_("no interview has an answer")},
    ),
    EMPTY: OwnCheck(
        Threshold(
            "share of answers that were read and gave no concept; bad if all", (None, 0.60), (None, 0.999),
            {"answers": 10}, "a few answers may well say nothing", "definition",
            "without concepts there is nothing to interpret; the bound of a caution is this project's proposal",
            "what extraction does not find is in no map", decisive=True,
        ), "share", (N_("Answers that gave no concept"), N_("Reading them found nothing, or they say nothing.")),
        {"too_few_answers": N_("fewer than ten answers were read")},
    ),
    INVENTED: OwnCheck(
        Threshold(
            "share of concepts read that were left out because the answer does not hold them", (None, 0.15), FREE,
            {"concepts": 10}, "one invention in a few concepts is a large share", "proposal", "no benchmark was found",
            "a model that invents much also invents what passes the check",
        ), "share",
        (
            N_("Concepts that nobody said"),
            N_("They are left out; the model that reads is not to be trusted with the rest."),
        ), {"too_few_concepts": N_("fewer than ten concepts were read")},
    ),
    UNREAD: OwnCheck(
        Threshold(
            "share of answers that nobody read", (None, 0.0), FREE, {"answers": 1}, "each answer is to be read",
            "definition", "reading is part of the method", "an answer that was not read is a gap that no status shows",
        ), "share", (N_("Answers that nobody read"), N_("What was said there is not in any map.")),
        {"too_few_answers": N_("no interview has an answer")},
    ),
}  # fmt: skip


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Yield whether interviews gave any concepts, whether the model or a rule read and asked, and how it was read."""
    n, n_barren = analysis.count("n"), analysis.count("n_barren")
    yield "", judged(BARREN, n_barren / n if n else None, {"interviews": n}, rule=CHECKS[BARREN].rule)
    yield "", _check_work(analysis, is_synthetic=bool(rows["respondent"].eq("synthetic").all()))
    yield from (("", check) for check in _check_reading(analysis))
    yield from any_other(analysis, rows, humans)


def _check_work(analysis: Analysis, *, is_synthetic: bool) -> Diagnostic:
    """Return the share of work that a rule did. A synthetic run has no model; any other is meant to have one."""
    by = [[int(n or 0) for n in analysis.column("work", name)] for name in ("model", "fallback", "rule")]
    done = [sum(works) for works in zip(*by, strict=True)]
    share = sum(by[2]) / sum(done) if sum(done) else None
    why_not = "no_model" if is_synthetic else ""
    return judged(BY_RULE, share, {"turns": max(done, default=0)}, why_not=why_not, rule=CHECKS[BY_RULE].rule)


def _check_reading(analysis: Analysis) -> Iterator[Diagnostic]:
    """Yield the shares of answers without concepts, of concepts nobody said, and of answers nobody read."""
    if analysis.figure("n_answers") is None:
        return
    answers, unread, empty, concepts, invented = (
        analysis.count(f"n_{name}") for name in ("answers", "unread", "empty", "found", "invented")
    )
    for name, part, whole, unit in (
        (EMPTY, empty, answers - unread, "answers"), (INVENTED, invented, concepts, "concepts"),
        (UNREAD, unread, answers, "answers"),
    ):  # fmt: skip
        yield judged(name, part / whole if whole else None, {unit: whole}, rule=CHECKS[name].rule)
