"""Many interviews as one: the implication matrix and its indices by hand, saturation, the value map and the files."""

from __future__ import annotations

import io
import re

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.methods.laddering.files import agents_graphml, implications_csv, mermaid, pooled_graphml
from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import KnowledgeGraph
from enquete.methods.laddering.network import (
    MOST_CONCEPTS,
    PooledConcept,
    Row,
    concept_rows,
    edge_rows,
    grouped,
    homes,
    implication_matrix,
    node_rows,
    pool,
    saturation,
    value_map,
)
from enquete.respondents.roles import normal
from tests.methods.laddering.builders import METHOD, graph
from tests.methods.laddering.memory_context import GROUND_TRUTH


def interviews(*graphs: KnowledgeGraph) -> list[LadderingInterview]:
    return [LadderingInterview(f"agent:{number}", graph=known) for number, known in enumerate(graphs, start=1)]


THREE = interviews(
    graph("a1 f1 p1 i1", "a1>f1 f1>p1 p1>i1"), graph("a1 f1 p1", "a1>f1 f1>p1"), graph("a1 f1 p2 i1", "a1>f1 p2>i1")
)


def by_label(cells: list[Row], concepts: list[PooledConcept]) -> dict[tuple[str, str], tuple[int, int]]:
    label = {concept.id: concept.label.removesuffix(" text") for concept in concepts}
    return {(label[cell["source"]], label[cell["target"]]): (cell["direct"], cell["indirect"]) for cell in cells}


def mapped(cells: list[Row], concepts: list[Row], wanted: int | None) -> Row:
    return value_map(cells, concepts, METHOD.kinds, wanted)


def made(
    cells: list[tuple[str, str, int]], types: dict[str, str], wanted: int | None
) -> tuple[Row, list[Row], list[Row]]:
    """The map of links written down, with its links and boxes."""
    rows: list[Row] = [
        {"source": a, "target": b, "direct": n, "indirect": 0, "relation": "leads_to"} for a, b, n in cells
    ]
    concepts: list[Row] = [
        {"concept": code, "label": f"word {code}", "type": kind, "agents": 1} for code, kind in types.items()
    ]
    return mapped(rows, concepts, wanted), rows, concepts


def test_pooling_and_implication_matrix_by_hand() -> None:
    concepts = pool(THREE)
    assert [(concept.label, concept.agents) for concept in concepts[:2]] == [("a1 text", 3), ("f1 text", 3)]
    assert {concept.label: concept.agents for concept in concepts} == {
        "a1 text": 3, "f1 text": 3, "p1 text": 2, "i1 text": 2, "p2 text": 1,
    }  # fmt: skip
    # Agent 1: a1→f1→p1→i1. Agent 2: a1→f1→p1. Agent 3: a1→f1, p2→i1. Indirect: over one link or more in between.
    concepts = pool(THREE)
    assert by_label(implication_matrix(THREE, concepts), concepts) == {
        ("a1", "f1"): (3, 0), ("f1", "p1"): (2, 0), ("p1", "i1"): (1, 0), ("p2", "i1"): (1, 0),
        ("a1", "p1"): (0, 2), ("f1", "i1"): (0, 1), ("a1", "i1"): (0, 1),
    }  # fmt: skip
    # z at 1 − .05/(2·7), for there are seven cells: 2.690 (R qnorm); a1→f1 in 3 of 3: low = 1/(1 + z²/3) = .293.
    (first, *_) = implication_matrix(THREE, pool(THREE))
    assert (first["share"], first["low"], first["high"]) == pytest.approx((1, 0.293, 1), abs=5e-4)
    curve = [(point["interviews"], point["new"], point["concepts"]) for point in saturation(THREE, pool(THREE))]
    assert curve == [(1, 4, 4), (2, 0, 4), (3, 1, 5)]


def test_cells_count_an_agent_once_and_their_table_holds_no_formula() -> None:
    single = interviews(graph("a1 f1 f2", "a1>f1 f1>f2 a1>f2"))
    concepts = pool(single)
    assert by_label(implication_matrix(single, concepts), concepts)["a1", "f2"] == (1, 0)
    codes = [
        {"concept": "c1", "label": "=A1", "type": "attribute"},
        {"concept": "c2", "label": "gut", "type": "terminal_value"},
    ]
    rows = implications_csv(codes, [{"source": "c1", "target": "c2", "direct": 3, "indirect": 2}]).splitlines()
    assert rows == ["id,type,code,'=A1,gut", "c1,attribute,'=A1,,3.02", "c2,terminal_value,gut,,"]


