"""What each ACCORD item asks, in our words, and how the record of a run answers it. German and English.

Paraphrases are short: the items' own wording is in Gattrell et al. (2024), which is what a journal wants filled in.
"""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

Texts = Mapping[str, str]

ASKED: Mapping[str, str] = {
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

ANSWERED: Mapping[str, str] = {
    "I2": N_("Subject: {topic}. Aim and audience are to be added."),
    "M1": N_("The questionnaire is frozen (hash {instrument_hash}). A registration is to be added."),
    "M3": N_("All {n_agents} agents of the run: {types}. How its population came about is to be added."),
    "M4": N_("Nobody was invited: the agents come from the simulation or a personas file."),
    "M5": N_("They played no part: simulated agents answered, no people."),
    "M6": N_(
        "{n_questions} open questions; the themes come from the answers to them. Who wrote the questions is to "
        "be added."
    ),
    "M8": N_("No summary of evidence; each agent had its persona, {n_with_memory} also a memory of the simulation."),
    "M9": N_("Delphi of {n_rounds} rounds."),
    "M10": N_(
        "Round 1: {n_questions} open questions. Then every theme on {dimensions}; from round 3 on with a reason. "
        "No new themes could be proposed after round 1."
    ),
    "M11": N_("Round 1 gathers themes, round 2 rates them, from round 3 on the ratings are reviewed after feedback."),
    "M12": N_(
        "Consensus: IQR ≤ {consensus_iqr}. Disagreement: IQR > {disagreement_iqr} or A < {polarised_below}. The "
        "reasons for these limits are to be added."
    ),
    "M13": N_("Yes: all themes were rated in every round, agreed ones too."),
    "M14": N_("Every agent singly, in writing, by {models} ({respondents})."),
    "M15": N_(
        "Open answers were coded into {n_themes} themes ({coder}); ratings were summed up by median and IQR "
        "(type 7). {alpha}"
    ),
    "M17": N_("Median, IQR and n of every theme in the round before, and one's own ratings."),
    "M18": N_("Among the agents: only summary figures were fed back. The report names agents; they are no persons."),
    "M19": N_("No: themes and feedback were frozen by the program, nobody stepped in."),
    "M20": N_("Not applicable: no people."),
    "M21": N_("Not applicable: no people."),
    "R1": N_("{times}. Start and duration of the analysis are to be added."),
    "R3": N_("{responses}. Composition: {types}."),
    "R4": N_(
        "In the end {n_consensus} of {n_ratings} ratings in consensus, {n_disagreement} in disagreement, "
        "{n_open} open; figures and reasons in the Delphi section."
    ),
    "R5": N_(
        "Coding dropped {n_dropped} themes (empty, double or over the limit); {n_uncoded} answers are without a "
        "theme. Nothing was changed after that."
    ),
    "D1": N_(
        "The agents share a model: their consensus is weak evidence, tests describe the run. The discussion is "
        "to be added."
    ),
}

LABELS: Mapping[str, str] = {
    "title": N_("Delphi: ACCORD checklist"),
    "item": N_("Item"),
    "asks": N_("asks for"),
    "state": N_("state"),
    "answer": N_("answer from the run"),
    "filled": N_("filled"),
    "partly": N_("in part"),
    "open": N_("open"),
    "not_applicable": N_("not applicable"),
    "intro": N_(
        "ACCORD (Gattrell et al. 2024) lists 35 items for reports of consensus exercises, here in our own words. "
        "The run answers {filled}, {partly} in part, {not_applicable} do not apply, {open} only people can fill "
        "in. Check against the original list before publishing."
    ),
    "coder": N_("by the model or, without one, by rule"),
    "unknown": N_("unknown"),
    "alpha": N_("Second coding: α = {alpha}."),
    "no_alpha": N_("No second coding."),
    "time": N_("round {round}: {first} to {last}"),
    "no_times": N_("Times are not recorded"),
    "response": N_("round {round}: {n_responded} of {n_total}"),
}
