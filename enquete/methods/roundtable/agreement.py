"""How far a group agrees: which positions are one, whether the discussion is over, what it decided and how to take
that.

Pure: of what was said alone, by words and the side taken. A model may read a round beside it; both readings are
recorded.

Positions of a round grouped by what they mean: by a model, at temperature 0, each with the words on which that
rests. The rule's groups, by words, stand beside them as a check. Where no model answers nothing is decided by either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, pvariance
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.stopping import Exit, Limits, RoundStanding, exit_after
from enquete.analysis.vocabulary import content_words, denies, jaccard, without_adverbs
from enquete.locale import N_, in_language, tell
from enquete.methods.roundtable.discussion import Discussion, Round
from enquete.methods.roundtable.modes import STANCES, Mode, Response, Stance
from enquete.respondents.roles import RULE, Role, fence
from enquete.state.asking import Language

ALIKE = 0.35
"""Jaccard of their words from which two positions are one."""
LEAST_SHARED = 2
"""Words that two positions share at least: one word alone is what they are about, not what they say of it."""
_LABEL = re.compile(r"(?<=\w\s)(?:[A-HJ-Z]|\d+)\b")
"""What tells options apart: the letter in "option B", the number in "plan 2" or "by 10 %"; no word of a text's
subject."""
MOST_VARIANCE = 0.25
"""Of confidences between 0 and 1: half of them 0, half 1."""
POSITIONS, CONFIDENCES = 0.7, 0.3
"""Weights of the two in `agreement`."""


def voiced(responses: Round) -> dict[str, Response]:
    """Who took a position; silence agrees with nobody."""
    return {who: response for who, response in responses.items() if response.position.strip()}


def same_side(first: Response, second: Response) -> bool:
    """By their stances where both have one; else neither or both deny. Words alone make opposites alike: they share
    them."""
    if first.stance and second.stance:
        return first.stance == second.stance
    return denies(first.position) == denies(second.position)


def likeness(first: Response, second: Response) -> float:
    """Of two positions, 0 to 1: the Jaccard of their words. 0 on different sides, where they name different options,
    and where they share less than two words; 1 where they are the same text."""
    labels, others = set(_LABEL.findall(first.position)), set(_LABEL.findall(second.position))
    if not same_side(first, second) or (labels and others and not labels & others):
        return 0.0
    if re.findall(r"\w+", first.position.casefold()) == re.findall(r"\w+", second.position.casefold()):
        return 1.0
    words, its = content_words(first.position), content_words(second.position)
    return jaccard(words, its) if len(words & its) >= LEAST_SHARED else 0.0


def likeness_but_for_adverbs(first: Response, second: Response) -> float:
    """Return the likeness of two positions of one participant: who says the same more firmly has not moved."""
    return likeness(
        first.model_copy(update={"position": without_adverbs(first.position)}),
        second.model_copy(update={"position": without_adverbs(second.position)}),
    )


def clusters(responses: Round) -> list[tuple[str, ...]]:
    """Participants whose positions are alike, directly or by way of others on the same side; the largest first."""
    groups = {who: {who} for who in voiced(responses)}
    for first, second in combinations(groups, 2):
        if groups[first] is not groups[second] and likeness(responses[first], responses[second]) >= ALIKE:
            groups[first] |= groups[second]
            for who in groups[second]:
                groups[who] = groups[first]
    return _largest_first({tuple(sorted(group)) for group in groups.values()})


def by_side(side_of: Mapping[str, object]) -> list[Group]:
    """Participants who are on one side, in the order in which they are given; the largest group first."""
    sides: dict[object, Group] = {}
    for who, side in side_of.items():
        sides[side] = (*sides.get(side, ()), who)
    return _largest_first(set(sides.values()))


def _largest_first(groups: set[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-len(group), group))


def agreement(responses: Round, groups: Sequence[Group] | None = None) -> float | None:
    """.7 · P + .3 · max(0, 1 − s² / .25), 0 to 1; None below two positions.

    P: 1 where all positions are one cluster, 0 where all are different, else the largest cluster's share. s²:
    population variance of the confidences; where nobody gave one, P alone. Confidence is what participants say of
    themselves. `groups`: those of a model in place of the clusters.
    """
    groups = clusters(responses) if groups is None else groups
    total, sure = sum(map(len, groups)), confidences(responses)
    if total < 2:
        return None
    positions = 0.0 if len(groups) == total else len(groups[0]) / total
    return POSITIONS * positions + CONFIDENCES * max(0.0, 1 - pvariance(sure) / MOST_VARIANCE) if sure else positions


def confidences(responses: Round) -> list[float]:
    """Those given, by who took a position."""
    return [response.confidence for response in voiced(responses).values() if response.confidence is not None]


def mean_confidence(responses: Round) -> float | None:
    sure = confidences(responses)
    return fmean(sure) if sure else None


def should_exit(rounds: Sequence[Round], limits: Limits | None = None, *, assigned: bool = False) -> Exit:
    """Whether it is over after the last of `rounds`, which are complete. assigned: whether the mode told participants
    what to stand for; that they agree or stay is its doing then, and ends nothing."""
    standings = []
    for number, responses in enumerate(rounds):
        now, before = voiced(responses), voiced(rounds[number - 1]) if number else {}
        kept = {who: likeness_but_for_adverbs(now[who], before[who]) for who in now if who in before}
        sure = tuple(response.confidence for response in now.values())
        if assigned:
            standings.append(RoundStanding(None, (), {}))
        else:
            standings.append(RoundStanding(agreement(responses), frozenset(now), kept, sure))
    return exit_after(standings, limits or Limits())


# --- groupthink -------------------------------------------------------------------------------------------------------

Indicator = Literal["all_sure", "one_side", "same_words"]
Recommendation = Literal["", "opposition", "evidence"]
"""Hear an assigned opposition, or another mix of people; ask for evidence, because certainty is one of the signs."""

ALL_SURE, MEAN_SURE = 0.80, 0.85
SAME_WORDS = 0.5
SIGNS = 2


@dataclass(frozen=True)
class Groupthink:
    """Two of three signs. A sign is a reason to look, not a proof; that everybody is sure is the weakest: it is what
    they say of themselves, and models are sure of much."""

    detected: bool
    indicators: tuple[Indicator, ...]
    recommendation: Recommendation


def groupthink(responses: Round) -> Groupthink:
    """Of one round: all sure; one single stance, or where nobody has one a single cluster; a mean Jaccard of the words
    of all pairs, position and reasoning, from .5. Of fewer than two who took a position nothing is said.

    A stance that is missing is no dissent: the stances that were taken count.
    """
    spoke = voiced(responses)
    sure, stances = confidences(responses), {response.stance for response in spoke.values() if response.stance}
    words = [content_words(f"{response.position} {response.reasoning}") for response in spoke.values()]
    alike = [jaccard(first, second) for first, second in combinations(words, 2)]
    holds: dict[Indicator, bool] = {
        "all_sure": len(sure) == len(spoke) and min(sure, default=0) >= ALL_SURE and fmean(sure) >= MEAN_SURE,
        "one_side": len(stances) == 1 if stances else len(clusters(spoke)) == 1,
        "same_words": bool(alike) and fmean(alike) >= SAME_WORDS,
    }
    indicators = tuple(name for name, seen in holds.items() if seen) if len(spoke) > 1 else ()
    detected = len(indicators) >= SIGNS
    advice: Recommendation = "" if not detected else "evidence" if "all_sure" in indicators else "opposition"
    return Groupthink(detected, indicators, advice)


# --- a model's reading of a round -------------------------------------------------------------------------------------

MOST_CONFLICTS = 3
_WORDS = {
    "task": N_("Judge how far a group agrees after a round of discussion. It discusses: {topic}"),
    "said": N_("What each of them said"),
    "rules": N_(
        "agreement: 0 (everybody says something else) to 1 (all say the same), by what is meant, not by the words. "
        "camp_of: for each number the number of its camp; those who take the same position are in one. conflicts: what "
        "they contradict each other on, three at most, a sentence each. groupthink: whether objections are missing "
        "that the subject calls for. Confidence that people claim is no evidence."
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
    lines = "\n".join(f"[{number}] {r.position} {r.reasoning}".strip() for number, r in data.said.items())
    return "\n\n".join(
        [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('round', lines)}", words["rules"]]
    )


def _schema(data: RoundSaid) -> dict[str, JsonValue]:
    """The form of the reply, with the numbers that exist: nobody is left out, nobody stands in two camps."""
    camp: JsonValue = {"type": "integer", "minimum": 1, "maximum": len(data.said)}
    return closed_object({
        "agreement": {"type": "number", "minimum": 0, "maximum": 1},
        "camp_of": closed_object(dict.fromkeys(data.said, camp)),
        "conflicts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CONFLICTS},
        "groupthink": {"type": "boolean"},
    })  # fmt: skip


def closed_object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _checked(data: RoundSaid, read: Analysed) -> Analysed | None:
    """Three conflicts at most. A reply that leaves somebody out is not used."""
    if read.agreement is None or read.camp_of.keys() != data.said.keys():
        return None
    return read.model_copy(update={"conflicts": read.conflicts[:MOST_CONFLICTS]})


ANALYST = Role(
    "analyse", _prompt, Analysed, lambda data: Analysed(), _schema, check=_checked, setting="analyse",
    max_output_tokens=800,
)  # fmt: skip
"""Nobody reads in its place: the measures above are there anyway."""


# --- what a group decided ---------------------------------------------------------------------------------------------
#
# Where positions are grouped by meaning, the model's groups count, and without a model nothing is decided. Else stances
# count where there are any; where there are none a model's reading, if one was asked for; else words, which
# cannot tell "kept" from "abolished" and so never say "proceed". People are counted, not clusters of words, and how
# sure they are of it adds nothing. Where the mode assigned the stances, what counts is what everybody said privately
# afterwards.

HIGH, MEDIUM, MAJORITY = 0.7, 0.4, 0.5
"""Share of the participants from which a consensus is high, and medium; a decision is held by more than half."""
UNSURE, VERY_UNSURE = 0.6, 0.5
"""Mean confidence below which a single opponent asks for checking, and below which details are to be read anyway."""

Level = Literal["high", "medium", "low"]
Action = Literal["proceed", "verify", "query_detail"]
Basis = Literal["stances", "model", "words"]
Group = tuple[str, ...]

LEVELS = {"high": N_("high"), "medium": N_("medium"), "low": N_("low")}
ACTIONS = {"proceed": N_("go on with it"), "verify": N_("check first"), "query_detail": N_("read the details")}
RECOMMENDED: Mapping[Recommendation, str] = {
    "opposition": N_(
        "The group argues alike. Hold a further discussion with an assigned opposition or a mixed group before relying "
        "on it."
    ),
    "evidence": N_(
        "The group is of one mind and sure of itself. Ask for evidence and for what would change their minds; that "
        "they are sure is only what they say of themselves."
    ),
}
HELD = N_("{n} of {total} take this position: {position}")
SAID = N_("{n} of {total} say “{stance}”: {position}")
TIED = N_("No side has most: the largest are {n} of {total} each.")
NO_POSITION = N_("Nobody took a position.")
AGAINST = N_("{one} against {other}: “{position}” – “{opposite}”")
HINTS = {
    "unfinished": N_("The discussion is not over yet."),
    "silent": N_("{n} participants said nothing in the last round."),
    "violations": N_("{n} answers do not keep to the rules of the discussion; see the transcript."),
    "uncited": N_("Nobody named a source or an example."),
    "assigned": N_("Stances were assigned by the mode; what counts is what everybody said privately afterwards."),
    "words": N_("Positions were compared by their words alone; a model may read what they mean (analyses: model)."),
    "undecided": N_(
        "No model has read what the positions mean; the rule is a check and decides nothing. Read the answers."
    ),
    "differs": N_(
        "By its words the rule puts {n}% of the pairs together otherwise than the model does by what they mean."
    ),
    "sure": N_("Confidence is what participants say of themselves: weak evidence."),
}


class _Layer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Decision(_Layer):
    """stance, position: of those who hold it, in the words of whose position is most like the others'; "" where no side
    has most. held_by, not_held_by: everybody at the table. agreement_score: the largest side's share of them; where a
    model read the positions no more than it says itself, None where nobody took a side. consensus_level: low where
    nothing is decided."""

    stance: Stance
    position: str
    held_by: Group
    not_held_by: Group
    basis: Basis
    consensus_level: Level
    agreement_score: float | None = Field(ge=0, le=1)
    action: Action


class AgentResponse(_Layer):
    """One participant in the last round. confidence_change: from the first to the last time it was asked, privately
    where it was."""

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
    """What to do, who said what, on what it rests, how it came about. A consensus is what participants said alike, not
    what is true; the action says how to read it."""

    decision: Decision
    agent_responses: tuple[AgentResponse, ...]
    evidence: Evidence
    metadata: Metadata


@dataclass(frozen=True)
class GroupSides:
    """Participants who stand together, the largest side first. said: the answers that count; against: how many stand
    against the largest, by a model's reading how many conflicts it names; doubt: what to do about their being of one
    mind."""

    said: Round
    basis: Basis
    groups: Sequence[Group]
    against: int
    doubt: Recommendation
    agreement: float = 1.0
    conflicts: Group = ()


def four_layers(talk: Discussion, language: Language, mode: Mode) -> FourLayers:
    rounds = talk.rounds()
    last = rounds[-1] if rounds else {}
    sides = _sides(talk, last, mode)
    decision = _decided(sides, talk.participants)
    undecided = not mode.assigns_stances and _is_undecided(talk)
    if undecided:
        decision = decision.model_copy(update={"action": "query_detail"})
    end = talk.exit
    return FourLayers(
        decision=decision, agent_responses=tuple(_response(talk, who, response) for who, response in last.items()),
        evidence=Evidence(
            citations=tuple(dict.fromkeys(source for response in last.values() for source in response.citations)),
            conflicts=(sides.conflicts or _conflicts(talk, sides.said, language))[:MOST_CONFLICTS],
            consensus_summary=_summary(sides, decision, len(talk.participants), language),
            groupthink_warning=tell(RECOMMENDED[sides.doubt], language) if sides.doubt else "",
        ),
        metadata=Metadata(
            exit_reason=end.reason if end else "", exit_details=end.details if end else {}, rounds=len(rounds),
            verification_hints=_hints(talk, last, sides, language, assigned=mode.assigns_stances, undecided=undecided),
        ),
    )  # fmt: skip


def _sides(talk: Discussion, last: Round, mode: Mode) -> GroupSides:
    responses = talk.afterwards if mode.assigns_stances else last
    doubt: Recommendation = groupthink(last).recommendation if mode.groupthink else ""
    by_stance, read = mode.assigns_stances or any(response.stance for response in responses.values()), _reading(talk)
    by_meaning = read is not None and not mode.assigns_stances and _last_read(talk).get("basis") == "meaning"
    if read is None or (by_stance and not by_meaning):
        groups = stance_groups(responses) if by_stance else clusters(responses)
        against = sum(len(other) for other in groups[1:] if _contradict(responses[groups[0][0]], responses[other[0]]))
        return GroupSides(responses, "stances" if by_stance else "words", groups, against, doubt)
    if mode.groupthink and read.groupthink:
        doubt = doubt or "opposition"
    numbers = {str(turn.number): turn.participant for turn in talk.spoken}
    groups, named = by_side({numbers[n]: camp for n, camp in read.camp_of.items()}), tuple(read.conflicts)
    return GroupSides(responses, "model", groups, len(named), doubt, read.agreement or 0.0, named)


def _is_undecided(talk: Discussion) -> bool:
    """Whether meaning was to decide, and no model has read the last round: the rule is a check and decides nothing."""
    last = _last_read(talk)
    return last.get("basis") == "meaning" and last["by"] == RULE


def _last_read(talk: Discussion) -> Mapping[str, Any]:
    """What was read of the last round that is complete; {} where nothing was."""
    return next((turn.weighed.analysed for turn in reversed(talk.turns) if turn.weighed), {})


def _reading(talk: Discussion) -> Analysed | None:
    """A model's reading of the last round, where one was asked for and could be used."""
    public = talk.public
    last = max((turn.round for turn in public), default=0)
    weighed = (turn.weighed for turn in public if turn.weighed and turn.round == last)
    read = next((verdict.analysed for verdict in weighed if verdict.analysed), {})
    return Analysed.model_validate(read) if read and read["by"] != RULE else None


