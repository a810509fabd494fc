"""When a record is complete: a small expression over its fields, and what it still lacks.

    challenges and (count(stages) >= 2 or exhausted?) and every(stages, minutes and known(parallel?))

A name is met by what is there and not empty; a boolean one only by yes, `known(name)` by either. `every(list, …)` wants an entry
and holds for all of them, nested ones too; `object.field` looks inside. Operators: and, or, not, count(…) >= n, name == "value".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from enquete.instruments.reading import suggestion

Path = tuple[str, ...]
Record = Mapping[str, Any]

_WORDS = {"and", "or", "not", "count", "every", "known"}
_TOKEN = re.compile(r'"[^"]*"|[A-Za-z][A-Za-z0-9_-]*\??(?:\.[A-Za-z][A-Za-z0-9_-]*\??)*')
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.GtE: lambda one, other: one >= other,
    ast.Gt: lambda one, other: one > other,
    ast.Eq: lambda one, other: one == other,
}
MOST = 500
"""Characters."""


class CompletionError(ValueError):
    """What is wrong with the expression."""


def there(value: object) -> bool:
    """Whether a field says something: no, 0 and false do."""
    return value is not None and value != "" and value != [] and value != {}


def inside(record: Record, path: Sequence[str]) -> Any:
    found: Any = record
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


@cache
def compiled(text: str) -> Completion:
    """Raises CompletionError."""
    if len(text) > MOST:
        raise CompletionError(f"longer than {MOST} characters")
    names: list[str] = []

    def placed(token: re.Match[str]) -> str:
        word = token[0]
        if word in _WORDS or word.startswith('"'):
            return word
        names.append(word)
        return f"_{len(names) - 1}"

    try:
        tree = ast.parse(_TOKEN.sub(placed, text), mode="eval").body
    except SyntaxError:
        raise CompletionError(
            f"{text!r} is no expression; write fields joined by and, or, not, as in: a and (b or count(c) >= 2)"
        ) from None
    completion = Completion(text, tree, tuple(tuple(name.split(".")) for name in names))
    completion.well_formed(tree)
    return completion


@dataclass(frozen=True)
class Completion:
    """An expression, ready. `names`: those in it, in their order; node `_3` of the tree stands for the fourth."""

    text: str
    tree: ast.expr
    names: tuple[Path, ...]

    def holds(self, record: Record) -> bool:
        return self._holds(self.tree, record)

    def lacking(self, record: Record) -> list[Path]:
        """Paths that would help: lists are followed by the key of an entry. Empty once it holds."""
        return list(dict.fromkeys(self._lacking(self.tree, record, ())))

    def check(self, fields: Mapping[Any, Any] | None) -> None:
        """Raises CompletionError where a name is no field, an empty record would do, or no record could."""
        if fields is not None:
            self._check_names(self.tree, fields)
        if self._holds(self.tree, {}):
            raise CompletionError(f"{self.text!r} is met by an empty record; say what must be there")
        if fields is not None and not any(self._holds(self.tree, _full(fields, yes)) for yes in (True, False)):
            raise CompletionError(f"{self.text!r} cannot be met, whatever the record holds")

    def well_formed(self, tree: ast.AST) -> None:
        """Raises CompletionError for anything but what this module knows."""
        match tree:
            case ast.BoolOp(values=parts):
                for part in parts:
                    self.well_formed(part)
            case ast.UnaryOp(op=ast.Not(), operand=part):
                self.well_formed(part)
            case ast.Name():
                pass
            case ast.Call(func=ast.Name(id="known"), args=[ast.Name()], keywords=[]):
                pass
            case ast.Call(func=ast.Name(id="every"), args=[ast.Name(), part], keywords=[]):
                self.well_formed(part)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="count"), args=[ast.Name()]),
                ops=[ast.GtE() | ast.Gt()],
                comparators=[ast.Constant(value=int())],
            ):
                pass
            case ast.Compare(left=ast.Name(), ops=[ast.Eq()], comparators=[ast.Constant(value=str())]):
                pass
            case _:
                raise CompletionError(
                    f"{self.text!r}: only fields, and, or, not, known(field), every(list, …), count(field) >= 2 and "
                    'field == "value" may stand here'
                )

    def _path(self, name: ast.AST) -> Path:
        place = name.id.removeprefix("_") if isinstance(name, ast.Name) else ""
        if not (place.isascii() and place.isdecimal() and int(place) < len(self.names)):
            raise CompletionError(
                f"{self.text!r}: count, every and known need a field in brackets, and a field begins with one of A to Z"
            )
        return self.names[int(place)]

    def _holds(self, tree: ast.AST, record: Record) -> bool:
        match tree:
            case ast.BoolOp(op=op, values=parts):
                return (all if isinstance(op, ast.And) else any)(self._holds(part, record) for part in parts)
            case ast.UnaryOp(operand=part):
                return not self._holds(part, record)
            case ast.Name():
                value = inside(record, self._path(tree))
                return value if isinstance(value, bool) else there(value)
            case ast.Call(func=ast.Name(id="known"), args=[name]):
                return there(inside(record, self._path(name)))
            case ast.Call(args=[name, part]):
                entries = [entry for _, entry in nested(record, self._path(name))]
                return bool(entries) and all(self._holds(part, entry) for entry in entries)
            case ast.Compare(left=ast.Call(args=[name]), ops=[op], comparators=[ast.Constant(value=n)]):
                return _COMPARED[type(op)](len(inside(record, self._path(name)) or ()), n)
            case ast.Compare(left=name, comparators=[ast.Constant(value=wanted)]):
                return bool(inside(record, self._path(name)) == wanted)
        raise CompletionError(self.text)

    def _lacking(self, tree: ast.AST, record: Record, above: Path) -> Iterator[Path]:
        if self._holds(tree, record):
            return
        match tree:
            case ast.BoolOp(values=parts):
                for part in parts:
                    yield from self._lacking(part, record, above)
            case ast.Call(func=ast.Name(id="every"), args=[name, part]):
                entries = list(nested(record, self._path(name)))
                yield from () if entries else ((*above, *self._path(name)),)
                for where, entry in entries:
                    yield from self._lacking(part, entry, (*above, *where))
            case _:
                yield from (
                    (*above, *self._path(one))
                    for one in ast.walk(tree)
                    if isinstance(one, ast.Name) and one.id[0] == "_"
                )

    def _check_names(self, tree: ast.AST, fields: Mapping[Any, Any]) -> None:
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "every":
            named = _field(fields, self._path(tree.args[0]))
            if named.get("type") != "list":
                raise CompletionError(f"every({'.'.join(self._path(tree.args[0]))}, …): that is no list")
            inner = named.get("fields")
            self._check_names(tree.args[1], inner if isinstance(inner, Mapping) else {})
            return
        if isinstance(tree, ast.Name) and tree.id.startswith("_"):
            _field(fields, self._path(tree))
        for part in ast.iter_child_nodes(tree):
            self._check_names(part, fields)


def nested(record: Record, path: Path) -> Iterator[tuple[Path, Record]]:
    """Entries of a list by their path, those that they hold under the same name included. An entry's key is its first value."""
    for entry in inside(record, path) or ():
        where = (*path, str(next(iter(entry.values()), "")))
        yield where, entry
        for below, inner in nested(entry, path[-1:]):
            yield (*where, *below), inner


