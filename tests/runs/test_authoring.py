"""What of a model's draft is used. The back-translations were made by hand, from the German of shipped items alone."""

from __future__ import annotations

from itertools import product

import pytest

from enquete.runs.material import Slot
from enquete.simulations.discourse import DiscourseTheme, Post
from enquete.study.drafts import Pair, ThemeOut, comes_back, speaking_of, text_faults, theme_faults

BACK = {
    "Without cars more people come into the shops.": "More people come into the shops without cars.",
    "Cafés and restaurants earn from a car-free street.": "Cafés and restaurants make money on the car-free street.",
    "Closing the street to cars will force small shops to give up.": "The closure will force small shops to close "
    "down.",
    "The street becomes a place where people like to meet.": "The street becomes a place where one likes to meet.",
    "Life becomes healthier for the people who live here.": "For the people living here, life gets healthier.",
    "By bus and bicycle one gets to the centre well enough.": "With bus and bike you get to the town centre well "
        "enough.",
    "People who walk with difficulty can still reach the shops.": "Even those who have trouble walking still reach the "
        "shops.",
    "The town listens to those affected before it decides.": "The city hears those affected before it decides.",
    "A trial for a limited time is the right way.": "A temporary trial is the right way.",
    "The town library has convenient opening hours.": "The city library has favourable opening hours.",
}  # fmt: skip
POSTS = [
    Post("a", "Ann", "ngo", "", "twitter/actions.jsonl:1", "The fees are too high."),
    Post("b", "Ben", "bank", "", "twitter/actions.jsonl:2", "Higher fees pay for safety."),
    Post("b", "Ben", "bank", "", "twitter/actions.jsonl:3", "Good morning everybody."),
]


def test_a_literal_translation_comes_back_and_another_item_does_not() -> None:
    assert all(comes_back(text, back, "en") for text, back in BACK.items())
    others = [(text, back) for (text, _), (other, back) in product(BACK.items(), BACK.items()) if text != other]
    assert not [pair for pair in others if comes_back(*pair, "en")]


@pytest.mark.parametrize(
    ("text", "back"),
    [("The bank is honest.", "The bank is not honest."), ("Rates fell by 2 points.", "Rates fell by 3 points.")],
)
def test_negation_and_numbers_must_come_back(text: str, back: str) -> None:
    assert not comes_back(text, back, "en")
    assert comes_back(text, text, "en")


def test_a_theme_is_new_in_both_languages_and_spoken_of_by_two_whose_posts_are_there() -> None:
    assert speaking_of("high fees", [1, 2, 3, 99, 1, 0, -1], POSTS) == POSTS[:2]
    fees = ThemeOut(de="Gebühren", en="fees", posts=[1, 2])
    assert theme_faults(fees, [], POSTS[:2], "en") == ""
    assert "another theme once more" in theme_faults(fees, [fees], POSTS[:2], "en")
    assert "one agent's" in theme_faults(fees, [], POSTS[1:], "en")
    assert theme_faults(ThemeOut(de="", en="fees"), [], POSTS, "en") == "de: missing"


def test_an_item_passes_the_rules_and_names_a_post() -> None:
    slot = Slot("survey/fees_fair", "", "", "", about=DiscourseTheme("fees", 2, 2))
    fair = Pair(de="Die Gebühren sind gerecht.", en="The fees are fair.")
    assert text_faults(slot, fair, [], POSTS[:1]) == []
    assert text_faults(slot, fair, [], []) == ["survey/fees_fair: names no post that speaks of it"]
    swapped = Pair(de="The fees are fair and they are high.", en="Die Gebühren sind gerecht.")
    assert text_faults(slot, swapped, [], POSTS[:1]) == ["de: is in another language"]
    twin = Slot("survey/fees_again", "", "", "", about=slot.about)
    (fault, *_) = text_faults(twin, fair, [slot.wording(fair.de, fair.en)], POSTS[:1])
    assert "says almost the same as survey/fees_fair" in fault
