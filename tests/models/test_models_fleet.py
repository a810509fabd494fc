"""Several servers of one model, over real HTTP: who is asked where, and what becomes of it when a server goes and
returns."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from enquete.models.cache import request_key
from enquete.models.chat_completions import ModelResponse
from enquete.models.faults import Unavailable, servers_in, shown_url
from enquete.models.prices import Prices
from enquete.models.servers import Limiter, health_of
from enquete.models.transport import Fleet, Transport, score
from enquete.state.errors import InputError, ModelUnavailable, SettingsError
from tests.models.test_models_transport import KEY, prompt
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys, personas, rows, run_folder, spent, stored_answers

pytestmark = pytest.mark.anyio

AGENTS = [f"agent:{n}" for n in range(24)]
WEIGHTS = {"http://a/v1": 2.0, "http://b/v1": 1.0, "http://c/v1": 1.0}
CLOSED = "http://127.0.0.1:9/v1"  # discard: nobody listens there


@pytest.fixture
def servers() -> Iterator[list[ModelServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ModelServer()) for _ in range(3)]


def fleet_of(servers: Sequence[ModelServer], patience_s: float = 10) -> Fleet:
    options: Any = {"limiter": Limiter(16), "timeout_s": 5, "backoff_s": 0.01, "patience_s": patience_s}
    return Fleet([(Transport(server.base_url, SecretStr(KEY), **options), 1.0) for server in servers])


async def attempt(fleet: Fleet, agent: str, question: str) -> ModelResponse | Unavailable:
    try:
        return await fleet.send(prompt(f"{agent}: {question}"), model="m", temperature=0, seed=0, agent=agent)
    except Unavailable as error:
        return error


async def everybody(fleet: Fleet, question: str, agents: Sequence[str] = AGENTS) -> list[ModelResponse | Unavailable]:
    return await asyncio.gather(*(attempt(fleet, agent, question) for agent in agents))


def asked(servers: Sequence[ModelServer], question: str) -> dict[str, list[int]]:
    """At which servers each agent's question arrived."""
    places = defaultdict(list)
    for place, server in enumerate(servers):
        for request in list(server.requests):
            agent, _, text = request.body["messages"][-1]["content"].partition(": ")
            if text.startswith(question):
                places[agent].append(place)
    return dict(places)


def homes(fleet: Fleet, servers: Sequence[ModelServer]) -> dict[str, list[int]]:
    """Each agent's servers, in its order."""
    place = {server.base_url: number for number, server in enumerate(servers)}
    return {agent: [place[transport.base_url] for transport in fleet.order(agent)] for agent in AGENTS}


def best(weights: dict[str, float], agent: str) -> str:
    return max(weights, key=lambda url: score(url, weights[url], agent))


# --- who is asked where -----------------------------------------------------------------------------------------------


def test_shares_are_as_the_weights_in_every_process_and_a_lost_server_moves_its_own_agents_alone() -> None:
    # Binomial: of 4,000 agents a half, standard deviation 32, and a quarter, 27. Of the lost one's 2,000 each of the
    # others, of equal weight, takes a half: deviation 22. Five deviations are allowed; the draw is fixed.
    agents = [f"agent:{n}" for n in range(4000)]
    before = {agent: best(WEIGHTS, agent) for agent in agents}
    counted = Counter(before.values())
    assert abs(counted["http://a/v1"] - 2000) < 5 * 32
    assert abs(counted["http://b/v1"] - 1000) < 5 * 27
    left = {url: weight for url, weight in WEIGHTS.items() if url != "http://a/v1"}
    after = {agent: best(left, agent) for agent in agents}
    assert all(after[agent] == url for agent, url in before.items() if url in left)
    moved = Counter(after[agent] for agent, url in before.items() if url not in left)
    assert abs(moved["http://b/v1"] - counted["http://a/v1"] / 2) < 5 * 22
    # By hand: BLAKE2b of URL, a zero byte and agent, as a fraction of 2**64; weight over its negative logarithm.
    assert "".join(best(WEIGHTS, f"agent:{n}")[7] for n in range(12)) == "acbaacacacaa"


async def test_an_agent_stays_with_its_server(servers: list[ModelServer]) -> None:
    fleet = fleet_of(servers)
    for question in ("first", "second", "third"):
        await everybody(fleet, question)
        home = {agent: order[:1] for agent, order in homes(fleet, servers).items()}
        assert asked(servers, question) == home
    await fleet.aclose()
    assert {server.count() > 0 for server in servers} == {True}


