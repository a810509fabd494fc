"""False pages, and effects found, under one correction over all questions alike and under primary questions.

Pages are p-values alone: the answers of the null benchmark's world (`null.py`) are drawn as arrays and given to the
tests that the analyses use, without a run, tables or sentences. So hundreds of pages take minutes, and both corrections
are applied to the same pages. What the whole pipeline says of such answers is measured by `null.py`.

`python -m tests.bench.correction AGENTS PAGES SEED FILE [METHODOLOGY]` appends the pages of one size to a file, of all
methodologies or of one; `… table FILE` prints the table of bench/results.md, `… write FILE…` files it there. Of several
files a later one has the studies that it can tell of.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from enquete.analysis.agreement import friedman, pairwise_wilcoxon
from enquete.analysis.change import holm
from enquete.analysis.groups import joint_p
from enquete.analysis.inference import max_t, over_questions
from enquete.analysis.panel import camps_p, frequencies
from enquete.analysis.qmethod import number_of_factors
from tests.bench.null import GROUP, GROUPS, NOISE, OWN, SCENARIO, SHIFT, STYLE
from tests.bench.results import stamped, written

Floats = NDArray[np.float64]

ALPHA = 0.05
DRAWS = 1_999
ITEMS, THEMES, STATEMENTS, AXES, SCENARIOS = 14, 14, 24, 6, 4
GRID = (-4, -3, -3, -2, -2, -2, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4)
ASSOCIATIONS = 12  # pairs of columns of different methodologies
SIDE = 5  # agents that either camp needs to be told of
PRIMARY = ("longitudinal/drift", "diversity/views", "delphi/camps", "scenario/highest", "laddering/groups",
    "discovery/groups", "roundtable/groups", "poll/groups")  # fmt: skip
PLANTED = ("longitudinal/drift", "delphi/groups", "delphi/camps", "scenario/highest")
USUAL = ("longitudinal", "diversity", "delphi", "scenario")
STUDIES: Mapping[str, tuple[str, ...]] = {
    "one methodology": ("longitudinal",), "the four usual ones": USUAL,
    "all eight": (*USUAL, "laddering", "discovery", "roundtable", "poll", "across"),
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """One tested question of a page. planted: places of the rows in which there is something to be found."""

    name: str  # methodology/finding
    p: list[float]
    given: bool  # whether p are corrected over the rows already
    after: str = ""
    planted: tuple[int, ...] = ()


class Panel:
    """Agents with groups and positions of their own, who answer with noise."""

    def __init__(self, agents: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.agents = agents
        self.group = pd.Series(rng.permutation(np.repeat(np.arange(len(GROUPS[agents])), GROUPS[agents])))

    def positions(self, mean: Floats, unit: float = 1.0) -> Floats:
        style = self.rng.normal(0, STYLE, (self.agents, 1))
        return mean + (style + self.rng.normal(0, OWN, (self.agents, mean.size))) * unit

    def answers(self, positions: Floats, low: int = 1, high: int = 5) -> Floats:
        unit = (high - low) / 4
        return np.clip(np.round(positions + self.rng.normal(0, NOISE * unit, positions.shape)), low, high)

    def compare(self, name: str, ratings: Floats, *, after: str = "", planted: tuple[int, ...] = ()) -> Question:
        p = joint_p(pd.DataFrame(ratings), self.group, draws=DRAWS)
        return Question(name, p.dropna().tolist(), True, after, planted)


def draw_page(agents: int, rng: np.random.Generator, *, plant: bool, methodology: str = "") -> list[Question]:
    """Return every question that a report of all methodologies tests, or of the longitudinal one alone."""
    panel = Panel(agents, rng)
    if methodology == "longitudinal":
        return list(_longitudinal(panel, plant))
    return [
        *_longitudinal(panel, plant), *_delphi(panel, plant), *_scenario(panel, plant), *_diversity(panel),
        *_interviews(panel), _across(panel),
    ]  # fmt: skip


def _longitudinal(panel: Panel, plant: bool) -> Iterator[Question]:
    mean = panel.rng.uniform(2.2, 3.8, ITEMS)
    positions, moved = panel.positions(mean), np.zeros(ITEMS)
    if plant:
        moved[0] = SHIFT if mean[0] < 3 else -SHIFT
    first, second = panel.answers(positions), panel.answers(positions + moved)
    changes = pd.DataFrame(second - first)
    p = max_t(changes, draws=DRAWS)["p_adjusted"].dropna()
    yield Question("longitudinal/drift", p.tolist(), True, planted=(0,) if plant else ())
    yield panel.compare("longitudinal/groups", second)
    yield panel.compare("longitudinal/change_groups", second - first, after="longitudinal/drift")


def _delphi(panel: Panel, plant: bool) -> Iterator[Question]:
    positions = panel.positions(panel.rng.uniform(2.5, 4.2, THEMES))
    if plant:
        positions[:, 0] += np.where(panel.group.eq(0), -GROUP, 0.0)
        sides = panel.rng.permutation(panel.agents) % 2
        positions[:, 1] = np.where(sides, 4.7, 1.3) + panel.rng.normal(0, 0.3, panel.agents)
    last = panel.answers(positions)
    yield panel.compare("delphi/groups", last, planted=(0,) if plant else ())
    split = {theme: p for theme in range(THEMES) if (p := _camps(last[:, theme])) is not None}
    planted = tuple(place for place, theme in enumerate(split) if plant and theme == 1)
    yield Question("delphi/camps", [min(1.0, p * THEMES) for p in split.values()] or [1.0], True, planted=planted)


def _camps(ratings: Floats) -> float | None:
    """Return the p of two camps; None where too few stand on either side to be told of."""
    counts = frequencies(ratings, 1, 5)
    p = camps_p(counts)
    told = p is not None and p < 1 and min(counts[:2].sum(), counts[3:].sum()) >= SIDE
    return p if told else None


def _scenario(panel: Panel, plant: bool) -> Iterator[Question]:
    mean = np.full(SCENARIOS * 4, 4.0)
    if plant:
        mean[0] += SCENARIO
    ratings = panel.answers(panel.positions(mean, 1.5), 1, 7)
    by_dimension = [ratings[:, at : at + SCENARIOS] for at in range(0, mean.size, SCENARIOS)]
    yield Question("scenario/highest", [_ends_p(by_dimension[0])], False, planted=(0,) if plant else ())
    further = [_ends_p(dimension) for dimension in by_dimension[1:]]
    yield Question("scenario/further", further, False, after="scenario/highest")
    yield panel.compare("scenario/groups", ratings, planted=(0,) if plant else ())


def _ends_p(ratings: Floats) -> float:
    """Return the p of the highest against the lowest mean, not below Friedman's."""
    means = ratings.mean(axis=0)
    ends = {str(means.argmax()), str(means.argmin())}
    pairs = pairwise_wilcoxon(pd.DataFrame(ratings, columns=[str(place) for place in range(SCENARIOS)]))
    between = [pair.test.p for pair in pairs if {pair.first, pair.second} == ends and pair.test.p is not None]
    return max([friedman(ratings).p or 1.0, *between])


