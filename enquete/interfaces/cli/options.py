"""Options of the commands, made of RunRequest's fields and of every methodology's settings, and what was typed read
back.

Values stay text: the façade reads them, and names the bad value where typer does not. Settings (`--turns 20`) are
another spelling of `--set`. The registry takes seconds to import: it is asked only where a line names more than a
command's own options.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import shlex
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from enquete.interfaces.cli.terminal import STOPPED, Stopped, one_object, remark, say
from enquete.interfaces.parameters import FILLED_IN, Parameter, kinds_of, meaning
from enquete.state.errors import EnqueteError, OverBudget, RunLocked, SettingsError, machine_limit, wrong
from enquete.state.request import SHIPPED, About, MemorySearch, ModelLimits, RunRequest, fields_about, mark_of


def options_about(*about: About) -> dict[str, Parameter]:
    """Parameters of a command by field, for `with_parameters`."""
    return options_for(*fields_about(*about, at="cli"))


def options_for(*fields: str, model: type[BaseModel] = RunRequest) -> dict[str, Parameter]:
    """Parameters of a command that takes these of a request's fields."""
    return {name: _parameter(name, model) for name in fields}


def _parameter(field: str, model: type[BaseModel]) -> Parameter:
    info = model.model_fields[field]
    kinds = kinds_of(info.annotation)
    of = bool if kinds == (bool,) else list[str] if _is_repeated(info) else str
    default = info.default if of is bool else None
    return Annotated[of | None if default is None else of, option_of(field, model)], default


def _is_repeated(info: FieldInfo) -> bool:
    """METHOD=FILE, once for each; names, which add up."""
    return get_origin(kinds_of(info.annotation)[0]) in (dict, list)


def option_name(field: str, model: type[BaseModel] = RunRequest) -> str:
    """As it is typed."""
    return mark_of(field, model).option or f"--{field.replace('_', '-')}"


def option_of(field: str, model: type[BaseModel] = RunRequest) -> Any:
    """The option of a field, for typer."""
    info, mark, name = model.model_fields[field], mark_of(field, model), option_name(field, model)
    is_switch = kinds_of(info.annotation) == (bool,)
    return typer.Option(
        f"{name}/--no-{name[2:]}" if is_switch and info.default is None else name,
        metavar=None if is_switch else mark.value or _metavar(info.annotation),
        help=help_of(field, model),
        show_default=False,
    )


def help_of(field: str, model: type[BaseModel] = RunRequest) -> str:
    """What a field is for, as a sentence."""
    info, more = model.model_fields[field], mark_of(field, model).more
    told = meaning(field, info)
    again = "; may be repeated" if _is_repeated(info) else ""
    return f"{told[0].upper()}{told[1:]}{again}{f' ({more})' if more else ''}."


def _metavar(annotation: Any) -> str:
    """What stands for the value in the help."""
    kind = kinds_of(annotation)[0]
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "NUMBER", str: "TEXT", list: "A,B"}.get(get_origin(kind) or kind, "JSON")


Sim: TypeAlias = Annotated[str, typer.Argument(metavar="SIM", help=f"{RunRequest.model_fields['sim'].description}.")]
Root: TypeAlias = Annotated[str | None, option_of("root")]
Out: TypeAlias = Annotated[str | None, option_of("out")]
Store: TypeAlias = Annotated[str | None, option_of("store")]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout, for errors too, and nothing else.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
RunId: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="run_id or resume token; else the one that matters most now.")
]

# --- Settings of methodologies as options ----------------------------------------------------------------------------

Models: TypeAlias = Mapping[str, type[BaseModel]]
"""Methodology → its settings."""
SET = "settings"  # the parameter of --set
HELP = frozenset({"-h", "--help"})


@dataclass(frozen=True)
class SettingFlag:
    """One field of one methodology's settings. `names`: without dashes; the methodology's own form is always there."""

    method: str
    field: str
    info: FieldInfo
    names: tuple[str, ...]

    @property
    def parameter(self) -> inspect.Parameter:
        is_switch = kinds_of(self.info.annotation) == (bool,)
        forms = [f"--{name}/--no-{name}" if is_switch else f"--{name}" for name in self.names]
        told = f"{self.method}: {meaning(self.field, self.info)}."
        metavar = None if is_switch else _metavar(self.info.annotation)
        option = typer.Option(*forms, metavar=metavar, help=told, show_default=False)
        kind = Annotated[bool | None, option] if is_switch else Annotated[str | None, option]
        name = f"{self.method}__{self.field}"
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)

    def as_set(self, value: object) -> str:
        """`laddering.turns=20`; a text stays one, even where it looks like a number."""
        is_text = any(kind is str or get_origin(kind) is Literal for kind in kinds_of(self.info.annotation))
        return f"{self.method}.{self.field}={json.dumps(value) if isinstance(value, bool) or is_text else value}"


