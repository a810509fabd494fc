"""The arms of a run beside its main one: respondent B, probes, placebo, replicates and other ways of asking.

Every arm is the main one with one thing changed, so that a difference between the two has one reason. Probes ask a
sample of the agents, the same in all of them, at the later of the run's waves. A methodology itself says which probes
make sense for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from enquete.respondents.critic import PLANTED, STAND_INS
from enquete.runs.planning import load_methodology
from enquete.state.asking import AS_WRITTEN, PRESENTATIONS, Arm
from enquete.state.errors import SettingsError
from enquete.state.methodology import Methodology
from enquete.state.request import CriticSettings, RunRequest

_NEEDS_RETEST: Final = ("persona_swapped", "persona_null")
_TWO_WAVES: Final = "negative_control"
SECOND: Final = "b"
TEMPERATURE_B: Final = 0.5

Change = tuple[str, str, Mapping[str, Any]]
"""Id and role of an arm, and what differs from the main one."""

_CHANGES: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "retest": {"retest": {}},
    "options_reversed": {"options_reversed": {"presentation": "options_reversed"}},
    "items_shuffled": {
        "items_shuffled": {"presentation": "items_shuffled"},
        "items_shuffled_2": {"presentation": "items_shuffled_2"},
    },
    "paraphrase": {"paraphrase": {"presentation": "paraphrased"}},
    "persona_swapped": {"persona_swapped": {"persona": "swapped"}},
    # A memory would be a persona by the back door.
    "persona_null": {"persona_null": {"persona": "null", "digest": "none"}},
    "negative_control": {"negative_control": {"asks": "controls"}},
    "false_median": {"false_median": {"feedback": "false"}},
}
"""Kind → arm id → what differs from the main arm. A presentation is added to the main arm's own."""


