"""Older rounds in few words, once they are longer than what is passed in full: by a model, or by their key points alone.

Whoever sums up, every participant's own key points are kept as they were said, under the name the others know it by.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from enquete.graphs.roundtable.modes.context import Context, Voice
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence
from enquete.respondents.roles import Role
from enquete.state.asking import Language

BYTES_A_TOKEN = 4
"""As everywhere where nobody counts tokens."""
MOST_POINTS = 4
"""Of one participant in one round, that a summary keeps."""

_WORDS: Mapping[str, str] = {
    "task": N_("Sum up the earlier rounds of a discussion for those who go on with it."),
    "said": N_("What was said"),
    "rules": N_(
        "At most 150 words. What is agreed, what is disputed, and what is open; name speakers exactly as they are named here. Invent "
        "nothing, judge nothing, leave nobody out."
    ),
}


class Rounds(BaseModel):
    """What is to be summed up, as participants were shown it."""

    text: str


class Summed(BaseModel):
    text: str


def prompt(data: Rounds, language: Language) -> str:
    words = in_language(_WORDS, language)
    return "\n\n".join([words["task"], f"{words['said']}:\n{fence('rounds', data.text)}", words["rules"]])


SUMMARISER = Role(
    "summarise",
    prompt,
    Summed,
    rule=lambda data: Summed(text=""),  # the key points, which are kept anyway
    check=lambda data, result: result if result.text.strip() else None,
    setting="summary",
)


def tokens(rendered: tuple[tuple[str, str], ...]) -> int:
    return sum(len(text.encode()) for _, text in rendered) // BYTES_A_TOKEN


def older(context: Context) -> int:
    """The last round that may be summed up: all but the last that was held; 0 where there is none."""
    return sorted(context.rounds)[-2] if len(context.rounds) > 1 else 0


def key_points(context: Context, upto: int) -> str:
    """A line for each participant and round."""
    return "\n".join(
        f"{number}. {voice.label}: {_points(voice)}"
        for number, said in sorted(context.rounds.items())
        if number <= upto
        for voice in said
    )


def _points(voice: Voice) -> str:
    said = voice.response
    return "; ".join(said.key_points[:MOST_POINTS]) or " ".join(said.position.split()) or "–"
