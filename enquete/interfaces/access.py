"""The token that clients of a server must send, and which addresses are this machine's own."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from enquete.state.errors import SettingsError

SHORTEST_TOKEN = 16


class AccessEnvironment(BaseSettings):
    """What the environment and `.env` say."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    token: SecretStr | None = Field(None, validation_alias="ENQUETE_TOKEN")


def read_token(file: Path | None = None) -> SecretStr | None:
    """The file's content, else ENQUETE_TOKEN; None where neither is there. Raises SettingsError, never showing it."""
    if file is None:
        token, where = AccessEnvironment().token, "ENQUETE_TOKEN"
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


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
