"""Bytes an answer, by what is written: one run of the longitudinal methodology, answered by a model, with its
report."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from enquete.ledger.folders import CHECKPOINTS, LEDGER
from tests.bench.child_process import enquete
from tests.bench.interviewing import LANGUAGE
from tests.bench.server import bench_server
from tests.bench.settings import Size
from tests.support.studies import personas, rows, run_folder


def disk(size: Size) -> dict[str, Any]:
    with TemporaryDirectory() as name, bench_server() as server:
        out = Path(name) / "out"
        enquete(
            "run", personas(Path(name), size.agents), "--out", out, "--methods", "longitudinal", "--language", LANGUAGE,
            "--model", "bench", "--base-url", server.base_url("0"), "--budget-tokens", 10**9, "--yes", "--quiet",
        )  # fmt: skip
        answers = rows(run_folder(out), "SELECT count(*) FROM answers")[0][0]
        for file in (LEDGER, CHECKPOINTS):
            _fold(run_folder(out) / file)
        sizes: Counter[str] = Counter()
        for path in out.rglob("*"):
            if path.is_file():
                sizes[_kind(path)] += path.stat().st_size
    return {"agents": size.agents, "answers": answers, "bytes": {kind: n / answers for kind, n in sizes.most_common()}}


def _kind(path: Path) -> str:
    if path.name in (LEDGER, CHECKPOINTS):
        return path.stem
    if path.parent.name == "exports":
        return "episodes" if path.stem == "episodes" else "exports"
    if path.suffix == ".jsonl":
        return "audit" if path.stem == "audit" else "responses"
    return "report and figures" if "synthesis" in path.parts else "the rest"


def _fold(database: Path) -> None:
    """Its write-ahead log back into it."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
