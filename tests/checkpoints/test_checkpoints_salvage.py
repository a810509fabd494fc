"""Salvage: what can be read of a damaged ledger is saved, and counters agree with what is there.

The damaged file is a stored run of a released version, with pages overwritten, cut off or emptied.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.checkpoints.folders import CHECKPOINTS, LEDGER, RECORD, held, read_record
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.salvage import is_sound, salvage
from enquete.state.errors import LedgerError, RunLocked
from tests.support.ledgers import counted
from tests.support.studies import rows

STORED = Path(__file__).parent.parent / "data" / "runs" / "0.1.0" / "ledger.sqlite.gz"
WHOLE = gzip.decompress(STORED.read_bytes())
PAGE, PAGES = 4096, len(WHOLE) // 4096
CALLS, ANSWERS, AGENTS = 45, 516, 4
"""SELECT count(*) of the stored run's tables."""


def run_name(content: bytes, folder: Path) -> str:
    (folder / "whole").write_bytes(content)
    with closing(sqlite3.connect(folder / "whole")) as connection:
        return str(connection.execute("SELECT value FROM meta WHERE key='run'").fetchone()[0])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run_name(WHOLE, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def record(run: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("record") / run
    folder.mkdir()
    (folder / LEDGER).write_bytes(WHOLE)
    return read_record(folder).model_dump_json()


def planted(base: Path, run: str, content: bytes, record: str = "") -> Path:
    folder = base / run
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / LEDGER).write_bytes(content)
    if record:
        (folder / RECORD).write_text(record, "utf-8")
    return folder


def overwritten(pages: set[int], seed: int = 0) -> bytes:
    content = bytearray(WHOLE)
    for page in pages:
        content[page * PAGE : (page + 1) * PAGE] = random.Random(seed + page).randbytes(PAGE)
    return bytes(content)


def saved(folder: Path) -> tuple[int, int, int]:
    """Settled calls, answers, agents."""
    sql = "SELECT (SELECT count(*) FROM calls WHERE status='settled'), (SELECT count(*) FROM answers), count(*)"
    return rows(folder, f"{sql} FROM participants")[0]  # type: ignore[return-value]


def same_counters(folder: Path, run: str) -> None:
    ledger = Ledger.reading(folder / LEDGER, run)
    found = {key: value for key, value in ledger.counters().items() if value}
    ledger.close_reading()
    assert {
        key: n for key, n in found.items() if str(key[-1]).startswith(("answers_", "calls", "tokens", "blocks"))
    } == counted(folder)


def test_a_sound_ledger_is_left_alone(tmp_path: Path, run: str) -> None:
    folder = planted(tmp_path, run, WHOLE)
    report = salvage(folder)
    assert report.kept is None
    assert "nothing is wrong" in report.lines()[0]
    assert (folder / LEDGER).read_bytes() == WHOLE


@pytest.mark.parametrize("page", [0, 1, 2, 18, 19])
def test_header_list_of_tables_and_indices_cost_nothing(tmp_path: Path, run: str, page: int) -> None:
    """The first page and 19 and 20 hold the list of tables, 2 and 3 the table meta and its index."""
    folder = planted(tmp_path, run, overwritten({page}))
    report = salvage(folder)
    assert saved(folder) == (CALLS, ANSWERS, AGENTS)
    assert report.lost == []
    assert report.settled == CALLS
    assert read_record(folder).run_id == run
    same_counters(folder, run)


@settings(max_examples=10)
@given(pages=st.sets(st.integers(0, PAGES - 1), min_size=1, max_size=3), seed=st.integers(0, 9))
def test_whatever_pages_are_lost_the_rest_is_saved(
    tmp_path_factory: pytest.TempPathFactory, run: str, record: str, pages: set[int], seed: int
) -> None:
    folder = planted(tmp_path_factory.getbasetemp() / "pages", run, overwritten(pages, seed), record)
    before = (folder / LEDGER).read_bytes()
    try:
        report = salvage(folder)
    except LedgerError:  # the agents' page was among them
        assert (folder / LEDGER).read_bytes() == before
        assert sorted(p.name for p in folder.iterdir() if p.name != "lock") == sorted([RECORD, LEDGER])
        return
    assert is_sound(folder / LEDGER)
    same_counters(folder, run)
    if report.kept is not None:
        assert report.kept.read_bytes() == before
        complete = saved(folder) == (CALLS, ANSWERS, AGENTS)
        assert complete or report.lost
        if report.lost:
            assert rows(folder, "SELECT count(*) FROM frozen WHERE name LIKE 'closed/%'") == [(0,)]
            assert rows(folder, "SELECT methodology, outcome FROM stages") == [("", "paused")]


def test_one_leaf_of_calls_costs_only_the_calls_on_it(tmp_path: Path, run: str) -> None:
    """Page 53 of the stored file is a leaf of `calls` with two rows (sqlite's dbstat says so), 42 one with one."""
    for page, left in ((53, CALLS - 2), (42, CALLS - 1)):
        folder = planted(tmp_path, run, overwritten({page - 1}))
        assert salvage(folder).settled == left
        assert saved(folder)[1:] == (ANSWERS, AGENTS)


def test_lost_agents_and_record_are_taken_from_the_readable_copy(tmp_path: Path, run: str, record: str) -> None:
    """Page 4 of the stored file is the only leaf of `participants`; page 114 holds the record."""
    source = planted(tmp_path / "whole", run, WHOLE)
    ledger = Ledger.reading(source / LEDGER, run)
    agents = ledger.population()
    ledger.close_reading()
    people = [who.model_dump(mode="json", exclude={"digest"}) for who in agents]
    copy = json.dumps(json.loads(record) | {"population": {"agents": people}})
    folder = planted(tmp_path, run, overwritten({3, 113}), copy)
    report = salvage(folder)
    assert len(report.notes) == 2
    ledger = Ledger.reading(folder / LEDGER, run)
    assert ledger.population() == agents
    ledger.close_reading()
    assert json.loads(read_record(folder).model_dump_json()) == json.loads(record)


@pytest.mark.parametrize("share", [0.4, 0.6, 0.95])
def test_a_file_that_was_cut_off(tmp_path: Path, run: str, record: str, share: float) -> None:
    folder = planted(tmp_path, run, WHOLE[: int(len(WHOLE) * share)], record)
    (folder / CHECKPOINTS).write_bytes(b"position")
    report = salvage(folder)
    calls, _, agents = saved(folder)
    assert agents == AGENTS
    assert 0 < calls <= CALLS
    assert report.lost
    assert any("enquete resume" in line for line in report.lines())
    assert sorted(p.name for p in folder.iterdir() if "damaged" in p.name) == [
        f"{CHECKPOINTS}.damaged",
        f"{LEDGER}.damaged",
    ]


def test_rows_that_are_only_in_the_write_ahead_log_are_saved(tmp_path: Path, run: str) -> None:
    folder = planted(tmp_path, run, WHOLE)
    with closing(sqlite3.connect(folder / LEDGER, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("UPDATE calls SET response='only in the log' WHERE id=45")
        log = (folder / f"{LEDGER}-wal").read_bytes()
        content = bytearray((folder / LEDGER).read_bytes())
    content[52 * PAGE : 53 * PAGE] = bytes(PAGE)
    folder = planted(tmp_path, run, bytes(content))
    (folder / f"{LEDGER}-wal").write_bytes(log)
    salvage(folder)
    assert rows(folder, "SELECT response FROM calls WHERE id=45") == [("only in the log",)]
    assert (folder / f"{LEDGER}.damaged-wal").exists()


@pytest.mark.parametrize("content", [b"", b"not a database, only text. " * 400, bytes(PAGE * 5)])
def test_nothing_to_save_changes_nothing(tmp_path: Path, run: str, record: str, content: bytes) -> None:
    folder = planted(tmp_path, run, content, record)
    with pytest.raises(LedgerError, match=str(folder / LEDGER)):
        salvage(folder)
    assert (folder / LEDGER).read_bytes() == content
    assert {p.name for p in folder.iterdir()} <= {LEDGER, RECORD, "lock"}


def test_a_run_that_is_driven_is_not_touched(tmp_path: Path, run: str) -> None:
    folder = planted(tmp_path, run, overwritten({40}))
    with held(folder), pytest.raises(RunLocked):
        salvage(folder)
