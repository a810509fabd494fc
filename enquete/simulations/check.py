"""What a simulation folder or personas file holds, what is missing, what does not match: before anything is paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.locale import N_, in_language
from enquete.simulations.action_log import PLATFORMS
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER, try_object
from enquete.simulations.digest import Digests, digests
from enquete.simulations.experience import Source
from enquete.simulations.locate import locate
from enquete.simulations.population import Population, load_population
from enquete.simulations.sources import MOST_SHOWN, Issue, whole
from enquete.state.asking import Language

SEVERITIES = ("error", "warning", "info")


class CheckFinding(BaseModel):
    """An Issue for the report: error, warning or info."""

    model_config = ConfigDict(frozen=True)

    severity: Literal["error", "warning", "info"]
    file: str
    message: str


class MemorySource(BaseModel):
    """One platform's record: where memory is read from, and whether it says what agents were shown."""

    model_config = ConfigDict(frozen=True)

    platform: str
    source: Source
    readable: bool
    exposure: bool


class CheckReport(BaseModel):
    """`ok`: the population can be interviewed as it is (no errors). Counts are agents, except `actions`."""

    model_config = ConfigDict(frozen=True)

    sim_id: str
    kind: Literal["simulation", "personas"]
    topic: str
    status: str
    completed: bool
    reason: str
    error: str
    progress: tuple[int, int] | None
    agents: int
    types: dict[str, int]
    platforms: dict[str, int]
    memory: tuple[MemorySource, ...]
    agents_with_memory: int
    actions: int
    missing: tuple[str, ...]
    issues: tuple[CheckFinding, ...]

    @property
    def ok(self) -> bool:
        return not any(issue.severity == "error" for issue in self.issues)

    def render(self, language: Language = "en") -> str:
        """The report as text for a terminal."""
        lines = [*summary_lines(self, language), *memory_lines(self, language), *problem_lines(self, language)]
        return "\n".join([*lines, in_language(WORDS, language)["ok" if self.ok else "not_ok"]])


WORDS: Mapping[str, str] = {
    "agents": N_("Agents"),
    "types": N_("Stakeholder types"),
    "status": N_("Status"),
    "completed": N_("completed"),
    "running": N_("not completed"),
    "rounds": N_("round {done} of {planned}"),
    "runner": N_("The runner's own error: {error}"),
    "assume": N_(
        "It says {status}, and nothing will change that if its process is gone. If it is over, --assume-completed "
        "reads it as completed (`enquete run`, `enquete resume`)."
    ),
    "platforms": N_("Platforms"),
    "actions": N_("Actions"),
    "memory": N_("Memory"),
    "with": N_("with memory"),
    "database": N_("database"),
    "log": N_("action log"),
    "none": N_("nothing readable"),
    "exposure": N_("with the posts agents were shown"),
    "no_exposure": N_("without the posts agents were shown"),
    "missing": N_("Missing"),
    "error": N_("Error"),
    "warning": N_("Warning"),
    "info": N_("Note"),
    "more": N_("and {} more findings"),
    "ok": N_("Ready for interviews."),
    "not_ok": N_("Not ready for interviews until the errors are resolved."),
}


def check(path: str | Path, root: Path | None = None) -> CheckReport:
    """Read everything and report it; `path` is an id under `root` or a path.

    Raises SimulationNotFound, or SimulationError where a personas file cannot be read at all.
    """
    population = load_population(locate(path, root), strict=False)
    memory = digests(population, limit=200)
    missing: tuple[str, ...] = ()
    count_issues: list[Issue] = []
    if population.has_simulation:
        missing, count_issues = missing_files(population.path), stated_counts(population)
    return CheckReport(
        sim_id=population.sim_id,
        kind=population.kind,
        topic=population.topic,
        status=population.completion.status,
        completed=population.completion.completed,
        reason=population.completion.reason,
        error=population.completion.error,
        progress=population.completion.progress,
        agents=len(population.participants),
        types=dict(Counter(p.stakeholder_type for p in population.participants).most_common()),
        platforms=dict(Counter(seat.platform for seat in population.seats)),
        memory=memory_sources(memory),
        agents_with_memory=sum(text is not None for text in memory.texts.values()),
        actions=population.actions,
        missing=missing,
        issues=tuple(CheckFinding(**vars(issue)) for issue in (*population.issues, *count_issues, *memory.issues)),
    )


