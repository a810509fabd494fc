"""The package runs on every Python it says it supports.

`.ci/run` tries the demo and a poll on each that a machine has (`.ci/pythons.py`); here is what can be seen in the text.
"""

from __future__ import annotations

import symtable
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INLINED = frozenset({"listcomp", "setcomp", "dictcomp"})
"""Kinds of comprehension that Python 3.12 compiles into the function around them."""


def inlined_comprehensions(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the comprehensions that become part of a function's own code, nested ones included."""
    for child in scope.get_children():
        if child.get_name() in INLINED:
            yield child
            yield from inlined_comprehensions(child)


def clashing_names(scope: symtable.SymbolTable) -> Iterator[str]:
    """Yield names that one comprehension of a function binds and another reads as a global.

    Python 3.12.0 to 3.12.3 raise UnboundLocalError there (CPython gh-118513).
    """
    if scope.get_name() not in INLINED:
        symbols = [symbol for each in inlined_comprehensions(scope) for symbol in each.get_symbols()]
        bound = {symbol.get_name() for symbol in symbols if symbol.is_local()}
        for symbol in symbols:
            if symbol.is_global() and symbol.get_name() in bound:
                yield f"{scope.get_name()} (line {scope.get_lineno()}): {symbol.get_name()}"
    for child in scope.get_children():
        yield from clashing_names(child)


def in_source(source: str) -> list[str]:
    return list(clashing_names(symtable.symtable(source, "source", "exec")))


@pytest.mark.parametrize("folder", ["enquete", "examples", "tests"])
def test_no_function_has_comprehensions_that_python_3_12_0_breaks(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    clashes = {str(file.relative_to(ROOT)): in_source(file.read_text("utf-8")) for file in files}
    assert files
    assert {file: names for file, names in clashes.items() if names} == {}


def test_the_check_finds_the_function_of_the_bug_report() -> None:
    """The shape that raised "cannot access local variable 'item'" on 3.12.1, and two of its kind that run there."""
    broken = "def f(xs):\n    a = [item for item in xs]\n    return a, [item(x) for x in xs]\n"
    assert in_source(broken) == ["f (line 1): item"]
    one_generator = "def f(xs):\n    a = [item for item in xs]\n    return a, list(item(x) for x in xs)\n"
    two_names = "def f(xs):\n    a = [each for each in xs]\n    return a, [item(x) for x in xs]\n"
    assert in_source(one_generator) == in_source(two_names) == []
