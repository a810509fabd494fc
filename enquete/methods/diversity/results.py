"""Result tables of the sorts: answers in, one DataFrame a table out.

`analyse` prepares the answers and finds views, types and components once (`solutions.py`), and calls one function a
table. What a column means is in `reports/columns.yaml`, sentences are in `findings.py`, the section of the report is in
`report.md.j2`. Names of types are arbitrary; `replicates.py` gives them those of another run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.inference import selected_intervals
from enquete.analysis.qmethod import (
    ALPHA,
    Distinction,
    QFactor,
    agreement,
    common_sort,
    contrasts,
    group_distinctions,
    threshold,
)
from enquete.analysis.typology import UNSTABLE
from enquete.locale import N_
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings
from enquete.methods.diversity.solutions import (
    SEED,
    ComponentSolution,
    SortData,
    TypeSolution,
    ViewSolution,
    count_placements,
)
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext
from enquete.reports.declarations import Analysis, Row, compared, shape_results
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import declare_group_tables
from enquete.state.asking import RESPONDED, Language

MAX_COMPONENTS = 8
MAX_HEAVIEST = 4
"""Items with the highest loadings that are named of a component."""
MAX_EIGENVALUES = 30
MAX_EXTREMES = 3
"""Statements at either end of a view that are named."""
DISTINGUISHING = 0.5
"""Least difference of a type from the rest, in standard deviations of the grid, for a statement to describe it."""
DISTINGUISHING_LEVEL = 0.05
SURE = 0.8
"""Probability from which an agent is counted as a member of its type."""
DIGITS = 6
"""Decimals that are kept: beyond them, sums depend on the machine."""

TYPE_ITEM_COLUMNS = "type item part place mean mean_rest difference direction level p"

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("diversity")
TABLES = (
    GLOSSARY.table(
        "structure", N_("Shared views and types: how many"), key="what", replicates=("found", "outcome"),
        columns="what found outcome n n_total explained largest beyond p p_adjusted",
    ),
    GLOSSARY.table(
        "views", N_("Shared views"), key="view", label="view",
        columns="view n_held n_reversed eigenvalue explained reliability se n_capped n_apart top bottom",
        note=N_("Factors of the correlations between sorts, by principal components, rotated by varimax. A sort "
                "defines a view from a loading of {threshold} on whose square exceeds that of the others together. "
                "Reliability knows only the number of sorts."),
    ),
    GLOSSARY.table(
        "types", N_("Types"), key="type", label="type",
        columns="type n n_total jaccard pro con pole n_pole members",
        note=N_("Stable from a Jaccard index of .75. Types of fewer than five agents are not described."),
    ),
    GLOSSARY.table(
        "type_groups", N_("Types by group"), key="type group", columns="type group n n_group share",
    ),
    GLOSSARY.table(
        "participation", N_("Participation"), key="part", columns="part n_responded n_planned n_complete n_total",
    ),
    GLOSSARY.table(
        "left_out", N_("Agents left out"), key="participant", columns="participant reason",
        note=N_("Types need a complete sort that fits the grid, and all axes; views need the sort alone."),
    ),
    GLOSSARY.table(
        "grid", N_("The grid"), key="place", columns="place n",
        note=N_("{n_moved} of {placements} placements ({share_moved}) were moved to fit the grid, in {agents_moved} of "
                "{agents_complete} sorts; {n_again} were changed by agents when asked again ({agents_again} agents)."),
    ),
    GLOSSARY.table(
        "agents", N_("The agents' views and types"), key="participant", one_agent=True,
        columns="participant stakeholder_type group archetype q_factor probability silhouette left_out moved again pc1 "
                "pc2 pc3",
        agents=("archetype", "q_factor"),
    ),
    GLOSSARY.table(
        "types_tried", N_("Numbers of types tried"), key="k", columns="k silhouette",
        note=N_("Against {chance_draws} data sets with every relation random: p {p_chance} (best silhouette there "
                "{null_best} at most; required: p ≤ {alpha}). Resampled: adjusted Rand index {ari}, smallest Jaccard "
                "index {least_jaccard} (required: ≥ {required_jaccard}). Views that differ by degree alone can be "
                "divided like this, too; that shows no gaps between types."),
    ),
    GLOSSARY.table(
        "type_items", N_("What sets types apart"), key="type item", columns=TYPE_ITEM_COLUMNS,
        note=N_("A description: types were formed of the same answers, so a test would be circular."),
    ),
    GLOSSARY.table(
        "not_done", N_("Settings that did not fit"), key="place", columns="place why who view n",
    ),
    GLOSSARY.table(
        "parallel", N_("Parallel analysis"), key="rank",
        columns="rank eigenvalue chance_mean chance_95 p above",
        note=N_("Each sort dealt at random {draws} times; a view needs p ≤ {alpha}. Eigenvalues above 1: {kaiser}; at "
                "least two significant loadings: {two_loaders}."),
    ),
    GLOSSARY.table(
        "poles", N_("Who holds which view"), key="pole", label="pole",
        columns="pole view holders opposed n n_total standing tied top bottom top_place bottom_place",
    ),
    GLOSSARY.table(
        "holders", N_("Shared views by group"), key="pole group", columns="pole group n n_group share",
    ),
    GLOSSARY.table(
        "scores", N_("Statements on the shared views"), key="view item",
        columns="view item z place direction level p",
    ),
    GLOSSARY.table(
        "correlations", N_("Correlations of the views"), key="first second", columns="first second r sed",
    ),
    GLOSSARY.table(
        "loadings", N_("Loadings on the shared views"), key="participant view", one_agent=True,
        columns="participant view loading defines",
    ),
    GLOSSARY.table(
        "components", N_("Principal components"), key="component", label="component",
        columns="component explained by_chance above_chance heaviest",
        note=N_("{n_components:component explains|components explain} more than chance; the first two {first_two} of "
                "the variance. Sort and axes count alike."),
    ),
    GLOSSARY.table(
        "component_loadings", N_("Loadings on the components"), key="component item",
        columns="component item loading",
    ),
    GLOSSARY.table(
        "items", N_("Statements and axes"), key="item", label="label", replicates=("verdict",),
        columns="item part label wording low_end high_end n n_total mean sd low high n_above n_below apart verdict "
                "common_rank both_sides scale_min scale_max",
        note=N_("Intervals hold for all statements, or all axes, at once. Consensus: no two views differ at .05 by "
                "SED."),
    ),
    *declare_group_tables(GLOSSARY, N_("Statements and axes by group"), by="asked"),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "n_statements n_axes grid_low grid_high n n_total n_sorts n_views n_types n_defining n_dropped asked draws "
    "parallel_views kaiser two_loaders flags_added flags_removed n_both chance_draws n_sure n_components placements "
    "n_moved agents_moved n_again agents_again agents_complete threshold alpha ari least_jaccard required_jaccard "
    "ari_types null_best p_chance at_edge alike sure first_two sort_weight axes_weight share_moved"
)


def analyse(
    frame: pd.DataFrame, instrument: DiversityInstrument, settings: DiversitySettings | None, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of the sorts.

    Args:
        frame: one row an answer, of the main arm.
        instrument: what was asked.
        settings: of the run; None where none were made.
        context: the language of the run, and what agents are compared by.
    """
    sorts = SortData.prepare(frame, instrument, context.groups_of(frame))
    types = TypeSolution.solve(sorts)
    views = ViewSolution.solve(sorts, settings or DiversitySettings())
    components = ComponentSolution.solve(sorts)
    placements = count_placements(frame, sorts)

    agents = describe_agents(sorts, types, views, components, placements)
    type_items = describe_type_items(types)
    scores = score_statements(views)
    tables: dict[str, pd.DataFrame] = {
        "structure": count_views_and_types(views, types),
        "views": describe_views(views),
        "types": describe_types(types, type_items, agents),
        "type_groups": count_by_group(types.letters, sorts.groups, "type"),
        "participation": count_participation(frame, sorts),
        "left_out": list_left_out(sorts),
        "grid": list_grid(instrument),
        "agents": agents,
        "types_tried": list_types_tried(types),
        "type_items": type_items,
        "not_done": list_refused_settings(views),
        "parallel": list_eigenvalues(views),
        "poles": describe_poles(views),
        "holders": count_by_group(views.poles, sorts.groups, "pole"),
        "scores": scores,
        "correlations": correlate_views(views),
        "loadings": list_loadings(views),
        "components": describe_components(components),
        "component_loadings": list_component_loadings(components),
        "items": add_verdicts(describe_items(sorts, context.language), scores, views),
        **compare_groups(sorts),
    }
    facts = {
        **state_facts(sorts, agents, placements),
        **state_view_facts(views, types),
        **state_type_facts(types),
        **state_component_facts(components),
    }
    rounded_tables = {name: table.round(DIGITS) for name, table in tables.items()}
    rounded_facts = {name: round_fact(value) for name, value in facts.items()}
    return shape_results(TABLES, FACTS, rounded_tables, rounded_facts)


