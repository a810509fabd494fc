"""The head of a run's pages: how far it is, what it has cost, and what can be done with it now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from enquete.graphs.registry import methodologies
from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.status import GOING_ON

MOST_BEFORE_DONE = 0.97


@dataclass(frozen=True)
class Head:
    """`data`: what GET …/status answers. titles: of its methodologies."""

    data: Mapping[str, Any]
    titles: Mapping[str, str]

    @property
    def status(self) -> str:
        return str(self.data["run_status"])

    @property
    def goes_on(self) -> bool:
        return self.status in GOING_ON

    @property
    def can_pause(self) -> bool:
        return self.status == "running"

    @property
    def can_resume(self) -> bool:
        return not self.goes_on and self.status != "completed"

    @property
    def likely_rest(self) -> int | None:
        """Tokens that are likely to come; None where nothing was estimated."""
        known = [stage["remaining_tokens"] for stage in self.data["stages"]]
        return None if not known or None in known else sum(known)

    @property
    def share(self) -> float:
        """How much of what is likely to be spent is spent; of agents where nothing was estimated."""
        budget, stages = self.data["budget"], self.data["stages"]
        if budget["expected_tokens"]:
            return min(1.0, float(budget["tokens"]) / float(budget["expected_tokens"]))
        total = sum(stage["n_total"] for stage in stages)
        return sum(stage["n_responded"] for stage in stages) / total if total else 0.0

    @staticmethod
    def share_of(stage: Mapping[str, Any]) -> float:
        """How much of a stage is done: by tokens where they were estimated, but those of requests in flight count before their
        answers are there, so never more than the agents allow."""
        if stage["outcome"] == "done":
            return 1.0
        rest, spent, total = stage["remaining_tokens"], stage["tokens"], stage["n_total"] or 1
        by_agents = min(1.0, (stage["n_responded"] + 0.5) / total) if stage["calls"] else 0.0
        by_tokens = spent / (spent + rest) if rest is not None and spent + rest else 1.0
        return float(min(by_agents, by_tokens, MOST_BEFORE_DONE))

    @property
    def enough_tokens(self) -> int | None:
        found: int | None = self.data["sufficient_tokens"]
        return found


async def head_of(desk: RequestHandlers, sim_id: str, run_id: str) -> Head:
    """At most a second old. Raises RunNotFound, LedgerError."""
    body = bytes((await desk.status(sim_id, run_id)).body)
    titles = {name: one.title for name, one in methodologies().items()}
    return Head(json.loads(body)["data"], titles)
