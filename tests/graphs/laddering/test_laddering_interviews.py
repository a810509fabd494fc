"""Whole interviews with planted respondents, without a model: what is found, when they end, how they move."""

from __future__ import annotations

import itertools
from functools import reduce

import pytest

from enquete.graphs.laddering.files import codebook_yaml, implications_csv
from enquete.graphs.laddering.interview import LadderingInterview
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.network import PooledConcept, concept_rows, implication_matrix, pool, with_poles
from enquete.graphs.laddering.questions import WordedQuestion, WordingInput, acceptable, fit_to_ask
from enquete.graphs.laddering.settings import LadderingLayers, LadderingSettings, most_words
from enquete.instruments.text import Text
from enquete.respondents.quoting import normal
from enquete.state.asking import Answer, Block, Language, Participant
from tests.graphs.laddering.memory_desk import PLANT, MemoryDesk, focuses, interviewed, person, planting, saying, study


def test_no_question_is_long_double_or_asked_twice_in_any_ontology() -> None:
    for methodology, strategy in (
        ("means_end_chain", "scored"), ("means_end_chain", "random"), ("jobs_to_be_done", "scored"),
        ("repertory_grid", "scored"),
    ):  # fmt: skip
        interview = interviewed(
            MemoryDesk(person(3)), LadderingSettings(methodology=methodology, strategy=strategy, turns=30)
        )
        asked: set[str] = set()
        for turn in interview.turns:
            compares = turn.choice is not None and turn.choice.technique == "triad"
            assert acceptable(turn.question, asked, most=most_words(compares)), turn.question
            asked.add(normal(turn.question))


def test_a_respondent_who_has_nothing_left_to_say_is_let_go_early_for_the_right_reason() -> None:
    def says(who: Participant, block: Block) -> Answer:
        turn = block.key.turn
        telling = (
            f"Mir geht es vor allem um {('feste Quoten', 'offene Grenzen')[turn - 1]}, wirklich." if turn < 3 else ""
        )
        return Answer(block.items[0].id, "ok", text=telling or "Ja, schon.")

    interview = interviewed(MemoryDesk(person(), says=says))
    assert (interview.stop, len(interview.turns)) == ("shallow", 2 + 5 + 1)  # and the closing question


def test_a_respondent_of_few_words_stays_as_long_as_they_tell_something() -> None:
    """Who tires in the plant still names thoughts: an interview of them ends as shallow after five that name none."""
    tired = next(n for n in itertools.count() if PLANT.tires(person(n), 0))
    interview = interviewed(MemoryDesk(person(tired)), LadderingSettings(turns=20))
    after = PLANT.manner.fatigue.after_turn
    assert {turn.depth for turn in interview.turns[after:]} == {"surface"}
    assert sum(turn.changes.any_new for turn in interview.turns[after:]) > 2


def test_one_who_says_nothing_is_let_go() -> None:
    interview = interviewed(MemoryDesk(person(), says=saying("Das weiß ich nicht so genau.")))
    assert (interview.stop, len(interview.turns)) == ("shallow", 5)
    assert interview.graph == KnowledgeGraph()


def test_answers_that_never_came_are_read_by_nobody() -> None:
    context = MemoryDesk(person(), says=lambda who, block: Answer(block.items[0].id, "refused"))
    interview = interviewed(context)
    assert interview.stop == "no_yield"
    assert {purpose for purpose, _ in context.tasks} == {"question"}
    assert all(turn.readings.sentiment is None and turn.by["extract"] == "" for turn in interview.turns)


def two_concepts(who: Participant, block: Block) -> Answer:
    """Names two concepts; of the first nothing ever comes, of the second two more."""
    question = block.items[0].wording
    if block.key.turn == 1:
        text = "Mir geht es vor allem um feste Quoten für alle, wirklich. Mir geht es auch um offene Grenzen im Norden."
    elif "offene Grenzen" in question:
        text = "Das bedeutet für mich freie Wege, und das merke ich jeden Tag aufs Neue."
    elif "freie Wege" in question:
        text = "Das bedeutet für mich frische Luft, und das merke ich jeden Tag aufs Neue."
    else:
        text = "Ja, schon."
    return Answer(block.items[0].id, "ok", text=text)


def test_an_exhausted_concept_is_left_and_another_one_taken() -> None:
    """With nothing but exhaustion to drive it away: n1 is asked about until it is exhausted, not once more."""
    whole = LadderingSettings()
    weights = {"graph.node.is_current_focus.true": 2.0, "graph.node.exhausted.true": -5.0}
    deepen = whole.method.strategies["deepen"]
    ways = tuple(deepen.techniques[0].model_copy(update={"id": f"way_{n}"}) for n in range(5))  # none is used up
    questions = tuple(Text(de=f"Weg {n}: was heißt „{{focus}}“ hier?") for n in range(5))
    ways = tuple(way.model_copy(update={"questions": (q,)}) for way, q in zip(ways, questions, strict=True))
    deepen = deepen.model_copy(update={"weights": weights, "techniques": ways})
    method = whole.method.model_copy(update={"strategies": {"deepen": deepen}})
    settings = LadderingSettings(layers=LadderingLayers(concept=whole.topic, methodology=method))
    interview = interviewed(MemoryDesk(person(), says=two_concepts), settings)
    assert focuses(interview)[:4] == ["n1", "n1", "n1", "n2"]
    assert interview.turns[3].signals["graph.node.exhausted"] is False  # of n2, which was chosen instead
    assert (
        reduce(LadderingInterview.after, interview.turns[:3], LadderingInterview(interview.unit)).states["n1"].streak
        == 3
    )
    left = interview.turns[3].next
    assert {one.focus: one.score for one in left.runners_up}["n1"] == pytest.approx((2 - 5) / 0.5)  # early: ×.5, so /.5


