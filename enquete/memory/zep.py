"""Sessions of a Zep server of one's own: zep-python 2.x, measured by its contract server in the tests.

A user is an agent. A session belongs to one user and carries the simulation: one of each agent in each simulation. What
all agents said together belongs to a user of the simulation's own. zep-python knows memory, sessions and users, no
graph.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import partial
from time import monotonic, sleep, time
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from enquete.memory.recall import LEAST_WAIT_S, TIMEOUT_S, MemoryFault, MemoryRecord
from enquete.simulations.digest import Fact, Knowledge
from enquete.simulations.sources import clip, one_line

# --- What both Zep clients need: a connection that notes how long the server asks to wait, and their errors as one.

RATE_LIMIT_WAIT_S = 60.0
"""Where a 429 does not say how long."""
ONCE: Any = {"max_retries": 0}
"""The clients' own retries wait unseen and not as long as they are asked to."""
REFUSED = (400, 413, 422)
ResultT = TypeVar("ResultT")
log = logging.getLogger("enquete")


class Waiting:
    """How long a reading waits in all where its server asks for it: threads that wait at once wait once."""

    def __init__(
        self, patience_s: float = 0.0, wait: Callable[[float], object] = sleep, clock: Callable[[], float] = monotonic
    ):
        self._left, self._wait, self._clock = patience_s, wait, clock
        self._until, self._lock = 0.0, threading.Lock()

    def spent_on(self, fault: MemoryFault) -> bool:
        """After the wait that a 429 asks for; False where it asks for none, or for more than is left."""
        if fault.wait_s is None:
            return False
        with self._lock:
            now = self._clock()
            until = now + max(fault.wait_s, LEAST_WAIT_S)
            further = until - max(now, self._until)
            if further > self._left:
                return False
            self._left -= max(0.0, further)
            self._until = max(self._until, until)
        log.warning("memory: %s; waiting %.0f s, as the server asks", fault, until - now)
        self._wait(until - now)
        return True


MOST_BYTES = 8 * 2**20
"""Of one unpacked body. A page of a hundred nodes with long summaries has a tenth of that."""
_PACKED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Overlong(Exception):
    """A body beyond the limit, or packed more than once; it was not read to its end."""


class BoundedHttp(httpx.Client):
    """Bodies are read piece by piece and dropped at the limit: no gigabyte, nor what unpacks to one, is in memory."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The response, its body read. Raises Overlong, and whatever httpx does."""
        response = super().send(request, **{**options, "stream": True})
        content = bytearray()
        try:
            if "," in response.headers.get("content-encoding", ""):
                raise Overlong("sent a body that is packed more than once")
            for piece in response.iter_bytes():
                content += piece
                if len(content) > MOST_BYTES:
                    raise Overlong(f"sent a body of more than {MOST_BYTES // 2**20} MB")
        finally:
            response.close()
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _PACKED]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content), request=request)


class ZepConnection:
    """An HTTP client for one of the Zep libraries. Redirects are not followed: they could lead the key elsewhere.

    `waiting`: of what is read; whoever delivers episodes waits between them.
    """

    def __init__(self, secret: str, timeout_s: float = TIMEOUT_S, waiting: Waiting | None = None):
        self._wait, self._secret = "", secret
        self._waiting = waiting or Waiting()
        self.client = BoundedHttp(
            timeout=timeout_s, follow_redirects=False, event_hooks={"response": [self._note_wait]}
        )

    def _note_wait(self, response: httpx.Response) -> None:
        self._wait = response.headers.get("retry-after", "")

    def reading(self, what: str, request: Callable[[], ResultT]) -> ResultT:
        """The result, sent again where the server asks to be waited for. Raises MemoryFault."""
        while True:
            try:
                with self.talking(what):
                    return request()
            except MemoryFault as fault:
                if not self._waiting.spent_on(fault):
                    raise

    @contextmanager
    def talking(self, what: str) -> Iterator[None]:
        """Raises MemoryFault for anything that goes wrong inside. No message names the key or the server's address."""
        try:
            yield
        except MemoryFault:
            raise
        except Overlong as error:
            raise MemoryFault(f"{what}: the server {error}", unsure=True) from error
        except httpx.ConnectError as error:
            raise MemoryFault(f"{what}: no connection") from error
        except httpx.HTTPError as error:
            raise MemoryFault(f"{what}: {type(error).__name__}", unsure=True) from error
        except Exception as error:
            raise self._fault(what, error) from error

    def _fault(self, what: str, error: Exception) -> MemoryFault:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            return MemoryFault(f"{what}: an answer that cannot be read ({type(error).__name__})", unsure=True)
        body = one_line(str(getattr(error, "body", "")))
        text = clip(body.replace(self._secret, "…"), 200)  # a server may echo it
        wait = (seconds(self._wait) or RATE_LIMIT_WAIT_S) if status == 429 else None
        return MemoryFault(
            f"{what}: {status} {text}".strip(), wait_s=wait, unsure=status >= 500, refused=status in REFUSED
        )

    def close(self) -> None:
        self.client.close()


def seconds(retry_after: str) -> float | None:
    """Of a Retry-After header, a number or a date."""
    if re.fullmatch(r"\s*\d+\s*", retry_after):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (TypeError, ValueError):
        return None


