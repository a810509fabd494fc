"""A roundtable drafted from the topic and its themes: the question, what is rated and what is ranked in private before and after."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, Slot, head, identifier

QUESTION = (
    "The question of a roundtable that can be answered yes or no, on what is disputed most about “{about}”, without taking a side.",
    "Es geht um: „{de}“. Ist das der richtige Weg?",
    "This is about: “{en}”. Is this the right way to go?",
)
WIDEST = 3
CONSIDERATIONS = (
    ("gain", "for it: things get better there",
     "Was geplant ist, verbessert die Lage bei „{de}“.", "What is planned makes things better on “{en}”."),
    ("cost", "against it: things get worse there",
     "Was geplant ist, verschlechtert die Lage bei „{de}“.", "What is planned makes things worse on “{en}”."),
    ("needed", "for it: something has to change there",
     "Bei „{de}“ muss sich etwas ändern.", "On “{en}”, something has to change."),
    ("wrong", "against it: the wrong people pay there",
     "Für das, was geplant ist, zahlen bei „{de}“ die Falschen.",
     "On “{en}”, the wrong people would pay for what is planned."),
    ("benefit", "for it: its benefit outweighs its harm there",
     "Bei „{de}“ wiegt der Nutzen des Vorhabens schwerer als sein Schaden.", "On “{en}”, the benefit of the plan outweighs its harm."),
    ("other", "against it: there is a better way",
     "Bei „{de}“ gibt es einen besseren Weg als den, der geplant ist.",
     "On “{en}”, there is a better way than the one planned."),
)  # fmt: skip
"""Three for what is planned and three against, in turn, on the widest themes. Written as pairs."""
PREFERENCES = (
    ("planned", "doing what is planned", "Das Vorhaben wird umgesetzt wie geplant.", "The plan is carried out as it stands."),
    ("changed", "doing it with changes", "Das Vorhaben wird mit Änderungen umgesetzt.", "The plan is carried out with changes."),
    ("postponed", "putting it off", "Das Vorhaben wird verschoben.", "The plan is postponed."),
    ("dropped", "not doing it", "Das Vorhaben wird aufgegeben.", "The plan is dropped."),
)  # fmt: skip


def draft(material: Material) -> Mapping[str, str]:
    """What a discussion is told around these is Enquete's own wherever the file does not say it."""
    told = {"de": material.topic_in("de"), "en": material.topic_in("en")}
    wanted, german, english = QUESTION
    asked = material.write(
        Slot(
            "roundtable/question", wanted.format(about=material.topic), german.format(**told), english.format(**told),
            "question",
        ),
    )  # fmt: skip
    text = head(material, "roundtable", "Gesprächsrunde", "Roundtable")
    return {
        "roundtable.yaml": f"{text}# from: {asked.source}\nquestion: {asked.inline}\nconsiderations:\n{_considerations(material)}"
        f"preferences:\n{_preferences(material)}scale: likert7\n"
    }


def _considerations(material: Material) -> str:
    lines = []
    for place, (name, what, german, english) in enumerate(CONSIDERATIONS):
        theme = material.themes[place % min(len(material.themes), WIDEST)]
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
