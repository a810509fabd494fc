"""Sentences of the claims across methods, and why one is absent, in German and English. Figures come from the claim alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from enquete.reports.crossing.claims import ARCHETYPE, Absent, Claim
from enquete.state.seam import Language

GROUPS: Mapping[str, Mapping[Language, str]] = {
    "holding_out": {
        "de": "wer im Delphi bei mindestens einem Thema beharrt",
        "en": "those who hold out on at least one theme of the Delphi",
    },
    "others": {"de": "die übrigen Agenten", "en": "the other agents"},
}
"""Groups that crossing itself makes; archetypes and stakeholder types have their own names."""

_MOVED: Mapping[Language, tuple[str, str]] = {
    "de": (
        "{what} am stärksten bei {high}: im Mittel {high_value} Skalenpunkte je Aussage ({high_n} von {high_total} Agenten); "
        "am wenigsten bei {low}: {low_value} ({low_n} von {low_total}).",
        "{what} in allen {n_groups} Gruppen gleich stark: im Mittel {high_value} Skalenpunkte je Aussage ({n} von {n_total} "
        "Agenten).",
    ),
    "en": (
        "{what} most among {high}: {high_value} scale points a statement on average ({high_n} of {high_total} agents); least "
        "among {low}: {low_value} ({low_n} of {low_total}).",
        "{what} equally in all {n_groups} groups: {high_value} scale points a statement on average ({n} of {n_total} agents).",
    ),
}
_WHAT: Mapping[str, Mapping[Language, str]] = {
    "drift": {"de": "Die Antworten haben sich bewegt,", "en": "Answers moved"},
    "experience": {
        "de": "Die Erinnerung verändert die Antworten (Erfahrungseffekt, keine Drift),",
        "en": "Memory changes the answers (experience effect, not drift)",
    },
}
_HELD: Mapping[Language, tuple[str, str]] = {
    "de": (
        "Bewertungen im Delphi, bei denen eine Minderheit abseits des Medians beharrt: {held}; {holding_out} von {raters} Agenten tun es "
        "mindestens einmal. Ihr Anteil ist am größten bei {high} ({high_value}, {high_count} von {high_n} Agenten), am kleinsten bei "
        "{low} ({low_value}, {low_count} von {low_n}).",
        "Bewertungen im Delphi, bei denen eine Minderheit abseits des Medians beharrt: {held}; {holding_out} von {raters} Agenten tun es "
        "mindestens einmal, in allen {n_groups} Gruppen gleich viele ({high_value}).",
    ),
    "en": (
        "Delphi ratings on which a minority holds out off the median: {held}; {holding_out} of {raters} agents do so at least once. "
        "Their share is largest among {high} ({high_value}, {high_count} of {high_n} agents), smallest among {low} ({low_value}, "
        "{low_count} of {low_n}).",
        "Delphi ratings on which a minority holds out off the median: {held}; {holding_out} of {raters} agents do so at least once, as "
        "many in all {n_groups} groups ({high_value}).",
    ),
}
_SPLIT: Mapping[Language, tuple[str, str]] = {
    "de": (
        "Delphi-Bewertungen mit zwei Lagern: {n_items}. Am deutlichsten teilt das Thema „{theme}“ ({dimension}): {n_below} Agenten im "
        "unteren Lager, {n_above} im oberen. Anteil des oberen Lagers: am größten bei {high} ({high_value}, {high_count} von {high_n} "
        "Agenten), am kleinsten bei {low} ({low_value}, {low_count} von {low_n}).",
        "Delphi-Bewertungen mit zwei Lagern: {n_items}. Am deutlichsten teilt das Thema „{theme}“ ({dimension}): {n_below} Agenten im "
        "unteren Lager, {n_above} im oberen; in allen {n_groups} Gruppen ist das obere gleich stark ({high_value}).",
    ),
    "en": (
        "Delphi ratings with two camps: {n_items}. The theme that splits most is “{theme}” ({dimension}): {n_below} agents in the lower "
        "camp, {n_above} in the upper. Share of the upper camp: largest among {high} ({high_value}, {high_count} of {high_n} agents), "
        "smallest among {low} ({low_value}, {low_count} of {low_n}).",
        "Delphi ratings with two camps: {n_items}. The theme that splits most is “{theme}” ({dimension}): {n_below} agents in the lower "
        "camp, {n_above} in the upper; the upper one is equally strong in all {n_groups} groups ({high_value}).",
    ),
}
_WISHED: Mapping[Language, tuple[str, str]] = {
    "de": (
        "Das Szenario „{scenario}“ ist am wünschenswertesten für {high} (Mittel {high_value} auf {scale_min}–{scale_max}, {high_n} "
        "von {high_total} Agenten), am wenigsten für {low} ({low_value}, {low_n} von {low_total}).",
        "Das Szenario „{scenario}“ ist für alle {n_groups} Gruppen gleich wünschenswert (Mittel {high_value} auf "
        "{scale_min}–{scale_max}, {n} von {n_total} Agenten).",
    ),
    "en": (
        "The scenario “{scenario}” is most desirable to {high} (mean {high_value} on {scale_min}–{scale_max}, {high_n} of "
        "{high_total} agents), least to {low} ({low_value}, {low_n} of {low_total}).",
        "The scenario “{scenario}” is equally desirable to all {n_groups} groups (mean {high_value} on {scale_min}–{scale_max}, "
        "{n} of {n_total} agents).",
    ),
}
_OWN: Mapping[str, Mapping[Language, tuple[str, str]]] = {
    "types_of_archetypes": {
        "de": (
            "Am einheitlichsten ist {high}: {high_count} von {high_n} Mitgliedern gehören zu „{type_high}“ ({high_value}); am "
            "gemischtesten ist {low}, wo die häufigste Gruppe „{type_low}“ {low_count} von {low_n} stellt ({low_value}).",
            "Alle {n_groups} Archetypen sind gleich einheitlich: Die häufigste Gruppe stellt jeweils {high_value} der Mitglieder.",
        ),
        "en": (
            "The most uniform is {high}: {high_count} of {high_n} members belong to “{type_high}” ({high_value}); the most mixed is "
            "{low}, where the most frequent type, “{type_low}”, has {low_count} of {low_n} ({low_value}).",
            "All {n_groups} archetypes are equally uniform: the most frequent type has {high_value} of the members.",
        ),
    },
    "drift_of_hold_outs": {
        "de": (
            "Stärker bewegt zwischen den Wellen: {high}, im Mittel {high_value} Skalenpunkte je Aussage (n = {high_n}); weniger: "
            "{low}, {low_value} (n = {low_n}).",
            "Wer im Delphi beharrt, hat sich zwischen den Wellen gleich stark bewegt wie die übrigen: im Mittel {high_value} "
            "Skalenpunkte je Aussage ({n} von {n_total} Agenten).",
        ),
        "en": (
            "Moved more between the waves: {high}, {high_value} scale points a statement on average (n = {high_n}); less: {low}, "
            "{low_value} (n = {low_n}).",
            "Those who hold out in the Delphi moved as much between the waves as the others: {high_value} scale points a statement "
            "on average ({n} of {n_total} agents).",
        ),
    },
    "experience_of_hold_outs": {
        "de": (
            "Stärker verändert die Erinnerung die Antworten der Gruppe: {high}, im Mittel {high_value} Skalenpunkte je Aussage "
            "(n = {high_n}); weniger: {low}, {low_value} (n = {low_n}).",
            "Wer im Delphi beharrt, dessen Antworten verändert die Erinnerung so stark wie die der übrigen: im Mittel {high_value} "
            "Skalenpunkte je Aussage ({n} von {n_total} Agenten).",
        ),
        "en": (
            "Memory changes the answers more in this group: {high}, {high_value} scale points a statement on average (n = "
            "{high_n}); less: {low}, {low_value} (n = {low_n}).",
            "Memory changes the answers of those who hold out in the Delphi as much as those of the others: {high_value} scale "
            "points a statement on average ({n} of {n_total} agents).",
        ),
    },
    "desirability_of_hold_outs": {
        "de": (
            "Von {scenarios} Szenarien trennt „{scenario}“ die Beharrenden des Delphi am deutlichsten von den übrigen; "
            "wünschenswerter für: {high} (Mittel {high_value} auf {scale_min}–{scale_max}, n = {high_n}), weniger für: {low} "
            "({low_value}, n = {low_n}).",
            "Keines von {scenarios} Szenarien trennt die Beharrenden des Delphi von den übrigen.",
        ),
        "en": (
            "Of {scenarios} scenarios “{scenario}” sets the hold-outs of the Delphi apart most; more desirable to: {high} (mean "
            "{high_value} on {scale_min}–{scale_max}, n = {high_n}), less to: {low} ({low_value}, n = {low_n}).",
            "None of {scenarios} scenarios sets the hold-outs of the Delphi apart from the others.",
        ),
    },
}
_FAMILIES = {"drift": _MOVED, "experience": _MOVED, "hold_outs": _HELD, "camps": _SPLIT, "desirability": _WISHED}

_NAMES: Mapping[str, Mapping[Language, str]] = {
    "types_of_archetypes": {"de": "Gruppen in den Archetypen", "en": "Stakeholder types of the archetypes"},
    "drift_by_archetype": {"de": "Veränderung nach Archetyp", "en": "Change by archetype"},
    "drift_by_type": {"de": "Veränderung nach Gruppe", "en": "Change by stakeholder type"},
    "hold_outs_by_archetype": {"de": "Beharren im Delphi nach Archetyp", "en": "Hold-outs in the Delphi by archetype"},
    "hold_outs_by_type": {"de": "Beharren im Delphi nach Gruppe", "en": "Hold-outs in the Delphi by stakeholder type"},
    "camps_by_archetype": {"de": "Lager im Delphi nach Archetyp", "en": "Camps in the Delphi by archetype"},
    "camps_by_type": {"de": "Lager im Delphi nach Gruppe", "en": "Camps in the Delphi by stakeholder type"},
    "desirability_by_archetype": {
        "de": "Wünschbarkeit der Szenarien nach Archetyp",
        "en": "Desirability of scenarios by archetype",
    },
    "desirability_by_type": {
        "de": "Wünschbarkeit der Szenarien nach Gruppe",
        "en": "Desirability of scenarios by stakeholder type",
    },
    "drift_of_hold_outs": {"de": "Veränderung der Beharrenden", "en": "Change among the hold-outs"},
    "desirability_of_hold_outs": {"de": "Wünschbarkeit für die Beharrenden", "en": "Desirability to the hold-outs"},
}

ABSENT: Mapping[str, Mapping[Language, str]] = {
    "no_longitudinal": {"de": "Der Längsschnitt fehlt", "en": "The longitudinal survey is missing"},
    "no_diversity": {"de": "Q-Sort und Typologie fehlen", "en": "Q-sort and typology are missing"},
    "no_delphi": {"de": "Das Delphi fehlt", "en": "The Delphi is missing"},
    "no_scenario": {"de": "Die Szenarien fehlen", "en": "The scenarios are missing"},
    "one_wave": {"de": "Es liegt nur eine Welle vor", "en": "There is only one wave"},
    "incomparable": {"de": "T0 und T1 sind nicht vergleichbar", "en": "T0 and T1 cannot be compared"},
    "no_pairs": {"de": "Kein Agent hat in beiden Wellen geantwortet", "en": "No agent answered in both waves"},
    "no_typology": {
        "de": "Es gibt keine Typologie, also auch keine Archetypen",
        "en": "There is no typology, hence there are no archetypes",
    },
    "no_revision": {"de": "Das Delphi hat noch keine Überprüfungsrunde", "en": "The Delphi has no round of revision yet"},
    "no_hold_outs": {"de": "Im Delphi beharrt niemand", "en": "Nobody holds out in the Delphi"},
    "few_hold_outs": {
        "de": "Im Delphi beharren weniger als 3 Agenten, oder weniger als 3 beharren nicht",
        "en": "Fewer than 3 agents hold out in the Delphi, or fewer than 3 do not",
    },
    "most_hold_out": {
        "de": "Im Delphi beharrt wenigstens die Hälfte der Agenten irgendwo; das unterscheidet sie nicht von den übrigen",
        "en": "At least half of the agents hold out somewhere in the Delphi, which does not set them apart from the others",
    },
    "no_camps": {"de": "Im Delphi teilt kein Thema die Agenten in Lager", "en": "No theme of the Delphi splits the agents into camps"},
    "no_single_panel": {
        "de": "Im Delphi teilt jedes Thema die Agenten in Lager, es gibt keine Beharrenden",
        "en": "Every theme of the Delphi splits the agents into camps, there are no hold-outs",
    },
    "small_groups": {
        "de": "Weniger als zwei Gruppen haben mindestens 3 Agenten mit Antworten",
        "en": "Fewer than two groups have at least 3 agents with answers",
    },
    "no_desirability": {
        "de": "Das Szenario-Instrument fragt nicht nach der Wünschbarkeit",
        "en": "The scenario instrument does not ask for desirability",
    },
    "no_ratings": {"de": "Kein Szenario wurde bewertet", "en": "No scenario was rated"},
    "one_group": {"de": "Mit Antworten ist nur eine Gruppe vertreten", "en": "Only one group has answers"},
    "one_type": {"de": "Alle Agenten gehören zu einer Gruppe", "en": "All agents are of one stakeholder type"},
    "nobody": {"de": "Es liegen keine Antworten vor", "en": "There are no answers"},
}  # fmt: skip


def sentence(claim: Claim, language: Language) -> str:
    """The claim in words, plain text. Every figure in it is one of `claim.numbers()`."""
    name, _, fits = claim.template.partition("/")
    family = name.partition("_by_")[0]
    templates = _FAMILIES[family][language] if family in _FAMILIES else _OWN[name][language]
    values = {key: number.printed(language) for key, number in claim.numbers().items() if "." not in key}
    for end, place in (("high", 0), ("low", len(claim.groups) - 1)):
        values |= _of_group(claim, end, place, language)
    terms = {key: term[language] for key, term in claim.terms.items()}
    what = _WHAT[family][language] if family in _WHAT else ""
    said = templates[fits == "same"].format(**values, **terms, what=what)
    return " ".join([said, *_ties(claim, language), *_small(claim, language)])


_TIES: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "high": "Ebenso hoch: {tied}.",
        "low": "Ebenso niedrig: {tied}.",
        "types": "Gleich viele stellt in {group} {tied}.",
    },
    "en": {"high": "Equally high: {tied}.", "low": "Equally low: {tied}.", "types": "As many in {group}: {tied}."},
}
_SMALL: Mapping[Language, tuple[str, str]] = {
    "de": (
        "Nicht verglichen: {n_small} Gruppe mit weniger als {fewest} Agenten.",
        "Nicht verglichen: {n_small} Gruppen mit je weniger als {fewest} Agenten.",
    ),
    "en": (
        "Not compared: {n_small} group of fewer than {fewest} agents.",
        "Not compared: {n_small} groups of fewer than {fewest} agents each.",
    ),
}


def _ties(claim: Claim, language: Language) -> Iterator[str]:
    """Who else has what the sentence says of one: other groups with its figure, other types with as many members."""
    if claim.template.endswith("/same"):
        return
    words, shown = (
        _TIES[language],
        [claim.numbers()[f"groups[{i}].value"].printed(language) for i in range(len(claim.groups))],
    )
    for end, place in (("high", 0), ("low", len(claim.groups) - 1)):
        others = [i for i, figure in enumerate(shown) if figure == shown[place] and i != place]
        if others:
            tied = [group_name(claim.groups[i].group, language) for i in others]
            yield words[end].format(tied=enumerated(tied, language))
        if f"tied_{end}" in claim.terms:
            name = group_name(claim.groups[place].group, language)
            yield words["types"].format(group=name, tied=claim.terms[f"tied_{end}"][language])


def _small(claim: Claim, language: Language) -> Iterator[str]:
    numbers = claim.numbers()
    if claim.small:
        printed = {key: numbers[key].printed(language) for key in ("n_small", "fewest")}
        yield _SMALL[language][len(claim.small) > 1].format(**printed)


def enumerated(names: Sequence[str], language: Language) -> str:
    """A, B und C."""
    joint = " und " if language == "de" else " and "
    return joint.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _of_group(claim: Claim, end: str, place: int, language: Language) -> dict[str, str]:
    """Figures and name of one group under the names that templates use: high_value, low_n …"""
    numbers = claim.numbers()
    keys = {"value": "value", "n": "n", "total": "n_total", "count": "count"}
    found = {f"{end}_{key}": numbers.get(f"groups[{place}].{name}") for key, name in keys.items()}
    printed = {key: number.printed(language) for key, number in found.items() if number is not None}
    return {**printed, end: group_name(claim.groups[place].group, language)}


def group_name(group: str, language: Language) -> str:
    """A group as a sentence names it: its own name in quotation marks, or the words for a group of crossing's own."""
    if group in GROUPS:
        return GROUPS[group][language]
    if group.startswith(ARCHETYPE):
        return f"{'Archetyp' if language == 'de' else 'archetype'} {group.removeprefix(ARCHETYPE)}"
    return f"„{group}“" if language == "de" else f"“{group}”"


def names(claim: Claim, language: Language) -> list[str]:
    """Names that may stand in a sentence about it, bare: of its groups, and its terms."""
    groups = (group_name(group.group, language).strip("„“”") for group in claim.groups)
    return [*groups, *(term[language] for term in claim.terms.values())]


def heading(claim: str, language: Language) -> str:
    """What kind of claim it is; claims about memory and about drift have one heading."""
    known = claim.replace("experience_", "drift_", 1)
    name = next((name for name in _NAMES if known.startswith(name)), known)
    return _NAMES.get(name, {}).get(language, name)


def reason(absent: Absent, language: Language) -> str:
    """Why a claim is absent, with what it would have been."""
    return f"{heading(absent.claim, language)}: {ABSENT[absent.why][language]}."
