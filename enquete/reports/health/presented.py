"""Instrument health in words: verdicts, reasons, the sentence of a flag, and what the templates of its tables are filled with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from enquete.analysis.health.diagnostics import Overall
from enquete.locale import N_, in_language, percent, tell
from enquete.reports.bibliography import cited
from enquete.reports.health.checks import Check
from enquete.reports.health.verdicts import Health
from enquete.reports.health.words import BASES, PROBES, REASONS, VERDICTS, WORDS
from enquete.reports.markdown import MISSING, number
from enquete.reports.templates import render
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


def lacking(one: Overall, language: Language) -> str:
    """What there is too little of, of data that cannot be judged."""
    return tell(REASONS[one.reasons[0].rpartition(":")[2]], language)


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


# --- what templates are filled with ----------------------------------------------------------------------------------


def section(health: Health, titles: Mapping[str, str], language: Language) -> str:
    """Beside the figure of all checks: verdicts with several reasons, and probes that would have been possible, Markdown."""
    untaken: dict[str, list[str]] = defaultdict(list)
    unread: dict[str, list[str]] = defaultdict(list)
    for name, probes in health.probes.items():
        for listed, ones in ((untaken, probes.not_taken), (unread, probes.not_read)):
            for one in ones:
                listed[one].append(titles.get(name, name))
    several = {name: reasons(health, name, language) for name, one in health.verdicts.items() if len(one.reasons) > 1}
    return render(
        "enquete.reports.health:section.md.j2", language, titles=titles, reasons=several, untaken=untaken, unread=unread,
        words=PROBES, n=len(health.probes),
    ).strip()  # fmt: skip


def sections(health: Health, titles: Mapping[str, str], language: Language) -> str:
    """The checks of each methodology, then the probes of all, Markdown."""
    own = {name: [one for one in health.of(name) if not one.probe] for name in health.verdicts}
    probes = [one for one in health.checks if one.probe]
    return render(
        "enquete.reports.health:checks.md.j2", language, titles=titles, verdicts=VERDICTS, bases=BASES,
        methods={name: _checks(checks, language) for name, checks in own.items()},
        probes=_checks(probes, language) if probes else {},
        value=lambda one: value(one, language), threshold=lambda one: threshold(one, language),
        benchmark=lambda one: MISSING if one.found.benchmark is None else _figure(one, one.found.benchmark, language),
    ).strip()  # fmt: skip


def _checks(checks: Sequence[Check], language: Language) -> dict[str, object]:
    """What was computed, bad ones first, where it is more than a gap of 0; what was not, by reason; and what needs a note."""
    order = {"bad": 0, "caution": 1, "fine": 2, "information": 3}
    computed = sorted((c for c in checks if c.found.verdict in order), key=lambda c: order[c.found.verdict])
    without: dict[str, list[Check]] = defaultdict(list)
    missing: dict[str, list[str]] = defaultdict(list)
    for one in checks:
        if one.found.verdict not in order:
            missing[one.why(language)].append(one.what(language) + (f" {one.phase}" if one.phase else ""))
        elif _nothing_missing(one):
            without[one.what(language)].append(one)
    sources = (source for one in checks for source in _texts(one.found.detail.get("sources")))
    references = {source.short: source.full.rstrip(".") for one in computed for source in cited(one.rule.source)}
    return {
        "rows": [one for one in computed if not _nothing_missing(one)], "without": without, "missing": missing,
        "of_types": any(one.found.name.endswith("_by_type") for one in computed),
        "medians": any(one.found.reason_code == "distribution" for one in checks),
        "people": list(dict.fromkeys(sources)), "references": list(references.values()),
    }  # fmt: skip


def _nothing_missing(one: Check) -> bool:
    """A rate of gaps, or its difference between types, that is 0: nobody needs a row for each."""
    return one.found.name.endswith(("_rate", "_by_type")) and one.found.verdict == "fine" and one.found.value == 0


def _texts(value_: object) -> list[str]:
    return [str(one) for one in value_] if isinstance(value_, list) else []
