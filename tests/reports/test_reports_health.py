"""Instrument health of a run: which checks a methodology gets, over whom, what they add up to, and in which words.

The checks themselves are tested in tests/analysis; tables here are small enough to count by hand.
"""

from __future__ import annotations

import ast
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import enquete
import enquete.analysis
from enquete.analysis.diagnostics import THRESHOLDS, Overall, Threshold, judged
from enquete.instruments.scales import Human
from enquete.methods.registry import methodologies
from enquete.reports.declarations import Analysis, Presentation
from enquete.reports.evaluation import Evaluation
from enquete.reports.health import Health, MethodologyHealth, entropy, flags, judge, reasons
from enquete.reports.health import results as health_results
from enquete.reports.health_checks import BASES, CHECKS, PROBES, READ_BY, REASONS, OwnCheck, missing, possible, probing
from enquete.reports.views import Names, Results
from tests.support.tables import row as table_row
from tests.support.tables import rows as table_rows

DRIFT = {"longitudinal": {"kind": "drift", "interpretable": True}}
"""Facts of analyses, by methodology."""
TITLES = {"longitudinal": "Längsschnitt", "bws": "BWS"}


def row(who: int, item: str, value: float | None, **more) -> dict:
    return {
        "run_id": "r", "arm": "main", "arm_role": "main", "methodology": "longitudinal", "phase": "T1", "session": "",
        "round": 0,
        "turn": 0, "participant": f"p{who:03}", "stakeholder_type": "x", "item_id": item, "family": "f",
        "dimension": "",
        "status": "ok" if value is not None else "refused", "value": value, "scale_min": 1, "scale_max": 5,
        "reverse_keyed": False,
        "elicitation": "point", "temperature": 0.7,
        "item_position": 1 + int("".join(c for c in item if c.isdigit()) or 0),
        "option_order": "", "attempts": 1, "block": "items", "distribution": "", **more,
    }  # fmt: skip


def wave(values: np.ndarray, **more) -> list[dict]:
    """agents × items."""
    return [row(a, f"i{i}", float(x), **more) for a, line in enumerate(values) for i, x in enumerate(line)]


def random(agents: int, items: int, seed: int = 0, high: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, high + 1, (agents, items)).astype(float)


def examined(rows: list[dict], facts: dict | None = None, **more) -> Health:
    analyses = {name: Analysis({}, numbers) for name, numbers in (facts or {}).items()}
    return judge(methodologies(), analyses, pd.DataFrame(rows), **more)


def told(health: Health, language: str = "en", evaluations: dict[str, Evaluation] | None = None) -> Results:
    return health_results(health, evaluations or {}, Names(methodologies=TITLES), language)


def named(health: Health, name: str) -> list[tuple[str, str, str]]:
    return [
        (check.phase, check.found.verdict, check.found.reason_code)
        for check in health.checks
        if check.found.name == name
    ]


# --- the main arm ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("still", "verdict"), [(8, "fine"), (9, "caution"), (10, "bad")])
def test_agents_that_do_not_move_are_flagged(still: int, verdict: str):
    """Of ten agents 8, 9 or 10 give the same six answers twice; bounds .80 and .95."""
    before = random(10, 6)
    after = before.copy()
    after[still:, 0] = 6 - after[still:, 0] + (after[still:, 0] == 3)
    rows = [*wave(before, phase="T0"), *wave(after, phase="T1")]
    assert named(examined(rows, DRIFT), "zero_drift") == [("", verdict, "above" if verdict != "fine" else "")]


@pytest.mark.parametrize("kind", ["drift", "experience_effect"])
def test_two_waves_are_flagged_whatever_their_difference_is_called(kind: str):
    """Three agents are enough."""
    answers = random(3, 6)
    health = examined([*wave(answers, phase="T0"), *wave(answers, phase="T1")], {"longitudinal": {"kind": kind}})
    assert named(health, "zero_drift") == [("", "bad", "above")]
    assert named(health, "direction_flips") == [("", "fine", "")]


def test_what_cannot_be_computed_is_never_a_pass():
    health = examined(wave(random(10, 6)))
    assert named(health, "zero_drift") == named(health, "direction_flips") == [("", "not computed", "one_wave")]


