"""The registry of oracles is true, whole, and printed in README.md beside it: `python -m
tests.analysis.test_oracles`."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import enquete.analysis
from tests.analysis.oracles import LINES, PLUMBING, Line

HERE = Path(__file__).parent
PAGE = HERE / "README.md"

INTRO = """# Statistics and their oracles

Every statistic that Enquete computes itself, or takes from a library and gives meaning to, is tested against something that is not
Enquete: a published value, another implementation, or a derivation by hand. `oracles.py` names function, expected figure and test of
each.
"""


def page() -> str:
    rows = [f"| {line.statistic} | {line.oracle} |".replace("1 2 | 3 4", "1 2 \\| 3 4") for line in LINES]
    return "\n".join([INTRO, "| statistic | oracle |", "|---|---|", *rows, ""])


@cache
def functions_of(file: str) -> dict[str, str]:
    """Source of every test function of a file that is not skipped, with its decorators."""
    source = (HERE / file).read_text("utf-8")
    lines = source.splitlines()
    functions = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            text = "\n".join(lines[first - 1 : node.end_lineno])
            if "mark.skip" not in text and "mark.xfail" not in text:
                functions[node.name] = text
    return functions


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.function}-{line.test.partition('::')[2]}")
def test_the_line_is_true(line: Line, request: pytest.FixtureRequest) -> None:
    """The statistic exists, its test exists, is not skipped, was collected with its file, and holds the expected
    figure."""
    module, _, name = line.function.rpartition(".")
    assert callable(getattr(importlib.import_module(f"enquete.analysis.{module}"), name))
    file, _, test = line.test.partition("::")
    assert test in functions_of(file), f"{line.test} does not exist or is skipped"
    assert line.proof in functions_of(file)[test], f"{line.test} does not hold {line.proof!r}"
    assert name in (HERE / file).read_text("utf-8")
    collected = {item.name.partition("[")[0] for item in request.session.items if item.path == HERE / file}
    selected = bool(request.config.option.keyword) or any("::" in argument for argument in request.config.args)
    assert selected or not collected or test in collected


def test_no_line_stands_twice() -> None:
    assert len({(line.function, line.test) for line in LINES}) == len(LINES)


def test_every_module_of_statistics_has_a_line() -> None:
    def is_public(node: ast.stmt) -> bool:
        return isinstance(node, ast.FunctionDef) and not node.name.startswith("_")

    root = Path(enquete.analysis.__file__).parent
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in root.rglob("*.py")
        if any(map(is_public, ast.parse(path.read_text("utf-8")).body))
    }
    tested = {line.function.rpartition(".")[0] for line in LINES}
    assert modules - PLUMBING.keys() - tested == set()


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.analysis.test_oracles`"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
