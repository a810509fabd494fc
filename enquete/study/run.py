"""A run as its user holds it: status, data, results, report, and where it stands. Read from the ledger; asks nobody."""

from __future__ import annotations

import html
import importlib
import sys
import time
import warnings
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from enquete.ledger import queries
from enquete.ledger.budget import Budget, Claim, rounded_up
from enquete.ledger.deviations import Deviations, read_deviations
from enquete.ledger.drives import require_writable
from enquete.ledger.entries import usage
from enquete.ledger.folders import StoredRun, is_held, read_run
from enquete.ledger.record import RunRecord
from enquete.locale import languages, tell
from enquete.models.prices import OPENAI_URL, Prices
from enquete.reports.run_reading import RunReading, open_run, read_result
from enquete.runs.planning import claims, closed, largest_call, planned, rounds_owed
from enquete.runs.run_session import spent_usd
from enquete.state.asking import RESPONDED
from enquete.state.errors import SettingsError
from enquete.state.request import DEFAULT_MAX_TOKENS, FORMATS, LAYOUTS, FileFormat, Layout
from enquete.state.settings import LOCAL_URL, Environment

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from enquete.reports.charts import Picture


Status = Literal["completed", "awaiting_simulation", "waiting", "paused", "failed"]


ENDED = ("done", "failed")
"""Outcomes of a stage after which no answer comes."""
EXIT_CODES: Mapping[str, int] = {"completed": 0, "failed": 1, "paused": 3, "awaiting_simulation": 4, "waiting": 4}


MEMBERS = (
    "status", "note", "run_id", "resume_token", "path", "responses", "all_responses", "wide", "agents", "tables",
    "results", "findings", "flags", "page_one",
    "brief", "report", "figures", "figure", "export", "stages", "spent", "spent_usd",
)  # fmt: skip
"""What `dir(run)` and a notebook's completion show. Everything else is for the interfaces and may change."""


ACROSS = "across"
"""In place of a methodology, of a finding that joins several."""


@dataclass(frozen=True)
class RunFinding:
    """One finding of a run.

    Attributes:
        text: The sentence, in the run's language.
        methodology: Whose finding it is; "across" where it joins several.
        kind: Whether it is a tested difference, a position with its uncertainty, or a test that found nothing.
        estimate, low, high: With its interval; None where it has none.
        p: Of the test, adjusted for how many were made; None where none was needed.
        test: Its name.
        n, n_total: Agents whose answers it rests on, of how many.
        exploratory: Whether it tests a question that is not one of the study's primary ones.
        items: Whose answers it rests on, by item id.
    """

    text: str
    methodology: str
    kind: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    test: str
    n: int
    n_total: int
    exploratory: bool
    items: tuple[str, ...]

    @classmethod
    def of(cls, methodology: str, row: Mapping[str, Any]) -> RunFinding:
        """Read a finding as page_one.json has it."""
        return cls(
            text=row["text"], methodology=row.get("methodology") or methodology, kind=row["kind"],
            estimate=row["estimate"], low=row["low"], high=row["high"], p=row["p"], test=row["test"], n=row["n"],
            n_total=row["n_total"], exploratory=row["exploratory"], items=tuple(row["items"]),
        )  # fmt: skip


