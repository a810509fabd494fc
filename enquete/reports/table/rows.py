"""The response table: one row per answer, and one `not_reached` row for every planned item without an answer.

Rows always equal the plan, none stands twice, their order is that of the plan. The ledger stores what was answered;
`not_reached` is derived here and nowhere stored. Tokens of a block of items stand on the block's first row and are empty
on its others, so that the columns sum to what `answer` calls spent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.content import Beside
from enquete.nodes.planning import closed, rounds_owed
from enquete.nodes.planning import planned as planned_stages
from enquete.reports.context import ItemFacts
from enquete.reports.evaluation import evaluation
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.table.contents import beside, content_of
from enquete.respondents.kinds import kind_of
from enquete.respondents.local_desk import PERSON, LocalDesk
from enquete.respondents.neutral import control_scale
from enquete.simulations.join import join
from enquete.state.asking import Arm, Block, Item, Participant

COLUMNS = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "round", "turn",
    "participant", "agent_id", "agent_name", "stakeholder_type", "item_id", "family", "dimension", "reverse_keyed",
    "scale_min", "scale_max", "status", "value", "value_rekeyed", "choice", "chosen", "text", "content", "confidence",
    "memory_available", "baseline", "model", "temperature", "language", "elicitation", "distribution", "item_position",
    "option_order", "attempts", "prompt_hash", "instrument_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens",
)  # fmt: skip
INTEGERS = (
    "round", "turn", "agent_id", "scale_min", "scale_max", "item_position", "attempts", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
ALWAYS = ("round", "turn", "attempts")
"""Those of them that every row has."""
NUMBERS = ("value", "value_rekeyed", "confidence", "temperature")
FLAGS = ("reverse_keyed", "memory_available")
TEXTS = tuple(name for name in COLUMNS if name not in {*INTEGERS, *NUMBERS, *FLAGS})
OCCASION = ["arm", "session", "round", "turn", "participant"]
ANSWER = [*OCCASION, "item_id"]
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
TOKENS = ["input_tokens", "output_tokens"]


class ResponseRow(BaseModel):
    """One row of all_responses.csv. None is an empty cell: not applicable, or not known."""

    model_config = ConfigDict(strict=True, extra="allow")  # a methodology may append columns of its own

    sim_id: str
    run_id: str
    arm: str
    arm_role: Literal["main", "b", "replicate", "probe", "placebo", "variant", "human"]
    respondent: Literal["llm", "synthetic", "human", "replay"]
    methodology: str
    phase: str
    session: str
    round: int = Field(ge=0)
    turn: int = Field(ge=0)
    participant: str = Field(min_length=1)
    agent_id: int | None
    agent_name: str
    stakeholder_type: str
    item_id: str = Field(min_length=1)
    family: str
    dimension: str
    reverse_keyed: bool
    scale_min: int | None
    scale_max: int | None
    status: Literal["ok", "repaired", "refused", "invalid", "failed", "not_reached"]
    value: float | None = Field(allow_inf_nan=False)
    value_rekeyed: float | None = Field(allow_inf_nan=False)
    choice: str
    chosen: str
    text: str
    content: str
    confidence: float | None = Field(ge=0, le=1)
    memory_available: bool
    baseline: Literal["", "measured", "reconstructed"]
    model: str
    temperature: float | None
    language: Literal["de", "en"]
    elicitation: Literal["point", "distribution"]
    distribution: str
    item_position: int | None
    option_order: str
    attempts: int = Field(ge=0)
    prompt_hash: str
    instrument_hash: str
    asked_at: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None


Key = tuple[str, str, int, int, str, str]
"""Of an answer, as ANSWER names its parts."""
Columns = dict[str, Sequence[Any]]
"""Rows of a stage by column: joined and filled as plain lists, since a small stage in frames costs ten times as much."""


@dataclass(frozen=True)
class _Source:
    """Whose rows: a run, one of its methodologies, a phase."""

    reading: RunReading
    methodology: str
    phase: str


def responses(
    reading: RunReading, planned: Sequence[tuple[str, str]] | None = None, *, plain: bool = False
) -> pd.DataFrame:
    """The table of a run: all arms, COLUMNS first, then what its methodologies append.

    planned: (methodology, phase) of what the run asks; by default as its record says. T0 of an earlier run that is this
    run's baseline is included under that run's own run_id; an agent whose id changed since then bears its present id.
    plain: texts as objects and whole numbers as floats, unless none is missing: pandas holds them in four pieces, and
    choosing rows, done hundreds of times, costs a fifth.
    """
    stages = planned_stages(reading.record) if planned is None else list(planned)
    order = {name: position for position, name in enumerate(reading.record.methods)}
    sources = [_Source(reading, name, phase) for name, phase in stages]
    folder = reading.baseline_folder()
    if folder is None:
        tables = {(s.methodology, s.phase): stage_rows(s) for s in sources}
    else:
        with open_run(folder) as earlier:
            tables = {(s.methodology, s.phase): stage_rows(s) for s in [*_baseline(earlier, reading), *sources]}
            ids = {then: now for then, now in join(earlier.population, reading.population).matched if then != now}
        for (_, phase), table in tables.items():
            if phase == "T0":
                table["participant"] = [ids.get(who, who) for who in table["participant"]]
    if reading.idle:
        for table in (table for (_, phase), table in tables.items() if phase == "T0" and table):
            table["baseline"] = ["reconstructed"] * len(table["arm"])
    keys = sorted(tables, key=lambda stage: (order[stage[0]], stage[1]))
    frame = _in_columns([tables[key] for key in keys], _own_columns(reading))
    return frame if plain else whole(frame).astype(dict.fromkeys(TEXTS, "str"))


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """A plain table with whole numbers as such, missing or not."""
    return frame.astype(dict.fromkeys(INTEGERS, "Int64"))


def _baseline(earlier: RunReading, reading: RunReading) -> list[_Source]:
    """What the earlier run measured at T0, of the methodologies that this run asks again."""
    names = [name for name in reading.record.methods if name in earlier.record.methods]
    return [_Source(earlier, name, "T0") for name in names if "T0" in reading.methodology(name).phases]


def stage_rows(source: _Source) -> Columns:
    """All rows of one methodology in one phase: plan and answers joined on the answer's key."""
    reading, name, phase = source.reading, source.methodology, source.phase
    plan, asked, seen = planned_rows(source)
    mine = {arm.id for arm in table_arms(reading)}
    given: dict[Key, tuple[Any, ...]] = {
        row[: len(ANSWER)]: row for row in reading.answers(name, phase) if row[0] in mine
    }
    rows = [given.get(key, (*key, part, "not_reached", *NOTHING)) for key, part in plan.items()]
    beyond = [row for key, row in given.items() if key not in plan]
    if not rows and not beyond:
        return {}
    table: Columns = dict(zip(READ, zip(*_ordered(rows, beyond, reading), strict=True), strict=True))
    table |= _of_calls(table, reading.answer_calls(name, phase))
    table |= _of_people(table["participant"], reading.population)
    table |= _of_items(table, item_facts_of(reading, name))
    table |= _of_run(table, source)
    table["content"] = content_of(table, seen)
    own = reading.methodology(name).answer_columns
    table |= _of_data(table, asked, own)
    return {column: table[column] for column in (*COLUMNS, "notes", *own)}


