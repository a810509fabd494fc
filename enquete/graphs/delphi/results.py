"""What the panel gives: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue, ValidationError

from enquete.analysis.agreement import kendall_w
from enquete.analysis.coherence import answer_stability
from enquete.analysis.estimates import share_interval
from enquete.analysis.feedback import camps, drawn_toward, hold_outs
from enquete.analysis.inference import selected_intervals
from enquete.analysis.panel import (
    By,
    PanelMeasure,
    camps_p,
    converge,
    frequencies,
    has_camps,
    is_consensus,
    is_disagreement,
    panel_measures,
    rank_consensus,
    rank_robustness,
)
from enquete.analysis.probes import false_median
from enquete.analysis.quality import unrevised
from enquete.graphs.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.graphs.delphi.tables import ANSWERS, ASKS, GLOSSARY, PRESENTATION
from enquete.graphs.delphi.tables import state as accord_state
from enquete.reports.context import AnalysisContext, Files, ItemFacts, answering, shallow
from enquete.reports.declarations import Analysis, Row, WholeResults, compared, names, shaped
from enquete.reports.evaluation import Evaluation
from enquete.reports.health_checks import (
    Arms,
    Humans,
    Made,
    answers,
    checkable,
    each,
    gaps,
    missing,
    occasion,
    phases,
    repeated,
    rounds,
    scales,
)
from enquete.reports.views import dictionaries
from enquete.reports.writing import lines
from enquete.respondents.rule_coder import SecondCoding
from enquete.respondents.themes import agreement
from enquete.state.asking import RESPONDED

# --- What the panel makes of its themes: ratings by round, what feedback did, dissent with its words, ranked
# consensus
# Quartiles are of type 7. Measured by: every theme traces back to the answers that voice it, every figure stands beside
# its n, and who holds out is quoted in their own words. The tables are declared in tables.py.

READ = ["round", "participant", "stakeholder_type", "item_id", "status", "value", "text"]
"""What ratings are analysed by: rows of a narrow table are chosen at a fraction of the cost."""
FIRST_RATING = 2
TOP = 5
"""Places whose occupation is bootstrapped."""
ORDERS: tuple[By, ...] = ("mean", "consensus")
MODERATE = 0.5
"""Kendall's W from which a panel's rankings agree moderately (Schmidt 1997)."""
DROPPED = ("dropped_empty", "dropped_duplicates", "dropped_over_limit")


def analyse(
    frame: pd.DataFrame, instrument: DelphiInstrument, settings: DelphiSettings | None, context: AnalysisContext
) -> Analysis:
    """Tables over the main arm's rows."""
    rows = frame[READ]
    rounds = {number: rows[rows["round"].eq(number)] for number in sorted(int(n) for n in rows["round"].unique())}
    panel = Panel.of(rounds, instrument, context.pinned)
    ratings = list(panel.ratings())
    dissent = list(panel.dissent())
    tables = {
        "rounds": [panel.round_of(number, rows, frame, ratings) for number, rows in rounds.items()],
        "themes": panel.ranked_themes(ratings),
        "statements": panel.statements(),
        "ratings": _with_ranks(panel, ratings, dissent),
        "distribution": panel.distribution(),
        "stability": panel.stability(),
        "convergence": panel.convergence(),
        "revision": panel.revision(),
        "dissent": [stand.row for stand in dissent],
        "dissent_by_group": [
            row for stand in dissent if stand.row["label"] == "disagreement" for row in stand.by_group()
        ],
        "standing": [row for stand in dissent for row in stand.people()],
        "concordance": panel.concordance(),
        "agents": panel.agents(dissent),
        **panel.between_groups(context.groups_of(frame)),
    }
    coding, tables["second_coding"] = panel.second_coding(settings)
    ranking, tables["ranking"] = panel.ranking()
    last = [row for row in ratings if row["round"] == panel.last and row["dimension"] == panel.main and row["label"]]
    counts = {name: sum(row["label"] == label for row in last) for label, name in COUNTED.items()}
    tables["accord"] = [
        {"item": item, "asks": item, "state": state, "answer": item if state != "open" and item in ANSWERS else None}
        for item in ASKS
        for state in [accord_state(item, panel.last is not None)]
    ]
    people = frame.loc[~frame["participant"].duplicated()]
    facts = {
        "last_round": panel.last, "main_dimension": panel.main, "dimensions": panel.dimensions,
        "scale_min": panel.scale[0], "scale_max": panel.scale[1], "n_themes": len(panel.themes), "n_judged": len(last),
        **counts, "n": min((row["n"] for row in last), default=0), "n_total": len(people),
        **instrument.disagreement.model_dump(include={"consensus_iqr", "disagreement_iqr", "polarised_below"}),
        "n_rounds": len(rounds) if instrument.rounds == "auto" else instrument.rounds,
        "n_questions": len(instrument.questions), **_left_over(context.pinned.get("themes")), **coding, **ranking,
        **_ended(context.pinned, panel.last), "models": _distinct(frame, "model"),
        "respondents": _distinct(frame, "respondent"), "instrument_hash": _distinct(frame, "instrument_hash"),
        **_times(tables["rounds"]),
        "n_with_memory": int(people["memory_available"].sum()) if "memory_available" in people else None,
    }  # fmt: skip
    return shaped(PRESENTATION, tables, facts)


