"""Files of a package, each format by its own library: CSV, Parquet (arro3), SPSS .sav (ReadStat), .xlsx (openpyxl).

A large frame is written some rows at a time, but for SPSS, whose library takes it whole. Missing is an empty cell or
null; in .sav the answers' numbers have user-missing codes that say why. The libraries are imported when a format is
asked for.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.ledger.folders import draft_of
from enquete.locale import N_, tell
from enquete.reports.context import plain
from enquete.reports.files import MISSING, DataFile, Variable, descriptor, plain_name, resource
from enquete.reports.responses import AskedItem
from enquete.reports.run_reading import RunReading, read_result
from enquete.reports.writing import STATUS_MEANINGS, write_csv, write_json
from enquete.state.asking import Language
from enquete.state.data_formats import FORMATS, FileFormat
from enquete.state.errors import InputError
from enquete.state.visible_text import as_cell, visible

AT_ONCE = 20_000
"""Rows."""
YES_NO = {1: N_("yes"), 0: N_("no")}
AS_JSON = ("array", "any")
"""Types whose values are JSON in a cell."""


class FileWriter(ABC):
    """Takes one file after the other; `close` finishes what they have in common."""

    format: ClassVar[FileFormat]
    mediatype: ClassVar[str]

    def __init__(self, folder: Path, name: str, language: Language, *, bom: bool = False) -> None:
        """name: of the package."""
        self.folder, self.name, self.language, self.bom = folder, name, language, bom
        self.paths: list[Path] = []

    @abstractmethod
    def add(self, file: DataFile) -> dict[str, JsonValue]:
        """Writes it; how a Data Package describes it."""

    def close(self) -> None:  # noqa: B027 - most files have nothing in common
        ...

    def discard(self) -> None:  # noqa: B027 - nor leave they anything behind
        """Instead of `close`, where another file could not be written."""

    @contextmanager
    def _written(self, path: Path) -> Iterator[Path]:
        """A draft, which takes the file's place once it is whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = draft_of(path)
        try:
            yield draft
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        self.paths.append(path)

    def _described(self, file: DataFile) -> dict[str, JsonValue]:
        path = f"{file.path}.{self.format}"
        return {**resource(file, path), "format": self.format, "mediatype": self.mediatype, "encoding": "utf-8"}


class CsvWriter(FileWriter):
    """RFC 4180, UTF-8. bom: Excel then knows the encoding."""

    format = "csv"
    mediatype = "text/csv"

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        path = self.folder / f"{file.path}.csv"
        told: dict[str, Any] = {
            c.name: _plain(file.frame[c.name], c) for c in file.variables if c.type in (*AS_JSON, "boolean")
        }
        write_csv(path, file.frame.assign(**told) if told else file.frame, bom=self.bom)
        self.paths.append(path)
        return self._described(file)


def _plain(values: pd.Series[Any], column: Variable) -> list[str | None]:
    """Lists as JSON, flags as words that may be missing."""
    if column.type in AS_JSON:
        return [_listed(value) for value in values]
    words = {True: "true", False: "false"}
    return [words.get(value) for value in plain(values)]


def _listed(value: Any) -> str | None:
    """Of a missing one None."""
    return None if value is None or value != value else json.dumps(value, ensure_ascii=False)


def _pieces(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, max(len(frame), 1), AT_ONCE):
        yield frame.iloc[start : start + AT_ONCE]


class ParquetWriter(FileWriter):
    """Types as declared, lists as JSON; what a column is called and means stands in its field's metadata."""

    format = "parquet"
    mediatype = "application/vnd.apache.parquet"

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        from arro3 import io  # noqa: PLC0415 - for this format alone
        from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema  # noqa: PLC0415

        kinds = {"integer": DataType.int64(), "number": DataType.float64(), "boolean": DataType.bool()}
        types = [kinds.get(column.type, DataType.string()) for column in file.variables]
        fields = [
            Field(c.name, kind, metadata={"label": c.label, "description": c.means or c.label}, nullable=True)
            for c, kind in zip(file.variables, types, strict=True)
        ]
        schema = Schema(fields, metadata={"title": file.title, "description": file.means})

        def batches() -> Iterator[RecordBatch]:
            for piece in _pieces(file.frame):
                columns = [
                    Array(_values(piece[c.name], c), kind) for c, kind in zip(file.variables, types, strict=True)
                ]
                yield RecordBatch.from_arrays(columns, schema=schema)

        with self._written(self.folder / f"{file.path}.parquet") as draft:
            io.write_parquet(RecordBatchReader.from_batches(schema, batches()), draft, compression="snappy")
        return self._described(file)


