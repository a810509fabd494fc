"""What a run gives away as files that people open: its answers, agents, items and declared tables, each with what it
means.

A `DataFile` says of a frame what all formats and the codebook need: names, types, labels, codes, keys, references.
Formats (reports/file_formats.py) write it, `descriptor` describes it as a Data Package. Measured by: every format is
read back by its own library with the same values, and frictionless finds package and files valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.locale import N_, in_language, tell
from enquete.reports.declarations import Column, Table
from enquete.reports.responses import AskedItem
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Results, render
from enquete.reports.writing import (
    ANSWER,
    COLUMN_MEANINGS,
    COLUMNS,
    CONTENT_MEANINGS,
    OWN_COLUMN,
    STATUS_MEANINGS,
    ResponseRow,
)
from enquete.respondents.kinds import KINDS
from enquete.state.asking import RESPONDED, Language
from enquete.state.data_formats import Layout

if TYPE_CHECKING:
    from enquete.reports.analyses import AgentTable


Type = Literal["integer", "number", "boolean", "string", "array", "any"]
MISSING = tuple(status for status in STATUS_MEANINGS if status not in RESPONDED)
"""Why an answer is missing, in the order of their codes in SPSS files."""

TYPES: Mapping[str, Type] = {
    "integer": "integer", "number": "number", "share": "number", "p": "number", "flag": "boolean", "list": "array",
    "json": "any",
}  # fmt: skip
"""Of declared columns; all others are texts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A column of a file. label: its name for readers; means: for the codebook, the label where nothing is said.

    levels: what may stand in it and nothing else, with words, in order. names: what values are called, of which others
    may occur. ordered: its levels or values are steps. lowest, highest: of numbers. required: never missing. about:
    further members of its codebook entry.
    """

    name: str
    label: str
    type: Type = "string"
    means: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[Any, str] = field(default_factory=dict)
    ordered: bool = False
    digits: int | None = None
    lowest: float | None = None
    highest: float | None = None
    required: bool = False
    about: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reference:
    """Columns whose values stand in columns of another file."""

    columns: tuple[str, ...]
    file: str
    targets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """name: "all_responses", or "delphi.ratings" in a methodology's folder. variables: of the frame's columns, in their
    order.
    reasons: of a column with answers, the status of every row; where a value is missing it says why."""

    name: str
    title: str
    frame: pd.DataFrame
    variables: Sequence[Variable]
    key: tuple[str, ...]
    means: str = ""
    references: Sequence[Reference] = ()
    reasons: Mapping[str, pd.Series[Any]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Below the folder of the package, without the ending."""
        return self.name.replace(".", "/", 1)


def data_files(
    reading: RunReading,
    frame: pd.DataFrame,
    asked: Sequence[AskedItem],
    agents: AgentTable,
    results: Mapping[str, Results],
    layout: Layout = "both",
) -> Iterator[DataFile]:
    """All that a run has to give, each made when it is its turn: a large study is never in memory twice.

    frame: the response table, plain or not. results: of methodologies that declare tables; others have their answers
    alone.
    layout: how answers stand: a row an answer, a row an agent, or both.
    """
    language = reading.language
    yield agents_file(agents, reading)
    yield items_file(asked, language)
    known = pd.Index(agents.table.index)
    if layout != "wide":
        yield answers_file(reading, frame, frame.columns, known)
    for name in reading.record.methods:
        rows = frame["methodology"].eq(name).to_numpy()
        title = tell(reading.methodology(name).title, language)
        if rows.any() and layout == "both" and not rows.all():
            own = reading.methodology(name).procedure.answer_columns
            columns = [column for column in frame if column in COLUMNS or column in own]
            yield replace(  # not "answers", which a methodology's own table may be called
                answers_file(reading, frame.loc[rows, columns], columns, known), name=f"{name}.long",
                title=tell(N_("{methodology}: answers"), language).format(methodology=title),
            )  # fmt: skip
        if rows.any() and layout != "long":
            items = [item for item in asked if item.methodology == name]
            yield from wide_files(name, title, frame[rows], items, language)
        if name in results:
            yield from declared_files(results[name], title, known)


