"""All agents × all findings: joined by participant, one row an agent, associations across methods and in words."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pytest

from enquete.reports.crossing.agents import POPULATION, AgentTable, agent_table
from enquete.reports.crossing.associations import MOST_CATEGORIES, REASONS, as_json, associate, findings, section
from tests.reports.test_reports_crossing import EVALUATIONS, PEOPLE, TYPES, results, table

SCALE = {"scale_min": 1, "scale_max": 5, "memory_available": True}


def people(*more: str) -> pd.DataFrame:
    ids = [*PEOPLE, *more]
    index = pd.Index(ids, name="participant")
    kinds = [TYPES.get(one, "NGO") for one in ids]
    return pd.DataFrame({"agent_id": range(len(ids)), "name": ids, "stakeholder_type": kinds}, index=index)


def made(found: dict | None = None, *more: str) -> AgentTable:
    return agent_table(EVALUATIONS, results() if found is None else found, table().assign(**SCALE), people(*more))


def test_every_agent_is_a_row_with_what_each_methodology_says_of_it():
    """From the table of the crossing tests: moved 2, 1, 0, 0; wishes 7, 5, 1, 3; last ratings of x 1, 3, 3, 3 and of y 1, 1, 5,
    5, both shown a median of 3. y has camps, so only x can be held out on."""
    found = made().table
    assert found["drift_abs"].tolist() == [2.0, 1.0, 0.0, 0.0] * 5
    assert found["archetype"].tolist() == ["A", "B", "A", "B"] * 5
    assert found["desirability_calm"].tolist() == [7.0, 5.0, 1.0, 3.0] * 5
    assert found["delphi_held_out"].tolist() == [1.0, 0.0, 0.0, 0.0] * 5
    assert found["delphi_gap"].tolist() == [2.0, 1.0, 1.0, 1.0] * 5
    assert found["n_answered"].tolist() == [6] * 20


def test_an_agent_that_answered_nothing_has_a_row_and_no_findings():
    row = made(None, "p99").table.loc["p99"]
    assert (row["n_answered"], row["n_planned"], row["memory_available"]) == (0, 0, False)
    assert row[["drift_abs", "archetype", "desirability_calm", "delphi_held_out"]].isna().all()


def test_q_factors_are_read_where_the_findings_have_them():
    found = results()
    found["diversity"]["q"] = {"members": [{"participant": "p1", "factor": 2}, {"participant": "p2", "factor": None}]}
    column = made(found).table["q_factor"]
    assert column.dropna().to_dict() == {"p1": "2"}


@pytest.mark.parametrize("missing", ["longitudinal", "diversity", "delphi", "scenario"])
def test_a_methodology_that_is_missing_costs_its_own_columns(missing):
    whole = made()
    found = made({name: one for name, one in results().items() if name != missing})
    kept = [one.column for one in whole.findings if one.methodology != missing]
    assert [one.column for one in found.findings] == kept


def test_findings_of_one_methodology_are_not_paired():
    """They share their answers: delphi_gap is large where delphi_held_out is."""
    pairs = made().pairs()
    assert ("delphi_held_out", "delphi_gap") not in pairs
    assert ("stakeholder_type", "drift_abs") in pairs
    assert made().findings[0].methodology == POPULATION


def test_associations_are_corrected_over_all_pairs_that_have_a_p():
    """Drift 2, 1, 0, 0 and wishes 7, 5, 1, 3, five times: ranks of four agents, 4, 3, 1.5, 1.5 and 4, 3, 1, 2: ρ = 4.5/√(4.5·5)."""
    found = associate(made())
    (one,) = (one for one in found if {one.first, one.second} == {"drift_abs", "desirability_calm"})
    assert one.association.effect == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert all((one.p_bh is None) == (one.association.p is None) for one in found)
    assert all(one.p_holm >= one.p_bh >= one.association.p for one in found if one.p_bh is not None)


def test_a_type_for_every_agent_is_no_category():
    crowd = [f"x{i}" for i in range(MOST_CATEGORIES)]
    who = people(*crowd)
    who["stakeholder_type"] = who.index
    assert who["stakeholder_type"].nunique() > MOST_CATEGORIES
    found = associate(agent_table(EVALUATIONS, results(), table().assign(**SCALE), who))
    assert found
    assert not any("stakeholder_type" in (one.first, one.second) for one in found)


def q(**factors: str) -> dict:
    found = results()
    members = [{"participant": who, "factor": factors.get(who)} for who in PEOPLE]
    found["diversity"]["q"] = {"members": members}
    return found


def test_the_named_pairs_come_first_then_the_smallest_p():
    found = q(**{who: "12"[n // 10] for n, who in enumerate(PEOPLE)})
    agents = made(found)
    text = section(agents, associate(agents), "en")
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [sorted(row[:2]) for row in rows[:3]] == [
        sorted(["shared view", "share of Delphi ratings that the agent holds out on"]),
        sorted(["change a statement", "type of view"]),
        sorted(["desirability of “Ruhe”", "type of view"]),
    ]
    p = [float(row[6].replace("<", "")) for row in rows[3:]]
    assert len(p) == 15
    assert p == sorted(p)
    assert float(rows[0][6]) > p[0]
    assert "First come 3 pairs" in text


def test_named_pairs_without_a_finding_are_said_to_be_missing():
    agents = made()  # no Q factors
    assert "these are missing, for want of a finding: shared view × share of Delphi ratings" in section(
        agents, associate(agents), "en"
    )
    agents = made({name: one for name, one in results().items() if name == "longitudinal"})
    text = section(agents, associate(agents), "de")
    assert (
        "gemeinsame Sichtweise × Beharren im Delphi; Veränderung je Aussage × Typ; Wünschbarkeit der Szenarien × Typ"
        in text
    )


def test_groupings_that_are_the_same_have_one_row():
    alike = {who: "2" if TYPES[who] == "x" else "12"[n % 2] for n, who in enumerate(PEOPLE)}
    agents = made(q(**alike))  # archetype A are the first and third kind, Q factor 1 too
    found = associate(agents)
    assert agents.twins == {"q_factor": "archetype"}
    assert not any("q_factor" in (one.first, one.second) for one in found)
    text = section(agents, found, "de")
    assert "| Typ = gemeinsame Sichtweise |" in text
    assert "darum eine Zeile: Typ = gemeinsame Sichtweise." in text
    assert as_json(agents, found, "de")["identical"] == [{"column": "q_factor", "same_as": "archetype"}]
    other = made(q(**{**alike, "p1": "2"}))
    assert other.twins == {}
    unflagged = made(q(**{who: factor for who, factor in alike.items() if who != "p1"}))
    assert unflagged.twins == {}  # the same wherever both are known, but not of the same agents


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_section_states_effects_and_the_unit_of_inference(language):
    agents = made()
    text = section(agents, associate(agents), language)
    assert ("Einheit des Schlusses ist der Lauf" if language == "de" else "unit of inference is the run") in text
    assert "{" not in text
    assert "None" not in text
    nothing = agent_table(EVALUATIONS, {}, table().iloc[:0].assign(**SCALE), people())
    assert associate(nothing) == []
    assert section(nothing, [], language)
    assert findings(nothing, [], language) == []


def test_every_reason_for_an_undefined_association_has_words():
    found = {one.association.reason for one in associate(made(None, "p99"))} - {""}
    assert found <= REASONS.keys()


def test_the_file_says_what_the_columns_mean():
    agents = made()
    file = as_json(agents, associate(agents), "de")
    assert {one["column"] for one in file["columns"]} == {one.column for one in agents.findings}
    assert all(one["name"] for one in file["columns"])
    json.dumps(file, allow_nan=False)


def test_a_run_writes_the_table_and_its_associations(whole):
    with (whole.synthesis / "exports" / "agents.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert {"participant", "stakeholder_type", "experience_effect_abs"} <= rows[0].keys()
    columns = json.loads((whole.synthesis / "associations.json").read_text("utf-8"))["columns"]
    assert {one["column"] for one in columns} <= rows[0].keys()
    assert "## Findings of all agents, pair by pair" in whole.report()
