"""Instrument health: whether a run's answers can be used, by methodology, with every check that this rests on.

The checks, their thresholds, minima and benchmarks are those of enquete/analysis (docs/health.md). The main arm is what
is judged, by its own answers and by what probe arms, where there are any, show about them. What is simulated stays
simulated: a verdict is about the procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.diagnostics import INTERIM, NOT_TESTED, NOT_USABLE, NOTHING, Overall, Verdict, overall
from enquete.analysis.estimates import Floats
from enquete.instruments.instrument import Instrument
from enquete.locale import N_, tell
from enquete.reports import declarations as d
from enquete.reports.context import Found, chosen, jsonable, numbered, opened, shallow
from enquete.reports.declarations import NOT_ANALYSED, Analysis
from enquete.reports.evaluation import Evaluation, evaluation
from enquete.reports.health_checks import (
    BASES,
    CHECKS,
    PROBES,
    REASONS,
    RETEST,
    VERDICTS,
    Arms,
    HealthCheck,
    Humans,
    contents,
    not_read,
    not_taken,
    phases,
    possible,
    probing,
    with_blocks,
)
from enquete.reports.result_tables import rows_of
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Names, Results
from enquete.state.asking import RESPONDED, Language
from enquete.state.methodology import Methodology

# --- How the answers to every closed item are spread: shares at midpoint and ends, mean, entropy. Measured by hand
# counts


@dataclass(frozen=True, slots=True)
class Shape:
    """Distribution of a closed item: shares at the midpoint (None where there is none) and the ends, mean, entropy."""

    methodology: str
    phase: str
    round: int
    item: str
    scale_min: int
    scale_max: int
    n: int
    n_total: int
    mean: float | None
    midpoint: float | None
    ends: float | None
    entropy: float | None  # H / log K, K points


def shapes(rows: pd.DataFrame) -> Iterator[Shape]:
    """Every closed item by phase and round, in the table's order. rows: of one arm."""
    keys = ["methodology", "phase", "round", "item_id"]
    closed = rows[[*keys, "value", "status", "scale_min", "scale_max"]][rows["scale_min"].notna()]
    answered = closed["value"].where(closed["status"].isin(RESPONDED)).to_numpy(dtype=float)
    low, high = (closed[end].to_numpy(dtype=float) for end in ("scale_min", "scale_max"))
    group = numbered(closed, keys)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    firsts = closed[keys].iloc[order[starts]].itertuples(index=False)
    for (name, phase, number, item), at in zip(firsts, np.split(order, starts)[1:], strict=True):
        yield _shape((str(name), str(phase), int(number), str(item)), int(low[at[0]]), int(high[at[0]]), answered[at])


def _shape(key: tuple[str, str, int, str], low: int, high: int, given: Floats) -> Shape:
    values = given[~np.isnan(given)]
    n, middle = len(values), (low + high) / 2
    return Shape(
        *key, low, high, n, given.size, mean=float(values.mean()) if n else None,
        midpoint=float((values == middle).mean()) if n and middle.is_integer() else None,
        ends=float(np.isin(values, (low, high)).mean()) if n else None, entropy=entropy(values, high - low + 1),
    )  # fmt: skip


def entropy(values: Floats, points: int) -> float | None:
    """H / log K = −Σ pₖ log pₖ / log K over the K points of the scale; None below two answers (Shannon 1948)."""
    if len(values) < 2:
        return None
    counts = np.unique(values, return_counts=True)[1]
    share = counts / len(values)
    return float(share @ -np.log(share) / np.log(points)) + 0.0


OnBug = Callable[[str, Exception], None]

CHECKS_FAILED = Overall("cannot be judged", ("checks_failed",))
ENDED = ("done", "failed")
"""Outcomes of a stage after which no answer comes."""
_WORST: Mapping[Verdict, int] = {"bad": 0, "caution": 1, "fine": 2, "information": 3, "not computed": 4}


