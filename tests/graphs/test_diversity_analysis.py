"""Diversity findings: figures by hand, planted types, gaps, one or equal agents; and what the report says of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import enquete
from enquete.checkpoints.budget import Budget
from enquete.graphs.diversity.analysis import analyse
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.results import EVALUATION, files, item_facts
from enquete.graphs.diversity.synthetic import planted
from enquete.instruments.load import load_shipped
from enquete.models.metered import MeteredModel, Terms
from enquete.reports.context import AnalysisContext
from enquete.respondents.grid import violations
from enquete.respondents.planted import uniform
from enquete.respondents.synthetic import SyntheticRespondent
from enquete.state.asking import Language, Reply
from tests.analysis.planted_sorts import continuum
from tests.graphs.test_synthetic_diversity import blocks, population
from tests.support.ledgers import opened
from tests.support.model_server import ModelServer
from tests.support.studies import personas, rows
from tests.support.texts import prose, texts

INSTRUMENT = load_shipped(DiversityInstrument, "diversity")
LANGUAGES: tuple[Language, ...] = ("de", "en")


def table(agents: int, seed: int = 0, *, same: bool = False) -> pd.DataFrame:
    """The response table of a synthetic panel; `same`: everybody answers as the first does."""
    people = population(agents)
    made = []
    for who in people:
        for block in blocks(people[0] if same else who):
            for place, given in enumerate(planted(INSTRUMENT)(people[0] if same else who, block, "de", seed), start=1):
                made.append(
                    {"participant": who.id, "agent_name": who.name, "stakeholder_type": who.stakeholder_type,
                     "item_id": given.item, "status": "ok", "value": given.value, "placed": None, "notes": "",
                     "item_position": place, "option_order": None}
                )  # fmt: skip
    return pd.DataFrame(made)


def findings(frame: pd.DataFrame, language: Language = "en") -> dict[str, Any]:
    found = dict(analyse(frame, INSTRUMENT, None, AnalysisContext(language=language)))
    json.dumps(found, allow_nan=False)
    return found


def both(found: dict[str, Any], language: Language = "en") -> str:
    """Section and appendix."""
    return "\n".join(texts(EVALUATION, found, language))


@pytest.fixture(scope="module")
def panel() -> dict[str, Any]:
    return findings(table(45))


def test_planted_archetypes_are_described(panel: dict[str, Any]) -> None:
    """By plan of the population: five agents of each of nine types, so 15 stewards and 10 of each other archetype."""
    assert [a["n"] for a in panel["archetypes"]] == [15, 10, 10, 10]
    stewards = panel["archetypes"][0]
    assert {(kind["stakeholder_type"], kind["n"], kind["n_of_type"]) for kind in stewards["by_type"]} == {
        ("Küstenfischer", 5, 5),
        ("Recreational angler", 5, 5),
        ("Gemeinde", 5, 5),
    }
    assert stewards["by_type"][0]["share_of_archetype"] == pytest.approx(1 / 3, abs=1e-6)
    assert (
        stewards["distinguishing"][0]["wording"] == INSTRUMENT.statement(stewards["distinguishing"][0]["item"]).label.en
    )
    assert all(abs(d["difference"]) >= 0.5 for a in panel["archetypes"] for d in a["distinguishing"])
    assert {m["archetype"] for m in panel["members"]} == set("ABCD")
    assert all(sum(m["probabilities"].values()) == pytest.approx(1, abs=1e-4) for m in panel["members"])
    assert len({a["name"] for a in panel["archetypes"]}) == 4
    assert all("for “" in a["name"] and "against “" in a["name"] for a in panel["archetypes"])
    assert panel["flags"] == []


def test_archetypes_are_described_by_statements_that_set_them_apart_from_every_other(panel: dict[str, Any]) -> None:
    for archetype in panel["archetypes"]:
        for one in archetype["distinguishing"]:
            means = [
                a["common_sort"][one["item"]] for a in panel["archetypes"] if a["archetype"] != archetype["archetype"]
            ]
            assert one["level"] in (0.01, 0.05)
            assert 0 < one["p"] <= 1
            if one["direction"] == "above":
                assert one["position"] >= max(means)
            if one["direction"] == "below":
                assert one["position"] <= min(means)
    gap = panel["typology"]["gap"]
    assert (gap["k"], gap["n_compared"]) == (4, 45)
    assert list(gap["gaps"]) == list(gap["errors"]) == [str(k) for k in range(1, 10)]


def test_figures_of_a_statement_are_those_of_its_answers(panel: dict[str, Any]) -> None:
    frame = table(45)
    values = frame.loc[frame["item_id"].eq("monitoring"), "value"]
    (described,) = [s for s in panel["statements"] if s["item"] == "monitoring"]
    assert described["mean"] == pytest.approx(np.mean(values), abs=1e-6)
    assert described["sd"] == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert sum(described["distribution"].values()) == described["n_responded"] == described["n_total"] == 45


def test_components_have_loadings_for_all_thirty_columns(panel: dict[str, Any]) -> None:
    pca = panel["pca"]
    assert pca["n_columns"] == 30
    assert len(pca["components"][0]["loadings"]) == 30
    assert all(abs(loading) <= 1 for c in pca["components"] for loading in c["loadings"].values())
    assert pca["first_two"] == pytest.approx(sum(c["explained"] for c in pca["components"][:2]), abs=1e-5)
    assert pca["above_chance"] >= 2


@pytest.mark.parametrize(("agents", "same", "reason"), [(1, False, "few"), (2, False, ""), (12, True, "alike")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_few_or_equal_agents_give_no_nan_and_a_plain_word(
    agents: int, same: bool, reason: str, language: Language
) -> None:
    found = findings(table(agents, same=same), language)
    assert found["pca"]["reason"] == reason
    assert found["archetypes"] == []
    assert found["typology"]["reason"] in ("few", "alike")
    text = both(found, language)
    assert "nan" not in text.lower()
    assert "None" not in text
    assert any("alike" in flag or "gleich geantwortet" in flag for flag in found["flags"]) == (reason == "alike")


def test_gaps_and_illegal_sorts_are_left_out_and_counted() -> None:
    frame = table(20)
    first, second, third = (f"agent:{i}" for i in range(3))
    refused = frame["participant"].eq(first) & frame["item_id"].eq("monitoring")
    frame.loc[refused, ["status", "value"]] = ["refused", np.nan]
    frame.loc[frame["participant"].eq(second) & frame["item_id"].eq("local_eu"), ["status", "value"]] = [
        "invalid",
        np.nan,
    ]
    frame.loc[frame["participant"].eq(third) & frame["item_id"].isin(["monitoring", "nutrients"]), "value"] = 3.0
    found = findings(frame)
    who = found["participation"]
    assert (who["agents_total"], who["agents_analysed"]) == (20, 17)
    assert who["left_out"] == {"axes incomplete": 1, "sort incomplete": 1, "sort off the grid": 1}
    assert who["sort"] == {
        "n_responded": 479, "n_total": 480, "statuses": {"ok": 479, "refused": 1}, "agents_complete": 19,
    }  # fmt: skip
    assert found["pca"]["n_agents"] == 17
    assert "axes. Axes incomplete: 1; Sort incomplete: 1; Sort off the grid: 1." in both(found)


def test_nobody_complete_is_still_a_report() -> None:
    frame = table(3)
    frame.loc[frame["item_id"].eq("monitoring"), ["status", "value"]] = ["not_reached", np.nan]
    for language in LANGUAGES:
        text = both(findings(frame, language), language)
        assert "0 von 3" in text or "0 of 3" in text


def test_moved_and_changed_placements_are_told_apart() -> None:
    """By hand: one statement of agent 0 was put in 2 and moved; one of agent 1 was put in 1 and, asked again, in its place."""
    frame = table(10)
    zero = frame["participant"].eq("agent:0") & frame["item_id"].eq("monitoring")
    one = frame["participant"].eq("agent:1") & frame["item_id"].eq("nutrients")
    placed = int(frame.loc[one, "value"].iloc[0])
    frame.loc[zero, ["status", "placed"]] = ["repaired", "[2]"]
    frame.loc[one, "placed"] = json.dumps([placed - 1, placed])
    grid = findings(frame)["grid"]
    assert (grid["moved"], grid["placements"], grid["agents_moved"]) == (1, 240, 1)
    assert grid["share_moved"] == pytest.approx(1 / 240, abs=1e-6)
    assert (grid["again"], grid["agents_again"]) == (1, 1)
    assert [(a["participant"], a["moved"], a["again"]) for a in grid["by_agent"]] == [
        ("agent:0", 1, 0),
        ("agent:1", 0, 1),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_archetypes(seed: int) -> None:
    frame = table(50)
    for who, part in frame.groupby("participant"):
        order = sorted(part.index, key=lambda i: uniform(seed, str(who), int(i)))
        statements = frame.loc[order, "item_id"].isin([s.statement_id for s in INSTRUMENT.statements]).to_numpy()
        shuffled = np.array(order)[statements]
        frame.loc[np.sort(shuffled), "value"] = frame.loc[shuffled, "value"].to_numpy()
        axes = np.array(order)[~statements]
        frame.loc[axes, "value"] = [float(1 + int(7 * uniform(seed, "axis", str(who), int(i)))) for i in axes]
    found = findings(frame)
    assert (found["typology"]["k"], found["typology"]["reason"], found["members"]) == (1, "chance", [])
    assert "**No types.**" in both(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_continuum_and_unstable_types_have_words_and_no_archetypes(panel: dict[str, Any], language: Language) -> None:
    """One gradient behind all answers; and a verdict of instability in findings that are otherwise the panel's."""
    frame = table(50)
    sorts, axes = continuum(50, 1, 0)
    for (_, part), sort, place in zip(frame.groupby("participant", sort=False), sorts, axes, strict=True):
        frame.loc[part.index, "value"] = [*sort, *place]
    found = findings(frame, language)
    assert (found["typology"]["k"], found["typology"]["reason"]) == (1, "continuum")
    assert (found["archetypes"], found["members"]) == ([], [])
    text = both(found, language)
    assert {"de": "**Keine Typen: ein Kontinuum.**", "en": "**No types: a continuum.**"}[language] in text
    unstable = {**panel["typology"], "k": 1, "reason": "unstable", "memberships": None}
    shaky = both({**panel, "typology": unstable, "archetypes": [], "members": []}, language)
    assert {"de": "nicht stabil", "en": "not stable"}[language] in shaky
    doubtful = both({**panel, "typology": {**panel["typology"], "warnings": ["gap", "edge"]}}, language)
    assert doubtful.count({"de": "**Vorsicht:**", "en": "**Caution:**"}[language]) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_section_and_appendix_are_tables_in_both_languages(language: Language) -> None:
    section, appendix = texts(EVALUATION, findings(table(45), language), language)
    assert appendix.count("\n#### ") == 4 + 3 + 1  # types, views, all z-scores
    assert "45 / 45" in appendix
    assert "\n\n\n" not in section + appendix
    assert prose(section) < 150
    assert "Pol" not in section


