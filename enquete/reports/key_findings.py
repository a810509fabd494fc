"""What a study found, in sentences: those of every methodology, and the three to five of them that open the report.

A methodology states its findings in `Evaluation.findings`. Ranked is what was tested and how sure it is; a null is said as a
null; a difference that was not tested is no finding, nor is one of groups below FEWEST agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from enquete.locale import tell
from enquete.reports.context import jsonable, shallow
from enquete.reports.markdown import number
from enquete.state.asking import Language

MOST_WORDS = 40
"""Of a finding's sentence."""
FEWEST_WORDS = 4
"""Of a wording that is cut."""
LEVEL = 0.05
"""Below which an adjusted p says that there is a difference."""
FEWEST = 5
"""Agents that a group needs for an effect size or a direction."""
ON_PAGE_ONE = 5
PER_METHODOLOGY = 10
"""Findings that a methodology states at most."""

Kind = Literal["difference", "position", "null"]
ORDER: Mapping[Kind, int] = {"difference": 0, "position": 1, "null": 2}


@dataclass(frozen=True, slots=True)
class Dot:
    """low, high: of its interval, where it has one."""

    value: float
    told: str
    low: float | None = None
    high: float | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return shallow(self)


@dataclass(frozen=True, slots=True)
class Strip:
    """What the small picture beside a finding shows: dots with their intervals on a scale; caption: what these are, in words."""

    low: float
    high: float
    dots: tuple[Dot, ...]
    caption: str
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """One finding as its reader meets it. Two runs that find the same give it the same id."""

    id: str  # within the methodology, e.g. "drift.trust"
    text: str  # a sentence of at most MOST_WORDS words: item or theme, direction, size, uncertainty, n
    kind: Kind  # a tested difference; an estimate of where the agents stand, with its uncertainty; tested, and nothing found
    size: float  # how large, as a share of what is possible: 0 to 1
    n: int  # agents whose answers it rests on
    n_total: int
    p: float | None = None  # of the test, adjusted for how many were made; None where none was needed
    items: tuple[str, ...] = ()  # whose answers it rests on, by item id
    figure: str = ""  # that shows it: the name of a declared chart
    numbers: Mapping[str, float] = field(default_factory=dict)  # those in the sentence, before rounding
    estimate: float | None = None
    low: float | None = None  # of the estimate's interval, which holds for how the row was chosen
    high: float | None = None
    test: str = ""
    family: str = ""  # of tests that were corrected together
    methodology: str = ""  # filled in where findings are joined
    strip: Strip | None = None  # where the estimate is on a scale

    def as_json(self) -> dict[str, JsonValue]:
        told = {"items": list(self.items), "numbers": dict(self.numbers), "strip": jsonable(self.strip)}
        return {**shallow(self), **told}


def sentence(text: str, language: Language, *, item: str = "", **facts: object) -> str:
    """A marked text in this language, filled in; `item`, a wording in quotation marks, is cut where the sentence would have
    more than MOST_WORDS."""
    told = tell(text, language)
    room = MOST_WORDS - len(told.format(item="", **facts).split())
    return told.format(item=shortened(item, max(room, FEWEST_WORDS)), **facts)


def shortened(wording: str, most: int) -> str:
    """The first words of a statement, without the full stop that would end the sentence around it."""
    words = wording.strip().rstrip(".").split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]).rstrip(",;:–-") + " …"


def p_told(p: float, language: Language) -> str:
    """“p < 0.01”, “p = 0.03”: two decimals, which never lift a p to the level that it stays below."""
    below = 0.01 if p < 0.01 else LEVEL if p < LEVEL <= round(p, 2) else None
    return f"p = {number(p, language)}" if below is None else f"p < {number(below, language)}"


def tested(findings: Iterable[KeyFinding]) -> list[KeyFinding]:
    """Those that rest on a test: all that may be said of data that are not usable."""
    return [one for one in findings if one.p is not None]


def ranked(findings: Iterable[KeyFinding]) -> list[KeyFinding]:
    """Tested differences first, then positions, then nulls; within a kind the larger first, ties by p, then as stated."""
    return sorted(findings, key=lambda one: (ORDER[one.kind], -round(one.size, 6), 1.0 if one.p is None else one.p))


def leading(by_methodology: Mapping[str, Sequence[KeyFinding]], across: Sequence[KeyFinding] = ()) -> list[KeyFinding]:
    """Of every methodology the first that it declares, so that its own question comes before how groups differ in it, differences
    before the rest; then the next best of all, and of what joins methodologies; nulls last."""
    own = [found for found in by_methodology.values() if found]
    firsts = [min(found, key=lambda one: ORDER[one.kind]) for found in own]
    others = ranked([*(one for found in own for one in found if one not in firsts), *across])
    return [
        *ranked(firsts),
        *(one for one in others if one.kind != "null"),
        *(one for one in others if one.kind == "null"),
    ][:ON_PAGE_ONE]
