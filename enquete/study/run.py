"""A run as its user holds it: status, data, results, report. Read from the ledger; nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from enquete.checkpoints.batch_jobs import waited_for
from enquete.checkpoints.drives import require_writable
from enquete.checkpoints.folders import StoredRun, is_held, read_run
from enquete.checkpoints.record import RunRecord
from enquete.locale import languages
from enquete.nodes.planning import planned
from enquete.reports.run_reading import open_run, read_result
from enquete.state.data_formats import FORMATS, LAYOUTS, FileFormat, Layout
from enquete.state.errors import SettingsError
from enquete.study.display import leading, show, table
from enquete.study.run_status import RunStanding, StageStatus, complete, stand

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from enquete.reports.charts import Picture

Status = Literal["completed", "awaiting_simulation", "waiting", "paused", "failed"]


EXIT_CODES: Mapping[str, int] = {"completed": 0, "failed": 1, "paused": 3, "awaiting_simulation": 4, "waiting": 4}


MEMBERS = (
    "status", "note", "run_id", "resume_token", "path", "responses", "results", "flags", "page_one", "brief", "report",
    "figures", "figure", "export", "stages", "spent", "spent_usd",
)  # fmt: skip
"""What `dir(run)` and a notebook's completion show. Everything else is for the interfaces and may change."""


