"""The roundtable figures: agreement by round, where everybody stood at each stage, and who moved toward whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from string import ascii_uppercase
from typing import Any

from enquete.graphs.roundtable.analysis import AFTER, BEFORE
from enquete.graphs.roundtable.responses import STANCES
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed, type_name
from enquete.reports.figures.canvas import Canvas, Figure, answers, columns, note, told
from enquete.reports.figures.heat import ROW, Cell, heat
from enquete.reports.figures.palette import COLOURS, DIVERGING, GRID, INK, MUTED, PALE
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.reports.markdown import number
from enquete.state.asking import Language

CURVE, LABEL, LINK = 230, 230, 34  # px: a plot, a row's label, a participant's row in the network
MOST_ROWS, MOST_NODES, MOST_LINES = 30, 12, 20
SIGNS = {"yes": 1.0, "no": -1.0, "neutral": 0.0}
HALF_SURE = 0.5
"""Depth of a stance given without a confidence."""

WORDS = {
    "agreement": N_("Roundtable: agreement, privately and after each round"),
    "round": N_("round"),
    "mean": N_("mean of the groups"),
    "group": N_("each group"),
    "limit": N_("consensus: {share}"),
    "agreement_hover": N_("{group}, {stage}: agreement {agreement}"),
    "mean_hover": N_("{stage}: mean agreement {agreement}, {talking} of {n} groups still talking"),
    "private_hover": N_("{stage}: mean agreement {agreement} of {n} groups"),
    "agreement_alt": N_("Mean agreement of {n} groups goes from {first} to {last} over {stages} stages."),
    "stays": N_("a group that has ended stays where it ended"),
    "positions": N_("Roundtable: where everybody stood, stance and confidence"),
    "before": N_("privately before"),
    "after": N_("privately after"),
    "hover": N_("{name}, {stage}: {stance}, confidence {confidence}"),
    "positions_alt": N_(
        "Stance and confidence of {n} participants at {stages} stages; {changed} took another stance in the end."
    ),
    "blue": N_("blue: yes, orange: no; deeper: surer; before each name its group"),
    "letters": N_("where no stance was asked for: A, B, … the same position in a group"),
    "part": N_("the first {n} of {total} groups"),
    "persuasion": N_("Roundtable: who moved toward whom"),
    "mover": N_("who moved"),
    "toward": N_("toward the position that was held by"),
    "link": N_("{mover} → {toward}: {weight}"),
    "persuasion_alt": N_("{n} moves toward another participant's position; most toward {most}."),
    "shared": N_("a move toward several counts in equal parts"),
    "likeness": N_("likeness of positions, no proof of a cause"),
    "seats": N_("{n} participants in {groups} groups"),
}

Row = Mapping[str, Any]


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    yield from agreement(found, words, language)
    yield from persuasion(found, words, language)
    yield from positions(found, words, language)


def seats(found: Found, words: Mapping[str, str], language: Language, *more: str) -> str:
    held = at(found, "seats") or {}
    shown = words["seats"].format(n=held.get("participants", 0), groups=held.get("begun", 0))
    return note(language, shown, *more, people=int(held.get("people", 0)))


def group_name(unit: object) -> str:
    """group_03 as 3."""
    return str(unit).rpartition("_")[2].lstrip("0") or str(unit)


# --- agreement ----------------------------------------------------------------------------------------------------------


def agreement(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """A line a group, the mean on top, and the agreement from which a discussion is over."""
    curve = listed(found, "curve")
    if not curve:
        return
    stages, groups = [str(one["stage"]) for one in curve], listed(found, "groups")
    talking = [one for one in curve if one["stage"] not in (BEFORE, AFTER)]
    stays = words["stays"] if any(one["talking"] < one["n"] for one in talking) else ""
    canvas = Canvas(words["agreement"], seats(found, words, language, stays), language, CURVE)
    canvas.data.extend(
        _course(one, stages, words, language, first=place == 0) for place, one in enumerate(groups[:MOST_LINES])
    )
    said = [_mean_told(one, words, language) for one in curve]
    points = [(float(place), float(one["agreement"])) for place, one in enumerate(curve)]
    links = [answers("roundtable", **_where(stage)) for stage in stages]
    canvas.data.append({**_line(points, words["mean"], said, COLOURS[0], 3), "meta": {"links": links}})
    limit, last = float(figure(found, "limits", "consensus") or 0.9), len(stages) - 0.7
    canvas.layout.update(
        xaxis=columns([_stage(stage, words) for stage in stages], showgrid=False),
        yaxis={"range": [0, 1.05], "tickvals": [0, 0.25, 0.5, 0.75, 1], "gridcolor": GRID,
               "ticktext": [number(tick, language) for tick in (0, 0.25, 0.5, 0.75, 1)]},
        shapes=[{"type": "line", "x0": -0.5, "x1": last + 0.2, "y0": limit, "y1": limit, "line": {"color": MUTED, "dash": "dot"}}],
        annotations=[
            told(words["limit"].format(share=number(limit, language)), -0.48, limit, xanchor="left", yanchor="top",
                 font={"size": 10, "color": MUTED})
        ],
    )  # fmt: skip
    first, end = (number(one["agreement"], language) for one in (curve[0], curve[-1]))
    alt = words["agreement_alt"].format(n=curve[0]["n"], first=first, last=end, stages=len(stages))
    yield canvas.figure("agreement", alt, lead=True)


def _mean_told(one: Row, words: Mapping[str, str], language: Language) -> str:
    private = one["stage"] in (BEFORE, AFTER)
    facts = {**one, "stage": _stage(str(one["stage"]), words), "agreement": number(one["agreement"], language)}
    return words["private_hover" if private else "mean_hover"].format(**facts)


def _course(
    one: Row, stages: Sequence[str], words: Mapping[str, str], language: Language, *, first: bool
) -> dict[str, Any]:
    """One group's line, where it said something at these stages."""
    agreed = {str(each["round"]): each["agreement"] for each in one["rounds"]}
    known = {BEFORE: one[BEFORE], **agreed, AFTER: one[AFTER]}
    shown = [stage for stage in stages if known.get(stage) is not None]
    said = [
        words["agreement_hover"].format(
            group=group_name(one["group"]), stage=_stage(stage, words), agreement=number(known[stage], language)
        )
        for stage in shown
    ]
    points = [(float(stages.index(stage)), float(known[stage])) for stage in shown]
    links = [answers("roundtable", session=one["group"], **_where(stage)) for stage in shown]
    return {
        **_line(points, words["group"], said, PALE[MUTED], 1.5),
        "showlegend": first,
        "meta": {"links": links},
    }


