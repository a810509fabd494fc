"""Escaping and numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from enquete.reports.markdown import escape, number, p_value, quote, share

HOSTILE = "# Titel | <script>alert(1)</script> [x](http://evil) `code` *fett* _kursiv_ ![i](a) & ~~weg~~ $x$"


def test_what_others_wrote_stays_plain_text():
    text = escape(HOSTILE)
    assert text.startswith("\\# Titel \\|")
    assert "<script" not in text.replace("\\<", "")
    assert "http://" not in text
    assert "\\[x\\]" in text


def test_lists_rulers_and_numbering_at_the_start_are_escaped():
    assert escape("- a") == "\\- a"
    assert escape("1. a") == "1\\. a"
    assert escape("1.0") == "1.0"
    assert escape("+ b\n\n# c") == "\\+ b \\# c"


@given(st.text())
def test_escaped_text_is_one_line_without_a_bare_pipe(text):
    escaped = escape(text)
    assert len(escaped.splitlines()) <= 1
    assert "|" not in escaped.replace("\\|", "")


def test_numbers_as_the_language_writes_them():
    assert number(1.5, "de") == "1,50"
    assert number(-0.25, "en") == "−0.25"
    assert number(-0.001, "en") == "0.00"
    assert number(3, "de") == "3"
    assert number(None, "en") == "–"
    assert share(0.425, "de") == "42 %"
    assert share(None, "en") == "–"
    assert p_value(0.0004, "de") == "< 0,001"
    assert p_value(0.04, "en") == "0.040"


def test_quotes_follow_the_language():
    assert quote("ja", "A", "de") == "- A: „ja“"
    assert quote("yes", "A", "en") == "- A: “yes”"
