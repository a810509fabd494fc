"""ACCORD (Gattrell et al. 2024, PLOS Medicine 21: e1004326): 35 items for reports of consensus exercises, in our own words.

It was written for panels of people; that this panel is simulated is said wherever an item asks about panellists.
"""

from __future__ import annotations

from enquete.locale import N_

ASKS = {
    "T1": N_("Title names the exercise and its method"),
    "I1": N_("Why a consensus exercise"),
    "I2": N_("Aim, audience, geographical scope"),
    "I3": N_("If an update: of what, and why"),
    "M1": N_("Protocol registered in advance"),
    "M2": N_("Who directs the exercise, with which expertise"),
    "M3": N_("Choice and number of panellists, and who chose"),
    "M4": N_("How panellists were invited"),
    "M5": N_("Part played by the public and those affected"),
    "M6": N_("Where questions and material come from"),
    "M7": N_("Systematic search of the literature"),
    "M8": N_("Which evidence panellists were given"),
    "M9": N_("Procedure by which consensus was sought"),
    "M10": N_("Form of questions and answers, reasons, new proposals"),
    "M11": N_("Purpose of each step"),
    "M12": N_("What counts as consensus, and why"),
    "M13": N_("Whether what was agreed was voted on again"),
    "M14": N_("How answers were collected, singly or in a group"),
    "M15": N_("How answers were processed"),
    "M16": N_("Piloting of material and questionnaire"),
    "M17": N_("Feedback after each step"),
    "M18": N_("Anonymity: where, towards whom, how ensured"),
    "M19": N_("Whether those directing it took part in decisions"),
    "M20": N_("Incentives to take part"),
    "M21": N_("Adaptations for better access"),
    "R1": N_("When each step took place, duration, delays"),
    "R2": N_("Deviations from the protocol"),
    "R3": N_("Panellists by step: number, response, characteristics"),
    "R4": N_("Outcome in words and figures"),
    "R5": N_("What was changed or removed, when and why"),
    "D1": N_("Strengths and limits of the exercise"),
    "D2": N_("Relation to existing literature"),
    "O1": N_("Endorsing organisations"),
    "O2": N_("Conflicts of interest and how they were handled"),
    "O3": N_("Funding and the funder's role"),
}
"""What an item asks for."""

ANSWERS = {
    "I2": N_("Aim and audience are to be added."),
    "M1": N_("The questionnaire is frozen (hash {instrument_hash}). A registration is to be added."),
    "M3": N_("All {n_total} agents of the run. How its population came about is to be added."),
    "M4": N_("Nobody was invited: the agents come from the simulation or a personas file."),
    "M5": N_("They played no part: simulated agents answered, no people."),
    "M6": N_(
        "{n_questions} open questions; the themes come from the answers to them. Who wrote the questions is "
        "to be added."
    ),
    "M8": N_("No summary of evidence; each agent had its persona, {n_with_memory} also a memory of the simulation."),
    "M9": N_("Delphi of {n_rounds} rounds."),
    "M10": N_(
        "Round 1: {n_questions} open questions. Then every theme on {dimensions}; from round 3 on with a "
        "reason. No new themes could be proposed after round 1."
    ),
    "M11": N_("Round 1 gathers themes, round 2 rates them, from round 3 on the ratings are reviewed after feedback."),
    "M12": N_(
        "Consensus: IQR ≤ {consensus_iqr}. Disputed: IQR > {disagreement_iqr}, A < {polarised_below}, or a "
        "split. The reasons for these limits are to be added."
    ),
    "M13": N_("Yes: all themes were rated in every round, agreed ones too."),
    "M14": N_("Every agent singly, in writing, by {models} ({respondents})."),
    "M15": N_(
        "Open answers were coded into {n_themes} themes by the model or, without one, by rule; ratings were "
        "summed up by median and IQR (type 7). Second coding: {second_coding_state}, α = {alpha}."
    ),
    "M17": N_("Median, IQR and n of every theme in the round before, and one's own ratings."),
    "M18": N_("Among the agents: only summary figures were fed back. The report names agents; they are no persons."),
    "M19": N_("No: themes and feedback were frozen by the program, nobody stepped in."),
    "M20": N_("Not applicable: no people."),
    "M21": N_("Not applicable: no people."),
    "R1": N_("{first_at} to {last_at}. Start and duration of the analysis are to be added."),
    "R3": N_("{n_total} agents; those of every step are in the table of rounds."),
    "R4": N_(
        "In the end {n_consensus} of {n_judged} themes in consensus, {n_disputed} disputed, {n_open} open; "
        "figures and reasons in the Delphi section."
    ),
    "R5": N_(
        "Coding dropped {dropped} themes (empty, double or over the limit); {uncoded} answers are without a "
        "theme. Nothing was changed after that."
    ),
    "D1": N_(
        "The agents share a model: their consensus is weak evidence, tests describe the run. The discussion "
        "is to be added."
    ),
}
"""What the run itself answers, over the facts of its Delphi."""

FILLED = frozenset(("M4", "M5", "M8", "M9", "M10", "M11", "M13", "M14", "M15", "M17", "M18", "M19", "R3", "R4", "R5"))
PARTLY = frozenset(("I2", "M1", "M3", "M6", "M12", "R1", "D1"))
NOT_APPLICABLE = frozenset(("M20", "M21"))
AFTER_A_RATING = frozenset(("M17", "R4"))
"""Items that the record answers only once the themes have been rated."""


def state(item: str, is_rated: bool) -> str:
    if item in AFTER_A_RATING and not is_rated:
        return "open"
    if item in NOT_APPLICABLE:
        return "not_applicable"
    return "filled" if item in FILLED else "partly" if item in PARTLY else "open"
