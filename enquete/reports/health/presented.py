"""Instrument health written out: verdicts, reasons, tables for the report, and the sentence of a flag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from enquete.analysis.health.diagnostics import Overall
from enquete.locale import N_, in_language, percent, tell
from enquete.reports.bibliography import cited
from enquete.reports.health.checks import Check
from enquete.reports.health.shapes import Shape
from enquete.reports.health.verdicts import Health, Probes
from enquete.reports.health.words import BASES, PROBES, REASONS, VERDICTS, WORDS
from enquete.reports.markdown import MISSING, escape, number, of, share, table
from enquete.state.asking import Language

MOST_REASONS = 3
"""Named in the summary of a verdict; all stand in health.json."""


# --- verdicts --------------------------------------------------------------------------------------------------------


def verdict(one: Overall, language: Language) -> str:
    return tell(VERDICTS[one.verdict], language)


def reasons(health: Health, name: str, language: Language, *, most: int = MOST_REASONS) -> str:
    """The weightiest reasons of a methodology's verdict in words."""
    said = [_reason(health.behind(name, reason), reason, language) for reason in health.verdicts[name].reasons]
    more = in_language(WORDS, language)["more_reasons"].format(n=len(said) - most)
    return "; ".join([*said[:most], *([more] if len(said) > most else [])])


def _reason(check: Check | None, reason: str, language: Language) -> str:
    """`name:code`, or a code alone; how bad it is, and whether a probe says so."""
    if check is None:
        return tell(REASONS[reason.rpartition(":")[2]], language)
    marks = [
        _plain(check.found.verdict, language),
        *([in_language(WORDS, language)["of_probe"]] if check.probe else []),
    ]
    return f"{check.what(language)}: {', '.join([*marks, check.why(language)])}"


def _plain(verdict_: str, language: Language) -> str:
    return tell(VERDICTS[verdict_], language).strip("*")


def flags(health: Health, name: str, title: str, language: Language) -> list[str]:
    """What a methodology's health gives to be flagged: the verdict unless it is plainly usable, and each check behind it."""
    found = health.verdicts.get(name)
    if found is None or found.verdict in ("usable", "nothing to judge"):
        return []
    said = in_language(WORDS, language)["overall"].format(
        method=title, verdict=verdict(found, language), reasons=reasons(health, name, language)
    )
    return [said, *(flag(one, title, language) for one in health.flagged if one.methodology == name)]


def flag(one: Check, title: str, language: Language) -> str:
    """A flagged check as a sentence that stands alone. title: of the methodology, plain text."""
    code = one.found.reason_code
    free = code not in ("above", "below") or one.found.threshold == (None, None)
    about = in_language(WORDS, language)["about_free" if free else "about"].format(
        what=one.what(language), value=value(one, language), threshold=threshold(one, language), n=one.found.n,
        reason=one.why(language), meaning=one.meaning(language), basis=tell(BASES[one.rule.basis], language),
    )  # fmt: skip
    return f"{title}{f' {one.phase}' if one.phase else ''}: {about}"


# --- figures ---------------------------------------------------------------------------------------------------------


def value(one: Check, language: Language) -> str:
    return MISSING if one.found.value is None else _figure(one, one.found.value, language)


def threshold(one: Check, language: Language) -> str:
    """What is still fine: ≤ 80 %, ≥ 30 %, 14,5 % bis 58 %; a dash where the bound depends on more than the value."""
    least, most = (None if end is None else _figure(one, end, language) for end in one.found.threshold)
    if least is not None and most is not None:
        return tell(N_("{low} to {high}"), language).format(low=least, high=most)
    if least is None and most is None:
        return MISSING
    return f"≥ {least}" if least is not None else f"≤ {most}"


def _figure(one: Check, figure: float, language: Language) -> str:
    if one.unit == "share":
        shown = round(100.0 * figure, 1)
        return percent(number(shown, language, 0 if shown.is_integer() else 1), language)
    return number(figure, language, 0 if one.unit == "count" else 2)


# --- tables ----------------------------------------------------------------------------------------------------------


def verdict_table(health: Health, titles: Mapping[str, str], language: Language) -> str:
    """One line a methodology. titles: by methodology, Markdown."""
    words = in_language(WORDS, language)
    rows = [
        [titles.get(name, name), f"**{verdict(one, language)}**", escape(reasons(health, name, language) or words["no_reasons"]),
         escape(_untaken(health, name, language))]
        for name, one in health.verdicts.items()
    ]  # fmt: skip
    heads = ("method", "verdict", "reasons", "untaken")
    return table([words[key] for key in heads], rows, numeric_from=9) or words["none"]


def _untaken(health: Health, name: str, language: Language) -> str:
    """Probes that would have been possible, each by its check's short name, a dash where none is; then those without a result."""
    probes, words = health.probes.get(name, Probes()), in_language(WORDS, language)
    left, unread = (
        ", ".join(tell(PROBES[one], language) for one in ones) for ones in (probes.not_taken, probes.not_read)
    )
    said = left or (words["all_taken"] if probes.any else MISSING)
    return f"{said}; {words['unread'].format(listed=unread)}" if unread else said


