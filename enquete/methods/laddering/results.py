"""What the interviews give (reports/evaluation.py): graphs of each agent and of all, links and their indices, coverage,
saturation, how it was asked, whether adapting helped. The tables are declared in tables.py.

Interviews are rebuilt from their stored turns, so an interview that was cut short counts with what it has. Measured by:
every concept and link traces back to an utterance, every figure stands beside its n; a comparison by hand
(tests/methods/laddering/test_laddering_comparing.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.diagnostics import FREE, Diagnostic, Threshold, judged
from enquete.analysis.estimates import mean_of
from enquete.analysis.inference import detectable_change
from enquete.locale import N_
from enquete.methods.laddering import network
from enquete.methods.laddering.coding import PINNED, concepts_of
from enquete.methods.laddering.files import codes_of, files
from enquete.methods.laddering.interview import LadderingInterview, TurnRecord, stored_interview
from enquete.methods.laddering.interviewer import ROLES
from enquete.methods.laddering.knowledge import UNSAID, Coverage, KnowledgeGraph, complete_share, cover
from enquete.methods.laddering.network import Place, PooledConcept
from enquete.methods.laddering.questions import QuestionChoice, Scored
from enquete.methods.laddering.settings import ADAPTIVE, InterviewMethod, LadderingInstrument, LadderingSettings
from enquete.methods.laddering.signals import RATINGS, AnswerRating
from enquete.methods.laddering.tables import GLOSSARY, PRESENTATION
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import compared as groups_compared
from enquete.reports.evaluation import Evaluation, Transcript, dialogue, lines_of, of_turn
from enquete.reports.findings import FEWEST
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other
from enquete.reports.views import Names, Results
from enquete.respondents.roles import RULE, RULE_AT_MOST
from enquete.runs.conversations import utterance_id
from enquete.state.asking import RESPONDED, Language

MEASURES = ("richness", "links", "coverage", "new_per_turn", "turns")
"""Of one interview, over codes: different codes; different pairs of codes that are linked; share of elements spoken of;
richness / turns."""
MOST_COMPARED = 12
"""Codes that are compared between groups: those that most agents name, for each costs the others some power."""

# --- interviews by their codes: how far each covers the topic, and what strategies are compared by --------------------
# Strategies ask the same agents, each in an arm of its own. Their interviews are read by one codebook, a rule's over
# the concepts of all arms alike, and compared agent by agent.


def covered(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], settings: LadderingSettings
) -> dict[str, Coverage]:
    """Unit → coverage over codes: an interview speaks of an element where it has a code that is about it, in whatever
    words."""
    about = _about(interviews, concepts)
    coverage = {}
    for interview in interviews:
        standing = interview.graph.standing
        nodes = {
            name: node.model_copy(update={"elements": about.get((interview.unit, name), ())})
            for name, node in standing.nodes.items()
        }
        graph = KnowledgeGraph(nodes, standing.edges)
        coverage[interview.unit] = cover(graph, settings.topic.elements, settings.method)
    return coverage


def _about(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept]
) -> Mapping[Place, tuple[str, ...]]:
    """Place → elements of its code: those that half of the concepts of this code at least are linked to."""
    graphs = {interview.unit: interview.graph for interview in interviews}
    elements_of = {}
    for concept in concepts:
        named = Counter(element for unit, node in concept.members for element in graphs[unit].nodes[node].elements)
        elements = tuple(element for element, n in named.items() if 2 * n >= len(concept.members))
        elements_of.update(dict.fromkeys(concept.members, elements))
    return elements_of


def measured(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], coverage: Mapping[str, Coverage]
) -> dict[str, dict[str, float]]:
    """Unit → its interview's measures, of interviews with a turn."""
    belongs = network.homes(concepts)
    measures = {}
    for interview in interviews:
        codes = {belongs[interview.unit, node].id for node in interview.graph.standing.nodes}
        breadth, turns = coverage[interview.unit].breadth, len(interview.turns)
        figures = (len(codes), len(network.linked(interview, belongs)), breadth, len(codes) / turns, turns)
        measures[interview.unit] = dict(zip(MEASURES, figures, strict=True))
    return measures


