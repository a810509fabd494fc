"""Q factors in the findings: planted views at their poles, none in noise, changes by hand, and the files for other software."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sklearn.metrics import adjusted_rand_score

from enquete.analysis.qmethod.sorts import places
from enquete.graphs.diversity.analysis import analyse
from enquete.graphs.diversity.exchange import complete_sorts, pqmethod_dat, sorts_csv
from enquete.graphs.diversity.results import EVALUATION, files
from enquete.graphs.diversity.settings import DiversitySettings
from enquete.graphs.diversity.sorting import read_sorts
from enquete.graphs.diversity.synthetic import planted
from enquete.graphs.diversity.views import views
from enquete.reports.context import AnalysisContext
from enquete.state.asking import Language
from tests.graphs.test_diversity_analysis import INSTRUMENT, LANGUAGES, table
from tests.graphs.test_synthetic_diversity import population
from tests.support.texts import texts

STATEMENTS = [statement.statement_id for statement in INSTRUMENT.statements]
AXES = [axis.axis_id for axis in INSTRUMENT.likert_axes]
TRUTH = {who.id: planted(INSTRUMENT).archetype_of(who) for who in population(50)}


def appendix(found: dict[str, Any], language: Language = "en") -> str:
    return texts(EVALUATION, found, language)[1]


def findings(frame: pd.DataFrame, language: Language = "en", **settings: Any) -> dict[str, Any]:
    chosen = DiversitySettings.model_validate(settings)
    found = dict(analyse(frame, INSTRUMENT, chosen, AnalysisContext(language=language)))
    json.dumps(found, allow_nan=False)
    return found


def q_of(frame: pd.DataFrame, **settings: Any) -> dict[str, Any]:
    """The Q findings alone, without a typology beside them."""
    chosen = DiversitySettings.model_validate(settings)
    return views(read_sorts(frame, INSTRUMENT), INSTRUMENT, chosen, [], 0, "en")


@pytest.fixture(scope="module")
def panel() -> dict[str, Any]:
    return findings(table(45))


def random_panel(agents: int, seed: int) -> pd.DataFrame:
    """Every legal sort equally likely, and every place on an axis."""
    rng = np.random.default_rng([agents, seed])
    frame = table(agents)
    for _, part in frame.groupby("participant"):
        axes = part["item_id"].isin(AXES)
        frame.loc[part.index[~axes], "value"] = rng.permutation(places(INSTRUMENT.distribution))
        frame.loc[part.index[axes], "value"] = rng.integers(1, 8, axes.sum()).astype(float)
    return frame


@pytest.mark.parametrize("seed", range(3))
def test_planted_types_are_recovered_by_clusters_and_by_poles(seed: int) -> None:
    """Four planted types; two of them oppose each other, so they are the poles of one of three factors."""
    found = findings(table(50, seed))
    members, q = found["members"], found["q"]
    clusters = [(TRUTH[m["participant"]], m["archetype"]) for m in members]
    poles = [(TRUTH[m["participant"]], m["factor"]) for m in q["members"] if m["factor"]]
    assert len(poles) >= 45
    for pairs in (clusters, poles):
        truth, given_ = zip(*pairs, strict=True)
        assert adjusted_rand_score(truth, given_) >= 0.9
    assert q["reason"] == "factors"
    assert sum(len(one["views"]) for one in q["factors"]) == 4
    assert q["agreement"]["ari"] >= 0.9
    assert q["other"]["extraction"] == "centroid"
    assert q["other"]["ari"] >= 0.9
    assert all(abs(match["r"]) > 0.9 for match in q["other"]["matches"])


@pytest.mark.parametrize("seed", range(2))
def test_noise_has_neither_types_nor_factors_and_says_so(seed: int) -> None:
    found = findings(random_panel(50, seed))
    q = found["q"]
    assert (found["typology"]["reason"], found["members"]) == ("chance", [])
    assert (q["reason"], q["factors"], q["members"], q["number"]["used"]) == ("chance", [], [], 0)
    assert (q["agreement"]["ari"], q["other"]["ari"]) == (None, None)
    assert "**No shared views.**" in appendix(found)


def test_a_factor_has_scores_for_every_statement_and_a_legal_array(panel: dict[str, Any]) -> None:
    for one in panel["q"]["factors"]:
        assert list(one["z"]) == list(one["array"]) == STATEMENTS
        assert sorted(one["array"].values()) == places(INSTRUMENT.distribution).tolist()
        # Spearman–Brown: 0.8p/(1 + 0.8(p − 1)); SE = √(1 − r)
        p = one["n_flagged"]
        assert one["reliability"] == pytest.approx(0.8 * p / (1 + 0.8 * (p - 1)), abs=1e-6)
        assert one["se"] == pytest.approx((1 - one["reliability"]) ** 0.5, abs=1e-5)
        assert sum(view["n"] for view in one["views"]) == p
        assert all(d["level"] in (0.01, 0.05) and 0 < d["p"] <= 1 for d in one["distinguishing"])
    assert panel["q"]["threshold"] == pytest.approx(0.4, abs=1e-3)  # 1.96/√24
    assert [one["rank"] for one in panel["q"]["number"]["eigenvalues"]][:3] == [1, 2, 3]
    assert panel["q"]["number"]["parallel"] == 3


def test_every_agent_has_its_view_loadings_archetype_and_membership(panel: dict[str, Any]) -> None:
    q, by_id = panel["q"], {m["participant"]: m for m in panel["members"]}
    assert [m["participant"] for m in q["members"]] == [f"agent:{i}" for i in range(45)]
    bipolar = next(one["factor"] for one in q["factors"] if one["bipolar"])
    for member in q["members"]:
        assert len(member["loadings"]) == 3
        assert member["archetype"] == by_id[member["participant"]]["archetype"]
        assert member["membership"] == by_id[member["participant"]]["probabilities"][member["archetype"]]
        if member["factor"] in (f"{bipolar}+", f"{bipolar}-"):
            assert (member["loadings"][bipolar - 1] < 0) == member["factor"].endswith("-")
    counts = {view["view"]: view["n"] for one in q["factors"] for view in one["views"]}
    assert pd.Series([m["factor"] for m in q["members"]]).value_counts().to_dict() == counts
    assert {f"{bipolar}+", f"{bipolar}-"} <= counts.keys()


def test_variance_shares_of_the_poles_of_one_factor_do_not_sum_to_112_percent(panel: dict[str, Any]) -> None:
    """One row a factor: its poles share eigenvalue and variance, which are printed once."""
    section, _ = texts(EVALUATION, panel)
    rows = re.findall(r"^\| \d \| \d+ \| (\d+) \| (\d+)% \|", section, re.MULTILINE)
    assert len(rows) == len(panel["q"]["factors"])
    assert sum(int(reverse) > 0 for reverse, _ in rows) == sum(one["bipolar"] for one in panel["q"]["factors"]) == 1
    assert sum(int(explained) for _, explained in rows) <= 100


def test_an_agent_without_axes_still_has_a_view_and_one_without_a_sort_has_none() -> None:
    frame = table(45)
    no_axes = frame["participant"].eq("agent:0") & frame["item_id"].isin(AXES)
    no_sort = frame["participant"].eq("agent:1") & frame["item_id"].eq("monitoring")
    frame.loc[no_axes | no_sort, ["status", "value"]] = ["refused", np.nan]
    q = q_of(frame)
    assert (q["n_total"], q["n_analysed"], q["n_missing"], q["n_illegal"]) == (45, 44, 1, 0)
    first = q["members"][0]
    assert (first["participant"], first["archetype"], first["membership"]) == ("agent:0", None, None)
    assert first["factor"] is not None
    assert q["members"][1]["participant"] == "agent:2"


# --- settings --------------------------------------------------------------------------------------------------------


def test_flags_are_changed_by_hand(panel: dict[str, Any]) -> None:
    member = panel["q"]["members"][0]
    (own,) = member["flagged"]
    other = next(one["factor"] for one in panel["q"]["factors"] if one["factor"] != own)
    changes = {"remove": {"agent:0": [own]}, "add": {"agent:1": [other]}}
    if other in panel["q"]["members"][1]["flagged"]:
        changes["add"] = {"agent:1": [6 - own - other]}
    q = q_of(table(45), flags=changes)
    assert (q["members"][0]["flagged"], q["members"][0]["factor"]) == ([], None)
    assert len(q["members"][1]["flagged"]) == 2  # defines two factors, so it stands for neither
    assert q["members"][1]["factor"] is None
    assert q["refused"] == []
    assert {key: {who: list(own) for who, own in part.items()} for key, part in q["manual"].items()} == changes
    assert "1 flags added, 1 removed" in appendix({**panel, "q": q})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"flags": {"add": {"agent:99": [1]}}}, "add.agent:99 is not one of the 20 participants"),
        ({"flags": {"remove": {"agent:0": [9]}}}, "there is no shared view 9; there are 1 to"),
        ({"flags": {"add": {"agent:0": [1, 2, 3]}}}, "its sort defines shared view"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused_in_words_and_the_automatic_solution_stands(
    panel: dict[str, Any], settings: dict[str, Any], words: str
) -> None:
    automatic, q = q_of(table(20), extraction="centroid"), q_of(table(20), extraction="centroid", **settings)
    assert any(words in one for one in q["refused"])
    assert q["manual"] is None
    assert {**q, "refused": []} == automatic
    assert "Not carried out" in appendix({**panel, "q": q})


def test_more_factors_than_there_can_be_are_refused_in_words() -> None:
    """Twelve agents cannot span sixteen factors."""
    q, automatic = q_of(table(12), n_factors=16), q_of(table(12))
    assert "parallel analysis found their number instead" in q["refused"][0]
    assert q["factors"] == automatic["factors"]


def test_flags_without_factors_are_refused_and_the_run_is_flagged() -> None:
    found = findings(table(1), flags={"add": {"agent:0": [1]}})
    assert found["flags"] == ["diversity: flags set by hand were not applied: there are no shared views"]
    q = found["q"]
    assert q["refused"] == ["flags set by hand were not applied: there are no shared views"]


def test_the_number_of_factors_can_be_set() -> None:
    q = q_of(table(45), n_factors=2)
    assert (q["number"]["asked"], q["number"]["used"], q["number"]["parallel"]) == (2, 2, 3)
    assert all(len(member["loadings"]) == 2 for member in q["members"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"extraction": "ml"},
        {"n_factors": 0},
        {"n_factors": 17},
        {"flags": {"add": {"a": [0]}}},
        {"flags": {"ad": {}}},
        {"flags": {"add": {"a": [1]}, "remove": {"a": [2, 1]}}},
    ],
)
def test_settings_that_can_never_fit_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DiversitySettings.model_validate(wrong)


def test_settings_are_read_as_they_were_written() -> None:
    chosen = DiversitySettings.model_validate({"flags": {"add": {"agent:1": [2]}}})
    assert DiversitySettings.model_validate(chosen.model_dump(mode="json")) == chosen


# --- report and files ------------------------------------------------------------------------------------------------


def test_the_appendix_names_poles_and_all_scores(panel: dict[str, Any]) -> None:
    text = appendix(panel)
    assert re.search(r"^Pole \d−: ", text, re.MULTILINE)
    scores = text.split("#### z-scores and places of all statements", 1)[1].split("z-score (place", 1)[0]
    assert scores.count("\n|") == 2 + len(STATEMENTS)


@pytest.mark.parametrize("agents", [0, 1, 2, 3])
@pytest.mark.parametrize("language", LANGUAGES)
def test_few_sorts_give_a_plain_word(agents: int, language: Language) -> None:
    frame = table(max(agents, 1))
    if not agents:
        frame.loc[frame["item_id"].eq("monitoring"), ["status", "value"]] = ["failed", np.nan]
    found = findings(frame, language)
    assert found["q"]["reason"] in (("few",) if agents < 2 else ("chance", "factors"))
    assert "nan" not in appendix(found, language).lower()


def test_qmethod_json_stands_on_its_own(panel: dict[str, Any]) -> None:
    written = files({"arms": ["main"], **panel}, table(45), "T1")["qmethod.json"]
    assert isinstance(written, dict)
    assert written["unit_of_inference"] == "run × wording"
    assert len(written["members"]) == 45
    assert [one["item"] for one in written["statements"]] == STATEMENTS


def test_sorts_are_written_for_pqmethod_and_as_a_plain_table() -> None:
    """Columns as R's qmethod reads them (import.pqmethod): sorts in 4–6, statements in 7–9, then 10 + 2·24 characters."""
    frame = table(12)
    frame.loc[frame["participant"].eq("agent:3") & frame["item_id"].eq("monitoring"), "value"] = np.nan
    sort = complete_sorts(frame, INSTRUMENT.distribution, STATEMENTS)
    text = pqmethod_dat(sort, INSTRUMENT.distribution, "Fischerei – ü")
    assert text is not None
    head, grid, *lines = text.splitlines()
    assert (head[:3], int(head[3:6]), int(head[6:9]), head[10:]) == ("  0", 11, 24, "Fischerei ? ?")
    assert [int(grid[i : i + 3]) for i in range(0, len(grid), 3)] == [-3, 3, 2, 3, 4, 6, 4, 3, 2]
    assert {len(line) for line in lines} == {10 + 2 * 24}
    read = [[int(line[i : i + 2]) for i in range(10, 58, 2)] for line in lines]
    assert read == sort.to_numpy().tolist()
    table_ = [line.split(",") for line in sorts_csv(sort).splitlines()]
    assert table_[0] == ["statement", *sort.index]
    assert [row[0] for row in table_[1:]] == STATEMENTS
    assert "agent:3" not in table_[0]


@given(n=st.integers(0, 1100))
def test_pqmethod_takes_up_to_999_sorts(n: int) -> None:
    sort = pd.DataFrame(np.tile([-1, 0, 1], (n, 1)), columns=["a", "b", "c"])
    text = pqmethod_dat(sort, {-1: 1, 0: 1, 1: 1}, "t")
    assert (text is None) == (n > 999)
    assert text is None or len(text.splitlines()) == n + 2
