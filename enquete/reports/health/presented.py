"""What page one, flags and the report read of instrument health: views of its tables."""

from __future__ import annotations

from enquete.analysis.health.diagnostics import Overall
from enquete.locale import N_, tell
from enquete.reports.health.tables import FREE, SUMMARY
from enquete.reports.health.verdicts import Health
from enquete.reports.health.words import REASONS, VERDICTS
from enquete.reports.views import Results, dictionaries
from enquete.state.asking import Language

MOST_REASONS = 3
"""Named in the summary of a verdict; all stand in health.json."""
REASON = N_("{check}: {verdict}, {why}")
OF_PROBE = N_("{check}: {verdict}, probe, {why}")
OVERALL = N_("{method}: {verdict} ({reasons}).")
MORE = N_("and {n} more")


def verdict(one: Overall, language: Language) -> str:
    return tell(VERDICTS[one.verdict], language)


def reasons(health: Health, told: Results, name: str, *, most: int = MOST_REASONS) -> str:
    """The weightiest reasons of a methodology's verdict in words."""
    said = [_reason(health, told, name, reason) for reason in health.verdicts[name].reasons]
    more = [tell(MORE, told.language).format(n=len(said) - most)] if len(said) > most else []
    return "; ".join([*said[:most], *more])


def lacking(one: Overall, language: Language) -> str:
    """What there is too little of, of data that cannot be judged."""
    return tell(REASONS[one.reasons[0].rpartition(":")[2]], language)


def _reason(health: Health, told: Results, name: str, reason: str) -> str:
    """`name:code`, or a code alone; how bad it is, and whether a probe says so."""
    behind = health.behind(name, reason)
    if behind is None:
        return tell(REASONS[reason.rpartition(":")[2]], told.language)
    checks = told.presentation.tables["checks"]
    row = dictionaries(told.analysis.tables["checks"])[health.checks.index(behind)]
    known = {one.name: one for one in checks.columns}
    return told.fill(OF_PROBE if behind.probe else REASON, row, known, markdown=False)


def flags(health: Health, told: Results, name: str) -> list[str]:
    """What a methodology's health gives to be flagged: the verdict unless it is plainly usable, and each check behind it."""
    found = health.verdicts.get(name)
    if found is None or found.verdict in ("usable", "nothing to judge"):
        return []
    method, standing = told.names.of("methodology", name, told.language), verdict(found, told.language)
    said = tell(OVERALL, told.language).format(method=method, verdict=standing, reasons=reasons(health, told, name))
    known = {one.name: one for one in told.presentation.tables["checks"].columns}
    rows = [row for row in dictionaries(told.analysis.tables["checks"]) if row["methodology"] == name]
    flagged = [row for row in rows if row["verdict"] in ("caution", "bad")]
    return [said, *(told.fill(FREE if row["free"] else SUMMARY, row, known, markdown=False) for row in flagged)]
