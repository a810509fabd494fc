"""What a methodology makes of its answers, declared in one place: its analysis, and all that reports, health checks,
comparisons and figures need to know of it. `Methodology.evaluation` gives it; it is imported on first use, because it
pulls in pandas and scipy.

A complete one: what it declares becomes section, appendix, files and digest; it gets the health checks that all get.

    EVALUATION = Evaluation(PRESENTATION, analyse)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from enquete.locale import N_, tell
from enquete.reports.context import AnalysisContext, Files, ItemFacts
from enquete.reports.declarations import Analysis, Presentation, WholeResults
from enquete.reports.health_checks import Arms, Humans, Made, OwnCheck, any_other, repeated
from enquete.reports.writing import lines
from enquete.runs.planning import load_methodology
from enquete.state.asking import Language
from enquete.state.methodology import Methodology

if TYPE_CHECKING:
    from enquete.reports.charts import Picture


INTERVIEWER = N_("Interviewer")


@dataclass(frozen=True)
class Line:
    """participant: whose words they are, "" for an interviewer's; codes: what was read in them; about: what else must
    be known."""

    speaker: str
    text: str
    participant: str = ""
    turn: int = 0
    codes: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Transcript:
    """session: as in the table of answers, "" where an agent has one conversation."""

    title: str
    lines: tuple[Line, ...]
    session: str = ""
    graph: Picture | None = None


Transcripts: TypeAlias = Callable[[Path, str, Language], Iterable[Transcript]]
"""(folder of the methodology's files, participant, language) → the conversations that the participant took part in."""


def no_transcripts(folder: Path, participant: str, language: Language) -> Iterable[Transcript]:
    return ()


def lines_of(file: Path, key: str, value: str) -> Iterator[dict[str, Any]]:
    """Objects of a JSONL file that have this value under a key; the others are not parsed."""
    if not file.is_file():
        return
    marked = json.dumps(value, ensure_ascii=False)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if marked in line and (entry := json.loads(line)).get(key) == value:
                yield entry


# --- What is declared of a methodology -------------------------------------------------------------------------------

Shown = float | str | None


@dataclass(frozen=True, slots=True)
class Headline:
    """Something that a further run of the study can say too, or not. id: the same in all runs.

    kind: a key of `Evaluation.sentences`, whose sentence names `about`, in the run's language.
    """

    id: str
    kind: str
    said: Hashable | None  # what a further run must say too; None: this run does not say
    shown: Shown  # the figure it rests on, or a word
    about: tuple[str, ...] = ()
    leads: bool = True  # in the main arm: whether it is a headline at all
    methodology: str = ""  # filled in where headlines are joined


def plain_files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    return {"responses.jsonl": lines(frame), "results.json": results.found}


def dialogue(turns: Iterable[Mapping[str, Any]], read: Iterable[Iterable[str]], language: Language) -> tuple[Line, ...]:
    """Questions and answers of an interview's transcript, beside each answer what was read in it."""
    told: list[Line] = []
    for turn, codes in zip(turns, read, strict=True):
        told.append(Line(tell(INTERVIEWER, language), turn["question"], turn=int(turn["turn"])))
        told.append(Line(turn["name"], turn["answer"], turn["participant"], int(turn["turn"]), tuple(codes)))
    return tuple(told)


def of_turn(item_id: str, instrument: Any) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


def by_path(item_id: str, instrument: Any) -> ItemFacts:
    """The last part of an item's path is its dimension."""
    return ItemFacts(dimension=item_id.rpartition("/")[2] if "/" in item_id else "")


Analyse = Callable[[pd.DataFrame, Any, Any, AnalysisContext], Analysis]
Checks = Callable[[Analysis, pd.DataFrame, Humans], Made]


@dataclass(frozen=True)
class Evaluation:
    """What a methodology makes of its answers. rows: of its main arm; an analysis without tables before."""

    # All that is read of its results, declared: reports/declarations.py.
    presentation: Presentation

    # (frame, instrument, settings, context) → tables; pure: see reports/analyses.py
    analyse: Analyse

    # Its variants (`Procedure.variants`) whose answers the analysis is given beside the main arm's.
    reads_variants: tuple[str, ...] = ()

    # Terms of its own that a reader meets, with what they mean, for the glossary.
    glossary: Mapping[str, str] = field(default_factory=dict)

    # Files of one phase from its results and all its rows; what the instrument says of an item id.
    files: Callable[[WholeResults, pd.DataFrame, str], Files] = plain_files
    item_facts: Callable[[str, Any], ItemFacts] = by_path

    # Its conversations with one agent, read from its own files: see `Transcript`.
    transcripts: Transcripts = no_transcripts

    # Instrument health: checks of the main arm; what the arms of `Methodology.probes` say about it; rules and words of
    # checks that no other methodology has, by name.
    health: Checks = any_other
    probed: Callable[[Arms], Made] = repeated
    checks: Mapping[str, OwnCheck] = field(default_factory=dict)

    # A replicate's tables with arbitrary names (of groups, say) as in the main arm's, which are given second.
    alike: Callable[[Analysis, Analysis], Analysis] | None = None


def evaluation(methodology: Methodology) -> Evaluation:
    declared: Evaluation = methodology.evaluation()
    return declared


def evaluations(methods: Mapping[str, str]) -> dict[str, Evaluation]:
    """By name. methods: dotted paths, as a run's record has them."""
    return {name: evaluation(load_methodology(dotted)) for name, dotted in methods.items()}
