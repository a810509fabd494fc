"""The dissent map in words: what stays disputed, camps or hold-outs, which groups stand where, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.delphi.present_ratings import labels, source
from enquete.reports.markdown import escape, number, quote, table
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

QUOTED = 5
DISPUTES = 20
"""Disputed ratings quoted in the report; all are in convergence.json."""
AGAINST, QUOTED_AGAINST = 5, 2
"""Ratings without disagreement whose hold-outs are quoted, and how many of them a side."""
SIDES: Mapping[str, tuple[str, str]] = {"camps": ("lower", "upper"), "hold_outs": ("below", "above")}

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
    yield words["rule"].format(a=number(found["thresholds"]["polarised_below"], language, 1))
    yield _map(shown, found, words, language)
    for one in shown:
        yield from _stand(one, found, words, language, QUOTED)
    yield source(words, "T1/delphi/convergence.json → disagreements; round3_revisions.jsonl")
    yield from _against(found, words, language)


def _against(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Who holds out where the panel is not divided."""
    yield f"### {words['against']}"
    holding = found["hold_outs"]
    shown = sorted(holding, key=lambda one: -one["n_holding_out"])[:AGAINST]
    yield words["against_some"].format(n=len(holding), k=len(shown)) if holding else words["against_none"]
    for one in shown:
        yield from _stand(one, found, words, language, QUOTED_AGAINST)
    yield source(words, "T1/delphi/convergence.json → hold_outs")


def _map(disputed: Sequence[Found], found: Found, words: Words, language: Language) -> str:
    """Disputed ratings × stakeholder types: how many stand low, high, and rated at all."""
    kinds = sorted({row["stakeholder_type"] for one in disputed for row in one["by_type"]})
    rows = []
    for one in disputed:
        own = {row["stakeholder_type"]: row for row in one["by_type"]}
        cells = [f"{own[k]['n_below']} / {own[k]['n_above']} / {own[k]['n_rated']}" if k in own else "–" for k in kinds]
        rows.append([_name(one, found, language), words[f"stands_{one['kind']}"], *cells])
    drawn = table([words["theme"], words["stands"], *map(escape, kinds)], rows, numeric_from=2)
    return f"{words['map']}:\n\n{drawn}" if drawn else ""


def _name(one: Found, found: Found, language: Language) -> str:
    return f"{labels(found)[one['theme']]}, {escape(dimension_name(one['dimension'], language))}"


def _stand(one: Found, found: Found, words: Words, language: Language, quoted: int) -> Iterator[str]:
    """One rating: camps, hold-outs or neither, and both sides in their words."""
    yield _counts(one, found, words, language)
    for side, name in zip(("below", "above"), SIDES.get(one["kind"], ()), strict=False):
        yield _side(one[side], words[name], words, language, quoted)


def _counts(one: Found, found: Found, words: Words, language: Language) -> str:
    is_split = one["kind"] == "camps"
    counts = words[one["kind"]].format(
        n=one["n_holding_out"], total=one["n_responded"] if is_split else one["n_paired"], below=one["below"]["n"],
        above=one["above"]["n"], between=one["n_between"], stayed=one["below"]["n_stayed"] + one["above"]["n_stayed"],
        median=number(one["median_shown"], language, 1), distance=number(one["distance"], language, 1),
    )  # fmt: skip
    figures = f"IQR {number(one['iqr'], language)}, A {number(one['agreement'], language)}"
    theme, _, dimension = _name(one, found, language).rpartition(", ")
    return f"**{theme}**, {dimension} ({figures}): {counts}"


def _side(camp: Found, side: str, words: Words, language: Language, quoted: int) -> str:
    if not camp["n"]:
        return ""
    lines = [f"{side[0].upper()}{side[1:]} ({camp['n']}; {escape(_by_type(camp['by_type']))}):", ""]
    for one in camp["quoted"][:quoted]:
        rated = number(one["value"], language, 0)
        if one["before"] is not None and one["before"] != one["value"]:
            rated += f" ({words['before'].format(value=number(one['before'], language, 0))})"
        who = f"{escape(one['name'])} ({escape(one['stakeholder_type'])}), {rated}"
        lines.append(quote(one["reason"], who, language) if one["reason"] else f"- {who}: *{words['no_reason']}*")
    return "\n".join(lines)


def _by_type(by_type: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in by_type.items())
