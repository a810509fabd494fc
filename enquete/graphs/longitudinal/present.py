"""The longitudinal section of the report, the files of its two phases, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.present_change import change_parts, source, statement
from enquete.graphs.longitudinal.words import WORDS
from enquete.locale import in_language
from enquete.reports.context import Files, ItemFacts
from enquete.reports.markdown import escape, number, of, quote, table
from enquete.reports.writing import records
from enquete.state.asking import Language


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Family, keying and scale of a closed item; the comment has none of them."""
    known = {item.item_id for item in instrument.items}
    if item_id not in known:
        return ItemFacts()
    scale = instrument.scale_of(item_id)
    return ItemFacts(
        family=instrument.family_of(item_id),
        reverse_keyed=instrument.reverse_coded(item_id),
        scale_min=scale.min,
        scale_max=scale.max,
    )


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """The files of one phase: its rows, and what concerns it of the findings. T1 holds the change."""
    found: Mapping[str, Any] = findings
    kept = {key: found.get(key) for key in ("arms", "baseline", "kind", "partial")}
    items: list[JsonValue] = [
        {**item, "waves": {w: d for w, d in item["waves"].items() if w == phase}} for item in found["items"]
    ]
    waves = {wave: counts for wave, counts in found["waves"].items() if wave == phase}
    aggregate: dict[str, JsonValue] = {**kept, "waves": waves, "items": items}
    if phase == "T1":
        aggregate |= {key: found.get(key) for key in ("pairing", "drift", "experience_effect")}
    return {"responses.jsonl": records(frame), "aggregate.json": aggregate}


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Mapping[str, Any] = findings
    words = in_language(WORDS, language)
    waves = list(found["waves"])
    asked = words["both"] if len(waves) == 2 else words[waves[0]]
    parts = [
        f"## {words['title']}",
        words["intro"].format(waves=asked),
        words["frame"],
        *_verdict(found, words),
        *_waves(found, words),
        *_items(found, words, language),
        *change_parts(found, words, language),
    ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """The open comments: too many to stand among the findings."""
    return "\n\n".join(part for part in _comments(findings, in_language(WORDS, language), language) if part)


def _rows(words: Mapping[str, str], where: str) -> str:
    return words["rows"].format(where=where)


def _verdict(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """What a difference between the waves may be called here, said before any figure."""
    if found["kind"] is None:
        yield words["one"]
    elif found["kind"] == "experience_effect":
        yield words["experience"]
    elif not found["drift"]["interpretable"]:
        yield words["incomparable"].format(reasons=escape("; ".join(found["drift"]["reasons"])))


def _waves(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    rows = [
        [wave, of(w["n_responded"], w["n_total"]), of(w["agents_responded"], w["agents_total"]),
         of(w["agents_with_memory"], w["agents_total"])]
        for wave, w in found["waves"].items()
    ]  # fmt: skip
    yield f"### {words['waves']}"
    yield table([words["wave"], words["answers"], words["people"], words["memory"]], rows)
    yield source(words, _rows(words, "methodology=longitudinal"))


def _items(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    waves = list(found["waves"])
    heads = [head for wave in waves for head in _wave_heads(wave, words)]
    rows = [
        [statement(item), *(cell for wave in waves for cell in _wave_cells(item, wave, language))]
        for item in found["items"]
    ]
    yield f"### {words['items']}"
    yield table([words["statement"], *heads], rows)
    yield source(words, f"{'; '.join(f'{w}/longitudinal/aggregate.json' for w in waves)} → items")


def _wave_heads(wave: str, words: Mapping[str, str]) -> list[str]:
    return [f"{wave} {words[head]}" for head in ("n", "mean", "median", "sd", "distribution")]


def _wave_cells(item: Mapping[str, Any], wave: str, language: Language) -> list[str]:
    described = item["waves"][wave]
    low, high = item["scale_min"], item["scale_max"]
    counts = " · ".join(str(n) for n in described["distribution"].values())
    return [
        of(described["n_responded"], described["n_total"]),
        number(described["mean"], language),
        number(described["median"], language, 1),
        number(described["sd"], language),
        f"{counts} ({low}–{high})" if counts else "–",
    ]


def _comments(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    comments = found["comments"]
    if not comments or not comments["waves"]:
        return
    yield f"### {words['comments']}"
    yield f"*{escape(comments['wording'])}*"
    for wave, said in comments["waves"].items():
        listed = said["listed"]
        yield words["listed"].format(n=len(listed), total=said["n_responded"], wave=wave, planned=said["n_total"])
        yield "\n".join(quote(c["text"], _who(c), language) for c in listed)
    yield source(words, _rows(words, f"item_id={comments['item']}"))


def _who(said: Mapping[str, Any]) -> str:
    return f"{escape(said['name'])} ({escape(said['stakeholder_type'])})"
