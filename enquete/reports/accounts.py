"""What a report counts: who took part, answers by status, requests and tokens, and what went wrong. Figures, not layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from enquete.locale import N_, NN_, Words, plural, said, tell
from enquete.reports.context import responded, statuses
from enquete.reports.findings import UNIT, Findings
from enquete.reports.health.verdicts import unfinished
from enquete.reports.run_reading import RunReading
from enquete.state.asking import Language

Stages = Sequence[tuple[str, str]]
Row = dict[str, Any]

STATUSES: Mapping[str, str] = {
    "ok": N_("valid at once"), "repaired": N_("valid after asking again"), "refused": N_("declined"),
    "invalid": N_("unreadable"), "failed": N_("request failed"), "not_reached": N_("not asked yet"),
}  # fmt: skip
RUN_STATUSES: Mapping[str, str] = {
    "completed": N_("completed"), "failed": N_("failed"), "paused": N_("paused"), "started": N_("begun"),
    "awaiting_simulation": N_("awaiting the simulation"), "waiting": N_("waiting for people's answers"),
}  # fmt: skip
OUTCOMES: Mapping[str, str] = {
    "done": N_("done"), "failed": N_("failed"), "short": N_("stopped before everything was asked"),
    "waiting": N_("waiting for answers"), "": N_("not begun"),
}  # fmt: skip
ROLES: Mapping[str, str] = {
    "main": N_("main arm"), "b": N_("second respondent"), "replicate": N_("asked again"), "probe": N_("probe"),
    "placebo": N_("placebo"), "variant": N_("another way of asking"), "human": N_("people"),
}  # fmt: skip
RESPONDENTS: Mapping[str, str] = {
    "llm": N_("language model"), "synthetic": N_("program (synthetic)"), "human": N_("people"), "replay": N_("replay"),
}  # fmt: skip


@dataclass(frozen=True)
class TookPart:
    """Ids of the main arm's agents, and of the people who spoke for themselves; all who were to answer."""

    agents: frozenset[str]
    people: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.agents | self.people

    def told(self, language: Language) -> str:
        agents, people = len(self.agents), len(self.people)
        of_agents = plural(NN_("{n} simulated stakeholder", "{n} simulated stakeholders"), agents, language)
        of_people = plural(NN_("{n} person", "{n} people"), people, language)
        if agents and people:
            return tell(BOTH, language).format(agents=of_agents, people=of_people)
        return of_people if people else of_agents


BOTH = N_("{agents} and {people}")


def took_part(reading: RunReading, frame: pd.DataFrame) -> TookPart:
    """By the response table: a discussion seats some of the population. Everybody, where nothing is planned yet."""
    main = frame.loc[frame["arm_role"].eq("main"), ["participant", "respondent"]]
    by_person = main["respondent"].eq("human")
    agents, persons = (
        frozenset(map(str, main.loc[these, "participant"].unique())) for these in (~by_person, by_person)
    )
    return (
        TookPart(agents, persons) if len(main) else TookPart(frozenset(who.id for who in reading.population), persons)
    )


def people(reading: RunReading, frame: pd.DataFrame) -> list[Row]:
    """Stakeholder types, the largest first: agents, those with an answer, those with a memory at T1."""
    own = frame[frame["run_id"].isin(reading.own_runs)]
    answered, remembering = set(responded(own)["participant"]), set(own.loc[own["memory_available"], "participant"])
    by_type: dict[str, list[str]] = {}
    for who in reading.population:
        by_type.setdefault(who.stakeholder_type, []).append(who.id)
    ordered = sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "kind": _heading(reading.type_names[kind]),
            "n": len(ids),
            "answered": len(answered & {*ids}),
            "remembering": len(remembering & {*ids}),
        }
        for kind, ids in ordered
    ]


def _heading(text: str) -> str:
    return text[:1].upper() + text[1:]


