"""A concept for in-depth interviews: the topic, and its themes as elements."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, begins, counted, identifier, pair, quoted
from enquete.simulations.discourse import stems_of

SAID = 3
"""Statements that say most of the themes: the insight, and reasons to believe it."""


def draft(material: Material) -> Mapping[str, str]:
    """Named by --set METHOD.concept=FILE; the instrument that ships says how is asked."""
    subject = stems_of(" ".join(theme.label for theme in material.themes))
    told = material.chosen or material.statements
    said = sorted(told, key=lambda one: -len(subject & stems_of(one.text)))[:SAID]
    if not said:
        return {}
    topic = pair(material.topics)
    elements = []
    for place, theme in enumerate(material.themes):
        labels = material.labels(theme)
        aliases = ", ".join(f"{language}: [{quoted(label.lower())}]" for language, label in labels.items())
        elements.append(
            f"  # from: {counted(theme)}\n  {identifier(theme, place)}:\n    type: attribute\n"
            f"    label: {pair(labels)}\n    aliases: {{{aliases}}}\n"
        )
    first, *others = [
        (f"# from: {one.post.name} ({one.post.kind}), {one.post.source}", pair(material.said(one))) for one in said
    ]
    reasons = "".join(f"  {source}\n  - {text}\n" for source, text in others or [first])
    text = (
        f"{begins(material)}# What an in-depth interview is about.\n\n"
        f'id: draft_concept\nversion: "draft"\ntitle: {topic}\nlanguage_default: {material.language}\ntopic: {topic}\n'
        f"{first[0]}\ninsight: {first[1]}\n# from: the simulation's requirement; say what is promised to those asked\n"
        f"promise: {topic}\nreasons_to_believe:\n{reasons}elements:\n{''.join(elements)}"
    )
    return {"concept.yaml": text}
