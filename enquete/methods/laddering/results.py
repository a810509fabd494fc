"""Result tables of the interviews: stored turns in, one DataFrame a table out.

`analyse` rebuilds the interviews once (`InterviewData`) and calls one function a table; an interview that was cut short
counts with what it has. What a column means is in `reports/columns.yaml`, sentences are in `findings.py`, the section
of the report is in `report.md.j2`, ways of asking are compared in `comparison.py`.

n: interviews begun, agents with an answered turn; agents: of these. A share's interval holds for one that is singled
out of all (Wilson's, corrected over the rows of its table). Every concept and link traces back to an utterance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.locale import N_
from enquete.methods.laddering import network
from enquete.methods.laddering.coding import PINNED, concepts_of
from enquete.methods.laddering.comparison import (
    Measures,
    average_measures,
    compare_strategies,
    measure_coverage,
    measure_interviews,
)
from enquete.methods.laddering.interview import LadderingInterview, TurnRecord, stored_interview
from enquete.methods.laddering.interviewer import ROLES
from enquete.methods.laddering.knowledge import UNSAID, Coverage, complete_share
from enquete.methods.laddering.network import Place, PooledConcept
from enquete.methods.laddering.questions import QuestionChoice, Scored
from enquete.methods.laddering.settings import InterviewMethod, LadderingInstrument, LadderingSettings
from enquete.methods.laddering.signals import RATINGS, AnswerRating
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, Row, compared, shape_results
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import declare_group_tables
from enquete.respondents.roles import RULE, RULE_AT_MOST
from enquete.runs.conversations import utterance_id
from enquete.state.asking import RESPONDED, Language

MAX_COMPARED_CODES = 12
"""Codes that are compared between groups: those that most agents name, for each costs the others some power."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("laddering")
TABLES = (
    GLOSSARY.table(
        "implications", N_("Implication matrix"), key="source target",
        columns="source relation target direct indirect share low high items shown",
    ),
    GLOSSARY.table(
        "types", N_("Kinds of concepts"), key="type", label="label",
        columns="type label rung terminal different first agents alpha",
    ),
    *declare_group_tables(GLOSSARY, N_("Who names which concept"), by="concept"),
    GLOSSARY.table(
        "strategies_compared", N_("Ways of asking"), key="strategy",
        columns="strategy n richness links coverage new_per_turn turns",
    ),
    GLOSSARY.table(
        "adapting", N_("Whether adapting helped"), key="strategy measure", replicates=("direction",),
        columns="strategy measure n mean low high size direction detectable p p_adjusted",
    ),
    GLOSSARY.table(
        "concepts", N_("Concepts"), key="concept", label="label",
        columns="concept label type agents share low high tie abstractness centrality prestige opposite definition "
                "wordings items level place",
        note=N_("Abstractness: incoming among the concept's direct links; centrality and prestige: its links, or "
                "incoming ones, among all."),
    ),
    GLOSSARY.table(
        "nodes", N_("Concepts in the agents' words"), key="participant node", one_agent=True,
        columns="participant node concept type text turn item quote confidence retracted elements utterances quotes",
    ),
    GLOSSARY.table(
        "coverage", N_("Coverage of the topic"), key="element", label="label", replicates=("most",),
        columns="element label kind agents n most concepts types depth",
        note=N_("Depth: longest connected chain of kinds of concepts, as a share of all kinds."),
    ),
    GLOSSARY.table(
        "saturation", N_("Saturation"), key="interviews", one_agent=True,
        columns="interviews participant concepts new mark",
    ),
    GLOSSARY.table("stops", N_("How interviews ended"), key="stop", columns="stop n"),
    GLOSSARY.table(
        "interviews", N_("Interview by interview"), key="participant", one_agent=True,
        columns="participant turns stop named laddering_concepts links retracted chain complete elements "
                "elements_total breadth laddering_depth focus_changes",
        agents=("laddering_concepts", "laddering_depth"),
    ),
    GLOSSARY.table(
        "strategies", N_("How it was asked"), key="strategy", label="label",
        columns="strategy label used yielded rate",
    ),
    GLOSSARY.table("work", N_("Who did the interviewer's work"), key="work", columns="work model fallback rule"),
    GLOSSARY.table("dropped", N_("Read, but left out"), key="why", columns="why n"),
    GLOSSARY.table(
        "translated", N_("Files of another program: what became of their keys"), key="file key",
        columns="file key fate into",
    ),
    GLOSSARY.table("relations", N_("Kinds of links"), key="relation", label="label", columns="relation label"),
    GLOSSARY.table(
        "edges", N_("Links in the agents' words"), key="participant source target relation", one_agent=True,
        columns="participant source target relation turn confidence retracts contrast utterances quotes",
    ),
    GLOSSARY.table(
        "turns", N_("Turn by turn"), key="participant turn", one_agent=True,
        columns="participant turn item question strategy technique focus answer status response_depth new_concepts "
                "new_links merged sentiment topics stop by_extract by_signal by_question fallback",
    ),
    GLOSSARY.table(
        "signals", N_("Judgements, signals and scores"), key="participant turn kind name focus", one_agent=True,
        columns="participant turn kind name focus number word",
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "topic method concept methodology ladder top_rung climbs strategy compared n n_total n_over n_answered n_asked "
    "n_concepts most_named n_late n_late_new coding n_rest failed_types cut_off cut_off_wanted n_shown n_links "
    "map_share map_repeated n_barren n_answers n_unread n_empty n_found n_invented n_by_rule n_read n_dead by_rule "
    "mean_richness mean_links mean_coverage mean_new_per_turn mean_turns"
)


def analyse(
    frame: pd.DataFrame, instrument: LadderingInstrument, settings: LadderingSettings, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of the main arm's interviews.

    Args:
        frame: one row an answer, of the main arm.
        instrument: what was asked.
        settings: of the run.
        context: what was pinned (turns, codes), the arms of other strategies, and what agents are compared by.
    """
    units = [str(unit) for unit in frame["participant"].unique()]
    run = InterviewData.prepare(units, settings, context)
    method = settings.method

    # The map marks the links that it shows and gives its concepts their places.
    cells = network.implication_matrix(run.interviews, run.concepts)
    concepts = network.concept_rows(run.interviews, run.concepts, cells, climbs=method.climbs)
    drawn = network.value_map(cells, concepts, method.kinds, instrument.cut_off)

    by_strategy = {settings.strategies[0]: run.interviews}
    for name, pinned in context.variants.items():
        by_strategy[name] = read_begun_interviews(units, pinned)

    saturation = list_saturation(run)
    translated = list_translated_keys(settings)
    tables: dict[str, pd.DataFrame] = {
        "implications": pd.DataFrame(cells),
        "types": describe_types(run),
        **compare_groups(run, context.groups_of(frame)),
        **compare_strategies(by_strategy, settings),
        "concepts": add_definitions(concepts, run.definitions),
        "nodes": list_nodes(run),
        "coverage": describe_coverage(run),
        "saturation": saturation,
        "stops": count_stops(run.interviews),
        "interviews": describe_interviews(run),
        "strategies": count_strategies(run),
        "work": count_work(run),
        "dropped": count_dropped(run.turns),
        "translated": translated,
        "relations": list_relations(run),
        "edges": list_edges(run.interviews),
        "turns": list_turns(run),
        "signals": list_signals(run.interviews),
    }
    facts = {
        "topic": settings.topic.topic.in_(run.language),
        "method": method.title.in_(run.language),
        "concept": settings.topic.id,
        "methodology": method.id,
        "ladder": list(method.ladder) if method.climbs else [],
        "climbs": method.climbs,
        "top_rung": method.ladder[-1] if method.climbs else None,
        "strategy": settings.strategies[0],
        "compared": len(by_strategy) > 1,
        "n": len(run.interviews),
        "n_total": len(units),
        "n_over": sum(bool(interview.stop) for interview in run.interviews),
        "n_answered": int(frame["status"].isin(RESPONDED).sum()),
        "n_asked": len(frame),
        "n_concepts": len(run.concepts),
        "most_named": judge_first_concept(run.concepts),
        "coding": run.coded_by,
        "n_rest": run.n_coded_by_rule,
        "failed_types": run.failed_types,
        "n_barren": sum(not interview.graph.standing.nodes for interview in run.interviews),
        "n_dead": sum(fate == "dead" for fate in translated.get("fate", ())),
        **drawn,
        **count_late_concepts(saturation),
        **count_readings(run.turns),
        **state_mean_measures(run),
    }
    return shape_results(TABLES, FACTS, tables, facts)


@dataclass(frozen=True)
class InterviewData:
    """The interviews of an arm that have a turn, with their concepts as codes.

    Attributes:
        interviews: in the order of the agents.
        concepts: codes, the most widespread first.
        code_of: the code of every concept that stands.
        coverage: how far each interview covers the topic, keyed by unit.
        measures: what each interview is compared by, keyed by unit.
        coded_by: "model", "rule", or "failed" where the model's codes could not be read.
        definitions: what the coder wrote of a code, keyed by its id.
        alpha: agreement of the model's two codings, keyed by type.
        n_coded_by_rule: codes of concepts to which the model gave none.
        failed_types: types of which no coding could be read.
    """

    settings: LadderingSettings
    language: Language
    interviews: Sequence[LadderingInterview]
    concepts: Sequence[PooledConcept]
    code_of: Mapping[Place, PooledConcept]
    coverage: Mapping[str, Coverage]
    measures: Mapping[str, Measures]
    coded_by: str
    definitions: Mapping[str, str]
    alpha: Mapping[str, float | None]
    n_coded_by_rule: int
    failed_types: Sequence[str]

    @classmethod
    def prepare(cls, units: Sequence[str], settings: LadderingSettings, context: AnalysisContext) -> InterviewData:
        interviews = read_begun_interviews(units, context.pinned)
        coded, coding = concepts_of(interviews, context.pinned.get(PINNED))
        concepts = network.with_poles(coded, interviews)
        coverage = measure_coverage(interviews, concepts, settings)
        has_failed = coding["by"] == "rule" and bool(coding["failed"])
        return cls(
            settings=settings,
            language=context.language,
            interviews=interviews,
            concepts=concepts,
            code_of=network.homes(concepts),
            coverage=coverage,
            measures=measure_interviews(interviews, concepts, coverage),
            coded_by="failed" if has_failed else coding["by"],
            definitions=coding["definitions"],
            alpha=coding["alpha"],
            n_coded_by_rule=coding["by_rule"],
            failed_types=coding["failed"],
        )

    @property
    def method(self) -> InterviewMethod:
        return self.settings.method

    @property
    def turns(self) -> list[TurnRecord]:
        return [turn for interview in self.interviews for turn in interview.turns]


def read_begun_interviews(units: Sequence[str], pinned: Mapping[str, JsonValue]) -> list[LadderingInterview]:
    """Return the interviews of one arm that have a turn."""
    interviews = [stored_interview(unit, pinned) for unit in units]
    return [interview for interview in interviews if interview.turns]


# Over all interviews.


def describe_types(run: InterviewData) -> pd.DataFrame:
    """Return every kind of concept with its codes and the one that most agents name."""
    return pd.DataFrame([_describe_type(run, kind) for kind in run.method.kinds])


def _describe_type(run: InterviewData, kind: str) -> Row:
    method = run.method
    codes = [concept for concept in run.concepts if concept.type == kind]  # the most widespread first
    is_rung = method.climbs and kind in method.ladder
    return {
        "type": kind,
        "label": method.node_types[kind].label.in_(run.language),
        "rung": method.ladder.index(kind) + 1 if is_rung else None,
        "terminal": method.is_terminal(kind),
        "different": len(codes),
        "first": codes[0].id if codes else None,
        "agents": codes[0].agents if codes else None,
        "alpha": run.alpha.get(kind),
    }


def compare_groups(run: InterviewData, groups: pd.Series[str]) -> dict[str, pd.DataFrame]:
    """Return which groups name which concept, of those that enough agents name and enough do not.

    Concepts are chosen by all agents' counts, never by a group's.
    """
    n = len(run.interviews)
    chosen = [concept for concept in run.concepts if FEWEST <= concept.agents <= n - FEWEST][:MAX_COMPARED_CODES]
    if not chosen:
        return {}
    people = [interview.unit for interview in run.interviews]
    named = {concept.id: [float(unit in concept.units) for unit in people] for concept in chosen}
    return compared(pd.DataFrame(named, index=people), groups, "concept", ends=dict.fromkeys(named, (0, 1)))


def add_definitions(concepts: Sequence[Row], definitions: Mapping[str, str]) -> pd.DataFrame:
    """Return the codes with what their coder wrote of them."""
    return pd.DataFrame([{**row, "definition": definitions.get(row["concept"])} for row in concepts])


def describe_coverage(run: InterviewData) -> pd.DataFrame:
    """Return every element of the topic with the agents who spoke of it, its codes and the mean depth of theirs."""
    rows = []
    for element, content in run.settings.topic.elements.items():
        by_unit = {unit: coverage.elements[element] for unit, coverage in run.coverage.items()}
        depths = [part.depth_score for part in by_unit.values() if part.covered]
        codes = {run.code_of[unit, node].id for unit, part in by_unit.items() for node in part.linked_node_ids}
        rows.append(
            {
                "element": element,
                "label": content.label.in_(run.language),
                "kind": content.type,
                "agents": len(depths),
                "n": len(by_unit),
                "most": 2 * len(depths) > len(by_unit) if by_unit else None,
                "concepts": len(codes),
                "types": sorted({kind for part in by_unit.values() for kind in part.types_found}),
                "depth": fmean(depths) if depths else None,
            }
        )
    return pd.DataFrame(rows)


def list_saturation(run: InterviewData) -> pd.DataFrame:
    """Return how many different concepts there were after each interview."""
    return pd.DataFrame(network.saturation(run.interviews, run.concepts))


def count_stops(interviews: Sequence[LadderingInterview]) -> pd.DataFrame:
    """Return how interviews ended."""
    counts = Counter(interview.stop for interview in interviews)
    return pd.DataFrame([{"stop": stop, "n": n} for stop, n in sorted(counts.items())])


def count_strategies(run: InterviewData) -> pd.DataFrame:
    """Return how often each strategy was used, and how often the answer brought something new."""
    chosen = [(turn.choice.strategy, turn.changes.any_new) for turn in run.turns if turn.choice]
    used = Counter(name for name, _ in chosen)
    yielded = Counter(name for name, is_new in chosen if is_new)
    rows = [
        {
            "strategy": name,
            "label": content.label.in_(run.language),
            "used": used[name],
            "yielded": yielded[name],
            "rate": yielded[name] / used[name] if used[name] else None,
        }
        for name, content in run.method.strategies.items()
    ]
    return pd.DataFrame(rows)


def count_work(run: InterviewData) -> pd.DataFrame:
    """Return, for each role, pieces of work by the model, by its fallback and by the rule that stands in for both."""
    rows = []
    for role in ROLES:
        fallback = role.models(run.settings)[1]
        counts: Counter[str] = Counter()
        for turn in run.turns:
            worker = turn.by[role.purpose]
            if worker:
                counts["rule" if worker == RULE else "fallback" if worker == fallback else "model"] += 1
        rows.append({"work": role.purpose, **{by: counts[by] for by in ("model", "fallback", "rule")}})
    return pd.DataFrame(rows)


def count_dropped(turns: Sequence[TurnRecord]) -> pd.DataFrame:
    """Return why what was read was left out."""
    counts: Counter[str] = Counter()
    for turn in turns:
        counts.update(turn.changes.dropped)
    return pd.DataFrame([{"why": why, "n": n} for why, n in sorted(counts.items())])


def list_translated_keys(settings: LadderingSettings) -> pd.DataFrame:
    """Return what became of the keys of another program's files."""
    layers = (settings.topic, settings.method)
    return pd.DataFrame([{"file": layer.id, **key.model_dump()} for layer in layers for key in layer.translation])


def list_relations(run: InterviewData) -> pd.DataFrame:
    """Return the kinds of links, in words."""
    rows = [
        {"relation": name, "label": edge.label.in_(run.language) if edge.label else name.replace("_", " ")}
        for name, edge in run.method.edge_types.items()
    ]
    return pd.DataFrame(rows)


# Interview by interview.


def describe_interviews(run: InterviewData) -> pd.DataFrame:
    """Return every interview with what it gave."""
    return pd.DataFrame([_describe_interview(run, interview) for interview in run.interviews])


def _describe_interview(run: InterviewData, interview: LadderingInterview) -> Row:
    graph, coverage = interview.graph, run.coverage[interview.unit]
    focuses = [turn.choice.focus for turn in interview.turns if turn.choice]
    return {
        "participant": interview.unit,
        "turns": len(interview.turns),
        "stop": interview.stop,
        "named": len(graph.standing.nodes),
        "laddering_concepts": int(run.measures[interview.unit]["richness"]),
        "links": len(graph.standing.edges),
        "retracted": len(graph.retracted),
        "chain": interview.turns[-1].chain,
        "complete": complete_share(graph.standing, run.method) if run.method.climbs else None,
        "elements": coverage.elements_covered,
        "elements_total": coverage.elements_total,
        "breadth": coverage.breadth if coverage.elements_total else None,
        "laddering_depth": coverage.depth if run.method.climbs else None,
        "focus_changes": sum(focus != other for focus, other in pairwise(focuses)),
    }


def list_nodes(run: InterviewData) -> pd.DataFrame:
    """Return every agent's concepts in its own words."""
    rows = [row for interview in run.interviews for row in network.node_rows(interview, run.code_of)]
    return pd.DataFrame(rows)


def list_edges(interviews: Sequence[LadderingInterview]) -> pd.DataFrame:
    """Return every agent's links in its own words."""
    return pd.DataFrame([row for interview in interviews for row in network.edge_rows(interview)])


def list_turns(run: InterviewData) -> pd.DataFrame:
    """Return all that was asked and answered, turn by turn, with what was read in it."""
    fallbacks = {role.purpose: role.models(run.settings)[1] for role in ROLES}
    rows = [_describe_turn(interview, turn, fallbacks) for interview in run.interviews for turn in interview.turns]
    return pd.DataFrame(rows)


def _describe_turn(interview: LadderingInterview, turn: TurnRecord, fallbacks: Mapping[str, str]) -> Row:
    choice = turn.choice
    focus = interview.graph.nodes.get(choice.focus) if choice else None
    return {
        "participant": interview.unit,
        "turn": turn.turn,
        "item": network.item_of(utterance_id(interview.unit, turn.turn)),
        "question": turn.question,
        "strategy": choice.strategy if choice else "opening",
        "technique": choice.technique if choice else "",
        "focus": focus.text if focus else "",
        "answer": turn.answer,
        "status": turn.status,
        "response_depth": turn.depth,
        "new_concepts": [node.text for node in turn.changes.nodes if node.turn == turn.turn],
        "new_links": turn.changes.new_edges,
        "merged": turn.changes.merged,
        "sentiment": turn.readings.sentiment,
        "topics": list(turn.readings.topics or ()),
        "stop": turn.stop,
        **{f"by_{role.purpose}": turn.by[role.purpose] for role in ROLES},
        "fallback": sorted(purpose for purpose, model in fallbacks.items() if model and turn.by[purpose] == model),
    }


def list_signals(interviews: Sequence[LadderingInterview]) -> pd.DataFrame:
    """Return what each turn was judged, its signals, and what the next question was chosen for."""
    rows = [
        {"participant": interview.unit, "turn": turn.turn, **row}
        for interview in interviews
        for turn in interview.turns
        for row in (*_list_judgements(turn), *_list_choices(turn))
    ]
    return pd.DataFrame(rows)


def _list_judgements(turn: TurnRecord) -> Iterator[Row]:
    for name in RATINGS:
        rating = getattr(turn.readings, name)
        if isinstance(rating, AnswerRating):
            judged = {"number": rating.rating, "word": rating.rationale}
            yield {"kind": "judged", "name": name, "focus": None, **judged}
    for name, value in turn.signals.items():
        word = value if isinstance(value, str) else None
        if isinstance(value, bool):
            word = str(value).lower()
        number = value if word is None else None
        yield {"kind": "signal", "name": name, "focus": None, "number": number, "word": word}


def _list_choices(turn: TurnRecord) -> Iterator[Row]:
    """Yield the strategy and concept chosen for the next question, with the parts of their score, and runners-up."""
    chosen = turn.next
    if chosen is None:
        return
    pairs: tuple[QuestionChoice | Scored, ...] = (chosen, *chosen.runners_up)
    for pair in pairs:
        kind, word = "runner_up", None
        if pair is chosen:
            parts = [f"{name} {part:g}" for name, part in pair.parts.items()]
            kind, word = "chosen", "; ".join([*parts, f"× {chosen.multiplier:g}"])
        yield {"kind": kind, "name": pair.strategy, "focus": pair.focus, "number": pair.score, "word": word}


# Single facts.


def judge_first_concept(concepts: Sequence[PooledConcept]) -> str | None:
    """Return whether the first concept is named by more agents than any other."""
    counts = [concept.agents for concept in concepts[:2]]
    if not counts:
        return None
    return "tied" if len(counts) > 1 and counts[0] == counts[1] else "alone"


def count_late_concepts(saturation: pd.DataFrame) -> Row:
    """Return where the last quarter of the interviews begins, and how many new concepts it brought."""
    quarter = len(saturation) // 4
    if not quarter:
        return {"n_late": None, "n_late_new": 0}
    late = saturation.tail(quarter)
    return {"n_late": int(late["interviews"].iloc[0]), "n_late_new": int(late["new"].sum())}


def count_readings(turns: Sequence[TurnRecord]) -> Row:
    """Return how the answers were read.

    n_answers: turns with an answer; n_unread: of these, read by nobody; n_empty: read, without any concept; n_found:
    concepts that were read; n_invented: of these, left out because the answer does not hold them; n_by_rule: of n_read,
    read by a rule; by_rule: whether these are so many that the findings say nothing of what was meant.
    """
    answers = [turn for turn in turns if turn.answer]
    read = [turn for turn in answers if turn.by["extract"]]
    n_invented = sum(turn.changes.dropped.get(UNSAID, 0) for turn in answers)
    readers = [turn.by["extract"] for turn in turns if turn.by["extract"]]
    n_by_rule = readers.count(RULE)
    return {
        "n_answers": len(answers),
        "n_unread": len(answers) - len(read),
        "n_empty": sum(not _count_concepts(turn) for turn in read),
        "n_found": sum(map(_count_concepts, answers)) + n_invented,
        "n_invented": n_invented,
        "n_by_rule": n_by_rule,
        "n_read": len(readers),
        "by_rule": n_by_rule > RULE_AT_MOST * len(readers),
    }


def _count_concepts(turn: TurnRecord) -> int:
    return turn.changes.new_nodes + turn.changes.merged


def state_mean_measures(run: InterviewData) -> dict[str, Any]:
    """Return the mean of what interviews are compared by; no coverage where the topic has no elements."""
    means = {f"mean_{name}": mean for name, mean in average_measures(run.measures.values()).items()}
    if not run.settings.topic.elements:
        means["mean_coverage"] = None
    return means
