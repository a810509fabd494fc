"""Prices: one's own before the bundled list, unknown stays unknown, and a bad file says what is wrong where."""

from __future__ import annotations

import re
import socket
import sys
from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path

import genai_prices
import pytest
from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Tier,
    TieredPrices,
    TimeOfDateConstraint,
)
from hypothesis import given
from hypothesis import strategies as st

from enquete.models.prices import NO_MODEL, Price, Prices, _upper, cost, is_local
from enquete.state.errors import SettingsError

BUNDLED = Prices()
OPENAI = "https://api.openai.com/v1"
OWN = """\
models:
  gpt-4o: {input: 1, output: 2}
  "my-*": {input: 0.5, output: 1.5}
  "my-org/*": {input: 7, output: 7}     # never reached: "my-*" fits first
servers:
  localhost:
    "*": {input: 0, output: 0}
  http://gpu.example.org:8080/team/v1:
    gpt-4o: {input: 0.1, output: 0.2}
  "*.gateway.example":
    gpt-4o: {input: 3, output: 4}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "prices.yaml"
    path.write_text(text, "utf-8")
    return path


def read(folder: Path, text: str) -> Prices:
    return Prices.read(write(folder, text))


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        read(folder, text)
    assert "instrument" not in str(caught.value)
    return str(caught.value).replace(str(folder / "prices.yaml"), "prices.yaml")


def listed(model: str, **usage: int) -> float:
    """The oracle: what genai-prices itself charges at OpenAI."""
    return float(genai_prices.calc_price(genai_prices.Usage(**usage), model, provider_id="openai").total_price)


# --- the bundled list ------------------------------------------------------------------------------------------------


def test_a_well_known_model_costs_what_genai_prices_charges_cached_or_not() -> None:
    price = BUNDLED.of("gpt-4o-mini", OPENAI)
    assert price is not None
    assert cost(price, 1000, 500) == pytest.approx(listed("gpt-4o-mini", input_tokens=1000, output_tokens=500))
    assert price.source == f"genai-prices {genai_prices.__version__}: openai/gpt-4o-mini"
    assert BUNDLED.of("gpt-4o-mini", None) == price  # no server named: OpenAI's own
    assert BUNDLED.of("gpt-4o-mini", "HTTPS://API.OpenAI.com/v1") == price
    price = BUNDLED.of("gpt-4o-mini", OPENAI)
    assert price is not None
    again = listed("gpt-4o-mini", input_tokens=1000, cache_read_tokens=1000)
    assert price.cached_per_mtok / 1000 == pytest.approx(again)
    assert 0 < price.cached_per_mtok < price.input_per_mtok
    assert Price(1.0, 2.0, "own").cached_per_mtok == 1.0


def test_the_server_decides_before_the_name_and_no_model_costs_nothing() -> None:
    # OpenRouter lists the model under its own name; OpenAI does not know it by that one.
    routed = BUNDLED.of("openai/gpt-4o", "https://openrouter.ai/api/v1")
    assert routed is not None
    assert ": openrouter/" in routed.source
    assert BUNDLED.of("no-such-model", OPENAI) is None
    assert BUNDLED.of("claude-haiku-4-5", OPENAI) is None  # well known, but not sold there
    for model in ("synthetic", "rule"):
        assert BUNDLED.of(model, OPENAI) == BUNDLED.of(model, None) == NO_MODEL == Price(0, 0, "no model")
    assert not any(map(is_local, ("api.openai.com", "8.8.8.8", "local.example.org", "localhost.example.com")))


@pytest.mark.parametrize("model", ["gpt-4o", "openai/gpt-4o"])
def test_at_an_unknown_host_the_name_decides_and_the_source_says_so(model: str) -> None:
    price = BUNDLED.of(model, "https://llm.university.example/v1")
    assert price is not None
    assert cost(price, 10**6, 0) == pytest.approx(listed("gpt-4o", input_tokens=10**6))
    assert price.source.endswith("by the model's name (llm.university.example has no known prices)")
    assert BUNDLED.of("qwen-of-our-own", "https://llm.university.example/v1") is None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/v1",
        "http://127.0.0.1/v1",
        "http://[::1]:8080/v1",
        "http://[::ffff:192.168.0.4]/v1",
        "http://10.1.2.3:8000/v1",
        "http://100.64.0.1/v1",  # carrier-grade NAT, as used by overlay networks
        "http://169.254.1.1/v1",
        "http://workstation.local:1234/v1",
        "http://host.docker.internal:11434/v1",
        "http://ollama:11434/v1",  # a name without a dot is never public
        "no url at all",
        "http://[::1/v1",
    ],
)
def test_a_local_server_is_unknown_however_well_known_the_model(url: str) -> None:
    assert BUNDLED.of("gpt-4o", url) is None


@given(st.ip_addresses(v=4))
def test_an_address_is_local_unless_it_is_public(address: object) -> None:
    assert is_local(str(address)) == (not getattr(address, "is_global"))  # noqa: B009  # hypothesis leaves it untyped


@pytest.mark.parametrize(
    ("model", "url", "why"),
    [
        ("text-embedding-3-small", OPENAI, "has no price of output"),
        ("sonar", "https://api.perplexity.ai", "charges every request as well"),
        ("meta-llama/llama-3.3-70b-instruct:free", "https://openrouter.ai/api/v1", "no prices listed: not 0"),
    ],
)
def test_what_cannot_be_told_per_token_is_unknown(model: str, url: str, why: str) -> None:
    assert BUNDLED.of(model, url) is None, why


def test_the_dearer_context_length_hour_and_thinking_count() -> None:
    # gemini-2.5-pro has two prices by length of the prompt; the oracle charges the long one from 200,001 tokens on.
    price = BUNDLED.of("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai")
    assert price is not None
    usage = genai_prices.Usage(input_tokens=300_000, output_tokens=1000)
    oracle = genai_prices.calc_price(usage, "gemini-2.5-pro", provider_id="google")
    assert cost(price, 300_000, 1000) == pytest.approx(float(oracle.total_price))
    assert price.source.endswith("google/gemini-2.5-pro, upper price")
    # By hand: 3 and 9 within the night window, 4 and 6 outside; upper of each: 4 and 9, at any hour.
    night = TimeOfDateConstraint(time(23, tzinfo=UTC), time(5))
    inside = ModelPrice(input_mtok=Decimal(3), output_mtok=TieredPrices(Decimal(5), [Tier(9, Decimal(9))]))
    outside = ModelPrice(input_mtok=Decimal(4), output_mtok=Decimal(6))
    info = ModelInfo(
        "m", ClauseEquals("m"), prices=[ConditionalPrice(prices=outside), ConditionalPrice(night, prices=inside)]
    )
    for hour in range(24):
        assert _upper(info, datetime(2026, 3, 1, hour, 30, tzinfo=UTC)) == (4, 9, True)
    prices = ModelPrice(input_mtok=Decimal(1), output_mtok=Decimal(2), output_reasoning_mtok=Decimal(5))
    info = ModelInfo("m", ClauseEquals("m"), prices=prices)
    assert _upper(info, datetime(2026, 3, 1, tzinfo=UTC)) == (1, 5, True)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to open a connection would raise."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert Prices().of("gpt-4o", OPENAI) is not None
    assert Prices().of("gpt-4o", "https://llm.university.example/v1") is not None


@given(st.floats(0, 1e3), st.floats(0, 1e3), st.integers(0, 10**9), st.integers(0, 10**9))
def test_cost_is_additive_and_never_negative(read: float, written: float, i: int, o: int) -> None:
    price = Price(read, written, "")
    assert cost(price, i, o) == pytest.approx(cost(price, i, 0) + cost(price, 0, o))
    assert cost(price, i, o) >= 0


def test_cost_by_hand() -> None:
    """2 million at 0.25 and half a million at 4: 0.5 + 2."""
    assert cost(Price(0.25, 4, ""), 2_000_000, 500_000) == 2.5


# --- one's own file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "url", "price"),
    [
        ("gpt-4o", OPENAI, Price(1, 2, "prices.yaml: models.gpt-4o")),
        ("my-org/large", OPENAI, Price(0.5, 1.5, "prices.yaml: models.my-*")),
        ("My-Model", "http://10.0.0.1/v1", Price(0.5, 1.5, "prices.yaml: models.my-*")),
        ("gpt-4o", "http://localhost:8080/v1", Price(0, 0, "prices.yaml: servers.localhost.*")),
        ("gpt-4o", "http://gpu.example.org:8080/team/v1/",
         Price(0.1, 0.2, "prices.yaml: servers.http://gpu.example.org:8080/team/v1.gpt-4o")),
        ("gpt-4o", "http://gpu.example.org:8080/team/v12", Price(1, 2, "prices.yaml: models.gpt-4o")),
        ("gpt-4o", "http://gpu.example.org/team/v1", Price(1, 2, "prices.yaml: models.gpt-4o")),
        ("gpt-4o", "https://eu.gateway.example/v1", Price(3, 4, "prices.yaml: servers.*.gateway.example.gpt-4o")),
        ("other", "http://10.0.0.1/v1", None),
        ("synthetic", "http://localhost:8080/v1", NO_MODEL),
    ],
)  # fmt: skip
def test_own_prices_by_server_then_name_then_pattern(tmp_path: Path, model: str, url: str, price: Price | None) -> None:
    assert read(tmp_path, OWN).of(model, url) == price


def test_what_the_own_file_leaves_out_comes_from_the_list(tmp_path: Path) -> None:
    assert read(tmp_path, OWN).of("gpt-4o-mini", OPENAI) == BUNDLED.of("gpt-4o-mini", OPENAI)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("models:\n  m: {input: -1, output: 2}", r"prices\.yaml:2: models\.m\.input: is -1: write US dollars per mill"),
        ("models:\n  m: {input: 1, output: .inf}", r"prices\.yaml:2: .*no finite number"),
        ("models:\n  m: {input: yes, output: 1}", r"prices\.yaml:2: models\.m\.input: is true: write US dollars"),
        ("models:\n  m: {input: $1, output: 1}", r"prices\.yaml:2: models\.m\.input: is '\$1': write US dollars"),
        ("models:\n  m: {input: 1}", r"prices\.yaml:2: models\.m\.output: is missing"),
        ("models:\n  m: {inputs: 1, output: 1}", r"inputs: is no known key; did you mean 'input'"),
        ("models:\n  m: 0.5", r"prices\.yaml:2: models\.m: is 0\.5; write a mapping"),
        ("models:\n  m: {input: 1, output: 1}\n  m: {input: 2, output: 2}", r"prices\.yaml:3: .*stands twice.*line 2"),
        ("model:\n  m: {input: 1, output: 1}", r"prices\.yaml:1: model: is no known key; did you mean 'models'"),
        ("servers:\n  ftp://x:\n    m: {input: 1, output: 1}", r"prices\.yaml:2: servers.*'ftp://x'.*write a base URL"),
        ("servers:\n  http://u:secret@h/v1: 1", r"^prices\.yaml:2: servers: …@h/v1: .*without user or password$"),
        ("servers:\n  localhost: {input: 1, output: 1}", r"servers\.localhost\.input: is 1; write a mapping"),
        ("- a", r"prices\.yaml:1: a list; write, for example, `models:"),
        ("# nothing yet", r"prices\.yaml: the file is empty; write, for example, `models:"),
        ("models: [", r"prices\.yaml:\d: no valid YAML"),
    ],
)
def test_a_bad_file_says_where_what_and_what_would_be_right(tmp_path: Path, text: str, expected: str) -> None:
    assert re.search(expected, complaint(tmp_path, text))


def test_every_problem_is_told_at_once_and_a_file_that_cannot_be_read_names_itself(tmp_path: Path) -> None:
    told = complaint(tmp_path, "models:\n  a: {input: -1, output: 1}\n  b: {input: .inf, output: 1}\n  c: {output: x}")
    lines = [int(line.split(":")[1]) for line in told.splitlines()]
    assert lines == [2, 3, 4, 4]
    with pytest.raises(
        SettingsError, match=r"none\.yaml: the price file cannot be read \(No such file.*ENQUETE_PRICES"
    ):
        Prices.read(tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match="cannot be read"):
        Prices.read(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"models: {\xe4: {input: 1, output: 1}}")
    with pytest.raises(SettingsError, match=r"latin\.yaml:1: byte 0xe4 is no UTF-8"):
        Prices.read(tmp_path / "latin.yaml")


@given(price=st.floats(min_value=0, max_value=1e9) | st.integers(0, 10**9))
def test_any_price_from_zero_on_is_read_back(tmp_path_factory: pytest.TempPathFactory, price: float) -> None:
    text = f"models: {{m: {{input: {price!r}, output: 0}}}}" if isinstance(price, int) else None
    text = text or f"models: {{m: {{input: {price:.12f}, output: 0}}}}"
    read_price = read(tmp_path_factory.mktemp("p"), text).of("m", None)
    assert read_price is not None
    assert read_price.input_per_mtok == pytest.approx(price, abs=1e-9)


@pytest.mark.skipif(sys.platform != "linux", reason="the configuration folder is moved by XDG_CONFIG_HOME on Linux")
def test_the_file_in_the_configuration_folder_is_read_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Prices.read(None).of("mine", None) is None
    (tmp_path / "enquete").mkdir()
    write(tmp_path / "enquete", "models: {mine: {input: 1, output: 2}}")
    assert Prices.read(None).of("mine", None) == Price(1, 2, "prices.yaml: models.mine")
    assert read(tmp_path, "models: {other: {input: 1, output: 2}}").of("mine", None) is None


def test_the_example_of_the_docs_does_what_the_docs_say(tmp_path: Path, root: Path) -> None:
    text = (root / "docs" / "budget.md").read_text("utf-8")
    match = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert match
    prices = read(tmp_path, match[1])
    rows = re.findall(r"^\| `([^`]+)` at `([^`]+)` \| (\S+) \| (\S+) \|", text, re.MULTILINE)
    assert len(rows) == 5
    for model, url, read_at, written_at in rows:
        price = prices.of(model, url)
        assert (price and [price.input_per_mtok, price.output_per_mtok]) == (
            None if read_at == "unknown" else [float(read_at), float(written_at)]
        ), model
