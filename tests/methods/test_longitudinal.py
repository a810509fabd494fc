"""The waves on tables small enough to work out by hand: tables, what is read of them, and sentences that follow from
the answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.analysis.inference import max_t
from enquete.analysis.sign_flips import mean_change
from enquete.instruments.load import load_shipped
from enquete.methods.longitudinal.evaluation import EVALUATION, PRESENTATION, files
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.longitudinal.results import analyse
from enquete.reports.charts import drawn
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, WholeResults, shaped
from enquete.reports.findings import MOST_WORDS, KeyFinding, stated_of
from tests.support.charts import illegible
from tests.support.tables import results, row
from tests.support.tables import rows as rows_of

INSTRUMENT = load_shipped(LongitudinalInstrument, "longitudinal")
ITEMS = [item.item_id for item in INSTRUMENT.items]
STRAIGHT, REVERSE = "stock_cod_recovery", "stock_baltic_loss"  # both of family stock, 1–5
TYPES = {"a": "fisher", "b": "fisher", "c": "ngo"}
MEASURED = AnalysisContext(language="en", baseline="measured", memoryless_weight=0.5)
RECONSTRUCTED = AnalysisContext(language="en", baseline="reconstructed")
PLACEBO = ("placebo", "placebo")

Wave = dict[str, dict[str, float | None]]


def rows(
    phase: str, answers: Wave, memory: Iterable[str] | None = None, arm: tuple[str, str] = ("main", "main")
) -> list[dict]:
    """Rows for every item of the instrument: the given answers, the rest not reached. memory: at T1 everybody's."""
    made = []
    for who, values in answers.items():
        for item in (*ITEMS, "comment"):
            value = values.get(item)
            answered = value is not None or (item == "comment" and bool(values))
            turned = None if value is None else (6 - value if INSTRUMENT.reverse_coded(item) else value)
            made.append(
                {"phase": phase, "round": 0, "run_id": "run_1", "participant": who, "agent_name": who.upper(),
                 "stakeholder_type": TYPES.get(who, who.rstrip("0123456789")), "item_id": item,
                 "status": "ok" if answered else "not_reached",
                 "value": value, "value_rekeyed": turned, "confidence": 0.5 if value is not None else None,
                 "text": f"said {who}" if item == "comment" and answered else "",
                 "memory_available": phase == "T1" if memory is None else who in set(memory),
                 "baseline": "", "arm": arm[0], "arm_role": arm[1]}
            )  # fmt: skip
    return made


def find(*waves: list[dict], context: AnalysisContext = MEASURED) -> Analysis:
    table = pd.DataFrame([row for wave in waves for row in wave])
    floats = {"value": float, "value_rekeyed": float, "confidence": float}
    return analyse(table.astype(floats), INSTRUMENT, None, context)


T0: Wave = {"a": {STRAIGHT: 2, REVERSE: 4}, "b": {STRAIGHT: 3, REVERSE: 3}, "c": {STRAIGHT: 5}}
T1: Wave = {"a": {STRAIGHT: 4, REVERSE: 2}, "b": {STRAIGHT: 3, REVERSE: 4}, "c": {}}


@cache
def both() -> Analysis:
    return find(rows("T0", T0), rows("T1", T1, memory=("a", "c")))


def text_of(analysis: Analysis, place: str = "section", language: str = "en") -> str:
    return results(PRESENTATION, analysis, language).at(place)


def findings_of(analysis: Analysis, language: str = "en") -> list[KeyFinding]:
    return list(stated_of(results(PRESENTATION, analysis, language)))


def panel(n: int, shifts: dict[str, int]) -> tuple[Wave, Wave]:
    """n agents who answer 2–4 at random and, of the items with a shift, move by it in ten of twelve cases."""
    rng = np.random.default_rng(7)
    first: Wave = {f"fisher{i}": {item: float(rng.integers(2, 5)) for item in ITEMS} for i in range(n)}
    second: Wave = {
        who: {item: value + (i % 12 < 10) * shifts.get(item, 0) for item, value in first[who].items()}
        for i, who in enumerate(first)
    }
    return first, second


MOVED = panel(14, {STRAIGHT: 1, REVERSE: -1})


