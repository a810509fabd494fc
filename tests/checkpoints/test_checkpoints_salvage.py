"""Salvage: what can be read of a damaged ledger is saved, and counters agree with what is there.

The damaged file is a finished run's, with pages overwritten, cut off or emptied.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enquete
from enquete.checkpoints.folders import CHECKPOINTS, LEDGER, RECORD, held, read_record
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.salvage import is_sound, salvage
from enquete.state.errors import LedgerError, RunLocked
from tests.support.ledgers import counted
from tests.support.studies import personas, rows, run_folder

PAGE = 4096
INNER, LEAF, INNER_INDEX, LEAF_INDEX = 5, 13, 2, 10


@dataclass(frozen=True)
class Whole:
    """A finished run's ledger. `size`: settled calls, answers, agents."""

    run: str
    content: bytes
    record: str
    size: tuple[int, int, int]

    @property
    def pages(self) -> int:
        return len(self.content) // PAGE

    def of(self, name: str, kind: int = LEAF) -> list[int]:
        """Pages (from 0) of a table or index by kind, in the order of its rows: down from its root, which has a head of 100
        bytes on the first page only."""
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(self.content)
            found = connection.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (name,)).fetchone()
        root = found[0] if found else 1  # the list of tables itself
        return [page for page, at in self._below(root - 1) if at == kind]

    def rows_on(self, leaves: Iterable[int]) -> int:
        """By the leaves' heads: a kind (a byte), then two fields of two bytes, of which the second is the number of rows."""
        heads = [self.content[page * PAGE + 3 : page * PAGE + 5] for page in leaves]
        return sum(struct.unpack(">H", head)[0] for head in heads)

    def _below(self, page: int) -> Iterator[tuple[int, int]]:
        """(page, kind)"""
        start = page * PAGE + (100 if page == 0 else 0)
        kind, cells = self.content[start], struct.unpack(">H", self.content[start + 3 : start + 5])[0]
        yield page, kind
        if kind in (INNER, INNER_INDEX):
            places = struct.unpack(f">{cells}H", self.content[start + 12 : start + 12 + 2 * cells])
            for place in (*(page * PAGE + place for place in places), start + 8):
                yield from self._below(struct.unpack(">I", self.content[place : place + 4])[0] - 1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    base = tmp_path_factory.mktemp("whole")
    people, out = personas(base, 4), str(base / "out")
    enquete.conduct_interviews(people, out=out, methods=["longitudinal", "delphi"], respondent="synthetic")
    folder = run_folder(base / "out")
    with closing(sqlite3.connect(folder / LEDGER)) as connection:
        connection.execute("VACUUM INTO ?", (str(base / LEDGER),))
    return Whole(folder.name, (base / LEDGER).read_bytes(), read_record(folder).model_dump_json(), saved(folder))


def planted(base: Path, whole: Whole, content: bytes, record: str = "") -> Path:
    folder = base / whole.run
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / LEDGER).write_bytes(content)
    if record:
        (folder / RECORD).write_text(record, "utf-8")
    return folder


def overwritten(whole: Whole, pages: Iterable[int], seed: int = 0) -> bytes:
    content = bytearray(whole.content)
    for page in pages:
        content[page * PAGE : (page + 1) * PAGE] = random.Random(seed + page).randbytes(PAGE)
    return bytes(content)


def saved(folder: Path) -> tuple[int, int, int]:
    """Settled calls, answers, agents."""
    sql = "SELECT (SELECT count(*) FROM calls WHERE status='settled'), (SELECT count(*) FROM answers), count(*)"
    return rows(folder, f"{sql} FROM participants")[0]  # type: ignore[return-value]


def same_counters(folder: Path) -> None:
    ledger = Ledger.reading(folder / LEDGER, folder.name)
    found = {key: value for key, value in ledger.counters().items() if value}
    ledger.close_reading()
    assert {
        key: n for key, n in found.items() if str(key[-1]).startswith(("answers_", "calls", "tokens", "blocks"))
    } == counted(folder)


def test_a_sound_ledger_is_left_alone(tmp_path: Path, whole: Whole) -> None:
    folder = planted(tmp_path, whole, whole.content)
    report = salvage(folder)
    assert report.kept is None
    assert "nothing is wrong" in report.lines()[0]
    assert (folder / LEDGER).read_bytes() == whole.content


