"""What the templates of the section and the appendix are given beside the findings: themes in their order, rounds in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.delphi.ratings import main_dimension
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.evaluation import Remembered
from enquete.reports.markdown import escape, number, share
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

DISPUTES = 20
"""Disputed ratings told in the appendix, and hold-outs on undisputed ones; all are in convergence.json."""
AGAINST = 5

VERDICTS = {"consensus": N_("consensus"), "open": N_("open"), "disagreement": N_("disputed")}
STANDS = {"camps": N_("camps"), "hold_outs": N_("hold-outs"), "scattered": N_("scattered")}
STATES = {"filled": N_("filled"), "partly": N_("in part"), "open": N_("open"), "not_applicable": N_("not applicable")}

Row = Mapping[str, Any]

GLOSSARY: Mapping[str, str] = {
    N_("theme"): N_("what several answers to the open questions say, named by a sentence of theirs or by the model"),
    N_("quartile distance (IQR)"): N_(
        "the width of the middle half of the ratings; 0 where at least half of the panel is at one"
    ),
    N_("consensus"): N_("an IQR of at most 1"),
    N_("agreement A"): N_(
        "how far the ratings have one peak (van der Eijk 2001): 1 all alike, 0 spread evenly, −1 two camps"
    ),
    N_("convergence"): N_("ratings that move together between rounds, after the panel's median was shown"),
    N_("Kendall's W"): N_("how alike the agents rank the themes: 0 not at all, 1 completely"),
}


ENDED = {
    "consensus": N_("The panel ended after round {round} by consensus: {agreement} of the ratings are agreed."),
    "convergence": N_(
        "The panel ended after round {round} because ratings had settled: {stable_share} of the agents hardly changed theirs."
    ),
    "max_rounds": N_(
        "The panel ended with its last possible round, {round}: {agreement} of the ratings are agreed, {stable_share} of the "
        "agents hardly changed theirs."
    ),
}


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    dimensions = [str(one["dimension"]) for one in listed(found, "dimensions")]
    main = main_dimension(dimensions)
    disputed = sorted(listed(found, "disagreements"), key=_agreement)[:DISPUTES]
    accord = {str(one["item"]): str(one["state"]) for one in listed(found, "accord", "items")}
    return {
        "main": main,
        "others": [one for one in dimensions if one != main],
        "limits": {name: _plain(value) for name, value in (at(found, "thresholds") or {}).items()},
        "scales": escape(", ".join(_scale(one, language) for one in listed(found, "dimensions"))),
        "labels": {one["id"]: one["label"] for one in listed(found, "themes")},
        "themes": _themes(found, main, language),
        "rounds": _rounds(found, main),
        "ended": _ended(found, language),
        "ratings": _in_order(found),
        "disputes": disputed,
        "kinds": sorted({row["stakeholder_type"] for one in disputed for row in one["by_type"]}),
        "holding": sorted(listed(found, "hold_outs"), key=lambda one: -int(one["n_holding_out"]))[:AGAINST],
        "ranking": _ranking(found, main),
        "accord": accord,
        "accord_counts": {state: Counter(accord.values())[state] for state in STATES},
        "verdicts": VERDICTS,
        "stands": STANDS,
        "states": STATES,
    }


THEME = N_(
    "theme “{label}”, {n} of {total} agents: {description} {dimension}: median {median}, IQR {iqr} (round {round})."
)


def remembered(found: Found, language: Language) -> Iterator[Remembered]:
    """A theme that was rated, with the last round's ratings on the main dimension."""
    dimensions = [str(one["dimension"]) for one in listed(found, "dimensions")]
    main = main_dimension(dimensions)
    last = {
        one["theme"]: one
        for one in listed(found, "ratings")
        if one["round"] == found["last_round"] and one["dimension"] == main
    }
    for theme in listed(found, "themes"):
        if (rating := last.get(theme["id"])) is not None:
            text = tell(THEME, language).format(
                label=theme["label"], n=theme["n_agents"], total=rating["n_total"], description=theme["description"],
                dimension=dimension_name(main, language), median=number(rating["median"], language, 1),
                iqr=number(rating["iqr"], language, 1), round=rating["round"],
            )  # fmt: skip
            yield Remembered(f"theme/{theme['id']}", text)


