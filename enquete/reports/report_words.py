"""The report's own words, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_, tell
from enquete.state.asking import Language

STATUSES = ("ok", "repaired", "refused", "invalid", "failed", "not_reached")

WORDS: Mapping[str, str] = {
    "title": N_("Interviews with a simulated population"),
    "synthetic": N_(
        "**Synthetic answers.** No language model was asked: a deterministic program made the answers. They test "
        "the procedure and say nothing about people or models."
    ),
    "llm": N_(
        "**Simulated respondents.** The language model {model} answered in the roles of the agents. No human "
        "being was interviewed."
    ),
    "partial": N_(
        "**Interim state.** The interviews are not finished (status: {status}); what is missing stands as "
        "not_reached in the tables."
    ),
    "all_failed": N_("Every request failed. This run holds no answers."),
    "what": N_(
        "Every agent of the simulation was asked with the same instruments. Every figure comes from the response "
        "table all_responses.csv or the files named; n / N always means: answered / planned."
    ),
    "field": N_("Field"),
    "entry": N_("Entry"),
    "source": N_("Source"),
    "run": N_("Run"),
    "sim": N_("Simulation"),
    "topic": N_("Topic"),
    "status": N_("Status"),
    "language": N_("Language"),
    "agents": N_("Agents"),
    "rows": N_("Rows of the response table"),
    "fingerprint": N_("Fingerprint of the settings"),
    "de": N_("German"),
    "en": N_("English"),
    "population": N_("Population"),
    "type": N_("Stakeholder type"),
    "n_agents": N_("Agents"),
    "share": N_("Share"),
    "answered": N_("with an answer / all"),
    "memory": N_("with memory (T1)"),
    "all": N_("all"),
    "population_hash": N_("Hash of the population"),
    "how": N_("How it was asked"),
    "arm": N_("Arm"),
    "role": N_("Role"),
    "respondent": N_("Respondent"),
    "model": N_("Model"),
    "temperature": N_("Temperature"),
    "seed": N_("Seed"),
    "asking_block": N_("Questions were asked in blocks: all of a part at once."),
    "asking_item": N_("Questions were asked one by one."),
    "elicit_point": N_("Every closed question asked for one answer."),
    "elicit_distribution": N_(
        "Closed questions asked for the probability of every option (elicitation = distribution), except in a "
        "sort. `value` is the median of this distribution; the distribution itself is in the column "
        "`distribution`."
    ),
    "section_distribution": N_(
        "*Asked for was the probability of every option. Values are the medians of these distributions, a point "
        "of the scale; the distributions are in the column `distribution` of all_responses.csv.*"
    ),
    "digest": N_("Memory digest: at most {n} characters an agent."),
    "instrument": N_("Instrument"),
    "version": N_("Version"),
    "hash": N_("Hash (SHA-256)"),
    "file": N_("File"),
    "baseline_measured": N_("T0 was measured before the simulation had ended (actions up to then: {actions})."),
    "baseline_reconstructed": N_(
        "T0 was reconstructed afterwards: the same personas without memory. Differences are called experience "
        "effect, not drift."
    ),
    "baseline_earlier": N_("T0 comes from the earlier run {run}; its personas hold for T1 too."),
    "baseline_none": N_("There is no T0; this run says nothing about change."),
    "assumed": N_("The simulation was treated as completed although it does not say so itself."),
    "counts": N_("Answers by status"),
    "method": N_("Methodology"),
    "phase": N_("Phase"),
    "round": N_("Round"),
    "responded": N_("n / N"),
    "people": N_("agents / all"),
    "counts_legend": N_(
        "ok: valid at once; repaired: valid after asking again; refused: declined; invalid: unreadable or off "
        "the scale in spite of asking again; failed: the request failed; not_reached: planned, not asked."
    ),
    "problems": N_("What failed, was repaired or reconstructed"),
    "no_problems": N_("Nothing: every planned answer was valid at once."),
    "p_repaired": N_("{n} of {total} answers were valid after asking again (repaired)."),
    "p_error": N_("{n} requests to the model failed: {text}"),
    "p_refused": N_("{n} of {total} answers were declined (refused)."),
    "p_invalid": N_("{n} of {total} answers stayed invalid (invalid)."),
    "p_failed": N_("{n} of {total} answers are missing because requests failed (failed)."),
    "p_not_reached": N_("{n} of {total} planned answers were not reached (not_reached)."),
    "p_reconstructed": N_("{n} of {total} rows belong to a reconstructed T0."),
    "p_memoryless": N_("{n} of {total} agents had no readable memory at T1."),
    "p_stage": N_("{method} ({phase}): {outcome}. {note}"),
    "p_bug": N_("A bug in {method} {phase}, round {round}, {unit}: {error}"),
    "p_lost": N_("{n} of {total} requests were interrupted; their cost is counted at the upper bound."),
    "p_notice": N_("Notice: {text}"),
    "outcome_failed": N_("failed"),
    "outcome_short": N_("stopped before everything was asked"),
    "outcome_waiting": N_("waiting for answers"),
    "outcome_": N_("not begun"),
    "outcome_done": N_("done"),
    "missing": N_("{outcome}; there are no findings yet."),
    "missing_bug": N_("The analysis was stopped by a bug: {error}. The answers are in all_responses.csv."),
    "spent": N_("Spent"),
    "purpose": N_("Purpose"),
    "calls": N_("requests"),
    "settled": N_("answered"),
    "c_failed": N_("failed"),
    "lost": N_("interrupted"),
    "sends": N_("sends"),
    "input": N_("input tokens"),
    "output": N_("output tokens"),
    "allowance": N_("tokens without an answer (upper bound)"),
    "total": N_("tokens in all"),
    "no_calls": N_("No request was made."),
    "spent_source": N_("ledger.sqlite; every request stands in audit.jsonl"),
    "s_completed": N_("completed"),
    "s_failed": N_("failed"),
    "s_paused": N_("paused"),
    "s_started": N_("begun"),
    "s_awaiting_simulation": N_("awaiting the simulation"),
    "s_waiting": N_("waiting for people's answers"),
    "limitations": N_("Limitations"),
    "appendix": N_("Appendix"),
    "synthesis": N_("Synthesis"),
}

DIMENSIONS = (
    N_("importance"), N_("plausibility"), N_("desirability"), N_("fairness"), N_("feasibility"), N_("probability"),
    N_("urgency"), N_("impact"),
)  # fmt: skip
"""Dimensions that an instrument may give by id alone."""


def dimension_name(dimension: str, language: Language) -> str:
    """The dimension's name in this language; its id, readable, where none is known."""
    return tell(dimension, language) if dimension in DIMENSIONS else dimension.replace("_", " ")


