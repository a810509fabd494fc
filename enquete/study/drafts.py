"""Drafts of instruments from what a simulation's agents wrote: made by rule or with a model, written, reviewed, accepted."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.budget import Budget
from enquete.graphs.registry import dotted_paths, methodologies
from enquete.instruments.load import load_own
from enquete.instruments.review import ReviewFinding, review
from enquete.nodes.draft_author import Author, ExpectedCost, expected
from enquete.nodes.instrument_pins import accept
from enquete.nodes.material import CONCOURSE, Material, drafted, material_of, require_free, write
from enquete.nodes.model_server import opened
from enquete.simulations.locate import locate
from enquete.simulations.population import load_population
from enquete.state.errors import SettingsError
from enquete.state.request import parse_request
from enquete.state.settings import Environment, Machine, resolve_machine, resolve_root
from enquete.study.background import wait
from enquete.study.sandbox import PathSandbox

LONGEST_FOLDER = 90
RUN = "draft"
"""Under which name the requests of a draft are filed."""


@dataclass(frozen=True)
class Drafts:
    """findings: by file, what the rules of review.py say of it, and under the model's name what of its work was not used, in English
    and German. tokens: spent on the model."""

    folder: Path
    files: list[Path]
    themes: list[str]
    findings: dict[str, list[dict[str, str]]]
    tokens: int = 0


class Drafting:
    """A draft that is to be made. Reads the simulation; raises SettingsError before anything is asked or written."""

    def __init__(
        self,
        sim_id: str | Path,
        *,
        root: str | None = None,
        into: str | Path | None = None,
        model: str = "",
        **request: object,
    ):
        """request: base_url, budget_tokens, concurrency, timeout_s, limits as for a run."""
        asked = parse_request(sim=str(sim_id), root=root, **request)
        environment = Environment.read()
        population = load_population(locate(str(sim_id), resolve_root(asked, environment)))
        if not population.has_simulation:
            raise SettingsError(f"{population.sim_id}: a personas file holds no discourse to draft from")
        self.model = model
        self._budget: Budget | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._machine: Machine = resolve_machine(asked, environment)
        if model and not (self._machine.api_key or self._machine.base_url):
            raise SettingsError(
                f"model {model!r} is named, but there is neither a key (LLM_API_KEY) nor a server (LLM_BASE_URL)"
            )
        folder = Path(into or f"drafts-{population.sim_id}").expanduser().absolute()
        self._material = material_of(population, folder)
        names = [name for own in drafted(self._material, dotted_paths()).values() for name in own]
        require_free(folder, [*names, CONCOURSE])

    def expected(self) -> ExpectedCost:
        """What the model is likely to cost."""
        return expected(self._material, dotted_paths(), self.model, self._machine)

    def make(self) -> Drafts:
        """Written. Raises SettingsError where the model cannot be asked; what it has said by then is not asked again."""
        return wait(self._authored(), self._interrupt) if self.model else _written(self._material)

    def _interrupt(self) -> None:
        """Ask nothing more: what is on its way is filed, and is not asked again. From the loop of the requests."""
        if self._budget is not None:
            self._stopping = asyncio.ensure_future(self._budget.stop("interrupted; the same command goes on with it"))

    async def _authored(self) -> Drafts:
        async with opened(self._material.folder, self.model, self._machine, RUN) as standalone:
            self._budget = standalone.budget
            material = await Author(standalone.context, self.model, standalone.budget).draft(
                self._material, dotted_paths()
            )
            return _written(material, standalone.ledger.total("tokens"))


def draft_instruments(sim_id: str | Path, *, root: str | None = None, into: str | Path | None = None) -> Drafts:
    """Instruments for every methodology that can draft, by rule, in a folder of their own. Asks nobody. Raises SettingsError."""
    return Drafting(sim_id, root=root, into=into).make()


def draft_on_server(sandbox: PathSandbox, sim_id: str, into: str = "") -> Drafts:
    """By rule, in a folder of the server's own, whose files clients then name as FOLDER/NAME. into: the folder, drafts-SIM unless
    named. Raises SettingsError where it holds drafts already or too little was said, SimulationNotFound, OutsideRoot."""
    simulation = sandbox.simulation(sim_id)
    folder = Path(sandbox.given["shelf"], into or drafts_folder(sim_id))
    sandbox.require_inside(folder)
    return Drafting(simulation, root=sandbox.given["root"], into=folder).make()


def drafts_folder(sim_id: str) -> str:
    """As a client may name it."""
    return "drafts-" + re.sub(r"[^A-Za-z0-9_-]", "-", sim_id)[:LONGEST_FOLDER]


def _written(material: Material, tokens: int = 0) -> Drafts:
    made = drafted(material, dotted_paths())
    files = write(material, made)
    findings = {}
    for name, own in made.items():
        for file in own:
            if file.startswith(name):  # the instrument itself; a layer beside it is read where it is named
                instrument, _ = load_own(methodologies()[name].instrument, material.folder / file)
                findings[file] = _told(review(list(instrument.wordings())))
    if material.findings:
        findings[material.author] = _told(material.findings)
    return Drafts(material.folder, files, [theme.label for theme in material.themes], findings, tokens)


def _told(found: list[ReviewFinding] | tuple[ReviewFinding, ...]) -> list[dict[str, str]]:
    return [{language: one.told(language) for language in ("en", "de")} for one in found]


def accept_drafts(folder: str | Path) -> list[str]:
    """Whoever says so has read them."""
    return accept(Path(folder).expanduser())
