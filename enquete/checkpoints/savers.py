"""LangGraph's position in a run. Strict msgpack: a checkpoint file can name no class to be built."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from enquete.ledger.connection import is_damage, reason
from enquete.ledger.drives import DISK_FULL, disk_fault, free_text, is_full, require_local, resume_command, store_of
from enquete.ledger.folders import CHECKPOINTS, set_aside
from enquete.ledger.integrity import StoreUnreachable
from enquete.ledger.writer import MADE, REPEATED, Room
from enquete.state.errors import LedgerError
from enquete.state.request import with_credentials

log = logging.getLogger("enquete")

LEAST_WAIT_S = 0.05
"""For a connection that is there."""


class RunSaver(AsyncSqliteSaver):
    """A saver that a full disk does not stop: to raise would cancel calls in flight, which are paid for.

    It asks for room like the ledger's writer. Where there is none it stores no further position and keeps why in
    `fault`; the ledger knows all that matters, and the next resume goes on from the last position that was stored.
    With each position it stores how many writes the ledger had by then.
    """

    def __init__(
        self, connection: aiosqlite.Connection, room: Room | None = None, writes: Callable[[], int] = lambda: 0
    ):
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self.fault: LedgerError | None = None
        self._room = room
        self._writes = writes

    async def setup(self) -> None:
        if not self.is_setup:
            await super().setup()
            await self.conn.execute(MADE)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """None where what is stored makes no sense: zeros in a page of mere content are sound to SQLite."""
        try:
            return await super().aget_tuple(config)
        except (NotImplementedError, ValueError, TypeError):
            log.warning(
                "a position in %s cannot be read and is left aside; what is settled is not asked again", CHECKPOINTS
            )
            return None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        await self._stored(lambda: super(RunSaver, self).aput(config, checkpoint, metadata, new_versions))
        place = {name: config["configurable"][name] for name in ("thread_id", "checkpoint_ns")}
        return {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._stored(lambda: super(RunSaver, self).aput_writes(config, writes, task_id, task_path))

    async def _stored(self, store: Callable[[], Awaitable[object]]) -> None:
        """Twice at most: a second time because room was made, now or meanwhile by the ledger's writer."""
        for last in (False, True):
            if self.fault is not None:
                return
            try:
                await self.conn.execute(REPEATED, (self._writes(),))  # committed with what follows
                await store()
                return
            except sqlite3.DatabaseError as error:
                if not is_full(error):
                    raise LedgerError(f"{CHECKPOINTS} could not be written: {error}") from error
                async with self.lock:
                    await self.conn.rollback()
                if self._room is not None:
                    self._room.release(str(error))
                    self._room.tell()
                if last:
                    self.fault = LedgerError(f"{CHECKPOINTS} could not be written ({DISK_FULL}: {error})")


@asynccontextmanager
async def saver(
    folder: Path, room: Room | None = None, writes: Callable[[], int] = lambda: 0
) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The run's saver, where its ledger is. A damaged file is set aside: the ledger knows everything, only the position
    starts anew. `writes`: how many the ledger has by now.

    Raises LedgerError at the end where a full disk kept the position from being stored.
    """
    if shown := store_of(folder):
        async with _in_store(shown, folder.name) as kept:
            yield kept
        return
    path = folder / CHECKPOINTS
    if path.exists() and not _readable(path):
        set_aside(path)
    local = require_local(path)
    async with aiosqlite.connect(path) as connection:
        made = RunSaver(connection, room, writes)
        try:
            await _set_up(made, local)
        except sqlite3.Error as error:
            raise disk_fault(error, path) or LedgerError(f"{path}: cannot be written ({error})") from error
        yield made
        if made.fault is not None:
            raise LedgerError(
                f"{made.fault}; {free_text(folder)} in {folder}. Every answer that was stored is in the ledger. Free "
                f"space there, then: {resume_command(folder)}"
            )


@asynccontextmanager
async def _in_store(shown: str, schema: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """In the run's own schema, on connections of its own."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415 - an extra brings it
    from psycopg import OperationalError  # noqa: PLC0415
    from psycopg.rows import dict_row  # noqa: PLC0415
    from psycopg_pool import AsyncConnectionPool, PoolTimeout  # noqa: PLC0415

    from enquete.ledger.postgres import give_up, seconds_left  # noqa: PLC0415 - an extra brings what it needs

    class Pool(AsyncConnectionPool[Any]):
        """Positions are stored one after the other: each would wait for itself where the database is gone."""

        async def getconn(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - psycopg's own
            try:
                return await super().getconn(seconds_left(shown) or LEAST_WAIT_S)
            except PoolTimeout:
                give_up(shown)
                raise

    options = {
        "autocommit": True, "row_factory": dict_row, "prepare_threshold": 0, "application_name": "enquete",
        "options": f'-c search_path="{schema}"',
    }  # fmt: skip
    pool = Pool(
        with_credentials(shown), min_size=1, max_size=4, open=False, kwargs=options,
        check=AsyncConnectionPool.check_connection,
    )  # fmt: skip
    try:
        async with pool:
            made = AsyncPostgresSaver(pool, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
            await made.setup()
            yield made
    except (OperationalError, PoolTimeout) as error:
        raise StoreUnreachable(f"{shown}: the position of run {schema} could not be stored ({error})") from error


async def _set_up(made: RunSaver, local: bool) -> None:
    """LangGraph sets WAL mode; on a network drive without shared memory, until a rollback journal replaces it."""
    if not local:
        await made.conn.execute("PRAGMA locking_mode=EXCLUSIVE")
    await made.setup()
    if not local:
        await made.conn.execute("PRAGMA journal_mode=DELETE")


def _readable(path: Path) -> bool:
    """Raises LedgerError where it cannot even be opened, which says nothing of what is in it."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except UnicodeDecodeError:  # of a message that quotes what is damaged
        return False
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise LedgerError(f"{path}: cannot be read ({reason(error)})") from error
        return False
