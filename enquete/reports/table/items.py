"""Every item of a run's table as it was asked: wording in the instrument's languages, scale, labels, keying."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd
from pydantic import JsonValue

from enquete.nodes.planning import rounds_owed
from enquete.reports.context import ItemFacts
from enquete.reports.run_reading import RunReading
from enquete.reports.table.stage import item_facts_of
from enquete.respondents.neutral import control_items
from enquete.state.asking import Item, Language

MOST_BARREN = 3
"""Units in a row that owe nothing new, before the rest is taken to owe the same."""

_THEME = re.compile(r"^\[(?P<id>[^\]]+)\] (?P<label>.+?)(?:\. .*)?$", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """One item of one methodology. Texts by language; None where it has no scale."""

    methodology: str
    item_id: str
    kind: str  # see respondents/kinds; "" where nobody could say
    wording: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)  # language → option value → label
    scale_min: int | None = None
    scale_max: int | None = None
    reverse_keyed: bool = False
    family: str = ""
    family_label: dict[str, str] = field(default_factory=dict)
    dimension: str = ""
    phases: tuple[str, ...] = ()
    rounds: tuple[int, ...] = ()
    confidence: bool = False
    reason: bool = False
    about: str = ""  # the theme that is rated, in the run's own language

    def text(self, language: Language) -> str:
        """Its wording in this language, else in any, else its id."""
        return self.wording.get(language) or next(iter(self.wording.values()), self.item_id)

    def label(self, value: float, language: Language) -> str:
        """The label of a scale point, "" where it has none."""
        labels = self.labels.get(language) or next(iter(self.labels.values()), {})
        return labels.get(f"{value:g}", "")


def items(reading: RunReading, frame: pd.DataFrame) -> list[Asked]:
    """Every (methodology, item) of the table, in its order. Rows of an earlier run are of the same instrument."""
    found: list[Asked] = []
    for name in dict.fromkeys(frame["methodology"]):
        rows = _places(frame.loc[frame["methodology"].eq(name), ["item_id", "phase", "round"]])
        texts = {
            language: {item.id: item for item in control_items(language)} | dict(_asked(reading, name, rows, language))
            for language in _languages(reading, name)
        }
        labels = labels_of(dict(reading.record.instruments[name].content))
        facts = item_facts_of(reading, name)
        found += _told_apart([_described(name, item, rows[item], facts(item), texts, labels) for item in rows])
    return found


Places = Mapping[str, Sequence[tuple[str, int]]]
"""Phases and rounds in which an item was asked, by item, in the table's order."""


def _places(rows: pd.DataFrame) -> Places:
    found: dict[str, dict[tuple[str, int], None]] = {}
    for item, phase, number in zip(rows["item_id"], rows["phase"], rows["round"], strict=True):
        found.setdefault(item, {})[phase, int(number)] = None
    return {item: tuple(places) for item, places in found.items()}


def _told_apart(found: list[Asked]) -> list[Asked]:
    """Where items share a wording (the same question about several scenarios), the family's name stands before it."""
    times = Counter(text for one in found for text in one.wording.values())
    return [
        replace(
            one,
            wording={
                language: f"{one.family_label[language]}: {text}"
                if times[text] > 1 and language in one.family_label
                else text
                for language, text in one.wording.items()
            },
        )
        for one in found
    ]


def labels_of(content: JsonValue) -> dict[str, dict[str, str]]:
    """Labels of an instrument's parts by id: of entries with an `…_id` and a `label`, and of mappings id → {label}."""
    found: dict[str, dict[str, str]] = {}
    if isinstance(content, list):
        for entry in content:
            found |= labels_of(entry)
    elif isinstance(content, dict):
        own = next((value for key, value in content.items() if key.endswith("_id")), None)
        for name, part in [(own, content), *content.items()]:
            label = part.get("label") if isinstance(part, Mapping) else None
            if isinstance(name, str) and isinstance(label, Mapping):
                found[name] = {str(language): str(text) for language, text in label.items()}
        for part in content.values():
            found |= labels_of(part)
    return found


def _languages(reading: RunReading, name: str) -> list[Language]:
    """The run's language first, then the others that the instrument promises."""
    own = reading.record.language
    declared = getattr(reading.instrument(name), "languages", None) or ()
    return [own, *(language for language in declared if language != own)]


def _asked(reading: RunReading, name: str, rows: Places, language: Language) -> Iterator[tuple[str, Item]]:
    """Items by id, from the blocks that the procedure would ask in this language; stops once all are known."""
    make = reading.methodology(name).procedure
    procedure = make(reading.instrument(name), reading.settings(name), language)
    for phase in dict.fromkeys(phase for places in rows.values() for phase, _ in places):
        desk = replace(reading.desk(name, phase, reading.record.main), language=language)
        for number in rounds_owed(procedure.rounds, desk):
            missing = set(rows)
            barren = 0
            for unit in procedure.units(number, desk):
                try:
                    blocks = procedure.blocks(unit, number, desk)
                except Exception:  # a unit that a bug broke: another one knows the item's wording too
                    continue
                fresh = [item for block in blocks for item in block.items if item.id in missing]
                yield from ((item.id, item) for item in fresh)
                barren = 0 if fresh else barren + 1
                if barren > MOST_BARREN:
                    break
                missing -= {item.id for item in fresh}


def _described(
    name: str,
    item_id: str,
    places: Sequence[tuple[str, int]],
    facts: ItemFacts,
    texts: dict[Language, dict[str, Item]],
    labels: Mapping[str, dict[str, str]],
) -> Asked:
    known = {language: items[item_id] for language, items in texts.items() if item_id in items}
    first = next(iter(known.values()), None)
    return Asked(
        methodology=name,
        item_id=item_id,
        kind=first.kind if first else "",
        wording={language: _wording(item) for language, item in known.items()},
        labels={
            language: {str(option.value): option.label for option in item.options if option.label}
            for language, item in known.items()
            if item.options
        },
        scale_min=facts.scale_min,
        scale_max=facts.scale_max,
        reverse_keyed=facts.reverse_keyed,
        family=facts.family,
        family_label=labels.get(facts.family, {}),
        dimension=facts.dimension,
        phases=tuple(dict.fromkeys(phase for phase, _ in places)),
        rounds=tuple(dict.fromkeys(number for _, number in places)),
        confidence=bool(first and first.confidence),
        reason=any(item.reason for item in known.values()),
        about=first.about if first else "",
    )


def _wording(item: Item) -> str:
    """The question; where it points to a theme by its id, the theme's name stands there."""
    theme = _THEME.match(item.about)
    return item.wording.replace(f"[{theme['id']}]", theme["label"]) if theme else item.wording