def _decided(sides: GroupSides, seats: Group) -> Decision:
    """How the caller is to take what the group came to: nothing is decided in a tie."""
    sizes = [len(group) for group in sides.groups]
    ahead = sides.groups[0] if sizes and sizes.count(sizes[0]) == 1 else ()
    middle = sides.said.get(_central(ahead, sides.said)) if ahead else None
    stance: Stance = middle.stance if middle and sides.basis == "stances" else ""
    score = min(sizes[0] / len(seats), sides.agreement) if sizes else None
    level = consensus_level(score if ahead and stance != "neutral" else None, sides.basis)
    doubtful = bool(sides.doubt) or sides.basis == "words" or (score or 0.0) <= MAJORITY
    return Decision(
        stance=stance, position=middle.position if middle else "", held_by=ahead,
        not_held_by=tuple(who for who in seats if who not in ahead), basis=sides.basis, consensus_level=level,
        agreement_score=score, action=action(level, sides.against, mean_confidence(sides.said), doubtful=doubtful),
    )  # fmt: skip


def consensus_level(score: float | None, basis: Basis = "stances") -> Level:
    """score: None where nothing is decided. Words alone are never a high consensus."""
    if score is None or score < MEDIUM:
        return "low"
    return "high" if score >= HIGH and basis != "words" else "medium"


