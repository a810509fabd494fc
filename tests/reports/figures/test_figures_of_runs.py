"""Figures of what is nobody's own: instrument health at a glance, and findings over replicates."""

from __future__ import annotations

from typing import Any

from enquete.graphs.registry import dotted_paths
from enquete.reports.figures import chosen, drawn
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.svg import svg
from tests.support.pictures import overlapping, placed_texts

ALL = dotted_paths()


def check(methodology: str, name: str, verdict: str, *, probe: bool = False) -> dict[str, Any]:
    return {"methodology": methodology, "name": name, "verdict": verdict, "probe": probe}


HEALTH: dict[str, Any] = {
    "synthetic": True,
    "verdicts": {"delphi": {"verdict": "usable with caution"}, "scenario": {"verdict": "usable"}},
    "diagnostics": [
        check("delphi", "coherence", "fine"), check("delphi", "coherence", "information"), check("scenario", "coherence", "not computed"),
        check("delphi", "refusal_rate", "caution"), check("scenario", "refusal_rate", "fine"),
        check("scenario", "test_retest", "fine", probe=True),
    ],
}  # fmt: skip


def headline(
    methodology: str, kind: str, about: list[str], main: Any, further: list[Any], agreeing: int
) -> dict[str, Any]:
    said = {"methodology": methodology, "kind": kind, "about": about, "main": main, "further": further}
    return {**said, "n": len(further), "n_agreeing": agreeing}


REPLICATES: dict[str, Any] = {
    "arms": ["main", "replicate:1", "replicate:2"],
    "headlines": {
        "delphi.w": headline("delphi", "w_low", ["importance"], 0.2, [0.1, 0.4], 2),
        "scenario.order": headline("scenario", "order", ["A", "B"], 2, [1, 3], 1),
        "scenario.quadrant": headline("scenario", "quadrant", ["A"], "feared", ["feared", "feared"], 2),
    },
}


def of(name: str, **files: Any) -> Figure:
    return chosen(name, drawn(ALL, {}, "en", **files))


def test_every_check_has_the_worst_verdict_of_its_occasions_what_was_found_on_top() -> None:
    one = of("health", health=HEALTH)
    cells = one.spec["data"][0]
    assert one.spec["layout"]["yaxis"]["ticktext"][:2] == ["<b>Verdict</b>", "Refused answers"]
    assert cells["text"] == [["!", "+"], ["!", "+"], ["+", "–"], ["", "+"]]
    assert "5 of 6 checks computed" in one.note
    assert "answers are synthetic" in one.note
    assert "caution 1" in one.alt
    assert "usable with caution" in one.alt


def test_findings_stand_beside_those_of_further_runs() -> None:
    """Words have no place on an axis: the quadrant is left out."""
    one = of("replicates", replicates=REPLICATES)
    spans = [each for each in one.spec["data"] if each["type"] == "bar"]
    assert [(each["base"], each["x"]) for each in spans] == [([0.1], [0.30000000000000004]), ([1], [2])]
    assert [each["x"] for each in one.spec["data"] if each.get("name") == "main arm"] == [[0.2], [2]]
    assert one.alt == "2 findings over 2 further runs; 1 of them are found again in all."


def test_both_can_be_read() -> None:
    for one in drawn(ALL, {}, "de", health=HEALTH, replicates=REPLICATES):
        picture = svg(one.spec, one.alt)
        assert [text.text for text in placed_texts(picture) if not text.inside] == []
        assert overlapping(picture) == []


def test_a_run_without_checks_or_replicates_has_neither() -> None:
    assert (
        drawn(ALL, {}, "en", health={"verdicts": {}, "diagnostics": []}, replicates={"arms": [], "headlines": {}}) == []
    )
