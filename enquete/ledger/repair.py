"""Mending a damaged ledger: single rows from its backup copy, what the copy lacks is asked again; the whole copy where
the file itself is damaged, or where a row that cannot be asked again is not in the copy."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from enquete.ledger import queries
from enquete.ledger.backup import BLOCK, fill, names_of, select_rows, whole_copy, writes_in
from enquete.ledger.checksums import seal, seal_count
from enquete.ledger.connection import connect, explained
from enquete.ledger.damage import MAX_NAMED, Damage, DamagedRow, find_damage
from enquete.ledger.drives import disk_fault, is_remote, store_of
from enquete.ledger.entries import now, seal_calls
from enquete.ledger.folders import CHECKPOINTS, LEDGER, draft_of, held, name_aside, set_aside
from enquete.ledger.writer import COUNTER, told_beside
from enquete.state.errors import LedgerError

CAN_BE_ASKED_AGAIN = frozenset({"occasions", "answers", "calls"})
CAN_BE_MISSED = frozenset({"counters", "stages", "failures", "meta", "texts"})
"""Counters are counted anew, stages walked again, remarks and failures are noted again; of a text, a prompt as it was
sent, only the record is lost."""
FINAL = {"answers": "status <> 'failed'", "calls": "status = 'settled'"}
"""Which rows of a copy are surely what the ledger had: others changed after it was made."""

NO_MESSAGES = "[]"


@dataclass(frozen=True)
class Restored:
    """What became of a damaged ledger.

    at: when the copy was made that was used, "" where none was; kept: where the damaged file is now; again: calls
    settled since that are asked again, None where the damaged file does not say; writes: to it since; damage: what was
    wrong; replaced, dropped: rows that were mended from the copy, and rows that are asked for again.
    """

    ledger: Path
    kept: Path | None = None
    at: str = ""
    settled: int = 0
    again: int | None = 0
    writes: int = 0
    damage: Damage = field(default_factory=Damage)
    replaced: int = 0
    dropped: int = 0

    @property
    def was_damaged(self) -> bool:
        return bool(self.damage)

    def lines(self) -> list[str]:
        """For people: what was wrong, what was mended, what is asked again, what to do next."""
        if not self.damage:
            return [f"{self.ledger}: nothing is wrong with it, nothing was changed"]
        run, interviews = self.ledger.parent.name, self.ledger.absolute().parents[2]
        kept = [f"the damaged file is kept as {self.kept.name}"] if self.kept else []
        go_on = f"go on with it: {shlex.join(['enquete', 'resume', run, '--out', str(interviews)])}"
        return [*(self._lines_of_rows() if self.damage.rows and not self._is_whole else self._lines_of_copy()), *kept,
                go_on]  # fmt: skip

    @property
    def _is_whole(self) -> bool:
        """Whether the whole copy took the ledger's place."""
        return not (self.replaced or self.dropped)

    def _lines_of_rows(self) -> list[str]:
        named = [f"  {row}" for row in self.damage.rows[:MAX_NAMED]]
        if len(self.damage.rows) > MAX_NAMED:
            named.append(f"  and {len(self.damage.rows) - MAX_NAMED:,} more")
        copied = f" from its backup copy of {self.at}" if self.replaced else ""
        return [
            f"{self.ledger}: {len(self.damage.rows):,} rows were damaged: {self.replaced:,} were replaced{copied}, "
            f"{self.dropped:,} were not in it and are asked for again or counted anew",
            *named,
        ]

    def _lines_of_copy(self) -> list[str]:
        again = (
            f"its {self.settled:,} paid calls are not asked again; {self.again:,} settled since are"
            if self.again is not None
            else f"its {self.settled:,} paid calls are not asked again; those settled since are, the damaged file does "
            f"not say how many (it was written to {self.writes:,} times)"
        )
        return [
            f"{self.ledger}: its backup copy of {self.at} was put in place: {again}",
            f"what was wrong: {self.damage}",
        ]