def action(level: Level, against: int, confidence: float | None, *, doubtful: bool = False) -> Action:
    """verify: more than one stands against it, or one where they are unsure, or it is doubtful; query_detail: very
    unsure, or hardly any consensus."""
    sure = 1.0 if confidence is None else confidence
    if against > 1 or (against and sure < UNSURE):
        return "verify"
    if sure < VERY_UNSURE or level == "low":
        return "query_detail"
    return "verify" if doubtful else "proceed"


def stance_groups(responses: Round) -> list[Group]:
    """Who says yes, no, and undecided; who says nothing is on no side."""
    return by_side({who: response.stance for who, response in responses.items() if response.stance})


@dataclass(frozen=True)
class PairsOfModels:
    """Pairs of participants by the models that speak for them. alike: on the same side; of pairs both of whom took
    one."""

    first: str
    second: str
    pairs: int
    alike: int


def pairs_of_models(responses: Round, model_of: Mapping[str, str], groups: Sequence[Group] = ()) -> list[PairsOfModels]:
    """Within a model where first is second, else between two. `groups`: who stands together; by stance, where there are
    any, or by words unless given."""
    groups = groups or stance_groups(responses) or clusters(responses)
    side = {who: place for place, group in enumerate(groups) for who in group}
    pairs: dict[tuple[str, str], list[bool]] = {}
    for first, second in combinations([who for who in responses if who in side and who in model_of], 2):
        models = sorted((model_of[first], model_of[second]))
        pairs.setdefault((models[0], models[1]), []).append(side[first] == side[second])
    return [PairsOfModels(*models, len(alike), sum(alike)) for models, alike in sorted(pairs.items())]


