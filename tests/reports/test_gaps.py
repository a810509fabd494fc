"""One methodology whose code fails at one step of its report: everything else is written, and the gap is named.

All methodologies are asked in one run. Then the code of most is broken, each at a step of its own, and the report is
written again from the ledger, until each has been broken at every step. What is broken is the methodology's
declaration, in a copy that stands here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.interfaces.cli import app as cli
from enquete.methods.registry import dotted_paths
from enquete.reports import declarations as d
from enquete.reports.evaluation import Evaluation
from enquete.reports.key_questions import Finding, Remark
from enquete.reports.result_tables import ResultTables
from enquete.runs.planning import load_methodology
from enquete.runs.run_session import RunSession
from enquete.state.methodology import Methodology
from enquete.study.run import IncompleteExportWarning
from tests.reports.conftest import SHORT, Made, made, people_file
from tests.support.populations import mirofish_folder
from tests.support.studies import rows
from tests.web.test_web_pages import browsing

NAMES = tuple(dotted_paths())
BROKEN: dict[str, str] = {}
"""By methodology, the step that fails."""


def fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("planted")


class FailingTexts(dict):
    """Sentences by code, of which none can be looked up."""

    get = fail


def with_presentation(evaluation: Evaluation, **more: object) -> Evaluation:
    """The same evaluation with parts of its presentation in place of its own."""
    own = evaluation.presentation
    parts = {
        "tables": tuple(own.tables.values()), "facts": tuple(own.facts.values()), "texts": own.texts,
        "findings": own.findings, "charts": own.charts, "samples": own.samples, "title": own.title,
        "primary": own.primary, "glossary": own.glossary, "template": own.template, "questions": own.tested,
        "finders": own.finders, "settle": own.settle, "digest": own.digest, "memories": own.memories,
        "warnings": own.warnings,
    }  # fmt: skip
    return replace(evaluation, presentation=d.Presentation(**{**parts, **more}))


def find_planted(tables: ResultTables) -> Iterator[Finding]:
    """Yields a finding, then fails."""
    yield Finding(id="planted", text="said before it failed")
    fail()


def warn_planted(tables: ResultTables) -> Iterator[Remark]:
    yield Remark(id="planted", text="said before it failed")
    fail()


def break_sentence(evaluation: Evaluation) -> Evaluation:
    own = evaluation.presentation
    if own.template:
        return with_presentation(evaluation, finders=(find_planted, *own.finders))
    fact = next(iter(own.facts))
    finding = d.Finding(name="planted", says=FailingTexts(x="x"), n=fact, n_total=fact)
    return with_presentation(evaluation, findings=(finding, *own.findings))


def break_chart(evaluation: Evaluation) -> Evaluation:
    """The chart stands on a table that has rows in every run: all that are declared, of which one is drawn."""
    own = evaluation.presentation
    charts = [d.Chart(name=f"planted_{name}", title="", alt="", draw=fail, needs=(name,)) for name in own.tables]
    return with_presentation(evaluation, charts=(*charts, *own.charts))


def break_table(evaluation: Evaluation) -> Evaluation:
    """The file of facts has a column whose label cannot be filled in."""
    own = evaluation.presentation
    facts = (*own.facts.values(), d.text("planted", "{", means="{"))
    return with_presentation(evaluation, facts=facts)


def break_lines(evaluation: Evaluation) -> Evaluation:
    """A file of rows fails when the second row is made, after a whole file."""

    def rows() -> Iterator[dict]:
        yield {"row": 1}
        fail()

    def files(results, frame, phase):
        return {"whole.txt": "written", "half.jsonl": rows(), **evaluation.files(results, frame, phase)}

    return replace(evaluation, files=files)


def break_text(at: d.Place, evaluation: Evaluation) -> Evaluation:
    if evaluation.presentation.template:
        if at == "flag":
            return with_presentation(evaluation, warnings=warn_planted)
        return with_presentation(evaluation, template=f"tests.reports:broken_{at}.md.j2")
    text = d.TextBlock(at=at, says=FailingTexts(x="x"))
    return with_presentation(evaluation, texts=(text, *evaluation.presentation.texts))


def break_verdicts(evaluation: Evaluation) -> Evaluation:
    """What its corrected tests bear out cannot be told."""
    return with_presentation(evaluation, settle=fail)


BREAKING: dict[str, Callable[[Evaluation], Evaluation]] = {
    "correction": break_verdicts,
    "items": lambda evaluation: replace(evaluation, item_facts=fail),
    "transcripts": lambda evaluation: replace(evaluation, transcripts=fail),
    "analysis": lambda evaluation: replace(evaluation, analyse=fail),
    "finding": break_sentence,
    "figure": break_chart,
    "file": lambda evaluation: replace(evaluation, files=fail),
    "lines": break_lines,
    "table": break_table,
    "section": partial(break_text, "section"),
    "appendix": partial(break_text, "appendix"),
    "flags": partial(break_text, "flag"),
    "health": lambda evaluation: replace(evaluation, health=fail),
}
STEP = {"lines": "file"}
"""What the gap is called, where it is not the name of the way to break it."""
OF_ALL = ("items", "analysis", "finding", "figure", "file")
"""Steps at which each methodology is broken; at the others, one."""
ON_PAGES = ("transcripts",)
"""Steps that no report takes: a page of the run does."""


def breakable(name: str) -> Methodology:
    """The methodology, whose evaluation is broken at the step in BROKEN."""
    own = load_methodology(dotted_paths()[name])

    def evaluation() -> Evaluation:
        step = BROKEN.get(name)
        return BREAKING[step](own.evaluation()) if step else own.evaluation()

    return replace(own, evaluation=evaluation)


def __getattr__(name: str) -> Methodology:
    """`tests.reports.test_gaps:delphi`, as a run's record names it."""
    if name in NAMES:
        return _breakable(name)
    raise AttributeError(name)


