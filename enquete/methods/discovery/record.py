"""Records: how what one answer gave (an SCR) is reduced into what all have given (the ASCR), by the reducers of the
schema; and what a model gave for one, checked: closed lists mapped or refused, every value with words that stand in the
answer. What cannot be used is named, so that it can be asked for again.

A record is plain data: field → value. Texts and numbers, ids of closed lists, lists of them; a list of objects has
their key as the first of each; a quantity is {value-string, units, modifier}, as it was said; a row is a list of texts,
rows a list of rows. What is not there is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticCustomError

from enquete.instruments.expressions import there
from enquete.instruments.text import shown, suggestion
from enquete.methods.discovery.originals import is_quantity, stripped
from enquete.methods.discovery.schema import DiscoverySchema, FieldNode, SchemaField
from enquete.respondents.roles import normal, stands_in
from enquete.state.numbers import WrittenFloat, has_two_meanings, read_clear_number, read_number

Record = dict[str, Any]
Nodes = Mapping[str, FieldNode]
Path = tuple[str, ...]


class ToldValue(BaseModel):
    """A value with the words it rests on, which stand in the answer of that turn. `path`: lists followed by an entry's
    key."""

    model_config = ConfigDict(frozen=True)

    path: Path
    value: JsonValue
    quote: str
    turn: int = 0


class Contradiction(BaseModel):
    """Something was said otherwise before. Both stay; it is asked about once, and what is then said stands."""

    model_config = ConfigDict(frozen=True)

    path: Path
    earlier: JsonValue
    later: JsonValue


def reduced(nodes: Nodes, record: Mapping[str, Any], scr: Mapping[str, Any]) -> Record:
    """The record with what was found; neither is changed."""
    result = dict(record)
    for name, value in scr.items():
        if there(value):
            result[name] = _joined(nodes[name], record.get(name), value)
    return result


def _joined(node: FieldNode, old: Any, new: Any) -> Any:
    if node.field.type == "list":
        return _upserted(node, old if there(old) and node.reducer != "last" else [], new)
    if not there(old) or node.reducer == "last":
        return new
    if node.reducer == "union":
        return [*old, *(value for value in _distinct(new) if not any(same(value, known) for known in old))]
    return reduced(node.children, old, new)


def _upserted(node: FieldNode, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Record]:
    """By key, which comes first. deep: what an entry holds is reduced in turn; upsert: its parts are replaced, those
    not named again stay."""
    key, result = node.key, [dict(entry) for entry in old]
    for entry in new:
        place = next((n for n, before in enumerate(result) if same(before[key], entry[key])), len(result))
        kept = result[place] if place < len(result) else {key: entry[key]}
        merged = reduced(node.children, kept if node.reducer == "deep" else {}, node.parts(entry))
        result[place:] = [{**kept, **merged}, *result[place + 1 :]]
    return result


def _distinct(values: Sequence[Any]) -> Iterator[Any]:
    seen: list[Any] = []
    for value in values:
        if not any(same(value, other) for other in seen):
            seen.append(value)
            yield value


def same(value: Any, other: Any) -> bool:
    """Texts as they are spoken, quantities and rows too, anything else as it is."""
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value, other = as_said(value), as_said(other)
    return normal(value) == normal(other) if isinstance(value, str) and isinstance(other, str) else bool(value == other)


def as_said(quantity: Mapping[str, Any]) -> str:
    """A quantity in a line: “up to 4–6 hours”."""
    return " ".join(text for part in ("modifier", "value-string", "units") if (text := str(quantity.get(part) or "")))


_FIGURE = r"(\d(?:[\d.,]*\d)?|\.\d+)"
_RANGE = re.compile(rf"{_FIGURE}(?:\s*[^\W\d]*\s*(?:-|–|—|to|bis|and|und)\s*{_FIGURE})?", re.IGNORECASE)


def amount_of(field: SchemaField, quantity: Mapping[str, Any]) -> float | None:
    """Return it in the field's unit, the middle of a range.

    None where nothing says what a figure would be in that unit, or where the figure may be two numbers ("1.500"):
    then it stays as it was said (`is_unclear`).
    """
    amount = _RANGE.search(str(quantity.get("value-string", "")))
    if amount is None or field.unit is None:
        return None
    units = normal(str(quantity.get("units") or ""))
    names = {normal(text) for language in ("de", "en") if (text := getattr(field.unit, language))}
    factors = {**{normal(name): factor for name, factor in field.units.items()}, **dict.fromkeys(names, 1.0)}
    if units and units not in factors:
        return None
    figures = [read_clear_number(figure) for figure in amount.groups() if figure]
    clear = [figure for figure in figures if figure is not None]
    return sum(clear) / len(clear) * factors.get(units, 1.0) if len(clear) == len(figures) else None


def is_unclear(quantity: Mapping[str, Any]) -> bool:
    """Return whether a figure of a quantity may be two numbers, as 1.5 or 1500 in "1.500"."""
    amount = _RANGE.search(str(quantity.get("value-string", "")))
    return amount is not None and any(has_two_meanings(figure) for figure in amount.groups() if figure)


def normalised(nodes: Nodes, record: Mapping[str, Any]) -> Record:
    """A record that somebody brings along, in the form that records have here: without annotations; a bare text among
    entries is a key, and “none” for entries or a part one of that name; a bare text or number a quantity."""
    return {
        str(name): _normal(nodes[name], value) if name in nodes else value
        for name, value in stripped(dict(record)).items()
    }


def _normal(node: FieldNode, value: Any) -> Any:
    kind = node.field.type
    if kind == "list":
        entries = [value] if isinstance(value, str) and value else value
        return [_normal_entry(node, entry) for entry in entries] if isinstance(entries, list) else value
    if kind == "object":
        if isinstance(value, str) and value and (first := next(iter(node.children), None)) is not None:
            return {first: _normal(node.children[first], value)}
        return normalised(node.children, value) if isinstance(value, Mapping) else value
    return quantity_of(value) if kind == "quantity" else value


def _normal_entry(node: FieldNode, entry: Any) -> Any:
    if isinstance(entry, str):
        return {node.key: entry}
    if not isinstance(entry, Mapping):
        return entry
    key = {node.key: entry[node.key]} if node.key in entry else {}
    return {**key, **normalised(node.children, entry)}


def quantity_of(value: Any) -> Any:
    """A bare text or number as a quantity; anything else as it is, its parts texts."""
    if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        return {"value-string": f"{value:g}" if isinstance(value, float) else str(value)}
    if not is_quantity(value):
        return value
    return {
        name: str(part) for name in ("value-string", "units", "modifier") if (part := value.get(name)) not in (None, "")
    }


def contradictions(
    nodes: Nodes, record: Mapping[str, Any], scr: Mapping[str, Any], above: Path = ()
) -> Iterator[Contradiction]:
    """Single values that the record has otherwise. A list that grows, or a text that says more of the same, is none."""
    for name, new in scr.items():
        node = nodes[name]
        old: Any = record.get(name)
        path = (*above, name)
        if not there(old) or not there(new):
            continue
        if node.field.type == "object":
            yield from contradictions(node.children, old, new, path)
        elif node.field.type == "list":
            for entry in new:
                key = entry[node.key]
                before: Mapping[str, Any] = next((known for known in old if same(known[node.key], key)), {})
                yield from contradictions(node.children, before, node.parts(entry), (*path, str(key)))
        elif node.reducer == "last" and not node.field.closing and not same(old, new) and not _says_more(old, new):
            yield Contradiction(path=path, earlier=old, later=new)


def _says_more(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        old, new = as_said(old), as_said(new)
    texts = isinstance(old, str) and isinstance(new, str)
    return texts and (normal(old) in normal(new) or normal(new) in normal(old))


def values(nodes: Nodes, record: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, FieldNode, Any]]:
    """Every value that is there: (path with keys, field, value). Of an entry its parts; one without parts gives
    itself."""
    for name, value in record.items():
        node = nodes.get(name)
        if node is None or not there(value):
            continue
        path = (*above, name)
        if node.field.type == "object":
            yield from values(node.children, value, path)
        elif node.field.type == "list":
            for entry in value:
                key = str(entry[node.key])
                yield (*path, key), node, key
                yield from values(node.children, node.parts(entry), (*path, key))
        else:
            yield path, node, value


def unknown(nodes: Nodes, record: Mapping[str, Any], above: Path = ()) -> Iterator[Path]:
    """Fields without a value, those of every entry of a list included; not what closes an interview, nor lists in
    lists."""
    for name, node in nodes.items():
        value: Any = record.get(name)
        if node.field.type == "object":
            yield from unknown(node.children, value or {}, (*above, name))
        elif not there(value):
            yield from [(*above, name)] if node.level == 1 and not node.field.closing else ()
        elif node.field.type == "list":
            for entry in value:
                yield from unknown(node.children, entry, (*above, name, str(entry[node.key])))


def misfits(nodes: Nodes, record: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """What of a record that somebody brings along does not fit the schema, a sentence each."""
    for name, value in record.items():
        node, where = nodes.get(name), f"{above}{name}"
        if node is None:
            yield f"{where} is no field{suggestion(name, list(nodes))}"
        elif node.field.type == "object" and isinstance(value, Mapping):
            yield from misfits(node.children, value, f"{where}.")
        elif node.field.type == "list" and isinstance(value, list):
            yield from _misfit_entries(node, value, where)
        elif not _fits(node, value):
            closed = f", one of {', '.join(node.field.values)}" if node.field.values else ""
            yield f"{where}: {shown(value)} is no {node.field.type}{closed}"


def _misfit_entries(node: FieldNode, entries: Sequence[Any], where: str) -> Iterator[str]:
    for place, entry in enumerate(entries):
        if isinstance(entry, Mapping) and isinstance(entry.get(node.key), str) and entry[node.key]:
            yield from misfits(node.children, node.parts(entry), f"{where}[{place}].")
        else:
            yield f"{where}[{place}]: an entry is an object with a text as its {node.key}"


def _fits(node: FieldNode, value: Any) -> bool:
    """Whether it is of the field's type."""
    kind, values = node.field.type, node.field.values
    match kind:
        case "choice":
            return isinstance(value, str) and value in values
        case "choices" | "texts":
            return isinstance(value, list) and all(
                isinstance(text, str) and (kind == "texts" or text in values) for text in value
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "quantity":
            return is_quantity(value) and all(isinstance(part, str) for part in value.values())
        case "row":
            return isinstance(value, list) and all(isinstance(text, str) for text in value)
        case "rows":
            return isinstance(value, list) and all(
                isinstance(row, list) and all(isinstance(cell, str) for cell in row) for row in value
            )
    return kind == "text" and isinstance(value, str)


# --- what a model gave for a record -----------------------------------------------------------------------------------


Kind = Literal["unknown", "unfit", "not_said"]

MOST_PROBLEMS = 40
MODULE = "enquete.methods.discovery.reply"
"""By which pydantic names the parts of the form: it stays as it was first sent, wherever this code stands."""
LONGEST = 2000  # characters of a text


class ReadingProblem(BaseModel):
    """What of a reply was left out, and why: an unknown field, a value that does not fit, words that nobody said."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    path: str
    given: str
    why: str


@dataclass
class Checked:
    """values: an SCR; told: each value with its words."""

    values: Record = field(default_factory=dict)
    told: list[ToldValue] = field(default_factory=list)
    problems: list[ReadingProblem] = field(default_factory=list)


def checked(schema: DiscoverySchema, raw: Mapping[str, JsonValue], answer: str, known: Mapping[str, Any]) -> Checked:
    """known: the record so far, whose entries may be named by their key alone. A model that fills an original's schema
    may annotate its reply as that does."""
    result = Checked()
    model = record_model(schema)
    reply = stripped(dict(raw)) if schema.translated is not None else dict(raw)
    fitting = _fitting(model, reply, result.problems, list(schema.nodes))
    keys = {key for path, node, key in values(schema.nodes, known) if node.field.type == "list" and node.field.coined}
    restates = any(node.field.coined for node in schema.walk())
    taking = _Taking(answer, result, {normal(key) for key in keys}, restates)
    result.values = taking.taken(schema.nodes, fitting, (), known)
    return result


def record_model(schema: DiscoverySchema) -> type[BaseModel]:
    """Of a reply: every field optional, every value with its quote, nothing else allowed. Made once a schema."""
    if schema.content not in _MODELS:
        _MODELS[schema.content] = _made(schema.id, schema.nodes)
    return _MODELS[schema.content]


_MODELS: dict[str, type[BaseModel]] = {}


def reply_schema(schema: DiscoverySchema) -> Mapping[str, JsonValue]:
    """As JSON Schema, all fields named and those without a value null, which is what strict servers want."""
    return _form(record_model(schema))


@cache
def _form(model: type[BaseModel]) -> Mapping[str, JsonValue]:
    form: dict[str, JsonValue] = _all_required(model.model_json_schema())
    return form


# --- the model --------------------------------------------------------------------------------------------------------


def _made(name: str, nodes: Nodes, key: str | None = None) -> type[BaseModel]:
    fields: dict[str, Any] = {} if key is None else {"entry_key": (quoted(str), Field(alias=key))}
    for place, (each, node) in enumerate(nodes.items()):
        fields[f"field_{place}"] = (
            _type(node, f"{name}_{place}") | None,
            Field(default=None, alias=each, description=_told(node)),
        )
    title = re.sub(r"\W", "_", name)
    return create_model(title, __config__=ConfigDict(extra="forbid", title=title), __module__=MODULE, **fields)


def _type(node: FieldNode, name: str) -> Any:
    match node.field.type:
        case "object":
            return _made(name, node.children)
        case "list":
            entry = _made(name, node.children, node.key)
            form = BeforeValidator(partial(_entry_form, node.key))
            return list[Annotated[entry, form]]  # type: ignore[valid-type]  # a type made here
        case "choice" | "choices":
            value = quoted(closed(node))
        case "number":
            value = quoted(Annotated[float, BeforeValidator(_number)])
        case "boolean":
            value = quoted(bool)
        case "quantity":
            value = quoted(QUANTITY_FORM)
        case "row" | "rows":
            value = quoted(ROW_FORM)
        case _:
            value = quoted(Annotated[str, Field(max_length=LONGEST)])
    return list[value] if node.field.type in ("choices", "texts", "rows") else value  # type: ignore[valid-type]


SHORT = Annotated[str, Field(max_length=200)]
QUANTITY_FORM: Any = Annotated[
    create_model(
        "Quantity", __config__=ConfigDict(extra="forbid"), __module__=MODULE,
        value_string=(SHORT, Field(alias="value-string", description="the figure, or the words for it, as said")),
        units=(SHORT | None, Field(default=None, description="as said")),
        modifier=(SHORT | None, Field(default=None, description="up to, at least, about")),
    ),
    BeforeValidator(quantity_of),
]  # fmt: skip
ROW_FORM: Any = Annotated[list[SHORT], Field(max_length=50)]


def _entry_form(key: str, given: object) -> object:
    """A bare text, or one with its quote, is an entry with that key."""
    is_bare = isinstance(given, str) or (
        isinstance(given, Mapping) and set(given) == {"value", "quote"} and key not in given
    )
    return {key: given} if is_bare else given


@cache
def quoted(kind: Any) -> Any:
    """A value with the words it rests on. A bare value is taken where it is said itself."""

    def wrapped(given: object) -> object:
        if isinstance(given, Mapping) and "value-string" not in given:
            return given
        return {"value": given, "quote": as_said(given) if isinstance(given, Mapping) else str(given)}

    model = create_model(
        "Said", __config__=ConfigDict(extra="ignore"), __module__=MODULE, value=(kind, ...), quote=(str, "")
    )
    return Annotated[model, BeforeValidator(wrapped)]


def closed(node: FieldNode) -> Any:
    """One of a closed list: by id or label, whatever case, hyphens and umlauts; anything else is refused."""
    ids = tuple(node.field.values)
    names = {
        plain(text): each
        for each, value in node.field.values.items()
        for text in (each, *(getattr(value.label, language) or "" for language in ("de", "en")))
        if text
    }

    def mapped(given: object) -> object:
        value_id = names.get(plain(str(given)))
        if value_id is None:
            raise PydanticCustomError("closed", "{why}", {"why": f"is none of: {', '.join(ids)}"})
        return value_id

    return Annotated[Literal[ids], BeforeValidator(mapped)]


def plain(text: str) -> str:
    """As closed lists are compared."""
    return normal(text).replace(" ", "").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")


LARGEST = 1e15
"""Below it a number keeps all its digits."""


def _number(given: object) -> float:
    """Read a number as people write it: 1,5 and 1.250,5 and 1.5; never infinite. "1.500" may be two and is refused."""
    text = given.written if isinstance(given, WrittenFloat) else str(given)
    meanings = sorted(set(read_number(text).values()))
    if isinstance(given, bool) or not meanings or abs(meanings[-1]) >= LARGEST:
        raise PydanticCustomError("number", "should be a number")
    if len(meanings) > 1:
        raise PydanticCustomError(
            "number", "{why}",
            {"why": f"may be {meanings[0]:.15g} or {meanings[1]:.15g}; write it without a mark between thousands"},
        )  # fmt: skip
    return meanings[0]


def _told(node: FieldNode) -> str:
    field = node.field
    said_of = field.description or field.label
    unit = f" ({field.unit.in_('en')})" if field.unit else ""
    return f"{said_of.in_('en')}{unit}"


def _all_required(schema: Any) -> Any:
    if isinstance(schema, dict):
        made = {
            key: _all_required(value) for key, value in schema.items() if key not in ("default", "title", "maxLength")
        }
        if isinstance(made.get("properties"), dict):
            made |= {"required": list(made["properties"]), "additionalProperties": False}
        return made
    return [_all_required(each) for each in schema] if isinstance(schema, list) else schema


# --- what fits --------------------------------------------------------------------------------------------------------


def _fitting(model: type[BaseModel], raw: Any, problems: list[ReadingProblem], fields: Sequence[str]) -> dict[str, Any]:
    """The reply without what does not fit, which is named: one problem is taken out at a time."""
    raw = deepcopy(raw)
    for _ in range(MOST_PROBLEMS):
        try:
            return model.model_validate(raw).model_dump(by_alias=True, exclude_none=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            problems.append(_problem(first, fields))
            if not _without(raw, first):
                break
    return {}


def _problem(error: ErrorDetails, fields: Sequence[str]) -> ReadingProblem:
    path = ".".join(str(step) for step in error["loc"] if step not in ("value", "quote"))
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        return ReadingProblem(
            kind="unknown", path=path, given=shown(error["input"]), why=f"is no field{suggestion(name, fields)}"
        )
    return ReadingProblem(kind="unfit", path=path, given=shown(error["input"]), why=error["msg"])


def _without(raw: Any, error: ErrorDetails) -> bool:
    """Take out what the error is about: an unknown key, or the smallest whole value around it."""
    loc = list(error["loc"])
    if error["type"] == "missing" and loc:
        loc.pop()
    while loc and loc[-1] in ("value", "quote"):
        loc.pop()
    around: tuple[Any, Any] | None = None
    for step in loc:
        is_inside = step in raw if isinstance(raw, dict) else isinstance(raw, list) and isinstance(step, int)
        if not is_inside:  # a bare value, where a form was expected
            break
        around, raw = (raw, step), raw[step]
    if around is None:
        return False
    del around[0][around[1]]
    return True


# --- what was said ----------------------------------------------------------------------------------------------------


@dataclass
class _Taking:
    """Plain values of a reply whose words stand in the answer. coined: keys that an interviewer chose, which texts may
    refer to; restates: what is known already may be given again."""

    answer: str
    result: Checked
    coined: set[str]
    restates: bool

    def taken(self, nodes: Nodes, raw: Mapping[str, Any], above: Path, known: Mapping[str, Any]) -> Record:
        record: Record = {}
        for name, given in raw.items():
            before = (known or {}).get(name)
            if name in nodes and not self._is_restated(given, before):
                value = self._taken(nodes[name], given, (*above, name), before)
                if there(value):
                    record[name] = value
        return record

    def _is_restated(self, given: Any, known: Any) -> bool:
        """A whole record that is given again, with what is new in it, quotes no words for the rest."""
        return (
            self.restates
            and isinstance(given, dict)
            and there(known)
            and "value" in given
            and same(given["value"], known)
        )

    def _taken(self, node: FieldNode, given: Any, path: Path, known: Any) -> Any:
        match node.field.type:
            case "object":
                return self.taken(node.children, given, path, known or {})
            case "list":
                return [entry for raw in given if (entry := self._entry(node, raw, path, known or []))]
            case "choices" | "texts" | "rows":
                before = known if isinstance(known, list) else []
                fresh = [raw for raw in given if not any(self._is_restated(raw, each) for each in before)]
                return [value for raw in fresh if there(value := self._value(raw, path))]
            case "text" if node.field.coined:
                return self._coined_text(given, path)
            case _:
                return self._value(given, path)

    def _coined_text(self, given: Mapping[str, Any], path: Path) -> str | None:
        value = given["value"].strip()
        quote = given["quote"].strip() if stands_in(given["quote"], self.answer) else ""
        if value:
            self.result.told.append(ToldValue(path=path, value=value, quote=quote))
        return value or None

    def _entry(
        self, node: FieldNode, given: Mapping[str, Any], path: Path, known: Sequence[Mapping[str, Any]]
    ) -> Record:
        key = node.key
        name = given[key]["value"].strip()
        before = next((entry for entry in known if same(entry[key], name)), None)
        if before is not None:
            name = before[key]
        elif node.field.coined:
            return self._coined_entry(node, given, path)
        elif self._value(given[key], (*path, name)) is None:
            return {}
        return {key: name, **self.taken(node.children, node.parts(given), (*path, name), before or {})}

    def _coined_entry(self, node: FieldNode, given: Mapping[str, Any], path: Path) -> Record:
        """A key that nobody said stands for what was: on the words of the first value below it."""
        key, begun = node.key, len(self.result.told)
        name = given[key]["value"].strip()
        if not name:
            return {}
        place, at = (*path, name), len(self.result.problems)
        is_said = self._value(given[key], place) is not None
        parts = self.taken(node.children, node.parts(given), place, {})
        if not is_said and parts:
            del self.result.problems[at]
            quote = next((value.quote for value in self.result.told[begun:]), "")
            self.result.told.insert(begun, ToldValue(path=place, value=name, quote=quote))
        self.coined.add(normal(name))
        return {key: name, **parts} if is_said or parts else {}

    def _value(self, given: Mapping[str, Any], path: Path) -> Any:
        """The value, where its quote stands in the answer, or it does itself; else None, and a problem."""
        value = given["value"].strip() if isinstance(given["value"], str) else given["value"]
        quote = next((text for text in (given["quote"], *_words_of(value)) if stands_in(text, self.answer)), None)
        if quote is None and isinstance(value, list) and any(value):  # a row that was said cell by cell
            quote = "; ".join(filter(None, value)) if all(not c or stands_in(c, self.answer) for c in value) else None
        if quote is None and isinstance(value, str) and normal(value) in self.coined:
            quote = value
        if quote is None or not there(value):
            why = "quote the words of the answer that say so; what nobody said stays empty"
            self.result.problems.append(
                ReadingProblem(kind="not_said", path=".".join(path), given=shown(given["quote"]), why=why)
            )
            return None
        self.result.told.append(ToldValue(path=path, value=value, quote=quote.strip()))
        return value


def _words_of(value: Any) -> Iterator[str]:
    """In which a value may have been said itself."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield as_said(value)
        yield as_said({name: part for name, part in value.items() if name != "modifier"})
        figures = _RANGE.search(value["value-string"])
        if figures and value.get("units"):
            yield f"{figures[0]} {value['units']}"
