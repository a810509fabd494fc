"""Instruments and settings of a new run, pinned before anything is asked: complete, validated, with their hashes.

What a run was made with: versions, the source's revision, hashes of prompts, population and memories.

`instruments_used.json` holds it all, personas and memories themselves included, so that the file alone says what was
asked of whom. It is written when a run begins and again whenever it is written up, from the ledger.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import to_json

from enquete.instruments.instrument import with_language
from enquete.instruments.load import instrument_hash, load_shipped, shipped_file
from enquete.instruments.pack import pack_named
from enquete.instruments.text import instrument_notices
from enquete.ledger import queries
from enquete.ledger.deviations import read_deviations
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord, UsedInstrument
from enquete.locale import N_, tell
from enquete.runs.own_files import ENDINGS, IN_PYTHON, OwnFile, read_own_file
from enquete.runs.planning import load_methodology
from enquete.state.asking import Language
from enquete.state.errors import InstrumentError, SettingsError, complaint
from enquete.state.methodology import Methodology
from enquete.state.request import SHIPPED, RunRequest

# --- What a run was made with ----------------------------------------------------------------------------------------

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
        "sent_otherwise": read_deviations(ledger),
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


# --- Instruments and settings ----------------------------------------------------------------------------------------

DRAFT = N_("drafts as they were written, read by nobody yet (`enquete draft --accept` or an edit ends that): {files}")
NAME_IN_FOLDER = re.compile(r"([A-Za-z0-9][\w-]*/)?[A-Za-z0-9][\w-]*", re.ASCII)
"""How a client names a file of a server's own folder."""


def pin_instruments(
    request: RunRequest,
    methods: Mapping[str, str],
    language: Language,
    kept: Mapping[str, UsedInstrument] = MappingProxyType({}),
) -> tuple[dict[str, UsedInstrument], list[str]]:
    """One's own file where named, else that of an earlier run where kept, else the pack's.

    Raises InstrumentError, SettingsError.
    """
    pack = pack_named(request.pack)
    source = SHIPPED if pack.default else pack.name
    for name in request.instruments:
        if name not in methods:
            raise SettingsError(f"instruments: {name!r} is not among the methods of this run ({', '.join(methods)})")
    used: dict[str, UsedInstrument] = {}
    notices: list[str] = []
    problems: list[str] = []
    for name, dotted in methods.items():
        methodology = load_methodology(dotted)
        model = methodology.instrument
        if name in kept:
            used[name], instrument = kept[name], _as_asked(model, name, kept[name])
            notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
            continue
        own_file = request.own_instruments.get(name)
        if own_file is None and shipped_file(model, name, pack.name) is None:
            raise SettingsError(
                f"the pack {pack.name} asks {', '.join(pack.instruments)}; for {name} name a file of your own "
                f"(instruments={{'{name}': FILE}})"
            )
        try:
            if isinstance(own_file, dict):
                own_file = with_language(own_file, language)
            if own_file:
                read = read_own_file(methodology, own_file, request.own_folder)
            else:
                read = OwnFile(load_shipped(model, name, pack.name))
        except InstrumentError as error:  # every file is read before the first problem is told
            problems += error.problems
            continue
        instrument = read.content
        notices += [f"{name}: {note.told(language)}" for note in read.notes]
        notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
        content = instrument.model_dump(mode="json", exclude_none=True)
        named = IN_PYTHON if isinstance(own_file, dict) else own_file or source
        used[name] = UsedInstrument(hash=instrument_hash(instrument), source=Path(named).name, content=content)
    if problems:
        raise InstrumentError(problems)
    return used, notices


def drafts_named(request: RunRequest, language: Language) -> list[str]:
    """A notice, where instruments or files that settings name are drafts."""
    given = (request.own_instruments, *request.settings.values())
    named = [value for values in given for value in values.values() if isinstance(value, str)]
    if request.own_folder is None:
        files = [Path(value).expanduser() for value in named if value.endswith(ENDINGS)]
    else:
        files = [Path(request.own_folder, f"{value}.yaml") for value in named if NAME_IN_FOLDER.fullmatch(value)]
    drafts = [file.name for file in files if is_draft(file)]
    return [tell(DRAFT, language).format(files=", ".join(drafts))] if drafts else []


def _as_asked(model: type[BaseModel], name: str, used: UsedInstrument) -> BaseModel:
    """Raises SettingsError where today's version does not know all of what was asked."""
    try:
        return model.model_validate(used.content)
    except ValidationError as error:
        where = "; ".join(".".join(map(str, e["loc"])) for e in error.errors()[:3])
        fact = (
            f"{name}: the instrument {used.source} of the earlier run cannot be asked again by this version ({where})"
        )
        raise SettingsError(
            f"{fact}; name one: instruments={{'{name}': FILE}}, or {SHIPPED} in its place", fact=fact
        ) from error


def method_settings(
    request: RunRequest, methods: Mapping[str, str], language: Language, used: Mapping[str, UsedInstrument]
) -> dict[str, dict[str, Any]]:
    """Each methodology's own settings, complete with defaults, so that the record says what was used.

    A methodology may take defaults from its instrument, and refuse files that are not in the run's language. With
    `own_folder` it takes files from there alone.
    """
    for name in request.settings:
        if name not in methods:
            raise SettingsError(f"settings: {name!r} is not among the methods of this run ({', '.join(methods)})")
    settings_by = {}
    for name, dotted in methods.items():
        methodology: Methodology = load_methodology(dotted)
        try:
            given = request.settings.get(name, {})
            instrument = _as_asked(methodology.instrument, name, used[name])
            context = {"language": language, "instrument": instrument, "own_folder": request.own_folder}
            settings = methodology.settings.model_validate(given, context=context)
            settings_by[name] = settings.model_dump(mode="json")
        except ValidationError as error:
            lines = [f"settings: {name}.{complaint(each)}" for each in error.errors(include_url=False)]
            raise SettingsError("; ".join(lines)) from None
    return settings_by


# --- Which files are drafts as written: `drafts.json` beside them holds their hashes. An edit or `accept` ends that

MARKS = "drafts.json"


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def is_draft(file: Path) -> bool:
    """Whether these are the bytes that a draft was written with, and nobody accepted them."""
    marks = _marks(file.parent)
    try:
        return file.name in marks and marks[file.name] == digest(file.read_bytes())
    except OSError:
        return False


def accept(folder: Path) -> list[str]:
    """The drafts in a folder are instruments from now on; their names. Raises SettingsError where there are none."""
    marks = _marks(folder)
    if not marks:
        raise SettingsError(f"{folder}: there are no drafts to accept; `enquete draft SIM --into {folder}` writes some")
    (folder / MARKS).unlink()
    return sorted(marks)


def _marks(folder: Path) -> dict[str, str]:
    try:
        marks = json.loads((folder / MARKS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in marks.items()} if isinstance(marks, dict) else {}
