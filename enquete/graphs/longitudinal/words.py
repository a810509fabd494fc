"""Words of the longitudinal section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
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
        "cliff": "Cliffs δ",
        "zero": "unverändert", "ties": "Bindungen", "all": "alle", "type": "Gruppe", "family": "Themenfeld", "delta": "mittlere Δ",
        "unweighted": "ungewichtet", "weighted": "gewichtet", "figure": "Maß", "abs": "mittlere absolute Δ (Skalenpunkte)",
        "signed": "mittlere Δ (Skalenpunkte, umgepolt)", "changed": "Anteil veränderter Antworten",
        "agent": "Agent", "movers": "Die {n} Agenten mit der größten Veränderung (von {total} mit vollständigen Paaren):",
        "weights": "Agenten ohne Erinnerung ({n} von {total}) zählen gewichtet mit {weight}; {without} Agenten haben kein "
        "vollständiges Paar und fehlen hier.",
        "pairing": "{paired} von {total} Agenten haben in beiden Wellen geantwortet ({only0} nur in T0, {only1} nur in T1, "
        "{neither} in keiner); {pairs} von {possible} möglichen Antwortpaaren sind vollständig.",
        "tests": "Zweiseitiger Wilcoxon-Vorzeichen-Rang-Test auf rohen Werten, Nullen ausgelassen; in Klammern 95-%-Intervalle "
        "(Bootstrap über Agenten; ohne Klammer: zu wenige Paare, oder alle Stichproben ergeben dasselbe). „Eine Richtung“: alle "
        "Veränderungen gehen dorthin, jede Stichprobe ergibt wieder ±1 und damit kein Intervall. Fällt ein Hodges–Lehmann-Intervall "
        "zusammen ([0,50; 0,50]), ist das keine Genauigkeit: Auf einer Skala mit wenigen Punkten sind so viele Differenzen gleich, dass "
        "fast jede Stichprobe denselben Median hat. Über alle Agenten gilt Holm, nach Gruppen Benjamini–Hochberg (BH).",
        "one_way": "eine Richtung",
        "untestable": "{n} von {total} Zeilen nach Gruppen sind nicht getestet (p: –): Höchstens fünf Agenten haben sich verändert, "
        "und dann kann kein Ergebnis p < 0,05 erreichen. Sie zählen in der Korrektur nicht mit; ihre Veränderung ist beschrieben.",
        "frame": "Tests und Intervalle über simulierte Agenten beschreiben diesen Lauf, keine Menschen: Alle Agenten teilen ein Modell "
        "und eine Formulierung. Die Einheit des Schlusses ist Lauf × Formulierung.",
        "top": "Die {n} von {total} Zeilen mit dem kleinsten p, das kleinste zuerst; alle stehen in {where}.",
        "top_change": "Die {n} von {total} Zeilen mit der größten Veränderung, die größte zuerst; alle stehen in {where}.",
        "by_type": "Aussagen nach Gruppen",
        "reliable": "Zuverlässige Veränderung (RCI)", "scale": "Werte", "rtt": "r_tt [95 %] (n)", "up": "hinauf",
        "down": "hinab", "share_beyond": "jenseits der Grenze", "by_chance": "durch Rauschen allein", "why": "kein RCI, weil",
        "share_placebo": "Placebo jenseits (Paare)", "beyond_placebo": "Differenz in Prozentpunkten",
        "rci": "RCI = Δ / (SD·√(2(1 − r_tt))), Grenze ±{limits} (Student-t für die n wiederholten Agenten). r_tt stammt aus der "
        "Wiederholung bei {phase}. Auch wo sich niemand verändert, liegen im Mittel {chance} der Agenten jenseits der Grenze; in "
        "Klammern der Anteil, der es wäre, wenn r_tt an einem Ende seines 95-%-Intervalls läge. Erst ein Anteil deutlich "
        "darüber spricht für Veränderung; welcher einzelne Agent sich verändert hat, sagt er nicht.",
        "rci_placebo": "Maßstab ist hier das Placebo: dieselben Agenten mit einer neutralen Erinnerung, mit denselben Grenzen. Die "
        "Differenz ist Hauptarm minus Placebo, in Klammern das 95-%-Intervall über Agenten; enthält es 0, haben sich nicht mehr Agenten "
        "verändert als bei einer beliebigen Erinnerung.",
        "no_retest": "Ohne Wiederholungsarm ist nicht bekannt, wie sehr Antworten von selbst schwanken: kein RCI.",
        "overall": "alle Aussagen",
        "placebo": "Drift minus Placebo", "main": "Δ Hauptarm", "placebo_delta": "Δ Placebo", "difference": "Differenz",
        "beyond": "ohne 0", "yes": "ja", "no": "nein",
        "placebo_note": "{n} Agenten wurden bei T1 auch mit einer neutralen Erinnerung gefragt ({baseline}). Umgepolte Werte, gewichtet; "
        "95-%-Intervalle über Agenten dieses Laufs. „Ohne 0“: Die Drift geht über das hinaus, was eine beliebige Erinnerung bewirkt.",
        "own_baseline": "mit eigenem T0", "shared_baseline": "ausgehend von T0 des Hauptarms",
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
        "cliff": "Cliff's δ", "zero": "unchanged", "ties": "ties", "all": "all", "type": "Group", "family": "Family", "delta": "mean Δ",
        "unweighted": "unweighted", "weighted": "weighted", "figure": "Measure", "abs": "mean absolute Δ (scale points)",
        "signed": "mean Δ (scale points, rekeyed)", "changed": "share of answers changed",
        "agent": "Agent", "movers": "The {n} agents that changed most (of {total} with complete pairs):",
        "weights": "Agents without memory ({n} of {total}) count {weight} in the weighted figures; {without} agents have no "
        "complete pair and are left out here.",
        "pairing": "{paired} of {total} agents answered in both waves ({only0} only at T0, {only1} only at T1, {neither} at "
        "neither); {pairs} of {possible} possible pairs of answers are complete.",
        "tests": "Two-sided Wilcoxon signed-rank test on raw values, zeros left out; 95% intervals in brackets (bootstrap over "
        "agents; no bracket: too few pairs, or all samples agree). “One direction”: all changes go that way, every sample gives ±1 "
        "again, and so there is no interval. A Hodges–Lehmann interval that has collapsed ([0.50; 0.50]) is no precision: on a "
        "scale of few points so many differences are tied that nearly every sample has the same median. Over all agents read "
        "Holm, by group Benjamini–Hochberg (BH).",
        "one_way": "one direction",
        "untestable": "{n} of {total} rows by group are not tested (p: –): at most five agents changed, and then no outcome can reach "
        "p < .05. They do not count in the correction; their change is described.",
        "frame": "Tests and intervals over simulated agents describe this run, not people: all agents share one model and one wording. "
        "The unit of inference is run × wording.",
        "top": "The {n} of {total} rows with the smallest p, the smallest first; all are in {where}.",
        "top_change": "The {n} of {total} rows with the largest change, the largest first; all are in {where}.",
        "by_type": "Statements by group",
        "reliable": "Reliable change (RCI)", "scale": "Scores", "rtt": "r_tt [95%] (n)", "up": "up",
        "down": "down", "share_beyond": "beyond the limit", "by_chance": "by noise alone", "why": "no RCI because",
        "share_placebo": "placebo beyond (pairs)", "beyond_placebo": "difference in percentage points",
        "rci": "RCI = Δ / (SD·√(2(1 − r_tt))), limit ±{limits} (Student's t for the n agents of the retest). r_tt is from the retest at "
        "{phase}. Where nobody changes, {chance} of the agents lie beyond the limit on average all the same; in brackets the share that "
        "it would be if r_tt lay at an end of its 95% interval. Only a share clearly above that speaks for change; which one "
        "of the agents has changed it does not say.",
        "rci_placebo": "The yardstick here is the placebo: the same agents with a neutral memory, by the same limits. The difference is "
        "main arm minus placebo, in brackets its 95% interval over agents; if that holds 0, no more agents changed than with any "
        "memory.",
        "no_retest": "Without a retest arm it is not known how far answers vary of themselves: no RCI.",
        "overall": "all statements",
        "placebo": "Drift minus placebo", "main": "Δ main arm", "placebo_delta": "Δ placebo", "difference": "difference",
        "beyond": "excludes 0", "yes": "yes", "no": "no",
        "placebo_note": "{n} agents were also asked at T1 with a neutral memory ({baseline}). Rekeyed values, weighted; 95% intervals "
        "over agents of this run. “Excludes 0”: drift goes beyond what any memory brings about.",
        "own_baseline": "with a T0 of its own", "shared_baseline": "starting from the main arm's T0",
        "listed": "{n} of {total} comments at {wave} (planned: {planned}):", "source": "Source",
        "rows": "rows `{where}` of all_responses.csv",
    },
}  # fmt: skip

REASONS: Mapping[str, Mapping[Language, str]] = {
    "no agent has both scores": {"de": "kein Agent hat beide Werte", "en": "no agent has both scores"},
    "fewer than 2 agents": {"de": "weniger als 2 Agenten bei T0", "en": "fewer than 2 agents at T0"},
    "fewer than 3 agents": {"de": "weniger als 3 Agenten wiederholt", "en": "fewer than 3 agents asked twice"},
    "no variation": {"de": "die Agenten unterscheiden sich nicht", "en": "agents do not differ"},
    "the reliability is negative": {"de": "r_tt ist negativ: die Werte sind Rauschen", "en": "r_tt is negative: scores are noise"},
    "the reliability is 1": {"de": "r_tt ist 1: kein Rauschen, mit dem zu vergleichen wäre", "en": "r_tt is 1: there is no "
                             "noise to compare with"},
}  # fmt: skip
"""How the reasons of analysis/reliable_change.py begin, and what a report says."""


def reason(given: str, language: Language) -> str:
    """A reason in the report's language; as given where it is not known here."""
    return next((texts[language] for start, texts in REASONS.items() if given.startswith(start)), given)
