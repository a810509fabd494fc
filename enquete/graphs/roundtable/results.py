"""What the discussions give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.roundtable import health
from enquete.graphs.roundtable.analysis import analyse
from enquete.graphs.roundtable.figures import figures
from enquete.graphs.roundtable.findings import findings
from enquete.graphs.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.graphs.roundtable.shown import GLOSSARY, shown
from enquete.graphs.roundtable.talks import talks
from enquete.reports.context import Files, ItemFacts
from enquete.reports.evaluation import Evaluation
from enquete.reports.table.lines import lines

POSITIONS = ("group", "participant", "name", "stakeholder_type", "number", "role", "reads", "stage", "stance", "confidence",
             "cluster", "position")  # fmt: skip
MOVES = ("group", "reads", "participant", "name", "stakeholder_type", "before", "after", "confidence_before", "confidence_after",
         "surer", "kept", "moved", "toward", "argument", "moved_by")  # fmt: skip
ARGUMENTS = ("id", "label", "group", "turn", "raised", "took_up", "countered")
AGREEMENT = ("group", "round", "agreement", "positions", "largest", "n", "mean_confidence", "exit_reason")
PERSUASION = ("group", "mover", "mover_name", "toward", "toward_name", "weight", "argument")
"""Columns of the tables."""


def item_facts(item_id: str, instrument: RoundtableInstrument) -> ItemFacts:
    """A consideration belongs to its family and has the scale; what is said has none."""
    family, _, name = item_id.rpartition("/")
    if family != CONSIDERATION:
        return ItemFacts(dimension=name)
    scale = instrument.scales[str(instrument.scale)]
    return ItemFacts(family=family, dimension=name, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript; tables of positions, moves, persuasion, agreement and arguments; the answer in four layers, by group."""
    found: Mapping[str, Any] = findings
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": found["turns"],
        "positions.csv": _table(found["positions"], POSITIONS),
        "moves.csv": _table([{**one, "toward": "; ".join(one["toward"])} for one in found["moves"]], MOVES),
        "persuasion.csv": _table(found["persuasion"], PERSUASION),
        "agreement.csv": _table(_rounds(found["groups"]), AGREEMENT),
        "arguments.csv": _table([_argument(one) for one in found["arguments"]], ARGUMENTS),
        "decisions.json": found["layers"],
        "roundtable.json": {
            key: found[key]
            for key in ("question", "mode", "compose", "limits", "seats", "groups", "exits", "curve", "movement", "reason",
                        "conformity", "people", "remarks", "violations", "models")
        },
    }  # fmt: skip


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


def _rounds(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The reason stands with the round that a discussion ended with."""
    return [
        {
            "group": one["group"],
            **each,
            "exit_reason": one["exit_reason"] if one["over"] and each is one["rounds"][-1] else "",
        }
        for one in groups
        for each in one["rounds"]
    ]


def _argument(one: Mapping[str, Any]) -> dict[str, Any]:
    by_how = {
        how: [each["participant"] for each in one["answered"] if each["how"] == how] for how in ("took_up", "countered")
    }
    return {**one, "raised": "; ".join(one["raised"]), **{how: "; ".join(people) for how, people in by_how.items()}}


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete.graphs.roundtable:section.md.j2",
    appendix="enquete.graphs.roundtable:appendix.md.j2",
    shown=shown,
    files=files,
    item_facts=item_facts,
    figures=figures,
    talks=talks,
    health=health.health,
    checks=health.CHECKS,
    glossary=GLOSSARY,
)
