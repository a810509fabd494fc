"""What the columns of all_responses.csv mean, and the statuses of a row, in German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

Meaning = Mapping[Language, str]


def _both(de: str, en: str) -> Meaning:
    return {"de": de, "en": en}


COLUMN_MEANINGS: Mapping[str, Meaning] = {
    "sim_id": _both("Simulation", "simulation"),
    "run_id": _both("Lauf, der gefragt hat", "run that asked"),
    "arm": _both("Bedingung, unter der geantwortet wurde", "condition of answering"),
    "arm_role": _both("Rolle des Arms; vor jeder Auswertung `main` wählen", "role of the arm; choose `main` before any analysis"),
    "respondent": _both("wer geantwortet hat", "who answered"),
    "methodology": _both("Methodik", "methodology"),
    "phase": _both("T0 vor, T1 nach der Simulation (oder ohne eine)", "T0 before, T1 after the simulation (or without one)"),
    "session": _both("Gespräch oder Diskussion; leer, wo es keine gibt", "conversation or discussion; empty where there is none"),
    "round": _both("Runde; 0, wo es keine gibt", "round; 0 where there is none"),
    "turn": _both("Wortwechsel eines Gesprächs; 0, wo es keinen gibt", "turn of a conversation; 0 where there is none"),
    "participant": _both("bleibende Kennung der Befragten", "stable id of the respondent"),
    "agent_id": _both("Nummer in der Simulation", "the simulation's own index"),
    "agent_name": _both("Name", "name"),
    "stakeholder_type": _both("Stakeholder-Gruppe", "stakeholder type"),
    "item_id": _both("Frage, siehe unten", "item, see below"),
    "family": _both("Themenfeld, Thema oder Szenario der Frage", "family, theme or scenario of the item"),
    "dimension": _both("Dimension einer Bewertung", "dimension of a rating"),
    "reverse_keyed": _both("umgepolte Frage", "reverse-keyed item"),
    "scale_min": _both("kleinster Skalenpunkt; leer bei offenen Fragen", "lowest scale point; empty for open questions"),
    "scale_max": _both("größter Skalenpunkt; leer bei offenen Fragen", "highest scale point; empty for open questions"),
    "status": _both("was aus der Frage wurde, siehe unten", "what became of the item, see below"),
    "value": _both("Zahl wie geantwortet", "the number as answered"),
    "value_rekeyed": _both("min + max − value bei umgepolten Fragen, sonst value", "min + max − value where reverse-keyed, else value"),
    "choice": _both(
        "gewählte Antwortoption; bei Rangfolgen die Liste, bei Best-Worst {best, worst} (JSON)",
        "the option chosen; of a ranking the list, of best–worst {best, worst} (JSON)",
    ),
    "chosen": _both("dasselbe in den Bezeichnungen der Optionen", "the same in the options' labels"),
    "text": _both("offene Antwort oder Begründung", "open answer, or the reason for a rating"),
    "confidence": _both("selbst angegebene Sicherheit, 0–1", "self-reported confidence, 0–1"),
    "memory_available": _both("hatte in dieser Phase eine lesbare Erinnerung", "had a readable memory in this phase"),
    "baseline": _both("Herkunft von T0, nur in T0-Zeilen", "origin of T0, on T0 rows only"),
    "model": _both("Modell", "model"),
    "temperature": _both("Temperatur", "temperature"),
    "language": _both("Sprache der Befragung", "language of the interview"),
    "elicitation": _both("Punktantwort oder Verteilung", "point answer or distribution"),
    "distribution": _both(
        "Wahrscheinlichkeit jeder Antwortoption (JSON-Objekt); leer bei Punktantworten. value ist dann der Median",
        "probability of every option (a JSON object); empty for point answers. value then is the median",
    ),
    "item_position": _both("Platz in der gezeigten Reihenfolge, ab 1", "place in the order shown, from 1"),
    "option_order": _both("Antwortoptionen in der gezeigten Reihenfolge (JSON-Liste)", "option values in the order shown (a JSON list)"),
    "attempts": _both("Anfragen für den Block der Frage; nicht summieren", "requests for the item's block; do not sum"),
    "prompt_hash": _both("Hash der ersten Anfrage des Blocks", "hash of the block's first prompt"),
    "instrument_hash": _both("SHA-256 des Instruments", "SHA-256 of the instrument"),
    "asked_at": _both("Zeitpunkt der Speicherung (UTC)", "when the answer was stored (UTC)"),
    "latency_ms": _both("Millisekunden für den Block; nicht summieren", "milliseconds for the block; do not sum"),
    "input_tokens": _both("Eingabe-Tokens des Blocks, nur in seiner ersten Zeile", "input tokens of the block, on its first row only"),
    "output_tokens": _both("Ausgabe-Tokens des Blocks, nur in seiner ersten Zeile", "output tokens of the block, on its first row only"),
    "notes": _both("Anmerkungen zur Antwort, mit Semikolon getrennt", "notes on the answer, separated by semicolons"),
}  # fmt: skip

OWN_COLUMN = _both("eigene Spalte der Methodik {methods}", "column of the methodology {methods}")

STATUS_MEANINGS: Mapping[str, Meaning] = {
    "ok": _both("beim ersten Mal gültig", "valid at once"),
    "repaired": _both("nach Rückfrage oder Reparatur gültig", "valid after asking again or mending"),
    "refused": _both("verweigert", "declined"),
    "invalid": _both("trotz Rückfragen nicht lesbar oder außerhalb der Skala", "unreadable or off the scale in spite of asking again"),
    "failed": _both("die Anfrage schlug fehl", "the request failed"),
    "not_reached": _both("geplant, nicht gefragt", "planned, not asked"),
}  # fmt: skip

ANSWERED = ("ok", "repaired")
"""All other statuses are missing values; `value` is empty for them."""
