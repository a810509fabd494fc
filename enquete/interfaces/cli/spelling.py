"""Errors name arguments as Python spells them; a terminal's reader types options. `methods=['delphi'] new=True` is
`--methods delphi --new` here, `budget_tokens: …` is `--budget-tokens: …`, and a call is a command."""

from __future__ import annotations

import re
import shlex
from functools import cache

from enquete.interfaces.cli.options import option_name
from enquete.state.request import RunRequest

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
