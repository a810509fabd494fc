"""Best–worst scaling as it is installed: asked, analysed, checked, probed, drawn and reported by Enquete.

Expected numbers are derived by hand beside each test.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from enquete_best_worst import BestWorstInstrument
from enquete_best_worst.graph import best_worst
from enquete_best_worst.results import by_agent

import enquete
from enquete.instruments.load import load_instrument
from enquete.state.errors import InstrumentError

SHIPPED = Path(__file__).parents[1] / "enquete_best_worst" / "instrument.yaml"


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    """Twelve agents of two types, with options reversed once more and a second run of all."""
    folder = tmp_path_factory.mktemp("best_worst")
    people = [(f"P{n}", ("resident", "shopkeeper")[n % 2], f"Person {n} of the town.") for n in range(12)]
    with (folder / "personas.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("name", "stakeholder_type", "persona"), *people])
    return enquete.conduct_interviews(
        folder / "personas.csv", out=folder / "out", methods=["best_worst"], language="en", respondent="synthetic",
        probes=["options_reversed"], replicates=2,
    )  # fmt: skip


def test_everybody_answers_every_set(run: enquete.Run) -> None:
    main = run.responses[run.responses["arm"].eq("main")]
    assert run.status == "completed"
    assert len(main) == 12 * 7
    assert main["status"].eq("ok").all()


def test_best_and_worst_are_counted_once_a_set(run: enquete.Run) -> None:
    """Every one of 12 × 7 sets has one best and one worst; every object stands in three of the seven."""
    objects = run.results["best_worst"]["objects"]
    assert sum(score["best"] for score in objects) == sum(score["worst"] for score in objects) == 84
    for thing in objects:
        assert thing["score"] == pytest.approx((thing["best"] - thing["worst"]) / 36)


def test_section_probe_finding_groups_and_agents(run: enquete.Run) -> None:
    synthesis = Path(run.path)
    assert "## Best–worst scaling" in run.report
    assert "affordable housing" in run.report
    health = json.loads((synthesis / "health.json").read_text())
    checks = {check["name"]: check for check in health["diagnostics"] if check["methodology"] == "best_worst"}
    assert (checks["option_order"]["probe"], checks["option_order"]["n"]) == (True, 84)
    agents = pd.read_csv(synthesis / "exports" / "agents.csv")
    assert agents["best_object"].notna().any()
    told = [finding["text"] for finding in run.page_one["findings"]]
    assert any("Most important of all is" in text for text in told)
    assert len(run.results["best_worst"]["group_tests"]) == 7
    assert "highest score" in (synthesis / "appendix.md").read_text("utf-8")  # what replicates are compared on


def test_figure(run: enquete.Run) -> None:
    drawn = (Path(run.path) / "figures" / "best_worst-scores.svg").read_text("utf-8")
    assert "affordable housing" in drawn


def test_scores_are_counted_per_set_shown() -> None:
    """Who chooses by the order of the file gets the net counts 3, 2, 1, 0, −1, −2, −3 in Fano's plane, of three sets
    each."""
    instrument = load_instrument(BestWorstInstrument, SHIPPED)
    names = list(instrument.objects)
    rows = [
        {
            "participant": "a",
            "item_id": f"set_{n}",
            "best": min(shown, key=names.index),
            "worst": max(shown, key=names.index),
        }
        for n, shown in enumerate(instrument.sets, start=1)
    ]
    assert (by_agent(pd.DataFrame(rows), instrument).loc["a", names] * 3).round(9).tolist() == [3, 2, 1, 0, -1, -2, -3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("- [schools, safety, shops]", "- [schools, safety, safety]"), "three different objects"),
        (("  - [schools, safety, shops]\n", ""), "equally often"),
        (("[schools, safety, shops]", "[schools, safety, parking]"), "parking"),
    ],
)
def test_sets_that_cannot_be_counted_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "own.yaml").write_text(SHIPPED.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(InstrumentError, match=message):
        load_instrument(BestWorstInstrument, tmp_path / "own.yaml")


def test_the_readme_draws_the_graph_that_runs() -> None:
    readme = Path(__file__).parents[1].joinpath("README.md").read_text("utf-8")
    drawn = readme.partition("```mermaid")[2].partition("```")[0]
    shown = set(re.findall(r"(\w+) -.*-> (\w+);|(\w+) --> (\w+);", drawn))
    edges = {(a or c, b or d) for a, b, c, d in shown}
    assert edges == {(edge.source, edge.target) for edge in best_worst.get_graph().edges}
