"""A study that is killed again and again, at random moments, with something done to its folder between two kills.

What must hold: no settled answer is lost or changed, nothing is asked twice but what was in flight, no start ends by
itself with anything but success, and in the end the answers are those of a run that nobody disturbed.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.processes import Driven, ServerProcess, finish, kill_after
from tests.support.studies import call_keys, rows, run_folder, stored_answers

SETTLED = "SELECT methodology, phase, arm, purpose, subject, attempt, response FROM calls WHERE status='settled'"


@dataclass
class Study:
    """Where a study is, and what it must come to. `arguments` name either `out` or a simulation that holds its
    results."""

    arguments: dict[str, Any]
    home: Path  # the folder that is moved or copied as one
    results: Path  # below it
    server: ServerProcess
    whole: list[tuple[Any, ...]]
    requests: int  # of the undisturbed run
    original: tuple[Path, dict[str, bytes]] | None = None  # what was copied, and what its run's folder held then

    @property
    def folder(self) -> Path:
        return run_folder(self.results)

    def moved_to(self, home: Path) -> None:
        """`home` holds it now, whoever put it there."""
        for name, value in self.arguments.items():
            if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_relative_to(self.home):
                self.arguments[name] = str(home / Path(value).relative_to(self.home))
        self.results, self.home = home / self.results.relative_to(self.home), home


Meddle = Callable[[random.Random, Study], None]
"""What is done to a study that was killed."""


def nothing(draw: random.Random, study: Study) -> None:
    """It is left as the kill left it."""


def delete(draw: random.Random, study: Study) -> None:
    for file in study.folder.glob("checkpoints.sqlite*"):
        file.unlink()


def truncate(draw: random.Random, study: Study) -> None:
    for file in study.folder.glob("checkpoints.sqlite*"):
        os.truncate(file, draw.randint(0, file.stat().st_size))


def zero_a_page(draw: random.Random, study: Study) -> None:
    """4 kB of zeros anywhere in the checkpoints."""
    file = study.folder / "checkpoints.sqlite"
    if file.exists() and file.stat().st_size >= 4096:
        with file.open("r+b") as open_file:
            open_file.seek(4096 * draw.randrange(file.stat().st_size // 4096))
            open_file.write(bytes(4096))


def part_from_journal(draw: random.Random, study: Study) -> None:
    """The checkpoints' own journals are lost; the ledger's are not."""
    for file in study.folder.glob("checkpoints.sqlite-*"):
        file.unlink()


def move(draw: random.Random, study: Study) -> None:
    old, new = study.home, elsewhere(study)
    old.rename(new)
    study.moved_to(new)


def copy(draw: random.Random, study: Study) -> None:
    """Whoever goes on in a copy leaves the original alone."""
    old, new, held = study.home, elsewhere(study), contents(study.folder)
    shutil.copytree(old, new)
    study.original = (study.folder, held)
    study.moved_to(new)


def elsewhere(study: Study) -> Path:
    return study.home.with_name(f"{study.home.name.partition('~')[0]}~{time.monotonic_ns()}")


@dataclass
class KillCounts:
    """What came of it: kills that hit, requests in flight at one, what was compared, and what did not hold. paid_twice:
    calls that were settled and are gone or settled otherwise after a kill, and requests of one start that are no call
    of its own."""

    kills: int = 0
    lost: int = 0
    answers: int = 0
    differing: int = 0
    settled: int = 0
    paid_twice: int = 0
    faults: list[str] = field(default_factory=list)

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.faults.append(otherwise)


class Killer:
    """Kills one study after another until there are enough kills."""

    def __init__(self, begin: Callable[[int], Study], seed: int):
        self._begin = begin
        self._draw = random.Random(seed)
        self._studies = 0
        self.counts = KillCounts()

    def while_asking(self, kills: int, *meddles: Meddle) -> KillCounts:
        """After each kill the next of these is done. The requests that are left are shared out among the kills that are
        left, so that none comes too late."""
        while self.counts.kills < kills:
            study = self._new()
            sent = study.server.count()
            while self.counts.kills < kills:
                left = study.requests - (study.server.count() - sent)
                share = max(1, left // (kills - self.counts.kills + 1))
                if not self._strike(study, partial(self._after, study, share)):
                    break
                meddles[self.counts.kills % len(meddles)](self._draw, study)
            self._end(study)
        return self.counts

    def while_starting(self, kills: int) -> KillCounts:
        """In the first second of each resume: opening, sweeping, walking to where it was."""
        study = self._new()
        assert self._strike(study, partial(self._after, study, 40))
        while self.counts.kills < kills:
            self._strike(study, partial(self._within, 0.6))
        self._end(study)
        return self.counts

    def while_writing(self, kills: int) -> KillCounts:
        """A finished study is walked once more, which asks nobody and writes every file anew; then all of them are
        whole."""
        study = self._new()
        finish(**study.arguments)
        again = {"token_or_sim": study.folder.name, "fresh": True, "out": str(study.results)}
        study.arguments = {**again, **{n: v for n, v in study.arguments.items() if n in ("base_url", "concurrency")}}
        started = time.monotonic()
        finish(**study.arguments)
        takes = time.monotonic() - started
        files = names_below(study.results / "synthesis")
        for _ in range(3 * kills):
            if self.counts.kills >= kills:
                break
            self._strike(study, partial(self._within, takes))
        self._end(study)
        self.counts.check(
            names_below(study.results / "synthesis") == files, "files of the report are missing or left over"
        )
        return self.counts

    def _new(self) -> Study:
        self._studies += 1
        return self._begin(self._studies)

    def _after(self, study: Study, share: int, driven: Driven) -> bool:
        return kill_after(driven, study.server.count, self._draw.randint(1, share))

    def _within(self, seconds: float, driven: Driven) -> bool:
        time.sleep(self._draw.uniform(0, seconds))
        return driven.kill()

    def _strike(self, study: Study, kill: Callable[[Driven], bool]) -> bool:
        """Start, kill, look. False where the study was over before."""
        known, sent = settled(study), study.server.count()
        driven = Driven(study.arguments)
        hit = kill(driven)
        if not hit:
            self.counts.check(driven.exit_code == 0, f"a start ended by itself with {driven.exit_code}")
            return False
        self.counts.kills += 1
        if study.original is not None:
            folder, held = study.original
            self.counts.check(contents(folder) == held, "going on in a copy changed the original")
            study.original = None
        if self._is_begun(study):
            in_flight = len(call_keys(study.folder, "reserved"))
            self.counts.lost += in_flight
            self._compare(study, known, arrived(study.server) - sent - in_flight)
        return True

    def _compare(self, study: Study, known: dict[str, str], answered: int) -> None:
        """answered: requests of one start that are in flight no more; each must be a call that it settled."""
        now = settled(study)
        gone, repeated = len(known.items() - now.items()), answered - (len(now) - len(known))
        self.counts.paid_twice += gone + max(0, repeated)
        self.counts.check(not gone, f"{gone} settled calls were lost, or settled once more")
        self.counts.check(repeated <= 0, f"{repeated} requests for what had been settled")

    def _is_begun(self, study: Study) -> bool:
        return (study.results / "runs").is_dir() and any((study.results / "runs").glob("*/instruments_used.json"))

    def _end(self, study: Study) -> None:
        known, sent = settled(study), study.server.count()
        code, summary = finish(**study.arguments)
        is_over = code == 0 and summary["status"] in ("completed", "budget_spent")  # the latter: of one interview
        self.counts.check(is_over, f"it ended with {code}, {summary['status']}")
        self._compare(study, known, arrived(study.server) - sent)
        answers = stored_answers(study.folder)
        differing = sum(
            ((Counter(answers) - Counter(study.whole)) | (Counter(study.whole) - Counter(answers))).values()
        )
        self.counts.settled += len(call_keys(study.folder))
        self.counts.answers += len(answers)
        self.counts.differing += differing
        self.counts.check(answers == study.whole, f"{differing} answers are not those of an undisturbed run")
        self.counts.check(rows(study.folder, "PRAGMA integrity_check") == [("ok",)], "the ledger is damaged")


def arrived(server: ServerProcess) -> int:
    """Requests so far, once those that a killed client had sent are all read."""
    count = -1
    while count != (count := server.count()):
        time.sleep(0.05)
    return count


def settled(study: Study) -> dict[tuple[Any, ...], str]:
    """Every settled call with its response; {} before anything was begun."""
    if not (study.results / "runs").is_dir() or not any((study.results / "runs").glob("*/instruments_used.json")):
        return {}
    return {row[:-1]: row[-1] for row in rows(study.folder, SETTLED)}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".sqlite-shm" and file.is_file()
    }


def names_below(folder: Path) -> Counter[str]:
    return Counter(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