def _diversity(panel: Panel) -> Iterator[Question]:
    sorts = np.array([panel.rng.permutation(GRID) for _ in range(panel.agents)], dtype=np.float64)
    standardised = sorts / sorts.std(axis=1, keepdims=True)
    number = number_of_factors(standardised, 0, draws=99)
    yield Question("diversity/views", [float(number.p[0]) if number.parallel else 1.0], False)
    axes = panel.answers(panel.positions(np.full(AXES, 4.0), 1.5), 1, 7)
    yield panel.compare("diversity/groups", np.hstack([sorts, axes]))


def _interviews(panel: Panel) -> Iterator[Question]:
    for name, shares in (("laddering", 12), ("discovery", 6), ("roundtable", 2), ("poll", 2)):
        drawn = panel.rng.integers(0, 2, (panel.agents, shares)).astype(np.float64)
        yield panel.compare(f"{name}/groups", drawn)


def _across(panel: Panel) -> Question:
    first, second = panel.rng.normal(size=(2, panel.agents, ASSOCIATIONS))
    pairs = zip(first.T, second.T, strict=True)
    return Question("across/together", [float(scipy.stats.spearmanr(*pair).pvalue) for pair in pairs], False)


# What a study finds -------------------------------------------------------------------------------------------------


def answer(page: Sequence[Question], *, primary: bool, own: bool = False) -> dict[str, list[float]]:
    """Return the adjusted p of every question's rows.

    primary: whether primary questions hold the error rate; else all questions hold it alike. own: each question has its
    own .05, which no page could allow.
    """
    if own:
        return {one.name: one.p if one.given else [p or 0.0 for p in holm(one.p)] for one in page}
    rows = [(one.name, p) for one in page for p in one.p]
    names = {one.name for one in page if one.p}
    adjusted = over_questions(
        pd.Series([p for _, p in rows]), pd.Series([name for name, _ in rows]),
        given={one.name for one in page if one.given}, after={one.name: one.after for one in page if one.after},
        primary={name: 1.0 for name in PRIMARY if name in names} if primary else None,
    ).tolist()  # fmt: skip
    found: dict[str, list[float]] = {one.name: [] for one in page}
    for (name, _), p in zip(rows, adjusted, strict=True):
        found[name].append(p)
    return found


