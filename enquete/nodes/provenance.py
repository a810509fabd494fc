"""What a run was made with: versions, the source's revision, hashes of prompts, population and memories.

`instruments_used.json` holds it all, personas and memories themselves included, so that the file alone says what was
asked of whom. It is written when a run begins and again whenever it is written up, from the ledger.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from pydantic import JsonValue
from pydantic_core import to_json

from enquete.ledger import queries
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord

PACKAGES = (
    "enquete", "langgraph", "langchain-openai", "langgraph-checkpoint-sqlite", "openai", "pydantic", "numpy", "pandas",
    "scipy", "scikit-learn",
)  # fmt: skip


@cache
def versions() -> Mapping[str, str]:
    """Of Python and of what computes, asks and stores."""
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    return MappingProxyType({"python": platform.python_version(), **packages})


@cache
def revision() -> str:
    """The commit that Enquete was installed from or runs in, "+" where files had been changed; "" if unknown."""
    installed = importlib.metadata.distribution("enquete").read_text("direct_url.json")
    commit = json.loads(installed or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(commit) or _checked_out(Path(__file__).parents[2])


def _checked_out(folder: Path) -> str:
    if not (folder / ".git").exists():
        return ""
    commit, changed = (_git(folder, *words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "-uno")))
    return f"{commit}+" if commit and changed else commit


def _git(folder: Path, *words: str) -> str:
    """What git says, or nothing: it may be missing, or refuse a folder that belongs to somebody else."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


AGENTS = "\x00agents"
"""Stands where the agents are written, one after another."""


def as_file(record: RunRecord, ledger: Ledger) -> Iterator[str]:
    """The text of instruments_used.json, in parts: the record, and what was asked of whom so far."""
    content = {
        **record.model_dump(mode="json"),
        "fingerprint": record.fingerprint,
        "population": _population(record, ledger),
        "prompts": _prompts(ledger),
    }
    before, _, after = to_json(content, indent=1).decode().rpartition(to_json(AGENTS).decode())
    yield before
    yield from _listed(_agents(record, ledger), depth=2)
    yield after + "\n"


def _listed(values: Iterable[object], depth: int) -> Iterator[str]:
    """A JSON list as it stands in an object at that depth, never as a whole."""
    margin, following = "\n" + " " * (depth + 1), "["
    for value in values:
        yield following + margin + to_json(value, indent=1).decode().replace("\n", margin)
        following = ","
    yield "[]" if following == "[" else "\n" + " " * depth + "]"


def _population(record: RunRecord, ledger: Ledger) -> dict[str, object]:
    """Personas and memories themselves, with a hash of each kind."""
    memories = _memories(record, ledger)
    hashes = {phase: _hash(sorted(texts.items())) for phase, texts in memories.items()}
    return {"hash": record.population_hash, "memory_hashes": hashes, "agents": AGENTS}


def _memories(record: RunRecord, ledger: Ledger) -> dict[str, dict[str, str | None]]:
    memories = {phase: ledger.digests(phase) for phase in record.phases}
    return {phase: texts for phase, texts in memories.items() if texts}


def _agents(record: RunRecord, ledger: Ledger) -> Iterator[dict[str, object]]:
    memories = _memories(record, ledger)
    for who in ledger.population():
        yield {
            "id": who.id, "name": who.name, "stakeholder_type": who.stakeholder_type, "persona": who.persona,
            "agent_id": who.agent_id, "memories": {phase: texts.get(who.id) for phase, texts in memories.items()},
        }  # fmt: skip


def _prompts(ledger: Ledger) -> list[JsonValue]:
    """For each kind of call: how many, a hash over all prompts in order, and what the server said it was."""
    return [
        _prompts_of(kind, [row[5:] for row in rows])
        for kind, rows in groupby(ledger.stream(queries.PROMPTS), key=lambda row: row[:5])
    ]


def _prompts_of(kind: Sequence[str], calls: Sequence[Sequence[str]]) -> JsonValue:
    hashes = [hashed for hashed, _ in calls]
    fingerprints: list[JsonValue] = [*sorted({part for _, text in calls if text for part in text.split(",")})]
    return {
        **dict(zip(("methodology", "phase", "arm", "purpose", "model"), kind, strict=True)),
        "calls": len(calls), "distinct": len(set(hashes)),
        "hash": sha256("".join(hashes).encode()).hexdigest()[:16], "fingerprints": fingerprints,
    }  # fmt: skip


def _hash(value: object) -> str:
    return sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]
