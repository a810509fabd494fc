"""What the two waves say of every agent, for tables and claims across methods, and the findings that replicates judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from enquete.locale import N_, Words, said
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.crossing.claims import Finding, Measure, Missing, Sentences
from enquete.reports.evaluation import Headline
from enquete.state.asking import Language

KINDS: Mapping[str, Words] = {"change": N_("change a statement")}
ALPHA = 0.05

NO_FINDINGS = Missing("no_longitudinal", N_("The longitudinal survey is missing"))
ONE_WAVE = Missing("one_wave", N_("There is only one wave"))
INCOMPARABLE = Missing("incomparable", N_("T0 and T1 cannot be compared"))
NO_MEMORY = Missing("no_memory", N_("No agent had a memory, so no experience effect can be told"))
NO_PAIRS = Missing("no_pairs", N_("No agent answered in both waves"))


def moved(found: Found) -> pd.Series[float] | Missing:
    """Mean absolute change in scale points of agents with at least one complete pair; not where waves cannot be compared."""
    if not found:
        return NO_FINDINGS
    kind = found.get("kind")
    if not isinstance(kind, str):
        return ONE_WAVE
    if at(found, kind, "interpretable") is False:
        return INCOMPARABLE if kind == "drift" else NO_MEMORY
    agents = [agent for agent in listed(found, kind, "agents") if agent.get("n_items") and "participant" in agent]
    values = {str(agent["participant"]): agent.get("mean_abs") for agent in agents}
    return pd.Series(values, dtype=float).dropna() if values else NO_PAIRS


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """Mean absolute and mean signed change."""
    size = moved(found)
    if isinstance(size, Missing):
        return
    column, name = ("drift", KINDS["change"])
    if found["kind"] != "drift":
        column, name = "experience_effect", N_("experience effect a statement")
    yield Finding(f"{column}_abs", "numeric", name, size, stands_for="change")
    entries = [one for one in listed(found, str(found["kind"]), "agents") if "participant" in one]
    signed = pd.Series({str(one["participant"]): one.get("mean_signed") for one in entries}, dtype=float)
    signed = signed.reindex(size.index)
    if signed.notna().any():
        directed = said(N_("{what}, directed"), what=name)
        yield Finding(f"{column}_signed", "numeric", directed, signed)


# --- claims ----------------------------------------------------------------------------------------------------------


DRIFT = Sentences(
    N_(
        "Answers moved most among {high}: {high_value} scale points a statement on average ({high_n} of {high_total} "
        "agents); least among {low}: {low_value} ({low_n} of {low_total})."
    ),
    N_(
        "Answers moved equally in all {n_groups} groups: {high_value} scale points a statement on average ({n} of "
        "{n_total} agents)."
    ),
)
EXPERIENCE = Sentences(
    N_(
        "Memory changes the answers (experience effect, not drift) most among {high}: {high_value} scale points a "
        "statement on average ({high_n} of {high_total} agents); least among {low}: {low_value} ({low_n} of {low_total})."
    ),
    N_(
        "Memory changes the answers (experience effect, not drift) equally in all {n_groups} groups: {high_value} scale "
        "points a statement on average ({n} of {n_total} agents)."
    ),
)
DRIFT_OF_SIDES = Sentences(
    N_(
        "Moved more between the waves: {high}, {high_value} scale points a statement on average (n = {high_n}); "
        "less: {low}, {low_value} (n = {low_n})."
    ),
    N_(
        "{who} moved as much between the waves as the others: {high_value} scale points a statement on average "
        "({n} of {n_total} agents)."
    ),
)
EXPERIENCE_OF_SIDES = Sentences(
    N_(
        "Memory changes the answers more in this group: {high}, {high_value} scale points a statement on average "
        "(n = {high_n}); less: {low}, {low_value} (n = {low_n})."
    ),
    N_(
        "Memory changes the answers of {those} as much as those of the others: {high_value} scale points a "
        "statement on average ({n} of {n_total} agents)."
    ),
)


def measures(found: Found, rows: pd.DataFrame) -> Iterator[Measure]:
    """How far each agent moved, or what memory changed in its answers."""
    values = moved(found)
    is_drift = isinstance(values, Missing) or found["kind"] == "drift"
    known = [] if isinstance(values, Missing) else list(values.index)
    yield Measure(
        "drift" if is_drift else "experience",
        N_("Change"),
        values,
        evidence=changed_answers(rows[rows["participant"].isin(known)]),
        rests_on=(f"T1/longitudinal/aggregate.json → {found.get('kind')}.agents",),
        sentences=DRIFT if is_drift else EXPERIENCE,
        sides=DRIFT_OF_SIDES if is_drift else EXPERIENCE_OF_SIDES,
        sides_heading=N_("Change {of_them}"),
    )


def changed_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Closed answers given in both waves, the largest change first; T0 and T1 of a pair stand together."""
    own = rows[rows["value"].notna()]
    waves = {wave: own[own["phase"].eq(wave)] for wave in ("T0", "T1")}
    keys = ["participant", "item_id"]
    pairs = waves["T0"][[*keys, "value"]].merge(waves["T1"][[*keys, "value"]], on=keys, suffixes=("_0", "_1"))
    pairs["size"] = (pairs["value_1"] - pairs["value_0"]).abs()
    ordered = pairs.sort_values("size", ascending=False, kind="stable").reset_index(names="pair_order")
    ordered["pair_order"] = range(len(ordered))
    both = own.merge(ordered[[*keys, "pair_order"]], on=keys)
    return both.sort_values(["pair_order", "phase"], kind="stable")


# --- headlines -------------------------------------------------------------------------------------------------------

SENTENCES: Mapping[str, str] = {
    "drift_up": N_("“{0}”: rise, interval without 0 (mean change)"),
    "drift_down": N_("“{0}”: fall, interval without 0 (mean change)"),
}


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """Items over all agents. A run says up or down where the interval of its mean change leaves out 0; the main arm leads
    with those that are significant by Holm as well. Without tests (reconstructed T0, incomparable waves) there are none."""
    wordings = {str(one.get("item")): str(one.get("wording")) for one in listed(found, "items")}
    for one in listed(found, "drift", "items"):
        change, item = at(one, "effects", "mean_change"), str(one.get("item"))
        mean, p = figure(change, "estimate"), figure(one, "p_holm")
        said = None if mean is None or "p_holm" not in one else _direction(change)
        leads = bool(said) and p is not None and p < ALPHA
        kind = "drift_up" if said == 1 else "drift_down"
        yield Headline(f"longitudinal.drift.{item}", kind, said, mean, (wordings.get(item, item),), leads)


def _direction(change: Any) -> int:
    """1 or −1 where the interval leaves out 0, else 0. Where all agents changed alike there is no interval to cross it."""
    low, high = (figure(change, end) for end in ("low", "high"))
    estimate = figure(change, "estimate") or 0.0
    if low is None or high is None:
        return (estimate > 0) - (estimate < 0)
    return (low > 0) - (high < 0)
