"""What discovery interviews give: a record for each agent, what is known of each field, how many questions that took,
what was contradicted, who did the work; their files, their health.

all_responses.csv has the interviews' words; what was read in them stands in the tables. Where a rule read more than
RULE_AT_MOST of the answers there is no finding on content: a rule knows words, not meanings. Interviews are rebuilt
from their stored turns; one that was cut short counts with what it has.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from statistics import quantiles
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.diagnostics import FREE, Threshold, judged
from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import share_intervals
from enquete.instruments.expressions import there
from enquete.locale import N_
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interview import DiscoveryInterview, DiscoverySettings, DiscoveryTurn, begun
from enquete.methods.discovery.originals import is_quantity
from enquete.methods.discovery.record import amount_of, as_said, is_unclear, values
from enquete.methods.discovery.schema import FieldNode, shown_path
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files
from enquete.reports.evaluation import Evaluation, Transcript, dialogue, lines_of, of_turn
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other
from enquete.reports.writing import lines
from enquete.respondents.roles import RULE, RULE_AT_MOST, normal
from enquete.runs.conversations import stored_turns
from enquete.state.asking import Language

TYPES = {
    "text": N_("text"), "texts": N_("texts"), "number": N_("number"), "quantity": N_("amount as said"),
    "boolean": N_("yes or no"), "row": N_("row"), "rows": N_("rows"),
    "choice": N_("choice"), "choices": N_("choices"), "object": N_("part"), "list": N_("list"),
}  # fmt: skip
STOPS = {"": N_("not ended"), "complete": N_("complete"), "budget": N_("budget of questions"), "refused": N_("refused")}
PROBLEMS = {
    "unknown": N_("fields that the schema does not have"), "unfit": N_("values that do not fit their field"),
    "not_said": N_("values that nobody said"),
}  # fmt: skip
FIELD = d.reference("path", N_("Field"), to="fields")
AGENT = d.reference("participant", N_("Agent"), to="agent")
N, TOTAL = d.integer("n", "n"), d.integer("n_total", "N")
LOW, HIGH = d.share("low", N_("lower bound")), d.share("high", N_("upper bound"))

FIELDS = d.Table(
    name="fields", title=N_("What is known, by field"), key=("path",), label="label",
    columns=(
        d.text("path", N_("path")), d.text("label", N_("Field")), d.code("type", N_("kind"), TYPES),
        d.text("unit", N_("unit")),
        d.flag("required", N_("required")), d.integer("n", N_("known of")), TOTAL, d.of("n", "n_total", N_("known of")),
        d.integer("asked", N_("asked for")), d.number("first_question", N_("after question"), digits=1),
        d.integer("different", N_("different values")), d.integer("n_yes", N_("yes")),
        d.share("yes_share", N_("share of yes")), LOW, HIGH,
        d.number("median", N_("median"), digits=1), d.number("q1", N_("lower quartile"), digits=1),
        d.number("q3", N_("upper quartile"), digits=1),
        d.integer("n_unclear", N_("unclear figures"),
                  means=N_("amounts such as 1.500, which may be 1.5 or 1500: kept as they were said, in no quartile")),
    ),
    views=(
        d.View(at="section", heading="", where="type != 'object'",
               columns=d.names("label n_of_n_total first_question different n_yes median q1 q3 unit n_unclear")),
        d.View(at="digest", where="type != 'object'", columns=d.names("label n n_total different median")),
    ),
)  # fmt: skip

NAMED = d.Table(
    name="named", title=N_("What was named"), key=("path", "value"),
    columns=(
        FIELD, d.text("value", N_("what was said")), d.integer("place", N_("place")), d.integer("agents", N_("agents")),
        N, TOTAL, d.share("share", N_("share")), LOW, HIGH, d.integer("tied", N_("as often named")),
        d.flag("first", N_("most named"), replicates=True),
        d.flag("told", N_("required, or known of half of the agents")),
    ),
    views=(
        d.View(at="section", where="place <= 3", columns=d.names("path value agents share")),
        d.View(at="appendix", by=("path",), most=10, columns=d.names("value agents n share")),
        d.View(at="digest", where="first", columns=d.names("path value agents n"), top=20),
    ),
)  # fmt: skip

RECORDS = d.Table(
    name="records", title=N_("Records"), key=("participant",),
    columns=(
        AGENT, d.STAKEHOLDER_TYPE, d.flag("complete", N_("complete")), d.code("stop", N_("ended"), STOPS),
        d.integer("questions", N_("Questions")), d.several("missing", N_("still missing")),
        d.integer("n_values", N_("values read")), d.nested("record", N_("record")),
    ),
    views=(d.View(at="appendix", columns=d.names("participant questions complete missing"), top=50),),
    note=N_("Complete when: {complete_when}."),
)  # fmt: skip

SAID = d.Table(
    name="said", title=N_("Values and the words they rest on"), key=("participant", "turn", "path", "value"),
    one_agent=True,
    columns=(
        AGENT, d.integer("turn", N_("question")), d.text("path", N_("path")), d.text("field", N_("Field")),
        d.text("value", N_("value")), d.text("quote", N_("words")),
    ),
)  # fmt: skip

CONTRADICTIONS = d.Table(
    name="contradictions", title=N_("Contradictions"), key=("participant", "turn", "path"),
    columns=(
        AGENT, d.integer("turn", N_("question")), d.text("path", N_("Field")), d.text("earlier", N_("first")),
        d.text("later", N_("then")), d.flag("asked", N_("asked about it")), d.text("now", N_("in the record")),
    ),
    views=(d.View(at="appendix", columns=d.names("participant path earlier later asked"), top=30),),
)  # fmt: skip

CURVE = d.Table(
    name="curve", title=N_("Records after each question"), key=("question",),
    columns=(
        d.integer("question", N_("questions asked")), d.integer("complete", N_("complete records")), TOTAL,
        d.share("complete_share", N_("complete records")), d.share("known", N_("fields known, on average")),
    ),
)  # fmt: skip

LEFT_OUT = d.Table(
    name="left_out", title=N_("Left out of the records"), key=("kind",),
    columns=(d.code("kind", N_("what"), PROBLEMS), d.integer("n", N_("values"))), views=(d.View(at="appendix"),),
)  # fmt: skip

TURNS = d.Table(
    name="turns", title=N_("Transcripts"), key=("participant", "turn"),
    columns=(
        AGENT, d.integer("turn", N_("turn")), d.text("about", N_("Field")), d.text("question", N_("question")),
        d.text("answer", N_("answer")),
        d.text("status", N_("status")), d.nested("found", N_("found")), d.nested("by", N_("by")),
        d.text("stop", N_("ended")),
    ),
    views=(d.View(at="appendix", heading=N_("The first interviews verbatim"), where="participant in @first_three",
        by=("participant",),
                  quote="answer", who=("turn", "question")),),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(FIELD, N_("Of whom a field is known, by group"), share=True)

FACTS = (
    d.text("ds"), d.text("title"), d.text("objective"), d.text("complete_when"), d.integer("budget"), N, TOTAL,
    d.integer("complete", N_("complete records")), d.integer("spent"), d.number("questions", digits=1),
    d.integer("read_by_rule"), d.integer("answers_read"), d.flag("content"), d.integer("contradicting"),
    d.integer("not_said"), d.integer("values"), d.several("first_three"), d.integer("shown_complete"),
    d.integer("last_question"), d.share("last_known"), d.several("translated"), d.integer("n_translated"),
)  # fmt: skip
"""content: findings on content may be told, a model read most answers. not_said, values: read, left out or kept."""

FINDINGS = (
    d.Finding(
        name="complete", where="n >= 5", size="complete / n", estimate="complete", chart="completeness", scale="0, n",
        says=N_("{complete} of {n} records of “{title}” are complete, after {questions} questions on average (n = "
                "{n}/{n_total} interviews)."),
    ),
    d.Finding(
        name="by_rule", kind="null", where="n >= 5 and not content",
        says=N_("What was said on “{title}” is read by words only: a rule stood in for the model and read "
                "{read_by_rule} of {answers_read} answers (n = {n}/{n_total})."),
    ),
    d.group_finding(
        FIELD, size="mean_highest - mean_lowest", chart="coverage",
        says=N_("Groups tell differently of “{path}”: known of {mean_highest} of {highest}, {mean_lowest} of "
                "{lowest} (adjusted {p}; n = {n}/{n_total})."),
        null=N_("No field is known of some groups more than of others ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
    ),
    d.Finding(
        name="named", table="named", where="first and told and tied == 1 and n >= 5 and @content", order=("-share",),
        top=3, size="share", estimate="share", low="low", high="high",
        says=N_("{path}: most named “{value}”, by {agents} agents ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="yes", table="fields", where="type == 'boolean' and n >= 5 and @content", order=("-n",), top=2,
        size="yes_share", estimate="yes_share", low="low", high="high",
        says=N_("{label}: yes for {n_yes} agents ({yes_share}, 95% interval {low} to {high}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="number", table="fields", where="type in ('number', 'quantity') and median == median and n >= 5 and "
            "@content",
        order=("-n",), top=2,
        estimate="median", says=N_("{label}: median {median} {unit}, middle half {q1} to {q3} (n = {n}/{n_total})."),
    ),
    d.Finding(
        name="contradictions", where="n >= 5 and contradicting > 0 and content", size="contradicting / n",
        says=N_("{contradicting:agent|agents} said contradictory things about something; each was asked which holds "
                "(n = {n}/{n_total})."),
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(
        name="completeness", title=N_("Discovery: records after each question"), needs=("curve",),
        draw="enquete.methods.discovery.charts:completeness",
        alt=N_("{shown_complete} of {n} records are complete after {last_question} questions; {last_known} of the "
               "fields are known."),
    ),
    d.Chart(
        name="coverage", title=N_("Discovery: what is known, by field and group"), needs=("fields",),
        draw="enquete.methods.discovery.charts:coverage",
        over=d.View(at="section", where="type != 'object'", order=("-n",)),
        alt=N_("Agents of whom a field is known; of most: {label}, {n} of {n_total}."),
    ),
)  # fmt: skip

PRESENTATION = d.Presentation(
    tables=(FIELDS, NAMED, GROUP_TESTS, GROUPS, RECORDS, SAID, CONTRADICTIONS, CURVE, LEFT_OUT, TURNS), facts=FACTS,
    findings=FINDINGS, charts=CHARTS,
    texts=(
        d.TextBlock(at="section", where="n > 0", says=N_(
            "Each agent was interviewed one to one to fill a record, “{title}”: after every answer the next question "
            "asked for what was still missing, {budget} questions at most. {complete} of {n} records are complete, "
            "after {questions} questions on average.")),
        d.TextBlock(at="section", where="read_by_rule > 0", says=N_(
            "A rule stood in for the model and read {read_by_rule} of {answers_read} answers: it knows words, not "
            "meanings.")),
        d.TextBlock(at="appendix", where="n_translated > 0", says=N_(
            "The schema “{ds}” says by example what it wants; this was made of it: {translated}.")),
    ),
)  # fmt: skip


MOST_NAMED = 100
"""Values of a field in a table; all are in the records."""
VERBATIM = 3
"""Interviews told verbatim in the appendix; all are in the transcripts."""


def analyse(
    frame: pd.DataFrame, instrument: DiscoveryInstrument, settings: DiscoverySettings, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's interviews."""
    people = frame.drop_duplicates("participant")[["participant", "stakeholder_type"]].astype(str)
    interviews = [
        RecordedInterview(interview, kind)
        for unit, kind in people.itertuples(index=False)
        if (interview := stored_interview(unit, settings, context.pinned)).turns
    ]
    discovery, language = settings.discovery, context.language
    turns = [turn for talk in interviews for turn in talk.interview.turns]
    asked = Counter(
        shown_path(_plain_path(talk.interview, path)) for talk in interviews for path in talk.interview.asked
    )
    nodes = list(discovery.walk())
    records = [talk.record() for talk in interviews]
    contradictions = [row for talk in interviews for row in talk.contradictions()]
    problems = Counter(problem.kind for turn in turns for problem in turn.problems)
    readers = Counter(turn.by.get("interpret") for turn in turns if turn.by.get("interpret"))
    curve = _curve(interviews)
    last = curve[-1] if curve else {}
    fields = [node for node in nodes if node.field.type != "object"]
    shares = pd.DataFrame(
        {shown_path(node.path): [float(bool(talk.known(node))) for talk in interviews] for node in fields},
        index=[talk.interview.unit for talk in interviews],
    )
    tables = {
        "fields": [_field(node, interviews, asked, language) for node in nodes],
        "named": [row for node in nodes for row in _named(node, interviews, language)], "records": records,
        "contradictions": contradictions, "curve": curve,
        "said": [row for talk in interviews for row in talk.said(language)],
        "left_out": [{"kind": kind, "n": n} for kind, n in sorted(problems.items())],
        "turns": [row for talk in interviews for row in talk.transcript()],
        **d.compared(shares, context.groups_of(frame), "path", ends=dict.fromkeys(shares, (0, 1))),
    }  # fmt: skip
    facts = {
        "ds": discovery.id, "title": discovery.title.in_(language), "objective": discovery.objective.in_(language),
        "complete_when": discovery.completion.text, "budget": int(settings.budget), "n": len(interviews),
        "n_total": len(people), "complete": sum(talk.interview.complete for talk in interviews),
        "spent": sum(talk.interview.stop == "budget" and not talk.interview.complete for talk in interviews),
        "questions": len(turns) / len(interviews) if interviews else None, "read_by_rule": readers[RULE],
        "answers_read": readers.total(), "content": readers[RULE] <= RULE_AT_MOST * readers.total(),
        "contradicting": len({row["participant"] for row in contradictions}), "not_said": problems["not_said"],
        "values": sum(row["n_values"] for row in records),
        "translated": list(discovery.translated or ()), "n_translated": len(discovery.translated or ()),
        "first_three": [row["participant"] for row in records[:VERBATIM]],
        "shown_complete": last.get("complete"), "last_question": last.get("question"), "last_known": last.get("known"),
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, facts)