def test_small_runs_get_no_verdict_from_checks_but_say_so():
    health = examined(wave(random(4, 6)))
    assert {check.found.verdict for check in health.checks if check.found.name == "coherence"} == {"not computed"}
    assert health.verdicts["longitudinal"] == Overall("cannot be judged", ("coherence:too_few_agents",))


def test_of_a_forced_grid_coherence_is_checked():
    grid = np.tile(np.repeat(np.arange(-3.0, 4.0), 2)[:12], (20, 1))
    shuffled = np.random.default_rng(1).permuted(grid, axis=1)
    rows = wave(shuffled, methodology="diversity", scale_min=-3, scale_max=3, block="sort")
    rows = [{**entry, "stakeholder_type": "xy"[int(entry["participant"][1:]) % 2]} for entry in rows]
    health = examined(rows, {"diversity": {"first_two": 0.4, "n": 20, "n_components": 2}})
    assert named(health, "coherence") == [("T1", "bad", "no_more_than_chance")]  # random sorts
    assert named(health, "two_components") == [("", "fine", "")]
    assert named(health, "refusal_rate") == [("T1", "fine", "")]


def test_revisions_after_feedback_are_checked_for_gaps_alone():
    ratings = random(30, 12)
    rows = [
        *wave(ratings, methodology="delphi", round=2),
        *wave(np.full_like(ratings, 5), methodology="delphi", round=3),
    ]
    health = examined(rows)
    assert len(named(health, "coherence")) == 1
    (unrevised,) = (check.found for check in health.checks if check.found.name == "unrevised")
    assert unrevised.value == 0
    (refused,) = (check.found for check in health.checks if check.found.name == "refusal_rate")
    assert refused.n == 720


def test_scenarios_are_told_apart_within_the_dimension_that_asks_for_desirability():
    """Ten agents wish for four scenarios alike and differ in plausibility alone."""
    rows = [
        row(
            a, f"s{s}/{dimension}", value, methodology="scenario", dimension=dimension, block=f"s{s}",
            item_position=place,
        )
        for a in range(10)
        for s in range(4)
        for place, (dimension, value) in enumerate((("wish", 3.0), ("likely", float(1 + (a + s) % 5))), start=1)
    ]  # fmt: skip
    health = examined(rows, {"scenario": {"desirability": "wish"}})
    assert named(health, "rated_alike") == [("T1", "caution", "above")]
    assert named(examined(rows, {"scenario": {}}), "rated_alike") == [("T1", "not computed", "no_desirability")]


def spread_out(values: np.ndarray, **more) -> list[dict]:
    """.7 on each answer, the rest on its neighbours: it stays the median (by hand)."""
    rows = wave(values, elicitation="distribution", **more)
    for entry in rows:
        near = [k for k in (entry["value"] - 1, entry["value"] + 1) if 1 <= k <= 5]
        entry["distribution"] = json.dumps({f"{entry['value']:g}": 0.7, **{f"{k:g}": 0.3 / len(near) for k in near}})
    return rows


def test_of_probabilities_the_medians_are_checked():
    values = random(30, 12)
    diagnostics = {check.found.name: check.found for check in examined(spread_out(values)).checks}
    points = {check.found.name: check.found for check in examined(wave(values)).checks}
    for name in ("coherence", "missing_rate"):
        assert diagnostics[name] == points[name]
    unlisted = examined(wave(values, elicitation="distribution"))  # the table does not hold them
    assert named(unlisted, "coherence")[0][1] != "not computed"


def test_probes_of_probabilities_are_compared():
    """A retest with the same medians and half of the distributions narrower: κ is 1, the likeness below 1."""
    values = random(20, 12)
    again = spread_out(values, arm="retest", arm_role="probe", temperature=0.0)
    for entry in again[:120]:
        entry["distribution"] = json.dumps({f"{entry['value']:g}": 1.0})
    health = examined([*spread_out(values, temperature=0.0), *again])
    assert named(health, "test_retest") == [("T1", "fine", "")]
    (retested,) = (check.found for check in health.checks if check.found.name == "test_retest")
    assert retested.value == 1
    assert 0.5 < retested.detail["likeness_of_distributions"] < 1
    assert retested.detail["n_distributions"] == 240


