"""One methodology whose code fails at one step of its report: everything else is written, and the gap is named.

Each methodology is asked beside a second one. Then its own code is broken, at one step after the other, and the report
is written again from the ledger. What is broken is the methodology's declaration, in a copy that stands here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import pytest

import enquete
from enquete.interfaces.cli import app as cli
from enquete.methods.registry import dotted_paths
from enquete.reports import declarations as d
from enquete.reports.evaluation import Evaluation
from enquete.reports.questions import Finding, Remark
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
class Pair:
    """A run of two methodologies, which is not written up: the one that will be broken, and another."""

    name: str
    other: str
    run: Made
    people: dict[str, str]


@pytest.fixture(scope="module")
def run_pair(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    """Return a function that runs a methodology beside another, once for all tests that ask for it by name."""

    @cache
    def run(name: str) -> Pair:
        other = "poll" if name != "poll" else "scenario"
        available = {each: f"{__name__}:{each}" for each in (name, other)}
        settings = {each: values for each, values in SHORT.items() if each in available}
        people = people_file(tmp_path_factory.mktemp(name), 5)

        async def complete(run_session: RunSession) -> None:
            await run_session.ledger.set_stage("", "", "completed")

        finished = made(
            **people, language="en", methods=list(available), available=available, settings=settings, write=False,
            prepare=complete,
        )  # fmt: skip
        return Pair(name, other, finished, people)

    return run


def written(pair: Pair, step: str) -> tuple[Made, list[str]]:
    """The report of a run whose methodology is broken at this step, and what its writer was warned of."""
    BROKEN[pair.name] = step
    where = {"out": pair.people["out"]}
    with pytest.warns(IncompleteExportWarning) as warned:
        enquete.export(pair.people["sim"], pair.run.folder.name, **where)
    return pair.run, [str(each.message) for each in warned if each.category is IncompleteExportWarning]


def files_of(run: Made, methodology: str) -> set[str]:
    own = run.interviews / "T1" / methodology / run.folder.name
    tables = run.synthesis / "exports" / methodology
    return {path.name for folder in (own, tables) for path in folder.glob("*")}


@pytest.mark.parametrize("step", OF_ALL)
@pytest.mark.parametrize("name", NAMES)
def test_one_broken_methodology_costs_its_own_step_alone(name: str, step: str, run_pair: Callable[[str], Pair]) -> None:
    """Every methodology at each of the five steps that a reader sees."""
    pair = run_pair(name)
    run, warned = written(pair, step)
    title = load_methodology(dotted_paths()[pair.name]).title
    summary = json.loads((run.synthesis / "results.json").read_text("utf-8"))
    page = json.loads((run.synthesis / "page_one.json").read_text("utf-8"))
    report, page_one = run.report(), (run.synthesis / "page_one.md").read_text("utf-8")

    assert summary["status"] == "failed"
    assert {(gap["methodology"], gap["step"]) for gap in summary["gaps"]} == {(pair.name, step)}
    for says in (gap["says"] for gap in summary["gaps"]):
        assert says.startswith(f"{title}: ")
        assert "ZeroDivisionError: planted" in says
        assert says in page["notices"]
        assert says in summary["flags"]
        assert says in warned
    assert "ZeroDivisionError: planted" in page_one

    # the other methodology is whole, and so is what the broken one can still give
    assert summary["results"].keys() >= {pair.other}
    assert (pair.name in summary["results"]) == (step not in ("items", "analysis"))
    other_title = load_methodology(dotted_paths()[pair.other]).title
    assert f"## {other_title}" in report
    assert list((run.synthesis / "figures").glob(f"{pair.other}-*.svg"))
    assert {"responses.jsonl", "results.json"} & files_of(run, pair.other)
    with (run.synthesis / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        assert {row["methodology"] for row in csv.DictReader(file)} == {pair.name, pair.other}
    assert (run.synthesis / "report.html").stat().st_size > 0


def test_the_command_exits_with_1_and_names_the_gap(
    run_pair: Callable[[str], Pair], capsys: pytest.CaptureFixture
) -> None:
    """`enquete export`, whole and with --format: 0 where nothing is broken, 1 with the gap where something is.

    One methodology stands for all: what the command does is the same.
    """
    pair = run_pair("delphi")
    where = [pair.people["sim"], pair.run.folder.name, "--out", pair.people["out"], "--json"]
    for more in ([], ["--format", "csv,xlsx,sav,parquet", "--to", str(pair.run.folder / "data")]):
        BROKEN.clear()
        assert cli.run(["export", *where, *more]) == 0
        assert json.loads(capsys.readouterr().out)["missing"] == []
        BROKEN[pair.name] = "table"
        assert cli.run(["export", *where, *more]) == 1
        told = json.loads(capsys.readouterr().out)
        assert told["exit_code"] == 1
        assert [says.partition(" (")[0] for says in told["missing"]] == [
            "Delphi: the data table facts could not be written"
        ]
    problems = (pair.run.folder / "data" / "csv" / "account" / "problems.csv").read_text("utf-8")
    assert "Delphi: the data table facts could not be written" in problems


@pytest.mark.parametrize("step", [step for step in BREAKING if step not in (*OF_ALL, *ON_PAGES)])
@pytest.mark.parametrize("name", ["delphi", "roundtable"])
def test_other_steps_cost_themselves_alone_too(name: str, step: str, run_pair: Callable[[str], Pair]) -> None:
    """Two methodologies stand for all: one of rounds, one of conversations."""
    pair = run_pair(name)
    run, _ = written(pair, step)
    summary = json.loads((run.synthesis / "results.json").read_text("utf-8"))
    assert {(gap["methodology"], gap["step"]) for gap in summary["gaps"]} == {(pair.name, STEP.get(step, step))}
    assert summary["results"].keys() == {pair.name, pair.other}
    report = run.report()
    unwritten = report.count("This part of the report could not be written; the reason is on page one.")
    assert unwritten == (1 if step in ("section", "appendix") else 0)
    if step == "lines":  # what was whole is there, what broke off is not, what came after it is
        assert {"whole.txt", "audit.jsonl"} <= files_of(run, pair.name)
        assert "half.jsonl" not in files_of(run, pair.name)
    if step == "health":
        assert "cannot be judged – the checks themselves failed" in report


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


def test_answers_in_python_are_all_there_and_a_warning_names_what_they_lack(run_pair: Callable[[str], Pair]) -> None:
    """Shown by the Delphi: what Python does is the same for all."""
    pair = run_pair("delphi")
    BROKEN["delphi"] = "items"
    run = enquete.load_run(pair.people["sim"], pair.run.folder.name, out=pair.people["out"])
    with pytest.warns(IncompleteExportWarning, match="ZeroDivisionError: planted"):
        answers = run.all_responses
    assert set(answers["methodology"]) == {"delphi", pair.other}
    lacking = answers[answers["methodology"].eq("delphi")]
    assert lacking[["scale_min", "value_rekeyed"]].isna().all(axis=None)
    assert lacking["value"].notna().any()
