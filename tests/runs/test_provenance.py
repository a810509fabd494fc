"""instruments_used.json says alone what was asked of whom, with which version, and hashes change with what they stand
for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.reports.run_reading import open_run
from enquete.runs.instrument_pins import PACKAGES, as_file, revision, versions
from tests.support.bare_runs import interview
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import rows

pytestmark = pytest.mark.usefixtures("no_figures")


def record_of(run: enquete.Run) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((run.folder / "instruments_used.json").read_text("utf-8"))
    return data


def test_the_file_holds_personas_memories_prompts_and_versions(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", 4)
    with ModelServer(fingerprint="fp_7") as server:
        run = enquete.conduct_interviews(sim, methods=["longitudinal"], model="m", base_url=server.base_url)
    record = record_of(run)
    assert record["population"]["hash"] == run.record.population_hash
    agents = record["population"]["agents"]
    assert [agent["persona"] for agent in agents] == [
        persona for (persona,) in rows(run.folder, "SELECT persona FROM participants ORDER BY position")
    ]
    assert all(agent["memories"]["T1"] for agent in agents)  # each of them has posted
    assert record["population"]["memory_hashes"].keys() == {"T1"}
    (t0, t1) = (line for line in record["prompts"] if line["purpose"] == "answer")
    assert (t0["phase"], t1["phase"]) == ("T0", "T1")
    assert t0["hash"] != t1["hash"]
    assert t0["fingerprints"] == ["fp_7"]
    assert set(record["versions"]) == {"python", *PACKAGES} == set(versions())
    assert record["seed"] == 0
    assert record["arms"][0]["temperature"] == 0.7
    assert record["instruments"]["longitudinal"]["hash"]


def test_the_same_study_has_the_same_hashes_and_another_seed_of_agents_others(tmp_path: Path) -> None:
    def told(name: str, agents: int) -> dict[str, Any]:
        run = interview(mirofish_folder(tmp_path / f"{name}/sim_1", agents), methods=["longitudinal"])
        with open_run(run.folder) as reading:
            content: dict[str, Any] = json.loads("".join(as_file(reading.record, reading.ledger)))
        return content

    a, b, c = told("a", 3), told("b", 3), told("c", 4)
    assert a["population"]["hash"] == b["population"]["hash"] != c["population"]["hash"]
    assert [line["hash"] for line in a["prompts"]] == [line["hash"] for line in b["prompts"]]
    assert a["prompts"][0]["hash"] != c["prompts"][0]["hash"]


def test_a_checkout_names_its_commit() -> None:
    """Installed from a package without version control nobody knows it, and it stays empty."""
    assert re.fullmatch(r"([0-9a-f]{40}\+?)?", revision())
