"""The form that begins a run: what can be chosen, and the request that a filled-in form means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from enquete.graphs.registry import methodologies
from enquete.instruments.pack import packs
from enquete.interfaces.http.bodies import STARTING, PostBody
from enquete.interfaces.web.fields import Field, is_list, request_fields, settings_fields, typed
from enquete.interfaces.web.said import Fields, checked
from enquete.locale import tell
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.settings import Environment
from enquete.study.listing import Asked, own_instruments, shipped_instruments

ASKED_FIRST = ("methods", "instruments", "settings", "pack", "language", "respondent", "model", "budget_tokens", "budget_usd",
               "types", "where", "sample", "stratify")  # fmt: skip
"""What has a place of its own in the form."""
SAID_LATER = ("confirm", "fit")
"""What is only asked once the estimate is there."""
INSTRUMENT, SETTING = "instrument.", "set."


@dataclass(frozen=True)
class Method:
    """A methodology in the form. own: files of the server's own that it can ask; shipped: None where it needs one."""

    name: str
    title: str
    shipped: Asked | None
    own: list[Asked]
    usual: bool
    settings: list[Field]


@dataclass(frozen=True)
class Choices:
    """What can be chosen. model: this server's, "" where it has none and the synthetic respondent answers."""

    methods: list[Method]
    packs: list[str]
    languages: Sequence[str]
    model: str
    respondent: str
    language: str
    cap_tokens: int
    more: list[Field]


def choices(shelf: Path, language: str) -> Choices:
    """By what is installed here and what lies in the server's own folder. Raises SettingsError."""
    environment = Environment.read()
    return Choices(
        methods=_methods(shelf, language),
        packs=list(packs()),
        languages=get_args(Spoken),
        model=environment.model or "",
        respondent=environment.respondent or ("llm" if environment.api_key or environment.base_url else "synthetic"),
        language=environment.language or "de",
        cap_tokens=environment.max_tokens,
        more=request_fields([name for name in STARTING if name not in (*ASKED_FIRST, *SAID_LATER)]),
    )


def _methods(shelf: Path, language: str) -> list[Method]:
    own = own_instruments(shelf, language)
    shipped = {one.methodology: one for one in shipped_instruments(language) if one.languages}
    found = []
    for name, one in methodologies().items():
        files = [file for file in own if file.methodology == name and not file.problem]
        if name in shipped or files:
            fields = settings_fields(name, one.settings)
            found.append(Method(name, tell(one.title, language), shipped.get(name), files, one.default, fields))
    return found


def request_of(fields: Fields) -> dict[str, Any]:
    """The façade's arguments that a filled-in form means; what was left empty is not said. Raises SettingsError."""
    said: dict[str, Any] = {}
    for name, value in ((name, value.strip()) for name, value in fields):
        if value == "":
            continue
        if name.startswith(INSTRUMENT):
            said.setdefault("instruments", {})[name.removeprefix(INSTRUMENT)] = value
        elif name.startswith(SETTING):
            method, _, key = name.removeprefix(SETTING).partition(".")
            if method in methodologies():
                said.setdefault("settings", {}).setdefault(method, {})[key] = typed(
                    methodologies()[method].settings, key, value
                )
        elif name in STARTING:
            _say(said, name, value)
    if not said.get("methods") and not dict(fields).get("methodology"):
        raise SettingsError(f"methods: none is ticked; tick at least one of {', '.join(methodologies())}")
    _of_those_asked(said)
    return checked(PostBody, said).request()


def _say(said: dict[str, Any], name: str, value: str) -> None:
    if not is_list(name):
        said[name] = "".join(value.split()) if name.startswith("budget") else value
    elif name in ("methods", "types", "probes"):
        said.setdefault(name, []).append(value)
    else:  # words in one line
        said[name] = [word for part in value.split(",") if (word := part.strip())]


def _of_those_asked(said: dict[str, Any]) -> None:
    """A file or a setting of a methodology that was not chosen is not meant."""
    for name in ("instruments", "settings"):
        kept = {method: value for method, value in said.get(name, {}).items() if method in said.get("methods", ())}
        said.pop(name, None)
        if kept:
            said[name] = kept


def values_of(fields: Fields) -> dict[str, list[str]]:
    """What was said, to fill the form in again."""
    found: dict[str, list[str]] = {}
    for name, value in fields:
        found.setdefault(name, []).append(value)
    return found