def test_header_list_of_tables_and_indices_cost_nothing(tmp_path: Path, whole: Whole) -> None:
    lists = [0, *whole.of("sqlite_schema")]
    for page in (*lists, *whole.of("meta"), *whole.of("sqlite_autoindex_meta_1", LEAF_INDEX)):
        folder = planted(tmp_path, whole, overwritten(whole, [page]))
        report = salvage(folder)
        assert saved(folder) == whole.size
        assert report.lost == []
        assert report.settled == whole.size[0]
        assert read_record(folder).run_id == whole.run
        same_counters(folder)


@settings(max_examples=10)
@given(pages=st.sets(st.floats(0, 1, exclude_max=True), min_size=1, max_size=3), seed=st.integers(0, 9))
def test_whatever_pages_are_lost_the_rest_is_saved(
    tmp_path_factory: pytest.TempPathFactory, whole: Whole, pages: set[float], seed: int
) -> None:
    content = overwritten(whole, {int(page * whole.pages) for page in pages}, seed)
    folder = planted(tmp_path_factory.getbasetemp() / "pages", whole, content, whole.record)
    before = (folder / LEDGER).read_bytes()
    try:
        report = salvage(folder)
    except LedgerError:  # the agents' page was among them
        assert (folder / LEDGER).read_bytes() == before
        assert sorted(p.name for p in folder.iterdir() if p.name != "lock") == sorted([RECORD, LEDGER])
        return
    assert is_sound(folder / LEDGER)
    same_counters(folder)
    if report.kept is not None:
        assert report.kept.read_bytes() == before
        complete = saved(folder) == whole.size
        assert complete or report.lost
        if report.lost:
            assert rows(folder, "SELECT count(*) FROM frozen WHERE name LIKE 'closed/%'") == [(0,)]
            assert rows(folder, "SELECT methodology, outcome FROM stages") == [("", "paused")]


def test_one_leaf_of_calls_costs_only_the_calls_on_it(tmp_path: Path, whole: Whole) -> None:
    calls, answers, agents = whole.size
    for page in whole.of("calls")[1:3]:
        on_it = whole.rows_on([page])
        folder = planted(tmp_path, whole, overwritten(whole, [page]))
        assert salvage(folder).settled == calls - on_it
        assert saved(folder)[1:] == (answers, agents)


def test_lost_agents_and_record_are_taken_from_the_readable_copy(tmp_path: Path, whole: Whole) -> None:
    source = planted(tmp_path / "whole", whole, whole.content)
    ledger = Ledger.reading(source / LEDGER, whole.run)
    agents = ledger.population()
    ledger.close_reading()
    people = [{**asdict(who), "memories": {}} for who in agents]
    copy = json.dumps(json.loads(whole.record) | {"population": {"agents": people}})
    records = [page for page in range(whole.pages) if b'{"run_id": "' in whole.content[page * PAGE : (page + 1) * PAGE]]
    folder = planted(tmp_path, whole, overwritten(whole, [*whole.of("participants"), *records]), copy)
    report = salvage(folder)
    assert len(report.notes) == 2
    ledger = Ledger.reading(folder / LEDGER, whole.run)
    assert ledger.population() == agents
    ledger.close_reading()
    assert json.loads(read_record(folder).model_dump_json()) == json.loads(whole.record)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 0.6, 0.95])