@cache
def moved() -> Analysis:
    return find(*map(rows, ("T0", "T1"), MOVED))


# --- waves, statements, families -------------------------------------------------------------------------------------


def test_waves_are_described_as_worded_and_families_and_agents_rekeyed() -> None:
    analysis = both()
    first, last = (row(analysis, "answers", item=STRAIGHT, phase=wave) for wave in ("T0", "T1"))
    # T0 holds 2, 3, 5: mean 10/3, median 3, sd √((16/9 + 1/9 + 25/9)/2) = √(7/3); one of three is above 3
    assert (first["mean"], first["sd"]) == pytest.approx((10 / 3, (7 / 3) ** 0.5))
    assert (first["median"], first["agreeing"]) == (3, pytest.approx(1 / 3))
    counts = [entry["n"] for entry in rows_of(analysis, "distribution", item=STRAIGHT, phase="T0")]
    assert counts == [0, 1, 1, 0, 1]
    assert (last["n"], last["n_total"]) == (2, 3)
    assert row(analysis, "waves", phase="T1")["n_with_memory"] == 2
    facts = analysis.facts
    assert (facts["n_paired"], facts["n_only_t0"], facts["pairs"], facts["pairs_total"]) == (2, 1, 4, 3 * 14)
    analysis = both()
    straight, reverse = (row(analysis, "changes", item=item) for item in (STRAIGHT, REVERSE))
    # a: straight 2→4; reverse 4→2, which is +2 rekeyed. b: 3→3, and 3→4, −1 rekeyed. c has no pair
    assert (straight["before"], straight["after"], straight["change"], straight["n"]) == (2.5, 3.5, 1, 2)
    assert reverse["change"] == -0.5
    stock = row(analysis, "family_changes", family="stock")
    # scores of a 2 and of b −.5; b has no memory and counts half
    assert (stock["n"], stock["n_total"], stock["mean"]) == (2, 3, 0.75)
    assert stock["weighted"] == pytest.approx((2 - 0.25) / 1.5)
    assert row(analysis, "family_changes", family="market")["mean"] is None
    a, b = rows_of(analysis, "agents")
    assert (a["drift_abs"], a["drift_signed"], b["drift_abs"], b["drift_signed"]) == (2, 2, 0.5, -0.5)
    assert analysis.facts["mean_abs_unweighted"] == 1.25
    assert analysis.facts["mean_abs"] == pytest.approx((2 + 0.25) / 1.5)
    assert (analysis.facts["n_agents"], analysis.facts["n_without_pairs"]) == (2, 1)


def test_tests_of_statements_are_those_of_their_modules() -> None:
    analysis = moved()
    before, after = (pd.DataFrame(wave).T[ITEMS] for wave in MOVED)
    joint = max_t(after - before)
    for item in ITEMS:
        change, alone = row(analysis, "changes", item=item), mean_change(after[item] - before[item])
        assert (change["p_alone"], change["alone_low"], change["alone_high"]) == (alone.p, alone.low, alone.high)
        assert change["p_alone"] == pytest.approx(joint.loc[item, "p"], nan_ok=True) or change["p_alone"] is None
        p = joint.loc[item, "p_adjusted"]
        assert change["p"] == (p if p == p else None)
    outcomes = {entry["item"]: entry["outcome"] for entry in rows_of(analysis, "changes")}
    assert (outcomes.pop(STRAIGHT), outcomes.pop(REVERSE), set(outcomes.values())) == ("risen", "fallen", {"unmoved"})


# --- findings --------------------------------------------------------------------------------------------------------


