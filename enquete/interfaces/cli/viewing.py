"""`enquete view`: the web page in a browser, on a server of this machine that is there or is started."""

from __future__ import annotations

import json
import threading
import urllib.request
import webbrowser
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import remark
from enquete.interfaces.cli.serve import require_extra, run
from enquete.interfaces.cli.words import say
from enquete.state.errors import SettingsError

LOOK_S = 1.0


def view(
    sim: Annotated[str | None, typer.Argument(metavar="[SIM]", help="A simulation; all of them unless named.")] = None,
    run_id: o.RunId = None,
    root: o.Root = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the server; 0 takes any free one.")] = 8642,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it, or only say its address.")] = True,
) -> int:
    """Open the web page: start, watch and read studies in a browser (docs/interfaces.md).

    Uses the server that runs on this machine for the same folder, else starts one until Ctrl-C, which pauses the runs that
    go on.

    \b
    Examples:
      enquete view --root uploads
      enquete view sim_683e8059ab27 --root uploads
      enquete view ./my_sim run_20261121T203000_a1b2c3

    \b
    Exit codes: 0 opened, or stopped · 2 no such simulation or run, or the address cannot be had
    """
    require_extra()
    from enquete.interfaces.service.listening import ServerSettings  # noqa: PLC0415 - needs the extra

    base, path = place_of(sim, run_id, root)
    there = f"http://127.0.0.1:{port}"
    if serves(there, base):
        show(f"{there}{path}", browser)
        return 0
    return run(ServerSettings(root=base, port=port), lambda address: show(f"{address}{path}", browser))


def place_of(sim: str | None, run_id: str | None, root: str | None) -> tuple[Path, str]:
    """The root to serve, and the address of the page below it. Raises SimulationNotFound, RunNotFound."""
    from enquete.simulations.locate import locate  # noqa: PLC0415
    from enquete.state.request import RunRequest  # noqa: PLC0415
    from enquete.state.settings import Environment, resolve_root  # noqa: PLC0415

    base = resolve_root(RunRequest(root=root), Environment.read())
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


def serves(address: str, root: Path) -> bool:
    """Whether an Enquete server of this folder answers there."""
    from enquete.interfaces.service.listening import mark_of  # noqa: PLC0415 - needs the extra

    try:
        with urllib.request.urlopen(f"{address}/api/server", timeout=LOOK_S) as answer:
            return bool(json.load(answer)["data"]["serves"] == mark_of(root))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def show(address: str, browser: bool) -> None:
    """Say it, and open it from a thread of its own: some browsers come back only when they are closed."""
    remark(say("page_at", address=address))
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
