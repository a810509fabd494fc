"""The fixed texts of the Q factors in the diversity section, in each language."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

WORDS: Mapping[str, str] = {
    "title": N_("Q methodology: shared views"),
    "intro": N_(
        "Sorts are correlated here, not statements; a factor is a view that several agents share. Whoever loads "
        "on a factor with the opposite sign stands at its other pole and sorts as its mirror image."
    ),
    "verdict_factors": N_("**{factors} factors with {views} poles**, defined by {n} of {total} analysed sorts."),
    "verdict_one": N_("**One factor with {views} poles**, defined by {n} of {total} analysed sorts."),
    "verdict_chance": N_("**No factors.** No eigenvalue of the {total} sorts exceeds what random sorts give."),
    "verdict_few": N_(
        "**No factors.** Shared views need at least two complete sorts that fit the grid (here: {total})."
    ),
    "verdict_undefined": N_(
        "**No factors.** None of the extracted factors is clearly defined by any of the {total} sorts."
    ),
    "rank": N_("No."),
    "eigenvalue": N_("eigenvalue"),
    "chance": N_("chance (95%)"),
    "p": N_("p"),
    "number": N_(
        "Number of factors: {used}. Parallel analysis (each sort dealt at random {draws} times, p ≤ {alpha}): "
        "{parallel}; eigenvalue above 1 (far too many with many sorts): {kaiser}; at least two significant "
        "loadings: {loaders}."
    ),
    "asked": N_("The number of factors was set."),
    "method": N_(
        "Extraction: {extraction}, rotation: varimax. A sort defines a factor from a loading of {threshold} "
        "(absolute) on whose square exceeds that of the others together."
    ),
    "pca": N_("principal components"),
    "centroid": N_("centroid"),
    "manual": N_("Changed by hand: {added} flags added, {removed} removed."),
    "refused": N_("Not carried out: {what}."),
    "view": N_("Pole"),
    "n": N_("defining agents"),
    "explained": N_("variance"),
    "reliability": N_("reliability"),
    "se": N_("SE"),
    "caution": N_(
        "Reliability and standard error know only the number of sorts, not how far they agree: with many agents "
        "almost every statement differs. So a permutation p stands beside them (agents dealt to two factors by "
        "lot). It describes the run as well."
    ),
    "factor": N_("Factor {n}"),
    "bipolar": N_("Factor {n} (bipolar)"),
    "who": N_("Pole {view}: {n} agents (in the pole / in the group): {types}."),
    "mirror": N_("Place and z are those of pole {plus}; pole {minus} holds the mirror image."),
    "highest": N_("Highest places: {statements}."),
    "lowest": N_("Lowest places: {statements}."),
    "distinguishing": N_("Distinguishing statements: {n} of {total}; the clearest:"),
    "no_distinguishing": N_("No statement sets this factor apart from every other."),
    "statement": N_("Statement"),
    "place": N_("place"),
    "z": N_("z"),
    "direction": N_("against the others"),
    "level": N_("level (SED)"),
    "above": N_("higher"),
    "below": N_("lower"),
    "between": N_("between"),
    "consensus": N_("Consensus (no two factors differ at p < 0.05 by SED): {statements}."),
    "no_consensus": N_("No statement is consensus among all factors."),
    "dropped": N_("{n} more factors have no result: no sort defines them, or their sorts cancel one another."),
    "agreement": N_(
        "Poles and archetypes: adjusted Rand index {ari} (1 = the same division, 0 = chance) over {n} agents."
    ),
    "no_agreement": N_("Poles and archetypes cannot be compared, for there are not both."),
    "other": N_(
        "As a check, extraction by {extraction}: {factors} factors; Rand index with the poles here {ari} over "
        "{n} agents; correlation of z-scores with the most similar factor: {matches}."
    ),
    "other_none": N_("As a check, extraction by {extraction}: no factors."),
    "z_title": N_("Diversity: z-scores and places of the Q factors"),
    "yes": N_("yes"),
    "no": "",
    "common": N_("consensus"),
    "z_legend": N_("z-score (place in the factor's grid). Consensus: no two factors differ."),
    "correlations": N_("Correlation of z-scores between factors (in brackets: standard error of the difference)"),
}