def study_arms(
    request: RunRequest,
    arms: Sequence[Arm],
    methods: Mapping[str, str],
    phases: Sequence[str],
    *,
    has_simulation: bool,
    settings: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> list[Arm]:
    """Return the arms of a study: those given and those that request and settings add.

    Args:
        request: Asks for respondent B, probes, a placebo and replicates.
        arms: The main arm and whatever else is given already.
        methods: name → dotted path of the run's methodologies.
        phases: The waves that are taken.
        has_simulation: Whether there are two waves to compare at all.
        settings: name → settings of the methodology, which may name other ways of asking (variants).

    Raises:
        SettingsError: Something cannot be asked in this run.
    """
    main = next(arm for arm in arms if arm.role == "main")
    known = {name: load_methodology(dotted) for name, dotted in methods.items()}
    changed = [
        *_second(request, main),
        *_probes(request, main, known, phases, has_simulation),
        *_placebo(request, known, phases, has_simulation),
        *_replicates(request, main),
        *_variants(known, settings),
    ]
    added = [_beside(main, request, *change) for change in changed]
    twice = [arm.id for arm in added if arm.id in {given.id for given in arms}]
    if twice:
        raise SettingsError(
            f"arms: {', '.join(twice)} stand among the arms given already; leave respondent_b, probes, placebo and "
            "replicates out"
        )
    return [*arms, *added]


def critic_settings(request: RunRequest, arms: Iterable[Arm]) -> CriticSettings | None:
    """Return how respondent B is compared with the main arm; None in a run without one.

    Raises:
        SettingsError: The critic is described in a run without respondent B, or named by a model that is not there.
    """
    arms = list(arms)
    named = {name: getattr(request, name) for name in ("critic_model", "critic_rubric", "critic_pairs")}
    fields = {name: value for name, value in named.items() if value is not None}
    if not any(arm.role == "b" for arm in arms):
        if fields:
            raise SettingsError(f"{', '.join(fields)}: there is no second respondent to compare with; add respondent_b")
        return None
    model = request.critic_model or ""
    has_model = any(arm.respondent == "llm" for arm in arms)
    if model and not has_model and model not in STAND_INS:
        raise SettingsError(f"critic_model {model!r}: no model answers in this run; one of {', '.join(STAND_INS)}")
    return CriticSettings(model=model, rubric=request.critic_rubric or "realistic", pairs=request.critic_pairs or 0)


def _second(request: RunRequest, main: Arm) -> Iterable[Change]:
    """Yield respondent B: everything once more by another model or other sampling, never by other behaviour."""
    fields = [name for name in ("model_b", "temperature_b") if getattr(request, name) is not None]
    if not request.respondent_b:
        if fields:
            raise SettingsError(f"{', '.join(fields)}: say respondent_b too, or leave it out")
        return
    model = request.model_b or main.model
    if main.respondent == "synthetic" and model not in PLANTED:
        raise SettingsError(f"model_b {model!r}: no model answers in this run; one of {', '.join(PLANTED)}")
    given = TEMPERATURE_B if request.temperature_b is None else request.temperature_b
    temperature = main.temperature if main.respondent == "synthetic" else given
    changes = {"model": model, "temperature": temperature, "seed": other_seed(main.seed, SECOND)}
    yield SECOND, "b", changes


def _probes(
    request: RunRequest, main: Arm, methods: Mapping[str, Methodology], phases: Sequence[str], has_simulation: bool
) -> Iterable[Change]:
    for kind in _kinds(request):
        asked = tuple(name for name, methodology in methods.items() if kind in methodology.probes)
        two_waves = kind != _TWO_WAVES or has_simulation
        if not (asked and two_waves):
            if kind in request.probes:
                why = f"makes no sense for {', '.join(methods)}; leave it out"
                if asked:
                    why = "compares two waves, and a personas file has one; name a simulation, or leave it out"
                raise SettingsError(f"probes: {kind!r} {why}")
            continue
        for arm_id, changes in _CHANGES[kind].items():
            seed = other_seed(main.seed, arm_id) if kind == "retest" else main.seed
            waves = () if kind == _TWO_WAVES else (max(phases),)
            common = {"methods": asked, "phases": waves, "sample": request.probe_sample, "seed": seed}
            yield arm_id, "probe", {**common, **changes}


def _kinds(request: RunRequest) -> list[str]:
    """Return the kinds of probe wanted, in the order of _CHANGES.

    What a persona changes is judged against a retest, so a retest comes with those kinds.
    """
    wanted = set(request.probes)
    if "all" in wanted:
        return list(_CHANGES)
    if wanted & set(_NEEDS_RETEST):
        wanted.add("retest")
    return [kind for kind in _CHANGES if kind in wanted]


def _placebo(
    request: RunRequest, methods: Mapping[str, Methodology], phases: Sequence[str], has_simulation: bool
) -> Iterable[Change]:
    """Yield the placebo: everybody once more at T1. At T0 nobody remembers anything, so it shares the main arm's T0."""
    if not request.placebo:
        return
    asked = tuple(name for name, methodology in methods.items() if {"T0", "T1"} <= set(methodology.phases))
    if not (asked and has_simulation and "T1" in phases and request.digest_chars):
        raise SettingsError(
            "placebo: it puts a neutral memory in place of the simulation's in a second wave; that needs a methodology "
            "of two waves (T0, T1) among the methods, a simulation, phase T1 and digest_chars above 0"
        )
    yield "placebo", "placebo", {"digest": "neutral", "methods": asked, "phases": ("T1",)}


def _replicates(request: RunRequest, main: Arm) -> Iterable[Change]:
    """Yield the whole study again, by other seeds or by other models."""
    models = request.replicate_models
    if models and main.respondent != "llm":
        raise SettingsError(f"replicate_models: {', '.join(models)} are named, but no model answers in this run")
    if models and request.replicates not in (1, len(models) + 1):
        raise SettingsError(
            f"replicates: {request.replicates} with {len(models)} replicate_models; the study itself is the first, so "
            f"that makes {len(models) + 1}; leave replicates out"
        )
    if twice := [model for model in models if models.count(model) > 1 or model == main.model]:
        raise SettingsError(f"replicate_models: {twice[0]!r} answers already; name each other model once")
    names: Sequence[str | None] = models or [None] * (request.replicates - 1)
    for number, model in enumerate(names, start=2):
        arm_id = f"replicate_{number}"
        changes = {"model": model} if model else {"seed": other_seed(main.seed, arm_id)}
        yield arm_id, "replicate", changes


def _variants(methods: Mapping[str, Methodology], settings: Mapping[str, Mapping[str, Any]]) -> Iterable[Change]:
    """Yield everybody once more in each other way of asking that a methodology's settings name."""
    for name, methodology in methods.items():
        for variant in methodology.procedure.variants(methodology.settings.model_validate(settings.get(name, {}))):
            yield f"{name}_{variant}", "variant", {"methods": (name,), "variant": variant}


def _beside(main: Arm, request: RunRequest, arm_id: str, role: str, changes: Mapping[str, Any]) -> Arm:
    """Return the main arm with these changes, validated. All arms draw samples and orders by the run's seed."""
    given = {**main.model_dump(), "draw_seed": request.seed, **changes, "id": arm_id, "role": role}
    if new := changes.get("presentation"):
        # An order of items takes the place of the main arm's own; anything else comes on top of it.
        shows = {part for part in main.shows if not (part.startswith("items") and new.startswith("items"))} | {new}
        given["presentation"] = "+".join(part for part in PRESENTATIONS if part in shows) or AS_WRITTEN
    return Arm.model_validate(given)


def other_seed(seed: int, arm_id: str) -> int:
    """Return a seed of the arm's own, by SHA-256, of 31 bits, which is what servers take."""
    return int.from_bytes(sha256(f"{seed}|{arm_id}".encode()).digest()[:4], "big") >> 1
