"""The diversity figures: who thinks alike, on a plane and as a tree; how many factors there are; what each factor holds, as
its Q grid and statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.diversity.factor_figures import arrays, grids
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed, type_name
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, rows, signed, titled, told
from enquete.reports.figures.palette import COLOURS, INK, MUTED, PAPER
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.markdown import number, share
from enquete.state.asking import Language

PLANE, TREE, SCREE = 420, 260, 240  # px
NAMED = 6  # agents of a branch in its tooltip
MOST_TOLD = 300  # agents that have a tooltip each; of more the picture would be all names
SHOWN = 12  # eigenvalues

WORDS = {
    "types": N_("Diversity: agents on the first two components, by type"),
    "no_types": N_("Diversity: agents on the first two components; no types were found"),
    "component": N_("component {n} ({share} of variance)"),
    "type": N_("type {type}, {n} agents: {name}"),
    "untyped": N_("of no type"),
    "types_alt": N_("{n} agents on two components that explain {share} of the variance; types: {types}."),
    "no_types_alt": N_("{n} agents on two components that explain {share} of the variance; no types were found."),
    "type_short": N_("{type}: {n}"),
    "tree": N_("Diversity: which agents sort alike (tree by Ward's method)"),
    "tree_axis": N_("distance at which branches join"),
    "branch": N_("agents in each branch"),
    "branch_of": N_("type {type} only"),
    "tree_some": N_("tree of a sample of {n} agents"),
    "tree_alt": N_("Tree of {n} agents; the last two branches join at {last}, the branches before at {before}."),
    "mixed": N_("several types, or none"),
    "scree": N_("Diversity: eigenvalues of the sorts, and what chance gives"),
    "rank": N_("rank of the eigenvalue"),
    "eigenvalue": N_("eigenvalue"),
    "found": N_("sorts of this run"),
    "chance_mean": N_("permuted sorts: mean"),
    "chance_95": N_("permuted sorts: 95th percentile"),
    "scree_alt": N_("{n} eigenvalues lie above chance (parallel analysis): {values}; {used} shared views are used."),
    "statements": N_("Diversity: mean place of every statement; no shared views were found"),
    "mean_rank": N_("mean place, bars: ± 1 SD"),
    "statements_alt": N_("Mean places of {n} statements; highest: {high}, lowest: {low}."),
    "rank_of": N_("{item}: {mean} (SD {sd})"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    yield from plane(found, words, language)
    if listed(found, "q", "factors"):
        yield from arrays(found, asked(found, language), language)
        yield from grids(found, asked(found, language), language)
    else:
        yield from statements(found, words, language)
    yield from scree(found, words, language)
    yield from dendrogram(found, words, language)


def asked(found: Found, language: Language) -> str:
    """Agents whose sorts are complete and legal, of all."""
    known = at(found, "participation") or {}
    counts = {"agents_responded": known.get("agents_analysed"), "agents_total": known.get("agents_total")}
    return counted({**counts, "n_responded": 0, "n_total": 0}, language)


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


# --- agents ----------------------------------------------------------------------------------------------------------


def plane(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """A dot an agent, in the colour of its type; the letter of a type where its agents are on average."""
    scores = [one for one in listed(found, "pca", "scores") if len(at(one, "scores") or []) >= 2]
    if not scores:
        return
    members = {str(one["participant"]): one for one in listed(found, "members")}
    archetypes = {str(one["archetype"]): str(one.get("name") or "") for one in listed(found, "archetypes")}
    by_type: dict[str, list[Mapping[str, Any]]] = {name: [] for name in [*archetypes, ""]}
    for one in scores:
        by_type.setdefault(str(at(members.get(str(one["participant"])), "archetype") or ""), []).append(one)
    title = words["types" if archetypes else "no_types"]
    canvas = Canvas(title, note(language, asked(found, language)), language, PLANE)
    canvas.layout["annotations"] = []
    for place, (name, own) in enumerate(by_type.items()):
        if own:
            label = words["type"].format(type=name, n=len(own), name=wrapped(archetypes.get(name, ""), 560, 1))
            shade = colour(place) if name else MUTED
            canvas.data.append(
                _agents(
                    own, found, members, label if name else words["untyped"], shade, is_told=len(scores) <= MOST_TOLD
                )
            )
        if own and name:
            x, y = (sum(one["scores"][k] for one in own) / len(own) for k in (0, 1))
            canvas.layout["annotations"].append(
                told(f"<b>{escaped(name)}</b>", x, y, font={"size": 16, "color": INK}, bgcolor=PAPER)
            )
    explained = [figure(one, "explained") for one in listed(found, "pca", "components")][:2]
    for axis, k in (("xaxis", 0), ("yaxis", 1)):
        of_variance = share(explained[k] if k < len(explained) else None, language)
        canvas.layout[axis] = titled(words["component"].format(n=k + 1, share=of_variance), zeroline=True)
    canvas.layout["showlegend"] = bool(archetypes)
    types = ", ".join(words["type_short"].format(type=name, n=len(own)) for name, own in by_type.items() if name)
    alt = words["types_alt" if archetypes else "no_types_alt"].format(
        n=len(scores), share=share(figure(found, "pca", "first_two"), language), types=types
    )
    yield canvas.figure("pca", alt, lead=bool(archetypes))


def _agents(
    own: Sequence[Mapping[str, Any]],
    found: Found,
    members: Mapping[str, Mapping[str, Any]],
    label: str,
    shade: str,
    *,
    is_told: bool,
) -> dict[str, Any]:
    said: dict[str, Any] = {"hoverinfo": "skip"}
    if is_told:
        names = [_name(members.get(str(one["participant"]), {}), found) for one in own]
        links = [answers("diversity", participant=one["participant"]) for one in own]
        said = {"hoverinfo": "text", "hovertext": names, "meta": {"links": links}}
    return {
        "type": "scatter", "mode": "markers", "name": label, "x": [one["scores"][0] for one in own], "y": [one["scores"][1] for one in own],
        "marker": {"size": 10 if is_told else 6, "color": shade, "opacity": 0.6, "line": {"color": PAPER, "width": 0.8}}, **said,
    }  # fmt: skip


def _name(member: Mapping[str, Any], found: Found) -> str:
    known = (str(member.get("name") or ""), type_name(found, member.get("stakeholder_type") or ""))
    return escaped(", ".join(one for one in known if one))


def dendrogram(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Branches from left to right with their number of agents, in the colour of a type where all are of one."""
    ends, joins = listed(found, "tree", "ends"), at(found, "tree", "joins") or []
    if len(joins) < 2:
        return
    n = int(at(found, "tree", "n_agents") or 0)
    total = int(at(found, "participation", "agents_analysed") or 0)
    some = words["tree_some"].format(n=n) if n < total else ""
    canvas = Canvas(words["tree"], note(language, asked(found, language), some), language, TREE)
    names = [str(one["archetype"]) for one in listed(found, "archetypes")]
    nodes = [(float(place), 0.0, frozenset(one["archetypes"])) for place, one in enumerate(ends)]
    paths: dict[str, tuple[list[Any], list[Any]]] = {name: ([], []) for name in [*names, ""]}
    tops: dict[str, tuple[float, float]] = {}  # by type: its last join, where its letter stands
    for left, right, distance in joins:
        (x1, y1, some_), (x2, y2, others) = nodes[left], nodes[right]
        types = some_ | others
        if len(types) == 1 and "" not in types:
            tops[next(iter(types))] = (x1 + x2) / 2, float(distance)
        xs, ys = paths[next(iter(types)) if len(types) == 1 else ""]
        xs += [x1, x1, x2, x2, None]
        ys += [y1, distance, distance, y2, None]
        nodes.append(((x1 + x2) / 2, float(distance), types))
    for place, (name, (xs, ys)) in enumerate(paths.items()):
        if xs:
            canvas.data.append({
                "type": "scatter", "mode": "lines", "x": xs, "y": ys, "hoverinfo": "skip",
                "line": {"color": colour(place) if name else MUTED, "width": 2},
                "name": words["branch_of"].format(type=escaped(name)) if name else words["mixed"],
            })  # fmt: skip
    if any("participants" in one for one in ends):
        canvas.data.append(_leaves(ends, found))
    sizes = {"tickvals": list(range(len(ends))), "ticktext": [str(one["n"]) for one in ends]}
    canvas.layout.update(
        showlegend=bool(names),
        annotations=[
            told(f"<b>{escaped(name)}</b>", *spot, xanchor="left", yanchor="bottom") for name, spot in tops.items()
        ],
        xaxis=titled(words["branch"], range=[-0.8, len(ends) - 0.2], showgrid=False, **sizes),
        yaxis=titled(words["tree_axis"], range=[0, float(joins[-1][2]) * 1.04]),
    )
    alt = words["tree_alt"].format(
        n=n, last=number(joins[-1][2], language, 1), before=number(joins[-2][2], language, 1)
    )
    yield canvas.figure("tree", alt)