class Run:
    """A run that was driven to its end or its next stop.

    status, note: completed, awaiting_simulation, waiting, paused or failed, and why
    run_id, resume_token, path: its name; what `resume` goes on with; the folder with report.md and exports/
    responses, results: one row per answer, a DataFrame; findings by methodology, as JSON values
    flags: what a reader must know before using the data
    page_one, brief, report: page one of the report as data and as Markdown; all of it, Markdown
    figures, figure(name): names of the figures there are; one of them, to be shown or saved
    export(*formats): answers, agents and tables as files: csv, parquet, sav (SPSS), xlsx
    stages, spent, spent_usd: every methodology and phase; tokens, calls and answers by status; US dollars
    """

    def __dir__(self) -> list[str]:
        return list(MEMBERS)

    def __init__(self, found: Path | StoredRun, *, resumed: bool = False, shown: bool = False):
        """`found`: its folder, or as it was read there a moment ago. `resumed`: an unfinished run was gone on with; `shown`:
        a finished one was found, no call was made."""
        stored = found if isinstance(found, StoredRun) else read_run(found)
        self.folder = stored.folder
        self.resumed = resumed
        self.shown = shown
        self.record: RunRecord = stored.record
        self.note = stored.note
        self.status: Status = stored.status if stored.status in EXIT_CODES else "paused"  # type: ignore[assignment]  # checked

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
        """One row per answer, columns as in all_responses.csv."""
        from enquete.reports.responses import responses  # noqa: PLC0415 - tables are slow to import

        with open_run(self.folder) as reading:
            return responses(reading, planned(self.record))

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
        """What a reader must know before using the data. While the run goes on, what was found at an earlier stop holds no more."""
        found = list(self.record.notices)
        if self.is_driven:
            return found
        for findings in self.results.values():
            if isinstance(findings, dict):
                found += [str(flag) for flag in findings.get("flags", [])]
        return list(dict.fromkeys([*found, *self._summary_flags]))

    @cached_property
    def _summary_flags(self) -> list[str]:
        """Those of the run's memory among them."""
        from enquete.reports.synthesis import load_summary  # noqa: PLC0415 - analyses are slow to import

        flags = load_summary(self.folder).get("flags")
        return [str(flag) for flag in flags] if isinstance(flags, list) else []

    @property
    def page_one(self) -> dict[str, Any]:
        """Page one of the report as data: title, question, what was asked of whom, findings, whether the data can be used, and up to
        ten findings of every methodology; {} before the first stop."""
        return read_result(self.path / "page_one.json")

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
    def stages(self) -> list[StageStatus]:
        """Every planned methodology and phase."""
        return self.standing.stages

    @property
    def spent(self) -> dict[str, int]:
        """Tokens, settled calls, and answers by status."""
        return self.standing.counts

    @property
    def usage(self) -> tuple[int, int]:
        """Tokens read and written by models, without allowances for calls whose usage is unknown."""
        return self.standing.usage

    @property
    def spent_usd(self) -> float | None:
        """US dollars by today's prices; None where a price is unknown."""
        return self.standing.usd

    @property
    def expected_tokens(self) -> int | None:
        """What the run is likely to have cost in the end; None where nothing was estimated."""
        return self.standing.expected

    @property
    def failed_answers(self) -> int:
        """Answers that failed and can be asked for once more."""
        return self.standing.failed

    @property
    def failures(self) -> list[str]:
        """One line a caught bug."""
        return self.standing.failures

    @property
    def unsent(self) -> tuple[int, str]:
        """How many episodes the run's graph had not got at its last stop, and why; see `sync_memory`."""
        told = read_result(self.folder / "memory.json")
        left = told.get("left")
        return (len(left) if isinstance(left, list) else 0), str(told.get("why", ""))

    @cached_property
    def waits_for(self) -> str:
        """Batches that stand at the provider, and how far they are; "" where there are none."""
        with open_run(self.folder) as reading:
            return waited_for(reading.ledger)

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
            "run_id": self.run_id,
            "sim_id": self.record.sim_id,
            "status": self.status,
            "note": self.note,
            "resumed": self.resumed,
            "shown": self.shown,
            "resume_token": self.resume_token,
            "methods": list(self.record.methods),
            "respondent": self.record.main.respondent,
            "model": self.record.main.model,
            "language": self.record.language,
            "counts": self.spent,
            "path": str(self.path),
        }

    def __repr__(self) -> str:
        return f"Run({self.run_id}, {self.status}, {self.spent.get('calls', 0)} calls, {self.path})"

    @cached_property
    def drawn(self) -> list[Picture]:
        """Every figure of the methodologies, of instrument health, of replicates and of respondent B; none before the first stop."""
        from enquete.reports.pictures import read  # noqa: PLC0415 - charts are slow to import

        return [one for one in read(self.path) if one.at != "page_one"]

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

        Every format gets a folder of its own below `to` (exports/ of the run unless named), with a datapackage.json that says what
        every column means: answers, agents, items, and the tables of each methodology. Written from the ledger; nobody is asked.

        layout: "long" has a row an answer (all_responses), "wide" a row an agent and a column an item, a file for every
        methodology, phase and round; "both" has both, and each methodology's answers apart.
        bom: CSV with the mark by which Excel knows UTF-8. language: of labels, where it is not that of the interviews.
        by: the persona column that agents are compared by, as in `enquete.export`.

        Raises SettingsError for a word that is none of these or a folder that cannot be written to, InputError where a format cannot
        hold a table, LedgerError.
        """
        from enquete.reports.exports import export_files  # noqa: PLC0415 - analyses are slow to import

        _require("format", formats or ("",), FORMATS)
        _require("layout", (layout,), LAYOUTS)
        _require("language", (language or self.record.language,), languages())
        folder = self.path / "exports" if to is None else Path(to).expanduser()
        require_writable(folder, "name another folder for the files: to=FOLDER, --to FOLDER")
        return export_files(
            self.folder, formats, folder, layout=layout, bom=bom, partial=self.status != "completed", language=language, by=by
        )  # fmt: skip

    def _repr_html_(self) -> str:
        report = str(self.path / "report.md") if self.report else ""
        return table(self.summary(), self.stages, self.flags, report, self.page_one)

    def _ipython_display_(self) -> None:
        show(self._repr_html_, lambda: leading(self.drawn))


def _require(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for one in given:
        if one not in known:
            raise SettingsError(f"{what}: {one!r} is none; there are {', '.join(known)}")
