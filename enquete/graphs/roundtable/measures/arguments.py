"""The arguments of a run: which were made, in which group, by whom first, and who took them up.

Arguments are themes over the participants' key points, found by the coder that codes a Delphi's answers
(respondents/themes), so the same argument has the same id in every group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.graphs.roundtable.measures.clusters import same_side
from enquete.graphs.roundtable.measures.movement import Argument
from enquete.nodes.conversations import utterance_id
from enquete.respondents.rule_coder import CodedThemes, Statement, Theme


@dataclass(frozen=True)
class Answer:
    """Somebody who came back to an argument later: from its own side, or from the other one."""

    participant: str
    turn: int
    how: Literal["took_up", "countered"]


@dataclass(frozen=True)
class Raised:
    """An argument in one group. raised: who made it when none of them had heard it from another."""

    id: str
    label: str
    group: str
    turn: int
    raised: tuple[str, ...]
    answered: tuple[Answer, ...]


def statements(discussions: Iterable[Discussion]) -> list[Statement]:
    """What is coded: each key point of what was said to a group, the position where there is none.

    id: "<participant>|<group>#<turn>.<number>"; only groups that discussed, a control says nothing to anybody.
    """
    return [
        Statement(id=f"{turn.participant}|{utterance_id(talk.unit, turn.turn)}.{number}", text=text)
        for talk in discussions
        for turn in talk.spoken
        if not turn.private
        for number, text in enumerate(turn.response.key_points or [turn.response.position], 1)
        if text.strip()
    ]


def argument_table(coded: CodedThemes, discussions: Sequence[Discussion], one_by_one: Iterable[str]) -> list[Raised]:
    """A row an argument and group, in the order of the themes. one_by_one: groups whose members hear one another in a round."""
    hears, found = set(one_by_one), list[Raised]()
    for theme in coded.themes:
        for talk in discussions:
            turns = list(_voiced(theme, talk))
            if turns:
                found.append(_raised(theme, talk.unit, turns, talk.unit in hears))
    return found


def _voiced(theme: Theme, talk: Discussion) -> Iterator[RoundtableTurn]:
    """Turns that voice it, in their order."""
    said = {statement.partition("|")[2].rpartition(".")[0] for statement in theme.statements}
    yield from (turn for turn in talk.spoken if not turn.private and utterance_id(talk.unit, turn.turn) in said)


def _raised(theme: Theme, group: str, turns: Sequence[RoundtableTurn], one_by_one: bool) -> Raised:
    first = turns[0]
    together = [turn for turn in turns if turn is first or (not one_by_one and turn.round == first.round)]
    own = {turn.participant for turn in together}
    later: dict[str, RoundtableTurn] = {}
    for turn in turns:
        if turn.participant not in own:
            later.setdefault(turn.participant, turn)
    answers = tuple(
        Answer(who, turn.turn, "took_up" if same_side(first.response, turn.response) else "countered")
        for who, turn in later.items()
    )
    return Raised(
        theme.id, theme.label, group, first.turn, tuple(dict.fromkeys(t.participant for t in together)), answers
    )


def for_movement(coded: CodedThemes) -> list[Argument]:
    """As much of the arguments as movement needs."""
    return [
        Argument(one.id, f"{one.label} {one.description}", frozenset(name.partition("|")[0] for name in one.statements))
        for one in coded.themes
    ]


def held(frozen: Mapping[str, object]) -> CodedThemes:
    """The arguments as they were frozen; none before they were coded."""
    stored = frozen.get("arguments")
    return CodedThemes.model_validate(stored) if stored else CodedThemes(themes=[], uncoded=[])