def counts(reading: RunReading, frame: pd.DataFrame) -> list[Row]:
    """Rows by status for every methodology, phase, round and arm: they add up to the response table."""
    found = []
    keys = ["methodology", "phase", "round", "arm", "run_id"]
    for (name, phase, number, arm, run), group in frame[[*keys, "status", "participant"]].groupby(keys, sort=False):
        found.append({
            "methodology": name, "phase": phase, "round": number, "arm": arm, "run": "" if run == reading.run else run,
            "counts": statuses(group), "responded": len(responded(group)), "rows": len(group),
            "answering": responded(group)["participant"].nunique(), "agents": group["participant"].nunique(),
        })  # fmt: skip
    return found


def spent(reading: RunReading) -> list[Row]:
    """Requests and tokens by methodology, phase, arm and purpose, as the budget counts them."""
    return [{str(key): value for key, value in row.items()} for row in reading.spent().to_dict("records")]


def missing(reading: RunReading, stages: Stages, found: Findings) -> dict[str, Words]:
    """Methodologies without findings, by name: not begun, failed before a row was planned, or stopped by a bug."""
    bugs = {bug.methodology: bug.error for bug in found.bugs}
    without: dict[str, Words] = {}
    for name in dict.fromkeys(name for name, _ in stages if name not in found.results):
        outcomes = sorted({reading.stages.get(stage, "") for stage in stages if stage[0] == name})
        without[name] = (
            said(
                N_("The analysis was stopped by a bug: {error}. The answers are in all_responses.csv."),
                error=bugs[name],
            )
            if name in bugs
            else said(N_("There are no findings yet: {outcome}."), outcome=OUTCOMES[outcomes[0]])
        )
    return without


def notices(reading: RunReading) -> list[str]:
    """What was said when the run began and when T1 opened."""
    notes = reading.memory.get("notes")
    return [*reading.record.notices, *(map(str, notes) if isinstance(notes, list) else ())]


def assumption(reading: RunReading) -> Words | None:
    """What the simulation says of its own end, where T1 was asked although it had not completed."""
    end = reading.memory.get("assumed")
    if not isinstance(end, dict):
        return None
    progress = end.get("progress")
    text, rounds = (
        N_("The simulation did not complete (it says “{status}”); it was taken as completed, as asked for."),
        {},
    )
    if isinstance(progress, list) and len(progress) == 2:
        text = N_(
            "The simulation did not complete (it says “{status}” at round {done} of {planned}); it was taken as completed, as "
            "asked for."
        )
        rounds = {"done": str(progress[0]), "planned": str(progress[1])}
    told = said(text, status=str(end.get("status")), **rounds)
    return (
        said(N_("{told} Its runner's error: {error}"), told=told, error=str(end["error"])) if end.get("error") else told
    )


# --- what failed, was repaired or reconstructed ----------------------------------------------------------------------

_GAPS: Mapping[str, str] = {
    "repaired": N_("{n} of {total} answers were valid only after asking again."),
    "refused": N_("{n} of {total} answers were declined."),
    "invalid": N_("{n} of {total} answers stayed unreadable or off the scale."),
    "failed": N_("{n} of {total} answers are missing because requests failed."),
    "not_reached": N_("{n} of {total} planned answers were not asked for yet."),
}
_NOT_ALL = N_("Not everything is asked yet; how much there will be depends on what is answered.")


def problems(reading: RunReading, frame: pd.DataFrame, stages: Stages, found: Findings) -> Iterator[Words]:
    """The run's own troubles, those of answers first."""
    counted, going_on = frame["status"].value_counts(), unfinished(reading, frame)
    total = str(len(frame) if not going_on else len(frame) - counted.get("not_reached", 0))
    for status, text in _GAPS.items():
        if status == "not_reached" and going_on:
            yield _NOT_ALL
        elif counted.get(status):
            yield said(text, n=str(counted[status]), total=total)
    yield from _memoryless(reading, frame)
    yield from _stages(reading, stages)
    yield from _bugs(reading, found)
    yield from _requests(reading)
    yield from notices(reading)


