"""What a report counts: who took part, answers by status, requests and tokens, and what went wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.ledger import queries
from enquete.ledger.deviations import describe_deviations, read_deviations, sent_temperature
from enquete.locale import N_, NN_, Words, marked, plural, tell
from enquete.models.prices import OPENAI_URL, Prices
from enquete.reports import declarations as d
from enquete.reports.analyses import ACROSS, BETWEEN, Findings
from enquete.reports.context import chosen, responded, statuses
from enquete.reports.declarations import Row
from enquete.reports.evaluation import evaluation
from enquete.reports.gaps import UNIT, Gap
from enquete.reports.health import Health, unfinished
from enquete.reports.health_checks import HealthCheck
from enquete.reports.markdown import number
from enquete.reports.result_tables import rows_of
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Names, Results, render, shortened
from enquete.respondents.questions import NAMES
from enquete.runs.planning import price_of
from enquete.runs.waves import CUT_OFF
from enquete.simulations.digest import SOURCES
from enquete.state.asking import Language
from enquete.state.settings import LOCAL_URL, Environment

Stages = Sequence[tuple[str, str]]

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
    models: tuple[str, ...] = ()
    """That answered for agents, where it was more than one."""

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
    main = frame.loc[frame["arm_role"].eq("main"), ["participant", "respondent", "model"]]
    by_person = main["respondent"].eq("human")
    agents, persons = (
        frozenset(map(str, main.loc[these, "participant"].unique())) for these in (~by_person, by_person)
    )
    models = tuple(sorted({str(model) for model in main["model"].unique() if model}))
    several = models if len(models) > 1 else ()
    everybody = agents if len(main) else frozenset(who.id for who in reading.population)
    return TookPart(everybody, persons, several)


def people(reading: RunReading, frame: pd.DataFrame) -> list[Row]:
    """Stakeholder types, the largest first: agents, those with an answer, those with a memory at T1."""
    rows = chosen(frame[["status", "participant", "memory_available"]], frame["run_id"].isin(reading.own_runs))
    answered, remembering = set(responded(rows)["participant"]), set(rows.loc[rows["memory_available"], "participant"])
    by_type: dict[str, list[str]] = {}
    for who in reading.population:
        by_type.setdefault(who.stakeholder_type, []).append(who.id)
    return [
        {"kind": kind, "n": len(ids), "answered": len(answered & {*ids}), "remembering": len(remembering & {*ids})}
        for kind, ids in sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def counts(reading: RunReading, frame: pd.DataFrame) -> list[Row]:
    """Rows by status for every methodology, phase, round and arm: they add up to the response table."""
    rows = []
    keys = ["methodology", "phase", "round", "arm", "run_id"]
    for (name, phase, round_, arm, run), group in frame[[*keys, "status", "participant"]].groupby(keys, sort=False):
        rows.append({
            "methodology": name, "phase": phase, "round": round_, "arm": arm, "run": run,
            **dict.fromkeys(STATUSES, 0), **statuses(group), "responded": len(responded(group)), "rows": len(group),
            "answering": responded(group)["participant"].nunique(), "agents": group["participant"].nunique(),
        })  # fmt: skip
    return rows


def spent_by_model(reading: RunReading) -> list[Row]:
    """Requests and tokens by model, where several answered, with today's price of each (US dollars a million tokens, of
    input and of output); None where it is unknown."""
    table = reading.spent_by_model()
    if len(table) < 2:
        return []
    record = reading.record
    prices = Prices.read(Environment.read().prices)
    priced = price_of(record, prices, LOCAL_URL if record.weights else record.base_url or OPENAI_URL)
    return [
        {**row, "usd_in": price.input_per_mtok if price else None, "usd_out": price.output_per_mtok if price else None}
        for row in rows_of(table) for price in [priced(str(row["model"]))]
    ]  # fmt: skip


def missing(reading: RunReading, stages: Stages, findings: Findings, gaps: Sequence[Gap]) -> dict[str, Words]:
    """Methodologies without findings, by name: not begun, failed before a row was planned, or stopped by a bug."""
    bugs = {gap.methodology: gap.error for gap in gaps if gap.step == "analysis"}
    without: dict[str, Words] = {}
    for name in dict.fromkeys(name for name, _ in stages if name not in findings.results):
        if name in bugs:
            text = N_("The analysis was stopped by a bug: {error}. The answers are in all_responses.csv.")
            without[name] = marked(text, error=bugs[name])
        else:
            outcome = min(reading.stages.get(stage, "") for stage in stages if stage[0] == name)
            without[name] = marked(N_("There are no findings yet: {outcome}."), outcome=OUTCOMES[outcome])
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
    text = N_("The simulation did not complete (it says “{status}”); it was taken as completed, as asked for.")
    rounds = {}
    if isinstance(progress, list) and len(progress) == 2:
        text = N_(
            "The simulation did not complete (it says “{status}” at round {done} of {planned}); it was taken as "
            "completed, as asked for."
        )
        rounds = {"done": str(progress[0]), "planned": str(progress[1])}
    told = marked(text, status=str(end.get("status")), **rounds)
    if not end.get("error"):
        return told
    return marked(N_("{told} Its runner's error: {error}"), told=told, error=str(end["error"]))


# --- what failed, was repaired or reconstructed ----------------------------------------------------------------------

_GAPS: Mapping[str, str] = {
    "repaired": N_("{n} of {total} answers were valid only after asking again."),
    "refused": N_("{n} of {total} answers were declined."),
    "invalid": N_("{n} of {total} answers stayed unreadable or off the scale."),
    "failed": N_("{n} of {total} answers are missing because requests failed."),
    "not_reached": N_("{n} of {total} planned answers were not asked for yet."),
}
_NOT_ALL = N_("Not everything is asked yet; how much there will be depends on what is answered.")


def problems(reading: RunReading, frame: pd.DataFrame, stages: Stages, gaps: Sequence[Gap]) -> Iterator[Words]:
    """The run's own troubles, those of answers first."""
    counted, going_on = frame["status"].value_counts(), unfinished(reading, frame)
    total = str(len(frame) if not going_on else len(frame) - counted.get("not_reached", 0))
    for status, text in _GAPS.items():
        if status == "not_reached" and going_on:
            yield _NOT_ALL
        elif counted.get(status):
            yield marked(text, n=str(counted[status]), total=total)
    yield from _memoryless(reading, frame)
    yield from _cut_off(reading)
    yield from _stages(reading, stages)
    yield from _bugs(reading)
    yield from told_gaps(reading, gaps)
    yield from _requests(reading)
    yield from notices(reading)


