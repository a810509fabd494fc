"""What the sorts give (reports/evaluation.py): tables of statements, shared views and types, agents among them, and
what is read of them where.

A shared view is a Q factor: agents hold it, or its reverse. A type is a cluster: an agent belongs to one. Views are
counted by parallel analysis, types by a test and resampling; what distinguishes views is told only where there are
views.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, permutations
from operator import itemgetter
from string import ascii_uppercase
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.coherence import coherence, order_smoothness
from enquete.analysis.components import explained_by_chance, principal_components, weighted
from enquete.analysis.estimates import MOST_COMPARED
from enquete.analysis.inference import selected_intervals
from enquete.analysis.qmethod import (
    ALPHA,
    Distinction,
    FlagEdits,
    QAnalysis,
    agreement,
    common_sort,
    contrasts,
    group_distinctions,
    legal,
    places,
    q_analysis,
    threshold,
)
from enquete.analysis.quality import two_components
from enquete.analysis.typology import (
    UNSTABLE,
    TypeChoice,
    Types,
    agent_silhouettes,
    memberships,
    types,
)
from enquete.locale import N_
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings, FlagChanges
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files, ItemFacts, wide
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST
from enquete.reports.health_checks import Humans, Made, answers, checkable, each, gaps, occasion, phases, scales
from enquete.reports.writing import lines
from enquete.state.asking import RESPONDED, Language

# --- Tables, and what is read of them where --------------------------------------------------------------------------

PARTS = {"sort": N_("sort"), "axes": N_("axes")}
COUNTED = {"views": N_("shared views"), "types": N_("types")}
OUTCOMES = {
    "views": N_("shared views"), "one_view": N_("a single shared view"), "asked": N_("number set by hand"),
    "no_views": N_("no shared view"), "undefined": N_("no sort defines a view"), "types": N_("types"),
    "unstable": N_("not stable"), "chance": N_("no clearer than chance"),
    "alike": N_("too few different answers"), "few": N_("too few agents"),
    "not_sure": N_("not beyond chance once all tests are counted"),
}  # fmt: skip
VERDICTS = {"apart": N_("sets views apart"), "open": N_("neither"), "consensus": N_("consensus of the views")}
DIRECTIONS = {"above": N_("higher"), "between": N_("between"), "below": N_("lower")}
STANDINGS = {
    "only": N_("the only one"),
    "largest": N_("the largest"),
    "largest_opposed": N_("the largest, and reversed"),
    "tied": N_("as large as another"),
    "smaller": N_("smaller"),
}
REASONS = {
    "sort_incomplete": N_("sort incomplete"),
    "off_grid": N_("sort off the grid"),
    "axes_incomplete": N_("axes incomplete"),
}
REFUSED = {
    "fewer": N_("{n} sorts do not give the {view} shared views that were asked for; parallel analysis found their "
                "number instead"),
    "no_factors": N_("flags set by hand were not applied: there are no shared views"),
    "no_sort": N_("flags set by hand were not applied: {who} is not one of the {n} participants with a complete sort "
                  "that fits the grid"),
    "no_factor": N_("flags set by hand were not applied: {who}: there is no shared view {view}; there are 1 to {n}"),
    "not_flagged": N_("flags set by hand were not applied: {who}: its sort does not define shared view {view}, so "
                      "nothing can be taken away"),
    "flagged": N_("flags set by hand were not applied: {who}: its sort defines shared view {view} already"),
}  # fmt: skip

ITEM = d.reference("item", N_("Statement or axis"), to="items")
VIEW, TYPE = d.text("view", N_("Shared view")), d.text("type", N_("Type"))
AGENT = d.reference("participant", N_("agent"), to="agent")
GROUP = d.reference("group", N_("group"), to="group")
N, TOTAL, N_OF = d.integer("n", "n"), d.integer("n_total", "N"), d.of("n", "n_total", "n / N")
Z, PLACE = d.number("z", "z"), d.integer("place", N_("place"))
MEAN, SD = d.number("mean", N_("mean")), d.number("sd", "SD")
ENDS = (
    d.number("low", N_("mean, lower bound"), means=N_("95%, for all statements or all axes at once")),
    d.number("high", N_("mean, upper bound")),
)
LEVEL = d.number(
    "level",
    N_("level (SED)"),
    means=N_("the level at which the difference exceeds its standard error; that knows the number of sorts alone"),
)

STRUCTURE = d.Table(
    name="structure", title=N_("Shared views and types: how many"), key=("what",),
    columns=(
        d.code("what", N_("counted"), levels=COUNTED), d.integer("found", N_("number"), replicates=True),
        d.code("outcome", N_("outcome"), levels=OUTCOMES, replicates=True,
            unless_sure=dict.fromkeys(("views", "one_view", "types"), "not_sure")), N, TOTAL, N_OF,
        d.share("explained", N_("variance explained")), d.integer("largest", N_("agents of the largest")),
        d.share("beyond", N_("size"), means=N_("variance explained by the views; agents outside the largest type")),
        d.p_value("p", means=N_("of the least certain view, or of the test of types; never below 1 / (draws + 1)")),
        d.adjusted_p(),
    ),
    views=(d.View(at="appendix", columns=d.names("what found outcome explained largest p p_adjusted")),
        d.View(at="digest")),
)  # fmt: skip

ITEMS = d.Table(
    name="items", title=N_("Statements and axes"), key=("item",), label="label",
    columns=(
        d.text("item", N_("item")), d.code("part", N_("part"), levels=PARTS), d.text("label", N_("Statement or axis")),
        d.text("wording", N_("wording")), d.text("low_end", N_("at the low end")),
        d.text("high_end", N_("at the high end")),
        N, TOTAL, N_OF, MEAN, SD, *ENDS, d.interval("low", "high", "95%"), d.integer("n_above", N_("above the middle")),
        d.integer("n_below", N_("below the middle")),
        d.number("apart", N_("spread between views"), means=N_("variance of z between the shared views")),
        d.code("verdict", N_("verdict"), levels=VERDICTS, replicates=True,
            means=N_("sets views apart: distinguishes a view at .05 by SED and by permutation; consensus: no two "
                     "views differ at .05 by SED")),
        d.integer("common_rank", N_("rank as common ground"),
            means=N_("by |mean| / SD, of statements on which no two views differ and whose interval leaves out 0")),
        d.flag("both_sides", N_("both sides"), means=N_("at least five agents on either side of the middle")),
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
    ),
    views=(
        d.View(at="appendix", heading=N_("Statements"), where="part == 'sort'", order=("-mean",),
             columns=d.names("wording mean low_to_high sd n_above n_below verdict")),
        d.View(at="appendix", heading=N_("Axes"), where="part == 'axes'",
            columns=d.names("wording low_end high_end mean low_to_high sd")),
        d.View(at="digest", where="part == 'sort'", columns=d.names("label mean sd verdict"), order=("-mean",), top=6),
    ),
    note=N_("Intervals hold for all statements, or all axes, at once. Consensus: no two views differ at .05 by SED."),
)  # fmt: skip

PARTICIPATION = d.Table(
    name="participation", title=N_("Participation"), key=("part",),
    columns=(
        d.code("part", N_("part"), levels=PARTS), d.integer("n_responded", N_("answers")),
        d.integer("n_planned", N_("planned answers")), d.of("n_responded", "n_planned", N_("answers / planned")),
        d.integer("n_complete", N_("complete")), TOTAL, d.of("n_complete", "n_total", N_("complete / agents")),
    ),
    views=(d.View(at="appendix", columns=d.names("part n_responded_of_n_planned n_complete_of_n_total")),),
)  # fmt: skip

LEFT_OUT = d.Table(
    name="left_out", title=N_("Agents left out"), key=("participant",),
    columns=(AGENT, d.code("reason", N_("why"), levels=REASONS)), views=(d.View(at="appendix", top=20),),
    note=N_("Types need a complete sort that fits the grid, and all axes; views need the sort alone."),
)  # fmt: skip

GRID = d.Table(
    name="grid", title=N_("The grid"), key=("place",), columns=(PLACE, d.integer("n", N_("statements"))),
    views=(d.View(at="appendix"),),
    note=N_("{n_moved} of {placements} placements ({share_moved}) were moved to fit the grid, in {agents_moved} of "
            "{agents_complete} sorts; {n_again} were changed by agents when asked again ({agents_again} agents)."),
)  # fmt: skip

PARALLEL = d.Table(
    name="parallel", title=N_("Parallel analysis"), key=("rank",),
    columns=(
        d.integer("rank", N_("No.")), d.number("eigenvalue", N_("eigenvalue")),
        d.number("chance_mean", N_("chance (mean)")),
        d.number("chance_95", N_("chance (95%)")), d.p_value("p"), d.flag("above", N_("above chance")),
    ),
    views=(d.View(at="appendix", where="rank <= 6", columns=d.names("rank eigenvalue chance_95 p above")),),
    note=N_("Each sort dealt at random {draws} times; a view needs p ≤ {alpha}. Eigenvalues above 1: {kaiser}; at "
            "least two significant loadings: {two_loaders}."),
)  # fmt: skip

VIEWS = d.Table(
    name="views", title=N_("Shared views"), key=("view",), label="view",
    columns=(
        VIEW, d.integer("n_held", N_("held by")), d.integer("n_reversed", N_("reversed by")),
        d.number("eigenvalue", N_("eigenvalue")), d.share("explained", N_("variance")),
        d.number("reliability", N_("reliability"), digits=3), d.number("se", "SE", digits=3),
        d.integer("n_capped", N_("loadings capped"), means=N_("defining loadings beyond .999")),
        d.integer("n_apart", N_("distinguishing statements")), d.several("top", N_("at the top"), to="items"),
        d.several("bottom", N_("at the bottom"), to="items"),
    ),
    views=(
        d.View(at="section", columns=d.names("view n_held n_reversed explained top bottom"),
            empty=N_("No shared views were found.")),
        d.View(at="appendix", columns=d.names("view n_held n_reversed eigenvalue explained reliability se n_apart"),
             empty=N_("No shared views were found.")),
        d.View(at="digest", columns=d.names("view n_held n_reversed explained top bottom")),
    ),
    note=N_("Factors of the correlations between sorts, by principal components, rotated by varimax. A sort defines a "
            "view from a loading of {threshold} on whose square exceeds that of the others together. Reliability knows "
            "only the number of sorts."),
)  # fmt: skip

SCORES = d.Table(
    name="scores", title=N_("Statements on the shared views"), key=("view", "item"),
    columns=(
        d.reference("view", N_("Shared view"), to="views"), ITEM, Z, PLACE,
        d.code("direction", N_("against the others"), levels=DIRECTIONS,
            means=N_("of statements that distinguish the view at .05 by SED")),
        LEVEL, d.p_value("p", means=N_("agents dealt to two views by lot; the largest of the comparisons")),
    ),
    views=(
        d.View(at="appendix", spread=d.Spread(column="view", rows=("item",), cells=("z",))),
        d.View(at="appendix", heading=N_("Distinguishing statements"), where="level <= .05 and abs(z) >= 1",
            by=("view",),
             most=6, order=("view", "-z"), columns=d.names("item z direction level p")),
    ),
)  # fmt: skip

CORRELATIONS = d.Table(
    name="correlations", title=N_("Correlations of the views"), key=("first", "second"),
    columns=(
        d.reference("first", N_("view"), to="views"), d.reference("second", N_("other view"), to="views"),
        d.number("r", "r"),
        d.number("sed", "SED", means=N_("standard error of a difference of z")),
    ),
    views=(d.View(at="appendix", where="first < second"),),
)  # fmt: skip

POLES = d.Table(
    name="poles", title=N_("Who holds which view"), key=("pole",), label="pole",
    columns=(
        d.text("pole", N_("view"), means=N_("2+ and 2-: those who hold view 2, and those who hold its reverse")),
        d.reference("view", N_("Shared view"), to="views"), d.integer("holders", N_("agents")),
        d.integer("opposed", N_("agents at the other pole")), N, TOTAL,
        d.code("standing", N_("size"), levels=STANDINGS),
        d.integer("tied", N_("views of this size")), d.reference("top", N_("top"), to="items"),
        d.reference("bottom", N_("bottom"), to="items"), d.integer("top_place", N_("place of the top")),
        d.integer("bottom_place", N_("place of the bottom")),
    ),
)  # fmt: skip

HOLDERS = d.Table(
    name="holders", title=N_("Shared views by group"), key=("pole", "group"),
    columns=(d.reference("pole", N_("view"), to="poles"), GROUP, d.integer("n", N_("agents")),
        d.integer("n_group", N_("in the group")), d.of("n", "n_group", N_("n / group")),
             d.share("share", N_("share of the group"))),
    views=(d.View(at="appendix", spread=d.Spread(column="pole", rows=("group",), cells=("n_of_n_group",))),),
)  # fmt: skip

NOT_DONE = d.Table(
    name="not_done", title=N_("Settings that did not fit"), key=("place",),
    columns=(d.integer("place", N_("No.")), d.code("why", N_("why"), levels=dict.fromkeys(REFUSED, N_("refused"))),
             d.text("who", N_("participant")), d.integer("view", N_("view")), N),
    views=(d.View(at="appendix", word="why", says=REFUSED), d.View(at="flag", word="why", says=REFUSED)),
)  # fmt: skip

TRIED = d.Table(
    name="types_tried", title=N_("Numbers of types tried"), key=("k",),
    columns=(
        d.integer("k", N_("types")), d.number("silhouette", N_("mean silhouette"), digits=3),
    ),
    views=(d.View(at="appendix"),),
    note=N_("Against {chance_draws} data sets with every relation random: p {p_chance} (best silhouette there "
            "{null_best} at most; required: p ≤ {alpha}). Resampled: adjusted Rand index {ari}, smallest Jaccard "
            "index {least_jaccard} (required: ≥ {required_jaccard}). Views that differ by degree alone can be divided "
            "like this, too; gaps between types are not tested."),
)  # fmt: skip

TYPES = d.Table(
    name="types", title=N_("Types"), key=("type",), label="type",
    columns=(
        TYPE, N, TOTAL, N_OF,
        d.number("jaccard", N_("stability (Jaccard)"), means=N_("how much of the type is found again in resampled "
                                                              "agents; stable from .75")),
        d.reference("pro", N_("is for"), to="items"), d.reference("con", N_("is against"), to="items"),
        d.reference("pole", N_("shared view"), to="poles"), d.integer("n_pole", N_("define that view")),
        d.several("members", N_("members"), to="agent"),
    ),
    views=(
        d.View(at="section", columns=d.names("type n_of_n_total jaccard pro con pole"),
            empty=N_("No types of agents were found.")),
        d.View(at="digest", columns=d.names("type n jaccard pro con")),
        d.View(at="memory", where="n >= 5", says=N_("type {type}, {n} of {n_total} agents. Unlike the others: for "
                                                  "“{pro}”, against “{con}”")),
    ),
    note=N_("Stable from a Jaccard index of .75. Types of fewer than five agents are not described."),
)  # fmt: skip

TYPE_ITEMS = d.Table(
    name="type_items", title=N_("What sets types apart"), key=("type", "item"),
    columns=(
        d.reference("type", N_("Type"), to="types"), ITEM, d.code("part", N_("part"), levels=PARTS), PLACE, MEAN,
        d.number("mean_rest", N_("mean of the others")),
        d.number("difference", N_("difference (z)"),
            means=N_("from all other agents, in standard deviations of the grid")),
        d.code("direction", N_("against the other types"), levels=DIRECTIONS), LEVEL, d.p_value("p"),
    ),
    views=(
        d.View(at="appendix", where="level <= .05 and abs(difference) >= .5", by=("type",), most=4, order=("type",),
            columns=d.names("item place mean mean_rest difference")),
        d.View(at="appendix", heading=N_("Axes by type"), where="part == 'axes'",
            spread=d.Spread(column="type", rows=("item",), cells=("mean",))),
    ),
    note=N_("A description: types were formed of the same answers, so a test would be circular."),
)  # fmt: skip

TYPE_GROUPS = d.Table(
    name="type_groups", title=N_("Types by group"), key=("type", "group"),
    columns=(d.reference("type", N_("Type"), to="types"), GROUP, d.integer("n", N_("agents")),
        d.integer("n_group", N_("in the group")), d.of("n", "n_group", N_("n / group")),
             d.share("share", N_("share of the group"))),
    views=(d.View(at="appendix", spread=d.Spread(column="type", rows=("group",), cells=("n_of_n_group",))),),
)  # fmt: skip

COMPONENTS = d.Table(
    name="components", title=N_("Principal components"), key=("component",), label="component",
    columns=(
        d.integer("component", N_("Component")), d.share("explained", N_("variance"), digits=1),
        d.share("by_chance", N_("chance (95%)"), digits=1), d.flag("above_chance", N_("above chance")),
        d.several("heaviest", N_("highest loadings"), to="items"),
    ),
    views=(d.View(at="appendix", where="component <= 4"),),
    note=N_("{n_components:component explains|components explain} more than chance; the first two {first_two} of "
            "the variance. Sort and axes count alike."),
)  # fmt: skip

COMPONENT_LOADINGS = d.Table(
    name="component_loadings", title=N_("Loadings on the components"), key=("component", "item"),
    columns=(d.integer("component", N_("Component")), ITEM, d.number("loading", N_("loading"))),
)  # fmt: skip

AGENTS = d.Table(
    name="agents", title=N_("The agents' views and types"), key=("participant",), one_agent=True,
    columns=(
        AGENT, d.STAKEHOLDER_TYPE, GROUP, d.reference("archetype", N_("type of view"), to="types", agents=True),
        d.reference("q_factor", N_("shared view"), to="poles", agents=True,
            means=N_("the view that the agent's sort defines; none where it defines none or several")),
        d.number("probability", N_("probability of the type")), d.number("silhouette", N_("silhouette")),
        d.code("left_out", N_("left out"), levels=REASONS), d.integer("moved", N_("moved")),
        d.integer("again", N_("changed themselves")), d.number("pc1", N_("first component")),
        d.number("pc2", N_("second component")), d.number("pc3", N_("third component")),
    ),
    views=(
        d.View(at="appendix", heading=N_("Placements that were moved or changed"), where="moved > 0 or again > 0",
            order=("-moved", "-again"), top=20,
             columns=d.names("participant stakeholder_type moved again")),
        d.View(at="appendix", heading=N_("Agents whose type is not sure"), where="probability < @sure",
            order=("probability",), top=20,
             columns=d.names("participant stakeholder_type archetype probability")),
    ),
)  # fmt: skip

LOADINGS = d.Table(
    name="loadings", title=N_("Loadings on the shared views"), key=("participant", "view"), one_agent=True,
    columns=(AGENT, d.reference("view", N_("Shared view"), to="views"), d.number("loading", N_("loading")),
        d.flag("defines", N_("defines the view"))),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(
    d.reference("asked", N_("Statement or axis"), to="items"), N_("Statements and axes by group"), scales=True
)

FACTS = (
    *map(d.integer, d.names(
        "n_statements n_axes grid_low grid_high n n_total n_sorts n_views n_types n_defining n_dropped asked draws "
        "parallel_views kaiser two_loaders flags_added flags_removed n_both chance_draws "
        "n_sure n_components placements n_moved agents_moved n_again agents_again "
        "agents_complete")),
    *map(d.number, d.names("threshold alpha ari least_jaccard required_jaccard ari_types")),
    d.number("null_best", digits=3),
    d.p_value("p_chance"),
    *map(d.flag, d.names("at_edge alike")),
    *map(d.share, d.names("sure first_two sort_weight axes_weight")),
    d.share("share_moved", digits=1),
)  # fmt: skip

TEXTS = (
    d.TextBlock(at="section", where="n_axes > 0",
         says=N_("Every agent sorted {n_statements} statements into a fixed grid from {grid_low} to {grid_high} and "
                 "rated itself on {n_axes} axes.")),
    d.TextBlock(at="section", where="n_axes == 0",
        says=N_("Every agent sorted {n_statements} statements into a fixed grid from {grid_low} to {grid_high}.")),
    d.TextBlock(at="section",
        says=N_("A shared view is what sorts have in common: an agent may hold it or its reverse. "
                               "A type is a group of agents who sort and rate alike.")),
    d.TextBlock(at="appendix", where="at_edge == True", after="types_tried",
        says=N_("**Caution:** {n_types} is the largest number of types that was tried; there may be more.")),
    d.TextBlock(at="appendix", where="n_both > 0", after="types",
        says=N_("Views and types: adjusted Rand index {ari_types} over {n_both} agents.")),
    d.TextBlock(at="appendix", where="n_sure >= 0", after="types",
        says=N_("{n_sure} of {n} agents belong to one type with a probability of at least {sure}.")),
    d.TextBlock(at="appendix", where="flags_added > 0 or flags_removed > 0", after="views",
        says=N_("Changed by hand: {flags_added} flags added, {flags_removed} removed.")),
    d.TextBlock(at="appendix", where="n_dropped > 0", after="views", says=N_("Views without a result, because no sort "
                                                                      "defines them or their sorts cancel one "
                                                                      "another: {n_dropped}.")),
    d.TextBlock(at="flag", where="share_moved > .05",
        says=N_("Diversity of views: {n_moved} of {placements} placements had "
                                                       "to be moved for the sort to fit the grid.")),
    d.TextBlock(at="flag", where="alike == True", says=N_("Diversity of views: all agents answered alike.")),
)  # fmt: skip

FINDINGS = (
    d.Finding(
        name="largest", after="views", table="poles", word="standing", where="standing != 'smaller' and holders >= 5",
        size="holders / n", estimate="holders", items="top", scale="0, n", chart="statements",
        says={
            "only": N_("The shared view, held by {holders} of {n} agents, puts “{top}” on top ({top_place}) and "
                       "“{bottom}” at the bottom ({bottom_place})."),
            "largest": N_("No shared view is held by more agents than view {view} ({holders} of {n}): it puts "
                          "“{top}” on top ({top_place}) and “{bottom}” at the bottom ({bottom_place})."),
            "largest_opposed": N_("No shared view is held by more agents than view {view} ({holders} of {n}; "
                                  "reversed by {opposed}): it puts “{top}” on top ({top_place}) and “{bottom}” at "
                                  "the bottom ({bottom_place})."),
            "tied": N_("{tied} sides of shared views are held by {holders} of {n} agents each; one puts “{top}” on "
                       "top ({top_place}) and “{bottom}” at the bottom ({bottom_place})."),
        },
    ),
    d.Finding(
        name="views", table="structure", kind="difference", word="outcome", p="p", test="parallel analysis",
        size="beyond", estimate="explained", chart="scree",
        where="what == 'views' and outcome in ('views', 'one_view', 'not_sure')",
        says={
            "views": N_("The sorts share {found} views, which explain {explained} of their variance; random sorts "
                        "share none (adjusted {p}, parallel analysis; n = {n}/{n_total})."),
            "one_view": N_("The sorts share a single view, which explains {explained} of their variance; random "
                           "sorts share none (adjusted {p}, parallel analysis; n = {n}/{n_total})."),
        },
        null=N_("Parallel analysis counts {found} shared views, but not beyond chance once all tests of this report "
                "are counted (adjusted {p}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="views_set", table="structure", where="outcome == 'asked'", size="beyond", estimate="explained",
        chart="scree",
        says=N_("{found} shared views, a number set by hand, explain {explained} of the variance of the sorts (n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="no_views", table="structure", kind="null", where="outcome == 'no_views' and n >= 5", chart="scree",
        says=N_("The agents share no view: their sorts have no more in common than random ones (parallel analysis; n "
                "= {n}/{n_total})."),
    ),
    d.Finding(
        name="divides", after="views", table="items", where="verdict == 'apart' and both_sides == True",
        order=("-apart",), size="sd / scale_max", items="item", estimate="mean", low="low", high="high",
        chart="statements", scale="scale_min, scale_max", simultaneous=True,
        says=N_("“{label}” sets the shared views apart most: {n_above} agents place it above the middle, {n_below} "
                "below (mean {mean}, SD {sd} on {scale_min} to {scale_max}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="common", after="views", table="items", where="common_rank == 1", size="abs(mean) / scale_max",
        items="item", estimate="mean", low="low", high="high", chart="statements", scale="scale_min, scale_max",
        simultaneous=True,
        says=N_("Common ground is “{label}”: mean place {mean} on {scale_min} to {scale_max} (simultaneous 95% "
                "interval {low} to {high}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="types", table="structure", kind="difference", word="outcome", p="p",
        test="silhouette against independence", size="beyond", estimate="found",
        where="what == 'types' and outcome in ('types', 'not_sure')",
        chart="plane",
        says={
            "types": N_("The agents can be divided into {found} types, the largest of {largest}, more clearly than "
                        "unrelated answers could be (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("{found} types were formed, but not beyond chance once all tests of this report are counted "
                "(adjusted {p}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="no_types", table="structure", kind="null", word="outcome", where="what == 'types' and n >= 5",
        chart="plane",
        says={
            "unstable": N_("There are no types: the best division of the agents does not come back when they are "
                           "resampled (n = {n}/{n_total})."),
            "chance": N_("There are no types: the best division of the agents is no clearer than in random data (n = "
                         "{n}/{n_total})."),
        },
    ),
    d.group_finding(
        d.reference("asked", N_("Statement or axis"), to="items"),
        N_("Groups differ on “{asked}”: mean {mean_highest} in {highest}, {mean_lowest} in {lowest}, on {scale_min} "
           "to {scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No difference between groups was found on any of {tests} statements and axes (smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="effect", chart="",
    ),
)  # fmt: skip

DRAW = "enquete.methods.diversity.charts:"
CHARTS = (
    d.Chart(name="plane", title=N_("Diversity: agents on the first two components, by type"), draw=f"{DRAW}plane",
        needs=("agents", "components"),
          over=d.View(at="section", where="pc1.notna()"),
          alt=N_("{n} agents on two components that explain {first_two} of the variance; types: {n_types}.")),
    d.Chart(name="statements", title=N_("Diversity: statements on each shared view"), draw=f"{DRAW}statements",
          needs=("items", "scores"), over=d.View(at="section", where="part == 'sort'", order=("-apart",)),
          alt=N_("z-scores of {n_statements} statements on {n_views:shared view|shared views}.")),
    d.Chart(name="places", title=N_("Diversity: mean place of every statement"), draw=f"{DRAW}places", needs=("items",),
        at="appendix",
          over=d.View(at="appendix", where="part == 'sort' and n > 0", order=("-mean",)),
              alt=N_("Mean places of {n_statements} statements; highest: “{label}”, {mean}.")),
    d.Chart(name="scree", title=N_("Diversity: eigenvalues of the sorts, and what chance gives"), draw=f"{DRAW}scree",
        needs=("parallel",),
          over=d.View(at="section", where="rank <= 12"),
          alt=N_("{parallel_views:eigenvalue lies|eigenvalues lie} above chance; the first is {eigenvalue}.")),
    d.Chart(name="groups", title=N_("Diversity: types by group"), draw=f"{DRAW}groups", needs=("type_groups",),
          alt=N_("How many agents of each group belong to each type ({n_types}).")),
)  # fmt: skip

GLOSSARY = {
    N_("shared view"): N_("a Q factor: what several agents' sorts have in common; an agent can share it or hold its "
                          "reverse"),
    N_("type"): N_("a cluster: agents who sort and place themselves alike; an agent belongs to one"),
    N_("parallel analysis"): N_("counts the views whose eigenvalue exceeds that of randomly permuted sorts"),
    N_("distinguishing statement"): N_("one that a view places elsewhere than every other view does, beyond chance"),
    N_("stability (Jaccard)"): N_("how much of a type is found again when agents are drawn anew; 1 is all of it"),
}  # fmt: skip

PRESENTATION = d.Presentation(
    tables=(STRUCTURE, VIEWS, TYPES, TYPE_GROUPS, PARTICIPATION, LEFT_OUT, GRID, AGENTS, TRIED, TYPE_ITEMS,
        NOT_DONE, PARALLEL, POLES, HOLDERS, SCORES,
            CORRELATIONS, LOADINGS, COMPONENTS, COMPONENT_LOADINGS, ITEMS,
                GROUP_TESTS, GROUPS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
    samples=(d.Sample(what=N_("the number of types"), of="n", most=MOST_COMPARED),),
)  # fmt: skip


# --- What views and types there are among the agents: sorts, Q factors, clusters, components ------------------------
# Measured by: views and types that were planted are found, none is found in noise, and every figure stands beside its
# n. An agent without a complete legal sort and all axes is left out of types and counted; views need the sort alone.
# Draws are seeded: same rows, same tables. Names of types are arbitrary; `alike` gives those of another run.

SEED = 0
CHANCE_DRAWS = 100
MOST_COMPONENTS, MOST_SCORES, HEAVIEST, EIGENVALUES, EXTREMES = 8, 3, 4, 30, 3
"""Components, coordinates of an agent, items of a component, eigenvalues and statements at either end of a view that
are kept."""
DISTINGUISHING = 0.5  # least difference of a type from the rest, in SDs of the grid
SURE = 0.8
"""Probability from which an agent is counted as a member of its type."""
DIGITS = 6  # beyond them, sums depend on the machine


def analyse(
    frame: pd.DataFrame, instrument: DiversityInstrument, settings: DiversitySettings | None, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's rows."""
    sorts = Sorts.read(frame, instrument, context.groups_of(frame))
    clusters = Clusters.of(sorts)
    views = Views.of(sorts, settings or DiversitySettings())
    placed = sorts.placements(frame)
    components, component_facts, scores = _components(sorts)
    agents = _agents(sorts, clusters, views, placed, scores)
    tables: dict[str, Any] = {
        "structure": [views.counted(), clusters.counted()],
        "items": _with_verdicts(sorts.items(context.language), views.scores(), views),
        "participation": sorts.participation(frame),
        "left_out": [{"participant": who, "reason": why} for who, why in sorts.reason[sorts.reason.ne("")].items()],
        "grid": [{"place": place, "n": n} for place, n in instrument.distribution.items()], "agents": agents,
        **clusters.tables(agents), **views.tables(), **components,
        **d.compared(
            pd.concat([sorts.sort, sorts.axes], axis=1), sorts.groups, "asked",
            ends={item: (low, high) for item, low, high in sorts.scales()},
        ),
    }  # fmt: skip
    both = agents["archetype"].notna() & agents["q_factor"].notna()
    grid = list(instrument.distribution)
    facts = {
        "n_statements": sorts.sort.shape[1], "n_axes": sorts.axes.shape[1], "grid_low": grid[0], "grid_high": grid[-1],
        "n": len(sorts.kept), "n_total": len(sorts.reason), **views.facts(clusters.of_all), "n_both": int(both.sum()),
        **clusters.facts, **component_facts, **_moved(placed, sorts),
    }  # fmt: skip
    return d.shaped(
        PRESENTATION, {name: _rounded(rows) for name, rows in tables.items()}, {n: _round(v) for n, v in facts.items()}
    )


