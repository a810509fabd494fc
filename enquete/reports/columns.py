"""What the columns of result tables mean, read from `columns.yaml`: one entry a column, for every table that has it.

A methodology asks its `Glossary` for the columns of its tables by name. Labels and levels are English texts of the
message catalogue. A package that brings a methodology may bring a `columns.yaml` of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from enquete.instruments.pack import read_yaml
from enquete.reports.declarations import Column, Table

SHARED = "enquete.reports:columns.yaml"
FACTS = "facts"
"""Stands where a table's name does, for facts that are no rows of a table."""

ColumnFormat = Literal[
    "integer", "number", "share", "p", "text", "code", "flag", "reference", "of", "interval", "bounds", "list", "json",
]  # fmt: skip


class ColumnEntry(BaseModel):
    """One entry of `columns.yaml`; its head comment says what the fields mean."""

    model_config = ConfigDict(extra="forbid", strict=True)

    label: str = ""
    format: ColumnFormat = "text"
    digits: int | None = Field(default=None, ge=0)
    levels: dict[str, str] | None = None
    refers_to: str = ""
    parts: list[str] | None = Field(default=None, min_length=2, max_length=2)
    unit: str = ""
    means: str = ""

    @model_validator(mode="after")
    def _check_format(self) -> ColumnEntry:
        if self.format == "code" and not self.levels:
            raise ValueError("a code needs levels")
        if self.format == "reference" and not self.refers_to:
            raise ValueError("a reference needs refers_to")
        if (self.format in ("of", "interval", "bounds")) != (self.parts is not None):
            raise ValueError("of, interval and bounds have parts, and nothing else has")
        return self

    def as_column(self, name: str) -> Column:
        usual_digits = 0 if self.format == "share" else 2
        return Column(
            name=name, label=self.label, format=self.format,
            digits=usual_digits if self.digits is None else self.digits, levels=self.levels, to=self.refers_to,
            parts=None if self.parts is None else (self.parts[0], self.parts[1]), unit=self.unit, means=self.means,
        )  # fmt: skip


class ColumnsFile(BaseModel):
    """The whole of a `columns.yaml`, as it is checked by a test: every entry is read."""

    model_config = ConfigDict(extra="forbid")

    columns: dict[str, ColumnEntry] = {}
    scopes: dict[str, dict[str, ColumnEntry]] = {}

    def entries(self) -> Iterator[tuple[str, ColumnEntry]]:
        """Yield every entry with its place: "n", "delphi: rounds.n"."""
        yield from self.columns.items()
        for scope, entries in self.scopes.items():
            for name, entry in entries.items():
                yield f"{scope}: {name}", entry


@cache
def load_columns(source: str) -> Mapping[str, Any]:
    """Return a `columns.yaml` as it stands. Its entries are checked when they are asked for."""
    package, _, name = source.partition(":")
    return read_yaml(files(package).joinpath(name))


class Glossary:
    """The meaning of every column name within one methodology."""

    def __init__(self, methodology: str, own: str = "") -> None:
        """Read the shared glossary.

        Args:
            methodology: its name, below which `scopes` has what means something else here.
            own: a further glossary as `package:file`, for a methodology of another package; it wins over ours.
        """
        self.methodology = methodology
        self._sources = [source for source in (own, SHARED) if source]

    def column(self, name: str, table: str = "") -> Column:
        """Return the column of this name, as it is meant in this table.

        Raises:
            TypeError: no entry has the name, or its entry is not well formed.
        """
        for source in self._sources:
            loaded = load_columns(source)
            scope = loaded.get("scopes", {}).get(self.methodology, {})
            for entries, key in ((scope, f"{table}.{name}"), (scope, name), (loaded.get("columns", {}), name)):
                if key in entries:
                    return self._read(source, key, entries[key], name)
        where = f"{self.methodology}.{table}" if table else self.methodology
        raise TypeError(f"{where}: no entry for column {name!r} in {' or '.join(self._sources)}")

    def _read(self, source: str, key: str, entry: object, name: str) -> Column:
        try:
            return ColumnEntry.model_validate(entry).as_column(name)
        except ValidationError as error:
            problem = error.errors()[0]
            raise TypeError(f"{source}: {key}: {'.'.join(map(str, problem['loc']))} {problem['msg']}") from error

    def columns(self, names: str, table: str = "") -> tuple[Column, ...]:
        """Return several columns, named in one text: "theme round median"."""
        return tuple(self.column(name, table) for name in names.split())

    def facts(self, names: str) -> tuple[Column, ...]:
        """Return columns for single facts, which stand in no table."""
        return self.columns(names, FACTS)

    def table(
        self, name: str, title: str, *, key: str, columns: str, label: str = "", note: str = "",
        one_agent: bool = False, replicates: Sequence[str] = (), agents: Mapping[str, str] | Sequence[str] = (),
    ) -> Table:  # fmt: skip
        """Declare a result table.

        Args:
            name: of the table, its file and its entry in results.json.
            title: marked with N_.
            key: columns that tell rows apart, in one text.
            columns: all columns of the frame, in their order, in one text.
            label: the column by which references name a row.
            note: what a reader of the table must know; marked with N_, filled from the facts.
            one_agent: whether a row is one agent or one answer, so that the table grows with the population.
            replicates: columns on which further runs of the study are compared.
            agents: columns that join agents.csv; as a mapping, with the table in which groups are compared on them.
        """
        compared_in = dict(agents) if isinstance(agents, Mapping) else dict.fromkeys(agents, "")
        declared = [
            replace(
                column,
                replicates=column.name in replicates,
                agents=column.name in compared_in,
                compared_in=compared_in.get(column.name, ""),
            )
            for column in self.columns(columns, name)
        ]
        return Table(
            name=name, title=title, key=tuple(key.split()), columns=tuple(declared), label=label, note=note,
            one_agent=one_agent,
        )  # fmt: skip
