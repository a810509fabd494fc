"""Methodology and concept files of another laddering program (interview-system-v2), read as they are.

What they say is put in this project's own terms, key by key, and every key has a row that says what became of it:
translated, lent by a shipped methodology, or ignored; a weight on a signal that there is not is dead here, and is named
with the nearest one that there is. Nothing is guessed beyond that: a strategy without any weight left is an error.

Measured by: files of the same shape, made by hand, load and interview
(tests/methods/laddering/test_laddering_translation.py).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from enquete.instruments.text import wrong
from enquete.methods.laddering.signals import SIGNALS, checked_key

if TYPE_CHECKING:
    from enquete.methods.laddering.settings import InterviewMethod

Document = dict[str, Any]
Fate = Literal["translated", "lent", "ignored", "dead"]

LANGUAGE = "en"
"""The only one that these files are written in."""

RENAMED: Mapping[str, str] = {
    "technique.node.strategy_repetition": "graph.node.strategy_repetition",
    "meta.conversation.saturation": "meta.saturation",
}
"""Signals of the same meaning under another name."""

KIN = 0.5
"""Share of all node types of both that a shipped methodology must have in common with a file to lend it anything."""


class KeyFate(BaseModel):
    """What became of a key. `into`: what it is here; of a dead one the nearest that there is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    fate: Fate
    into: str = ""


def is_methodology(data: Mapping[Any, Any]) -> bool:
    return "method" in data and "ontology" in data


def is_concept(data: Mapping[Any, Any]) -> bool:
    return "name" in data and "topic" not in data and bool({"objective", "context"} & set(data))


# --- a concept --------------------------------------------------------------------------------------------------------


def concept(data: Mapping[Any, Any]) -> Document:
    """Of a concept with an objective; its elements, if it has any, are known by their label and aliases."""
    context = _mapping(data, "context")
    name, method = str(data.get("name", "")), str(data.get("methodology", ""))
    topic = str(context.get("topic") or _without(name, method))
    document: Document = {
        "id": data.get("id"), "version": str(data.get("version", "1")), "title": name, "topic": topic,
        "language_default": LANGUAGE, "languages": [LANGUAGE],
    }  # fmt: skip
    fates = [KeyFate(key="name", fate="translated", into=f"title; topic: {topic}")]
    reasons = context.get("rtb") or context.get("reasons_to_believe")
    for key, into, value in (
        ("objective", "objective", data.get("objective") or context.get("objective")),
        ("context.insight", "insight", context.get("insight")),
        ("context.promise", "promise", context.get("promise")),
        ("context.rtb", "reasons_to_believe", [reasons] if isinstance(reasons, str) and reasons else reasons),
        ("methodology", "methodology, where the run names none", method),
    ):
        if value:
            document[into.partition(",")[0]] = value
            fates.append(KeyFate(key=key, fate="translated", into=into))
    if data.get("elements"):
        document["elements"] = dict(_elements(data, fates))
    read = {"id", "version", "name", "objective", "methodology", "context", "elements"}
    fates += [KeyFate(key=str(key), fate="ignored") for key in data if key not in read]
    context_keys = {"topic", "objective", "insight", "promise", "rtb", "reasons_to_believe"}
    fates += [KeyFate(key=f"context.{key}", fate="ignored") for key in context if key not in context_keys]
    return {**document, "translation": [fate.model_dump() for fate in fates]}


def _without(name: str, method: str) -> str:
    """A name without the words of its methodology at its end: "Headphones Means-End Chain" is about headphones."""
    parts, words = method.casefold().split("_"), name.split()
    while len(words) > 1 and all(
        any(piece.startswith(part) for part in parts) for piece in re.findall(r"\w+", words[-1].casefold())
    ):
        words.pop()
    return " ".join(words)


def _elements(data: Mapping[Any, Any], fates: list[KeyFate]) -> Iterator[tuple[str, Document]]:
    for number, element in enumerate(_listed(data, "elements"), 1):
        label = str(element.get("label") or element.get("id", number))
        name = _identifier(label) or f"element_{number}"
        aliases = dict.fromkeys([label, *map(str, element.get("aliases") or [])])
        fates.append(KeyFate(key=f"elements.{element.get('id', number)}", fate="translated", into=f"elements.{name}"))
        kind = str(element.get("type") or "element")
        yield name, {"type": kind, "label": label, "aliases": {LANGUAGE: list(aliases)}}


# --- a methodology ----------------------------------------------------------------------------------------------------


