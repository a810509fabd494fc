"""How far ahead a study looks, in the words of requirements as people write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enquete.runs.material import USUAL, horizon_of, said_in
from enquete.simulations.population import load_population
from tests.support.populations import mirofish_folder, personas_file

SAID = [
    ("Predict the market impact over the next 14 days.", "In 14 days", "over the next 14 days"),
    ("A 14-day question", "In 14 days", "over the next 14 days"),
    ("Wie reagieren sie in den sechs Tagen vor der Entscheidung?", "In six days", "over the next six days"),
    ("Was geschieht innerhalb von 72 Stunden?", "In 72 hours", "over the next 72 hours"),
    ("binnen einer Woche", "In seven days", "over the next seven days"),
    ("How will they react next month?", "In four weeks", "over the next four weeks"),
    ("über die kommenden zwei Jahre", "In two years", "over the next two years"),
    ("Zukunft der Fischerei bis 2040", "In 2040", "until 2040"),
]
NOT_SAID = [
    "founded 30 years ago by a 12-year-old", "with over 20 years of experience", "announced in 2024",
    "In den letzten zehn Jahren", "over the next few days", "in the next 0 days", "",
]  # fmt: skip


@pytest.mark.parametrize(("text", "then", "until"), SAID)
def test_a_time_ahead_is_read(text: str, then: str, until: str) -> None:
    horizon = said_in(text)
    assert horizon is not None
    assert (horizon.then("en"), horizon.until("en")) == (then, until)


@pytest.mark.parametrize("text", NOT_SAID)
def test_what_names_no_time_ahead(text: str) -> None:
    assert said_in(text) is None


def test_german_is_declined() -> None:
    told = [(horizon.then("de"), horizon.until("de")) for text, _, _ in SAID if (horizon := said_in(text))]
    assert told[2] == ("In sechs Tagen", "in den nächsten sechs Tagen")
    assert told[-1] == ("Im Jahr 2040", "bis 2040")


def test_the_topic_counts_before_the_requirement_and_that_before_the_simulated_hours(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim", 1)
    path = sim / "simulation_config.json"

    def horizon(hours: object, requirement: str = "", topic: str = "") -> str:
        config = json.loads(path.read_text("utf-8"))
        times = {"total_simulation_hours": hours}
        path.write_text(json.dumps({**config, "simulation_requirement": requirement, "time_config": times}), "utf-8")
        return horizon_of(load_population(sim), topic).then("en")

    assert horizon(336) == "In 14 days"
    assert horizon(30) == "In 30 hours"
    assert horizon(24 * 200) == "In seven months"
    assert horizon(336, "over the next three weeks") == "In three weeks"
    assert horizon(336, "over the next three weeks", "the harbour by 2050") == "In 2050"
    for nothing in (0, -3, True, "72", None):
        assert horizon(nothing) == USUAL.then("en") == "In five years"
    assert horizon_of(load_population(personas_file(tmp_path / "p.json", 2))) == USUAL
