"""Texts of the scenario section of the report."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Szenarien",
        "intro": "{n} mögliche Zukünfte wurden nacheinander vorgelegt und auf denselben Dimensionen bewertet.",
        "intro_open": "{n} mögliche Zukünfte wurden nacheinander vorgelegt, auf denselben Dimensionen bewertet und mit einer offenen "
        "Frage verbunden.",
        "asked": "Beantwortete Fragen: {answers}. Agenten, die geantwortet haben: {people}.", "source": "Quelle",
        "frame": "Tests über simulierte Agenten beschreiben diesen Lauf, keine Menschen: Alle Agenten teilen ein Modell und eine "
        "Formulierung. Die Einheit des Schlusses ist Lauf × Formulierung.",
        "A": "A", "BC": "BC", "p": "p", "p_holm": "p (Holm)",
        "pairs": "Paarvergleiche der Szenarien: {dimension}", "first": "Szenario", "second": "gegenüber",
        "hl": "Unterschied (HL)", "rb": "rang-biserial",
        "pairs_legend": "Wilcoxon-Tests je Paar, p nach Holm über die Paare einer Dimension korrigiert. Positiv: Das zweite Szenario wird "
        "höher bewertet. HL: Hodges-Lehmann-Schätzung in Skalenpunkten; rang-biserial: −1 bis 1.",
        "pairs_differ": "Unterschiedliche Paare (p nach Holm < {level}) je Dimension: {told}.",
        "types_differ": "Wo sich Stakeholdertypen unterscheiden",
        "types_legend": "Kruskal-Wallis-Test nach Stakeholdertyp, nach ε² geordnet (0 kein, 1 völliger Unterschied); auch ohne "
        "Unterschied ist es nicht 0, sondern um (Typen − 1)/(n − 1). p nach Holm über alle Bewertungen korrigiert; bis 200 Agenten "
        "aus Permutationen.",
        "types_untested": "Kein Test: Es gibt nicht mindestens zwei Stakeholdertypen mit verschiedenen Bewertungen.",
        "types_count": "{n} von {total} Bewertungen unterscheiden sich nach Stakeholdertyp (p nach Holm < {level}).",
        "eta_desirability": "Anteil der Varianz der Wünschbarkeit, der zwischen den Typen liegt (η²; Holm über beide Maße): {told}.",
        "eta_polarity": "Dasselbe für die Polarität: {told}.",
        "n_types": "Typen", "h": "H", "epsilon": "ε²", "method": "p aus",
        "chi-squared": "χ²", "exact permutation": "allen Permutationen", "random permutation": "zufälligen Permutationen", "none": "–",
        "own_means": "Quadranten, am Agenten zentriert",
        "own_means_legend": "d″ und p″ messen jedes Szenario am eigenen Mittel des Agenten über alle Szenarien (nur wer mindestens zwei "
        "bewertet hat). Das nimmt heraus, dass manche Agenten und Modelle alles hoch bewerten; was hier den Quadranten wechselt, beruht "
        "auf diesem Niveau.",
        "own_wish": "d″", "own_expectation": "p″",
        "themes_by_type": "Szenarien: Themen nach Stakeholdertyp: {scenario}", "theme": "Thema",
        "ratings": "Bewertungen", "scenario": "Szenario", "dimension": "Dimension", "n": "n / N", "mean": "Mittel",
        "median": "Median", "sd": "SD", "distribution": "Verteilung",
        "scales": "Verteilung: Zahl der Antworten vom niedrigsten zum höchsten Skalenpunkt. A: Übereinstimmung nach van der Eijk "
        "(1 einig, −1 zwei Lager). BC: Bimodalitätskoeffizient (über 0,555 eher zwei Gipfel). Skalen: {scales}.",
        "by_type": "{dimension} nach Stakeholdertyp: Mittel (n / N)", "type": "Stakeholdertyp",
        "compared": "Werden die Szenarien unterschieden?",
        "ranks": "Mittlere Ränge je Szenario (1 = am niedrigsten bewertet), Friedman-Test und Kendalls W (0 keine, 1 völlige "
        "Übereinstimmung der Rangordnungen), über Agenten mit vollständigen Bewertungen der Dimension.",
        "too_few_raters": "kein Test. Agenten, die alle Szenarien bewertet haben: {n}; nötig sind zwei.",
        "no_variation": "kein Test, weil alle {n} Agenten alle Szenarien gleich bewertet haben.",
        "unit": "Bei weniger als etwa 15 Agenten ist das p des Friedman-Tests ungenau.",
        "alike": "{n} / {complete} ({share}); alle Szenarien bewertet haben {complete} / {total}.",
        "alike_none": "kein Agent hat alle Szenarien bewertet (0 / {total}).",
        "alike_head": "Agenten, die alle Szenarien auf einer Dimension gleich bewerten:",
        "polarity": "Polarität: Wunsch und Erwartung",
        "formula": "Wunsch d′ und Erwartung p′ sind Wünschbarkeit und Plausibilität, an der Skalenmitte zentriert und auf −1 bis 1 "
        "gebracht; Polarität ist das Mittel der Produkte d′·p′. Über 0 weisen beide in dieselbe Richtung (erwünscht und erwartet, "
        "oder gefürchtet und nicht erwartet), unter 0 gehen sie auseinander. Der Quadrant ist der des Mittelpunkts (d′, p′); "
        "rechts davon steht, wie viele Agenten in welchem Quadranten liegen.",
        "wish": "d′", "expectation": "p′", "pi": "Polarität", "quadrant": "Quadrant",
        "wished_expected": "erwünscht und erwartet", "wished_unexpected": "erwünscht, nicht erwartet",
        "feared_expected": "gefürchtet und erwartet", "feared_unexpected": "gefürchtet, nicht erwartet",
        "undecided": "auf der Mitte",
        "no_dimension": "Das Instrument fragt nicht sowohl nach Wünschbarkeit als auch nach Plausibilität; Polarität ist darum nicht "
        "bestimmt.",
        "polarity_by_type": "Polarität nach Stakeholdertyp",
        "open": "Offene Antworten", "answered": "n / N",
        "uncoded_yet": "Die Antworten sind noch nicht zu Themen zusammengefasst.",
        "no_themes": "In den Antworten wurden keine Themen gefunden.",
        "voiced": "{n} von {total} Antworten",
        "uncoded": "Zu keinem Thema gehören {n} von {total} Antworten.",
    },
    "en": {
        "title": "Scenarios",
        "intro": "{n} possible futures were presented one after another and rated on the same dimensions.",
        "intro_open": "{n} possible futures were presented one after another, each rated on the same dimensions and followed by an "
        "open question.",
        "asked": "Questions answered: {answers}. Agents who answered: {people}.", "source": "Source",
        "frame": "Tests over simulated agents describe this run, not people: all agents share one model and one wording. The unit of "
        "inference is run × wording.",
        "A": "A", "BC": "BC", "p": "p", "p_holm": "p (Holm)",
        "pairs": "Scenarios in pairs: {dimension}", "first": "Scenario", "second": "against",
        "hl": "difference (HL)", "rb": "rank-biserial",
        "pairs_legend": "A Wilcoxon test for each pair, p adjusted by Holm over the pairs of a dimension. Positive: the second scenario is "
        "rated higher. HL: Hodges–Lehmann estimate in scale points; rank-biserial: −1 to 1.",
        "pairs_differ": "Pairs that differ (p by Holm < {level}) by dimension: {told}.",
        "types_differ": "Where stakeholder types differ",
        "types_legend": "Kruskal–Wallis test by stakeholder type, in the order of ε² (0 no, 1 complete difference); without any "
        "difference it is about (types − 1)/(n − 1), not 0. p adjusted by Holm over all ratings; up to 200 agents from permutations.",
        "types_untested": "No test: there are not at least two stakeholder types with different ratings.",
        "types_count": "{n} of {total} ratings differ by stakeholder type (p by Holm < {level}).",
        "eta_desirability": "Share of the variance of desirability that lies between types (η²; Holm over both measures): {told}.",
        "eta_polarity": "The same for polarity: {told}.",
        "n_types": "types", "h": "H", "epsilon": "ε²", "method": "p from",
        "chi-squared": "χ²", "exact permutation": "all permutations", "random permutation": "random permutations", "none": "–",
        "own_means": "Quadrants, centred on the agent",
        "own_means_legend": "d″ and p″ measure each scenario by the agent's own mean over all scenarios (only agents who rated at least "
        "two). This leaves out that some agents and models rate everything high; what changes its quadrant here rests on that level.",
        "own_wish": "d″", "own_expectation": "p″",
        "themes_by_type": "Scenarios: themes by stakeholder type: {scenario}", "theme": "Theme",
        "ratings": "Ratings", "scenario": "Scenario", "dimension": "Dimension", "n": "n / N", "mean": "mean",
        "median": "median", "sd": "SD", "distribution": "distribution",
        "scales": "Distribution: number of answers from the lowest to the highest scale point. A: van der Eijk's agreement "
        "(1 unanimous, −1 two camps). BC: bimodality coefficient (above 0.555 rather two peaks). Scales: {scales}.",
        "by_type": "{dimension} by stakeholder type: mean (n / N)", "type": "Stakeholder type",
        "compared": "Are the scenarios told apart?",
        "ranks": "Mean ranks by scenario (1 = rated lowest), Friedman's test and Kendall's W (0 no, 1 complete concordance of the "
        "rankings), over agents with complete ratings of the dimension.",
        "too_few_raters": "no test. Agents who rated all scenarios: {n}; two are needed.",
        "no_variation": "no test, because all {n} agents rated all scenarios alike.",
        "unit": "With fewer than about 15 agents the p of Friedman's test is inexact.",
        "alike": "{n} / {complete} ({share}); all scenarios were rated by {complete} / {total}.",
        "alike_none": "no agent has rated all scenarios (0 / {total}).",
        "alike_head": "Agents who rate all scenarios alike on a dimension:",
        "polarity": "Polarity: wish and expectation",
        "formula": "Wish d′ and expectation p′ are desirability and plausibility, centred on the midpoint of the scale and brought to "
        "−1 to 1; polarity is the mean of the products d′·p′. Above 0 both point the same way (wished for and expected, or feared "
        "and not expected), below 0 they part. The quadrant is that of the mean point (d′, p′); to its right stands how many "
        "agents lie in which quadrant.",
        "wish": "d′", "expectation": "p′", "pi": "polarity", "quadrant": "quadrant",
        "wished_expected": "wished for and expected", "wished_unexpected": "wished for, not expected",
        "feared_expected": "feared and expected", "feared_unexpected": "feared, not expected",
        "undecided": "on the midpoint",
        "no_dimension": "The instrument does not ask for both desirability and plausibility, so polarity is not defined.",
        "polarity_by_type": "Polarity by stakeholder type",
        "open": "Open answers", "answered": "n / N",
        "uncoded_yet": "The answers have not been gathered into themes yet.",
        "no_themes": "No themes were found in the answers.",
        "voiced": "{n} of {total} answers",
        "uncoded": "{n} of {total} answers belong to no theme.",
    },
}  # fmt: skip