# --- servers that go and return ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("patience_s", [10, 0])
async def test_one_that_is_away_is_left_out_and_taken_back(
    servers: list[ModelServer], caplog: pytest.LogCaptureFixture, patience_s: float
) -> None:
    fleet = fleet_of(servers, patience_s)
    order = homes(fleet, servers)
    await everybody(fleet, "before")
    servers[0].vanish()
    answers = await everybody(fleet, "during") + await everybody(fleet, "again")
    assert not any(isinstance(answer, Unavailable) for answer in answers)
    assert fleet.waits_for == ""
    for question in ("during", "again"):
        there = {agent: [next(place for place in places if place != 0)] for agent, places in order.items()}
        assert asked(servers, question) == there
    servers[0].come_back()
    before = servers[0].count()
    for n in range(200):
        await everybody(fleet, f"returning {n}")
        if servers[0].count() > before:
            break
        await asyncio.sleep(0.05)
    await everybody(fleet, "after")
    assert asked(servers, "after") == {agent: places[:1] for agent, places in order.items()}
    await fleet.aclose()
    told = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert [re.sub(r"\(.*\)", "(…)", message) for message in told] == [
        f"The model server {servers[0].base_url} could not be reached (…). Its agents are asked at the others until it "
        f"is back.",
        f"The model server {servers[0].base_url} is back.",
    ]


@pytest.mark.parametrize("fault", ["http_500", "timeout"])
async def test_one_that_is_open_but_broken_is_left_out_too(servers: list[ModelServer], fault: str) -> None:
    servers[0].faults = {fault: 1.0}
    fleet = fleet_of(servers)
    for transport in fleet.order(AGENTS[0]):
        transport.timeout_s = 0.3
    answers = await everybody(fleet, "broken")
    assert not any(isinstance(answer, Unavailable) for answer in answers)
    await fleet.aclose()
    assert health_of(servers[0].base_url).away


def test_all_are_waited_for_until_the_first_is_back(servers: list[ModelServer]) -> None:
    """Whoever is back takes everybody, also those who had waited elsewhere."""

    async def main() -> list[ModelResponse | Unavailable]:
        fleet = fleet_of(servers)
        waiting = asyncio.create_task(everybody(fleet, "anybody"))
        while not fleet.waits_for:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        assert "is waited for" in fleet.waits_for
        servers[1].come_back()
        answers = await waiting
        await fleet.aclose()
        return answers

    for server in servers:
        server.vanish()
    answers = asyncio.run(main())
    assert not any(isinstance(answer, Unavailable) for answer in answers)
    assert [server.count() for server in servers] == [0, len(AGENTS), 0]


def test_all_away_for_longer_than_patience_is_an_outage(servers: list[ModelServer]) -> None:
    for server in servers:
        server.vanish()

    async def main() -> list[ModelResponse | Unavailable]:
        fleet = fleet_of(servers, patience_s=0.5)
        try:
            return await everybody(fleet, "nobody", AGENTS[:6])
        finally:
            await fleet.aclose()

    assert [isinstance(answer, Unavailable) and answer.outage for answer in asyncio.run(main())] == [True] * 6


async def test_later_holds_for_the_server_that_said_it(servers: list[ModelServer]) -> None:
    servers[0].faults = {"http_429": 1.0}
    fleet = fleet_of(servers)
    home = {agent: places[0] for agent, places in homes(fleet, servers).items()}
    held = asyncio.create_task(everybody(fleet, "held", [agent for agent in AGENTS if home[agent] == 0]))
    while not servers[0].count():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    answers = await everybody(fleet, "free", [agent for agent in AGENTS if home[agent] != 0])
    assert not any(isinstance(answer, Unavailable) for answer in answers)
    assert not held.done()
    servers[0].faults.clear()
    assert not any(isinstance(answer, Unavailable) for answer in await held)
    await fleet.aclose()
    assert {place for places in asked(servers, "held").values() for place in places} == {0}


# --- whole runs -------------------------------------------------------------------------------------------------------

PEOPLE = 10


def url_of(servers: Sequence[ModelServer]) -> str:
    return ",".join(f"{server.base_url}={weight}" for server, weight in zip(servers, (2, 1, 1), strict=True))


def study(out: Path, url: str, **more: Any) -> dict[str, Any]:
    return {"base_url": url, "model": "m", "methods": ["delphi"], "concurrency": 6, "out": str(out), **more}


def by_person(servers: Sequence[ModelServer]) -> dict[str, set[int]]:
    """At which servers each person was asked, by the number in the persona."""
    places = defaultdict(set)
    for place, server in enumerate(servers):
        for request in list(server.requests):
            if number := re.search(r"Nr\. (\d+), lebt", request.body["messages"][0]["content"]):
                places[number[1]].add(place)
    return dict(places)


