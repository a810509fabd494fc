"""A run, opened: its record and ledger, and what follows from them alone. Whoever drives it and whoever reads it have one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.nodes.planning import load_methodology
from enquete.state.asking import Arm, Participant
from enquete.state.methodology import Methodology, Procedure

LedgerT = TypeVar("LedgerT", bound=Ledger)


class RunBase(Generic[LedgerT]):
    """Opened once and handed down: what needs a run's instruments, procedures or population takes them from here."""

    def __init__(self, folder: Path, record: RunRecord, ledger: LedgerT):
        self.folder = folder
        self.record = record
        self.ledger = ledger
        self._instruments: dict[str, Any] = {}
        self._settings: dict[str, Any] = {}
        self._procedures: dict[str, Procedure[Any, Any]] = {}

    @property
    def interviews(self) -> Path:
        """The folder that results go to: the parent of runs/{run_id}."""
        return self.folder.parent.parent

    @property
    def sim_path(self) -> Path:
        """The simulation's folder or the personas file, where it is now."""
        return self.record.simulation_of(self.folder)

    @cached_property
    def population(self) -> list[Participant]:
        return self.ledger.population()

    @cached_property
    def failed_units(self) -> set[tuple[str, str, str, int, str]]:
        """Units that a bug left without answers: (arm, methodology, phase, round, unit)."""
        return {(f.arm, f.methodology, f.phase, f.round, f.unit) for f in self.ledger.failures()}

    def arm(self, arm_id: str) -> Arm:
        return next(arm for arm in self.record.arms if arm.id == arm_id)

    def methodology(self, name: str) -> Methodology:
        return load_methodology(self.record.methods[name])

    def instrument(self, name: str) -> Any:
        if name not in self._instruments:
            content = self.record.instruments[name].content
            self._instruments[name] = self.methodology(name).instrument.model_validate(content)
        return self._instruments[name]

    def settings(self, name: str) -> Any:
        if name not in self._settings:
            chosen = self.record.settings.get(name, {})
            self._settings[name] = self.methodology(name).settings.model_validate(chosen)
        return self._settings[name]

    def procedure(self, name: str) -> Procedure[Any, Any]:
        if name not in self._procedures:
            make = self.methodology(name).procedure
            self._procedures[name] = make(self.instrument(name), self.settings(name), self.record.language)
        return self._procedures[name]
