"""An instrument file as YAML: plain values, for each of them its line and how it is written there, and what is wrong
with it in the file's own terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, TypeAlias, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from enquete.instruments.instrument import Note
from enquete.instruments.text import LANGUAGE_NAMES, LANGUAGES, Part, Text, shown, suggestion
from enquete.state.errors import InstrumentError

# --- An instrument file as YAML: plain values, and for each of them its line and how it is written there -------------
# PyYAML alone keeps the last of two equal keys, turns `no` into false and expands aliases without end; here these are
# problems.

FieldPath = tuple[str | int, ...]
Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str | int, Value] | None"

MOST_BYTES = 1_000_000
MOST_ALIASES = 50
MOST_NODES = 20_000  # also after aliases are expanded
DEEPEST = 20

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + name for name in ("str", "timestamp", "value", "merge")}
_PLAIN_TAGS = {_TAG + name for name in ("null", "bool", "int", "float")}


@dataclass(frozen=True)
class SourceFile:
    """The values of a file. `lines` and `written` are by path, such as ('items', 3, 'scale'); lines count from 1."""

    name: str
    document: dict[str | int, Value]
    lines: Mapping[FieldPath, int]
    written: Mapping[FieldPath, str]  # unquoted scalars that are no text, as they stand in the file
    problems: tuple[tuple[int, str], ...]  # (line, message); equal keys, keys that are no text, unknown tags
    told: tuple[Note, ...] = ()  # how it was read, where that is no matter of course

    def line(self, path: FieldPath) -> int:
        """The line of `path`, or of the nearest part around it that stands in the file."""
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), 1)


def read_source(name: str, raw: bytes) -> SourceFile:
    """Read the bytes of the file that messages call `name`.

    Raises InstrumentError where there is nothing to validate: too large, no UTF-8, YAML syntax, empty, no mapping.
    """
    if len(raw) > MOST_BYTES:
        raise InstrumentError([f"{name}: {len(raw)} bytes; an instrument has at most {MOST_BYTES}"])
    root = _compose(name, decoded(name, raw))
    if root is None:
        raise InstrumentError([f"{name}: the file is empty; start with instrument_id, version and title"])
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        right = "an instrument is a mapping such as `instrument_id: my-study`"
        raise InstrumentError([f"{name}:{_line(root)}: {kind}; {right}"])
    walk = _Walk(name)
    document = walk.mapping(root, (), ())
    return SourceFile(name, document, walk.lines, walk.written, tuple(walk.problems))


def field_name(path: FieldPath) -> str:
    """('items', 3, 'scale') as 'items[3].scale'."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(parts).removeprefix(".")


