"""Real runs for the reports: a population, the product's own synthetic respondent, ledger and procedures; no graph."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from enquete.graphs.registry import dotted_paths
from enquete.nodes.planning import planned
from enquete.nodes.run_choice import begin, choose_run
from enquete.nodes.run_session import RunSession, using
from enquete.nodes.shards import conduct_unit
from enquete.nodes.waves import open_t1
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import synthesise
from enquete.state.channels import ShardSpec
from enquete.state.request import RunRequest
from enquete.state.settings import Environment, Machine
from tests.support.populations import go_on
from tests.support.shared import made_once

AVAILABLE = {name: f"enquete.graphs.{name}:METHODOLOGY" for name in ("longitudinal", "delphi")}
ALL = dotted_paths()
DATA = Path(__file__).parents[1] / "data"
TYPES = ("Kleinfischer", "Umweltverband", "Wissenschaft", "Verwaltung")


@dataclass
class Made:
    """A run that was made for a test."""

    folder: Path

    @property
    def interviews(self) -> Path:
        return self.folder.parent.parent

    @property
    def synthesis(self) -> Path:
        return self.interviews / "synthesis" / self.folder.name

    def table(self) -> pd.DataFrame:
        with open_run(self.folder) as reading:
            return responses(reading)

    def report(self) -> str:
        """Report and appendix."""
        return "\n".join((self.synthesis / name).read_text("utf-8") for name in ("report.md", "appendix.md"))

    def results(self) -> dict:
        return json.loads((self.synthesis / "results.json").read_text("utf-8"))["results"]


Make = Callable[..., Made]


def spec(run_session: RunSession, name: str, phase: str, arm: str, number: int) -> ShardSpec:
    return ShardSpec(
        run=str(run_session.folder),
        methodology=name,
        phase=phase,
        arm=arm,
        round=number,
        lo=0,
        hi=len(run_session.population),
    )


async def _stage(run_session: RunSession, name: str, phase: str, agents: Sequence[int] | None) -> None:
    """What the graph does for one stage. `agents`: positions of those who are reached; the stage is short then."""
    procedure = run_session.procedure(name)
    for number in range(1, procedure.rounds + 1):
        verdict = "end"
        for arm in run_session.record.arms:
            context = run_session.context(name, phase, arm.id)
            units = list(procedure.units(number, context))
            reached = units if agents is None else [units[i] for i in agents if i < len(units)]
            await asyncio.gather(
                *(conduct_unit(run_session, spec(run_session, name, phase, arm.id, number), u) for u in reached)
            )
        if agents is not None:
            await run_session.ledger.set_stage(name, phase, "short")
            return
        for arm in run_session.record.arms:
            verdict = await procedure.between(number, run_session.context(name, phase, arm.id))
        if verdict == "failed":
            await run_session.ledger.set_stage(name, phase, "failed", f"round {number}")
            return
    await run_session.ledger.set_stage(name, phase, "done")


async def _make(
    request: RunRequest,
    stages: Sequence[tuple[str, str]] | None,
    agents: Sequence[int] | None,
    partial: bool,
    write: bool,
    prepare: Callable[[RunSession], object] | None,
    available: dict[str, str] | None = None,
) -> Made:
    choice, population = choose_run(request, Environment(), available or AVAILABLE)
    await begin(choice, population)
    async with using(str(choice.folder), Machine()) as run_session:
        for name, phase in planned(run_session.record) if stages is None else stages:
            if phase == "T1":
                await open_t1(run_session)
            await _stage(run_session, name, phase, agents)
        if prepare is not None:
            await prepare(run_session)
        if write:
            closed = await synthesise(run_session, planned(run_session.record), partial=partial)
            await run_session.ledger.set_stage("", "", closed["status"])
    return Made(choice.folder)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """make(sim=…, stages=…, agents=…): conduct a run and write its synthesis."""

    def run(
        sim: str | Path, *, stages=None, agents=None, partial=False, write=True, prepare=None, available=None, **asked
    ) -> Made:
        asked = {"respondent": "synthetic", "new": True, **asked}
        request = RunRequest(sim=str(sim), **asked)
        return asyncio.run(_make(request, stages, agents, partial, write, prepare, available))

    return run


@pytest.fixture
def simulation(tmp_path: Path) -> Path:
    """A copy of the real simulation with 7 agents, which has completed."""
    folder = tmp_path / "sim_683e8059ab27"
    shutil.copytree(DATA / "sim_683e8059ab27", folder)
    return folder


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """One whole run on the real simulation, in English, for tests that only read it."""

    def run(folder: Path) -> Path:
        simulation = shutil.copytree(DATA / "sim_683e8059ab27", folder / "sim_683e8059ab27")
        request = RunRequest(sim=str(simulation), respondent="synthetic", language="en")
        return asyncio.run(_make(request, None, None, False, True, None)).folder

    return Made(made_once(tmp_path_factory, "whole", run))


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All methodologies on the twelve agents of the real database, in German: they form archetypes."""

    def run(folder: Path) -> Path:
        simulation = shutil.copytree(DATA / "sim_oasisreal0001", folder / "sim_oasisreal0001")
        request = RunRequest(sim=str(simulation), respondent="synthetic", language="de", methods=list(ALL))
        return asyncio.run(_make(request, None, None, False, True, None, ALL)).folder

    return Made(made_once(tmp_path_factory, "full", run))


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Twenty-four personas of four types, in English: enough for groups to be compared."""

    def run(folder: Path) -> Path:
        kinds = [TYPES[i % len(TYPES)] for i in range(24)]
        people = [
            {"name": f"Agent {i}", "persona": f"{kind} no. {i} at the Baltic coast, a fisher", "type": kind}
            for i, kind in enumerate(kinds)
        ]
        (folder / "people.json").write_text(json.dumps(people), "utf-8")
        request = RunRequest(
            sim=str(folder / "people.json"),
            out=str(folder / "out"),
            respondent="synthetic",
            language="en",
            methods=["longitudinal", "diversity", "delphi", "scenario"],
        )
        return asyncio.run(_make(request, None, None, False, True, None, ALL)).folder

    return Made(made_once(tmp_path_factory, "crowd", run))


@pytest.fixture
def own(whole: Made, tmp_path: Path) -> Made:
    """A copy of it, to be changed."""
    sim = whole.interviews.parent
    return Made(shutil.copytree(sim, tmp_path / sim.name) / whole.folder.relative_to(sim))


@pytest.fixture
def set_status() -> Callable[[Path, str], None]:
    """set_status(folder, status): what a simulation says of itself; once it has completed, it has gone on until
    then."""
    return _set_status


def _set_status(folder: Path, status: str) -> None:
    for name in ("run_state.json", "state.json"):
        path = folder / name
        content = json.loads(path.read_text("utf-8"))
        for key in ("status", "runner_status"):
            if key in content:
                content[key] = status
        path.write_text(json.dumps(content), "utf-8")
    if status == "completed":
        go_on(folder)


@pytest.fixture
def personas(tmp_path: Path) -> Callable[[int], dict[str, str]]:
    """personas(n): a file of n personas, as arguments of `make`."""

    def write(n: int, name: str = "Agent {i}") -> dict[str, str]:
        people = [
            {
                "name": name.format(i=i),
                "persona": f"{TYPES[i % len(TYPES)]} Nr. {i} an der Ostsee",
                "type": TYPES[i % len(TYPES)],
            }
            for i in range(n)
        ]
        path = tmp_path / "people.json"
        path.write_text(json.dumps(people), "utf-8")
        return {"sim": str(path), "out": str(tmp_path / "out")}

    return write
