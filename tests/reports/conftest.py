"""Real runs for the reports: a population, the product's own synthetic respondent, ledger and graphs; no parent."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from enquete.methods.registry import dotted_paths, methodologies
from enquete.reports.analyses import find
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import synthesise
from enquete.runs.begin_run import begin
from enquete.runs.planning import planned
from enquete.runs.result_folders import claim_folder
from enquete.runs.run_choice import choose_run
from enquete.runs.run_session import RunSession, using
from enquete.runs.waves import open_t1
from enquete.runs.worker import conduct_unit
from enquete.state.channels import ShardSpec
from enquete.state.request import RunRequest
from enquete.state.settings import Environment, Machine
from tests.support.populations import go_on
from tests.support.shared_fixtures import made_once

AVAILABLE = {name: f"enquete.methods.{name}:METHODOLOGY" for name in ("longitudinal", "delphi")}
ALL = dotted_paths()
SHORT = {"laddering": {"turns": 5}, "discovery": {"questions": 6}, "roundtable": {"rounds": 2, "least_rounds": 2}}
"""Of interviews and discussions a part: what a report has of them does not depend on their length."""
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

    def computed(self) -> dict:
        """The results of a run whose report was not written."""
        with open_run(self.folder) as reading:
            return dict(find(reading, responses(reading)).results)

    def results(self) -> dict:
        return json.loads((self.synthesis / "results.json").read_text("utf-8"))["results"]


Make = Callable[..., Made]


def spec(run_session: RunSession, name: str, phase: str, arm: str, number: int) -> ShardSpec:
    return ShardSpec(
        run=str(run_session.folder), methodology=name, phase=phase, arm=arm, round=number, lo=0,
        hi=len(run_session.population),
    )  # fmt: skip


async def _stage(run_session: RunSession, name: str, phase: str, agents: Sequence[int] | None) -> None:
    """One stage, by the methodology's own graph. `agents`: positions of those who are reached; the stage is short then.

    A wave of a methodology that has two is asked alone here: its graph would wait for the simulation and take both.
    """
    methodology = run_session.methodology(name)
    if agents is None and len(methodology.phases) == 1:
        start = {"run": str(run_session.folder), "methodology": name, "phase": phase}
        await methodologies()[name].graph().ainvoke(start, {"recursion_limit": 1000})
        return
    for arm in run_session.record.arms:
        units = list(run_session.units(name, phase, 1, arm.id))
        reached = units if agents is None else [units[i] for i in agents if i < len(units)]
        given = spec(run_session, name, phase, arm.id, 1)
        await asyncio.gather(*(conduct_unit(run_session, given, unit) for unit in reached))
    await run_session.ledger.set_stage(name, phase, "done" if agents is None else "short")


def made(
    sim: str | Path, *, stages=None, agents=None, partial=False, write=True, prepare=None, available=None, **asked
) -> Made:
    """Conduct a run and write its synthesis. stages: (methodology, phase), all that are planned unless said; agents:
    positions of those who are reached; prepare: what is done with the session before the synthesis."""
    request = RunRequest(sim=str(sim), **{"respondent": "synthetic", "new": True, **asked})
    choice, population = choose_run(request, Environment(), available or AVAILABLE)

    async def conduct() -> None:
        if request.out:
            claim_folder(request.out, choice.folder.parent.parent, population.path)
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

    asyncio.run(conduct())
    return Made(choice.folder)


@pytest.fixture
def make() -> Make:
    return made


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
        return made(simulation, language="en").folder

    return Made(made_once(tmp_path_factory, "whole", run))


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All methodologies on the twelve agents of the real database, in German: they form archetypes."""

    def run(folder: Path) -> Path:
        simulation = shutil.copytree(DATA / "sim_oasisreal0001", folder / "sim_oasisreal0001")
        return made(simulation, language="de", methods=list(ALL), available=ALL, settings=SHORT).folder

    return Made(made_once(tmp_path_factory, "full", run))


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Twenty-four personas of four types, in English: enough for groups to be compared."""

    def run(folder: Path) -> Path:
        methods = ["longitudinal", "diversity", "delphi", "scenario"]
        people = people_file(folder, 24, persona="{type} no. {i} at the Baltic coast, a fisher")
        return made(**people, language="en", methods=methods, available=ALL).folder

    return Made(made_once(tmp_path_factory, "crowd", run))


def set_status(folder: Path, status: str) -> None:
    """What a simulation says of itself; once it has completed, it has gone on until then."""
    for name in ("run_state.json", "state.json"):
        path = folder / name
        content = json.loads(path.read_text("utf-8"))
        content |= dict.fromkeys({"status", "runner_status"} & content.keys(), status)
        over = {"twitter_completed", "reddit_completed"} & content.keys()
        content |= dict.fromkeys(over, status == "completed")
        path.write_text(json.dumps(content), "utf-8")
    if status == "completed":
        go_on(folder)


def people_file(
    folder: Path, n: int, name: str = "Agent {i}", persona: str = "{type} Nr. {i} an der Ostsee"
) -> dict[str, str]:
    """A file of n personas of four types, as arguments of `make`."""
    types = [TYPES[i % len(TYPES)] for i in range(n)]
    people = [
        {"name": name.format(i=i), "persona": persona.format(i=i, type=kind), "type": kind}
        for i, kind in enumerate(types)
    ]
    path = folder / "people.json"
    path.write_text(json.dumps(people), "utf-8")
    return {"sim": str(path), "out": str(folder / "out")}


@pytest.fixture
def personas(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """personas(n): see people_file."""
    return partial(people_file, tmp_path)
