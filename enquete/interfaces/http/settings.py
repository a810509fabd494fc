"""Where the server listens, whom it believes, and how much it takes on. Wrong combinations are refused at the start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from enquete.interfaces.access import is_loopback
from enquete.state.errors import SettingsError
from enquete.study.tasks import MOST_RUNS

PORT = 8642
LARGEST_BODY = 64 * 1024
MOST_REQUESTS = 512
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ServerSettings:
    """`allow_hosts`: further names by which clients reach the server. `allow_origins`: web pages that may call it.

    `root` is the folder that holds simulations/; `watch` starts interviews as simulations go on. `local_origins`: pages
    served under the same names on any port may call it too, as the Inspector's is. Sizes in bytes.
    """

    root: Path
    host: str = "127.0.0.1"
    port: int = PORT
    token: SecretStr | None = None
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    local_origins: bool = False
    most_runs: int = MOST_RUNS
    largest_body: int = LARGEST_BODY
    most_requests: int = MOST_REQUESTS
    watch: bool = False
    watch_every_s: float = 2.0

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host}: other machines could reach the server, so it needs a token: set ENQUETE_TOKEN "
                "(docs/security.md), or leave --host out to serve this machine only"
            )
        for origin in self.allow_origins:
            if not origin.startswith(("http://", "https://")) or origin.rstrip("/").count("/") != 2:
                raise SettingsError(f"--allow-origin {origin!r}: SCHEME://HOST[:PORT] is expected, and no path")

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a Host header may have, without the port."""
        own = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK_NAMES, *own, *self.allow_hosts))