def test_a_file_that_was_cut_off(tmp_path: Path, whole: Whole, share: float) -> None:
    """Somewhere from the first leaf of calls on, where 0 leaves none of them: what is saved is what stands before the cut."""
    leaves, length = whole.of("calls"), len(whole.content)
    cut = min(leaves) * PAGE + int((length - min(leaves) * PAGE) * share)
    folder = planted(tmp_path, whole, whole.content[:cut], whole.record)
    (folder / CHECKPOINTS).write_bytes(b"position")
    report = salvage(folder)
    calls, _, agents = saved(folder)
    assert agents == whole.size[2]
    least = whole.rows_on(page for page in leaves if (page + 1) * PAGE <= cut)
    assert (least > 0) == (share > 0)
    assert least <= calls <= whole.rows_on(page for page in leaves if page * PAGE < cut)
    assert report.lost
    assert any("enquete resume" in line for line in report.lines())
    assert sorted(p.name for p in folder.iterdir() if "damaged" in p.name) == [
        f"{CHECKPOINTS}.damaged",
        f"{LEDGER}.damaged",
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("table", ["occasions", "calls"])
def test_a_file_cut_off_within_a_page_ends_and_keeps_every_row_before_it(
    tmp_path: Path, whole: Whole, table: str
) -> None:
    """The rest of that page reads as rows of number 0, which led the scan in circles. An occasion's row is shorter than a page,
    so that those on the leaves before the cut are all there; counted from the leaves' heads."""
    cut = whole.of(table)[-1] * PAGE + PAGE // 2
    folder = planted(tmp_path, whole, whole.content[:cut], whole.record)
    salvage(folder)
    before = [page for page in whole.of("occasions") if (page + 1) * PAGE <= cut]
    assert rows(folder, "SELECT count(*) FROM occasions")[0][0] >= whole.rows_on(before)


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_every_truncation_ends_within_a_minute(tmp_path: Path, whole: Whole) -> None:
    """Sound afterwards, or untouched and refused."""
    draw = random.Random(13)
    cuts = [draw.randrange(1, len(whole.content)) for _ in range(100)]
    for cut in cuts:
        folder, began = planted(tmp_path, whole, whole.content[:cut], whole.record), time.monotonic()
        try:
            salvage(folder)
            assert is_sound(folder / LEDGER), cut
        except LedgerError:
            assert (folder / LEDGER).read_bytes() == whole.content[:cut]
        assert time.monotonic() - began < 60, cut


def test_a_lost_root_loses_no_row_on_the_leaves(tmp_path: Path, whole: Whole) -> None:
    """Without the page that leads to its calls, a table is still on the pages that hold them."""
    folder = planted(tmp_path, whole, overwritten(whole, whole.of("calls", INNER)), whole.record)
    assert salvage(folder).settled == whole.size[0]


def test_a_text_that_went_on_on_an_emptied_page_is_damage(tmp_path: Path, whole: Whole) -> None:
    """SQLite finds nothing wrong with it. The last page of a record too long for one page holds its end."""
    content = bytearray(whole.content)
    page = content.rindex(b'"created_at"') // PAGE
    assert page not in whole.of("frozen", LEAF_INDEX)
    content[page * PAGE + 4 : (page + 1) * PAGE] = bytes(PAGE - 4)
    folder = planted(tmp_path, whole, bytes(content), whole.record)
    assert not is_sound(folder / LEDGER)
    with pytest.raises(LedgerError, match=r"a text is torn.*doctor --repair"):
        read_record(folder)


def test_rows_that_are_only_in_the_write_ahead_log_are_saved(tmp_path: Path, whole: Whole) -> None:
    folder = planted(tmp_path, whole, whole.content)
    with closing(sqlite3.connect(folder / LEDGER, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        (last,) = writer.execute("SELECT max(id) FROM calls").fetchone()
        writer.execute("UPDATE calls SET response='only in the log' WHERE id=?", (last,))
        log = (folder / f"{LEDGER}-wal").read_bytes()
        content = bytearray((folder / LEDGER).read_bytes())
    page = whole.of("calls")[0]
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    folder = planted(tmp_path, whole, bytes(content))
    (folder / f"{LEDGER}-wal").write_bytes(log)
    salvage(folder)
    assert rows(folder, "SELECT response FROM calls WHERE id=?", last) == [("only in the log",)]
    assert (folder / f"{LEDGER}.damaged-wal").exists()


@pytest.mark.parametrize("content", [b"", b"not a database, only text. " * 400, bytes(PAGE * 5)])
def test_nothing_to_save_changes_nothing(tmp_path: Path, whole: Whole, content: bytes) -> None:
    folder = planted(tmp_path, whole, content, whole.record)
    with pytest.raises(LedgerError, match=str(folder / LEDGER)):
        salvage(folder)
    assert (folder / LEDGER).read_bytes() == content
    assert {p.name for p in folder.iterdir()} <= {LEDGER, RECORD, "lock"}


def test_a_run_that_is_driven_is_not_touched(tmp_path: Path, whole: Whole) -> None:
    folder = planted(tmp_path, whole, overwritten(whole, [whole.pages // 3]))
    with held(folder), pytest.raises(RunLocked):
        salvage(folder)
