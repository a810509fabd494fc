"""Estimate against actual: what a run really cost lies in the range said before; a run that cannot fit does not
start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete import Arm
from enquete.state.errors import OverBudget, SettingsError
from tests.support.bare_runs import interview, resume
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import call_keys, personas, rows, spent

pytestmark = pytest.mark.usefixtures("no_figures")

NOBODY = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}
"""A model at a server that is never asked: an estimate makes no request."""
LARGEST_CALL = 30_000
"""What one call of these studies reserves at most: so much room there must be for the last one."""

SETTINGS: dict[str, dict[str, Any]] = {
    "all in English": {"language": "en"},
    "item by item": {"asking": "item", "agents": 2},
    "laddering": {"methods": ["laddering"], "agents": 4, "settings": {"laddering": {"turns": 6}}},
    "two arms": {
        "methods": ["scenario"],
        "agents": 4,
        "arms": [Arm(respondent="llm", model="m"), Arm(id="b", role="b", respondent="llm", model="other", seed=2)],
    },
    "more agents than rehearse": {"methods": ["delphi"], "agents": 42},
    "one agent": {"agents": 1},
    "faults at a fifth": {
        "methods": ["longitudinal", "delphi"],
        "agents": 8,
        "faults": {"http_500": 0.1, "bad_json": 0.1},
    },
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_actual_cost_of_each_methodology_lies_in_the_range(tmp_path: Path, setting: str) -> None:
    asked = dict(SETTINGS[setting])
    agents, faults = asked.pop("agents", 5), asked.pop("faults", {})
    with ModelServer(faults=faults, seed=1, retry_after="0") as server:
        common = {"out": str(tmp_path / "out"), "model": "m", "base_url": server.base_url, **asked}
        if "arms" in asked:
            common.pop("model")
        expected = enquete.estimate(personas(tmp_path, agents), **common)
        assert not server.requests
        by = enquete.conduct_interviews if setting == "faults at a fifth" else interview  # whose narrative is paid, too
        run = by(personas(tmp_path, agents), **common)
    assert run.status == "completed"
    assert expected.tokens.low <= spent(run.folder) <= expected.tokens.high
    assert expected.calls.low <= len(call_keys(run.folder)) <= expected.calls.high
    of_each = rows(
        run.folder,
        "SELECT methodology, count(*) FILTER (WHERE status='settled'), sum(input_tokens + output_tokens + allowance) "
        "FROM calls WHERE methodology != 'synthesis' GROUP BY methodology",
    )
    assert set(run.record.methods) <= {name for name, *_ in of_each}  # and the critic's, where there are two arms
    for name, calls, tokens in of_each:
        lines = [line for line in expected.lines if line.methodology == name]
        assert sum(line.calls.low for line in lines) <= calls <= sum(line.calls.high for line in lines), name
        assert sum(line.tokens.low for line in lines) <= tokens <= sum(line.tokens.high for line in lines), name
    assert expected.usd is None  # nobody knows the price of "m"
    assert expected.as_object()["usd"] == "unknown"


def test_the_turns_of_an_interview_enter_the_upper_estimate_once(tmp_path: Path) -> None:
    """36 interviews of at most 15 turns, three times as many, are no reason to refuse a run under the default cap of
    ten million."""
    expected = enquete.estimate(personas(tmp_path, 12), out=str(tmp_path / "o"), methods=["laddering"], **NOBODY)
    assert expected.tokens.high < 4 * expected.tokens.likely
    assert 3 * expected.tokens.high < 10_000_000
    turns = 12 * 15
    asked_again = 1.34  # a third of the requests, as for every methodology
    answers = [line for line in expected.lines if line.purpose == "answer"]
    assert turns <= sum(line.calls.high for line in answers) <= turns * asked_again + 1


def test_a_limit_on_a_model_that_is_not_asked_is_refused(tmp_path: Path) -> None:
    common = {"out": str(tmp_path / "o"), "methods": ["scenario"], **NOBODY}
    with pytest.raises(SettingsError, match="limits: nomodel: this run asks m;"):
        enquete.estimate(personas(tmp_path, 3), limits={"nomodel": {"requests_per_minute": 3}}, **common)
    assert enquete.estimate(personas(tmp_path, 3), limits={"m": {"requests_per_minute": 3}}, **common).lines
    named = {"laddering": {"signals_model": "judge"}}
    assert enquete.estimate(
        personas(tmp_path, 3), limits={"judge": {"concurrency": 3}}, settings=named,
        **{**common, "methods": ["laddering"]},
    ).lines  # fmt: skip
    with pytest.raises(SettingsError, match="this run asks no model"):
        enquete.estimate(personas(tmp_path, 3), out=str(tmp_path / "o"), limits={"m": {"concurrency": 3}})


def test_memories_of_the_agents_are_measured_and_nothing_is_written(tmp_path: Path) -> None:
    """With memories the prompts of T1 are longer than those of T0, and the estimate says so."""
    sim = mirofish_folder(tmp_path / "sim_1", 6)
    before = sorted(path.name for path in sim.rglob("*"))
    expected = enquete.estimate(sim, methods=["longitudinal"])
    assert sorted(path.name for path in sim.rglob("*")) == before
    read = {line.phase: line.input_tokens.likely for line in expected.lines}
    assert read["T1"] > read["T0"]
    run = interview(sim, methods=["longitudinal"])
    assert spent(run.folder) == expected.tokens.likely


def test_a_run_that_cannot_fit_stops_before_the_first_call_and_says_what_would_make_it_fit(tmp_path: Path) -> None:
    with ModelServer() as server:
        common = {"out": str(tmp_path / "out"), "model": "m", "base_url": server.base_url, "methods": ["scenario"]}
        expected = enquete.estimate(personas(tmp_path, 5), **common)
        with pytest.raises(OverBudget) as refused:
            interview(personas(tmp_path, 5), budget_tokens=9000, **common)
        assert not server.requests
        assert not (tmp_path / "out").exists()
        assert f"budget_tokens={expected.sufficient_tokens}" in str(refused.value)
        assert expected.sufficient_tokens > expected.tokens.high
        assert "confirm=True" in str(refused.value)
        assert refused.value.estimate["exceeds"] == "tokens"
        run = interview(personas(tmp_path, 5), budget_tokens=9000, confirm=True, **common)
        assert run.status == "paused"
        assert "likely" in run.note
        assert "more" in run.note


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model with a known price."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {priced: {input: 2.0, output: 8.0}}\n", "utf-8")
    monkeypatch.setenv("ENQUETE_PRICES", str(prices))
    return "priced"


def test_money_is_capped_by_known_prices_and_a_cap_on_unknown_ones_is_refused(tmp_path: Path, priced: str) -> None:
    people = personas(tmp_path, 8)
    with ModelServer() as server:
        common = {"out": str(tmp_path / "out"), "base_url": server.base_url, "methods": ["scenario"]}
        with pytest.raises(SettingsError, match="price of m is unknown"):
            interview(people, model="m", budget_usd=1.0, **common)
        expected = enquete.estimate(people, model=priced, **common)
        assert expected.usd is not None
        with pytest.raises(OverBudget, match="budget_usd="):
            interview(people, model=priced, budget_usd=expected.usd.low / 2, **common)
        cap = expected.usd.likely / 2
        run = interview(people, model=priced, budget_usd=cap, confirm=True, concurrency=2, **common)
        assert run.status == "paused"
        assert "USD" in run.note
        done = resume(run.run_id, out=common["out"], budget_usd=100.0, base_url=server.base_url)
    assert done.status == "completed"
    assert (run.spent_usd or 0) > 0
    # by hand: 2 USD a million tokens read, 8 a million written
    read, written = done.standing.usage
    assert done.spent_usd == pytest.approx((read * 2 + written * 8) / 1e6)


def test_a_cap_named_once_holds_over_a_resume(tmp_path: Path) -> None:
    people = personas(tmp_path, 6)
    whole = interview(people, out=str(tmp_path / "whole"), methods=["delphi"])
    cap = spent(whole.folder) // 2
    run = interview(people, out=str(tmp_path / "out"), methods=["delphi"], budget_tokens=cap, confirm=True)
    assert run.status == "paused"
    again = resume(run.resume_token, out=str(tmp_path / "out"))
    assert again.status == "paused"
    assert spent(again.folder) <= cap
    done = resume(run.resume_token, out=str(tmp_path / "out"), budget_tokens=10**7)
    assert done.status == "completed"


def test_budget_goes_to_methodologies_in_the_order_asked_for(tmp_path: Path) -> None:
    """A cap that pays for one of two: the first named gets it, whichever that is."""
    people = personas(tmp_path, 12)
    cost = {
        name: enquete.estimate(people, out=str(tmp_path / "o"), methods=[name]).tokens.likely
        for name in ("diversity", "scenario")
    }
    for first, second in (("diversity", "scenario"), ("scenario", "diversity")):
        run = interview(
            people, out=str(tmp_path / first), methods=[first, second],
            budget_tokens=round(cost[first] + cost[second] / 3 + 3000), confirm=True,
        )  # fmt: skip
        outcomes = {stage.methodology: stage.outcome for stage in run.stages}
        assert outcomes == {first: "done", second: "short"}
        assert f"{second}/T1 short" in run.note
        assert run.standing.outlook[f"{second}/T1"].remaining > 0


def test_money_goes_to_methodologies_in_the_order_asked_for(tmp_path: Path, priced: str) -> None:
    """With many requests in flight, a cap on money pays for the first and for a part of the second.

    24 agents, whose answers cost several times what the coding of themes reserves."""
    people = personas(tmp_path, 24)
    with ModelServer() as server:
        common = {"model": priced, "base_url": server.base_url, "confirm": True, "concurrency": 64}
        whole = interview(people, out=str(tmp_path / "whole"), methods=["scenario"], **common)
        assert whole.spent_usd is not None
        cap = 1.6 * whole.spent_usd  # less than the upper estimate of the first, so that nothing is left for others
        run = interview(people, out=str(tmp_path / "o"), methods=["scenario", "longitudinal"], budget_usd=cap, **common)
    outcomes = {(stage.methodology, stage.phase): stage.outcome for stage in run.stages}
    assert outcomes[("scenario", "T1")] == "done"
    assert outcomes[("longitudinal", "T1")] == "short"
    assert "money budget used up: " in run.note
    assert f"of {cap:g} USD" in run.note
    assert (run.spent_usd or 0) <= cap


def test_the_cap_named_after_a_pause_is_enough(tmp_path: Path) -> None:
    """A Delphi's last rounds cost several times its first: what the first calls cost must not be taken for the mean.
    Named at a tenth of the cost and at the half; the smaller of the two is enough."""
    people = personas(tmp_path, 30)
    common = {"out": str(tmp_path / "o"), "methods": ["delphi"]}
    likely = enquete.estimate(people, **common).tokens.likely
    run = interview(people, **common, budget_tokens=round(0.1 * likely), confirm=True)
    named = [run.standing.enough_tokens]
    half = resume(run.resume_token, out=common["out"], budget_tokens=round(0.5 * likely))
    named.append(half.standing.enough_tokens)
    assert (run.status, half.status) == ("paused", "paused")
    assert max(named) < 1.25 * likely
    assert resume(run.resume_token, out=common["out"], budget_tokens=min(named)).status == "completed"


def test_what_a_finished_methodology_did_not_use_goes_to_the_next_in_the_same_session(tmp_path: Path) -> None:
    """The upper estimates do not fit together, the actual costs do: nobody has to resume."""
    people = personas(tmp_path, 14)
    common = {"methods": ["delphi", "scenario"], "respondent": "synthetic"}
    expected = enquete.estimate(people, out=str(tmp_path / "o"), **common)
    whole = interview(people, out=str(tmp_path / "whole"), **common)
    cap = spent(whole.folder) + LARGEST_CALL
    assert cap < expected.tokens.high
    run = interview(people, out=str(tmp_path / "out"), budget_tokens=cap, confirm=True, **common)
    assert run.status == "completed"
    assert spent(run.folder) == spent(whole.folder)


def test_probes_come_after_the_main_arm_and_never_starve_it(tmp_path: Path) -> None:
    people = personas(tmp_path, 15)
    alone = interview(people, out=str(tmp_path / "alone"), methods=["delphi"])
    arms = [Arm(temperature=0), Arm(id="again", role="replicate", seed=4)]
    run = interview(
        people, out=str(tmp_path / "out"), methods=["delphi"], arms=arms, confirm=True,
        budget_tokens=spent(alone.folder) + spent(alone.folder) // 3,
    )  # fmt: skip
    assert run.status == "paused"
    by_arm = run.all_responses[run.all_responses["status"].eq("ok")].groupby("arm").size()
    assert by_arm["main"] == (run.all_responses["arm"] == "main").sum()
    assert 0 < by_arm["again"] < by_arm["main"]
    last_main = max(i for i, key in enumerate(call_keys(run.folder)) if key[2] == "main")
    first_probe = min(i for i, key in enumerate(call_keys(run.folder)) if key[2] == "again")
    assert last_main < first_probe
    done = resume(run.run_id, out=str(tmp_path / "out"), budget_tokens=10**8)
    assert done.status == "completed"


def test_an_estimate_of_a_named_model_needs_neither_key_nor_server_nor_graph(tmp_path: Path, priced: str) -> None:
    """Nobody is asked. By hand: 2 USD a million tokens read, 8 a million written, as `priced` says."""
    people, asked = personas(tmp_path, 3), {"out": str(tmp_path / "out"), "methods": ["scenario"], "language": "en"}
    expected = enquete.estimate(people, model=priced, **asked)
    assert expected.usd is not None
    tokens = [(line.input_tokens.likely, line.output_tokens.likely) for line in expected.lines]
    assert expected.usd.likely == pytest.approx(sum(2 * read + 8 * written for read, written in tokens) / 1e6, rel=0.02)
    for more in (
        {"respondent_b": True, "model_b": priced, "critic_model": priced}, {"memory": "zep"},
        {"key_variable": "NOT_SET_ANYWHERE", "base_url": "https://models.example/v1"}, {"replicate_models": ["other"]},
        {"arms": [Arm(respondent="llm", model=priced)]},
    ):  # fmt: skip
        given = {"model": priced, **more}
        if "arms" in more:
            given.pop("model")
        assert enquete.estimate(people, **given, **asked).tokens.likely > 0
    with pytest.raises(SettingsError, match="neither a key"):
        interview(people, model=priced, **asked)
    assert not (tmp_path / "out").exists()


def test_an_estimate_reads_as_text_and_as_a_table(tmp_path: Path, priced: str) -> None:
    asked = {"out": str(tmp_path / "out"), "methods": ["scenario"], "language": "en"}
    expected = enquete.estimate(personas(tmp_path, 3), model=priced, **asked)
    head, *lines, last = repr(expected).splitlines()
    assert head == "Estimate of personas_3: 3 agents, llm"
    assert len(lines) == len(expected.lines)
    assert lines[0].startswith(f"  scenario T1 main: {expected.lines[0].purpose} by priced, ")
    assert last.startswith(f"  in all: {expected.calls.likely:,.0f} calls (")
    assert last.endswith("within the cap of 10,000,000 tokens")
    assert str(expected) == repr(expected)
    table = expected.table
    assert table["methodology"].tolist() == [*(line.methodology for line in expected.lines), "total"]
    assert table["calls"].iloc[:-1].sum() == table["calls"].iloc[-1]
    assert expected.usd is not None
    assert table["usd"].iloc[-1] == pytest.approx(expected.usd.likely)
    assert "<table" in expected._repr_html_()
    unpriced = enquete.estimate(personas(tmp_path, 3), model="nobody-knows", base_url="http://localhost:1/v1", **asked)
    assert unpriced.table["usd"].isna().all()
    assert "price unknown" in repr(unpriced)
