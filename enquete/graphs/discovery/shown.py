"""What the templates of the section and the appendix are given beside the findings: what each field holds, in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from enquete.graphs.discovery.findings import read_by_rule
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.markdown import escape, number
from enquete.state.asking import Language

TRANSCRIPTS, NAMED = 3, 3
"""Interviews told verbatim, and values of a field in the section; all are in the files."""

YES = N_("yes: {n} of {total}")
MEDIAN = N_("median {median}{unit} ({low} to {high})")
PROBLEMS = {
    "unknown": N_("fields that the schema does not have"),
    "unfit": N_("values that do not fit their field"),
    "not_said": N_("values that nobody said"),
}


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    read, answers = read_by_rule(found)
    records = listed(found, "records")
    first = [str(one["participant"]) for one in records[:TRANSCRIPTS]]
    turns = [[turn for turn in listed(found, "turns") if turn["participant"] == unit] for unit in first]
    return {
        "n": at(found, "interviews", "begun"),
        "by_rule": {"read": read, "answers": answers},
        "fields": [{**one, "told": _told(one, language)} for one in listed(found, "fields") if one["type"] != "object"],
        "questions": sum(int(one["questions"]) for one in records) / len(records) if records else None,
        "against": [{"name": one["name"], **each} for one in records for each in one["contradictions"]],
        "left_out": [(tell(PROBLEMS[kind], language), n) for kind, n in (at(found, "problems") or {}).items()],
        "transcripts": [(own[0]["name"], own) for own in turns if own],
    }


def _told(one: Mapping[str, Any], language: Language) -> str:
    """Escaped."""
    if not one["n_known"]:
        return ""
    if one["type"] == "boolean":
        return tell(YES, language).format(n=one["n_yes"], total=one["n_known"])
    if one["type"] == "number":
        parts = {key: number(one[key], language, 1) for key in ("median", "low", "high")}
        return tell(MEDIAN, language).format(unit=f" {escape(one['unit'])}" if one["unit"] else "", **parts)
    return "; ".join(f"{escape(each['value'])} ({each['agents']})" for each in one["named"][:NAMED])
