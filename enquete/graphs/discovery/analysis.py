"""What the interviews found: a record for each agent, what is known of each field, how many questions that took, what was
contradicted, who did the work. Interviews are rebuilt from their stored turns; one that was cut short counts with what it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from statistics import quantiles
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.discovery.completion import there
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.interview import DiscoveryTurn, Interview, begun
from enquete.graphs.discovery.record import values
from enquete.graphs.discovery.schema import Node, shown_path
from enquete.graphs.discovery.settings import DiscoverySettings
from enquete.nodes.conversations import stored_turns
from enquete.reports.context import AnalysisContext, Found, counted, findings
from enquete.respondents.quoting import normal
from enquete.state.asking import Language

MOST_NAMED = 10
"""Of what was named in a field; all are in the records."""


def analyse(
    frame: pd.DataFrame, instrument: DiscoveryInstrument, settings: DiscoverySettings, context: AnalysisContext
) -> Found:
    """Findings over the main arm's interviews; see reports/findings.py for the contract."""
    people = frame.drop_duplicates("participant")[["participant", "agent_name", "stakeholder_type"]].astype(str)
    held = [
        Held(interview, name, kind)
        for unit, name, kind in people.itertuples(index=False)
        if (interview := stored_interview(unit, settings, context.frozen)).turns
    ]
    discovery, language = settings.discovery, context.language
    asked = Counter(shown_path(_plain_path(one.interview, path)) for one in held for path in one.interview.asked)
    found = {
        "language": language,
        "answers": counted(frame),
        "ds": discovery.id,
        "title": discovery.title.in_(language),
        "topic": instrument.topic.in_(language),
        "objective": discovery.objective.in_(language),
        "complete_when": discovery.completion.text,
        "budget": settings.budget,
        "interviews": {
            "begun": len(held),
            "total": len(people),
            "complete": sum(one.interview.complete for one in held),
            "spent": sum(one.interview.stop == "budget" and not one.interview.complete for one in held),
        },
        "fields": [_field(node, held, asked, language) for node in discovery.walk()],
        "records": [one.record() for one in held],
        "curve": _curve(held, settings.budget),
        "models": {role: dict(sorted(Counter(t.by.get(role, "") for one in held for t in one.interview.turns if t.by.get(role)).items()))
                   for role in ("question", "interpret")},
        "problems": dict(sorted(Counter(p.kind for one in held for t in one.interview.turns for p in t.problems).items())),
        "turns": [turn for one in held for turn in one.transcript()],
    }  # fmt: skip
    return findings(context, found)


def stored_interview(unit: str, settings: DiscoverySettings, frozen: Mapping[str, JsonValue]) -> Interview:
    """An agent's interview from its frozen turns, as far as it went."""
    return reduce(Interview.after, stored_turns(frozen.get, unit, DiscoveryTurn), begun(unit, settings))


@dataclass(frozen=True)
class Held:
    """An interview that was begun, and with whom."""

    interview: Interview
    name: str
    kind: str

    def known(self, node: Node) -> list[Any]:
        """What the record has at a field, of all entries of the lists it stands in; entries themselves by their key."""
        return list(_values(node.path, self.interview.discovery.nodes, self.interview.record))

    def first(self, node: Node) -> int | None:
        """The question that first brought something for it."""
        told = (
            turn.turn
            for turn in self.interview.turns
            for one in turn.told
            if _plain_path(self.interview, one.path) == node.path
        )
        return min(told, default=None)

    def record(self) -> dict[str, Any]:
        interview = self.interview
        return {
            "participant": interview.unit,
            "name": self.name,
            "stakeholder_type": self.kind,
            "complete": interview.complete,
            "stop": interview.stop,
            "questions": len(interview.turns),
            "record": interview.record,
            "missing": [shown_path(path) for path in interview.discovery.completion.lacking(interview.record)],
            "told": [one.model_dump(mode="json") for turn in interview.turns for one in turn.told],
            "contradictions": list(self._contradictions()),
            "problems": [{"turn": turn.turn, **one.model_dump()} for turn in interview.turns for one in turn.problems],
        }

    def _contradictions(self) -> Iterator[dict[str, Any]]:
        settled = {turn.about for turn in self.interview.turns if turn.settled}
        now = {path: value for path, _, value in values(self.interview.discovery.nodes, self.interview.record)}
        for turn in self.interview.turns:
            for one in turn.contradictions:
                yield {
                    "path": shown_path(one.path), "earlier": one.earlier, "later": one.later, "turn": turn.turn,
                    "asked": one.path in settled, "now": now.get(one.path),
                }  # fmt: skip

    def transcript(self) -> Iterator[dict[str, Any]]:
        for turn in self.interview.turns:
            yield {
                "participant": self.interview.unit, "name": self.name, "turn": turn.turn, "about": shown_path(turn.about),
                "question": turn.question, "answer": turn.answer, "status": turn.status, "found": dict(turn.found),
                "by": dict(turn.by), "stop": turn.stop,
            }  # fmt: skip