def round_fact(value: Any) -> Any:
    """Return a figure with as many decimals as are kept, anything else as it is."""
    return round(float(value), DIGITS) if isinstance(value, float | np.floating) else value


def count_views_and_types(views: ViewSolution, types: TypeSolution) -> pd.DataFrame:
    """Return how many shared views and types there are, or why there are none."""
    return pd.DataFrame([_count_views(views), _count_types(types)])


def _count_views(views: ViewSolution) -> Row:
    q = views.q
    outcome: str = q.reason
    if q.reason == "chance":
        outcome = "no_views"
    elif q.reason == "factors" and views.is_asked_for:
        outcome = "asked"
    elif q.reason == "factors":
        outcome = "views" if len(q.factors) > 1 else "one_view"

    # Of the views that were rotated the least certain one decides; of none the first eigenvalue.
    p = None
    if q.number is not None and len(q.number.p) and not views.is_asked_for:
        p = float(q.number.p[: max(1, q.loadings.shape[1])].max())
    explained = sum(factor.explained for factor in q.factors) if q.factors else None
    return {
        "what": "views",
        "found": len(q.factors),
        "outcome": outcome,
        "n": len(q.rows),
        "n_total": q.n_total,
        "explained": explained,
        "largest": _size_of_largest(views.poles),
        "beyond": explained,
        "p": p,
    }


