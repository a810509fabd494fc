"""Comparisons in the scenario section: which scenarios differ, where stakeholder types part; all figures in the appendix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.relations.polarity import QUADRANTS
from enquete.graphs.scenario.wording import WORDS
from enquete.locale import in_language
from enquete.reports.markdown import MISSING, escape, number, of, p_value, share, table
from enquete.state.asking import Language

ROWS_SHOWN = 6
LEVEL = 0.05
MATRIX = "T1/scenario/polarity_matrix.json"

Found = Mapping[str, Any]
Words = Mapping[str, str]


def source(words: Words, what: str) -> str:
    return f"*{words['source']}: {what}*"


def labels(found: Found, key: str) -> dict[str, str]:
    """Names by id, of the scenarios or of the dimensions."""
    return {entry[key]: escape(entry["label"]) for entry in found[f"{key}s"]}


def main_dimension(found: Found) -> str:
    """The dimension that polarity reads as desirability, else the first."""
    return str(found["polarity"]["desirability"] or found["dimensions"][0]["dimension"])


# --- pairs of scenarios ----------------------------------------------------------------------------------------------


def pairs(found: Found, language: Language) -> Iterator[str]:
    """The pairs on the main dimension, and how many differ on each of the others."""
    words, dimension = in_language(WORDS, language), main_dimension(found)
    rows = [one for one in found["pairwise"] if one["dimension"] == dimension]
    yield f"### {words['pairs'].format(dimension=labels(found, 'dimension')[dimension])}"
    yield words["pairs_legend"]
    yield _pair_table(rows, found, words, language)
    told = []
    for name, label in labels(found, "dimension").items():
        own = [one for one in found["pairwise"] if one["dimension"] == name and one["p_holm"] is not None]
        told.append(f"{label} {of(sum(one['p_holm'] < LEVEL for one in own), len(own))}")
    yield words["pairs_differ"].format(level=number(LEVEL, language), told=", ".join(told))
    yield source(words, f"{MATRIX} → pairwise")


def _pair_table(rows: Sequence[Found], found: Found, words: Words, language: Language) -> str:
    names = labels(found, "scenario")
    body = [
        [names[one["first"]], names[one["second"]], of(one["n"], one["n_total"]),
         number(one["hodges_lehmann"], language), number(one["rank_biserial"], language), p_value(one["p"], language),
         p_value(one["p_holm"], language)]
        for one in rows
    ]  # fmt: skip
    heads = [words[key] for key in ("first", "second", "n", "hl", "rb", "p", "p_holm")]
    return table(heads, body, numeric_from=2)


# --- stakeholder types -----------------------------------------------------------------------------------------------


def by_type(found: Found, language: Language) -> Iterator[str]:
    """The ratings on which types part most, and how far they part in polarity."""
    words = in_language(WORDS, language)
    tested = [one for one in found["group_tests"] if one["epsilon_squared"] is not None]
    yield f"### {words['types_differ']}"
    if not tested:
        yield words["types_untested"]
        return
    yield words["types_legend"]
    ordered = sorted(tested, key=lambda one: (-one["epsilon_squared"], one["item"]))
    yield _type_table(ordered[:ROWS_SHOWN], found, words, language)
    above = sum(one["p_holm"] is not None and one["p_holm"] < LEVEL for one in tested)
    yield words["types_count"].format(n=above, total=len(tested), level=number(LEVEL, language))
    names = labels(found, "scenario")
    for measure in ("desirability", "polarity"):
        own = [one for one in found["polarity_tests"] if one["measure"] == measure]
        told = [
            f"{names[one['scenario']]} {number(one['eta_squared'], language)}, {words['p_holm']} {p_value(one['p_holm'], language)}"
            for one in own
        ]
        yield words[f"eta_{measure}"].format(told="; ".join(told)) if told else ""
    yield source(words, f"{MATRIX} → group_tests, polarity_tests")


def _type_table(rows: Sequence[Found], found: Found, words: Words, language: Language) -> str:
    scenarios, dimensions = labels(found, "scenario"), labels(found, "dimension")
    body = []
    for one in rows:
        body.append(
            [scenarios[one["scenario"]], dimensions[one["dimension"]], of(one["n"], one["n_total"]),
             str(len(one["groups"])), number(one["h"], language), number(one["epsilon_squared"], language),
             p_value(one["p"], language), p_value(one["p_holm"], language), words[one["method"]]]
        )  # fmt: skip
    heads = ("scenario", "dimension", "n", "n_types", "h", "epsilon", "p", "p_holm", "method")
    return table([words[key] for key in heads], body, numeric_from=2)


# --- quadrants -------------------------------------------------------------------------------------------------------


def agent_centred(found: Found, language: Language) -> Iterator[str]:
    """The quadrants once more, each agent measured by its own means."""
    words, scenarios = in_language(WORDS, language), labels(found, "scenario")
    rows = []
    for entry in found["polarity"]["scenarios"]:
        own = entry["agent_centred"]
        rows.append(
            [scenarios[entry["scenario"]], of(own["n_responded"], own["n_total"]), number(own["wish"], language),
             number(own["expectation"], language), words[own["quadrant"]] if own["quadrant"] else MISSING,
             *(str(own["quadrants"][name]) for name in QUADRANTS)]
        )  # fmt: skip
    yield f"### {words['own_means']}"
    yield words["own_means_legend"]
    heads = ("scenario", "n", "own_wish", "own_expectation", "quadrant", *QUADRANTS)
    yield table([words[key] for key in heads], rows)
    yield source(words, f"{MATRIX} → polarity.scenarios.agent_centred")


# --- appendix --------------------------------------------------------------------------------------------------------


def every_pair(found: Found, language: Language) -> Iterator[str]:
    words, dimensions = in_language(WORDS, language), labels(found, "dimension")
    for name, label in dimensions.items():
        if name != main_dimension(found):
            yield f"### {words['title']}: {words['pairs'].format(dimension=label)}"
            rows = [one for one in found["pairwise"] if one["dimension"] == name]
            yield _pair_table(rows, found, words, language)
            yield source(words, f"{MATRIX} → pairwise")


def every_group_test(found: Found, language: Language) -> Iterator[str]:
    words = in_language(WORDS, language)
    tested = [one for one in found["group_tests"] if not one["reason"]]
    if tested:
        yield f"### {words['title']}: {words['types_differ']}"
        yield _type_table(tested, found, words, language)
        yield source(words, f"{MATRIX} → group_tests")


def themes_by_type(found: Found, language: Language) -> Iterator[str]:
    """Which share of a type's answers voices each theme."""
    words, scenarios = in_language(WORDS, language), labels(found, "scenario")
    for entry in found["open"]["scenarios"] if found["open"] else ():
        types = [one for one in entry["by_type"] if one["n_responded"]]
        if not entry["themes"] or not types:
            continue
        rows = [
            [escape(theme["label"]), *(_voiced(theme["by_type"].get(one["stakeholder_type"], 0), one, language) for one in types)]
            for theme in entry["themes"]
        ]  # fmt: skip
        yield f"### {words['themes_by_type'].format(scenario=scenarios[entry['scenario']])}"
        yield table([words["theme"], *(escape(one["stakeholder_type"]) for one in types)], rows)
        yield source(words, f"{MATRIX} → open.scenarios.themes.by_type")


def _voiced(n: int, kind: Found, language: Language) -> str:
    return f"{of(n, kind['n_responded'])} ({share(n / kind['n_responded'], language)})"