def _memoryless(reading: RunReading, frame: pd.DataFrame) -> Iterator[Words]:
    reconstructed = int(frame["baseline"].eq("reconstructed").sum())
    if reconstructed:
        text = N_("{n} of {total} rows belong to a reconstructed T0.")
        yield said(text, n=str(reconstructed), total=str(len(frame)))
    remembering, total = with_memory(reading, frame)
    if remembering < total and any(phase == "T1" for _, phase in reading.stages):
        text = N_("{n} of {total} agents had no readable memory at T1.")
        yield said(text, n=str(total - remembering), total=str(total))


def with_memory(reading: RunReading, frame: pd.DataFrame) -> tuple[int, int]:
    """Agents of the main arm that had a memory at T1, of all that were planned to answer then."""
    own = frame["phase"].eq("T1") & frame["arm_role"].eq("main") & frame["run_id"].isin(reading.own_runs)
    own &= frame["respondent"].ne("human")
    at_t1 = frame.loc[own, ["participant", "memory_available"]]
    return at_t1.loc[at_t1["memory_available"], "participant"].nunique(), at_t1["participant"].nunique()


def _stages(reading: RunReading, stages: Stages) -> Iterator[Words]:
    filed = reading.ledger.stages()
    for name, phase in stages:
        stage = filed.get((name, phase))
        outcome = stage.outcome if stage else ""
        if outcome != "done":
            facts: dict[str, Words] = {"method": _title(reading, name), "phase": phase, "outcome": OUTCOMES[outcome]}
            yield said(N_("{method} ({phase}): {outcome}. {note}"), **facts, note=stage.note if stage else "")


def _title(reading: RunReading, name: str) -> str:
    """Of a methodology, or of the synthesis, which makes calls of its own."""
    return reading.methodology(name).title if name in reading.record.methods else N_("Synthesis")


def _bugs(reading: RunReading, found: Findings) -> Iterator[Words]:
    names = {who.id: who.name for who in reading.population}
    for bug in [*(one for one in reading.ledger.failures() if one.unit != UNIT), *found.bugs]:
        yield said(
            N_("A bug in {method} {phase}, round {round}, {unit}: {error}"), method=_title(reading, bug.methodology),
            phase=bug.phase, round=str(bug.round), unit=names.get(bug.unit, bug.unit), error=bug.error,
        )  # fmt: skip


def _requests(reading: RunReading) -> Iterator[Words]:
    """The commonest reasons for which requests failed for good; those that were interrupted."""
    rows = reading.ledger.rows(
        "SELECT error, count(*) FROM calls WHERE status='failed' GROUP BY error ORDER BY count(*) DESC, error LIMIT 3"
    )
    for text, n in rows:
        yield said(N_("{n} requests to the model failed: {text}"), n=str(n), text=text)
    table = reading.spent()
    lost = int(table["lost"].sum()) if len(table) else 0
    if lost:
        text = N_("{n} of {total} requests were interrupted; their cost is counted at the upper bound.")
        yield said(text, n=str(lost), total=str(int(table["calls"].sum())))
    for counter, text in _BILLS.items():
        if odd := reading.ledger.total(counter):
            yield said(text, n=str(odd), total=str(int(table["settled"].sum())))


_BILLS: Mapping[str, str] = {
    "overlong": N_(
        "The model server ignores the limit on replies: {n} of {total} calls were billed for more. The budget reserved as much as "
        "the dearest of them."
    ),
    "shortened": N_(
        "{n} of {total} questions were too long for the model's context and were asked in a short form: memories were cut first, "
        "then personas."
    ),
    "unbelieved": N_("{n} of {total} calls reported token counts that cannot be; they are counted by estimate."),
}


def every_call_failed(reading: RunReading) -> bool:
    spent = reading.spent()
    return bool(spent["calls"].sum()) and not spent["settled"].sum()
