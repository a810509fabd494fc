"""What is wrong with a value, in our own words, not a library's: which argument, what was given, what is taken."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

MOST_CHARS = 60


def complaints(error: ValidationError) -> str:
    return "; ".join(map(complaint, error.errors(include_url=False)))


def complaint(error: ErrorDetails) -> str:
    """`budget_tokens: '10k' is not taken; write a whole number such as 10000`."""
    where = ".".join(str(step) for step in error["loc"] if not isinstance(step, int))
    return f"{where}: {wrong(error)}" if where else wrong(error)


def wrong(error: ErrorDetails) -> str:
    """The same without the argument's name."""
    kind = error["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "there is no such field"
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    return f"{shown(error['input'])} is not taken; write {_wanted(error, context)}"


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"


def _wanted(error: ErrorDetails, context: Mapping[str, Any]) -> str:
    kind = error["type"]
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    wanted = WANTED.get(kind)
    if wanted is not None:
        return wanted.format(**context)
    return next((text for ending, text in KINDS.items() if kind.startswith(ending)), "") or _of_the_library(error)


def _of_the_library(error: ErrorDetails) -> str:
    """What nobody has met yet, shortened to what is wanted."""
    text = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ").partition(",")[0]
    return text[:1].lower() + text[1:]


WANTED: Mapping[str, str] = {
    "greater_than": "a number above {gt:,}",
    "greater_than_equal": "a number from {ge:,} on",
    "less_than": "a number below {lt:,}",
    "less_than_equal": "a number up to {le:,}",
    "string_too_short": "a text of at least {min_length} characters",
    "string_too_long": "a text of at most {max_length:,} characters",
    "too_short": "a list of at least {min_length} entries",
    "too_long": "a list of at most {max_length:,} entries",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "finite_number": "a finite number",
    "json_invalid": "JSON",
}
KINDS: Mapping[str, str] = {
    "int_": "a whole number such as 10000",
    "float_": "a number such as 0.5",
    "bool_": "true or false",
    "string_": "a text",
    "list_": "a list of names",
    "tuple_": "a list",
    "dict_": "a mapping of names to values",
    "model_": "a mapping of names to values",
}


def of_argument(error: ErrorDetails, known: Iterable[str]) -> str:
    """The value of an unknown argument is not shown: it may be a key."""
    if error["type"] != "extra_forbidden":
        return complaint(error)
    field = ".".join(map(str, error["loc"]))
    like = difflib.get_close_matches(field, list(known), n=1)
    return f"{field}: no such argument" + (f"; did you mean {like[0]!r}?" if like else "")
