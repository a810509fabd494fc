"""Interactive figures of findings: `draw(findings, language)` of a methodology's own module gives a plotly figure.

Every figure says how many of how many answered and that respondents are simulated. plotly is an extra
(`pip install 'enquete[figures]'`), so modules that draw are imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.nodes.planning import load_methodology, loaded
from enquete.state.asking import Language
from enquete.state.errors import InputError, SettingsError

if TYPE_CHECKING:
    import plotly.graph_objects as go


def drawable(methods: Mapping[str, str]) -> dict[str, str]:
    """Dotted path of what draws, of each methodology that has a figure. methods: dotted paths, as a run's record has them."""
    from enquete.reports.evaluation import evaluation  # noqa: PLC0415 - pulls in pandas

    found = {name: evaluation(load_methodology(dotted)).figure for name, dotted in methods.items()}
    return {name: figure for name, figure in found.items() if figure}


def draw(name: str, methods: Mapping[str, str], results: Mapping[str, Any], language: Language) -> go.Figure:
    """The figure of one methodology of a run, from its findings by methodology.

    Raises InputError where the methodology has no figure or no findings to draw yet, SettingsError without plotly.
    """
    known, findings = drawable(methods), results.get(name)
    if name not in known:
        raise InputError(f"figure {name!r}: there is none; there are figures of {', '.join(known) or 'nothing'}")
    if not isinstance(findings, dict):
        raise InputError(f"figure {name!r}: this run has no findings of it, only of {', '.join(results) or 'nothing'}")
    try:
        figure: go.Figure = loaded(known[name])(findings, language)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "plotly":
            raise
        raise SettingsError("figures need plotly: pip install 'enquete[figures]'") from None
    return figure
