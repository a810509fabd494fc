"""Texts of the scenario section of the report."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

WORDS: Mapping[str, str] = {
    "title": N_("Scenarios"),
    "intro": N_("{n} possible futures were presented one after another and rated on the same dimensions."),
    "intro_open": N_(
        "{n} possible futures were presented one after another, each rated on the same dimensions and followed "
        "by an open question."
    ),
    "asked": N_("Questions answered: {answers}. Agents who answered: {people}."),
    "source": N_("Source"),
    "frame": N_(
        "Tests over simulated agents describe this run, not people: all agents share one model and one wording. "
        "The unit of inference is run × wording."
    ),
    "A": N_("A"),
    "BC": N_("BC"),
    "p": N_("p"),
    "p_holm": N_("p (Holm)"),
    "pairs": N_("Scenarios in pairs: {dimension}"),
    "first": N_("Scenario"),
    "second": N_("against"),
    "hl": N_("difference (HL)"),
    "rb": N_("rank-biserial"),
    "pairs_legend": N_(
        "A Wilcoxon test for each pair, p adjusted by Holm over the pairs of a dimension. Positive: the second "
        "scenario is rated higher. HL: Hodges–Lehmann estimate in scale points; rank-biserial: −1 to 1."
    ),
    "pairs_differ": N_("Pairs that differ (p by Holm < {level}) by dimension: {told}."),
    "types_differ": N_("Where stakeholder types differ"),
    "types_legend": N_(
        "Kruskal–Wallis test by stakeholder type, in the order of ε² (0 no, 1 complete difference); without any "
        "difference it is about (types − 1)/(n − 1), not 0. p adjusted by Holm over all ratings; up to 200 "
        "agents from permutations."
    ),
    "types_untested": N_("No test: there are not at least two stakeholder types with different ratings."),
    "types_count": N_("{n} of {total} ratings differ by stakeholder type (p by Holm < {level})."),
    "eta_desirability": N_(
        "Share of the variance of desirability that lies between types (η²; Holm over both measures): {told}."
    ),
    "eta_polarity": N_("The same for polarity: {told}."),
    "n_types": N_("types"),
    "h": N_("H"),
    "epsilon": N_("ε²"),
    "method": N_("p from"),
    "chi-squared": N_("χ²"),
    "exact permutation": N_("all permutations"),
    "random permutation": N_("random permutations"),
    "none": N_("–"),
    "own_means": N_("Quadrants, centred on the agent"),
    "own_means_legend": N_(
        "d″ and p″ measure each scenario by the agent's own mean over all scenarios (only agents who rated at "
        "least two). This leaves out that some agents and models rate everything high; what changes its quadrant "
        "here rests on that level."
    ),
    "own_wish": N_("d″"),
    "own_expectation": N_("p″"),
    "themes_by_type": N_("Scenarios: themes by stakeholder type: {scenario}"),
    "theme": N_("Theme"),
    "ratings": N_("Ratings"),
    "scenario": N_("Scenario"),
    "dimension": N_("Dimension"),
    "n": N_("n / N"),
    "mean": N_("mean"),
    "median": N_("median"),
    "sd": N_("SD"),
    "distribution": N_("distribution"),
    "scales": N_(
        "Distribution: number of answers from the lowest to the highest scale point. A: van der Eijk's agreement "
        "(1 unanimous, −1 two camps). BC: bimodality coefficient (above 0.555 rather two peaks). Scales: "
        "{scales}."
    ),
    "by_type": N_("{dimension} by stakeholder type: mean (n / N)"),
    "type": N_("Stakeholder type"),
    "compared": N_("Are the scenarios told apart?"),
    "ranks": N_(
        "Mean ranks by scenario (1 = rated lowest), Friedman's test and Kendall's W (0 no, 1 complete "
        "concordance of the rankings), over agents with complete ratings of the dimension."
    ),
    "too_few_raters": N_("no test. Agents who rated all scenarios: {n}; two are needed."),
    "no_variation": N_("no test, because all {n} agents rated all scenarios alike."),
    "unit": N_("With fewer than about 15 agents the p of Friedman's test is inexact."),
    "alike": N_("{n} / {complete} ({share}); all scenarios were rated by {complete} / {total}."),
    "alike_none": N_("no agent has rated all scenarios (0 / {total})."),
    "alike_head": N_("Agents who rate all scenarios alike on a dimension:"),
    "polarity": N_("Polarity: wish and expectation"),
    "formula": N_(
        "Wish d′ and expectation p′ are desirability and plausibility, centred on the midpoint of the scale and "
        "brought to −1 to 1; polarity is the mean of the products d′·p′. Above 0 both point the same way (wished "
        "for and expected, or feared and not expected), below 0 they part. The quadrant is that of the mean "
        "point (d′, p′); to its right stands how many agents lie in which quadrant."
    ),
    "wish": N_("d′"),
    "expectation": N_("p′"),
    "pi": N_("polarity"),
    "quadrant": N_("quadrant"),
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "undecided": N_("on the midpoint"),
    "no_dimension": N_(
        "The instrument does not ask for both desirability and plausibility, so polarity is not defined."
    ),
    "polarity_by_type": N_("Polarity by stakeholder type"),
    "open": N_("Open answers"),
    "answered": N_("n / N"),
    "uncoded_yet": N_("The answers have not been gathered into themes yet."),
    "no_themes": N_("No themes were found in the answers."),
    "voiced": N_("{n} of {total} answers"),
    "uncoded": N_("{n} of {total} answers belong to no theme."),
}
