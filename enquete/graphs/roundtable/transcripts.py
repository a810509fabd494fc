"""The discussions an agent sat in as they are read: everybody's words in their order, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from enquete.locale import N_, decimals, in_language
from enquete.reports.transcripts import Line, Talk, lines_of
from enquete.state.asking import Language

WORDS = {
    "title": N_("Discussion {group}"),
    "round": N_("round {n}"),
    "private": N_("said in private"),
    "confidence": N_("confidence {value}"),
}


def talks(folder: Path, participant: str, language: Language) -> Iterator[Talk]:
    words, file = in_language(WORDS, language), folder / "transcript.jsonl"
    for group in dict.fromkeys(str(turn["group"]) for turn in lines_of(file, "participant", participant)):
        lines = tuple(_line(turn, words, language) for turn in lines_of(file, "group", group))
        yield Talk(words["title"].format(group=group), lines, session=group)


def _line(turn: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Line:
    said = [words["round"].format(n=turn["round"]), words["private"] if turn["private"] else ""]
    if turn.get("confidence") is not None:
        said.append(words["confidence"].format(value=decimals(f"{turn['confidence']:.2f}", language)))
    text = "\n\n".join(
        part for part in (turn["position"], turn["reasoning"], *(turn.get("sections") or {}).values()) if part
    )
    about = " · ".join(one for one in (*said, str(turn.get("stance") or "")) if one)
    return Line(turn["name"], text, turn["participant"], int(turn["turn"]), tuple(turn.get("key_points") or ()), about)
