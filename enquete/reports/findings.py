"""What a study found, in sentences: those of every methodology, and the three to five of them that open the report.

A methodology declares its findings. Ranked is what was tested and how sure it is; a null is said as a null; a
difference that was not tested is no finding, nor is one of groups below FEWEST agents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from string import Formatter
from typing import Any, Literal

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.inference import (
    ALPHA,
    detectable_association,
    over_questions,
    scale_detectable,
    shares_held,
)
from enquete.locale import N_, tell
from enquete.reports import key_questions as questions
from enquete.reports.context import jsonable, shallow
from enquete.reports.declarations import (
    ADJUSTED,
    DETECTABLE,
    DETECTABLE_SHARE,
    DETECTABLE_V,
    EFFECTIVE_TESTS,
    OF_ALL,
    SD_WITHIN,
    SIZES,
    Analysis,
    Column,
    Finding,
    Presentation,
    Row,
    ScaleValue,
    Table,
    between_groups,
)
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.key_questions import Power, Question
from enquete.reports.markdown import number
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of
from enquete.reports.views import Results, chosen_rows
from enquete.state.asking import Language

MOST_WORDS = 50
"""Of a finding's sentence. Names that are too short to be cut and lists of groups may take it further."""
FEWEST = 5
"""Agents that a group needs for an effect size or a direction."""
ON_PAGE_ONE = 5
PER_METHODOLOGY = 10
"""Findings that a methodology states at most."""

Kind = Literal["difference", "position", "null"]
ORDER: Mapping[Kind, int] = {"difference": 0, "position": 1, "null": 2}


@dataclass(frozen=True, slots=True)
class Dot:
    """low, high: of its interval, where it has one."""

    value: float
    told: str
    low: float | None = None
    high: float | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return shallow(self)


@dataclass(frozen=True, slots=True)
class Strip:
    """What the small picture beside a finding shows: dots with their intervals on a scale; caption: in words."""

    low: float
    high: float
    dots: tuple[Dot, ...]
    caption: str
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """One finding as its reader meets it. Two runs that find the same give it the same id."""

    id: str  # within the methodology, e.g. "drift.trust"
    text: str  # a sentence of at most MOST_WORDS words: item or theme, direction, size, uncertainty, n
    # a tested difference; an estimate of where the agents stand, with its uncertainty; tested, and nothing found
    kind: Kind
    size: float  # how large, as a share of what is possible: 0 to 1
    n: int  # agents whose answers it rests on
    n_total: int
    p: float | None = None  # of the test, adjusted for how many were made; None where none was needed
    items: tuple[str, ...] = ()  # whose answers it rests on, by item id
    figure: str = ""  # that shows it: the name of a declared chart
    numbers: Mapping[str, float] = field(default_factory=dict)  # those in the sentence, before rounding
    estimate: float | None = None
    low: float | None = None  # of the estimate's interval, which holds for how the row was chosen
    high: float | None = None
    test: str = ""
    family: str = ""  # of tests that were corrected together
    methodology: str = ""  # filled in where findings are joined
    exploratory: bool = False  # it tests a question that is not one of the study's primary ones
    strip: Strip | None = None  # where the estimate is on a scale

    def as_json(self) -> dict[str, JsonValue]:
        told = {"items": list(self.items), "numbers": dict(self.numbers), "strip": jsonable(self.strip)}
        return {**shallow(self), **told}


def p_told(p: float, language: Language) -> str:
    """“p < 0.01”, “p = 0.03”: two decimals, which never lift a p to the level that it stays below."""
    below = 0.01 if p < 0.01 else LEVEL if p < LEVEL <= round(p, 2) else None
    return f"p = {number(p, language)}" if below is None else f"p < {number(below, language)}"


def tested(findings: Iterable[KeyFinding]) -> list[KeyFinding]:
    """Those that rest on a test: all that may be said of data that are not usable."""
    return [finding for finding in findings if finding.p is not None]


def ranked(findings: Iterable[KeyFinding]) -> list[KeyFinding]:
    """Tested differences first, then positions, then nulls; within a kind the larger first, ties by p."""
    return sorted(findings, key=lambda f: (ORDER[f.kind], -round(f.size, 6), 1.0 if f.p is None else f.p))


