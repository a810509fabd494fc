"""Many interviews as one: the implication matrix and its indices by hand, saturation, the value map and the files."""

from __future__ import annotations

import io
import re

import networkx as nx  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.graphs.laddering.codes import grouped
from enquete.graphs.laddering.export import agents_graphml, implications_csv, pooled_graphml
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.network import Cell, PooledConcept, implication_matrix, indices, pool, saturation
from enquete.graphs.laddering.value_map import MOST_CONCEPTS, draw, mermaid
from enquete.respondents.quoting import normal
from tests.graphs.laddering.builders import METHOD, graph
from tests.graphs.laddering.memory_desk import PLANT


def interviews(*graphs: KnowledgeGraph) -> list[Interview]:
    return [Interview(f"agent:{number}", graph=one) for number, one in enumerate(graphs, start=1)]


THREE = interviews(
    graph("a1 f1 p1 i1", "a1>f1 f1>p1 p1>i1"),
    graph("a1 f1 p1", "a1>f1 f1>p1"),
    graph("a1 f1 p2 i1", "a1>f1 p2>i1"),
)


def by_label(cells: list[Cell], concepts: list[PooledConcept]) -> dict[tuple[str, str], tuple[int, int]]:
    label = {concept.id: concept.label.removesuffix(" text") for concept in concepts}
    return {(label[cell.source], label[cell.target]): (cell.direct, cell.indirect) for cell in cells}


def test_concepts_are_pooled_over_agents_the_most_widespread_first() -> None:
    concepts = pool(THREE)
    assert [(one.label, one.agents) for one in concepts[:2]] == [("a1 text", 3), ("f1 text", 3)]
    assert {one.label: one.agents for one in concepts} == {
        "a1 text": 3,
        "f1 text": 3,
        "p1 text": 2,
        "i1 text": 2,
        "p2 text": 1,
    }


def test_implication_matrix_by_hand() -> None:
    """Agent 1: a1→f1→p1→i1. Agent 2: a1→f1→p1. Agent 3: a1→f1, p2→i1. Indirect: over one link or more in between."""
    concepts = pool(THREE)
    assert by_label(implication_matrix(THREE, concepts), concepts) == {
        ("a1", "f1"): (3, 0), ("f1", "p1"): (2, 0), ("p1", "i1"): (1, 0), ("p2", "i1"): (1, 0),
        ("a1", "p1"): (0, 2), ("f1", "i1"): (0, 1), ("a1", "i1"): (0, 1),
    }  # fmt: skip


def test_an_agent_counts_once_a_cell_as_direct_where_it_is_both() -> None:
    one = interviews(graph("a1 f1 f2", "a1>f1 f1>f2 a1>f2"))
    concepts = pool(one)
    assert by_label(implication_matrix(one, concepts), concepts)["a1", "f2"] == (1, 0)


def test_abstractness_centrality_and_prestige_by_hand() -> None:
    """Direct links in all: 3 + 2 + 1 + 1 = 7. f1: 3 in, 2 out. i1: 2 in. a1: 3 out."""
    concepts = pool(THREE)
    found = {
        c.label.removesuffix(" text"): i
        for c, i in zip(concepts, indices(implication_matrix(THREE, concepts), concepts), strict=True)
    }
    assert (found["f1"].abstractness, found["f1"].centrality, found["f1"].prestige) == pytest.approx(
        (3 / 5, 5 / 7, 3 / 7)
    )
    assert (found["i1"].abstractness, found["i1"].centrality, found["i1"].prestige) == pytest.approx((1, 2 / 7, 2 / 7))
    assert (found["a1"].abstractness, found["a1"].centrality, found["a1"].prestige) == pytest.approx((0, 3 / 7, 0))


def test_without_links_there_is_no_index() -> None:
    alone = interviews(graph("a1"))
    (index,) = indices([], pool(alone))
    assert (index.abstractness, index.centrality, index.prestige) == (None, None, None)
    assert pool([]) == implication_matrix([], []) == []


