"""Synthetic respondents of the discovery interview: they know a planted record, and tell what a question asks for.

They see the block alone, the question and the conversation so far. Every choice is drawn by SHA-256 from the seed, the
persona and what it is about. What they say is worded in truth/discovery.yaml, of which the reader of answers knows
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from enquete.instruments.pack import NEUTRAL, Data, Lines, pack_named
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interview import DiscoverySettings
from enquete.methods.discovery.record import Nodes, Path, Record, as_said, values
from enquete.methods.discovery.schema import DiscoverySchema, FieldNode
from enquete.respondents.ground_truth import persona_hash, pick, sample, uniform
from enquete.respondents.roles import normal
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.methodology import Truth

METHODOLOGY = "discovery"
NUMBERS = (5, 10, 15, 20, 30, 45, 60, 90, 120, 240)
MOST_ENTRIES, MOST_VALUES = 2, 3
NAMED = 0.6  # share of a label's words that a question must hold to be about it


class DiscoveryManner(Data):
    """truth/discovery.yaml."""

    text: Lines
    several: Lines
    joined: Lines
    number: Lines
    closed: Lines
    yes: Lines
    no: Lines
    nothing: Lines
    unnamed: Lines
    says: Mapping[str, Mapping[str, Mapping[str, Lines]]] = Field({})


def planted(instrument: DiscoveryInstrument, settings: DiscoverySettings) -> Truth:
    return partial(answer, discovery=settings.discovery)


def answer(
    who: Participant, block: Block, language: Language, seed: int, *, discovery: DiscoverySchema
) -> tuple[Answer, ...]:
    """One answer per item of the block."""
    speaker = _Speaker(who, discovery, language, seed, block)
    return tuple(Answer(item.id, "ok", text=speaker.says(item)) for item in block.items)


# --- what is known ----------------------------------------------------------------------------------------------------


def known(who: Participant, discovery: DiscoverySchema, language: Language, seed: int) -> Record:
    """The planted record of an agent: every field has something, lists two entries, nested ones one level."""
    return _RecordTruth((seed, METHODOLOGY, discovery.id, persona_hash(who)), language).record(discovery.nodes, ())


class _RecordTruth:
    def __init__(self, key: tuple[str | int, ...], language: Language):
        self._key, self._language = key, language

    def record(self, nodes: Nodes, path: Path) -> Record:
        parts = {name: self._value(node, (*path, name)) for name, node in nodes.items() if node.level == 1}
        return {name: value for name, value in parts.items() if value is not None}

    def _value(self, node: FieldNode, path: Path) -> Any:
        match node.field.type:
            case "choice":
                return pick(list(node.field.values), *self._key, *path)
            case "choices":
                return self._drawn(list(node.field.values), path, MOST_VALUES)
            case "number":
                return float(pick(NUMBERS, *self._key, *path))
            case "boolean":
                return node.field.closing or uniform(*self._key, *path) < 0.5
            case "object":
                return self.record(node.children, path)
            case "list":
                keys = self._some(node, path, MOST_ENTRIES)
                return [{node.key: key, **self.record(node.children, (*path, key))} for key in keys]
            case "texts" | "row":
                return self._some(node, path, MOST_VALUES)
            case "rows":
                return [self._some(node, path, MOST_VALUES)]
            case "quantity":
                amount = {"value-string": f"{pick(NUMBERS, *self._key, *path)}"}
                unit = node.field.unit
                return {**amount, "units": unit.in_(self._language)} if unit else amount
        return self._some(node, path, 1)[0]

    def _some(self, node: FieldNode, path: Path, most: int) -> list[str]:
        texts = node.field.examples.get(self._language) or _manner().unnamed[self._language]
        return self._drawn(texts, path, most)

    def _drawn(self, texts: Sequence[str], path: Path, most: int) -> list[str]:
        return sample([(text, 1.0) for text in texts], min(most, len(texts)), *self._key, *path)


# --- what is said -----------------------------------------------------------------------------------------------------


def _manner() -> DiscoveryManner:
    return pack_named(NEUTRAL).truth(METHODOLOGY, DiscoveryManner)


class _Speaker:
    """An agent before one question."""

    def __init__(self, who: Participant, discovery: DiscoverySchema, language: Language, seed: int, block: Block):
        self._discovery, self._language = discovery, language
        self._record = known(who, discovery, language, seed)
        self._key = (seed, METHODOLOGY, "says", persona_hash(who), block.key.turn)

    def says(self, item: Item) -> str:
        question = normal(item.wording)
        path, node, value = max(self._knows(), key=lambda fact: self._about(fact[0], fact[1], question))
        if self._about(path, node, question) < (NAMED, 0):
            return self._line("nothing")
        return self._told(node, value)

    def _knows(self) -> Iterator[tuple[Path, FieldNode, Any]]:
        """Values, and every list as a whole."""
        yield from _lists(self._discovery.nodes, self._record, ())
        yield from (fact for fact in values(self._discovery.nodes, self._record) if fact[1].field.type != "list")

    def _about(self, path: Path, node: FieldNode, question: str) -> tuple[float, int]:
        """How much of what a question would say of it is in the question; an entry must be named."""
        entries = [normal(step) for step in path if step not in node.path]
        if any(f" {entry} " not in f" {question} " for entry in entries):
            return 0.0, 0
        field, words = node.field, set(question.split())
        texts = [text for text in (field.question, field.more, field.label) if text is not None]
        shares = [_share(set(normal(text.in_(self._language)).split()), words) for text in texts]
        return max(shares), len(entries)

    def _told(self, node: FieldNode, value: Any) -> str:
        match node.field.type:
            case "choice" | "choices":
                return " ".join(self._closed(node, each) for each in (value if isinstance(value, list) else [value]))
            case "texts" | "list":
                names = [each if isinstance(each, str) else str(each[node.key]) for each in value]
                return self._line("several", self._joined(names))
            case "row":
                return self._line("several", self._joined(value))
            case "rows":
                return " ".join(self._line("several", self._joined(row)) for row in value)
            case "quantity":
                return self._line("number", as_said(value))
            case "number":
                unit = f" {node.field.unit.in_(self._language)}" if node.field.unit else ""
                return self._line("number", f"{value:g}{unit}")
            case "boolean":
                return self._line("yes" if value else "no")
        return self._line("text", str(value))

    def _closed(self, node: FieldNode, value: str) -> str:
        says = _manner().says.get(self._discovery.id, {}).get(node.name, {}).get(value)
        if says:
            return pick(says[self._language], *self._key, value)
        return self._line("closed", node.field.values[value].label.in_(self._language))

    def _joined(self, names: Sequence[str]) -> str:
        *others, last = names
        link = pick(_manner().joined[self._language], *self._key, "joined")
        return f"{', '.join(others)}{link}{last}" if others else last

    def _line(self, kind: str, value: str = "") -> str:
        lines: Lines = getattr(_manner(), kind)
        text = pick(lines[self._language], *self._key, kind).format(v=value)
        return text[:1].upper() + text[1:]


def _share(label: set[str], words: set[str]) -> float:
    return len(label & words) / len(label) if label else 0.0


def _lists(nodes: Nodes, record: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, FieldNode, Any]]:
    for name, value in record.items():
        node = nodes.get(name)
        if node is not None and node.field.type == "object":
            yield from _lists(node.children, value, (*above, name))
        elif node is not None and node.field.type == "list":
            yield (*above, name), node, value
            for entry in value:
                yield from _lists(node.children, entry, (*above, name, str(entry[node.key])))