def registered() -> Models:
    """Settings of every methodology there is."""
    from enquete.methods.registry import methodologies  # noqa: PLC0415 - the graphs need seconds to import

    return {name: methodology.settings for name, methodology in methodologies().items()}


def setting_flags(models: Models, taken: Collection[str]) -> list[SettingFlag]:
    """`taken`: option names of the command itself. A name that is taken or shared needs the methodology's in front."""
    fields = [
        (method, field, info)
        for method, model in models.items()
        for field, info in model.model_fields.items()
        if field not in FILLED_IN
    ]
    times = Counter(field for _, field, _ in fields)
    flags = []
    for method, field, info in fields:
        short, long = field.replace("_", "-"), f"{method}-{field}".replace("_", "-")
        is_free = times[field] == 1 and f"--{short}" not in taken
        flags.append(SettingFlag(method, field, info, (short, long) if is_free else (long,)))
    return flags


def settings_command(
    name: str, function: Callable[..., int], words: Sequence[str] | None, models: Callable[[], Models] = registered
) -> Any:
    """The command of a function that has --set, for a line of these words (None: not known). A line that names none but
    the command's own options is parsed without the settings: all together take .1 s to import."""
    plain = make_command(name, function)
    taken = {option for param in plain.params for option in (*param.opts, *param.secondary_opts)} | HELP
    named = {word.partition("=")[0] for word in words or () if word.startswith("-")}
    shown = None
    if words is not None and named <= taken:
        shown = _methods_in(words) if named & HELP else set()
    if shown == set():
        if named & HELP:
            names = "Names: enquete list methods."
            plain.epilog = f"\b\nSettings of a methodology: enquete {name} --methods NAME --help. {names}"
        return plain
    every = {f"{flag.method}__{flag.field}": flag for flag in setting_flags(models(), taken)}
    flags = {key: flag for key, flag in every.items() if shown is None or flag.method in shown}

    def with_settings(**typed: Any) -> int:
        values = {key: value for key in flags if (value := typed.pop(key)) is not None}
        return function(
            **{**typed, SET: [*(typed[SET] or ()), *(flags[key].as_set(value) for key, value in values.items())]}
        )

    fixed = inspect.signature(function).parameters.values()
    signature = inspect.Signature([*fixed, *(flag.parameter for flag in flags.values())])
    with_settings.__signature__ = signature  # type: ignore[attr-defined]  # what typer looks for
    with_settings.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    with_settings.__doc__ = function.__doc__
    return make_command(name, with_settings)


def make_command(name: str, function: Callable[..., int]) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name)(function)
    return typer.main.get_command(app)


def _methods_in(words: Sequence[str]) -> set[str]:
    after = [value for word, value in pairwise(words) if word == "--methods"]
    within = [word.removeprefix("--methods=") for word in words if word.startswith("--methods=")]
    return {name for value in (*after, *within) for name in value.split(",")}


# --- From what was typed to the façade's arguments -------------------------------------------------------------------


def facade_arguments(typed: Mapping[str, Any]) -> dict[str, Any]:
    """From options by field of RunRequest. Raises SettingsError."""
    read = {name: _read(name, value) for name, value in typed.items()}
    if read.get(SET):
        require_known(read[SET])
    if read.get("replay_of") and not read.get("respondent"):
        read["respondent"] = "replay"
    # Only what was said. Of a switch with two sides "no" is something said: it beats the environment's "yes".
    return {name: value for name, value in read.items() if value is not None and value is not False}


def _read(name: str, value: Any) -> Any:
    """Options that are more than one word; every other as it is."""
    if name in READERS:
        return READERS[name](value)
    info = RunRequest.model_fields.get(name)
    is_list = info is not None and get_origin(kinds_of(info.annotation)[0]) is list
    return read_names(option_name(name), value) if is_list else value


def require_known(settings: Mapping[str, Collection[str]], models: Models | None = None) -> None:
    """Raises SettingsError naming the nearest setting. A methodology that does not exist is the façade's to refuse."""
    known = registered() if models is None else models
    for method, keys in settings.items():
        fields = list(known[method].model_fields) if method in known else list(keys)
        for key in keys:
            if key not in fields:
                right = _nearest(key, fields) if fields else f"{method} has none: what it asks is its instrument's"
                raise SettingsError(f"--set {method}.{key}: no such setting; {right}")


