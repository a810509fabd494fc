"""All checks without extra calls together: a plausible population, a broken one, and five thousand agents."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from enquete.analysis.diagnostics import overall
from enquete.analysis.health_thresholds import QUALITY, STYLE
from enquete.analysis.instrument_health import examine_answers
from tests.support.answer_frames import answer_frame


def people(n: int, m: int, seed: int = 0) -> pd.DataFrame:
    """Independent opinions spread like people's, half of the items reversed, item order random by agent."""
    rng = np.random.default_rng(seed)
    values = rng.choice([1.0, 2, 3, 4, 5, np.nan], p=[0.14, 0.19, 0.32, 0.19, 0.15, 0.01], size=(n, m))
    order = np.argsort(rng.random((n, m)), axis=1) + 1
    options = np.where(rng.random((n, m)) < 0.5, "[1, 2, 3, 4, 5]", "[5, 4, 3, 2, 1]")
    types = [f"t{i % 4}" for i in range(n)]
    return answer_frame(values, reverse=range(0, m, 2), types=types, positions=order, option_orders=options)


def test_plausible_answers_are_usable() -> None:
    found = examine_answers(people(100, 20))
    assert [one.name for one in found] == [*STYLE, *QUALITY]
    assert {one.reason_code for one in found if one.verdict == "not computed"} == {"no_human_sd", "no_human_marginals"}
    assert overall(found).verdict == "usable"


def test_one_respondent_in_a_hundred_masks_is_not() -> None:
    one = people(1, 20)
    rows = pd.concat([one.assign(participant=f"agent:{a:04}") for a in range(100)])
    found = overall(examine_answers(rows))
    assert found.verdict == "not usable"
    assert found.reasons[0] == "persona_flattening:above"


def test_three_agents_are_too_few_to_say() -> None:
    found = overall(examine_answers(people(3, 8)))
    assert (found.verdict, found.reasons[-1]) == ("usable with caution", "mostly_not_computed")


def test_five_thousand_agents_with_eighty_items_take_less_than_eight_seconds() -> None:
    rows = people(5000, 80)
    start = time.process_time()
    examine_answers(rows)
    assert time.process_time() - start < 8
