"""Who of a population is asked: by name, by stakeholder type, by a condition, only those with a persona."""

from __future__ import annotations

import ast
import difflib
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from enquete.instruments.reading import suggestion
from enquete.simulations.population import Population
from enquete.simulations.sources import fold
from enquete.state.asking import Participant
from enquete.state.errors import SettingsError

# --- Which agents are meant, as a condition on what is known of them: read as a tree and compared, never executed ----
# stakeholder_type == "ngo" and age >= 40
# country in ("DE", "AT") and not "retired" in persona

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


def among(
    population: Population,
    agents: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    where: str = "",
    *,
    complete: bool = False,
) -> Population:
    """The population with only those whom all of these leave, in its own order; `complete`: with a bio or persona.

    Raises SettingsError for a name, type or field that it has not, and where nobody is left.
    """
    kept: Collection[str] = {who.id for who in population.participants}
    if agents:
        kept = _named(population, agents)
    if types:
        kept = {who.id for who in _of_types(population, types) if who.id in kept}
    if where:
        kept = {who for who in _where(population, where) if who in kept}
    if complete:
        kept = {who for who in kept if who not in population.incomplete}
    if population.participants and not kept:
        raise SettingsError(f"{population.sim_id}: nobody is left to ask")
    return population.only(kept)


def _named(population: Population, names: Sequence[str]) -> set[str]:
    every = [(who, {who.id, fold(who.name)}) for who in population.participants]
    for name in names:
        if not any({name, fold(name)} & known for _, known in every):
            near = difflib.get_close_matches(name, [who.name for who in population.participants], n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"agents: {name!r} is no agent of {population.sim_id}{meant}")
    wanted = {key for name in names for key in (name, fold(name))}
    return {who.id for who, known in every if wanted & known}


def _of_types(population: Population, types: Sequence[str]) -> list[Participant]:
    there = Counter(who.stakeholder_type for who in population.participants)
    known = {fold(kind): kind for kind in there}
    for kind in types:
        if fold(kind) not in known:
            listed = ", ".join(f"{name} ({n})" for name, n in there.most_common(20))
            raise SettingsError(f"types: {kind!r} is no stakeholder type of {population.sim_id}; there are {listed}")
    wanted = {fold(kind) for kind in types}
    return [who for who in population.participants if fold(who.stakeholder_type) in wanted]


def _where(population: Population, text: str) -> set[str]:
    asked = condition(text)
    facts = {who.id: _facts(population, who) for who in population.participants}
    asked.require_known({name for each in facts.values() for name in each})
    return {identity for identity, known in facts.items() if asked.holds(known)}


def _facts(population: Population, who: Participant) -> dict[str, str]:
    """What the files say of an agent, by column; and what Enquete calls it."""
    own = {"id": who.id, "name": who.name, "stakeholder_type": who.stakeholder_type, "type": who.stakeholder_type}
    more = {"persona": who.persona, "agent_id": "" if who.agent_id is None else str(who.agent_id)}
    stance = population.stances.get(who.id, "")
    return {**population.facts.get(who.id, {}), **({"stance": stance} if stance else {}), **own, **more}
