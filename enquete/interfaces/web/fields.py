"""Fields of a form, made of what requests and settings say of theirs: nothing here knows a methodology by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from enquete.interfaces.service.declared import FILLED_IN, meaning
from enquete.state.request import RunRequest


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
