"""Instrument health in words: names of the checks, reasons, the sentence of a flag, tables for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from enquete.reports.claims import DIGITS
from enquete.reports.health import BELOW_ALL, Diagnostic, Health, Shape
from enquete.reports.markdown import MISSING, escape, number, of, share, table
from enquete.state.seam import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Güte der Befragung", "check": "Prüfung", "value": "Wert", "n": "Grundlage", "threshold": "in Ordnung",
        "verdict": "Urteil", "ok": "in Ordnung", "flagged": "**auffällig**", "not_computable": "nicht berechenbar", "all": "nicht alle",
        "intro": "Jede Prüfung beruht auf den Antworten des Hauptarms. „Nicht berechenbar“ heißt: Die Daten erlauben sie nicht; das "
        "ist kein Bestehen. Die Schwellen sind Vorschläge.",
        "source": "health.json", "shapes": "Verteilungsform jeder geschlossenen Frage",
        "shapes_intro": "Anteil der Antworten in der Skalenmitte und an beiden Enden, Mittelwert, normierte Entropie (0: alle gleich, "
        "1: gleichverteilt). {n} Fragen und Runden.",
        "item": "Frage", "mean": "Mittel", "midpoint": "Mitte", "ends": "Enden", "entropy": "Entropie", "scale": "Skala",
        "phase": "Phase", "round": "Runde", "answers": "n / N", "method": "Methodik", "none": "Es gibt noch nichts zu prüfen.",
        "about": "{what} ({value}; in Ordnung: {threshold}; n = {n}). {meaning}",
    },
    "en": {
        "title": "Instrument health", "check": "Check", "value": "Value", "n": "Based on", "threshold": "fine",
        "verdict": "Verdict", "ok": "fine", "flagged": "**flagged**", "not_computable": "not computable", "all": "not all",
        "intro": "Every check rests on the answers of the main arm. “Not computable” means that the data do not allow it; that is no "
        "pass. Thresholds are proposals.",
        "source": "health.json", "shapes": "Distribution shape of every closed item",
        "shapes_intro": "Share of answers at the midpoint and at both ends of the scale, mean, normalised entropy (0: all the same, 1: "
        "uniform). {n} items and rounds.",
        "item": "Item", "mean": "mean", "midpoint": "midpoint", "ends": "ends", "entropy": "entropy", "scale": "scale",
        "phase": "Phase", "round": "Round", "answers": "n / N", "method": "Methodology", "none": "There is nothing to check yet.",
        "about": "{what} ({value}; fine: {threshold}; n = {n}). {meaning}",
    },
}  # fmt: skip

CHECKS: Mapping[str, Mapping[Language, tuple[str, str]]] = {
    "zero_drift": {
        "de": ("Agenten ohne jede Veränderung", "Die Erinnerung bleibt fast ohne Wirkung auf die Antworten."),
        "en": ("Agents without any change", "Memory hardly affects the answers."),
    },
    "flipping": {
        "de": (
            "Agenten, die bei mindestens der Hälfte der Aussagen die Seite der Skala wechseln",
            "So viel Umschwung spricht für Rauschen, nicht für Meinungen.",
        ),
        "en": (
            "Agents that change sides of the scale on at least half of the statements",
            "That much turning round speaks of noise, not of opinions.",
        ),
    },
    "two_components": {
        "de": (
            "Varianz der ersten zwei Hauptkomponenten",
            "Die Antworten haben kaum gemeinsame Struktur; Typen sind fraglich.",
        ),
        "en": ("Variance of the first two components", "The answers hardly share a structure; types are doubtful."),
    },
    "unrevised": {
        "de": (
            "Agenten, deren letzte Bewertungen den ersten gleichen",
            "Die Rückmeldung bewirkt nichts; Annäherung ist nicht messbar.",
        ),
        "en": (
            "Agents whose last ratings equal their first",
            "The feedback has no effect; convergence cannot be measured.",
        ),
    },
    "alike": {
        "de": ("Agenten, die alle Szenarien gleich wünschenswert finden", "Die Szenarien werden nicht unterschieden."),
        "en": ("Agents that find all scenarios equally desirable", "The scenarios are not told apart."),
    },
    "repaired": {
        "de": ("Antworten, die erst nach Rückfrage gültig waren", "Das Instrument oder das Modell macht Mühe."),
        "en": ("Answers valid only after asking again", "The instrument or the model struggles."),
    },
    "refused": {
        "de": ("Verweigerte Antworten", "Was fehlt, fehlt nicht zufällig."),
        "en": ("Refused answers", "What is missing is not missing at random."),
    },
    "invalid": {
        "de": ("Ungültige Antworten", "Das Modell hält sich nicht an die Form der Fragen."),
        "en": ("Invalid answers", "The model does not keep to the form of the questions."),
    },
    "failed": {
        "de": ("Antworten, deren Anfrage fehlschlug", "Eine Wiederaufnahme des Laufs fragt sie erneut."),
        "en": ("Answers whose request failed", "Resuming the run asks them again."),
    },
    "acquiescence": {
        "de": (
            "Zustimmungsneigung (Skalenpunkte)",
            "Es wird Aussagen beider Richtungen zugestimmt oder widersprochen.",
        ),
        "en": ("Acquiescence (scale points)", "Statements of both directions are agreed or disagreed with."),
    },
    "style_ends": {
        "de": ("Antworten an den Skalenenden", "Menschen wählen sie in etwa 29 % der Fälle."),
        "en": ("Answers at the ends of the scale", "People choose them in about 29% of cases."),
    },
    "style_midpoint": {
        "de": ("Antworten in der Skalenmitte", "Menschen wählen sie in etwa 32 % der Fälle."),
        "en": ("Answers at the midpoint", "People choose it in about 32% of cases."),
    },
    "flat_items": {
        "de": (
            "Fragen, auf die fast alle gleich antworten (Entropie unter 0,5)",
            "Die Agenten unterscheiden sich kaum.",
        ),
        "en": ("Items that nearly all answer alike (entropy below 0.5)", "The agents hardly differ."),
    },
}

WHY: Mapping[str, Mapping[Language, str]] = {
    "reconstructed": {"de": "T0 ist rekonstruiert", "en": "T0 is reconstructed"},
    "one_wave": {"de": "es liegt nur eine Welle vor", "en": "there is only one wave"},
    "incomparable": {"de": "T0 und T1 sind nicht vergleichbar", "en": "T0 and T1 cannot be compared"},
    "no_pairs": {"de": "niemand hat in beiden Wellen geantwortet", "en": "nobody answered in both waves"},
    "one_keying": {"de": "alle Aussagen sind gleich gepolt", "en": "all statements are keyed alike"},
    "no_pca": {"de": "zu wenige vollständige Antworten", "en": "too few complete answers"},
    "alike": {"de": "alle Agenten haben gleich geantwortet", "en": "all agents answered alike"},
    "no_revision": {"de": "es gibt keine Überprüfungsrunde", "en": "there is no round of revision"},
    "no_desirability": {"de": "nach Wünschbarkeit wird nicht gefragt", "en": "desirability is not asked"},
    "no_complete": {"de": "niemand hat alle Szenarien bewertet", "en": "nobody rated all scenarios"},
    "no_answers": {"de": "es liegen keine Antworten vor", "en": "there are no answers"},
    "no_midpoint": {"de": "keine Skala hat eine Mitte", "en": "no scale has a midpoint"},
    "few_answers": {
        "de": "keine Frage hat zwei Antworten je Skalenpunkt",
        "en": "no item has two answers a scale point",
    },
}

FLAGS: Sequence[tuple[str, Mapping[Language, str]]] = (
    (
        r"longitudinal: baseline reconstructed",
        {
            "de": "Längsschnitt: T0 wurde erst nach dem Ende der Simulation rekonstruiert (dieselben Personas ohne Erinnerung). "
            "Die Unterschiede zu T1 sind ein Erfahrungseffekt, keine Drift.",
            "en": "Longitudinal: T0 was reconstructed after the simulation had ended (the same personas without memory). "
            "Differences from T1 are an experience effect, not drift.",
        },
    ),
    (
        r"longitudinal: drift not interpretable: (.*?)\.?",
        {
            "de": "Längsschnitt: Die Drift ist nicht interpretierbar. {0}.",
            "en": "Longitudinal: drift is not interpretable. {0}.",
        },
    ),
    (
        r"diversity: (\d+) of (\d+) placements were moved to fit the grid.*",
        {
            "de": "Vielfalt der Sichtweisen: {0} von {1} Platzierungen mussten verschoben werden, damit sie ins Raster passen.",
            "en": "Diversity of views: {0} of {1} placements had to be moved for the sort to fit the grid.",
        },
    ),
    (
        r"diversity: all agents answered alike",
        {
            "de": "Vielfalt der Sichtweisen: Alle Agenten haben gleich geantwortet.",
            "en": "Diversity of views: all agents answered alike.",
        },
    ),
    (r"diversity: the first two components.*", {"de": "", "en": ""}),  # the check of instrument health says it
)
"""Flags that analyses raise in short (a pattern for the whole flag), as sentences; "" where another sentence says it."""


def spelt(flag: str, language: Language) -> str:
    """A flag of an analysis as a sentence; as it is where no sentence is known."""
    for pattern, texts in FLAGS:
        found = re.fullmatch(pattern, flag, re.DOTALL)
        if found:
            return texts[language].format(*found.groups())
    return flag


def flag(one: Diagnostic, title: str, language: Language) -> str:
    """A flagged check as a sentence that stands alone. title: of the methodology."""
    what, meaning = CHECKS[one.id][language]
    about = WORDS[language]["about"].format(
        what=what, value=value(one, language), threshold=threshold(one, language), n=one.n, meaning=meaning
    )
    return f"{title}{f' {one.phase}' if one.phase else ''}: {about}"


def value(one: Diagnostic, language: Language) -> str:
    if one.value is None:
        return MISSING
    return share(one.value, language) if one.shown == "share" else number(float(one.value), language, DIGITS["mean"])


def threshold(one: Diagnostic, language: Language) -> str:
    """What is still fine: ≤ 80 %, ≥ 30 %, 16 %–64 %."""
    if one.threshold[1] == BELOW_ALL:
        return WORDS[language]["all"]
    least, most = (None if end is None else _limit(end, one.shown == "share", language) for end in one.threshold)
    if least is not None and most is not None:
        joint = "bis" if language == "de" else "to"
        return f"{least} {joint} {most}"
    return f"≥ {least}" if least is not None else f"≤ {most}"


def _limit(end: float, is_share: bool, language: Language) -> str:
    """A threshold as it is: 80 %, 14,5 %, 0,5."""
    if not is_share:
        return number(end, language, 1)
    return number(100.0 * end, language, 0 if (100 * end).is_integer() else 1) + (" %" if language == "de" else "%")


def health_table(health: Health, titles: Mapping[str, str], language: Language) -> str:
    """Every check: flagged ones first, then those that could not be computed. titles: by methodology, Markdown."""
    words = WORDS[language]
    order = {"flagged": 0, "not_computable": 1, "ok": 2}
    rows = [
        [titles.get(one.methodology, one.methodology) + (f" {one.phase}" if one.phase else ""), CHECKS[one.id][language][0],
         value(one, language), threshold(one, language), of(one.n, one.n_total), _verdict(one, language)]
        for one in sorted(health.diagnostics, key=lambda one: order[one.verdict])
    ]  # fmt: skip
    heads = [words[key] for key in ("method", "check", "value", "threshold", "n", "verdict")]
    return table(heads, rows, numeric_from=2) or words["none"]


def _verdict(one: Diagnostic, language: Language) -> str:
    said = WORDS[language][one.verdict]
    return f"{said}: {WHY[one.why][language]}" if one.why else said


def shapes_table(
    shapes: Sequence[Shape], titles: Mapping[str, str], wordings: Mapping[tuple[str, str], str], language: Language
) -> str:
    """wordings: by (methodology, item), plain text."""
    words = WORDS[language]
    rows = [
        [titles.get(s.methodology, s.methodology), s.phase, str(s.round), escape(wordings.get((s.methodology, s.item), s.item)),
         of(s.n, s.n_total), f"{s.scale_min}–{s.scale_max}", number(s.mean, language), share(s.midpoint, language),
         share(s.ends, language), number(s.entropy, language)]
        for s in shapes
    ]  # fmt: skip
    heads = ("method", "phase", "round", "item", "answers", "scale", "mean", "midpoint", "ends", "entropy")
    return table([words[key] for key in heads], rows, numeric_from=4)