def test_abstractness_centrality_and_prestige_by_hand_and_none_without_links() -> None:
    """Direct links in all: 3 + 2 + 1 + 1 = 7. f1: 3 in, 2 out. i1: 2 in. a1: 3 out."""
    concepts = pool(THREE)
    rows = concept_rows(THREE, concepts, implication_matrix(THREE, concepts), climbs=True)
    measures = {
        entry["label"].removesuffix(" text"): [entry[k] for k in ("abstractness", "centrality", "prestige")]
        for entry in rows
    }
    assert measures["f1"] == pytest.approx([3 / 5, 5 / 7, 3 / 7])
    assert measures["i1"] == pytest.approx([1, 2 / 7, 2 / 7])
    assert measures["a1"] == pytest.approx([0, 3 / 7, 0])
    assert [(entry["tie"], entry["items"]) for entry in rows[:2]] == [("alone", ["turn_01"])] * 2  # of its kind
    alone = interviews(graph("a1"))
    (row,) = concept_rows(alone, pool(alone), [], climbs=True)
    assert (row["abstractness"], row["centrality"], row["prestige"]) == (None, None, None)
    assert pool([]) == implication_matrix([], []) == []


def test_codes_hold_what_is_alike_but_no_opposites() -> None:
    assert grouped(["ruhigere nächte im winter", "feste quoten", "ruhige nächte"]) == [[0, 2], [1]]
    assert grouped(["angst vor morgen", "keine angst vor morgen", "important for us", "unimportant for us"]) == [
        [0], [1], [2], [3],
    ]  # fmt: skip
    assert grouped(["10 euro mehr", "20 euro mehr"]) == [[0], [1]]
    assert grouped([]) == []


def test_planted_thoughts_come_back_as_one_code_each() -> None:
    """86 wordings of 43 thoughts, German; without types, which hold more apart. By trigrams they were 86 concepts."""
    chains = [chain for chain in GROUND_TRUTH.chains if chain.method == "means_end_chain"]
    thoughts = {thought.de for chain in chains for thought in chain.all_thoughts}
    assert 39 <= len(grouped(sorted(normal(wording) for thought in thoughts for wording in thought))) <= 47


def test_the_cut_off_represents_two_thirds_of_the_links_and_rises_on_a_crowded_map() -> None:
    """By hand: of 10 links given, cut-off 4 keeps 4, cut-off 3 keeps 7, which is above 6.7."""
    cells = [("c1", "c2", 4), ("c2", "c3", 3), ("c3", "c4", 2), ("c1", "c4", 1)]
    facts, *_ = made(cells, dict.fromkeys(("c1", "c2", "c3", "c4"), "attribute"), None)
    assert (facts["cut_off"], facts["map_share"], facts["map_repeated"]) == (3, pytest.approx(0.7), pytest.approx(0.9))
    concepts = pool(THREE)
    cells = implication_matrix(THREE, concepts)
    rows = concept_rows(THREE, concepts, cells, climbs=True)
    mapped(cells, rows, 2)
    assert {cell["direct"] for cell in cells if cell["shown"]} == {2, 3}
    assert mapped(cells, rows, 9)["cut_off"] == 1  # nobody would be on it
    levels = {row["level"]: row["type"] for row in rows}
    assert [levels[n] for n in range(4)] == METHOD.kinds[:4]
    types = {f"c{i}": "attribute" if i % 2 else "functional_consequence" for i in range(100)}
    facts, _, concepts = made([(f"c{i}", f"c{i + 1}", 1 + (i < 10)) for i in range(1, 98, 2)], types, 1)
    assert facts["cut_off"] == 2
    assert sum(concept["level"] is not None for concept in concepts) == facts["n_shown"] <= MOST_CONCEPTS


ends = st.sampled_from(["a1>f1", "a2>f1", "a1>f2", "f1>p1", "f2>p1", "p1>i1", "i1>t1", "f1>f2", "p1>p2"])


