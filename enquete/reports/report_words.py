"""The report's own words, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

STATUSES = ("ok", "repaired", "refused", "invalid", "failed", "not_reached")

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Befragung einer simulierten Population",
        "synthetic": "**Synthetische Antworten.** Es wurde kein Sprachmodell befragt: Ein deterministisches Programm hat die "
        "Antworten erzeugt. Sie prüfen das Verfahren und sagen nichts über Menschen oder Modelle.",
        "llm": "**Simulierte Befragte.** Das Sprachmodell {model} hat in der Rolle der Agenten geantwortet. Kein Mensch wurde "
        "befragt.",
        "partial": "**Zwischenstand.** Die Befragung ist nicht abgeschlossen (Stand: {status}); was fehlt, steht als "
        "not_reached in den Tabellen.",
        "all_failed": "Alle Anfragen sind fehlgeschlagen. Dieser Lauf enthält keine Antworten.",
        "what": "Jeder Agent der Simulation wurde mit denselben Instrumenten befragt. Jede Zahl stammt aus der Antworttabelle "
        "all_responses.csv oder den genannten Dateien; n / N heißt immer: beantwortet / geplant.",
        "field": "Merkmal", "entry": "Angabe", "source": "Quelle",
        "run": "Lauf", "sim": "Simulation", "topic": "Thema", "status": "Stand", "language": "Sprache", "agents": "Agenten",
        "rows": "Zeilen der Antworttabelle", "fingerprint": "Kennung der Einstellungen", "de": "Deutsch", "en": "Englisch",
        "population": "Population", "type": "Stakeholder-Gruppe", "n_agents": "Agenten", "share": "Anteil",
        "answered": "mit Antwort / alle", "memory": "mit Erinnerung (T1)", "all": "alle", "population_hash": "Hash der Population",
        "how": "Wie gefragt wurde", "arm": "Arm", "role": "Rolle", "respondent": "Befragte", "model": "Modell",
        "temperature": "Temperatur", "seed": "Seed", "asking_block": "Gefragt wurde blockweise: alle Fragen eines Teils auf einmal.",
        "asking_item": "Gefragt wurde einzeln: jede Frage für sich.",
        "elicit_point": "Auf jede geschlossene Frage war eine Antwort zu geben.",
        "elicit_distribution": "Auf geschlossene Fragen war die Wahrscheinlichkeit jeder Antwortoption anzugeben (elicitation = "
        "distribution), außer bei einer Sortierung. `value` ist der Median dieser Verteilung; sie selbst steht in der Spalte "
        "`distribution`.",
        "section_distribution": "*Gefragt wurde nach der Wahrscheinlichkeit jeder Antwortoption. Werte sind die Mediane dieser "
        "Verteilungen, ein Punkt der Skala; die Verteilungen stehen in der Spalte `distribution` von all_responses.csv.*",
        "digest": "Erinnerungsauszug: höchstens {n} Zeichen je Agent.",
        "instrument": "Instrument", "version": "Version", "hash": "Hash (SHA-256)", "file": "Datei",
        "baseline_measured": "T0 wurde vor dem Ende der Simulation gemessen (Aktionen bis dahin: {actions}).",
        "baseline_reconstructed": "T0 wurde nachträglich rekonstruiert: dieselben Personas ohne Erinnerung. Unterschiede heißen "
        "Erfahrungseffekt, nicht Drift.",
        "baseline_earlier": "T0 stammt aus dem früheren Lauf {run}; dessen Personas gelten auch für T1.",
        "baseline_none": "Es gibt kein T0; über Veränderung sagt dieser Lauf nichts.",
        "assumed": "Die Simulation wurde als abgeschlossen behandelt, obwohl sie es selbst nicht meldet.",
        "counts": "Antworten nach Status", "method": "Methodik", "phase": "Phase", "round": "Runde", "responded": "n / N",
        "people": "Agenten / alle",
        "counts_legend": "ok: beim ersten Mal gültig; repaired: nach Rückfrage gültig; refused: verweigert; invalid: trotz "
        "Rückfragen nicht lesbar oder außerhalb der Skala; failed: Anfrage fehlgeschlagen; not_reached: geplant, nicht gefragt.",
        "problems": "Was fehlschlug, repariert oder rekonstruiert wurde", "no_problems": "Nichts: Alle geplanten Antworten wurden "
        "beim ersten Mal gültig gegeben.",
        "p_repaired": "{n} von {total} Antworten wurden nach Rückfrage gültig (repaired).",
        "p_error": "{n} Anfragen an das Modell scheiterten: {text}",
        "p_refused": "{n} von {total} Antworten wurden verweigert (refused).",
        "p_invalid": "{n} von {total} Antworten blieben ungültig (invalid).",
        "p_failed": "{n} von {total} Antworten fehlen, weil Anfragen fehlschlugen (failed).",
        "p_not_reached": "{n} von {total} geplanten Antworten wurden nicht erreicht (not_reached).",
        "p_reconstructed": "{n} von {total} Zeilen gehören zu einem rekonstruierten T0.",
        "p_memoryless": "{n} von {total} Agenten hatten bei T1 keine lesbare Erinnerung.",
        "p_stage": "{method} ({phase}): {outcome}. {note}",
        "p_bug": "Programmfehler in {method} {phase}, Runde {round}, {unit}: {error}",
        "p_lost": "{n} von {total} Anfragen wurden unterbrochen; ihre Kosten sind mit der Obergrenze angesetzt.",
        "p_notice": "Hinweis: {text}",
        "outcome_failed": "fehlgeschlagen", "outcome_short": "angehalten, bevor alles gefragt war",
        "outcome_waiting": "wartet auf Antworten", "outcome_": "noch nicht begonnen", "outcome_done": "abgeschlossen",
        "missing": "{outcome}; hierzu gibt es noch keine Ergebnisse.",
        "missing_bug": "Die Auswertung ist mit einem Programmfehler abgebrochen: {error}. Die Antworten liegen in "
        "all_responses.csv.",
        "spent": "Verbrauch", "purpose": "Zweck", "calls": "Anfragen", "settled": "beantwortet", "c_failed": "fehlgeschlagen",
        "lost": "unterbrochen", "sends": "Sendungen", "input": "Eingabe-Tokens", "output": "Ausgabe-Tokens",
        "allowance": "Tokens ohne Antwort (Obergrenze)", "total": "Tokens gesamt", "no_calls": "Es wurde keine Anfrage gestellt.",
        "spent_source": "ledger.sqlite; jede Anfrage steht in audit.jsonl",
        "s_completed": "abgeschlossen", "s_failed": "fehlgeschlagen", "s_paused": "angehalten", "s_started": "begonnen",
        "s_awaiting_simulation": "wartet auf die Simulation", "s_waiting": "wartet auf Antworten von Menschen",
        "limitations": "Grenzen der Aussage", "appendix": "Anhang", "synthesis": "Synthese",
    },
    "en": {
        "title": "Interviews with a simulated population",
        "synthetic": "**Synthetic answers.** No language model was asked: a deterministic program made the answers. They test the "
        "procedure and say nothing about people or models.",
        "llm": "**Simulated respondents.** The language model {model} answered in the roles of the agents. No human being was "
        "interviewed.",
        "partial": "**Interim state.** The interviews are not finished (status: {status}); what is missing stands as not_reached "
        "in the tables.",
        "all_failed": "Every request failed. This run holds no answers.",
        "what": "Every agent of the simulation was asked with the same instruments. Every figure comes from the response table "
        "all_responses.csv or the files named; n / N always means: answered / planned.",
        "field": "Item", "entry": "Value", "source": "Source",
        "run": "Run", "sim": "Simulation", "topic": "Topic", "status": "Status", "language": "Language", "agents": "Agents",
        "rows": "Rows of the response table", "fingerprint": "Fingerprint of the settings", "de": "German", "en": "English",
        "population": "Population", "type": "Stakeholder type", "n_agents": "Agents", "share": "Share",
        "answered": "with an answer / all", "memory": "with memory (T1)", "all": "all", "population_hash": "Hash of the population",
        "how": "How it was asked", "arm": "Arm", "role": "Role", "respondent": "Respondent", "model": "Model",
        "temperature": "Temperature", "seed": "Seed", "asking_block": "Questions were asked in blocks: all of a part at once.",
        "asking_item": "Questions were asked one by one.",
        "elicit_point": "Every closed question asked for one answer.",
        "elicit_distribution": "Closed questions asked for the probability of every option (elicitation = distribution), except in a "
        "sort. `value` is the median of this distribution; the distribution itself is in the column `distribution`.",
        "section_distribution": "*Asked for was the probability of every option. Values are the medians of these distributions, a point "
        "of the scale; the distributions are in the column `distribution` of all_responses.csv.*",
        "digest": "Memory digest: at most {n} characters an agent.",
        "instrument": "Instrument", "version": "Version", "hash": "Hash (SHA-256)", "file": "File",
        "baseline_measured": "T0 was measured before the simulation had ended (actions up to then: {actions}).",
        "baseline_reconstructed": "T0 was reconstructed afterwards: the same personas without memory. Differences are called "
        "experience effect, not drift.",
        "baseline_earlier": "T0 comes from the earlier run {run}; its personas hold for T1 too.",
        "baseline_none": "There is no T0; this run says nothing about change.",
        "assumed": "The simulation was treated as completed although it does not say so itself.",
        "counts": "Answers by status", "method": "Methodology", "phase": "Phase", "round": "Round", "responded": "n / N",
        "people": "agents / all",
        "counts_legend": "ok: valid at once; repaired: valid after asking again; refused: declined; invalid: unreadable or off the "
        "scale in spite of asking again; failed: the request failed; not_reached: planned, not asked.",
        "problems": "What failed, was repaired or reconstructed", "no_problems": "Nothing: every planned answer was valid at once.",
        "p_repaired": "{n} of {total} answers were valid after asking again (repaired).",
        "p_error": "{n} requests to the model failed: {text}",
        "p_refused": "{n} of {total} answers were declined (refused).",
        "p_invalid": "{n} of {total} answers stayed invalid (invalid).",
        "p_failed": "{n} of {total} answers are missing because requests failed (failed).",
        "p_not_reached": "{n} of {total} planned answers were not reached (not_reached).",
        "p_reconstructed": "{n} of {total} rows belong to a reconstructed T0.",
        "p_memoryless": "{n} of {total} agents had no readable memory at T1.",
        "p_stage": "{method} ({phase}): {outcome}. {note}",
        "p_bug": "A bug in {method} {phase}, round {round}, {unit}: {error}",
        "p_lost": "{n} of {total} requests were interrupted; their cost is counted at the upper bound.",
        "p_notice": "Notice: {text}",
        "outcome_failed": "failed", "outcome_short": "stopped before everything was asked", "outcome_waiting": "waiting for answers",
        "outcome_": "not begun", "outcome_done": "done",
        "missing": "{outcome}; there are no findings yet.",
        "missing_bug": "The analysis was stopped by a bug: {error}. The answers are in all_responses.csv.",
        "spent": "Spent", "purpose": "Purpose", "calls": "requests", "settled": "answered", "c_failed": "failed",
        "lost": "interrupted", "sends": "sends", "input": "input tokens", "output": "output tokens",
        "allowance": "tokens without an answer (upper bound)", "total": "tokens in all", "no_calls": "No request was made.",
        "spent_source": "ledger.sqlite; every request stands in audit.jsonl",
        "s_completed": "completed", "s_failed": "failed", "s_paused": "paused", "s_started": "begun",
        "s_awaiting_simulation": "awaiting the simulation", "s_waiting": "waiting for people's answers",
        "limitations": "Limitations", "appendix": "Appendix", "synthesis": "Synthesis",
    },
}  # fmt: skip

DIMENSIONS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "importance": "Wichtigkeit", "plausibility": "Plausibilität", "desirability": "Wünschbarkeit", "fairness": "Gerechtigkeit",
        "feasibility": "Umsetzbarkeit", "probability": "Wahrscheinlichkeit", "urgency": "Dringlichkeit", "impact": "Auswirkung",
    },
    "en": {},
}  # fmt: skip
"""Names of dimensions that an instrument gives by id alone."""


def dimension_name(dimension: str, language: Language) -> str:
    """The dimension's name in this language; its id, readable, where none is known."""
    return DIMENSIONS[language].get(dimension, dimension.replace("_", " "))