def _round(value: Any) -> Any:
    return round(float(value), DIGITS) if isinstance(value, float | np.floating) else value


def _rounded(rows: Any) -> pd.DataFrame:
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    return frame.round(DIGITS)


# --- whose sorts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sorts:
    """sort, axes: agents × items in the instrument's order, NaN where there is no answer; all agents, in the
    population's order. reason: why an agent is left out of types, "" where it is not. kinds: stakeholder
    types; groups: what agents are compared by."""

    instrument: DiversityInstrument
    sort: pd.DataFrame
    axes: pd.DataFrame
    reason: pd.Series[str]
    kinds: pd.Series[str]
    groups: pd.Series[str]

    @classmethod
    def read(cls, frame: pd.DataFrame, instrument: DiversityInstrument, groups: pd.Series[str]) -> Sorts:
        everybody = frame["participant"].unique()
        sort = wide(frame, [statement.statement_id for statement in instrument.statements], people=everybody)
        axes = wide(frame, [axis.axis_id for axis in instrument.likert_axes], people=everybody)
        missing = sort.isna().any(axis=1)
        reason = pd.Series("", index=sort.index, dtype="str")
        reason[axes.isna().any(axis=1)] = "axes_incomplete"
        reason[~missing & ~legal(sort.to_numpy(), instrument.distribution)] = "off_grid"
        reason[missing] = "sort_incomplete"
        kinds = frame.groupby("participant", sort=False)["stakeholder_type"].first()
        return cls(instrument, sort, axes, reason, kinds, groups)

    @property
    def grid(self) -> Mapping[int, int]:
        return self.instrument.distribution

    @cached_property
    def kept(self) -> pd.Index[Any]:
        return self.reason.index[self.reason.eq("")]

    @cached_property
    def blocks(self) -> list[np.ndarray[Any, Any]]:
        """Sort and axes of the agents that have both, complete and legal."""
        both = (self.sort.loc[self.kept], self.axes.loc[self.kept])
        return [block.to_numpy() for block in both if block.shape[1]]

    def participation(self, frame: pd.DataFrame) -> Iterator[d.Row]:
        answered, statements = frame["status"].isin(RESPONDED), frame["item_id"].isin(self.sort.columns)
        for part, rows, given in (("sort", statements, self.sort), ("axes", ~statements, self.axes)):
            if given.shape[1]:
                yield {"part": part, "n_responded": int((answered & rows).sum()), "n_planned": int(rows.sum()),
                       "n_complete": int(given.notna().all(axis=1).sum()), "n_total": len(given)}  # fmt: skip

    def placements(self, frame: pd.DataFrame) -> pd.DataFrame:
        """By agent with a complete sort, how many placements were moved to fit the grid, or placed again by the agent
        when asked.

        Column `placed` of the rows holds an agent's own placements; where the last of them is not the value, the
        statement was moved.
        """
        complete = self.sort.index[self.sort.notna().all(axis=1)]
        rows = frame[frame["item_id"].isin(self.sort.columns) & frame["participant"].isin(complete)]
        placements = [_placements(text) for text in rows["placed"]] if "placed" in rows else [[]] * len(rows)
        moved = [bool(p) and p[-1] != value for p, value in zip(placements, rows["value"], strict=True)]
        counts = pd.DataFrame({"moved": moved, "again": [len(p) > 1 for p in placements]}, index=rows.index)
        by_agent = counts.groupby(rows["participant"], sort=False).sum()
        return by_agent.reindex(complete, fill_value=0).astype(int)

    def scales(self) -> Iterator[tuple[str, int, int]]:
        """Every statement and axis with its lowest and highest value."""
        columns = list(self.grid)
        yield from ((s.statement_id, columns[0], columns[-1]) for s in self.instrument.statements)
        yield from ((a.axis_id, 1, a.points) for a in self.instrument.likert_axes)

    def items(self, language: Language) -> pd.DataFrame:
        """Every statement and axis; of all answers there are."""
        words: list[tuple[str | None, ...]] = [
            ("sort", s.brief(language), s.label.in_(language), None, None) for s in self.instrument.statements
        ]
        words += [
            ("axes", a.label.in_(language), a.label.in_(language), a.low.in_(language), a.high.in_(language))
            for a in self.instrument.likert_axes
        ]
        items = pd.DataFrame(words, columns=["part", "label", "wording", "low_end", "high_end"])
        items[["item", "scale_min", "scale_max"]] = pd.DataFrame(list(self.scales()))
        values = pd.concat([self.sort, self.axes], axis=1)
        items = items.assign(
            n=values.notna().sum().to_numpy(), n_total=len(values), mean=values.mean().to_numpy(),
            sd=values.std().to_numpy(), n_above=values.gt(0).sum().to_numpy(), n_below=values.lt(0).sum().to_numpy(),
        )  # fmt: skip
        for _, part in items.groupby("part", sort=False):
            ends = (float(part["scale_min"].iloc[0]), float(part["scale_max"].max()))
            made = selected_intervals(part["n"], part["mean"], part["sd"], ends=ends)
            items.loc[part.index, ["low", "high"]] = made[["low", "high"]].to_numpy()
        axes = items["part"].eq("axes")
        return items.assign(**{name: items[name].mask(axes) for name in ("n_above", "n_below")})


