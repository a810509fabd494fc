"""The headline of each methodology as something that a further run of the study can say too, or not.

Every run measures all of them; the main arm's results decide which of them are headlines (`leads`). They are read from
findings as `analyse` gives them; what is not there is not measured.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from pydantic import JsonValue

from enquete.analysis.agreement.held import sign
from enquete.reports.crossing.inputs import Results
from enquete.reports.wording import dimension_name
from enquete.state.seam import Language

ALPHA = 0.05
MODERATE = 0.5
"""Kendall's W from which a panel's rankings agree moderately (Schmidt 1997)."""

Shown = float | str | None


@dataclass(frozen=True, slots=True)
class Headline:
    """id: the same in all runs. kind: a key of replicates_text.KINDS, whose sentence names `about`, in the run's language."""

    id: str
    methodology: str
    kind: str
    said: Hashable | None  # what a further run must say too; None: this run does not say
    shown: Shown  # the figure it rests on, or a word
    about: tuple[str, ...] = ()
    leads: bool = True


def headlines(results: Results, language: Language) -> dict[str, Headline]:
    """All that a run measures, by id."""
    readers = {"longitudinal": _drifts, "diversity": _types, "delphi": _delphi, "scenario": _scenarios}
    found = [one for name, read in readers.items() if name in results for one in read(results[name], language)]
    return {one.id: one for one in found}


def _list(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _drifts(found: Mapping[str, JsonValue], language: Language) -> Iterator[Headline]:
    """Items over all agents. A run says up or down where the interval of its mean change leaves out 0; the main arm leads
    with those that are significant by Holm as well. Without tests (reconstructed T0, incomparable waves) there are none."""
    wordings = {str(one.get("item")): str(one.get("wording")) for one in _list(found.get("items"))}
    for one in _list(_mapping(found.get("drift")).get("items")):
        change, item = _mapping(_mapping(one.get("effects")).get("mean_change")), str(one.get("item"))
        mean, p = _number(change.get("estimate")), _number(one.get("p_holm"))
        said = None if mean is None or "p_holm" not in one else _direction(change)
        leads = bool(said) and p is not None and p < ALPHA
        kind = "drift_up" if said == 1 else "drift_down"
        yield Headline(
            f"longitudinal.drift.{item}", "longitudinal", kind, said, mean, (wordings.get(item, item),), leads
        )


def _direction(change: Mapping[str, Any]) -> int:
    """1 or −1 where the interval leaves out 0, else 0. Where all agents changed alike there is no interval to cross it."""
    low, high = (_number(change.get(end)) for end in ("low", "high"))
    estimate = _number(change.get("estimate")) or 0.0
    if low is None or high is None:
        return (estimate > 0) - (estimate < 0)
    return (low > 0) - (high < 0)


def _types(found: Mapping[str, JsonValue], language: Language) -> Iterator[Headline]:
    """How many types, 0 where there are none, and how many Q factors, unless the number was set by hand."""
    typology, views = _mapping(found.get("typology")), _mapping(found.get("q"))
    if typology and typology.get("reason") != "few":
        k = len(_list(found.get("archetypes")))
        yield Headline("diversity.types", "diversity", "types", k, k)
    number = _mapping(views.get("number"))
    used = number.get("used")
    if isinstance(used, int) and number.get("asked") is None and views.get("n_analysed"):
        yield Headline("diversity.factors", "diversity", "factors", used, used)


# --- Delphi ----------------------------------------------------------------------------------------------------------


def _delphi(found: Mapping[str, JsonValue], language: Language) -> Iterator[Headline]:
    """The last round: themes that divide the panel, themes it agrees on (by importance), and W by dimension."""
    last, names = (
        found.get("last_round"),
        {str(one.get("id")): str(one.get("label")) for one in _list(found.get("themes"))},
    )
    dimensions = [str(one.get("dimension")) for one in _list(found.get("dimensions"))]
    ranked = "importance" if "importance" in dimensions else next(iter(dimensions), "")
    limit = _number(_mapping(found.get("thresholds")).get("polarised_below"))
    for one in _list(found.get("ratings")):
        if one.get("round") == last:
            about = (names.get(str(one.get("theme")), str(one.get("theme"))), _dimension(one, language))
            yield _polarised(one, about, limit)
            if one.get("dimension") == ranked:
                yield _agreed(one, about)
    for one in _list(found.get("concordance")):
        if one.get("round") == last:
            yield _concordance(one, language)


def _dimension(one: Mapping[str, Any], language: Language) -> str:
    return dimension_name(str(one.get("dimension")), language)


def _concordance(one: Mapping[str, Any], language: Language) -> Headline:
    w = _number(one.get("w"))
    said = None if w is None else w >= MODERATE
    kind, about = "w_high" if said else "w_low", (_dimension(one, language),)
    return Headline(f"delphi.w.{one.get('dimension')}", "delphi", kind, said, w, about, said is not None)


def _polarised(one: Mapping[str, Any], about: tuple[str, str], limit: float | None) -> Headline:
    """By A against the instrument's limit; fewer than two raters say nothing."""
    a = _number(one.get("agreement"))
    said = None if a is None or limit is None or one.get("polarised") is None else a < limit
    return Headline(f"delphi.polarised.{one.get('item')}", "delphi", "polarised", said, a, about, bool(said))


def _agreed(one: Mapping[str, Any], about: tuple[str, str]) -> Headline:
    """By the theme's label: a small IQR, and no two camps."""
    label = one.get("label")
    said = None if label is None else label == "consensus"
    iqr = _number(one.get("iqr"))
    return Headline(f"delphi.consensus.{one.get('item')}", "delphi", "consensus", said, iqr, about, bool(said))


# --- scenarios -------------------------------------------------------------------------------------------------------


def _scenarios(found: Mapping[str, JsonValue], language: Language) -> Iterator[Headline]:
    """Which of two neighbours in the order of mean desirability comes first, and the quadrant of every scenario in one."""
    labels = {str(one.get("scenario")): str(one.get("label")) for one in _list(found.get("scenarios"))}
    wished = _mapping(found.get("polarity")).get("desirability")
    known = [one for one in _list(found.get("ratings")) if one.get("dimension") == wished]
    means = {str(one.get("scenario")): mean for one in known if (mean := _number(one.get("mean"))) is not None}
    order = sorted(means, key=lambda name: (-means[name], name))
    for a, b in permutations(order, 2):
        apart = round(means[a] - means[b], 2)  # as printed
        neighbours = apart > 0 and order.index(b) == order.index(a) + 1
        about = (labels.get(a, a), labels.get(b, b))
        yield Headline(f"scenario.order.{a}/{b}", "scenario", "order", sign(apart), apart, about, neighbours)
    for one in _list(_mapping(found.get("polarity")).get("scenarios")):
        name, place = str(one.get("scenario")), one.get("quadrant")
        said = place if isinstance(place, str) else None
        own = (labels.get(name, name),)
        leads = said not in (None, "undecided")
        yield Headline(f"scenario.quadrant.{name}", "scenario", "quadrant", said, said, own, leads)
