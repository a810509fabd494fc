"""One verdict, the corrected one, everywhere: no table says more than page one does."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from enquete.methods.longitudinal.evaluation import PRESENTATION as CHANGE
from enquete.methods.registry import methodologies
from enquete.reports.analyses import BETWEEN, _correct, results_of
from enquete.reports.declarations import ADJUSTED, Presentation, shaped
from enquete.reports.evaluation import Evaluation, evaluation
from enquete.reports.findings import stated_of
from enquete.reports.gaps import NOTHING_CAUGHT
from enquete.reports.result_tables import LEVEL, ResultTables
from enquete.reports.views import Names

PRESENTATIONS = {each.name: evaluation(each).presentation for each in methodologies().values()} | {"across": BETWEEN}
NO_VERDICTS = {("scenario", "dimensions", "tied")}
"""Codes that pick a sentence and tell nothing of the test: whether several scenarios share the highest mean."""


def change(p: float, mean: float = 0.6) -> dict:
    return {
        "item": "trust", "scale": "1–5", "scale_place": 1, "measure": "agreement",
        "size": abs(mean) / 4, "n": 10, "n_total": 10, "n_changed": 6, "before": 3.0,
        "after": 3.0 + mean, "change": mean, "sd": 0.5, "low": 0.1, "high": 1.1, "outcome": "risen", "p": p,
        "test": "sign flips", "detectable": 0.8, "detectable_share": 0.2, "alone_low": 0.1,
        "alone_high": 1.1, "p_alone": 0.02, "rank_biserial": 0.8, "p_holm": 0.02,
    }  # fmt: skip


@pytest.mark.parametrize(("p", "outcome"), [(0.04, "unmoved"), (0.001, "risen")])
def test_a_change_that_page_one_does_not_find_is_not_risen_in_the_table(p: float, outcome: str) -> None:
    """Four questions share the page's error rate: p = .04 becomes 1 − .96^4 at least, or .16 by Holm, above .05;
    p = .001 stays below. So 11 of 50 pages said that nothing changed beside a table with “risen”."""
    declared = {f"other_{n}": (CHANGE, shaped(CHANGE, {"changes": [change(0.9)]}, {})) for n in range(3)}
    declared["longitudinal"] = CHANGE, shaped(CHANGE, {"changes": [change(p)]}, {"widest": 4})
    final = _correct(declared, {}, NOTHING_CAUGHT)["longitudinal"]
    (row,) = final.tables["changes"].to_dict("records")
    assert (row[ADJUSTED] < LEVEL) == (outcome == "risen")
    assert row["outcome"] == outcome
    of = results_of({"longitudinal": Evaluation(CHANGE, lambda *_: final)}, {"longitudinal": final}, Names(), "en")
    kinds = {finding.id.partition(".")[0]: finding.kind for finding in stated_of(of["longitudinal"])}
    assert kinds["drift"] == ("difference" if outcome == "risen" else "null")


@pytest.mark.parametrize("name", PRESENTATIONS)
def test_every_code_that_tells_the_outcome_of_a_test_gives_way_to_the_corrected_p(name: str) -> None:
    """A column that picks the sentence of a tested finding is its verdict."""
    presentation: Presentation = PRESENTATIONS[name]
    for finding in presentation.findings:
        if finding.p and finding.word and (name, finding.table, finding.word) not in NO_VERDICTS:
            column = presentation.tables[finding.table].column(finding.word)
            assert set(finding.says) <= set(column.unless_sure or {}), f"{name}.{finding.table}.{finding.word}"


def verdicts_that_stand(presentation: Presentation, found: dict) -> int:
    """Check that settling what is stored a second time changes nothing; return how many rows these tables have."""
    if presentation.settle is None:
        return 0
    stored = {name: found[name] for name in presentation.tables if name in found}
    analysis = shaped(presentation, stored, {name: found[name] for name in presentation.facts})
    rows = 0
    for name, table in presentation.settle(ResultTables(presentation, analysis)).items():
        pd.testing.assert_frame_equal(table, analysis.tables[name])
        rows += len(table) if ADJUSTED in table else 0
    return rows


@pytest.mark.parametrize("run", ["whole", "crowd"])
def test_no_stored_verdict_goes_beyond_its_corrected_p(run: str, request: pytest.FixtureRequest) -> None:
    """In what programs read: results.json, which MCP, HTTP and notebooks show."""
    results = request.getfixturevalue(run).results()
    checked = 0
    for name, found in results.items():
        checked += verdicts_that_stand(PRESENTATIONS[name], found)
        for table in PRESENTATIONS[name].tables.values():
            for column in table.columns:
                if column.unless_sure is None:
                    continue
                for row in found[table.name]:
                    checked += 1
                    if row[ADJUSTED] is not None and row[ADJUSTED] >= LEVEL:
                        assert row[column.name] not in column.unless_sure, json.dumps(row)
    assert checked >= 10
