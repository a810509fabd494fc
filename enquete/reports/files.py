"""What a run gives away as files that people open: its answers, agents, items and declared tables, each with what it
means.

A `DataFile` says of a frame what all formats and the codebook need: names, types, labels, codes, keys, references.
Formats write it, `descriptor` describes it as a Data Package. Measured by: every format is
read back by its own library with the same values, and frictionless finds package and files valid.

Files of a package, each format by its own library: CSV, Parquet (arro3), SPSS .sav (ReadStat), .xlsx (openpyxl).

A large frame is written some rows at a time, but for SPSS, whose library takes it whole. Missing is an empty cell or
null; in .sav the answers' numbers have user-missing codes that say why. The libraries are imported when a format is
asked for.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, cast, get_args, get_origin

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.ledger.folders import draft_of
from enquete.locale import N_, in_language, tell
from enquete.reports.context import plain
from enquete.reports.declarations import Column, Table
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.responses import AskedItem
from enquete.reports.run_reading import RunReading, read_result
from enquete.reports.views import Results, render
from enquete.reports.writing import (
    ANSWER,
    COLUMN_MEANINGS,
    COLUMNS,
    CONTENT_MEANINGS,
    OWN_COLUMN,
    STATUS_MEANINGS,
    ResponseRow,
    write_csv,
    write_json,
)
from enquete.respondents.kinds import KINDS
from enquete.state.asking import RESPONDED, Language
from enquete.state.errors import InputError
from enquete.state.request import FORMATS, FileFormat, Layout
from enquete.state.untrusted_input import as_cell, visible

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


class Last:
    """Results that are made when all other files are written, because they tell how that went."""

    def __init__(self, make: Callable[[], Results]) -> None:
        self._make = make

    @cached_property
    def results(self) -> Results:
        return self._make()


def data_files(
    reading: RunReading,
    frame: pd.DataFrame,
    asked: Sequence[AskedItem],
    agents: AgentTable,
    results: Mapping[str, Results],
    layout: Layout | Literal["standing"] = "both",
    log: GapLog = NOTHING_CAUGHT,
    last: Last | None = None,
) -> Iterator[DataFile]:
    """All that a run has to give, each made when it is its turn: a large study is never in memory twice.

    frame: the response table, plain or not. results: of methodologies that declare tables (others have their answers
    alone), and what is nobody's own.
    layout: how answers stand: a row an answer, a row an agent, or both; "standing" is what every run has: a row an
    answer, and one file with a row an agent. log: takes the bug of a methodology's file. last: results whose files come
    after all others.
    """
    language = reading.language
    who = agents_file(agents, reading)
    covariates = covariate_variables(who, agents)
    yield who
    yield items_file(asked, language)
    if layout != "long":
        yield wide_file(reading, frame, asked, who, covariates)
    known = pd.Index(agents.table.index)
    if layout != "wide":
        yield answers_file(reading, frame, frame.columns, known)
    for name in reading.record.methods:
        rows = frame["methodology"].eq(name).to_numpy()
        title = tell(reading.methodology(name).title, language)
        if rows.any() and layout == "both" and not rows.all():
            its_columns = reading.methodology(name).procedure.answer_columns
            columns = [column for column in frame if column in COLUMNS or column in its_columns]
            yield replace(  # not "answers", which a methodology's own table may be called
                answers_file(reading, frame.loc[rows, columns], columns, known), name=f"{name}.long",
                title=tell(N_("{methodology}: answers"), language).format(methodology=title),
            )  # fmt: skip
        if rows.any() and layout in ("wide", "both"):
            items = [item for item in asked if item.methodology == name]
            yield from wide_files(name, title, frame[rows], items, language, (who.frame, covariates))
        if name in results:
            yield from declared_files(results[name], title, known, log)
    for name, others in results.items():
        if name not in reading.record.methods:
            yield from declared_files(others, tell(others.presentation.title, language), known, log)
    if last is not None:
        yield from declared_files(last.results, tell(last.results.presentation.title, language), known, log)


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
    methodology: str, title: str, rows: pd.DataFrame, asked: Sequence[AskedItem], language: Language,
    known: tuple[pd.DataFrame, Sequence[Variable]] = (pd.DataFrame(), ()),
) -> Iterator[DataFile]:  # fmt: skip
    """Participants × items, a file for every phase and round. known: the table of agents, and which of its columns are
    covariates."""
    by_id = {item.item_id: item for item in asked}
    where, starts = _numbered(rows, ("phase", "round"))
    for place, start in enumerate(starts):
        phase, number = str(rows["phase"].iloc[start]), int(rows["round"].iloc[start])
        part = f"{phase}_round{number}" if number else phase
        named = tell(NAMED[bool(number)], language).format(methodology=title, phase=phase, round=number)
        yield _wide(f"{methodology}.wide_{part}", named, rows[where == place], by_id, language, known)


def _wide(
    name: str, title: str, rows: pd.DataFrame, asked: Mapping[str, AskedItem], language: Language,
    known: tuple[pd.DataFrame, Sequence[Variable]],
) -> DataFile:  # fmt: skip
    who, first = _numbered(rows, ("arm", "session", "participant"))
    people = rows.iloc[first]
    turns = rows.duplicated(["arm", "session", "participant", "item_id"]).any()
    what, starts = _numbered(rows, ("item_id", "turn") if turns else ("item_id",))
    heads = list(zip(rows["item_id"].iloc[starts], rows["turn"].iloc[starts], strict=True))
    order = np.argsort(what, kind="stable")
    bounds = np.searchsorted(what[order], np.arange(len(heads) + 1))
    columns: dict[str, Any] = {
        column: people[column].to_numpy() for column in WHO if column != "session" or people[column].ne("").any()
    }
    variables = [Variable(name=name, label=name, means=tell(COLUMN_MEANINGS[name], language)) for name in columns]
    taken: set[str] = set(WHO)
    _add_covariates(columns, variables, taken, people["participant"], known)
    reasons: dict[str, pd.Series[Any]] = {}
    unknown = AskedItem("", "", "", place=len(asked))
    in_questionnaire = sorted(range(len(heads)), key=lambda n: (heads[n][1], asked.get(heads[n][0], unknown).place))
    for place in in_questionnaire:
        item, turn = heads[place]
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


def _add_covariates(
    columns: dict[str, Any], variables: list[Variable], taken: set[str], participants: pd.Series[Any],
    known: tuple[pd.DataFrame, Sequence[Variable]],
) -> None:  # fmt: skip
    """Put what a personas file says of these people behind who they are; types stay as they are."""
    table, covariates = known
    if not covariates:
        return
    by_participant = table.set_index("participant")
    for variable in covariates:
        name = plain_name(variable.name, taken)
        values = by_participant[variable.name].reindex(participants.to_numpy())
        columns[name] = values.reset_index(drop=True).array
        variables.append(replace(variable, name=name))


def covariate_variables(agents: DataFile, table: AgentTable) -> list[Variable]:
    """Return the columns of the agents' file that a personas file brought along."""
    return [variable for variable in agents.variables if variable.name in table.covariates]


