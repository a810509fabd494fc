"""report.md and report.html: what was found across methods, what was asked of whom and how, what came back, what was found
by each methodology, whether it can be used, what it cannot show, what it cost; long lists at the end.

Every figure is counted from the response table, the findings or the ledger; nothing is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined

from enquete.analysis.relations.association import CrossFinding
from enquete.checkpoints.folders import write_atomically
from enquete.locale import in_language, tell
from enquete.reports.context import Found, listed, responded
from enquete.reports.crossing import associations
from enquete.reports.crossing.agents import AgentTable
from enquete.reports.crossing.claims import Crossing
from enquete.reports.crossing.narrative import Prose
from enquete.reports.crossing.section import details, summary
from enquete.reports.evaluation import evaluation, evaluations
from enquete.reports.figures.canvas import Figure
from enquete.reports.findings import Findings
from enquete.reports.health.presented import sections as health_sections
from enquete.reports.health.presented import shapes_table, verdict_table
from enquete.reports.health.presented import summary as health_summary
from enquete.reports.health.verdicts import Health
from enquete.reports.health.words import WORDS as HEALTH_WORDS
from enquete.reports.limitations import limitations, with_memory
from enquete.reports.markdown import MISSING, escape, number, of, share, table
from enquete.reports.page import page
from enquete.reports.reading import RunReading
from enquete.reports.replicates import told as replicates_text
from enquete.reports.replicates.again import Replicates
from enquete.reports.report_words import STATUSES, WORDS
from enquete.reports.table.items import Asked
from enquete.reports.templates import render as template
from enquete.state.asking import Language

Stages = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Material:
    """What a report is made of beside the run itself."""

    frame: pd.DataFrame
    stages: Stages
    found: Findings
    crossing: Crossing
    prose: Prose
    health: Health
    asked: Sequence[Asked]
    replicates: Replicates
    agents: AgentTable
    associations: Sequence[CrossFinding]
    figures: Sequence[Figure]


def write_report(folder: Path, reading: RunReading, material: Material, *, status: str, partial: bool) -> None:
    """report.md, and the same as report.html."""
    text = render(reading, material, status=status, partial=partial)
    write_atomically(folder / "report.md", text)
    write_atomically(folder / "report.html", page(text, reading.record.language))


def render(reading: RunReading, material: Material, *, status: str, partial: bool) -> str:
    """The report in the run's language, as Markdown."""
    language, frame, found = reading.record.language, material.frame, material.found
    words, spent, own = in_language(WORDS, language), reading.spent(), evaluations(reading.record.methods)
    titles = {name: title(reading, name) for name in reading.record.methods}
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["md"] = escape
    whole = environment.from_string(files("enquete.reports").joinpath("report.md.j2").read_text("utf-8"))
    return whole.render(
        t={**words, "banner": banner(reading)},
        h=in_language(HEALTH_WORDS, language),
        run=reading.record,
        status=words.get(f"s_{status}", status),
        partial=partial,
        loud=[words["all_failed"]] if len(spent) and not spent["settled"].sum() else [],
        summary=_summary(reading, material, titles),
        identity=_identity(reading, frame, status),
        population=population_table(reading, frame),
        arms=arms_table(reading),
        how="\n\n".join(_how(reading)),
        instruments=instruments_table(reading),
        counts=counts_table(reading, frame),
        sections=list(_sections(reading, found, frame)),
        missing=list(_missing(reading, material.stages, found)),
        synthetic=material.health.synthetic,
        verdicts=verdict_table(material.health, titles, language),
        health=list(health_sections(material.health, titles, language)),
        replicates=replicates_text.section(material.replicates, material.crossing.claims, own, titles, language),
        associations=associations.section(material.agents, material.associations, language),
        problems=_problems(reading, frame, material.stages, found, spent),
        spent=spent_table(reading, spent),
        limitations=limitations(reading, frame, found.results, material.health, partial=partial),
        appendix="\n\n".join(_appendix(reading, material, titles)),
    )


def _summary(reading: RunReading, material: Material, titles: Mapping[str, str]) -> str:
    """What was found across methods, then in one paragraph whether it can be used."""
    language, model = reading.record.language, reading.record.main.model
    claims = summary(material.crossing, material.prose, model, language, material.replicates)
    return "\n\n".join(part for part in (claims, health_summary(material.health, titles, language)) if part)


