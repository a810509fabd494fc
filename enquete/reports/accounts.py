"""What a report counts: who took part, answers by status, requests and tokens, and what went wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.estimates import MOST_PAIRS
from enquete.ledger import queries
from enquete.locale import N_, NN_, Words, in_language, marked, plural, tell
from enquete.models.prices import OPENAI_URL, Prices
from enquete.nodes.planning import price_of
from enquete.reports.analyses import UNIT, Findings
from enquete.reports.context import chosen, responded, statuses
from enquete.reports.declarations import Row
from enquete.reports.evaluation import evaluation
from enquete.reports.health import Health, unfinished
from enquete.reports.health_checks import HealthCheck
from enquete.reports.markdown import escape, number, share
from enquete.reports.run_reading import RunReading
from enquete.reports.views import LIMITS, render, shortened
from enquete.respondents.questions import NAMES
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
    ordered = sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "kind": name[:1].upper() + name[1:],
            "n": len(ids),
            "answered": len(answered & {*ids}),
            "remembering": len(remembering & {*ids}),
        }
        for name, ids in ((reading.type_names[kind], ids) for kind, ids in ordered)
    ]


def counts(reading: RunReading, frame: pd.DataFrame) -> list[Row]:
    """Rows by status for every methodology, phase, round and arm: they add up to the response table."""
    rows = []
    keys = ["methodology", "phase", "round", "arm", "run_id"]
    for (name, phase, round_, arm, run), group in frame[[*keys, "status", "participant"]].groupby(keys, sort=False):
        rows.append({
            "methodology": name, "phase": phase, "round": round_, "arm": arm, "run": "" if run == reading.run else run,
            "counts": statuses(group), "responded": len(responded(group)), "rows": len(group),
            "answering": responded(group)["participant"].nunique(), "agents": group["participant"].nunique(),
        })  # fmt: skip
    return rows


def spent(reading: RunReading) -> list[Row]:
    """Requests and tokens by methodology, phase, arm and purpose, as the budget counts them."""
    return [{str(key): value for key, value in row.items()} for row in reading.spent().to_dict("records")]


def spent_by_model(reading: RunReading) -> list[Row]:
    """The same by model, where several answered, with today's price of each (US dollars a million tokens, of input and
    of output); None where it is unknown."""
    table = reading.spent_by_model()
    if len(table) < 2:
        return []
    record = reading.record
    prices = Prices.read(Environment.read().prices, batch=record.batch)
    priced = price_of(record, prices, LOCAL_URL if record.weights else record.base_url or OPENAI_URL)
    return [
        {**{str(key): value for key, value in row.items()}, "price": priced(str(row["model"]))}
        for row in table.to_dict("records")
    ]


def missing(reading: RunReading, stages: Stages, findings: Findings) -> dict[str, Words]:
    """Methodologies without findings, by name: not begun, failed before a row was planned, or stopped by a bug."""
    bugs = {bug.methodology: bug.error for bug in findings.bugs}
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


def problems(reading: RunReading, frame: pd.DataFrame, stages: Stages, findings: Findings) -> Iterator[Words]:
    """The run's own troubles, those of answers first."""
    counted, going_on = frame["status"].value_counts(), unfinished(reading, frame)
    total = str(len(frame) if not going_on else len(frame) - counted.get("not_reached", 0))
    for status, text in _GAPS.items():
        if status == "not_reached" and going_on:
            yield _NOT_ALL
        elif counted.get(status):
            yield marked(text, n=str(counted[status]), total=total)
    yield from _memoryless(reading, frame)
    yield from _stages(reading, stages)
    yield from _bugs(reading, findings)
    yield from _requests(reading)
    yield from notices(reading)


def _memoryless(reading: RunReading, frame: pd.DataFrame) -> Iterator[Words]:
    reconstructed = int(frame["baseline"].eq("reconstructed").sum())
    if reconstructed:
        text = N_("{n} of {total} rows belong to a reconstructed T0.")
        yield marked(text, n=str(reconstructed), total=str(len(frame)))
    remembering, total = with_memory(reading, frame)
    if remembering < total and any(phase == "T1" for _, phase in reading.stages):
        text = N_("{n} of {total} agents had no readable memory at T1.")
        yield marked(text, n=str(total - remembering), total=str(total))


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
    return reading.methodology(name).title if name in reading.record.methods else N_("Synthesis")


