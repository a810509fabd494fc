"""A run whose answers come from a local model: which file, settled before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence

from enquete.models.weights import weights_of
from enquete.state.asking import Arm
from enquete.state.boxed_weights import Weights, is_local
from enquete.state.errors import SettingsError
from enquete.state.request import CriticSettings, RunRequest


def boxed(
    request: RunRequest, arms: list[Arm], critic: CriticSettings | None
) -> tuple[list[Arm], CriticSettings | None, Weights | None]:
    """Arms and critic with the local model by the name that its file has; as they are where none is local.

    Raises SettingsError where a package or file is missing, and where a run would need a local and another server at once.
    """
    asked = {arm.model for arm in arms if arm.respondent == "llm"} | (
        {critic.model} if critic and critic.model else set()
    )
    local = next(filter(is_local, sorted(asked)), None)
    if local is None:
        return arms, critic, None
    if len(asked) > 1:
        others = ", ".join(sorted(asked - {local}))
        raise SettingsError(f"model {local!r} answers a run alone: leave {others} out, or {local!r}")
    if request.base_url:
        raise SettingsError(f"model {local!r} has a server of its own: leave base_url out")
    weights = weights_of(local)
    return (
        _named(arms, weights),
        critic.model_copy(update={"model": weights.name}) if critic and critic.model else critic,
        weights,
    )


def _named(arms: Sequence[Arm], weights: Weights) -> list[Arm]:
    return [arm.model_copy(update={"model": weights.name}) if arm.respondent == "llm" else arm for arm in arms]