def decoded(name: str, raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InstrumentError([f"{name}: encoded as UTF-16; save it as UTF-8"])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InstrumentError(
            [f"{name}:{line}: byte 0x{raw[error.start]:02x} is no UTF-8; save the file as UTF-8"]
        ) from None


class _OverLimit(Exception):
    """(line, message): the file holds more than an instrument can."""


class _Limited(yaml.SafeLoader):
    """Composes nodes up to a depth and a number, before anything is expanded."""

    def __init__(self, stream: str):
        super().__init__(stream)
        self.depth = self.nodes = self.aliases = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]  # untyped in the stubs
        line = event.start_mark.line + 1 if event.start_mark else 1
        self.nodes += 1
        self.aliases += self.check_event(yaml.AliasEvent)
        if self.aliases > MOST_ALIASES:
            raise _OverLimit(line, f"more than {MOST_ALIASES} aliases (*name); write the parts out")
        if self.nodes > MOST_NODES or self.depth >= DEEPEST:
            raise _OverLimit(line, "too large or too deeply nested for an instrument")
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _compose(name: str, text: str) -> yaml.Node | None:
    try:
        loader = _Limited(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except _OverLimit as error:
        line, message = error.args
        raise InstrumentError([f"{name}:{line}: {message}"]) from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InstrumentError([f"{name}{line}: {_syntax(error)}"]) from None
    except yaml.reader.ReaderError as error:
        line = f":{text[: error.position].count(chr(10)) + 1}"
        raise InstrumentError([f"{name}{line}: a character that YAML does not allow (U+{_code(error):04X})"]) from None
    except (ValueError, OverflowError) as error:  # "\UFFFFFFFF" in a quoted text
        raise InstrumentError([f"{name}: an escape that is no character ({error})"]) from None


def _code(error: yaml.reader.ReaderError) -> int:
    character: object = error.character
    return ord(character) if isinstance(character, str) else int(str(character))


QUOTE = "quote the text"
SLIPS = (
    ("mapping values are not allowed", f'a colon ends a text that is not in quotes: {QUOTE}, such as de: "Vertrauen: '
        f'in wen?"'),
    ("mapping keys are not allowed", f"a text that begins with a question mark or a dash has to be in quotes: {QUOTE}"),
    ("while parsing a flow mapping", f"inside {{ }} a comma, a colon or a question mark ends a text: {QUOTE}"),
    ("while parsing a flow sequence", f"inside [ ] a comma, a colon or a question mark ends a text: {QUOTE}, or close "
        f"the bracket"),
    ("while scanning an alias", f"a text that begins with * has to be in quotes: {QUOTE}"),
    ("undefined alias", f"a text that begins with * has to be in quotes: {QUOTE}"),
    ("while scanning an anchor", f"a text that begins with & has to be in quotes: {QUOTE}"),
    ("cannot start any token", f"a text that begins with @, % or ` has to be in quotes: {QUOTE}"),
    ("expected <block end>", f"the line goes on after its value has ended: {QUOTE} from beginning to end, or check the "
        f"indentation"),
    ("while scanning a quoted scalar", "a quotation mark that is never closed; close it, or put the text between the "
        "other kind"),
    ("could not find expected ':'", f"a line without a key: {QUOTE} that begins before it, or check the indentation"),
)  # fmt: skip
"""What PyYAML says where somebody forgot quotes, and what to do."""


def _syntax(error: yaml.MarkedYAMLError) -> str:
    problem, context = error.problem or "no valid YAML", error.context or ""
    if "\\t" in problem:
        return "a tab in the indentation; YAML wants spaces"
    if "single document" in context:
        return "a second document begins here (---); one file holds one instrument"
    told = next((told for words, told in SLIPS if words in problem or words in context), "")
    return told or f"no valid YAML: {problem}; check indentation, colons and quotes here and in the line before"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


@dataclass
class _Walk:
    """Turns nodes into values and notes lines, spellings and problems on the way."""

    name: str
    lines: dict[FieldPath, int] = field(default_factory=dict)
    written: dict[FieldPath, str] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0
    constructor: yaml.constructor.SafeConstructor = field(default_factory=yaml.constructor.SafeConstructor)

    def value(self, node: yaml.Node, path: FieldPath, around: tuple[int, ...]) -> Value:
        self.lines.setdefault(path, _line(node))
        self.count += 1
        if self.count > MOST_NODES:
            raise InstrumentError([f"{self.name}:{_line(node)}: aliases (*name) blow the file up; write the parts out"])
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, path)
        if id(node) in around:
            self.problem(node, path, "an alias (*name) that contains itself; write the part out")
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, around)
        return self.sequence(node, path, around)

    def sequence(self, node: yaml.Node, path: FieldPath, around: tuple[int, ...]) -> list[Value]:
        self.check_tag(node, path, {_TAG + "seq"})
        inside = (*around, id(node))
        return [self.value(child, (*path, index), inside) for index, child in enumerate(node.value)]

    def mapping(self, node: yaml.MappingNode, path: FieldPath, around: tuple[int, ...]) -> dict[str | int, Value]:
        self.check_tag(node, path, {_TAG + "map"})
        values: dict[str | int, Value] = {}
        first: dict[str, int] = {}
        for key_node, child in node.value:
            key = self.key(key_node, path)
            if key is None:
                continue
            if str(key) in first:
                message = f"the key stands twice (first in line {first[str(key)]}); remove one"
                self.problem(key_node, (*path, key), message)
                continue
            first[str(key)] = _line(key_node)
            self.lines[(*path, key)] = _line(key_node)
            values[key] = self.value(child, (*path, key), (*around, id(node)))
        return values

    def key(self, node: yaml.Node, path: FieldPath) -> str | int | None:
        if not isinstance(node, yaml.ScalarNode):
            self.problem(node, path, "a key that is itself a list or mapping; a key is a word")
            return None
        if node.tag == _TAG + "merge":
            self.problem(node, path, "merge keys (<<) are not supported; write the keys out")
            return None
        key = self.scalar(node, (*path, node.value))
        self.written.pop((*path, node.value), None)  # that place belongs to the value
        if isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)):
            return key
        self.problem(node, path, f"YAML reads the key {node.value} as {read_as(key)}; put it in quotes: '{node.value}'")
        return None

    def scalar(self, node: yaml.ScalarNode, path: FieldPath) -> str | int | float | bool | None:
        if any("\ud800" <= character <= "\udfff" for character in node.value):
            self.problem(node, path, "half of a surrogate pair; write the character itself")
            return ""
        if node.tag in _TEXT_TAGS or not self.check_tag(node, path, _PLAIN_TAGS):
            return str(node.value)
        try:
            value = self.constructor.construct_object(node)
        except (ValueError, KeyError, OverflowError, yaml.YAMLError):
            self.problem(node, path, f"{shown(node.value)} is no {node.tag.removeprefix(_TAG)}")
            return None
        if isinstance(value, int | float) and not -(2.0**63) < value < 2.0**63:
            self.problem(node, path, f"{shown(node.value)} is no finite number of ordinary size")
            return None
        self.written[path] = str(node.value)
        return value if isinstance(value, int | float) else None

    def check_tag(self, node: yaml.Node, path: FieldPath, allowed: set[str]) -> bool:
        if node.tag in allowed:
            return True
        tag = node.tag.replace(_TAG, "!!")
        self.problem(node, path, f"the tag {tag} is not supported; remove it")
        return False

    def problem(self, node: yaml.Node, path: FieldPath, message: str) -> None:
        where = f"{field_name(path)}: " if path else ""
        self.problems.append((_line(node), f"{self.name}:{_line(node)}: {where}{message}"))


