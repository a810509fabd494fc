"""Commands that methodologies bring along (`Methodology.offers`): their operations, beside a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from enquete.interfaces.cli.output import one_object, result
from enquete.state.errors import SettingsError
from enquete.state.operations import Operation
from enquete.state.request import RunRequest
from enquete.state.settings import Environment, resolve_root


def of_a_methodology(name: str) -> Any:
    from enquete.graphs.registry import methodologies  # noqa: PLC0415

    found = next((one.offers for one in methodologies().values() if one.offers and one.offers.command == name), None)
    if found is None:
        return None
    offered = {operation.name: operation for operation in found.operations()}
    app = typer.Typer(rich_markup_mode=None)
    app.command(name, help=_help(offered))(_command(offered))
    return typer.main.get_command(app)


def _help(offered: dict[str, Operation]) -> str:
    lines = [f"  {name} {' '.join(_arguments(one))}\n      {one.meaning}" for name, one in offered.items()]
    return "Carry out one of these, with ARGUMENT=VALUE each; values may be JSON.\n\n\b\n" + "\n".join(lines)


def _arguments(operation: Operation) -> Iterator[str]:
    for name, info in operation.takes.model_fields.items():
        yield name if info.is_required() else f"[{name}]"


def _command(offered: dict[str, Operation]) -> Any:
    def carry_out(
        operation: Annotated[str, typer.Argument(help="which, as listed above", metavar="OPERATION")],
        arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT=VALUE...")] = None,
        root: Annotated[str | None, typer.Option(help="folder that holds simulations/; projects lie beside it")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
    ) -> int:
        from enquete.study.operating import operate  # noqa: PLC0415
        from enquete.study.run import EXIT_CODES  # noqa: PLC0415

        if operation not in offered:
            raise SettingsError(f"no operation {operation!r}; there are {', '.join(offered)}")
        where = resolve_root(RunRequest(root=root), Environment.read())
        found = asyncio.run(operate(operation, dict(_parsed(arguments or [])), where))
        if as_json:
            one_object(dict(found))
        else:
            result(json.dumps(found, ensure_ascii=False, indent=2))
        return EXIT_CODES.get(str(found.get("status")), 0)

    return carry_out


def _parsed(arguments: list[str]) -> Iterator[tuple[str, Any]]:
    """`budget=3`, `answer=Yes.`, `respondent={"kind": …}`: JSON where it is an object, a list or a truth value, else as it is."""
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if not sign:
            raise SettingsError(f"{argument!r}: write ARGUMENT=VALUE")
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        yield name, read if isinstance(read, dict | list | bool) else value
