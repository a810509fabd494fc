"""Result tables of a Delphi panel: answers in, one DataFrame a table out.

`analyse` prepares the answers once (`PanelData`) and calls one function a table. What a column means is in
`reports/columns.yaml`, sentences are in `findings.py`, the section of the report is in `report.md.j2`. Quartiles are of
type 7, as numpy and pandas have them. Limits of consensus and dispute are the instrument's (`disagreement:`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue, ValidationError

from enquete.analysis.agreement import kendall_w
from enquete.analysis.estimates import mean_of, share_interval
from enquete.analysis.feedback import Camps, HoldOuts, camps, hold_outs, medians_of_others
from enquete.analysis.inference import detectable_change, selected_intervals
from enquete.analysis.panel import (
    PanelMeasure,
    camps_p,
    converge,
    frequencies,
    has_camps,
    is_consensus,
    is_disagreement,
    panel_measures,
    rank_consensus,
)
from enquete.analysis.sign_flips import mean_change
from enquete.locale import N_
from enquete.methods.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext, answering, shallow
from enquete.reports.declarations import Analysis, compared, on_scale, shape_results
from enquete.reports.group_tables import declare_group_tables
from enquete.respondents.rule_coder import SecondCoding
from enquete.respondents.themes import agreement
from enquete.state.asking import RESPONDED

FIRST_RATING = 2
"""The round in which the themes are rated first."""
MODERATE_W = 0.5
"""Kendall's W from which a panel's rankings agree moderately (Schmidt 1997)."""
VERDICT_COUNTS = {"consensus": "n_consensus", "open": "n_open", "disagreement": "n_disputed"}
"""Columns that count the themes with a verdict."""
DROPPED = ("dropped_empty", "dropped_duplicates", "dropped_over_limit")
"""What the coding of round 1 reports about themes that it dropped."""

DISSENT_COLUMNS = (
    "theme dimension item kind label n n_total iqr agreement median_shown distance n_paired n_holding_out n_below "
    "n_above n_between n_stayed low_at high_at ends p p_adjusted above_share above_low above_high mean_gap"
)

RATING_OF_DISSENT = ("theme", "dimension", "label", "n", "n_total", "iqr", "agreement")
"""Columns of the ratings that stand beside who holds out on them."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("delphi")
TABLES = (
    GLOSSARY.table(
        "rounds", N_("Rounds"), key="round",
        columns="round n_responded n_planned n n_total n_consensus n_open n_disputed w first_at last_at",
    ),
    GLOSSARY.table(
        "themes", N_("Themes"), key="theme", label="label",
        columns="theme label description n_agents n_statements rank rank_to",
    ),
    GLOSSARY.table(
        "statements", N_("Statements by theme"), key="theme participant item", one_agent=True,
        columns="theme participant item place text",
    ),
    GLOSSARY.table(
        "second_coding", N_("Second coding"), key="theme", columns="theme n_first n_second n_both alpha",
    ),
    GLOSSARY.table(
        "ratings", N_("Ratings by theme"), key="theme dimension round", replicates=("label", "polarised"),
        columns="theme dimension round item rank n n_total median q1 q3 iqr mean sd mean_low mean_high agreement "
                "tastle_wierman bimodality top_share agreed polarised label stand tied scale_min scale_max",
        note=N_("A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {consensus_iqr}. "
                "Disputed: IQR > {disagreement_iqr}, A < {polarised_below}, or a third of the panel at least on either "
                "of two sides that lie apart."),
    ),
    GLOSSARY.table(
        "distribution", N_("Distribution of the ratings"), key="theme dimension round value",
        columns="theme dimension round item value n share",
    ),
    GLOSSARY.table(
        "revision", N_("How ratings moved"), key="direction", replicates=("direction",),
        columns="direction n n_total n_toward n_away before after nearer nearer_low nearer_high n_unchanged "
                "n_ratings_same n_ratings",
        note=N_("This describes and names no cause: answers that are less noisy the second time come nearer to a "
                "median, too. An effect of feedback is told only against agents who rated again without it."),
    ),
    GLOSSARY.table(
        "feedback_effect", N_("What feedback did"), key="verdict", replicates=("verdict",),
        columns="verdict n n_total with_feedback without difference low high sd p p_adjusted detectable "
                "detectable_share",
        note=N_("The same agents rated again with feedback and, apart from it, without; p and interval by sign flips "
                "of agents."),
    ),
    GLOSSARY.table(
        "dissent", N_("What stays disputed"), key="theme dimension",
        columns=DISSENT_COLUMNS,
        note=N_("Camps: a third of the raters at least on either of two sides that lie apart, as no even spread looks; "
                "else opinions are spread. Hold-outs: in both rounds at least half the scale's width off the median "
                "fed back, on the same side, no closer than before, and fewer than half of the raters there."),
    ),
    GLOSSARY.table(
        "dissent_by_group", N_("Who stands where, by group"), key="theme dimension group",
        columns="theme dimension group n_below n_above n",
    ),
    GLOSSARY.table(
        "standing", N_("Who stands where, in their words"), key="theme dimension participant", one_agent=True,
        columns="theme dimension participant stakeholder_type side value before stayed reason place",
    ),
    *declare_group_tables(GLOSSARY, N_("Ratings by group"), by="theme"),
    GLOSSARY.table(
        "convergence", N_("Convergence from the first to the last round of rating"), key="theme dimension",
        columns="theme dimension item from_round to_round n_paired n_total iqr_first iqr_second delta_iqr n_moved "
                "n_off_median n_toward n_away share_toward",
        note=N_("The median is the one that was fed back. Whoever answers again comes closer to a median by chance "
                "alone; whether feedback did it is tested apart, against agents who rated again without it."),
    ),
    GLOSSARY.table(
        "stability", N_("Stability between rounds"), key="theme dimension round",
        columns="theme dimension round n_paired n_total kappa share_changed net_change stable delta_cv p p_holm p_bh",
        note=N_("Within the same agents, against the round before. Stable: net change of the histogram ≤ 15% (Scheibe, "
                "Skutsch & Schofer 1975). κ with quadratic weights; p of Wilcoxon's test, corrected over the ratings "
                "of the round."),
    ),
    GLOSSARY.table(
        "concordance", N_("Concordance of the rankings (Kendall's W)"), key="round dimension",
        replicates=("moderate",), columns="round dimension n n_dropped n_themes w moderate chi2 p",
    ),
    GLOSSARY.table(
        "agents", N_("The panel's agents"), key="participant", one_agent=True,
        columns="participant delphi_held_out delphi_gap", agents=("delphi_held_out", "delphi_gap"),
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "last_round main_dimension dimensions scale_min scale_max n_themes n_judged n_consensus n_open n_disputed n "
    "n_total consensus_iqr disagreement_iqr polarised_below n_rounds n_questions uncoded dropped second_coding_state "
    "alpha coded_twice coded_alike not_coded_again ended ended_agreement ended_stable"
)


def analyse(
    frame: pd.DataFrame, instrument: DelphiInstrument, settings: DelphiSettings | None, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of a panel.

    Args:
        frame: one row an answer, of the main arm and of the arm that rated again without feedback.
        instrument: what was asked.
        settings: of the run; None where none were made.
        context: what was pinned (themes, feedback) and what agents are compared by.
    """
    panel = PanelData.prepare(frame, instrument, context.pinned)
    groups = context.groups_of(panel.answers)

    ratings = summarise_ratings(panel)
    themes = rank_themes(panel, ratings)
    sides = find_sides(panel)
    dissent = describe_dissent(panel, ratings, sides)
    ratings = add_ranks_and_dissent(panel, ratings, themes, dissent)
    coding_facts, second_coding = compare_codings(panel, settings)

    tables: dict[str, pd.DataFrame] = {
        "rounds": count_rounds(panel, ratings),
        "themes": themes,
        "statements": list_statements(panel),
        "second_coding": second_coding,
        "ratings": ratings,
        "distribution": count_ratings(panel),
        "revision": describe_revision(panel),
        "feedback_effect": measure_feedback_effect(panel),
        "dissent": dissent,
        "dissent_by_group": count_sides_by_group(panel, dissent, sides, groups),
        "standing": list_people_on_sides(panel, dissent, sides),
        "convergence": measure_convergence(panel),
        "stability": measure_stability(panel),
        "concordance": measure_concordance(panel),
        "agents": describe_agents(panel, dissent, sides),
        **compare_groups(panel, groups),
    }
    facts = {**state_facts(panel, ratings), **coding_facts}
    return shape_results(TABLES, FACTS, tables, facts)


@dataclass(frozen=True)
class PanelData:
    """A panel's answers, prepared once for all tables.

    Attributes:
        instrument: what was asked.
        answers: one row an answer of the main arm.
        control: the same for agents who rated again without feedback.
        themes: a row a theme: theme, label, description, statements ("participant|question").
        items: a row a rated item, indexed by its id: theme, dimension, scale_min, scale_max.
        ratings: by round, participants × items, NaN where there is none.
        pinned: what was fixed during the interviews, by name: "themes", "feedback/2".
    """

    instrument: DelphiInstrument
    answers: pd.DataFrame
    control: pd.DataFrame
    themes: pd.DataFrame
    items: pd.DataFrame
    ratings: Mapping[int, pd.DataFrame]
    pinned: Mapping[str, JsonValue]

    @classmethod
    def prepare(cls, frame: pd.DataFrame, instrument: DelphiInstrument, pinned: Mapping[str, JsonValue]) -> PanelData:
        is_control = frame["arm_role"].eq("variant") if "arm_role" in frame else pd.Series(False, index=frame.index)
        control, answers = frame[is_control], frame[~is_control]
        themes = read_themes(pinned.get("themes"))
        items = list_items(themes, instrument)
        rounds = sorted(int(number) for number in answers["round"].unique())
        ratings = {
            number: pivot_ratings(answers[answers["round"].eq(number)], items)
            for number in rounds
            if number >= FIRST_RATING
        }
        return cls(instrument, answers, control, themes, items, ratings, pinned)

    @property
    def dimensions(self) -> list[str]:
        return [dimension.dimension_id for dimension in self.instrument.dimensions]

    @property
    def main_dimension(self) -> str:
        """The dimension that consensus is ranked by: importance, where it is asked."""
        return "importance" if "importance" in self.dimensions else self.dimensions[0]

    @property
    def scale(self) -> tuple[int, int]:
        """Both ends of the scale of the main dimension."""
        scale = self.instrument.scale_of(self.main_dimension)
        return scale.min, scale.max

    @cached_property
    def last_round(self) -> int | None:
        """The last round in which anybody rated."""
        rated = [number for number, table in self.ratings.items() if table.notna().to_numpy().any()]
        return max(rated, default=None)

    @property
    def revised_round(self) -> int | None:
        """The last round, if it is one in which ratings were revised."""
        return self.last_round if self.last_round is not None and self.last_round > FIRST_RATING else None

    @cached_property
    def measures(self) -> list[PanelMeasure]:
        """Spread and stability of every item in every round."""
        limits = self.instrument.disagreement
        ends = {str(item): self.scale_of(str(item)) for item in self.items.index}
        return panel_measures(
            self.ratings, ends, consensus_iqr=limits.consensus_iqr, polarised_below=limits.polarised_below
        )

    def scale_of(self, item: str) -> tuple[int, int]:
        """Return both ends of the scale of an item."""
        return int(self.items["scale_min"][item]), int(self.items["scale_max"][item])

    def ratings_of(self, item: str, number: int) -> pd.Series[float]:
        """Return one item's ratings in a round by participant, NaN where there is none."""
        table = self.ratings[number]
        return table[item] if item in table else pd.Series(np.nan, index=table.index)

    def items_of(self, dimension: str) -> list[str]:
        """Return the ids of the items that ask for one dimension, in the order of the themes."""
        return list(self.items.index[self.items["dimension"].eq(dimension)])

    def main_ratings(self) -> pd.DataFrame:
        """Return the last round's ratings on the main dimension, participants × themes."""
        table = self.ratings[self.last_round or 0]
        items = [item for item in self.items_of(self.main_dimension) if item in table]
        return table[items].rename(columns=self.items["theme"].to_dict())

    def shown_median(self, number: int, item: str) -> float | None:
        """Return the median of a round as the panel was shown it; answers that came late have not changed it."""
        feedback = self.pinned.get(f"feedback/{number}")
        summary = feedback.get(item) if isinstance(feedback, dict) else None
        median = summary.get("median") if isinstance(summary, dict) else None
        return float(median) if isinstance(median, int | float) else None

    def shown_medians(self, number: int, items: pd.Index[Any]) -> pd.Series[float]:
        """Return the medians of a round that were shown, by item."""
        return pd.Series({item: self.shown_median(number, str(item)) for item in items}, dtype=float)

    def name_items(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table that has the column `item` with theme and dimension in front."""
        return table.join(self.items[["theme", "dimension"]], on="item") if len(table) else table


def rows_of_round(frame: pd.DataFrame, number: int | None) -> pd.DataFrame:
    """Return the rows of one round; none where there was no such round."""
    return frame.iloc[:0] if number is None else frame[frame["round"].eq(number)]


def read_themes(pinned: JsonValue) -> pd.DataFrame:
    """Return the themes that were coded from the answers to round 1, a row each."""
    listed = pinned.get("themes") if isinstance(pinned, dict) else pinned
    themes: list[Any] = [theme for theme in listed if isinstance(theme, dict)] if isinstance(listed, list) else []
    rows = [
        {
            "theme": str(theme["id"]),
            "label": str(theme["label"]),
            "description": str(theme.get("description", "")),
            "statements": [str(statement) for statement in theme.get("statements") or []],
        }
        for theme in themes
    ]
    return pd.DataFrame(rows, columns=["theme", "label", "description", "statements"])


def list_items(themes: pd.DataFrame, instrument: DelphiInstrument) -> pd.DataFrame:
    """Return every rated item with its theme, dimension and scale, indexed by its id."""
    rows = []
    for theme in themes["theme"]:
        for dimension in instrument.dimensions:
            name = dimension.dimension_id
            scale = instrument.scale_of(name)
            rows.append((item_id(theme, name), theme, name, scale.min, scale.max))
    return pd.DataFrame(rows, columns=["item", "theme", "dimension", "scale_min", "scale_max"]).set_index("item")


def item_id(theme: str, dimension: str) -> str:
    """Return the id of a rating in all_responses.csv."""
    return f"theme:{theme}/{dimension}"


def pivot_ratings(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings of one round, participants × items."""
    table = answers.pivot(index="participant", columns="item_id", values="value").astype(float)
    return table.reindex(index=answers["participant"].unique(), columns=[item for item in items.index if item in table])


def count_rounds(panel: PanelData, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return per round: answers, agents, verdicts on the main dimension, Kendall's W, first and last answer."""
    rows = []
    for number in sorted(int(each) for each in panel.answers["round"].unique()):
        answers = rows_of_round(panel.answers, number)
        counts = answering(answers)
        row: dict[str, Any] = {
            "round": number,
            "n_responded": counts["n_responded"],
            "n_planned": counts["n_total"],
            "n": counts["agents_responded"],
            "n_total": counts["agents_total"],
            "w": None,
        }
        judged = ratings[ratings["round"].eq(number) & ratings["dimension"].eq(panel.main_dimension)]
        for label, name in VERDICT_COUNTS.items():
            row[name] = judged["label"].eq(label).sum() if len(judged) else None

        if number in panel.ratings:
            main = panel.ratings[number].reindex(columns=panel.items_of(panel.main_dimension))
            row["w"] = kendall_w(main.to_numpy(dtype=float)).w

        times: list[str] = []
        if "asked_at" in answers:
            times = sorted(time for time in answers.loc[answers["status"].isin(RESPONDED), "asked_at"] if time)
        row["first_at"], row["last_at"] = (times[0], times[-1]) if times else (None, None)
        rows.append(row)
    return pd.DataFrame(rows)


def rank_themes(panel: PanelData, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the themes; those agreed on in the last round have a rank: by IQR, then median, ties share places."""
    last = rows_of_round(ratings, panel.last_round)
    agreed = last[last["dimension"].eq(panel.main_dimension) & last["label"].eq("consensus")]
    spread = agreed.set_index("theme")[["iqr", "median"]].astype(float)
    ranked = rank_consensus(spread, at_most=panel.instrument.disagreement.consensus_iqr)
    speakers = [{statement.rpartition("|")[0] for statement in each} for each in panel.themes["statements"]]
    table = panel.themes[["theme", "label", "description"]].assign(
        n_agents=[len(each) for each in speakers], n_statements=panel.themes["statements"].map(len)
    )
    return table.join(ranked[["rank", "rank_to"]], on="theme")


def list_statements(panel: PanelData) -> pd.DataFrame:
    """Return every answer of round 1 with the themes that it voices."""
    first = panel.answers[panel.answers["round"].eq(1)]
    known = pd.DataFrame(
        {
            "statement": first["participant"] + "|" + first["item_id"],
            "participant": first["participant"],
            "item": first["item_id"],
            "text": first["text"],
        }
    )
    voiced = panel.themes[["theme", "statements"]].explode("statements").rename(columns={"statements": "statement"})
    table = voiced.merge(known, on="statement", how="inner")
    return table.assign(place=table.groupby("theme").cumcount() + 1).drop(columns="statement")


def compare_codings(panel: PanelData, settings: DelphiSettings | None) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return facts and a table on how far two codings of the statements agree.

    Krippendorff's α by theme (given or not) and over sets of themes (MASI). A statement that a coder gave to no theme
    is coded, with no theme; one that the second coder left out of its reply is counted and not compared.
    """
    if settings is not None and not settings.second_coding:
        return {"second_coding_state": "off"}, pd.DataFrame()
    again = _read_second_coding(panel.pinned.get("second_coding"))
    if again is None:
        return {"second_coding_state": "missing"}, pd.DataFrame()
    first = dict(zip(panel.themes["theme"], panel.themes["statements"], strict=True))
    coded = asdict(agreement(first, again))
    facts = {
        "second_coding_state": "done",
        "alpha": coded["alpha"],
        "coded_twice": coded["n"],
        "coded_alike": coded["identical_share"],
        "not_coded_again": len(again.uncoded),
    }
    return facts, pd.DataFrame(coded["themes"], columns=["theme", "n_first", "n_second", "n_both", "alpha"])


def _read_second_coding(stored: JsonValue) -> SecondCoding | None:
    if not isinstance(stored, Mapping):
        return None
    try:
        return SecondCoding.model_validate(stored)
    except ValidationError:
        return None


def summarise_ratings(panel: PanelData) -> pd.DataFrame:
    """Return the spread of every rating in every round, with three verdicts of which none follows from another.

    agreed: the IQR is within the instrument's limit. polarised: A is below its limit, or the ratings fall into two
    sides. label sums up: disagreement, consensus, or open in between; two camps are never a consensus. Fewer than two
    raters have no verdict.
    """
    rows = []
    for measure in panel.measures:
        spread = measure.spread
        is_judged = spread.n > 1
        rows.append(
            {
                **shallow(spread),
                "item": measure.item,
                "round": measure.round,
                "n_total": spread.n + spread.n_missing,
                "tastle_wierman": spread.consensus,
                "agreed": measure.consensus if is_judged else None,
                "polarised": measure.polarised if is_judged else None,
                "label": _verdict(panel, measure),
            }
        )
    if not rows:
        return pd.DataFrame(columns=["theme", "dimension", "round", "item", "label", "iqr", "median"])
    table = pd.DataFrame(rows).drop(columns=["n_missing", "consensus", "split"]).join(panel.items, on="item")
    for (_, dimension), part in table.groupby(["round", "dimension"]):
        scale = panel.instrument.scale_of(str(dimension))
        # The highest mean is chosen by looking at all of them; its interval must hold all the same.
        bounds = selected_intervals(
            part["n"].astype(float), part["mean"].astype(float), part["sd"].astype(float), selected="highest",
            ends=(scale.min, scale.max),
        )  # fmt: skip
        table.loc[part.index, ["mean_low", "mean_high"]] = bounds[["low", "high"]].to_numpy()
    return table


def _verdict(panel: PanelData, measure: PanelMeasure) -> str | None:
    limits = panel.instrument.disagreement
    if measure.spread.n < 2:
        return None
    if is_disagreement(measure.spread, iqr_above=limits.disagreement_iqr, polarised_below=limits.polarised_below):
        return "disagreement"
    return "consensus" if is_consensus(measure.spread.iqr, at_most=limits.consensus_iqr) else "open"


def add_ranks_and_dissent(
    panel: PanelData, ratings: pd.DataFrame, themes: pd.DataFrame, dissent: pd.DataFrame
) -> pd.DataFrame:
    """Return the ratings with their themes' ranks, the kind of dissent, and how many settled themes tie with each."""
    settled = ratings[ratings["label"].isin(["consensus", "open"])]
    tied = settled.groupby(["round", "dimension", "median"]).size().rename("tied")
    table = ratings.join(tied, on=["round", "dimension", "median"]).fillna({"tied": 0})
    table = table.join(themes.set_index("theme")["rank"], on="theme")
    kinds = dict(zip(dissent["item"], dissent["kind"], strict=True))
    is_last = table.index.isin(rows_of_round(table, panel.revised_round).index)
    return table.assign(stand=table["item"].map(kinds).where(is_last))


def count_ratings(panel: PanelData) -> pd.DataFrame:
    """Return how many agents chose each point of the scale, per rating and round."""
    rows = []
    for measure in panel.measures:
        low, high = panel.scale_of(measure.item)
        counts = frequencies(panel.ratings_of(measure.item, measure.round).to_numpy(dtype=float), low, high)
        for value, n in enumerate(counts.tolist(), low):
            share = n / measure.spread.n if measure.spread.n else None
            rows.append({"item": measure.item, "round": measure.round, "value": value, "n": n, "share": share})
    return panel.name_items(pd.DataFrame(rows))


def measure_stability(panel: PanelData) -> pd.DataFrame:
    """Return how far each agent kept the rating of the round before."""
    rows = []
    for measure in panel.measures:
        stability = measure.stability
        if stability is None:
            continue
        rows.append(
            {
                "item": measure.item,
                "round": measure.round,
                "n_paired": stability.n_paired,
                "n_total": measure.spread.n + measure.spread.n_missing,
                "kappa": stability.kappa.kappa,
                "share_changed": stability.share_changed,
                "net_change": stability.net_change,
                "stable": stability.stable,
                "delta_cv": stability.delta_cv,
                "p": stability.wilcoxon.p,
                "p_holm": measure.p_holm,
                "p_bh": measure.p_bh,
            }
        )
    return panel.name_items(pd.DataFrame(rows)).drop(columns="item", errors="ignore")


def measure_convergence(panel: PanelData) -> pd.DataFrame:
    """Return how the spread changed from the first rating to the last revision, over agents who gave both."""
    last = panel.revised_round
    if last is None or FIRST_RATING not in panel.ratings:
        return pd.DataFrame()
    rows = []
    for item in panel.items.index:
        first, final = panel.ratings_of(item, FIRST_RATING), panel.ratings_of(item, last)
        change = converge(first, final, median=panel.shown_median(FIRST_RATING, item))
        rows.append({"item": item, "n_total": len(final), **shallow(change)})
    table = pd.DataFrame(rows).drop(columns=["n_first_only", "n_second_only"], errors="ignore")
    return panel.name_items(table.assign(from_round=FIRST_RATING, to_round=last))


def measure_concordance(panel: PanelData) -> pd.DataFrame:
    """Return Kendall's W of the agents' rankings of the themes; raters with a gap are left out and counted."""
    rows = []
    for number, ratings in panel.ratings.items():
        for dimension in panel.dimensions:
            kendall = kendall_w(ratings.reindex(columns=panel.items_of(dimension)).to_numpy(dtype=float))
            rows.append(
                {
                    "round": number,
                    "dimension": dimension,
                    "n": kendall.n_raters,
                    "n_dropped": kendall.n_dropped,
                    "n_themes": kendall.n_items,
                    "w": kendall.w,
                    "moderate": None if kendall.w is None else kendall.w >= MODERATE_W,
                    "chi2": kendall.chi2,
                    "p": kendall.p,
                }
            )
    return pd.DataFrame(rows)


def compare_groups(panel: PanelData, groups: pd.Series[str]) -> dict[str, pd.DataFrame]:
    """Return means and tests of every theme in the last round, on the main dimension. groups: by participant."""
    if panel.last_round is None:
        return {}
    values = panel.main_ratings()
    items = {theme: item_id(str(theme), panel.main_dimension) for theme in values}
    return compared(values, groups, "theme", items, ends=dict.fromkeys(values, panel.scale))


def describe_revision(panel: PanelData) -> pd.DataFrame:
    """Return how far ratings moved to the medians that were fed back. It describes; it names no cause."""
    if panel.revised_round is None or FIRST_RATING not in panel.ratings:
        return pd.DataFrame()
    first, last = panel.ratings[FIRST_RATING].align(panel.ratings[panel.revised_round], join="outer")
    medians = panel.shown_medians(FIRST_RATING, first.columns).fillna(first.median())
    both = first.notna() & last.notna()
    before, after = (first - medians).abs().where(both), (last - medians).abs().where(both)
    nearer = before - after
    changed = both & first.ne(last)
    agents = both.any(axis=1)

    mean_nearer = mean_of(nearer.mean(axis=1))
    direction = "neither"
    if mean_nearer.low is not None and mean_nearer.low > 0:
        direction = "closer"
    elif mean_nearer.high is not None and mean_nearer.high < 0:
        direction = "farther"
    row = {
        "direction": direction,
        "n": agents.sum(),
        "n_total": len(agents),
        "n_toward": nearer.gt(0).to_numpy().sum(),
        "n_away": nearer.lt(0).to_numpy().sum(),
        "before": before.mean(axis=1).mean(),
        "after": after.mean(axis=1).mean(),
        "nearer": mean_nearer.mean,
        "nearer_low": mean_nearer.low,
        "nearer_high": mean_nearer.high,
        "n_unchanged": (agents & ~changed.any(axis=1)).sum(),
        "n_ratings_same": (both & ~changed).to_numpy().sum(),
        "n_ratings": both.to_numpy().sum(),
    }
    return pd.DataFrame([row])


def measure_feedback_effect(panel: PanelData) -> pd.DataFrame:
    """Return what feedback did: last ratings with it against the same agents' without.

    T is the mean over agents of their mean |y − M| − |x − M| over the items that they rated in all three, x with
    feedback and y without, M the median of the *others'* first ratings. H₀: for an agent x and y are as likely the
    other way round; M is the same for both, so that flipping the sign of an agent's mean is exact.
    """
    last = panel.revised_round
    if last is None or FIRST_RATING not in panel.ratings or panel.control.empty:
        return pd.DataFrame()
    first = panel.ratings[FIRST_RATING]
    revised = panel.ratings[last].reindex(index=first.index, columns=first.columns)
    again = pivot_ratings(panel.control[panel.control["round"].eq(last)], panel.items)
    again = again.reindex(index=first.index, columns=first.columns)
    medians = medians_of_others(first)
    rated = first.notna() & revised.notna() & again.notna() & medians.notna()
    with_feedback = (revised - medians).abs().where(rated).mean(axis=1)
    without = (again - medians).abs().where(rated).mean(axis=1)
    nearer = without - with_feedback

    effect = mean_change(nearer.to_numpy())
    if effect.mean is None:
        return pd.DataFrame()
    sd = float(nearer.dropna().std()) if effect.n > 1 else 0.0
    verdict = "neither"
    if effect.mean:
        verdict = "closer" if effect.mean > 0 else "farther"
    row = {
        "verdict": verdict,
        "n": effect.n,
        "n_total": len(first),
        "with_feedback": with_feedback.mean(),
        "without": without.mean(),
        "difference": effect.mean,
        "low": effect.low,
        "high": effect.high,
        "sd": sd,
        "p": effect.p,
        **on_scale(detectable_change(effect.n, sd, dof=effect.n - 1), panel.scale),
    }
    return pd.DataFrame([row])


@dataclass(frozen=True)
class ItemSides:
    """Who stands where on one item after the last revision: two camps, or those who hold out against the panel."""

    holding: HoldOuts
    split: Camps | None
    below: tuple[str, ...]
    above: tuple[str, ...]
    stayed: frozenset[str]
    before: pd.Series[float]

    @property
    def kind(self) -> str:
        if self.split is not None:
            return "camps"
        return "hold_outs" if self.stayed else "scattered"


def find_sides(panel: PanelData) -> dict[str, ItemSides]:
    """Return by item who stands where, for every item of the last revision."""
    number = panel.revised_round
    if number is None:
        return {}
    asked = set(panel.answers.loc[panel.answers["round"].eq(number), "item_id"])
    measures = [measure for measure in panel.measures if measure.round == number and measure.item in asked]
    return {measure.item: _sides_of(panel, measure) for measure in measures}


def _sides_of(panel: PanelData, measure: PanelMeasure) -> ItemSides:
    low, high = panel.scale_of(measure.item)
    final = panel.ratings_of(measure.item, measure.round)
    previous = measure.round - 1
    before = final * np.nan
    if previous in panel.ratings:
        before = panel.ratings_of(measure.item, previous).reindex(final.index)
    median = panel.shown_median(previous, measure.item)
    holding = hold_outs(final, before, median=median, distance=(high - low) / 2)
    split = camps(final, polarised=has_camps(frequencies(final.to_numpy(dtype=float), low, high)))
    if split is not None:
        stood_below = before.le(split.low) & final.le(split.low)
        stood_above = before.ge(split.high) & final.ge(split.high)
        stayed = frozenset(map(str, before.index[stood_below | stood_above]))
        return ItemSides(holding, split, split.below, split.above, stayed, before)
    if _verdict(panel, measure) == "disagreement":  # against a panel without a middle nobody holds out
        return ItemSides(holding, None, (), (), frozenset(), before)
    return ItemSides(holding, None, holding.below, holding.above, frozenset((*holding.below, *holding.above)), before)


def describe_dissent(panel: PanelData, ratings: pd.DataFrame, sides: Mapping[str, ItemSides]) -> pd.DataFrame:
    """Return what is disputed after the last revision, and other ratings on which somebody holds out."""
    spread = rows_of_round(ratings, panel.revised_round).set_index("item")
    rows = []
    for item, side in sides.items():
        rating = spread.loc[item]
        holds_out = side.kind == "hold_outs"
        if rating["label"] != "disagreement" and not holds_out:
            continue
        on_a_side = {*side.below, *side.above}
        rows.append(
            {
                **{name: rating[name] for name in RATING_OF_DISSENT},
                "item": item,
                "kind": side.kind,
                "median_shown": side.holding.median,
                "distance": side.holding.distance,
                "n_paired": side.holding.n_paired,
                "n_holding_out": len(side.stayed) if holds_out else 0,
                "n_below": len(side.below),
                "n_above": len(side.above),
                "n_stayed": len(side.stayed & on_a_side),
                "mean_gap": side.holding.mean_gap,
                **_describe_camps(panel, item, side),
            }
        )
    return pd.DataFrame(rows, columns=DISSENT_COLUMNS.split())


def _describe_camps(panel: PanelData, item: str, side: ItemSides) -> dict[str, Any]:
    """Return where two camps stand, the share of the upper one, and the p of so wide a split."""
    split = side.split
    if split is None:
        return {}
    low, high = panel.scale_of(item)
    final = panel.ratings_of(item, panel.revised_round or 0).to_numpy(dtype=float)
    p = camps_p(frequencies(final, low, high)) or 1.0
    share = share_interval(len(split.above), int(np.isfinite(final).sum()))
    return {
        "n_between": split.n_between,
        "low_at": split.low,
        "high_at": split.high,
        "ends": camps_at_ends(split.low, split.high, low, high),
        "p": min(1.0, p * len(panel.themes)),  # of the most divided of all themes
        "above_share": share["share"],
        "above_low": share["low"],
        "above_high": share["high"],
    }


def camps_at_ends(low_at: float, high_at: float, low: int, high: int) -> str:
    """Return which camps are a single point at an end of the scale, of which nothing lies beyond."""
    if low_at <= low:
        return "both_ends" if high_at >= high else "low_end"
    return "high_end" if high_at >= high else "inner"


def list_people_on_sides(panel: PanelData, dissent: pd.DataFrame, sides: Mapping[str, ItemSides]) -> pd.DataFrame:
    """Return everybody on a side, those first who stayed, give a reason and came no closer."""
    final = rows_of_round(panel.answers, panel.revised_round).set_index(["item_id", "participant"])
    rows = []
    for item in dissent["item"]:
        side = sides[item]
        median = side.holding.median or 0.0
        for name, people in (("below", side.below), ("above", side.above)):
            for participant in people:
                answer, before = final.loc[(item, participant)], side.before[participant]
                rows.append(
                    {
                        "item": item,
                        "participant": participant,
                        "stakeholder_type": answer["stakeholder_type"],
                        "side": name,
                        "value": answer["value"],
                        "before": before,
                        "stayed": participant in side.stayed,
                        "reason": answer["text"] or None,
                        "came_closer": abs(answer["value"] - median) < abs(before - median),
                    }
                )
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    order = pd.DataFrame(
        {
            "item": pd.Categorical(table["item"], dissent["item"]),
            "side": pd.Categorical(table["side"], ["below", "above"]),
            "no_reason": table["reason"].isna(),
            "came_closer": table["came_closer"],
            "moved": ~table["stayed"],
        }
    )
    table = table.loc[order.sort_values([str(name) for name in order], kind="stable").index].drop(columns="came_closer")
    table = table.assign(place=table.groupby(["item", "side"], sort=False).cumcount() + 1)
    return panel.name_items(table).drop(columns="item")


def count_sides_by_group(
    panel: PanelData, dissent: pd.DataFrame, sides: Mapping[str, ItemSides], groups: pd.Series[str]
) -> pd.DataFrame:
    """Return per disputed rating and group: who rated, and who of them stands on which side."""
    final = rows_of_round(panel.answers, panel.revised_round).dropna(subset=["value"])
    parts = []
    for item in dissent.loc[dissent["label"].eq("disagreement"), "item"]:
        rated = final.loc[final["item_id"].eq(item), "participant"]
        counts = pd.DataFrame(
            {
                "group": rated.map(groups),
                "n_below": rated.isin(sides[item].below),
                "n_above": rated.isin(sides[item].above),
                "n": 1,
            }
        )
        parts.append(counts.groupby("group").sum().reset_index().assign(item=item))
    return panel.name_items(pd.concat(parts)).drop(columns="item") if parts else pd.DataFrame()


def describe_agents(panel: PanelData, dissent: pd.DataFrame, sides: Mapping[str, ItemSides]) -> pd.DataFrame:
    """Return on which share of its last ratings an agent holds out, and how far it is from the medians it was shown."""
    number = panel.revised_round
    if number is None:
        return pd.DataFrame()
    ratings = panel.ratings[number]
    medians = panel.shown_medians(number - 1, ratings.columns).fillna(ratings.median())
    gap = ratings.sub(medians).abs().mean(axis=1)

    # Where the panel has two camps nobody holds out, so that these ratings do not count.
    with_camps = dissent.loc[dissent["kind"].eq("camps"), "item"]
    n_rated = ratings.drop(columns=with_camps, errors="ignore").notna().sum(axis=1)
    held_out = pd.Series(0, index=ratings.index)
    for item in dissent.loc[dissent["kind"].eq("hold_outs"), "item"]:
        held_out[[*sides[item].below, *sides[item].above]] += 1
    table = pd.DataFrame({"delphi_held_out": held_out / n_rated.replace(0, np.nan), "delphi_gap": gap})
    return table[ratings.notna().any(axis=1)].rename_axis("participant").reset_index()


def state_facts(panel: PanelData, ratings: pd.DataFrame) -> dict[str, Any]:
    """Return the facts that sentences and notes are told over."""
    instrument = panel.instrument
    last = rows_of_round(ratings, panel.last_round)
    judged = last[last["dimension"].eq(panel.main_dimension) & last["label"].notna()]
    counts = {name: int(judged["label"].eq(label).sum()) for label, name in VERDICT_COUNTS.items()}
    n_rounds = panel.answers["round"].nunique() if instrument.rounds == "auto" else instrument.rounds
    return {
        "last_round": panel.last_round,
        "main_dimension": panel.main_dimension,
        "dimensions": panel.dimensions,
        "scale_min": panel.scale[0],
        "scale_max": panel.scale[1],
        "n_themes": len(panel.themes),
        "n_judged": len(judged),
        **counts,
        "n": int(judged["n"].min()) if len(judged) else 0,
        "n_total": panel.answers["participant"].nunique(),
        **instrument.disagreement.model_dump(include={"consensus_iqr", "disagreement_iqr", "polarised_below"}),
        "n_rounds": n_rounds,
        "n_questions": len(instrument.questions),
        **_left_over_by_coding(panel.pinned.get("themes")),
        **_end_of_panel(panel),
    }


def _left_over_by_coding(coded: JsonValue) -> dict[str, Any]:
    """Return how many answers belong to no theme and how many themes were dropped; nothing before the coding."""
    if not isinstance(coded, dict):
        return {}
    dropped = [_count(coded.get(name)) or 0 for name in DROPPED]
    return {"uncoded": _count(coded.get("uncoded")), "dropped": sum(dropped)}


def _count(value: JsonValue) -> int | None:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) else None


def _end_of_panel(panel: PanelData) -> dict[str, Any]:
    """Return why the panel stopped, and its agreement and stability at that point where these decided."""
    stored = panel.pinned.get(f"exit/{panel.last_round}")
    if not isinstance(stored, dict):
        return {"ended": "set"}
    details = stored.get("details")
    known = details if isinstance(details, dict) else {}
    return {
        "ended": stored.get("reason"),
        "ended_agreement": known.get("agreement"),
        "ended_stable": known.get("stable_share"),
    }