LIMITS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "simulated": "Die Befragten sind simuliert. Keine Zahl dieses Berichts beschreibt Menschen; ein Vergleich mit einer "
        "echten Erhebung liegt nicht vor.",
        "model": "Gemessen wird, wie {model} die jeweilige Gruppe darstellt, nicht die Gruppe.",
        "synthetic": "Gemessen wird, was im synthetischen Befragten hinterlegt ist; Muster in den Ergebnissen wurden dort gepflanzt.",
        "inference": "Die Einheit des Schlusses ist der Lauf. Alle {n} Agenten teilen ein Modell und einen Prompt; Tests und "
        "Streuungen über Agenten beschreiben diesen einen Lauf und keine Stichprobe. Formulierungen verschieben alle zugleich.",
        "digest": "Der Erinnerungsauszug ist verlustbehaftet: höchstens {chars} Zeichen, bevorzugt die eigenen, neuesten Beiträge.",
        "no_digest": "Die Agenten antworteten ohne Erinnerung an die Simulation.",
        "memoryless": "{n} von {total} Agenten antworteten bei T1 ohne lesbare Erinnerung; in gewichteten Driftmaßen zählen sie {w}.",
        "n": "N = {n} Agenten, {responded} von {rows} geplanten Antworten liegen vor.",
        "instruments": "Die Ergebnisse gelten für den Wortlaut der Instrumente: {hashes}.",
        "reconstructed": "T0 ist rekonstruiert. Der Erfahrungseffekt vergleicht Antworten mit und ohne Erinnerung; er ist keine Drift.",
        "actions": "Bei der Messung von T0 hatte die Simulation schon {n} Aktionen; T0 ist insofern kein unberührter Ausgangspunkt.",
        "incomparable": "Drift ist nicht interpretierbar: {why}.",
        "no_placebo": "Es gibt keinen Placebo- und keinen Wiederholungsarm: Drift lässt sich nicht vom Rauschen des erneuten Fragens "
        "trennen.",
        "confidence": "Sicherheitsangaben sind Selbstauskünfte des Modells und nicht geeicht.",
        "temperature": "Bei Temperatur {t} gäbe eine Wiederholung andere Antworten.",
        "shape": "Sprachmodelle neigen zu Zustimmung und zur Mitte. Hier liegen {ends} der geschlossenen Antworten an den "
        "Skalenenden und {midpoint} in der Mitte (n = {n}); die Verteilungsform jeder Frage steht im Anhang.",
        "partial": "Der Lauf ist unvollständig; alle Zahlen sind vorläufig.",
        "differential": "Die Ausfallquote unterscheidet sich zwischen den Gruppen: {low} ({low_type}) bis {high} ({high_type}).",
    },
    "en": {
        "simulated": "The respondents are simulated. No figure of this report describes people; there is no comparison with a real "
        "survey.",
        "model": "What is measured is how {model} portrays each group, not the group.",
        "synthetic": "What is measured is what the synthetic respondent has planted; patterns in the findings were put there.",
        "inference": "The unit of inference is the run. All {n} agents share one model and one prompt; tests and spreads over "
        "agents describe this one run and no sample. A wording shifts all of them at once.",
        "digest": "The memory digest is lossy: at most {chars} characters, the agent's own and newest posts first.",
        "no_digest": "The agents answered without any memory of the simulation.",
        "memoryless": "{n} of {total} agents answered at T1 without readable memory; in weighted drift they count {w}.",
        "n": "N = {n} agents; {responded} of {rows} planned answers are there.",
        "instruments": "The findings hold for the wording of the instruments: {hashes}.",
        "reconstructed": "T0 is reconstructed. The experience effect compares answers with and without memory; it is not drift.",
        "actions": "When T0 was measured the simulation already had {n} actions; T0 is no untouched starting point.",
        "incomparable": "Drift is not interpretable: {why}.",
        "no_placebo": "There is no placebo arm and no replicate: drift cannot be told from the noise of asking again.",
        "confidence": "Confidence is the model's own statement and not calibrated.",
        "temperature": "At temperature {t} asking again would give other answers.",
        "shape": "Language models tend to agree and to keep to the middle. Here {ends} of the closed answers lie at the ends of the "
        "scale and {midpoint} at the midpoint (n = {n}); the distribution shape of every item is in the appendix.",
        "partial": "The run is incomplete; all figures are provisional.",
        "differential": "The share of missing answers differs between groups: {low} ({low_type}) to {high} ({high_type}).",
    },
}
