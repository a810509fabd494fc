"""What a run found, small enough to be read first: ten sentences a methodology in the caller's language, numbers with
two decimals, names for ids. What agents said, and the report, stay in the run's language.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from enquete.analysis.diagnostics import NOT_USABLE
from enquete.interfaces.mcp.results import Entry
from enquete.locale import N_, tell
from enquete.reports.analyses import read_results
from enquete.reports.context import TYPE_NAMES
from enquete.reports.evaluation import Evaluation, evaluations
from enquete.reports.findings import stated_of, tested
from enquete.reports.run_reading import read_result
from enquete.reports.views import Names
from enquete.state.asking import Language, Spoken
from enquete.study.run import Run

CALLER: Spoken = "en"
LINES = 10
"""Of a methodology."""
LABELS, LABEL_CHARS = 24, 70
DECIMALS = 2


def leading_findings(run: Run, language: Language = CALLER) -> list[str]:
    """What must be known first; then page one's findings, one that joins methodologies as the report has it."""
    lines = cautions(run, language)
    for row in run.page_one.get("findings", ()):
        name = str(row["methodology"])
        stated = {} if language == run.record.language else _stated(run, name, run.results.get(name), language)
        lines.append(stated.get(str(row["id"]), str(row["text"])))
    return lines


_INTERIM = N_("Interim: the interviews are not finished.")
_NOT_USABLE = N_("Not usable: {methods}. What was not tested is no finding.")


def cautions(run: Run, language: Language) -> list[str]:
    """That it is not all, and which methodologies' data cannot be used."""
    page = run.page_one
    methods = ", ".join(str(row["methodology"]) for row in page.get("usable", ()) if row["standing"] == NOT_USABLE)
    lines = [tell(_INTERIM, language)] if page.get("interim") else []
    return lines + ([tell(_NOT_USABLE, language).format(methods=methods)] if methods else [])


def finding_lines(run: Run, methodology: str, result: JsonValue, language: Language = CALLER) -> list[str]:
    """What a methodology found, the most telling first."""
    return [*cautions(run, language), *_stated(run, methodology, result, language).values()][:LINES]


def _stated(run: Run, methodology: str, result: JsonValue, language: Language) -> dict[str, str]:
    """By id, from the findings as they were written."""
    evaluation = _own(run, methodology)
    if evaluation is None or not (isinstance(result, dict) and result):
        return {}
    stated = list(stated_of(read_results(methodology, evaluation.presentation, result, language)))
    not_usable = any(
        row["methodology"] == methodology and row["standing"] == NOT_USABLE for row in run.page_one.get("usable", ())
    )
    return {finding.id: finding.text for finding in (tested(stated) if not_usable else stated)}


def digest(run: Run, methodology: str, result: JsonValue, language: Language = CALLER) -> dict[str, JsonValue]:
    """The tables that the methodology declares for a program, in words where ids say nothing; {} for none."""
    evaluation = _own(run, methodology)
    if evaluation is None or not isinstance(result, dict):
        return {}
    types = result.get(TYPE_NAMES)
    groups = {str(kind): str(name) for kind, name in types.items()} if isinstance(types, dict) else {}
    names = Names(_agents(run), groups, _items(run, language))
    return read_results(methodology, evaluation.presentation, result, language, names).digest()


def _own(run: Run, methodology: str) -> Evaluation | None:
    dotted = {name: path for name, path in run.record.methods.items() if name == methodology}
    return evaluations(dotted)[methodology] if dotted else None


def rounded(value: JsonValue) -> JsonValue:
    """Two decimals; below 0.1 two digits that count, so that no p becomes 0."""
    if isinstance(value, float):
        return round(value, DECIMALS) if abs(value) >= 0.1 or value == 0 else float(f"{value:.{DECIMALS}g}")
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def labels(run: Run, shown: Iterable[Entry], language: Language = CALLER) -> dict[str, str]:
    """What the ids of agents and items on a page stand for."""
    known = {**_items(run, language), **_agents(run)}
    named = dict.fromkeys(
        word for entry in shown for word in (*entry.path.split("."), *_words(entry.value)) if word in known
    )
    return {word: known[word][:LABEL_CHARS] for word in list(named)[:LABELS]}


def _words(value: JsonValue) -> Iterator[str]:
    """Every text and key; the wording of an item that stands beside its id needs no label."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, dict):
        yield from value
        for name, inner in value.items():
            if not (name == "item" and "wording" in value):
                yield from _words(inner)


def _items(run: Run, language: Language) -> dict[str, str]:
    items = read_result(run.path / "exports" / "codebook.json").get("items", [])
    wordings = {item["item_id"]: item["wording"] for item in items if item.get("wording")}
    return {item: str(words.get(language) or next(iter(words.values()))) for item, words in wordings.items()}


def _agents(run: Run) -> dict[str, str]:
    file = run.path / "exports" / "agents.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return {row["participant"]: row["agent_name"] for row in csv.DictReader(opened)}
