"""Replicates: findings made anew from each arm, archetypes under like names, variance components; through a real run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pandas as pd
import pytest

from enquete.reports.evaluation import Headline
<<<<<<< HEAD
from enquete.reports.replicates.again import Replicates, judged_headlines, spreads, standing_in, taken_over
from enquete.reports.replicates.told import section
from enquete.state.request import RunRequest
from tests.reports.conftest import TYPES, _make
=======
from enquete.reports.replicates.again import (
    Again,
    Replicates,
    contrast,
    judged,
    judged_headlines,
    spreads,
    standing_in,
    taken_over,
)
from enquete.reports.replicates.told import mark, section
from enquete.state.request import RunRequest
from tests.reports.conftest import TYPES, _make
from tests.reports.test_reports_crossing import EVALUATIONS, table
>>>>>>> h/diversity

FRAME = pd.DataFrame(
    {
        "arm_role": "main",
        "arm": "main",
        "run_id": "r",
        "phase": ["T0", "T1"] * 3,
        "participant": ["a", "a", "b", "b", "c", "c"],
        "value": 3.0,
    }
)
<<<<<<< HEAD
=======
def test_a_claim_is_judged_by_the_further_runs_alone(made, verdict, words):
    found = judged([MAIN], again(*made))
    assert found["drift_by_type"].held.verdict == verdict
    assert (found["drift_by_type"].main, len(found["drift_by_type"].further)) == (1.5, len(made))
    assert mark("drift_by_type", Replicates(("main",), found), "en") == words


def test_a_replicate_that_answered_and_does_not_make_the_claim_does_not_agree():
    elsewhere = replace(LIKE, terms={"scenario": "calm"})
    for other in (None, claim(a=1.0), elsewhere):
        found = judged([MAIN], again(LIKE, other))["drift_by_type"]
        assert (found.held.n, found.held.n_agreeing, found.further) == (2, 1, (1.0, None))


def test_a_replicate_without_the_method_is_counted_apart():
    found = judged([MAIN], [*again(LIKE, LIKE), Again({}, {})])
    assert (found["drift_by_type"].held.n, found["drift_by_type"].held.n_missing) == (2, 1)
    assert mark("drift_by_type", Replicates(("main",), found), "de") == (
        "nicht entschieden: gleiche Richtung in 2 von 2 weiteren Durchgängen (Zufall: 25 %), in 1 fehlt die Methode"
    )


def test_what_is_measured_from_one_t0_is_not_decided():
    found = judged([MAIN], again(*[LIKE] * 8), shared_t0={"longitudinal"})
    assert found["drift_by_type"].held.verdict == "not decided"
    assert mark("drift_by_type", Replicates(("main",), found), "en").endswith("8 of 8 further runs (chance: not known)")
    wish = replace(MAIN, methods=("scenario",))
    held = judged([wish], [Again({"scenario": {}}, {MAIN.id: LIKE})] * 5, shared_t0={"longitudinal"})[MAIN.id].held
    assert held.verdict == "stable"
>>>>>>> h/diversity


def test_an_arm_stands_in_with_its_own_rows_and_an_earlier_t0():
    frame = FRAME
    again = frame.assign(arm="replicate_2", arm_role="replicate", value=1.0)
    rows = standing_in(pd.concat([frame, again]), "replicate_2", frame[frame["phase"].eq("T0")])
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
    (found,) = spreads(frame)
    shares = {one.source: one.share for one in found.found.components}
    assert shares["agent"] == pytest.approx(1)
    assert shares["model"] is None  # one model only: cannot be told apart
    assert list(spreads(frame[frame["arm"].eq("main")])) == []


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Twenty personas, five a type, asked about the scenarios six times."""
    folder = tmp_path_factory.mktemp("repeated")
    said = [{"name": f"P{i}", "persona": f"{TYPES[i % 4]} {i}", "type": TYPES[i % 4]} for i in range(20)]
    (folder / "people.json").write_text(json.dumps(said), "utf-8")
    request = RunRequest(
        sim=str(folder / "people.json"), out=str(folder / "out"), respondent="synthetic", new=True, language="en",
        methods=["scenario"], replicates=6,
    )  # fmt: skip
    available = {"scenario": "enquete.graphs.scenario:METHODOLOGY"}
    return asyncio.run(_make(request, None, None, False, True, None, available))


def test_a_run_with_replicates_judges_its_verdicts(repeated):
    file = json.loads((repeated.synthesis / "replicates.json").read_text("utf-8"))
    assert file["arms"] == ["main", *(f"replicate_{n}" for n in range(2, 7))]
    assert file["headlines"]
    for one in file["headlines"].values():
        assert (one["n"], len(one["further"])) == (5, 5)
        assert (one["verdict"] == "stable") == (one["n_agreeing"] == 5)
    assert {one["methodology"] for one in file["variance_components"]} == {"scenario"}
    report = repeated.report()
    assert "## Replicates" in report
    assert "| 5 / 5 | 3% | stable |" in report