def _values(values: pd.Series[Any], column: Variable) -> list[Any]:
    """Of any type but lists, which are JSON; None where there is none."""
    if column.type in AS_JSON:
        return [_listed(value) for value in values]
    if column.type == "string":
        return [value or None for value in _texts(values)]
    if column.type == "number":
        return [None if value != value else value for value in values.to_numpy(dtype=float, na_value=np.nan).tolist()]
    exact = values.astype("Int64") if column.type == "integer" else values.astype("boolean")
    return list(exact.astype(object).where(exact.notna(), None))


def _texts(values: pd.Series[Any]) -> list[str]:
    """An empty one where there is none."""
    return ["" if value is None or value is pd.NA or value != value else str(value) for value in values.tolist()]


class SavWriter(FileWriter):
    """SPSS: labels of variables and values in the package's language, codes as numbers with their words, why an answer
    is missing as user-missing codes."""

    format = "sav"
    mediatype = "application/x-spss-sav"
    LONGEST: ClassVar[int] = 32_767
    """Bytes of a text."""

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        import pyreadstat  # noqa: PLC0415 - for this format alone

        taken: set[str] = set()
        codes = self._missing_codes(file)
        columns: dict[str, Any] = {}
        fields: list[JsonValue] = []
        options: dict[str, dict[str, Any]] = {name: {} for name in ("labels", "values", "missing", "measure", "format")}
        described = self._described(file)
        entries = cast("dict[str, Any]", described["schema"])["fields"]
        for column, entry in zip(file.variables, entries, strict=True):
            name = plain_name(column.name, taken)
            reasons = file.reasons.get(column.name)
            columns[name], words = self._coded(file.frame[column.name], column, reasons, codes)
            options["labels"][name] = _within(column.label, 255)
            numeric = column.type in ("integer", "number")
            options["measure"][name] = "ordinal" if column.ordered else "scale" if numeric and not words else "nominal"
            if column.type == "number":
                options["format"][name] = f"F10.{2 if column.digits is None else column.digits}"
            elif column.type in ("integer", "boolean") or column.levels:
                options["format"][name] = "F8.0"
            if reasons is not None and column.type == "number":
                words |= {code: tell(STATUS_MEANINGS[status], self.language) for status, code in codes.items()}
                options["missing"][name] = [{"lo": min(codes.values()), "hi": max(codes.values())}]
            if words:
                options["values"][name] = {value: _within(word, 120) for value, word in words.items()}
            fields.append(self._field(dict(entry), name, column, words, codes if name in options["missing"] else {}))
        frame = pd.DataFrame(columns, copy=False)
        with self._written(self.folder / f"{file.path}.sav") as draft:
            pyreadstat.write_sav(
                frame, draft, file_label=_within(file.title, 64), column_labels=options["labels"], row_compress=True,
                variable_value_labels=options["values"], missing_ranges=options["missing"],
                variable_measure=options["measure"], variable_format=options["format"],
            )  # fmt: skip
        renamed = dict(zip((column.name for column in file.variables), columns, strict=True))
        schema: dict[str, Any] = {"fields": fields, "missingValues": [""]}
        if file.key:
            schema["primaryKey"] = [renamed[name] for name in file.key]
        return {**described, "schema": schema}

    @staticmethod
    def _missing_codes(file: DataFile) -> dict[str, int]:
        """-99 and upwards, or further from 0 where an answer lies there."""
        answers = (file.frame[name] for name in file.reasons)
        numbers = [values for values in answers if pd.api.types.is_numeric_dtype(values) and values.notna().any()]
        lowest = min((float(np.nanmin(values)) for values in numbers), default=0.0)
        base = 99
        while lowest <= -base + len(MISSING):
            base = base * 10 + 9
        return {status: -base + place for place, status in enumerate(reversed(MISSING))}

    def _coded(
        self, values: pd.Series[Any], column: Variable, reasons: pd.Series[Any] | None, codes: Mapping[str, int]
    ) -> tuple[Any, dict[Any, str]]:
        """The column as SPSS holds it, and words of its values."""
        if column.levels and column.type == "string":
            places = {level: float(place) for place, level in enumerate(column.levels, 1)}
            words: dict[Any, str] = {place: column.levels[level] for level, place in places.items()}
            return values.astype(object).map(places).to_numpy(dtype=float), words
        if column.type == "boolean":
            yes_no = {place: tell(word, self.language) for place, word in YES_NO.items()}
            return values.to_numpy(dtype=float, na_value=np.nan), yes_no
        if column.type in ("integer", "number"):
            numbers = values.to_numpy(dtype=float, na_value=np.nan)
            if reasons is not None:
                why = reasons.astype(object).map(codes).to_numpy(dtype=float)
                numbers = np.where(np.isnan(numbers), why, numbers)
            return numbers, dict(column.names)
        if column.type in AS_JSON:
            values = values.map(_listed)
        return _cut(values, self.LONGEST), {str(value): word for value, word in column.names.items()}

    @staticmethod
    def _field(
        entry: dict[str, JsonValue], name: str, column: Variable, words: Mapping[Any, str], codes: Mapping[str, int]
    ) -> dict[str, JsonValue]:
        """As it stands in this file: codes are numbers, flags are 0 and 1, lists are texts."""
        entry["name"] = name
        if column.levels or column.type == "boolean":
            entry["type"] = "integer"
            entry.pop("constraints", None)
        elif column.type in AS_JSON:
            entry["type"] = "string"
        if words:
            coded = [value for value in words if value not in codes.values()]
            entry["categories"] = [
                {"value": int(value) if isinstance(value, float) else value, "label": words[value]} for value in coded
            ]
        if column.levels:
            entry["codes"] = list(column.levels)
        if codes:
            entry["missingValues"] = ["", *(str(code) for code in codes.values())]
            entry["missingLabels"] = {str(code): status for status, code in codes.items()}
        return entry


