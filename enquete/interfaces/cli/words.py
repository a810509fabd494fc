"""The terminal's own words. Interviews have their own language; this is that of the person typing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from enquete.locale import N_, SOURCE, in_language, languages
from enquete.state.visible_text import SYNTHETIC


def tongue(environment: Mapping[str, str] = os.environ) -> str:
    """The locale's language (LC_ALL, LC_MESSAGES, LANG, in that order) where there is a catalogue of it, else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            named = re.split(r"[_.@]", environment[name].lower())[0]
            return named if named in languages() else SOURCE
    return SOURCE


def say(key: str, /, **values: object) -> str:
    """The text of this key in the terminal's language."""
    return in_language(TEXTS, tongue())[key].format(**values)


TEXTS: Mapping[str, str] = {
    "topic": N_("Topic"),
    "items": N_("Items"),
    "phases": N_("Phases"),
    "agents_all": N_("Agents"),
    "types": N_("Stakeholder types"),
    "not_completed": N_("not completed ({status})"),
    "drafted": N_("Drafts in {folder}, on: {themes}"),
    "draft_cost": N_(
        "{model} will be asked about {requests} times: likely {tokens} tokens ({usd} USD), more where something is asked for again."
    ),
    "draft_confirm": N_("Ask it?"),
    "draft_spent": N_("The model took {tokens} tokens."),
    "draft_next": N_("Read them, edit them, try them: enquete check SIM --instrument {folder}/FILE --pilot 8"),
    "deletes": N_("To be deleted for good: what Enquete wrote of {sim} in {path} ({files} files, {size} MB), the runs"),
    "delete_keeps": N_("Kept, because Enquete did not write it:"),
    "delete_graphs": N_("What was sent to {graphs} stays there."),
    "delete_confirm": N_("Delete?"),
    "delete_declined": N_("nothing was deleted"),
    "deleted": N_("Deleted: {runs} runs"),
    "accepted": N_("No drafts any more: {names}"),
    "unfit": N_("{why} Ask nevertheless?"),
    "reviewed": N_("{file}: read as an instrument for {method}"),
    "review_ok": N_("The rules find nothing to change in its items."),
    "review_found": N_("{n} remarks on its items. They are advice: rules know words, not what you mean."),
    "pilot_confirm": N_("Ask these agents?"),
    "pilot_item": N_("Item"),
    "pilot_answers": N_("answers"),
    "pilot_values": N_("different"),
    "pilot_apart": N_("other order"),
    "pilot_told": N_("remarks"),
    "pilot_unread": N_("not everybody's answer could be read"),
    "pilot_no_variance": N_("everybody says the same"),
    "pilot_order_effect": N_("answered otherwise in another order"),
    "pilot_kept": N_("The pilot's run is in {path}."),
    "completed": N_("completed"),
    "awaiting_simulation": N_("awaiting the simulation"),
    "waiting": N_("waiting for a person"),
    "paused": N_("paused"),
    "damaged": N_("damaged"),
    "newer": N_("of a newer version"),
    "failed": N_("failed"),
    "page_at": N_("The page is at {address}"),
    "done": N_("done"),
    "short": N_("stopped early"),
    "not started": N_("not started"),
    "run": N_("Run {run_id} of {sim_id}: {status}"),
    "note": N_("Why: {note}"),
    "resumed": N_("The run was unfinished and has been resumed; what had been answered was not asked again."),
    "shown": N_("This run is finished already; nothing was asked. Add --new for another one."),
    "synthetic": SYNTHETIC,
    "model": N_("Answered by {model}, temperature {temperature:g}."),
    "asked": N_("Asked: {methods}; {agents} agents, in {language}."),
    "language_de": N_("German"),
    "language_en": N_("English"),
    "stage": N_("Stage"),
    "state": N_("State"),
    "agents": N_("Answered"),
    "complete": N_("Complete"),
    "answers": N_("Answers"),
    "tokens": N_("Tokens"),
    "to_come": N_("Likely more"),
    "of_expected": N_("{spent} of {expected}"),
    "tokens_uncapped": N_("{spent} tokens"),
    "in_the_end": N_("likely {tokens} in the end"),
    "usd_spent": N_("{usd} USD"),
    "usd_in_the_end": N_("likely {usd} USD in the end"),
    "running": N_("running"),
    "replay": N_("A replay of {run}: its ledger answered, nothing was sent and nothing paid."),
    "rerun": N_("A re-run of {run}: asked anew: {methods}; taken over: {carried}."),
    "failed_answers": N_("{count} answers failed. Ask once more for those, and only for those: {command}"),
    "failed_so_far": N_(
        "{count} answers have failed so far; once the run has stopped, they can be asked for once more."
    ),
    "failed_closed": N_(
        "{count} answers failed in rounds whose feedback has been given since: they are not asked again."
    ),
    "estimate_of": N_("Estimate for {agents} agents of {sim}: likely (least–most)."),
    "measured": N_("Measured on the prompts of {n} of {agents} agents."),
    "estimate_synthetic": N_(
        "The synthetic respondent answers: tokens are estimates, nothing is sent and nothing costs."
    ),
    "purpose": N_("Purpose"),
    "by": N_("Model"),
    "calls": N_("Calls"),
    "input": N_("Input tokens"),
    "output": N_("Output tokens"),
    "usd": N_("USD"),
    "total": N_("Total"),
    "unknown": N_("unknown"),
    "usd_of": N_("USD for {model}: {usd}"),
    "unpriced": N_("The price of {models} is unknown: name it in a price file (docs/budget.md)."),
    "time_needed": N_("Time: about {time} with {concurrency} requests in flight."),
    "time_unknown": N_("time unknown: how fast a model on this machine is, its answers tell while it runs"),
    "cap_tokens": N_("cap {cap} tokens"),
    "cap_usd": N_("cap {cap} USD"),
    "cap_fits": N_("It fits the budget ({cap})."),
    "laid_out": N_(
        "Laid out in {folder}: a methodology that works.\nNext:\n  pip install -e {folder}\n  pytest {folder}"
    ),
    "cap_exceeded": N_(
        "The upper estimate exceeds the budget ({cap}); {enough} would do. Without it nothing is asked unless "
        "--yes is given: the run then pauses at the cap and can be resumed."
    ),
    "cap_unknowable": N_("The budget ({cap}) cannot be held, because a price is unknown."),
    "answers_ok": N_("ok"),
    "answers_repaired": N_("repaired"),
    "answers_refused": N_("refused"),
    "answers_invalid": N_("invalid"),
    "answers_failed": N_("failed"),
    "none": N_("none"),
    "invalid": N_(
        "RUN INVALID: not one usable answer came back ({answers}). Nothing in the report can be used. Look at "
        "the key, the model name and the server, then: {command}"
    ),
    "bugs": N_(
        "{count} units of work broke on an error in Enquete and are without answers (tracebacks: table failures "
        "in {path}):"
    ),
    "flags": N_("Before you use the data:"),
    "more": N_("… and {count} more in the report"),
    "report": N_("Report: {path}"),
    "no_report": N_("no report yet"),
    "data": N_("Data: {path}"),
    "next": N_("Next:"),
    "next_report": N_("read the report"),
    "next_status": N_("see how far it is"),
    "next_resume": N_("go on"),
    "next_resume_budget": N_("go on with a cap that is likely to be enough ({spent} are spent)"),
    "next_retry": N_("ask once more for the {count} answers that failed"),
    "next_resume_simulation": N_("go on once the simulation has completed"),
    "next_resume_failed": N_("try again what failed, once the cause is removed"),
    "next_model": N_("ask a model instead"),
    "next_export": N_("write report and exports again from the ledger"),
    "next_run": N_("interview it"),
    "tokens_spent": N_("{spent} of {cap} tokens"),
    "left": N_("{time} left"),
    "round": N_("round {round}"),
    "batch": N_("batch {number} of {batches}"),
    "batch_done": N_("{done} of {total} done"),
    "time_batches": N_(
        "Time: in batches of up to 24 hours, at half the price; about {batches} of them one after another."
    ),
    "pausing": N_("pausing: calls in flight finish; once more to stop at once"),
    "stopped": N_(
        "stopped at once: what had been answered is in the ledger, only calls in flight are lost. Go on with: {command}"
    ),
    "not_begun": N_("stopped before the first question; nothing was asked"),
    "confirm": N_(
        "{agents} agents of {sim} will be interviewed by {model} at {server}.\nEstimate: {tokens} tokens, {usd} "
        "USD, {time}. {verdict}\nGo on?"
    ),
    "confirm_resume": N_(
        "The run on {agents} agents of {sim} is unfinished: {model} at {server} will be asked for the rest, "
        "likely {more} tokens ({spent} are spent). Go on?"
    ),
    "declined": N_("nothing was asked"),
    "no_simulations": N_("no simulation under {root}"),
    "no_runs": N_("no runs"),
    "runs_of": N_("Runs of {sim}"),
    "simulations_under": N_("Simulations under {root}"),
    "simulation": N_("Simulation"),
    "runs": N_("Runs"),
    "latest": N_("Latest"),
    "methods": N_("Methodologies"),
    "method": N_("Methodology"),
    "title": N_("Title"),
    "status": N_("Status"),
    "created": N_("Started"),
    "language": N_("Language"),
    "exported": N_("Written again from the ledger: {path}"),
    "own": N_("default server"),
    "waits_for": N_("It waits for the model server: {batches}"),
    "driven": N_("A process is driving it right now; the figures are those of this moment."),
    "killed": N_("no end is filed: its process was killed. Nothing is lost; resume it"),
    "found": N_("What was found:"),
    "nothing_remembered": N_("Nothing that was said fits."),
    "episodes_sent": N_("Sent: {sent} episodes"),
    "episodes_left": N_("{left} could not be sent ({why}); to try again, call this once more:"),
    "unsent": N_("The memory was not told everything ({why}); episodes to be sent: {count}. Send them with: {command}"),
    "no_preferences": N_("No answers have been compared yet (a run with --respondent-b compares them)."),
    "question_type": N_("Question"),
    "stakeholder_type": N_("Stakeholders"),
    "configuration": N_("Configuration"),
    "win_rate": N_("Win rate (95% interval)"),
    "wins": N_("Wins"),
    "ties": N_("Ties"),
    "n": N_("n"),
    "demo_start": N_(
        "The demo interviews invented stakeholders of {topic}, before and after a simulation. No key is needed: "
        "the built-in synthetic respondent answers, in {language}."
    ),
    "demo_copied": N_(
        "1. A simulation that has just started was laid out in {path} ({agents} agents, {actions} actions so far)."
    ),
    "demo_t0": N_("2. T0, before the simulation: every agent gets the questionnaire and has no memories yet."),
    "demo_paused": N_(
        "3. The run has stopped by itself and waits for the simulation (a program would see exit code 4). Its "
        "token: {token}"
    ),
    "demo_completed": N_(
        "4. The simulation runs to its end: {actions} actions in two OASIS databases, run_state.json now says "
        "completed."
    ),
    "demo_t1": N_(
        "5. Resumed: T1, the same questionnaire to the same agents, who now remember what they did and saw. "
        "Then: {methods}."
    ),
    "demo_end": N_("That was the demo.\n"),
}
