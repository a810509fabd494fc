"""Diversity's tables: planted views and types, none in noise, figures by hand, changes by hand, sentences, charts and
files."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

import enquete
from enquete.analysis.qmethod import places
from enquete.instruments.load import load_shipped
from enquete.ledger.budget import Budget
from enquete.methods.diversity.evaluation import PRESENTATION, files, item_facts
from enquete.methods.diversity.findings import settle_verdicts
from enquete.methods.diversity.health import health
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings
from enquete.methods.diversity.procedure import planted
from enquete.methods.diversity.replicates import rename_types
from enquete.methods.diversity.results import analyse
from enquete.methods.diversity.sort_files import complete_sorts, pqmethod_dat, sorts_csv
from enquete.methods.roundtable.discussion import read_views
from enquete.models.metered_model import MeteredModel, Terms
from enquete.reports import charts as pictured
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, WholeResults, shaped
from enquete.reports.findings import MOST_WORDS, KeyFinding, stated_of
from enquete.reports.result_tables import ResultTables
from enquete.respondents.questions import violations
from enquete.respondents.synthetic import SyntheticRespondent
from enquete.state.asking import Reply
from tests.analysis.planted_sorts import continuum
from tests.methods.planted_people import population
from tests.methods.test_synthetic_diversity import blocks
from tests.support import charts
from tests.support.ledgers import opened
from tests.support.model_server import ModelServer
from tests.support.studies import personas, results_of
from tests.support.studies import rows as stored_rows
from tests.support.tables import findings, results, row, rows

INSTRUMENT = load_shipped(DiversityInstrument, "diversity")
STATEMENTS = [statement.statement_id for statement in INSTRUMENT.statements]
AXES = [axis.axis_id for axis in INSTRUMENT.likert_axes]
TRUTH = {who.id: planted(INSTRUMENT).archetype_of(who) for who in population(50)}


def table(agents: int, seed: int = 0, *, same: bool = False) -> pd.DataFrame:
    """The response table of a synthetic panel; `same`: everybody answers as the first does."""
    people = population(agents)
    made = [
        {"participant": who.id, "agent_name": who.name, "stakeholder_type": who.stakeholder_type,
            "item_id": answer.item, "status": "ok",
         "value": answer.value, "placed": None, "notes": "", "item_position": place, "option_order": None}
        for who in people
        for block in blocks(people[0] if same else who)
        for place, answer in enumerate(planted(INSTRUMENT)(people[0] if same else who, block, "de", seed), start=1)
    ]  # fmt: skip
    return pd.DataFrame(made)


def apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Of no groups: comparing them takes three quarters of the time."""
    return frame.assign(stakeholder_type="")


def find(frame: pd.DataFrame, **settings: Any) -> Analysis:
    chosen = DiversitySettings.model_validate(settings)
    return analyse(frame, INSTRUMENT, chosen, AnalysisContext(language="en"))


def random_panel(agents: int, seed: int) -> pd.DataFrame:
    """Every legal sort equally likely, and every place on an axis."""
    rng = np.random.default_rng([agents, seed])
    frame = table(agents)
    for _, part in frame.groupby("participant"):
        axes = part["item_id"].isin(AXES)
        frame.loc[part.index[~axes], "value"] = rng.permutation(places(INSTRUMENT.distribution))
        frame.loc[part.index[axes], "value"] = rng.integers(1, 8, axes.sum()).astype(float)
    return frame


def text_of(analysis: Analysis, language: str = "en") -> str:
    return "\n".join(results(PRESENTATION, analysis, language).at(place) for place in ("section", "appendix"))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(45)


@pytest.fixture(scope="module")
def panel(frame: pd.DataFrame) -> Analysis:
    return find(frame)


@pytest.fixture(scope="module")
def stated(panel: Analysis) -> dict[str, KeyFinding]:
    return findings(PRESENTATION, panel)


def outcomes(analysis: Analysis) -> dict[str, tuple[int, str]]:
    return {entry["what"]: (entry["found"], entry["outcome"]) for entry in rows(analysis, "structure")}


