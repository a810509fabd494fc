"""The tables of ratings: spread, convergence, stability, ranked consensus, how firm the ranking is, concordance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.graphs.delphi.ratings import main_dimension
from enquete.reports.markdown import MISSING, escape, number, of, p_value, share, table
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

Found = Mapping[str, Any]
Words = Mapping[str, str]


def source(words: Words, what: str) -> str:
    return f"*{words['source']}: {what}*"


def labels(found: Found) -> dict[str, str]:
    """Escaped labels of the themes by id, the most voiced first."""
    return {theme["id"]: escape(theme["label"]) for theme in found["themes"]}


def named(one: Found, found: Found, language: Language) -> list[str]:
    """Theme and dimension, as a table's first two cells."""
    return [labels(found)[one["theme"]], escape(dimension_name(one["dimension"], language))]


def yes_no(value: bool | None, words: Words) -> str:
    return MISSING if value is None else words["yes" if value else "no"]


def ratings(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Spread of every rating: consensus and polarisation side by side."""
    heads = [
        words[key] for key in ("theme", "dimension", "round", "n", "median", "iqr", "mean", "A", "tw", "bc", "top")
    ]
    order = list(labels(found))
    ordered = sorted(found["ratings"], key=lambda r: (order.index(r["theme"]), r["dimension"], r["round"]))
    rows = [
        [*named(r, found, language), str(r["round"]), of(r["n_responded"], r["n_total"]),
         number(r["median"], language, 1), *(number(r[k], language) for k in ("iqr", "mean", "agreement", "consensus", "bimodality")),
         share(r["top_share"], language), yes_no(r["polarised"], words), words[r["label"]] if r["label"] else MISSING]
        for r in ordered
    ]  # fmt: skip
    limits = found["thresholds"]
    yield f"### {words['ratings']}"
    yield words["spread"]
    yield table([*heads, words["polarised"], words["label"]], rows, numeric_from=2)
    yield words["legend"].format(
        c=number(limits["consensus_iqr"], language, 1),
        d=number(limits["disagreement_iqr"], language, 1),
        a=number(limits["polarised_below"], language, 1),
    )
    yield source(words, "T1/delphi/convergence.json → ratings")


def convergence(found: Found, words: Words, language: Language) -> Iterator[str]:
    """From the first rating to the last revision."""
    converged = found["convergence"]
    if not converged:
        return
    heads = [words[key] for key in ("theme", "dimension", "paired")]
    heads += ["IQR " + str(converged[0][key]) for key in ("from_round", "to_round")]
    heads += [words[key] for key in ("delta", "moved", "toward", "away")]
    rows = [
        [*named(c, found, language), of(c["n_paired"], c["n_total"]),
         *(number(c[key], language) for key in ("iqr_first", "iqr_second", "delta_iqr")), str(c["n_moved"]),
         f"{share(c['share_toward'], language)} ({c['n_toward']} / {c['n_off_median']})", str(c["n_away"])]
        for c in converged
    ]  # fmt: skip
    yield f"### {words['convergence'].format(a=converged[0]['from_round'], b=converged[0]['to_round'])}"
    yield table(heads, rows, numeric_from=2)
    yield words["towards"]
    yield source(words, "T1/delphi/convergence.json → convergence")


def stability(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Whether ratings stood still between two rounds, apart from whether they agree."""
    settled = [(one, one["stability"]) for one in found["ratings"] if one["stability"]]
    if not settled:
        return
    heads = [
        words[key] for key in ("theme", "dimension", "round", "paired", "kappa", "changed", "net", "stable", "delta_cv")
    ]
    rows = [
        [*named(one, found, language), str(one["round"]), of(s["n_paired"], one["n_total"]),
         number(s["kappa"]["kappa"], language), share(s["share_changed"], language), share(s["net_change"], language),
         yes_no(s["stable"], words), number(s["delta_cv"], language), p_value(s["wilcoxon"]["p"], language),
         p_value(s["p_holm"], language), p_value(s["p_bh"], language)]
        for one, s in settled
    ]  # fmt: skip
    yield f"### {words['stability']}"
    yield table([*heads, "p", "p (Holm)", "p (BH)"], rows, numeric_from=2)
    yield words["stability_note"]
    yield source(words, "T1/delphi/convergence.json → ratings[].stability")


def consensus(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Agreed themes, the closest agreement first."""
    rows = [
        [str(c["rank"]), escape(c["label_of_theme"]), of(c["n_responded"], c["n_total"]), number(c["iqr"], language),
         number(c["median"], language, 1), str(c["round"])]
        for c in found["consensus"]
    ]  # fmt: skip
    yield f"### {words['ranked']}"
    heads = [words[key] for key in ("rank", "theme", "n", "iqr", "median", "round")]
    yield table(heads, rows, numeric_from=2) or words["no_consensus"]
    yield source(words, "T1/delphi/convergence.json → consensus")


def ranking(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Ranks of the main dimension when the panel is resampled, by mean and by agreement."""
    dimension = main_dimension([one["dimension"] for one in found["dimensions"]])
    orders = {one["by"]: one for one in found["ranking"] if one["dimension"] == dimension}
    if not orders or any(one["reason"] for one in orders.values()):
        return
    places = {by: {one["theme"]: one for one in order["themes"]} for by, order in orders.items()}
    known = sorted(places["mean"], key=lambda theme: places["mean"][theme]["rank"] or len(places["mean"]))
    rows = [
        [labels(found)[theme], *(cell for by in orders for cell in _place(places[by][theme], language))]
        for theme in known
    ]
    k = orders["mean"]["k"]
    heads = [f"{words[f'{by}_order']}: {words[key].format(k=k)}" for by in orders for key in ("k", "p_top")]
    yield f"### {words['ranking']}"
    yield table([words["theme"], *heads], rows)
    yield words["ranking_note"].format(
        draws=orders["mean"]["draws"], dimension=escape(dimension_name(dimension, language)), round=orders["mean"]["round"],
        **{f"{by}_tau": number(order["tau_mean"], language) for by, order in orders.items()},
    )  # fmt: skip
    yield source(words, "T1/delphi/convergence.json → ranking")


def _place(one: Found, language: Language) -> list[str]:
    if one["rank"] is None:
        return [MISSING, MISSING]
    rank, low, high = (number(one[key], language, 1) for key in ("rank", "low", "high"))
    return [f"{rank} [{low}; {high}]", share(one["p_top"], language)]


def concordance(found: Found, words: Words, language: Language) -> Iterator[str]:
    """Kendall's W by dimension and round."""
    rows = [
        [str(c["round"]), escape(dimension_name(c["dimension"], language)), str(c["n_raters"]), str(c["n_dropped"]), str(c["n_items"]),
         number(c["w"], language), number(c["chi2"], language), p_value(c["p"], language)]
        for c in found["concordance"]
    ]  # fmt: skip
    yield f"### {words['W']}"
    heads = [words[key] for key in ("round", "dimension", "raters", "dropped", "themes")]
    yield table([*heads, "W", "χ²", "p"], rows, numeric_from=2)
    yield source(words, "T1/delphi/convergence.json → concordance")
