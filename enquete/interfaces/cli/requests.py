"""From what was typed to the façade's arguments: the reading of options that are more than one word."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from enquete.interfaces.cli.method_settings import require_known
from enquete.state.errors import SettingsError
from enquete.state.settings import SHIPPED, ModelLimits

OF_THE_RUN = ("methods", "phase", "language", "model", "base_url", "temperature", "seed", "asking", "pack", "instrument", "set_",
              "baseline", "rerun", "arms", "probes", "probe_sample", "placebo", "replicates", "replicate_models", "randomise",
              "elicitation")  # fmt: skip
"""What a replay has from the run it replays."""

NOT_PASSED_ON = ("sim", "yes", "as_json", "quiet", "cache", "respondent", "methods", "instrument", "set_", "limit",
                 "probes", "replicate_models")  # fmt: skip
"""Of the commands themselves, or read first."""


def requested(said: Mapping[str, Any]) -> dict[str, Any]:
    """The façade's arguments of `run` and `estimate`, from their parameters by name. Raises SettingsError."""
    settings = read_settings(said["set_"])
    if settings:
        require_known(settings)
    read = {
        "respondent": read_respondent(said),
        "methods": read_methods(said["methods"]),
        "instruments": read_instruments(said["instrument"]),
        "settings": settings,
        "limits": read_limits(said["limit"]),
        "confirm": said.get("yes"),
        "probes": read_names("--probes", said["probes"]),
        "replicate_models": read_names("--replicate-models", said["replicate_models"]),
    }
    as_it_is = {name: value for name, value in said.items() if name not in NOT_PASSED_ON}
    cache = {} if said["cache"] is None else {"cache": said["cache"]}  # "no" beats the environment's "yes"
    return {**given(**as_it_is, **read), **cache}


def given(**options: object) -> dict[str, Any]:
    """Only what was said: everything else is for the environment and the defaults to decide."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def read_respondent(said: Mapping[str, Any]) -> str | None:
    """--replay-of says replay. Raises SettingsError where something is asked for that a replay has from its run."""
    respondent: str | None = said.get("respondent")
    replay_of = said.get("replay_of")
    if replay_of and respondent not in (None, "replay"):
        raise SettingsError(
            f"--replay-of {replay_of}: a replay has no --respondent {respondent}; leave one of them out"
        )
    if not replay_of and respondent != "replay":
        return respondent
    wrong = [f"--{name.strip('_').replace('_', '-')}" for name in OF_THE_RUN if said.get(name) not in (None, False)]
    if wrong:
        raise SettingsError(f"{', '.join(wrong)}: a replay asks what its run asked, in the same way; leave that out")
    return "replay"


def read_methods(text: str | None) -> list[str] | None:
    """`a,b` → ["a", "b"]. Raises SettingsError where nothing is named."""
    return read_names("--methods", text, " such as --methods longitudinal,delphi")


def read_names(option: str, text: str | None, example: str = "") -> list[str] | None:
    """`a,b` → ["a", "b"]. Raises SettingsError where nothing is named."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise SettingsError(f"{option} {text!r}: name at least one,{example or ' separated by commas'}")
    return names


def read_instruments(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """`longitudinal=my.yaml` → {"longitudinal": "my.yaml"}; `longitudinal=shipped` is ours. Raises SettingsError."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise SettingsError(f"--instrument {pair!r}: METHOD=FILE is expected, such as longitudinal=my.yaml")
        if name in found:
            raise SettingsError(f"--instrument {pair!r}: {name} has been given {found[name]!r} already")
        if path == SHIPPED:
            found[name] = SHIPPED
            continue
        if not Path(path).expanduser().is_file():
            raise SettingsError(f"--instrument {pair!r}: there is no file {path!r}")
        found[name] = str(Path(path).expanduser())
    return found or None


def read_settings(pairs: Iterable[str] | None) -> dict[str, dict[str, Any]] | None:
    """`delphi.key=3` → {"delphi": {"key": 3}}; values are JSON where they can be read as such, else text."""
    found: dict[str, dict[str, Any]] = {}
    for pair in pairs or ():
        path, equals, text = pair.partition("=")
        method, dot, key = path.partition(".")
        if not (method and dot and key and equals):
            raise SettingsError(f"--set {pair!r}: METHOD.KEY=VALUE is expected")
        if key in found.setdefault(method, {}):
            raise SettingsError(f"--set {pair!r}: {method}.{key} has been set already")
        found[method][key] = _value(text)
    return found or None


def read_limits(pairs: Iterable[str] | None) -> dict[str, dict[str, str]] | None:
    """`gpt-5.1.concurrency=4` → {"gpt-5.1": {"concurrency": "4"}}: a model's name may hold dots. Raises SettingsError."""
    found: dict[str, dict[str, str]] = {}
    for pair in pairs or ():
        path, equals, text = pair.rpartition("=")
        model, dot, key = path.rpartition(".")
        if not (model and dot and key and equals and text):
            raise SettingsError(
                f"--limit {pair!r}: MODEL.KEY=VALUE is expected, such as my-model.requests_per_minute=60"
            )
        if key not in ModelLimits.model_fields:
            near = difflib.get_close_matches(key, ModelLimits.model_fields, n=1)
            right = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ModelLimits.model_fields)}"
            raise SettingsError(f"--limit {pair!r}: no such limit {key!r}; {right}")
        if key in found.setdefault(model, {}):
            raise SettingsError(f"--limit {pair!r}: {model}.{key} has been set already")
        found[model][key] = text
    return found or None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
