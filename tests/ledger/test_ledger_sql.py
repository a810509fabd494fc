"""Where SQL may stand: whoever needs something of a ledger asks for a statement by name.

And that every statement says in which order its rows come: PostgreSQL gives them as they lie on the disk, SQLite by a
key, so that an answer's place in a prompt depended on the store.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import enquete
from enquete.ledger import queries
from enquete.ledger.tables import METADATA, WORKERS

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
    "checkpoints",  # LangGraph's savers: where a run stands
    "memory",  # LangGraph's store in a file beside the runs; an index of words in memory
    "methods/discovery/operations.py",  # the projects of a server: a file beside its simulations
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


# What a statement binds with `= ?` or `= 'value'` is the same in all its rows.
BOUND = re.compile(r"(?:\b\w+\.)?\b(\w+)\s*=\s*(?:\?|\[\]|'[^']*')")
AGGREGATE = re.compile(r"(count|sum|min|max|coalesce)\[\]|\[\]")
ORDER = re.compile(r"ORDER BY (?P<columns>.*?)(?: LIMIT .*)?$")
GROUP = re.compile(r"GROUP BY (?P<columns>.*?) (?:HAVING|ORDER BY)")
UNIQUE_OF = {
    table.name: [
        {column.name for column in constraint.columns}
        for constraint in table.constraints
        if type(constraint).__name__ in ("PrimaryKeyConstraint", "UniqueConstraint")
    ]
    for table in (*METADATA.tables.values(), *WORKERS.tables.values())
}
UNIQUE_OF["answers"].append({"methodology", "phase", "arm", "participant", "session", "round", "turn", "item"})
"""Of an answer with its occasion."""

RETURNING_MANY = {"LOSE", "LOSE_OF"}
"""RETURNING knows no order; what they return is summed, sorted or given checksums, each for itself."""
PARTS_OF_STATEMENTS = {"ANSWERED", "LISTED", "OF_PART"}


def statements() -> Iterator[tuple[str, str]]:
    """Every SELECT of a ledger by its name, as it is executed."""
    for name, value in vars(queries).items():
        texts = value if isinstance(value, dict) else {"": value}
        for key, text in texts.items():
            if not isinstance(text, str) or not text.strip().upper().startswith(("SELECT", "WITH")):
                continue
            if name.startswith("_"):
                continue  # the beginning of others, which are here
            if name == "WHOLE_CALL":
                continue
            ending = queries.IN_ORDER if name == "ANSWERS_TO" else queries.ITERATED_ORDER if name == "ITERATED" else ""
            yield f"{name}{key}", " ".join(f"{text}{ending}".split())


def outermost(sql: str) -> str:
    """The statement without what stands in parentheses."""
    while (shorter := re.sub(r"\([^()]*\)", "[]", sql)) != sql:
        sql = shorter
    return sql


def gives_one_row(sql: str) -> bool:
    bare = outermost(sql)
    if re.search(r"\bLIMIT 1$", sql) or "FROM" not in bare or "FROM sqlite_master WHERE name=" in sql:
        return True
    wanted = bare.removeprefix("SELECT ").partition(" FROM ")[0]
    if all(AGGREGATE.match(part.strip()) for part in wanted.split(", ")) and "GROUP BY" not in bare:
        return True
    bound = set(BOUND.findall(bare))
    return any(key <= bound for key in keys_of(bare))


def keys_of(bare: str) -> list[set[str]]:
    """What tells the rows of a statement apart."""
    grouped = GROUP.search(bare)
    if grouped:
        return [{name_of(column) for column in grouped["columns"].split(",")}]
    if "SELECT DISTINCT" in bare:
        wanted = bare.partition("SELECT DISTINCT ")[2].partition(" FROM ")[0]
        return [{name_of(column) for column in wanted.split(",")}]
    if "JOIN answers" in bare:
        return UNIQUE_OF["answers"][1:]  # the number of its occasion is not among what is shown
    table = re.search(r"\bFROM (\w+)", bare)
    return UNIQUE_OF.get(table[1], []) if table else []


def name_of(column: str) -> str:
    return column.strip().removesuffix(" DESC").rpartition(".")[2]


def ordered_by(sql: str) -> set[str]:
    found = ORDER.search(outermost(sql))
    if found is None:
        return set()
    wanted = outermost(sql).partition("SELECT ")[2].partition(" FROM ")[0].split(", ")
    names = [name_of(column) for column in found["columns"].split(",")]
    return {name_of(wanted[int(name) - 1]) if name.isdecimal() else name for name in names}


@pytest.mark.parametrize(("name", "sql"), sorted(statements()))
def test_rows_come_in_one_order_wherever_they_are_kept(name: str, sql: str) -> None:
    """Ordered by what, with what is bound, tells its rows apart: no two are left to the database."""
    if gives_one_row(sql):
        return
    told = ordered_by(sql) | set(BOUND.findall(outermost(sql)))
    assert any(key <= told for key in keys_of(outermost(sql))), f"{name} is not ordered: {sql}"


def test_what_returns_many_rows_is_sorted_by_whoever_reads_it() -> None:
    """Of the statements that write: all that return something write one row, but for those named here."""
    returning = {name for name, sql in vars(queries).items() if isinstance(sql, str) and "RETURNING" in sql.split()}
    one_row = {"RESERVE", "ADD_OCCASION", "ADD_NOTED_RETURNING", "UNREGISTER", "TAKE_TURNS"}
    assert {name for name in returning if not name.startswith("_")} == one_row | RETURNING_MANY


ONE_ROW_ELSEWHERE = re.compile(
    r"WHERE (?:\w*id|key|place|name|version_num) ?= ?[?']|count\(|LIMIT 1|max\(rowid\)|SELECT 1 |SELECT extract|"
    r"FROM write_counter"
)
NAMES_ALONE = ("sqlite_master", "pragma_", "pg_", "{")
"""What a database says of itself, and a statement whose table is put in."""
BEGINNINGS = ("SELECT id, agent_id, name, type, persona FROM people",)
"""Of statements that go on in other places."""


def test_no_statement_elsewhere_leaves_the_order_to_the_database() -> None:
    """Also in databases that are not a ledger: people's rows, simulations, what is noted beside runs."""
    unordered = []
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        if file.name == "queries.py" or "SELECT" not in text:
            continue
        tree = ast.parse(text)
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant | ast.JoinedStr) or id(node) in parts:
                continue
            sql = " ".join(ast.unparse(node).split())
            if not re.match(r"""f?['"]+(\\n)?\s*SELECT\s.+\sFROM\s""", sql):
                continue
            source = sql.rpartition(" FROM ")[2]
            if "ORDER BY" in sql or ONE_ROW_ELSEWHERE.search(sql) or source.startswith(NAMES_ALONE):
                continue
            if sql.strip("'") in BEGINNINGS:
                continue
            unordered.append(f"{file.relative_to(PACKAGE)}:{node.lineno}: {sql[:90]}")
    assert "\n".join(unordered) == ""
