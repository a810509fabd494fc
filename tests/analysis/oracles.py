"""Every statistic against its oracle: the registry that README.md is printed from and that a test keeps true.

A line names the function, where the expected figure comes from, the figure itself, the test that holds them together,
and
its proof: what stands in that test's source (the figure, or the call of the oracle). To add a statistic, add a line and
run `python -m tests.analysis.test_oracles`.
"""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """One statistic. function: package.module.name in enquete/analysis; test: file::function in tests/analysis."""

    statistic: str
    function: str
    oracle: str
    expected: str
    test: str
    proof: str


ANY = "equal on random data"

CHANGE = (
    Line("Wilcoxon signed-rank, V and p", "change.wilcoxon", "R, wilcox.test: depression data (Hollander & Wolfe 1973)",
         "V = 40, p = .0390625", "test_paired.py::test_depression_example_of_r", "0.0390625"),
    Line("the same with ties and zeros", "change.wilcoxon", "by hand: 8 of 16 sign patterns", "W+ = 8, W− = 2, p = .5",
         "test_paired.py::test_ties_and_zeros_by_hand", "(8, 2)"),
    Line("the same, exact and approximate", "change.wilcoxon", "scipy.stats.wilcoxon", ANY,
         "test_paired.py::test_exact_and_approximate_p_against_scipy", "stats.wilcoxon("),
    Line("Hodges–Lehmann estimate", "change.hodges_lehmann", "all Walsh averages, enumerated", ANY,
         "test_paired.py::test_hodges_lehmann_is_the_median_of_all_walsh_averages", "median"),
    Line("Holm's correction", "change.holm", "R, p.adjust, by hand", ".05 .08 .09 .09 .09",
         "test_paired.py::test_holm_and_bh_by_hand", "[0.05, 0.08, 0.09, 0.09, 0.09]"),
    Line("Benjamini–Hochberg correction", "change.benjamini_hochberg", "Benjamini & Hochberg 1995, section 3.2",
         "4 of 15 rejected", "test_paired.py::test_benjamini_hochberg_1995_example", "== 4"),
    Line("sign flips of a mean change", "sign_flips.mean_change", "by hand: 2 of 64 sign patterns",
         "p = 1/32",
         "test_sign_flips.py::test_ten_pairs_alike_and_six_that_rise_by_hand", "1 / 32"),
    Line("BCa bootstrap interval", "estimates.bca", "scipy.stats.bootstrap", "within .02",
         "test_bootstrap.py::test_bca_is_that_of_scipy", "bootstrap("),
    Line("smallest attainable p", "change.smallest_p", "wilcoxon of changes in one direction", "2·½ⁿ",
         "test_paired.py::test_smallest_p_is_that_of_all_changes_in_one_direction", "wilcoxon("),
    Line("drift per agent", "change.drift_per_agent", "by hand", "(2 + 1 + 3)/3 points",
        "test_drift.py::test_drift_by_hand",
         "(2 + 1 + 3) / 3"),
    Line("drift of the population, weighted", "change.population_drift", "by hand", "(1·2 + .5·0)/1.5",
         "test_drift.py::test_weighted_and_unweighted_side_by_side", "(1 * 2 + 0.5 * 0) / 1.5"),
    Line("mean with its interval", "estimates.mean_of", "scipy.stats.ttest_1samp", ANY,
         "test_means.py::test_interval_is_scipys_and_ends_at_the_scale", "ttest_1samp("),
)  # fmt: skip

