"""A Q-set drafted from the concourse: sentences that agents wrote, word for word, with their source."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, head, pair
from enquete.simulations.sources import one_line

FEWEST = 3


def draft(material: Material) -> Mapping[str, str]:
    """No file where too few sentences can stand alone."""
    chosen = material.chosen
    if len(chosen) < FEWEST:
        return {}
    lines = []
    for place, one in enumerate(chosen, start=1):
        theme = one_line(material.theme_of(one))
        about = f"theme “{theme}”" if theme else "no theme"
        lines.append(
            f"  # from: {one.post.name} ({one.post.kind}), {one.post.source}; {about}{material.doubt(f's{place:02d}')}\n"
            f"  - {{statement_id: s{place:02d}, label: {pair(material.said(one))}}}\n"
        )
    both = material.bilingual and all(one.other for one in chosen)
    text = head(material, "diversity", "Sichtweisen", "Views", bilingual=both)
    return {"diversity.yaml": f"{text}# What was left out, and why: concourse.csv\nstatements:\n{''.join(lines)}"}
