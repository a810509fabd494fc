"""A discovery schema: what an interview is to find out, as a YAML file. Fields with types, when the record is complete, how
answers add up, and how many questions it may take.

    id: warm-up
    version: "1.0"
    title: What is hard here
    objective: Learn what troubles the plant
    decrement: 0.10                      # what a question takes of a budget of 1: ten questions, unless a run names its own
    fields:
      challenges: {type: choices, label: challenges, required: true, values: {demand: uncertain demand, bottleneck: a bottleneck}}
      stages:                            # a list of objects, one a key
        {type: list, key: stage, label: stages, fields: {minutes: {type: number, unit: minutes, label: minutes}}}
    complete: challenges and every(stages, minutes)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, field_validator, model_validator

from enquete.graphs.discovery.completion import Completion, CompletionError, compiled
from enquete.instruments.layers import LayerFile
from enquete.instruments.reading import Line, current, not_empty, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language

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
    """One of a closed list. `words`: by which a rule knows it beside its label; a * at the end stands for any ending."""

    inline_text = "label"

    label: Text
    words: Mapping[Language, tuple[Line, ...]] = {}


class SchemaField(Part):
    """What is to be found out. `question`: how a rule asks for it; `more`: for another entry of a list; `closing`: asked
    for when all else is there; `nested`: levels in which entries of a list may hold such a list themselves."""

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
class Node:
    """A field where it stands. `path`: names of fields from the top, a list's entries counted as one."""

    name: str
    path: tuple[str, ...]
    field: SchemaField
    level: int = 1  # of a list that is nested in itself

    @property
    def reducer(self) -> Reducer:
        return self.field.reducer or REDUCERS[self.field.type][0]

    @cached_property
    def children(self) -> Mapping[str, Node]:
        """Of an object, or of every entry of a list; without the key."""
        own = {name: Node(name, (*self.path, name), one) for name, one in self.field.fields.items()}
        if self.level < self.field.nested:
            own[self.name] = Node(self.name, (*self.path, self.name), self.field, self.level + 1)
        return own

    def walk(self) -> Iterator[Node]:
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
        compiled(text).check(fields if isinstance(fields, Mapping) else None)
    except CompletionError as error:
        raise wrong(str(error)) from None
    return text


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
    def nodes(self) -> Mapping[str, Node]:
        return {name: Node(name, (name,), field) for name, field in self.fields.items()}

    @cached_property
    def content(self) -> str:
        """All of it, as one text: schemas of the same content are the same."""
        return self.model_dump_json()

    @property
    def questions(self) -> int:
        """That its own budget of 1 buys."""
        return int(Decimal(1) / self.decrement)

    @cached_property
    def completion(self) -> Completion:
        """All required fields, and the expression where there is one."""
        required = [name for name, one in self.fields.items() if one.required]
        parts = [*(f"known({name})" for name in required), *([f"({self.complete})"] if self.complete else [])]
        return compiled(" and ".join(parts))

    def walk(self) -> Iterator[Node]:
        """Every field at every depth."""
        for node in self.nodes.values():
            yield from node.walk()

    def at(self, path: tuple[str, ...]) -> Node | None:
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
