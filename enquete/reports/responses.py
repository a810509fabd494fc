"""The response table: one row per answer, and one `not_reached` row for every planned item without an answer; and its
items."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.content import ALONE, Beside, normal, one_valued, text_note
from enquete.ledger.deviations import Deviations, read_deviations, sent_temperature
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import persona_columns_name
from enquete.reports.context import COMPACT, ItemFacts
from enquete.reports.covariates import type_columns
from enquete.reports.evaluation import evaluation
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.writing import ALWAYS, ANSWER, COLUMNS, FLAGS, INTEGERS, NUMBERS, OCCASION, TEXTS
from enquete.respondents.kinds import kind_of
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.neutral import control_items, control_scale
from enquete.runs.planning import closed, rounds_owed
from enquete.runs.planning import planned as planned_stages
from enquete.simulations.population import join
from enquete.simulations.sources import one_line
from enquete.state.asking import Arm, Block, Item, Language, Participant, ServedModel
from enquete.state.untrusted_input import as_cell

AnswerColumns = Mapping[str, Sequence[Any]]
_ROW = ("arm", "session", "round", "turn", "participant", "scale_min", "scale_max")
"""A row of closed answers: what an agent was asked on one occasion on one scale, in however many requests."""
_AGENT = ("arm", "session", "participant")
_ANSWER = ("arm", "session", "round", "turn", "participant", "item_id")


def beside(item: Item, wordings: Sequence[str], labels: Sequence[str]) -> Beside:
    """What stood beside an item that is answered in words. wordings, labels: of all that was asked at once, and of its
    scales."""
    own = () if item.kind == "scale" else tuple(option.label for option in item.options if option.label)
    return _beside((item.about, *wordings) if item.about else tuple(wordings), (*own, *labels))


_beside = lru_cache(maxsize=2**12)(Beside)  # the same for all agents of a panel


class Contents:
    """Of one methodology in one phase, whose rows come some at a time: an agent is known by what it said before."""

    def __init__(self) -> None:
        self._said: dict[int, str] = {}  # item by a hash of who said what: texts of all agents would fill the memory

    def of(self, table: AnswerColumns, seen: Mapping[Any, Beside]) -> list[str]:
        """One code a row, "" where there is nothing to say."""
        codes = _one_valued(table)
        keys = zip(*(table[name] for name in _ANSWER), strict=True)
        agents = zip(*(table[name] for name in _AGENT), strict=True)
        for place, (key, agent, text) in enumerate(zip(keys, agents, table["text"], strict=True)):
            if not text or codes[place]:
                continue
            codes[place] = text_note(text, table["language"][place], seen.get(key, ALONE))
            # Reasons for a rating may well be the same for several.
            plain, item = normal(text) if table["value"][place] is None else "", table["item_id"][place]
            if plain and self._said.setdefault(hash((agent, plain)), item) != item:
                codes[place] = codes[place] or "same_text"
        return codes


def _one_valued(table: AnswerColumns) -> list[str]:
    """Answers given as probabilities are left out: their medians lie near to one another."""
    rows: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(table[name] for name in _ROW), strict=True)
    for place, (key, value, how) in enumerate(zip(keys, table["value"], table["elicitation"], strict=True)):
        if value is not None and key[-1] is not None and how == "point":
            rows.setdefault(key, []).append(place)
    codes = [""] * len(table["value"])
    for places in rows.values():
        if one_valued(np.array([table["value"][place] for place in places], dtype=float)):
            for place in places:
                codes[place] = "one_value"
    return codes


# --- Rows of one methodology in one phase: plan and answers joined on the answer's key, some agents at a time ---------
# Rows always equal the plan, none stands twice, their order is that of the plan. The ledger stores what was answered;
# `not_reached` is derived here and nowhere stored. Tokens of a block of items stand on the block's first row and are
# empty on its others, so that the columns sum to what `answer` calls spent.

AT_ONCE = 500
"""Agents whose rows are joined at a time: a large study is never in memory as Python objects."""
BLOCK = [*OCCASION, "part"]
READ = (
    *ANSWER, "part", "status", "value", "text", "confidence", "data", "notes", "item_position", "option_order",
    "asked_at",
)  # fmt: skip
"""What the ledger holds of an answer, in the order of `RunReading.answers`."""
NOTHING = (None,) * (len(READ) - len(BLOCK) - 2)
"""In place of an answer that there is none of: value, text, …"""
TOKENS = ("input_tokens", "output_tokens")

Row = tuple[Any, ...]
Key = tuple[str, str, int, int, str, str]
"""Of an answer, as ANSWER names its parts."""
ColumnLists = dict[str, Sequence[Any]]
"""Rows by column, as plain lists: a small stage in frames costs ten times as much."""


class StageRows:
    """Whose rows: a run, one of its methodologies, a phase."""

    def __init__(self, reading: RunReading, methodology: str, phase: str, log: GapLog = NOTHING_CAUGHT):
        self.reading, self.methodology, self.phase = reading, methodology, phase
        self.procedure = reading.procedure(methodology)
        self._items: dict[str, Item] = {}
        self._facts = item_facts_of(reading, methodology, log)
        self._own = reading.methodology(methodology).procedure.answer_columns
        self._contents = Contents()
        self._persons: set[tuple[str, str]] = set()  # (arm, participant) whose seat is a person's
        self._models: dict[tuple[str, str], tuple[ServedModel, ...]] = {}  # (arm, participant) whose seat names its own
        self._told: set[int] = set()  # blocks of an arm whose tokens stand on a row, by their hashes

    def rows(self) -> Iterator[ColumnLists]:
        """All of them in the table's columns, some agents at a time, and `block`: the part an answer was given in, ""
        where there is none. What an arm answered beyond the plan comes last."""
        for arm in self.reading.record.arms:
            context = self.reading.interview_context(self.methodology, self.phase, arm)
            owed, answered = array("q"), 0  # keys by their hashes: those of a large study would fill the memory
            self._told.clear()
            for plan, seen in self._plans(context):
                rows = self._answered(arm, plan)
                answered += len(rows)
                owed.extend(map(hash, plan))
                missing = "not_reached", *NOTHING
                yield self._filled(arm, [rows.get(key) or (*key, part, *missing) for key, part in plan.items()], seen)
            if self.reading.answered(self.methodology, self.phase, arm.id) > answered:
                known, every = frozenset(owed), self.reading.answers(self.methodology, self.phase, arm.id)
                beyond = sorted((row for row in every if hash(row[: len(ANSWER)]) not in known), key=self._last)
                yield self._filled(arm, beyond, {})

    def _plans(self, context: LedgerContext) -> Iterator[tuple[dict[Key, str], dict[Key, Beside]]]:
        everybody = {who.id for who in context.participants()}
        for number in rounds_owed(self.procedure.rounds, context):
            units = self.procedure.units(number, context)
            at_once = AT_ONCE if everybody.issuperset(units) else max(1, len(units))  # a discussion is everybody's
            for start in range(0, len(units), at_once):
                plan, seen = self._planned(context, number, units[start : start + at_once])
                if plan:
                    yield plan, seen

    def _answered(self, arm: Arm, plan: Mapping[Key, str]) -> dict[Key, Row]:
        rounds, whose = sorted({key[2] for key in plan}), sorted({key[4] for key in plan})
        rows = self.reading.answers(self.methodology, self.phase, arm.id, rounds, whose)
        return {row[: len(ANSWER)]: row for row in rows if row[: len(ANSWER)] in plan}

    def _planned(
        self, context: LedgerContext, number: int, units: Sequence[str]
    ) -> tuple[dict[Key, str], dict[Key, Beside]]:
        """What these owe, as far as it is known, with the part it is asked in, since ratings exist only once there are
        themes; and what was seen beside the items that are answered in words."""
        owed: dict[Key, str] = {}
        seen: dict[Key, Beside] = {}
        for unit in units:
            for block in self._blocks(unit, number, context):
                if block.models and context.arm.respondent == "llm":
                    self._models[context.arm.id, block.key.participant] = block.models
                if block.by_person:
                    self._persons.add((context.arm.id, block.key.participant))
                for part in context.parts(block):
                    k, wordings = part.key, tuple(item.wording for item in part.items)
                    options = (option for item in part.items if item.kind == "scale" for option in item.options)
                    labels = tuple(dict.fromkeys(option.label for option in options if option.label))
                    self._items.update((item.id, item) for item in part.items)
                    for item in part.in_shown_order():
                        key = (k.arm, k.session, k.round, k.turn, k.participant, item.id)
                        if key in owed:
                            twice = dict(zip(ANSWER, key, strict=True))
                            raise RuntimeError(f"{self.methodology} {self.phase}: the plan owes {twice} twice")
                        owed[key] = k.part
                        if item.kind == "text" or item.reason:
                            seen[key] = beside(item, wordings, labels)
        return owed, seen

    def _blocks(self, unit: str, number: int, context: LedgerContext) -> Sequence[Block]:
        """What a unit owes. Where a recorded bug keeps it from saying so, its answers are all that is known of it."""
        try:
            return self.procedure.blocks(unit, number, context)
        except Exception:
            if (context.arm.id, self.methodology, self.phase, number, unit) in self.reading.failed_units:
                return ()
            raise

    def undetermined(self) -> set[str]:
        """Who of the main arm will owe more than is known by now: ratings, where there are no themes yet."""
        context = self.reading.interview_context(self.methodology, self.phase, self.reading.record.main)
        everybody = {who.id for who in context.participants()}
        owing: set[str] = set()
        for number in rounds_owed(self.procedure.rounds, context):
            if context.pinned(closed(number)) is None:
                units = self.procedure.units(number, context)
                unknown = {unit for unit in units if not self._blocks(unit, number, context)}
                owing |= unknown if unknown <= everybody else everybody  # a discussion is everybody's
        return owing

    def _last(self, row: Row) -> tuple[Any, ...]:
        _, session, _, turn, who, item, *_ = row
        places = self._places
        return places.get(who, len(places)), session, turn, row[READ.index("item_position")], item

    def _filled(self, arm: Arm, rows: Sequence[Row], seen: Mapping[Key, Beside]) -> ColumnLists:
        table: ColumnLists = dict(zip(READ, zip(*rows, strict=True), strict=True))
        table |= self._of_calls(arm, table)
        table |= self._of_people(table["participant"])
        table |= self._of_items(table)
        table |= self._of_run(arm, table)
        table["content"] = self._contents.of(table, seen)
        table |= self._of_data(table)
        answered = zip(table["part"], table["status"], strict=True)
        table["block"] = ["" if status == "not_reached" else part for part, status in answered]
        return {column: table[column] for column in (*COLUMNS, "block", "notes", *self._own)}

    def _of_calls(self, arm: Arm, table: ColumnLists) -> ColumnLists:
        """Attempts, first prompt and time on every row of the block; tokens on its first row alone."""
        blocks = zip(*(table[name] for name in BLOCK[1:]), strict=True)
        subjects = [f"{who}|{session}|{round_}|{turn}|{part}" for session, round_, turn, who, part in blocks]
        asked = self.reading.answer_calls(self.methodology, self.phase, arm.id, list(dict.fromkeys(subjects)))
        known = {subject: figures for subject, *figures in asked}
        nothing, untold = [0, None, None, None, None], [None] * len(TOKENS)
        listed = []
        for subject in subjects:
            figures, name = known.get(subject, nothing), hash(subject)
            listed.append([*figures[: -len(untold)], *untold] if name in self._told else figures)
            self._told.add(name)
        names = ("attempts", "prompt_hash", "latency_ms", *TOKENS)
        return dict(zip(names, zip(*listed, strict=True), strict=True))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {who.id: place for place, who in enumerate(self.reading.population)}

    def _of_people(self, participants: Sequence[str]) -> ColumnLists:
        people, places = self.reading.population, self._places
        known = [people[places[who]] if who in places else None for who in participants]
        return {
            "agent_id": [who.agent_id if who else None for who in known],
            "agent_name": [who.name if who else None for who in known],
            "stakeholder_type": [who.stakeholder_type if who else None for who in known],
        }

    def _of_items(self, table: ColumnLists) -> ColumnLists:
        """Scale and keying by item; the rekeyed value is min + max − value where the item is reverse-keyed."""
        known = {item: self._facts(item) for item in dict.fromkeys(table["item_id"])}
        facts = [known[item] for item in table["item_id"]]
        names = ("family", "dimension", "reverse_keyed", "scale_min", "scale_max")
        rekeyed = [_rekeyed(value, fact) for value, fact in zip(table["value"], facts, strict=True)]
        return {**{name: [getattr(fact, name) for fact in facts] for name in names}, "value_rekeyed": rekeyed}

    def _of_run(self, arm: Arm, table: ColumnLists) -> ColumnLists:
        """What is the same for all rows of a stage's arm, or of one of its agents."""
        record, n = self.reading.record, len(table["arm"])
        same = {
            "sim_id": record.sim_id,
            "run_id": record.asked_by(self.methodology),
            "methodology": self.methodology,
            "phase": self.phase,
            "language": record.language,
            "instrument_hash": record.instruments[self.methodology].hash,
            "baseline": ""
            if self.phase != "T0"
            else "measured"
            if record.baseline != "reconstructed"
            else record.baseline,
            "arm_role": arm.role,
            "elicitation": arm.elicitation,
        }
        remembering = self._remembering if arm.digest == "own" else frozenset()
        human = [arm.respondent == "human" or (arm.id, who) in self._persons for who in table["participant"]]
        models, temperatures = self._answered_by(arm, table)
        return {
            **{name: [value] * n for name, value in same.items()},
            "respondent": ["human" if person else arm.respondent for person in human],
            "model": ["" if person else model for model, person in zip(models, human, strict=True)],
            "temperature": [None if person else t for t, person in zip(temperatures, human, strict=True)],
            "memory_available": [
                who in remembering and not h for who, h in zip(table["participant"], human, strict=True)
            ],
        }

    def _answered_by(self, arm: Arm, table: ColumnLists) -> tuple[list[str], list[float | None]]:
        """Model and temperature of each row: the arm's, or those of a seat of its own; as they were sent."""
        n = len(table["participant"])
        models = [arm.model] * n
        temperatures = [sent_temperature(self._deviations, arm.model, arm.temperature)] * n
        if not self._models:
            return models, temperatures
        by_block = self.reading.answered_by(self.methodology, self.phase, arm.id)
        blocks = zip(*(table[name] for name in BLOCK[1:]), strict=True)
        for place, (session, round_, turn, who, part) in enumerate(blocks):
            choices = self._models.get((arm.id, who))
            if choices:
                labels = [model.label(arm.model) for model in choices]
                models[place] = by_block.get(f"{who}|{session}|{round_}|{turn}|{part}", labels[0])
                served = choices[labels.index(models[place])] if models[place] in labels else choices[0]
                asked = arm.temperature if served.temperature is None else served.temperature
                temperatures[place] = sent_temperature(self._deviations, models[place], asked)
        return models, temperatures

    @cached_property
    def _deviations(self) -> Deviations:
        return read_deviations(self.reading.ledger)

    @cached_property
    def _remembering(self) -> frozenset[str]:
        return self.reading.remembering(self.phase)

    def _of_data(self, table: ColumnLists) -> ColumnLists:
        """What an answer holds beside its value: which options were chosen, by their values and by their labels (""
        where none is); its probabilities as JSON ("" where one answer was asked for, or none came); and a methodology's
        own columns: members of the answer's `data` by name, anything else of it in the first one. A column named
        `notes` gets the answer's notes.
        """
        data, columns = [_parsed(text) for text in table["data"]], self._own
        chosen = [_chosen(self._items.get(item), answer) for item, answer in zip(table["item_id"], data, strict=True)]
        filled: ColumnLists = {
            "choice": [choice for choice, _ in chosen],
            "chosen": [label for _, label in chosen],
            "distribution": [_shares(answer, how) for answer, how in zip(data, table["elicitation"], strict=True)],
            **{column: [_member(answer, column, first=column == columns[0]) for answer in data] for column in columns},
        }
        if "notes" in columns:
            filled["notes"] = ["; ".join(json.loads(text)) if text else "" for text in table["notes"]]
        return filled


