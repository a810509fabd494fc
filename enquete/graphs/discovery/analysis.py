"""What the interviews found: a record for each agent, what is known of each field, how many questions that took, what was
contradicted, who did the work. Interviews are rebuilt from their stored turns; one that was cut short counts with what it has.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from statistics import quantiles
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.inference import share_intervals
from enquete.analysis.means import share_interval
from enquete.graphs.discovery.completion import there
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.interview import DiscoveryTurn, Interview, begun
from enquete.graphs.discovery.record import values
from enquete.graphs.discovery.schema import Node, shown_path
from enquete.graphs.discovery.settings import DiscoverySettings
from enquete.graphs.discovery.tables import PRESENTATION
from enquete.nodes.conversations import stored_turns
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, shaped
from enquete.reports.group_tables import compared
from enquete.respondents.quoting import normal
from enquete.respondents.roles import RULE, RULE_AT_MOST
from enquete.state.asking import Language

MOST_NAMED = 100
"""Values of a field in a table; all are in the records."""
VERBATIM = 3
"""Interviews told verbatim in the appendix; all are in the transcripts."""

Row = dict[str, Any]


def analyse(
    frame: pd.DataFrame, instrument: DiscoveryInstrument, settings: DiscoverySettings, context: AnalysisContext
) -> Analysis:
    """Tables over the main arm's interviews."""
    people = frame.drop_duplicates("participant")[["participant", "stakeholder_type"]].astype(str)
    held = [
        Held(interview, kind)
        for unit, kind in people.itertuples(index=False)
        if (interview := stored_interview(unit, settings, context.frozen)).turns
    ]
    discovery, language = settings.discovery, context.language
    turns = [turn for one in held for turn in one.interview.turns]
    asked = Counter(shown_path(_plain_path(one.interview, path)) for one in held for path in one.interview.asked)
    nodes = list(discovery.walk())
    records = [one.record() for one in held]
    contradictions = [row for one in held for row in one.contradictions()]
    problems = Counter(problem.kind for turn in turns for problem in turn.problems)
    readers = Counter(turn.by.get("interpret") for turn in turns if turn.by.get("interpret"))
    curve = _curve(held)
    known = pd.DataFrame(
        {
            shown_path(node.path): [float(bool(one.known(node))) for one in held]
            for node in nodes
            if node.field.type != "object"
        },
        index=[one.interview.unit for one in held],
    )
    tables = {
        "fields": [_field(node, held, asked, language) for node in nodes],
        "named": [row for node in nodes for row in _named(node, held, language)], "records": records,
        "contradictions": contradictions, "curve": curve, "said": [row for one in held for row in one.said(language)],
        "left_out": [{"kind": kind, "n": n} for kind, n in sorted(problems.items())],
        "turns": [row for one in held for row in one.transcript()], **compared(known, context.groups_of(frame), "path"),
    }  # fmt: skip
    facts = {
        "ds": discovery.id, "title": discovery.title.in_(language), "objective": discovery.objective.in_(language),
        "complete_when": discovery.completion.text, "budget": settings.budget, "n": len(held), "n_total": len(people),
        "complete": sum(one.interview.complete for one in held),
        "spent": sum(one.interview.stop == "budget" and not one.interview.complete for one in held),
        "questions": len(turns) / len(held) if held else None, "read_by_rule": readers[RULE],
        "answers_read": readers.total(), "content": readers[RULE] <= RULE_AT_MOST * readers.total(),
        "contradicting": len({row["participant"] for row in contradictions}), "not_said": problems["not_said"],
        "values": sum(row["n_values"] for row in records),
        "first_three": [row["participant"] for row in records[:VERBATIM]],
        "shown_complete": curve[-1]["complete"] if curve else None,
        "last_question": curve[-1]["question"] if curve else None, "last_known": curve[-1]["known"] if curve else None,
    }  # fmt: skip
    return shaped(PRESENTATION, tables, facts)


def stored_interview(unit: str, settings: DiscoverySettings, frozen: Mapping[str, JsonValue]) -> Interview:
    """An agent's interview from its frozen turns, as far as it went."""
    return reduce(Interview.after, stored_turns(frozen.get, unit, DiscoveryTurn), begun(unit, settings))