def has_false(page: Sequence[Question], found: Mapping[str, Sequence[float]]) -> bool:
    """Return whether a row in which there is nothing is told."""
    return any(p < ALPHA for one in page for place, p in enumerate(found[one.name]) if place not in one.planted)


def has_found(one: Question, found: Mapping[str, Sequence[float]]) -> bool:
    return any(found[one.name][place] < ALPHA for place in one.planted)


def of_study(page: Sequence[Question], methods: Sequence[str]) -> list[Question]:
    return [one for one in page if one.name.partition("/")[0] in methods]


def append_pages(agents: int, pages: int, seed: int, file: Path, methodology: str = "") -> None:
    """Append as many pages with nothing in them, and as many with something planted, a line each."""
    with file.open("a", encoding="utf-8") as out:
        for number in range(pages):
            for plant in (False, True):
                rng = np.random.default_rng([seed, agents, number, plant])
                page = draw_page(agents, rng, plant=plant, methodology=methodology)
                line = {"agents": agents, "plant": plant, "page": [asdict(one) for one in page]}
                out.write(json.dumps(line) + "\n")
            out.flush()


def read_pages(file: Path) -> dict[tuple[int, bool], list[list[Question]]]:
    pages: dict[tuple[int, bool], list[list[Question]]] = {}
    for line in file.read_text("utf-8").splitlines():
        stored = json.loads(line)
        page = [Question(**{**one, "planted": tuple(one["planted"])}) for one in stored["page"]]
        pages.setdefault((stored["agents"], stored["plant"]), []).append(page)
    return pages


FALSE = "says something false"
SCHEMES: Mapping[str, Mapping[str, bool]] = {
    "all questions alike (before)": {"primary": False}, "primary questions": {"primary": True},
    "each its own .05": {"primary": False, "own": True},
}  # fmt: skip


def rows_of(file: Path) -> Iterator[list[str]]:
    """Rows of the table: study, what, correction, and a cell a number of agents."""
    pages = read_pages(file)
    there = {one.name.partition("/")[0] for page in pages.get((min(GROUPS), False), []) for one in page}
    for study, methods in STUDIES.items():
        if not there.issuperset(methods):
            continue
        names = [name for name in PLANTED if name.partition("/")[0] in methods]
        for scheme, how in SCHEMES.items():
            cells: dict[str, list[str]] = {FALSE: [], **{name: [] for name in names}}
            for agents in sorted(GROUPS):
                nothing = [of_study(page, methods) for page in pages.get((agents, False), [])]
                cells[FALSE].append(_share([has_false(page, answer(page, **how)) for page in nothing], upper=True))
                something = [of_study(page, methods) for page in pages.get((agents, True), [])]
                found = [({one.name: one for one in page}, answer(page, **how)) for page in something]
                for name in names:
                    cells[name].append(_share([has_found(page[name], adjusted) for page, adjusted in found]))
            for what, row in cells.items():
                yield [study, what, scheme, *row]


def _share(hits: Sequence[bool], *, upper: bool = False) -> str:
    if not hits:
        return "–"
    share, n = float(np.mean(hits)), len(hits)
    if not upper:
        return f"{share:.2f}"
    high = scipy.stats.binomtest(sum(hits), n).proportion_ci(0.95).high
    return f"{share:.3f} (≤ {high:.3f}, {n})"


def write_table(files: Sequence[Path]) -> None:
    """File the table in bench/results.md."""
    began, load = time.time(), os.getloadavg()[2]
    by_study: dict[str, list[list[str]]] = {}
    for file in files:
        rows = list(rows_of(file))
        by_study |= {study: [row for row in rows if row[0] == study] for study in {row[0] for row in rows}}
    rows = [row for study in STUDIES for row in by_study.get(study, [])]
    written({"correction": stamped({"rows": rows}, began, load)})


def main() -> None:
    if sys.argv[1] == "write":
        write_table([Path(name) for name in sys.argv[2:]])
        return
    if sys.argv[1] == "table":
        print("| study | page | correction | 10 agents | 20 agents | 50 agents |\n|---|---|---|---|---|---|")
        for row in rows_of(Path(sys.argv[2])):
            print(f"| {' | '.join(row)} |")
        return
    append_pages(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:6])


if __name__ == "__main__":
    main()