@dataclass(frozen=True)
class Probes:
    """Of one methodology, by the check that reads them: whether any is possible, those not asked, those asked that gave
    no check."""

    any: bool = False
    not_taken: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Health:
    """All checks, the verdict by methodology, and the distribution shape of every closed item."""

    checks: tuple[HealthCheck, ...] = ()
    verdicts: Mapping[str, Overall] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ()
    synthetic: bool = False  # a program answered, no model
    probes: Mapping[str, Probes] = field(default_factory=dict)  # by methodology

    def of(self, methodology: str) -> list[HealthCheck]:
        return [check for check in self.checks if check.methodology == methodology]

    def behind(self, methodology: str, reason: str) -> HealthCheck | None:
        """The check that gave a verdict's reason, the worst of its name."""
        name = reason.rpartition(":")[0]
        checks = [check for check in self.of(methodology) if check.found.name == name]
        return min(checks, key=lambda check: _WORST[check.found.verdict], default=None)

    @property
    def flagged(self) -> list[HealthCheck]:
        return [check for check in self.checks if check.found.verdict in ("caution", "bad")]

    def as_json(self) -> JsonValue:
        """health.json: verdicts, then checks with everything that they rest on, then shapes."""
        checks = [
            {"methodology": check.methodology, "phase": check.phase, "probe": check.probe, **shallow(check.found)}
            for check in self.checks
        ]
        verdicts = {name: {**shallow(verdict), **self._of_probes(name)} for name, verdict in self.verdicts.items()}
        return jsonable(
            {"synthetic": self.synthetic, "unit_of_inference": "run", "verdicts": verdicts, "diagnostics": checks,
             "shapes": [shallow(shape) for shape in self.shapes]}
        )  # fmt: skip

    def _of_probes(self, name: str) -> dict[str, tuple[str, ...]]:
        probes = self.probes.get(name, Probes())
        return {"probes_not_taken": probes.not_taken} | (
            {"probes_not_read": probes.not_read} if probes.not_read else {}
        )


def examine(
    reading: RunReading, analyses: Mapping[str, Analysis], frame: pd.DataFrame, on_bug: OnBug | None = None
) -> Health:
    """Health of a run. frame: its response table. A bug in a methodology's checks goes to `on_bug`, or is raised."""
    methodologies = {name: reading.methodology(name) for name in reading.record.methods}
    instruments = {name: reading.instrument(name) for name in methodologies}
    humans: dict[str, Humans] = {}
    for name, instrument in instruments.items():
        try:
            humans |= {name: instrument.human_answers()} if isinstance(instrument, Instrument) else {}
        except Exception as error:
            if on_bug is None:
                raise
            on_bug(name, error)
    synthetic = reading.record.main.respondent == "synthetic"

    def pinned(name: str, arm: str) -> Found:
        return reading.pinned_values(arm, name)

    table = with_blocks(reading, over(reading, frame))
    health = judge(methodologies, analyses, table, pinned, humans, synthetic=synthetic, on_bug=on_bug)
    planned = dict.fromkeys(map(str, frame.loc[frame["arm_role"].eq("main"), "methodology"]), NOTHING)
    going_on = unfinished(reading, frame)
    verdicts = {
        name: INTERIM if name in going_on and verdict.verdict not in (NOT_USABLE, NOTHING.verdict) else verdict
        for name, verdict in health.verdicts.items()
    }
    return replace(health, verdicts={**planned, **verdicts})


def unfinished(reading: RunReading, frame: pd.DataFrame) -> set[str]:
    """Methodologies of which a stage is yet to be asked, or to the end: what is missing may still come."""
    rows = chosen(frame, frame["run_id"].eq(reading.run) & frame["arm_role"].eq("main"))
    stages = set(zip(rows["methodology"], rows["phase"], strict=True))
    return {str(name) for name, phase in stages if reading.stages.get((name, phase), "") not in ENDED}


