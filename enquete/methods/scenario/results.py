"""Result tables of rated scenarios: answers in, one DataFrame a table out.

`analyse` prepares the ratings once (`RatingData`) and calls one function a table. What a column means is in
`reports/columns.yaml`, sentences are in `findings.py`, the section of the report is in `report.md.j2`.

Means are on the instrument's scales. Their intervals hold for all scenarios of a dimension at once (Bonferroni), so
that they may be told of the highest of them: a scenario is called wished for or expected by such an interval alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement import friedman, pairwise_wilcoxon
from enquete.analysis.association import agent_centred, alike_ratings, centred, group_polarity, polarity
from enquete.analysis.change import smallest_p
from enquete.analysis.inference import detectable_change, extreme, selected_intervals
from enquete.analysis.panel import describe, frequencies, opinions
from enquete.locale import N_
from enquete.methods.scenario.instrument import OPEN, ScenarioInstrument
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext, responded, wide
from enquete.reports.declarations import Analysis, Row, compared, on_scale, shape_results
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import declare_group_tables
from enquete.reports.result_tables import LEVEL, rows_of
from enquete.state.asking import Language

READ_COLUMNS = ["participant", "stakeholder_type", "item_id", "status", "value", "text"]
"""The columns that are analysed: rows of a narrow table are chosen at a fraction of the cost."""
SIDES: tuple[Literal["highest", "lowest"], ...] = ("highest", "lowest")
QUADRANT_COUNTS = "n_wished_expected n_wished_unexpected n_feared_expected n_feared_unexpected n_undecided"
"""Columns that count agents by the quadrant that they place a scenario in."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("scenario")
TABLES = (
    GLOSSARY.table(
        "scenarios", N_("Wish and expectation"), key="scenario", label="label", replicates=("quadrant",),
        columns="scenario label items n n_total mean mean_low mean_high expectation expectation_low expectation_high "
                f"quadrant clear n_both polarity {QUADRANT_COUNTS} own_wish own_expectation",
        note=N_("Agents by the quadrant that they place a scenario in. Polarity: above 0 wish and expectation point "
                "the same way, below 0 they part. Centred on the agent: against its own mean over the scenarios, which "
                "leaves out that some rate everything high."),
    ),
    GLOSSARY.table(
        "ratings", N_("Ratings"), key="scenario dimension", replicates=("spread",),
        columns="scenario dimension item n n_total mean mean_low mean_high median sd iqr agreement bimodality "
                "mean_rank spread side scale_min scale_max",
        note=N_("Intervals hold for all scenarios of a dimension at once. A: van der Eijk's agreement (1 unanimous, −1 "
                "two camps); BC: bimodality coefficient; rank: 1 the lowest, over agents who rated all."),
    ),
    *declare_group_tables(GLOSSARY, N_("Where groups differ"), by="scenario dimension"),
    GLOSSARY.table(
        "dimensions", N_("Are the scenarios told apart?"), key="dimension", label="label",
        columns="dimension label wording items scale_min scale_max is_main highest n_highest mean_highest "
                "mean_low_highest mean_high_highest lowest n_lowest mean_lowest mean_low_lowest mean_high_lowest tied "
                "change n n_total p p_adjusted detectable detectable_share n_pairs p_least too_few chi2 df p_friedman "
                "w n_complete n_alike",
        note=N_("Friedman's test (inexact below 15 agents) with Kendall's W over agents who rated all scenarios. p: "
                "Wilcoxon's of highest and lowest, not below Friedman's; adjusted over all tests that can reach page "
                "one."),
    ),
    GLOSSARY.table(
        "pairs", N_("Scenarios in pairs"), key="dimension first second", replicates=("verdict",),
        columns="dimension first second n n_total mean_change hodges_lehmann rank_biserial p p_holm verdict",
        note=N_("Wilcoxon's test within agents, p by Holm over the pairs of a dimension. Positive: the second is rated "
                "higher. HL: Hodges–Lehmann estimate in scale points."),
    ),
    GLOSSARY.table(
        "open", N_("Open answers"), key="scenario", note="{question}",
        columns="scenario n n_total is_coded n_uncoded",
    ),
    GLOSSARY.table(
        "themes", N_("Themes of the open answers"), key="theme", label="label",
        columns="theme scenario label description n n_answers",
    ),
    GLOSSARY.table(
        "themes_by_group", N_("Themes by group"), key="scenario theme group",
        columns="scenario theme group n n_answers",
    ),
    GLOSSARY.table(
        "voices", N_("Themes in the agents' words"), key="theme participant", one_agent=True,
        columns="scenario theme participant stakeholder_type item place text",
    ),
    GLOSSARY.table(
        "agents", N_("Wish and expectation of every agent"), key="participant scenario", one_agent=True,
        columns="participant scenario desirability plausibility polarity", agents={"desirability": "group_tests"},
    ),
    GLOSSARY.table(
        "agent_ranges", N_("How far agents set the scenarios apart"), key="participant", one_agent=True,
        columns="participant desirability_range", agents=("desirability_range",),
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "n n_total n_scenarios main_dimension scale_min scale_max desirability plausibility widest fewest question"
)


def analyse(
    frame: pd.DataFrame, instrument: ScenarioInstrument, settings: object, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of the main arm.

    Args:
        frame: one row an answer.
        instrument: what was asked.
        settings: none are made of this methodology.
        context: the themes that were pinned, and what agents are compared by.
    """
    study = RatingData.prepare(frame, instrument, context)
    groups = context.groups_of(frame)
    ends = {key: study.ends[key[1]] for key in study.items}
    ratings = summarise_ratings(study)
    pairs = compare_pairs(study)
    tables: dict[str, pd.DataFrame] = {
        "ratings": ratings,
        "pairs": pairs,
        "dimensions": compare_ends(study, ratings, pairs),
        "scenarios": place_scenarios(study, ratings),
        "agents": list_agents(study),
        "agent_ranges": measure_ranges(study),
        **compared(study.values, groups, items=study.items, ends=ends),
        **summarise_open_answers(study, groups),
    }
    return shape_results(TABLES, FACTS, tables, state_facts(study))


@dataclass(frozen=True)
class RatingData:
    """The ratings, prepared once for all tables.

    Attributes:
        instrument: what was asked.
        context: what else an analysis may know.
        answers: one row an answer of the main arm.
        values: participants in the population's order × (scenario, dimension) in the instrument's; NaN where there is
            no rating.
    """

    instrument: ScenarioInstrument
    context: AnalysisContext
    answers: pd.DataFrame
    values: pd.DataFrame

    @classmethod
    def prepare(cls, frame: pd.DataFrame, instrument: ScenarioInstrument, context: AnalysisContext) -> RatingData:
        answers = frame[READ_COLUMNS]
        keys = [
            (scenario.scenario_id, dimension.dimension_id)
            for scenario, dimension in product(instrument.scenarios, instrument.dimensions)
        ]
        values = wide(answers, [item_id(*key) for key in keys], people=answers["participant"].unique())
        values.columns = pd.MultiIndex.from_tuples(keys, names=["scenario", "dimension"])
        return cls(instrument, context, answers, values)

    @property
    def language(self) -> Language:
        return self.context.language

    @cached_property
    def scenarios(self) -> dict[str, str]:
        """What each scenario is called, by id."""
        return {each.scenario_id: each.label.in_(self.language) for each in self.instrument.scenarios}

    @cached_property
    def ends(self) -> dict[str, tuple[int, int]]:
        """Both ends of the scale, by dimension."""
        names = [dimension.dimension_id for dimension in self.instrument.dimensions]
        scales = {name: self.instrument.scale_of(name) for name in names}
        return {name: (scale.min, scale.max) for name, scale in scales.items()}

    @cached_property
    def items(self) -> dict[tuple[str, str], str]:
        """The item behind each rating, by scenario and dimension."""
        return {key: item_id(*key) for key in product(self.scenarios, self.ends)}

    @property
    def wish(self) -> str | None:
        """The dimension that asks what is wished for."""
        return self.instrument.dimension_for("desirability")

    @property
    def expectation(self) -> str | None:
        """The dimension that asks what is expected."""
        return self.instrument.dimension_for("plausibility")

    @property
    def main_dimension(self) -> str:
        """The dimension that is read first: desirability where it is asked."""
        return self.wish or next(iter(self.ends))

    def of_dimension(self, dimension: str) -> pd.DataFrame:
        """Return the ratings on one dimension, participants × scenarios."""
        return pd.DataFrame({scenario: self.values[scenario, dimension] for scenario in self.scenarios})

    def centred_points(self, scenario: str, centre: Callable[..., np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """Return wish and expectation of every participant for a scenario, between −1 and 1.

        Args:
            scenario: its id.
            centre: how ratings are centred, `centred` or `agent_centred`.
        """
        place = list(self.scenarios).index(scenario)
        axes = (self.wish or "", self.expectation or "")
        return [centre(self.of_dimension(axis).to_numpy(), *self.ends[axis])[:, place] for axis in axes]


def item_id(scenario: str, dimension: str) -> str:
    """Return the id of a rating in all_responses.csv."""
    return f"{scenario}/{dimension}"


def summarise_ratings(study: RatingData) -> pd.DataFrame:
    """Return mean, spread and side of the midpoint of every scenario on every dimension."""
    rows = []
    for dimension, (low, high) in study.ends.items():
        values = study.of_dimension(dimension)
        intervals = selected_intervals(values.notna().sum(), values.mean(), values.std(), ends=(low, high))
        mean_ranks = friedman(values.to_numpy()).mean_ranks or [None] * len(intervals)
        for scenario, mean_low, mean_high, mean_rank in zip(
            study.scenarios, intervals["low"], intervals["high"], mean_ranks, strict=True
        ):
            given = values[scenario].to_numpy()
            spread = describe(given, low, high)
            rows.append(
                {
                    "scenario": scenario,
                    "dimension": dimension,
                    "item": item_id(scenario, dimension),
                    "n": spread.n,
                    "n_total": len(values),
                    "mean": spread.mean,
                    "mean_low": mean_low,
                    "mean_high": mean_high,
                    "median": spread.median,
                    "sd": spread.sd,
                    "iqr": spread.iqr,
                    "agreement": spread.agreement,
                    "bimodality": spread.bimodality,
                    "mean_rank": mean_rank,
                    "spread": opinions(frequencies(given, low, high)),
                    "side": side_of_midpoint(spread.n, mean_low, mean_high, (low + high) / 2),
                    "scale_min": low,
                    "scale_max": high,
                }
            )
    return pd.DataFrame(rows)


def side_of_midpoint(n: int, low: float, high: float, middle: float) -> str | None:
    """Return where a mean lies by its interval; a mean of few raters is clear of nothing."""
    if not n:
        return None
    if n >= FEWEST and low > middle:
        return "above"
    return "below" if n >= FEWEST and high < middle else "unclear"


def compare_pairs(study: RatingData) -> pd.DataFrame:
    """Return the difference of every two scenarios on a dimension, p by Holm over its pairs."""
    rows = []
    for dimension in study.ends:
        for pair in pairwise_wilcoxon(study.of_dimension(dimension)):
            test = pair.test
            rows.append(
                {
                    "dimension": dimension,
                    "first": pair.first,
                    "second": pair.second,
                    "n": test.n,
                    "n_total": len(study.values),
                    "mean_change": test.mean_change,
                    "hodges_lehmann": test.hodges_lehmann,
                    "rank_biserial": test.rank_biserial,
                    "p": test.p,
                    "p_holm": pair.p_holm,
                    "verdict": _higher_of(test.mean_change, pair.p_holm),
                }
            )
    return pd.DataFrame(rows)


def _higher_of(mean_change: float | None, p_holm: float | None) -> str | None:
    if p_holm is None:
        return None
    if p_holm >= LEVEL:
        return "neither"
    return "second" if (mean_change or 0) > 0 else "first"


def compare_ends(study: RatingData, ratings: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the highest and the lowest scenario of each dimension, and whether scenarios are told apart at all."""
    rows = []
    for axis in study.instrument.dimensions:
        dimension, (low, high) = axis.dimension_id, study.ends[axis.dimension_id]
        values = study.of_dimension(dimension)
        over_all, alike = friedman(values.to_numpy()), alike_ratings(values.to_numpy())
        tested = pairs[pairs["dimension"].eq(dimension) & pairs["p"].notna()] if len(pairs) else pairs
        n = int(tested["n"].max()) if len(tested) else 0
        rows.append(
            {
                "dimension": dimension,
                "label": f"{axis.label.in_(study.language)} ({low}–{high})",
                "wording": (axis.description or axis.label).in_(study.language),
                "scale_min": low,
                "scale_max": high,
                "is_main": dimension == study.main_dimension,
                "n_total": len(values),
                "n_complete": over_all.n,
                "chi2": over_all.chi2,
                "df": over_all.df,
                "w": over_all.w,
                "p_friedman": over_all.p,
                "n_alike": alike.n_alike,
                "n_pairs": len(tested),
                "p_least": smallest_p(n) if n else None,
                "too_few": bool(n) and smallest_p(n) >= LEVEL,
                **_describe_ends(study, dimension, ratings, tested, over_all.p),
            }
        )
    return pd.DataFrame(rows)


NO_ENDS: dict[str, Any] = {
    **{f"{name}_{side}": None for side in SIDES for name in ("mean", "mean_low", "mean_high")},
    **dict.fromkeys(("n_highest", "n_lowest", "tied", "change", "n", "p", "detectable", "detectable_share")),
    "highest": [], "lowest": [], "items": [],
}  # fmt: skip
"""Of a dimension on which no scenario is above another."""


def _describe_ends(
    study: RatingData, dimension: str, ratings: pd.DataFrame, tested: pd.DataFrame, p_friedman: float | None
) -> dict[str, Any]:
    """Return which scenarios have the highest and the lowest mean, and how sure it is that these differ."""
    rated = ratings[ratings["dimension"].eq(dimension)].reset_index(drop=True)
    means = pd.DataFrame({"estimate": rated["mean"].astype("float64")})
    if means["estimate"].nunique() < 2:
        return NO_ENDS
    row = dict(NO_ENDS)
    sides: dict[str, list[str]] = {}
    for side in SIDES:
        place, places = extreme(means, side)
        sides[side] = rated.loc[places, "scenario"].tolist()
        row |= {f"{name}_{side}": rated.loc[place, name] for name in ("mean", "mean_low", "mean_high")}
    both_ends = [*sides["highest"], *sides["lowest"]]
    row |= {
        **sides,
        "n_highest": len(sides["highest"]),
        "n_lowest": len(sides["lowest"]),
        "tied": "tied" if len(both_ends) > len(SIDES) else "single",
        "items": [item_id(scenario, dimension) for scenario in both_ends],
    }
    return row | _test_ends(study, dimension, sides, tested, p_friedman)


def _test_ends(
    study: RatingData, dimension: str, sides: dict[str, list[str]], tested: pd.DataFrame, p_friedman: float | None
) -> dict[str, Any]:
    """Return the difference of highest and lowest with its p: of their pair, not below Friedman's of all.

    Where some share a place, it is the pair least sure. Scenarios that are told apart have to be so among all of them,
    too; then the ends need no correction for the other pairs: of panels of 10 and 20 in which three, four or seven
    scenarios are alike and others not, .00 to .05 tell two apart that are alike.
    """
    wanted = [{highest, lowest} for highest, lowest in product(sides["highest"], sides["lowest"])]
    is_between = [{first, second} in wanted for first, second in zip(tested["first"], tested["second"], strict=True)]
    between = tested[np.asarray(is_between, dtype=bool)]
    if between.empty:
        return {}
    pair = max(rows_of(between), key=lambda row: float(row["p"]))
    change = study.values[pair["second"], dimension] - study.values[pair["first"], dimension]
    sd = float(change.dropna().to_numpy().std(ddof=1)) if pair["n"] > 1 else 0.0
    return {
        "change": abs(pair["mean_change"]),
        "n": pair["n"],
        "p": pair["p_holm"] if p_friedman is None else max(p_friedman, pair["p"]),
        **on_scale(detectable_change(pair["n"], sd, dof=pair["n"] - 1), study.ends[dimension]),
    }


def place_scenarios(study: RatingData, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the scenarios between what is wished for and what is expected, the highest mean first."""
    known = {(rating["scenario"], rating["dimension"]): rating for rating in rows_of(ratings)}
    rows = []
    for scenario, label in study.scenarios.items():
        main = known[scenario, study.main_dimension]
        row = {
            "scenario": scenario,
            "label": label,
            **{name: main[name] for name in ("n", "n_total", "mean", "mean_low", "mean_high")},
            "items": [main["item"]],
        }
        if study.wish is not None and study.expectation is not None:
            row |= _place_between(study, scenario, main, known[scenario, study.expectation])
        rows.append(row)
    names = [column.name for column in TABLES[0].stored]
    table = pd.DataFrame(rows).reindex(columns=names)
    return table.sort_values("mean", ascending=False, kind="stable", na_position="last")


def _place_between(study: RatingData, scenario: str, main: Row, other: Row) -> dict[str, Any]:
    """Return where a scenario lies by its means, how agents place it, and where it lies centred on the agents."""
    points = group_polarity(*study.centred_points(scenario, centred))
    own_points = group_polarity(*study.centred_points(scenario, agent_centred))
    return {
        "items": [main["item"], other["item"]],
        "expectation": other["mean"],
        "expectation_low": other["mean_low"],
        "expectation_high": other["mean_high"],
        "quadrant": quadrant_of(main["side"], other["side"]),
        "clear": min(distance_from_midpoint(main), distance_from_midpoint(other)),
        "n_both": points.n,
        "polarity": points.polarity,
        **{f"n_{name}": n for name, n in points.quadrants.items()},
        "own_wish": own_points.wish,
        "own_expectation": own_points.expectation,
    }


def quadrant_of(wish: str | None, expectation: str | None) -> str | None:
    """Return the quadrant of a scenario from the sides that its two means lie on; None where one was not rated."""
    if wish is None or expectation is None:
        return None
    if "unclear" in (wish, expectation):
        return "unclear"
    wished = "wished" if wish == "above" else "feared"
    expected = "expected" if expectation == "above" else "unexpected"
    return f"{wished}_{expected}"


def distance_from_midpoint(rating: Row) -> float:
    """Return how far a mean lies off the midpoint, as a share of half the scale; 0 where there is no mean."""
    low, high, mean = rating["scale_min"], rating["scale_max"], rating["mean"]
    if mean is None:
        return 0.0
    return float(abs(mean - (low + high) / 2) / ((high - low) / 2))


def list_agents(study: RatingData) -> pd.DataFrame:
    """Return wish and expectation of every agent, in scale points, and its polarity."""
    if study.wish is None:
        return pd.DataFrame()
    parts = []
    for scenario in study.scenarios:
        part = pd.DataFrame({"participant": study.values.index, "scenario": scenario})
        part["desirability"] = study.values[scenario, study.wish].to_numpy()
        part["plausibility"], part["polarity"] = np.nan, np.nan
        if study.expectation is not None:
            part["plausibility"] = study.values[scenario, study.expectation].to_numpy()
            part["polarity"] = np.asarray(polarity(*study.centred_points(scenario, centred)))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def measure_ranges(study: RatingData) -> pd.DataFrame:
    """Return how far each agent who rated all scenarios sets them apart."""
    if study.wish is None:
        return pd.DataFrame()
    complete = study.of_dimension(study.wish).dropna()
    width = complete.max(axis=1) - complete.min(axis=1)
    return width.rename("desirability_range").rename_axis("participant").reset_index()


def summarise_open_answers(study: RatingData, groups: pd.Series[str]) -> dict[str, pd.DataFrame]:
    """Return the open question by scenario: who answered, the themes as they were pinned, and who voices them.

    Args:
        study: the prepared answers.
        groups: by participant.
    """
    if study.instrument.open_question is None:
        return {}
    parts: dict[str, list[pd.DataFrame]] = {"open": [], "themes": [], "themes_by_group": [], "voices": []}
    for scenario in study.scenarios:
        asked = study.answers[study.answers["item_id"].eq(item_id(scenario, OPEN))]
        answered = responded(asked).set_index("participant")
        coded = study.context.pinned.get(f"themes/{scenario}")
        voices = list_voices(scenario, answered, coded)
        themes = count_themes(scenario, answered, coded, voices)
        by_group = count_themes_by_group(themes, voices, groups.reindex(answered.index))
        is_coded = isinstance(coded, dict)
        n_uncoded = len(set(answered.index) - set(voices["participant"]))
        count = {
            "scenario": scenario,
            "n": len(answered),
            "n_total": len(asked),
            "is_coded": is_coded,
            "n_uncoded": n_uncoded if is_coded else None,
        }
        for name, part in zip(parts, (pd.DataFrame([count]), themes, by_group, voices), strict=True):
            parts[name].append(part)
    return {name: join_parts(frames) for name, frames in parts.items()}


def join_parts(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the parts that have rows below one another."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


VOICE_COLUMNS = ["scenario", "theme", "participant", "place", "item", "stakeholder_type", "text"]


def list_voices(scenario: str, answered: pd.DataFrame, coded: JsonValue) -> pd.DataFrame:
    """Return who voices each theme of a scenario, in their words; those first whose answer voices no theme before it.

    Args:
        scenario: its id.
        answered: the answers to its open question, indexed by participant.
        coded: the themes as they were pinned.
    """
    rows = []
    voiced: set[str] = set()
    for theme in read_themes(coded):
        speakers = [str(statement).rpartition("|")[0] for statement in theme.get("statements") or ()]
        known = [speaker for speaker in speakers if speaker in answered.index]
        for place, speaker in enumerate(sorted(known, key=lambda each: each in voiced), 1):
            rows.append(
                {
                    "scenario": scenario,
                    "theme": f"{scenario}/{theme['id']}",
                    "participant": speaker,
                    "place": place,
                    "item": item_id(scenario, OPEN),
                    "stakeholder_type": answered.loc[speaker, "stakeholder_type"],
                    "text": answered.loc[speaker, "text"],
                }
            )
        voiced |= set(known)
    return pd.DataFrame(rows, columns=VOICE_COLUMNS)


def count_themes(scenario: str, answered: pd.DataFrame, coded: JsonValue, voices: pd.DataFrame) -> pd.DataFrame:
    """Return the themes of a scenario that anybody voices, and how many do."""
    n_voices = voices["theme"].value_counts()
    rows = []
    for theme in read_themes(coded):
        key = f"{scenario}/{theme['id']}"
        if key not in n_voices:
            continue
        rows.append(
            {
                "scenario": scenario,
                "theme": key,
                "label": str(theme["label"]),
                "description": str(theme.get("description") or ""),
                "n": n_voices[key],
                "n_answers": len(answered),
            }
        )
    return pd.DataFrame(rows, columns=["scenario", "theme", "label", "description", "n", "n_answers"])


def count_themes_by_group(themes: pd.DataFrame, voices: pd.DataFrame, groups: pd.Series[str]) -> pd.DataFrame:
    """Return how many of each group with enough answers voice a theme.

    Args:
        themes, voices: of one scenario.
        groups: of those who answered its open question.
    """
    sizes = groups.value_counts().sort_index()
    rows = []
    for scenario, theme in zip(themes["scenario"], themes["theme"], strict=True):
        speakers = voices.loc[voices["theme"].eq(theme), "participant"]
        n_voices = groups.reindex(speakers).value_counts()
        for group, n_answers in sizes[sizes >= FEWEST].items():
            n = int(n_voices.get(group, 0))
            rows.append({"scenario": scenario, "theme": theme, "group": group, "n": n, "n_answers": n_answers})
    return pd.DataFrame(rows)


def read_themes(stored: JsonValue) -> list[dict[str, Any]]:
    """Return the themes that were coded from the open answers to one scenario."""
    listed = stored.get("themes") if isinstance(stored, dict) else None
    return [theme for theme in listed if isinstance(theme, dict)] if isinstance(listed, list) else []


def state_facts(study: RatingData) -> dict[str, Any]:
    """Return the facts that sentences and notes are told over."""
    question = study.instrument.open_question
    scale_min, scale_max = study.ends[study.main_dimension]
    return {
        "n": int(responded(study.answers)["participant"].nunique()),
        "n_total": len(study.values),
        "n_scenarios": len(study.scenarios),
        "main_dimension": study.main_dimension,
        "scale_min": scale_min,
        "scale_max": scale_max,
        "desirability": study.wish,
        "plausibility": study.expectation,
        "widest": max(high - low for low, high in study.ends.values()),
        "fewest": FEWEST,
        "question": question.in_(study.language) if question else None,
    }
