"""Which agents are meant, as a condition on what is known of them: read as a tree and compared, never executed.

stakeholder_type == "ngo" and age >= 40
country in ("DE", "AT") and not "retired" in persona
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from enquete.instruments.reading import suggestion
from enquete.simulations.texts import fold
from enquete.state.errors import SettingsError

Facts = Mapping[str, str]
"""What is known of an agent, by name."""
MOST = 500
"""Characters of a condition."""
EXAMPLE = 'Write fields, == != < <= > >= in, and, or, not, such as: stakeholder_type == "ngo" and age >= 40'

_ORDERED: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """A condition, ready. A field that an agent has not is empty: equal to nothing, smaller and larger than nothing."""

    text: str
    tree: ast.expr

    @property
    def fields(self) -> set[str]:
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}

    def holds(self, facts: Facts) -> bool:
        return _holds(self.tree, facts)

    def require_known(self, known: Iterable[str]) -> None:
        """Raises SettingsError for a field that no agent has."""
        there = sorted(known)
        for name in sorted(self.fields - set(there)):
            raise SettingsError(f"where: {name!r} is known of no agent here{suggestion(name, there)}")


def condition(text: str) -> Condition:
    """Raises SettingsError for anything but comparisons of fields with texts and numbers."""
    if len(text) > MOST:
        raise SettingsError(f"where: longer than {MOST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _require(tree, text)
    except (SyntaxError, ValueError, RecursionError):
        raise SettingsError(f"where: {text!r} cannot be read. {EXAMPLE}") from None
    return Condition(text, tree)


def _require(tree: ast.AST, text: str) -> None:
    match tree:
        case ast.BoolOp(values=parts):
            for part in parts:
                _require(part, text)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            _require(part, text)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if _comparable(left, op, right):
            pass
        case _:
            raise SettingsError(f"where: {text!r} holds what cannot stand there. {EXAMPLE}")


def _comparable(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    """A field with a text or number, with several of them, or a text in a field."""
    if isinstance(op, ast.In | ast.NotIn) and _is(left, str):
        return isinstance(right, ast.Name)
    if isinstance(op, ast.In | ast.NotIn):
        several = right.elts if isinstance(right, ast.Tuple | ast.List) else []
        return isinstance(left, ast.Name) and bool(several) and all(_is(one, str, int, float) for one in several)
    kinds: tuple[type, ...] = (int, float) if type(op) in _ORDERED else (str, int, float)
    return isinstance(left, ast.Name) and isinstance(op, (ast.Eq, ast.NotEq, *_ORDERED)) and _is(right, *kinds)


def _is(node: ast.expr, *kinds: type) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in kinds


def _holds(tree: ast.AST, facts: Facts) -> bool:
    match tree:
        case ast.BoolOp(op=op, values=parts):
            return (all if isinstance(op, ast.And) else any)(_holds(part, facts) for part in parts)
        case ast.UnaryOp(operand=part):
            return not _holds(part, facts)
        case ast.Compare(left=ast.Constant(value=str(part)), ops=[op], comparators=[ast.Name(id=name)]):
            return (fold(part) in fold(facts.get(name, ""))) == isinstance(op, ast.In)
        case ast.Compare(
            left=ast.Name(id=name), ops=[op], comparators=[ast.Tuple(elts=values) | ast.List(elts=values)]
        ):
            found = any(_same(facts.get(name, ""), one.value) for one in values if isinstance(one, ast.Constant))
            return found == isinstance(op, ast.In)
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=value)]
        ):
            return _same(facts.get(name, ""), value) == isinstance(op, ast.Eq)
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=int() | float() as value)]):
            number = _number(facts.get(name, ""))
            return number is not None and _ORDERED[type(op)](number, value)
    raise AssertionError("a condition that was found well formed")


def _same(fact: str, value: object) -> bool:
    """Texts without regard to case and blanks, numbers as numbers."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(fact) == value
    return fold(fact) == fold(str(value))


def _number(fact: str) -> float | None:
    try:
        return float(fact)
    except ValueError:
        return None
