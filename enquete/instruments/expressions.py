"""Conditions that people write: who of a population is asked (`where`), when a record of an interview is complete.

    stakeholder_type == "ngo" and age >= 40
    country in ("DE", "AT") and not "retired" in persona
    challenges and (count(stages) >= 2 or exhausted?) and every(stages, minutes and known(parallel?))

A field alone is met by what is there and not empty, a boolean one only by yes, `known(field)` by either. `every(list,
…)` wants an entry and holds for all of them, nested ones too; `object.field` looks inside. Texts are compared without
regard to case and blanks, numbers as numbers; a field that is not there is empty: smaller and larger than nothing.

Read as a tree and compared, never executed. A library's would not do: pandas' query knows no entries of entries and is
slow to import, simpleeval evaluates what `every` must look at entry by entry, and neither says what is lacking.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from enquete.instruments.text import fold
from enquete.state.numbers import read_clear_number

Path = tuple[str, ...]
MOST = 500
"""Characters."""
EXAMPLE = (
    "Write fields, == != < <= > >= in, and, or, not, count(field), known(field), every(list, …), such as: "
    'stakeholder_type == "ngo" and age >= 40'
)
_WORDS, _FUNCTIONS = {"and", "or", "not", "in"}, {"count", "every", "known"}
_TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])[^\W\d][\w-]*\??(?:\.[^\W\d][\w-]*\??)*""")
_ORDERED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class ColumnText(str):
    """A value of a column that is read as numbers: the text, and its number where it has one."""

    number: float | None

    def __new__(cls, text: str, number: float | None) -> ColumnText:
        value = super().__new__(cls, text)
        value.number = number
        return value


class ExpressionError(ValueError):
    """What is wrong with it: names the expression and says what may be written."""


def there(value: object) -> bool:
    """Whether a field says something: no, 0 and false do."""
    return value is not None and value != "" and value != [] and value != {}