def _leaves(ends: Sequence[Mapping[str, Any]], found: Found) -> dict[str, Any]:
    """At the foot of every branch, to its agents' answers."""
    members = {str(one["participant"]): one for one in listed(found, "members")}
    names = ["<br>".join(_name(members.get(who, {}), found) for who in one["participants"][:NAMED]) for one in ends]
    links = [answers("diversity", participant=",".join(one["participants"])) for one in ends]
    return {
        "type": "scatter", "mode": "markers", "x": list(range(len(ends))), "y": [0.0] * len(ends), "showlegend": False,
        "marker": {"color": MUTED, "size": 6}, "hoverinfo": "text", "hovertext": names, "meta": {"links": links},
    }  # fmt: skip


# --- factors ---------------------------------------------------------------------------------------------------------


def scree(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Eigenvalues of the sorts beside those of permuted ones: factors above chance are filled."""
    values = [one for one in listed(found, "q", "number", "eigenvalues") if figure(one, "chance_95") is not None][
        :SHOWN
    ]
    if len(values) < 2:
        return
    canvas = Canvas(words["scree"], note(language, asked(found, language)), language, SCREE)
    ranks = [int(one["rank"]) for one in values]
    above = int(at(found, "q", "number", "parallel") or 0)
    chance = {"type": "scatter", "mode": "lines", "x": ranks, "hoverinfo": "skip"}
    canvas.data.append({
        **chance, "y": [one["eigenvalue"] for one in values], "name": words["found"], "mode": "lines+markers",
        "line": {"color": COLOURS[0], "width": 2},
        "marker": {"color": COLOURS[0], "size": 9, "symbol": ["circle" if rank <= above else "circle-open" for rank in ranks]},
        "hoverinfo": "text", "hovertext": [number(one["eigenvalue"], language) for one in values],
        "meta": {"links": [answers("diversity") for _ in values]},
    })  # fmt: skip
    for key, dash in (("chance_95", "dash"), ("chance_mean", "dot")):
        look = {"color": COLOURS[1], "width": 1.5, "dash": dash}
        canvas.data.append({**chance, "y": [one[key] for one in values], "name": words[key], "line": look})
    most = max(float(one[key]) for one in values for key in ("eigenvalue", "chance_95"))
    canvas.layout.update(
        xaxis=titled(words["rank"], range=[0.6, ranks[-1] + 0.4], dtick=1, showgrid=False),
        yaxis=titled(words["eigenvalue"], range=[0, most * 1.05]),
    )
    listing = ", ".join(number(one["eigenvalue"], language, 1) for one in values[: max(1, above)])
    yield canvas.figure(
        "scree", words["scree_alt"].format(n=above, values=listing, used=at(found, "q", "number", "used") or 0)
    )


def statements(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Where there are no factors: the mean rank of every statement, the highest on top."""
    known = [one for one in listed(found, "statements") if figure(one, "mean") is not None]
    ranked = sorted(known, key=lambda one: -float(one["mean"]))
    if not ranked:
        return
    canvas = Canvas(words["statements"], note(language, asked(found, language)), language, plot=22 * len(ranked))
    names = [str(one.get("short") or one.get("wording")) for one in ranked]
    sds = [float(one["sd"] or 0) for one in ranked]
    told_of = [
        words["rank_of"].format(item=escaped(name), mean=signed(one["mean"], language), sd=number(one["sd"], language))
        for name, one in zip(names, ranked, strict=True)
    ]
    canvas.data.append({
        "type": "scatter", "mode": "markers", "x": [one["mean"] for one in ranked], "y": list(range(len(ranked))),
        "marker": {"color": COLOURS[0], "size": 9}, "error_x": {"type": "data", "array": sds, "width": 0, "color": COLOURS[0]},
        "hoverinfo": "text", "hovertext": told_of, "meta": {"links": [answers("diversity", item_id=one["item"]) for one in ranked]},
    })  # fmt: skip
    canvas.layout.update(
        yaxis=rows([wrapped(name, 260, 1) for name in names]), xaxis=titled(words["mean_rank"], zeroline=True)
    )
    yield canvas.figure("statements", words["statements_alt"].format(n=len(ranked), high=names[0], low=names[-1]))
