"""Limitations of a run, generated from what it was: each line follows from its metadata or its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd
from pydantic import JsonValue

from enquete.locale import in_language
from enquete.reports.accounts import TookPart, took_part, with_memory
from enquete.reports.context import responded
from enquete.reports.health.verdicts import Health
from enquete.reports.markdown import escape, number, share
from enquete.reports.report_words import LIMITS
from enquete.reports.run_reading import RunReading

DIFFERENTIAL = 0.05
"""Missing shares that lie further apart between groups are reported (facts on validity: > 5%, or differential)."""


def limitations(
    reading: RunReading,
    frame: pd.DataFrame,
    results: Mapping[str, Mapping[str, JsonValue]],
    health: Health,
    *,
    partial: bool,
) -> list[str]:
    """Markdown lines, the gravest first."""
    asked = took_part(reading, frame)
    return [*_about_respondents(reading, asked), *_about_memory(reading, frame), *_about_change(reading, results),
            *_about_shape(reading, health), *_about_numbers(reading, frame, asked, partial=partial)]  # fmt: skip


def _about_respondents(reading: RunReading, asked: TookPart) -> Iterator[str]:
    texts, main = in_language(LIMITS, reading.language), reading.record.main
    people = replace(asked, agents=frozenset()).told(reading.language)
    if not asked.agents:
        yield texts["people"].format(people=people)
        return
    yield texts["simulated_and_people"].format(people=people) if asked.people else texts["simulated"]
    if main.respondent == "synthetic":
        yield texts["synthetic"]
    else:
        yield texts["model"].format(model=escape(main.model))
        yield texts["confidence"]
    yield texts["inference"].format(n=len(asked.agents))
    if main.respondent == "llm" and main.temperature:
        yield texts["temperature"].format(t=number(main.temperature, reading.language, 1))


def _about_memory(reading: RunReading, frame: pd.DataFrame) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    remembering, total = with_memory(reading, frame)
    if not remembering:
        yield texts["no_digest"]
        return
    yield texts["digest"].format(chars=record.digest_chars)
    if remembering < total:
        weight = number(record.memoryless_weight, record.language, 1)
        yield texts["memoryless"].format(n=total - remembering, total=total, w=weight)


def _about_change(reading: RunReading, results: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    if reading.idle:
        yield texts["idle"]
    elif record.baseline == "reconstructed":
        yield texts["reconstructed"]
    elif record.baseline == "measured" and record.actions_at_start:
        yield texts["actions"].format(n=record.actions_at_start)
    drifts = [result for result in results.values() if result.get("kind") == "drift"]
    for drift in drifts:
        reasons = drift.get("reasons")
        if isinstance(reasons, list) and reasons:
            yield texts["incomparable"].format(why=escape("; ".join(map(str, reasons))))
    if drifts and not {arm.role for arm in record.arms} & {"placebo", "replicate"}:
        yield texts["no_placebo"]


def _about_shape(reading: RunReading, health: Health) -> Iterator[str]:
    """Shares of endpoints and midpoints over all closed answers."""
    language = reading.language
    n = sum(shape.n for shape in health.shapes)
    if not n:
        return
    ends = sum(shape.n * shape.ends for shape in health.shapes if shape.ends is not None) / n
    middled = [(shape.n, shape.midpoint) for shape in health.shapes if shape.midpoint is not None]
    of_middled = sum(weight for weight, _ in middled)
    midpoint = sum(weight * part for weight, part in middled) / of_middled if of_middled else None
    yield in_language(LIMITS, language)["shape"].format(
        ends=share(ends, language), midpoint=share(midpoint, language), n=n
    )


def _about_numbers(reading: RunReading, frame: pd.DataFrame, asked: TookPart, *, partial: bool) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    counted = {"responded": len(responded(frame)), "rows": len(frame)}
    if partial:
        yield texts["n_so_far"].format(who=asked.told(reading.language), **counted)
    elif asked.people:
        yield texts["n_people"].format(who=asked.told(reading.language), **counted)
    else:
        yield texts["n"].format(n=len(asked.agents), **counted)
    yield from _differential(frame, reading)
    hashes = ", ".join(f"{escape(name)} {used.hash[:12]}" for name, used in record.instruments.items())
    yield texts["instruments"].format(hashes=hashes)
    if partial:
        yield texts["partial"]


def _differential(frame: pd.DataFrame, reading: RunReading) -> Iterator[str]:
    """Gaps among what was asked, where one group has clearly more of them than another."""
    asked = frame.loc[frame["status"].ne("not_reached"), ["status", "stakeholder_type"]]
    missing = asked["status"].isin(["refused", "invalid", "failed"]).groupby(asked["stakeholder_type"]).mean()
    if len(missing) > 1 and missing.max() - missing.min() > DIFFERENTIAL:
        language = reading.language
        yield in_language(LIMITS, language)["differential"].format(
            low=share(float(missing.min()), language), low_type=escape(reading.type_names[str(missing.idxmin())]),
            high=share(float(missing.max()), language), high_type=escape(reading.type_names[str(missing.idxmax())]),
        )  # fmt: skip
