"""The life of a study of five agents beside a Zep contract server, T0 when the simulation is ready and everything else
when it has completed: facts of the graph in what they remember, their interviews in the graph, each once, whatever the
server does."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import enquete
from enquete.interfaces.cli.app import run as command
from enquete.ledger.folders import latest
from enquete.ledger.ledger import Ledger
from enquete.locale import tell
from enquete.memory.recall import LocalMemory, Preference, complete
from enquete.methods.registry import methodologies
from enquete.reports.accounts import citations, citations_section
from enquete.reports.run_reading import open_run
from enquete.state.errors import MemoryFault, SettingsError
from tests.support.populations import mirofish_folder, set_status
from tests.support.studies import reseal, stored_answers, with_ids
from tests.support.zep_server import KEY, ZepServer, edge, node

pytestmark = pytest.mark.usefixtures("no_figures")

AGENTS = 5
UUID = "uuid-0001"
WHO = f"agent:{UUID}"


def simulation(folder: Path, status: str) -> Path:
    sim = mirofish_folder(folder, AGENTS, status="running")
    state = json.loads((sim / "state.json").read_text())
    (sim / "state.json").write_text(json.dumps({**state, "status": "ready", "graph_id": "g1"}))
    set_status(sim, status)  # type: ignore[arg-type]
    return sim


def server_of(patch: pytest.MonkeyPatch) -> ZepServer:
    running = ZepServer(
        nodes=[node(UUID, "Agent 1", "Keeps the harbour's books.")],
        edges=[edge("f1", UUID, "x", "Agent 1 wrote to the ministry about the quota.")],
    )
    patch.setenv("ZEP_API_KEY", KEY)
    return running


@dataclass
class Story:
    sim: Path
    paused: enquete.Run
    at_t0: list[str]
    asked_at_t0: set[tuple[Any, ...]]
    report_at_t0: str
    latest_at_t0: dict[str, str]
    run: enquete.Run
    server: ZepServer


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """From T0 at ready, when nothing has happened yet, to everything at completed."""
    sim = simulation(tmp_path_factory.mktemp("memory") / "sim_1", "running")
    (sim / "run_state.json").unlink()
    log = (sim / "reddit").rename(sim.parent / "later")
    with pytest.MonkeyPatch.context() as patch, server_of(patch) as server:
        patch.setenv("ZEP_API_URL", server.url)
        paused = enquete.conduct_interviews(sim, language="en", memory="zep-cloud")
        at_t0 = [episode["content"] for episode in server.episodes]
        asked = {row[:2] for row in stored_answers(paused.folder)}
        then = at_t0, asked, paused.report, latest(sim / "interviews")
        log.rename(sim / "reddit")
        set_status(sim, "completed")
        server.next("POST /graph/node", 429)  # a free plan's, while the graph is read
        server.retry_after = "1"
        yield Story(sim, paused, *then, enquete.resume(paused.resume_token or "", sim=str(sim)), server)


def episodes(story: Story) -> list[str]:
    return [episode["content"] for episode in story.server.episodes]


class TestTheStory:
    def test_t0_is_taken_and_remembered_before_the_simulation(self, story: Story) -> None:
        assert (story.paused.status, story.paused.exit_code) == ("awaiting_simulation", 4)
        assert story.asked_at_t0 == {("longitudinal", "T0")}
        assert story.report_at_t0  # what is there is written up, marked partial
        assert story.latest_at_t0 == {}
        assert len(story.at_t0) == AGENTS + 1  # every agent, and all of them
        assert story.at_t0[0].startswith("Agent Agent 0 (interview/longitudinal/T0): “")
        assert story.at_t0[-1].startswith("All agents (interview/longitudinal/T0): 5 of 5 agents answered")

    def test_everything_is_done_with_its_table(self, story: Story) -> None:
        done, default = (story.run, {name: method for name, method in methodologies().items() if method.default})
        assert (done.status, done.exit_code, done.run_id) == ("completed", 0, story.paused.run_id)
        asked = {(stage.methodology, stage.phase) for stage in done.stages}
        assert asked == {("longitudinal", "T0"), *((name, "T1") for name in default)}
        assert all((stage.outcome, stage.responded, stage.total) == ("done", AGENTS, AGENTS) for stage in done.stages)
        table = pd.read_csv(done.path / "exports" / "all_responses.csv")
        assert len(table) == len(done.responses) == len(stored_answers(done.folder))
        assert set(table["participant"]) == {f"agent:uuid-{number:04d}" for number in range(AGENTS)}
        assert set(zip(table["methodology"], table["phase"], strict=True)) == asked
        assert set(table["status"]) == {"ok"}
        told = map(json.loads, (done.path / "exports" / "episodes.jsonl").read_text("utf-8").splitlines())
        stages = {(e["participant"], e["methodology"], e["phase"]) for e in told if e["participant"]}
        assert stages == set(table[["participant", "methodology", "phase"]].itertuples(index=False, name=None))
        assert all(tell(methodology.title, "en") in done.report for methodology in default.values())
        assert {key.split("/")[-1] for key in latest(story.sim / "interviews")} == {"synthesis", *default}

    def test_every_agent_theme_and_scenario_is_in_the_graph_once(self, story: Story) -> None:
        told = episodes(story)
        assert len(told) == len(set(told))
        stages = [(stage.methodology, stage.phase) for stage in story.run.stages]
        for method, phase in stages:
            head = f"(interview/{method}/{phase}): "
            assert sum(text.startswith("Agent ") and head in text for text in told) == AGENTS, method
            assert sum(text.startswith("All agents ") and head in text for text in told) == 1, method
        results = story.run.results
        gathered = {
            "type ": len(results["diversity"]["types"]),
            "theme ": len(results["delphi"]["themes"]),
            "scenario ": len(results["scenario"]["scenarios"]),
        }
        hits = [text.split("): ", 1)[1] for text in told if text.startswith("Found ")]
        assert {word: sum(text.startswith(word) for text in hits) for word in gathered} == gathered
        assert len(told) == len(stages) * (AGENTS + 1) + sum(gathered.values())
        assert told[: AGENTS + 1] == story.at_t0

    def test_the_graph_was_read_once_and_its_facts_are_remembered(self, story: Story) -> None:
        listings = [
            request for request in story.server.requests if request.endswith("/graph/g1") and "episodes" not in request
        ]
        nodes, edges = "POST /graph/node/graph/g1", "POST /graph/edge/graph/g1"
        assert listings == [nodes, nodes, edges]  # the first was answered 429 and waited for
        ledger = Ledger.reading(story.run.folder / "ledger.sqlite")
        try:
            digest = ledger.digests("T1")[WHO] or ""
            named = ledger.pinned("", "", "T1", "sources")
        finally:
            ledger.close_reading()
        assert digest == (
            "Own posts (newest first):\n- [P1] Agent 1 hat am Hafen etwas beobachtet.\nOn record:\n"
            "- [K1] Keeps the harbour's books.\n- [K2] Agent 1 wrote to the ministry about the quota."
        )
        assert isinstance(named, dict)
        assert named[WHO] == {"P1": "reddit post 1", "K1": "graph summary", "K2": "graph fact f1"}

    def test_a_finished_run_sends_nothing_again(self, story: Story) -> None:
        before = len(story.server.requests)
        again = enquete.resume(story.run.run_id, sim=str(story.sim), fresh=True)
        assert again.status == "completed"
        assert len(story.server.requests) == before

    def test_an_interview_is_found_by_agent_and_topic(self, story: Story, capsys: pytest.CaptureFixture[str]) -> None:
        wanted = next(text for text in episodes(story) if text.startswith("Agent Agent 3 (interview/delphi/"))
        words = " ".join(wanted.split("): ", 1)[1].split()[:4])
        assert command(["memory", "search", str(story.sim), words, "--agent", "agent 3", "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)["episodes"]
        assert listed[0]["text"] == wanted
        assert {episode["agent_name"] for episode in listed} == {"Agent 3"}
        assert command(["memory", "search", str(story.sim), "xylophones"]) == 0
        assert capsys.readouterr().out == "Nothing that was said fits.\n"

    def test_preferences_of_all_runs_are_shown(self, story: Story, capsys: pytest.CaptureFixture[str]) -> None:
        compared = Preference(
            question_id="q", run_id="r", answer_id_a="1", answer_id_b="2", methodology="m", question_type="scale",
            stakeholder_type="Handel", a="large, 0.7", b="small, 0.5", winner="a",
        )  # fmt: skip
        with LocalMemory.opened(story.sim / "interviews") as memory:
            memory.remember_preference(compared)
        assert command(["memory", "preferences", str(story.sim)]) == 0
        best = capsys.readouterr().out.splitlines()[1]
        assert best.split() == ["scale", "Handel", "large,", "0.7", "1.00", "(0.21–1.00)", "1", "0", "1"]

    def test_the_report_says_which_posts_the_movers_named(self, story: Story) -> None:
        lines = (story.run.path / "exports" / "citations.jsonl").read_text("utf-8").splitlines()
        named = [json.loads(line) for line in lines]
        citation = next(cited for cited in named if cited["participant"] == WHO)
        assert (citation["mark"], citation["source"], citation["exists"]) == ("P1", "reddit post 1", True)
        assert citation["text"] == "Agent 1 hat am Hafen etwas beobachtet."
        rows = with_ids(story.run.responses).set_index("answer_id")
        assert "[P1]" not in rows.loc[citation["answer_id"], "text"]
        assert all(cited["moved"] for cited in named)  # 14 items on seven points with noise: each moved somewhere
        appendix = (story.run.path / "appendix.md").read_text("utf-8")
        assert "## What answers name of a memory" in appendix
        assert "| Agent 1 hat am Hafen etwas beobachtet | reddit post 1 | own post | 1 | 1 |" in appendix

    def test_a_mark_that_stands_nowhere_is_counted_and_not_believed(self, story: Story, tmp_path: Path) -> None:
        folder = shutil.copytree(story.run.folder, tmp_path / story.run.run_id)
        with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
            ledger.execute("""UPDATE answers SET notes = '["names P1 S9"]' WHERE notes LIKE '%names P1%'""")
            reseal(ledger)
            ledger.commit()
        with open_run(folder) as reading:
            cited = citations(reading, story.run.responses)
        assert {(citation.mark, citation.source) for citation in cited if citation.participant == WHO} == {
            ("P1", "reddit post 1"),
            ("S9", ""),
        }
        told = citations_section(cited, story.run.responses, "en")
        assert f"are not counted: {AGENTS}." in told
        assert "S9" not in told

    def test_the_key_is_nowhere(self, story: Story) -> None:
        for file in (story.sim / "interviews").rglob("*"):
            assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_server_that_is_away_fails_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sim = simulation(tmp_path / "sim_1", "completed")
    with server_of(monkeypatch) as server:
        monkeypatch.setenv("ZEP_API_URL", server.url)
        server.next("POST /graph/node", 429)
        server.next("POST /graph", 429)
        server.retry_after = "60"
        with caplog.at_level(logging.WARNING, "enquete"):
            run = enquete.conduct_interviews(
                sim, methods=["longitudinal"], phase="T1", memory="zep-cloud", patience_s=0
            )
        assert run.status == "completed"
        assert any("the graph could not be read (reading nodes: 429" in note for note in run.flags)
        told = json.loads((run.folder / "memory.json").read_text())
        assert (told["sent"], len(told["left"])) == (0, 2 * (AGENTS + 1))  # T0 is reconstructed
        assert "429" in told["why"]
        assert "enquete memory sync" in caplog.text
        assert run.unsent[0] == 2 * (AGENTS + 1)
        command(["status", str(sim)])
        assert f"enquete memory sync {sim}" in capsys.readouterr().out
        assert server.episodes == []
        server.next("POST /graph", 500)
        assert sync(sim, capsys) == (1, 0, 2 * (AGENTS + 1))
        assert sync(sim, capsys) == (0, 2 * (AGENTS + 1), 0)
        assert sync(sim, capsys) == (0, 0, 0)
        assert len(server.episodes) == 2 * (AGENTS + 1)


def sync(sim: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, int, int]:
    code = command(["memory", "sync", str(sim), "--json"])
    data = json.loads(capsys.readouterr().out)
    return code, data["sent"], len(data["left"])


def test_what_is_missing_is_said_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation(tmp_path / "sim_1", "completed")
    for name in ("ZEP_API_KEY", "ZEP_API_URL"):
        monkeypatch.delenv(name, raising=False)  # the story's, which goes on
    with pytest.raises(SettingsError, match="ZEP_API_KEY is not set"):
        enquete.conduct_interviews(sim, memory="zep")
    monkeypatch.setenv("ZEP_API_KEY", KEY)
    with pytest.raises(SettingsError, match="ZEP_API_URL"):
        enquete.conduct_interviews(sim, memory="zep")
    assert not (sim / "interviews").exists()


@pytest.mark.parametrize("damage", ["{", "{}", "[1]", '{"complete": true}'])
def test_a_damaged_file_of_episodes_is_named(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_text(f"{damage}\n", "utf-8")
    with pytest.raises(MemoryFault, match="enquete export"):
        list(complete(file))