def over(reading: RunReading, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of stages that are no longer asked: while a wave is being asked there is nothing to judge in it."""
    stages = zip(frame["methodology"], frame["phase"], strict=True)
    asked = np.fromiter((stage in reading.stages for stage in stages), dtype=bool, count=len(frame))
    return chosen(frame, asked | frame["run_id"].ne(reading.run))


def judge(
    methodologies: Mapping[str, Methodology],
    analyses: Mapping[str, Analysis],
    frame: pd.DataFrame,
    pinned: Callable[[str, str], Found] = lambda name, arm: {},
    humans: Mapping[str, Humans] | None = None,
    *,
    synthetic: bool = False,
    on_bug: OnBug | None = None,
) -> Health:
    """The same from tables alone. frame: rows of all arms, with `block`. pinned: values of (methodology, arm) by name;
    humans: what a methodology's instrument says of people's answers.
    """
    checks: list[HealthCheck] = []
    verdicts: dict[str, Overall] = {}
    probes: dict[str, Probes] = {}
    for name in map(str, dict.fromkeys(frame.loc[frame["arm_role"].eq("main"), "methodology"])):
        rows = opened(chosen(frame, frame["methodology"].eq(name)))
        try:
            judged = MethodologyHealth(
                methodologies[name], probing(rows, analyses.get(name, NOT_ANALYSED), partial(pinned, name))
            )
            judged.check((humans or {}).get(name, {}))
            if judged.checks:
                verdicts[name], probes[name] = judged.overall(rows), judged.probes()
                checks += judged.checks
        except Exception as error:
            if on_bug is None:
                raise
            on_bug(name, error)
            verdicts[name] = CHECKS_FAILED  # the checks that were made before cannot judge the data alone
    of_items = tuple(shapes(chosen(frame, frame["arm_role"].eq("main"))))
    return Health(tuple(checks), verdicts, of_items, synthetic, probes)


@dataclass
class MethodologyHealth:
    """One methodology while it is judged."""

    methodology: Methodology
    arms: Arms
    checks: list[HealthCheck] = field(default_factory=list)

    def check(self, humans: Humans) -> None:
        """Checks of its main arm, those of its own plausibility first, then of its probes."""
        its, name = evaluation(self.methodology), self.methodology.name
        made = chain(its.health(self.arms.analysis, self.arms.main, humans), contents(self.arms.main))
        self.checks += [HealthCheck(name, phase, check, own=its.checks.get(check.name)) for phase, check in made]
        if self.arms.asked:
            probed = its.probed(self.arms)
            self.checks += [
                HealthCheck(name, phase, check, True, its.checks.get(check.name)) for phase, check in probed
            ]

    def probes(self) -> Probes:
        likely, asked = possible(self.methodology), self.arms.asked
        left = not_taken(likely, self.checks, asked, waves=len(phases(self.arms.main)))
        return Probes(bool(likely), left, not_read(self.checks, asked))

    def overall(self, rows: pd.DataFrame) -> Overall:
        """A check taken in both waves counts once, by its worse outcome: one fault is not two. rows: of all arms."""
        worst: dict[str, HealthCheck] = {}
        for check in sorted(self.checks, key=lambda check: _WORST[check.found.verdict]):
            worst.setdefault(check.found.name, check)
        rules = {name: check.rule for name, check in evaluation(self.methodology).checks.items()}
        return overall((check.found for check in worst.values()), rules, self.not_tested(rows))

    def not_tested(self, rows: pd.DataFrame) -> str:
        """Why no retest says whether the same agents would answer so again."""
        if RETEST in self.arms.asked:
            return "retest_unread"
        again = rows["arm_role"].eq("replicate") & rows["status"].ne("not_reached")
        return "only_replicates" if again.any() else NOT_TESTED


# --- Instrument health as tables: a check is a row with its value, bound, verdict and reason; verdicts, probes,
# distribution shapes
# Words belong to levels. Checks that one methodology alone has bring theirs, so the presentation is made for the
# methodologies of a run.

HEALTH = "health"
CHECKS_TITLE = N_("Checks of instrument health")
STATES = {"not_taken": N_("not taken"), "not_read": N_("not readable")}
METHODOLOGY = d.reference("methodology", N_("Methodology"), to="methodology")
SUMMARY = N_("{methodology}, {check}: {verdict}, {why} ({value}; fine: {least_to_most}; n = {n}). {meaning}")
FREE = N_("{methodology}, {check}: {verdict}, {why} (n = {n}). {meaning}")

VERDICTS_TABLE = d.Table(
    name="verdicts", title=N_("Verdicts"), key=("methodology",),
    columns=(METHODOLOGY, d.code("standing", N_("Verdict"), VERDICTS), d.integer("bad", N_("bad")),
        d.integer("caution", N_("caution")),
             d.integer("computed", N_("computed")), d.integer("checks", N_("checks"))),
    views=(d.View(at="appendix"), d.View(at="digest")),
)  # fmt: skip
PROBES_TABLE = d.Table(
    name="probes", title=N_("Probes that would have been possible"), key=("place",),
    columns=(
        d.integer("place", N_("place")), d.code("state", N_("state"), STATES),
        d.several("probes", N_("Probe"), levels=PROBES),
        d.several("methodologies", N_("of"), to="methodology")),
    views=(d.View(at="section", heading="", word="state", says={
        "not_taken": N_("Probes not taken ({methodologies}): {probes}."),
        "not_read": N_("Probes taken, but not readable ({methodologies}): {probes}."),
    }),),
)  # fmt: skip
SHAPES = d.Table(
    name="shapes", title=N_("Distribution shapes"), key=("methodology", "phase", "round", "item"),
    columns=(
        METHODOLOGY, d.text("phase", N_("Phase")), d.integer("round", N_("Round")),
        d.reference("item", N_("Item"), to="item"), d.integer("n", "n"), d.integer("n_total", "N"),
        d.of("n", "n_total", "n / N"), d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
        d.number("mean", N_("mean")), d.share("midpoint", N_("midpoint")), d.share("ends", N_("ends")),
        d.number("entropy", N_("entropy")),
    ),
)  # fmt: skip


FACTS = (d.integer("n_methodologies"), d.integer("n_bad"), d.integer("n_caution"), d.integer("n_computed"),
         d.integer("n_checks"), d.flag("synthetic"))  # fmt: skip
GLANCE = d.Chart(
    name="glance", title=N_("Instrument health: every check of every methodology"), needs=("checks",),
    draw="enquete.reports.pictures:glance",
    alt=N_("{n_checks:check|checks} of {n_methodologies:methodology|methodologies}: {n_bad} bad, {n_caution} to be "
           "careful with, {n_computed} computed."),
)  # fmt: skip


def presentation(by_method: Mapping[str, Evaluation]) -> d.Presentation:
    """by_method: the evaluations of the run, whose checks bring words of their own."""
    theirs = {f"{name}/{check}": rule for name, each in by_method.items() for check, rule in each.checks.items()}
    what = {name: words[1] for name, words in CHECKS.items()} | {name: rule.words[0] for name, rule in theirs.items()}
    means = {name: words[2] for name, words in CHECKS.items()} | {name: rule.words[1] for name, rule in theirs.items()}
    why = {**REASONS, **{code: words for rule in theirs.values() for code, words in rule.reasons.items()}}
    checks = d.Table(
        name="checks", title=N_("Checks of instrument health"), key=("methodology", "phase", "check", "probe"),
        columns=(
            METHODOLOGY, d.code("check", N_("Check"), what), d.code("meaning", N_("what a caution means"), means),
                d.text("phase", N_("Phase")),
            d.flag("probe", N_("probe")), d.text("unit", N_("unit")), d.number("value", N_("Value"), unit="unit"),
                d.integer("n", "n"),
            d.number("benchmark", N_("People, or chance"), unit="unit"), d.number("least", N_("at least"), unit="unit"),
            d.number("most", N_("at most"), unit="unit"),
                d.interval("least", "most", N_("fine"), format="bounds", unit="unit"),
            d.code("basis", N_("rests on"), BASES), d.code("verdict", N_("Verdict"), VERDICTS),
                d.code("why", N_("why"), why),
            d.flag("free", N_("without bound"), means=N_("the verdict rests on more than the value")),
                d.flag("trivial", N_("0% and fine")),
        ),
        views=(
            d.View(at="section", heading="", where="verdict in ('bad', 'caution')", order=("verdict",), word="free",
                says={"True": FREE, "False": SUMMARY}),
            d.View(at="appendix", where="verdict != 'not computed' and not trivial", order=("methodology", "verdict"),
                   by=("methodology",), columns=d.names("check phase value n benchmark least_to_most verdict why")),
            d.View(at="appendix", heading=N_("Not computed"), where="verdict == 'not computed'",
                by=("methodology",), columns=d.names("check phase why")),
            d.View(at="digest", where="verdict in ('bad', 'caution')",
                columns=d.names("methodology check verdict value why"), top=12),
        ),
        note=N_("Rates of gaps that are 0 have no row."),
    )  # fmt: skip
    return d.Presentation(
        title=CHECKS_TITLE, tables=(VERDICTS_TABLE, checks, PROBES_TABLE, SHAPES), facts=FACTS, charts=(GLANCE,)
    )


def results(health: Health, by_method: Mapping[str, Evaluation], names: Names, language: Language) -> Results:
    declared = presentation(by_method)
    tables = {
        "verdicts": _verdicts(health), "checks": [_row(check) for check in health.checks], "probes": _probes(health),
        "shapes": [shallow(shape) for shape in health.shapes],
    }  # fmt: skip
    made = [check.found.verdict for check in health.checks]
    facts = {
        "n_methodologies": len({check.methodology for check in health.checks}), "n_bad": made.count("bad"),
        "n_caution": made.count("caution"), "n_computed": len(made) - made.count("not computed"), "n_checks": len(made),
        "synthetic": health.synthetic,
    }  # fmt: skip
    return Results(HEALTH, declared, d.shaped(declared, tables, facts), names, language)


def _verdicts(health: Health) -> Iterator[dict[str, Any]]:
    for name, judged in health.verdicts.items():
        verdicts = [check.found.verdict for check in health.of(name)]
        computed = sum(verdict != "not computed" for verdict in verdicts)
        yield {"methodology": name, "standing": judged.verdict, "bad": verdicts.count("bad"),
            "caution": verdicts.count("caution"), "computed": computed,
               "checks": len(verdicts)}  # fmt: skip


def _row(check: HealthCheck) -> dict[str, Any]:
    result = check.found
    named = f"{check.methodology}/{result.name}" if check.own else result.name
    least, most = result.threshold
    trivial = result.name.endswith("_rate") and result.verdict == "fine" and result.value == 0
    return {
        "methodology": check.methodology, "check": named, "meaning": named, "phase": check.phase, "probe": check.probe,
        "unit": check.unit, "value": result.value, "n": result.n, "benchmark": result.benchmark, "least": least,
        "most": most, "basis": check.rule.basis, "verdict": result.verdict, "why": result.reason_code or None,
        "trivial": trivial, "free": result.reason_code not in ("above", "below") or result.threshold == (None, None),
    }  # fmt: skip


def _probes(health: Health) -> Iterator[dict[str, Any]]:
    by_probe: dict[tuple[str, str], list[str]] = {}
    for name, probes in health.probes.items():
        for state, listed in (("not_taken", probes.not_taken), ("not_read", probes.not_read)):
            for probe in listed:
                by_probe.setdefault((probe, state), []).append(name)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (probe, state), methodologies in by_probe.items():
        together.setdefault((state, tuple(methodologies)), []).append(probe)
    for place, ((state, of), kinds) in enumerate(together.items(), start=1):
        yield {"place": place, "state": state, "probes": kinds, "methodologies": list(of)}


# --- What page one, flags and the report read of instrument health: views of its tables -------------------------------

MOST_REASONS = 3
"""Named in the summary of a verdict; all stand in health.json."""
REASON = N_("{check}: {verdict}, {why}")
OF_PROBE = N_("{check}: {verdict}, probe, {why}")
OVERALL = N_("{method}: {verdict} ({reasons}).")
MORE = N_("and {n} more")


def verdict(overall: Overall, language: Language) -> str:
    return tell(VERDICTS[overall.verdict], language)


def reasons(health: Health, told: Results, name: str, *, most: int = MOST_REASONS) -> str:
    """The weightiest reasons of a methodology's verdict in words."""
    texts = [_reason(health, told, name, reason) for reason in health.verdicts[name].reasons]
    more = [tell(MORE, told.language).format(n=len(texts) - most)] if len(texts) > most else []
    return "; ".join([*texts[:most], *more])


def lacking(overall: Overall, language: Language) -> str:
    """What there is too little of, of data that cannot be judged."""
    return tell(REASONS[overall.reasons[0].rpartition(":")[2]], language)


def _reason(health: Health, told: Results, name: str, reason: str) -> str:
    """`name:code`, or a code alone; how bad it is, and whether a probe says so."""
    behind = health.behind(name, reason)
    if behind is None:
        return tell(REASONS[reason.rpartition(":")[2]], told.language)
    checks = told.presentation.tables["checks"]
    row = rows_of(told.analysis.tables["checks"])[health.checks.index(behind)]
    known = {column.name: column for column in checks.columns}
    return told.fill(OF_PROBE if behind.probe else REASON, row, known, markdown=False)


def flags(health: Health, told: Results, name: str) -> list[str]:
    """What a methodology's health gives to be flagged: the verdict unless it is usable, and the checks behind it."""
    overall = health.verdicts.get(name)
    if overall is None or overall.verdict in ("usable", "nothing to judge"):
        return []
    method, standing = told.names.of("methodology", name, told.language), verdict(overall, told.language)
    sentence = tell(OVERALL, told.language).format(method=method, verdict=standing, reasons=reasons(health, told, name))
    known = {column.name: column for column in told.presentation.tables["checks"].columns}
    rows = [row for row in rows_of(told.analysis.tables["checks"]) if row["methodology"] == name]
    flagged = [row for row in rows if row["verdict"] in ("caution", "bad")]
    return [sentence, *(told.fill(FREE if row["free"] else SUMMARY, row, known, markdown=False) for row in flagged)]