def _count_types(types: TypeSolution) -> Row:
    choice, n, largest = types.typology.choice, len(types.sorts.kept), _size_of_largest(types.letters)
    return {
        "what": "types",
        "found": types.n_types,
        "outcome": "types" if choice.reason == "typology" else choice.reason,
        "n": n,
        "n_total": len(types.sorts.reason),
        "explained": None,
        "largest": largest,
        "beyond": 1 - largest / n if largest else None,
        "p": choice.p,
    }


def _size_of_largest(kinds: pd.Series[str]) -> int | None:
    return int(kinds.value_counts().max()) if len(kinds) else None


def count_by_group(kinds: pd.Series[str], groups: pd.Series[str], name: str) -> pd.DataFrame:
    """Return how many agents of each group are of each kind, zeros too.

    Args:
        kinds: by agent, its type or pole.
        groups: by agent.
        name: of the column with the kind.
    """
    if kinds.empty:
        return pd.DataFrame()
    crossed = pd.crosstab(groups.reindex(kinds.index), kinds).rename_axis("group").reset_index()
    counts = crossed.melt("group", var_name=name, value_name="n")
    n_group = counts["group"].map(groups.value_counts())
    counts = counts.assign(n_group=n_group, share=counts["n"] / n_group)
    return counts.sort_values([name, "n"], ascending=[True, False], kind="stable")


