"""Conversations as they are read: who said what, what was read in it, and the graph that came of it where there is one.

A methodology that converses names in `Evaluation.talks` how those of one agent are told from its own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from enquete.locale import N_
from enquete.state.asking import Language

if TYPE_CHECKING:
    from enquete.reports.charts import Picture  # altair, which readers of a table do not import

INTERVIEWER = N_("Interviewer")


@dataclass(frozen=True)
class Line:
    """participant: whose words they are, "" for an interviewer's; codes: what was read in them; about: what else must be known."""

    speaker: str
    text: str
    participant: str = ""
    turn: int = 0
    codes: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Talk:
    """session: as in the table of answers, "" where an agent has one conversation."""

    title: str
    lines: tuple[Line, ...]
    session: str = ""
    graph: Picture | None = None


Talks: TypeAlias = Callable[[Path, str, Language], Iterable[Talk]]
"""(folder of the methodology's files, participant, language) → the conversations that the participant took part in."""


def no_talks(folder: Path, participant: str, language: Language) -> Iterable[Talk]:
    return ()


def lines_of(file: Path, key: str, value: str) -> Iterator[dict[str, Any]]:
    """Objects of a JSONL file that have this value under a key; the others are not parsed."""
    if not file.is_file():
        return
    marked = json.dumps(value, ensure_ascii=False)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if marked in line and (found := json.loads(line)).get(key) == value:
                yield found
