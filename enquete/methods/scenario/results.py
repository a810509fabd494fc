"""What ratings of scenarios give (reports/evaluation.py): ratings, which of them differ, wish beside expectation,
groups, open answers.

Intervals of means hold for all scenarios of a dimension at once (Bonferroni), so that they may be told of the highest
of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import pandas as pd

from enquete.analysis.agreement import friedman, pairwise_wilcoxon
from enquete.analysis.association import QUADRANTS, agent_centred, alike_ratings, centred, group_polarity, polarity
from enquete.analysis.change import smallest_p
from enquete.analysis.inference import detectable_change, extreme, selected_intervals
from enquete.analysis.panel import describe, frequencies, opinions
from enquete.analysis.quality import rated_alike
from enquete.locale import N_
from enquete.methods.scenario.instrument import OPEN, ScenarioInstrument
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files, ItemFacts, responded, wide
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST
from enquete.reports.health_checks import Humans, Made, answers, any_other, checkable, closed, missing, occasion, phases
from enquete.reports.result_tables import LEVEL
from enquete.reports.writing import lines
from enquete.state.asking import Language

# --- Tables, and what is read of them where --------------------------------------------------------------------------

QUADRANT_WORDS = {
    "wished_expected": N_("wished for and expected"), "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("unwanted and expected"), "feared_unexpected": N_("unwanted, not expected"),
}  # fmt: skip
VERDICTS = {**QUADRANT_WORDS, "unclear": N_("wish or expectation not clear of the midpoint")}
POINTS = {**QUADRANT_WORDS, "undecided": N_("on the midpoint")}
SIDES_OF_MIDPOINT = {
    "above": N_("above the midpoint"),
    "below": N_("below the midpoint"),
    "unclear": N_("not clear of the midpoint"),
}
SPREADS = {"consensus": N_("close together"), "spread": N_("spread"), "camps": N_("two camps")}
HIGHER = {"first": N_("the first is higher"), "second": N_("the second is higher"), "neither": N_("not told apart")}
TIES = {"single": N_("one each"), "tied": N_("shared")}

SCENARIO = d.reference("scenario", N_("Scenario"), to="scenarios")
DIMENSION = d.reference("dimension", N_("Dimension"), to="dimensions")
ITEM = d.text("item", N_("item"), means=N_("id of the item in all_responses.csv"))
ITEMS = d.several("items", N_("items"), means=N_("ids of the items in all_responses.csv"))
N, TOTAL, N_OF = d.integer("n", "n"), d.integer("n_total", "N"), d.of("n", "n_total", "n / N")
LOW, HIGH = d.number("mean_low", N_("mean, lower bound")), d.number("mean_high", N_("mean, upper bound"))
MEANS = (d.number("mean", N_("mean")), LOW, HIGH, d.interval("mean_low", "mean_high", "95%"))

SCENARIOS = d.Table(
    name="scenarios", title=N_("Wish and expectation"), key=("scenario",), label="label",
    columns=(
        d.text("scenario", N_("id")), d.text("label", N_("Scenario")), ITEMS, N, TOTAL, N_OF,
        d.number("mean", "{main_dimension}"), LOW, HIGH, d.interval("mean_low", "mean_high", "95%"),
        d.number("expectation", "{plausibility}"), d.number("expectation_low", N_("expectation, lower bound")),
        d.number("expectation_high", N_("expectation, upper bound")),
        d.interval("expectation_low", "expectation_high", "95%"),
        d.code("quadrant", N_("verdict"), VERDICTS, replicates=True,
            means=N_("where both intervals lie clear of the midpoint")),
        d.share("clear", N_("off the midpoint"), means=N_("share of half the scale, of the dimension that is less so")),
        d.integer("n_both", N_("rated both")),
        d.number("polarity", N_("polarity"), means=N_("mean over agents of wish × expectation, each centred and scaled "
            "to −1 … 1")),
        *(d.integer(f"n_{name}", words) for name, words in POINTS.items()),
        d.number("own_wish", N_("wish, centred on the agent")),
        d.number("own_expectation", N_("expectation, centred on the agent")),
    ),
    views=(
        d.View(at="section", where="quadrant.notna()", heading="", columns=d.names("label quadrant")),
        d.View(at="appendix", where="quadrant.notna()",
             columns=("label", "polarity", *(f"n_{name}" for name in POINTS))),
        d.View(at="digest", columns=d.names("label mean expectation quadrant n")),
        d.View(at="memory", where="quadrant.notna()", says=N_(
            "scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}, {plausibility} "
            "{expectation}; {quadrant}.")),
        d.View(at="memory", where="quadrant.isna()",
             says=N_("scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}.")),
    ),
    note=N_("Agents by the quadrant that they place a scenario in. Polarity: above 0 wish and expectation point the "
            "same way, below 0 they part. Centred on the agent: against its own mean over the scenarios, which leaves "
            "out that some rate everything high."),
)  # fmt: skip

DIMENSIONS = d.Table(
    name="dimensions", title=N_("Are the scenarios told apart?"), key=("dimension",), label="label",
    columns=(
        d.text("dimension", N_("id")), d.text("label", N_("Dimension")), d.text("wording", N_("question")), ITEMS,
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
        d.flag("is_main", N_("read first")),
        d.several("highest", N_("highest"), to="scenarios"), d.integer("n_highest", N_("share the highest place")),
        d.number("mean_highest", N_("highest mean")), d.number("mean_low_highest", N_("lower bound")),
        d.number("mean_high_highest", N_("upper bound")), d.several("lowest", N_("lowest"), to="scenarios"),
        d.integer("n_lowest", N_("share the lowest place")), d.number("mean_lowest", N_("lowest mean")),
        d.number("mean_low_lowest", N_("lower bound")), d.number("mean_high_lowest", N_("upper bound")),
        d.code("tied", N_("places"), TIES), d.number("change", N_("apart"), means=N_("mean difference within agents")),
        N,
        TOTAL, N_OF, d.p_value("p", means=N_("Wilcoxon's of highest and lowest, not below Friedman's")), d.adjusted_p(),
        *d.detectable(N_("difference of two scenarios that is found four times in five")),
        d.integer("n_pairs", N_("pairs tested")), d.p_value("p_least", N_("least p possible")),
        d.flag("too_few", N_("too few agents"), means=N_("no p could be below .05, had all agreed")),
        d.number("chi2", "χ²"), d.integer("df", "df"), d.p_value("p_friedman", N_("p (Friedman)")),
        d.number("w", N_("Kendall's W")), d.integer("n_complete", N_("rated all")),
        d.of("n_complete", "n_total", N_("rated all / N")), d.integer("n_alike", N_("rated all alike")),
    ),
    views=(
        d.View(at="appendix", columns=d.names(
            "label n_complete_of_n_total chi2 df p_friedman w n_alike detectable")),
        d.View(at="digest", columns=d.names("label highest mean_highest lowest mean_lowest change p_adjusted w")),
    ),
    note=N_("Friedman's test (inexact below 15 agents) with Kendall's W over agents who rated all scenarios. p: "
            "Wilcoxon's of highest and lowest, not below Friedman's; adjusted over all tests that can reach page one."),
)  # fmt: skip

RATINGS = d.Table(
    name="ratings", title=N_("Ratings"), key=("scenario", "dimension"),
    columns=(
        SCENARIO, DIMENSION, ITEM, N, TOTAL, N_OF, *MEANS, d.number("median", N_("median"), digits=1),
        d.number("sd", "SD"),
        d.number("iqr", "IQR", means=N_("quartile distance, type 7")),
        d.number("agreement", "A", means=N_("van der Eijk's agreement: 1 unanimous, 0 spread evenly, −1 two camps")),
        d.number("bimodality", "BC", means=N_("bimodality coefficient, above .555 rather two peaks")),
        d.number("mean_rank", N_("mean rank"), means=N_("of the scenario, 1 the lowest, over agents who rated all")),
        d.code("spread", N_("opinions"), SPREADS, replicates=True,
            means=N_("camps where no even spread looks so; close: IQR of at most 1")),
        d.code("side", N_("mean"), SIDES_OF_MIDPOINT, means=N_("by the interval, from five raters on")),
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
    ),
    views=(
        d.View(at="section", heading="", where="n > 0", order=("scenario",),
             spread=d.Spread(column="dimension", rows=("scenario",), cells=d.names("mean mean_low_to_mean_high"))),
        d.View(at="appendix", order=d.names("dimension scenario"),
             by=("dimension",), columns=d.names("scenario median sd iqr agreement bimodality mean_rank spread")),
        d.View(at="digest", where="n > 0", columns=d.names("scenario dimension n mean mean_low mean_high side spread"),
            top=40),
    ),
    note=N_("Intervals hold for all scenarios of a dimension at once. A: van der Eijk's agreement (1 unanimous, −1 two "
            "camps); BC: bimodality coefficient; rank: 1 the lowest, over agents who rated all."),
)  # fmt: skip

PAIRS = d.Table(
    name="pairs", title=N_("Scenarios in pairs"), key=("dimension", "first", "second"),
    columns=(
        DIMENSION, d.reference("first", N_("Scenario"), to="scenarios"),
        d.reference("second", N_("against"), to="scenarios"), N, TOTAL, N_OF,
        d.number("mean_change", N_("difference"), means=N_("second less first, mean within agents")),
        d.number("hodges_lehmann", N_("difference (HL)")), d.number("rank_biserial", N_("rank-biserial")),
        d.p_value("p"), d.p_value("p_holm", N_("p (Holm)")),
        d.code("verdict", N_("verdict"), HIGHER, replicates=True,
            unless_sure={"first": "neither", "second": "neither"}, test_in=("dimensions", ("dimension",)),
            means=N_("by p (Holm), where page one finds the scenarios told apart on the dimension")),
    ),
    views=(d.View(at="appendix", by=("dimension",),
                columns=d.names("first second n_of_n_total hodges_lehmann rank_biserial p_holm")),),
    note=N_("Wilcoxon's test within agents, p by Holm over the pairs of a dimension. Positive: the second is rated "
            "higher. HL: Hodges–Lehmann estimate in scale points."),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(SCENARIO, N_("Where groups differ"), by=DIMENSION)

AGENTS = d.Table(
    name="agents", title=N_("Wish and expectation of every agent"), key=("participant", "scenario"), one_agent=True,
    columns=(
        d.reference("participant", N_("agent"), to="agent"), SCENARIO,
        d.number("desirability", N_("desirability of “{scenario}”"), digits=0, agents=True,
            compared_in="group_tests"),
        d.number("plausibility", N_("plausibility"), digits=0), d.number("polarity", N_("polarity")),
    ),
)  # fmt: skip
AGENT_RANGES = d.Table(
    name="agent_ranges", title=N_("How far agents set the scenarios apart"), key=("participant",), one_agent=True,
    columns=(d.reference("participant", N_("agent"), to="agent"),
             d.number("desirability_range", N_("range of desirabilities"), digits=0, agents=True)),
)  # fmt: skip

THEME = d.reference("theme", N_("Theme"), to="themes")
ANSWERS = d.integer("n_answers", N_("answers"))
VOICED = d.of("n", "n_answers", N_("voiced"))
OPEN_ANSWERS = d.Table(
    name="open", title=N_("Open answers"), key=("scenario",),
    columns=(SCENARIO, N, TOTAL, N_OF, d.flag("is_coded", N_("gathered into themes")),
        d.integer("n_uncoded", N_("without a theme"))),
    views=(d.View(at="appendix", columns=d.names("scenario n_of_n_total is_coded n_uncoded")),),
    note="{question}",
)  # fmt: skip
THEMES = d.Table(
    name="themes", title=N_("Themes of the open answers"), key=("theme",), label="label",
    columns=(d.text("theme", N_("id")), SCENARIO, d.text("label", N_("Theme")),
        d.text("description", N_("Description")), N,
        ANSWERS, VOICED),
    views=(
        d.View(at="appendix", columns=d.names("scenario label n_of_n_answers"),
             note=N_("By group: exports/scenario/themes_by_group.csv.")),
        d.View(at="digest", order=("scenario", "-n"), columns=d.names("scenario label n n_answers")),
    ),
)  # fmt: skip
THEMES_BY_GROUP = d.Table(
    name="themes_by_group", title=N_("Themes by group"), key=("scenario", "theme", "group"),
    columns=(SCENARIO, THEME, d.reference("group", N_("group"), to="group"), N, ANSWERS, VOICED),
)  # fmt: skip
VOICES = d.Table(
    name="voices", title=N_("Themes in the agents' words"), key=("theme", "participant"), one_agent=True,
    columns=(
        SCENARIO, THEME, d.reference("participant", N_("agent"), to="agent"),
        d.STAKEHOLDER_TYPE, ITEM,
        d.integer("place", N_("place"), means=N_("those first whose answer voices no theme before it")),
        d.text("text", N_("answer")),
    ),
    views=(d.View(at="appendix", by=("scenario", "theme"), quote="text", who=d.names("participant stakeholder_type"),
        where="place == 1",
                note=N_("One answer a theme; all are in exports/scenario/voices.csv.")),),
)  # fmt: skip

FACTS = (
    N, TOTAL, N_OF, d.integer("n_scenarios"),
    d.reference("main_dimension", N_("dimension that is read first"), to="dimensions"), d.integer("scale_min"),
    d.integer("scale_max"), d.reference("desirability", N_("desirability"), to="dimensions"),
    d.reference("plausibility", N_("plausibility"), to="dimensions"), d.integer("widest", N_("widest scale")),
    d.integer("fewest", N_("agents that a group needs")), d.text("question", N_("open question")),
)  # fmt: skip

TEXTS = (
    d.TextBlock(at="section", where="question == question", says=N_(
        "{n} of {n_total} agents rated {n_scenarios} possible futures, one after another, and said what they would do "
        "in each. Means, with 95% intervals that hold for all scenarios at once.")),
    d.TextBlock(at="section", where="question != question", says=N_(
        "{n} of {n_total} agents rated {n_scenarios} possible futures, one after another. Means, with 95% intervals "
        "that hold for all scenarios at once.")),
)  # fmt: skip

HIGHEST = {
    "single": N_("{label} is highest for “{highest}” (mean {mean_highest}; simultaneous 95% interval "
                 "{mean_low_highest} to {mean_high_highest}) and lowest for “{lowest}” ({mean_lowest}; "
                 "{mean_low_lowest} to {mean_high_lowest}): {change} apart, adjusted {p}, n = {n}/{n_total}."),
    "tied": N_("{label}: highest mean {mean_highest} (simultaneous 95% interval {mean_low_highest} to "
               "{mean_high_highest}), shared by {n_highest}: {highest}; lowest {mean_lowest}, shared by {n_lowest}: "
               "{lowest}; {change} apart, adjusted {p}, n = {n}/{n_total}."),
}  # fmt: skip
ALIKE = N_("{label}: highest and lowest scenario were not told apart ({change} apart, adjusted {p}; n = "
           "{n}/{n_total}); {power}.")  # fmt: skip


def ends(name: str, where: str, null: str = "", top: int = 1, after: str = "") -> d.Finding:
    return d.Finding(
        name=name, table="dimensions", kind="difference", where=f"{where} and not too_few", p="p", top=top, null=null,
        after=after, word="tied", says=HIGHEST, size="change / (scale_max - scale_min)", estimate="change",
        test="Wilcoxon", items="items", chart="ratings", scale="scale_min, scale_max", simultaneous=True,
        points=(
            d.ScaleValue(value="mean_highest", of="highest", low="mean_low_highest", high="mean_high_highest"),
            d.ScaleValue(value="mean_lowest", of="lowest", low="mean_low_lowest", high="mean_high_lowest"),
        ),
    )  # fmt: skip


FINDINGS = (
    ends("highest", "is_main", null=ALIKE),
    d.Finding(
        name="too_few", table="dimensions", kind="null", where="is_main and too_few and n > 1", items="items",
        chart="ratings",
        says=N_("{label}: {n} agents are too few to tell scenarios apart; had all agreed, p would still be {p_least}."),
    ),
    d.Finding(
        name="place", table="scenarios", where="quadrant.notna() and quadrant != 'unclear'", order=("-clear",), top=4,
        size="clear", estimate="mean", low="mean_low", high="mean_high", items="items", chart="quadrants",
        scale="scale_min, scale_max", simultaneous=True,
        says=N_("“{label}” is {quadrant}: {main_dimension} {mean} (simultaneous 95% interval {mean_low} to "
                "{mean_high}), {plausibility} {expectation} ({expectation_low} to {expectation_high}); n = "
                "{n}/{n_total}."),
    ),
    d.group_finding(SCENARIO, N_(
        "{dimension} of “{scenario}” differs between {n_groups} groups: mean {mean_lowest} ({lowest}) to "
        "{mean_highest} ({highest}); share of variance {effect}, adjusted {p}, n = {n}/{n_total}."),
        null=N_("No scenario is rated differently by the groups ({tests} ratings tested, smallest adjusted {p}; n = "
                "{n}/{n_total}); {power}."),
        size="(mean_highest - mean_lowest) / @widest", chart="ratings"),
    ends("further", "not is_main", top=9, after="highest"),
)  # fmt: skip

CHARTS = (
    d.Chart(name="quadrants", title=N_("Scenarios: wished for and expected"), needs=("scenarios",),
          draw="enquete.methods.scenario.charts:quadrants",
          over=d.View(at="section", where="expectation.notna() and mean.notna()"),
          alt=N_("Mean wish and expectation of {n_scenarios} scenarios; most wished for: “{label}”, {main_dimension} "
                 "{mean}, {plausibility} {expectation}.")),
    d.Chart(name="ratings", title=N_("Scenarios: mean ratings, all agents and groups"), needs=("ratings",),
          draw="enquete.methods.scenario.charts:ratings",
          over=d.View(at="section", where="n > 0 and dimension == @main_dimension", order=("scenario",)),
          alt=N_("Mean ratings of {n_scenarios} scenarios with 95% intervals; {dimension} of “{scenario}”: {mean}.")),
)  # fmt: skip

GLOSSARY = {
    N_("wish and expectation"): N_(
        "mean desirability and plausibility; a scenario is placed where both lie clear of the midpoint"
    ),
}

PRESENTATION = d.Presentation(
    tables=(SCENARIOS, RATINGS, GROUP_TESTS, GROUPS, DIMENSIONS, PAIRS, OPEN_ANSWERS, THEMES,
            THEMES_BY_GROUP, VOICES, AGENTS, AGENT_RANGES),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip


# --- What the agents make of possible futures: ratings, which scenarios differ, wish and expectation, themes of the
# open answers
# Means are on the instrument's scales. Measured by: every figure stands beside its n, a scenario is called highest,
# wished for or expected only by an interval that holds for all scenarios at once, every theme names the answers that
# voice it.

READ = ["participant", "stakeholder_type", "item_id", "status", "value", "text"]
"""The columns that are analysed: rows of a narrow table are chosen at a fraction of the cost."""


def analyse(
    frame: pd.DataFrame, instrument: ScenarioInstrument, settings: object, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's rows."""
    rows = frame[READ]
    rated = Ratings.of(rows, instrument, context.language)
    ratings = rated.described()
    tables: dict[str, Any] = {
        "ratings": ratings,
        "pairs": rated.pairs,
        "dimensions": rated.dimensions(ratings),
        "scenarios": rated.placed(ratings),
        "agents": rated.agents(),
        "agent_ranges": rated.ranges(),
        **d.compared(
            rated.table,
            context.groups_of(frame),
            items=rated.item,
            ends={key: rated.ends[key[1]] for key in rated.item},
        ),
        **open_answers(rows, instrument, context),
    }
    answered = responded(rows)["participant"].nunique()
    facts = {
        "n": int(answered), "n_total": len(rated.table), "n_scenarios": len(rated.scenarios),
        "main_dimension": rated.main, "desirability": rated.wished, "plausibility": rated.expected,
        "widest": max(high - low for low, high in rated.ends.values()), "scale_min": rated.ends[rated.main][0],
        "scale_max": rated.ends[rated.main][1], "fewest": FEWEST,
        "question": instrument.open_question.in_(context.language) if instrument.open_question else None,
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, facts)


