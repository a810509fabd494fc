"""Every methodology that has a template: section, appendix, findings, digest and warnings of an empty, a partial and a
small run, in both languages. Templates are strict: a name that is not there is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from enquete.locale import SOURCE, languages
from enquete.methods.registry import dotted_paths
from enquete.reports.analyses import find, stated
from enquete.reports.columns import SHARED, ColumnsFile, Glossary, load_columns
from enquete.reports.declarations import Analysis, Presentation, shaped
from enquete.reports.evaluation import evaluation
from enquete.reports.findings import corrected, state_finding
from enquete.reports.key_questions import Finding
from enquete.reports.responses import responses
from enquete.reports.result_tables import ResultTables
from enquete.reports.run_reading import open_run
from enquete.reports.views import Names, Results
from enquete.runs.planning import load_methodology
from tests.reports.conftest import SHORT, made, people_file


def presentation_of(name: str) -> Presentation:
    return evaluation(load_methodology(dotted_paths()[name])).presentation


WITH_TEMPLATE = [name for name in dotted_paths() if presentation_of(name).template]
LANGUAGES = languages()


@pytest.fixture(scope="module", params=WITH_TEMPLATE)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The analyses of a run that never began, one that reached two agents of seven, and one that is whole."""
    name = request.param
    presentation = presentation_of(name)

    @cache
    def analysed(kind: str) -> Analysis:
        if kind == "empty":
            return corrected({name: (presentation, shaped(presentation, {}, {}))})[name]
        people = people_file(tmp_path_factory.mktemp(f"{name}_{kind}"), 7)
        settings = {each: values for each, values in SHORT.items() if each == name}
        run = made(
            **people, methods=[name], available={name: dotted_paths()[name]}, settings=settings, language="en",
            write=False, agents=(0, 1) if kind == "partial" else None,
        )  # fmt: skip
        with open_run(run.folder) as reading:
            return find(reading, responses(reading, plain=True)).analyses[name]

    return SimpleNamespace(name=name, presentation=presentation, analysed=analysed)


def results_of(runs: SimpleNamespace, kind: str, language: str) -> Results:
    return Results(runs.name, runs.presentation, runs.analysed(kind), Names(), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["empty", "partial", "small"])
def test_everything_that_is_read_of_a_run_can_be_told(runs: SimpleNamespace, kind: str, language: str) -> None:
    results = results_of(runs, kind, language)
    read = [results.at("section"), results.at("appendix"), *results.flags()]
    read += [sentence for _, sentence in results.remembered()]
    findings = stated({runs.name: results})[runs.name]
    read += [finding.text for finding in findings]
    digest = results.digest()
    assert set(digest["tables"]) <= set(runs.presentation.tables)
    for text in read:
        assert "{" not in text
        assert not {"None", "nan", "<NA>"} & set(text.replace("|", " ").split()), text
    if kind == "small":
        assert "|" in results.at("section")
        assert findings
        assert len({finding.id for finding in findings}) == len(findings)


def test_both_languages_say_the_same_of_the_same_rows(runs: SimpleNamespace) -> None:
    """A table has as many lines and a run as many findings in either, and no section is the other's."""
    told = {language: results_of(runs, "small", language) for language in LANGUAGES}
    english = told[SOURCE]
    for language, results in told.items():
        for place in ("section", "appendix"):
            lines = [text.at(place).splitlines() for text in (english, results)]
            assert len(lines[0]) == len(lines[1])
            assert language == SOURCE or not lines[0] or lines[0] != lines[1]
        ids = [[finding.id for finding in stated({"x": each})["x"]] for each in (english, results)]
        assert ids[0] == ids[1]


def test_a_finding_names_only_values_that_it_has(runs: SimpleNamespace) -> None:
    results = results_of(runs, "small", "en")
    for finder in runs.presentation.finders:
        for finding in finder(ResultTables(runs.presentation, runs.analysed("small"))):
            assert state_finding(finding, results).text
    unknown = Finding(id="planted", text="it says {nothing_of_the_kind}")
    with pytest.raises(ValueError, match="'planted' names nothing_of_the_kind, which has no value"):
        state_finding(unknown, results)
    with pytest.raises(
        ValueError, match=r"'planted' answers 'whether', the questions are|'planted' answers 'whether'; "
    ):
        state_finding(Finding(id="planted", text="it says", question="whether"), results)


def test_a_level_or_column_that_does_not_exist_is_an_error(runs: SimpleNamespace) -> None:
    tables = ResultTables(runs.presentation, runs.analysed("small"))
    for table in runs.presentation.tables.values():
        with pytest.raises(ValueError, match="has no column 'nowhere'"):
            tables.select(table.name, nowhere=1)
        for column in table.stored:
            if column.format == "code" and column.levels:
                assert len(tables.select(table.name, **{column.name: list(column.levels)})) <= len(tables[table.name])
                with pytest.raises(ValueError, match="has no level 'misspelt'; there are "):
                    tables.select(table.name, **{column.name: "misspelt"})
                row = dict.fromkeys((each.name for each in table.stored), None)
                with pytest.raises(TypeError, match="'misspelt' is no level; there are "):
                    shaped(runs.presentation, {table.name: [{**row, column.name: "misspelt"}]}, {})


def test_every_column_is_described_once_and_every_description_is_used(runs: SimpleNamespace) -> None:
    """An entry below `scopes` of a methodology with a template is a column, a fact or a cell of one of its tables."""
    presentation = runs.presentation
    assert presentation.glossary.methodology == runs.name
    used = {f"{table.name}.{column.name}" for table in presentation.tables.values() for column in table.columns}
    used |= {f"facts.{name}" for name in presentation.facts}
    names = {name.partition(".")[2] for name in used}
    for entry in load_columns(SHARED)["scopes"].get(runs.name, {}):
        parts = presentation.glossary.column(entry.rpartition(".")[2], entry.rpartition(".")[0]).parts
        assert entry in used | names or parts, f"{runs.name}: nobody uses {entry}"


def test_columns_yaml_is_well_formed_and_an_unknown_column_is_named() -> None:
    assert list(ColumnsFile.model_validate(dict(load_columns(SHARED))).entries())
    with pytest.raises(TypeError, match=r"delphi\.ratings: no entry for column 'medain'"):
        Glossary("delphi").column("medain", "ratings")


def test_an_own_glossary_wins_and_its_faults_name_file_and_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "some_method"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "columns.yaml").write_text(
        "columns:\n  median: {label: middle, format: number}\n  side: {label: side, format: code}\n"
        "  depth: {label: depth, colour: red}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    glossary = Glossary("some", "some_method:columns.yaml")
    assert glossary.column("median").label == "middle"
    assert glossary.column("iqr").label == "IQR"  # of ours
    with pytest.raises(TypeError, match=r"some_method:columns\.yaml: side: .*a code needs levels"):
        glossary.column("side")
    with pytest.raises(TypeError, match=r"some_method:columns\.yaml: depth: colour "):
        glossary.column("depth")