def _nearest(key: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def read_names(option: str, texts: Iterable[str] | None) -> list[str] | None:
    """["a,b", "c"] → ["a", "b", "c"]. Raises SettingsError where nothing is named."""
    all_names: list[str] = []
    for text in texts or ():
        names = [name.strip() for name in text.split(",") if name.strip()]
        if not names:
            raise SettingsError(f"{option} {text!r}: name at least one, separated by commas")
        all_names += names
    return list(dict.fromkeys(all_names)) or None


def read_instruments(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """`longitudinal=my.yaml` → {"longitudinal": "my.yaml"}; `longitudinal=shipped` is ours. Raises SettingsError."""
    files: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise SettingsError(f"--instrument {pair!r}: METHOD=FILE is expected, such as longitudinal=my.yaml")
        if name in files:
            raise SettingsError(f"--instrument {pair!r}: {name} has been given {files[name]!r} already")
        files[name] = path if path == SHIPPED else str(Path(path).expanduser())
    return files or None


def read_settings(pairs: Iterable[str] | None) -> dict[str, dict[str, Any]] | None:
    """`delphi.key=3` → {"delphi": {"key": 3}}; values are JSON where they can be read as such, else text."""
    settings: dict[str, dict[str, Any]] = {}
    for pair in pairs or ():
        path, equals, text = pair.partition("=")
        method, dot, key = path.partition(".")
        if not (method and dot and key and equals):
            raise SettingsError(f"--set {pair!r}: METHOD.KEY=VALUE is expected")
        if key in settings.setdefault(method, {}):
            raise SettingsError(f"--set {pair!r}: {method}.{key} has been set already")
        try:
            settings[method][key] = json.loads(text)
        except ValueError:
            settings[method][key] = text
    return settings or None


def read_limits(pairs: Iterable[str] | None) -> dict[str, dict[str, str]] | None:
    """`gpt-5.1.concurrency=4` → {"gpt-5.1": {"concurrency": "4"}}: names of models hold dots. Raises SettingsError."""
    limits: dict[str, dict[str, str]] = {}
    for pair in pairs or ():
        path, equals, text = pair.rpartition("=")
        model, dot, key = path.rpartition(".")
        if not (model and dot and key and equals and text):
            example = "my-model.requests_per_minute=60"
            raise SettingsError(f"--limit {pair!r}: MODEL.KEY=VALUE is expected, such as {example}")
        if key not in ModelLimits.model_fields:
            raise SettingsError(f"--limit {pair!r}: no such limit {key!r}; {_nearest(key, ModelLimits.model_fields)}")
        if key in limits.setdefault(model, {}):
            raise SettingsError(f"--limit {pair!r}: {model}.{key} has been set already")
        limits[model][key] = text
    return limits or None


READERS: Mapping[str, Callable[[Any], Any]] = {
    "instruments": read_instruments, "settings": read_settings, "limits": read_limits,
}  # fmt: skip


# --- What the command line says when something went wrong, and the exit code it leaves with. Errors name arguments as
# Python spells them; a terminal's reader types options. `methods=['delphi'] new=True` is `--methods delphi --new` here,
# `budget_tokens: …` is `--budget-tokens: …`, and a call is a command.

VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|…|[\w/+-][\w./:+-]*(?<![.:])"
CALL = re.compile(r"enquete\.(\w+)\(([^()]*)\)")
YES = "--yes"


def as_typed(text: str) -> str:
    """The message in a terminal's words."""
    text = CALL.sub(lambda call: shlex.join(["enquete", call[1], *_words(call[2])]), text)
    argument, complaint = _patterns()
    text = argument.sub(lambda match: _option(match[1], match[2]), text)
    return complaint.sub(lambda begun: f"{begun[1]}{_named(begun[2], begun[3])}", text)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """`field=value`, anywhere; `field: …` or `field.key: …`, where a complaint begins."""
    requests = (RunRequest, MemorySearch)
    names, searched = ("|".join(sorted(each.model_fields, key=len, reverse=True)) for each in requests)
    argument = rf"(?<![\w.-])({names})=({VALUE})"
    complaint = rf"(^|; )({names}|{searched})((?:\.[\w./-]+)?)(?=: )"
    return re.compile(argument), re.compile(complaint)


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
    option = option_name(field, RunRequest if field in RunRequest.model_fields else MemorySearch)
    return f"{option} {key[1:]}" if key else option


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
    limit = machine_limit(error)
    if limit:
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        return FAILED, f"{where}{limit}"
    if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.filename):
        return _of_files(error)
    from enquete.ledger.connection import DatabaseError  # noqa: PLC0415 - what went well needs none of it

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