def _placements(text: object) -> list[int]:
    columns: object = json.loads(text) if isinstance(text, str) and text else None
    return [int(column) for column in columns] if isinstance(columns, list) else []


def _moved(placed: pd.DataFrame, sorts: Sorts) -> d.Row:
    total = int(len(placed) * sorts.sort.shape[1])
    return {
        "placements": total, "n_moved": int(placed["moved"].sum()),
        "share_moved": float(placed["moved"].sum() / total) if total else None,
        "agents_moved": int(placed["moved"].gt(0).sum()), "n_again": int(placed["again"].sum()),
        "agents_again": int(placed["again"].gt(0).sum()), "agents_complete": len(placed),
    }  # fmt: skip


def _with_verdicts(items: pd.DataFrame, scores: pd.DataFrame, views: Views) -> pd.DataFrame:
    """With what the views say of each statement. Without two views there is nothing to set apart."""
    q, part = views.q, items["part"].eq("sort")
    several = len(q.factors) > 1
    consensus = [str(items["item"][s]) for s in q.consensus]
    apart = set(scores.loc[scores["level"].le(0.05) & scores["p"].lt(0.05), "item"]) if several else set()
    spread = scores.groupby("item")["z"].var(ddof=0) if several else pd.Series(dtype=float)
    verdict = np.where(
        items["item"].isin(consensus), "consensus", np.where(items["item"].isin(list(apart)), "apart", "open")
    )
    clear = items["low"].gt(0) | items["high"].lt(0)
    common = part & clear & items["n"].ge(FEWEST) & (items["item"].isin(consensus) if several else bool(q.factors))
    rank = (items["mean"].abs() / items["sd"]).where(common).rank(ascending=False, method="first")
    return items.assign(
        apart=items["item"].map(spread), verdict=pd.Series(verdict, dtype=object).where(part & several, None),
        common_rank=rank,
        both_sides=(items[["n_above", "n_below"]].min(axis=1) >= FEWEST).astype(object).where(part, None),
    )  # fmt: skip


