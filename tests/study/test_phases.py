"""T0, the pause, T1: one run over two processes, an earlier T0, a reconstructed one, and a population that changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import enquete
from enquete.instruments.pack import pack_named
from enquete.ledger.folders import latest
from enquete.state.errors import InputError, PopulationMismatch, RunMismatch, SettingsError
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import go_on, mirofish_folder, personas_file, set_status
from tests.support.processes import finish
from tests.support.studies import call_keys, rows, spent, stored_answers

pytestmark = pytest.mark.usefixtures("no_figures")

AGENTS = 5
ITEMS = 15  # 14 closed ones and the comment


def wave(run: enquete.Run, phase: str) -> list[tuple[object, ...]]:
    return [row for row in stored_answers(run.folder) if row[:2] == ("longitudinal", phase)]


def test_a_measured_t0_pauses_in_one_process_and_goes_on_in_another(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    code, paused = finish(sim_id=str(sim), methods=["longitudinal"])
    assert (code, paused["status"]) == (4, "awaiting_simulation")
    folder = sim / "interviews" / "runs" / paused["run_id"]
    assert {key[1] for key in call_keys(folder)} == {"T0"}
    assert "simulation" in paused["note"]
    waiting = enquete.load_run(sim, paused["run_id"])
    assert "Zwischenstand" in waiting.report
    assert "wartet auf die Simulation" in waiting.report
    still = enquete.conduct_interviews(sim, methods=["longitudinal"])
    assert (still.exit_code, still.run_id) == (4, paused["run_id"])
    set_status(sim, "completed")
    code, done = finish(token_or_sim=paused["resume_token"], sim=str(sim))
    assert (code, done["status"], done["run_id"]) == (0, "completed", paused["run_id"])
    run = enquete.load_run(sim)
    assert len(wave(run, "T0")) == len(wave(run, "T1")) == AGENTS * ITEMS
    assert paused["note"].partition(" (")[0] not in run.report  # why it stopped then is no news now
    assert run.record.baseline == "measured"
    assert run.results["longitudinal"]["kind"] == "drift"
    assert latest(sim / "interviews")["T0/longitudinal"] == run.run_id


def test_t0_is_without_memory_and_t1_with(tmp_path: Path) -> None:
    """And reconstructed where the simulation has completed, which is never called drift."""
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS)
    run = enquete.conduct_interviews(sim, methods=["longitudinal"])
    systems = dict(
        rows(run.folder, "SELECT c.phase || c.subject, s.text FROM calls c JOIN texts s ON s.hash=c.system_hash"
                         " WHERE methodology='longitudinal'")
    )  # fmt: skip
    for subject, text in systems.items():
        assert ("am Hafen etwas beobachtet" in text) == subject.startswith("T1")
    memory = run.responses.groupby("phase")["memory_available"].all()
    assert memory.to_dict() == {"T0": False, "T1": True}
    assert run.record.baseline == "reconstructed"
    assert run.results["longitudinal"]["kind"] == "experience_effect"
    assert set(run.responses.loc[run.responses["phase"] == "T0", "baseline"]) == {"reconstructed"}
    assert "T0/longitudinal" not in latest(sim / "interviews")
    assert "Erfahrungseffekt" in run.report


def end_without_stopping(sim: Path) -> None:
    """Leave the folder as MiroFish does after the last round, until somebody stops its process (its issue #769)."""
    log = sim / "reddit" / "actions.jsonl"
    events = [{"round": 2, "event_type": "round_end"}, {"event_type": "simulation_end", "total_rounds": 2}]
    with log.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(event) + "\n" for event in events)
    state = {"runner_status": "running", "current_round": 2, "total_rounds": 2, "reddit_completed": True}
    (sim / "run_state.json").write_text(json.dumps(state), "utf-8")


