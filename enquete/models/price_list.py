"""The prices that genai-prices brings along."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, Provider, TieredPrices, TimeOfDateConstraint

from enquete.models.prices import Server

# Of our own, so that a program around us that lets genai-prices update itself does not change a run's prices.
_LIST = DataSnapshot(providers=providers, from_auto_update=False)
_ANY_PROVIDER = "litellm"  # genai-prices' word for "tell by the name, with or without `provider/` in front"


def listed(model: str, server: Server) -> tuple[float, float, str, float | None] | None:
    """Input, output (USD per million tokens), source, and input that was cached (None: not listed): by the server's own list where
    it is known, else by the model's name."""
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
    return float(bounds[0]), float(bounds[1]), source, _cached(info)


def _cached(info: ModelInfo) -> float | None:
    """The dearest of today's, as with the others."""
    now = datetime.now(UTC)
    found = [price.cache_read_mtok for moment in _moments(info, now) for price in [info.get_prices(moment)]]
    known = [_most(price) for price in found if price is not None]
    return float(max(known)) if known and len(known) == len(found) else None


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
