"""Interactive figures of findings, one module a methodology: `draw(findings, language)` gives a plotly figure.

Every figure says how many of how many answered and that respondents are simulated. plotly is an extra
(`pip install 'enquete[figures]'`), so this module imports it only when something is drawn.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from enquete.state.errors import InputError, SettingsError
from enquete.state.seam import Language

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SHARED = ("canvas", "words")


def drawable() -> list[str]:
    """Methodologies that a figure is known for."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if info.name not in _SHARED)


def draw(name: str, results: Mapping[str, Any], language: Language) -> go.Figure:
    """The figure of one methodology, from a run's findings by methodology.

    Raises InputError where the methodology has no figure or no findings to draw yet, SettingsError without plotly.
    """
    findings = results.get(name)
    if name not in drawable():
        raise InputError(f"figure {name!r}: there is none; there are figures of {', '.join(drawable())}")
    if not isinstance(findings, dict):
        raise InputError(f"figure {name!r}: this run has no findings of it, only of {', '.join(results) or 'nothing'}")
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "plotly":
            raise
        raise SettingsError("figures need plotly: pip install 'enquete[figures]'") from None
    figure: go.Figure = module.draw(findings, language)
    return figure


def has_figure(name: str, findings: JsonValue) -> bool:
    """Whether there is anything to try to draw."""
    return name in drawable() and isinstance(findings, dict)
