"""Published schemas without what no caller needs: a calling model has the definitions of all tools in its context all the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = ("properties", "$defs", "patternProperties")
"""Keywords whose members are called by names of our own."""
LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")
MADE_UP = ("title",)
"""By pydantic, of the names."""
TOLD_ELSEWHERE = ("description", "default", "required")
"""Of results: docs/mcp.md says what they hold, and whatever a schema names is always there."""
NULL = {"type": "null"}

Schema = dict[str, Any]


def input_schema(schema: Schema) -> Schema:
    """What may be left out is left out rather than null, which is taken all the same; a text that is too long is told by the
    tool. Nothing else is taken."""
    short = _without(schema, (*MADE_UP, *LENGTHS))
    said = {name: _not_null(one) for name, one in short["properties"].items()}
    return {**short, "properties": said, "additionalProperties": False}


def output_schema(schema: Schema) -> Schema:
    """Names and kinds."""
    return _without(schema, (*MADE_UP, *TOLD_ELSEWHERE))


def _without(schema: Mapping[str, Any], left_out: tuple[str, ...]) -> Schema:
    short: Schema = {}
    for key, value in schema.items():
        if (key, value) == ("additionalProperties", True):  # holds unless said
            continue
        if key in NAMES:
            short[key] = {name: _without(one, left_out) for name, one in value.items()}
        elif isinstance(value, dict):
            short[key] = _without(value, left_out)
        elif key == "anyOf":
            short |= _either([_without(one, left_out) for one in value])
        elif key not in left_out:
            short[key] = value
    return short


def _either(kinds: list[Schema]) -> Schema:
    """A kind or null, where that is a matter of `type` alone."""
    others = [one for one in kinds if one != NULL]
    if len(others) == len(kinds) or len(others) > 1 or "$ref" in others[0] or "enum" in others[0]:
        return {"anyOf": kinds}
    return {**others[0], "type": [others[0]["type"], "null"]}


def _not_null(argument: Schema) -> Schema:
    """Of one that is null where it is not sent."""
    if argument.get("default", ...) is not None:
        return argument
    kept = {key: value for key, value in argument.items() if key != "default"}
    if isinstance(kept.get("type"), list):
        kept["type"] = kept["type"][0]
    if "anyOf" in kept:
        others = [one for one in kept.pop("anyOf") if one != NULL]
        kept |= others[0] if len(others) == 1 else {"anyOf": others}
    return kept
