"""A file of one's own prices: read safely, validated, and looked up by server and model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from enquete.instruments.source import MOST_BYTES, SourceFile, read_source, validation_problems
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.regular_files import read_regular

EXAMPLE = "write, for example, `models: {my-model: {input: 0.15, output: 0.6}}` (US dollars per million tokens)"
_DEFAULT_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Server:
    """A server as a base URL names it, or as a section of a price file does. "" and None: any."""

    scheme: str
    host: str  # lower case; in a price file perhaps a pattern
    port: int | None
    path: str

    def covers(self, other: Server) -> bool:
        """Whether the server `other` is meant by this one."""
        return (
            self.scheme in ("", other.scheme)
            and fnmatchcase(other.host, self.host)
            and self.port in (None, other.port)
            and f"{other.path}/".startswith(f"{self.path}/")
        )


def server_of(text: str) -> Server | None:
    """`text` (a URL, or host with or without port) as a server; None where it is none."""
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        port = parts.port or _DEFAULT_PORT.get(parts.scheme)
    except ValueError:  # a port or an IPv6 address that is none
        return None
    if parts.scheme not in ("", "http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        return None
    return Server(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def _dollars(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise PydanticCustomError("price", "write US dollars per million tokens, such as 0.15, or 0 for no charge")
    return float(value)


def _server_name(value: str) -> str:
    if server_of(value) is None:
        raise PydanticCustomError("server", "write a base URL such as http://host:8080/v1, a host, or host:port")
    return value


class Entry(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Annotated[float, BeforeValidator(_dollars)]
    output: Annotated[float, BeforeValidator(_dollars)]
    cached: Annotated[float, BeforeValidator(_dollars)] | None = None  # input that the server has read before


class PriceFile(BaseModel):
    """`models`: name or pattern → price. `servers`: server → the same, which goes before `models`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, Entry] = {}
    servers: dict[Annotated[str, AfterValidator(_server_name)], dict[str, Entry]] = {}

    def find(self, model: str, server: Server | None) -> tuple[Entry, str] | None:
        """The price and its place in the file ("models.my-*"), or None."""
        for name, prices in self.servers.items():
            section = server_of(name)
            if server and section and section.covers(server) and (key := _pick(prices, model)) is not None:
                return prices[key], f"servers.{name}.{key}"
        key = _pick(self.models, model)
        return None if key is None else (self.models[key], f"models.{key}")


def read_price_file(path: Path) -> PriceFile:
    """Raises SettingsError with every problem found: file, line, field, bad value, what would be right."""
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise SettingsError(
            f"{path}: the price file cannot be read ({error.strerror}); ENQUETE_PRICES must name a YAML file: {EXAMPLE}"
        ) from None
    try:
        source = read_source(str(path), raw)
    except InstrumentError as error:
        raise SettingsError("\n".join(_about_prices(problem) for problem in error.problems)) from None
    return _validated(source)


def _validated(source: SourceFile) -> PriceFile:
    _refuse_passwords(source)
    problems = list(source.problems)
    known = {line for line, _ in problems}  # a value that YAML could not give is not also "missing"
    try:
        prices = PriceFile.model_validate(source.document)
    except ValidationError as error:
        problems += [found for found in validation_problems(error, PriceFile, source) if found[0] not in known]
    if problems:
        raise SettingsError("\n".join(message for _, message in sorted(problems)))
    return prices


def _refuse_passwords(source: SourceFile) -> None:
    """Before anything else, because other messages repeat the key that they are about."""
    servers = source.document.get("servers")
    for name in map(str, servers if isinstance(servers, dict) else ()):
        if "@" in name:
            line = source.line(("servers", name))
            host = name.rpartition("@")[2]
            raise SettingsError(f"{source.name}:{line}: servers: …@{host}: write the server without user or password")


def _about_prices(problem: str) -> str:
    """What the YAML reader says of a file as a whole, with a remedy for this kind of file instead of its usual one."""
    what, _, remedy = problem.partition("; ")
    usual = " for an instrument"
    return f"{what.removesuffix(usual)}; {EXAMPLE}" if "instrument" in remedy or what.endswith(usual) else problem


def _pick(prices: Mapping[str, Entry], model: str) -> str | None:
    """The name itself, else the first pattern in the file that fits, whatever its case."""
    if model in prices:
        return model
    return next((key for key in prices if fnmatchcase(model.lower(), key.lower())), None)
