"""What can be wrong with a ledger as a whole: out of reach, damaged, or of another version; and what is said of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from enquete.ledger.checksums import is_intact
from enquete.ledger.drives import is_remote, store_of
from enquete.ledger.tables import require_readable
from enquete.state.errors import LedgerError


class StoreUnreachable(LedgerError):
    """The database does not answer. Nothing is wrong with what is in it."""


class DamagedLedger(LedgerError):
    """A ledger that is not as it was written, or is gone. `enquete doctor --repair` mends it."""


STORED_VERSION = "SELECT * FROM meta WHERE key='schema_version'"


def require_version(row: Sequence[object] | None, path: Path) -> None:
    """Raise LedgerError where this row of `meta` names another version, DamagedLedger where it does not say or is gone.

    Every version of Enquete wrote it. A flipped bit that makes a version newer or older, or hides the row, would else
    keep a run from being resumed and from being repaired.
    """
    if row is None:
        raise damaged(path, LookupError("the version that is stored in it is gone"))
    key, value, *checksum = row
    if checksum and not is_intact("meta", (key, value), checksum[0]):
        raise damaged(path, LookupError("the version stored in it is not as it was written"))
    require_readable(str(value), path)


def damaged(path: Path, error: BaseException) -> DamagedLedger:
    """What is wrong with a ledger that cannot be read, and what can be done. The command works as printed, anywhere."""
    if is_remote(path):
        fact = f"{store_of(path.parent)}: the ledger of run {path.parent.name} is damaged ({error})"
        return DamagedLedger(f"{fact}. Restore it there, or {repair_hint(path)}", fact=fact)
    if not path.exists():
        fact = f"{path}: the run's ledger is missing, and with it every answer"
        return DamagedLedger(f"{fact}. Restore the file, move the run's folder away, or {repair_hint(path)}", fact=fact)
    if path.is_file() and not path.stat().st_size:
        fact = f"{path}: the file is empty{without_log(path)}"
        return DamagedLedger(f"{fact}. Restore it, move the folder away, or {repair_hint(path)}", fact=fact)
    fact = f"{path}: not a readable ledger ({error})"
    if "no such table" in str(error):
        return DamagedLedger(
            f"{fact}: another kind of file?{without_log(path)} Restore the ledger, or {repair_hint(path)}", fact=fact
        )
    return DamagedLedger(f"{fact}. Restore it, or {repair_hint(path)}", fact=fact)


def repair_hint(path: Path) -> str:
    """Return the command that mends a ledger, in words."""
    command = shlex.join(["enquete", "doctor", "--repair", str(path.parent.absolute())])
    return f"mend it from its backup copy, so that only what the copy lacks is asked again: {command}"


def without_log(path: Path) -> str:
    """A ledger that was just begun is in its write-ahead log alone."""
    log = path.with_name(f"{path.name}-wal")
    return "" if log.exists() else f" (was {log.name} deleted, or not copied along?)"