@dataclass(frozen=True)
class Held:
    """An interview that was begun, and the group of its agent."""

    interview: Interview
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

    def record(self) -> Row:
        interview = self.interview
        return {
            "participant": interview.unit, "stakeholder_type": self.kind, "complete": interview.complete,
            "stop": interview.stop, "questions": len(interview.turns), "record": interview.record,
            "missing": [shown_path(path) for path in interview.discovery.completion.lacking(interview.record)],
            "n_values": sum(len(turn.told) for turn in interview.turns),
        }  # fmt: skip

    def said(self, language: Language) -> Iterator[Row]:
        for turn in self.interview.turns:
            for one in turn.told:
                node = self.interview.discovery.at(one.path)
                label = node.field.label.in_(language) if node else shown_path(one.path)
                told = one.model_dump(mode="json")
                value = (
                    told["value"]
                    if isinstance(told.get("value"), str)
                    else json.dumps(told.get("value"), ensure_ascii=False)
                )
                yield {"participant": self.interview.unit, "turn": turn.turn, "path": shown_path(one.path),
                    "field": label, "value": value,
                       "quote": told.get("quote")}  # fmt: skip

    def contradictions(self) -> Iterator[Row]:
        settled = {turn.about for turn in self.interview.turns if turn.settled}
        now = {path: value for path, _, value in values(self.interview.discovery.nodes, self.interview.record)}
        for turn in self.interview.turns:
            for one in turn.contradictions:
                yield {
                    "participant": self.interview.unit, "turn": turn.turn, "path": shown_path(one.path),
                    "earlier": _text(one.earlier), "later": _text(one.later), "asked": one.path in settled,
                    "now": _text(now.get(one.path)),
                }  # fmt: skip

    def transcript(self) -> Iterator[Row]:
        for turn in self.interview.turns:
            yield {
                "participant": self.interview.unit, "turn": turn.turn, "about": shown_path(turn.about),
                "question": turn.question, "answer": turn.answer, "status": turn.status, "found": dict(turn.found),
                "by": dict(turn.by), "stop": turn.stop,
            }  # fmt: skip


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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


def _field(node: Node, held: Sequence[Held], asked: Mapping[str, int], language: Language) -> Row:
    """Who has something there, after how many questions; of numbers their quartiles, of yes or no the share of yes."""
    known = [(one, found) for one in held if (found := one.known(node))]
    first = [turn for one, _ in known if (turn := one.first(node)) is not None]
    row: Row = {
        "path": shown_path(node.path), "label": node.field.label.in_(language), "type": node.field.type,
        "unit": node.field.unit.in_(language) if node.field.unit else None, "required": node.field.required,
        "n": len(known), "n_total": len(held), "asked": asked.get(shown_path(node.path), 0),
        "first_question": sum(first) / len(first) if first else None,
        **dict.fromkeys(("different", "n_yes", "yes_share", "low", "high", "median", "q1", "q3")),
    }  # fmt: skip
    if node.field.type == "number":
        numbers = [float(value) for _, found in known for value in found]
        if numbers:
            row["q1"], row["median"], row["q3"] = (
                quantiles(numbers, n=4, method="inclusive") if len(numbers) > 1 else numbers * 3
            )
    elif node.field.type == "boolean" and known:
        row["n_yes"] = sum(any(found) for _, found in known)
        interval = share_interval(row["n_yes"], len(known))
        row |= {"yes_share": interval["share"], "low": interval["low"], "high": interval["high"]}
    elif node.field.type != "object":
        row["different"] = len({normal(str(value)) for _, found in known for value in found})
    return row


def _named(node: Node, held: Sequence[Held], language: Language) -> Iterator[Row]:
    """Values of a field by how many agents named them, the most named first; intervals hold for the most named."""
    if node.field.type in ("number", "boolean", "object"):
        return
    known = [found for one in held if (found := one.known(node))]
    labels = {each: value.label.in_(language) for each, value in node.field.values.items()}
    spoken: dict[str, str] = {}
    for own in known:
        for value in own:
            spoken.setdefault(normal(str(value)), labels.get(str(value), str(value)))
    named = Counter(key for own in known for key in {normal(str(value)) for value in own})
    ordered = sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))
    bounds = share_intervals([n for _, n in ordered], len(known), selected="highest")
    most = ordered[0][1] if ordered else 0
    for place, ((key, n), (low, high)) in enumerate(zip(ordered, bounds[["low", "high"]].to_numpy(), strict=True), 1):
        if place <= MOST_NAMED:
            yield {
                "path": shown_path(node.path), "value": spoken[key], "place": place, "agents": n, "n": len(known),
                "n_total": len(held), "share": n / len(known), "low": low, "high": high,
                "tied": sum(count == most for _, count in ordered), "first": n == most,
                "told": node.field.required or 2 * len(known) >= len(held),
            }  # fmt: skip


def _curve(held: Sequence[Held]) -> list[Row]:
    """After each question: complete records, and the mean share of fields that are known, over all interviews begun."""
    if not held:
        return []
    fields = len(list(held[0].interview.discovery.walk()))
    stages = [list(_stages(one.interview)) for one in held]
    longest = max(len(own) for own in stages)
    rows = []
    for n in range(1, longest + 1):
        now = [own[min(n, len(own)) - 1] for own in stages]
        complete = sum(one.complete for one in now)
        known = sum(map(_known, now)) / len(now) / fields
        rows.append(
            {
                "question": n,
                "complete": complete,
                "complete_share": complete / len(now),
                "known": known,
                "n_total": len(now),
            }
        )
    return rows


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
