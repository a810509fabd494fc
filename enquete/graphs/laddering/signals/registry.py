"""All signals by name, and their detection in two passes: first what is read off the interview, then meta from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from enquete.graphs.laddering.signals import of_concept, of_interview  # noqa: F401  # they fill the lists
from enquete.graphs.laddering.signals.base import (
    OF_CONCEPT,
    OF_INTERVIEW,
    OF_PAIR,
    OF_STRATEGY,
    Number,
    Signal,
    Value,
    Values,
    View,
)
from enquete.instruments.reading import suggestion, wrong

SIGNALS: Mapping[str, Signal[...]] = {
    one.name: one for kind in (OF_INTERVIEW, OF_CONCEPT, OF_STRATEGY, OF_PAIR) for one in kind
}


@dataclass(frozen=True)
class Detected:
    """The signals of one turn: of the interview, by node, by strategy, by (strategy, node). All values are flat."""

    interview: Values
    nodes: Mapping[str, Values]
    strategies: Mapping[str, Values]
    pairs: Mapping[tuple[str, str], Values]

    def of(self, strategy: str, node: str) -> dict[str, Value]:
        """What counts for a strategy used on a node ("" for none); a node's signals win over the interview's."""
        return {
            **self.interview,
            **self.strategies.get(strategy, {}),
            **self.nodes.get(node, {}),
            **self.pairs.get((strategy, node), {}),
        }


def detect(view: View, strategies: list[str]) -> Detected:
    """All signals that have something to say."""
    first = {s.name: v for s in OF_INTERVIEW if not s.is_meta and (v := s.detect(view)) is not None}
    nodes = {node: _of_node(view, node, meta=False) for node in view.graph.nodes}
    seen = replace(view, interview=first, nodes=nodes)
    second = {s.name: v for s in OF_INTERVIEW if s.is_meta and (v := s.detect(seen)) is not None}
    return Detected(
        interview={**first, **second},
        nodes={node: {**values, **_of_node(seen, node, meta=True)} for node, values in nodes.items()},
        strategies={
            strategy: {s.name: v for s in OF_STRATEGY if (v := s.detect(view, strategy)) is not None}
            for strategy in strategies
        },
        pairs={
            (strategy, node): {s.name: v for s in OF_PAIR if (v := s.detect(view, node, strategy)) is not None}
            for strategy in strategies
            for node in view.graph.nodes
        },
    )


def _of_node(view: View, node: str, *, meta: bool) -> dict[str, Value]:
    return {s.name: v for s in OF_CONCEPT if s.is_meta == meta and (v := s.detect(view, node)) is not None}


@cache
def split_key(key: str) -> tuple[str, str]:
    """A weight key as (signal, word): 'graph.node.exhausted.true' → ('graph.node.exhausted', 'true'); word '' for a bare one."""
    if key in SIGNALS:
        return key, ""
    name, _, word = key.rpartition(".")
    return name, word


def checked_key(key: str) -> str:
    """Validator of a weight key: a registered signal, and a value that it can take."""
    name, word = split_key(key)
    if name not in SIGNALS:
        raise wrong(f"'{key}' names no signal{suggestion(name if word in _ALL_WORDS else key, sorted(SIGNALS))}")
    scale = SIGNALS[name].scale
    if not word and not isinstance(scale, Number) and scale.words != ("true", "false"):
        raise wrong(f"'{key}' is a category; name one of its values, such as {name}.{scale.words[0]}")
    if word and word not in scale.words:
        raise wrong(f"'{key}': {name} is never '{word}'; write {' or '.join(f'{name}.{one}' for one in scale.words)}")
    return key


_ALL_WORDS = frozenset(word for signal in SIGNALS.values() for word in signal.scale.words)