def test_a_dry_concept_is_left_at_once_for_one_that_may_yield() -> None:
    assert focuses(interviewed(MemoryDesk(person(), says=two_concepts)))[:4] == ["n1", "n2", "n3", "n4"]


def test_long_interviews_return_to_what_they_left() -> None:
    """When no other beginning is left, an open end is asked about once more."""
    _, interviews = study(4, LadderingSettings(turns=24), "de")
    runs = [
        [focus for focus, _ in itertools.groupby(turn.choice.focus if turn.choice else "" for turn in one.turns)]
        for one in interviews
    ]
    assert any(own.count(focus) >= 2 for own in runs for focus in own if focus)  # in focus, left, and in focus again


def test_every_concept_link_and_turn_traces_back_to_what_was_said() -> None:
    context = MemoryDesk(person(5))
    interview = interviewed(context)
    said = {
        f"agent:5#{key.turn}": answer.text for key, found in context.answers_by_key.items() for answer in found.values()
    }
    for one in (*interview.graph.nodes.values(), *interview.graph.edges.values()):
        for source in one.sources:
            assert source.quote in said[source.utterance]
    for turn in interview.turns:
        assert turn.answer == said[f"agent:5#{turn.turn}"]
        assert turn.signals


def test_the_same_seed_gives_the_same_interview_and_another_one_another() -> None:
    one, again, other = (interviewed(MemoryDesk(person(2), seed=seed)) for seed in (1, 1, 2))
    assert one == again
    assert one.transcript() != other.transcript()


def test_a_static_script_asks_everybody_the_same_ways_to_the_last_turn() -> None:
    """Whatever is answered: two agents and one who says nothing are asked in the same order, as far as there is a
    concept."""
    settings = LadderingSettings(strategy="static", turns=8)
    interviews = [interviewed(MemoryDesk(person(number)), settings) for number in (2, 3)]
    silent = interviewed(MemoryDesk(person(), says=saying("Ja, schon.")), settings)
    ways = [[(use.strategy, use.technique) for use in one.used] for one in interviews]
    assert all((one.stop, len(one.turns)) == ("closing", 8) or one.stop == "max_turns" for one in interviews)
    assert ways[0] == ways[1]
    assert {len(one) for one in ways} == {7}
    assert len(silent.turns) == 8
    assert not any(use.focus for use in silent.used)


# --- triads: three elements are compared, and a construct with two poles comes of it ---------------------------------


GRID = LadderingSettings(methodology="repertory_grid", turns=9)


@pytest.mark.parametrize("language", ["de", "en"])
def test_three_elements_come_first_then_they_are_compared_once(language: Language) -> None:
    interview = interviewed(MemoryDesk(person(), language, planted=planting(GRID)), GRID)
    elements = [node for node in interview.graph.nodes.values() if node.type == "element"]
    assert [node.turn for node in elements] == [1, 2, 3]
    triad = interview.turns[3]
    assert triad.choice.technique == "triad"
    assert all(normal(node.text).split()[0] in normal(triad.question) for node in elements)
    assert (
        sum(turn.choice.technique == "triad" for turn in interview.turns if turn.choice) == 1
    )  # in whatever order they are named
    assert [node.type for node in triad.changes.nodes] == ["construct_pole", "opposite_pole"]
    pole = triad.changes.nodes[0].id
    asked = [turn.choice.technique for turn in interview.turns if turn.choice and turn.choice.focus == pole]
    assert "opposite" not in asked  # it has one
    concepts = with_poles(pool([interview]), [interview])
    (construct,) = [one for one in concepts if (interview.unit, pole) in one.members]
    assert construct.label == f"{triad.changes.nodes[0].text} ↔ {triad.changes.nodes[1].text}"
    cells = implication_matrix([interview], concepts)
    assert not [
        cell
        for cell in cells
        if cell["source"] == construct.id and cell["direct"] and _type(concepts, cell["target"]) == "opposite_pole"
    ]
    told = [{**one, "definition": None} for one in concept_rows([interview], concepts, cells, climbs=False)]
    assert construct.label in implications_csv(told, cells)
    assert f"opposite: {construct.opposite}" in codebook_yaml(told)


def _type(concepts: list[PooledConcept], name: str) -> str:
    return next(one.type for one in concepts if one.id == name)


@pytest.mark.parametrize(
    ("question", "fit"),
    [
        ("Boats, nets and tanks: in what way are two alike and different from the third?", True),
        ("Boats and nets: in what way are two alike?", False),  # does not name the third
    ],
)
def test_a_models_comparison_names_all_three(question: str, fit: bool) -> None:
    data = WordingInput(opening=False, topic="t", method="m", ladder=[], method_goal="", goal="", pool=["?"],
                         compared=["boats", "nets", "tanks"])  # fmt: skip
    assert bool(fit_to_ask(data, WordedQuestion(question=question))) is fit
