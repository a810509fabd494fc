"""The terminal's own words in German and English. Interviews have their own language; this is that of the person typing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

Tongue = Literal["de", "en"]


def tongue(environment: Mapping[str, str] = os.environ) -> Tongue:
    """German where the locale says so (LC_ALL, LC_MESSAGES, LANG, in that order), else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "de" if environment[name].lower().startswith("de") else "en"
    return "en"


def say(key: str, /, **values: object) -> str:
    """The text of this key in the terminal's language."""
    return TEXTS[tongue()][key].format(**values)


TEXTS: Mapping[Tongue, Mapping[str, str]] = {
    "en": {
        "completed": "completed",
        "awaiting_simulation": "awaiting the simulation",
        "waiting": "waiting for a person",
        "paused": "paused",
        "damaged": "damaged",
        "newer": "of a newer version",
        "failed": "failed",
        "done": "done",
        "short": "stopped early",
        "not started": "not started",
        "run": "Run {run_id} of {sim_id}: {status}",
        "note": "Why: {note}",
        "resumed": "The run was unfinished and has been resumed; what had been answered was not asked again.",
        "shown": "This run is finished already; nothing was asked. Add --new for another one.",
        "synthetic": (
            "ANSWERED BY THE SYNTHETIC RESPONDENT: every answer was computed from planted positions, not given by a "
            "model or a person. The figures show that the instruments work; they say nothing about the world."
        ),
        "model": "Answered by {model}, temperature {temperature:g}.",
        "asked": "Asked: {methods}; {agents} agents, in {language}.",
        "language_de": "German",
        "language_en": "English",
        "stage": "Stage",
        "state": "State",
        "agents": "Answered",
        "complete": "Complete",
        "answers": "Answers",
        "tokens": "Tokens",
        "to_come": "Likely more",
        "of_expected": "{spent} of {expected}",
        "tokens_uncapped": "{spent} tokens",
        "in_the_end": "likely {tokens} in the end",
        "usd_spent": "{usd} USD",
        "usd_in_the_end": "likely {usd} USD in the end",
        "running": "running",
        "replay": "A replay of {run}: its ledger answered, nothing was sent and nothing paid.",
        "rerun": "A re-run of {run}: asked anew: {methods}; taken over: {carried}.",
        "failed_answers": "{count} answers failed. Ask once more for those, and only for those: {command}",
        "failed_so_far": "{count} answers have failed so far; once the run has stopped, they can be asked for once more.",
        "failed_closed": "{count} answers failed in rounds whose feedback has been given since: they are not asked again.",
        "estimate_of": "Estimate for {agents} agents of {sim}: likely (least–most).",
        "measured": "Measured on the prompts of {n} of {agents} agents.",
        "estimate_synthetic": "The synthetic respondent answers: tokens are estimates, nothing is sent and nothing costs.",
        "purpose": "Purpose",
        "by": "Model",
        "calls": "Calls",
        "input": "Input tokens",
        "output": "Output tokens",
        "usd": "USD",
        "total": "Total",
        "unknown": "unknown",
        "usd_of": "USD for {model}: {usd}",
        "unpriced": "The price of {models} is unknown: name it in a price file (docs/prices.md).",
        "time_needed": "Time: about {time} with {concurrency} requests in flight.",
        "cap_tokens": "cap {cap} tokens",
        "cap_usd": "cap {cap} USD",
        "cap_fits": "It fits the budget ({cap}).",
        "laid_out": "Laid out in {folder}: a methodology that works.\nNext:\n  pip install -e {folder}\n  pytest {folder}",
        "cap_exceeded": (
            "The upper estimate exceeds the budget ({cap}); {enough} would do. Without it nothing is asked unless --yes "
            "is given: the run then pauses at the cap and can be resumed."
        ),
        "cap_unknowable": "The budget ({cap}) cannot be held, because a price is unknown.",
        "answers_ok": "ok",
        "answers_repaired": "repaired",
        "answers_refused": "refused",
        "answers_invalid": "invalid",
        "answers_failed": "failed",
        "none": "none",
        "invalid": (
            "RUN INVALID: not one usable answer came back ({answers}). Nothing in the report can be used. "
            "Look at the key, the model name and the server, then: {command}"
        ),
        "bugs": "{count} units of work broke on an error in Enquete and are without answers (tracebacks: table failures in {path}):",
        "flags": "Before you use the data:",
        "more": "… and {count} more in the report",
        "report": "Report: {path}",
        "no_report": "no report yet",
        "data": "Data: {path}",
        "next": "Next:",
        "next_report": "read the report",
        "next_status": "see how far it is",
        "next_resume": "go on",
        "next_resume_budget": "go on with a cap that is likely to be enough ({spent} are spent)",
        "next_retry": "ask once more for the {count} answers that failed",
        "next_resume_simulation": "go on once the simulation has completed",
        "next_resume_failed": "try again what failed, once the cause is removed",
        "next_model": "ask a model instead",
        "next_export": "write report and exports again from the ledger",
        "next_run": "interview it",
        "tokens_spent": "{spent} of {cap} tokens",
        "left": "{time} left",
        "round": "round {round}",
        "pausing": "pausing: calls in flight finish; once more to stop at once",
        "stopped": "stopped at once: what had been answered is in the ledger, only calls in flight are lost. Go on with: {command}",
        "not_begun": "stopped before the first question; nothing was asked",
        "confirm": (
            "{agents} agents of {sim} will be interviewed by {model} at {server}.\n"
            "Estimate: {tokens} tokens, {usd} USD, {time}. {verdict}\nGo on?"
        ),
        "confirm_resume": (
            "The run on {agents} agents of {sim} is unfinished: {model} at {server} will be asked for the rest, "
            "likely {more} tokens ({spent} are spent). Go on?"
        ),
        "declined": "nothing was asked",
        "no_simulations": "no simulation under {root}",
        "no_runs": "no runs",
        "runs_of": "Runs of {sim}",
        "simulations_under": "Simulations under {root}",
        "simulation": "Simulation",
        "runs": "Runs",
        "latest": "Latest",
        "methods": "Methodologies",
        "method": "Methodology",
        "title": "Title",
        "status": "Status",
        "created": "Started",
        "language": "Language",
        "exported": "Written again from the ledger: {path}",
        "own": "default server",
        "driven": "A process is driving it right now; the figures are those of this moment.",
        "killed": "no end is filed: its process was killed. Nothing is lost; resume it",
        "demo_start": (
            "The demo interviews invented stakeholders of {topic}, before and after a simulation. "
            "No key is needed: the built-in synthetic respondent answers, in {language}."
        ),
        "demo_copied": "1. A simulation that has just started was laid out in {path} ({agents} agents, {actions} actions so far).",
        "demo_t0": "2. T0, before the simulation: every agent gets the questionnaire and has no memories yet.",
        "demo_paused": (
            "3. The run has stopped by itself and waits for the simulation (a program would see exit code 4). Its token: {token}"
        ),
        "demo_completed": "4. The simulation runs to its end: {actions} actions in two OASIS databases, run_state.json now says completed.",
        "demo_t1": (
            "5. Resumed: T1, the same questionnaire to the same agents, who now remember what they did and saw. Then: {methods}."
        ),
        "demo_end": "That was the demo.\n",
    },
    "de": {
        "completed": "abgeschlossen",
        "awaiting_simulation": "wartet auf die Simulation",
        "waiting": "wartet auf eine Person",
        "paused": "angehalten",
        "damaged": "beschädigt",
        "newer": "von einer neueren Version",
        "failed": "fehlgeschlagen",
        "done": "fertig",
        "short": "vorzeitig angehalten",
        "not started": "nicht begonnen",
        "run": "Lauf {run_id} von {sim_id}: {status}",
        "note": "Grund: {note}",
        "resumed": "Der Lauf war offen und wurde fortgesetzt; was beantwortet war, wurde nicht noch einmal gefragt.",
        "shown": "Dieser Lauf ist schon abgeschlossen; es wurde nichts gefragt. Mit --new beginnt ein weiterer.",
        "synthetic": (
            "DER SYNTHETISCHE RESPONDENT HAT GEANTWORTET: Jede Antwort wurde aus hinterlegten Positionen berechnet, kein "
            "Modell und kein Mensch hat sie gegeben. Die Zahlen zeigen, dass die Instrumente arbeiten; über die Welt sagen sie nichts."
        ),
        "model": "Geantwortet hat {model}, Temperatur {temperature:g}.",
        "asked": "Gefragt: {methods}; {agents} Agenten, auf {language}.",
        "language_de": "Deutsch",
        "language_en": "Englisch",
        "stage": "Abschnitt",
        "state": "Stand",
        "agents": "Mit Antwort",
        "complete": "Vollständig",
        "answers": "Antworten",
        "tokens": "Token",
        "to_come": "Noch etwa",
        "of_expected": "{spent} von {expected}",
        "tokens_uncapped": "{spent} Token",
        "in_the_end": "am Ende etwa {tokens}",
        "usd_spent": "{usd} USD",
        "usd_in_the_end": "am Ende etwa {usd} USD",
        "running": "läuft",
        "replay": "Wiedergabe von {run}: Dessen Ledger hat geantwortet, nichts wurde gesendet, nichts bezahlt.",
        "rerun": "Wiederholung von {run}: neu gefragt: {methods}; übernommen: {carried}.",
        "failed_answers": "{count} Antworten sind fehlgeschlagen. Nur diese noch einmal erfragen: {command}",
        "failed_so_far": "{count} Antworten sind bisher fehlgeschlagen; nach dem Ende des Laufs lassen sie sich noch einmal erfragen.",
        "failed_closed": (
            "{count} Antworten sind in Runden fehlgeschlagen, deren Rückmeldung inzwischen gegeben ist: "
            "Sie werden nicht noch einmal erfragt."
        ),
        "estimate_of": "Schätzung für {agents} Agenten von {sim}: wahrscheinlich (mindestens–höchstens).",
        "measured": "Gemessen an den Prompts von {n} der {agents} Agenten.",
        "estimate_synthetic": "Es antwortet der synthetische Respondent: Token sind geschätzt, nichts wird gesendet, nichts kostet.",
        "purpose": "Zweck",
        "by": "Modell",
        "calls": "Anfragen",
        "input": "Token gelesen",
        "output": "Token geschrieben",
        "usd": "USD",
        "total": "Summe",
        "unknown": "unbekannt",
        "usd_of": "USD für {model}: {usd}",
        "unpriced": "Der Preis von {models} ist unbekannt: in einer Preisdatei nennen (docs/prices.md).",
        "time_needed": "Dauer: etwa {time} bei {concurrency} Anfragen gleichzeitig.",
        "cap_tokens": "Obergrenze {cap} Token",
        "cap_usd": "Obergrenze {cap} USD",
        "cap_fits": "Das Budget reicht ({cap}).",
        "laid_out": (
            "In {folder} liegt jetzt eine Methodik, die läuft.\nWeiter:\n  pip install -e {folder}\n  pytest {folder}"
        ),
        "cap_exceeded": (
            "Die obere Schätzung übersteigt das Budget ({cap}); {enough} würde reichen. Sonst wird nichts gefragt, es sei "
            "denn mit --yes: Dann hält der Lauf an der Obergrenze an und lässt sich fortsetzen."
        ),
        "cap_unknowable": "Das Budget ({cap}) lässt sich nicht einhalten, weil ein Preis unbekannt ist.",
        "answers_ok": "in Ordnung",
        "answers_repaired": "nachgebessert",
        "answers_refused": "verweigert",
        "answers_invalid": "ungültig",
        "answers_failed": "fehlgeschlagen",
        "none": "keine",
        "invalid": (
            "LAUF UNGÜLTIG: Keine einzige brauchbare Antwort kam zurück ({answers}). Nichts im Bericht ist verwendbar. "
            "Schlüssel, Modellname und Server prüfen, dann: {command}"
        ),
        "bugs": "{count} Arbeitseinheiten sind an einem Fehler in Enquete gescheitert (Tracebacks: Tabelle failures in {path}):",
        "flags": "Vor der Verwendung der Daten zu wissen:",
        "more": "… und {count} weitere im Bericht",
        "report": "Bericht: {path}",
        "no_report": "noch kein Bericht",
        "data": "Daten: {path}",
        "next": "Weiter:",
        "next_report": "den Bericht lesen",
        "next_status": "den Stand ansehen",
        "next_resume": "fortsetzen",
        "next_resume_budget": "mit einer Obergrenze fortsetzen, die voraussichtlich reicht ({spent} sind verbraucht)",
        "next_retry": "die {count} fehlgeschlagenen Antworten noch einmal erfragen",
        "next_resume_simulation": "fortsetzen, sobald die Simulation abgeschlossen ist",
        "next_resume_failed": "das Gescheiterte erneut versuchen, wenn die Ursache behoben ist",
        "next_model": "stattdessen ein Modell fragen",
        "next_export": "Bericht und Exporte neu aus dem Ledger schreiben",
        "next_run": "befragen",
        "tokens_spent": "{spent} von {cap} Token",
        "left": "noch {time}",
        "round": "Runde {round}",
        "pausing": "Pause: laufende Anfragen werden zu Ende geführt; noch einmal, um sofort zu beenden",
        "stopped": (
            "sofort beendet: Was beantwortet war, steht im Ledger, nur laufende Anfragen sind verloren. Fortsetzen mit: {command}"
        ),
        "not_begun": "vor der ersten Frage beendet; es wurde nichts gefragt",
        "confirm": (
            "{agents} Agenten von {sim} werden von {model} auf {server} befragt.\n"
            "Schätzung: {tokens} Token, {usd} USD, {time}. {verdict}\nFortfahren?"
        ),
        "confirm_resume": (
            "Der Lauf mit {agents} Agenten von {sim} ist offen: {model} auf {server} wird um den Rest gefragt, "
            "voraussichtlich {more} Token ({spent} sind verbraucht). Fortfahren?"
        ),
        "declined": "es wurde nichts gefragt",
        "no_simulations": "keine Simulation unter {root}",
        "no_runs": "keine Läufe",
        "runs_of": "Läufe von {sim}",
        "simulations_under": "Simulationen unter {root}",
        "simulation": "Simulation",
        "runs": "Läufe",
        "latest": "Zuletzt",
        "methods": "Methoden",
        "method": "Methode",
        "title": "Titel",
        "status": "Stand",
        "created": "Begonnen",
        "language": "Sprache",
        "exported": "Neu aus dem Ledger geschrieben: {path}",
        "own": "Standardserver",
        "driven": "Ein Prozess führt ihn gerade aus; die Zahlen sind die dieses Augenblicks.",
        "killed": "kein Ende vermerkt: Sein Prozess wurde beendet. Verloren ist nichts; fortsetzen",
        "demo_start": (
            "Die Demo befragt erfundene Beteiligte vor und nach einer Simulation. Thema: {topic}. "
            "Ein Schlüssel ist nicht nötig: Es antwortet der eingebaute synthetische Respondent, auf {language}."
        ),
        "demo_copied": "1. In {path} liegt jetzt eine Simulation, die gerade begonnen hat ({agents} Agenten, bisher {actions} Aktionen).",
        "demo_t0": "2. T0, vor der Simulation: Alle Agenten bekommen den Fragebogen und haben noch keine Erinnerungen.",
        "demo_paused": (
            "3. Der Lauf hat von selbst angehalten und wartet auf die Simulation (ein Programm sähe Exit-Code 4). Sein Token: {token}"
        ),
        "demo_completed": (
            "4. Die Simulation läuft zu Ende: {actions} Aktionen in zwei OASIS-Datenbanken, "
            "run_state.json sagt jetzt completed."
        ),
        "demo_t1": (
            "5. Fortgesetzt: T1, derselbe Fragebogen an dieselben Agenten, die sich jetzt an Erlebtes und Gesehenes "
            "erinnern. Danach: {methods}."
        ),
        "demo_end": "Das war die Demo.\n",
    },
}