def memory_sources(memory: Digests) -> tuple[MemorySource, ...]:
    return tuple(
        MemorySource(platform=name, source=source, readable=source != "none", exposure=memory.exposure[name])
        for name, source in memory.sources.items()
    )


def missing_files(folder: Path) -> tuple[str, ...]:
    """Files that a finished run of both platforms has, and this folder has not."""
    expected = ["state.json", "run_state.json", CONFIG, REDDIT, TWITTER]
    for platform in PLATFORMS:
        expected += [f"{platform}/actions.jsonl", f"{platform}_simulation.db"]
    return tuple(name for name in expected if not (folder / name).exists())


def stated_counts(population: Population) -> list[Issue]:
    """state.json's own count of agents against what was found: an omitted entity shows here first."""
    issues: list[Issue] = []
    state = try_object(population.path / "state.json", issues)
    issues = [Issue("warning", issue.file, f"{issue.message} (nothing is read from it)") for issue in issues]
    stated, present = whole(state.get("entities_count")), len(population.participants)
    if stated is not None and stated != present:
        issues.append(Issue("warning", "state.json", f"entities_count is {stated}, but {present} agents were found"))
    return issues


def summary_lines(report: CheckReport, language: Language) -> list[str]:
    words = in_language(WORDS, language)
    title = f"{report.sim_id} ({report.kind})"
    types = ", ".join(f"{name} {count}" for name, count in report.types.items())
    lines = [f"{title}: {report.topic}" if report.topic else title, f"{words['agents']}: {report.agents}"]
    if types:
        lines.append(f"{words['types']}: {types}")
    if report.kind == "personas":
        return lines
    done = words["completed" if report.completed else "running"]
    platforms = ", ".join(f"{name} {count}" for name, count in report.platforms.items()) or words["none"]
    rounds = words["rounds"].format(done=report.progress[0], planned=report.progress[1]) if report.progress else ""
    about = "; ".join(part for part in (done, rounds, report.reason) if part)
    return [
        *lines,
        f"{words['status']}: {report.status} ({about})",
        *([words["runner"].format(error=report.error)] if report.error else []),
        *([words["assume"].format(status=report.status)] if may_be_over(report) else []),
        f"{words['platforms']}: {platforms}",
        f"{words['actions']}: {report.actions}",
    ]


def may_be_over(report: CheckReport) -> bool:
    """Whether --assume-completed would help: something happened, and the files say that it goes on or broke off."""
    return report.kind == "simulation" and not report.completed and report.actions > 0


def memory_lines(report: CheckReport, language: Language) -> list[str]:
    words = in_language(WORDS, language)
    lines = []
    for memory in report.memory:
        exposure = f", {words['exposure' if memory.exposure else 'no_exposure']}" if memory.readable else ""
        lines.append(f"{words['memory']} ({memory.platform}): {words[memory.source]}{exposure}")
    with_memory = f"{report.agents_with_memory} / {report.agents}"
    return [*lines, f"{words['agents']} {words['with']}: {with_memory}"]


def problem_lines(report: CheckReport, language: Language) -> list[str]:
    """Errors first; a shift in a large population is one finding per agent, so long lists are cut."""
    words = in_language(WORDS, language)
    missing = [f"{words['missing']}: {', '.join(report.missing)}"] if report.missing else []
    ordered = sorted(report.issues, key=lambda issue: SEVERITIES.index(issue.severity))
    shown = [f"{words[issue.severity]}: {issue.file}: {issue.message}" for issue in ordered[:MOST_SHOWN]]
    more = [f"… {words['more'].format(len(ordered) - MOST_SHOWN)}"] if len(ordered) > MOST_SHOWN else []
    return [*missing, *shown, *more]