def test_every_number_of_a_sentence_is_one_of_the_answers() -> None:
    told = findings_of(moved())
    before, after = (pd.DataFrame(wave).T[ITEMS] for wave in MOVED)
    change = after - before
    assert [(top.kind, *top.items) for top in told[:2]] == [("difference", STRAIGHT), ("difference", REVERSE)]
    for finding in told[:2]:
        d = change[finding.items[0]]
        # Bonferroni over 14 statements, s² shrunk towards their mean: ((n − 1)s² + 2s̄²)/(n + 1)
        error = np.sqrt((13 * d.var() + 2 * change.var().mean()) / 15 / 14)
        reach = stats.t.ppf(1 - 0.025 / 14, 13) * error
        assert (finding.estimate, finding.low, finding.high) == pytest.approx(
            (d.mean(), d.mean() - reach, d.mean() + reach)
        )
    # all sign flips of 12 agents: both items changed by all of them alike, so 2/2¹² each, one family
    assert told[0].p == told[1].p == pytest.approx(2 / 2**12)
    t0, t1 = before[STRAIGHT].mean(), after[STRAIGHT].mean()
    assert f"rose from a mean of {t0:.2f} to {t1:.2f} (change 0.86, simultaneous 95% interval" in told[0].text
    assert told[0].strip is not None
    assert "line: simultaneous 95% interval" in told[0].strip.caption
    assert "fell from a mean of" in told[1].text
    ends = {name: end for end in told if (name := end.id.partition(".")[0]) in ("highest", "lowest")}
    assert (ends["highest"].items[0], ends["lowest"].items[0]) == (after.mean().idxmax(), after.mean().idxmin())
    assert ends["highest"].estimate == after.mean().max()


def test_a_null_is_said_as_a_null_with_what_would_have_been_found() -> None:
    first, _ = panel(14, {})
    second = {who: {**answers, STRAIGHT: answers[STRAIGHT] + (i < 2)} for i, (who, answers) in enumerate(first.items())}
    (null, *positions) = findings_of(find(rows("T0", first), rows("T1", second)))
    # two changes of one: p = 2/2², and no other item has a p
    assert (null.kind, null.p, {position.kind for position in positions}) == ("null", 0.5, {"position"})
    assert null.text.startswith(
        "No change of a statement was found between T0 and T1 (1 tested, smallest adjusted p = 0.50; n = 14/14);"
    )
    # SD of the one item that moved, √(2/14 · 12/14 · 14/13) = .363, the page's only test: at .05 a paired t test finds
    # .81 of the true SD (statsmodels, TTestPower), .85 of one that is estimated from 14
    assert null.text.endswith("a difference of 0.31 points would have been found four times in five.")
    (unmoved, *_) = findings_of(find(rows("T0", first), rows("T1", first)))
    assert unmoved.text == "Nobody changed an answer to any of 14 statements between T0 and T1 (n = 14/14)."
    few = panel(6, dict.fromkeys(ITEMS, 1))
    (null, *_) = findings_of(find(rows("T0", few[0]), rows("T1", few[1])))
    assert (null.kind, null.text[:41]) == ("null", "6 agents are too few to tell whether a st")


def test_ties_of_the_highest_mean_are_named_as_ties() -> None:
    wave: Wave = {f"fisher{i}": {**dict.fromkeys(ITEMS, 3.0), STRAIGHT: 4.0, REVERSE: 4.0} for i in range(6)}
    wave["fisher0"]["market_msc_cost"] = 2.0
    analysis = find(rows("T1", wave))
    places = {entry["item"]: entry["place"] for entry in rows_of(analysis, "answers") if entry["place"]}
    assert places == {
        STRAIGHT: "most_agreement_tied", REVERSE: "most_agreement_tied", "market_msc_cost": "least_agreement",
    }  # fmt: skip
    assert "strongest, as with others, with" in findings_of(analysis)[0].text
    assert text_of(analysis).startswith("6 of 6 agents rated 14 statements once")
    assert "| 4.00 |" in text_of(analysis)


def test_groups_are_compared_on_level_and_change_of_one_wave_or_two() -> None:
    people = [f"{kind}{i}" for kind in ("fisher", "ngo") for i in range(6)]
    before: Wave = {who: dict.fromkeys(ITEMS, 3.0) for who in people}
    after: Wave = {who: {**answers, STRAIGHT: 5.0 if who.startswith("ngo") else 2.0} for who, answers in before.items()}
    analysis = find(rows("T0", before), rows("T1", after))
    level, change = (row(analysis, table, item=STRAIGHT) for table in ("group_tests", "change_group_tests"))
    assert (level["highest"], level["mean_highest"], level["mean_lowest"]) == (["ngo"], 5, 2)
    assert (change["highest"], change["mean_highest"], change["mean_lowest"]) == (["ngo"], 2, -1)
    # of C(12, 6) = 924 relabellings two are as far apart
    assert level["p"] == change["p"] == pytest.approx(2 / 924)
    (finding,) = [each for each in findings_of(find(rows("T1", after))) if each.kind == "difference"]
    assert (finding.id, finding.items, finding.p) == (f"groups.{STRAIGHT}", (STRAIGHT,), level["p"])
    assert "is judged differently by groups: mean 5.00 among ngo, 2.00 among fisher" in finding.text


