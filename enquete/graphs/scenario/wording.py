"""Texts of the scenario section of the report."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.seam import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Szenarien",
        "intro": "{n} mögliche Zukünfte wurden nacheinander vorgelegt und auf denselben Dimensionen bewertet.",
        "intro_open": "{n} mögliche Zukünfte wurden nacheinander vorgelegt, auf denselben Dimensionen bewertet und mit einer offenen "
        "Frage verbunden.",
        "asked": "Beantwortete Fragen: {answers}. Agenten, die geantwortet haben: {people}.", "source": "Quelle",
        "ratings": "Bewertungen", "scenario": "Szenario", "dimension": "Dimension", "n": "n / N", "mean": "Mittel",
        "median": "Median", "sd": "SD", "distribution": "Verteilung",
        "scales": "Verteilung: Zahl der Antworten vom niedrigsten zum höchsten Skalenpunkt. Skalen: {scales}.",
        "by_type": "{dimension} nach Stakeholdertyp: Mittel (n / N)", "type": "Stakeholdertyp",
        "compared": "Werden die Szenarien unterschieden?",
        "ranks": "Mittlere Ränge je Szenario (1 = am niedrigsten bewertet), Friedman-Test und Kendalls W (0 keine, 1 völlige "
        "Übereinstimmung der Rangordnungen), über Agenten mit vollständigen Bewertungen der Dimension.",
        "too_few_raters": "kein Test. Agenten, die alle Szenarien bewertet haben: {n}; nötig sind zwei.",
        "no_variation": "kein Test, weil alle {n} Agenten alle Szenarien gleich bewertet haben.",
        "unit": "Die Tests beschreiben diesen Lauf, nicht Menschen: Agenten eines Modells sind keine unabhängige Stichprobe. Bei "
        "weniger als etwa 15 Agenten ist p ungenau.",
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
        "ratings": "Ratings", "scenario": "Scenario", "dimension": "Dimension", "n": "n / N", "mean": "mean",
        "median": "median", "sd": "SD", "distribution": "distribution",
        "scales": "Distribution: number of answers from the lowest to the highest scale point. Scales: {scales}.",
        "by_type": "{dimension} by stakeholder type: mean (n / N)", "type": "Stakeholder type",
        "compared": "Are the scenarios told apart?",
        "ranks": "Mean ranks by scenario (1 = rated lowest), Friedman's test and Kendall's W (0 no, 1 complete concordance of the "
        "rankings), over agents with complete ratings of the dimension.",
        "too_few_raters": "no test. Agents who rated all scenarios: {n}; two are needed.",
        "no_variation": "no test, because all {n} agents rated all scenarios alike.",
        "unit": "The tests describe this run, not people: agents of one model are no independent sample. With fewer than about 15 "
        "agents p is inexact.",
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
