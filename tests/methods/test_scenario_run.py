"""Whole runs of the scenario study by the synthetic respondent, and the coding of its open answers over a context."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

import enquete
from enquete.instruments.load import load_shipped
from enquete.methods.scenario.coding import code_open_answers, themes_of
from enquete.methods.scenario.evaluation import PRESENTATION
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.reports.analyses import read_results
from enquete.state.asking import Answer, Arm, BlockKey, Language
from tests.support.bare_runs import results_alone
from tests.support.studies import call_keys, personas, stored_answers

INSTRUMENT = load_shipped(ScenarioInstrument, "scenario")
SCENARIOS = [s.scenario_id for s in INSTRUMENT.scenarios]
WORDS: Mapping[Language, tuple[str, ...]] = {
    "de": ("## Szenarien", "### Szenarien in Paaren"),
    "en": ("## Scenarios", "### Wish and expectation", "Fortress Europe"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    """Of eight people, in two arms."""
    folder, arms = tmp_path_factory.mktemp("scenario"), [Arm(), Arm(id="b", role="b", seed=3)]
    with results_alone(report=True):
        return enquete.conduct_interviews(
            personas(folder, 8), out=str(folder / "out"), methods=["scenario"], language="en", arms=arms
        )


def read(run: enquete.Run, name: str) -> str:
    return (run.folder.parents[1] / "T1" / "scenario" / run.run_id / name).read_text("utf-8")


def test_a_run_gives_matrices_polarity_and_themes_in_its_language(run: enquete.Run) -> None:
    assert run.status == "completed"
    assert len(stored_answers(run.folder)) == 8 * 4 * 5
    matrix = json.loads(read(run, "polarity_matrix.json"))
    ranks = {
        rating["scenario"]: rating["mean_rank"] for rating in matrix["ratings"] if rating["dimension"] == "desirability"
    }
    assert max(ranks, key=ranks.__getitem__) == "erholung"
    assert min(ranks, key=ranks.__getitem__) == "kollaps"
    answers = {
        (line["participant"], item): answer
        for line in map(json.loads, read(run, "responses.jsonl").splitlines()) if line["arm"] == "main"
        for item, answer in line["answers"].items()
    }  # fmt: skip
    assert len(matrix["agents"]) == 8 * 4
    for agent in matrix["agents"]:
        assert agent["desirability"] == answers[agent["participant"], f"{agent['scenario']}/desirability"]["value"]
    assert {theme["scenario"] for theme in matrix["themes"]} == set(SCENARIOS)
    assert sum(theme["n"] for theme in matrix["themes"]) == len(matrix["voices"])
    for agent in matrix["voices"]:
        assert agent["text"] == answers[agent["participant"], agent["item"]]["text"]
    appendix = (run.path / "appendix.md").read_text("utf-8")
    assert all(words in appendix for words in WORDS["en"])
    assert "nan" not in (run.report + appendix).casefold().split()
    in_german = read_results("scenario", PRESENTATION, run.results["scenario"], "de").at("appendix")
    assert all(words in in_german for words in WORDS["de"])


def test_seven_points_are_asked_as_seven_and_every_scenario_is_read_out(run: enquete.Run) -> None:
    who = f"{stored_answers(run.folder)[0][3]}|"
    calls = map(json.loads, read(run, "audit.jsonl").splitlines())
    texts = {call["subject"]: call["messages"][0]["content"] for call in calls if call["arm"] == "main"}
    asked = [key[4] for key in call_keys(run.folder) if key[2:4] == ("main", "answer") and key[4].startswith(who)]
    assert [subject.rpartition("|")[2] for subject in asked] == SCENARIOS  # one after another, in the file's order
    for text, scenario in zip(map(texts.__getitem__, asked), SCENARIOS, strict=True):
        assert INSTRUMENT.scenario(scenario).description.in_("en") in text
        assert "7 = extremely desirable" in text
        assert "How fairly" in text
        assert "If you woke up in this 2040" in text


def test_themes_are_coded_by_scenario_and_only_for_the_main_arm(run: enquete.Run) -> None:
    themes = [key for key in call_keys(run.folder) if key[3] == "theme"]
    assert {key[2] for key in themes} == {"main"}
    assert {key[4] for key in themes} == {f"{scenario}/batch 1" for scenario in SCENARIOS}
    # arm b never leaks into a finding
    assert {rating["n_total"] for rating in run.results["scenario"]["ratings"]} == {8}


class _Context:
    """Answers and pinned values in memory; the interviewer's work ends as told."""

    language = "de"

    def __init__(self, answers: list[Answer], ending: str = "done"):
        self.arm, self.main_arm, self.ending = Arm(), "main", ending
        self.values: dict[str, Any] = {}
        self.subjects: list[str] = []
        self._answers = answers

    async def answers(self, *, arm: str, phase: str | None = None, round: int | None = None):
        for given in self._answers:
            yield BlockKey("r", arm, "scenario", "T1", "", 0, 0, "agent:1", "p"), given

    def pinned(self, name: str, *, arm: str | None = None) -> Any:
        return self.values.get(name)

    async def pin(self, name: str, value: Any) -> Any:
        return self.values.setdefault(name, value)

    async def work(self, task: Any) -> Any:
        self.subjects.append(task.subject)
        if self.ending != "done" and task.subject.startswith("kollaps"):
            return self.ending
        return task.rule(task.data)


def close(context: _Context) -> str:
    return asyncio.run(code_open_answers(INSTRUMENT, context))


def open_answers(text: str = "Ich würde auswandern.") -> list[Answer]:
    return [Answer(f"{scenario}/open", "ok", text=text) for scenario in SCENARIOS]


def themes(context: _Context) -> Mapping[str, int]:
    return {scenario: len(context.values[themes_of(scenario)]["themes"]) for scenario in SCENARIOS}


def test_no_answer_and_no_other_arm_is_coded() -> None:
    for answers in (
        [],
        [Answer("kollaps/open", "refused"), Answer("kollaps/impact", "ok", value=3)],
        open_answers("…")[:1],
    ):
        context = _Context(answers)
        assert close(context) == "end"
        assert set(themes(context).values()) == {0}
    assert len(context.subjects) == 1  # "…" was shown to the coder, who found nothing in it
    context = _Context(open_answers())
    context.arm = Arm(id="b", role="b")
    assert close(context) == "end"
    assert context.values == {}


@pytest.mark.parametrize("ending", ["short", "failed"])
def test_a_stopped_coding_keeps_what_is_done_and_goes_on_with_the_rest(ending: str) -> None:
    context = _Context(open_answers(), ending)
    assert close(context) == ending
    assert set(context.values) == {themes_of(scenario) for scenario in SCENARIOS if scenario != "kollaps"}
    context.ending, context.subjects = "done", []
    assert close(context) == "end"
    assert context.subjects == ["kollaps/batch 1"]
    assert set(themes(context).values()) == {1}  # one answer each is a theme
