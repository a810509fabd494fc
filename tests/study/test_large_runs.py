"""A run of more agents than are held in memory asks, answers and writes up what a run that holds them does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.ledger import ledger
from enquete.runs import begin_run, draft_record, population_changes
from enquete.simulations import population
from enquete.state.asking import PagedPeople
from tests.support.bare_runs import interview
from tests.support.studies import results_of, run_folder, stored_answers

pytestmark = pytest.mark.usefixtures("no_figures")

PEOPLE = "name,type,persona,region\n" + "".join(
    f"Person {n},{'fisher' if n % 3 else 'ngo'},Is number {n}.,{'ns'[n % 2]}\n" for n in range(14)
)


def studied(folder: Path, **given: Any) -> enquete.Run:
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE)
    return enquete.conduct_interviews(
        folder / "people.csv", out=folder / "out", methods=["longitudinal"], respondent="synthetic",
        probes="all", probe_sample=5, language="en", by="region", **given,
    )  # fmt: skip


def table(folder: Path) -> str:
    (path,) = results_of(folder / "out").glob("synthesis/*/exports/agents.csv")
    return path.read_text("utf-8")


def test_agents_are_read_as_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = studied(tmp_path / "held")
    for module in (ledger, population, draft_record):
        monkeypatch.setattr(module, "FEW", 10)
    for module in (begin_run, population_changes):
        monkeypatch.setattr(module, "AGENTS_PER_PIN", 5)
    paged = studied(tmp_path / "paged")
    reading = ledger.Ledger.reading(run_folder(tmp_path / "paged/out") / "ledger.sqlite")
    assert isinstance(reading.population(), PagedPeople)
    reading.close_reading()
    assert (held.status, paged.status) == ("completed", "completed")
    answers = [stored_answers(run_folder(tmp_path / name / "out")) for name in ("held", "paged")]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 14 * 15  # items and the comment
    assert table(tmp_path / "held") == table(tmp_path / "paged")
    again = interview(tmp_path / "paged/people.csv", out=tmp_path / "paged/out", respondent="replay")
    assert again.status == "completed"
