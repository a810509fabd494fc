"""What a run asks, stage by stage, in which order its work gets budget, and what follows from its record and ledger
alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from enquete.ledger.budget import Claim
from enquete.ledger.entries import unanswered, usage
from enquete.ledger.folders import LEDGER
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord
from enquete.models.metered_model import valued
from enquete.models.prices import Price, Prices, cost
from enquete.state import loaded
from enquete.state.asking import Arm, Participant, ServedModel
from enquete.state.errors import SettingsError
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, Procedure

NARRATIVE = "narrative"
CRITIC = "critic"
"""Under which name the critic's calls and pairs stand in the ledger, without a phase; also its claim on the budget."""
OF_PROBES = " of probes"
"""Ends the note of a stage whose main arm is done and whose probes or replicates are not."""
NARRATIVE_SHARE = 20
"""The narrative may hold back one part in so many of the cap; a run with less to spend gets the rule's text."""


def load_methodology(dotted: str) -> Methodology:
    """By a name that a run's record (and a worker process) can keep."""
    # Runs that were begun before the methodologies had a folder of their own name them where they were.
    methodology: Methodology = loaded(dotted.replace("enquete.graphs.", "enquete.methods.", 1))
    return methodology


def of_two_waves(methods: Mapping[str, str]) -> str:
    """The methodology that measures change: asked before and after the simulation. "" where there is none.

    methods: dotted paths, as a run's record has them.
    """
    return next((name for name, dotted in methods.items() if {"T0", "T1"} <= set(load_methodology(dotted).phases)), "")


def planned(record: RunRecord) -> list[tuple[str, str]]:
    """(methodology, phase) of everything this run asks or has taken over, in the order it gets budget.

    T0 of an earlier run is not asked.
    """
    stages = []
    for name, dotted in record.methods.items():
        for phase in load_methodology(dotted).phases:
            here = record.baseline in ("measured", "reconstructed") if phase == "T0" else phase in record.phases
            stages += [(name, phase)] if here else []
    return sorted(stages, key=lambda stage: stage[1])


def closed(round: int) -> str:
    """The name under which an arm's verdict on a round is pinned, "next" or "end": what was said in it is settled."""
    return f"closed/{round}"


def rounds_owed(rounds: int, context: InterviewContext) -> range:
    """The rounds of this arm: up to the one it ended with, or as many as there may be."""
    ended = (number for number in range(1, rounds + 1) if context.pinned(closed(number)) == "end")
    return range(1, next(ended, rounds) + 1)


def claim_name(methodology: str, phase: str, arm: Arm) -> str:
    """The claim on the budget that calls of this arm draw on."""
    return f"{methodology}/{phase}/probes" if arm.aside else f"{methodology}/{phase}"


PriceOf = Callable[[str], Price | None]
"""The price of a model by its name; None where it is unknown."""


