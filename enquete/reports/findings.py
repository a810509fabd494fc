"""Findings: what each methodology's analysis makes of its rows.

`Evaluation.analyse(frame, instrument, settings, context)` is pure. `frame` holds the rows of the main arm alone, of all
phases and of an earlier baseline run; a methodology of two waves is given the arm "retest" and placebo arms too,
    which a
change is measured against. `context` is an `AnalysisContext`. It returns JSON without NaN: missing data is None beside a
count. The findings name the arms they read.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd
from pydantic import JsonValue
from threadpoolctl import threadpool_limits

from enquete.checkpoints.ledger import Failure
from enquete.checkpoints.record import RunRecord
from enquete.locale import N_, in_language, tell
from enquete.reports.associations import ACROSS, AgentTable, agent_columns, agent_table
from enquete.reports.associations import PRESENTATION as BETWEEN
from enquete.reports.context import TYPE_NAMES, AnalysisContext, chosen
from enquete.reports.declarations import Analysis, Presentation
from enquete.reports.evaluation import evaluation
from enquete.reports.group_tables import groups_by
from enquete.reports.health.probes import RETEST
from enquete.reports.page_findings import corrected
from enquete.reports.run_reading import RunReading, open_run
from enquete.reports.table.rows import participants_table, persona_columns
from enquete.reports.views import Names, Results
from enquete.simulations.join import join
from enquete.state.asking import Arm

UNIT = "analysis"
"""The unit under which a bug in an analysis is filed."""

_CHANGED: Mapping[str, str] = {
    "model": N_("The model was {then} at T0 and {now} at T1"),
    "respondent": N_("{then} answered at T0, {now} at T1"),
    "language": N_("T0 was asked in {then}, T1 in {now}"),
    "asking": N_("Questions were asked by {then} at T0 and by {now} at T1"),
    "fingerprint": N_("The server reported another model fingerprint at T0 ({then}) than at T1 ({now})"),
}


@dataclass
class Findings:
    """Findings by methodology, and the bugs that left one without any."""

    results: dict[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    analyses: dict[str, Analysis] = field(
        default_factory=dict
    )  # of methodologies that declare their results, and ACROSS
    agents: AgentTable = field(default_factory=lambda: AgentTable(pd.DataFrame()))
    bugs: list[Failure] = field(default_factory=list)


def find(
    reading: RunReading, frame: pd.DataFrame, *, partial: bool = False, raise_bugs: bool = False, arm: Arm | None = None
) -> Findings:
    """Analyse every methodology that has rows. A bug in one analysis is recorded; the others go on.

    arm: stands in the main arm's place, with what was frozen for it; its rows bear the role "main" in `frame`.
    """
    with threadpool_limits(1):  # a second thread waits beside matrices of this size, at half as much CPU again
        return _find(reading, frame, partial=partial, raise_bugs=raise_bugs, arm=arm)


def _find(reading: RunReading, frame: pd.DataFrame, *, partial: bool, raise_bugs: bool, arm: Arm | None) -> Findings:
    stands = arm or reading.record.main
    found = Findings()
    groups = groups_by(reading.by, persona_columns(reading.ledger)) if reading.by else None
    about: dict[str, dict[str, JsonValue]] = {}
    for name in reading.record.methods:
        rows = chosen(frame, frame["methodology"].eq(name) & rows_read(frame, reading.methodology(name).phases))
        if not rows["arm_role"].eq("main").any():
            continue
        try:
            context = replace(analysis_context(reading, name, partial, stands), groups=groups)
            found.analyses[name] = _analyse(reading, name, rows.reset_index(drop=True), context)
            about[name] = _about(reading, rows, context)
            found.results[name] = about[name]
        except Exception as error:
            if raise_bugs:
                raise
            text = f"{type(error).__name__}: {error}"
            key = (stands.id, name, "", 0, UNIT)
            found.bugs.append(Failure(*key, text, traceback.format_exc()))
    declared = {name: (_presentation(reading, name), one) for name, one in found.analyses.items()}
    if arm is None:
        found.agents = _agents(reading, frame, declared, groups)
        declared[ACROSS] = (BETWEEN, found.agents.associations())
    found.analyses = corrected(declared)
    for name in about.keys() & declared.keys():
        presentation, final = declared[name][0], found.analyses[name]
        results = Results(name, presentation, final, Names(groups=reading.type_names), reading.language)
        flags: list[JsonValue] = list(results.flags())
        found.results[name] = {**about[name], "flags": flags, **final.as_json(presentation)}
    return found


def _agents(
    reading: RunReading, frame: pd.DataFrame, declared: Mapping[str, tuple[Presentation, Analysis]],
        groups: pd.Series[str] | None
) -> AgentTable:  # fmt: skip
    """All agents with what each methodology says of them, and what they are compared by."""
    columns = [
        column
        for name, (presentation, analysis) in declared.items()
        for called in [{one.name: tell(one.label, reading.language) for _, one in presentation.agent_columns}]
        for column in agent_columns(presentation, analysis, name, called)
    ]
    people = participants_table(reading.population)
    by = people["stakeholder_type"] if groups is None else groups.rename(reading.by)
    name = tell(N_("stakeholder type"), reading.language) if groups is None else reading.by
    return agent_table(columns, frame, people, by, name, persona_columns(reading.ledger))


def _presentation(reading: RunReading, name: str) -> Presentation:
    return evaluation(reading.methodology(name)).presentation


def rows_read(frame: pd.DataFrame, phases: Sequence[str]) -> pd.Series[bool]:
    """Rows that an analysis is given."""
    beside = frame["arm"].eq(RETEST) | frame["arm_role"].eq("placebo")
    return frame["arm_role"].eq("main") | (beside if {"T0", "T1"} <= set(phases) else False)


def _analyse(reading: RunReading, name: str, rows: pd.DataFrame, context: AnalysisContext) -> Analysis:
    found = evaluation(reading.methodology(name)).analyse(
        rows, reading.instrument(name), reading.settings(name), context
    )
    if not isinstance(found, Analysis):
        raise TypeError(
            f"{name}: analyse returned {type(found).__name__}, not an Analysis (declarations.shaped makes one)"
        )
    return found


def _about(reading: RunReading, rows: pd.DataFrame, context: AnalysisContext) -> dict[str, JsonValue]:
    """What every methodology's findings say beside its own."""
    return {
        "arms": [str(arm) for arm in sorted(rows["arm"].unique())], TYPE_NAMES: dict(reading.type_names),
        "partial": context.partial, "outcomes": dict(context.outcomes), "flags": [],
    }  # fmt: skip