def _memoryless(reading: RunReading, frame: pd.DataFrame) -> Iterator[Words]:
    reconstructed = int(frame["baseline"].eq("reconstructed").sum())
    if reconstructed:
        text = N_("{n} of {total} rows belong to a reconstructed T0.")
        if reading.idle:
            text = N_(
                "{n} of {total} rows belong to T0. It was measured, but nothing happened in the simulation after it, "
                "so it counts as a reconstructed one (column baseline)."
            )
        yield marked(text, n=str(reconstructed), total=str(len(frame)))
    remembering, total = with_memory(reading, frame)
    meant = reading.record.kind != "personas" and reading.record.digest_chars > 0
    if meant and remembering < total and any(phase == "T1" for _, phase in reading.stages):
        text = N_("{n} of {total} agents had no readable memory at T1.")
        yield marked(text, n=str(total - remembering), total=str(total))


def _cut_off(reading: RunReading) -> Iterator[Words]:
    """A T0 that the budget had stopped and that was not finished, because the simulation had completed meanwhile."""
    for name in reading.record.methods:
        pinned = reading.ledger.pinned(reading.record.main.id, name, "T0", CUT_OFF)
        if isinstance(pinned, dict):
            text = N_(
                "{method} (T0): {n} of {total} agents had answered when the simulation was found to have completed. "
                "The others were not asked any more, since nothing can be measured before it then; changes are those "
                "of agents who answered both waves."
            )
            total = str(len(reading.population))
            yield marked(text, method=_title(reading, name), n=str(pinned["answered"]), total=total)


def with_memory(reading: RunReading, frame: pd.DataFrame) -> tuple[int, int]:
    """Agents of the main arm that had a memory at T1, of all that were planned to answer then."""
    these = frame["phase"].eq("T1") & frame["arm_role"].eq("main") & frame["run_id"].isin(reading.own_runs)
    these &= frame["respondent"].ne("human")
    at_t1 = frame.loc[these, ["participant", "memory_available"]]
    return at_t1.loc[at_t1["memory_available"], "participant"].nunique(), at_t1["participant"].nunique()


