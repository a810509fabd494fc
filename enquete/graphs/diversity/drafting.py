"""A Q-set drafted from the concourse: sentences that agents wrote, word for word, with their source."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, head, quoted

FEWEST = 3


def draft(material: Material) -> Mapping[str, str]:
    """No file where too few sentences can stand alone."""
    chosen = material.chosen
    if len(chosen) < FEWEST:
        return {}
    both, one_only = "language_default: de\nlanguages: [de, en]", f"language_default: {material.language}"
    text = head(material, "diversity", "Sichtweisen", "Views").replace(both, one_only)
    lines = [
        f"  # from: {one.post.name} ({one.post.kind}), {one.post.source}; theme {one.cluster + 1}\n"
        f"  - statement_id: s{place:02d}\n    {material.language}: {quoted(one.text)}\n"
        for place, one in enumerate(chosen, start=1)
    ]
    return {"diversity.yaml": f"{text}# What was left out, and why: concourse.csv\nstatements:\n{''.join(lines)}"}
