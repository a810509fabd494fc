"""What a model costs: one's own prices first, then the list that genai-prices brings along. Nothing is fetched.

Unknown stays unknown (None): a price is 0 only where somebody said so, where no model answers, or where a local one
does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from platformdirs import user_config_dir
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from enquete.instruments.source import MOST_BYTES, SourceFile, read_source, validation_problems
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.model_names import PROVIDERS, bare_name, has_own_service, provider_of
from enquete.state.settings import LOCAL_URL
from enquete.state.untrusted_input import read_regular

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, Provider, TieredPrices

# --- A file of one's own prices: read safely, validated, and looked up by server and model ----------------------------

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
    """`text` (a URL, or host with or without port) as a server; None where it is none, or several."""
    if "," in text:
        return None
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


class PriceEntry(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Annotated[float, BeforeValidator(_dollars)]
    output: Annotated[float, BeforeValidator(_dollars)]
    cached: Annotated[float, BeforeValidator(_dollars)] | None = None  # input that the server has read before


class PriceFile(BaseModel):
    """`models`: name or pattern → price. `servers`: server → the same, which goes before `models`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, PriceEntry] = {}
    servers: dict[Annotated[str, AfterValidator(_server_name)], dict[str, PriceEntry]] = {}

    def find(self, model: str, server: Server | None) -> tuple[PriceEntry, str] | None:
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
        problems += [problem for problem in validation_problems(error, PriceFile, source) if problem[0] not in known]
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


def _pick(prices: Mapping[str, PriceEntry], model: str) -> str | None:
    """The name itself, else the first pattern in the file that fits, whatever its case."""
    if model in prices:
        return model
    return next((key for key in prices if fnmatchcase(model.lower(), key.lower())), None)


# --- The price of a model ---------------------------------------------------------------------------------------------

OPENAI_URL = "https://api.openai.com/v1"
"""The server where none is named."""
WITHOUT_MODEL = frozenset({"synthetic", "rule"})
"""What stands for a model where none is asked: the synthetic respondent (of a planted quality: `synthetic:…`), the
rule-based interviewer."""

_LOCAL_NAMES = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `source`: where they come from, for people to read. `cached`: of input that the
    server had read before; None: no less than any other."""

    input_per_mtok: float
    output_per_mtok: float
    source: str
    cached: float | None = None

    @property
    def cached_per_mtok(self) -> float:
        return self.input_per_mtok if self.cached is None else min(self.cached, self.input_per_mtok)


NO_MODEL = Price(0.0, 0.0, "no model")
OWN_MACHINE = Price(0.0, 0.0, "on this machine")


def cost(price: Price, input_tokens: int, output_tokens: int) -> float:
    """US dollars."""
    return (price.input_per_mtok * input_tokens + price.output_per_mtok * output_tokens) / 1_000_000


def default_price_file() -> Path:
    """One's own prices where ENQUETE_PRICES names no file."""
    return Path(user_config_dir("enquete", appauthor=False)) / "prices.yaml"


class Prices:
    """One's own prices over the bundled list."""

    def __init__(self, file: PriceFile | None = None, name: str = ""):
        """`name`: the own file's, for `Price.source`."""
        self._own = file
        self._name = name

    @classmethod
    def read(cls, file: Path | None) -> Prices:
        """With `file`, else the one in the user's configuration folder where there is one.

        Raises SettingsError naming file, line, field, bad value and what would be right.
        """
        path = file.expanduser() if file else default_price_file()
        if file is None and not path.is_file():
            return cls()
        return cls(read_price_file(path), path.name)

    def of(self, model: str, base_url: str | None) -> Price | None:
        """The price of `model` at the server (None: OpenAI's own), or None where it is unknown.

        Where a price depends on the length of the context or the time of day it is the upper one; where it changed on a
        date, today's. A server in one's own network costs what one's own file says, however well known the model.
        """
        if model.partition(":")[0] in WITHOUT_MODEL:
            return NO_MODEL
        if has_own_service(model):
            base_url, model = _address_of(model), bare_name(model)
        if base_url == LOCAL_URL:
            return OWN_MACHINE
        server = server_of(base_url or OPENAI_URL)
        price = self._own.find(model, server) if self._own else None
        if price:
            entry, place = price
            return Price(entry.input, entry.output, f"{self._name}: {place}", entry.cached)
        if server is None or is_local(server.host):
            return None
        bundled = listed(model, server)
        return Price(*bundled) if bundled else None


