"""Both Zep clients against their contract servers, over real HTTP: paging, 404, 429, 500, silence, and lost answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from enquete.memory.recall import Graph, LocalMemory, MemoryFault, MemoryRecord, deliver
from enquete.memory.zep import PAGE, Waiting, ZepCloudGraph, ZepSessions, seconds
from tests.support.episodes import write_episodes
from tests.support.zep_server import AT, KEY, MANY, ZepServer, edge, node

MARIE = "agent:u1"
SOON_S = 0.3


@pytest.fixture
def server() -> Iterator[ZepServer]:
    with ZepServer() as running:
        yield running


def connected(kind: str, server: ZepServer, timeout_s: float = 20, waiting: Waiting | None = None) -> Graph:
    if kind == "zep-cloud":
        return ZepCloudGraph("g1", KEY, server.url, timeout_s=timeout_s, waiting=waiting)
    return ZepSessions("sim_1", KEY, server.url, timeout_s=timeout_s, waiting=waiting)


@pytest.fixture(params=["zep-cloud", "zep"])
def graph(request: pytest.FixtureRequest, server: ZepServer) -> Iterator[Graph]:
    made = connected(request.param, server)
    yield made
    made.close()


@pytest.fixture
def impatient(graph: Graph, server: ZepServer) -> Iterator[Graph]:
    """The same, for requests that get no answer."""
    made = connected(graph.name.split("/")[0], server, SOON_S)
    yield made
    made.close()


def episodes(server: ZepServer) -> list[str]:
    return [
        episode["content"] for episode in (*server.episodes, *(m for all_ in server.messages.values() for m in all_))
    ]


def posting(graph: Graph) -> str:
    return "POST /graph" if graph.name.startswith("zep-cloud") else "POST /sessions"


def reading(graph: Graph) -> str:
    return "POST /graph/node" if graph.name.startswith("zep-cloud") else "GET /sessions"


def record_of(number: int) -> MemoryRecord:
    return MemoryRecord(
        id=f"r/{number}", kind="interview", text=f"Agent Marie: {number}", sim_id="sim_1", run_id="r",
        participant=MARIE, agent_name="Marie",
    )  # fmt: skip


class TestReading:
    def test_a_graph_is_listed_once_page_by_page(self, server: ZepServer) -> None:
        many = [node(f"n{i:04}", f"Somebody {i}", "") for i in range(PAGE + 20)]
        server.lists["node"] = [*many, node("U1", "Marie", "Fishes off Langeland.")]
        server.lists["edge"] = [
            *(edge(f"x{i}", "n0001", "n0002", f"other {i}") for i in range(PAGE)),
            edge("e1", "u1", "n0001", "Marie sold  her boat.", "2026-05-02T00:00:00Z"),
            edge("e2", "n0001", "u1", "The ministry wrote to Marie."),
            edge("e3", "u1", "u1", "Marie owns a boat.", expired_at=AT),
        ]
        graph = ZepCloudGraph("g1", KEY, server.url)
        known = graph.read([MARIE, "agent:u2"])
        assert list(known) == [MARIE]
        assert known[MARIE].summary == "Fishes off Langeland."
        assert [(fact.id, fact.text) for fact in known[MARIE].facts] == [
            ("e1", "Marie sold her boat."), ("e2", "The ministry wrote to Marie."),
        ]  # fmt: skip
        assert len(server.requests) == 4  # two pages each, however many agents
        graph.close()

    def test_a_session_is_an_agent_in_a_simulation(self, server: ZepServer) -> None:
        fact = {"uuid": "f1", "fact": "Marie fears for her licence.", "rating": 0.8, "created_at": AT}
        server.knows["sim_1-agent-u1"] = {"summary": {"content": "A skipper."}, "relevant_facts": [fact]}
        graph = ZepSessions("sim_1", KEY, server.url)
        known = graph.read([MARIE, "agent:u2"])  # the second has no session: 404
        assert {who: (knowledge.summary, [f.text for f in knowledge.facts]) for who, knowledge in known.items()} == {
            MARIE: ("A skipper.", ["Marie fears for her licence."])
        }
        graph.close()

    @pytest.mark.parametrize(
        ("fault", "told"), [(429, "429 Rate limit"), ("echo", "500.*Api-Key …"), ("slow", "ReadTimeout")]
    )
    def test_what_cannot_be_read_is_one_fault(
        self, server: ZepServer, graph: Graph, impatient: Graph, fault: int | str, told: str
    ) -> None:
        server.next(reading(graph), fault)
        with pytest.raises(MemoryFault, match=told) as raised:
            (impatient if fault == "slow" else graph).read([MARIE])
        assert raised.value.wait_s == (60 if fault == 429 else None)
        assert KEY not in str(raised.value)
        assert len(server.requests) == 1  # the libraries' own retries are off

    @pytest.mark.parametrize("kind", ["zep-cloud", "zep"])
    def test_a_429_while_a_graph_is_read_is_waited_for_and_the_page_asked_for_again(
        self, server: ZepServer, kind: str
    ) -> None:
        """On the second of two pages, and for a session; what was read before it is not read again."""
        server.lists["node"] = [node(f"n{i:04}", f"Somebody {i}", "") for i in range(PAGE)]
        server.lists["node"].append(node("u1", "Marie", "Fishes off Langeland."))
        server.knows["sim_1-agent-u1"] = {"summary": {"content": "Fishes off Langeland."}}
        server.retry_after = "60"
        waits: list[float] = []
        graph = connected(kind, server, waiting=Waiting(100, waits.append, clock=lambda: 0.0))
        if kind == "zep-cloud":
            server.next("POST /graph/node", 0, 429)
        else:
            server.next("GET /sessions", 429)
        assert graph.read([MARIE])[MARIE].summary == "Fishes off Langeland."
        assert waits == [60]
        assert len(server.requests) == {"zep-cloud": 4, "zep": 2}[kind]  # two pages, one of them twice, and the edges
        graph.close()

    def test_no_more_is_waited_than_the_patience_that_is_left(self, server: ZepServer, graph: Graph) -> None:
        """Threads that are told to wait at once wait once."""
        waits: list[float] = []
        now = iter([0.0, 0.0, 30.0, 60.0])
        waiting = Waiting(100, waits.append, clock=lambda: next(now))
        told = MemoryFault("429", wait_s=60)
        assert [waiting.spent_on(told) for _ in range(4)] == [True, True, True, False]
        assert waits == [60, 60, 60]  # until 60, until 60, until 90: ten seconds are left, and 30 are asked for
        assert not Waiting(100, waits.append).spent_on(MemoryFault("500"))
        server.next(reading(graph), 429)
        with pytest.raises(MemoryFault, match="429"):
            connected(graph.name.split("/")[0], server, waiting=Waiting(59, waits.append)).read([MARIE])
        assert len(waits) == 3

    @pytest.mark.parametrize("nothing", [[], None], ids=["[]", "null"])
    def test_an_empty_graph_knows_nobody(self, server: ZepServer, graph: Graph, nothing: list[object] | None) -> None:
        """Cloud's server is written in Go, where a list without entries may come as null."""
        server.lists = {"node": nothing, "edge": nothing}
        server.knows["sim_1-agent-u2"] = {"messages": nothing, "relevant_facts": nothing, "summary": None}
        known = graph.read([MARIE, "agent:u2"])
        assert not any(knowledge.summary or knowledge.facts for knowledge in known.values())
        assert not graph.holds(record_of(1))

    def test_a_list_that_ends_with_a_full_page_is_asked_for_once_more(self, server: ZepServer) -> None:
        server.lists["node"] = [node(f"n{i:04}", f"Somebody {i}", "") for i in range(PAGE - 1)]
        server.lists["node"].append(node("u1", "Marie", "Last of the page."))
        graph = ZepCloudGraph("g1", KEY, server.url)
        assert graph.read([MARIE])[MARIE].summary == "Last of the page."
        assert [request for request in server.requests if "node" in request] == ["POST /graph/node/graph/g1"] * 2
        graph.close()

    def test_a_graph_that_is_not_there(self, server: ZepServer) -> None:
        graph = ZepCloudGraph("another", KEY, server.url)
        with pytest.raises(MemoryFault, match="404"):
            graph.read([MARIE])
        graph.close()


