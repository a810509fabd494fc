"""Settings of methodologies on the command line: `--turns 20`, made of what their settings model says about its fields.

They are another spelling of `--set`, so that nothing behind the command line knows of them. The registry takes seconds
to import: it is asked only where a line names more than the command's own options, never for `enquete --help`.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from enquete.interfaces.cli.options import kinds_of, metavar_of
from enquete.interfaces.service.declared import FILLED_IN, meaning, taking
from enquete.state.errors import SettingsError

Models: TypeAlias = Mapping[str, type[BaseModel]]
"""Methodology → its settings."""

SET = "settings"  # the parameter of --set
SHOWN = "enquete.shown"  # in a context: methodologies whose settings its line may name; None for all
FURTHER = "Settings of a methodology: {} --methods NAME --help. Names: enquete list methods."


def registered() -> Models:
    """Settings of every methodology there is."""
    from enquete.graphs.registry import methodologies  # noqa: PLC0415 - the graphs need seconds to import

    return {name: methodology.settings for name, methodology in methodologies().items()}


def require_known(settings: Mapping[str, Collection[str]], models: Models | None = None) -> None:
    """Raises SettingsError naming the nearest setting. A methodology that does not exist is the façade's to refuse."""
    known = registered() if models is None else models
    for method, keys in settings.items():
        fields = list(known[method].model_fields) if method in known else list(keys)
        for key in keys:
            if key not in fields:
                raise SettingsError(f"--set {method}.{key}: no such setting; {_instead(method, key, fields)}")


def _instead(method: str, key: str, fields: list[str]) -> str:
    near = difflib.get_close_matches(key, fields, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(fields)}" if fields else f"{method} has none: what it asks is its instrument's"


@dataclass(frozen=True)
class Flag:
    """One field of one methodology's settings. `names`: without dashes; the methodology's own form is always there."""

    method: str
    field: str
    info: FieldInfo
    names: tuple[str, ...]

    @property
    def parameter(self) -> str:
        return f"{self.method}__{self.field}"

    def spelt_as_set(self, value: object) -> str:
        """`laddering.turns=20`; a text stays one, even where it looks like a number."""
        text = json.dumps(value) if isinstance(value, bool) or self._is_text else str(value)
        return f"{self.method}.{self.field}={text}"

    @property
    def annotation(self) -> Any:
        """For typer."""
        switch = kinds_of(self.info.annotation) == (bool,)
        forms = [f"--{name}/--no-{name}" if switch else f"--{name}" for name in self.names]
        metavar = None if switch else metavar_of(self.info.annotation)
        told = f"{self.method}: {meaning(self.field, self.info)}."
        option = typer.Option(*forms, metavar=metavar, help=told, show_default=False)
        return Annotated[bool | None, option] if switch else Annotated[str | None, option]

    @property
    def _is_text(self) -> bool:
        return any(kind is str or get_origin(kind) is Literal for kind in kinds_of(self.info.annotation))


def flags_of(models: Models, taken: Collection[str]) -> list[Flag]:
    """`taken`: option names of the command itself. A name that is taken or shared needs the methodology's in front."""
    fields = [
        (method, field, info)
        for method, model in models.items()
        for field, info in model.model_fields.items()
        if field not in FILLED_IN
    ]
    times = Counter(field for _, field, _ in fields)
    found = []
    for method, field, info in fields:
        short, long = field.replace("_", "-"), f"{method}-{field}".replace("_", "-")
        alone = times[field] == 1 and f"--{short}" not in taken
        found.append(Flag(method, field, info, (short, long) if alone else (long,)))
    return found


def options_of(flags: Sequence[Flag]) -> list[Any]:
    """Options as typer makes them of a function's parameters: typer carries its own copy of click in some versions."""

    @taking({flag.parameter: (flag.annotation, None) for flag in flags})
    def carrier(**_: object) -> None: ...

    shell = typer.Typer(add_completion=False)
    shell.command()(carrier)
    return list(typer.main.get_command(shell).params)


def _methods_of(args: Sequence[str]) -> set[str]:
    after = [value for word, value in pairwise(args) if word == "--methods"]
    within = [word.removeprefix("--methods=") for word in args if word.startswith("--methods=")]
    return {name for value in (*after, *within) for name in value.split(",")}


class SettingsCommand(TyperCommand):
    """A command with --set, whose options include every methodology's settings."""

    models: Callable[[], Models] = staticmethod(registered)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own, then the methodologies', --help last. A line that names none of those is parsed without them:
        all settings together take .1 s to import."""
        *own, help_ = super().get_params(ctx)
        shown = ctx.meta.get(SHOWN)
        if shown == set():
            return [*own, help_]
        pairs = zip(self._flags, self._further, strict=True)
        return [*own, *(option for flag, option in pairs if shown is None or flag.method in shown), help_]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if not ctx.meta[SHOWN]:
            formatter.write("\n" + FURTHER.format(ctx.command_path) + "\n")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was said in a flag becomes what --set would have said."""
        named = {word.partition("=")[0] for word in args if word.startswith("-")}
        plain = not ctx.resilient_parsing and named <= self._taken | set(ctx.help_option_names)
        ctx.meta[SHOWN] = (_methods_of(args) if named & set(ctx.help_option_names) else set()) if plain else None
        rest = super().parse_args(ctx, args)
        said = [(flag, ctx.params.pop(flag.parameter, None)) for flag in (() if plain else self._flags)]
        more = [flag.spelt_as_set(value) for flag, value in said if value is not None]
        ctx.params[SET] = [*(ctx.params.get(SET) or ()), *more]
        return rest

    @cached_property
    def _further(self) -> list[Any]:
        """Made once: a line that is parsed asks four times what there is."""
        return options_of(self._flags)

    @cached_property
    def _flags(self) -> list[Flag]:
        return flags_of(self.models(), self._taken | {"--help"})

    @cached_property
    def _taken(self) -> set[str]:
        """Option names of the command itself."""
        return {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