def compare_groups(sorts: SortData) -> dict[str, pd.DataFrame]:
    """Return means and tests of every statement and axis by group."""
    answers = pd.concat([sorts.sort, sorts.axes], axis=1)
    return compared(answers, sorts.groups, "asked", ends=sorts.scales())


def list_grid(instrument: DiversityInstrument) -> pd.DataFrame:
    """Return how many statements each place takes."""
    return pd.DataFrame([{"place": place, "n": n} for place, n in instrument.distribution.items()])


def count_participation(frame: pd.DataFrame, sorts: SortData) -> pd.DataFrame:
    """Return how much of sort and axes was answered, and by how many agents as a whole."""
    is_answered, is_sort = frame["status"].isin(RESPONDED), frame["item_id"].isin(sorts.sort.columns)
    rows = []
    for part, is_asked, values in (("sort", is_sort, sorts.sort), ("axes", ~is_sort, sorts.axes)):
        if values.shape[1]:
            rows.append(
                {
                    "part": part,
                    "n_responded": int((is_answered & is_asked).sum()),
                    "n_planned": int(is_asked.sum()),
                    "n_complete": int(values.notna().all(axis=1).sum()),
                    "n_total": len(values),
                }
            )
    return pd.DataFrame(rows)


def list_left_out(sorts: SortData) -> pd.DataFrame:
    """Return the agents that are left out of types, and why."""
    reason = sorts.reason[sorts.reason.ne("")]
    return reason.rename("reason").rename_axis("participant").reset_index()


def describe_items(sorts: SortData, language: Language) -> pd.DataFrame:
    """Return every statement and axis with the mean of all answers there are and a simultaneous interval."""
    items = pd.DataFrame(_word_items(sorts.instrument, language))
    scales = pd.DataFrame.from_dict(sorts.scales(), orient="index", columns=["scale_min", "scale_max"])
    items = items.join(scales, on="item")
    values = pd.concat([sorts.sort, sorts.axes], axis=1)
    items = items.assign(
        n=values.notna().sum().to_numpy(), n_total=len(values), mean=values.mean().to_numpy(),
        sd=values.std().to_numpy(), n_above=values.gt(0).sum().to_numpy(), n_below=values.lt(0).sum().to_numpy(),
    )  # fmt: skip
    for _, part in items.groupby("part", sort=False):
        ends = (float(part["scale_min"].iloc[0]), float(part["scale_max"].max()))
        intervals = selected_intervals(part["n"], part["mean"], part["sd"], ends=ends)
        items.loc[part.index, ["low", "high"]] = intervals[["low", "high"]].to_numpy()

    # Above and below the middle is told of statements alone: the middle of an axis is not 0.
    is_axis = items["part"].eq("axes")
    return items.assign(n_above=items["n_above"].mask(is_axis), n_below=items["n_below"].mask(is_axis))


def _word_items(instrument: DiversityInstrument, language: Language) -> Iterator[Row]:
    for statement in instrument.statements:
        yield {
            "item": statement.statement_id,
            "part": "sort",
            "label": statement.brief(language),
            "wording": statement.label.in_(language),
            "low_end": None,
            "high_end": None,
        }
    for axis in instrument.likert_axes:
        label = axis.label.in_(language)
        yield {
            "item": axis.axis_id,
            "part": "axes",
            "label": label,
            "wording": label,
            "low_end": axis.low.in_(language),
            "high_end": axis.high.in_(language),
        }