def test_the_main_arm_alone_is_in_the_table_of_agents(repeated):
    assert len({row["n_planned"] for row in _agents(repeated)}) == 1


def _agents(made) -> list[dict]:
    return pd.read_csv(made.synthesis / "exports" / "agents.csv").to_dict("records")


def test_a_run_without_replicates_says_nothing_of_them(full):
    assert section(Replicates(), {}, {}, "en") == ""
    assert not (full.synthesis / "replicates.json").exists()


<<<<<<< HEAD
@pytest.mark.parametrize(("further", "verdict", "agreeing"), [
    ([True] * 5, "stable", 5), ([True] * 2, "not decided", 2), ([False] * 2, "fragile", 0), ([], "not judged", 0),
        ([True, None], "not decided", 1),
])  # fmt: skip
def test_a_verdict_is_judged_by_the_further_runs_alone(further, verdict, agreeing):
    main = Headline("panel.rated.x", "panel.rated", True, "yes", ("x",), methodology="panel")
    others = [{main.id: replace(main, said=one)} if one is not None else {} for one in further]
    ((_, found),) = judged_headlines({main.id: main}, others)
    assert (found.held.verdict, found.held.n_agreeing) == (verdict, agreeing)
    ((_, shared),) = judged_headlines({main.id: main}, others, shared_t0={"panel"})
    assert shared.held.verdict in ("not decided", "not judged")
=======
def test_the_table_names_scenarios_and_gives_every_run():
    wish = replace(
        MAIN, id="desirability_by_type_calm", template="desirability_by_type/differs", methods=("scenario",),
        terms={"scenario": "Calm_day"}, subjects=("scenario",),
        heading="Desirability of scenarios by stakeholder type",
    )  # fmt: skip
    other = Again({"scenario": {}}, {wish.id: replace(wish, groups=LIKE.groups)})
    found = judged([wish], [other, other])
    main = Headline(
        "scenario.quadrant.calm", "quadrant", "feared_expected", "feared_expected", ("Calm",), methodology="scenario"
    )
    lines = judged_headlines({main.id: main}, [{main.id: main}, {}])
    replicates = Replicates(("main", "replicate_2", "replicate_3"), found, lines, shared_t0=True)
    text = section(replicates, [wish], EVALUATIONS, {"scenario": "Scenarios"}, "en")
    assert (
        "| Desirability of scenarios by stakeholder type (Calm\\_day) | 1.50 | 1.00; 1.00 | 2 / 2 | 25% | not decided |"
    ) in text
    assert (
        "| Scenarios: “Calm”: quadrant | feared and expected | feared and expected (1); – (1) | 1 / 1 | 50% | not decided |"
        in text
    )
    assert "Findings: 2; stable 0, fragile 0, not decided 2, not judged 0." in text
    split = replace(
        wish,
        subjects=("theme", "dimension"),
        terms={"theme": "Nets", "dimension": "importance"},
    )
    assert "type (Nets, importance) |" in section(replicates, [split], EVALUATIONS, {"scenario": ""}, "en")
    assert "All runs measure change from the same earlier T0" in text
    german = section(replicates, [wish], EVALUATIONS, {"scenario": "Szenarien"}, "de")
    assert (
        "| gefürchtet und erwartet | gefürchtet und erwartet (1); – (1) | 1 / 1 | 50 % | nicht entschieden |" in german
    )


def test_of_many_runs_the_table_gives_the_range_or_how_often():
    figures = [
        Headline("x", "structure.found", k, k, ("types",), methodology="diversity") for k in (3, 3, 2, 3, 3, 3, 4)
    ]
    places = ["wished_expected"] * 6 + ["feared_expected"]
    words = [Headline("y", "quadrant", place, place, ("Calm",), methodology="scenario") for place in places]
    lines = [
        line
        for own in (figures, words)
        for line in judged_headlines({own[0].id: own[0]}, [{one.id: one} for one in own])
    ]
    text = section(
        Replicates(("main", *"abcdefg"), {}, lines), [], EVALUATIONS, {"diversity": "", "scenario": ""}, "en"
    )
    assert "| 3 | 2 to 4 (7) | 5 / 7 | 23% | not decided |" in text  # 29/128
    assert (
        "| wished for and expected | wished for and expected (6); feared and expected (1) | 6 / 7 | 6% | not decided |"
        in text
    )
>>>>>>> h/diversity
