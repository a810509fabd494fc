"""What is asked: quotes that are whole, techniques that suit and take turns, no question twice, a last word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from enquete.instruments.load import load_layer
from enquete.methods.laddering.interviewer import question_prompt
from enquete.methods.laddering.knowledge import KnowledgeGraph
from enquete.methods.laddering.questions import (
    Candidate,
    Use,
    WordedQuestion,
    WordingInput,
    acceptable,
    asked_before,
    candidates,
    choose,
    closing_turn,
    contributions,
    in_few_words,
    jargon,
    least_used,
    opening,
    rank,
    stop_reason,
    technique_pool,
    total,
    worded,
)
from enquete.methods.laddering.settings import Concept, InterviewMethod, LadderingSettings, StopRule
from enquete.methods.laddering.signals import Detected, NodeState, detect
from enquete.respondents.roles import normal
from enquete.state.asking import Answer, Language
from enquete.state.errors import InstrumentError
from enquete.state.interview_context import InterviewerTask
from tests.methods.laddering.builders import METHOD, graph, past, view
from tests.methods.laddering.memory_context import MemoryContext, interviewed, person, saying
from tests.methods.laddering.test_laddering_layers import FIVE, complaint, edited, line_of


def method(name: str) -> Any:
    return LadderingSettings(methodology=name).method


# --- quotes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "room", "language", "quoted"),
    [
        ("large quiet zones on the sea floor", 5, "en", "large quiet zones"),
        ("regional oat fields as a source", 5, "en", "regional oat fields"),
        ("shelves with many brands", 3, "en", "shelves"),
        ("fish that nobody in the village wants to buy", 5, "en", "fish"),
        ("strong stocks off the coast", 8, "en", "strong stocks off the coast"),
        ("something to rely on", 5, "en", "something to rely on"),  # whole: its last word belongs to it
        ("quarrels and", 5, "en", "quarrels"),
        ("große Ruhegebiete am Meeresgrund vor der Küste", 5, "de", "große Ruhegebiete am Meeresgrund"),
        ("Kutter aus dem eigenen kleinen Hafen nebenan", 5, "de", "Kutter"),
        ("Hafer von Feldern nebenan und aus der Region", 5, "de", "Hafer von Feldern nebenan"),
        ("gute Preise, weil die Kinder sonst fortziehen müssten", 5, "de", "gute Preise"),
        ("dass", 5, "de", "dass"),
        ("Fische aus dem", 5, "de", "Fische aus"),
        ("[[x]] eins, zwei <b> drei vier fünf sechs!", 8, "de", "x eins, zwei b drei vier fünf sechs"),
    ],
)  # fmt: skip
def test_a_quote_is_never_broken_off_in_mid_phrase(label: str, room: int, language: Language, quoted: str) -> None:
    assert in_few_words(label, room, language) == quoted


def test_a_shorter_question_quotes_more() -> None:
    short, long = (METHOD.strategies[name].techniques[0].questions[0] for name in ("deepen", "clarify"))
    label = "moderne kleine Schiffe mit sparsamen leisen sauberen Motoren"
    for question in (short, long):
        assert worded(question, (label,), "de").startswith(
            "„moderne kleine Schiffe mit sparsamen leisen sauberen Motoren“: "
        )


# --- techniques -------------------------------------------------------------------------------------------------------


def test_a_technique_is_offered_only_to_types_it_suits() -> None:
    journey = method("customer_journey")
    channel = next(t for t in journey.strategies["explore_touchpoint"].techniques if t.id == "by_which")
    assert [kind for kind in journey.node_types if journey.applicable(channel, kind)] == ["stage"]
    assert journey.linkable("touchpoint", "channel")  # so it is the type that keeps it away
    grid = method("repertory_grid")
    ladders = grid.strategies["ladder_constructs"].techniques
    assert not any(grid.applicable(technique, "opposite_pole") for technique in ladders)
    assert any(grid.applicable(technique, "construct_pole") for technique in ladders)


def test_techniques_take_turns_after_what_is_missing_and_the_rung_above_and_by_concept() -> None:
    deepen = Candidate("deepen", "n1", METHOD.strategies["deepen"].techniques)
    used: list[Use] = []
    for _ in range(8):
        used.append(
            Use("deepen", least_used(METHOD, deepen, frozenset(), "psychosocial_consequence", used).id, f"n{len(used)}")
        )
    assert set(Counter(use.technique for use in used).values()) == {2}
    journey = method("customer_journey")
    touch = Candidate("explore_touchpoint", "n1", journey.strategies["explore_touchpoint"].techniques)
    once = [Use("explore_touchpoint", "deal_with", "n0")]
    assert least_used(journey, touch, frozenset(), "stage", once).id == "deal_with"  # the rung above a stage
    assert least_used(journey, touch, frozenset({"touchpoint"}), "stage", once).id == "by_which"  # what is missing
    clarify = Candidate("clarify", "n1", METHOD.strategies["clarify"].techniques)
    used = [Use("clarify", "own_words", "n1"), Use("clarify", "example", "n2")]
    assert least_used(METHOD, clarify, frozenset(), "attribute", used).id == "example"


def test_a_strategy_with_its_technique_is_spent_on_a_concept_whoever_worded_it() -> None:
    known = graph("a1 a2")
    spent = [Use("clarify", "own_words", "a1"), Use("clarify", "example", "a1"), Use("deepen", "absence", "a2")]
    left = {(offer.strategy, offer.focus): offer.techniques for offer in candidates(METHOD, known, (), "de", spent)}
    assert ("clarify", "a1") not in left
    assert ("clarify", "a2") in left
    assert "absence" not in [technique.id for technique in left["deepen", "a2"]]


class Worded(MemoryContext):
    """A model that words every question anew, so that no text is ever the same."""

    def __init__(self, number: int):
        super().__init__(person(number))
        self._by = "gpt"

    async def work(self, task: InterviewerTask[Any]) -> Any:
        if not isinstance(task.data, WordingInput) or task.data.opening:
            return await super().work(task)
        head, _, rest = task.rule(task.data).question.partition(": ")
        number = int(task.subject.rsplit(" ", maxsplit=1)[1])
        return WordedQuestion(
            question=f"{chr(96 + number)}{number} {head}, {rest}" if rest else f"{chr(96 + number)} {head}"
        )


@pytest.mark.parametrize("name", FIVE)
def test_models_never_ask_the_same_thing_twice_and_the_pool_is_alive(name: str) -> None:
    uses: list[Use] = []
    for number in range(2):
        interview = interviewed(Worded(number), LadderingSettings(methodology=name, turns=30))
        spent = [turn.choice.use for turn in interview.turns if turn.choice]
        assert len(spent) == len(set(spent))
        assert any(turn.by["question"] == "gpt" for turn in interview.turns)
        uses += spent
    assert len({(use.strategy, use.technique) for use in uses}) >= 8


# --- repetition and jargon --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "again"),
    [
        ("Warum ist Ihnen das so wichtig?", True),  # particles do not make another question
        ("Und warum ist Ihnen das eigentlich wichtig?", True),  # 5 words in common of 5 and 6: 10/11 = .91
        ("Und warum ist Ihnen das heute wichtig?", False),  # of 5 and 7: 10/12 = .83
        ("Warum ist Ihnen Ruhe wichtig?", False),
        ("Was heißt das für Sie?", False),
    ],
)  # fmt: skip
def test_a_question_that_only_sounds_different_is_a_repeat(question: str, again: bool) -> None:
    assert asked_before(question, {normal("Warum ist Ihnen das wichtig?")}) is again


@pytest.mark.parametrize(
    "question", ["Why does n3 matter to you?", "What about the terminal value?", "Is that an Attribute?"]
)
def test_a_models_question_holds_no_node_ids_or_type_names(question: str) -> None:
    words = set(jargon(METHOD, [], "en"))
    assert {"terminal value", "attribute", "instrumental value"} <= words
    assert not acceptable(question, (), words)
    assert acceptable("Why do nights matter to you?", (), words)


def test_type_names_that_the_respondent_uses_are_no_jargon() -> None:
    assert "attribute" not in set(jargon(METHOD, ["It is an attribute of the sea."], "en"))
    told = [data.jargon for data in _asked("en", "Its best attribute is firm quotas, I care about that.")]
    assert "attribute" in told[0]
    assert "attribute" not in told[1]


def _asked(language: Language, text: str) -> list[WordingInput]:
    context = MemoryContext(person(), language, says=saying(text))
    interviewed(context, LadderingSettings(turns=3))
    return _worked(context)


def _worked(context: MemoryContext) -> list[WordingInput]:
    return [task.data for task in context.tasks.values() if isinstance(task.data, WordingInput)]


def test_the_wording_heard_least_comes_first() -> None:
    technique = METHOD.strategies["deepen"].techniques[0]
    first, second = (worded(question, ("Ruhe",), "de") for question in technique.questions)
    named = [("Ruhe",)]
    assert [text for text, _ in technique_pool(technique, named, (), "de")] == [first, second]
    heard = {normal(worded(technique.questions[0], ("Streit am Kai",), "de"))}
    assert [text for text, _ in technique_pool(technique, named, heard, "de")] == [second, first]


# --- openings, the client's view, the end -----------------------------------------------------------------------------


def test_nobody_is_pestered_for_something_else() -> None:
    known, dry = graph("a1"), past("explore", "")
    for turns, rests in (([dry], False), ([dry, dry], True), ([dry, past("deepen", "a1"), dry], True),
                         ([dry, dry, past("deepen", "a1", new_nodes=1)], False),
                         ([past("", ""), dry], False)):  # fmt: skip
        offered = {candidate.strategy for candidate in candidates(METHOD, known, (), "de", (), turns)}
        assert ("explore" not in offered and "revitalize" not in offered) is rests
        assert "close" in offered
    assert "explore" in {
        candidate.strategy for candidate in candidates(METHOD, KnowledgeGraph(), (), "de", (), [dry, dry])
    }


@pytest.mark.parametrize(
    ("turns", "done", "stop", "heard", "because"),
    [
        (12, 6, "shallow", True, "shallow"), (12, 11, "", True, "max_turns"), (12, 10, "", True, None),
        (12, 12, "max_turns", True, None),
        (12, 6, "closing", True, None), (12, 6, "no_yield", False, None), (4, 3, "", True, None),
        (12, 11, "no_yield", True, "no_yield"),
    ],
)  # fmt: skip
def test_there_is_a_closing_question_where_a_turn_is_left_for_it(
    turns: int, done: int, stop: Any, heard: bool, because: str | None
) -> None:
    turn = closing_turn(METHOD, (), turns=turns, done=done, stop=stop, heard=heard)
    assert (turn.because if turn else None) == because
    if turn:
        assert closing_turn(METHOD, (turn.use,), turns=turns, done=done, stop=stop, heard=heard) is None


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_clients_view_stands_fenced_in_both_prompts_and_reaches_no_respondent(language: Language) -> None:
    context = MemoryContext(person(), language)
    settings = LadderingSettings(turns=3)
    interviewed(context, settings)
    concept = settings.topic
    view = [text.in_(language) for text in (concept.insight, concept.promise, *concept.reasons_to_believe)]
    prompts = [question_prompt(data, language) for data in _worked(context)]
    assert len(prompts) == 3
    for prompt in prompts:
        assert "\n".join(view) in prompt.split("[[client:")[1].split("]]")[0]
        assert {"de": "nicht verraten, nicht nahelegen", "en": "do not tell it, do not lead"}[language] in prompt
    shown = " ".join(f"{block.instruction} {block.items[0].wording}" for block in context.blocks)
    assert not any(text in shown for text in view)
    assert opening(settings, language, 0).clients_view == view


# --- aliases and languages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "elements"),
    [
        ("en", "my original plan", ()), ("en", "a portion of chips", ()), ("en", "a code of conduct", ()),
        ("de", "Preiselbeeren zum Fisch", ()), ("de", "the price of fish", ()), ("en", "die Preise", ()),
        ("de", "des Preises, der Preise, den Preisen", ("price",)), ("en", "prices and quotas", ("quota", "price")),
        ("de", "Quotenbescheide im März", ("quota",)), ("en", "two sanctuaries", ("protection",)),
        ("en", "the cod's return", ("stocks",)),
        ("en", "traceable fish", ("origin",)), ("de", "ein Bestandteil", ()), ("de", "", ()),
    ],
)  # fmt: skip
def test_aliases_are_whole_words_with_their_endings_of_the_runs_language(
    language: Language, text: str, elements: Sequence[str]
) -> None:
    assert LadderingSettings().topic.mentioned(text, language) == elements


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[Geschmack*, Süße]", "[Geschmack*, Schaumig, Süße]", "'Schaumig' of taste and 'Schaum*' of foam begin alike"),
        ("[Geschmack*, Süße]", "[Geschmack*, Laktos*, Süße]",
            "'Laktos*' of taste and 'Laktose*' of digestion begin alike"),
        ("[Geschmack*, Süße]", "[Ge*schmack, Süße]", "may stand once, at the end of a stem of at least 3 letters"),
        ("[Geschmack*, Süße]", "[Ge*, Süße]", "may stand once, at the end of a stem of at least 3 letters"),
    ],
)  # fmt: skip
def test_aliases_that_begin_alike_are_refused_where_they_stand(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = edited(tmp_path, "concepts", "oat_drink", (old, new))
    message = complaint(path, Concept)
    assert told in message
    assert f"own.yaml:{line_of(path, new)}:" in message


def test_an_element_is_followed_in_the_runs_language_alone() -> None:
    def says(language: Language) -> MemoryContext:
        text = {"de": "Mir geht es um label und Siegel, ganz klar.", "en": "I care about Herkunft and Siegel."}[
            language
        ]
        return MemoryContext(person(), language, says=lambda who, block: Answer(block.items[0].id, "ok", text=text))

    german, english = (interviewed(says(language), LadderingSettings(turns=2)).graph.nodes for language in ("de", "en"))
    assert {element for node in german.values() for element in node.elements} == {"origin"}
    assert not any(node.elements for node in english.values())


def test_a_file_in_one_language_is_refused_in_the_other(tmp_path: Path) -> None:
    path = edited(tmp_path, "methodologies", "means_end_chain", ("languages: [de, en]", "languages: [de]"))
    given = {"methodology": str(path)}
    LadderingSettings.model_validate(given, context={"language": "de"})
    with pytest.raises(
        InstrumentError, match=r"laddering\.methodology: .*own\.yaml is in German only .* the run is in English"
    ):
        LadderingSettings.model_validate(given, context={"language": "en"})
    topic = "topic: {de: Haferdrink im Alltag"
    half = edited(
        tmp_path, "concepts", "oat_drink", ("languages: [de, en]\n", ""),
        (f"{topic}, en: Oat drink in daily life}}", f"{topic}}}"),
    )  # fmt: skip
    with pytest.raises(InstrumentError, match="has no English text at topic"):
        LadderingSettings.model_validate({"concept": str(half)}, context={"language": "en"})
    assert load_layer(Concept, "", str(half)).topic.in_("en") == "Haferdrink im Alltag"  # elsewhere it still falls back


# --- scores by hand, phases, the choice, and when an interview ends --------------------------------------------------


def test_contributions_by_hand() -> None:
    values: dict[str, Any] = {
        "graph.node.exhausted": True, "graph.max_depth": 0.2, "llm.engagement": 4, "graph.orphan_count": 2,
        "meta.node.opportunity": "fresh", "temporal.strategy_repetition_count": 3,
    }  # fmt: skip
    weights = {
        "graph.node.exhausted.true": -5.0,  # holds: −5
        "graph.node.exhausted.false": 9.0,  # does not
        "graph.max_depth.low": 1.5,  # .2 is low: 1.5
        "graph.max_depth": 2.0,  # .2 of 0–1: .4
        "llm.engagement.high": 1.0,  # (4 − 1)/4 = .75 is high: 1
        "llm.engagement": 4.0,  # 4 × .75 = 3
        "graph.orphan_count": -4.0,  # 2 of 8: −1
        "meta.node.opportunity.fresh": 2.0,  # 2
        "meta.saturation.high": 7.0,  # not active: nothing
        "temporal.strategy_repetition_count": -2.5,  # 3 of 5: −1.5
    }
    assert contributions(weights, values) == pytest.approx(
        {"graph.node.exhausted.true": -5, "graph.max_depth.low": 1.5, "graph.max_depth": 0.4, "llm.engagement.high": 1,
         "llm.engagement": 3, "graph.orphan_count": -1, "meta.node.opportunity.fresh": 2,
         "temporal.strategy_repetition_count": -1.5}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "multiplier", "score"),
    [({"a": 2, "b": 1}, 1.5, 4.5), ({"a": 2, "b": -4}, 0.5, -1.0), ({"a": -2}, 2.0, -4.0), ({}, 3.0, 0.0)],
)
def test_a_score_is_multiplied_whichever_sign_it_has(parts: dict[str, float], multiplier: float, score: float) -> None:
    assert total(parts, multiplier) == score


@pytest.mark.parametrize(
    ("phase", "strategy", "multiplier"),
    [
        ("early", "explore", 1.5), ("early", "clarify", 1.2), ("early", "deepen", 0.5), ("early", "reflect", 0.2),
        ("mid", "deepen", 1.3), ("mid", "clarify", 1.0), ("mid", "explore", 0.8), ("mid", "reflect", 0.7),
        ("late", "reflect", 1.5), ("late", "deepen", 0.5), ("late", "explore", 0.3), ("late", "revitalize", 1.0),
    ],
)  # fmt: skip
def test_phase_multipliers_of_the_means_end_chain_are_the_literatures(
    phase: str, strategy: str, multiplier: float
) -> None:
    assert METHOD.multiplier(phase, strategy) == multiplier


def detected(method: InterviewMethod, seen: Any) -> Detected:
    return detect(seen, list(method.strategies))


def test_the_ranking_of_a_first_turn_by_hand() -> None:
    """One orphan attribute, first answer, early phase (multipliers deepen .5, explore 1.5).

    deepen: orphan 3 + open end 3 + fresh 2 + low depth 1.5 + recency 2 × 1 = 11.5, × .5 = 5.75
    explore: low breadth 1.5 + few concepts .5 − 8 × 1/8 orphan = 1, × 1.5 = 1.5
    """
    known = graph("a1")
    seen = view(known, {"a1": NodeState()}, [past("", "", new_nodes=1)])
    ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
    scores = {(candidate.strategy, candidate.focus): candidate.score for candidate in ranked}
    assert scores["deepen", "a1"] == pytest.approx(5.75)
    assert scores["explore", ""] == pytest.approx(1.5)
    assert (ranked[0].strategy, ranked[0].focus) == ("deepen", "a1")


def test_what_is_exhausted_or_repeated_loses() -> None:
    known = graph("a1 a2 f1 f2", "a1>f1 a2>f2")
    tired = NodeState(focused=3, streak=2, since_yield=3, depths=("surface",) * 3)
    seen = view(known, {"f1": tired, "f2": NodeState(since_focus=4)}, [past(focus="f1")], focus="f1")
    ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
    order = [candidate.focus for candidate in ranked if candidate.strategy == "deepen"]
    assert order.index("f2") < order.index("f1")
    # Port point 4: the repetition count must carry weight, and a negative one.
    known = graph("a1 f1", "a1>f1")
    scores = []
    for times in (0, 5):
        seen = view(known, {}, [past("clarify")] * times + [past("reflect")] * (5 - times))
        ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
        scores.append(
            next(candidate.score for candidate in ranked if (candidate.strategy, candidate.focus) == ("clarify", "f1"))
        )
    assert scores[1] < scores[0] - 1


def test_the_choice_takes_the_technique_whose_answer_is_still_missing() -> None:
    """An incident that has an action already is asked what came of it."""
    method = LadderingSettings(methodology="critical_incident").method
    strategy = method.strategies["deepen_narrative"]
    known = graph("a1")
    seen = view(known, {"a1": NodeState()})
    candidate = Candidate("deepen_narrative", "n1", strategy.techniques)
    detection = Detected(detected(METHOD, seen).interview, {"n1": {}}, {}, {})
    kinds = {"n1": "incident"}
    assert choose(method, [candidate], detection, {}, kinds).technique == "what_did_you_do"
    assert choose(method, [candidate], detection, {"n1": frozenset({"action"})}, kinds).technique == "what_came_of_it"


def test_of_pairs_nearly_as_good_one_is_drawn_for_each_agent() -> None:
    """Two bottom concepts that differ in nothing: without a key the first, with one either of them, and the same every
    time."""
    known = graph("a1 a2")
    detection = detected(METHOD, view(known, {"a1": NodeState(), "a2": NodeState()}))
    possible = [
        candidate for candidate in candidates(METHOD, known, frozenset(), "de") if candidate.strategy == "deepen"
    ]
    kinds = {"a1": "attribute", "a2": "attribute"}

    def focus(*key: str | int) -> str:
        return choose(METHOD, possible, detection, {}, kinds, key=key).focus

    assert focus() == "a1"
    assert {focus(0, f"agent:{n}", 2) for n in range(20)} == {"a1", "a2"}
    assert focus(0, "agent:1", 2) == focus(0, "agent:1", 2)


def test_the_top_of_the_ladder_and_what_was_asked_are_no_candidates() -> None:
    possible = candidates(METHOD, graph("t1"), frozenset(), "de")
    assert ("deepen", "t1") not in {(candidate.strategy, candidate.focus) for candidate in possible}
    assert ("clarify", "t1") in {(candidate.strategy, candidate.focus) for candidate in possible}
    known = graph("a1")
    before = {(candidate.strategy, candidate.focus) for candidate in candidates(METHOD, known, frozenset(), "de")}
    asked = frozenset(
        normal(question.in_("de").replace("{focus}", "a1 text"))
        for technique in METHOD.strategies["clarify"].techniques
        for question in technique.questions
    )
    after = {(candidate.strategy, candidate.focus) for candidate in candidates(METHOD, known, asked, "de")}
    assert before - after == {("clarify", "a1")}


@pytest.mark.parametrize(
    ("question", "good"),
    [
        ("Warum ist Ihnen das wichtig?", True), ("Warum? Wieso?", False), ("Erzählen Sie.", False),
        ("Schon gefragt?", False),
        (" ".join(["wort"] * 13) + " wort?", True), (" ".join(["wort"] * 14) + " wort?", False), ("Ja?", False),
    ],
)  # fmt: skip
def test_one_short_question_that_was_not_asked(question: str, good: bool) -> None:
    assert acceptable(question, {normal("schon gefragt?")}) is good


DRY = NodeState(focused=1, since_yield=3)
TRIED = NodeState(focused=1, since_yield=3, strategies={"deepen": 1})
USED_UP = NodeState(focused=2, since_yield=3, streak=2, depths=("surface", "surface"))
STOPS = StopRule()


@pytest.mark.parametrize(
    ("turns", "more", "reason"),
    [
        ([past(new_nodes=1, chain=i) for i in range(15)], {}, "max_turns"),
        ([past(new_nodes=1, chain=i) for i in range(14)], {}, ""),
        ([past(new_nodes=1)] * 2, {"closed": True}, "closing"),
        ([past(new_nodes=1)] * 2, {"candidates": []}, "nothing_left"),
        ([past(depth="surface", new_edges=1)] * 14, {}, ""),  # short, and each brought something
        ([past(new_edges=1)] + [past(depth="surface")] * 5, {}, "shallow"),
        ([past(new_edges=1)] + [past(depth="surface")] * 4, {}, ""),
        ([past(depth="surface", answered=False)] * 5, {}, "no_yield"),  # there was no answer to be shallow
        ([past(new_edges=1, chain=1)] + [past(chain=2)] * 5, {}, "no_yield"),
        ([past(new_edges=1, chain=1)] + [past(chain=2)] * 4, {}, ""),
        ([past(chain=2)] * 4, {}, ""),  # before the fifth turn
        ([past(chain=2)] * 4, {"phase": "late"}, ""),  # four turns without yield are not five
        # the late phase opens the stops
        ([past(depth="surface")] * 4, {"phase": "late", "stops": StopRule(shallow=4)}, "shallow"),
        ([past(depth="surface")] * 4, {"stops": StopRule(shallow=4)}, ""),
        ([past(new_nodes=1, chain=2)] * 6, {}, "same_depth"),  # concepts without a link lead no deeper
        ([past(new_nodes=1, chain=2)] * 5, {}, ""),
        ([past(new_edges=1, chain=2)] * 6, {}, ""),  # a second chain that catches up is no standstill
        # another way to ask about n1 is left
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": DRY}}, ""),
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": TRIED}}, "all_exhausted"),
        ([past(new_nodes=1, chain=i) for i in range(5)],
            {"states": {"n1": TRIED}, "candidates": [("deepen", "n1"), ("explore", "")]},
         ""),  # nobody asked what else there is
        ([past("explore", "", new_nodes=1, chain=i) for i in range(5)],
         {"states": {"n1": TRIED}, "candidates": [("deepen", "n1"), ("explore", "")]}, "all_exhausted"),
        # by its own state
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": USED_UP}}, "all_exhausted"),
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": USED_UP, "n2": NodeState()}}, ""),
        # n2 was never asked about
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": DRY, "n2": NodeState()}}, ""),
        ([past(new_nodes=1, chain=i) for i in range(4)], {"states": {"n1": DRY}}, ""),
    ],
)  # fmt: skip
def test_stops(turns: list[Any], more: dict[str, Any], reason: str) -> None:
    given: dict[str, Any] = {
        "turns": 15, "closed": False, "phase": "mid", "candidates": [("deepen", "n1")], "stops": STOPS, "states": {},
        **more,
    }  # fmt: skip
    assert stop_reason(turns, given.pop("states"), **given) == reason
