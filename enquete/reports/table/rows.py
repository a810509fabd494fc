"""The response table: one row per answer, and one `not_reached` row for every planned item without an answer.

Rows always equal the plan, none stands twice, their order is that of the plan. The ledger stores what was answered;
`not_reached` is derived here and nowhere stored. Tokens of a block of items stand on the block's first row and are empty
on its others, so that the columns sum to what `answer` calls spent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.nodes.planning import closed, rounds_owed
from enquete.nodes.planning import planned as planned_stages
from enquete.reports.context import ItemFacts
from enquete.reports.evaluation import evaluation
from enquete.reports.reading import RunReading, open_run
from enquete.respondents.kinds import kind_of
from enquete.respondents.local_desk import LocalDesk
from enquete.respondents.neutral import control_scale
from enquete.simulations.join import join
from enquete.state.asking import Arm, Block, Item, Participant

COLUMNS = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "round", "turn",
    "participant", "agent_id", "agent_name", "stakeholder_type", "item_id", "family", "dimension", "reverse_keyed",
    "scale_min", "scale_max", "status", "value", "value_rekeyed", "choice", "chosen", "text", "confidence", "memory_available", "baseline",
    "model", "temperature", "language", "elicitation", "distribution", "item_position", "option_order", "attempts", "prompt_hash",
    "instrument_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens",
)  # fmt: skip
INTEGERS = (
    "round", "turn", "agent_id", "scale_min", "scale_max", "item_position", "attempts", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
NUMBERS = ("value", "value_rekeyed", "confidence", "temperature")
FLAGS = ("reverse_keyed", "memory_available")
OCCASION = ["arm", "session", "round", "turn", "participant"]
ANSWER = [*OCCASION, "item_id"]
BLOCK = [*OCCASION, "part"]
TOKENS = ["input_tokens", "output_tokens"]


class ResponseRow(BaseModel):
    """One row of all_responses.csv. None is an empty cell: not applicable, or not known."""

    model_config = ConfigDict(strict=True, extra="allow")  # a methodology may append columns of its own

    sim_id: str
    run_id: str
    arm: str
    arm_role: Literal["main", "b", "replicate", "probe", "placebo", "human"]
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


@dataclass(frozen=True)
class _Source:
    """Whose rows: a run, one of its methodologies, a phase."""

    reading: RunReading
    methodology: str
    phase: str


def responses(reading: RunReading, planned: Sequence[tuple[str, str]] | None = None) -> pd.DataFrame:
    """The table of a run: all arms, COLUMNS first, then what its methodologies append.

    planned: (methodology, phase) of what the run asks; by default as its record says. T0 of an earlier run that is this
    run's baseline is included under that run's own run_id; an agent whose id changed since then bears its present id.
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
            if phase == "T0" and ids:
                table["participant"] = table["participant"].replace(ids)
    keys = sorted(tables, key=lambda stage: (order[stage[0]], stage[1]))
    return _in_columns([tables[key] for key in keys], _own_columns(reading))


def _baseline(earlier: RunReading, reading: RunReading) -> list[_Source]:
    """What the earlier run measured at T0, of the methodologies that this run asks again."""
    names = [name for name in reading.record.methods if name in earlier.record.methods]
    return [_Source(earlier, name, "T0") for name in names if "T0" in reading.methodology(name).phases]


def stage_rows(source: _Source) -> pd.DataFrame:
    """All rows of one methodology in one phase: plan and answers joined on the answer's key."""
    reading, name, phase = source.reading, source.methodology, source.phase
    plan, asked = planned_rows(source)
    answers = reading.answers(name, phase).rename(columns={"item": "item_id"})
    table = plan.merge(answers, how="outer", on=ANSWER, suffixes=("_planned", ""), sort=False)
    table["part"] = table["part"].fillna(table.pop("part_planned"))
    table["status"] = table["status"].fillna("not_reached")
    table = _ordered(table, reading)
    table = _with_calls(table, reading.answer_calls(name, phase))
    table = _with_people(table, reading.population)
    table = _with_items(table, item_facts_of(reading, name))
    table = _with_choices(table, asked)
    return _with_run(table, source)


