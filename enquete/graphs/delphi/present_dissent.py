"""The dissent map in words: what stays disputed, which groups stand on which side, and what hold-outs say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.delphi.present_ratings import labels, source
from enquete.reports.markdown import escape, number, quote, table
from enquete.reports.wording import dimension_name
from enquete.state.seam import Language

QUOTED = 5
DISPUTES = 20
"""Disputed ratings quoted in the report; all are in convergence.json."""

Found = Mapping[str, Any]
Words = Mapping[str, str]


def disagreements(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Nothing before a revision: who has not been asked again does not hold out."""
    if not found["convergence"]:
        return
    yield f"### {words['disagreements']}"
    disputed = found["disagreements"]
    if not disputed:
        yield words["none"]
    shown = sorted(disputed, key=lambda d: d["agreement"] if d["agreement"] is not None else 1.0)[:DISPUTES]
    if len(shown) < len(disputed):
        yield words["top_disputes"].format(n=len(shown), total=len(disputed))
    else:
        shown = disputed
    if disputed:
        yield words["rule"]
    yield _map(shown, found, words, language)
    for one in shown:
        yield _counts(one, found, words, language)
        for side in ("below", "above"):
            yield _camp(one[side], words[side], words, language)
    yield source(words, "T1/delphi/convergence.json → disagreements; round3_revisions.jsonl")


def _map(disputed: Sequence[Found], found: Found, words: Words, language: Language) -> str:
    """Disputed ratings × stakeholder types: how many stand below, above, and rated at all."""
    kinds = sorted({row["stakeholder_type"] for one in disputed for row in one["by_type"]})
    rows = []
    for one in disputed:
        own = {row["stakeholder_type"]: row for row in one["by_type"]}
        cells = [f"{own[k]['n_below']} / {own[k]['n_above']} / {own[k]['n_rated']}" if k in own else "–" for k in kinds]
        rows.append([_name(one, found, language), *cells])
    drawn = table([words["theme"], *map(escape, kinds)], rows)
    return f"{words['map']}:\n\n{drawn}" if drawn else ""


def _name(one: Found, found: Found, language: Language) -> str:
    return f"{labels(found)[one['theme']]}, {escape(dimension_name(one['dimension'], language))}"


def _counts(one: Found, found: Found, words: Words, language: Language) -> str:
    shown = one["median"] if one["median_shown"] is None else one["median_shown"]
    counts = words["out"].format(
        n=one["n_holding_out"], total=one["n_responded"], median=number(shown, language, 1), below=one["below"]["n"],
        above=one["above"]["n"],
    )  # fmt: skip
    held = words["held"].format(stayed=one["n_stayed"], distance=number(one["distance"], language, 1))
    figures = f"IQR {number(one['iqr'], language)}, A {number(one['agreement'], language)}"
    theme, _, dimension = _name(one, found, language).rpartition(", ")
    return f"**{theme}**, {dimension} ({figures}): {counts} {held}"


def _camp(camp: Found, side: str, words: Words, language: Language) -> str:
    if not camp["n"]:
        return ""
    lines = [f"{side[0].upper()}{side[1:]} ({camp['n']}; {escape(_by_type(camp['by_type']))}):", ""]
    for one in camp["quoted"][:QUOTED]:
        rated = number(one["value"], language, 0)
        if one["before"] is not None and one["before"] != one["value"]:
            rated += f" ({words['before'].format(value=number(one['before'], language, 0))})"
        who = f"{escape(one['name'])} ({escape(one['stakeholder_type'])}), {rated}"
        lines.append(quote(one["reason"], who, language) if one["reason"] else f"- {who}: *{words['no_reason']}*")
    return "\n".join(lines)


def _by_type(by_type: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in by_type.items())
