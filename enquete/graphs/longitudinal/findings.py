"""What the waves found, in sentences: what moved, by how much and how surely, and where the agents stand.

Every figure can be had from all_responses.csv with pandas and scipy, over answers (`value` is there) of the main arm:

- mean, low, high: of `value` at the last wave; low and high are mean ± t(.975, n − 1)·s/√n, cut at the ends of the scale.
- change, low, high: the same of T1 − T0 by agent, over those that answered both times.
- p: Wilcoxon's signed-rank test of these differences, zeros left out, exact given the mid-ranks (normal approximation
  above 200 differences); by Holm over all statements.
- against a placebo: change is the mean of (T1 − T0) − (placebo's T1 − T0), agents without memory counting as the run says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from enquete.analysis.change.paired import smallest_p
from enquete.analysis.means import mean_interval, mean_of
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.key_findings import FEWEST, LEVEL, PER_METHODOLOGY, KeyFinding, p_told, sentence
from enquete.reports.markdown import number
from enquete.state.asking import Language

WORDS: Mapping[str, str] = {
    "rise": N_("rose"),
    "fall": N_("fell"),
    "most": N_(
        "{moved} of {tested} statements moved, most of all “{item}”: agreement {went} by {change} (scale {scale}; 95%"
        " interval {low} to {high}; adjusted {p}; n = {n}/{total})."
    ),
    "moved": N_(
        "Agreement with “{item}” {went} by {change} from T0 to T1 (scale {scale}; 95% interval {low} to {high}; "
        "adjusted {p}; n = {n}/{total})."
    ),
    "beyond": N_(
        "Against a neutral memory, agreement with “{item}” {went} by {change} from T0 to T1 (scale {scale}; adjusted "
        "{p}; n = {n}/{total})."
    ),
    "none": N_(
        "No statement changed more than chance: {tested} tested, the largest change {change}, in “{item}” (scale "
        "{scale}; adjusted {p}; n = {n}/{total})."
    ),
    "none_beyond": N_(
        "No statement changed more than with a neutral memory: {tested} tested, the largest difference {change}, in "
        "“{item}” (scale {scale}; adjusted {p}; n = {n}/{total})."
    ),
    "more": N_("higher"),
    "less": N_("lower"),
    "own": N_(
        "At T1, agreement with “{item}” is {change} {went} with the own memory than with a neutral one (scale {scale}; "
        "adjusted {p}; n = {n}/{total})."
    ),
    "none_own": N_(
        "No statement is answered otherwise with the own memory than with a neutral one: {tested} tested, the largest "
        "difference {change}, in “{item}” (scale {scale}; adjusted {p}; n = {n}/{total})."
    ),
    "too_few": N_(
        "{n} agents are too few to tell whether a statement changed: had all moved alike, p adjusted for {tested} "
        "statements would still be {p}."
    ),
    "unmoved": N_("Nobody changed an answer to any of {tested} statements between T0 and T1 (n = {n}/{total})."),
    "same": N_("No answer to any of {tested} statements differs from the one with a neutral memory (n = {n}/{total})."),
    "highest": N_(
        "Agreement is strongest with “{item}”: mean {mean} (scale {scale}; 95% interval {low} to {high}; n = "
        "{n}/{total})."
    ),
    "lowest": N_(
        "Agreement is weakest with “{item}”: mean {mean} (scale {scale}; 95% interval {low} to {high}; n = "
        "{n}/{total})."
    ),
}


@dataclass(frozen=True)
class Statement:
    """A closed item, and its change where there is one."""

    item: str
    wording: str
    low: int
    high: int
    last: Mapping[str, Any]  # its last wave, described
    keyed: int  # −1 where agreement speaks against its family

    @property
    def scale(self) -> str:
        return f"{self.low}–{self.high}"

    @property
    def range(self) -> int:
        return self.high - self.low


@dataclass(frozen=True)
class Moved:
    """Change of a statement as answered. Without tests (`tested`) neither p nor interval; p is None too where nobody changed."""

    about: Statement
    n: int
    n_total: int
    change: float
    p: float | None = None  # adjusted
    low: float | None = None
    high: float | None = None
    tested: bool = True

    @property
    def size(self) -> float:
        return min(1.0, abs(self.change) / self.about.range)


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """What moved, the largest change first, or that nothing did; then the strongest and the weakest agreement."""
    known = statements(found)
    places = list(_positions(known, language))
    moved = list(_changes(found, known, language))
    yield from moved[: PER_METHODOLOGY - len(places)]
    yield from places


def statements(found: Found) -> dict[str, Statement]:
    """By item id."""
    known = {}
    for one in listed(found, "items"):
        waves = list((at(one, "waves") or {}).values())
        item = str(one["item"])
        known[item] = Statement(
            item, str(one["wording"]), int(one["scale_min"]), int(one["scale_max"]), waves[-1] if waves else {},
            -1 if one.get("reverse_keyed") else 1,
        )  # fmt: skip
    return known


# --- change ----------------------------------------------------------------------------------------------------------


def _changes(found: Found, known: Mapping[str, Statement], language: Language) -> Iterator[KeyFinding]:
    """Nothing where no change was tested: one wave, T0 reconstructed and no placebo, or waves that cannot be compared."""
    beyond = against_placebo(found, known)
    paired = beyond or [one for one in changes(found, known) if one.tested]
    tested = [one for one in paired if one.p is not None]
    words = _words(found, placebo=bool(beyond))
    if not paired:
        return
    if not tested:
        yield _told(paired[0], words.same, 0, len(paired), language)
        return
    n, total = max(one.n for one in tested), max(one.n_total for one in tested)
    if smallest_p(n) * len(tested) >= LEVEL:
        yield _too_few(n, total, len(tested), language)
        return
    moved = sorted(
        (one for one in tested if one.p is not None and one.p < LEVEL and one.n >= FEWEST), key=lambda one: -one.size
    )
    for place, one in enumerate(moved):
        yield _told(one, words.others if place else words.first, len(moved), len(tested), language)
    if not moved:
        yield _told(max(tested, key=lambda one: one.size), words.none, 0, len(tested), language)


class _Words(NamedTuple):
    """Names of sentences: of the largest change, the others, and of none."""

    first: str
    others: str
    none: str
    same: str


def _words(found: Found, *, placebo: bool) -> _Words:
    if not placebo:
        return _Words("most", "moved", "none", "unmoved")
    what = "beyond" if found.get("kind") == "drift" else "own"
    return _Words(what, what, f"none_{what}", "same")


def changes(found: Found, known: Mapping[str, Statement]) -> list[Moved]:
    """Of every statement that agents answered in both waves: drift, or the experience effect."""
    change = at(found, str(found.get("kind")))
    delta = at(change, "delta") or {"items": [], "values": []}
    column = {str(item): place for place, item in enumerate(delta["items"])}
    moved = []
    for one in listed(change, "items"):
        if one["mean_change"] is None:
            continue
        about, tested = known[str(one["item"])], "p_holm" in one
        values = [row[column[about.item]] for row in delta["values"]]
        mean = mean_of([float("nan") if value is None else about.keyed * value for value in values])
        counts = mean.n, int(one["n"]) + int(one["n_missing"]), mean.mean or 0.0
        sure = (figure(one, "p_holm"), mean.low, mean.high) if tested else (None, None, None)
        moved.append(Moved(about, *counts, *sure, tested=tested))
    return moved


def against_placebo(found: Found, known: Mapping[str, Statement]) -> list[Moved]:
    """The same minus the change under a neutral memory. [] without a placebo arm."""
    moved = []
    for one in listed(found, str(found.get("kind")), "minus_placebo", "items"):
        about, n, difference = known[str(one["item"])], int(one["n"]), figure(one, "difference", "estimate")
        if difference is not None:
            p = figure(one, "p_holm")
            moved.append(Moved(about, n, n + int(one["n_missing"]), about.keyed * difference, p))
    return moved


def _told(one: Moved, word: str, moved: int, tested: int, language: Language) -> KeyFinding:
    words, null = in_language(WORDS, language), word not in ("most", "moved", "beyond", "own")
    size = number(one.change if null else abs(one.change), language)
    went = words[("more", "less")[one.change < 0] if word == "own" else ("rise", "fall")[one.change < 0]]
    low, high = (number(end, language) for end in ends(one))
    text = sentence(
        WORDS[word], language, item=one.about.wording, moved=moved, tested=tested, went=went, change=size,
        scale=one.about.scale, low=low, high=high, p="" if one.p is None else p_told(one.p, language), n=one.n,
        total=one.n_total,
    )  # fmt: skip
    counts = {"moved": moved, "tested": tested} if null or word == "most" else {}
    interval = {} if null else {"low": one.low, "high": one.high}
    numbers = {"change": one.change, **interval, "p": one.p, "n": one.n}
    return KeyFinding(
        f"drift.{one.about.item}" if not null else "drift.none", text, "null" if null else "difference", one.size,
        one.n, one.n_total, one.p, (one.about.item,), "drift",
        counts | {name: value for name, value in numbers.items() if value is not None},
    )  # fmt: skip


def ends(one: Moved) -> tuple[float | None, float | None]:
    """The interval of |change|, so that it reads as the sentence does: “fell by 0.64 (0.45 to 0.83)”."""
    if one.low is None or one.high is None or one.change > 0:
        return one.low, one.high
    return -one.high, -one.low


def _too_few(n: int, total: int, tested: int, language: Language) -> KeyFinding:
    p = min(1.0, smallest_p(n) * tested)
    text = sentence(WORDS["too_few"], language, n=n, tested=tested, p=number(p, language))
    return KeyFinding("drift.none", text, "null", 0.0, n, total, p, (), "drift", {"n": n, "tested": tested, "p": p})


# --- where they stand ------------------------------------------------------------------------------------------------


def _positions(known: Mapping[str, Statement], language: Language) -> Iterator[KeyFinding]:
    """The statements with the highest and the lowest mean of the last wave, of those on the commonest scale."""
    rated = [one for one in known.values() if int(one.last.get("n_responded") or 0) >= FEWEST]
    scales = [one.scale for one in rated]
    alike = [one for one in rated if one.scale == max(scales, key=scales.count)]
    if len(alike) > 1:
        ordered = sorted(alike, key=lambda one: float(one.last["mean"]))
        yield _stands("highest", ordered[-1], language)
        yield _stands("lowest", ordered[0], language)


def _stands(word: str, one: Statement, language: Language) -> KeyFinding:
    n, total = int(one.last["n_responded"]), int(one.last["n_total"])
    found = mean_interval(n, one.last["mean"], one.last["sd"], (one.low, one.high))
    numbers = {name: value for name in ("mean", "low", "high") if (value := getattr(found, name)) is not None}
    shown = {name: number(value, language) for name, value in numbers.items()}
    text = sentence(WORDS[word], language, item=one.wording, scale=one.scale, n=n, total=total, **shown)
    size = abs(float(one.last["mean"]) - (one.low + one.high) / 2) / (one.range / 2)
    return KeyFinding(
        f"agreement.{one.item}", text, "position", size, n, total, None, (one.item,), "answers", {**numbers, "n": n}
    )
