"""What the interviews found: graphs of each agent and of all, links and their indices, coverage, saturation, how it was asked.

Interviews are rebuilt from their stored turns, so an interview that was cut short counts with what it has. Measured by:
every concept and link traces back to an utterance, every figure stands beside its n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from itertools import pairwise
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.laddering.coding import FROZEN, concepts_of
from enquete.graphs.laddering.comparing import averaged, compared, covered, measured
from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview, TurnRecord
from enquete.graphs.laddering.interviewer import ROLES
from enquete.graphs.laddering.knowledge import UNSAID
from enquete.graphs.laddering.network import PooledConcept, by_turn, implication_matrix, indices, saturation, with_poles
from enquete.graphs.laddering.patterns import summed_up
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.value_map import draw, kinds_of
from enquete.nodes.conversations import stored_turns, utterance_id
from enquete.reports.context import AnalysisContext, counted, findings
from enquete.respondents.roles import RULE


def analyse(
    frame: pd.DataFrame, instrument: LadderingInstrument, settings: LadderingSettings, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's interviews; see reports/findings.py for the contract."""
    units = [str(unit) for unit in frame["participant"].unique()]
    interviews = _begun(units, context.frozen)
    names = {str(unit): str(name) for unit, name in zip(frame["participant"], frame["agent_name"], strict=True)}
    coded, coding = concepts_of(interviews, context.frozen.get(FROZEN))
    concepts = with_poles(coded, interviews)
    coverage = covered(interviews, concepts, settings)
    cells = implication_matrix(interviews, concepts)
    drawn = draw(cells, concepts, settings.method, instrument.cut_off, context.language)
    found = {
        "language": context.language,
        "answers": counted(frame),
        "concept": settings.topic.id,
        "methodology": settings.method.id,
        "method": settings.method.title.in_(context.language),
        "topic": settings.topic.topic.in_(context.language),
        "ladder": _ladder(settings, context),
        "pattern": summed_up(interviews, concepts, settings.method, context.language),
        "relations": {
            name: (edge.label.in_(context.language) if edge.label else name.replace("_", " "))
            for name, edge in settings.method.edge_types.items()
        },
        "types": {name: kind.label.in_(context.language) for name, kind in settings.method.node_types.items()},
        "kinds": [{"id": kind, "label": label} for kind, label in kinds_of(settings.method, context.language)],
        "strategy": settings.strategies[0],
        "interviews": {"begun": len(interviews), "total": len(units), "over": sum(bool(i.stop) for i in interviews)},
        "measures": averaged(list(measured(interviews, concepts, coverage).values())),
        "comparison": compared(
            {
                settings.strategies[0]: interviews,
                **{name: _begun(units, kept) for name, kept in context.variants.items()},
            },
            settings,
        ),
        "stops": dict(sorted(Counter(i.stop for i in interviews if i.stop).items())),
        "agents": [_agent(interview, names, coverage[interview.unit]) for interview in interviews],
        "concepts": [{**asdict(concept), "agents": concept.agents} for concept in concepts],
        "coding": coding,
        "implications": [asdict(cell) for cell in cells],
        "indices": [asdict(index) for index in indices(cells, concepts)] if settings.method.climbs else [],
        "value_map": {**asdict(drawn), "cut_off_wanted": instrument.cut_off},
        "saturation": saturation(interviews, concepts),
        "by_turn": by_turn(interviews),
        "coverage": _coverage(concepts, coverage, settings, context),
        "strategies": _strategies(interviews, settings, context),
        "models": _models(interviews),
        "work": _work(interviews, settings),
        "reading": _reading(interviews),
        "dropped": _dropped(interviews),
        "graphs": [_graph(interview, names) for interview in interviews],
        "turns": [_turn(interview, record, names, settings) for interview in interviews for record in interview.turns],
    }
    return findings(context, found)


