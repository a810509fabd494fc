"""A second reading of a round, by a model, beside the rule-based measures: how far it agrees, which camps there are, what is
in conflict. An option; both are recorded, and nothing ends by the model's word alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from enquete.graphs.roundtable.measures.clusters import agreement, clusters
from enquete.graphs.roundtable.measures.groupthink import groupthink
from enquete.graphs.roundtable.responses import Response
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence
from enquete.respondents.roles import Role
from enquete.state.asking import Language

MOST_CONFLICTS = 3

_WORDS = {
    "task": N_("Judge how far a group agrees after a round of discussion. It discusses: {topic}"),
    "said": N_("What each of them said"),
    "rules": N_(
        "agreement: 0 (everybody says something else) to 1 (all say the same), by what is meant, not by the words. camp_of: for each "
        "number the number of its camp; those who take the same position are in one. conflicts: what they contradict each other on, "
        "three at most, a sentence each. groupthink: whether objections are missing that the subject calls for. Confidence that people "
        "claim is no evidence."
    ),
}


class RoundSaid(BaseModel):
    """A round by the participants' stable numbers, so that nobody is judged by name."""

    topic: str
    said: dict[str, Response]


class Analysed(BaseModel):
    """camp_of: number → its camp's number."""

    agreement: Annotated[float, Field(ge=0, le=1)] | None = None
    camp_of: dict[str, int] = Field(default_factory=dict)
    conflicts: list[str] = Field(default_factory=list)
    groupthink: bool = False


def _prompt(data: RoundSaid, language: Language) -> str:
    words = in_language(_WORDS, language)
    lines = "\n".join(f"[{number}] {one.position} {one.reasoning}".strip() for number, one in data.said.items())
    return "\n\n".join(
        [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('round', lines)}", words["rules"]]
    )


def _by_rule(data: RoundSaid) -> Analysed:
    found = clusters(data.said)
    return Analysed(
        agreement=agreement(data.said),
        camp_of={who: camp for camp, group in enumerate(found, 1) for who in group},
        groupthink=groupthink(data.said).detected,
    )


def _schema(data: RoundSaid) -> dict[str, JsonValue]:
    """The form of the reply, with the numbers that exist: nobody is left out, nobody stands in two camps."""
    camp: JsonValue = {"type": "integer", "minimum": 1, "maximum": len(data.said)}
    properties: dict[str, JsonValue] = {
        "agreement": {"type": "number", "minimum": 0, "maximum": 1},
        "camp_of": _object(dict.fromkeys(data.said, camp)),
        "conflicts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CONFLICTS},
        "groupthink": {"type": "boolean"},
    }
    return _object(properties)


def _object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _checked(data: RoundSaid, found: Analysed) -> Analysed | None:
    """Three conflicts at most. A reply that leaves somebody out is not used."""
    if found.agreement is None or found.camp_of.keys() != data.said.keys():
        return None
    return found.model_copy(update={"conflicts": found.conflicts[:MOST_CONFLICTS]})


ANALYST = Role(
    "analyse", _prompt, Analysed, _by_rule, _schema, check=_checked, setting="analyse", max_output_tokens=800
)


def numbered(said: Mapping[str, Response], numbers: Mapping[str, int]) -> dict[str, Response]:
    """A round by number. numbers: participant → its stable number."""
    return {str(numbers[who]): said[who] for who in sorted(said, key=lambda who: numbers[who])}
