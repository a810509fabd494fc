"""Probes, placebo, replicates and orders through the façade: what is asked of whom, what it costs, what the probes
report.

The synthetic respondent's planted truth is the oracle (docs/synthetic-respondent.md): it ignores orders and frames,
draws the noise of an occasion anew when asked again, and is moved by the simulation's memory alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import enquete
from enquete import Run
from enquete.analysis import probes
from enquete.analysis.answers import Answers, read_answers
from enquete.methods.registry import methodologies
from enquete.reports.analyses import find
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import write_synthesis
from enquete.state.asking import Arm
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import call_keys, personas, rows, spent, stored_answers

pytestmark = pytest.mark.usefixtures("no_figures")

ENOUGH = 50_000_000
AGENTS, FEW = 3, 2
EVERYTHING: dict[str, Any] = {
    "methods": sorted(methodologies()), "probes": ["all"], "replicates": 2, "probe_sample": FEW,
    "settings": {"laddering": {"turns": 3}},
}  # fmt: skip
"""Of every methodology; an interview need not be long for its probes."""
CLOSED_PROBES = {
    "retest", "options_reversed", "items_shuffled", "items_shuffled_2", "paraphrase", "persona_swapped", "persona_null",
}  # fmt: skip


def interview(sim: Path, out: Path, **arguments: Any) -> Run:
    return bare_runs.interview(sim, out=str(out), confirm=True, **{"budget_tokens": ENOUGH, **arguments})


def interview_again(sim: Path, run: Run) -> Run:
    """A replay: the run's own ledger answers."""
    out = str(run.folder.parent.parent)
    return bare_runs.interview(sim, out=out, respondent="replay", replay_of=run.run_id)


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Longitudinal over a completed simulation, every probe, a placebo and a replicate."""
    folder = tmp_path_factory.mktemp("probed")
    sim = mirofish_folder(folder / "sim_1", 30)
    arguments = {"methods": ["longitudinal"], "probes": ["all"], "placebo": True, "replicates": 2, "probe_sample": 24}
    return interview(sim, folder / "out", **arguments)


def table(run: Run, arm: str, phase: str = "T1", methodology: str = "longitudinal", round: int = 0) -> Answers:
    frame = run.all_responses
    main_rows = frame[frame["arm"].eq(arm) & frame["phase"].eq(phase) & frame["methodology"].eq(methodology)]
    main_rows = main_rows[main_rows["round"].eq(round)].rename(columns={"item_id": "item"})
    return read_answers(main_rows[main_rows["scale_min"].notna()])


def test_rows_are_those_of_the_sample_and_all_of_them_are_answered(probed: Run) -> None:
    assert probed.status == "completed"
    frame = probed.all_responses
    assert set(frame["status"]) == {"ok"}
    asked = frame.groupby(["arm", "phase"])["participant"].agg(frozenset)
    (sample,) = {asked[arm, "T1"] for arm in CLOSED_PROBES}  # the same agents in all of them
    assert len(sample) == 24
    assert asked["negative_control", "T0"] == asked["negative_control", "T1"] == sample
    assert len(asked["main", "T0"]) == len(asked["placebo", "T1"]) == len(asked["replicate_2", "T0"]) == 30
    assert {arm for arm, phase in asked.index if phase == "T0"} == {"main", "negative_control", "replicate_2"}
    assert set(frame.loc[frame["arm"].eq("negative_control"), "item_id"].str.partition("/")[0]) == {"control"}


def test_the_report_tells_change_beside_the_placebo_and_every_probe(probed: Run) -> None:
    """Of a run with all arms, written once."""
    written = write_synthesis(probed.folder)
    assert (written.status, written.gaps) == ("completed", ())
    report, tables = probed.report, written.results["longitudinal"]
    assert "30 Agenten wurden zu T1 auch mit einem neutralen Gedächtnis gefragt." in report
    assert "um 0,60 Punkte über ein neutrales hinaus" in written.findings[0]
    assert [row["change"] for row in tables["placebo"]] == pytest.approx(
        [row["main"] - row["placebo"] for row in tables["placebo"]]
    )
    assert len(tables["placebo"]) == 14


def test_every_row_says_what_was_shown(probed: Run) -> None:
    frame = probed.all_responses[probed.all_responses["phase"].eq("T1") & probed.all_responses["scale_min"].notna()]
    orders = frame.groupby("arm")["option_order"].agg(set)
    assert orders["main"] == {"[1, 2, 3, 4, 5]"} or orders["main"] == {"[1,2,3,4,5]"}
    assert {tuple(json.loads(order)) for order in orders["options_reversed"]} == {(5, 4, 3, 2, 1)}
    places = frame.groupby(["arm", "item_id"])["item_position"].nunique()
    assert places["main"].min() > 1  # an order of each agent's own
    assert places["items_shuffled"].min() > 1


def test_the_probes_report_what_is_planted(probed: Run) -> None:
    main, again = table(probed, "main"), table(probed, "retest")
    retest = probes.retest(main, again, temperature=0)
    # Two occasions differ by N(0, √2·.15·2 points) before rounding, on average by √(2/π) of that, .34 points: so many
    # answers change, less a few at the ends of the scale. 24 agents × 14 items: four standard errors are .10.
    assert retest.detail["exact_share"] == pytest.approx(0.66, abs=0.1)
    assert retest.verdict == "fine"
    kappa, shift = probes.option_order(main, table(probed, "options_reversed"))
    assert (kappa.value, shift.value) == (1, 0)
    shuffled = [table(probed, name) for name in ("main", "items_shuffled", "items_shuffled_2")]
    assert probes.item_order(shuffled).value == pytest.approx(1)
    assert probes.paraphrase([main, table(probed, "paraphrase")]).value == pytest.approx(0)
    assert probes.persona_swap(main, table(probed, "persona_swapped"), again).verdict == "fine"
    assert probes.null_persona(main, table(probed, "persona_null"), again).verdict == "fine"


def test_a_swapped_persona_answers_as_its_owner_does(probed: Run) -> None:
    """Everybody in the swapped arm answers T1 word for word as somebody of another type does in the main arm."""
    frame = probed.all_responses[probed.all_responses["phase"].eq("T1") & probed.all_responses["scale_min"].notna()]
    frame = frame[frame["arm"].isin(["main", "persona_swapped"])]
    wide = frame.pivot(index=["arm", "participant"], columns="item_id", values="value")
    main = wide.loc["main"]
    types = frame.drop_duplicates("participant").set_index("participant")["stakeholder_type"]
    for who, answers in wide.loc["persona_swapped"].iterrows():
        owners = main.index[(main == answers).all(axis=1)]
        assert set(types[owners]) - {types[who]}


def test_nobody_s_answers_are_all_alike(probed: Run) -> None:
    values = table(probed, "persona_null").value
    known = values[~pd.isna(values).all(axis=1)]
    assert (known == known[0]).all()


def test_only_the_simulation_s_memory_moves_anybody(probed: Run) -> None:
    before, after = table(probed, "main", "T0"), table(probed, "main")
    placebo = table(probed, "placebo")
    diagnostic = probes.placebo_exposure(before, after, before, placebo)
    assert diagnostic.value is not None
    assert diagnostic.value > 0
    assert diagnostic.detail["low"] > 0  # type: ignore[operator]
    memory = probed.all_responses[probed.all_responses["phase"].eq("T1")].groupby("arm")["memory_available"].all()
    assert memory["main"]
    assert not memory["placebo"]
    systems = rows(
        probed.folder,
        "SELECT c.arm, s.text FROM calls c JOIN texts s ON s.hash=c.system_hash WHERE c.phase='T1' AND c.arm IN "
        "('main','placebo')",
    )
    assert {("am Hafen etwas beobachtet" in text, arm) for arm, text in systems} == {(True, "main"), (False, "placebo")}


def test_what_the_simulation_never_touched_does_not_drift(probed: Run) -> None:
    waves = [table(probed, "negative_control", phase) for phase in ("T0", "T1")]
    diagnostic = probes.negative_control(waves[0], waves[1], list(waves[0].items))
    assert (diagnostic.value, diagnostic.verdict) == (0, "fine")


def test_no_main_result_reads_a_probe(probed: Run, tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", 30)
    alone = interview(sim, tmp_path / "out", methods=["longitudinal"])
    assert stored_answers(alone.folder) == stored_answers(probed.folder)
    assert results(alone) == results(probed) != []


def results(run: Run) -> Any:
    with open_run(run.folder) as reading:
        return find(reading, responses(reading)).results["longitudinal"]["answers"]


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("panel")
    arguments = {"methods": ["delphi"], "probes": ["false_median"], "probe_sample": 20}
    return interview(personas(folder, 30), folder / "out", **arguments)


class TestFalseMedian:
    def test_only_the_revision_is_asked_again(self, panel: Run) -> None:
        frame = panel.all_responses[panel.all_responses["arm"].eq("false_median")]
        assert set(frame["round"]) == {3}
        assert set(frame["status"]) == {"ok"}
        assert frame["participant"].nunique() == 20

    def test_medians_are_half_the_scale_off_and_shown(self, panel: Run) -> None:
        real, false = (self.medians(panel, arm) for arm in ("main", "false_median"))
        assert real.keys() == false.keys()
        # By hand: half of 1–5 is 2.
        assert {abs(real[item] - false[item]) for item in real} == {2}
        assert all(1 <= median <= 5 for median in false.values())
        (text,) = rows(
            panel.folder, "SELECT text FROM calls JOIN texts ON hash=messages_hash WHERE arm='false_median' LIMIT 1"
        )[0]
        item, median = next(iter(false.items()))
        assert f"{item}: median {median:g}," in text

    def test_panelists_that_are_planted_to_follow_medians_follow_these_as_well(self, panel: Run) -> None:
        first, revised = (table(panel, "main", methodology="delphi", round=r) for r in (2, 3))
        misled = table(panel, "false_median", methodology="delphi", round=3)
        diagnostic = probes.false_median(
            first, revised, misled, true_median=self.medians(panel, "main"),
            bogus_median=self.medians(panel, "false_median"),
        )  # fmt: skip
        assert diagnostic.value is not None
        assert diagnostic.value > 0.1
        assert diagnostic.verdict in ("caution", "bad")

    @staticmethod
    def medians(run: Run, arm: str) -> dict[str, float]:
        (text,) = rows(run.folder, "SELECT value FROM frozen WHERE arm=? AND name='feedback/2'", arm)[0]
        return {item: values["median"] for item, values in json.loads(text).items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("whole")
    sim = personas(folder, AGENTS)
    return sim, interview(sim, folder / "out", **EVERYTHING)


class TestEveryMethodology:
    """Conformance with all probes on."""

    def test_rows_and_calls_are_as_estimated(self, whole: tuple[Path, Run], tmp_path: Path) -> None:
        sim, run = whole
        expected = enquete.estimate(sim, out=str(tmp_path / "out"), **EVERYTHING)
        assert run.status == "completed"
        assert "not_reached" not in set(run.all_responses["status"])
        paid = rows(
            run.folder,
            "SELECT methodology, count(*), sum(input_tokens + output_tokens + allowance) FROM calls "
            "WHERE status='settled' GROUP BY methodology",
        )
        assert {name for name, *_ in paid} == set(EVERYTHING["methods"])
        for name, calls, tokens in paid:
            lines = [line for line in expected.lines if line.methodology == name]
            assert round(sum(line.calls.likely for line in lines)) == calls, name
            assert sum(line.tokens.low for line in lines) <= tokens <= sum(line.tokens.high for line in lines), name
            assert {line.claim for line in lines if line.arm != "main"} == {f"{name}/T1/probes"}
            answers = run.all_responses[run.all_responses["methodology"].eq(name)]
            n = answers.groupby(["arm", "arm_role"])["participant"].nunique()
            assert {role: set(n.xs(role, level="arm_role")) for role in {role for _, role in n.index}} == {
                "main": {AGENTS}, "replicate": {AGENTS}, **({"probe": {FEW}} if len(n) > 2 else {}),
            }, name  # fmt: skip

    def test_a_replay_is_the_same_in_every_arm(self, whole: tuple[Path, Run]) -> None:
        sim, run = whole
        again = interview_again(sim, run)
        assert sorted(call_keys(again.folder)) == sorted(call_keys(run.folder))
        for arm in run.record.arms:
            assert stored_answers(again.folder, arm.id) == stored_answers(run.folder, arm.id)

    def test_a_tight_cap_starves_probes_never_the_main_arm_and_a_resume_goes_on_in_the_middle(
        self, whole: tuple[Path, Run], tmp_path: Path
    ) -> None:
        sim, run = whole
        by_arm = dict(rows(run.folder, "SELECT arm, sum(input_tokens + output_tokens) FROM calls GROUP BY arm"))
        cap = (by_arm["main"] + spent(run.folder)) // 2
        cut = interview(sim, tmp_path / "cut", **EVERYTHING, budget_tokens=cap, concurrency=2)
        assert cut.status == "paused"
        assert stored_answers(cut.folder) == stored_answers(run.folder)
        settled = call_keys(cut.folder)
        asides = [sum(key[2] != "main" for key in keys) for keys in (settled, call_keys(run.folder))]
        assert 0 < asides[0] < asides[1]
        done = bare_runs.resume(cut.resume_token, out=str(tmp_path / "cut"), budget_tokens=ENOUGH)
        assert done.status == "completed"
        assert call_keys(done.folder)[: len(settled)] == settled
        assert spent(done.folder) == spent(run.folder)
        for arm in run.record.arms:
            assert stored_answers(done.folder, arm.id) == stored_answers(run.folder, arm.id), arm.id


@pytest.mark.parametrize(("sample", "calls"), [(20, 20), (45, 45), (90, 50)])
def test_the_estimate_counts_a_probe_by_its_sample(tmp_path: Path, sample: int, calls: int) -> None:
    """Of 50 agents 40 rehearse; one call an agent in longitudinal, whatever is stretched to all."""
    expected = enquete.estimate(
        personas(tmp_path, 50), out=str(tmp_path / "out"), methods=["longitudinal"], probes=["retest"],
        probe_sample=sample,
    )  # fmt: skip
    lines = {line.arm: line for line in expected.lines}
    assert {arm: line.calls.likely for arm, line in lines.items()} == {"main": 50, "retest": calls}
    assert lines["retest"].claim == "longitudinal/T1/probes"
    share = lines["retest"].tokens.likely / lines["main"].tokens.likely
    assert share == pytest.approx(calls / 50, rel=0.02)


def test_orders_are_kept_over_a_resume_and_told_in_every_row(tmp_path: Path) -> None:
    arguments = {"methods": ["longitudinal"], "randomise": "both", "seed": 4}
    whole = interview(personas(tmp_path, 10), tmp_path / "whole", **arguments)
    cut = interview(
        personas(tmp_path, 10), tmp_path / "cut", **arguments, budget_tokens=spent(whole.folder) // 2 + 4000
    )
    assert cut.status == "paused"
    done = bare_runs.resume(cut.resume_token, out=str(tmp_path / "cut"), budget_tokens=ENOUGH)
    columns = ["participant", "item_id", "item_position", "option_order", "value"]
    pd.testing.assert_frame_equal(done.all_responses[columns], whole.all_responses[columns])
    closed = whole.all_responses[whole.all_responses["scale_min"].notna()]
    assert closed.groupby("item_id")["item_position"].nunique().min() > 1
    assert closed.groupby("participant")["option_order"].nunique().max() == 1
    assert closed["option_order"].nunique() == 2
    comment = whole.all_responses[whole.all_responses["scale_min"].isna()]
    assert set(comment["item_position"]) == {15}
    plain = interview(personas(tmp_path, 10), tmp_path / "plain", methods=["longitudinal"], seed=4)
    assert plain.all_responses["item_position"].equals(
        whole.all_responses["item_position"]
    )  # items are so unless said otherwise
    assert stored_answers(plain.folder)[0][:8] == stored_answers(whole.folder)[0][:8]  # planted answers ignore orders


def test_distributions_are_an_arm_s_own_and_stored_whole(tmp_path: Path) -> None:
    arms = [Arm(temperature=0), Arm(id="shares", role="probe", temperature=0, elicitation="distribution")]
    run = interview(personas(tmp_path, 6), tmp_path / "out", methods=["longitudinal"], arms=arms)
    points = {row[3:5]: row[6] for row in stored_answers(run.folder)}
    asked = rows(
        run.folder,
        "SELECT o.participant, a.item, a.value, a.data FROM answers a JOIN occasions o ON o.id=a.occasion"
        " WHERE o.arm='shares' AND a.value IS NOT NULL",
    )
    assert len(asked) == 6 * 14
    for who, item, value, data in asked:
        shares = json.loads(data)["distribution"]
        assert sum(shares.values()) == pytest.approx(1)
        # By hand: .7 on the answer keep it the median, whatever the rest does.
        point = points[who, item]
        assert value == point
    assert set(run.all_responses.groupby("arm")["elicitation"].first().items()) == {
        ("main", "point"), ("shares", "distribution"),
    }  # fmt: skip


def test_a_model_is_asked_under_every_condition(tmp_path: Path) -> None:
    """Real requests: what differs between the arms is what is sent."""
    with ModelServer() as server:
        run = interview(
            personas(tmp_path, 6), tmp_path / "out", methods=["longitudinal"], probes=["all"], probe_sample=2,
            model="test", base_url=server.base_url, language="en",
        )  # fmt: skip
    assert run.status == "completed"
    asked = rows(
        run.folder,
        "SELECT c.arm, c.subject, s.text, m.text FROM calls c JOIN texts s ON s.hash=c.system_hash JOIN texts m ON "
        "m.hash=c.messages_hash WHERE c.purpose='answer' AND c.attempt=0",
    )
    by_arm: dict[str, dict[str, tuple[str, str]]] = {}
    for arm, subject, system, messages in asked:
        by_arm.setdefault(arm, {})[subject] = (system, messages)
    assert set(by_arm) == {"main", *CLOSED_PROBES}
    (subjects,) = {frozenset(by_arm[arm]) for arm in CLOSED_PROBES}
    for subject in subjects:
        main = by_arm["main"][subject]
        same = {arm: tuple(a == b for a, b in zip(main, by_arm[arm][subject], strict=True)) for arm in CLOSED_PROBES}
        assert same == {
            "retest": (True, True), "options_reversed": (True, False), "items_shuffled": (True, False),
            "items_shuffled_2": (True, False), "paraphrase": (False, False), "persona_swapped": (False, True),
            "persona_null": (False, True),
        }  # fmt: skip
