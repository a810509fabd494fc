"""Result tables of discussions: stored turns in, one DataFrame a table out.

`analyse` rebuilds the discussions once (`DiscussionData`) and calls one function a table; a discussion that was cut
short counts with what it has. What a column means is in `reports/columns.yaml`, sentences are in `findings.py`, the
section of the report is in `report.md.j2`. All of a run share a model: intervals and tests are over agents of this run,
no inference about people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import detectable_share
from enquete.analysis.probes import sign
from enquete.locale import N_
from enquete.methods.roundtable.agreement import (
    MEANING,
    FourLayers,
    agreement,
    clusters,
    four_layers,
    groups_of,
    groupthink,
    mean_confidence,
    pairs_of_models,
    same_side,
    voiced,
)
from enquete.methods.roundtable.discussion import Discussion, Round, RoundtableSettings, RoundtableTurn, discussions
from enquete.methods.roundtable.instrument import RoundtableInstrument
from enquete.methods.roundtable.modes import Mode
from enquete.methods.roundtable.movement import Move, moves
from enquete.methods.roundtable.stages import AFTER, BEFORE
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext, shallow
from enquete.reports.declarations import Analysis, Row, compared, on_scale, shape_results
from enquete.reports.group_tables import declare_group_tables
from enquete.respondents.ledger_context import SWITCHED
from enquete.respondents.roles import RULE
from enquete.respondents.rule_coder import CodedThemes
from enquete.runs.conversations import ANSWERED, utterance_id

MAX_VERBATIM = 2
"""Groups told verbatim in the appendix; all are in the transcript."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("roundtable")
COMPARED = GLOSSARY.table(
    "compared", N_("What groups are compared on"), key="measure", label="label", columns="measure label"
)
TABLES = (
    GLOSSARY.table(
        "discussions", N_("The groups"), key="group",
        columns="group n rounds over exit before first last after positions groupthink signs recommendation stance "
                "held level action exit_details",
    ),
    GLOSSARY.table(
        "movement", N_("Before and after, asked privately"), key="side",
        columns="side n n_total moved share low high surer",
    ),
    GLOSSARY.table(
        "beyond_reading", N_("Discussing against reading"), key="verdict", replicates=("verdict",),
        columns="verdict discussed read difference n n_total sizes of_all test p p_adjusted detectable "
                "detectable_share",
    ),
    GLOSSARY.table(
        "arguments", N_("Arguments"), key="id group",
        columns="id label group turn raised answered took_up countered",
    ),
    GLOSSARY.table(
        "arguments_answered", N_("Arguments over all groups"), key="id", columns="id label groups answered",
    ),
    GLOSSARY.table(
        "moves", N_("Who moved"), key="group participant",
        columns="group participant stakeholder_type reads before after confidence_before confidence_after surer kept "
                "moved toward argument moved_by",
        note=N_("Toward whom is a likeness of positions, no proof of a cause."),
    ),
    replace(COMPARED, files=False),
    *declare_group_tables(GLOSSARY, N_("By group of the agents"), by="measure"),
    GLOSSARY.table(
        "groupings", N_("Positions grouped by what they mean"), key="group round participant",
        columns="group round last participant camp says quote cluster",
        note=N_("A model grouped them; the words it quotes were found in the answer itself. The rule compares words "
                "alone and is a check."),
    ),
    GLOSSARY.table(
        "rounds", N_("Agreement by round"), key="group round",
        columns="group round agreement positions largest n mean_confidence read camps conflicts differs",
        note=N_("{decides}"),
    ),
    GLOSSARY.table(
        "curve", N_("Mean agreement"), key="stage", columns="stage place agreement talking n",
    ),
    GLOSSARY.table(
        "positions", N_("Where everybody stood"), key="group participant stage",
        columns="group participant stakeholder_type number role reads stage stance confidence cluster position",
    ),
    GLOSSARY.table(
        "checks", N_("Whether the mode was played"), key="check", columns="check n",
        note=N_("{asked_again} of {public_turns} answers were asked for once more because they did not keep to the "
                "mode; {not_kept} still did not and stand as they are."),
    ),
    GLOSSARY.table("remarks", N_("Remarks of the moderator"), key="group round", columns="group round text"),
    GLOSSARY.table(
        "speaking_models", N_("Which model spoke"), key="model",
        columns="model participants turns confidence violations",
    ),
    GLOSSARY.table(
        "between_models", N_("Agreement within and between models"), key="first second",
        columns="how first second pairs alike_first alike_last",
        note=N_("Pairs of participants who took a side: one position by meaning, where a model grouped them, else the "
                "same stance, else like words. That speakers of one model agree is weaker evidence than that different "
                "ones do."),
    ),
    GLOSSARY.table(
        "switches", N_("Models that were given up"), key="participant from",
        columns="session participant round turn from to why",
    ),
    GLOSSARY.table(
        "turns", N_("Transcripts"), key="group turn",
        columns="group turn round private participant number role status retried stance confidence position reasoning "
                "response by model",
    ),
    GLOSSARY.table(
        "agents", N_("Agents"), key="participant", one_agent=True,
        columns="participant roundtable_before roundtable_moved after",
        agents={"roundtable_before": "group_tests", "roundtable_moved": "group_tests"},
    ),
)  # fmt: skip
FACTS = tuple(
    replace(fact, replicates=fact.name == "held_after")
    for fact in GLOSSARY.facts(
        "question mode mode_title assigned judges_groupthink decides compose consensus_limit begun over planned n "
        "n_total people readers unseated unknown first_agreement last_agreement agreed settled groupthink_groups "
        "judged_groups minority joined public_turns asked_again not_kept silent said uncoded n_arguments unanswered "
        "first_two layers models held_after"
    )
)


