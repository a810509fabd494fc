"""The frame of the questions in other words: complete in both languages, other words throughout, the same rules."""

from __future__ import annotations

import pytest

from enquete.respondents.kinds import FRAMES, PromptTexts, worded
from enquete.respondents.llm import compose, system_prompt
from enquete.state.asking import Block, BlockKey, Item, Language, Option
from tests.support.populations import participants

(WHO,) = participants(1, digest="- saw a boat")
LANGUAGES: tuple[Language, ...] = ("de", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_around_a_question_is_put_in_other_words(language: Language) -> None:
    same = {
        name
        for name, text in worded("as_written", language)._asdict().items()
        if text == getattr(worded("paraphrased", language), name)
    }
    assert same == {name for name in PromptTexts._fields if name.startswith("again_")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_keys_and_the_rule_on_fences_are_kept(language: Language) -> None:
    words = worded("paraphrased", language)
    assert "{low}" in words.number
    assert "{high}" in words.number
    for key in ("confidence", "reason"):
        assert f"`{key}`" in getattr(words, key)
    assert "`probabilities`" in words.distribution
    assert "[[" in words.role
    assert "JSON" in words.role
    assert "JSON" in words.form


@pytest.mark.parametrize("language", LANGUAGES)
def test_persona_memory_instruction_and_items_stay_word_for_word(language: Language) -> None:
    item = Item(
        id="a", kind="scale", wording="Fish?", options=(Option(value=1, label="no"), Option(value=2, label="yes"))
    )
    key = BlockKey("run", "main", "m", "T1", "", 0, 0, WHO.id, "items")
    for frame in FRAMES:
        asked = Block(key=key, instruction="Please answer.", items=(item,), frame=frame)
        prompt = compose(WHO, asked, (item,), language, "", 0)
        assert prompt.system == system_prompt(WHO, language, frame)
        for kept in (WHO.persona, "- saw a boat"):
            assert kept in prompt.system
        for kept in ("Please answer.", "q1: Fish?", "1 = no; 2 = yes"):
            assert kept in prompt.messages[0]["content"]
    assert system_prompt(WHO, language, "paraphrased") != system_prompt(WHO, language)