def test_a_type_of_few_agents_has_no_profile(panel: dict[str, Any]) -> None:
    few = [{**one, "n": 4} for one in panel["archetypes"]]
    section, appendix = texts(EVALUATION, {**panel, "archetypes": few}, "en")
    assert section.count("fewer than 5 agents") == appendix.count("Fewer than 5 agents") == 4
    assert not any(one["name"] in section or one["name"] in appendix for one in few)


def test_files_and_item_facts(panel: dict[str, Any]) -> None:
    written = files(panel, table(45), "T1")
    assert set(written) == {"responses.jsonl", "typology.json", "pca.json", "qmethod.json", "sorts.csv", "pqmethod.dat"}
    assert sum(len(line["answers"]) for line in written["responses.jsonl"]) == 45 * 30
    sort, axis = item_facts("monitoring", INSTRUMENT), item_facts("local_eu", INSTRUMENT)
    assert (sort.family, sort.scale_min, sort.scale_max) == ("sort", -3, 3)
    assert (axis.family, axis.scale_min, axis.scale_max) == ("axis", 1, 7)
    assert item_facts("unknown", INSTRUMENT).family == ""


def test_repairs_are_counted_alike_in_ledger_rows_and_report(tmp_path: Path) -> None:
    """The test server fills every item by itself, so that its sorts break the grid however often it is asked."""
    with ModelServer() as server:
        run = enquete.conduct_interviews(
            personas(tmp_path, 10), out=str(tmp_path / "out"), methods=["diversity"], language="en", model="test",
            base_url=server.base_url,
        )  # fmt: skip
    assert run.status == "completed"
    stored = rows(run.folder, "SELECT status, notes FROM answers")
    moved = [notes for status, notes in stored if "moved to" in notes]
    assert moved
    assert {status for status, notes in stored if "moved to" in notes} == {"repaired"}
    result: Any = run.results["diversity"]
    assert (result["grid"]["moved"], result["grid"]["agents"]) == (len(moved), 10)
    assert sum(agent["moved"] for agent in result["grid"]["by_agent"]) == len(moved)
    assert result["participation"]["agents_analysed"] == 10
    assert any(f"{len(moved)} of 240 placements" in flag for flag in result["flags"])
    (folder,) = (tmp_path / "out" / "T1" / "diversity").iterdir()
    lines = [json.loads(line) for line in (folder / "responses.jsonl").read_text("utf-8").splitlines()]
    placed = [answer for line in lines for answer in line["answers"].values() if "placed" in answer]
    assert sum(json.loads(answer["placed"])[-1] != answer["value"] for answer in placed) == len(moved)
    assert {path.name for path in folder.iterdir()} == {
        "responses.jsonl", "audit.jsonl", "typology.json", "pca.json", "qmethod.json", "sorts.csv",
        "pqmethod.dat",
    }  # fmt: skip
    (appendix,) = (tmp_path / "out" / "synthesis").glob("*/appendix.md")
    assert f"{len(moved)} of 240 placements" in appendix.read_text("utf-8")


def test_a_sloppy_respondent_goes_the_same_way_as_a_model(tmp_path: Path) -> None:
    async def run() -> list[Reply]:
        async with opened(tmp_path) as ledger:
            model = MeteredModel(ledger, Budget(10**9, 0), None, Terms("synthetic", 0, 0))
            sloppy = SyntheticRespondent(replace(planted(INSTRUMENT), sloppy=0.1), "de", 0)
            return [await sloppy.ask(who, blocks(who)[0], model) for who in population(9)]

    replies = asyncio.run(run())
    assert any(given.status == "repaired" for reply in replies for given in reply.answers)
    for reply in replies:
        assert violations({given.item: given for given in reply.answers}, INSTRUMENT.distribution) == {}
