"""Declared results: what is checked when they are made, what is read of them where, one correction for all tests of a
page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.reports.analyses import from_json, headlines
from enquete.reports.declarations import (
    Analysis,
    Finding,
    Presentation,
    Spread,
    Table,
    TextBlock,
    View,
    adjusted_p,
    code,
    flag,
    integer,
    interval,
    names,
    number,
    of,
    p_value,
    reference,
    several,
    shaped,
    share,
    text,
)  # fmt: skip
from enquete.reports.findings import corrected, stated_of
from enquete.reports.views import Names, Results

SIDES = {"up": "rose", "down": "fell"}
FRUIT = Table(
    name="fruit", title="Fruit", key=("fruit",), label="label", columns=(text("fruit", "id"), text("label", "Fruit"))
)
SOLD = Table(
    name="sold", title="Sold", key=("fruit", "town"),
    columns=(
        reference("fruit", "Fruit", to="fruit"), text("town", "Town"), integer("n", "n"), integer("n_total", "N"),
            of("n", "n_total", "n / N"),
        number("price", "price"), number("low", "lower"), number("high", "upper"),
            interval("low", "high", "95%", digits=1), share("part", "share"),
        flag("ripe", "ripe"), code("change", "change", SIDES, replicates=True), several("buyers", "buyers", to="agent"),
        p_value("p"), adjusted_p(),
    ),
    views=(
        View(at="section", columns=names("fruit town n_of_n_total price low_to_high part ripe change buyers p"),
            order=("-price",), top=2),
        View(at="appendix", heading="Prices", spread=Spread(column="town", rows=("fruit",), cells=("price",)),
            where="n > @least"),
        View(at="memory", says="{fruit} {change} in {town}"), View(at="digest", top=1),
    ),
)  # fmt: skip
CHANGED = Finding(
    name="changed", table="sold", p="p", order=("-price",), top=2, size="price / 10",
    says="“{fruit}” {change} in {town} ({p}; n = {n})", null="nothing of {tests} moved (the smallest {p})",
    estimate="price", low="low", high="high", test="t",
)  # fmt: skip
PRESENTATION = Presentation(
    tables=(FRUIT, SOLD), facts=(integer("least", "least"), share("open", "open")), findings=(CHANGED,),
    texts=(TextBlock(at="section", says="Open: {open}.", where="open > .1"),),
)  # fmt: skip


def sold(fruit: str, town: str, price: float | None, p: float | None = None, **more: Any) -> dict[str, Any]:
    known = {
        "n": 6, "n_total": 8, "low": price, "high": price, "part": 0.25, "ripe": True, "change": "up", "buyers": ["x"],
    }  # fmt: skip
    return {"fruit": fruit, "town": town, "price": price, "p": p, **known, **more}


FRUITS = [{"fruit": "a", "label": "Apples | red"}, {"fruit": "b", "label": "Pears"}]


def made(*rows: dict[str, Any], **facts: Any) -> Analysis:
    return shaped(PRESENTATION, {"fruit": FRUITS, "sold": rows}, {"least": 5, **facts})


def read(analysis: Analysis, language: str = "en") -> Results:
    final = corrected({"shop": (PRESENTATION, analysis)})["shop"]
    return Results("shop", PRESENTATION, final, Names(agents={"x": "Ada"}), language)


WHOLE = made(
    sold("a", "Kiel", 2.5, 0.01),
    sold("b", "Kiel", 1234.5, 0.5, change="down", ripe=None),
    sold("a", "Ulm", None, n=None),
)


@pytest.mark.parametrize(("change", "message"), [
    ({"tables": (Table(name="t", title="t", key=("gone",), columns=(integer("n", "n"),)),)}, "gone"),
    ({"tables": (Table(name="t", title="t", key=("n",), columns=(integer("n", "n"),),
        views=(View(at="section", where="m > 2"),)),)}, "m"),
    ({"tables": (Table(name="t", title="t", key=("n",), columns=(reference("n", "n", to="nowhere"),)),)}, "nowhere"),
    ({"tables": (FRUIT,), "findings": (Finding(name="f", table="fruit", says="{price}", n="", n_total=""),)}, "price"),
    ({"tables": (FRUIT,), "findings": (Finding(name="f", table="fruit", says="", p="label", n="", n_total=""),)},
        "p_adjusted"),
    ({"tables": (FRUIT,), "findings": (Finding(name="f", table="fruit", says="", after="g", n="", n_total=""),)},
        "'g'"),
    ({"tables": (FRUIT, FRUIT)}, "share a name"),
    ({"tables": (FRUIT,), "texts": (TextBlock(at="section", says="{least}"),)}, "least"),
])  # fmt: skip
def test_what_nobody_declared_is_named_when_declarations_are_made(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Presentation(**change)


def test_frames_have_the_declared_columns_and_types_and_missing_is_none_in_json() -> None:
    frame = WHOLE.tables["sold"]
    assert [str(frame[name].dtype) for name in names("n price ripe")] == ["Int64", "float64", "boolean"]
    assert "n_of_n_total" not in frame
    written = json.loads(json.dumps(WHOLE.as_json(PRESENTATION), allow_nan=False))
    assert (written["sold"][2]["n"], written["sold"][2]["price"], written["open"]) == (None, None, None)
    again = from_json(PRESENTATION, written)
    pd.testing.assert_frame_equal(again.tables["sold"], frame)
    assert shaped(PRESENTATION, {}, {}).tables["sold"].empty
    with pytest.raises(TypeError, match="colour"):
        shaped(PRESENTATION, {"fruit": [{**FRUITS[0], "colour": "red"}]}, {})
    with pytest.raises(TypeError, match="profit"):
        shaped(PRESENTATION, {}, {"profit": 3})


def test_a_view_chooses_orders_and_cuts_and_tells_cells_as_they_are_declared() -> None:
    text_ = read(WHOLE).at("section")
    assert "Open" not in text_  # the fact is missing
    assert text_.split("\n\n")[-1] == "2 of 3 rows; all are in exports/shop/sold.csv."
    rows = [line for line in text_.splitlines() if line.startswith("|")]
    assert rows[2] == "| Pears | Kiel | 6 / 8 | 1234.50 | [1234.5; 1234.5] | 25% | – | fell | Ada | 0.500 |"
    assert rows[3] == "| Apples \\| red | Kiel | 6 / 8 | 2.50 | [2.5; 2.5] | 25% | yes | rose | Ada | 0.010 |"
    assert "| 2,50 |" in read(WHOLE, "de").at("section")
    assert read(made(open=0.5)).at("section") == "Open: 50%."


@pytest.mark.parametrize(("n", "said"), [(1, "1 box opens."), (2, "2 boxes open."), (1000, "1,000 boxes open.")])
def test_a_noun_and_its_verb_take_the_form_that_their_count_needs(n: int, said: str) -> None:
    results, columns = read(made(least=n)), {column.name: column for column in PRESENTATION.facts.values()}
    assert results.fill("{least:box opens|boxes open}.", results.facts, columns, markdown=True) == said


def test_a_spread_makes_columns_of_values_and_says_how_many_it_leaves_out() -> None:
    text_ = read(made(*(sold("a", f"town {n}", n) for n in range(11)))).at("appendix")
    assert text_.startswith("### Prices\n\n| Fruit | town 0 |")
    assert text_.endswith("3 further columns are in the file.")


def test_programs_and_memories_read_the_same_cells() -> None:
    digest = read(WHOLE).digest()
    assert digest["tables"]["sold"]["rows"] == 3  # type: ignore[index, call-overload]
    first = digest["tables"]["sold"]["shown"][0]  # type: ignore[index, call-overload]
    assert (first["fruit"], first["price"], first["change"]) == ("Apples | red", 2.5, "rose")
    assert next(iter(read(WHOLE).remembered())) == ("sold/a/Kiel", "Apples | red rose in Kiel")
    compared = {headline.id: headline.said for headline in headlines(read(WHOLE))}
    assert compared["shop.sold.change.b/Kiel"] == "down"


def test_a_tested_row_is_told_once_it_survives_the_correction() -> None:
    (told,) = stated_of(read(WHOLE))
    # two tests in one family: Holm gives .02 and .5
    assert (told.text, told.kind, told.p) == ("“Apples | red” rose in Kiel (p = 0.02; n = 6)", "difference", 0.02)
    assert (told.estimate, told.low, told.test, told.family, told.numbers["n"]) == (
        2.5, 2.5, "t", f"shop/{PRESENTATION.findings[0].name}", 6,
    )  # fmt: skip
    (null,) = stated_of(read(made(sold("a", "Kiel", 2.5, 0.03), sold("b", "Kiel", 1.0, 0.5))))
    assert (null.kind, null.text) == ("null", "Nothing of 2 moved (the smallest p = 0.06)")


def test_methodologies_share_one_correction() -> None:
    both = {
        "one": (PRESENTATION, made(sold("a", "Kiel", 1, 0.01))),
        "two": (PRESENTATION, made(sold("a", "Kiel", 1, 0.02), sold("b", "Ulm", 1, 0.5))),
    }
    first, second = (corrected(both)[name].tables["sold"]["p_adjusted"].tolist() for name in both)
    assert first + second == pytest.approx([0.02, 0.04, 0.5])  # within "two" .04 and .5; .01·2, .04·1


def test_a_finding_waits_for_another_and_what_did_not_occur_counts() -> None:
    """Risen and fallen are two questions also where nothing fell: .01 · 2. Where .02 fell, it waits for what rose: .01
    · 1, .02 · 1."""

    def told(after: str, *rows: dict[str, Any]) -> list[float]:
        declared = (replace(CHANGED, name="risen", where="change == 'up'"),
               replace(CHANGED, name="fallen", where="change == 'down'", after=after))  # fmt: skip
        facts = tuple(PRESENTATION.facts.values())
        presentation = Presentation(tables=(FRUIT, SOLD), facts=facts, findings=declared, primary=())
        return corrected({"shop": (presentation, made(*rows))})["shop"].tables["sold"]["p_adjusted"].tolist()

    up, down = sold("a", "Kiel", 1, 0.01), sold("b", "Kiel", 1, 0.02, change="down")
    assert told("", up) == [0.02]
    assert told("", up, down) == [0.02, 0.02]
    assert told("risen", up, down) == [0.01, 0.02]


def test_primary_questions_share_the_error_rate_and_the_rest_says_that_it_is_exploratory() -> None:
    """Of one methodology with two questions "risen" is primary and holds all of .05, "fallen" a fifth of it: .01, and
    .004 / .2. A study that names "fallen" turns them round."""
    declared = (
        replace(CHANGED, name="risen", where="change == 'up'"),
        replace(CHANGED, name="fallen", where="change == 'down'"),
    )
    presentation = Presentation(tables=(FRUIT, SOLD), facts=tuple(PRESENTATION.facts.values()), findings=declared)
    analysis = made(sold("a", "Kiel", 1, 0.3), sold("b", "Kiel", 1, 0.004, change="down"))

    def told(named: dict[str, dict[str, float]]) -> tuple[list[float], dict[str, float], list[str]]:
        final = corrected({"shop": (presentation, analysis)}, named)["shop"]
        again = from_json(presentation, json.loads(json.dumps(final.as_json(presentation))))
        findings = stated_of(Results("shop", presentation, again, Names(), "en"))
        return final.tables["sold"]["p_adjusted"].tolist(), dict(again.primary or {}), [one.text for one in findings]

    adjusted, shares, texts = told({})
    assert (adjusted, shares) == (pytest.approx([0.3, 0.02]), {"risen": 1.0})
    assert texts == [
        "Nothing of 1 moved (the smallest p = 0.30)", "Exploratory: “Pears” fell in Kiel (p = 0.02; n = 6)",
    ]  # fmt: skip
    adjusted, shares, texts = told({"shop": {"fallen": 2.0}})
    assert (adjusted, shares) == (pytest.approx([0.3, 0.004]), {"fallen": 1.0})
    assert texts[1] == "“Pears” fell in Kiel (p < 0.01; n = 6)"
    adjusted, shares, _ = told({"shop": {"fallen": 1.0, "risen": 3.0}})
    assert (adjusted, shares) == (pytest.approx([0.3, 0.016]), {"fallen": 0.25, "risen": 0.75})
    with pytest.raises(TypeError, match="sold_out, which no finding tests; tested are none"):
        Presentation(tables=(FRUIT, SOLD), findings=(), facts=(), primary=("sold_out",))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.lists(st.floats(0, 1), max_size=8))
def test_no_correction_lowers_a_p_or_reorders_a_family(first: list[float], second: list[float]) -> None:
    both = {
        name: (PRESENTATION, made(*(sold("a", f"t{n}", 1, p) for n, p in enumerate(ps))))
        for name, ps in (("one", first), ("two", second))
    }
    for name, ps in (("one", first), ("two", second)):
        adjusted = corrected(both)[name].tables["sold"]["p_adjusted"].tolist()
        assert all(a >= p - 1e-12 for a, p in zip(adjusted, ps, strict=True))
        order = sorted(range(len(ps)), key=lambda k: ps[k])
        assert [adjusted[k] for k in order] == sorted(adjusted)
