"""Files of other tools and tables of items: what is derived is said, what is wrong stays wrong, all files are read
first.

tests/data/instruments has the form of MiroFish's longitudinal_v1, diversity_v1, delphi_v1 and scenario_v1, on another
topic.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.instruments.instrument import Instrument
from enquete.instruments.load import load_own, load_shipped
from enquete.instruments.polls import QuestionsInstrument
from enquete.instruments.text import instrument_notices, language_of
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.diversity.instrument import DiversityInstrument, grid_for
from enquete.methods.laddering.settings import LadderingInstrument
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.registry import dotted_paths
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.runs.instrument_pins import pin_instruments
from enquete.state.errors import InstrumentError
from enquete.state.request import RunRequest
from enquete.study.instruments import own_instruments

FILES = Path(__file__).parents[1] / "data" / "instruments"
MODELS: dict[str, type[Instrument]] = {
    "longitudinal": LongitudinalInstrument, "diversity": DiversityInstrument, "delphi": DelphiInstrument,
    "scenario": ScenarioInstrument,
}  # fmt: skip


def told(model: type[Instrument], path: Path) -> tuple[Instrument, list[str]]:
    instrument, notes = load_own(model, path)
    return instrument, [note.told("en") for note in notes]


@pytest.mark.parametrize("name", MODELS)
def test_an_original_instrument_loads_as_it_is_and_says_what_was_derived(name: str) -> None:
    instrument, notes = told(MODELS[name], FILES / f"{name}_v1.yaml")
    assert instrument.instrument_id == f"{name}_v1"
    assert f"instrument_id = {name}_v1 (name); title = “{name} v1” (name); topic = “{name} v1” (title)" in notes[0]
    assert notes[1].startswith("not in the file; Enquete's own words stand there: instruction")
    assert instrument_notices(instrument, "de") == instrument_notices(instrument, "en") == ()


def test_families_poles_and_names_come_from_the_file() -> None:
    survey, _ = load_own(LongitudinalInstrument, FILES / "longitudinal_v1.yaml")
    assert {name: family.label.in_("de") for name, family in survey.families.items()} == {"fees": "fees", "app": "app"}
    sort, _ = load_own(DiversityInstrument, FILES / "diversity_v1.yaml")
    assert [(axis.low.in_("en"), axis.high.in_("de"), axis.points) for axis in sort.likert_axes] == [
        ("Trust", "Kontrolle", 7), ("In town", "Im Netz", 7)]  # fmt: skip
    futures, _ = load_own(ScenarioInstrument, FILES / "scenario_v1.yaml")
    assert futures.scenario("S2").label.in_("en") == "A bank in town 2035"  # given as name_en
    assert futures.dimension("impact_on_my_group").label.in_("en") == "impact on my group"
    assert [item.wording for item in futures.scenario_items("S1", "en")][1] == "How strongly does it affect your group?"


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_derived_of_what_ships(name: str) -> None:
    from enquete.instruments.load import complete_instrument, shipped_file
    from enquete.instruments.source import read_source

    file = shipped_file(MODELS[name], name)
    instrument, notes = complete_instrument(MODELS[name], read_source(file.name, file.read_bytes()))
    assert notes == ()
    assert instrument == load_shipped(MODELS[name], name)


def test_tables_of_items_numbers_and_statements(tmp_path: Path) -> None:
    survey, notes = told(LongitudinalInstrument, FILES / "items.csv")
    assert [(item.item_id, item.reverse_coded) for item in survey.items] == [("t1", False), ("t2", True)]
    assert survey.items[1].wording.en == "Banks hide their fees, as a rule."
    assert survey.families["Trust-in-banks"].label.en == "Trust in banks"
    assert "column “note” is not read" in notes
    (tmp_path / "poll.csv").write_text("id,text,min,max\nage,How old?,0,120\nshare,Which share?,-0.5,\n", "utf-8")
    poll, _ = load_own(QuestionsInstrument, tmp_path / "poll.csv")
    assert [(question.kind, question.minimum, question.maximum) for question in poll.questions] == [
        ("number", 0, 120), ("number", -0.5, None)]  # fmt: skip
    sort, notes = told(DiversityInstrument, FILES / "statements.csv")
    assert sort.language_default == "de"
    assert [statement.statement_id for statement in sort.statements] == [f"statement_{n}" for n in range(1, 6)]
    assert sort.likert_axes == ()
    assert notes[0] == "no header: every line is read as one item"


def test_a_grid_for_any_number_of_statements() -> None:
    assert list(grid_for(24).values()) == [2, 3, 4, 6, 4, 3, 2]  # as in the Q literature, and in what ships
    for n in range(3, 101):
        grid = list(grid_for(n).values())
        assert sum(grid) == n
        assert grid == grid[::-1]
        half = grid[: len(grid) // 2 + 1]
        assert half == sorted(half), n


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "my.csv: the file is empty; write one item a line"),
        ("number,who\n1,me\n", "my.csv:1: no column holds the words"),
        ("text,de\nA b.,A b.\n", "my.csv:1: text, de say the same thing twice; keep one form"),
        ("text,reverse\nA is b.,perhaps\n", "my.csv:2: reverse_coded: is 'perhaps'; write yes or no"),
        ("id,text\na,B, c and d.\n", "my.csv:2: 3 cells for 2 columns; put quotes around texts that hold one"),
        ("id,text,scale\na,A is b.,²\n", "my.csv:2: items[0].scale: "),
        ("id,text\na b,A is b.\n", "my.csv:2: items[0].item_id: 'a b' is no item id"),
        ("id,text\na,A is b.\na,C is d.\n", "my.csv:3: items[1].item_id: 'a' is already the id of another item"),
    ],
)
def test_a_table_names_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(text, "utf-8")
    with pytest.raises(InstrumentError) as caught:
        load_own(LongitudinalInstrument, Path("my.csv"))
    assert any(message.startswith(problem) for message in caught.value.problems), caught.value.problems


def test_a_table_is_no_whole_instrument_of_an_interview() -> None:
    with pytest.raises(InstrumentError, match="a table of items is no whole instrument here"):
        load_own(LadderingInstrument, FILES / "items.csv")


def test_every_file_is_read_before_the_first_problem_is_told(tmp_path: Path) -> None:
    wrong = {}
    for name, text in {"longitudinal": "items: 7\n", "delphi": "questions: 7\n"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        wrong[name] = str(tmp_path / f"{name}.yaml")
    wrong["scenario"] = str(tmp_path / "none.yaml")
    methods = {name: dotted for name, dotted in dotted_paths().items() if name in wrong}
    with pytest.raises(InstrumentError) as caught:
        pin_instruments(RunRequest(instruments=wrong), methods, "en")
    for part in ("longitudinal.yaml:1: items", "delphi.yaml:1: questions", "none.yaml: no such file"):
        assert part in str(caught.value)


def test_derived_parts_are_among_the_notices_of_a_run() -> None:
    methods = {"longitudinal": dotted_paths()["longitudinal"]}
    request = RunRequest(instruments={"longitudinal": str(FILES / "longitudinal_v1.yaml")})
    used, notices = pin_instruments(request, methods, "de")
    assert notices[0].startswith("longitudinal: ")
    assert used["longitudinal"].content["families"]["fees"]


def test_a_server_takes_files_of_its_own_folder_by_name_alone() -> None:
    methods = {"longitudinal": dotted_paths()["longitudinal"]}
    used, _ = pin_instruments(RunRequest(instruments={"longitudinal": "items"}, own_folder=str(FILES)), methods, "en")
    assert used["longitudinal"].source == "items"
    for name in ("item", "../instruments/items", str(FILES / "items.csv"), "."):
        with pytest.raises(InstrumentError, match="is no file of this server"):
            pin_instruments(RunRequest(instruments={"longitudinal": name}, own_folder=str(FILES)), methods, "en")


def test_a_servers_files_are_listed_with_what_they_ask() -> None:
    listed = own_instruments(FILES)
    assert [(instrument.file, instrument.methodology) for instrument in listed] == [
        ("delphi_v1", "delphi"), ("diversity_v1", "diversity"), ("items", "longitudinal"),
        ("longitudinal_v1", "longitudinal"), ("scenario_v1", "scenario"),
        # A list of sentences does not say what is asked of them.
        ("statements", "longitudinal"), ("statements", "diversity"), ("statements", "delphi"), ("statements", "poll"),
    ]  # fmt: skip
    instruments = {instrument.file: instrument for instrument in listed}
    shipped = instruments["longitudinal_v1"]
    assert (shipped.items, shipped.languages, shipped.needs_t0) == (3, ("de", "en"), True)


@pytest.mark.parametrize(
    ("text", "language"),
    [("Die Gebühren der Bank sind angemessen.", "de"), ("The bank's fees are reasonable.", "en"),
        ("longitudinal_v1", None), ("La banque est trop chère pour nous.", None)],
)  # fmt: skip
def test_the_language_of_a_text(text: str, language: str | None) -> None:
    assert language_of([text]) == language
