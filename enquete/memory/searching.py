"""Episodes of a simulation's interviews: read where its runs wrote them, exports/episodes.jsonl, and found again by words."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from enquete.memory.recalled import MemoryFault, Record

FILE = "episodes.jsonl"
ENTITY_WEIGHT, FETCHED = 0.1, 3
"""Of a name in the query that is the agent's; records weighed for each that is kept."""
INDEX = 'CREATE VIRTUAL TABLE words USING fts5(agent, text, tokenize="unicode61 remove_diacritics 2")'
_WORD = re.compile(r"\w+")


def episodes(interviews: Path) -> Iterator[Record]:
    """Of all runs in this interviews/ folder, oldest first, each once. Raises MemoryFault where a file is damaged."""
    known: set[str] = set()
    for folder in sorted(interviews.glob("synthesis/*/")):
        file = folder / "exports" / FILE
        for record in complete(file) if file.is_file() else ():
            if record.id not in known:
                known.add(record.id)
                yield record


def complete(file: Path) -> Iterator[Record]:
    """Episodes that nothing will be added to. Raises MemoryFault where the file is damaged."""
    try:
        with file.open(encoding="utf-8") as opened:
            for line in opened:
                episode: dict[str, Any] = json.loads(line)
                if episode.pop("complete"):
                    yield Record.model_validate(episode)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise MemoryFault(f"{file} is damaged; enquete export writes the run's files again") from error


def search(records: Iterable[Record], query: str, *, agent: str = "", limit: int = 10) -> list[Record]:
    """Best first: how well the words fit (1 for the best, by BM25), + 0.1 where the query names the agent. Words match by
    their beginnings. `agent`: only of whom this name or id is. Without words the last."""
    said, asked = list(records), _WORD.findall(query)
    parts = [f"agent : ({' AND '.join(_prefixes(whom))})"] if (whom := _WORD.findall(agent)) else []
    parts += [f"({' OR '.join(_prefixes(asked))})"] if asked else []
    if not parts:
        return said[::-1][:limit]
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(INDEX)
        index.executemany(
            "INSERT INTO words(rowid, agent, text) VALUES(?,?,?)",
            ((place, f"{one.agent_name} {one.participant or ''}", one.text) for place, one in enumerate(said)),
        )
        rows = index.execute(
            "SELECT rowid, bm25(words, 2, 1) FROM words WHERE words MATCH ? ORDER BY 2, rowid DESC LIMIT ?",
            (" AND ".join(parts), FETCHED * limit),
        ).fetchall()
    best = min((rank for _, rank in rows), default=0) or 1
    weighed = [(rank / best + ENTITY_WEIGHT * _named(said[place], asked), said[place]) for place, rank in rows]
    return [record for _, record in sorted(weighed, key=lambda pair: -pair[0])][:limit]


def _prefixes(words: Sequence[str]) -> list[str]:
    return [f'"{word}"*' for word in words]


def _named(record: Record, asked: Sequence[str]) -> bool:
    names = {word.casefold() for word in _WORD.findall(record.agent_name)}
    return any(word.casefold() in names for word in asked)