def table_arms(reading: RunReading) -> list[Arm]:
    """Respondent B is compared pair by pair and stands in no table: nothing that reads one can take it for A."""
    return [arm for arm in reading.record.arms if arm.role != "b"]


def planned_rows(source: _Source) -> tuple[dict[Key, str], dict[str, Item], dict[Key, Beside]]:
    """What is owed, as far as it is known, with the part it is asked in; its items by id: ratings exist only once
    there are themes; and what was seen beside the items that are answered in words."""
    reading, name, phase = source.reading, source.methodology, source.phase
    procedure = reading.procedure(name)
    owed: dict[Key, str] = {}
    asked: dict[str, Item] = {}
    seen: dict[Key, Beside] = {}
    for arm in table_arms(reading):
        desk = reading.desk(name, phase, arm)
        for number in rounds_owed(procedure.rounds, desk):
            for unit in procedure.units(number, desk):
                for block in _blocks(source, unit, number, desk):
                    for part in desk.parts(block):
                        k = part.key
                        asked.update((item.id, item) for item in part.items)
                        for item in part.in_shown_order():
                            key = (k.arm, k.session, k.round, k.turn, k.participant, item.id)
                            if key in owed:
                                twice = dict(zip(ANSWER, key, strict=True))
                                raise RuntimeError(f"{name} {phase}: the plan owes {twice} twice")
                            owed[key] = k.part
                            if item.kind == "text" or item.reason:
                                seen[key] = beside(item, part.items)
    return owed, asked, seen