def _field(fields: Mapping[Any, Any], path: Path) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = {"fields": fields}
    for step in path:
        inner = found.get("fields")
        known = [str(name) for name in inner] if isinstance(inner, Mapping) else []
        if step not in known:
            raise CompletionError(f"{step!r} is no field here{suggestion(step, known)}")
        found = inner[step] if isinstance(inner, Mapping) and isinstance(inner[step], Mapping) else {}
    return found


def _full(fields: Mapping[Any, Any], yes: bool) -> dict[str, Any]:
    """A record in which everything is there, and enough of it for any count; booleans all yes, or all no."""
    made: dict[str, Any] = {}
    for name, field in fields.items():
        kind, inner = (field.get("type"), field.get("fields")) if isinstance(field, Mapping) else (None, None)
        below = _full(inner, yes) if isinstance(inner, Mapping) else {}
        values = list(field.get("values") or {}) if isinstance(field, Mapping) else []
        made[str(name)] = (
            yes if kind == "boolean" else [{"key": str(n), **below} for n in range(MOST)] if kind == "list"
            else below if kind == "object" else list(range(MOST)) if kind in ("texts", "choices") else _Any(values)
        )  # fmt: skip
    return made


class _Any(str):
    """Stands for whatever a field may hold: equal to each of its values."""

    values: list[str]

    def __new__(cls, values: list[str]) -> _Any:
        made = super().__new__(cls, "?")
        made.values = values
        return made

    def __eq__(self, other: object) -> bool:
        return not self.values or other in self.values

    __hash__ = str.__hash__
