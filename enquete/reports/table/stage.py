"""Rows of one methodology in one phase: plan and answers joined on the answer's key, some agents at a time.

Rows always equal the plan, none stands twice, their order is that of the plan. The ledger stores what was answered;
`not_reached` is derived here and nowhere stored. Tokens of a block of items stand on the block's first row and are empty
on its others, so that the columns sum to what `answer` calls spent.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from enquete.analysis.content import Beside
from enquete.nodes.planning import closed, rounds_owed
from enquete.reports.context import ItemFacts
from enquete.reports.evaluation import evaluation
from enquete.reports.run_reading import RunReading
from enquete.reports.table.contents import Contents, beside
from enquete.reports.table.row import ANSWER, COLUMNS, OCCASION
from enquete.respondents.kinds import kind_of
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.neutral import control_scale
from enquete.state.asking import Arm, Block, Item

AT_ONCE = 500
"""Agents whose rows are joined at a time: a large study is never in memory as Python objects."""
BLOCK = [*OCCASION, "part"]
READ = (
    *ANSWER,
    "part",
    "status",
    "value",
    "text",
    "confidence",
    "data",
    "notes",
    "item_position",
    "option_order",
    "asked_at",
)
"""What the ledger holds of an answer, in the order of `RunReading.answers`."""
NOTHING = (None,) * (len(READ) - len(BLOCK) - 2)
"""In place of an answer that there is none of: value, text, …"""
TOKENS = ("input_tokens", "output_tokens")

Row = tuple[Any, ...]
Key = tuple[str, str, int, int, str, str]
"""Of an answer, as ANSWER names its parts."""
Columns = dict[str, Sequence[Any]]
"""Rows by column, as plain lists: a small stage in frames costs ten times as much."""


class Stage:
    """Whose rows: a run, one of its methodologies, a phase."""

    def __init__(self, reading: RunReading, methodology: str, phase: str):
        self.reading, self.methodology, self.phase = reading, methodology, phase
        self.procedure = reading.procedure(methodology)
        self._items: dict[str, Item] = {}
        self._facts = item_facts_of(reading, methodology)
        self._own = reading.methodology(methodology).answer_columns
        self._contents = Contents()
        self._persons: set[tuple[str, str]] = set()  # (arm, participant) whose seat is a person's
        self._told: set[int] = set()  # blocks of an arm whose tokens stand on a row, by their hashes

    def rows(self) -> Iterator[Columns]:
        """All of them in the table's columns, some agents at a time, and `block`: the part an answer was given in, "" where
        there is none. What an arm answered beyond the plan comes last."""
        for arm in table_arms(self.reading):
            desk = self.reading.desk(self.methodology, self.phase, arm)
            owed, answered = array("q"), 0  # keys by their hashes: those of a large study would fill the memory
            self._told.clear()
            for plan, seen in self._plans(desk):
                rows = self._answered(arm, plan)
                answered += len(rows)
                owed.extend(map(hash, plan))
                missing = "not_reached", *NOTHING
                yield self._filled(arm, [rows.get(key) or (*key, part, *missing) for key, part in plan.items()], seen)
            if self.reading.answered(self.methodology, self.phase, arm.id) > answered:
                known, every = frozenset(owed), self.reading.answers(self.methodology, self.phase, arm.id)
                beyond = sorted((row for row in every if hash(row[: len(ANSWER)]) not in known), key=self._last)
                yield self._filled(arm, beyond, {})

    def _plans(self, desk: LedgerContext) -> Iterator[tuple[dict[Key, str], dict[Key, Beside]]]:
        everybody = {who.id for who in desk.participants()}
        for number in rounds_owed(self.procedure.rounds, desk):
            units = self.procedure.units(number, desk)
            at_once = AT_ONCE if everybody.issuperset(units) else max(1, len(units))  # a discussion is everybody's
            for start in range(0, len(units), at_once):
                plan, seen = self._planned(desk, number, units[start : start + at_once])
                if plan:
                    yield plan, seen

    def _answered(self, arm: Arm, plan: Mapping[Key, str]) -> dict[Key, Row]:
        rounds, whose = sorted({key[2] for key in plan}), sorted({key[4] for key in plan})
        found = self.reading.answers(self.methodology, self.phase, arm.id, rounds, whose)
        return {row[: len(ANSWER)]: row for row in found if row[: len(ANSWER)] in plan}

    def _planned(
        self, desk: LedgerContext, number: int, units: Sequence[str]
    ) -> tuple[dict[Key, str], dict[Key, Beside]]:
        """What these owe, as far as it is known, with the part it is asked in, since ratings exist only once there are
        themes; and what was seen beside the items that are answered in words."""
        owed: dict[Key, str] = {}
        seen: dict[Key, Beside] = {}
        for unit in units:
            for block in self._blocks(unit, number, desk):
                if block.by_person:
                    self._persons.add((desk.arm.id, block.key.participant))
                for part in desk.parts(block):
                    k = part.key
                    self._items.update((item.id, item) for item in part.items)
                    for item in part.in_shown_order():
                        key = (k.arm, k.session, k.round, k.turn, k.participant, item.id)
                        if key in owed:
                            twice = dict(zip(ANSWER, key, strict=True))
                            raise RuntimeError(f"{self.methodology} {self.phase}: the plan owes {twice} twice")
                        owed[key] = k.part
                        if item.kind == "text" or item.reason:
                            seen[key] = beside(item, part.items)
        return owed, seen

    def _blocks(self, unit: str, number: int, desk: LedgerContext) -> Sequence[Block]:
        """What a unit owes. Where a recorded bug keeps it from saying so, its answers are all that is known of it."""
        try:
            return self.procedure.blocks(unit, number, desk)
        except Exception:
            if (desk.arm.id, self.methodology, self.phase, number, unit) in self.reading.failed_units:
                return ()
            raise

    def undetermined(self) -> set[str]:
        """Who of the main arm will owe more than is known by now: ratings, where there are no themes to be rated yet."""
        desk = self.reading.desk(self.methodology, self.phase, self.reading.record.main)
        everybody = {who.id for who in desk.participants()}
        found: set[str] = set()
        for number in rounds_owed(self.procedure.rounds, desk):
            if desk.frozen(closed(number)) is None:
                units = self.procedure.units(number, desk)
                unknown = {unit for unit in units if not self._blocks(unit, number, desk)}
                found |= unknown if unknown <= everybody else everybody  # a discussion is everybody's
        return found

    def _last(self, row: Row) -> tuple[Any, ...]:
        _, session, _, turn, who, item, *_ = row
        places = self._places
        return places.get(who, len(places)), session, turn, row[READ.index("item_position")], item

    def _filled(self, arm: Arm, rows: Sequence[Row], seen: Mapping[Key, Beside]) -> Columns:
        table: Columns = dict(zip(READ, zip(*rows, strict=True), strict=True))
        table |= self._of_calls(arm, table)
        table |= self._of_people(table["participant"])
        table |= self._of_items(table)
        table |= self._of_run(arm, table)
        table["content"] = self._contents.of(table, seen)
        table |= self._of_data(table)
        answered = zip(table["part"], table["status"], strict=True)
        table["block"] = ["" if status == "not_reached" else part for part, status in answered]
        return {column: table[column] for column in (*COLUMNS, "block", "notes", *self._own)}

    def _of_calls(self, arm: Arm, table: Columns) -> Columns:
        """Attempts, first prompt and time on every row of the block; tokens on its first row alone."""
        blocks = zip(*(table[name] for name in BLOCK[1:]), strict=True)
        subjects = [f"{who}|{session}|{round_}|{turn}|{part}" for session, round_, turn, who, part in blocks]
        asked = self.reading.answer_calls(self.methodology, self.phase, arm.id, list(dict.fromkeys(subjects)))
        known = {subject: figures for subject, *figures in asked}
        nothing, untold = [0, None, None, None, None], [None] * len(TOKENS)
        found = []
        for subject in subjects:
            figures, name = known.get(subject, nothing), hash(subject)
            found.append([*figures[: -len(untold)], *untold] if name in self._told else figures)
            self._told.add(name)
        names = ("attempts", "prompt_hash", "latency_ms", *TOKENS)
        return dict(zip(names, zip(*found, strict=True), strict=True))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {who.id: place for place, who in enumerate(self.reading.population)}

    def _of_people(self, participants: Sequence[str]) -> Columns:
        people, places = self.reading.population, self._places
        known = [people[places[who]] if who in places else None for who in participants]
        return {
            "agent_id": [who.agent_id if who else None for who in known],
            "agent_name": [who.name if who else None for who in known],
            "stakeholder_type": [who.stakeholder_type if who else None for who in known],
        }

    def _of_items(self, table: Columns) -> Columns:
        """Scale and keying by item; the rekeyed value is min + max − value where the item is reverse-keyed."""
        known = {item: self._facts(item) for item in dict.fromkeys(table["item_id"])}
        own = [known[item] for item in table["item_id"]]
        names = ("family", "dimension", "reverse_keyed", "scale_min", "scale_max")
        rekeyed = [_rekeyed(value, fact) for value, fact in zip(table["value"], own, strict=True)]
        return {**{name: [getattr(fact, name) for fact in own] for name in names}, "value_rekeyed": rekeyed}

    def _of_run(self, arm: Arm, table: Columns) -> Columns:
        """What is the same for all rows of a stage's arm, or of one of its agents."""
        record, n = self.reading.record, len(table["arm"])
        same = {
            "sim_id": record.sim_id,
            "run_id": record.asked_by(self.methodology),
            "methodology": self.methodology,
            "phase": self.phase,
            "language": record.language,
            "instrument_hash": record.instruments[self.methodology].hash,
            "baseline": _baseline_word(record.baseline) if self.phase == "T0" else "",
            "arm_role": arm.role,
            "elicitation": arm.elicitation,
        }
        remembering = self._remembering if arm.digest == "own" else frozenset()
        human = [arm.respondent == "human" or (arm.id, who) in self._persons for who in table["participant"]]
        return {
            **{name: [value] * n for name, value in same.items()},
            "respondent": ["human" if person else arm.respondent for person in human],
            "model": ["" if person else arm.model for person in human],
            "temperature": [None if person else arm.temperature for person in human],
            "memory_available": [
                who in remembering and not h for who, h in zip(table["participant"], human, strict=True)
            ],
        }

    @cached_property
    def _remembering(self) -> frozenset[str]:
        return self.reading.remembering(self.phase)

    def _of_data(self, table: Columns) -> Columns:
        """What an answer holds beside its value: which options were chosen, by their values and by their labels ("" where none
        is); its probabilities as JSON ("" where one answer was asked for, or none came); and a methodology's own columns:
        members of the answer's `data` by name, anything else of it in the first one. A column named `notes` gets the answer's
        notes.
        """
        data, own = [_parsed(text) for text in table["data"]], self._own
        chosen = [_chosen(self._items.get(item), one) for item, one in zip(table["item_id"], data, strict=True)]
        found: Columns = {
            "choice": [one for one, _ in chosen],
            "chosen": [label for _, label in chosen],
            "distribution": [_shares(one, how) for one, how in zip(data, table["elicitation"], strict=True)],
            **{column: [_member(one, column, first=column == own[0]) for one in data] for column in own},
        }
        if "notes" in own:
            found["notes"] = ["; ".join(json.loads(text)) if text else "" for text in table["notes"]]
        return found


