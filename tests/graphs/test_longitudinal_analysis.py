"""Longitudinal findings on tables small enough to work out by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.change.paired import paired_by_item
from enquete.graphs.longitudinal.across import headlines, measures
from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.findings import findings
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.results import EVALUATION
from enquete.instruments.load import load_shipped
from enquete.reports.context import AnalysisContext
from enquete.reports.crossing.claims import Missing
from tests.support.texts import prose, row, texts

INSTRUMENT = load_shipped(LongitudinalInstrument, "longitudinal")
STRAIGHT, REVERSE = "stock_cod_recovery", "stock_baltic_loss"  # both of family stock, 1–5
TYPES = {"a": "fisher", "b": "fisher", "c": "ngo"}

Wave = dict[str, dict[str, float | None]]


def rows(
    phase: str,
    answers: Wave,
    memory: tuple[str, ...] | None = None,
    baseline: str = "",
    arm: tuple[str, str] = ("main", "main"),
) -> list[dict]:
    """Rows for every item of the instrument: the given answers, the rest not reached. memory: at T1 everybody's."""
    made = []
    for who, values in answers.items():
        for item in (*(item.item_id for item in INSTRUMENT.items), "comment"):
            value = values.get(item)
            answered = value is not None or (item == "comment" and bool(values))
            turned = None if value is None else (6 - value if INSTRUMENT.reverse_coded(item) else value)
            made.append(
                {"phase": phase, "round": 0, "run_id": "run_1", "participant": who, "agent_name": who.upper(),
                 "stakeholder_type": TYPES[who], "item_id": item, "status": "ok" if answered else "not_reached",
                 "value": value, "value_rekeyed": turned, "confidence": 0.5 if value is not None else None,
                 "text": f"said {who}" if item == "comment" and answered else "",
                 "memory_available": phase == "T1" if memory is None else who in memory,
                 "baseline": baseline, "arm": arm[0], "arm_role": arm[1]}
            )  # fmt: skip
    return made


def frame(*waves: list[dict]) -> pd.DataFrame:
    table = pd.DataFrame([row for wave in waves for row in wave])
    return table.astype({"value": float, "value_rekeyed": float, "confidence": float})


T0: Wave = {"a": {STRAIGHT: 2, REVERSE: 4}, "b": {STRAIGHT: 3, REVERSE: 3}, "c": {STRAIGHT: 5}}
T1: Wave = {"a": {STRAIGHT: 4, REVERSE: 2}, "b": {STRAIGHT: 3, REVERSE: 4}, "c": {}}
MEASURED = AnalysisContext(language="en", baseline="measured", memoryless_weight=0.5)


def both(context: AnalysisContext = MEASURED) -> dict:
    return dict(analyse(frame(rows("T0", T0), rows("T1", T1, memory=("a", "c"))), INSTRUMENT, None, context))


def item_of(found: dict, item: str, where: str = "items") -> dict:
    return next(entry for entry in found[where] if entry["item"] == item)


def test_waves_are_described_on_raw_values_with_their_counts():
    found = item_of(both(), STRAIGHT)
    # T0 holds 2, 3, 5: mean 10/3, median 3, sd √((16/9 + 1/9 + 25/9)/2) = √(7/3)
    assert found["waves"]["T0"]["mean"] == pytest.approx(10 / 3)
    assert found["waves"]["T0"]["median"] == 3
    assert found["waves"]["T0"]["sd"] == pytest.approx((7 / 3) ** 0.5)
    assert found["waves"]["T0"]["distribution"] == {"1": 0, "2": 1, "3": 1, "4": 0, "5": 1}
    assert (found["waves"]["T1"]["n_responded"], found["waves"]["T1"]["n_total"]) == (2, 3)


