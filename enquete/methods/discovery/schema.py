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

Or in the annotated form of the systems that such schemas come from (originals.py), as JSON.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictInt,
    field_validator,
    model_serializer,
    model_validator,
)

from enquete.instruments.expressions import MOST, Expression, ExpressionError, expression
from enquete.instruments.load import LayerFile, load_layer, validate_instrument
from enquete.instruments.source import MOST_BYTES, SourceFile, read_source
from enquete.instruments.text import Line, Part, Text, current, not_empty, suggestion, wrong
from enquete.methods.discovery.originals import ENDINGS, message_of, translated
from enquete.state.asking import Language
from enquete.state.errors import InstrumentError
from enquete.state.untrusted_input import read_regular

Type = Literal["choice", "choices", "text", "texts", "number", "quantity", "boolean", "row", "rows", "object", "list"]
"""quantity: a figure or words for one, with a unit, as they were said; row: texts whose places matter, some empty;
rows: several of them, as in a table."""
Reducer = Literal["last", "union", "upsert", "deep"]

REDUCERS: Mapping[Type, tuple[Reducer, ...]] = {
    "choice": ("last",), "text": ("last",), "number": ("last",), "boolean": ("last",), "choices": ("union", "last"),
    "quantity": ("last",), "row": ("last",), "rows": ("union", "last"), "texts": ("union", "last"),
    "object": ("deep", "last"), "list": ("deep", "upsert", "last"),
}  # fmt: skip
"""Those that make sense for a type; the first is taken unless the schema names another."""