def _address_of(model: str) -> str:
    """Where a model with a service of its own is sold, as price lists know it; of an object as its class's provider."""
    name = provider_of(model)
    if not name:
        kind = model.split(":")[1].lower()
        name = next((known for known in PROVIDERS if known.partition("_")[0] in kind), "")
    return PROVIDERS[name].url if name and PROVIDERS[name].url else OPENAI_URL


def is_local(host: str) -> bool:
    """Whether a host is this machine or in one's own network: by its address, or by a name that is not a public one."""
    try:
        address = ip_address(host)
    except ValueError:
        name = host.rstrip(".")
        return "." not in name or name.endswith(_LOCAL_NAMES)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return not address.ipv4_mapped.is_global
    return not address.is_global


# --- The prices that genai-prices brings along ------------------------------------------------------------------------


# Of our own, so that a program around us that lets genai-prices update itself does not change a run's prices.
@lru_cache(maxsize=1)
def _list() -> DataSnapshot:
    from genai_prices.data import providers  # noqa: PLC0415 - half a second
    from genai_prices.data_snapshot import DataSnapshot  # noqa: PLC0415

    return DataSnapshot(providers=providers, from_auto_update=False)


_ANY_PROVIDER = "litellm"  # genai-prices' word for "tell by the name, with or without `provider/` in front"


def listed(model: str, server: Server) -> tuple[float, float, str, float | None] | None:
    """Input, output (USD per million tokens), source, and input that was cached (None: not listed): by the server's own
    list where it is known, else by the model's name."""
    import genai_prices  # noqa: PLC0415

    provider = _provider(server)
    try:
        owner, info = _list().find_provider_model(model, provider, None if provider else _ANY_PROVIDER, None)
    except LookupError:
        return None
    bounds = _upper(info, datetime.now(UTC))
    if bounds is None:
        return None
    source = f"genai-prices {genai_prices.__version__}: {owner.id}/{info.id}"
    if bounds[2]:
        source += ", upper price"
    if provider is None:
        source += f", by the model's name ({server.host} has no known prices)"
    return float(bounds[0]), float(bounds[1]), source, _cached(info)


def _cached(info: ModelInfo) -> float | None:
    """The dearest of today's, as with the others."""
    now = datetime.now(UTC)
    cached = [price.cache_read_mtok for moment in _moments(info, now) for price in [info.get_prices(moment)]]
    known = [_most(price) for price in cached if price is not None]
    return float(max(known)) if known and len(known) == len(cached) else None


def _provider(server: Server) -> Provider | None:
    try:
        return _list().find_provider(None, None, f"{server.scheme or 'https'}://{server.host}{server.path}")
    except LookupError:
        return None


def _upper(info: ModelInfo, now: datetime) -> tuple[Decimal, Decimal, bool] | None:
    """(input, output, whether another price may hold), or None where a chat's tokens are not all that is charged."""
    pairs = {pair for moment in _moments(info, now) for pair in _pairs(info.get_prices(moment))}
    if None in pairs:
        return None
    known = [pair for pair in pairs if pair]
    return max(read for read, _ in known), max(written for _, written in known), len(known) > 1


def _moments(info: ModelInfo, now: datetime) -> Iterator[datetime]:
    """Now, and every time of this day at which the price may change."""
    yield now
    for conditional in info.prices if isinstance(info.prices, list) else ():
        yield from _borders(conditional, now)


def _borders(conditional: ConditionalPrice, now: datetime) -> Iterator[datetime]:
    from genai_prices.types import TimeOfDateConstraint  # noqa: PLC0415

    hours = conditional.constraint
    if isinstance(hours, TimeOfDateConstraint):
        for border in (hours.start_time, hours.end_time):
            yield datetime.combine(now.date(), border, tzinfo=border.tzinfo or UTC)


def _pairs(prices: ModelPrice) -> Iterator[tuple[Decimal, Decimal] | None]:
    """(input, output) for the shortest and for the dearest context; None where there is none or a fee per request."""
    if prices.input_mtok is None or prices.output_mtok is None or prices.requests_kcount is not None:
        yield None
        return
    written = [prices.output_mtok, prices.output_reasoning_mtok]  # some charge otherwise for thinking
    yield _least(prices.input_mtok), _least(prices.output_mtok)
    yield _most(prices.input_mtok), max(_most(price) for price in written if price is not None)


def _least(price: Decimal | TieredPrices) -> Decimal:
    return price if isinstance(price, Decimal) else price.base


def _most(price: Decimal | TieredPrices) -> Decimal:
    return price if isinstance(price, Decimal) else max([price.base, *(tier.price for tier in price.tiers)])
