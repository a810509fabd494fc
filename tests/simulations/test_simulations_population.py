import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.simulations.population import load_population
from enquete.state.errors import SimulationError
from tests.simulations.conftest import Folder, profile, write_folder


def messages(population: object, severity: str) -> list[str]:
    return [str(issue) for issue in population.issues if issue.severity == severity]  # type: ignore[attr-defined]


def test_real_run(data: Path) -> None:
    population = load_population(data / "sim_683e8059ab27")
    # names, uuids and types as they stand in simulation_config.json
    assert [p.name for p in population.participants][:2] == ["Halcourt", "Bank of England"]
    assert population.participants[6].name == "Halcourt Bank"
    assert population.participants[0].id == "agent:d50986c1-b857-4823-be2f-de67471d3a88"
    assert [p.stakeholder_type for p in population.participants].count("Regulator") == 3
    assert population.issues == ()
    assert population.has_simulation
    assert population.actions == 355
    assert population.topic.startswith("Halcourt Bank has announced")
    assert population.stances[population.participants[5].id] == "opposing"
    assert all(p.digest is None for p in population.participants)


def test_institutions_get_no_age(data: Path) -> None:
    bank = load_population(data / "sim_683e8059ab27").participants[1]
    person = load_population(data / "sim_oasisreal0001").participants[0]
    assert "Age:" not in bank.persona
    assert "Country: UK" in bank.persona
    assert "Age: 40" in person.persona


def test_oasis_input_without_ids(data: Path) -> None:
    population = load_population(data / "oasis_user_data_36.json")
    assert population.kind == "personas"
    assert not population.has_simulation
    assert len({p.id for p in population.participants}) == 36
    assert population.participants[0].id.startswith("agent:name:james-miller-")
    assert population.participants[0].stakeholder_type == "Hospitality & Tourism"
    assert not population.completion.completed


def test_twitter_only_agents_are_appended(folder: Folder) -> None:
    path = folder(config=["Ann", "Bob", "Cid"], reddit=["Ann", "Bob"], twitter=["Ann", "Bob", "Cid"])
    population = load_population(path)
    assert [p.id for p in population.participants] == ["agent:uuid-ann", "agent:uuid-bob", "agent:uuid-cid"]
    assert len(population.seats) == 5
    assert "Cid" in messages(population, "info")[0]


@pytest.mark.parametrize("short", ["reddit", "twitter", "config"])
def test_an_omitted_entity_shifts_indices_and_names_repair_it(folder: Folder, short: str) -> None:
    full, without_bob = ["Ann", "Bob", "Cid", "Dee"], ["Ann", "Cid", "Dee"]
    files = {name: without_bob if name == short else full for name in ("reddit", "twitter", "config")}
    population = load_population(folder(**files))
    ids = {p.name: p.id for p in population.participants}
    assert set(ids) == set(full)
    assert ids["Cid"] == "agent:uuid-cid"
    assert ids["Dee"] == "agent:uuid-dee"
    assert all(f"Persona of {p.name}." == p.persona for p in population.participants)
    shifted = [message for message in messages(population, "warning") if "index shift" in message]
    assert len(shifted) == 2
    assert "'Cid'" in shifted[0]
    assert {seat.participant for seat in population.seats if not seat.certain} == {"agent:uuid-cid", "agent:uuid-dee"}


def test_names_that_nothing_joins_stop_a_strict_load(folder: Folder) -> None:
    path = folder(config=["Ann", "Bob"], reddit=["Ann", "Someone Else"])
    with pytest.raises(SimulationError, match=r"reddit_profiles\.json: entry 1 \(index 1\) is 'Someone Else'.*'Bob'"):
        load_population(path)
    lenient = load_population(path, strict=False)
    assert lenient.participants[1].id.startswith("agent:name:someone-else-")
    assert len(messages(lenient, "error")) == 1


def test_platforms_that_disagree_stop_a_strict_load(folder: Folder) -> None:
    with pytest.raises(SimulationError, match="the names differ at the same index"):
        load_population(folder(reddit=["Ann", "Bob"], twitter=["Ann", "Zoe"]))


def test_equal_names_are_two_agents_while_nothing_is_shifted(folder: Folder) -> None:
    rows = [profile("Ann", 0), profile("Ann", 1, persona="Another Ann."), profile("Bob", 2)]
    path = folder(reddit=rows)
    entries = [{"agent_id": i, "entity_uuid": f"u{i}", "entity_name": row["name"]} for i, row in enumerate(rows)]
    (path / "simulation_config.json").write_text(json.dumps({"agent_configs": entries}))
    population = load_population(path)
    assert [(p.id, p.persona) for p in population.participants][:2] == [
        ("agent:u0", "Persona of Ann."),
        ("agent:u1", "Another Ann."),
    ]


def test_equal_names_in_a_shifted_file_are_never_guessed(folder: Folder) -> None:
    path = folder(config=["Zed", "Ann", "Ann", "Bob"], reddit=["Ann", "Ann", "Bob"])
    with pytest.raises(SimulationError):
        load_population(path)


def test_a_repeated_uuid_is_an_error(folder: Folder) -> None:
    path = folder(reddit=["Ann", "Bob"], config=["Ann", "Bob"])
    config = (path / "simulation_config.json").read_text().replace("uuid-bob", "uuid-ann")
    (path / "simulation_config.json").write_text(config)
    with pytest.raises(SimulationError, match=r"'uuid-ann' belongs to several agents: Ann, Bob"):
        load_population(path)


