"""Four futures on two axes: whether the plan was carried out, and how things stand on the widest theme."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import RULE, Material, Slot, head, pair
from enquete.state.asking import Spoken

FUTURES = ((True, True), (True, False), (False, True), (False, False))
PLAN: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "umgesetzt", "en": "carried out"},
    False: {"de": "aufgegeben", "en": "dropped"},
}
THEME: Mapping[bool, Mapping[Spoken, str]] = {
    True: {"de": "besser", "en": "better"},
    False: {"de": "schlechter", "en": "worse"},
}
TOLD: Mapping[Spoken, str] = {
    "de": "In fünf Jahren ist das Vorhaben {plan}. Bei „{theme}“ ist die Lage {how} als heute.",
    "en": "In five years the plan has been {plan}. On “{theme}”, things are {how} than today.",
}
LABEL: Mapping[Spoken, str] = {"de": "Vorhaben {plan}, {theme}: {how}", "en": "Plan {plan}, {theme}: {how}"}
WANTED = (
    "A future five years from now in two or three sentences, without judging it: the plan has been {plan}, and on “{theme}” things are "
    "{how} than today. Say what it means in daily life."
)
RATED = """dimensions:
  - {dimension_id: desirability, scale: 7, de: "Wie wünschenswert ist diese Zukunft?", en: "How desirable is this future?"}
  - {dimension_id: plausibility, scale: 7, de: "Wie plausibel ist diese Zukunft?", en: "How plausible is this future?"}
open_question: {de: "Was würden Sie in dieser Zukunft als Erstes tun?", en: "What would you do first in this future?"}
"""


def draft(material: Material) -> Mapping[str, str]:
    theme = material.themes[0]
    lines = []
    for place, (carried, better) in enumerate(FUTURES, start=1):
        words: dict[Spoken, dict[str, str]] = {
            language: {"plan": PLAN[carried][language], "theme": theme.in_(language), "how": THEME[better][language]}
            for language in TOLD
        }
        told = {language: text.format(**words[language]) for language, text in TOLD.items()}
        slot = Slot(f"scenario/s{place}", WANTED.format(**words["en"]), told["de"], told["en"], "text", theme)
        said = material.write(slot)
        label = pair({language: LABEL[language].format(**words[language]) for language in material.labels(theme)})
        more = "; say what it means for those asked" if material.author == RULE else ""
        lines.append(
            f"  # from: axes the plan and “{theme.label}”; {said.source}{more}\n"
            f"  - scenario_id: s{place}\n    label: {label}\n    description: {said.inline}\n"
        )
    text = head(material, "scenario", "Szenarien", "Scenarios")
    return {"scenario.yaml": f"{text}scenarios:\n{''.join(lines)}\n{RATED}"}