def undetermined(reading: RunReading, name: str, phase: str) -> set[str]:
    """Who of the main arm will owe more than is known by now: ratings, where there are no themes to be rated yet."""
    source, procedure = _Source(reading, name, phase), reading.procedure(name)
    desk = reading.desk(name, phase, reading.record.main)
    everybody = {who.id for who in desk.participants()}
    found: set[str] = set()
    for number in rounds_owed(procedure.rounds, desk):
        if desk.frozen(closed(number)) is None:
            unknown = {unit for unit in procedure.units(number, desk) if not _blocks(source, unit, number, desk)}
            found |= unknown if unknown <= everybody else everybody  # a discussion is everybody's
    return found


def _blocks(source: _Source, unit: str, number: int, desk: LocalDesk) -> Sequence[Block]:
    """What a unit owes. Where a recorded bug keeps it from saying so, its answers are all that is known of it."""
    try:
        return source.reading.procedure(source.methodology).blocks(unit, number, desk)
    except Exception:
        if (desk.arm.id, source.methodology, source.phase, number, unit) in source.reading.failed_units:
            return ()
        raise


def _ordered(
    planned: Sequence[tuple[Any, ...]], beyond: Sequence[tuple[Any, ...]], reading: RunReading
) -> list[tuple[Any, ...]]:
    """As planned; what was answered beyond the plan stands at the end of its arm and round."""
    arms = {arm.id: position for position, arm in enumerate(reading.record.arms)}
    people = {who.id: position for position, who in enumerate(reading.population)}
    position = READ.index("item_position")

    def place(row: tuple[Any, ...]) -> tuple[int, int]:
        return arms.get(row[0], len(arms)), row[2]

    def last(row: tuple[Any, ...]) -> tuple[Any, ...]:
        _, session, _, turn, who, item, *_ = row
        return people.get(who, len(people)), session, turn, row[position], item

    return sorted([*planned, *sorted(beyond, key=last)], key=place)


def _of_calls(table: Columns, calls: Iterable[tuple[Any, ...]]) -> Columns:
    """Attempts, first prompt and time on every row of the block; tokens on its first row alone."""
    known = {(arm, subject): tuple(figures) for arm, subject, *figures in calls}
    nothing, untold, told = (0, None, None, None, None), (None,) * len(TOKENS), set[tuple[str, str]]()
    found = []
    for arm, session, number, turn, who, part in zip(*(table[name] for name in BLOCK), strict=True):
        call = (arm, f"{who}|{session}|{number}|{turn}|{part}")
        figures = known.get(call, nothing)
        found.append((*figures[: -len(untold)], *untold) if call in told else figures)
        told.add(call)
    names = ("attempts", "prompt_hash", "latency_ms", *TOKENS)
    return dict(zip(names, zip(*found, strict=True), strict=True))


def _of_people(participants: Sequence[str], population: Sequence[Participant]) -> Columns:
    known = {who.id: (who.agent_id, who.name, who.stakeholder_type) for who in population}
    found = zip(*(known.get(who, (None, None, None)) for who in participants), strict=True)
    return dict(zip(("agent_id", "agent_name", "stakeholder_type"), found, strict=True))


def participants_table(population: Sequence[Participant]) -> pd.DataFrame:
    """Index participant id; columns agent_id, name, stakeholder_type."""
    rows = [(who.agent_id, who.name, who.stakeholder_type) for who in population]
    index = pd.Index([who.id for who in population], name="participant", dtype="str")
    people = pd.DataFrame(rows, columns=["agent_id", "name", "stakeholder_type"], index=index)
    return people.astype({"name": "str", "stakeholder_type": "str"})


def _of_items(table: Columns, facts: Callable[[str], ItemFacts]) -> Columns:
    """Scale and keying by item; the rekeyed value is min + max − value where the item is reverse-keyed."""
    known = {item: facts(item) for item in dict.fromkeys(table["item_id"])}
    own = [known[item] for item in table["item_id"]]
    names = ("family", "dimension", "reverse_keyed", "scale_min", "scale_max")
    rekeyed = [_rekeyed(value, fact) for value, fact in zip(table["value"], own, strict=True)]
    return {**{name: [getattr(fact, name) for fact in own] for name in names}, "value_rekeyed": rekeyed}


def _rekeyed(value: float | None, fact: ItemFacts) -> float | None:
    if value is None or not fact.reverse_keyed:
        return value
    return None if fact.scale_min is None or fact.scale_max is None else fact.scale_min + fact.scale_max - value


