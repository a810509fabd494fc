"""A questionnaire drafted from themes: the same four statements on what is planned in every family, two keyed each way, and a family of
its own on how it is decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from enquete.graphs.longitudinal.instrument import INSTRUCTION
from enquete.nodes.material import Material, Slot, head, identifier, pair
from enquete.simulations.discourse import Theme
from enquete.state.asking import Spoken

MOST_FAMILIES = 3
"""On themes: the widest."""
WANTED = (
    "A statement that everybody asked can agree or disagree with on five points. {which} It is about {about}: {what}."
)
KEYED = {
    False: "Agreeing means favouring what is planned.",
    True: "Agreeing means disfavouring what is planned.",
}
ITEMS = (
    (False, "better", "whether what is planned makes it better",
     "Was geplant ist, wird bei „{de}“ mehr verbessern als verschlechtern.",
     "What is planned will make “{en}” better rather than worse."),
    (False, "fair", "whether what is planned is fair in this respect",
     "Bei „{de}“ ist das, was geplant ist, gerecht gegenüber allen Beteiligten.",
     "On “{en}”, what is planned is fair to everybody involved."),
    (True, "harm", "whether what is planned does harm in this respect",
     "Was geplant ist, wird bei „{de}“ mehr schaden als nützen.",
     "What is planned will do more harm than good to “{en}”."),
    (True, "burden", "whether the wrong people pay for what is planned",
     "Die Lasten des Vorhabens tragen bei „{de}“ die Falschen.",
     "On “{en}”, the wrong people will pay for what is planned."),
)  # fmt: skip
"""The same in every family, so that families can be compared. Written as pairs; persons and institutions can answer them."""
PLAN = "plan"
PLAN_LABEL: Mapping[Spoken, str] = {"de": "Wie entschieden wird", "en": "How it is decided"}
ON_THE_PLAN = (
    (False, "trust", "trust in those who decide on it",
     "Wer über das Vorhaben entscheidet, hat mein Vertrauen.", "Those who decide on the plan have my trust."),
    (False, "rules", "whether the rules that there are suffice for it",
     "Die bestehenden Regeln genügen für das Vorhaben.", "The existing rules are sufficient for the plan."),
    (True, "haste", "how fast it is decided",
     "Über das Vorhaben wird zu schnell entschieden.", "The plan is being decided on too fast."),
    (True, "open", "openness of those who know",
     "Über das Vorhaben wird zu wenig offengelegt.", "Too little is disclosed about the plan."),
)  # fmt: skip
"""Whoever wants stricter rules need not be against a plan: no item says so."""
ABOUT: Mapping[Spoken, str] = {"de": "Es geht um das Vorhaben: „{t}“. ", "en": "This is about the plan: “{t}”. "}


def draft(material: Material) -> Mapping[str, str]:
    families: list[str] = []
    items: list[str] = []
    for place, theme in enumerate(material.themes[:MOST_FAMILIES]):
        families.append(f"  {_family(theme, place)}: {pair(material.labels(theme))}\n")
        items += _items(material, _family(theme, place), theme)
    families.append(f"  {PLAN}: {pair(PLAN_LABEL)}\n")
    items += _items(material, PLAN)
    told = {
        language: ABOUT[language].format(t=topic) + INSTRUCTION[language] for language, topic in material.topics.items()
    }
    text = head(material, "longitudinal", "Stimmungsbild", "Views")
    return {
        "longitudinal.yaml": f"{text}instruction: {pair(told)}\nscale: likert5\n\n"
        f"families:\n{''.join(families)}\nitems:\n{''.join(items)}"
    }


def _family(theme: Theme, place: int) -> str:
    name = identifier(theme, place)
    return name if name != PLAN else f"theme-{place + 1}"


def _items(material: Material, family: str, theme: Theme | None = None) -> Iterator[str]:
    told = {"de": theme.in_("de"), "en": theme.in_("en")} if theme else {}
    for reverse, name, what, german, english in ITEMS if theme else ON_THE_PLAN:
        wanted = WANTED.format(which=KEYED[reverse], about=theme.label if theme else "the plan", what=what)
        said = material.write(
            Slot(
                f"longitudinal/{family}_{name}", wanted, german.format(**told), english.format(**told), about=theme,
                family=family, reverse=reverse,
            ),
        )  # fmt: skip
        keyed = "    reverse_coded: true\n" if reverse else ""
        yield f"  # from: {said.source}\n  - item_id: {family}_{name}\n    family: {family}\n{keyed}{said.lines('    ')}"
