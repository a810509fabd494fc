"""Instrument health: whether a run's answers can be used, by methodology, with every check that this rests on.

The checks, their thresholds, minima and benchmarks are those of enquete/analysis (docs/health.md). The main arm is what is
judged, by its own answers and by what probe arms, where there are any, show about them. What is simulated stays simulated:
a verdict is about the procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.health.diagnostics import Overall, Verdict, overall
from enquete.instruments.instrument import Instrument
from enquete.reports.context import jsonable
from enquete.reports.health.checks import Check, Humans, main_checks
from enquete.reports.health.occasions import phases, with_blocks
from enquete.reports.health.probes import FALSE_MEDIAN, Medians, not_taken, probe_checks
from enquete.reports.health.shapes import Shape, shapes
from enquete.reports.reading import RunReading

Results = Mapping[str, Mapping[str, JsonValue]]
OnBug = Callable[[str, Exception], None]

_WORST: Mapping[Verdict, int] = {"bad": 0, "caution": 1, "fine": 2, "information": 3, "not computed": 4}


@dataclass(frozen=True)
class Health:
    """All checks, the verdict by methodology, and the distribution shape of every closed item."""

    checks: tuple[Check, ...] = ()
    verdicts: Mapping[str, Overall] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ()
    synthetic: bool = False  # a program answered, no model
    untaken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # probes that were possible, by methodology

    def of(self, methodology: str) -> list[Check]:
        return [one for one in self.checks if one.methodology == methodology]

    def behind(self, methodology: str, reason: str) -> Check | None:
        """The check that gave a verdict's reason, the worst of its name."""
        name = reason.rpartition(":")[0]
        own = [one for one in self.of(methodology) if one.found.name == name]
        return min(own, key=lambda one: _WORST[one.found.verdict], default=None)

    @property
    def flagged(self) -> list[Check]:
        return [one for one in self.checks if one.found.verdict in ("caution", "bad")]

    def as_json(self) -> JsonValue:
        """health.json: verdicts, then checks with everything that they rest on, then shapes."""
        checks = [
            {"methodology": one.methodology, "phase": one.phase, "probe": one.probe, **asdict(one.found)}
            for one in self.checks
        ]
        verdicts = {
            name: {**asdict(one), "probes_not_taken": self.untaken.get(name, ())} for name, one in self.verdicts.items()
        }
        return jsonable(
            {"synthetic": self.synthetic, "unit_of_inference": "run", "verdicts": verdicts, "diagnostics": checks,
             "shapes": [asdict(shape) for shape in self.shapes]}
        )  # fmt: skip


def examine(reading: RunReading, results: Results, frame: pd.DataFrame, on_bug: OnBug | None = None) -> Health:
    """Health of a run. frame: its response table. A bug in the checks of one methodology goes to `on_bug`, else is raised."""
    medians = {name: shown_medians(reading, name) for name in reading.record.methods}
    instruments = {name: reading.instrument(name) for name in reading.record.methods}
    humans = {name: one.human_answers() for name, one in instruments.items() if isinstance(one, Instrument)}
    synthetic = reading.record.main.respondent == "synthetic"
    return judge(results, with_blocks(reading, frame), medians, humans, synthetic=synthetic, on_bug=on_bug)


def judge(
    results: Results,
    frame: pd.DataFrame,
    medians: Mapping[str, Medians] | None = None,
    humans: Mapping[str, Humans] | None = None,
    *,
    synthetic: bool = False,
    on_bug: OnBug | None = None,
) -> Health:
    """The same from tables alone. frame: rows of all arms, with `block`. By methodology, medians: what panels were
    shown; humans: what its instrument says of people's answers.
    """
    checks: list[Check] = []
    main = frame[frame["arm_role"].eq("main")]
    for name in map(str, dict.fromkeys(main["methodology"])):
        rows = frame[frame["methodology"].eq(name)]
        own = rows[rows["arm_role"].eq("main")]
        try:
            checks += main_checks(name, results.get(name, {}), own, (humans or {}).get(name))
            checks += probe_checks(name, results.get(name, {}), rows, (medians or {}).get(name))
        except Exception as error:
            if on_bug is None:
                raise
            on_bug(name, error)
    judged = {name: _overall(one for one in checks if one.methodology == name) for name in _names(checks)}
    untaken = {
        name: not_taken(name, (one for one in checks if one.methodology == name), waves=len(phases(_of(main, name))))
        for name in judged
    }
    return Health(tuple(checks), judged, tuple(shapes(main)), synthetic, untaken)


def _of(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    return frame[frame["methodology"].eq(name)]


def _names(checks: Iterable[Check]) -> Iterator[str]:
    yield from dict.fromkeys(one.methodology for one in checks)


def _overall(checks: Iterable[Check]) -> Overall:
    """A check taken in both waves counts once, by its worse outcome: one fault is not two."""
    worst: dict[str, Check] = {}
    for one in sorted(checks, key=lambda one: _WORST[one.found.verdict]):
        worst.setdefault(one.found.name, one)
    return overall(one.found for one in worst.values())


def shown_medians(reading: RunReading, name: str) -> dict[str, dict[str, float]]:
    """By arm, the medians that its panel was shown in the round that the false ones were shown in; {} without such an arm."""
    if FALSE_MEDIAN not in {arm.id for arm in reading.record.arms}:
        return {}
    arms = {arm: reading.frozen_values(arm, name) for arm in (FALSE_MEDIAN, reading.record.main.id)}
    told = max((key for key in arms[FALSE_MEDIAN] if key.startswith("feedback/")), key=_round, default="")
    return {arm: _medians(frozen.get(told)) for arm, frozen in arms.items()}


def _round(feedback: str) -> int:
    return int(feedback.partition("/")[2])


def _medians(feedback: JsonValue) -> dict[str, float]:
    """Item → median, of what was frozen as feedback."""
    listed = feedback if isinstance(feedback, Mapping) else {}
    medians = {str(item): one.get("median") for item, one in listed.items() if isinstance(one, Mapping)}
    return {item: float(median) for item, median in medians.items() if isinstance(median, int | float)}
