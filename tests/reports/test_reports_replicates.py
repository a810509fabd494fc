"""Replicates: claims made anew from each arm, archetypes under like names, variance components; through a real run."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.reports.claims import Claim, Group
from enquete.reports.crossing import cross
from enquete.reports.replicates import Replicates, contrast, judged, named_alike, spreads, standing_in
from enquete.reports.replicates_text import mark, section
from enquete.state.seam import Arm
from tests.reports.test_reports_crossing import results, table


def claim(**values: float) -> Claim:
    groups = tuple(Group(name, 2, 2, value) for name, value in sorted(values.items(), key=lambda pair: -pair[1]))
    return Claim("drift_by_type", "drift_by_type/differs", ("longitudinal",), groups, "mean", 4, 4, ("a",), 1, ())


MAIN = claim(a=2.0, b=0.5)


def test_the_figure_is_the_contrast_of_the_groups_that_the_claim_names():
    assert contrast(MAIN, MAIN) == 1.5
    assert contrast(MAIN, claim(a=1.0, b=2.0, c=9.0)) == -1.0
    assert contrast(MAIN, claim(a=1.001, b=1.0)) == 0.0  # both print as 1.00
    assert contrast(MAIN, claim(a=1.0)) is None
    assert contrast(MAIN, None) is None
    other = replace(MAIN, terms={"scenario": {"de": "Ruhe", "en": "calm"}})
    assert contrast(other, MAIN) == 0.0


@pytest.mark.parametrize(
    ("again", "verdict", "words"),
    [
        ([claim(a=2, b=1), claim(a=3, b=1)], "stable", "stable: the same direction in 3 of 3 rounds of asking"),
        ([claim(a=2, b=1), claim(a=1, b=3)], "fragile", "fragile: the same direction in 2 of 3 rounds of asking"),
        ([claim(a=2, b=1)], "not judged", "not judged: 2 of at least 3 rounds of asking"),
    ],
)
def test_a_claim_is_stable_fragile_or_not_judged(again, verdict, words):
    made = judged([MAIN], [{"drift_by_type": one} for one in again])
    assert made["drift_by_type"].verdict == verdict
    assert mark("drift_by_type", Replicates(("main",), made), "en") == words


def test_replicates_that_lack_the_claim_are_counted():
    made = judged([MAIN], [{"drift_by_type": MAIN}, {"drift_by_type": MAIN}, {}])
    assert (made["drift_by_type"].verdict, made["drift_by_type"].n_missing) == ("stable", 1)
    assert mark("drift_by_type", Replicates(("main",), made), "de").endswith("in 1 fehlt der Befund")


@given(st.permutations(["A", "B"]))
def test_archetypes_bear_the_names_of_those_they_share_most_members_with(names):
    """Whatever a replicate calls its archetypes, the same members give the same claims."""
    found = results()
    letters = dict(zip(("A", "B"), names, strict=True))
    views = found["diversity"]
    found["diversity"] = {
        part: [{**one, "archetype": letters[one["archetype"]]} for one in views[part]]
        for part in ("archetypes", "members")
    }
    renamed = cross(named_alike(found, results()), table())
    assert {one.id: one.groups for one in renamed.claims} == {
        one.id: one.groups for one in cross(results(), table()).claims
    }


def test_an_archetype_without_a_match_keeps_a_name_of_its_own():
    found, one_view = results(), results()
    one_view["diversity"] = {
        "archetypes": [{"archetype": "A"}],
        "members": [{**one, "archetype": "A"} for one in results()["diversity"]["members"]],
    }
    renamed = named_alike(found, one_view)["diversity"]
    assert sorted(one["archetype"] for one in renamed["archetypes"]) == ["A", "B′"]


def test_an_arm_stands_in_with_its_own_rows_and_an_earlier_t0():
    frame = table()
    again = frame.assign(arm="replicate_2", arm_role="replicate", value=1.0)
    rows = standing_in(pd.concat([frame, again]), "replicate_2", frame[frame["phase"].eq("T0")])
    assert set(rows["arm_role"]) == {"main"}
    assert rows[rows["phase"].eq("T1")]["value"].eq(1).all()


def test_variance_lies_where_it_is_put():
    """Agents differ by their number alone, replicates not at all: all variance is the agents'."""
    frame = pd.DataFrame(
        {"arm_role": "main" if arm == "main" else "replicate", "arm": arm, "methodology": "longitudinal", "phase": "T1", "round": 0,
         "participant": f"p{who}", "item_id": f"i{item}", "value": who, "value_rekeyed": float(who), "scale_min": 1, "scale_max": 5,
         "model": "m"}
        for arm in ("main", "replicate_2", "replicate_3") for who in range(1, 6) for item in range(4)
    )  # fmt: skip
    (found,) = spreads(frame)
    shares = {one.source: one.share for one in found.found.components}
    assert shares["agent"] == pytest.approx(1)
    assert shares["model"] is None  # one model only: cannot be told apart
    assert list(spreads(frame[frame["arm"].eq("main")])) == []


def test_a_run_with_replicates_marks_its_claims(make, simulation):
    arms = [Arm(temperature=0, seed=1)]
    arms += [Arm(id=f"replicate_{n}", role="replicate", temperature=0, seed=n) for n in (2, 3)]
    made = make(simulation, arms=arms, language="en", methods=["longitudinal"])
    file = json.loads((made.synthesis / "replicates.json").read_text("utf-8"))
    assert file["arms"] == ["main", "replicate_2", "replicate_3"]
    crossing = json.loads((made.synthesis / "crossing.json").read_text("utf-8"))
    assert file["claims"].keys() == crossing["claims"].keys() != set()
    assert {one["replicates"]["verdict"] for one in crossing["claims"].values()} <= {"stable", "fragile", "not judged"}
    assert {one["methodology"] for one in file["variance_components"]} == {"longitudinal"}
    report = made.report()
    assert "## Replicates" in report
    assert "rounds of asking)*" in report
    alone = {row["n_planned"] for row in _agents(made)}
    assert len(alone) == 1  # the main arm's alone


def _agents(made) -> list[dict]:
    return pd.read_csv(made.synthesis / "exports" / "agents.csv").to_dict("records")


def test_a_run_without_replicates_says_that_nothing_is_judged(whole):
    assert "is not judged: this run has no replicates" in whole.report()
    assert "Replicates: not judged: 1 of at least 3 rounds of asking." in whole.report()
    assert section(Replicates(), [], {}, "en") == ""
    assert not (whole.synthesis / "replicates.json").exists()
