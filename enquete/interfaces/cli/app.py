"""`enquete`: the command line over the façade. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 1 failed, 2 wrong input or usage, 3 paused with a token, 4 awaiting the simulation or a person,
130 stopped at once.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import ValidationError

from enquete.interfaces.cli import (
    costs,
    demo,
    doctor,
    draft,
    driving,
    looking,
    remembering,
    removing,
    scaffold,
    serve,
    viewing,
)
from enquete.interfaces.cli.method_commands import Commands
from enquete.interfaces.cli.method_settings import SettingsCommand
from enquete.interfaces.cli.output import one_object, prepare_streams, remark
from enquete.interfaces.cli.signals import STOPPED, Stopped
from enquete.interfaces.cli.spelling import as_typed
from enquete.interfaces.cli.words import say
from enquete.interfaces.mcp import command as mcp_command
from enquete.state.complaints import wrong
from enquete.state.errors import EnqueteError, OverBudget, RunLocked

FAILED, WRONG = 1, 2
FLUSH_S = 0.5
OBJECTS_PER_COLLECTION = 50_000
"""Python's 700 cost a demo a tenth of its time, in looking through imported modules for what is garbage; memory is the same."""

# Typer carries its own copy of click in some versions, so the base of its usage errors is found through one of them.
UsageError: type[Exception] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    name="enquete",
    cls=Commands,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., int]] = {
    "demo": demo.demo,
    "estimate": costs.estimate,
    "run": driving.run,
    "resume": driving.resume,
    "status": looking.status,
    "list": looking.list_,
    "check": looking.check,
    "draft": draft.draft,
    "report": looking.report,
    "export": looking.export,
    "delete": removing.delete,
    "doctor": doctor.doctor,
    "new-method": scaffold.new_method,
    "mcp": mcp_command.mcp,
    "serve": serve.serve,
    "view": viewing.view,
}
WITH_SETTINGS = ("estimate", "run")
for name, command in COMMANDS.items():
    app.command(name, cls=SettingsCommand if name in WITH_SETTINGS else None)(command)
app.add_typer(remembering.memory, name="memory")


def print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"enquete {version('enquete')}\n")
        raise typer.Exit


@app.callback()
def enquete(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an internal error (also ENQUETE_DEBUG=1).")
    ] = False,
    version_: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Interview a simulated population the way a study commission would.

    \b
    First steps:
      enquete demo                     see it work, without a key
      enquete check my_simulation      what a simulation holds
      enquete draft my_simulation      instruments from what its agents wrote
      enquete estimate my_simulation   what a run would cost
      enquete run my_simulation        interview its agents
      enquete status my_simulation     how far it is, and what to do next
      enquete view                     start, watch and read studies in a browser
      enquete memory search my_simulation WORDS   find what was said
      enquete discover --help          single interviews that fill a record

    A simulation is named by its sim_id under --root or by its path. Settings come from options, then from the
    environment, then from .env: LLM_API_KEY, LLM_BASE_URL, LLM_MODEL_NAME, ENQUETE_ROOT, ENQUETE_LANGUAGE.

    \b
    Exit codes: 0 done · 1 failed · 2 wrong input or usage · 3 paused with a token
                4 awaiting the simulation or a person · 130 stopped at once
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point. Leaves through os._exit after a second interrupt, because requests may hang."""
    gc.set_threshold(OBJECTS_PER_COLLECTION, 20, 100)
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    if code == STOPPED:
        time.sleep(FLUSH_S)  # what has been answered reaches the ledger within milliseconds
        sys.stdout.flush()
        os._exit(STOPPED)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """The exit code of this command line; no exception and no traceback leaves it."""
    prepare_streams()
    try:
        return _run(arguments)
    except BrokenPipeError:  # `enquete … | head`: the reader has seen enough, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: list[str]) -> int:
    """Raises BrokenPipeError where nobody reads the output any more."""
    debug = "--debug" in arguments or os.environ.get("ENQUETE_DEBUG") == "1"
    words = [word for word in arguments if word != "--debug"]
    as_json = "--json" in words
    try:
        code = app(words or ["--help"], prog_name="enquete", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except BaseException as error:
        if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None  # Typer makes an exit of it
        if isinstance(error, SystemExit):  # the shell's completion ends like this
            return error.code if isinstance(error.code, int) else 0
        if debug and not isinstance(error, KeyboardInterrupt):
            traceback.print_exc()
        return complain(error, as_json)
    if code == STOPPED:
        return complain(KeyboardInterrupt(), as_json)
    return int(code or 0)


def complain(error: BaseException, as_json: bool) -> int:
    """Say what went wrong, in JSON on stdout or in words on stderr."""
    code, text = explain(error)
    if as_json:
        costs = {"estimate": error.estimate} if isinstance(error, OverBudget) else {}
        one_object({"error": {"type": type(error).__name__, "message": text}, "exit_code": code, **costs})
    else:
        remark(f"enquete: {text}")
    return code


def explain(error: BaseException) -> tuple[int, str]:
    """(exit code, message) of anything that can be raised."""
    if isinstance(error, RunLocked):
        return error.exit_code, f"{error} (watch it with: enquete status SIM)"
    if isinstance(error, EnqueteError):
        return error.exit_code, as_typed(str(error))
    if isinstance(error, UsageError):
        return WRONG, f"{_usage(error)} (see enquete --help, enquete COMMAND --help)"
    if isinstance(error, Stopped):
        return STOPPED, str(error)
    if isinstance(error, KeyboardInterrupt):
        return STOPPED, say("not_begun")
    if isinstance(error, typer.Abort):
        return FAILED, say("declined")
    if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.filename):
        return _of_files(error)
    if isinstance(error, sqlite3.OperationalError):
        return FAILED, f"the run's database cannot be used: {error}. Is the disk full or the folder read-only?"
    return FAILED, (
        f"internal error, {type(error).__name__}: {error}. What was answered is kept. "
        "Run the command again with --debug (or ENQUETE_DEBUG=1) for the traceback, and report it."
    )


def _usage(error: Exception) -> str:
    """Without the wording of whatever library read the value."""
    cause, about = error.__cause__, getattr(error, "param", None)
    if isinstance(cause, ValidationError) and about is not None:
        return f"{max(about.opts, key=len)}: {wrong(cause.errors()[0])}"
    message = getattr(error, "format_message", None)
    return str(message()) if callable(message) else str(error)


def _of_files(error: OSError) -> tuple[int, str]:
    """A file or folder that the system would not give us."""
    text = f"{error.filename}: {error.strerror or error}"
    if isinstance(error, PermissionError):
        return WRONG, f"{text}. If the simulation's folder is read-only, name a folder for the results with --out DIR"
    if isinstance(error, NotADirectoryError | FileExistsError | FileNotFoundError):
        return WRONG, f"{text}. Name a folder for the results that can be written to with --out DIR"
    return FAILED, text
