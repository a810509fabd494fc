"""LangGraph's position in a run. Strict msgpack: a checkpoint file can name no class to be built."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from enquete.checkpoints.folders import CHECKPOINTS


@asynccontextmanager
async def saver(folder: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The run's saver. A damaged file is set aside: the ledger knows everything, only the position starts anew."""
    path = folder / CHECKPOINTS
    if path.exists() and not _readable(path):
        path.replace(path.with_suffix(".damaged"))
    async with aiosqlite.connect(path) as connection:
        yield AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


def _readable(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


def thread_id(run_id: str, drawing: str, version: str, walk: int) -> str:
    """Another graph, version or walk is another thread: resuming on a changed graph can skip work silently."""
    return f"{run_id}/{version}/{sha256(drawing.encode()).hexdigest()[:8]}/{walk}"
