"""The scenario section of the report, the files of its phase, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.relations.polarity import QUADRANTS
from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.graphs.scenario.open_answers import answers_by_id
from enquete.graphs.scenario.present_comparisons import (
    MATRIX,
    agent_centred,
    by_type,
    every_group_test,
    every_pair,
    main_dimension,
    pairs,
    themes_by_type,
)
from enquete.graphs.scenario.present_comparisons import labels as _labels
from enquete.graphs.scenario.present_comparisons import source as _source
from enquete.graphs.scenario.wording import WORDS
from enquete.locale import in_language
from enquete.reports.context import Files, ItemFacts
from enquete.reports.markdown import MISSING, escape, number, of, p_value, quote, share, table
from enquete.reports.writing import records
from enquete.state.asking import Language

QUOTED = 3

Words = Mapping[str, str]
Found = Mapping[str, Any]


def item_facts(item_id: str, instrument: ScenarioInstrument) -> ItemFacts:
    """A rating's family is its scenario, its dimension and scale are the dimension's; the open question has neither."""
    scenario, _, dimension = item_id.rpartition("/")
    if scenario not in {s.scenario_id for s in instrument.scenarios}:
        return ItemFacts()
    if dimension == OPEN or dimension not in {d.dimension_id for d in instrument.dimensions}:
        return ItemFacts(family=scenario)
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=scenario, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """All rows; and the matrices, polarity, comparisons and themes, here with the words of all their answers."""
    found: Found = findings
    kept = ("arms", "partial", "unit_of_inference", "asked", "scenarios", "dimensions", "agents", "polarity",
            "polarity_tests", "ratings", "friedman", "pairwise", "group_tests", "alike")  # fmt: skip
    main = frame[frame["arm"].isin(found.get("arms", ()))]
    matrix = {key: found.get(key) for key in kept} | {"open": _with_words(found["open"], main)}
    return {"responses.jsonl": records(frame), "polarity_matrix.json": matrix}


def _with_words(said: Found | None, frame: pd.DataFrame) -> JsonValue:
    if said is None:
        return None
    answers = answers_by_id(frame[frame["item_id"].str.endswith(f"/{OPEN}")])
    scenarios = [
        {**entry, "themes": [_theme_with_words(theme, answers) for theme in entry["themes"]]}
        for entry in said["scenarios"]
    ]
    return {**said, "scenarios": scenarios}


def _theme_with_words(theme: Found, answers: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    own = {key: value for key, value in theme.items() if key != "quoted"}
    return {**own, "answers": [dict(answers[one]) for one in theme["statements"] if one in answers]}


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Found = findings
    words = in_language(WORDS, language)
    intro = words["intro_open" if found["open"] else "intro"].format(n=len(found["scenarios"]))
    parts = [
        f"## {words['title']}",
        intro,
        words["frame"],
        *_asked(found, words),
        *_ratings(found, words, language),
        *_compared(found, words, language),
        *pairs(found, language),
        *by_type(found, language),
        *_polarity(found, words, language),
        *_open(found, words, language),
    ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """What is long: the pairs on the other dimensions, all tests by stakeholder type, and the types' themes."""
    parts = [
        *every_pair(findings, language),
        *every_group_test(findings, language),
        *themes_by_type(findings, language),
    ]
    return "\n\n".join(part for part in parts if part)


def _asked(found: Found, words: Words) -> Iterator[str]:
    asked = found["asked"]
    answers, people = of(asked["n_responded"], asked["n_total"]), of(asked["agents_responded"], asked["agents_total"])
    yield words["asked"].format(answers=answers, people=people)
    yield _source(words, "all_responses.csv, `methodology=scenario`")


def _ratings(found: Found, words: Words, language: Language) -> Iterator[str]:
    scenarios, dimensions = _labels(found, "scenario"), _labels(found, "dimension")
    rows = [
        [scenarios[r["scenario"]], dimensions[r["dimension"]], of(r["n_responded"], r["n_total"]),
         number(r["mean"], language), number(r["median"], language, 1), number(r["sd"], language),
         number(r["agreement"], language), number(r["bimodality"], language), " · ".join(str(n) for n in r["distribution"].values())]
        for r in found["ratings"]
    ]  # fmt: skip
    heads = [words[key] for key in ("scenario", "dimension", "n", "mean", "median", "sd", "A", "BC", "distribution")]
    yield f"### {words['ratings']}"
    yield table(heads, rows, numeric_from=2)
    scales = ", ".join(f"{escape(d['label'])} {d['scale_min']}–{d['scale_max']}" for d in found["dimensions"])
    yield words["scales"].format(scales=scales)
    yield _source(words, f"{MATRIX} → ratings")
    yield from _by_type(found, words, language)


