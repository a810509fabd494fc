"""The knowledge graph that the simulation builds in Zep Cloud: zep-cloud 3.x, measured by its contract server in the
tests.

A node of the graph is an agent's entity (their uuids are the same), its edges are facts. Nodes and edges are listed
once, page by page, because a free plan allows five requests a minute. An interview becomes an episode, added directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from enquete.memory.recall import TIMEOUT_S, MemoryFault, MemoryRecord
from enquete.memory.wire import ONCE, Waiting, Wire
from enquete.simulations.digest import Fact, Knowledge

PAGE, MOST_PAGES, LOOKED_BACK = 100, 2000, 200
PREFIX = "agent:"


class ZepCloudGraph:
    """One graph of Zep Cloud."""

    def __init__(
        self,
        graph_id: str,
        api_key: str,
        url: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        waiting: Waiting | None = None,
    ):
        """`url`: of another server than the library's own. Raises ImportError without the extra zep."""
        from zep_cloud.client import Zep  # noqa: PLC0415 - an extra, and slow to import

        self.name = f"zep-cloud/{graph_id}"
        self._graph_id = graph_id
        self._wire = Wire(api_key, timeout_s, waiting)
        named: dict[str, Any] = {"base_url": f"{url.rstrip('/')}/api/v2"} if url else {}
        self._zep = Zep(api_key=api_key, httpx_client=self._wire.client, timeout=timeout_s, **named)

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        with self._wire.talking("reading the graph"):  # a listing without ids is an answer that cannot be read
            return self._read(agents)

    def _read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        wanted = {who.removeprefix(PREFIX).casefold(): who for who in agents}
        graph = self._zep.graph
        summaries = {
            who: str(node.summary or "")
            for node in self._pages("nodes", graph.node.get_by_graph_id)
            if (who := wanted.get(node.uuid_.casefold()))
        }
        facts: dict[str, list[Fact]] = {who: [] for who in summaries}
        for edge in self._pages("edges", graph.edge.get_by_graph_id):
            if edge.expired_at or edge.invalid_at or not edge.fact:  # no longer true
                continue
            fact = Fact(id=edge.uuid_, text=" ".join(edge.fact.split()), at=str(edge.valid_at or edge.created_at or ""))
            for end in dict.fromkeys((edge.source_node_uuid, edge.target_node_uuid)):
                if who := wanted.get(str(end).casefold()):
                    facts.setdefault(who, []).append(fact)
        return {who: Knowledge(summary=summaries.get(who, ""), facts=tuple(found)) for who, found in facts.items()}

    def _pages(self, what: str, listing: Callable[..., list[Any]]) -> Iterator[Any]:
        cursor = ""
        for _ in range(MOST_PAGES):
            more = {"uuid_cursor": cursor} if cursor else {}
            page = self._wire.reading(f"reading {what}", lambda more=more: self._page(listing, more))  # type: ignore[misc]
            last = str(page[-1].uuid_) if page else ""
            yield from page
            if len(page) < PAGE or last == cursor:
                return
            cursor = last
        raise MemoryFault(f"reading {what}: more than {MOST_PAGES * PAGE:,}")

    def _page(self, listing: Callable[..., list[Any]], more: Mapping[str, str]) -> list[Any]:
        try:
            return listing(self._graph_id, limit=PAGE, request_options=ONCE, **more)
        except ValidationError as error:
            if error.errors()[0]["input"] is None:  # how a server written in Go spells a list without entries
                return []
            raise

    def write(self, record: MemoryRecord) -> None:
        with self._wire.talking("writing an episode"):
            self._zep.graph.add(
                data=record.text,
                type="text",
                graph_id=self._graph_id,
                source_description=source(record),
                request_options=ONCE,
            )

    def holds(self, record: MemoryRecord) -> bool:
        with self._wire.talking("reading episodes"):
            found = self._zep.graph.episode.get_by_graph_id(self._graph_id, lastn=LOOKED_BACK, request_options=ONCE)
            return any(one.source_description == source(record) for one in found.episodes or [])

    def close(self) -> None:
        self._wire.close()


def source(record: MemoryRecord) -> str:
    """By which an episode is known again."""
    return f"enquete {record.id}"