def test_people_s_answers_are_compared_with_what_the_instrument_says():
    """All items of the first agents' kind: the marginals of i0 are the simulated ones, so both likenesses are 1."""
    values = random(30, 12)
    marginals = {point: int((values[:, 0] == point).sum()) for point in range(1, 6)}
    human = Human(source="A survey", sd=float(values[:, 0].std(ddof=1)), marginals=marginals)
    health = examined(wave(values), humans={"longitudinal": {"i0": human, "not_asked": human}})
    checks = {check.found.name: check.found for check in health.checks}
    assert checks["variance_ratio"].value == pytest.approx(1)
    assert (checks["human_jsd"].value, checks["human_w1"].value) == (pytest.approx(1), pytest.approx(1))


def test_a_fault_in_both_waves_is_one_fault():
    """A tenth of the answers is refused, at T0 and at T1: one caution."""
    values = random(20, 12)
    values[:2] = np.nan
    refused = [*wave(values, phase="T0"), *wave(values, phase="T1")]
    refused = [{**row, "status": "refused" if np.isnan(row["value"]) else row["status"]} for row in refused]
    health = examined(refused, {"longitudinal": {"kind": None}})
    assert [verdict for _, verdict, _ in named(health, "refusal_rate")] == ["caution", "caution"]
    assert health.verdicts["longitudinal"].reasons.count("refusal_rate:above") == 1


def test_other_arms_are_not_read():
    rows = wave(random(10, 6))
    other = [{**entry, "arm": "b", "arm_role": "b", "value": 5.0} for entry in rows]
    assert examined([*rows, *other]) == examined(rows)


def test_a_bug_in_the_checks_of_one_methodology_leaves_the_others_theirs():
    broken = [{**entry, "methodology": "scenario", "status": "vanished"} for entry in wave(random(10, 6))]
    bugs: list[str] = []
    health = examined([*wave(random(10, 6)), *broken], on_bug=lambda name, error: bugs.append(f"{name}: {error}"))
    assert set(health.verdicts) == {"longitudinal", "scenario"}
    assert health.verdicts["scenario"] == Overall("cannot be judged", ("checks_failed",))
    assert len(bugs) == 1
    assert bugs[0].startswith("scenario: ")
    with pytest.raises(ValueError, match="vanished"):
        examined(broken)


# --- probes ----------------------------------------------------------------------------------------------------------


def probe(values: np.ndarray, arm: str, **more) -> list[dict]:
    return wave(values, arm=arm, arm_role="placebo" if arm == "placebo" else "probe", **more)


def test_each_probe_is_compared_with_the_main_arm_over_the_agents_it_asked():
    """12 of 40 agents are asked again. A retest that changes one answer in twelve is fine; a swapped persona that
    changes no more is ignored; reversed options that everybody answers by place give another answer throughout."""
    main = random(40, 12)
    again = main[:12].copy()
    again[:, 0] = again[:, 0] % 5 + 1
    orders = {"option_order": "[1, 2, 3, 4, 5]"}, {"option_order": "[5, 4, 3, 2, 1]"}
    rows = [
        *wave(main, **orders[0]), *probe(again, "retest", **orders[0]), *probe(again, "persona_swapped", **orders[0]),
        *probe(6 - main[:12], "options_reversed", **orders[1]), *probe(main[:12], "items_shuffled", item_position=3),
    ]  # fmt: skip
    health = examined(rows)
    assert named(health, "test_retest") == [("T1", "fine", "")]
    assert named(health, "persona_swap") == [("T1", "bad", "persona_ignored")]
    assert named(health, "option_order") == [("T1", "bad", "below")]
    assert health.verdicts["longitudinal"].verdict == "not usable"
    (retested,) = (check.found for check in health.checks if check.found.name == "test_retest")
    assert retested.detail["agents"] == 12
    assert {check.probe for check in health.checks if check.found.name in ("test_retest", "item_order")} == {True}


def test_an_equal_retest_at_a_temperature_is_a_cache():
    main = random(20, 12)
    assert named(examined([*wave(main), *probe(main, "retest")]), "test_retest") == [
        ("T1", "caution", "suspect_caching")
    ]
    cold = [*wave(main, temperature=0.0), *probe(main, "retest", temperature=0.0)]
    assert named(examined(cold), "test_retest") == [("T1", "fine", "")]


def test_a_persona_probe_without_a_retest_has_nothing_to_compare_with():
    main = random(20, 12)
    health = examined([*wave(main), *probe(main, "persona_null")])
    assert named(health, "null_persona") == [("T1", "not computed", "no_retest")]