def test_reverse_keyed_items_are_turned_in_drift_and_left_alone_in_the_description():
    found = both()
    delta = found["drift"]["delta"]
    row = dict(zip(delta["items"], delta["values"][delta["participants"].index("a")], strict=True))
    # a: straight 2→4 is +2; reverse 4→2 raw is 2→4 rekeyed, +2 as well
    assert (row[STRAIGHT], row[REVERSE]) == (2, 2)
    assert item_of(found, REVERSE)["waves"]["T0"]["mean"] == 3.5
    assert item_of(found["drift"], REVERSE)["mean_change"] == -0.5  # raw: a −2, b +1


def test_drift_weights_agents_without_memory_half_beside_the_unweighted_figure():
    found = both()["drift"]["population"]
    # a (memory): |Δ| 2, 2 → 2, signed 2. b (none): 0 and raw +1 = rekeyed −1 → |Δ| 0.5, signed −0.5. c has no pair
    assert found["n_agents"] == 2
    assert found["n_without_pairs"] == 1
    assert found["mean_abs_unweighted"] == pytest.approx(1.25)
    assert found["mean_abs"] == pytest.approx((1 * 2 + 0.5 * 0.5) / 1.5)
    assert found["mean_signed"] == pytest.approx((1 * 2 + 0.5 * -0.5) / 1.5)


def test_families_and_types_have_their_mean_rekeyed_change_and_n():
    stock = next(f for f in both()["drift"]["families"] if f["family"] == "stock")
    by_type = {entry["stakeholder_type"]: entry for entry in stock["by_type"]}
    assert by_type["fisher"]["mean_unweighted"] == pytest.approx((2 - 0.5) / 2)
    assert (by_type["ngo"]["n"], by_type["ngo"]["n_total"], by_type["ngo"]["mean"]) == (0, 1, None)
    market = next(f for f in both()["drift"]["families"] if f["family"] == "market")
    assert (market["n"], market["mean"]) == (0, None)


def test_item_tests_are_those_of_the_paired_module():
    found = both()["drift"]["items"]
    wide = {
        p: pd.DataFrame(w).T.reindex(columns=[i.item_id for i in INSTRUMENT.items]) for p, w in (("T0", T0), ("T1", T1))
    }
    oracle = {test.item: test for test in paired_by_item(wide["T0"].astype(float), wide["T1"].astype(float))}
    for entry in found:
        assert entry["p"] == oracle[entry["item"]].test.p
        assert entry["p_holm"] == oracle[entry["item"]].p_holm
        assert entry["hodges_lehmann"] == oracle[entry["item"]].test.hodges_lehmann


def test_items_have_effects_with_intervals_and_a_row_for_each_group():
    straight = item_of(both()["drift"], STRAIGHT)
    # a 2→4, b 3→3, c unpaired: d = 2, 0. Walsh averages 2, 1, 0: Hodges–Lehmann 1. Only one change: r = 1.
    assert (straight["n"], straight["n_missing"], straight["n_zero"], straight["n_ties"]) == (2, 1, 1, 0)
    assert straight["effects"]["hodges_lehmann"]["estimate"] == straight["hodges_lehmann"] == 1
    # Cliff's δ over all pairs of values: 4 > 2, 4 > 3, 3 > 2, 3 = 3: (3 − 0)/4
    assert straight["effects"]["cliff"]["estimate"] == 0.75
    assert straight["effects"]["cliff"]["low"] is None
    assert straight["effects"]["cliff"]["reason"] == "fewer than 3 pairs"
    assert [(row["stakeholder_type"], row["n"]) for row in straight["by_type"]] == [("fisher", 2), ("ngo", 0)]
    many = {f"p{i}": {STRAIGHT: float(1 + i % 3)} for i in range(12)}
    TYPES.update(dict.fromkeys(many, "fisher"))
    moved = {who: {STRAIGHT: values[STRAIGHT] + (i % 4 > 0)} for i, (who, values) in enumerate(many.items())}
    found = analyse(frame(rows("T0", many), rows("T1", moved)), INSTRUMENT, None, MEASURED)
    mean = item_of(found["drift"], STRAIGHT)["effects"]["mean_change"]
    assert mean["estimate"] == 0.75
    assert 0 < mean["low"] < 0.75 < mean["high"] <= 1
    section, appendix = texts(EVALUATION, found)
    assert "Statements by group" not in appendix  # there is only one group
    # T1: 1, 2·4, 3·4, 4·3: s² = 10.25/11; change: nine of one, s² = 2.25/11; ± 2.201·s/√12
    assert row(section, "The western")[1:4] == ["12 / 12", "2.00", "2.75 [2.14; 3.36]"]
    assert row(section, "The western")[4].startswith("0.75 [0.46; 1.04]")


