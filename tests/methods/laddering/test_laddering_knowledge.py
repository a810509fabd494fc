"""The knowledge graph: merging keeps sources, forbidden links are counted, chains and coverage by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.methods.laddering.interviewer import ConceptFound, Extraction, RelationFound, as_said, placed, quoted
from enquete.methods.laddering.knowledge import (
    UNSAID,
    ConceptSource,
    KnowledgeGraph,
    Linked,
    SaidConcept,
    complete_share,
    cover,
    longest_chain,
    similarity,
    with_findings,
)
from enquete.methods.laddering.settings import LadderingSettings
from enquete.state.asking import Language
from tests.methods.laddering.builders import METHOD, SETTINGS, graph


def says(text: str, kind: str = "attribute", utterance: str = "u#1", elements: tuple[str, ...] = ()) -> SaidConcept:
    return SaidConcept(
        text=text, type=kind, confidence=0.9, elements=elements, source=ConceptSource(utterance=utterance, quote=text)
    )


def linked(source: str, target: str, kind: str = "leads_to") -> Linked:
    return Linked(
        source_text=source, target_text=target, type=kind, confidence=0.8,
        source=ConceptSource(utterance="u#1", quote="q"),
    )  # fmt: skip


def test_near_duplicates_merge_of_one_type_and_of_two_only_in_the_same_words() -> None:
    first, _ = with_findings(KnowledgeGraph(), METHOD, [says("ruhigere Nächte im Winter", elements=("quota",))], [], 1)
    second, changes = with_findings(
        first, METHOD, [says("ruhigere Nächte im Winters", utterance="u#2", elements=("price",))], [], 2
    )
    (node,) = second.nodes.values()
    assert [source.utterance for source in node.sources] == ["u#1", "u#2"]
    assert node.elements == ("quota", "price")
    assert (node.turn, changes.merged, changes.new_nodes, changes.any_new) == (1, 1, 0, False)
    known, _ = with_findings(KnowledgeGraph(), METHOD, [says("ruhigere Nächte im Winter")], [], 1)
    other, changes = with_findings(known, METHOD, [says("ruhigere Nächte im Winters", "functional_consequence")], [], 2)
    assert (len(other.nodes), changes.merged) == (2, 0)
    same, changes = with_findings(known, METHOD, [says("Ruhigere Nächte, im Winter!", "functional_consequence")], [], 2)
    assert (len(same.nodes), changes.merged) == (1, 1)


def test_links_bridge_turns_and_follow_a_merged_concept() -> None:
    known, _ = with_findings(KnowledgeGraph(), METHOD, [says("feste Quoten für Kutter")], [], 1)
    grown, changes = with_findings(
        known, METHOD, [says("feste Quoten für Kuttern"), says("planbare Tage", "functional_consequence")],
        [linked("feste Quoten für Kuttern", "planbare Tage")], 2,
    )  # fmt: skip
    (edge,) = grown.edges.values()
    assert (edge.source, edge.target, edge.sources[0].quote) == ("n1", "n2", "q")
    assert (changes.new_nodes, changes.new_edges, changes.merged) == (1, 1, 1)


def test_what_the_methodology_forbids_is_counted_not_kept() -> None:
    concepts = [says("a eins"), says("t eins", "terminal_value"), says("x", "nonsense"), says("…")]
    links = [linked("a eins", "t eins"), linked("t eins", "a eins"), linked("a eins", "nobody"),
        linked("a eins", "a eins"),
             linked("a eins", "t eins", "causes")]  # fmt: skip
    known, changes = with_findings(KnowledgeGraph(), METHOD, concepts, links, 1)
    assert known.edges == {}
    assert changes.dropped == {
        "unknown node type": 1, "empty concept": 1, "relationship that the methodology does not allow": 4,
        "relationship to an unknown concept": 1,
    }  # fmt: skip
    assert with_findings(KnowledgeGraph(), METHOD, concepts, [linked("t eins", "a eins", "revises")], 1)[0].edges


words = st.text(alphabet="abcdefgh ", min_size=1, max_size=12)


@given(st.lists(st.tuples(words, st.sampled_from(list(METHOD.node_types))), max_size=12))
def test_no_concept_is_lost_and_none_is_there_twice(pairs: list[tuple[str, str]]) -> None:
    known = KnowledgeGraph()
    utterances = set()
    for turn, (text, kind) in enumerate(pairs, start=1):
        known, changes = with_findings(known, METHOD, [says(text, kind, f"u#{turn}")], [], turn)
        if not changes.dropped:
            utterances.add(f"u#{turn}")
    assert {source.utterance for node in known.nodes.values() for source in node.sources} == utterances
    nodes = list(known.nodes.values())
    assert list(known.nodes) == [f"n{i}" for i in range(1, len(nodes) + 1)]
    for i, one in enumerate(nodes):
        assert all(one.type != other.type or similarity(one.text, other.text) < 0.8 for other in nodes[:i])


@given(words, words)
def test_similarity_is_symmetric_and_within_bounds(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1 + 1e-9
    assert similarity(one, other) == pytest.approx(similarity(other, one))
    assert similarity(one, one) == pytest.approx(1.0 if one.strip() else 0.0)


@pytest.mark.parametrize(
    ("known", "length"),
    [
        (graph(""), 0),
        (graph("a1"), 1),
        (graph("a1 f1 p1"), 1),  # nothing hangs together
        (graph("a1 f1", "a1>f1"), 2),
        (graph("a1 f1 f2 p1", "a1>f1 f1>f2 f2>p1"), 3),  # two of one type on the way count once
        (graph("a1 f1 p1 i1 t1", "a1>f1 f1>p1 p1>i1 i1>t1"), 5),
        (graph("a1 f1 p1", "f1>a1 p1>f1"), 3),  # direction does not matter
        (graph("a1 f1 a2 p2", "a1>f1 f1>a2 a2>p2"), 3),  # four nodes of three types
        (graph("a1 f1 p1 f2 i1", "a1>f1 f1>p1 p1>f2 f2>i1"), 4),  # a path may come back to a type, which counts once
        (graph("f1 a1 p1 i1", "f1>a1 f1>p1 f1>i1"), 3),  # a star: no path has all four
    ],
)
def test_longest_chain_by_hand(known: KnowledgeGraph, length: int) -> None:
    assert longest_chain(known, METHOD, known.nodes) == length


def test_depth_score_is_a_chain_over_the_ladder_and_coverage_is_of_all_elements() -> None:
    """Port point 6: one linked node of five levels is 1/5; a chain of three is 3/5, three loose nodes are not."""
    covering = cover(graph("a1", elements={"a1": ("quota",)}), SETTINGS.topic.elements, METHOD)
    assert covering.elements["quota"].depth_score == pytest.approx(1 / 5)
    quota = {"a1": ("quota",), "f1": ("quota",), "p1": ("quota",)}
    chain = cover(graph("a1 f1 p1", "a1>f1 f1>p1", quota), SETTINGS.topic.elements, METHOD).elements["quota"]
    assert (chain.depth_score, chain.linked_node_ids) == (pytest.approx(3 / 5), ("a1", "f1", "p1"))
    assert chain.types_found == ("attribute", "functional_consequence", "psychosocial_consequence")
    loose = cover(graph("a1 f1 p1", "", quota), SETTINGS.topic.elements, METHOD).elements["quota"]
    assert loose.depth_score == pytest.approx(1 / 5)
    outside = cover(
        graph("a1 f1 p1", "a1>f1 f1>p1", {"a1": ("quota",), "p1": ("quota",)}), SETTINGS.topic.elements, METHOD
    )
    assert outside.elements["quota"].depth_score == pytest.approx(1 / 5)  # the middle of the chain is not the element's
    elements = cover(graph("a1 a2", elements={"a1": ("quota",), "a2": ("price",)}), SETTINGS.topic.elements, METHOD)
    assert (elements.elements_covered, elements.elements_total, elements.breadth) == (2, 8, 0.25)
    assert elements.depth == pytest.approx(2 * 0.2 / 8)
    assert not elements.elements["origin"].covered


def test_a_chain_that_comes_back_to_a_type_covers_four_of_five_rungs() -> None:
    """By hand: attribute, consequence, psychosocial consequence and value on one path, with a second consequence."""
    quota = dict.fromkeys(("a1", "f1", "p1", "f2", "i1"), ("quota",))
    known = graph("a1 f1 p1 f2 i1", "a1>f1 f1>p1 p1>f2 f2>i1", quota)
    element = cover(known, SETTINGS.topic.elements, METHOD).elements["quota"]
    assert element.depth_score == pytest.approx(4 / 5)


def test_without_a_ladder_depth_counts_types_and_no_chain_completes() -> None:
    jobs = LadderingSettings(methodology="jobs_to_be_done").method
    known, _ = with_findings(KnowledgeGraph(), jobs, [says("Absatz", "job_statement"), says("Kälte", "pain_point")],
                             [linked("Kälte", "Absatz", "conflicts_with")], 1)  # fmt: skip
    assert longest_chain(known, jobs, known.nodes) == 2
    assert jobs.rungs == len(jobs.node_types) == 10
    assert complete_share(known, jobs) is None


def test_elements_and_quotes_are_those_of_the_answer_and_the_focus() -> None:
    """Port point 5."""
    concepts, _, _ = placed(Extraction(concepts=[ConceptFound(text="", node_type="attribute")]), "", "u#1",
        SETTINGS.topic, "de", None,
                      KnowledgeGraph())  # fmt: skip
    assert concepts[0].elements == ()
    known = graph("a1", elements={"a1": ("quota",)})
    extraction = Extraction(
        concepts=[ConceptFound(text="planbare Tage", node_type="functional_consequence"),
                  ConceptFound(text="Segeln", node_type="attribute")],
        relationships=[RelationFound(source_text="a1 text", target_text="planbare Tage", relationship_type="leads_to")],
    )  # fmt: skip
    concepts, _, _ = placed(
        extraction, "planbare Tage, und Segeln", "u#2", SETTINGS.topic, "de", known.nodes["a1"], known
    )
    assert [concept.elements for concept in concepts] == [("quota",), ()]
    assert quoted("Ruhe im Hafen", "Ich will ruhe, im Hafen.") == "Ruhe im Hafen"
    assert quoted("erfunden", "Ich will Ruhe.") == "Ich will Ruhe."
    assert quoted("", "Ich will Ruhe.") == "Ich will Ruhe."


@pytest.mark.parametrize(
    ("text", "quote", "kept"),
    [
        ("love of money", "I love money", False),  # neither the concept nor its quote
        ("love of money", "", False),
        ("simple life", "small boats", False),  # a reading that shares no word with what it quotes
        ("small boats", "invented", True),  # the words themselves
        ("small boats", "I like the small boats", True),  # four of five words: a model's repair
    ],
)
def test_a_concept_that_nobody_said_is_left_out_and_counted(text: str, quote: str, kept: bool) -> None:
    extraction = Extraction(concepts=[ConceptFound(text=text, node_type="attribute", source_quote=quote)])
    concepts, links, left_out = placed(
        extraction, "I like small boats.", "u#1", SETTINGS.topic, "en", None, KnowledgeGraph()
    )
    assert (len(concepts), left_out) == (int(kept), {} if kept else {UNSAID: 1})
    assert all(concept.source.quote in "I like small boats." for concept in concepts)
    _, changes = with_findings(KnowledgeGraph(), SETTINGS.method, concepts, links, 1, left_out)
    assert changes.dropped == ({} if kept else {"concept that is not in the answer": 1})


def test_a_retraction_marks_what_it_takes_back_and_is_no_link() -> None:
    first, _ = with_findings(
        KnowledgeGraph(), METHOD, [says("feste Quoten für Kutter"), says("planbare Tage", "functional_consequence")],
        [linked("feste Quoten für Kutter", "planbare Tage")], 1,
    )  # fmt: skip
    then, changes = with_findings(
        first, METHOD, [says("freie Tage auf See")],
        [linked("freie Tage auf See", "feste Quoten für Kutter", "revises")], 2,
    )  # fmt: skip
    assert (changes.new_nodes, changes.new_edges, changes.retracted) == (1, 0, 1)
    assert then.retracted == {"n1"}
    assert set(then.standing.nodes) == {"n2", "n3"}
    assert then.standing.edges == {}
    assert then.standing.orphans == {"n2", "n3"}
    back, _ = with_findings(then, METHOD, [], [linked("feste Quoten für Kutter", "freie Tage auf See", "revises")], 3)
    assert back.retracted == {"n3"}  # the last word counts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("unimportant for the climate", "important for the climate"),
        ("keine Angst vor der Zukunft haben", "Angst vor der Zukunft haben"),
        ("more space for people on foot", "less space for people on foot"),
        ("unwichtig für das Klima der Erde", "wichtig für das Klima der Erde"),
    ],
)
def test_opposites_never_merge(one: str, other: str) -> None:
    known, changes = with_findings(KnowledgeGraph(), METHOD, [says(one), says(other)], [], 1)
    assert (len(known.nodes), changes.merged) == (2, 0)


@pytest.mark.parametrize(
    ("answer", "language", "kind"),
    [
        ("I had expected a quick reply.", "en", "expected_of"),  # only a model concludes that it did not come
        ("I had expected a quick reply, and it never came.", "en", "violates"),
        ("Ich hatte eine schnelle Antwort erwartet.", "de", "expected_of"),
        ("Ich war enttäuscht, die Antwort kam zu spät.", "de", "violates"),
    ],
)
def test_an_expectation_is_violated_only_where_the_respondent_says_so(
    answer: str, language: Language, kind: str
) -> None:
    journey = LadderingSettings(methodology="customer_journey").method
    link = RelationFound(source_text="desk", target_text="quick reply", relationship_type="violates")
    unknown = RelationFound(source_text="desk", target_text="quick reply", relationship_type="unheard_of")
    extraction = as_said(Extraction(relationships=[link, unknown]), answer, journey, language)
    assert [relationship.relationship_type for relationship in extraction.relationships] == [kind, "unheard_of"]
