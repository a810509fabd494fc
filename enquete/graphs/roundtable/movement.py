"""What a discussion did: who moved between the private answers before and after, toward whom and on which argument; who
made and took up arguments; and from what is rated and ranked privately reason and conformity.

Toward whom is a likeness of positions, not a cause: two may have moved for the same reason, which neither of them gave.

Deliberative reason ([niemeyer_2024]): in a group that reasons, those who weigh the considerations alike also rank the
options alike. The adjusted form ([veri_2026]) is the one to read: the standard one takes two correlations near zero for
consistency and is positive where everybody answers at random. Keys are those of enquete/reports/bibliography.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from enquete.analysis.estimates import Floats
from enquete.analysis.vocabulary import content_words, jaccard
from enquete.graphs.roundtable.agreement import ALIKE, likeness, same_side, voiced
from enquete.graphs.roundtable.discussion import Discussion, Round, RoundtableTurn
from enquete.graphs.roundtable.modes import Response, Stance
from enquete.nodes.conversations import utterance_id
from enquete.respondents.rule_coder import CodedThemes, Theme

LEAST_WORDS = 2
"""New words that a position must share with an argument to have moved on it."""


@dataclass(frozen=True)
class Move:
    """One participant, before and after. `moved`: another stance, or where there are none a position that is another
    one.

    surer: change of the confidence it gives itself; kept: likeness of the two positions; toward: those whose position
    before it came closer to, more than one where they are equally close; argument: id of the argument that its new
    position takes up, "" where it takes up none.
    """

    participant: str
    before: Stance
    after: Stance
    confidence_before: float | None
    confidence_after: float | None
    kept: float
    moved: bool
    toward: tuple[str, ...] = ()
    argument: str = ""

    @property
    def surer(self) -> float | None:
        if self.confidence_before is None or self.confidence_after is None:
            return None
        return self.confidence_after - self.confidence_before


def moves(before: Round, after: Round, arguments: Sequence[Theme] = ()) -> list[Move]:
    """Of everybody who took a position both times."""
    first, last = voiced(before), voiced(after)
    return [_move(who, first, last[who], arguments) for who in first if who in last]


def _move(who: str, before: Mapping[str, Response], after: Response, arguments: Sequence[Theme]) -> Move:
    earlier = before[who]
    kept = likeness(earlier, after)
    moved = earlier.stance != after.stance if earlier.stance and after.stance else kept < ALIKE
    move = Move(who, earlier.stance, after.stance, earlier.confidence, after.confidence, kept, moved)
    if not moved:
        return move
    gains = {other: _near(after, r) - _near(earlier, r) for other, r in before.items() if other != who}
    most = max(gains.values(), default=0.0)
    toward = tuple(sorted(other for other, gain in gains.items() if most > 0 and gain >= most - 1e-9))
    return replace(move, toward=toward, argument=_taken_up(earlier, after, toward, arguments))


def _near(response: Response, other: Response) -> float:
    """0 on different sides, ½ to 1 on the same, by their words."""
    if not same_side(response, other):
        return 0.0
    return (1 + jaccard(content_words(response.position), content_words(other.position))) / 2


def _taken_up(before: Response, after: Response, toward: Sequence[str], arguments: Sequence[Theme]) -> str:
    """The argument, of those whom it moved toward, that shares most words with what it did not say before."""
    new = content_words(f"{after.position} {after.reasoning}") - content_words(f"{before.position} {before.reasoning}")
    shared = {
        theme.id: len(new & content_words(f"{theme.label} {theme.description}"))
        for theme in arguments
        if {statement.partition("|")[0] for statement in theme.statements} & set(toward)
    }
    best = max(shared.values(), default=0)
    return min(name for name, words in shared.items() if words == best) if best >= LEAST_WORDS else ""


def persuasion(moved: Iterable[Move]) -> dict[tuple[str, str], float]:
    """(who moved, toward whom) → how much of a move: a move toward k participants is 1/k for each, so that rows add up
    to 1."""
    return {(move.participant, other): 1 / len(move.toward) for move in moved for other in move.toward}


# --- arguments: themes over key points, so that the same one has the same id in every group ---------------------------


def argument_rows(coded: CodedThemes, talks: Sequence[Discussion], *, hear_one_another: bool) -> list[dict[str, Any]]:
    """A row an argument and group, in the order of the themes: who made it when none of them had heard it from another,
    and who came back to it later, from its own side or the other one. hear_one_another: whether they do within a
    round."""
    rows = []
    for theme in coded.themes:
        statements = {statement.partition("|")[2].rpartition(".")[0] for statement in theme.statements}
        for talk in talks:
            turns = [turn for turn in talk.public if utterance_id(talk.unit, turn.turn) in statements]
            if not turns:
                continue
            first = turns[0]
            together = [] if hear_one_another else [turn for turn in turns if turn.round == first.round]
            raised = dict.fromkeys(turn.participant for turn in (first, *together))
            later: dict[str, RoundtableTurn] = {}
            for turn in turns:
                if turn.participant not in raised:
                    later.setdefault(turn.participant, turn)
            agree = {who: same_side(first.response, turn.response) for who, turn in later.items()}
            rows.append({
                "id": theme.id, "label": theme.label, "group": talk.unit, "turn": first.turn, "raised": list(raised),
                "answered": len(later), "took_up": [who for who, same in agree.items() if same],
                "countered": [who for who, same in agree.items() if not same],
            })  # fmt: skip
    return rows


# --- reason -----------------------------------------------------------------------------------------------------------

LAMBDA = 1 - np.sqrt(2) / 2
WEAK = 0.2
"""Correlation at or below which a pair says little."""

LEAST_ITEMS = 3
"""Of considerations, and of options: two of either correlate at ±1 or not at all."""

Rated = Mapping[str, Mapping[str, float]]
"""participant → item → value."""

PEOPLE: Mapping[str, float] = {
    "reason_before": 0.248,
    "reason_after": 0.342,
    "same_person": 0.65,
    "changed": 0.68,
    "mean_change": 0.18,
    "spread": 0.97,
    "toward_group": 0.49,
    "profiles": 0.37,
}
"""People before and after deliberating, means weighted by n over the panels of [deliberr]; reason in the adjusted form.
`toward_group` is this project's own count, over the 13 groups in tests/data/humans."""