def sections(health: Health, titles: Mapping[str, str], language: Language) -> Iterator[str]:
    """The checks of each methodology, then the probes of all, each with its heading, Markdown."""
    words = in_language(WORDS, language)
    source = f"*{'Quelle' if language == 'de' else 'Source'}: {words['source']}*"
    for name in health.verdicts:
        own = [one for one in health.of(name) if not one.probe]
        yield f"### {words['checks'].format(method=titles.get(name, name))}"
        yield from _checks(own, {}, language)
        yield source
    probes = [one for one in health.checks if one.probe]
    if probes:
        yield f"### {words['probes']}"
        yield words["probes_intro"]
        yield from _checks(probes, titles, language)
        yield source


def _checks(checks: Sequence[Check], titles: Mapping[str, str], language: Language) -> Iterator[str]:
    """What was computed as a table, bad ones first; what was not, by reason. titles: where several methodologies stand."""
    words = in_language(WORDS, language)
    order = {"bad": 0, "caution": 1, "fine": 2, "information": 3}
    computed = sorted((c for c in checks if c.found.verdict in order), key=lambda c: order[c.found.verdict])
    without = [one for one in computed if _nothing_missing(one)]
    heads = ["method"] if titles else []
    heads += ["check", "phase", "value", "n", "benchmark", "threshold", "basis", "verdict"]
    rows = [
        [*([titles.get(one.methodology, one.methodology)] if titles else []), *_row(one, language)]
        for one in computed
        if one not in without
    ]
    yield from _parts(table([words[key] for key in heads], rows, numeric_from=len(heads) - 6))
    if without:
        yield words["no_gaps"].format(listed=_without(without, language))
    yield from _notes(checks, computed, language)
    missing = _missing([one for one in checks if one.found.verdict not in order], language)
    if missing:
        yield words["not_computed"].format(listed=missing)


def _parts(*texts: str) -> Iterator[str]:
    yield from (text for text in texts if text)


def _nothing_missing(one: Check) -> bool:
    """A rate of gaps, or its difference between types, that is 0: nobody needs a row for each."""
    return one.found.name.endswith(("_rate", "_by_type")) and one.found.verdict == "fine" and one.found.value == 0


def _without(checks: Sequence[Check], language: Language) -> str:
    """Names, each with the phases it was 0 in and n: `A (T0: n = 750; T1: n = 750)`."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for one in checks:
        phase = f"{one.phase}: " if one.phase else ""
        by_name[one.what(language)].append(f"{phase}n = {one.found.n}")
    return escape(", ".join(f"{name} ({'; '.join(ns)})" for name, ns in by_name.items()))


def _notes(checks: Sequence[Check], computed: Sequence[Check], language: Language) -> Iterator[str]:
    """What n means for types, that values are medians, and where data of people are from."""
    words = in_language(WORDS, language)
    if any(one.found.name.endswith("_by_type") for one in computed):
        yield words["n_of_types"]
    if any(one.found.reason_code == "distribution" for one in checks):
        yield words["medians"]
    sources = [source for one in checks for source in _texts(one.found.detail.get("sources"))]
    if sources:
        yield words["people_from"].format(sources=escape("; ".join(dict.fromkeys(sources))))
    references = {source.short: source for one in computed for source in cited(one.rule.source)}
    if references:
        yield words["sources"].format(
            sources=escape("; ".join(source.full.rstrip(".") for source in references.values()))
        )


def _texts(value_: object) -> list[str]:
    return [str(one) for one in value_] if isinstance(value_, list) else []


def _row(one: Check, language: Language) -> list[str]:
    found = one.found
    benchmark = MISSING if found.benchmark is None else _figure(one, found.benchmark, language)
    said = tell(VERDICTS[found.verdict], language)
    code = found.reason_code
    said = said if code in ("", "above", "below") else f"{said}: {one.why(language)}"
    of_value = (value(one, language), str(found.n), benchmark, threshold(one, language))
    return [escape(one.what(language)), one.phase, *of_value, tell(BASES[one.rule.basis], language), said]


def _missing(checks: Sequence[Check], language: Language) -> str:
    """Checks by the reason why they are not computed: `A, B (too few agents); C T0 (…)`."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in checks:
        by_reason[one.why(language)].append(one.what(language) + (f" {one.phase}" if one.phase else ""))
    return escape("; ".join(f"{', '.join(dict.fromkeys(names))} ({why})" for why, names in by_reason.items()))


def shapes_table(
    shapes: Sequence[Shape], titles: Mapping[str, str], wordings: Mapping[tuple[str, str], str], language: Language
) -> str:
    """wordings: by (methodology, item), plain text."""
    words = in_language(WORDS, language)
    rows = [
        [titles.get(s.methodology, s.methodology), s.phase, str(s.round), escape(wordings.get((s.methodology, s.item), s.item)),
         of(s.n, s.n_total), f"{s.scale_min}–{s.scale_max}", number(s.mean, language), share(s.midpoint, language),
         share(s.ends, language), number(s.entropy, language)]
        for s in shapes
    ]  # fmt: skip
    heads = ("method", "phase", "round", "item", "answers", "scale", "mean", "midpoint", "ends", "entropy")
    return table([words[key] for key in heads], rows, numeric_from=4)