def _ladder(settings: LadderingSettings, context: AnalysisContext) -> list[str]:
    """Names of the rungs; none where what is asked after what is no ladder of reasons."""
    method = settings.method
    return [method.node_types[rung].label.in_(context.language) for rung in method.ladder if method.climbs]


def _begun(units: Sequence[str], frozen: Mapping[str, JsonValue]) -> list[Interview]:
    """The interviews of one arm that have a turn."""
    return [one for unit in units if (one := stored_interview(unit, frozen)).turns]


def stored_interview(unit: str, frozen: Mapping[str, JsonValue]) -> Interview:
    """An agent's interview from its frozen turns, as far as it went."""
    return reduce(Interview.after, stored_turns(frozen.get, unit, TurnRecord), Interview(unit))


def _agent(interview: Interview, names: Mapping[str, str], coverage: Coverage) -> dict[str, Any]:
    last = interview.turns[-1]
    return {
        "participant": interview.unit,
        "name": names.get(interview.unit, ""),
        "turns": len(interview.turns),
        "stop": interview.stop,
        "concepts": len(interview.graph.standing.nodes),
        "links": len(interview.graph.standing.edges),
        "retracted": len(interview.graph.retracted),
        "chain": last.chain,
        "elements_covered": coverage.elements_covered,
        "elements_total": coverage.elements_total,
        "breadth": coverage.breadth,
        "depth": coverage.depth,
        "focus_changes": _focus_changes(interview),
    }


def _focus_changes(interview: Interview) -> int:
    focuses = [turn.choice.focus for turn in interview.turns if turn.choice]
    return sum(one != other for one, other in pairwise(focuses))


def _coverage(
    concepts: Sequence[PooledConcept],
    coverage: Mapping[str, Coverage],
    settings: LadderingSettings,
    context: AnalysisContext,
) -> list[dict[str, Any]]:
    """Per element, over codes (comparing.covered): agents who spoke of it, its codes, and the mean depth_score of those who did;
    None where nobody did."""
    rows = []
    code = {place: one.id for one in concepts for place in one.members}
    for element, content in settings.topic.elements.items():
        last = [one.elements[element] for one in coverage.values()]
        depths = [one.depth_score for one in last if one.covered]
        own = {code[unit, node] for unit, one in coverage.items() for node in one.elements[element].linked_node_ids}
        rows.append(
            {
                "element": element,
                "label": content.label.in_(context.language),
                "type": content.type,
                "n_covered": len(depths),
                "n_total": len(last),
                "concepts": len(own),
                "types_found": sorted({kind for one in last for kind in one.types_found}),
                "mean_depth": sum(depths) / len(depths) if depths else None,
            }
        )
    return rows


def _strategies(
    interviews: Sequence[Interview], settings: LadderingSettings, context: AnalysisContext
) -> list[dict[str, Any]]:
    """Per strategy: how often it was used, and how often the answer brought something new."""
    used, yielded = Counter[str](), Counter[str]()
    for turn in (turn for interview in interviews for turn in interview.turns if turn.choice):
        name = turn.choice.strategy if turn.choice else ""
        used[name] += 1
        yielded[name] += turn.changes.any_new
    return [
        {"strategy": name, "label": strategy.label.in_(context.language), "used": used[name], "yielded": yielded[name],
         "yield_rate": yielded[name] / used[name] if used[name] else None}
        for name, strategy in settings.method.strategies.items()
    ]  # fmt: skip


def _models(interviews: Sequence[Interview]) -> dict[str, dict[str, int]]:
    """Per role: turns by who did the work."""
    turns = [turn for interview in interviews for turn in interview.turns]
    return {
        role.purpose: dict(sorted(Counter(by for turn in turns if (by := turn.by[role.purpose])).items()))
        for role in ROLES
    }


