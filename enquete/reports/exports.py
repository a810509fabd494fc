"""The files of a run, written from its ledger and rebuildable from it at any time: same ledger, same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from enquete.ledger.folders import write_atomically
from enquete.locale import N_, in_language, tell
from enquete.reports import narrative
from enquete.reports.accounts import ACCOUNT, citation_rows
from enquete.reports.analyses import ACROSS, Findings, names_of, results_of
from enquete.reports.context import PARTS, Files, chosen, ids, numbered, opened, responded
from enquete.reports.declarations import NOT_ANALYSED, Analysis, WholeResults
from enquete.reports.evaluation import evaluation, evaluations
from enquete.reports.files import Last, data_files, markdown, write_standing
from enquete.reports.further_arms import PAIRS, PREFERENCE, REPLICATES, as_frame
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.markdown import number
from enquete.reports.report import ReportMaterial
from enquete.reports.responses import AT_ONCE, PLAIN, AskedItem, undetermined
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Names, Results
from enquete.reports.writing import ANSWER, ResponseRow, records, write_csv, write_file, write_json, write_jsonl
from enquete.runs.planning import CRITIC
from enquete.state.asking import Language

# --- Episodes for the memory: what each agent, and all of them, said in each methodology and phase, and what it was
# gathered into (types, themes, scenarios).
#
# By rule, from answers and findings alone: the positions furthest from the middle of their scales, then the agent's own
# words. Every episode of answers names them. Only what is `complete` is remembered: the agent, or the methodology, is
# done.

READ = [*PARTS, "agent_name", "stakeholder_type", "status", "value", "scale_min", "scale_max", "text"]
POSITIONS, VOICES, AGGREGATE_ANSWERS = 3, 1, 20
LONGEST = 240
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")

WORDS: Mapping[str, str] = {
    "agent": N_("Agent {name} (interview/{method}/{phase}): {stance}"),
    "position": N_("“{wording}”: {value} on {low}–{high}{label}."),
    "voice": N_("In their own words: “{text}”"),
    "all": N_("All agents (interview/{method}/{phase}): {stance}"),
    "group": N_("Found (interview/{method}/{phase}): {stance}"),
    "answered": N_("{n} of {total} agents answered"),
    "highest": N_("rated highest: “{wording}” (mean {value} on {low}–{high}, n = {n})"),
    "lowest": N_("lowest: “{wording}” (mean {value} on {low}–{high}, n = {n})"),
}


def episodes(
    reading: RunReading, frame: pd.DataFrame, asked: Sequence[AskedItem], analyses: Mapping[str, Analysis],
    log: GapLog = NOTHING_CAUGHT,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Agents in the population's order within each methodology and phase of this run, then all of them, then what their
    answers were gathered into; main arm."""
    language, main = reading.language, reading.record.main
    table = chosen(frame[READ], frame["arm_role"].eq("main") & frame["run_id"].isin(reading.own_runs))
    answered = responded(table)
    known: dict[str, dict[str, AskedItem]] = {}
    for item in asked:
        known.setdefault(item.methodology, {})[item.item_id] = item
    for method, phase in dict.fromkeys(zip(answered["methodology"], answered["phase"], strict=True)):
        rows = chosen(answered, answered["methodology"].eq(method) & answered["phase"].eq(phase))
        run_id, done = str(rows["run_id"].iloc[0]), reading.stages.get((method, phase)) == "done"
        at = f"{run_id}/{method}/{phase}"
        where = {
            "sim_id": reading.record.sim_id, "run_id": run_id, "methodology": method, "phase": phase,
            "respondent": main.respondent, "model": main.model,
        }  # fmt: skip
        here = table["methodology"].eq(method) & table["phase"].eq(phase)
        planned_here = table.loc[here, ["participant", "status"]]
        owing = _owing(reading, planned_here, method, phase, done=done)
        # of a rating, the last revision
        last = opened(chosen(rows, ~rows.duplicated(["participant", "item_id"], keep="last")))
        for some in agents_at_a_time(last):
            names = dict(zip(some["participant"], some["agent_name"], strict=True))
            kinds = dict(zip(some["participant"], some["stakeholder_type"], strict=True))
            for who, (stance, behind) in stances(some, known[method], language).items():
                text = in_language(WORDS, language)["agent"].format(
                    name=names[who], method=method, phase=phase, stance=stance
                )
                whose = {"participant": who, "agent_name": names[who], "stakeholder_type": kinds[who]}
                yield {"id": f"{at}/{who}", "kind": "interview", **where, **whose, "text": text, "answer_ids": behind,
                       "complete": who not in owing}  # fmt: skip
        stance, behind = overall(last, known[method], int(planned_here["participant"].nunique()), language)
        text = in_language(WORDS, language)["all"].format(method=method, phase=phase, stance=stance)
        yield {"id": f"{at}/all", "kind": "overall", **where, "participant": None, "text": text, "answer_ids": behind,
               "complete": done}  # fmt: skip
        if done and phase == reading.methodology(method).phases[-1] and method in analyses:
            presentation = evaluation(reading.methodology(method)).presentation
            results = Results(method, presentation, analyses[method], Names(groups=reading.type_names), language)
            remembered: list[tuple[str, str]] = []
            with log.catch(method, "episodes"):
                remembered += results.remembered()
            for name, told in remembered:
                text = in_language(WORDS, language)["group"].format(method=method, phase=phase, stance=told)
                yield {"id": f"{at}/{name}", "kind": "aggregate", **where, "participant": None, "text": text,
                       "answer_ids": [], "complete": True}  # fmt: skip


