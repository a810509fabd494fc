"""The codebook of all_responses.csv: every column, item, scale, label, missing status and hash; as JSON and Markdown."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin

import pandas as pd

from enquete.locale import tell
from enquete.reports.run_reading import RunReading
from enquete.reports.table.columns import COLUMN_MEANINGS, CONTENT_MEANINGS, OWN_COLUMN, STATUS_MEANINGS
from enquete.reports.table.items import Asked
from enquete.reports.table.row import COLUMNS, ResponseRow
from enquete.reports.templates import render
from enquete.respondents.kinds import KINDS
from enquete.state.asking import RESPONDED, Language

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def codebook(reading: RunReading, frame: pd.DataFrame, asked: Sequence[Asked]) -> dict[str, Any]:
    """Everything needed to read the table without Enquete. asked: of `items`, for every item of the table."""
    record = reading.record
    return {
        "table": "all_responses.csv",
        "sim_id": record.sim_id,
        "run_id": record.run_id,
        "language": record.language,
        "languages": sorted({language for one in asked for language in one.wording} or {record.language}),
        "fingerprint": record.fingerprint,
        "population_hash": record.population_hash,
        "key": ["run_id", "arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id"],
        "columns": [column(reading, str(name)) for name in frame.columns],
        "statuses": [
            {
                "status": status,
                "answered": status in RESPONDED,
                "missing": status not in RESPONDED,
                "meaning": tell(meaning, reading.language),
            }
            for status, meaning in STATUS_MEANINGS.items()
        ],
        "contents": {code: tell(meaning, record.language) for code, meaning in CONTENT_MEANINGS.items()},
        "instruments": [_instrument(reading, name) for name in record.instruments],
        "items": [item(one, record.instruments[one.methodology].hash) for one in asked],
    }


def column(reading: RunReading, name: str) -> dict[str, Any]:
    """Name, type, allowed values and meaning of one column; whose own it is where a methodology appended it."""
    field = ResponseRow.model_fields.get(name)
    kind, values, nullable = _typed(field.annotation) if field else ("any", [], True)
    owners = [m for m in reading.record.methods if name in reading.methodology(m).answer_columns]
    described = {"name": name, "type": kind, "may_be_empty": nullable or kind == "string", "values": values}
    return {
        **described,
        "methodologies": [] if name in COLUMNS else owners,
        "meaning": _meaning(name, owners, reading.language),
    }


def _meaning(name: str, owners: Sequence[str], language: Language) -> str:
    if name in COLUMN_MEANINGS:
        return tell(COLUMN_MEANINGS[name], language)
    return tell(OWN_COLUMN, language).format(methods=", ".join(owners))


def _typed(annotation: Any) -> tuple[str, list[str], bool]:
    """Type, the values it is limited to, and whether it may be missing."""
    if get_origin(annotation) is Literal:
        return "string", [str(value) for value in get_args(annotation)], "" in get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        inner = next(one for one in get_args(annotation) if one is not type(None))
        return _typed(inner)[0], _typed(inner)[1], True
    return _TYPES[annotation], [], False


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
    """The codebook for reading, in the run's language; one table of items a methodology."""
    items: dict[str, list[dict[str, Any]]] = {}
    for one in book["items"]:
        items.setdefault(one["methodology"], []).append(one)
    return render(
        "enquete.reports.table:codebook.md.j2", language, **book, methodologies=items, kinds=KINDS,
        said=lambda texts: texts.get(language) or next(iter(texts.values()), {}),
    )  # fmt: skip
