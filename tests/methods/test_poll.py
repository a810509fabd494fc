"""What a poll's answers give: options and ratings by group."""

from __future__ import annotations

import pandas as pd
import pytest

from enquete.instruments.polls import QuestionsInstrument
from enquete.methods.poll.evaluation import PRESENTATION
from enquete.methods.poll.results import analyse
from enquete.reports.context import AnalysisContext
from tests.support.tables import findings, results, row, rows

GROUPS = ("fisher", "industry", "science")
INSTRUMENT = {
    "instrument_id": "harbour", "version": "1.0.0", "scale": "likert5", "title": "Harbour",
    "topic": "The harbour", "language_default": "en", "instruction": "Answer as yourself.",
    "questions": [
        {"question_id": "who", "wording": "Who should decide?", "kind": "choice",
         "options": ["The ministry", "The harbour", "Nobody"]},
        {"question_id": "fair", "wording": "The quota is fair.", "kind": "likert"},
    ],
}  # fmt: skip


def answers(choices: dict[str, list[str]], ratings: dict[str, list[int]] | None = None) -> pd.DataFrame:
    """One row an answer: of every group what its agents chose and how they rated."""
    made = []
    for group, chosen in choices.items():
        for n, choice in enumerate(chosen):
            about = {"participant": f"{group} {n}", "stakeholder_type": group, "status": "ok", "text": ""}
            rating = ratings[group][n] if ratings else 3
            made.append({**about, "item_id": "who", "choice": choice, "value": None})
            made.append({**about, "item_id": "fair", "choice": "", "value": float(rating)})
    return pd.DataFrame(made)


def analysed(frame: pd.DataFrame, language: str = "en"):
    return analyse(frame, QuestionsInstrument.model_validate(INSTRUMENT), None, AnalysisContext(language=language))


def test_options_are_compared_between_groups_as_ratings_are() -> None:
    """All eight fishers choose the ministry, none of the others does: a share of 1 against 0 of two groups; of
    the two that share the lowest place both are named. V after Bergsma: χ² = 24 of 24 agents, so φ² = 1, less
    1·2/23 of it; over min(2 − 1/23, 3 − 4/23) − 1: √(.91304/.95652) = .977."""
    made = analysed(answers({"fisher": ["1"] * 8, "industry": ["2"] * 8, "science": ["2"] * 8}))
    test = row(made, "choice_group_tests", item="who")
    assert (test["option"], test["highest"], test["lowest"]) == ("The ministry", ["fisher"], ["industry", "science"])
    assert (test["share_highest"], test["share_lowest"], test["n"], test["n_groups"]) == (1.0, 0.0, 24, 3)
    assert test["effect"] == pytest.approx(0.977, abs=0.001)
    assert test["p"] < 0.001
    told = findings(PRESENTATION, made)["choice_groups"]
    assert told.text.startswith(
        "Groups choose differently on “Who should decide?”: “The ministry” is chosen by 100% among fisher, by 0% among "
        "industry and science (Cramér's V"
    )
    shares = {(entry["option"], entry["group"]): entry["share"] for entry in rows(made, "choice_groups")}
    assert shares["The ministry", "fisher"] == 1.0
    assert shares["The harbour", "science"] == 1.0


def test_where_groups_choose_alike_that_is_said() -> None:
    made = analysed(answers(dict.fromkeys(GROUPS, ["1", "2"] * 4)))
    assert findings(PRESENTATION, made)["choice_groups"].kind == "null"
    assert "| Who should decide? |" in results(PRESENTATION, made).at("appendix")


def test_all_groups_that_share_the_highest_mean_are_named() -> None:
    """Two groups rate 5 throughout, one rates 1: of three, none stands alone at the top."""
    ratings = {"fisher": [5] * 8, "industry": [5] * 8, "science": [1] * 8}
    made = analysed(answers(dict.fromkeys(GROUPS, ["1"] * 8), ratings))
    test = row(made, "group_tests", item="fair")
    assert (test["highest"], test["lowest"]) == (["fisher", "industry"], ["science"])
    assert "mean 5.00 among fisher and industry, 1.00 among science" in findings(PRESENTATION, made)["groups"].text


def test_lowest_and_highest_are_those_of_the_answers_and_the_scale_stands_apart() -> None:
    """They showed 1 and 5, the scale's ends, whatever was answered."""
    made = analysed(answers({"fisher": ["1"] * 3}, {"fisher": [2, 3, 4]}))
    mean = row(made, "means", item="fair")
    assert (mean["lowest"], mean["highest"], mean["scale"]) == (2, 4, "1–5")
    assert (
        "(scale 1–5; simultaneous 95% interval"
        in findings(PRESENTATION, analysed(answers({"fisher": ["1"] * 5}, {"fisher": [2, 3, 4, 3, 3]})))["mean"].text
    )
