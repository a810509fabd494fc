"""What a run is: pinned before the first call, written to the ledger and to instruments_used.json."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Set
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.state.asking import Arm, Language
from enquete.state.request import CriticSettings, MemoryKind
from enquete.state.settings import Weights

PERSONA_COLUMNS = "persona_columns"
"""Pinned of the whole run: participant → column → text, of a personas file; some agents at a time."""

AGENTS_PER_PIN = 20_000
"""Agents whose columns are pinned together."""


def persona_columns_name(part: int) -> str:
    """The name under which a part of them is pinned, from 0."""
    return f"{PERSONA_COLUMNS}/{part}" if part else PERSONA_COLUMNS


class UsedInstrument(BaseModel):
    """An instrument as it was asked."""

    model_config = ConfigDict(frozen=True)

    hash: str
    source: str
    content: dict[str, JsonValue]


class Fit(BaseModel):
    """What of a run's questions does not fit its population: methodologies whose topic is another one, a language
    nobody chose.

    asked, about, types: what the questions and the simulation are about, "" where it does not say; language: of the
    simulation's texts, "" where it is that of the interviews, was chosen, or cannot be told. unsure: methodologies
    whose words could not be compared; by: the model that judged those and `methods` instead of the words, "" where
    none did.
    """

    model_config = ConfigDict(frozen=True)

    methods: list[str] = []
    asked: str = ""
    about: str = ""
    types: list[str] = []
    language: str = ""
    spoken: str = ""
    unsure: list[str] = Field(default=[], exclude_if=lambda unsure: not unsure)
    by: str = Field(default="", exclude_if=lambda by: not by)


class Chosen(BaseModel):
    """Who of a population was asked, where not all were.

    by: what was said; not_asked: agents by stakeholder type, and names; rows_left_out: rows of the personas file that
    are no people.
    """

    model_config = ConfigDict(frozen=True)

    of: int
    by: dict[str, JsonValue]
    not_asked: dict[str, int]
    names: list[str]
    rows_left_out: int = 0


class RunRecord(BaseModel):
    """Everything needed to go on with a run, and to say later what it was. Contains no key and no budget."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    sim_id: str
    sim_path: str  # absolute; relative to the run's folder where that lies within the simulation's: they move together
    kind: Literal["simulation", "personas"]
    topic: str
    methods: dict[str, str]  # name → dotted path of its Methodology, in the order asked for
    phases: list[str]
    arms: list[Arm]
    language: Language
    asking: Literal["block", "item"]
    seed: int
    settings: dict[str, dict[str, JsonValue]]
    instruments: dict[str, UsedInstrument]
    digest_chars: int
    memoryless_weight: float
    memory: MemoryKind = "local"  # whose facts join the digests, and which gets the interviews
    baseline: Literal["measured", "reconstructed", "earlier", "none"]
    baseline_run_id: str = ""
    baseline_asked: str = "auto"
    replay_of: str = ""  # the run whose ledger answers instead of a model
    rerun_of: str = ""  # the run that methodologies not asked anew were taken over from
    carried: dict[str, str] = {}  # methodology taken over → the run that asked it
    actions_at_start: int = 0
    assume_completed: bool = False
    population_hash: str
    agents: list[str] = []  # ids of those who are asked, where not all are
    chosen: Chosen | None = None
    fit: Fit | None = None
    notices: list[str] = []
    versions: dict[str, str] = {}
    revision: str = ""  # of Enquete's source, where it is known; "+" where files had been changed
    base_url: str = ""
    key_variable: str = Field(default="", exclude_if=lambda name: not name)  # holds its key; "": LLM_API_KEY
    created_at: str
    by: str = Field(default="", exclude_if=lambda by: not by)  # agents are compared by it; "": stakeholder type
    # Methodology → question → part of α, of the primary questions that the request named; {}: the instruments' or usual
    # ones.
    primary: dict[str, dict[str, float]] = Field(default={}, exclude_if=lambda named: not named)
    weights: Weights | None = Field(default=None, exclude_if=lambda weights: weights is None)  # of a local model
    # Of runs with a second respondent alone: others are written as they always were.
    critic: CriticSettings | None = Field(default=None, exclude_if=lambda critic: critic is None)

    def identity(self) -> dict[str, Any]:
        """What makes two runs the same: not budget, concurrency, or what changes when a simulation completes."""
        return {
            "simulation": self.sim_id,
            "population": self.population_hash,
            "methods": sorted(self.methods),
            "phases": list(self.phases),
            "arms": [arm.model_dump(mode="json") for arm in self.arms],
            "language": self.language,
            "asking": self.asking,
            "settings": dict(sorted(self.settings.items())),
            "instruments": {name: used.hash for name, used in sorted(self.instruments.items())},
            "digest_chars": self.digest_chars,
            "memoryless_weight": self.memoryless_weight,
            "baseline": self.baseline_asked,
            **({"memory": self.memory} if self.memory != "local" else {}),
            **({"agents": sorted(self.agents)} if self.agents else {}),
            **({"critic": self.critic.model_dump(mode="json")} if self.critic else {}),
            **({"replay_of": self.replay_of} if self.replay_of else {}),
            **({"rerun_of": self.rerun_of, "carried": dict(sorted(self.carried.items()))} if self.rerun_of else {}),
        }

    @property
    def fingerprint(self) -> str:
        return sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()[:16]

    def simulation_of(self, folder: Path) -> Path:
        """The simulation of the run that is in this folder now, wherever it was begun."""
        return Path(os.path.normpath(folder.absolute() / self.sim_path))

    @property
    def token(self) -> str:
        """Names the run and what it was: a token of another run or of changed settings is refused."""
        return f"{self.run_id}.{self.fingerprint}"

    def asked_by(self, methodology: str) -> str:
        """The run that asked this methodology: this one, unless it was taken over."""
        return self.carried.get(methodology, self.run_id)

    @property
    def main(self) -> Arm:
        return next(arm for arm in self.arms if arm.role == "main")

    @property
    def interviewer_model(self) -> str:
        """The model that does the interviewer's own work: the main arm's; where persons answer, one that settings name;
        "" where rules do it."""
        if self.main.respondent == "llm":
            return self.main.model
        return next(iter(role_models(self.settings)), "") if self.main.respondent == "human" else ""

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked at all."""
        return bool(self.interviewer_model) or any(arm.respondent == "llm" for arm in self.arms)

    @property
    def second(self) -> Arm | None:
        """Respondent B, whose answers a critic compares with the main arm's."""
        return next((arm for arm in self.arms if arm.role == "b"), None)

    @property
    def critic_has_model(self) -> bool:
        """Whether a model judges: where no model answers, a stand-in does."""
        return any(arm.respondent == "llm" for arm in self._compared)

    @property
    def critic_model(self) -> str:
        """The one that is named, else the first respondent's that is a model; "" for the stand-in."""
        named = self.critic.model if self.critic else ""
        return named or next((arm.model for arm in self._compared if arm.respondent == "llm"), "")

    @property
    def _compared(self) -> list[Arm]:
        return [self.main] if self.second is None else [self.main, self.second]