def stored_interview(unit: str, settings: DiscoverySettings, pinned: Mapping[str, JsonValue]) -> DiscoveryInterview:
    """An agent's interview from its pinned turns, as far as it went."""
    return reduce(DiscoveryInterview.after, stored_turns(pinned.get, unit, DiscoveryTurn), begun(unit, settings))


@dataclass(frozen=True)
class RecordedInterview:
    """An interview that was begun, and the group of its agent."""

    interview: DiscoveryInterview
    kind: str

    def known(self, node: FieldNode) -> list[Any]:
        """What the record has at a field, of all entries of the lists it stands in; entries themselves by their key."""
        return list(_values(node.path, self.interview.discovery.nodes, self.interview.record))

    def first(self, node: FieldNode) -> int | None:
        """The question that first brought something for it."""
        turns = (
            turn.turn
            for turn in self.interview.turns
            for entry in turn.told
            if _plain_path(self.interview, entry.path) == node.path
        )
        return min(turns, default=None)

    def record(self) -> d.Row:
        interview = self.interview
        return {
            "participant": interview.unit, "stakeholder_type": self.kind, "complete": interview.complete,
            "stop": interview.stop, "questions": len(interview.turns), "record": interview.record,
            "missing": [shown_path(path) for path in interview.discovery.completion.lacking(interview.record)],
            "n_values": sum(len(turn.told) for turn in interview.turns),
        }  # fmt: skip

    def said(self, language: Language) -> Iterator[d.Row]:
        for turn in self.interview.turns:
            for entry in turn.told:
                node = self.interview.discovery.at(entry.path)
                yield {
                    "participant": self.interview.unit, "turn": turn.turn, "path": shown_path(entry.path),
                    "field": node.field.label.in_(language) if node else shown_path(entry.path),
                    "value": _text(entry.value) or "null", "quote": entry.quote,
                }  # fmt: skip

    def contradictions(self) -> Iterator[d.Row]:
        settled = {turn.about for turn in self.interview.turns if turn.settled}
        now = {path: value for path, _, value in values(self.interview.discovery.nodes, self.interview.record)}
        for turn in self.interview.turns:
            for both in turn.contradictions:
                yield {
                    "participant": self.interview.unit, "turn": turn.turn, "path": shown_path(both.path),
                    "earlier": _text(both.earlier), "later": _text(both.later), "asked": both.path in settled,
                    "now": _text(now.get(both.path)),
                }  # fmt: skip

    def transcript(self) -> Iterator[d.Row]:
        for turn in self.interview.turns:
            yield {
                "participant": self.interview.unit, "turn": turn.turn, "about": shown_path(turn.about),
                "question": turn.question, "answer": turn.answer, "status": turn.status, "found": dict(turn.found),
                "by": dict(turn.by), "stop": turn.stop,
            }  # fmt: skip