def test_a_run_survives_one_of_its_servers(tmp_path: Path) -> None:
    people = personas(tmp_path, PEOPLE)
    with ExitStack() as stack:
        for drawn in count():  # an agent's server follows from the ports: one in nine times a server has nobody
            servers = [stack.enter_context(ModelServer(latency=0.01)) for _ in range(3)]
            bare_runs.interview(people, **study(tmp_path / f"fleet{drawn}", url_of(servers)))
            used = by_person(servers)
            if set.union(*used.values()) == {0, 1, 2}:
                break
        undisturbed = stored_answers(run_folder(tmp_path / f"fleet{drawn}"))
        assert len(used) == PEOPLE
        assert all(len(places) == 1 for places in used.values())
        for server in servers:
            server.requests.clear()
        bare_runs.interview(people, **study(tmp_path / "single", servers[1].base_url))
        assert stored_answers(run_folder(tmp_path / "single")) == undisturbed
        servers[1].requests.clear()

        # Each agent is asked in three rounds: it leaves in the second, and all of its agents have one to go.
        servers[0].vanish(after=1 + sum(places == {0} for places in used.values()))
        run = bare_runs.interview(people, **study(tmp_path / "struck", url_of(servers)))
        folder = run_folder(tmp_path / "struck")
        assert run.status == "completed"
        assert stored_answers(folder) == undisturbed
        assert all(by_person(servers)[who] == places for who, places in used.items() if places != {0})
        moved = [by_person(servers)[who] for who, places in used.items() if places == {0}]
        assert all(places - {0} for places in moved)
        calls, requests = call_keys(folder), sum(server.count() for server in servers)
        assert requests - len(calls) <= 6  # those in flight there
        ((counted,),) = rows(folder, "SELECT sum(value) FROM counters WHERE name='tokens'")
        assert counted == spent(folder)
        assert rows(folder, "SELECT count(*) FROM calls WHERE status<>'settled'") == [(0,)]


def test_one_that_is_not_there_at_the_beginning_is_told_about_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    people = personas(tmp_path, 6)
    with ModelServer() as server:
        run = bare_runs.interview(people, **study(tmp_path, f"{CLOSED},{server.base_url}"))
        assert run.status == "completed"
        assert server.count() == len(call_keys(run_folder(tmp_path)))
    assert f"The model server {CLOSED} could not be reached" in caplog.text
    assert "Its agents are asked at the others" in caplog.text
    with pytest.raises(ModelUnavailable, match="Nothing was asked"):
        bare_runs.interview(people, **study(tmp_path / "none", f"{CLOSED},http://127.0.0.1:7/v1"))


# --- what is written --------------------------------------------------------------------------------------------------


def test_weights_are_read_batches_go_to_one_server_and_a_fleet_costs_what_its_dearest_takes(tmp_path: Path) -> None:
    assert servers_in(" https://a/v1/ = 2.5, https://b:8080/v1") == {"https://a/v1": 2.5, "https://b:8080/v1": 1.0}
    assert servers_in("https://a/k=v/v1/") == {"https://a/k=v/v1": 1.0}

    def key(url: str) -> str:
        return request_key(prompt(), base_url=url, model="m", temperature=0, seed=0)

    assert key("https://a/v1=3,https://b/v1") == key("https://a/v1,https://b/v1/") != key("https://a/v1")
    with pytest.raises(InputError, match="a batch is ordered from one server"):
        bare_runs.interview(personas(tmp_path, 2), **study(tmp_path, "http://a/v1,http://b/v1", batch=True))
    assert not (tmp_path / "runs").exists()
    written = tmp_path / "prices.yaml"
    written.write_text("servers: {a: {m: {input: 1, output: 4}}, b: {m: {input: 2, output: 3}}}\n", "utf-8")
    price = Prices.read(written).of("m", "http://a/v1=2,http://b/v1")
    assert price is not None
    assert (price.input_per_mtok, price.output_per_mtok) == (2, 4)
    assert Prices.read(written).of("m", "http://a/v1,http://c/v1") is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://a/v1=0,http://b/v1", r"'0' is no weight of 'http://a/v1'.*above 0"),
        ("http://a/v1,http://b/v1=-1", r"'-1' is no weight of 'http://b/v1'"),
        ("http://a/v1=much,http://b/v1", r"'much' is no weight"),
        ("http://a/v1=inf,http://b/v1", r"'inf' is no weight"),
        ("http://a/v1=2,http://a/v1/", r"names 'http://a/v1' twice"),
        ("http://a/v1,b:8080/v1", r"is no base URL.*several as"),
        ("http://a/v1,ftp://b/v1", r"'ftp://b/v1' is no base URL"),
        ("http://[::1", r"is no base URL"),
        ("http://a/v1,http://me:hush,hush@b/v1", r"'http://b/v1' is no base URL.*without user, password"),
        ("http://a/v1,me:hush@b/v1", r"'http://a/…' is no base URL"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_servers_is_refused_before_anything_is_begun(tmp_path: Path, url: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as told:
        bare_runs.interview(personas(tmp_path, 2), **study(tmp_path, url))
    assert "hush" not in str(told.value) + shown_url(url)
    assert not (tmp_path / "runs").exists()