LIMITS: Mapping[str, str] = {
    "simulated": N_(
        "The respondents are simulated. No figure of this report describes people; there is no comparison with a "
        "real survey."
    ),
    "model": N_("What is measured is how {model} portrays each group, not the group."),
    "synthetic": N_(
        "What is measured is what the synthetic respondent has planted; patterns in the findings were put there."
    ),
    "inference": N_(
        "The unit of inference is the run. All {n} agents share one model and one prompt; tests and spreads over "
        "agents describe this one run and no sample. A wording shifts all of them at once."
    ),
    "digest": N_("The memory digest is lossy: at most {chars} characters, the agent's own and newest posts first."),
    "no_digest": N_("The agents answered without any memory of the simulation."),
    "memoryless": N_("{n} of {total} agents answered at T1 without readable memory; in weighted drift they count {w}."),
    "n": N_("N = {n} agents; {responded} of {rows} planned answers are there."),
    "instruments": N_("The findings hold for the wording of the instruments: {hashes}."),
    "reconstructed": N_(
        "T0 is reconstructed. The experience effect compares answers with and without memory; it is not drift."
    ),
    "actions": N_("When T0 was measured the simulation already had {n} actions; T0 is no untouched starting point."),
    "incomparable": N_("Drift is not interpretable: {why}."),
    "no_placebo": N_("There is no placebo arm and no replicate: drift cannot be told from the noise of asking again."),
    "confidence": N_("Confidence is the model's own statement and not calibrated."),
    "temperature": N_("At temperature {t} asking again would give other answers."),
    "shape": N_(
        "Language models tend to agree and to keep to the middle. Here {ends} of the closed answers lie at the "
        "ends of the scale and {midpoint} at the midpoint (n = {n}); the distribution shape of every item is in "
        "the appendix."
    ),
    "partial": N_("The run is incomplete; all figures are provisional."),
    "differential": N_(
        "The share of missing answers differs between groups: {low} ({low_type}) to {high} ({high_type})."
    ),
}
