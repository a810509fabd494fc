"""JSON of strangers: one kind of error, and no text that becomes a hundred times its size."""

import pytest

from enquete.state.regular_files import parse_json


@pytest.mark.parametrize("text", ["", "nope", "[" * 100_000, '{"a":' * 100_000, b"\xff\xff", "9" * 5000])
def test_whatever_is_wrong_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.timeout(10)
def test_a_text_of_nothing_but_brackets_is_counted_before_it_is_parsed() -> None:
    """Two million empty lists are four million parts and the comma between two of them makes it more."""
    for text in ("[" + "[]," * 2_000_000 + "[]]", b"[" + b"0," * 4_000_000 + b"0]"):
        with pytest.raises(ValueError, match="more than 4,000,000 parts"):
            parse_json(text)
    assert parse_json(b"[1, {}]") == [1, {}]
