"""What a run costs, said before, during and after it: estimate, caps, the command that goes on with a sufficient
one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from enquete.ledger.folders import held
from tests.interfaces.conftest import SIM_ID, Command
from tests.support.bare_runs import without_reports
from tests.support.model_server import ModelServer
from tests.support.studies import results_of

pytestmark = pytest.mark.usefixtures("no_figures")

CAP = 20_000  # ends a panel of ten in its second round
PRICES = """
models:
  m: {input: 1.0, output: 10.0}
"""


@pytest.fixture
def ten(tmp_path: Path) -> Path:
    rows = [
        {"name": f"Jürgen Thießen {i}", "persona": f"Fährt seit {i} Jahren zur See.", "type": "Fischer"}
        for i in range(10)
    ]
    file = tmp_path / "ten.json"
    file.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return file


def test_an_estimate_is_a_table_and_an_object(command: Command, uploads: Path) -> None:
    before = set(uploads.rglob("*"))
    shown = command("estimate", SIM_ID, "--root", uploads, "--methods", "delphi")
    assert shown.code == 0
    assert "7 agents" in shown.out
    assert "synthetic respondent" in shown.out
    assert "It fits the budget (cap 10,000,000 tokens)" in shown.out
    assert [line.split()[:3] for line in shown.out.splitlines() if line.startswith("  delphi")] == [
        ["delphi", "T1", "answer"],
        ["delphi", "T1", "theme"],
    ]
    estimate = command("estimate", SIM_ID, "--root", uploads, "--methods", "delphi", "--json").object
    assert estimate["exit_code"] == 0
    assert estimate["tokens"]["low"] <= estimate["tokens"]["likely"] <= estimate["tokens"]["high"]
    assert {line["purpose"] for line in estimate["lines"]} == {"answer", "theme"}
    assert set(uploads.rglob("*")) == before


def test_an_unknown_price_is_unknown_and_a_known_one_counts(
    command: Command, ten: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money of a line: (1 × input + 10 × output) / 10⁶, by the file above."""
    words = ["estimate", ten, "--out", "o", "--methods", "longitudinal", "--model", "m", "--base-url", "http://x/v1"]
    unknown = command(*words)
    assert "unknown" in unknown.out
    assert "The price of m is unknown" in unknown.out
    assert command(*words, "--json").object["usd"] == "unknown"
    assert "cannot be held" in command(*words, "--budget-usd", "1").out

    (tmp_path / "prices.yaml").write_text(PRICES, "utf-8")
    monkeypatch.setenv("ENQUETE_PRICES", str(tmp_path / "prices.yaml"))
    known = command(*words, "--budget-usd", "0.000001", "--json").object
    usd = (known["input_tokens"]["likely"] + 10 * known["output_tokens"]["likely"]) / 1e6
    assert known["usd"]["likely"] == pytest.approx(usd, rel=0.01)
    assert known["exceeds"] == "usd"
    assert "--budget-usd" in command(*words, "--budget-usd", "0.000001").out


