"""The agents of a run: who they are, what they remembered, and everything they said."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.folders import reading
from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.nodes.planning import load_methodology
from enquete.reports.evaluation import evaluation
from enquete.reports.transcripts import Talk
from enquete.state.errors import RunNotFound

KNOWN = ("participant", "agent_id", "name", "stakeholder_type")
"""Columns of agents.csv that say who an agent is."""


@dataclass(frozen=True)
class Person:
    id: str
    name: str
    kind: str
    persona: str = ""


class NoSuchAgent(RunNotFound):
    """The run has no agent of this id."""


def people(folder: Path) -> list[Person]:
    """All agents of a run, in the population's order. Raises LedgerError."""
    with reading(folder) as ledger:
        rows = ledger.execute("SELECT id, name, stakeholder_type FROM participants ORDER BY position").fetchall()
    return [Person(*row) for row in rows]


def person(folder: Path, participant: str) -> tuple[Person, list[tuple[str, str]]]:
    """Who an agent is, and its memory digests by phase. Raises NoSuchAgent, LedgerError."""
    with reading(folder) as ledger:
        row = ledger.execute(
            "SELECT id, name, stakeholder_type, persona FROM participants WHERE id = ?", (participant,)
        ).fetchone()
        digests = ledger.execute(
            "SELECT phase, text FROM digests WHERE participant = ? ORDER BY phase", (participant,)
        ).fetchall()
    if row is None:
        raise NoSuchAgent(f"run {folder.name} has no agent {participant[:100]!r}")
    return Person(*row), [(phase, text) for phase, text in digests if text]


def found_of(run: OpenRun, participant: str) -> list[tuple[str, str]]:
    """What agents.csv says of one agent, column and value: findings, and the columns of a personas file."""
    path = run.file("exports", "agents.csv")
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row.get("participant") == participant:
                return [(name, value) for name, value in row.items() if value and name not in KNOWN]
    return []


def talks_of(
    run: OpenRun, participant: str, language: str, methodology: str = ""
) -> Iterator[tuple[str, str, Talk]]:  # fmt: skip
    """(methodology, phase, conversation) of everything that the agent took part in; of one methodology where it is named."""
    for name, dotted in run.run.record.methods.items():
        if methodology not in ("", name):
            continue
        tell_talks = evaluation(load_methodology(dotted)).talks
        for phase, folder in run.stage_folders(name):
            for talk in tell_talks(folder, participant, language):
                yield name, phase, talk
