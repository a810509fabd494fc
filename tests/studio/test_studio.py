"""A real `langgraph dev`, driven through langgraph-sdk: graphs listed and drawn, started from their default input,
paused after T0, resumed, read. No network: every address that the server's process asks for is noted, and none may be
another's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph_api", reason="the extra 'studio' is not installed")

from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from enquete.demo import demo_population
from enquete.interfaces.cli import app as cli
from enquete.simulations.population import load_population
from tests.support.processes import environment

ROOT = Path(__file__).parents[2]
LISTED = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
START_S = 90
FEW = 6
"""Of the demo's fifty agents, where it is about what happens after one another."""
WATCH = """
import sys
LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "::")
def watch(event, args):
    host = args[1][0] if event == "socket.connect" and isinstance(args[1], tuple) else args[0] if event == "socket.getaddrinfo" else None
    if isinstance(host, (str, bytes)) and host and not str(host).startswith(LOCAL):
        with open({log!r}, "a") as file:
            file.write(f"{{event}} {{host}}\\n")
sys.addaudithook(watch)
from tests.support.bare_runs import without_figures, without_partial_reports
entered = [without_figures(), without_partial_reports()]
for each in entered:
    each.__enter__()
"""
"""Of the server's process. Nobody looks at figures here, nor at the report of a first wave."""


@dataclass(frozen=True)
class Studio:
    """The server as a browser sees it, and what its process asked for."""

    client: SyncLangGraphClient
    folder: Path

    def strangers(self) -> list[str]:
        log = self.folder / "addresses.log"
        return log.read_text("utf-8").splitlines() if log.exists() else []

    def go(self, graph: str, thread: str, **given: Any) -> list[tuple[str, Any]]:
        """All events of a run, (event, data); fails the test where the run fails."""
        modes: Any = ["custom", "updates"]
        stream = self.client.runs.stream(thread, graph, stream_mode=modes, stream_subgraphs=True, **given)
        events: list[tuple[str, Any]] = [(part.event, part.data) for part in stream]
        errors = [data for event, data in events if "error" in event]
        assert not errors, (errors, self.client.threads.get_state(thread)["tasks"])
        return events

    def thread(self) -> str:
        return str(self.client.threads.create()["thread_id"])


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Started once, as docs/interfaces.md says, in an empty folder, without a key."""
    folder = tmp_path_factory.mktemp("studio")
    (folder / "sitecustomize.py").write_text(WATCH.format(log=str(folder / "addresses.log")), "utf-8")
    port = free_port()
    words = ["dev", "--config", str(ROOT / "langgraph.json"), "--no-browser", "--no-reload", "--allow-blocking"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "langgraph_cli", *words, "--port", str(port)],
            cwd=folder,
            env={
                **environment(), "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "LANGGRAPH_CLI_NO_ANALYTICS": "1",
                "HOME": str(folder),
            },
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            wait_until_up(process, f"http://127.0.0.1:{port}/ok", folder / "server.log")
            with get_sync_client(url=f"http://127.0.0.1:{port}", api_key=None) as client:
                yield Studio(client, folder)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        assert process.poll() is None, log.read_text("utf-8")[-3000:]
        assert time.monotonic() < deadline, log.read_text("utf-8")[-3000:]
        time.sleep(0.2)


def interrupts(studio: Studio, thread: str) -> list[dict[str, Any]]:
    tasks: Any = studio.client.threads.get_state(thread)["tasks"]
    return [interrupt["value"] for task in tasks for interrupt in task["interrupts"]]


def test_every_graph_is_listed(studio: Studio) -> None:
    listed = {assistant["graph_id"] for assistant in studio.client.assistants.search(limit=100)}
    assert listed == LISTED.keys()  # and these are the registry's: tests/graphs/test_graphs.py


def test_the_drawing_names_what_happens_inside(studio: Studio) -> None:
    graph: Any = studio.client.assistants.get_graph("interviews", xray=True)
    nodes = {str(node["id"]) for node in graph["nodes"]}
    assert {"load_population", "pin_instruments", "await_simulation", "gate", "synthesis"} <= nodes
    assert {"longitudinal:ask_t0", "longitudinal:await_simulation", "longitudinal:compare_waves"} <= nodes
    assert {"delphi:code_themes", "delphi:give_feedback", "laddering:hold_interviews:extraction"} <= nodes
    assert not [node for node in nodes if "error_handler" in node]
    for name in LISTED.keys() - {"interviews"}:
        assert any(node.startswith(name) and ":" in node for node in nodes), name


def test_input_and_context_are_described(studio: Studio) -> None:
    (parent,) = studio.client.assistants.search(graph_id="interviews")
    schemas: Any = studio.client.assistants.get_schemas(parent["assistant_id"])
    given = schemas["input_schema"]["properties"]
    assert all(given[name]["description"] for name in ("sim", "run"))
    context = schemas["context_schema"]["properties"]
    assert all(field.get("description") for field in context.values())
    assert context["temperature"]["maximum"] == 2
    experts = [field.get("title", "").startswith("Expert: ") for field in context.values()]
    assert experts == sorted(experts)  # apart, after the usual ones
    assert next(iter(context)) == "root"
    (alone,) = studio.client.assistants.search(graph_id="roundtable")
    schemas = studio.client.assistants.get_schemas(alone["assistant_id"])
    assert "mode" in schemas["context_schema"]["$defs"]["RoundtableSettings"]["properties"]


@pytest.mark.parametrize(
    ("given", "context", "says"),
    [
        ({"simulation": "x"}, {}, "input: simulation: there is no such field; there are sim, run"),
        ({"methods": ["delphi"]}, {}, "input: methods: there is no such field; it is part of the context"),
        ({}, {"budget_tokens": -5}, "budget_tokens: -5 is not taken; write a number above 0"),
        ({}, {"language": "fr"}, "language: 'fr' is not taken; write de or en"),
    ],
)
def test_what_the_graph_does_not_know_is_refused(studio: Studio, given: Any, context: Any, says: str) -> None:
    """And a resume of that thread starts nothing. (The server drops keys of a context that its schema lacks before a
    graph sees them, and logs it: langgraph_api/stream.py.)"""
    thread = studio.thread()
    assert refusal(studio, thread, "interviews", input=given, context=context).startswith(says)
    again = refusal(studio, thread, "interviews", command={"resume": True})
    assert again.startswith("this thread has no run to go on with: it was never started, or its start was refused")
    assert not studio.client.threads.get_state(thread)["values"]


def refusal(studio: Studio, thread: str, graph: str, **given: Any) -> str:
    """What a run is refused with."""
    events = list(studio.client.runs.stream(thread, graph, **given))
    messages: list[Any] = [part.data for part in events if "error" in part.event]
    return str(messages[0]["message"])


def listed(values: Any, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Status of the runs of this state's simulation, as `enquete list` has them."""
    capsys.readouterr()
    assert cli.run(["list", str(Path(values["run"]).parents[2]), "--json"]) == 0
    return [run["status"] for run in json.loads(capsys.readouterr().out)["runs"]]


