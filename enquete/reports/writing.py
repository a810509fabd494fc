"""Rows of the response table: their columns and what these mean, and how result files are written: streamed, atomic,
the same bytes for the same content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TextIO

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

from enquete.ledger.folders import draft_of
from enquete.locale import N_
from enquete.reports.context import FileContent, Files, jsonable, plain
from enquete.reports.declarations import TableRows
from enquete.state.untrusted_input import as_cell, visible

COLUMNS = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "round", "turn",
    "participant", "agent_id", "agent_name", "stakeholder_type", "item_id", "family", "dimension", "reverse_keyed",
    "scale_min", "scale_max", "status", "value", "value_rekeyed", "choice", "chosen", "text", "content", "confidence",
    "memory_available", "baseline", "model", "temperature", "language", "elicitation", "distribution", "item_position",
    "option_order", "attempts", "prompt_hash", "instrument_hash", "asked_at", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
INTEGERS = (
    "round", "turn", "agent_id", "scale_min", "scale_max", "item_position", "attempts", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
ALWAYS = ("round", "turn", "attempts")
"""Those of them that every row has."""
NUMBERS = ("value", "value_rekeyed", "confidence", "temperature")
FLAGS = ("reverse_keyed", "memory_available")
TEXTS = tuple(name for name in COLUMNS if name not in {*INTEGERS, *NUMBERS, *FLAGS})
OCCASION = ["arm", "session", "round", "turn", "participant"]
ANSWER = [*OCCASION, "item_id"]


class ResponseRow(BaseModel):
    """One row of all_responses.csv. None is an empty cell: not applicable, or not known."""

    model_config = ConfigDict(strict=True, extra="allow")  # a methodology may append columns of its own

    sim_id: str
    run_id: str
    arm: str
    arm_role: Literal["main", "b", "replicate", "probe", "placebo", "variant", "human"]
    respondent: Literal["llm", "synthetic", "human", "replay"]
    methodology: str
    phase: str
    session: str
    round: int = Field(ge=0)
    turn: int = Field(ge=0)
    participant: str = Field(min_length=1)
    agent_id: int | None
    agent_name: str
    stakeholder_type: str
    item_id: str = Field(min_length=1)
    family: str
    dimension: str
    reverse_keyed: bool
    scale_min: int | None
    scale_max: int | None
    status: Literal["ok", "repaired", "refused", "invalid", "failed", "not_reached"]
    value: float | None = Field(allow_inf_nan=False)
    value_rekeyed: float | None = Field(allow_inf_nan=False)
    choice: str
    chosen: str
    text: str
    content: str
    confidence: float | None = Field(ge=0, le=1)
    memory_available: bool
    baseline: Literal["", "measured", "reconstructed"]
    model: str
    temperature: float | None
    language: Literal["de", "en"]
    elicitation: Literal["point", "distribution"]
    distribution: str
    item_position: int | None
    option_order: str
    attempts: int = Field(ge=0)
    prompt_hash: str
    instrument_hash: str
    asked_at: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None


# --- What the columns of all_responses.csv mean, and the statuses of a row --------------------------------------------

COLUMN_MEANINGS: Mapping[str, str] = {
    "sim_id": N_("simulation"), "run_id": N_("run that asked"), "arm": N_("condition of answering"),
    "arm_role": N_("role of the arm; choose `main` before any analysis"),
    "respondent": N_("who answered; `human`: a person, who is no agent and plays none"),
    "methodology": N_("methodology"), "phase": N_("T0 before, T1 after the simulation (or without one)"),
    "session": N_("conversation or discussion; empty where there is none"), "round": N_("round; 0 where there is none"),
    "turn": N_("turn of a conversation; 0 where there is none"), "participant": N_("stable id of the respondent"),
    "agent_id": N_("the simulation's own index"), "agent_name": N_("name"), "stakeholder_type": N_("stakeholder type"),
    "item_id": N_("item, see below"), "family": N_("family, theme or scenario of the item"),
    "dimension": N_("dimension of a rating"), "reverse_keyed": N_("reverse-keyed item"),
    "scale_min": N_("lowest scale point; empty for open questions"),
    "scale_max": N_("highest scale point; empty for open questions"),
    "status": N_("what became of the item, see below"), "value": N_("the number as answered"),
    "value_rekeyed": N_("min + max − value where reverse-keyed, else value"),
    "choice": N_("the option chosen; of a ranking the list, of best–worst {best, worst} (JSON)"),
    "chosen": N_("the same in the options' labels"), "text": N_("open answer, or the reason for a rating"),
    "content": N_("what a given answer lacks, see below; empty for all others"),
    "confidence": N_("self-reported confidence, 0–1"), "memory_available": N_("had a readable memory in this phase"),
    "baseline": N_("origin of T0, on T0 rows only"), "model": N_("model; empty where a person answered"),
    "temperature": N_("temperature as it was sent; empty where a person answered, or where the model takes none"),
    "language": N_("language of the interview"),
    "elicitation": N_("point answer or distribution"),
    "distribution": N_("probability of every option (a JSON object); empty for point answers. value then is the "
                       "median"),
    "item_position": N_("place in the order shown, from 1"),
    "option_order": N_("option values in the order shown (a JSON list)"),
    "attempts": N_("requests for the item's block; do not sum"), "prompt_hash": N_("hash of the block's first prompt"),
    "instrument_hash": N_("hash of the instrument"), "asked_at": N_("when the answer was stored (UTC)"),
    "latency_ms": N_("milliseconds for the block; do not sum"),
    "input_tokens": N_("input tokens of the block, on its first row only"),
    "output_tokens": N_("output tokens of the block, on its first row only"),
    "notes": N_("notes on the answer, separated by semicolons"),
}  # fmt: skip

OWN_COLUMN = N_("column of the methodology {methods}")

STATUS_MEANINGS: Mapping[str, str] = {
    "ok": N_("valid at once"), "repaired": N_("valid after asking again or mending"), "refused": N_("declined"),
    "invalid": N_("unreadable or off the scale in spite of asking again"), "failed": N_("the request failed"),
    "not_reached": N_("planned, not asked"),
}  # fmt: skip

CONTENT_MEANINGS: Mapping[str, str] = {
    "one_value": N_("nine in ten of the agent's answers to these items are the same"),
    "no_sentence": N_("no words, a placeholder, or words that go round in circles"),
    "refers_back": N_("refers to another answer (same as above)"),
    "same_text": N_("the agent's own answer to another item, word for word"),
    "repeats_scale": N_("nothing but options of the scale"),
    "repeats_question": N_("nothing but the question"),
    "other_language": N_("in another language than the interview"),
}


# --- Writing result files: streamed, atomic, the same bytes for the same content --------------------------------------

_SPECIAL = re.compile('[,"\r\n]')
"""What a cell is quoted for."""


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file to write to; readers see the old one until all is written, and still if writing fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_of(path)
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def records(frame: pd.DataFrame) -> Iterator[dict[str, JsonValue]]:
    """`rows` as JSON objects."""
    names = [str(name) for name in frame.columns]
    return (dict(zip(names, row, strict=True)) for row in rows(frame))


def rows(frame: pd.DataFrame, chunk: int = 5000) -> Iterator[tuple[JsonValue, ...]]:
    """Made as they are read: a large table is never a list. Missing is null; columns of INTEGERS are whole numbers."""
    for start in range(0, len(frame), chunk):
        piece = frame.iloc[start : start + chunk]
        yield from zip(*(_values(piece[name]) for name in frame.columns), strict=True)


def _values(column: pd.Series[Any]) -> list[Any]:
    values = plain(column)
    return [None if value is None else int(value) for value in values] if column.name in INTEGERS else values


def write_json(path: Path, value: object) -> None:
    """Indented, without NaN; of the lists of an object one element at a time. By pydantic: the standard library indents
    in Python, many times as slowly."""
    with replacing(path) as file:
        file.writelines(map(visible, _indented(value)))
        file.write("\n")


def _indented(value: object, line: str = "\n") -> Iterator[str]:
    """line: how a line begins where the value stands."""
    if isinstance(value, Mapping) and line == "\n" and value:
        for n, (name, of_name) in enumerate(value.items()):
            yield f"{',' if n else '{'}\n {to_json(name).decode()}: "
            yield from _indented(of_name, "\n ")
        yield "\n}"
    elif isinstance(value, list | TableRows):
        for n, element in enumerate(value):
            yield f"{',' if n else '['}{line} {_json(element, f'{line} ')}"
        yield f"{line}]" if len(value) else "[]"
    else:
        yield _json(value, line)


def _json(value: object, line: str) -> str:
    return to_json(value, indent=1, inf_nan_mode="null", fallback=jsonable).decode().replace("\n", line)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    with replacing(path) as file:
        file.writelines(_line(row) for row in rows)


def _line(row: Mapping[str, object]) -> str:
    return visible(to_json(row, inf_nan_mode="null", fallback=jsonable).decode()) + "\n"


def write_files(folder: Path, files: Files) -> None:
    """What `Evaluation.files` returned."""
    for name, content in files.items():
        write_file(folder / name, content)


def write_file(path: Path, content: FileContent) -> None:
    """One file of what `Evaluation.files` returned: a text as it is, an object as JSON, rows as JSONL, a frame as
    CSV."""
    if isinstance(content, str):
        with replacing(path) as file:
            file.write(content)
    elif isinstance(content, pd.DataFrame):
        write_csv(path, content)
    elif isinstance(content, Mapping):
        write_json(path, content)
    else:
        write_jsonl(path, content)


def write_csv(path: Path, frame: pd.DataFrame, chunk: int = 20_000, *, bom: bool = False) -> None:
    """UTF-8, RFC 4180: comma, CRLF, quotes where needed. Missing is an empty cell; numbers stay numbers. bom: for
    Excel.

    A text that a spreadsheet would execute gets a leading apostrophe; control characters are written out.
    """
    with replacing(path) as file:
        file.write("\ufeff" * bom + ",".join(map(_quoted, frame.columns)) + "\r\n")
        for start in range(0, len(frame), chunk):
            file.write(csv_rows(frame.iloc[start : start + chunk]))


def csv_rows(frame: pd.DataFrame) -> str:
    """Without a header. By hand: the standard library looks at every character of every cell."""
    lines = map(",".join, zip(*(_cells(frame[name]) for name in frame.columns), strict=True))
    return "".join((line or '""') + "\r\n" for line in lines)  # an only cell that is empty is no empty line


def _cells(column: pd.Series[Any]) -> list[str]:
    """A column as text; a column has few different values, and each is formatted once."""
    if pd.api.types.is_bool_dtype(column):
        return ["true" if value else "false" for value in column]
    values = _values(column)
    known = {value: "" if value is None else _quoted(_cell(value)) for value in set(values)}
    return [known[value] for value in values]


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""')) if _SPECIAL.search(text) else text


def _cell(value: object) -> str:
    if isinstance(value, str):
        return as_cell(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# --- Answers as JSONL: a line for what an agent was asked at once. What holds for the whole run stands in
# instruments_used.json,
# what holds for an item in codebook.json, and nowhere here; all of it on every row in all_responses.csv.

SHARED = (
    *OCCASION, "agent_id", "agent_name", "stakeholder_type", "respondent", "memory_available", "baseline", "attempts",
    "prompt_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens",
)  # fmt: skip
"""Columns that all answers of a line have in common; one that differs (asked again, say) stands by its answer too."""
OWN = ("status", "value", "choice", "text", "content", "confidence", "distribution", "item_position", "option_order")
NOTHING = (None, "", 0)
"""Left out of a line where its first row has them; of an answer only the first two, since 0 may be one."""


def lines(frame: pd.DataFrame) -> Iterator[dict[str, JsonValue]]:
    """One object a line, `answers` by item in the order shown.

    Left out: what is empty, the status "ok", a place that is that of the answer in its line, and options in ascending
    order.
    """
    shared = [name for name in SHARED if name in frame]
    columns = [name for name in OWN if name in frame] + [str(name) for name in frame.columns if name not in COLUMNS]
    beside = slice(1, 1 + len(shared))
    together = itemgetter(*(1 + shared.index(name) for name in (*OCCASION, "prompt_hash") if name in shared))
    for _, group in groupby(rows(frame[["item_id", *shared, *columns]]), key=together):
        block = list(group)
        first = block[0][beside]
        common = {name: value for name, value in zip(shared, first, strict=True) if value not in NOTHING}
        answers: dict[str, JsonValue] = {}
        for place, row in enumerate(block, start=1):
            answer = _answer(dict(zip(columns, row[beside.stop :], strict=True)), place)
            if row[beside] != first:
                its = zip(shared, row[beside], strict=True)
                answer |= {name: value for name, value in its if name in common and value != common[name]}
            answers[str(row[0])] = {name: value for name, value in answer.items() if value is not None and value != ""}
        yield {**common, "answers": answers}


def _answer(answer: dict[str, Any], place: int) -> dict[str, Any]:
    if answer["status"] == "ok":
        del answer["status"]
    if answer["item_position"] == place:
        del answer["item_position"]
    if _ascending(answer["option_order"]):
        del answer["option_order"]
    if isinstance(answer["value"], float) and answer["value"].is_integer():
        answer["value"] = int(answer["value"])
    return answer


@lru_cache(maxsize=2**12)
def _ascending(order: str | None) -> bool:
    options = json.loads(order) if order else []
    return all(isinstance(option, int) for option in options) and options == sorted(options)