def conflicts(responses: Round) -> list[tuple[Group, Group]]:
    """Sides that contradict each other: yes and no, or where there are no stances the same words denied."""
    groups = stance_groups(responses) or clusters(responses)
    return [(a, b) for a, b in combinations(groups, 2) if _contradict(responses[a[0]], responses[b[0]])]


def _contradict(first: Response, second: Response) -> bool:
    if first.stance and second.stance:
        return {first.stance, second.stance} == {"yes", "no"}
    shared = jaccard(content_words(first.position), content_words(second.position))
    return not same_side(first, second) and shared >= ALIKE


def _central(group: Group, responses: Round) -> str:
    """Of a side, whose position is most like the others'."""
    return max(group, key=lambda who: sum(likeness(responses[who], responses[o]) for o in group if o != who))


def _conflicts(talk: Discussion, responses: Round, language: Language) -> Group:
    numbers = {turn.participant: str(turn.number) for turn in talk.spoken}

    def side(group: Group) -> tuple[str, str]:
        return ", ".join(numbers[who] for who in group), responses[_central(group, responses)].position

    sides = (side(first) + side(second) for first, second in conflicts(responses))
    against = tell(AGAINST, language)
    return tuple(against.format(one=a, position=says, other=b, opposite=denies) for a, says, b, denies in sides)


