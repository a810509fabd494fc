"""What a caller is told of a discussion, in four layers: what to do, who said what, on what it rests, how it came about.

Pure: of the turns alone. A consensus is what the participants said alike, not what is true; the action says how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.vocabulary import content_words, jaccard
from enquete.graphs.roundtable.analyst import Analysed
from enquete.graphs.roundtable.discussion import Discussion, Round
from enquete.graphs.roundtable.measures.clusters import ALIKE, clusters, likeness, mean_confidence, same_side
from enquete.graphs.roundtable.measures.groupthink import Recommendation, groupthink
from enquete.graphs.roundtable.modes.mode import Mode
from enquete.graphs.roundtable.responses import STANCES, Response, Stance
from enquete.locale import N_, tell
from enquete.respondents.roles import RULE
from enquete.state.asking import Language

# --- What a group decided, who holds it, and how to take it. By rule: stances count where there are any; where there
# are none
# a model's reading, if one was asked for; else words, which cannot tell "kept" from "abolished" and so never say "proceed".
#
# People are counted, not clusters of words, and how sure they are of it adds nothing. Where the mode assigned the stances,
# what counts is what everybody said privately afterwards.

HIGH, MEDIUM, MAJORITY = 0.7, 0.4, 0.5
"""Share of the participants from which a consensus is high, and medium; a decision is held by more than half."""
UNSURE, VERY_UNSURE = 0.6, 0.5
"""Mean confidence below which a single opponent asks for checking, and below which details are to be read anyway."""

Level = Literal["high", "medium", "low"]
Action = Literal["proceed", "verify", "query_detail"]
Basis = Literal["stances", "model", "words"]
Group = tuple[str, ...]


class Decision(BaseModel):
    """stance, position: of those who hold it, in the words of whose position is most like the others'; "" where no side has
    most. held_by, not_held_by: everybody at the table. agreement_score: the largest side's share of them; where a model read
    the positions no more than it says itself, None where nobody took a side. consensus_level: low where nothing is decided."""

    model_config = ConfigDict(frozen=True)

    stance: Stance
    position: str
    held_by: Group
    not_held_by: Group
    basis: Basis
    consensus_level: Level
    agreement_score: float | None = Field(ge=0, le=1)
    action: Action


@dataclass(frozen=True)
class Sides:
    """Participants who stand together, the largest side first. said: the answers that count; against: how many stand against
    the largest, by a model's reading how many conflicts it names; doubt: what to do about their being of one mind."""

    said: Round
    basis: Basis
    groups: Sequence[Group]
    against: int
    agreement: float = 1.0
    doubt: Recommendation = ""
    conflicts: Group = ()
    seats: Group = ()

    @property
    def ahead(self) -> Group:
        """Those of the one side that has most; nobody in a tie."""
        sizes = [len(group) for group in self.groups]
        return self.groups[0] if sizes and sizes.count(sizes[0]) == 1 else ()

    @property
    def score(self) -> float | None:
        return min(len(self.groups[0]) / len(self.seats), self.agreement) if self.groups else None


def sides(talk: Discussion, *, suspicious: bool, assigned: bool) -> Sides:
    """suspicious: whether the mode's unanimity is; assigned: whether it told participants what to stand for."""
    rounds = talk.rounds()
    last = rounds[-1] if rounds else {}
    counted = talk.afterwards if assigned else last
    found = groupthink(last) if suspicious else None
    doubt: Recommendation = found.recommendation if found else ""
    if assigned or any(one.stance for one in counted.values()):
        groups = by_stance(counted)
        return Sides(counted, "stances", groups, _opponents(groups, counted), doubt=doubt, seats=talk.participants)
    read = _read(talk, len(rounds))
    if read is None:
        groups = clusters(counted)
        return Sides(counted, "words", groups, _opponents(groups, counted), doubt=doubt, seats=talk.participants)
    if suspicious and read.groupthink:
        doubt = doubt or "opposition"
    named, groups = tuple(read.conflicts), _camps(talk, read)
    return Sides(counted, "model", groups, len(named), read.agreement or 0.0, doubt, named, talk.participants)


def decided(found: Sides) -> Decision:
    """How the caller is to take what the group came to."""
    ahead = found.ahead
    central_ = found.said.get(central(ahead, found.said)) if ahead else None
    stance: Stance = central_.stance if central_ and found.basis == "stances" else ""
    score, sure = found.score, mean_confidence(found.said)
    level = consensus_level(score if ahead and stance != "neutral" else None, found.basis)
    doubtful = bool(found.doubt) or found.basis == "words" or (score or 0.0) <= MAJORITY
    return Decision(
        stance=stance, position=central_.position if central_ else "", held_by=ahead,
        not_held_by=tuple(who for who in found.seats if who not in ahead), basis=found.basis, consensus_level=level,
        agreement_score=score, action=action(level, found.against, sure, doubtful=doubtful),
    )  # fmt: skip


def consensus_level(score: float | None, basis: Basis = "stances") -> Level:
    """score: None where nothing is decided. Words alone are never a high consensus."""
    if score is None or score < MEDIUM:
        return "low"
    return "high" if score >= HIGH and basis != "words" else "medium"


def action(level: Level, against: int, confidence: float | None, *, doubtful: bool = False) -> Action:
    """verify: more than one stands against it, or one where they are unsure, or it is doubtful; query_detail: very unsure, or
    hardly any consensus."""
    sure = 1.0 if confidence is None else confidence
    if against > 1 or (against and sure < UNSURE):
        return "verify"
    if sure < VERY_UNSURE or level == "low":
        return "query_detail"
    return "verify" if doubtful else "proceed"


def by_stance(said: Round) -> list[Group]:
    """Who says yes, no, and undecided; who says nothing is on no side."""
    held: dict[Stance, Group] = {}
    for who, one in said.items():
        if one.stance:
            held[one.stance] = (*held.get(one.stance, ()), who)
    return sorted(held.values(), key=lambda group: (-len(group), group))


def conflicts(said: Round) -> list[tuple[Group, Group]]:
    """Sides that contradict each other: yes and no, or where there are no stances the same words denied."""
    groups = by_stance(said) or clusters(said)
    return [(one, other) for one, other in combinations(groups, 2) if _contradict(said[one[0]], said[other[0]])]


def central(group: Group, said: Mapping[str, Response]) -> str:
    """Of a side, whose position is most like the others'."""
    return max(group, key=lambda who: sum(likeness(said[who], said[other]) for other in group if other != who))


def _opponents(groups: Sequence[Group], said: Round) -> int:
    return sum(len(other) for other in groups[1:] if _contradict(said[groups[0][0]], said[other[0]]))


def _contradict(one: Response, other: Response) -> bool:
    if one.stance and other.stance:
        return {one.stance, other.stance} == {"yes", "no"}
    shared = jaccard(content_words(one.position), content_words(other.position))
    return not same_side(one, other) and shared >= ALIKE


def _read(talk: Discussion, round: int) -> Analysed | None:
    """A model's reading of the last round, where one was asked for and could be used."""
    weighed = (turn.weighed for turn in talk.spoken if turn.weighed and turn.round == round and not turn.private)
    found = next((one.analysed for one in weighed if one.analysed), {})
    return Analysed.model_validate(found) if found and found["by"] != RULE else None


def _camps(talk: Discussion, read: Analysed) -> list[Group]:
    numbers = {str(turn.number): turn.participant for turn in talk.spoken}
    camps: dict[int, Group] = {}
    for number, camp in read.camp_of.items():
        camps[camp] = (*camps.get(camp, ()), numbers[number])
    return sorted(camps.values(), key=lambda group: (-len(group), group))


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
