"""A roundtable drafted from the topic and its themes: the question, what is rated and what is ranked in private before and after."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, Slot, head, identifier

QUESTION = (
    "The question of a roundtable that can be answered yes or no, on what is disputed most about “{about}”, without taking a side.",
    "Es geht um: „{de}“. Ist das der richtige Weg?",
    "This is about: “{en}”. Is this the right way to go?",
)
CONSIDERATIONS = (
    ("different", "whether something has to change",
     "Beim Thema „{de}“ muss sich etwas ändern.", "When it comes to “{en}”, something has to change."),
    ("cost", "whether a change is worth its cost",
     "Eine Änderung beim Thema „{de}“ kostet mehr, als sie bringt.", "A change on “{en}” costs more than it brings."),
    ("trust", "whether those who decide deserve trust",
     "Wer beim Thema „{de}“ entscheidet, verdient Vertrauen.", "Those who decide on “{en}” deserve trust."),
    ("clear", "whether it is clear what to do",
     "Beim Thema „{de}“ ist klar, was zu tun ist.", "It is clear what to do about “{en}”."),
    ("future", "whether the future counts for more than the present",
     "Beim Thema „{de}“ zählt die Zukunft mehr als die Gegenwart.", "On “{en}”, the future counts for more than the present."),
    ("shared", "whether it concerns everybody", "Das Thema „{de}“ geht alle an.", "“{en}” concerns everybody."),
)  # fmt: skip
"""On a theme each. Written as pairs."""
PREFERENCES = (
    ("keep", "leaving things as they are", "Alles bleibt, wie es ist.", "Everything stays as it is."),
    ("adjust", "improving step by step", "Es wird schrittweise nachgebessert.", "Things are improved step by step."),
    ("local", "leaving the decision to those concerned",
     "Die Betroffenen entscheiden selbst.", "Those concerned decide for themselves."),
    ("change", "a fundamental change", "Es wird grundlegend geändert.", "Things are changed fundamentally."),
)  # fmt: skip


def draft(material: Material) -> Mapping[str, str]:
    """What a discussion is told around these is Enquete's own wherever the file does not say it."""
    told = {"de": material.topic_in("de"), "en": material.topic_in("en")}
    wanted, german, english = QUESTION
    asked = material.write(
        Slot(
            "roundtable/question", wanted.format(about=material.topic), german.format(**told), english.format(**told),
            "question",
        )
    )  # fmt: skip
    text = head(material, "roundtable", "Gesprächsrunde", "Roundtable")
    return {
        "roundtable.yaml": f"{text}# from: {asked.source}\nquestion: {asked.inline}\nconsiderations:\n{_considerations(material)}"
        f"preferences:\n{_preferences(material)}scale: likert7\n"
    }


def _considerations(material: Material) -> str:
    lines = []
    for place, theme in enumerate(material.themes[: len(CONSIDERATIONS)]):
        name, what, german, english = CONSIDERATIONS[place]
        told = {"de": theme.in_("de"), "en": theme.in_("en")}
        wanted = f"A consideration that is rated on seven points, on {theme.label}: {what}."
        slot = Slot(
            f"roundtable/{identifier(theme, place)}_{name}", wanted, german.format(**told), english.format(**told),
            about=theme,
        )  # fmt: skip
        said = material.write(slot)
        lines.append(f"  # from: {said.source}\n  {identifier(theme, place)}_{name}: {said.inline}\n")
    return "".join(lines)


def _preferences(material: Material) -> str:
    lines = []
    for name, what, german, english in PREFERENCES:
        wanted = (
            f"A course of action on “{material.topic}” that is ranked among others, in at most twelve words: {what}."
        )
        said = material.write(Slot(f"roundtable/{name}", wanted, german, english, "text"))
        lines.append(f"  # from: {said.source}\n  {name}: {said.inline}\n")
    return "".join(lines)
