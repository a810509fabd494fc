"""Discovery schemas by name, by YAML file, or in the annotated JSON form, whose leaves are {val, comment} examples:

    {"message-type": "discovery-schema", "DS": "flow-shop", "budget-decrement": 0.1, "interview-objective": "Learn how …",
     "complete-when": "exhausted?", "discovery-schema": {"process-id": {"val": "mixing", "comment": "what it is called"}, …}}

A property that ends in -id is the key of the list it stands in; annotations become descriptions and examples, then go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from enquete.graphs.discovery.schema import DiscoverySchema
from enquete.instruments.layers import load_layer
from enquete.instruments.load import validate_instrument
from enquete.instruments.source import MOST_BYTES, read_source
from enquete.state.errors import InstrumentError
from enquete.state.regular_files import read_regular

KEY = "-id"
BODY = ("discovery-schema", "body", "DS-body")


def load_schema(name: str, shelf: str | None = None) -> DiscoverySchema:
    """A shipped schema, else a file; with a `shelf`, a folder, what lies there, and no path. Raises InstrumentError."""
    if shelf is not None or Path(name).suffix != ".json":
        return load_layer(DiscoverySchema, "discovery", name, shelf)
    path = Path(name).expanduser()
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise InstrumentError([f"{path}: cannot be read ({error.strerror or error})"]) from None
    return from_json(raw, str(path))


def from_json(raw: bytes, name: str) -> DiscoverySchema:
    """The annotated form. Raises InstrumentError."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InstrumentError([f"{name}: no JSON: {error}"]) from None
    body = next((found[key] for key in BODY if isinstance(found, dict) and key in found), None)
    if not isinstance(body, dict) or not body:
        raise InstrumentError([f"{name}: has no `{BODY[0]}`, an object whose leaves are {{val, comment}}"])
    made: dict[str, Any] = {
        "id": str(found.get("DS") or found.get("ds-id") or Path(name).stem),
        "version": str(found.get("version", "1")),
        "title": str(found.get("title") or found.get("DS") or Path(name).stem),
        "language_default": "en",
        "objective": str(found.get("interview-objective") or found.get("objective") or ""),
        "fields": _fields(body),
    }
    if "budget-decrement" in found:
        made["decrement"] = found["budget-decrement"]
    if "complete-when" in found:
        made["complete"] = str(found["complete-when"])
    elif not any(field.get("required") for field in made["fields"].values()):
        for field in made["fields"].values():  # then all of it is wanted
            field["required"] = True
    return validate_instrument(DiscoverySchema, read_source(name, json.dumps(made, ensure_ascii=False).encode()))


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _field(name, given) for name, given in body.items()}


def _field(name: str, given: Any) -> dict[str, Any]:
    comment, value = (
        (given.get("comment", ""), given["val"]) if isinstance(given, Mapping) and "val" in given else ("", given)
    )
    made: dict[str, Any] = {"label": name.replace("-", " ").rstrip("?"), **_typed(name, value)}
    if comment:
        made["description"] = str(comment)
    if made["type"] in ("text", "texts"):
        examples = [str(each) for each in (value if isinstance(value, list) else [value]) if str(each).strip()]
        made |= {"examples": {"en": examples}} if examples else {}
    return made


def _typed(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool) or (name.endswith("?") and value is None):
        return {"type": "boolean"} | ({"closing": True} if name.startswith("exhausted") else {})
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, Mapping):
        return {"type": "object", "fields": _fields(value)}
    if isinstance(value, list) and value and isinstance(_plain(value[0]), Mapping):
        return _list(name, [_plain(each) for each in value if isinstance(_plain(each), Mapping)])
    return {"type": "texts" if isinstance(value, list) else "text"}


def _plain(value: Any) -> Any:
    return value["val"] if isinstance(value, Mapping) and "val" in value else value


def _list(name: str, entries: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Of objects: what any of the examples has, told apart by the property that ends in -id, else by the first."""
    parts: dict[str, Any] = {}
    for entry in entries:
        parts |= {each: value for each, value in entry.items() if each not in parts}
    key = next((each for each in parts if each.endswith(KEY)), next(iter(parts)))
    nests = name in parts
    own = {each: value for each, value in parts.items() if each not in (key, name)}
    if not own:
        own = {"note": ""}
    return {"type": "list", "key": key, "fields": _fields(own), **({"nested": 3} if nests else {})}
