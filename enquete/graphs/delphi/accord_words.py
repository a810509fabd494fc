"""What each ACCORD item asks, in our words, and how the record of a run answers it. German and English.

Paraphrases are short: the items' own wording is in Gattrell et al. (2024), which is what a journal wants filled in.
"""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

Texts = Mapping[str, str]

ASKED: Mapping[Language, Texts] = {
    "de": {
        "T1": "Titel nennt Konsensverfahren und Methode",
        "I1": "Warum ein Konsensverfahren",
        "I2": "Ziel, Adressaten, räumlicher Geltungsbereich",
        "I3": "Falls Aktualisierung: wovon und warum",
        "M1": "Vorab registriertes Protokoll",
        "M2": "Wer das Verfahren leitet, mit welcher Fachkunde",
        "M3": "Auswahl und Zahl der Teilnehmenden, wer auswählte",
        "M4": "Wie eingeladen wurde",
        "M5": "Beteiligung von Öffentlichkeit und Betroffenen",
        "M6": "Woher Fragen und Material stammen",
        "M7": "Systematische Literatursuche",
        "M8": "Welche Belege den Teilnehmenden vorlagen",
        "M9": "Verfahren, nach dem Konsens gesucht wurde",
        "M10": "Form der Fragen und Antworten, Begründungen, neue Vorschläge",
        "M11": "Zweck jedes Schritts",
        "M12": "Was als Konsens gilt, und warum",
        "M13": "Ob Geeintes weiter zur Abstimmung stand",
        "M14": "Wie Antworten erhoben wurden, einzeln oder in der Gruppe",
        "M15": "Wie Antworten verarbeitet wurden",
        "M16": "Vortest von Material und Fragebogen",
        "M17": "Rückmeldung nach jedem Schritt",
        "M18": "Anonymität: wo, wem gegenüber, wie gesichert",
        "M19": "Ob die Leitung mitentschied",
        "M20": "Anreize zur Teilnahme",
        "M21": "Anpassungen für besseren Zugang",
        "R1": "Wann jeder Schritt stattfand, Dauer, Verzögerungen",
        "R2": "Abweichungen vom Protokoll",
        "R3": "Teilnehmende je Schritt: Zahl, Rücklauf, Merkmale",
        "R4": "Ergebnis in Worten und Zahlen",
        "R5": "Was geändert oder entfernt wurde, wann und warum",
        "D1": "Stärken und Grenzen des Verfahrens",
        "D2": "Verhältnis zur vorhandenen Literatur",
        "O1": "Unterstützende Organisationen",
        "O2": "Interessenkonflikte und Umgang damit",
        "O3": "Finanzierung und Rolle der Geldgeber",
    },
    "en": {
        "T1": "Title names the exercise and its method",
        "I1": "Why a consensus exercise",
        "I2": "Aim, audience, geographical scope",
        "I3": "If an update: of what, and why",
        "M1": "Protocol registered in advance",
        "M2": "Who directs the exercise, with which expertise",
        "M3": "Choice and number of panellists, and who chose",
        "M4": "How panellists were invited",
        "M5": "Part played by the public and those affected",
        "M6": "Where questions and material come from",
        "M7": "Systematic search of the literature",
        "M8": "Which evidence panellists were given",
        "M9": "Procedure by which consensus was sought",
        "M10": "Form of questions and answers, reasons, new proposals",
        "M11": "Purpose of each step",
        "M12": "What counts as consensus, and why",
        "M13": "Whether what was agreed was voted on again",
        "M14": "How answers were collected, singly or in a group",
        "M15": "How answers were processed",
        "M16": "Piloting of material and questionnaire",
        "M17": "Feedback after each step",
        "M18": "Anonymity: where, towards whom, how ensured",
        "M19": "Whether those directing it took part in decisions",
        "M20": "Incentives to take part",
        "M21": "Adaptations for better access",
        "R1": "When each step took place, duration, delays",
        "R2": "Deviations from the protocol",
        "R3": "Panellists by step: number, response, characteristics",
        "R4": "Outcome in words and figures",
        "R5": "What was changed or removed, when and why",
        "D1": "Strengths and limits of the exercise",
        "D2": "Relation to existing literature",
        "O1": "Endorsing organisations",
        "O2": "Conflicts of interest and how they were handled",
        "O3": "Funding and the funder's role",
    },
}

