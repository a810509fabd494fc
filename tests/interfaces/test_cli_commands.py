"""Every command and every exit code but those of signals, in words and as JSON."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from enquete.interfaces.cli import app as cli
from enquete.interfaces.cli.app import COMMANDS
from enquete.methods.registry import methodologies
from tests.interfaces.conftest import DATA, SIM_ID, Command
from tests.support.bare_runs import without_reports

pytestmark = pytest.mark.usefixtures("no_figures")

SYNTHETIC = "ANSWERED BY THE SYNTHETIC RESPONDENT"


def files_in(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_a_run_pauses_before_the_simulation_is_complete_and_another_command_goes_on(
    command: Command, running_uploads: Path
) -> None:
    """Though the simulation was killed: it is declared completed. 105 = 7 agents × (14 statements and a comment)."""
    with without_reports():
        waiting = command("run", SIM_ID, "--root", running_uploads, "--methods", "longitudinal")
    assert waiting.code == 4
    assert SYNTHETIC in waiting.out
    assert "longitudinal T0 round 1: 7/7" in waiting.err
    token = next(
        word for line in waiting.out.splitlines() for word in line.split() if word.startswith("run_") and "." in word
    )

    with without_reports():
        again = command("resume", token, "--root", running_uploads, "--quiet")
    assert (again.code, again.err) == (4, "")

    done = command("resume", token, "--root", running_uploads, "--quiet", "--assume-completed")
    assert done.code == 0, done.out
    assert "longitudinal T1" in done.out
    assert "7/7" in done.out
    assert "report.md" in done.out
    stages = command("status", SIM_ID, "--root", running_uploads, "--json").object["stages"]
    assert {(stage["methodology"], stage["phase"], stage["answers"]["ok"]) for stage in stages} == {
        ("longitudinal", "T0", 105), ("longitudinal", "T1", 105),
    }  # fmt: skip


def test_check_says_what_is_there_and_one_broken_simulation_does_not_hide_the_others(
    command: Command, uploads: Path
) -> None:
    broken = uploads / "simulations" / "sim_broken"
    broken.mkdir()
    (broken / "reddit_profiles.json").write_text("{not json", "utf-8")
    (broken / "simulation_config.json").write_text("[]", "utf-8")
    result = command("list", "--root", uploads)
    assert result.code == 0, result.err
    assert SIM_ID in result.out
    assert "sim_broken" in result.out
    good = command("check", SIM_ID, "--root", uploads)
    assert good.code == 0
    assert "Agents: 7" in good.out
    assert command("check", SIM_ID, "--root", uploads, "--json").object["agents"] == 7

    (uploads / "simulations" / SIM_ID / "reddit_profiles.json").write_text("{not json", "utf-8")
    bad = command("check", SIM_ID, "--root", uploads)
    assert bad.code == 2
    assert "reddit_profiles.json" in bad.out
    assert command("check", SIM_ID, "--root", uploads, "--json").object["ok"] is False


def test_a_finished_run_is_shown_reported_listed_and_exported(command: Command, finished: Path) -> None:
    uploads = finished
    first = command("run", SIM_ID, "--root", uploads, "--methods", "poll", "--json")
    run_id = first.object["run_id"]
    shown = command("run", SIM_ID, "--root", uploads, "--methods", "poll")
    assert shown.code == 0
    assert "nothing was asked" in shown.out

    report = command("report", SIM_ID, "--root", uploads)
    assert report.code == 0
    assert report.out.startswith("# ")
    assert command("report", SIM_ID, run_id, "--root", uploads, "--json").object["markdown"] in report.out

    status = command("status", SIM_ID, run_id, "--root", uploads, "--json")
    assert (status.code, status.object["status"]) == (0, "completed")

    listed = command("list", "--root", uploads, "--json").object["simulations"]
    assert [run["run_id"] for run in listed[SIM_ID]] == [run_id]
    assert run_id in command("list", "--root", uploads).out
    assert run_id in command("list", SIM_ID, "--root", uploads).out
    assert command("list", SIM_ID, "--root", uploads, "--json").object["runs"][0]["resume_token"] is None

    Path(first.object["report"]).unlink()
    missing = command("report", SIM_ID, "--root", uploads)
    assert missing.code == 2
    assert "enquete export" in missing.err
    assert "report.md" in command("export", SIM_ID, "--root", uploads).out

    other = command("run", SIM_ID, "--root", uploads, "--methods", "poll", "--new", "--json")
    assert other.code == other.object["exit_code"] == 0
    assert other.object["run_id"] != run_id
    assert other.object["synthetic"] is True
    assert {stage["n_responded"] for stage in other.object["stages"]} == {7}
    assert Path(other.object["report"]).is_file()


def test_next_puts_the_same_questions_to_a_model(command: Command, people: Path) -> None:
    """Its command asks what the run asked, in its language: the same claims are estimated. Later a file's folder is not
    known any more."""
    instrument = DATA / "instruments" / "scenario_v1.yaml"
    few = ("--out", "r", "--sample", 2, "--language", "en", "--phase", "T1", "--json")
    with without_reports():
        asked = command("run", people, "--instrument", f"scenario={instrument}", *few)
    (line,) = (step for step in asked.object["next"] if "--model NAME" in step)
    assert f"--model NAME --language en --instrument scenario={instrument} " in line
    assert " --sample 2 --phase T1 " in line
    weighed = command("estimate", *shlex.split(line.replace("--model NAME", "--respondent synthetic"))[2:], "--json")
    assert {estimate_line["methodology"] for estimate_line in weighed.object["lines"]} <= {"scenario", "", "synthesis"}
    later = command("status", people, "--out", "r", "--json")
    assert any("--instrument scenario=scenario_v1.yaml" in step for step in later.object["next"])
    with without_reports():
        other = command("run", people, "--methods", "scenario", "--pack", "high_street", "--new", *few)
    assert any("--language en --methods scenario --pack high_street" in step for step in other.object["next"])


def test_columns_that_no_interview_uses_are_named_and_reach_agents_csv(command: Command) -> None:
    """All of them: with spaces in their names, long, numbers and truth values; one that is called like a column of
    ours, or would run as a formula, is called otherwise."""
    columns = {
        "income": 42.5, "Party book": True, "notes": "x" * 300, "n_answered": "7", "=cmd": "a", "realname": "Ada Alias",
        "age": 51,
    }  # fmt: skip
    rows = [
        {"id": "a", "name": "Ada", "type": "ngo", "persona": "Bakes.", **columns},
        {"id": "b", "name": "Ben", "persona": "Sells."},
    ]
    Path("people.json").write_text(json.dumps(rows))
    checked = command("check", "people.json")
    named = (
        "columns that no interview uses: income, party book, notes, n_answered, =cmd, realname; agents.csv has them all"
    )
    assert f"people.json: {named}" in checked.out
    done = command("run", "people.json", "--out", "r", "--methods", "poll", "--language", "en", "--json")
    assert done.code == 0, done.out
    with Path("r", "people", "synthesis", done.object["run_id"], "exports", "agents.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        ada, ben = csv.DictReader(file)
    renamed = {"party book": "true", "persona_n_answered": "7", "'=cmd": "a", "realname": "Ada Alias"}
    expected = {"income": "42.5", "notes": "x" * 300, "age": "51", **renamed}
    assert {name: ada[name] for name in expected} == expected
    assert {ben[name] for name in expected} == {""}
    assert ada["n_answered"] == ada["n_planned"]


def test_a_workbook_is_refused_by_name(command: Command, people: Path) -> None:
    Path("people.xlsx").write_bytes(b"PK\x03\x04")
    for result in (command("check", "people.xlsx"), command("run", "people.xlsx", "--out", "r"),
                 command("check", "--instrument", "people.xlsx"),
                 command("run", people, "--out", "r", "--instrument", "delphi=people.xlsx")):  # fmt: skip
        assert result.code == 2
        assert "people.xlsx: a spreadsheet's workbook is not read; save its sheet as CSV (UTF-8)" in result.err


def test_an_unknown_simulation_creates_nothing(command: Command, uploads: Path) -> None:
    before = files_in(uploads.parent)
    for verb in ("run", "estimate", "resume", "status", "check", "report", "export", "list"):
        result = command(verb, "sim_unknown", "--root", uploads)
        assert (result.code, result.out) == (2, "")
        assert SIM_ID in result.err, f"{verb} does not name the known one"
    assert files_in(uploads.parent) == before


WRONG = [
    (["run"], "SIM"),
    (["run", SIM_ID, "--root", "uploads", "--nonsense"], "--nonsense"),
    (["nonsense"], "nonsense"),
    (["run", SIM_ID, "--root", "uploads", "--phase", "T2"], "T2"),
    (["run", SIM_ID, "--root", "uploads", "--budget-tokens", "-5"], "--budget-tokens: "),
    (["run", SIM_ID, "--root", "uploads", "--temperature", "9"], "temperature"),
    (["run", SIM_ID, "--root", "uploads", "--methods", ","], "--methods"),
    (["run", SIM_ID, "--root", "uploads", "--instrument", "longitudinal"], "METHOD=FILE"),
    (["run", SIM_ID, "--root", "uploads", "--set", "delphi=3"], "METHOD.KEY=VALUE"),
    (["run", SIM_ID, "--root", "uploads", "--set", "delphi.nonsense=3"], "nonsense"),
    (["run", SIM_ID, "--root", "uploads", "--limit", "m=3"], "MODEL.KEY=VALUE"),
    (["run", SIM_ID, "--root", "uploads", "--limit", "m.concurency=3"], "did you mean 'concurrency'"),
    (["run", SIM_ID, "--root", "uploads", "--budget-usd", "0"], "--budget-usd: "),
    (["run", SIM_ID, "--root", "uploads", "--patience", "-1"], "--patience: "),
    (["run", SIM_ID, "--root", "uploads", "--rerun"], "--methods"),
    (["run", SIM_ID, "--root", "uploads", "--rerun", "--methods", "delphi"], "no finished run"),
    (["run", SIM_ID, "--root", "uploads", "--respondent", "replay"], "no finished run"),
    (
        ["run", SIM_ID, "--root", "uploads", "--replay-of", "run_x", "--respondent", "synthetic"],
        "the respondent is not replay",
    ),
    (["run", SIM_ID, "--root", "uploads", "--replay-of", "run_x", "--methods", "delphi"], "methods cannot be chosen"),
    (["estimate", SIM_ID, "--root", "uploads", "--respondent", "replay"], "costs nothing"),
    (["run", SIM_ID, "--root", "uploads", "--model", "gpt", "--respondent", "synthetic"], "gpt"),
    (["run", SIM_ID, "--root", "uploads", "--model", "gpt"], "LLM_API_KEY"),
    (["run", "uploads"], "no simulation folder"),
    (["run", "empty.csv", "--out", "o"], "empty.csv"),
    (["resume", "run_20000101T000000_aaaaaa", "--root", "uploads"], "run_20000101T000000_aaaaaa"),
    (["resume", SIM_ID, "--root", "uploads"], "no unfinished run"),
    (["status", SIM_ID, "--root", "uploads"], "nobody has been interviewed"),
    (["memory", "search", SIM_ID, "--root", "uploads", "--limit", "0"], "--limit: '0' is not taken"),
    (["check", "broken", "--root", "."], "broken"),
]
"""What is typed, and what is told of it."""


def test_wrong_input_is_exit_code_2_in_words_and_in_json(command: Command, uploads: Path) -> None:
    Path("empty.csv").write_text("", "utf-8")
    before = files_in(uploads)
    for words, told in WRONG:
        result = command(*words)
        assert (result.code, result.out) == (2, ""), words
        assert told in result.err
        as_json = command(*words, "--json")
        assert as_json.code == as_json.object["exit_code"] == 2
        assert told in as_json.object["error"]["message"]
        assert as_json.object["error"]["type"]
        assert as_json.err == ""
        assert files_in(uploads) == before


def test_a_wrong_environment_a_missing_place_and_results_in_the_way_are_named(
    command: Command, uploads: Path, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder should be; the same branch as a read-only folder, and it works for root as well.
    (uploads / "simulations" / SIM_ID / "interviews").write_text("in the way", "utf-8")
    result = command("run", SIM_ID, "--root", uploads)
    assert result.code in (1, 2)
    assert "interviews" in result.err
    result = command("run", people)
    assert result.code == 2
    assert "--out" in result.err
    monkeypatch.setenv("ENQUETE_CONCURRENCY", "lots")
    result = command("run", SIM_ID, "--root", uploads)
    assert result.code == 2
    assert "ENQUETE_CONCURRENCY" in result.err


def test_lists_of_methods_and_of_roots_and_the_help_without_a_command(command: Command, tmp_path: Path) -> None:
    assert set(command("list", "methods", "--json").object["methods"]) >= {"longitudinal", "delphi"}
    assert "Longitudinal" in command("list", "methods").out
    result = command("list", "--root", "nowhere")
    assert (result.code, result.out) == (2, "")
    assert "nowhere" in result.err
    (tmp_path / "empty").mkdir()
    assert command("list", "--root", "empty").code == 0
    assert "Commands:" in command().out
    assert command("--version").out.startswith("enquete 0.")
    help_text = " ".join(command("--help").out.split())
    offers = [methodology.offers for methodology in methodologies().values() if methodology.offers]
    assert {offer.command for offer in offers} == {"discover", "roundtable", "laddering", "compare"}
    assert all(f"{offer.command} {offer.taken_for}" in help_text for offer in offers)


def test_german_words_where_the_locale_is_german(
    command: Command, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    result = command("run", SIM_ID, "--root", finished, "--methods", "poll", "--quiet")
    assert "DER SYNTHETISCHE RESPONDENT HAT GEANTWORTET" in result.out
    assert "Agenten: 7" in command("check", SIM_ID, "--root", finished).out


@pytest.mark.parametrize("verb", ["", *(name for name in COMMANDS if name != "memory"), "memory search"])
def test_help_teaches(command: Command, verb: str) -> None:
    result = command(*verb.split(), "--help")
    assert result.code == 0
    assert "Exit codes" in result.out
    assert "enquete " in result.out


def test_json_is_ascii_where_the_terminal_is(people: Path) -> None:
    (people.parent / "Fährhaus").write_text("a file", "utf-8")
    done = subprocess.run(
        [
            sys.executable, "-c", "from enquete.interfaces.cli.app import main; main()", "demo", "--out", "Fährhaus",
            "--json",
        ],
        capture_output=True,
        env={
            "PYTHONIOENCODING": "ascii", "PATH": "", "HOME": str(people.parent),
            "PYTHONPATH": str(Path(cli.__file__).parents[3]),
        },
    )  # fmt: skip
    assert "Fährhaus" in json.loads(done.stdout.decode("ascii"))["error"]["message"]
    assert done.returncode == 2