def test_families_are_tested_on_rekeyed_scores():
    stock = next(f for f in both()["drift"]["families"] if f["family"] == "stock")
    # a: rekeyed +2 on both items; b: 0 and −1, mean −0.5
    assert stock["change"]["mean_change"] == pytest.approx(0.75)
    assert stock["change"]["n"] == 2
    assert stock["by_type"][0]["change"]["n"] == 2


def groups_of(sizes: dict[str, int]) -> dict:
    """Groups of these sizes answer 1 at T0 and one more at T1 on one item; findings with a second item that nobody moves on."""
    people = {f"{kind}{i}": kind for kind, size in sizes.items() for i in range(size)}
    TYPES.update(people)
    before: Wave = {who: {STRAIGHT: 1.0, REVERSE: 2.0} for who in people}
    after: Wave = {who: {STRAIGHT: 2.0, REVERSE: 2.0} for who in people}
    return dict(analyse(frame(rows("T0", before), rows("T1", after)), INSTRUMENT, None, MEASURED))


def test_rows_by_type_that_could_not_be_significant_are_left_out_counted_and_described():
    found = groups_of({"few": 5, "many": 8, "seven": 7})
    by_type = {row["stakeholder_type"]: row for row in item_of(found["drift"], STRAIGHT)["by_type"]}
    # 2/2⁷ and 2/2⁸; BH over these two and no other: .0156, .0078 · 2 = .0156
    assert (by_type["few"]["p"], by_type["few"]["mean_change"]) == (None, 1)
    assert by_type["seven"]["p_bh"] == by_type["many"]["p_bh"] == pytest.approx(2 / 2**7)
    assert found["drift"]["tests_by_type"]["items"] == {"n": 14 * 3, "n_untestable": 14 * 3 - 2}
    assert found["drift"]["tests_by_type"]["families"] == {"n": 4 * 3, "n_untestable": 4 * 3 - 2}


def test_by_group_stands_what_was_tested_and_groups_of_few_have_no_effect_sizes():
    _, text = texts(EVALUATION, groups_of({"few": 4, "many": 12, "seven": 7}))
    by_group = text.partition("#### Statements by group")[2].partition("*Source")[0]
    groups = [line.split(" | ")[1] for line in by_group.splitlines() if line.startswith("| The")]
    assert groups == ["many", "seven"]  # p 2/2¹², 2/2⁷
    assert "2 of 42 rows by group could be tested" in by_group
    families = text.partition("### Change by family and group")[2]
    assert row(families, " | seven")[7:] == ["0.016", "0.016", "0.016"]  # 2/2⁷
    assert "few" not in families.partition("Groups of fewer than 5 agents are left out")[0]
    _, none = texts(EVALUATION, groups_of({"few": 5, "some": 5}))
    assert "Not one of 28 rows by group could be tested" in none
    assert "smallest p" not in none


def test_changes_that_all_go_one_way_are_said_to_in_place_of_an_interval():
    found = groups_of({"many": 12})
    for language, words in (("en", "1.00 (one direction)"), ("de", "1,00 (eine Richtung)")):
        assert words in texts(EVALUATION, found, language)[1]


RETEST = ("retest", "probe")
PLACEBO = ("placebo", "placebo")