def leading(by_methodology: Mapping[str, Sequence[KeyFinding]], across: Sequence[KeyFinding] = ()) -> list[KeyFinding]:
    """Of every methodology the first that it declares, so that its own question comes before how groups differ in it,
    differences before the rest; then the next best of all, and of what joins methodologies; nulls last."""
    stated = [findings for findings in by_methodology.values() if findings]
    firsts = [min(findings, key=lambda finding: ORDER[finding.kind]) for findings in stated]
    others = ranked([*(finding for findings in stated for finding in findings if finding not in firsts), *across])
    return [
        *ranked(firsts),
        *(finding for finding in others if finding.kind != "null"),
        *(finding for finding in others if finding.kind == "null"),
    ][:ON_PAGE_ONE]


# --- From declared findings to the sentences of page one: every test corrected once, then told as its row says --------
# Every finding that tests is a question with a p for each row of its table: corrected over these rows (Holm, or as they
# come by max-T), the least of them enters one Holm procedure over all questions of a report (analysis/inference.py,
# `over_questions`), in which the primary ones hold α. The adjusted p is written into the tables' column `p_adjusted`,
# so that table and sentence cannot differ.


def corrected(
    analyses: Mapping[str, tuple[Presentation, Analysis]], named: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, Analysis]:
    """Return the analyses with `p_adjusted` filled where a declared finding tests rows.

    named: methodology → finding → part of α, of the primary questions that the study names; a methodology that is not
    in here has the first of its own that the run asks (`Presentation.primary`).
    """
    places: list[tuple[str, str, Any]] = []  # methodology, table, row; no row where none of the table came so far
    p: list[float] = []
    question: list[str] = []
    given: set[str] = set()
    after: dict[str, str] = {}
    for name, (presentation, analysis) in analyses.items():
        for each in _questions(presentation):
            every = analysis.tables[each.table]
            frame = each.asked_rows(ResultTables(presentation, analysis))
            tested = frame[each.p].dropna()
            if frame.empty and len(every):  # what was looked for and not found is a question, too
                tested = pd.Series([1.0], index=[None])
            places += [(name, each.table, row) for row in tested.index]
            p += tested.tolist()
            key = f"{name}/{each.name}"
            question += [key] * len(tested)
            given |= {key} if each.within == "given" else set()
            after |= {key: f"{name}/{each.after}"} if each.after else {}
    if not p:
        return {name: analysis for name, (_, analysis) in analyses.items()}
    primary = _primary(analyses, named or {}, set(question))
    parts = {f"{name}/{finding}": part for name, own in primary.items() for finding, part in own.items()}
    asked_p, questions = pd.Series(p), pd.Series(question)
    adjusted = over_questions(asked_p, questions, given=given, after=after, primary=parts).tolist()
    levels = shares_held(asked_p, questions, given=given, after=after, primary=parts)
    analyses = _with_own_power(analyses, {name: ALPHA * share for name, share in levels.items()}, given)
    by_table: dict[tuple[str, str], dict[Any, float]] = {(name, table): {} for name, table, _ in places}
    for (name, table, row), value in zip(places, adjusted, strict=True):
        by_table[name, table] |= {} if row is None else {row: value}
    filled = {name: _filled(name, analysis, by_table) for name, (_, analysis) in analyses.items()}
    asked = [part for name, parts in primary.items() for one, part in parts.items() if f"{name}/{one}" in set(question)]
    if not any(primary.values()):
        return filled
    for name, parts in primary.items():
        shares = {one: part / sum(asked) if f"{name}/{one}" in set(question) else 0.0 for one, part in parts.items()}
        filled[name] = replace(filled[name], primary=shares)
    return filled


def _with_own_power(
    analyses: Mapping[str, tuple[Presentation, Analysis]], levels: Mapping[str, float], given: Set[str]
) -> dict[str, tuple[Presentation, Analysis]]:
    """Return the analyses with what each test would have found at the level that its question has on this page.

    An analysis says what would be found at all of α over the rows of its own table.

    Args:
        levels: By "methodology/finding" of the tested questions.
        given: Those whose p are corrected over their rows already.
    """
    scaled = dict(analyses)
    for name, (presentation, analysis) in analyses.items():
        tables = dict(analysis.tables)
        for question in _questions(presentation):
            key = f"{name}/{question.name}"
            if key not in levels:
                continue
            rows = question.asked_rows(ResultTables(presentation, analysis))
            tested = rows[rows[question.p].notna()]
            if DETECTABLE in rows:
                at_level = _sizes_at_level(tested, levels[key], joint=key in given)
            elif DETECTABLE_V in rows:
                at_level = _associations_at_level(tested, levels[key], joint=key in given)
            else:
                continue
            tables[question.table] = _replaced(tables[question.table], at_level)
        scaled[name] = (presentation, replace(analysis, tables=tables))
    return scaled


