"""Drafts of instruments from what a simulation's agents wrote, or from how those asked are described: made by rule or
with a model, written, reviewed, accepted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.instruments.load import load_own
from enquete.instruments.review import ReviewFinding, review
from enquete.ledger.budget import Budget
from enquete.nodes.draft_author import Author, ExpectedCost, expected
from enquete.nodes.instrument_pins import accept
from enquete.nodes.material import CONCOURSE, Material, drafted, material_of, require_free, write
from enquete.nodes.model_server import opened
from enquete.simulations.locate import locate
from enquete.simulations.population import load_population
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.request import DraftRequest, parse_request
from enquete.state.settings import Environment, Machine, resolve_machine, resolve_root
from enquete.study.background import wait
from enquete.study.instruments import review_file
from enquete.study.tasks import PathSandbox

LONGEST_FOLDER = 90
RUN = "draft"
"""Under which name the requests of a draft are filed."""


@dataclass(frozen=True)
class Drafts:
    """findings: by file, what the rules of review.py say of it, and under the model's name what of its work was not
    used, in English and German. tokens: spent on the model."""

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
        topic: str = "",
        themes: Sequence[str] = (),
        model: str = "",
        **request: object,
    ):
        """sim_id: a simulation, or a personas file. topic, themes: the study's own, instead of those found, each in one
        language or as “German = English”. request: base_url, budget_tokens, concurrency, timeout_s, limits as for a
        run."""
        asked = parse_request(sim=str(sim_id), root=root, **request)
        environment = Environment.read()
        population = load_population(locate(str(sim_id), resolve_root(asked, environment)))
        self.model = model
        self._budget: Budget | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._machine: Machine = resolve_machine(asked, environment)
        if model and not (self._machine.api_key or self._machine.base_url):
            why = "but there is neither a key (LLM_API_KEY) nor a server (LLM_BASE_URL)"
            raise SettingsError(f"model {model!r} is named, {why}")
        folder = Path(into or f"drafts-{population.sim_id}").expanduser().absolute()
        self._material = material_of(population, folder, topic, themes)
        names = [name for written in drafted(self._material, dotted_paths()).values() for name in written]
        require_free(folder, [*names, CONCOURSE])

    def expected(self) -> ExpectedCost:
        """What the model is likely to cost."""
        return expected(self._material, dotted_paths(), self.model, self._machine)

    def make(self) -> Drafts:
        """Written. Raises SettingsError where the model cannot be asked; what it said by then is not asked again."""
        return wait(self._authored(), self._interrupt) if self.model else _written(self._material)

    def _interrupt(self) -> None:
        """Ask nothing more: what is on its way is filed, and is not asked again. From the loop of the requests."""
        if self._budget is not None:
            self._stopping = asyncio.ensure_future(self._budget.stop("interrupted; the same command goes on with it"))

    async def _authored(self) -> Drafts:
        async with opened(self._material.folder, self.model, self._machine, RUN) as standalone:
            self._budget = standalone.budget
            author = Author(standalone.context, self.model, standalone.budget)
            material = await author.draft(self._material, dotted_paths())
            return _written(material, standalone.ledger.total("tokens"))


def draft_instruments(
    sim_id: str | Path,
    *,
    root: str | None = None,
    into: str | Path | None = None,
    topic: str = "",
    themes: Sequence[str] = (),
) -> Drafts:
    """Instruments for every methodology that can draft, by rule, in a folder of their own. Raises SettingsError."""
    return Drafting(sim_id, root=root, into=into, topic=topic, themes=themes).make()


class ReviewedDraft(BaseModel):
    """A draft. Nobody has read it yet."""

    name: Annotated[str, Field(description="for `instruments`, or where a setting names a file")]
    methodology: Annotated[str, Field(description="whose instrument it is; empty for a file that its settings name")]
    findings: Annotated[list[str], Field(description="what the rules for good items say of it")]


class DraftedFile(ReviewedDraft):
    """A draft with its text."""

    text: Annotated[str, Field(description="YAML; above every item stands where it is from")]


class DraftsData(BaseModel):
    """What was drafted, by rule and without a model."""

    sim_id: str
    folder: Annotated[str, Field(description="in the server's own folder")]
    themes: Annotated[list[str], Field(description="what several agents wrote about, the most frequent first")]
    files: list[DraftedFile]


def draft_on_server(sandbox: PathSandbox, sim_id: str, asked: DraftRequest) -> DraftsData:
    """By rule, in a folder of the server's own, whose files clients then name as FOLDER/NAME. Raises SettingsError
    where it holds drafts already or too little was said, SimulationNotFound, OutsideRoot."""
    simulation = sandbox.simulation(sim_id)
    folder = Path(sandbox.given["shelf"], asked.into or drafts_folder(sim_id))
    sandbox.require_inside(folder)
    made = Drafting(simulation, root=sandbox.given["root"], into=folder, topic=asked.topic, themes=asked.themes).make()
    return DraftsData(sim_id=sim_id, folder=made.folder.name, themes=made.themes, files=_files_in(made.folder, "en"))


def drafts_on_server(sandbox: PathSandbox, sim_id: str, language: str = "en") -> list[DraftedFile]:
    """As they are now, in the folder that is theirs unless another was named; [] where nobody drafted. language: of the
    findings. Raises OutsideRoot."""
    folder = Path(sandbox.given["shelf"], drafts_folder(sim_id))
    sandbox.require_inside(folder)
    return _files_in(folder, language)


def _files_in(folder: Path, language: str) -> list[DraftedFile]:
    """Instruments in the order of methodologies, then what settings name."""
    order = [*methodologies()]
    files = (file for file in folder.glob("*.yaml") if file.is_file())
    by_method = sorted(files, key=lambda file: (order.index(file.stem) if file.stem in order else len(order), file))
    return [
        DraftedFile(
            name=f"{folder.name}/{file.stem}", methodology=file.stem if file.stem in order else "",
            findings=_rule_findings(file, language) if file.stem in order else [], text=file.read_text("utf-8-sig"),
        )
        for file in by_method
    ]  # fmt: skip


def _rule_findings(file: Path, language: str) -> list[str]:
    """What the rules say; of an edited file that cannot be read any more, why."""
    try:
        return [finding.told(language) for finding in review_file(str(file), file.stem).findings]
    except InstrumentError as error:
        return [problem.replace(str(file), file.name) for problem in error.problems]


def drafts_folder(sim_id: str) -> str:
    """As a client may name it."""
    return "drafts-" + re.sub(r"[^A-Za-z0-9_-]", "-", sim_id)[:LONGEST_FOLDER]


def _written(material: Material, tokens: int = 0) -> Drafts:
    made = drafted(material, dotted_paths())
    files = write(material, made)
    findings = {}
    for name, texts in made.items():
        for file in texts:
            if file.startswith(name):  # the instrument itself; a layer beside it is read where it is named
                instrument, _ = load_own(methodologies()[name].instrument, material.folder / file)
                findings[file] = _told(review(list(instrument.wordings())))
    if material.findings:
        findings[material.author] = _told(material.findings)
    return Drafts(material.folder, files, [theme.label for theme in material.themes], findings, tokens)


def _told(findings: list[ReviewFinding] | tuple[ReviewFinding, ...]) -> list[dict[str, str]]:
    return [{language: finding.told(language) for language in ("en", "de")} for finding in findings]


def accept_drafts(folder: str | Path) -> list[str]:
    """Whoever says so has read them."""
    return accept(Path(folder).expanduser())
