"""Settling which file answers for the model on this machine, before anything is asked."""

from __future__ import annotations

from typing import Any

from enquete.ledger.record import (
    role_models,
)
from enquete.models.local_model import weights_of
from enquete.state.asking import Arm
from enquete.state.errors import SettingsError
from enquete.state.request import CriticSettings, RunRequest
from enquete.state.settings import (
    Weights,
    is_local,
)


def resolve_local_model(
    request: RunRequest,
    arms: list[Arm],
    critic: CriticSettings | None,
    settings: dict[str, dict[str, Any]],
) -> tuple[list[Arm], CriticSettings | None, Weights | None]:
    """Arms and critic with the local model by the name that its file has; as they are where none is local. Settings
    that name it for the interviewer of persons do so by that name, too.

    Raises SettingsError where a package or file is missing, and where a run would need a local and another server at
    once.
    """
    asked = {arm.model for arm in arms if arm.respondent == "llm"}
    asked |= {critic.model} if critic and critic.model else set()
    persons = any(arm.role == "main" and arm.respondent == "human" for arm in arms)
    asked |= set(role_models(settings)) if persons else set()
    local = next(filter(is_local, sorted(asked)), None)
    if local is None:
        return arms, critic, None
    if len(asked) > 1:
        others = ", ".join(sorted(asked - {local}))
        raise SettingsError(f"model {local!r} answers a run alone: leave {others} out, or {local!r}")
    if request.base_url:
        raise SettingsError(f"model {local!r} has a server of its own: leave base_url out")
    weights = weights_of(local)
    named = {"model": weights.name}
    for options in settings.values() if persons else ():
        roles = [name for name, value in options.items() if name.endswith("_model") and value == local]
        options.update(dict.fromkeys(roles, weights.name))
    arms = [arm.model_copy(update=named) if arm.respondent == "llm" else arm for arm in arms]
    return arms, critic.model_copy(update=named) if critic and critic.model else critic, weights
