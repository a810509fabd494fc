"""Discovery interviews in memory: a schema of a few lines, somebody who answers, and a model that is a function."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from enquete.instruments.load import load_shipped, validate_instrument
from enquete.instruments.source import read_source
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interview import DiscoveryInterview, DiscoverySettings
from enquete.methods.discovery.interviewer import Reading
from enquete.methods.discovery.procedure import Discovery
from enquete.methods.discovery.results import stored_interview
from enquete.methods.discovery.schema import DiscoverySchema
from enquete.state.asking import Answer, Block, Participant
from tests.support.memory_context import MemoryContext, Works

INSTRUMENT = load_shipped(DiscoveryInstrument, "discovery")

PLANT = """
id: plant
version: "1"
title: A plant
language_default: en
objective: Learn how the plant works
decrement: {decrement}
fields:
  name: {{type: text, label: what you make, required: true}}
  troubles: {{type: choices, label: what is hard, values: {{demand: uncertain demand, bottleneck: a bottleneck, staff: too few people}}}}
  shifts: {{type: number, label: how many shifts, unit: shifts, units: {{hours: 0.125}}}}
  nights?: {{type: boolean, label: whether you work at night}}
  stages:
    type: list
    key: stage-id
    nested: 3
    label: the stages
    fields: {{minutes: {{type: number, label: how long it takes, unit: minutes}}, inputs: {{type: texts, label: what goes in}}}}
  exhausted?: {{type: boolean, closing: true, label: whether all is said}}
complete: {complete}
"""


def schema(complete: str = "name", decrement: float = 0.1) -> DiscoverySchema:
    return from_yaml(PLANT.format(complete=complete, decrement=decrement))


def from_yaml(text: str) -> DiscoverySchema:
    return validate_instrument(DiscoverySchema, read_source("plant.yaml", text.encode()))


def settings(discovery: DiscoverySchema, **given: Any) -> DiscoverySettings:
    return DiscoverySettings(ds=discovery.id, read=discovery, **given)


def saying(answers: Sequence[str]) -> Any:
    """One answer after another, by turn; the last again and again."""

    def says(who: Participant, block: Block) -> Answer:
        return Answer(block.items[0].id, "ok", text=answers[min(block.key.turn, len(answers)) - 1])

    return says


def reading(*records: Mapping[str, Any]) -> Works:
    """A model that reads these, one after another, and words questions as the rule does."""
    left = list(records)

    def works(task: Any) -> Any:
        if task.purpose != "interpret":
            return task.rule(task.data)
        return Reading(record=dict(left.pop(0) if len(left) > 1 else left[0]))

    return works


def person(number: int = 1) -> Participant:
    return Participant(id=f"agent:{number}", name=f"Person {number}", stakeholder_type="NGO", persona=f"No. {number}")


def context(
    answers: Sequence[str] | Any, works: Works | None = None, who: Participant | None = None, language: Any = "en"
) -> MemoryContext:
    says = answers if callable(answers) else saying(answers)
    by = "rule" if works is None else "some-model"
    return MemoryContext(who or person(), says, language, methodology="discovery", works=works, by=by)


def interviewed(memory: MemoryContext, chosen: DiscoverySettings) -> DiscoveryInterview:
    """To its end, read back from the stored turns."""
    procedure = Discovery(INSTRUMENT, chosen, memory.language)
    unit = memory.participants()[0].id
    assert asyncio.run(procedure.conduct(unit, 1, memory)) == "done"
    return stored_interview(unit, chosen, memory.values)


def quoted(value: Any, quote: str = "") -> dict[str, Any]:
    return {"value": value, "quote": quote or str(value)}
