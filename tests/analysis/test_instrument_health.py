"""All checks without extra calls together: of a plausible population, and of five thousand agents."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.answers import read_answers
from enquete.analysis.coherence import coherence, order_smoothness
from enquete.analysis.diagnostics import QUALITY, Diagnostic, overall
from enquete.analysis.quality import human_anchor, nonresponse, variance_ratio
from tests.support.answer_frames import answer_frame


def examine_answers(frame: pd.DataFrame) -> list[Diagnostic]:
    """Coherence, order, quality and nonresponse, in the table's order."""
    answers = read_answers(frame)
    return [
        coherence(answers), order_smoothness(answers), variance_ratio(answers, None), *nonresponse(frame),
        *human_anchor(answers, None),
    ]  # fmt: skip


def people(n: int, m: int, seed: int = 0) -> pd.DataFrame:
    """Opinions of four types, each agent's own beside it, spread like people's; half of the items reversed, item order
    random by agent. Types explain 35% of the latent variance: a standard normal cut at the quantiles of the shares."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 4
    typical = rng.normal(size=(4, m))
    latent = np.sqrt(0.35) * (typical - typical.mean(axis=0)) / typical.std(axis=0)
    values = 1.0 + np.digitize(latent[kind] + np.sqrt(0.65) * rng.normal(size=(n, m)), [-1.08, -0.44, 0.41, 1.04])
    values[rng.random((n, m)) < 0.01] = np.nan
    order = np.argsort(rng.random((n, m)), axis=1) + 1
    options = np.where(rng.random((n, m)) < 0.5, "[1, 2, 3, 4, 5]", "[5, 4, 3, 2, 1]")
    types = [f"t{i}" for i in kind]
    return answer_frame(values, reverse=range(0, m, 2), types=types, positions=order, option_orders=options)


def test_plausible_answers_are_usable_as_far_as_checked() -> None:
    checks = examine_answers(people(100, 20))
    of_scales = [name for name in QUALITY if name != "contentless"]  # which reads the table's own column
    assert [check.name for check in checks] == ["coherence", "order_smoothness", *of_scales]
    assert {check.reason_code for check in checks if check.verdict == "not computed"} == {
        "no_human_sd",
        "no_human_marginals",
    }
    assert {check.name: check.verdict for check in checks if check.verdict not in ("fine", "not computed")} == {}
    assert overall(checks).verdict == "usable as far as checked"


@pytest.mark.parametrize(("agents", "seconds"), [(200, 3), pytest.param(5000, 8, marks=pytest.mark.soak)])
def test_many_agents_with_eighty_items_take_seconds(agents: int, seconds: int) -> None:
    rows = people(agents, 80)
    start = time.process_time()
    examine_answers(rows)
    assert time.process_time() - start < seconds