# --- views and types --------------------------------------------------------------------------------------------------


def test_planted_types_are_recovered_by_clusters_and_by_poles(panel: Analysis) -> None:
    """Four planted types; two of them oppose each other, so they are the poles of one of three factors."""
    analysis = panel
    assert outcomes(analysis) == {"views": (3, "views"), "types": (4, "types")}
    assert len(rows(analysis, "poles")) == 4
    for column in ("archetype", "q_factor"):
        known = [entry for entry in rows(analysis, "agents") if entry[column]]
        assert len(known) >= 41  # of 45
        assert adjusted_rand_score([TRUTH[who["participant"]] for who in known], [who[column] for who in known]) >= 0.9
    assert analysis.facts["ari_types"] >= 0.9


def test_noise_has_neither_types_nor_views_and_nothing_divides_or_joins_its_agents() -> None:
    analysis = find(random_panel(50, 0))
    assert outcomes(analysis) == {"views": (0, "no_views"), "types": (0, "chance")}
    assert not any(len(analysis.tables[name]) for name in ("views", "poles", "scores", "types", "loadings"))
    assert analysis.tables["items"]["verdict"].isna().all()
    stated = findings(PRESENTATION, analysis)
    assert set(stated) == {"no_views", "no_types", "groups"}
    assert {finding.kind for finding in stated.values()} == {"null"}
    text = text_of(analysis)
    assert "No shared views were found." in text
    assert "No types of agents were found." in text
    drawn = {picture.name.partition("/")[2] for picture in pictured.drawn(results(PRESENTATION, analysis), footer="")}
    assert drawn == {"plane", "places", "scree"}  # none of views


def test_of_a_gradient_it_is_said_that_it_can_be_divided_and_not_that_there_are_gaps() -> None:
    """One gradient behind all answers: k-means cuts it in two."""
    frame = apart(table(50))
    sorts, axes = continuum(50, 1, 0)
    for (_, part), sort, place in zip(frame.groupby("participant", sort=False), sorts, axes, strict=True):
        frame.loc[part.index, "value"] = [*sort, *place]
    analysis = find(frame)
    assert outcomes(analysis)["types"] == (2, "types")
    assert outcomes(analysis)["views"][0] >= 1
    assert "can be divided into 2 types" in findings(PRESENTATION, analysis)["types"].text
    assert "that shows no gaps between types" in text_of(analysis)


def test_types_are_described_by_what_sets_them_apart_from_every_other(panel: Analysis) -> None:
    """By plan of the population: five agents of each of nine types, so 15 stewards and 10 of each other archetype."""
    assert [(record["type"], record["n"], record["n_total"]) for record in rows(panel, "types")] == [
        ("A", 15, 45), ("B", 10, 45), ("C", 10, 45), ("D", 10, 45),
    ]  # fmt: skip
    shares = {
        record["group"]: (record["n"], record["n_group"], record["share"])
        for record in rows(panel, "type_groups", type="A")
    }
    assert {kind for kind, counts in shares.items() if counts == (5, 5, 1.0)} == {
        "Küstenfischer", "Recreational angler", "Gemeinde",
    }  # fmt: skip
    assert sum(n for n, *_ in shares.values()) == 15
    for entry in rows(panel, "type_items", part="sort"):
        others = [
            each["place"] for each in rows(panel, "type_items", item=entry["item"]) if each["type"] != entry["type"]
        ]
        assert entry["level"] in (None, 0.01, 0.05)
        assert entry["direction"] != "above" or entry["place"] >= max(others)
        assert entry["direction"] != "below" or entry["place"] <= min(others)
    for entry in rows(panel, "types"):
        pro, con = (row(panel, "type_items", type=entry["type"], item=entry[end]) for end in ("pro", "con"))
        assert pro["difference"] > 0 > con["difference"]
        assert entry["members"] == [each["participant"] for each in rows(panel, "agents", archetype=entry["type"])]
    assert [record["k"] for record in rows(panel, "types_tried")] == list(range(2, 9))


