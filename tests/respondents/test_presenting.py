"""Whom an arm asks, as whom they answer, and how it shows a block: drawn by seed, agent and block, by nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from enquete.locale import tell
from enquete.respondents.ledger_context import answering, asked, partner, present, sampled
from enquete.respondents.neutral import neutral, neutral_digest
from enquete.simulations.digest import HEADINGS, NOTHING
from enquete.state.asking import PRESENTATIONS, Arm, Block, BlockKey, Item, Option, Participant
from tests.support.populations import participants

FIVE = tuple(Option(value=n, label=f"label {n}") for n in range(1, 6))
CITIES = tuple(Option(value=name, label=name.title()) for name in ("kiel", "bonn", "ulm", "jena", "trier"))


def scale(name: str, about: str = "") -> Item:
    return Item(id=name, kind="scale", wording=f"{name}?", about=about, options=FIVE)


ITEMS = (
    *(scale(name) for name in "abcdef"),
    Item(id="why", kind="text", wording="Why?"),
    Item(id="city", kind="choice", wording="Where?", options=CITIES),
    *(scale(f"theme:1/{name}", "[1] Quotas.") for name in "xyz"),
    *(scale(f"theme:2/{name}", "[2] Harbours.") for name in "xyz"),
)


def block(who: str = "agent:a", *, phase: str = "T0", round: int = 0, constraint: object = None) -> Block:
    key = BlockKey("run", "main", "longitudinal", phase, "", round, 0, who, "items")
    return Block(key=key, instruction="Please.", items=ITEMS, constraint=constraint)  # type: ignore[arg-type]


def shown(presentation: str, at: Block, seed: int = 3) -> Block:
    return present(at, Arm(presentation=presentation, draw_seed=seed), "en")


def people(types: list[int]) -> list[Participant]:
    return [
        Participant(id=f"agent:{n}", name=f"Agent {n}", stakeholder_type=f"type {kind}", persona=f"Nr. {n}")
        for n, kind in enumerate(types)
    ]


class TestSample:
    @given(st.lists(st.integers(0, 6), min_size=2, max_size=80), st.integers(1, 79), st.integers(0, 9))
    def test_is_stratified_in_order_and_of_the_size_asked_for(self, types: list[int], size: int, seed: int) -> None:
        size = min(size, len(types) - 1)
        population = people(types)
        chosen = sampled(population, size, seed)
        assert len(chosen) == size
        assert chosen == [who for who in population if who in chosen]
        assert chosen == sampled(population, size, seed)
        seats = Counter(who.stakeholder_type for who in chosen)
        if size >= len(set(types)):
            assert seats.keys() == {f"type {kind}" for kind in types}

    def test_is_in_proportion_by_its_seed_and_as_the_arm_says(self) -> None:
        # By hand: 60, 30 and 10 of 100 agents make 6, 3 and 1 of 10.
        chosen = sampled(people([0] * 60 + [1] * 30 + [2] * 10), 10, seed=4)
        assert Counter(who.stakeholder_type for who in chosen) == {"type 0": 6, "type 1": 3, "type 2": 1}
        assert sampled(people([0] * 50), 10, 1) != sampled(people([0] * 50), 10, 2)
        population = participants(5)
        assert asked(Arm(), "delphi", "T1", population) is population
        assert asked(Arm(sample=5), "delphi", "T1", population) is population
        assert len(asked(Arm(sample=2), "delphi", "T1", population)) == 2
        assert asked(Arm(methods=("longitudinal",)), "delphi", "T1", population) == ()
        assert asked(Arm(phases=("T0",)), "delphi", "T1", population) == ()


class TestPersona:
    @given(st.lists(st.integers(0, 3), min_size=2, max_size=40), st.integers(0, 5))
    def test_swapped_is_somebody_else_s_of_another_type_where_there_is_one(self, types: list[int], seed: int) -> None:
        population = people(types)
        for who in population:
            other = partner(who, population, seed)
            if len(set(types)) > 1:
                assert other.stakeholder_type != who.stakeholder_type
            assert other.id != who.id

    def test_swapped_answers_as_another_null_as_nobody_and_own_as_the_very_agent(self) -> None:
        population = participants(6, digest="I saw a boat.")
        swapped = answering(population[0], Arm(persona="swapped"), population, "en")
        (other,) = [who for who in population if who.persona == swapped.persona]
        assert (swapped.id, swapped.digest) == (population[0].id, "I saw a boat.")
        assert (swapped.name, swapped.stakeholder_type) == (other.name, other.stakeholder_type)
        assert swapped.stakeholder_type != population[0].stakeholder_type
        (who,) = participants(1)
        assert answering(who, Arm(persona="swapped"), [who], "en") == who
        one, two = (answering(who, Arm(persona="null"), participants(2), "de") for who in participants(2))
        assert replace(one, id=two.id, agent_id=two.agent_id) == two
        assert one.persona == neutral().persona["de"].text
        assert one.stakeholder_type == ""
        (who,) = participants(1)
        assert answering(who, Arm(), [who], "en") is who


class TestNeutralDigest:
    @given(st.integers(150, 4000), st.sampled_from(["de", "en"]), st.integers(0, 50))
    def test_is_about_as_long_in_the_same_form_and_holds_nothing_of_the_memory(
        self, length: int, language: str, n: int
    ) -> None:
        (who,) = participants(1, digest="x" * length)
        text = neutral_digest(replace(who, id=f"agent:{n}"), language, 7)  # type: ignore[arg-type]
        assert text is not None
        # At most one line of the file (below 125 characters, and its mark) too long or too short.
        assert abs(len(text) - length) < 131
        heading, *lines = text.split("\n- ")
        assert heading == tell(HEADINGS["own"], language)
        marks, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
        assert list(marks) == [f"[P{number}]" for number in range(1, len(lines) + 1)]
        assert set(texts) <= set(neutral().digest[language])  # type: ignore[index]

    def test_lines_are_drawn_for_each_agent_and_whoever_remembers_nothing_keeps_that(self) -> None:
        for digest in (None, "", tell(NOTHING, "de")):
            (who,) = participants(1, digest=digest)
            assert neutral_digest(who, "de", 1) == digest
        texts = {neutral_digest(who, "en", 1) for who in participants(5, digest="x" * 500)}
        assert len(texts) == 5


class TestOrders:
    def test_items_have_an_order_of_each_agent_s_own_and_change_places_with_those_of_their_kind(self) -> None:
        at = block()
        assert present(at, Arm(), "en") is at
        assert len({shown("items_random", block(f"agent:{n}")).shown for n in range(20)}) == 20
        orders = [shown(name, block()).shown for name in ("items_random", "items_shuffled", "items_shuffled_2")]
        assert len(set(orders)) == 3
        in_order = block().model_copy(update={"in_order": True})
        assert shown("items_random", in_order).in_shown_order() == ITEMS
        assert shown("items_shuffled", in_order).shown == shown("items_shuffled", block()).shown
        # The city is the only choice: of ten groups it stays the eighth.
        for n in range(20):
            groups = dict.fromkeys(item.partition("/")[0] for item in shown("items_random", block(f"agent:{n}")).shown)
            assert list(groups).index("city") == 7

    @given(st.sampled_from(PRESENTATIONS), st.integers(0, 200), st.integers(0, 5))
    def test_every_order_is_a_permutation_that_leaves_items_and_options_as_they_are(
        self, presentation: str, n: int, seed: int
    ) -> None:
        at = block(f"agent:{n}")
        presented = shown(presentation, at, seed)
        assert presented == shown(presentation, at, seed)
        assert sorted(item.id for item in presented.in_shown_order()) == sorted(item.id for item in at.items)
        assert [item.options for item in presented.items] == [item.options for item in at.items]
        for item in presented.items:
            assert sorted(map(str, item.options_in_shown_order())) == sorted(map(str, item.options))

    @given(st.sampled_from(["items_random", "options_random"]), st.integers(0, 50))
    def test_an_order_is_the_same_in_both_phases_and_all_rounds(self, presentation: str, n: int) -> None:
        first, later = (shown(presentation, block(f"agent:{n}", phase=p, round=r)) for p, r in (("T0", 0), ("T1", 3)))
        assert (first.shown, first.items) == (later.shown, later.items)

    @given(st.integers(0, 100))
    def test_words_keep_their_place_and_themes_stay_together(self, n: int) -> None:
        order = list(shown("items_shuffled", block(f"agent:{n}")).shown)
        groups = [item.partition("/")[0] for item in order]
        for theme in ("theme:1", "theme:2"):
            first = groups.index(theme)
            assert order[first : first + 3] == [f"{theme}/{name}" for name in "xyz"]
        # By hand: 6 single items, the words, the city, two themes; the words are the seventh of these ten.
        assert list(dict.fromkeys(groups)).index("why") == 6

    def test_scales_run_forwards_or_backwards_choices_in_any_order(self) -> None:
        forwards, backwards = (1, 2, 3, 4, 5), (5, 4, 3, 2, 1)
        presented = [shown("options_random", block(f"agent:{n}")) for n in range(200)]
        ways = Counter(
            frozenset(tuple(o.value for o in i.options_in_shown_order()) for i in at.items if i.kind == "scale")
            for at in presented
        )
        assert ways.keys() == {frozenset({forwards}), frozenset({backwards})}  # all scales of a block alike
        # Binomial with n = 200, p = ½: ±4 SD of 7.07 is ±28.
        assert abs(ways[frozenset({backwards})] - 100) <= 28
        cities = {next(i for i in at.items if i.id == "city").shown for at in presented}
        assert len(cities) > 50  # of 120

    @pytest.mark.parametrize("main", ["as_written", "options_random"])
    def test_reversed_is_the_reverse_of_what_the_main_arm_shows(self, main: str) -> None:
        for n in range(20):
            one = shown(main, block(f"agent:{n}"))
            other = shown(
                "options_reversed" if main == "as_written" else f"{main}+options_reversed", block(f"agent:{n}")
            )
            for before, after in zip(one.items, other.items, strict=True):
                assert after.options_in_shown_order() == before.options_in_shown_order()[::-1]

    @pytest.mark.parametrize("presentation", ["options_reversed", "options_random"])
    def test_a_forced_grid_keeps_its_columns(self, presentation: str) -> None:
        at = block(constraint={"grid": {"1": 3}})
        assert all(item.shown == () for item in shown(presentation, at).items)
        arm = Arm(elicitation="distribution")
        assert {item.elicitation for item in present(at, arm, "en").items} == {"point"}

    def test_distributions_paraphrases_and_controls_are_asked_where_there_are_any(self) -> None:
        presented = present(block(), Arm(elicitation="distribution"), "en")
        assert {item.kind for item in presented.items if item.elicitation == "distribution"} == {"scale", "choice"}
        assert {item.kind for item in presented.items if item.elicitation == "point"} == {"text"}
        paraphrased = scale("a").model_copy(update={"paraphrase": "a, in other words?"})
        at = block().model_copy(update={"items": (paraphrased, scale("b"))})
        presented = shown("paraphrased", at)
        assert presented.frame == "paraphrased"
        assert [item.wording for item in presented.items] == ["a, in other words?", "b?"]
        presented = present(block(), Arm(asks="controls"), "de")
        assert presented.key == block().key
        assert [item.id for item in presented.items] == [item.id for item in neutral().controls.items]
        assert presented.items[0].options[0].label == "lehne stark ab"


def test_an_unknown_presentation_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"options_random, options_reversed.*not 'backwards'"):
        Arm(presentation="items_random+backwards")
    assert Arm(presentation="items_random+paraphrased").shows == {"items_random", "paraphrased"}
    assert Arm().shows == frozenset()
