"""Instrument health as tables: a check is a row with its value, bound, verdict and reason; verdicts, probes, distribution shapes.

Words belong to levels. Checks that one methodology alone has bring theirs, so the presentation is made for the
methodologies of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.context import shallow
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Check
from enquete.reports.health.verdicts import Health
from enquete.reports.health.words import BASES, CHECKS, PROBES, REASONS, VERDICTS
from enquete.reports.views import Names, Results
from enquete.state.asking import Language

HEALTH = "health"
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
    name="probes", title=N_("Probes that would have been possible"), key=("state", "methodologies"),
    columns=(d.code("state", N_("state"), STATES), d.several("probes", N_("Probe"), levels=PROBES),
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
    draw="enquete.reports.health.glance:glance",
    alt=N_("{n_checks} checks of {n_methodologies} methodologies: {n_bad} bad, {n_caution} to be careful with, "
           "{n_computed} computed."),
)  # fmt: skip


def presentation(own: Mapping[str, Evaluation]) -> d.Presentation:
    """own: the evaluations of the run, by methodology, whose checks bring words of their own."""
    theirs = {f"{name}/{check}": one for name, each in own.items() for check, one in each.checks.items()}
    what = {name: words[1] for name, words in CHECKS.items()} | {name: one.words[0] for name, one in theirs.items()}
    means = {name: words[2] for name, words in CHECKS.items()} | {name: one.words[1] for name, one in theirs.items()}
    why = {**REASONS, **{code: words for one in theirs.values() for code, words in one.reasons.items()}}
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
        note=N_("Rates of gaps that are 0 have no row. For differences between types n counts agents of types with at "
                "least five agents."),
    )  # fmt: skip
    return d.Presentation(tables=(VERDICTS_TABLE, checks, PROBES_TABLE, SHAPES), facts=FACTS, charts=(GLANCE,))


def results(health: Health, own: Mapping[str, Evaluation], names: Names, language: Language) -> Results:
    declared = presentation(own)
    tables = {
        "verdicts": _verdicts(health), "checks": [_row(one) for one in health.checks], "probes": _probes(health),
        "shapes": [shallow(one) for one in health.shapes],
    }  # fmt: skip
    made = [one.found.verdict for one in health.checks]
    facts = {
        "n_methodologies": len({one.methodology for one in health.checks}), "n_bad": made.count("bad"),
        "n_caution": made.count("caution"), "n_computed": len(made) - made.count("not computed"), "n_checks": len(made),
        "synthetic": health.synthetic,
    }  # fmt: skip
    return Results(HEALTH, declared, d.shaped(declared, tables, facts), names, language)


def _verdicts(health: Health) -> Iterator[dict[str, Any]]:
    for name, one in health.verdicts.items():
        found = [check.found.verdict for check in health.of(name)]
        computed = sum(verdict != "not computed" for verdict in found)
        yield {"methodology": name, "standing": one.verdict, "bad": found.count("bad"),
            "caution": found.count("caution"), "computed": computed,
               "checks": len(found)}  # fmt: skip


def _row(one: Check) -> dict[str, Any]:
    found = one.found
    named = f"{one.methodology}/{found.name}" if one.own else found.name
    least, most = found.threshold
    trivial = found.name.endswith(("_rate", "_by_type")) and found.verdict == "fine" and found.value == 0
    return {
        "methodology": one.methodology, "check": named, "meaning": named, "phase": one.phase, "probe": one.probe,
        "unit": one.unit, "value": found.value, "n": found.n, "benchmark": found.benchmark, "least": least,
        "most": most, "basis": one.rule.basis, "verdict": found.verdict, "why": found.reason_code or None,
        "trivial": trivial, "free": found.reason_code not in ("above", "below") or found.threshold == (None, None),
    }  # fmt: skip


def _probes(health: Health) -> Iterator[dict[str, Any]]:
    found: dict[tuple[str, str], list[str]] = {}
    for name, probes in health.probes.items():
        for state, listed in (("not_taken", probes.not_taken), ("not_read", probes.not_read)):
            for probe in listed:
                found.setdefault((probe, state), []).append(name)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (probe, state), methodologies in found.items():
        together.setdefault((state, tuple(methodologies)), []).append(probe)
    for (state, of), kinds in together.items():
        yield {"state": state, "probes": kinds, "methodologies": list(of)}
