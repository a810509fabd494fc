"""Four open questions for a panel, on the topic and its widest themes."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, head, quoted

QUESTIONS = (
    ("drivers", "Welche Entwicklungen werden bei „{t}“ in den nächsten fünf Jahren den Ausschlag geben?",
     "Which developments will be decisive on “{t}” over the next five years?"),
    ("risks", "Worin liegen bei „{t}“ die größten Risiken, und für wen?", "What are the greatest risks on “{t}”, and for whom?"),
    ("measures", "Was sollte bei „{t}“ als Nächstes geschehen?", "What should happen next on “{t}”?"),
    ("responsibility", "Wer sollte über „{t}“ entscheiden?", "Who should decide on “{t}”?"),
)  # fmt: skip
"""The first on the topic, the others on themes in turn. Written as pairs."""


def draft(material: Material) -> Mapping[str, str]:
    lines = []
    for place, (name, german, english) in enumerate(QUESTIONS):
        theme = material.themes[(place - 1) % len(material.themes)] if place else None
        about = theme.label if theme else material.topic
        where = (
            f"theme “{theme.label}”, in {theme.posts} posts of {theme.agents} agents"
            if theme
            else "the simulation's requirement"
        )
        lines.append(
            f"  # from: {where}; the question is Enquete's\n  - question_id: {name}\n"
            f"    de: {quoted(german.format(t=about))}\n    en: {quoted(english.format(t=about))}\n"
        )
    return {"delphi.yaml": f"{head(material, 'delphi', 'Delphi', 'Delphi')}questions:\n{''.join(lines)}"}