def claims(
    record: RunRecord, ledger: Ledger, cap: int, cap_usd: float | None = None, price_of: PriceOf | None = None
) -> dict[str, Claim]:
    """Narrative's reserve, main arms as asked for, then the arms beside them, then the critic (see budget.py), with
    what they have spent.

    `price_of`: for a run with a cap on money, whose claims are held in US dollars, too.
    """
    estimate = _estimate(ledger)
    expected = estimate.get("claims", {})
    stages = planned(record)
    names = [NARRATIVE, *(f"{n}/{p}" for n, p in stages), *(f"{n}/{p}/probes" for n, p in stages)]
    names += [CRITIC] if record.critic else []
    known = {name: _claim(expected.get(name, {})) for name in names}
    known[NARRATIVE].need = min(known[NARRATIVE].need, cap // NARRATIVE_SHARE)
    _draw(known, record, ledger)
    if cap_usd is not None and price_of is not None:
        _price(known, record, ledger, estimate.get("estimate", {}).get("lines", ()), price_of)
        known[NARRATIVE].need_usd = min(known[NARRATIVE].need_usd, cap_usd / NARRATIVE_SHARE)
    for (name, phase), stage in ledger.stages().items():
        over = stage.outcome in ("done", "failed")
        for name_ in (f"{name}/{phase}", f"{name}/{phase}/probes"):
            main_is_over = stage.note.endswith(OF_PROBES) and not name_.endswith("/probes")
            if name_ in known and (over or main_is_over):
                known[name_].closed = True
    return known


def _estimate(ledger: Ledger) -> Mapping[str, Any]:
    """As `Estimate.as_pinned` left it; {} where nothing was estimated."""
    estimate: Any = ledger.pinned("", "", "", "estimate")
    return estimate or {}


def largest_call(ledger: Ledger) -> int:
    """Tokens that a call of this run may reserve, as estimated; 0 where nothing was."""
    return int(_estimate(ledger).get("estimate", {}).get("largest_call", 0))


def _draw(known: Mapping[str, Claim], record: RunRecord, ledger: Ledger) -> None:
    """Tokens and calls of each claim so far."""
    drawn_by = _drawn_by(known, record)
    for (arm, name, phase, _, counter), value in ledger.counters().items():
        drawn = drawn_by(name, phase, arm)
        if drawn is not None:
            drawn.spent += value if counter == "tokens" else 0
            drawn.calls += value if counter == "calls" else 0
    for asked, (tokens, _) in unanswered(ledger.read).items():
        drawn = drawn_by(asked.methodology, asked.phase, asked.arm)
        if drawn is not None:
            drawn.unanswered += tokens


def _price(
    known: Mapping[str, Claim], record: RunRecord, ledger: Ledger, lines: Iterable[Mapping[str, Any]], price_of: PriceOf
) -> None:
    """The same in US dollars, by today's prices and the estimate's upper ends; 0 where a price is unknown."""
    for line in lines:
        price, claim = price_of(line["model"]), known.get(line["claim"])
        if price is not None and claim is not None:
            claim.need_usd += cost(price, *(int(line[name]["high"]) for name in ("input_tokens", "output_tokens")))
    drawn_by = _drawn_by(known, record)
    for asked, used in usage(ledger.read, set(record.carried)).items():
        price, drawn = price_of(asked.model), drawn_by(asked.methodology, asked.phase, asked.arm)
        if price is not None and drawn is not None:
            drawn.spent_usd += valued(price, used)
            drawn.unanswered_usd += valued(price, used._replace(read=0, written=0))


def _drawn_by(known: Mapping[str, Claim], record: RunRecord) -> Callable[[str, str, str], Claim | None]:
    """Which claim calls of a methodology, phase and arm draw on; the narrative's and the critic's have no phase."""
    arms = {arm.id: arm for arm in record.arms}
    return lambda name, phase, arm: known.get(
        claim_name(name, phase, arms[arm]) if phase else CRITIC if name == CRITIC else NARRATIVE
    )


def served_models(record: RunRecord) -> list[ServedModel]:
    """Models that answer in place of the arms', as settings name them, each once."""
    named = (served_by(dotted, record.settings.get(name, {})) for name, dotted in record.methods.items())
    return list(dict.fromkeys(chain.from_iterable(named)))


def served_by(dotted: str, settings: Mapping[str, Any]) -> Sequence[ServedModel]:
    """Of one methodology, with its settings as a record keeps them."""
    methodology = load_methodology(dotted)
    if methodology.procedure.served is Procedure.served:
        return ()
    return methodology.procedure.served(methodology.settings.model_validate(settings))


def price_of(record: RunRecord, prices: Prices, url: str) -> PriceOf:
    """The price of a model as its calls are filed. `url`: the run's own server."""
    elsewhere = {
        served.label(arm.model): (served.model or arm.model, served.base_url or url)
        for served in served_models(record)
        for arm in record.arms
    }
    return lambda name: prices.of(*elsewhere.get(name, (name, url)))


def models_of(record: RunRecord) -> list[str]:
    """Every model that this run may ask: its arms', and those that settings name for a role or to answer."""
    named = {arm.model for arm in record.arms if arm.respondent == "llm"}
    named |= {served.model for served in served_models(record) if served.model}
    named |= {record.critic.model} if record.critic and record.critic.model and named else set()
    for settings in record.settings.values():
        named |= {str(value) for name, value in settings.items() if value and name.endswith(("_model", "_fallback"))}
    return sorted(named)


def require_own_limits(record: RunRecord, limits: Collection[str]) -> None:
    """Raises SettingsError for a limit on a model that this run never asks: most likely a slip of the pen."""
    known = models_of(record)
    unknown = [name for name in limits if name not in known]
    if unknown:
        asked = f"asks {', '.join(known)}" if known else "asks no model"
        raise SettingsError(f"limits: {', '.join(unknown)}: this run {asked}; name a model of the run, or leave it out")


def _claim(expected: Mapping[str, Any]) -> Claim:
    need, likely, calls = (int(expected.get(name, 0)) for name in ("high", "likely", "calls"))
    return Claim(need, likely, calls, expected.get("course", ()))


@contextmanager
def open_ledger(folder: Path, run: str = "") -> Iterator[Ledger]:
    """To read only. Raises LedgerError where the run's ledger is missing or cannot be read."""
    ledger = Ledger.reading(folder / LEDGER, run)
    try:
        yield ledger
    finally:
        ledger.close_reading()


LedgerT = TypeVar("LedgerT", bound=Ledger)


class RunBase(Generic[LedgerT]):
    """Opened once and handed down: what needs a run's instruments, procedures or population takes them from here."""

    def __init__(self, folder: Path, record: RunRecord, ledger: LedgerT):
        self.folder = folder
        self.record = record
        self.ledger = ledger
        self._instruments: dict[str, Any] = {}
        self._settings: dict[str, Any] = {}
        self._procedures: dict[str, Procedure[Any, Any]] = {}

    @property
    def interviews(self) -> Path:
        """The folder that results go to: the parent of runs/{run_id}."""
        return self.folder.parent.parent

    @property
    def sim_path(self) -> Path:
        """The simulation's folder or the personas file, where it is now."""
        return self.record.simulation_of(self.folder)

    @cached_property
    def population(self) -> Sequence[Participant]:
        return self.ledger.population()

    @cached_property
    def failed_units(self) -> set[tuple[str, str, str, int, str]]:
        """Units that a bug left without answers: (arm, methodology, phase, round, unit)."""
        return {(f.arm, f.methodology, f.phase, f.round, f.unit) for f in self.ledger.failures()}

    def arm(self, arm_id: str) -> Arm:
        return next(arm for arm in self.record.arms if arm.id == arm_id)

    def methodology(self, name: str) -> Methodology:
        return load_methodology(self.record.methods[name])

    def instrument(self, name: str) -> Any:
        if name not in self._instruments:
            content = self.record.instruments[name].content
            self._instruments[name] = self.methodology(name).instrument.model_validate(content)
        return self._instruments[name]

    def settings(self, name: str) -> Any:
        if name not in self._settings:
            chosen = self.record.settings.get(name, {})
            self._settings[name] = self.methodology(name).settings.model_validate(chosen)
        return self._settings[name]

    def procedure(self, name: str) -> Procedure[Any, Any]:
        if name not in self._procedures:
            make = self.methodology(name).procedure
            self._procedures[name] = make(self.instrument(name), self.settings(name), self.record.language)
        return self._procedures[name]