def test_a_type_of_few_agents_is_counted_and_not_described() -> None:
    """Three agents of each of nine stakeholder types, of which the first alone is an archetype's: see the population's
    plan."""
    analysis = find(table(13))
    for entry in rows(analysis, "types"):
        described = bool(rows(analysis, "type_items", type=entry["type"]))
        assert described == (entry["n"] >= 5)
        assert described or (entry["pro"], entry["con"]) == (None, None)


def test_a_view_has_scores_for_every_statement_and_every_agent_its_view_by_its_loadings(panel: Analysis) -> None:
    for entry in rows(panel, "views"):
        scores = rows(panel, "scores", view=entry["view"])
        assert [each["item"] for each in scores] == STATEMENTS
        assert sorted(each["place"] for each in scores) == places(INSTRUMENT.distribution).tolist()
        # Spearman–Brown: 0.8p/(1 + 0.8(p − 1)); SE = √(1 − r)
        p = entry["n_held"] + entry["n_reversed"]
        assert entry["reliability"] == pytest.approx(0.8 * p / (1 + 0.8 * (p - 1)), abs=1e-6)
        assert entry["se"] == pytest.approx((1 - entry["reliability"]) ** 0.5, abs=1e-5)
        assert {each["level"] for each in scores if each["direction"]} <= {0.01, 0.05}
    assert panel.facts["threshold"] == pytest.approx(0.4, abs=1e-3)  # 1.96/√24
    assert [record["above"] for record in rows(panel, "parallel")][:4] == [True, True, True, False]
    (bipolar,) = [record["view"] for record in rows(panel, "views") if record["n_reversed"]]
    for entry in rows(panel, "agents"):
        loadings = rows(panel, "loadings", participant=entry["participant"])
        assert len(loadings) == 3
        if entry["q_factor"] in (f"{bipolar}+", f"{bipolar}-"):
            (loading,) = [each["loading"] for each in loadings if each["view"] == bipolar]
            assert (loading < 0) == entry["q_factor"].endswith("-")
    counts = {record["pole"]: record["holders"] for record in rows(panel, "poles")}
    assert panel.tables["agents"]["q_factor"].value_counts().to_dict() == counts
    assert sum(record["explained"] for record in rows(panel, "views")) <= 1  # poles of a factor share its variance


# --- answers ----------------------------------------------------------------------------------------------------------


def test_figures_of_a_statement_and_components_are_those_of_the_answers(frame: pd.DataFrame, panel: Analysis) -> None:
    values = frame.loc[frame["item_id"].eq("monitoring"), "value"]
    item = row(panel, "items", item="monitoring")
    assert (item["mean"], item["sd"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)), abs=1e-6)
    assert (item["n_above"], item["n_below"], item["n"], item["n_total"]) == (
        (values > 0).sum(), (values < 0).sum(), 45, 45,
    )  # fmt: skip
    first = rows(panel, "component_loadings", component=1)
    assert len(first) == 30
    assert all(abs(entry["loading"]) <= 1 for entry in first)
    explained = [entry["explained"] for entry in rows(panel, "components")]
    assert panel.facts["first_two"] == pytest.approx(sum(explained[:2]), abs=1e-5)
    assert panel.facts["n_components"] >= 2
    heaviest = row(panel, "components", component=1)["heaviest"]
    assert heaviest[0] == max(first, key=lambda entry: abs(entry["loading"]))["item"]


@pytest.mark.parametrize(("agents", "same", "views"), [(1, False, "few"), (2, False, "no_views"), (12, True, "views")])
def test_few_or_equal_agents_give_no_nan_and_a_plain_word(agents: int, same: bool, views: str) -> None:
    analysis = find(table(agents, same=same))
    assert outcomes(analysis)["types"][1] in ("few", "alike")
    assert outcomes(analysis)["views"][1] == ("one_view" if same else views)
    for language, word in (("de", "gleich geantwortet"), ("en", "alike")):
        text = text_of(analysis, language)
        assert "nan" not in text.lower()
        assert "None" not in text
        assert any(word in flag for flag in results(PRESENTATION, analysis, language).flags()) == same


