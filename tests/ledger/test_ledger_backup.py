"""Backup copies: when they are made, what they never replace, and what a repair puts in place."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import enquete
from enquete.ledger.backup import SHARE, BackupCopies, copies, whole_copy, writes_in
from enquete.ledger.damage import find_damage, require_sound
from enquete.ledger.entries import Usage
from enquete.ledger.folders import CHECKPOINTS, LEDGER, held, read_run
from enquete.ledger.ledger import Ledger
from enquete.ledger.repair import restore
from enquete.runs.run_session import using
from enquete.state.errors import LedgerError, RunLocked
from enquete.state.interview_context import Completion
from tests.support import bare_runs
from tests.support.ledgers import call, prompt, with_ledger
from tests.support.new_runs import begin_run
from tests.support.studies import call_keys, personas, rows, run_folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(tmp_path / "run_test")


def copying(
    run: Path, work: Callable[[Ledger, BackupCopies], Awaitable[None]], clock: Iterator[float] | None = None
) -> None:
    async def act(ledger: Ledger) -> None:
        await work(ledger, BackupCopies(ledger, *([clock.__next__] if clock else [])))

    with_ledger(run, act)


def test_one_is_kept_and_none_is_made_of_what_was_copied(run: Path) -> None:
    async def work(ledger: Ledger, made: BackupCopies) -> None:
        await made.copy()
        first = copies(run / LEDGER)
        await made.copy()
        assert (made.made, copies(run / LEDGER)) == (1, first)
        await ledger.set_stage("m", "T1", "done")
        await made.copy()
        assert made.made == 2
        assert whole_copy(run / LEDGER) == copies(run / LEDGER)[0] != first[0]
        assert writes_in(copies(run / LEDGER)[0]) == ledger.writes

    copying(run, work)
    assert len(copies(run / LEDGER)) == 1


def test_a_log_that_is_kept_stands_in_the_ledger_once_it_is_copied(run: Path) -> None:
    async def work(ledger: Ledger, made: BackupCopies) -> None:
        ledger.keep_log()
        size = (run / LEDGER).stat().st_size
        for number in range(50):
            await ledger.store_digests("T1", {f"agent:{number}": "x" * 100_000})
        assert (run / LEDGER).stat().st_size == size  # 5 MB, and SQLite would write back after 4
        await made.copy()
        assert (run / f"{LEDGER}-wal").stat().st_size == 0
        assert (run / LEDGER).stat().st_size > size + 5_000_000

    copying(run, work)


def test_copies_at_barriers_take_a_hundredth_of_the_time(run: Path) -> None:
    """By a clock that goes on by ten seconds whenever it is asked; a copy asks twice, so it takes ten."""

    async def work(ledger: Ledger, made: BackupCopies) -> None:
        for number in range(500):
            await ledger.note("barrier", str(number))
            await made.at_barrier()
        assert made.made > 3
        assert made.spent_s <= SHARE * next(clock)

    clock = iter(range(0, 10**9, 10))
    copying(run, work, clock)  # type: ignore[arg-type]  # whole seconds


def test_a_damaged_ledger_never_takes_the_place_of_a_sound_copy(run: Path) -> None:
    """Another process has it on the same disk: a text on a page that was written back long ago is changed."""

    async def work(ledger: Ledger, made: BackupCopies) -> None:
        await made.copy()
        content = (run / LEDGER).read_bytes()
        place = content.index(b'"run_id"')
        await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", CHANGE, run / LEDGER, str(place + 1)], check=True
        )
        before = copies(run / LEDGER)
        await ledger.set_stage("m", "T1", "done")
        with pytest.raises(LedgerError, match=r"1 row is not as written: frozen \(record\).*doctor --repair"):
            await made.copy()
        assert copies(run / LEDGER) == before
        assert whole_copy(run / LEDGER)

    copying(run, work)
    assert not list(run.glob("*.tmp"))


CHANGE = "import sys; file = open(sys.argv[1], 'r+b'); file.seek(int(sys.argv[2])); file.write(b'R'); file.close()"


def test_a_copy_that_was_cut_short_by_a_kill_is_no_copy(run: Path) -> None:
    asyncio.run(opened(run))
    (whole,) = copies(run / LEDGER)
    (run / f"{LEDGER}.backup.tmp").write_bytes(whole.read_bytes()[:8192])
    torn = whole.with_name(f"{LEDGER}.backup-0000000000000000")
    torn.write_bytes(whole.read_bytes()[:8192])
    assert whole_copy(run / LEDGER) == whole
    asyncio.run(opened(run, "again"))
    assert len(copies(run / LEDGER)) == 1
    assert not (run / f"{LEDGER}.backup.tmp").exists()


async def opened(run: Path, note: str = "") -> None:
    async with using(str(run)) as run_session:
        if note:
            await run_session.ledger.note("noted", note)


def test_a_repair_by_the_whole_copy_says_how_much_is_asked_again(run: Path) -> None:
    """Which takes the ledger's place where the file itself is damaged. The checkpoints are set aside."""
    asyncio.run(opened(run))

    async def ask(ledger: Ledger) -> None:
        for who in ("a", "b", "c"):
            await ledger.reserve(call(who), prompt(), "m", 10)
            await ledger.settle(call(who), Completion("{}", "stop"), Usage(5, 5))

    with_ledger(run, ask)
    (run / CHECKPOINTS).write_bytes(b"position")
    content = (run / LEDGER).read_bytes()
    (run / LEDGER).write_bytes(content.replace(b"CREATE TABLE calls", b"CREATE TABLE cells"))
    restored = restore(run)
    assert (restored.settled, restored.again) == (0, None)
    assert "its 0 paid calls are not asked again; those settled since are" in restored.lines()[0]
    assert (run / f"{CHECKPOINTS}.damaged").exists()
    assert restored.kept == run / f"{LEDGER}.damaged"
    assert not find_damage(run)
    assert not restore(run).was_damaged  # nothing is wrong any more
    asyncio.run(opened(run))