# --- answers ----------------------------------------------------------------------------------------------------------


ANSWERS = N_(
    "One row for every planned answer, whatever became of it. All arms: choose arm_role = main before counting."
)
WIDE = N_("A row an agent and arm, a column an item. Why an answer is missing stands in all_responses as its status.")
NAMED = (N_("{methodology}: {phase}, a row an agent"), N_("{methodology}: {phase}, round {round}, a row an agent"))


def answers_file(reading: RunReading, frame: pd.DataFrame, columns: Iterable[Any], agents: pd.Index[Any]) -> DataFile:
    """A row an answer, also one that is missing."""
    language = reading.language
    references = [Reference(("methodology", "item_id"), "items", ("methodology", "item_id"))]
    if frame["participant"].isin(agents).all():
        references.append(Reference(("participant",), "agents", ("participant",)))
    return DataFile(
        name="all_responses", title=tell(N_("All answers"), language), frame=frame, means=tell(ANSWERS, language),
        variables=[answer_variable(reading, str(name)) for name in columns],
        key=("run_id", "arm", "methodology", "phase", *ANSWER[1:]), references=references,
        reasons=dict.fromkeys(("value", "value_rekeyed"), frame["status"]),
    )  # fmt: skip


def answer_variable(reading: RunReading, name: str) -> Variable:
    """A column of all_responses as its row declares it; one that a methodology appended is a text."""
    told = COLUMN_MEANINGS.get(name)
    if name not in ResponseRow.model_fields:
        owners = ", ".join(
            method for method in reading.record.methods if name in reading.methodology(method).procedure.answer_columns
        )
        means = tell(told or OWN_COLUMN, reading.language).format(methods=owners)
        return Variable(name=name, label=name, means=means)
    annotation = ResponseRow.model_fields[name].annotation
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    levels: dict[str, str] = {}
    if get_origin(annotation) is Literal:
        levels = {
            code: tell(STATUS_MEANINGS.get(code, code), reading.language) for code in get_args(annotation) if code
        }
    names = {"stakeholder_type": reading.type_names, "content": in_language(CONTENT_MEANINGS, reading.language)}
    kind = "string" if levels else ROW_TYPES[parts[0]]
    lowest, highest = (0, 1) if name == "confidence" else (None, None)
    return Variable(
        name=name, label=tell(told or name, reading.language), type=kind, levels=levels,
        names=dict(names.get(name, {})),
        required=NoneType not in parts and kind != "string", lowest=lowest, highest=highest,
    )  # fmt: skip


ROW_TYPES: Mapping[Any, Type] = {str: "string", int: "integer", float: "number", bool: "boolean"}

WHO = ("run_id", "arm", "arm_role", "session", "participant", "agent_name", "stakeholder_type")
"""Leading columns of a wide file; its rows are told apart by arm, session and participant."""


def wide_files(
    methodology: str, title: str, rows: pd.DataFrame, asked: Sequence[AskedItem], language: Language
) -> Iterator[DataFile]:
    """Participants × items, a file for every phase and round."""
    by_id = {item.item_id: item for item in asked}
    where, starts = _numbered(rows, ("phase", "round"))
    for place, start in enumerate(starts):
        phase, number = str(rows["phase"].iloc[start]), int(rows["round"].iloc[start])
        part = f"{phase}_round{number}" if number else phase
        named = tell(NAMED[bool(number)], language).format(methodology=title, phase=phase, round=number)
        yield _wide(f"{methodology}.wide_{part}", named, rows[where == place], by_id, language)


