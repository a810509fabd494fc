"""What a caller is told of a discussion, in four layers: what to do, who said what, on what it rests, how it came about.

Pure: of the turns alone. A consensus is what the participants said alike, not what is true; the action says how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.analysis.vocabulary import content_words, jaccard
from enquete.graphs.roundtable.discussion import Discussion, Round
from enquete.graphs.roundtable.measures.clusters import ALIKE, agreement, clusters, likeness, mean_confidence, same_side
from enquete.graphs.roundtable.measures.groupthink import Recommendation, groupthink
from enquete.graphs.roundtable.responses import Response, Stance
from enquete.locale import N_, tell
from enquete.state.asking import Language

HIGH, MEDIUM = 0.7, 0.4
"""Agreement from which a consensus is high, and medium."""
UNSURE, VERY_UNSURE = 0.6, 0.5
"""Mean confidence below which a single conflict asks for checking, and below which details are to be read anyway."""
MOST_CONFLICTS = 3

Level = Literal["high", "medium", "low"]
Action = Literal["proceed", "verify", "query_detail"]

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
NO_POSITION = N_("Nobody took a position.")
AGAINST = N_("{one} against {other}: “{position}” – “{opposite}”")
HINTS = {
    "uncited": N_("Nobody named a source or an example."),
    "violations": N_("{n} answers do not keep to the rules of the discussion; see the transcript."),
    "unfinished": N_("The discussion is not over yet."),
    "silent": N_("{n} participants said nothing in the last round."),
    "sure": N_("Confidence is what participants say of themselves: weak evidence."),
}


class _Layer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Decision(_Layer):
    """agreement_score: of the last round, None below two positions."""

    consensus_level: Level
    agreement_score: float | None
    action: Action


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


def four_layers(talk: Discussion, language: Language, *, suspicious: bool = True) -> FourLayers:
    """suspicious: whether the mode's unanimity is (Mode.groupthink)."""
    rounds = talk.rounds()
    last = rounds[-1] if rounds else {}
    against = conflicts(last)
    score = agreement(last)
    level = consensus_level(score)
    found = groupthink(last) if suspicious else None
    numbers = {turn.participant: turn.number for turn in talk.spoken}
    return FourLayers(
        decision=Decision(
            consensus_level=level, agreement_score=score, action=action(level, len(against), mean_confidence(last))
        ),
        agent_responses=tuple(_told(talk, who, said) for who, said in last.items()),
        evidence=Evidence(
            citations=tuple(dict.fromkeys(source for said in last.values() for source in said.citations)),
            conflicts=tuple(_conflict(one, other, last, numbers, language) for one, other in against[:MOST_CONFLICTS]),
            consensus_summary=_summary(last, language),
            groupthink_warning=tell(RECOMMENDED[found.recommendation], language)
            if found and found.recommendation
            else "",
        ),
        metadata=Metadata(
            exit_reason=talk.exit.reason if talk.exit else "",
            exit_details=talk.exit.details if talk.exit else {},
            rounds=len(rounds),
            verification_hints=tuple(_hints(talk, last, language)),
        ),
    )


def consensus_level(score: float | None) -> Level:
    return "low" if score is None or score < MEDIUM else "medium" if score < HIGH else "high"


def action(level: Level, n_conflicts: int, confidence: float | None) -> Action:
    """verify: more than one conflict, or one where they are unsure; query_detail: very unsure, or hardly any consensus."""
    sure = 1.0 if confidence is None else confidence
    if n_conflicts > 1 or (n_conflicts and sure < UNSURE):
        return "verify"
    return "query_detail" if sure < VERY_UNSURE or level == "low" else "proceed"


def conflicts(said: Round) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Pairs of clusters that contradict each other: yes against no, or where there are no stances the same words denied."""
    found = clusters(said)
    return [(one, other) for one, other in combinations(found, 2) if _contradict(said[one[0]], said[other[0]])]


def _contradict(one: Response, other: Response) -> bool:
    if one.stance and other.stance:
        return {one.stance, other.stance} == {"yes", "no"}
    shared = jaccard(content_words(one.position), content_words(other.position))
    return not same_side(one, other) and shared >= ALIKE


def central(group: tuple[str, ...], said: Round) -> str:
    """Of a cluster, whose position is most like the others'."""
    return max(group, key=lambda who: sum(likeness(said[who], said[other]) for other in group if other != who))


def _summary(said: Round, language: Language) -> str:
    found = clusters(said)
    if not found:
        return tell(NO_POSITION, language)
    position = said[central(found[0], said)].position
    return tell(HELD, language).format(n=len(found[0]), total=sum(map(len, found)), position=position)


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


def _hints(talk: Discussion, last: Round, language: Language) -> list[str]:
    violations = sum(bool(turn.response.violations) for turn in talk.spoken)
    silent = sum(not said.position.strip() for said in last.values())
    holds = {
        "unfinished": not (talk.exit and talk.exit.should_exit),
        "silent": silent > 0,
        "violations": violations > 0,
        "uncited": not any(said.citations for said in last.values()),
        "sure": mean_confidence(last) is not None,
    }
    return [
        tell(HINTS[name], language).format(n=silent if name == "silent" else violations)
        for name, holds_ in holds.items()
        if holds_
    ]
