"""Result tables of discovery interviews: stored turns in, one DataFrame a table out.

`analyse` rebuilds the interviews once (`DiscoveryData`) and calls one function a table; an interview that was cut short
counts with what it has. all_responses.csv has the interviews' words, the tables have what was read in them. What a
column means is in `reports/columns.yaml`, sentences are in `findings.py`, the section of the report is in
`report.md.j2`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import share_intervals
from enquete.instruments.expressions import there
from enquete.locale import N_
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interview import DiscoveryInterview, DiscoverySettings, DiscoveryTurn, begun
from enquete.methods.discovery.originals import is_quantity
from enquete.methods.discovery.record import amount_of, as_said, is_unclear, values
from enquete.methods.discovery.schema import DiscoverySchema, FieldNode, shown_path
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, Row, compared, shape_results
from enquete.reports.group_tables import declare_group_tables
from enquete.respondents.roles import RULE, RULE_AT_MOST, normal
from enquete.runs.conversations import stored_turns
from enquete.state.asking import Language

MAX_NAMED = 100
"""Values of a field in a table; all are in the records."""
MAX_VERBATIM = 3
"""Interviews told verbatim in the appendix; all are in the transcripts."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("discovery")
TABLES = (
    GLOSSARY.table(
        "fields", N_("What is known, by field"), key="path", label="label",
        columns="path label type unit required n n_total asked first_question different n_yes yes_share low high "
                "median q1 q3 n_unclear",
    ),
    GLOSSARY.table(
        "named", N_("What was named"), key="path value", replicates=("first",),
        columns="path value place agents n n_total share low high tied first told",
    ),
    *declare_group_tables(GLOSSARY, N_("Of whom a field is known, by group"), by="path"),
    GLOSSARY.table(
        "records", N_("Records"), key="participant",
        columns="participant stakeholder_type complete stop questions missing n_values record",
        note=N_("Complete when: {complete_when}."),
    ),
    GLOSSARY.table(
        "said", N_("Values and the words they rest on"), key="participant turn path value", one_agent=True,
        columns="participant turn path field value quote",
    ),
    GLOSSARY.table(
        "contradictions", N_("Contradictions"), key="participant turn path",
        columns="participant turn path earlier later asked now",
    ),
    GLOSSARY.table(
        "curve", N_("Records after each question"), key="question",
        columns="question complete n_total complete_share known",
    ),
    GLOSSARY.table("left_out", N_("Left out of the records"), key="kind", columns="kind n"),
    GLOSSARY.table(
        "turns", N_("Transcripts"), key="participant turn",
        columns="participant turn about question answer status found by stop",
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "ds title objective complete_when budget n n_total complete spent questions read_by_rule answers_read content "
    "contradicting not_said values first_three shown_complete last_question last_known translated n_translated"
)


def analyse(
    frame: pd.DataFrame, instrument: DiscoveryInstrument, settings: DiscoverySettings, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of the interviews.

    Args:
        frame: one row an answer, of the main arm.
        instrument: what was asked.
        settings: of the run, with the schema.
        context: the pinned turns, the language of labels, and what agents are compared by.
    """
    run = DiscoveryData.prepare(frame, settings, context)
    records, contradictions, curve = list_records(run), list_contradictions(run), follow_curve(run)
    tables = {
        "fields": describe_fields(run),
        "named": count_named_values(run),
        **compare_groups(run, context.groups_of(frame)),
        "records": records,
        "said": list_told_values(run),
        "contradictions": contradictions,
        "curve": curve,
        "left_out": count_left_out(run),
        "turns": list_turns(run),
    }
    facts = {
        **describe_schema(run.discovery, run.language),
        **count_interviews(run),
        **count_readings(run),
        **state_end(curve),
        "budget": int(settings.budget),
        "contradicting": contradictions["participant"].nunique() if len(contradictions) else 0,
        "first_three": [talk.unit for talk in run.interviews[:MAX_VERBATIM]],
    }
    return shape_results(TABLES, FACTS, tables, facts)


def stored_interview(unit: str, settings: DiscoverySettings, pinned: Mapping[str, JsonValue]) -> DiscoveryInterview:
    """Return an agent's interview from its pinned turns, as far as it went."""
    return reduce(DiscoveryInterview.after, stored_turns(pinned.get, unit, DiscoveryTurn), begun(unit, settings))


@dataclass(frozen=True)
class DiscoveryData:
    """The interviews of an arm that were begun, rebuilt from their turns.

    Attributes:
        interviews: in the order of the agents.
        types: stakeholder type of every agent that was to be interviewed.
        discovery: the schema that they fill.
        language: of labels.
    """

    interviews: Sequence[DiscoveryInterview]
    types: Mapping[str, str]
    discovery: DiscoverySchema
    language: Language

    @classmethod
    def prepare(cls, frame: pd.DataFrame, settings: DiscoverySettings, context: AnalysisContext) -> DiscoveryData:
        people = frame.drop_duplicates("participant")
        types = dict(zip(people["participant"].astype(str), people["stakeholder_type"].astype(str), strict=True))
        stored = [stored_interview(unit, settings, context.pinned) for unit in types]
        begun_ones = [talk for talk in stored if talk.turns]
        return cls(begun_ones, types, settings.discovery, context.language)

    @cached_property
    def nodes(self) -> list[FieldNode]:
        """All fields, parts included."""
        return list(self.discovery.walk())

    @cached_property
    def turns(self) -> list[tuple[DiscoveryInterview, DiscoveryTurn]]:
        return [(talk, turn) for talk in self.interviews for turn in talk.turns]

    @cached_property
    def known(self) -> dict[str, dict[str, list[Any]]]:
        """By field and agent what the record has there, without agents whose record has nothing."""
        return {
            shown_path(node.path): {
                talk.unit: contents
                for talk in self.interviews
                if (contents := list(_contents_at(node.path, talk.discovery.nodes, talk.record)))
            }
            for node in self.nodes
        }


def _contents_at(path: Sequence[str], nodes: Mapping[str, FieldNode], record: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what a record has at a field, of all entries of the lists it stands in; entries themselves by their key."""
    node = nodes[path[0]]
    value: Any = record.get(path[0])
    if not there(value):
        return
    if node.field.type == "list":
        for entry in value:
            yield from _contents_at(path[1:], node.children, entry) if len(path) > 1 else [str(entry[node.key])]
    elif len(path) > 1:
        yield from _contents_at(path[1:], node.children, value)
    elif node.field.type in ("choices", "texts", "rows"):
        yield from value
    else:
        yield value


def _plain_path(interview: DiscoveryInterview, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path of the field, without the keys of entries."""
    node = interview.discovery.at(path)
    return node.path if node else path


def write_value(value: Any) -> str | None:
    """Return a value as text: amounts as they were said, all that is no text as JSON."""
    if isinstance(value, Mapping) and is_quantity(value):
        return as_said(value)
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def say_value(value: Any) -> str:
    """Return a value in a line."""
    if isinstance(value, Mapping):
        return as_said(value)
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)


def describe_fields(run: DiscoveryData) -> pd.DataFrame:
    """Return of every field of how many agents it is known, after how many questions, and what was said."""
    asked = Counter(shown_path(_plain_path(talk, path)) for talk in run.interviews for path in talk.asked)
    first = find_first_questions(run)
    rows = []
    for node in run.nodes:
        path, field = shown_path(node.path), node.field
        known = run.known[path]
        firsts = pd.Series([first[path, unit] for unit in known if (path, unit) in first], dtype=float)
        rows.append({
            "path": path, "label": field.label.in_(run.language), "type": field.type,
            "unit": field.unit.in_(run.language) if field.unit else None, "required": field.required,
            "n": len(known), "n_total": len(run.interviews), "asked": asked.get(path, 0),
            "first_question": firsts.mean(), **describe_contents(node, list(known.values())),
        })  # fmt: skip
    return pd.DataFrame(rows)


def find_first_questions(run: DiscoveryData) -> dict[tuple[str, str], int]:
    """Return by field and agent the number of the question that first brought something for it."""
    first: dict[tuple[str, str], int] = {}
    for talk, turn in run.turns:
        for entry in turn.told:
            key = shown_path(_plain_path(talk, entry.path)), talk.unit
            first[key] = min(turn.turn, first.get(key, turn.turn))
    return first


def describe_contents(node: FieldNode, contents: Sequence[list[Any]]) -> Row:
    """Return quartiles of numbers, the share of yes, or how many different values there are.

    Args:
        node: the field.
        contents: what the record of each agent has there, of agents whose record has anything.
    """
    names = ("different", "n_yes", "yes_share", "low", "high", "median", "q1", "q3", "n_unclear")
    row: Row = dict.fromkeys(names)
    every = list(chain.from_iterable(contents))
    kind = node.field.type
    if kind in ("number", "quantity"):
        amounts = [amount_of(node.field, value) if isinstance(value, Mapping) else value for value in every]
        numbers = pd.Series([float(amount) for amount in amounts if amount is not None], dtype=float)
        row["n_unclear"] = sum(is_unclear(value) for value in every if isinstance(value, Mapping)) or None
        row["q1"], row["median"], row["q3"] = numbers.quantile([0.25, 0.5, 0.75])
    elif kind == "boolean" and contents:
        row["n_yes"] = sum(any(said) for said in contents)
        interval = share_interval(row["n_yes"], len(contents))
        row |= {"yes_share": interval["share"], "low": interval["low"], "high": interval["high"]}
    if kind not in ("number", "object") and row["n_yes"] is None:
        row["different"] = len({normal(say_value(value)) for value in every})
    return row


def count_named_values(run: DiscoveryData) -> pd.DataFrame:
    """Return the values of every field that is told in words, those that most agents named first."""
    nodes = [node for node in run.nodes if node.field.type not in ("number", "boolean", "object")]
    parts = [rank_named_values(run, node) for node in nodes if run.known[shown_path(node.path)]]
    return pd.concat(parts) if parts else pd.DataFrame()


def rank_named_values(run: DiscoveryData, node: FieldNode) -> pd.DataFrame:
    """Return the values of one field by how many agents named them. The intervals hold for the value named most."""
    path = shown_path(node.path)
    known = list(run.known[path].values())
    labels = {each: value.label.in_(run.language) for each, value in node.field.values.items()}
    spoken: dict[str, str] = {}
    for value in chain.from_iterable(known):
        spoken.setdefault(normal(say_value(value)), labels.get(str(value), say_value(value)))

    named = Counter(chain.from_iterable({normal(say_value(value)) for value in contents} for contents in known))
    ordered = sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))
    agents = pd.Series([n for _, n in ordered])
    bounds = share_intervals(agents.tolist(), len(known), selected="highest")
    is_most = agents.eq(agents.max())
    table = pd.DataFrame(
        {
            "path": path,
            "value": [spoken[key] for key, _ in ordered],
            "place": agents.index + 1,
            "agents": agents,
            "n": len(known),
            "n_total": len(run.interviews),
            "share": agents / len(known),
            "low": bounds["low"].to_numpy(),
            "high": bounds["high"].to_numpy(),
            "tied": is_most.sum(),
            "first": is_most,
            "told": node.field.required or 2 * len(known) >= len(run.interviews),
        }
    )
    return table.head(MAX_NAMED)