def _text(value: Any) -> str | None:
    if isinstance(value, Mapping) and is_quantity(value):
        return as_said(value)
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _values(path: Sequence[str], nodes: Mapping[str, FieldNode], record: Mapping[str, Any]) -> Iterator[Any]:
    node = nodes[path[0]]
    value: Any = record.get(path[0])
    if not there(value):
        return
    if node.field.type == "list":
        for entry in value:
            yield from _values(path[1:], node.children, entry) if len(path) > 1 else [str(entry[node.key])]
    elif len(path) > 1:
        yield from _values(path[1:], node.children, value)
    elif node.field.type in ("choices", "texts", "rows"):
        yield from value
    else:
        yield value


def _plain_path(interview: DiscoveryInterview, path: tuple[str, ...]) -> tuple[str, ...]:
    node = interview.discovery.at(path)
    return node.path if node else path


def _field(
    node: FieldNode, interviews: Sequence[RecordedInterview], asked: Mapping[str, int], language: Language
) -> d.Row:
    """Who has something there, after how many questions; of numbers their quartiles, of yes or no the share of yes."""
    pairs = [(talk, contents) for talk in interviews if (contents := talk.known(node))]
    first = [turn for talk, _ in pairs if (turn := talk.first(node)) is not None]
    every = list(chain.from_iterable(contents for _, contents in pairs))
    row: d.Row = {
        "path": shown_path(node.path), "label": node.field.label.in_(language), "type": node.field.type,
        "unit": node.field.unit.in_(language) if node.field.unit else None, "required": node.field.required,
        "n": len(pairs), "n_total": len(interviews), "asked": asked.get(shown_path(node.path), 0),
        "first_question": sum(first) / len(first) if first else None,
        **dict.fromkeys(("different", "n_yes", "yes_share", "low", "high", "median", "q1", "q3", "n_unclear")),
    }  # fmt: skip
    if node.field.type in ("number", "quantity"):
        amounts = (amount_of(node.field, value) if isinstance(value, Mapping) else value for value in every)
        numbers = [float(number) for number in amounts if number is not None]
        row["n_unclear"] = sum(is_unclear(value) for value in every if isinstance(value, Mapping)) or None
        if len(numbers) > 1:
            row["q1"], row["median"], row["q3"] = quantiles(numbers, n=4, method="inclusive")
        elif numbers:
            row |= dict.fromkeys(("q1", "median", "q3"), numbers[0])
    elif node.field.type == "boolean" and pairs:
        row["n_yes"] = sum(any(contents) for _, contents in pairs)
        interval = share_interval(row["n_yes"], len(pairs))
        row |= {"yes_share": interval["share"], "low": interval["low"], "high": interval["high"]}
    if node.field.type not in ("number", "object") and row["n_yes"] is None:
        row["different"] = len({normal(_words(value)) for value in every})
    return row


