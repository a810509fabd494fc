"""What is read of scenarios: ratings, which of them differ, wish beside expectation, groups, open answers.

Intervals of means hold for all scenarios of a dimension at once (Bonferroni), so that they may be told of the highest
of them.
"""

from __future__ import annotations

from enquete.locale import N_
from enquete.reports.declarations import (
    Chart,
    Finding,
    Presentation,
    ScaleValue,
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
)  # fmt: skip

QUADRANTS = {
    "wished_expected": N_("wished for and expected"), "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("unwanted and expected"), "feared_unexpected": N_("unwanted, not expected"),
}  # fmt: skip
VERDICTS = {**QUADRANTS, "unclear": N_("not clear of the midpoint")}
POINTS = {**QUADRANTS, "undecided": N_("on the midpoint")}
SIDES = {"above": N_("above the midpoint"), "below": N_("below the midpoint"), "unclear": VERDICTS["unclear"]}
SPREADS = {"consensus": N_("close together"), "spread": N_("spread"), "camps": N_("two camps")}
HIGHER = {"first": N_("the first is higher"), "second": N_("the second is higher"), "neither": N_("not told apart")}
TIES = {"single": N_("one each"), "tied": N_("shared")}

SCENARIO = reference("scenario", N_("Scenario"), to="scenarios")
DIMENSION = reference("dimension", N_("Dimension"), to="dimensions")
ITEM = text("item", N_("item"), means=N_("id of the item in all_responses.csv"))
ITEMS = several("items", N_("items"), means=N_("ids of the items in all_responses.csv"))
N, TOTAL, N_OF = integer("n", "n"), integer("n_total", "N"), of("n", "n_total", "n / N")
LOW, HIGH = number("mean_low", N_("mean, lower bound")), number("mean_high", N_("mean, upper bound"))
MEANS = (number("mean", N_("mean")), LOW, HIGH, interval("mean_low", "mean_high", "95%"))

SCENARIOS = Table(
    name="scenarios", title=N_("Wish and expectation"), key=("scenario",), label="label",
    columns=(
        text("scenario", N_("id")), text("label", N_("Scenario")), ITEMS, N, TOTAL, N_OF,
        number("mean", "{main_dimension}"), LOW, HIGH, interval("mean_low", "mean_high", "95%"),
        number("expectation", "{plausibility}"), number("expectation_low", N_("expectation, lower bound")),
        number("expectation_high", N_("expectation, upper bound")),
        interval("expectation_low", "expectation_high", "95%"),
        code("quadrant", N_("verdict"), VERDICTS, replicates=True,
            means=N_("where both intervals lie clear of the midpoint")),
        share("clear", N_("off the midpoint"), means=N_("share of half the scale, of the dimension that is less so")),
        integer("n_both", N_("rated both")),
        number("polarity", N_("polarity"), means=N_("mean over agents of wish × expectation, each centred and scaled "
            "to −1 … 1")),
        *(integer(f"n_{name}", words) for name, words in POINTS.items()),
        number("own_wish", N_("wish, centred on the agent")),
        number("own_expectation", N_("expectation, centred on the agent")),
    ),
    views=(
        View(at="section", where="quadrant.notna()", heading="", columns=names("label quadrant")),
        View(at="appendix", where="quadrant.notna()",
             columns=("label", "polarity", *(f"n_{name}" for name in POINTS))),
        View(at="digest", columns=names("label mean expectation quadrant n")),
        View(at="memory", where="quadrant.notna()", says=N_(
            "scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}, {plausibility} "
            "{expectation}; {quadrant}.")),
        View(at="memory", where="quadrant.isna()",
             says=N_("scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}.")),
    ),
    note=N_("Agents by the quadrant that they place a scenario in. Polarity: above 0 wish and expectation point the "
            "same way, below 0 they part. Centred on the agent: against its own mean over the scenarios, which leaves "
            "out that some rate everything high."),
)  # fmt: skip