class TestWriting:
    def test_each_episode_once_in_order_over_deliveries(self, server: ZepServer, graph: Graph, tmp_path: Path) -> None:
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1), record_of(2))
            assert deliver(memory, graph, patience_s=0).sent == 2
            write_episodes(tmp_path, record_of(1), record_of(3))
            assert deliver(memory, graph, patience_s=0).sent == 1
        assert episodes(server) == ["Agent Marie: 1", "Agent Marie: 2", "Agent Marie: 3"]
        if graph.name.startswith("zep/"):
            assert server.sessions == {"sim_1-agent-u1": "agent-u1"}

    def test_an_episode_is_found_again_by_whoever_reads_the_graph(self, server: ZepServer, graph: Graph) -> None:
        """By the libraries' own clients, as the simulation's would."""
        graph.write(record_of(1))
        graph.write(record_of(2))
        assert [graph.holds(record_of(number)) for number in (1, 2, 3)] == [True, True, False]
        if graph.name.startswith("zep-cloud"):
            from zep_cloud.client import Zep as ZepCloud  # here: every worker collects every file

            stored = ZepCloud(api_key=KEY, base_url=f"{server.url}/api/v2").graph.episode.get_by_graph_id("g1", lastn=1)
            assert [(episode.content, episode.source_description) for episode in stored.episodes or []] == [
                ("Agent Marie: 2", "enquete r/2")
            ]
        else:
            from zep_python.client import Zep as ZepServerClient

            memory = ZepServerClient(api_key=KEY, base_url=server.url).memory.get("sim_1-agent-u1", lastn=1)
            assert [(message.content, message.role) for message in memory.messages or []] == [
                ("Agent Marie: 2", "Marie")
            ]

    def test_a_limit_is_waited_for_as_long_as_allowed(self, server: ZepServer, graph: Graph, tmp_path: Path) -> None:
        waits: list[float] = []
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1), record_of(2))
            server.next(posting(graph), 429, 429)
            server.retry_after = "7"
            first = deliver(memory, graph, patience_s=10, wait=waits.append)
            assert (waits, first.sent, [record.id for record in first.left]) == ([7], 0, ["r/1", "r/2"])
            assert "429" in first.why
            assert deliver(memory, graph, patience_s=0).sent == 2
        assert len(episodes(server)) == 2

    @pytest.mark.parametrize("fault", [500, "slow"])
    def test_a_server_that_is_away_stops_the_delivery(
        self, server: ZepServer, graph: Graph, impatient: Graph, tmp_path: Path, fault: int | str
    ) -> None:
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1), record_of(2))
            server.next(posting(graph), fault)
            first = deliver(memory, impatient if fault == "slow" else graph, patience_s=9)
            assert [record.id for record in first.left] == ["r/1", "r/2"]
            assert deliver(memory, graph, patience_s=0).sent == 2
        assert len(episodes(server)) == 2

    def test_no_more_time_is_taken_than_allowed(self, server: ZepServer, graph: Graph, tmp_path: Path) -> None:
        times = iter([0.0, 1.0, 61.0])
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1), record_of(2))
            done = deliver(memory, graph, patience_s=0, longest_s=60, clock=lambda: next(times))
        assert (done.sent, [record.id for record in done.left]) == (1, ["r/2"])
        assert done.why == "60 seconds were not enough"

    def test_an_answer_that_was_lost_makes_no_twin(
        self, server: ZepServer, graph: Graph, impatient: Graph, tmp_path: Path
    ) -> None:
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1))
            if graph.name.startswith("zep/"):
                graph.write(record_of(0))  # the session is there
            before = len(episodes(server))
            server.lost = True
            assert len(deliver(memory, impatient, patience_s=0).left) == 1
            assert deliver(memory, graph, patience_s=0).left == []
        assert len(episodes(server)) == before + 1

    def test_a_graph_that_cannot_be_asked_what_it_holds_makes_no_twin_later(
        self, server: ZepServer, graph: Graph, impatient: Graph, tmp_path: Path
    ) -> None:
        asking = "GET /graph" if graph.name.startswith("zep-cloud") else "GET /sessions"
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1))
            if graph.name.startswith("zep/"):
                graph.write(record_of(0))  # the session is there
            before = len(episodes(server))
            server.lost = True
            assert len(deliver(memory, impatient, patience_s=0).left) == 1
            server.next(asking, 429)
            assert "429" in deliver(memory, graph, patience_s=0).why
            assert deliver(memory, graph, patience_s=0).left == []
        assert len(episodes(server)) == before + 1

    def test_one_that_is_refused_does_not_stop_the_others(
        self, server: ZepServer, graph: Graph, tmp_path: Path
    ) -> None:
        with LocalMemory.opened(tmp_path) as memory:
            write_episodes(tmp_path, record_of(1), record_of(2))
            server.next(posting(graph), 422)
            done = deliver(memory, graph, patience_s=0)
        assert (done.sent, [record.id for record in done.left]) == (1, ["r/1"])
        assert "422" in done.why


def test_retry_after_is_seconds_or_a_date() -> None:
    assert seconds(" 60 ") == 60
    assert seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds("soon") is None


@pytest.mark.parametrize("fault", ["endless", "bomb"])
def test_a_body_beyond_any_answer_is_not_read_to_its_end(graph: Graph, server: ZepServer, fault: str) -> None:
    """32 MB, sent or unpacked; read are 8 MB, and what lies in buffers of sockets."""
    server.next(reading(graph), fault)
    with pytest.raises(MemoryFault, match="the server sent a body of more than 8 MB"):
        graph.read([MARIE])
    assert server.written < MANY * 2**20


def test_a_body_that_is_packed_twice_is_not_unpacked(graph: Graph, server: ZepServer) -> None:
    server.next(reading(graph), "twice")
    with pytest.raises(MemoryFault, match="packed more than once"):
        graph.read([MARIE])