@dataclass(frozen=True)
class Reason:
    """index: the standard form; adjusted: with weak pairs counted down; pairs of participants used, and left out
    because one of them gave everything the same value."""

    index: float | None
    adjusted: float | None
    n: int
    pairs: int
    left_out: int


def deliberative_reason(considerations: Rated, rankings: Mapping[str, Sequence[str]]) -> Reason:
    """Over the pairs of those who rated every consideration that was rated and ranked every option.

    d = |r_C − r_P| / √2, with Spearman's r of the pair over the considerations (C) and over the options' ranks (P);
    index = 2 · (mean(1 − d) − λ) / (1 − λ) − 1 with λ = 1 − √2/2; adjusted: the same with (1 − d) · min(1, max(|r_C|,
    |r_P|) / .2) in place of 1 − d. From 1 down to about −1; 0 is no particular value.
    """
    ranks: Rated = {who: {option: float(at) for at, option in enumerate(order, 1)} for who, order in rankings.items()}
    people = [who for who in _complete(considerations) if who in set(_complete(ranks))]
    if len(people) < 2:
        return Reason(None, None, len(people), 0, 0)
    rated, ranked = (_correlations(table, people) for table in (considerations, ranks))
    upper = np.triu_indices(len(people), 1)
    r_c, r_p = rated[upper], ranked[upper]
    known = ~np.isnan(r_c) & ~np.isnan(r_p)
    if not known.any():
        return Reason(None, None, len(people), 0, len(r_c))
    consistent = 1 - np.abs(r_c - r_p)[known] / np.sqrt(2)
    strength = np.minimum(1.0, np.maximum(np.abs(r_c), np.abs(r_p))[known] / WEAK)
    pairs = int(known.sum())
    return Reason(_scaled(consistent), _scaled(consistent * strength), len(people), pairs, len(r_c) - pairs)


def _scaled(consistent: Floats) -> float:
    return float(2 * (consistent.mean() - LAMBDA) / (1 - LAMBDA) - 1)


def _complete(table: Rated) -> list[str]:
    items = {item for row in table.values() for item in row}
    return [who for who, row in table.items() if len(row) == len(items) >= LEAST_ITEMS]


def _correlations(table: Rated, people: Sequence[str]) -> Floats:
    """Spearman's r of all pairs; NaN for who gave everything the same value."""
    items = sorted({item for who in people for item in table[who]})
    ranks = np.array([scipy.stats.rankdata([table[who][item] for item in items]) for who in people])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations: Floats = (centred @ centred.T) / np.outer(length, length)
    return correlations


# --- conformity -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conformity:
    """What ratings before and after share. None where the data do not say.

    same_person: mean r of a participant's ratings before and after; changed: share of the ratings that are others
    after;
    mean_change: mean |Δ| as a share of the scale; spread: mean SD between participants after ÷ before, over
    considerations;
    toward_group: of the changed ratings, those that came closer to the mean of the others in the group before;
    profiles: mean r between participants after.
    """

    n: int
    same_person: float | None = None
    changed: float | None = None
    mean_change: float | None = None
    spread: float | None = None
    toward_group: float | None = None
    profiles: float | None = None


def conformity(before: Rated, after: Rated, groups: Mapping[str, str], scale: tuple[float, float]) -> Conformity:
    """groups: participant → group. Over those who rated everything both times."""
    complete = set(_complete(after))
    people = [who for who in _complete(before) if who in complete and before[who].keys() == after[who].keys()]
    if len(people) < 2:
        return Conformity(len(people))
    items = sorted(before[people[0]])
    then, now = (np.array([[table[who][item] for item in items] for who in people]) for table in (before, after))
    moved, n = then != now, len(people)
    with np.errstate(invalid="ignore", divide="ignore"):  # who gave everything the same value has no r
        r = np.corrcoef(np.vstack([then, now]))
        spread = now.std(axis=0, ddof=1) / then.std(axis=0, ddof=1)
    closer = np.zeros_like(moved)
    grouped = np.zeros(n, dtype=bool)
    for at, who in enumerate(people):
        others = [row for row, other in enumerate(people) if row != at and groups.get(other) == groups.get(who)]
        if others:
            middle, grouped[at] = then[others].mean(axis=0), True
            closer[at] = moved[at] & (np.abs(now[at] - middle) < np.abs(then[at] - middle))
    changed = int(moved[grouped].sum())
    return Conformity(
        n=n, same_person=_mean(np.diag(r[:n, n:])), changed=float(moved.mean()),
        mean_change=float(np.abs(now - then).mean() / (scale[1] - scale[0])), spread=_mean(spread[np.isfinite(spread)]),
        toward_group=float(closer.sum() / changed) if changed else None,
        profiles=_mean(r[n:, n:][np.triu_indices(n, 1)]),
    )  # fmt: skip


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
