"""Drafts of instruments from what a simulation's agents wrote: made, written, reviewed, accepted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.instruments.load import load_own
from enquete.instruments.review import review
from enquete.nodes.marks import accept
from enquete.nodes.material import drafted, material_of, write
from enquete.simulations.locate import locate
from enquete.simulations.population import load_population
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest
from enquete.state.settings import Environment, resolve_root


@dataclass(frozen=True)
class Drafts:
    """findings: by file, what the rules of review.py say of it, in English and German."""

    folder: Path
    files: list[Path]
    themes: list[str]
    findings: dict[str, list[dict[str, str]]]


def draft_instruments(sim_id: str | Path, *, root: str | None = None, into: str | Path | None = None) -> Drafts:
    """Instruments for every methodology that can draft, in a folder of their own. Asks nobody. Raises SettingsError."""
    path = locate(str(sim_id), resolve_root(RunRequest(root=root), Environment.read()))
    population = load_population(path)
    if not population.has_simulation:
        raise SettingsError(f"{population.sim_id}: a personas file holds no discourse to draft from")
    folder = Path(into or f"drafts-{population.sim_id}").expanduser().absolute()
    material = material_of(population, folder)
    made = drafted(material, dotted_paths())
    files = write(material, made)
    findings = {}
    for name, own in made.items():
        for file in own:
            if file.startswith(name):  # the instrument itself; a layer beside it is read where it is named
                instrument, _ = load_own(methodologies()[name].instrument, folder / file)
                found = review(list(instrument.wordings()))
                findings[file] = [{language: one.told(language) for language in ("en", "de")} for one in found]
    return Drafts(folder, files, [theme.label for theme in material.themes], findings)


def accept_drafts(folder: str | Path) -> list[str]:
    """Whoever says so has read them."""
    return accept(Path(folder).expanduser())