def read_as(value: object) -> str:
    """How YAML understood an unquoted scalar that was meant as a text."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else f"the number {value}"


# --- Validation errors of pydantic, told in the terms of the file: line, field, bad value, what would be right


def validation_problems(error: ValidationError, model: type[BaseModel], source: SourceFile) -> list[tuple[int, str]]:
    """One (line, message) for each problem. Where quotes are missing, nothing else is said of the same entry."""
    errors = error.errors(include_url=False)
    unknown = (details["loc"] for details in errors if details["type"] == "extra_forbidden")
    unquoted = {loc[:-1] for loc in unknown if is_prose(loc[-1])}
    return [
        _problem(details, model, source)
        for details in errors
        if (details["type"] == "extra_forbidden" and is_prose(details["loc"][-1]))
        or not any(part and details["loc"][: len(part)] == part for part in unquoted)
    ]


def is_prose(key: object) -> bool:
    """Words of a text that YAML took for a key: keys are one word in small letters."""
    return isinstance(key, str) and (" " in key.strip() or key[:1].isupper() or key.endswith(("?", "!", ".")))


UNQUOTED = f"is a piece of a text that a colon, a comma or a question mark has cut: {QUOTE}"


def _problem(details: ErrorDetails, model: type[BaseModel], source: SourceFile) -> tuple[int, str]:
    path = written_path(tuple(step for step in details["loc"] if step != "[key]"), source)
    line = source.line(_present(path, source))
    # The key of a mapping is its own spelling; for a value it is what stands at its place.
    written = str(details["input"]) if details["loc"][-1:] == ("[key]",) else source.written.get(path)
    tell = _MESSAGES.get(details["type"])
    message = tell(details, model, written) if tell else f"is {shown(details['input'])}: {details['msg']}"
    where = field_name(path)
    return line, f"{source.name}:{line}: {where}: {message}" if where else f"{source.name}:{line}: {message}"


def written_path(loc: FieldPath, source: SourceFile) -> FieldPath:
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


def _present(path: FieldPath, source: SourceFile) -> FieldPath:
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


def model_at(model: type[BaseModel], loc: FieldPath) -> type[BaseModel] | None:
    """The model whose fields stand at `loc`, following fields, lists and mappings."""
    kind: object = model
    for step in loc:
        kind = _inside(_bare(kind), step)
    kind = _bare(kind)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


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


def _limit(details: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    text = details["msg"].removeprefix("Input should be ")
    return f"is {shown(details['input'])}; must be {text}"


_MESSAGES: dict[str, _Message] = {
    "instrument": lambda details, *_: details["msg"],
    "text": _text,
    "string_type": _text,
    "scale": _scale,
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "literal_error": lambda details, *_: f"is {shown(details['input'])}; write {details['ctx']['expected']}",
    **dict.fromkeys(("model_type", "model_attributes_type"), _mapping),
    "dict_type": _kind("a mapping (key: value)"),
    "tuple_type": _kind("a list (lines beginning with -)"),
    "bool_type": _kind("true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _kind("a whole number")),
    "float_type": _kind("a number"),
    **dict.fromkeys(("greater_than_equal", "less_than_equal", "greater_than", "less_than"), _limit),
}