def _named(node: FieldNode, interviews: Sequence[RecordedInterview], language: Language) -> Iterator[d.Row]:
    """Values of a field by how many agents named them, the most named first; intervals hold for the most named."""
    if node.field.type in ("number", "boolean", "object"):
        return
    known = [contents for talk in interviews if (contents := talk.known(node))]
    labels = {each: value.label.in_(language) for each, value in node.field.values.items()}
    spoken: dict[str, str] = {}
    for value in chain.from_iterable(known):
        spoken.setdefault(normal(_words(value)), labels.get(str(value), _words(value)))
    named = Counter(chain.from_iterable({normal(_words(value)) for value in contents} for contents in known))
    ordered = sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))
    bounds = share_intervals([n for _, n in ordered], len(known), selected="highest")
    most = ordered[0][1] if ordered else 0
    rows = zip(ordered, bounds[["low", "high"]].to_numpy(), strict=True)
    for place, ((key, n), (low, high)) in enumerate(islice(rows, MOST_NAMED), 1):
        yield {
            "path": shown_path(node.path), "value": spoken[key], "place": place, "agents": n, "n": len(known),
            "n_total": len(interviews), "share": n / len(known), "low": low, "high": high,
            "tied": sum(count == most for _, count in ordered), "first": n == most,
            "told": node.field.required or 2 * len(known) >= len(interviews),
        }  # fmt: skip