# --- One row an agent, with everything that it answered -----------------------------------------------------------

WIDE_NAME = "wide"
WHOLE_WIDE = N_(
    "A row an agent: covariates, then every closed answer of all methodologies and rounds in the order of the "
    "questionnaire. Main arm. Open answers, and why an answer is missing, stand in all_responses."
)


@dataclass(frozen=True, slots=True, order=True)
class WideColumn:
    """One closed question on one occasion, in the order of the file. session: "" unless an agent has several."""

    methodology: int
    phase: str
    round: int
    session: str
    turn: int
    place: int
    item: str


def wide_file(
    reading: RunReading, frame: pd.DataFrame, asked: Sequence[AskedItem], agents: DataFile,
    covariates: Sequence[Variable],
) -> DataFile:  # fmt: skip
    """Agents × closed questions of the main arm, covariates first.

    A column is called like its item; where that is not enough to tell columns apart, its methodology stands before it,
    and phase, round, session and turn behind it.
    """
    language = reading.language
    by_id = {(item.methodology, item.item_id): item for item in asked}
    participants = agents.frame["participant"]
    main = frame.loc[frame["arm_role"].eq("main") & frame["participant"].isin(participants)]
    closed = main.loc[_is_closed(main, by_id)]

    columns: dict[str, Any] = {name: agents.frame[name].array for name in WHO_OF_AGENTS}
    variables = [variable for variable in agents.variables if variable.name in WHO_OF_AGENTS]
    taken = set(WHO_OF_AGENTS)
    _add_covariates(columns, variables, taken, participants, (agents.frame, covariates))

    reasons: dict[str, pd.Series[Any]] = {}
    places = pd.Series(np.arange(len(participants)), index=participants.to_numpy())
    groups = _wide_columns(reading, closed, by_id)
    for name, (column, at) in _name_columns(groups, reading).items():
        rows = closed.iloc[at]
        item = by_id.get((str(rows["methodology"].iloc[0]), column.item)) or AskedItem("", column.item, "")
        variable, values = next(_cells(plain_name(name, taken), item, rows, taken, language))
        seats = places.reindex(rows["participant"].to_numpy()).to_numpy()
        filled = np.full(len(participants), np.nan) if variable.type == "number" else np.full(len(participants), None)
        filled[seats.astype(int)] = values
        columns[variable.name] = filled
        why = np.full(len(participants), None, dtype=object)
        why[seats.astype(int)] = rows["status"].to_numpy()
        reasons[variable.name] = pd.Series(pd.Categorical(why, categories=list(STATUS_MEANINGS)))
        about: dict[str, JsonValue] = {
            "methodology": item.methodology, "item_id": column.item, "phase": column.phase, "round": column.round,
            **({"turn": column.turn} if column.turn else {}),
        }  # fmt: skip
        variables.append(replace(variable, about=about))
    return DataFile(
        name=WIDE_NAME, title=tell(N_("All closed answers, a row an agent"), language),
        frame=pd.DataFrame(columns, copy=False), variables=variables, key=("participant",),
        means=tell(WHOLE_WIDE, language), references=[Reference(("participant",), "agents", ("participant",))],
        reasons=reasons,
    )  # fmt: skip


