"""The estimate of a run: a rehearsal over its agents, priced, with the narrative; and the check against the budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.folders import LEDGER
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import Fit, RunRecord
from enquete.graphs.registry import dotted_paths
from enquete.models.metered import BYTES_PER_TOKEN
from enquete.models.metered import estimate as tokens_of
from enquete.models.prices import Prices
from enquete.nodes import fit
from enquete.nodes.estimate import (
    BYTES_LEAST,
    Estimate,
    EstimateLine,
    Range,
    Rehearsal,
    critic_lines,
    estimated,
    priced_line,
    rehearse,
)
from enquete.nodes.model_server import asked_url
from enquete.nodes.planning import CRITIC, NARRATIVE
from enquete.nodes.run_choice import RunChoice, choose_run, run_population
from enquete.nodes.waves import simulation_status
from enquete.simulations.digest import digests
from enquete.simulations.population import Population
from enquete.state.asking import ATTEMPTS
from enquete.state.errors import OverBudget, SettingsError
from enquete.state.request import RunRequest
from enquete.state.settings import Environment, Machine, resolve_machine
from enquete.study.instrument_mismatch import other_methodology_named
from enquete.study.threads import run_in_thread


@dataclass(frozen=True)
class Foreseen:
    """What a run would cost, and whether its questions are about what the simulation is about; fit None: nothing to say of it."""

    estimate: Estimate
    fit: Fit | None


async def foresee(asked: RunRequest) -> Foreseen:
    """Of a new run, or of a re-run. Nothing is asked and nothing is written. Raises InputError and its children."""
    environment = Environment.read()
    wanted = asked.model_copy(update={"new": not asked.rerun})
    with other_methodology_named(asked):
        choice, population = await run_in_thread(
            lambda: choose_run(wanted, environment, dotted_paths(asked.methods)), within_s=None
        )
    machine, checked = resolve_machine(asked, environment), is_checked(asked, choice)
    expected = await estimate_run(choice, population, machine, checked=checked)
    return Foreseen(expected, choice.record.fit)


def is_checked(request: RunRequest, choice: RunChoice) -> bool:
    """Whether questions that do not fit are refused."""
    asked_before = request.rerun or choice.record.replay_of
    return choice.action == "new" and not asked_before and (request.fit or Environment.read().fit) == "checked"


async def estimate_run(
    choice: RunChoice, population: Population, machine: Machine, *, checked: bool = False
) -> Estimate:
    """What a run that has not begun will cost. A replay costs nothing, and is told so. checked: whether a model is asked if its
    questions fit."""
    record = choice.record
    prices = Prices.read(machine.prices, batch=record.batch)
    if record.replay_of:
        nobody = Rehearsal(0, len(run_population(choice, population)), (), {}, {})
        return estimated(record, nobody, prices, machine, notes=[f"a replay of run {record.replay_of} asks nobody"])
    people = list(run_population(choice, population))
    known, runs = [who.id for who in people], choice.folder.parent
    memories, notes = await run_in_thread(lambda: _memories(record, population, known, runs), within_s=None)
    rehearsal = await rehearse(record, people, memories)
    url = asked_url(record, machine)
    more = [*_narrative(record, prices, url), *critic_lines(record, rehearsal, prices, url)]
    more += _fit(record, population, prices, url) if checked else []
    return estimated(record, rehearsal, prices, machine, more=more, notes=notes)


def _memories(
    record: RunRecord, population: Population, known: list[str], runs: Path
) -> tuple[dict[str, str | None], list[str]]:
    """The agents' own memories where the simulation is over; else as long as they may become."""
    if record.kind == "personas" or "T1" not in record.phases or record.digest_chars == 0:
        return {}, []
    if record.carried:
        ledger = Ledger.reading(runs / record.rerun_of / LEDGER, record.rerun_of)
        try:
            return ledger.digests("T1"), []
        finally:
            ledger.close_reading()
    if not simulation_status(record, population.path, read=population).completed:
        filler = ("Erinnerung " * (record.digest_chars // 11 + 1))[: record.digest_chars]
        note = f"the simulation is not over: memories are taken to be as long as they may be ({record.digest_chars} characters)"
        return dict.fromkeys(known, filler), [note]
    return dict(digests(population, limit=record.digest_chars, language=record.language).texts), []


def _narrative(record: RunRecord, prices: Prices, url: str) -> list[EstimateLine]:
    """The report's summary, which a model writes only where one answers too."""
    main = record.main
    if main.respondent != "llm":
        return []
    from enquete.reports import narrative  # noqa: PLC0415 - pulls in pandas

    read, written = narrative.bounds()
    line = priced_line(
        methodology=narrative.METHODOLOGY,
        phase="",
        arm=main.id,
        claim=NARRATIVE,
        purpose=narrative.PURPOSE,
        model=main.model,
        calls=Range(low=0, likely=1, high=6),
        input_tokens=Range(low=0, likely=read[1] / BYTES_PER_TOKEN, high=read[2] / BYTES_LEAST).whole(),
        output_tokens=Range(low=0, likely=written[1], high=written[2]),
        price=prices.of(main.model, url),
    )
    return [line]


def _fit(record: RunRecord, population: Population, prices: Prices, url: str) -> list[EstimateLine]:
    """One request before the run, where words do not settle it."""
    if not fit.is_open(record):
        return []
    read, written = (
        tokens_of(fit.FIT.prompt(fit.question(record, population), "en")),
        fit.FIT.max_output_tokens,
    )
    line = priced_line(
        methodology=fit.METHODOLOGY,
        phase="",
        arm=record.main.id,
        claim=NARRATIVE,
        purpose=fit.FIT.purpose,
        model=record.main.model,
        calls=Range(low=1, likely=1, high=ATTEMPTS),
        input_tokens=Range(low=read / 2, likely=read, high=2 * ATTEMPTS * read).whole(),
        output_tokens=Range(low=10, likely=written / 10, high=ATTEMPTS * written).whole(),
        price=prices.of(record.main.model, url),
    )
    return [line]


def require_affordable(estimate: Estimate, *, confirmed: bool) -> None:
    """Raises SettingsError where a cap on money cannot be held, OverBudget where the upper estimate exceeds a cap."""
    if estimate.cap_usd is not None and estimate.unpriced:
        raise SettingsError(
            f"budget_usd: the price of {', '.join(estimate.unpriced)} is unknown, so a cap on money cannot be held; put it "
            "into a price file (ENQUETE_PRICES, docs/budget.md) or use budget_tokens"
        )
    exceeds = estimate.exceeds
    if exceeds and not confirmed:
        fact, fits = _over(estimate, exceeds)
        raise OverBudget(f"{fact}\n{fits}", estimate.as_object(), fact=fact)


def _over(estimate: Estimate, exceeds: str) -> tuple[str, str]:
    """What is too much, and what would make it fit."""
    tokens, usd = estimate.tokens, estimate.usd
    if exceeds == "tokens":
        size = f"{tokens.low:,.0f} to {tokens.high:,.0f} tokens, likely {tokens.likely:,.0f}"
        cap, fits = f"{estimate.cap_tokens:,} tokens", f"budget_tokens={estimate.sufficient_tokens}"
    else:
        assert usd is not None  # exceeds says so
        assert estimate.cap_usd is not None
        size = f"{usd.low:.2f} to {usd.high:.2f} USD, likely {usd.likely:.2f}"
        cap, fits = f"{estimate.cap_usd:.2f} USD", f"budget_usd={usd.high:.2f}"
    shares = sorted(estimate.by_claim().items(), key=lambda pair: -pair[1].likely)
    listed = ", ".join(f"{name} {share.low:,.0f} to {share.high:,.0f}" for name, share in shares)
    return (
        f"the estimate exceeds the budget: {size}; the cap is {cap}. Nothing was asked.\nBy part, in tokens: {listed}.",
        f"What would make it fit: {fits}; or fewer methodologies (methods=…), shorter memories (digest_chars)"
        f"{', fewer pairs for the critic (critic_pairs=…)' if CRITIC in estimate.by_claim() else ''}; "
        "or go ahead all the same with confirm=True: the run then pauses at the cap and can be resumed.",
    )