def _bugs(reading: RunReading, findings: Findings) -> Iterator[Words]:
    names = {who.id: who.name for who in reading.population}
    for bug in [*(failure for failure in reading.ledger.failures() if failure.unit != UNIT), *findings.bugs]:
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


# --- Limitations of a run, generated from what it was: each line follows from its metadata or its table ---------------

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
    return [
        *_about_respondents(reading, asked), *_about_memory(reading, frame), *_about_change(reading, results),
        *_about_shape(reading, health), *_about_samples(reading, results, health),
        *_about_numbers(reading, frame, asked, partial=partial),
    ]  # fmt: skip


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
        yield texts["model"].format(model=escape(", ".join(asked.models) or main.model))
        yield texts["confidence"]
    n, kinds = number(len(asked.agents), reading.language), number(len(asked.models), reading.language)
    yield (texts["inference_of_models"] if asked.models else texts["inference"]).format(n=n, models=kinds)
    if main.respondent == "llm" and main.temperature:
        yield texts["temperature"].format(t=number(main.temperature, reading.language, 1))


def _about_memory(reading: RunReading, frame: pd.DataFrame) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    remembering, total = with_memory(reading, frame)
    if not remembering:
        yield texts["no_digest"]
        return
    yield texts["digest"].format(chars=number(record.digest_chars, reading.language))
    if remembering < total:
        weight = number(record.memoryless_weight, record.language, 1)
        without, of = number(total - remembering, record.language), number(total, record.language)
        yield texts["memoryless"].format(n=without, total=of, w=weight)


def _about_change(reading: RunReading, results: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    if reading.idle:
        yield texts["idle"]
    elif record.baseline == "reconstructed":
        yield texts["reconstructed"]
    elif record.baseline == "measured" and record.actions_at_start:
        yield texts["actions"].format(n=number(record.actions_at_start, reading.language))
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
        ends=share(ends, language), midpoint=share(midpoint, language), n=number(int(n), language)
    )


def _about_samples(
    reading: RunReading, results: Mapping[str, Mapping[str, JsonValue]], health: Health
) -> Iterator[str]:
    """What compares agents with one another, and was computed on some of them."""
    texts, language = in_language(LIMITS, reading.language), reading.language
    listed = [
        (tell(sample.what, language), "of_agents", sample.most, of)
        for name, result in results.items()
        for sample in evaluation(reading.methodology(name)).presentation.samples
        if isinstance(of := result.get(sample.of), int) and of > sample.most
    ]
    listed += [(check.what(language), *drawn) for check in health.checks if (drawn := _drawn(check))]
    if listed:
        parts = dict.fromkeys(
            texts[word].format(what=what, most=number(most, language), n=number(n, language))
            for what, word, most, n in listed
        )
        yield texts["sampled"].format(parts="; ".join(parts))


def _drawn(check: HealthCheck) -> tuple[str, int, int] | None:
    """How many of how many agents a check looked at, or at how many pairs of them; None where at all."""
    detail, most = check.found.detail, check.found.detail.get("agents_drawn")
    if detail.get("sampled"):
        return "of_pairs", MOST_PAIRS, check.found.n
    if isinstance(most, int) and most < check.found.n:
        return "of_agents", most, check.found.n
    return None


def _about_numbers(reading: RunReading, frame: pd.DataFrame, asked: TookPart, *, partial: bool) -> Iterator[str]:
    record, texts = reading.record, in_language(LIMITS, reading.language)
    counted = {
        name: number(n, reading.language) for name, n in (("responded", len(responded(frame))), ("rows", len(frame)))
    }
    if partial:
        yield texts["n_so_far"].format(who=asked.told(reading.language), **counted)
    elif asked.people:
        yield texts["n_people"].format(who=asked.told(reading.language), **counted)
    else:
        yield texts["n"].format(n=number(len(asked.agents), reading.language), **counted)
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
