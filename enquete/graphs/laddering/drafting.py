"""A concept for in-depth interviews: the topic, and its themes as elements."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.instruments.derived import slug
from enquete.nodes.material import Material, quoted


def draft(material: Material) -> Mapping[str, str]:
    """Named by --set METHOD.concept=FILE; the instrument that ships says how is asked."""
    topic = quoted(material.topic)
    elements = []
    for theme in material.themes:
        label, alias = quoted(theme.label), quoted(theme.label.lower())
        elements.append(
            f"  # from: in {theme.posts} posts of {theme.agents} agents\n  {slug(theme.label).lower()}:\n    type: attribute\n"
            f"    label: {{de: {label}, en: {label}}}\n    aliases: {{de: [{alias}], en: [{alias}]}}\n"
        )
    said = material.chosen[:3] or list(material.statements[:3])
    if not said:
        return {}
    first, *others = [
        (f"# from: {one.post.name} ({one.post.kind}), {one.post.source}", quoted(one.text)) for one in said
    ]
    reasons = "".join(f"  {source}\n  - {{{material.language}: {text}}}\n" for source, text in others or [first])
    text = (
        f"# DRAFT, by rule from what the agents of {material.sim_id} wrote: what an in-depth interview is about.\n\n"
        f'id: draft_concept\nversion: "draft"\ntitle: {topic}\nlanguage_default: {material.language}\ntopic: {topic}\n'
        f"{first[0]}\ninsight: {first[1]}\n# from: the simulation's requirement; say what is promised to those asked\n"
        f"promise: {topic}\nreasons_to_believe:\n{reasons}elements:\n{''.join(elements)}"
    )
    return {"concept.yaml": text}