def table_arms(reading: RunReading) -> list[Arm]:
    """Respondent B is compared pair by pair and stands in no table: nothing that reads one can take it for A."""
    return [arm for arm in reading.record.arms if arm.role != "b"]


def item_facts_of(reading: RunReading, name: str) -> Callable[[str], ItemFacts]:
    """Control items are nobody's own: a probe asks them in place of the instrument's."""
    own, instrument = evaluation(reading.methodology(name)).item_facts, reading.instrument(name)

    def facts(item: str) -> ItemFacts:
        scale = control_scale(item)
        return ItemFacts(family="control", scale_min=scale[0], scale_max=scale[1]) if scale else own(item, instrument)

    return facts


def _rekeyed(value: float | None, fact: ItemFacts) -> float | None:
    if value is None or not fact.reverse_keyed:
        return value
    return None if fact.scale_min is None or fact.scale_max is None else fact.scale_min + fact.scale_max - value


def _baseline_word(baseline: str) -> str:
    return "reconstructed" if baseline == "reconstructed" else "measured"


def _parsed(text: str | None) -> JsonValue:
    found: JsonValue = json.loads(text) if text else None
    return found


def _chosen(item: Item | None, data: JsonValue) -> tuple[str, str]:
    if item is None or data is None:
        return "", ""
    kind = kind_of(item)
    return kind.choice(data), kind.chosen(item, data)


def _shares(data: JsonValue, elicitation: str) -> str:
    asked = elicitation == "distribution" and isinstance(data, dict) and "distribution" in data
    return json.dumps(data["distribution"]) if asked else ""  # type: ignore[index, call-overload]


def _member(value: Any, column: str, *, first: bool) -> Any:
    found = value.get(column) if isinstance(value, dict) else value if first else None
    return json.dumps(found, ensure_ascii=False) if isinstance(found, dict | list) else found
