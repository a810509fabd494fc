"""What the verdicts say of answers whose worth is known: planted, random, straight lines, one profile for all.

The answers of a synthetic run over 24 agents of six types are replaced in the table; plan, scales and types stay.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import enquete
from enquete.ledger.folders import LEDGER
from enquete.methods.registry import methodologies
from enquete.reports.analyses import find
from enquete.reports.health import judge
from enquete.reports.health_checks import REASONS, VERDICTS, with_blocks
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import synthesis_folder, write_synthesis
from tests.reports.conftest import Made
from tests.support.bare_runs import interview, resume
from tests.support.populations import mirofish_folder
from tests.support.studies import reseal

METHODS = ["longitudinal", "delphi", "scenario"]
FILES = ("report.md", "appendix.md")
Planted = tuple[pd.DataFrame, dict]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """The table with blocks, and the analyses."""
    folder = tmp_path_factory.mktemp("planted")
    sim = mirofish_folder(folder / "sim_1", 24)
    run = interview(sim, out=str(folder / "out"), methods=METHODS, confirm=True, respondent="synthetic")
    with open_run(Path(run.folder)) as reading:
        frame = responses(reading)
        return with_blocks(reading, frame), dict(find(reading, frame).analyses)


def verdicts(planted: Planted, answer: Callable[[pd.DataFrame], np.ndarray] | None = None) -> dict[str, str]:
    frame, analyses = planted
    if answer:
        frame = frame.copy()
        closed = frame["scale_min"].notna() & frame["value"].notna()
        frame.loc[closed, "value"] = answer(frame[closed])
    return {name: verdict.verdict for name, verdict in judge(methodologies(), analyses, frame).verdicts.items()}


def ends(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return rows["scale_min"].to_numpy(dtype=int), rows["scale_max"].to_numpy(dtype=int)


def uniform(rows: pd.DataFrame) -> np.ndarray:
    low, high = ends(rows)
    return np.random.default_rng(1).integers(low, high + 1).astype(float)


def straight(rows: pd.DataFrame) -> np.ndarray:
    """Each agent one place of its own, whatever is asked."""
    low, high = ends(rows)
    place = pd.factorize(rows["participant"])[0] % 5 / 4
    return np.rint(low + place * (high - low)).astype(float)


def one_profile(rows: pd.DataFrame) -> np.ndarray:
    """An answer for each item, the same for all but for one point in a seventh of the answers."""
    low, high = ends(rows)
    rng = np.random.default_rng(2)
    item = pd.factorize(rows["item_id"])[0]
    common = low + rng.random(item.max() + 1)[item] * (high - low)
    off = rng.choice([-1, 0, 1], p=[0.07, 0.86, 0.07], size=len(rows))
    return np.clip(np.rint(common) + off, low, high).astype(float)


def test_planted_answers_are_no_worse_than_with_caution(planted: Planted) -> None:
    judged = verdicts(planted)
    assert set(judged) == set(METHODS)
    assert set(judged.values()) <= {"usable as far as checked", "usable with caution"}


def test_random_answers_are_nowhere_plainly_usable(planted: Planted) -> None:
    assert set(verdicts(planted, uniform).values()) <= {"usable with caution", "not usable"}


def test_straight_lines_are_not_usable(planted: Planted) -> None:
    judged = verdicts(planted, straight)
    assert judged["longitudinal"] == judged["delphi"] == "not usable"
    assert judged["scenario"] != "usable as far as checked"


def test_one_profile_for_all_is_not_usable(planted: Planted) -> None:
    assert set(verdicts(planted, one_profile).values()) == {"not usable"}


# --- before there is anything ----------------------------------------------------------------------------------------


def written(folder: Path) -> dict[str, str]:
    """Verdicts in health.json."""
    data = json.loads((synthesis_folder(folder) / "health.json").read_text("utf-8"))
    return {name: verdict["verdict"] for name, verdict in data["verdicts"].items()}


@pytest.mark.usefixtures("report_only")
def test_before_there_is_anything_there_is_no_verdict_and_of_what_goes_on_none(tmp_path: Path) -> None:
    """One run: paused with 0 calls, then in the second round of the Delphi: what is done has its verdict, what goes on
    has none, and no number of planned answers is told that the next round would change; and as the ledger of one that
    runs is between the first answer and the last, with a stage that is not closed."""
    sim = mirofish_folder(tmp_path / "sim_1", 12)
    out = str(tmp_path / "out")
    arguments = {"out": out, "methods": METHODS[:2], "confirm": True, "respondent": "synthetic", "language": "en"}
    run = enquete.conduct_interviews(sim, **arguments, budget_tokens=1)
    assert run.status == "paused"
    assert written(Path(run.folder)) == dict.fromkeys(METHODS[:2], "nothing to judge")
    assert not [flag for flag in run.flags if "judge" in flag]

    run = enquete.resume(run.resume_token, out=out, budget_tokens=60_000)
    outcomes = {(stage.methodology, stage.phase): stage.outcome for stage in run.stages}
    assert (run.status, outcomes["longitudinal", "T1"], outcomes["delphi", "T1"]) == ("paused", "done", "short")
    judged = written(Path(run.folder))
    assert judged["longitudinal"] == "usable as far as checked"
    assert judged["delphi"] == "interim"
    assert run.page_one["interim"] is True
    assert "answers are there so far" in run.page_one["asked"]
    assert "Interim: what was found so far" in run.brief
    assert "planned" not in run.brief + run.report.partition("## Limits")[2]
    assert f"Delphi: {VERDICTS['interim']} ({REASONS['not_finished']})." in run.flags

    done = resume(run.resume_token, out=out, budget_tokens=10_000_000)
    assert done.status == "completed"
    with closing(sqlite3.connect(Path(done.folder) / LEDGER)) as ledger, ledger:
        ledger.execute("DELETE FROM stages WHERE methodology = 'delphi'")
        reseal(ledger)
    write_synthesis(Path(done.folder), partial=True)
    judged = written(Path(done.folder))
    assert judged["delphi"] == "nothing to judge"
    assert judged["longitudinal"] != "nothing to judge"


def test_of_what_is_finished_nothing_is_interim(whole: Made) -> None:
    page = json.loads((whole.synthesis / "page_one.json").read_text("utf-8"))
    assert page["interim"] is False
    assert "planned answers are there" in page["asked"]
    assert not {"interim", "nothing to judge"} & set(written(whole.folder).values())


def test_of_data_that_are_not_usable_the_report_tells_what_was_tested(tmp_path: Path) -> None:
    """Thirty agents who give the same answer to every item, as they are stored: page one says so above what was found,
    and neither it nor the section has a mean or a figure, which are in the appendix."""
    sim = mirofish_folder(tmp_path / "sim_1", 30)
    arguments = {"methods": ["longitudinal"], "confirm": True, "respondent": "synthetic", "language": "en"}
    run = interview(sim, out=str(tmp_path / "out"), **arguments)
    with closing(sqlite3.connect(Path(run.folder) / LEDGER)) as ledger, ledger:
        ledger.execute("UPDATE answers SET value = 4 WHERE value IS NOT NULL")
        reseal(ledger)
    write_synthesis(Path(run.folder))
    assert written(Path(run.folder)) == {"longitudinal": "not usable"}
    page = run.page_one
    assert [finding["p"] for finding in page["findings"] if finding["p"] is None] == []
    (notice,) = page["notices"]
    assert notice.startswith("Longitudinal: not usable.")
    assert run.brief.index(notice) < run.brief.index("## What was found")
    report, appendix = ((synthesis_folder(Path(run.folder)) / name).read_text("utf-8") for name in FILES)
    section, told = (text.partition("\n## Longitudinal")[2].partition("\n## ")[0] for text in (report, appendix))
    assert notice in section
    assert "4.00" not in report + section
    assert "figures/longitudinal" not in report
    assert "figures/longitudinal" in told
