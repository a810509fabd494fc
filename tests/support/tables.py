"""An analysis as tests read it: rows of a table, its views in a language, its findings after the correction."""

from __future__ import annotations

from typing import Any

from enquete.reports.declarations import Analysis, Presentation
from enquete.reports.findings import KeyFinding, corrected, stated_of
from enquete.reports.result_tables import rows_of
from enquete.reports.views import Names, Results


def rows(analysis: Analysis, table: str, **where: object) -> list[dict[str, Any]]:
    """The rows that have these values, missing as None."""
    every = rows_of(analysis.tables[table])
    return [row for row in every if all(row[name] == value for name, value in where.items())]


def row(analysis: Analysis, table: str, **where: object) -> dict[str, Any]:
    """The one row that has these values."""
    (only,) = rows(analysis, table, **where)
    return only


def results(
    presentation: Presentation, analysis: Analysis, language: str = "en", names: Names | None = None
) -> Results:
    """With the adjusted p of a report that has no other methodology."""
    final = corrected({"own": (presentation, analysis)})["own"]
    return Results("own", presentation, final, names or Names(), language)


def findings(presentation: Presentation, analysis: Analysis, language: str = "en") -> dict[str, KeyFinding]:
    """The first of each declared finding, by name."""
    told = list(stated_of(results(presentation, analysis, language)))
    return {finding.id.partition(".")[0]: finding for finding in reversed(told)}
