"""Megabytes of what the core requires, as it is installed and compiled here; without extras and what they need."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench.settings import Size

LARGEST = 12


def install(size: Size) -> dict[str, Any]:
    sizes: dict[str, float] = {}
    _add(Requirement("enquete"), sizes, set())
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    return {
        "packages": len(sizes), "mb": sum(sizes.values()), "largest": {name: sizes[name] for name in largest},
    }  # fmt: skip


def _add(requirement: Requirement, sizes: dict[str, float], seen: set[tuple[str, str]]) -> None:
    """The package with all that it requires. One that is not here is not required on this system."""
    name = canonicalize_name(requirement.name)
    for extra in ("", *requirement.extras):
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            found = distribution(name)
        except PackageNotFoundError:
            return
        sizes[name] = _megabytes(found)
        for line in found.requires or []:
            further = Requirement(line)
            if further.marker is None or further.marker.evaluate({"extra": extra}):
                _add(further, sizes, seen)


def _megabytes(found: Distribution) -> float:
    listed = {Path(str(found.locate_file(file))) for file in found.files or []}
    # Python compiles on import what an installer has not, and no list of the package's files names that.
    compiled = {Path(cache_from_source(str(path))) for path in listed if path.suffix == ".py"}
    return sum(path.stat().st_size for path in listed | compiled if path.is_file()) / 1e6
