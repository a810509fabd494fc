"""The longitudinal section of the report, the files of its two phases, and what its instrument says about an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.reports.context import Files, ItemFacts
from enquete.reports.markdown import escape, number, of, p_value, quote, share, table
from enquete.reports.rows import records
from enquete.state.seam import Language

MOVERS = 10

_WORDS: dict[Language, dict[str, str]] = {
    "de": {
        "title": "Längsschnitt",
        "intro": "Dieselben Aussagen wurden {waves} vorgelegt. Mittelwerte und Verteilungen beruhen auf den Antworten, wie "
        "sie gegeben wurden; Veränderungen nach Themenfeld und Agent auf umgepolten Werten (↔ = umgepolt).",
        "both": "vor (T0) und nach (T1) der Simulation",
        "T0": "vor der Simulation (T0)",
        "T1": "nach der Simulation oder ohne eine (T1)",
        "experience": "**Erfahrungseffekt, keine Drift.** T0 wurde erst nach dem Ende der Simulation rekonstruiert: dieselben "
        "Personas ohne jede Erinnerung. Die Unterschiede zeigen, was die Erinnerung am Antworten ändert, nicht, wie "
        "sich Meinungen mit der Zeit bewegt haben. Darum gibt es keine Tests.",
        "incomparable": "**Die Drift ist nicht interpretierbar.** {reasons}. Ein neues T0 unter gleichen Bedingungen wäre nötig. "
        "Es folgen nur beschreibende Zahlen, keine Tests.",
        "one": "Es liegt nur eine Welle vor; über Veränderung lässt sich nichts sagen.",
        "waves": "Wellen", "items": "Antworten je Aussage", "change": "Veränderung je Aussage (T1 − T0)",
        "change_experience": "Erfahrungseffekt je Aussage (T1 − rekonstruiertes T0)",
        "agents": "Veränderung je Agent", "families": "Veränderung je Themenfeld und Gruppe",
        "agents_experience": "Erfahrungseffekt je Agent", "families_experience": "Erfahrungseffekt je Themenfeld und Gruppe",
        "comments": "Längsschnitt: offene Kommentare", "wave": "Welle", "answers": "Antworten / geplant", "people": "Agenten / alle",
        "memory": "mit Erinnerung", "statement": "Aussage", "n": "n / N", "mean": "Mittel", "median": "Median", "sd": "SD",
        "distribution": "Verteilung", "pairs": "Paare / Agenten", "hl": "Hodges–Lehmann", "effect": "Rangbiserial r",
        "zero": "unverändert", "all": "alle", "type": "Gruppe", "family": "Themenfeld", "delta": "mittlere Δ",
        "unweighted": "ungewichtet", "weighted": "gewichtet", "figure": "Maß", "abs": "mittlere absolute Δ (Skalenpunkte)",
        "signed": "mittlere Δ (Skalenpunkte, umgepolt)", "changed": "Anteil veränderter Antworten",
        "agent": "Agent", "movers": "Die {n} Agenten mit der größten Veränderung (von {total} mit vollständigen Paaren):",
        "weights": "Agenten ohne Erinnerung ({n} von {total}) zählen gewichtet mit {weight}; {without} Agenten haben kein "
        "vollständiges Paar und fehlen hier.",
        "pairing": "{paired} von {total} Agenten haben in beiden Wellen geantwortet ({only0} nur in T0, {only1} nur in T1, "
        "{neither} in keiner); {pairs} von {possible} möglichen Antwortpaaren sind vollständig.",
        "tests": "Zweiseitiger Wilcoxon-Vorzeichen-Rang-Test auf rohen Werten; Holm und Benjamini–Hochberg (BH) über alle "
        "Aussagen. Die Einheit des Schlusses ist der Lauf, nicht die Zahl der Agenten.",
        "listed": "{n} von {total} Kommentaren aus {wave} (geplant: {planned}):", "source": "Quelle",
        "rows": "Zeilen `{where}` in all_responses.csv",
    },
    "en": {
        "title": "Longitudinal",
        "intro": "The same statements were put to the agents {waves}. Means and distributions rest on the answers as given; "
        "changes by family and agent on rekeyed values (↔ = reverse-keyed).",
        "both": "before (T0) and after (T1) the simulation",
        "T0": "before the simulation (T0)",
        "T1": "after the simulation, or without one (T1)",
        "experience": "**Experience effect, not drift.** T0 was reconstructed after the simulation had ended: the same personas "
        "without any memory. The differences show what memory changes in the answers, not how opinions moved over "
        "time. So there are no tests.",
        "incomparable": "**Drift is not interpretable.** {reasons}. A new T0 under the same conditions would be needed. What "
        "follows are descriptive figures without tests.",
        "one": "There is only one wave; nothing can be said about change.",
        "waves": "Waves", "items": "Answers by statement", "change": "Change by statement (T1 − T0)",
        "change_experience": "Experience effect by statement (T1 − reconstructed T0)",
        "agents": "Change by agent", "families": "Change by family and group",
        "agents_experience": "Experience effect by agent", "families_experience": "Experience effect by family and group",
        "comments": "Longitudinal: open comments", "wave": "Wave", "answers": "answers / planned", "people": "agents / all",
        "memory": "with memory", "statement": "Statement", "n": "n / N", "mean": "mean", "median": "median", "sd": "SD",
        "distribution": "distribution", "pairs": "pairs / agents", "hl": "Hodges–Lehmann", "effect": "rank-biserial r",
        "zero": "unchanged", "all": "all", "type": "Group", "family": "Family", "delta": "mean Δ",
        "unweighted": "unweighted", "weighted": "weighted", "figure": "Measure", "abs": "mean absolute Δ (scale points)",
        "signed": "mean Δ (scale points, rekeyed)", "changed": "share of answers changed",
        "agent": "Agent", "movers": "The {n} agents that changed most (of {total} with complete pairs):",
        "weights": "Agents without memory ({n} of {total}) count {weight} in the weighted figures; {without} agents have no "
        "complete pair and are left out here.",
        "pairing": "{paired} of {total} agents answered in both waves ({only0} only at T0, {only1} only at T1, {neither} at "
        "neither); {pairs} of {possible} possible pairs of answers are complete.",
        "tests": "Two-sided Wilcoxon signed-rank test on raw values; Holm and Benjamini–Hochberg (BH) over all statements. The "
        "unit of inference is the run, not the number of agents.",
        "listed": "{n} of {total} comments at {wave} (planned: {planned}):", "source": "Source",
        "rows": "rows `{where}` of all_responses.csv",
    },
}  # fmt: skip


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Family, keying and scale of a closed item; the comment has none of them."""
    known = {item.item_id for item in instrument.items}
    if item_id not in known:
        return ItemFacts()
    scale = instrument.scale_of(item_id)
    return ItemFacts(
        family=instrument.family_of(item_id),
        reverse_keyed=instrument.reverse_coded(item_id),
        scale_min=scale.min,
        scale_max=scale.max,
    )


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """The files of one phase: its rows, and what concerns it of the findings. T1 holds the change."""
    found: Mapping[str, Any] = findings
    kept = {key: found.get(key) for key in ("arms", "baseline", "kind", "partial")}
    items: list[JsonValue] = [
        {**item, "waves": {w: d for w, d in item["waves"].items() if w == phase}} for item in found["items"]
    ]
    waves = {wave: counts for wave, counts in found["waves"].items() if wave == phase}
    aggregate: dict[str, JsonValue] = {**kept, "waves": waves, "items": items}
    if phase == "T1":
        aggregate |= {key: found.get(key) for key in ("pairing", "drift", "experience_effect")}
    return {"responses.jsonl": records(frame), "aggregate.json": aggregate}