def _stages(reading: RunReading, stages: Stages) -> Iterator[Words]:
    filed = reading.ledger.stages()
    for name, phase in stages:
        stage = filed.get((name, phase))
        outcome = stage.outcome if stage else ""
        if outcome != "done":
            facts: dict[str, Words] = {"method": _title(reading, name), "phase": phase, "outcome": OUTCOMES[outcome]}
            yield marked(N_("{method} ({phase}): {outcome}. {note}"), **facts, note=stage.note if stage else "")


def _title(reading: RunReading, name: str) -> str:
    """Of a methodology, or of the synthesis, which makes calls of its own."""
    if name == ACROSS:
        return BETWEEN.title
    return reading.methodology(name).title if name in reading.record.methods else N_("Synthesis")


def told_gaps(reading: RunReading, gaps: Sequence[Gap]) -> list[Words]:
    """What is missing from the report because a methodology's code failed, a sentence a gap."""
    return [gap.told(_title(reading, gap.methodology)) for gap in gaps]


def _bugs(reading: RunReading) -> Iterator[Words]:
    """What failed while agents were asked; what failed while the report was made is a gap."""
    names = {who.id: who.name for who in reading.population}
    for bug in (failure for failure in reading.ledger.failures() if failure.unit != UNIT):
        yield marked(
            N_("A bug in {method} {phase}, round {round}, {unit}: {error}"), method=_title(reading, bug.methodology),
            phase=bug.phase, round=str(bug.round), unit=names.get(bug.unit, bug.unit), error=bug.error,
        )  # fmt: skip


def _requests(reading: RunReading) -> Iterator[Words]:
    """The commonest reasons for which requests failed for good; those that were interrupted."""
    for text, n in reading.ledger.read(queries.ERRORS):
        yield marked(N_("{n} requests to the model failed: {text}"), n=str(n), text=text)
    table = reading.spent()
    lost = int(table["lost"].sum()) if len(table) else 0
    if lost:
        text = N_("{n} of {total} requests were interrupted; their cost is counted at the upper bound.")
        yield marked(text, n=str(lost), total=str(int(table["calls"].sum())))
    for counter, text in _BILLS.items():
        if odd := reading.ledger.total(counter):
            yield marked(text, n=str(odd), total=str(int(table["settled"].sum())))


_BILLS: Mapping[str, str] = {
    "overlong": N_(
        "The model server ignores the limit on replies: {n} of {total} calls were billed for more. The budget reserved "
        "as much as the dearest of them."
    ),
    "shortened": N_(
        "{n} of {total} questions were too long for the model's context and were asked in a short form: memories were "
        "cut first, then personas."
    ),
    "unbelieved": N_("{n} of {total} calls reported token counts that cannot be; they are counted by estimate."),
}


def every_call_failed(reading: RunReading) -> bool:
    spent = reading.spent()
    return bool(spent["calls"].sum()) and not spent["settled"].sum()


# --- Limits of a run: rows that follow from its record or its table, each told by one sentence ------------------------

DIFFERENTIAL = 0.05
"""Missing shares that lie further apart between groups are reported (facts on validity: > 5%, or differential)."""
IN_REPORT = 4
"""Limits in the report, the gravest; the others are in the appendix."""

