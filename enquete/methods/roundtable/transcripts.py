"""The discussions an agent sat in as they are read: everybody's words in their order, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from enquete.locale import N_, decimals, in_language
from enquete.reports.evaluation import Line, Transcript, lines_of
from enquete.state.asking import Language

WORDS = {
    "title": N_("Discussion {group}"),
    "round": N_("round {n}"),
    "private": N_("said in private"),
    "confidence": N_("confidence {value}"),
}


def read_transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    """Yield the discussions that an agent sat in, from the run's transcript.jsonl."""
    words, file = in_language(WORDS, language), folder / "transcript.jsonl"
    for group in dict.fromkeys(str(turn["group"]) for turn in lines_of(file, "participant", participant)):
        lines = tuple(_line(turn, words, language) for turn in lines_of(file, "group", group))
        yield Transcript(words["title"].format(group=group), lines, session=group)


def _line(turn: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Line:
    sure = "" if turn.get("confidence") is None else decimals(f"{turn['confidence']:.2f}", language)
    about = (
        words["round"].format(n=turn["round"]), words["private"] if turn["private"] else "",
        words["confidence"].format(value=sure) if sure else "", str(turn.get("stance") or ""),
        str(turn.get("model") or ""),
    )  # fmt: skip
    text = "\n\n".join(filter(None, (turn["position"], turn["reasoning"], *(turn.get("sections") or {}).values())))
    points = tuple(turn.get("key_points") or ())
    return Line(turn["name"], text, turn["participant"], int(turn["turn"]), points, " · ".join(filter(None, about)))
