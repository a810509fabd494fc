"""Options of the commands: those that say what a run is asked for are made of RunRequest's fields.

Values stay text: the façade reads them, and names the bad value where typer does not.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import typer

from enquete.interfaces.service.declared import Parameter, meaning
from enquete.state.option_metadata import About
from enquete.state.request import RunRequest, mark_of, offered


def options(*about: About) -> dict[str, Parameter]:
    """Parameters of a command by field, for `taking`."""
    return {name: _parameter(name) for name in offered(*about, at="cli")}


def some(*fields: str) -> dict[str, Parameter]:
    """Parameters of a command that takes only these."""
    return {name: _parameter(name) for name in fields}


def option_name(field: str) -> str:
    """As it is typed."""
    return mark_of(field).option or f"--{field.replace('_', '-')}"


def _parameter(field: str) -> Parameter:
    kinds = kinds_of(RunRequest.model_fields[field].annotation)
    many = get_origin(kinds[0]) in (dict, list)  # METHOD=FILE, once for each; names, which add up
    of = bool if kinds == (bool,) else list[str] if many else str
    default = RunRequest.model_fields[field].default if of is bool else None
    return Annotated[of | None if default is None else of, declared(field)], default


def declared(field: str) -> Any:
    """The option of a field, for typer."""
    info, mark = RunRequest.model_fields[field], mark_of(field)
    told, name = meaning(field, info), option_name(field)
    several = "; may be repeated" if get_origin(kinds_of(info.annotation)[0]) in (dict, list) else ""
    is_switch = kinds_of(info.annotation) == (bool,)
    return typer.Option(
        f"{name}/--no-{name[2:]}" if is_switch and info.default is None else name,
        metavar=None if is_switch else mark.value or metavar_of(info.annotation),
        help=f"{told[0].upper()}{told[1:]}{several}{f' ({mark.more})' if mark.more else ''}.",
        show_default=False,
    )


def metavar_of(annotation: Any) -> str:
    """What stands for the value in the help."""
    kind = kinds_of(annotation)[0]
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "NUMBER", str: "TEXT", list: "A,B"}.get(get_origin(kind) or kind, "JSON")


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """`int | None` → (int,)."""
    choices = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    plain = (get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in choices)
    return tuple(kind for kind in plain if kind is not type(None))


Sim: TypeAlias = Annotated[
    str, typer.Argument(metavar="SIM", help="sim_id under --root, or the path of a simulation folder or personas file.")
]
Root: TypeAlias = Annotated[str | None, declared("root")]
Out: TypeAlias = Annotated[str | None, declared("out")]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout, for errors too, and nothing else.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
RunId: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="run_id or resume token; else the one that matters most now.")
]