class Run:
    """A run that was driven to its end or its next stop.

    status, note: completed, awaiting_simulation, waiting, paused or failed, and why
    run_id, resume_token, path: its name; what `resume` goes on with; the folder with report.md and exports/
    responses: one row per answer of the main arm, a DataFrame
    all_responses: the same of every arm (respondent B, probes, replicates …), told apart by `arm` and `arm_role`
    wide, agents: one row per agent, DataFrames: all closed answers; what was found of it, and its covariates
    tables: the tables of the methodologies by name, DataFrames
    results: what was found by methodology, as JSON values
    findings: what was found, a RunFinding each: text, methodology, estimate, low, high, p, n, n_total, items
    flags: what a reader must know before using the data
    page_one, brief, report: page one of the report as data and as Markdown; all of it, Markdown
    figures, figure(name): names of the figures there are; one of them, to be shown or saved
    export(*formats): answers, agents and tables as files: csv, parquet, sav (SPSS), xlsx
    stages, spent, spent_usd: every methodology and phase; tokens, calls and answers by status; US dollars
    """

    def __dir__(self) -> list[str]:
        return list(MEMBERS)

    def __init__(self, source: Path | StoredRun, *, resumed: bool = False, shown: bool = False):
        """`source`: its folder, or as it was read there a moment ago. `resumed`: an unfinished run was gone on with;
        `shown`: a finished one was found, no call was made."""
        stored = source if isinstance(source, StoredRun) else read_run(source)
        self.folder = stored.folder
        self.resumed = resumed
        self.shown = shown
        self.record: RunRecord = stored.record
        self.note = stored.note
        # Checked.
        self.status: Status = stored.status if stored.status in EXIT_CODES else "paused"  # type: ignore[assignment]

    @property
    def run_id(self) -> str:
        """Its name, and that of its folder."""
        return self.record.run_id

    @property
    def resume_token(self) -> str | None:
        """Give it to `resume`; None once the run is completed."""
        return None if self.status == "completed" else self.record.token

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.status]

    @property
    def path(self) -> Path:
        """The folder with report.md and exports/."""
        return self.folder.parent.parent / "synthesis" / self.run_id

    @cached_property
    def responses(self) -> pd.DataFrame:
        """One row per answer of the main arm, columns as in all_responses.csv."""
        every = self.all_responses
        return every[every["arm_role"].eq("main")].reset_index(drop=True)

    @cached_property
    def all_responses(self) -> pd.DataFrame:
        """One row per answer of every arm, as all_responses.csv has them; `arm` and `arm_role` tell them apart."""
        from enquete.reports.gaps import GapLog  # noqa: PLC0415 - as the next
        from enquete.reports.responses import responses  # noqa: PLC0415 - tables are slow to import

        log = GapLog(self.folder)
        with open_run(self.folder) as reading:
            table = responses(reading, planned(self.record), log=log)
        for gap in log.gaps:
            warnings.warn(tell(gap.told(gap.methodology), "en"), IncompleteExportWarning, stacklevel=2)
        return table

    @cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        from enquete.reports.synthesis import data_frames  # noqa: PLC0415 - analyses are slow to import

        return data_frames(self.folder, planned(self.record), partial=self.status != "completed")

    @property
    def agents(self) -> pd.DataFrame:
        """One row per agent, as agents.csv: who it is, what each methodology found of it, its covariates with their
        types."""
        return self._frames["agents"]

    @property
    def wide(self) -> pd.DataFrame:
        """One row per agent, as wide.csv: covariates first, then every closed answer of all methodologies and rounds in
        the order of the questionnaire; main arm."""
        return self._frames["wide"]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of all methodologies by the names of their files, such as tables["delphi.ratings"]."""
        others = ("agents", "wide", "all_responses")
        return {
            name: frame for name, frame in self._frames.items() if name not in others and not name.endswith(".long")
        }

    @cached_property
    def results(self) -> dict[str, Any]:
        """Findings by methodology."""
        from enquete.reports.synthesis import load_results  # noqa: PLC0415 - analyses are slow to import

        return load_results(self.folder)

    def early_results(self, methodology: str) -> dict[str, Any]:
        """Findings of a methodology that is done while others go on, from the ledger; {} where it is not. Checks of
        instrument health, and what crosses methodologies, come with the run's next stop."""
        from enquete.reports.analyses import early_findings  # noqa: PLC0415 - analyses are slow to import

        return early_findings(self.folder, planned(self.record), methodology)

    @property
    def flags(self) -> list[str]:
        """What a reader must know before using the data. While the run goes on, earlier findings hold no more."""
        flags = list(self.record.notices)
        if self.is_driven:
            return flags
        for findings in self.results.values():
            if isinstance(findings, dict):
                flags += [str(flag) for flag in findings.get("flags", [])]
        return list(dict.fromkeys([*flags, *self._summary_flags]))

    @cached_property
    def _summary_flags(self) -> list[str]:
        """Those of the run's memory among them."""
        from enquete.reports.synthesis import load_summary  # noqa: PLC0415 - analyses are slow to import

        flags = load_summary(self.folder).get("flags")
        return [str(flag) for flag in flags] if isinstance(flags, list) else []

    @property
    def missing(self) -> list[str]:
        """What the report lacks because the code of one methodology failed, as it was last written."""
        from enquete.reports.synthesis import load_summary  # noqa: PLC0415 - analyses are slow to import

        gaps = load_summary(self.folder).get("gaps")
        return [str(gap["says"]) for gap in gaps if isinstance(gap, dict)] if isinstance(gaps, list) else []

    @property
    def page_one(self) -> dict[str, Any]:
        """Page one of the report as data: title, question, what was asked of whom, findings, whether the data can be
        used, and up to ten findings of every methodology; {} before the first stop."""
        return read_result(self.path / "page_one.json")

    @property
    def findings(self) -> list[RunFinding]:
        """What was found, by methodology, the most telling first; those that join methodologies come first."""
        page = self.page_one
        rows = [(ACROSS, row) for row in page.get("across", ())]
        for part in page.get("methodologies", ()):
            rows += [(str(part["methodology"]), row) for row in part["findings"]]
        return [RunFinding.of(name, row) for name, row in rows]

    @property
    def brief(self) -> str:
        """Page one, Markdown; "" before the first stop."""
        file = self.path / "page_one.md"
        return file.read_text("utf-8") if file.is_file() else ""

    @property
    def report(self) -> str:
        """Markdown; "" before the first stop."""
        file = self.path / "report.md"
        return file.read_text("utf-8") if file.is_file() else ""

    @cached_property
    def standing(self) -> RunStanding:
        """Stages, costs, caps and failures, read at one moment; readable while another process drives the run."""
        with open_run(self.folder) as reading:
            return stand(reading, driven=self.is_driven)

    @property
    def is_unfinished(self) -> bool:
        """Whether answers may still come. A run whose report failed has all of them."""
        if self.status != "failed":
            return self.status != "completed"
        return any(stage.outcome not in ENDED for stage in self.stages)

    @property
    def stages(self) -> list[StageStatus]:
        """Every planned methodology and phase."""
        return self.standing.stages

    @property
    def spent(self) -> dict[str, int]:
        """Tokens, settled calls, and answers by status."""
        return self.standing.counts

    @property
    def spent_usd(self) -> float | None:
        """US dollars by today's prices; None where a price is unknown."""
        return self.standing.usd

    @property
    def unsent(self) -> tuple[int, str]:
        """How many episodes the run's graph had not got at its last stop, and why; see `sync_memory`."""
        told = read_result(self.folder / "memory.json")
        left = told.get("left")
        return (len(left) if isinstance(left, list) else 0), str(told.get("why", ""))

    @cached_property
    def sent_otherwise(self) -> Deviations:
        """What was sent otherwise than asked for, by model: None where a field was left out."""
        with open_run(self.folder) as reading:
            return read_deviations(reading.ledger)

    @property
    def is_driven(self) -> bool:
        """Whether a process is driving this run right now."""
        return is_held(self.folder)

    @property
    def agent_ids(self) -> Mapping[str, int | None]:
        """The simulation's own index, by participant; None for who is none of its agents."""
        with open_run(self.folder) as reading:
            return {who.id: who.agent_id for who in reading.population}

    @cached_property
    def complete(self) -> Mapping[tuple[str, str], int]:
        """Agents of the main arm who owe nothing more and whose every answer is usable, by (methodology, phase)."""
        with open_run(self.folder) as reading:
            return {stage: complete(reading, *stage) for stage in planned(self.record)}

    def summary(self) -> dict[str, Any]:
        """One JSON object: what --json prints."""
        return {
            "run_id": self.run_id, "sim_id": self.record.sim_id, "status": self.status, "note": self.note,
            "resumed": self.resumed, "shown": self.shown, "resume_token": self.resume_token,
            "methods": list(self.record.methods), "respondent": self.record.main.respondent,
            "model": self.record.main.model, "language": self.record.language, "counts": self.spent,
            "path": str(self.path),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Run({self.run_id}, {self.status}, {self.spent.get('calls', 0)} calls, {self.path})"

    @cached_property
    def drawn(self) -> list[Picture]:
        """Every figure of methodologies, instrument health, replicates, respondent B; none before the first stop."""
        from enquete.reports.pictures import read  # noqa: PLC0415 - charts are slow to import

        return [picture for picture in read(self.path) if picture.at != "page_one"]

    @property
    def figures(self) -> list[str]:
        """Names that `figure` takes."""
        return [each.name for each in self.drawn]

    def figure(self, name: str) -> alt.TopLevelMixin:
        """An Altair chart, to be shown, changed or saved: "delphi/ranking", or the first of a methodology, "delphi".

        Raises InputError where there is none of that name.
        """
        from enquete.reports.charts import chosen  # noqa: PLC0415 - slow to import

        return chosen(name, self.drawn).chart()

    def export(
        self,
        *formats: FileFormat,
        to: str | Path | None = None,
        layout: Layout = "both",
        bom: bool = False,
        language: str = "",
        by: str = "",
    ) -> list[Path]:
        """Write the data as files that people open, and give their paths: run.export("sav", "xlsx", to="data").

        Every format gets a folder of its own below `to` (exports/ of the run unless named), with a datapackage.json
        that says what every column means: answers, agents, items, and the tables of each methodology. Written from the
        ledger; nobody is asked.

        layout: "long" has a row an answer (all_responses), "wide" a row an agent and a column an item, a file for every
        methodology, phase and round; "both" has both, and each methodology's answers apart.
        bom: CSV with the mark by which Excel knows UTF-8. language: of labels, where it is not that of the interviews.
        by: the persona column that agents are compared by, as in `enquete.export`.

        Where the code of one methodology fails, everything else is written, and an IncompleteExportWarning names what
        is missing.

        Raises SettingsError for a word that is none of these or a folder that cannot be written to, InputError where a
        format cannot hold a table, LedgerError.
        """
        from enquete.reports.synthesis import export_files  # noqa: PLC0415 - analyses are slow to import

        _require("format", formats or ("",), FORMATS)
        _require("layout", (layout,), LAYOUTS)
        _require("language", (language or self.record.language,), languages())
        folder = self.path / "exports" if to is None else Path(to).expanduser()
        require_writable(folder, "name another folder for the files: to=FOLDER, --to FOLDER")
        written = export_files(
            self.folder, formats, folder, layout=layout, bom=bom, partial=self.is_unfinished,
            language=language, by=by
        )  # fmt: skip
        warn_of_gaps(written.gaps)
        return written.paths

    def _repr_html_(self) -> str:
        report = str(self.path / "report.md") if self.report else ""
        return table(self.summary(), self.stages, self.flags, report, self.page_one)

    def _ipython_display_(self) -> None:
        show(self._repr_html_, lambda: leading(self.drawn))


class IncompleteExportWarning(UserWarning):
    """Something of a methodology is missing from files that were written, because its code failed."""


def warn_of_gaps(gaps: Iterable[str]) -> None:
    """Warn whoever called the function that calls this one, a warning a gap."""
    for gap in gaps:
        warnings.warn(gap, IncompleteExportWarning, stacklevel=3)


def _require(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for word in given:
        if word not in known:
            raise SettingsError(f"{what}: {word!r} is none; there are {', '.join(known)}")


# --- Where a run stands: how far each stage is, what it has cost, what is likely to come, which cap holds, what failed


@dataclass(frozen=True)
class StageStatus:
    """How far one methodology got in one phase. `counts`: calls, tokens, answers_ok, … over all arms and rounds."""

    methodology: str
    phase: str
    outcome: str  # done, short, waiting, failed, running or not started
    note: str
    counts: Mapping[str, int]
    responded: int  # agents of the main arm with at least one usable answer
    total: int
    rounds: Mapping[int, int] = field(
        default_factory=dict
    )  # agents of the main arm with an answer, usable or not, by round

    @property
    def answers(self) -> dict[str, int]:
        """By status (ok, repaired, refused, invalid, failed), of those that there are."""
        return answers_in(self.counts)


def answers_in(counts: Mapping[str, int]) -> dict[str, int]:
    """Answers by status, in the order of how usable they are."""
    order = ("ok", "repaired", "refused", "invalid", "failed")
    return {status: counts[f"answers_{status}"] for status in order if counts.get(f"answers_{status}")}


@dataclass(frozen=True)
class RunStanding:
    """Tokens, US dollars and answers. None: not known."""

    stages: list[StageStatus]
    counts: dict[str, int]  # tokens, calls, and answers by status, of everything
    usage: tuple[int, int]  # tokens read and written by models, without allowances for calls whose usage is unknown
    usd: float | None
    asks_model: bool  # else nothing is paid
    outlook: Mapping[str, Claim]  # by claim on the budget (docs/budget.md)
    cap_tokens: int
    cap_usd: float | None
    largest: int  # tokens that a request reserves at most, by the estimate and by those so far
    failed: int  # answers that can be asked for once more
    failed_closed: int  # in rounds whose feedback has been given since: they are not asked again
    failures: list[str]  # one line a caught bug
    calls_per_s: float | None  # of late, over all processes; None while nobody drives the run, or it has just begun

    @property
    def answers(self) -> dict[str, int]:
        return answers_in(self.counts)

    @property
    def spent(self) -> int:
        return self.counts.get("tokens", 0)

    @property
    def expected(self) -> int | None:
        """Tokens that the run is likely to have cost in the end; None where nothing was estimated."""
        return Budget(0, self.spent, claims=self.outlook).expected

    @property
    def paid_usd(self) -> float | None:
        """None where no model is paid, or one's price is unknown."""
        return self.usd if self.asks_model else None

    @property
    def expected_usd(self) -> float | None:
        """By what a token has cost so far."""
        if self.paid_usd is None or self.expected is None or not self.spent:
            return None
        return self.paid_usd * self.expected / self.spent

    @property
    def enough_tokens(self) -> int:
        """A cap to finish under: what is likely, by the estimate or by the calls so far, whichever is more, and room
        for the largest request, because what is reserved for one is far more than it uses."""
        expected = self.expected is not None
        likely = self.spent + (sum(claim.at_most for claim in self.outlook.values()) if expected else self.spent)
        return rounded_up((likely + self.largest) / 0.95)  # up to a twentieth is held for the narrative

    @property
    def enough_usd(self) -> float | None:
        """The same in money; half as much again, since replies cost more than questions do. None: not known."""
        if not self.paid_usd or not self.spent:
            return None
        return rounded_up(150 * self.paid_usd * self.enough_tokens / self.spent) / 100

    def remaining(self, methodology: str, phase: str) -> int | None:
        """Tokens that a stage is still likely to need, its probes included; None where nothing was estimated."""
        claims = [self.outlook.get(f"{methodology}/{phase}{rest}") for rest in ("", "/probes")]
        known = [claim for claim in claims if claim is not None and claim.likely]
        return sum(claim.remaining for claim in known) if known else None


def complete(run: RunReading, name: str, phase: str) -> int:
    """Agents of the main arm who owe nothing more and whose every answer is usable."""
    from enquete.reports.responses import undetermined  # noqa: PLC0415 - tables are slow to import

    main, procedure = run.record.main.id, run.procedure(name)
    usable = array("q")  # keys by their hashes: those of a large study would fill the memory
    agents, lacking = set[str](), undetermined(run, name, phase)
    for *key, is_usable in run.ledger.stream(queries.USABLE, (main, name, phase)):
        agents.add(key[3])
        if is_usable:
            usable.append(hash(tuple(key)))
        else:
            lacking.add(key[3])
    usable = array("q", sorted(usable))
    context = run.interview_context(name, phase, run.record.main)
    for number in rounds_owed(procedure.rounds, context):
        for unit in procedure.units(number, context):
            has_bug = (main, name, phase, number, unit) in run.failed_units
            with suppress(Exception) if has_bug else nullcontext():  # which may keep it from saying what it owes
                for block in procedure.blocks(unit, number, context):
                    k = block.key
                    agents.add(k.participant)
                    keys = (hash((k.session, k.round, k.turn, k.participant, item.id)) for item in block.items)
                    if not all(_holds(usable, key) for key in keys):
                        lacking.add(k.participant)
    return len(agents - lacking)


def _holds(ordered: Sequence[int], number: int) -> bool:
    place = bisect_left(ordered, number)
    return place < len(ordered) and ordered[place] == number


def stand(run: RunReading, *, driven: bool) -> RunStanding:
    """`driven`: whether a process drives it right now."""
    record, ledger, environment = run.record, run.ledger, Environment.read()
    used = usage(ledger.read, set(record.carried)).values()
    noted, noted_usd = ledger.noted("cap_tokens"), ledger.noted("cap_usd")
    (largest,) = ledger.read(queries.LARGEST).fetchone()
    url = LOCAL_URL if record.weights else record.base_url or environment.base_url or OPENAI_URL
    failed, failed_closed = _failed(run)
    return RunStanding(
        stages=_stages(run, driven),
        counts=_summed(run, lambda methodology, phase: True),
        usage=(sum(call.read for call in used), sum(call.written for call in used)),
        usd=spent_usd(ledger, record, Prices.read(environment.prices), url),
        asks_model=not record.replay_of and record.asks_model,
        outlook=claims(record, ledger, int(noted or DEFAULT_MAX_TOKENS)),
        cap_tokens=int(noted) if noted else environment.max_tokens,
        cap_usd=float(noted_usd) if noted_usd else None,
        largest=max(int(largest), int(ledger.noted("refused") or 0), largest_call(ledger)),
        failed=failed,
        failed_closed=failed_closed,
        failures=[f"{f.methodology} {f.phase} round {f.round} {f.unit}: {f.error}" for f in ledger.failures()],
        calls_per_s=calls_per_s(ledger.read, time.time()) if driven else None,
    )


LATEST_CALLS, SOON_S = 500, 2.0


def calls_per_s(read: Callable[..., Any], now: float) -> float | None:
    """Since the first of the last LATEST_CALLS was settled, so that it falls while nothing comes back; None where that
    is less than SOON_S ago. now: seconds since 1970."""
    calls, first_ms = read(queries.LATEST_SETTLED, (LATEST_CALLS,)).fetchone()
    elapsed = now - first_ms / 1000
    return (calls - 1) / elapsed if calls > 1 and elapsed >= SOON_S else None


def _stages(run: RunReading, driven: bool) -> list[StageStatus]:
    """Every planned methodology and phase."""
    stages = run.ledger.stages()
    rows = run.ledger.read(queries.RESPONDED, (run.record.main.id,)).fetchall()
    responded = {(methodology, phase): n for methodology, phase, n in rows}
    rounds: dict[tuple[str, str], dict[int, int]] = {}
    for methodology, phase, number, n in run.ledger.read(queries.ROUNDS, (run.record.main.id,)).fetchall():
        rounds.setdefault((methodology, phase), {})[number] = n
    statuses = []
    for stage in planned(run.record):
        counts = _summed(run, lambda *its, stage=stage: its == stage)
        filed = stages.get(stage)
        outcome = _outcome(filed.outcome if filed else "", counts, driven)
        note = filed.note if filed and outcome != "running" else ""
        there = dict(sorted(rounds.get(stage, {}).items()))
        statuses.append(StageStatus(*stage, outcome, note, counts, responded.get(stage, 0), _seats(run, *stage), there))
    return statuses


def _seats(run: RunReading, methodology: str, phase: str) -> int:
    """Whom the main arm asks. Everybody, without looking, unless agents are seated together."""
    if not run.methodology(methodology).procedure.seats_together:
        return len(run.population)
    return len(run.procedure(methodology).seated(run.interview_context(methodology, phase, run.record.main)))


def _outcome(filed: str, counts: Mapping[str, int], driven: bool) -> str:
    """As filed at its end. What has begun without one is under way, or was broken off with its process."""
    if driven and filed in ("", "short") and counts.get("calls"):
        return "running"
    return filed or ("short" if counts.get("calls") else "not started")


def _summed(run: RunReading, wanted: Callable[[str, str], bool]) -> dict[str, int]:
    """Counters by name, over everything wanted."""
    names: dict[str, int] = {}
    for (_, methodology, phase, _, name), value in run.ledger.counters().items():
        if wanted(methodology, phase):
            names[name] = names.get(name, 0) + value
    return names


def _failed(run: RunReading) -> tuple[int, int]:
    """Failed answers of rounds that are open, and of rounds that are not any more."""
    still, over = 0, 0
    for arm, methodology, phase, number, n in run.ledger.read(queries.FAILED).fetchall():
        is_over = run.ledger.pinned(arm, methodology, phase, closed(number)) == "next"
        still, over = (still, over + n) if is_over else (still + n, over)
    return still, over


# --- How a run shows itself in a notebook: a table of its stages, then the figure of each methodology.

HEAD = ("methodology", "phase", "state", "agents answered", "answers", "not usable", "tokens")
SYNTHETIC = "Synthetic answers: no language model was asked. They test the instrument and the program."
SIMULATED = (
    "Simulated respondents: {model} answered in the roles of the agents. Only where a seat was given to a person did "
    "one answer."
)


def leading(pictures: Sequence[Picture]) -> list[Picture]:
    """The first of each methodology."""
    first: dict[str, Picture] = {}
    for picture in pictures:
        first.setdefault(picture.name.partition("/")[0], picture)
    return list(first.values())


def show(page: Callable[[], str], drawn: Callable[[], Sequence[Picture]]) -> None:
    """Table and figures as outputs of a notebook's cell. Raises NotImplementedError outside a notebook."""
    if not in_notebook():
        raise NotImplementedError  # IPython then prints repr(run)
    notebook = importlib.import_module("IPython.display")  # there, because this is a notebook
    notebook.display(notebook.HTML(page()))
    for picture in drawn():
        notebook.display(notebook.SVG(picture.svg()))


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel, not a script or IPython in a terminal. Imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def table(
    summary: Mapping[str, Any],
    stages: Sequence[StageStatus],
    flags: Sequence[str],
    report: str,
    page: Mapping[str, Any],
) -> str:
    """HTML: page one's findings, the run (`Run.summary`), one row a stage, who answered, what to mind, the report."""
    rows = [
        (
            stage.methodology, stage.phase,
            stage.outcome if stage.outcome == "done" else f"{stage.outcome} {stage.note}".strip(),
            f"{stage.responded} of {stage.total}", *_answers(stage.answers), f"{stage.counts.get('tokens', 0):,}",
        )
        for stage in stages
    ]  # fmt: skip
    kind = SYNTHETIC if summary["respondent"] == "synthetic" else SIMULATED.format(model=summary["model"])
    head = [
        f"<b>{_text(summary['run_id'])}</b> of {_text(summary['sim_id'])}: <b>{_text(summary['status'])}</b>",
        _text(summary["note"]),
        _text(f"resume token: {summary['resume_token']}" if summary["resume_token"] else ""),
    ]
    foot = [
        f"<i>{_text(kind)}</i>",
        *(f"⚑ {_text(flag)}" for flag in flags),
        _text(f"report: {report}" if report else ""),
    ]
    return f"<div>{_found(page)}{_lines(head)}{_rows(rows)}{_lines(foot)}</div>"


def _found(page: Mapping[str, Any]) -> str:
    """Title and findings."""
    if not page:
        return ""
    sentences = "".join(f"<li>{_text(finding['text'])}</li>" for finding in page["findings"])
    return f"<h3>{_text(page['title'])}</h3><p>{_text(page['asked'])}</p><ol>{sentences}</ol>"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"<div>{line}</div>" for line in lines if line)


def _answers(by_status: Mapping[str, int]) -> tuple[str, str]:
    """Usable answers, and the others by what became of them."""
    usable = sum(n for status, n in by_status.items() if status in RESPONDED)
    rest = [f"{n:,} {status}" for status, n in sorted(by_status.items()) if status not in RESPONDED]
    return f"{usable:,}", ", ".join(rest) or "0"


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    def line(tag: str, cells: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align:left'>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table><thead>{line('th', HEAD)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def _text(value: object) -> str:
    return html.escape(str(value))