LIMITS: Mapping[str, str] = {
    "simulated": N_(
        "The respondents are simulated. No figure of this report describes people; there is no comparison with a "
        "real survey."
    ),
    "simulated_compared": N_(
        "The respondents are simulated. No figure of this report describes people; instrument health compares the "
        "spread of some answers with a survey of people, and nothing else is compared with one."
    ),
    "simulated_and_people": N_(
        "Some respondents are people ({n_people}) who answered for themselves and are no sample of any group; all "
        "others are simulated. No figure of this report describes a population of people; there is no comparison with "
        "a real survey."
    ),
    "simulated_and_people_compared": N_(
        "Some respondents are people ({n_people}) who answered for themselves and are no sample of any group; all "
        "others are simulated. No figure of this report describes a population of people; instrument health compares "
        "the spread of some answers with a survey of people, and nothing else is compared with one."
    ),
    "people": N_(
        "The respondents are people ({n_people}) and no sample of any group. No figure of this report describes a "
        "population of people."
    ),
    "model": N_("What is measured is how {models} portrays each group, not the group."),
    "synthetic": N_(
        "What is measured is what the synthetic respondent has planted; patterns in the findings were put there."
    ),
    "inference": N_(
        "The unit of inference is the run. All {n} agents share one model and one prompt; tests and spreads over "
        "agents describe this one run and no sample. A wording shifts all of them at once."
    ),
    "inference_of_models": N_(
        "The unit of inference is the run. All {n} agents share {n_models} models and one prompt; those of one model "
        "are even less independent of one another. Tests and spreads over agents describe this one run and no sample."
    ),
    "digest": N_(
        "The memory digest is lossy: at most {characters} characters, the agent's own and newest posts first."
    ),
    "no_digest": N_("The agents answered without any memory of the simulation."),
    "memoryless": N_(
        "{n} of {total} agents answered at T1 without readable memory; in weighted drift they count {weight}."
    ),
    "n": N_("N = {n} agents; {total} of {planned} planned answers are there."),
    "n_people": N_("People: N = {n_people}; {total} of {planned} planned answers are there."),
    "n_both": N_("N = {n} agents, people: {n_people}; {total} of {planned} planned answers are there."),
    "n_so_far": N_("{total} answers are there so far."),
    "instruments": N_("The findings hold for the wording of these instruments alone, by hash (SHA-256): {what}."),
    "reconstructed": N_(
        "T0 is reconstructed. The experience effect compares answers with and without memory; it is not drift."
    ),
    "idle": N_(
        "The simulation did nothing more between T0 and T1: what differs is an experience effect (answers with and "
        "without memory), not drift."
    ),
    "actions": N_("When T0 was measured the simulation already had {n} actions; T0 is no untouched starting point."),
    "incomparable": N_("Drift is not interpretable: {what}."),
    "no_placebo": N_("There is no placebo arm and no replicate: drift cannot be told from the noise of asking again."),
    "confidence": N_("Confidence is the model's own statement and not calibrated."),
    "temperature": N_("At temperature {temperature} asking again would give other answers."),
    "temperature_left_out": N_(
        "The model does not take temperature {temperature}: it answered at its server's default, at which asking again "
        "may give other answers."
    ),
    "sampled": N_(
        "Agents were compared with one another on a part of them, drawn in the same way in every run: {what}."
    ),
    "shape": N_(
        "Language models tend to agree and to keep to the middle. Here {high} of the closed answers lie at the "
        "ends of the scale and {low} at the midpoint (n = {n}); the distribution shape of every item is in "
        "health.json."
    ),
    "partial": N_("The run is incomplete; all figures are provisional."),
    "differential": N_("The share of missing answers differs between groups: {low} ({lowest}) to {high} ({highest})."),
}
OF_AGENTS = N_("{what} on {most} of {n} agents")

LIMITS_TABLE = d.Table(
    name="limits", title=N_("Limits"), key=("place",), columns=(
        d.integer("place", N_("place")), d.text("limit", N_("id")), d.integer("n", "n"),
        d.integer("n_people", N_("people")), d.integer("total", N_("of")), d.integer("planned", N_("planned answers")),
        d.several("models", N_("models")), d.integer("n_models", N_("models")),
        d.integer("characters", N_("characters")), d.number("weight", N_("weight"), digits=1),
        d.number("temperature", N_("Temperature"), digits=1), d.share("low", N_("lowest")),
        d.reference("lowest", N_("lowest in"), to="group"), d.share("high", N_("highest")),
        d.reference("highest", N_("highest in"), to="group"), d.text("what", N_("what"))),
    views=(
        d.View(at="section", heading="", where=f"place <= {IN_REPORT} or limit == 'instruments'", says=LIMITS,
            word="limit"),
        d.View(at="appendix", heading=N_("Further limits"), says=LIMITS, word="limit",
            where=f"place > {IN_REPORT} and limit != 'instruments'"),
    ),
)  # fmt: skip


def limits(
    reading: RunReading, frame: pd.DataFrame, results: Mapping[str, Mapping[str, JsonValue]], health: Health, *,
    partial: bool,
) -> list[Row]:  # fmt: skip
    """Rows of LIMITS_TABLE, the gravest first."""
    asked = took_part(reading, frame)
    rows = [
        *_about_respondents(reading, frame, asked, health), *_about_memory(reading, frame),
        *_about_change(reading, results), *_about_shape(health), *_about_samples(reading, results, health),
        *_about_numbers(reading, frame, asked, partial=partial),
    ]  # fmt: skip
    empty: Row = {column.name: None for column in LIMITS_TABLE.stored}
    return [{**empty, **row, "place": place} for place, row in enumerate(rows, start=1)]