def compare_groups(run: DiscoveryData, groups: pd.Series[str]) -> dict[str, pd.DataFrame]:
    """Return of which groups of agents a field is known more often, with the tests, by table."""
    paths = [shown_path(node.path) for node in run.nodes if node.field.type != "object"]
    units = [talk.unit for talk in run.interviews]
    is_known = {path: [float(unit in run.known[path]) for unit in units] for path in paths}
    shares = pd.DataFrame(is_known, index=units)
    return compared(shares, groups, "path", ends=dict.fromkeys(paths, (0, 1)))


def list_records(run: DiscoveryData) -> pd.DataFrame:
    """Return the record of every agent, and what it still lacks."""
    rows = [
        {
            "participant": talk.unit, "stakeholder_type": run.types[talk.unit], "complete": talk.complete,
            "stop": talk.stop, "questions": len(talk.turns),
            "missing": [shown_path(path) for path in talk.discovery.completion.lacking(talk.record)],
            "n_values": sum(len(turn.told) for turn in talk.turns), "record": talk.record,
        }
        for talk in run.interviews
    ]  # fmt: skip
    return pd.DataFrame(rows)


def list_told_values(run: DiscoveryData) -> pd.DataFrame:
    """Return every value that was read, with the words that it rests on."""
    rows = []
    for talk, turn in run.turns:
        for entry in turn.told:
            node, path = talk.discovery.at(entry.path), shown_path(entry.path)
            rows.append({
                "participant": talk.unit, "turn": turn.turn, "path": path,
                "field": node.field.label.in_(run.language) if node else path,
                "value": write_value(entry.value) or "null", "quote": entry.quote,
            })  # fmt: skip
    return pd.DataFrame(rows)