ANSWERED: Mapping[Language, Texts] = {
    "de": {
        "I2": "Gegenstand: {topic}. Ziel und Adressaten sind zu ergänzen.",
        "M1": "Der Fragebogen ist eingefroren (Prüfsumme {instrument_hash}). Eine Registrierung ist zu ergänzen.",
        "M3": "Alle {n_agents} Agenten des Laufs: {types}. Wie ihre Bevölkerung entstand, ist zu ergänzen.",
        "M4": "Niemand wurde eingeladen: Die Agenten stammen aus der Simulation oder einer Personendatei.",
        "M5": "Keine: Es antworteten simulierte Agenten, keine Menschen.",
        "M6": "{n_questions} offene Fragen; die Themen stammen aus den Antworten darauf. Wer die Fragen schrieb, ist zu "
        "ergänzen.",
        "M8": "Keine Zusammenfassung von Belegen; jeder Agent hatte seine Persona, {n_with_memory} auch eine Erinnerung "
        "an die Simulation.",
        "M9": "Delphi mit {n_rounds} Runden.",
        "M10": "Runde 1: {n_questions} offene Fragen. Danach jedes Thema auf {dimensions}; ab Runde 3 mit Begründung. Neue Themen "
        "konnten nach Runde 1 nicht mehr vorgeschlagen werden.",
        "M11": "Runde 1 sammelt Themen, Runde 2 bewertet sie, ab Runde 3 werden die Bewertungen nach Rückmeldung überprüft.",
        "M12": "Konsens: IQR ≤ {consensus_iqr}. Dissens: IQR > {disagreement_iqr} oder A < {polarised_below}. Die "
        "Begründung der Schwellen ist zu ergänzen.",
        "M13": "Ja: Alle Themen standen in jeder Runde zur Bewertung, auch geeinte.",
        "M14": "Jeder Agent einzeln, schriftlich, durch {models} ({respondents}).",
        "M15": "Offene Antworten wurden zu {n_themes} Themen codiert ({coder}); Bewertungen zu Median und IQR (Typ 7) "
        "zusammengefasst. {alpha}",
        "M17": "Median, IQR und n jedes Themas aus der Runde davor, dazu die eigenen Bewertungen.",
        "M18": "Unter den Agenten: Rückgemeldet wurden nur Kennwerte. Der Bericht nennt Agenten mit Namen; es sind keine Personen.",
        "M19": "Nein: Themen und Rückmeldung wurden vom Programm eingefroren, niemand griff ein.",
        "M20": "Entfällt: keine Menschen.",
        "M21": "Entfällt: keine Menschen.",
        "R1": "{times}. Beginn und Dauer der Auswertung sind zu ergänzen.",
        "R3": "{responses}. Zusammensetzung: {types}.",
        "R4": "Zuletzt {n_consensus} von {n_ratings} Bewertungen mit Konsens, {n_disagreement} mit Dissens, {n_open} offen; "
        "Zahlen und Begründungen im Delphi-Teil.",
        "R5": "Beim Codieren entfielen {n_dropped} Themen (leer, doppelt oder über der Höchstzahl); {n_uncoded} Antworten blieben "
        "ohne Thema. Danach wurde nichts geändert.",
        "D1": "Die Agenten teilen ein Modell: Ihr Konsens ist schwacher Beleg, Tests beschreiben den Lauf. Die Erörterung ist zu "
        "ergänzen.",
    },
    "en": {
        "I2": "Subject: {topic}. Aim and audience are to be added.",
        "M1": "The questionnaire is frozen (hash {instrument_hash}). A registration is to be added.",
        "M3": "All {n_agents} agents of the run: {types}. How its population came about is to be added.",
        "M4": "Nobody was invited: the agents come from the simulation or a personas file.",
        "M5": "They played no part: simulated agents answered, no people.",
        "M6": "{n_questions} open questions; the themes come from the answers to them. Who wrote the questions is to be added.",
        "M8": "No summary of evidence; each agent had its persona, {n_with_memory} also a memory of the simulation.",
        "M9": "Delphi of {n_rounds} rounds.",
        "M10": "Round 1: {n_questions} open questions. Then every theme on {dimensions}; from round 3 on with a reason. No new "
        "themes could be proposed after round 1.",
        "M11": "Round 1 gathers themes, round 2 rates them, from round 3 on the ratings are reviewed after feedback.",
        "M12": "Consensus: IQR ≤ {consensus_iqr}. Disagreement: IQR > {disagreement_iqr} or A < {polarised_below}. The reasons "
        "for these limits are to be added.",
        "M13": "Yes: all themes were rated in every round, agreed ones too.",
        "M14": "Every agent singly, in writing, by {models} ({respondents}).",
        "M15": "Open answers were coded into {n_themes} themes ({coder}); ratings were summed up by median and IQR (type 7). "
        "{alpha}",
        "M17": "Median, IQR and n of every theme in the round before, and one's own ratings.",
        "M18": "Among the agents: only summary figures were fed back. The report names agents; they are no persons.",
        "M19": "No: themes and feedback were frozen by the program, nobody stepped in.",
        "M20": "Not applicable: no people.",
        "M21": "Not applicable: no people.",
        "R1": "{times}. Start and duration of the analysis are to be added.",
        "R3": "{responses}. Composition: {types}.",
        "R4": "In the end {n_consensus} of {n_ratings} ratings in consensus, {n_disagreement} in disagreement, {n_open} open; "
        "figures and reasons in the Delphi section.",
        "R5": "Coding dropped {n_dropped} themes (empty, double or over the limit); {n_uncoded} answers are without a theme. "
        "Nothing was changed after that.",
        "D1": "The agents share a model: their consensus is weak evidence, tests describe the run. The discussion is to be added.",
    },
}

