"""From what was typed to the façade's arguments: the reading of options that are more than one word."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_origin

from enquete.interfaces.cli.method_settings import require_known
from enquete.interfaces.cli.options import kinds_of, option_name
from enquete.state.errors import SettingsError
from enquete.state.request import SHIPPED, ModelLimits, RunRequest


def requested(said: Mapping[str, Any]) -> dict[str, Any]:
    """The façade's arguments, from options by field of RunRequest. Raises SettingsError."""
    read = {name: _read(name, value) for name, value in said.items()}
    if read.get("settings"):
        require_known(read["settings"])
    if read.get("replay_of") and not read.get("respondent"):
        read["respondent"] = "replay"
    # Only what was said. Of a switch with two sides "no" is something said: it beats the environment's "yes".
    return {
        name: value for name, value in read.items() if value is not None and (value is not False or name == "cache")
    }


def _read(name: str, value: Any) -> Any:
    """Options that are more than one word; every other as it is."""
    if name in READERS:
        return READERS[name](value)
    info = RunRequest.model_fields.get(name)
    is_list = info is not None and get_origin(kinds_of(info.annotation)[0]) is list
    return read_names(option_name(name), value) if is_list else value


def read_names(option: str, texts: Iterable[str] | None) -> list[str] | None:
    """["a,b", "c"] → ["a", "b", "c"]. Raises SettingsError where nothing is named."""
    found: list[str] = []
    for text in texts or ():
        names = [name.strip() for name in text.split(",") if name.strip()]
        if not names:
            raise SettingsError(f"{option} {text!r}: name at least one, separated by commas")
        found += names
    return list(dict.fromkeys(found)) or None


def read_instruments(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """`longitudinal=my.yaml` → {"longitudinal": "my.yaml"}; `longitudinal=shipped` is ours. Raises SettingsError."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise SettingsError(f"--instrument {pair!r}: METHOD=FILE is expected, such as longitudinal=my.yaml")
        if name in found:
            raise SettingsError(f"--instrument {pair!r}: {name} has been given {found[name]!r} already")
        found[name] = path if path == SHIPPED else str(Path(path).expanduser())
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


READERS: Mapping[str, Callable[[Any], Any]] = {
    "instruments": read_instruments,
    "settings": read_settings,
    "limits": read_limits,
}
