"""A second machine's network on this one: a network namespace with two cables to us, one of which can be pulled."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

HERE, THERE = "10.213.{}.1", "10.213.{}.2"


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


class Cable:
    """Between us and the namespace. `here`: our address on it."""

    def __init__(self, space: str, number: int):
        self.here, self._space, self._end = HERE.format(number), space, f"{space[-9:]}c{number}"
        ip("link", "add", f"{self._end}h", "type", "veth", "peer", "name", self._end, "netns", space)
        ip("addr", "add", f"{self.here}/30", "dev", f"{self._end}h")
        ip("link", "set", f"{self._end}h", "up")
        ip("-n", space, "addr", "add", f"{THERE.format(number)}/30", "dev", self._end)
        self.plug()

    def pull(self) -> None:
        """Packets are dropped without a word, in both directions."""
        ip("-n", self._space, "link", "set", self._end, "down")

    def plug(self) -> None:
        ip("-n", self._space, "link", "set", self._end, "up")


@contextmanager
def namespace() -> Iterator[str]:
    """Its name. Skips where this process may not make one."""
    name = f"enq{os.getpid()}"
    if (
        shutil.which("ip") is None
        or subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode
    ):
        pytest.skip("network namespaces need root and iproute2")
    try:
        ip("-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        ip("netns", "del", name)


class Relay:
    """Carries connections to `host` on to the same port of 127.0.0.1, where the tests' servers listen."""

    def __init__(self, host: str, port: int):
        self._host, self._port = host, port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Relay:
        self._thread.start()
        listening = asyncio.start_server(self._carry, self._host, self._port)
        asyncio.run_coroutine_threadsafe(listening, self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        async def end() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()