def test_the_parent_pauses_after_t0_is_resumed_and_finished_on_disk(
    studio: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the demo population, which no input had to name; its simulation runs to its end when the run is resumed."""
    thread = studio.thread()
    context: Any = {
        "methods": ["longitudinal", "delphi"], "language": "en", "sample": FEW, "budget_tokens": 3_000_000,
    }  # fmt: skip
    first = studio.go("interviews", thread, input={}, context=context)
    (pause,) = interrupts(studio, thread)
    assert pause["reason"] == "awaiting_simulation"
    assert pause["status"] == "running"
    assert "resume with any value" in pause["how"]
    progress = [data for event, data in first if event.startswith("custom")]
    assert progress[-1] | {"tokens": 0} == {
        "methodology": "longitudinal", "phase": "T0", "arm": "main", "round": 1, "done": FEW, "total": FEW,
        "tokens": 0, "cap": 3_000_000, "expected": None,
    }  # fmt: skip
    assert listed(studio.client.threads.get_state(thread)["values"], capsys) == ["awaiting_simulation"]
    studio.go("interviews", thread, command={"resume": True})
    values: Any = studio.client.threads.get_state(thread)["values"]
    assert (values["status"], values["note"]) == ("completed", "")
    assert listed(values, capsys) == ["completed"]
    assert values["findings"][0].partition("(")[0].strip() in values["page_one"]
    assert values["agents"] == FEW
    assert pause["outcomes"] == {"longitudinal/T0": "done"}
    assert values["outcomes"] == {"longitudinal/T0": "done", "longitudinal/T1": "done", "delphi/T1": "done"}
    # State is counts, rounds and medians: the parent's, and the rounds' own as Studio opens them.
    assert len(json.dumps({**values, "page_one": ""})) < 2000
    assert len(values["page_one"]) < 6000
    inner = inner_values(studio, thread, "delphi")
    assert inner["round"] == 3
    assert inner["counts"]["T1 round 2/done"] == FEW
    medians = list(inner["feedback"]["round 2"].values())
    assert medians
    assert all(1 <= median <= 5 for median in medians)
    assert len(json.dumps(inner)) < 40_000
    record = json.loads((Path(values["run"]) / "instruments_used.json").read_text("utf-8"))
    assert '"respondent": "synthetic"' in json.dumps(record)

    # Back to where T1 was about to be asked: everything is answered, so nobody is, and the state says so.
    history: Any = studio.client.threads.get_history(thread, limit=20)
    before = next(state["checkpoint"] for state in history if "delphi" in state["next"])
    again = studio.go("interviews", thread, input=None, checkpoint=before, context=context)
    assert not [event for event, _ in again if event.startswith("custom")]
    values = studio.client.threads.get_state(thread)["values"]
    assert values["outcomes"] == {"longitudinal/T0": "done", "longitudinal/T1": "done", "delphi/T1": "done"}
    assert "nobody was asked again" in values["note"]
    assert "new=true" in values["note"]


def inner_values(studio: Studio, thread: str, methodology: str) -> dict[str, Any]:
    """The last values of the subgraph of this methodology on this thread."""
    history: Any = studio.client.threads.get_history(thread, limit=20)
    for state in history:
        for task in state["tasks"]:
            if task["name"] == methodology and task.get("checkpoint"):
                inner: Any = studio.client.threads.get_history(thread, checkpoint=task["checkpoint"], limit=1)
                return dict(inner[0]["values"])
    raise AssertionError(f"no subgraph in {[state['tasks'] for state in history]}")


def test_longitudinal_on_its_own_waits_after_t0(studio: Studio) -> None:
    thread = studio.thread()
    studio.go("longitudinal", thread, input={})  # nothing given at all: the fifty of the demo
    (pause,) = interrupts(studio, thread)
    assert pause["reason"] == "awaiting_simulation"
    values: Any = studio.client.threads.get_state(thread)["values"]
    assert (values["agents"], pause["outcomes"]) == (50, {"longitudinal/T0": "done"})


def test_a_persons_seat_is_asked_and_answered(studio: Studio, tmp_path: Path) -> None:
    """At a table of three of the demo's agents."""
    simulation = demo_population(tmp_path, completed=True)
    names = [who.name for who in load_population(simulation).participants[:3]]
    table = {"compose": "hand", "members": ", ".join(names), "people": names[0], "rounds": 1, "private": False}
    thread = studio.thread()
    context = {"agents": names, "language": "en", "settings": table}
    studio.go("roundtable", thread, input={}, context=context)
    (stop,) = interrupts(studio, thread)
    (form,) = stop["waiting_for"]
    assert (stop["reason"], form["name"]) == ("waiting", names[0])
    assert all(item["question"] for item in form["items"])
    says = refusal(studio, thread, "roundtable", command={"resume": "Yes."})
    assert says.startswith("resume value: 'Yes.' cannot be read; resume with {")
    assert interrupts(studio, thread) == [stop]
    given = {
        item["item"]: {"stance": "yes", "confidence": 0.6}.get(item["item"], "A trial year.") for item in form["items"]
    }
    studio.go("roundtable", thread, command={"resume": {"answers": {names[0]: given}}})
    values: Any = studio.client.threads.get_state(thread)["values"]
    assert values["status"] == "completed"


@pytest.mark.parametrize("name", sorted(set(LISTED) - {"interviews", "longitudinal", "roundtable"}))
def test_each_graph_starts_from_its_default_input(studio: Studio, name: str) -> None:
    """Until its agents are asked; what comes then has tests of its own."""
    thread = studio.thread()
    stream = studio.client.runs.stream(
        thread,
        name,
        input={"sim": "demo"} if name == "delphi" else {},  # the default, in words
        context={"sample": 3},
        stream_mode="custom",
        stream_subgraphs=True,
        on_disconnect="cancel",
    )
    for part in stream:
        assert "error" not in part.event, studio.client.threads.get_state(thread)["tasks"]
        if part.event.startswith("custom"):
            data: Any = part.data
            assert data["methodology"] == name
            assert data["total"] > 0
            stream.close()  # type: ignore[attr-defined]  # a generator
            return
    raise AssertionError(f"{name} asked nobody: {studio.client.threads.get_state(thread)}")


def test_nobody_outside_was_asked(studio: Studio) -> None:
    """Last in this file: neither a telemetry server nor a package registry, while all of the above happened."""
    assert studio.strangers() == []
