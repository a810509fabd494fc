"""What the discussions found: how far each group agreed round by round and why it ended, who moved and toward whom, against
those who only read; reason and conformity beside people's; which arguments were made and who answered them.

Discussions are rebuilt from their stored turns; one that was cut short counts with what it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.roundtable.discussion import Discussion, discussions
from enquete.graphs.roundtable.instrument import RoundtableInstrument
from enquete.graphs.roundtable.layers import four_layers
from enquete.graphs.roundtable.measures.arguments import argument_table, for_movement, held
from enquete.graphs.roundtable.measures.clusters import agreement, clusters, mean_confidence, voiced
from enquete.graphs.roundtable.measures.groupthink import groupthink
from enquete.graphs.roundtable.measures.movement import Move, beyond_control, moves, persuasion, summed
from enquete.graphs.roundtable.measures.reason import PEOPLE, Rated, conformity, deliberative_reason
from enquete.graphs.roundtable.settings import RoundtableSettings
from enquete.reports.context import UNIT, AnalysisContext, Found, counted, findings

BEFORE, AFTER = "before", "after"
"""Names of the two private stages, beside the rounds' numbers."""


def analyse(
    frame: pd.DataFrame, instrument: RoundtableInstrument, settings: RoundtableSettings, context: AnalysisContext
) -> Found:
    """Findings over the main arm's discussions; see reports/findings.py for the contract."""
    run = Run.of(frame, settings, context)
    coded = held(context.frozen)
    mode, language = settings.played.mode, context.language
    table = argument_table(coded, run.groups, [one.unit for one in run.groups] if mode.order == "sequential" else [])
    arguments = for_movement(coded)
    moved = [(talk, move) for talk in run.groups for move in moves(talk.before, talk.afterwards, arguments)]
    read = [move for talk in run.controls for move in moves(talk.before, talk.afterwards)]
    scale = instrument.scales[str(instrument.scale)]
    found = {
        "unit_of_inference": UNIT,
        "answers": counted(frame),
        "question": settings.question or instrument.question.in_(language),
        "mode": {"id": settings.mode, "title": mode.title.in_(language), "order": mode.order,
                 "groupthink": mode.groupthink, "assigned": mode.assigns_stances},
        "compose": settings.compose,
        "limits": settings.limits.model_dump(),
        "seats": run.seats(),
        "groups": [_group(talk, run, suspicious=mode.groupthink) for talk in run.groups],
        "exits": dict(Counter(talk.exit.reason for talk in run.groups if talk.over and talk.exit)),
        "curve": _curve(run.groups, assigned=mode.assigns_stances),
        "positions": [row for talk in run.talks for row in _positions(talk, run)],
        "moves": [
            *(run.named(talk, move) for talk, move in moved),
            *(run.named(talk, move) for talk in run.controls for move in moves(talk.before, talk.afterwards)),
        ],
        "persuasion": list(_persuasion(moved, run)),
        "movement": {
            "groups": asdict(summed([move for _, move in moved])),
            "control": asdict(summed(read)),
            "beyond_control": beyond_control([move for _, move in moved], read),
            "joined": _joined(run.groups),
        },
        "reason": _reason(run),
        "conformity": _conformity(run, (float(scale.min), float(scale.max))),
        "people": dict(PEOPLE),
        "arguments": [_argument(one, run) for one in map(asdict, table)],
        "uncoded": len(coded.uncoded),
        "violations": _violations(run.talks),
        "models": _models(run.talks),
        "layers": {talk.unit: four_layers(talk, language, mode).model_dump(mode="json") for talk in run.groups},
        "remarks": [
            {"group": talk.unit, "round": one.round, "text": one.answer} for talk in run.groups for one in talk.remarks if one.answer
        ],
        "turns": [row for talk in run.talks for row in run.transcript(talk)],
    }  # fmt: skip
    return findings(context, found)