def test_a_deleted_ledger_is_restored_and_a_driven_run_is_not_repaired(run: Path) -> None:
    asyncio.run(opened(run))
    (run / CHECKPOINTS).touch()
    (run / LEDGER).unlink()
    with pytest.raises(LedgerError, match=r"ledger is missing.*doctor --repair"):
        read_run(run)
    assert restore(run).again is None
    assert read_run(run).record.run_id == run.name
    (run / LEDGER).write_bytes(b"noise" * 1000)
    with held(run), pytest.raises(RunLocked):
        restore(run)


def test_without_a_sound_copy_nothing_is_changed(run: Path) -> None:
    asyncio.run(opened(run))
    (copy,) = copies(run / LEDGER)
    copy.write_bytes(copy.read_bytes()[:-1])
    (run / LEDGER).write_bytes(b"noise" * 1000)
    with pytest.raises(LedgerError, match=r"no sound backup copy of it.*nothing was changed"):
        restore(run)
    assert (run / LEDGER).read_bytes() == b"noise" * 1000


def test_a_row_is_mended_from_the_copy_and_what_was_settled_since_is_kept(run: Path) -> None:
    asyncio.run(opened(run))

    async def ask(ledger: Ledger) -> None:
        for who in ("a", "b", "c"):
            await ledger.reserve(call(who), prompt(), "m", 10)
            await ledger.settle(call(who), Completion("{}", "stop"), Usage(5, 5))

    with_ledger(run, ask)
    (run / CHECKPOINTS).write_bytes(b"position")
    content = (run / LEDGER).read_bytes()
    (run / LEDGER).write_bytes(content.replace(b'"run_id"', b'"rum_id"'))
    restored = restore(run)
    assert (restored.replaced, restored.dropped) == (1, 0)
    assert "  frozen (record)" in restored.lines()
    assert (run / f"{LEDGER}.damaged").read_bytes() == content.replace(b'"run_id"', b'"rum_id"')
    assert (run / f"{CHECKPOINTS}.damaged").exists()
    assert call_keys(run) == [("longitudinal", "T0", "main", "answer", who, 0) for who in ("a", "b", "c")]
    assert not restore(run).was_damaged
    asyncio.run(opened(run))


def test_a_damaged_call_that_the_copy_lacks_is_lost_with_what_it_cost_still_counted(run: Path) -> None:
    """Its key may be asked once more; the cap knows what was paid for it."""
    asyncio.run(opened(run))

    async def ask(ledger: Ledger) -> None:
        for who in ("a", "b"):
            await ledger.reserve(call(who), prompt(), "m", 10)
            await ledger.settle(call(who), Completion(f"answer of {who}", "stop"), Usage(50, 5))

    with_ledger(run, ask)
    content = (run / LEDGER).read_bytes()
    (run / LEDGER).write_bytes(content.replace(b"answer of a", b"answer of c"))
    restored = restore(run)
    assert (restored.replaced, restored.dropped) == (0, 1)

    async def look(ledger: Ledger) -> None:
        assert ledger.settled(call("a")) is None
        assert ledger.settled(call("b")) is not None
        assert (ledger.total("tokens"), ledger.total("calls")) == (110, 1)
        await ledger.reserve(call("a"), prompt(), "m", 10)
        await ledger.settle(call("a"), Completion("answer of a", "stop"), Usage(50, 5))
        assert ledger.total("tokens") == 165

    with_ledger(run, look)
    assert not find_damage(run)


