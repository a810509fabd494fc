"""What is to be known of a run's answers beside what stands in their columns: statuses, instruments, and every item with its
wording, scale and labels in every language. The codebook (reports/files.py) holds it; here it is told as Markdown, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from enquete.locale import in_language, tell
from enquete.reports.run_reading import RunReading
from enquete.reports.table.columns import CONTENT_MEANINGS, STATUS_MEANINGS
from enquete.reports.table.items import Asked
from enquete.reports.templates import render
from enquete.respondents.kinds import KINDS
from enquete.state.asking import RESPONDED, Language


def about(reading: RunReading, asked: Sequence[Asked]) -> dict[str, Any]:
    """asked: of `items`, for every item of the table."""
    record = reading.record
    return {
        "sim_id": record.sim_id,
        "run_id": record.run_id,
        "language": record.language,
        "languages": sorted({language for one in asked for language in one.wording} or {record.language}),
        "fingerprint": record.fingerprint,
        "population_hash": record.population_hash,
        "statuses": [
            {
                "status": status,
                "answered": status in RESPONDED,
                "missing": status not in RESPONDED,
                "meaning": tell(meaning, reading.language),
            }
            for status, meaning in STATUS_MEANINGS.items()
        ],
        "contents": dict(in_language(CONTENT_MEANINGS, reading.language)),
        "instruments": [_instrument(reading, name) for name in record.instruments],
        "items": [item(one, record.instruments[one.methodology].hash) for one in asked],
    }


def _instrument(reading: RunReading, name: str) -> dict[str, Any]:
    used = reading.record.instruments[name]
    keys = ("instrument_id", "version", "languages", "language_default")
    return {
        "methodology": name,
        "hash": used.hash,
        "source": used.source,
        **{key: used.content.get(key) for key in keys},
    }


def item(one: Asked, instrument_hash: str) -> dict[str, Any]:
    """One item as the codebook keeps it."""
    scale = {"min": one.scale_min, "max": one.scale_max, "labels": one.labels} if one.scale_min is not None else None
    return {
        "item_id": one.item_id, "methodology": one.methodology, "phases": list(one.phases), "rounds": list(one.rounds),
        "kind": one.kind, "wording": one.wording, "about": one.about, "scale": scale,
        "options": one.labels if one.labels and scale is None else None, "reverse_keyed": one.reverse_keyed,
        "family": one.family, "family_label": one.family_label, "dimension": one.dimension,
        "asks_confidence": one.confidence, "asks_reason": one.reason, "instrument_hash": instrument_hash,
    }  # fmt: skip


def markdown(book: dict[str, Any], language: Language) -> str:
    """A codebook for reading, in the run's language; a table a file, one of items a methodology."""
    items: dict[str, list[dict[str, Any]]] = {}
    for one in book["items"]:
        items.setdefault(one["methodology"], []).append(one)
    return render(
        "enquete.reports.table:codebook.md.j2", language, **book, methodologies=items, kinds=KINDS,
        said=lambda texts: texts.get(language) or next(iter(texts.values()), {}),
    )  # fmt: skip