def _wide(name: str, title: str, rows: pd.DataFrame, asked: Mapping[str, AskedItem], language: Language) -> DataFile:
    who, first = _numbered(rows, ("arm", "session", "participant"))
    people = rows.iloc[first]
    turns = rows.duplicated(["arm", "session", "participant", "item_id"]).any()
    what, starts = _numbered(rows, ("item_id", "turn") if turns else ("item_id",))
    heads = list(zip(rows["item_id"].iloc[starts], rows["turn"].iloc[starts], strict=True))
    order = np.argsort(what, kind="stable")
    bounds = np.searchsorted(what[order], np.arange(len(heads) + 1))
    taken: set[str] = set(WHO)
    columns: dict[str, Any] = {
        column: people[column].to_numpy() for column in WHO if column != "session" or people[column].ne("").any()
    }
    variables = [Variable(name=name, label=name, means=tell(COLUMN_MEANINGS[name], language)) for name in columns]
    reasons: dict[str, pd.Series[Any]] = {}
    for place, (item, turn) in enumerate(heads):
        at = order[bounds[place] : bounds[place + 1]]
        question = asked.get(item) or AskedItem("", item, "")
        stem = plain_name(f"{item}_turn{turn}" if turns else item, taken)
        answers = rows.iloc[at]
        for variable, values in _cells(stem, question, answers, taken, language):
            filled = np.full(len(people), np.nan) if variable.type == "number" else np.full(len(people), None)
            filled[who[at]] = values
            columns[variable.name] = filled
            variables.append(replace(variable, about={"item_id": item, **({"turn": int(turn)} if turns else {})}))
        why = np.full(len(people), None, dtype=object)
        why[who[at]] = answers["status"].to_numpy()
        reasons[stem] = pd.Series(pd.Categorical(why, categories=list(STATUS_MEANINGS)))
    key = tuple(column for column in ("arm", "session", "participant") if column in columns)
    return DataFile(
        name=name, title=title, frame=pd.DataFrame(columns, copy=False), variables=variables, key=key,
        means=tell(WIDE, language), reasons=reasons,
    )  # fmt: skip


def _cells(
    stem: str, item: AskedItem, answers: pd.DataFrame, taken: set[str], language: Language
) -> Iterator[tuple[Variable, Any]]:
    """The answer to an item; with the reason for it and how confident it is, where these were asked for."""
    label = item.text(language)
    labels = item.labels.get(language) or next(iter(item.labels.values()), {})
    valued = answers["value"].notna().any()
    if item.scale_min is not None or item.kind in ("scale", "number") or (not item.kind and valued):
        points = {float(value): text for value, text in labels.items() if _is_number(value)}
        variable = Variable(
            name=stem, label=label, type="number", names=points, ordered=item.scale_min is not None,
            lowest=item.scale_min,
            highest=item.scale_max,
            means=f"{label} ({tell(N_('reverse-keyed, as answered'), language)})" if item.reverse_keyed else "",
        )  # fmt: skip
        yield variable, answers["value"].to_numpy(dtype=float)
    elif item.kind not in ("", "text") or answers["choice"].ne("").any():
        others = {str(value): str(value) for value in answers["choice"].unique() if value and value not in labels}
        levels = {**labels, **others}
        variable = Variable(name=stem, label=label, levels=levels if item.kind == "choice" else {})
        yield variable, answers["choice"].to_numpy(dtype=object)
    else:
        yield Variable(name=stem, label=label), answers["text"].to_numpy(dtype=object)
        return
    if answers["text"].ne("").any():
        reason = Variable(name=plain_name(f"{stem}_reason", taken), label=f"{label} ({tell(N_('reason'), language)})")
        yield reason, answers["text"].to_numpy(dtype=object)
    if answers["confidence"].notna().any():
        name, told = plain_name(f"{stem}_confidence", taken), f"{label} ({tell(N_('confidence'), language)})"
        sure = Variable(name=name, label=told, type="number", lowest=0, highest=1)
        yield sure, answers["confidence"].to_numpy(dtype=float)


