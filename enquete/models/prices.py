"""What a model costs: one's own prices first, then the list that genai-prices brings along. Nothing is fetched.

Unknown stays unknown (None): a price is 0 only where somebody said so, where no model answers, or where
a local one does.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from platformdirs import user_config_dir

from enquete.models.price_file import PriceFile, read_price_file, server_of
from enquete.state.local_weights import LOCAL_URL

OPENAI_URL = "https://api.openai.com/v1"
"""The server where none is named."""
WITHOUT_MODEL = frozenset({"synthetic", "rule"})
"""What stands for a model where none is asked: the synthetic respondent (of a planted quality: `synthetic:…`), the rule-based
interviewer."""

_LOCAL_NAMES = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `source`: where they come from, for people to read. `cached`: of input that the server had
    read before; None: no less than any other."""

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

    def __init__(self, own: PriceFile | None = None, name: str = "", *, batch: bool = False):
        """`name`: the own file's, for `Price.source`. `batch`: what requests cost in batches, half of what is listed."""
        self._own = own
        self._name = name
        self._batch = batch

    @classmethod
    def read(cls, own: Path | None, *, batch: bool = False) -> Prices:
        """With the file `own`, else the one in the user's configuration folder where there is one.

        Raises SettingsError naming file, line, field, bad value and what would be right.
        """
        path = own.expanduser() if own else default_price_file()
        if own is None and not path.is_file():
            return cls(batch=batch)
        return cls(read_price_file(path), path.name, batch=batch)

    def of(self, model: str, base_url: str | None) -> Price | None:
        """As `_alone` has it, or half of that in batches."""
        price = self._alone(model, base_url)
        if price is None or not self._batch:
            return price
        cached = None if price.cached is None else price.cached / 2
        return Price(price.input_per_mtok / 2, price.output_per_mtok / 2, f"{price.source}, half in batches", cached)

    def _alone(self, model: str, base_url: str | None) -> Price | None:
        """The price of `model` at the server (None: OpenAI's own), or None where it is unknown.

        Where a price depends on the length of the context or the time of day it is the upper one; where it changed on a
        date, today's. A server in one's own network costs what one's own file says, however well known the model.
        """
        if model.partition(":")[0] in WITHOUT_MODEL:
            return NO_MODEL
        if base_url == LOCAL_URL:
            return OWN_MACHINE
        server = server_of(base_url or OPENAI_URL)
        found = self._own.find(model, server) if self._own else None
        if found:
            entry, place = found
            return Price(entry.input, entry.output, f"{self._name}: {place}", entry.cached)
        if server is None or is_local(server.host):
            return None
        from enquete.models.price_list import listed  # noqa: PLC0415 - the list takes half a second to import

        found_there = listed(model, server)
        return Price(*found_there) if found_there else None


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
