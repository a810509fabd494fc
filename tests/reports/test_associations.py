"""All agents in one table, and what goes together over them. Twenty agents of four kinds, five each, so that ranks are
derived by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from enquete.reports.analyses import (
    BETWEEN,
    MOST_CATEGORIES,
    POPULATION,
    AgentColumn,
    AgentTable,
    agent_columns,
    agent_table,
)  # fmt: skip
from enquete.reports.declarations import Presentation, Table, code, number, reference, shaped
from tests.support.tables import findings, results, row, rows

WHO = [f"p{n}" for n in range(20)]
PEOPLE = pd.DataFrame(
    {"agent_id": range(20), "name": WHO, "stakeholder_type": ["NGO", "fisher"] * 10},
    index=pd.Index(WHO, name="participant"),
)
FRAME = pd.DataFrame(
    {"participant": [*WHO, *WHO], "arm_role": ["main"] * 20 + ["replicate"] * 20, "phase": "T1",
        "memory_available": [True, False] * 20,
     "status": ["ok"] * 19 + ["refused"] + ["ok"] * 20}
)  # fmt: skip


def column(name: str, *values: object, of: str = "one", people: list[str] = WHO) -> AgentColumn:
    """Values of the four kinds of agent, in turn."""
    kind = "numeric" if isinstance(values[0], float) else "categorical"
    return AgentColumn(
        name, kind, f"the {name}", pd.Series([values[n % len(values)] for n in range(len(people))], index=people), of
    )


def made(*columns: AgentColumn, people: pd.DataFrame = PEOPLE, attributes: pd.DataFrame | None = None) -> AgentTable:
    return agent_table(columns, FRAME, people, people["stakeholder_type"], "stakeholder type", attributes)


DRIFT = column("drift", 2.0, 1.0, 0.0, 0.0)
WISH = column("wish", 7.0, 5.0, 1.0, 3.0, of="two")


def test_every_agent_is_a_row_also_one_that_answered_nothing() -> None:
    more = pd.concat(
        [PEOPLE, pd.DataFrame({"agent_id": [20], "name": ["P20"], "stakeholder_type": ["NGO"]}, index=["p20"])]
    )
    table = made(DRIFT, people=more).table
    assert len(table) == 21
    assert table.loc["p20", ["n_answered", "n_planned"]].tolist() == [0, 0]
    assert pd.isna(table.loc["p20", "drift"])
    assert table.loc["p19", ["n_answered", "n_planned"]].tolist() == [0, 1]  # refused; replicates do not count
    assert table["memory_available"].sum() == 10


def test_a_personas_own_columns_stand_beside_them_under_names_that_are_free() -> None:
    attributes = pd.DataFrame({"region": ["north"] * 20, "drift": ["x"] * 20}, index=WHO)
    table = made(DRIFT, attributes=attributes).table
    assert table["region"].eq("north").all()
    assert table["persona_drift"].eq("x").all()


def test_columns_of_different_methodologies_are_compared_and_the_group() -> None:
    """Drift 2, 1, 0, 0 and wishes 7, 5, 1, 3, five times: ranks of four agents, 4, 3, 1.5, 1.5 and 4, 3, 1, 2: ρ =
    4.5/√(4.5·5)."""
    same = column("gap", 2.0, 1.0, 0.0, 0.0)  # of the same methodology as drift: its answers are shared
    analysis = made(DRIFT, same, WISH).associations()
    pairs = {(entry["first"], entry["second"]) for entry in rows(analysis, "associations")}
    assert pairs == {
        ("stakeholder_type", "drift"), ("stakeholder_type", "gap"), ("stakeholder_type", "wish"), ("drift", "wish"),
            ("gap", "wish"),
    }  # fmt: skip
    pair = row(analysis, "associations", first="drift", second="wish")
    assert pair["effect"] == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert (pair["measure"], pair["direction"], pair["n"], pair["n_total"]) == ("spearman", "rises", 20, 20)
    told = findings(BETWEEN, analysis)["together"]
    assert told.text.startswith(
        "The drift and the wish go together: the more of one, the more of the other (ρ = 0.95, adjusted p < 0.01"
    )
    assert "| the drift | the wish | Spearman's ρ | 0.95 |" in results(BETWEEN, analysis).at("appendix")


def test_a_group_below_five_agents_is_in_no_association() -> None:
    few = PEOPLE.assign(stakeholder_type=[*PEOPLE["stakeholder_type"][:-4], *["auditor"] * 4])
    pair = row(made(DRIFT, people=few).associations(), "associations", first="stakeholder_type", second="drift")
    assert (pair["n"], pair["n_total"]) == (16, 20)
    alone = PEOPLE.assign(stakeholder_type=["NGO"] * 16 + ["auditor"] * 4)
    pair = row(made(DRIFT, people=alone).associations(), "associations", first="stakeholder_type", second="drift")
    assert (pair["p"], pair["reason"]) == (None, "fewer than 2 groups")


def test_a_category_for_every_agent_and_a_twin_are_not_compared() -> None:
    crowd = column("crowd", *[f"c{n}" for n in range(20)], of="two")
    assert MOST_CATEGORIES >= 20
    many = PEOPLE.reindex([f"p{n}" for n in range(MOST_CATEGORIES + 1)]).assign(stakeholder_type="NGO")
    everybody = AgentColumn("id", "categorical", "id", pd.Series(many.index, index=many.index), "two")
    assert not any(
        "id" in (entry["first"], entry["second"])
        for entry in rows(made(DRIFT, everybody, people=many).associations(), "associations")
    )
    letters, numbers = column("type", "A", "B"), column("view", "1", "2")
    table = made(letters, numbers, crowd)
    assert table.twins == {"view": "type"}
    assert not any("view" in (entry["first"], entry["second"]) for entry in rows(table.associations(), "associations"))
    apart = made(
        letters, column("view", "1", "2", None)
    )  # the same wherever both are known, but not of the same agents
    assert apart.twins == {}


def test_what_is_not_determined_says_why() -> None:
    analysis = made(column("constant", 1.0), WISH).associations()
    pair = row(analysis, "associations", first="constant", second="wish")
    assert (pair["p"], pair["reason"]) == (None, "no variation")


def test_columns_come_from_the_tables_that_declare_them() -> None:
    table = Table(
        name="agents", title="Agents", key=("participant",), one_agent=True,
        columns=(reference("participant", "agent", to="agent"), number("drift", "drift", agents=True),
            code("side", "side", {"l": "left"}, agents=True),
                 number("own", "own")),
    )  # fmt: skip
    presentation = Presentation(tables=(table,))
    analysis = shaped(presentation, {"agents": [{"participant": "p1", "drift": 2, "side": "l", "own": 1}]}, {})
    columns = agent_columns(presentation, analysis, "panel", {"drift": "Drift, told"})
    assert [(entry.column, entry.kind, entry.name, entry.values.to_dict()) for entry in columns] == [
        ("drift", "numeric", "Drift, told", {"p1": 2.0}), ("side", "categorical", "side", {"p1": "l"}),
    ]  # fmt: skip
    assert made(*columns).columns[0].methodology == POPULATION


def test_a_finding_about_groups_says_which_lie_higher_and_by_how_much() -> None:
    """NGOs wish 7 and 6 in turn, fishers 5 and 3: means 6.5 and 4."""
    analysis = made(column("wish", 7.0, 5.0, 6.0, 3.0)).associations()
    pair = row(analysis, "associations", first="stakeholder_type", second="wish")
    assert (pair["highest"], pair["lowest"], pair["mean_highest"], pair["mean_lowest"]) == (
        ["NGO"], ["fisher"], 6.5, 4.0,
    )  # fmt: skip
    told = findings(BETWEEN, analysis)["together"].text
    assert told.startswith("The wish differs by stakeholder type: mean 6.50 (NGO) to 4.00 (fisher); share of variance")


def test_of_two_categories_the_one_is_named_on_which_the_groups_lie_furthest_apart() -> None:
    """All NGOs are A, half of the fishers are B and half C: A lies 100% and 0%, B and C 50% apart."""
    analysis = made(column("side", "A", "B", "A", "C")).associations()
    pair = row(analysis, "associations", first="stakeholder_type", second="side")
    assert (pair["category"], pair["share_highest"], pair["share_lowest"]) == ("A", 1.0, 0.0)
    assert (pair["highest"], pair["lowest"]) == (["NGO"], ["fisher"])
    told = findings(BETWEEN, analysis)["together"].text
    assert told.startswith("The side goes with stakeholder type: “A” for 100% (NGO) to 0% (fisher); V =")


def test_what_a_methodology_compares_between_groups_itself_is_not_tested_again() -> None:
    """“Stakeholder type × desirability” stood in the scenarios' own table and among the associations: twice tested."""
    own = replace(WISH, is_compared=True)
    pairs = {(entry["first"], entry["second"]) for entry in rows(made(DRIFT, own).associations(), "associations")}
    assert pairs == {("stakeholder_type", "drift"), ("drift", "wish")}
