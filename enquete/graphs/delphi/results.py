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
from enquete.analysis.feedback import Camps, HoldOuts, camps, drawn_toward, hold_outs
from enquete.analysis.inference import selected_intervals
from enquete.analysis.panel import (
    By,
    PanelMeasure,
    RankRobustness,
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
from enquete.reports.declarations import Analysis, compared, shaped
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

Row = dict[str, Any]


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
        "rounds": [panel.round_of(number, own, frame, ratings) for number, own in rounds.items()],
        "themes": panel.ranked_themes(ratings),
        "statements": panel.statements(),
        "ratings": _with_ranks(panel, ratings),
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
    last = [one for one in ratings if one["round"] == panel.last and one["dimension"] == panel.main and one["label"]]
    counts = {name: sum(one["label"] == label for one in last) for label, name in COUNTED.items()}
    tables["accord"] = [
        {"item": item, "asks": item, "state": state, "answer": item if state != "open" and item in ANSWERS else None}
        for item in ASKS
        for state in [accord_state(item, panel.last is not None)]
    ]
    people = frame.loc[~frame["participant"].duplicated()]
    facts = {
        "last_round": panel.last, "main_dimension": panel.main, "dimensions": panel.dimensions,
        "scale_min": panel.scale[0], "scale_max": panel.scale[1], "n_themes": len(panel.themes), "n_judged": len(last),
        **counts, "n": min((one["n"] for one in last), default=0), "n_total": len(people),
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
        main = [one for one in ratings if one["round"] == number and one["dimension"] == self.main]
        w = kendall_w(self._main_table(number)).w if number in self.tables else None
        asked = pd.Series(dtype=object)
        if "asked_at" in frame:
            asked = frame.loc[frame["round"].eq(number) & frame["status"].isin(RESPONDED), "asked_at"]
        times = sorted(time for time in asked if time)
        return {
            "round": number, "n_responded": known["n_responded"], "n_planned": known["n_total"],
            "n": known["agents_responded"], "n_total": known["agents_total"], "w": w,
            "first_at": times[0] if times else None, "last_at": times[-1] if times else None,
            **{name: sum(one["label"] == label for one in main) if main else None for label, name in COUNTED.items()},
        }  # fmt: skip

    def ranked_themes(self, ratings: list[Row]) -> list[Row]:
        """Themes agreed upon have a rank, in the main dimension of the last round: by IQR, then median; ties share
        places."""
        agreed = {
            one["theme"]: one
            for one in ratings
            if (one["round"], one["dimension"], one["label"]) == (self.last, self.main, "consensus")
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
                "n_agents": len({one.rpartition("|")[0] for one in theme["statements"]}),
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
        words = {f"{who}|{item}": (who, item, said) for who, item, said in texts}
        for theme in self.themes:
            known = [words[one] for one in theme["statements"] if one in words]
            for place, (who, item, said) in enumerate(known, 1):
                yield {"theme": theme["theme"], "participant": who, "item": item, "place": place, "text": said}

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
        found = asdict(agreement({theme["theme"]: theme["statements"] for theme in self.themes}, again))
        rows = [
            {key: one[key] for key in ("theme", "n_first", "n_second", "n_both", "alpha")} for one in found["themes"]
        ]
        return {
            "second_coding_state": "done", "alpha": found["alpha"], "coded_twice": found["n"],
            "coded_alike": found["identical_share"], "not_coded_again": len(again.uncoded),
        }, rows  # fmt: skip

    # --- ratings ------------------------------------------------------------------------------------------------------

    @cached_property
    def measures(self) -> list[PanelMeasure]:
        scales = {item: self.instrument.scale_of(dimension) for item, (_, dimension) in self.items.items()}
        limits = self.instrument.disagreement
        return panel_measures(
            self.tables, {item: (scale.min, scale.max) for item, scale in scales.items()},
            consensus_iqr=limits.consensus_iqr, polarised_below=limits.polarised_below,
        )  # fmt: skip

    def ratings(self) -> Iterator[Row]:
        """Per theme, dimension and round: figures of the spread, and three verdicts that none derives from another.

        agreed: IQR within the instrument's limit. polarised: A below its limit, or a split. `label` sums up for the
        reader: disagreement, consensus, or open in between; two camps are never a consensus; fewer than two raters are
        neither.
        """
        bounds = self._bounds()
        for one in self.measures:
            theme, dimension = self.items[one.item]
            scale, spread, several = self.instrument.scale_of(dimension), one.spread, one.spread.n > 1
            low, high = bounds[one.item, one.round]
            yield {
                "theme": theme, "dimension": dimension, "item": one.item, "round": one.round, "n": spread.n,
                "n_total": spread.n + spread.n_missing, "scale_min": scale.min, "scale_max": scale.max,
                **{key: getattr(spread, key) for key in SPREAD}, "tastle_wierman": spread.consensus, "mean_low": low,
                "mean_high": high, "agreed": one.consensus if several else None,
                "polarised": one.polarised if several else None, "label": self._label(one), "stand": None,
            }  # fmt: skip

    def _bounds(self) -> dict[tuple[str, int], tuple[float, float]]:
        """Bounds of each mean that hold for the theme with the highest of all, by item and round."""
        found: dict[tuple[str, int], tuple[float, float]] = {}
        for number in self.tables:
            for dimension in self.dimensions:
                scale = self.instrument.scale_of(dimension)
                own = [one for one in self.measures if one.round == number and self.items[one.item][1] == dimension]
                figures = pd.DataFrame([shallow(one.spread) for one in own], columns=["n", "mean", "sd"]).astype(float)
                bounds = selected_intervals(
                    figures["n"], figures["mean"], figures["sd"], selected="highest", ends=(scale.min, scale.max)
                )
                for one, low, high in zip(own, bounds["low"], bounds["high"], strict=True):
                    found[one.item, number] = (low, high)
        return found

    def _label(self, one: PanelMeasure) -> str | None:
        limits = self.instrument.disagreement
        if one.spread.n < 2:
            return None
        if is_disagreement(one.spread, iqr_above=limits.disagreement_iqr, polarised_below=limits.polarised_below):
            return "disagreement"
        return "consensus" if is_consensus(one.spread.iqr, at_most=limits.consensus_iqr) else "open"

    def distribution(self) -> Iterator[Row]:
        for one in self.measures:
            theme, dimension = self.items[one.item]
            scale = self.instrument.scale_of(dimension)
            counts = frequencies(self.rated(one.item, one.round).to_numpy(dtype=float), scale.min, scale.max)
            for value, n in zip(range(scale.min, scale.max + 1), counts.tolist(), strict=True):
                yield {"theme": theme, "dimension": dimension, "round": one.round, "item": one.item, "value": value,
                    "n": n,
                       "share": n / one.spread.n if one.spread.n else None}  # fmt: skip

    def stability(self) -> Iterator[Row]:
        for one in self.measures:
            if one.stability is not None:
                theme, dimension = self.items[one.item]
                known = {
                    key: getattr(one.stability, key)
                    for key in ("n_paired", "share_changed", "net_change", "stable", "delta_cv")
                }
                yield {"theme": theme, "dimension": dimension, "round": one.round,
                    "n_total": one.spread.n + one.spread.n_missing, **known,
                       "kappa": one.stability.kappa.kappa, "p": one.stability.wilcoxon.p, "p_holm": one.p_holm,
                           "p_bh": one.p_bh}  # fmt: skip

    def convergence(self) -> Iterator[Row]:
        """From the first rating to the last revision, over the panelists who gave both."""
        if self.revised is None or FIRST_RATING not in self.tables:
            return
        for item, (theme, dimension) in self.items.items():
            first, second = (self.rated(item, n) for n in (FIRST_RATING, self.revised))
            known = shallow(converge(first, second, median=self.shown(FIRST_RATING, item)))
            yield {"theme": theme, "dimension": dimension, "item": item, "from_round": FIRST_RATING,
                "to_round": self.revised,
                   "n_total": len(second), **{key: known[key] for key in CONVERGED}}  # fmt: skip

    def concordance(self) -> Iterator[Row]:
        """Kendall's W over the themes, per dimension and round; raters with a gap are left out and counted."""
        for number, table in self.tables.items():
            for dimension in self.dimensions:
                found = kendall_w(table.reindex(columns=self._of(dimension)).to_numpy(dtype=float))
                yield {"round": number, "dimension": dimension, "n": found.n_raters, "n_dropped": found.n_dropped,
                    "n_themes": found.n_items,
                       "w": found.w, "moderate": None if found.w is None else found.w >= MODERATE, "chi2": found.chi2,
                           "p": found.p}  # fmt: skip

    def ranking(self) -> tuple[Row, list[Row]]:
        """How firm the order of the themes is in the last round, per dimension: by mean rating, and by IQR then
        median."""
        rows: list[Row] = []
        facts: Row = {}
        for dimension in self.dimensions if self.last is not None else ():
            items = [item for item in self._of(dimension) if item in self.tables[self.last or 0]]
            table = self.tables[self.last or 0][items].rename(columns={item: self.items[item][0] for item in items})
            for by in ORDERS if items else ():
                found = rank_robustness(table, k=min(TOP, len(items)), by=by)
                if dimension == self.main:
                    facts |= {"top": found.k, "draws": found.draws, f"tau_{by}": found.tau_mean}
                rows += _ranks(found, dimension)
        return facts, rows

    def _of(self, dimension: str) -> list[str]:
        return [item for item, (_, own) in self.items.items() if own == dimension]

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
        scales = {
            str(item): (one.min, one.max)
            for item in first
            for one in [self.instrument.scale_of(self.items[str(item)][1])]
        }
        found = drawn_toward(first, last, scales)
        direction = "neither"
        if found.estimate is not None and found.movement != "untestable":
            nearer = found.estimate > 0 and (found.specific is None or found.specific > 0)
            direction = "closer" if nearer else "farther" if found.estimate < 0 else "neither"
        agents = both.any(axis=1)
        yield {
            "direction": direction, "n": found.n, "n_total": found.n_total, "before": found.before,
            "after": found.after, "nearer": found.estimate, "nearer_low": found.low, "nearer_high": found.high,
            "p": None if found.movement == "untestable" else found.p,
            "n_unchanged": int((agents & ~changed.any(axis=1)).sum()),
            "n_ratings_same": int((both & ~changed).to_numpy().sum()), "n_ratings": int(both.to_numpy().sum()),
        }  # fmt: skip

    def between_groups(self, groups: pd.Series[str]) -> dict[str, Any]:
        """Each theme in the last round, on the dimension that themes are ranked by. groups: by participant."""
        if self.last is None:
            return {}
        items = [item for item in self._of(self.main) if item in self.tables[self.last]]
        named = {item: self.items[item][0] for item in items}
        values = self.tables[self.last][items].rename(columns=named)
        ends = dict.fromkeys(values, self.scale)
        return compared(values, groups, "theme", {theme: item for item, theme in named.items()}, ends=ends)

    # --- dissent ------------------------------------------------------------------------------------------------------

    def dissent(self) -> Iterator[Stand]:
        """Who stands where after the last revision, on what is disputed and on other ratings on which somebody holds
        out."""
        if self.revised is None:
            return
        rows = self.rows[self.revised]
        asked = set(rows["item_id"])
        for one in self.measures:
            if one.round == self.revised and one.item in asked:
                stand = self._stand(one, rows)
                if stand.row["label"] == "disagreement" or stand.row["n_holding_out"]:
                    yield stand

    def _stand(self, one: PanelMeasure, rows: pd.DataFrame) -> Stand:
        theme, dimension = self.items[one.item]
        final = self.rated(one.item, one.round)
        before = (
            self.rated(one.item, one.round - 1).reindex(final.index) if one.round - 1 in self.tables else final * np.nan
        )
        scale = self.instrument.scale_of(dimension)
        found = hold_outs(
            final, before, median=self.shown(one.round - 1, one.item), distance=(scale.max - scale.min) / 2
        )
        counts = frequencies(final.to_numpy(dtype=float), scale.min, scale.max)
        split = camps(final, polarised=has_camps(counts))
        if split is not None:
            stood = before.le(split.low) & final.le(split.low) | before.ge(split.high) & final.ge(split.high)
            sides, stayed, kind = (split.below, split.above), frozenset(map(str, before.index[stood])), "camps"
        else:
            # Against a panel without a middle nobody holds out.
            sides = ((), ()) if self._label(one) == "disagreement" else (found.below, found.above)
            stayed = frozenset((*sides[0], *sides[1]))
            kind = "hold_outs" if stayed else "scattered"
        figures = share_interval(len(sides[1]), one.spread.n) if kind == "camps" else {}
        row = {
            "theme": theme, "dimension": dimension, "item": one.item, "kind": kind, "label": self._label(one),
                "n": one.spread.n,
            "n_total": one.spread.n + one.spread.n_missing, "iqr": one.spread.iqr, "agreement": one.spread.agreement,
            "median_shown": found.median, "distance": found.distance, "n_paired": found.n_paired,
            "n_holding_out": len(stayed) if kind == "hold_outs" else 0, "n_below": len(sides[0]),
                "n_above": len(sides[1]),
            "n_between": split.n_between if split else None, "n_stayed": len(stayed & {*sides[0], *sides[1]}),
            "low_at": split.low if split else None, "high_at": split.high if split else None,
                "mean_gap": found.mean_gap,
            "p": min(1.0, (camps_p(counts) or 1.0) * len(self.themes)) if split else None,  # of the most divided of all
            **{f"above_{key}": figures.get(key) for key in ("share", "low", "high")},
        }  # fmt: skip
        return Stand(row, sides, stayed, before, rows[rows["item_id"].eq(one.item)], found, split)

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
CONVERGED = (
    "n_paired",
    "iqr_first",
    "iqr_second",
    "delta_iqr",
    "n_moved",
    "n_off_median",
    "n_toward",
    "n_away",
    "share_toward",
)


@dataclass(frozen=True)
class Stand:
    """Who stands below and above on one item, and who of them stood there in the round before. Distances are from the
    median that the panel was shown."""

    row: Row
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    stayed: frozenset[str]
    before: pd.Series[float]
    rows: pd.DataFrame  # answers of the last round
    found: HoldOuts
    split: Camps | None

    def people(self) -> Iterator[Row]:
        """Everybody on a side, those first who stayed and give a reason, and came no closer."""
        members = {row["participant"]: row for row in self.rows.to_dict("records")}
        median = self.found.median or 0.0
        for side, names in zip(("below", "above"), self.sides, strict=True):

            def last(who: str) -> tuple[bool, bool, bool]:
                closer = abs(members[who]["value"] - median) < abs(self.before[who] - median)
                return members[who]["text"] == "", bool(closer), who not in self.stayed

            for place, who in enumerate(sorted(names, key=last), 1):
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
            yield {
                "theme": self.row["theme"],
                "dimension": self.row["dimension"],
                **row,
            }


def _themes(stored: JsonValue) -> list[Row]:
    listed = stored.get("themes") if isinstance(stored, dict) else stored
    return [
        {"theme": str(one["id"]), "label": str(one["label"]), "description": str(one.get("description", "")),
         "statements": [str(each) for each in one.get("statements") or []]}  # type: ignore[union-attr]
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    ]  # fmt: skip


def _table(rows: pd.DataFrame, themes: list[Row], instrument: DelphiInstrument) -> pd.DataFrame:
    table = rows.pivot(index="participant", columns="item_id", values="value").astype(float)
    items = [item_of(theme["theme"], d.dimension_id) for theme in themes for d in instrument.dimensions]
    return table.reindex(index=rows["participant"].unique(), columns=[item for item in items if item in table])


def _with_ranks(panel: Panel, ratings: list[Row]) -> list[Row]:
    """Each rating with its theme's rank, and how many undisputed themes share its median."""
    ranks = {one["theme"]: one["rank"] for one in panel.ranked_themes(ratings)}
    kinds = {stand.row["item"]: stand.row["kind"] for stand in panel.dissent()}
    settled = [
        (one["round"], one["dimension"], one["median"]) for one in ratings if one["label"] in ("consensus", "open")
    ]
    return [
        {**one, "rank": ranks.get(one["theme"]), "tied": settled.count((one["round"], one["dimension"], one["median"])),
         "stand": kinds.get(one["item"]) if one["round"] == panel.revised else None}
        for one in ratings
    ]  # fmt: skip


def _ranks(found: RankRobustness, dimension: str) -> Iterator[Row]:
    for theme in found.themes:
        yield {
            "by": found.by,
            "dimension": dimension,
            "theme": theme.theme,
            "rank": theme.rank,
            "low": theme.low,
            "high": theme.high,
            "p_top": theme.p_top,
        }


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
    details = stored.get("details") if isinstance(stored.get("details"), dict) else {}
    assert isinstance(details, dict)
    return {
        "ended": stored.get("reason"),
        "ended_agreement": details.get("agreement"),
        "ended_stable": details.get("stable_share"),
    }


def _times(rounds: list[Row]) -> Row:
    """When the first and the last answer came."""
    first, last = ([one[end] for one in rounds if one[end]] for end in ("first_at", "last_at"))
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


def files(findings: Mapping[str, JsonValue], frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1, ratings of round 2, revisions after it, and what converged."""
    found: Mapping[str, Any] = findings
    return {
        "round1_themes.jsonl": found["themes"],
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": {key: value for key, value in found.items() if key not in ("themes", "flags")},
    }


# --- health -----------------------------------------------------------------------------------------------------------


FALSE_MEDIAN = "false_median"


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    rows = checkable(rows)
    for phase in phases(rows):
        own = occasion(rows, phase)
        rated = rounds(own)
        if len(rated) > 1:
            first, last = (answers(occasion(own, phase, number)) for number in (rated[0], rated[-1]))
            yield from each(phase, (unrevised(first, last), answer_stability(first, last)))
        else:
            yield from each(phase, (missing(name, "no_revision") for name in ("unrevised", "answer_stability")))
        if rated:
            yield from each(phase, scales(occasion(own, phase, rated[0]), humans))
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
    told = max((key for key in arms.pinned(FALSE_MEDIAN) if key.startswith("feedback/")), key=_round, default="")
    feedback = arms.pinned(arm).get(told)
    items = feedback if isinstance(feedback, Mapping) else {}
    medians = {str(item): one["median"] for item, one in items.items() if isinstance(one, Mapping) and "median" in one}
    return {item: float(median) for item, median in medians.items() if isinstance(median, int | float)}


def _round(feedback: str) -> int:
    return int(feedback.partition("/")[2])


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
)