def role_models(settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """That settings name for roles of the interviewer, in their order."""
    named = (item for options in settings.values() for item in options.items())
    return [str(value) for name, value in named if value and name.endswith("_model")]


def has_fallbacks(settings: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a role of the interviewer has a model that takes over where its own fails."""
    named = (item for options in settings.values() for item in options.items())
    return any(value for name, value in named if name.endswith("_fallback"))


def differences(old: RunRecord, new: RunRecord) -> list[str]:
    """What differs between two runs' identities, one line each. A methodology that only one of them asks is named among
    the methods; that its instrument and settings are missing in the other goes without saying."""
    shared = old.methods.keys() & new.methods.keys()
    return _differences(_of_methods(old.identity(), shared), _of_methods(new.identity(), shared), "")


def _of_methods(identity: Mapping[str, Any], methods: Set[str]) -> dict[str, Any]:
    """Instruments and settings of these methodologies only; everything else as it is."""
    kept = {part: {k: v for k, v in identity[part].items() if k in methods} for part in ("instruments", "settings")}
    return {**identity, **kept}


def content_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two instruments, one line a field; items of a list by their place."""
    return _differences(_by_place(old), _by_place(new), "")


def _by_place(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _by_place(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return {str(place): _by_place(inner) for place, inner in enumerate(value, start=1)}
    return value


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> list[str]:
    lines = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            lines += _differences(a, b, f"{path}{key}.")
        elif a != b:
            lines.append(f"{path}{key}: {_short(a)} → {_short(b)}")
    return lines


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "…"