def _replaced(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the table with these values in the place of its own, missing ones as well."""
    table = table.copy()
    for name in rows:
        column = table[name].astype("float64")
        column.loc[rows.index] = rows[name].astype("float64")
        table[name] = column
    return table


def _levels(rows: int, level: float, *, joint: bool) -> tuple[float, float]:
    """Return the level of a row that its analysis counted with, and that of the page.

    joint: whether the analysis counted with all of its rows (max-T).
    """
    return (ALPHA / rows if joint else ALPHA), level / rows


def _sizes_at_level(tested: pd.DataFrame, level: float, *, joint: bool) -> pd.DataFrame:
    """Return the columns of `detectable`; blank where the difference would be wider than its scale."""
    at_level = []
    own, page = _levels(max(1, len(tested)), level, joint=joint)
    for row in rows_of(tested):
        if row.get(SIZES):
            tests = row.get(EFFECTIVE_TESTS) or 1.0
            scale = (row.get("scale_min"), row.get("scale_max"))
            between = between_groups(row[SIZES], row[OF_ALL], row.get(SD_WITHIN), scale, level / tests)
            at_level.append(between)
            continue
        factor = scale_detectable(row["n"], own, page)  # the same agents twice
        share = row.get(DETECTABLE_SHARE)
        too_wide = row[DETECTABLE] is None or (share is not None and share * factor >= 1)
        at_level.append({
            DETECTABLE: None if too_wide else row[DETECTABLE] * factor,
            DETECTABLE_SHARE: None if too_wide or share is None else share * factor,
        })  # fmt: skip
    columns = [name for name in (DETECTABLE, DETECTABLE_SHARE) if name in tested]
    return pd.DataFrame(at_level, index=tested.index, columns=columns, dtype="float64")


def _associations_at_level(tested: pd.DataFrame, level: float, *, joint: bool) -> pd.DataFrame:
    """Return the column of Cramér's V that would be found."""
    _, page = _levels(max(1, len(tested)), level, joint=joint)
    found = [detectable_association(row["n"], row["n_groups"], row["n_options"], alpha=page) for row in rows_of(tested)]
    return pd.DataFrame({DETECTABLE_V: pd.Series(found, index=tested.index, dtype="float64")})


def _questions(presentation: Presentation) -> list[Question]:
    """Return what a methodology tests; a declared finding with p is a question, too."""
    declared = [
        Question(
            name=finding.name, table=finding.table, p=finding.p, within=finding.within, after=finding.after,
            rows=partial(_declared_rows, finding),
        )
        for finding in presentation.findings if finding.p
    ]  # fmt: skip
    return [*declared, *presentation.tested]


def _declared_rows(finding: Finding, tables: ResultTables) -> pd.DataFrame:
    return chosen_rows(tables[finding.table], finding.where, tables.facts)


def _primary(
    analyses: Mapping[str, tuple[Presentation, Analysis]], named: Mapping[str, Mapping[str, float]], asked: Set[str]
) -> dict[str, dict[str, float]]:
    """Return the primary questions with their parts of α: those that are named, else the first that the run asks.

    asked: "methodology/finding" of every question that tested a row.
    """
    primary: dict[str, dict[str, float]] = {}
    for name, (presentation, _) in analyses.items():
        if name in named:
            parts = dict(named[name])
        else:
            default = next((one for one in presentation.primary if f"{name}/{one}" in asked), None)
            parts = {} if default is None else {default: 1.0}
        primary[name] = parts
    return primary


def _filled(name: str, analysis: Analysis, adjusted: Mapping[tuple[str, str], Mapping[Any, float]]) -> Analysis:
    tables = dict(analysis.tables)
    for (methodology, table), rows in adjusted.items():
        if methodology == name and ADJUSTED in tables[table]:
            column = pd.Series(rows, dtype="float64").reindex(tables[table].index)
            tables[table] = tables[table].assign(**{ADJUSTED: column})
    return replace(analysis, tables=tables)


def stated_of(results: Results, log: GapLog = NOTHING_CAUGHT) -> Iterator[KeyFinding]:
    """The findings of one methodology, after the correction, in the order of their declaration. One that cannot be put
    into words goes to the log."""
    for finding in results.presentation.findings:
        told: list[KeyFinding] = []
        with log.catch(results.methodology, "finding", finding.name):
            told += _told(finding, results)
        yield from told
    tables = ResultTables(results.presentation, results.analysis)
    for find in results.presentation.finders:
        found: list[KeyFinding] = []
        with log.catch(results.methodology, "finding", find.__name__):
            found += [state_finding(finding, results) for finding in find(tables)]
        yield from found


def state_finding(finding: questions.Finding, results: Results) -> KeyFinding:
    """Return a finding in words.

    Raises:
        ValueError: the sentence names something that has no value, or the finding a question that is not asked.
    """
    if finding.question and finding.question not in results.presentation.questions:
        there = ", ".join(results.presentation.questions) or "none"
        raise ValueError(f"finding {finding.id!r} answers {finding.question!r}; the questions are {there}")
    row = {**results.facts, **finding.values}
    p = row.get(ADJUSTED) if finding.question else None
    row["p"] = p_told(p, results.language) if p is not None else None
    if isinstance(row.get("power"), Power):
        asked = {question.name: question for question in results.presentation.tested}
        after = asked[finding.question].after if finding.question in asked else ""
        row["power"] = _power(results.presentation.tables[finding.table], row["power"].rows, results, after)
    wording = tell(finding.text, results.language)
    finding.require_values(row, wording)

    known = results.columns_of(finding.table)
    in_text = {name: column for name, column in known.items() if name != "p"}
    text = results.fill(finding.text, row, in_text, markdown=False, room=MOST_WORDS)
    text = text[:1].upper() + text[1:]
    exploratory = bool(finding.question) and is_exploratory(finding.question, results.analysis)
    if exploratory:
        text = tell(EXPLORATORY_SAYS, results.language).format(finding=text)

    named = {name for _, name, _, _ in Formatter().parse(wording) if name}
    numbers = {name: float(row[name]) for name in sorted(named - {"p"}) if _is_number(row.get(name))}
    if p is not None:
        numbers["p"] = float(p)
    is_null = finding.kind == "null"
    points = tuple(finding.points) or (ScaleValue(value=finding.estimate, low=finding.low, high=finding.high),)
    picture = None if is_null else _strip(points, finding.scale, row, known, results, finding.simultaneous)
    return KeyFinding(
        id=finding.id, text=text, kind=finding.kind, size=0.0 if is_null else min(1.0, max(0.0, finding.size)),
        n=int(row.get(finding.n) or 0), n_total=int(row.get(finding.n_total) or 0), p=p,
        items=tuple(map(str, finding.items)), figure=finding.chart, numbers=numbers, methodology=results.methodology,
        estimate=_float(row, finding.estimate), low=_float(row, finding.low), high=_float(row, finding.high),
        test=finding.test, family=f"{results.methodology}/{finding.question}" if finding.question else "",
        strip=picture, exploratory=exploratory,
    )  # fmt: skip


def _told(finding: Finding, results: Results) -> Iterator[KeyFinding]:
    if finding.after and not finding.p and not _holds(finding.after, results):
        return
    rows = results.analysis.tables[finding.table] if finding.table else pd.DataFrame([results.facts])
    frame = chosen_rows(rows, finding.where, results.facts)
    if finding.table:
        frame = results.ordered(results.presentation.tables[finding.table], frame, finding.order)
    tested = [row for row in rows_of(frame) if not finding.p or row[finding.p] is not None]
    sure = [row for row in tested if not finding.p or (row[ADJUSTED] is not None and row[ADJUSTED] < LEVEL)]
    for row in sure[: finding.top]:
        says = finding.says if isinstance(finding.says, str) else finding.says.get(str(row.get(finding.word)))
        if says:
            yield _finding(finding, "difference" if finding.p else finding.kind, says, row, results)
    if finding.null and tested and not sure:
        row = {**min(tested, key=itemgetter(finding.p)), "tests": len(tested)}
        if finding.n in row:  # else a fact
            row[finding.n] = min(each[finding.n] for each in tested)
        row["power"] = _power(results.presentation.tables[finding.table], tested, results, finding.after)
        yield _finding(finding, "null", finding.null, row, results)


EXPLORATORY_SAYS = N_("Exploratory: {finding}")


def is_exploratory(finding: str, analysis: Analysis) -> bool:
    """Return whether the page has primary questions and this is none of them."""
    return analysis.primary is not None and finding not in analysis.primary


POWER: Mapping[str, str] = {
    "one": N_("{difference} would have been found four times in five"),
    "each": N_("{difference} on one of them, whichever, would have been found four times in five"),
    "some": N_("{difference} would have been found four times in five on {n} only"),
    "none": N_("no difference, however large, would have been found four times in five"),
    "no_unit": N_("what would have been found on each is in the table"),
    "unknown": N_("what would have been found is not known"),
    "waits": N_("no difference would have counted, since the question before it found nothing"),
}
POINTS, PERCENT = N_("a difference of {size} points"), N_("a difference of {size} percentage points")
OF_SCALE, UNIT = N_("a difference of {size} of the scale"), N_("a difference of {size}")


def _power(table: Table, tested: Sequence[Row], results: Results, after: str = "") -> str:
    """Say what would have been found on a row that was tested, whichever it is.

    That is the size which is found in four of five on average over the rows, in points where all are on one scale, else
    of the scale.

    Args:
        table: Whose rows were tested.
        tested: The rows.
        results: All that the methodology found.
        after: The question that had to find something before this one counts; "" for none.
    """
    columns = {column.name: column for column in table.columns}
    if DETECTABLE not in columns:
        return ""
    language, on_scales = results.language, DETECTABLE_SHARE in columns
    if after and not _holds(after, results):
        return tell(POWER["waits"], language)
    within = [row for row in tested if row[DETECTABLE] is not None]
    if not within:
        return tell(POWER["none" if on_scales else "unknown"], language)  # without a scale: nothing varied
    most = {**max(within, key=itemgetter(DETECTABLE)), DETECTABLE: typical_size([row[DETECTABLE] for row in within])}
    shares = [row.get(DETECTABLE_SHARE) for row in within]
    widths = {share and round(row[DETECTABLE] / share, 6) for row, share in zip(within, shares, strict=True)}
    if on_scales and None in widths and len(within) > 1:
        return tell(POWER["no_unit"], language)
    size, says = results.cell(columns[DETECTABLE], most), POINTS if on_scales and None not in widths else UNIT
    if columns[DETECTABLE].format == "share":
        size, says = number(100 * most[DETECTABLE], language, digits=0), PERCENT
    elif len(widths) > 1:
        most = {**most, DETECTABLE_SHARE: typical_size([share for share in shares if share is not None])}
        size, says = results.cell(columns[DETECTABLE_SHARE], most), OF_SCALE
    which = "one" if len(tested) == 1 else "each" if len(within) == len(tested) else "some"
    return tell(POWER[which], language).format(difference=tell(says, language).format(size=size), n=len(within))


CRITICAL, FOUND = 3.0, 0.8416
"""Standard errors: of a usual critical value, and beyond it for a power of .8."""


def typical_size(sizes: Sequence[float]) -> float:
    """Return the size that is found in four of five on average over rows, of which each is so at a size of its own."""

    def missed(size: float) -> float:
        z = [(CRITICAL + FOUND) * size / own - CRITICAL for own in sizes]
        return 0.8 - sum(0.5 * math.erfc(-each / math.sqrt(2)) for each in z) / len(z)

    low, high = min(sizes), max(sizes)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > 0 else (low, middle)
    return high


def _holds(name: str, results: Results) -> bool:
    """Return whether a tested question found something after the correction, or had nothing to test."""
    (question,) = (each for each in _questions(results.presentation) if each.name == name)
    asked = question.asked_rows(ResultTables(results.presentation, results.analysis))
    adjusted = asked[ADJUSTED].dropna()
    return adjusted.empty or bool((adjusted < LEVEL).any())


def _finding(finding: Finding, kind: Kind, says: str, row: dict[str, Any], results: Results) -> KeyFinding:
    presentation = results.presentation
    columns = {column.name: column for column in presentation.tables[finding.table].columns} if finding.table else {}
    known: dict[str, Column] = {**presentation.facts, **columns}
    row = {**results.facts, **row}
    p = row.get(ADJUSTED) if finding.p else None
    filled = {**row, "p": p_told(p, results.language) if p is not None else ""}
    text = results.fill(
        says, filled, {name: column for name, column in known.items() if name != "p"}, markdown=False, room=MOST_WORDS
    )
    text = text[:1].upper() + text[1:]
    exploratory = bool(finding.p) and is_exploratory(finding.name, results.analysis)
    if exploratory:
        text = tell(EXPLORATORY_SAYS, results.language).format(finding=text)
    named = {name for _, name, _, _ in Formatter().parse(tell(says, results.language)) if name}
    numbers = {name: float(row[name]) for name in sorted(named - {"p"}) if _is_number(row.get(name))}
    if p is not None:
        numbers["p"] = float(p)
    items = row.get(finding.items) if finding.items else None
    key = "/".join(str(row[name]) for name in presentation.tables[finding.table].key) if finding.table else ""
    return KeyFinding(
        id=".".join(filter(None, (finding.name, key if kind != "null" else ""))), text=text, kind=kind,
        size=_size(finding, row) if kind != "null" else 0.0, n=int(row.get(finding.n) or 0),
        n_total=int(row.get(finding.n_total) or 0), p=p,
        items=tuple(map(str, items if isinstance(items, list) else [items] if items else [])), figure=finding.chart,
        numbers=numbers, methodology=results.methodology, estimate=_float(row, finding.estimate),
        low=_float(row, finding.low), high=_float(row, finding.high), test=str(row.get(finding.test, finding.test)),
        family=f"{results.methodology}/{finding.name}" if finding.p else "",
        strip=_declared_strip(finding, row, known, results) if kind != "null" else None, exploratory=exploratory,
    )  # fmt: skip


DOTS = (N_("dot: {what} {value}"), N_("diamond: {what} {value}"))
OF = N_("{value} ({of})")
INTERVAL = N_("{dots}; line: 95% interval {low} to {high}")
INTERVALS = N_("{dots}; lines: 95% intervals")
SIMULTANEOUS = N_("{dots}; line: simultaneous 95% interval {low} to {high}")
ALL_SIMULTANEOUS = N_("{dots}; lines: simultaneous 95% intervals")
NO_INTERVAL = N_("{dots}; no interval")


def _declared_strip(finding: Finding, row: Row, known: Mapping[str, Column], results: Results) -> Strip | None:
    points = finding.points or (ScaleValue(value=finding.estimate, low=finding.low, high=finding.high),)
    ends = _evaluated(finding.scale, row) if finding.scale else None
    return _strip(points, ends, row, known, results, finding.simultaneous)


def _strip(
    points: Sequence[ScaleValue], ends: tuple[float, float] | None, row: Row, known: Mapping[str, Column],
    results: Results, simultaneous: bool,
) -> Strip | None:  # fmt: skip
    """None where what is estimated has no scale, no name or no value."""
    columns = [known[point.value] for point in points if point.value]
    is_share = bool(columns) and columns[0].format == "share"
    least, most = map(float, ends or ((0.0, 1.0) if is_share else (0.0, 0.0)))
    dots = [_dot(point, row, known, results) for point in points if point.value]
    if not dots or None in dots or any(not column.label for column in columns) or not least < most:
        return None
    shown = tuple(dot for dot in dots if dot is not None)
    language, named = results.language, []
    for text, point, column, dot in zip(DOTS, points, columns, shown, strict=False):
        value = (
            tell(OF, language).format(value=dot.told, of=results.cell(known[point.of], row)) if point.of else dot.told
        )
        named.append(tell(text, language).format(what=results.label(column), value=value))
    intervals = sum(dot.low is not None for dot in shown)
    one, several = (SIMULTANEOUS, ALL_SIMULTANEOUS) if simultaneous else (INTERVAL, INTERVALS)
    says = NO_INTERVAL if not intervals else several if intervals > 1 else one
    low, high = (results.cell(known[end], row) if end else "" for end in (points[0].low, points[0].high))
    return Strip(least, most, shown, tell(says, language).format(dots="; ".join(named), low=low, high=high), is_share)


def _dot(point: ScaleValue, row: Row, known: Mapping[str, Column], results: Results) -> Dot | None:
    value, low, high = (_float(row, name) for name in (point.value, point.low, point.high))
    if value is None:
        return None
    ends = (low, high) if low is not None and high is not None else (None, None)
    return Dot(value, results.cell(known[point.value], row), *ends)


def _size(finding: Finding, row: Row) -> float:
    """The declared expression over this row, cut to 0 … 1; 0 where a part of it is missing."""
    value = _evaluated(finding.size, row) or 0.0
    return min(1.0, max(0.0, float(value))) if value == value else 0.0


def _evaluated(expression: str, row: Row) -> Any:
    """Over the numbers of a row; None where a part of it is missing."""
    known = {name: value for name, value in row.items() if _is_number(value)}
    try:
        return eval(compile(expression.replace("@", ""), "expression", "eval"), {"__builtins__": {}, "abs": abs}, known)
    except (NameError, ZeroDivisionError):
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _float(row: Row, name: str) -> float | None:
    value = row.get(name) if name else None
    return float(value) if _is_number(value) and value is not None else None