def _summary(sides: GroupSides, decision: Decision, total: int, language: Language) -> str:
    if not sides.groups:
        return tell(NO_POSITION, language)
    says = TIED if not decision.held_by else SAID if decision.stance else HELD
    stance = tell(STANCES[decision.stance], language)
    return tell(says, language).format(n=len(sides.groups[0]), total=total, stance=stance, position=decision.position)


def _response(talk: Discussion, who: str, response: Response) -> AgentResponse:
    turns = [turn for turn in talk.spoken if turn.participant == who]
    sure = [turn.response.confidence for turn in turns if turn.response.confidence is not None]
    public = next(turn for turn in reversed(turns) if not turn.private)
    return AgentResponse(
        participant=who, number=public.number, role=public.role, stance=response.stance, position=response.position,
        key_points=response.key_points, confidence=response.confidence,
        confidence_change=sure[-1] - sure[0] if len(sure) > 1 else None,
    )  # fmt: skip


def _hints(
    talk: Discussion, last: Round, sides: GroupSides, language: Language, *, assigned: bool, undecided: bool
) -> Group:
    """How many each is about, where it is said at all."""
    about = {
        "unfinished": not talk.over,
        "silent": sum(not response.position.strip() for response in last.values()),
        "violations": sum(bool(turn.response.violations) for turn in talk.spoken),
        "uncited": not any(response.citations for response in last.values()),
        "assigned": assigned,
        "words": sides.basis == "words" and bool(sides.groups) and not undecided,
        "undecided": undecided,
        "differs": _differing(talk),
        "sure": mean_confidence(last) is not None,
    }
    return tuple(tell(hint, language).format(n=int(about[name])) for name, hint in HINTS.items() if about[name])