COUNTED = {"consensus": "n_consensus", "open": "n_open", "disagreement": "n_disputed"}


def item_of(theme: str, dimension: str) -> str:
    return f"theme:{theme}/{dimension}"


@dataclass(frozen=True)
class Panel:
    """Themes as they were pinned, and their ratings by round: participants × item ids, NaN where there is none."""

    themes: list[Row]  # theme, label, description, statements
    instrument: DelphiInstrument
    rows: Mapping[int, pd.DataFrame]
    tables: Mapping[int, pd.DataFrame]
    pinned: Mapping[str, JsonValue]

    @classmethod
    def of(
        cls, rounds: Mapping[int, pd.DataFrame], instrument: DelphiInstrument, pinned: Mapping[str, JsonValue]
    ) -> Panel:
        """rounds: the rows of each round."""
        themes = _themes(pinned.get("themes"))
        tables = {number: _table(rows, themes, instrument) for number, rows in rounds.items() if number >= FIRST_RATING}
        return cls(themes, instrument, rounds, tables, pinned)

    @cached_property
    def dimensions(self) -> list[str]:
        return [dimension.dimension_id for dimension in self.instrument.dimensions]

    @property
    def main(self) -> str:
        """Consensus is ranked by importance where it is asked."""
        return "importance" if "importance" in self.dimensions else self.dimensions[0]

    @property
    def scale(self) -> tuple[int, int]:
        scale = self.instrument.scale_of(self.main)
        return scale.min, scale.max

    @cached_property
    def last(self) -> int | None:
        """The last round in which anybody rated."""
        return max((n for n, table in self.tables.items() if table.notna().to_numpy().any()), default=None)

    @property
    def revised(self) -> int | None:
        """The last round, if it is one of revision."""
        return self.last if self.last is not None and self.last > FIRST_RATING else None

    @cached_property
    def items(self) -> dict[str, tuple[str, str]]:
        return {item_of(theme["theme"], d): (theme["theme"], d) for theme in self.themes for d in self.dimensions}

    @cached_property
    def ends(self) -> dict[str, tuple[int, int]]:
        """The lowest and the highest point by item."""
        scales = {item: self.instrument.scale_of(dimension) for item, (_, dimension) in self.items.items()}
        return {item: (scale.min, scale.max) for item, scale in scales.items()}

    def rated(self, item: str, number: int) -> pd.Series[float]:
        """One item's ratings in a round, NaN where there is none."""
        table = self.tables[number]
        return table[item] if item in table else pd.Series(np.nan, index=table.index)

    def shown(self, number: int, item: str) -> float | None:
        """The median of a round as the panel was shown it; late answers have not changed it."""
        feedback = self.pinned.get(f"feedback/{number}")
        figures = feedback.get(item) if isinstance(feedback, dict) else None
        median = figures.get("median") if isinstance(figures, dict) else None
        return float(median) if isinstance(median, int | float) else None

    # --- rounds and themes --------------------------------------------------------------------------------------------

    def round_of(self, number: int, rows: pd.DataFrame, frame: pd.DataFrame, ratings: list[Row]) -> Row:
        known = answering(rows)
        main = [row for row in ratings if row["round"] == number and row["dimension"] == self.main]
        w = kendall_w(self._main_table(number)).w if number in self.tables else None
        asked = pd.Series(dtype=object)
        if "asked_at" in frame:
            asked = frame.loc[frame["round"].eq(number) & frame["status"].isin(RESPONDED), "asked_at"]
        times = sorted(time for time in asked if time)
        return {
            "round": number, "n_responded": known["n_responded"], "n_planned": known["n_total"],
            "n": known["agents_responded"], "n_total": known["agents_total"], "w": w,
            "first_at": times[0] if times else None, "last_at": times[-1] if times else None,
            **{name: sum(row["label"] == label for row in main) if main else None for label, name in COUNTED.items()},
        }  # fmt: skip

    def ranked_themes(self, ratings: list[Row]) -> list[Row]:
        """Themes agreed upon have a rank, in the main dimension of the last round: by IQR, then median; ties share
        places."""
        agreed = {
            row["theme"]: row
            for row in ratings
            if (row["round"], row["dimension"], row["label"]) == (self.last, self.main, "consensus")
        }
        places: dict[str, tuple[int, int]] = {}
        if agreed:
            figures = pd.DataFrame.from_dict(agreed, orient="index")[["iqr", "median"]].astype(float)
            ranked = rank_consensus(figures, at_most=self.instrument.disagreement.consensus_iqr)
            places = {
                str(t): (int(a), int(b))
                for t, a, b in zip(ranked.index, ranked["rank"], ranked["rank_to"], strict=True)
            }
        return [
            {
                **{key: theme[key] for key in ("theme", "label", "description")},
                "n_agents": len({statement.rpartition("|")[0] for statement in theme["statements"]}),
                "n_statements": len(theme["statements"]),
                **dict(zip(("rank", "rank_to"), places.get(theme["theme"], (None, None)), strict=True)),
            }
            for theme in self.themes
        ]  # fmt: skip

    def statements(self) -> Iterator[Row]:
        """Every answer of round 1 with the themes that it voices."""
        first = self.rows.get(1)
        if first is None:
            return
        texts = first[["participant", "item_id", "text"]].itertuples(index=False)
        words = {f"{who}|{item}": (who, item, text) for who, item, text in texts}
        for theme in self.themes:
            known = [words[statement] for statement in theme["statements"] if statement in words]
            for place, (who, item, text) in enumerate(known, 1):
                yield {"theme": theme["theme"], "participant": who, "item": item, "place": place, "text": text}

    def second_coding(self, settings: DelphiSettings | None) -> tuple[Row, list[Row]]:
        """Agreement of the two codings over the statements that both have.

        Krippendorff's α by theme (given or not) and over sets of themes (MASI). A statement that a coder gave to no
        theme is coded, with no theme; one that the second coder left out of its reply is counted and not compared.
        """
        if settings is not None and not settings.second_coding:
            return {"second_coding_state": "off"}, []
        stored = self.pinned.get("second_coding")
        try:
            again = SecondCoding.model_validate(stored) if isinstance(stored, Mapping) else None
        except ValidationError:
            again = None
        if again is None:
            return {"second_coding_state": "missing"}, []
        coded = asdict(agreement({theme["theme"]: theme["statements"] for theme in self.themes}, again))
        rows = [
            {key: theme[key] for key in ("theme", "n_first", "n_second", "n_both", "alpha")}
            for theme in coded["themes"]
        ]
        return {
            "second_coding_state": "done", "alpha": coded["alpha"], "coded_twice": coded["n"],
            "coded_alike": coded["identical_share"], "not_coded_again": len(again.uncoded),
        }, rows  # fmt: skip

    # --- ratings ------------------------------------------------------------------------------------------------------

    @cached_property
    def measures(self) -> list[PanelMeasure]:
        limits = self.instrument.disagreement
        return panel_measures(
            self.tables, self.ends, consensus_iqr=limits.consensus_iqr, polarised_below=limits.polarised_below
        )

    def ratings(self) -> Iterator[Row]:
        """Per theme, dimension and round: figures of the spread, and three verdicts that none derives from another.

        agreed: IQR within the instrument's limit. polarised: A below its limit, or a split. `label` sums up for the
        reader: disagreement, consensus, or open in between; two camps are never a consensus; fewer than two raters are
        neither.
        """
        bounds = self._bounds()
        for measure in self.measures:
            item, spread, several = measure.item, measure.spread, measure.spread.n > 1
            low, high = bounds[item, measure.round]
            yield {
                **self._about(measure), "item": item, "n": spread.n, "n_total": spread.n + spread.n_missing,
                "scale_min": self.ends[item][0], "scale_max": self.ends[item][1],
                **{key: getattr(spread, key) for key in SPREAD}, "tastle_wierman": spread.consensus, "mean_low": low,
                "mean_high": high, "agreed": measure.consensus if several else None,
                "polarised": measure.polarised if several else None, "label": self._label(measure), "stand": None,
            }  # fmt: skip

    def _about(self, measure: PanelMeasure) -> Row:
        theme, dimension = self.items[measure.item]
        return {"theme": theme, "dimension": dimension, "round": measure.round}

    def _bounds(self) -> dict[tuple[str, int], tuple[float, float]]:
        """Bounds of each mean that hold for the theme with the highest of all, by item and round."""
        bounds: dict[tuple[str, int], tuple[float, float]] = {}
        for number in self.tables:
            for dimension in self.dimensions:
                scale = self.instrument.scale_of(dimension)
                measures = [m for m in self.measures if m.round == number and self.items[m.item][1] == dimension]
                figures = pd.DataFrame([shallow(m.spread) for m in measures], columns=["n", "mean", "sd"]).astype(float)
                intervals = selected_intervals(
                    figures["n"], figures["mean"], figures["sd"], selected="highest", ends=(scale.min, scale.max)
                )
                for measure, low, high in zip(measures, intervals["low"], intervals["high"], strict=True):
                    bounds[measure.item, number] = (low, high)
        return bounds

    def _label(self, measure: PanelMeasure) -> str | None:
        limits = self.instrument.disagreement
        if measure.spread.n < 2:
            return None
        if is_disagreement(measure.spread, iqr_above=limits.disagreement_iqr, polarised_below=limits.polarised_below):
            return "disagreement"
        return "consensus" if is_consensus(measure.spread.iqr, at_most=limits.consensus_iqr) else "open"

    def distribution(self) -> Iterator[Row]:
        for measure in self.measures:
            low, high = self.ends[measure.item]
            counts = frequencies(self.rated(measure.item, measure.round).to_numpy(dtype=float), low, high)
            for value, n in enumerate(counts.tolist(), low):
                share = n / measure.spread.n if measure.spread.n else None
                yield {**self._about(measure), "item": measure.item, "value": value, "n": n, "share": share}

    def stability(self) -> Iterator[Row]:
        for measure in self.measures:
            stability, spread = measure.stability, measure.spread
            if stability is not None:
                yield {
                    **self._about(measure), "n_total": spread.n + spread.n_missing,
                    **{key: getattr(stability, key) for key in STABLE}, "kappa": stability.kappa.kappa,
                    "p": stability.wilcoxon.p, "p_holm": measure.p_holm, "p_bh": measure.p_bh,
                }  # fmt: skip

    def convergence(self) -> Iterator[Row]:
        """From the first rating to the last revision, over the panelists who gave both."""
        if self.revised is None or FIRST_RATING not in self.tables:
            return
        for item, (theme, dimension) in self.items.items():
            first, second = (self.rated(item, n) for n in (FIRST_RATING, self.revised))
            known = shallow(converge(first, second, median=self.shown(FIRST_RATING, item)))
            yield {
                "theme": theme, "dimension": dimension, "item": item, "from_round": FIRST_RATING,
                "to_round": self.revised, "n_total": len(second), **{key: known[key] for key in CONVERGED},
            }  # fmt: skip

    def concordance(self) -> Iterator[Row]:
        """Kendall's W over the themes, per dimension and round; raters with a gap are left out and counted."""
        for number, table in self.tables.items():
            for dimension in self.dimensions:
                kendall = kendall_w(table.reindex(columns=self._of(dimension)).to_numpy(dtype=float))
                yield {
                    "round": number, "dimension": dimension, "n": kendall.n_raters, "n_dropped": kendall.n_dropped,
                    "n_themes": kendall.n_items, "w": kendall.w, "chi2": kendall.chi2, "p": kendall.p,
                    "moderate": None if kendall.w is None else kendall.w >= MODERATE,
                }  # fmt: skip

    def ranking(self) -> tuple[Row, list[Row]]:
        """How firm the order of the themes is in the last round, per dimension: by mean rating, and by IQR then
        median."""
        rows: list[Row] = []
        facts: Row = {}
        for dimension in self.dimensions if self.last is not None else ():
            table = self._by_theme(self._of(dimension))
            for by in ORDERS if table.shape[1] else ():
                robust = rank_robustness(table, k=min(TOP, table.shape[1]), by=by)
                if dimension == self.main:
                    facts |= {"top": robust.k, "draws": robust.draws, f"tau_{by}": robust.tau_mean}
                for theme in robust.themes:
                    rows.append({"by": by, "dimension": dimension, **{key: getattr(theme, key) for key in RANKED}})
        return facts, rows

    def _by_theme(self, items: list[str]) -> pd.DataFrame:
        """Those of the items that the last round has, named by their themes."""
        table = self.tables[self.last or 0]
        listed = [item for item in items if item in table]
        return table[listed].rename(columns={item: self.items[item][0] for item in listed})

    def _of(self, dimension: str) -> list[str]:
        return [item for item, (_, d) in self.items.items() if d == dimension]

    def _main_table(self, number: int) -> np.ndarray:
        return self.tables[number].reindex(columns=self._of(self.main)).to_numpy(dtype=float)

    # --- tests --------------------------------------------------------------------------------------------------------

    def revision(self) -> Iterator[Row]:
        """Whether revisions went toward the medians of the others, beyond what answering again does by chance."""
        if self.revised is None or FIRST_RATING not in self.tables:
            return
        first, last = self.tables[FIRST_RATING].align(self.tables[self.revised], join="outer")
        both = first.notna() & last.notna()
        changed = both & first.ne(last)
        drawn = drawn_toward(first, last, self.ends)
        direction = "neither"
        if drawn.estimate is not None and drawn.movement != "untestable":
            nearer = drawn.estimate > 0 and (drawn.specific is None or drawn.specific > 0)
            direction = "closer" if nearer else "farther" if drawn.estimate < 0 else "neither"
        agents = both.any(axis=1)
        yield {
            "direction": direction, "n": drawn.n, "n_total": drawn.n_total, "before": drawn.before,
            "after": drawn.after, "nearer": drawn.estimate, "nearer_low": drawn.low, "nearer_high": drawn.high,
            "p": None if drawn.movement == "untestable" else drawn.p,
            "n_unchanged": int((agents & ~changed.any(axis=1)).sum()),
            "n_ratings_same": int((both & ~changed).to_numpy().sum()), "n_ratings": int(both.to_numpy().sum()),
        }  # fmt: skip

    def between_groups(self, groups: pd.Series[str]) -> dict[str, Any]:
        """Each theme in the last round, on the dimension that themes are ranked by. groups: by participant."""
        if self.last is None:
            return {}
        values = self._by_theme(self._of(self.main))
        items = {theme: item_of(str(theme), self.main) for theme in values}
        return compared(values, groups, "theme", items, ends=dict.fromkeys(values, self.scale))

    # --- dissent ------------------------------------------------------------------------------------------------------

    def dissent(self) -> Iterator[Stand]:
        """Who stands where after the last revision, on what is disputed and on other ratings on which somebody holds
        out."""
        if self.revised is None:
            return
        asked = dict(iter(self.rows[self.revised].groupby("item_id", sort=False)))
        for measure in self.measures:
            if measure.round == self.revised and measure.item in asked:
                stand = self._stand(measure, asked[measure.item])
                if stand.row["label"] == "disagreement" or stand.row["n_holding_out"]:
                    yield stand

    def _stand(self, measure: PanelMeasure, rows: pd.DataFrame) -> Stand:
        item, last, spread, (low, high) = measure.item, measure.round - 1, measure.spread, self.ends[measure.item]
        final = self.rated(item, measure.round)
        before = self.rated(item, last).reindex(final.index) if last in self.tables else final * np.nan
        holding = hold_outs(final, before, median=self.shown(last, item), distance=(high - low) / 2)
        counts = frequencies(final.to_numpy(dtype=float), low, high)
        split = camps(final, polarised=has_camps(counts))
        if split is not None:
            stood = before.le(split.low) & final.le(split.low) | before.ge(split.high) & final.ge(split.high)
            sides, stayed, kind = (split.below, split.above), frozenset(map(str, before.index[stood])), "camps"
        else:
            # Against a panel without a middle nobody holds out.
            sides = ((), ()) if self._label(measure) == "disagreement" else (holding.below, holding.above)
            stayed = frozenset((*sides[0], *sides[1]))
            kind = "hold_outs" if stayed else "scattered"
        figures = share_interval(len(sides[1]), spread.n) if kind == "camps" else {}
        theme, dimension = self.items[item]
        row = {
            "theme": theme, "dimension": dimension, "item": item, "kind": kind, "label": self._label(measure),
            "n": spread.n, "n_total": spread.n + spread.n_missing, "iqr": spread.iqr, "agreement": spread.agreement,
            "median_shown": holding.median, "distance": holding.distance, "n_paired": holding.n_paired,
            "n_holding_out": len(stayed) if kind == "hold_outs" else 0, "n_below": len(sides[0]),
            "n_above": len(sides[1]), "n_stayed": len(stayed & {*sides[0], *sides[1]}), "mean_gap": holding.mean_gap,
            "n_between": split.n_between if split else None, "low_at": split.low if split else None,
            "high_at": split.high if split else None,
            "p": min(1.0, (camps_p(counts) or 1.0) * len(self.themes)) if split else None,  # of the most divided of all
            **{f"above_{key}": figures.get(key) for key in ("share", "low", "high")},
        }  # fmt: skip
        return Stand(row, sides, stayed, before, rows, holding.median or 0.0)

    def agents(self, dissent: list[Stand]) -> Iterator[Row]:
        """On which share of its last ratings an agent holds out, and its mean distance from the medians it was
        shown."""
        if self.revised is None:
            return
        table = self.tables[self.revised]
        medians = pd.Series({item: self.shown(self.revised - 1, str(item)) for item in table}, dtype=float)
        gap = table.sub(medians.fillna(table.median())).abs().mean(axis=1)
        camped = [stand.row["item"] for stand in dissent if stand.row["kind"] == "camps"]
        single = table.drop(columns=[item for item in camped if item in table])
        held = pd.Series(0, index=table.index)
        for stand in dissent:
            if stand.row["kind"] == "hold_outs":
                held = held.add(pd.Series(1, index=[*stand.sides[0], *stand.sides[1]]), fill_value=0)
        share = held / single.notna().sum(axis=1).replace(0, np.nan)
        for who in table.index[table.notna().any(axis=1)]:
            yield {"participant": who, "delphi_held_out": share.get(who), "delphi_gap": gap[who]}


