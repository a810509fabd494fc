"""YAML with line numbers, and everything PyYAML would let pass in silence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.instruments.source import MOST_BYTES, field_name, read_source
from enquete.state.errors import InstrumentError


def problems(text: str | bytes) -> tuple[str, ...]:
    """What is reported of a file, whether it stops the reading or not."""
    raw = text.encode() if isinstance(text, str) else text
    try:
        return tuple(message for _, message in read_source("my.yaml", raw).problems)
    except InstrumentError as error:
        return error.problems


def test_lines_names_and_marks_of_a_file() -> None:
    source = read_source("my.yaml", b"a: 1\nb:\n  - x\n  - c:\n      d: y\n")
    assert source.document == {"a": 1, "b": ["x", {"c": {"d": "y"}}]}
    # counted by hand in the text above
    assert [source.line(path) for path in [("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c", "d")]] == [1, 2, 3, 4, 5]
    assert source.line(("b", 1, "missing")) == 4, "a missing key is looked for in its part"
    assert field_name(("items", 3, "scale")) == "items[3].scale"
    source = read_source("my.yaml", "\ufefftitle: Fänge\r\nversion: x\r\n".encode())
    assert source.document == {"title": "Fänge", "version": "x"}
    assert source.line(("version",)) == 2
    source = read_source("my.yaml", b"a: no\nb: 1.10\nc: 'no'\nd: 2026-11-21\n")
    assert source.document == {"a": False, "b": 1.1, "c": "no", "d": "2026-11-21"}
    assert source.written == {("a",): "no", ("b",): "1.10"}
    source = read_source("my.yaml", b"a: &x {b: 1}\nc: *x\n")
    assert source.document == {"a": {"b": 1}, "c": {"b": 1}}
    assert source.problems == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "my.yaml:2: a: the key stands twice (first in line 1); remove one"),
        ("x:\n  b: 1\n  c: 2\n  b: 3\n", "my.yaml:4: x.b: the key stands twice (first in line 2); remove one"),
        ("a: 1\non: 2\n", "my.yaml:2: YAML reads the key on as true; put it in quotes: 'on'"),
        ("x:\n  no: 2\n", "my.yaml:2: x: YAML reads the key no as false; put it in quotes: 'no'"),
        ("1.5: 2\n", "my.yaml:1: YAML reads the key 1.5 as the number 1.5; put it in quotes: '1.5'"),
        ("a: 1\n? [b, c]\n: 2\n", "my.yaml:2: a key that is itself a list or mapping; a key is a word"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", "my.yaml:2: c: merge keys (<<) are not supported; write the keys out"),
        ("a: !!python/name:os.system x\n", "my.yaml:1: a: the tag !!python/name:os.system is not supported; remove it"),
        ("a: !mine {b: 1}\n", "my.yaml:1: a: the tag !mine is not supported; remove it"),
        ("a: !!int abc\n", "my.yaml:1: a: 'abc' is no int"),
        ("a: .nan\n", "my.yaml:1: a: '.nan' is no finite number of ordinary size"),
        ("a: 99999999999999999999\n", "my.yaml:1: a: '99999999999999999999' is no finite number of ordinary size"),
        ('a: "\\ud800"\n', "my.yaml:1: a: half of a surrogate pair; write the character itself"),
        ("a: &x\n  - *x\n", "my.yaml:1: a[0]: an alias (*name) that contains itself; write the part out"),
        ("a: b\n\tc: d\n", "my.yaml:2: a tab in the indentation; YAML wants spaces"),
        ("a: b: c\n", "my.yaml:1: a colon ends a text that is not in quotes: quote the text"),
        ("a: {de: Wer, warum?, en: Who, why?}\n", "my.yaml:1: inside { } a comma, a colon or a question mark"),
        ("a: @home\n", "my.yaml:1: a text that begins with @, % or ` has to be in quotes: quote the text"),
        ('a: "Quoted" and more\n', "my.yaml:1: the line goes on after its value has ended: quote the text"),
        ("a: ? why\n", "my.yaml:1: a text that begins with a question mark or a dash has to be in quotes"),
        ("a: 1\n---\nb: 2\n", "my.yaml:2: a second document begins here (---); one file holds one instrument"),
        ("a: [1, 2\nb: 3\n", "my.yaml:2: inside [ ] a comma"),
        ("a: *nothing\n", "my.yaml:1: a text that begins with * has to be in quotes: quote the text"),
        ('a: "\\UFFFFFFFF"\n', "my.yaml: an escape that is no character"),
        ("a: 1\nb: \x07\n", "my.yaml:2: a character that YAML does not allow (U+0007)"),
        ("", "my.yaml: the file is empty"),
        ("# only a comment\n", "my.yaml: the file is empty"),
        ("- a\n- b\n", "my.yaml:1: a list; an instrument is a mapping"),
        ("just text\n", "my.yaml:1: a single value; an instrument is a mapping"),
        (b"a: 1\nb: F\xe4nge\n", "my.yaml:2: byte 0xe4 is no UTF-8; save the file as UTF-8"),
        ("a: 1\n".encode("utf-16"), "my.yaml: encoded as UTF-16; save it as UTF-8"),
        (b"#" * (MOST_BYTES + 1), "my.yaml: 1000001 bytes; an instrument has at most 1000000"),
    ],
)
def test_problem_names_file_line_and_remedy(text: str | bytes, message: str) -> None:
    (problem,) = problems(text)
    assert problem.startswith(message)


@pytest.mark.parametrize("width", [2, 7, 9])
def test_alias_bombs_are_refused_at_once(width: int) -> None:
    levels = [f"l0: &l0 [{', '.join(['lol'] * width)}]"]
    levels += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * width)}]" for n in range(1, 20)]
    began = time.process_time()
    (problem,) = problems("\n".join(levels))
    assert "alias" in problem
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["a: " + "[" * 100_000, "a: [" + "1, " * 30_000 + "1]", "- " * 50_000 + "x"])
def test_depth_and_number_of_values_are_limited(text: str) -> None:
    (problem,) = problems(text)
    assert "too large or too deeply nested" in problem


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
)
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    assert isinstance(problems(raw), tuple)


@given(st.text(alphabet="ab01:-?&*!|>'\"[]{}#%@,.<=~ \n\t", max_size=60))
def test_any_yaml_punctuation_is_read_or_refused(text: str) -> None:
    assert isinstance(problems(text), tuple)
