"""What is remembered: a record of what somebody said, a comparison of two answers; and what a graph outside can do."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from enquete.simulations.digest import Knowledge
from enquete.state.errors import MemoryFault

TIMEOUT_S = 20.0
"""For one request to a graph."""
LEAST_WAIT_S = 1.0
"""A server that allows nothing and asks for no wait must not be asked for ever."""

Kind = Literal["interview", "overall", "aggregate", "answer"]


class MemoryRecord(BaseModel):
    """Something that was said, found again by its id. Annotations stand beside these fields: respondent_id,
    critic_score (1–5), pairwise_winner, or anything else."""

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
    """Two configurations answered the same question, and which of them a critic preferred. `tie`: also where the
    verdict changed with the order of the two."""

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

    def write(self, record: MemoryRecord) -> None: ...

    def holds(self, record: MemoryRecord) -> bool:
        """Whether an earlier request whose answer was lost did arrive."""

    def close(self) -> None: ...


__all__ = ["TIMEOUT_S", "Graph", "Kind", "MemoryFault", "MemoryRecord", "Preference"]


# --- Episodes of a simulation's interviews: read where its runs wrote them, exports/episodes.jsonl; found by words.

EPISODES = "episodes.jsonl"
ENTITY_WEIGHT, FETCHED = 0.1, 3
"""Of a name in the query that is the agent's; records weighed for each that is kept."""
INDEX = 'CREATE VIRTUAL TABLE words USING fts5(agent, text, tokenize="unicode61 remove_diacritics 2")'
_WORD = re.compile(r"\w+")


def episodes(interviews: Path) -> Iterator[MemoryRecord]:
    """Of all runs in this interviews/ folder, oldest first, each once. Raises MemoryFault where a file is damaged."""
    known: set[str] = set()
    for folder in sorted(interviews.glob("synthesis/*/")):
        file = folder / "exports" / EPISODES
        for record in complete(file) if file.is_file() else ():
            if record.id not in known:
                known.add(record.id)
                yield record


def complete(file: Path) -> Iterator[MemoryRecord]:
    """Episodes that nothing will be added to. Raises MemoryFault where the file is damaged."""
    try:
        with file.open(encoding="utf-8") as opened:
            for line in opened:
                episode: dict[str, Any] = json.loads(line)
                if episode.pop("complete"):
                    yield MemoryRecord.model_validate(episode)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise MemoryFault(f"{file} is damaged; enquete export writes the run's files again") from error


def search(records: Iterable[MemoryRecord], query: str, *, agent: str = "", limit: int = 10) -> list[MemoryRecord]:
    """Best first: how well the words fit (1 for the best, by BM25), + 0.1 where the query names the agent. Words match
    by their beginnings. `agent`: only of whom this name or id is. Without words the last."""
    spoken, asked = list(records), _WORD.findall(query)
    parts = [f"agent : ({' AND '.join(_prefixes(whom))})"] if (whom := _WORD.findall(agent)) else []
    parts += [f"({' OR '.join(_prefixes(asked))})"] if asked else []
    if not parts:
        return spoken[::-1][:limit]
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(INDEX)
        words = ((place, f"{r.agent_name} {r.participant or ''}", r.text) for place, r in enumerate(spoken))
        index.executemany("INSERT INTO words(rowid, agent, text) VALUES(?,?,?)", words)
        rows = index.execute(
            "SELECT rowid, bm25(words, 2, 1) FROM words WHERE words MATCH ? ORDER BY 2, rowid DESC LIMIT ?",
            (" AND ".join(parts), FETCHED * limit),
        ).fetchall()
    best = min((rank for _, rank in rows), default=0) or 1
    weighed = [(rank / best + ENTITY_WEIGHT * _named(spoken[place], asked), spoken[place]) for place, rank in rows]
    return [record for _, record in sorted(weighed, key=lambda pair: -pair[0])][:limit]


def _prefixes(words: Sequence[str]) -> list[str]:
    return [f'"{word}"*' for word in words]


def _named(record: MemoryRecord, asked: Sequence[str]) -> bool:
    names = {word.casefold() for word in _WORD.findall(record.agent_name)}
    return any(word.casefold() in names for word in asked)


# --- Which configuration wins for which type of question and of stakeholder, over all runs of a simulation.


@dataclass(frozen=True)
class PreferenceShare:
    """One configuration against all others on one type of question, asked of one type of stakeholder.

    `rate`: (wins + ties / 2) / n; `low`, `high`: Wilson's interval of 95% for it, which takes comparisons as
    independent.
    """

    question_type: str
    stakeholder_type: str
    configuration: str
    n: int
    wins: int
    ties: int
    rate: float
    low: float
    high: float


def standings(preferences: Iterable[Preference]) -> list[PreferenceShare]:
    """By type of question and of stakeholder, the configuration that wins most often first."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for pair in preferences:
        for configuration, side in ((pair.a, "a"), (pair.b, "b")):
            counted = counts.setdefault((pair.question_type, pair.stakeholder_type, configuration), [0, 0, 0])
            counted[0] += 1
            counted[1] += pair.winner == side
            counted[2] += pair.winner == "tie"
    shares = [_standing(*key, *counted) for key, counted in counts.items()]
    return sorted(shares, key=lambda s: (s.question_type, s.stakeholder_type, -s.rate, s.configuration))


def _standing(
    question_type: str, stakeholder_type: str, configuration: str, n: int, wins: int, ties: int
) -> PreferenceShare:
    from enquete.analysis.preference import wilson  # noqa: PLC0415 - recall itself computes nothing

    rate = (wins + ties / 2) / n
    low, high = wilson(rate, n)
    return PreferenceShare(question_type, stakeholder_type, configuration, n, wins, ties, rate, low, high)
