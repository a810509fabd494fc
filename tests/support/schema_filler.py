"""Fills a JSON schema with believable values that depend only on who is asked and on the property's path.

The same property gets the same value whichever attempt asks for it and whichever other properties stand beside it,
so answers of a resumed or repaired run can be compared with those of an undisturbed one. A property that is a question
of the prompt (q1, q2, …) is told from others of its name by the question's words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

JSON = Any  # schemas and values, as json.loads gives them

_WHO = "the town council|my neighbours|the younger families|local shop owners|the press office|our association|"
_WHO += "the project team|several residents|the older members|people at work|the mayor|two teachers|a nurse I know|"
_WHO += "the works council|most commuters|the tenants"
_DID = "asked for clear dates|took the criticism seriously|kept promising improvements|changed their minds twice|"
_DID += "wanted the figures published|argued about the costs|supported the compromise|lost patience with the delays|"
_DID += "spoke up for once|demanded a second meeting|trusted the first report|doubted the official story|"
_DID += "offered practical help|stayed away from the debate|shared their own experience|waited for the evaluation"
_WHEN = "after the meeting in March|once the plans were public|when the rents went up|during the second week|"
_WHEN += "before anybody had read the report|since the bridge was closed|when the first numbers came out|last autumn|"
_WHEN += "after the long silence|while the talks went on|as soon as the school was named|over the summer|"
_WHEN += "when the buses stopped running|after the hearing|at the very end|in the days after the vote"


def fill(schema: Mapping[str, JSON], who: str, asked: str = "") -> JSON:
    """A value that fits `schema`; `who` is the seed and the system prompt, in any form, `asked` the prompt's
    questions."""
    return _Filler(schema, who, dict(re.findall(r"^(q\d+)(?: \([A-Z]+\))?: (.*)$", asked, re.MULTILINE))).value(
        schema, ""
    )


def schema_in_prompt(text: str) -> Mapping[str, JSON] | None:
    """The schema on the line after the last `JSON schema:` line, or None."""
    lines = re.findall(r"^JSON schema:\n(.+)$", text, re.MULTILINE)
    try:
        schema = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return schema if isinstance(schema, dict) else None


def sentence(draw: int) -> str:
    """A short sentence; two draws give the same one only if they agree in all their low 40 bits."""
    parts = [words.split("|")[(draw >> shift) % 16] for words, shift in ((_WHO, 0), (_DID, 4), (_WHEN, 8))]
    text = f"{parts[0]} {parts[1]} {parts[2]}"
    return f"{text[0].upper()}{text[1:]}, file {(draw >> 12) % 2**28:07x}."


class _Filler:
    def __init__(self, root: Mapping[str, JSON], who: str, questions: Mapping[str, str]):
        self._root = root
        self._who = who
        self._questions = questions

    def draw(self, path: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._who}|{path}".encode("utf-8", "replace")).digest()[:8], "big")

    def value(self, schema: JSON, path: str) -> JSON:
        schema = self._plain(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][self.draw(path) % len(schema["enum"])]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = next((name for name in kind if name != "null"), "null")
        makers: dict[str, Callable[[Mapping[str, JSON], str], JSON]] = {
            "object": self._object,
            "array": self._array,
            "integer": self._integer,
            "number": self._number,
            "string": self._string,
            "boolean": self._boolean,
        }
        return makers[kind](schema, path) if kind in makers else None

    def _plain(self, schema: JSON) -> dict[str, JSON]:
        """Without $ref, anyOf, oneOf, allOf: references resolved, the first variant that is not null."""
        if not isinstance(schema, dict):
            return {}
        if "$ref" in schema:
            target: JSON = self._root
            for name in schema["$ref"].removeprefix("#/").split("/"):
                target = target[name] if name != "#" else target
            return self._plain({**target, **{key: part for key, part in schema.items() if key != "$ref"}})
        for name in ("anyOf", "oneOf"):
            if name in schema:
                variants = [self._plain(variant) for variant in schema[name]]
                return next((variant for variant in variants if variant.get("type") != "null"), {"type": "null"})
        if "allOf" in schema:
            merged = {key: part for key, part in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                merged |= self._plain(part)
            return merged
        return schema

    def _object(self, schema: Mapping[str, JSON], path: str) -> JSON:
        properties = schema.get("properties", {})
        known = {} if path else self._questions
        made = {name: self.value(part, f"{path}/{name}{known.get(name, '')}") for name, part in properties.items()}
        free = schema.get("additionalProperties")
        for number in range(schema.get("minProperties", 0) - len(made) if isinstance(free, dict) else 0):
            made[f"key_{number + 1}"] = self.value(free, f"{path}/key_{number + 1}")
        return made

    def _array(self, schema: Mapping[str, JSON], path: str) -> JSON:
        least = schema.get("minItems", min(1, schema.get("maxItems", 1)))
        most = max(least, min(schema.get("maxItems", least + 2), least + 3))
        length = least + self.draw(f"{path}#") % (most - least + 1)
        fixed = schema.get("prefixItems", [])
        items = [*fixed, *[schema.get("items", {})] * (length - len(fixed))][: max(length, len(fixed))]
        values = [self.value(item, f"{path}/{number}") for number, item in enumerate(items)]
        return self._unique(values, schema) if schema.get("uniqueItems") else values

    def _unique(self, values: list[JSON], schema: Mapping[str, JSON]) -> list[JSON]:
        kept: list[JSON] = []
        options = [*values, *self._plain(schema.get("items", {})).get("enum", [])]
        for value in options:
            if value not in kept and len(kept) < len(values):
                kept.append(value)
        return kept

    def _integer(self, schema: Mapping[str, JSON], path: str) -> int:
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        most = schema.get("maximum", schema.get("exclusiveMaximum", least + 11) - 1)
        step = schema.get("multipleOf", 1)
        first = -(-least // step)
        return int(step * (first + self.draw(path) % (most // step - first + 1)))

    def _number(self, schema: Mapping[str, JSON], path: str) -> float:
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        most = schema.get("maximum", schema.get("exclusiveMaximum", least + 1))
        return float(round(least + (most - least) * (1 + self.draw(path) % 99) / 100, 6))

    def _boolean(self, schema: Mapping[str, JSON], path: str) -> bool:
        return self.draw(path) % 2 == 1

    def _string(self, schema: Mapping[str, JSON], path: str) -> str:
        text = sentence(self.draw(path))
        while len(text) < schema.get("minLength", 0):
            text += " " + sentence(self.draw(path + text))
        return text[: schema.get("maxLength", len(text))]


# --- where a questionnaire's form stands in the prompt alone

_FORM_TOKEN = re.compile(r'"[^"]*"|0\.…|…|[{}\[\]:,]')
_OPTIONS = re.compile(r"^(?:(q\d+(?:(?: … |, )q\d+)*): |  )[^\W\d][^:=]*: (-?\w+(?: = .*)?(?:; .*)?)$")
_QUESTION = re.compile(r"^(q\d+)(?: \([A-Z]+\))?: ")


def schema_in_form(text: str) -> Mapping[str, JSON] | None:
    """Return the schema that the form in a questionnaire's prompt stands for; None where there is no form.

    A form shows the reply by example: {"q1" … "q14": {"value": …, "confidence": 0.…}, "q15": "…"}.
    """
    line = next((line for line in text.split("\n") if line.startswith('{"')), "")
    if not line:
        return None
    return _FormReader(_FORM_TOKEN.findall(line), _options_in(text)).object_schema()


def _options_in(text: str) -> dict[str, list[JSON]]:
    """The options of each question, by its name: those of several stand before all, those of one below it."""
    found: dict[str, list[JSON]] = {}
    asked = ""
    for line in text.split("\n"):
        options = _OPTIONS.match(line)
        if options is None:
            question = _QUESTION.match(line)
            asked = question[1] if question else asked
            continue
        names = _names(options[1]) if options[1] else [asked]
        values = [part.partition(" = ")[0].strip() for part in options[2].split("; ") if "`" not in part]
        plain: list[JSON] = [int(value) if value.lstrip("-").isdigit() else value for value in values]
        found |= dict.fromkeys(names, plain)
    return found


def _names(listed: str) -> list[str]:
    """q1 … q3 are q1, q2, q3."""
    first, _, last = listed.partition(" … ")
    if not last:
        return listed.split(", ")
    return [f"q{number}" for number in range(int(first[1:]), int(last[1:]) + 1)]


class _FormReader:
    def __init__(self, tokens: list[str], options: Mapping[str, list[JSON]]):
        self._tokens = tokens
        self._options = options
        self._place = 0

    def object_schema(self, asked: str = "") -> Mapping[str, JSON]:
        self._take("{")
        properties: dict[str, JSON] = {}
        while self._next() != "}":
            names = [self._take()]
            while self._next() in (",", "…"):
                is_range = self._take() == "…"
                until = self._take()
                names += (
                    [f'"{name}"' for name in _names(f"{names[-1][1:-1]} … {until[1:-1]}")[1:]] if is_range else [until]
                )
            self._take(":")
            start = self._place
            for quoted in names:
                name, self._place = quoted[1:-1], start
                properties[name] = self._shape(asked or name)
            if self._next() == ",":
                self._take()
        self._take("}")
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _shape(self, asked: str) -> JSON:
        token = self._next()
        if token == "{":
            return self.object_schema(asked)
        if token == "[":
            while self._take() != "]":
                pass
            options = self._options[asked]
            return {"type": "array", "items": {"enum": options}, "minItems": len(options), "uniqueItems": True}
        self._take()
        if token == '"…"':
            return {"type": "string"}
        if token == "0.…":
            return {"type": "number", "minimum": 0, "maximum": 1}
        options = self._options.get(asked, [])
        return {"enum": options} if options else {"type": "integer", "minimum": 0, "maximum": 10}

    def _next(self) -> str:
        return self._tokens[self._place]

    def _take(self, expected: str = "") -> str:
        token = self._next()
        assert not expected or token == expected, (token, expected, self._tokens)
        self._place += 1
        return token