# --- discussions rebuilt ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """The discussions of an arm, and who took part."""

    groups: Sequence[Discussion]
    controls: Sequence[Discussion]
    names: Mapping[str, str]
    types: Mapping[str, str]
    seating: Mapping[str, Any]
    people: frozenset[str]

    @classmethod
    def of(cls, frame: pd.DataFrame, settings: RoundtableSettings, context: AnalysisContext) -> Run:
        people = frame.drop_duplicates("participant")[["participant", "agent_name", "stakeholder_type"]].astype(str)
        known = list(people.itertuples(index=False, name=None))
        stored = context.frozen.get("groups")
        seating: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
        talks = [talk for talk in discussions(context.frozen, settings.mode) if talk.turns]
        return cls(
            [one for one in talks if one.seated],
            [one for one in talks if one.reads],
            {who: name for who, name, _ in known},
            {who: kind for who, _, kind in known},
            seating,
            frozenset(frame.loc[frame["respondent"].eq("human"), "participant"].astype(str)),
        )

    @property
    def talks(self) -> list[Discussion]:
        return [*self.groups, *self.controls]

    def name(self, who: str) -> str:
        return self.names.get(who, who)

    def seats(self) -> dict[str, JsonValue]:
        """Groups begun, over, and planned; participants in them, of these people; agents among the readers, and without a seat."""
        seated = {who for talk in self.groups for who in talk.participants}
        planned = self.seating.get("groups") or {talk.unit: None for talk in self.groups}
        return {
            "begun": len(self.groups),
            "over": sum(talk.over for talk in self.groups),
            "total": len(planned),
            "participants": len(seated),
            "people": len(seated & self.people),
            "readers": len(self.controls),
            "unseated": len(self.seating.get("unseated") or []),
            "unknown": list(self.seating.get("unknown") or []),
        }

    def named(self, talk: Discussion, move: Move) -> dict[str, Any]:
        return {
            "group": talk.unit, "reads": talk.reads, "name": self.name(move.participant),
            "stakeholder_type": self.types.get(move.participant, ""),
            **asdict(move), "toward": list(move.toward), "toward_names": [self.name(who) for who in move.toward],
            "surer": move.surer, "moved_by": talk.afterwards[move.participant].sections.get("moved_by", ""),
        }  # fmt: skip

    def transcript(self, talk: Discussion) -> Iterator[dict[str, Any]]:
        for turn in talk.spoken:
            yield {
                "group": talk.unit, "turn": turn.turn, "round": turn.round, "private": turn.private,
                "participant": turn.participant, "name": self.name(turn.participant), "number": turn.number, "role": turn.role,
                "status": turn.status, "retried": turn.retried, **turn.response.model_dump(mode="json"),
                "by": dict(turn.by),
            }  # fmt: skip


# --- of each group ------------------------------------------------------------------------------------------------------


def _group(talk: Discussion, run: Run, *, suspicious: bool) -> dict[str, Any]:
    rounds = talk.rounds()
    last = groupthink(rounds[-1]) if rounds and suspicious else None
    seats = {turn.participant: turn for turn in talk.spoken}
    return {
        "group": talk.unit,
        "participants": [
            {
                "participant": who,
                "name": run.name(who),
                "stakeholder_type": run.types.get(who, ""),
                "number": seats[who].number if who in seats else None,
                "role": seats[who].role if who in seats else "",
            }
            for who in talk.participants
        ],
        BEFORE: agreement(talk.before),
        "rounds": [_round(number, said) for number, said in enumerate(rounds, 1)],
        AFTER: agreement(talk.afterwards),
        "over": talk.over,
        "exit_reason": talk.exit.reason if talk.exit else "",
        "exit_details": dict(talk.exit.details) if talk.exit else {},
        "analysed": [
            {"round": turn.round, **turn.weighed.analysed}
            for turn in talk.spoken
            if turn.weighed and turn.weighed.analysed
        ],
        "groupthink": {**asdict(last), "indicators": list(last.indicators)} if last else None,
    }


def _round(number: int, said: Mapping[str, Any]) -> dict[str, Any]:
    found = clusters(said)
    return {
        "round": number, "agreement": agreement(said), "positions": len(found), "largest": len(found[0]) if found else 0,
        "n": len(voiced(said)), "mean_confidence": mean_confidence(said),
    }  # fmt: skip


def _curve(groups: Sequence[Discussion], *, assigned: bool) -> list[dict[str, Any]]:
    """Mean agreement privately before, after each round, and privately after; a group that has ended stays where it ended.
    Rounds in which stances were assigned show no agreement of the group's."""
    rounds_of = [[] if assigned else talk.rounds() for talk in groups]
    courses = [[one for said in course if (one := agreement(said)) is not None] for course in rounds_of]
    known = [course for course in courses if course]
    rounds = [
        _mean(
            str(number),
            [course[min(number, len(course)) - 1] for course in known],
            sum(len(c) >= number for c in known),
        )
        for number in range(1, max(map(len, known), default=0) + 1)
    ]
    private = {
        BEFORE: [agreement(talk.before) for talk in groups],
        AFTER: [agreement(talk.afterwards) for talk in groups],
    }
    before, after = (_mean(stage, [one for one in found if one is not None], 0) for stage, found in private.items())
    return [one for one in (before, *rounds, after) if one["n"]] if rounds or (before["n"] and after["n"]) else []


def _mean(stage: str, found: Sequence[float], talking: int) -> dict[str, Any]:
    return {"stage": stage, "agreement": fmean(found) if found else None, "talking": talking, "n": len(found)}


