"""`enquete serve`: the web page and the HTTP API."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import remark
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.interfaces.service.listening import ServerSettings

NEEDED = ("fastapi", "uvicorn")


def serve(
    root: o.Root = None,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; another than this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8642,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the token that clients must send (else ENQUETE_TOKEN)."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name by which clients reach the server; may be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Web pages that may call it, as https://HOST[:PORT]; may be repeated."),
    ] = None,
    most_runs: Annotated[int, typer.Option(min=1, max=64, help="Runs driven at once; a further one gets 429.")] = 4,
    watch: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="As --root, and interview by itself: T0 when a simulation is ready, T1 when it has completed.",
        ),
    ] = None,
) -> int:
    """Serve the web page and the HTTP API over the simulations under --root, until it is stopped (docs/interfaces.md).

    Listens on this machine only, unless --host names another address; then clients must send a token. A first Ctrl-C or
    SIGTERM pauses the runs that go on, so that they can be resumed; a second one leaves at once.

    \b
    Examples:
      enquete serve --root uploads
      enquete serve --watch uploads
      enquete serve --root uploads --host 0.0.0.0 --allow-host studies.example.org --token-file token

    \b
    Exit codes: 0 stopped · 130 by a second signal · 2 wrong options, or the address cannot be had
    """
    require_extra()
    if watch is not None and root not in (None, watch):
        raise SettingsError(f"--watch {watch}: --root names another folder ({root}); name one of them")
    from enquete.interfaces.service.listening import ServerSettings, read_token  # noqa: PLC0415 - needs the extra
    from enquete.state.request import RunRequest  # noqa: PLC0415 - not for --help
    from enquete.state.settings import Environment, resolve_root  # noqa: PLC0415 - not for --help

    settings = ServerSettings(
        root=resolve_root(RunRequest(root=watch or root), Environment.read()),
        host=host,
        port=port,
        token=read_token(token_file),
        allow_hosts=tuple(allow_host or ()),
        allow_origins=tuple(allow_origin or ()),
        most_runs=most_runs,
        watch=watch is not None,
    )
    return run(settings)


def require_extra() -> None:
    """Raises SettingsError where what a server needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SettingsError(f"enquete serve needs {' and '.join(missing)}: pip install 'enquete[http]'")


def run(settings: ServerSettings, listens: Callable[[str], None] = lambda address: None) -> int:
    """Listen until a signal comes. `listens` is told the address once connections are taken."""
    from enquete.interfaces.http.application import log_to_stderr, make_server  # noqa: PLC0415 - needs the extra
    from enquete.interfaces.service.listening import address, bound  # noqa: PLC0415

    with bound(settings.host, settings.port) as listening:
        server = make_server(settings)
        log_to_stderr(settings)
        at = address(listening)
        remark(f"Enquete serves {settings.root} on {at} (web page: {at}/, HTTP API: {at}/docs)")
        listens(at)
        server.run(sockets=[listening])
    return 0
