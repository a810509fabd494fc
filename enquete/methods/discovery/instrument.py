"""Instrument of the discovery interview: what it is about, what the respondent is told, which schema is filled; and a
schema drafted from the topic and its themes: what those asked have to do with it, and what they know of it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from enquete.instruments.instrument import Instrument
from enquete.instruments.text import Line, Text
from enquete.runs.material import Material, Slot, begins, identifier, pair
from enquete.simulations.discourse import DiscourseTheme
from enquete.state.asking import Spoken


class DiscoveryInstrument(Instrument):
    """`ds`: a shipped discovery schema or a file; the setting of that name replaces it."""

    questions_tested = ("groups",)

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


class DraftField(NamedTuple):
    """A field of the draft: what its question is to be, Enquete's own wording of it, and its label, by language."""

    kind: str
    what: str
    question: Mapping[Spoken, str]
    label: Mapping[Spoken, str]


ROLE = DraftField(
    "text", "what the respondent has to do with it",
    {"de": "Es geht um: „{de}“. Welchen Bezug haben Sie selbst dazu?",
     "en": "This is about: “{en}”. What is your own connection with this?"},
    {"de": "welchen Bezug Sie dazu haben", "en": "your own connection with it"},
)  # fmt: skip
EXPERIENCE = DraftField(
    "texts", "what the respondent, a person or an organisation, has experienced or seen of it",
    {"de": "Was haben Sie beim Thema {de} selbst erlebt oder bei Ihrer Arbeit beobachtet?",
     "en": "What have you experienced yourself, or seen in your work, when it comes to {en}?"},
    {"de": "was Sie beim Thema {de} erlebt oder beobachtet haben",
     "en": "what you have experienced or seen in your work when it comes to {en}"},
)  # fmt: skip
CHANGE = DraftField(
    "texts", "what should change, if anything",
    {"de": "Was sollte sich dabei aus Ihrer Sicht ändern, wenn überhaupt etwas?",
     "en": "What should change about it as you see it, if anything?"},
    {"de": "was sich ändern sollte", "en": "what should change"},
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
    topic: dict[str, str] = {"de": material.topic_in("de"), "en": material.topic_in("en")}
    objective = {language: text.format(t=topic[language]) for language, text in OBJECTIVE.items()}
    role, change = (_as_yaml(material, name, field, topic) for name, field in (("role", ROLE), ("change", CHANGE)))
    experiences = "".join(
        _as_yaml(material, identifier(theme, place), EXPERIENCE, {"de": theme.in_("de"), "en": theme.in_("en")}, theme)
        for place, theme in enumerate(material.themes[:EXPERIENCES])
    )
    both = "languages: [de, en]\n" if material.bilingual else ""
    return {
        "schema.yaml": f"{begins(material)}# What an interview is to find out.\n\n"
        f'id: draft-schema\nversion: "draft"\ntitle: {pair(material.topics)}\nlanguage_default: '
        f"{material.language}\n{both}"
        f"objective: {pair(objective)}\ndecrement: 0.10\nfields:\n{role}{AFFECTED}{experiences}{change}"
    }


def _as_yaml(
    material: Material, name: str, field: DraftField, names: Mapping[str, str], theme: DiscourseTheme | None = None
) -> str:
    """names: of what it is about, by language: the topic's, or a theme's."""
    wanted = WANTED.format(about=theme.label if theme else material.topic, what=field.what)
    question, label = (
        {language: text.format(**names) for language, text in texts.items()} for texts in (field.question, field.label)
    )
    slot = Slot(f"discovery/{name}", wanted, question["de"], question["en"], "question", theme)
    written, required = material.write(slot), "" if theme else "    required: true\n"
    return (
        f"  # from: {written.source}\n  {name}:\n    type: {field.kind}\n{required}"
        f"    label: {pair(label)}\n    question: {written.inline}\n"
    )