def _numbered(rows: pd.DataFrame, keys: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Of each row the number of what it has in these columns, and where each of these first comes."""
    numbers = rows.groupby(list(keys), sort=False, observed=True, dropna=False).ngroup().to_numpy()
    return numbers, np.unique(numbers, return_index=True)[1]


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


_NO_NAME = re.compile(r"\W+")
RESERVED = frozenset({"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"})
"""What SPSS calls nothing by."""
LONGEST_NAME = 60
"""Bytes; SPSS takes 64."""


def plain_name(wanted: str, taken: set[str]) -> str:
    """A name that every program takes: letters, digits and underscores, none twice, case apart. It is taken then."""
    name = _NO_NAME.sub("_", wanted).strip("_") or "v"
    name = name if name[0].isalpha() else f"v{name}"
    name = f"{name}_" if name.lower() in RESERVED else name
    name = name.encode()[:LONGEST_NAME].decode(errors="ignore")
    known, made, number = {other.lower() for other in taken}, name, 1
    while made.lower() in known:
        number += 1
        made = f"{name[: LONGEST_NAME - 8]}_{number}"
    taken.add(made)
    return made


# --- agents and items -------------------------------------------------------------------------------------------------

AGENT_COLUMNS: Mapping[str, tuple[Type, str]] = {
    "participant": ("string", COLUMN_MEANINGS["participant"]), "agent_id": ("integer", COLUMN_MEANINGS["agent_id"]),
    "agent_name": ("string", COLUMN_MEANINGS["agent_name"]),
    "stakeholder_type": ("string", COLUMN_MEANINGS["stakeholder_type"]),
    "memory_available": ("boolean", COLUMN_MEANINGS["memory_available"]),
    "n_answered": ("integer", N_("answers given")),
    "n_planned": ("integer", N_("answers planned")),
}  # fmt: skip


def agents_file(agents: AgentTable, reading: RunReading) -> DataFile:
    """A row an agent: who it is, what each methodology found of it, what a personas file says of it."""
    language = reading.language
    frame = agents.table.reset_index(names="participant")
    made = []
    for name in map(str, frame):
        agent_column = next((column for column in agents.columns if column.column == name), None)
        if name in AGENT_COLUMNS:
            kind, means = AGENT_COLUMNS[name]
            names = reading.type_names if name == "stakeholder_type" else {}
            made.append(Variable(name=name, label=tell(means, language), type=kind, names=dict(names)))
        elif agent_column is not None:
            made.append(Variable(name=name, label=agent_column.name, type=_type_of(frame[name])))
        else:
            means = tell(N_("column of the personas file"), language)
            made.append(Variable(name=name, label=name, means=means, type=_type_of(frame[name])))
    title = tell(N_("Agents"), language)
    return DataFile(name="agents", title=title, frame=frame, variables=made, key=("participant",))


def _type_of(values: pd.Series[Any]) -> Type:
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_integer_dtype(values):
        return "integer"
    return "number" if pd.api.types.is_numeric_dtype(values) else "string"


ITEM_COLUMNS: Mapping[str, tuple[Type, str]] = {
    "methodology": ("string", N_("methodology")), "item_id": ("string", N_("id of the item")),
    "kind": ("string", N_("kind of question")),
    "wording": ("string", N_("wording")), "about": ("string", N_("what is rated")),
    "family": ("string", COLUMN_MEANINGS["family"]),
    "dimension": ("string", COLUMN_MEANINGS["dimension"]),
    "reverse_keyed": ("boolean", COLUMN_MEANINGS["reverse_keyed"]),
    "scale_min": ("integer", COLUMN_MEANINGS["scale_min"]), "scale_max": ("integer", COLUMN_MEANINGS["scale_max"]),
    "phases": ("array", N_("phases")), "rounds": ("array", N_("rounds")),
}  # fmt: skip


def items_file(asked: Sequence[AskedItem], language: Language) -> DataFile:
    """A row an item, in the run's language; all languages and labels are in the codebook."""
    rows = [
        {name: item.text(language) if name == "wording" else getattr(item, name) for name in ITEM_COLUMNS}
        for item in asked
    ]
    frame = pd.DataFrame(rows, columns=list(ITEM_COLUMNS)).astype({"scale_min": "Int64", "scale_max": "Int64"})
    variables = [
        Variable(name=name, label=tell(means, language), type=kind) for name, (kind, means) in ITEM_COLUMNS.items()
    ]
    key = ("methodology", "item_id")
    return DataFile(name="items", title=tell(N_("Items"), language), frame=frame, variables=variables, key=key)


# --- declared tables --------------------------------------------------------------------------------------------------


def declared_files(results: Results, title: str, agents: pd.Index[Any]) -> Iterator[DataFile]:
    """Tables that are declared as files, and facts in one row; those without rows are left out."""
    name, frames = results.methodology, results.analysis.tables
    facts = [fact for fact in results.presentation.facts.values() if fact.stored]
    if facts:
        row = pd.DataFrame([[results.facts.get(fact.name) for fact in facts]], dtype=object)
        row.columns = pd.Index([fact.name for fact in facts])
        yield DataFile(
            name=f"{name}.facts", title=f"{title}: {tell(N_('single facts'), results.language)}", frame=row,
            variables=[_variable(results, fact, row) for fact in facts], key=(),
        )  # fmt: skip
    for table in results.presentation.tables.values():
        frame = frames[table.name]
        if table.files and len(frame):
            yield DataFile(
                name=f"{name}.{table.name}", title=f"{title}: {_told(results, table.title)}", frame=frame,
                key=table.key, means=_told(results, table.note) if table.note else "",
                variables=[_variable(results, column, frame, table.stored) for column in table.stored],
                references=list(_references(results, table, agents)),
            )  # fmt: skip


def _variable(results: Results, column: Column, frame: pd.DataFrame, others: Iterable[Column] = ()) -> Variable:
    levels: dict[str, str] = {}
    names: dict[Any, str] = {}
    single = replace(column, format="code" if column.levels else "reference") if column.format == "list" else column
    if column.levels is not None:
        levels = {level: results.cell(single, {column.name: level}) for level in column.levels}
    elif column.to in ("group", "dimension", "methodology") and column.format != "list":
        values = frame[column.name].dropna().unique()
        names = {str(value): results.cell(column, {column.name: value}) for value in values}
    kind = TYPES.get(column.format, "string")
    lowest, highest = (0, 1) if column.format == "p" else (None, None)
    return Variable(
        name=column.name, label=_told(results, column.label, others), type=kind,
        means=_told(results, column.means, others) if column.means else "", levels=levels, names=names,
        ordered=column.levels is not None, digits=column.digits if kind == "number" else None, lowest=lowest,
        highest=highest,
    )  # fmt: skip


def _told(results: Results, says: str, columns: Iterable[Column] = ()) -> str:
    """Labels and notes may name facts; a label whose values are told apart by a key, that column: “desirability of
    (scenario)”."""
    others = {column.name: f"({tell(column.label, results.language)})" for column in columns if "{" not in column.label}
    return results.fill(says, {**others, **results.facts}, results.presentation.facts, markdown=False)


def _references(results: Results, table: Table, agents: pd.Index[Any]) -> Iterator[Reference]:
    """Of columns whose values all stand in the file that they refer to: a table may name who or what is in none."""
    frame = results.analysis.tables[table.name]
    for column in table.stored:
        if not column.to or column.format == "list" or column.to == table.name:
            continue
        values = frame[column.name].dropna()
        if column.to == "agent" and values.isin(agents).all():
            yield Reference((column.name,), "agents", ("participant",))
        elif column.to in results.presentation.tables:
            other = results.presentation.tables[column.to]
            known = results.analysis.tables[column.to]
            if other.files and len(other.key) == 1 and len(known) and values.isin(known[other.key[0]]).all():
                yield Reference((column.name,), f"{results.methodology}.{other.name}", other.key)


# --- the codebook -----------------------------------------------------------------------------------------------------


def resource(file: DataFile, path: str) -> dict[str, JsonValue]:
    """A file as a Data Package describes it. The format adds what is its own."""
    fields: list[JsonValue] = [_field(file, column) for column in file.variables]
    schema: dict[str, JsonValue] = {"fields": fields, "missingValues": [""]}
    if file.key:
        schema["primaryKey"] = list(file.key)
    if file.references:
        schema["foreignKeys"] = [
            {"fields": list(to.columns), "reference": {"resource": to.file, "fields": list(to.targets)}}
            for to in file.references
        ]
    return {
        "name": file.name, "type": "table", "path": path, "title": file.title,
        **({"description": file.means} if file.means else {}), "schema": schema,
    }  # fmt: skip


def _field(file: DataFile, column: Variable) -> dict[str, JsonValue]:
    limits: dict[str, JsonValue] = {}
    if column.levels and column.type == "string":
        limits["enum"] = list(column.levels)
    if column.lowest is not None:
        limits["minimum"] = column.lowest
    if column.highest is not None:
        limits["maximum"] = column.highest
    if len(file.key) == 1 and column.name == file.key[0]:
        limits |= {"required": True, "unique": True}
    elif column.required:
        limits["required"] = True
    called = {**column.levels, **column.names}
    means = column.means or column.label
    described: dict[str, JsonValue] = {
        "name": column.name, "type": column.type, "title": column.label, "description": means
    }  # fmt: skip
    if limits:
        described["constraints"] = limits
    if called:
        described["categories"] = [{"value": _whole(value), "label": label} for value, label in called.items()]
    if column.ordered and called:
        described["categoriesOrdered"] = True
    return {**described, **column.about}


def _whole(value: Any) -> JsonValue:
    return int(value) if isinstance(value, float) and value.is_integer() else value


PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"


def descriptor(
    reading: RunReading, asked: Sequence[AskedItem], resources: Sequence[Mapping[str, JsonValue]]
) -> dict[str, Any]:
    """A Data Package of these files, and what else is to be known of the run's table: statuses, instruments, items with
    their wording in every language. References to files that are not in it are left out."""
    names = {resource["name"] for resource in resources}
    record, language = reading.record, reading.language
    return {
        "$schema": PROFILE, "name": record.run_id.lower(),
        "title": tell(N_("Data of run {run}"), language).format(run=record.run_id),
        "description": tell(N_("In CSV files a text that a spreadsheet would run as a formula has an apostrophe before "
            "it."), language),
        **about(reading, asked), "resources": [_within(resource, names) for resource in resources],
    }  # fmt: skip


def _within(resource: Mapping[str, JsonValue], names: set[JsonValue]) -> dict[str, Any]:
    schema: Mapping[str, Any] = resource["schema"]  # type: ignore[assignment]
    kept = [each for each in schema.get("foreignKeys", []) if each["reference"]["resource"] in names]
    rest = {key: value for key, value in schema.items() if key != "foreignKeys"}
    return {**resource, "schema": {**rest, **({"foreignKeys": kept} if kept else {})}}


# --- What is to be known of a run's answers beside what stands in their columns: statuses, instruments, and every item
# with its wording, scale and labels in every language. The codebook (reports/files.py) holds it; here it is told as
# Markdown, too.


def about(reading: RunReading, asked: Sequence[AskedItem]) -> dict[str, Any]:
    """asked: of `items`, for every item of the table."""
    record = reading.record
    return {
        "sim_id": record.sim_id,
        "run_id": record.run_id,
        "language": record.language,
        "languages": sorted({language for item in asked for language in item.wording} or {record.language}),
        "fingerprint": record.fingerprint,
        "population_hash": record.population_hash,
        "statuses": [
            {"status": status, "answered": status in RESPONDED, "missing": status in MISSING,
             "meaning": tell(meaning, reading.language)}
            for status, meaning in STATUS_MEANINGS.items()
        ],
        "contents": dict(in_language(CONTENT_MEANINGS, reading.language)),
        "instruments": [_instrument(reading, name) for name in record.instruments],
        "items": [item(question, record.instruments[question.methodology].hash) for question in asked],
    }  # fmt: skip


def _instrument(reading: RunReading, name: str) -> dict[str, Any]:
    used = reading.record.instruments[name]
    keys = ("instrument_id", "version", "languages", "language_default")
    content = {key: used.content.get(key) for key in keys}
    return {"methodology": name, "hash": used.hash, "source": used.source, **content}


def item(one: AskedItem, instrument_hash: str) -> dict[str, Any]:
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
    for entry in book["items"]:
        items.setdefault(entry["methodology"], []).append(entry)
    return render(
        "enquete.reports:codebook.md.j2", language, **book, methodologies=items, kinds=KINDS,
        said=lambda texts: texts.get(language) or next(iter(texts.values()), {}),
    )  # fmt: skip
