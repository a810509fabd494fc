"""Texts of the figures."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.seam import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "simulated": "simulierte Befragte", "answered": "{what}: {n} von {total} Antworten",
        "nothing": "Abbildung {name!r}: noch nichts zu zeichnen ({why})",
        "change_title": "Längsschnitt: Mittelwerte je Item, T0 → T1", "mean": "Mittelwert",
        "shift": "Verschiebung (Hodges–Lehmann)", "interval": "95-%-Intervall", "no_interval": "Schätzwert ohne Intervall",
        "one_wave": "Längsschnitt: Mittelwerte je Item",
        "no_items": "keine Mittelwerte", "experience": "T0 rekonstruiert: Erfahrungseffekt, keine Drift",
        "themes_title": "Delphi: Median und Quartile je Thema", "round": "Runde {round}", "no_ratings": "keine Bewertungen",
        "importance": "Wichtigkeit", "plausibility": "Plausibilität",
        "types_title": "Vielfalt: Agenten auf den ersten beiden Komponenten", "component": "Komponente {n} ({share} der Varianz)",
        "type": "Typ {type}: {n} Agenten", "untyped": "keinem Typ zugeordnet",
        "statements_title": "Vielfalt: mittlerer Rang je Aussage", "rank": "Mittlerer Rang (Balken: ± 1 SD)",
        "no_sorts": "keine Sortierungen",
        "quadrant_title": "Szenarien: gewünscht und erwartet", "wish": "Wunsch (−1 bis 1)", "expect": "Erwartung (−1 bis 1)",
        "groups": "Kleine Punkte: Stakeholdertypen",
        "wished_expected": "erwünscht und erwartet", "wished_unexpected": "erwünscht, nicht erwartet",
        "feared_expected": "gefürchtet und erwartet", "feared_unexpected": "gefürchtet, nicht erwartet",
        "no_polarity": "keine Wünsche und Erwartungen", "hover_n": "{n} von {total}",
        "map_title": "Laddering: hierarchische Wertekarte", "no_links": "keine Verknüpfungen",
        "cut_off": "Verknüpfungen von mindestens {n} Agenten",
    },
    "en": {
        "simulated": "simulated respondents", "answered": "{what}: {n} of {total} answers",
        "nothing": "figure {name!r}: nothing to draw yet ({why})",
        "change_title": "Longitudinal: means by item, T0 → T1", "mean": "mean",
        "shift": "shift (Hodges–Lehmann)", "interval": "95% interval", "no_interval": "estimate without interval",
        "one_wave": "Longitudinal: means by item",
        "no_items": "no means", "experience": "T0 reconstructed: experience effect, no drift",
        "themes_title": "Delphi: median and quartiles by theme", "round": "round {round}", "no_ratings": "no ratings",
        "importance": "importance", "plausibility": "plausibility",
        "types_title": "Diversity: agents on the first two components", "component": "component {n} ({share} of variance)",
        "type": "type {type}: {n} agents", "untyped": "of no type",
        "statements_title": "Diversity: mean rank by statement", "rank": "mean rank (bars: ± 1 SD)",
        "no_sorts": "no sorts",
        "quadrant_title": "Scenarios: wished for and expected", "wish": "wish (−1 to 1)", "expect": "expectation (−1 to 1)",
        "groups": "Small dots: stakeholder types",
        "wished_expected": "wished for and expected", "wished_unexpected": "wished for, not expected",
        "feared_expected": "feared and expected", "feared_unexpected": "feared, not expected",
        "no_polarity": "no wishes and expectations", "hover_n": "{n} of {total}",
        "map_title": "Laddering: hierarchical value map", "no_links": "no links",
        "cut_off": "links that at least {n} agents gave",
    },
}  # fmt: skip


def nothing(name: str, why: str, language: Language) -> str:
    """The message of a figure that cannot be drawn: `why` is a key of WORDS."""
    words = WORDS[language]
    return words["nothing"].format(name=name, why=words[why])