def _differing(talk: Discussion) -> int:
    """Percent of the pairs that the rule puts together otherwise than a model that groups by meaning."""
    last = _last_read(talk)
    return round(100 * float(last.get("rule", {}).get("differs", 0.0)))


# --- Positions grouped by a model ------------------------------------------------------------------------------------

MEANING = "meaning"
LEAST_QUOTE = 3
"""Words of a quote: fewer are found in anything."""
_GROUPING_WORDS = {
    "task": N_("Group the positions that were taken in a round of discussion by what they mean. It discusses: {topic}"),
    "said": N_("What each of them said"),
    "before": N_("Their positions of the round before"),
    "rules": N_(
        "group_of: for each number the number of its group. Two are in one group if who holds the one would sign the "
        "other: other words for the same are one, the same words denied are two, and a condition that the other "
        "rejects makes two. says: for each group its position in one sentence. quote_of: for each number the words of "
        "its own, copied exactly, that put it there. conflicts: what the groups contradict each other on, three at "
        "most, a sentence each. groupthink: whether objections are missing that the subject calls for. Confidence that "
        "people claim is no evidence."
    ),
    "unmoved": N_(
        "unmoved: for each number whether it still takes the position of the round before, by what is meant."
    ),
}


class PositionsSaid(BaseModel):
    """A round by the participants' stable numbers, so that nobody is judged by name. before: positions of the round
    before, of who took one then and now."""

    topic: str
    said: dict[str, Response]
    before: dict[str, str] = Field(default_factory=dict)


