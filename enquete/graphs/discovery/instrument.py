"""Instrument of the discovery interview: what it is about, what the respondent is told, which schema is filled; and a
schema drafted from the topic and its themes: what those asked have to do with it, and what they know of it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

from enquete.instruments.document import Line
from enquete.instruments.instrument import Instrument
from enquete.instruments.text import Text
from enquete.nodes.material import Material, Slot, begins, identifier, pair
from enquete.state.asking import Spoken


class DiscoveryInstrument(Instrument):
    """`ds`: a shipped discovery schema or a file; the setting of that name replaces it."""

    ds: Line
    instruction: Text
    transcript_heading: Text


# --- a draft ----------------------------------------------------------------------------------------------------------


EXPERIENCES = 4
"""None is required: nobody has something to tell of everything."""
OBJECTIVE: Mapping[Spoken, str] = {
    "de": "Wissen, was die Befragten selbst erlebt haben und was sich aus ihrer Sicht ändern sollte; es "
    "geht um: „{t}“.",
    "en": "Know what those asked have experienced themselves, and what should change as they see it; this is about: "
    "“{t}”.",
}
WANTED = "A question of an interview, in the respondent's own words, that suggests no answer, on {about}: {what}."
ROLE = (
    "what the respondent has to do with it", "Es geht um: „{de}“. Welchen Bezug haben Sie selbst dazu?",
    "This is about: “{en}”. What is your own connection with this?",
)  # fmt: skip
EXPERIENCE = (
    "what the respondent, a person or an organisation, has experienced or seen of it",
    "Was haben Sie beim Thema {de} selbst erlebt oder bei Ihrer Arbeit beobachtet?",
    "What have you experienced yourself, or seen in your work, when it comes to {en}?",
)  # fmt: skip
CHANGE = (
    "what should change, if anything", "Was sollte sich dabei aus Ihrer Sicht ändern, wenn überhaupt etwas?",
    "What should change about it as you see it, if anything?",
)  # fmt: skip
AFFECTED = """  affected:
    type: choice
    required: true
    label: {de: "wie sehr Sie das persönlich betrifft", en: "how much it affects you personally"}
    question: {de: "Wie sehr betrifft Sie das persönlich?", en: "How much does this affect you personally?"}
    values:
      strongly:
        label: {de: stark, en: strongly}
        words: {de: ["sehr viel", "ziemlich viel"], en: ["a good deal", "very much", "a lot"]}
      somewhat:
        label: {de: etwas, en: somewhat}
        words: {de: ["ein wenig", "am Rande"], en: ["a little", "at the margin"]}
      not-at-all:
        label: {de: gar nicht, en: not at all}
        words: {de: ["überhaupt nicht", "nichts für mich"], en: ["nothing for me", "doesn't concern"]}
"""


def draft(material: Material) -> Mapping[str, str]:
    """Named by --set METHOD.ds=FILE."""
    topic = {"de": material.topic_in("de"), "en": material.topic_in("en")}
    objective = {language: text.format(t=topic[language]) for language, text in OBJECTIVE.items()}
    role = _drafted(
        material,
        "role",
        "text",
        {"de": "welchen Bezug Sie dazu haben", "en": "your own connection with it"},
        ROLE,
        topic,
    )
    change = _drafted(
        material, "change", "texts", {"de": "was sich ändern sollte", "en": "what should change"}, CHANGE, topic
    )
    both = "languages: [de, en]\n" if material.bilingual else ""
    return {
        "schema.yaml": f"{begins(material)}# What an interview is to find out.\n\n"
        f'id: draft-schema\nversion: "draft"\ntitle: {pair(material.topics)}\nlanguage_default: '
        f"{material.language}\n{both}"
        f"objective: {pair(objective)}\ndecrement: 0.10\nfields:\n{role}{AFFECTED}{_experiences(material)}{change}"
    }


def _experiences(material: Material) -> str:
    lines = []
    for place, theme in enumerate(material.themes[:EXPERIENCES]):
        told = {"de": theme.in_("de"), "en": theme.in_("en")}
        labels: dict[Spoken, str] = {
            "de": f"was Sie beim Thema {told['de']} erlebt oder beobachtet haben",
            "en": f"what you have experienced or seen in your work when it comes to {told['en']}",
        }
        what, german, english = EXPERIENCE
        slot = Slot(
            f"discovery/{identifier(theme, place)}", WANTED.format(about=theme.label, what=what), german.format(**told),
            english.format(**told), "question", theme,
        )  # fmt: skip
        lines.append(_as_yaml(material, slot, identifier(theme, place), "texts", labels, required=False))
    return "".join(lines)


def _drafted(
    material: Material,
    name: str,
    kind: str,
    label: Mapping[Spoken, str],
    question: tuple[str, str, str],
    topic: Mapping[str, str],
) -> str:
    what, german, english = question
    wanted = WANTED.format(about=material.topic, what=what)
    slot = Slot(f"discovery/{name}", wanted, german.format(**topic), english.format(**topic), "question")
    return _as_yaml(material, slot, name, kind, label, required=True)


def _as_yaml(
    material: Material, slot: Slot, name: str, kind: str, label: Mapping[Spoken, str], *, required: bool
) -> str:
    written = material.write(slot)
    return (
        f"  # from: {written.source}\n  {name}:\n    type: {kind}\n{'    required: true' + chr(10) if required else ''}"
        f"    label: {pair(label)}\n    question: {written.inline}\n"
    )
