"""Claims across methods: joined by participant, with their figures where they say, and absent rather than empty."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from enquete.graphs.registry import dotted_paths
from enquete.locale import tell
from enquete.reports.context import alternating, with_ids
from enquete.reports.crossing.claims import Claim, Crossing, Grouping, Measure
from enquete.reports.crossing.comparing import grouped
from enquete.reports.crossing.joined import cross
from enquete.reports.crossing.sentences import reason, sentence
from enquete.reports.evaluation import Evaluation, evaluations

PEOPLE = tuple(f"p{n}" for n in range(1, 21))
"""Five of each of four kinds, in turn, so that every group has the five agents that a comparison needs."""
TYPES = {who: "Fischer" if n % 4 in (0, 1) else "NGO" for n, who in enumerate(PEOPLE)}


def row(who: str, methodology: str, item: str, value: float, **more: Any) -> dict[str, Any]:
    return {
        "run_id": "r", "arm": "main", "arm_role": "main", "methodology": methodology, "phase": "T1", "session": "", "round": 0,
        "turn": 0, "participant": who, "item_id": item, "stakeholder_type": TYPES[who], "status": "ok", "value": value,
        "text": "", **more,
    }  # fmt: skip


def table() -> pd.DataFrame:
    """Twenty agents. Moved by 2, 1, 0, 0 points; desirability 7, 5, 1, 3; p1, p5, p9, p13, p17 hold out on x; two camps on y."""
    rows = []
    kinds = ((5, 7, 1, 1), (4, 5, 3, 1), (3, 1, 3, 5), (3, 3, 3, 5))
    for n, who in enumerate(PEOPLE):
        after, wish, rating, camp = kinds[n % 4]
        rows += [row(who, "longitudinal", "a", 3, phase="T0"), row(who, "longitudinal", "a", after)]
        rows += [row(who, "diversity", "s1", 1), row(who, "scenario", "calm/wish", wish)]
        rows.append(row(who, "delphi", "theme:x/importance", rating, round=3, text="weil"))
        rows.append(row(who, "delphi", "theme:y/importance", camp, round=3, text="weil"))
    return pd.DataFrame(rows)


def kind(*places: int) -> list[str]:
    return [who for n, who in enumerate(PEOPLE) if n % 4 in places]


def stand(theme: str, kind_: str, below: list[str], above: list[str], **more: Any) -> dict[str, Any]:
    return {"item": f"theme:{theme}/importance", "theme": theme, "dimension": "importance", "kind": kind_, "agreement": -1.0,
            "below": {"participants": below}, "above": {"participants": above}, **more}  # fmt: skip


def results() -> dict[str, Any]:
    moved = {who: (2.0, 1.0, 0.0, 0.0)[n % 4] for n, who in enumerate(PEOPLE)}
    return {
        "longitudinal": {
            "kind": "drift",
            "drift": {"interpretable": True,
                      "agents": [{"participant": p, "mean_abs": m, "n_items": 1} for p, m in moved.items()]},
        },
        "diversity": {
            "archetypes": [{"archetype": "A", "name": "x"}, {"archetype": "B", "name": "y"}],
            "members": [{"participant": p, "archetype": "A" if p in kind(0, 2) else "B"} for p in PEOPLE],
        },
        "delphi": {
            "last_round": 3, "convergence": [{"theme": "x"}], "themes": [{"id": "y", "label": "Quoten"}],
            "medians_shown": {"theme:x/importance": 3, "theme:y/importance": 3},
            "disagreements": [stand("y", "camps", kind(0, 1), kind(2, 3))],
            "hold_outs": [stand("x", "hold_outs", kind(0), [])],
        },
        "scenario": {
            "scenarios": [{"scenario": "calm", "label": "Ruhe"}], "polarity": {"desirability": "wish"},
            "dimensions": [{"dimension": "wish", "scale_min": 1, "scale_max": 7}],
        },
    }  # fmt: skip


EVALUATIONS = evaluations(dotted_paths())


def crossed(found: dict[str, Any], frame: pd.DataFrame) -> Crossing:
    return cross(EVALUATIONS, found, frame)


def claims(found: dict[str, Any] | None = None, frame: pd.DataFrame | None = None) -> dict[str, Claim]:
    made = crossed(results() if found is None else found, table() if frame is None else frame)
    return {claim.id: claim for claim in made.claims}


def values_of(claim: Claim) -> dict[str, float | None]:
    return {group.group: group.value for group in claim.groups}


def test_drift_by_archetype_and_by_type():
    made = claims()
    # A = kinds 1 and 3: (2 + 0) / 2; B = 2 and 4: (1 + 0) / 2; Fischer = 1 and 2: (2 + 1) / 2; NGO: 0
    assert values_of(made["drift_by_archetype"]) == {"archetype:A": 1.0, "archetype:B": 0.5}
    assert values_of(made["drift_by_type"]) == {"Fischer": 1.5, "NGO": 0.0}
    assert sentence(made["drift_by_type"], "de") == (
        "Die Antworten haben sich bewegt, am stärksten bei „Fischer“: im Mittel 1,50 Skalenpunkte je Aussage (10 von 10 Agenten); "
        "am wenigsten bei „NGO“: 0,00 (10 von 10)."
    )


def test_hold_outs_by_archetype_and_by_type():
    made = claims()
    assert values_of(made["hold_outs_by_archetype"]) == {"archetype:A": 0.5, "archetype:B": 0.0}
    assert made["hold_outs_by_type"].facts == {"holding_out": 5, "raters": 20, "held": 1}
    assert sentence(made["hold_outs_by_type"], "en") == (
        "Delphi ratings on which a minority holds out off the median: 1; 5 of 20 agents do so at least once. Their share is largest "
        "among “Fischer” (50%, 5 of 10 agents), smallest among “NGO” (0%, 0 of 10)."
    )
    assert made["hold_outs_by_type"].rests_on[0] == "T1/delphi/convergence.json → hold_outs"


def test_camps_by_archetype_and_by_type():
    made = claims()
    claim = made["camps_by_type_theme:y/importance"]
    assert values_of(claim) == {"NGO": 1.0, "Fischer": 0.0}
    assert claim.facts == {"n_below": 10, "n_above": 10, "n_items": 1}
    assert "„Quoten“ (Wichtigkeit)" in sentence(claim, "de")
    assert "am größten bei „NGO“ (100 %, 10 von 10 Agenten)" in sentence(claim, "de")
    assert made["camps_by_archetype_theme:y/importance"].template == "camps_by_archetype/same"


@pytest.mark.parametrize(
    ("holding", "why"),
    [
        ([], "no_hold_outs"),
        (PEOPLE[:4], "few_hold_outs"),  # four are no group
        (PEOPLE[:10], "most_hold_out"),  # half of the panel is no minority of it
        (PEOPLE[:16], "few_hold_outs"),  # four others are none to compare with
    ],
)
def test_without_true_hold_outs_and_others_nothing_is_said_of_them(holding, why):
    found = results()
    found["delphi"]["hold_outs"] = [stand("x", "hold_outs", list(holding), [])] if holding else []
    made = crossed(found, table())
    assert not any("hold_outs" in claim.id for claim in made.claims)
    assert {one.why for one in made.absent} == {why}
    assert any(claim.id.startswith("camps_by_type") for claim in made.claims)


def test_camps_are_no_hold_outs():
    found = results()
    found["delphi"]["hold_outs"] = []
    absent = {one.claim: one.why for one in crossed(found, table()).absent}
    assert absent["hold_outs_by_type"] == absent["drift_of_hold_outs"] == "no_hold_outs"
    found["delphi"]["disagreements"].append(stand("x", "camps", kind(0), kind(1), agreement=-0.5))
    assert "no_single_panel" in {one.why for one in crossed(found, table()).absent}
    assert "camps_by_type_theme:y/importance" in claims(found)  # A −1 splits more than −.5


def test_desirability_by_archetype_by_type_and_by_hold_outs():
    made = claims()
    # Fischer (7 + 5) / 2, NGO (1 + 3) / 2; A (7 + 1) / 2, B (5 + 3) / 2: both 4; hold-outs 7, the others (5 + 1 + 3) / 3
    assert values_of(made["desirability_by_type_calm"]) == {"Fischer": 6.0, "NGO": 2.0}
    assert values_of(made["desirability_by_archetype_calm"]) == {"archetype:A": 4.0, "archetype:B": 4.0}
    assert "equally desirable" in sentence(made["desirability_by_archetype_calm"], "en")
    assert values_of(made["desirability_of_hold_outs"]) == {"holding_out": 7.0, "others": 3.0}


def test_drift_of_hold_outs():
    claim = claims()["drift_of_hold_outs"]
    assert values_of(claim) == {"holding_out": 2.0, "others": pytest.approx(1 / 3)}
    assert claim.methods == ("longitudinal", "delphi")


def retyped(**types: str) -> pd.DataFrame:
    frame = table()
    return frame.assign(stakeholder_type=[types.get(who, TYPES[who]) for who in frame["participant"]])


def test_a_group_of_fewer_than_five_is_not_named_but_listed_and_said():
    frame = retyped(p1="Angler", p5="Angler")  # both moved by 2, the most of all
    claim = claims(None, frame)["drift_by_type"]
    assert [group.group for group in claim.groups] == ["Fischer", "NGO"]
    assert [(group.group, group.n, group.value) for group in claim.small] == [("Angler", 2, 2.0)]
    assert sentence(claim, "de").endswith("Nicht verglichen: 1 Gruppe mit weniger als 5 Agenten.")
    assert "Angler" not in sentence(claim, "en")
    assert claim.as_json("de")["small_groups"][0]["group"] == "Angler"
    few = retyped(**{who: f"Typ {n // 4}" for n, who in enumerate(PEOPLE)})
    absent = {one.claim: one.why for one in crossed(results(), few).absent}
    assert absent["drift_by_type"] == "small_groups"


def test_ties_are_named():
    frame = retyped(**dict.fromkeys(kind(1), "Angler"), **dict.fromkeys(kind(3), "Verwaltung"))
    made = claims(None, frame)
    # moved: Fischer 2, Angler 1, NGO 0, Verwaltung 0
    assert sentence(made["drift_by_type"], "de").endswith("Ebenso niedrig: „NGO“.")
    # archetype A is five Fischer and five NGO, B five Angler and five Verwaltung: both 50 %
    assert made["types_of_archetypes"].template == "types_of_archetypes/same"
    frame = retyped(p2="Verwaltung", p6="Angler", p10="NGO", **dict.fromkeys(kind(3), "Verwaltung"))
    said = sentence(claims(None, frame)["types_of_archetypes"], "de")
    # B: p2, p4, p8, p12, p16, p20 are Verwaltung, 6 of 10; A: five Fischer, five NGO
    assert said.startswith("Am einheitlichsten ist Typ B: 6 von 10 Mitgliedern")
    assert said.endswith("Gleich viele stellt in Typ A „NGO“.")


def test_a_reconstructed_t0_is_never_called_drift():
    found = results()
    found["longitudinal"] = {"kind": "experience_effect", "experience_effect": found["longitudinal"]["drift"]}
    made = claims(found)
    assert "experience_by_type" in made
    assert not any(name.startswith("drift") for name in made)
    assert "keine Drift" in sentence(made["experience_by_type"], "de")


@pytest.mark.parametrize("missing", sorted(results()))
def test_without_a_methodology_its_claims_are_absent_with_a_reason(missing):
    found = {name: result for name, result in results().items() if name != missing}
    frame = table()
    made = crossed(found, frame[frame["methodology"].ne(missing)])
    assert all(missing not in claim.methods for claim in made.claims)
    assert {one.why for one in made.absent} == {f"no_{missing}"}
    whole = {claim.id for claim in crossed(results(), frame).claims if missing not in claim.methods}
    assert {claim.id for claim in made.claims} == whole  # the others stay


@pytest.mark.parametrize(
    ("methodology", "change", "why"),
    [
        ("longitudinal", {"kind": None}, "one_wave"),
        ("longitudinal", {"kind": "drift", "drift": {"interpretable": False, "agents": []}}, "incomparable"),
        ("longitudinal", {"kind": "drift", "drift": {"agents": []}}, "no_pairs"),
        ("diversity", {"archetypes": [], "members": []}, "no_typology"),
        ("delphi", {"convergence": []}, "no_revision"),
        ("delphi", {"hold_outs": []}, "no_hold_outs"),
        ("delphi", {"disagreements": []}, "no_camps"),
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
    made = crossed(found, frame)
    assert why in {one.why for one in made.absent}
    lost = {one.claim for one in made.absent}
    assert lost
    assert not any(claim.id.startswith(name) for claim in made.claims for name in lost)
    assert methodology == "delphi" or all(methodology not in claim.methods for claim in made.claims)
    assert all(claim.groups and claim.answer_ids for claim in made.claims)


@pytest.mark.parametrize("methodology", sorted(results()))
def test_findings_of_another_shape_are_no_crash(methodology):
    for odd in (
        {},
        {"drift": 3, "kind": "drift"},
        {"members": "x", "archetypes": [1]},
        {"disagreements": [{"item": 1}]},
        {"disagreements": 1, "hold_outs": [stand("x", "hold_outs", [], [])], "convergence": [1], "last_round": 3},
    ):
        crossed({**results(), methodology: odd}, table())


def test_nothing_at_all_and_one_agent_give_no_claim():
    empty = crossed({}, table().iloc[:0])
    assert empty.claims == ()
    assert empty.absent
    alone = crossed(results(), table()[lambda frame: frame["participant"].eq("p1")])
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
    assert crossed(results(), pd.concat([frame, other, refused])) == crossed(results(), frame)


def test_answers_are_named_by_their_whole_key_and_exist():
    frame = table()
    known = set(with_ids(frame)["answer_id"])
    assert "r/main/delphi/T1//3/0/p1/theme:x/importance" in known
    for claim in crossed(results(), frame).claims:
        assert claim.answer_ids
        assert set(claim.answer_ids) <= known
        assert len(claim.answer_ids) <= claim.n_answers


def test_every_figure_of_a_claim_stands_where_it_says():
    for claim in crossed(results(), table()).claims:
        file = {"claims": {claim.id: claim.as_json("de")}}
        for number in claim.as_json("de")["numbers"]:
            assert resolve(file, number["source"]["path"], claim.id) == number["value"]


def resolve(file: Any, path: str, claim: str) -> Any:
    node = file["claims"][claim]
    for step in path.removeprefix(f"claims.{claim}.").replace("[", ".").replace("]", "").split("."):
        node = node[int(step)] if step.isdigit() else node[step]
    return node


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_claim_and_every_reason_has_a_sentence(language):
    made = crossed(results(), table())
    for claim in made.claims:
        assert "{" not in sentence(claim, language)
    nothing = crossed({}, table())
    assert len(nothing.absent) == 11
    assert all("{" not in reason(one, language) for one in nothing.absent)


def test_what_is_not_part_of_the_run_is_not_missed():
    """Without diversity there are no archetypes to compare; without Delphi no two sides."""
    own = {name: EVALUATIONS[name] for name in ("longitudinal", "scenario")}
    made = cross(own, results(), table())
    assert {claim.id for claim in made.claims} == {"drift_by_type", "desirability_by_type_calm"}
    assert made.absent == ()


def test_a_methodology_from_outside_is_compared_with_all_others():
    """Its measure between the archetypes, the types and the sides of the others, in generic sentences; its groups with all
    measures. The values of the twelve agents in turn are 1 and 0; archetypes A and B are the same in turn."""
    values = pd.Series({who: float(n % 2 == 0) for n, who in enumerate(PEOPLE)})

    def measures(found, rows):
        yield Measure("care", "care", values, evidence=rows, rests_on=("x",))

    def groupings(found, rows):
        labels = values.map({1.0: "high", 0.0: "low"})
        yield Grouping("care_type", "by care", labels, ("x",))

    rows = [row(who, "bws", "best", value) for who, value in values.items()]
    own = Evaluation(lambda *_: {}, measures=measures, groupings=groupings)
    made = cross({**EVALUATIONS, "bws": own}, {**results(), "bws": {}}, pd.concat([table(), pd.DataFrame(rows)]))
    found = {claim.id: claim for claim in made.claims}
    assert values_of(found["care_by_archetype"]) == {"archetype:A": 1.0, "archetype:B": 0.0}
    assert sentence(found["care_by_archetype"], "en") == (
        "care: largest among type A (1.00; 10 of 10 agents), smallest among type B (0.00; 10 of 10)."
    )
    assert tell(found["care_of_hold_outs"].heading, "en") == "care (the hold-outs)"
    assert {"care_by_type", "drift_by_care_type", "desirability_by_care_type_calm"} <= found.keys()
    assert "care_by_care_type" not in found


def test_alternating_takes_from_all_alike():
    assert alternating(["a", "b", "c"], ["x"], []) == ["a", "x", "b", "c"]
    assert alternating(["a"], ["a", "b"]) == ["a", "b"]
