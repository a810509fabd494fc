"""What the columns of all_responses.csv mean, and the statuses of a row."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

COLUMN_MEANINGS: Mapping[str, str] = {
    "sim_id": N_("simulation"), "run_id": N_("run that asked"), "arm": N_("condition of answering"),
    "arm_role": N_("role of the arm; choose `main` before any analysis"),
    "respondent": N_("who answered; `human`: a person, who is no agent and plays none"),
    "methodology": N_("methodology"), "phase": N_("T0 before, T1 after the simulation (or without one)"),
    "session": N_("conversation or discussion; empty where there is none"), "round": N_("round; 0 where there is none"),
    "turn": N_("turn of a conversation; 0 where there is none"), "participant": N_("stable id of the respondent"),
    "agent_id": N_("the simulation's own index"), "agent_name": N_("name"), "stakeholder_type": N_("stakeholder type"),
    "item_id": N_("item, see below"), "family": N_("family, theme or scenario of the item"),
    "dimension": N_("dimension of a rating"), "reverse_keyed": N_("reverse-keyed item"),
    "scale_min": N_("lowest scale point; empty for open questions"),
    "scale_max": N_("highest scale point; empty for open questions"),
    "status": N_("what became of the item, see below"), "value": N_("the number as answered"),
    "value_rekeyed": N_("min + max − value where reverse-keyed, else value"),
    "choice": N_("the option chosen; of a ranking the list, of best–worst {best, worst} (JSON)"),
    "chosen": N_("the same in the options' labels"), "text": N_("open answer, or the reason for a rating"),
    "content": N_("what a given answer lacks, see below; empty for all others"),
    "confidence": N_("self-reported confidence, 0–1"), "memory_available": N_("had a readable memory in this phase"),
    "baseline": N_("origin of T0, on T0 rows only"), "model": N_("model; empty where a person answered"),
    "temperature": N_("temperature; empty where a person answered"), "language": N_("language of the interview"),
    "elicitation": N_("point answer or distribution"),
    "distribution": N_("probability of every option (a JSON object); empty for point answers. value then is the "
                       "median"),
    "item_position": N_("place in the order shown, from 1"),
    "option_order": N_("option values in the order shown (a JSON list)"),
    "attempts": N_("requests for the item's block; do not sum"), "prompt_hash": N_("hash of the block's first prompt"),
    "instrument_hash": N_("hash of the instrument"), "asked_at": N_("when the answer was stored (UTC)"),
    "latency_ms": N_("milliseconds for the block; do not sum"),
    "input_tokens": N_("input tokens of the block, on its first row only"),
    "output_tokens": N_("output tokens of the block, on its first row only"),
    "notes": N_("notes on the answer, separated by semicolons"),
}  # fmt: skip

OWN_COLUMN = N_("column of the methodology {methods}")

STATUS_MEANINGS: Mapping[str, str] = {
    "ok": N_("valid at once"), "repaired": N_("valid after asking again or mending"), "refused": N_("declined"),
    "invalid": N_("unreadable or off the scale in spite of asking again"), "failed": N_("the request failed"),
    "not_reached": N_("planned, not asked"),
}  # fmt: skip

CONTENT_MEANINGS: Mapping[str, str] = {
    "one_value": N_("nine in ten of the agent's answers to these items are the same"),
    "no_sentence": N_("no words, a placeholder, or words that go round in circles"),
    "refers_back": N_("refers to another answer (same as above)"),
    "same_text": N_("the agent's own answer to another item, word for word"),
    "repeats_scale": N_("nothing but options of the scale"),
    "repeats_question": N_("nothing but the question"),
    "other_language": N_("in another language than the interview"),
}