def planned_rows(source: _Source) -> tuple[pd.DataFrame, dict[str, Item]]:
    """What is owed, as far as it is known, and its items by id: ratings exist only once there are themes."""
    reading, name, phase = source.reading, source.methodology, source.phase
    procedure = reading.procedure(name)
    owed: list[tuple[str, str, int, int, str, str, str]] = []
    asked: dict[str, Item] = {}
    for arm in reading.record.arms:
        desk = reading.desk(name, phase, arm)
        for number in rounds_owed(procedure.rounds, desk):
            for unit in procedure.units(number, desk):
                for block in _blocks(source, unit, number, desk):
                    for part in desk.parts(block):
                        k = part.key
                        asked.update((item.id, item) for item in part.items)
                        owed += [
                            (k.arm, k.session, k.round, k.turn, k.participant, k.part, item.id)
                            for item in part.in_shown_order()
                        ]
    plan = pd.DataFrame(owed, columns=[*OCCASION, "part", "item_id"])
    plan["plan_order"] = np.arange(len(plan), dtype=float)
    if plan.duplicated(ANSWER).any():
        twice = plan[plan.duplicated(ANSWER)].iloc[0][ANSWER].to_dict()
        raise RuntimeError(f"{name} {phase}: the plan owes {twice} twice")
    return plan, asked


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


def _ordered(table: pd.DataFrame, reading: RunReading) -> pd.DataFrame:
    """As planned; what was answered beyond the plan stands at the end of its arm and round."""
    arms = {arm.id: position for position, arm in enumerate(reading.record.arms)}
    people = {who.id: position for position, who in enumerate(reading.population)}
    table["arm_order"] = table["arm"].map(arms).fillna(len(arms))
    table["person_order"] = table["participant"].map(people).fillna(len(people))
    keys = ["arm_order", "round", "plan_order", "person_order", "session", "turn", "item_position", "item_id"]
    return table.sort_values(keys, kind="stable", ignore_index=True)


