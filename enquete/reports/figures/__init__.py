"""Figures of findings: each methodology's `Evaluation.figures` gives them as plain data; here they are joined, named and drawn.

The data are Plotly's JSON, so that a notebook shows them interactively (`as_plotly`; plotly is an extra,
`pip install 'enquete[figures]'`), while reports draw the same data as SVG (svg.py), without plotly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from enquete.reports.figures.canvas import Figure
from enquete.state.asking import Language
from enquete.state.errors import InputError, SettingsError

if TYPE_CHECKING:
    import plotly.graph_objects as go


def drawn(
    methods: Mapping[str, str],
    results: Mapping[str, Any],
    language: Language,
    on_bug: Callable[[str, Exception], None] | None = None,
) -> list[Figure]:
    """All figures of a run, "methodology/name". methods: dotted paths, as a run's record has them; results: its findings.

    A bug in the figures of one methodology goes to `on_bug`, else is raised.
    """
    from enquete.reports.evaluation import evaluations  # noqa: PLC0415 - pulls in pandas

    found: list[Figure] = []
    for name, own in evaluations({name: methods[name] for name in methods if name in results}).items():
        try:
            found += named(name, own.figures(results[name], language))
        except Exception as error:
            if on_bug is None:
                raise
            on_bug(name, error)
    return found


def named(methodology: str, figures: Iterable[Figure]) -> list[Figure]:
    return [replace(each, name=f"{methodology}/{each.name}") for each in figures]


def chosen(name: str, figures: Sequence[Figure]) -> Figure:
    """By "methodology/name", or the first of a methodology. Raises InputError that names what there is."""
    for each in figures:
        if name in (each.name, each.name.partition("/")[0]):
            return each
    raise InputError(
        f"figure {name!r}: there is none; there are {', '.join(each.name for each in figures) or 'none yet'}"
    )


def as_plotly(figure: Figure) -> go.Figure:
    """Raises SettingsError without plotly."""
    try:
        import plotly.graph_objects as go  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "plotly":
            raise
        raise SettingsError("figures in a notebook need plotly: pip install 'enquete[figures]'") from None
    return go.Figure(figure.spec)
