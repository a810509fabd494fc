"""Which findings go together, over all agents and across methods: effects, corrected over the whole table, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from enquete.analysis.relations.association import CrossFinding, cross_table
from enquete.locale import N_, tell
from enquete.reports.context import jsonable, shallow
from enquete.reports.crossing.agents import AgentTable
from enquete.reports.key_findings import KeyFinding
from enquete.reports.markdown import number, p_value
from enquete.reports.templates import render
from enquete.state.asking import Language

FILE = "associations.json"
SHOWN = 15
"""Pairs that are printed beside the named ones."""
MOST_CATEGORIES = 30
"""Of a categorical finding: with more, such as a type for every agent, its table has no cell to speak of."""

TOGETHER: Mapping[str, str] = {
    "rises": N_(
        "{first} and {second} go together: the more of one, the more of the other (ρ = {effect}, Holm p {p}, n = {n} of {total})."
    ),
    "falls": N_(
        "{first} and {second} go apart: the more of one, the less of the other (ρ = {effect}, Holm p {p}, n = {n} of {total})."
    ),
    "epsilon_squared": N_(
        "{first} and {second}: the groups differ (share of variance {effect}, Holm p {p}, n = {n} of {total})."
    ),
    "cramers_v": N_("{first} and {second} go together (V = {effect}, Holm p {p}, n = {n} of {total})."),
}
ALPHA = 0.05
LEAST = 10
"""Agents with both findings that a sentence about them needs."""
MEASURES = {"cramers_v": "V", "epsilon_squared": "ε²", "spearman": "ρ"}
REASONS: Mapping[str, str] = {
    "no variation": N_("no variation"),
    "one category only": N_("one category only"),
    "fewer than 3 agents": N_("fewer than 3 agents"),
}
"""Of `Association.reason`; one that is not here is shown as it is."""


def associate(agents: AgentTable) -> list[CrossFinding]:
    """Every pair of findings of different methodologies, corrected over all of them. Tests describe this run."""
    known = {one.column for one in agents.findings if one.known}
    crowded = {
        one.column for one in agents.findings if one.kind == "categorical" and one.values.nunique() > MOST_CATEGORIES
    }
    compared = known - crowded - agents.twins.keys()
    pairs = [pair for pair in agents.pairs() if set(pair) <= compared]
    return cross_table(agents.table, agents.kinds, pairs=pairs) if pairs else []


def named_pairs(agents: AgentTable) -> list[tuple[str, str]]:
    """Pairs that methodologies named beforehand, as columns of this table; a kind of finding that is not there by its name."""
    same = agents.twins

    def columns(kind: str) -> list[str]:
        return [same.get(one.column, one.column) for one in agents.findings if one.stands_for == kind] or [kind]

    pairs = [(a, b) for first, second in agents.named_pairs for a in columns(first) for b in columns(second)]
    return list(dict.fromkeys(pairs))


def as_json(agents: AgentTable, found: Sequence[CrossFinding], language: Language) -> JsonValue:
    """associations.json: what the columns of agents.csv mean, and all pairs."""
    columns = [
        {"column": one.column, "methodology": one.methodology, "kind": one.kind, "name": tell(one.name, language), "n": one.known,
         "n_agents": len(agents.table)}
        for one in agents.findings
    ]  # fmt: skip
    pairs = [
        {"first": one.first, "second": one.second, **shallow(one.association), "p_holm": one.p_holm, "p_bh": one.p_bh}
        for one in found
    ]
    identical = [{"column": column, "same_as": kept} for column, kept in agents.twins.items()]
    return jsonable({"unit_of_inference": "run", "columns": columns, "identical": identical, "pairs": pairs})


def findings(agents: AgentTable, found: Sequence[CrossFinding], language: Language) -> list[KeyFinding]:
    """Pairs that go together after Holm's correction over all pairs, the strongest first. An ε² says that groups differ."""
    sure = [one for one in found if one.p_holm is not None and one.p_holm < ALPHA and one.association.n >= LEAST]
    return [
        _finding(one, agents, language) for one in sorted(sure, key=lambda one: -abs(one.association.effect or 0.0))
    ]


def _finding(one: CrossFinding, agents: AgentTable, language: Language) -> KeyFinding:
    effect, found = one.association.effect or 0.0, one.association
    kind = found.measure if found.measure != "spearman" else ("falls" if effect < 0 else "rises")
    text = tell(TOGETHER[kind], language).format(
        first=_named(one.first, agents, language), second=_named(one.second, agents, language), effect=number(effect, language),
        n=found.n, total=len(agents.table), p=p_value(one.p_holm, language),
    )  # fmt: skip
    return KeyFinding(
        f"across.{one.first}.{one.second}", text, "difference", abs(effect), found.n, len(agents.table), one.p_holm,
        numbers={"effect": effect, "n": found.n, "p": one.p_holm or 0.0},
    )  # fmt: skip


def section(agents: AgentTable, found: Sequence[CrossFinding], language: Language) -> str:
    """The appendix's section: named pairs first, then the surest; the rest in the file, Markdown."""
    named, others = _ordered(agents, found)
    groupings = dict.fromkeys(agents.twins.values())
    return render(
        "enquete.reports.crossing:associations.md.j2", language, pairs=found, shown=[*named, *others[:SHOWN]],
        tested=sum(one.association.p is not None for one in found), named=len(named), more=len(others[SHOWN:]),
        name=lambda column: _named(column, agents, language), measures=MEASURES, reasons=REASONS,
        identical=[_named(kept, agents, language) for kept in groupings], absent=_absent(agents, named, language),
        undefined=[one for one in found if one.association.effect is None],
    ).strip()  # fmt: skip


def _ordered(agents: AgentTable, found: Sequence[CrossFinding]) -> tuple[list[CrossFinding], list[CrossFinding]]:
    """The named pairs in their order, determined or not, and the others that are determined, the smallest p first."""
    by_pair = {frozenset((one.first, one.second)): one for one in found}
    wanted = [frozenset(pair) for pair in named_pairs(agents)]
    named = [by_pair[pair] for pair in dict.fromkeys(wanted) if pair in by_pair]
    rest = [one for one in found if one not in named and one.association.effect is not None]
    return named, sorted(
        rest, key=lambda one: (_last(one.p_bh), _last(one.association.p), -abs(one.association.effect or 0))
    )


def _absent(agents: AgentTable, named: Sequence[CrossFinding], language: Language) -> list[str]:
    """Named pairs that could not be compared, in words."""
    there = {frozenset((one.first, one.second)) for one in named}
    pairs = [pair for pair in named_pairs(agents) if frozenset(pair) not in there]
    return [" × ".join(_named(column, agents, language) for column in pair) for pair in pairs]


def _named(column: str, agents: AgentTable, language: Language) -> str:
    """The column's name, with those of the groupings that are the same; or a kind of finding that the run lacks."""
    if column in agents.kinds_of_finding:
        return tell(agents.kinds_of_finding[column], language)
    same = [one for one, kept in agents.twins.items() if kept == column]
    return " = ".join(agents.named(one, language) for one in (column, *same))


def _last(p: float | None) -> float:
    return 2.0 if p is None else p