def add_verdicts(items: pd.DataFrame, scores: pd.DataFrame, views: ViewSolution) -> pd.DataFrame:
    """Return the items with what the views say of each statement. Without two views there is nothing to set apart."""
    is_statement, has_several_views = items["part"].eq("sort"), len(views.q.factors) > 1
    consensus = [views.items[place] for place in views.q.consensus]
    apart, spread = pd.Series(dtype=object), pd.Series(dtype=float)
    if has_several_views:
        is_apart = scores["level"].le(DISTINGUISHING_LEVEL) & scores["p"].lt(DISTINGUISHING_LEVEL)
        apart = scores.loc[is_apart, "item"]
        spread = scores.groupby("item")["z"].var(ddof=0)

    verdict = pd.Series("open", index=items.index, dtype=object)
    verdict = verdict.mask(items["item"].isin(apart), "apart").mask(items["item"].isin(consensus), "consensus")

    # Common ground: no two views differ on it, and all agents together are clearly on one side of the middle.
    is_off_middle = items["low"].gt(0) | items["high"].lt(0)
    is_shared = items["item"].isin(consensus) if has_several_views else bool(views.q.factors)
    is_common = is_statement & is_off_middle & items["n"].ge(FEWEST) & is_shared
    clearness = (items["mean"].abs() / items["sd"]).where(is_common)
    has_both_sides = items[["n_above", "n_below"]].min(axis=1) >= FEWEST
    return items.assign(
        apart=items["item"].map(spread),
        verdict=verdict.where(is_statement & has_several_views, None),
        common_rank=clearness.rank(ascending=False, method="first"),
        both_sides=has_both_sides.astype(object).where(is_statement, None),
    )


def describe_views(views: ViewSolution) -> pd.DataFrame:
    """Return every shared view with how many sorts define it and what it puts at either end."""
    return pd.DataFrame([_describe_view(views, factor) for factor in views.q.factors])


def _describe_view(views: ViewSolution, factor: QFactor) -> Row:
    ordered = [views.items[place] for place in views.order_statements(factor.z)]
    return {
        "view": str(factor.number + 1),
        "n_held": len(factor.flagged) - len(factor.negative),
        "n_reversed": len(factor.negative),
        "eigenvalue": factor.eigenvalue,
        "explained": factor.explained,
        "reliability": factor.reliability,
        "se": factor.se,
        "n_capped": factor.capped,
        "n_apart": len(factor.distinguishing),
        "top": ordered[:MAX_EXTREMES],
        "bottom": ordered[::-1][:MAX_EXTREMES],
    }


def describe_poles(views: ViewSolution) -> pd.DataFrame:
    """Return who defines each pole of the views, and what it puts where, seen from its side."""
    sides = []
    for factor in views.q.factors:
        n_negative = len(factor.negative)
        sides.append((factor, 1, len(factor.flagged) - n_negative))
        sides.append((factor, -1, n_negative))
    sides = [(factor, sign, holders) for factor, sign, holders in sides if holders]
    most = max((holders for *_, holders in sides), default=0)
    n_largest = sum(holders == most for *_, holders in sides)

    rows = []
    for factor, sign, holders in sides:
        top, *_, bottom = views.order_statements(factor.z)[::sign]
        opposed = len(factor.flagged) - holders
        standing = "largest"
        if holders < most:
            standing = "smaller"
        elif n_largest > 1:
            standing = "tied"
        elif opposed:
            standing = "largest_opposed"
        elif len(views.q.factors) == 1:
            standing = "only"
        rows.append(
            {
                "pole": views.name_pole(factor.number, sign < 0),
                "view": str(factor.number + 1),
                "holders": holders,
                "opposed": opposed,
                "n": len(views.q.rows),
                "n_total": views.q.n_total,
                "standing": standing,
                "tied": n_largest if holders == most else None,
                "top": views.items[top],
                "bottom": views.items[bottom],
                "top_place": sign * int(factor.array[top]),
                "bottom_place": sign * int(factor.array[bottom]),
            }
        )
    return pd.DataFrame(rows)


