"""The methodologies there are: every folder beside this file that exports METHODOLOGY, and every entry point of the
group `enquete.methodologies` that another installed package declares (docs/adding-a-methodology.md).

One that cannot be loaded is left out, and named with its reason where it is asked for: a broken package of somebody
else's must not stop the rest.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

import enquete.methods
from enquete.state.errors import SettingsError
from enquete.state.methodology import Methodology

GROUP = "enquete.methodologies"


@dataclass(frozen=True)
class Registry:
    """methodologies: name → (dotted path, methodology), in the order of a run that names no methods. broken: entry
    point → why."""

    methodologies: Mapping[str, tuple[str, Methodology]]
    broken: Mapping[str, str]


@cache
def registry() -> Registry:
    by_name = {methodology.name: (dotted, methodology) for dotted, methodology in _own()}
    broken: dict[str, str] = {}
    for entry in entries():
        try:
            methodology = _loaded(entry)
            if methodology.name in by_name:
                raise SettingsError(f"{by_name[methodology.name][0]} is a methodology of this name already")
            by_name[methodology.name] = entry.value, methodology
        except Exception as error:  # whatever another package raises while it is imported
            broken[entry.name] = f"{entry.value}: {type(error).__name__}: {error}"
    return Registry(dict(sorted(by_name.items(), key=lambda pair: pair[1][1].order)), broken)


def entries() -> list[EntryPoint]:
    """What other installed packages declare, whether it can be loaded or not."""
    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def _own() -> Iterator[tuple[str, Methodology]]:
    for info in pkgutil.iter_modules(enquete.methods.__path__):
        if info.ispkg:
            module = f"enquete.methods.{info.name}"
            yield f"{module}:METHODOLOGY", importlib.import_module(module).METHODOLOGY


def _loaded(entry: EntryPoint) -> Methodology:
    methodology = entry.load()
    if not isinstance(methodology, Methodology):
        raise SettingsError(f"a {type(methodology).__name__}, not an enquete.state Methodology")
    if methodology.name != entry.name:
        raise SettingsError(f"calls itself {methodology.name!r}, but its entry point {entry.name!r}")
    return methodology


def methodologies() -> dict[str, Methodology]:
    """By name, in the order of a run that names no methods."""
    return {name: methodology for name, (_, methodology) in registry().methodologies.items()}


def dotted_paths(asked: Sequence[str] | None = None) -> dict[str, str]:
    """name → dotted path, as runs record it. Raises SettingsError where one of `asked` is installed and cannot be
    loaded."""
    known = registry()
    for name in asked or ():
        if name in known.broken and name not in known.methodologies:
            raise SettingsError(f"methods: {name} is installed but cannot be loaded: {known.broken[name]}")
    return {name: dotted for name, (dotted, _) in known.methodologies.items()}
