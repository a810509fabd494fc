"""Covariates keep their type in every format, and stand in the wide files; wide.csv has all closed answers."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from arro3.core import DataType
from arro3.io import read_parquet
from openpyxl import load_workbook

import enquete
from enquete.reports.covariates import type_column
from tests.support.bare_runs import without_figures
from tests.support.model_server import ModelServer

# Written by hand: income whole, share with a decimal comma, zip with a zero that a number would lose, notes empty once.
PEOPLE = """id,name,persona,type,income,share,zip,note
1,Ann,Fisher.,coast,1200,"0,25",01067,first
2,Ben,Baker.,town,,"12,5",01069,
3,Cem,Cook.,town,900,"3,75",10115,third
"""
POLL = {
    "title": "Fares", "topic": "Fares of buses", "languages": ["en"],
    "questions": [
        {"question_id": "fair", "kind": "likert", "scale": "likert5", "en": "The fares are fair."},
        {"question_id": "payer", "kind": "choice", "en": "Who?", "options": [{"en": "the town"}, {"en": "riders"}]},
        {"question_id": "why", "kind": "open", "en": "Why?"},
        {"question_id": "days", "kind": "number", "minimum": 0, "maximum": 7, "en": "On how many days?"},
    ],
}  # fmt: skip
WHO = ["participant", "agent_id", "agent_name", "stakeholder_type"]
COVARIATES = ["income", "share", "zip", "note"]
POLLED = ["fair", "payer", "days"]


@pytest.mark.parametrize(
    ("texts", "dtype", "values"),
    [
        (["1200", "", "900"], "Int64", [1200, None, 900]),
        (["-3", "+4", "5"], "Int64", [-3, 4, 5]),
        (["0.25", "3", "12.5"], "Float64", [0.25, 3, 12.5]),
        (["0,25", "3", "12,5"], "Float64", [0.25, 3, 12.5]),
        (["1.500", "2.000"], "str", ["1.500", "2.000"]),  # thousands or decimals: nothing tells which
        (["1.500", "2.5"], "Float64", [1.5, 2.5]),  # the second does
        (["1.500", "2,5"], "Float64", [1500, 2.5]),  # so does this one
        (["1.234,50", "2.000"], "Float64", [1234.5, 2000]),
        (["1 500", "2 000"], "Int64", [1500, 2000]),
        (["12e4", "13e4"], "str", ["12e4", "13e4"]),  # identifiers
        (["0,25", "3.5"], "str", ["0,25", "3.5"]),  # no mark that goes with both
        (["01067", "10115"], "str", ["01067", "10115"]),
        (["12345678901234567890"], "str", ["12345678901234567890"]),  # no double has all these digits
        (["7", "seven"], "str", ["7", "seven"]),
        (["", ""], "str", [None, None]),
    ],
)
def test_a_column_has_one_type_as_a_whole(texts: list[str], dtype: str, values: list[object]) -> None:
    typed = type_column(pd.Series(texts, name="x"))
    assert str(typed.dtype) == dtype
    assert [None if pd.isna(value) else value for value in typed] == values


@dataclass(frozen=True)
class Exported:
    run: enquete.Run
    folder: Path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Three people, a poll and a Delphi; Cem's poll is refused, so that his answers are missing for a reason."""
    folder = tmp_path_factory.mktemp("covariates")
    (folder / "people.csv").write_text(PEOPLE, "utf-8")

    def answer(body: dict[str, object]) -> str | None:
        said = json.dumps(body)
        return "I'm sorry, I can't assist with that." if "Cook." in said and "fares" in said else None

    with ModelServer(script=answer) as server, without_figures():  # type: ignore[arg-type]
        run = enquete.conduct_interviews(
            folder / "people.csv", out=str(folder / "out"), methods=["poll", "delphi"], instruments={"poll": POLL},
            language="en", fit="any", model="m", base_url=server.base_url, by="income",
        )  # fmt: skip
        run.export("csv", "parquet", "sav", "xlsx", to=folder / "data")
    return Exported(run, folder / "data")