def inside(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = values
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def nested(values: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Entries of a list by their path, with those they hold under the same name. An entry's key: its first value."""
    for entry in inside(values, path) or ():
        where = (*path, str(next(iter(entry.values()), "")))
        yield where, entry
        for below, inner in nested(entry, path[-1:]):
            yield (*where, *below), inner


@cache
def expression(text: str) -> Expression:
    """Raises ExpressionError for anything but what stands above."""
    if len(text) > MOST:
        raise ExpressionError(f"longer than {MOST} characters")
    names: list[Path] = []

    def placed(token: re.Match[str]) -> str:
        called = token[0] in _FUNCTIONS and text[token.end() :].lstrip().startswith("(")
        if called or token[0] in _WORDS or token[0][0] in "\"'":
            return token[0]
        names.append(tuple(token[0].split(".")))
        return f"_{len(names) - 1}"

    try:
        tree = _fold_signs(ast.parse(_TOKEN.sub(placed, text).strip(), mode="eval").body)
        well_formed = _is_well_formed(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{text!r} cannot be read. {EXAMPLE}") from None
    if not well_formed:
        raise ExpressionError(f"{text!r} holds what cannot stand there. {EXAMPLE}")
    return Expression(text, tree, tuple(names))


class _SignFolder(ast.NodeTransformer):
    """Makes one constant of a minus and the number behind it."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        number = node.operand
        if isinstance(node.op, ast.USub) and isinstance(number, ast.Constant) and type(number.value) in (int, float):
            return ast.copy_location(ast.Constant(-number.value), node)  # type: ignore[operator]  # a number, as looked at
        return node


def _fold_signs(tree: ast.expr) -> ast.expr:
    folded: ast.expr = _SignFolder().visit(tree)
    return folded


def _is_well_formed(tree: ast.AST) -> bool:
    match tree:
        case ast.BoolOp(values=parts):
            return all(map(_is_well_formed, parts))
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return _is_well_formed(part)
        case ast.Call(func=ast.Name(id="known"), args=[name], keywords=[]):
            return _is_field(name)
        case ast.Call(func=ast.Name(id="every"), args=[name, part], keywords=[]):
            return _is_field(name) and _is_well_formed(part)
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            if isinstance(right, ast.Tuple | ast.List):
                return _is_field(left) and bool(right.elts) and all(_is(part, str, int, float) for part in right.elts)
            return _is(left, str) and _is_field(right)
        case ast.Compare(left=ast.Call(func=ast.Name(id="count"), args=[name], keywords=[]), ops=[op], comparators=[n]):
            return _is_field(name) and type(op) in _ORDERED and _is(n, int)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            kinds: tuple[type, ...] = (int, float) if type(op) in _ORDERED else (str, int, float)
            return _is_field(left) and isinstance(op, (ast.Eq, ast.NotEq, *_ORDERED)) and _is(right, *kinds)
    return _is_field(tree)


def _is_field(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id not in _FUNCTIONS


def _is(node: ast.expr, *kinds: type) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in kinds


@dataclass(frozen=True)
class Expression:
    """One that is well formed. `names`: the fields in it, in their order; node `_3` of the tree is the fourth."""

    text: str
    tree: ast.expr
    names: tuple[Path, ...]

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self._holds(self.tree, values)

    def lacking(self, values: Mapping[str, Any]) -> list[Path]:
        """Paths of fields that would help: lists are followed by the key of an entry. Empty once it holds."""
        return list(dict.fromkeys(self._lacking(self.tree, values, ())))

    def fields_compared_with_numbers(self, *, in_order: bool) -> set[str]:
        """Return the fields that are compared with a number; `in_order`: only by <, <=, > and >=."""
        fields = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Compare) and _is_field(node.left):
                (right,) = node.comparators
                operands = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]
                is_ordered = type(node.ops[0]) in _ORDERED
                if any(_is(part, int, float) for part in operands) and (is_ordered or not in_order):
                    fields.add(".".join(self.path(node.left)))
        return fields

    def path(self, node: ast.AST) -> Path:
        """Of a field in the tree."""
        return self.names[int(node.id[1:])] if isinstance(node, ast.Name) else ()

    def _holds(self, tree: ast.AST, values: Mapping[str, Any]) -> bool:
        match tree:
            case ast.BoolOp(op=op, values=parts):
                return (all if isinstance(op, ast.And) else any)(self._holds(part, values) for part in parts)
            case ast.UnaryOp(operand=part):
                return not self._holds(part, values)
            case ast.Name():
                value = inside(values, self.path(tree))
                return value if isinstance(value, bool) else there(value)
            case ast.Call(args=[name]):
                return there(inside(values, self.path(name)))
            case ast.Call(args=[name, part]):
                entries = [entry for _, entry in nested(values, self.path(name))]
                return bool(entries) and all(self._holds(part, entry) for entry in entries)
            case ast.Compare(left=ast.Call(args=[name]), ops=[op], comparators=[ast.Constant(value=n)]):
                value = inside(values, self.path(name))
                return _ORDERED[type(op)](len(value) if isinstance(value, list | tuple) else there(value), n)
            case ast.Compare(left=ast.Constant(value=part), ops=[op], comparators=[name]):
                value = inside(values, self.path(name)) or ""
                held = (any(_same(option, part) for option in value) if isinstance(value, list)
                        else isinstance(value, str) and fold(str(part)) in fold(value))  # fmt: skip
                return held == isinstance(op, ast.In)
            case ast.Compare(left=name, ops=[op], comparators=[ast.Tuple(elts=several) | ast.List(elts=several)]):
                value = inside(values, self.path(name))
                wanted = [option.value for option in several if isinstance(option, ast.Constant)]
                if isinstance(op, ast.In):
                    return any(_same(value, option) for option in wanted)
                return all(_differs(value, option) for option in wanted)
            case ast.Compare(left=name, ops=[op], comparators=[ast.Constant(value=wanted)]):
                value = inside(values, self.path(name))
                if type(op) not in _ORDERED:
                    return _same(value, wanted) if isinstance(op, ast.Eq) else _differs(value, wanted)
                number = _number(value) if isinstance(value, str) else value
                return number is not None and not isinstance(number, bool) and _ORDERED[type(op)](number, wanted)
        raise AssertionError("an expression that was found well formed")

    def _lacking(self, tree: ast.AST, values: Mapping[str, Any], above: Path) -> Iterator[Path]:
        if self._holds(tree, values):
            return
        match tree:
            case ast.BoolOp(values=parts):
                for part in parts:
                    yield from self._lacking(part, values, above)
            case ast.Call(args=[name, part]):
                entries = list(nested(values, self.path(name)))
                yield from () if entries else ((*above, *self.path(name)),)
                for where, entry in entries:
                    yield from self._lacking(part, entry, (*above, *where))
            case _:
                yield from ((*above, *self.path(node)) for node in ast.walk(tree) if _is_field(node))


def _same(value: object, wanted: object) -> bool:
    return bool(value == wanted) or _alike(value, wanted)


def _differs(value: object, wanted: object) -> bool:
    return bool(value != wanted) and not _alike(value, wanted)


def _alike(value: object, wanted: object) -> bool:
    """A text that says the same, or the number."""
    if not isinstance(value or "", str):
        return False
    text = value if isinstance(value, str) else ""
    return _number(text) == wanted if isinstance(wanted, int | float) else fold(text) == fold(str(wanted))


def _number(text: str) -> float | None:
    """Return the number that a text is, or None; one that may be two ("1.500") is none."""
    return text.number if isinstance(text, ColumnText) else read_clear_number(text)
