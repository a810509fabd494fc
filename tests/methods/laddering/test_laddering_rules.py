"""The rules that stand in for a model, which are crude: the reader on answers as people give them, the judge on an
answer's surface, and that neither knows the words of what is planted.

Each answer comes with words of which one must stand in the concept (none: nothing may be read), and whether it hangs on
what was asked about; they were written without a look at the reader or that. Measured 2026-11-24: see LEAST.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from enquete.analysis.vocabulary import STOP_WORDS
from enquete.methods.laddering import interviewer, synthetic
from enquete.methods.laddering.interviewer import (
    LONGEST,
    Extraction,
    ExtractionInput,
    JudgementInput,
    KnownConcept,
    allowed_edges,
    judge_answer,
    read_answer,
)
from enquete.methods.laddering.settings import LadderingSettings
from enquete.methods.laddering.signals import Readings
from enquete.respondents.roles import normal
from tests.methods.laddering.memory_context import GROUND_TRUTHS, NOBODYS

METHOD, GRID = LadderingSettings().method, LadderingSettings(methodology="repertory_grid").method
FOCUS = KnownConcept(text="feste Regeln", type="attribute")
LEAST = 0.8  # share of the ordinary answers that are read right


def reading(
    text: str, focus: KnownConcept | None = FOCUS, aims: Sequence[str] = ("functional_consequence",)
) -> Extraction:
    return read_answer(
        ExtractionInput(
            topic="t", question="Warum?", answer=text, focus=focus, aims=list(aims), known=[focus] if focus else [],
            node_types=dict.fromkeys(METHOD.node_types, ""), edges=allowed_edges(METHOD), elements={},
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Das führt für mich zu mehr Ordnung, wirklich.", "mehr Ordnung"),
        ("Feste Regeln bedeuten weniger Ärger am Abend.", "weniger Ärger am Abend"),
        ("Naja, weil ich dadurch Freizeit gewinne.", "Freizeit"),
        ("Dahinter steht Gerechtigkeit, so sehe ich es.", "Gerechtigkeit"),
        ("That gives me a calm evening, and I like it.", "calm evening"),
        ("It leads to better sleep because nothing worries me.", ""),  # a word for nothing: crude
        ("What lies behind it is fairness.", "fairness"),
    ],
)
def test_a_link_is_read_from_its_joint(text: str, concept: str) -> None:
    extraction = reading(text)
    assert [heard.text for heard in extraction.concepts] == ([concept] if concept else [])
    for link in extraction.relationships:
        assert (link.source_text, link.target_text, link.relationship_type) == ("feste Regeln", concept, "leads_to")
        assert link.source_quote in text
    assert [heard.node_type for heard in extraction.concepts] == ["functional_consequence"] * bool(concept)


def test_a_mention_without_a_focus_is_a_concept_without_a_link() -> None:
    extraction = reading("Mir geht es vor allem um ruhige See, immer schon.", None, ("attribute",))
    assert ([heard.text for heard in extraction.concepts], extraction.relationships) == (["ruhige See"], [])


@pytest.mark.parametrize(
    "text",
    ["", "Ja.", "Das weiß ich nicht so genau.", "Dazu habe ich schon alles gesagt.", "Das bedeutet das.", "...",
     "Das bedeutet für mich feste Regeln.", "Das bedeutet nicht, dass ich reich werde.",
     "Keine Ahnung, ehrlich gesagt.",
     "Ich denke nicht an Geld.", "It doesn't give me anything.", "I really don't know.", "It just is."],
)  # fmt: skip
def test_where_nothing_new_is_said_or_it_is_denied_nothing_is_read(text: str) -> None:
    assert reading(text).concepts == []


@pytest.mark.parametrize(
    ("sentence", "both"),
    [
        ("Two of them are small and local, whereas the third is a big company.", ("small and local", "a big company")),
        ("Die beiden haben kurze Wege, das andere dagegen steht für Größe.", ("kurze Wege", "Größe")),
        ("Two of them are small.", None),
    ],
)
def test_a_contrast_has_two_sides(sentence: str, both: tuple[str, str] | None) -> None:
    joined = GRID.contrasts[0]
    data = ExtractionInput(
        topic="t", question="?", answer=sentence, focus=None, aims=list(joined[1:]), known=[], contrasts=GRID.contrasts,
        node_types=dict.fromkeys(GRID.node_types, ""), edges=allowed_edges(GRID), elements={},
    )  # fmt: skip
    extraction = read_answer(data)
    if both is None:
        assert len(extraction.concepts) == 1
    else:
        assert [(heard.text, heard.node_type) for heard in extraction.concepts] == list(
            zip(both, joined[1:], strict=True)
        )
        (link,) = extraction.relationships
        assert (link.source_text, link.target_text, link.relationship_type) == (*both, joined[0])


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


def wrong(case: Case) -> str:
    """What is wrong with the reading, "" for nothing."""
    extraction = reading(case.answer, KnownConcept(text=case.focus, type="attribute"))
    if not case.words:
        return f"read {extraction.concepts[0].text!r}" if extraction.concepts else ""
    if len(extraction.concepts) != 1:
        return f"{len(extraction.concepts)} concepts"
    (concept,) = extraction.concepts
    if not set(case.words.split()) <= set(normal(concept.text).split()) or len(concept.text.split()) > LONGEST:
        return f"read {concept.text!r}"
    assert concept.source_quote in case.answer
    return (
        "" if bool(extraction.relationships) is case.linked else "linked" if extraction.relationships else "not linked"
    )


@pytest.mark.parametrize("cases", [DE, EN], ids=["de", "en"])
def test_ordinary_answers_are_read(cases: list[Case]) -> None:
    missed = {case.answer: fault for case in cases if (fault := wrong(case))}
    assert 1 - len(missed) / len(cases) >= LEAST, missed


# --- the judge --------------------------------------------------------------------------------------------------------


def judged(answer: str) -> Readings:
    return judge_answer(JudgementInput(topic="t", question="?", answer=answer))


def test_the_rule_reads_engagement_certainty_and_mood_off_the_surface() -> None:
    short = judged("Weiß nicht.")
    assert (short.rating("engagement"), short.rating("response_depth")) == (1, 1)
    lively = judged(
        "Ich freue mich jeden Morgen darauf, zum Beispiel gestern, als wir alle zusammen auf dem Kai standen und "
        "lachten."
    )
    assert (lively.rating("engagement"), lively.rating("specificity"), lively.sentiment) == (3, 5, "positive")
    assert judged(" ") == Readings()
    assert [judged(text).rating("certainty") for text in ("Vielleicht ist es ruhig.", "Es ist ruhig.")] == [1, 3]
    assert [judged(text).sentiment for text in ("Das macht mir Angst.", "I am proud.", "Es ist so.")] == [
        "negative", "positive", "neutral",
    ]  # fmt: skip


# --- no list is shared ------------------------------------------------------------------------------------------------


def test_rules_and_ground_truth_share_no_module_and_no_word_list() -> None:
    def imports(module: object) -> set[str]:
        tree = ast.parse(inspect.getsource(module))  # a module
        return {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert not any("synthetic" in name for name in imports(interviewer))
    assert not any(name.endswith("interviewer") for name in imports(synthetic))
    code = normal(Path(inspect.getfile(interviewer)).read_text("utf-8"))
    truths = (*GROUND_TRUTHS.values(), NOBODYS)
    planted = [
        w for truth in truths for chain in truth.chains for thought in chain.thoughts for w in thought.all_wordings
    ]
    assert not [wording for wording in planted if "{" not in wording and normal(wording) in code]
    sentences = [line for says in NOBODYS.manner.says.values() for lines in says.values() for line in lines]
    assert not [line for line in sentences if normal(line) in code]
    patterns = " ".join(p.pattern for p in (interviewer._JOINT, interviewer._NOTHING)).lower()
    telling = {word for word in re.findall(r"\w+", " ".join(planted).lower()) if len(word) > 4} - STOP_WORDS
    assert not {word for word in telling if re.search(rf"\b{word}\b", patterns)}
