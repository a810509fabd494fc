"""People files as spreadsheets and survey tools leave them: rows that are no people, headers, columns of numbers.

Most cases and their right values are those of public_reports (files/), written anew here by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enquete.simulations.check import check
from enquete.simulations.population import among, load_population
from enquete.state.errors import SettingsError, SimulationError

PEOPLE = [("Anton Adler", "A fisher who distrusts quotas."), ("Berta Brandt", "Runs a fish restaurant.")]


def write(folder: Path, content: str, name: str = "p.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def with_people(*rows: str, header: str = "name,persona") -> str:
    return "\n".join([header, *(f'{name},"{persona}"' for name, persona in PEOPLE), *rows]) + "\n"


def names(path: Path) -> list[str]:
    return [who.name for who in load_population(path, skip_non_people=True).participants]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("Total,3", "line 4 is no person: a row of totals ('Total': '3')"),
        ("Summe,", "line 4 is no person: a row of totals ('Summe')"),
        ("Carla,#REF!", "line 4 is no person: its persona is the spreadsheet error #REF!"),
        ("#BEZUG!,A cook.", "line 4 is no person: its name is the spreadsheet error #BEZUG!"),
        ("#N/A,#N/A", "line 4 is no person: its name is the spreadsheet error #N/A"),
        ("NaN,N/A", "line 4 is no person: its name is 'NaN', which is none"),
        ("Carla,N/A", "line 4 is no person: its persona is 'N/A', which is none"),
        ("Carla,17", "line 4 is no person: its persona is '17', which is no text"),
        ("Name,Persona", "line 4 is no person: the header once more"),
        ('Anton Adler,"A fisher who distrusts quotas."', "line 4: has the same name and persona as line 2"),
    ],
)
def test_a_row_that_is_no_person_is_named_and_refused_until_it_is_dropped(tmp_path: Path, row: str, says: str) -> None:
    path = write(tmp_path, with_people(row))
    with pytest.raises(SimulationError) as refused:
        load_population(path)
    assert says in str(refused.value)
    assert "--skip-non-people" in str(refused.value)
    report = check(path)
    assert not report.ok
    assert any(says in issue.message for issue in report.issues if issue.severity == "error")
    dropped = load_population(path, skip_non_people=True)
    assert [who.name for who in dropped.participants] == ["Anton Adler", "Berta Brandt"]
    assert [issue.severity for issue in dropped.issues] == ["warning"]


@pytest.mark.parametrize(
    "row", ["NA,A person of this surname.", "Nan,Sells fish.", "Total,A station on the motorway.", "Anton Adler,Other."]
)
def test_people_with_odd_names_are_people(tmp_path: Path, row: str) -> None:
    assert len(load_population(write(tmp_path, with_people(row))).participants) == 3


def test_all_header_rows_of_a_qualtrics_export_are_named(tmp_path: Path) -> None:
    ids = '"{""ImportId"":""QID1_TEXT""}","{""ImportId"":""QID2_TEXT""}"'
    content = f'name,persona\nWhat is your name?,Who are you?\n{ids}\nAnton,"A fisher."\n'
    path = write(tmp_path, content)
    errors = [issue.message for issue in check(path).issues if issue.severity == "error"]
    assert [error.partition(";")[0] for error in errors] == [
        "line 2 is no person: a header row of Qualtrics (question texts)",
        "line 3 is no person: a header row of Qualtrics (ImportId)",
    ]
    assert names(path) == ["Anton"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            '[\n {"name": "Anton", "persona": "A fisher, who distrusts quotas."}\n]',
            "its content is JSON, no table; call",
        ),
        (
            '{"name": "Anton", "persona": "A fisher."}\n',
            "its content is JSON, one object a line; call it p.jsonl",
        ),
        (
            "Stakeholders of the harbour,,\n,,\nname,persona,type\nAnton,A fisher.,x\n",
            "the header stands in line 3 (name",
        ),
        ("Stakeholders\n\nname,persona\nAnton,A fisher.\n", "the header stands in line 3 (name, persona)"),
        ("name,Persona text\nAnton,A fisher who distrusts quotas.\n", "column 'persona text' looks like one: call the"),
        ("name,words\nAnton,A fisher who distrusts all quotas.\n", "column 'words' looks like one: call the column of"),
        ("name\nAnton\nBerta\n", "nobody has a persona, nor anything else that describes people"),
    ],
)
def test_a_file_of_another_form_is_refused_with_what_to_do(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(SimulationError) as refused:
        load_population(write(tmp_path, content))
    assert says in str(refused.value)


def test_people_described_by_further_columns_alone_are_people(tmp_path: Path) -> None:
    population = load_population(write(tmp_path, "name,age,profession\nAnton,54,fisher\nBerta,41,cook\n"))
    assert population.participants[0].persona == "Type: fisher · Age: 54 · Profession: fisher"


def test_the_separator_line_of_excel_is_no_header(tmp_path: Path) -> None:
    path = write(tmp_path, 'sep=;\nname;persona\nAnton;"A fisher; sells fish."\nBerta;"A cook."\nTotal;2\n')
    assert names(path) == ["Anton", "Berta"]
    assert "line 5 is no person" in str([issue.message for issue in check(path).issues])


def test_a_persona_that_is_an_object_is_said(tmp_path: Path) -> None:
    """TinyTroupe's persons hold name and all else in `persona`."""
    people = [{"type": "TinyPerson", "persona": {"name": "Lena Larsen", "age": 28}}]
    with pytest.raises(SimulationError, match="field 'persona' is an object"):
        load_population(write(tmp_path, json.dumps(people), "p.json"))


