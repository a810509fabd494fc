"""A discovery schema: what an interview is to find out, as a YAML file. Fields with types, when the record is complete,
how answers add up, and how many questions it may take.

    id: warm-up
    version: "1.0"
    title: What is hard here
    objective: Learn what troubles the plant
    decrement: 0.10                      # what a question takes of a budget of 1: ten questions, unless a run names its
    own fields:
      challenges: {type: choices, label: challenges, required: true, values: {demand: uncertain demand, bottleneck: a
      bottleneck}}
      stages:                            # a list of objects, one a key
        {type: list, key: stage, label: stages, fields: {minutes: {type: number, unit: minutes, label: minutes}}}
    complete: challenges and every(stages, minutes)

Or in the annotated JSON form, whose leaves are {val, comment} examples:

    {"message-type": "discovery-schema", "DS": "flow-shop", "budget-decrement": 0.1, "interview-objective": "Learn how
    …",
     "complete-when": "exhausted?", "discovery-schema": {"process-id": {"val": "mixing", "comment": "what it is
     called"}, …}}

There a property that ends in -id is the key of the list it stands in; annotations become descriptions and examples,
then go.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, field_validator, model_validator

from enquete.instruments.document import Line, current, not_empty, suggestion, wrong
from enquete.instruments.expressions import MOST, Expression, ExpressionError, expression
from enquete.instruments.load import LayerFile, load_layer, validate_instrument
from enquete.instruments.source import MOST_BYTES, read_source
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language
from enquete.state.errors import InstrumentError
from enquete.state.regular_files import read_regular

Type = Literal["choice", "choices", "text", "texts", "number", "boolean", "object", "list"]
Reducer = Literal["last", "union", "upsert", "deep"]

REDUCERS: Mapping[Type, tuple[Reducer, ...]] = {
    "choice": ("last",), "text": ("last",), "number": ("last",), "boolean": ("last",), "choices": ("union", "last"),
    "texts": ("union", "last"), "object": ("deep", "last"), "list": ("deep", "upsert", "last"),
}  # fmt: skip
"""Those that make sense for a type; the first is taken unless the schema names another."""

MOST_QUESTIONS = 100

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\??")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise wrong("is no name of a field; use letters, digits, - and _, first a letter; a ? may end it")
    return value


FieldName = Annotated[Line, AfterValidator(_name)]
ValueId = Annotated[Line, AfterValidator(_name)]


class Value(Part):
    """One of a closed list. `words`: by which a rule knows it beside its label; a * at the end stands for any
    ending."""

    inline_text = "label"

    label: Text
    words: Mapping[Language, tuple[Line, ...]] = {}


class SchemaField(Part):
    """What is to be found out. `question`: how a rule asks for it; `more`: for another entry of a list; `closing`:
    asked for when all else is there; `nested`: levels in which entries of a list may hold such a list themselves."""

    type: Type
    label: Text
    description: Text | None = None
    question: Text | None = None
    more: Text | None = None
    required: StrictBool = False
    closing: StrictBool = False
    reducer: Reducer | None = None
    values: Mapping[ValueId, Value] = {}
    unit: Text | None = None
    units: Mapping[Line, float] = {}  # other words for the unit, and other units, with the factor to it
    key: Annotated[Line, AfterValidator(_name)] | None = None
    fields: Mapping[FieldName, SchemaField] = {}
    nested: Annotated[StrictInt, Field(ge=1, le=4)] = 1
    examples: Mapping[Language, tuple[Line, ...]] = {}

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        closed, holds = self.type in ("choice", "choices"), self.type in ("object", "list")
        for name, given, wanted in (("values", self.values, closed), ("fields", self.fields, holds)):
            if bool(given) != wanted:
                raise wrong(f"{self.type} {'needs' if wanted else 'has no'} `{name}`")
        if (self.key is not None) != (self.type == "list"):
            raise wrong("a list needs `key`, the field by which its entries are told apart; nothing else has one")
        if self.key in self.fields:
            raise wrong(f"`key` {self.key!r} stands among the fields too; it is a text of its own")
        if self.reducer is not None and self.reducer not in REDUCERS[self.type]:
            raise wrong(f"reducer {self.reducer!r} does not fit {self.type}; {' or '.join(REDUCERS[self.type])} does")
        if self.nested > 1 and self.type != "list":
            raise wrong("only a list can be nested in itself")
        return self


SchemaField.model_rebuild()


@dataclass(frozen=True)
class FieldNode:
    """A field where it stands. `path`: names of fields from the top, a list's entries counted as one."""

    name: str
    path: tuple[str, ...]
    field: SchemaField
    level: int = 1  # of a list that is nested in itself

    @property
    def reducer(self) -> Reducer:
        return self.field.reducer or REDUCERS[self.field.type][0]

    @cached_property
    def children(self) -> Mapping[str, FieldNode]:
        """Of an object, or of every entry of a list; without the key."""
        own = {name: FieldNode(name, (*self.path, name), one) for name, one in self.field.fields.items()}
        if self.level < self.field.nested:
            own[self.name] = FieldNode(self.name, (*self.path, self.name), self.field, self.level + 1)
        return own

    def walk(self) -> Iterator[FieldNode]:
        """Itself and what is below it; a list that is nested in itself once."""
        if self.level == 1:
            yield self
            for child in self.children.values():
                yield from child.walk()