def banner(reading: RunReading) -> str:
    """Who answered, said loudly: no person did."""
    words, main = in_language(WORDS, reading.record.language), reading.record.main
    if main.respondent == "synthetic":
        return words["synthetic"]
    return words["llm"].format(model=escape(main.model))


def _identity(reading: RunReading, frame: pd.DataFrame, status: str) -> list[tuple[str, str]]:
    record, words = reading.record, in_language(WORDS, reading.record.language)
    return [
        (words["run"], f"`{record.run_id}`"),
        (words["sim"], escape(record.sim_id)),
        (words["topic"], escape(record.topic)),
        (words["status"], _status(reading, status)),
        (words["language"], words[record.language]),
        (words["agents"], str(len(reading.population))),
        (words["rows"], str(len(frame))),
        (words["fingerprint"], f"`{record.fingerprint}`"),
        (words["population_hash"], f"`{record.population_hash[:16]}`"),
    ]


def _status(reading: RunReading, status: str) -> str:
    """The status and, where the run stopped, why. What an earlier stop left on file says nothing about this one."""
    word = in_language(WORDS, reading.record.language).get(f"s_{status}", status)
    filed = reading.ledger.stages().get(("", ""))
    return f"{word}: {escape(filed.note)}" if filed and filed.note and filed.outcome == status else word


def population_table(reading: RunReading, frame: pd.DataFrame) -> str:
    """Agents by stakeholder type: how many, how many answered anything, how many remembered anything."""
    language, words = reading.record.language, in_language(WORDS, reading.record.language)
    own = frame[frame["run_id"].isin(reading.own_runs)]
    answered = set(responded(own)["participant"])
    remembering = set(own.loc[own["memory_available"], "participant"])
    by_type: dict[str, list[str]] = {}
    for who in reading.population:
        by_type.setdefault(who.stakeholder_type, []).append(who.id)
    rows, total = [], len(reading.population)
    ordered = sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    everybody = [who.id for who in reading.population]
    for kind, ids in [*((escape(kind), ids) for kind, ids in ordered), (f"**{words['all']}**", everybody)]:
        counts = (of(len(group & set(ids)), len(ids)) for group in (answered, remembering))
        rows.append([kind, str(len(ids)), share(len(ids) / total if total else None, language), *counts])
    return table([words[key] for key in ("type", "n_agents", "share", "answered", "memory")], rows)


def arms_table(reading: RunReading) -> str:
    language, words = reading.record.language, in_language(WORDS, reading.record.language)
    rows = [
        [
            escape(arm.id),
            arm.role,
            arm.respondent,
            escape(arm.model),
            number(arm.temperature, language, 1),
            str(arm.seed),
        ]
        for arm in reading.record.arms
    ]
    return table(
        [words[key] for key in ("arm", "role", "respondent", "model", "temperature", "seed")], rows, numeric_from=4
    )


def _how(reading: RunReading) -> Iterator[str]:
    record, words = reading.record, in_language(WORDS, reading.record.language)
    yield words[f"asking_{record.asking}"]
    yield words[f"elicit_{record.main.elicitation}"]
    if record.kind == "simulation":
        yield words["digest"].format(n=record.digest_chars)
    baseline = words[f"baseline_{record.baseline}"]
    yield baseline.format(actions=record.actions_at_start, run=f"`{record.baseline_run_id}`")
    if record.assume_completed:
        yield words["assumed"]


def instruments_table(reading: RunReading) -> str:
    words = in_language(WORDS, reading.record.language)
    rows = [
        [title(reading, name), escape(used.content.get("instrument_id", "")), escape(used.content.get("version", "")),
         f"`{used.hash}`", escape(used.source)]
        for name, used in reading.record.instruments.items()
    ]  # fmt: skip
    heads = [words[key] for key in ("method", "instrument", "version", "hash", "file")]
    return table(heads, rows, numeric_from=9)


def counts_table(reading: RunReading, frame: pd.DataFrame) -> str:
    """Rows by status for every methodology, phase, round and arm: they add up to the response table."""
    words = in_language(WORDS, reading.record.language)
    rows = []
    keys = ["methodology", "phase", "round", "arm", "run_id"]
    for (name, phase, number_, arm, run), group in frame.groupby(keys, sort=False):
        counts = group["status"].value_counts()
        people = of(responded(group)["participant"].nunique(), group["participant"].nunique())
        shown = escape(arm) if run == reading.run else f"{escape(arm)} (`{run}`)"
        rows.append(
            [title(reading, str(name)), str(phase), str(number_), shown, *(str(counts.get(s, 0)) for s in STATUSES),
             of(len(responded(group)), len(group)), people]
        )  # fmt: skip
    totals = frame["status"].value_counts()
    rows.append(
        [f"**{words['all']}**", "", "", "", *(str(totals.get(s, 0)) for s in STATUSES),
         of(len(responded(frame)), len(frame)), of(responded(frame)["participant"].nunique(), frame["participant"].nunique())]
    )  # fmt: skip
    heads = [words[key] for key in ("method", "phase", "round", "arm")]
    return table([*heads, *STATUSES, words["responded"], words["people"]], rows, numeric_from=4)


