"""All that reports, health checks and comparisons need to know of a roundtable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import pandas as pd

from enquete.locale import N_
from enquete.methods.roundtable.findings import FINDERS, QUESTIONS, choose_for_digest, settle_verdicts
from enquete.methods.roundtable.health import CHECKS, health
from enquete.methods.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.methods.roundtable.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.methods.roundtable.transcripts import read_transcripts
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Chart, Presentation, WholeResults
from enquete.reports.evaluation import Evaluation
from enquete.reports.writing import lines

CHARTS = (
    Chart(
        name="agreement", title=N_("Roundtable: agreement, privately and after each round"), needs=("curve",),
        draw="enquete.methods.roundtable.charts:agreement",
        alt=N_("Mean agreement of {begun:group|groups} goes from {first_agreement} to {last_agreement}."),
    ),
    Chart(
        name="positions", title=N_("Roundtable: where everybody stood, stance and confidence"), needs=("positions",),
        draw="enquete.methods.roundtable.charts:positions",
        alt=N_("Stance and confidence of {n} participants at every stage."),
    ),
)  # fmt: skip

TERMS = {
    N_("agreement"): N_(
        "Of a round, 0 to 1: how many take the same position, by its words and side, and how alike their confidence is."
    ),
    N_("groupthink"): N_(
        "Two of three signs: all are sure, all take one position, all say it in the same words. A reason to look, not "
        "a proof."
    ),
    N_("readers"): N_(
        "Agents who only read what a group said, and were asked before and after like its participants."
    ),
}  # fmt: skip

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.roundtable:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, finders=FINDERS, settle=settle_verdicts, digest=choose_for_digest,
)  # fmt: skip


def item_facts(item_id: str, instrument: RoundtableInstrument) -> ItemFacts:
    """Return family and scale of a consideration; what is said has none."""
    family, _, name = item_id.rpartition("/")
    if family != CONSIDERATION:
        return ItemFacts(dimension=name)
    scale = instrument.scales[str(instrument.scale)]
    return ItemFacts(family=family, dimension=name, scale_min=scale.min, scale_max=scale.max)


AS_CSV = ("positions", "moves", "rounds", "arguments")
"""Tables written as CSV beside the transcript."""


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return answers, transcript, tables, the decision in four layers by group, and what all discussions gave."""
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    turns = [
        {**turn["response"], **turn, "name": names.get(turn["participant"], turn["participant"])}
        for turn in results.rows("turns")
    ]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [
            {key: value for key, value in turn.items() if key != "response" and (key, value) != ("model", None)}
            for turn in turns
        ],
        **{f"{name}.csv": _join_lists(results.rows(name)) for name in AS_CSV},
        "decisions.json": cast("Mapping[str, Any]", results["layers"]),
        "roundtable.json": results.without(*AS_CSV, "turns", "layers", "flags"),
    }


def _join_lists(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame in which a list is one text."""
    joined = [
        {key: "; ".join(map(str, cell)) if isinstance(cell, list) else cell for key, cell in row.items()}
        for row in rows
    ]
    return pd.DataFrame(joined)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=item_facts,
    transcripts=read_transcripts,
    health=health,
    checks=CHECKS,
    glossary=TERMS,
)