TOGETHER = (
    Line("max-T over sign flips", "inference.max_t",
        "its definition, flip by flip; power beside Wilcoxon's and Holm's", ANY,
         "test_inference.py::test_max_t_is_the_definition", "product([1, -1]"),
    Line("the same of one item of signs", "inference.max_t", "statsmodels, exact McNemar", "equal",
         "test_inference.py::test_max_t_of_one_item_of_signs_is_mcnemar", "mcnemar("),
    Line("intervals of the highest and the lowest", "inference.selected_intervals", "R, qt; planted means of 15 items",
        "covered by ≥ 93 %",
         "test_inference.py::test_selected_intervals_cover_the_highest_and_the_lowest", "0.93"),
    Line("the same of shares", "inference.share_intervals", "statsmodels, proportion_confint (Wilson)", "equal",
         "test_inference.py::test_share_intervals_are_wilsons", "proportion_confint("),
    Line("detectable change, association", "inference.detectable_change", "statsmodels, TTestPower, GofChisquarePower",
        "equal", "test_inference.py::test_detectable_effects_are_statsmodels", "TTestPower("),
    Line("detectable difference of groups", "inference.detectable_difference", "scipy, kruskal, on planted groups",
        "found in .80 ± .05", "test_inference.py::test_detectable_difference_is_found_four_times_in_five", "kruskal("),
    Line("Holm over a study", "inference.over_questions", "statsmodels, multipletests", ANY,
         "test_inference.py::test_questions_of_one_test_each_are_holms", "multipletests("),
    Line("medians of the others", "feedback.medians_of_others", "numpy's median of all but one", ANY,
         "test_feedback.py::test_medians_of_the_others_by_the_definition", "nanmedian("),
    Line("camps", "panel.camps_p", "all 27 panels of three ratings on three points", "within 4 SE",
         "test_camps.py::test_p_of_an_even_spread_by_hand", "repeat=3"),
    Line("groups compared: all variables jointly", "groups.compare_groups",
        "scipy.stats.kruskal over all 252 relabellings", ANY,
         "test_compare_groups.py::test_what_variables_have_in_common_counts_once", "combinations(range(10), 5)"),
    Line("groups compared: shares", "groups.compare_groups", "scipy.stats.fisher_exact", "equal",
         "test_compare_groups.py::test_shares_and_categories", "fisher_exact("),
)  # fmt: skip

AGREEMENT = (
    Line("Kendall's W with ties", "agreement.kendall_w", "R, irr::kendall(anxiety)", "W = .540, χ² = 30.8, p = .0429",
         "test_kendall.py::test_anxiety_example_of_irr", "0.540"),
    Line("Friedman", "agreement.friedman", "R, friedman.test(RoundingTimes)", "χ² = 11.1429, p = .003805",
         "test_friedman.py::test_rounding_times_example_of_r", "0.003805"),
    Line("quadratic-weighted κ", "agreement.weighted_kappa", "R, irr::kappa2(anxiety[, 2:3]); by hand", ".252",
         "test_kappa.py::test_kappa_of_two_raters_one_of_whose_categories_nobody_chose", "0.252"),
    Line("Krippendorff's α over sets (MASI)", "agreement.coding_agreement", "by hand: Dₒ = ⅓, Dₑ = .6", "4/9",
         "test_coding_agreement.py::test_alpha_by_hand", "4 / 9"),
    Line("van der Eijk's A", "panel.agreement", "R, agrmt: agreement() in its manual", ".6113333",
         "test_dispersion.py::test_agreement_example_of_agrmt", "0.6113333"),
    Line("Tastle–Wierman consensus", "panel.consensus", "by hand: half on 2, half on 4", "1 + log₂ ¾",
         "test_dispersion.py::test_consensus_by_hand", "1 + math.log2(1 - 1 / 4)"),
    Line("bimodality coefficient", "panel.bimodality", "by hand: 1, 1, 5, 5", "1/7.5",
         "test_dispersion.py::test_bimodality_by_hand", "1 / 7.5"),
    Line("quartiles of type 7", "panel.describe", "by hand", "1.75, 3, 4.25",
         "test_dispersion.py::test_describe_by_hand", "(1.75, 3, 4.25, 2.5)"),
    Line("convergence", "panel.converge", "by hand: 1 2 3 4 5 → 2 3 3 3 5", "ΔIQR = −2",
         "test_convergence.py::test_convergence_by_hand", "(2, 0, -2)"),
    Line("net change and variation", "panel.stability", "by hand: 1 2 3 4 → 2 2 3 5", ".5",
         "test_stability.py::test_net_change_and_variation_by_hand", "0.5"),
    Line("consensus, stability, polarisation by round", "panel.panel_measures", "by hand: half and half on 2 and 4",
         "A = 1/6", "test_panel.py::test_consensus_stability_and_polarisation_are_three_answers", "1 / 6"),
    Line("hold-outs", "feedback.hold_outs", "by hand: seven panelists about the median 4", "p3",
         "test_holdouts.py::test_who_stayed_off_the_median_and_came_no_closer", '("p3",)'),
    Line("camps", "feedback.camps", "by hand: the widest parting of 1 1 2 4 5 5", "2 | 4",
         "test_holdouts.py::test_camps_part_where_the_ratings_do", "(2, 4)"),
)  # fmt: skip