def test_a_finding_is_a_short_sentence_however_long_the_statement() -> None:
    analysis = find(*map(rows, ("T0", "T1"), panel(14, dict.fromkeys(ITEMS, 1))))
    for language in ("de", "en"):
        told = findings_of(analysis, language)
        assert len([finding for finding in told if finding.kind == "difference"]) == 4
        assert all(len(finding.text.split()) <= MOST_WORDS and finding.text[-1] == "." for finding in told)


SCALES = {
    "life": {"min": 1, "max": 5, "labels": {1: "much worse", 5: "much better"}},
    "ten": {"min": 0, "max": 10, "labels": {0: "not at all", 10: "completely"}},
}
ON_SCALES = {
    "calm": ("likert5", 4.0), "fair": ("likert5", 2.0), "near": ("likert5", 3.0), "rent": ("life", 5.0),
    "work": ("life", 1.0), "trust": ("ten", 7.0),
}  # fmt: skip


def on_several_scales() -> Analysis:
    """Three statements of agreement (1–5), two on “much worse … much better” (1–5), one on 0–10; everybody alike."""
    items = [
        {"item_id": item, "wording": item, "family": "all", "scale": scale} for item, (scale, _) in ON_SCALES.items()
    ]
    instrument = LongitudinalInstrument.model_validate({
        "instrument_id": "several", "version": "1.0.0", "title": "T", "topic": "T", "language_default": "en",
        "instruction": "I", "families": {"all": {"label": "All"}}, "items": items, "scales": SCALES,
    })  # fmt: skip
    made = [
        {"phase": "T1", "round": 0, "run_id": "r", "participant": f"p{n}", "agent_name": "P", "stakeholder_type": "ngo",
         "item_id": item, "status": "ok", "value": value, "value_rekeyed": value, "confidence": None, "text": "",
         "memory_available": True, "baseline": "", "arm": "main", "arm_role": "main"}
        for n in range(6) for item, (_, value) in ON_SCALES.items()
    ]  # fmt: skip
    return analyse(pd.DataFrame(made).astype({"confidence": float}), instrument, None, AnalysisContext(language="en"))


def test_statements_of_different_scales_are_not_ranked_together() -> None:
    """The highest number is 7 on 0–10, the highest on 1–5 is 5 of “much better”; of the three statements on the
    commonest scale, “calm” is highest with 4 and “fair” lowest with 2. “Agreement” is said of these alone."""
    analysis = on_several_scales()
    places = {entry["item"]: entry["place"] for entry in rows_of(analysis, "answers") if entry["place"]}
    assert places == {"calm": "most_agreement", "fair": "least_agreement"}
    scales = {entry["item"]: (entry["scale"], entry["scale_place"]) for entry in rows_of(analysis, "answers")}
    assert scales["calm"] == ("1–5, strongly disagree … strongly agree", 1)
    assert scales["rent"] == ("1–5, much worse … much better", 2)
    assert scales["trust"] == ("0–10", 3)
    told = " ".join(finding.text for finding in findings_of(analysis))
    assert "Of 3 statements on 1–5, strongly disagree … strongly agree, agreement is strongest with “calm”" in told
    assert "| above the middle |" in text_of(analysis).replace("---:|", "|")
    pictures = {picture.name: picture for picture in drawn(results(PRESENTATION, analysis), footer="f")}
    assert set(pictures) == {"own/answers", "own/groups"}
    for picture in pictures.values():
        titles = [panel["title"]["text"] for panel in picture.spec.get("vconcat", []) if "title" in panel]
        assert titles == ["1–5, strongly disagree … strongly agree", "1–5, much worse … much better", "0–10"]
    assert "highest mean on 1–5, strongly disagree … strongly agree: “calm”, 4.00" in pictures["own/answers"].alt