def _words(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, Mapping):
        return as_said(value)
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)


def _curve(interviews: Sequence[RecordedInterview]) -> list[d.Row]:
    """After each question: complete records, and the mean share of fields that are known, over all interviews begun."""
    if not interviews:
        return []
    fields = len(list(interviews[0].interview.discovery.walk()))
    stages = [list(_stages(talk.interview)) for talk in interviews]
    rows = []
    for n in range(1, max(map(len, stages)) + 1):
        now = [course[min(n, len(course)) - 1] for course in stages]
        complete, share = sum(stage.complete for stage in now), sum(map(_known, now)) / len(now) / fields
        rows.append({"question": n, "complete": complete, "complete_share": complete / len(now), "known": share,
                     "n_total": len(now)})  # fmt: skip
    return rows


def _stages(interview: DiscoveryInterview) -> Iterator[DiscoveryInterview]:
    """The interview after each of its turns."""
    start = replace(interview, turns=(), record={}, budget=interview.budget + len(interview.turns))
    for turn in interview.turns:
        start = start.after(turn)
        yield start


def _known(interview: DiscoveryInterview) -> int:
    return sum(
        bool(list(_values(node.path, interview.discovery.nodes, interview.record)))
        for node in interview.discovery.walk()
    )


# --- One agent's interview as it is read: questions and answers, and beside each answer what was found in it ---------


def transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if turns:
        read = [[f"{name}: {_value(value)}" for name, value in (turn.get("found") or {}).items()] for turn in turns]
        yield Transcript(str(turns[0]["name"]), dialogue(turns, read, language))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, records as they are and as a table (CSV, a column a field), coverage by field."""
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    paths = [str(row["path"]) for row in results.rows("fields") if row["type"] != "object"]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [{**row, "name": names.get(row["participant"])} for row in results.rows("turns")],
        "records.csv": record_table(results.rows("records"), names, paths),
        "records.jsonl": results.rows("records"),
        "coverage.json": results.without("records", "turns", "flags"),
    }


def record_table(rows: Iterable[Mapping[str, Any]], names: Mapping[str, str], paths: Sequence[str]) -> pd.DataFrame:
    """A row an agent, a column a field by its path; words behind values are in tables/said.csv."""
    return pd.DataFrame([
        {"participant": row["participant"], "name": names.get(row["participant"]),
         "stakeholder_type": row["stakeholder_type"], "complete": row["complete"], "questions": row["questions"],
         "missing": "; ".join(row["missing"]), **{path: _cell(row["record"], path.split(".")) for path in paths}}
        for row in rows
    ])  # fmt: skip


def _cell(record: Any, path: Sequence[str]) -> str:
    """Of a list's entries one after another, each after its key."""
    if record is None:
        return ""
    if isinstance(record, list) and record and isinstance(record[0], Mapping):
        keys = [str(next(iter(entry.values()))) for entry in record]
        if not path:
            return "; ".join(keys)
        cells = [_cell(entry.get(path[0]), path[1:]) for entry in record]
        return "; ".join(f"{key}: {cell}" for key, cell in zip(keys, cells, strict=True) if cell)
    if path:
        return _cell(record.get(path[0]), path[1:]) if isinstance(record, Mapping) else ""
    if isinstance(record, list):
        return "; ".join(map(_words, record))
    if isinstance(record, bool | Mapping):
        return as_said(record) if isinstance(record, Mapping) else json.dumps(record)
    return f"{record:g}" if isinstance(record, float) else str(record)


