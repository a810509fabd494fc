"""The synthetic respondents of the diversity study against their documented truth."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from enquete.analysis.components import Matrix, weighted
from enquete.analysis.typology import choose, clusters
from enquete.instruments.load import load_shipped
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings
from enquete.methods.diversity.procedure import Diversity, planted
from enquete.respondents.questions import violations
from enquete.state.asking import Block, BlockKey, Item, Language, Option, Participant
from tests.methods.planted_people import population

INSTRUMENT = load_shipped(DiversityInstrument, "diversity")
PLANTED = planted(INSTRUMENT)
TRUTH = PLANTED.truth


class Keys:
    """All that making blocks needs of a context."""

    def key(self, participant: str, part: str) -> BlockKey:
        return BlockKey("run", "main", "diversity", "T1", "", 0, 0, participant, part)


def blocks(who: Participant, language: Language = "de") -> list[Block]:
    return list(Diversity(INSTRUMENT, DiversitySettings(), language).blocks(who.id, 1, Keys()))


def vectors(agents: int, seed: int) -> tuple[list[Matrix], list[str]]:
    people = population(agents)
    given = [[PLANTED(who, block, "de", seed) for block in blocks(who)] for who in people]
    parts = [np.array([[a.value for a in person[part]] for person in given], dtype=float) for part in (0, 1)]
    return parts, [PLANTED.archetype_of(who) for who in people]


def test_planted_sorts_are_legal_and_about_the_shipped_statements() -> None:
    for place, _ in enumerate(TRUTH.archetypes):
        assert Counter(columns[place] for columns in TRUTH.sort.values()) == INSTRUMENT.distribution
    assert set(TRUTH.sort) == {s.statement_id for s in INSTRUMENT.statements}
    assert set(TRUTH.axes) == {a.axis_id for a in INSTRUMENT.likert_axes}
    assert sorted(kind for kinds in TRUTH.archetypes.values() for kind in kinds) == sorted(PLANTED.pack.types)


def test_every_agent_gives_a_legal_sort_of_its_own() -> None:
    sorts = set()
    for who in population(50):
        given = PLANTED(who, blocks(who)[0], "de", 0)
        assert violations({a.item: a for a in given}, INSTRUMENT.distribution) == {}
        sorts.add(tuple(a.value for a in given))
    assert len(sorts) == 50


@pytest.mark.parametrize("seed", range(2))
def test_the_planted_types_are_recovered(seed: int) -> None:
    parts, truth = vectors(50, seed)
    choice = choose(parts, 0)
    assert choice.k == 4
    assert adjusted_rand_score(truth, clusters(weighted(parts)[0], choice.k, 0)) >= 0.9


def test_answers_do_not_depend_on_language_order_or_company() -> None:
    (who,) = population(1)
    sort, axes = blocks(who)
    turned = sort.model_copy(update={"items": tuple(reversed(sort.items))})
    assert {a.item: a.value for a in PLANTED(who, sort, "de", 3)} == {
        a.item: a.value for a in PLANTED(who, turned, "en", 3)
    }
    alone = axes.model_copy(update={"items": axes.items[2:3]})
    assert PLANTED(who, alone, "de", 3)[0] == PLANTED(who, axes, "de", 3)[2]


def test_a_sloppy_respondent_breaks_the_grid() -> None:
    broken = [
        bool(
            violations(
                {a.item: a for a in replace(PLANTED, sloppy=0.3)(who, blocks(who)[0], "de", 0)}, INSTRUMENT.distribution
            )
        )
        for who in population(20)
    ]
    assert sum(broken) > 15


def test_own_instruments_and_unnamed_types_are_answered_too() -> None:
    options = tuple(Option(value=column, label="") for column in (-1, 0, 1))
    items = tuple(Item(id=f"q{i}", kind="scale", wording="?", options=options) for i in range(5))
    who = Participant(id="agent:x", name="X", stakeholder_type="Bank", persona="A bank in town.")
    block = Block(
        key=Keys().key(who.id, "sort"), instruction="", items=items, constraint={"grid": {"-1": 1, "0": 3, "1": 1}}
    )
    assert Counter(a.value for a in PLANTED(who, block, "en", 0)) == {-1.0: 1, 0.0: 3, 1.0: 1}
    assert PLANTED.archetype_of(who) in TRUTH.archetypes
    free = block.model_copy(update={"constraint": None})
    assert {a.value for a in PLANTED(who, free, "en", 0)} <= {-1.0, 0.0, 1.0}