def test_saturation_counts_what_each_interview_adds() -> None:
    assert saturation(THREE, pool(THREE)) == [
        {"interviews": 1, "new": 4, "concepts": 4}, {"interviews": 2, "new": 0, "concepts": 4}, {"interviews": 3, "new": 1, "concepts": 5},
    ]  # fmt: skip


def test_codes_hold_what_is_alike_but_no_opposites() -> None:
    assert grouped(["ruhigere nächte im winter", "feste quoten", "ruhige nächte"]) == [[0, 2], [1]]
    assert grouped(["angst vor morgen", "keine angst vor morgen", "important for us", "unimportant for us"]) == [
        [0],
        [1],
        [2],
        [3],
    ]
    assert grouped(["10 euro mehr", "20 euro mehr"]) == [[0], [1]]
    assert grouped([]) == []


def test_planted_thoughts_come_back_as_one_code_each() -> None:
    """86 wordings of 43 thoughts, German; without types, which hold more apart. By trigrams they were 86 concepts."""
    chains = [one for one in PLANT.chains if one.method == "means_end_chain"]
    thoughts = {thought.de for chain in chains for thought in chain.all_thoughts}
    assert 39 <= len(grouped(sorted(normal(wording) for one in thoughts for wording in one))) <= 47


def test_the_cut_off_is_the_highest_that_represents_two_thirds_of_the_links() -> None:
    """By hand: of 10 links given, cut-off 4 keeps 4, cut-off 3 keeps 7, which is above 6.7."""
    cells = [Cell("c1", "c2", 4, 0), Cell("c2", "c3", 3, 0), Cell("c3", "c4", 2, 0), Cell("c1", "c4", 1, 0)]
    concepts = [PooledConcept(f"c{n}", f"Wort {n}", "attribute", ()) for n in range(1, 5)]
    found = draw(cells, concepts, METHOD, None, "de")
    assert (found.cut_off, found.share, found.repeated) == (3, pytest.approx(0.7), pytest.approx(0.9))


def test_the_matrix_is_a_table_and_no_label_a_formula() -> None:
    codes = [{"id": "c1", "label": "=A1", "type": "attribute"}, {"id": "c2", "label": "gut", "type": "terminal_value"}]
    rows = implications_csv(codes, [{"source": "c1", "target": "c2", "direct": 3, "indirect": 2}]).splitlines()
    assert rows == ["id,type,code,'=A1,gut", "c1,attribute,'=A1,,3.02", "c2,terminal_value,gut,,"]


ends = st.sampled_from(["a1>f1", "a2>f1", "a1>f2", "f1>p1", "f2>p1", "p1>i1", "i1>t1", "f1>f2", "p1>p2"])


@given(st.lists(st.sets(ends), max_size=6))
def test_cells_are_bounded_by_the_agents_and_the_map_holds_every_link_once(drawn: list[set[str]]) -> None:
    found = interviews(*(graph("a1 a2 f1 f2 p1 p2 i1 t1", " ".join(sorted(links))) for links in drawn))
    concepts = pool(found)
    cells = implication_matrix(found, concepts)
    assert all(0 < cell.direct + cell.indirect <= len(found) for cell in cells)
    assert sum(cell.direct for cell in cells) == sum(len(links) for links in drawn)
    picture = draw(cells, concepts, METHOD, 1, "en")
    assert {(link.source, link.target) for link in picture.links} == {(c.source, c.target) for c in cells if c.direct}
    places = [(box.level, box.place) for box in picture.boxes]
    assert len(set(places)) == len(places)
    assert {level for level, _ in places} == set(range(len(picture.levels)))


def test_the_map_leaves_out_what_few_gave_and_says_where_it_could_not() -> None:
    concepts = pool(THREE)
    cells = implication_matrix(THREE, concepts)
    assert {link.direct for link in draw(cells, concepts, METHOD, 2, "en").links} == {2, 3}
    assert draw(cells, concepts, METHOD, 9, "en").cut_off == 1  # nobody would be on it
    levels = draw(cells, concepts, METHOD, 1, "en")
    assert levels.levels == ("attribute", "functional consequence", "psychosocial consequence", "instrumental value")


