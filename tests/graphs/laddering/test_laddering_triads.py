"""Three elements are named and compared, and what comes of it is a construct with two poles: in graph, codes and
matrix."""

from __future__ import annotations

import pytest

from enquete.graphs.laddering.files import codebook_yaml, implications_csv
from enquete.graphs.laddering.network import PooledConcept, concept_rows, implication_matrix, pool, with_poles
from enquete.graphs.laddering.questions import WordedQuestion, WordingInput, fit_to_ask
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.respondents.quoting import normal
from enquete.state.asking import Language
from tests.graphs.laddering.memory_desk import MemoryDesk, interviewed, person, planting

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
