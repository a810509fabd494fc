"""`enquete serve`, `view` and `mcp`: the web page and the HTTP API, the page in a browser, tools for a model."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias
from urllib.parse import quote

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.terminal import remark, say
from enquete.interfaces.parameters import HOST, MCP_PORT, PORT
from enquete.state.errors import SettingsError
from enquete.state.request import DEFAULT_RUNS_AT_ONCE

if TYPE_CHECKING:
    from enquete.interfaces.server_state import ServerSettings

NEEDED = ("fastapi", "uvicorn")
LOOK_S = 1.0
AllowHost: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Another name by which clients reach the server; may be repeated."),
]


def serve(
    root: o.Root = None,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; another than this machine's own needs a token."),
    ] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the token that clients must send (else ENQUETE_TOKEN)."),
    ] = None,
    allow_host: AllowHost = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Web pages that may call it, as https://HOST[:PORT]; may be repeated."),
    ] = None,
    most_runs: Annotated[int, typer.Option(min=1, max=64, help="Runs driven at once; a further one gets 429.")] = (
        DEFAULT_RUNS_AT_ONCE
    ),
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
    from enquete.interfaces.server_state import ServerSettings, read_token  # noqa: PLC0415 - needs the extra
    from enquete.state.settings import root_of  # noqa: PLC0415 - not for --help

    settings = ServerSettings(
        root=root_of(watch or root), host=host, port=port, token=read_token(token_file), watch=watch is not None,
        allow_hosts=tuple(allow_host or ()), allow_origins=tuple(allow_origin or ()), most_runs=most_runs,
    )  # fmt: skip
    return listen(settings)


def require_extra() -> None:
    """Raises SettingsError where what a server needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SettingsError(f"enquete serve needs {' and '.join(missing)}: pip install 'enquete[http]'")


def listen(settings: ServerSettings, listens: Callable[[str], None] = lambda address: None) -> int:
    """Until a signal comes. `listens` is told the address once connections are taken."""
    from enquete.interfaces.server_state import address, bound  # noqa: PLC0415
    from enquete.interfaces.web.application import log_to_stderr, make_server  # noqa: PLC0415 - needs the extra

    with bound(settings.host, settings.port) as listening:
        server = make_server(settings)
        log_to_stderr(settings)
        at = address(listening)
        remark(f"Enquete serves {settings.root} on {at} (web page: {at}/, HTTP API: {at}/docs)")
        listens(at)
        server.run(sockets=[listening])
    return 0


def view(
    sim: Annotated[str | None, typer.Argument(metavar="[SIM]", help="A simulation; all of them unless named.")] = None,
    run_id: o.RunId = None,
    root: o.Root = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the server; 0 takes any free one.")] = PORT,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it, or only say its address.")] = True,
) -> int:
    """Open the web page: start, watch and read studies in a browser (docs/interfaces.md).

    Uses the server that runs on this machine for the same folder, else starts one until Ctrl-C, which pauses the runs
    that go on.

    \b
    Examples:
      enquete view --root uploads
      enquete view sim_683e8059ab27 --root uploads
      enquete view ./my_sim run_20261121T203000_a1b2c3

    \b
    Exit codes: 0 opened, or stopped · 2 no such simulation or run, or the address cannot be had
    """
    require_extra()
    from enquete.interfaces.server_state import ServerSettings  # noqa: PLC0415 - needs the extra

    base, path = page_of(sim, run_id, root)
    there = f"http://{HOST}:{port}"
    if is_served(there, base):
        open_page(f"{there}{path}", browser)
        return 0
    return listen(ServerSettings(root=base, port=port), lambda address: open_page(f"{address}{path}", browser))


def page_of(sim: str | None, run_id: str | None, root: str | None) -> tuple[Path, str]:
    """The root to serve, and the address of the page below it. Raises SimulationNotFound, RunNotFound."""
    from enquete.simulations.locate import locate  # noqa: PLC0415
    from enquete.state.settings import root_of  # noqa: PLC0415

    base = root_of(root)
    if sim is None:
        return base, "/"
    folder = locate(sim, base).resolve()
    if not folder.is_dir():
        raise SettingsError(f"{sim}: a personas file has no page of its own; name a simulation's folder")
    if not folder.is_relative_to(base.resolve()):
        base = folder.parents[1] if folder.parent.name == "simulations" else folder.parent
    name = quote(folder.name, safe="")
    if run_id is None:
        return base, f"/simulations/{name}/"
    return base, f"/runs/{name}/{enquete.load_run(folder, run_id).run_id}/"


def is_served(address: str, root: Path) -> bool:
    """Whether an Enquete server of this folder answers there."""
    from enquete.interfaces.server_state import mark_of  # noqa: PLC0415 - needs the extra

    try:
        with urllib.request.urlopen(f"{address}/api/server", timeout=LOOK_S) as answer:
            return bool(json.load(answer)["data"]["serves"] == mark_of(root))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def open_page(address: str, browser: bool) -> None:
    """Say it, and open it from a thread of its own: some browsers come back only when they are closed."""
    remark(say("page_at", address=address))
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def mcp(
    root: o.Root = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdio.")] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address for --http; any but this machine's own needs ENQUETE_TOKEN.")
    ] = HOST,
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Port for --http.")] = MCP_PORT,
    allow_host: AllowHost = None,
    tools: Annotated[
        str,
        typer.Option(
            metavar="FAMILY,…",
            help="Families of tools beside the usual nine; a name that is none lists those there are.",
        ),
    ] = "",
) -> int:
    """Offer the interviews to a model, by the Model Context Protocol (docs/interfaces.md).

    Speaks on stdin and stdout until the client leaves, or serves HTTP until interrupted. Only simulations under --root
    can be reached, by their id. A run that goes on when the client leaves, or at a first Ctrl-C or SIGTERM, is paused
    and can be resumed; a second signal leaves at once. A server that cannot start answers its client's requests with
    the reason.

    \b
    Examples:
      enquete mcp --root uploads
      enquete mcp --root uploads --http --port 8765
      enquete mcp --root uploads --tools roundtable,discovery

    \b
    Exit codes: 0 ended by the client or a signal · 130 by a second one · 2 no such root, no token, or the packages are
    not installed
    """
    from enquete.interfaces.mcp.refusal import tell_client_why  # noqa: PLC0415 - not for --help

    if not http:
        with tell_client_why():
            mcp_server, state = _prepare_mcp(root, tools)
        asyncio.run(mcp_server.serve_stdio(state))
        return 0
    mcp_server, state = _prepare_mcp(root, tools)
    with mcp_server.http_server(state, host, port, allow_host or []) as server:
        remark(f"{server.url} (stop with Ctrl-C)")
        asyncio.run(server.serve())
    return 0


def _prepare_mcp(root: str | None, tools: str) -> tuple[Any, Any]:
    """Return the module that serves MCP, and the state of a server with these families of tools.

    Raises:
        SettingsError: the packages are not installed, the environment is wrong, or a family is unknown.
        SimulationNotFound: the root is no folder.
    """
    try:
        from enquete.interfaces.mcp import server as mcp_server  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"enquete mcp needs packages that are not installed: pip install 'enquete[mcp]' ({error})"
        ) from None
    from enquete.state.settings import root_of  # noqa: PLC0415 - not for --help

    families = [name.strip() for name in tools.split(",") if name.strip()]
    return mcp_server, mcp_server.make_server_state(root_of(root), families)
