"""Claims across methods: joined by participant, with their figures where they say, and absent rather than empty."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from enquete.reports.claims import Claim
from enquete.reports.crossing import cross, grouped
from enquete.reports.crossing_inputs import NEEDS
from enquete.reports.crossing_text import ABSENT, reason, sentence
from enquete.reports.evidence import alternating, with_ids

PEOPLE = ("p1", "p2", "p3", "p4")
TYPES = {"p1": "Fischer", "p2": "Fischer", "p3": "NGO", "p4": "NGO"}


def row(who: str, methodology: str, item: str, value: float, **more: Any) -> dict[str, Any]:
    return {
        "run_id": "r", "arm": "main", "arm_role": "main", "methodology": methodology, "phase": "T1", "session": "", "round": 0,
        "turn": 0, "participant": who, "item_id": item, "stakeholder_type": TYPES[who], "status": "ok", "value": value,
        "text": "", **more,
    }  # fmt: skip


def table() -> pd.DataFrame:
    """Four agents. Moved by 2, 1, 0, 0 points; p1 and p3 hold out on the one disputed rating; desirability 7, 5, 1, 3."""
    rows = []
    for who, after, wish, rating in zip(PEOPLE, (5, 4, 3, 3), (7, 5, 1, 3), (1, 3, 5, 3), strict=True):
        rows += [row(who, "longitudinal", "a", 3, phase="T0"), row(who, "longitudinal", "a", after)]
        rows += [row(who, "diversity", "s1", 1), row(who, "scenario", "calm/wish", wish)]
        rows.append(row(who, "delphi", "theme:x/importance", rating, round=3, text="weil"))
    return pd.DataFrame(rows)


def results() -> dict[str, Any]:
    moved = dict(zip(PEOPLE, (2.0, 1.0, 0.0, 0.0), strict=True))
    return {
        "longitudinal": {
            "kind": "drift",
            "drift": {"interpretable": True,
                      "agents": [{"participant": p, "mean_abs": m, "n_items": 1} for p, m in moved.items()]},
        },
        "diversity": {
            "archetypes": [{"archetype": "A", "name": "x"}, {"archetype": "B", "name": "y"}],
            "members": [{"participant": p, "archetype": "A" if p in ("p1", "p3") else "B"} for p in PEOPLE],
        },
        "delphi": {
            "last_round": 3, "convergence": [{"theme": "x"}],
            "disagreements": [{"item": "theme:x/importance", "below": {"participants": ["p1"]},
                               "above": {"participants": ["p3"]}}],
        },
        "scenario": {
            "scenarios": [{"scenario": "calm", "label": "Ruhe"}], "polarity": {"desirability": "wish"},
            "dimensions": [{"dimension": "wish", "scale_min": 1, "scale_max": 7}],
        },
    }  # fmt: skip


def claims(found: dict[str, Any] | None = None, frame: pd.DataFrame | None = None) -> dict[str, Claim]:
    made = cross(results() if found is None else found, table() if frame is None else frame)
    return {claim.id: claim for claim in made.claims}


def values(claim: Claim) -> dict[str, float | None]:
    return {group.group: group.value for group in claim.groups}


def test_drift_by_archetype_and_by_type():
    made = claims()
    # A = p1, p3: (2 + 0) / 2; B = p2, p4: (1 + 0) / 2; Fischer = p1, p2: (2 + 1) / 2; NGO: 0
    assert values(made["drift_by_archetype"]) == {"archetype:A": 1.0, "archetype:B": 0.5}
    assert values(made["drift_by_type"]) == {"Fischer": 1.5, "NGO": 0.0}
    assert sentence(made["drift_by_type"], "de") == (
        "Die Antworten haben sich bewegt, am stärksten bei „Fischer“: im Mittel 1,50 Skalenpunkte je Aussage (2 von 2 Agenten); "
        "am wenigsten bei „NGO“: 0,00 (2 von 2)."
    )


def test_hold_outs_by_archetype_and_by_type():
    made = claims()
    assert values(made["hold_outs_by_archetype"]) == {"archetype:A": 1.0, "archetype:B": 0.0}
    assert made["hold_outs_by_type"].template == "hold_outs_by_type/same"  # one of two in each
    assert made["hold_outs_by_type"].facts == {"holding_out": 2, "disputed": 1}
    assert "all 2 groups equally often: on 50% of the disputed ratings" in sentence(made["hold_outs_by_type"], "en")


def test_desirability_by_archetype_by_type_and_by_hold_outs():
    made = claims()
    # Fischer (7 + 5) / 2, NGO (1 + 3) / 2; A (7 + 1) / 2, B (5 + 3) / 2: both 4; hold-outs are A
    assert values(made["desirability_by_type_calm"]) == {"Fischer": 6.0, "NGO": 2.0}
    assert values(made["desirability_by_archetype_calm"]) == {"archetype:A": 4.0, "archetype:B": 4.0}
    assert "equally desirable" in sentence(made["desirability_by_archetype_calm"], "en")
    assert sentence(made["desirability_of_hold_outs"], "de").startswith("Keines von 1 Szenarien")


def test_drift_of_hold_outs():
    claim = claims()["drift_of_hold_outs"]
    assert values(claim) == {"holding_out": 1.0, "others": 0.5}
    assert claim.methods == ("longitudinal", "delphi")


def test_a_reconstructed_t0_is_never_called_drift():
    found = results()
    found["longitudinal"] = {"kind": "experience_effect", "experience_effect": found["longitudinal"]["drift"]}
    made = claims(found)
    assert "experience_by_type" in made
    assert not any(name.startswith("drift") for name in made)
    assert "keine Drift" in sentence(made["experience_by_type"], "de")


@pytest.mark.parametrize("missing", sorted(NEEDS))
def test_without_a_methodology_its_claims_are_absent_with_a_reason(missing):
    found = {name: result for name, result in results().items() if name != missing}
    frame = table()
    made = cross(found, frame[frame["methodology"].ne(missing)])
    assert all(missing not in claim.methods for claim in made.claims)
    assert {one.why for one in made.absent} == {f"no_{missing}"}
    whole = {claim.id for claim in cross(results(), frame).claims if missing not in claim.methods}
    assert {claim.id for claim in made.claims} == whole  # the others stay


@pytest.mark.parametrize(
    ("methodology", "change", "why"),
    [
        ("longitudinal", {"kind": None}, "one_wave"),
        ("longitudinal", {"kind": "drift", "drift": {"interpretable": False, "agents": []}}, "incomparable"),
        ("longitudinal", {"kind": "drift", "drift": {"agents": []}}, "no_pairs"),
        ("diversity", {"archetypes": [], "members": []}, "no_typology"),
        ("delphi", {"convergence": []}, "no_revision"),
        ("delphi", {"disagreements": []}, "no_dispute"),
        ("scenario", {"polarity": {"desirability": None}}, "no_desirability"),
        ("scenario", {}, "no_ratings"),
    ],
)
def test_what_is_partial_is_absent_and_said(methodology, change, why):
    found = results()
    found[methodology] = {**found[methodology], **change}
    frame = table()
    if why == "no_ratings":
        frame = frame[frame["methodology"].ne("scenario")]
    made = cross(found, frame)
    assert why in {one.why for one in made.absent}
    assert all(methodology not in claim.methods for claim in made.claims)
    assert all(claim.groups and claim.answer_ids for claim in made.claims)


@pytest.mark.parametrize("methodology", sorted(NEEDS))
def test_findings_of_another_shape_are_no_crash(methodology):
    for odd in (
        {},
        {"drift": 3, "kind": "drift"},
        {"members": "x", "archetypes": [1]},
        {"disagreements": [{"item": 1}]},
    ):
        cross({**results(), methodology: odd}, table())


def test_nothing_at_all_and_one_agent_give_no_claim():
    empty = cross({}, table().iloc[:0])
    assert empty.claims == ()
    assert empty.absent
    alone = cross(results(), table()[lambda frame: frame["participant"].eq("p1")])
    assert not any(claim.id.endswith("by_type") for claim in alone.claims)
    assert "one_group" in {one.why for one in alone.absent}


def test_agents_without_an_answer_count_in_the_group_but_not_in_the_figure():
    labels = pd.Series({"p1": "a", "p2": "a", "p3": "b"})
    first, second = grouped(pd.Series({"p1": 4.0, "p3": 1.0}), labels)
    assert (first.group, first.n, first.n_total, first.value) == ("a", 1, 2, 4.0)
    assert (second.group, second.n, second.n_total) == ("b", 1, 1)


def test_other_arms_and_unanswered_rows_are_not_read():
    frame = table()
    other = frame.assign(arm="b", arm_role="b", value=1.0)
    refused = frame[frame["participant"].eq("p4")].assign(item_id="calm/wish", methodology="scenario", status="refused")
    assert cross(results(), pd.concat([frame, other, refused])) == cross(results(), frame)


def test_answers_are_named_by_their_whole_key_and_exist():
    frame = table()
    known = set(with_ids(frame)["answer_id"])
    assert "r/main/delphi/T1//3/0/p1/theme:x/importance" in known
    for claim in cross(results(), frame).claims:
        assert claim.answer_ids
        assert set(claim.answer_ids) <= known
        assert len(claim.answer_ids) <= claim.n_answers


def test_every_figure_of_a_claim_stands_where_it_says():
    for claim in cross(results(), table()).claims:
        file = {"claims": {claim.id: claim.as_json()}}
        for number in claim.as_json()["numbers"]:
            assert resolve(file, number["source"]["path"], claim.id) == number["value"]


def resolve(file: Any, path: str, claim: str) -> Any:
    node = file["claims"][claim]
    for step in path.removeprefix(f"claims.{claim}.").replace("[", ".").replace("]", "").split("."):
        node = node[int(step)] if step.isdigit() else node[step]
    return node


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_claim_and_every_reason_has_a_sentence(language):
    made = cross(results(), table())
    for claim in made.claims:
        assert "{" not in sentence(claim, language)
    for why in ABSENT:
        assert reason(type("A", (), {"claim": "drift_by_type", "why": why})(), language)


def test_alternating_takes_from_all_alike():
    assert alternating(["a", "b", "c"], ["x"], []) == ["a", "x", "b", "c"]
    assert alternating(["a"], ["a", "b"]) == ["a", "b"]