def methodology(data: Mapping[Any, Any], shipped: Sequence[InterviewMethod]) -> Document:
    """Of a methodology with method, ontology, strategies and phases. `shipped`: those that may lend what is missing."""
    return _MethodFile(data, shipped).made()


class _MethodFile:
    """One such file. lenders: shipped methodologies, the nearest first; kin: that one, if it is near enough."""

    def __init__(self, data: Mapping[Any, Any], shipped: Sequence[InterviewMethod]):
        self._data, self._fates = data, list[KeyFate]()
        self._method, self._ontology = _mapping(data, "method"), _mapping(data, "ontology")
        self._types = {str(node.get("name")): node for node in _listed(self._ontology, "nodes")}
        ranked = sorted(shipped, key=lambda method: -_shared(method, self._types))
        self._kin = next((method for method in ranked[:1] if _shared(method, self._types) >= KIN), None)
        self._lenders: Sequence[InterviewMethod] = ranked if self._kin else ()

    def _note(self, key: str, fate: Fate, into: str = "") -> None:
        self._fates.append(KeyFate(key=key, fate=fate, into=into))

    def made(self) -> Document:
        name = str(self._method.get("name", ""))
        document: Document = {
            "id": name, "version": str(self._method.get("version", "1")),
            "title": self._method.get("title") or name.replace("_", " "),
            "language_default": LANGUAGE, "languages": [LANGUAGE],
            "goal": self._method.get("goal") or self._method.get("description") or name.replace("_", " "),
        }  # fmt: skip
        self._note("method", "translated", "id, version, title, goal, opening.goal")
        document["node_types"] = {kind: self._node_type(kind, node) for kind, node in self._types.items()}
        document |= self._rungs()
        edges = {str(edge.get("name")): edge for edge in _listed(self._ontology, "edges")}
        document["edge_types"] = {name: self._edge_type(name, edge) for name, edge in edges.items()}
        if guidelines := list(self._guidelines()):
            document["guidelines"] = guidelines
        document["opening"] = self._opening(document)
        document["strategies"] = {
            str(each.get("name")): self._strategy(each, document) for each in _listed(self._data, "strategies")
        }
        document |= self._phases()
        self._signals()
        read = {"method", "ontology", "signals", "strategies", "phases"}
        for key in self._data:
            if key not in read:
                self._note(str(key), "ignored")
        return {**document, "translation": [fate.model_dump() for fate in self._fates]}

    # --- the ontology

    def _node_type(self, name: str, node: Mapping[str, Any]) -> Document:
        examples = "; ".join(str(example) for example in node.get("examples") or [])
        described = str(node.get("description") or name.replace("_", " "))
        self._note(f"ontology.nodes.{name}", "translated", f"node_types.{name}")
        return {
            "label": name.replace("_", " "), "terminal": node.get("terminal") is True,
            "description": f"{described} ({examples})" if examples else described,
        }  # fmt: skip

    def _rungs(self) -> Document:
        """A ladder where every kind has a level of its own; else what a shipped methodology of the same kinds has."""
        levels = {name: node.get("level") for name, node in self._types.items()}
        if len(set(levels.values())) == len(levels) > 1 and all(isinstance(level, int) for level in levels.values()):
            self._note("ontology.nodes.level", "translated", "ladder")
            return {"ladder": sorted(levels, key=lambda name: levels[name] or 0)}
        if any(level is not None for level in levels.values()):
            self._note("ontology.nodes.level", "ignored", "several kinds stand on one level: no ladder")
        kin = self._kin
        if kin is None or not set(kin.node_types) <= set(self._types) or not kin.ladder:
            return {}
        self._note("ladder", "lent", kin.id)
        return {"ladder": list(kin.ladder), "ladder_explains": kin.ladder_explains}

    def _edge_type(self, name: str, edge: Mapping[str, Any]) -> Document:
        document: Document = {"description": edge.get("description") or name.replace("_", " ")}
        pairs = list(map(_pair, edge.get("permitted_connections") or []))
        self._note(f"ontology.edges.{name}", "translated", f"edge_types.{name}{'' if pairs else ', between any kinds'}")
        if not pairs or ("*", "*") in pairs:
            document["any_pair"] = True
        else:
            document["pairs"] = list(dict.fromkeys(
                (source, target)
                for start, end in pairs
                for source in (self._types if start == "*" else [start])
                for target in (self._types if end == "*" else [end])
            ))  # fmt: skip
        lender = next((method for method in self._lenders if name in method.edge_types), None)
        if lender is not None:
            like = lender.edge_types[name]
            lent: dict[str, Any] = {key: True for key in ("retracts", "contrast") if getattr(like, key)}
            if like.label is not None:
                lent["label"] = like.label.model_dump()
            if lent:
                self._note(f"edge_types.{name}", "lent", f"{', '.join(lent)}: {lender.id}")
            document |= lent
        return document

    def _guidelines(self) -> Iterator[str]:
        """What the reader of answers is told beside kinds and relationships, one line each."""
        both = {**self._data, **self._ontology}
        if both.get("extraction_guidelines"):
            self._note("extraction_guidelines", "translated", "guidelines")
            yield from map(_line, both["extraction_guidelines"])
        if both.get("concept_naming_convention"):
            self._note("concept_naming_convention", "translated", "guidelines")
            yield _line(both["concept_naming_convention"])
        for name, example in _mapping(both, "relationship_examples").items():
            self._note(f"relationship_examples.{name}", "translated", "guidelines")
            meaning, words = example.get("description", name), example.get("example", "")
            yield _line(f"{meaning}: “{words}” gives {example.get('extraction', '')}")
        for key, lead in (("extractable_contains", "Worth reading"), ("non_extractable_contains", "Not worth reading")):
            listed = _mapping(both, "extractability_criteria").get(key)
            if listed:
                self._note(f"extractability_criteria.{key}", "translated", "guidelines")
                yield _line(f"{lead}: {'; '.join(map(str, listed))}")

    # --- questions

    def _opening(self, document: Document) -> Document:
        lent = self._kin.opening if self._kin and self._fits(self._kin.opening.elicits) else None
        if self._kin and lent:
            self._note("opening.questions", "lent", self._kin.id)
        questions = [question.model_dump() for question in lent.questions] if lent else [OPENING]
        goal = self._method.get("opening_bias") or document["goal"]
        return {"goal": goal, "elicits": lent.elicits if lent else "first", "questions": questions}

    def _fits(self, aim: str) -> bool:
        return aim in ("next", "same", "first", "none") or aim in self._types

    def _strategy(self, strategy: Mapping[str, Any], document: Document) -> Document:
        name = str(strategy.get("name"))
        closing = bool(strategy.get("generates_closing_question"))
        focus = not closing and strategy.get("node_binding") != "none"
        described = str(strategy.get("description") or name.replace("_", " "))
        weights = dict(self._weights(name, _mapping(strategy, "signal_weights")))
        if not weights:
            raise wrong(
                f"strategies: '{name}' weighs no signal that there is; give it one of {', '.join(sorted(SIGNALS))}"
            )
        self._note(f"strategies.{name}", "translated", f"strategies.{name}{' (closing)' if closing else ''}")
        if strategy.get("focus_mode"):
            self._note(f"strategies.{name}.focus_mode", "ignored", "a question has a concept in focus, or none")
        return {
            "label": name.replace("_", " "), "description": described, "goal": described, "focus": focus,
            "closing": closing, "weights": weights,
            "techniques": self._techniques(name, described, focus, closing, document),
        }  # fmt: skip

    def _techniques(self, name: str, described: str, focus: bool, closing: bool, document: Document) -> list[Document]:
        """Those of the same strategy of a shipped methodology; else the plainest questions that there are."""
        for lender in self._lenders:
            like = lender.strategies.get(name)
            lends = like is not None and like.focus == focus and _shared(lender, self._types) >= KIN
            ways = like.techniques if like and lends else ()
            if able := [way for way in ways if self._fits(way.elicits) and set(way.suits) <= set(self._types)]:
                self._note(f"strategies.{name}.techniques", "lent", lender.id)
                return [way.model_dump(mode="json") for way in able]
        plain = CLOSING if closing else PROBES if focus else ELSE
        self._note(f"strategies.{name}.techniques", "lent", "plain questions")
        return [
            {"id": way, "description": described, "elicits": elicits, "questions": [{LANGUAGE: question}]}
            for way, elicits, question in plain
            if elicits != "next" or document.get("ladder")
        ]

    # --- weights and phases

    def _weights(self, strategy: str, weights: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        taken = set[str]()
        for written, weight in weights.items():
            place, key = f"strategies.{strategy}.signal_weights.{written}", _renamed(str(written))
            if not _is_alive(key):
                self._note(place, "dead", nearest(key))
            elif key in taken:
                self._note(place, "ignored", f"{key} has a weight already")
            else:
                if key != written:
                    self._note(place, "translated", key)
                taken.add(key)
                yield key, weight

    def _phases(self) -> Document:
        phases: dict[str, Mapping[str, Any]] = {"early": {}, "mid": {}, "late": {}}
        bonuses = dict[str, Any]()
        for name, phase in _mapping(self._data, "phases").items():
            if name not in phases:
                self._note(f"phases.{name}", "dead", next(iter(difflib.get_close_matches(str(name), phases, 1, 0)), ""))
                continue
            phases[name] = _mapping(phase, "signal_weights")
            self._note(f"phases.{name}.signal_weights", "translated", f"phases.{name}")
            if added := _mapping(phase, "phase_bonuses"):
                bonuses[name] = added
                self._note(f"phases.{name}.phase_bonuses", "translated", f"bonuses.{name}")
        return {"phases": phases, **({"bonuses": bonuses} if bonuses else {})}

    def _signals(self) -> None:
        """All signals that there are are read at every turn: a list of them is not needed."""
        pools = _mapping(self._data, "signals")
        for pool, names in pools.items():
            for name in names or ():
                if _renamed(str(name)) not in SIGNALS and not str(name).startswith("graph.chain_completion"):
                    self._note(f"signals.{pool}.{name}", "dead", nearest(str(name), tuple(SIGNALS)))
        if pools:
            self._note("signals", "ignored", "every signal is read at every turn")


OPENING = {
    LANGUAGE: "What comes to your mind first about “{topic}”?",
    "de": "Was fällt Ihnen zum Thema „{topic}“ zuerst ein?",
}
PROBES = (
    ("why", "next", "“{focus}”: why does that matter to you?"),
    ("more", "none", "“{focus}”: what can you tell me about that?"),
    ("example", "none", "“{focus}”: can you give me an example?"),
)
ELSE = (
    ("what_else", "first", "What else matters to you about this topic?"),
    ("another_side", "first", "Which side of this topic have we not spoken of?"),
)
CLOSING = (("looking_back", "none", "Looking back: what matters most to you in all this?"),)
"""Plain questions, as (technique, what it brings, words)."""


# --- what is known here -----------------------------------------------------------------------------------------------


@cache
def _keys() -> tuple[str, ...]:
    """Every key that a weight may have."""
    words = [f"{name}.{word}" for name, signal in SIGNALS.items() for word in signal.words]
    return tuple(key for key in (*SIGNALS, *words) if _is_alive(key))


def nearest(key: str, keys: Sequence[str] = ()) -> str:
    """The key that is spelt most like this one."""
    return difflib.get_close_matches(key[:100], keys or _keys(), n=1, cutoff=0.0)[0]


def _renamed(key: str) -> str:
    return next((new + key.removeprefix(old) for old, new in RENAMED.items() if f"{key}.".startswith(f"{old}.")), key)


def _is_alive(key: str) -> bool:
    try:
        checked_key(key)
    except ValueError:
        return False
    return True


def _shared(method: InterviewMethod, types: Mapping[str, Any]) -> float:
    both = set(method.node_types) | set(types)
    return len(set(method.node_types) & set(types)) / len(both) if both else 0.0


# --- as it is written there -------------------------------------------------------------------------------------------


def _mapping(data: Mapping[Any, Any], key: str) -> Mapping[Any, Any]:
    value = data.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise wrong(f"{key}: is no mapping")
    return value or {}


def _listed(data: Mapping[Any, Any], key: str) -> Sequence[Mapping[str, Any]]:
    listed = data.get(key)
    if not isinstance(listed, list | tuple) or not all(isinstance(entry, Mapping) for entry in listed):
        raise wrong(f"{key}: is no list of mappings")
    names = [entry.get("name") for entry in listed if "name" in entry]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise wrong(f"{key}: '{twice[0]}' stands there twice")
    return listed


def _pair(pair: object) -> tuple[str, str]:
    if isinstance(pair, Mapping) and {"from", "to"} <= set(pair):
        return str(pair["from"]), str(pair["to"])
    if isinstance(pair, list | tuple) and len(pair) == 2:
        return str(pair[0]), str(pair[1])
    raise wrong(f"permitted_connections: {pair!r} is no [source, target]")


def _identifier(label: str) -> str:
    return re.sub(r"\W+", "_", label.casefold(), flags=re.ASCII).strip("_")[:60]


def _line(text: object) -> str:
    return " ".join(str(text).split())
