"""What interfaces take, made of the fields of RunRequest: options of the command line, arguments of MCP tools, HTTP
bodies and a form's inputs. A new field appears where its `OptionMetadata` says."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from enquete.state.request import FileName, RunRequest

HOST, PORT, MCP_PORT = "127.0.0.1", 8642, 8765
"""Where servers listen unless told otherwise."""
CURRENT_RUN = "else the latest unfinished run, else the canonical one"
COUNTING_RUN = "else the canonical run, else the latest that has any"
"""Which run is meant where none is named: to see how far it is; to read what it found."""
NameInFolder = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]{0,99}/)?[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""NAME, or FOLDER/NAME for one of a folder in it."""
CLIENT_KINDS: Mapping[str, Any] = {
    "respondent": Literal["llm", "synthetic"],  # a replay says nothing itself
    "instruments": dict[FileName, NameInFolder],  # by name in the operator's folder, never a path
}
"""What clients may send where it is less than Python callers may give."""
FILLED_IN = ("layers", "read")
"""Settings that a run fills in by itself: nobody types them."""

F = TypeVar("F", bound=Callable[..., Any])
Parameter = tuple[Any, Any]
"""Annotation and default."""


def meaning(name: str, info: FieldInfo) -> str:
    """What a field is for, and what holds where it is not said."""
    told = (info.description or name.replace("_", " ")).rstrip(".")
    default = None if info.is_required() else info.get_default()
    if name == "pack":
        from enquete.instruments.pack import pack_named, packs  # noqa: PLC0415 - reads YAML, for this field alone

        told, default = f"{told}: {', '.join(packs())}", pack_named().name
    # Nothing by default, and what is made of several values, say nothing in one word; an option that is off least.
    if default is False or default == "" or not isinstance(default, bool | int | float | str):
        return told
    return f"{told}; {json.dumps(default).strip(chr(34))} unless named"


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """Without None and without what is annotated: `Annotated[int, …] | None` → (int,)."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return kinds_of(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(kind for part in get_args(annotation) for kind in kinds_of(part) if kind is not type(None))
    return (annotation,)


def client_parameter(name: str) -> Parameter:
    """As a client sends it. What is left out is for environment and defaults to decide, so it has no value here."""
    info = RunRequest.model_fields[name]
    described = Field(description=meaning(name, info))
    if info.annotation is bool:
        return Annotated[bool, described], False
    kind: Any = CLIENT_KINDS.get(name, info.annotation)
    return Annotated[Annotated[kind, *info.metadata] | None, described], None


def taken(model: type[BaseModel]) -> dict[str, Parameter]:
    """What a model takes. What is left out is for its own defaults to decide."""
    parameters: dict[str, Parameter] = {}
    for name, info in model.model_fields.items():
        kind: Any = info.annotation
        told = Field(description=info.description)
        parameters[name] = (Annotated[kind, told], ...) if info.is_required() else (Annotated[kind | None, told], None)
    return parameters


def sent(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Without what was left out."""
    return {name: value for name, value in asked.items() if value is not None}


def with_parameters(parameters: Mapping[str, Parameter]) -> Callable[[F], F]:
    """`function(first, **asked)` for libraries that read parameters off a signature: these, in place of `**asked`."""

    def signed(function: F) -> F:
        hints = get_type_hints(function, include_extras=True)
        kind, empty, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty, inspect.Parameter.VAR_KEYWORD
        given = inspect.signature(function).parameters.values()
        fixed = [p.replace(kind=kind, annotation=hints[p.name]) for p in given if p.kind is not rest]
        made = [inspect.Parameter(name, kind, default=to, annotation=of) for name, (of, to) in parameters.items()]
        needed, others = [p for p in fixed if p.default is empty], [p for p in fixed if p.default is not empty]
        signature = inspect.Signature([*needed, *made, *others], return_annotation=hints.get("return", empty))
        function.__signature__ = signature  # type: ignore[attr-defined]  # what inspect looks for
        function.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
        function.__annotations__["return"] = signature.return_annotation
        return function

    return signed
