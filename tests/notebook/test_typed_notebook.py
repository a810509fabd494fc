"""Python as a notebook has it: typed for checkers, complete for completion, with examples that run."""

from __future__ import annotations

import doctest
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
import pytest

import enquete
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest
from enquete.study.progress import Bars, shown_progress

pytestmark = pytest.mark.usefixtures("no_figures")

STUDY = Path(__file__).with_name("typed_study.py")
MAX_LINES = 40
FUNCTIONS = ("conduct_interviews", "aconduct_interviews", "ask", "estimate", "aestimate", "on_ready", "on_completed")


def test_a_study_of_forty_lines_runs(tmp_path: Path) -> None:
    assert len(STUDY.read_text("utf-8").splitlines()) <= MAX_LINES
    done = subprocess.run(
        [sys.executable, str(STUDY), str(tmp_path / "out")], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert "poll: " in done.stdout


@pytest.mark.parametrize("checker", [["mypy"], ["pyright", "--pythonpath", sys.executable]], ids=["mypy", "pyright"])
def test_checkers_find_nothing_in_it_and_find_a_wrong_word(tmp_path: Path, checker: list[str]) -> None:
    command = Path(sys.executable).with_name(checker[0])
    program = str(command) if command.exists() else shutil.which(checker[0])
    if program is None:
        pytest.skip(f"{checker[0]} is not installed")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(STUDY.read_text("utf-8").replace('respondent="synthetic"', 'respondent="sinthetic"'), "utf-8")
    root = Path(enquete.__file__).parents[1]
    for file, is_sound in ((STUDY, True), (wrong, False)):
        done = subprocess.run(
            [program, *checker[1:], str(file)], capture_output=True, text=True, cwd=root, check=False, timeout=580
        )
        assert (done.returncode == 0) is is_sound, done.stdout
        assert ("sinthetic" in done.stdout) is not is_sound


@pytest.mark.parametrize("name", FUNCTIONS)
def test_completion_knows_every_argument_by_name_with_its_default(name: str) -> None:
    parameters = inspect.signature(getattr(enquete, name)).parameters
    assert not [each for each in parameters.values() if each.kind is inspect.Parameter.VAR_KEYWORD]
    assert set(RunRequest.model_fields) - {"sim"} <= parameters.keys()
    assert set(get_args(parameters["phase"].annotation)) >= {type(None)}
    assert parameters["asking"].annotation == Literal["block", "item"]
    assert parameters["temperature"].default == RunRequest().temperature


@pytest.mark.parametrize("name", ["conduct_interviews", "ask"])
def test_the_example_in_help_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(enquete, name)) or "", {}, name, None, 0)
    assert examples.examples
    outcome = doctest.DocTestRunner(verbose=False).run(examples)
    assert outcome.failed == 0


PEOPLE = pd.DataFrame({"name": ["Ada", "Ben"], "persona": ["Bakes bread.", "Sells bread."], "age": [41, 52]})
ASKED = {"methods": "poll", "respondent": "synthetic", "language": "en", "progress": False}


def test_a_table_of_people_is_a_population_known_again_by_its_content(tmp_path: Path) -> None:
    run = enquete.conduct_interviews(PEOPLE, out=tmp_path, **ASKED)
    assert run.status == "completed"
    assert list(run.agents["agent_name"]) == ["Ada", "Ben"]
    assert list(run.agents["age"]) == [41, 52]
    again = enquete.conduct_interviews(PEOPLE.copy(), out=tmp_path, **ASKED)
    assert (again.run_id, again.shown) == (run.run_id, True)
    older = enquete.conduct_interviews(PEOPLE.assign(age=[42, 53]), out=tmp_path, **ASKED)
    assert older.run_id != run.run_id
    with pytest.raises(SettingsError, match="say where results go with out=FOLDER"):
        enquete.conduct_interviews(PEOPLE, **ASKED)
    with pytest.raises(SettingsError, match="a population is a sim_id, a path or a DataFrame of people; this is list"):
        enquete.conduct_interviews([1, 2], out=tmp_path, **ASKED)  # type: ignore[arg-type]  # what this is about


def test_findings_are_those_of_the_report_with_their_numbers(tmp_path: Path) -> None:
    many = pd.concat([PEOPLE.assign(name=[f"Ada {n}", f"Ben {n}"]) for n in range(5)])
    run = enquete.conduct_interviews(many, out=tmp_path, **ASKED)
    (part,) = run.page_one["methodologies"]
    assert part["findings"]
    assert [finding.text for finding in run.findings] == [row["text"] for row in part["findings"]]
    for finding, row in zip(run.findings, part["findings"], strict=True):
        assert (finding.methodology, finding.n_total) == ("poll", 10)
        assert (finding.estimate, finding.low, finding.high, finding.p) == tuple(
            row[name] for name in ("estimate", "low", "high", "p")
        )


def test_two_runs_that_share_nothing_are_not_compared(tmp_path: Path) -> None:
    bread = enquete.conduct_interviews(PEOPLE, out=tmp_path, **ASKED)
    others = PEOPLE.assign(name=["Cleo", "Dan"])
    other = enquete.conduct_interviews(others, out=tmp_path, **ASKED)
    with pytest.raises(SettingsError, match="share no answer: nobody was asked the same item in both"):
        enquete.compare(bread, other)
    assert enquete.compare(bread, bread).identical


@pytest.mark.parametrize("root", [str, Path])
def test_a_folder_is_a_text_or_a_path_everywhere(tmp_path: Path, root: type) -> None:
    folder = root(tmp_path)
    run = enquete.conduct_interviews(PEOPLE, out=folder, **ASKED)
    file = next((tmp_path / "people").glob("*.csv"))
    assert enquete.list_simulations(folder) == []
    assert [known.run_id for known in enquete.list_runs(file, out=folder)] == [run.run_id]
    assert enquete.load_run(file, out=folder, root=folder).run_id == run.run_id
    assert len(enquete.search_memory(file, out=folder, limit=50)) > 0
    assert {found.run_id for found in enquete.search_memory(file, out=folder, run_id=run.run_id)} == {run.run_id}
    assert enquete.export(file, out=folder).is_dir()


def test_bars_are_shown_where_somebody_looks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted, kind in ((True, Bars), (False, type(None))):
        with shown_progress(wanted) as shown:
            assert isinstance(shown, kind)
    heard: list[object] = []
    with shown_progress(heard.append) as shown:
        assert shown == heard.append
    for is_terminal, kind in ((True, Bars), (False, type(None))):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        with shown_progress(None) as shown:
            assert isinstance(shown, kind)
