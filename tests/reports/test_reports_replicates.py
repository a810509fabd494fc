"""Replicates: findings made anew from each arm, archetypes under like names, variance components; through a real
run."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from enquete.reports.evaluation import Headline
from enquete.reports.further_arms import (
    Replicates,
    judged_headlines,
    replicate_results,
    spreads,
    standing_in,
    taken_over,
)
from enquete.reports.views import Names
from tests.reports.conftest import ALL, made, people_file
from tests.support.bare_runs import results_alone

FRAME = pd.DataFrame(
    {
        "arm_role": "main", "arm": "main", "run_id": "r", "phase": ["T0", "T1"] * 3,
        "participant": ["a", "a", "b", "b", "c", "c"], "value": 3.0,
    }
)  # fmt: skip


def test_an_arm_stands_in_with_its_own_rows_and_an_earlier_t0():
    again = FRAME.assign(arm="replicate_2", arm_role="replicate", value=1.0)
    rows = standing_in(pd.concat([FRAME, again]), "replicate_2", FRAME[FRAME["phase"].eq("T0")])
    assert set(rows["arm_role"]) == {"main"}
    assert rows[rows["phase"].eq("T1")]["value"].eq(1).all()


def test_rows_of_an_earlier_run_are_taken_over():
    frame = FRAME.assign(run_id=lambda rows: rows["phase"].map({"T0": "before"}).fillna("r"))
    assert set(taken_over(frame, ["r"])["phase"]) == {"T0"}
    assert taken_over(frame, ["r", "before"]).empty
    assert taken_over(frame.assign(arm_role="replicate"), ["r"]).empty


def test_variance_lies_where_it_is_put():
    """Agents differ by their number alone, replicates not at all: all variance is the agents'."""
    frame = pd.DataFrame(
        {"arm_role": "main" if arm == "main" else "replicate", "arm": arm, "methodology": "longitudinal", "phase": "T1",
            "round": 0,
         "participant": f"p{who}", "item_id": f"i{item}", "value": who, "value_rekeyed": float(who), "scale_min": 1,
             "scale_max": 5,
         "model": "m"}
        for arm in ("main", "replicate_2", "replicate_3") for who in range(1, 6) for item in range(4)
    )  # fmt: skip
    (spread,) = spreads(frame)
    shares = {component.source: component.share for component in spread.found.components}
    assert shares["agent"] == pytest.approx(1)
    assert shares["model"] is None  # one model only: cannot be told apart
    assert list(spreads(frame[frame["arm"].eq("main")])) == []


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Eight personas, asked about the scenarios six times."""
    asked = people_file(tmp_path_factory.mktemp("repeated"), 8)
    with results_alone(exports=True):
        return made(**asked, language="en", methods=["scenario"], replicates=6, available=ALL)


def test_a_run_with_replicates_judges_its_verdicts(repeated):
    file = json.loads((repeated.synthesis / "replicates.json").read_text("utf-8"))
    assert [file["main"], *file["further"]] == ["main", *(f"replicate_{n}" for n in range(2, 7))]
    assert file["findings"]
    for finding in file["findings"]:
        runs = [run for run in file["runs"] if run["finding"] == finding["finding"]]
        assert (finding["n"], len(runs)) == (5, 5)
        assert (finding["verdict"] == "stable") == (finding["n_agreeing"] == 5)
    assert {row["methodology"] for row in file["variance"]} == {"scenario"}
    report = repeated.report()
    assert "## Replicates" in report
    assert "| 5 / 5 | 0.031 | stable |" in report


def test_the_main_arm_alone_is_in_the_table_of_agents(repeated):
    assert pd.read_csv(repeated.synthesis / "exports" / "agents.csv")["n_planned"].nunique() == 1


def test_a_run_without_replicates_says_nothing_of_them(full):
    assert replicate_results(Replicates(), {}, Names(), "en") is None
    assert not (full.synthesis / "replicates.json").exists()


@pytest.mark.parametrize(("further", "verdict", "agreeing"), [
    ([True] * 5, "stable", 5), ([True] * 2, "not decided", 2), ([False] * 2, "fragile", 0), ([], "not judged", 0),
        ([True, None], "not decided", 1),
])  # fmt: skip
def test_a_verdict_is_judged_by_the_further_runs_alone(further, verdict, agreeing):
    main = Headline("panel.rated.x", "panel.rated", True, "yes", ("x",), methodology="panel")
    others = [{main.id: replace(main, said=claim)} if claim is not None else {} for claim in further]
    ((_, judged),) = judged_headlines({main.id: main}, others)
    assert (judged.held.verdict, judged.held.n_agreeing) == (verdict, agreeing)
    ((_, shared),) = judged_headlines({main.id: main}, others, shared_t0={"panel"})
    assert shared.held.verdict in ("not decided", "not judged")