# --- components -------------------------------------------------------------------------------------------------------


def _components(sorts: Sorts) -> tuple[dict[str, Any], d.Row, pd.DataFrame]:
    """Components with what chance explains, loadings by item, scores by agent; empty where agents do not differ."""
    columns, firsts = weighted(sorts.blocks)
    names = [*map(str, sorts.sort.columns), *map(str, sorts.axes.columns)]
    pca = principal_components(columns) if len(sorts.kept) > 1 else None
    kept = len(pca.explained) if pca else 0
    facts: d.Row = {
        "n_components": 0, "first_two": None, "sort_weight": firsts[0],
        "axes_weight": firsts[1] if len(firsts) > 1 else None, "alike": len(sorts.kept) > 1 and not kept,
    }  # fmt: skip
    if pca is None or not kept:
        return {}, facts, pd.DataFrame(columns=["pc1", "pc2", "pc3"])
    chance = explained_by_chance(sorts.blocks, CHANCE_DRAWS, SEED)
    above = pca.explained > chance[:kept]
    listed = range(min(MOST_COMPONENTS, kept))
    components = [
        {"component": i + 1, "explained": pca.explained[i], "by_chance": chance[i], "above_chance": bool(above[i]),
         "heaviest": [names[j] for j in np.argsort(-np.abs(pca.loadings[:, i]), kind="stable")[:HEAVIEST]]}
        for i in listed
    ]  # fmt: skip
    loadings = pd.DataFrame(pca.loadings[:, listed], columns=[i + 1 for i in listed]).assign(item=names)
    loadings = loadings.melt("item", var_name="component", value_name="loading")
    scores = pd.DataFrame(pca.scores[:, :MOST_SCORES], index=sorts.kept).reindex(columns=range(MOST_SCORES))
    first_two, n_above = float(pca.explained[:2].sum()), int(np.logical_and.accumulate(above).sum())
    facts |= {"n_components": n_above, "first_two": first_two}
    tables = {"components": components, "component_loadings": loadings}
    return tables, facts, scores.set_axis(["pc1", "pc2", "pc3"], axis=1)


