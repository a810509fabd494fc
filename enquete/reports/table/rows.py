"""The response table: one row per answer, and one `not_reached` row for every planned item without an answer."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pandas as pd

from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import PERSONA_COLUMNS
from enquete.nodes.planning import planned as planned_stages
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.table.row import ALWAYS, COLUMNS, FLAGS, INTEGERS, NUMBERS, TEXTS
from enquete.reports.table.stage import Columns, Stage
from enquete.simulations.join import join
from enquete.simulations.sources import one_line
from enquete.state.asking import Participant
from enquete.state.showing import as_cell

PLAIN = ("block",)
"""Columns of a plain table alone: `block`, the part of the instrument that an answer was given in, "" where there is none."""

LARGE = 50_000
"""Rows of a table in which columns of AS_ASKED are categories, a byte or four a row in place of eight, and other whole numbers
take four. In a small one each would cost its own handling."""
AS_ASKED = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "agent_id", "agent_name", "family",
    "dimension", "status", "choice", "chosen", "baseline", "model", "language", "elicitation", "distribution", "option_order",
    "prompt_hash", "instrument_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens", "block",
)  # fmt: skip
"""What says how was asked, and what nobody counts or calculates with."""
ROUND_BITS = 32


def responses(
    reading: RunReading, planned: Sequence[tuple[str, str]] | None = None, *, plain: bool = False
) -> pd.DataFrame:
    """The table of a run: all arms, COLUMNS first, then what its methodologies append.

    planned: (methodology, phase) of what the run asks; by default as its record says. T0 of an earlier run that is this
    run's baseline is included under that run's own run_id; an agent whose id changed since then bears its present id.
    plain: as analyses read it. Texts as objects and whole numbers as floats, unless none is missing: pandas holds them in
    four pieces, and choosing rows, done hundreds of times, costs a fifth. With the columns of PLAIN.
    """
    table = Table(_own_columns(reading))
    for columns in _rows(reading, planned_stages(reading.record) if planned is None else planned):
        table.add(columns)
    frame = table.frame()
    exact = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(TEXTS, "str")
    return frame if plain else frame.drop(columns=[*PLAIN]).astype(exact)


def _rows(reading: RunReading, planned: Sequence[tuple[str, str]]) -> Iterator[Columns]:
    """In the order of the run's methodologies and of the phases."""
    order = {name: position for position, name in enumerate(reading.record.methods)}
    folder, ids = reading.baseline_folder(), dict[str, str]()
    with ExitStack() as opened:
        stages: dict[tuple[str, str], RunReading] = {}
        if folder is not None:
            earlier = opened.enter_context(open_run(folder))
            stages = {(name, "T0"): earlier for name in _measured_before(earlier, reading)}
            ids = {then: now for then, now in join(earlier.population, reading.population).matched if then != now}
        stages |= dict.fromkeys(planned, reading)
        for name, phase in sorted(stages, key=lambda stage: (order[stage[0]], stage[1])):
            for columns in Stage(stages[name, phase], name, phase).rows():
                if phase == "T0" and ids:
                    columns["participant"] = [ids.get(who, who) for who in columns["participant"]]
                if phase == "T0" and reading.idle:
                    columns["baseline"] = ["reconstructed"] * len(columns["arm"])
                yield columns


def _measured_before(earlier: RunReading, reading: RunReading) -> list[str]:
    """What the earlier run asked at T0, of the methodologies that this run asks again."""
    names = [name for name in reading.record.methods if name in earlier.record.methods]
    return [name for name in names if "T0" in reading.methodology(name).phases]


def undetermined(reading: RunReading, name: str, phase: str) -> set[str]:
    """Who of the main arm will owe more than is known by now."""
    return Stage(reading, name, phase).undetermined()


def participants_table(population: Sequence[Participant]) -> pd.DataFrame:
    """Index participant id; columns agent_id, name, stakeholder_type."""
    rows = [(who.agent_id, who.name, who.stakeholder_type) for who in population]
    index = pd.Index([who.id for who in population], name="participant", dtype="str")
    people = pd.DataFrame(rows, columns=["agent_id", "name", "stakeholder_type"], index=index)
    return people.astype({"name": "str", "stakeholder_type": "str"})


def persona_columns(ledger: Ledger) -> pd.DataFrame | None:
    """Index participant; the columns of a personas file beyond who somebody is, as text. None: it had none, or was a simulation."""
    found = ledger.frozen("", "", "", PERSONA_COLUMNS)
    if not isinstance(found, dict):
        return None
    columns = pd.DataFrame.from_dict(found, orient="index", dtype="str")
    return columns.rename(columns=lambda name: as_cell(one_line(str(name))))