def shown_path(path: tuple[str, ...]) -> str:
    """("stages", "minutes") as stages.minutes: a column of the record table."""
    return ".".join(path)


def _completion(text: str) -> str:
    """Refers to fields that exist, is not met by an empty record, and can be met."""
    given = current().document.get("fields")
    try:
        wanted = expression(text)
    except ExpressionError as error:
        raise wrong(str(error)) from None
    if isinstance(given, Mapping):
        _require_fields(wanted, wanted.tree, given)
    if wanted.holds({}):
        raise wrong(f"{text!r} is met by an empty record; say what must be there")
    if isinstance(given, Mapping) and not any(wanted.holds(_full(given, yes=yes)) for yes in (True, False)):
        raise wrong(f"{text!r} cannot be met, whatever the record holds")
    return text


def _require_fields(wanted: Expression, tree: ast.AST, fields: Mapping[Any, Any]) -> None:
    """That what the expression names is among the fields of the file as it was read; every(…) goes into a list's
    own."""
    if isinstance(tree, ast.Name):
        _at(fields, wanted.path(tree))
    if isinstance(tree, ast.Call) and len(tree.args) > 1:
        path = wanted.path(tree.args[0])
        named = _at(fields, path)
        if named.get("type") != "list":
            raise wrong(f"every({shown_path(path)}, …): that is no list")
        inner = named.get("fields")
        _require_fields(wanted, tree.args[1], inner if isinstance(inner, Mapping) else {})
        return
    for part in tree.args if isinstance(tree, ast.Call) else ast.iter_child_nodes(tree):
        _require_fields(wanted, part, fields)


def _at(fields: Mapping[Any, Any], path: tuple[str, ...]) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = {"fields": fields}
    for step in path:
        inner = found.get("fields")
        known = [str(name) for name in inner] if isinstance(inner, Mapping) else []
        if step not in known:
            raise wrong(f"{step!r} is no field here{suggestion(step, known)}")
        found = inner[step] if isinstance(inner, Mapping) and isinstance(inner[step], Mapping) else {}
    return found


def _full(fields: Mapping[Any, Any], *, yes: bool) -> dict[str, Any]:
    """A record in which everything is there, and enough of it for any count; booleans all yes, or all no."""
    made: dict[str, Any] = {}
    for name, field in fields.items():
        told = field if isinstance(field, Mapping) else {}
        below = _full(told["fields"], yes=yes) if isinstance(told.get("fields"), Mapping) else {}
        kind, one = told.get("type"), _Anything(tuple(map(str, told.get("values") or ())))
        made[str(name)] = (
            yes if kind == "boolean" else [{"key": str(n), **below} for n in range(MOST)] if kind == "list"
            else below if kind == "object" else [one] * MOST if kind in ("texts", "choices") else one
        )  # fmt: skip
    return made


class _Anything:
    """Stands for whatever a field may hold: equal to each of its values, and to others than that; larger and
    smaller."""

    def __init__(self, values: tuple[str, ...]):
        self._values = values

    def __eq__(self, other: object) -> bool:
        return not self._values or other in self._values

    def __ne__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = object.__hash__


class DiscoverySchema(LayerFile):
    """The file. Raises InstrumentError naming line and field."""

    objective: Text
    needs: tuple[Line, ...] = ()  # schemas whose records an interviewer wants before this one
    decrement: Annotated[Decimal, Field(gt=0, le=1, decimal_places=4)] = Decimal("0.1")
    fields: Annotated[dict[FieldName, SchemaField], AfterValidator(not_empty)]
    complete: Annotated[Line, AfterValidator(_completion)] | None = None

    @field_validator("decrement", mode="before")
    @classmethod
    def _decimal(cls, given: object) -> object:
        return str(given) if isinstance(given, float) else given  # 0.1 is 0.1, not the float beside it

    @model_validator(mode="after")
    def _can_be_complete(self) -> Self:
        if self.complete is None and not any(one.required for one in self.fields.values()):
            raise wrong("nothing says when the record is complete: mark fields as `required`, or write `complete: …`")
        if self.questions < 1 or self.questions > MOST_QUESTIONS:
            raise wrong(
                f"decrement {self.decrement} gives {self.questions} questions; 1 to {MOST_QUESTIONS} make an interview"
            )
        return self

    @cached_property
    def nodes(self) -> Mapping[str, FieldNode]:
        return {name: FieldNode(name, (name,), field) for name, field in self.fields.items()}

    @cached_property
    def content(self) -> str:
        """All of it, as one text: schemas of the same content are the same."""
        return self.model_dump_json()

    @property
    def questions(self) -> int:
        """That its own budget of 1 buys."""
        return int(Decimal(1) / self.decrement)

    @cached_property
    def completion(self) -> Expression:
        """All required fields, and the expression where there is one."""
        required = [name for name, one in self.fields.items() if one.required]
        parts = [*(f"known({name})" for name in required), *([f"({self.complete})"] if self.complete else [])]
        return expression(" and ".join(parts))

    def walk(self) -> Iterator[FieldNode]:
        """Every field at every depth."""
        for node in self.nodes.values():
            yield from node.walk()

    def at(self, path: tuple[str, ...]) -> FieldNode | None:
        """The field at a path whose lists are followed by the key of an entry: ("stages", "mixing", "minutes")."""
        steps, nodes, node = list(path), self.nodes, None
        while steps:
            node = nodes.get(steps.pop(0))
            if node is None:
                return None
            if node.field.type == "list" and steps:
                steps.pop(0)
            nodes = node.children
        return node


