"""The ACCORD checklist as a table: what is asked for, what the run answers, what is left to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from enquete.graphs.delphi.accord_words import ANSWERED, ASKED, LABELS
from enquete.graphs.delphi.present_ratings import source
from enquete.graphs.delphi.words import WORDS
from enquete.locale import in_language
from enquete.reports.markdown import MISSING, escape, number, table
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language


def accord(found: Mapping[str, Any], language: Language) -> Iterator[str]:
    """All 35 items in their order."""
    words, items = in_language(LABELS, language), found["accord"]["items"]
    facts = _facts(found, language)
    rows = [
        [one["item"], in_language(ASKED, language)[one["item"]], words[one["state"]], _answer(one, facts, language)]
        for one in items
    ]
    states = Counter(one["state"] for one in items)
    counts = {state: states[state] for state in ("filled", "partly", "not_applicable", "open")}
    yield f"### {words['title']}"
    yield words["intro"].format(**counts)
    yield table([words[key] for key in ("item", "asks", "state", "answer")], rows, numeric_from=4)
    yield source(in_language(WORDS, language), "T1/delphi/convergence.json → accord")


def _answer(one: Mapping[str, str], facts: Mapping[str, str], language: Language) -> str:
    if one["state"] == "open":
        return MISSING
    return in_language(ANSWERED, language)[one["item"]].format(**facts)


def _facts(found: Mapping[str, Any], language: Language) -> dict[str, str]:
    """What the answers are filled with, as Markdown; what the run does not know is said to be unknown."""
    words, facts, limits, again = (
        in_language(LABELS, language),
        found["accord"]["facts"],
        found["thresholds"],
        found["second_coding"],
    )
    alpha = again.get("alpha")
    counted = {key: str(value) if value is not None else words["unknown"] for key, value in facts.items()}
    listed = {
        key: escape(", ".join(facts[key])) or words["unknown"] for key in ("instrument_hash", "models", "respondents")
    }
    return {
        **counted,
        **listed,
        **{key: number(float(value), language, 1) for key, value in limits.items()},
        "topic": escape(facts["topic"]),
        "types": escape(", ".join(f"{kind} {n}" for kind, n in facts["types"].items())),
        "dimensions": _dimensions(found, language),
        "coder": words["coder"],
        "alpha": words["no_alpha"] if alpha is None else words["alpha"].format(alpha=number(alpha, language)),
        "times": _sentence(words["time"], [one for one in facts["rounds"] if one["first"]]) or words["no_times"],
        "responses": _sentence(words["response"], facts["rounds"]),
    }


def _dimensions(found: Mapping[str, Any], language: Language) -> str:
    return escape(", ".join(
        f"{dimension_name(one['dimension'], language)} {one['scale_min']}–{one['scale_max']}" for one in found["dimensions"]
    ))  # fmt: skip


def _sentence(template: str, rounds: list[dict[str, Any]]) -> str:
    text = "; ".join(template.format(**one) for one in rounds)
    return escape(text[:1].upper() + text[1:])
