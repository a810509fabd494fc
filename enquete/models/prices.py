"""What a model costs: one's own prices first, then the list that genai-prices brings along. Nothing is fetched.

Unknown stays unknown (None): a price is 0 only where somebody said so, or where no model answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import genai_prices
from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, Provider, TieredPrices, TimeOfDateConstraint
from platformdirs import user_config_dir

from enquete.models.price_file import PriceFile, Server, read_price_file, server_of

OPENAI_URL = "https://api.openai.com/v1"
"""The server where none is named."""
WITHOUT_MODEL = frozenset({"synthetic", "rule"})
"""What stands for a model where none is asked: the synthetic respondent, the rule-based interviewer."""

_LOCAL_NAMES = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa")
# Of our own, so that a program around us that lets genai-prices update itself does not change a run's prices.
_LIST = DataSnapshot(providers=providers, from_auto_update=False)
_ANY_PROVIDER = "litellm"  # genai-prices' word for "tell by the name, with or without `provider/` in front"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `source`: where they come from, for people to read."""

    input_per_mtok: float
    output_per_mtok: float
    source: str


NO_MODEL = Price(0.0, 0.0, "no model")


def cost(price: Price, input_tokens: int, output_tokens: int) -> float:
    """US dollars."""
    return (price.input_per_mtok * input_tokens + price.output_per_mtok * output_tokens) / 1_000_000


def default_price_file() -> Path:
    """One's own prices where ENQUETE_PRICES names no file."""
    return Path(user_config_dir("enquete", appauthor=False)) / "prices.yaml"


class Prices:
    """One's own prices over the bundled list."""

    def __init__(self, own: PriceFile | None = None, name: str = ""):
        """`name`: the own file's, for `Price.source`."""
        self._own = own
        self._name = name

    @classmethod
    def read(cls, own: Path | None) -> Prices:
        """With the file `own`, else the one in the user's configuration folder where there is one.

        Raises SettingsError naming file, line, field, bad value and what would be right.
        """
        path = own.expanduser() if own else default_price_file()
        if own is None and not path.is_file():
            return cls()
        return cls(read_price_file(path), path.name)

    def of(self, model: str, base_url: str | None) -> Price | None:
        """The price of `model` at the server (None: OpenAI's own), or None where it is unknown.

        Where a price depends on the length of the context or the time of day it is the upper one; where it changed on a
        date, today's. A server in one's own network costs what one's own file says, however well known the model.
        """
        if model in WITHOUT_MODEL:
            return NO_MODEL
        server = server_of(base_url or OPENAI_URL)
        found = self._own.find(model, server) if self._own else None
        if found:
            entry, place = found
            return Price(entry.input, entry.output, f"{self._name}: {place}")
        if server is None or is_local(server.host):
            return None
        return _listed(model, server)


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


def _listed(model: str, server: Server) -> Price | None:
    """By the server's own list where it is known, else by the model's name."""
    provider = _provider(server)
    try:
        owner, info = _LIST.find_provider_model(model, provider, None if provider else _ANY_PROVIDER, None)
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
    return Price(float(bounds[0]), float(bounds[1]), source)


def _provider(server: Server) -> Provider | None:
    try:
        return _LIST.find_provider(None, None, f"{server.scheme or 'https'}://{server.host}{server.path}")
    except LookupError:
        return None


def _upper(info: ModelInfo, now: datetime) -> tuple[Decimal, Decimal, bool] | None:
    """(input, output, whether another price may hold), or None where the tokens of a chat are not all that is charged."""
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
    return price.base if isinstance(price, TieredPrices) else price


def _most(price: Decimal | TieredPrices) -> Decimal:
    return max([price.base, *(tier.price for tier in price.tiers)]) if isinstance(price, TieredPrices) else price