def test_gaps_and_illegal_sorts_are_left_out_and_counted() -> None:
    frame = apart(table(20))
    first, second, third = (f"agent:{i}" for i in range(3))
    frame.loc[frame["participant"].eq(first) & frame["item_id"].eq("monitoring"), ["status", "value"]] = [
        "refused", np.nan]  # fmt: skip
    frame.loc[frame["participant"].eq(second) & frame["item_id"].eq("local_eu"), ["status", "value"]] = [
        "invalid", np.nan]  # fmt: skip
    frame.loc[frame["participant"].eq(third) & frame["item_id"].isin(["monitoring", "nutrients"]), "value"] = 3.0
    analysis = find(frame)
    assert [analysis.facts[name] for name in ("n_total", "n", "n_sorts")] == [20, 17, 18]
    # who placed nothing on an axis has a view all the same; who left a statement out has neither
    no_sort, no_axes = rows(analysis, "agents")[:2]
    assert (no_axes["archetype"], no_axes["probability"], no_axes["q_factor"] is None) == (None, None, False)
    assert (no_sort["archetype"], no_sort["q_factor"]) == (None, None)
    assert [(entry["participant"], entry["reason"]) for entry in rows(analysis, "left_out")] == [
        (first, "sort_incomplete"), (second, "axes_incomplete"), (third, "off_grid"),
    ]  # fmt: skip
    assert row(analysis, "participation", part="sort") == {
        "part": "sort", "n_responded": 479, "n_planned": 480, "n_complete": 19, "n_total": 20,
    }  # fmt: skip
    assert "479 / 480" in text_of(analysis)


def test_moved_and_changed_placements_are_told_apart() -> None:
    """By hand: one statement of agent 0 was put in 2 and moved; one of agent 1 was put in 1 and, asked again, in its
    place."""
    frame = table(10)
    zero = frame["participant"].eq("agent:0") & frame["item_id"].eq("monitoring")
    chosen = frame["participant"].eq("agent:1") & frame["item_id"].eq("nutrients")
    placed = int(frame.loc[chosen, "value"].iloc[0])
    frame.loc[zero, ["status", "placed"]] = ["repaired", "[2]"]
    frame.loc[chosen, "placed"] = json.dumps([placed - 1, placed])
    analysis = find(frame)
    facts = ("n_moved", "placements", "agents_moved", "n_again", "agents_again")
    assert [analysis.facts[name] for name in facts] == [1, 240, 1, 1, 1]
    assert analysis.facts["share_moved"] == pytest.approx(1 / 240, abs=1e-6)
    assert [(each["moved"], each["again"]) for each in rows(analysis, "agents")[:3]] == [(1, 0), (0, 1), (0, 0)]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_flags_are_changed_by_hand(panel: Analysis) -> None:
    (first,) = [int(entry["view"]) for entry in rows(panel, "loadings", participant="agent:0", defines=True)]
    (second,) = [int(entry["view"]) for entry in rows(panel, "loadings", participant="agent:1", defines=True)]
    other = next(view for view in (1, 2, 3) if view not in (first, second))
    analysis = find(apart(table(45)), flags={"remove": {"agent:0": [first]}, "add": {"agent:1": [other]}})
    assert not rows(analysis, "loadings", participant="agent:0", defines=True)
    assert len(rows(analysis, "loadings", participant="agent:1", defines=True)) == 2
    # who defines none or several stands for none
    assert [entry["q_factor"] for entry in rows(analysis, "agents")[:2]] == [None, None]
    assert "1 flag added, 1 removed" in text_of(analysis)