def restore(folder: Path) -> Restored:
    """Mend a run's damaged ledger. Takes the run's lock.

    Raises RunLocked, DiskFull, NewerLedger, and LedgerError where it cannot be mended; then nothing was changed.
    """
    path = folder / LEDGER
    with held(folder):
        damage = find_damage(folder)
        if not damage:
            return Restored(path)
        copy = whole_copy(path)
        if damage.rows:
            mended = _mend_rows(path, damage, copy)
            if mended is not None:
                return mended
        if copy is None:
            raise LedgerError(
                f"{path}: damaged ({damage}), and there is no sound backup copy of it in {folder} that would mend it; "
                "nothing was changed. Restore the ledger from a copy of your own, or start another run beside it with "
                "--new"
            )
        return _put_copy_in_place(path, damage, copy)


# --- Single rows


class _NotMended(Exception):
    """A row that cannot be asked again is not in the copy."""


def _mend_rows(path: Path, damage: Damage, copy: Path | None) -> Restored | None:
    """Return None, and change nothing, where rows alone cannot mend it."""
    kept = None if is_remote(path) else _keep_copy_of(path)
    try:
        with explained(path), closing(connect(path)) as connection:
            replaced, dropped = connection.transact(lambda: _RowRepair(connection, copy).mend(damage.rows))
    except _NotMended:
        replaced = dropped = 0
    if not (replaced or dropped) or find_damage(path.parent):
        if kept is not None:
            kept.unlink(missing_ok=True)
        return None
    _forget_position(path.parent)
    return Restored(path, kept, _made_at(copy) if copy else "", damage=damage, replaced=replaced, dropped=dropped)


