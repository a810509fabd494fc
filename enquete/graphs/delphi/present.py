"""The Delphi section of the report, the files of its phase, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.reports.context import Files, ItemFacts
from enquete.reports.excerpts import excerpt
from enquete.reports.markdown import MISSING, escape, number, of, p_value, quote, share, table
from enquete.reports.rows import records
from enquete.reports.wording import dimension_name
from enquete.state.seam import Language

QUOTED = 5

_WORDS: dict[Language, dict[str, str]] = {
    "de": {
        "title": "Delphi",
        "intro": "Aus den offenen Antworten der ersten Runde wurden Themen gebildet, in Runde 2 bewertet und nach anonymer "
        "Rückmeldung von Median und Interquartilsabstand (IQR, Typ 7) in Runde 3 überprüft.",
        "rounds": "Runden", "round": "Runde", "answers": "Antworten / geplant", "people": "Agenten / alle",
        "themes": "Themen", "theme": "Thema", "description": "Beschreibung", "voiced": "Agenten", "said": "Aussagen",
        "no_themes": "Es wurden noch keine Themen gebildet; bewertet wurde darum nichts.",
        "uncoded": "Antworten der ersten Runde, die zu keinem Thema gehören: {n}.",
        "voices": "Delphi: Belege der Themen",
        "ratings": "Delphi: Bewertungen", "dimension": "Dimension", "n": "n / N", "median": "Median", "iqr": "IQR", "mean": "Mittel",
        "A": "A", "top": "oberste zwei Stufen", "label": "Befund", "consensus": "Konsens", "disagreement": "Dissens",
        "open": "offen",
        "legend": "A: Übereinstimmung nach van der Eijk (1 einig, 0 gleichverteilt, −1 zwei Lager). Konsens: IQR ≤ {c}. "
        "Dissens: IQR > {d} oder A < {a}.",
        "convergence": "Delphi: Annäherung von Runde {a} zu Runde {b}", "paired": "Paare / N", "delta": "ΔIQR",
        "toward": "zum Median", "away": "vom Median weg", "moved": "geändert",
        "towards": "„Zum Median“: Anteil derer, die zuvor nicht auf dem zurückgemeldeten Median lagen und sich ihm näherten.",
        "unchanged": "{n} von {paired} Agenten, die in beiden Runden bewertet haben, ließen alle Bewertungen unverändert "
        "({same} von {ratings} einzelnen Bewertungen blieben gleich).",
        "no_revision": "Die Überprüfungsrunde liegt noch nicht vor; über Annäherung und Dissens lässt sich nichts sagen.",
        "disagreements": "Anhaltender Dissens", "none": "Kein Thema bleibt nach der letzten Runde strittig.",
        "out": "{n} von {total} Agenten beharren abseits des Medians {median} ({below} darunter, {above} darüber).",
        "below": "unter dem Median", "above": "über dem Median", "no_reason": "ohne Begründung",
        "ranked": "Konsens, nach Einigkeit geordnet", "rank": "Rang",
        "no_consensus": "Kein Thema erreicht Konsens in der Wichtigkeit.",
        "W": "Übereinstimmung der Rangordnungen (Kendalls W)", "raters": "Agenten", "dropped": "mit Lücken", "source": "Quelle",
        "excerpt": "Belege (die ersten {k} von {n}):",
    },
    "en": {
        "title": "Delphi",
        "intro": "Themes were formed from the open answers of round 1, rated in round 2, and reviewed in round 3 after anonymous "
        "feedback of median and interquartile range (IQR, type 7).",
        "rounds": "Rounds", "round": "Round", "answers": "answers / planned", "people": "agents / all",
        "themes": "Themes", "theme": "Theme", "description": "Description", "voiced": "agents", "said": "statements",
        "no_themes": "No themes have been formed yet, so nothing was rated.",
        "uncoded": "Answers of round 1 that belong to no theme: {n}.",
        "voices": "Delphi: evidence of the themes",
        "ratings": "Delphi: ratings", "dimension": "Dimension", "n": "n / N", "median": "median", "iqr": "IQR", "mean": "mean",
        "A": "A", "top": "top two points", "label": "verdict", "consensus": "consensus", "disagreement": "disagreement",
        "open": "open",
        "legend": "A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {c}. Disagreement: "
        "IQR > {d} or A < {a}.",
        "convergence": "Delphi: convergence from round {a} to round {b}", "paired": "pairs / N", "delta": "ΔIQR",
        "toward": "toward the median", "away": "away from it", "moved": "changed",
        "towards": "“Toward the median”: share of those who were off the median that was fed back and came closer to it.",
        "unchanged": "{n} of {paired} agents who rated in both rounds left every rating unchanged ({same} of {ratings} single "
        "ratings stayed the same).",
        "no_revision": "There is no round of revision yet; nothing can be said about convergence and disagreement.",
        "disagreements": "Persistent disagreement", "none": "No theme is disputed after the last round.",
        "out": "{n} of {total} agents hold out off the median {median} ({below} below, {above} above).",
        "below": "below the median", "above": "above the median", "no_reason": "no reason given",
        "ranked": "Consensus, the closest agreement first", "rank": "Rank",
        "no_consensus": "No theme reaches consensus on importance.",
        "W": "Concordance of the rankings (Kendall's W)", "raters": "agents", "dropped": "with gaps", "source": "Source",
        "excerpt": "Evidence (the first {k} of {n}):",
    },
}  # fmt: skip


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1 with the answers that voice them, ratings of round 2, revisions after it, and what converged."""
    found: Mapping[str, Any] = findings
    revised = frame["round"].gt(2)
    kept = ("arms", "partial", "rounds", "thresholds", "dimensions", "coding", "ratings", "convergence", "last_round",
            "unchanged", "concordance", "disagreements", "consensus")  # fmt: skip
    return {
        "round1_themes.jsonl": found["themes"],
        "round2_ratings.jsonl": records(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": records(frame[revised]),
        "convergence.json": {key: found.get(key) for key in kept},
    }


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Mapping[str, Any] = findings
    words = _WORDS[language]
    parts = [f"## {words['title']}", words["intro"], *_rounds(found, words)]
    if not found["themes"]:
        parts.append(words["no_themes"])
    else:
        parts += [
            *_themes(found, words),
            *_moved(found, words),
            *_disagreements(found, words, language),
            *_consensus(found, words, language),
            *_concordance(found, words, language),
        ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """What is long: the ratings of every theme and round, their convergence, and the answers that voice the themes."""
    found: Mapping[str, Any] = findings
    words = _WORDS[language]
    if not found["themes"]:
        return ""
    parts = [*_ratings(found, words, language), *_convergence(found, words, language), *_voices(found, words, language)]
    return "\n\n".join(part for part in parts if part)


def _source(words: Mapping[str, str], what: str) -> str:
    return f"*{words['source']}: {what}*"


def _labels(found: Mapping[str, Any]) -> dict[str, str]:
    return {theme["id"]: escape(theme["label"]) for theme in found["themes"]}


def _rounds(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    rows = [
        [number_, of(r["n_responded"], r["n_total"]), of(r["agents_responded"], r["agents_total"])]
        for number_, r in found["rounds"].items()
    ]
    yield f"### {words['rounds']}"
    yield table([words["round"], words["answers"], words["people"]], rows)
    yield _source(words, "all_responses.csv, `methodology=delphi`")


def _themes(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    rows = [
        [escape(t["label"]), escape(t["description"]) or MISSING, str(t["n_agents"]), str(t["n_statements"])]
        for t in found["themes"]
    ]
    yield f"### {words['themes']}"
    yield table([words["theme"], words["description"], words["voiced"], words["said"]], rows, numeric_from=2)
    uncoded = (found["coding"] or {}).get("uncoded")
    if uncoded:
        yield words["uncoded"].format(n=uncoded)
    yield _source(words, "T1/delphi/round1_themes.jsonl")


def _voices(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    """Of each answer the sentence that voices the theme."""
    yield f"### {words['voices']}"
    for theme in found["themes"]:
        quoted, about = theme["quoted"], f"{theme['label']} {theme['description']}"
        if quoted:
            yield f"**{escape(theme['label'])}.** " + words["excerpt"].format(k=len(quoted), n=theme["n_statements"])
            yield "\n".join(quote(excerpt(one["text"], about), escape(one["name"]), language) for one in quoted)
    yield _source(words, "T1/delphi/round1_themes.jsonl → statements, quoted")


def _moved(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """How much the revision changed at all."""
    same = found["unchanged"]
    if not found["convergence"]:
        yield words["no_revision"]
        return
    yield words["unchanged"].format(
        n=same["n_agents"], paired=same["n_agents_paired"], same=same["n_ratings"], ratings=same["n_ratings_paired"]
    )
    yield _source(words, "T1/delphi/convergence.json → unchanged")


def _ratings(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    labels = _labels(found)
    heads = [words[key] for key in ("theme", "dimension", "round", "n", "median", "iqr", "mean", "A", "top", "label")]
    ordered = sorted(found["ratings"], key=lambda r: (list(labels).index(r["theme"]), r["dimension"], r["round"]))
    rows = [
        [labels[r["theme"]], escape(dimension_name(r["dimension"], language)), str(r["round"]), of(r["n_responded"], r["n_total"]),
         number(r["median"], language, 1), number(r["iqr"], language), number(r["mean"], language),
         number(r["agreement"], language), share(r["top_share"], language), words[r["label"]] if r["label"] else MISSING]
        for r in ordered
    ]  # fmt: skip
    limits = found["thresholds"]
    yield f"### {words['ratings']}"
    yield table(heads, rows, numeric_from=2)
    yield words["legend"].format(
        c=number(limits["consensus_iqr"], language, 1),
        d=number(limits["disagreement_iqr"], language, 1),
        a=number(limits["polarised_below"], language, 1),
    )
    yield _source(words, "T1/delphi/convergence.json → ratings")


def _convergence(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    converged = found["convergence"]
    if not converged:
        return
    labels = _labels(found)
    heads = [words[key] for key in ("theme", "dimension", "paired")]
    heads += ["IQR " + str(converged[0][key]) for key in ("from_round", "to_round")]
    heads += [words[key] for key in ("delta", "moved", "toward", "away")]
    rows = [
        [labels[c["theme"]], escape(dimension_name(c["dimension"], language)),
         of(c["n_paired"], c["n_total"]), number(c["iqr_first"], language),
         number(c["iqr_second"], language), number(c["delta_iqr"], language), str(c["n_moved"]),
         f"{share(c['share_toward'], language)} ({c['n_toward']} / {c['n_off_median']})", str(c["n_away"])]
        for c in converged
    ]  # fmt: skip
    yield f"### {words['convergence'].format(a=converged[0]['from_round'], b=converged[0]['to_round'])}"
    yield table(heads, rows, numeric_from=2)
    yield words["towards"]
    yield _source(words, "T1/delphi/convergence.json → convergence")


def _disagreements(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    if not found["convergence"]:
        return
    labels = _labels(found)
    yield f"### {words['disagreements']}"
    if not found["disagreements"]:
        yield words["none"]
    for d in found["disagreements"]:
        shown = d["median"] if d["median_shown"] is None else d["median_shown"]
        counts = words["out"].format(
            n=d["n_holding_out"], total=d["n_responded"], median=number(shown, language, 1), below=d["below"]["n"],
            above=d["above"]["n"],
        )  # fmt: skip
        figures = f"IQR {number(d['iqr'], language)}, A {number(d['agreement'], language)}"
        yield f"**{labels[d['theme']]}**, {escape(dimension_name(d['dimension'], language))} ({figures}): {counts}"
        for side in ("below", "above"):
            yield _camp(d[side], words[side], words, language)
    yield _source(words, "T1/delphi/convergence.json → disagreements; round3_revisions.jsonl")


def _camp(camp: Mapping[str, Any], side: str, words: Mapping[str, str], language: Language) -> str:
    if not camp["n"]:
        return ""
    lines = [f"{side[0].upper()}{side[1:]} ({camp['n']}; {escape(_by_type(camp['by_type']))}):", ""]
    for one in camp["quoted"][:QUOTED]:
        who = f"{escape(one['name'])} ({escape(one['stakeholder_type'])}), {number(one['value'], language, 0)}"
        lines.append(quote(one["reason"], who, language) if one["reason"] else f"- {who}: *{words['no_reason']}*")
    return "\n".join(lines)


def _by_type(by_type: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in by_type.items())


def _consensus(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [str(c["rank"]), escape(c["label_of_theme"]), of(c["n_responded"], c["n_total"]), number(c["iqr"], language),
         number(c["median"], language, 1), str(c["round"])]
        for c in found["consensus"]
    ]  # fmt: skip
    yield f"### {words['ranked']}"
    heads = [words[key] for key in ("rank", "theme", "n", "iqr", "median", "round")]
    yield table(heads, rows, numeric_from=2) or words["no_consensus"]
    yield _source(words, "T1/delphi/convergence.json → consensus")


def _concordance(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    rows = [
        [str(c["round"]), escape(dimension_name(c["dimension"], language)), str(c["n_raters"]), str(c["n_dropped"]), str(c["n_items"]),
         number(c["w"], language), number(c["chi2"], language), p_value(c["p"], language)]
        for c in found["concordance"]
    ]  # fmt: skip
    yield f"### {words['W']}"
    heads = [words[key] for key in ("round", "dimension", "raters", "dropped", "themes")]
    yield table([*heads, "W", "χ²", "p"], rows, numeric_from=2)
    yield _source(words, "T1/delphi/convergence.json → concordance")
