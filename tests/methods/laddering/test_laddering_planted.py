"""What is planted, and what comes back of it: questions reveal one thought at a time; every ontology finds what was
planted; of 50 agents, codes and links over all interviews, precision and recall against the truth."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest

from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import similarity
from enquete.methods.laddering.network import PooledConcept, concept_rows, implication_matrix, pool, value_map
from enquete.methods.laddering.settings import LadderingSettings
from enquete.methods.laddering.synthetic import Thought, answer, links
from enquete.state.asking import Block, BlockKey, Item, Language
from tests.methods.laddering.memory_context import (
    GROUND_TRUTH,
    GROUND_TRUTHS,
    NOBODYS,
    SAME,
    TYPES,
    focuses,
    person,
    study,
    truth_about,
)
from tests.methods.laddering.test_laddering_layers import FIVE

# Share found that is held to; .8 is the aim, which jobs and journeys miss with the weights that ship (measured .63 to
# .80).
LEAST = {
    "means_end_chain": 0.8, "jobs_to_be_done": 0.55, "critical_incident": 0.65, "customer_journey": 0.65,
    "repertory_grid": 0.65,
}  # fmt: skip


# --- ground truth ----------------------------------------------------------------------------------------------------


def asked(question: str, heard: str = "", turn: int = 1) -> Block:
    key = BlockKey("r", "main", "laddering", "T1", "means_end_chain", 0, turn, person().id, "turn")
    told = "Ein Gespräch."
    quoted = (("Das Gespräch bis hierher", heard),) if heard else ()
    return Block(key=key, instruction=told, items=(Item(id="turn_01", kind="text", wording=question),), quoted=quoted)


def reply(question: str, said: str = "", turn: int = 1) -> str:
    (given,) = answer(person(), asked(question, said, turn), "de", 0, truth=GROUND_TRUTH)
    return given.text


def test_a_good_question_reveals_the_next_thought_and_only_that() -> None:
    chain = GROUND_TRUTH.carried(person(), "means_end_chain", 0)[0]
    heard = "Antwort: Mir geht es um " + chain.thoughts[0].de[0]
    text = reply(f"Warum ist Ihnen „{chain.thoughts[0].de[0]}“ wichtig?", heard)
    assert sum(any(wording in text for wording in thought.de) for thought in chain.thoughts[1:]) == 1
    assert any(wording in text for wording in chain.thoughts[1].de)


@pytest.mark.parametrize(
    "question", ["Warum ist Ihnen „blaue Wolken“ wichtig?", "Habe ich „{first}“ so richtig verstanden?", "Und?"]
)
def test_another_question_reveals_nothing(question: str) -> None:
    chain = GROUND_TRUTH.carried(person(), "means_end_chain", 0)[0]
    first = chain.thoughts[0].de[0]
    text = reply(question.format(first=first), f"Antwort: {first}")
    assert not any(
        wording in text
        for planted_chain in GROUND_TRUTH.chains
        for thought in planted_chain.thoughts
        for wording in thought.de
        if wording != first
    )


@pytest.mark.parametrize("methodology", [*FIVE, "unheard_of"])
def test_every_type_carries_three_chains_in_every_ontology_and_topic(methodology: str) -> None:
    for planted in (*GROUND_TRUTHS.values(), NOBODYS):
        for kind in (*planted.pack.types, *GROUND_TRUTH.pack.types, "Zahnarzt"):
            carried = planted.carried(person(1, kind), methodology, 0)
            assert len(carried) >= 3, kind
            assert len(links(carried)) >= 6, kind


def test_wordings_are_long_enough_to_be_told_apart() -> None:
    for planted in (*GROUND_TRUTHS.values(), NOBODYS):
        for thought in (thought for chain in planted.chains for thought in chain.thoughts):
            assert len(thought.de) >= 2
            assert len(thought.en) >= 2
            assert thought.kind in {"", *planted.manner.cues}


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("methodology", "concept", "language"),
    [*((method, "fisheries_2040", "de") for method in FIVE), ("means_end_chain", "oat_drink", "en")],
)  # fmt: skip
def test_planted_thoughts_are_found_in_every_ontology_and_far_more_than_by_chance(
    methodology: str, concept: str, language: Language
) -> None:
    """Measured 2026-11-24, 12 agents, German, in the order of LEAST: .97, .65, .69, .78, .68 of what the turns
    allow. Choice and depth move, and every interview ends with a last word and its own reason."""
    settings = LadderingSettings(methodology=methodology, concept=concept)
    scored, interviews = study(4, settings, language)
    chance, _ = study(4, settings.model_copy(update={"strategy": "random"}), language)
    assert scored >= LEAST[methodology]
    assert scored >= (1.5 if methodology == "means_end_chain" else 1.15) * chance
    assert not [held for held in interviews if held.stop == "all_exhausted" and len(held.turns) < 10]
    assert len({turn.choice.strategy for held in interviews for turn in held.turns if turn.choice}) >= 3
    depths = [turn.chain for turn in max(interviews, key=lambda held: held.turns[-1].chain).turns]
    assert depths == sorted(depths)
    assert depths[-1] >= 3
    for interview in interviews:
        last = interview.turns[-1].choice
        assert settings.method.strategies[last.strategy].closing
        assert interview.stop == (last.because or "closing")
        assert all(turn.choice is None or not turn.choice.because for turn in interview.turns[:-1])
        assert len(interview.turns) <= 15
        assert len(set(focuses(interview))) >= 2
        assert methodology != "means_end_chain" or interview.stop != "max_turns" or dives(interview) >= 2


def dives(interview: LadderingInterview) -> int:
    """Runs of at least two turns that each found a link."""
    runs = itertools.groupby(interview.turns, key=lambda turn: turn.changes.new_edges > 0)
    return sum(hit and len(list(run)) >= 2 for hit, run in runs)


AGENTS = 50


def thought_of(concept: PooledConcept, thoughts: Sequence[Thought]) -> int:
    """The thought whose wordings most of a code's words are; -1 for none."""
    votes = [
        sum(any(similarity(text, wording) >= SAME for wording in thought.all_wordings) for text in concept.wordings)
        for thought in thoughts
    ]
    best = max(range(len(thoughts)), key=votes.__getitem__)
    return best if votes[best] else -1


