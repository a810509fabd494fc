"""Results of a run's methodologies as its readers hold them: analyses bound to a language and to the run's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.reports.associations import ACROSS
from enquete.reports.associations import PRESENTATION as BETWEEN
from enquete.reports.context import TYPE_NAMES
from enquete.reports.declarations import Analysis, Column, Presentation, records, shaped
from enquete.reports.evaluation import Evaluation, Headline
from enquete.reports.key_findings import KeyFinding
from enquete.reports.page_findings import stated as told
from enquete.reports.run_reading import RunReading
from enquete.reports.table.items import Asked
from enquete.reports.views import Names, Results, dictionaries
from enquete.state.asking import Language


def results_of(
    own: Mapping[str, Evaluation], analyses: Mapping[str, Analysis], names: Names, language: Language
) -> dict[str, Results]:
    """Of every methodology that declares its results and was analysed, and of what joins them."""
    presentations = {name: one.presentation for name, one in own.items()} | {ACROSS: BETWEEN}
    return {
        name: Results(name, presentation, analyses[name], names, language)
        for name, presentation in presentations.items()
        if name in analyses
    }


def stated(
    declared: Mapping[str, Results],
) -> dict[str, list[KeyFinding]]:
    """Every finding by methodology, and under ACROSS those that join several."""
    return {name: list(told(one)) for name, one in declared.items()}


def names_of(
    reading: RunReading, asked: list[Asked] | tuple[Asked, ...] = (), titles: Mapping[str, str] | None = None
) -> Names:
    agents = {who.id: who.name for who in reading.population}
    return Names(agents, reading.type_names, {one.item_id: one.text(reading.language) for one in asked}, titles or {})


def from_json(presentation: Presentation, found: Mapping[str, JsonValue]) -> Analysis:
    """An analysis from results.json: without the tables that grow with the population, which are empty."""
    tables: dict[str, Any] = {name: found.get(name) or [] for name in presentation.tables}
    return shaped(presentation, tables, {name: found.get(name) for name in presentation.facts})


def read_results(
    methodology: str,
    presentation: Presentation,
    found: Mapping[str, JsonValue],
    language: Language,
    names: Names | None = None,
) -> Results:
    """As they were written, for readers that do not analyse again."""
    types = found.get(TYPE_NAMES)
    known = names or Names(groups={str(k): str(v) for k, v in types.items()} if isinstance(types, dict) else {})
    return Results(methodology, presentation, from_json(presentation, found), known, language)


class WholeResults(Mapping[str, JsonValue]):
    """What results.json has, and the tables that grow with the population: their rows are made when they are read."""

    def __init__(self, found: Mapping[str, JsonValue], tables: Mapping[str, pd.DataFrame]) -> None:
        self._found, self._tables = found, tables

    def __getitem__(self, name: str) -> JsonValue:
        return self._found[name] if name in self._found else records(self._tables[name])

    def __iter__(self) -> Iterator[str]:
        """Names of what results.json has: whoever copies all does not copy every agent."""
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def headlines(results: Results) -> Iterator[Headline]:
    """What replicates are compared on: every value of a declared column that is a verdict, by the row's key."""
    for table in results.presentation.tables.values():
        compared = [one for one in table.columns if one.replicates]
        for row in dictionaries(results.analysis.tables[table.name]) if compared else ():
            key = "/".join(str(row[name]) for name in table.key)
            for column in compared:
                said = row[column.name]
                about = ", ".join(results.cell(table.column(name), row) for name in table.key)
                yield Headline(
                    f"{results.methodology}.{table.name}.{column.name}.{key}", f"{table.name}.{column.name}", said,
                    None if said is None else results.cell(column, row), (about,), said is not None,
                )  # fmt: skip


def compared_columns(presentation: Presentation) -> dict[str, Column]:
    """By the kind of their headlines."""
    return {
        f"{table.name}.{one.name}": one
        for table in presentation.tables.values()
        for one in table.columns
        if one.replicates
    }