HUMAN_CHECKS = ("variance_ratio", "human_jsd", "human_w1")
"""Checks that need answers of people."""


def _compared_with_people(health: Health) -> bool:
    """Whether a check compared answers with those of people, as an instrument gives them."""
    of_people = [check for check in health.checks if check.found.name in HUMAN_CHECKS]
    return any(check.found.verdict != "not computed" for check in of_people)


def _about_respondents(reading: RunReading, frame: pd.DataFrame, asked: TookPart, health: Health) -> Iterator[Row]:
    main, n_people = reading.record.main, len(asked.people)
    if not asked.agents:
        yield {"limit": "people", "n_people": n_people}
        return
    limit = "simulated_and_people" if asked.people else "simulated"
    yield {"limit": f"{limit}_compared" if _compared_with_people(health) else limit, "n_people": n_people}
    if main.respondent == "synthetic":
        yield {"limit": "synthetic"}
    else:
        yield {"limit": "model", "models": list(asked.models) or [main.model]}
        if frame["confidence"].notna().any():
            yield {"limit": "confidence"}
    inference = "inference_of_models" if asked.models else "inference"
    yield {"limit": inference, "n": len(asked.agents), "n_models": len(asked.models)}
    if main.respondent == "llm":
        yield from _about_temperature(reading)


def _about_temperature(reading: RunReading) -> Iterator[Row]:
    main = reading.record.main
    sent = sent_temperature(read_deviations(reading.ledger), main.model, main.temperature)
    if sent is None:
        yield {"limit": "temperature_left_out", "temperature": main.temperature}
    elif sent:
        yield {"limit": "temperature", "temperature": sent}


def _about_memory(reading: RunReading, frame: pd.DataFrame) -> Iterator[Row]:
    remembering, total = with_memory(reading, frame)
    if not remembering:
        yield {"limit": "no_digest"}
        return
    yield {"limit": "digest", "characters": reading.record.digest_chars}
    if remembering < total:
        weight = reading.record.memoryless_weight
        yield {"limit": "memoryless", "n": total - remembering, "total": total, "weight": weight}


