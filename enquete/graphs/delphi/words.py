"""Words of the Delphi section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Delphi",
        "intro": "Aus den offenen Antworten der ersten Runde wurden Themen gebildet, in Runde 2 bewertet und nach anonymer "
        "Rückmeldung von Median und Interquartilsabstand (IQR, Typ 7) in Runde 3 überprüft.",
        "rounds": "Runden", "round": "Runde", "answers": "Antworten / geplant", "people": "Agenten / alle",
        "themes": "Themen", "theme": "Thema", "description": "Beschreibung", "voiced": "Agenten", "said": "Aussagen",
        "no_themes": "Es wurden noch keine Themen gebildet; bewertet wurde darum nichts.",
        "uncoded": "Antworten der ersten Runde, die zu keinem Thema gehören: {n}.",
        "voices": "Delphi: Belege der Themen",
        "ratings": "Delphi: Bewertungen", "dimension": "Dimension", "n": "n / N", "median": "Median", "iqr": "IQR", "mean": "Mittel",
        "A": "A", "top": "oberste zwei Stufen", "label": "Befund", "consensus": "Konsens", "disagreement": "Dissens",
        "open": "offen",
        "legend": "A: Übereinstimmung nach van der Eijk (1 einig, 0 gleichverteilt, −1 zwei Lager). Konsens: IQR ≤ {c}. "
        "Dissens: IQR > {d} oder A < {a}.",
        "convergence": "Delphi: Annäherung von Runde {a} zu Runde {b}", "paired": "Paare / N", "delta": "ΔIQR",
        "toward": "zum Median", "away": "vom Median weg", "moved": "geändert",
        "towards": "„Zum Median“: Anteil derer, die zuvor nicht auf dem zurückgemeldeten Median lagen und sich ihm näherten.",
        "unchanged": "{n} von {paired} Agenten, die in beiden Runden bewertet haben, ließen alle Bewertungen unverändert "
        "({same} von {ratings} einzelnen Bewertungen blieben gleich).",
        "no_revision": "Die Überprüfungsrunde liegt noch nicht vor; über Annäherung und Dissens lässt sich nichts sagen.",
        "disagreements": "Anhaltender Dissens", "none": "Kein Thema bleibt nach der letzten Runde strittig.",
        "hold_outs": "{n} von {total} Agenten, die beide Male bewertet haben, beharren ab {distance} Punkte vom Median {median} entfernt "
        "({below} darunter, {above} darüber).",
        "camps": "zwei Lager: {below} von {total} Agenten unten, {above} oben, {between} dazwischen; {stayed} standen schon in der Runde "
        "zuvor in ihrem Lager.",
        "scattered": "gestreut, ohne Lager und ohne Beharrende (Median {median}).",
        "lower": "unteres Lager", "upper": "oberes Lager", "stands": "Befund", "stands_camps": "Lager", "stands_hold_outs": "Beharrende",
        "stands_scattered": "gestreut", "against": "Beharrende in Themen ohne Dissens",
        "against_some": "Bei {n} Bewertungen ohne Dissens beharrt jemand. Gezeigt sind die {k} mit den meisten Beharrenden.",
        "against_none": "In Themen ohne Dissens beharrt niemand.",
        "below": "unter dem Median", "above": "über dem Median", "no_reason": "ohne Begründung",
        "ranked": "Konsens, nach Einigkeit geordnet", "rank": "Rang",
        "no_consensus": "Kein Thema erreicht Konsens in der Wichtigkeit.",
        "W": "Übereinstimmung der Rangordnungen (Kendalls W)", "raters": "Agenten", "dropped": "mit Lücken", "source": "Quelle",
        "excerpt": "Belege (die ersten {k} von {n}):",
        "frame": "Tests und Intervalle über simulierte Agenten beschreiben diesen Lauf, keine Menschen: Alle Agenten teilen ein Modell "
        "und eine Formulierung. Die Einheit des Schlusses ist Lauf × Formulierung.",
        "spread": "Konsens (Streuung), Stabilität (Bewegung) und Polarisierung (Lager) werden getrennt gemessen; keines folgt aus dem "
        "anderen.",
        "tw": "Tastle–Wierman", "bc": "Bimodalität", "polarised": "Lager", "yes": "ja", "no": "nein",
        "stability": "Delphi: Stabilität zwischen den Runden", "kappa": "gewichtetes κ", "net": "Netto-Änderung", "stable": "stabil",
        "changed": "geändert", "delta_cv": "ΔVK",
        "stability_note": "Innerhalb derselben Agenten gegenüber der Runde davor. Stabil: Netto-Änderung des Histogramms ≤ 15 % (Scheibe, "
        "Skutsch & Schofer 1975). κ mit quadratischen Gewichten; p aus dem Wilcoxon-Test, korrigiert über alle Bewertungen der Runde; "
        "ΔVK: Änderung des Variationskoeffizienten.",
        "rule": "Lager: A liegt unter {a}, und auf jeder der beiden Seiten steht mindestens ein Viertel der Bewertenden. Beharrende gibt "
        "es nur, wo es keine Lager gibt: Sie lagen in beiden Runden auf derselben Seite mindestens eine halbe Skalenbreite vom "
        "zurückgemeldeten Median entfernt, rückten ihm nicht näher, und dort steht weniger als die Hälfte der Bewertenden. Zitiert "
        "werden zuerst, die ihren Platz behielten und ihn begründen.",
        "map": "Wer wo steht, nach Gruppen (unten / oben / bewertet)", "before": "zuvor {value}",
        "top_disputes": "Gezeigt sind die {n} von {total} Bewertungen mit der geringsten Übereinstimmung (A).",
        "ranking": "Wie fest die Rangordnung ist", "k": "Rang [95 %]", "mean_order": "nach Mittelwert", "p_top": "P(Rang ≤ {k})",
        "consensus_order": "nach Einigkeit",
        "ranking_note": "Bootstrap über Agenten ({draws} Ziehungen), {dimension}, Runde {round}. Mittleres Kendall τ-b mit der "
        "beobachteten Ordnung: {mean_tau} (Mittelwert), {consensus_tau} (Einigkeit).",
        "second": "Zweite Codierung: {n} von {total} Antworten wurden den Themen ein zweites Mal zugeordnet, in anderer Reihenfolge und "
        "ohne Kenntnis der ersten. Krippendorffs α = {alpha} (MASI; ab 0,80 verlässlich, ab 0,67 vorläufig); {same} der Antworten haben "
        "genau dieselben Themen. Dasselbe Modell codierte beide Male: eine Obergrenze dessen, was zwei Menschen fänden.",
        "second_left": "Nicht verglichen: {n} Antworten, die die zweite Codierung ausließ.",
        "second_off": "Eine zweite Codierung war nicht gewünscht; wie verlässlich die Themen sind, ist nicht gemessen.",
        "second_missing": "Eine zweite Codierung liegt nicht vor; wie verlässlich die Themen sind, ist nicht gemessen.",
        "second_table": "Delphi: Übereinstimmung der Codierungen", "first_n": "erste", "second_n": "zweite", "both_n": "beide",
    },
    "en": {
        "title": "Delphi",
        "intro": "Themes were formed from the open answers of round 1, rated in round 2, and reviewed in round 3 after anonymous "
        "feedback of median and interquartile range (IQR, type 7).",
        "rounds": "Rounds", "round": "Round", "answers": "answers / planned", "people": "agents / all",
        "themes": "Themes", "theme": "Theme", "description": "Description", "voiced": "agents", "said": "statements",
        "no_themes": "No themes have been formed yet, so nothing was rated.",
        "uncoded": "Answers of round 1 that belong to no theme: {n}.",
        "voices": "Delphi: evidence of the themes",
        "ratings": "Delphi: ratings", "dimension": "Dimension", "n": "n / N", "median": "median", "iqr": "IQR", "mean": "mean",
        "A": "A", "top": "top two points", "label": "verdict", "consensus": "consensus", "disagreement": "disagreement",
        "open": "open",
        "legend": "A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {c}. Disagreement: "
        "IQR > {d} or A < {a}.",
        "convergence": "Delphi: convergence from round {a} to round {b}", "paired": "pairs / N", "delta": "ΔIQR",
        "toward": "toward the median", "away": "away from it", "moved": "changed",
        "towards": "“Toward the median”: share of those who were off the median that was fed back and came closer to it.",
        "unchanged": "{n} of {paired} agents who rated in both rounds left every rating unchanged ({same} of {ratings} single "
        "ratings stayed the same).",
        "no_revision": "There is no round of revision yet; nothing can be said about convergence and disagreement.",
        "disagreements": "Persistent disagreement", "none": "No theme is disputed after the last round.",
        "hold_outs": "{n} of the {total} agents who rated both times hold out {distance} points or more off the median {median} ({below} "
        "below, {above} above).",
        "camps": "two camps: {below} of {total} agents low, {above} high, {between} between; {stayed} stood in their camp in the round "
        "before.",
        "scattered": "scattered, without camps and without hold-outs (median {median}).",
        "lower": "lower camp", "upper": "upper camp", "stands": "Verdict", "stands_camps": "camps", "stands_hold_outs": "hold-outs",
        "stands_scattered": "scattered", "against": "Hold-outs on themes without disagreement",
        "against_some": "On {n} ratings without disagreement somebody holds out. Shown are the {k} with the most hold-outs.",
        "against_none": "Nobody holds out on themes without disagreement.",
        "below": "below the median", "above": "above the median", "no_reason": "no reason given",
        "ranked": "Consensus, the closest agreement first", "rank": "Rank",
        "no_consensus": "No theme reaches consensus on importance.",
        "W": "Concordance of the rankings (Kendall's W)", "raters": "agents", "dropped": "with gaps", "source": "Source",
        "excerpt": "Evidence (the first {k} of {n}):",
        "frame": "Tests and intervals over simulated agents describe this run, not people: all agents share one model and one wording. "
        "The unit of inference is run × wording.",
        "spread": "Consensus (spread), stability (movement) and polarisation (camps) are measured apart; none follows from another.",
        "tw": "Tastle–Wierman", "bc": "bimodality", "polarised": "camps", "yes": "yes", "no": "no",
        "stability": "Delphi: stability between rounds", "kappa": "weighted κ", "net": "net change", "stable": "stable",
        "changed": "changed", "delta_cv": "ΔCV",
        "stability_note": "Within the same agents, against the round before. Stable: net change of the histogram ≤ 15% (Scheibe, Skutsch & "
        "Schofer 1975). κ with quadratic weights; p of Wilcoxon's test, corrected over all ratings of the round; ΔCV: change of the "
        "coefficient of variation.",
        "rule": "Camps: A is below {a}, and at least a quarter of the raters stand on either side. There are hold-outs only where there "
        "are no camps: in both rounds they lay at least half the scale's width off the median fed back, on the same side, came no closer "
        "to it, and fewer than half of the raters stand there. Quoted first are those who kept their place and give a reason.",
        "map": "Who stands where, by group (low / high / rated)", "before": "before: {value}",
        "top_disputes": "Shown are the {n} of {total} ratings with the least agreement (A).",
        "ranking": "How firm the ranking is", "k": "rank [95%]", "mean_order": "by mean", "p_top": "P(rank ≤ {k})",
        "consensus_order": "by agreement",
        "ranking_note": "Bootstrap over agents ({draws} draws), {dimension}, round {round}. Mean Kendall τ-b with the order observed: "
        "{mean_tau} (mean), {consensus_tau} (agreement).",
        "second": "Second coding: {n} of {total} answers were given to the themes a second time, in another order and without knowledge of "
        "the first. Krippendorff's α = {alpha} (MASI; from .80 reliable, from .67 tentative); {same} of the answers have exactly the "
        "same themes. The same model coded both times: an upper bound of what two people would find.",
        "second_left": "Not compared: {n} answers that the second coding left out.",
        "second_off": "No second coding was wanted; how reliable the themes are was not measured.",
        "second_missing": "There is no second coding; how reliable the themes are was not measured.",
        "second_table": "Delphi: agreement of the codings", "first_n": "first", "second_n": "second", "both_n": "both",
    },
}  # fmt: skip
