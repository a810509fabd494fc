"""The rule-based reader on answers as people give them, written without a look at the reader or the plant.

Each answer comes with words of which one must stand in the concept (none: nothing may be read), and whether it hangs on what
was asked about. Measured 2026-11-22: see LEAST; before the reader took main clauses, 9 of 44 were right.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from enquete.graphs.laddering.extraction import Extraction, ExtractionInput, Known, allowed_edges
from enquete.graphs.laddering.interviewer import LONGEST, read_answer
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.respondents.quoting import normal

METHOD = LadderingSettings().method
LEAST = 0.9  # share of the answers that are read right


class Case(NamedTuple):
    """`focus`: what was asked about; `words`: the concept holds all of them; "" for nothing to be read."""

    focus: str
    answer: str
    words: str
    linked: bool = True


DE = [
    Case("feste Quoten", "Dann kann ich meine Familie ernähren.", "familie ernähren"),
    Case("feste Quoten", "Weil ich dann planen kann.", "planen"),
    Case("feste Quoten", "Planbarkeit.", "planbarkeit"),
    Case("feste Quoten", "Ich kann besser schlafen.", "besser schlafen"),
    Case("feste Quoten", "Das ist mir wichtig, weil meine Kinder sonst wegziehen.", "kinder wegziehen"),
    Case("feste Quoten", "Dann habe ich weniger Stress und mehr Zeit.", "weniger stress"),
    Case("feste Quoten", "Ich will unabhängig sein.", "unabhängig"),
    Case("feste Quoten", "Man fühlt sich einfach freier.", "freier"),
    Case("feste Quoten", "Na, damit der Ort nicht ausstirbt.", "ort ausstirbt"),
    Case("feste Quoten", "Vor allem wegen meiner Gesundheit.", "gesundheit"),
    Case("feste Quoten", "So bleibt am Monatsende etwas übrig.", "monatsende"),
    Case("feste Quoten", "Es geht mir um die Zukunft meiner Enkel.", "zukunft enkel"),
    Case("feste Quoten", "Dadurch spare ich viel Geld.", "geld"),
    Case("feste Quoten", "Mir ist Ehrlichkeit wichtig.", "ehrlichkeit"),
    Case("feste Quoten", "Ich möchte mich auf andere verlassen können.", "andere verlassen"),
    Case("feste Quoten", "Dann muss ich keine Angst mehr haben.", "angst"),
    Case("feste Quoten", "Das macht mich zufrieden.", "zufrieden"),
    Case("feste Quoten", "Das bedeutet nicht, dass ich reich werde.", ""),
    Case("feste Quoten", "Es hat mir nichts gebracht.", ""),
    Case("feste Quoten", "Ich denke nicht an Geld.", ""),
    Case("feste Quoten", "Keine Ahnung, ehrlich gesagt.", ""),
    Case("feste Quoten", "Na ja, so halt.", ""),
    Case("feste Quoten", "Das ist eben so.", ""),
    Case("feste Quoten", "Es gibt nur noch wenige Boote.", "boote", linked=False),
]
EN = [
    Case("fair rules", "It makes me feel safe.", "safe"),
    Case("fair rules", "Because I can feed my family.", "feed family"),
    Case("fair rules", "So that I can sleep at night.", "sleep night"),
    Case("fair rules", "I like being independent.", "independent"),
    Case("fair rules", "Freedom.", "freedom"),
    Case("fair rules", "Well, I just want my kids to stay here.", "kids stay"),
    Case("fair rules", "Then I have more time for my garden.", "time garden"),
    Case("fair rules", "It saves me money.", "money"),
    Case("fair rules", "I would be proud of my work.", "proud work"),
    Case("fair rules", "You know where you stand.", "where stand"),
    Case("fair rules", "My health matters to me.", "health"),
    Case("fair rules", "I don't want to depend on anyone.", "depend anyone"),
    Case("fair rules", "Honestly, it helps me relax in the evening.", "relax evening"),
    Case("fair rules", "Since everybody gets a fair share.", "fair share"),
    Case("fair rules", "That way nobody is left behind.", "nobody behind"),
    Case("fair rules", "There are only a few boats left.", "boats", linked=False),
    Case("fair rules", "It doesn't give me anything.", ""),
    Case("fair rules", "That does not mean I will be rich.", ""),
    Case("fair rules", "I really don't know.", ""),
    Case("fair rules", "It just is.", ""),
]


def read(case: Case) -> Extraction:
    focus = Known(text=case.focus, type="attribute")
    return read_answer(
        ExtractionInput(
            topic="t", question="Warum?", answer=case.answer, focus=focus, aims=["functional_consequence"], known=[focus],
            node_types=dict.fromkeys(METHOD.node_types, ""), edges=allowed_edges(METHOD), elements={},
        )
    )  # fmt: skip


def wrong(case: Case) -> str:
    """What is wrong with the reading, "" for nothing."""
    found = read(case)
    if not case.words:
        return f"read {found.concepts[0].text!r}" if found.concepts else ""
    if len(found.concepts) != 1:
        return f"{len(found.concepts)} concepts"
    (concept,) = found.concepts
    if not set(case.words.split()) <= set(normal(concept.text).split()) or len(concept.text.split()) > LONGEST:
        return f"read {concept.text!r}"
    return "" if bool(found.relationships) is case.linked else "linked" if found.relationships else "not linked"


@pytest.mark.parametrize("cases", [DE, EN], ids=["de", "en"])
def test_ordinary_answers_are_read(cases: list[Case]) -> None:
    missed = {case.answer: found for case in cases if (found := wrong(case))}
    assert 1 - len(missed) / len(cases) >= LEAST, missed


@pytest.mark.parametrize("case", [one for one in (*DE, *EN) if not one.words], ids=lambda case: case.answer)
def test_a_denial_or_nothing_never_becomes_a_concept(case: Case) -> None:
    assert read(case).concepts == []


@pytest.mark.parametrize("answer", ["Es gibt nur noch wenige Boote.", "There are only a few boats left."])
def test_a_statement_of_fact_is_linked_to_nothing_and_stands_on_the_first_rung(answer: str) -> None:
    found = read(Case("feste Quoten", answer, "boats", linked=False))
    assert found.relationships == []
    assert [one.node_type for one in found.concepts] == ["attribute"]


def test_every_quote_of_a_main_clause_is_in_the_answer() -> None:
    for case in (*DE, *EN):
        for concept in read(case).concepts:
            assert concept.source_quote in case.answer
