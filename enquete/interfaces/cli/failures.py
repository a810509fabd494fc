"""What the command line says when something went wrong, and the exit code it leaves with."""

from __future__ import annotations

import re
import shlex
import traceback
from functools import cache

import typer
from pydantic import ValidationError

from enquete.interfaces.cli.options import option_name
from enquete.interfaces.cli.terminal import STOPPED, Stopped, one_object, remark, say
from enquete.ledger.connection import DatabaseError
from enquete.state.complaints import wrong
from enquete.state.errors import EnqueteError, OverBudget, RunLocked
from enquete.state.request import RunRequest

# --- Errors name arguments as Python spells them; a terminal's reader types options. `methods=['delphi'] new=True` is
# `--methods delphi --new` here, `budget_tokens: …` is `--budget-tokens: …`, and a call is a command.

VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|…|[\w/+-][\w./:+-]*(?<![.:])"
CALL = re.compile(r"enquete\.(\w+)\(([^()]*)\)")
YES = "--yes"


def as_typed(text: str) -> str:
    """The message in a terminal's words."""
    text = CALL.sub(lambda call: shlex.join(["enquete", call[1], *_words(call[2])]), text)
    text = _said().sub(lambda said: _option(said[1], said[2]), text)
    return _about().sub(lambda begun: f"{begun[1]}{_named(begun[2], begun[3])}", text)


@cache
def _names() -> str:
    return "|".join(sorted(RunRequest.model_fields, key=len, reverse=True))


@cache
def _said() -> re.Pattern[str]:
    """`field=value`, anywhere."""
    return re.compile(rf"(?<![\w.-])({_names()})=({VALUE})")


@cache
def _about() -> re.Pattern[str]:
    """`field: …` or `field.key: …`, where a complaint begins."""
    return re.compile(rf"(^|; )({_names()})((?:\.[\w./-]+)?)(?=: )")


def _option(field: str, value: str) -> str:
    option = YES if field == "confirm" else option_name(field)
    if value in ("True", "False"):
        return option if value == "True" else f"--no-{option[2:]}"
    if value == "…":
        return option
    return f"{option} {_plain(value)}"


def _plain(value: str) -> str:
    """`['a', 'b']` → a,b; `{'delphi': FILE}` → delphi=FILE."""
    if value[0] == "{":
        return re.sub(r"['\"]?(\w+)['\"]?: ", r"\1=", value.strip("{}"))
    return re.sub(r",\s*", ",", re.sub(r"['\"\[\]]", "", value))


def _named(field: str, key: str) -> str:
    return f"{option_name(field)} {key[1:]}" if key else option_name(field)


def _words(arguments: str) -> list[str]:
    return [word.strip(" '\"") for word in arguments.split(",") if word.strip()]


FAILED, WRONG = 1, 2

# Typer carries its own copy of click in some versions, so the base of its usage errors is found through one of them.
UsageError: type[Exception] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def report_error(error: BaseException, as_json: bool, debug: bool = False) -> int:
    """The exit code, having said what went wrong: in JSON on stdout or in words on stderr."""
    if debug and not isinstance(error, KeyboardInterrupt):
        traceback.print_exception(error)
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
    if isinstance(error, DatabaseError):
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
