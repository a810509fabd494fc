"""A questionnaire drafted from themes: four families of three statements, two keyed one way and one the other."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.instruments.derived import slug
from enquete.nodes.material import Material, head, quoted

FAMILIES = 4
ITEMS = (
    (
        (
            False,
            "course",
            "Bei „{t}“ geht es in die richtige Richtung.",
            "On “{t}”, things are going in the right direction.",
        ),
        (False, "fair", "So wie es bei „{t}“ jetzt läuft, ist es gerecht.", "The way “{t}” is handled now is fair."),
        (True, "risk", "Bei „{t}“ überwiegen die Risiken.", "On “{t}”, the risks outweigh the benefits."),
    ),
    (
        (False, "trust", "Denen, die über „{t}“ entscheiden, vertraue ich.", "I trust those who decide on “{t}”."),
        (True, "rules", "Für „{t}“ sind strengere Regeln nötig.", "Stricter rules are needed for “{t}”."),
        (
            True,
            "harm",
            "Was bei „{t}“ geschieht, schadet Menschen wie mir.",
            "What happens on “{t}” harms people like me.",
        ),
    ),
)
"""In turn, so that families are keyed two to one either way. Written as pairs."""


def draft(material: Material) -> Mapping[str, str]:
    families, items = [], []
    for place, theme in enumerate(material.themes[:FAMILIES]):
        family = slug(theme.label).lower() or f"theme_{place + 1}"
        families.append(f"  {family}: {{de: {quoted(theme.label)}, en: {quoted(theme.label)}}}\n")
        for reverse, what, german, english in ITEMS[place % 2]:
            items.append(
                f"  # from: theme “{theme.label}”, in {theme.posts} posts of {theme.agents} agents; the sentence is Enquete's\n"
                f"  - item_id: {family}_{what}\n    family: {family}\n"
                + ("    reverse_coded: true\n" if reverse else "")
                + f"    de: {quoted(german.format(t=theme.label))}\n    en: {quoted(english.format(t=theme.label))}\n"
            )
    text = head(material, "longitudinal", "Stimmungsbild", "Views")
    return {"longitudinal.yaml": f"{text}scale: likert5\n\nfamilies:\n{''.join(families)}\nitems:\n{''.join(items)}"}
