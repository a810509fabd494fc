"""Answers as a page lists them: chosen, searched, page by page, each with its question, who gave it, and where its request is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.interfaces.web.run.table import ANY, GIVEN, Where, Wording, marked, phrases
from enquete.locale import N_, decimals
from enquete.reports.accounts import STATUSES
from enquete.state.asking import RESPONDED

PER_PAGE = 50
MOST_ITEMS = 400
"""Items that a list to choose from holds."""
STATUS_WORDS: Mapping[str, str] = {GIVEN: N_("given"), ANY: N_("any"), **STATUSES}


@dataclass(frozen=True)
class Shown:
    """One answer. given: what was answered, without its words; pieces: its words, those looked for marked."""

    row: Mapping[str, Any]
    wording: Wording
    kind: str
    given: str
    pieces: list[tuple[str, bool]]
    link: str
    agent: str

    @property
    def is_given(self) -> bool:
        return self.row["status"] in RESPONDED


@dataclass(frozen=True)
class Choice:
    value: str
    text: str
    chosen: bool


@dataclass(frozen=True)
class Listing:
    """page: from 1."""

    where: Where
    total: int
    page: int
    answers: list[Shown]

    @property
    def pages(self) -> int:
        return pages_of(self.total)


def pages_of(total: int) -> int:
    return max(1, -(-total // PER_PAGE))


def listing(run: OpenRun, where: Where, page: int, language: str) -> Listing:
    places = run.table.places(where)
    page = min(max(page, 1), pages_of(len(places)))
    rows = run.table.rows(places[(page - 1) * PER_PAGE : page * PER_PAGE])
    return Listing(where, len(places), page, list(shown(run, rows, where.words, language)))


def shown(run: OpenRun, rows: Iterable[Mapping[str, Any]], words: str, language: str) -> Iterable[Shown]:
    wanted = phrases(words)
    for row in rows:
        wording = run.wording(row["methodology"], row["item_id"])
        yield Shown(
            row, wording, run.type_name(row["stakeholder_type"]), given(row, wording, language),
            marked(row["text"], wanted), run.answer(row), run.agent(row["participant"]),
        )  # fmt: skip


def given(row: Mapping[str, Any], wording: Wording, language: str) -> str:
    """A closed answer in words: its number with its label, or what was chosen; "" for one in words alone."""
    if row["value"] is None:
        return str(row["chosen"] or "")
    number = decimals(f"{row['value']:g}", language)
    label = row["chosen"] or wording.labels.get(f"{row['value']:g}", "")
    return f"{number} · {label}" if label and label != number else number


def choices(run: OpenRun, where: Where) -> dict[str, list[Choice]]:
    """What can be chosen by, each with what is chosen."""
    methodology = where.one("methodology")
    items = [one for one in run.wordings.values() if not methodology or one.methodology == methodology]
    texts = {
        "methodology": list(run.titles.items()),
        "stakeholder_type": sorted(((kind, run.type_name(kind)) for kind in run.table.kinds("stakeholder_type")), key=lambda one: one[1]),
        "item_id": list({one.item_id: one.text for one in items[:MOST_ITEMS]}.items()),
        "phase": [(phase, phase) for phase in run.table.kinds("phase")],
        "arm": [(arm, arm) for arm in run.table.kinds("arm")],
    }  # fmt: skip
    return {
        name: [Choice(value, text, where.arm == value if name == "arm" else where.one(name) == value) for value, text in entries if value]
        for name, entries in texts.items()
    }  # fmt: skip


def further(run: OpenRun, where: Where) -> list[tuple[str, str]]:
    """What else an address chooses by, which no list has: name and value, to be said and taken away."""
    told = []
    for name, values in where.all_chosen.items():
        one = where.one(name)
        if name == "participant":
            told.append((name, _names(run, values)))
        elif name in ("round", "turn", "value", "chosen", "session") or (name == "item_id" and not one):
            told.append((name, ", ".join(values[:3]) + (f" … ({len(values)})" if len(values) > 3 else "")))
    return told


def _names(run: OpenRun, people: tuple[str, ...]) -> str:
    names = [run.names.get(one, one) for one in people[:5]]
    return ", ".join(names) + (f" … ({len(people)})" if len(people) > 5 else "")