def _by_type(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Mean of the dimension that polarity reads as desirability, else of the first, by type and scenario."""
    dimension = main_dimension(found)
    rated = [r for r in found["ratings"] if r["dimension"] == dimension]
    cells: dict[str, dict[str, str]] = {}
    for r in rated:
        for group in r["by_type"]:
            cell = f"{number(group['mean'], language)} ({of(group['n_responded'], group['n_total'])})"
            cells.setdefault(group["stakeholder_type"], {})[r["scenario"]] = cell
    yield f"### {words['by_type'].format(dimension=_labels(found, 'dimension')[dimension])}"
    yield _type_table(cells, found, words)
    yield _source(words, f"{MATRIX} → ratings.by_type")


def _type_table(cells: Mapping[str, Mapping[str, str]], found: Found, words: Words, *, numeric_from: int = 1) -> str:
    scenarios = _labels(found, "scenario")
    rows = [[escape(kind), *(row.get(scenario, MISSING) for scenario in scenarios)] for kind, row in cells.items()]
    return table([words["type"], *scenarios.values()], rows, numeric_from=numeric_from)


def _compared(found: Found, words: Words, language: Language) -> Iterator[str]:
    scenarios, dimensions = _labels(found, "scenario"), _labels(found, "dimension")
    rows = []
    for f in found["friedman"]:
        ranks = [number(f["mean_ranks"].get(scenario), language) for scenario in scenarios]
        figures = [number(f["chi2"], language), str(f["df"]), p_value(f["p"], language), number(f["w"], language)]
        rows.append([dimensions[f["dimension"]], of(f["n"], f["n_total"]), *ranks, *figures])
    yield f"### {words['compared']}"
    yield words["ranks"]
    yield table([words["dimension"], words["n"], *scenarios.values(), "χ²", "df", "p", "W"], rows)
    yield "\n".join(
        f"- {dimensions[f['dimension']]}: {words[f['reason']].format(n=f['n'])}"
        for f in found["friedman"]
        if f["reason"]
    )
    yield words["unit"]
    yield words["alike_head"]
    yield "\n".join(_alike(a, dimensions, words, language) for a in found["alike"])
    yield _source(words, f"{MATRIX} → friedman, alike")


def _alike(alike: Found, dimensions: Words, words: Words, language: Language) -> str:
    name, complete = dimensions[alike["dimension"]], alike["n_complete"]
    if not complete:
        return f"- {name}: {words['alike_none'].format(total=alike['n_total'])}"
    part = share(alike["share"], language)
    return (
        f"- {name}: {words['alike'].format(n=alike['n_alike'], complete=complete, total=alike['n_total'], share=part)}"
    )


def _polarity(found: Found, words: Words, language: Language) -> Iterator[str]:
    yield f"### {words['polarity']}"
    if found["polarity"]["reason"]:
        yield words[found["polarity"]["reason"]]
        return
    scenarios = _labels(found, "scenario")
    entries: Sequence[Found] = found["polarity"]["scenarios"]
    rows = [
        [scenarios[e["scenario"]], of(e["n_responded"], e["n_total"]),
         *(number(e[key], language) for key in ("wish", "expectation", "polarity")),
         words[e["quadrant"]] if e["quadrant"] else MISSING, *(str(e["quadrants"][name]) for name in QUADRANTS)]
        for e in entries
    ]  # fmt: skip
    heads = [words[key] for key in ("scenario", "n", "wish", "expectation", "pi", "quadrant", *QUADRANTS)]
    yield words["formula"]
    yield table(heads, rows)
    yield _source(words, f"{MATRIX} → polarity, agents")
    yield from agent_centred(found, language)
    cells: dict[str, dict[str, str]] = {}
    for e in entries:
        for group in e["by_type"]:
            cells.setdefault(group["stakeholder_type"], {})[e["scenario"]] = _polarity_cell(group, words, language)
    yield f"### {words['polarity_by_type']}"
    yield _type_table(cells, found, words, numeric_from=len(scenarios) + 1)
    yield _source(words, f"{MATRIX} → polarity.by_type")


def _polarity_cell(group: Found, words: Words, language: Language) -> str:
    n = of(group["n_responded"], group["n_total"])
    if group["polarity"] is None:
        return f"{MISSING} ({n})"
    return f"{number(group['polarity'], language)}, {words[group['quadrant']]} ({n})"


def _open(found: Found, words: Words, language: Language) -> Iterator[str]:
    if found["open"] is None:
        return
    scenarios = _labels(found, "scenario")
    yield f"### {words['open']}"
    yield f"*{escape(found['open']['wording'])}*"
    for entry in found["open"]["scenarios"]:
        counts = of(entry["n_responded"], entry["n_total"])
        yield f"**{scenarios[entry['scenario']]}** ({words['answered']}: {counts})"
        yield _themes(entry, words, language)
    yield _source(words, f"{MATRIX} → open")


def _themes(entry: Found, words: Words, language: Language) -> str:
    if not entry["coded"]:
        return words["uncoded_yet"]
    if not entry["themes"]:
        return words["no_themes"]
    lines: list[str] = []
    seen: set[str] = set()
    for theme in entry["themes"]:
        types = ", ".join(f"{escape(kind)} {n}" for kind, n in theme["by_type"].items())
        counts = words["voiced"].format(n=theme["n_statements"], total=entry["n_responded"])
        lines += [f"*{escape(theme['label'])}* ({counts}{'; ' + types if types else ''})", ""]
        # An answer may voice several themes: those not quoted yet come first.
        shown = sorted(theme["quoted"], key=lambda one: one["id"] in seen)[:QUOTED]
        seen.update(one["id"] for one in shown)
        lines += [quote(one["text"], _who(one), language) for one in shown]
        lines.append("")
    if entry["n_uncoded"]:
        lines.append(words["uncoded"].format(n=entry["n_uncoded"], total=entry["n_responded"]))
    return "\n".join(lines).strip()


def _who(one: Found) -> str:
    return f"{escape(one['name'])} ({escape(one['stakeholder_type'])})"
