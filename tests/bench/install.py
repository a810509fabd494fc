"""What an installation brings, and megabytes of the core's as they are installed and compiled here."""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench.settings import Size

LARGEST = 12
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def install(size: Size) -> dict[str, Any]:
    sizes = {name: _megabytes(distribution(name)) for name in required() | {"enquete"}}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    return {
        "packages": len(sizes), "mb": sum(sizes.values()), "largest": {name: sizes[name] for name in largest},
    }  # fmt: skip


def required(*extras: str) -> set[str]:
    """Names of the distributions that `pip install enquete[extras]` brings, by what pyproject.toml and they themselves
    declare. One that is not here is not required on this system."""
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    rest = [(text, "") for extra in ("", *extras) for text in EXTRAS.get(extra, PROJECT["dependencies"])]
    while rest:
        text, extra = rest.pop()
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                rest += [(further, wanted) for further in distribution(name).requires or ()]
            except PackageNotFoundError:
                break
            names.add(name)
    return names


def _megabytes(found: Distribution) -> float:
    listed = {Path(str(found.locate_file(file))) for file in found.files or []}
    # Python compiles on import what an installer has not, and no list of the package's files names that.
    compiled = {Path(cache_from_source(str(path))) for path in listed if path.suffix == ".py"}
    return sum(path.stat().st_size for path in listed | compiled if path.is_file()) / 1e6
