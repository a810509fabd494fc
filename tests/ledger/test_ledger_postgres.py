"""A ledger in PostgreSQL where it differs from a file: the lock, lost connections, what is written down of the address.

What is true of both is tested over both: test_ledger.py, tests/conformance/test_conformance_store.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from enquete.ledger import postgres as module
from enquete.ledger import queries
from enquete.ledger.backup import copy_of_store
from enquete.ledger.checksums import seal_note
from enquete.ledger.damage import require_sound
from enquete.ledger.drives import store_of
from enquete.ledger.entries import Usage
from enquete.ledger.folders import LEDGER, drop_ledger, held, is_held, make_run_folder
from enquete.ledger.integrity import StoreUnreachable
from enquete.ledger.ledger import Ledger
from enquete.ledger.postgres import PostgresConnection, RunLock, translated
from enquete.ledger.repair import restore
from enquete.state.asking import Answer
from enquete.state.errors import LedgerError, RunLocked, SettingsError
from enquete.state.interview_context import Completion
from enquete.state.request import masked, remember, with_credentials
from tests.support.ledgers import block_key, call, opened, prompt, with_ledger
from tests.support.postgres import PASSWORD, Server

pytestmark = pytest.mark.anyio

RECORD = {"run_id": "x"}


@pytest.fixture
def folder(tmp_path: Path, postgres: Server) -> Path:
    made = tmp_path / f"run_{tmp_path.name}"
    make_run_folder(made, remember(postgres.url))
    return made


@pytest.fixture
def own_server(folder: Path, postgres: Server) -> Iterator[Server]:
    """The server of the folder's ledger, to be stopped; it runs again afterwards."""
    try:
        yield postgres
    finally:
        postgres.start_again()


def kill_sessions(server: Server, but: tuple[int, ...] = ()) -> None:
    """Every session of Enquete's, as a restart of the server or a cut network does."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='enquete' "
            "AND pid <> ALL(%s)",
            (list(but),),
        )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:pw@db.example:5433/e?sslmode=require", "postgresql://ada@db.example:5433/e?sslmode=require"),
        ("postgres://db/e?password=pw&sslmode=require", "postgresql://db/e?sslmode=require"),
        ("postgresql://ada@[::1]:5433/e", "postgresql://ada@[::1]:5433/e"),
        ("postgresql:///e?host=/var/run/postgresql", "postgresql:///e?host=%2Fvar%2Frun%2Fpostgresql"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert masked(url) == shown
    assert masked(shown) == shown


@pytest.mark.parametrize("url", ["mysql://u:pw@h/d", "ledger.sqlite", "postgresql://host", "postgresql://h:port/d"])
def test_what_is_no_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="an address like postgresql://user@host:5432/database is expected") as refused:
        masked(url)
    assert "pw" not in str(refused.value)


def test_the_password_comes_from_elsewhere_and_statements_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_credentials("postgresql://b@h/d") == "postgresql://b@h/d"  # libpq looks in PGPASSWORD and ~/.pgpass
    monkeypatch.setenv("ENQUETE_STORE", "postgresql://b:env@h/d")
    assert with_credentials("postgresql://b@h/d") == "postgresql://b:env@h/d"
    assert with_credentials("postgresql://b@other/d") == "postgresql://b@other/d"
    assert with_credentials(remember("postgresql://b:said@h/d")) == "postgresql://b:said@h/d"
    assert translated("SELECT 1 WHERE a IN (SELECT value FROM json_each(?)) AND b LIKE 'x%'") == (
        "SELECT 1 WHERE a IN (SELECT value FROM json_array_elements_text(CAST(%s AS json))) AND b LIKE 'x%%'"
    )


def test_without_the_extra_an_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "psycopg", None)
    with pytest.raises(SettingsError, match=r"pip install 'enquete\[scale\]'"):
        make_run_folder(tmp_path / "run_x", "postgresql://h/d")
    assert not (tmp_path / "run_x").exists()


def test_a_server_that_does_not_answer_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"postgresql://ada@127\.0\.0\.1:9/d: .*refused") as refused:
        make_run_folder(tmp_path / "run_x", remember("postgresql://ada:pw@127.0.0.1:9/d"))
    assert "pw" not in str(refused.value)
    assert not (tmp_path / "run_x").exists()


def test_a_wrong_password_is_told_without_it(tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = postgres.url.replace(PASSWORD, "falsches-wort").replace("enquete", "postgres")
    with pytest.raises(LedgerError, match="password authentication failed") as refused:
        make_run_folder(tmp_path / "run_x", remember(wrong))
    assert "falsches-wort" not in str(refused.value)


class TestLock:
    def test_one_process_drives_a_run_whatever_folder_it_knows_it_by(self, folder: Path, tmp_path: Path) -> None:
        """The second folder stands for another machine's."""
        shown = store_of(folder)
        with held(folder):
            assert is_held(folder)
            with pytest.raises(RunLocked, match="driven by another process"):
                RunLock(shown, folder.name).take(0)
            with pytest.raises(RunLocked):
                held(folder, wait_s=0).__enter__()
        assert not is_held(folder)
        other = RunLock(shown, f"{folder.name}x")
        other.take(0)
        other.release()

    async def test_who_lost_it_to_another_writes_no_more(self, folder: Path, postgres: Server) -> None:
        async with opened(folder) as ledger:
            with held(folder):
                lock = module._held[store_of(folder), folder.name]
                await ledger.note("a", "1")
                kill_lock(postgres, lock.pid)
                thief = RunLock.__new__(RunLock)  # elsewhere: this process's books know nothing of it
                thief._connection, thief._key = PostgresConnection(*lock._key), lock._key
                assert thief._try()
                with pytest.raises(RunLocked, match="connection to its store was lost, and another process"):
                    await ledger.note("a", "2")
                assert ledger.noted("a") == "1"
                thief._connection.close()
                await ledger.note("a", "3")  # nobody has it: it is taken again
                assert ledger.noted("a") == "3"


