"""Everything that is written: it rests on the ledger, survives what is missing, and harms no other run."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import shutil
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pandas as pd
import pytest

from enquete.ledger.ledger import Failure, Usage
from enquete.reports import responses as response_table
from enquete.reports.accounts import STATUSES
from enquete.reports.exports import validate
from enquete.reports.synthesis import load_results, load_summary, synthesise, write_synthesis
from enquete.runs.planning import planned
from enquete.runs.run_session import RunSession, using
from enquete.state.asking import Answer, Arm, CallKey
from enquete.state.errors import LedgerError
from enquete.state.interview_context import Prompt
from enquete.state.settings import Machine
from tests.reports.conftest import DATA, Made, made, set_status
from tests.support.bare_runs import results_alone


def strict(path: Path):
    return json.loads(path.read_text("utf-8"), parse_constant=lambda name: pytest.fail(f"{path.name} holds {name}"))


def rows_of_table(report: str, heading: str) -> list[list[str]]:
    """Cells of the first table after a heading of the report."""
    lines = report.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = list(takewhile(lambda line: line.startswith("|"), lines[first:]))
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in [table[0], *table[2:]]]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "runs" not in path.relative_to(folder).parts
    }


# --- what is on disk -------------------------------------------------------------------------------------------------


def test_the_files_of_the_design_are_there(whole):
    run = whole.folder.name
    for wave in ("T0", "T1"):
        for name in ("responses.jsonl", "audit.jsonl", "aggregate.json"):
            assert (whole.interviews / wave / "longitudinal" / run / name).is_file()
    names = {"round1_themes.jsonl", "round2_ratings.jsonl", "round3_revisions.jsonl", "audit.jsonl", "convergence.json"}
    assert {path.name for path in (whole.interviews / "T1" / "delphi" / run).iterdir()} == names
    assert (whole.synthesis / "exports" / "all_responses.csv").is_file()
    assert load_results(whole.folder) == whole.results()
    assert load_summary(whole.folder)["status"] == "completed"


def test_everything_can_be_rebuilt_from_the_ledger_with_the_same_bytes(full, tmp_path, monkeypatch):
    """Of all methodologies, and as a large table would be, whose columns are of another type."""
    monkeypatch.setattr(response_table, "LARGE", 1)
    sim = full.interviews.parent
    copied = Made(shutil.copytree(sim, tmp_path / sim.name) / full.folder.relative_to(sim))
    first = files_of(copied.interviews)
    for name in ("T0", "T1", "synthesis"):
        shutil.rmtree(copied.interviews / name)
    written = write_synthesis(copied.folder)
    assert written.status == "completed"
    assert files_of(copied.interviews) == first


def test_the_audit_holds_every_call_with_what_was_sent_and_what_came_back(whole):
    path = whole.interviews / "T1" / "delphi" / whole.folder.name / "audit.jsonl"
    calls = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {call["purpose"] for call in calls} == {"answer", "theme"}
    assert len({(c["purpose"], c["subject"], c["attempt"]) for c in calls}) == len(calls) > 21
    assert all(call["messages"] and call["response"] and call["system_hash"] for call in calls)
    spelt = [call["system_hash"] for call in calls if "system" in call]
    assert sorted(spelt) == sorted({call["system_hash"] for call in calls})


def test_the_csv_holds_the_table(whole):
    with (whole.synthesis / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = whole.table()
    assert [row["item_id"] for row in rows] == list(table["item_id"])
    assert sum(float(row["value"]) for row in rows if row["value"]) == table["value"].sum()


# --- defects of others, as tests -------------------------------------------------------------------------------------


@dataclass
class Waves:
    """One simulation asked four times: T0 reconstructed, T0 measured, T1 after it, and T1 of another model."""

    measured: Made
    after: Made
    other: Made
    latest: list[dict[str, str]]
    kept: tuple[dict[str, bytes], dict[str, bytes]]


@pytest.fixture(scope="module")
def waves(tmp_path_factory) -> Waves:
    simulation = tmp_path_factory.mktemp("waves") / "sim_683e8059ab27"
    shutil.copytree(DATA / simulation.name, simulation)

    def asked(model: str, **more: str) -> Made:
        arms = [Arm(model=model, temperature=0)]
        return made(simulation, methods=["longitudinal"], language="en", arms=arms, respondent=None, **more)

    def latest() -> dict[str, str]:
        return strict(simulation / "interviews" / "latest.json")

    with results_alone():
        asked("model-a")
        seen = [latest()]
        set_status(simulation, "running")
        measured = asked("model-a", phase="T0")
    seen.append(latest())
    set_status(simulation, "completed")
    after = asked("model-a")
    before = files_of(after.interviews)
    other = asked("model-b", baseline=measured.folder.name)
    return Waves(measured, after, other, [*seen, latest()], (before, files_of(after.interviews)))


def test_a_later_run_leaves_the_older_report_and_csv_alone(waves):
    before, after = waves.kept
    assert waves.after.folder != waves.other.folder
    assert all(after[name] == content for name, content in before.items() if name != "latest.json")
    assert waves.latest[2]["synthesis"] == waves.other.folder.name


def test_a_measured_t0_becomes_canonical_and_a_reconstructed_one_does_not(waves):
    assert "T0/longitudinal" not in waves.latest[0]
    assert waves.latest[1]["T0/longitudinal"] == waves.measured.folder.name


def test_a_measured_baseline_gives_drift_with_tests_and_says_what_it_cannot_show(waves):
    data, table = waves.after.results()["longitudinal"], waves.after.table()
    assert (data["kind"], data["interpretable"], data["pairs"]) == ("drift", True, 7 * 14)
    assert all(change["p"] is not None or not change["n_changed"] for change in data["changes"])
    assert "no placebo arm" in waves.after.report()
    assert set(table.loc[table["phase"].eq("T0"), "baseline"]) == {"measured"}
    assert table.groupby("phase")["run_id"].unique().map(list).to_dict() == {
        "T0": [waves.measured.folder.name], "T1": [waves.after.folder.name],
    }  # fmt: skip


def test_a_changed_model_makes_drift_not_interpretable(waves):
    data = waves.other.results()["longitudinal"]
    assert data["interpretable"] is False
    assert "model-a" in data["reasons"][0]
    assert {(change["outcome"], change["p"]) for change in data["changes"]} == {("untested", None)}
    assert "The change cannot be interpreted" in waves.other.report()


def test_two_agents_with_hostile_names_have_neither_t0_nor_nan_and_names_stay_text(make, personas):
    made = make(**personas(2, name="| # <b>Eve{i}</b> =1+1 [x](http://evil.example)"))
    data = made.results()["longitudinal"]
    assert (data["kind"], data["changes"]) == ("one_wave", [])
    assert [wave["phase"] for wave in data["waves"]] == ["T1"]
    for path in made.interviews.rglob("*.json"):
        strict(path)
    report = made.report()
    assert "<b>" not in report.replace("\\<b", "")
    assert not re.search(r"(?<!\\)\]\((?!figures/)", report)
    assert "evil.example" in report


def test_n_total_stands_beside_every_n(whole):
    counted = [
        row
        for tables in whole.results().values()
        for rows in tables.values()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict) and {"n", "n_total"} <= row.keys()
    ]
    assert counted
    assert all(row["n"] <= row["n_total"] for row in counted)


@pytest.mark.usefixtures("report_only")
def test_every_count_in_the_report_equals_the_table(make, personas):
    made = make(**personas(6), language="en", agents=[0, 1, 5], methods=["longitudinal"], partial=True)
    table, report = made.table(), made.report()
    head, *rows = rows_of_table(report, "### Answers by status")
    assert head[4:10] == [*STATUSES.values()]
    counts = table["status"].value_counts()
    (row,) = rows  # one stage, one arm
    assert [int(cell) for cell in row[4:10]] == [counts.get(status, 0) for status in STATUSES]
    assert row[10:] == ["45 / 90", "3 / 6"]
    assert "45 answers are there so far" in report


def test_every_number_of_the_delphi_section_equals_the_table(whole):
    table = whole.table()
    rows = rows_of_table((whole.synthesis / "appendix.md").read_text("utf-8"), "### Ratings by theme")[1:]
    ids = {theme["label"]: theme["theme"] for theme in whole.results()["delphi"]["themes"]}
    assert len(rows) == len(ids)  # of the first dimension, in the last round
    for label, n, mean, *_ in rows:
        ratings = table[table["item_id"].eq(f"theme:{ids[label]}/importance") & table["round"].eq(3)]["value"]
        assert n == f"{ratings.notna().sum()} / {len(ratings)}"
        assert float(mean) == pytest.approx(ratings.mean(), abs=0.005)
    of_themes = whole.report().partition("\n| Theme |")[2]
    section = rows_of_table(f"\n## Themes\n| Theme |{of_themes}", "## Themes")[1:]
    assert len(section) == len(ids)
    for label, median, iqr, *_ in section:
        ratings = table[table["item_id"].eq(f"theme:{ids[label]}/importance") & table["round"].eq(3)]["value"]
        assert float(median) == ratings.median()
        assert float(iqr) == ratings.quantile(0.75) - ratings.quantile(0.25)  # pandas' default is type 7


def test_every_number_of_the_longitudinal_section_equals_the_table(whole):
    table = whole.table()
    wide = table[table["value"].notna()].pivot(
        index="participant", columns=["phase", "round", "item_id"], values="value"
    )
    wording = {item["wording"]: item["item"] for item in whole.results()["longitudinal"]["items"]}
    section, appendix = (
        rows_of_table(whole.report(), head)[1:] for head in ("## Longitudinal", "### Answers by statement and wave")
    )
    assert sorted(row[0] for row in section) == sorted(wording)
    for statement, n, *means in section:
        assert n == "7 / 7"
        for wave, mean in zip(("T0", "T1"), means, strict=False):
            assert float(mean) == pytest.approx(wide[(wave, 0, wording[statement])].mean(), abs=0.0051)
    for statement, *cells in appendix:
        for wave, mean in zip(("T0", "T1"), cells[::4], strict=True):  # of each wave mean, interval, SD, share
            assert float(mean) == pytest.approx(wide[(wave, 0, wording[statement])].mean(), abs=0.0051)


# --- what is missing, failed, partial --------------------------------------------------------------------------------


def test_nothing_answered_yet_gives_a_report_without_findings_but_with_the_plan(make, personas):
    made = make(**personas(3), stages=[], partial=True, language="en")
    assert "45 / 45" not in made.report()
    assert "0 / 45" in made.report()
    assert made.results()["delphi"]["themes"] == []
    planned = made.table()[lambda rows: rows["methodology"].eq("delphi")]  # ratings are not, before there are themes
    assert planned[["round", "status"]].value_counts().to_dict() == {(1, "not_reached"): 3 * 4}


async def every_call_fails(run_session: RunSession) -> None:
    context = run_session.context("longitudinal", "T1")
    procedure = run_session.procedure("longitudinal")
    for who in run_session.population:
        block = procedure.blocks(who.id, 1, context)[0]
        key = CallKey(context.run, "main", "longitudinal", "T1", "answer", block.key.subject, 0)
        await run_session.ledger.reserve(key, Prompt("s", ({"role": "user", "content": "u"},), "", 9), "m", 50)
        await run_session.ledger.fail(key, "time-out", Usage(0, 0, 50))
        await run_session.ledger.store(block.key, [Answer(item.id, "failed") for item in block.items])
    await run_session.ledger.set_stage("longitudinal", "T1", "done")


def test_when_every_call_failed_the_run_failed_and_says_so_loudly(make, personas):
    made = make(**personas(3), methods=["longitudinal"], stages=[], prepare=every_call_fails, language="en")
    assert load_summary(made.folder)["status"] == "failed"
    assert "Every request failed" in made.report()
    assert "T1/longitudinal" not in strict(made.interviews / "latest.json")
    assert all(one["mean"] is None for one in made.results()["longitudinal"]["answers"])
    spent = rows_of_table(made.report(), "### Spent")[-1]
    assert spent[-1] == "150"  # 3 calls × 50 tokens that may have been billed


def test_a_failed_methodology_keeps_its_answers_and_the_other_its_findings(make, personas):
    async def fail(run_session: RunSession) -> None:
        await run_session.ledger.set_stage("delphi", "T1", "failed", "round 1")

    made = make(**personas(3), prepare=fail, language="en")
    assert load_summary(made.folder)["status"] == "failed"
    assert set(made.results()) == {"longitudinal", "delphi"}
    assert "Delphi (T1): failed. round 1" in made.report()
    latest = strict(made.interviews / "latest.json")
    assert "T1/longitudinal" in latest
    assert "T1/delphi" not in latest


def test_an_earlier_bug_in_an_analysis_is_cleared_once_it_is_mended(make, personas):
    small = make(**personas(3), methods=["longitudinal"], write=False)

    async def again() -> tuple[str, int]:
        async with using(str(small.folder), Machine()) as run_session:
            await run_session.ledger.record_failure(Failure("main", "longitudinal", "", 0, "analysis", "E: x", "T"))
            closed = await synthesise(run_session, planned(run_session.record))
            return closed["status"], len(run_session.ledger.failures())

    assert asyncio.run(again()) == ("completed", 0)


def test_both_languages_leave_no_placeholder(whole, full):
    for report in (whole.report(), full.report()):
        assert not re.search(r"\{[a-z_]+\}|\bNone\b|\bnan\b|<NA>", report)
        assert "\n\n\n" not in report


def test_the_table_is_refused_when_a_row_stands_twice_or_is_off(whole):
    table = whole.table()
    with pytest.raises(ValueError, match="stands twice"):
        validate(pd.concat([table, table]))
    table.loc[3, "confidence"] = 1.5
    with pytest.raises(ValueError, match=r"row 4, column confidence: 1\.5"):
        validate(table)


def test_results_before_a_synthesis_are_empty_and_a_damaged_file_is_named(make, personas):
    made = make(**personas(1), methods=["longitudinal"], stages=[], write=False)
    assert load_results(made.folder) == {}
    made.synthesis.mkdir(parents=True)
    (made.synthesis / "results.json").write_text("{", "utf-8")
    with pytest.raises(LedgerError, match=r"results\.json: not readable"):
        load_results(made.folder)
    with pytest.raises(LedgerError, match="ledger is missing"):
        write_synthesis(made.interviews / "runs" / "run_none")
