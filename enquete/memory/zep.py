"""Sessions of a Zep server of one's own: zep-python 2.x, measured by its contract server in the tests.

A user is an agent. A session belongs to one user and carries the simulation: one of each agent in each simulation. What
all agents said together belongs to a user of the simulation's own. zep-python knows memory, sessions and users, no
graph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from enquete.memory.recall import TIMEOUT_S, MemoryRecord
from enquete.memory.wire import ONCE, Waiting, Wire
from enquete.simulations.digest import Fact, Knowledge

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
        self._wire = Wire(api_key, timeout_s, waiting)
        # Without a base_url the library asks the host "None", and without a timeout it waits for ever.
        self._zep = Zep(base_url=url.rstrip("/"), api_key=api_key, httpx_client=self._wire.client, timeout=timeout_s)
        self._unknown, self._known_already = NotFoundError, (BadRequestError, ConflictError)

    def session(self, participant: str | None) -> str:
        return _UNFIT.sub("-", f"{self._sim_id}-{participant}" if participant else self._sim_id)

    def user(self, participant: str | None) -> str:
        return _UNFIT.sub("-", participant or self._sim_id)

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(self._read_one, agents))
        return {who: known for who, known in zip(agents, found, strict=True) if known is not None}

    def _read_one(self, participant: str) -> Knowledge | None:
        return self._wire.reading("reading a session", lambda: self._known_of(participant))

    def _known_of(self, participant: str) -> Knowledge | None:
        try:
            memory = self._zep.memory.get(self.session(participant), lastn=1, request_options=ONCE)
        except self._unknown:
            return None
        facts = [
            Fact(id=str(one.uuid_ or place), text=" ".join(one.fact.split()), at=str(one.created_at or ""))
            for place, one in enumerate(memory.relevant_facts or [])
            if one.fact
        ]
        summary = memory.summary.content if memory.summary else ""
        return Knowledge(summary=summary or "", facts=tuple(facts))

    def write(self, record: MemoryRecord) -> None:
        """A session that is not there yet is made, and its user."""
        with self._wire.talking("writing an episode"):
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
        with suppress(*self._known_already):
            self._zep.user.add(user_id=self.user(participant), request_options=ONCE)
        with suppress(*self._known_already):
            self._zep.memory.add_session(
                session_id=self.session(participant), user_id=self.user(participant), request_options=ONCE
            )

    def holds(self, record: MemoryRecord) -> bool:
        with self._wire.talking("reading a session"):
            try:
                memory = self._zep.memory.get(self.session(record.participant), lastn=LOOKED_BACK, request_options=ONCE)
            except self._unknown:
                return False
            return any((one.metadata or {}).get("enquete") == record.id for one in memory.messages or [])

    def close(self) -> None:
        self._wire.close()