def list_contradictions(run: DiscoveryData) -> pd.DataFrame:
    """Return what agents said against what they had said, and what their record has now."""
    settled = {(talk.unit, turn.about) for talk, turn in run.turns if turn.settled}
    now = {
        (talk.unit, path): value for talk in run.interviews for path, _, value in values(talk.discovery.nodes,
                                                                                         talk.record)
    }  # fmt: skip
    rows = [
        {
            "participant": talk.unit, "turn": turn.turn, "path": shown_path(both.path),
            "earlier": write_value(both.earlier), "later": write_value(both.later),
            "asked": (talk.unit, both.path) in settled, "now": write_value(now.get((talk.unit, both.path))),
        }
        for talk, turn in run.turns
        for both in turn.contradictions
    ]  # fmt: skip
    return pd.DataFrame(rows)


def count_left_out(run: DiscoveryData) -> pd.DataFrame:
    """Return how many values that were read are in no record, by reason."""
    problems = Counter(problem.kind for _, turn in run.turns for problem in turn.problems)
    return pd.DataFrame([{"kind": kind, "n": n} for kind, n in sorted(problems.items())])


def list_turns(run: DiscoveryData) -> pd.DataFrame:
    """Return every question with its answer, and what was found in it by whom."""
    rows = [
        {
            "participant": talk.unit, "turn": turn.turn, "about": shown_path(turn.about), "question": turn.question,
            "answer": turn.answer, "status": turn.status, "found": dict(turn.found), "by": dict(turn.by),
            "stop": turn.stop,
        }
        for talk, turn in run.turns
    ]  # fmt: skip
    return pd.DataFrame(rows)


