"""Older ledgers are brought up to date, all or nothing; invented steps stand for those that are to come."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from enquete.checkpoints.connection import connect
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.migrations import CURRENT, STEPS, Schema
from enquete.checkpoints.schema import SCHEMA_VERSION
from enquete.state.errors import LedgerError
from tests.support.ledgers import RUN, with_ledger
from tests.support.populations import participants

NEXT, LAST = SCHEMA_VERSION + 1, SCHEMA_VERSION + 2


def adds_a_column(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE participants ADD COLUMN nickname TEXT NOT NULL DEFAULT ''")


def fills_it(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE participants SET nickname=upper(name)")


def breaks(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE participants SET nickname='half'")
    connection.execute("INSERT INTO no_such_table VALUES(1)")


INVENTED = Schema(LAST, {SCHEMA_VERSION: adds_a_column, NEXT: fills_it})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    async def work(ledger: Ledger) -> None:
        await ledger.store_population(participants(3))

    with_ledger(tmp_path, work)
    return tmp_path / "ledger.sqlite"


def stored(connection: sqlite3.Connection) -> tuple[str, list[str]]:
    """Schema version and nicknames."""
    version = connection.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone()[0]
    return version, [row[0] for row in connection.execute("SELECT nickname FROM participants ORDER BY position")]


def names(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT upper(name) FROM participants ORDER BY position")]


def test_steps_are_taken_in_order_after_a_copy_was_made(path: Path) -> None:
    before = names(path)
    with closing(connect(path, schema=INVENTED)) as connection:
        assert stored(connection) == (str(LAST), before)
    with closing(sqlite3.connect(path.with_name(f"ledger.sqlite.v{SCHEMA_VERSION}"))) as copy:
        assert copy.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone() == (str(SCHEMA_VERSION),)
        assert copy.execute("SELECT count(*) FROM participants").fetchone() == (3,)
    with closing(connect(path, schema=INVENTED)) as again:  # nothing left to do
        assert stored(again) == (str(LAST), before)


def test_a_step_that_fails_leaves_the_ledger_as_it_was(path: Path) -> None:
    broken = Schema(LAST, {SCHEMA_VERSION: adds_a_column, NEXT: breaks})
    with pytest.raises(
        LedgerError, match=rf"schema {SCHEMA_VERSION} to {LAST} \(no such table: no_such_table\); it is unch"
    ):
        connect(path, schema=broken)

    async def work(ledger: Ledger) -> None:
        assert len(ledger.population()) == 3

    with_ledger(path.parent, work)


def test_an_older_ledger_is_read_in_a_copy_and_not_touched(path: Path) -> None:
    before, content = names(path), path.read_bytes()
    with closing(connect(path, read_only=True, schema=INVENTED)) as connection:
        assert stored(connection) == (str(LAST), before)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM participants")
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == ["ledger.sqlite"]


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    ("version", "message"), [("99", "newer version wrote it. Update"), ("x", "in the file is damaged")]
)
def test_a_newer_or_unknown_version_is_refused(path: Path, version: str, message: str, read_only: bool) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value=? WHERE key='schema_version'", (version,))
    with pytest.raises(
        LedgerError, match=rf"schema '{version}', this version of Enquete reads {SCHEMA_VERSION}: .*{message}"
    ):
        connect(path, read_only=read_only)


def test_a_version_without_a_way_to_the_next_is_refused(path: Path) -> None:
    with pytest.raises(LedgerError, match=f"no way from version {NEXT} to {LAST}"):
        connect(path, schema=Schema(LAST, {SCHEMA_VERSION: adds_a_column}))


def test_there_is_a_step_from_every_version_but_the_last() -> None:
    assert sorted(STEPS) == list(range(1, SCHEMA_VERSION))
    assert CURRENT.version == SCHEMA_VERSION


def test_a_new_ledger_is_of_todays_version(tmp_path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        assert ledger.run == RUN

    with_ledger(tmp_path, work)
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
