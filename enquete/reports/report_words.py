"""Words of the report that instruments and runs give by id: dimensions, and the limits of what a run can say."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_, tell
from enquete.state.asking import Language

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
    "simulated_and_people": N_(
        "{people} answered for themselves and are no sample of any group; all other respondents are simulated. No figure of this "
        "report describes a population of people; there is no comparison with a real survey."
    ),
    "people": N_(
        "The respondents are people, {people}, and no sample of any group. No figure of this report describes a population of people."
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
    "n_people": N_("N = {who}; {responded} of {rows} planned answers are there."),
    "n_so_far": N_("N = {who}; {responded} answers are there so far."),
    "instruments": N_("The findings hold for the wording of the instruments: {hashes}."),
    "reconstructed": N_(
        "T0 is reconstructed. The experience effect compares answers with and without memory; it is not drift."
    ),
    "idle": N_(
        "The simulation did nothing more between T0 and T1: what differs is an experience effect (answers with and without "
        "memory), not drift."
    ),
    "actions": N_("When T0 was measured the simulation already had {n} actions; T0 is no untouched starting point."),
    "incomparable": N_("Drift is not interpretable: {why}."),
    "no_placebo": N_("There is no placebo arm and no replicate: drift cannot be told from the noise of asking again."),
    "confidence": N_("Confidence is the model's own statement and not calibrated."),
    "temperature": N_("At temperature {t} asking again would give other answers."),
    "shape": N_(
        "Language models tend to agree and to keep to the middle. Here {ends} of the closed answers lie at the "
        "ends of the scale and {midpoint} at the midpoint (n = {n}); the distribution shape of every item is in "
        "health.json."
    ),
    "partial": N_("The run is incomplete; all figures are provisional."),
    "differential": N_(
        "The share of missing answers differs between groups: {low} ({low_type}) to {high} ({high_type})."
    ),
}
