"""Whoever leads a discussion may say something between two rounds that everybody hears; until then the group waits.

Their word is frozen under a name of its own and becomes a turn of kind `steer`.
"""

from __future__ import annotations

from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.graphs.roundtable.settings import RoundtableSettings


def steered(talk: Discussion, remark: str) -> RoundtableTurn:
    """The turn in which whoever leads the discussion says something before its next round."""
    return RoundtableTurn(turn=talk.number, round=talk.held + 1, kind="steer", status="ok", answer=remark)


def awaits_word(talk: Discussion, settings: RoundtableSettings) -> bool:
    """Whether, between two rounds, it is the turn of whoever leads the discussion."""
    between = talk.seated and not talk.stop and not talk.over and len(talk.rounds()) == talk.held > 0
    return settings.steering and between and talk.turns[-1].kind == "said"


def word_name(talk: Discussion) -> str:
    """The name under which is frozen what they say before the next round; "": nothing, but that it goes on."""
    return f"word/{talk.unit}/{talk.held + 1}"
