"""The diversity section of the report, the files of its phase, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.diversity.exchange import complete_sorts, pqmethod_dat, sorts_csv
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.present_views import scores, views
from enquete.graphs.diversity.wording import WORDS
from enquete.locale import in_language
from enquete.reports.context import Files, ItemFacts
from enquete.reports.markdown import MISSING, escape, number, of, p_value, share, table
from enquete.reports.writing import records
from enquete.state.asking import Language

AGENTS_LISTED = 20
MEMBERS_LISTED = 15
STATEMENTS_SHOWN = 6
COMPONENTS_SHOWN = 5
LOADINGS_SHOWN = 4
SURE = 0.8

Words = Mapping[str, str]
Found = Mapping[str, Any]


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """A statement belongs to the sort and has the grid's columns; an axis has its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        columns = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=columns[0], scale_max=columns[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """The rows, the typology with everything it rests on, the components, and the Q analysis."""
    kept = ("arms", "partial", "unit_of_inference", "participation", "grid", "statements", "axes", "typology",
            "archetypes", "members")  # fmt: skip
    pca, q, statements = findings["pca"], findings["q"], findings["statements"]
    assert isinstance(pca, dict)
    assert isinstance(q, dict)
    head = {key: findings.get(key) for key in ("arms", "unit_of_inference")}
    return {
        "responses.jsonl": records(frame),
        **_for_other_software(findings, frame),
        "typology.json": {key: findings.get(key) for key in kept},
        "pca.json": {**head, **pca},
        "qmethod.json": {**head, "statements": statements, **q},
    }