def item_facts_of(reading: RunReading, name: str) -> Callable[[str], ItemFacts]:
    """Control items are nobody's own: a probe asks them in place of the instrument's."""
    own, instrument = evaluation(reading.methodology(name)).item_facts, reading.instrument(name)

    def facts(item: str) -> ItemFacts:
        scale = control_scale(item)
        return ItemFacts(family="control", scale_min=scale[0], scale_max=scale[1]) if scale else own(item, instrument)

    return facts


def _of_run(table: Columns, source: _Source) -> Columns:
    """What is the same for all rows of a stage, or of one of its arms."""
    reading, record, n = source.reading, source.reading.record, len(table["arm"])
    same = {
        "sim_id": record.sim_id,
        "run_id": record.asked_by(source.methodology),
        "methodology": source.methodology,
        "phase": source.phase,
        "language": record.language,
        "instrument_hash": record.instruments[source.methodology].hash,
        "baseline": _baseline_word(record.baseline) if source.phase == "T0" else "",
    }
    arms = {arm.id: arm for arm in record.arms}
    remembering = {
        name: {who for who, text in reading.memories(source.phase, arm).items() if text is not None}
        for name, arm in arms.items()
    }
    places = zip(table["arm"], table["participant"], strict=True)
    return {
        **{name: [value] * n for name, value in same.items()},
        **{name: _by_arm(table["arm"], {arm: read(arms[arm]) for arm in arms}) for name, read in _ARM_COLUMNS.items()},
        "respondent": [
            "human" if notes and PERSON in json.loads(notes) else arms[arm].respondent
            for arm, notes in zip(table["arm"], table["notes"], strict=True)
        ],
        "memory_available": [who in remembering[arm] for arm, who in places],
    }


def _by_arm(column: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    return [values[arm] for arm in column]


_ARM_COLUMNS: Mapping[str, Callable[[Arm], Any]] = {
    "arm_role": lambda arm: arm.role,
    "model": lambda arm: arm.model,
    "temperature": lambda arm: arm.temperature,
    "elicitation": lambda arm: arm.elicitation,
}


def _baseline_word(baseline: str) -> str:
    return "reconstructed" if baseline == "reconstructed" else "measured"


def _of_data(table: Columns, asked: Mapping[str, Item], columns: Sequence[str]) -> Columns:
    """What an answer holds beside its value: which options were chosen, by their values and by their labels ("" where none
    is); its probabilities as JSON ("" where one answer was asked for, or none came); and a methodology's own columns:
    members of the answer's `data` by name, anything else of it in the first one. A column named `notes` gets the answer's notes.
    """
    data = [_parsed(text) for text in table["data"]]
    chosen = [_chosen(asked.get(item), one) for item, one in zip(table["item_id"], data, strict=True)]
    found: Columns = {
        "choice": [one for one, _ in chosen],
        "chosen": [label for _, label in chosen],
        "distribution": [_shares(one, how) for one, how in zip(data, table["elicitation"], strict=True)],
        **{column: [_member(one, column, first=column == columns[0]) for one in data] for column in columns},
    }
    if "notes" in columns:
        found["notes"] = ["; ".join(json.loads(text)) if text else "" for text in table["notes"]]
    return found


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


def _own_columns(reading: RunReading) -> list[str]:
    return list(dict.fromkeys(c for name in reading.record.methods for c in reading.methodology(name).answer_columns))


def _in_columns(tables: Sequence[Columns], own: Sequence[str]) -> pd.DataFrame:
    """One table with the columns of COLUMNS in their order and in their types, whatever the stages had."""
    full = [(table, len(table["arm"])) for table in tables if table]
    frame: dict[str, pd.Series[Any]] = {}
    for name in dict.fromkeys([*COLUMNS, *own]):
        # Taken out of the stages, whose rows would else be held twice.
        values = [one for table, n in full for one in (table.pop(name, None) or [None] * n)]
        if name in ALWAYS:
            frame[name] = pd.Series(values, dtype="int64")
        elif name in (*INTEGERS, *NUMBERS):
            frame[name] = pd.Series(values, dtype="float64")
        elif name in FLAGS:
            frame[name] = pd.Series(values, dtype="bool")
        elif name in TEXTS:
            frame[name] = pd.Series([one or "" for one in values], dtype=object)
        else:
            frame[name] = pd.Series(values)
    return pd.DataFrame(frame)