@dataclass(frozen=True)
class Ratings:
    """table: participants in the population's order × (scenario, dimension) in the file's; NaN where there is no
    rating."""

    table: pd.DataFrame
    instrument: ScenarioInstrument
    language: Language

    @classmethod
    def of(cls, rows: pd.DataFrame, instrument: ScenarioInstrument, language: Language) -> Ratings:
        named = [(s.scenario_id, d.dimension_id) for s, d in product(instrument.scenarios, instrument.dimensions)]
        table = wide(rows, ["/".join(key) for key in named], people=rows["participant"].unique())
        table.columns = pd.MultiIndex.from_tuples(named, names=["scenario", "dimension"])
        return cls(table, instrument, language)

    @cached_property
    def scenarios(self) -> dict[str, str]:
        return {s.scenario_id: s.label.in_(self.language) for s in self.instrument.scenarios}

    @cached_property
    def ends(self) -> dict[str, tuple[int, int]]:
        """Of the scale, by dimension."""
        scales = {d.dimension_id: self.instrument.scale_of(d.dimension_id) for d in self.instrument.dimensions}
        return {dimension: (scale.min, scale.max) for dimension, scale in scales.items()}

    @property
    def item(self) -> dict[tuple[str, str], str]:
        return {pair: "/".join(pair) for pair in product(self.scenarios, self.ends)}

    @property
    def wished(self) -> str | None:
        return self.instrument.dimension_for("desirability")

    @property
    def expected(self) -> str | None:
        return self.instrument.dimension_for("plausibility")

    @property
    def main(self) -> str:
        """Desirability where it is asked, else the first dimension."""
        return self.wished or next(iter(self.ends))

    def of_dimension(self, dimension: str) -> pd.DataFrame:
        """Participants × scenarios."""
        return pd.DataFrame({scenario: self.table[scenario, dimension] for scenario in self.scenarios})

    # --- ratings ------------------------------------------------------------------------------------------------------

    def described(self) -> list[d.Row]:
        """Every scenario on every dimension, with the interval that holds for all scenarios of the dimension at
        once."""
        ratings = []
        for dimension, (low, high) in self.ends.items():
            table = self.of_dimension(dimension)
            counts, n_total = table.notna().sum(), len(table)
            intervals = selected_intervals(counts, table.mean(), table.std(), ends=(low, high)).to_dict("records")
            ranks = friedman(table.to_numpy()).mean_ranks or [None] * len(intervals)
            for scenario, ends, rank in zip(table, intervals, ranks, strict=True):
                given = table[scenario].to_numpy()
                stats = describe(given, low, high)
                ratings.append({
                    "scenario": scenario, "dimension": dimension, "item": f"{scenario}/{dimension}", "n": stats.n,
                    "n_total": n_total, "mean": stats.mean, "mean_low": ends["low"], "mean_high": ends["high"],
                    "median": stats.median, "sd": stats.sd, "iqr": stats.iqr, "agreement": stats.agreement,
                    "bimodality": stats.bimodality, "mean_rank": rank,
                    "spread": opinions(frequencies(given, low, high)),
                    "side": _side(stats.n, ends["low"], ends["high"], (low + high) / 2),
                    "scale_min": low, "scale_max": high,
                })  # fmt: skip
        return ratings

    # --- which scenarios differ ---------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[d.Row]:
        """Every two scenarios on a dimension, p by Holm over its pairs."""
        tests = []
        for dimension in self.ends:
            for pair in pairwise_wilcoxon(self.of_dimension(dimension)):
                test = pair.test
                higher = "second" if (test.mean_change or 0) > 0 else "first"
                verdict = None if pair.p_holm is None else higher if pair.p_holm < LEVEL else "neither"
                tests.append({
                    "dimension": dimension, "first": pair.first, "second": pair.second, "n": test.n,
                    "n_total": len(self.table), "mean_change": test.mean_change, "hodges_lehmann": test.hodges_lehmann,
                    "rank_biserial": test.rank_biserial, "p": test.p, "p_holm": pair.p_holm, "verdict": verdict,
                })  # fmt: skip
        return tests

    def dimensions(self, ratings: list[d.Row]) -> Iterator[d.Row]:
        """Highest and lowest scenario of each dimension and whether they differ; whether scenarios are told apart at
        all."""
        for axis in self.instrument.dimensions:
            dimension, (low, high) = axis.dimension_id, self.ends[axis.dimension_id]
            table = self.of_dimension(dimension)
            all_of, alike = friedman(table.to_numpy()), alike_ratings(table.to_numpy())
            tested = [pair for pair in self.pairs if pair["dimension"] == dimension and pair["p"] is not None]
            n = max((pair["n"] for pair in tested), default=0)
            too_few = bool(n) and smallest_p(n) >= LEVEL
            yield {
                "dimension": dimension, "label": f"{axis.label.in_(self.language)} ({low}–{high})",
                "wording": (axis.description or axis.label).in_(self.language), "scale_min": low, "scale_max": high,
                "is_main": dimension == self.main, "n_total": len(table), "n_complete": all_of.n, "chi2": all_of.chi2,
                "df": all_of.df, "w": all_of.w, "p_friedman": all_of.p, "n_alike": alike.n_alike,
                "n_pairs": len(tested), "p_least": smallest_p(n) if n else None, "too_few": too_few,
                **self._ends(dimension, [row for row in ratings if row["dimension"] == dimension], tested, all_of.p),
            }  # fmt: skip

    def _ends(self, dimension: str, ratings: list[d.Row], tested: list[d.Row], p_friedman: float | None) -> d.Row:
        """p: of the pair of highest and lowest, not below Friedman's of all; where some share a place, of the pair
        least sure.

        Whoever are told apart have to be so among all of them, too; then the ends need no correction for the other
        pairs: of panels of 10 and 20 in which three, four or seven scenarios are alike and others not, .00 to .05 tell
        two apart that are alike.
        """
        row: d.Row = dict.fromkeys(
            (*ENDS, "change", "n", "p", d.DETECTABLE, d.DETECTABLE_SHARE, "n_highest", "n_lowest")
        )
        means = pd.DataFrame({"estimate": [row["mean"] for row in ratings]}, dtype="float64")
        if means["estimate"].nunique() < 2:
            return {**row, "highest": [], "lowest": [], "items": [], "tied": None}
        sides: dict[str, list[str]] = {}
        for side in SIDES:
            place, places = extreme(means, side)
            sides[side] = [ratings[i]["scenario"] for i in places]
            row |= {f"{name}_{side}": ratings[place][name] for name in ("mean", "mean_low", "mean_high")}
        row |= {
            **sides, "n_highest": len(sides["highest"]), "n_lowest": len(sides["lowest"]),
            "tied": "tied" if max(map(len, sides.values())) > 1 else "single",
            "items": [f"{scenario}/{dimension}" for scenario in (*sides["highest"], *sides["lowest"])],
        }  # fmt: skip
        between = [
            test for test in tested if {test["first"], test["second"]} in [{a, b} for a, b in product(*sides.values())]
        ]
        if between:
            pair = max(between, key=lambda test: float(test["p"]))
            change = self.table[pair["second"], dimension] - self.table[pair["first"], dimension]
            sd = float(change.dropna().to_numpy().std(ddof=1)) if pair["n"] > 1 else 0.0
            row |= {
                "change": abs(pair["mean_change"]), "n": pair["n"],
                "p": pair["p_holm"] if p_friedman is None else max(p_friedman, pair["p"]),
                **d.on_scale(detectable_change(pair["n"], sd, dof=pair["n"] - 1), self.ends[dimension]),
            }  # fmt: skip
        return row

    # --- wish and expectation -----------------------------------------------------------------------------------------

    def placed(self, ratings: list[d.Row]) -> list[d.Row]:
        """Scenarios, the highest mean of the main dimension first, between what is wished for and what is expected."""
        known = {(row["scenario"], row["dimension"]): row for row in ratings}
        placed = [self._placed(scenario, label, known) for scenario, label in self.scenarios.items()]
        return sorted(placed, key=lambda row: -1.0 if row["mean"] is None else -row["mean"])

    def _placed(self, scenario: str, label: str, known: Mapping[tuple[str, str], d.Row]) -> d.Row:
        main = known[scenario, self.main]
        row = {
            "scenario": scenario, "label": label,
            **{name: main[name] for name in ("n", "n_total", "mean", "mean_low", "mean_high")}, "items": [main["item"]],
        }  # fmt: skip
        if self.wished is None or self.expected is None:
            return {**dict.fromkeys(POLARITY), **row}
        other = known[scenario, self.expected]
        point, centre = (group_polarity(*self._points(scenario, how)) for how in (centred, agent_centred))
        return {
            **row, "items": [main["item"], other["item"]], "expectation": other["mean"],
            "expectation_low": other["mean_low"], "expectation_high": other["mean_high"],
            "quadrant": _quadrant(main["side"], other["side"]), "clear": min(_off(main), _off(other)),
            "n_both": point.n, "polarity": point.polarity, **{f"n_{name}": n for name, n in point.quadrants.items()},
            "own_wish": centre.wish, "own_expectation": centre.expectation,
        }  # fmt: skip

    def _points(self, scenario: str, how: Any) -> list[Any]:
        """Wish and expectation of every participant, between −1 and 1."""
        place = list(self.scenarios).index(scenario)
        axes = (self.wished or "", self.expected or "")
        return [how(self.of_dimension(axis).to_numpy(), *self.ends[axis])[:, place] for axis in axes]

    def agents(self) -> Iterator[d.Row]:
        """Wish and expectation of each agent, in scale points, and its polarity."""
        both = self.wished is not None and self.expected is not None
        for scenario in self.scenarios if self.wished is not None else ():
            wish = self.table[scenario, self.wished]
            expectation = self.table[scenario, self.expected] if both else wish * float("nan")
            product_of = polarity(*self._points(scenario, centred)) if both else expectation
            for who, *values in zip(self.table.index, wish, expectation, product_of, strict=True):
                yield {
                    "participant": who, "scenario": scenario,
                    **dict(zip(("desirability", "plausibility", "polarity"), values, strict=True)),
                }  # fmt: skip

    def ranges(self) -> Iterator[d.Row]:
        """How far an agent who rated all sets the scenarios apart."""
        if self.wished is not None:
            complete = self.of_dimension(self.wished).dropna()
            for who, gap in (complete.max(axis=1) - complete.min(axis=1)).items():
                yield {"participant": who, "desirability_range": gap}