def _values(path: Sequence[str], nodes: Mapping[str, Node], record: Mapping[str, Any]) -> Iterator[Any]:
    node = nodes[path[0]]
    value: Any = record.get(path[0])
    if not there(value):
        return
    if node.field.type == "list":
        key = str(node.field.key)
        for entry in value:
            yield from _values(path[1:], node.children, entry) if len(path) > 1 else [str(entry[key])]
    elif len(path) > 1:
        yield from _values(path[1:], node.children, value)
    elif node.field.type in ("choices", "texts"):
        yield from value
    else:
        yield value


def _plain_path(interview: Interview, path: tuple[str, ...]) -> tuple[str, ...]:
    node = interview.discovery.at(path)
    return node.path if node else path


def _field(node: Node, held: Sequence[Held], asked: Mapping[str, int], language: Language) -> dict[str, Any]:
    """Who has something there, after how many questions, and what it is."""
    known = [(one, one.known(node)) for one in held]
    some = [one for one, found in known if found]
    first = [turn for one in some if (turn := one.first(node)) is not None]
    return {
        "path": shown_path(node.path),
        "label": node.field.label.in_(language),
        "type": node.field.type,
        "unit": node.field.unit.in_(language) if node.field.unit else "",
        "required": node.field.required,
        "n_known": len(some),
        "n_total": len(held),
        "by_type": [
            {"stakeholder_type": kind, "n_known": sum(one.kind == kind for one in some), "n_total": total}
            for kind, total in sorted(Counter(one.kind for one in held).items())
        ],
        "asked": asked.get(shown_path(node.path), 0),
        "first_question": sum(first) / len(first) if first else None,
        **_content(node, [found for _, found in known if found], language),
    }


def _content(node: Node, found: Sequence[Sequence[Any]], language: Language) -> dict[str, Any]:
    """Of those who have something: shares of what was named, or of yes, or the quartiles."""
    match node.field.type:
        case "number":
            numbers = [float(value) for own in found for value in own]
            return {**_quartiles(numbers), "n_values": len(numbers)}
        case "boolean":
            return {"n_yes": sum(any(own) for own in found)}
        case "object":
            return {}
    labels = {each: value.label.in_(language) for each, value in node.field.values.items()}
    spoken: dict[str, str] = {}
    for own in found:
        for value in own:
            spoken.setdefault(normal(str(value)), labels.get(str(value), str(value)))
    named = Counter(key for own in found for key in {normal(str(value)) for value in own})
    ordered = sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_NAMED]
    return {"named": [{"value": spoken[key], "agents": n} for key, n in ordered], "different": len(named)}


def _quartiles(numbers: Sequence[float]) -> dict[str, float | None]:
    if len(numbers) < 2:
        return dict.fromkeys(("low", "median", "high"), numbers[0] if numbers else None)
    low, middle, high = quantiles(numbers, n=4, method="inclusive")
    return {"low": low, "median": middle, "high": high}


def _curve(held: Sequence[Held], budget: int) -> list[dict[str, Any]]:
    """After each question: complete records, and the mean share of fields that are known, over all interviews begun."""
    if not held:
        return []
    fields = len(list(held[0].interview.discovery.walk()))
    stages = [list(_stages(one.interview)) for one in held]
    longest = max(len(own) for own in stages)
    return [
        {
            "question": n,
            "complete": sum(own[min(n, len(own)) - 1].complete for own in stages),
            "known": sum(_known(own[min(n, len(own)) - 1]) for own in stages) / len(stages) / fields,
            "n_total": len(stages),
        }
        for n in range(1, longest + 1)
    ]


def _stages(interview: Interview) -> Iterator[Interview]:
    """The interview after each of its turns."""
    start = replace(interview, turns=(), record={}, budget=interview.budget + len(interview.turns))
    for turn in interview.turns:
        start = start.after(turn)
        yield start


def _known(interview: Interview) -> int:
    return sum(
        bool(list(_values(node.path, interview.discovery.nodes, interview.record)))
        for node in interview.discovery.walk()
    )
