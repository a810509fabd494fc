"""examples/study.ipynb, run from top to bottom in a kernel of its own; and a kernel that is interrupted.

Nothing in here asserts numbers of the study: the notebook is executed, and what a reader is promised must be on the
page.
"""

from __future__ import annotations

import os
import queue
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient", reason="the extra 'notebook' is not installed")

import nbformat
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from tests.support.processes import environment, server_process
from tests.support.studies import personas

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "study.ipynb"
WAIT_S = 240
KERNEL = """
import threading
import vl_convert
from tests.support.bare_runs import without_partial_reports
SVG = '<svg width="1" height="1" viewBox="0 0 1 1"></svg>'
draw = vl_convert.vegalite_to_svg
def drawn(spec, **options):
    return draw(spec, **options) if threading.current_thread() is threading.main_thread() else SVG
vl_convert.vegalite_to_svg = drawn
at_the_end = without_partial_reports()
at_the_end.__enter__()
"""
"""Cells draw as ever. Reports are written in other threads; nobody looks at their files here, and their figures and the
one of the first wave take a third of all."""
SETUP = """
import enquete
people = {people!r}
given = dict(methods=["scenario"], language="en", model="test", base_url={url!r})
def say(event):
    print("asked", event["done"], flush=True)
"""


def kernel_environment(*before: Path) -> dict[str, str]:
    return {**environment(), "PYTHONPATH": os.pathsep.join(map(str, (*before, ROOT))), "JUPYTER_PLATFORM_DIRS": "1"}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Outputs of the executed notebook by cell id, with half of its agents. A cell that fails fails the test with its
    traceback."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "sitecustomize.py").write_text(KERNEL, "utf-8")
    notebook = nbformat.read(NOTEBOOK, 4)
    setup = next(cell for cell in notebook.cells if cell.id == "setup")
    assert setup.source.count('"sample": 12') == 1
    setup.source = setup.source.replace('"sample": 12', '"sample": 6')
    client = NotebookClient(
        notebook,
        timeout=WAIT_S,
        startup_timeout=WAIT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute(env=kernel_environment(folder))
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def text(cell: list[Any]) -> str:
    return "".join(str(output.get("text") or output.get("data", {}).get("text/plain", "")) for output in cell)


def data(cell: list[Any], kind: str) -> list[Any]:
    return [output["data"][kind] for output in cell if kind in output.get("data", {})]


def figures(cell: list[Any]) -> list[str]:
    """Charts as Altair shows them, each with its data."""
    shown = [output.get("data", {}) for output in cell]
    return [output["text/html"] for output in shown if "altair-viz" in str(output.get("text/html"))] + [
        output["image/svg+xml"] for output in shown if "image/svg+xml" in output
    ]


def test_outputs_are_stripped_in_the_repository() -> None:
    notebook = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_the_notebook_goes_through_both_waves(outputs: dict[str, list[Any]]) -> None:
    assert "50 agents" in text(outputs["population"])
    assert "likely=" in text(outputs["estimate"])
    assert "awaiting_simulation" in text(outputs["t0"])
    assert "completed" in text(outputs["t1"])


def test_a_progress_bar_shows_in_each_round(outputs: dict[str, list[Any]]) -> None:
    shown = data(outputs["t1"], "application/vnd.jupyter.widget-view+json")
    assert len(shown) >= 6  # longitudinal, diversity and scenario once, Delphi three rounds
    assert "delphi T1 round 3" in text(outputs["t1"])


def test_a_run_shows_a_table_and_its_figures(outputs: dict[str, list[Any]]) -> None:
    (page,) = data(outputs["run"], "text/html")
    assert "<table>" in page
    assert "Synthetic answers" in page
    for name in ("longitudinal", "diversity", "delphi", "scenario"):
        assert f">{name}</td>" in page
        (figure,) = figures(outputs[f"figure-{name}"])
        assert re.search(r"simulated respondents (·|\\u00b7) .*\d of \d", figure), name
    assert len(figures(outputs["run"])) >= 4


def test_one_methodology_is_asked_anew_and_compared(outputs: dict[str, list[Any]]) -> None:
    assert "completed" in text(outputs["rerun"])
    bars = text(outputs["rerun"])
    assert "scenario T1" in bars
    assert "delphi" not in bars
    assert "instrument_hash" in text(outputs["compare"])


@contextmanager
def kernel(folder: Path) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=kernel_environment(), cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=WAIT_S)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: BlockingKernelClient, code: str) -> str:
    """What the code printed. Fails the test where it raised."""
    printed: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=keep, timeout=WAIT_S)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(printed)


def wait_for_answers(client: BlockingKernelClient) -> None:
    """Until the first progress line of the run that is going on."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        try:
            message = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            continue
        if message["msg_type"] == "stream" and "asked" in message["content"]["text"]:
            return
        assert message["msg_type"] != "error", message["content"]
    raise AssertionError("no answer arrives")


@pytest.mark.soak
def test_interrupting_the_kernel_pauses_the_run(tmp_path: Path) -> None:
    """Calls in flight finish and are filed; an awaited cell then ends as cancelled. Both runs go on from where they
    were."""
    people = personas(tmp_path, 5)
    with server_process(tmp_path, "--latency", "0.3") as server, kernel(tmp_path) as (manager, client):
        run(client, SETUP.format(people=str(people), url=server.base_url))
        for call in ("enquete.conduct_interviews", "await enquete.aconduct_interviews"):
            before = server.count()
            out = tmp_path / call.split(".")[-1]
            cell = f"run = {call}(people, out={str(out)!r}, progress=say, concurrency=2, **given)"
            # Without stop_on_error=False the kernel aborts what reaches it while the cancelled cell's error goes out.
            asked = client.execute(cell, stop_on_error=False)
            wait_for_answers(client)
            manager.interrupt_kernel()
            reply = client.get_shell_msg(timeout=WAIT_S)
            assert reply["parent_header"]["msg_id"] == asked
            if "await" not in call:
                assert reply["content"]["status"] == "ok", reply["content"]
                assert run(client, "print(run.status, run.note)").startswith("paused paused on request")
            printed = run(
                client, f"run = enquete.load_run(people, out={str(out)!r}); print(run.status, run.resume_token)"
            )
            assert printed.startswith("paused run_"), printed
            again = (
                f"run = enquete.resume(run.resume_token, out={str(out)!r}, base_url=given['base_url'], concurrency=12)"
            )
            printed = run(client, again + "; print(run.status, run.spent['calls'])")
            assert printed.startswith("completed "), printed
            assert server.count() - before == int(printed.split()[1])