SIDES: tuple[Literal["highest", "lowest"], ...] = ("highest", "lowest")
ENDS = tuple(f"{name}_{side}" for side in SIDES for name in ("mean", "mean_low", "mean_high"))
POLARITY = (
    "expectation", "expectation_low", "expectation_high", "quadrant", "clear", "n_both", "polarity", "own_wish",
    "own_expectation", *(f"n_{name}" for name in QUADRANTS),
)  # fmt: skip


def _side(n: int, low: float, high: float, middle: float) -> str | None:
    """Where a mean lies by its interval; few raters are clear of nothing."""
    if not n:
        return None
    return "unclear" if n < FEWEST or not (low > middle or high < middle) else "above" if low > middle else "below"


def _quadrant(wish: str | None, expectation: str | None) -> str | None:
    if wish is None or expectation is None:
        return None
    if "unclear" in (wish, expectation):
        return "unclear"
    return f"{'wished' if wish == 'above' else 'feared'}_{'expected' if expectation == 'above' else 'unexpected'}"


def _off(rating: d.Row) -> float:
    """How far a mean lies off the midpoint, 0 to 1."""
    low, high = rating["scale_min"], rating["scale_max"]
    return abs(rating["mean"] - (low + high) / 2) / ((high - low) / 2) if rating["mean"] is not None else 0.0


