"""The tables of change: by item and group, by agent with the reliable change index, by family, and minus placebo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.change.effects import ONE_WAY
from enquete.graphs.longitudinal.words import WORDS, reason
from enquete.locale import in_language
from enquete.reports.markdown import MISSING, escape, number, of, p_value, share, table
from enquete.state.asking import Language

MOVERS = 10
ITEMS = 40  # of a longer instrument the most telling; all stand in aggregate.json
GROUP_ROWS = 12

Row = Mapping[str, Any]


def source(words: Mapping[str, str], what: str) -> str:
    return f"*{words['source']}: {what}*"


def statement(item: Row) -> str:
    return escape(item["wording"]) + (" ↔" if item["reverse_keyed"] else "")


def change_parts(found: Row, words: Mapping[str, str], language: Language) -> Iterator[str]:
    """Everything about change; nothing where there is only one wave."""
    change = found["drift"] or found["experience_effect"]
    if change is None:
        return
    suffix = "_experience" if found["kind"] == "experience_effect" else ""
    where = f"T1/longitudinal/aggregate.json → {found['kind']}"
    yield f"### {words['change' + suffix]}"
    yield _pairing(found["pairing"], words)
    yield from _items(found, change, where, words, language)
    yield f"### {words['agents' + suffix]}"
    yield from _agents(change, words, language)
    yield from _reliable(change, words, language)
    yield source(words, f"{where}.population, {where}.agents, {where}.reliable_change")
    yield f"### {words['families' + suffix]}"
    yield _families(change["families"], words, language)
    yield _untestable(change, "families", words)
    yield source(words, f"{where}.families")
    yield from _placebo(found, change, where, words, language)


def _pairing(pairing: Row, words: Mapping[str, str]) -> str:
    return words["pairing"].format(
        paired=pairing["agents_paired"], total=pairing["agents_total"], only0=pairing["agents_only_T0"],
        only1=pairing["agents_only_T1"], neither=pairing["agents_neither"], pairs=pairing["pairs"],
        possible=pairing["pairs_total"],
    )  # fmt: skip


# --- items -----------------------------------------------------------------------------------------------------------


def _items(found: Row, change: Row, where: str, words: Mapping[str, str], language: Language) -> Iterator[str]:
    wording = {item["item"]: statement(item) for item in found["items"]}
    shown = _telling(change["items"], ITEMS)
    if len(shown) < len(change["items"]):
        yield _top(shown, len(change["items"]), f"`{where}.items`", words)
    heads = [words["statement"], *_test_heads(shown, words)]
    yield table(heads, [[wording[row["item"]], *_test_cells(row, language)] for row in shown])
    if any("p" in row for row in shown):
        yield words["tests"]
    yield source(words, f"{where}.items")
    yield from _groups(change, wording, where, words, language)


def _groups(
    change: Row, wording: Mapping[str, str], where: str, words: Mapping[str, str], language: Language
) -> Iterator[str]:
    """The most telling rows of items × groups; nothing where all agents are of one group."""
    rows = [{"item": item["item"], **row} for item in change["items"] for row in item["by_type"]]
    if len(rows) <= len(change["items"]):
        return
    shown = _telling(rows, GROUP_ROWS)
    cells = [[wording[row["item"]], escape(row["stakeholder_type"]), *_test_cells(row, language)] for row in shown]
    yield f"#### {words['by_type']}"
    if len(shown) < len(rows):
        yield _top(shown, len(rows), f"`{where}.items[].by_type`", words)
    yield table([words["statement"], words["type"], *_test_heads(shown, words)], cells, numeric_from=2)
    yield _untestable(change, "items", words)
    yield source(words, f"{where}.items[].by_type")


def _telling(rows: Sequence[Row], most: int) -> list[Row]:
    """All rows in their order where there are no more than `most`, else those with the smallest p, the smallest first;
    where there is none, those with the largest change."""
    if len(rows) <= most:
        return list(rows)

    def rank(row: Row) -> tuple[bool, float, float]:
        p, shift = row.get("p"), row["hodges_lehmann"]
        return (p is None, p or 0.0, -abs(shift or 0.0))

    return sorted(rows, key=rank)[:most]


def _top(shown: Sequence[Row], total: int, where: str, words: Mapping[str, str]) -> str:
    word = "top" if any("p" in row for row in shown) else "top_change"
    return words[word].format(n=len(shown), total=total, where=where)


def _untestable(change: Row, rows: str, words: Mapping[str, str]) -> str:
    """How many rows by type were left out of the tests; "" where none was."""
    counts = (change["tests_by_type"] or {}).get(rows)
    if not counts or not counts["n_untestable"]:
        return ""
    return words["untestable"].format(n=counts["n_untestable"], total=counts["n"])


def _test_heads(rows: Sequence[Row], words: Mapping[str, str]) -> list[str]:
    heads = [words["pairs"], words["zero"], words["ties"], "Δ", words["hl"], words["effect"], words["cliff"]]
    return [*heads, *(["p", "p (Holm)", "p (BH)"] if any("p" in row for row in rows) else [])]


def _test_cells(row: Row, language: Language) -> list[str]:
    effects = [interval(row["effects"][name], language) for name in ("hodges_lehmann", "rank_biserial", "cliff")]
    ps = [p_value(row[key], language) for key in ("p", "p_holm", "p_bh")] if "p" in row else []
    counts = [of(row["n"], row["n"] + row["n_missing"]), str(row["n_zero"]), str(row["n_ties"])]
    return [*counts, number(row["mean_change"], language), *effects, *ps]


def interval(figure: Row, language: Language, digits: int = 2) -> str:
    """An estimate with its interval, where it has one; that all changes go one way is said in its place."""
    estimate = number(figure["estimate"], language, digits)
    if figure["reason"] == ONE_WAY:
        return f"{estimate} ({in_language(WORDS, language)['one_way']})"
    if figure["low"] is None or figure["high"] is None:
        return estimate
    return f"{estimate} [{number(figure['low'], language, digits)}; {number(figure['high'], language, digits)}]"


# --- agents ----------------------------------------------------------------------------------------------------------


def _agents(change: Row, words: Mapping[str, str], language: Language) -> Iterator[str]:
    population = change["population"]
    pairs = (("abs", "mean_abs"), ("signed", "mean_signed"), ("changed", "share_changed"))
    rows = []
    for word, key in pairs:
        show = share if word == "changed" else number
        rows.append([words[word], *(show(population[k], language) for k in (key, f"{key}_unweighted"))])
    yield table([words["figure"], words["weighted"], words["unweighted"]], rows)
    yield words["weights"].format(
        n=population["n_memoryless"], total=population["n_agents"], without=population["n_without_pairs"],
        weight=number(float(population["memoryless_weight"]), language),
    )  # fmt: skip
    yield from _movers(change["agents"], words, language)


def _movers(agents: Sequence[Row], words: Mapping[str, str], language: Language) -> Iterator[str]:
    paired = [agent for agent in agents if agent["n_items"]]
    moved = sorted((agent for agent in paired if agent["mean_abs"]), key=lambda agent: -agent["mean_abs"])[:MOVERS]
    if not moved:
        return
    known = any(agent["rci"] is not None for agent in moved)
    heads = [words[key] for key in ("agent", "type")] + [words["pairs"].split(" / ")[0]]
    heads += [words[key] for key in ("abs", "signed", "changed")] + (["RCI"] if known else [])
    rows = [
        [escape(a["name"]), escape(a["stakeholder_type"]), str(a["n_items"]), number(a["mean_abs"], language),
         number(a["mean_signed"], language), share(a["share_changed"], language),
         *([number(a["rci"], language)] if known else [])]
        for a in moved
    ]  # fmt: skip
    yield words["movers"].format(n=len(moved), total=len(paired))
    yield table(heads, rows, numeric_from=2)


def _reliable(change: Row, words: Mapping[str, str], language: Language) -> Iterator[str]:
    """How many agents changed beyond noise, overall and by family; or why that is not known."""
    figures = change["reliable_change"]
    if figures is None:
        return
    if figures["retest_phase"] is None:
        yield words["no_retest"]
        return
    labels = {family["family"]: escape(family["label"]) for family in change["families"]}
    scales = [(words["overall"], figures["overall"])]
    scales += [(labels[one["family"]], one) for one in figures["families"]]
    placebo, lacking = (any(one[key] for _, one in scales) for key in ("placebo", "reason"))
    columns = ["scale", "pairs", "sd", "rtt", "up", "down", "share_beyond", "by_chance"]
    columns += (["share_placebo", "beyond_placebo"] if placebo else []) + (["why"] if lacking else [])
    cells = [_reliable_cells(name, one, figures["by_chance"], language, placebo, lacking) for name, one in scales]
    yield f"#### {words['reliable']}"
    yield table([words[key] for key in columns], cells)
    told = {"phase": figures["retest_phase"], "chance": share(figures["by_chance"], language)}
    yield words["rci"].format(**told, limits=_limits([one for _, one in scales], language))
    yield words["rci_placebo"] if placebo else ""


def _limits(scales: Sequence[Row], language: Language) -> str:
    """The limit of the index, or the range of limits where scales rest on different numbers of agents."""
    known = sorted({number(one["limit"], language) for one in scales if one["limit"] is not None})
    return "–".join(known[:: max(1, len(known) - 1)]) if known else MISSING


def _reliable_cells(
    name: str, one: Row, by_chance: float, language: Language, placebo: bool, lacking: bool
) -> list[str]:
    counts = [MISSING if one[key] is None else str(one[key]) for key in ("n_up", "n_down")]
    cells = [name, of(one["n"], one["n"] + one["n_missing"]), number(one["sd"], language),
             _reliability(one["reliability"], language), *counts, share(one["share_beyond"], language)]  # fmt: skip
    cells.append(_chance(one, by_chance, language))
    cells += _against_placebo(one["placebo"], language) if placebo else []
    return [*cells, *([escape(reason(one["reason"], language)) if one["reason"] else MISSING] if lacking else [])]


def _reliability(known: Row, language: Language) -> str:
    return f"{interval({**known, 'estimate': known['r']}, language)} ({known['n']})"


def _chance(one: Row, by_chance: float, language: Language) -> str:
    """The share that noise alone puts beyond the limits, and what it is at the ends of the interval of r_tt."""
    if one["share_beyond"] is None:
        return MISSING
    nominal = share(by_chance, language)
    if one["chance_low"] is None:
        return nominal
    return f"{nominal} [{share(one['chance_low'], language)}; {share(one['chance_high'], language)}]"


def _against_placebo(placebo: Row | None, language: Language) -> list[str]:
    if placebo is None:
        return [MISSING, MISSING]
    points = {
        key: None if value is None else 100 * value
        for key, value in placebo["difference"].items()
        if key in ("estimate", "low", "high")
    }
    shares = f"{share(placebo['share_placebo'], language)} ({of(placebo['n'], placebo['n'] + placebo['n_missing'])})"
    return [shares, interval({**placebo["difference"], **points}, language, 0)]


# --- families and placebo --------------------------------------------------------------------------------------------


def _families(families: Sequence[Row], words: Mapping[str, str], language: Language) -> str:
    tested = any("p" in family["change"] for family in families)
    rows = []
    for family in families:
        for group in ({"stakeholder_type": words["all"], **family}, *family["by_type"]):
            label = escape(family["label"]) if group.get("by_type") is not None else ""
            rows.append(
                [label, escape(group["stakeholder_type"]), of(group["n"], group["n_total"]),
                 *(number(group[key], language) for key in ("mean", "mean_unweighted")),
                 *_family_cells(group["change"], tested, language)]
            )  # fmt: skip
    heads = [words["family"], words["type"], words["n"]]
    heads += [f"{words['delta']}, {words[w]}" for w in ("weighted", "unweighted")] + [words["hl"], words["effect"]]
    return table([*heads, *(["p", "p (Holm)", "p (BH)"] if tested else [])], rows, numeric_from=2)


def _family_cells(change: Row, tested: bool, language: Language) -> list[str]:
    effects = [interval(change["effects"][name], language) for name in ("hodges_lehmann", "rank_biserial")]
    return [*effects, *([p_value(change.get(key), language) for key in ("p", "p_holm", "p_bh")] if tested else [])]


def _placebo(found: Row, change: Row, where: str, words: Mapping[str, str], language: Language) -> Iterator[str]:
    placebo = change["minus_placebo"]
    if placebo is None:
        return
    wording = {item["item"]: statement(item) for item in found["items"]}
    labels = {family["family"]: f"**{escape(family['label'])}**" for family in change["families"]}
    rows = [_placebo_cells(labels[one["family"]], one, words, language) for one in placebo["families"]]
    rows += [_placebo_cells(wording[one["item"]], one, words, language) for one in placebo["items"][:ITEMS]]
    yield f"### {words['placebo' if found['drift'] else 'placebo_experience']}"
    baseline = words["own_baseline" if placebo["own_baseline"] else "shared_baseline"]
    yield words["placebo_note"].format(n=placebo["n_agents"], baseline=baseline)
    yield table(
        [words[key] for key in ("statement", "pairs", "main", "placebo_delta", "difference", "p_holm")],
        rows,
        numeric_from=1,
    )
    yield source(words, f"{where}.minus_placebo")


def _placebo_cells(name: str, one: Row, words: Mapping[str, str], language: Language) -> list[str]:
    return [name, of(one["n"], one["n"] + one["n_missing"]), number(one["main"], language),
            number(one["placebo"], language), interval(one["difference"], language), p_value(one["p_holm"], language)]  # fmt: skip
