"""Discovery schemas in the annotated form of the systems that they come from, written as JSON, as the document of a
schema file. What it says by example is made explicit, and every such step is told.

    {"message-type": "DS-INSTRUCTIONS", "budget-decrement": 0.1, "interview-objective": "Learn how …",
     "DS": {"DS-id": "process/flow-shop",
            "exhausted?": {"val": true, "comment": "set this when all is documented"},
            "process-id": {"val": "soup-making", "comment": "name it as you see fit"},
            "subprocesses": [{"process-id": "cook", "inputs": ["peas", {"item-id": "water", "quantity": {"units":
            "liters", "value-string": "20"}}], "duration": {"units": "hours", "value-string": "1-2"},
            "subprocesses": []}]}}

Leaves are values, or {val, comment}: the comment describes the field, the value is an example of it. From the examples
of a field, over all entries that have it, follows its type:

- {units, value-string}: a quantity; lists of lists: rows; a list beside rows that is as long as each of them: a row;
- objects in a list: entries, told apart by the property that ends in -id, else by their first; a bare text among them
  is the key of an entry, and a list in a list of the same name is nested;
- words of a numbered enumeration in a comment or the objective ("1) name : what it means"), or of "Possible values are
  'a', 'b' and 'c'": a closed list.

Complete is a record by `exhausted?`, where there is one, once it is true; else with all top-level fields, and in lists
of two examples or more with what each of them has. `complete-when` says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enquete.instruments.expressions import MOST
from enquete.state.errors import InstrumentError

BODIES = ("DS", "EADS", "discovery-schema", "body", "DS-body")
IDS = ("DS-id", "EADS-id", "ds-id", "id")
KEY = "-id"
ENDINGS = (".json",)
QUANTITY = {"units", "value-string", "modifier"}
HEAD = {
    "message-type", "budget-decrement", "interviewer-agent", "interview-objective", "objective", "complete-when",
    "version", "title", "needs", *BODIES, *IDS,
}  # fmt: skip
ASIDE = {*IDS, "DS-ref", "EADS-ref", "msg-id", "comment", "invented", "message-type"}
"""In a body, and no field."""
NOTHING = ("", "none", "None", None)
NESTED = 4

_NUMBERED = re.compile(r"^\s*\(?\d+[.)]\s*['\"]?([A-Za-z][\w-]*)['\"]?\s*[:–-]\s*(.*\S)", re.MULTILINE)
_POSSIBLE = re.compile(r"\bvalues\b[^.\n]*?\b(?:are|is one of)\b([^.\n]*)", re.IGNORECASE)
_QUOTED = re.compile(r"['\"]([A-Za-z][\w-]*)['\"]")
_VERBATIM = re.compile(r"(?:verbatim|is simply this)[^\n]*\n\s*'([^\n]+(?:\n[^\n]+)*?)'\s*(?:\n|$)")
_COINED = re.compile(r"as you see fit|don't ask the interviewees|without asking|(?:decided on|devised) this naming")
_OPTIONAL = re.compile(r"\A\W*optional\b|\b(?:property|field) is optional\b", re.IGNORECASE)
_ALIKE = re.compile(r"\b([\w-]+) and ([\w-]+) can either be", re.IGNORECASE)


def is_original(document: Mapping[Any, Any]) -> bool:
    """Return whether a JSON document is a schema in the annotated form."""
    return any(isinstance(document.get(key), Mapping) for key in BODIES) or any(key in document for key in IDS)


def message_of(raw: bytes, name: str) -> Mapping[str, Any]:
    """Return the message in a JSON file. Raises InstrumentError."""
    try:
        content = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise InstrumentError([f"{name}: no JSON: {error}"]) from None
    return content if isinstance(content, Mapping) else {}


def translated(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Raises InstrumentError where there is no body."""
    body = next((message[key] for key in BODIES if isinstance(message.get(key), Mapping)), None)
    if body is None and any(key in message for key in IDS) and "interview-objective" not in message:
        body = message
    if not body or not any(key not in ASIDE for key in body):
        raise InstrumentError([f"{name}: has no `DS`, an object whose leaves are {{val, comment}}"])
    named = [message[key] for key in (*BODIES, *IDS) if isinstance(message.get(key), str)]
    given_id = next((plain(body[key]) for key in IDS if isinstance(plain(body.get(key)), str)), None)
    schema_id = str(given_id or next(iter(named), None) or Path(name).stem).lstrip(":")
    objective = str(message.get("interview-objective") or message.get("objective") or "")
    translation = _Translation(body, objective)
    fields = translation.fields()
    document: dict[str, Any] = {
        "id": schema_id, "version": str(message.get("version", "1")), "title": str(message.get("title") or schema_id),
        "language_default": "en", "objective": objective, "fields": fields,
    }  # fmt: skip
    own_names = {"decrement": "budget-decrement", "needs": "needs"}
    document |= {name: message[theirs] for name, theirs in own_names.items() if theirs in message}
    if "complete-when" in message:
        document["complete"] = str(message["complete-when"])
    else:
        translation.complete(document)
    unread = [key for key in message if key not in HEAD and message is not body]
    if unread:
        translation.note(f"not read: {', '.join(unread)}")
    return {**document, "translated": translation.notes}