def follow_curve(run: DiscoveryData) -> pd.DataFrame:
    """Return after each question how many records are complete, and the mean share of fields that are known.

    An interview that was over before counts with its last record.
    """
    stages = [list(_stages_of(talk)) for talk in run.interviews]
    rows = []
    for question in range(1, max(map(len, stages), default=0) + 1):
        now = [course[min(question, len(course)) - 1] for course in stages]
        complete = sum(stage.complete for stage in now)
        known = sum(map(_count_known_fields, now)) / len(now) / len(run.nodes)
        rows.append({
            "question": question, "complete": complete, "n_total": len(now), "complete_share": complete / len(now),
            "known": known,
        })  # fmt: skip
    return pd.DataFrame(rows)


def _stages_of(interview: DiscoveryInterview) -> Iterator[DiscoveryInterview]:
    """Yield the interview after each of its turns."""
    stage = replace(interview, turns=(), record={}, budget=interview.budget + len(interview.turns))
    for turn in interview.turns:
        stage = stage.after(turn)
        yield stage


def _count_known_fields(interview: DiscoveryInterview) -> int:
    nodes = interview.discovery.nodes
    return sum(any(True for _ in _contents_at(node.path, nodes, interview.record)) for node in
               interview.discovery.walk())  # fmt: skip


def describe_schema(discovery: DiscoverySchema, language: Language) -> Row:
    """Return what was to be found out."""
    translated = list(discovery.translated or ())
    return {
        "ds": discovery.id,
        "title": discovery.title.in_(language),
        "objective": discovery.objective.in_(language),
        "complete_when": discovery.completion.text,
        "translated": translated,
        "n_translated": len(translated),
    }


def count_interviews(run: DiscoveryData) -> Row:
    """Return how many interviews there are, how many ended in a complete record, and after how many questions."""
    n = len(run.interviews)
    return {
        "n": n,
        "n_total": len(run.types),
        "complete": sum(talk.complete for talk in run.interviews),
        "spent": sum(talk.stop == "budget" and not talk.complete for talk in run.interviews),
        "questions": len(run.turns) / n if n else None,
    }


def count_readings(run: DiscoveryData) -> Row:
    """Return who read the answers, and how much of what was read nobody had said.

    `content` says whether findings on content may be told: a model read most answers, for a rule knows words, not
    meanings. `values` were kept, `not_said` were left out.
    """
    readers = Counter(turn.by.get("interpret") for _, turn in run.turns if turn.by.get("interpret"))
    return {
        "read_by_rule": readers[RULE],
        "answers_read": readers.total(),
        "content": readers[RULE] <= RULE_AT_MOST * readers.total(),
        "not_said": sum(problem.kind == "not_said" for _, turn in run.turns for problem in turn.problems),
        "values": sum(len(turn.told) for _, turn in run.turns),
    }


def state_end(curve: pd.DataFrame) -> Row:
    """Return where the curve ends, which its picture says in words."""
    names = {"shown_complete": "complete", "last_question": "question", "last_known": "known"}
    return {fact: curve[column].iloc[-1] for fact, column in names.items()} if len(curve) else {}
