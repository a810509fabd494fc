"""The settings that a run is driven with: written down when it begins, in force wherever it goes on.

A run may go on in another process, another interface or another environment than the one it was begun in. Which server
its agents are asked at, and how, is no matter of chance then: the settings stand in the run's ledger. Whoever goes on
with the run may name others; those hold from then on. Keys and caps are not among them: keys are written down nowhere,
and the ledger keeps caps by themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from enquete.ledger.drives import has_ledger
from enquete.ledger.folders import LEDGER
from enquete.ledger.integrity import damaged
from enquete.ledger.ledger import Ledger
from enquete.models.faults import shown_url
from enquete.runs.planning import open_ledger
from enquete.state.request import ModelLimits, RunRequest
from enquete.state.settings import Environment, Machine, resolve_machine

RUN_SETTINGS = "run_settings"
"""The remark in the ledger that holds them, as JSON."""

NAMED_BY_ENVIRONMENT_ALONE = ("zep_url", "prices", "local_context")
"""Settings that no request can name: what the environment says now wins, and what it does not say stays as it was."""


class RunSettings(BaseModel):
    """How a run is driven. base_url None: the provider's own server, whatever an environment says later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None
    concurrency: int
    limits: dict[str, ModelLimits]
    timeout_s: float
    patience_s: float
    waits_for_server: bool
    assume_completed: bool
    executor: str
    shard_size: int
    zep_url: str | None
    prices: Path | None
    local_context: int


def resolve_run_machine(request: RunRequest, environment: Environment, recorded: RunSettings | None) -> Machine:
    """Return how a run is driven now: what the request names, else what was recorded, else the environment's.

    Args:
        request: what is said now; a field that was not set says nothing.
        environment: of this process. Keys come from here in any case.
        recorded: of a run that was begun; None for one that begins.
    """
    machine = resolve_machine(request, environment)
    if recorded is None:
        return machine

    kept: dict[str, Any] = {name: getattr(recorded, name) for name in RunSettings.model_fields}
    for name in ("base_url", "concurrency", "patience_s", "executor"):
        if getattr(request, name) is not None:
            kept[name] = getattr(machine, name)
    for name in ("timeout_s", "shard_size"):
        if name in request.model_fields_set:
            kept[name] = getattr(request, name)
    for name in NAMED_BY_ENVIRONMENT_ALONE:
        if name in environment.model_fields_set:
            kept[name] = getattr(machine, name)

    kept["limits"] = {**recorded.limits, **(request.limits or {})}
    kept["assume_completed"] = recorded.assume_completed or request.assume_completed
    kept["waits_for_server"] = recorded.waits_for_server or request.patience_s is not None
    if kept["prices"] is not None and not kept["prices"].is_file():
        kept["prices"] = machine.prices  # a file of another machine; its prices are asked for where they are needed
    return machine.model_copy(update=kept)


def settings_of(machine: Machine) -> RunSettings:
    """Return what of these settings is written down."""
    kept = {name: getattr(machine, name) for name in RunSettings.model_fields}
    if machine.base_url:
        kept["base_url"] = shown_url(machine.base_url)
    if machine.prices:
        kept["prices"] = machine.prices.expanduser().absolute()
    return RunSettings.model_validate(kept)


async def record_settings(ledger: Ledger, machine: Machine) -> None:
    """Write down how the run is driven from now on."""
    text = settings_of(machine).model_dump_json()
    if text != ledger.noted(RUN_SETTINGS):
        await ledger.note(RUN_SETTINGS, text)


def recorded_in(ledger: Ledger, folder: Path) -> RunSettings | None:
    """Return the settings that a ledger holds; None where none were written down.

    Raises:
        LedgerError: they cannot be read.
    """
    text = ledger.noted(RUN_SETTINGS)
    if text is None:
        return None
    try:
        return RunSettings.model_validate_json(text)
    except ValidationError as error:
        raise damaged(folder / LEDGER, error) from error


def recorded_settings(folder: Path) -> RunSettings | None:
    """Return the settings of the run in this folder; None where it has not begun.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    if not has_ledger(folder):
        return None
    with open_ledger(folder) as ledger:
        return recorded_in(ledger, folder)


def explain_other_server(recorded: RunSettings | None, request: RunRequest, environment: Environment) -> str:
    """Return a sentence for whoever's environment names another server than the run's; "" where it names the same."""
    if recorded is None or request.base_url is not None or not environment.base_url:
        return ""
    there, here = recorded.base_url or "the provider's own server", shown_url(environment.base_url)
    if there.rstrip("/") == here.rstrip("/"):
        return ""
    return (
        f"goes on at {there}, where it was begun, and not at {here}, which LLM_BASE_URL names here. To go on there, "
        f"name it: base_url={here}"
    )
