"""The Q factors in the diversity section: how many, who defines them, what they say; every z-score in the appendix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.diversity.wording_views import WORDS
from enquete.locale import in_language
from enquete.reports.markdown import MISSING, escape, number, of, p_value, share, table
from enquete.state.asking import Language

EIGENVALUES_SHOWN = 6
STATEMENTS_SHOWN = 6
ENDS_SHOWN = 3
CONSENSUS_SHOWN = 5

Found = Mapping[str, Any]
Words = Mapping[str, str]


def views(found: Found, language: Language) -> Iterator[str]:
    """found: all findings of the methodology."""
    q, words = found["q"], in_language(WORDS, language)
    yield f"### {words['title']}"
    yield words["intro"]
    yield _verdict(q, words)
    yield from (words["refused"].format(what=escape(one)) for one in q["refused"])
    yield from _number(q, words, language)
    if q["factors"]:
        yield from _factors(q, words, language)
        yield words["caution"]
        short = {s["item"]: s["short"] for s in found["statements"]}
        for one in q["factors"]:
            yield from _factor(one, short, words, language)
        yield _consensus(q, short, words, language)
        yield from _beside(q, words, language)
    yield f"*{'Quelle' if language == 'de' else 'Source'}: T1/diversity/qmethod.json*"


def _verdict(q: Found, words: Words) -> str:
    poles = [view for one in q["factors"] for view in one["views"]]
    key = "one" if len(q["factors"]) == 1 else q["reason"]
    defining = sum(member["factor"] is not None for member in q["members"])
    return words[f"verdict_{key}"].format(
        factors=len(q["factors"]), views=len(poles), n=defining, total=q["n_analysed"]
    )


def _number(q: Found, words: Words, language: Language) -> Iterator[str]:
    told = q["number"]
    rows = [
        [str(one["rank"]), number(one["eigenvalue"], language), number(one["chance_95"], language),
         p_value(one["p"], language)]
        for one in told["eigenvalues"][:EIGENVALUES_SHOWN]
    ]  # fmt: skip
    if not rows:
        return
    yield table([words[key] for key in ("rank", "eigenvalue", "chance", "p")], rows)
    yield words["number"].format(
        used=told["used"], draws=told["draws"], alpha=number(told["alpha"], language), parallel=told["parallel"],
        kaiser=told["kaiser"], loaders=told["two_loaders"],
    )  # fmt: skip
    if told["asked"] is not None and told["asked"] == told["used"]:
        yield words["asked"]


def _factors(q: Found, words: Words, language: Language) -> Iterator[str]:
    yield words["method"].format(extraction=words[q["extraction"]], threshold=number(q["threshold"], language))
    if q["manual"]:
        added, removed = (sum(map(len, q["manual"][key].values())) for key in ("add", "remove"))
        yield words["manual"].format(added=added, removed=removed)
    rows = [  # what a factor explains it explains once, whether or not it has two poles
        [" / ".join(_signed(view["view"]) for view in one["views"]), " / ".join(str(view["n"]) for view in one["views"]),
         number(one["eigenvalue"], language), share(one["explained"], language),
         number(one["reliability"], language, 3), number(one["se"], language, 3)]
        for one in q["factors"]
    ]  # fmt: skip
    yield table([words[key] for key in ("view", "n", "eigenvalue", "explained", "reliability", "se")], rows)
    if q["dropped"]:
        yield words["dropped"].format(n=len(q["dropped"]))


def _signed(view: str) -> str:
    """A view as it is printed: with a true minus, escaped where Markdown would read a list."""
    return view.replace("-", "−")


def _factor(one: Found, short: Words, words: Words, language: Language) -> Iterator[str]:
    yield f"#### {words['bipolar' if one['bipolar'] else 'factor'].format(n=one['factor'])}"
    for view in one["views"]:
        types = ", ".join(f"{escape(t['stakeholder_type'])} {of(t['n'], t['n_of_type'])}" for t in view["by_type"])
        yield words["who"].format(view=_signed(view["view"]), n=view["n"], types=types)
    if one["bipolar"]:
        plus, minus = (_signed(view["view"]) for view in one["views"])
        yield words["mirror"].format(plus=plus, minus=minus)
    ordered = sorted(one["z"], key=lambda item: (-one["z"][item], item))
    ends = {"highest": ordered[:ENDS_SHOWN], "lowest": ordered[::-1][:ENDS_SHOWN]}
    yield "\n\n".join(
        words[key].format(statements=_places(items, one["array"], short, language)) for key, items in ends.items()
    )
    yield from _distinguishing(one, short, words, language)


def _places(items: Sequence[str], array: Mapping[str, int], short: Words, language: Language) -> str:
    return "; ".join(f"{escape(short[item])} ({_place(array[item], language)})" for item in items)


def _place(column: int, language: Language) -> str:
    return f"+{column}" if column > 0 else number(column, language)


def _distinguishing(one: Found, short: Words, words: Words, language: Language) -> Iterator[str]:
    if not one["distinguishing"]:
        yield words["no_distinguishing"]
        return
    yield words["distinguishing"].format(n=len(one["distinguishing"]), total=len(one["z"]))
    rows = [
        [escape(short[d["item"]]), _place(d["place"], language), number(d["z"], language), words[d["direction"]],
         number(d["level"], language), p_value(d["p"], language)]
        for d in one["distinguishing"][:STATEMENTS_SHOWN]
    ]  # fmt: skip
    yield table([words[key] for key in ("statement", "place", "z", "direction", "level", "p")], rows)


def _consensus(q: Found, short: Words, words: Words, language: Language) -> str:
    if len(q["factors"]) < 2:
        return ""
    if not q["consensus"]:
        return words["no_consensus"]
    told = [escape(short[one["item"]]) for one in q["consensus"][:CONSENSUS_SHOWN]]
    return words["consensus"].format(statements="; ".join(told + ["…"] * (len(q["consensus"]) > CONSENSUS_SHOWN)))


def _beside(q: Found, words: Words, language: Language) -> Iterator[str]:
    with_clusters, other = q["agreement"], q["other"]
    if with_clusters["ari"] is None:
        yield words["no_agreement"]
    else:
        yield words["agreement"].format(ari=number(with_clusters["ari"], language), n=with_clusters["n_compared"])
    if not other["factors"]:
        yield words["other_none"].format(extraction=words[other["extraction"]])
        return
    matches = ", ".join(f"{m['factor']}: {number(m['r'], language)}" for m in other["matches"])
    yield words["other"].format(
        extraction=words[other["extraction"]], factors=len(other["factors"]), ari=number(other["ari"], language),
        n=other["n_compared"], matches=matches,
    )  # fmt: skip


def scores(found: Found, language: Language) -> Iterator[str]:
    """For the appendix: every statement's z and place on every factor, and how the factors go together."""
    q, words = found["q"], in_language(WORDS, language)
    if not q["factors"]:
        return
    names = [words["factor"].format(n=one["factor"]) for one in q["factors"]]
    common = {one["item"] for one in q["consensus"]}
    rows = [
        [escape(s["wording"]), *(f"{number(f['z'][s['item']], language)} ({_place(f['array'][s['item']], language)})"
                                 for f in q["factors"]), words["yes"] if s["item"] in common else words["no"]]
        for s in found["statements"]
    ]  # fmt: skip
    yield f"### {words['z_title']}"
    yield table([words["statement"], *names, words["common"]], rows)
    yield words["z_legend"]
    if len(names) > 1:
        yield f"{words['correlations']}:"
        yield table(["", *names], [[name, *_row(q, i, language)] for i, name in enumerate(names)])
    yield f"*{'Quelle' if language == 'de' else 'Source'}: T1/diversity/qmethod.json → factors, consensus*"


def _row(q: Found, i: int, language: Language) -> Iterator[str]:
    for j, (r, sed) in enumerate(zip(q["correlations"][i], q["sed"][i], strict=True)):
        yield MISSING if i == j else f"{number(r, language)} ({number(sed, language)})"
