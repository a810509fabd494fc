"""The form that begins a run: what can be chosen, made of RunRequest's fields, and the request that it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_args
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import Request

from enquete.graphs.registry import methodologies
from enquete.instruments.pack import packs
from enquete.interfaces.parameters import FILLED_IN, meaning
from enquete.interfaces.web.models import STARTING, PostBody
from enquete.locale import tell
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest, parsed
from enquete.state.settings import Environment
from enquete.study.instruments import InstrumentSummary, own_instruments, shipped_instruments

# --- Fields of a form, made of what requests and settings say of theirs: nothing here knows a methodology by name ----

KINDS = {"boolean": "flag", "integer": "number", "number": "number", "string": "text"}
SPELLED: Mapping[str, Any] = {"boolean": {"true": True, "false": False}.__getitem__, "integer": int, "number": float}
"""How a text is read, by the type of its field."""


@dataclass(frozen=True)
class Field:
    """One input. kind: flag, choice, many (of options), number, text or words (lines of it). default: if left empty."""

    name: str
    label: str
    kind: str
    hint: str
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    default: str = ""
    required: bool = False


@cache
def schema_of(model: type[BaseModel]) -> Mapping[str, Mapping[str, Any]]:
    """JSON Schema of the fields that take one kind of value; of one that may be left out, without null."""
    kinds = {}
    for name, schema in model.model_json_schema()["properties"].items():
        parts = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
        if len(parts) == 1:
            kinds[name] = parts[0]
    return kinds


def fields_for(model: type[BaseModel], names: Iterable[str], prefix: str = "") -> list[Field]:
    """In this order, without what a form cannot say: no single value and no list of words, such as a mapping."""
    fields = []
    for name in names:
        schema, info = schema_of(model).get(name, {}), model.model_fields[name]
        inner = schema.get("items", schema)
        is_list, options = schema.get("type") == "array", tuple(map(str, inner.get("enum", ())))
        kind = ("many" if is_list else "choice") if options else KINDS.get(inner.get("type", ""), "")
        if kind == "text" and inner.get("format") == "textarea":
            kind = "words"
        if not kind or (is_list and kind not in ("many", "text")):
            continue
        bounds = (schema.get(end, schema.get(f"exclusive{end.capitalize()}")) for end in ("minimum", "maximum"))
        least, most = (None if bound is None else float(bound) for bound in bounds)
        is_plain = isinstance(info.default, bool | int | float | str) and info.default is not False
        fields.append(
            Field(
                prefix + name, name.replace("_", " "), kind, meaning(name, info), options, least, most,
                whole=schema.get("type") == "integer", default=str(info.default) if is_plain else "",
                required=info.is_required() and not prefix,  # of a method that is not asked nothing must be filled in
            ),
        )  # fmt: skip
    return fields


def labelled(fields: Iterable[Field], labels: Mapping[str, str], language: str) -> list[Field]:
    """With what their methodology calls them."""
    return [
        replace(field, label=tell(labels[field.name], language)) if field.name in labels else field for field in fields
    ]


def is_list(name: str) -> bool:
    """Whether a request's field takes several values."""
    return schema_of(RunRequest).get(name, {}).get("type") == "array"


def typed(settings: type[BaseModel], name: str, text: str) -> Any:
    """A setting as its model reads it; what it cannot read stays a text, which the run refuses in its own words."""
    try:
        return SPELLED.get(schema_of(settings).get(name, {}).get("type", ""), str)(text)
    except (KeyError, ValueError):
        return text


ASKED_FIRST = ("methods", "instruments", "settings", "pack", "language", "respondent", "model", "budget_tokens",
               "budget_usd", "types", "where", "sample", "stratify")  # fmt: skip
"""What has a place of its own in the form."""
SAID_LATER = ("confirm", "fit")
"""What is only asked once the estimate is there."""
INSTRUMENT, SETTING = "instrument.", "set."


@dataclass(frozen=True)
class Method:
    """A methodology in the form. own: files of the server's own that it can ask; shipped: None where it needs one."""

    name: str
    title: str
    shipped: InstrumentSummary | None
    own: list[InstrumentSummary]
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
        more=fields_for(RunRequest, [name for name in STARTING if name not in (*ASKED_FIRST, *SAID_LATER)]),
    )


def _methods(shelf: Path, language: str) -> list[Method]:
    on_shelf = own_instruments(shelf, language)
    shipped = {known.methodology: known for known in shipped_instruments(language) if known.languages}
    methods = []
    for name, method in methodologies().items():
        files = [file for file in on_shelf if file.methodology == name and not file.problem]
        if name in shipped or files:
            names = [key for key in method.settings.model_fields if key not in FILLED_IN]
            fields = fields_for(method.settings, names, f"{SETTING}{name}.")
            methods.append(Method(name, tell(method.title, language), shipped.get(name), files, method.default, fields))
    return methods


def request_of(fields: Fields) -> dict[str, Any]:
    """The façade's arguments that a filled-in form means; what was left empty is not said. Raises SettingsError."""
    arguments: dict[str, Any] = {}
    for name, value in ((name, value.strip()) for name, value in fields):
        if value == "":
            continue
        if name.startswith(INSTRUMENT):
            arguments.setdefault("instruments", {})[name.removeprefix(INSTRUMENT)] = value
        elif name.startswith(SETTING):
            method, _, key = name.removeprefix(SETTING).partition(".")
            if method in methodologies():
                setting = typed(methodologies()[method].settings, key, value)
                arguments.setdefault("settings", {}).setdefault(method, {})[key] = setting
        elif name in STARTING:
            _say(arguments, name, value)
    if not arguments.get("methods") and not dict(fields).get("methodology"):
        raise SettingsError(f"methods: none is ticked; tick at least one of {', '.join(methodologies())}")
    _of_those_asked(arguments)
    return parsed(PostBody, arguments).request()


def _say(arguments: dict[str, Any], name: str, value: str) -> None:
    if not is_list(name):
        arguments[name] = "".join(value.split()) if name.startswith("budget") else value
    elif name in ("methods", "types", "probes"):
        arguments.setdefault(name, []).append(value)
    else:  # words in one line
        arguments[name] = words_of(value)


def words_of(line: str) -> list[str]:
    return [word for part in line.split(",") if (word := part.strip())]


def _of_those_asked(arguments: dict[str, Any]) -> None:
    """A file or a setting of a methodology that was not chosen is not meant."""
    for name in ("instruments", "settings"):
        by_method, methods = arguments.pop(name, {}), arguments.get("methods", ())
        if kept := {method: value for method, value in by_method.items() if method in methods}:
            arguments[name] = kept


def values_of(fields: Fields) -> dict[str, list[str]]:
    """What was said, to fill the form in again."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return values


# --- What a form says


Fields: TypeAlias = Sequence[tuple[str, str]]
"""(name, value), in order; a name as often as it has values."""


async def fields_of(request: Request) -> list[tuple[str, str]]:
    """Every field of a form, in order; what is no UTF-8 is seen as such."""
    body = await request.body()
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=10_000)


async def form_of(request: Request) -> dict[str, str]:
    """Of a name that is said several times, the last."""
    return dict(await fields_of(request))
