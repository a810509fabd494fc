"""The sentences of the two waves: every number recomputed from the rows with pandas and scipy alone, and what is not said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.findings import findings
from enquete.reports.context import AnalysisContext
from enquete.reports.key_findings import MOST_WORDS, KeyFinding
from enquete.state.asking import Language
from tests.graphs.test_longitudinal_analysis import INSTRUMENT, MEASURED, PLACEBO, TYPES, Wave, frame, rows

ITEMS = [item.item_id for item in INSTRUMENT.items]
REVERSED, STRAIGHT = "stock_baltic_loss", "stock_cod_recovery"


def panel(n: int, shifts: dict[str, int]) -> tuple[Wave, Wave]:
    """n agents who answer 1–5 at random and, of the items with a shift, move by it in ten of twelve cases."""
    rng = np.random.default_rng(7)
    who = [f"p{i}" for i in range(n)]
    TYPES.update(dict.fromkeys(who, "fisher"))
    first: Wave = {one: {item: float(rng.integers(2, 5)) for item in ITEMS} for one in who}
    second: Wave = {
        one: {item: value + (i % 12 < 10) * shifts.get(item, 0) for item, value in first[one].items()}
        for i, one in enumerate(who)
    }
    return first, second


def said(
    first: Wave, second: Wave, context: AnalysisContext = MEASURED, language: Language = "en", more: Sequence[Any] = ()
) -> tuple[pd.DataFrame, list[KeyFinding]]:
    table = frame(rows("T0", first), rows("T1", second, memory=tuple(first)), *more)
    return table, list(findings(dict(analyse(table, INSTRUMENT, None, context)), language))


def holm(p: pd.Series) -> pd.Series:
    ordered = p.sort_values()
    return (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1)


def signed_rank(d: pd.Series) -> float:
    """Exact for up to 2¹⁴ sign patterns."""
    moved = d[d != 0]
    exact = stats.PermutationMethod(n_resamples=2**14)
    return float(stats.wilcoxon(moved, method=exact).pvalue)


def test_every_number_is_one_of_the_table() -> None:
    table, found = said(*panel(14, {STRAIGHT: 1, REVERSED: -1}))
    wave = {
        name: rows.pivot(index="participant", columns="item_id", values="value")
        for name, rows in table.groupby("phase")
    }
    change = wave["T1"] - wave["T0"]
    tested = [item for item in ITEMS if change[item].any()]
    p = holm(pd.Series({item: signed_rank(change[item]) for item in tested}))
    for one in found:
        (item,) = one.items
        values = wave["T1"][item] if one.kind == "position" else change[item]
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        assert one.numbers["n"] == one.n == values.notna().sum() == one.n_total
        assert (one.numbers["low"], one.numbers["high"]) == pytest.approx((max(low, -4), min(high, 5)))
        if one.kind == "position":
            assert one.numbers["mean"] == pytest.approx(values.mean())
        else:
            assert one.numbers["change"] == pytest.approx(values.mean())
            assert one.numbers["p"] == one.p == pytest.approx(p[item])
    assert [(one.kind, one.items[0]) for one in found[:2]] == [("difference", STRAIGHT), ("difference", REVERSED)]
    assert found[0].text.startswith("2 of 2 statements moved, most of all “The western Baltic cod stock will recover ")
    assert "agreement rose by 0.86 (scale 1–5; 95% interval" in found[0].text
    assert (
        "fell by 0.86 from T0 to T1 (scale 1–5; 95% interval 0.65 to 1.07; adjusted p < 0.01; n = 14/14)"
        in found[1].text
    )
    ends = wave["T1"][ITEMS].mean()
    assert [one.items[0] for one in found[2:]] == [ends.idxmax(), ends.idxmin()]


def test_a_null_is_said_as_a_null() -> None:
    first, _ = panel(14, {})
    second = {who: {**values, STRAIGHT: values[STRAIGHT] + (i < 2)} for i, (who, values) in enumerate(first.items())}
    _, found = said(first, second)
    # two changes of one: p = 2/2², and no other item has a p
    assert (found[0].kind, found[0].p, found[0].numbers["tested"]) == ("null", 0.5, 1)
    assert found[0].text.startswith("No statement changed more than chance: 1 tested, the largest change 0.14, in “The")
    _, unmoved = said(first, first)
    assert unmoved[0].text == "Nobody changed an answer to any of 14 statements between T0 and T1 (n = 14/14)."
    # seven agents: 2/2⁷ · 14 statements = .22
    few, moved = panel(7, dict.fromkeys(ITEMS, 1))
    _, found = said(few, moved)
    assert found[0].kind == "null"
    assert found[0].text.startswith("7 agents are too few to tell whether a statement changed")
    assert found[0].text.endswith("p adjusted for 14 statements would still be 0.22.")


def test_with_a_placebo_arm_only_what_goes_beyond_it_is_stated() -> None:
    """One statement moves under either memory, a reverse-keyed one under the agents' own alone: it falls as answered."""
    first, second = panel(14, {STRAIGHT: 1, REVERSED: -1})
    _, neutral = panel(14, {STRAIGHT: 1})
    _, found = said(first, second, more=[rows("T1", neutral, arm=PLACEBO)])
    change = pd.Series({who: second[who][REVERSED] - neutral[who][REVERSED] for who in first})
    (one, *others) = found
    assert [each.kind for each in others] == ["position", "position"]
    assert one.items == (REVERSED,)
    assert one.numbers == {"change": pytest.approx(change.mean()), "p": pytest.approx(signed_rank(change)), "n": 14}
    assert one.text.startswith("Against a neutral memory, agreement with “The decline of fish stocks in the Baltic Sea")
    _, nothing = said(first, second, more=[rows("T1", second, arm=PLACEBO)])
    assert nothing[0].text == (
        "No answer to any of 14 statements differs from the one with a neutral memory (n = 14/14)."
    )


@pytest.mark.parametrize(
    "context",
    [
        AnalysisContext(language="en", baseline="reconstructed"),
        AnalysisContext(language="en", baseline="measured", incomparable=("The model was x",)),
    ],
    ids=["reconstructed", "incomparable"],
)
def test_without_tests_no_change_is_stated(context: AnalysisContext) -> None:
    _, found = said(*panel(14, {STRAIGHT: 1}), context)
    assert [one.kind for one in found] == ["position", "position"]


def test_fewer_than_five_agents_have_no_finding() -> None:
    assert [one.kind for one in said(*panel(4, {STRAIGHT: 1}))[1]] == ["null"]
    assert list(findings({}, "en")) == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_finding_is_a_short_sentence_however_long_the_statement(language: Language) -> None:
    _, found = said(
        *panel(14, dict.fromkeys(ITEMS, 1)), AnalysisContext(language=language, baseline="measured"), language
    )
    assert len(found) == 10
    for one in found:
        assert len(one.text.split()) <= MOST_WORDS
        assert one.text[-1] == "."
        assert ("„" if language == "de" else "“") in one.text