def panel_of(n: int) -> tuple[Wave, Wave]:
    """Agents that answer one item of family stock: 1, 2, 3, 4, 5, 1 … at T0; the first moves to 5 at T1, the rest stay."""
    before: Wave = {f"p{i}": {STRAIGHT: float(1 + i % 5)} for i in range(n)}
    TYPES.update(dict.fromkeys(before, "fisher"))
    return before, {**before, "p0": {STRAIGHT: 5.0}}


def test_without_a_retest_arm_there_is_no_reliable_change_and_the_reason_is_given():
    found = both()
    assert found["drift"]["reliable_change"]["retest_phase"] is None
    assert found["drift"]["reliable_change"]["overall"]["reason"] == "no retest arm and no reliability given"
    assert {agent["rci"] for agent in found["drift"]["agents"]} == {None}
    assert "Without a retest arm" in texts(EVALUATION, found)[1]


def test_the_retest_arm_gives_the_reliable_change_index_and_nothing_else():
    before, after = panel_of(10)
    repeat = {who: {STRAIGHT: min(values[STRAIGHT] + (who in ("p0", "p1")), 5.0)} for who, values in before.items()}
    alone = analyse(frame(rows("T0", before), rows("T1", after)), INSTRUMENT, None, MEASURED)
    table = frame(rows("T0", before), rows("T1", after), rows("T0", repeat, arm=RETEST))
    found = dict(analyse(table, INSTRUMENT, None, MEASURED))
    first = [v[STRAIGHT] for v in before.values()]
    # numpy and the formula by hand: SD with n − 1, r_tt = Pearson of the two askings
    r = float(np.corrcoef(first, [v[STRAIGHT] for v in repeat.values()])[0, 1])
    rci = 4 / (np.std(first, ddof=1) * np.sqrt(2 * (1 - r)))
    overall = found["drift"]["reliable_change"]["overall"]
    assert found["drift"]["reliable_change"]["retest_phase"] == "T0"
    assert overall["reliability"]["r"] == pytest.approx(r)
    assert (overall["n_up"], overall["n_down"], overall["n_within"]) == (1, 0, 9)
    mover = next(agent for agent in found["drift"]["agents"] if agent["participant"] == "p0")
    assert mover["rci"] == pytest.approx(rci)
    assert mover["rci_by_family"]["stock"] == pytest.approx(rci)
    assert found["waves"] == alone["waves"]
    assert found["items"] == alone["items"]
    assert found["drift"]["items"] == alone["drift"]["items"]
    for language in ("de", "en"):
        assert f"{rci:.2f}".replace(".", "," if language == "de" else ".") in texts(EVALUATION, found, language)[1]


def test_a_perfect_retest_gives_no_index_but_a_reason_in_the_reports_language():
    before, after = panel_of(10)
    found = analyse(
        frame(rows("T0", before), rows("T1", after), rows("T1", after, arm=RETEST)), INSTRUMENT, None, MEASURED
    )
    assert found["drift"]["reliable_change"]["retest_phase"] == "T1"
    assert found["drift"]["reliable_change"]["overall"]["n_up"] is None
    assert "r\\_tt ist 1" in texts(EVALUATION, found, "de")[1]