def without_second(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that analyses may read: those of respondent B are compared pair by pair and never counted."""
    of_second = frame["arm_role"].eq("b")
    return frame[~of_second].reset_index(drop=True) if of_second.any() else frame


NOT_DESCRIBED = ItemFacts()
"""Of an item whose methodology failed to describe it: it may be reverse-keyed."""


def item_facts_of(reading: RunReading, name: str, log: GapLog = NOTHING_CAUGHT) -> Callable[[str], ItemFacts]:
    """Return what tells of an item what its methodology says of it. An error goes to the log.

    Control items are nobody's own: a probe asks them in place of the instrument's.
    """
    facts_of, instrument = evaluation(reading.methodology(name)).item_facts, reading.instrument(name)

    def facts(item: str) -> ItemFacts:
        scale = control_scale(item)
        if scale:
            return ItemFacts(family="control", scale_min=scale[0], scale_max=scale[1])
        with log.catch(name, "items"):
            return facts_of(item, instrument)
        return NOT_DESCRIBED

    return facts


def _rekeyed(value: float | None, fact: ItemFacts) -> float | None:
    if fact is NOT_DESCRIBED:
        return None
    if value is None or not fact.reverse_keyed:
        return value
    return None if fact.scale_min is None or fact.scale_max is None else fact.scale_min + fact.scale_max - value


def _parsed(text: str | None) -> JsonValue:
    value: JsonValue = json.loads(text) if text else None
    return value


def _chosen(item: Item | None, data: JsonValue) -> tuple[str, str]:
    if item is None or data is None:
        return "", ""
    kind = kind_of(item)
    return kind.choice(data), kind.chosen(item, data)


def _shares(data: JsonValue, elicitation: str) -> str:
    asked = elicitation == "distribution" and isinstance(data, dict) and "distribution" in data
    return json.dumps(data["distribution"]) if asked else ""  # type: ignore[index, call-overload]


def _member(value: Any, column: str, *, first: bool) -> Any:
    member = value.get(column) if isinstance(value, dict) else value if first else None
    return json.dumps(member, ensure_ascii=False) if isinstance(member, dict | list) else member


# --- The response table: one row per answer, and one `not_reached` row for every planned item without an answer -------

PLAIN = ("block",)
"""Columns of a plain table alone: `block`, the part of the instrument that an answer was given in, or ""."""

LARGE = 50_000
"""Rows of a table in which columns of AS_ASKED are categories, a byte or four a row in place of eight, and other whole
numbers take four. In a small one each would cost its own handling."""
AS_ASKED = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "agent_id", "agent_name",
    "family",
    "dimension", "status", "choice", "chosen", "baseline", "model", "language", "elicitation", "distribution",
    "option_order",
    "prompt_hash", "instrument_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens", "block",
)  # fmt: skip
"""What says how was asked, and what nobody counts or calculates with."""
ROUND_BITS = 32


def responses(
    reading: RunReading, planned: Sequence[tuple[str, str]] | None = None, *, plain: bool = False,
    log: GapLog = NOTHING_CAUGHT,
) -> pd.DataFrame:  # fmt: skip
    """The table of a run: every arm, respondent B's among them, COLUMNS first, then what its methodologies append.

    planned: (methodology, phase) of what the run asks; by default as its record says. T0 of an earlier run that is this
    run's baseline is included under that run's own run_id; an agent whose id changed since then bears its present id.
    plain: as analyses read it. Texts as objects and whole numbers as floats, unless none is missing: pandas holds them
    in four pieces, and choosing rows, done hundreds of times, costs a fifth. With the columns of PLAIN.
    log: keeps what fails of one methodology.
    """
    table = ResponseTable(_own_columns(reading))
    for columns in _rows(reading, planned_stages(reading.record) if planned is None else planned, log):
        table.add(columns)
    frame = table.frame()
    exact = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(TEXTS, "str")
    return frame if plain else frame.drop(columns=[*PLAIN]).astype(exact)


def _rows(reading: RunReading, planned: Sequence[tuple[str, str]], log: GapLog) -> Iterator[ColumnLists]:
    """In the order of the run's methodologies and of the phases."""
    order = {name: position for position, name in enumerate(reading.record.methods)}
    folder, ids = reading.baseline_folder(), dict[str, str]()
    with ExitStack() as opened:
        stages: dict[tuple[str, str], RunReading] = {}
        if folder is not None:
            earlier = opened.enter_context(open_run(folder))
            stages = {(name, "T0"): earlier for name in _measured_before(earlier, reading)}
            ids = {then: now for then, now in join(earlier.population, reading.population).matched if then != now}
        stages |= dict.fromkeys(planned, reading)
        for name, phase in sorted(stages, key=lambda stage: (order[stage[0]], stage[1])):
            for columns in StageRows(stages[name, phase], name, phase, log).rows():
                if phase == "T0" and ids:
                    columns["participant"] = [ids.get(who, who) for who in columns["participant"]]
                if phase == "T0" and reading.idle:
                    columns["baseline"] = ["reconstructed"] * len(columns["arm"])
                yield columns


def _measured_before(earlier: RunReading, reading: RunReading) -> list[str]:
    """What the earlier run asked at T0, of the methodologies that this run asks again."""
    names = [name for name in reading.record.methods if name in earlier.record.methods]
    return [name for name in names if "T0" in reading.methodology(name).phases]


def undetermined(reading: RunReading, name: str, phase: str) -> set[str]:
    """Who of the main arm will owe more than is known by now."""
    return StageRows(reading, name, phase).undetermined()


def participants_table(population: Sequence[Participant]) -> pd.DataFrame:
    """Index participant id; columns agent_id, name, stakeholder_type."""
    rows = [(who.agent_id, who.name, who.stakeholder_type) for who in population]
    index = pd.Index([who.id for who in population], name="participant", dtype="str")
    people = pd.DataFrame(rows, columns=["agent_id", "name", "stakeholder_type"], index=index)
    return people.astype({"name": "str", "stakeholder_type": "str"})


def persona_columns(ledger: Ledger) -> pd.DataFrame | None:
    """Index participant; the columns of a personas file beyond who somebody is, each with its type. None: there are
    none."""
    parts = list(_parts_of_columns(ledger))
    if not parts:
        return None
    columns = pd.concat(parts) if len(parts) > 1 else parts[0]
    return type_columns(columns).rename(columns=lambda name: as_cell(one_line(str(name))))


def _parts_of_columns(ledger: Ledger) -> Iterator[pd.DataFrame]:
    """Not kept as objects by the ledger that is read: of a large population they would fill the memory."""
    for part in count():
        columns = Ledger.pinned(ledger, "", "", "", persona_columns_name(part))
        if not isinstance(columns, dict):
            return
        yield pd.DataFrame.from_dict(columns, orient="index", dtype="str")


def _own_columns(reading: RunReading) -> list[str]:
    return list(
        dict.fromkeys(c for name in reading.record.methods for c in reading.methodology(name).procedure.answer_columns)
    )


class ResponseTable:
    """A table that grows by batches of rows. A text is held once, however many rows have it."""

    def __init__(self, more: Sequence[str]):
        """more: columns that methodologies append; of any type."""
        self._names = tuple(dict.fromkeys([*COLUMNS, *PLAIN, *more]))
        self._columns: dict[str, _Texts | _Numbers | list[Any]] = {name: _column(name) for name in self._names}
        self._whose: tuple[str, ...] = ()
        self._group = 0  # stages and arms are numbered as they come
        self._places = array("q")  # of every row: group and round

    def add(self, rows: ColumnLists) -> None:
        """Of one arm of a stage."""
        n, whose = len(rows["arm"]), tuple(rows[name][0] for name in ("methodology", "phase", "arm"))
        self._group += whose != self._whose
        self._whose = whose
        self._places.extend(self._group << ROUND_BITS | number for number in rows["round"])
        for name, column in self._columns.items():
            column.extend(rows.get(name) or [None] * n)

    def frame(self) -> pd.DataFrame:
        """What was added, each arm's rows by round, in columns of COLUMNS' types. The table is empty afterwards."""
        large = len(self._places) >= LARGE
        places = np.frombuffer(self._places, dtype=np.int64) if self._places else np.empty(0)
        order = None if (places[1:] >= places[:-1]).all() else places.argsort(kind="stable")
        columns = {}
        for name in self._names:  # one after the other, and each let go: a large table would be held twice
            column = self._series(name, self._columns.pop(name), large=large)
            columns[name] = column if order is None else column.iloc[order].reset_index(drop=True)
        return pd.DataFrame(columns, copy=not large)

    def _series(self, name: str, column: _Texts | _Numbers | list[Any], *, large: bool) -> pd.Series[Any]:
        if isinstance(column, list):
            return pd.Series(column)
        if large and name in (*AS_ASKED, *COMPACT) and isinstance(column, _Texts):
            return pd.Series(column.categories())
        values = column.filled()
        if name in FLAGS:
            values = values.astype("bool")
        elif name in ALWAYS:
            values = values.astype("int32" if large else "int64")
        elif isinstance(column, _Numbers | _FewNumbers) and not (large and name in INTEGERS):
            values = values.astype("float64", copy=False)
        series: pd.Series[Any] = pd.Series(values, dtype=values.dtype)
        return series


def _column(name: str) -> _Texts | _Numbers | list[Any]:
    if name in (*TEXTS, *PLAIN):
        return _Texts()
    if name in (*AS_ASKED, *COMPACT):
        return _FewNumbers()
    return _Numbers() if name in (*INTEGERS, *NUMBERS, *FLAGS) else []


class _Texts(dict[Any, int]):
    """A column of texts: each once, with its number, and the numbers of all rows in as few bytes as hold them."""

    def __init__(self) -> None:
        self._rows = array("B")

    def __missing__(self, text: Any) -> int:
        self[text] = number = len(self)
        return number

    def extend(self, texts: Sequence[Any]) -> None:
        numbers = [self[text] for text in texts]
        kind = np.min_scalar_type(len(self)).char
        if kind != self._rows.typecode:
            self._rows = array(kind, self._rows)
        self._rows.extend(array(kind, numbers))

    def filled(self) -> np.ndarray[Any, Any]:
        known: np.ndarray[Any, Any] = self._known()[_held(self._rows)]
        return known

    def categories(self) -> pd.Categorical[Any]:
        """Sorted and grouped as the texts are."""
        texts, places = np.unique(self._known(), return_inverse=True)
        codes = places.astype(np.min_scalar_type(-len(places) - 1))[_held(self._rows)]
        return pd.Categorical.from_codes(codes, pd.Index(texts, dtype=object))

    def _known(self) -> np.ndarray[Any, Any]:
        known = np.empty(len(self), dtype=object)
        known[:] = [text or "" for text in self]
        return known


class _FewNumbers(_Texts):
    """A column of numbers of which there are few different ones: as texts are held."""

    def categories(self) -> pd.Categorical[Any]:
        return pd.Categorical(self._known()).take(_held(self._rows).astype(np.int64))

    def _known(self) -> np.ndarray[Any, Any]:
        return np.array([np.nan if number is None else number for number in self], dtype=np.float64)


class _Numbers:
    """A column of numbers, NaN where there is none, in four bytes where these hold them all."""

    def __init__(self) -> None:
        self._rows = array("f")

    def extend(self, numbers: Sequence[float | None]) -> None:
        exact = array("d", [np.nan if number is None else number for number in numbers])
        short = array("f", exact)
        if self._rows.typecode == "f" and not np.array_equal(_held(short), _held(exact), equal_nan=True):
            self._rows = array("d", self._rows)
        self._rows.extend(exact if self._rows.typecode == "d" else short)

    def filled(self) -> np.ndarray[Any, Any]:
        return _held(self._rows)


def _held(rows: array[Any]) -> np.ndarray[Any, Any]:
    """The same memory as NumPy sees it."""
    return np.frombuffer(rows, dtype=rows.typecode) if rows else np.empty(0, dtype=rows.typecode)


# --- Every item of a run's table as it was asked: wording in the instrument's languages, scale, labels, keying --------

MOST_BARREN = 3
"""Units in a row that owe nothing new, before the rest is taken to owe the same."""

_THEME = re.compile(r"^\[(?P<id>[^\]]+)\] (?P<label>.+?)(?:\. .*)?$", re.DOTALL)


@dataclass(frozen=True)
class AskedItem:
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
    place: int = 0  # in the questionnaire, whatever order agents were shown

    def text(self, language: Language) -> str:
        """Its wording in this language, else in any, else its id."""
        return self.wording.get(language) or next(iter(self.wording.values()), self.item_id)

    def label(self, value: float, language: Language) -> str:
        """The label of a scale point, "" where it has none."""
        labels = self.labels.get(language) or next(iter(self.labels.values()), {})
        return labels.get(f"{value:g}", "")


def items(reading: RunReading, frame: pd.DataFrame, log: GapLog = NOTHING_CAUGHT) -> list[AskedItem]:
    """Every (methodology, item) of the table, in its order. Rows of an earlier run are of the same instrument."""
    asked: list[AskedItem] = []
    for name in dict.fromkeys(frame["methodology"]):
        rows = _places(frame.loc[frame["methodology"].eq(name), ["item_id", "phase", "round"]])
        texts = {
            language: {item.id: item for item in control_items(language)} | dict(_asked(reading, name, rows, language))
            for language in _languages(reading, name)
        }
        labels = labels_of(dict(reading.record.instruments[name].content))
        facts = item_facts_of(reading, name, log)
        described = [_described(name, item, rows[item], facts(item), texts, labels) for item in rows]
        written = {item: place for place, item in enumerate(next(iter(texts.values())))}
        placed = [replace(item, place=written.get(item.item_id, len(written))) for item in described]
        asked += _told_apart(placed)
    return asked


Places = Mapping[str, Sequence[tuple[str, int]]]
"""Phases and rounds in which an item was asked, by item, in the table's order."""


def _places(rows: pd.DataFrame) -> Places:
    by_item: dict[str, dict[tuple[str, int], None]] = {}
    for item, phase, number in zip(rows["item_id"], rows["phase"], rows["round"], strict=True):
        by_item.setdefault(item, {})[phase, int(number)] = None
    return {item: tuple(places) for item, places in by_item.items()}


def _told_apart(asked: list[AskedItem]) -> list[AskedItem]:
    """Where items share a wording (the same question about several scenarios), the family's name stands before it."""
    times = Counter(text for item in asked for text in item.wording.values())

    def wording(item: AskedItem) -> dict[str, str]:
        several = {language for language, text in item.wording.items() if times[text] > 1}
        named = {language: f"{label}: " for language, label in item.family_label.items() if language in several}
        return {language: f"{named.get(language, '')}{text}" for language, text in item.wording.items()}

    return [replace(item, wording=wording(item)) for item in asked]


def labels_of(content: JsonValue) -> dict[str, dict[str, str]]:
    """Labels of an instrument's parts by id: of entries with an `…_id` and a `label`, and of mappings id → {label}."""
    labels: dict[str, dict[str, str]] = {}
    if isinstance(content, list):
        for entry in content:
            labels |= labels_of(entry)
    elif isinstance(content, dict):
        id_ = next((value for key, value in content.items() if key.endswith("_id")), None)
        for name, part in [(id_, content), *content.items()]:
            label = part.get("label") if isinstance(part, Mapping) else None
            if isinstance(name, str) and isinstance(label, Mapping):
                labels[name] = {str(language): str(text) for language, text in label.items()}
        for part in content.values():
            labels |= labels_of(part)
    return labels


def _languages(reading: RunReading, name: str) -> list[Language]:
    """The run's language first, then the others that the instrument promises."""
    first = reading.record.language
    declared = getattr(reading.instrument(name), "languages", None) or ()
    return [first, *(language for language in declared if language != first)]


def _asked(reading: RunReading, name: str, rows: Places, language: Language) -> Iterator[tuple[str, Item]]:
    """Items by id, from the blocks that the procedure would ask in this language; stops once all are known."""
    make = reading.methodology(name).procedure
    procedure = make(reading.instrument(name), reading.settings(name), language)
    for phase in dict.fromkeys(phase for places in rows.values() for phase, _ in places):
        context = replace(reading.interview_context(name, phase, reading.record.main), language=language)
        for number in rounds_owed(procedure.rounds, context):
            missing = set(rows)
            barren = 0
            for unit in procedure.units(number, context):
                try:
                    blocks = procedure.blocks(unit, number, context)
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
) -> AskedItem:
    known = {language: items[item_id] for language, items in texts.items() if item_id in items}
    first = next(iter(known.values()), None)
    return AskedItem(
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