DIMENSIONS = Table(
    name="dimensions", title=N_("Are the scenarios told apart?"), key=("dimension",), label="label",
    columns=(
        text("dimension", N_("id")), text("label", N_("Dimension")), text("wording", N_("question")), ITEMS,
        integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")), flag("is_main", N_("read first")),
        several("highest", N_("highest"), to="scenarios"), integer("n_highest", N_("share the highest place")),
        number("mean_highest", N_("highest mean")), number("mean_low_highest", N_("lower bound")),
        number("mean_high_highest", N_("upper bound")), several("lowest", N_("lowest"), to="scenarios"),
        integer("n_lowest", N_("share the lowest place")), number("mean_lowest", N_("lowest mean")),
        number("mean_low_lowest", N_("lower bound")), number("mean_high_lowest", N_("upper bound")),
        code("tied", N_("places"), TIES), number("change", N_("apart"), means=N_("mean difference within agents")), N,
        TOTAL, N_OF, p_value("p", means=N_("Wilcoxon's of highest and lowest, not below Friedman's")), adjusted_p(),
        number("detectable", N_("detectable"),
            means=N_("difference of two scenarios that is found four times in five")),
        integer("n_pairs", N_("pairs tested")), p_value("p_least", N_("least p possible")),
        flag("too_few", N_("too few agents"), means=N_("no p could be below .05, had all agreed")),
        number("chi2", "χ²"), integer("df", "df"), p_value("p_friedman", N_("p (Friedman)")),
        number("w", N_("Kendall's W")), integer("n_complete", N_("rated all")),
        of("n_complete", "n_total", N_("rated all / N")), integer("n_alike", N_("rated all alike")),
    ),
    views=(
        View(at="appendix", columns=names(
            "label n_complete_of_n_total chi2 df p_friedman w n_alike detectable")),
        View(at="digest", columns=names("label highest mean_highest lowest mean_lowest change p_adjusted w")),
    ),
    note=N_("Friedman's test (inexact below 15 agents) with Kendall's W over agents who rated all scenarios. p: "
            "Wilcoxon's of highest and lowest, not below Friedman's; adjusted over all tests that can reach page one."),
)  # fmt: skip

RATINGS = Table(
    name="ratings", title=N_("Ratings"), key=("scenario", "dimension"),
    columns=(
        SCENARIO, DIMENSION, ITEM, N, TOTAL, N_OF, *MEANS, number("median", N_("median"), digits=1), number("sd", "SD"),
        number("iqr", "IQR", means=N_("quartile distance, type 7")),
        number("agreement", "A", means=N_("van der Eijk's agreement: 1 unanimous, 0 spread evenly, −1 two camps")),
        number("bimodality", "BC", means=N_("bimodality coefficient, above .555 rather two peaks")),
        number("mean_rank", N_("mean rank"), means=N_("of the scenario, 1 the lowest, over agents who rated all")),
        code("spread", N_("opinions"), SPREADS, replicates=True,
            means=N_("camps where no even spread looks so; close: IQR of at most 1")),
        code("side", N_("mean"), SIDES, means=N_("by the interval, from five raters on")),
        integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")),
    ),
    views=(
        View(at="section", heading="", where="n > 0", order=("scenario",),
             spread=Spread(column="dimension", rows=("scenario",), cells=names("mean mean_low_to_mean_high"))),
        View(at="appendix", order=names("dimension scenario"),
             by=("dimension",), columns=names("scenario median sd iqr agreement bimodality mean_rank spread")),
        View(at="digest", where="n > 0", columns=names("scenario dimension n mean mean_low mean_high side spread"),
            top=40),
    ),
    note=N_("Intervals hold for all scenarios of a dimension at once. A: van der Eijk's agreement (1 unanimous, −1 two "
            "camps); BC: bimodality coefficient; rank: 1 the lowest, over agents who rated all."),
)  # fmt: skip

DISTRIBUTION = Table(
    name="distribution", title=N_("Distribution of the ratings"), key=("scenario", "dimension", "value"),
    columns=(SCENARIO, DIMENSION, ITEM, integer("value", N_("rating")), integer("n", N_("agents")),
        share("share", N_("share"))),
)  # fmt: skip

