"""What a run's interviews found, for a program that reads: codes, top chains, the map, one agent's interview; and the codebook
applied again after a researcher edited it. Read from the run's files; nobody is asked anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.checkpoints.folders import read_record, run_folder
from enquete.graphs.laddering.codebook import RECODED, recode
from enquete.simulations.locate import by_id
from enquete.state.errors import InputError
from enquete.state.operations import Operation, Port
from enquete.state.visible_text import authorship

LONGEST_CHAIN = 8  # codes
FOLDER = Path("T1", "laddering")


class OfRun(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sim_id: Annotated[
        str, Field(min_length=1, max_length=1000, description="the simulation; a folder where files may be named")
    ]
    run_id: Annotated[
        str,
        Field(pattern=r"^(run_[0-9A-Za-z_]{1,64})?$", description="the run; the latest with interviews unless named"),
    ] = ""
    recoded: Annotated[bool, Field(description="by the edited codebook, once it was applied")] = False


class Most(OfRun):
    most: Annotated[int, Field(ge=1, le=500, description="how many, the strongest first")] = 30


class OfAgent(OfRun):
    agent: Annotated[str, Field(min_length=1, max_length=200, description="name or id")]


class Applying(OfRun):
    file: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}\.ya?ml$",
            description="the edited codebook, in the run's folder",
        ),
    ] = "codebook_edited.yaml"


async def laddering_codes(port: Port, asked: Most) -> dict[str, JsonValue]:
    """The codes of the interviews with type, agents, wordings and, on a ladder, abstractness, centrality, prestige; who made them."""
    found = _read(_folder(port, asked), "pooled_graph.json")
    shown = ("concept", "label", "type", "agents", "wordings", "abstractness", "centrality", "prestige")
    codes: list[JsonValue] = [{key: one[key] for key in shown} for one in found["concepts"][: asked.most]]
    return {**_about(port, asked), "codes": codes, "total": len(found["concepts"])}


async def laddering_chains(port: Port, asked: Most) -> dict[str, JsonValue]:
    """Chains of codes on the map from where nothing leads in to where nothing leads on, by their weakest link."""
    folder = _folder(port, asked)
    label = {one["concept"]: one["label"] for one in _read(folder, "pooled_graph.json")["concepts"]}
    chains = sorted(
        chains_of(_read(folder, "value_map.json")["links"]), key=lambda one: (-one[1], -len(one[0]), one[0])
    )
    found: list[JsonValue] = [
        {"chain": [label[code] for code in chain], "agents": agents} for chain, agents in chains[: asked.most]
    ]
    return {**_about(port, asked), "chains": found, "total": len(chains)}


def chains_of(links: list[Mapping[str, Any]]) -> Iterator[tuple[list[str], int]]:
    """(codes, agents who gave its weakest link) of every chain, cut at LONGEST_CHAIN; no code twice in one."""
    ahead: dict[str, dict[str, int]] = {}
    for link in links:
        ahead.setdefault(link["source"], {})[link["target"]] = link["direct"]
    led_to = {link["target"] for link in links}
    waiting = [([start], 10**9) for start in ahead if start not in led_to]
    while waiting:
        chain, weakest = waiting.pop()
        on = {code: n for code, n in ahead.get(chain[-1], {}).items() if code not in chain}
        if not on or len(chain) >= LONGEST_CHAIN:
            yield chain, weakest
        else:
            waiting += [([*chain, code], min(weakest, n)) for code, n in on.items()]


async def laddering_map(port: Port, asked: OfRun) -> dict[str, JsonValue]:
    """The hierarchical value map as data: boxes by level, links with their agents, the cut-off and the share it represents."""
    return {**_about(port, asked), **_read(_folder(port, asked), "value_map.json")}


def _about(port: Port, asked: OfRun) -> dict[str, JsonValue]:
    """Which run it is, of how many interviews, and who made the codes: a model, a rule, or a researcher."""
    folder = _folder(port, asked, plain=True)
    found = _read(folder, "interviews.json")
    by = "researcher" if asked.recoded else "model" if found["coding"] == "model" else "rule"
    return {"run_id": folder.name, "interviews": found["n"], "coded_by": by, **_authorship(folder)}


def _authorship(folder: Path) -> dict[str, JsonValue]:
    """Who answered. folder: of the run's results."""
    main = read_record(run_folder(folder.parents[len(FOLDER.parts)], folder.name)).main
    return {**authorship(main.respondent, main.model)}


async def laddering_transcript(port: Port, asked: OfAgent) -> dict[str, JsonValue]:
    """One agent's interview: questions, answers, what was read in each and why the next question was asked."""
    folder = _folder(port, asked, plain=True)
    turns = [json.loads(line) for line in (folder / "turn_log.jsonl").read_text("utf-8").splitlines()]
    own: list[JsonValue] = [
        {
            key: turn[key]
            for key in ("turn", "question", "strategy", "focus", "answer", "new_concepts", "new_links", "by", "stop")
        }
        for turn in turns
        if asked.agent in (turn["participant"], turn["name"])
    ]
    if not own:
        raise InputError(f"nobody called {asked.agent!r} was interviewed in this run")
    return {"agent": asked.agent, "turns": own, **_authorship(folder)}


async def apply_codebook(port: Port, asked: Applying) -> dict[str, JsonValue]:
    """Apply an edited codebook (codes renamed, merged, split, retyped) again: matrix, map, saturation and transcripts, in `recoded`."""
    folder = _folder(port, asked, plain=True)
    file = folder / asked.file
    if not file.is_file() or file.is_symlink():
        raise InputError(
            f"{asked.file}: no such file in the run's folder; copy codebook.yaml there under this name and edit it"
        )
    return {**recode(folder, file), "folder": str(Path(folder.name, RECODED)), **_authorship(folder)}


def _folder(port: Port, asked: OfRun, *, plain: bool = False) -> Path:
    """Where the run's files lie. Raises InputError where there are none, or a link leads out of the root."""
    named = Path(asked.sim_id)
    own = port.shelf is None and named.is_dir()
    sim = named if own else by_id(asked.sim_id, port.root)
    if sim is None:
        raise InputError(f"no simulation {asked.sim_id[:100]!r}")
    base = sim / "interviews" if (sim / "interviews").is_dir() else sim
    run = asked.run_id or str(_read(base, "latest.json", missing={}).get("T1/laddering", ""))
    folder = base / FOLDER / run
    if asked.recoded and not plain:
        folder /= RECODED
    inside = own or folder.resolve().is_relative_to(port.root.resolve())
    if not run or not inside or not folder.is_dir():
        what = "no codebook was applied to" if asked.recoded else "there are no interviews of"
        raise InputError(f"{what} this run ({asked.run_id or 'latest'}) of {asked.sim_id[:100]!r}")
    return folder


def _read(folder: Path, name: str, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    path = folder / name
    if missing is not None and not path.is_file():
        return missing
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


OPERATIONS = (
    Operation(laddering_codes, Most, "Codes of the interviews", reads=True),
    Operation(laddering_chains, Most, "Top chains of the map", reads=True),
    Operation(laddering_map, OfRun, "The value map as data", reads=True),
    Operation(laddering_transcript, OfAgent, "One agent's interview", reads=True),
    Operation(apply_codebook, Applying, "Apply an edited codebook"),
)
