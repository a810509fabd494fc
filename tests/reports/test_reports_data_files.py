"""Files that people open, each read back by the library of its format: values, labels, codes, why an answer is
missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import frictionless
import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest
from arro3.io import read_parquet

from enquete.reports.declarations import (
    Presentation,
    Table,
    code,
    flag,
    integer,
    interval,
    number,
    p_value,
    reference,
    several,
    shaped,
    share,
    text,
)
from enquete.reports.files import (
    FORMATS,
    WRITERS,
    DataFile,
    SavWriter,
    Variable,
    XlsxWriter,
    declared_files,
    markdown,
    plain_name,
    wide_files,
    write_package,
)
from enquete.reports.responses import AskedItem
from enquete.reports.views import Names, Results
from enquete.state.errors import InputError
from enquete.study.run import Run
from tests.reports.conftest import Made

VERDICTS = {"consensus": "consensus", "open": "open", "disagreement": "disputed"}
THEMES = Table(
    name="themes", title="Themes", key=("theme",), label="label",
    columns=(text("theme", "id"), text("label", "Theme", means="what several answers say"), several("items", "items")),
)  # fmt: skip
RATINGS = Table(
    name="ratings", title="Ratings by theme", key=("theme", "by"),
    columns=(
        reference("theme", "Theme", to="themes"), reference("by", "Rated on", to="dimension"), integer("n", "n"),
        number("median", "median", digits=1), share("share", "share of the top {top}"), p_value("p"),
        flag("agreed", "agreed"),
        code("label", "Verdict", levels=VERDICTS), number("low", "low"), interval("low", "median", "95%"),
    ),
)  # fmt: skip
AGENTS = Table(
    name="agents", title="Agents", key=("participant",), one_agent=True,
    columns=(reference("participant", "agent", to="agent"), reference("group", "group", to="group"),
        text("reason", "reason")),
)  # fmt: skip
UNWRITTEN = Table(name="drafts", title="Drafts", key=("theme",), columns=(text("theme", "id"),), files=False)
EMPTY = Table(name="nothing", title="Nothing", key=("theme",), columns=(text("theme", "id"),))
PANEL = Presentation(
    tables=(THEMES, RATINGS, AGENTS, UNWRITTEN, EMPTY), facts=(integer("top", "places"), several("models", "models"))
)
ROWS: dict[str, list[dict[str, Any]]] = {
    "themes": [{"theme": "t1", "label": "=Quota, ä", "items": ["q1", "q2"]},
        {"theme": "t2", "label": "Price", "items": None}],
    "ratings": [
        {"theme": "t1", "by": "importance", "n": 3, "median": 4.5, "share": 0.25, "p": 0.04, "agreed": True,
            "label": "open", "low": 1.0},
        {"theme": "t2", "by": "importance", **dict.fromkeys(("n", "median", "share", "p", "agreed", "label", "low"))},
    ],
    "agents": [
        {"participant": "a1", "group": "ngo", "reason": "first\nsecond \"quoted\"\x1b"},
        {"participant": "a2", "group": "fisher", "reason": "+49 is\ttold"},
    ],
    "drafts": [{"theme": "t1"}],
}  # fmt: skip


def results(language: str = "en") -> Results:
    names = Names(agents={"a1": "Anna", "a2": "Bo"}, groups={"ngo": "Verbände", "fisher": "Fischer"})
    return Results("panel", PANEL, shaped(PANEL, ROWS, {"top": 5, "models": ["m1", "m2"]}), names, language)


ASKED = [
    AskedItem("panel", "theme:9f/importance", "scale", {"en": "How important?"},
        {"en": {"1": "not at all", "5": "very"}}, 1, 5,
          reverse_keyed=True, confidence=True, reason=True),
    AskedItem("panel", "where", "choice", {"en": "Where?"}, {"en": {"sea": "The sea", "town": "The town"}}),
    AskedItem("panel", "why", "text", {"en": "Why?"}),
]  # fmt: skip


def answer(who: str, item: str, status: str = "ok", arm: str = "main", **given: Any) -> dict[str, Any]:
    about = {
        "run_id": "r", "arm": arm, "arm_role": "main", "phase": "T1", "round": 0, "session": "", "turn": 0,
        "participant": who, "agent_name": who.upper(), "stakeholder_type": "ngo", "item_id": item, "status": status,
    }  # fmt: skip
    return {**about, "value": np.nan, "choice": "", "text": "", "confidence": np.nan, **given}


def answers() -> pd.DataFrame:
    """Of six agents one answers everything; of the others each lacks the rating for another reason."""
    rated = ASKED[0].item_id
    return pd.DataFrame([
        answer("a1", rated, value=4.0, confidence=0.5, text="because"), answer("a1", "where", choice="town"),
        answer("a1", "why", text="-1 more"),
        answer("a2", rated, "repaired", value=1.0), answer("a2", "where", "refused"), answer("a2", "why", "failed"),
        *(answer(f"a{n}", rated, status) for n, status in enumerate(("refused", "invalid", "failed", "not_reached"),
            3)),
    ])  # fmt: skip


def packed(
    folder: Path, files: Iterator[DataFile] | list[DataFile], *formats: str, bom: bool = False
) -> dict[str, dict[str, Any]]:
    """Written in these formats; the Data Package of each."""
    used = SimpleNamespace(hash="h", source="shipped", content={})
    record = SimpleNamespace(
        sim_id="sim", run_id="run_1", language="en", fingerprint="f", population_hash="p", instruments={"panel": used}
    )
    reading: Any = SimpleNamespace(run="run_1", language="en", record=record)
    write_package(folder, reading, ASKED, files, formats or FORMATS, bom=bom)  # type: ignore[arg-type]
    return {each: json.loads((folder / each / "datapackage.json").read_text("utf-8")) for each in formats or FORMATS}


@dataclass
class Written:
    folder: Path
    books: dict[str, dict[str, Any]]

    def fields(self, format_: str, name: str) -> dict[str, dict[str, Any]]:
        (resource,) = (entry for entry in self.books[format_]["resources"] if entry["name"] == name)
        return {field["name"]: field for field in resource["schema"]["fields"]}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("files")
    files = [
        *declared_files(results(), "Panel", pd.Index(["a1", "a2"])),
        *wide_files("panel", "Panel", answers(), ASKED, "en"),
    ]
    return Written(folder, packed(folder, files))


def test_every_declared_table_that_has_rows_is_a_file(written: Written) -> None:
    for format_, book in written.books.items():
        names = ["panel.facts", "panel.themes", "panel.ratings", "panel.agents", "panel.wide_T1"]
        assert [resource["name"] for resource in book["resources"]] == names, format_
        assert all((written.folder / format_ / resource["path"]).is_file() for resource in book["resources"])


@pytest.mark.parametrize("format_", ["csv", "xlsx"])
def test_frictionless_finds_package_and_files_valid(written: Written, format_: str) -> None:
    report = frictionless.validate(str(written.folder / format_ / "datapackage.json"), type="package")
    assert report.valid, report.flatten(["name", "message"])


@pytest.mark.parametrize("format_", ["parquet", "sav"])  # the first it reads as pandas does, the second not at all
def test_frictionless_takes_the_description_of_what_it_cannot_read(written: Written, format_: str) -> None:
    assert not list(frictionless.Package.metadata_validate(written.books[format_]))


def test_frictionless_finds_what_is_wrong(written: Written, tmp_path: Path) -> None:
    """The oracle can fail: a theme that is in no table, a rating that stands twice."""
    (tmp_path / "panel").mkdir()
    for file in (written.folder / "csv").rglob("*.*"):
        (tmp_path / file.relative_to(written.folder / "csv")).write_bytes(file.read_bytes())
    ratings = tmp_path / "panel" / "ratings.csv"
    line = ratings.read_text("utf-8").splitlines()[1]
    ratings.write_text(
        ratings.read_text("utf-8") + line + "\r\n" + line.replace("t1", "t9") + "\r\n", "utf-8", newline=""
    )
    report = frictionless.validate(str(tmp_path / "datapackage.json"), type="package")
    assert {error for (error,) in report.flatten(["type"])} == {"primary-key", "foreign-key"}


def test_csv_guards_cells_and_has_the_mark_on_request(written: Written, tmp_path: Path) -> None:
    themes = pd.read_csv(written.folder / "csv" / "panel" / "themes.csv")
    assert themes["label"].tolist() == ["'=Quota, ä", "Price"]
    assert json.loads(themes["items"][0]) == ["q1", "q2"]
    rated = (written.folder / "csv" / "panel" / "ratings.csv").read_bytes()
    assert rated.splitlines() == [
        b"theme,by,n,median,share,p,agreed,label,low", b"t1,importance,3,4.5,0.25,0.04,true,open,1",
        b"t2,importance,,,,,,,",
    ]  # fmt: skip
    packed(tmp_path, declared_files(results(), "Panel", pd.Index([])), "csv", bom=True)
    assert (tmp_path / "csv" / "panel" / "ratings.csv").read_bytes() == b"\xef\xbb\xbf" + rated


def test_parquet_keeps_types_nulls_and_meanings(written: Written) -> None:
    table = read_parquet(written.folder / "parquet" / "panel" / "ratings.parquet").read_all()
    told = ROWS["ratings"]
    assert {name: table[name].to_pylist() for name in table.column_names} == {
        name: [row[name] for row in told] for name in table.column_names
    }
    assert {field.name: str(field.type).strip() for field in table.schema} == {
        "theme": "arro3.core.DataType<Utf8>", "by": "arro3.core.DataType<Utf8>", "n": "arro3.core.DataType<Int64>",
        "median": "arro3.core.DataType<Float64>", "share": "arro3.core.DataType<Float64>",
        "p": "arro3.core.DataType<Float64>",
        "agreed": "arro3.core.DataType<Boolean>", "label": "arro3.core.DataType<Utf8>",
        "low": "arro3.core.DataType<Float64>",
    }  # fmt: skip
    assert table.schema.field("share").metadata[b"label"] == b"share of the top 5"
    themes = read_parquet(written.folder / "parquet" / "panel" / "themes.parquet").read_all()
    assert themes["items"].to_pylist() == ['["q1", "q2"]', None]
    assert themes["label"].to_pylist() == ["=Quota, ä", "Price"]  # only a spreadsheet would run it
    assert themes.schema.field("label").metadata[b"description"] == b"what several answers say"


def parquet(path: Path) -> pd.DataFrame:
    table = read_parquet(path).read_all()
    return pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})


def test_sav_has_labels_of_variables_and_values(written: Written) -> None:
    frame, meta = pyreadstat.read_sav(written.folder / "sav" / "panel" / "ratings.sav")
    assert list(frame) == [
        "theme",
        "by_",
        "n",
        "median",
        "share",
        "p",
        "agreed",
        "label",
        "low",
    ]  # BY is a word of SPSS
    assert frame.iloc[0].tolist() == ["t1", "importance", 3, 4.5, 0.25, 0.04, 1, 2, 1]
    assert frame.iloc[1, 2:].isna().all()
    assert meta.column_names_to_labels["share"] == "share of the top 5"
    assert meta.variable_value_labels["label"] == {1: "consensus", 2: "open", 3: "disputed"}
    assert meta.variable_value_labels["agreed"] == {0: "no", 1: "yes"}
    assert meta.variable_measure["label"] == "ordinal"
    fields = written.fields("sav", "panel.ratings")
    assert (fields["label"]["type"], fields["label"]["codes"]) == ("integer", list(VERDICTS))
    agents, meta = pyreadstat.read_sav(written.folder / "sav" / "panel" / "agents.sav")
    assert meta.variable_value_labels["group"] == {"ngo": "Verbände", "fisher": "Fischer"}
    assert agents["reason"].tolist() == ['first\nsecond "quoted"\\u001b', "+49 is\ttold"]


def test_sav_says_why_an_answer_is_missing(written: Written) -> None:
    """Codes from -99 in the order not reached, failed, invalid, refused; to SPSS they are missing, all else is not."""
    path = written.folder / "sav" / "panel" / "wide_T1.sav"
    name = "theme_9f_importance"
    frame, meta = pyreadstat.read_sav(path, user_missing=True)
    assert frame[name].tolist() == [4, 1, -96, -97, -98, -99]
    assert meta.missing_ranges[name] == [{"lo": -99, "hi": -96}]
    labels = meta.variable_value_labels[name]
    assert {labels[-96], labels[-99], labels[1], labels[5]} == {"declined", "planned, not asked", "not at all", "very"}
    assert meta.column_names_to_labels[name] == "How important?"
    assert pyreadstat.read_sav(path)[0][name].dropna().tolist() == [4, 1]
    assert frame["where"].dropna().tolist() == [2, -96]
    assert pyreadstat.read_sav(path)[0]["where"].dropna().tolist() == [2]
    told = meta.variable_value_labels["where"]
    assert {value: told[value] for value in (1, 2, -96)} == {1: "The sea", 2: "The town", -96: "declined"}
    assert frame[f"{name}_reason"].tolist() == ["because", "", "", "", "", ""]
    field = written.fields("sav", "panel.wide_T1")[name]
    assert field["missingLabels"] == {"-96": "refused", "-97": "invalid", "-98": "failed", "-99": "not_reached"}
    assert (field["item_id"], field["categories"][0]) == ("theme:9f/importance", {"value": 1, "label": "not at all"})


def test_codes_of_missing_answers_lie_beyond_every_answer(tmp_path: Path) -> None:
    frame = pd.DataFrame({"value": [-97.0, np.nan]})
    file = DataFile(
        name="x", title="x", frame=frame, variables=[Variable(name="value", label="v", type="number")], key=(),
        reasons={"value": pd.Series(["ok", "refused"])},
    )  # fmt: skip
    SavWriter(tmp_path, "x", "en").add(file)
    assert pyreadstat.read_sav(tmp_path / "x.sav", user_missing=True)[0]["value"].tolist() == [-97, -996]


def test_a_workbook_has_a_sheet_a_file_and_a_codebook(written: Written) -> None:
    (path,) = (written.folder / "xlsx").glob("*.xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == [
        "Codebook", "panel.facts", "panel.themes", "panel.ratings", "panel.agents", "panel.wide_T1",
    ]  # fmt: skip
    ratings = list(book["panel.ratings"].iter_rows(values_only=True))
    names = ("theme", "by", "n", "median", "share", "p", "agreed", "label", "low")
    assert ratings == [names, *(tuple(row[name] for name in names) for row in ROWS["ratings"])]
    assert {sheet.freeze_panes for sheet in book} == {"A2"}
    cell = book["panel.themes"]["B2"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == ("=Quota, ä", "s", True)
    assert book["panel.agents"]["C2"].value == 'first\nsecond "quoted"\\u001b'
    told = [row for row in book["Codebook"].iter_rows(values_only=True) if row[:2] == ("panel.ratings", "label")]
    assert told == [
        (
            "panel.ratings", "label", "Verdict", "Verdict", "string",
            "consensus = consensus; open = open; disagreement = disputed",
        )
    ]  # fmt: skip


def test_a_sheet_takes_no_more_rows_than_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(XlsxWriter, "MOST_ROWS", 1)
    with pytest.raises(InputError, match=r"panel\.themes has 2 rows and a sheet takes 1; choose parquet"):
        packed(tmp_path, declared_files(results(), "Panel", pd.Index([])), "xlsx")


def test_wide_answers_stand_by_arm_turn_and_session() -> None:
    rows = pd.DataFrame([
        answer("a1", "q", session="s1", turn=1, text="one"), answer("a1", "q", session="s1", turn=2, text="two"),
        answer("a1", "q", arm="probe", session="s1", turn=1, text="three"),
    ])  # fmt: skip
    (file,) = wide_files("talk", "Talk", rows, [AskedItem("talk", "q", "text", {"en": "Q"})], "en")
    assert file.key == ("arm", "session", "participant")
    assert file.frame[["arm", "q_turn1"]].to_numpy().tolist() == [["main", "one"], ["probe", "three"]]
    assert file.frame["q_turn2"].fillna("").tolist() == ["two", ""]
    assert file.variables[-1].about == {"item_id": "q", "turn": 2}


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("theme:9f/importance", "theme_9f_importance"), ("1st", "v1st"), ("By", "By_"), ("Größe", "Größe"), ("…", "v"),
        ("Q", "Q_2"),
     ("ä" * 50, "ä" * 30)],
)  # fmt: skip
def test_names_that_every_program_takes(wanted: str, name: str) -> None:
    assert plain_name(wanted, {"q"}) == name


def test_a_text_that_a_program_does_not_take_whole_ends_with_dots(tmp_path: Path) -> None:
    long = DataFile(
        name="x", title="x", frame=pd.DataFrame({"t": ["ä" * 40_000]}), variables=[Variable(name="t", label="t")],
        key=(),
    )  # fmt: skip
    for format_ in ("sav", "xlsx"):
        writer = WRITERS[format_](tmp_path, "x", "en")
        writer.add(long)
        writer.close()
    told = pyreadstat.read_sav(tmp_path / "x.sav")[0]["t"][0]
    assert (told[-1], len(told.encode())) == ("…", 32_767)
    assert openpyxl.load_workbook(tmp_path / "x.xlsx")["x"]["A2"].value == "ä" * 32_766 + "…"


def test_what_an_earlier_package_left_goes_and_nothing_else(tmp_path: Path) -> None:
    packed(tmp_path, declared_files(results(), "Panel", pd.Index([])), "csv")
    (tmp_path / "csv" / "panel" / "mine.txt").write_text("kept", "utf-8")
    packed(
        tmp_path,
        [
            DataFile(
                name="x", title="x", frame=pd.DataFrame({"t": ["a"]}), variables=[Variable(name="t", label="t")], key=()
            )
        ],
        "csv",
    )
    files = {path.relative_to(tmp_path / "csv").as_posix() for path in (tmp_path / "csv").rglob("*") if path.is_file()}
    assert files == {"x.csv", "panel/mine.txt", "datapackage.json"}


# --- a whole run ------------------------------------------------------------------------------------------------------


def package(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text("utf-8"))["resources"])


def assert_same_answers(frame: pd.DataFrame, table: pd.DataFrame) -> None:
    main = table[table["status"].isin(("ok", "repaired")) & table["value"].notna()]
    assert len(frame) == len(table)
    assert frame["value"].sum() == pytest.approx(main["value"].sum())
    assert frame["participant"].tolist() == table["participant"].tolist()


def test_a_run_gives_its_answers_in_what_people_open(whole: Made, tmp_path: Path) -> None:
    """Two methodologies: both formats take seconds for the cells of all. Every type of column: above."""
    run, table = Run(whole.folder), whole.table()
    run.export("sav", "xlsx", to=tmp_path)
    assert_same_answers(pyreadstat.read_sav(tmp_path / "sav" / "all_responses.sav")[0], table)
    workbook = tmp_path / "xlsx" / f"{run.run_id}.xlsx"
    assert_same_answers(pd.read_excel(workbook, sheet_name="all_responses"), table)


def test_a_run_with_all_methodologies_gives_its_answers_in_what_programs_read(full: Made, tmp_path: Path) -> None:
    """Both formats hold the table of the run: rows, sums of values; wide files have each answer once."""
    run, table = Run(full.folder), full.table()
    run.export("csv", "parquet", to=tmp_path)
    assert_same_answers(pd.read_csv(tmp_path / "csv" / "all_responses.csv", low_memory=False), table)
    assert_same_answers(parquet(tmp_path / "parquet" / "all_responses.parquet"), table)
    report = frictionless.validate(str(tmp_path / "csv" / "datapackage.json"), type="package")
    assert report.valid, report.flatten(["name", "message"])[:20]
    described = {description["name"]: description for description in package(tmp_path / "csv" / "datapackage.json")}
    for resource in package(full.synthesis / "exports" / "codebook.json"):  # what every run writes is a part of it
        assert described[resource["name"]] == resource
        files = [folder / resource["path"] for folder in (tmp_path / "csv", full.synthesis / "exports")]
        assert files[0].read_bytes() == files[1].read_bytes(), resource["name"]
    assert {"agents", "items", "all_responses"} <= described.keys()
    for name in run.record.methods:
        of_methodology = table[table["methodology"].eq(name)]
        wide = [parquet(file) for file in (tmp_path / "parquet" / name).glob("wide_*.parquet")]
        assert sum(len(frame) for frame in wide) == len(
            of_methodology.drop_duplicates(["phase", "round", "arm", "session", "participant"])
        ), name
        numbers = sum(frame.filter(regex="^(?!.*_confidence$)").sum(numeric_only=True).sum() for frame in wide)
        scaled = of_methodology[of_methodology["value"].notna() & of_methodology["choice"].fillna("").eq("")]
        assert numbers == pytest.approx(scaled["value"].sum()), name


def test_the_codebook_tells_a_reader_what_the_package_says(written: Written) -> None:
    told = markdown(written.books["csv"], "en")
    assert "## panel/ratings.csv" in told
    assert "| `label` | string | Verdict | consensus; open; disagreement = disputed |" in told
    assert "| `label` | string | Theme: what several answers say |  |" in told
