"""Where a run's ledger is: in the run's folder, or in a PostgreSQL database whose address stands there instead."""

from __future__ import annotations

from pathlib import Path

from enquete.state.errors import SettingsError
from enquete.state.regular_files import read_regular
from enquete.state.store_address import masked

LEDGER = "ledger.sqlite"
STORE = "store"
"""In a run's folder: the address, without a password."""
LONGEST = 4096


def store_of(folder: Path) -> str:
    """The address in a run's folder, "" where its ledger is a file there. Raises SettingsError for one that is none."""
    try:
        return masked(read_regular(folder / STORE, LONGEST).decode().strip())
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise SettingsError(f"{folder / STORE}: holds no address of a store ({error})") from error


def keep_in(folder: Path, url: str) -> None:
    """The ledger of the run in this new folder is to be made in this store."""
    (folder / STORE).write_text(f"{masked(url)}\n", encoding="utf-8")


def has_ledger(folder: Path) -> bool:
    """Whether the folder is a run's. Asks no database."""
    return (folder / LEDGER).is_file() or (folder / STORE).is_file()


def is_remote(path: Path) -> bool:
    """Whether the ledger that would be at `path` is in a store."""
    return path.name == LEDGER and path.with_name(STORE).is_file()