def _about_change(reading: RunReading, results: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[Row]:
    record = reading.record
    if reading.idle:
        yield {"limit": "idle"}
    elif record.baseline == "reconstructed":
        yield {"limit": "reconstructed"}
    elif record.baseline == "measured" and record.actions_at_start:
        yield {"limit": "actions", "n": record.actions_at_start}
    drifts = [result for result in results.values() if result.get("kind") == "drift"]
    for drift in drifts:
        reasons = drift.get("reasons")
        if isinstance(reasons, list) and reasons:
            yield {"limit": "incomparable", "what": "; ".join(map(str, reasons))}
    if drifts and not {arm.role for arm in record.arms} & {"placebo", "replicate"}:
        yield {"limit": "no_placebo"}


def _about_shape(health: Health) -> Iterator[Row]:
    """Shares of endpoints and midpoints over all closed answers."""
    n = sum(shape.n for shape in health.shapes)
    if not n:
        return
    ends = sum(shape.n * shape.ends for shape in health.shapes if shape.ends is not None) / n
    middled = [(shape.n, shape.midpoint) for shape in health.shapes if shape.midpoint is not None]
    of_middled = sum(weight for weight, _ in middled)
    midpoint = sum(weight * part for weight, part in middled) / of_middled if of_middled else None
    yield {"limit": "shape", "high": ends, "low": midpoint, "n": int(n)}


def _about_samples(
    reading: RunReading, results: Mapping[str, Mapping[str, JsonValue]], health: Health
) -> Iterator[Row]:
    """What compares agents with one another, and was computed on some of them."""
    language = reading.language
    listed = [
        (tell(sample.what, language), OF_AGENTS, sample.most, of)
        for name, result in results.items()
        for sample in evaluation(reading.methodology(name)).presentation.samples
        if isinstance(of := result.get(sample.of), int) and of > sample.most
    ]
    listed += [(check.what(language), *drawn) for check in health.checks if (drawn := _drawn(check))]
    parts = dict.fromkeys(
        tell(says, language).format(what=what, most=number(most, language), n=number(n, language))
        for what, says, most, n in listed
    )
    if parts:
        yield {"limit": "sampled", "what": "; ".join(parts)}


def _drawn(check: HealthCheck) -> tuple[str, int, int] | None:
    """Return how many of how many agents a check looked at; None where at all."""
    most = check.found.detail.get("agents_drawn")
    if isinstance(most, int) and most < check.found.n:
        return OF_AGENTS, most, check.found.n
    return None


def _about_numbers(reading: RunReading, frame: pd.DataFrame, asked: TookPart, *, partial: bool) -> Iterator[Row]:
    n, n_people = len(asked.agents), len(asked.people)
    yield {
        "limit": "n_so_far" if partial else "n" if not n_people else "n_both" if n else "n_people", "n": n,
        "n_people": n_people, "total": len(responded(frame)), "planned": len(frame),
    }  # fmt: skip
    yield from _differential(frame)
    hashes = (f"{name} {used.hash[:12]}" for name, used in reading.record.instruments.items())
    yield {"limit": "instruments", "what": ", ".join(hashes)}
    if partial:
        yield {"limit": "partial"}


def _differential(frame: pd.DataFrame) -> Iterator[Row]:
    """Gaps among what was asked, where one group has clearly more of them than another."""
    asked = frame.loc[frame["status"].ne("not_reached"), ["status", "stakeholder_type"]]
    missing = asked["status"].isin(["refused", "invalid", "failed"]).groupby(asked["stakeholder_type"]).mean()
    if len(missing) > 1 and missing.max() - missing.min() > DIFFERENTIAL:
        yield {
            "limit": "differential", "low": float(missing.min()), "lowest": str(missing.idxmin()),
            "high": float(missing.max()), "highest": str(missing.idxmax()),
        }  # fmt: skip


# --- The account of a run: who was asked, by what, how far it came and what it cost -----------------------------------

ACCOUNT = "account"
PROBLEMS = N_("What failed, was repaired or reconstructed")
METHODOLOGY = d.reference("methodology", N_("Methodology"), to="methodology")
STAGE, ARM = d.text("phase", N_("Phase")), d.text("arm", N_("Arm"))
REQUESTS = (
    d.integer("calls", N_("requests")), d.integer("settled", N_("answered")), d.integer("failed", N_("failed")),
    d.integer("lost", N_("interrupted")),
)  # fmt: skip
TOKENS = (
    d.integer("input_tokens", N_("input tokens")), d.integer("output_tokens", N_("output tokens")),
    d.integer("allowance", N_("tokens without an answer (upper bound)")),
)  # fmt: skip

RUN = d.Presentation(
    title=N_("Run"),
    tables=(
        d.Table(name="people", title=N_("Who was asked"), key=("kind",), columns=(
            d.reference("kind", N_("Stakeholder type"), to="group"), d.integer("n", N_("Agents")),
            d.integer("answered", N_("with an answer")), d.integer("remembering", N_("with memory (T1)"))),
            views=(d.View(at="section", heading=""),)),
        d.Table(name="arms", title=N_("Arms"), key=("arm",), columns=(
            ARM, d.code("role", N_("Role"), ROLES), d.code("respondent", N_("Respondent"), RESPONDENTS),
            d.text("model", N_("Model")), d.number("temperature", N_("Temperature"), digits=1),
            d.integer("seed", N_("Seed")), d.text("sent", N_("sent otherwise"))),
            views=(d.View(at="appendix"),)),
        d.Table(name="instruments", title=N_("Instruments"), key=("methodology",), columns=(
            METHODOLOGY, d.text("instrument", N_("Instrument")), d.text("version", N_("Version")),
            d.text("hash", N_("Hash (SHA-256)")), d.text("source", N_("File"))),
            views=(d.View(at="appendix"),)),
        d.Table(name="answers", title=N_("Answers by status"), key=("methodology", "phase", "round", "arm", "run"),
            columns=(
                METHODOLOGY, STAGE, d.integer("round", N_("Round")), ARM, d.text("run", N_("Run")),
                *(d.integer(status, says) for status, says in STATUSES.items()),
                d.integer("responded", N_("valid")), d.integer("rows", N_("planned")),
                d.of("responded", "rows", "n / N"), d.integer("answering", N_("agents with an answer")),
                d.integer("agents", N_("agents")), d.of("answering", "agents", N_("agents / all"))),
            views=(d.View(at="appendix", columns=d.names(
                f"methodology phase round arm {' '.join(STATUSES)} responded_of_rows answering_of_agents")),)),
        d.Table(name="problems", title=PROBLEMS, key=("place",), columns=(
            d.integer("place", N_("place")), d.text("problem", N_("problem"))),
            views=(
                d.View(at="section", heading="", where=f"place <= {IN_REPORT}", says="{problem}"),
                d.View(at="appendix", says="{problem}",
                       empty=N_("Nothing: every planned answer was valid at once.")),
            )),
        LIMITS_TABLE,
        d.Table(name="spent", title=N_("Spent"), key=("methodology", "phase", "arm", "purpose"), columns=(
            METHODOLOGY, STAGE, ARM, d.text("purpose", N_("Purpose")), *REQUESTS, d.integer("sends", N_("sends")),
            d.integer("in_flight", N_("in flight")), *TOKENS),
            views=(d.View(at="appendix", note=N_("Every request stands in audit.jsonl."),
                          empty=N_("No request was made."), columns=d.names(
                "methodology phase arm purpose calls settled failed lost sends input_tokens output_tokens "
                "allowance")),)),
        d.Table(name="models", title=N_("Spent by model"), key=("model",), columns=(
            d.text("model", N_("Model")), *REQUESTS, *TOKENS, d.number("usd_in", N_("USD a million tokens of input")),
            d.number("usd_out", N_("USD a million tokens of output"))),
            views=(d.View(at="appendix"),)),
    ),
    facts=(
        d.text("run"), d.text("simulation"), d.text("topic"), d.code("status", N_("status"), RUN_STATUSES),
        d.text("fingerprint"), d.text("population_hash"), d.several("not_asked"),
    ),
    texts=(
        d.TextBlock(at="appendix", says=N_(
            "Run {run} of {simulation}: {status}. Fingerprint of the settings: {fingerprint}. Hash of the population: "
            "{population_hash}. Topic: {topic}")),
        d.TextBlock(at="appendix", where="not_asked == not_asked", says=N_("Not asked: {not_asked}.")),
    ),
)  # fmt: skip


def account(
    reading: RunReading, frame: pd.DataFrame, stages: Stages, findings: Findings, health: Health, names: Names, *,
    gaps: Sequence[Gap], status: str, partial: bool,
) -> Results:  # fmt: skip
    """names.methodologies: also of the synthesis and the critic, which make calls of their own."""
    record, language = reading.record, reading.language
    told = [tell(problem, language) for problem in problems(reading, frame, stages, gaps)]
    deviations = read_deviations(reading.ledger)
    tables: dict[str, Any] = {
        "people": people(reading, frame),
        "arms": [
            {
                "arm": arm.id,
                **{name: getattr(arm, name) for name in ("role", "respondent", "model", "seed")},
                "temperature": sent_temperature(deviations, arm.model, arm.temperature),
                "sent": describe_deviations(deviations.get(arm.model, {})),
            }
            for arm in record.arms
        ],
        "instruments": [
            {"methodology": name, "instrument": str(used.content.get("instrument_id") or ""),
             "version": str(used.content.get("version") or ""), "hash": used.hash, "source": used.source}
            for name, used in record.instruments.items()
        ],
        "answers": counts(reading, frame),
        "problems": [{"place": place, "problem": text} for place, text in enumerate(told, start=1)],
        "limits": limits(reading, frame, findings.results, health, partial=partial),
        "spent": reading.spent(),
        "models": spent_by_model(reading) if took_part(reading, frame).models else [],
    }  # fmt: skip
    facts = {
        "run": record.run_id,
        "simulation": record.sim_id,
        "topic": record.topic,
        "status": status,
        "fingerprint": record.fingerprint,
        "population_hash": record.population_hash[:16],
        "not_asked": list(record.chosen.names) if record.chosen else None,
    }
    return Results(ACCOUNT, RUN, d.shaped(RUN, tables, facts), names, language)


# --- What answers named of a memory: which posts and exposures, whether they exist, and who named them, movers above
# all
# Answers in words carry the marks of entries (respondents/questions.py takes them out of the text and notes them). A
# mover is an agent of whom any closed answer differs between T0 and T1 of the same methodology. A mark that stands in
# no digest of the agent names nothing.

SHOWN = 8
MOST_WORDS = 20  # of an entry that is shown
PHASE = "T1"
KINDS: Mapping[str, str] = {
    "P": N_("own post"), "R": N_("reaction"), "S": N_("shown to the agent"), "K": N_("on record"),
}  # fmt: skip
_LINE = re.compile(r"^- \[([A-Z]\d+)\] (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Citation:
    """An answer that names an entry of its agent's memory. source: where that stands ("twitter post 12"); "" where
    there is no such entry. moved: None where the agent was not asked twice."""

    answer_id: str
    methodology: str
    participant: str
    agent_name: str
    mark: str
    source: str
    text: str
    moved: bool | None


def citations(reading: RunReading, frame: pd.DataFrame) -> list[Citation]:
    """Of the main arm after the simulation."""
    main = reading.record.main.id
    noted = list(reading.ledger.read(queries.NOTES, (main, PHASE, f'%"{NAMES}%')))
    if not noted:
        return []
    sources = reading.ledger.pinned("", "", PHASE, SOURCES)
    known: Mapping[str, Any] = sources if isinstance(sources, dict) else {}
    digests = reading.ledger.digests(PHASE)
    names = {who.id: who.name for who in reading.population}
    moved = movers(frame)
    cited = []
    for method, session, round_, turn, who, item, notes in noted:
        parts = (reading.record.asked_by(method), main, method, PHASE, session, round_, turn, who, item)
        lines = dict(_LINE.findall(digests.get(who) or ""))
        for mark in marks(notes):
            cited.append(
                Citation(
                    "/".join(map(str, parts)), method, who, names.get(who, ""), mark,
                    str((known.get(who) or {}).get(mark, "")) if mark in lines else "", lines.get(mark, ""),
                    moved.get(who),
                )
            )  # fmt: skip
    return cited


def marks(notes: str) -> list[str]:
    """Of an answer's notes as they are stored."""
    listed = [note.removeprefix(NAMES).split() for note in json.loads(notes) if note.startswith(NAMES)]
    return list(dict.fromkeys(mark for names in listed for mark in names))


def movers(frame: pd.DataFrame) -> dict[str, bool]:
    """Whether any closed answer of an agent changed, for those who answered one in both waves."""
    answers = frame[frame["arm_role"].eq("main") & frame["value"].notna() & frame["round"].eq(0)]
    keys = ["methodology", "participant", "session", "turn", "item_id"]
    waves = answers.drop_duplicates([*keys, "phase"], keep="last").pivot(index=keys, columns="phase", values="value")
    if not {"T0", "T1"} <= set(waves.columns):
        return {}
    both = waves.dropna(subset=["T0", "T1"])
    changed = both["T0"].ne(both["T1"]).groupby(level="participant").any()
    return {str(who): bool(any_) for who, any_ in changed.items()}


@dataclass(frozen=True)
class CitedEntry:
    """An entry that was named, by how many agents, and how many of them moved."""

    source: str
    kind: str
    text: str
    agents: int
    movers: int


def entries(cited: Sequence[Citation]) -> list[CitedEntry]:
    """What movers named most first; a post that several saw is one."""
    grouped: dict[tuple[str, str], list[Citation]] = {}
    for cite in cited:
        if cite.source:
            whose = cite.participant if cite.source == "graph summary" else ""
            grouped.setdefault((cite.source, whose), []).append(cite)
    every = [
        CitedEntry(
            source, KINDS[group[0].mark[0]], max((cite.text for cite in group), key=len),
            len({cite.participant for cite in group}), len({cite.participant for cite in group if cite.moved}),
        )
        for (source, _), group in grouped.items()
    ]  # fmt: skip
    return sorted(every, key=lambda entry: (-entry.movers, -entry.agents, entry.source))


def citations_section(cited: Sequence[Citation], frame: pd.DataFrame, language: Language) -> str:
    """For the appendix, Markdown; "" where nobody named anything."""
    if not cited:
        return ""
    moved = {who for who, any_ in movers(frame).items() if any_}
    real = [cite for cite in cited if cite.source]
    shown = [replace(entry, text=shortened(entry.text, MOST_WORDS)) for entry in entries(cited)[:SHOWN]]
    return render(
        "enquete.reports:citations.md.j2", language, entries=shown, total=len(entries(cited)),
        agents=len({cite.participant for cite in real}), answers=len({cite.answer_id for cite in real}),
        invalid=len(cited) - len(real), movers=len(moved),
        naming=len({cite.participant for cite in real if cite.participant in moved}),
    ).strip()  # fmt: skip


def citation_rows(cited: Sequence[Citation]) -> Iterator[dict[str, Any]]:
    """For exports/citations.jsonl."""
    for cite in cited:
        yield {**asdict(cite), "exists": bool(cite.source)}