def test_without_configuration_ids_come_from_name_and_persona(folder: Folder) -> None:
    first = load_population(folder(reddit=["Ann", "Bob"]))
    again = load_population(folder(reddit=["Bob", "Ann"]))
    assert {p.id for p in first.participants} == {p.id for p in again.participants}
    assert any("no entity uuid" in message for message in messages(first, "warning"))


def test_an_empty_persona_is_a_warning_in_a_simulation(folder: Folder) -> None:
    population = load_population(folder(reddit=[profile("Ann", 0, persona="")], config=["Ann"]))
    assert any("1 of 1 agents have neither bio nor persona" in message for message in messages(population, "warning"))


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("username,description,user_char", "ann_0,Bio,A persona."),
        ("user_id,name,username,user_char,description,source_entity_uuid", "0,Ann,ann_0,A persona.,Bio,uuid-ann"),
    ],
)
def test_twitter_csvs_with_other_columns(folder: Folder, header: str, row: str) -> None:
    path = folder(config=["Ann"])
    (path / "twitter_profiles.csv").write_text(f"{header}\n{row}\n")
    (only,) = load_population(path).participants
    assert (only.id, only.name) == ("agent:uuid-ann", "Ann")
    assert only.persona == "Bio\n\nA persona."


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("p.csv", "name,persona\n,Text\n", r"p\.csv: line 2: field 'name'"),
        ("p.csv", "name,persona\nAnn,a,b\n", r"p\.csv, line 2: 3 fields, but the header names 2"),
        ("p.csv", "name,persona,name\nAnn,a,b\n", r"column 'name' appears twice"),
        ("p.csv", 'name,persona\nAnn,"open\n', r"p\.csv, line \d+: not valid CSV"),
        ("p.csv", "", r"line 1: a header"),
        ("p.csv", "name,persona\n", r"no personas in it"),
        ("p.csv", "id,name,persona\n7,Ann,a\n7,Bob,b\n", r"line 3: id '7' is already that of line 2 \(Ann\)"),
        ("p.csv", "id,name,persona\na|b,Ann,a\n", r"line 2: field 'id': 'a\|b' holds"),
        ("p.json", "{", r"p\.json: not valid JSON"),
        ("p.json", "7", r"a list of objects is expected, found int"),
        ("p.json", '[{"name": "Ann", "persona": "x"}, "Bob"]', r"entry 1: an object is expected, found str 'Bob'"),
        ("p.jsonl", '{"name": "Ann", "persona": "x"}\n{', r"p\.jsonl, line 2: not valid JSON"),
        ("p.json", "[" * 100_000, r"nested too deeply"),
    ],
)
def test_errors_in_personas_files_name_file_row_and_field(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SimulationError, match=says):
        load_population(tmp_path / name)


def test_a_file_that_is_no_utf8_says_so(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes("name,persona\nJürgen,Text\n".encode("latin-1"))
    with pytest.raises(SimulationError, match="byte 0xfc at offset 14 is no UTF-8"):
        load_population(tmp_path / "p.csv")


def test_semicolons_a_byte_order_mark_and_own_ids_are_read(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes("\ufeffid;Name;Persona;Type\n7;Jürgen;Kauft Brot, Milch;Kunde\n".encode())
    (only,) = load_population(tmp_path / "p.csv").participants
    assert (only.id, only.name, only.stakeholder_type) == ("agent:7", "Jürgen", "Kunde")


def test_rows_that_stand_in_a_file_twice_are_refused_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps([{"name": "Ann", "persona": "x"}] * 3))
    with pytest.raises(SimulationError, match=r"entry 1: has the same name and persona as entry 0 \(Ann\)"):
        load_population(tmp_path / "p.json")
    population = load_population(tmp_path / "p.json", skip_non_people=True)
    assert len(population.participants) == 1
    assert messages(population, "warning") == [
        "p.json: 2 rows left out that stand in the file already: entry 1, entry 2"
    ]


@pytest.mark.parametrize("agents", [4_000, pytest.param(50_000, marks=pytest.mark.soak)])
def test_many_profiles_load_in_seconds(tmp_path: Path, agents: int) -> None:
    names = [f"Agent-{i}" for i in range(agents)]
    path = write_folder(tmp_path / "big", config=names, reddit=names[:1] + names[2:], twitter=names)
    start = time.process_time()
    population = load_population(path)
    assert len(population.participants) == agents
    assert time.process_time() - start < agents / 2500  # a fifth of that on one core; a quadratic join would take hours


@given(st.permutations(["Ann", "Bob", "Cid", "Dee"]), st.permutations(["Ann", "Bob", "Cid", "Dee"]))
def test_whatever_the_order_nobody_is_taken_for_another(
    tmp_path_factory: pytest.TempPathFactory, reddit: list[str], twitter: list[str]
) -> None:
    path = write_folder(tmp_path_factory.mktemp("p"), ["Ann", "Bob", "Cid", "Dee"], reddit, twitter)
    for participant in load_population(path).participants:
        assert participant.id == f"agent:uuid-{participant.name.lower()}"
        assert participant.persona == f"Persona of {participant.name}."