SPREAD = ("median", "q1", "q3", "iqr", "mean", "sd", "agreement", "bimodality", "top_share")
CONVERGED = names("n_paired iqr_first iqr_second delta_iqr n_moved n_off_median n_toward n_away share_toward")
STABLE = ("n_paired", "share_changed", "net_change", "stable", "delta_cv")
RANKED = ("theme", "rank", "low", "high", "p_top")


@dataclass(frozen=True)
class Stand:
    """Who stands below and above on one item, and who of them stood there in the round before. Distances are from the
    median that the panel was shown."""

    row: Row
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    stayed: frozenset[str]
    before: pd.Series[float]
    rows: pd.DataFrame  # answers of the last round
    median: float

    def people(self) -> Iterator[Row]:
        """Everybody on a side, those first who stayed and give a reason, and came no closer."""
        members = {row["participant"]: row for row in self.rows.to_dict("records")}

        def last(who: str) -> tuple[bool, bool, bool]:
            closer = abs(members[who]["value"] - self.median) < abs(self.before[who] - self.median)
            return members[who]["text"] == "", bool(closer), who not in self.stayed

        for side, people in zip(("below", "above"), self.sides, strict=True):
            for place, who in enumerate(sorted(people, key=last), 1):
                row = members[who]
                yield {
                    "theme": self.row["theme"], "dimension": self.row["dimension"], "participant": who, "side": side,
                    "value": row["value"], "before": self.before[who], "stayed": who in self.stayed,
                    "reason": row["text"] or None, "stakeholder_type": row["stakeholder_type"], "place": place,
                }  # fmt: skip

    def by_group(self) -> Iterator[Row]:
        """By stakeholder type: who rated, and who of them stands on which side."""
        rated = self.rows[self.rows["value"].notna()]
        below, above = (rated["participant"].isin(side) for side in self.sides)
        counts = pd.DataFrame({"n_below": below, "n_above": above, "n": True}).groupby(rated["stakeholder_type"]).sum()
        for row in dictionaries(counts.sort_index().reset_index()):
            yield {"theme": self.row["theme"], "dimension": self.row["dimension"], **row}