class _RowRepair:
    """In one transaction: damaged rows are replaced from the copy or dropped, counters set right."""

    def __init__(self, connection: Any, copy: Path | None):
        self._connection = connection
        self._copy = copy
        self._lost_calls: dict[tuple[str, str, str], int] = {}

    def mend(self, rows: Sequence[DamagedRow]) -> tuple[int, int]:
        """Return how many rows were replaced and how many dropped."""
        by_table: dict[str, list[DamagedRow]] = {}
        for row in rows:
            by_table.setdefault(row.table, []).append(row)

        replaced = dropped = asked_again = 0
        for table, damaged_rows in by_table.items():
            mended = self._mend_table(table, damaged_rows)
            missing = len(damaged_rows) - mended
            if missing > 0 and table not in CAN_BE_ASKED_AGAIN | CAN_BE_MISSED:
                raise _NotMended
            replaced += mended
            dropped += max(0, missing)
            asked_again += missing if table in CAN_BE_ASKED_AGAIN else 0
        self._count_anew()
        if asked_again > 0:
            self._open_again(asked_again)
        return replaced, dropped

    def _mend_table(self, table: str, rows: Sequence[DamagedRow]) -> int:
        """Return how many rows were replaced from the copy."""
        from enquete.ledger.tables import numbered  # noqa: PLC0415 - who only reads needs no SQLAlchemy

        if table in numbered():
            return sum(self._replace_numbered(table, row) for row in rows)
        for row in rows:
            self._delete(table, row.key)
        mended = min(len(rows), self._add_missing(table))
        if table == "texts":
            self._leave_texts_out([str(row.key[0]) for row in rows])
        return mended

    def _replace_numbered(self, table: str, row: DamagedRow) -> bool:
        """Replace a row by the one of its number. Where the copy has none, drop it."""
        found = self._rows_of_copy(table, f"id = {int(row.key[0])}")
        if found:
            names = names_of(table).split(", ")
            changes = ", ".join(f"{name} = ?" for name in names)
            self._connection.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*found[0], row.key[0]))
            return True
        if table == "calls":
            self._lose_call(row.key[0])
            return False
        if table == "occasions":  # its answers are read anew from the stored response, or asked again
            self._connection.execute("DELETE FROM answers WHERE occasion = ?", row.key)
        self._delete(table, row.key)
        return False

    def _delete(self, table: str, key: Sequence[Any]) -> None:
        from enquete.ledger.tables import key_columns  # noqa: PLC0415 - likewise

        where = " AND ".join(f"{name} = ?" for name in key_columns(table))
        self._connection.execute(f"DELETE FROM {table} WHERE {where}", key)

    def _rows_of_copy(self, table: str, where: str = "") -> list[Any]:
        if self._copy is None:
            return []
        conditions = [part for part in (where, FINAL.get(table, "")) if part]
        with closing(connect(self._copy, read_only=True)) as copy:
            return list(copy.execute(select_rows(table, " AND ".join(conditions))).fetchall())

    def _add_missing(self, table: str) -> int:
        """Add the rows of the copy whose key the ledger lacks now."""
        rows = self._rows_of_copy(table)
        if not rows:
            return 0
        marks = ", ".join("?" * len(rows[0]))
        sql = f"INSERT INTO {table}({names_of(table)}) VALUES({marks}) ON CONFLICT DO NOTHING"
        return sum(
            max(0, self._connection.executemany(sql, rows[low : low + BLOCK]).rowcount)
            for low in range(0, len(rows), BLOCK)
        )

    def _leave_texts_out(self, hashes: Sequence[str]) -> None:
        """Calls whose prompt is lost name an empty one: what they were answered is whole."""
        for hashed in hashes:
            if self._connection.execute("SELECT 1 FROM texts WHERE hash = ? LIMIT 1", (hashed,)).fetchone():
                continue
            behind = self._connection.execute("SELECT hash FROM texts WHERE head = ? ORDER BY hash", (hashed,))
            self._leave_out_of_calls([hashed, *(found for (found,) in behind.fetchall())])
            self._connection.execute("DELETE FROM texts WHERE head = ?", (hashed,))

    def _leave_out_of_calls(self, hashes: Sequence[str]) -> None:
        for column, text in (("system_hash", ""), ("messages_hash", NO_MESSAGES)):
            for hashed in hashes:
                empty = self._add_text(text)
                changed = self._connection.execute(
                    f"UPDATE calls SET {column} = ? WHERE {column} = ? RETURNING id, {queries.WHOLE_CALL}",
                    (empty, hashed),
                )
                seal_calls(self._connection, changed.fetchall())

    def _add_text(self, text: str) -> str:
        hashed = sha256(text.encode()).hexdigest()[:16]
        self._connection.execute(queries.ADD_TEXT, (hashed, "", text))
        return hashed

    def _lose_call(self, number: int) -> None:
        """A paid call whose row is damaged is a lost one: its tokens stay counted, its key may be asked once more. One
        whose key is none any more is deleted."""
        methodology, phase, arm, purpose = self._connection.execute(
            "SELECT methodology, phase, arm, purpose FROM calls WHERE id = ?", (number,)
        ).fetchone()
        place = (methodology, phase, arm)
        known = self._connection.execute(
            "SELECT 1 FROM calls WHERE methodology = ? AND phase = ? AND arm = ? AND purpose = ? AND id <> ? LIMIT 1",
            (*place, purpose, number),
        ).fetchone()
        if known is None:
            self._delete("calls", (number,))
            return
        changed = self._connection.execute(
            "UPDATE calls SET status = 'lost', model = '', system_hash = ?, messages_hash = ?, prompt_hash = '', "
            "reserved = 0, allowance = 0, input_tokens = 0, output_tokens = 0, sends = 1, response = '', "
            "finish = '', raw = '', fingerprint = '', error = 'its row was damaged', latency_ms = 0, reserved_at = 0, "
            f"settled_at = 0 WHERE id = ? RETURNING id, {queries.WHOLE_CALL}",
            (self._add_text(""), self._add_text(NO_MESSAGES), number),
        )
        seal_calls(self._connection, changed.fetchall())
        self._lost_calls.setdefault(place, number)

    def _count_anew(self) -> None:
        """Set the counters to what the rows say. Tokens that nothing tells of any more were paid with a lost call."""
        for *place, name, surplus in self._connection.execute(queries.MISCOUNTED).fetchall():
            arm, methodology, phase, _ = place
            lost = self._lost_calls.get((methodology, phase, arm))
            if name == "tokens" and surplus > 0 and lost is not None:
                changed = self._connection.execute(
                    f"UPDATE calls SET allowance = allowance + ? WHERE id = ? RETURNING id, {queries.WHOLE_CALL}",
                    (surplus, lost),
                )
                seal_calls(self._connection, changed.fetchall())
                continue
            carried = f"carried_{name}"
            is_carried = self._connection.execute(queries.HAS_COUNTER, (*place, carried)).fetchone() is not None
            row = seal_count((*place, carried if is_carried else name), -surplus)
            self._connection.execute(queries.COUNT, row)
        for *place, surplus in self._connection.execute(queries.MISCOUNTED_BLOCKS).fetchall():
            self._connection.execute(queries.COUNT, seal_count((*place, "blocks"), -surplus))

    def _open_again(self, missing: int) -> None:
        """What was finished is walked once more, and asks for what is missing alone."""
        self._connection.execute("DELETE FROM stages")
        note = f"{missing:,} damaged rows of this run's ledger were dropped: what they held is asked for again"
        self._connection.execute(queries.SET_STAGE, seal(("", "", "paused", note, now())))