CHANGED = {
    "answers": "UPDATE answers SET data='{\"a\": '",
    "frozen": "UPDATE frozen SET value='{' || value WHERE name<>'record'",
    "participants": "UPDATE participants SET name='X' || name",
    "occasions": "UPDATE occasions SET participant='agent:x' WHERE id=1",
    "texts": "UPDATE texts SET text='x' || text WHERE head=''",
    "counters": "UPDATE counters SET value=value+1 WHERE name='blocks'",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("finished")
    bare_runs.interview(
        personas(base, 3), out=str(base / "out"), respondent="synthetic", methods=["longitudinal", "diversity"]
    )
    return base / "out"


@pytest.mark.parametrize("table", CHANGED)
def test_a_changed_row_is_named_wherever_rows_are_read(finished: Path, tmp_path: Path, table: str) -> None:
    """For a resume, a report, an export and the frames in Python, by the function that the repair asks."""
    out = Path(shutil.copytree(finished, tmp_path / "out"))
    folder = run_folder(out)
    with closing(sqlite3.connect(folder / LEDGER)) as connection, connection:
        connection.execute(CHANGED[table])
    acts: list[Callable[[], object]] = [
        lambda: enquete.resume(folder.name, out=str(out), fresh=True),
        lambda: enquete.export("personas_3", folder.name, out=str(out)),
        lambda: enquete.load_run("personas_3", folder.name, out=str(out)).responses,
        lambda: require_sound(folder),
    ]
    for act in acts:
        with pytest.raises(LedgerError, match=rf"not as written: {table} \(.*doctor --repair"):
            act()
    assert restore(folder).was_damaged
    assert not find_damage(folder)


def test_answers_whose_occasion_is_gone_are_missed_by_the_counters(finished: Path, tmp_path: Path) -> None:
    """Every row that is left is as it was written."""
    folder = run_folder(Path(shutil.copytree(finished, tmp_path / "out")))
    with closing(sqlite3.connect(folder / LEDGER)) as connection, connection:
        connection.execute("DELETE FROM occasions WHERE id = (SELECT occasion FROM answers LIMIT 1)")
    damage = find_damage(folder)
    assert damage.rows == ()
    assert damage.whole.endswith("answers_ok more were counted than there are")


def test_memories_that_are_gone_are_missed(run: Path) -> None:
    """The note that they were pinned was kept: agents would be asked as if they had none."""

    async def pin(ledger: Ledger) -> None:
        await ledger.pin("", "", "T1", "memory", {"with_memory": 5, "notes": []})

    with_ledger(run, pin)
    with pytest.raises(LedgerError, match="5 agents' memories were pinned, and 0 are there"):
        asyncio.run(opened(run))


TOO_MANY = """
import os, resource, sys
from contextlib import suppress
from pathlib import Path
from enquete.ledger.folders import LEDGER, read_run
from enquete.ledger.damage import require_sound
from enquete.ledger.ledger import Ledger
from enquete.state.errors import LedgerError

folder, held = Path(sys.argv[1]), []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with suppress(OSError):
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
for free in range(5):
    for act in (read_run, require_sound, lambda folder: Ledger(folder / LEDGER)):
        try:
            act(folder)
        except LedgerError as error:
            print(free, error)
    os.close(held.pop())
"""


def test_too_many_open_files_are_no_damage(run: Path) -> None:
    asyncio.run(opened(run))
    (run / CHECKPOINTS).touch()
    done = subprocess.run(
        [sys.executable, "-c", TOO_MANY, run], capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTHONPATH": str(Path(enquete.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) >= 5
    assert all("Too many open files" in line for line in lines), lines
    assert not any("not a readable ledger" in line or "--repair" in line for line in lines)
    assert (run / CHECKPOINTS).exists()
    assert rows(run, "SELECT count(*) FROM participants") == [(5,)]
