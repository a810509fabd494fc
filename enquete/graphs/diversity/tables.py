"""What the sorts' results are: statements, shared views and types, agents among them, and what is read of them where.

A shared view is a Q factor: agents hold it, or its reverse. A type is a cluster: an agent belongs to one. Views are
counted by parallel analysis, types by two tests and resampling; what distinguishes views is told only where there are
views.
"""

from __future__ import annotations

from enquete.analysis.sampling import MOST_COMPARED
from enquete.locale import N_
from enquete.reports.declarations import (
    Chart,
    Finding,
    Presentation,
    Sample,
    Spread,
    Table,
    TextBlock,
    View,
    adjusted_p,
    code,
    flag,
    group_finding,
    group_tables,
    integer,
    interval,
    names,
    number,
    of,
    p_value,
    reference,
    several,
    share,
    text,
)

PARTS = {"sort": N_("sort"), "axes": N_("axes")}
COUNTED = {"views": N_("shared views"), "types": N_("types")}
OUTCOMES = {
    "views": N_("shared views"), "one_view": N_("a single shared view"), "asked": N_("number set by hand"),
    "no_views": N_("no shared view"), "undefined": N_("no sort defines a view"), "types": N_("types"),
    "continuum": N_("a continuum"), "unstable": N_("not stable"), "chance": N_("no clearer than chance"),
    "alike": N_("too few different answers"), "few": N_("too few agents"),
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
EXTRACTIONS = {"pca": N_("principal components"), "centroid": N_("centroid")}
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

ITEM = reference("item", N_("Statement or axis"), to="items")
VIEW, TYPE = text("view", N_("Shared view")), text("type", N_("Type"))
AGENT, GROUP = reference("participant", N_("agent"), to="agent"), reference("stakeholder_type", N_("group"), to="group")
N, TOTAL, N_OF = integer("n", "n"), integer("n_total", "N"), of("n", "n_total", "n / N")
Z, PLACE = number("z", "z"), integer("place", N_("place"))
MEAN, SD = number("mean", N_("mean")), number("sd", "SD")
ENDS = (
    number("low", N_("mean, lower bound"), means=N_("95%, for all statements or all axes at once")),
    number("high", N_("mean, upper bound")),
)
LEVEL = number(
    "level",
    N_("level (SED)"),
    means=N_("the level at which the difference exceeds its standard error; that knows the number of sorts alone"),
)

STRUCTURE = Table(
    name="structure", title=N_("Shared views and types: how many"), key=("what",),
    columns=(
        code("what", N_("counted"), levels=COUNTED), integer("found", N_("number"), replicates=True),
        code("outcome", N_("outcome"), levels=OUTCOMES, replicates=True), N, TOTAL, N_OF,
        share("explained", N_("variance explained")), integer("largest", N_("agents of the largest")),
        share("beyond", N_("size"), means=N_("variance explained by the views; agents outside the largest type")),
        p_value("p", means=N_("of the least certain view, or of the weaker of the two tests of types; beyond all "
                               "draws by the fitted tail of the draws")),
        adjusted_p(),
    ),
    views=(View(at="appendix", columns=names("what found outcome explained largest p p_adjusted")),
        View(at="digest")),
)  # fmt: skip

ITEMS = Table(
    name="items", title=N_("Statements and axes"), key=("item",), label="label",
    columns=(
        text("item", N_("item")), code("part", N_("part"), levels=PARTS), text("label", N_("Statement or axis")),
        text("wording", N_("wording")), text("low_end", N_("at the low end")), text("high_end", N_("at the high end")),
        N, TOTAL, N_OF, MEAN, SD, *ENDS, interval("low", "high", "95%"), integer("n_above", N_("above the middle")),
        integer("n_below", N_("below the middle")),
        number("apart", N_("spread between views"), means=N_("variance of z between the shared views")),
        code("verdict", N_("verdict"), levels=VERDICTS, replicates=True,
            means=N_("sets views apart: distinguishes a view at .05 by SED and by permutation; consensus: no two "
                     "views differ at .05 by SED")),
        integer("common_rank", N_("rank as common ground"),
            means=N_("by |mean| / SD, of statements on which no two views differ and whose interval leaves out 0")),
        flag("both_sides", N_("both sides"), means=N_("at least five agents on either side of the middle")),
        integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")),
    ),
    views=(
        View(at="appendix", heading=N_("Statements"), where="part == 'sort'", order=("-mean",),
             columns=names("wording mean low_to_high sd n_above n_below verdict")),
        View(at="appendix", heading=N_("Axes"), where="part == 'axes'",
            columns=names("wording low_end high_end mean low_to_high sd")),
        View(at="digest", where="part == 'sort'", columns=names("label mean sd verdict"), order=("-mean",), top=6),
    ),
    note=N_("Intervals hold for all statements, or all axes, at once. Consensus: no two views differ at .05 by SED."),
)  # fmt: skip

DISTRIBUTION = Table(
    name="distribution", title=N_("Distribution of places and ratings"), key=("item", "value"),
    columns=(ITEM, integer("value", N_("place or point")), integer("n", N_("agents")), share("share", N_("share"))),
)  # fmt: skip

PARTICIPATION = Table(
    name="participation", title=N_("Participation"), key=("part",),
    columns=(
        code("part", N_("part"), levels=PARTS), integer("n_responded", N_("answers")),
        integer("n_planned", N_("planned answers")), of("n_responded", "n_planned", N_("answers / planned")),
        integer("n_complete", N_("complete")), TOTAL, of("n_complete", "n_total", N_("complete / agents")),
    ),
    views=(View(at="appendix", columns=names("part n_responded_of_n_planned n_complete_of_n_total")),),
)  # fmt: skip

LEFT_OUT = Table(
    name="left_out", title=N_("Agents left out"), key=("participant",),
    columns=(AGENT, code("reason", N_("why"), levels=REASONS)), views=(View(at="appendix", top=20),),
    note=N_("Types need a complete sort that fits the grid, and all axes; views need the sort alone."),
)  # fmt: skip

GRID = Table(
    name="grid", title=N_("The grid"), key=("place",), columns=(PLACE, integer("n", N_("statements"))),
    views=(View(at="appendix"),),
    note=N_("{n_moved} of {placements} placements ({share_moved}) were moved to fit the grid, in {agents_moved} of "
            "{agents_complete} sorts; {n_again} were changed by agents when asked again ({agents_again} agents)."),
)  # fmt: skip

PARALLEL = Table(
    name="parallel", title=N_("Parallel analysis"), key=("rank",),
    columns=(
        integer("rank", N_("No.")), number("eigenvalue", N_("eigenvalue")), number("chance_mean", N_("chance (mean)")),
        number("chance_95", N_("chance (95%)")), p_value("p"), flag("above", N_("above chance")),
    ),
    views=(View(at="appendix", where="rank <= 6", columns=names("rank eigenvalue chance_95 p above")),),
    note=N_("Each sort dealt at random {draws} times; a view needs p ≤ {alpha}. Eigenvalues above 1: {kaiser}; at "
            "least two significant loadings: {two_loaders}."),
)  # fmt: skip

VIEWS = Table(
    name="views", title=N_("Shared views"), key=("view",), label="view",
    columns=(
        VIEW, integer("n_held", N_("held by")), integer("n_reversed", N_("reversed by")),
        number("eigenvalue", N_("eigenvalue")), share("explained", N_("variance")),
        number("reliability", N_("reliability"), digits=3), number("se", "SE", digits=3),
        integer("n_capped", N_("loadings capped"), means=N_("defining loadings beyond .999")),
        integer("n_apart", N_("distinguishing statements")), several("top", N_("at the top"), to="items"),
        several("bottom", N_("at the bottom"), to="items"),
    ),
    views=(
        View(at="section", columns=names("view n_held n_reversed explained top bottom"),
            empty=N_("No shared views were found.")),
        View(at="appendix", columns=names("view n_held n_reversed eigenvalue explained reliability se n_apart"),
             empty=N_("No shared views were found.")),
        View(at="digest", columns=names("view n_held n_reversed explained top bottom")),
    ),
    note=N_("Factors of the correlations between sorts, by {extraction}, rotated by varimax. A sort defines a view "
            "from a loading of {threshold} on whose square "
            "exceeds that of the others together. Reliability knows only the number of sorts."),
)  # fmt: skip

SCORES = Table(
    name="scores", title=N_("Statements on the shared views"), key=("view", "item"),
    columns=(
        reference("view", N_("Shared view"), to="views"), ITEM, Z, PLACE,
        code("direction", N_("against the others"), levels=DIRECTIONS,
            means=N_("of statements that distinguish the view at .05 by SED")),
        LEVEL, p_value("p", means=N_("agents dealt to two views by lot; the largest of the comparisons")),
    ),
    views=(
        View(at="appendix", spread=Spread(column="view", rows=("item",), cells=("z",))),
        View(at="appendix", heading=N_("Distinguishing statements"), where="level <= .05 and abs(z) >= 1", by=("view",),
             most=6, order=("view", "-z"), columns=names("item z direction level p")),
    ),
)  # fmt: skip

DIFFERENCES = Table(
    name="differences", title=N_("Differences between views"), key=("first", "second", "item"),
    columns=(
        reference("first", N_("view"), to="views"), reference("second", N_("other view"), to="views"), ITEM,
        number("difference", N_("difference (z)")), LEVEL, p_value("p"), number("chance_95", N_("chance (95%)")),
    ),
)  # fmt: skip

CORRELATIONS = Table(
    name="correlations", title=N_("Correlations of the views"), key=("first", "second"),
    columns=(
        reference("first", N_("view"), to="views"), reference("second", N_("other view"), to="views"), number("r", "r"),
        number("sed", "SED", means=N_("standard error of a difference of z")),
    ),
    views=(View(at="appendix", where="first < second"),),
)  # fmt: skip

POLES = Table(
    name="poles", title=N_("Who holds which view"), key=("pole",), label="pole",
    columns=(
        text("pole", N_("view"), means=N_("2+ and 2-: those who hold view 2, and those who hold its reverse")),
        reference("view", N_("Shared view"), to="views"), integer("holders", N_("agents")),
        integer("opposed", N_("agents at the other pole")), N, TOTAL, code("standing", N_("size"), levels=STANDINGS),
        integer("tied", N_("views of this size")), reference("top", N_("top"), to="items"),
        reference("bottom", N_("bottom"), to="items"), integer("top_place", N_("place of the top")),
        integer("bottom_place", N_("place of the bottom")),
    ),
)  # fmt: skip

HOLDERS = Table(
    name="holders", title=N_("Shared views by group"), key=("pole", "stakeholder_type"),
    columns=(reference("pole", N_("view"), to="poles"), GROUP, integer("n", N_("agents")),
        integer("n_group", N_("in the group")), of("n", "n_group", N_("n / group")),
             share("share", N_("share of the group"))),
    views=(View(at="appendix", spread=Spread(column="pole", rows=("stakeholder_type",), cells=("n_of_n_group",))),),
)  # fmt: skip

OTHER = Table(
    name="other_extraction", title=N_("The other extraction as a check"), key=("view",),
    columns=(reference("view", N_("Shared view"), to="views"), text("other", N_("most similar view")),
        number("r", "r", means=N_("correlation of z"))),
    views=(View(at="appendix"),),
    note=N_("By {other_extraction}: {other_views} views; adjusted Rand index with the views here {other_ari} over "
            "{other_n} agents."),
)  # fmt: skip

NOT_DONE = Table(
    name="not_done", title=N_("Settings that did not fit"), key=("place",),
    columns=(integer("place", N_("No.")), code("why", N_("why"), levels=dict.fromkeys(REFUSED, N_("refused"))),
             text("who", N_("participant")), integer("view", N_("view")), N),
    views=(View(at="appendix", word="why", says=REFUSED), View(at="flag", word="why", says=REFUSED)),
)  # fmt: skip

TRIED = Table(
    name="types_tried", title=N_("Numbers of types tried"), key=("k",),
    columns=(
        integer("k", N_("types")), number("silhouette", N_("mean silhouette"), digits=3),
        number("expected", N_("in a continuum"), digits=3), number("excess", N_("excess"), digits=3),
        number("gap", N_("gap"), digits=3), number("gap_se", "s(gap)", digits=3),
    ),
    views=(View(at="appendix"),),
    note=N_("Against {chance_draws} data sets with every relation random: p {p_chance} (best silhouette there "
            "{null_best} at most); against {continuum_draws} with the same relations but no types: p {p_continuum}, "
            "largest excess {excess} (required: p ≤ {alpha}, excess ≥ {least_excess}). Resampled: adjusted Rand "
            "index {ari}, smallest Jaccard index {least_jaccard} (required: ≥ {required_jaccard}). The gap statistic "
            "says {gap_k}."),
)  # fmt: skip

TYPES = Table(
    name="types", title=N_("Types"), key=("type",), label="type",
    columns=(
        TYPE, N, TOTAL, N_OF,
        number("jaccard", N_("stability (Jaccard)"), means=N_("how much of the type is found again in resampled "
                                                              "agents; stable from .75")),
        reference("pro", N_("is for"), to="items"), reference("con", N_("is against"), to="items"),
        reference("pole", N_("shared view"), to="poles"), integer("n_pole", N_("define that view")),
        several("members", N_("members"), to="agent"),
    ),
    views=(
        View(at="section", columns=names("type n_of_n_total jaccard pro con pole"),
            empty=N_("No types of agents were found.")),
        View(at="digest", columns=names("type n jaccard pro con")),
        View(at="memory", where="n >= 5", says=N_("type {type}, {n} of {n_total} agents. Unlike the others: for "
                                                  "“{pro}”, against “{con}”")),
    ),
    note=N_("Stable from a Jaccard index of .75. Types of fewer than five agents are not described."),
)  # fmt: skip

TYPE_ITEMS = Table(
    name="type_items", title=N_("What sets types apart"), key=("type", "item"),
    columns=(
        reference("type", N_("Type"), to="types"), ITEM, code("part", N_("part"), levels=PARTS), PLACE, MEAN,
        number("mean_rest", N_("mean of the others")),
        number("difference", N_("difference (z)"),
            means=N_("from all other agents, in standard deviations of the grid")),
        code("direction", N_("against the other types"), levels=DIRECTIONS), LEVEL, p_value("p"),
    ),
    views=(
        View(at="appendix", where="level <= .05 and abs(difference) >= .5", by=("type",), most=4, order=("type",),
            columns=names("item place mean mean_rest difference")),
        View(at="appendix", heading=N_("Axes by type"), where="part == 'axes'",
            spread=Spread(column="type", rows=("item",), cells=("mean",))),
    ),
    note=N_("A description: types were formed of the same answers, so a test would be circular."),
)  # fmt: skip

TYPE_GROUPS = Table(
    name="type_groups", title=N_("Types by group"), key=("type", "stakeholder_type"),
    columns=(reference("type", N_("Type"), to="types"), GROUP, integer("n", N_("agents")),
        integer("n_group", N_("in the group")), of("n", "n_group", N_("n / group")),
             share("share", N_("share of the group"))),
    views=(View(at="appendix", spread=Spread(column="type", rows=("stakeholder_type",), cells=("n_of_n_group",))),),
)  # fmt: skip

COMPONENTS = Table(
    name="components", title=N_("Principal components"), key=("component",), label="component",
    columns=(
        integer("component", N_("Component")), share("explained", N_("variance"), digits=1),
        share("by_chance", N_("chance (95%)"), digits=1), flag("above_chance", N_("above chance")),
        several("heaviest", N_("highest loadings"), to="items"),
    ),
    views=(View(at="appendix", where="component <= 4"),),
    note=N_("{n_components} components explain more than chance; the first two {first_two} of the variance. Sort and "
            "axes count alike."),
)  # fmt: skip

COMPONENT_LOADINGS = Table(
    name="component_loadings", title=N_("Loadings on the components"), key=("component", "item"),
    columns=(integer("component", N_("Component")), ITEM, number("loading", N_("loading"))),
)  # fmt: skip

AGENTS = Table(
    name="agents", title=N_("The agents' views and types"), key=("participant",), one_agent=True,
    columns=(
        AGENT, GROUP, reference("archetype", N_("type of view"), to="types", agents=True),
        reference("q_factor", N_("shared view"), to="poles", agents=True,
            means=N_("the view that the agent's sort defines; none where it defines none or several")),
        number("probability", N_("probability of the type")), number("silhouette", N_("silhouette")),
        code("left_out", N_("left out"), levels=REASONS), integer("moved", N_("moved")),
        integer("again", N_("changed themselves")), number("pc1", N_("first component")),
        number("pc2", N_("second component")), number("pc3", N_("third component")),
    ),
    views=(
        View(at="appendix", heading=N_("Placements that were moved or changed"), where="moved > 0 or again > 0",
            order=("-moved", "-again"), top=20,
             columns=names("participant stakeholder_type moved again")),
        View(at="appendix", heading=N_("Agents whose type is not sure"), where="probability < @sure",
            order=("probability",), top=20,
             columns=names("participant stakeholder_type archetype probability")),
    ),
)  # fmt: skip

LOADINGS = Table(
    name="loadings", title=N_("Loadings on the shared views"), key=("participant", "view"), one_agent=True,
    columns=(AGENT, reference("view", N_("Shared view"), to="views"), number("loading", N_("loading")),
        flag("defines", N_("defines the view"))),
)  # fmt: skip

MEMBERSHIP = Table(
    name="membership", title=N_("Membership"), key=("participant", "type"), one_agent=True,
    columns=(AGENT, reference("type", N_("Type"), to="types"), number("probability", N_("probability"))),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(
    reference("asked", N_("Statement or axis"), to="items"), N_("Statements and axes by group"), scales=True
)

FACTS = (
    *map(integer, names(
        "n_statements n_axes grid_low grid_high n n_total n_sorts n_views n_types n_defining n_dropped asked draws "
        "parallel_views kaiser two_loaders flags_added flags_removed other_views other_n n_both chance_draws "
        "continuum_draws gap_k n_sure n_components placements n_moved agents_moved n_again agents_again "
        "agents_complete")),
    *map(number, names("threshold alpha least_excess ari least_jaccard required_jaccard other_ari ari_types")),
    *(number(name, digits=3) for name in names("null_best excess")), *map(p_value, names("p_chance p_continuum")),
    *map(flag, names("gap_differs at_edge alike")), *map(share, names("sure first_two sort_weight axes_weight")),
    share("share_moved", digits=1),
    *(code(name, "", levels=EXTRACTIONS) for name in names("extraction other_extraction")),
)  # fmt: skip

TEXTS = (
    TextBlock(at="section", where="n_axes > 0",
         says=N_("Every agent sorted {n_statements} statements into a fixed grid from {grid_low} to {grid_high} and "
                 "rated itself on {n_axes} axes.")),
    TextBlock(at="section", where="n_axes == 0",
        says=N_("Every agent sorted {n_statements} statements into a fixed grid from {grid_low} to {grid_high}.")),
    TextBlock(at="section", says=N_("A shared view is what sorts have in common: an agent may hold it or its reverse. "
                               "A type is a group of agents who sort and rate alike.")),
    TextBlock(at="appendix", where="gap_differs == True", after="types_tried",
         says=N_("**Caution:** the gap statistic arrives at another number of types, {gap_k} (1: none).")),
    TextBlock(at="appendix", where="at_edge == True", after="types_tried",
        says=N_("**Caution:** {n_types} is the largest number of types that was tried; there may be more.")),
    TextBlock(at="appendix", where="n_both > 0", after="types",
        says=N_("Views and types: adjusted Rand index {ari_types} over {n_both} agents.")),
    TextBlock(at="appendix", where="n_sure >= 0", after="types",
        says=N_("{n_sure} of {n} agents belong to one type with a probability of at least {sure}.")),
    TextBlock(at="appendix", where="flags_added > 0 or flags_removed > 0", after="views",
        says=N_("Changed by hand: {flags_added} flags added, {flags_removed} removed.")),
    TextBlock(at="appendix", where="n_dropped > 0", after="views", says=N_("Views without a result, because no sort "
                                                                      "defines them or their sorts cancel one "
                                                                      "another: {n_dropped}.")),
    TextBlock(at="flag", where="share_moved > .05",
        says=N_("Diversity of views: {n_moved} of {placements} placements had "
                                                       "to be moved for the sort to fit the grid.")),
    TextBlock(at="flag", where="alike == True", says=N_("Diversity of views: all agents answered alike.")),
)  # fmt: skip

FINDINGS = (
    Finding(
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
    Finding(
        name="views", table="structure", kind="difference", word="outcome", p="p", test="parallel analysis",
        size="beyond", estimate="explained", chart="scree", where="outcome == 'views' or outcome == 'one_view'",
        says={
            "views": N_("The sorts share {found} views, which explain {explained} of their variance; random sorts "
                        "share none (adjusted {p}, parallel analysis; n = {n}/{n_total})."),
            "one_view": N_("The sorts share a single view, which explains {explained} of their variance; random "
                           "sorts share none (adjusted {p}, parallel analysis; n = {n}/{n_total})."),
        },
        null=N_("Parallel analysis counts {found} shared views, but not beyond chance once all tests of this report "
                "are counted (adjusted {p}; n = {n}/{n_total})."),
    ),
    Finding(
        name="views_set", table="structure", where="outcome == 'asked'", size="beyond", estimate="explained",
        chart="scree",
        says=N_("{found} shared views, a number set by hand, explain {explained} of the variance of the sorts (n = "
                "{n}/{n_total})."),
    ),
    Finding(
        name="no_views", table="structure", kind="null", where="outcome == 'no_views' and n >= 5", chart="scree",
        says=N_("The agents share no view: their sorts have no more in common than random ones (parallel analysis; n "
                "= {n}/{n_total})."),
    ),
    Finding(
        name="divides", after="views", table="items", where="verdict == 'apart' and both_sides == True",
        order=("-apart",), size="sd / scale_max", items="item", estimate="mean", low="low", high="high",
        chart="statements", scale="scale_min, scale_max",
        says=N_("“{label}” sets the shared views apart most: {n_above} agents place it above the middle, {n_below} "
                "below (mean {mean}, SD {sd} on {scale_min} to {scale_max}; n = {n}/{n_total})."),
    ),
    Finding(
        name="common", after="views", table="items", where="common_rank == 1", size="abs(mean) / scale_max",
        items="item", estimate="mean", low="low", high="high", chart="statements", scale="scale_min, scale_max",
        says=N_("Common ground is “{label}”: mean place {mean} on {scale_min} to {scale_max} (95% interval for "
                "whichever statement is singled out {low} to {high}; n = {n}/{n_total})."),
    ),
    Finding(
        name="types", table="structure", kind="difference", word="outcome", p="p",
        test="silhouette against a continuum", size="beyond", estimate="found", where="outcome == 'types'",
        chart="plane",
        says={
            "types": N_("The agents fall into {found} types, the largest of {largest}, set apart more clearly than a "
                        "continuum of views would have it (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("{found} types were formed, but not beyond chance once all tests of this report are counted "
                "(adjusted {p}; n = {n}/{n_total})."),
    ),
    Finding(
        name="no_types", table="structure", kind="null", word="outcome", where="what == 'types' and n >= 5",
        chart="plane",
        says={
            "continuum": N_("There are no types: views differ by degree, a continuum; no division of the agents "
                            "stands out from one (n = {n}/{n_total})."),
            "unstable": N_("There are no types: the best division of the agents does not come back when they are "
                           "resampled (n = {n}/{n_total})."),
            "chance": N_("There are no types: the best division of the agents is no clearer than in random data (n = "
                         "{n}/{n_total})."),
        },
    ),
    group_finding(
        reference("asked", N_("Statement or axis"), to="items"),
        N_("Groups differ on “{asked}”: mean {mean_highest} in {highest}, {mean_lowest} in {lowest}, on {scale_min} "
           "to {scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No difference between groups was found on any of {tests} statements and axes; a difference of "
                "{detectable} would have been found four times in five (n = {n}/{n_total})."),
        size="effect", chart="",
    ),
)  # fmt: skip

DRAW = "enquete.graphs.diversity.charts:"
CHARTS = (
    Chart(name="plane", title=N_("Diversity: agents on the first two components, by type"), draw=f"{DRAW}plane",
        needs=("agents", "components"),
          over=View(at="section", where="pc1.notna()"),
          alt=N_("{n} agents on two components that explain {first_two} of the variance; types: {n_types}.")),
    Chart(name="statements", title=N_("Diversity: statements on each shared view"), draw=f"{DRAW}statements",
          needs=("items", "scores"), over=View(at="section", where="part == 'sort'", order=("-apart",)),
          alt=N_("z-scores of {n_statements} statements on {n_views} shared views; set apart most: “{label}”.")),
    Chart(name="places", title=N_("Diversity: mean place of every statement"), draw=f"{DRAW}places", needs=("items",),
        at="appendix",
          over=View(at="appendix", where="part == 'sort' and n > 0", order=("-mean",)),
              alt=N_("Mean places of {n_statements} statements; highest: “{label}”, {mean}.")),
    Chart(name="scree", title=N_("Diversity: eigenvalues of the sorts, and what chance gives"), draw=f"{DRAW}scree",
        needs=("parallel",),
          over=View(at="section", where="rank <= 12"), alt=N_("{parallel_views} eigenvalues lie above chance; the "
                                                              "first is {eigenvalue}.")),
    Chart(name="groups", title=N_("Diversity: types by group"), draw=f"{DRAW}groups", needs=("type_groups",),
          alt=N_("How many agents of each group belong to each of {n_types} types.")),
)  # fmt: skip

GLOSSARY = {
    N_("shared view"): N_("a Q factor: what several agents' sorts have in common; an agent can share it or hold its "
                          "reverse"),
    N_("type"): N_("a cluster: agents who sort and place themselves alike; an agent belongs to one"),
    N_("parallel analysis"): N_("counts the views whose eigenvalue exceeds that of randomly permuted sorts"),
    N_("distinguishing statement"): N_("one that a view places elsewhere than every other view does, beyond chance"),
    N_("stability (Jaccard)"): N_("how much of a type is found again when agents are drawn anew; 1 is all of it"),
}  # fmt: skip

PRESENTATION = Presentation(
    tables=(STRUCTURE, VIEWS, TYPES, TYPE_GROUPS, PARTICIPATION, LEFT_OUT, GRID, AGENTS, TRIED, TYPE_ITEMS, MEMBERSHIP,
        NOT_DONE, PARALLEL, POLES, HOLDERS, SCORES,
            DIFFERENCES, CORRELATIONS, OTHER, LOADINGS, COMPONENTS, COMPONENT_LOADINGS, ITEMS, DISTRIBUTION,
                GROUP_TESTS, GROUPS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
    samples=(Sample(what=N_("the number of types"), of="n", most=MOST_COMPARED),),
)  # fmt: skip