def recovered(interviews: Sequence[LadderingInterview], settings: LadderingSettings) -> dict[str, float]:
    """codes; thoughts that have one; precision: direct links between thoughts that are planted so; recall: of the
    thoughts' links that agents carry and could be asked, those that any interview gave."""
    truth = truth_about(settings)
    who = [person(n, TYPES[n % len(TYPES)]) for n in range(len(interviews))]
    carried = [truth.carried(participant, settings.method.id, 0) for participant in who]
    thoughts = list(
        {
            thought.all_wordings: thought for chains in carried for chain in chains for thought in chain.all_thoughts
        }.values()
    )
    place = {thought.all_wordings: number for number, thought in enumerate(thoughts)}
    planted = {
        frozenset((place[link.source.all_wordings], place[link.target.all_wordings]))
        for chains in carried for link in links(chains, truth.manner.leads)
    }  # fmt: skip
    chained = {
        frozenset((place[a.all_wordings], place[b.all_wordings]))
        for chains in carried for link in links(chains) for a, b in [link]
    }  # fmt: skip
    concepts = pool(interviews)
    home = {concept.id: thought_of(concept, thoughts) for concept in concepts}
    cells = [cell for cell in implication_matrix(interviews, concepts) if cell["direct"]]
    edges = [(frozenset((home[cell["source"]], home[cell["target"]])), cell["direct"]) for cell in cells]
    edges += [(pair, 1) for pair in _constructs(interviews, concepts, home)]
    right = sum(n for pair, n in edges if pair in planted)
    rows = concept_rows(interviews, concepts, cells, climbs=settings.method.climbs)
    shown = value_map(cells, rows, settings.method.kinds, None)
    return {
        "codes": len(concepts), "planted": len(thoughts), "thoughts": len({n for n in home.values() if n >= 0}),
        "precision": right / sum(n for _, n in edges),
        "recall": len(chained & {pair for pair, _ in edges}) / len(chained), "cut_off": shown["cut_off"],
        "share": shown["map_share"] or 0, "levels": len({row["level"] for row in rows} - {None}),
    }  # fmt: skip


def _constructs(
    interviews: Sequence[LadderingInterview], concepts: Sequence[PooledConcept], home: Mapping[str, int]
) -> set[frozenset[int]]:
    """The two poles of constructs: linked in the interviews, and by design no implication."""
    code = {place: concept.id for concept in concepts for place in concept.members}
    return {
        frozenset(home[code[interview.unit, end]] for end in (edge.source, edge.target))
        for interview in interviews for edge in interview.graph.standing.edges.values() if edge.contrast
    }  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize(
    ("methodology", "concept", "language", "recall", "levels"),
    [("means_end_chain", "fisheries_2040", "de", 0.85, 5), ("means_end_chain", "oat_drink", "en", 0.85, 5),
        ("customer_journey", "oat_drink", "en", 0.85, 6), ("jobs_to_be_done", "fisheries_2040", "de", 0.85, 8),
        ("critical_incident", "oat_drink", "en", 0.85, 7), ("repertory_grid", "fisheries_2040", "de", 0.85, 6)],
)  # fmt: skip
def test_fifty_interviews_give_back_what_was_planted(
    methodology: str, concept: str, language: Language, recall: float, levels: int
) -> None:
    """Measured 2026-11-23: docs/laddering.md. Before near-equal questions were drawn for each agent, all 50 interviews
    went the same
    way: 24 of 33 thoughts of the journey were brought up, and recall was .50."""
    settings = LadderingSettings(methodology=methodology, concept=concept)
    _, interviews = study(AGENTS, settings, language)
    measures = recovered(interviews, settings)
    assert measures["precision"] >= 0.85, measures
    assert measures["recall"] >= recall, measures
    assert measures["levels"] >= levels, measures  # the map goes from the bottom to the top
