"""Four open questions for a panel, on the topic and its widest themes."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, Slot, head

WANTED = "An open question to a panel of those concerned, answered in some sentences, on {about}: {what}."
QUESTIONS = (
    ("drivers", "which developments will be decisive over the next five years",
     "Es geht um: „{de}“. Welche Entwicklungen werden dabei in den nächsten fünf Jahren den Ausschlag geben?",
     "This is about: “{en}”. Which developments will be decisive over the next five years?"),
    ("outlook", "which risks and which opportunities there are",
     "Welche Risiken und welche Chancen sehen Sie beim Thema „{de}“?",
     "Which risks and which opportunities do you see when it comes to “{en}”?"),
    ("measures", "what should happen next, and why",
     "Was sollte beim Thema „{de}“ als Nächstes geschehen, und warum?", "What should happen next on “{en}”, and why?"),
    ("responsibility", "who should decide", "Wer sollte beim Thema „{de}“ entscheiden, und warum?",
     "Who should decide on “{en}”, and why?"),
)  # fmt: skip
"""The first on the topic, the others on themes in turn. Written as pairs."""


def draft(material: Material) -> Mapping[str, str]:
    lines = []
    for place, (name, what, german, english) in enumerate(QUESTIONS):
        theme = material.themes[(place - 1) % len(material.themes)] if place else None
        told = {
            "de": theme.in_("de") if theme else material.topic_in("de"),
            "en": theme.in_("en") if theme else material.topic_in("en"),
        }
        wanted = WANTED.format(about=theme.label if theme else material.topic, what=what)
        said = material.write(
            Slot(f"delphi/{name}", wanted, german.format(**told), english.format(**told), "question", theme)
        )
        lines.append(f"  # from: {said.source}\n  - question_id: {name}\n{said.lines('    ')}")
    return {"delphi.yaml": f"{head(material, 'delphi', 'Delphi', 'Delphi')}questions:\n{''.join(lines)}"}
