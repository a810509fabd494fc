"""What each Q factor holds: its grid, sorted as an agent would who loads on nothing else; and statement by statement, where
the factors part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, note, rows, signed, titled, told
from enquete.reports.figures.frame import WIDTH
from enquete.reports.figures.palette import COLOURS, DIVERGING, GRID
from enquete.reports.figures.text import BOLD, bold, escaped, wrapped
from enquete.state.asking import Language

ROW, LABEL = 22, 230  # px of a statement
BOX, HEAD, GAP = 37, 22, 26  # px: a statement's box in a grid, the heading of a grid, between two grids
TEXT, PALER = (
    9,
    1.6,
)  # px of text in a box; how much wider the scale of shades is than the grid, so that text can be read
NARROWEST = 76  # px of a column in which short texts can be read; narrower ones hold numbers
SYMBOLS = ("circle", "square", "diamond", "triangle-up")

WORDS = {
    "arrays": N_("Diversity: statements on each shared view (z-scores), the most disputed on top"),
    "z": N_("z-score on the view; filled: distinguishing (p < 0.05)"),
    "factor": N_("view {n}, {flagged} defining sorts"),
    "bipolar": N_("view {n} (some hold its reverse), {flagged} defining sorts"),
    "arrays_alt": N_(
        "z-scores of {n} statements on {factors} shared views; most disputed: {disputed}; most agreed: {agreed}."
    ),
    "hover": N_("{item}: z = {z}, place {place} on view {n}"),
    "grids": N_("Diversity: how each shared view sorts the statements (composite Q grid)"),
    "bold": N_("bold: distinguishing (p < 0.05)"),
    "numbers": N_("numbers: statements in the instrument's order"),
    "grids_alt": N_("Sorts of {n} shared views. {said}"),
    "grid_said": N_("View {n}: at the top {high}; at the bottom {low}."),
}


def arrays(found: Found, asked: str, language: Language) -> Iterator[Figure]:
    """A row a statement, a mark a factor; factors stand apart in colour and in shape."""
    words = in_language(WORDS, language)
    factors = listed(found, "q", "factors")
    names = short(found)
    spread = {item: _spread([float(one["z"][item]) for one in factors]) for item in factors[0]["z"]}
    ordered = sorted(spread, key=lambda item: -spread[item])
    canvas = Canvas(words["arrays"], note(language, asked), language, plot=ROW * len(ordered))
    for row, item in enumerate(ordered):
        ends = [float(one["z"][item]) for one in factors]
        canvas.data.append({
            "type": "scatter", "mode": "lines", "x": [min(ends), max(ends)], "y": [row, row], "line": {"color": GRID, "width": 3},
            "showlegend": False, "hoverinfo": "skip",
        })  # fmt: skip
    for place, one in enumerate(factors):
        apart, symbol = distinguishing(one), SYMBOLS[place % len(SYMBOLS)]
        symbols = [symbol if item in apart else f"{symbol}-open" for item in ordered]
        canvas.data.append({
            "type": "scatter", "mode": "markers", "name": heading(one, words), "x": [one["z"][item] for item in ordered],
            "y": list(range(len(ordered))), "marker": {"size": 9, "color": COLOURS[place % len(COLOURS)], "symbol": symbols},
            "hoverinfo": "text", "hovertext": [hover(one, item, names, words, language) for item in ordered],
            "meta": {"links": [answers("diversity", item_id=item) for item in ordered]},
        })  # fmt: skip
    canvas.layout.update(
        showlegend=True,
        yaxis=rows([wrapped(names[item], LABEL, 1) for item in ordered]),
        xaxis=titled(words["z"], zeroline=True),
    )
    alt = words["arrays_alt"].format(
        n=len(ordered), factors=len(factors), disputed=names[ordered[0]], agreed=names[ordered[-1]]
    )
    yield canvas.figure("statements", alt)


def _spread(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def distinguishing(one: Mapping[str, Any]) -> set[str]:
    """Statements that set a factor apart."""
    return {str(each["item"]) for each in listed(one, "distinguishing") if each.get("level") is not None}


def heading(one: Mapping[str, Any], words: Mapping[str, str]) -> str:
    return words["bipolar" if one.get("bipolar") else "factor"].format(n=one["factor"], flagged=one["n_flagged"])


def hover(
    one: Mapping[str, Any], item: str, names: Mapping[str, str], words: Mapping[str, str], language: Language
) -> str:
    z, place = signed(one["z"][item], language), signed(one["array"][item], language, 0)
    return words["hover"].format(item=escaped(names[item]), z=z, place=place, n=one["factor"])


def short(found: Found) -> dict[str, str]:
    return {str(one["item"]): str(one.get("short") or one.get("wording")) for one in listed(found, "statements")}


def grids(found: Found, asked: str, language: Language) -> Iterator[Figure]:
    """One grid a factor, below one another; in a column the highest z on top."""
    words, names = in_language(WORDS, language), short(found)
    factors = listed(found, "q", "factors")
    distribution = {int(place): int(n) for place, n in (at(found, "grid", "distribution") or {}).items()}
    if not distribution:
        return
    tall = BOX * max(distribution.values())
    total = len(factors) * (tall + HEAD) + (len(factors) - 1) * GAP
    wide = (WIDTH - 28) / len(distribution)
    is_text = wide >= NARROWEST
    canvas = Canvas(
        words["grids"], note(language, asked, words["bold"], "" if is_text else words["numbers"]), language, total
    )
    for place, one in enumerate(factors):
        top = place * (tall + HEAD + GAP) + HEAD
        axis = str(place + 1) if place else ""
        refs = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        cells = _grid(one, distribution, names, wide if is_text else None)
        hovers = [
            [hover(one, item, names, words, language) if item else "" for item in row] for row in cells.pop("items")
        ]
        canvas.data.append({**cells, **refs, "hoverinfo": "text", "hovertext": hovers})
        canvas.layout[f"xaxis{axis}"] = {
            "anchor": f"y{axis}", "range": [min(distribution) - 0.5, max(distribution) + 0.5], "showgrid": False,
            "tickvals": list(distribution), "ticktext": [signed(step, language, 0) for step in distribution],
        }  # fmt: skip
        canvas.layout[f"yaxis{axis}"] = {
            "anchor": f"x{axis}", "domain": [1 - (top + tall) / total, 1 - top / total], "range": [max(distribution.values()) - 0.5, -0.5],
            "showticklabels": False, "showgrid": False,
        }  # fmt: skip
        above = {
            "xref": f"x{axis} domain",
            "yref": f"y{axis} domain",
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 2,
        }
        canvas.layout.setdefault("annotations", []).append(told(bold(heading(one, words)), 0, 1, **above))
    said = " ".join(_said(one, distribution, names, words) for one in factors)
    yield canvas.figure("factors", words["grids_alt"].format(n=len(factors), said=said))


def _grid(
    one: Mapping[str, Any], distribution: Mapping[int, int], names: Mapping[str, str], wide: float | None
) -> dict[str, Any]:
    """A heat map whose cells are statements, shaded by place; wide: px of a column, None for numbers in place of texts."""
    columns, places = [_column(one, place) for place in distribution], list(distribution)
    items = [[own[row] if row < len(own) else None for own in columns] for row in range(max(distribution.values()))]
    apart, numbers = distinguishing(one), {item: str(n) for n, item in enumerate(names, start=1)}

    def text(item: str) -> str:
        said = wrapped(names[item], (wide - 4) / BOLD, 3, TEXT) if wide else numbers[item]
        return bold(said) if item in apart else said

    reach = max(abs(place) for place in distribution) * PALER
    return {
        "type": "heatmap", "x": places, "y": list(range(len(items))), "xgap": 2, "ygap": 2, "showscale": False, "hoverongaps": False,
        "zmin": -reach, "zmax": reach, "colorscale": [list(stop) for stop in DIVERGING], "items": items,
        "z": [[None if item is None else place for item, place in zip(row, places, strict=True)] for row in items],
        "text": [[text(item) if item else "" for item in row] for row in items], "texttemplate": "%{text}",
        "textfont": {"size": TEXT if wide else 11},
        "meta": {"links": [[answers("diversity", item_id=item) if item else "" for item in row] for row in items]},
    }  # fmt: skip


def _column(one: Mapping[str, Any], place: int) -> list[str]:
    """Statements of one place, the highest z first."""
    own = [item for item, at_place in one["array"].items() if at_place == place]
    return sorted(own, key=lambda item: -float(one["z"][item]))


def _said(
    one: Mapping[str, Any], distribution: Mapping[int, int], names: Mapping[str, str], words: Mapping[str, str]
) -> str:
    high, low = (", ".join(names[item] for item in _column(one, end(distribution))) for end in (max, min))
    return words["grid_said"].format(n=one["factor"], high=high, low=low)