def test_where_answers_to_no_statement_vary_the_sentence_says_why_it_has_no_interval() -> None:
    """All six answer alike, so that no standard deviation is above 0; “interval – to –” stood there."""
    told = {finding.id: finding for finding in findings_of(on_several_scales())}
    highest = told["highest.calm/T1"]
    assert highest.text.endswith("mean 4.00 (no interval: answers to no statement vary; n = 6/6).")
    assert (highest.estimate, highest.low, highest.high) == (4, None, None)


def test_where_no_scale_is_of_agreement_nobody_agrees() -> None:
    frame = pd.DataFrame(rows("T1", {f"p{n}": dict.fromkeys(ITEMS, 5.0) | {STRAIGHT: 1.0} for n in range(6)}))
    scale = {"min": 1, "max": 5, "labels": {
        1: {"de": "viel schlechter", "en": "much worse"}, 5: {"de": "viel besser", "en": "much better"},
    }}  # fmt: skip
    items = [item.model_dump(exclude_none=True) | {"scale": "life"} for item in INSTRUMENT.items]
    life = LongitudinalInstrument.model_validate(
        INSTRUMENT.model_dump(exclude_none=True) | {"items": items, "scales": {"life": scale}}
    )
    floats = {"value": float, "value_rekeyed": float, "confidence": float}
    analysis = analyse(frame.astype(floats), life, None, MEASURED)
    told = " ".join(finding.text for finding in findings_of(analysis))
    assert "Lowest mean of 14 statements on 1–5" in told
    assert "gree" not in told.replace("greater", "")


def test_without_a_memory_in_either_wave_no_memory_changes_the_answers() -> None:
    """“The differences show what memory changes” stood beside “no agent that answered at T1 had a memory”."""
    first, second = panel(14, {STRAIGHT: 1})
    told = text_of(find(rows("T0", first), rows("T1", second, memory=()), context=RECONSTRUCTED))
    assert "what differs is the noise of asking the same personas twice" in told
    assert "what memory changes" not in told
    remembering = text_of(find(rows("T0", first), rows("T1", second), context=RECONSTRUCTED))
    assert "show what memory changes in the answers" in remembering


# --- what the design cannot show -------------------------------------------------------------------------------------


def test_a_reconstructed_baseline_gives_an_experience_effect_without_tests() -> None:
    first, second = panel(14, {STRAIGHT: 1})
    analysis = find(rows("T0", first), rows("T1", second), context=RECONSTRUCTED)
    item = row(analysis, "changes", item=STRAIGHT)
    assert (analysis.facts["kind"], item["outcome"]) == ("experience_effect", "untested")
    assert (item["p"], item["low"]) == (None, None)
    assert item["change"] == pytest.approx(12 / 14)
    assert not rows_of(analysis, "change_group_tests")
    (agent, *_) = rows_of(analysis, "agents")
    assert (agent["drift_abs"], agent["experience_effect_abs"]) == (None, pytest.approx(1 / 14))
    assert "**Experience effect, not drift.**" in text_of(analysis)
    assert {finding.kind for finding in findings_of(analysis)} == {"position"}


@pytest.mark.parametrize(
    ("baseline", "memory", "why"),
    [("reconstructed", (), "No agent that answered at T1 had a memory"), ("measured", None, "The model was x.")],
)  # fmt: skip
def test_a_change_that_cannot_be_interpreted_is_neither_tested_nor_said_of_agents(
    baseline: str, memory: tuple[str, ...] | None, why: str
) -> None:
    context = AnalysisContext(
        language="en", baseline=baseline, incomparable=() if memory == () else ("The model was x",)
    )
    first, second = panel(14, {STRAIGHT: 1})
    analysis = find(rows("T0", first), rows("T1", second, memory=memory), context=context)
    assert analysis.facts["interpretable"] is False
    assert {entry["outcome"] for entry in rows_of(analysis, "changes")} == {"untested"}
    assert not rows_of(analysis, "agents")
    assert f"**The change cannot be interpreted.** {why}" in text_of(analysis)
    assert {finding.kind for finding in findings_of(analysis)} == {"position"}