def _themes(stored: JsonValue) -> list[Row]:
    listed = stored.get("themes") if isinstance(stored, dict) else stored
    return [
        {"theme": str(theme["id"]), "label": str(theme["label"]), "description": str(theme.get("description", "")),
         "statements": [str(each) for each in theme.get("statements") or []]}  # type: ignore[union-attr]
        for theme in (listed if isinstance(listed, list) else [])
        if isinstance(theme, dict)
    ]  # fmt: skip


def _table(rows: pd.DataFrame, themes: list[Row], instrument: DelphiInstrument) -> pd.DataFrame:
    table = rows.pivot(index="participant", columns="item_id", values="value").astype(float)
    items = [item_of(theme["theme"], d.dimension_id) for theme in themes for d in instrument.dimensions]
    return table.reindex(index=rows["participant"].unique(), columns=[item for item in items if item in table])


def _with_ranks(panel: Panel, ratings: list[Row], dissent: list[Stand]) -> list[Row]:
    """Each rating with its theme's rank, and how many undisputed themes share its median."""
    ranks = {row["theme"]: row["rank"] for row in panel.ranked_themes(ratings)}
    kinds = {stand.row["item"]: stand.row["kind"] for stand in dissent}
    settled = [
        (row["round"], row["dimension"], row["median"]) for row in ratings if row["label"] in ("consensus", "open")
    ]
    return [
        {**row, "rank": ranks.get(row["theme"]), "tied": settled.count((row["round"], row["dimension"], row["median"])),
         "stand": kinds.get(row["item"]) if row["round"] == panel.revised else None}
        for row in ratings
    ]  # fmt: skip