def _where(stage: str) -> dict[str, object]:
    return {"round": 0 if stage == BEFORE else stage} if stage != AFTER else {}


def _line(
    points: Sequence[tuple[float, float]], name: str, said: list[str], colour: str, width: float
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers", "x": [x for x, _ in points], "y": [y for _, y in points], "name": name,
        "hoverinfo": "text", "hovertext": said, "line": {"color": colour, "width": width},
        "marker": {"color": colour, "size": 4 + width},
    }  # fmt: skip


# --- positions ----------------------------------------------------------------------------------------------------------


def positions(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Participants × stages, group by group: a shade from no to yes, as deep as the confidence."""
    rows = [one for one in listed(found, "positions") if not one["reads"]]
    if not any(one["stance"] for one in rows):
        return
    groups = list(dict.fromkeys(str(one["group"]) for one in rows))
    members = {unit: list(dict.fromkeys(one["participant"] for one in rows if one["group"] == unit)) for unit in groups}
    shown = _fitting(members)
    stages = _stages(rows)
    by_place = {(one["group"], one["participant"], one["stage"]): one for one in rows}
    seats_ = [(unit, who) for unit in shown for who in members[unit]]
    names = {(one["group"], one["participant"]): str(one["name"]) for one in rows}
    labels = [wrapped(f"{group_name(unit)} · {names[unit, who]}", LABEL, 1) for unit, who in seats_]
    cells = [
        [_cell(by_place.get((unit, who, stage)), _stage(stage, words), words, language) for stage in stages]
        for unit, who in seats_
    ]
    trace, layout = heat(labels, [_stage(stage, words) for stage in stages], cells, DIVERGING, (-1.0, 1.0))
    part = words["part"].format(n=len(shown), total=len(groups)) if len(shown) < len(groups) else ""
    letters = words["letters"] if any(not one["stance"] for one in rows) else ""
    notes = seats(found, words, language, words["blue"], letters, part)
    canvas = Canvas(words["positions"], notes, language, (ROW - 6) * len(seats_))
    canvas.data.append(trace)
    canvas.layout.update(layout)
    changed = sum(_changed(unit, who, stages, by_place) for unit, who in seats_)
    alt = words["positions_alt"].format(n=len(seats_), stages=len(stages), changed=changed)
    yield canvas.figure("positions", alt)


def _fitting(members: Mapping[str, Sequence[str]]) -> list[str]:
    """As many groups as can be read."""
    shown, total = list[str](), 0
    for unit, people in members.items():
        if shown and total + len(people) > MOST_ROWS:
            break
        shown.append(unit)
        total += len(people)
    return shown


def _stages(rows: Sequence[Row]) -> list[str]:
    named = {str(one["stage"]) for one in rows}
    rounds = sorted((name for name in named if name.isdigit()), key=int)
    return [*([BEFORE] if BEFORE in named else []), *rounds, *([AFTER] if AFTER in named else [])]


def _stage(stage: str, words: Mapping[str, str]) -> str:
    return words[stage] if stage in (BEFORE, AFTER) else f"{words['round']} {stage}"


def _cell(one: Row | None, stage: str, words: Mapping[str, str], language: Language) -> Cell:
    """Without a stance the letter of its position, in no colour."""
    if one is None or not (one["stance"] or one["cluster"]):
        return Cell(None)
    sure = one["confidence"]
    letter = ascii_uppercase[min(int(one["cluster"] or 1), len(ascii_uppercase)) - 1]
    stance = in_language(STANCES, language)[str(one["stance"])] if one["stance"] else letter
    said = words["hover"].format(
        name=escaped(one["name"]), stage=stage, stance=stance, confidence=number(sure, language)
    )
    depth = SIGNS.get(str(one["stance"]), 0.0) * (HALF_SURE if sure is None else float(sure))
    link = answers("roundtable", session=one["group"], participant=one["participant"])
    return Cell(depth, stance if sure is None else f"{stance} {number(sure, language)}", said, link, 1)


def _changed(unit: str, who: str, stages: Sequence[str], by_place: Mapping[tuple[Any, Any, Any], Row]) -> bool:
    own = [one["stance"] for stage in stages if (one := by_place.get((unit, who, stage))) and one["stance"]]
    return bool(own) and own[0] != own[-1]


# --- persuasion ---------------------------------------------------------------------------------------------------------


def persuasion(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Who moved on the left, toward whom on the right: people where they fit, else their types. Wider: more of a move."""
    links = listed(found, "persuasion")
    if not links:
        return
    one_by_one = all(len({str(one[end]) for one in links}) <= MOST_NODES for end in ("mover", "toward"))
    key, name = ("", "_name") if one_by_one else ("_type", "_type")
    weights: dict[tuple[str, str], float] = {}
    names: dict[str, str] = {}
    for one in links:
        ends = str(one[f"mover{key}"]), str(one[f"toward{key}"])
        weights[ends] = weights.get(ends, 0.0) + float(one["weight"])
        for end, place in zip(ends, ("mover", "toward"), strict=True):
            shown = str(one[f"{place}{name}"])
            names[end] = shown if one_by_one else type_name(found, shown)
    column = "participant" if one_by_one else "stakeholder_type"
    yield _network(weights, _sides(weights), names, column, found, words, language)


def _sides(weights: Mapping[tuple[str, str], float]) -> tuple[list[str], list[str]]:
    """Nodes of both sides: on the right those with most first, on the left by the mean place of where their lines go."""
    total: dict[str, float] = {}
    for (_, toward), weight in weights.items():
        total[toward] = total.get(toward, 0.0) + weight
    right = sorted(total, key=lambda node: (-total[node], node))
    goes: dict[str, list[int]] = {}
    for mover, toward in weights:
        goes.setdefault(mover, []).append(right.index(toward))
    return sorted(goes, key=lambda node: (fmean(goes[node]), node)), right


def _network(
    weights: Mapping[tuple[str, str], float], sides: tuple[list[str], list[str]], names: Mapping[str, str], column: str, found: Found,
    words: Mapping[str, str], language: Language,
) -> Figure:  # fmt: skip
    """column: of the table of answers, that has the nodes."""
    rows = max(map(len, sides))
    places = [{node: (at_ + 0.5) * rows / len(side) for at_, node in enumerate(side)} for side in sides]
    canvas = Canvas(
        words["persuasion"],
        seats(found, words, language, words["shared"], words["likeness"]),
        language,
        LINK * (rows + 1),
    )
    most = max(weights.values())
    for (mover, toward), weight in sorted(weights.items()):
        canvas.data.append({
            "type": "scatter", "mode": "lines", "x": [0, 1], "y": [places[0][mover], places[1][toward]], "showlegend": False,
            "line": {"color": PALE[COLOURS[0]], "width": round(1 + 6 * weight / most, 1)}, "hoverinfo": "skip",
        })  # fmt: skip
    for x, side in enumerate(sides):
        links = [answers("roundtable", **{column: node}) for node in side]
        canvas.data.append({**_nodes(x, side, places[x], weights, names, words, language), "meta": {"links": links}})
    heads = [
        told(bold(wrapped(words[key], LABEL)), x, -0.35, xanchor="right" if x == 0 else "left", font={"size": 11})
        for x, key in enumerate(("mover", "toward"))
    ]
    texts = [
        told(wrapped(names[node], LABEL, 1), x + (0.03 if x else -0.03), places[x][node],
             xanchor="left" if x else "right", font={"size": 11, "color": INK})
        for x, side in enumerate(sides)
        for node in side
    ]  # fmt: skip
    canvas.layout.update(
        showlegend=False,
        xaxis={"visible": False, "range": [-0.75, 1.75]},
        yaxis={"visible": False, "range": [rows, -0.7]},
        annotations=[*heads, *texts],
    )
    n = sum(bool(one["moved"] and one["toward"]) for one in listed(found, "moves"))
    alt = words["persuasion_alt"].format(n=n, most=names[sides[1][0]])
    return canvas.figure("persuasion", alt)


def _nodes(
    x: int, side: Sequence[str], places: Mapping[str, float], weights: Mapping[tuple[str, str], float],
    names: Mapping[str, str], words: Mapping[str, str], language: Language,
) -> dict[str, Any]:  # fmt: skip
    def said(node: str) -> str:
        own = {ends: weight for ends, weight in weights.items() if ends[x] == node}
        return "<br>".join(
            words["link"].format(
                mover=escaped(names[mover]), toward=escaped(names[toward]), weight=number(weight, language, 1)
            )
            for (mover, toward), weight in sorted(own.items())
        )

    return {
        "type": "scatter", "mode": "markers", "x": [x] * len(side), "y": [places[node] for node in side], "showlegend": False,
        "marker": {"size": 10, "color": COLOURS[1 - x]}, "hoverinfo": "text", "hovertext": [said(node) for node in side],
    }  # fmt: skip