def analyse(
    frame: pd.DataFrame, instrument: RoundtableInstrument, settings: RoundtableSettings, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of the discussions.

    Args:
        frame: one row an answer, of the main arm.
        instrument: what was asked.
        settings: of the run.
        context: what was pinned (turns, seats, arguments) and what agents are compared by.
    """
    run = DiscussionData.prepare(frame, settings, context)
    mode, language = settings.played.mode, context.language
    stored = context.pinned.get("arguments")
    coded = CodedThemes.model_validate(stored) if stored else CodedThemes(themes=[], uncoded=[])

    discussed = [(talk, move) for talk in run.groups for move in moves(talk.before, talk.afterwards, coded.themes)]
    read = [(talk, move) for talk in run.controls for move in moves(talk.before, talk.afterwards)]
    participants = [move for _, move in discussed]
    layers = {talk.unit: four_layers(talk, language, mode) for talk in run.groups}
    arguments = argument_rows(coded, run.groups, hear_one_another=mode.order == "sequential")
    curve = average_agreement(run.groups, is_assigned=mode.assigns_stances)
    groups = describe_groups(run.groups, layers, mode)
    movement = count_moves(participants, [move for _, move in read])

    tables: dict[str, pd.DataFrame] = {
        "discussions": groups,
        "movement": movement,
        "beyond_reading": compare_with_reading(movement),
        "arguments": pd.DataFrame(arguments),
        "arguments_answered": count_answers_to_arguments(arguments),
        "moves": list_moves(run, [*discussed, *read]),
        "compared": pd.DataFrame([{"measure": name, "label": name} for name in ("moved", "before")]),
        **compare_groups(participants, context.groups_of(frame)),
        "groupings": list_groupings(run.groups),
        "rounds": measure_rounds(run.groups),
        "curve": curve,
        "positions": list_positions(run),
        "checks": count_broken_checks(run),
        "remarks": list_remarks(run.groups),
        "speaking_models": describe_models(run),
        "between_models": compare_models(run),
        "switches": list_switches(context.pinned),
        "turns": list_turns(run),
        "agents": describe_agents(participants),
    }
    facts = {
        "question": settings.question or instrument.question.in_(language),
        "mode": settings.mode,
        "mode_title": mode.title.in_(language),
        "assigned": mode.assigns_stances,
        "judges_groupthink": mode.groupthink,
        "decides": settings.agreement,
        "compose": settings.compose,
        "consensus_limit": settings.limits.consensus,
        **count_seats(run),
        **state_agreement(groups, curve),
        **count_turns(run),
        **count_joined(run.groups),
        "uncoded": len(coded.uncoded),
        "n_arguments": len(arguments),
        "unanswered": sum(not row["answered"] for row in arguments),
        "first_two": [talk.unit for talk in run.groups[:MAX_VERBATIM]],
        "layers": {unit: layer.model_dump(mode="json") for unit, layer in layers.items()},
        "models": count_readers(run.discussions),
        "held_after": find_stance_held_most(participants),
    }
    return shape_results(TABLES, FACTS, tables, facts)


@dataclass(frozen=True)
class DiscussionData:
    """The discussions of an arm, rebuilt from their turns, and who took part.

    Attributes:
        groups: those in which agents sat.
        controls: those that were only read.
        types: stakeholder type by participant.
        seating: how groups were put together, as it was pinned.
        people: participants who are persons.
        models: by unit and turn, "" where a person answered.
    """

    groups: Sequence[Discussion]
    controls: Sequence[Discussion]
    types: Mapping[str, str]
    seating: Mapping[str, Any]
    people: frozenset[str]
    models: Mapping[tuple[str, int], str]

    @classmethod
    def prepare(cls, frame: pd.DataFrame, settings: RoundtableSettings, context: AnalysisContext) -> DiscussionData:
        people, turns = frame.drop_duplicates("participant"), frame.drop_duplicates(["session", "turn"])
        stored = context.pinned.get("groups")
        opened = [talk for talk in discussions(context.pinned, settings.mode) if talk.turns]
        return cls(
            groups=[talk for talk in opened if talk.seated],
            controls=[talk for talk in opened if talk.reads],
            types=dict(zip(people["participant"].astype(str), people["stakeholder_type"].astype(str), strict=True)),
            seating=stored if isinstance(stored, dict) else {},
            people=frozenset(frame.loc[frame["respondent"].eq("human"), "participant"].astype(str)),
            models=dict(zip(zip(turns["session"], turns["turn"], strict=True), turns["model"], strict=True)),
        )

    @property
    def discussions(self) -> list[Discussion]:
        return [*self.groups, *self.controls]

    def model_of(self, talk: Discussion, turn: RoundtableTurn) -> str:
        """Return which model said this; "" where a person did, or nobody knows: an earlier run held it."""
        return turn.by.get(ANSWERED) or self.models.get((talk.unit, turn.turn), "")

    @cached_property
    def has_several_models(self) -> bool:
        """Whether more than one model spoke to a group."""
        return len({self.model_of(talk, turn) for talk in self.groups for turn in talk.spoken} - {""}) > 1


def describe_groups(groups: Sequence[Discussion], layers: Mapping[str, FourLayers], mode: Mode) -> pd.DataFrame:
    """Return every group with how it agreed, why it ended, and what it decided."""
    return pd.DataFrame([_describe_group(talk, layers[talk.unit], mode) for talk in groups])


def _describe_group(talk: Discussion, layers: FourLayers, mode: Mode) -> Row:
    rounds, decision = talk.rounds(), layers.decision
    # Agreement of stances that were assigned is none of the group's.
    levels = [] if mode.assigns_stances else levels_of(rounds)
    signs = groupthink(rounds[-1]) if rounds and mode.groupthink else None
    return {
        "group": talk.unit,
        "n": len(talk.participants),
        "rounds": len(rounds),
        "over": talk.over,
        "exit": talk.exit.reason if talk.exit and talk.over else "",
        "exit_details": dict(talk.exit.details) if talk.exit else {},
        "before": agreement(talk.before),
        "first": levels[0] if levels else None,
        "last": levels[-1] if levels else None,
        "after": agreement(talk.afterwards),
        "positions": len(clusters(rounds[-1])) if levels else None,
        "groupthink": signs.detected if signs else None,
        "signs": list(signs.indicators) if signs and signs.detected else [],
        "recommendation": (signs.recommendation or None) if signs else None,
        "stance": decision.stance or None,
        "held": len(decision.held_by),
        "level": decision.consensus_level,
        "action": decision.action,
    }


def levels_of(rounds: Iterable[Round]) -> list[float]:
    """Return the agreement of each round in which anybody took a position."""
    return [level for level in map(agreement, rounds) if level is not None]


def measure_rounds(groups: Sequence[Discussion]) -> pd.DataFrame:
    """Return how far each group agreed in each round: by rule, and where a model read the round too, by the model."""
    return pd.DataFrame([row for talk in groups for row in _measure_rounds(talk)])


def _measure_rounds(talk: Discussion) -> Iterator[Row]:
    analysed: dict[int, Mapping[str, Any]] = {
        turn.round: turn.weighed.analysed for turn in talk.spoken if turn.weighed and turn.weighed.analysed
    }
    for number, responses in enumerate(talk.rounds(), 1):
        alike, reading = clusters(responses), analysed.get(number, {})
        is_by_model = bool(reading) and reading["by"] != RULE
        yield {
            "group": talk.unit,
            "round": number,
            "agreement": agreement(responses),
            "positions": len(alike),
            "largest": len(alike[0]) if alike else 0,
            "n": len(voiced(responses)),
            "mean_confidence": mean_confidence(responses),
            "read": reading["agreement"] if is_by_model else None,
            "camps": len(set(reading["camp_of"].values())) if is_by_model else None,
            "conflicts": list(reading["conflicts"]) if is_by_model else [],
            "differs": dict(reading.get("rule", {})).get("differs"),
        }


def list_groupings(groups: Sequence[Discussion]) -> pd.DataFrame:
    """Return where positions were grouped by meaning each participant's camp by the model and by the rule."""
    return pd.DataFrame([row for talk in groups for row in _list_groupings(talk)])


def _list_groupings(talk: Discussion) -> Iterator[Row]:
    last = max((turn.round for turn in talk.turns if turn.weighed), default=0)
    for turn in talk.turns:
        reading: Mapping[str, Any] = turn.weighed.analysed if turn.weighed else {}
        if reading.get("basis") != MEANING:
            continue
        for speaker in talk.public:
            number = str(speaker.number)
            if speaker.round != turn.round or number not in reading["rule"]["camp_of"]:
                continue
            camp = reading["camp_of"].get(number)
            yield {
                "group": talk.unit,
                "round": turn.round,
                "last": turn.round == last,
                "participant": speaker.participant,
                "camp": camp,
                "says": reading.get("says", {}).get(str(camp)),
                "quote": reading.get("quotes", {}).get(number),
                "cluster": reading["rule"]["camp_of"][number],
            }


def average_agreement(groups: Sequence[Discussion], *, is_assigned: bool) -> pd.DataFrame:
    """Return the mean agreement privately before, after each round, and privately after.

    A group that has ended stays where it ended. Rounds in which stances were assigned show no agreement of the group's.
    """
    courses = [] if is_assigned else [levels_of(talk.rounds()) for talk in groups]
    courses = [course for course in courses if course]
    points = []
    for number in range(1, max(map(len, courses), default=0) + 1):
        levels = [course[min(number, len(course)) - 1] for course in courses]
        n_talking = sum(len(course) >= number for course in courses)
        points.append({"stage": str(number), "agreement": fmean(levels), "talking": n_talking, "n": len(levels)})

    before = levels_of(talk.before for talk in groups)
    after = levels_of(talk.afterwards for talk in groups)
    if not points and not (before and after):
        return pd.DataFrame()
    if before:
        points.insert(0, {"stage": BEFORE, "agreement": fmean(before), "talking": 0, "n": len(before)})
    if after:
        points.append({"stage": AFTER, "agreement": fmean(after), "talking": 0, "n": len(after)})
    return pd.DataFrame(points).assign(place=range(len(points)))


def list_positions(run: DiscussionData) -> pd.DataFrame:
    """Return where everybody stood at every stage: privately before, in the rounds, privately after."""
    return pd.DataFrame([row for talk in run.discussions for row in _list_positions(talk, run)])


def _list_positions(talk: Discussion, run: DiscussionData) -> Iterator[Row]:
    stages: dict[str, Round] = {BEFORE: talk.before, AFTER: talk.afterwards}
    stages |= {str(number): responses for number, responses in enumerate(talk.rounds(), 1)}
    cluster_of: dict[tuple[str, str], int] = {}
    for stage, responses in stages.items():
        for place, members in enumerate(clusters(responses), 1):
            cluster_of |= {(stage, who): place for who in members}

    for turn in talk.spoken:
        stage, response = str(turn.stage), turn.response
        yield {
            "group": talk.unit,
            "participant": turn.participant,
            "stakeholder_type": run.types.get(turn.participant),
            "number": turn.number,
            "role": turn.role,
            "reads": bool(talk.reads),
            "stage": stage,
            "stance": response.stance or None,
            "confidence": response.confidence,
            "cluster": cluster_of.get((stage, turn.participant)),
            "position": response.position,
        }


def list_moves(run: DiscussionData, moved: Iterable[tuple[Discussion, Move]]) -> pd.DataFrame:
    """Return everybody who took a position before and after, and how it changed."""
    rows = []
    for talk, move in moved:
        sections = talk.afterwards[move.participant].sections
        rows.append(
            {
                **shallow(move),
                "group": talk.unit,
                "reads": bool(talk.reads),
                "stakeholder_type": run.types.get(move.participant),
                "toward": list(move.toward),
                "surer": move.surer,
                "moved_by": sections.get("moved_by") or None,
            }
        )
    return pd.DataFrame(rows)


def count_moves(discussed: Sequence[Move], read: Sequence[Move]) -> pd.DataFrame:
    """Return how many of those who discussed, and of those who only read, took another position afterwards."""
    return pd.DataFrame([_count_moves("discussed", discussed), _count_moves("read", read)])


def _count_moves(side: str, side_moves: Sequence[Move]) -> Row:
    n, n_moved = len(side_moves), sum(move.moved for move in side_moves)
    surer = [move.surer for move in side_moves if move.surer is not None]
    interval = share_interval(n_moved, n) if n else {}
    return {
        "side": side,
        "n": n,
        "n_total": n,
        "moved": n_moved,
        "share": n_moved / n if n else None,
        "low": interval.get("low"),
        "high": interval.get("high"),
        "surer": fmean(surer) if surer else None,
    }


def compare_with_reading(movement: pd.DataFrame) -> pd.DataFrame:
    """Return Fisher's exact test of who moved by whether they discussed; nothing where nobody only read."""
    sizes, n_moved = movement["n"].tolist(), movement["moved"].tolist()
    if not all(sizes):
        return pd.DataFrame()
    discussed, read = (moved / n for moved, n in zip(n_moved, sizes, strict=True))
    difference = discussed - read
    share = sum(n_moved) / sum(sizes)
    verdicts = {1: "more", -1: "less", 0: "same"}
    counts = np.array([[moved, n - moved] for moved, n in zip(n_moved, sizes, strict=True)])
    row = {
        "verdict": verdicts[sign(round(difference, 2)) or 0],
        "discussed": discussed,
        "read": read,
        "difference": difference,
        "n": sum(sizes),
        "n_total": sum(sizes),
        "test": "Fisher",
        "p": float(scipy.stats.fisher_exact(counts).pvalue),
        "sizes": ", ".join(map(str, sizes)),
        "of_all": share,
        **on_scale(detectable_share(sizes, share), (0, 1)),
    }
    return pd.DataFrame([row])


def compare_groups(participants: Sequence[Move], groups: pd.Series[str]) -> dict[str, pd.DataFrame]:
    """Return by group the shares of those who discussed that moved, and that said yes before."""
    shares = {}
    for move in participants:
        said_yes = float(move.before == "yes") if move.before else None
        shares[move.participant] = (float(move.moved), said_yes)
    values = pd.DataFrame.from_dict(shares, orient="index", columns=["moved", "before"], dtype=float)
    if values.empty:
        return {}
    return compared(values, groups, "measure", ends=dict.fromkeys(values, (0, 1)))


def argument_rows(coded: CodedThemes, discussions: Sequence[Discussion], *, hear_one_another: bool) -> list[Row]:
    """Return a row an argument and group, in the order of the themes.

    Who raised it had not heard it from another; who came back to it later took it up, from its own side, or countered
    it, from the other one. The same argument has the same id in every group.

    Args:
        coded: the key points of all turns as themes.
        discussions: of the groups.
        hear_one_another: whether participants do within a round.
    """
    rows = []
    for theme in coded.themes:
        utterances = {statement.partition("|")[2].rpartition(".")[0] for statement in theme.statements}
        for talk in discussions:
            turns = [turn for turn in talk.public if utterance_id(talk.unit, turn.turn) in utterances]
            if turns:
                about = {"id": theme.id, "label": theme.label, "group": talk.unit}
                rows.append({**about, **_follow_argument(turns, hear_one_another=hear_one_another)})
    return rows


def _follow_argument(turns: Sequence[RoundtableTurn], *, hear_one_another: bool) -> Row:
    first = turns[0]
    together = [] if hear_one_another else [turn for turn in turns if turn.round == first.round]
    raised = dict.fromkeys(turn.participant for turn in (first, *together))
    later: dict[str, RoundtableTurn] = {}
    for turn in turns:
        if turn.participant not in raised:
            later.setdefault(turn.participant, turn)
    agrees = {who: same_side(first.response, turn.response) for who, turn in later.items()}
    return {
        "turn": first.turn,
        "raised": list(raised),
        "answered": len(later),
        "took_up": [who for who, is_same in agrees.items() if is_same],
        "countered": [who for who, is_same in agrees.items() if not is_same],
    }


def count_answers_to_arguments(arguments: Sequence[Row]) -> pd.DataFrame:
    """Return over all groups in how many an argument was raised, and how many answered it."""
    rows: dict[str, Row] = {}
    for argument in arguments:
        new = {"id": argument["id"], "label": argument["label"], "groups": 0, "answered": 0}
        row = rows.setdefault(argument["id"], new)
        row["groups"] += 1
        row["answered"] += argument["answered"]
    return pd.DataFrame(list(rows.values()))


def count_broken_checks(run: DiscussionData) -> pd.DataFrame:
    """Return the checks of the mode that public turns did not pass, also when asked once more."""
    turns = [turn for talk in run.discussions for turn in talk.public if turn.response.position]
    broken = Counter(violation.check for turn in turns for violation in turn.response.violations)
    return pd.DataFrame([{"check": name, "n": n} for name, n in sorted(broken.items())])


def list_remarks(groups: Sequence[Discussion]) -> pd.DataFrame:
    """Return what the moderator remarked before which round."""
    rows = [
        {"group": talk.unit, "round": remark.round, "text": remark.answer}
        for talk in groups
        for remark in talk.remarks
        if remark.answer
    ]
    return pd.DataFrame(rows)


def describe_models(run: DiscussionData) -> pd.DataFrame:
    """Return each model's participants, its turns, and how sure it says it is; nothing where one speaks for all."""
    if not run.has_several_models:
        return pd.DataFrame()
    by_model: dict[str, list[RoundtableTurn]] = {}
    for talk in run.groups:
        for turn in talk.spoken:
            by_model.setdefault(run.model_of(talk, turn), []).append(turn)
    rows = []
    for model in sorted(by_model.keys() - {""}):
        turns = by_model[model]
        confidences = [turn.response.confidence for turn in turns if turn.response.confidence is not None]
        rows.append(
            {
                "model": model,
                "participants": list(dict.fromkeys(turn.participant for turn in turns)),
                "turns": len(turns),
                "confidence": fmean(confidences) if confidences else None,
                "violations": sum(bool(turn.response.violations) for turn in turns),
            }
        )
    return pd.DataFrame(rows)


def compare_models(run: DiscussionData) -> pd.DataFrame:
    """Return in how many pairs of participants both stood on the same side, in the first round and in the last."""
    if not run.has_several_models:
        return pd.DataFrame()
    pairs = [pair for talk in run.groups for pair in _list_pairs(run, talk)]
    if not pairs:
        return pd.DataFrame()
    sums = pd.DataFrame(pairs).groupby(["first", "second"], as_index=False).sum()
    return pd.DataFrame(
        {
            "first": sums["first"],
            "second": sums["second"],
            "how": np.where(sums["first"].eq(sums["second"]), "within", "between"),
            "pairs": sums["pairs_last"],
            "alike_first": sums["same_first"] / sums["pairs_first"].where(sums["pairs_first"] > 0),
            "alike_last": sums["same_last"] / sums["pairs_last"].where(sums["pairs_last"] > 0),
        }
    )


def _list_pairs(run: DiscussionData, talk: Discussion) -> Iterator[Row]:
    rounds, numbers = talk.rounds(), {turn.participant: turn.number for turn in talk.spoken}
    readings = {
        turn.round: turn.weighed.analysed
        for turn in talk.turns
        if turn.weighed and turn.weighed.analysed.get("camp_of")
    }
    if not rounds:
        return
    for when, number in (("first", 1), ("last", len(rounds))):
        speakers = {turn.participant: run.model_of(talk, turn) for turn in talk.public if turn.round == number}
        known = {who: model for who, model in speakers.items() if model}
        reading = readings.get(number, {})
        camps = groups_of(reading, numbers) if reading.get("basis") == MEANING else ()
        for pair in pairs_of_models(rounds[number - 1], known, camps):
            none: Row = dict.fromkeys(("pairs_first", "same_first", "pairs_last", "same_last"), 0)
            counts = {f"pairs_{when}": pair.pairs, f"same_{when}": pair.alike}
            yield {"first": pair.first, "second": pair.second, **none, **counts}


def list_switches(pinned: Mapping[str, Any]) -> pd.DataFrame:
    """Return the models that were given up during a discussion, and by which they were taken over."""
    return pd.DataFrame([pin for name, pin in sorted(pinned.items()) if name.startswith(SWITCHED)])


def list_turns(run: DiscussionData) -> pd.DataFrame:
    """Return all that was said, turn by turn."""
    return pd.DataFrame([_describe_turn(run, talk, turn) for talk in run.discussions for turn in talk.spoken])


def _describe_turn(run: DiscussionData, talk: Discussion, turn: RoundtableTurn) -> Row:
    response = turn.response.model_dump(mode="json")
    return {
        "group": talk.unit,
        "turn": turn.turn,
        "round": turn.round,
        "private": turn.private,
        "participant": turn.participant,
        "number": turn.number,
        "role": turn.role,
        "status": turn.status,
        "retried": turn.retried,
        **{name: response[name] for name in ("stance", "confidence", "position", "reasoning")},
        "response": response,
        "by": dict(turn.by),
        "model": (run.model_of(talk, turn) or None) if run.has_several_models else None,
    }


def describe_agents(participants: Sequence[Move]) -> pd.DataFrame:
    """Return every participant's stance before and after, and whether it left with another position."""
    rows = [
        {
            "participant": move.participant,
            "roundtable_before": move.before or None,
            "roundtable_moved": float(move.moved),
            "after": move.after or None,
        }
        for move in participants
    ]
    return pd.DataFrame(rows)


def count_seats(run: DiscussionData) -> Row:
    """Return how many groups were begun, over and planned, and who sat in them, only read, or had no seat."""
    seated = {who for talk in run.groups for who in talk.participants}
    planned = run.seating.get("groups") or {talk.unit: None for talk in run.groups}
    n_unseated = len(run.seating.get("unseated") or [])
    return {
        "begun": len(run.groups),
        "over": sum(talk.over for talk in run.groups),
        "planned": len(planned),
        "n": len(seated),
        "people": len(seated & run.people),
        "readers": len(run.controls),
        "unseated": n_unseated,
        "n_total": len(seated) + n_unseated + len(run.controls),
        "unknown": list(run.seating.get("unknown") or []),
    }


def state_agreement(groups: pd.DataFrame, curve: pd.DataFrame) -> Row:
    """Return how agreement went, why discussions ended, and how many groups show signs of groupthink."""
    levels = [] if curve.empty else curve["agreement"].tolist()
    exits = Counter() if groups.empty else Counter(groups["exit"])
    judged = [] if groups.empty else groups["groupthink"].dropna().tolist()
    return {
        "first_agreement": levels[0] if levels else None,
        "last_agreement": levels[-1] if levels else None,
        "agreed": exits["consensus"] + exits["confidence"],
        "settled": exits["convergence"],
        "groupthink_groups": sum(map(bool, judged)),
        "judged_groups": len(judged),
    }


def count_turns(run: DiscussionData) -> Row:
    """Return how much was said to the groups, and how much of it did not keep to the mode."""
    turns = [turn for talk in run.discussions for turn in talk.public]
    answered = [turn for turn in turns if turn.response.position]
    return {
        "public_turns": len(answered),
        "asked_again": sum(turn.retried for turn in answered),
        "not_kept": sum(bool(turn.response.violations) for turn in answered),
        "said": len(turns),
        "silent": sum(not turn.response.position.strip() for turn in turns),
    }


def count_joined(groups: Sequence[Discussion]) -> Row:
    """Return how many stood in their group's minority before, and how many of them with the majority after."""
    n_minority = n_joined = 0
    for talk in groups:
        before = {who: response.stance for who, response in talk.before.items() if response.stance}
        most = Counter(before.values()).most_common(2)
        has_majority = bool(most) and (len(most) == 1 or most[0][1] > most[1][1])
        if not has_majority:
            continue
        majority = most[0][0]
        minority = [who for who, stance in before.items() if stance != majority and who in talk.afterwards]
        n_minority += len(minority)
        n_joined += sum(talk.afterwards[who].stance == majority for who in minority)
    return {"minority": n_minority, "joined": n_joined}


def find_stance_held_most(participants: Sequence[Move]) -> str | None:
    """Return the stance that most participants held afterwards; None where two are held by as many."""
    most = Counter(move.after for move in participants if move.after).most_common(2)
    if not most or (len(most) > 1 and most[0][1] == most[1][1]):
        return None
    return most[0][0]


def count_readers(discussions: Sequence[Discussion]) -> dict[str, dict[str, int]]:
    """Return who read the rounds, where a model was to."""
    readings = (turn.weighed.analysed for talk in discussions for turn in talk.spoken if turn.weighed)
    by = Counter(str(reading["by"]) for reading in readings if reading)
    return {"analyse": dict(by)} if by else {}