PAIRS = Table(
    name="pairs", title=N_("Scenarios in pairs"), key=("dimension", "first", "second"),
    columns=(
        DIMENSION, reference("first", N_("Scenario"), to="scenarios"),
        reference("second", N_("against"), to="scenarios"), N, TOTAL, N_OF,
        number("mean_change", N_("difference"), means=N_("second less first, mean within agents")),
        number("hodges_lehmann", N_("difference (HL)")), number("rank_biserial", N_("rank-biserial")), p_value("p"),
        p_value("p_holm", N_("p (Holm)")), code("verdict", N_("verdict"), HIGHER, replicates=True),
    ),
    views=(View(at="appendix", by=("dimension",),
                columns=names("first second n_of_n_total hodges_lehmann rank_biserial p_holm")),),
    note=N_("Wilcoxon's test within agents, p by Holm over the pairs of a dimension. Positive: the second is rated "
            "higher. HL: Hodges–Lehmann estimate in scale points."),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(SCENARIO, N_("Where groups differ"), by=DIMENSION)

AGENTS = Table(
    name="agents", title=N_("Wish and expectation of every agent"), key=("participant", "scenario"), one_agent=True,
    columns=(
        reference("participant", N_("agent"), to="agent"), SCENARIO,
        number("desirability", N_("desirability of “{scenario}”"), digits=0, agents=True),
        number("plausibility", N_("plausibility"), digits=0), number("polarity", N_("polarity")),
    ),
)  # fmt: skip
AGENT_RANGES = Table(
    name="agent_ranges", title=N_("How far agents set the scenarios apart"), key=("participant",), one_agent=True,
    columns=(reference("participant", N_("agent"), to="agent"),
             number("desirability_range", N_("range of desirabilities"), digits=0, agents=True)),
)  # fmt: skip

THEME = reference("theme", N_("Theme"), to="themes")
ANSWERS = integer("n_answers", N_("answers"))
VOICED = of("n", "n_answers", N_("voiced"))
OPEN = Table(
    name="open", title=N_("Open answers"), key=("scenario",),
    columns=(SCENARIO, N, TOTAL, N_OF, flag("is_coded", N_("gathered into themes")),
        integer("n_uncoded", N_("without a theme"))),
    views=(View(at="appendix", columns=names("scenario n_of_n_total is_coded n_uncoded")),),
    note="{question}",
)  # fmt: skip
THEMES = Table(
    name="themes", title=N_("Themes of the open answers"), key=("theme",), label="label",
    columns=(text("theme", N_("id")), SCENARIO, text("label", N_("Theme")), text("description", N_("Description")), N,
        ANSWERS, VOICED),
    views=(
        View(at="appendix", columns=names("scenario label n_of_n_answers"),
             note=N_("By group: exports/scenario/themes_by_group.csv.")),
        View(at="digest", order=("scenario", "-n"), columns=names("scenario label n n_answers")),
    ),
)  # fmt: skip
THEMES_BY_GROUP = Table(
    name="themes_by_group", title=N_("Themes by group"), key=("scenario", "theme", "group"),
    columns=(SCENARIO, THEME, reference("group", N_("group"), to="group"), N, ANSWERS, VOICED),
)  # fmt: skip
VOICES = Table(
    name="voices", title=N_("Themes in the agents' words"), key=("theme", "participant"), one_agent=True,
    columns=(
        SCENARIO, THEME, reference("participant", N_("agent"), to="agent"),
        reference("stakeholder_type", N_("group"), to="group"), ITEM,
        integer("place", N_("place"), means=N_("those first whose answer voices no theme before it")),
        text("text", N_("answer")),
    ),
    views=(View(at="appendix", by=("scenario", "theme"), quote="text", who=names("participant stakeholder_type"),
        where="place == 1",
                note=N_("One answer a theme; all are in exports/scenario/voices.csv.")),),
)  # fmt: skip

FACTS = (
    N, TOTAL, N_OF, integer("n_scenarios"),
    reference("main_dimension", N_("dimension that is read first"), to="dimensions"), integer("scale_min"),
    integer("scale_max"), reference("desirability", N_("desirability"), to="dimensions"),
    reference("plausibility", N_("plausibility"), to="dimensions"), integer("widest", N_("widest scale")),
    integer("fewest", N_("agents that a group needs")), text("question", N_("open question")),
)  # fmt: skip

TEXTS = (
    TextBlock(at="section", where="question == question", says=N_(
        "{n} of {n_total} agents rated {n_scenarios} possible futures, one after another, and said what they would do "
        "in each. Means, with 95% intervals that hold for all scenarios at once.")),
    TextBlock(at="section", where="question != question", says=N_(
        "{n} of {n_total} agents rated {n_scenarios} possible futures, one after another. Means, with 95% intervals "
        "that hold for all scenarios at once.")),
)  # fmt: skip

HIGHEST = {
    "single": N_("{label} is highest for “{highest}” ({mean_highest}; 95% interval {mean_low_highest} to "
                 "{mean_high_highest}) and lowest for “{lowest}” ({mean_lowest}; {mean_low_lowest} to "
                 "{mean_high_lowest}): {change} apart, adjusted {p}, n = {n}/{n_total}."),
    "tied": N_("{label}: highest mean {mean_highest} (95% interval {mean_low_highest} to {mean_high_highest}), "
               "shared by {n_highest}: {highest}; lowest {mean_lowest}, shared by {n_lowest}: {lowest}; {change} "
               "apart, adjusted {p}, n = {n}/{n_total}."),
}  # fmt: skip
ALIKE = N_("{label}: highest and lowest scenario were not told apart ({change} apart, adjusted {p}; n = "
           "{n}/{n_total}); {detectable} would have been found four times in five.")  # fmt: skip


def ends(name: str, where: str, null: str = "", top: int = 1, after: str = "") -> Finding:
    return Finding(
        name=name, table="dimensions", kind="difference", where=f"{where} and not too_few", p="p", top=top, null=null,
        after=after, word="tied", says=HIGHEST, size="change / (scale_max - scale_min)", estimate="change",
        test="Wilcoxon", items="items", chart="ratings", scale="scale_min, scale_max",
        points=(
            ScaleValue(value="mean_highest", of="highest", low="mean_low_highest", high="mean_high_highest"),
            ScaleValue(value="mean_lowest", of="lowest", low="mean_low_lowest", high="mean_high_lowest"),
        ),
    )  # fmt: skip


FINDINGS = (
    ends("highest", "is_main", null=ALIKE),
    Finding(
        name="too_few", table="dimensions", kind="null", where="is_main and too_few and n > 1", items="items",
        chart="ratings",
        says=N_("{label}: {n} agents are too few to tell scenarios apart; had all agreed, p would still be {p_least}."),
    ),
    Finding(
        name="place", table="scenarios", where="quadrant.notna() and quadrant != 'unclear'", order=("-clear",), top=4,
        size="clear", estimate="mean", low="mean_low", high="mean_high", items="items", chart="quadrants",
        scale="scale_min, scale_max",
        says=N_("“{label}” is {quadrant}: {main_dimension} {mean} (95% interval {mean_low} to {mean_high}), "
                "{plausibility} {expectation} ({expectation_low} to {expectation_high}); n = {n}/{n_total}."),
    ),
    group_finding(SCENARIO, N_(
        "{dimension} of “{scenario}” differs between {n_groups} groups: {mean_lowest} ({lowest}) to {mean_highest} "
        "({highest}); share of variance {effect}, adjusted {p}, n = {n}/{n_total}."),
        null=N_("Groups of {fewest} agents or more were not found to rate a scenario differently: {tests} ratings "
                "tested (adjusted {p}; n = {n}/{n_total}); {detectable} points would have been found four times in "
                "five."),
        size="(mean_highest - mean_lowest) / @widest", chart="ratings"),
    ends("further", "not is_main", top=9, after="highest"),
)  # fmt: skip

CHARTS = (
    Chart(name="quadrants", title=N_("Scenarios: wished for and expected"), needs=("scenarios",),
          draw="enquete.graphs.scenario.charts:quadrants",
          over=View(at="section", where="expectation.notna() and mean.notna()"),
          alt=N_("Mean wish and expectation of {n_scenarios} scenarios; most wished for: “{label}”, {main_dimension} "
                 "{mean}, {plausibility} {expectation}.")),
    Chart(name="ratings", title=N_("Scenarios: mean ratings, all agents and groups"), needs=("ratings",),
          draw="enquete.graphs.scenario.charts:ratings",
          over=View(at="section", where="n > 0 and dimension == @main_dimension", order=("scenario",)),
          alt=N_("Mean ratings of {n_scenarios} scenarios with 95% intervals; {dimension} of “{scenario}”: {mean}.")),
)  # fmt: skip

GLOSSARY = {
    N_("wish and expectation"): N_(
        "mean desirability and plausibility; a scenario is placed where both lie clear of the midpoint"
    ),
}

PRESENTATION = Presentation(
    tables=(SCENARIOS, RATINGS, GROUP_TESTS, GROUPS, DIMENSIONS, PAIRS, DISTRIBUTION, OPEN, THEMES, THEMES_BY_GROUP,
        VOICES, AGENTS,
            AGENT_RANGES),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip
