"""Words of the longitudinal section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_, tell
from enquete.state.asking import Language

WORDS: Mapping[str, str] = {
    "title": N_("Longitudinal"),
    "intro": N_(
        "The same statements were put to the agents {waves}. Means and distributions rest on the answers as "
        "given; changes by family and agent on rekeyed values (↔ = reverse-keyed)."
    ),
    "both": N_("before (T0) and after (T1) the simulation"),
    "T0": N_("before the simulation (T0)"),
    "T1": N_("after the simulation, or without one (T1)"),
    "experience": N_(
        "**Experience effect, not drift.** T0 was reconstructed after the simulation had ended: the same "
        "personas without any memory. The differences show what memory changes in the answers, not how opinions "
        "moved over time. So there are no tests."
    ),
    "incomparable": N_(
        "**Drift is not interpretable.** {reasons}. A new T0 under the same conditions would be needed. What "
        "follows are descriptive figures without tests."
    ),
    "one": N_("There is only one wave; nothing can be said about change."),
    "waves": N_("Waves"),
    "items": N_("Answers by statement"),
    "change": N_("Change by statement (T1 − T0)"),
    "change_experience": N_("Experience effect by statement (T1 − reconstructed T0)"),
    "agents": N_("Change by agent"),
    "families": N_("Change by family and group"),
    "agents_experience": N_("Experience effect by agent"),
    "families_experience": N_("Experience effect by family and group"),
    "comments": N_("Longitudinal: open comments"),
    "wave": N_("Wave"),
    "answers": N_("answers / planned"),
    "people": N_("agents / all"),
    "memory": N_("with memory"),
    "statement": N_("Statement"),
    "n": N_("n / N"),
    "mean": N_("mean"),
    "median": N_("median"),
    "sd": N_("SD"),
    "distribution": N_("distribution"),
    "pairs": N_("pairs / agents"),
    "hl": N_("Hodges–Lehmann"),
    "effect": N_("rank-biserial r"),
    "cliff": N_("Cliff's δ"),
    "zero": N_("unchanged"),
    "ties": N_("ties"),
    "all": N_("all"),
    "type": N_("Group"),
    "family": N_("Family"),
    "delta": N_("mean Δ"),
    "unweighted": N_("unweighted"),
    "weighted": N_("weighted"),
    "figure": N_("Measure"),
    "abs": N_("mean absolute Δ (scale points)"),
    "signed": N_("mean Δ (scale points, rekeyed)"),
    "changed": N_("share of answers changed"),
    "agent": N_("Agent"),
    "movers": N_("The {n} agents that changed most (of {total} with complete pairs):"),
    "weights": N_(
        "Agents without memory ({n} of {total}) count {weight} in the weighted figures; {without} agents have no "
        "complete pair and are left out here."
    ),
    "pairing": N_(
        "{paired} of {total} agents answered in both waves ({only0} only at T0, {only1} only at T1, {neither} at "
        "neither); {pairs} of {possible} possible pairs of answers are complete."
    ),
    "tests": N_(
        "Two-sided Wilcoxon signed-rank test on raw values, zeros left out; 95% intervals in brackets (bootstrap "
        "over agents; no bracket: too few pairs, or all samples agree). “One direction”: all changes go that "
        "way, every sample gives ±1 again, and so there is no interval. A Hodges–Lehmann interval that has "
        "collapsed ([0.50; 0.50]) is no precision: on a scale of few points so many differences are tied that "
        "nearly every sample has the same median. Over all agents read Holm, by group Benjamini–Hochberg (BH)."
    ),
    "one_way": N_("one direction"),
    "untestable": N_(
        "{n} of {total} rows by group are not tested (p: –): at most five agents changed, and then no outcome "
        "can reach p < .05. They do not count in the correction; their change is described."
    ),
    "frame": N_(
        "Tests and intervals over simulated agents describe this run, not people: all agents share one model and "
        "one wording. The unit of inference is run × wording."
    ),
    "top": N_("The {n} of {total} rows with the smallest p, the smallest first; all are in {where}."),
    "top_change": N_("The {n} of {total} rows with the largest change, the largest first; all are in {where}."),
    "by_type": N_("Statements by group"),
    "reliable": N_("Reliable change (RCI)"),
    "scale": N_("Scores"),
    "rtt": N_("r_tt [95%] (n)"),
    "up": N_("up"),
    "down": N_("down"),
    "share_beyond": N_("beyond the limit"),
    "by_chance": N_("by noise alone"),
    "why": N_("no RCI because"),
    "share_placebo": N_("placebo beyond (pairs)"),
    "beyond_placebo": N_("difference in percentage points"),
    "rci": N_(
        "RCI = Δ / (SD·√(2(1 − r_tt))), limit ±{limits} (Student's t for the n agents of the retest). r_tt is "
        "from the retest at {phase}. Where nobody changes, {chance} of the agents lie beyond the limit on "
        "average all the same; in brackets the share that it would be if r_tt lay at an end of its 95% interval. "
        "Only a share clearly above that speaks for change; which one of the agents has changed it does not say."
    ),
    "rci_placebo": N_(
        "The yardstick here is the placebo: the same agents with a neutral memory, by the same limits. The "
        "difference is main arm minus placebo, in brackets its 95% interval over agents; if that holds 0, no "
        "more agents changed than with any memory."
    ),
    "no_retest": N_("Without a retest arm it is not known how far answers vary of themselves: no RCI."),
    "overall": N_("all statements"),
    "placebo": N_("Drift minus placebo"),
    "placebo_experience": N_("T1 with the own memory minus T1 with a neutral one"),
    "main": N_("Δ main arm"),
    "placebo_delta": N_("Δ placebo"),
    "difference": N_("difference"),
    "p_holm": N_("p (Holm)"),
    "placebo_note": N_(
        "{n} agents were also asked at T1 with a neutral memory ({baseline}). Rekeyed values, weighted; 95% "
        "intervals over agents of this run, each line's own. p: Wilcoxon's test of the difference by agent, by Holm over "
        "all families and over all statements; below 0.05, drift goes beyond what any memory brings about."
    ),
    "own_baseline": N_("with a T0 of its own"),
    "shared_baseline": N_("starting from the main arm's T0"),
    "listed": N_("{n} of {total} comments at {wave} (planned: {planned}):"),
    "source": N_("Source"),
    "rows": N_("rows `{where}` of all_responses.csv"),
}

REASONS: Mapping[str, str] = {
    "no agent has both scores": N_("no agent has both scores"),
    "fewer than 2 agents": N_("fewer than 2 agents at T0"),
    "fewer than 3 agents": N_("fewer than 3 agents asked twice"),
    "no variation": N_("agents do not differ"),
    "the reliability is negative": N_("r_tt is negative: scores are noise"),
    "the reliability is 1": N_("r_tt is 1: there is no noise to compare with"),
}  # fmt: skip
"""How the reasons of analysis/reliable_change.py begin, and what a report says."""


def reason(given: str, language: Language) -> str:
    """A reason in the report's language; as given where it is not known here."""
    return next((tell(text, language) for start, text in REASONS.items() if given.startswith(start)), given)