def agents_at_a_time(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Rows of some agents after the other, in the order in which agents first come."""
    who, agents = pd.factorize(rows["participant"])
    order = np.argsort(who, kind="stable")
    ends = np.searchsorted(who[order], range(0, len(agents) + AT_ONCE, AT_ONCE))
    for start, end in pairwise(ends):
        yield rows.iloc[order[start:end]]


def _owing(reading: RunReading, planned: pd.DataFrame, method: str, phase: str, *, done: bool) -> set[str]:
    """Agents who may still answer."""
    if done or method in reading.record.carried:
        return set()
    return set(planned.loc[planned["status"].eq("not_reached"), "participant"]) | undetermined(reading, method, phase)


def stances(rows: pd.DataFrame, items: Mapping[str, AskedItem], language: Language) -> dict[str, tuple[str, list[str]]]:
    """By participant: the clearest positions and the first own words, with the ids of those answers."""
    closed: dict[str, list[tuple[float, int]]] = {who: [] for who in dict.fromkeys(rows["participant"])}
    spoken: dict[str, list[tuple[bool, int]]] = {who: [] for who in closed}
    whose, item, value, low, high, text = (
        rows[column].tolist() for column in ("participant", "item_id", "value", "scale_min", "scale_max", "text")
    )
    for row, (who, given, least, most) in enumerate(zip(whose, value, low, high, strict=True)):
        if given == given and least == least:  # neither is missing
            closed[who].append((-abs(2 * given - least - most) / (most - least), row))
        if text[row]:
            spoken[who].append((given == given, row))
    words = in_language(WORDS, language)["voice"]
    by_agent = {}
    for who, positions in closed.items():
        clearest = [row for _, row in sorted(positions)[:POSITIONS]]
        voices = [row for _, row in sorted(spoken[who])[:VOICES]]
        told = [_position(items[item[row]], value[row], int(low[row]), int(high[row]), language) for row in clearest]
        told += [words.format(text=shortened(text[row])) for row in voices]
        if told:
            by_agent[who] = (" ".join(told), [*clearest, *voices])
    names = iter(ids(rows.iloc[[row for _, places in by_agent.values() for row in places]]))
    return {who: (told, [next(names) for _ in places]) for who, (told, places) in by_agent.items()}


def _position(item: AskedItem, value: float, low: int, high: int, language: Language) -> str:
    label = item.label(value, language)
    return in_language(WORDS, language)["position"].format(
        wording=item.text(language), value=f"{value:g}".replace("-", "−"), low=low, high=high,
        label=f" ({label})" if label else "",
    )  # fmt: skip


def overall(
    answers: pd.DataFrame, items: Mapping[str, AskedItem], planned: int, language: Language
) -> tuple[str, list[str]]:
    """How many answered, and the items of the highest and the lowest mean among those on the commonest scale: answers
    on different scales are not ranked."""
    words = in_language(WORDS, language)
    parts = [words["answered"].format(n=answers["participant"].nunique(), total=planned)]
    closed = chosen(answers, answers["value"].notna() & answers["scale_min"].notna())
    alike = _on_one_scale([items[str(item)] for item in closed["item_id"].unique()], language)
    means = closed[closed["item_id"].isin(alike)].groupby("item_id")["value"].mean().sort_values(kind="stable")
    named = dict.fromkeys([means.index[-1], means.index[0]]) if len(means) else {}
    for word, item in zip(("highest", "lowest"), named, strict=False):
        rows = closed[closed["item_id"].eq(item)]
        value = number(float(rows["value"].mean()), language)
        scale = {"low": int(rows["scale_min"].iloc[0]), "high": int(rows["scale_max"].iloc[0])}
        parts.append(words[word].format(wording=items[str(item)].text(language), value=value, n=len(rows), **scale))
    rests = closed[closed["item_id"].isin(list(named))] if named else answers
    return "; ".join(parts) + ".", list(ids(rests.iloc[:AGGREGATE_ANSWERS]))


def _on_one_scale(items: Sequence[AskedItem], language: Language) -> list[str]:
    """Ids of the items on the scale that most of them share: the same points with the same words."""
    by_scale: dict[tuple[Any, ...], list[str]] = {}
    for item in items:
        points = (item.scale_min, item.scale_max)
        words = tuple(item.label(point, language) for point in points if point is not None)
        by_scale.setdefault((*points, *words), []).append(item.item_id)
    return max(by_scale.values(), key=len, default=[])


def shortened(text: str) -> str:
    """Whole sentences up to LONGEST characters; of a longer first sentence its beginning."""
    line = " ".join(text.split())
    kept = ""
    for sentence in _SENTENCE.split(line):
        if len(kept) + len(sentence) >= LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or f"{line[: LONGEST - 1].rsplit(' ', 1)[0]} …"


VALIDATED = 20_000
"""Rows validated one by one; of a larger table an even sample. Keys are checked in all rows."""


def validate(frame: pd.DataFrame) -> None:
    """Raises ValueError naming the row and column where the table is not as ResponseRow says, or has a key twice."""
    keys = ["run_id", "methodology", "phase", *ANSWER]
    doubled = pd.Series(numbered(frame, keys)).duplicated().to_numpy()
    if doubled.any():
        raise ValueError(f"all_responses.csv: {frame.loc[doubled, keys].iloc[0].to_dict()} stands twice")
    step = max(1, -(-len(frame) // VALIDATED))
    for place, row in enumerate(records(frame.iloc[::step])):
        try:
            ResponseRow.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            where = f"row {place * step + 1}, column {'.'.join(map(str, first['loc']))}"
            raise ValueError(f"all_responses.csv: {where}: {first['input']!r}: {first['msg']}") from error


FILES: Mapping[str, str] = {
    ACROSS: "associations.json", REPLICATES: "replicates.json", PREFERENCE: "preference.json",
    ACCOUNT: "account.json",
}  # fmt: skip
"""What is nobody's own, beside the report."""


def write_exports(
    folder: Path, reading: RunReading, material: ReportMaterial, frame: pd.DataFrame,
    account: Callable[[], Results], log: GapLog,
) -> Results:  # fmt: skip
    """exports/ (answers, agents, items, declared tables, codebook, episodes), and beside the report what it says across
    methods and about its health.

    account: makes the account of the run. It names what could not be written of a methodology, so it is made after
    that, and returned.
    """
    exports, language = folder / "exports", reading.language
    frame = frame.drop(columns=list(PLAIN))
    validate(frame)
    if not reading.record.replay_of:  # which says nothing new
        told = episodes(reading, material.frame, material.asked, material.analysed.analyses, log)
        write_jsonl(exports / "episodes.jsonl", told)
    last = Last(account)
    files = data_files(
        reading, frame, material.asked, material.analysed.agents, material.declared, "standing", log, last
    )
    book = write_standing(exports, reading, material.asked, files, log)
    write_atomically(exports / "codebook.md", markdown(book, language))
    write_jsonl(exports / "citations.jsonl", citation_rows(material.citations))
    write_json(folder / narrative.FILE, material.prose.as_json())
    write_json(folder / "health.json", material.health.as_json())
    declared = {**material.declared, ACCOUNT: last.results}
    for name, file in FILES.items():
        if name in declared:
            results = declared[name]
            write_json(folder / file, results.analysis.as_json(results.presentation))
    if PREFERENCE in material.declared:
        write_csv(reading.folder / PAIRS, as_frame(material.pairs))
    spoken = [call for name in (narrative.METHODOLOGY, CRITIC) for call in audit(reading, name, "")]
    if spoken:
        write_jsonl(folder / "audit.jsonl", spoken)
    return last.results


def declared(reading: RunReading, asked: Sequence[AskedItem], findings: Findings) -> Mapping[str, Results]:
    """Results of methodologies that declare their tables."""
    titles = {name: tell(reading.methodology(name).title, reading.language) for name in reading.record.methods}
    names = names_of(reading, tuple(asked), titles)
    return results_of(evaluations(reading.record.methods), findings.analyses, names, reading.language)


def stage_folder(reading: RunReading, methodology: str, phase: str) -> Path:
    return reading.interviews / phase / methodology / reading.run


def write_stage(
    reading: RunReading, frame: pd.DataFrame, methodology: str, phase: str, findings: Findings, log: GapLog
) -> None:
    """The methodology's own files of this phase, and the audit of its calls. Without rows of an earlier run.

    A file that cannot be made leaves none of an earlier report in its place.
    """
    folder, analysis = stage_folder(reading, methodology, phase), findings.results.get(methodology)
    if analysis is not None:
        results = WholeResults(analysis, findings.analyses.get(methodology, NOT_ANALYSED).tables)
        rows = chosen(
            frame, frame["methodology"].eq(methodology) & frame["phase"].eq(phase) & frame["run_id"].eq(reading.run)
        )
        made: Files = {}
        with log.catch(methodology, "file", f"{phase}/{methodology}"):
            files = evaluation(reading.methodology(methodology)).files
            made = files(results, rows.drop(columns=[*PLAIN]).reset_index(drop=True), phase)
        for name, content in made.items():
            written = False
            try:
                with log.catch(methodology, "file", f"{phase}/{methodology}/{name}", but=(OSError,)):
                    write_file(folder / name, content)
                    written = True
            finally:
                if not written:
                    (folder / name).unlink(missing_ok=True)
    write_jsonl(folder / "audit.jsonl", audit(reading, methodology, phase))


def audit(reading: RunReading, methodology: str, phase: str) -> Iterator[dict[str, Any]]:
    """Every request: who was asked what by which model, what came back, what it cost. Each system prompt once."""
    spelt: set[str] = set()
    for call in reading.calls(methodology, phase):
        system = call.pop("system")
        if call["system_hash"] not in spelt:
            spelt.add(call["system_hash"])
            call["system"] = system
        call["messages"] = json.loads(call["messages"])
        yield call


def reached(reading: RunReading, methodology: str, phase: str, frame: pd.DataFrame) -> bool:
    """Whether there is anything to write about this stage. What was taken over has its files there."""
    if methodology in reading.record.carried:
        return False
    these = frame["methodology"].eq(methodology) & frame["phase"].eq(phase) & frame["run_id"].eq(reading.run)
    return (methodology, phase) in reading.stages or bool((these & frame["status"].ne("not_reached")).any())