class PositionGroups(BaseModel):
    """group_of: number → its group's; says: group → its position; quote_of: number → its own words; unmoved: number →
    whether it still takes the position of the round before."""

    group_of: dict[str, int] = Field(default_factory=dict)
    says: dict[str, str] = Field(default_factory=dict)
    quote_of: dict[str, str] = Field(default_factory=dict)
    unmoved: dict[str, bool] = Field(default_factory=dict)
    conflicts: list[str] = Field(default_factory=list)
    groupthink: bool = False


def _grouping_prompt(data: PositionsSaid, language: Language) -> str:
    words = in_language(_GROUPING_WORDS, language)
    lines = "\n".join(f"[{number}] {_whole(r)}{_side(r, language)}" for number, r in data.said.items())
    parts = [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('round', lines)}"]
    if data.before:
        earlier = "\n".join(f"[{number}] {text}" for number, text in data.before.items())
        parts.append(f"{words['before']}:\n{fence('before', earlier)}")
    return "\n\n".join([*parts, words["rules"], *([words["unmoved"]] if data.before else [])])


def _side(response: Response, language: Language) -> str:
    return f" ({tell(STANCES[response.stance], language)})" if response.stance else ""


def _whole(response: Response) -> str:
    return " ".join(part for part in (response.position, response.reasoning, *response.key_points) if part)


def _grouping_schema(data: PositionsSaid) -> dict[str, JsonValue]:
    """With the numbers that exist: nobody is left out, nobody stands in two groups."""
    group: JsonValue = {"type": "integer", "minimum": 1, "maximum": len(data.said)}
    text: JsonValue = {"type": "string"}
    moved: dict[str, JsonValue] = (
        {"unmoved": closed_object({number: {"type": "boolean"} for number in data.before})} if data.before else {}
    )
    return closed_object({
        "group_of": closed_object(dict.fromkeys(data.said, group)),
        "says": {"type": "object", "additionalProperties": text},
        "quote_of": closed_object(dict.fromkeys(data.said, text)),
        **moved,
        "conflicts": {"type": "array", "items": text, "maxItems": MOST_CONFLICTS},
        "groupthink": {"type": "boolean"},
    })  # fmt: skip


def _checked_groups(data: PositionsSaid, read: PositionGroups) -> PositionGroups | None:
    """A reply that leaves somebody out is not used; a quote that nobody said is dropped."""
    if read.group_of.keys() != data.said.keys() or not data.before.keys() <= read.unmoved.keys():
        return None
    quotes = {who: text for who, text in read.quote_of.items() if who in data.said and is_quoted(text, data.said[who])}
    groups = {str(group) for group in read.group_of.values()}
    says = {group: text for group, text in read.says.items() if group in groups}
    return read.model_copy(update={"quote_of": quotes, "says": says, "conflicts": read.conflicts[:MOST_CONFLICTS]})


def is_quoted(text: str, response: Response) -> bool:
    """Whether these are words of this answer, but for blanks, case and marks of quotation."""
    quote, whole = (" ".join(words.casefold().split()) for words in (text.strip(" \"'“”„«»….\n"), _whole(response)))
    enough = len(quote.split()) >= min(LEAST_QUOTE, len(response.position.split()))
    return bool(quote) and enough and quote in whole


