"""What ratings of scenarios give: see reports/evaluation.py."""

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
from enquete.analysis.inference import QUESTIONS, detectable_change, extreme, selected_intervals
from enquete.analysis.panel import describe, frequencies, opinions
from enquete.analysis.quality import rated_alike
from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.graphs.scenario.tables import GLOSSARY, PRESENTATION
from enquete.reports.context import AnalysisContext, Files, ItemFacts, responded, wide
from enquete.reports.declarations import Analysis, Row, WholeResults, compared, shaped
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST, LEVEL
from enquete.reports.health_checks import Humans, Made, answers, any_other, checkable, closed, missing, occasion, phases
from enquete.reports.writing import lines
from enquete.state.asking import Language

# --- What the agents make of possible futures: ratings, which scenarios differ, wish and expectation, themes of the
# open answers
# Means are on the instrument's scales. Measured by: every figure stands beside its n, a scenario is called highest,
# wished for or expected only by an interval that holds for all scenarios at once, every theme names the answers that
# voice it. The tables are declared in tables.py.

READ = ["participant", "stakeholder_type", "item_id", "status", "value", "text"]
"""The columns that are analysed: rows of a narrow table are chosen at a fraction of the cost."""


def analyse(
    frame: pd.DataFrame, instrument: ScenarioInstrument, settings: object, context: AnalysisContext
) -> Analysis:
    """Tables over the main arm's rows."""
    rows = frame[READ]
    rated = Ratings.of(rows, instrument, context.language)
    ratings = rated.described()
    tables: dict[str, Any] = {
        "ratings": ratings,
        "distribution": rated.distribution(),
        "pairs": rated.pairs,
        "dimensions": rated.dimensions(ratings),
        "scenarios": rated.placed(ratings),
        "agents": rated.agents(),
        "agent_ranges": rated.ranges(),
        **compared(
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
        "main_dimension": rated.main, "desirability": rated.wished, "plausibility": rated.expected, "fewest": FEWEST,
        "widest": max(high - low for low, high in rated.ends.values()), "scale_min": rated.ends[rated.main][0],
        "scale_max": rated.ends[rated.main][1],
        "question": instrument.open_question.in_(context.language) if instrument.open_question else None,
    }  # fmt: skip
    return shaped(PRESENTATION, tables, facts)


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
        return {(s, d): f"{s}/{d}" for s, d in product(self.scenarios, self.ends)}

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

    def described(self) -> list[Row]:
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

    def distribution(self) -> Iterator[Row]:
        for (scenario, dimension), item in self.item.items():
            low, high = self.ends[dimension]
            counts = frequencies(self.table[scenario, dimension].to_numpy(), low, high).tolist()
            for value, n in enumerate(counts, low):
                about = {"scenario": scenario, "dimension": dimension, "item": item, "value": value, "n": n}
                yield {**about, "share": n / sum(counts) if sum(counts) else None}

    # --- which scenarios differ ---------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[Row]:
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

    def dimensions(self, ratings: list[Row]) -> Iterator[Row]:
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

    def _ends(self, dimension: str, ratings: list[Row], tested: list[Row], p_friedman: float | None) -> Row:
        """p: of the pair of highest and lowest, not below Friedman's of all; where some share a place, of the pair
        least sure.

        Whoever are told apart have to be so among all of them, too; then the ends need no correction for the other
        pairs: of panels of 10 and 20 in which three, four or seven scenarios are alike and others not, .00 to .05 tell
        two apart that are alike.
        """
        row: Row = dict.fromkeys((*ENDS, "change", "n", "p", "detectable", "n_highest", "n_lowest"))
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
                "detectable": detectable_change(pair["n"], sd, tests=QUESTIONS),
            }  # fmt: skip
        return row

    # --- wish and expectation -----------------------------------------------------------------------------------------

    def placed(self, ratings: list[Row]) -> list[Row]:
        """Scenarios, the highest mean of the main dimension first, between what is wished for and what is expected."""
        known = {(row["scenario"], row["dimension"]): row for row in ratings}
        placed = [self._placed(scenario, label, known) for scenario, label in self.scenarios.items()]
        return sorted(placed, key=lambda row: -1.0 if row["mean"] is None else -row["mean"])

    def _placed(self, scenario: str, label: str, known: Mapping[tuple[str, str], Row]) -> Row:
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

    def agents(self) -> Iterator[Row]:
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

    def ranges(self) -> Iterator[Row]:
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


def _off(rating: Row) -> float:
    """How far a mean lies off the midpoint, 0 to 1."""
    low, high = rating["scale_min"], rating["scale_max"]
    return abs(rating["mean"] - (low + high) / 2) / ((high - low) / 2) if rating["mean"] is not None else 0.0


# --- open answers -----------------------------------------------------------------------------------------------------


def open_answers(rows: pd.DataFrame, instrument: ScenarioInstrument, context: AnalysisContext) -> dict[str, list[Row]]:
    """The open question by scenario: who answered, themes as they were pinned, and who voices them."""
    tables: dict[str, list[Row]] = {name: [] for name in ("open", "themes", "themes_by_group", "voices")}
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


def _themes(stored: Any) -> list[Row]:
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


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """All rows; and every table, those of single agents and of the words behind themes among them."""
    single = {name: results[name] for name, table in PRESENTATION.tables.items() if table.one_agent}
    return {"responses.jsonl": lines(frame), "polarity_matrix.json": {**results.without("flags"), **single}}


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
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