def score_statements(views: ViewSolution) -> pd.DataFrame:
    """Return every statement's score and place on every view, and what distinguishes the view."""
    rows = []
    for view, factor in zip(views.names, views.q.factors, strict=True):
        distinctions = {each.statement: each for each in factor.distinguishing}
        for place, item in enumerate(views.items):
            distinction = _describe_distinction(distinctions.get(place))
            rows.append(
                {"view": view, "item": item, "z": factor.z[place], "place": int(factor.array[place]), **distinction}
            )
    frame = pd.DataFrame(rows, columns=["view", "item", "z", "place", "direction", "level", "p"])
    return frame.astype({"level": float, "p": float})


def _describe_distinction(distinction: Distinction | None) -> Row:
    """Return what sets something apart in a statement, missing where nothing does."""
    return {name: getattr(distinction, name, None) for name in ("direction", "level", "p")}


def correlate_views(views: ViewSolution) -> pd.DataFrame:
    """Return how far every two views agree, with the standard error of a difference between them."""
    rows = [
        {"first": views.names[i], "second": views.names[j], "r": views.q.correlations[i, j], "sed": views.q.sed[i, j]}
        for i, j in permutations(range(len(views.names)), 2)
    ]
    return pd.DataFrame(rows)


def list_loadings(views: ViewSolution) -> pd.DataFrame:
    """Return the loading of every sort on every view, and whether it defines the view."""
    n_sorts, n_factors = views.q.loadings.shape
    if not n_factors:
        return pd.DataFrame()
    who = views.sorts.sort.index[list(views.q.rows)]
    return pd.DataFrame(
        {
            "participant": np.repeat(who, n_factors),
            "view": [str(number + 1) for number in range(n_factors)] * n_sorts,
            "loading": views.q.loadings.ravel(),
            "defines": views.q.flags.ravel(),
        }
    )


def list_eigenvalues(views: ViewSolution) -> pd.DataFrame:
    """Return the eigenvalues of the sorts beside those of sorts dealt at random."""
    number = views.q.number
    if number is None:
        return pd.DataFrame()
    spectrum = {
        "eigenvalue": number.eigenvalues, "chance_mean": number.chance_mean, "chance_95": number.chance_95,
        "p": number.p,
    }  # fmt: skip
    frame = pd.DataFrame(spectrum).head(MAX_EIGENVALUES)
    return frame.assign(rank=frame.index + 1, above=frame.index < number.parallel)


def list_refused_settings(views: ViewSolution) -> pd.DataFrame:
    """Return the settings that do not fit these sorts."""
    return pd.DataFrame([{"place": place, **refusal} for place, refusal in enumerate(views.refused, start=1)])


def describe_types(types: TypeSolution, type_items: pd.DataFrame, agents: pd.DataFrame) -> pd.DataFrame:
    """Return every type with its members, what it is for and against, and the view that most of them hold.

    Args:
        types: of the agents.
        type_items: the statements by type, those first on which it differs most.
        agents: with the shared view of each.
    """
    poles = agents.set_index("participant")["q_factor"]
    firm = types.typology.stability
    grid = types.sorts.grid
    middle = float(np.average(list(grid), weights=list(grid.values())))
    rows = []
    for letter in sorted(set(types.letters)):
        members = types.letters.index[types.letters.eq(letter)]
        statements = type_items[type_items["type"].eq(letter) & type_items["part"].eq("sort")]
        held = Counter(poles.loc[members].dropna()).most_common(1)
        pole, n_pole = held[0] if held else (None, None)
        rows.append(
            {
                "type": letter,
                "n": len(members),
                "n_total": len(types.letters),
                "jaccard": firm.jaccard[ascii_uppercase.index(letter)] if firm else None,
                "pro": find_telling_statement(statements, middle, 1),
                "con": find_telling_statement(statements, middle, -1),
                "pole": pole,
                "n_pole": n_pole,
                "members": [str(who) for who in members],
            }
        )
    return pd.DataFrame(rows)


