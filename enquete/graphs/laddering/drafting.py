"""A concept for in-depth interviews: the topic, and its themes as elements."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, begins, counted, identifier, pair, quoted
from enquete.simulations.discourse import stems_of
from enquete.state.asking import Spoken

SAID = 2
"""Statements that say most of the themes: reasons to believe it."""
FILL_IN: Mapping[str, Mapping[Spoken, str]] = {
    "insight": {
        "de": "Was ändert sich bei „{t}“ für die Befragten?",
        "en": "What changes about “{t}” for those asked?",
    },
    "promise": {
        "de": "Was wird bei „{t}“ den Befragten zugesagt?",
        "en": "What is promised to those asked about “{t}”?",
    },
}
REASON: Mapping[Spoken, str] = {
    "de": "Was spricht aus Sicht der Befragten für „{t}“?", "en": "What do those asked see in “{t}”?",
}  # fmt: skip
"""Neither the requirement nor a post is what a client believes or promises: a neutral text that somebody has to
replace."""


def draft(material: Material) -> Mapping[str, str]:
    """Named by --set METHOD.concept=FILE; the instrument that ships says how is asked."""
    subject = stems_of(" ".join(theme.label for theme in material.themes))
    told = material.chosen or material.statements
    said = sorted(told, key=lambda one: -len(subject & stems_of(one.text)))[:SAID]
    if not said and not material.described:
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
    reasons = "".join(
        f"  # from: {one.post.name} ({one.post.kind}), {one.post.source}\n  - {pair(material.said(one))}\n"
        for one in said
    )
    theme = material.themes[0]
    if not said:
        texts = {language: REASON[language].format(t=theme.in_(language)) for language in material.labels(theme)}
        reasons = f"  # CHECK fill in: a reason; the sentence is Enquete's\n  - {pair(texts)}\n"
    languages = material.labels(theme)
    open_ = "".join(
        f"# CHECK fill in: the {name} of your study; the sentence is Enquete's\n"
        f"{name}: {pair({language: texts[language].format(t=theme.in_(language)) for language in languages})}\n"
        for name, texts in FILL_IN.items()
    )
    text = (
        f"{begins(material)}# What an in-depth interview is about.\n\n"
        f'id: draft_concept\nversion: "draft"\ntitle: {topic}\nlanguage_default: {material.language}\ntopic: {topic}\n'
        f"{open_}reasons_to_believe:\n{reasons}elements:\n{''.join(elements)}"
    )
    return {"concept.yaml": text}