# --- health -----------------------------------------------------------------------------------------------------------


EMPTY, UNSAID, BY_RULE = "records_without_values", "readings_nobody_said", "answers_read_by_rule"

CHECKS = {
    EMPTY: OwnCheck(
        Threshold(
            "share of interviews with an answer whose record stayed empty; bad if all", (None, 0.20), (None, 0.99),
            {"interviews": 1}, "one interview that gave nothing has nothing to show", "definition",
            "an empty record cannot be interpreted; the bound of a caution is this project's proposal",
            "an interview that gives nothing is a gap that no status shows", decisive=True,
        ),
        "share", (N_("Interviews whose record stayed empty"), N_("What was said there is in no table.")),
        {"too_few_interviews": N_("no interview has an answer")},
    ),
    UNSAID: OwnCheck(
        Threshold(
            "values that were read without words in the answer, as a share of all that were read; they are left out",
            (None, 0.10), FREE, {"values": 1}, "every value is checked against its answer", "proposal",
            "no benchmark was found", "a model that fills in what nobody said reads what it expects",
        ),
        "share",
        (
            N_("Values that a model read though nobody said them"),
            N_("They were left out; the model fills in what it expects."),
        ),
        {"too_few_values": N_("nothing was read")},
    ),
    BY_RULE: OwnCheck(
        Threshold(
            "share of the answers that a rule read in the model's place", (None, 0.05), FREE, {"answers": 1},
            "every answer is read once", "proposal", "no benchmark was found", "a rule reads words, not what was meant",
        ),
        "share", (N_("Answers that a rule read"), N_("A rule finds words, not what was meant.")),
        {"no_model": N_("no model was to do it"), "too_few_answers": N_("no interview has an answer")},
    ),
}  # fmt: skip


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """A synthetic run has no model to read; any other is meant to have one."""
    empty = [not record for record in analysis.column("records", "record")]
    unsaid, rule, answers = (analysis.count(name) for name in ("not_said", "read_by_rule", "answers_read"))
    read = unsaid + analysis.count("values")
    shares = {
        EMPTY: (sum(empty), "interviews", len(empty)),
        UNSAID: (unsaid, "values", read),
        BY_RULE: (rule, "answers", answers),
    }
    for name, (count, of, n) in shares.items():
        why_not = "no_model" if name == BY_RULE and rows["respondent"].eq("synthetic").all() else ""
        yield "", judged(name, count / n if n else None, {of: n}, why_not=why_not, rule=CHECKS[name].rule)
    yield from any_other(analysis, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=of_turn,
    transcripts=transcripts,
    health=health,
    checks=CHECKS,
    glossary={
        N_("record"): N_(
            "What an interview has found out about one agent, field by field, each with the words it rests on."
        ),
        N_("discovery schema"): N_("What an interview is to find out: fields, and when a record of them is complete."),
    },
)