@pytest.mark.parametrize(
    "waves",
    [[rows("T0", T0)], [rows("T1", T1)], [rows("T0", {"a": {STRAIGHT: 1}}), rows("T1", {"a": {STRAIGHT: 5}})],
        [rows("T0", {"a": {}}), rows("T1", {"a": {}})], [rows("T1", {"a": {}})]],
    ids=["T0 only", "T1 only", "one agent", "nobody answered", "T1 not reached"],
)  # fmt: skip
def test_whatever_is_missing_gives_null_and_counts_never_nan(waves: list[list[dict]]) -> None:
    analysis = find(*waves)
    written: dict[str, Any] = {"arms": ["main"], "partial": True, **analysis.as_json(PRESENTATION)}
    json.dumps(written, allow_nan=False)
    for language in ("de", "en"):
        assert (
            "nan"
            not in (text_of(analysis, "section", language) + text_of(analysis, "appendix", language)).lower().split()
        )
    for wave in waves:
        made = files(WholeResults(written, analysis.tables), pd.DataFrame(wave), wave[0]["phase"])
        json.dumps(made["aggregate.json"], allow_nan=False)
        assert set(made) == {"responses.jsonl", "aggregate.json"}
        assert {answer["phase"] for answer in made["aggregate.json"]["answers"]} == {wave[0]["phase"]}


RUNS = {
    "empty": lambda: shaped(PRESENTATION, {}, {}),
    "partial": lambda: find(rows("T0", T0), rows("T1", {"a": {}})),
    "small": moved,
    "with a placebo": lambda: find(*map(rows, ("T0", "T1"), MOVED), rows("T1", MOVED[0], MOVED[0], PLACEBO)),
    "reconstructed": lambda: find(*map(rows, ("T0", "T1"), MOVED), context=RECONSTRUCTED),
}  # fmt: skip


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("run", RUNS)
def test_all_that_is_read_of_a_run_can_be_told(run: str, language: str) -> None:
    """Templates are strict: a name that is not there is an error. A finding names only values that it has."""
    read = results(PRESENTATION, RUNS[run](), language)
    findings = list(stated_of(read))
    texts = [read.at("section"), read.at("appendix"), *read.flags(), *(finding.text for finding in findings)]
    for text in texts:
        assert "{" not in text
        assert not {"None", "nan", "<NA>"} & set(text.replace("|", " ").split()), text
    assert set(read.digest()["tables"]) == {"changes", "placebo", "answers", "group_tests", "change_group_tests"}
    assert len({finding.id for finding in findings}) == len(findings)
    if run == "empty":
        assert not "".join(texts)


def test_section_and_appendix_have_the_tables_of_the_design() -> None:
    """Statements that are tested stand with their p; those of one wave with mean and median; nothing stands twice."""
    section, appendix = text_of(moved()), text_of(moved(), "appendix")
    assert "| Statement | n | T0 | T1 | T1 − T0 | 95% | adjusted p |" in section
    assert [line for line in appendix.splitlines() if line.startswith("#")] == [
        "### Waves", "### Each statement alone", "### Answers by statement and wave", "### Change by family",
        "### Change by agent", "### Open comments",
    ]  # fmt: skip
    once = find(rows("T1", MOVED[1]))
    assert "| Statement | n / N | mean | 95% | median |" in text_of(once)
    assert "### Answers by statement and wave" not in text_of(once, "appendix")


# --- retest and placebo ----------------------------------------------------------------------------------------------


def one_mover(n: int) -> tuple[Wave, Wave]:
    """Agents that answer one item of family stock: 1, 2, 3, 4, 5, 1 … at T0; the first moves to 5 at T1, the rest
    stay."""
    before: Wave = {f"fisher{i}": {STRAIGHT: float(1 + i % 5)} for i in range(n)}
    return before, {**before, "fisher0": {STRAIGHT: 5.0}}