@given(st.lists(st.sets(ends), max_size=6))
def test_cells_are_bounded_by_the_agents_and_the_map_holds_every_link_once(drawn: list[set[str]]) -> None:
    held = interviews(*(graph("a1 a2 f1 f2 p1 p2 i1 t1", " ".join(sorted(links))) for links in drawn))
    concepts = pool(held)
    cells = implication_matrix(held, concepts)
    assert all(0 < cell["direct"] + cell["indirect"] <= len(held) for cell in cells)
    assert sum(cell["direct"] for cell in cells) == sum(len(links) for links in drawn)
    rows = concept_rows(held, concepts, cells, climbs=True)
    mapped(cells, rows, 1)
    assert [cell["shown"] for cell in cells] == [cell["direct"] > 0 for cell in cells]
    places = [(row["level"], row["place"]) for row in rows if row["level"] is not None]
    assert len(set(places)) == len(places)
    assert {level for level, _ in places} == set(range(len({level for level, _ in places})))


EVIL = '<script>alert(1)</script> "a" --> b; %% ] end'


def test_mermaid_escapes_what_was_said() -> None:
    _, links, boxes = made([("c1", "c2", 2)], {"c1": "attribute", "c2": "functional_consequence"}, 1)
    boxes[0]["label"] = EVIL
    source = mermaid(["attribute", EVIL], boxes, links, [{"relation": "leads_to", "label": "leads to"}])
    assert EVIL not in source
    assert '"' not in source.split("c1[")[1].split("]")[0].strip('"')
    assert "c1 -->|leads to 2| c2" in source


def words(known: KnowledgeGraph) -> tuple[list[Row], list[Row]]:
    (interview,) = interviews(known)
    return list(node_rows(interview, homes(pool([interview])))), list(edge_rows(interview))


def gephi_labels(graphml: str) -> dict[str, list[str]]:
    """What Gephi takes for the label of nodes and of edges: attributes called so, and yEd's numbers
    (ImporterGraphML.java, where a key's id goes before its name)."""
    keys = [
        (re.search(r'id="([^"]+)"', key)[1], re.search(r'for="([^"]+)"', key)[1],
            re.search(r'attr.name="([^"]+)"', key)[1])
        for key in re.findall(r"<key [^>]+>", graphml)
    ]  # fmt: skip
    assert len({name for name, _, _ in keys}) == len(keys) > 5
    known = {"node": ("label", "d3"), "edge": ("label", "edgelabel", "d7")}
    return {kind: [title for key, of, title in keys if of == kind and {key, title} & {*known[kind]}] for kind in known}


def test_graphml_holds_sources_and_can_be_read_back() -> None:
    known = graph("a1 f1", "a1>f1", {"a1": ("quota", "price")})
    evil, back = (
        known.nodes["a1"].model_copy(update={"text": f"{EVIL}\x0b"}),
        known.edges["a1>f1:leads_to"].model_copy(update={"type": "revises"}),
    )
    nodes, edges = words(KnowledgeGraph({**known.nodes, "a1": evil}, {**known.edges, back.key: back}))
    graphml = agents_graphml(nodes, edges)
    read = nx.parse_graphml(graphml, force_multigraph=True)
    assert gephi_labels(graphml) == {"node": ["label"], "edge": []}
    assert read.nodes["agent:1/a1"]["label"] == EVIL
    assert read.nodes["agent:1/a1"]["sources"] == "agent:1#1"
    assert read.nodes["agent:1/a1"]["elements"] == "quota, price"
    # two relationships between the same concepts are two, with ids of their own, which Gephi asks for
    assert sorted(read.edges(keys=True, data="link_type")) == [
        ("agent:1/a1", "agent:1/f1", "e1", "leads_to"), ("agent:1/a1", "agent:1/f1", "e2", "revises")
    ]  # fmt: skip
    assert read.edges["agent:1/a1", "agent:1/f1", "e1"]["link_quote"] == "so gesagt"
    ends: list[Row] = [
        {"concept": name, "label": name, "type": "attribute", "agents": 2, "opposite": None} for name in ("c1", "c2")
    ]
    cells: list[Row] = [
        {"source": "c1", "target": "c2", "direct": 2, "indirect": 0, "relation": "x"},
        {"source": "c2", "target": "c1", "direct": 0, "indirect": 1, "relation": None},
    ]
    assert [edge[:2] for edge in nx.read_graphml(io.BytesIO(pooled_graphml(ends, cells).encode())).edges] == [
        ("c1", "c2")
    ]
