"""A PostgreSQL server of the tests' own: Debian's package, on loopback, in a folder of its own that goes with it."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "ganz-geheim"
REQUIRED = "TESTS_REQUIRE_POSTGRESQL"
"""Set where it was installed for the tests: they fail then instead of being skipped."""


class Server:
    """url: of its database, with the password."""

    def __init__(self, binaries: Path, folder: Path, as_user: list[str]):
        self._binaries, self._folder, self._as_user = binaries, folder, as_user
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/enquete"

    def run(self, program: str, *words: str | Path) -> None:
        command = [*self._as_user, str(self._binaries / program), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd="/", check=False)
        assert done.returncode == 0, f"{program}: {done.stdout} {done.stderr}"

    def make(self) -> None:
        word = self._folder / "password"
        word.write_text(PASSWORD)
        self.run("initdb", "-D", self._folder / "data", "-A", "scram-sha-256", "-U", "postgres", "--pwfile", word,
                 "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")  # fmt: skip
        self.start()
        import psycopg

        with psycopg.connect(self.url.removesuffix("enquete") + "postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE enquete")

    def start(self) -> None:
        options = f"-F -c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self._folder}"
        self.run("pg_ctl", "-D", self._folder / "data", "-l", self._folder / "log", "-o", options, "-w", "start")

    def start_again(self) -> None:
        """Start it unless it runs."""
        command = [*self._as_user, str(self._binaries / "pg_ctl"), "-D", str(self._folder / "data"), "status"]
        if subprocess.run(command, capture_output=True, timeout=60, cwd="/", check=False).returncode:
            self.start()

    def stop(self, how: str = "fast") -> None:
        self.run("pg_ctl", "-D", self._folder / "data", "-m", how, "-w", "stop")


def _binaries() -> Path | None:
    if (path := shutil.which("initdb")) is not None:
        return Path(path).resolve().parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), Path("x")).parent or None


@contextmanager
def serving() -> Iterator[Server]:
    """Skips where there is none."""
    binaries = _binaries()
    if binaries is None or not (binaries / "initdb").is_file():
        why = "PostgreSQL's server is not installed (apt-get install postgresql)"
        pytest.fail(why) if os.environ.get(REQUIRED) else pytest.skip(why)
    folder, as_user = Path(tempfile.mkdtemp(prefix="enquete-postgres-")), []
    if os.getuid() == 0:  # which the server refuses to run as
        owner = next(user for user in ("postgres", "nobody") if user in {entry.pw_name for entry in pwd.getpwall()})
        shutil.chown(folder, owner)
        as_user = ["runuser", "-u", owner, "--"]
    server = Server(binaries, folder, as_user)
    try:
        server.make()
        yield server
    finally:
        try:
            server.stop("immediate")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
