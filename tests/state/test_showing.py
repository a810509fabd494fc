"""Control characters are seen, and JSON is the same JSON."""

import json

import pytest

from enquete.state.untrusted_input import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [("Ünïcödé – „fine“ 👩‍🌾", "Ünïcödé – „fine“ 👩‍🌾"), ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31mred\x07", "\\u001b[31mred\\u0007"), ("nul\0 del\x7f c1\x9b", "nul\\u0000 del\\u007f c1\\u009b"),
        ("gpj.\u202eexe", "gpj.\\u202eexe")],
)  # fmt: skip
def test_what_acts_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text
