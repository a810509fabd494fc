"""In which formats a run gives its data away, and how answers stand in them."""

from __future__ import annotations

from typing import Literal, get_args

FileFormat = Literal["csv", "parquet", "sav", "xlsx"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
FigureFormat = Literal["svg", "png", "pdf"]
Layout = Literal["both", "long", "wide"]
"""A row an answer, a row an agent, or both."""
BOM = "CSV with the mark by which Excel knows UTF-8"
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