def _positions(talk: Discussion, run: Run) -> Iterator[dict[str, Any]]:
    """Where everybody stood at every stage: privately before, in the rounds, privately after. cluster: of positions that are
    alike at this stage, the largest 1."""
    stages = {BEFORE: talk.before, AFTER: talk.afterwards, **{str(n): said for n, said in enumerate(talk.rounds(), 1)}}
    alike = {
        (stage, who): place
        for stage, said in stages.items()
        for place, one in enumerate(clusters(said), 1)
        for who in one
    }
    for turn in talk.spoken:
        stage = str(turn.round) if not turn.private else BEFORE if turn.round == 0 else AFTER
        said = turn.response
        yield {
            "group": talk.unit, "participant": turn.participant, "name": run.name(turn.participant),
            "stakeholder_type": run.types.get(turn.participant, ""), "number": turn.number, "role": turn.role,
            "reads": talk.reads, "stage": stage, "stance": said.stance, "confidence": said.confidence,
            "cluster": alike.get((stage, turn.participant)), "position": said.position,
        }  # fmt: skip


# --- of all -------------------------------------------------------------------------------------------------------------


def _persuasion(moved: Sequence[tuple[Discussion, Move]], run: Run) -> Iterator[dict[str, Any]]:
    for talk, move in moved:
        for (mover, other), weight in persuasion([move]).items():
            yield {
                "group": talk.unit, "mover": mover, "mover_name": run.name(mover), "mover_type": run.types.get(mover, ""),
                "toward": other, "toward_name": run.name(other), "toward_type": run.types.get(other, ""), "weight": weight,
                "argument": move.argument,
            }  # fmt: skip


def _joined(groups: Sequence[Discussion]) -> dict[str, int]:
    """Those whose stance was in their group's minority before, and how many of them had the majority's after."""
    minority = joined = 0
    for talk in groups:
        before = {who: said.stance for who, said in talk.before.items() if said.stance}
        most = Counter(before.values()).most_common(2)
        if not most or (len(most) > 1 and most[0][1] == most[1][1]):  # nobody is in the majority of a tie
            continue
        others = [who for who, stance in before.items() if stance != most[0][0] and who in talk.afterwards]
        minority += len(others)
        joined += sum(talk.afterwards[who].stance == most[0][0] for who in others)
    return {"minority": minority, "joined": joined}


def _ratings(talks: Sequence[Discussion], *, after: bool) -> Rated:
    return {
        turn.participant: dict(turn.ratings)
        for talk in talks
        for turn in talk.spoken
        if turn.private and (turn.round > 0) == after and turn.ratings
    }


def _rankings(talks: Sequence[Discussion], *, after: bool) -> dict[str, tuple[str, ...]]:
    return {
        turn.participant: turn.ranking
        for talk in talks
        for turn in talk.spoken
        if turn.private and (turn.round > 0) == after and turn.ranking
    }


def _reason(run: Run) -> dict[str, Any]:
    """By group, over groups that have both (weighted by pairs), and over all readers taken as one group."""
    by_group = [{"group": talk.unit, **_before_after([talk])} for talk in run.groups]
    both = [one for one in by_group if one["before"]["adjusted"] is not None and one["after"]["adjusted"] is not None]
    pairs = sum(one["before"]["pairs"] for one in both)
    mean = {
        stage: sum(one[stage]["adjusted"] * one["before"]["pairs"] for one in both) / pairs if pairs else None
        for stage in (BEFORE, AFTER)
    }
    rising = sum(one["after"]["adjusted"] > one["before"]["adjusted"] for one in both)
    readers = _before_after(run.controls)
    return {"by_group": by_group, **mean, "rising": rising, "groups": len(both), "readers": readers}


def _before_after(talks: Sequence[Discussion]) -> dict[str, Any]:
    return {
        stage: asdict(deliberative_reason(_ratings(talks, after=after), _rankings(talks, after=after)))
        for stage, after in ((BEFORE, False), (AFTER, True))
    }


def _conformity(run: Run, scale: tuple[float, float]) -> dict[str, Any]:
    groups = {who: talk.unit for talk in run.talks for who in talk.participants}
    return {
        name: asdict(conformity(_ratings(talks, after=False), _ratings(talks, after=True), groups, scale))
        for name, talks in (("groups", run.groups), ("control", run.controls))
    }


def _argument(one: dict[str, Any], run: Run) -> dict[str, Any]:
    return {
        **one,
        "raised": list(one["raised"]),
        "raised_names": [run.name(who) for who in one["raised"]],
        "answered": [{**each, "name": run.name(each["participant"])} for each in one["answered"]],
    }


def _violations(talks: Sequence[Discussion]) -> dict[str, Any]:
    """Public turns that were answered; those asked twice, those that still did not keep to a check, and which."""
    said = [turn for talk in talks for turn in talk.spoken if not turn.private and turn.response.position]
    checks = Counter(one.check for turn in said for one in turn.response.violations)
    return {
        "turns": len(said),
        "asked_again": sum(turn.retried for turn in said),
        "kept": sum(bool(turn.response.violations) for turn in said),
        "by_check": dict(sorted(checks.items())),
    }


def _models(talks: Sequence[Discussion]) -> dict[str, dict[str, int]]:
    """Who read the rounds, where a model was to."""
    by = Counter(
        str(turn.weighed.analysed["by"])
        for talk in talks
        for turn in talk.spoken
        if turn.weighed and turn.weighed.analysed
    )
    return {"analyse": dict(by)} if by else {}
