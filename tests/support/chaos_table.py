"""`pytest --chaos FILE`: what was tried against a run and its servers, how often, and what did not hold, as a table for docs.

Runs the tests marked `chaos`, and those of FAULTS, which go through all faults in every `make test`. A test is a row; each
of its cases counts as a try unless it records `tries` (and `failures`) as properties, as kills do. Rows of tests that were
not run this time stay as they were, until --cache-clear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

FAULTS = (
    "tests/kill/", "tests/faults/", "tests/disk/", "tests/state/test_bounded_json.py", "tests/state/test_regular_files.py",
    "tests/state/test_showing.py", "tests/models/test_models_bounds.py", "tests/models/test_metered.py",
    "tests/models/test_models_outage.py", "tests/models/test_models_serving.py", "tests/http/test_http_hostile.py",
    "tests/http/test_http_security.py", "tests/mcp/test_mcp_access.py", "tests/mcp/test_mcp_stopping.py",
    "tests/checkpoints/test_checkpoints_salvage.py", "tests/checkpoints/test_checkpoints_ledger_files.py",
    "tests/checkpoints/test_checkpoints_bills.py", "tests/interfaces/test_cli_damaged.py", "tests/study/test_places.py",
    "tests/http/test_http_damaged.py", "tests/simulations/test_simulations_hostile.py", "tests/analysis/test_content",
    "tests/respondents/test_content",
)  # fmt: skip
AREAS = {
    "kill": "Kills", "faults": "Model servers", "models": "Model servers", "disk": "Disks", "http": "Servers", "mcp": "Servers",
    "checkpoints": "Damaged ledgers", "interfaces": "Damaged ledgers", "study": "Moved and copied runs",
    "analysis": "Answers without content", "respondents": "Answers without content", "reports": "Answers without content",
}  # fmt: skip
OTHER = "Hostile files"
KEPT = "chaos/table"
LONGEST_S = 1800


@dataclass
class Row:
    """What was tried, by its test."""

    area: str
    tried: str
    tries: int = 0
    failures: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list)


class ChaosTable:
    """Counts as reports come in, on whichever worker they were made."""

    def __init__(self, file: Path):
        self._file = file
        self._rows: dict[str, Row] = {}
        self._kept: dict[str, Row] = {}
        self._cache: pytest.Cache | None = None
        self._took_s = 0.0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        wanted = [item for item in items if item.get_closest_marker("chaos") or item.nodeid.startswith(FAULTS)]
        for item in wanted:
            if item.get_closest_marker("chaos") and not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(LONGEST_S))
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        self._count(self._row(report.nodeid), report)
        self._save()

    def _count(self, row: Row, report: pytest.TestReport) -> None:
        if report.skipped:
            row.skipped += 1
            return
        self._took_s += report.duration
        told = dict(report.user_properties)
        row.tries += int(str(told.get("tries", 1)))
        if report.failed:
            row.failures += max(1, int(str(told.get("failures", 1))))
            row.reasons.append(reason(report))

    def _row(self, nodeid: str) -> Row:
        """Cases of one test share a row, except kills, where each kind has its own."""
        path, _, name = nodeid.rpartition("::")
        bare, _, case = name.partition("[")
        area = AREAS.get(path.split("/")[1], OTHER)
        words = bare.removeprefix("test_").replace("_", " ")
        if area == "Kills" and case:
            words, bare = f"{words}: {case.rstrip(']').replace('-', ' ')}", name
        return self._rows.setdefault(f"{path}::{bare}", Row(area, words[:1].upper() + words[1:]))

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """What is known of tests that are not run this time; workers only count."""
        if not hasattr(session.config, "workerinput") and session.config.cache is not None:
            self._cache = session.config.cache
            known = self._cache.get(KEPT, {"rows": {}, "took_s": 0.0})
            self._kept = {name: Row(**row) for name, row in known["rows"].items()}
            self._took_s = known["took_s"]

    def _save(self) -> None:
        """After every test: an hour of them may be broken off."""
        if self._cache is not None:
            rows = {name: asdict(row) for name, row in {**self._kept, **self._rows}.items()}
            self._cache.set(KEPT, {"rows": rows, "took_s": self._took_s})
            self._file.write_text("\n".join(self._lines()) + "\n", "utf-8")

    def _lines(self) -> Iterator[str]:
        every, minutes = {**self._kept, **self._rows}, self._took_s / 60
        rows = [every[name] for name in sorted(every)]
        kills = sum(row.tries for row in rows if row.area == "Kills")
        yield "# What was tried against it"
        yield ""
        tries, failures = sum(row.tries for row in rows), sum(row.failures for row in rows)
        yield f"Written by `make chaos` on {datetime.now(UTC):%Y-%m-%d}: {tries:,} tries, {kills:,} of them kills, {failures:,} failures,"
        yield f"{minutes:.0f} minutes of tests. A row is a test; its name says what must hold, its file how it is tried."
        for area in [*dict.fromkeys(AREAS.values()), OTHER]:
            of_it = [row for row in rows if row.area == area and (row.tries or row.skipped)]
            if of_it:
                yield from ("", f"## {area}", "", "| what was tried | tries | failures | reason |", "|---|--:|--:|---|")
                yield from (f"| {row.tried} | {row.tries:,} | {row.failures} | {said(row)} |" for row in of_it)


def reason(report: pytest.TestReport) -> str:
    """The last line of what went wrong."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash is not None else report.longrepr).strip()
    return re.sub(r"[|\s]+", " ", text)[:160]


def said(row: Row) -> str:
    skipped = [f"{row.skipped} not possible on this machine"] if row.skipped else []
    return "; ".join([*dict.fromkeys(row.reasons), *skipped])
