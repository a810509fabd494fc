"""Which findings go together, over all agents and across methods: effects, corrected over the whole table, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from pydantic import JsonValue

from enquete.analysis.crosstable import CrossFinding, cross_table
from enquete.reports.agent_findings import AgentTable
from enquete.reports.context import jsonable
from enquete.reports.markdown import MISSING, escape, number, p_value, table
from enquete.state.seam import Language

FILE = "associations.json"
SHOWN = 15
MOST_CATEGORIES = 30
"""Of a categorical finding: with more, such as a type for every agent, its table has no cell to speak of."""

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Alle Agenten, alle Befunde",
        "intro": "Jeder Agent ist eine Zeile von exports/agents.csv. Verglichen werden Befunde verschiedener Methoden, dazu die "
        "Stakeholder-Gruppe; Befunde derselben Methode hängen schon durch ihre Antworten zusammen. Effekte vor p: V nach Cramér (0 bis "
        "1, korrigiert nach Bergsma), ε² (0 bis 1), Spearmans ρ (−1 bis 1, mit 95-%-Intervall). p ist über alle {n} Paare korrigiert; "
        "die Tafel ist explorativ, zu lesen ist BH.",
        "frame": "Die Einheit des Schlusses ist der Lauf: Alle Agenten teilen ein Modell und einen Prompt. Ein p beschreibt diese Agenten "
        "dieses Laufs und keine Menschen.",
        "first": "Befund", "second": "mit", "measure": "Maß", "effect": "Effekt", "interval": "95 %", "n": "n", "p": "p", "holm": "Holm",
        "bh": "BH", "more": "{n} weitere Paare stehen in associations.json.", "none": "Es gibt noch keine zwei Befunde zu vergleichen.",
        "undefined": "Nicht bestimmt: {listed}.", "source": "*Quelle: associations.json; exports/agents.csv*",
    },
    "en": {
        "title": "All agents, all findings",
        "intro": "Every agent is a row of exports/agents.csv. Findings of different methods are compared, and the stakeholder type; "
        "findings of one method go together by their answers already. Effects before p: Cramér's V (0 to 1, corrected after Bergsma), "
        "ε² (0 to 1), Spearman's ρ (−1 to 1, with a 95% interval). p is corrected over all {n} pairs; the table is exploratory, read BH.",
        "frame": "The unit of inference is the run: all agents share a model and a prompt. A p describes these agents of this run and no "
        "people.",
        "first": "Finding", "second": "with", "measure": "Measure", "effect": "Effect", "interval": "95%", "n": "n", "p": "p",
        "holm": "Holm", "bh": "BH", "more": "{n} more pairs are in associations.json.", "none": "There are no two findings to compare yet.",
        "undefined": "Not determined: {listed}.", "source": "*Source: associations.json; exports/agents.csv*",
    },
}  # fmt: skip

MEASURES = {"cramers_v": "V", "epsilon_squared": "ε²", "spearman": "ρ"}
REASONS: Mapping[str, Mapping[Language, str]] = {
    "no variation": {"de": "ohne Unterschiede", "en": "no variation"},
    "one category only": {"de": "nur eine Gruppe", "en": "one category only"},
    "fewer than 3 agents": {"de": "weniger als 3 Agenten", "en": "fewer than 3 agents"},
}
"""Of `Association.reason`; one that is not here is shown as it is."""


def associate(agents: AgentTable) -> list[CrossFinding]:
    """Every pair of findings of different methodologies, corrected over all of them. Tests describe this run."""
    known = {one.column for one in agents.findings if one.known}
    crowded = {
        one.column for one in agents.findings if one.kind == "categorical" and one.values.nunique() > MOST_CATEGORIES
    }
    pairs = [pair for pair in agents.pairs() if set(pair) <= known - crowded]
    return cross_table(agents.table, agents.kinds, pairs=pairs) if pairs else []


def as_json(agents: AgentTable, found: Sequence[CrossFinding]) -> JsonValue:
    """associations.json: what the columns of agents.csv mean, and all pairs."""
    columns = [
        {"column": one.column, "methodology": one.methodology, "kind": one.kind, "name": dict(one.name), "n": one.known,
         "n_agents": len(agents.table)}
        for one in agents.findings
    ]  # fmt: skip
    pairs = [
        {"first": one.first, "second": one.second, **asdict(one.association), "p_holm": one.p_holm, "p_bh": one.p_bh}
        for one in found
    ]
    return jsonable({"unit_of_inference": "run", "columns": columns, "pairs": pairs})


def section(agents: AgentTable, found: Sequence[CrossFinding], language: Language) -> str:
    """The report's section: surest pairs first, the rest in the file, Markdown."""
    return "\n\n".join(_parts(agents, found, language))


def _parts(agents: AgentTable, found: Sequence[CrossFinding], language: Language) -> Iterator[str]:
    words = WORDS[language]
    yield f"## {words['title']}"
    determined = [one for one in found if one.association.effect is not None]
    if not found:
        yield words["none"]
        return
    yield words["intro"].format(n=sum(one.association.p is not None for one in found))
    yield words["frame"]
    ordered = sorted(determined, key=lambda one: (_last(one.p_bh), -abs(one.association.effect or 0.0)))
    heads = [words[key] for key in ("first", "second", "measure", "effect", "interval", "n", "p", "holm", "bh")]
    shown = table(heads, [_row(one, agents, language) for one in ordered[:SHOWN]], numeric_from=3)
    if shown:
        yield shown
    if len(ordered) > SHOWN:
        yield words["more"].format(n=len(ordered) - SHOWN)
    undefined = [one for one in found if one.association.effect is None]
    if undefined:
        yield words["undefined"].format(
            listed=escape("; ".join(_undefined(one, agents, language) for one in undefined))
        )
    yield words["source"]


def _last(p: float | None) -> float:
    return 2.0 if p is None else p


def _undefined(one: CrossFinding, agents: AgentTable, language: Language) -> str:
    reason = one.association.reason
    why = REASONS.get(reason, {}).get(language, reason)
    return f"{agents.named(one.first, language)} × {agents.named(one.second, language)} ({why})"


def _row(one: CrossFinding, agents: AgentTable, language: Language) -> list[str]:
    found = one.association
    names = [escape(agents.named(column, language)) for column in (one.first, one.second)]
    joint = "bis" if language == "de" else "to"
    interval = (
        f"{number(found.low, language)} {joint} {number(found.high, language)}" if found.low is not None else MISSING
    )
    return [
        *names, MEASURES[found.measure], number(found.effect, language), interval, str(found.n),
        *(p_value(p, language) for p in (found.p, one.p_holm, one.p_bh)),
    ]  # fmt: skip