def test_no_t0_is_bought_of_a_simulation_that_has_ended_and_still_says_running(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    end_without_stopping(sim)
    with pytest.raises(SettingsError, match="has completed already"):
        enquete.conduct_interviews(sim, methods=["longitudinal"], phase="T0")
    run = bare_runs.interview(sim, methods=["longitudinal"])
    assert (run.status, run.record.baseline) == ("completed", "reconstructed")


def test_a_run_that_waits_goes_on_once_all_platforms_have_ended_whatever_the_status(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    paused = bare_runs.interview(sim, methods=["longitudinal"])
    assert paused.status == "awaiting_simulation"
    go_on(sim)
    end_without_stopping(sim)
    assert enquete.resume(paused.resume_token, sim=str(sim)).status == "completed"


@pytest.mark.parametrize("ended", [True, False])
def test_a_t0_that_was_cut_off_is_finished_only_while_the_simulation_has_not_completed(
    tmp_path: Path, ended: bool
) -> None:
    """No T0 is bought of a simulation that has ended: what was answered before stays, and says of how many."""
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    with ModelServer() as server:
        asked = {"methods": ["longitudinal"], "language": "en", "model": "m", "base_url": server.base_url}
        whole = bare_runs.interview(sim, out=str(tmp_path / "whole"), **asked, budget_tokens=10**9, confirm=True)
        (most,) = rows(whole.folder, "SELECT max(reserved) FROM calls")[0]
        cap = most + 2 * spent(whole.folder) // AGENTS  # after two agents there is no room for the most of another
        part = bare_runs.interview(sim, **asked, budget_tokens=cap, concurrency=1, confirm=True, new=True)
        assert part.status == "paused"
        before = len({row[3] for row in wave(part, "T0")})
        assert 0 < before < AGENTS
        if ended:
            go_on(sim)
            end_without_stopping(sim)
        resumed = enquete.resume(part.resume_token, sim=str(sim), budget_tokens=10**9)
        if not ended:
            assert resumed.status == "awaiting_simulation"
            assert len(answered(resumed, "T0")) == AGENTS
            return
    assert resumed.status == "completed"
    assert (len(answered(resumed, "T0")), len(answered(resumed, "T1"))) == (before, AGENTS)
    assert set(resumed.responses.loc[resumed.responses["phase"].eq("T0"), "status"]) == {"ok", "not_reached"}
    said = f"Longitudinal (T0): {before} of {AGENTS} agents had answered when the simulation was found to have"
    assert said in resumed.report
    assert {row["n"] for row in resumed.results["longitudinal"]["changes"]} == {before}


def answered(run: enquete.Run, phase: str) -> set[str]:
    rows_of_wave = run.responses[run.responses["phase"].eq(phase) & run.responses["status"].eq("ok")]
    return set(rows_of_wave["participant"])


FAILED = {
    "runner_status": "failed", "current_round": 592, "total_rounds": 2160, "error": "RateLimitError:\n 429 (quota)",
}  # fmt: skip
SAID = "did not complete (it says “failed” at round 592 of 2160)"


def failed(sim: Path) -> Path:
    (sim / "run_state.json").write_text(json.dumps({"simulation_id": sim.name, **FAILED}), "utf-8")
    return sim


def test_a_simulation_that_failed_before_it_went_on_gives_no_drift_and_its_error_is_told(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    paused = bare_runs.interview(sim, methods=["longitudinal"], language="en")
    failed(sim)
    run = enquete.resume(paused.resume_token, sim=str(sim), assume_completed=True)
    assert run.record.baseline == "measured"
    data = run.results["longitudinal"]
    assert data["kind"] == "experience_effect"
    assert {(change["outcome"], change["p"]) for change in data["changes"]} == {("untested", None)}
    assert set(run.responses.loc[run.responses["phase"] == "T0", "baseline"]) == {"reconstructed"}
    for text in (
        SAID,
        "RateLimitError: 429 (quota)",
        "Experience effect, not drift",
        "the simulation did nothing more until T1",
    ):
        assert text in run.report
    assert not [claim for claim in run.page_one["findings"] if "drift" in claim["text"]]
    # one sentence says both, that it was measured and what it counts as
    n = AGENTS * ITEMS
    assert f"{n} of {2 * n} rows belong to T0. It was measured, but nothing happened in the simulation after it" in (
        run.report
    )
    assert "belong to a reconstructed T0" not in run.report
    assert "T0 was measured before" not in run.report


@pytest.mark.parametrize("went_on", [True, False], ids=["it went on", "from the start"])
def test_a_simulation_that_is_taken_as_completed_is_said_to_be(tmp_path: Path, went_on: bool) -> None:
    """With actions between the waves its drift stands; where it had failed before anybody was asked, T0 is
    reconstructed."""
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    if went_on:
        paused = bare_runs.interview(sim, methods=["longitudinal"], language="en")
        go_on(sim)
        run = enquete.resume(paused.resume_token, sim=str(failed(sim)), assume_completed=True)
    else:
        run = enquete.conduct_interviews(failed(sim), methods=["longitudinal"], language="en", assume_completed=True)
    assert run.results["longitudinal"]["kind"] == ("drift" if went_on else "experience_effect")
    assert SAID in run.report
    assert "RateLimitError: 429 (quota)" in run.report


@pytest.fixture(scope="module")
def at_t0(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulation that was asked at T0 alone, by the synthetic respondent, and has completed since."""
    sim = mirofish_folder(tmp_path_factory.mktemp("at_t0") / "sim_1", AGENTS, status="running")
    assert bare_runs.base_run(sim, phase="T0", methods=["longitudinal"]).status == "completed"
    set_status(sim, "completed")
    return sim


def test_an_earlier_t0_run_is_the_baseline_of_a_later_t1(at_t0: Path, tmp_path: Path) -> None:
    sim = Path(shutil.copytree(at_t0, tmp_path / at_t0.name))
    (before,) = enquete.list_runs(sim)
    after = enquete.conduct_interviews(sim, methods=["longitudinal"])
    assert (after.record.baseline, after.record.baseline_run_id) == ("earlier", before.run_id)
    assert wave(after, "T0") == []
    assert len(wave(after, "T1")) == AGENTS * ITEMS
    assert after.results["longitudinal"]["kind"] == "drift"
    with pytest.raises(InputError, match=f"delete {after.run_id} first"):
        enquete.delete(sim, before.run_id)
    assert set(after.responses.groupby("phase")["run_id"].first().items()) == {
        ("T0", before.run_id),
        ("T1", after.run_id),
    }


def test_a_synthetic_t0_is_no_baseline_for_a_model(at_t0: Path, tmp_path: Path) -> None:
    sim = Path(shutil.copytree(at_t0, tmp_path / at_t0.name))
    with ModelServer() as server:
        run = bare_runs.interview(sim, methods=["longitudinal"], model="test", base_url=server.base_url)
    assert (run.record.baseline, run.record.baseline_run_id) == ("reconstructed", "")


def test_an_earlier_t0_with_another_instrument_is_refused(at_t0: Path, tmp_path: Path) -> None:
    text = pack_named().instruments["longitudinal"].read_text("utf-8")
    file = tmp_path / "own.yaml"
    file.write_text(text.replace("innerhalb der nächsten zehn Jahre", "bis 2040"), "utf-8")
    with pytest.raises(RunMismatch, match="another longitudinal instrument"):
        enquete.conduct_interviews(at_t0, methods=["longitudinal"], instruments={"longitudinal": str(file)})
    assert len(enquete.list_runs(at_t0)) == 1


def test_t1_uses_the_personas_of_t0_and_reports_who_was_lost_new_or_changed(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    paused = bare_runs.interview(sim, methods=["longitudinal"])
    before = {row[0]: row[1] for row in rows(paused.folder, "SELECT id, persona FROM participants")}
    mirofish_folder(sim, AGENTS + 1)  # completed, one agent more
    profiles = json.loads((sim / "reddit_profiles.json").read_text("utf-8"))
    profiles[0]["persona"] += " Seit Kurzem im Ruhestand."
    (sim / "reddit_profiles.json").write_text(json.dumps(profiles), "utf-8")
    done = bare_runs.resume(paused.resume_token, sim=str(sim))
    assert done.status == "completed"
    assert {row[0]: row[1] for row in rows(done.folder, "SELECT id, persona FROM participants")} == before
    (memory,) = rows(done.folder, "SELECT value FROM frozen WHERE name='memory'")[0]
    data = json.loads(memory)
    assert (data["matched"], len(data["new"]), len(data["changed"]), data["lost"]) == (AGENTS, 1, 1, [])
    assert any("persona differs" in note for note in data["notes"])


def test_agents_under_other_names_are_refused_at_t1(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS, status="running")
    paused = bare_runs.interview(sim, methods=["longitudinal"])
    for name in ("reddit_profiles.json", "simulation_config.json"):
        text = (sim / name).read_text("utf-8")
        for who in paused.responses["agent_name"].unique():
            text = text.replace(json.dumps(who)[1:-1], json.dumps(f"Neu {who}")[1:-1])
        (sim / name).write_text(text, "utf-8")
    set_status(sim, "completed")
    with pytest.raises(PopulationMismatch):
        bare_runs.resume(paused.resume_token, sim=str(sim))
    assert wave(paused, "T1") == []


def test_phase_t0_after_completion_says_that_nothing_can_be_measured(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", AGENTS)
    with pytest.raises(SettingsError, match="has completed already"):
        enquete.conduct_interviews(sim, phase="T0")
    assert not (sim / "interviews").exists()


def test_a_personas_file_is_one_wave_without_memory_or_drift_and_needs_out(tmp_path: Path) -> None:
    people = personas_file(tmp_path / "people.json", AGENTS)
    with pytest.raises(InputError, match="out=FOLDER"):
        enquete.conduct_interviews(people)
    run = enquete.conduct_interviews(people, out=str(tmp_path / "out"), methods=["longitudinal"])
    assert {row[1] for row in stored_answers(run.folder)} == {"T1"}
    assert not run.responses["memory_available"].any()
    assert run.results["longitudinal"]["kind"] == "one_wave"


def test_reading_an_unknown_simulation_creates_nothing(tmp_path: Path) -> None:
    for call in (enquete.conduct_interviews, enquete.check, enquete.list_runs, enquete.load_run, enquete.resume):
        with pytest.raises(InputError):
            call("sim_000000000000", root=str(tmp_path))  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == []
