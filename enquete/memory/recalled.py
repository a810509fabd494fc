"""What is remembered: a record of what somebody said, a comparison of two answers; and what a graph outside can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from enquete.simulations.knowledge import Knowledge
from enquete.state.errors import MemoryFault

TIMEOUT_S = 20.0
"""For one request to a graph."""

Kind = Literal["interview", "overall", "aggregate", "answer"]


class Record(BaseModel):
    """Something that was said, found again by its id. Annotations stand beside these fields: respondent_id, critic_score
    (1–5), pairwise_winner, or anything else."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str = Field(min_length=1)
    kind: Kind
    text: str
    sim_id: str
    run_id: str
    participant: str | None = None  # None: of all agents
    agent_name: str = ""
    stakeholder_type: str = ""
    methodology: str = ""
    phase: str = ""
    respondent: str = ""  # who answered: llm, synthetic or human; and its model
    model: str = ""
    answer_ids: list[str] = []


class Preference(BaseModel):
    """Two configurations answered the same question, and which of them a critic preferred. `tie`: also where the verdict
    changed with the order of the two."""

    model_config = ConfigDict(frozen=True)

    question_id: str = Field(min_length=1)  # with the run: the key of the comparison
    run_id: str
    answer_id_a: str
    answer_id_b: str
    methodology: str
    question_type: str  # scale, choice, text, …
    stakeholder_type: str
    a: str  # a configuration as it is told, such as "model, temperature 0.7"
    b: str
    winner: Literal["a", "b", "tie"]
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""


class Graph(Protocol):
    """A graph outside. Every method raises MemoryFault, and nothing else, where it does not answer.

    `name`: under which deliveries to it are marked.
    """

    name: str

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        """What is known of these participants, by id; of nobody a part only."""

    def write(self, record: Record) -> None: ...

    def holds(self, record: Record) -> bool:
        """Whether an earlier request whose answer was lost did arrive."""

    def close(self) -> None: ...


__all__ = ["TIMEOUT_S", "Graph", "Kind", "MemoryFault", "Preference", "Record"]