def test_wide_csv_has_covariates_first_and_every_closed_answer_in_the_order_of_the_questionnaire(
    exported: Exported,
) -> None:
    run = exported.run
    with (run.path / "exports" / "wide.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])
    assert names[: len(WHO + COVARIATES + POLLED)] == [*WHO, *COVARIATES, *POLLED]  # "why" is answered in words
    delphi = names[len(WHO + COVARIATES + POLLED) :]
    rounds = [name.rpartition("_round")[2] for name in delphi]
    assert rounds == sorted(rounds)
    assert set(rounds) == {"2", "3"}
    assert [row["agent_name"] for row in rows] == ["Ann", "Ben", "Cem"]
    assert [row["income"] for row in rows] == ["1200", "", "900"]
    answers = run.responses.set_index(["methodology", "agent_name", "round", "item_id"]).sort_index()
    for row in rows:
        given = answers.loc[("poll", row["agent_name"], 0)]
        assert row["fair"] == ("" if pd.isna(given.loc["fair", "value"]) else f"{given.loc['fair', 'value']:g}")
        assert row["payer"] == given.loc["payer", "choice"]
    items = json.loads((run.path / "exports" / "codebook.json").read_text("utf-8"))["resources"]
    (fields,) = (entry["schema"]["fields"] for entry in items if entry["name"] == "wide")
    known = {field["name"]: field for field in fields}
    assert [known[name]["type"] for name in COVARIATES] == ["integer", "number", "string", "string"]
    assert (known["fair"]["methodology"], known["fair"]["title"]) == ("poll", "The fares are fair.")


@pytest.mark.parametrize("file", ["agents", "wide", "poll/wide_T1"])
def test_covariates_have_their_types_in_every_format(exported: Exported, file: str) -> None:
    folder = exported.folder
    frame = pd.read_csv(folder / "csv" / f"{file}.csv", dtype={"zip": str})
    assert (frame["income"].tolist()[::2], frame["share"].tolist()) == ([1200, 900], [0.25, 12.5, 3.75])
    assert frame["zip"].tolist() == ["01067", "01069", "10115"]
    sav, meta = pyreadstat.read_sav(folder / "sav" / f"{file}.sav")
    assert {name: meta.readstat_variable_types[name] for name in COVARIATES} == {
        "income": "double", "share": "double", "zip": "string", "note": "string",
    }  # fmt: skip
    assert sav["share"].tolist() == [0.25, 12.5, 3.75]
    assert {name: meta.variable_measure[name] for name in ("income", "zip")} == {"income": "scale", "zip": "nominal"}
    schema = read_parquet(folder / "parquet" / f"{file}.parquet").read_all().schema
    kinds = [str(schema.field(name).type) for name in COVARIATES]
    assert kinds == [str(kind) for kind in (DataType.int64(), DataType.float64(), DataType.string(), DataType.string())]
    book = load_workbook(folder / "xlsx" / f"{exported.run.run_id}.xlsx", read_only=True)
    head, first, *_ = book[file.replace("/", ".")].iter_rows(values_only=True)
    told = dict(zip(head, first, strict=True))
    assert (told["income"], told["share"], told["zip"]) == (1200, 0.25, "01067")


@pytest.mark.parametrize("file", ["wide", "poll/wide_T1"])
def test_choices_have_codes_for_why_they_are_missing_in_sav(exported: Exported, file: str) -> None:
    """By hand: refused is −96, and Cem refused everything."""
    path = exported.folder / "sav" / f"{file}.sav"
    frame, meta = pyreadstat.read_sav(path, user_missing=True)
    cem = frame[frame["agent_name"].eq("Cem")].iloc[0]
    assert (cem["payer"], cem["fair"]) == (-96, -96)
    assert meta.missing_ranges["payer"] == [{"lo": -99.0, "hi": -96.0}]
    labels = meta.variable_value_labels["payer"]
    assert (labels[1.0], labels[2.0], labels[-96.0]) == ("the town", "riders", "declined")
    assert pyreadstat.read_sav(path)[0]["payer"].notna().sum() == 2
    book = json.loads((exported.folder / "sav" / "datapackage.json").read_text("utf-8"))
    fields = {field["name"]: field for entry in book["resources"] if entry["name"] == "wide"
              for field in entry["schema"]["fields"]}  # fmt: skip
    assert fields["payer"]["missingLabels"]["-96"] == "refused"
    assert [entry["value"] for entry in fields["payer"]["categories"]] == [1, 2]


def test_a_column_of_numbers_stays_one_beside_the_groups_that_it_makes(exported: Exported) -> None:
    agents = exported.run.agents
    assert agents["income"].tolist()[::2] == [1200, 900]
    assert agents["income_group"].dropna().tolist() == ["1200", "900"]


def test_python_has_frames(exported: Exported) -> None:
    run = exported.run
    assert isinstance(run.agents, pd.DataFrame)
    assert {str(run.wide[name].dtype) for name in ("income", "share", "zip")} == {"Int64", "Float64", "str"}
    assert list(run.wide.columns[:8]) == [*WHO, *COVARIATES]
    assert len(run.wide) == len(run.agents) == 3
    assert all(isinstance(table, pd.DataFrame) for table in run.tables.values())
    assert {"poll.means", "delphi.ratings", "items"} <= run.tables.keys()
    assert {"agents", "wide", "tables"} <= set(dir(run))
