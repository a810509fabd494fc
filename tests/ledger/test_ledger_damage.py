"""Damaged ledgers: refused with the sentence what to do, or gone on with to the answers of an undamaged run. Nothing
else.

A few of each kind here; hundreds in `make chaos`.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from enquete.ledger.connection import PAGE
from enquete.ledger.damage import find_damage
from enquete.ledger.folders import CHECKPOINTS, LEDGER
from enquete.ledger.repair import restore
from enquete.state.errors import LedgerError
from tests.support import bare_runs
from tests.support.interruption import interrupted
from tests.support.studies import run_folder, spent, stored_answers

Harm = Callable[[random.Random, Path], None]
"""To the ledger in this folder."""


def flip(draw: random.Random, folder: Path, times: int = 1, name: str = LEDGER) -> None:
    """Single bits, anywhere."""
    content = bytearray((folder / name).read_bytes())
    for _ in range(times):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    (folder / name).write_bytes(content)


def flip_many(draw: random.Random, folder: Path) -> None:
    flip(draw, folder, 50)


def flip_letter(draw: random.Random, folder: Path) -> None:
    """One letter of a word becomes another: sound to SQLite, JSON as before."""
    content = bytearray((folder / LEDGER).read_bytes())
    letters = [at for at in range(1, len(content) - 1) if content[at - 1 : at + 2].isalpha()]
    content[draw.choice(letters)] ^= 1
    (folder / LEDGER).write_bytes(content)


def cut(draw: random.Random, folder: Path) -> None:
    os.truncate(folder / LEDGER, draw.randrange((folder / LEDGER).stat().st_size))


def zero_pages(draw: random.Random, folder: Path) -> None:
    content = bytearray((folder / LEDGER).read_bytes())
    for _ in range(draw.randint(1, 3)):
        page = PAGE * draw.randrange(max(1, len(content) // PAGE))
        content[page : page + PAGE] = bytes(PAGE)
    (folder / LEDGER).write_bytes(content[: (folder / LEDGER).stat().st_size])


def lose_log(draw: random.Random, folder: Path) -> None:
    (folder / f"{LEDGER}-wal").unlink(missing_ok=True)


def flip_log(draw: random.Random, folder: Path) -> None:
    if (folder / f"{LEDGER}-wal").exists() and (folder / f"{LEDGER}-wal").stat().st_size:
        flip(draw, folder, name=f"{LEDGER}-wal")


def flip_and_lose_log(draw: random.Random, folder: Path) -> None:
    lose_log(draw, folder)
    flip_letter(draw, folder)


def cut_and_lose_log(draw: random.Random, folder: Path) -> None:
    lose_log(draw, folder)
    cut(draw, folder)


HARMS: tuple[Harm, ...] = (
    flip, flip_many, flip_letter, cut, zero_pages, lose_log, flip_log, flip_and_lose_log, cut_and_lose_log,
)  # fmt: skip


@dataclass(frozen=True)
class Studies:
    """`early`: killed within T1, copied only when it was begun; `late`: killed in the Delphi's last round, after a
    copy; `paused`: stopped by its cap, and closed; `finished`."""

    whole: list[tuple[Any, ...]]
    folders: dict[str, Path]

    def copied(self, name: str, to: Path) -> Path:
        shutil.rmtree(to, ignore_errors=True)
        return run_folder(Path(shutil.copytree(self.folders[name], to)))


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Studies:
    base = tmp_path_factory.mktemp("studies")
    early = interrupted(base / "early", 4, lambda event: event["phase"] == "T1")
    folders = {"early": early.killed, "finished": base / "early" / "out"}
    killed = early.copied(base / "paused")
    paused = bare_runs.resume(killed.name, out=str(base / "paused"), budget_tokens=spent(early.done) * 6 // 10)
    assert paused.status == "paused"
    folders["paused"] = base / "paused"
    shutil.copytree(base / "paused", base / "resumed")

    def look(event: dict[str, Any]) -> None:
        if not (base / "late").exists() and event["round"] == 3 and event["done"] > 1:
            shutil.copytree(base / "resumed", base / "late")

    bare_runs.resume(paused.run_id, out=str(base / "resumed"), budget_tokens=10**9, progress=look)
    folders["late"] = base / "late"
    return Studies(early.whole, folders)


def outcome(studies: Studies, name: str, to: Path, harm: Harm, draw: random.Random, *, checkpoints: bool) -> str:
    """What a resume of the damaged run comes to; where it is refused, what it comes to after a repair."""
    folder = studies.copied(name, to)
    harm(draw, folder)
    if not checkpoints:
        for file in folder.glob(f"{CHECKPOINTS}*"):
            file.unlink()
    refused = attempted(lambda: completed(studies, folder, to))
    if not refused:
        return "completed"
    assert str(folder / LEDGER) in refused
    assert "doctor --repair" in refused, refused
    assert restore(folder).was_damaged, refused
    completed(studies, folder, to)
    return "repaired"


def attempted(act: Callable[[], object]) -> str:
    """Why it was refused; "" where it was not."""
    try:
        act()
    except LedgerError as error:
        return str(error)
    return ""


def completed(studies: Studies, folder: Path, to: Path) -> None:
    run = bare_runs.resume(folder.name, out=str(to), budget_tokens=10**9)
    assert run.status == "completed"
    assert stored_answers(folder) == studies.whole


@pytest.mark.parametrize(
    "harm", [harm for harm in HARMS if harm not in (lose_log, flip_log)]
)  # test_ledger_lost_writes
def test_a_damaged_ledger_is_refused_or_comes_to_the_same_answers(studies: Studies, tmp_path: Path, harm: Harm) -> None:
    outcome(
        studies,
        "late" if harm is flip_and_lose_log else "paused",
        tmp_path / "out",
        harm,
        random.Random(5),
        checkpoints=True,
    )


def test_a_ledger_whose_version_is_gone_is_damaged_and_not_an_older_one(studies: Studies, tmp_path: Path) -> None:
    """Flipped bits had hidden the row: the run was said to be of an older version, and could be neither resumed nor
    repaired."""

    def hide_version(_: random.Random, folder: Path) -> None:
        with closing(sqlite3.connect(folder / LEDGER)) as connection, connection:
            connection.execute("UPDATE meta SET key='schema_wersion' WHERE key='schema_version'")

    assert outcome(studies, "paused", tmp_path / "out", hide_version, random.Random(), checkpoints=True) == "repaired"


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("harm", HARMS)
def test_many_damaged_ledgers(studies: Studies, tmp_path: Path, harm: Harm) -> None:
    draw, outcomes = random.Random(29), Counter[tuple[str, str]]()
    for _ in range(5):
        for name in studies.folders:
            for checkpoints in (True, False):
                outcomes[name, outcome(studies, name, tmp_path / "out", harm, draw, checkpoints=checkpoints)] += 1
    print(harm.__name__, dict(outcomes))


FLIPS = 300


def flipped_outcomes(studies: Studies, to: Path, flips: int, draw: random.Random) -> Counter[str]:
    """What single flipped bits come to. `outcome` fails where other answers pass as completed, and where a run can be
    neither resumed nor repaired; here also where doctor and resume disagree."""
    outcomes = Counter[str]()
    for number in range(flips):
        name = sorted(studies.folders)[number % len(studies.folders)]
        folder = studies.copied(name, to)
        flip(draw, folder)
        found = find_damage(folder)
        refused = attempted(lambda folder=folder: completed(studies, folder, to))  # type: ignore[misc]
        assert bool(found) == bool(refused), (name, found, refused)
        if refused:
            assert "doctor --repair" in refused
            assert restore(folder).was_damaged
            assert not find_damage(folder)
            completed(studies, folder, to)
        outcomes["refused and repaired" if refused else "resumed"] += 1
    return outcomes


def test_a_flipped_bit_is_found_or_changes_nothing(studies: Studies, tmp_path: Path) -> None:
    assert flipped_outcomes(studies, tmp_path / "out", 6, random.Random(3)).total() == 6


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(4))
def test_300_flipped_bits(studies: Studies, tmp_path: Path, seed: int) -> None:
    """Of 43 single flips two had passed as data, and five runs could be neither resumed nor repaired."""
    outcomes = flipped_outcomes(studies, tmp_path / "out", FLIPS // 4, random.Random(seed))
    print("flips", seed, dict(outcomes))
    assert outcomes["refused and repaired"] > 5  # much of a ledger's file holds nothing