def test_control_items_of_a_probe_and_the_placebos_own_t0():
    """Control items that all move by one point drift; a placebo that moves as much as the real digest shows no
    effect."""
    before, after = np.full((20, 6), 3.0), np.full((20, 6), 4.0)
    main = [*wave(before, phase="T0"), *wave(after, phase="T1")]
    control = [row(a, f"c{i}", 2.0 + t, phase=f"T{t}", arm="negative_control", arm_role="probe")
               for t in (0, 1) for a in range(20) for i in range(2)]  # fmt: skip
    health = examined([*main, *control, *probe(after, "placebo", phase="T1")], DRIFT)
    assert named(health, "negative_control") == [("", "bad", "control_drifted")]
    assert named(health, "placebo_exposure") == [("", "information", "one_run")]
    without = examined([*main, *control], DRIFT).verdicts["longitudinal"]
    assert health.verdicts["longitudinal"] == without  # to ask for a placebo costs no verdict


def test_a_false_median_that_pulls_like_the_true_one():
    """All rate 1; the panel's median 3 and the bogus 5 are both followed all the way: pulls 1 and 1."""
    first, true, bogus = (np.full((12, 10), x) for x in (1.0, 3.0, 5.0))
    more = {"methodology": "delphi"}
    rows = [*wave(first, round=2, **more), *wave(true, round=3, **more), *probe(bogus, "false_median", round=3, **more)]
    shown = {"main": 3.0, "false_median": 5.0}

    def pinned(name: str, arm: str) -> dict:
        return {"feedback/2": {}, "feedback/3": {f"i{i}": {"median": shown[arm]} for i in range(10)}}

    assert named(examined(rows, pinned=pinned), "false_median") == [("T1", "caution", "follows_any_median")]
    assert named(examined(rows), "false_median") == [("T1", "not computed", "no_bogus_median")]


# --- checks from outside ---------------------------------------------------------------------------------------------

CIRCLES = OwnCheck(
    Threshold(
        "share of agents that prefer in a circle", (None, 0.1), (None, 0.3), {"agents": 10}, "", "definition", "", "",
        decisive=True,
    ),
    "share",
    ("Agents in a circle", "Nobody chooses so."),
    {"circular": "in a circle"},
)  # fmt: skip


def circles(analysis, rows, humans):
    """A check of its own, judged by its own rule, and one with a reason of its own."""
    yield "T1", judged("circles", analysis.figure("share"), {"agents": 12}, rule=CIRCLES.rule)
    yield "", missing("circles", "circular", rule=CIRCLES.rule)


def again(arms):
    """Reads answers that are no scales: the generic comparisons leave them alone."""
    yield "T1", judged("circles", 0.0, {"agents": len(arms.asked["retest"])}, rule=CIRCLES.rule)


OUTSIDE = Evaluation(
    Presentation(tables=()), lambda *_: Analysis({}, {}), health=circles, probed=again, checks={"circles": CIRCLES}
)
OUTSIDERS = {"bws": replace(methodologies()["scenario"], name="bws", evaluation=lambda: OUTSIDE)}


def test_a_methodology_from_outside_has_checks_and_probes_of_its_own():
    rows = wave(random(12, 3), methodology="bws", scale_min=None, scale_max=None)
    asked = [{**entry, "arm": "retest", "arm_role": "probe"} for entry in rows]
    health = judge(OUTSIDERS, {"bws": Analysis({}, {"share": 0.5})}, pd.DataFrame([*rows, *asked]))
    assert named(health, "circles") == [("T1", "bad", "above"), ("", "not computed", "circular"), ("T1", "fine", "")]
    assert health.verdicts["bws"].verdict == "not usable"  # decisive by its own rule
    results = told(health, evaluations={"bws": OUTSIDE})
    sentence = "BWS, Agents in a circle: bad, above the threshold (50%; fine: ≤ 10%; n = 12). Nobody chooses so."
    assert flags(health, results, "bws")[1] == sentence
    assert f"- {sentence}" in results.at("section")
    assert [(entry["value"], entry["why"]) for entry in table_rows(results.analysis, "checks")][1:] == [
        (None, "circular"),
        (0.0, None),
    ]
    assert "in a circle |" in results.at("appendix")


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_the_shape_of_an_item():
    # 1, 3, 3, 5 and a refusal: midpoint 2 of 4, ends 2 of 4, mean 3;
    # H = −(½ ln ½ + 2 · ¼ ln ¼) = 1.5 ln 2, over ln 5
    (shape,) = examined([row(i, "a", v) for i, v in enumerate((1, 3, 3, 5, None))]).shapes
    assert (shape.n, shape.n_total, shape.mean, shape.midpoint, shape.ends) == (4, 5, 3.0, 0.5, 0.5)
    assert shape.entropy == pytest.approx(1.5 * math.log(2) / math.log(5))
    (even,) = examined([row(1, "a", 2, scale_max=4)]).shapes
    assert even.midpoint is None