def test_groups_that_differ_only_in_case_are_noted(tmp_path: Path) -> None:
    rows = ["A,A fisher.,North", "B,A cook.,north", 'C,A clerk.,"North "', "D,A nurse.,NORTH", "E,A smith.,South"]
    path = write(tmp_path, "\n".join(["name,persona,region", *rows]))
    note = "column 'region': North / north / NORTH differ only in case or blanks and are groups of their own"
    assert note in [issue.message for issue in check(path).issues if issue.severity == "info"]


INCOMES = {
    "german": ['"1.234,50"', "2.000", "900", "-99", ""],
    "english": ['"1,234.50"', '"2,000"', "900", "-99", ""],
    "plain": ["1234.5", "2000", "900", "-99", ""],
}


@pytest.mark.parametrize("notation", INCOMES)
def test_a_column_of_numbers_is_read_as_a_whole(tmp_path: Path, notation: str) -> None:
    """One value with decimals says how all others are to be read: "2.000" is 2000 beside "1.234,50"."""
    rows = [f"P{n},Person {n}.,{income}" for n, income in enumerate(INCOMES[notation], start=1)]
    population = load_population(write(tmp_path, "\n".join(["name,persona,income", *rows])))
    above = among(population, where="income > 1000", missing_codes=["-99"])
    assert [who.name for who in above.participants] == ["P1", "P2"]
    below = among(population, where="income < 1000", missing_codes=["income=-99"])
    assert [who.name for who in below.participants] == ["P3"]
    assert [issue.message for issue in below.issues if issue.file == "where"] == [
        "'income' is not known of 2 of 5 agents, whom no comparison fits: P4, P5"
    ]
    equal = among(population, where="income == 2000 or income == -99", missing_codes=["-99"])
    assert [who.name for who in equal.participants] == ["P2"]
    assert len(among(population, where="income < 1000").participants) == 2  # −99 is a number unless it is declared


def test_a_column_whose_marks_tell_nothing_is_refused_until_the_mark_is_declared(tmp_path: Path) -> None:
    population = load_population(write(tmp_path, "name,persona,income\nA,A cook.,2.000\nB,A fisher.,3.500\n"))
    with pytest.raises(SettingsError, match=r"column 'income': '2.000' \(A\) may be 2 or 2000, and no other value"):
        among(population, where="income > 1500")
    assert len(among(population, where="income > 1500", decimal_mark=",").participants) == 2
    with pytest.raises(SettingsError, match="nobody is left to ask"):
        among(population, where="income > 1500", decimal_mark=".")


def test_numbers_of_a_json_file_are_what_they_are(tmp_path: Path) -> None:
    people = [{"name": "A", "persona": "A cook.", "income": 1.125}, {"name": "B", "persona": "A smith.", "income": 900}]
    population = load_population(write(tmp_path, json.dumps(people), "p.json"))
    assert [who.name for who in among(population, where="income < 2").participants] == ["A"]


@pytest.mark.parametrize(
    ("incomes", "why"),
    [(["1500", "unknown"], "'unknown' (P2) is no number"), (["1,5", "2.5"], "'2.5' (P2) does not go with '1,5' (P1)")],
)
def test_a_column_of_text_cannot_be_compared_in_order(tmp_path: Path, incomes: list[str], why: str) -> None:
    rows = [f'P{n},Person {n}.,"{income}"' for n, income in enumerate(incomes, start=1)]
    population = load_population(write(tmp_path, "\n".join(["name,persona,income", *rows])))
    with pytest.raises(SettingsError) as refused:
        among(population, where="income > 1")
    assert f"where: column 'income' is text, so that < and > mean nothing: {why}" in str(refused.value)


def test_codes_of_a_column_that_is_not_there_are_refused(tmp_path: Path) -> None:
    population = load_population(write(tmp_path, "name,persona,age\nA,A cook.,30\n"))
    with pytest.raises(SettingsError, match="missing_codes: 'incme' is no column here"):
        among(population, where="age > 3", missing_codes=["incme=-99"])
    with pytest.raises(SettingsError, match="names no code; write -99 or income=-99"):
        among(population, where="age > 3", missing_codes=["income="])
