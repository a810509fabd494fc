"""Four futures on two axes, which are the two widest themes: more or less of each."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import RULE, Material, Slot, head, pair

FUTURES = ((True, True), (True, False), (False, True), (False, False))
SIDES = {
    True: ("hat das Thema „{de}“ stark an Gewicht gewonnen", "the topic of “{en}” has gained a great deal of weight"),
    False: ("spielt das Thema „{de}“ kaum noch eine Rolle", "the topic of “{en}” hardly plays a part any more"),
}
WANTED = (
    "A future five years from now in two or three sentences, without judging it: “{one}” has {first} in weight, “{other}” has {second}. "
    "Say what it means in daily life."
)
WEIGHT = {True: "gained greatly", False: "lost nearly all"}
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
            f"In fünf Jahren {SIDES[first][0].format(de=one.in_('de'))}. "
            f"Zugleich {SIDES[second][0].format(de=other.in_('de'))}."
        )
        english = (
            f"In five years {SIDES[first][1].format(en=one.in_('en'))}. "
            f"At the same time {SIDES[second][1].format(en=other.in_('en'))}."
        )
        wanted = WANTED.format(one=one.label, other=other.label, first=WEIGHT[first], second=WEIGHT[second])
        said = material.write(Slot(f"scenario/s{place}", wanted, german, english, "text", one))
        label = pair(
            {
                language: f"{text} {SIGNS[first]}, {other.in_(language)} {SIGNS[second]}"
                for language, text in material.labels(one).items()
            }
        )
        more = "; say what it means for those asked" if material.author == RULE else ""
        lines.append(
            f"  # from: axes “{one.label}” and “{other.label}”; {said.source}{more}\n"
            f"  - scenario_id: s{place}\n    label: {label}\n    description: {said.inline}\n"
        )
    text = head(material, "scenario", "Szenarien", "Scenarios")
    return {"scenario.yaml": f"{text}scenarios:\n{''.join(lines)}\n{RATED}"}
