"""One agent's interview as it is read: questions and answers, and beside each answer what was found in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from enquete.locale import tell
from enquete.reports.transcripts import INTERVIEWER, Line, Talk, lines_of
from enquete.state.asking import Language


def talks(folder: Path, participant: str, language: Language) -> Iterator[Talk]:
    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if turns:
        yield Talk(str(turns[0]["name"]), tuple(one for turn in turns for one in _told(turn, language)))


def _told(turn: Mapping[str, Any], language: Language) -> Iterator[Line]:
    number = int(turn["turn"])
    yield Line(tell(INTERVIEWER, language), turn["question"], turn=number)
    found = tuple(f"{field}: {_value(value)}" for field, value in (turn.get("found") or {}).items())
    yield Line(turn["name"], turn["answer"], turn["participant"], number, found)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