def _with_calls(table: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """Attempts, first prompt and time on every row of the block; tokens on its first row alone."""
    places = (
        table["session"] + "|" + table["round"].astype(int).astype(str) + "|" + table["turn"].astype(int).astype(str)
    )
    table["subject"] = table["participant"] + "|" + places + "|" + table["part"]
    table = table.merge(calls, how="left", on=["arm", "subject"], sort=False)
    table["attempts"] = table["attempts"].fillna(0)
    table.loc[table.duplicated(BLOCK), TOKENS] = np.nan
    return table


def _with_people(table: pd.DataFrame, population: Sequence[Participant]) -> pd.DataFrame:
    people = participants_table(population).rename(columns={"name": "agent_name"})
    return table.merge(people, how="left", left_on="participant", right_index=True, sort=False)


def participants_table(population: Sequence[Participant]) -> pd.DataFrame:
    """Index participant id; columns agent_id, name, stakeholder_type."""
    rows = [(who.agent_id, who.name, who.stakeholder_type) for who in population]
    index = pd.Index([who.id for who in population], name="participant", dtype="str")
    people = pd.DataFrame(rows, columns=["agent_id", "name", "stakeholder_type"], index=index)
    return people.astype({"name": "str", "stakeholder_type": "str"})


def _with_items(table: pd.DataFrame, facts: Callable[[str], ItemFacts]) -> pd.DataFrame:
    """Scale and keying by item; the rekeyed value is min + max − value where the item is reverse-keyed."""
    known = {item: facts(item) for item in table["item_id"].unique()}
    for column in ("family", "dimension", "reverse_keyed", "scale_min", "scale_max"):
        table[column] = table["item_id"].map({item: getattr(fact, column) for item, fact in known.items()})
    value = table["value"].astype(float)
    turned = table["scale_min"].astype(float) + table["scale_max"].astype(float) - value
    table["value_rekeyed"] = value.where(~table["reverse_keyed"].astype(bool), turned)
    return table


def _with_choices(table: pd.DataFrame, asked: Mapping[str, Item]) -> pd.DataFrame:
    """Which options were chosen, by their values and by their labels; "" where an answer chooses none."""
    rows = list(zip(table["item_id"], table["data"], strict=True))
    chosen = [
        (kind_of(item).choice(data), kind_of(item).chosen(item, data))
        if (item := asked.get(name)) and (data := _parsed(text)) is not None
        else ("", "")
        for name, text in rows
    ]
    return table.assign(choice=[one for one, _ in chosen], chosen=[label for _, label in chosen])


def _parsed(text: object) -> JsonValue:
    found: JsonValue = json.loads(text) if isinstance(text, str) and text else None
    return found


def item_facts_of(reading: RunReading, name: str) -> Callable[[str], ItemFacts]:
    """Control items are nobody's own: a probe asks them in place of the instrument's."""
    own, instrument = evaluation(reading.methodology(name)).item_facts, reading.instrument(name)

    def facts(item: str) -> ItemFacts:
        scale = control_scale(item)
        return ItemFacts(family="control", scale_min=scale[0], scale_max=scale[1]) if scale else own(item, instrument)

    return facts


def _with_run(table: pd.DataFrame, source: _Source) -> pd.DataFrame:
    """What is the same for all rows of a stage, or of one of its arms."""
    reading, record = source.reading, source.reading.record
    table = table.assign(
        sim_id=record.sim_id,
        run_id=record.asked_by(source.methodology),
        methodology=source.methodology,
        phase=source.phase,
        language=record.language,
        instrument_hash=record.instruments[source.methodology].hash,
        baseline=_baseline_word(record.baseline) if source.phase == "T0" else "",
    )
    arms = {arm.id: arm for arm in record.arms}
    for column, read in _ARM_COLUMNS.items():
        table[column] = table["arm"].map({name: read(arm) for name, arm in arms.items()})
    remembering = {
        name: {who for who, text in reading.memories(source.phase, arm).items() if text is not None}
        for name, arm in arms.items()
    }
    table["memory_available"] = False
    for name, members in remembering.items():
        table.loc[table["arm"].eq(name) & table["participant"].isin(list(members)), "memory_available"] = True
    table["distribution"] = _distributions(table)
    return _with_data(table, reading.methodology(source.methodology).answer_columns)


_ARM_COLUMNS: Mapping[str, Callable[[Arm], Any]] = {
    "arm_role": lambda arm: arm.role,
    "respondent": lambda arm: arm.respondent,
    "model": lambda arm: arm.model,
    "temperature": lambda arm: arm.temperature,
    "elicitation": lambda arm: arm.elicitation,
}


def _baseline_word(baseline: str) -> str:
    return "reconstructed" if baseline == "reconstructed" else "measured"


def _distributions(table: pd.DataFrame) -> list[str]:
    """The probabilities of each answer as JSON; "" where one answer was asked for, or none came."""
    given = table["data"].where(table["elicitation"].eq("distribution"))
    data = [_parsed(text) for text in given]
    return [json.dumps(one["distribution"]) if isinstance(one, dict) and "distribution" in one else "" for one in data]


def _with_data(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """A methodology's own columns: members of an answer's `data` by name, anything else of it in the first one.

    A column named `notes` gets the answer's notes.
    """
    if not columns:
        return table
    data = [_parsed(text) for text in table["data"]]
    for column in columns:
        table[column] = [_member(value, column, first=column == columns[0]) for value in data]
    if "notes" in columns:
        table["notes"] = ["; ".join(json.loads(t)) if isinstance(t, str) and t else "" for t in table["notes"]]
    return table


def _member(value: Any, column: str, *, first: bool) -> Any:
    found = value.get(column) if isinstance(value, dict) else value if first else None
    return json.dumps(found, ensure_ascii=False) if isinstance(found, dict | list) else found


def _own_columns(reading: RunReading) -> list[str]:
    return list(dict.fromkeys(c for name in reading.record.methods for c in reading.methodology(name).answer_columns))


def _in_columns(tables: Sequence[pd.DataFrame], own: Sequence[str]) -> pd.DataFrame:
    """One table with the columns of COLUMNS in their order and in their types, whatever the stages had."""
    names = [*COLUMNS, *own]
    full = [table.reindex(columns=names) for table in tables if len(table)]
    table = pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=names)
    types: dict[str, Any] = {**dict.fromkeys(INTEGERS, "Int64"), **dict.fromkeys(NUMBERS, "float64")}
    for name in INTEGERS:
        table[name] = pd.to_numeric(table[name]).astype("Float64")
    texts = [name for name in COLUMNS if name not in {*INTEGERS, *NUMBERS, *FLAGS}]
    table[texts] = table[texts].fillna("")
    return table.astype({**types, **dict.fromkeys(FLAGS, "bool"), **dict.fromkeys(texts, "str")})