def _cut(values: pd.Series[Any], most: int) -> pd.Categorical[Any]:
    """Texts that a program takes whole; each different one is looked at and held once."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, known = values.cat.codes.to_numpy(), [str(each) for each in values.cat.categories]
    else:
        codes, uniques = pd.factorize(np.array(_texts(values), dtype=object))
        known = uniques.tolist()
    texts, merged = pd.factorize(np.array([_within(visible(text), most) for text in known] or [""], dtype=object))
    places = np.where(codes < 0, -1, texts[codes]).astype(np.min_scalar_type(-len(merged) - 1))
    return pd.Categorical.from_codes(places, pd.Index(merged, dtype=object))  # as str each row would have its own text


def _within(text: str, most: int) -> str:
    """most: bytes."""
    if len(text) * 4 <= most or len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode(errors="ignore") + "…"


class XlsxWriter(FileWriter):
    """One workbook: a sheet with the codebook, then a sheet a file. A text is a text, never a formula."""

    format = "xlsx"
    mediatype = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    MOST_ROWS: ClassVar[int] = 1_048_575
    LONGEST: ClassVar[int] = 32_767
    """Characters of a cell."""

    def __init__(self, folder: Path, name: str, language: Language, *, bom: bool = False) -> None:
        from openpyxl import Workbook  # noqa: PLC0415 - for this format alone

        super().__init__(folder, name, language, bom=bom)
        self._book = Workbook(write_only=True)
        self._names: set[str] = set()
        self._codebook: list[list[str]] = []
        self._sheet_named(tell(N_("Codebook"), language))

    def add(self, file: DataFile) -> dict[str, JsonValue]:
        if len(file.frame) > self.MOST_ROWS:
            raise InputError(
                f"xlsx: {file.name} has {len(file.frame):,} rows and a sheet takes {self.MOST_ROWS:,}; choose parquet, "
                "csv or sav, or answers with a row an agent (wide)"
            )
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above

        sheet = self._sheet_named(file.name)
        empty = WriteOnlyCell(sheet)  # at the end of a row, which some readers would find short
        empty.number_format = "@"  # without one it is not written
        self._head(sheet, [column.name for column in file.variables], [column.label for column in file.variables])
        for piece in _pieces(file.frame):
            columns = [self._cells(sheet, piece[column.name], column) for column in file.variables]
            for row in zip(*columns, strict=True):
                sheet.append((*row[:-1], empty) if row[-1] is None else row)
        for c in file.variables:
            values = "; ".join(f"{value} = {word}" for value, word in {**c.levels, **c.names}.items())
            self._codebook.append([sheet.title, c.name, c.label, c.means or c.label, c.type, values])
        # the second is what frictionless 5 reads
        dialect: JsonValue = {"sheetName": sheet.title, "excel": {"sheet": sheet.title}}
        described = {**self._described(file), "path": f"{self.name}.xlsx", "dialect": dialect}
        return {key: value for key, value in described.items() if key != "encoding"}

    def close(self) -> None:
        heads = (N_("sheet"), N_("column"), N_("label"), N_("meaning"), N_("type"), N_("values"))
        sheet = self._book.worksheets[0]
        widths = ["x" * width for width in (18, 24, 40, 60, 8, 60)]
        self._head(sheet, [tell(head, self.language) for head in heads], widths)
        for row in self._codebook:
            sheet.append([self._text(sheet, cell) for cell in row])
        with self._written(self.folder / f"{self.name}.xlsx") as draft:
            self._book.save(draft)

    def discard(self) -> None:
        """Sheets are files until they are saved."""
        with suppress(OSError), TemporaryDirectory() as place:
            self._book.save(Path(place) / "discarded.xlsx")

    def _sheet_named(self, name: str) -> Any:
        """Thirty-one characters, none twice, case apart."""
        wanted, number = name[:31], 1
        while wanted.lower() in self._names:
            number += 1
            wanted = f"{name[:27]}~{number}"
        self._names.add(wanted.lower())
        return self._book.create_sheet(wanted)

    def _head(self, sheet: Any, names: Sequence[str], labels: Sequence[str]) -> None:
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above
        from openpyxl.styles import Font  # noqa: PLC0415
        from openpyxl.utils import get_column_letter  # noqa: PLC0415

        sheet.freeze_panes = "A2"
        head = []
        for place, (name, label) in enumerate(zip(names, labels, strict=True), 1):
            sheet.column_dimensions[get_column_letter(place)].width = min(max(len(name) + 2, len(label) // 2, 8), 60)
            cell = WriteOnlyCell(sheet, value=name)
            cell.data_type, cell.font = "s", Font(bold=True)
            head.append(cell)
        sheet.append(head)

    def _cells(self, sheet: Any, values: pd.Series[Any], column: Variable) -> Iterable[Any]:
        if column.type in AS_JSON:
            values = values.map(_listed)
        if column.type in ("string", *AS_JSON):
            texts = _texts(values)
            known = {text: self._text(sheet, text) if text else None for text in set(texts)}
            return [known[text] for text in texts]
        return _values(values, column)

    def _text(self, sheet: Any, text: str) -> Any:
        """As a cell of text; one that would run as a formula once somebody edits it is marked as quoted."""
        shown = visible(text)
        if len(shown) > self.LONGEST:
            shown = shown[: self.LONGEST - 1] + "…"
        if as_cell(shown) == shown and not shown.startswith("#"):  # "#N/A" would be an error
            return shown
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - see above

        cell = WriteOnlyCell(sheet, value=shown)
        cell.data_type, cell.quotePrefix = "s", True
        return cell


WRITERS: Mapping[str, type[FileWriter]] = {
    "csv": CsvWriter, "parquet": ParquetWriter, "sav": SavWriter, "xlsx": XlsxWriter
}  # fmt: skip


PACKAGE = "datapackage.json"
CODEBOOK = "codebook.json"
"""The Data Package of the files that every run has."""


def write_package(
    folder: Path, reading: RunReading, asked: Sequence[AskedItem], files: Iterable[DataFile],
    formats: Iterable[FileFormat], *,
    bom: bool = False,
) -> list[Path]:  # fmt: skip
    """Every file in every format, each in a folder of its own with its Data Package; what an earlier one left goes."""
    writers = [WRITERS[each](folder / each, reading.run, reading.language, bom=bom) for each in dict.fromkeys(formats)]
    resources: list[list[Mapping[str, JsonValue]]] = [[] for _ in writers]
    try:
        for file in files:
            for writer, described in zip(writers, resources, strict=True):
                described.append(writer.add(file))
    except BaseException:
        for writer in writers:
            writer.discard()
        raise
    written: list[Path] = []
    for writer, described in zip(writers, resources, strict=True):
        writer.close()
        written += _finished(writer, descriptor(reading, asked, described), PACKAGE)
    return written


def write_standing(
    folder: Path, reading: RunReading, asked: Sequence[AskedItem], files: Iterable[DataFile]
) -> dict[str, Any]:
    """The CSV files that every run has, with the codebook, which is their Data Package. Packages of other formats were
    made of what the run had before and go."""
    for each in FORMATS:
        remove_package(folder / each)
    writer = CsvWriter(folder, reading.run, reading.language)
    book = descriptor(reading, asked, [writer.add(file) for file in files])
    _finished(writer, book, CODEBOOK)
    return book


def _finished(writer: FileWriter, book: Mapping[str, Any], name: str) -> list[Path]:
    path = writer.folder / name
    for old in _described_in(path) - set(writer.paths):
        old.unlink(missing_ok=True)
    write_json(path, book)
    return [*dict.fromkeys(writer.paths), path]


def remove_package(folder: Path) -> None:
    """What was written there, and nothing else."""
    for old in [*_described_in(folder / PACKAGE), folder / PACKAGE]:
        old.unlink(missing_ok=True)
    for place in (*sorted(folder.glob("*/")), folder):
        with suppress(OSError):  # somebody keeps files of his own there, or there is none
            place.rmdir()


def _described_in(path: Path) -> set[Path]:
    """Files of a package; none below another folder."""
    resources = read_result(path).get("resources", [])
    named = {path.parent / str(entry.get("path", "")) for entry in resources if isinstance(entry, dict)}
    return {file for file in named if ".." not in file.parts and file.is_file()}