GROUPS = (
    Line("Kruskal–Wallis and ε²", "association.kruskal_wallis", "R, kruskal.test(airquality)",
        "H = 29.267, p = 6.901e−06",
         "test_groups.py::test_airquality_example_of_r", "6.901e-06"),
    Line("Cramér's V", "association.cramers_v", "R, chisq.test: party (Agresti 2007); Bergsma 2013 by hand",
        "χ² = 30.07",
         "test_association.py::test_party_example_of_r", "30.07"),
    Line("interval of V", "association.cramers_v", "a planted V of .5, 60 panels of 50", "covered by 88 to 100 %",
         "test_association.py::test_intervals_cover_the_planted_effect", "0.88"),
    Line("interval of ε²", "association.epsilon_squared", "a planted ε² of .286, 60 panels of 50",
        "covered by 88 to 100 %",
         "test_association.py::test_intervals_cover_the_planted_effect", "0.88"),
    Line("Spearman's ρ", "association.spearman", "R, cor.test: tuna (Hollander & Wolfe 1973)", "ρ = .6",
         "test_association.py::test_correlation_example_of_r", "0.6"),
    Line("associations of all findings", "association.cross_table", "a planted association", "that pair and no other",
         "test_crosstable.py::test_planted_association_is_found_and_no_other", '("archetype", "drift")'),
    Line("pairwise Wilcoxon, Holm", "agreement.pairwise_wilcoxon", "R, p.adjust, by hand over three pairs", "3p, 2p, p",
         "test_posthoc.py::test_every_pair_is_tested_within_raters_and_adjusted_over_all", "3 * p[low]"),
    Line("permutation p", "inference.permutation_p", "all relabellings, enumerated", "17/70",
         "test_permutation.py::test_random_relabellings_never_give_zero_and_agree_with_enumeration", "17 / 70"),
    Line("polarity", "association.polarity", "by hand: (7, 2), (1, 2), (4, 7) on 1–7", "−2/3, 2/3, 0",
         "test_polarity.py::test_polarity_by_hand", "-2 / 3, 2 / 3, 0"),
    Line("variance components", "probes.variance_components", "R, lme4: Dyestuff", "1764.05 and 2451.25",
         "test_components_of_variance.py::test_dyestuff_example_of_lme4", "1764.05"),
)  # fmt: skip

VIEWS = (
    Line("principal components", "components.principal_components", "by hand", ".8, .2",
         "test_components.py::test_components_by_hand", "[0.8, 0.2]"),
    Line("clusters", "typology.clusters", "by construction", "labels by size",
        "test_typology.py::test_labels_go_by_size",
         "[1, 1, 0, 0, 0, 0, 0, 2, 2]"),
    Line("number of types", "typology.types", "planted: 2, 3 and 6", ANY,
        "test_typology.py::test_planted_types_are_counted",
         "len(sizes)"),
    Line("probabilities of types", "typology.memberships", "scikit-learn's GaussianMixture", "within .005",
         "test_typology.py::test_memberships_are_those_of_scikit_learn", "model.predict_proba("),
    Line("silhouettes", "typology.silhouettes", "scikit-learn's silhouette_samples", ANY,
         "test_clustering.py::test_silhouettes_are_those_of_scikit_learn", "silhouette_samples("),
    Line("contrasts of a cluster", "qmethod.contrasts", "by hand", "−2/SD", "test_qsort.py::test_contrasts_by_hand",
         "-2 / sd"),
    Line("Q analysis: loadings, flags, z, arrays", "qmethod.q_analysis", "R, qmethod 1.8.4: lipset",
        "all loadings to 1e−4",
         "test_qmethod.py::test_lipset_by_principal_components_as_in_qmethod", "lipset.PCA_LOADINGS"),
    Line("person correlations", "qmethod.standardised", "KADE (lipset, to .005); numpy.corrcoef",
         "36 pairs", "test_qmethod_extraction.py::test_correlations_of_lipsets_sorts", "lipset.CORRELATIONS"),
    Line("varimax", "qmethod.varimax", "statsmodels rotate_factors", ANY,
         "test_qmethod_rotation.py::test_agreement_with_statsmodels", "theirs"),
    Line("flagging threshold", "qmethod.threshold", "by hand: 1.96/√24", ".400",
         "test_qmethod_flags.py::test_threshold_by_hand", "0.400"),
    Line("weights l/(1 − l²)", "qmethod.weights", "by hand", ".5/.75", "test_qmethod_scores.py::test_weights_by_hand",
         "0.5 / 0.75"),
    Line("standard errors of z", "qmethod.standard_error", "by hand", ".4472",
         "test_qmethod_scores.py::test_errors_by_hand", "0.4472"),
    Line("distinguishing and consensus statements", "qmethod.comparisons", "by hand", "SED = √(2/13)",
         "test_qmethod_statements.py::test_levels_by_hand", "(2 / 13) ** 0.5"),
    Line("number of factors", "qmethod.number_of_factors", "numpy's eigenvalues of lipset; Kaiser by counting them",
        "4 above 1",
         "test_qmethod_number.py::test_lipset", "(2, 4)"),
)  # fmt: skip

