"""Records: how what one answer gave (an SCR) is reduced into what all have given (the ASCR), by the reducers of the schema.

A record is plain data: field → value. Texts and numbers, ids of closed lists, lists of them; a list of objects has their key
as the first of each. What is not there is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.graphs.discovery.completion import there
from enquete.graphs.discovery.schema import Node
from enquete.instruments.reading import shown, suggestion
from enquete.respondents.quoting import normal

Record = dict[str, Any]
Nodes = Mapping[str, Node]
Path = tuple[str, ...]


class Told(BaseModel):
    """A value with the words it rests on, which stand in the answer of that turn. `path`: lists followed by an entry's key."""

    model_config = ConfigDict(frozen=True)

    path: Path
    value: JsonValue
    quote: str
    turn: int = 0


class Contradiction(BaseModel):
    """Something was said otherwise before. Both stay; it is asked about once, and what is then said stands."""

    model_config = ConfigDict(frozen=True)

    path: Path
    earlier: JsonValue
    later: JsonValue


def reduced(nodes: Nodes, record: Mapping[str, Any], found: Mapping[str, Any]) -> Record:
    """The record with what was found; neither is changed."""
    result = dict(record)
    for name, value in found.items():
        if there(value):
            result[name] = _joined(nodes[name], record.get(name), value)
    return result


def _joined(node: Node, old: Any, new: Any) -> Any:
    if node.field.type == "list":
        return _upserted(node, old if there(old) and node.reducer != "last" else [], new)
    if not there(old) or node.reducer == "last":
        return new
    if node.reducer == "union":
        return [*old, *(value for value in _distinct(new) if not any(same(value, one) for one in old))]
    return reduced(node.children, old, new)


def _upserted(node: Node, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Record]:
    """By key, which comes first. deep: what an entry holds is reduced in turn; upsert: its parts are replaced, those not
    named again stay."""
    key, result = str(node.field.key), [dict(entry) for entry in old]
    for entry in new:
        place = next((n for n, one in enumerate(result) if same(one[key], entry[key])), len(result))
        kept = result[place] if place < len(result) else {key: entry[key]}
        below = {name: value for name, value in entry.items() if name != key}
        merged = reduced(node.children, kept if node.reducer == "deep" else {}, below)
        result[place:] = [{**kept, **merged}, *result[place + 1 :]]
    return result


def _distinct(values: Sequence[Any]) -> Iterator[Any]:
    seen: list[Any] = []
    for value in values:
        if not any(same(value, one) for one in seen):
            seen.append(value)
            yield value


def same(one: Any, other: Any) -> bool:
    """Texts as they are spoken, anything else as it is."""
    return normal(one) == normal(other) if isinstance(one, str) and isinstance(other, str) else bool(one == other)


def contradictions(
    nodes: Nodes, record: Mapping[str, Any], found: Mapping[str, Any], above: Path = ()
) -> Iterator[Contradiction]:
    """Single values that the record has otherwise. A list that grows, or a text that says more of the same, is none."""
    for name, new in found.items():
        node = nodes[name]
        old: Any = record.get(name)
        path = (*above, name)
        if not there(old) or not there(new):
            continue
        if node.field.type == "object":
            yield from contradictions(node.children, old, new, path)
        elif node.field.type == "list":
            key = str(node.field.key)
            for entry in new:
                before: Mapping[str, Any] = next((one for one in old if same(one[key], entry[key])), {})
                below = {each: value for each, value in entry.items() if each != key}
                yield from contradictions(node.children, before, below, (*path, str(entry[key])))
        elif node.reducer == "last" and not node.field.closing and not same(old, new) and not _says_more(old, new):
            yield Contradiction(path=path, earlier=old, later=new)


def _says_more(old: Any, new: Any) -> bool:
    texts = isinstance(old, str) and isinstance(new, str)
    return texts and (normal(old) in normal(new) or normal(new) in normal(old))


def values(nodes: Nodes, record: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Node, Any]]:
    """Every value that is there: (path with keys, field, value). Of an entry its parts; one without parts gives itself."""
    for name, value in record.items():
        node = nodes.get(name)
        if node is None or not there(value):
            continue
        path = (*above, name)
        if node.field.type == "object":
            yield from values(node.children, value, path)
        elif node.field.type == "list":
            key = str(node.field.key)
            for entry in value:
                yield (*path, str(entry[key])), node, str(entry[key])
                below = {each: part for each, part in entry.items() if each != key}
                yield from values(node.children, below, (*path, str(entry[key])))
        else:
            yield path, node, value


def unknown(nodes: Nodes, record: Mapping[str, Any], above: Path = ()) -> Iterator[Path]:
    """Fields without a value, those of every entry of a list included; not what closes an interview, nor lists in lists."""
    for name, node in nodes.items():
        value: Any = record.get(name)
        if node.field.type == "object":
            yield from unknown(node.children, value or {}, (*above, name))
        elif not there(value):
            yield from [(*above, name)] if node.level == 1 and not node.field.closing else ()
        elif node.field.type == "list":
            for entry in value:
                yield from unknown(node.children, entry, (*above, name, str(entry[str(node.field.key)])))


def misfits(nodes: Nodes, record: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """What of a record that somebody brings along does not fit the schema, a sentence each."""
    for name, value in record.items():
        node, where = nodes.get(name), f"{above}{name}"
        if node is None:
            yield f"{where} is no field{suggestion(name, list(nodes))}"
        elif node.field.type == "object" and isinstance(value, Mapping):
            yield from misfits(node.children, value, f"{where}.")
        elif node.field.type == "list" and isinstance(value, list):
            yield from _misfit_entries(node, value, where)
        elif not _fits(node, value):
            closed = f", one of {', '.join(node.field.values)}" if node.field.values else ""
            yield f"{where}: {shown(value)} is no {node.field.type}{closed}"


def _misfit_entries(node: Node, entries: Sequence[Any], where: str) -> Iterator[str]:
    key = str(node.field.key)
    for place, entry in enumerate(entries):
        if not isinstance(entry, Mapping) or not isinstance(entry.get(key), str) or not entry[key]:
            yield f"{where}[{place}]: an entry is an object with a text as its {key}"
        else:
            yield from misfits(node.children, {k: v for k, v in entry.items() if k != key}, f"{where}[{place}].")


def _fits(node: Node, value: Any) -> bool:
    """Whether it is of the field's type."""
    kind, values = node.field.type, node.field.values
    match kind:
        case "choice":
            return isinstance(value, str) and value in values
        case "choices" | "texts":
            return isinstance(value, list) and all(
                isinstance(one, str) and (kind == "texts" or one in values) for one in value
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
    return kind == "text" and isinstance(value, str)
