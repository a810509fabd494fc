"""Words of the Delphi section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

WORDS: Mapping[str, str] = {
    "title": N_("Delphi"),
    "intro": N_(
        "Themes were formed from the open answers of round 1, rated in round 2, and reviewed in round 3 after "
        "anonymous feedback of median and interquartile range (IQR, type 7)."
    ),
    "rounds": N_("Rounds"),
    "round": N_("Round"),
    "answers": N_("answers / planned"),
    "people": N_("agents / all"),
    "themes": N_("Themes"),
    "theme": N_("Theme"),
    "description": N_("Description"),
    "voiced": N_("agents"),
    "said": N_("statements"),
    "no_themes": N_("No themes have been formed yet, so nothing was rated."),
    "uncoded": N_("Answers of round 1 that belong to no theme: {n}."),
    "voices": N_("Delphi: evidence of the themes"),
    "ratings": N_("Delphi: ratings"),
    "dimension": N_("Dimension"),
    "n": N_("n / N"),
    "median": N_("median"),
    "iqr": N_("IQR"),
    "mean": N_("mean"),
    "A": N_("A"),
    "top": N_("top two points"),
    "label": N_("verdict"),
    "consensus": N_("consensus"),
    "disagreement": N_("disagreement"),
    "open": N_("open"),
    "legend": N_(
        "A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {c}. Disagreement: "
        "IQR > {d} or A < {a}."
    ),
    "convergence": N_("Delphi: convergence from round {a} to round {b}"),
    "paired": N_("pairs / N"),
    "delta": N_("ΔIQR"),
    "toward": N_("toward the median"),
    "away": N_("away from it"),
    "moved": N_("changed"),
    "towards": N_(
        "“Toward the median”: share of those who were off the median that was fed back and came closer to it."
    ),
    "unchanged": N_(
        "{n} of {paired} agents who rated in both rounds left every rating unchanged ({same} of {ratings} single "
        "ratings stayed the same)."
    ),
    "no_revision": N_("There is no round of revision yet; nothing can be said about convergence and disagreement."),
    "disagreements": N_("Persistent disagreement"),
    "none": N_("No theme is disputed after the last round."),
    "hold_outs": N_(
        "{n} of the {total} agents who rated both times hold out {distance} points or more off the median "
        "{median} ({below} below, {above} above)."
    ),
    "camps": N_(
        "two camps: {below} of {total} agents low, {above} high, {between} between; {stayed} stood in their camp "
        "in the round before."
    ),
    "scattered": N_("scattered, without camps and without hold-outs (median {median})."),
    "lower": N_("lower camp"),
    "upper": N_("upper camp"),
    "stands": N_("Verdict"),
    "stands_camps": N_("camps"),
    "stands_hold_outs": N_("hold-outs"),
    "stands_scattered": N_("scattered"),
    "against": N_("Hold-outs on themes without disagreement"),
    "against_some": N_(
        "On {n} ratings without disagreement somebody holds out. Shown are the {k} with the most hold-outs."
    ),
    "against_none": N_("Nobody holds out on themes without disagreement."),
    "below": N_("below the median"),
    "above": N_("above the median"),
    "no_reason": N_("no reason given"),
    "ranked": N_("Consensus, the closest agreement first"),
    "rank": N_("Rank"),
    "no_consensus": N_("No theme reaches consensus on importance."),
    "W": N_("Concordance of the rankings (Kendall's W)"),
    "raters": N_("agents"),
    "dropped": N_("with gaps"),
    "source": N_("Source"),
    "excerpt": N_("Evidence (the first {k} of {n}):"),
    "frame": N_(
        "Tests and intervals over simulated agents describe this run, not people: all agents share one model and "
        "one wording. The unit of inference is run × wording."
    ),
    "spread": N_(
        "Consensus (spread), stability (movement) and polarisation (camps) are measured apart; none follows from "
        "another."
    ),
    "tw": N_("Tastle–Wierman"),
    "bc": N_("bimodality"),
    "polarised": N_("camps"),
    "yes": N_("yes"),
    "no": N_("no"),
    "stability": N_("Delphi: stability between rounds"),
    "kappa": N_("weighted κ"),
    "net": N_("net change"),
    "stable": N_("stable"),
    "changed": N_("changed"),
    "delta_cv": N_("ΔCV"),
    "stability_note": N_(
        "Within the same agents, against the round before. Stable: net change of the histogram ≤ 15% (Scheibe, "
        "Skutsch & Schofer 1975). κ with quadratic weights; p of Wilcoxon's test, corrected over all ratings of "
        "the round; ΔCV: change of the coefficient of variation."
    ),
    "rule": N_(
        "Camps: A is below {a}, and at least a quarter of the raters stand on either side. There are hold-outs "
        "only where there are no camps: in both rounds they lay at least half the scale's width off the median "
        "fed back, on the same side, came no closer to it, and fewer than half of the raters stand there. Quoted "
        "first are those who kept their place and give a reason."
    ),
    "map": N_("Who stands where, by group (low / high / rated)"),
    "before": N_("before: {value}"),
    "top_disputes": N_("Shown are the {n} of {total} ratings with the least agreement (A)."),
    "ranking": N_("How firm the ranking is"),
    "k": N_("rank [95%]"),
    "mean_order": N_("by mean"),
    "p_top": N_("P(rank ≤ {k})"),
    "consensus_order": N_("by agreement"),
    "ranking_note": N_(
        "Bootstrap over agents ({draws} draws), {dimension}, round {round}. Mean Kendall τ-b with the order "
        "observed: {mean_tau} (mean), {consensus_tau} (agreement)."
    ),
    "second": N_(
        "Second coding: {n} of {total} answers were given to the themes a second time, in another order and "
        "without knowledge of the first. Krippendorff's α = {alpha} (MASI; from .80 reliable, from .67 "
        "tentative); {same} of the answers have exactly the same themes. The same model coded both times: an "
        "upper bound of what two people would find."
    ),
    "second_left": N_("Not compared: {n} answers that the second coding left out."),
    "second_off": N_("No second coding was wanted; how reliable the themes are was not measured."),
    "second_missing": N_("There is no second coding; how reliable the themes are was not measured."),
    "second_table": N_("Delphi: agreement of the codings"),
    "first_n": N_("first"),
    "second_n": N_("second"),
    "both_n": N_("both"),
}
