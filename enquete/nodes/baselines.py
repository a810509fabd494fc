"""Where T0 comes from: this run before the simulation, an earlier run, or reconstructed after the fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from enquete.checkpoints.canonical import latest
from enquete.checkpoints.folders import LEDGER, read_record, run_folder
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import UsedInstrument
from enquete.nodes.planning import of_two_waves
from enquete.simulations.join import join, require_joinable
from enquete.simulations.population import Population
from enquete.state.asking import Arm
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError
from enquete.state.request import RunRequest


def choose_baseline(
    request: RunRequest,
    population: Population,
    methods: Mapping[str, str],
    phases: list[str],
    used: Mapping[str, UsedInstrument],
    interviews: Path,
    main: Arm,
) -> tuple[Literal["measured", "reconstructed", "earlier", "none"], str]:
    """Where T0 comes from: this run (before the simulation), an earlier run, or reconstructed after the fact."""
    name = of_two_waves(methods)
    if not name or not population.has_simulation:
        return "none", ""
    if phases == ["T0"]:
        if population.completion.completed:
            raise SettingsError(
                f"phase: T0: simulation {population.sim_id} has completed already, so nothing can be measured before it; "
                "leave phase out for a reconstructed T0"
            )
        return "measured", ""
    run_id = measured_before(interviews, name, main) if request.baseline == "auto" else request.baseline
    if run_id and run_id != "reconstructed":
        return "earlier", require_baseline(interviews, run_id, name, population, used[name])
    if request.baseline != "reconstructed" and not population.completion.completed:
        return "measured", ""
    return "reconstructed", ""


def measured_before(interviews: Path, name: str, main: Arm) -> str:
    """The latest measured T0, unless other kinds of respondents answered then: a synthetic T0 is no model's baseline."""
    run_id = latest(interviews).get(f"T0/{name}", "")
    if run_id and read_record(run_folder(interviews, run_id)).main.respondent == main.respondent:
        return run_id
    return ""


def unused_baseline(
    request: RunRequest, interviews: Path, methods: Mapping[str, str], main: Arm, baseline: str
) -> list[str]:
    """A measured T0 that is not used is said aloud, because T0 is then asked, and paid for, once more."""
    name = of_two_waves(methods)
    run_id = latest(interviews).get(f"T0/{name}", "")
    if request.baseline != "auto" or baseline in ("earlier", "none") or not run_id:
        return []
    before = read_record(run_folder(interviews, run_id)).main.respondent
    return [
        f"run {run_id} holds a measured T0, but respondent {before!r} answered it and {main.respondent!r} answers now: "
        f"T0 is asked anew ({baseline}); --baseline {run_id} uses it all the same"
    ]


def require_baseline(interviews: Path, run_id: str, name: str, population: Population, used: UsedInstrument) -> str:
    """An earlier T0 counts only with the same instrument and joinable agents. A reconstructed one is no earlier T0."""
    folder = run_folder(interviews, run_id)
    if not (folder / LEDGER).is_file():
        raise RunNotFound(f"baseline run {run_id!r} is not in {interviews / 'runs'}")
    record = read_record(folder)
    if name not in record.instruments or record.baseline == "reconstructed":
        raise RunMismatch(f"run {run_id} holds no measured T0 of {name}")
    if record.instruments[name].hash != used.hash:
        fact = (
            f"T0 of run {run_id} was taken with another {name} instrument "
            f"(hash {record.instruments[name].hash[:12]}, now {used.hash[:12]})"
        )
        raise RunMismatch(f"{fact}: use that one, or baseline=reconstructed", fact=f"{fact}: use that one")
    ledger = Ledger.reading(folder / LEDGER, run_id)
    try:
        stage = ledger.stages().get((name, "T0"))
        if record.baseline != "earlier" and (stage is None or stage.outcome != "done"):
            fact = f"T0 of run {run_id} is not complete; resume it first"
            raise RunMismatch(f"{fact}: enquete resume {record.token}", fact=fact)
        require_joinable(join(ledger.population(), population.participants))
    finally:
        ledger.close_reading()
    return record.baseline_run_id if record.baseline == "earlier" else run_id


def baseline_personas(folder: Path, population: Population) -> tuple[Any, ...]:
    """T0's personas are used at T1; agents that came later keep their own."""
    ledger = Ledger.reading(folder / LEDGER, folder.name)
    try:
        before = {who.id: who for who in ledger.population()}
    finally:
        ledger.close_reading()
    partner = {now_id: before[then] for then, now_id in join(list(before.values()), population.participants).matched}
    return tuple(
        replace(partner[who.id], agent_id=who.agent_id) if who.id in partner else who for who in population.participants
    )