def analysis_context(reading: RunReading, name: str, partial: bool, arm: Arm) -> AnalysisContext:
    """What the run's record, frozen values and baseline say to the analysis of one methodology."""
    record = reading.record
    incomparable: list[str] = []
    pairing: Mapping[str, JsonValue] = _pairing_here(reading)
    folder = reading.baseline_folder()
    if folder is not None:
        with open_run(folder) as earlier:
            incomparable += _differences(earlier.record, record)
            incomparable += _server_changed(reading, earlier, name)
            joined = join(earlier.population, reading.population)
            lists = {"lost": joined.lost, "new": joined.new, "changed": joined.changed}
            pairing = {"matched": len(joined.matched), **{key: list(ids) for key, ids in lists.items()}}
    elif record.baseline == "measured":
        incomparable += _server_changed(reading, reading, name)
    return AnalysisContext(
        language=reading.language,
        baseline=reading.baseline,
        memoryless_weight=record.memoryless_weight,
        frozen={**reading.frozen_values(record.main.id, name), **reading.frozen_values(arm.id, name)},
        variants={
            one.variant: reading.frozen_values(one.id, name)
            for one in record.arms
            if one.variant and name in one.methods and arm.role == "main"
        },
        participants=participants_table(reading.population),
        partial=partial,
        outcomes={phase: outcome for (method, phase), outcome in reading.stages.items() if method == name},
        incomparable=tuple(incomparable),
        pairing=pairing,
    )


def _pairing_here(reading: RunReading) -> dict[str, JsonValue]:
    """How the agents at T1 were joined to those at the beginning, as the run filed it when T1 opened."""
    return {key: reading.memory[key] for key in ("matched", "lost", "new", "changed") if key in reading.memory}


def _differences(then: RunRecord, now: RunRecord) -> list[str]:
    """What makes the two waves two instruments."""
    texts = in_language(_CHANGED, now.language)
    pairs = {
        "model": (then.main.model, now.main.model),
        "respondent": (then.main.respondent, now.main.respondent),
        "language": (then.language, now.language),
        "asking": (then.asking, now.asking),
    }
    return [texts[what].format(then=a, now=b) for what, (a, b) in pairs.items() if a != b]


def _server_changed(now: RunReading, then: RunReading, name: str) -> list[str]:
    """A fingerprint seen in both waves is enough: servers report several within one wave."""
    before = then.fingerprints(name, "T0", then.record.main.id)
    after = now.fingerprints(name, "T1", now.record.main.id)
    if not before or not after or before & after:
        return []
    text = in_language(_CHANGED, now.record.language)["fingerprint"]
    return [text.format(then=", ".join(sorted(before)), now=", ".join(sorted(after)))]