def test_drift_minus_placebo_is_taken_over_the_agents_that_both_arms_asked():
    before, _ = panel_of(10)
    before = {who: {STRAIGHT: 2.0} for who in before}
    after = {who: {STRAIGHT: 4.0 if i % 2 else 3.0} for i, who in enumerate(before)}
    neutral = {who: {STRAIGHT: 3.0 if i % 5 == 0 else 2.0} for i, who in enumerate(before) if i < 8}
    table = frame(
        rows("T0", before), rows("T1", after, memory=tuple(before)), rows("T1", neutral, tuple(neutral), arm=PLACEBO)
    )
    found = dict(analyse(table, INSTRUMENT, None, MEASURED))
    placebo = found["drift"]["minus_placebo"]
    one = item_of(placebo, STRAIGHT)
    # p0 … p7: drift 1, 2, 1, 2, … mean 1.5; placebo p0 and p5 moved by 1: 0.25
    assert (placebo["arm"], placebo["own_baseline"], placebo["n_agents"], one["n"]) == ("placebo", False, 8, 8)
    assert (one["main"], one["placebo"], one["difference"]["estimate"]) == (1.5, 0.25, 1.25)
    # differences 0, 2, 1, 2, 1, 1, 1, 2: seven of one sign, 2/2⁷; no other item was answered in both arms
    assert one["p_holm"] == one["p"] == 2 / 2**7
    stock = next(f for f in placebo["families"] if f["family"] == "stock")
    assert stock["difference"]["estimate"] == 1.25
    assert found["waves"]["T1"]["n_total"] == 10 * 15  # the placebo arm's rows are in no main figure
    assert row(texts(EVALUATION, found)[1].partition("### Drift minus placebo")[2], "The western")[1:4] == [
        "8 / 8", "1.50", "0.25"
    ]  # fmt: skip
    own = frame(*(rows(p, w, tuple(w), arm=PLACEBO) for p, w in (("T0", neutral), ("T1", neutral))))
    again = analyse(pd.concat([table[table["arm"].eq("main")], own]), INSTRUMENT, None, MEASURED)["drift"]
    assert item_of(again["minus_placebo"], STRAIGHT)["placebo"] == 0
    assert again["minus_placebo"]["own_baseline"] is True


def test_a_placebo_that_is_bought_is_not_thrown_away_when_t0_is_reconstructed():
    """T1 with the own memory is 3 or 4, with a neutral one 2, whatever T0 was: differences 1, 2, …, eight of one sign, p = 2/2⁸."""
    people = [f"p{i}" for i in range(8)]
    own = {who: {STRAIGHT: 4.0 if i % 2 else 3.0} for i, who in enumerate(people)}
    neutral = {who: {STRAIGHT: 2.0} for who in people}
    told = []
    for before in (neutral, own):
        table = frame(
            rows("T0", before), rows("T1", own, memory=tuple(own)), rows("T1", neutral, tuple(neutral), arm=PLACEBO)
        )
        found = dict(analyse(table, INSTRUMENT, None, AnalysisContext(language="en", baseline="reconstructed")))
        one = item_of(found["experience_effect"]["minus_placebo"], STRAIGHT)
        assert (one["difference"]["estimate"], one["p_holm"]) == (1.5, 2 / 2**8)
        section, appendix = texts(EVALUATION, found)
        assert "### T1 with the own memory minus T1 with a neutral one" in appendix
        assert row(section, "The western")[-2:] == ["1.50", "0.008"]
        assert "They are not tested" not in section
        told.append([each.text for each in findings(found, "en") if each.kind == "difference"])
    assert told[0] == told[1]
    assert "is 1.50 higher with the own memory than with a neutral one" in told[0][0]


def test_pairing_counts_agents_and_pairs():
    pairing = both()["pairing"]
    assert (pairing["agents_total"], pairing["agents_paired"], pairing["agents_only_T0"]) == (3, 2, 1)
    assert (pairing["pairs"], pairing["pairs_total"]) == (4, 3 * 14)


def test_a_reconstructed_baseline_gives_an_experience_effect_without_tests():
    found = both(AnalysisContext(language="en", baseline="reconstructed"))
    assert found["kind"] == "experience_effect"
    assert found["drift"] is None
    assert found["experience_effect"]["population"]["mean_abs_unweighted"] == pytest.approx(1.25)
    assert not {"p", "p_holm", "p_bh"} & set(found["experience_effect"]["items"][0])
    assert found["experience_effect"]["reliable_change"] is None
    assert found["experience_effect"]["minus_placebo"] is None
    effects = [row["effects"] for item in found["experience_effect"]["items"] for row in (item, *item["by_type"])]
    assert all(figure["low"] is None for effect in effects for figure in effect.values())
    for language, words in (("de", "Erfahrungseffekt, keine Drift"), ("en", "Experience effect, not drift")):
        section, appendix = texts(EVALUATION, found, language)
        assert words in section
        assert "p (Holm) | p (BH) |\n|---|---:|---:|---:|---:|---:|" not in appendix
        assert ("drift" in section.lower().replace(words.lower(), "")) is False


