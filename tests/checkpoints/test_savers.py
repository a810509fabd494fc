"""Checkpoints: damaged ones are set aside; a full disk stops no run, and is said in the end."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TypedDict

import aiosqlite
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from enquete.checkpoints.savers import RunSaver, saver
from enquete.ledger.folders import CHECKPOINTS
from enquete.state.errors import LedgerError


class State(TypedDict):
    text: str


def big(state: State) -> State:
    return {"text": "x" * 300_000}


def gate(state: State) -> State:
    interrupt("stop")
    return state


def compiled(checkpointer: RunSaver):
    graph = StateGraph(State)
    graph.add_node("big", big)
    graph.add_node("gate", gate)
    graph.add_edge(START, "big")
    graph.add_edge("big", "gate")
    graph.add_edge("gate", END)
    return graph.compile(checkpointer=checkpointer)


CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}


class PageRoom:
    """Lets the checkpoint file grow when asked, by `pages`."""

    def __init__(self, pages: int):
        self.pages = pages
        self.notice = ""
        self.told: list[str] = []
        self.connection: aiosqlite.Connection | None = None

    def release(self, why: str = "") -> bool:
        self.notice = why
        assert self.connection is not None
        self.connection._conn.execute(f"PRAGMA max_page_count={self.pages}")
        return True

    def tell(self) -> None:
        self.told.append(self.notice)


async def walk(folder: Path) -> None:
    """A graph up to its interrupt, on a file that must not grow."""
    async with saver(folder) as checkpointer:
        await checkpointer.conn.execute("PRAGMA max_page_count=12")
        await compiled(checkpointer).ainvoke({"text": ""}, CONFIG)
        assert "disk full" in str(checkpointer.fault)


def test_a_full_disk_is_said_in_the_end_and_the_position_before_is_gone_on_from(tmp_path: Path) -> None:
    # max_page_count makes SQLite itself say "database or disk is full".
    with pytest.raises(LedgerError, match=r"checkpoints\.sqlite.*disk full.*free in .*enquete resume"):
        asyncio.run(walk(tmp_path))
    with pytest.raises(LedgerError):
        asyncio.run(walk(tmp_path))

    async def again() -> bool:
        async with saver(tmp_path) as checkpointer:
            await compiled(checkpointer).ainvoke(None, CONFIG)
            return bool((await compiled(checkpointer).aget_state(CONFIG)).interrupts)

    assert asyncio.run(again())


def test_room_that_is_made_is_used(tmp_path: Path) -> None:
    room = PageRoom(10_000)

    async def work() -> bool:
        async with aiosqlite.connect(tmp_path / CHECKPOINTS, check_same_thread=False) as connection:
            room.connection = connection
            checkpointer = RunSaver(connection, room)
            await checkpointer.setup()
            await connection.execute("PRAGMA max_page_count=12")
            await compiled(checkpointer).ainvoke({"text": ""}, CONFIG)
            assert checkpointer.fault is None
            return bool((await compiled(checkpointer).aget_state(CONFIG)).interrupts)

    assert asyncio.run(work())
    assert room.told
    assert "full" in room.told[0]


def damaged(path: Path, how: str) -> None:
    asyncio.run(walk_whole(path.parent))
    content = path.read_bytes()
    if how == "directory":
        path.unlink()
        path.mkdir()
        (path / "x").write_text("x")
    elif how == "garbage in the middle":
        path.write_bytes(content[:8192] + b"\xff" * 8192 + content[16384:])
    else:
        path.write_bytes({"truncated": content[: len(content) // 2], "text": b"no database " * 999}[how])


async def walk_whole(folder: Path) -> None:
    async with saver(folder) as checkpointer:
        await compiled(checkpointer).ainvoke({"text": ""}, CONFIG)


@pytest.mark.parametrize("how", ["directory", "garbage in the middle", "truncated", "text"])
def test_a_damaged_file_is_set_aside_and_the_position_starts_anew(tmp_path: Path, how: str) -> None:
    for number in ("", "1"):
        damaged(tmp_path / CHECKPOINTS, how)
        (tmp_path / f"{CHECKPOINTS}-wal").write_bytes(b"left over")
        asyncio.run(walk_whole(tmp_path))
        assert (tmp_path / f"{CHECKPOINTS}.damaged{number}").exists()
        with closing(sqlite3.connect(tmp_path / CHECKPOINTS)) as connection:
            assert connection.execute("SELECT count(*) > 0 FROM checkpoints").fetchone() == (1,)


def test_a_position_of_zeros_starts_anew_and_an_empty_file_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINTS).touch()
    asyncio.run(walk_whole(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == [CHECKPOINTS]
    asyncio.run(walk_whole(tmp_path))
    with closing(sqlite3.connect(tmp_path / CHECKPOINTS)) as connection, connection:
        connection.execute("UPDATE checkpoints SET type=zeroblob(7), checkpoint=zeroblob(4096)")

    async def again() -> bool:
        async with saver(tmp_path) as checkpointer:
            assert (await compiled(checkpointer).aget_state(CONFIG)).created_at is None
            await compiled(checkpointer).ainvoke({"text": ""}, CONFIG)
            return bool((await compiled(checkpointer).aget_state(CONFIG)).interrupts)

    assert asyncio.run(again())