def test_a_run_above_its_budget_is_refused_with_the_estimate_and_confirmed_with_yes(
    command: Command, ten: Path
) -> None:
    words = ["run", ten, "--out", "o", "--methods", "longitudinal", "--budget-tokens", "7000"]
    refused = command(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "--budget-tokens" in refused.err
    as_json = command(*words, "--json")
    assert as_json.code == as_json.object["exit_code"] == 2
    assert as_json.object["error"]["type"] == "OverBudget"
    assert as_json.object["estimate"]["tokens"]["high"] > 7000
    assert not Path("o").exists()


def test_the_cap_that_is_proposed_is_enough(command: Command, ten: Path) -> None:
    """While the run is driven, which the lock that is taken here says, it is running; looking does not take it away."""
    words = ["run", ten, "--out", "my results", "--methods", "delphi"]
    with without_reports():
        paused = command(*words, "--budget-tokens", CAP, "--yes")
    assert paused.code == 3
    assert "0/10" in paused.out, "no agent is complete before the last round"
    status = command("status", ten, "--out", "my results", "--json").object
    assert "budget" in status["note"]
    assert status["budget"]["cap_tokens"] == CAP
    assert status["budget"]["expected_tokens"] > status["budget"]["tokens"] > 0
    [delphi] = [stage for stage in status["stages"] if stage["methodology"] == "delphi"]
    assert (delphi["n_responded"], delphi["n_complete"]) == (10, 0)
    assert delphi["remaining_tokens"] == status["budget"]["expected_tokens"] - status["budget"]["tokens"]
    assert f"of {delphi['tokens'] + delphi['remaining_tokens']:,}" in paused.out

    with held(results_of(Path("my results")) / "runs" / status["run_id"]):
        shown = command("status", ten, "--out", "my results")
        as_json = command("status", ten, "--out", "my results", "--json").object
        listed = command("list", ten, "--out", "my results").out
    assert "running" in shown.out
    assert "resume" not in shown.out
    assert as_json["status"] == "running"
    assert "running" in listed
    assert "paused" in command("list", ten, "--out", "my results").out

    different = command(*words, "--language", "en")
    assert different.code == 2
    assert "language" in different.err
    assert "--new" in different.err
    with without_reports():
        still = command("resume", status["resume_token"], "--out", "my results", "--json")
    assert still.code == 3, "a cap that was named holds over a resume"
    assert "--budget-tokens" in status["next"][0]
    for proposed in status["next"]:  # as printed
        enquete, *options = shlex.split(proposed)
        assert (enquete, command(*options, "--json").code) == ("enquete", 0), proposed
    done = command("status", ten, "--out", "my results", "--json").object
    assert [stage["n_complete"] for stage in done["stages"]] == [10]
    assert done["budget"]["tokens"] <= done["budget"]["cap_tokens"]
    table = results_of(Path("my results")) / "synthesis" / done["run_id"] / "exports" / "all_responses.csv"
    assert "Jürgen Thießen 0" in table.read_text("utf-8")


def test_money_is_counted_where_prices_are_known(
    command: Command, ten: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES, "utf-8")
    monkeypatch.setenv("ENQUETE_PRICES", str(tmp_path / "prices.yaml"))
    with ModelServer() as server:
        words = ["--model", "m", "--base-url", server.base_url, "--methods", "longitudinal", "--concurrency", "1"]
        cap = ["--budget-usd", "0.03", "--yes"]
        with without_reports():
            paused = command("run", ten, "--out", "o", *words, *cap, "--json")
        assert paused.code == 3, paused.out
        assert 0 < paused.object["budget"]["usd"] <= 0.03 < paused.object["budget"]["expected_usd"]
        assert "USD" in command("status", ten, "--out", "o").out
        assert "--budget-usd" in paused.object["next"][0]
        done = command(*shlex.split(paused.object["next"][0])[1:], "--json")
    assert done.code == 0, done.out


def test_one_methodology_is_asked_anew_and_a_finished_run_is_replayed(command: Command, ten: Path) -> None:
    with without_reports():
        words = ["run", ten, "--out", "o", "--quiet"]
        first = command(*words, "--methods", "poll,scenario", "--json")
        assert first.code == 0

        again = command(*words, "--methods", "poll", "--rerun", "--json")
        assert again.code == 0, again.out
        assert again.object["rerun_of"] == first.object["run_id"] != again.object["run_id"]
        assert "taken over: scenario" in command("status", ten, "--out", "o").out

        replay = command(*words, "--replay-of", first.object["run_id"], "--json")
        assert replay.code == 0, replay.out
        assert replay.object["replay_of"] == first.object["run_id"]
        shown = command("status", ten, replay.object["run_id"], "--out", "o").out
        assert f"A replay of {first.object['run_id']}" in shown
