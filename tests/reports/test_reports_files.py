"""CSV and JSON as other programs read them."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from enquete.reports.context import jsonable
from enquete.reports.declarations import TableRows
from enquete.reports.writing import replacing, write_csv, write_json, write_jsonl
from enquete.state.untrusted_input import visible

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_like)
def test_no_nan_reaches_json(value):
    json.loads(json.dumps(jsonable(value), allow_nan=False), parse_constant=pytest.fail)


def test_numpy_and_pandas_values_become_json():
    assert jsonable({"a": np.float64("nan"), "b": np.int64(3), "c": (pd.NA, np.bool_(True)), "d": math.inf}) == {
        "a": None, "b": 3, "c": [None, True], "d": None,
    }  # fmt: skip
    with pytest.raises(TypeError, match="object"):
        jsonable(object())


def test_csv_neutralises_formulas_and_leaves_numbers_alone(tmp_path):
    frame = pd.DataFrame(
        {"text": ["=1+1", "+49", "-x", "@sum", "\tx", 'ok, "so"\nneu', ""], "value": [-1.0, 2.5, np.nan, 3, 0, 1, 2]}
    ).astype({"text": "str"})
    write_csv(tmp_path / "a.csv", frame)
    raw = (tmp_path / "a.csv").read_bytes()
    rows = list(csv.reader(raw.decode("utf-8").splitlines(keepends=True)))
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'+49", "'-x", "'@sum", "'\tx", 'ok, "so"\nneu', ""]
    assert [row[1] for row in rows[1:]] == ["-1", "2.5", "", "3", "0", "1", "2"]
    assert raw.startswith(b"text,value\r\n")


def test_readers_see_the_old_file_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="TypeError: object"):
        write_json(path, {"a": object()})
    with pytest.raises(TypeError, match="not int"), replacing(path) as file:
        file.writelines(["half", 1])  # type: ignore[list-item]
    assert json.loads(path.read_text("utf-8")) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


@given(json_like)
def test_what_is_written_a_piece_at_a_time_reads_as_if_it_were_written_at_once(tmp_path_factory, value):
    """As pydantic's own indentation has it."""
    path = tmp_path_factory.getbasetemp() / "pieces.json"
    write_json(path, value)
    assert path.read_text("utf-8") == visible(to_json(value, indent=1, inf_nan_mode="null").decode()) + "\n"


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_rows_of_a_table_are_written_some_at_a_time(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(TableRows, "AT_ONCE", 2)
    frame = pd.DataFrame({"n": range(rows), "share": [float("nan")] * rows})
    write_json(tmp_path / "x.json", {"a": 1, "rows": TableRows(frame)})
    listed = [{"n": n, "share": None} for n in range(rows)]
    assert (tmp_path / "x.json").read_bytes() == to_json({"a": 1, "rows": listed}, indent=1) + b"\n"


def test_jsonl_is_one_object_a_line(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", iter([{"a": "ä\n"}, {"a": float("nan")}]))
    assert (tmp_path / "a.jsonl").read_text("utf-8") == '{"a":"ä\\n"}\n{"a":null}\n'


HIDDEN = (
    "=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff+1", "\n=1", "\r=1", "＝1", "＋1", "－1", "＠sum", "\u2060＝1",
)  # fmt: skip
HARMLESS = ("1 = 1", "", " ", "\u200b", "a-b", "„=“", "→ =1")


def test_a_formula_behind_what_nobody_sees_is_one_and_what_is_none_is_left_alone(tmp_path) -> None:
    write_csv(tmp_path / "t.csv", pd.DataFrame({"text": [*HIDDEN, *HARMLESS], "value": 1}))
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        told = [row[0] for row in csv.reader(file)][1:]
    assert told == [*(f"'{text}" for text in HIDDEN), *HARMLESS]
