"""`enquete mcp`: the interviews as tools for a model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import remark
from enquete.state.errors import SettingsError

DEFAULT_PORT = 8765


def mcp(
    root: o.Root = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdio.")] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address for --http; any but this machine's own needs ENQUETE_TOKEN.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Port for --http.")] = DEFAULT_PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Name by which clients reach --http; may be given several times."
        ),
    ] = None,
) -> int:
    """Offer the interviews to a model, by the Model Context Protocol (docs/interfaces.md).

    Speaks on stdin and stdout until the client leaves, or serves HTTP until interrupted. Only simulations under --root
    can be reached, by their id. A run that goes on when the client leaves, or at a first Ctrl-C or SIGTERM, is paused and
    can be resumed; a second signal leaves at once.

    \b
    Examples:
      enquete mcp --root uploads
      enquete mcp --root uploads --http --port 8765

    \b
    Exit codes: 0 ended by the client or a signal · 130 by a second one · 2 no such root, no token, or the packages are not installed
    """
    try:
        from enquete.interfaces.mcp import serving  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"enquete mcp needs packages that are not installed: pip install 'enquete[mcp]' ({error})"
        ) from None
    from enquete.state.request import RunRequest  # noqa: PLC0415 - not for --help
    from enquete.state.settings import Environment, resolve_root  # noqa: PLC0415 - not for --help

    server_state = serving.make_server_state(Path(resolve_root(RunRequest(root=root), Environment.read())))
    if not http:
        asyncio.run(serving.serve_stdio(server_state))
        return 0
    with serving.listening(server_state, host, port, allow_host or []) as server:
        remark(f"{server.url} (stop with Ctrl-C)")
        asyncio.run(server.serve())
    return 0