HEALTH = (
    Line("mean squared correlation of items", "coherence.mean_squared_correlation", "numpy.corrcoef", ANY,
         "test_coherence.py::test_mean_squared_correlation_is_numpys_where_variances_are_equal", "(r**2).mean()"),
    Line("neighbours in the order shown", "coherence.order_smoothness", "by hand: 5/7 against −1/7", "6/7",
         "test_item_order.py::test_the_value_is_that_of_neighbours_less_that_of_all_pairs", "6 / 7"),
    Line("answers as expected masses", "quality.read_expected", "by hand", "1, 0, ½, 0, ½",
         "test_expected_answers.py::test_mass_by_hand", "[1, 0, 0.5, 0, 0.5]"),
    Line("profiles alike", "coherence.profiles_alike", "numpy.corrcoef; SE by permutation", ANY,
         "test_coherence.py::test_profiles_alike_is_numpys_and_its_se_that_of_permuted_answers", "np.corrcoef(x)"),
    Line("1 − JSD, 1 − W₁", "quality.likeness_jsd", "by hand", "1 − .31128",
         "test_response_quality.py::test_likeness_by_hand", "0.31128"),
    Line("test–retest", "probes.retest", "by hand", "κ of a planted share", "test_probes.py::test_retest_by_hand",
        "kappa"),
    Line("variance of wordings", "probes.paraphrase", "by hand", ".5/3", "test_probes.py::test_paraphrase_by_hand",
         "0.5 / 3"),
    Line("Student's interval", "probes.student", "scipy.stats", ANY,
         "test_exposure_probes.py::test_student_is_scipys", "oracle.low"),
    Line("gaps of an item and a type", "quality.nonresponse", "exact binomial, Holm", "p = 6.41e−8",
         "test_nonresponse.py::test_one_item_that_a_type_refuses_is_found_below_five_per_cent", "6.41e-8"),
    Line("ICC(A,1) over orders", "agreement.components", "Shrout & Fleiss 1979, six targets, four judges", ".29",
         "test_arm_agreement.py::test_shrout_and_fleiss", "0.29"),
    Line("stratified κ", "agreement.stratified_kappa", "sklearn's cohen_kappa_score, one item", ANY,
         "test_arm_agreement.py::test_one_item_is_cohens_kappa", "cohen_kappa_score("),
    Line("stable or fragile claims", "probes.judge_claim", "binomial tails by hand: 2 of 4 agree",
        "11/16 and .0523",
         "test_replicates.py::test_tails_and_missing_by_hand", "11 / 16"),
    Line("drift without change", "quality.zero_drift", "by hand: 16, 17, 19 of 20", ".80, .85, .95",
         "test_plausibility.py::test_zero_drift", "1 - moved / 20"),
)  # fmt: skip

PREFERENCE = (
    Line(
        "Wilson's interval", "preference.wilson", "statsmodels, proportion_confint", ".2366 to .7634",
        "test_preference.py::test_wilsons_interval", "(0.2366, 0.7634)",
    ),
    Line(
        "win rate over agents' several answers", "preference.win_rate",
        "by hand: four agents, five alike answers each", "n_e = 3",
        "test_preference.py::test_an_agents_own_answers_count_as_little_as_they_say", "0.25 / 3",
    ),
    Line(
        "Bradley–Terry strengths", "preference.bradley_terry", "Agresti, Categorical Data Analysis: baseball",
        "1.58 … 0.68", "test_preference.py::test_strengths_of_a_league_are_the_published_ones", "[1.58, 1.44, 1.29",
    ),
    Line(
        "position bias of a critic", "preference.position_bias", "planted: always the first place", "20 of 20",
        "test_preference.py::test_a_critic_that_always_prefers_the_first_place_is_unusable", "20, 20, 20, 1.0",
    ),
)  # fmt: skip

LINES: tuple[Line, ...] = (*CHANGE, *TOGETHER, *AGREEMENT, *GROUPS, *VIEWS, *HEALTH, *PREFERENCE)

PLUMBING = {
    "answers": "reads and aligns tables", "diagnostics": "thresholds, and what is compared with them: docs/health.md",
    "content": "tells words that are no answer: tests/analysis/test_content.py",
    "group_feedback": "median, IQR and n as a panel is shown them: tests/methods/test_delphi_run.py",
    "stopping": "thresholds of rounds: tests/methods/roundtable/test_roundtable_measures.py",
    "vocabulary": "content words and their overlap: tests/analysis/test_vocabulary.py",
}  # fmt: skip
"""Modules that hold no statistic, and what they do instead."""