def compared(
    interviews: Mapping[str, Sequence[LadderingInterview]], settings: LadderingSettings
) -> dict[str, list[d.Row]]:
    """strategy → its interviews, side by side: of agents whose interviews are over in all. {} where there is one
    strategy alone."""
    if len(interviews) < 2:
        return {}
    over = [{talk.unit for talk in each if talk.stop} for each in interviews.values()]
    agents = sorted(set.intersection(*over))
    everybody = [
        replace(talk, unit=f"{strategy}|{talk.unit}")
        for strategy, each in interviews.items() for talk in each if talk.unit in agents
    ]  # fmt: skip
    concepts = network.pool(everybody)
    measures = measured(everybody, concepts, covered(everybody, concepts, settings))
    by = {strategy: [measures[f"{strategy}|{unit}"] for unit in agents] for strategy in interviews}
    return {
        "strategies_compared": [
            {"strategy": name, "n": len(agents), **_means(rows)} for name, rows in by.items()
        ],
        "adapting": [row for name in by if name != ADAPTIVE for row in _differences(name, by[ADAPTIVE], by[name])],
    }  # fmt: skip


def _means(rows: Collection[Mapping[str, float]]) -> dict[str, float | None]:
    return {name: fmean(row[name] for row in rows) if rows else None for name in MEASURES}


def _differences(strategy: str, adaptive: Sequence[d.Row], other: Sequence[d.Row]) -> Iterator[d.Row]:
    """adaptive − other of every measure, agent by agent, with t intervals; p (Student's, paired) of richness alone."""
    from scipy import stats  # noqa: PLC0415 - a fifth of a second of import

    for name in MEASURES:
        gaps = np.array([a[name] - b[name] for a, b in zip(adaptive, other, strict=True)], dtype=float)
        mean, p = mean_of(gaps), None
        if name == "richness" and len(gaps) >= FEWEST:
            p = float(stats.ttest_1samp(gaps, 0).pvalue) if gaps.std() else float(gaps[0] == 0)
        sd = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
        larger = "more" if mean.mean and mean.mean > 0 else "fewer" if mean.mean else "as_many"
        yield {
            "strategy": strategy, "measure": name, **asdict(mean), "p": p, "direction": larger,
            "size": abs(mean.mean or 0.0), "detectable": detectable_change(len(gaps), sd, dof=len(gaps) - 1),
        }  # fmt: skip


# --- the tables -------------------------------------------------------------------------------------------------------