_breakable = cache(breakable)


@pytest.fixture(autouse=True)
def _bugs_are_caught(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ENQUETE_RAISE_BUGS")
    yield
    BROKEN.clear()


@dataclass(frozen=True)
class Study:
    """A run of several methodologies, which is written up only once some of them are broken."""

    run: Made
    people: dict[str, str]
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """What was written of a run while these methodologies were broken at these steps."""

    steps: dict[str, str]
    whole: set[str]
    summary: dict[str, Any]
    page: dict[str, Any]
    page_one: str
    report: str
    warned: list[str]
    files: dict[str, set[str]]
    figures: set[str]
    responding: set[str]
    html_bytes: int

    def gaps_of(self, methodology: str) -> list[dict[str, str]]:
        return [gap for gap in self.summary["gaps"] if gap["methodology"] == methodology]


def study_of(methods: tuple[str, ...], folder: Path) -> Study:
    available = {name: f"{__name__}:{name}" for name in methods}
    settings = {name: values for name, values in SHORT.items() if name in methods}
    people = people_file(folder, 5)

    async def complete(run_session: RunSession) -> None:
        await run_session.ledger.set_stage("", "", "completed")

    run = made(
        **people, language="en", methods=list(methods), available=available, settings=settings, write=False,
        prepare=complete,
    )  # fmt: skip
    return Study(run, people, methods)


def write_broken(study: Study, steps: dict[str, str]) -> Written:
    """Write the report while these methodologies are broken at these steps, and read it."""
    BROKEN.update(steps)
    with pytest.warns(IncompleteExportWarning) as warned:
        enquete.export(study.people["sim"], study.run.folder.name, out=study.people["out"])

    synthesis = study.run.synthesis
    with (synthesis / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        responding = {row["methodology"] for row in csv.DictReader(file)}
    return Written(
        steps=steps,
        whole=set(study.methods) - steps.keys(),
        summary=json.loads((synthesis / "results.json").read_text("utf-8")),
        page=json.loads((synthesis / "page_one.json").read_text("utf-8")),
        page_one=(synthesis / "page_one.md").read_text("utf-8"),
        report=study.run.report(),
        warned=[str(each.message) for each in warned if each.category is IncompleteExportWarning],
        files={name: files_of(study.run, name) for name in study.methods},
        figures={path.name for path in (synthesis / "figures").glob("*.svg")},
        responding=responding,
        html_bytes=(synthesis / "report.html").stat().st_size,
    )


def files_of(run: Made, methodology: str) -> set[str]:
    own = run.interviews / "T1" / methodology / run.folder.name
    tables = run.synthesis / "exports" / methodology
    return {path.name for folder in (own, tables) for path in folder.glob("*")}


def steps_in_turn(methods: tuple[str, ...], steps: tuple[str | None, ...]) -> list[dict[str, str]]:
    """Return one choice of broken steps for each turn: over all turns every methodology has had every step.

    None leaves a methodology whole.
    """
    turns = []
    for turn in range(len(steps)):
        chosen = {name: steps[(place + turn) % len(steps)] for place, name in enumerate(methods)}
        turns.append({name: step for name, step in chosen.items() if step is not None})
    return turns


def broken_in(turns: list[dict[str, str]]) -> list[tuple[str, str, int]]:
    """Return each methodology and step, with the turn in which that methodology is broken at that step."""
    return [(name, step, turn) for turn, steps in enumerate(turns) for name, step in steps.items()]


TURNS = steps_in_turn(NAMES, (*OF_ALL, None))
OTHER_TURNS = steps_in_turn(
    ("delphi", "roundtable"), tuple(step for step in BREAKING if step not in (*OF_ALL, *ON_PAGES))
)


@pytest.fixture(scope="module")
def write_turn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Written]:
    """Return a function that writes the report of all methodologies with the steps of a turn broken, once a turn."""
    study = study_of(NAMES, tmp_path_factory.mktemp("all"))
    return cache(lambda turn: write_broken(study, TURNS[turn]))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A methodology of rounds, one of conversations, and one that stays whole."""
    return study_of(("delphi", "roundtable", "poll"), tmp_path_factory.mktemp("three"))


@pytest.fixture(scope="module")
def write_other_turn(three: Study) -> Callable[[int], Written]:
    return cache(lambda turn: write_broken(three, OTHER_TURNS[turn]))


@pytest.mark.parametrize(("name", "step", "turn"), broken_in(TURNS))
def test_one_broken_methodology_costs_its_own_step_alone(
    name: str, step: str, turn: int, write_turn: Callable[[int], Written]
) -> None:
    """Every methodology at each of the five steps that a reader sees, while others are broken at other steps."""
    written = write_turn(turn)
    title = load_methodology(dotted_paths()[name]).title

    assert written.summary["status"] == "failed"
    gaps = written.gaps_of(name)
    assert {gap["step"] for gap in gaps} == {step}
    for says in (gap["says"] for gap in gaps):
        assert says.startswith(f"{title}: ")
        assert "ZeroDivisionError: planted" in says
        assert says in written.page["notices"]
        assert says in written.summary["flags"]
        assert says in written.warned
    assert "ZeroDivisionError: planted" in written.page_one
    assert (name in written.summary["results"]) == (step not in ("items", "analysis"))


@pytest.mark.parametrize("turn", range(len(TURNS)))
def test_what_is_not_broken_is_written_whole(turn: int, write_turn: Callable[[int], Written]) -> None:
    """The methodologies that are not broken in this turn, and of the broken ones what all have in common."""
    written = write_turn(turn)
    assert written.whole
    assert {gap["methodology"] for gap in written.summary["gaps"]} == written.steps.keys()
    assert written.summary["results"].keys() >= written.whole
    for name in written.whole:
        title = load_methodology(dotted_paths()[name]).title
        assert f"## {title}" in written.report
        assert any(figure.startswith(f"{name}-") for figure in written.figures)
        assert "audit.jsonl" in written.files[name]
        assert any(file.endswith(".csv") for file in written.files[name])
    assert written.responding == set(NAMES)
    assert written.html_bytes > 0


def test_the_command_exits_with_1_and_names_the_gap(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """`enquete export`, whole and with --format: 0 where nothing is broken, 1 with the gap where something is.

    One methodology stands for all: what the command does is the same.
    """
    study = study_of(("delphi",), tmp_path)
    data = study.run.folder / "data"
    where = [study.people["sim"], study.run.folder.name, "--out", study.people["out"], "--json"]
    for more in ([], ["--format", "csv,xlsx,sav,parquet", "--to", str(data)]):
        BROKEN.clear()
        assert cli.run(["export", *where, *more]) == 0
        assert json.loads(capsys.readouterr().out)["missing"] == []
        BROKEN["delphi"] = "table"
        assert cli.run(["export", *where, *more]) == 1
        told = json.loads(capsys.readouterr().out)
        assert told["exit_code"] == 1
        assert [says.partition(" (")[0] for says in told["missing"]] == [
            "Delphi: the data table facts could not be written"
        ]
    problems = (data / "csv" / "account" / "problems.csv").read_text("utf-8")
    assert "Delphi: the data table facts could not be written" in problems


@pytest.mark.parametrize(("name", "step", "turn"), broken_in(OTHER_TURNS))
def test_other_steps_cost_themselves_alone_too(
    name: str, step: str, turn: int, write_other_turn: Callable[[int], Written]
) -> None:
    """Two methodologies stand for all: one of rounds, one of conversations. A third is whole."""
    written = write_other_turn(turn)
    assert {gap["step"] for gap in written.gaps_of(name)} == {STEP.get(step, step)}
    assert {gap["methodology"] for gap in written.summary["gaps"]} == written.steps.keys()
    assert written.summary["results"].keys() == {"delphi", "roundtable", "poll"}
    unwritten = written.report.count("This part of the report could not be written; the reason is on page one.")
    assert unwritten == sum(broken in ("section", "appendix") for broken in written.steps.values())
    if step == "lines":  # what was whole is there, what broke off is not, what came after it is
        assert {"whole.txt", "audit.jsonl"} <= written.files[name]
        assert "half.jsonl" not in written.files[name]
    if step == "health":
        assert "cannot be judged – the checks themselves failed" in written.report


def test_a_run_with_a_broken_figure_has_failed(tmp_path: Path) -> None:
    """While it is driven, not only when it is written again: filed in the ledger, from which the exit code comes."""
    BROKEN["poll"] = "figure"
    run = made(**people_file(tmp_path, 4), methods=["poll"], available={"poll": f"{__name__}:poll"}, language="en")
    stored = enquete.load_run(tmp_path / "people.json", out=str(tmp_path / "out"))
    assert (stored.status, stored.exit_code) == ("failed", 1)
    assert any(failure.startswith("poll ") and "planted" in failure for failure in stored.standing.failures)
    assert any("Poll: the figure “planted_" in flag for flag in stored.flags)
    assert run.synthesis.is_dir()


def test_conversations_that_cannot_be_told_cost_neither_the_report_nor_those_of_others(tmp_path: Path) -> None:
    """The page of an agent names what is missing, and shows the conversation of the other methodology."""
    names = ("laddering", "roundtable")
    folder = mirofish_folder(tmp_path / "simulations" / "sim_t", 4, status="completed")
    BROKEN["laddering"] = "transcripts"
    run = made(
        folder, methods=list(names), available={name: f"{__name__}:{name}" for name in names}, language="en",
        settings={name: SHORT[name] for name in names if name in SHORT},
    )  # fmt: skip
    assert json.loads((run.synthesis / "results.json").read_text("utf-8"))["gaps"] == []
    (who,) = rows(run.folder, "SELECT id FROM participants ORDER BY position LIMIT 1")[0]
    with browsing(tmp_path) as client:
        page = client.get(f"/runs/sim_t/{run.folder.name}/agent?id={who}")
    assert page.status_code == 200
    assert "Laddering: its conversations could not be told (ZeroDivisionError: planted)." in page.text
    assert 'id="talk-roundtable"' in page.text
    assert 'id="talk-laddering"' not in page.text


def test_answers_in_python_are_all_there_and_a_warning_names_what_they_lack(three: Study) -> None:
    """Shown by the Delphi: what Python does is the same for all."""
    BROKEN["delphi"] = "items"
    run = enquete.load_run(three.people["sim"], three.run.folder.name, out=three.people["out"])
    with pytest.warns(IncompleteExportWarning, match="ZeroDivisionError: planted"):
        answers = run.all_responses
    assert set(answers["methodology"]) == set(three.methods)
    lacking = answers[answers["methodology"].eq("delphi")]
    assert lacking[["scale_min", "value_rekeyed"]].isna().all(axis=None)
    assert lacking["value"].notna().any()
