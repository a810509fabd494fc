"""A questionnaire drafted from themes: four families of three statements, two keyed one way and one the other."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, Slot, head, identifier, pair

FAMILIES = 4
WANTED = (
    "A statement that everybody asked can agree or disagree with on five points. {which} It is about {about}: {what}."
)
KEYED = {
    False: "Agreeing means being content with how things are.",
    True: "Agreeing means being discontented with how things are.",
}
ITEMS = (
    (
        (
            False, "course", "where things are going",
            "Bei „{de}“ geht es in die richtige Richtung.", "On “{en}”, things are going in the right direction.",
        ),
        (
            False, "fair", "whether it is fair",
            "Wie es bei „{de}“ jetzt läuft, ist gerecht.", "The way things are now on “{en}” is fair.",
        ),
        (
            True, "risk", "risk and benefit",
            "Was bei „{de}“ geschieht, bringt mehr Schaden als Nutzen.", "What happens on “{en}” does more harm than good.",
        ),
    ),
    (
        (
            False, "trust", "trust in those who decide",
            "Denen, die über „{de}“ entscheiden, vertraue ich.", "I trust those who decide on “{en}”.",
        ),
        (
            True, "rules", "whether rules are strict enough",
            "Für „{de}“ sind strengere Regeln nötig.", "Stricter rules are needed for “{en}”.",
        ),
        (
            True, "harm", "what it means for one's own side",
            "Wie es bei „{de}“ läuft, schadet denen, für die ich spreche.",
            "The way things are going on “{en}” harms those I speak for.",
        ),
    ),
)  # fmt: skip
"""In turn, so that families are keyed two to one either way. Written as pairs; persons and institutions can answer them."""


def draft(material: Material) -> Mapping[str, str]:
    families, items = [], []
    for place, theme in enumerate(material.themes[:FAMILIES]):
        family, told = identifier(theme, place), {"de": theme.in_("de"), "en": theme.in_("en")}
        families.append(f"  {family}: {pair(material.labels(theme))}\n")
        for reverse, name, what, german, english in ITEMS[place % 2]:
            wanted = WANTED.format(which=KEYED[reverse], about=theme.label, what=what)
            said = material.write(
                Slot(
                    f"longitudinal/{family}_{name}", wanted, german.format(**told), english.format(**told),
                    about=theme, family=family, reverse=reverse,
                )
            )  # fmt: skip
            keyed = "    reverse_coded: true\n" if reverse else ""
            items.append(
                f"  # from: {said.source}\n  - item_id: {family}_{name}\n    family: {family}\n{keyed}{said.lines('    ')}"
            )
    text = head(material, "longitudinal", "Stimmungsbild", "Views")
    return {"longitudinal.yaml": f"{text}scale: likert5\n\nfamilies:\n{''.join(families)}\nitems:\n{''.join(items)}"}