@pytest.mark.parametrize(
    ("agents", "settings", "words"),
    [
        (20, {"flags": {"add": {"agent:99": [1], "agent:0": [1, 2, 3]}, "remove": {"agent:0": [9]}}},
         ["add.agent:99 is not one of the 20 participants", "there is no shared view 9; there are 1 to",
          "its sort defines shared view"]),
        # twelve agents cannot span sixteen factors
        (12, {"n_factors": 16}, ["12 sorts do not give the 16 shared views"]),
        (1, {"flags": {"add": {"agent:0": [1]}}}, ["there are no shared views"]),
    ],
)  # fmt: skip
def test_a_setting_that_does_not_fit_is_refused_in_words_and_the_automatic_solution_stands(
    agents: int, settings: dict[str, Any], words: list[str]
) -> None:
    people = apart(table(agents))
    analysis = find(people, **settings)
    flags, text = list(results(PRESENTATION, analysis).flags()), text_of(analysis)
    assert all(any(word in flag for flag in flags) and word in text for word in words)
    pd.testing.assert_frame_equal(analysis.tables["loadings"], find(people).tables["loadings"])
    assert analysis.facts["flags_added"] == 0


def test_the_number_of_views_can_be_set(frame: pd.DataFrame) -> None:
    analysis = find(apart(frame), n_factors=2)
    assert outcomes(analysis)["views"] == (2, "asked")
    assert analysis.facts["parallel_views"] == 3
    stated = findings(PRESENTATION, analysis)
    assert (stated["views_set"].kind, "views" in stated) == ("position", False)