def test_a_crowded_map_raises_its_cut_off() -> None:
    concepts = [
        PooledConcept(f"c{i}", f"Wort {i}", "attribute" if i % 2 else "functional_consequence", ()) for i in range(100)
    ]
    cells = [Cell(f"c{i}", f"c{i + 1}", 1 + (i < 10), 0) for i in range(1, 98, 2)]
    found = draw(cells, concepts, METHOD, 1, "de")
    assert found.cut_off == 2
    assert len(found.boxes) <= MOST_CONCEPTS


EVIL = '<script>alert(1)</script> "a" --> b; %% ] end'


def test_mermaid_escapes_what_was_said() -> None:
    concepts = [
        PooledConcept("c1", EVIL, "attribute", (("u", "n1"),)),
        PooledConcept("c2", "gut", "functional_consequence", (("u", "n2"),)),
    ]
    picture = draw([Cell("c1", "c2", 2, 0)], concepts, METHOD, 1, "de")
    source = mermaid(picture)
    assert EVIL not in source
    assert '"' not in source.split("c1[")[1].split("]")[0].strip('"')


def test_two_relationships_between_the_same_concepts_are_two_in_graphml() -> None:
    source = {"utterance": "u#1", "quote": "q"}
    nodes = [{"id": n, "text": n, "type": "attribute", "turn": 1, "confidence": 1.0, "elements": [], "sources": [source]}
             for n in ("n1", "n2")]  # fmt: skip
    edges = [{"source": "n1", "target": "n2", "type": kind, "turn": 1, "confidence": 1.0, "sources": [source]}
             for kind in ("leads_to", "revises")]  # fmt: skip
    read = nx.parse_graphml(
        agents_graphml([{"participant": "u", "nodes": nodes, "edges": edges}]), force_multigraph=True
    )
    assert sorted(kind for _, _, kind in read.edges(data="type")) == ["leads_to", "revises"]
    assert len({key for _, _, key in read.edges(keys=True)}) == 2  # ids of their own, which Gephi asks for


def gephi_labels(graphml: str) -> dict[str, list[str]]:
    """What Gephi takes for the label of nodes and of edges: attributes called so, and yEd's numbers (ImporterGraphML.java, where
    a key's id goes before its name)."""
    keys = re.findall(r'<key id="([^"]+)" for="(node|edge)" attr.name="([^"]+)"', graphml)
    assert len({name for name, _, _ in keys}) == len(keys) > 5
    known = {"node": ("label", "d3"), "edge": ("label", "edgelabel", "d7")}
    return {kind: [title for key, of, title in keys if of == kind and {key, title} & {*known[kind]}] for kind in known}


def test_graphml_holds_sources_and_can_be_read_back() -> None:
    one = graph("a1 f1", "a1>f1", {"a1": ("quota", "price")})
    node = one.nodes["a1"].model_copy(update={"text": f"{EVIL}\x0b"})
    stored = {"participant": "agent:1", "nodes": [node.model_dump(mode="json"), one.nodes["f1"].model_dump(mode="json")],
              "edges": [edge.model_dump(mode="json") for edge in one.edges.values()]}  # fmt: skip
    read = nx.read_graphml(io.BytesIO(agents_graphml([stored]).encode()))
    assert gephi_labels(agents_graphml([stored])) == {"node": ["label"], "edge": []}
    assert read.nodes["agent:1/a1"]["label"] == EVIL
    assert read.nodes["agent:1/a1"]["sources"] == "agent:1#1"
    assert read.nodes["agent:1/a1"]["elements"] == "quota, price"
    assert read.edges["agent:1/a1", "agent:1/f1"]["quote"] == "so gesagt"
    ends = [{"id": name, "label": name, "type": "attribute", "agents": 2} for name in ("c1", "c2")]
    cells = [
        {"source": "c1", "target": "c2", "direct": 2, "indirect": 0},
        {"source": "c2", "target": "c1", "direct": 0, "indirect": 1},
    ]
    pooled = pooled_graphml(ends, cells)
    assert [edge[:2] for edge in nx.read_graphml(io.BytesIO(pooled.encode())).edges] == [("c1", "c2")]