# --- the annotated JSON form, and schemas by name ---------------------------------------------------------------------


KEY = "-id"
BODY = ("discovery-schema", "body", "DS-body")


def load_schema(name: str, shelf: str | None = None) -> DiscoverySchema:
    """A shipped schema, else a file; with a `shelf`, a folder, what lies there, and no path. Raises InstrumentError."""
    if shelf is not None or Path(name).suffix != ".json":
        return load_layer(DiscoverySchema, "discovery", name, shelf)
    path = Path(name).expanduser()
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise InstrumentError([f"{path}: cannot be read ({error.strerror or error})"]) from None
    return from_json(raw, str(path))


def from_json(raw: bytes, name: str) -> DiscoverySchema:
    """The annotated form. Raises InstrumentError."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InstrumentError([f"{name}: no JSON: {error}"]) from None
    body = next((found[key] for key in BODY if isinstance(found, dict) and key in found), None)
    if not isinstance(body, dict) or not body:
        raise InstrumentError([f"{name}: has no `{BODY[0]}`, an object whose leaves are {{val, comment}}"])
    made: dict[str, Any] = {
        "id": str(found.get("DS") or found.get("ds-id") or Path(name).stem),
        "version": str(found.get("version", "1")),
        "title": str(found.get("title") or found.get("DS") or Path(name).stem),
        "language_default": "en",
        "objective": str(found.get("interview-objective") or found.get("objective") or ""),
        "fields": _fields(body),
    }
    if "budget-decrement" in found:
        made["decrement"] = found["budget-decrement"]
    if "complete-when" in found:
        made["complete"] = str(found["complete-when"])
    elif not any(field.get("required") for field in made["fields"].values()):
        for field in made["fields"].values():  # then all of it is wanted
            field["required"] = True
    return validate_instrument(DiscoverySchema, read_source(name, json.dumps(made, ensure_ascii=False).encode()))


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _field(name, given) for name, given in body.items()}


def _field(name: str, given: Any) -> dict[str, Any]:
    comment, value = (
        (given.get("comment", ""), given["val"]) if isinstance(given, Mapping) and "val" in given else ("", given)
    )
    made: dict[str, Any] = {"label": name.replace("-", " ").rstrip("?"), **_typed(name, value)}
    if comment:
        made["description"] = str(comment)
    if made["type"] in ("text", "texts"):
        examples = [str(each) for each in (value if isinstance(value, list) else [value]) if str(each).strip()]
        made |= {"examples": {"en": examples}} if examples else {}
    return made


def _typed(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool) or (name.endswith("?") and value is None):
        return {"type": "boolean"} | ({"closing": True} if name.startswith("exhausted") else {})
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, Mapping):
        return {"type": "object", "fields": _fields(value)}
    if isinstance(value, list) and value and isinstance(_plain(value[0]), Mapping):
        return _list(name, [_plain(each) for each in value if isinstance(_plain(each), Mapping)])
    return {"type": "texts" if isinstance(value, list) else "text"}


def _plain(value: Any) -> Any:
    return value["val"] if isinstance(value, Mapping) and "val" in value else value


def _list(name: str, entries: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Of objects: what any of the examples has, told apart by the property that ends in -id, else by the first."""
    parts: dict[str, Any] = {}
    for entry in entries:
        parts |= {each: value for each, value in entry.items() if each not in parts}
    key = next((each for each in parts if each.endswith(KEY)), next(iter(parts)))
    nests = name in parts
    own = {each: value for each, value in parts.items() if each not in (key, name)}
    if not own:
        own = {"note": ""}
    return {"type": "list", "key": key, "fields": _fields(own), **({"nested": 3} if nests else {})}
