"""The address of a PostgreSQL database that holds ledgers, and its password, which is written down nowhere."""

from __future__ import annotations

import os
from typing import Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import AfterValidator

VARIABLE = "ENQUETE_STORE"
SCHEMES = ("postgresql", "postgres")
SECRET = ("password", "sslpassword", "passfile")

_with_password: dict[str, str] = {}


def masked(url: str) -> str:
    """A store's address as it may be shown and kept. Raises ValueError where it is none."""
    try:
        parts = urlsplit(url)
        host, port, user = parts.hostname or "", parts.port, parts.username
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in SCHEMES or not parts.path.strip("/") or "\n" in url:
        raise ValueError(
            "an address like postgresql://user@host:5432/database is expected; the password is best kept in ~/.pgpass "
            f"or PGPASSWORD, or the whole address in {VARIABLE}"
        )
    place = f"[{host}]" if ":" in host else host
    known = urlencode([pair for pair in parse_qsl(parts.query) if pair[0].lower() not in SECRET])
    at = f"{f'{user}@' if user else ''}{place}{f':{port}' if port else ''}"
    return f"postgresql://{at}{parts.path}{f'?{known}' if known else ''}"


def remember(url: str) -> str:
    """Use this address, with its password, as long as this process lives. Gives it without."""
    shown = masked(url)
    if secret_of(url):
        _with_password[shown] = url
    return shown


def secret_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.password or next((value for name, value in parse_qsl(parts.query) if name == "password"), "")


def with_credentials(shown: str) -> str:
    """The address to connect with: as it was given to this process, else the environment's, else what libpq finds for
    it (PGPASSWORD, ~/.pgpass)."""
    if shown not in _with_password and (url := os.environ.get(VARIABLE, "")) and masked(url) == shown:
        return url
    return _with_password.get(shown, shown)


StoreAddress = Annotated[str, AfterValidator(remember)]
"""Validated, it has no password any more."""
