"""Whether questions are about what a population is about, as the interviewer's model judges it: asked once, before a run begins, where
the words say no or cannot be compared. Where its reply cannot be read, the words' verdict stands."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import BaseModel

from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import Fit, RunRecord
from enquete.instruments.instrument import Instrument
from enquete.nodes.planning import load_methodology
from enquete.nodes.standalone_context import staffed
from enquete.respondents.quoting import fence
from enquete.respondents.roles import RULE, Role
from enquete.simulations.population import Population
from enquete.simulations.sources import clip
from enquete.state.asking import Language, Spoken
from enquete.state.methodology import NoSettings
from enquete.state.settings import Machine

METHODOLOGY = "synthesis"
"""Among the calls of no methodology."""
ITEMS, POSTS, LONG = 6, 8, 200
"""Texts of an instrument and first posts that are shown, and characters of each."""


class Questions(BaseModel):
    name: str
    about: str
    asks: list[str]


class FitIn(BaseModel):
    simulation: str
    types: list[str]
    posts: list[str]
    instruments: list[Questions]


class Verdict(BaseModel):
    name: str
    fits: bool


class FitOut(BaseModel):
    verdicts: list[Verdict] = []


def _prompt(data: FitIn, language: Language) -> str:
    simulation = json.dumps(
        {"about": data.simulation, "stakeholders": data.types, "posts": data.posts}, ensure_ascii=False, indent=1
    )
    asked = json.dumps([one.model_dump() for one in data.instruments], ensure_ascii=False, indent=1)
    return (
        f"Agents of a simulation are to be interviewed. This is what they are concerned with:\n{fence('simulation', simulation)}\n"
        f"These questionnaires are to be put to them:\n{fence('questions', asked)}\n"
        "Say of each by its name whether it fits: whether these agents can have something to say on it because it is about what they are "
        "concerned with. Another language or other words do not matter. "
        'Answer with JSON only: {"verdicts": [{"name": "…", "fits": true}]}'
    )


FIT = Role("fit", _prompt, FitOut, lambda data: FitOut(), max_output_tokens=500)


def is_open(record: RunRecord) -> bool:
    """Whether there is a question that a model can settle, and a model."""
    return record.fit is not None and record.main.respondent == "llm" and bool(record.fit.methods or record.fit.unsure)


async def judged(record: RunRecord, population: Population, ledger: Ledger, machine: Machine) -> Fit:
    """The fit as the run's model has it. One request, filed in the run's own ledger."""
    fit = record.fit or Fit()
    data = question(record, population)
    machine = machine.model_copy(update={"base_url": machine.base_url or record.base_url or None})
    async with staffed(ledger, record.main.model, machine, METHODOLOGY) as standalone:
        done = await FIT.work(standalone.desk, NoSettings(), "fit", data)
    if done == "short" or done[1] == RULE or not done[0].verdicts:
        return fit
    said = {one.name: one.fits for one in done[0].verdicts}
    off = [one.name for one in data.instruments if not said.get(one.name, one.name not in fit.methods)]
    asked = next((one.about for one in data.instruments if one.name in off), fit.asked)
    return fit.model_copy(update={"methods": off, "asked": asked, "unsure": [], "by": record.main.model})


def question(record: RunRecord, population: Population) -> FitIn:
    fit = record.fit or Fit()
    names = [name for name in record.methods if name in (*fit.methods, *fit.unsure)]
    return FitIn(
        simulation=clip(population.topic, 3 * LONG),
        types=fit.types,
        posts=[clip(text, LONG) for text in (population.discourse or _personas(population))[:POSTS]],
        instruments=[_questions(name, record.methods, record) for name in names],
    )


def _personas(population: Population) -> tuple[str, ...]:
    return tuple(f"{who.name}: {who.persona}" for who in population.participants)


def _questions(name: str, methods: Mapping[str, str], record: RunRecord) -> Questions:
    language: Spoken = "de" if record.language == "de" else "en"
    found = load_methodology(methods[name]).instrument.model_validate(record.instruments[name].content)
    if not isinstance(found, Instrument):
        return Questions(name=name, about="", asks=[])
    asks = [clip(one.text.in_(language), LONG) for one in found.wordings()]
    return Questions(name=name, about=found.topic.in_(language), asks=asks[:ITEMS])
