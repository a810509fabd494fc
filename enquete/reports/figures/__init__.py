"""Figures of findings: each methodology's `Evaluation.figures` gives them as plain data; here they are joined, named and drawn.

The data are Plotly's JSON, so that a notebook shows them interactively (`as_plotly`; plotly is an extra,
`pip install 'enquete[figures]'`), while reports draw the same data as SVG (svg.py), without plotly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from enquete.locale import tell
from enquete.nodes.planning import load_methodology
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
    *,
    health: Any = None,
    replicates: Any = None,
    preference: Any = None,
) -> list[Figure]:
    """All figures of a run, "methodology/name", those of instrument health, of its replicates and of its second respondent last.

    methods: dotted paths, as a run's record has them; results: its findings; health, replicates, preference: as its files of
    that name have them. A bug in the figures of one methodology goes to `on_bug`, else is raised.
    """
    from enquete.reports.evaluation import evaluations  # noqa: PLC0415 - pulls in pandas
    from enquete.reports.health.figures import figures as of_health  # noqa: PLC0415
    from enquete.reports.preference.chart import figures as of_preference  # noqa: PLC0415
    from enquete.reports.replicates.chart import figures as of_replicates  # noqa: PLC0415

    own = evaluations(methods)
    titles = {name: tell(load_methodology(dotted).title, language) for name, dotted in methods.items()}
    sources: dict[str, Callable[[], Iterable[Figure]]] = {
        name: partial(own[name].figures, results[name], language) for name in methods if name in results
    }
    sources["health"] = partial(of_health, health or {}, own, titles, language)
    sources["replicates"] = partial(of_replicates, replicates or {}, own, titles, language)
    sources["preference"] = partial(of_preference, preference or {}, titles, language)
    found: list[Figure] = []
    for name, draw in sources.items():
        try:
            found += named(name, draw())
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
