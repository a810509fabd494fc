"""The API's page: what its OpenAPI document says, as HTML without scripts, so that it works offline and runs nothing."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}table{border-collapse:collapse;margin:.5rem 0 2rem}"
    "td{border-top:1px solid #ccc;padding:.2rem .8rem .2rem 0;vertical-align:top}h2{font-size:1.1rem;margin-bottom:.2rem}"
)


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
    for name, field in _fields(document, operation).items():
        yield _row(name, f"body. {field.get('description', '')}")
    for code, answer in operation["responses"].items():
        yield _row(code, answer["description"])


def _fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the body, whose schema is a reference, or one or null."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    named = next((each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), None)
    if named is None:
        return {}
    fields: Mapping[str, Any] = document["components"]["schemas"][named.rpartition("/")[2]]["properties"]
    return fields


def _row(name: str, words: str) -> str:
    return f"<tr><td><code>{_text(name)}</code></td><td>{_text(words)}</td></tr>"


def _text(value: object) -> str:
    return html.escape(str(value))