def title(reading: RunReading, name: str) -> str:
    """A methodology's name in the run's language, Markdown; also of the synthesis, which makes calls of its own."""
    return escape(plain_title(reading, name))


def plain_title(reading: RunReading, name: str) -> str:
    if name not in reading.record.methods:
        return in_language(WORDS, reading.record.language).get(name, name)
    return tell(reading.methodology(name).title, reading.record.language)


def _sections(reading: RunReading, found: Findings, frame: pd.DataFrame) -> Iterator[str]:
    """One section a methodology, in the order of the run; under its heading, where values are medians of probabilities."""
    given = frame[frame["arm_role"].eq("main") & frame["distribution"].ne("")]
    by_probabilities = set(given["methodology"])
    for name, result in found.results.items():
        section, heading = evaluation(reading.methodology(name)).section, plain_title(reading, name)
        text = _section_text(section, result, reading.record.language) if section else as_tables(heading, result)
        head, _, rest = text.strip().partition("\n")
        note = in_language(WORDS, reading.record.language)["section_distribution"]
        yield f"{head}\n\n{note}\n{rest}" if name in by_probabilities else text.strip()


def _section_text(section: str | Callable[[Found, Language], str], found: Found, language: Language) -> str:
    return section(found, language) if callable(section) else template(section, language, found=found)


def as_tables(title: str, found: Found) -> str:
    """The section of a methodology that has none of its own: single findings, then a table of every list of entries."""
    single = [[f"`{key}`", escape(value)] for key, value in found.items() if isinstance(value, str | int | float)]
    parts = [f"## {escape(title)}", table(["", ""], single, numeric_from=2)]
    for key in found:
        entries = listed(found, key)
        heads = list(dict.fromkeys(name for one in entries for name in one))
        rows = [[escape(one.get(head, MISSING)) for head in heads] for one in entries]
        parts += [f"### {escape(key)}", table(heads, rows)] if rows else []
    return "\n\n".join(part for part in parts if part)


def _appendix(reading: RunReading, material: Material, titles: Mapping[str, str]) -> Iterator[str]:
    """What is too long to stand among the findings: evidence of the claims, quotations, distribution shapes."""
    language = reading.record.language
    yield from details(material.crossing.claims, language, material.replicates)
    for name, result in material.found.results.items():
        text = _section_text(evaluation(reading.methodology(name)).appendix, result, language).strip()
        if text:
            yield text
    if material.health.shapes:
        words = in_language(HEALTH_WORDS, language)
        wordings = {(one.methodology, one.item_id): one.text(language) for one in material.asked}
        yield f"### {words['shapes']}"
        yield words["shapes_intro"].format(n=len(material.health.shapes))
        yield shapes_table(material.health.shapes, titles, wordings, language)
        yield f"*{in_language(WORDS, language)['source']}: {words['source']}*"


def _missing(reading: RunReading, stages: Stages, found: Findings) -> Iterator[tuple[str, str]]:
    """Methodologies without findings: not begun, failed before a row was planned, or stopped by a bug."""
    words = in_language(WORDS, reading.record.language)
    bugs = {bug.methodology: bug.error for bug in found.bugs}
    for name in dict.fromkeys(name for name, _ in stages):
        if name in bugs and name not in found.results:
            yield title(reading, name), words["missing_bug"].format(error=escape(bugs[name]))
        elif name not in found.results:
            outcomes = {reading.stages.get((name, phase), "") for method, phase in stages if method == name}
            said = ", ".join(words[f"outcome_{outcome}"] for outcome in sorted(outcomes))
            yield title(reading, name), words["missing"].format(outcome=said[:1].upper() + said[1:])


