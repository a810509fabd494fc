"""The API's page: what its OpenAPI document says, as HTML without scripts, so that it works offline and runs nothing."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any

from enquete.state.showing import visible

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}table{border-collapse:collapse;margin:.5rem 0 2rem}"
    "td{border-top:1px solid #ccc;padding:.2rem .8rem .2rem 0;vertical-align:top}h2{font-size:1.1rem;margin-bottom:.2rem}"
)
KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def page(document: Mapping[str, Any]) -> str:
    """One section a path: what it does, what it takes, what it answers."""
    info = document["info"]
    body = "".join(_sections(document))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{_text(info['title'])}</title>"
        f"<style>{STYLE}</style><h1>{_text(info['title'])} {_text(info['version'])}</h1>"
        f"<p>{_text(info['description'])}</p><p><a href='openapi.json'>OpenAPI document</a></p>{body}</html>"
    )


def _sections(document: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"<h2><code>{_text(method.upper())} {_text(path)}</code></h2><p>{_text(operation['description'])}</p>"
            yield f"<table>{''.join(_rows(document, operation))}</table>"


def _rows(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        yield _row(parameter["name"], f"{parameter['in']}. {parameter.get('description', '')}")
    schema = _body(document, operation)
    for name, field in schema.get("properties", {}).items():
        said = _default(field, needed=name in schema.get("required", ()))
        yield _row(name, f"body, {_kind(field)}, {said}. {_meaning(field)}")
    for code, answer in sorted(operation["responses"].items()):
        yield _row(code, answer["description"])


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the body, which is a reference, or one or null; empty where there is none."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    named = next((each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), None)
    if named is None:
        return {}
    body: Mapping[str, Any] = document["components"]["schemas"][named.rpartition("/")[2]]
    return body


def _kind(schema: Mapping[str, Any]) -> str:
    """What may be sent, in few words: "text", "whole number", "list of text", one of the words there are."""
    parts = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if parts:
        return " or ".join(map(_kind, parts))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    return KINDS.get(kind, "any value") + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    """Bounds of a number."""
    said = [f"{sign} {schema[name]:,.15g}" for name, sign in BOUNDS.items() if name in schema]
    return f" ({', '.join(said)})" if said else ""


def _default(schema: Mapping[str, Any], *, needed: bool) -> str:
    """A default of null, which the document leaves out, means that the server decides."""
    if needed:
        return "needed"
    return f"{json.dumps(schema['default'])} unless sent" if schema.get("default") is not None else "may be left out"


def _meaning(schema: Mapping[str, Any]) -> str:
    """Said of the field, or of the one type that it may have beside null."""
    found = (part.get("description", "") for part in (schema, *schema.get("anyOf", ())))
    return next(filter(None, found), "")


def _row(name: str, words: str) -> str:
    return f"<tr><td><code>{_text(name)}</code></td><td>{_text(words)}</td></tr>"


def _text(value: object) -> str:
    return html.escape(visible(str(value)))
