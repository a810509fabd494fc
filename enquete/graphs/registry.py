"""The methodologies there are: every folder beside this file that exports METHODOLOGY. Adding one is adding a folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

import enquete.graphs
from enquete.state.seam import Methodology


@cache
def methodologies() -> dict[str, Methodology[Any, Any]]:
    """By name, in the order of a run that names no methods."""
    packages = [info.name for info in pkgutil.iter_modules(enquete.graphs.__path__) if info.ispkg]
    found = [importlib.import_module(f"enquete.graphs.{name}").METHODOLOGY for name in packages]
    return {methodology.name: methodology for methodology in sorted(found, key=lambda each: each.order)}


def dotted_paths() -> dict[str, str]:
    """name → dotted path, as runs record it."""
    return {name: f"enquete.graphs.{name}:METHODOLOGY" for name in methodologies()}