def kill_lock(server: Server, pid: int) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


class TestLostConnections:
    async def test_a_restarted_server_loses_and_doubles_nothing(self, folder: Path, postgres: Server) -> None:
        """Every session dies between and within writes, then the server: each call stands once, each counter as the
        rows say."""
        async with opened(folder) as ledger:
            keys = [call(f"agent:{n}") for n in range(60)]

            async def ask(number: int) -> None:
                key = keys[number]
                await ledger.reserve(key, prompt(), "m", 500)
                if number == 30:
                    await asyncio.to_thread(kill_sessions, postgres)
                    await asyncio.to_thread(postgres.stop, "immediate")
                    await asyncio.to_thread(postgres.start)
                await ledger.settle(key, Completion(f"text {number}"), Usage(10, 5))
                await ledger.store(block_key(f"agent:{number}"), [Answer("i", "ok", float(number))])

            await asyncio.gather(*(ask(number) for number in range(len(keys))))
            assert [ledger.settled(key).text for key in keys] == [f"text {n}" for n in range(60)]  # type: ignore[union-attr]
            assert (ledger.total("calls"), ledger.total("tokens"), ledger.total("answers_ok")) == (60, 900, 60)

    async def test_one_deadline_holds_for_all_writes_that_wait(
        self, folder: Path, own_server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A database that is gone for good: of thirty writes each would have waited for itself, one after the other."""
        monkeypatch.setattr(module, "PATIENCE_S", 1.0)
        async with opened(folder) as ledger:
            await ledger.note("before", "1")
            own_server.stop("immediate")
            began = time.monotonic()
            writes = [ledger.note(f"n{number}", "1") for number in range(30)]
            failures = await asyncio.gather(*writes, return_exceptions=True)
            failures += await asyncio.gather(ledger.note("late", "1"), return_exceptions=True)
            assert {type(failure) for failure in failures} == {StoreUnreachable}
            assert time.monotonic() - began < 10  # one second, and what thirty refusals take
            own_server.start()
            await ledger.note("after", "1")  # whoever comes once it is back is not told of an old deadline
            assert ledger.noted("after") == "1"

    def test_a_commit_without_an_answer_is_looked_up(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with closing(PostgresConnection(store_of(folder), folder.name)) as connection:
            connection.make_schema()
            connection.execute("CREATE TABLE t(n BIGINT)")
            real, lost = connection._connection.execute, []

            def execute(query: Any, *values: Any) -> Any:
                result = real(query, *values)
                if query == "COMMIT" and not lost:
                    lost.append(True)
                    connection._connection.close()
                    raise psycopg.OperationalError("the connection was lost")
                return result

            monkeypatch.setattr(connection._connection, "execute", execute)
            assert connection.transact(lambda: connection.execute("INSERT INTO t VALUES(1)").rowcount) == 1
            assert connection.execute("SELECT n FROM t").fetchall() == [(1,)]
            assert lost


async def test_many_rows_are_fetched_as_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 10)
    async with opened(folder) as ledger:
        await ledger.store(block_key(), [Answer(f"i{n:03}", "ok", 1.0) for n in range(100)])
        rows = ledger.iterate_answers("longitudinal")
        assert next(rows)[1].item == "i000"
        await ledger.store(block_key("agent:b"), [Answer("late", "ok")])  # a reader's view holds still
        assert len(list(rows)) == 99


async def test_several_processes_write_to_one_run(folder: Path) -> None:
    """Two writers, each on connections of its own: every answer once, counters and shared texts as the rows say."""
    async with opened(folder) as first, opened(folder) as second:

        async def ask(ledger: Ledger, name: str) -> None:
            await ledger.reserve(call(name), prompt(), "m", 500)
            await ledger.settle(call(name), Completion("text"), Usage(10, 5, cached_tokens=4))
            await ledger.store(block_key(name), [Answer(f"i{n}", "ok", 1.0) for n in range(3)])

        await asyncio.gather(*(ask(ledger, f"{n}{n % 7}") for n in range(200) for ledger in [(first, second)[n % 2]]))
        with pytest.raises(RuntimeError, match="already settled or in flight"):
            await second.reserve(call("00"), prompt(), "m", 500)
        assert (first.total("calls"), first.total("tokens"), first.total("answers_ok")) == (200, 3000, 600)
        assert first.total("blocks") == 200


class TestBackup:
    async def filled(self, folder: Path) -> None:
        async with opened(folder) as ledger:
            await ledger.reserve(call(), prompt(), "m", 500)
            await ledger.settle(call(), Completion("paid"), Usage(1, 2))
            await ledger.store(block_key(), [Answer("i", "ok", 2.5, notes=("n",))])
            await ledger.pin("", "", "", "record", RECORD)

    async def test_a_damaged_row_is_replaced_from_the_copy(self, folder: Path) -> None:
        """A row that changed behind the database's back: it has no checksums of its own before version 18."""
        await self.filled(folder)
        assert copy_of_store(folder / LEDGER)
        with closing(PostgresConnection(store_of(folder), folder.name)) as connection:
            connection.execute("UPDATE answers SET value=7")
            connection.execute("UPDATE calls SET response='paic'")
        with pytest.raises(LedgerError, match=r"2 rows are not as written: answers \(i\), calls \(longitudinal T0"):
            require_sound(folder)
        restored = restore(folder)
        assert (restored.replaced, restored.dropped, restored.kept) == (2, 0, None)
        async with opened(folder) as ledger:
            assert ledger.settled(call()) == Completion("paid", model="m")
            assert ledger.answers_to(block_key())["i"] == Answer("i", "ok", 2.5, notes=("n",))

    async def test_without_a_copy_a_damaged_row_is_dropped_and_asked_again(self, folder: Path) -> None:
        await self.filled(folder)
        with closing(PostgresConnection(store_of(folder), folder.name)) as connection:
            connection.execute("UPDATE answers SET value=7")
        restored = restore(folder)
        assert (restored.replaced, restored.dropped) == (0, 1)
        async with opened(folder) as ledger:
            assert ledger.answers_to(block_key()) == {}
            assert ledger.settled(call()) == Completion("paid", model="m")  # it is read once more, and not paid for
            assert (ledger.total("answers_ok"), ledger.total("calls")) == (0, 1)

    async def test_a_copy_is_a_file_that_takes_the_place_of_what_was_damaged(self, folder: Path) -> None:
        await self.filled(folder)
        assert copy_of_store(folder / LEDGER)
        with closing(PostgresConnection(store_of(folder), folder.name)) as connection:
            connection.execute("DELETE FROM answers")
        restored = restore(folder)
        assert (restored.settled, restored.again) == (1, 0)
        assert f"{folder.name}.damaged" in "\n".join(restored.lines())
        async with opened(folder) as ledger:
            assert ledger.settled(call()) == Completion("paid", model="m")
            assert ledger.answers_to(block_key())["i"] == Answer("i", "ok", 2.5, notes=("n",))
            assert ledger.total("calls") == 1
            await ledger.store(block_key("agent:b"), [Answer("i", "ok")])  # numbers go on after those that were copied

    async def test_what_is_deleted_is_gone(self, folder: Path) -> None:
        await self.filled(folder)
        drop_ledger(folder)
        with pytest.raises(LedgerError, match=f"holds no ledger of run {folder.name}"):
            Ledger.reading(folder / LEDGER)


@pytest.mark.parametrize(
    ("version", "message"), [("99", "a newer version wrote it"), ("4", "Begin another run with --new")]
)
def test_another_version(folder: Path, version: str, message: str) -> None:
    with_ledger(folder, lambda ledger: ledger.note("a", "1"))
    with closing(PostgresConnection(store_of(folder), folder.name)) as connection:
        connection.execute(queries.NOTE, seal_note("schema_version", version))
    with pytest.raises(LedgerError, match=message):
        Ledger.reading(folder / LEDGER)
