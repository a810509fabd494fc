"""What is stored: a simulation read and checked, its runs found again, read, compared, written up anew. Asks nobody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enquete.ledger.backup import require_sound
from enquete.ledger.canonical import latest, mend_latest
from enquete.ledger.drives import require_writable
from enquete.ledger.folders import StoredRun, find_run
from enquete.locale import languages
from enquete.nodes.planning import planned
from enquete.nodes.run_list import Survey, survey
from enquete.simulations.check import CheckReport
from enquete.simulations.check import check as check_simulation
from enquete.simulations.locate import locate
from enquete.simulations.population import Population
from enquete.simulations.population import load_population as read_population
from enquete.state.complaints import shown as named
from enquete.state.data_formats import FigureFormat
from enquete.state.errors import SettingsError
from enquete.state.settings import root_of
from enquete.study.run import Run
from enquete.study.simulations import interviews_of, nobody_interviewed

if TYPE_CHECKING:
    import pandas as pd

    from enquete.study.run import Run


COPY_TO_EXPORT = (
    "Exports are written beside the run: copy {}, and export the copy with out=COPY. `enquete report` shows the report "
    "that is there; in Python `load_run(SIM).responses` has the table without writing anything"
)


def load_run(sim_id: str | Path, run_id: str | None = None, *, root: str | None = None, out: str | None = None) -> Run:
    """A stored run: by run_id or token, else the canonical one, else the latest.

    Raises RunNotFound, and LedgerError where that run, or one begun after it, cannot be read.
    """
    interviews = interviews_of(str(sim_id), root, out)
    if run_id:
        return Run(find_run(interviews, run_id), shown=True)
    return Run(_canonical(str(sim_id), interviews, survey(interviews)), shown=True)


def pointers(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> dict[str, str]:
    """Which run counts for each "phase/methodology", and for the synthesis. Raises LedgerError."""
    return latest(interviews_of(str(sim_id), root, out))


def current_run(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> Run:
    """The latest unfinished run, else what `load_run` shows. Raises as that does."""
    interviews = interviews_of(str(sim_id), root, out)
    stored = survey(interviews)
    if not stored.unfinished:
        return Run(_canonical(str(sim_id), interviews, stored), shown=True)
    stored.require_readable(stored.unfinished[-1])
    return Run(stored.unfinished[-1], shown=True)


def _canonical(sim_id: str, interviews: Path, stored: Survey) -> StoredRun:
    canonical = latest(interviews).get("synthesis", "")
    runs = {run.folder.name: run for run in stored.runs}
    chosen = runs.get(canonical) or (stored.runs[-1] if stored.runs else None)
    stored.require_readable(chosen, canonical)
    if chosen is None:
        raise nobody_interviewed(sim_id, interviews)
    return chosen


def export(
    sim_id: str | Path,
    run_id: str | None = None,
    *,
    root: str | None = None,
    out: str | None = None,
    figures: FigureFormat = "svg",
    language: str = "",
    by: str = "",
) -> Path:
    """Write report, figures, exports and aggregates of a stored run anew from its ledger; the folder with report.md.

    figures: a kind of file beside SVG. language: of what is read, any that has a catalogue; the interviews' unless
    named.
    by: the persona column that agents are compared by; what the run named, else their stakeholder types, unless named.
    Makes no call and needs no lock. Raises RunNotFound, LedgerError, SettingsError where nothing can be written.
    """
    from enquete.reports.charts import written  # noqa: PLC0415 - charts are slow to import
    from enquete.reports.synthesis import write_synthesis  # noqa: PLC0415 - analyses are slow to import

    if language and language not in languages():
        raise SettingsError(f"language: there are no words in {language!r}; there are {', '.join(languages())}")
    interviews = interviews_of(str(sim_id), root, out)
    if (interviews / "runs").is_dir():
        require_writable(interviews / "synthesis", COPY_TO_EXPORT.format(interviews))
    mend_latest(interviews)
    run = load_run(sim_id, run_id, root=root, out=out)
    if not run.is_driven:
        require_sound(run.folder)
    write_synthesis(run.folder, planned(run.record), partial=run.status != "completed", language=language, by=by)
    if figures != "svg":
        written(run.path, run.drawn, figures)
    return run.path


def load_population(sim_id: str | Path, *, root: str | None = None) -> Population:
    """The agents of a simulation folder or personas file, as they would be interviewed."""
    return read_population(locate(str(sim_id), root_of(root)))


def check(sim_id: str | Path, *, root: str | None = None) -> CheckReport:
    """What was found, what is missing, what does not match. Creates nothing."""
    return check_simulation(str(sim_id), root_of(root))


# --- Two runs side by side: which answers differ, and whether a replay made the same data


KEY = ["arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id"]
VOLATILE = ("run_id", "asked_at")
"""Columns of all_responses.csv in which a replay differs from the run it replays: its name and when it was made."""


@dataclass(frozen=True)
class RunComparison:
    """`changed`: rows that differ, by column; `only_first`, `only_second`: rows that the other run does not have.

    `values`: key columns, value and text of both runs (suffixes _first and _second) where value or text differ.
    """

    rows: int
    only_first: int
    only_second: int
    changed: dict[str, int]
    values: pd.DataFrame

    @property
    def identical(self) -> bool:
        """In everything but VOLATILE."""
        return not (self.only_first or self.only_second or self.changed.keys() - set(VOLATILE))


def compare(first: Run, second: Run) -> RunComparison:
    """All rows of two runs of the same population, matched by what was asked of whom. Raises SettingsError."""
    for run in (first, second):
        if not hasattr(run, "responses"):
            raise SettingsError(f"compare: {named(run)} is no run; give two, such as load_run(SIM, 'run_…')")
    return compare_tables(first.responses, second.responses)


def compare_tables(first: pd.DataFrame, second: pd.DataFrame) -> RunComparison:
    """The same of two tables."""
    joined = first.merge(second, on=KEY, how="outer", suffixes=("_first", "_second"), indicator=True, validate="1:1")
    both = joined[joined["_merge"] == "both"]
    columns = [name for name in first.columns if name not in KEY and name in second.columns]
    differs = {name: _differs(both[f"{name}_first"], both[f"{name}_second"]) for name in columns}
    shown = [f"{name}_{end}" for name in ("value", "text") for end in ("first", "second")]
    return RunComparison(
        rows=len(both),
        only_first=int((joined["_merge"] == "left_only").sum()),
        only_second=int((joined["_merge"] == "right_only").sum()),
        changed={name: int(rows.sum()) for name, rows in differs.items() if rows.any()},
        values=both.loc[differs["value"] | differs["text"], [*KEY, *shown]].reset_index(drop=True),
    )


def _differs(first: pd.Series, second: pd.Series) -> pd.Series:
    """Missing equals missing."""
    return ~((first == second) | (first.isna() & second.isna())).fillna(False).astype(bool)
