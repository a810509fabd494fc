"""Where SQL may stand: whoever needs something of a ledger asks for a statement by name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import enquete

PACKAGE = Path(enquete.__file__).parent
SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.DOTALL
)
WORDS = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|psycopg|sqlalchemy|sqlite3)\b")
"""Of which one at least stands in a file that has a statement or a driver; parsing all of them takes seconds."""
OTHER_DATABASES = (
    "ledger",
    "simulations",  # reads OASIS's databases: input of somebody else's
    "demo",  # writes such databases
    "memory",  # LangGraph's store in a file beside the runs; an index of words in memory
    "graphs/discovery/operations.py",  # the projects of a server: a file beside its simulations
)


def allowed(file: Path) -> bool:
    place = file.relative_to(PACKAGE).as_posix()
    return any(place == name or place.startswith(f"{name}/") for name in OTHER_DATABASES)


def test_no_other_package_speaks_sql_or_imports_a_driver() -> None:
    places = []
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        if allowed(file) or not WORDS.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            places += [
                f"{file}: {name}" for name in names if name.split(".")[0] in ("psycopg", "sqlalchemy", "sqlite3")
            ]
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value):
                places.append(f"{file}:{node.lineno}: {node.value[:60]!r}")
    assert places == []
