"""The form that begins a run: what can be chosen, and the request that a filled-in form means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from enquete.graphs.registry import methodologies
from enquete.instruments.pack import packs
from enquete.interfaces.http.bodies import STARTING, PostBody
from enquete.interfaces.service.declared import FILLED_IN, meaning
from enquete.interfaces.web.said import Fields, checked
from enquete.locale import tell
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest
from enquete.state.settings import Environment
from enquete.study.listing import Asked, own_instruments, shipped_instruments

# --- Fields of a form, made of what requests and settings say of theirs: nothing here knows a methodology by name ----


@dataclass(frozen=True)
class Field:
    """One input. kind: flag, choice, many (of options), number or text. default: what holds where it is left empty."""

    name: str
    label: str
    kind: str
    hint: str
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    default: str = ""


def request_fields(names: Sequence[str]) -> list[Field]:
    """Of a request, in this order; what a form cannot say is left out."""
    made = (field_of(name, name, RunRequest.model_fields[name]) for name in names)
    return [one for one in made if one is not None]


def settings_fields(method: str, settings: type[BaseModel]) -> list[Field]:
    """Of a methodology's own settings, called `set.METHOD.NAME`."""
    of = settings.model_fields.items()
    made = (field_of(f"set.{method}.{name}", name, info) for name, info in of if name not in FILLED_IN)
    return [one for one in made if one is not None]


def field_of(name: str, called: str, info: FieldInfo) -> Field | None:
    """None for what is no single value and no list of words, such as a mapping."""
    kind, options, bounds = _kind(info.annotation)
    if not kind:
        return None
    limits = _limits([*info.metadata, *bounds])
    default = info.default if isinstance(info.default, bool | int | float | str) else ""
    shown = "" if default is False else str(default)
    return Field(
        name, called.replace("_", " "), kind, meaning(called, info), options, *limits,
        whole=int in _plain(info.annotation), default=shown,
    )  # fmt: skip


def _kind(annotation: Any) -> tuple[str, tuple[str, ...], Sequence[Any]]:
    """Kind, options, and bounds that stand in the annotation."""
    kinds = _plain(annotation)
    bounds = [one for part in (annotation, *get_args(annotation)) for one in getattr(part, "__metadata__", ())]
    if len(kinds) != 1:
        return "", (), ()
    kind = kinds[0]
    if kind is bool:
        return "flag", (), ()
    if kind in (int, float):
        return "number", (), bounds
    if get_origin(kind) is Literal:
        return "choice", tuple(map(str, get_args(kind))), ()
    if get_origin(kind) is list:
        inner, options, _ = _kind(get_args(kind)[0])
        return ("many", options, ()) if inner == "choice" else ("text", (), ()) if inner == "text" else ("", (), ())
    return ("text", (), ()) if kind is str else ("", (), ())


def _plain(annotation: Any) -> tuple[Any, ...]:
    """Without None and without what is annotated: `Annotated[int, …] | None` → (int,)."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(kind for part in get_args(annotation) for kind in _plain(part) if kind is not type(None))
    return (annotation,)


def _limits(bounds: Sequence[Any]) -> tuple[float | None, float | None]:
    least: float | None = None
    most: float | None = None
    for one in bounds:
        if isinstance(one, Ge | Gt):
            least = float(str(one.ge if isinstance(one, Ge) else one.gt))
        if isinstance(one, Le | Lt):
            most = float(str(one.le if isinstance(one, Le) else one.lt))
    return least, most


def is_list(name: str) -> bool:
    """Whether a request's field takes several values."""
    return any(get_origin(kind) is list for kind in _plain(RunRequest.model_fields[name].annotation))


def typed(settings: type[BaseModel], name: str, said: str) -> Any:
    """A setting as its model reads it; what it cannot read stays a text, which the run refuses in its own words."""
    kinds = _plain(settings.model_fields[name].annotation) if name in settings.model_fields else ()
    makers: Mapping[Any, Any] = {bool: lambda text: {"true": True, "false": False}[text], int: int, float: float}
    try:
        return makers[kinds[0]](said) if kinds and kinds[0] in makers else said
    except (KeyError, ValueError):
        return said


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