def find_telling_statement(statements: pd.DataFrame, middle: float, sign: int) -> str | None:
    """Return the statement that a type places above the middle and the others (sign 1) or below both (sign −1).

    What sets the type apart beyond chance comes before what does not, the larger difference before the smaller.
    """
    differences = statements["difference"].astype(float)
    is_weak = statements["level"].isna() | differences.abs().lt(DISTINGUISHING)
    is_on_side = (sign * differences > 0) & (sign * (statements["mean"].astype(float) - middle) > 0)
    ordered = is_weak[is_on_side].sort_values(kind="stable").index
    return None if ordered.empty else str(statements.loc[ordered[0], "item"])


def describe_type_items(types: TypeSolution) -> pd.DataFrame:
    """Return by type of five agents at least the statements, as it differs most in them, and then the axes."""
    labels, sorts = types.typology.labels, types.sorts
    rows: list[Row] = []
    if labels is None:
        return pd.DataFrame(rows, columns=TYPE_ITEM_COLUMNS.split())
    sort, axes = sorts.sort.loc[sorts.kept], sorts.axes.loc[sorts.kept]
    for label, distinctions in enumerate(group_distinctions(sort.to_numpy(), labels, sorts.grid, SEED)):
        is_member = np.asarray(labels == label)
        if is_member.sum() < FEWEST:
            continue
        letter, by_statement = ascii_uppercase[label], {each.statement: each for each in distinctions}
        common = common_sort(sort.to_numpy()[is_member].mean(axis=0), sorts.grid)
        for contrast in contrasts(sort.to_numpy(), is_member, sorts.grid):
            rows.append(
                {
                    "type": letter,
                    "item": sort.columns[contrast.statement],
                    "part": "sort",
                    "place": int(common[contrast.statement]),
                    "mean": contrast.mean,
                    "mean_rest": contrast.mean_rest,
                    "difference": contrast.difference,
                    **_describe_distinction(by_statement.get(contrast.statement)),
                }
            )
        for item in axes.columns:
            rows.append(
                {
                    "type": letter,
                    "item": item,
                    "part": "axes",
                    "place": None,
                    "mean": axes.loc[is_member, item].mean(),
                    "mean_rest": axes.loc[~is_member, item].mean(),
                    "difference": None,
                    **_describe_distinction(None),
                }
            )
    return pd.DataFrame(rows, columns=TYPE_ITEM_COLUMNS.split())


def list_types_tried(types: TypeSolution) -> pd.DataFrame:
    """Return the mean silhouette of every number of types that was tried."""
    silhouettes = pd.Series(types.typology.choice.silhouettes, dtype=float, name="silhouette")
    return silhouettes.sort_index().rename_axis("k").reset_index()


def describe_components(solution: ComponentSolution) -> pd.DataFrame:
    """Return what each component explains, what chance would, and the items with the highest loadings."""
    components, is_above = solution.components, solution.is_above_chance
    if components is None:
        return pd.DataFrame()
    rows = []
    for place in range(min(MAX_COMPONENTS, len(components.explained))):
        heaviest = np.argsort(-np.abs(components.loadings[:, place]), kind="stable")[:MAX_HEAVIEST]
        rows.append(
            {
                "component": place + 1,
                "explained": components.explained[place],
                "by_chance": solution.by_chance[place],
                "above_chance": bool(is_above[place]),
                "heaviest": [solution.items[item] for item in heaviest],
            }
        )
    return pd.DataFrame(rows)


def list_component_loadings(solution: ComponentSolution) -> pd.DataFrame:
    """Return the loading of every item on every component."""
    if solution.components is None:
        return pd.DataFrame()
    kept = solution.components.loadings[:, :MAX_COMPONENTS]
    loadings = pd.DataFrame(kept, columns=range(1, kept.shape[1] + 1)).assign(item=solution.items)
    return loadings.melt("item", var_name="component", value_name="loading")


