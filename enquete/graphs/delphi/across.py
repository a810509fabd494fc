"""Who holds out and who stands in which camp, for tables and claims across methods, and the findings that replicates judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from enquete.locale import N_, Words
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.crossing.claims import Finding, Grouping, Measure, Missing, Sentences
from enquete.reports.evaluation import Headline
from enquete.reports.key_findings import FEWEST
from enquete.reports.report_words import DIMENSIONS, dimension_name
from enquete.state.asking import Language

SIDES = ("disagreements", "hold_outs")
"""Findings that say who stands where."""
FILE = "T1/delphi/convergence.json"
MODERATE = 0.5
"""Kendall's W from which a panel's rankings agree moderately (Schmidt 1997)."""

KINDS: Mapping[str, Words] = {"holding out": N_("holding out in the Delphi")}

NO_FINDINGS = Missing("no_delphi", N_("The Delphi is missing"))
NO_REVISION = Missing(
    "no_revision",
    N_("The Delphi has no round of revision yet"),
)
NO_HOLD_OUTS = Missing("no_hold_outs", N_("Nobody holds out in the Delphi"))
FEW_HOLD_OUTS = Missing(
    "few_hold_outs",
    N_("Fewer than 5 agents hold out in the Delphi, or fewer than 5 do not"),
)
MOST_HOLD_OUT = Missing(
    "most_hold_out",
    N_("At least half of the agents hold out somewhere in the Delphi, which does not set them apart from the others"),
)
NO_CAMPS = Missing(
    "no_camps",
    N_("No theme of the Delphi splits the agents into camps"),
)
NO_SINGLE_PANEL = Missing(
    "no_single_panel",
    N_("Every theme of the Delphi splits the agents into camps, there are no hold-outs"),
)


@dataclass(frozen=True)
class HoldOuts:
    """Who holds out after the last revision; items on which the panel falls into camps are left out."""

    share: pd.Series[float]  # of its ratings in the last round, by participant who gave one
    held: Mapping[str, frozenset[str]]  # item → those who hold out on it; no item without one
    ratings: pd.DataFrame  # of the last round
    parts: tuple[str, ...] = ()  # of the findings that name them: disagreements, hold_outs

    @property
    def rests_on(self) -> tuple[str, ...]:
        return tuple(f"{FILE} → {part}" for part in self.parts)


def revised(found: Found, rows: pd.DataFrame) -> pd.DataFrame | Missing:
    """Ratings of the last round, once ratings have been revised: before that nobody holds out."""
    if not found:
        return NO_FINDINGS
    last = found.get("last_round")
    if not found.get("convergence") or not isinstance(last, int):
        return NO_REVISION
    return rows[rows["round"].eq(last) & rows["value"].notna()]


def hold_outs(found: Found, rows: pd.DataFrame) -> HoldOuts | Missing:
    """As the analysis of hold-outs defines them, over all ratings of the last round."""
    last = revised(found, rows)
    if isinstance(last, Missing):
        return last
    sides = _sides(found)
    standing = [one for one in sides if one.get("kind") == "hold_outs" and _members(one)]
    held = {str(one["item"]): frozenset(_members(one)) for one in standing}
    parts = tuple(name for name in SIDES if any(one in standing for one in listed(found, name)))
    split = [str(one["item"]) for one in sides if one.get("kind") == "camps"]
    single = last[~last["item_id"].isin(split)]
    if single.empty:
        return NO_SINGLE_PANEL
    out = [float(who in held.get(item, ())) for who, item in zip(single["participant"], single["item_id"], strict=True)]
    share = pd.Series(out, index=single["participant"].tolist(), dtype=float)
    return HoldOuts(share.groupby(level=0, sort=False).mean(), held, last, parts)


def _sides(found: Found) -> list[Mapping[str, Any]]:
    """Items of which it is known who stands where."""
    entries = [one for name in SIDES for one in listed(found, name)]
    both = ("below", "above")
    return [one for one in entries if "item" in one and all(at(one, side, "participants") is not None for side in both)]


def _members(one: Mapping[str, Any]) -> list[str]:
    return [str(who) for side in ("below", "above") for who in one[side]["participants"]]


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """On which share of its last ratings an agent holds out, and its mean distance from the medians it was shown."""
    last = revised(found, rows)
    if isinstance(last, Missing):
        return
    holding = hold_outs(found, rows)
    if not isinstance(holding, Missing):
        name: Words = N_("share of Delphi ratings that the agent holds out on")
        yield Finding("delphi_held_out", "numeric", name, holding.share, "holding out")
    if len(last):
        ratings = last.pivot(index="participant", columns="item_id", values="value").astype(float)
        shown = pd.Series(dict(at(found, "medians_shown") or {}), dtype=float)
        medians = shown.reindex(ratings.columns).fillna(ratings.median())
        gap: Words = N_("mean distance from the median in the Delphi")
        yield Finding("delphi_gap", "numeric", gap, ratings.sub(medians).abs().mean(axis=1))


# --- claims ----------------------------------------------------------------------------------------------------------

HELD = Sentences(
    N_(
        "Delphi ratings on which a minority holds out off the median: {held}; {holding_out} of {raters} agents "
        "do so at least once. Their share is largest among {high} ({high_value}, {high_count} of {high_n} "
        "agents), smallest among {low} ({low_value}, {low_count} of {low_n})."
    ),
    N_(
        "Delphi ratings on which a minority holds out off the median: {held}; {holding_out} of {raters} agents "
        "do so at least once, as many in all {n_groups} groups ({high_value})."
    ),
)
SPLIT = Sentences(
    N_(
        "Delphi ratings with two camps: {n_items}. The theme that splits most is “{theme}” ({dimension}): "
        "{n_below} agents in the lower camp, {n_above} in the upper. Share of the upper camp: largest among "
        "{high} ({high_value}, {high_count} of {high_n} agents), smallest among {low} ({low_value}, {low_count} "
        "of {low_n})."
    ),
    N_(
        "Delphi ratings with two camps: {n_items}. The theme that splits most is “{theme}” ({dimension}): "
        "{n_below} agents in the lower camp, {n_above} in the upper; the upper one is equally strong in all "
        "{n_groups} groups ({high_value})."
    ),
)
OUT: Mapping[str, Words] = {
    "holding_out": N_("those who hold out on at least one theme of the Delphi"),
    "others": N_("the other agents"),
}
OF_HOLD_OUTS: Mapping[str, str] = {
    "who": N_("Those who hold out in the Delphi"),
    "those": N_("those who hold out in the Delphi"),
    "them": N_("the hold-outs"),
    "of_them": N_("of the hold-outs"),
    "them_there": N_("the hold-outs of the Delphi"),
}


def measures(found: Found, rows: pd.DataFrame) -> Iterator[Measure]:
    holding = to_compare(hold_outs(found, rows))
    heading: Words = N_("Hold-outs in the Delphi")
    if isinstance(holding, Missing):
        yield Measure("hold_outs", heading, holding)
    else:
        yield _holding_out(holding, heading)
    yield _camps(found, rows)


def groupings(found: Found, rows: pd.DataFrame) -> Iterator[Grouping]:
    """Those who hold out on at least one theme, and the others."""
    holding = to_compare(hold_outs(found, rows))
    heading: Words = N_("by holding out")
    if isinstance(holding, Missing):
        yield Grouping("hold_outs", heading, holding, sides=OF_HOLD_OUTS)
        return
    labels = holding.share.gt(0).map({True: "holding_out", False: "others"}).astype("str")
    yield Grouping(
        "hold_outs", heading, labels, holding.rests_on, called=OUT, sides=OF_HOLD_OUTS, evidence=revisions(holding)
    )


def to_compare(holding: HoldOuts | Missing) -> HoldOuts | Missing:
    """Nothing is said of hold-outs unless enough agents hold out somewhere, enough nowhere, and the others are more."""
    if isinstance(holding, Missing):
        return holding
    out = int(holding.share.gt(0).sum())
    others = len(holding.share) - out
    if not out:
        return NO_HOLD_OUTS
    if min(out, others) < FEWEST:
        return FEW_HOLD_OUTS
    return holding if out < others else MOST_HOLD_OUT


def _holding_out(holding: HoldOuts, heading: Words) -> Measure:
    """Whether an agent holds out on at least one theme."""

    def facts(labels: pd.Series[str]) -> dict[str, int]:
        own = holding.share.reindex(labels.index).dropna()
        return {"holding_out": int(own.gt(0).sum()), "raters": len(own), "held": len(holding.held)}

    return Measure(
        "hold_outs", heading, holding.share.gt(0).astype(float), evidence=revisions(holding), rests_on=holding.rests_on,
        shown="share", sentences=HELD, facts=facts,
    )  # fmt: skip


def revisions(holding: HoldOuts) -> pd.DataFrame:
    """Last ratings of what is held out on: those of the hold-outs first, with a reason before those without."""
    own = holding.ratings[holding.ratings["item_id"].isin(list(holding.held))].copy()
    out = [who in holding.held[item] for who, item in zip(own["participant"], own["item_id"], strict=True)]
    own["conformed"], own["silent"] = [not one for one in out], own["text"].eq("")
    return own.sort_values(["conformed", "silent"], kind="stable")


def _camps(found: Found, rows: pd.DataFrame) -> Measure:
    """Of the theme that splits the panel most: whether an agent stands in the upper camp."""
    heading: Words = N_("Camps in the Delphi")
    last = revised(found, rows)
    split = [one for one in _sides(found) if one.get("kind") == "camps"]
    if isinstance(last, Missing):
        return Measure("camps", heading, last)
    if not split:
        return Measure("camps", heading, NO_CAMPS)
    one = min(split, key=lambda one: (float(one.get("agreement") or 0.0), str(one["item"])))
    item, dimension = str(one["item"]), str(one.get("dimension"))
    below, above = (sorted(set(map(str, one[side]["participants"]))) for side in ("below", "above"))
    labels = {theme.get("id"): theme.get("label") for theme in listed(found, "themes")}
    facts = {"n_below": len(below), "n_above": len(above), "n_items": len(split)}
    return Measure(
        "camps", heading, pd.Series({**dict.fromkeys(below, 0.0), **dict.fromkeys(above, 1.0)}), shown="share",
        evidence=last[last["item_id"].eq(item) & last["participant"].isin([*below, *above])],
        rests_on=(f"{FILE} → disagreements",), sentences=SPLIT, facts=lambda _: facts, suffix=item,
        terms={"theme": str(labels.get(one.get("theme")) or one.get("theme")),
               "dimension": dimension if dimension in DIMENSIONS else dimension.replace("_", " ")},
    )  # fmt: skip


# --- headlines -------------------------------------------------------------------------------------------------------

SENTENCES: Mapping[str, str] = {
    "polarised": N_("Theme “{0}”, {1}: polarised (A)"),
    "consensus": N_("Theme “{0}”, {1}: consensus (IQR)"),
    "w_high": N_("Kendall's W, {0}: at least 0.5"),
    "w_low": N_("Kendall's W, {0}: below 0.5"),
}


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """The last round: themes that divide the panel, themes it agrees on (by importance), and W by dimension."""
    last, names = (
        found.get("last_round"),
        {str(one.get("id")): str(one.get("label")) for one in listed(found, "themes")},
    )
    dimensions = [str(one.get("dimension")) for one in listed(found, "dimensions")]
    ranked = "importance" if "importance" in dimensions else next(iter(dimensions), "")
    for one in listed(found, "ratings"):
        if one.get("round") == last:
            about = (names.get(str(one.get("theme")), str(one.get("theme"))), _dimension(one, language))
            yield _polarised(one, about)
            if one.get("dimension") == ranked:
                yield _agreed(one, about)
    for one in listed(found, "concordance"):
        if one.get("round") == last:
            yield _concordance(one, language)


def _dimension(one: Mapping[str, Any], language: Language) -> str:
    return dimension_name(str(one.get("dimension")), language)


def _concordance(one: Mapping[str, Any], language: Language) -> Headline:
    w = figure(one, "w")
    said = None if w is None else w >= MODERATE
    kind, about = "w_high" if said else "w_low", (_dimension(one, language),)
    return Headline(f"delphi.w.{one.get('dimension')}", kind, said, w, about, said is not None)


def _polarised(one: Mapping[str, Any], about: tuple[str, str]) -> Headline:
    """By A against the instrument's limit, or a split; fewer than two raters say nothing."""
    said = None if one.get("polarised") is None else bool(one["polarised"])
    return Headline(
        f"delphi.polarised.{one.get('item')}", "polarised", said, figure(one, "agreement"), about, bool(said)
    )


def _agreed(one: Mapping[str, Any], about: tuple[str, str]) -> Headline:
    """By the theme's label: a small IQR, and no two camps."""
    label = one.get("label")
    said = None if label is None else label == "consensus"
    return Headline(f"delphi.consensus.{one.get('item')}", "consensus", said, figure(one, "iqr"), about, bool(said))
