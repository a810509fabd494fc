"""What a caller is told of a discussion, in four layers: what to do, who said what, on what it rests, how it came about.

Pure: of the turns alone. A consensus is what the participants said alike, not what is true; the action says how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.graphs.roundtable.decision import Decision, Sides, central, conflicts, decided, sides
from enquete.graphs.roundtable.discussion import Discussion, Round
from enquete.graphs.roundtable.measures.clusters import mean_confidence
from enquete.graphs.roundtable.measures.groupthink import Recommendation
from enquete.graphs.roundtable.modes.mode import Mode
from enquete.graphs.roundtable.responses import STANCES, Response, Stance
from enquete.locale import N_, tell
from enquete.state.asking import Language

MOST_CONFLICTS = 3

RECOMMENDED: Mapping[Recommendation, str] = {
    "opposition": N_(
        "The group argues alike. Hold a further discussion with an assigned opposition or a mixed group before relying on it."
    ),
    "evidence": N_(
        "The group is of one mind and sure of itself. Ask for evidence and for what would change their minds; that they are sure "
        "is only what they say of themselves."
    ),
}
HELD = N_("{n} of {total} take this position: {position}")
SAID = N_("{n} of {total} say “{stance}”: {position}")
TIED = N_("No side has most: the largest are {n} of {total} each.")
NO_POSITION = N_("Nobody took a position.")
AGAINST = N_("{one} against {other}: “{position}” – “{opposite}”")
HINTS = {
    "uncited": N_("Nobody named a source or an example."),
    "violations": N_("{n} answers do not keep to the rules of the discussion; see the transcript."),
    "unfinished": N_("The discussion is not over yet."),
    "silent": N_("{n} participants said nothing in the last round."),
    "assigned": N_("Stances were assigned by the mode; what counts is what everybody said privately afterwards."),
    "words": N_("Positions were compared by their words alone; a model may read what they mean (analyses: model)."),
    "sure": N_("Confidence is what participants say of themselves: weak evidence."),
}


class _Layer(BaseModel):
    model_config = ConfigDict(frozen=True)


class AgentResponse(_Layer):
    """One participant in the last round. confidence_change: from the first to the last time it was asked, privately where it was."""

    participant: str
    number: int
    role: str
    stance: Stance
    position: str
    key_points: tuple[str, ...]
    confidence: float | None
    confidence_change: float | None


class Evidence(_Layer):
    citations: tuple[str, ...]
    conflicts: tuple[str, ...]
    consensus_summary: str
    groupthink_warning: str


class Metadata(_Layer):
    exit_reason: str
    exit_details: Mapping[str, JsonValue]
    rounds: int
    verification_hints: tuple[str, ...]


class FourLayers(_Layer):
    decision: Decision
    agent_responses: tuple[AgentResponse, ...]
    evidence: Evidence
    metadata: Metadata


def four_layers(talk: Discussion, language: Language, mode: Mode) -> FourLayers:
    rounds = talk.rounds()
    last = rounds[-1] if rounds else {}
    found = sides(talk, suspicious=mode.groupthink, assigned=mode.assigns_stances)
    numbers = {turn.participant: turn.number for turn in talk.spoken}
    return FourLayers(
        decision=decided(found),
        agent_responses=tuple(_told(talk, who, said) for who, said in last.items()),
        evidence=Evidence(
            citations=tuple(dict.fromkeys(source for said in last.values() for source in said.citations)),
            conflicts=_conflicts(found, numbers, language)[:MOST_CONFLICTS],
            consensus_summary=_summary(found, language),
            groupthink_warning=tell(RECOMMENDED[found.doubt], language) if found.doubt else "",
        ),
        metadata=Metadata(
            exit_reason=talk.exit.reason if talk.exit else "",
            exit_details=talk.exit.details if talk.exit else {},
            rounds=len(rounds),
            verification_hints=tuple(_hints(talk, last, found, language, assigned=mode.assigns_stances)),
        ),
    )


def _summary(found: Sides, language: Language) -> str:
    if not found.groups:
        return tell(NO_POSITION, language)
    decision, total = decided(found), len(found.seats)
    if not decision.held_by:
        return tell(TIED, language).format(n=len(found.groups[0]), total=total)
    held = tell(SAID if decision.stance else HELD, language)
    stance = tell(STANCES[decision.stance], language)
    return held.format(n=len(decision.held_by), total=total, stance=stance, position=decision.position)


def _conflicts(found: Sides, numbers: Mapping[str, int], language: Language) -> tuple[str, ...]:
    """As a model that read the round names them, else the sides that contradict each other."""
    if found.conflicts:
        return found.conflicts
    return tuple(_conflict(one, other, found.said, numbers, language) for one, other in conflicts(found.said))


def _conflict(
    one: tuple[str, ...], other: tuple[str, ...], said: Round, numbers: Mapping[str, int], language: Language
) -> str:
    sides = [", ".join(str(numbers[who]) for who in group) for group in (one, other)]
    return tell(AGAINST, language).format(
        one=sides[0], other=sides[1], position=said[central(one, said)].position,
        opposite=said[central(other, said)].position,
    )  # fmt: skip


def _told(talk: Discussion, who: str, said: Response) -> AgentResponse:
    own = [turn for turn in talk.spoken if turn.participant == who]
    asked = [turn.response.confidence for turn in own if turn.response.confidence is not None]
    public = next(turn for turn in reversed(own) if not turn.private)
    return AgentResponse(
        participant=who, number=public.number, role=public.role, stance=said.stance, position=said.position,
        key_points=said.key_points, confidence=said.confidence,
        confidence_change=asked[-1] - asked[0] if len(asked) > 1 else None,
    )  # fmt: skip


def _hints(talk: Discussion, last: Round, found: Sides, language: Language, *, assigned: bool) -> list[str]:
    violations = sum(bool(turn.response.violations) for turn in talk.spoken)
    silent = sum(not said.position.strip() for said in last.values())
    holds = {
        "unfinished": not (talk.exit and talk.exit.should_exit),
        "silent": silent > 0,
        "violations": violations > 0,
        "uncited": not any(said.citations for said in last.values()),
        "assigned": assigned,
        "words": found.basis == "words" and bool(found.groups),
        "sure": mean_confidence(last) is not None,
    }
    return [
        tell(HINTS[name], language).format(n=silent if name == "silent" else violations)
        for name, holds_ in holds.items()
        if holds_
    ]
