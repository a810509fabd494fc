"""What is stored: a simulation read and checked, its runs found again, read, compared, written up anew. Asks nobody.

Runs deleted: what Enquete wrote of them, and nothing else. The simulation itself stays.

What is remembered of a simulation's interviews: found again, sent to a graph, and what was preferred.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enquete.checkpoints.tokens import find_run
from enquete.ledger.damage import require_sound
from enquete.ledger.drives import START_LOCK, require_writable
from enquete.ledger.folders import (
    StoredRun,
    drop_ledger,
    held,
    latest,
    mend_latest,
    own_files,
    rebuild_latest,
    result_folders,
    run_folders,
)
from enquete.locale import languages
from enquete.memory.graph import connect
from enquete.memory.recall import FILE as MEMORY
from enquete.memory.recall import (
    Delivery,
    LocalMemory,
    MemoryRecord,
    PreferenceShare,
    deliver,
    episodes,
    search,
    standings,
)
from enquete.runs.planning import planned
from enquete.runs.result_folders import POPULATION
from enquete.runs.run_list import Survey, survey
from enquete.simulations.check import CheckReport
from enquete.simulations.check import check as check_simulation
from enquete.simulations.locate import locate
from enquete.simulations.population import Population
from enquete.simulations.population import load_population as read_population
from enquete.state.errors import InputError, RunNotFound, SettingsError
from enquete.state.errors import shown as named
from enquete.state.request import DEFAULT_SYNC_PATIENCE_S, MOST_EPISODES, FigureFormat, MemoryKind, RunRequest
from enquete.state.settings import Environment, resolve_machine, root_of
from enquete.study.run import Run, warn_of_gaps
from enquete.study.simulations import interviews_of, nobody_interviewed

if TYPE_CHECKING:
    import pandas as pd


# --- What is remembered ----------------------------------------------------------------------------------------------


def search_memory(
    sim_id: str | Path,
    query: str = "",
    *,
    agent: str = "",
    run_id: str = "",
    limit: int = 10,
    root: str | Path | None = None,
    out: str | Path | None = None,
) -> list[MemoryRecord]:
    """Episodes of a simulation's interviews that fit the words, best first; the newest without words.

    agent: only of whom this name or id is. run_id: only of this run, by run_id or resume token. Creates nothing and
    asks no graph: runs' own files are read. Raises RunNotFound where nobody was interviewed, MemoryFault where such a
    file is damaged.
    """
    interviews = interviews_of(str(sim_id), root, out)
    if not (interviews / "runs").is_dir():
        raise nobody_interviewed(sim_id, interviews)
    spoken = episodes(interviews)
    if run_id:
        name = find_run(interviews, run_id).name
        spoken = (episode for episode in spoken if episode.run_id == name)
    return search(spoken, query, agent=agent, limit=max(0, min(limit, MOST_EPISODES)))


def sync_memory(
    sim_id: str | Path,
    *,
    memory: MemoryKind | None = None,
    patience_s: float = DEFAULT_SYNC_PATIENCE_S,
    root: str | Path | None = None,
    out: str | Path | None = None,
) -> Delivery:
    """Send what the graph has not got of all runs' episodes, waiting for it as long as it asks and `patience_s` allows.

    memory: which graph; else that of the latest run that has one, else the environment's. Raises
    SettingsError where there is no graph, MemoryFault where it cannot be reached.
    """
    environment = Environment.read()
    interviews = interviews_of(str(sim_id), root, out)
    runs = survey(interviews).runs
    if not runs:
        raise nobody_interviewed(sim_id, interviews)
    kind = memory or next((run.record.memory for run in reversed(runs) if run.record.memory != "local"), None)
    kind = kind or environment.memory or "local"
    last = runs[-1]
    machine = resolve_machine(RunRequest(), environment)
    graph = connect(kind, last.record.simulation_of(last.folder), last.record.sim_id, machine)
    if graph is None:
        raise SettingsError(f"{sim_id}: no run has a graph; name one: memory=zep-cloud or zep")
    try:
        with LocalMemory.opened(interviews) as local:
            return deliver(local, graph, patience_s=patience_s)
    finally:
        graph.close()


def memory_preferences(
    sim_id: str | Path, *, root: str | Path | None = None, out: str | Path | None = None
) -> list[PreferenceShare]:
    """Which configuration of a respondent was preferred how often over all runs, by question and stakeholder type."""
    with LocalMemory.opened(interviews_of(str(sim_id), root, out), read_only=True) as memory:
        return standings(memory.preferences())


def count_compared(sim_id: str | Path, *, root: str | Path | None = None, out: str | Path | None = None) -> int:
    """How many pairs of answers were compared over all runs, also those from which no preference follows."""
    with LocalMemory.opened(interviews_of(str(sim_id), root, out), read_only=True) as memory:
        return memory.count_compared()


# --- Deletion --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deletion:
    """What goes, or went. kept: what lies in the folders of these runs and was written by somebody else. graphs: those
    outside that were sent episodes, and keep them."""

    interviews: Path
    runs: tuple[str, ...]
    files: tuple[Path, ...]
    kept: tuple[Path, ...]
    bytes: int
    graphs: tuple[str, ...]


class StillNeeded(InputError):
    """Another run rests on one that was to be deleted."""


def deletion(
    sim_id: str | Path, run_id: str | None = None, *, root: str | Path | None = None, out: str | Path | None = None
) -> Deletion:
    """What `delete` with these arguments would take away. Changes nothing. Raises as that does."""
    interviews = interviews_of(str(sim_id), root, out)
    runs = _named(interviews, run_id)
    _require_needed_by_none(interviews, {run.name for run in runs})
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(held(run))  # RunLocked: somebody drives it
    return _planned(interviews, runs)


def delete(
    sim_id: str | Path, run_id: str | None = None, *, root: str | Path | None = None, out: str | Path | None = None
) -> Deletion:
    """Delete a run, by its run_id or token, or all runs of a simulation: ledgers, checkpoints, results, and what the
    embedded memory holds of them. Nobody asks whether that is meant.

    Files that Enquete did not write stay, and so does the simulation. Raises RunNotFound, RunLocked where a run is
    being driven, StillNeeded where another run is measured against one of them.
    """
    planned = deletion(sim_id, run_id, root=root, out=out)
    runs = [planned.interviews / "runs" / name for name in planned.runs]
    folders = [folder for run in runs for folder in result_folders(run)]
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(held(run))
        for run in runs:
            drop_ledger(run)
        _forget(planned)
        for file in planned.files:
            if file.name != "lock":
                file.unlink(missing_ok=True)
    for run in runs:
        (run / "lock").unlink(missing_ok=True)
    for folder in folders:
        _remove_empty(folder, planned.interviews)
    rebuild_latest(planned.interviews)
    _remove_empty(planned.interviews / "tasks", planned.interviews)
    return planned


def _named(interviews: Path, run_id: str | None) -> list[Path]:
    there = run_folders(interviews)
    runs = there if run_id is None else [run for run in there if run.name == run_id.partition(".")[0]]
    if not runs:
        names = ", ".join(run.name for run in there) or "none"
        raise RunNotFound(f"no run {run_id or 'at all'!r} in {interviews} (runs there: {names})")
    return runs


def _require_needed_by_none(interviews: Path, going: set[str]) -> None:
    for run in survey(interviews).runs:
        if run.record.baseline_run_id in going and run.folder.name not in going:
            raise StillNeeded(
                f"run {run.record.baseline_run_id} holds the answers before the simulation that run {run.folder.name} "
                f"is measured against: delete {run.folder.name} first, or all runs"
            )


def _planned(interviews: Path, runs: list[Path]) -> Deletion:
    files = [file for run in runs for file in (*own_files(run), interviews / "tasks" / f"{run.name}.json")]
    going = [file for file in dict.fromkeys(files) if file.is_file() or file.is_symlink()]
    inside = [file for run in runs for folder in result_folders(run) for file in sorted(folder.rglob("*"))]
    names = {run.name for run in runs}
    graphs = {run.record.memory for run in survey(interviews).runs if run.folder.name in names} - {"local"}
    return Deletion(
        interviews,
        tuple(run.name for run in runs),
        tuple(going),
        tuple(file for file in inside if file not in set(going) and not file.is_dir()),
        sum(file.lstat().st_size for file in going),
        tuple(sorted(graphs)),
    )


def _forget(planned: Deletion) -> None:
    """What belongs to no run (memory, the note of whose results these are, the lock) goes with the last one."""
    if len(run_folders(planned.interviews)) == len(planned.runs):
        own = (planned.interviews / name for name in (START_LOCK, POPULATION))
        for file in (*planned.interviews.glob(f"{MEMORY}*"), *own):
            file.unlink(missing_ok=True)
    elif (planned.interviews / MEMORY).exists():
        with LocalMemory.opened(planned.interviews) as memory:
            memory.forget(planned.runs)


def _remove_empty(folder: Path, top: Path) -> None:
    """The folder, those within it and those around it, as far as nothing is in them."""
    for inner in sorted((entry for entry in folder.rglob("*") if entry.is_dir()), reverse=True):
        with suppress(OSError):
            inner.rmdir()
    while folder != top and folder.is_relative_to(top):
        with suppress(OSError):
            folder.rmdir()
        folder = folder.parent


# --- Runs found, read and written up again ---------------------------------------------------------------------------

COPY_TO_EXPORT = (
    "Exports are written beside the run: copy {}, and export the copy with out=COPY. `enquete report` shows the report "
    "that is there; in Python `load_run(SIM).all_responses` has the table without writing anything"
)


def load_run(
    sim_id: str | Path, run_id: str | None = None, *, root: str | Path | None = None, out: str | Path | None = None
) -> Run:
    """A stored run: by run_id or token, else the canonical one, else the latest.

    Raises RunNotFound, and LedgerError where that run, or one begun after it, cannot be read.
    """
    interviews = interviews_of(str(sim_id), root, out)
    if run_id:
        return Run(find_run(interviews, run_id), shown=True)
    return Run(_canonical(str(sim_id), interviews, survey(interviews)), shown=True)


def pointers(sim_id: str | Path, *, root: str | Path | None = None, out: str | Path | None = None) -> dict[str, str]:
    """Which run counts for each "phase/methodology", and for the synthesis. Raises LedgerError."""
    return latest(interviews_of(str(sim_id), root, out))


def current_run(sim_id: str | Path, *, root: str | Path | None = None, out: str | Path | None = None) -> Run:
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
    root: str | Path | None = None,
    out: str | Path | None = None,
    figures: FigureFormat = "svg",
    language: str = "",
    by: str = "",
) -> Path:
    """Write report, figures, exports and aggregates of a stored run anew from its ledger; the folder with report.md.

    figures: a kind of file beside SVG. language: of what is read, any that has a catalogue; the interviews' unless
    named.
    by: the persona column that agents are compared by; what the run named, else their stakeholder types, unless named.
    Makes no call and needs no lock. Where the code of one methodology fails, everything else is written, and an
    IncompleteExportWarning names what is missing.

    Raises RunNotFound, LedgerError, SettingsError where nothing can be written.
    """
    from enquete.reports.charts import written as save_figures  # noqa: PLC0415 - charts are slow to import
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
    written = write_synthesis(run.folder, planned(run.record), partial=run.is_unfinished, language=language, by=by)
    if figures != "svg":
        save_figures(run.path, run.drawn, figures)
    warn_of_gaps(written.missing)
    return run.path


def load_population(sim_id: str | Path, *, root: str | Path | None = None, skip_non_people: bool = False) -> Population:
    """The agents of a simulation folder or personas file, as they would be interviewed."""
    return read_population(locate(str(sim_id), root_of(root)), skip_non_people=skip_non_people)


def check(sim_id: str | Path, *, root: str | Path | None = None) -> CheckReport:
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
    """All rows of two runs of the same population, matched by what was asked of whom.

    Raises SettingsError for what is no run, and for runs that share nothing.
    """
    for run in (first, second):
        if not hasattr(run, "responses"):
            raise SettingsError(f"compare: {named(run)} is no run; give two, such as load_run(SIM, 'run_…')")
    compared = compare_tables(first.all_responses, second.all_responses)
    if compared.rows == 0:
        raise SettingsError(
            f"compare: runs {first.run_id} ({first.record.sim_id}: {', '.join(first.record.methods)}) and "
            f"{second.run_id} ({second.record.sim_id}: {', '.join(second.record.methods)}) share no answer: nobody "
            "was asked the same item in both; compare two runs of one population and one methodology"
        )
    return compared


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
