"""The fixed texts of the Q factors in the diversity section, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from enquete.state.asking import Language

WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "title": "Q-Methodik: geteilte Sichtweisen",
        "intro": "Nicht Aussagen, sondern Sortierungen werden korreliert; ein Faktor ist eine Sichtweise, die mehrere Agenten teilen. "
        "Wer einen Faktor mit umgekehrtem Vorzeichen lädt, steht an seinem anderen Pol: Er sortiert spiegelbildlich.",
        "verdict_factors": "**{factors} Faktoren mit {views} Polen**, bestimmt von {n} der {total} ausgewerteten Sortierungen.",
        "verdict_one": "**Ein Faktor mit {views} Polen**, bestimmt von {n} der {total} ausgewerteten Sortierungen.",
        "verdict_chance": "**Keine Faktoren.** Kein Eigenwert der {total} Sortierungen übersteigt, was zufällige Sortierungen ergeben.",
        "verdict_few": "**Keine Faktoren.** Für gemeinsame Sichtweisen braucht es mindestens zwei vollständige, rastertreue Sortierungen "
        "(hier: {total}).",
        "verdict_undefined": "**Keine Faktoren.** Keinen der extrahierten Faktoren bestimmt eine der {total} Sortierungen eindeutig.",
        "rank": "Nr.", "eigenvalue": "Eigenwert", "chance": "Zufall (95 %)", "p": "p",
        "number": "Zahl der Faktoren: {used}. Parallelanalyse (jede Sortierung {draws}-mal zufällig ausgeteilt, p ≤ {alpha}): {parallel}; "
        "Eigenwert über 1 (bei vielen Sortierungen viel zu viele): {kaiser}; mindestens zwei signifikante Ladungen: {loaders}.",
        "asked": "Die Zahl der Faktoren war vorgegeben.",
        "method": "Extraktion: {extraction}, Rotation: Varimax. Als bestimmend gilt eine Sortierung ab einer Ladung von {threshold} "
        "(Betrag), deren Quadrat die übrigen zusammen übertrifft.",
        "pca": "Hauptkomponenten", "centroid": "Zentroid",
        "manual": "Von Hand geändert: {added} Zuordnungen hinzugefügt, {removed} entfernt.",
        "refused": "Nicht ausgeführt: {what}.",
        "view": "Pol", "n": "bestimmende Agenten", "explained": "Varianz", "reliability": "Reliabilität", "se": "SE",
        "caution": "Reliabilität und Standardfehler kennen nur die Zahl der Sortierungen, nicht ihre Übereinstimmung: Bei vielen Agenten "
        "unterscheidet sich fast jede Aussage. Darum steht daneben ein Permutations-p (Agenten zufällig auf zwei Faktoren verteilt). "
        "Auch dieses beschreibt den Lauf.",
        "factor": "Faktor {n}", "bipolar": "Faktor {n} (bipolar)",
        "who": "Pol {view}: {n} Agenten (im Pol / in der Gruppe): {types}.",
        "mirror": "Platz und z gelten für den Pol {plus}; der Pol {minus} vertritt das Spiegelbild.",
        "highest": "Höchste Plätze: {statements}.", "lowest": "Niedrigste Plätze: {statements}.",
        "distinguishing": "Unterscheidende Aussagen: {n} von {total}; die deutlichsten:",
        "no_distinguishing": "Keine Aussage unterscheidet diesen Faktor von jedem anderen.",
        "statement": "Aussage", "place": "Platz", "z": "z", "direction": "gegenüber den übrigen", "level": "Niveau (SED)",
        "above": "höher", "below": "niedriger", "between": "dazwischen",
        "consensus": "Konsens (kein Paar von Faktoren unterscheidet sich bei p < 0,05 nach SED): {statements}.",
        "no_consensus": "Keine Aussage ist Konsens zwischen allen Faktoren.",
        "dropped": "Ohne Ergebnis blieben {n} weitere Faktoren, die keine Sortierung bestimmt oder deren Sortierungen sich aufheben.",
        "agreement": "Pole und Archetypen: korrigierter Rand-Index {ari} (1 = dieselbe Einteilung, 0 = Zufall) über {n} Agenten.",
        "no_agreement": "Pole und Archetypen lassen sich nicht vergleichen, weil es nicht beide gibt.",
        "other": "Zur Probe mit Extraktion {extraction}: {factors} Faktoren; Rand-Index mit den Polen hier {ari} über {n} Agenten; "
        "Korrelation der z-Werte mit dem ähnlichsten Faktor: {matches}.",
        "other_none": "Zur Probe mit Extraktion {extraction}: keine Faktoren.",
        "z_title": "Vielfalt: z-Werte und Plätze der Q-Faktoren", "yes": "ja", "no": "",
        "common": "Konsens", "z_legend": "z-Wert (Platz im Raster des Faktors). Konsens: kein Paar von Faktoren unterscheidet sich.",
        "correlations": "Korrelation der z-Werte zwischen den Faktoren (in Klammern: Standardfehler der Differenz)",
    },
    "en": {
        "title": "Q methodology: shared views",
        "intro": "Sorts are correlated here, not statements; a factor is a view that several agents share. Whoever loads on a factor "
        "with the opposite sign stands at its other pole and sorts as its mirror image.",
        "verdict_factors": "**{factors} factors with {views} poles**, defined by {n} of {total} analysed sorts.",
        "verdict_one": "**One factor with {views} poles**, defined by {n} of {total} analysed sorts.",
        "verdict_chance": "**No factors.** No eigenvalue of the {total} sorts exceeds what random sorts give.",
        "verdict_few": "**No factors.** Shared views need at least two complete sorts that fit the grid (here: {total}).",
        "verdict_undefined": "**No factors.** None of the extracted factors is clearly defined by any of the {total} sorts.",
        "rank": "No.", "eigenvalue": "eigenvalue", "chance": "chance (95%)", "p": "p",
        "number": "Number of factors: {used}. Parallel analysis (each sort dealt at random {draws} times, p ≤ {alpha}): {parallel}; "
        "eigenvalue above 1 (far too many with many sorts): {kaiser}; at least two significant loadings: {loaders}.",
        "asked": "The number of factors was set.",
        "method": "Extraction: {extraction}, rotation: varimax. A sort defines a factor from a loading of {threshold} (absolute) on whose "
        "square exceeds that of the others together.",
        "pca": "principal components", "centroid": "centroid",
        "manual": "Changed by hand: {added} flags added, {removed} removed.",
        "refused": "Not carried out: {what}.",
        "view": "Pole", "n": "defining agents", "explained": "variance", "reliability": "reliability", "se": "SE",
        "caution": "Reliability and standard error know only the number of sorts, not how far they agree: with many agents almost every "
        "statement differs. So a permutation p stands beside them (agents dealt to two factors by lot). It describes the run as well.",
        "factor": "Factor {n}", "bipolar": "Factor {n} (bipolar)",
        "who": "Pole {view}: {n} agents (in the pole / in the group): {types}.",
        "mirror": "Place and z are those of pole {plus}; pole {minus} holds the mirror image.",
        "highest": "Highest places: {statements}.", "lowest": "Lowest places: {statements}.",
        "distinguishing": "Distinguishing statements: {n} of {total}; the clearest:",
        "no_distinguishing": "No statement sets this factor apart from every other.",
        "statement": "Statement", "place": "place", "z": "z", "direction": "against the others", "level": "level (SED)",
        "above": "higher", "below": "lower", "between": "between",
        "consensus": "Consensus (no two factors differ at p < 0.05 by SED): {statements}.",
        "no_consensus": "No statement is consensus among all factors.",
        "dropped": "{n} more factors have no result: no sort defines them, or their sorts cancel one another.",
        "agreement": "Poles and archetypes: adjusted Rand index {ari} (1 = the same division, 0 = chance) over {n} agents.",
        "no_agreement": "Poles and archetypes cannot be compared, for there are not both.",
        "other": "As a check, extraction by {extraction}: {factors} factors; Rand index with the poles here {ari} over {n} agents; "
        "correlation of z-scores with the most similar factor: {matches}.",
        "other_none": "As a check, extraction by {extraction}: no factors.",
        "z_title": "Diversity: z-scores and places of the Q factors", "yes": "yes", "no": "",
        "common": "consensus", "z_legend": "z-score (place in the factor's grid). Consensus: no two factors differ.",
        "correlations": "Correlation of z-scores between factors (in brackets: standard error of the difference)",
    },
}  # fmt: skip