GROUPER = Role(
    "group", _grouping_prompt, PositionGroups, lambda data: PositionGroups(), _grouping_schema, check=_checked_groups,
    setting="group", max_output_tokens=1500, quick=True,
)  # fmt: skip
"""Nobody groups in its place: the rule's groups are a check."""


def groups_of(read: Mapping[str, Any], numbers: Mapping[str, int]) -> list[Group]:
    """Of a reading that is kept: participants who mean the same, the largest group first. numbers: of the
    participants."""
    who = {str(number): participant for participant, number in numbers.items()}
    camps = sorted((who[number], camp) for number, camp in read["camp_of"].items() if number in who)
    return by_side(dict(camps))


def kept_reading(
    data: PositionsSaid, read: PositionGroups, by: str, responses: Round, numbers: Mapping[str, int]
) -> dict[str, JsonValue]:
    """What is kept of a round: the model's groups with their agreement, by the formula of the rule's, and the rule's
    own beside them. differs: share of the pairs that the two put together otherwise. Of a round that no model read the
    rule's alone."""
    rule = clusters(responses)
    place = {who: number for number, group in enumerate(rule, 1) for who in group}
    check: dict[str, JsonValue] = {
        "agreement": agreement(responses), "camp_of": {str(numbers[who]): number for who, number in place.items()}
    }  # fmt: skip
    reading: dict[str, JsonValue] = {"basis": MEANING, "by": by, "rule": check}
    if by == RULE:
        return {**reading, "agreement": None, "camp_of": {}, "conflicts": []}
    voices = voiced(responses)
    side = {who: read.group_of[str(numbers[who])] for who in voices}
    differ = [(side[a] == side[b]) != (place[a] == place[b]) for a, b in combinations(voices, 2)]
    check["differs"] = fmean(differ) if differ else 0.0
    return {
        **reading, "agreement": agreement(responses, by_side({who: side[who] for who in sorted(voices)})),
        "camp_of": dict(read.group_of), "conflicts": list(read.conflicts), "groupthink": read.groupthink,
        "says": dict(read.says), "quotes": dict(read.quote_of),
        "unquoted": [number for number in data.said if number not in read.quote_of], "unmoved": dict(read.unmoved),
    }  # fmt: skip


def positions_said(topic: str, rounds: Sequence[Round], numbers: Mapping[str, int]) -> PositionsSaid:
    """The last of these rounds, of who took a position."""
    now, before = voiced(rounds[-1]), voiced(rounds[-2]) if len(rounds) > 1 else {}
    ordered = sorted(now, key=lambda who: numbers[who])
    return PositionsSaid(
        topic=topic, said={str(numbers[who]): now[who] for who in ordered},
        before={str(numbers[who]): before[who].position for who in ordered if who in before},
    )  # fmt: skip


def readings(talk: Discussion) -> list[Mapping[str, Any]]:
    """What is kept of the complete rounds, in their order; {} of one that was not read."""
    return [turn.weighed.analysed for turn in talk.turns if turn.weighed is not None]


def exit_by_meaning(
    rounds: Sequence[Round], read: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], limits: Limits
) -> Exit:
    """Whether it is over after the last of `rounds`, by the model's readings of them: a round that none has read agrees
    on nothing, and nobody in it stays; so without a model only the last round, or whoever leads the discussion, ends
    it."""
    standings = []
    for responses, reading in zip(rounds, read, strict=True):
        if reading.get("basis") != MEANING or reading["by"] == RULE:
            standings.append(RoundStanding(None, frozenset(voiced(responses)), {}))
            continue
        voices, unmoved = voiced(responses), reading.get("unmoved", {})
        kept = {who: float(unmoved[str(numbers[who])]) for who in voices if str(numbers[who]) in unmoved}
        sure = tuple(response.confidence for response in voices.values()) if confidences(responses) else ()
        standings.append(RoundStanding(reading["agreement"], frozenset(voices), kept, sure))
    return exit_after(standings, limits)
