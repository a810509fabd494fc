"""Validation errors of pydantic, told in the terms of the file: line, field, bad value, what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from enquete.instruments.reading import LANGUAGES, shown, suggestion
from enquete.instruments.source import QUOTE, Path, Source, field_name, read_as
from enquete.instruments.text import LANGUAGE_NAMES, Part, Text


def validation_problems(error: ValidationError, model: type[BaseModel], source: Source) -> list[tuple[int, str]]:
    """One (line, message) for each problem. Where quotes are missing, nothing else is said of the same entry."""
    found = error.errors(include_url=False)
    unquoted = {loc[:-1] for one in found if one["type"] == "extra_forbidden" and is_prose((loc := one["loc"])[-1])}
    return [
        _problem(details, model, source)
        for details in found
        if (details["type"] == "extra_forbidden" and is_prose(details["loc"][-1]))
        or not any(part and details["loc"][: len(part)] == part for part in unquoted)
    ]


def is_prose(key: object) -> bool:
    """Words of a text that YAML took for a key: keys are one word in small letters."""
    return isinstance(key, str) and (" " in key.strip() or key[:1].isupper() or key.endswith(("?", "!", ".")))


UNQUOTED = f"is a piece of a text that a colon, a comma or a question mark has cut: {QUOTE}"


def _problem(details: ErrorDetails, model: type[BaseModel], source: Source) -> tuple[int, str]:
    path = written_path(tuple(step for step in details["loc"] if step != "[key]"), source)
    line = source.line(_present(path, source))
    # The key of a mapping is its own spelling; for a value it is what stands at its place.
    written = str(details["input"]) if details["loc"][-1:] == ("[key]",) else source.written.get(path)
    message = _MESSAGES.get(details["type"], _other)(details, model, written)
    where = field_name(path)
    return line, f"{source.name}:{line}: {where}: {message}" if where else f"{source.name}:{line}: {message}"


def written_path(loc: Path, source: Source) -> Path:
    """The place that pydantic's location means: ('title', 'en') may stand in the file as `title_en` or as `en`."""
    path: list[str | int] = []
    node: object = source.document
    steps = list(loc)
    while steps:
        if isinstance(node, str | int | float) and steps[0] not in LANGUAGES:
            break  # beyond a plain value: one of its possible types
        step = steps.pop(0)
        if steps and steps[0] in LANGUAGES and isinstance(node, Mapping) and step not in node:
            step = _flat_key(node, str(step), str(steps.pop(0)))
        path.append(step)
        node = _child(node, step)
    return tuple(path)


def _present(path: Path, source: Source) -> Path:
    """`path`, or the same text in another language where this one is missing."""
    last = str(path[-1]) if path else ""
    if path in source.lines or last[-2:] not in LANGUAGES:
        return path
    others = ((*path[:-1], last[:-2] + language) for language in LANGUAGES)
    return next((other for other in others if other in source.lines), path)


def _flat_key(node: Mapping[object, object], name: str, language: str) -> str:
    flat = any(f"{name}_{other}" in node for other in LANGUAGES)
    return f"{name}_{language}" if flat else language


def _child(node: object, step: str | int) -> object:
    if isinstance(node, Mapping):
        # pydantic names the key of a mapping in its validated form: 1 for the written '1'
        return node.get(step, next((value for key, value in node.items() if str(key) == str(step)), None))
    if isinstance(node, list) and isinstance(step, int) and step < len(node):
        return node[step]
    return None


def model_at(model: type[BaseModel], loc: Path) -> type[BaseModel] | None:
    """The model whose fields stand at `loc`, following fields, lists and mappings."""
    found: object = model
    for step in loc:
        found = _inside(_bare(found), step)
    found = _bare(found)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _bare(annotation: object) -> object:
    """The annotation without Annotated and without `| None`."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return _bare(next(option for option in get_args(annotation) if option is not type(None)))
    return annotation


def _inside(annotation: object, step: str | int) -> object:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        info = annotation.model_fields.get(str(step))
        return info.annotation if info else None
    arguments = get_args(annotation)
    if get_origin(annotation) in (tuple, list):
        return arguments[0]
    return arguments[1] if get_origin(annotation) is dict else None


_Message = Callable[[ErrorDetails, type[BaseModel], str | None], str]


def _as_written(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    return details["msg"]


def _text(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    value = details["input"]
    if value is None:
        return "is empty; write a text"
    if isinstance(value, Mapping) and any(map(is_prose, value)):
        return UNQUOTED
    if written is None:
        return f"is {shown(value)}; write a text"
    return f"YAML reads {written} as {read_as(value)}; for a text put it in quotes: '{written}'"


def _scale(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    return (
        f"is {shown(details['input'])}, no scale; write a name such as likert5 or a number of points. "
        "A scale of your own is defined under `scales:` and named here"
    )


def _unknown_key(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    if is_prose(details["loc"][-1]):
        return UNQUOTED
    at = model_at(model, tuple(details["loc"][:-1]))
    known = [] if at is None else at.known_keys() if issubclass(at, Part) else list(at.model_fields)
    return f"is no known key{suggestion(str(details['loc'][-1]), known)}"


def _missing(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    at = model_at(model, tuple(details["loc"][:-1]))
    if at is not None and issubclass(at, Part) and at.inline_text == details["loc"][-1]:
        forms = " and ".join(f"`{language}:` ({LANGUAGE_NAMES[language]})" for language in LANGUAGES)
        return f"is missing; write the text as {forms}"
    return "is missing"


def _kind(wanted: str) -> _Message:
    def message(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
        return f"is {shown(details['input'])}; write {wanted}"

    return message


def _mapping(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    if model_at(model, tuple(details["loc"])) is not Text:
        return f"is {shown(details['input'])}; write a mapping (key: value)"
    return _text(details, model, written) + ("" if written else " or {de: …, en: …}")


def _choice(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    expected = str(details.get("ctx", {}).get("expected", ""))
    return f"is {shown(details['input'])}; write {expected}"


def _limit(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    text = details["msg"].removeprefix("Input should be ")
    return f"is {shown(details['input'])}; must be {text}"


def _other(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    return f"is {shown(details['input'])}: {details['msg']}"


_MESSAGES: dict[str, _Message] = {
    "instrument": _as_written,
    "text": _text,
    "string_type": _text,
    "scale": _scale,
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "literal_error": _choice,
    "model_type": _mapping,
    "model_attributes_type": _mapping,
    "dict_type": _kind("a mapping (key: value)"),
    "tuple_type": _kind("a list (lines beginning with -)"),
    "bool_type": _kind("true or false"),
    "int_type": _kind("a whole number"),
    "int_parsing": _kind("a whole number"),
    "int_from_float": _kind("a whole number"),
    "float_type": _kind("a number"),
    "greater_than_equal": _limit,
    "less_than_equal": _limit,
    "greater_than": _limit,
    "less_than": _limit,
}
