"""The fixed texts of the diversity section, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from enquete.state.asking import Language

WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "title": "Vielfalt der Sichtweisen",
        "intro": "Jeder Agent sortierte dieselben Aussagen in ein festes Raster (Q-Sort) und ordnete sich auf Achsen zwischen "
        "zwei Polen ein. Gefragt ist, ob es Typen von Sichtweisen gibt und wer sie teilt.",
        "frame": "Tests und Intervalle über simulierte Agenten beschreiben diesen Lauf, keine Menschen: Alle Agenten teilen ein Modell "
        "und eine Formulierung. Die Einheit des Schlusses ist Lauf × Formulierung.",
        "participation": "Beteiligung", "part": "Teil", "sort": "Sortierung", "axes": "Achsen",
        "answers": "Antworten / geplant", "complete": "vollständig / Agenten",
        "analysed": "Ausgewertet werden {n} von {total} Agenten: die mit vollständiger, rastertreuer Sortierung und allen Achsen.",
        "sort incomplete": "Sortierung unvollständig", "sort off the grid": "Sortierung nicht rastertreu",
        "axes incomplete": "Achsen unvollständig",
        "grid": "Das Raster", "places": "Plätze je Spalte: {places}.",
        "moved": "{n} von {total} Platzierungen ({share}) wurden verschoben, damit die Sortierung ins Raster passt; das betrifft "
        "{agents} von {all} Agenten mit vollständiger Sortierung. {again} Platzierungen haben Agenten auf Nachfrage selbst "
        "geändert ({agents_again} Agenten).",
        "none_moved": "Keine der {total} Platzierungen von {all} Agenten musste verschoben oder noch einmal erfragt werden.",
        "agent": "Agent", "type": "Gruppe", "n_moved": "verschoben", "n_again": "selbst geändert",
        "more_agents": "… und {n} weitere Agenten.",
        "types": "Gibt es Typen?",
        "verdict_typology": "**Ja: {k} Typen** unter {n} Agenten. Sie sind deutlicher getrennt, als es der Zufall oder ein bloßes "
        "Kontinuum von Sichtweisen erwarten ließe.",
        "verdict_continuum": "**Keine Typen: ein Kontinuum.** Die Sichtweisen der {n} Agenten unterscheiden sich, aber stufenlos, "
        "entlang einer oder mehrerer Komponenten (siehe Hauptkomponenten); abgegrenzte Gruppen gibt es nicht. Jede Einteilung in "
        "Typen wäre willkürlich.",
        "verdict_unstable": "**Keine Typen: die Einteilung ist nicht stabil.** Unter {n} Agenten fand sich eine Einteilung in "
        "{candidate} Gruppen, aber mindestens eine davon kehrt in Bootstrap-Stichproben nicht verlässlich wieder.",
        "verdict_chance": "**Keine Typologie.** Die beste Einteilung der {n} Agenten trennt nicht besser als in Daten, in denen "
        "jeder Zusammenhang zufällig ist.",
        "verdict_few": "**Keine Typologie.** {n} ausgewertete Agenten sind zu wenige, um Typen zu suchen (nötig sind mindestens 6).",
        "verdict_alike": "**Keine Typologie.** Unter {n} Agenten gibt es zu wenige verschiedene Antwortmuster.",
        "k": "Typen", "silhouette": "mittlere Silhouette", "gap": "Gap", "gap_error": "s(Gap)",
        "expected": "im Kontinuum", "excess": "Überschuss",
        "doubt_gap": "**Vorsicht:** Die Gap-Statistik kommt auf eine andere Zahl als {k}, nämlich auf {gap} (1 = keine Typen). Die "
        "Zahl der Typen ist unsicher.",
        "doubt_edge": "**Vorsicht:** {k} ist die größte Zahl von Typen, die geprüft wurde; es können mehr sein.",
        "gap_says": "Die Gap-Statistik spräche für {k} (1 = keine Typen); entschieden wird nach Silhouette und Tests. Im Kontinuum: "
        "mittlere Silhouette in Daten mit denselben Zusammenhängen, aber ohne Typen. Überschuss: um wie viel die Silhouette darüber "
        "liegt, gemittelt über alle Spalten und die ersten Hauptkomponenten; die Zahl mit dem größten Überschuss wird gewählt.",
        "test": "Geprüft an {n} Agenten gegen {draws} Datensätze, deren Spalten innerhalb ihres Blocks vertauscht wurden: beste "
        "Silhouette dort im Median {median}, höchstens {best}; p = {p} (verlangt: ≤ {alpha}). Die Aussage gilt für "
        "diesen Lauf, nicht für Menschen.",
        "test_continuum": "Geprüft außerdem gegen {draws} Datensätze mit denselben Zusammenhängen, aber ohne Typen (Agenten "
        "normalverteilt entlang der Hauptkomponenten, ins Raster gebracht): p = {p} (verlangt: ≤ {alpha}); größter Überschuss der "
        "Silhouette {excess} (verlangt: ≥ {least}).",
        "stability": "Stabilität über {n} Bootstrap-Stichproben: mittlerer korrigierter Rand-Index {ari} (1 = immer dieselbe "
        "Einteilung); kleinster Jaccard-Index einer Gruppe {least} (verlangt: ≥ {limit}).",
        "archetypes": "Archetypen", "archetype": "Archetyp", "members": "Mitglieder", "share": "Anteil",
        "jaccard": "Jaccard: mittlere Übereinstimmung des Typs mit seinem Gegenstück in den Stichproben; ab 0,75 stabil, unter 0,60 "
        "nicht belastbar.",
        "who": "{n} von {total} Agenten. Gruppen (im Typ / in der Gruppe): {types}.",
        "statement": "Aussage", "position": "Platz", "mean": "Mittel", "mean_rest": "Mittel der übrigen",
        "difference": "Unterschied (z)",
        "no_distinguishing": "Keine Aussage setzt diesen Typ von jedem anderen ab und hebt ihn um mindestens eine halbe "
        "Standardabweichung des Rasters von den übrigen ab.",
        "axis": "Achse", "more": "und {n} weitere",
        "memberships": "Zugehörigkeit",
        "sure": "{n} von {total} Agenten gehören mit einer Wahrscheinlichkeit von mindestens {limit} zu einem Typ (Gaußsches "
        "Mischmodell mit gemeinsamer Kovarianz auf {m} Hauptkomponenten).",
        "unsure": "Dazwischen stehen {total} Agenten; die {n} unsichersten:",
        "legend": "Platz: Stelle der Aussage in der gemeinsamen Sortierung des Typs. Unterschied: zu den übrigen Agenten, in "
        "Standardabweichungen des Rasters. Das beschreibt die Typen; ein Test wäre zirkulär, denn sie wurden aus denselben "
        "Antworten gebildet.",
        "no_memberships_few": "Keine Wahrscheinlichkeiten: zu wenige Agenten für die Zahl der Parameter.",
        "no_memberships_flat": "Keine Wahrscheinlichkeiten: die Agenten unterscheiden sich nicht.",
        "no_memberships_diverged": "Keine Wahrscheinlichkeiten: das Mischmodell fand keine Lösung.",
        "components": "Hauptkomponenten", "component": "Komponente", "explained": "Varianz", "by_chance": "Zufall (95 %)",
        "loadings": "stärkste Ladungen",
        "above": "{n} Komponenten erklären mehr, als Zufall erreicht (Parallelanalyse); die ersten beiden zusammen {first} der "
        "Varianz ({agents} Agenten, {columns} Spalten; Sortierung und Achsen zählen gleich viel).",
        "no_components_few": "Für Hauptkomponenten braucht es mindestens zwei ausgewertete Agenten.",
        "no_components_alike": "Alle ausgewerteten Agenten haben gleich geantwortet; es gibt nichts zu zerlegen.",
        "statements": "Aussagen", "distribution": "Verteilung", "source": "Quelle",
    },
    "en": {
        "title": "Diversity of views",
        "intro": "Every agent sorted the same statements into a forced grid (Q-sort) and placed itself on axes between two poles. "
        "The question is whether there are types of view, and who shares them.",
        "frame": "Tests and intervals over simulated agents describe this run, not people: all agents share one model and one wording. "
        "The unit of inference is run × wording.",
        "participation": "Participation", "part": "Part", "sort": "Sort", "axes": "Axes",
        "answers": "answers / planned", "complete": "complete / agents",
        "analysed": "{n} of {total} agents are analysed: those with a complete sort that fits the grid, and all axes.",
        "sort incomplete": "Sort incomplete", "sort off the grid": "Sort off the grid", "axes incomplete": "Axes incomplete",
        "grid": "The grid", "places": "Places by column: {places}.",
        "moved": "{n} of {total} placements ({share}) were moved so that the sort fits the grid; this concerns {agents} of {all} "
        "agents with a complete sort. {again} placements were changed by agents themselves when asked again "
        "({agents_again} agents).",
        "none_moved": "Not one of the {total} placements of {all} agents had to be moved or asked for again.",
        "agent": "Agent", "type": "Group", "n_moved": "moved", "n_again": "changed themselves",
        "more_agents": "… and {n} more agents.",
        "types": "Are there types?",
        "verdict_typology": "**Yes: {k} types** among {n} agents. They are set apart more clearly than chance "
        "or a mere continuum of views would have it.",
        "verdict_continuum": "**No types: a continuum.** The views of the {n} agents differ, but by degree, along one or more components "
        "(see Principal components); there are no separate groups. Any division into types would be arbitrary.",
        "verdict_unstable": "**No types: the division is not stable.** A division of the {n} agents into {candidate} groups was found, "
        "but at least one of them does not come back reliably in bootstrap samples.",
        "verdict_chance": "**No typology.** The best division of the {n} agents sets them apart no better than in data in which "
        "every relation is random.",
        "verdict_few": "**No typology.** {n} analysed agents are too few to look for types (at least 6 are needed).",
        "verdict_alike": "**No typology.** There are too few different patterns of answers among {n} agents.",
        "k": "Types", "silhouette": "mean silhouette", "gap": "gap", "gap_error": "s(gap)",
        "expected": "in a continuum", "excess": "excess",
        "doubt_gap": "**Caution:** the gap statistic arrives at another number than {k}, namely {gap} (1 = no types). The number of "
        "types is uncertain.",
        "doubt_edge": "**Caution:** {k} is the largest number of types that was tried; there may be more.",
        "gap_says": "The gap statistic would say {k} (1 = no types); silhouette and tests decide. In a continuum: mean silhouette in data "
        "with the same relations but without types. Excess: by how much the silhouette lies above it, averaged over all columns and "
        "the first principal components; the number with the largest excess is chosen.",
        "test": "Tested on {n} agents against {draws} data sets whose columns were permuted within their block: best silhouette "
        "there {median} in the median and {best} at most; p = {p} (required: ≤ {alpha}). The statement is about this run, not "
        "about people.",
        "test_continuum": "Tested too against {draws} data sets with the same relations but without types (agents normally distributed "
        "along the principal components, brought into the grid): p = {p} (required: ≤ {alpha}); largest excess of the silhouette "
        "{excess} (required: ≥ {least}).",
        "stability": "Stability over {n} bootstrap samples: mean adjusted Rand index {ari} (1 = always the same division); smallest "
        "Jaccard index of a group {least} (required: ≥ {limit}).",
        "archetypes": "Archetypes", "archetype": "Archetype", "members": "Members", "share": "share",
        "jaccard": "Jaccard: mean agreement of the type with its counterpart in the samples; stable from 0.75, not to be trusted below "
        "0.60.",
        "who": "{n} of {total} agents. Groups (in the type / in the group): {types}.",
        "statement": "Statement", "position": "place", "mean": "mean", "mean_rest": "mean of the others",
        "difference": "difference (z)",
        "no_distinguishing": "No statement sets this type apart from every other type, and from the rest by at least half a "
        "standard deviation of the grid.",
        "axis": "Axis", "more": "and {n} more",
        "memberships": "Membership",
        "sure": "{n} of {total} agents belong to one type with a probability of at least {limit} (Gaussian mixture with a common "
        "covariance on {m} principal components).",
        "unsure": "{total} agents stand in between; the {n} least certain:",
        "legend": "Place: where the statement stands in the common sort of the type. Difference: from all other agents, in standard "
        "deviations of the grid. This describes the types; a test would be circular, for they were formed from the same answers.",
        "no_memberships_few": "No probabilities: too few agents for the number of parameters.",
        "no_memberships_flat": "No probabilities: the agents do not differ.",
        "no_memberships_diverged": "No probabilities: the mixture found no solution.",
        "components": "Principal components", "component": "Component", "explained": "variance", "by_chance": "chance (95%)",
        "loadings": "highest loadings",
        "above": "{n} components explain more than chance achieves (parallel analysis); the first two together {first} of the "
        "variance ({agents} agents, {columns} columns; sort and axes count alike).",
        "no_components_few": "Principal components need at least two analysed agents.",
        "no_components_alike": "All analysed agents answered alike; there is nothing to decompose.",
        "statements": "Statements", "distribution": "distribution", "source": "Source",
    },
}  # fmt: skip