AT_ONCE, LOOKED_BACK, NOT_FOUND = 8, 200, 404
_UNFIT = re.compile(r"[^\w.-]+", re.ASCII)


class ZepSessions:
    """The sessions of one simulation."""

    def __init__(
        self, sim_id: str, api_key: str, url: str, *, timeout_s: float = TIMEOUT_S, waiting: Waiting | None = None
    ):
        from zep_python.client import Zep  # noqa: PLC0415 - imported only when it is used
        from zep_python.errors import BadRequestError, ConflictError, NotFoundError  # noqa: PLC0415

        self.name = f"zep/{sim_id}"
        self._sim_id = sim_id
        self._connection = ZepConnection(api_key, timeout_s, waiting)
        # Without a base_url the library asks the host "None", and without a timeout it waits for ever.
        self._zep = Zep(
            base_url=url.rstrip("/"), api_key=api_key, httpx_client=self._connection.client, timeout=timeout_s
        )
        self._unknown, self._known_already = NotFoundError, (BadRequestError, ConflictError)

    def session(self, participant: str | None) -> str:
        return _UNFIT.sub("-", f"{self._sim_id}-{participant}" if participant else self._sim_id)

    def user(self, participant: str | None) -> str:
        return _UNFIT.sub("-", participant or self._sim_id)

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            memories = list(pool.map(self._read_one, agents))
        return {who: known for who, known in zip(agents, memories, strict=True) if known is not None}

    def _read_one(self, participant: str) -> Knowledge | None:
        return self._connection.reading("reading a session", lambda: self._known_of(participant))

    def _known_of(self, participant: str) -> Knowledge | None:
        try:
            memory = self._zep.memory.get(self.session(participant), lastn=1, request_options=ONCE)
        except self._unknown:
            return None
        facts = [
            Fact(id=str(fact.uuid_ or place), text=" ".join(fact.fact.split()), at=str(fact.created_at or ""))
            for place, fact in enumerate(memory.relevant_facts or [])
            if fact.fact
        ]
        summary = memory.summary.content if memory.summary else ""
        return Knowledge(summary=summary or "", facts=tuple(facts))

    def write(self, record: MemoryRecord) -> None:
        """A session that is not there yet is made, and its user."""
        with self._connection.talking("writing an episode"):
            try:
                self._add(record)
            except Exception as error:
                if getattr(error, "status_code", None) != NOT_FOUND:
                    raise
                self._open(record.participant)
                self._add(record)

    def _add(self, record: MemoryRecord) -> None:
        from zep_python.types import Message  # noqa: PLC0415

        message = Message(
            content=record.text, role=record.agent_name or "all", role_type="user", metadata={"enquete": record.id}
        )
        self._zep.memory.add(self.session(record.participant), messages=[message], request_options=ONCE)

    def _open(self, participant: str | None) -> None:
        user, session = self.user(participant), self.session(participant)
        with suppress(*self._known_already):
            self._zep.user.add(user_id=user, request_options=ONCE)
        with suppress(*self._known_already):
            self._zep.memory.add_session(session_id=session, user_id=user, request_options=ONCE)

    def holds(self, record: MemoryRecord) -> bool:
        with self._connection.talking("reading a session"):
            try:
                memory = self._zep.memory.get(self.session(record.participant), lastn=LOOKED_BACK, request_options=ONCE)
            except self._unknown:
                return False
            return any((message.metadata or {}).get("enquete") == record.id for message in memory.messages or [])

    def close(self) -> None:
        self._connection.close()


# --- The knowledge graph that the simulation builds in Zep Cloud: zep-cloud 3.x, measured by its contract server in
# the tests. A node of the graph is an agent's entity (their uuids are the same), its edges are facts. Nodes and edges
# are listed once, page by page, because a free plan allows five requests a minute. An interview becomes an episode,
# added directly.

PAGE, MOST_PAGES = 100, 2000
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
        self._connection = ZepConnection(api_key, timeout_s, waiting)
        named: dict[str, Any] = {"base_url": f"{url.rstrip('/')}/api/v2"} if url else {}
        self._zep = Zep(api_key=api_key, httpx_client=self._connection.client, timeout=timeout_s, **named)

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        with self._connection.talking("reading the graph"):  # a listing without ids is an answer that cannot be read
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
        return {who: Knowledge(summary=summaries.get(who, ""), facts=tuple(known)) for who, known in facts.items()}

    def _pages(self, what: str, listing: Callable[..., list[Any]]) -> Iterator[Any]:
        cursor = ""
        for _ in range(MOST_PAGES):
            more = {"uuid_cursor": cursor} if cursor else {}
            page = self._connection.reading(f"reading {what}", partial(self._page, listing, more))
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
        with self._connection.talking("writing an episode"):
            self._zep.graph.add(
                data=record.text,
                type="text",
                graph_id=self._graph_id,
                source_description=source(record),
                request_options=ONCE,
            )

    def holds(self, record: MemoryRecord) -> bool:
        with self._connection.talking("reading episodes"):
            answer = self._zep.graph.episode.get_by_graph_id(self._graph_id, lastn=LOOKED_BACK, request_options=ONCE)
            return any(episode.source_description == source(record) for episode in answer.episodes or [])

    def close(self) -> None:
        self._connection.close()


def source(record: MemoryRecord) -> str:
    """By which an episode is known again."""
    return f"enquete {record.id}"
