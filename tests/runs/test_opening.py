"""Which run a request means: nothing is written to find out, and nothing is asked that was not meant."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from enquete.instruments.pack import pack_named
from enquete.ledger.folders import LEDGER, move_latest, read_record, read_run
from enquete.ledger.ledger import Ledger
from enquete.methods.registry import dotted_paths, methodologies
from enquete.runs.begin_run import begin
from enquete.runs.run_choice import RunChoice, choose_run
from enquete.runs.run_list import survey
from enquete.state.errors import (
    InstrumentError,
    LedgerError,
    PopulationMismatch,
    RunMismatch,
    RunNotFound,
    SettingsError,
    SimulationNotFound,
)
from enquete.state.request import parse_request
from enquete.state.settings import Environment
from tests.support.populations import mirofish_folder, personas_file, set_status

SIM = "sim_0123456789ab"


@pytest.fixture
def sim(tmp_path: Path) -> Path:
    return mirofish_folder(tmp_path / "simulations" / SIM, 4)


@pytest.fixture
def running(tmp_path: Path) -> Path:
    return mirofish_folder(tmp_path / "simulations" / SIM, 4, status="running")


def choose(sim: Path | str, **request: Any) -> RunChoice:
    return choose_run(parse_request(sim=str(sim), **request), Environment.read(), dotted_paths())[0]


DEFAULTS = [name for name, methodology in methodologies().items() if methodology.default]


def start(sim: Path, *, ended: str = "", **request: Any) -> RunChoice:
    """A run begun, and filed as ended where that is said."""
    choice, population = choose_run(parse_request(sim=str(sim), **request), Environment.read(), dotted_paths())
    assert choice.action == "new"

    async def write() -> None:
        await begin(choice, population)
        if ended:
            ledger = Ledger(choice.folder / LEDGER, choice.record.run_id)
            await ledger.set_stage("", "", ended)
            if ended == "completed":
                for phase in choice.record.phases:
                    await ledger.set_stage("longitudinal", phase, "done")
            await ledger.close()

    asyncio.run(write())
    return choice


def tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


class TestWhichRun:
    def test_a_damaged_ledger_is_not_paid_for_again_unnoticed(self, sim: Path) -> None:
        taken = start(sim, ended="paused")
        (taken.folder / LEDGER).write_bytes(b"SQLite format 3\0" + b"x" * 5000)
        with pytest.raises(LedgerError, match="damaged"):
            choose(sim)
        assert choose(sim, new=True).action == "new"

    def test_the_first_is_new_choosing_writes_nothing_and_budget_and_concurrency_make_no_other(
        self, sim: Path, tmp_path: Path
    ) -> None:
        before = tree(tmp_path)
        choice = choose(sim)
        assert choice.action == "new"
        assert tree(tmp_path) == before
        assert list(choice.record.methods) == [name for name, method in methodologies().items() if method.default]
        assert choice.folder == sim / "interviews" / "runs" / choice.record.run_id
        start(sim)
        assert choose(sim, budget_tokens=5, concurrency=1, shard_size=1, timeout_s=9).action == "resume"

    @pytest.mark.parametrize("ended", ["", "paused", "awaiting_simulation", "waiting", "failed"])
    def test_an_unfinished_match_is_resumed(self, sim: Path, ended: str) -> None:
        started = start(sim, ended=ended)
        again = choose(sim)
        assert (again.action, again.folder) == ("resume", started.folder)
        assert again.record == read_record(started.folder)
        assert read_run(started.folder).status == (ended or "started")

    def test_a_finished_match_is_shown(self, sim: Path) -> None:
        started = start(sim, ended="completed")
        again = choose(sim)
        assert (again.action, again.folder) == ("finished", started.folder)
        assert choose(sim, language="en").action == "new"  # one that differs is no obstacle

    def test_an_unfinished_one_that_differs_is_refused_with_the_differences(self, sim: Path, tmp_path: Path) -> None:
        started = start(sim, language="de", methods=["longitudinal"])
        before = tree(tmp_path)
        with pytest.raises(RunMismatch) as caught:
            choose(sim, language="en", asking="item", seed=3, methods=["longitudinal"])
        message = str(caught.value)
        assert 'language: "de" → "en"' in message
        assert 'asking: "block" → "item"' in message
        assert "arms: " in message
        assert "methods" not in message
        assert f"enquete.resume('{started.record.token}')" in message
        assert "new=True" in message
        assert tree(tmp_path) == before

    def test_new_starts_another_beside_it(self, sim: Path) -> None:
        first = start(sim)
        second = start(sim, new=True)
        assert first.folder != second.folder
        assert [run.folder for run in survey(sim / "interviews").runs] == [first.folder, second.folder]

    def test_runs_of_one_second_are_known_in_the_order_they_began(self, sim: Path) -> None:
        """Their names end in chance."""
        begun = [start(sim, new=True).folder for _ in range(6)]
        assert [run.folder for run in survey(sim / "interviews").runs] == begun

    def test_methods_not_named_are_those_of_the_unfinished_run(self, sim: Path) -> None:
        started = start(sim, methods=["delphi"])
        assert choose(sim).folder == started.folder
        assert list(choose(sim, new=True).record.methods) == DEFAULTS

    def test_methods_not_named_are_the_defaults_once_it_is_finished(self, sim: Path) -> None:
        start(sim, methods=["delphi"], ended="completed")
        choice = choose(sim)
        assert (choice.action, list(choice.record.methods)) == ("new", DEFAULTS)

    def test_the_order_of_methods_is_no_difference(self, sim: Path) -> None:
        start(sim, methods=["delphi", "longitudinal"])
        assert choose(sim, methods=["longitudinal", "delphi"]).action == "resume"

    def test_a_run_that_began_without_its_record_was_never_started(self, sim: Path) -> None:
        """Killed between making the file and filing the record."""
        folder = sim / "interviews" / "runs" / "run_half"
        folder.mkdir(parents=True)
        _empty(folder / LEDGER)
        assert choose(sim).action == "new"

    def test_completion_makes_no_other_run(self, running: Path) -> None:
        started = start(running, ended="awaiting_simulation")
        set_status(running, "completed")
        again = choose(running)
        assert (again.action, again.folder) == ("resume", started.folder)
        assert again.record.baseline == "measured"


def _empty(path: Path) -> None:
    async def make() -> None:
        await Ledger(path, path.parent.name, create=True).close()

    asyncio.run(make())


class TestBaseline:
    def test_measured_while_the_simulation_runs_and_t0_alone_only_then(self, running: Path, tmp_path: Path) -> None:
        record = choose(running).record
        assert (record.baseline, record.phases) == ("measured", ["T0", "T1"])
        assert record.actions_at_start == 4  # each of the four agents has posted once
        assert choose(running, phase="T0").record.baseline == "measured"
        set_status(running, "completed")
        before = tree(tmp_path)
        with pytest.raises(SettingsError, match="has completed already"):
            choose(running, phase="T0")
        assert tree(tmp_path) == before

    def test_reconstructed_once_it_has_completed_refused_where_unknown_none_without_longitudinal(
        self, sim: Path
    ) -> None:
        assert choose(sim).record.baseline == "reconstructed"
        with pytest.raises(RunNotFound, match="run_none"):
            choose(sim, baseline="run_none")
        assert choose(sim, methods=["delphi"]).record.baseline == "none"

    def earlier(self, folder: Path, **request: Any) -> RunChoice:
        """A T0 that was measured and is the canonical one."""
        taken = start(folder, phase="T0", ended="completed", **request)
        move_latest(folder / "interviews", {"T0/longitudinal": taken.record.run_id})
        set_status(folder, "completed")
        return taken

    def test_an_earlier_t0_is_taken_up(self, running: Path) -> None:
        taken = self.earlier(running)
        record = choose(running).record
        assert (record.baseline, record.baseline_run_id) == ("earlier", taken.record.run_id)
        assert choose(running, baseline="reconstructed").record.baseline == "reconstructed"

    def test_one_that_is_not_complete_is_refused_when_named(self, running: Path) -> None:
        taken = start(running, phase="T0")
        set_status(running, "completed")
        with pytest.raises(RunMismatch, match="not complete"):
            choose(running, baseline=taken.record.run_id, new=True)

    def test_its_personas_are_used(self, running: Path) -> None:
        self.earlier(running)
        profiles = json.loads((running / "reddit_profiles.json").read_text())
        profiles[2]["persona"] = "Somebody has edited this."
        (running / "reddit_profiles.json").write_text(json.dumps(profiles))
        later = start(running)
        ledger = Ledger.reading(later.folder / LEDGER, later.record.run_id)
        personas = [who.persona for who in ledger.population()]
        ledger.close_reading()
        assert not any("edited" in persona for persona in personas)

    def test_another_instrument_is_refused(self, running: Path, tmp_path: Path, root: Path) -> None:
        self.earlier(running)
        shipped = pack_named().instruments["longitudinal"].read_text("utf-8")
        file = tmp_path / "own.yaml"
        file.write_text(shipped.replace("instruction:", "instruction: ", 1) + "\n", "utf-8")
        assert (
            choose(running, instruments={"longitudinal": str(file)}).record.baseline == "earlier"
        )  # layout is no content
        file.write_text(_reworded(shipped), "utf-8")
        with pytest.raises(RunMismatch, match="another longitudinal instrument"):
            choose(running, instruments={"longitudinal": str(file)})

    def test_other_agents_are_refused(self, running: Path) -> None:
        self.earlier(running)
        for name in ("simulation_config.json", "reddit_profiles.json"):
            text = (running / name).read_text("utf-8")
            (running / name).write_text(text.replace("uuid-", "other-").replace("Agent ", "Jemand "), "utf-8")
        with pytest.raises(PopulationMismatch):
            choose(running)

    def test_a_reconstructed_one_is_no_earlier_t0(self, sim: Path) -> None:
        taken = start(sim, ended="completed")
        with pytest.raises(RunMismatch, match="no measured T0"):
            choose(sim, baseline=taken.record.run_id, new=True)


def _reworded(shipped: str) -> str:
    line = next(line for line in shipped.splitlines() if line.strip().startswith("de:") and len(line) > 40)
    return shipped.replace(
        line, line + " Anders" if not line.rstrip().endswith(("'", '"')) else line[:-1] + " Anders" + line[-1], 1
    )


class TestPersonasFile:
    def test_it_is_one_wave_and_needs_out(self, tmp_path: Path) -> None:
        people = personas_file(tmp_path / "people.json", 3)
        with pytest.raises(SettingsError, match="out=FOLDER"):
            choose(people)
        choice = choose(people, out=str(tmp_path / "results"))
        assert (choice.record.phases, choice.record.baseline, choice.record.kind) == (["T1"], "none", "personas")
        with pytest.raises(SettingsError, match="a personas file has no simulation"):
            choose(people, out=str(tmp_path / "results"), phase="T0")
        assert not (tmp_path / "results").exists()


class TestNothingIsWrittenWhereSomethingIsWrong:
    @pytest.mark.parametrize(
        ("request_", "error", "message"),
        [
            ({"methods": ["delfi"]}, SettingsError, "delfi unknown; there are longitudinal, "),
            ({"methods": []}, SettingsError, "none unknown"),
            ({"methods": ["delphi", "delphi"]}, SettingsError, "names one twice"),
            ({"methods": ["delphi"], "instruments": {"longitudinal": "x.yaml"}}, SettingsError,
             "not among the methods"),
            ({"instruments": {"delphi": "no_such.yaml"}}, InstrumentError, "no_such.yaml"),
            ({"settings": {"delphi": {"rounds": 9}}}, SettingsError, "delphi.rounds: there is no such field"),
            ({"settings": {"delfi": {}}}, SettingsError, "'delfi' is not among the methods"),
            ({"model": "gpt"}, SettingsError, "neither a key"),
            ({"model": "gpt", "base_url": "ftp://x"}, SettingsError, "LLM_BASE_URL"),
            ({"arms": [{"respondent": "llm", "model": "gpt"}]}, SettingsError, "LLM_API_KEY"),
            ({"baseline": "run_none"}, RunNotFound, "run_none"),
        ],
    )  # fmt: skip
    def test_request(
        self, sim: Path, tmp_path: Path, request_: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        before = tree(tmp_path)
        with pytest.raises(error, match=message):
            choose(sim, **request_)
        assert tree(tmp_path) == before

    def test_a_phase_in_which_nothing_is_asked(self, running: Path, tmp_path: Path) -> None:
        before = tree(tmp_path)
        with pytest.raises(SettingsError, match="phase: T0: none of delphi asks anything"):
            choose(running, methods=["delphi"], phase="T0")
        assert tree(tmp_path) == before

    def test_an_unknown_simulation(self, tmp_path: Path) -> None:
        with pytest.raises(SimulationNotFound):
            choose("sim_ffffffffffff", root=str(tmp_path))
        assert tree(tmp_path) == []


def test_what_is_begun_can_be_read(sim: Path) -> None:
    choice = start(sim, seed=5)
    assert read_record(choice.folder) == choice.record
    used = json.loads((choice.folder / "instruments_used.json").read_text("utf-8"))
    assert used["run_id"] == choice.record.run_id
    assert set(used["instruments"]) == set(DEFAULTS)
    ledger = Ledger.reading(choice.folder / LEDGER, choice.record.run_id)
    assert len(ledger.population()) == 4
    ledger.close_reading()
    assert (read_run(choice.folder).status, read_run(choice.folder).note) == ("started", "")
