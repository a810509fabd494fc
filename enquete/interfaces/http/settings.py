"""Where the server listens, whom it believes, and how much it takes on. Wrong combinations are refused at the start."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from enquete.state.errors import SettingsError
from enquete.study.tasks import MOST_RUNS

PORT = 8642
SHORTEST_TOKEN = 16
LARGEST_BODY = 64 * 1024
MOST_REQUESTS = 512
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class HttpEnvironment(BaseSettings):
    """What the environment and `.env` say about the server."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    token: SecretStr | None = Field(None, validation_alias="ENQUETE_HTTP_TOKEN")


@dataclass(frozen=True)
class ServerSettings:
    """`allow_hosts`: further names by which clients reach the server. `allow_origins`: web pages that may call it.

    `root` is the folder that holds simulations/; `watch` starts interviews as simulations go on. Sizes in bytes.
    """

    root: Path
    host: str = "127.0.0.1"
    port: int = PORT
    token: SecretStr | None = None
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    most_runs: int = MOST_RUNS
    largest_body: int = LARGEST_BODY
    most_requests: int = MOST_REQUESTS
    watch: bool = False
    watch_every_s: float = 2.0

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host}: other machines could reach the server, so it needs a token: set ENQUETE_HTTP_TOKEN "
                "or name a --token-file; or leave --host out to serve this machine only"
            )
        for origin in self.allow_origins:
            if not origin.startswith(("http://", "https://")) or origin.rstrip("/").count("/") != 2:
                raise SettingsError(f"--allow-origin {origin!r}: SCHEME://HOST[:PORT] is expected, and no path")

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a Host header may have, without the port."""
        own = () if self.host in ("0.0.0.0", "::", "") else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK_NAMES, *own, *self.allow_hosts))


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_token(file: Path | None) -> SecretStr | None:
    """The file's content, else ENQUETE_HTTP_TOKEN; None where neither is there. Raises SettingsError, never showing it."""
    if file is None:
        token, where = HttpEnvironment().token, "ENQUETE_HTTP_TOKEN"
    else:
        token, where = SecretStr(_text(file).strip()), f"--token-file {file}"
    if token is None:
        return None
    secret = token.get_secret_value()
    if len(secret) < SHORTEST_TOKEN or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise SettingsError(
            f"{where}: a token has at least {SHORTEST_TOKEN} printable ASCII characters and no spaces, such as what "
            "`openssl rand -hex 32` prints"
        )
    return token


def _text(file: Path) -> str:
    try:
        return file.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--token-file {file}: cannot be read ({error.__class__.__name__})") from None