# --- The whole copy


def _put_copy_in_place(path: Path, damage: Damage, copy: Path) -> Restored:
    settled, in_damaged = settled_in(copy), settled_in(path)
    writes = max(0, told_beside(path.parent) - writes_in(copy))
    at, again = _made_at(copy), again_of(in_damaged, settled)
    if is_remote(path):
        kept_as = _restore_in_store(path, copy)
        return Restored(path, Path(kept_as), at, settled or 0, again, damage=damage)
    draft = draft_of(path)
    try:
        _copy_file(copy, draft)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise disk_fault(error, path) or error from error
    kept = set_aside(path) if path.exists() else None
    draft.replace(path)
    _forget_position(path.parent)
    return Restored(path, kept, at, settled or 0, again, writes, damage)


def _forget_position(folder: Path) -> None:
    """Writes that are gone are told of by the repair; a position from after them would lead past them."""
    (folder / COUNTER).unlink(missing_ok=True)
    if (folder / CHECKPOINTS).exists():
        set_aside(folder / CHECKPOINTS)


def _keep_copy_of(path: Path) -> Path:
    """Keep the damaged file, with its log, beside the ledger that is mended. Raises DiskFull."""
    kept = name_aside(path)
    try:
        for suffix in ("", "-wal", "-journal"):
            part = path.with_name(path.name + suffix)
            if part.exists():
                _copy_file(part, kept.with_name(kept.name + suffix))
    except OSError as error:
        for suffix in ("", "-wal", "-journal"):
            kept.with_name(kept.name + suffix).unlink(missing_ok=True)
        raise disk_fault(error, path) or error from error
    return kept


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())


def _made_at(copy: Path) -> str:
    return datetime.fromtimestamp(copy.stat().st_mtime, UTC).isoformat(timespec="seconds")


def again_of(in_damaged: int | None, settled: int | None) -> int | None:
    return None if in_damaged is None else max(0, in_damaged - (settled or 0))


def _restore_in_store(path: Path, copy: Path) -> str:
    """The name under which what was there is kept. All of it or nothing."""
    from enquete.ledger.postgres import PostgresConnection  # noqa: PLC0415 - an extra brings what it needs

    with (
        closing(PostgresConnection(store_of(path.parent), path.parent.name)) as target,
        closing(connect(copy, read_only=True)) as source,
    ):

        def write() -> str:
            kept = target.set_schema_aside()
            target.make_schema()
            fill(target, target.dialect, source)
            target.renumber()
            return kept

        return target.transact(write)


def settled_in(path: Path) -> int | None:
    """Calls that were paid for, as far as a damaged file still says."""
    try:
        with explained(path), closing(connect(path, read_only=True)) as connection:
            return int(connection.execute(queries.SETTLED_CALLS).fetchone()[0])
    except LedgerError:
        return None