def describe_agents(
    sorts: SortData, types: TypeSolution, views: ViewSolution, components: ComponentSolution, placements: pd.DataFrame
) -> pd.DataFrame:
    """Return every agent with its type and view, why it is left out, and its coordinates on the components."""
    columns = {
        "stakeholder_type": sorts.stakeholder_types,
        "group": sorts.groups,
        "archetype": types.letters,
        "q_factor": views.poles,
        "probability": types.own_probabilities(),
        "silhouette": types.silhouettes(),
        "left_out": sorts.reason.where(sorts.reason.ne("")),
        **placements,
        **components.scores(),
    }
    return pd.DataFrame(columns, index=sorts.reason.index).rename_axis("participant").reset_index()


def state_facts(sorts: SortData, agents: pd.DataFrame, placements: pd.DataFrame) -> dict[str, Any]:
    """Return how much was sorted, by whom, and how many placements were moved."""
    grid = list(sorts.grid)
    has_both = agents["archetype"].notna() & agents["q_factor"].notna()
    n_placements, n_moved = len(placements) * sorts.sort.shape[1], int(placements["moved"].sum())
    return {
        "n_statements": sorts.sort.shape[1],
        "n_axes": sorts.axes.shape[1],
        "grid_low": grid[0],
        "grid_high": grid[-1],
        "n": len(sorts.kept),
        "n_total": len(sorts.reason),
        "n_both": int(has_both.sum()),
        "placements": n_placements,
        "n_moved": n_moved,
        "share_moved": n_moved / n_placements if n_placements else None,
        "agents_moved": int(placements["moved"].gt(0).sum()),
        "n_again": int(placements["again"].sum()),
        "agents_again": int(placements["again"].gt(0).sum()),
        "agents_complete": len(placements),
    }


def state_view_facts(views: ViewSolution, types: TypeSolution) -> dict[str, Any]:
    """Return how the views were counted, and how far views and types agree."""
    q, changes = views.q, views.changes
    return {
        "n_sorts": len(q.rows),
        "n_views": len(q.factors),
        "n_defining": len(views.poles),
        "n_dropped": len(q.dropped),
        "asked": views.settings.n_factors,
        "threshold": threshold(len(views.items)),
        "alpha": ALPHA,
        "parallel_views": q.number.parallel if q.number else None,
        "draws": q.number.draws if q.number else None,
        "kaiser": q.number.kaiser if q.number else None,
        "two_loaders": q.number.two_loaders if q.number else None,
        "flags_added": sum(map(len, changes.add.values())),
        "flags_removed": sum(map(len, changes.remove.values())),
        "ari_types": agreement(q.groups(), types.numbers).ari,
    }


def state_type_facts(types: TypeSolution) -> dict[str, Any]:
    """Return how the types were counted and tested."""
    choice, firm, probabilities = types.typology.choice, types.typology.stability, types.probabilities
    return {
        "n_types": types.n_types,
        "p_chance": choice.p,
        "null_best": max(choice.null, default=None),
        "chance_draws": len(choice.null),
        "ari": firm.ari if firm else None,
        "required_jaccard": UNSTABLE,
        "least_jaccard": min(firm.jaccard) if firm and firm.jaccard else None,
        "at_edge": choice.at_the_edge,
        "sure": SURE,
        "n_sure": None if probabilities is None else int(probabilities.max(axis=1).ge(SURE).sum()),
    }


def state_component_facts(solution: ComponentSolution) -> dict[str, Any]:
    """Return how many components explain more than chance, and what sort and axes were divided by."""
    components, weights = solution.components, solution.weights
    explained = None if components is None else components.explained
    return {
        "n_components": int(np.logical_and.accumulate(solution.is_above_chance).sum()),
        "first_two": None if explained is None else float(explained[:2].sum()),
        "sort_weight": weights[0],
        "axes_weight": weights[1] if len(weights) > 1 else None,
        "alike": len(solution.agents) > 1 and explained is None,
    }
