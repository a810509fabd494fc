"""Four futures on two axes, which are the two widest themes: more or less of each."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, head, quoted

FUTURES = ((True, True), (True, False), (False, True), (False, False))
SIDES = {
    True: ("hat „{t}“ stark an Gewicht gewonnen", "“{t}” has gained a great deal of weight"),
    False: ("spielt „{t}“ kaum noch eine Rolle", "“{t}” hardly plays a part any more"),
}
RATED = """dimensions:
  - {dimension_id: desirability, scale: 7, de: "Wie wünschenswert ist diese Zukunft?", en: "How desirable is this future?"}
  - {dimension_id: plausibility, scale: 7, de: "Wie plausibel ist diese Zukunft?", en: "How plausible is this future?"}
open_question: {de: "Was würden Sie in dieser Zukunft als Erstes tun?", en: "What would you do first in this future?"}
"""
SIGNS = {True: "+", False: "−"}


def draft(material: Material) -> Mapping[str, str]:
    one, other = material.themes[:2]
    lines = []
    for place, (first, second) in enumerate(FUTURES, start=1):
        german = (
            f"In fünf Jahren {SIDES[first][0].format(t=one.label)}. Zugleich {SIDES[second][0].format(t=other.label)}."
        )
        english = f"In five years {SIDES[first][1].format(t=one.label)}. At the same time {SIDES[second][1].format(t=other.label)}."
        label = quoted(f"{one.label} {SIGNS[first]}, {other.label} {SIGNS[second]}")
        lines.append(
            f"  # from: axes “{one.label}” ({one.posts} posts) and “{other.label}” ({other.posts} posts); "
            "say what it means for those asked\n"
            f"  - scenario_id: s{place}\n    label: {{de: {label}, en: {label}}}\n"
            f"    description_de: {quoted(german)}\n    description_en: {quoted(english)}\n"
        )
    return {
        "scenario.yaml": f"{head(material, 'scenario', 'Szenarien', 'Scenarios')}scenarios:\n{''.join(lines)}\n{RATED}"
    }
