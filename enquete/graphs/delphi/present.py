"""The Delphi section of the report, the files of its phase, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.present_accord import accord
from enquete.graphs.delphi.present_dissent import disagreements
from enquete.graphs.delphi.present_ratings import (
    concordance,
    consensus,
    convergence,
    ranking,
    ratings,
    source,
    stability,
)
from enquete.graphs.delphi.words import WORDS
from enquete.locale import in_language
from enquete.reports.context import Files, ItemFacts
from enquete.reports.markdown import MISSING, escape, excerpt, number, of, quote, share, table
from enquete.reports.writing import records
from enquete.state.asking import Language


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1 with the answers that voice them, ratings of round 2, revisions after it, and what converged."""
    found: Mapping[str, Any] = findings
    revised = frame["round"].gt(2)
    kept = ("arms", "partial", "unit_of_inference", "rounds", "thresholds", "dimensions", "coding", "second_coding", "ratings",
            "convergence", "last_round", "unchanged", "concordance", "disagreements", "hold_outs",
            "medians_shown", "consensus", "ranking", "accord")  # fmt: skip
    return {
        "round1_themes.jsonl": found["themes"],
        "round2_ratings.jsonl": records(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": records(frame[revised]),
        "convergence.json": {key: found.get(key) for key in kept},
    }


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Mapping[str, Any] = findings
    words = in_language(WORDS, language)
    parts = [f"## {words['title']}", words["intro"], words["frame"], *_rounds(found, words)]
    if not found["themes"]:
        parts.append(words["no_themes"])
    else:
        parts += [
            *_themes(found, words, language),
            *_moved(found, words),
            *disagreements(found, words, language),
            *consensus(found, words, language),
            *ranking(found, words, language),
            *concordance(found, words, language),
        ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """What is long: every rating by theme and round, its convergence and stability, the second coding, the answers that
    voice the themes, and the reporting checklist."""
    found: Mapping[str, Any] = findings
    words = in_language(WORDS, language)
    if not found["themes"]:
        return ""
    parts = [
        *ratings(found, words, language),
        *convergence(found, words, language),
        *stability(found, words, language),
        *_codings(found, words, language),
        *_voices(found, words, language),
        *accord(found, language),
    ]
    return "\n\n".join(part for part in parts if part)


def _rounds(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    rows = [
        [number_, of(r["n_responded"], r["n_total"]), of(r["agents_responded"], r["agents_total"])]
        for number_, r in found["rounds"].items()
    ]
    yield f"### {words['rounds']}"
    yield table([words["round"], words["answers"], words["people"]], rows)
    yield source(words, "all_responses.csv, `methodology=delphi`")


def _themes(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [escape(t["label"]), escape(t["description"]) or MISSING, str(t["n_agents"]), str(t["n_statements"])]
        for t in found["themes"]
    ]
    yield f"### {words['themes']}"
    yield table([words["theme"], words["description"], words["voiced"], words["said"]], rows, numeric_from=2)
    uncoded = (found["coding"] or {}).get("uncoded")
    if uncoded:
        yield words["uncoded"].format(n=uncoded)
    yield from _second(found["second_coding"], words, language)
    yield source(words, "T1/delphi/round1_themes.jsonl")


def _second(again: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    """How far a second coding agrees, or that there is none."""
    if again["state"] != "done":
        yield words[f"second_{again['state']}"]
        return
    yield words["second"].format(
        n=again["n"], total=again["n_statements"], alpha=number(again["alpha"], language),
        same=share(again["identical_share"], language),
    )  # fmt: skip
    if again["n_uncoded"]:
        yield words["second_left"].format(n=again["n_uncoded"])


def _codings(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    again = found["second_coding"]
    if again["state"] != "done":
        return
    rows = [
        [escape(one["label"]), *(str(one[key]) for key in ("n_first", "n_second", "n_both")), number(one["alpha"], language)]
        for one in again["themes"]
    ]  # fmt: skip
    yield f"### {words['second_table']}"
    yield table([words["theme"], *(words[key] for key in ("first_n", "second_n", "both_n")), "α"], rows)
    yield source(words, "T1/delphi/convergence.json → second_coding")


def _voices(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    """Of each answer the sentence that voices the theme."""
    yield f"### {words['voices']}"
    for theme in found["themes"]:
        quoted, about = theme["quoted"], f"{theme['label']} {theme['description']}"
        if quoted:
            yield f"**{escape(theme['label'])}.** " + words["excerpt"].format(k=len(quoted), n=theme["n_statements"])
            yield "\n".join(quote(excerpt(one["text"], about), escape(one["name"]), language) for one in quoted)
    yield source(words, "T1/delphi/round1_themes.jsonl → statements, quoted")


def _moved(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """How much the revision changed at all."""
    same = found["unchanged"]
    if not found["convergence"]:
        yield words["no_revision"]
        return
    yield words["unchanged"].format(
        n=same["n_agents"], paired=same["n_agents_paired"], same=same["n_ratings"], ratings=same["n_ratings_paired"]
    )
    yield source(words, "T1/delphi/convergence.json → unchanged")
