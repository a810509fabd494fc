"""Instrument health in words, German and English: names of the checks, what they mean, reasons, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from enquete.locale import N_
from enquete.state.asking import Language

Unit = Literal["share", "points", "coefficient", "count"]

WORDS: Mapping[str, str] = {
    "title": N_("Instrument health"),
    "check": N_("Check"),
    "value": N_("Value"),
    "n": N_("n"),
    "threshold": N_("fine"),
    "benchmark": N_("People, or chance"),
    "verdict": N_("Verdict"),
    "reasons": N_("Reasons"),
    "method": N_("Methodology"),
    "phase": N_("Phase"),
    "probe": N_("Probe"),
    "no_reasons": N_("nothing objected to"),
    "of_probe": N_("probe"),
    "untaken": N_("Probes not taken"),
    "all_taken": N_("none"),
    "unread": N_("asked, but unreadable: {listed}"),
    "no_gaps": N_("All 0% and fine: {listed}."),
    "n_of_types": N_("For differences between types, n counts the agents of types with at least five agents."),
    "people_from": N_("Data of people as the instrument gives them: {sources}."),
    "medians": N_(
        "Probabilities were asked for. Values are their medians; ends, midpoint, acquiescence and likeness to "
        "people rest on the probabilities themselves."
    ),
    "more_reasons": N_("and {n} more"),
    "intro": N_(
        "It is the main arm that is judged. All checks that were computed enter the verdict: those of its own "
        "answers, and those of the probes, which compare them with asking again or otherwise; reasons that come "
        "from probes are marked. Information does not enter. “Not computed” means that the data or the design do "
        "not allow the check; that is no pass. Without a retest the verdict is at best “usable as far as "
        "checked”: whether the same agents would answer so again is open then. Thresholds and minima are "
        "proposals. The unit of inference is the run: verdicts are about this run and this instrument, not about "
        "people."
    ),
    "synthetic": N_(
        "The answers are synthetic: even “usable” only says here that the procedure ran without a fault, and "
        "nothing about people or models."
    ),
    "summary": N_("**Instrument health.** {verdicts}."),
    "one": N_("{method}: {verdict}"),
    "source": N_("health.json"),
    "shapes": N_("Distribution shape of every closed item"),
    "shapes_intro": N_(
        "Share of answers at the midpoint and at both ends of the scale, mean, normalised entropy (0: all the "
        "same, 1: uniform). {n} items and rounds."
    ),
    "checks": N_("Checks: {method}"),
    "probes": N_("Probes"),
    "not_computed": N_("Not computed: {listed}."),
    "probes_intro": N_(
        "The same agents asked again, in another order, in other words or under another persona. Only what main "
        "arm and probe both answered is compared."
    ),
    "item": N_("Item"),
    "mean": N_("mean"),
    "midpoint": N_("midpoint"),
    "ends": N_("ends"),
    "entropy": N_("entropy"),
    "scale": N_("scale"),
    "round": N_("Round"),
    "answers": N_("n / N"),
    "none": N_("There is nothing to check yet."),
    "about": N_("{what} ({value}; fine: {threshold}; n = {n}). {meaning}"),
    "about_free": N_("{what} ({value}; n = {n}): {reason}. {meaning}"),
    "overall": N_("{method}: {verdict} ({reasons})."),
}

VERDICTS: Mapping[str, Mapping[Language, str]] = {
    "fine": {"de": "in Ordnung", "en": "fine"},
    "caution": {"de": "**Vorsicht**", "en": "**caution**"},
    "bad": {"de": "**schlecht**", "en": "**bad**"},
    "information": {"de": "Auskunft", "en": "information"},
    "not computed": {"de": "nicht berechnet", "en": "not computed"},
    "usable": {"de": "verwendbar", "en": "usable"},
    "usable as far as checked": {
        "de": "verwendbar, soweit geprüft; Verlässlichkeit nicht geprüft",
        "en": "usable as far as checked; reliability not tested",
    },
    "usable with caution": {"de": "mit Vorsicht verwendbar", "en": "usable with caution"},
    "not usable": {"de": "nicht verwendbar", "en": "not usable"},
}


def _check(unit: Unit, de: tuple[str, str], en: tuple[str, str]) -> tuple[Unit, Mapping[Language, tuple[str, str]]]:
    return unit, {"de": de, "en": en}


CHECKS: Mapping[str, tuple[Unit, Mapping[Language, tuple[str, str]]]] = {
    "zero_drift": _check(
        "share", ("Agenten ohne jede Veränderung", "Die Erinnerung bleibt fast ohne Wirkung auf die Antworten."),
        ("Agents without any change", "Memory hardly affects the answers."),
    ),
    "direction_flips": _check(
        "share", ("Agenten, die bei mindestens der Hälfte der Aussagen die Seite der Skala wechseln",
                  "So viel Umschwung spricht für Rauschen, nicht für Meinungen."),
        ("Agents that change sides of the scale on at least half of the statements",
         "That much turning round speaks of noise, not of opinions."),
    ),
    "unrevised": _check(
        "share", ("Agenten, deren letzte Bewertungen den ersten gleichen",
                  "Die Rückmeldung bewirkt nichts; Annäherung ist nicht messbar."),
        ("Agents whose last ratings equal their first", "The feedback has no effect; convergence cannot be measured."),
    ),
    "rated_alike": _check(
        "share", ("Agenten, die alle Szenarien gleich wünschenswert finden", "Die Szenarien werden nicht unterschieden."),
        ("Agents that find all scenarios equally desirable", "The scenarios are not told apart."),
    ),
    "two_components": _check(
        "share", ("Varianz der ersten zwei Hauptkomponenten", "Die Antworten haben kaum gemeinsame Struktur; Typen sind fraglich."),
        ("Variance of the first two components", "The answers hardly share a structure; types are doubtful."),
    ),
    "coherence": _check(
        "coefficient", ("Zusammenhang der Antworten, über den Zufall hinaus (mittleres r)",
                        "Die Antworten hängen kaum mehr zusammen als zufällige."),
        ("Coherence of the answers, beyond chance (mean r)", "The answers hang together hardly more than random ones."),
    ),
    "family_alpha": _check(
        "coefficient", ("Einheitlichkeit der Themenfelder (Cronbachs α, Median)", "Aussagen eines Themenfelds gehen nicht zusammen."),
        ("Consistency of the families (Cronbach's α, median)", "Statements of one family do not go together."),
    ),
    "answer_stability": _check(
        "coefficient", ("Beständigkeit der Antworten von Welle zu Welle oder Runde zu Runde (r)",
                        "Wer einmal so und einmal anders antwortet, hat keine Meinung, die sich ändern könnte."),
        ("Stability of the answers from wave to wave or round to round (r)",
         "Who answers now this, now that has no opinion that could change."),
    ),
    "acquiescence": _check(
        "points", ("Zustimmungsneigung (Punkte einer Fünferskala)", "Es wird Aussagen beider Richtungen zugestimmt oder widersprochen."),
        ("Acquiescence (points of a five-point scale)", "Statements of both directions are agreed or disagreed with."),
    ),
    "extreme_style": _check(
        "share", ("Antworten an den Skalenenden", "Das weicht weit von dem ab, was Menschen tun."),
        ("Answers at the ends of the scale", "That is far from what people do."),
    ),
    "midpoint_style": _check(
        "share", ("Antworten in der Skalenmitte", "Das weicht weit von dem ab, was Menschen tun."),
        ("Answers at the midpoint", "That is far from what people do."),
    ),
    "straightlining": _check(
        "share", ("Agenten mit sehr langen Reihen gleicher Antworten", "Es wird durchgekreuzt statt gelesen."),
        ("Agents with very long rows of equal answers", "Answers are ticked through instead of given."),
    ),
    "position_share": _check(
        "share", ("Vorliebe für die zuerst oder zuletzt gezeigte Antwort (Überschuss)", "Der Platz einer Antwort ist kein Grund für sie."),
        ("Preference for the option shown first or last (excess)", "The place of an option is no reason to choose it."),
    ),
    "flat_items": _check(
        "share", ("Fragen, auf die fast alle gleich antworten (Entropie unter 0,5)", "Die Agenten unterscheiden sich kaum."),
        ("Items that nearly all answer alike (entropy below 0.5)", "The agents hardly differ."),
    ),
    "variance_ratio": _check(
        "coefficient", ("Streuung im Verhältnis zu der von Menschen", "Die Unterschiede zwischen Menschen werden unterschätzt."),
        ("Spread relative to people's", "Differences between people are understated."),
    ),
    "persona_flattening": _check(
        "coefficient", ("Vorsprung der Ähnlichkeit innerhalb der Gruppen (r der Profile ohne die Mittel der Fragen, innerhalb − zwischen)",
                        "Agenten verschiedener Gruppen antworten nicht verschiedener als die einer Gruppe."),
        ("Likeness within types ahead of that between them (r of profiles without the items' means, within − between)",
         "Agents of different types answer no more differently than those of one type."),
    ),
    "refusal_rate": _check(
        "share", ("Verweigerte Antworten", "Was fehlt, fehlt nicht zufällig."),
        ("Refused answers", "What is missing is not missing at random."),
    ),
    "repair_rate": _check(
        "share", ("Antworten, die erst nach Rückfrage gültig waren", "Das Instrument oder das Modell macht Mühe."),
        ("Answers valid only after asking again", "The instrument or the model struggles."),
    ),
    "missing_rate": _check(
        "share", ("Ungültige oder fehlgeschlagene Antworten", "Fehlgeschlagene fragt eine Wiederaufnahme des Laufs erneut."),
        ("Invalid or failed answers", "Resuming the run asks failed ones again."),
    ),
    "refusal_by_type": _check(
        "share", ("Größter Unterschied der Verweigerungen zwischen Gruppen", "Die Gruppen sind verschieden gut vertreten."),
        ("Largest difference between types in refusals", "Types are not represented equally well."),
    ),
    "repair_by_type": _check(
        "share", ("Größter Unterschied der Rückfragen zwischen Gruppen", "Die Gruppen antworten verschieden mühelos."),
        ("Largest difference between types in repairs", "Types do not answer with equal ease."),
    ),
    "missing_by_type": _check(
        "share", ("Größter Unterschied der Ausfälle zwischen Gruppen", "Die Gruppen sind verschieden gut vertreten."),
        ("Largest difference between types in missing answers", "Types are not represented equally well."),
    ),
    "human_jsd": _check(
        "coefficient", ("Nähe zur Verteilung bei Menschen (1 − JSD)", "Eine Gleichverteilung läge nicht ferner."),
        ("Likeness to people's distribution (1 − JSD)", "An even spread would be no further off."),
    ),
    "human_w1": _check(
        "coefficient", ("Nähe zur Verteilung bei Menschen (1 − W₁)", "Eine Gleichverteilung läge nicht ferner."),
        ("Likeness to people's distribution (1 − W₁)", "An even spread would be no further off."),
    ),
    "test_retest": _check(
        "coefficient", ("Übereinstimmung bei erneutem Fragen (gewichtetes κ)", "Was eine Wiederholung nicht wiedergibt, ist Rauschen."),
        ("Agreement when asked again (weighted κ)", "What a repeat does not reproduce is noise."),
    ),
    "option_order": _check(
        "coefficient", ("Übereinstimmung bei umgedrehten Antwortoptionen (gewichtetes κ)", "Eine Meinung hängt nicht an der Reihenfolge."),
        ("Agreement with the options reversed (weighted κ)", "An opinion does not depend on the order."),
    ),
    "option_order_shift": _check(
        "points", ("Verschiebung bei umgedrehten Antwortoptionen (Punkte)", "Das zeigt eine Vorliebe für einen Platz."),
        ("Shift with the options reversed (points)", "It shows a preference for a place."),
    ),
    "item_order": _check(
        "coefficient", ("Übereinstimmung bei anderer Reihenfolge der Fragen (ICC)", "Nachbarfragen färben ab."),
        ("Agreement over orders of the items (ICC)", "Neighbouring items rub off."),
    ),
    "paraphrase": _check(
        "share", ("Varianzanteil der Formulierung", "Der Wortlaut spricht mit."),
        ("Share of variance of the wording", "The wording has a say."),
    ),
    "persona_swap": _check(
        "share", ("Antworten, die sich unter fremder Persona ändern", "Die Persona wird kaum beachtet."),
        ("Answers that change under another's persona", "The persona is hardly heeded."),
    ),
    "null_persona": _check(
        "share", ("Antworten, die sich ohne Persona ändern", "Es spricht eher das Modell als die Persona."),
        ("Answers that change without a persona", "It is rather the model that speaks than the persona."),
    ),
    "negative_control": _check(
        "count", ("Kontrollfragen mit gesicherter Veränderung", "Dort durfte sich nichts bewegen: ein gemeinsamer Anstoß wirkt auf alles."),
        ("Control items with a sure drift", "Nothing should have moved there: a shared shock moves everything."),
    ),
    "placebo_exposure": _check(
        "points", ("Veränderung mit eigener gegen neutrale Erinnerung (Punkte)",
                   "Die Veränderung ist nicht sicher eine Wirkung des Erlebten."),
        ("Change under the own against a neutral memory (points)", "The change is not surely due to what was experienced."),
    ),
    "false_median": _check(
        "coefficient", ("Sog eines erfundenen Medians", "Gefolgt wird der Zahl, nicht der Gruppe."),
        ("Pull of a median that nobody gave", "It is the number that is followed, not the panel."),
    ),
}  # fmt: skip
"""By name: unit of the value; by language what it is and what a caution means."""

PROBES: Mapping[str, Mapping[Language, str]] = {
    "test_retest": {"de": "erneutes Fragen", "en": "retest"},
    "option_order": {"de": "Optionen umgedreht", "en": "options reversed"},
    "item_order": {"de": "Fragen gemischt", "en": "items shuffled"},
    "paraphrase": {"de": "andere Worte", "en": "paraphrase"},
    "persona_swap": {"de": "fremde Persona", "en": "another's persona"},
    "null_persona": {"de": "ohne Persona", "en": "no persona"},
    "negative_control": {"de": "Kontrollfragen", "en": "negative control"},
    "placebo_exposure": {"de": "neutrale Erinnerung", "en": "placebo"},
    "false_median": {"de": "erfundener Median", "en": "false median"},
}
"""What a probe does, by the check that reads it."""

REASONS: Mapping[str, Mapping[Language, str]] = {
    "above": {"de": "über der Schwelle", "en": "above the threshold"},
    "below": {"de": "unter der Schwelle", "en": "below the threshold"},
    "cells_above": {"de": "bei einzelnen Fragen und Gruppen gesichert über 5 %", "en": "surely above 5% for some items and types"},
    "no_more_than_chance": {"de": "nicht mehr, als der Zufall erklärt", "en": "no more than chance explains"},
    "suspect_caching": {
        "de": "alle Antworten gleich, obwohl die Temperatur über 0 liegt: vermutlich ein Zwischenspeicher",
        "en": "all answers equal although the temperature is above 0: probably a cache",
    },
    "persona_ignored": {"de": "kaum mehr als beim bloßen Wiederholen", "en": "hardly more than in a mere repeat"},
    "control_drifted": {"de": "Kontrollfragen haben sich bewegt", "en": "control items moved"},
    "few_runs": {
        "de": "belegen könnte es nur ein Vergleich über mindestens drei Läufe; geht nicht in das Urteil ein",
        "en": "only a comparison over three runs or more could prove it; does not enter the verdict",
    },
    "includes_zero": {"de": "das Intervall schließt 0 ein", "en": "the interval includes 0"},
    "below_placebo": {"de": "weniger als mit neutraler Erinnerung", "en": "less than under a neutral memory"},
    "follows_any_median": {"de": "der erfundene Median zieht wie der wahre", "en": "the bogus median pulls like the true one"},
    "no_nearer_than_even": {"de": "nicht näher als eine Gleichverteilung", "en": "no nearer than an even spread"},
    "types_alike": {"de": "Gruppen sind nicht zu unterscheiden", "en": "types cannot be told apart"},
    "one_profile": {
        "de": "fast ein Profil für alle, und Gruppen sind nicht zu unterscheiden",
        "en": "nearly one profile for all, and types cannot be told apart",
    },
    "one_type": {"de": "es gibt nur eine Gruppe", "en": "there is only one type"},
    "reliability_not_tested": {"de": "es wurde nicht erneut gefragt", "en": "nobody was asked again"},
    "retest_unread": {
        "de": "es wurde erneut gefragt, aus den Antworten ließ sich aber nichts ablesen",
        "en": "asked again, but nothing could be read from the answers",
    },
    "only_replicates": {
        "de": "erneut gefragt wurde nur in Wiederholungen, siehe dort", "en": "asked again in replicates only, see there",
    },
    "mostly_not_computed": {
        "de": "für die meisten Prüfungen reichen die Daten nicht", "en": "there are too little data for most checks",
    },
    "undefined": {"de": "nicht definiert", "en": "undefined"},
    "too_few_agents": {"de": "zu wenige Agenten", "en": "too few agents"},
    "too_few_answers": {"de": "zu wenige Antworten", "en": "too few answers"},
    "too_few_items": {"de": "zu wenige Fragen mit genügend Antworten", "en": "too few items with enough answers"},
    "too_few_pairs": {"de": "zu wenige Paare gegenläufiger Aussagen", "en": "too few balanced pairs of statements"},
    "too_few_types": {"de": "zu wenige Gruppen mit genügend Agenten", "en": "too few types with enough agents"},
    "too_few_families": {"de": "zu wenige Themenfelder mit verschiedenen Antworten", "en": "too few families with answers that vary"},
    "small_families": {"de": "kein Themenfeld hat drei Fragen", "en": "no family has three items"},
    "too_few_contrasts": {"de": "zu wenige Fragen mit mehreren Formulierungen", "en": "too few items in several wordings"},
    "too_few_runs": {"de": "zu wenige Läufe", "en": "too few runs"},
    "one_keying": {"de": "in keinem Themenfeld gibt es Aussagen beider Richtungen", "en": "no family has statements of both directions"},
    "short_scales": {"de": "die Skalen haben weniger als vier Punkte", "en": "scales have fewer than four points"},
    "no_midpoint": {"de": "keine Skala von fünf und mehr Punkten hat eine Mitte", "en": "no scale of five or more points has a midpoint"},
    "position_unclear": {"de": "die gezeigte Reihenfolge ist nicht bekannt", "en": "the order shown is not known"},
    "no_option_order": {"de": "die Reihenfolge der Optionen ist nicht bekannt", "en": "the order of options is not known"},
    "option_order_not_varied": {"de": "die Optionen standen bei allen gleich", "en": "options stood alike for all"},
    "no_human_sd": {"de": "es liegen keine Daten von Menschen vor", "en": "there are no data of people"},
    "no_human_marginals": {"de": "es liegen keine Daten von Menschen vor", "en": "there are no data of people"},
    "no_variation": {"de": "die Antworten unterscheiden sich nicht", "en": "answers do not vary"},
    "no_pairs": {"de": "niemand hat beide Male geantwortet", "en": "nobody answered both times"},
    "same_option_order": {"de": "die Reihenfolge der Optionen war dieselbe", "en": "the order of options was the same"},
    "same_item_order": {"de": "die Reihenfolge der Fragen war dieselbe", "en": "the order of items was the same"},
    "no_bogus_median": {"de": "es wurde kein erfundener Median gezeigt", "en": "no bogus median was shown"},
    "no_retest": {"de": "ohne erneutes Fragen fehlt der Vergleich", "en": "without a retest there is nothing to compare with"},
    "distribution": {
        "de": "gefragt wurde nach Wahrscheinlichkeiten, nicht nach einer Antwort", "en": "probabilities were asked for, not one answer",
    },
    "reconstructed": {"de": "T0 ist rekonstruiert", "en": "T0 is reconstructed"},
    "one_wave": {"de": "es liegt nur eine Welle vor", "en": "there is only one wave"},
    "incomparable": {"de": "T0 und T1 sind nicht vergleichbar", "en": "T0 and T1 cannot be compared"},
    "no_revision": {"de": "es gibt keine Überprüfungsrunde", "en": "there is no round of revision"},
    "no_desirability": {"de": "nach Wünschbarkeit wird nicht gefragt", "en": "desirability is not asked"},
}  # fmt: skip
"""Reason codes of `Diagnostic` and of an overall verdict."""
