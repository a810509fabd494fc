"""A ledger's file: damaged, of another run or version, missing, read beside its driver; reading changes nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from enquete.ledger import queries
from enquete.ledger.checksums import seal_note
from enquete.ledger.connection import PAGE, connect
from enquete.ledger.damage import damage_of
from enquete.ledger.folders import read_run
from enquete.ledger.ledger import Ledger
from enquete.ledger.tables import VERSION
from enquete.ledger.writer import COUNTER
from enquete.runs.run_session import using
from enquete.state.errors import LedgerError
from tests.support.ledgers import RUN, with_ledger
from tests.support.new_runs import begin_run
from tests.support.populations import participants


class TestFiles:
    def made(self, folder: Path) -> Path:
        async def work(ledger: Ledger) -> None:
            await ledger.store_population(participants(200))

        with_ledger(folder, work)
        return folder / "ledger.sqlite"

    def refused(self, path: Path, run: str = RUN) -> str:
        """The message, the same for a driver and for a reader, and no file touched or left open."""
        before = path.read_bytes()
        with pytest.raises(LedgerError) as reading:
            Ledger.reading(path, run)
        assert sorted(p.name for p in path.parent.iterdir()) == [path.name]
        with pytest.raises(LedgerError) as driving:
            Ledger(path, run)
        assert path.read_bytes()[:100] == before[:100]
        assert str(path) in str(reading.value)
        assert str(path) in str(driving.value)
        return str(reading.value)

    @pytest.mark.parametrize(
        ("version", "message"),
        [
            ("99", "a newer version wrote it. Update"),
            ("0", "Begin another run with --new"),
        ],
    )
    def test_another_schema_version(self, tmp_path: Path, version: str, message: str) -> None:
        path = self.made(tmp_path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(queries.NOTE, seal_note("schema_version", version))
        assert f"schema '{version}', this version of Enquete reads {VERSION}" in self.refused(path)
        assert message in self.refused(path)

    def test_a_version_that_a_flipped_bit_made_newer_is_damage(self, tmp_path: Path) -> None:
        """Else the run could neither be resumed nor repaired: 5 and 7 differ by one bit."""
        path = self.made(tmp_path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE meta SET value='7' WHERE key='schema_version'")
        assert "the version stored in it is not as it was written" in self.refused(path)
        assert "doctor --repair" in self.refused(path)

    def test_a_ledger_without_checksums_is_refused_by_name(self, tmp_path: Path) -> None:
        path = tmp_path / "ledger.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
            connection.execute("INSERT INTO meta VALUES('schema_version', '4')")
        refused = self.refused(path)
        assert "ledger schema '4', this version of Enquete reads 5. Begin another run with --new" in refused

    def test_a_table_that_lost_a_column_a_key_or_a_condition_is_told(self, tmp_path: Path) -> None:
        path = self.made(tmp_path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA writable_schema=ON")
            for table, old, new in (
                ("answers", "'repaired'", "'repaired', 'x'"),
                ("calls", "UNIQUE (methodology", "UNIQUE (subject, methodology"),
                ("stages", "note TEXT NOT NULL", "note TEXT"),
            ):
                text = connection.execute("SELECT sql FROM sqlite_master WHERE name=?", (table,)).fetchone()[0]
                assert old in text
                changed = "UPDATE sqlite_master SET sql=? WHERE name=?"
                connection.execute(changed, (text.replace(old, new), table))
                connection.commit()
                assert "not those that a ledger is made with" in damage_of(path).whole
                connection.execute(changed, (text, table))

    @pytest.mark.parametrize("kind", ["view", "trigger"])
    def test_a_program_in_it(self, tmp_path: Path, kind: str) -> None:
        """A view without end in place of a table would be read for ever."""
        path = self.made(tmp_path)
        forever = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r"
        made = {
            "view": f"CREATE VIEW v AS {forever}",
            "trigger": f"CREATE TRIGGER v BEFORE INSERT ON calls BEGIN {forever}; END",
        }
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(made[kind])
        assert f"holds a {kind}, 'v'; no ledger does" in self.refused(path)

    @pytest.mark.timeout(10)
    def test_a_pipe_in_its_place(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "ledger.sqlite")
        for opened in (Ledger.reading, Ledger):
            with pytest.raises(LedgerError, match="ledger"):
                opened(tmp_path / "ledger.sqlite", RUN)

    @pytest.mark.parametrize(
        "content", [b"not a database at all, only text. " * 50, b"\x00" * 5000, b"SQLite format 3\x00"]
    )
    def test_garbage(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "ledger.sqlite"
        path.write_bytes(content)
        self.refused(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_a_truncated_file(self, tmp_path: Path, share: float) -> None:
        path = self.made(tmp_path)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])
        self.refused(path)

    def test_damage_found_only_while_reading(self, tmp_path: Path) -> None:
        """The head is intact, so the file opens; the pages behind it are noise."""
        path = self.made(tmp_path)
        content = path.read_bytes()
        pages = PAGE * 20
        path.write_bytes(content[:pages] + b"\xff" * (len(content) - pages))
        ledger = Ledger.reading(path, RUN)
        with pytest.raises(LedgerError, match=r"ledger\.sqlite: not a readable ledger"):
            ledger.population()
        ledger.close_reading()

    def test_no_file_or_another_run_s(self, tmp_path: Path) -> None:
        path = tmp_path / "none" / "ledger.sqlite"
        for attempt in (Ledger, Ledger.reading):
            with pytest.raises(LedgerError, match="has no ledger"):
                attempt(path, RUN)
        assert list(tmp_path.iterdir()) == []
        assert "'run_test', not 'run_other'" in self.refused(self.made(tmp_path), "run_other")

    def test_reading_creates_no_file_and_an_existing_ledger_is_not_made_again(self, tmp_path: Path) -> None:
        path = self.made(tmp_path)
        with pytest.raises(LedgerError, match="already exists"):
            Ledger(path, RUN, create=True)
        with_ledger(tmp_path, self._is_whole)
        # A reader of a WAL database leaves -wal and -shm behind, unless told that nobody writes.
        ledger = Ledger.reading(path, RUN)
        assert len(ledger.population()) == 200
        assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
        ledger.close_reading()
        assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
        with closing(connect(path, read_only=True)) as connection, pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM participants")

    async def _is_whole(self, ledger: Ledger) -> None:
        assert len(ledger.population()) == 200

    def test_reading_beside_the_driver_sees_what_is_committed(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            reader = Ledger.reading(tmp_path / "ledger.sqlite", RUN)
            for outcome in ("short", "done"):
                await ledger.set_stage("m", "T0", outcome)
                assert reader.stages()["m", "T0"].outcome == outcome
            reader.close_reading()

        with_ledger(tmp_path, work)
        with_ledger(tmp_path, work)  # on a file that exists, too


class TestWriteCounter:
    """A killed run's ledger with and without its write-ahead log: copied while it was written to."""

    def killed(self, tmp_path: Path) -> Path:
        """A run of which 20 agents' digests are only in the log."""
        run = begin_run(tmp_path / "run_test")
        killed = tmp_path / "copy" / "run_test"

        async def work(ledger: Ledger) -> None:
            for number in range(20):
                await ledger.store_digests("T1", {f"agent:{number}": "x"})
            shutil.copytree(run, killed)

        with_ledger(run, work)
        assert not (run / COUNTER).exists()  # closed in order: there is no log that could be lost
        return killed

    def test_a_deleted_log_is_noticed_until_and_after_the_next_resume(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Twenty writes, each a commit of its own."""
        folder = self.killed(tmp_path)
        assert read_run(folder).note == ""
        (folder / "ledger.sqlite-wal").unlink()
        assert "the last 20 writes to this run's ledger are missing" in read_run(folder).note
        asyncio.run(self.opened(folder))
        assert "the last 20 writes" in caplog.text
        assert read_run(folder).note == "20 writes to this run's ledger had been lost with its write-ahead log"

    async def opened(self, folder: Path) -> None:
        async with using(str(folder)):
            pass

    def test_a_count_that_nobody_can_read_says_nothing(self, tmp_path: Path) -> None:
        folder = self.killed(tmp_path)
        for content in ("", "many", "9" * 100):
            (folder / COUNTER).write_text(content)
            assert read_run(folder).note == ""
