"""The instruments of a run with their items, and how each item did: answers, mean, how they spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.interfaces.web.run.table import ANY, Where, Wording
from enquete.state.asking import RESPONDED


@dataclass(frozen=True)
class ItemRow:
    """n: answers of the main arm, of n_total planned, over all phases and rounds. shapes: of a closed item, one a phase and round."""

    wording: Wording
    n: int
    n_total: int
    shapes: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class UsedInstrument:
    methodology: str
    title: str
    facts: Mapping[str, Any]
    verdict: str
    items: list[ItemRow]


def used_instruments(run: OpenRun) -> list[UsedInstrument]:
    book, health = run.json("exports", "codebook.json"), run.json("health.json")
    shapes: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for shape in health.get("shapes", []):
        shapes.setdefault((shape["methodology"], shape["item"]), []).append(shape)
    verdicts = health.get("verdicts", {})
    facts = {one["methodology"]: one for one in book.get("instruments", [])}
    counts = _counts(run)
    return [
        UsedInstrument(
            name, title, facts.get(name, {}), verdicts.get(name, {}).get("verdict", ""),
            [
                ItemRow(wording, *counts.get(key, (0, 0)), shapes.get(key, []))
                for key, wording in run.wordings.items() if key[0] == name
            ],
        )
        for name, title in run.titles.items()
    ]  # fmt: skip


def _counts(run: OpenRun) -> dict[tuple[str, str], tuple[int, int]]:
    """Answers and planned rows of every item, main arm."""
    own = run.table.frame.iloc[run.table.places(Where(status=ANY))]
    given = own["status"].isin(RESPONDED)
    grouped = given.groupby([own["methodology"], own["item_id"]], observed=True).agg(["sum", "size"])
    return {
        (str(name), str(item)): (int(n), int(total))
        for (name, item), n, total in zip(grouped.index, grouped["sum"], grouped["size"], strict=True)
    }