WRONG: list[dict[str, Any]] = [
    {"extraction": "pca"}, {"n_factors": 0}, {"n_factors": 17}, {"flags": {"add": {"a": [0]}}}, {"flags": {"ad": {}}},
    {"flags": {"add": {"a": [1]}, "remove": {"a": [2, 1]}}},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_settings_that_can_never_fit_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DiversitySettings.model_validate(wrong)


# --- sentences --------------------------------------------------------------------------------------------------------


def sorts(frame: pd.DataFrame, items: Sequence[str]) -> np.ndarray[Any, Any]:
    return frame.pivot(index="participant", columns="item_id", values="value")[list(items)].to_numpy(dtype=float)


def test_sentences_are_those_of_the_answers(
    frame: pd.DataFrame, stated: dict[str, KeyFinding], panel: Analysis
) -> None:
    eigenvalues = np.sort(np.linalg.eigvalsh(np.corrcoef(sorts(frame, STATEMENTS))))[::-1]
    finding = stated["views"]
    views = int(finding.numbers["found"])
    # The last is well above what sorts dealt at random give at most (about 5 of 45), the next well below.
    assert eigenvalues[views - 1] > 6 > 4 > eigenvalues[views]
    assert finding.numbers["explained"] == pytest.approx(eigenvalues[:views].sum() / 45, abs=1e-5)
    assert (finding.kind, finding.p is not None and finding.p < 0.01) == ("difference", True)
    # Its figures are counted again from the answers by tests/reports/recount.py.
    finding, poles = stated["largest"], rows(panel, "poles")
    largest = max(poles, key=lambda pole: pole["holders"])
    assert (finding.numbers["holders"], finding.items) == (largest["holders"], (largest["top"],))
    assert [pole["standing"] for pole in poles].count("smaller") == len(poles) - 1
    assert "reversed by" not in finding.text
    apart = stated["divides"]
    values = frame.loc[frame["item_id"].eq(apart.items[0]), "value"]
    assert (apart.numbers["n_above"], apart.numbers["n_below"]) == ((values > 0).sum(), (values < 0).sum())
    z = panel.tables["scores"].pivot(index="item", columns="view", values="z").var(axis=1, ddof=0)
    assert apart.items[0] == z.idxmax()
    common = stated["common"]
    values = frame.loc[frame["item_id"].eq(common.items[0]), "value"]
    pooled = np.var(sorts(frame, STATEMENTS), axis=0, ddof=1).mean()
    moderated = ((44 * values.var() + 2 * pooled) / 46) ** 0.5  # see analysis/inference.py, `selected_intervals`
    reach = stats.t.ppf(1 - 0.025 / 24, 44) * moderated / 45**0.5
    assert (common.low, common.high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=1e-5)
    assert row(panel, "items", item=common.items[0])["verdict"] == "consensus"
    # Planted are four; Ward's method cut at as many leaves clusters that are far more alike within than between.
    parts = [part - part.mean(axis=0) for part in (sorts(frame, STATEMENTS), sorts(frame, AXES))]
    tree = linkage(np.hstack([part / np.linalg.svd(part, compute_uv=False)[0] for part in parts]), "ward")
    assert stated["types"].numbers["found"] == len(set(fcluster(tree, 4, "maxclust"))) == 4
    assert tree[-3, 2] > 2 * tree[-4, 2]  # the step from four clusters to three is far longer than the one before


def test_sentences_are_short_and_few_agents_have_none(panel: Analysis) -> None:
    assert not [finding for agents in (1, 4) for finding in findings(PRESENTATION, find(table(agents)), "en")]
    for language in ("de", "en"):
        assert all(
            len(finding.text.split()) <= MOST_WORDS for finding in findings(PRESENTATION, panel, language).values()
        )


# --- what is read of the tables ---------------------------------------------------------------------------------------


def partial_panel() -> pd.DataFrame:
    """Twelve agents, of whom all but two broke off after half of the sort."""
    frame = apart(table(12))
    frame.loc[~frame["participant"].isin(["agent:0", "agent:1"]) & (frame["item_position"] > 12), "value"] = np.nan
    return frame


RUNS = {
    "empty": lambda: shaped(PRESENTATION, {}, {}),
    "partial": lambda: find(partial_panel()),
    "small": lambda: find(apart(table(20)), flags={"add": {"agent:99": [1]}}),
}


@pytest.mark.parametrize("run", RUNS)
def test_section_appendix_and_warnings_of_any_run_can_be_told_in_both_languages(run: str) -> None:
    """Templates are strict: a name that is not there is an error."""
    analysis = RUNS[run]()
    told = {language: results(PRESENTATION, analysis, language) for language in ("en", "de")}
    for read in told.values():
        texts = [read.at("section"), read.at("appendix"), *read.flags(), *(text for _, text in read.remembered())]
        texts += [finding.text for finding in stated_of(read)]
        assert not [text for text in texts if "{" in text]
        assert not {"None", "nan", "<NA>"} & set(" ".join(texts).replace("|", " ").split())
        assert list(read.digest()["tables"]) == ["structure", "views", "types", "items", "group_tests"]
    english, german = ([read.at(place).splitlines() for place in ("section", "appendix")] for read in told.values())
    assert [len(lines) for lines in english] == [len(lines) for lines in german]
    assert english != german


def test_a_setting_that_was_refused_stands_in_the_appendix_and_among_the_warnings() -> None:
    read = results(PRESENTATION, RUNS["small"]())
    (warning,) = [flag for flag in read.flags() if "add.agent:99" in flag]
    heading, sentence = "### Settings that did not fit\n\n- ", warning.replace("@", "&#64;")
    assert heading + sentence in read.at("appendix")


def test_types_that_the_corrected_test_does_not_bear_out_are_not_sure(panel: Analysis) -> None:
    """Adjusted p by hand: below the level for views, not below it for types."""
    structure = panel.tables["structure"].assign(p_adjusted=[0.001, 0.05])
    tables = ResultTables(PRESENTATION, replace(panel, tables={**panel.tables, "structure": structure}))
    assert settle_verdicts(tables)["structure"]["outcome"].tolist() == ["views", "not_sure"]
    assert tables["structure"]["outcome"].tolist() == ["views", "types"]


# --- charts, files, replicates ----------------------------------------------------------------------------------------


def test_charts_can_be_read_and_lead_to_answers(panel: Analysis) -> None:
    drawn = pictured.drawn(results(PRESENTATION, panel), footer="")
    pictures = {chart.name.partition("/")[2]: chart for chart in drawn}
    assert set(pictures) == {"plane", "statements", "places", "scree", "groups"}
    for name, picture in pictures.items():
        assert charts.illegible(picture.svg()) == [], name
    led = {name: {mark.link for mark in chart.marks()} for name, chart in pictures.items()}
    assert len(led["plane"]) == 45
    assert pictured.answers("own", participant="agent:0") in led["plane"]
    assert len(led["statements"]) == len(led["places"]) == len(STATEMENTS)


def test_of_many_agents_some_are_drawn_and_the_middles_are_those_of_all(
    panel: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plane() -> pictured.Spec:
        return next(
            picture
            for picture in pictured.drawn(results(PRESENTATION, panel), footer="")
            if picture.name == "own/plane"
        ).spec

    every = plane()
    monkeypatch.setattr("enquete.methods.diversity.charts.MOST_DRAWN", 10)
    some = plane()
    (dots, middles), (all_dots, all_middles) = (list(spec["datasets"].values()) for spec in (some, every))
    assert len(dots) == 10
    assert all(dot in all_dots for dot in dots)
    assert middles == all_middles
    assert "10 of 45 shown" in " ".join(some["title"]["subtitle"])


def test_a_replicates_types_bear_the_names_of_those_they_share_most_members_with(panel: Analysis) -> None:
    """A ↔ B and so on renamed by hand; a fifth type without a match keeps a name of its own."""
    names = dict(zip("ABCD", "CDBA", strict=True))
    tables = {
        name: panel.tables[name].assign(**{column: panel.tables[name][column].map(names)})
        for name, column in (("agents", "archetype"), ("types", "type"), ("type_items", "type"))
    }
    renamed = rename_types(replace(panel, tables={**panel.tables, **tables}), panel)
    pd.testing.assert_frame_equal(renamed.tables["agents"], panel.tables["agents"])
    assert [entry["pro"] for entry in rows(renamed, "types", type="A")] == [row(panel, "types", type="A")["pro"]]
    agents = panel.tables["agents"]
    fewer = replace(
        panel,
        tables={
            **panel.tables, "agents": agents.assign(archetype=agents["archetype"].where(agents["archetype"].ne("D")))},
    )  # fmt: skip
    assert sorted(rows_["type"] for rows_ in rows(rename_types(panel, fewer), "types")) == ["A", "B", "C", "D′"]


def test_files_stand_on_their_own(panel: Analysis, frame: pd.DataFrame, tmp_path: Path) -> None:
    data = {"arms": ["main"], "partial": False, **panel.as_json(PRESENTATION, one_agent=True)}
    written = files(WholeResults(data, {}), frame, "T1")
    assert set(written) == {"responses.jsonl", "typology.json", "pca.json", "qmethod.json", "sorts.csv", "pqmethod.dat"}
    assert sum(len(line["answers"]) for line in written["responses.jsonl"]) == 45 * 30
    q: Any = written["qmethod.json"]
    assert [item["item"] for item in q["items"] if item["part"] == "sort"] == STATEMENTS
    (tmp_path / "qmethod.json").write_text(json.dumps(q))
    loadings = read_views(str(tmp_path / "qmethod.json"))  # which a roundtable seats groups by
    assert list(loadings) == [f"agent:{i}" for i in range(45)]
    assert {len(loading) for loading in loadings.values()} == {3}
    first = next(iter(health(panel, frame, {})))[1]
    assert (first.name, first.value) == ("two_components", panel.facts["first_two"])
    sort, axis = item_facts("monitoring", INSTRUMENT), item_facts("local_eu", INSTRUMENT)
    assert (sort.family, sort.scale_min, sort.scale_max) == ("sort", -3, 3)
    assert (axis.family, axis.scale_min, axis.scale_max) == ("axis", 1, 7)
    assert item_facts("unknown", INSTRUMENT).family == ""


def test_sorts_are_written_for_pqmethod_and_as_a_plain_table() -> None:
    """Columns as R's qmethod reads them (import.pqmethod): sorts in 4–6, statements in 7–9, then 10 + 2·24
    characters."""
    frame = table(12)
    frame.loc[frame["participant"].eq("agent:3") & frame["item_id"].eq("monitoring"), "value"] = np.nan
    sort = complete_sorts(frame, INSTRUMENT.distribution, STATEMENTS)
    text = pqmethod_dat(sort, INSTRUMENT.distribution, "Fischerei – ü")
    head, grid, *lines = text.splitlines()
    assert (head[:3], int(head[3:6]), int(head[6:9]), head[10:]) == ("  0", 11, 24, "Fischerei ? ?")
    assert [int(grid[i : i + 3]) for i in range(0, len(grid), 3)] == [-3, 3, 2, 3, 4, 6, 4, 3, 2]
    assert {len(line) for line in lines} == {10 + 2 * 24}
    assert [[int(line[i : i + 2]) for i in range(10, 58, 2)] for line in lines] == sort.to_numpy().tolist()
    table_ = [line.split(",") for line in sorts_csv(sort).splitlines()]
    assert table_[0] == ["statement", *sort.index]
    assert [line[0] for line in table_[1:]] == STATEMENTS
    assert "agent:3" not in table_[0]


@pytest.mark.parametrize(("n", "lines"), [(0, 2), (999, 1001), (1000, None)])
def test_pqmethod_takes_up_to_999_sorts(n: int, lines: int | None) -> None:
    sort = pd.DataFrame(np.tile([-1, 0, 1], (n, 1)), columns=["a", "b", "c"])
    text = pqmethod_dat(sort, {-1: 1, 0: 1, 1: 1}, "t")
    assert (None if text is None else len(text.splitlines())) == lines


@pytest.mark.usefixtures("report_only")
def test_repairs_are_counted_alike_in_ledger_rows_and_report(tmp_path: Path) -> None:
    """The test server fills every item by itself, so that its sorts break the grid however often it is asked."""
    with ModelServer() as server:
        run = enquete.conduct_interviews(
            personas(tmp_path, 5), out=str(tmp_path / "out"), methods=["diversity"], language="en", model="test",
            base_url=server.base_url,
        )  # fmt: skip
    assert run.status == "completed"
    stored = stored_rows(run.folder, "SELECT status, notes FROM answers")
    moved = [notes for status, notes in stored if "moved to" in notes]
    assert moved
    assert {status for status, notes in stored if "moved to" in notes} == {"repaired"}
    result: Any = run.results["diversity"]
    assert (result["n_moved"], result["agents_complete"], result["n"]) == (len(moved), 5, 5)
    assert any(f"{len(moved)} of 120 placements" in flag for flag in result["flags"])
    (folder,) = (results_of(tmp_path / "out") / "T1" / "diversity").iterdir()
    assert sum(agent["moved"] for agent in json.loads((folder / "typology.json").read_text("utf-8"))["agents"]) == len(
        moved
    )
    lines = [json.loads(line) for line in (folder / "responses.jsonl").read_text("utf-8").splitlines()]
    placed = [answer for line in lines for answer in line["answers"].values() if "placed" in answer]
    assert sum(json.loads(answer["placed"])[-1] != answer["value"] for answer in placed) == len(moved)
    (appendix,) = (results_of(tmp_path / "out") / "synthesis").glob("*/appendix.md")
    assert re.search(rf"{len(moved)} of 120 placements \([\d.]+%\) were moved", appendix.read_text("utf-8"))


def test_a_sloppy_respondent_goes_the_same_way_as_a_model(tmp_path: Path) -> None:
    async def run() -> list[Reply]:
        async with opened(tmp_path) as ledger:
            model = MeteredModel(ledger, Budget(10**9, 0), None, Terms("synthetic", 0, 0))
            sloppy = SyntheticRespondent(replace(planted(INSTRUMENT), sloppy=0.1), "de", 0)
            return [await sloppy.ask(who, blocks(who)[0], model) for who in population(9)]

    replies = asyncio.run(run())
    assert any(answer.status == "repaired" for reply in replies for answer in reply.answers)
    for reply in replies:
        assert violations({answer.item: answer for answer in reply.answers}, INSTRUMENT.distribution) == {}