def plain(value: Any) -> Any:
    """Without its annotation."""
    while isinstance(value, Mapping) and "val" in value:
        value = value["val"]
    return value


def stripped(value: Any) -> Any:
    """Without annotations at every depth: {val, comment} gives the value; comments beside others go."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {str(key): stripped(part) for key, part in value.items() if key not in ("comment", "invented")}
    return [stripped(part) for part in value] if isinstance(value, list) else value


def is_quantity(value: Any) -> bool:
    return isinstance(value, Mapping) and "value-string" in value and set(value) <= QUANTITY


def _words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").rstrip("?").strip() or name


def _comments(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("comment"), str):
            yield value["comment"]
        for part in value.values():
            yield from _comments(part)
    elif isinstance(value, list):
        for part in value:
            yield from _comments(part)


@dataclass
class _Translation:
    """Of one body. notes: what was made of it that it does not say in so many words."""

    body: Mapping[str, Any]
    objective: str

    def __post_init__(self) -> None:
        self.notes: list[str] = []
        texts = (self.objective, *_comments(self.body))
        self._enumerations = [words for words in map(_enumerated, texts) if words]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def fields(self) -> dict[str, Any]:
        by_name = {str(name): [value] for name, value in self.body.items() if name not in ASIDE}
        fields = {name: self._field(name, examples, (name,)) for name, examples in by_name.items()}
        self._align(fields)
        asked = _VERBATIM.search(self.objective)
        if asked:
            first = next(iter(fields))
            fields[first]["question"] = " ".join(asked[1].split())
            self.note(f"{first}: the question that the objective gives is asked as it is")
        return fields

    def complete(self, document: dict[str, Any]) -> None:
        """What must be there; what else is asked for comes first."""
        fields: dict[str, Any] = document["fields"]
        closing = [name for name, field in fields.items() if field.get("closing")]
        if closing:
            document["complete"] = " and ".join(closing)
            self.note(f"complete once {document['complete']} is true; everything else is asked for before")
            for name, field in fields.items():
                if name not in closing and not (field["type"] == "text" and field.get("coined")):
                    field["wanted"] = True
            return
        needed = [name for name, field in fields.items() if not _is_optional(field)] or list(fields)
        for name in needed:
            fields[name]["required"] = True
        every = [_every(name, self._shared(self.body[name])) for name in needed if fields[name]["type"] == "list"]
        condition = " and ".join(filter(None, every))
        if 0 < len(condition) < MOST:
            document["complete"] = condition
        self.note(f"complete with {', '.join(needed)}{f' and {condition}' if 'complete' in document else ''}")

    @staticmethod
    def _shared(example: Any) -> list[str]:
        """What every example of an entry has, where there are several; besides the key."""
        entries = list(_entries(example))
        if len(entries) < 2:
            return []
        key = _key(entries)
        return [name for name in entries[0] if name not in (key, "comment") and all(name in entry for entry in entries)]

    def _align(self, fields: dict[str, Any]) -> None:
        """Things are described alike wherever they stand: by the name of their list, by their key, or as a comment says
        ("Inputs and outputs can either be …"); also where an example happens to name them by bare texts alone."""
        lists = [pair for pair in _fields_of(fields) if pair[1]["type"] == "list" and "nested" not in pair[1]]
        alike = {name: {name, *map(str.casefold, names)} for name, _ in lists for names in (
            pair.groups() for text in _comments(self.body) for pair in _ALIKE.finditer(text)
            if name in map(str.casefold, pair.groups())
        )}  # fmt: skip
        things: dict[str, dict[str, Any]] = {}
        names: dict[str, str] = {}
        for name, field in lists:
            parts = things.setdefault(field["key"], {})
            parts |= {part: parts.get(part, each) for part, each in field["fields"].items()}
            names.update(dict.fromkeys(alike.get(name, {name}), field["key"]))
        for name, field in _fields_of(fields):
            if field["type"] == "texts" and name in names:
                self.note(f"{name}: entries with {names[name]}, as elsewhere; a bare text is one")
                coined = {"coined": True} if names[name].endswith(KEY) else {}
                field.update({"type": "list", "key": names[name], "fields": {}, **coined})
            if field["type"] == "list" and "nested" not in field:
                field["fields"] = things[field["key"]]

    # --- a field ---------------------------------------------------------------------------------------------------

    def _field(self, name: str, examples: Sequence[Any], path: tuple[str, ...]) -> dict[str, Any]:
        """given: what its examples have, annotated or not."""
        comments = list(dict.fromkeys(
            example["comment"].strip() for example in examples
            if isinstance(example, Mapping) and "val" in example and isinstance(example.get("comment"), str)
        ))  # fmt: skip
        values = [plain(example) for example in examples]
        field: dict[str, Any] = {"label": _words(name), **self._typed(name, values, path, " ".join(comments))}
        if any(comments):
            field["description"] = "\n".join(comments)
        if _COINED.search(" ".join(comments)) and field["type"] == "text":
            field["coined"] = True
        return field

    def _typed(self, name: str, values: list[Any], path: tuple[str, ...], comment: str) -> dict[str, Any]:
        told = [value for value in values if value not in NOTHING]
        holds = [value for value in told if isinstance(value, Mapping | list)]
        if holds and any(value not in ("", None) for value in values if value not in holds):
            self.note(f"{'.'.join(path)}: “none” is taken as a text in it")
        if any(isinstance(value, bool) for value in told) or (name.endswith("?") and not told):
            return {"type": "boolean"} | ({"closing": True} if name.startswith("exhausted") else {})
        if told and all(isinstance(value, int | float) for value in told):
            return {"type": "number"}
        if holds and all(map(is_quantity, holds)):
            return {"type": "quantity"}
        objects = [value for value in holds if isinstance(value, Mapping)]
        if objects and len(objects) == len(holds):
            return {"type": "object", "fields": self._parts(objects, path)}
        items = [item for each in holds if isinstance(each, list) for item in each]
        if any(isinstance(plain(item), list) for item in items):
            return {"type": "rows"}
        if any(isinstance(plain(item), Mapping) for item in items):
            return self._list(name, [plain(item) for item in items], path)
        words = [str(plain(item)) for item in (items if holds else told)]
        closed = self._closed(words, comment)
        if closed:
            several = "; several of it may hold" if holds else ""
            self.note(f"{'.'.join(path)}: a closed list of {len(closed)}, from its enumeration{several}")
            return {"type": "choices" if holds else "choice", "values": closed}
        examples = [word for word in dict.fromkeys(words) if word.strip()]
        field: dict[str, Any] = {"type": "texts" if any(isinstance(value, list) for value in values) else "text"}
        return field | ({"examples": {"en": examples}} if examples else {})

    def _closed(self, words: Sequence[str], comment: str) -> dict[str, Any]:
        """The enumeration that all examples are from, its own comment's first; {} for none."""
        possible = {name: "" for listed in _POSSIBLE.findall(comment) for name in _QUOTED.findall(listed)}
        for listed in (possible | _enumerated(comment), *self._enumerations):
            if len(listed) > 1 and words and all(word in listed for word in words):
                return {
                    word: {"label": _words(word)} | ({"description": meaning} if meaning else {})
                    for word, meaning in listed.items()
                }
        return {}

    def _list(self, name: str, items: list[Any], path: tuple[str, ...]) -> dict[str, Any]:
        entries: list[Mapping[str, Any]] = [item for item in items if isinstance(item, Mapping)]
        key = _key(entries)
        if any(not isinstance(item, Mapping) for item in items):
            self.note(f"{'.'.join(path)}: a bare text is an entry with that {key}")
        inner, at_most = list(entries), NESTED
        while at_most and (below := [entry for each in inner for entry in _entries(each.get(name))]):
            entries, inner, at_most = [*entries, *below], below, at_most - 1
        nests = any(name in entry for entry in entries)
        of = len(entries) + sum(not isinstance(item, Mapping) for item in items)
        parts = self._parts([{k: v for k, v in entry.items() if k != name} for entry in entries], path, key, of)
        if nests:
            self.note(f"{'.'.join(path)}: entries may hold such entries, to a depth of {NESTED}")
        fields = parts or {"note": {"type": "text", "label": "note"}}
        keyed = " ".join(text for entry in entries for text in _comments({"key": entry.get(key)}))
        coined = {"coined": True} if key.endswith(KEY) or _COINED.search(keyed) else {}
        return {"type": "list", "key": key, "fields": fields, **({"nested": NESTED} if nests else {}), **coined}

    def _parts(
        self, entries: Sequence[Mapping[str, Any]], path: tuple[str, ...], key: str = "", of: int = 0
    ) -> dict[str, Any]:
        """Of an object's or an entry's examples; what half of all entries have is asked for."""
        names = dict.fromkeys(str(part) for entry in entries for part in entry if part not in (key, *ASIDE))
        fields = {}
        for part in names:
            examples = [entry[part] for entry in entries if part in entry]
            fields[part] = self._field(part, examples, (*path, part))
            if key and 2 * len(examples) >= of > 1 and not _is_optional(fields[part]):
                fields[part]["wanted"] = True
        lengths = [_lengths(entry, fields) for entry in entries]
        for part, field in fields.items():
            if field["type"] == "texts" and _is_positional([e for e in entries if part in e], part, lengths):
                fields[part] = {k: v for k, v in field.items() if k != "examples"} | {"type": "row"}
        return fields