def test_entropy_is_one_when_uniform_and_zero_when_all_agree():
    assert entropy(np.array([1.0, 2, 3, 4, 5]), 5) == pytest.approx(1)
    assert entropy(np.array([2.0, 2, 2]), 5) == 0
    assert entropy(np.array([2.0]), 5) is None


# --- words -----------------------------------------------------------------------------------------------------------


def codes() -> set[str]:
    """Reason codes in the source of the checks: given to `judged(why_not=…)`, `Ruling(…, code)`, or returned as a
    reason."""
    names: set[str] = set()
    for path in Path(enquete.analysis.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Ruling":
                names |= {arg.value for arg in node.args[1:] if isinstance(arg, ast.Constant)}
            if isinstance(node, ast.keyword) and node.arg == "why_not":
                names |= {constant.value for constant in ast.walk(node.value) if isinstance(constant, ast.Constant)}
    units = {unit for rule in THRESHOLDS.values() for unit in rule.least}
    return {*names, *(f"too_few_{unit}" for unit in units), "above", "below", "undefined"} - {""}


def test_every_check_reason_and_verdict_has_words():
    assert CHECKS.keys() == THRESHOLDS.keys()
    assert codes() <= REASONS.keys()
    root = Path(enquete.__file__).parent
    code = "\n".join(path.read_text("utf-8") for path in root.rglob("*.py")).replace("'", '"')
    (words,) = re.findall(r"^REASONS: Mapping.*?^}", code, re.MULTILINE | re.DOTALL)
    code = code.replace(words, "")
    few = {f"too_few_{unit}" for rule in THRESHOLDS.values() for unit in rule.least}
    assert {reason for reason in REASONS.keys() - few if f'"{reason}"' not in code} == set()  # none that nothing gives
    assert {rule.basis for rule in THRESHOLDS.values()} <= BASES.keys()
    assert set(READ_BY.values()) == PROBES.keys()
    assert set().union(*map(possible, methodologies().values())) == PROBES.keys()


def still() -> Health:
    before = random(20, 6)
    return examined([*wave(before, phase="T0"), *wave(before, phase="T1")], DRIFT, synthetic=True)


def test_a_flag_stands_alone_and_only_what_is_not_fine_is_flagged():
    health = still()
    flagged = flags(health, told(health, "de"), "longitudinal")
    assert flagged[0].startswith(
        "Längsschnitt: nicht verwendbar (Agenten ohne jede Veränderung: schlecht, über der Schwelle"
    )
    assert (
        "Längsschnitt, Agenten ohne jede Veränderung: schlecht, über der Schwelle (100 %; in Ordnung: ≤ 80 %; n = 20). "
        "Die Erinnerung bleibt fast ohne Wirkung auf die Antworten."
    ) in flagged
    assert len(flagged) == 1 + len(health.flagged)
    assert flags(Health(verdicts={"x": Overall("usable", ())}), told(health), "x") == []


def test_a_reason_says_how_bad_it_is_and_whether_a_probe_gave_it():
    main = random(20, 12)
    health = examined([*wave(main), *probe(main, "retest")])
    lines = reasons(health, told(health), "longitudinal")
    assert "Agreement when asked again (weighted κ): caution, probe, all answers equal" in lines
    assert "Coherence beyond chance, without agents' own levels (mean r): bad, no more" in lines


def test_the_verdict_names_the_probes_that_were_not_taken():
    main = random(20, 12)
    results = told(examined([*wave(main), *probe(main, "retest")]))
    [missed] = [entry["probes"] for entry in table_rows(results.analysis, "probes", state="not_taken")]
    assert missed[:5] == ["option_order", "item_order", "paraphrase", "persona_swap", "null_persona"]
    assert "test_retest" not in missed
    assert "- Probes not taken (Längsschnitt): options reversed, items shuffled," in results.at("section")
    both = examined([*wave(main, phase="T0"), *wave(main)], DRIFT)
    assert both.probes["longitudinal"].not_taken[-2:] == ("negative_control", "placebo_exposure")
    assert both.as_json()["verdicts"]["longitudinal"]["probes_not_taken"][0] == "test_retest"


def test_a_probe_that_was_asked_and_cannot_be_read_is_named_as_such():
    """A retest of which no answer could be read, and a persona probe that lacks it: neither was left out."""
    main = random(20, 12)
    unread = [{**entry, "status": "invalid", "value": None} for entry in probe(main, "retest")]
    health = examined([*wave(main), *unread, *probe(main, "persona_null")])
    probes = health.probes["longitudinal"]
    assert probes.not_read == ("test_retest",)
    assert not {"test_retest", "null_persona"} & set(probes.not_taken)
    assert health.as_json()["verdicts"]["longitudinal"]["probes_not_read"] == ["test_retest"]
    assert "- Probes taken, but not readable (Längsschnitt): retest." in told(health).at("section")
    assert named(health, "null_persona") == [("T1", "not computed", "retest_unread")]
    never = [{**entry, "status": "not_reached", "value": None} for entry in probe(main, "retest")]
    assert examined([*wave(main), *never]).probes["longitudinal"].not_taken[0] == "test_retest"


@pytest.mark.parametrize(
    ("role", "arm", "reason"),
    [
        ("probe", "retest", "retest_unread"),
        ("replicate", "replicate_2", "only_replicates"),
        ("b", "b", "reliability_not_tested"),
    ],
)
def test_nobody_was_asked_again_is_said_only_where_that_is_so(role: str, arm: str, reason: str):
    """Ratings that hang together, in two types that differ, so that no check objects: 20 agents, five asked again: too
    few."""
    half = np.repeat([[2.0] * 6, [4.0] * 6], 20, axis=0)
    rows = wave(half + np.random.default_rng(1).integers(-1, 2, (40, 6)) * (np.arange(40) % 3 == 0)[:, None])
    again = [{**entry, "arm": arm, "arm_role": role} for entry in rows if int(entry["participant"][1:]) < 5]
    judged = MethodologyHealth(
        methodologies()["longitudinal"], probing(pd.DataFrame([*rows, *again]), Analysis({}, {}), lambda arm: {})
    )
    assert judged.not_tested(pd.DataFrame([*rows, *again])) == reason


def test_usable_without_a_retest_is_flagged():
    capped = Health(verdicts={"longitudinal": Overall("usable as far as checked", ("reliability_not_tested",))})
    assert flags(capped, told(capped), "longitudinal") == [
        "Längsschnitt: usable as far as checked; reliability not tested (nobody was asked again)."
    ]


def test_gaps_of_nothing_have_no_row():
    """Checks of gaps, all 0 over 300 answers of 30 agents in two types; one refusal gives its rate a row."""
    rows = [{**entry, "stakeholder_type": "xy"[int(entry["participant"][1:]) % 2]} for entry in wave(random(30, 10))]
    gaps = r"\| (Refused|Invalid)"
    assert not re.search(gaps, told(examined(rows)).at("appendix"))
    rows[0] = {**rows[0], "status": "refused", "value": None}
    assert re.findall(gaps, told(examined(rows)).at("appendix"))[0] == "Refused"


def test_tables_are_filled_in():
    results = told(still(), "de")
    text = results.at("section") + results.at("appendix")
    assert "None" not in text
    assert "{" not in text
    assert "es liegen keine Daten von Menschen vor" in text


@pytest.mark.parametrize(
    ("check", "language", "bounds"),
    [("refusal_rate", "de", "≤ 5 %"), ("human_jsd", "en", "–")],
)
def test_thresholds_are_printed_as_they_are(check: str, language: str, bounds: str):
    results = told(examined(wave(random(20, 12))), language)
    declared = results.presentation.tables["checks"].column("least_to_most")
    assert results.cell(declared, table_row(results.analysis, "checks", check=check)) == bounds