LABELS: Mapping[Language, Texts] = {
    "de": {
        "title": "Delphi: Berichtsliste ACCORD", "item": "Punkt", "asks": "gefragt ist", "state": "Stand", "answer": "Antwort aus dem Lauf",
        "filled": "ausgefüllt", "partly": "zum Teil", "open": "offen", "not_applicable": "entfällt",
        "intro": "ACCORD (Gattrell u. a. 2024) nennt 35 Punkte für Berichte über Konsensverfahren; sie sind hier in eigenen Worten "
        "wiedergegeben. {filled} beantwortet der Lauf, {partly} zum Teil, {not_applicable} entfallen, {open} können nur Menschen "
        "ausfüllen. Vor einer Veröffentlichung mit der Originalliste abgleichen.",
        "coder": "durch das Modell oder, ohne Modell, nach Regel", "unknown": "unbekannt",
        "alpha": "Zweite Codierung: α = {alpha}.", "no_alpha": "Keine zweite Codierung.",
        "time": "Runde {round}: {first} bis {last}", "no_times": "Zeiten sind nicht verzeichnet",
        "response": "Runde {round}: {n_responded} von {n_total}",
    },
    "en": {
        "title": "Delphi: ACCORD checklist", "item": "Item", "asks": "asks for", "state": "state", "answer": "answer from the run",
        "filled": "filled", "partly": "in part", "open": "open", "not_applicable": "not applicable",
        "intro": "ACCORD (Gattrell et al. 2024) lists 35 items for reports of consensus exercises, here in our own words. The run "
        "answers {filled}, {partly} in part, {not_applicable} do not apply, {open} only people can fill in. Check against the "
        "original list before publishing.",
        "coder": "by the model or, without one, by rule", "unknown": "unknown",
        "alpha": "Second coding: α = {alpha}.", "no_alpha": "No second coding.",
        "time": "round {round}: {first} to {last}", "no_times": "Times are not recorded",
        "response": "round {round}: {n_responded} of {n_total}",
    },
}  # fmt: skip