WHO_OF_AGENTS = ("participant", "agent_id", "agent_name", "stakeholder_type")


def _is_closed(rows: pd.DataFrame, asked: Mapping[tuple[str, str], AskedItem]) -> np.ndarray[Any, Any]:
    """Whether each row is of a question that is not answered in words alone."""
    if rows.empty:
        return np.zeros(0, dtype=bool)
    numbers, starts = _numbered(rows, ("methodology", "item_id"))
    has_answer = (rows["value"].notna() | rows["choice"].ne("")).to_numpy(dtype=bool)
    answered = np.bincount(numbers, weights=has_answer, minlength=len(starts)) > 0
    keys = zip(rows["methodology"].iloc[starts], rows["item_id"].iloc[starts], strict=True)
    closed = [is_closed(asked.get(key), has_answers=bool(answered[n])) for n, key in enumerate(keys)]
    of_row: np.ndarray[Any, Any] = np.array(closed, dtype=bool)[numbers]
    return of_row


def is_closed(item: AskedItem | None, *, has_answers: bool) -> bool:
    """Whether a question has a number or options; of a kind that nobody knows, whether anybody gave such an answer."""
    if item is None or not item.kind:
        return has_answers or (item is not None and item.scale_min is not None)
    return item.kind != "text" or item.scale_min is not None


def _wide_columns(
    reading: RunReading, rows: pd.DataFrame, asked: Mapping[tuple[str, str], AskedItem]
) -> dict[WideColumn, np.ndarray[Any, Any]]:
    """Return the places of each column's rows, columns in the order of the questionnaire."""
    if rows.empty:
        return {}
    order = {name: place for place, name in enumerate(reading.record.methods)}
    occasion = ["methodology", "phase", "round", "turn", "item_id"]
    has_several = rows.duplicated([*occasion, "participant"]).any()
    keys = [*occasion[:3], *(["session"] if has_several else []), *occasion[3:]]
    numbers, starts = _numbered(rows, keys)
    by_column = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[by_column], np.arange(len(starts) + 1))
    unknown = AskedItem("", "", "", place=len(asked))
    columns = {}
    for number, start in enumerate(starts):
        row = rows.iloc[start]
        name, item = str(row["methodology"]), str(row["item_id"])
        column = WideColumn(
            order[name], str(row["phase"]), int(row["round"]), str(row["session"]) if has_several else "",
            int(row["turn"]), asked.get((name, item), unknown).place, item,
        )  # fmt: skip
        columns[column] = by_column[bounds[number] : bounds[number + 1]]
    return dict(sorted(columns.items(), key=lambda pair: pair[0]))


def _name_columns(
    groups: Mapping[WideColumn, np.ndarray[Any, Any]], reading: RunReading
) -> dict[str, tuple[WideColumn, np.ndarray[Any, Any]]]:
    """Return the columns by name: the item's id, and as much more as tells it from others of that id."""
    names = list(reading.record.methods)
    of_item: dict[str, list[WideColumn]] = {}
    for column in groups:
        of_item.setdefault(column.item, []).append(column)
    named = {}
    for column, at in groups.items():
        same = of_item[column.item]
        name = column.item
        if len({other.methodology for other in same}) > 1:
            name = f"{names[column.methodology]}_{name}"
        if len({other.phase for other in same}) > 1:
            name = f"{name}_{column.phase}"
        if len({other.round for other in same}) > 1:
            name = f"{name}_round{column.round}"
        if len({other.session for other in same}) > 1:
            name = f"{name}_{column.session or 'none'}"
        if len({other.turn for other in same}) > 1:
            name = f"{name}_turn{column.turn}"
        named[name] = (column, at)
    return named


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