# --- open answers -----------------------------------------------------------------------------------------------------


def open_answers(
    rows: pd.DataFrame, instrument: ScenarioInstrument, context: AnalysisContext
) -> dict[str, list[d.Row]]:
    """The open question by scenario: who answered, themes as they were pinned, and who voices them."""
    tables: dict[str, list[d.Row]] = {name: [] for name in ("open", "themes", "themes_by_group", "voices")}
    groups = context.groups_of(rows)
    for scenario in (s.scenario_id for s in instrument.scenarios) if instrument.open_question else ():
        item = f"{scenario}/{OPEN}"
        asked = rows[rows["item_id"].eq(item)]
        answered = responded(asked).set_index("participant")
        coded = context.pinned.get(f"themes/{scenario}")
        sizes = groups.reindex(answered.index).value_counts()
        voiced: set[str] = set()
        for theme in _themes(coded):
            key = f"{scenario}/{theme['id']}"
            named = [str(statement).rpartition("|")[0] for statement in theme.get("statements") or ()]
            people = [who for who in named if who in answered.index]
            if not people:
                continue
            tables["themes"].append({
                "scenario": scenario, "theme": key, "label": str(theme["label"]),
                "description": str(theme.get("description") or ""), "n": len(people), "n_answers": len(answered),
            })  # fmt: skip
            kinds = groups.reindex(people).value_counts()
            tables["themes_by_group"] += [
                {"scenario": scenario, "theme": key, "group": kind, "n": int(kinds.get(kind, 0)), "n_answers": int(n)}
                for kind, n in sizes.sort_index().items()
                if n >= FEWEST
            ]
            first = sorted(people, key=lambda who: who in voiced)  # an answer may voice several: those not told yet
            tables["voices"] += [
                {"scenario": scenario, "theme": key, "participant": who, "place": place, "item": item,
                 "stakeholder_type": answered["stakeholder_type"][who], "text": answered["text"][who]}
                for place, who in enumerate(first, 1)
            ]  # fmt: skip
            voiced |= set(people)
        tables["open"].append({
            "scenario": scenario, "n": len(answered), "n_total": len(asked), "is_coded": isinstance(coded, dict),
            "n_uncoded": len(set(answered.index) - voiced) if isinstance(coded, dict) else None,
        })  # fmt: skip
    return tables


def _themes(stored: Any) -> list[d.Row]:
    listed = stored.get("themes") if isinstance(stored, dict) else None
    return [theme for theme in (listed if isinstance(listed, list) else []) if isinstance(theme, dict)]


def item_facts(item_id: str, instrument: ScenarioInstrument) -> ItemFacts:
    """A rating's family is its scenario, its dimension and scale are the dimension's; the open question has neither."""
    scenario, _, dimension = item_id.rpartition("/")
    if scenario not in {s.scenario_id for s in instrument.scenarios}:
        return ItemFacts()
    if dimension == OPEN or dimension not in {d.dimension_id for d in instrument.dimensions}:
        return ItemFacts(family=scenario)
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=scenario, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """All rows; and every table, those of single agents and of the words behind themes among them."""
    single = {name: results[name] for name, table in PRESENTATION.tables.items() if table.one_agent}
    return {"responses.jsonl": lines(frame), "polarity_matrix.json": {**results.without("flags"), **single}}


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    rows = checkable(rows)
    wanted = analysis.facts.get("desirability")
    for phase in phases(rows):
        of_phase = closed(occasion(rows, phase))
        wishes = of_phase[of_phase["dimension"].eq(str(wanted))] if wanted else of_phase.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(analysis, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
)