def _for_other_software(findings: Found, frame: pd.DataFrame) -> dict[str, str]:
    """The sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(column): int(n) for column, n in findings["grid"]["distribution"].items()}
    main = frame[frame["arm"].isin(findings["arms"])] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, [str(statement["item"]) for statement in findings["statements"]])
    if sorts.empty:
        return {}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return {"sorts.csv": sorts_csv(sorts), **({"pqmethod.dat": dat} if dat else {})}


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Found = findings
    words = in_language(WORDS, language)
    parts = [
        f"## {words['title']}",
        words["intro"],
        words["frame"],
        *_participation(found, words),
        *_grid(found, words, language),
        *_types(found, words, language),
        *_archetypes(found, words, language),
        *_memberships(found, words, language),
        *views(found, language),
        *_components(found, words, language),
        *_statements(found, words, language),
        *_axes(found, words, language),
    ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """What is long: the z-scores of all statements on all Q factors."""
    return "\n\n".join(scores(findings, language))


def _source(words: Words, what: str) -> str:
    return f"*{words['source']}: {what}*"


def _typology_json(words: Words, *keys: str) -> str:
    return _source(words, f"T1/diversity/typology.json → {', '.join(keys)}")


def _participation(found: Found, words: Words) -> Iterator[str]:
    who = found["participation"]
    total = who["agents_total"]
    rows = [
        [words[part], of(who[part]["n_responded"], who[part]["n_total"]), of(who[part]["agents_complete"], total)]
        for part in ("sort", "axes")
    ]
    yield f"### {words['participation']}"
    yield table([words["part"], words["answers"], words["complete"]], rows)
    reasons = "; ".join(f"{words[reason]}: {n}" for reason, n in who["left_out"].items())
    yield words["analysed"].format(n=who["agents_analysed"], total=total) + (f" {reasons}." if reasons else "")
    yield _source(words, "all_responses.csv, `methodology=diversity`")


def _grid(found: Found, words: Words, language: Language) -> Iterator[str]:
    grid = found["grid"]
    if not grid["agents"]:
        return
    yield f"### {words['grid']}"
    places = " · ".join(f"{_signed(int(column), language)}: {n}" for column, n in grid["distribution"].items())
    yield words["places"].format(places=places)
    told = words["moved"] if grid["moved"] or grid["again"] else words["none_moved"]
    yield told.format(
        n=grid["moved"], total=grid["placements"], share=_exact(grid["share_moved"], language),
        agents=grid["agents_moved"], all=grid["agents"], again=grid["again"], agents_again=grid["agents_again"],
    )  # fmt: skip
    ordered = sorted(grid["by_agent"], key=lambda agent: (-agent["moved"], -agent["again"]))
    rows = [
        [escape(a["name"]), escape(a["stakeholder_type"]), str(a["moved"]), str(a["again"])]
        for a in ordered[:AGENTS_LISTED]
    ]
    yield table([words["agent"], words["type"], words["n_moved"], words["n_again"]], rows, numeric_from=2)
    if len(ordered) > AGENTS_LISTED:
        yield words["more_agents"].format(n=len(ordered) - AGENTS_LISTED)
    yield _typology_json(words, "grid")


def _types(found: Found, words: Words, language: Language) -> Iterator[str]:
    """How many types, and why one may believe in them or not."""
    typology = found["typology"]
    yield f"### {words['types']}"
    verdict = words[f"verdict_{typology['reason']}"]
    yield verdict.format(k=typology["k"], n=found["participation"]["agents_analysed"], candidate=typology["candidate"])
    for doubt in typology["warnings"]:
        yield words[f"doubt_{doubt}"].format(k=typology["k"], gap=typology["gap"]["k"])
    yield from _by_number(typology, words, language)
    yield from _tests(typology, words, language)
    yield from _stability(typology["stability"], words, language)
    yield _typology_json(words, "typology")


def _tests(typology: Found, words: Words, language: Language) -> Iterator[str]:
    """Against independence, and where that falls against a continuum."""
    if typology["p"] is None:
        return
    yield words["test"].format(
        draws=typology["draws"], best=number(typology["null_best"], language, 3),
        median=number(typology["null_median"], language, 3), p=p_value(typology["p"], language),
        alpha=number(typology["alpha"], language), n=typology["n_compared"],
    )  # fmt: skip
    told = typology["continuum"]
    if told:
        yield words["test_continuum"].format(
            draws=told["draws"], p=p_value(told["p"], language), alpha=number(typology["alpha"], language),
            excess=number(max(told["excess"].values()), language, 3), least=number(told["least_excess"], language),
        )  # fmt: skip


def _stability(firm: Found | None, words: Words, language: Language) -> Iterator[str]:
    if firm:
        yield words["stability"].format(
            ari=number(firm["ari"], language), n=firm["resamples"],
            least=number(min(firm["jaccard"]), language), limit=number(firm["least_jaccard"], language),
        )  # fmt: skip


def _by_number(typology: Found, words: Words, language: Language) -> Iterator[str]:
    """Silhouette, what a continuum would reach, and gap by number of types; silhouette and tests decide."""
    silhouettes, gap = typology["silhouettes"], typology["gap"]
    expected, excess = ((typology["continuum"] or {}).get(name, {}) for name in ("expected", "excess"))
    tried = sorted({*silhouettes, *gap["gaps"]}, key=int)
    columns = (silhouettes, expected, excess, gap["gaps"], gap["errors"])
    rows = [[k, *(number(column.get(k), language, 3) for column in columns)] for k in tried]
    heads = [words[key] for key in ("k", "silhouette", "expected", "excess", "gap", "gap_error")]
    yield table(heads, rows)
    if gap["k"] is not None:
        yield words["gap_says"].format(k=gap["k"])


def _archetypes(found: Found, words: Words, language: Language) -> Iterator[str]:
    if not found["archetypes"]:
        return
    yield f"### {words['archetypes']}"
    rows = [
        [f"{a['archetype']}: {escape(a['name'])}", of(a["n"], a["n_total"]), share(a["n"] / a["n_total"], language),
         number(a["jaccard"], language)]
        for a in found["archetypes"]
    ]  # fmt: skip
    yield table([words["archetype"], words["members"], words["share"], "Jaccard"], rows)
    yield words["jaccard"]
    yield words["legend"]
    for archetype in found["archetypes"]:
        yield from _archetype(archetype, found["axes"], words, language)
    yield _typology_json(words, "archetypes")


def _archetype(archetype: Found, axes: Sequence[Found], words: Words, language: Language) -> Iterator[str]:
    yield f"#### {archetype['archetype']}: {escape(archetype['name'])}"
    kinds = ", ".join(
        f"{escape(kind['stakeholder_type'])} {of(kind['n'], kind['n_of_type'])}" for kind in archetype["by_type"]
    )
    yield words["who"].format(n=archetype["n"], total=archetype["n_total"], types=kinds)
    rows = [
        [escape(d["wording"]), _signed(d["position"], language), number(d["mean"], language),
         number(d["mean_rest"], language), number(d["difference"], language)]
        for d in archetype["distinguishing"][:STATEMENTS_SHOWN]
    ]  # fmt: skip
    heads = [words[key] for key in ("statement", "position", "mean", "mean_rest", "difference")]
    yield table(heads, rows) or words["no_distinguishing"]
    by_item = {axis["item"]: axis for axis in axes}
    yield table(
        [words["axis"], words["mean"], words["mean_rest"]],
        [
            [_axis(by_item[a["item"]]), number(a["mean"], language), number(a["mean_rest"], language)]
            for a in archetype["axes"]
        ],
    )
    names = [escape(member["name"]) for member in archetype["members"]]
    more = len(names) - MEMBERS_LISTED
    yield f"{words['members']}: {', '.join(names[:MEMBERS_LISTED])}" + (
        f" {words['more'].format(n=more)}" if more > 0 else ""
    )


def _axis(axis: Found) -> str:
    return f"{escape(axis['wording'])} (1 = {escape(axis['low'])}, {axis['points']} = {escape(axis['high'])})"


def _memberships(found: Found, words: Words, language: Language) -> Iterator[str]:
    told = found["typology"]["memberships"]
    if told is None:
        return
    yield f"### {words['memberships']}"
    if told["reason"]:
        yield words[f"no_memberships_{told['reason']}"]
        return
    best = [(max(member["probabilities"].values()), member) for member in found["members"]]
    unsure = sorted((pair for pair in best if pair[0] < SURE), key=lambda pair: (pair[0], pair[1]["participant"]))
    yield words["sure"].format(
        n=len(best) - len(unsure), total=len(best), limit=share(SURE, language), m=told["components"]
    )
    letters = [archetype["archetype"] for archetype in found["archetypes"]]
    rows = [
        [escape(m["name"]), escape(m["stakeholder_type"]), *(number(m["probabilities"][k], language) for k in letters)]
        for _, m in unsure[:AGENTS_LISTED]
    ]
    yield table([words["agent"], words["type"], *letters], rows, numeric_from=2)
    yield _typology_json(words, "members")


def _components(found: Found, words: Words, language: Language) -> Iterator[str]:
    pca = found["pca"]
    yield f"### {words['components']}"
    if pca["reason"]:
        yield words[f"no_components_{pca['reason']}"]
        return
    short = {s["item"]: s["short"] for s in found["statements"]} | {a["item"]: a["wording"] for a in found["axes"]}
    rows = [
        [str(c["component"]), _exact(c["explained"], language), _exact(c["by_chance"], language), _heavy(c["loadings"], short, language)]
        for c in pca["components"][:COMPONENTS_SHOWN]
    ]  # fmt: skip
    heads = [words[key] for key in ("component", "explained", "by_chance", "loadings")]
    yield table(heads, rows)
    yield words["above"].format(
        n=pca["above_chance"],
        first=_exact(pca["first_two"], language),
        agents=pca["n_agents"],
        columns=pca["n_columns"],
    )
    yield _source(words, "T1/diversity/pca.json")


def _heavy(loadings: Mapping[str, float], short: Mapping[str, str], language: Language) -> str:
    """The items that a component is about, with their loadings."""
    heaviest = sorted(loadings.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:LOADINGS_SHOWN]
    return "; ".join(f"{escape(short[item])} ({number(value, language)})" for item, value in heaviest)


def _statements(found: Found, words: Words, language: Language) -> Iterator[str]:
    ordered = sorted(found["statements"], key=lambda s: -(s["mean"] if s["mean"] is not None else -99))
    rows = [
        [escape(s["wording"]), of(s["n_responded"], s["n_total"]), number(s["mean"], language), number(s["sd"], language),
         _distribution(s)]
        for s in ordered
    ]  # fmt: skip
    columns = [_signed(int(column), language) for column in found["grid"]["distribution"]]
    yield f"### {words['statements']}"
    yield table(
        [words["statement"], "n / N", words["mean"], "SD", f"{words['distribution']} ({columns[0]} … {columns[-1]})"],
        rows,
    )
    yield _typology_json(words, "statements")


def _axes(found: Found, words: Words, language: Language) -> Iterator[str]:
    rows = [
        [
            _axis(a),
            of(a["n_responded"], a["n_total"]),
            number(a["mean"], language),
            number(a["sd"], language),
            _distribution(a),
        ]
        for a in found["axes"]
    ]
    yield f"### {words['axes']}"
    yield table([words["axis"], "n / N", words["mean"], "SD", words["distribution"]], rows)
    yield _typology_json(words, "axes")


def _distribution(item: Found) -> str:
    return " · ".join(str(n) for n in item["distribution"].values()) if item["n_responded"] else MISSING


def _signed(column: int, language: Language) -> str:
    return f"+{column}" if column > 0 else number(column, language)


def _exact(value: object, language: Language) -> str:
    """A share in per cent with one decimal: whole per cent would hide a few moved placements."""
    if not isinstance(value, int | float):
        return MISSING
    return number(100.0 * value, language, 1) + (" %" if language == "de" else "%")