def test_with_a_placebo_arm_only_what_goes_beyond_it_is_tested() -> None:
    people = [f"fisher{i}" for i in range(10)]
    before: Wave = {who: {STRAIGHT: 2.0} for who in people}
    after: Wave = {who: {STRAIGHT: 4.0 if i % 2 else 3.0} for i, who in enumerate(people)}
    neutral: Wave = {who: {STRAIGHT: 3.0 if i % 5 == 0 else 2.0} for i, who in enumerate(people) if i < 8}
    main = (rows("T0", before), rows("T1", after))
    analysis = find(*main, rows("T1", neutral, neutral, PLACEBO))
    entry = row(analysis, "placebo", item=STRAIGHT)
    # 0 … 7: change 1, 2, 1, 2, … mean 1.5; placebo 0 and 5 moved by 1: .25; differences 0, 2, 1, 2, 1, 1, 1, 2, of one
    # sign
    assert (entry["n"], entry["main"], entry["placebo"], entry["change"], entry["p"]) == (8, 1.5, 0.25, 1.25, 2 / 2**7)
    assert (analysis.facts["own_baseline"], analysis.facts["n_placebo"]) == (False, 8)
    assert row(analysis, "waves", phase="T1")["n_planned"] == 10 * 15  # the placebo arm's rows are in no main figure
    assert row(analysis, "changes", item=STRAIGHT)["p"] is None
    assert [(finding.id, finding.kind, finding.p) for finding in findings_of(analysis)] == [
        (f"beyond.{STRAIGHT}", "difference", 2 / 2**7)
    ]
    again = find(*main, *(rows(wave, neutral, neutral, PLACEBO) for wave in ("T0", "T1")))
    assert (again.facts["own_baseline"], row(again, "placebo", item=STRAIGHT)["placebo"]) == (True, 0)


def test_a_placebo_that_is_bought_is_not_thrown_away_when_t0_is_reconstructed() -> None:
    """T1 with the own memory is 3 or 4, with a neutral one 2, whatever T0 was: differences 1, 2, …, eight of one sign,
    p = 2/2⁸."""
    wave: Wave = {f"fisher{i}": {STRAIGHT: 4.0 if i % 2 else 3.0} for i in range(8)}
    neutral: Wave = {who: {STRAIGHT: 2.0} for who in wave}
    told = []
    for before in (neutral, wave):
        analysis = find(
            rows("T0", before), rows("T1", wave), rows("T1", neutral, neutral, PLACEBO), context=RECONSTRUCTED
        )
        entry = row(analysis, "placebo", item=STRAIGHT)
        assert (entry["change"], entry["p"]) == (1.5, 2 / 2**8)
        told.append([each.text for each in findings_of(analysis) if each.kind == "difference"])
    assert told[0] == told[1]
    assert "changed by 1.50 points more with the agents' own memories than with neutral ones" in told[0][0]


# --- the rest --------------------------------------------------------------------------------------------------------


def test_comments_are_quoted_with_who_said_them_and_of_a_large_wave_evenly() -> None:
    analysis = both()
    assert [entry["text"] for entry in rows_of(analysis, "comments", phase="T0")] == ["said a", "said b", "said c"]
    assert "“said a”" in text_of(analysis, "appendix")
    many = find(rows("T1", {f"fisher{i}": {STRAIGHT: 3.0} for i in range(95)}))
    quoted = [entry["participant"] for entry in rows_of(many, "comments", quoted=True)]
    assert quoted == [f"fisher{i}" for i in range(0, 95, 19)]  # five of 95


def test_item_facts_say_family_scale_and_keying() -> None:
    facts = EVALUATION.item_facts(REVERSE, INSTRUMENT)
    assert (facts.family, facts.reverse_keyed, facts.scale_min, facts.scale_max) == ("stock", True, 1, 5)
    assert EVALUATION.item_facts("comment", INSTRUMENT).scale_min is None


def test_charts_can_be_read_and_lead_to_their_answers() -> None:
    first, second = panel(50, {STRAIGHT: 1, REVERSE: -1})
    neutral = rows("T1", first, first, PLACEBO)
    pictures = {
        picture.name: picture
        for picture in drawn(results(PRESENTATION, find(rows("T0", first), rows("T1", second), neutral)), footer="")
    }
    assert list(pictures) == ["own/drift", "own/placebo", "own/answers", "own/groups", "own/change_groups"]
    assert {name: illegible(picture.svg()) for name, picture in pictures.items()} == {name: [] for name in pictures}
    assert f"item_id={STRAIGHT}" in json.dumps(pictures["own/drift"].spec)
    (once,) = [
        picture
        for picture in drawn(results(PRESENTATION, find(rows("T1", first))), footer="")
        if "answers" in picture.name
    ]
    assert illegible(once.svg()) == []