def analyse(
    frame: pd.DataFrame, instrument: LadderingInstrument, settings: LadderingSettings, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's interviews."""
    units = [str(unit) for unit in frame["participant"].unique()]
    interviews = _begun(units, context.pinned)
    method, language = settings.method, context.language
    coded, coding = concepts_of(interviews, context.pinned.get(PINNED))
    concepts = network.with_poles(coded, interviews)
    home, coverage = network.homes(concepts), covered(interviews, concepts, settings)
    measures = measured(interviews, concepts, coverage)
    cells = network.implication_matrix(interviews, concepts)
    rows = network.concept_rows(interviews, concepts, cells, climbs=method.climbs)
    drawn = network.value_map(cells, rows, method.kinds, instrument.cut_off)
    compared_with = {settings.strategies[0]: interviews}
    compared_with |= {name: _begun(units, pinned) for name, pinned in context.variants.items()}
    curve = network.saturation(interviews, concepts)
    late = curve[len(curve) - len(curve) // 4 :]
    definitions = coding["definitions"]
    turns = [record for interview in interviews for record in interview.turns]
    dropped = sum((Counter(turn.changes.dropped) for turn in turns), Counter[str]())
    tables = {
        "concepts": [{**row, "definition": definitions.get(row["concept"])} for row in rows], "implications": cells,
        "saturation": curve,
        "types": [_type(kind, method, concepts, coding["alpha"], language) for kind in method.kinds],
        "relations": [
            {"relation": name, "label": edge.label.in_(language) if edge.label else name.replace("_", " ")}
            for name, edge in method.edge_types.items()
        ],
        "coverage": _coverage(concepts, coverage, settings, language),
        "interviews": [
            _interview(talk, coverage[talk.unit], measures[talk.unit], method) for talk in interviews
        ],
        "stops": [{"stop": stop, "n": n} for stop, n in sorted(Counter(i.stop for i in interviews).items())],
        "translated": [
            {"file": layer.id, **key.model_dump()} for layer in (settings.topic, method) for key in layer.translation
        ],
        "strategies": _strategies(turns, method, language), "work": _work(turns, settings),
        "dropped": [{"why": why, "n": n} for why, n in sorted(dropped.items())],
        "nodes": [row for talk in interviews for row in network.node_rows(talk, home)],
        "edges": [row for talk in interviews for row in network.edge_rows(talk)],
        "turns": [_turn(talk, record, settings) for talk in interviews for record in talk.turns],
        "signals": [row for talk in interviews for record in talk.turns for row in _signals(talk.unit, record)],
        **compared(compared_with, settings),
        **_between_groups(interviews, concepts, context.groups_of(frame)),
    }  # fmt: skip
    reading, answered = _reading(turns), int(frame["status"].isin(RESPONDED).sum())
    facts = {
        "topic": settings.topic.topic.in_(language), "method": method.title.in_(language), "concept": settings.topic.id,
        "methodology": method.id, "ladder": list(method.ladder) if method.climbs else [], "climbs": method.climbs,
        "top_rung": method.ladder[-1] if method.climbs else None, "most_named": _most_named(concepts),
        "strategy": settings.strategies[0], "compared": len(compared_with) > 1, "n": len(interviews),
        "n_total": len(units), "n_barren": sum(not talk.graph.standing.nodes for talk in interviews),
        "n_over": sum(bool(talk.stop) for talk in interviews), "n_answered": answered, "n_asked": len(frame),
        "n_concepts": len(concepts), "n_late": late[0]["interviews"] if late else None,
        "n_late_new": sum(row["new"] for row in late),
        "coding": "failed" if coding["by"] == "rule" and coding["failed"] else coding["by"],
        "n_rest": coding["by_rule"], "failed_types": coding["failed"], **drawn, **reading,
        "by_rule": reading["n_by_rule"] > RULE_AT_MOST * reading["n_read"],
        "n_dead": sum(row["fate"] == "dead" for row in tables["translated"]),
        **{f"mean_{name}": mean for name, mean in _means(measures.values()).items()},
        **({} if settings.topic.elements else {"mean_coverage": None}),
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, facts)


def _most_named(concepts: Sequence[PooledConcept]) -> str | None:
    """Whether the first concept is named by more agents than any other."""
    counts = [concept.agents for concept in concepts[:2]]
    return None if not counts else "tied" if len(counts) > 1 and counts[0] == counts[1] else "alone"


def _begun(units: Sequence[str], pinned: Mapping[str, JsonValue]) -> list[LadderingInterview]:
    """The interviews of one arm that have a turn."""
    return [interview for unit in units if (interview := stored_interview(unit, pinned)).turns]


# --- over all interviews ---------------------------------------------------------------------------------------------


def _type(
    kind: str, method: InterviewMethod, concepts: Sequence[PooledConcept], alpha: Mapping[str, float | None],
    language: str
) -> d.Row:  # fmt: skip
    codes = [concept for concept in concepts if concept.type == kind]  # the most widespread first
    rung = method.ladder.index(kind) + 1 if method.climbs and kind in method.ladder else None
    return {
        "type": kind, "label": method.node_types[kind].label.in_(language), "rung": rung,
        "terminal": method.is_terminal(kind), "different": len(codes), "first": codes[0].id if codes else None,
        "agents": codes[0].agents if codes else None, "alpha": alpha.get(kind),
    }  # fmt: skip


def _coverage(
    concepts: Sequence[PooledConcept], coverage: Mapping[str, Coverage], settings: LadderingSettings, language: str
) -> list[d.Row]:
    """Per element, over codes (comparing.covered): agents who spoke of it, its codes, and the mean depth_score of those
    who did; None where nobody did."""
    rows, code = [], network.homes(concepts)
    for element, content in settings.topic.elements.items():
        by_unit = {unit: whole.elements[element] for unit, whole in coverage.items()}
        depths = [part.depth_score for part in by_unit.values() if part.covered]
        rows.append({
            "element": element, "label": content.label.in_(language), "kind": content.type, "agents": len(depths),
            "n": len(by_unit), "most": 2 * len(depths) > len(by_unit) if by_unit else None,
            "concepts": len({code[unit, node].id for unit, part in by_unit.items() for node in part.linked_node_ids}),
            "types": sorted({kind for part in by_unit.values() for kind in part.types_found}),
            "depth": fmean(depths) if depths else None,
        })  # fmt: skip
    return rows


def _strategies(turns: Sequence[TurnRecord], method: InterviewMethod, language: str) -> Iterator[d.Row]:
    """Per strategy: how often it was used, and how often the answer brought something new."""
    chosen = [(turn.choice.strategy, turn.changes.any_new) for turn in turns if turn.choice]
    used, yielded = Counter(name for name, _ in chosen), Counter(name for name, new in chosen if new)
    for name, content in method.strategies.items():
        rate = yielded[name] / used[name] if used[name] else None
        label = content.label.in_(language)
        yield {"strategy": name, "label": label, "used": used[name], "yielded": yielded[name], "rate": rate}


def _work(turns: Sequence[TurnRecord], settings: LadderingSettings) -> Iterator[d.Row]:
    """Per role: pieces of work by the model, by its fallback and by the rule that stands in for both."""
    for role in ROLES:
        fallback = role.models(settings)[1]
        by = Counter(
            "rule" if who == RULE else "fallback" if who == fallback else "model"
            for turn in turns if (who := turn.by[role.purpose])
        )  # fmt: skip
        yield {"work": role.purpose, "model": by["model"], "fallback": by["fallback"], "rule": by["rule"]}


def _reading(turns: Sequence[TurnRecord]) -> d.Row:
    """n_answers: turns with an answer; n_unread: of these, read by nobody; n_empty: read, without any concept; n_found:
    concepts that were read; n_invented: of these, left out because the answer does not hold them; n_by_rule: of n_read,
    read by a rule."""
    answers = [turn for turn in turns if turn.answer]
    concepts = [turn.changes.new_nodes + turn.changes.merged for turn in answers]
    invented = sum(turn.changes.dropped.get(UNSAID, 0) for turn in answers)
    read, by = [bool(turn.by["extract"]) for turn in answers], [turn.by["extract"] for turn in turns]
    return {
        "n_answers": len(answers), "n_unread": len(answers) - sum(read), "n_found": sum(concepts) + invented,
        "n_invented": invented, "n_empty": sum(was and not n for was, n in zip(read, concepts, strict=True)),
        "n_by_rule": by.count(RULE), "n_read": sum(map(bool, by)),
    }  # fmt: skip


def _between_groups(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], groups: pd.Series[str]
) -> dict[str, Any]:
    """Who mentions which concept, of those that enough agents name and enough do not; chosen by all agents' counts,
    never a group's."""
    n = len(interviews)
    some = [concept for concept in concepts if FEWEST <= concept.agents <= n - FEWEST][:MOST_COMPARED]
    if not some:
        return {}
    people = [interview.unit for interview in interviews]
    named = {concept.id: [float(unit in concept.units) for unit in people] for concept in some}
    return groups_compared(pd.DataFrame(named, index=people), groups, "concept", ends=dict.fromkeys(named, (0, 1)))


# --- an interview ----------------------------------------------------------------------------------------------------


def _interview(
    interview: LadderingInterview, coverage: Coverage, measures: Mapping[str, float], method: InterviewMethod
) -> d.Row:
    graph, focuses = interview.graph, [turn.choice.focus for turn in interview.turns if turn.choice]
    return {
        "participant": interview.unit, "turns": len(interview.turns), "stop": interview.stop,
        "named": len(graph.standing.nodes), "laddering_concepts": int(measures["richness"]),
        "links": len(graph.standing.edges), "retracted": len(graph.retracted), "chain": interview.turns[-1].chain,
        "complete": complete_share(graph.standing, method) if method.climbs else None,
        "elements": coverage.elements_covered, "elements_total": coverage.elements_total,
        "breadth": coverage.breadth if coverage.elements_total else None,
        "laddering_depth": coverage.depth if method.climbs else None,
        "focus_changes": sum(focus != other for focus, other in pairwise(focuses)),
    }  # fmt: skip


def _turn(interview: LadderingInterview, record: TurnRecord, settings: LadderingSettings) -> d.Row:
    focus = interview.graph.nodes.get(record.choice.focus) if record.choice else None
    fallbacks = {role.purpose: role.models(settings)[1] for role in ROLES}
    return {
        "participant": interview.unit, "turn": record.turn,
        "item": network.item_of(utterance_id(interview.unit, record.turn)), "question": record.question,
        "strategy": record.choice.strategy if record.choice else "opening",
        "technique": record.choice.technique if record.choice else "", "focus": focus.text if focus else "",
        "answer": record.answer, "status": record.status, "response_depth": record.depth,
        "new_concepts": [node.text for node in record.changes.nodes if node.turn == record.turn],
        "new_links": record.changes.new_edges, "merged": record.changes.merged, "sentiment": record.readings.sentiment,
        "topics": list(record.readings.topics or ()), "stop": record.stop,
        **{f"by_{role.purpose}": record.by[role.purpose] for role in ROLES},
        "fallback": sorted(purpose for purpose, model in fallbacks.items() if model and record.by[purpose] == model),
    }  # fmt: skip


def _signals(unit: str, record: TurnRecord) -> Iterator[d.Row]:
    """What a turn was judged, its signals, and the pair that was chosen for the next question with what made up its
    score, beside the runners-up."""
    at: d.Row = {"participant": unit, "turn": record.turn, "focus": None}
    for name in RATINGS:
        if isinstance(rating := getattr(record.readings, name), AnswerRating):
            yield {**at, "kind": "judged", "name": name, "number": rating.rating, "word": rating.rationale}
    for name, value in record.signals.items():
        word = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else None
        yield {**at, "kind": "signal", "name": name, "number": None if word is not None else value, "word": word}
    if (chosen := record.next) is not None:
        pairs: tuple[QuestionChoice | Scored, ...] = (chosen, *chosen.runners_up)
        for pair in pairs:
            parts = [f"{key} {part:g}" for key, part in pair.parts.items()]
            word = "; ".join([*parts, f"× {chosen.multiplier:g}"]) if pair is chosen else None
            about = {"kind": "chosen" if pair is chosen else "runner_up", "name": pair.strategy, "focus": pair.focus}
            yield {**at, **about, "number": pair.score, "word": word}


# --- One agent's interview as it is read: questions and answers, the codes of each answer, and the agent's own graph

OWN = d.Presentation(
    tables=tuple(PRESENTATION.tables.values()),
    facts=(*PRESENTATION.facts.values(), d.integer("n_nodes"), d.integer("n_edges")),
    charts=(d.Chart(
        name="own_graph", title=N_("What {participant} named, and how it hangs together"), needs=("nodes", "edges"),
        draw="enquete.methods.laddering.charts:own_graph", alt=N_("{n_nodes} concepts and {n_edges} links of one "
                                                                 "interview."),
    ),),
)  # fmt: skip


def transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    from enquete.reports.charts import drawn  # noqa: PLC0415 - altair

    turns = list(lines_of(folder / "transcript.jsonl", "participant", participant))
    if not turns:
        return
    pooled: dict[str, Any] = json.loads((folder / "pooled_graph.json").read_text("utf-8"))
    graphs = list(lines_of(folder / "knowledge_graphs.jsonl", "participant", participant))
    graph = graphs[0] if graphs else {"nodes": [], "edges": []}
    tables = {name: [{"participant": participant, **row} for row in graph[name]] for name in ("nodes", "edges")}
    codes = codes_of(tables["nodes"], pooled["concepts"])
    name = str(turns[0]["name"])
    analysis = d.shaped(OWN, {**pooled, **tables}, {"n_nodes": len(tables["nodes"]), "n_edges": len(tables["edges"])})
    results = Results("laddering", OWN, analysis, Names(agents={participant: name}), language)
    picture = next(iter(drawn(results, footer=name)), None)
    read = [codes.get(f"{participant}#{turn['turn']}", ()) for turn in turns]
    yield Transcript(name, dialogue(turns, read, language), graph=picture)


# --- health: whether interviews gave any concepts, whether the model or a rule read and asked, and how it was read

BARREN, BY_RULE = "interviews_without_concepts", "work_by_rule"
EMPTY, INVENTED, UNREAD = "answers_without_concepts", "concepts_nobody_said", "answers_nobody_read"

CHECKS = {
    BARREN: OwnCheck(
        Threshold(
            "share of interviews with an answer of which no concept was read; bad if all", (None, 0.20), (None, 0.99),
            {"interviews": 1}, "one interview without any concept has nothing to show", "definition",
            "without concepts there is nothing to interpret; the bound of a caution is this project's proposal",
            "an interview that gives nothing is a gap that no status shows", decisive=True,
        ), "share", (N_("Interviews that gave no concept"), N_("What was said there is not in any map.")),
        {"too_few_interviews": N_("no interview has an answer")},
    ),
    BY_RULE: OwnCheck(
        Threshold(
            "share of the model's work (reading, judging, asking; a turn each) that a rule did", (None, 0.05), FREE,
            {"turns": 1}, "one turn is three pieces of work", "proposal", "no benchmark was found",
            "a rule reads connectives and keywords, not what was meant",
        ), "share",
        (N_("Work of the model that a rule did"), N_("A rule finds what connectives tell, not what was meant.")),
        {"no_model": N_("no model was to do it"), "too_few_turns": N_("no interview has an answer")},
    ),
    EMPTY: OwnCheck(
        Threshold(
            "share of answers that were read and gave no concept; bad if all", (None, 0.60), (None, 0.999),
            {"answers": 10}, "a few answers may well say nothing", "definition",
            "without concepts there is nothing to interpret; the bound of a caution is this project's proposal",
            "what extraction does not find is in no map", decisive=True,
        ), "share", (N_("Answers that gave no concept"), N_("Reading them found nothing, or they say nothing.")),
        {"too_few_answers": N_("fewer than ten answers were read")},
    ),
    INVENTED: OwnCheck(
        Threshold(
            "share of concepts read that were left out because the answer does not hold them", (None, 0.15), FREE,
            {"concepts": 10}, "one invention in a few concepts is a large share", "proposal", "no benchmark was found",
            "a model that invents much also invents what passes the check",
        ), "share",
        (
            N_("Concepts that nobody said"),
            N_("They are left out; the model that reads is not to be trusted with the rest."),
        ), {"too_few_concepts": N_("fewer than ten concepts were read")},
    ),
    UNREAD: OwnCheck(
        Threshold(
            "share of answers that nobody read", (None, 0.0), FREE, {"answers": 1}, "each answer is to be read",
            "definition", "reading is part of the method", "an answer that was not read is a gap that no status shows",
        ), "share", (N_("Answers that nobody read"), N_("What was said there is not in any map.")),
        {"too_few_answers": N_("no interview has an answer")},
    ),
}  # fmt: skip


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    n, barren = (analysis.count(key) for key in ("n", "n_barren"))
    yield "", judged(BARREN, barren / n if n else None, {"interviews": n}, rule=CHECKS[BARREN].rule)
    yield "", _by_rule(analysis, synthetic=bool(rows["respondent"].eq("synthetic").all()))
    yield from (("", check) for check in _read_checks(analysis))
    yield from any_other(analysis, rows, humans)


def _by_rule(analysis: d.Analysis, *, synthetic: bool) -> Diagnostic:
    """A synthetic run has no model; any other is meant to have one."""
    by = [[int(n or 0) for n in analysis.column("work", by)] for by in ("model", "fallback", "rule")]
    done = [sum(works) for works in zip(*by, strict=True)]
    share, n = sum(by[2]) / sum(done) if sum(done) else None, {"turns": max(done, default=0)}
    return judged(BY_RULE, share, n, why_not="no_model" if synthetic else "", rule=CHECKS[BY_RULE].rule)


def _read_checks(analysis: d.Analysis) -> Iterator[Diagnostic]:
    """Of answers that were read: without concepts, inventions among them; of all: unread."""
    if analysis.figure("n_answers") is None:
        return
    answers, unread, empty, concepts, invented = (
        analysis.count(f"n_{key}") for key in ("answers", "unread", "empty", "found", "invented")
    )
    for name, part, whole, unit in (
        (EMPTY, empty, answers - unread, "answers"), (INVENTED, invented, concepts, "concepts"),
        (UNREAD, unread, answers, "answers"),
    ):  # fmt: skip
        yield judged(name, part / whole if whole else None, {unit: whole}, rule=CHECKS[name].rule)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=of_turn,
    transcripts=transcripts,
    health=health,
    checks=CHECKS,
)
