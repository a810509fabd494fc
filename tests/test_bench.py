"""What `make bench` compares is comparable: its loops send what Enquete sends, and each target is measured. Nothing is
timed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from enquete.reports.context import AnalysisContext
from tests.bench.interviewing import interviewing, used, write_prompts
from tests.bench.loops import Work, bare_aiohttp, read_requests
from tests.bench.null import BESIDE, FALSE, INTERVALS, METHODS, World, counts_of
from tests.bench.server import bench_server, tokens
from tests.bench.targets import FILE, VALUES
from tests.support.studies import personas

AGENTS = 5


def test_a_loop_written_by_hand_sends_the_same_prompts(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    write_prompts(prompts, personas(tmp_path, AGENTS))
    with bench_server() as server:
        work = Work(str(prompts), server.base_url("0"), 2, AGENTS)
        by_hand = asyncio.run(bare_aiohttp(work, read_requests(work)))
        ours = used(interviewing(tmp_path, work, AGENTS).folder)
    assert ours["calls"] == AGENTS
    assert {name: by_hand[name] for name in ours} == ours


def test_every_target_is_measured() -> None:
    assert set(yaml.safe_load(FILE.read_text("utf-8"))) == set(VALUES)


def test_the_schema_that_is_sent_is_counted() -> None:
    """Four bytes a token: 8 of the question, 22 of `{"type":"json_object"}`."""
    assert tokens("12345678", {}) == 2
    assert tokens("12345678", {"type": "json_object"}) == (8 + 22) // 4


@pytest.mark.soak
def test_answers_without_an_effect_have_the_mean_that_their_intervals_are_held_against() -> None:
    """20,000 answers to one item about 3.4 and 1.9: within 4 standard errors of what is expected of them."""
    rows = pd.DataFrame({"scale_min": [1], "scale_max": [5]})
    people = pd.DataFrame({"stakeholder_type": ["x", "y"] * 5}, index=[f"a{k}" for k in range(10)])
    world = World({}, {"m": AnalysisContext("en", participants=people)}, np.random.default_rng(1), plant=False)
    mean = pd.Series({"high": 3.4, "low": 1.9})
    drawn = pd.concat([world._answered(rows, world._positions(rows, mean)) for _ in range(2_000)])
    for item, at in mean.items():
        assert drawn[item].mean() == pytest.approx(world._expected(rows, at), abs=4 / np.sqrt(2_000 * 5))


@pytest.mark.soak
def test_a_false_claim_is_counted_and_a_true_one_is_found() -> None:
    """A page of ten agents and one with effects planted: every methodology states something, intervals are held
    against means."""
    counts = counts_of(10, 1, 1, 0)
    assert counts["found"]["intervals"] >= counts["found"]["covered"] > 0
    assert set(counts["power"]) == {"drift", "groups", "camps", "feedback", "scenario", BESIDE}
    assert {name.partition(": ")[2] for name in counts["found"]} <= {
        *FALSE, "any", "another test", "intervals", "covered", "",
    }  # fmt: skip
    assert {name for name, _ in INTERVALS} < set(METHODS)