# --- types ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clusters:
    """Types of the agents analysed, or why there are none. A is the largest."""

    sorts: Sorts
    typology: Types

    @classmethod
    def of(cls, sorts: Sorts) -> Clusters:
        n = len(sorts.kept)
        typology = types(sorts.blocks, SEED) if n else Types(TypeChoice(1, "few"))
        return cls(sorts, typology)

    @cached_property
    def letters(self) -> pd.Series[str]:
        """Type by participant; empty without types."""
        labels = self.typology.labels
        return pd.Series([] if labels is None else [ascii_uppercase[label] for label in labels], dtype=object,
                         index=self.sorts.kept[: 0 if labels is None else None])  # fmt: skip

    @cached_property
    def of_all(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The type's number of every agent with a sort or without, −1 for none."""
        labels = np.full(len(self.sorts.reason), -1, dtype=np.int64)
        if self.typology.labels is not None:
            labels[self.sorts.reason.eq("").to_numpy()] = self.typology.labels
        return labels

    @property
    def k(self) -> int:
        return 0 if self.typology.choice.k == 1 else self.typology.choice.k

    def counted(self) -> d.Row:
        choice = self.typology.choice
        largest = int(self.letters.value_counts().max()) if len(self.letters) else None
        n = len(self.sorts.kept)
        return {
            "what": "types", "found": self.k, "outcome": "types" if choice.reason == "typology" else choice.reason,
            "n": n, "n_total": len(self.sorts.reason), "explained": None, "largest": largest,
            "beyond": 1 - largest / n if largest else None, "p": choice.p,
        }  # fmt: skip

    @cached_property
    def facts(self) -> d.Row:
        choice, firm = self.typology.choice, self.typology.stability
        jaccard = getattr(firm, "jaccard", None)
        return {
            "n_types": self.k, "p_chance": choice.p, "null_best": max(choice.null, default=None),
            "chance_draws": len(choice.null), "ari": getattr(firm, "ari", None), "required_jaccard": UNSTABLE,
            "least_jaccard": min(jaccard) if jaccard else None, "at_edge": choice.at_the_edge,
            "sure": SURE,
            "n_sure": None if self.sure is None else int(self.sure.max(axis=1).ge(SURE).sum()),
        }  # fmt: skip

    @cached_property
    def sure(self) -> pd.DataFrame | None:
        """Probabilities, agents × types; None without types or where the mixture gives none."""
        labels = self.typology.labels
        shares = None if labels is None else memberships(weighted(self.sorts.blocks)[0], labels).probabilities
        if shares is None:
            return None
        return pd.DataFrame(shares, index=self.sorts.kept, columns=list(ascii_uppercase[: shares.shape[1]]))

    def fits(self) -> pd.Series[float]:
        labels = self.typology.labels
        if labels is None:
            return pd.Series(dtype=float)
        return pd.Series(agent_silhouettes(weighted(self.sorts.blocks)[0], labels, SEED), index=self.sorts.kept)

    def tables(self, agents: pd.DataFrame) -> dict[str, Any]:
        tried = pd.DataFrame({"silhouette": pd.Series(self.typology.choice.silhouettes)}, dtype=float)
        apart = list(self._apart())
        return {
            "types_tried": tried.sort_index().rename_axis("k").reset_index(), "type_items": apart,
            "types": [self._type(letter, apart, agents) for letter in sorted(set(self.letters))],
            "type_groups": grouped(self.letters, self.sorts.groups, "type"),
        }  # fmt: skip

    def _apart(self) -> Iterator[d.Row]:
        """By type of FEWEST agents at least, statements as the type differs most in them, then axes."""
        labels, grid = self.typology.labels, self.sorts.grid
        if labels is None:
            return
        sort, axes = self.sorts.sort.loc[self.sorts.kept], self.sorts.axes.loc[self.sorts.kept]
        for label, distinctions in enumerate(group_distinctions(sort.to_numpy(), labels, grid, SEED)):
            inside, distinct = np.asarray(labels == label), {d.statement: d for d in distinctions}
            if inside.sum() < FEWEST:
                continue
            common = common_sort(sort.to_numpy()[inside].mean(axis=0), grid)
            for contrast in contrasts(sort.to_numpy(), inside, grid):
                yield {
                    "type": ascii_uppercase[label], "item": sort.columns[contrast.statement], "part": "sort",
                    "mean": contrast.mean, "mean_rest": contrast.mean_rest, "difference": contrast.difference,
                    "place": int(common[contrast.statement]), **told_of(distinct.get(contrast.statement)),
                }  # fmt: skip
            for item, mean, rest in zip(axes.columns, axes[inside].mean(), axes[~inside].mean(), strict=True):
                yield {
                    "type": ascii_uppercase[label], "item": item, "part": "axes", "mean": mean, "mean_rest": rest,
                    "difference": None, "place": None, **told_of(None),
                }  # fmt: skip

    def _type(self, letter: str, apart: Sequence[d.Row], agents: pd.DataFrame) -> d.Row:
        """For and against: the first that it places above (below) the middle and the others; what sets it apart goes
        before."""
        rows = [row for row in apart if row["type"] == letter and row["part"] == "sort"]
        rows.sort(key=lambda row: row["level"] is None or abs(row["difference"]) < DISTINGUISHING)
        middle = float(np.average(list(self.sorts.grid), weights=list(self.sorts.grid.values())))
        pro, con = (
            next((row["item"] for row in rows if s * row["difference"] > 0 and s * (row["mean"] - middle) > 0), None)
            for s in (1, -1)
        )
        members = self.letters.index[self.letters.eq(letter)]
        poles = Counter(agents.set_index("participant").loc[members, "q_factor"].dropna()).most_common(1)
        pole, n_pole = poles[0] if poles else (None, None)
        firm = self.typology.stability
        return {
            "type": letter, "n": len(members), "n_total": len(self.letters),
            "jaccard": firm.jaccard[ascii_uppercase.index(letter)] if firm else None, "pro": pro, "con": con,
            "pole": pole, "n_pole": n_pole, "members": [str(who) for who in members],
        }  # fmt: skip


def told_of(distinction: Distinction | None) -> d.Row:
    """What sets something apart in a statement, missing where it does not."""
    return {name: getattr(distinction, name, None) for name in ("direction", "level", "p")}


def grouped(of: pd.Series[str], groups: pd.Series[str], name: str) -> pd.DataFrame:
    """How many agents of each group are of each kind in `of`, zeros too."""
    if of.empty:
        return pd.DataFrame()
    wide_counts = pd.crosstab(groups.reindex(of.index), of).rename_axis("group").reset_index()
    counts = wide_counts.melt("group", var_name=name, value_name="n")
    total = counts["group"].map(groups.value_counts())
    counts = counts.assign(n_group=total, share=counts["n"] / total)
    return counts.sort_values([name, "n"], ascending=[True, False], kind="stable")


# --- shared views -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Views:
    """Q factors, numbered from 1. A pole is a factor, or one side of a bipolar one: "2", or "1+" and "1-", which sort
    alike with opposite signs. refused: what was set and does not fit these sorts; the automatic solution stands
    then."""

    sorts: Sorts
    settings: DiversitySettings
    q: QAnalysis
    refused: tuple[d.Row, ...]
    changes: FlagChanges

    @classmethod
    def of(cls, sorts: Sorts, settings: DiversitySettings) -> Views:
        """Flags by hand are checked against the automatic ones before any is changed."""
        x, grid, n_factors = sorts.sort.to_numpy(), sorts.grid, settings.n_factors
        refused: list[d.Row] = []
        try:
            q = q_analysis(x, grid, n_factors=n_factors, seed=SEED)
        except ValueError:
            if n_factors is None:
                raise
            refused, n_factors = [{"why": "fewer", "who": None, "view": n_factors, "n": len(x)}], None
            q = q_analysis(x, grid, seed=SEED)
        changes = settings.flags
        problems = list(_problems(q, changes, sorts.sort.index))
        if problems or changes == FlagChanges():
            return cls(sorts, settings, q, (*refused, *problems), FlagChanges())
        edits = FlagEdits(*(_pairs(change, sorts.sort.index) for change in (changes.add, changes.remove)))
        edited = q_analysis(x, grid, n_factors=n_factors, flags=edits, seed=SEED)
        return cls(sorts, settings, edited, tuple(refused), changes)

    @cached_property
    def bipolar(self) -> dict[int, bool]:
        return {factor.number: factor.bipolar for factor in self.q.factors}

    @cached_property
    def poles(self) -> pd.Series[str]:
        """By participant the pole that its sort defines; those who define none, or several, are not in it."""
        groups = pd.Series(self.q.groups(), index=self.sorts.sort.index)
        known = groups[groups.floordiv(2).isin(list(self.bipolar))]
        return known.map(lambda group: self._pole(group // 2, bool(group % 2))).astype(object)

    def _pole(self, number: int, negative: bool) -> str:
        return f"{number + 1}{'-' if negative else '+' if self.bipolar[number] else ''}"

    @property
    def asked(self) -> bool:
        return self.settings.n_factors is not None and self.settings.n_factors == self.q.loadings.shape[1]

    def counted(self) -> d.Row:
        q, used = self.q, self.q.loadings.shape[1]
        shared = "views" if len(q.factors) > 1 else "one_view"
        outcome = {"chance": "no_views", "factors": "asked" if self.asked else shared}.get(q.reason, q.reason)
        explained = sum(factor.explained for factor in q.factors) if q.factors else None
        p = q.number.p if q.number is not None else np.empty(0)
        return {
            "what": "views", "found": len(q.factors), "outcome": outcome, "n": len(q.rows), "n_total": q.n_total,
            "explained": explained, "largest": int(self.poles.value_counts().max()) if len(self.poles) else None,
            "beyond": explained, "p": float(p[: max(1, used)].max()) if len(p) and not self.asked else None,
        }  # fmt: skip

    def facts(self, clusters: np.ndarray[Any, np.dtype[np.int64]]) -> d.Row:
        q, changes = self.q, self.changes
        counted = {name: getattr(q.number, name, None) for name in ("draws", "kaiser", "two_loaders")}
        return {
            "n_sorts": len(q.rows), "n_views": len(q.factors), "n_defining": len(self.poles),
            "n_dropped": len(q.dropped), "asked": self.settings.n_factors,
            "threshold": threshold(len(self._items)), "alpha": ALPHA,
            "parallel_views": getattr(q.number, "parallel", None), **counted,
            "flags_added": sum(map(len, changes.add.values())), "flags_removed": sum(map(len, changes.remove.values())),
            "ari_types": agreement(q.groups(), clusters).ari,
        }  # fmt: skip

    @cached_property
    def _items(self) -> list[str]:
        return [str(item) for item in self.sorts.sort.columns]

    @cached_property
    def _names(self) -> list[str]:
        return [str(factor.number + 1) for factor in self.q.factors]

    def scores(self) -> pd.DataFrame:
        rows = [
            {"view": view, "item": item, "z": factor.z[s], "place": int(factor.array[s]), **told_of(distinct.get(s))}
            for view, factor in zip(self._names, self.q.factors, strict=True)
            for distinct in [{d.statement: d for d in factor.distinguishing}]
            for s, item in enumerate(self._items)
        ]
        frame = pd.DataFrame(rows, columns=["view", "item", "z", "place", "direction", "level", "p"])
        return frame.astype({"level": float, "p": float})

    def tables(self) -> dict[str, Any]:
        q = self.q
        pairs = list(permutations(range(len(self._names)), 2))
        correlations = [
            {"first": self._names[i], "second": self._names[j], "r": q.correlations[i, j], "sed": q.sed[i, j]}
            for i, j in pairs
        ]  # fmt: skip
        return {
            "parallel": self._parallel(), "views": map(self._view, q.factors), "scores": self.scores(),
            "poles": self._poles(), "holders": grouped(self.poles, self.sorts.groups, "pole"),
            "not_done": [{"place": i, **refusal} for i, refusal in enumerate(self.refused, start=1)],
            "loadings": self._loadings(), "correlations": correlations,
        }  # fmt: skip

    def _parallel(self) -> pd.DataFrame:
        number = self.q.number
        if number is None:
            return pd.DataFrame()
        spectrum = {name: getattr(number, name) for name in ("eigenvalues", "chance_mean", "chance_95", "p")}
        frame = pd.DataFrame(spectrum).rename(columns={"eigenvalues": "eigenvalue"}).head(EIGENVALUES)
        return frame.assign(rank=frame.index + 1, above=frame.index < number.parallel)

    def _loadings(self) -> pd.DataFrame:
        q = self.q
        n, k = q.loadings.shape
        who = self.sorts.sort.index[list(q.rows)] if k else self.sorts.sort.index[:0]
        views = [str(f + 1) for f in range(k)] * (n if k else 0)
        return pd.DataFrame(
            {"participant": np.repeat(who, k), "view": views, "loading": q.loadings.ravel(), "defines": q.flags.ravel()}
        )

    def _ordered(self, z: np.ndarray[Any, Any]) -> list[int]:
        return sorted(range(len(z)), key=lambda s: (-z[s], self._items[s]))

    def _view(self, factor: Any) -> d.Row:
        ordered = [self._items[s] for s in self._ordered(factor.z)]
        return {
            "view": str(factor.number + 1), "n_held": len(factor.flagged) - len(factor.negative),
            "n_reversed": len(factor.negative), "eigenvalue": factor.eigenvalue, "explained": factor.explained,
            "reliability": factor.reliability, "se": factor.se, "n_capped": factor.capped,
            "n_apart": len(factor.distinguishing), "top": ordered[:EXTREMES], "bottom": ordered[::-1][:EXTREMES],
        }  # fmt: skip

    def _poles(self) -> Iterator[d.Row]:
        """Who defines each pole, and what it puts where, seen from its side."""
        both = [(f, {1: len(f.flagged) - len(f.negative), -1: len(f.negative)}) for f in self.q.factors]
        sides = [(factor, sign, n) for factor, counts in both for sign, n in counts.items() if n]
        most = max((n for *_, n in sides), default=0)
        tied = sum(n == most for *_, n in sides)
        for factor, sign, n in sides:
            top, *_, bottom = self._ordered(factor.z)[::sign]
            opposed = len(factor.flagged) - n
            largest = "largest_opposed" if opposed else "only" if len(self.q.factors) == 1 else "largest"
            yield {
                "pole": self._pole(factor.number, sign < 0), "view": str(factor.number + 1), "holders": n,
                "opposed": opposed, "n": len(self.q.rows), "n_total": self.q.n_total,
                "standing": "smaller" if n < most else "tied" if tied > 1 else largest,
                "tied": tied if n == most else None, "top": self._items[top], "bottom": self._items[bottom],
                "top_place": sign * int(factor.array[top]), "bottom_place": sign * int(factor.array[bottom]),
            }  # fmt: skip


def _pairs(changes: Mapping[str, Sequence[int]], people: pd.Index[Any]) -> list[tuple[int, int]]:
    rows = {str(who): row for row, who in enumerate(people)}
    return [(rows[who], factor - 1) for who, factors in changes.items() for factor in factors]


def _problems(q: QAnalysis, changes: FlagChanges, people: pd.Index[Any]) -> Iterator[d.Row]:
    """Flags by hand that do not fit: why, who, which view."""
    k, places = q.loadings.shape[1], {str(people[row]): place for place, row in enumerate(q.rows)}
    if not k and changes != FlagChanges():
        yield {"why": "no_factors", "who": None, "view": None, "n": len(places)}
        return
    for name, flagged in (("add", False), ("remove", True)):
        for who, factors in getattr(changes, name).items():
            about: d.Row = {"who": f"{name}.{who}", "view": None, "n": len(places)}
            if who not in places:
                yield {"why": "no_sort", **about}
                continue
            for factor in factors:
                if factor > k:
                    yield {"why": "no_factor", **about, "view": factor, "n": k}
                elif bool(q.flags[places[who], factor - 1]) != flagged:
                    yield {"why": "not_flagged" if flagged else "flagged", **about, "view": factor}


# --- agents -----------------------------------------------------------------------------------------------------------


def _agents(sorts: Sorts, clusters: Clusters, views: Views, placed: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    sure = clusters.sure
    columns = {
        "stakeholder_type": sorts.kinds, "group": sorts.groups, "archetype": clusters.letters, "q_factor": views.poles,
        "probability": None if sure is None else pd.Series(
            sure.to_numpy()[np.arange(len(sure)), clusters.typology.labels], index=sure.index),
        "silhouette": clusters.fits(), "left_out": sorts.reason.where(sorts.reason.ne("")), **placed, **scores,
    }  # fmt: skip
    return pd.DataFrame(columns, index=sorts.reason.index).rename_axis("participant").reset_index()


def alike(analysis: d.Analysis, main: d.Analysis) -> d.Analysis:
    """Tables whose types bear the names of the main arm's that they share most members with.

    Each is matched at most once (Kuhn 1955); a type without a match keeps a name of its own.
    """
    theirs, mains = (arm.tables["agents"].set_index("participant")["archetype"].dropna() for arm in (analysis, main))
    if theirs.empty or mains.empty:
        return analysis
    both = pd.crosstab(theirs, mains.reindex(theirs.index))
    rows, columns = scipy.optimize.linear_sum_assignment(-both.to_numpy())
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    names = {str(name): f"{name}′" for name in analysis.tables["types"]["type"]}
    names |= {str(both.index[r]): str(both.columns[c]) for r, c in pairs if both.iat[r, c]}
    tables = dict(analysis.tables)
    for name in ("types", "type_items", "type_groups", "agents"):
        column = "archetype" if name == "agents" else "type"
        renamed = [names.get(letter, letter) for letter in tables[name][column]]
        tables[name] = tables[name].assign(**{column: pd.Series(renamed, tables[name].index, dtype=object)})
    return replace(analysis, tables=tables)


# --- The sorts for other Q software: PQMethod's .dat and a plain table of statements × sorts -------------------------

MOST_SORTS = 999  # PQMethod keeps their number in three characters
TITLE = 60


def complete_sorts(frame: pd.DataFrame, grid: Mapping[int, int], statements: list[str]) -> pd.DataFrame:
    """Participants × statements: the complete legal sorts among rows of one arm, in their order."""
    sort = wide(frame, statements)
    return sort[legal(sort.to_numpy(), grid)].astype(int)


def sorts_csv(sort: pd.DataFrame) -> str:
    """Statements in lines, sorts in columns, named by participant: what KADE and R's qmethod read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["statement", *sort.index])
    writer.writerows([item, *column] for item, column in zip(sort.columns, sort.T.to_numpy().tolist(), strict=True))
    return text.getvalue()


def pqmethod_dat(sort: pd.DataFrame, grid: Mapping[int, int], title: str) -> str | None:
    """PQMethod's fixed columns, or None for more than 999 sorts.

    First line: three characters each for 0, the number of sorts, the number of statements, and a title. Second: lowest
    and highest column and how many statements each column takes. Then a line a sort: ten characters of name (its
    number, in the order of `sorts_csv`), two characters a statement. A column that no statement may take counts 0.
    """
    if len(sort) > MOST_SORTS:
        return None
    low, high = int(places(grid)[0]), int(places(grid)[-1])
    counts = [grid.get(column, 0) for column in range(low, high + 1)]
    plain = " ".join(title.encode("ascii", "replace").decode("ascii").split())[:TITLE]
    lines = [f"{0:3d}{len(sort):3d}{sort.shape[1]:3d} {plain}", "".join(f"{n:3d}" for n in (low, high, *counts))]
    rows = sort.to_numpy().tolist()
    lines += [f"{f'sort{i:03d}':<10}" + "".join(f"{place:2d}" for place in row) for i, row in enumerate(rows, 1)]
    return "\n".join(lines) + "\n"


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


OF_SORTS = (coherence, order_smoothness)
"""Checks that a grid leaves open."""


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Structure; coherence and order of the sorts; the ratings beside them as anywhere."""
    rows = checkable(rows)
    n, beyond = (analysis.count(key) for key in ("n", "n_components"))
    yield "", two_components(analysis.figure("first_two"), n, beyond)
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        sorts, ratings = of_phase[forced(of_phase)], of_phase[~forced(of_phase)]
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in OF_SORTS))
        of_sorts = [check.__name__ for check in OF_SORTS] if len(sorts) else ()
        yield from each(phase, (check for check in scales(ratings, humans) if check.name not in of_sorts))
    yield from gaps(rows)


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """A statement belongs to the sort and has the grid's columns; an axis has its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        columns = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=columns[0], scale_max=columns[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


TYPOLOGY = (
    "arms", "partial", "participation", "left_out", "grid", "items", "types_tried", "type_items",
    "type_groups", "agents",
)  # fmt: skip
Q = (
    "arms", "items", "parallel", "views", "scores", "poles", "holders", "correlations",
    "not_done",
)  # fmt: skip
PCA = ("arms", "components", "component_loadings")
"""What is in typology.json, qmethod.json and pca.json beside the facts."""


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """The rows, the typology with everything it rests on, the components, and the Q analysis."""

    def tables(names: Iterable[str], **more: Any) -> d.Row:
        return {name: results[name] for name in (*PRESENTATION.facts, *names)} | more

    agents = {row["participant"]: row for row in results.rows("agents")}
    coordinates = [
        {name: row[name] for name in ("participant", "pc1", "pc2", "pc3")}
        for row in agents.values()
        if row["pc1"] is not None
    ]
    return {
        "responses.jsonl": lines(frame),
        **_for_other_software(results, frame),
        "typology.json": tables(TYPOLOGY, archetypes=results["types"]),
        "pca.json": tables(PCA, scores=coordinates),
        "qmethod.json": tables(Q, members=list(_members(results.rows("loadings"), agents))),
    }


def _members(loadings: Iterable[Mapping[str, Any]], agents: Mapping[str, Mapping[str, Any]]) -> Iterator[d.Row]:
    """A row a sort: loadings in the order of the views, the views that it defines, and what the agent is beside."""
    for who, group in groupby(loadings, key=itemgetter("participant")):
        rows, agent = list(group), agents[who]
        yield {
            "participant": who, "factor": agent["q_factor"], "flagged": [row["view"] for row in rows if row["defines"]],
            "loadings": [row["loading"] for row in rows], "archetype": agent["archetype"],
            "membership": agent["probability"],
        }  # fmt: skip


def _for_other_software(results: d.WholeResults, frame: pd.DataFrame) -> dict[str, str]:
    """The sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(row["place"]): int(row["n"]) for row in results.rows("grid")}
    main = frame[frame["arm"].isin(cast("list[str]", results["arms"]))] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, [str(row["item"]) for row in results.rows("items") if row["part"] == "sort"])
    if sorts.empty:
        return {}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return {"sorts.csv": sorts_csv(sorts), **({"pqmethod.dat": dat} if dat else {})}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    alike=alike,
)
