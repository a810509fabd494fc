"""Instrument health in words, German and English: names of the checks, what they mean, reasons, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from enquete.analysis.health.thresholds import Basis
from enquete.locale import N_

Unit = Literal["share", "points", "coefficient", "count"]

VERDICTS: Mapping[str, str] = {
    "fine": N_("fine"),
    "caution": N_("caution"),
    "bad": N_("bad"),
    "information": N_("information"),
    "not computed": N_("not computed"),
    "usable": N_("usable"),
    "usable as far as checked": N_("usable as far as checked; reliability not tested"),
    "usable with caution": N_("usable with caution"),
    "not usable": N_("not usable"),
    "cannot be judged": N_("cannot be judged"),
    "interim": N_("interim: no verdict before everything is asked"),
    "nothing to judge": N_("nothing to judge yet"),
}


CHECKS: Mapping[str, tuple[Unit, str, str]] = {
    "zero_drift": ("share", N_("Agents without any change"), N_("Memory hardly affects the answers.")),
    "direction_flips": (
        "share",
        N_("Agents that change sides of the scale on at least half of the statements"),
        N_("That much turning round speaks of noise, not of opinions."),
    ),
    "unrevised": (
        "share",
        N_("Agents whose last ratings equal their first"),
        N_("The feedback has no effect; convergence cannot be measured."),
    ),
    "rated_alike": (
        "share",
        N_("Agents that find all scenarios equally desirable"),
        N_("The scenarios are not told apart."),
    ),
    "two_components": (
        "share",
        N_("Variance of the first two components"),
        N_("The answers hardly share a structure; types are doubtful."),
    ),
    "coherence": (
        "coefficient",
        N_("Coherence beyond chance, without agents' own levels (mean r)"),
        N_("The answers hang together hardly more than random ones."),
    ),
    "order_smoothness": (
        "coefficient",
        N_("Likeness of neighbours in the order shown, beyond other orders (r)"),
        N_("Answers repeat the one before instead of saying what is thought of the item."),
    ),
    "family_alpha": (
        "coefficient",
        N_("Consistency of the families (Cronbach's α, median)"),
        N_("Statements of one family do not go together."),
    ),
    "reversed_items": (
        "coefficient",
        N_("Agreement with statements and with reversed ones of the same family (r)"),
        N_(
            "Who agrees with a statement agrees with its opposite, too: answers do not follow what is said, or the keys are wrong."
        ),
    ),
    "answer_stability": (
        "coefficient",
        N_("Stability of the answers from wave to wave or round to round (r)"),
        N_("Who answers now this, now that has no opinion that could change."),
    ),
    "acquiescence": (
        "points",
        N_("Acquiescence (points of a five-point scale)"),
        N_("Statements of both directions are agreed or disagreed with."),
    ),
    "extreme_style": ("share", N_("Answers at the ends of the scale"), N_("That is far from what people do.")),
    "midpoint_style": ("share", N_("Answers at the midpoint"), N_("That is far from what people do.")),
    "straightlining": (
        "share",
        N_("Agents with very long rows of equal answers"),
        N_("Answers are ticked through instead of given."),
    ),
    "position_share": (
        "share",
        N_("Preference for the option shown first or last (excess)"),
        N_("The place of an option is no reason to choose it."),
    ),
    "flat_items": (
        "share",
        N_("Items that more than half of the pairs of agents answer alike"),
        N_("The agents hardly differ."),
    ),
    "variance_ratio": (
        "coefficient",
        N_("Spread relative to people's"),
        N_("Differences between people are understated."),
    ),
    "persona_flattening": (
        "coefficient",
        N_(
            "Likeness within types ahead of that between them (r of profiles without the items' means, within − "
            "between)"
        ),
        N_("Agents of different types answer no more differently than those of one type."),
    ),
    "refusal_rate": ("share", N_("Refused answers"), N_("What is missing is not missing at random.")),
    "repair_rate": ("share", N_("Answers valid only after asking again"), N_("The instrument or the model struggles.")),
    "contentless": (
        "share",
        N_("Agents whose answers say nothing"),
        N_("Rows of one value, and texts that repeat or are no sentences: see the column `content`."),
    ),
    "empty_texts": ("share", N_("Texts that say nothing"), N_("They explain nothing: see the column `content`.")),
    "missing_rate": ("share", N_("Invalid or failed answers"), N_("Resuming the run asks failed ones again.")),
    "refusal_by_type": (
        "share",
        N_("Largest difference between types in refusals"),
        N_("Types are not represented equally well."),
    ),
    "repair_by_type": (
        "share",
        N_("Largest difference between types in repairs"),
        N_("Types do not answer with equal ease."),
    ),
    "missing_by_type": (
        "share",
        N_("Largest difference between types in missing answers"),
        N_("Types are not represented equally well."),
    ),
    "human_jsd": (
        "coefficient",
        N_("Likeness to people's distribution (1 − JSD)"),
        N_("An even spread would be no further off."),
    ),
    "human_w1": (
        "coefficient",
        N_("Likeness to people's distribution (1 − Wasserstein)"),
        N_("An even spread would be no further off."),
    ),
    "test_retest": (
        "coefficient",
        N_("Agreement when asked again (weighted κ)"),
        N_("What a repeat does not reproduce is noise."),
    ),
    "option_order": (
        "coefficient",
        N_("Agreement with the options reversed (weighted κ)"),
        N_("An opinion does not depend on the order."),
    ),
    "option_order_shift": (
        "points",
        N_("Shift with the options reversed (points)"),
        N_("It shows a preference for a place."),
    ),
    "item_order": ("coefficient", N_("Agreement over orders of the items (ICC)"), N_("Neighbouring items rub off.")),
    "paraphrase": ("share", N_("Share of variance of the wording"), N_("The wording has a say.")),
    "persona_swap": (
        "share",
        N_("Share of the agreement on retest that another's persona takes away"),
        N_("The persona is hardly heeded."),
    ),
    "null_persona": (
        "share",
        N_("Share of the agreement on retest that is gone without a persona"),
        N_("It is rather the model that speaks than the persona."),
    ),
    "negative_control": (
        "count",
        N_("Control items with a sure drift"),
        N_("Nothing should have moved there: a shared shock moves everything."),
    ),
    "placebo_exposure": (
        "points",
        N_("Change under the own against a neutral memory (points)"),
        N_("The change is not surely due to what was experienced."),
    ),
    "false_median": (
        "coefficient",
        N_("Pull of a median that nobody gave"),
        N_("It is the number that is followed, not the panel."),
    ),
}
"""By name: unit of the value; by language what it is and what a caution means."""

BASES: Mapping[Basis, str] = {
    "people": N_("panels of people"),
    "chance": N_("a test"),
    "published": N_("a published benchmark"),
    "definition": N_("definition"),
    "proposal": N_("this project's proposal"),
}
"""What the bounds of a check rest on."""

PROBES: Mapping[str, str] = {
    "test_retest": N_("retest"),
    "option_order": N_("options reversed"),
    "item_order": N_("items shuffled"),
    "paraphrase": N_("paraphrase"),
    "persona_swap": N_("another's persona"),
    "null_persona": N_("no persona"),
    "negative_control": N_("negative control"),
    "placebo_exposure": N_("placebo"),
    "false_median": N_("false median"),
}
"""What a probe does, by the check that reads it."""

REASONS: Mapping[str, str] = {
    "above": N_("above the threshold"), "below": N_("below the threshold"),
    "cells_above": N_("surely above 5% for some items and types"),
    "no_more_than_chance": N_("no more than chance explains"), "agrees_with_both": N_("surely above 0"),
    "suspect_caching": N_("all answers equal although the temperature is above 0: probably a cache"),
    "persona_ignored": N_("answers stay the agent's though the persona does not"),
    "control_drifted": N_("control items moved"),
    "one_run": N_("over the agents of one run, who share its shocks; does not enter the verdict"),
    "follows_any_median": N_("the bogus median pulls like the true one"),
    "no_nearer_than_even": N_("no nearer than an even spread"), "types_alike": N_("types cannot be told apart"),
    "one_profile": N_("nearly one profile for all, and types cannot be told apart"),
    "one_type": N_("there is only one type"), "not_finished": N_("the interviews are not finished"),
    "reliability_not_tested": N_("nobody was asked again"),
    "retest_unread": N_("asked again, but nothing could be read from the answers"),
    "only_replicates": N_("asked again in replicates only, see there"), "undefined": N_("undefined"),
    "too_few_agents": N_("too few agents"), "too_few_texts": N_("too few texts"),
    "too_few_answers": N_("too few answers"), "too_few_items": N_("too few items with enough answers"),
    "too_few_pairs": N_("too few balanced pairs of statements"),
    "too_few_types": N_("too few types with enough agents"),
    "too_few_families": N_("too few families with answers that vary"),
    "small_families": N_("no family has three items"), "too_few_contrasts": N_("too few items in several wordings"),
    "one_keying": N_("no family has statements of both directions"),
    "short_scales": N_("scales have fewer than five points"),
    "no_midpoint": N_("no scale of five or more points has a midpoint"),
    "position_unclear": N_("the order shown is not known"), "no_option_order": N_("the order of options is not known"),
    "option_order_not_varied": N_("options stood alike for all"), "no_human_sd": N_("there are no data of people"),
    "no_human_marginals": N_("there are no data of people"), "no_variation": N_("too little variation"),
    "one_answer": N_("all agents give the same answers"),
    "follows_the_order": N_("surely more alike than in other orders of the items"),
    "asked_one_by_one": N_("items were asked one by one"),
    "own_orders": N_("every agent had an order of its own, and few items at once"),
    "no_pairs": N_("nobody answered both times"), "same_option_order": N_("the order of options was the same"),
    "same_item_order": N_("the order of items was the same"), "no_bogus_median": N_("no bogus median was shown"),
    "retest_is_noise": N_("asked again, the same agents agree no more than by chance"),
    "no_retest": N_("without a retest there is nothing to compare with"),
    "distribution": N_("probabilities were asked for, not one answer"), "reconstructed": N_("T0 is reconstructed"),
    "one_wave": N_("there is only one wave"), "incomparable": N_("T0 and T1 cannot be compared"),
    "no_revision": N_("there is no round of revision"), "no_desirability": N_("desirability is not asked"),
}  # fmt: skip
"""Reason codes of `Diagnostic` and of an overall verdict."""