def declared_files(
    results: Results, title: str, agents: pd.Index[Any], log: GapLog = NOTHING_CAUGHT
) -> Iterator[DataFile]:
    """Tables that are declared as files, and facts in one row; those without rows are left out."""
    for name in ("", *results.presentation.tables):
        made: list[DataFile] = []
        with log.catch(results.methodology, "table", name or "facts"):
            made += (
                _table_file(results, results.presentation.tables[name], title, agents)
                if name
                else _facts_file(results, title)
            )
        yield from made


def _facts_file(results: Results, title: str) -> Iterator[DataFile]:
    name = results.methodology
    facts = [fact for fact in results.presentation.facts.values() if fact.stored]
    if facts:
        row = pd.DataFrame([[results.facts.get(fact.name) for fact in facts]], dtype=object)
        row.columns = pd.Index([fact.name for fact in facts])
        yield DataFile(
            name=f"{name}.facts", title=f"{title}: {tell(N_('single facts'), results.language)}", frame=row,
            variables=[_variable(results, fact, row) for fact in facts], key=(),
        )  # fmt: skip


def _table_file(results: Results, table: Table, title: str, agents: pd.Index[Any]) -> Iterator[DataFile]:
    frame = results.analysis.tables[table.name]
    if table.files and len(frame):
        yield DataFile(
            name=f"{results.methodology}.{table.name}", title=f"{title}: {_told(results, table.title)}", frame=frame,
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
# with its wording, scale and labels in every language. The codebook holds it; here it is told as
# Markdown, too.


def about(reading: RunReading, asked: Sequence[AskedItem]) -> dict[str, Any]:
    """Return what the codebook says of the whole run: who, in which languages, with which instruments and items.

    Args:
        asked: The items of the table, as `items` gives them.
    """
    record = reading.record
    languages = sorted({language for item in asked for language in item.wording})
    described = []
    for question in asked:
        described.append(describe_item(question, record.instruments[question.methodology].hash))
    return {
        "sim_id": record.sim_id,
        "run_id": record.run_id,
        "language": record.language,
        "languages": languages or [record.language],
        "fingerprint": record.fingerprint,
        "population_hash": record.population_hash,
        "statuses": [
            {"status": status, "answered": status in RESPONDED, "missing": status in MISSING,
             "meaning": tell(meaning, reading.language)}
            for status, meaning in STATUS_MEANINGS.items()
        ],
        "contents": dict(in_language(CONTENT_MEANINGS, reading.language)),
        "instruments": [_instrument(reading, name) for name in record.instruments],
        "items": described,
    }  # fmt: skip


def _instrument(reading: RunReading, name: str) -> dict[str, Any]:
    used = reading.record.instruments[name]
    keys = ("instrument_id", "version", "languages", "language_default")
    content = {key: used.content.get(key) for key in keys}
    return {"methodology": name, "hash": used.hash, "source": used.source, **content}


def describe_item(asked: AskedItem, instrument_hash: str) -> dict[str, Any]:
    """Return one item as the codebook keeps it."""
    ends = {"min": asked.scale_min, "max": asked.scale_max, "labels": asked.labels}
    scale = ends if asked.scale_min is not None else None
    return {
        "item_id": asked.item_id, "methodology": asked.methodology, "phases": list(asked.phases),
        "rounds": list(asked.rounds), "kind": asked.kind, "wording": asked.wording, "about": asked.about,
        "scale": scale, "options": asked.labels if asked.labels and scale is None else None,
        "reverse_keyed": asked.reverse_keyed, "family": asked.family, "family_label": asked.family_label,
        "dimension": asked.dimension, "asks_confidence": asked.confidence, "asks_reason": asked.reason,
        "instrument_hash": instrument_hash,
    }  # fmt: skip


def markdown(book: dict[str, Any], language: Language) -> str:
    """A codebook for reading, in the run's language; a table a file, one of items a methodology."""
    items: dict[str, list[dict[str, Any]]] = {}
    for entry in book["items"]:
        items.setdefault(entry["methodology"], []).append(entry)
    return render(
        "enquete.reports:codebook.md.j2", language, **book, methodologies=items, kinds=KINDS,
        in_language=lambda texts: texts.get(language) or next(iter(texts.values()), {}),
    )  # fmt: skip


# --- Formats ---------------------------------------------------------------------------------------------------------

AT_ONCE = 20_000
"""Rows."""
YES_NO = {1: N_("yes"), 0: N_("no")}
AS_JSON = ("array", "any")
"""Types whose values are JSON in a cell."""


class FileWriter(ABC):
    """Takes one file after the other; `close` finishes what they have in common."""

    format: ClassVar[FileFormat]
    mediatype: ClassVar[str]

    def __init__(self, folder: Path, name: str, language: Language, *, bom: bool = False) -> None:
        """name: of the package."""
        self.folder, self.name, self.language, self.bom = folder, name, language, bom
        self.paths: list[Path] = []

    @abstractmethod
    def add(self, file: DataFile) -> dict[str, JsonValue]:
        """Writes it; how a Data Package describes it."""

    def close(self) -> None:  # noqa: B027 - most files have nothing in common
        ...

    def discard(self) -> None:  # noqa: B027 - nor leave they anything behind
        """Instead of `close`, where another file could not be written."""

    @contextmanager
    def _written(self, path: Path) -> Iterator[Path]:
        """A draft, which takes the file's place once it is whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = draft_of(path)
        try:
            yield draft
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        self.paths.append(path)

    def _described(self, file: DataFile) -> dict[str, JsonValue]:
        path = f"{file.path}.{self.format}"
        return {**resource(file, path), "format": self.format, "mediatype": self.mediatype, "encoding": "utf-8"}


class CsvWriter(FileWriter):
    """RFC 4180, UTF-8. bom: Excel then knows the encoding."""

    format = "csv"
    mediatype = "text/csv"

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        path = self.folder / f"{file.path}.csv"
        told: dict[str, Any] = {
            c.name: _plain(file.frame[c.name], c) for c in file.variables if c.type in (*AS_JSON, "boolean")
        }
        write_csv(path, file.frame.assign(**told) if told else file.frame, bom=self.bom)
        self.paths.append(path)
        return self._described(file)


def _plain(values: pd.Series[Any], column: Variable) -> list[str | None]:
    """Lists as JSON, flags as words that may be missing."""
    if column.type in AS_JSON:
        return [_listed(value) for value in values]
    words = {True: "true", False: "false"}
    return [words.get(value) for value in plain(values)]


def _listed(value: Any) -> str | None:
    """Of a missing one None."""
    return None if value is None or value != value else json.dumps(value, ensure_ascii=False)


def _pieces(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, max(len(frame), 1), AT_ONCE):
        yield frame.iloc[start : start + AT_ONCE]


class ParquetWriter(FileWriter):
    """Types as declared, lists as JSON; what a column is called and means stands in its field's metadata."""

    format = "parquet"
    mediatype = "application/vnd.apache.parquet"

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        from arro3 import io  # noqa: PLC0415 - for this format alone
        from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema  # noqa: PLC0415

        kinds = {"integer": DataType.int64(), "number": DataType.float64(), "boolean": DataType.bool()}
        types = [kinds.get(column.type, DataType.string()) for column in file.variables]
        fields = [
            Field(c.name, kind, metadata={"label": c.label, "description": c.means or c.label}, nullable=True)
            for c, kind in zip(file.variables, types, strict=True)
        ]
        schema = Schema(fields, metadata={"title": file.title, "description": file.means})

        def batches() -> Iterator[RecordBatch]:
            for piece in _pieces(file.frame):
                columns = [
                    Array(_values(piece[c.name], c), kind) for c, kind in zip(file.variables, types, strict=True)
                ]
                yield RecordBatch.from_arrays(columns, schema=schema)

        with self._written(self.folder / f"{file.path}.parquet") as draft:
            io.write_parquet(RecordBatchReader.from_batches(schema, batches()), draft, compression="snappy")
        return self._described(file)


def _values(values: pd.Series[Any], column: Variable) -> list[Any]:
    """Of any type but lists, which are JSON; None where there is none."""
    if column.type in AS_JSON:
        return [_listed(value) for value in values]
    if column.type == "string":
        return [value or None for value in _texts(values)]
    if column.type == "number":
        return [None if value != value else value for value in values.to_numpy(dtype=float, na_value=np.nan).tolist()]
    exact = values.astype("Int64") if column.type == "integer" else values.astype("boolean")
    return list(exact.astype(object).where(exact.notna(), None))


def _texts(values: pd.Series[Any]) -> list[str]:
    """An empty one where there is none."""
    return ["" if value is None or value is pd.NA or value != value else str(value) for value in values.tolist()]


class SavWriter(FileWriter):
    """SPSS: labels of variables and values in the package's language, codes as numbers with their words, why an answer
    is missing as user-missing codes."""

    format = "sav"
    mediatype = "application/x-spss-sav"
    LONGEST: ClassVar[int] = 32_767
    """Bytes of a text."""

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        import pyreadstat  # noqa: PLC0415 - for this format alone

        taken: set[str] = set()
        codes = self._missing_codes(file)
        columns: dict[str, Any] = {}
        fields: list[JsonValue] = []
        options: dict[str, dict[str, Any]] = {name: {} for name in ("labels", "values", "missing", "measure", "format")}
        described = self._described(file)
        entries = cast("dict[str, Any]", described["schema"])["fields"]
        for column, entry in zip(file.variables, entries, strict=True):
            name = plain_name(column.name, taken)
            reasons = file.reasons.get(column.name)
            columns[name], words = self._coded(file.frame[column.name], column, reasons, codes)
            options["labels"][name] = _shortened(column.label, 255)
            numeric = column.type in ("integer", "number")
            options["measure"][name] = "ordinal" if column.ordered else "scale" if numeric and not words else "nominal"
            if column.type == "number":
                options["format"][name] = f"F10.{2 if column.digits is None else column.digits}"
            elif column.type in ("integer", "boolean") or column.levels:
                options["format"][name] = "F8.0"
            if reasons is not None and (column.type == "number" or column.levels):
                words |= {code: tell(STATUS_MEANINGS[status], self.language) for status, code in codes.items()}
                options["missing"][name] = [{"lo": min(codes.values()), "hi": max(codes.values())}]
            if words:
                options["values"][name] = {value: _shortened(word, 120) for value, word in words.items()}
            fields.append(self._field(dict(entry), name, column, words, codes if name in options["missing"] else {}))
        frame = pd.DataFrame(columns, copy=False)
        with self._written(self.folder / f"{file.path}.sav") as draft:
            pyreadstat.write_sav(
                frame, draft, file_label=_shortened(file.title, 64), column_labels=options["labels"], row_compress=True,
                variable_value_labels=options["values"], missing_ranges=options["missing"],
                variable_measure=options["measure"], variable_format=options["format"],
            )  # fmt: skip
        renamed = dict(zip((column.name for column in file.variables), columns, strict=True))
        schema: dict[str, Any] = {"fields": fields, "missingValues": [""]}
        if file.key:
            schema["primaryKey"] = [renamed[name] for name in file.key]
        return {**described, "schema": schema}

    @staticmethod
    def _missing_codes(file: DataFile) -> dict[str, int]:
        """-99 and upwards, or further from 0 where an answer lies there."""
        answers = (file.frame[name] for name in file.reasons)
        numbers = [values for values in answers if pd.api.types.is_numeric_dtype(values) and values.notna().any()]
        lowest = min((float(np.nanmin(values)) for values in numbers), default=0.0)
        base = 99
        while lowest <= -base + len(MISSING):
            base = base * 10 + 9
        return {status: -base + place for place, status in enumerate(reversed(MISSING))}

    def _coded(
        self, values: pd.Series[Any], column: Variable, reasons: pd.Series[Any] | None, codes: Mapping[str, int]
    ) -> tuple[Any, dict[Any, str]]:
        """The column as SPSS holds it, and words of its values."""
        if column.levels and column.type == "string":
            places = {level: float(place) for place, level in enumerate(column.levels, 1)}
            words: dict[Any, str] = {place: column.levels[level] for level, place in places.items()}
            return self._with_reasons(values.astype(object).map(places).to_numpy(dtype=float), reasons, codes), words
        if column.type == "boolean":
            yes_no = {place: tell(word, self.language) for place, word in YES_NO.items()}
            return values.to_numpy(dtype=float, na_value=np.nan), yes_no
        if column.type in ("integer", "number"):
            numbers = values.to_numpy(dtype=float, na_value=np.nan)
            return self._with_reasons(numbers, reasons, codes), dict(column.names)
        if column.type in AS_JSON:
            values = values.map(_listed)
        return _cut(values, self.LONGEST), {str(value): word for value, word in column.names.items()}

    @staticmethod
    def _with_reasons(
        numbers: np.ndarray[Any, Any], reasons: pd.Series[Any] | None, codes: Mapping[str, int]
    ) -> np.ndarray[Any, Any]:
        """Put the code of why it is missing in place of every answer that is."""
        if reasons is None:
            return numbers
        why = reasons.astype(object).map(codes).to_numpy(dtype=float)
        return np.where(np.isnan(numbers), why, numbers)

    @staticmethod
    def _field(
        entry: dict[str, JsonValue], name: str, column: Variable, words: Mapping[Any, str], codes: Mapping[str, int]
    ) -> dict[str, JsonValue]:
        """As it stands in this file: codes are numbers, flags are 0 and 1, lists are texts."""
        entry["name"] = name
        if column.levels or column.type == "boolean":
            entry["type"] = "integer"
            entry.pop("constraints", None)
        elif column.type in AS_JSON:
            entry["type"] = "string"
        if words:
            coded = [value for value in words if value not in codes.values()]
            entry["categories"] = [
                {"value": int(value) if isinstance(value, float) else value, "label": words[value]} for value in coded
            ]
        if column.levels:
            entry["codes"] = list(column.levels)
        if codes:
            entry["missingValues"] = ["", *(str(code) for code in codes.values())]
            entry["missingLabels"] = {str(code): status for status, code in codes.items()}
        return entry


def _cut(values: pd.Series[Any], most: int) -> pd.Categorical[Any]:
    """Texts that a program takes whole; each different one is looked at and held once."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, known = values.cat.codes.to_numpy(), [str(each) for each in values.cat.categories]
    else:
        codes, uniques = pd.factorize(np.array(_texts(values), dtype=object))
        known = uniques.tolist()
    texts, merged = pd.factorize(np.array([_shortened(visible(text), most) for text in known] or [""], dtype=object))
    places = np.where(codes < 0, -1, texts[codes]).astype(np.min_scalar_type(-len(merged) - 1))
    return pd.Categorical.from_codes(places, pd.Index(merged, dtype=object))  # as str each row would have its own text


def _shortened(text: str, most: int) -> str:
    """most: bytes."""
    if len(text) * 4 <= most or len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode(errors="ignore") + "…"


class XlsxWriter(FileWriter):
    """One workbook: a sheet with the codebook, then a sheet a file. A text is a text, never a formula."""

    format = "xlsx"
    mediatype = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    MOST_ROWS: ClassVar[int] = 1_048_575
    LONGEST: ClassVar[int] = 32_767
    """Characters of a cell."""

    def __init__(self, folder: Path, name: str, language: Language, *, bom: bool = False) -> None:
        from openpyxl import Workbook  # noqa: PLC0415 - for this format alone

        super().__init__(folder, name, language, bom=bom)
        self._book = Workbook(write_only=True)
        self._names: set[str] = set()
        self._codebook: list[list[str]] = []
        self._sheet_named(tell(N_("Codebook"), language))

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        if len(file.frame) > self.MOST_ROWS:
            raise InputError(
                f"xlsx: {file.name} has {len(file.frame):,} rows and a sheet takes {self.MOST_ROWS:,}; choose parquet, "
                "csv or sav, or answers with a row an agent (wide)"
            )
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above

        sheet = self._sheet_named(file.name)
        empty = WriteOnlyCell(sheet)  # at the end of a row, which some readers would find short
        empty.number_format = "@"  # without one it is not written
        self._head(sheet, [column.name for column in file.variables], [column.label for column in file.variables])
        try:
            for piece in _pieces(file.frame):
                columns = [self._cells(sheet, piece[column.name], column) for column in file.variables]
                for row in zip(*columns, strict=True):
                    sheet.append((*row[:-1], empty) if row[-1] is None else row)
        except BaseException:
            self._book.remove(sheet)  # half a table would pass for the whole one
            raise
        for c in file.variables:
            values = "; ".join(f"{value} = {word}" for value, word in {**c.levels, **c.names}.items())
            self._codebook.append([sheet.title, c.name, c.label, c.means or c.label, c.type, values])
        # the second is what frictionless 5 reads
        dialect: JsonValue = {"sheetName": sheet.title, "excel": {"sheet": sheet.title}}
        described = {**self._described(file), "path": f"{self.name}.xlsx", "dialect": dialect}
        return {key: value for key, value in described.items() if key != "encoding"}

    def close(self) -> None:
        heads = (N_("sheet"), N_("column"), N_("label"), N_("meaning"), N_("type"), N_("values"))
        sheet = self._book.worksheets[0]
        widths = ["x" * width for width in (18, 24, 40, 60, 8, 60)]
        self._head(sheet, [tell(head, self.language) for head in heads], widths)
        for row in self._codebook:
            sheet.append([self._text(sheet, cell) for cell in row])
        with self._written(self.folder / f"{self.name}.xlsx") as draft:
            self._book.save(draft)

    def discard(self) -> None:
        """Sheets are files until they are saved."""
        with suppress(OSError), TemporaryDirectory() as place:
            self._book.save(Path(place) / "discarded.xlsx")

    def _sheet_named(self, name: str) -> Any:
        """Thirty-one characters, none twice, case apart."""
        wanted, number = name[:31], 1
        while wanted.lower() in self._names:
            number += 1
            wanted = f"{name[:27]}~{number}"
        self._names.add(wanted.lower())
        return self._book.create_sheet(wanted)

    def _head(self, sheet: Any, names: Sequence[str], labels: Sequence[str]) -> None:
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above
        from openpyxl.styles import Font  # noqa: PLC0415
        from openpyxl.utils import get_column_letter  # noqa: PLC0415

        sheet.freeze_panes = "A2"
        head = []
        for place, (name, label) in enumerate(zip(names, labels, strict=True), 1):
            sheet.column_dimensions[get_column_letter(place)].width = min(max(len(name) + 2, len(label) // 2, 8), 60)
            cell = WriteOnlyCell(sheet, value=name)
            cell.data_type, cell.font = "s", Font(bold=True)
            head.append(cell)
        sheet.append(head)

    def _cells(self, sheet: Any, values: pd.Series[Any], column: Variable) -> Iterable[Any]:
        if column.type in AS_JSON:
            values = values.map(_listed)
        if column.type in ("string", *AS_JSON):
            texts = _texts(values)
            known = {text: self._text(sheet, text) if text else None for text in set(texts)}
            return [known[text] for text in texts]
        return _values(values, column)

    def _text(self, sheet: Any, text: str) -> Any:
        """As a cell of text; one that would run as a formula once somebody edits it is marked as quoted."""
        shown = visible(text)
        if len(shown) > self.LONGEST:
            shown = shown[: self.LONGEST - 1] + "…"
        if as_cell(shown) == shown and not shown.startswith("#"):  # "#N/A" would be an error
            return shown
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above

        cell = WriteOnlyCell(sheet, value=shown)
        cell.data_type, cell.quotePrefix = "s", True
        return cell


WRITERS: Mapping[str, type[FileWriter]] = {
    "csv": CsvWriter, "parquet": ParquetWriter, "sav": SavWriter, "xlsx": XlsxWriter
}  # fmt: skip


PACKAGE = "datapackage.json"
CODEBOOK = "codebook.json"
"""The Data Package of the files that every run has."""


def write_package(
    folder: Path, reading: RunReading, asked: Sequence[AskedItem], files: Iterable[DataFile],
    formats: Iterable[FileFormat], *,
    bom: bool = False, log: GapLog = NOTHING_CAUGHT,
) -> list[Path]:  # fmt: skip
    """Every file in every format, each in a folder of its own with its Data Package; what an earlier one left goes.
    log: takes the bug of a methodology's table."""
    writers = [WRITERS[each](folder / each, reading.run, reading.language, bom=bom) for each in dict.fromkeys(formats)]
    resources: list[list[Mapping[str, JsonValue]]] = [[] for _ in writers]
    try:
        for file in files:
            for writer, described in zip(writers, resources, strict=True):
                described.extend(_added(writer, file, log))
    except BaseException:
        for writer in writers:
            writer.discard()
        raise
    written: list[Path] = []
    for writer, described in zip(writers, resources, strict=True):
        writer.close()
        written += _finished(writer, descriptor(reading, asked, described), PACKAGE)
    return written


def write_standing(
    folder: Path, reading: RunReading, asked: Sequence[AskedItem], files: Iterable[DataFile],
    log: GapLog = NOTHING_CAUGHT,
) -> dict[str, Any]:  # fmt: skip
    """The CSV files that every run has, with the codebook, which is their Data Package. Packages of other formats were
    made of what the run had before and go."""
    for each in FORMATS:
        remove_package(folder / each)
    writer = CsvWriter(folder, reading.run, reading.language)
    described: list[Mapping[str, JsonValue]] = []
    for file in files:
        described += _added(writer, file, log)
    book = descriptor(reading, asked, described)
    _finished(writer, book, CODEBOOK)
    return book


def _added(writer: FileWriter, file: DataFile, log: GapLog) -> list[Mapping[str, JsonValue]]:
    """Write one file and return its description; nothing of a methodology's table that cannot be written.

    A full disk and a format that cannot hold the file are no fault of the methodology: they are raised.
    """
    methodology, _, table = file.name.partition(".")
    described: list[Mapping[str, JsonValue]] = []
    if not table:
        return [writer.add(file)]
    with log.catch(methodology, "table", f"{table}.{writer.format}", but=(OSError, InputError)):
        described.append(writer.add(file))
    return described


def _finished(writer: FileWriter, book: Mapping[str, Any], name: str) -> list[Path]:
    path = writer.folder / name
    for old in _described_in(path) - set(writer.paths):
        old.unlink(missing_ok=True)
    write_json(path, book)
    return [*dict.fromkeys(writer.paths), path]


def remove_package(folder: Path) -> None:
    """What was written there, and nothing else."""
    for old in [*_described_in(folder / PACKAGE), folder / PACKAGE]:
        old.unlink(missing_ok=True)
    for place in (*sorted(folder.glob("*/")), folder):
        with suppress(OSError):  # somebody keeps files of his own there, or there is none
            place.rmdir()


def _described_in(path: Path) -> set[Path]:
    """Files of a package; none below another folder."""
    resources = read_result(path).get("resources", [])
    named = {path.parent / str(entry.get("path", "")) for entry in resources if isinstance(entry, dict)}
    return {file for file in named if ".." not in file.parts and file.is_file()}