def _work(interviews: Sequence[Interview], settings: LadderingSettings) -> list[dict[str, Any]]:
    """Per role: pieces of work by the model, by its fallback and by the rule that stands in for both."""
    rows = []
    for role in ROLES:
        fallback = role.models(settings)[1]
        by = Counter(
            RULE if who == RULE else "fallback" if who == fallback else "model"
            for interview in interviews for turn in interview.turns if (who := turn.by[role.purpose])
        )  # fmt: skip
        rows.append({"work": role.purpose, "model": by["model"], "fallback": by["fallback"], "rule": by[RULE]})
    return rows


def _reading(interviews: Sequence[Interview]) -> dict[str, int]:
    """answers: turns with an answer; unread: of these, read by nobody; empty: read, without any concept; concepts: all that were
    read; invented: of these, left out because the answer does not hold them."""
    turns = [turn for interview in interviews for turn in interview.turns if turn.answer]
    kept = [turn.changes.new_nodes + turn.changes.merged for turn in turns]
    invented = sum(turn.changes.dropped.get(UNSAID, 0) for turn in turns)
    read = [bool(turn.by["extract"]) for turn in turns]
    return {
        "answers": len(turns),
        "unread": len(turns) - sum(read),
        "empty": sum(was and not found for was, found in zip(read, kept, strict=True)),
        "concepts": sum(kept) + invented,
        "invented": invented,
    }


def _dropped(interviews: Sequence[Interview]) -> dict[str, int]:
    counts = Counter[str]()
    for interview in interviews:
        for turn in interview.turns:
            counts.update(turn.changes.dropped)
    return dict(sorted(counts.items()))


def _graph(interview: Interview, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "participant": interview.unit,
        "name": names.get(interview.unit, ""),
        "nodes": [
            {**node.model_dump(mode="json"), "retracted": name in interview.graph.retracted}
            for name, node in interview.graph.nodes.items()
        ],
        "edges": [edge.model_dump(mode="json") for edge in interview.graph.edges.values()],
    }


def _turn(
    interview: Interview, record: TurnRecord, names: Mapping[str, str], settings: LadderingSettings
) -> dict[str, Any]:
    """A turn as the log shows it: signals and scores with the utterance they were read from."""
    source = {"source_utterance_id": utterance_id(interview.unit, record.turn), "source_quote": record.answer[:300]}
    focus = interview.graph.nodes.get(record.choice.focus) if record.choice else None
    return {
        "participant": interview.unit,
        "name": names.get(interview.unit, ""),
        "turn": record.turn,
        "question": record.question,
        "strategy": record.choice.strategy if record.choice else "opening",
        "technique": record.choice.technique if record.choice else "",
        "focus": focus.text if focus else "",
        "answer": record.answer,
        "status": record.status,
        "response_depth": record.depth,
        "readings": record.readings.model_dump(mode="json", exclude_none=True),
        "new_concepts": [n.text for n in record.changes.nodes if n.turn == record.turn],
        "new_links": record.changes.new_edges,
        "merged": record.changes.merged,
        "signals": [{"name": name, "value": value, **source} for name, value in record.signals.items()],
        "scores": _scores(record, source),
        "stop": record.stop,
        "by": dict(record.by),
        "fallback": sorted(_fell_back(record, settings)),
        **source,
    }


def _scores(record: TurnRecord, source: Mapping[str, str]) -> list[dict[str, Any]]:
    """The pair that was chosen for the next question, then the runners-up."""
    if record.next is None:
        return []
    chosen = {"strategy": record.next.strategy, "focus": record.next.focus, "score": record.next.score,
              "parts": dict(record.next.parts), "multiplier": record.next.multiplier, "chosen": True}  # fmt: skip
    others = [
        {"strategy": one.strategy, "focus": one.focus, "score": one.score, "chosen": False}
        for one in record.next.runners_up
    ]
    return [{**one, **source} for one in (chosen, *others)]


def _fell_back(record: TurnRecord, settings: LadderingSettings) -> set[str]:
    """Roles whose work in this turn was done by the fallback model."""
    fallbacks = {role.purpose: role.models(settings)[1] for role in ROLES}
    return {purpose for purpose, model in fallbacks.items() if model and record.by[purpose] == model}
