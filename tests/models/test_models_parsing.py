"""read_object: any text is survived, any wrapping undone, the right object found, nothing cut is trusted."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.models.parsing import looks_like_refusal, read_finish_reason, read_object

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
OBJECT = st.dictionaries(TEXT, VALUE, max_size=6)

WRAPPERS = {
    "bare": "{}", "fence": "```json\n{}\n```", "fence and prose": "Sure! Here you are:\n\n```\n{}\n```\nAnything else?",
    "thinking": "<think>I'd say it's fine; maybe \"4\"?</think>\n\n{}",
    "thinking whose start is missing": "so they want numbers.</think>{}",
    "thinking that never ends": "<think>hm, let me see. {}",
    "prose": "Hier ist meine Antwort, wie gewünscht: {} Ich hoffe, das hilft!", "byte order mark": "\ufeff{}\r\n",
    "list of one": "[{}]",
}  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS.keys())
@settings(max_examples=10)
@given(value=OBJECT, ascii_only=st.booleans(), indent=st.sampled_from([None, 2]))
def test_any_object_comes_back_out_of_any_wrapping(
    wrapper: str, value: dict[str, object], ascii_only: bool, indent: int | None
) -> None:
    text = wrapper.replace("{}", json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    if "[" in wrapper and any(isinstance(value.get(name), str | int) for name in ("item", "item_id", "id")):
        return  # that list means something else
    assert read_object(text) == value
    assert read_object(text, wanted=list(value)) == value


JUNK = st.text(st.sampled_from(list("{}[]\",:\\/'`<>think01.eE-+ntfu\n\x00\x07\ud800 ")), max_size=60)


@given(text=JUNK | st.text(st.characters(), max_size=60), wanted=st.sets(TEXT, max_size=2))
def test_any_text_is_survived_and_the_result_can_be_stored(text: str, wanted: set[str]) -> None:
    result = read_object(text, wanted)
    assert result is None or isinstance(result, dict)
    stored = json.dumps(result, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert b"\x00" not in stored
    assert b"\\u0000" not in stored.replace(b"\\\\", b"")
    assert looks_like_refusal(text) in (True, False)


@given(value=st.dictionaries(TEXT, VALUE, min_size=1, max_size=5), data=st.data())
def test_a_cut_object_gives_complete_members_only(value: dict[str, object], data: st.DataObject) -> None:
    """The oracle is the uncut object: members that come back equal it, in order, and the last is none of them."""
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    result = read_object(text[:cut], wanted=list(value))
    assert result is None or list(result.items()) == list(value.items())[: len(result)]
    assert result is None or len(result) < len(value)


HOSTILE = {
    "opening brackets": "[" * 1_000_000, "nested objects": '{"a":' * 200_000,
    "balanced deep": "[" * 100_000 + "]" * 100_000, "objects that need repair": "{'a': 1}" * 100_000,
    "quotes after a brace": "{" + '"' * 1_000_000, "cut list of numbers": "[" + "1," * 400_000,
    "long integer": '{"a": ' + "9" * 900_000 + "}", "unclosed thinking": "<think>" * 100_000,
    "repairable garbage": "{" + "a b, ':\" " * 3_000 + "}", "repairable apostrophes": "{" + "'" * 30_000 + "}",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_bounded_time(text: str) -> None:
    started = time.process_time()
    read_object(text, wanted=["a"])
    looks_like_refusal(text)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'a': 'it', 'b': 3,}", {"a": "it", "b": 3}),
        ('{"a": NaN, "b": Infinity}', {"a": None, "b": None}),
        ('{"a": 1e999, "b": -1}', {"a": None, "b": -1}),
        ('{"a": 1, "a": 5, "b": 2}', {"a": 5, "b": 2}),
        ('{"a": "x\x01\ty\\u0000", "b": "\\ud83d"}', {"a": "x\x01\ty", "b": "\ufffd"}),
        ('{"a": "\ud83d\ude00", "b": "\ud800"}', {"a": "\U0001f600", "b": "\ufffd"}),
        ('{"a": 3 // sure\n, "b": 2}', {"a": 3, "b": 2}),
        ('draft {"a": 1, "b": 1} no, better {"a": 7, "b": 6}', {"a": 7, "b": 6}),
        ('{"a": 1, "b": 2} e.g. {"a": 0}', {"a": 1, "b": 2}),
        ('<think>{"a": 1, "b": 1}</think>{"a": 7}', {"a": 7}),
        ('{"answers": {"a": 1, "b": 2}, "note": "x"}', {"a": 1, "b": 2}),
        ('{"type": "object", "properties": {"a": {}, "b": {}}} {"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('[{"item": "a", "value": 1}, {"item": "b", "value": 2}]', {"a": {"value": 1}, "b": {"value": 2}}),
        ('{"answers": [{"id": "a", "value": 1}, {"id": "b"}]}', {"a": {"value": 1}, "b": {}}),
        ('{as asked} [sic] {"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('{"x": 1, "y": 2}', {"x": 1, "y": 2}),  # wrong keys: handed on, to be reported as such
    ],
)
def test_what_models_write(text: str, expected: dict[str, object]) -> None:
    assert read_object(text, wanted=("a", "b")) == expected


def test_text_without_an_object_gives_none() -> None:
    for text in ("", "   ", "null", "[]", "[1, 2]", '"text"', "no idea", "<think>", "@@ ,,, :: {"):
        assert read_object(text, wanted=("a",)) is None, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": 12', {"a": 1}),
        ('```json\n{"a": {"value": 3, "why": "so"}, "b": {"value": 4, "wh', {"a": {"value": 3, "why": "so"}}),
        ('{"answers": {"a": {"value": 3}, "b": {"val', {"a": {"value": 3}}),
        ('{"mood": "x", "answers": {"a": {"value": 3}, "b": {"val', {"a": {"value": 3}}),
        ('{"answers": [{"item": "a", "value": 3}, {"item": "b", "va', {"a": {"value": 3}}),
        ('{"a": 1, "b": 2}\n\nI hope that', {"a": 1, "b": 2}),
        ("{'a': 1, 'b': 'I think, therefore", None),  # a comma within a text ends no member
        ('{"a": 1, "b": 2', {"a": 1}),
        ('{"a": {"value": 4}, "b": {"value": 15}', {"a": {"value": 4}}),  # the last member of an unclosed object
        ('{"a": {"value": 15', None),  # 1500 was meant
        ('{"a": "I would vote', None),
        ('{"a": {"value": 4, "text": "I would vote}}', None),
        ('{"a": "He said "{yes}" and then', None),
        ('{"answers": {"a": 1, "b": 2}', None),
        ('so {"a": 4, and so on. Final: {"a": 5, "b": 3}', None),  # begun anew: neither is certain
        ('{"a": {"value": 3, "why": "becau', None),
        ('{"a": 1', None),
        ('{"a": [], "b": {"x]}\\', {"a": []}),  # cut within an escape
        ('{"a": {"b": 1, "c": 2, "d', None),  # parts of a cut answer are none
        ('{"answers": {"a": {"b": 1}, "b": {"x": 1', {"a": {"b": 1}}),
        ('<think>{"a": 0, </think>{"a": 1, "b": 2, "c', {"a": 1, "b": 2}),
    ],
)
def test_answers_that_break_off(text: str, expected: dict[str, object] | None) -> None:
    """Of an object that is not closed, only members that a comma ends are taken."""
    result = read_object(text, wanted=("a", "b"))
    assert result == expected or (expected is None and not set(result or {}) & {"a", "b"})


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 'I like } signs', 'b': 3}", "{'a': 'I like {x}} and", '{"a": "I said "no} way" to them"}',
        '{"a": 1 500}', '{"a": 50%}', '{"a": {"value": 4 = somewhat agree}}',
    ],
)  # fmt: skip
def test_a_repair_that_would_lose_words_or_digits_is_none(text: str) -> None:
    """json-repair makes "I like", "I said", 1, 50 and 4 of these."""
    assert read_object(text, wanted=("a", "b")) is None


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"), ("STOP", "stop"), ("end_turn", "stop"), ("eos_token", "stop"), ("tool_calls", "stop"),
        ("length", "length"), ("MAX_TOKENS", "length"), ("model_length", "length"),
        ("SAFETY", "content_filter"), ("PROHIBITED_CONTENT", "content_filter"), ("refusal", "refusal"),
        ("error", "other"), ("insufficient_system_resource", "other"), ("a word of 2031", "other"), (None, "other"),
        ("", "other"), (7, "other"),
    ],
)  # fmt: skip
def test_a_finish_reason_that_nobody_knows_is_not_taken_for_stop(reason: object, finish: str) -> None:
    """Reasons as named by OpenAI, Anthropic, Gemini, Mistral ("model_length") and DeepSeek (the resource)."""
    assert read_finish_reason(reason) == finish


def test_refusals_are_recognised_and_answers_are_none() -> None:
    for text in (
        "I'm sorry, but I can't help with that request.",
        "I cannot participate in this role-play.",
        "As an AI language model, I do not have opinions.",
        "<think>Is this allowed?</think>I'm unable to assist.",
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Als KI habe ich keine eigenen Ansichten.",
        "Ich möchte diese Fragen nicht beantworten.",
        "Das kann ich leider nicht tun.",
    ):
        assert looks_like_refusal(text), text
    for text in (
        "",
        '{"a": 1, "why": "I\'m sorry, but I can\'t help feeling angry."}',
        "The council took its time and that is why I am angry.",
        "Ich fühle mich nicht gut vertreten.",
        "a: 4, b: 5",
    ):
        assert not looks_like_refusal(text), text
