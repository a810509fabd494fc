"""`enquete`: the command line over the façade. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 1 failed, 2 wrong input or usage, 3 paused with a token, 4 awaiting the simulation or a person,
130 stopped at once.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from enquete.interfaces.cli.terminal import STOPPED, prepare_streams
from enquete.state import collect_seldom, loaded

# --- The commands there are, each with the module that has it: `enquete --help` imports none of them (but the
# declarations of methodologies, which have commands, too), a command its own alone.


class Listed(NamedTuple):
    """`path`: module:function beside this one, or a Typer app of further commands."""

    path: str
    about: str
    with_settings: bool = False
    """Takes every methodology's settings as options."""


COMMANDS: Mapping[str, Listed] = {
    "demo": Listed("run_commands:demo", "Interview a bundled population, without a key"),
    "estimate": Listed("run_commands:estimate", "Say what a run would cost", with_settings=True),
    "run": Listed("run_commands:run", "Interview every agent of a simulation", with_settings=True),
    "resume": Listed("run_commands:resume", "Go on with an unfinished run"),
    "status": Listed("store:status", "How far a run is, and what to do next"),
    "list": Listed("store:list_", "Simulations, their runs, the methodologies"),
    "check": Listed("methods:check", "What a simulation or an instrument holds and lacks"),
    "draft": Listed("methods:draft", "Draft instruments from what a simulation's agents wrote, or from personas"),
    "report": Listed("store:report", "Print a run's report"),
    "export": Listed("store:export", "Write a run's report, figures and data files again"),
    "delete": Listed("store:delete", "Delete runs of a simulation"),
    "doctor": Listed("doctor:doctor", "Look whether everything needed is here"),
    "new-method": Listed("methods:new_method", "Lay out a methodology of your own"),
    "mcp": Listed("serve_commands:mcp", "Offer the interviews to a model (MCP)"),
    "serve": Listed("serve_commands:serve", "Serve the web page and the HTTP API"),
    "view": Listed("serve_commands:view", "Open the web page on this machine"),
    "memory": Listed("store:memory", "Find interviews again, send them to a graph"),
}


class Commands(TyperGroup):
    """Those above, and those of methodologies where a name is none of them."""

    def __init__(self, **declared: Any) -> None:
        super().__init__(**declared)
        # Read by name, for what was meant by a wrong one.
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            from enquete.interfaces.cli.methods import method_command  # noqa: PLC0415 - graphs need a second

            return method_command(cmd_name)
        if self.commands[cmd_name] is None:
            words = None if ctx is None or ctx.resilient_parsing else (ctx.obj or {}).get(WORDS)
            self.commands[cmd_name] = _made(cmd_name, COMMANDS[cmd_name], words)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.about) for name, listed in COMMANDS.items()])
        from enquete.methods.registry import methodologies  # noqa: PLC0415 - not for a command of its own

        offers = (method.offers for method in methodologies().values())
        with formatter.section("Commands of methodologies, beside a run"):
            formatter.write_dl([(offer.command, offer.taken_for) for offer in offers if offer])


def _made(name: str, listed: Listed, words: Sequence[str] | None) -> Any:
    from enquete.interfaces.cli.options import make_command, settings_command  # noqa: PLC0415 - not for --help

    command = loaded(f"enquete.interfaces.cli.{listed.path}")
    if isinstance(command, typer.Typer):
        return typer.main.get_command(command)
    return settings_command(name, command, words) if listed.with_settings else make_command(name, command)


WORDS = "words"
"""In a context: what was typed."""
FLUSH_S = 0.5

app = typer.Typer(
    name="enquete",
    cls=Commands,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - reads mail headers, with all that takes

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
    collect_seldom()
    # Before numpy is loaded: on tables of this size threads spin more than they add.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    if code == STOPPED:
        time.sleep(FLUSH_S)  # what has been answered reaches the ledger within milliseconds
        sys.stdout.flush()
        os._exit(STOPPED)
    gc.freeze()  # or all that was loaded is looked through for garbage once more: half a second after a run
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
        code = app(words or ["--help"], prog_name="enquete", standalone_mode=False, obj={WORDS: words})
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except BaseException as raised:
        if isinstance(raised, SystemExit) and isinstance(raised.__context__, BrokenPipeError):
            raise raised.__context__ from None  # Typer makes an exit of it
        if isinstance(raised, SystemExit):  # the shell's completion ends like this
            return raised.code if isinstance(raised.code, int) else 0
        error = raised
    else:
        if code != STOPPED:
            return int(code or 0)
        error = KeyboardInterrupt()
    from enquete.interfaces.cli.options import report_error  # noqa: PLC0415 - what went well needs none of it

    return report_error(error, as_json, debug)