def _own_columns(reading: RunReading) -> list[str]:
    return list(dict.fromkeys(c for name in reading.record.methods for c in reading.methodology(name).answer_columns))


class Table:
    """A table that grows by batches of rows. A text is held once, however many rows have it."""

    def __init__(self, own: Sequence[str]):
        """own: columns that methodologies append; of any type."""
        self._names = tuple(dict.fromkeys([*COLUMNS, *PLAIN, *own]))
        self._columns: dict[str, _Texts | _Numbers | list[Any]] = {name: _column(name) for name in self._names}
        self._whose: tuple[str, ...] = ()
        self._group = 0  # stages and arms are numbered as they come
        self._places = array("q")  # of every row: group and round

    def add(self, rows: Columns) -> None:
        """Of one arm of a stage."""
        n, whose = len(rows["arm"]), tuple(rows[name][0] for name in ("methodology", "phase", "arm"))
        self._group += whose != self._whose
        self._whose = whose
        self._places.extend(self._group << ROUND_BITS | number for number in rows["round"])
        for name, column in self._columns.items():
            column.extend(rows.get(name) or [None] * n)

    def frame(self) -> pd.DataFrame:
        """What was added, each arm's rows by round, in columns of COLUMNS' types. The table is empty afterwards."""
        large = len(self._places) >= LARGE
        columns = {name: self._series(name, self._columns.pop(name), large=large) for name in self._names}
        frame = pd.DataFrame(columns, copy=not large)  # a large one would be held twice
        places = np.frombuffer(self._places, dtype=np.int64) if len(frame) else np.empty(0)
        in_order = bool((places[1:] >= places[:-1]).all())
        return frame if in_order else frame.iloc[places.argsort(kind="stable")].reset_index(drop=True)

    def _series(self, name: str, column: _Texts | _Numbers | list[Any], *, large: bool) -> pd.Series[Any]:
        if isinstance(column, list):
            return pd.Series(column)
        if large and name in AS_ASKED:
            return pd.Series(column.categories())
        values = column.filled()
        if name in FLAGS:
            values = values.astype("bool")
        elif name in ALWAYS:
            values = values.astype("int32" if large else "int64")
        elif isinstance(column, _Numbers) and not (large and name in INTEGERS):
            values = values.astype("float64", copy=False)
        found: pd.Series[Any] = pd.Series(values, dtype=values.dtype)
        return found


def _column(name: str) -> _Texts | _Numbers | list[Any]:
    if name in (*TEXTS, *PLAIN):
        return _Texts()
    return _Numbers() if name in (*INTEGERS, *NUMBERS, *FLAGS) else []


class _Texts(dict[str | None, int]):
    """A column of texts: each once, with its number, and the numbers of all rows in as few bytes as hold them."""

    def __init__(self) -> None:
        self._rows = array("B")

    def __missing__(self, text: str | None) -> int:
        self[text] = number = len(self)
        return number

    def extend(self, texts: Sequence[str | None]) -> None:
        numbers = [self[text] for text in texts]
        kind = np.min_scalar_type(len(self)).char
        if kind != self._rows.typecode:
            self._rows = array(kind, self._rows)
        self._rows.extend(array(kind, numbers))

    def filled(self) -> np.ndarray[Any, Any]:
        known: np.ndarray[Any, Any] = self._known()[_held(self._rows)]
        return known

    def categories(self) -> pd.Categorical[Any]:
        """Sorted and grouped as the texts are."""
        texts, places = np.unique(self._known(), return_inverse=True)
        codes = places.astype(np.min_scalar_type(-len(places) - 1))[_held(self._rows)]
        return pd.Categorical.from_codes(codes, pd.Index(texts, dtype=object))

    def _known(self) -> np.ndarray[Any, Any]:
        known = np.empty(len(self), dtype=object)
        known[:] = [text or "" for text in self]
        return known


class _Numbers:
    """A column of numbers, NaN where there is none, in four bytes where these hold them all."""

    def __init__(self) -> None:
        self._rows = array("f")

    def extend(self, numbers: Sequence[float | None]) -> None:
        exact = array("d", [np.nan if number is None else number for number in numbers])
        short = array("f", exact)
        if self._rows.typecode == "f" and not np.array_equal(_held(short), _held(exact), equal_nan=True):
            self._rows = array("d", self._rows)
        self._rows.extend(exact if self._rows.typecode == "d" else short)

    def filled(self) -> np.ndarray[Any, Any]:
        return _held(self._rows)

    def categories(self) -> pd.Categorical[Any]:
        return pd.Categorical(self.filled())


def _held(rows: array[Any]) -> np.ndarray[Any, Any]:
    """The same memory as NumPy sees it."""
    return np.frombuffer(rows, dtype=rows.typecode) if rows else np.empty(0, dtype=rows.typecode)