@pytest.mark.parametrize("baseline", ["measured", "reconstructed"])
def test_where_nobody_had_a_memory_no_effect_of_it_is_told(baseline):
    table = frame(rows("T0", T0), rows("T1", T1, memory=()))
    found = dict(analyse(table, INSTRUMENT, None, AnalysisContext(language="en", baseline=baseline)))
    kind = found["kind"]
    assert found[kind]["interpretable"] is False
    assert "p" not in found[kind]["items"][0]
    reason = "No agent that answered at T1 had a memory, so nothing of the simulation can show in the answers"
    assert f"**The change cannot be interpreted.** {reason}." in texts(EVALUATION, found)[0]
    assert found["flags"][-1] == f"Longitudinal: the change cannot be interpreted. {reason}."
    (measure,) = measures(found, table)
    assert isinstance(measure.values, Missing)  # so “Memory changes the answers” is never said
    assert not any(one.leads or one.said for one in headlines(found, "en"))
    assert {one.kind for one in EVALUATION.findings(found, "en")} <= {"position"}


def test_a_changed_model_makes_drift_not_interpretable():
    found = both(AnalysisContext(language="en", baseline="earlier", incomparable=("The model was x",)))
    assert found["drift"]["interpretable"] is False
    assert found["drift"]["reasons"] == ["The model was x"]
    assert "p" not in found["drift"]["items"][0]
    assert "**The change cannot be interpreted.** The model was x." in texts(EVALUATION, found)[0]


@pytest.mark.parametrize(
    "table",
    [
        frame(rows("T0", T0)),
        frame(rows("T1", T1)),
        frame(rows("T0", {"a": {STRAIGHT: 1}}), rows("T1", {"a": {STRAIGHT: 5}})),
        frame(rows("T0", {"a": {}}), rows("T1", {"a": {}})),
        frame(rows("T1", {"a": {}})),
    ],
    ids=["T0 only", "T1 only", "one agent", "nobody answered", "T1 not reached"],
)
@pytest.mark.parametrize("language", ["de", "en"])
def test_whatever_is_missing_gives_null_and_counts_never_nan(table, language):
    found = analyse(table, INSTRUMENT, None, AnalysisContext(language=language, baseline="measured"))
    json.dumps(found, allow_nan=False)
    section, _ = texts(EVALUATION, found, language)
    assert prose(section) <= 150
    for phase in table["phase"].unique():
        assert set(EVALUATION.files(found, table[table["phase"].eq(phase)], phase)) == {
            "responses.jsonl",
            "aggregate.json",
        }


def test_comments_are_listed_with_who_said_them_and_a_large_wave_evenly():
    found = both()["comments"]["waves"]
    assert found["T0"]["n_responded"] == 3
    assert found["T0"]["listed"][0] == {"participant": "a", "name": "A", "stakeholder_type": "fisher", "text": "said a"}
    many = {f"p{i}": {STRAIGHT: 3.0} for i in range(95)}
    TYPES.update(dict.fromkeys(many, "fisher"))
    listed = analyse(frame(rows("T1", many)), INSTRUMENT, None, MEASURED)["comments"]["waves"]["T1"]["listed"]
    assert [entry["participant"] for entry in listed] == [f"p{i}" for i in range(0, 95, 3)]  # every third: ≤ 40


def test_item_facts_say_family_scale_and_keying():
    facts = EVALUATION.item_facts(REVERSE, INSTRUMENT)
    assert (facts.family, facts.reverse_keyed, facts.scale_min, facts.scale_max) == ("stock", True, 1, 5)
    assert EVALUATION.item_facts("comment", INSTRUMENT).scale_min is None