MOST_QUESTIONS = 100
LAYER = "discovery"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\??")
_SCHEMA_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(/[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise wrong("is no name of a field; use letters, digits, - and _, first a letter; a ? may end it")
    return value


def _schema_id(value: str) -> str:
    """As a file's, or with what it belongs to before a slash: process/flow-shop."""
    if not _SCHEMA_ID.fullmatch(value):
        raise wrong(
            f"{value!r} is no id of a schema; use letters, digits and _ - . with at most one slash between them"
        )
    return value


class SparsePart(Part):
    """Written without what it does not say of `sparse`: a run's settings stay the same as long as nothing new is
    used."""

    sparse: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_unsaid(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        whole: dict[str, Any] = written(self)
        return {name: value for name, value in whole.items() if value is not None or name not in self.sparse}


FieldName = Annotated[Line, AfterValidator(_name)]
ValueId = Annotated[Line, AfterValidator(_name)]


class Value(SparsePart):
    """One of a closed list. `words`: by which a rule knows it beside its label; a * at the end stands for any
    ending. `description`: what it means, for whoever reads answers."""

    inline_text = "label"
    sparse = ("description",)

    label: Text
    description: Text | None = None
    words: Mapping[Language, tuple[Line, ...]] = {}


class SchemaField(SparsePart):
    """What is to be found out. `question`: how a rule asks for it; `more`: for another entry of a list; `closing`:
    asked for when all else is there; `nested`: levels in which entries of a list may hold such a list themselves.

    `wanted`: not needed, but asked for before what closes the interview. `coined`: whoever reads an answer may choose
    the words, of a text or of the keys of a list, as long as something that was said stands below such a key."""

    sparse = ("wanted", "coined")

    type: Type
    label: Text
    description: Text | None = None
    question: Text | None = None
    more: Text | None = None
    required: StrictBool = False
    closing: StrictBool = False
    wanted: StrictBool | None = None
    coined: StrictBool | None = None
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
        for name, content, wanted in (("values", self.values, closed), ("fields", self.fields, holds)):
            if bool(content) != wanted:
                raise wrong(f"{self.type} {'needs' if wanted else 'has no'} `{name}`")
        if (self.key is not None) != (self.type == "list"):
            raise wrong("a list needs `key`, the field by which its entries are told apart; nothing else has one")
        if self.key in self.fields:
            raise wrong(f"`key` {self.key!r} stands among the fields too; it is a text of its own")
        if self.reducer is not None and self.reducer not in REDUCERS[self.type]:
            raise wrong(f"reducer {self.reducer!r} does not fit {self.type}; {' or '.join(REDUCERS[self.type])} does")
        if self.nested > 1 and self.type != "list":
            raise wrong("only a list can be nested in itself")
        if self.coined and self.type not in ("text", "list"):
            raise wrong("`coined` is for a text, or for the keys of a list")
        if self.units and self.type not in ("number", "quantity"):
            raise wrong("only a number or a quantity has `units`")
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

    @property
    def key(self) -> str:
        """Of a list: the field by which its entries are told apart."""
        return str(self.field.key)

    def parts(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Of an entry of a list, without its key."""
        return {name: value for name, value in entry.items() if name != self.key}

    @cached_property
    def children(self) -> Mapping[str, FieldNode]:
        """Of an object, or of every entry of a list; without the key."""
        children = {name: FieldNode(name, (*self.path, name), field) for name, field in self.field.fields.items()}
        if self.level < self.field.nested:
            children[self.name] = FieldNode(self.name, (*self.path, self.name), self.field, self.level + 1)
        return children

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
    fields = current().document.get("fields")
    try:
        wanted = expression(text)
    except ExpressionError as error:
        raise wrong(str(error)) from None
    if isinstance(fields, Mapping):
        _require_fields(wanted, wanted.tree, fields)
    if wanted.holds({}):
        raise wrong(f"{text!r} is met by an empty record; say what must be there")
    if isinstance(fields, Mapping) and not any(wanted.holds(_full(fields, yes=yes)) for yes in (True, False)):
        raise wrong(f"{text!r} cannot be met, whatever the record holds")
    return text


def _require_fields(wanted: Expression, tree: ast.AST, fields: Mapping[Any, Any]) -> None:
    """That what the expression names is among the fields of the file as it was read; every(…) goes into a list's
    own."""
    if isinstance(tree, ast.Name):
        _at(fields, wanted.path(tree))
    if isinstance(tree, ast.Compare) and isinstance(tree.left, ast.Name):
        path = wanted.path(tree.left)
        kind = _at(fields, path).get("type")
        if kind in ("quantity", "row", "rows"):
            raise wrong(
                f"{shown_path(path)}: a {kind} cannot be compared; write it alone, or known({shown_path(path)})"
            )
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
    field: Mapping[Any, Any] = {"fields": fields}
    for step in path:
        inner = field.get("fields")
        names = [str(name) for name in inner] if isinstance(inner, Mapping) else []
        if step not in names:
            raise wrong(f"{step!r} is no field here{suggestion(step, names)}")
        field = inner[step] if isinstance(inner, Mapping) and isinstance(inner[step], Mapping) else {}
    return field


def _full(fields: Mapping[Any, Any], *, yes: bool) -> dict[str, Any]:
    """A record in which everything is there, and enough of it for any count; booleans all yes, or all no."""
    record: dict[str, Any] = {}
    for name, field in fields.items():
        spec = field if isinstance(field, Mapping) else {}
        below = _full(spec["fields"], yes=yes) if isinstance(spec.get("fields"), Mapping) else {}
        kind, anything = spec.get("type"), _Anything(tuple(map(str, spec.get("values") or ())))
        record[str(name)] = (
            yes if kind == "boolean" else [{"key": str(n), **below} for n in range(MOST)] if kind == "list"
            else below if kind == "object" else [anything] * MOST if kind in ("texts", "choices") else anything
        )  # fmt: skip
    return record


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


class DiscoverySchema(SparsePart, LayerFile):
    """The file. Raises InstrumentError naming line and field. `translated`: what was made explicit that an original
    says by example."""

    sparse = ("translated",)

    id: Annotated[Line, AfterValidator(_schema_id)]
    translated: tuple[str, ...] | None = None
    objective: Text
    needs: tuple[Line, ...] = ()  # schemas whose records an interviewer wants before this one
    decrement: Annotated[Decimal, Field(gt=0, le=1, decimal_places=4)] = Decimal("0.1")
    fields: Annotated[dict[FieldName, SchemaField], AfterValidator(not_empty)]
    complete: Annotated[Line, AfterValidator(_completion)] | None = None

    @field_validator("decrement", mode="before")
    @classmethod
    def _decimal(cls, value: object) -> object:
        return str(value) if isinstance(value, float) else value  # 0.1 is 0.1, not the float beside it

    @model_validator(mode="after")
    def _can_be_complete(self) -> Self:
        if self.complete is None and not any(field.required for field in self.fields.values()):
            raise wrong("nothing says when the record is complete: mark fields as `required`, or write `complete: …`")
        if self.questions < 1 or self.questions > MOST_QUESTIONS:
            raise wrong(
                f"decrement {self.decrement} gives {self.questions} questions; 1 to {MOST_QUESTIONS} make an interview"
            )
        return self

    @cached_property
    def nodes(self) -> Mapping[str, FieldNode]:
        return {name: FieldNode(name, (name,), field) for name, field in self.fields.items()}

    @property
    def session(self) -> str:
        """The id as part of an answer's, which slashes divide."""
        return self.id.replace("/", "--")

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
        required = [name for name, field in self.fields.items() if field.required]
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


# --- schemas by name, and as somebody hands them over -----------------------------------------------------------------


GIVEN = "the schema given"


def load_schema(name: str, own_folder: str | None = None) -> DiscoverySchema:
    """A shipped schema, else a file; with `own_folder` what lies there, and no path. Raises InstrumentError."""
    if own_folder is not None:
        files = (Path(own_folder, LAYER, f"{Path(name).name}{end}") for end in ENDINGS)
        path = next(filter(Path.is_file, files), None)
        if path is None or name not in (path.stem, f"{LAYER}/{path.stem}"):
            return load_layer(DiscoverySchema, LAYER, name, own_folder)
    else:
        path = Path(name).expanduser()
        if path.suffix not in ENDINGS:
            return load_layer(DiscoverySchema, LAYER, name, own_folder)
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise InstrumentError([f"{path}: cannot be read ({error.strerror or error})"]) from None
    return from_original(raw, str(path) if own_folder is None else path.name)


def from_original(raw: bytes, name: str) -> DiscoverySchema:
    """Read the annotated form, written as JSON. Raises InstrumentError."""
    return _validated(translated(message_of(raw, name), name), name)


def given_schema(given: Mapping[str, Any] | str) -> DiscoverySchema:
    """One that is handed over: an object in either form, or the text of a file in any. Raises InstrumentError."""
    if isinstance(given, Mapping):
        return _validated(given if "fields" in given else translated(given, GIVEN), GIVEN)
    text = given.strip()
    if text.startswith("{"):
        return from_original(text.encode(), f"{GIVEN}.json")
    return validate_instrument(DiscoverySchema, read_source(GIVEN, text.encode()))


def is_given(named: object) -> bool:
    """Whether this is a schema itself, and no name of one."""
    return isinstance(named, Mapping) or (
        isinstance(named, str) and ("\n" in named.strip() or named.lstrip()[:1] == "{")
    )


def _validated(document: Mapping[str, Any], name: str) -> DiscoverySchema:
    values: dict[str | int, Any] = dict(document.items())
    return validate_instrument(DiscoverySchema, SourceFile(name, values, {}, {}, ()))