def _plain(value: float) -> float:
    """2.0 as 2."""
    return int(value) if float(value).is_integer() else value


def _agreement(one: Row) -> float:
    return 1.0 if one["agreement"] is None else float(one["agreement"])


def _scale(dimension: Row, language: Language) -> str:
    name = dimension_name(str(dimension["dimension"]), language)
    return f"{name} ({dimension['scale_min']}–{dimension['scale_max']})"


def _themes(found: Found, main: str, language: Language) -> list[dict[str, Any]]:
    """Themes of the last round: those agreed upon by their rank, which ties share, then the others, the most agreed first."""
    last = [one for one in listed(found, "ratings") if one["round"] == found["last_round"]]
    rated = {(one["theme"], one["dimension"]): one for one in last}
    ranks = {one["theme"]: (one["rank"], one["rank_to"]) for one in listed(found, "consensus")}
    camps = {(one["theme"], one["dimension"]): one for one in listed(found, "disagreements") if one["kind"] == "camps"}
    rows = [
        {
            "label": theme["label"],
            "n_agents": theme["n_agents"],
            "rank": _rank(*ranks[theme["id"]]) if theme["id"] in ranks else "",
            "stands": _stands(rated[theme["id"], main], camps.get((theme["id"], main)), language),
            "by_dimension": {dimension: one for (name, dimension), one in rated.items() if name == theme["id"]},
            "order": ranks.get(theme["id"], (len(ranks) + 1, -_agreement(rated[theme["id"], main]))),
        }
        for theme in listed(found, "themes")
        if (theme["id"], main) in rated
    ]
    return sorted(rows, key=lambda row: row["order"])


def _rank(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _stands(rating: Row, camps: Row | None, language: Language) -> str:
    """The median, or both camps where the median is nobody's."""
    if camps is None:
        return number(rating["median"], language, 1)
    low, high = (number(at_, language, 0) for at_ in camps["camps"])
    return f"≤ {low}: {camps['below']['n']} · ≥ {high}: {camps['above']['n']}"


def _ended(found: Found, language: Language) -> str:
    """Why a panel that may have gone on did not; "" for one whose rounds were set."""
    reason = at(found, "ended", "reason")
    facts = {key: share(at(found, "ended", "details", key), language) for key in ("agreement", "stable_share")}
    return tell(ENDED[reason], language).format(round=at(found, "last_round"), **facts) if reason in ENDED else ""


def _rounds(found: Found, main: str) -> list[dict[str, Any]]:
    """Each round of rating on the main dimension: themes by verdict, and Kendall's W."""
    own = [one for one in listed(found, "ratings") if one["dimension"] == main]
    w = {one["round"]: one["w"] for one in listed(found, "concordance") if one["dimension"] == main}
    rows = []
    for number_ in sorted({int(one["round"]) for one in own}):
        asked, here = at(found, "rounds", str(number_)), [one for one in own if one["round"] == number_]
        verdicts = {label: sum(one["label"] == label for one in here) for label in VERDICTS}
        agents = {"n": asked["agents_responded"], "n_total": asked["agents_total"]}
        rows.append({"round": number_, **agents, **verdicts, "w": w.get(number_)})
    return rows


def _in_order(found: Found) -> Sequence[Row]:
    order = [theme["id"] for theme in listed(found, "themes")]
    return sorted(
        listed(found, "ratings"), key=lambda one: (order.index(one["theme"]), str(one["dimension"]), int(one["round"]))
    )


def _ranking(found: Found, main: str) -> dict[str, Any] | None:
    """Ranks when the panel is resampled, by mean and by agreement; None where they could not be."""
    orders = {str(one["by"]): one for one in listed(found, "ranking") if one["dimension"] == main}
    if not orders or any(one["reason"] for one in orders.values()):
        return None
    places = {by: {one["theme"]: one for one in order["themes"]} for by, order in orders.items()}
    known = sorted(places["mean"], key=lambda theme: places["mean"][theme]["rank"] or len(places["mean"]))
    return {**orders, "places": [(theme, [places[by][theme] for by in ("mean", "consensus")]) for theme in known]}
