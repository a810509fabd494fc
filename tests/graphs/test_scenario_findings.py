"""The sentences about scenarios: every number recomputed from the rows with pandas and scipy alone, and what is not said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.graphs.scenario.analysis import analyse
from enquete.graphs.scenario.findings import findings
from enquete.reports.context import AnalysisContext
from enquete.reports.key_findings import MOST_WORDS, KeyFinding
from enquete.state.asking import Language
from tests.graphs.test_longitudinal_findings import holm, signed_rank
from tests.graphs.test_scenario_analysis import DIMENSIONS, INSTRUMENT, SCENARIOS, TYPES, Matrix, table

MEANT = {"erholung": (6, 3), "kollaps": (2, 5), "festung_europa": (4, 4), "privatisierung": (4, 4)}


def ratings(n: int, apart: bool = True) -> dict[str, Matrix]:
    """n agents, by turns of two types, who rate around what is `MEANT`; the types part on “Privatisierung”."""
    rng = np.random.default_rng(5)
    made: dict[str, Matrix] = {}
    for i in range(n):
        TYPES[f"s{i}"] = ("fisher", "industry")[i % 2]
        side = (-2, 2)[i % 2]
        made[f"s{i}"] = {
            name: [
                float(np.clip(center + (side if apart and name == "privatisierung" else 0) + rng.integers(-1, 2), 1, 7))
                for center in ((*MEANT[name], *MEANT[name]) if apart else (4, 4, 4, 4))
            ]
            for name in SCENARIOS
        }
    return made


def said(answers: dict[str, Matrix], language: Language = "en") -> tuple[pd.DataFrame, list[KeyFinding]]:
    rows = table(answers)
    return rows, list(findings(analyse(rows, INSTRUMENT, None, AnalysisContext(language=language)), language))


def interval(values: pd.Series) -> tuple[float, float]:
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return max(low, 1), min(high, 7)


def test_every_number_is_one_of_the_table() -> None:
    rows, found = said(ratings(12))
    wide = rows.pivot(index="participant", columns="item_id", values="value")
    assert [one.id for one in found[:3]] == ["desirability.highest", "place.erholung", "place.kollaps"]
    highest, wished, _ = found[:3]
    best, worst = highest.items
    pairs = [(a, b) for i, a in enumerate(SCENARIOS) for b in SCENARIOS[i + 1 :]]
    p = holm(pd.Series({(a, b): signed_rank(wide[f"{b}/desirability"] - wide[f"{a}/desirability"]) for a, b in pairs}))
    assert (best, worst) == ("erholung/desirability", "kollaps/desirability")
    assert highest.numbers["change"] == pytest.approx((wide[best] - wide[worst]).mean())
    assert highest.numbers["p"] == highest.p == pytest.approx(p["erholung", "kollaps"])
    for item, ends, finding in ((best, "", highest), (worst, "_lowest", highest), (best, "", wished)):
        assert finding.numbers[f"mean{ends}"] == pytest.approx(wide[item].mean())
        assert [finding.numbers[f"{end}{ends}"] for end in ("low", "high")] == pytest.approx(interval(wide[item]))
    expected = wide["erholung/plausibility"]
    assert [wished.numbers[f"{name}_expected"] for name in ("mean", "low", "high")] == pytest.approx(
        [expected.mean(), *interval(expected)]
    )
    assert wished.text.startswith("“Recovery” is wished for, not expected: Desirability ")
    kinds = rows.drop_duplicates("participant").set_index("participant")["stakeholder_type"]
    (groups, *_) = (one for one in found if one.id.startswith("groups.privatisierung/"))
    samples = [wide[groups.items[0]][kinds.eq(kind)] for kind in ("fisher", "industry")]
    assert groups.numbers["effect"] == pytest.approx(stats.kruskal(*samples).statistic / 11)
    assert [groups.numbers["mean_lowest"], groups.numbers["mean"]] == pytest.approx([one.mean() for one in samples])
    assert "(fisher) to" in groups.text
    assert "2 groups" in groups.text
    assert {one.id for one in found} >= {f"{dimension}.highest" for dimension in DIMENSIONS[1:]}


def test_what_was_not_found_is_said_as_a_null_and_little_is_said_of_few() -> None:
    _, found = said(ratings(14, apart=False))
    nulls = [one.text for one in found if one.kind == "null"]
    assert nulls[0].startswith("Desirability: no scenario differs from another more than chance; 6 pairs tested")
    assert [one.kind for one in found] == ["position"] * (len(found) - len(nulls)) + ["null"] * len(nulls)
    # 7 agents: 2/2⁷ · 6 pairs = .09; types of 4 and 3 agents are not compared
    few = [one.text for one in said(ratings(7))[1] if one.kind == "null"]
    assert few == [
        "Desirability: 7 agents are too few to tell scenarios apart; had all agreed, p adjusted for 6 pairs would still "
        "be 0.09."
    ]
    assert [one.kind for one in said(ratings(3))[1]] == ["null"]
    assert list(findings({}, "en")) == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_finding_is_a_short_sentence(language: Language) -> None:
    _, found = said(ratings(14), language)
    for one in found:
        assert len(one.text.split()) <= MOST_WORDS
        assert ("„" if language == "de" else "“") in one.text