def _fields_of(fields: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field, whatever it stands in."""
    for name, field in fields.items():
        yield name, field
        yield from _fields_of(field.get("fields", {}))


def _enumerated(text: str) -> dict[str, str]:
    listed = {name: meaning.strip() for name, meaning in _NUMBERED.findall(text)}
    return listed if len(listed) > 1 else {}


def _is_optional(field: Mapping[str, Any]) -> bool:
    return bool(_OPTIONAL.search(str(field.get("description", ""))))


def _every(name: str, parts: Sequence[str]) -> str:
    return f"every({name}, {' and '.join(f'known({part})' for part in parts)})" if parts else ""


def _entries(given: Any) -> Iterator[Mapping[str, Any]]:
    value = plain(given)
    for entry in value if isinstance(value, list) else ():
        if isinstance(plain(entry), Mapping):
            yield plain(entry)


def _key(entries: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(str(name) for entry in entries for name in entry)
    return next((name for name in names if name.endswith(KEY)), next(iter(names)))


def _lengths(entry: Mapping[str, Any], fields: Mapping[str, Any]) -> set[int]:
    """Of the rows that an example has."""
    rows = (plain(entry[name]) for name, field in fields.items() if field["type"] == "rows" and name in entry)
    return {len(row) for each in rows if isinstance(each, list) for row in map(plain, each) if isinstance(row, list)}


def _is_positional(entries: Sequence[Mapping[str, Any]], name: str, lengths: Sequence[set[int]]) -> bool:
    """Whether the places of a list matter: it has as many as the rows beside it, or leaves some empty."""
    lists = [plain(entry[name]) for entry in entries]
    if any("" in cells for cells in lists if isinstance(cells, list)):
        return True
    row_lengths = [length for length in lengths if length]
    beside = [{len(cells)} for cells in lists if isinstance(cells, list)]
    return bool(row_lengths) and beside == row_lengths