def _left_over(coded: JsonValue) -> Row:
    """How much coding left uncoded or dropped; None before it."""
    if not isinstance(coded, dict):
        return {}
    return {"uncoded": _count(coded.get("uncoded")), "dropped": sum(_count(coded.get(key)) or 0 for key in DROPPED)}


def _count(value: JsonValue) -> int | None:
    return len(value) if isinstance(value, list) else value if isinstance(value, int) else None


def _ended(pinned: Mapping[str, JsonValue], last: int | None) -> Row:
    """Why a panel that may have gone on did not."""
    stored = pinned.get(f"exit/{last}")
    if not isinstance(stored, dict):
        return {"ended": "set"}
    details: Any = stored.get("details") or {}
    agreement, stable = details.get("agreement"), details.get("stable_share")
    return {"ended": stored.get("reason"), "ended_agreement": agreement, "ended_stable": stable}


def _times(rounds: list[Row]) -> Row:
    """When the first and the last answer came."""
    first, last = ([row[end] for row in rounds if row[end]] for end in ("first_at", "last_at"))
    return {"first_at": min(first, default=None), "last_at": max(last, default=None)}


def _distinct(frame: pd.DataFrame, column: str) -> list[str]:
    return sorted({str(value) for value in frame[column].unique() if value}) if column in frame else []


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has
    none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1, ratings of round 2, revisions after it, and what converged."""
    return {
        "round1_themes.jsonl": results.rows("themes"),
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": results.without("themes", "flags"),
    }


# --- health -----------------------------------------------------------------------------------------------------------


FALSE_MEDIAN = "false_median"


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    rows = checkable(rows)
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        rated = rounds(of_phase)
        if len(rated) > 1:
            first, last = (answers(occasion(of_phase, phase, number)) for number in (rated[0], rated[-1]))
            yield from each(phase, (unrevised(first, last), answer_stability(first, last)))
        else:
            yield from each(phase, (missing(name, "no_revision") for name in ("unrevised", "answer_stability")))
        if rated:
            yield from each(phase, scales(occasion(of_phase, phase, rated[0]), humans))
    yield from gaps(rows)


# --- probes ----------------------------------------------------------------------------------------------------------


def probed(arms: Arms) -> Made:
    """Ratings asked again, and a false median."""
    yield from repeated(arms)
    yield from _false_median(arms)


def _false_median(arms: Arms) -> Made:
    """The pull of a median that nobody gave, against that of the panel's own."""
    if FALSE_MEDIAN not in arms.others:
        return
    bogus, main = arms.others[FALSE_MEDIAN], str(arms.main["arm"].iloc[0])
    for phase in phases(bogus):
        told = rounds(occasion(bogus, phase))[-1]
        rated = [number for number in rounds(occasion(arms.main, phase)) if number <= told]
        if len(rated) < 2 or rated[-1] != told:
            yield phase, missing("false_median", "no_revision")
            continue
        first, last = (answers(occasion(arms.main, phase, number)) for number in rated[-2:])
        true, false = (_medians(arms, arm) for arm in (main, FALSE_MEDIAN))
        followed = answers(occasion(bogus, phase, told))
        yield phase, false_median(first, last, followed, true_median=true, bogus_median=false)


def _medians(arms: Arms, arm: str) -> dict[str, float]:
    """Item → median that this arm's panel was shown in the round that the false ones were shown in."""
    rounds = (int(name.partition("/")[2]) for name in arms.pinned(FALSE_MEDIAN) if name.startswith("feedback/"))
    feedback = arms.pinned(arm).get(f"feedback/{max(rounds, default='')}")
    items = feedback if isinstance(feedback, Mapping) else {}
    medians = {str(item): row.get("median") for item, row in items.items() if isinstance(row, Mapping)}
    return {item: float(median) for item, median in medians.items() if isinstance(median, int | float)}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
)
