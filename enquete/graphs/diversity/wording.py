"""The fixed texts of the diversity section, in each language."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

WORDS: Mapping[str, str] = {
    "title": N_("Diversity of views"),
    "intro": N_(
        "Every agent sorted the same statements into a forced grid (Q-sort) and placed itself on axes between "
        "two poles. The question is whether there are types of view, and who shares them."
    ),
    "frame": N_(
        "Tests and intervals over simulated agents describe this run, not people: all agents share one model and "
        "one wording. The unit of inference is run × wording."
    ),
    "participation": N_("Participation"),
    "part": N_("Part"),
    "sort": N_("Sort"),
    "axes": N_("Axes"),
    "answers": N_("answers / planned"),
    "complete": N_("complete / agents"),
    "analysed": N_("{n} of {total} agents are analysed: those with a complete sort that fits the grid, and all axes."),
    "sort incomplete": N_("Sort incomplete"),
    "sort off the grid": N_("Sort off the grid"),
    "axes incomplete": N_("Axes incomplete"),
    "grid": N_("The grid"),
    "places": N_("Places by column: {places}."),
    "moved": N_(
        "{n} of {total} placements ({share}) were moved so that the sort fits the grid; this concerns {agents} "
        "of {all} agents with a complete sort. {again} placements were changed by agents themselves when asked "
        "again ({agents_again} agents)."
    ),
    "none_moved": N_("Not one of the {total} placements of {all} agents had to be moved or asked for again."),
    "agent": N_("Agent"),
    "type": N_("Group"),
    "n_moved": N_("moved"),
    "n_again": N_("changed themselves"),
    "more_agents": N_("… and {n} more agents."),
    "types": N_("Are there types?"),
    "verdict_typology": N_(
        "**Yes: {k} types** among {n} agents. They are set apart more clearly than chance or a mere continuum of "
        "views would have it."
    ),
    "verdict_continuum": N_(
        "**No types: a continuum.** The views of the {n} agents differ, but by degree, along one or more "
        "components (see Principal components); there are no separate groups. Any division into types would be "
        "arbitrary."
    ),
    "verdict_unstable": N_(
        "**No types: the division is not stable.** A division of the {n} agents into {candidate} groups was "
        "found, but at least one of them does not come back reliably in bootstrap samples."
    ),
    "verdict_chance": N_(
        "**No typology.** The best division of the {n} agents sets them apart no better than in data in which "
        "every relation is random."
    ),
    "verdict_few": N_("**No typology.** {n} analysed agents are too few to look for types (at least 6 are needed)."),
    "verdict_alike": N_("**No typology.** There are too few different patterns of answers among {n} agents."),
    "k": N_("Types"),
    "silhouette": N_("mean silhouette"),
    "gap": N_("gap"),
    "gap_error": N_("s(gap)"),
    "expected": N_("in a continuum"),
    "excess": N_("excess"),
    "doubt_gap": N_(
        "**Caution:** the gap statistic arrives at another number than {k}, namely {gap} (1 = no types). The "
        "number of types is uncertain."
    ),
    "doubt_edge": N_("**Caution:** {k} is the largest number of types that was tried; there may be more."),
    "gap_says": N_(
        "The gap statistic would say {k} (1 = no types); silhouette and tests decide. In a continuum: mean "
        "silhouette in data with the same relations but without types. Excess: by how much the silhouette lies "
        "above it, averaged over all columns and the first principal components; the number with the largest "
        "excess is chosen."
    ),
    "test": N_(
        "Tested on {n} agents against {draws} data sets whose columns were permuted within their block: best "
        "silhouette there {median} in the median and {best} at most; p = {p} (required: ≤ {alpha}). The "
        "statement is about this run, not about people."
    ),
    "test_continuum": N_(
        "Tested too against {draws} data sets with the same relations but without types (agents normally "
        "distributed along the principal components, brought into the grid): p = {p} (required: ≤ {alpha}); "
        "largest excess of the silhouette {excess} (required: ≥ {least})."
    ),
    "stability": N_(
        "Stability over {n} bootstrap samples: mean adjusted Rand index {ari} (1 = always the same division); "
        "smallest Jaccard index of a group {least} (required: ≥ {limit})."
    ),
    "archetypes": N_("Archetypes"),
    "archetype": N_("Archetype"),
    "members": N_("Members"),
    "share": N_("share"),
    "jaccard": N_(
        "Jaccard: mean agreement of the type with its counterpart in the samples; stable from 0.75, not to be "
        "trusted below 0.60."
    ),
    "who": N_("{n} of {total} agents. Groups (in the type / in the group): {types}."),
    "statement": N_("Statement"),
    "position": N_("place"),
    "mean": N_("mean"),
    "mean_rest": N_("mean of the others"),
    "difference": N_("difference (z)"),
    "no_distinguishing": N_(
        "No statement sets this type apart from every other type, and from the rest by at least half a standard "
        "deviation of the grid."
    ),
    "axis": N_("Axis"),
    "more": N_("and {n} more"),
    "memberships": N_("Membership"),
    "sure": N_(
        "{n} of {total} agents belong to one type with a probability of at least {limit} (Gaussian mixture with "
        "a common covariance on {m} principal components)."
    ),
    "unsure": N_("{total} agents stand in between; the {n} least certain:"),
    "legend": N_(
        "Place: where the statement stands in the common sort of the type. Difference: from all other agents, in "
        "standard deviations of the grid. This describes the types; a test would be circular, for they were "
        "formed from the same answers."
    ),
    "no_memberships_few": N_("No probabilities: too few agents for the number of parameters."),
    "no_memberships_flat": N_("No probabilities: the agents do not differ."),
    "no_memberships_diverged": N_("No probabilities: the mixture found no solution."),
    "components": N_("Principal components"),
    "component": N_("Component"),
    "explained": N_("variance"),
    "by_chance": N_("chance (95%)"),
    "loadings": N_("highest loadings"),
    "above": N_(
        "{n} components explain more than chance achieves (parallel analysis); the first two together {first} of "
        "the variance ({agents} agents, {columns} columns; sort and axes count alike)."
    ),
    "no_components_few": N_("Principal components need at least two analysed agents."),
    "no_components_alike": N_("All analysed agents answered alike; there is nothing to decompose."),
    "statements": N_("Statements"),
    "distribution": N_("distribution"),
    "source": N_("Source"),
}