def section(findings: Mapping[str, JsonValue], language: Language) -> str:
    """Markdown, from the findings alone."""
    found: Mapping[str, Any] = findings
    words = _WORDS[language]
    waves = list(found["waves"])
    asked = words["both"] if len(waves) == 2 else words[waves[0]]
    parts = [
        f"## {words['title']}",
        words["intro"].format(waves=asked),
        *_verdict(found, words),
        *_waves(found, words),
        *_items(found, words, language),
        *_change(found, words, language),
    ]
    return "\n\n".join(part for part in parts if part)


def appendix(findings: Mapping[str, JsonValue], language: Language) -> str:
    """The open comments: too many to stand among the findings."""
    return "\n\n".join(part for part in _comments(findings, _WORDS[language], language) if part)


def _source(words: Mapping[str, str], what: str) -> str:
    return f"*{words['source']}: {what}*"


def _rows(words: Mapping[str, str], where: str) -> str:
    return words["rows"].format(where=where)


def _verdict(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """What a difference between the waves may be called here, said before any figure."""
    if found["kind"] is None:
        yield words["one"]
    elif found["kind"] == "experience_effect":
        yield words["experience"]
    elif not found["drift"]["interpretable"]:
        yield words["incomparable"].format(reasons=escape("; ".join(found["drift"]["reasons"])))


def _waves(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    rows = [
        [wave, of(w["n_responded"], w["n_total"]), of(w["agents_responded"], w["agents_total"]),
         of(w["agents_with_memory"], w["agents_total"])]
        for wave, w in found["waves"].items()
    ]  # fmt: skip
    yield f"### {words['waves']}"
    yield table([words["wave"], words["answers"], words["people"], words["memory"]], rows)
    yield _source(words, _rows(words, "methodology=longitudinal"))


def _items(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    waves = list(found["waves"])
    heads = [head for wave in waves for head in _wave_heads(wave, words)]
    rows = [
        [_statement(item), *(cell for wave in waves for cell in _wave_cells(item, wave, language))]
        for item in found["items"]
    ]
    yield f"### {words['items']}"
    yield table([words["statement"], *heads], rows)
    yield _source(words, f"{'; '.join(f'{w}/longitudinal/aggregate.json' for w in waves)} → items")


def _wave_heads(wave: str, words: Mapping[str, str]) -> list[str]:
    return [f"{wave} {words[head]}" for head in ("n", "mean", "median", "sd", "distribution")]


def _wave_cells(item: Mapping[str, Any], wave: str, language: Language) -> list[str]:
    described = item["waves"][wave]
    low, high = item["scale_min"], item["scale_max"]
    counts = " · ".join(str(n) for n in described["distribution"].values())
    return [
        of(described["n_responded"], described["n_total"]),
        number(described["mean"], language),
        number(described["median"], language, 1),
        number(described["sd"], language),
        f"{counts} ({low}–{high})" if counts else "–",
    ]


def _statement(item: Mapping[str, Any]) -> str:
    return escape(item["wording"]) + (" ↔" if item["reverse_keyed"] else "")


def _change(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    change = found["drift"] or found["experience_effect"]
    if change is None:
        return
    pairing, suffix = found["pairing"], "_experience" if found["kind"] == "experience_effect" else ""
    yield f"### {words['change' + suffix]}"
    yield words["pairing"].format(
        paired=pairing["agents_paired"], total=pairing["agents_total"], only0=pairing["agents_only_T0"],
        only1=pairing["agents_only_T1"], neither=pairing["agents_neither"], pairs=pairing["pairs"],
        possible=pairing["pairs_total"],
    )  # fmt: skip
    yield from _tests(found, change, words, language)
    where = f"T1/longitudinal/aggregate.json → {found['kind']}"
    yield _source(words, f"{where}.items")
    yield f"### {words['agents' + suffix]}"
    yield from _agents(change, words, language)
    yield _source(words, f"{where}.population, {where}.agents")
    yield f"### {words['families' + suffix]}"
    yield _families(change["families"], words, language)
    yield _source(words, f"{where}.families")


def _tests(
    found: Mapping[str, Any], change: Mapping[str, Any], words: Mapping[str, str], language: Language
) -> Iterator[str]:
    wording = {item["item"]: _statement(item) for item in found["items"]}
    tested = any("p" in item for item in change["items"])
    heads = [words[key] for key in ("statement", "pairs", "zero")] + ["Δ", words["hl"], words["effect"]]
    rows = []
    for item in change["items"]:
        figures = (number(item[key], language) for key in ("mean_change", "hodges_lehmann", "rank_biserial"))
        ps = [p_value(item[key], language) for key in ("p", "p_holm", "p_bh")] if tested else []
        n = item["n"]
        rows.append([wording[item["item"]], of(n, n + item["n_missing"]), str(item["n_zero"]), *figures, *ps])
    yield table([*heads, *(["p", "p (Holm)", "p (BH)"] if tested else [])], rows)
    if tested:
        yield words["tests"]


def _agents(change: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    population = change["population"]
    pairs = (("abs", "mean_abs"), ("signed", "mean_signed"), ("changed", "share_changed"))
    rows = []
    for word, key in pairs:
        show = share if word == "changed" else number
        rows.append([words[word], *(show(population[k], language) for k in (key, f"{key}_unweighted"))])
    yield table([words["figure"], words["weighted"], words["unweighted"]], rows)
    yield words["weights"].format(
        n=population["n_memoryless"], total=population["n_agents"], without=population["n_without_pairs"],
        weight=number(float(population["memoryless_weight"]), language),
    )  # fmt: skip
    yield from _movers(change["agents"], words, language)


def _movers(agents: Sequence[Mapping[str, Any]], words: Mapping[str, str], language: Language) -> Iterator[str]:
    paired = [agent for agent in agents if agent["n_items"]]
    moved = sorted((agent for agent in paired if agent["mean_abs"]), key=lambda agent: -agent["mean_abs"])[:MOVERS]
    if moved:
        yield words["movers"].format(n=len(moved), total=len(paired))
        yield table(
            [words["agent"], words["type"], words["pairs"].split(" / ")[0], words["abs"], words["signed"], words["changed"]],
            [
                [escape(a["name"]), escape(a["stakeholder_type"]), str(a["n_items"]), number(a["mean_abs"], language),
                 number(a["mean_signed"], language), share(a["share_changed"], language)]
                for a in moved
            ],
            numeric_from=2,
        )  # fmt: skip


def _families(families: Sequence[Mapping[str, Any]], words: Mapping[str, str], language: Language) -> str:
    rows = []
    for family in families:
        for group in ({"stakeholder_type": words["all"], **family}, *family["by_type"]):
            means = [number(group[key], language) for key in ("mean", "mean_unweighted")]
            label = escape(family["label"]) if group.get("by_type") is not None else ""
            rows.append([label, escape(group["stakeholder_type"]), of(group["n"], group["n_total"]), *means])
    heads = [
        words["family"],
        words["type"],
        words["n"],
        *(f"{words['delta']}, {words[w]}" for w in ("weighted", "unweighted")),
    ]
    return table(heads, rows, numeric_from=2)


def _comments(found: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Iterator[str]:
    comments = found["comments"]
    if not comments or not comments["waves"]:
        return
    yield f"### {words['comments']}"
    yield f"*{escape(comments['wording'])}*"
    for wave, said in comments["waves"].items():
        listed = said["listed"]
        yield words["listed"].format(n=len(listed), total=said["n_responded"], wave=wave, planned=said["n_total"])
        yield "\n".join(quote(c["text"], _who(c), language) for c in listed)
    yield _source(words, _rows(words, f"item_id={comments['item']}"))


def _who(said: Mapping[str, Any]) -> str:
    return f"{escape(said['name'])} ({escape(said['stakeholder_type'])})"