def _problems(reading: RunReading, frame: pd.DataFrame, stages: Stages, found: Findings, spent: pd.DataFrame) -> str:
    lines = [
        *_status_problems(reading, frame),
        *_stage_problems(reading, stages),
        *_bugs(reading, found),
        *_errors(reading),
        *_lost(reading, spent),
        *(
            in_language(WORDS, reading.record.language)["p_notice"].format(text=escape(note))
            for note in notices(reading)
        ),
    ]
    return "\n".join(f"- {line}" for line in lines) or in_language(WORDS, reading.record.language)["no_problems"]


def _errors(reading: RunReading) -> Iterator[str]:
    """The commonest reasons for which requests failed for good."""
    rows = reading.ledger.rows(
        "SELECT error, count(*) FROM calls WHERE status='failed' GROUP BY error ORDER BY count(*) DESC, error LIMIT 3"
    )
    for text, n in rows:
        yield in_language(WORDS, reading.record.language)["p_error"].format(n=n, text=escape(text))


def _status_problems(reading: RunReading, frame: pd.DataFrame) -> Iterator[str]:
    words, counts = in_language(WORDS, reading.record.language), frame["status"].value_counts()
    for status in STATUSES[1:]:
        if counts.get(status):
            yield words[f"p_{status}"].format(n=counts[status], total=len(frame))
    reconstructed = int(frame["baseline"].eq("reconstructed").sum())
    if reconstructed:
        yield words["p_reconstructed"].format(n=reconstructed, total=len(frame))
    remembering, total = with_memory(reading, frame)
    if remembering < total and reading.stages and any(phase == "T1" for _, phase in reading.stages):
        yield words["p_memoryless"].format(n=total - remembering, total=total)


def _stage_problems(reading: RunReading, stages: Stages) -> Iterator[str]:
    words, filed = in_language(WORDS, reading.record.language), reading.ledger.stages()
    for name, phase in stages:
        stage = filed.get((name, phase))
        outcome = stage.outcome if stage else ""
        if outcome != "done":
            said = words[f"outcome_{outcome}"]
            note = escape(stage.note) if stage else ""
            yield words["p_stage"].format(method=title(reading, name), phase=phase, outcome=said, note=note).strip()


def _bugs(reading: RunReading, found: Findings) -> Iterator[str]:
    words = in_language(WORDS, reading.record.language)
    filed = [failure for failure in reading.ledger.failures() if failure.unit != "analysis"]
    names = {who.id: who.name for who in reading.population}
    for bug in [*filed, *found.bugs]:
        unit = escape(names.get(bug.unit, bug.unit))
        yield words["p_bug"].format(
            method=title(reading, bug.methodology), phase=bug.phase, round=bug.round, unit=unit, error=escape(bug.error)
        )


def _lost(reading: RunReading, spent: pd.DataFrame) -> Iterator[str]:
    lost = int(spent["lost"].sum()) if len(spent) else 0
    if lost:
        yield in_language(WORDS, reading.record.language)["p_lost"].format(n=lost, total=int(spent["calls"].sum()))


def notices(reading: RunReading) -> list[str]:
    """What was said when the run began and when T1 opened."""
    memory: Mapping[str, Any] | Any = reading.ledger.frozen("", "", "T1", "memory")
    notes = memory.get("notes") if isinstance(memory, dict) else None
    return [*reading.record.notices, *(map(str, notes) if isinstance(notes, list) else ())]


SPENT = ("calls", "settled", "failed", "lost", "sends", "input_tokens", "output_tokens", "allowance")


def spent_table(reading: RunReading, spent: pd.DataFrame) -> str:
    """Requests and tokens by methodology, phase, arm and purpose; the last line is what the budget counts."""
    words = in_language(WORDS, reading.record.language)
    if spent.empty:
        return words["no_calls"]
    rows = []
    for row in spent.to_dict("records"):
        name = str(row["methodology"])
        rows.append(
            [title(reading, name), str(row["phase"]), escape(row["arm"]), escape(row["purpose"]), *_spent_cells(row)]
        )
    totals = {column: int(spent[column].sum()) for column in SPENT}
    rows.append([f"**{words['all']}**", "", "", "", *_spent_cells(totals)])
    heads = ("method", "phase", "arm", "purpose", "calls", "settled", "c_failed", "lost", "sends", "input", "output")
    return table([words[key] for key in (*heads, "allowance", "total")], rows, numeric_from=4)


def _spent_cells(row: Mapping[Any, Any]) -> list[str]:
    total = sum(int(row[column]) for column in ("input_tokens", "output_tokens", "allowance"))
    return [*(str(int(row[column])) for column in SPENT), str(total)]
